//! The relations of the catalog itself, as the catalog tells of them: the tables and views of
//! `pg_catalog` and `information_schema` with their columns and the types of their rows.
//!
//! They are the same in every database, so that their rows are made once. Left out are their
//! indexes, constraints and defaults, which they do not have here.

use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};

use super::facts::Facts;
use super::objects::{HEAP, OWNER, collation_of};
use super::types::{number_of_name, of_type, placed, row_type, size_of};
use super::{columns, described, type_named};
use crate::catalogs::information_columns::VIEWS;
use crate::names::{CATALOG, INFORMATION_SCHEMA, PG_CATALOG};
use crate::oids::{INFORMATION, SYSTEM};

/// Views of PostgreSQL's catalog have numbers from here on, tables have lower ones.
const FIRST_VIEW: i64 = 12_000;

/// Types of the rows of tables, by the tables' numbers: their own number and that of their
/// arrays. Those of views come after the views' numbers.
const ROWS: [(i64, i64, i64); 64] = [
    (826, 10088, 10087),
    (1213, 10056, 10055),
    (1214, 10060, 10059),
    (1247, 71, 210),
    (1249, 75, 270),
    (1255, 81, 272),
    (1259, 83, 273),
    (1260, 2842, 10057),
    (1261, 2843, 10058),
    (1262, 1248, 10052),
    (1417, 10078, 10077),
    (1418, 10080, 10079),
    (2224, 10105, 10104),
    (2328, 10076, 10075),
    (2396, 10062, 10061),
    (2600, 10027, 10026),
    (2601, 10015, 10014),
    (2602, 10017, 10016),
    (2603, 10019, 10018),
    (2604, 10001, 10000),
    (2605, 10043, 10042),
    (2606, 10003, 10002),
    (2607, 10049, 10048),
    (2608, 10051, 10050),
    (2609, 10041, 10040),
    (2610, 10007, 10006),
    (2611, 10005, 10004),
    (2612, 10021, 10020),
    (2613, 10025, 10024),
    (2615, 10047, 10046),
    (2616, 10013, 10012),
    (2617, 10009, 10008),
    (2618, 10035, 10034),
    (2619, 10029, 10028),
    (2620, 10037, 10036),
    (2753, 10011, 10010),
    (2964, 10054, 10053),
    (2995, 10023, 10022),
    (3079, 10074, 10073),
    (3118, 10082, 10081),
    (3256, 10084, 10083),
    (3350, 10099, 10098),
    (3381, 10031, 10030),
    (3394, 10090, 10089),
    (3429, 10033, 10032),
    (3456, 10095, 10094),
    (3466, 10039, 10038),
    (3501, 10045, 10044),
    (3541, 10101, 10100),
    (3576, 10103, 10102),
    (3592, 4066, 10093),
    (3596, 10092, 10091),
    (3600, 10068, 10067),
    (3601, 10070, 10069),
    (3602, 10064, 10063),
    (3603, 10066, 10065),
    (3764, 10072, 10071),
    (6000, 10086, 10085),
    (6100, 6101, 10112),
    (6102, 10114, 10113),
    (6104, 10107, 10106),
    (6106, 10111, 10110),
    (6237, 10109, 10108),
    (6243, 10097, 10096),
];

/// Tables that PostgreSQL's databases share, by their numbers.
const SHARED: [i64; 11] = [
    1213, 1214, 1260, 1261, 1262, 2396, 2964, 3592, 6000, 6100, 6243,
];

/// Relations that only superusers read.
const CLOSED: [&str; 12] = [
    "pg_authid",
    "pg_config",
    "pg_file_settings",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_largeobject",
    "pg_replication_origin_status",
    "pg_shadow",
    "pg_statistic",
    "pg_statistic_ext_data",
    "pg_subscription",
    "pg_user_mapping",
];

/// Columns of tables whose values are of no fixed length, and yet are never NULL.
const NEVER_NULL: [&str; 21] = [
    "adbin",
    "data",
    "datcollate",
    "datctype",
    "defaclacl",
    "description",
    "ev_action",
    "ev_qual",
    "extversion",
    "initprivs",
    "label",
    "parname",
    "polroles",
    "prosrc",
    "provider",
    "roname",
    "stxkind",
    "subconninfo",
    "subpublications",
    "subsynccommit",
    "tgargs",
];

