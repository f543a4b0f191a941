//! Which tables there are, with their columns; those that say little or nothing.

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

/// Each table with its columns, as [`Facts::new`] reads them.
const TABLES: [(&str, &str); 79] = [
    ("pg_aggregate", "aggfnoid aggkind:t"),
    ("pg_am", "oid amname:t amhandler:t amtype:t"),
    (
        "pg_amop",
        "oid amopfamily amoplefttype amoprighttype amopstrategy amopmethod amopopr",
    ),
    (
        "pg_amproc",
        "oid amprocfamily amproclefttype amprocrighttype amprocnum amproc",
    ),
    ("pg_attrdef", "oid adrelid adnum adbin:t"),
    (
        "pg_attribute",
        "attrelid attname:t atttypid attstattarget attlen attnum attndims attcacheoff atttypmod \
         attbyval:b attstorage:t attalign:t attnotnull:b atthasdef:b atthasmissing:b attidentity:t attserial \
         attgenerated:t attisdropped:b attislocal:b attinhcount attcollation attcompression:t \
         attacl:l attoptions:l attfdwoptions:l attmissingval:t",
    ),
    ("pg_auth_members", "roleid member grantor admin_option:b"),
    ("pg_authid", "oid rolname:t rolsuper:b"),
    (
        "pg_available_extensions",
        "name:t default_version:t installed_version:t comment:t",
    ),
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
         relrewrite relacl:l reloptions:l relpartbound:t relhasoids:b relbytes reldefinition:t",
    ),
    (
        "pg_collation",
        "oid collname:t collnamespace collprovider:t collisdeterministic:b",
    ),
    (
        "pg_constraint",
        "oid conname:t connamespace contype:t condeferrable:b condeferred:b convalidated:b conrelid \
         contypid conindid conparentid confrelid confupdtype:t confdeltype:t confmatchtype:t \
         conislocal:b coninhcount connoinherit:b conkey:a confkey:a conbin:t definition:t \
         tableoid",
    ),
    (
        "pg_conversion",
        "oid conname:t connamespace conowner conforencoding contoencoding conproc condefault:b",
    ),
    (
        "pg_cursors",
        "name:t statement:t is_holdable:b is_binary:b is_scrollable:b",
    ),
    (
        "pg_database",
        "oid datname:t datdba encoding datlocprovider:t datistemplate:b datallowconn:b datconnlimit \
         dattablespace datcollate:t datctype:t daticulocale:t datacl:l",
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
    ("pg_group", "groname:t grosysid grolist:a"),
    (
        "pg_index",
        "indexrelid indrelid indnatts indnkeyatts indisunique:b indnullsnotdistinct:b indisprimary:b \
         indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b \
         indislive:b indisreplident:b indkey:a indkeyparts:s indcollation:v indclass:v indoption:v indexprs:t \
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
    (
        "pg_init_privs",
        "objoid classoid objsubid privtype:t initprivs:l",
    ),
    ("pg_language", "oid lanname:t"),
    ("pg_largeobject_metadata", "oid lomowner lomacl:l"),
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
    (
        "pg_operator",
        "oid oprname:t oprnamespace oprowner oprkind:t oprleft oprright oprresult oprcode",
    ),
    (
        "pg_opfamily",
        "oid opfmethod opfname:t opfnamespace opfowner",
    ),
    ("pg_parameter_acl", "oid parname:t paracl:l"),
    ("pg_partitioned_table", "partrelid partstrat:t partnatts"),
    (
        "pg_policy",
        "oid polname:t polrelid polcmd:t polpermissive:b polroles:a polqual:t polwithcheck:t",
    ),
    (
        "pg_prepared_statements",
        "name:t statement:t parameter_types:a from_sql:b",
    ),
    ("pg_prepared_xacts", "transaction gid:t owner:t database:t"),
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
    ("pg_replication_origin", "roident roname:t"),
    (
        "pg_rewrite",
        "oid rulename:t ev_class ev_type:t ev_enabled:t is_instead:b",
    ),
    (
        "pg_roles",
        "oid rolname:t rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b \
         rolreplication:b rolconnlimit rolpassword:t rolvaliduntil:t rolbypassrls:b",
    ),
    ("pg_seclabel", "objoid classoid objsubid provider:t label:t"),
    (
        "pg_seclabels",
        "objoid classoid objsubid objtype:t objnamespace objname:t provider:t label:t",
    ),
    (
        "pg_sequence",
        "seqrelid seqtypid seqstart seqincrement seqmax seqmin seqcache seqcycle:b",
    ),
    (
        "pg_settings",
        "name:t setting:t unit:t category:t short_desc:t source:t",
    ),
    (
        "pg_shdepend",
        "dbid classid objid objsubid refclassid refobjid deptype:t",
    ),
    ("pg_shdescription", "objoid classoid description:t"),
    ("pg_shseclabel", "objoid classoid provider:t label:t"),
    (
        "pg_stat_activity",
        "datid datname:t pid usesysid usename:t application_name:t state:t query:t wait_event_type:t backend_type:t",
    ),
    (
        "pg_stat_user_tables",
        "relid schemaname:t relname:t n_live_tup n_dead_tup",
    ),
    (
        "pg_statistic_ext",
        "oid stxrelid stxname:t stxnamespace stxkeys:a stxkind:t stxstattarget",
    ),
    (
        "pg_stats",
        "schemaname:t tablename:t attname:t null_frac avg_width n_distinct",
    ),
    (
        "pg_subscription",
        "oid subdbid subname:t subowner subenabled:b",
    ),
    (
        "pg_tables",
        "schemaname:t tablename:t tableowner:t tablespace:t hasindexes:b hasrules:b hastriggers:b",
    ),
    (
        "pg_tablespace",
        "oid spcname:t spcowner spcacl:l spcoptions:l",
    ),
    ("pg_timezone_names", "name:t abbrev:t is_dst:b"),
    ("pg_transform", "oid trftype trflang trffromsql trftosql"),
    (
        "pg_trigger",
        "oid tgrelid tgname:t tgenabled:t tgisinternal:b tgparentid",
    ),
    (
        "pg_ts_config",
        "oid cfgname:t cfgnamespace cfgowner cfgparser",
    ),
    ("pg_ts_config_map", "mapcfg maptokentype mapseqno mapdict"),
    (
        "pg_ts_dict",
        "oid dictname:t dictnamespace dictowner dicttemplate dictinitoption:t",
    ),
    ("pg_ts_parser", "oid prsname:t prsnamespace"),
    ("pg_ts_template", "oid tmplname:t tmplnamespace"),
    (
        "pg_type",
        "oid typname:t typnamespace typowner typlen typbyval:b typtype:t typcategory:t \
         typispreferred:b typisdefined:b typdelim:t typrelid typelem typarray typnotnull:b \
         typbasetype typtypmod typndims typcollation typdefault:t typacl:l typinput:t typreceive:t",
    ),
    (
        "pg_user",
        "usename:t usesysid usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:t",
    ),
    ("pg_user_mapping", "oid umuser umserver umoptions:l"),
    (
        "pg_user_mappings",
        "umid srvid srvname:t umuser usename:t umoptions:l",
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
