//! Object identifiers: the numbers by which the system catalogs and their clients know objects.
//!
//! They are made from those of tables and types: they stay as long as these do. Views and sequences
//! are numbered by their places.

use std::sync::Arc;

use freestone_storage::{Catalog, Sequence, Table, TableId, TypeId};

use crate::names::{
    DEFAULT_SCHEMA, INFORMATION_SCHEMA, PG_CATALOG, PG_TOAST, PUBLIC as PUBLIC_NAME,
};

/// Numbers from here on are those of objects that users have made.
const FIRST: i64 = 16_384;
/// Objects of a table: itself, then its indexes and constraints.
const OBJECTS: i64 = 1_024;
/// Constraints come after indexes.
const CONSTRAINTS: i64 = 512;
/// Behind the constraints, the type of a table's rows.
const ROW_TYPE: i64 = 1_022;
/// Behind most constraints, the defaults of columns.
const DEFAULTS: i64 = 768;
/// Views have no numbers of their own: they come after all tables, by their places.
/// Clients read numbers of 32 bits.
pub(crate) const VIEWS: i64 = 0xc000_0000;
pub(crate) const SEQUENCES: i64 = 0xe000_0000;
/// From a view's number to that of the type of its rows.
const VIEW_ROWS: i64 = 0x0800_0000;
/// The default schema, as PostgreSQL numbers its own.
pub(crate) const PUBLIC: i64 = 2_200;
/// The schemas of the catalog,
pub(crate) const SYSTEM: i64 = 11;
pub(crate) const INFORMATION: i64 = 13_000;
/// and that of rows that are too long, which is empty here.
pub(crate) const TOAST: i64 = 99;
/// A table's number.
pub(crate) fn table_number(table: &Table) -> i64 {
    FIRST + table.id.0 as i64 * OBJECTS
}

/// The number of the type of a table's rows; that of their arrays comes next.
pub(crate) fn row_type_number(table: &Table) -> i64 {
    table_number(table) + ROW_TYPE
}

/// The number of a composite type among relations.
pub(crate) fn composite_number(id: TypeId) -> i64 {
    type_number(id) + ROW_TYPE
}

/// The table of a number that [`table_number`] gave.
pub(crate) fn numbered_table(number: i64) -> Option<TableId> {
    let id = number.checked_sub(FIRST)? / OBJECTS;
    u64::try_from(id).ok().map(TableId)
}

/// A created type's number; that of its arrays comes next, then those of labels.
pub(crate) fn type_number(id: TypeId) -> i64 {
    FIRST + id.0 as i64 * OBJECTS
}

/// The created type of a number.
pub(crate) fn numbered_type(number: i64) -> Option<TypeId> {
    let number = number.checked_sub(FIRST)?;
    let id = u64::try_from(number / OBJECTS).ok()?;
    (number % OBJECTS == 0).then_some(TypeId(id))
}

/// An index' number, by its own in the table.
pub(crate) fn index_number(table: &Table, number: u32) -> i64 {
    table_number(table) + 1 + i64::from(number) % (CONSTRAINTS - 1)
}

/// A constraint's number, by its place.
pub(crate) fn constraint_number(table: &Table, place: usize) -> i64 {
    table_number(table) + CONSTRAINTS + place as i64
}

/// The number of the default of a column of a table, by its place.
pub(crate) fn default_number(table: i64, place: usize) -> i64 {
    table + DEFAULTS + place as i64 % (ROW_TYPE - DEFAULTS)
}

/// The number of a schema.
pub(crate) fn numbered_schema(catalog: &Catalog, name: &str) -> i64 {
    match name {
        PG_CATALOG => SYSTEM,
        INFORMATION_SCHEMA => INFORMATION,
        PG_TOAST => TOAST,
        DEFAULT_SCHEMA | PUBLIC_NAME => PUBLIC,
        name => {
            let mut schemas = catalog.schemas();
            PUBLIC + 1 + schemas.position(|known| known == name).unwrap_or(0) as i64
        }
    }
}

/// The sequence of a number, and its schema.
pub(crate) fn sequence_numbered(catalog: &Catalog, number: i64) -> Option<(&str, &Arc<Sequence>)> {
    let place = number.checked_sub(SEQUENCES)?;
    catalog.all_sequences().nth(usize::try_from(place).ok()?)
}

/// The number of the type of the rows of a view; that of their arrays comes next.
pub(crate) fn view_row_number(view: i64) -> Option<i64> {
    let views = VIEWS..VIEWS + VIEW_ROWS;
    views
        .contains(&view)
        .then(|| view + VIEW_ROWS + (view - VIEWS))
}

/// The number of a view, as [`relation_numbers`] has it.
pub(crate) fn view_number(catalog: &Catalog, schema: &str, name: &str) -> Option<i64> {
    let mut place = 0;
    for known in catalog.schemas() {
        place += catalog.tables(known).len() as i64;
        for view in catalog.views(known) {
            if known == schema && view.name == name {
                return Some(VIEWS + place);
            }
            place += 1;
        }
    }
    None
}

/// Numbers, schemas and names of all relations, indexes among them.
pub(crate) fn relation_numbers(catalog: &Catalog) -> Vec<(i64, &str, String)> {
    let mut all = Vec::new();
    let mut place = 0;
    for schema in catalog.schemas() {
        for table in catalog.tables(schema) {
            place += 1;
            all.push((table_number(table), schema, table.name.clone()));
            for index in &table.schema.indexes {
                let number = index_number(table, index.number);
                all.push((number, schema, index.name.clone()));
            }
        }
        for view in catalog.views(schema) {
            all.push((VIEWS + place, schema, view.name.clone()));
            place += 1;
        }
    }
    for (place, (schema, sequence)) in catalog.all_sequences().enumerate() {
        all.push((SEQUENCES + place as i64, schema, sequence.name.clone()));
    }
    all
}
