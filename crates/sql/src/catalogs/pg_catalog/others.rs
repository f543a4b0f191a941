//! Rows of tables that say little.

use freestone_frontend::values::datetime::zone::zones_now;

use super::facts::{Fact, Facts};
use super::objects::OWNER;
use crate::names::CATALOG;
use crate::relations::Relations;
use crate::rights::Identity;
use crate::settings::{ClientSettings, IDLE, Kind, all_settings, is_internal, spelt};

/// The one database.
pub(super) const DATABASE: i64 = 5;

/// The number of the process, which is that of each of its sessions.
pub(super) fn process() -> i64 {
    i64::from(std::process::id() & 0x7fff_ffff)
}

/// UTF-8.
const ENCODING: i64 = 6;

/// The directory of the database.
const TABLESPACE: i64 = 1663;

/// Rows of tables that say little.
pub(super) fn fill(relations: &Relations<'_>, name: &str, facts: &mut Facts) {
    match name {
        "pg_database" => facts.add([
            ("oid", DATABASE.into()),
            ("datname", CATALOG.into()),
            ("datdba", OWNER.into()),
            ("encoding", ENCODING.into()),
            ("datlocprovider", "c".into()),
            ("datallowconn", true.into()),
            ("datconnlimit", (-1).into()),
            ("dattablespace", TABLESPACE.into()),
            ("datcollate", "C".into()),
            ("datctype", "C".into()),
        ]),
        "pg_tablespace" => {
            for (number, name) in [(TABLESPACE, "pg_default"), (1664, "pg_global")] {
                facts.add([
                    ("oid", number.into()),
                    ("spcname", name.into()),
                    ("spcowner", OWNER.into()),
                ]);
            }
        }
        "pg_stat_activity" => session(relations, facts),
        "pg_stat_database" => facts.add([
            ("datid", DATABASE.into()),
            ("datname", CATALOG.into()),
            ("numbackends", 1.into()),
        ]),
        "pg_timezone_names" => zones(facts),
        "pg_settings" => {
            settings(relations, facts);
        }
        "pg_language" => {
            for (number, name) in [(12, "internal"), (14, "sql")] {
                facts.add([
                    ("oid", number.into()),
                    ("lanname", name.into()),
                    ("lanowner", OWNER.into()),
                    ("lanpltrusted", (name == "sql").into()),
                ]);
            }
        }
        "pg_collation" => {
            for (number, name, provider, encoding) in [
                (100, "default", "d", -1),
                (950, "C", "c", -1),
                (951, "POSIX", "c", -1),
                (12_340, "ucs_basic", "c", ENCODING),
            ] {
                facts.add([
                    ("oid", number.into()),
                    ("collname", name.into()),
                    ("collnamespace", 11.into()),
                    ("collowner", OWNER.into()),
                    ("collprovider", provider.into()),
                    ("collisdeterministic", true.into()),
                    ("collencoding", encoding.into()),
                ]);
                if provider == "c" {
                    // This one is the order of code points, which is that of bytes.
                    let order = if name == "ucs_basic" { "C" } else { name };
                    facts.also("collcollate", order.into());
                    facts.also("collctype", order.into());
                }
            }
        }
        "pg_proc" => {
            super::procedures::fill(facts);
            super::routines::fill(relations, facts);
        }
        _ => {}
    }
}

/// The session itself: of others nothing is told.
fn session(relations: &Relations<'_>, facts: &mut Facts) {
    let state = relations.state;
    let client = state.get::<ClientSettings>();
    let name = client.and_then(|client| client.get("application_name"));
    let catalog = relations.snapshot.catalog();
    let identity = state.get::<Identity>();
    let user = identity.map(|own| own.session().name(catalog));
    let user = user.unwrap_or_default();
    let role = relations.snapshot.roles().role(&user);
    facts.add([
        ("datid", DATABASE.into()),
        ("datname", CATALOG.into()),
        ("pid", process().into()),
        (
            "usesysid",
            role.map_or(0, |role| super::role_number(role.id)).into(),
        ),
        ("usename", user.into()),
        ("application_name", name.unwrap_or_default().into()),
        ("state", "active".into()),
        ("backend_type", "client backend".into()),
    ]);
}

/// Time zones as they are now.
fn zones(facts: &mut Facts) {
    for (name, abbreviation, east, daylight) in zones_now() {
        facts.add([
            ("name", name.into()),
            ("abbrev", abbreviation.into()),
            ("utc_offset", Fact::Seconds(east.into())),
            ("is_dst", daylight.into()),
        ]);
    }
}

/// Settings: PostgreSQL's that are known, and ours.
fn settings(relations: &Relations<'_>, facts: &mut Facts) {
    let client = relations.state.get::<ClientSettings>();
    let known = client.as_ref().map(|client| client.known());
    for (known, value) in known.into_iter().flatten() {
        let source = match value == known.default {
            true => "default",
            false => "session",
        };
        let said = if known.is_idle() { IDLE } else { "" };
        let mut row: Vec<(&'static str, Fact)> = vec![
            ("name", spelt(known.name).into()),
            ("setting", value.into()),
            ("vartype", known.vartype().into()),
            ("context", "user".into()),
            ("source", source.into()),
            ("boot_val", known.default.into()),
            ("reset_val", known.default.into()),
            ("short_desc", said.into()),
        ];
        match known.kind {
            Kind::Int(least, most, unit) => {
                row.push(("min_val", least.to_string().into()));
                row.push(("max_val", most.to_string().into()));
                row.extend(unit.shown().map(|unit| ("unit", unit.into())));
            }
            Kind::Real(least, most, unit) => {
                row.push(("min_val", least.to_string().into()));
                row.push(("max_val", format!("{most:e}").into()));
                row.extend(unit.shown().map(|unit| ("unit", unit.into())));
            }
            Kind::Word(all) => {
                let all = all.iter().map(|word| (*word).to_owned());
                row.push(("enumvals", all.collect::<Vec<String>>().into()));
            }
            Kind::Bool | Kind::Text | Kind::Style | Kind::Only(_) => {}
        }
        facts.add_told(row);
    }
    let mut others = all_settings(relations.state);
    others.extend(client.iter().flat_map(|client| client.others()));
    for (name, value) in others {
        let vartype = match value.as_str() {
            "on" | "off" | "true" | "false" => "bool",
            value if value.parse::<i64>().is_ok() => "integer",
            _ => "string",
        };
        let context = match is_internal(&name) {
            true => "internal",
            false => "user",
        };
        facts.add([
            ("name", spelt(&name).into()),
            ("setting", value.into()),
            ("vartype", vartype.into()),
            ("context", context.into()),
            ("source", "default".into()),
        ]);
    }
}
