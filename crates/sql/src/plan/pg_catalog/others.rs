//! Which tables there are, with their columns; those that say little or nothing.

use super::facts::Facts;
use super::keys::ACCESS;
use super::objects::OWNER;
use crate::plan::names::CATALOG;
use crate::plan::relations::Relations;
use crate::session::all_settings;

/// UTF-8.
const ENCODING: i64 = 6;

/// Each table with its columns, as [`Facts::new`] reads them.
const TABLES: [(&str, &str); 45] = [
    ("pg_aggregate", "aggfnoid aggkind:t"),
    ("pg_am", "oid amname:t amhandler:t amtype:t"),
    ("pg_attrdef", "oid adrelid adnum adbin:t"),
    (
        "pg_attribute",
        "attrelid attname:t atttypid attstattarget attlen attnum attndims attcacheoff atttypmod \
         attbyval:b attstorage:t attalign:t attnotnull:b atthasdef:b atthasmissing:b attidentity:t \
         attgenerated:t attisdropped:b attislocal:b attinhcount attcollation attcompression:t \
         attacl:a attoptions:t attfdwoptions:t attmissingval:t",
    ),
    ("pg_auth_members", "roleid member grantor admin_option:b"),
    ("pg_authid", "oid rolname:t rolsuper:b"),
    (
        "pg_cast",
        "oid castsource casttarget castfunc castcontext:t castmethod:t",
    ),
    (
        "pg_class",
        "oid relname:t relnamespace reltype reloftype relowner relam relfilenode reltablespace \
         relpages reltuples relallvisible reltoastrelid relhasindex:b relisshared:b relpersistence:t \
         relkind:t relnatts relchecks relhasrules:b relhastriggers:b relhassubclass:b \
         relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident:t relispartition:b \
         relrewrite relacl:l reloptions:t relpartbound:t relhasoids:b",
    ),
    (
        "pg_collation",
        "oid collname:t collnamespace collprovider:t collisdeterministic:b",
    ),
    (
        "pg_constraint",
        "oid conname:t connamespace contype:t condeferrable:b condeferred:b convalidated:b conrelid \
         contypid conindid conparentid confrelid confupdtype:t confdeltype:t confmatchtype:t \
         conislocal:b coninhcount connoinherit:b conkey:a confkey:a conbin:t definition:t",
    ),
    (
        "pg_database",
        "oid datname:t datdba encoding datlocprovider:t datistemplate:b datallowconn:b datconnlimit \
         dattablespace datcollate:t datctype:t daticulocale:t datacl:a",
    ),
    ("pg_db_role_setting", "setdatabase setrole setconfig:a"),
    (
        "pg_default_acl",
        "oid defaclrole defaclnamespace defaclobjtype:t",
    ),
    (
        "pg_depend",
        "classid objid objsubid refclassid refobjid refobjsubid deptype:t",
    ),
    ("pg_description", "objoid classoid objsubid description:t"),
    ("pg_enum", "oid enumtypid enumsortorder enumlabel:t"),
    ("pg_event_trigger", "oid evtname:t"),
    (
        "pg_extension",
        "oid extname:t extowner extnamespace extversion:t",
    ),
    ("pg_foreign_data_wrapper", "oid fdwname:t"),
    ("pg_foreign_server", "oid srvname:t srvfdw"),
    ("pg_foreign_table", "ftrelid ftserver ftoptions:t"),
    (
        "pg_index",
        "indexrelid indrelid indnatts indnkeyatts indisunique:b indnullsnotdistinct:b indisprimary:b \
         indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b \
         indislive:b indisreplident:b indkey:t indcollation:t indclass:t indoption:t indexprs:t \
         indpred:t definition:t",
    ),
    (
        "pg_indexes",
        "schemaname:t tablename:t indexname:t tablespace:t indexdef:t",
    ),
    (
        "pg_inherits",
        "inhrelid inhparent inhseqno inhdetachpending:b",
    ),
    ("pg_language", "oid lanname:t"),
    ("pg_locks", "locktype:t pid mode:t granted:b"),
    (
        "pg_matviews",
        "schemaname:t matviewname:t matviewowner:t definition:t",
    ),
    ("pg_namespace", "oid nspname:t nspowner nspacl:l"),
    (
        "pg_opclass",
        "oid opcname:t opcmethod opcnamespace opcintype opcdefault:b",
    ),
    ("pg_partitioned_table", "partrelid partstrat:t partnatts"),
    (
        "pg_policy",
        "oid polname:t polrelid polcmd:t polpermissive:b polroles:a polqual:t polwithcheck:t",
    ),
    (
        "pg_proc",
        "oid proname:t pronamespace proowner prolang prokind:t prorettype proargtypes:t pronargs \
         prosrc:t proisstrict:b proretset:b provolatile:t",
    ),
    ("pg_publication", "oid pubname:t puballtables:b"),
    ("pg_publication_namespace", "oid pnpubid pnnspid"),
    (
        "pg_publication_rel",
        "oid prpubid prrelid prqual:t prattrs:a",
    ),
    ("pg_range", "rngtypid rngsubtype"),
    (
        "pg_rewrite",
        "oid rulename:t ev_class ev_type:t ev_enabled:t is_instead:b",
    ),
    (
        "pg_roles",
        "oid rolname:t rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b \
         rolreplication:b rolconnlimit rolpassword:t rolvaliduntil:t rolbypassrls:b",
    ),
    (
        "pg_settings",
        "name:t setting:t unit:t category:t short_desc:t source:t",
    ),
    (
        "pg_statistic_ext",
        "oid stxrelid stxname:t stxnamespace stxkeys:a stxkind:t stxstattarget",
    ),
    (
        "pg_tables",
        "schemaname:t tablename:t tableowner:t tablespace:t hasindexes:b hasrules:b hastriggers:b",
    ),
    (
        "pg_trigger",
        "oid tgrelid tgname:t tgenabled:t tgisinternal:b tgparentid",
    ),
    (
        "pg_type",
        "oid typname:t typnamespace typowner typlen typbyval:b typtype:t typcategory:t \
         typispreferred:b typisdefined:b typdelim:t typrelid typelem typarray typnotnull:b \
         typbasetype typtypmod typndims typcollation typdefault:t typacl:a typinput:t typreceive:t",
    ),
    (
        "pg_user",
        "usename:t usesysid usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:t",
    ),
    (
        "pg_views",
        "schemaname:t viewname:t viewowner:t definition:t",
    ),
];

/// The columns of a table; `None` if there is none of that name.
pub(super) fn columns(name: &str) -> Option<&'static str> {
    let found = TABLES.iter().find(|(known, _)| *known == name);
    found.map(|(_, columns)| *columns)
}

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
            ("datcollate", "C".into()),
            ("datctype", "C".into()),
        ]),
        "pg_settings" => {
            for (name, value) in all_settings(relations.state) {
                facts.add([("name", name.into()), ("setting", value.into())]);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order_and_have_columns() {
        assert!(TABLES.is_sorted_by_key(|(name, _)| *name));
        for (name, columns) in TABLES {
            let batch = Facts::new(columns).batch().unwrap();
            assert!(batch.num_columns() > 1 && batch.num_rows() == 0, "{name}");
        }
    }
}