/// Columns of tables whose values are of a fixed length, or lists of numbers, that may be NULL.
const MAY_BE_NULL: [&str; 6] = [
    "prattrs",
    "rolvaliduntil",
    "srsublsn",
    "subslotname",
    "tgnewtable",
    "tgoldtable",
];

/// A relation of the catalog.
struct System {
    name: &'static str,
    number: i64,
    /// Its columns as the lists of tables write them.
    columns: &'static str,
    /// The schema's number and name.
    schema: (i64, &'static str),
}

impl System {
    fn is_view(&self) -> bool {
        match self.schema.0 {
            INFORMATION => !self.name.starts_with("sql_"),
            _ => self.number >= FIRST_VIEW,
        }
    }

    /// The number of the type of its rows, and that of their arrays.
    fn row_type(&self) -> (i64, i64) {
        let mut all = ROWS.iter();
        let found = all.find(|(number, ..)| *number == self.number);
        found.map_or((self.number + 2, self.number + 1), |(_, row, array)| {
            (*row, *array)
        })
    }

    /// Names of its columns and of their types.
    fn columns(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let columns = self.columns.split_ascii_whitespace();
        columns.map(|column| column.split_once(':').unwrap_or((column, "name")))
    }

    /// Owner and grants.
    fn grants(&self) -> Vec<String> {
        let own = format!("{CATALOG}=arwdDxt/{CATALOG}");
        match CLOSED.contains(&self.name) {
            true => vec![own],
            false => vec![own, format!("=r/{CATALOG}")],
        }
    }
}

fn all() -> impl Iterator<Item = System> {
    let own = columns::TABLES
        .iter()
        .zip(std::iter::repeat((SYSTEM, PG_CATALOG)));
    let views = VIEWS
        .iter()
        .zip(std::iter::repeat((INFORMATION, INFORMATION_SCHEMA)));
    let all = own.chain(views);
    all.map(|((name, number, columns), schema)| System {
        name,
        number: *number,
        columns,
        schema,
    })
}

/// The rows of a table of the catalog that tell of the catalog itself.
pub(super) fn rows(name: &str) -> Option<&'static RecordBatch> {
    static CLASSES: LazyLock<Option<RecordBatch>> = LazyLock::new(|| made("pg_class", classes));
    static ATTRIBUTES: LazyLock<Option<RecordBatch>> =
        LazyLock::new(|| made("pg_attribute", attributes));
    static TYPES: LazyLock<Option<RecordBatch>> = LazyLock::new(|| made("pg_type", types));
    static TABLES: LazyLock<Option<RecordBatch>> = LazyLock::new(|| made("pg_tables", tables));
    static VIEWS: LazyLock<Option<RecordBatch>> = LazyLock::new(|| made("pg_views", views));
    match name {
        "pg_class" => CLASSES.as_ref(),
        "pg_attribute" => ATTRIBUTES.as_ref(),
        "pg_type" => TYPES.as_ref(),
        "pg_tables" => TABLES.as_ref(),
        "pg_views" => VIEWS.as_ref(),
        _ => None,
    }
}

