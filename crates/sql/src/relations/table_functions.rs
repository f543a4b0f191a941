//! `freestone_blocks('t')` and `freestone_columns('t')`: the blocks of a table,
//! and what each column of each block looks like inside; `freestone_mover()`: what
//! the tuple mover has done and will do; `freestone_ledger()`, `freestone_workload()` and
//! `freestone_advice()`: what the advisor knows.

use std::sync::Arc;

use freestone_storage::{Privileges, RoleId, Store, Table, TableMoves};

use super::Relations;
use crate::error::{Error, Result};
use crate::expression::Scalar;
use crate::names::named;
use crate::rows::{Values, batch};
use crate::scan::scalar_of;
use crate::source::Source;
use crate::workload::{self, Record};

/// The functions offered here.
pub(crate) const NAMES: [&str; 6] = [
    "freestone_blocks",
    "freestone_columns",
    "freestone_mover",
    "freestone_ledger",
    "freestone_workload",
    "freestone_advice",
];

/// The result of a table function, or `None` when it is not one of ours.
///
/// # Errors
/// `42883` for wrong arguments, `42P01` for an unknown table, `XX001` for a block
/// that cannot be read.
pub(crate) fn table(
    relations: &Relations<'_>,
    name: &str,
    args: &[Scalar],
) -> Result<Option<Arc<Source>>> {
    let make = match name {
        "freestone_blocks" => blocks,
        "freestone_columns" => columns,
        "freestone_mover" | "freestone_ledger" | "freestone_workload" | "freestone_advice" => {
            if !args.is_empty() {
                let message = format!("function {name} takes no arguments");
                return Err(Error::new("42883", message));
            }
            return whole(relations, name).map(Some);
        }
        _ => return Ok(None),
    };
    let [argument] = args else {
        return Err(usage(name));
    };
    let text = argument.as_text().ok_or_else(|| usage(name))?;
    let target = named(text)?;
    let table = relations
        .snapshot
        .table(&target.schema, &target.name)
        .ok_or_else(|| relations.unknown(&target))?;
    let rights = relations.rights();
    rights.table(&target, table, Privileges::SELECT)?;
    Ok(Some(Source::of_batch(make(table)?)))
}

/// A table about the whole database.
fn whole(relations: &Relations<'_>, name: &str) -> Result<Arc<Source>> {
    let rights = relations.rights();
    rights.member(RoleId::MONITOR, &format!("read {name}"))?;
    let record = relations.state.get::<Record>();
    let record = record.ok_or_else(|| Error::internal("a session without a record"))?;
    Ok(Source::of_batch(match name {
        "freestone_ledger" => workload::ledger(&record)?,
        "freestone_workload" => workload::workload(&record, relations.snapshot.catalog())?,
        "freestone_advice" => workload::advice(&record)?,
        _ => return mover(relations),
    }))
}

/// What the tuple mover has done to each table since the database was opened.
fn mover(relations: &Relations<'_>) -> Result<Arc<Source>> {
    let store = relations.state.get::<Store>();
    let store = store.ok_or_else(|| Error::internal("a session without a database"))?;
    let status = store.mover_status();
    let state = match (status.paused, status.running) {
        (true, _) => "paused",
        (_, true) => "running",
        _ => "idle",
    };
    let tables = &status.tables;
    let text =
        |of: &dyn Fn(&TableMoves) -> Option<String>| Values::Text(tables.iter().map(of).collect());
    let number = |of: &dyn Fn(&TableMoves) -> u64| {
        Values::Long(tables.iter().map(|t| long(of(t))).collect())
    };
    let columns = vec![
        ("schema_name", text(&|t| Some(t.schema.clone()))),
        ("table_name", text(&|t| Some(t.name.clone()))),
        ("state", text(&|_| Some(state.to_owned()))),
        (
            "waiting",
            text(&|t| t.waiting.as_ref().map(ToString::to_string)),
        ),
        ("delta_rows", number(&|t| t.delta_rows)),
        ("delta_bytes", number(&|t| t.delta_bytes)),
        ("steps", number(&|t| t.done.steps)),
        ("rows_moved", number(&|t| t.done.rows_moved)),
        ("blocks_merged", number(&|t| t.done.blocks_merged)),
        ("blocks_rewritten", number(&|t| t.done.blocks_rewritten)),
        ("blocks_dropped", number(&|t| t.done.blocks_dropped)),
        ("bytes_freed", number(&|t| t.done.bytes_freed)),
        ("last_error", text(&|_| status.last_error.clone())),
    ];
    Ok(Source::of_batch(batch(columns)?))
}

