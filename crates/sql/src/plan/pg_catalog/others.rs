//! Rows of tables that say little.

use super::facts::Facts;
use super::keys::ACCESS;
use super::objects::OWNER;
use crate::plan::names::CATALOG;
use crate::plan::relations::Relations;
use crate::session::all_settings;

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
            for (name, value) in all_settings(relations.state) {
                facts.add([
                    ("name", name.into()),
                    ("setting", value.into()),
                    ("vartype", "string".into()),
                    ("context", "user".into()),
                    ("source", "default".into()),
                ]);
            }
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
        "pg_proc" => super::procedures::fill(facts),
        _ => {}
    }
}
