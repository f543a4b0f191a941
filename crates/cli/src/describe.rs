//! `\d` and its relatives: the catalog, as tables.

use crate::client::{Client, grouped, size};
use crate::failure::{Failure, Result};
use freestone_storage::{Catalog, DEFAULT_SCHEMA, Table};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lists tables, views or both, then with sequences, of every schema.
pub fn relations(client: &mut Client, tables: bool, views: bool) -> Result<()> {
    let catalog = client.database.store().snapshot();
    let mut rows = Vec::new();
    for schema in catalog.schemas() {
        for table in catalog.tables(schema).into_iter().filter(|_| tables) {
            let kind = "table".to_string();
            let counts = [grouped(table.rows()), size(table.bytes()), layouts(table)];
            rows.push(
                [schema.to_string(), table.name.clone(), kind]
                    .into_iter()
                    .chain(counts)
                    .collect(),
            );
        }
        for view in catalog.views(schema).into_iter().filter(|_| views) {
            let kind = "view".to_string();
            let counts = [String::new(), String::new(), String::new()];
            rows.push(
                [schema.to_string(), view.name.clone(), kind]
                    .into_iter()
                    .chain(counts)
                    .collect(),
            );
        }
    }
    for (schema, sequence) in catalog.all_sequences().filter(|_| tables && views) {
        let words = [schema, &sequence.name, "sequence", "", "", ""];
        rows.push(words.map(str::to_string).to_vec());
    }
    client.show(&["Schema", "Name", "Type", "Rows", "Size", "Blocks"], &rows)
}

/// Lists schemas.
pub fn schemas(client: &mut Client) -> Result<()> {
    let catalog = client.database.store().snapshot();
    let names: Vec<Vec<String>> = catalog
        .schemas()
        .map(|name| vec![name.to_string()])
        .collect();
    client.show(&["Schema"], &names)
}

/// Describes a table (columns, options, blocks) or a view (its query).
pub fn relation(client: &mut Client, name: &str) -> Result<()> {
    let catalog = client.database.store().snapshot();
    if let Some((schema, table)) = find_table(&catalog, name) {
        return table_columns(client, schema, table);
    }
    let Some((schema, view)) = find(&catalog, name, |schema, name| catalog.view(schema, name))
    else {
        return Err(Failure::Message(format!(
            "there is no table or view named {name}; \\d lists them"
        )));
    };
    client
        .output
        .line(&format!("View {schema}.{}:\n{}", view.name, view.query.sql))?;
    client.output.flush()
}

fn table_columns(client: &mut Client, schema: &str, table: &Table) -> Result<()> {
    let columns = table.schema.declared().iter().map(|column| {
        vec![
            column.name.clone(),
            column.type_name(),
            if column.nullable { "" } else { "not null" }.to_string(),
            column.described_default().unwrap_or_default(),
        ]
    });
    let columns: Vec<_> = columns.collect();
    if client.format.shows_tags() {
        client
            .output
            .line(&format!("Table {schema}.{}", table.name))?;
    }
    client.show(&["Column", "Type", "Nullable", "Default"], &columns)?;
    if client.format.shows_tags() {
        let options = table.options.entries().into_iter();
        let options = options.map(|(key, value)| format!("{key} = {value}"));
        client.output.line(&format!(
            "Options: {}",
            options.collect::<Vec<_>>().join(", ")
        ))?;
        let (rows, bytes) = (grouped(table.rows()), size(table.bytes()));
        client
            .output
            .line(&format!("{rows} rows, {bytes}, blocks: {}", layouts(table)))?;
    }
    Ok(())
}

/// `7 column, 1 row`: how many blocks have which layout.
pub fn layouts(table: &Table) -> String {
    let mut counts = BTreeMap::new();
    for block in table.blocks() {
        *counts.entry(block.layout().to_string()).or_insert(0u64) += 1;
    }
    if counts.is_empty() {
        return "no blocks".into();
    }
    let counts = counts
        .iter()
        .map(|(layout, count)| format!("{} {layout}", grouped(*count)));
    counts.collect::<Vec<_>>().join(", ")
}

/// The table that `name` or `schema.name` means, with its schema.
pub fn find_table<'a>(catalog: &'a Catalog, name: &str) -> Option<(&'a str, &'a Arc<Table>)> {
    find(catalog, name, |schema, name| catalog.table(schema, name))
}

/// Looks in the schema that is named, else in the default one and then in all
/// others; first as SQL would read the name, then as it is written.
fn find<'a, T>(
    catalog: &'a Catalog,
    name: &str,
    get: impl Fn(&str, &str) -> Option<&'a T>,
) -> Option<(&'a str, &'a T)> {
    let folded = fold(name);
    [folded.as_slice(), &[name.to_string()]]
        .into_iter()
        .find_map(|parts| match parts {
            [schema, name] => {
                let found = catalog.schemas().find(|known| known == schema)?;
                Some((found, get(found, name)?))
            }
            [name] => {
                let others = catalog.schemas().filter(|schema| *schema != DEFAULT_SCHEMA);
                let mut schemas = std::iter::once(DEFAULT_SCHEMA).chain(others);
                schemas.find_map(|schema| Some((schema, get(schema, name)?)))
            }
            _ => None,
        })
}

/// The parts of a dotted name; lower case unless quoted.
fn fold(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in name.chars() {
        match (c, parts.last_mut()) {
            ('"', _) => quoted = !quoted,
            ('.', _) if !quoted => parts.push(String::new()),
            (c, Some(part)) if quoted => part.push(c),
            (c, Some(part)) => part.extend(c.to_lowercase()),
            (_, None) => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn names_fold_as_in_sql() {
        assert_eq!(fold("Sales.Orders"), ["sales", "orders"]);
        assert_eq!(fold("\"My.Table\""), ["My.Table"]);
    }
}