fn usage(name: &str) -> Error {
    Error::new(
        "42883",
        format!("function {name} takes one argument: the name of a table as a string"),
    )
    .with_hint(format!("for example: SELECT * FROM {name}('t')"))
}

/// That a table is meant to be a function, if one has that name.
pub(crate) fn called(name: &str) -> Option<String> {
    let name = NAMES.into_iter().find(|known| *known == name)?;
    let arguments = match name {
        "freestone_blocks" | "freestone_columns" => "'t'",
        _ => "",
    };
    Some(format!(
        "it is a function: SELECT * FROM {name}({arguments})"
    ))
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn long(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}

fn blocks(table: &Arc<Table>) -> Result<arrow::array::RecordBatch> {
    let all = table.blocks();
    batch(vec![
        (
            "block",
            Values::Long(all.iter().map(|block| long(block.id().0)).collect()),
        ),
        (
            "layout",
            Values::Text(all.iter().map(|b| Some(b.layout().to_string())).collect()),
        ),
        (
            "rows",
            Values::Long(all.iter().map(|block| long(block.rows())).collect()),
        ),
        (
            "bytes",
            Values::Long(all.iter().map(|block| long(block.bytes())).collect()),
        ),
        (
            "file",
            Values::Text(all.iter().map(|block| Some(block.file())).collect()),
        ),
    ])
}

fn columns(table: &Arc<Table>) -> Result<arrow::array::RecordBatch> {
    let mut block_ids = Vec::new();
    let mut layouts = Vec::new();
    let mut names = Vec::new();
    let mut types = Vec::new();
    let mut codecs = Vec::new();
    let (mut bytes, mut ratios) = (Vec::new(), Vec::new());
    let (mut nulls, mut distinct) = (Vec::new(), Vec::new());
    let (mut least, mut greatest) = (Vec::new(), Vec::new());
    for block in table.blocks() {
        let facts = block.columns()?;
        for (column, fact) in table.schema.columns.iter().zip(facts) {
            let shown = |value: &Option<freestone_storage::Value>| match value.as_ref()? {
                freestone_storage::Value::Bytes(bytes) if column.family() > 1 => {
                    Some(column.shown_bytes(bytes))
                }
                value => Some(scalar_of(&column.kind, value)?.to_string()),
            };
            block_ids.push(long(block.id().0));
            layouts.push(Some(block.layout().to_string()));
            names.push(Some(column.name.clone()));
            types.push(Some(column.type_name()));
            codecs.push(Some(fact.codec.to_string()));
            bytes.push(long(fact.bytes));
            ratios.push(
                (fact.bytes > 0).then(|| hundredths(fact.raw_bytes as f64 / fact.bytes as f64)),
            );
            nulls.push(long(fact.null_count));
            distinct.push(long(fact.distinct));
            least.push(shown(&fact.min));
            greatest.push(shown(&fact.max));
        }
    }
    batch(vec![
        ("block", Values::Long(block_ids)),
        ("layout", Values::Text(layouts)),
        ("column_name", Values::Text(names)),
        ("type", Values::Text(types)),
        ("codec", Values::Text(codecs)),
        ("bytes", Values::Long(bytes)),
        ("ratio", Values::Double(ratios)),
        ("nulls", Values::Long(nulls)),
        ("distinct_values", Values::Long(distinct)),
        ("min", Values::Text(least)),
        ("max", Values::Text(greatest)),
    ])
}