/// Rows with all columns of a table of the catalog.
fn made(name: &str, fill: fn(&mut Facts)) -> Option<RecordBatch> {
    let (_, columns) = described(name)?;
    let mut facts = Facts::default();
    fill(&mut facts);
    let fields = columns
        .iter()
        .map(|(name, ty)| Field::new(name, ty.arrow(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(name, ty)| facts.column(name, ty));
    RecordBatch::try_new(schema, arrays.collect()).ok()
}

fn classes(facts: &mut Facts) {
    for one in all() {
        facts.add([
            ("oid", one.number.into()),
            ("relname", one.name.into()),
            ("relnamespace", one.schema.0.into()),
            ("reltype", one.row_type().0.into()),
            ("relowner", OWNER.into()),
            ("relacl", one.grants().into()),
            ("relam", if one.is_view() { 0 } else { HEAP }.into()),
            ("relhasrules", one.is_view().into()),
            ("relkind", if one.is_view() { "v" } else { "r" }.into()),
            ("relnatts", (one.columns().count() as i64).into()),
            ("reltuples", (-1).into()),
            ("relisshared", SHARED.contains(&one.number).into()),
            ("relpersistence", "p".into()),
            ("relreplident", "n".into()),
            ("relispopulated", true.into()),
        ]);
    }
}

fn attributes(facts: &mut Facts) {
    for one in all() {
        for ((name, ty), place) in one.columns().zip(1_i64..) {
            let number = number_of_name(ty).unwrap_or_else(|| of_type(&type_named(ty)).0);
            let size = size_of(number);
            let is_fixed = size > 0 || ty.ends_with("vector");
            let not_null = match is_fixed {
                true => !MAY_BE_NULL.contains(&name),
                false => NEVER_NULL.contains(&name),
            };
            let (by_value, align) = placed(number);
            facts.add([
                ("attrelid", one.number.into()),
                ("attname", name.into()),
                ("atttypid", number.into()),
                ("attlen", size.into()),
                ("attnum", place.into()),
                ("atttypmod", (-1).into()),
                ("attnotnull", (not_null && !one.is_view()).into()),
                ("attidentity", "".into()),
                ("attgenerated", "".into()),
                (
                    "attstorage",
                    match size {
                        ..0 if ["numeric", "inet"].contains(&ty) => "m",
                        ..0 if !ty.ends_with("vector") => "x",
                        _ => "p",
                    }
                    .into(),
                ),
                ("attbyval", by_value.into()),
                ("attalign", align.into()),
                ("attcompression", "".into()),
                ("attndims", i64::from(ty.starts_with('_')).into()),
                ("attislocal", true.into()),
                (
                    "attcollation",
                    match (ty, one.is_view()) {
                        // Texts in tables of the catalog are ordered by their bytes.
                        ("text" | "_text" | "pg_node_tree", false) => 950,
                        ("_text", true) => 100,
                        _ => collation_of(number),
                    }
                    .into(),
                ),
                ("attstattarget", (-1).into()),
                ("attcacheoff", (-1).into()),
            ]);
        }
    }
}

fn types(facts: &mut Facts) {
    for one in all() {
        row_type(
            facts,
            one.row_type(),
            (one.schema.0, one.name),
            one.number,
            OWNER,
        );
    }
}

fn tables(facts: &mut Facts) {
    for one in all().filter(|one| !one.is_view()) {
        facts.add([
            ("schemaname", one.schema.1.into()),
            ("tablename", one.name.into()),
            ("tableowner", CATALOG.into()),
        ]);
    }
}

/// No text tells how they are made.
fn views(facts: &mut Facts) {
    for one in all().filter(System::is_view) {
        facts.add([
            ("schemaname", one.schema.1.into()),
            ("viewname", one.name.into()),
            ("viewowner", CATALOG.into()),
        ]);
    }
}

/// Schemas, names and kinds of the relations of the catalog: whether each is a view.
pub(crate) fn listed() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    all().map(|one| (one.schema.1, one.name, one.is_view()))
}

/// The relation whose rows have the type of a number, by schema and name, and whether the number
/// is that of their arrays.
pub(crate) fn row_type_numbered(number: i64) -> Option<(&'static str, &'static str, bool)> {
    let mut all = all().map(|one| (one.row_type(), one));
    let ((row, _), one) = all.find(|((row, array), _)| [*row, *array].contains(&number))?;
    Some((one.schema.1, one.name, row != number))
}

/// The number of the type of the rows of a relation of the catalog, and that of their arrays.
pub(crate) fn row_type_named(schema: &str, name: &str) -> Option<(i64, i64)> {
    let mut all = all();
    let one = all.find(|one| one.schema.1 == schema && one.name == name)?;
    Some(one.row_type())
}

/// The letter for the kind of the relation of the catalog of a number.
pub(crate) fn kind(number: i64) -> Option<&'static str> {
    let one = all().find(|one| one.number == number)?;
    Some(if one.is_view() { "v" } else { "r" })
}

/// The name of a column, counted from 1, of the relation of the catalog of a number.
pub(crate) fn column(number: i64, place: i64) -> Option<&'static str> {
    let one = all().find(|one| one.number == number)?;
    let place = usize::try_from(place).ok()?.checked_sub(1)?;
    one.columns().nth(place).map(|(name, _)| name)
}

/// The schema and the name of the relation of the catalog of a number.
pub(crate) fn numbered(number: i64) -> Option<(&'static str, &'static str)> {
    let one = all().find(|one| one.number == number)?;
    Some((one.schema.1, one.name))
}

/// Whether a relation of the catalog is read by everybody; `None` if there is none of the name.
pub(crate) fn is_open(schema: &str, name: &str) -> Option<bool> {
    let known = all().any(|one| one.schema.1 == schema && one.name == name);
    known.then(|| !CLOSED.contains(&name))
}
