//! Rows of tables that say little.

use super::facts::{Fact, Facts};
use super::keys::ACCESS;
use super::objects::OWNER;
use crate::names::CATALOG;
use crate::plan::relations::Relations;
use crate::session::known::{IDLE, Kind};
use crate::session::{ClientSettings, all_settings};

/// UTF-8.
const ENCODING: i64 = 6;

/// The directory of the database.
const TABLESPACE: i64 = 1663;

/// Rows of tables that say little.
pub(super) fn fill(relations: &Relations<'_>, name: &str, facts: &mut Facts) {
    match name {
        "pg_am" => {
            for (number, name, kind) in ACCESS {
                facts.add([
                    ("oid", number.into()),
                    ("amname", name.into()),
                    ("amtype", kind.into()),
                ]);
            }
        }
        "pg_database" => facts.add([
            ("oid", 5.into()),
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
        "pg_tablespace" => facts.add([
            ("oid", TABLESPACE.into()),
            ("spcname", "pg_default".into()),
            ("spcowner", OWNER.into()),
        ]),
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
            }
        }
        "pg_proc" => {
            super::procedures::fill(facts);
            super::routines::fill(relations, facts);
        }
        _ => {}
    }
}

/// Settings: PostgreSQL's that are known, and ours.
fn settings(relations: &Relations<'_>, facts: &mut Facts) {
    let client = relations.state.config().get_extension::<ClientSettings>();
    let known = client.as_ref().map(|client| client.known());
    for (known, value) in known.into_iter().flatten() {
        let source = match value == known.default {
            true => "default",
            false => "session",
        };
        let said = if known.is_idle() { IDLE } else { "" };
        let mut row: Vec<(&'static str, Fact)> = vec![
            ("name", known.name.into()),
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
        facts.add([
            ("name", name.into()),
            ("setting", value.into()),
            ("vartype", "string".into()),
            ("context", "user".into()),
            ("source", "default".into()),
        ]);
    }
}
