//! Names that a catalog keeps: relations and functions by their names alone, and the schemas of
//! temporary tables.

use freestone_storage::Catalog;

/// The beginning of the names of schemas of temporary tables.
pub(crate) const TEMPORARY: &str = "pg_temp_";

/// The name that statements give to the one of their session.
pub(crate) const PG_TEMP: &str = "pg_temp";

/// Whether a schema is one of temporary tables.
pub(crate) fn temporary_schema(schema: &str) -> bool {
    schema == PG_TEMP || schema.starts_with(TEMPORARY)
}

/// Whether a schema has a table, a view or a sequence of a name.
pub(crate) fn has_rows(catalog: &Catalog, schema: &str, name: &str) -> bool {
    catalog.table(schema, name).is_some()
        || catalog.view(schema, name).is_some()
        || catalog.sequence(schema, name).is_some()
}

/// Whether a schema has a function of a name.
pub(crate) fn has_function(catalog: &Catalog, schema: &str, name: &str) -> bool {
    let mut all = catalog.functions(schema);
    all.any(|(signature, _)| {
        let rest = signature.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('('))
    })
}
