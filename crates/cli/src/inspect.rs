//! `freestone inspect`: tables, the blocks of a table, the bytes of a block.

use crate::args::InspectArguments;
use crate::client::{grouped, show, size};
use crate::describe::{find_table, layouts};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::render::Format;
use freestone::Database;
use freestone_storage::{Catalog, Table};

/// Shows what the arguments ask for.
///
/// # Errors
/// A path that is no database, names that are not there, a block that is
/// damaged.
pub fn run(arguments: &InspectArguments) -> Result<()> {
    let database = Database::open_read_only(&arguments.db)?;
    let catalog = database.store().snapshot();
    let mut output = Output::stdout(0);
    let Some(name) = &arguments.table else {
        return tables(&mut output, arguments.format, &catalog);
    };
    let Some((_, table)) = find_table(&catalog, name) else {
        let known = catalog
            .all_tables()
            .map(|(schema, table)| format!("{schema}.{}", table.name));
        return Err(Failure::Message(format!(
            "{} has no table {name}; it has: {}",
            arguments.db.display(),
            known.collect::<Vec<_>>().join(", ")
        )));
    };
    match arguments.block {
        None => blocks(&mut output, arguments.format, table),
        Some(block) => bytes(&mut output, arguments.format, table, block),
    }
}

fn tables(output: &mut Output, format: Format, catalog: &Catalog) -> Result<()> {
    let rows = catalog.all_tables().map(|(schema, table)| {
        vec![
            schema.to_string(),
            table.name.clone(),
            grouped(table.rows()),
            size(table.bytes()),
            layouts(table),
        ]
    });
    show(
        output,
        format,
        &["schema", "table", "rows", "size", "blocks"],
        &rows.collect::<Vec<_>>(),
    )
}

fn blocks(output: &mut Output, format: Format, table: &Table) -> Result<()> {
    let rows = table.blocks().iter().map(|block| {
        vec![
            block.id().0.to_string(),
            block.layout().to_string(),
            block.rows().to_string(),
            block.bytes().to_string(),
            block.file(),
        ]
    });
    show(
        output,
        format,
        &["block", "layout", "rows", "bytes", "file"],
        &rows.collect::<Vec<_>>(),
    )
}

fn bytes(output: &mut Output, format: Format, table: &Table, block: u64) -> Result<()> {
    let Some(block) = table.blocks().iter().find(|known| known.id().0 == block) else {
        let ids = table.blocks().iter().map(|known| known.id().0);
        let range = ids.clone().min().zip(ids.max());
        let range = range.map_or("none".into(), |(first, last)| {
            format!("between {first} and {last}")
        });
        return Err(Failure::Message(format!(
            "{} has no block {block}; its blocks are {range}",
            table.name
        )));
    };
    let rows = block.describe()?.into_iter().map(|part| {
        vec![
            part.offset.to_string(),
            part.len.to_string(),
            part.name,
            part.detail,
        ]
    });
    show(
        output,
        format,
        &["offset", "bytes", "what", "detail"],
        &rows.collect::<Vec<_>>(),
    )
}
