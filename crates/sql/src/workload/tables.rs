//! Tables of the record: advice that stands, the ledger of predictions, and what queries ask of columns.

use super::Record;
use crate::error::Result;
use crate::names::Name;
use crate::rows::{Values, batch};
use arrow::array::RecordBatch;
use freestone_model::ColumnUse;
use freestone_storage::Catalog;

/// To a thousandth: milliseconds and microseconds are not known any better.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// `freestone_advice()`: what each recorded query gains by the advice that stands.
pub(crate) fn advice(record: &Record) -> Result<RecordBatch> {
    let mut all = record.given();
    all.retain(|advice| !advice.replaced);
    let rows: Vec<_> = all
        .iter()
        .flat_map(|advice| advice.queries.iter().map(move |query| (advice, query)))
        .collect();
    let number = |of: &dyn Fn(usize) -> f64| {
        Values::Double((0..rows.len()).map(|row| Some(rounded(of(row)))).collect())
    };
    let numbers = rows
        .iter()
        .map(|(advice, _)| i64::try_from(advice.number).ok());
    batch(vec![
        ("advice", Values::Long(numbers.collect())),
        (
            "table_name",
            Values::Text(
                rows.iter()
                    .map(|(advice, _)| Some(advice.table.clone()))
                    .collect(),
            ),
        ),
        (
            "design",
            Values::Text(
                rows.iter()
                    .map(|(advice, _)| Some(advice.design.to_string()))
                    .collect(),
            ),
        ),
        (
            "state",
            Values::Text(
                rows.iter()
                    .map(|(advice, _)| Some(advice.state().to_owned()))
                    .collect(),
            ),
        ),
        (
            "query",
            Values::Text(
                rows.iter()
                    .map(|(_, query)| Some(query.what.clone()))
                    .collect(),
            ),
        ),
        ("runs", number(&|row| rows[row].1.runs)),
        ("ms_now", number(&|row| rows[row].1.seconds.now * 1e3)),
        ("ms_then", number(&|row| rows[row].1.seconds.then * 1e3)),
    ])
}

/// `freestone_ledger()`: queries with what was predicted and what they took.
pub(crate) fn ledger(record: &Record) -> Result<RecordBatch> {
    let all = record.ledger();
    let number = |of: fn(&super::record::Entry) -> f64| {
        Values::Double(all.iter().map(|entry| Some(rounded(of(entry)))).collect())
    };
    batch(vec![
        ("at", number(|entry| entry.at)),
        (
            "statement",
            Values::Text(
                all.iter()
                    .map(|entry| Some(entry.statement.clone()))
                    .collect(),
            ),
        ),
        ("predicted_ms", number(|entry| entry.predicted * 1e3)),
        ("actual_ms", number(|entry| entry.actual * 1e3)),
        ("error_percent", number(|entry| entry.error() * 100.0)),
        (
            "bound",
            Values::Text(all.iter().map(|entry| Some(entry.bound.clone())).collect()),
        ),
    ])
}

/// `freestone_workload()`: how often each column is read, filtered, joined, grouped,
/// sorted and updated, recent uses counting more; of each table also its rows.
pub(crate) fn workload(record: &Record, catalog: &Catalog) -> Result<RecordBatch> {
    record.settle(catalog);
    let mut rows = Vec::new();
    for (schema, table) in catalog.all_tables() {
        let workload = record.workload(table.id);
        if !workload.is_empty() {
            let name = Name::new(schema, &table.name).to_string();
            let columns = table.schema.columns.iter();
            rows.extend(columns.map(|column| {
                let used = workload.column(&column.name);
                let counts = (workload.looked_up, workload.inserted);
                (name.clone(), column.name.clone(), used, counts)
            }));
        }
    }
    let text = |of: fn(&ColumnRow) -> &str| {
        Values::Text(rows.iter().map(|row| Some(of(row).to_owned())).collect())
    };
    let number = |of: fn(&ColumnRow) -> Option<f64>| Values::Double(rows.iter().map(of).collect());
    batch(vec![
        ("table_name", text(|row| &row.0)),
        ("column_name", text(|row| &row.1)),
        ("read", number(|row| Some(row.2.read))),
        ("filtered", number(|row| Some(row.2.filtered))),
        ("selectivity", number(|row| row.2.selectivity)),
        ("joined", number(|row| Some(row.2.joined))),
        ("grouped", number(|row| Some(row.2.grouped))),
        ("sorted", number(|row| Some(row.2.sorted))),
        ("updated", number(|row| Some(row.2.updated))),
        ("table_looked_up", number(|row| Some(row.3.0))),
        ("table_inserted", number(|row| Some(row.3.1))),
    ])
}

/// Table, column, how it is used, and rows of the table that were looked up and added.
type ColumnRow = (String, String, ColumnUse, (f64, f64));
