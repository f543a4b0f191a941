//! What the advisor answers: rows of ADVISE, and the tables behind it.

use super::advice::{Advice, Change};
use super::record::Record;
use crate::error::Result;
use crate::names::Name;
use crate::plan::rows::{Values, batch};
use datafusion::arrow::array::RecordBatch;
use freestone_model::ColumnUse;
use freestone_storage::Catalog;

/// One row of ADVISE.
pub(super) struct Line {
    table: Option<String>,
    advice: Option<Advice>,
    note: String,
}

impl Line {
    /// A table for which there is nothing to do, and why.
    pub(super) fn nothing(name: &Name, note: String) -> Self {
        Self {
            table: Some(name.to_string()),
            advice: None,
            note,
        }
    }

    /// No table at all, and why.
    pub(super) fn of_no_table(note: String) -> Self {
        Self {
            table: None,
            advice: None,
            note,
        }
    }

    /// A table that should be another.
    pub(super) fn of(advice: &Advice) -> Self {
        let name = Name::new(&advice.schema, &advice.table);
        let mut parts = Vec::new();
        if !advice.queries.is_empty() {
            let queries = advice.queries.iter().map(|query| query.runs).sum::<f64>();
            let Change { now, then } = advice.reads;
            parts.push(format!(
                "{} ms a query ({:.2} times as fast)",
                saves((now - then) / queries.max(1.0) * 1e3),
                now / then.max(f64::MIN_POSITIVE)
            ));
        }
        let Change { now, then } = advice.look_up;
        parts.push(format!("{} µs a row looked up", saves((now - then) * 1e6)));
        let Change { now, then } = advice.write;
        parts.push(format!("{} µs a row written", saves((now - then) * 1e6)));
        let Change { now, then } = advice.bytes;
        parts.push(format!("takes {:.2} of the space", then / now.max(1.0)));
        Self {
            table: Some(name.to_string()),
            note: format!(
                "{}: {}; half of the predictions are within {:.0} %",
                advice.design,
                parts.join(", "),
                advice.error * 100.0
            ),
            advice: Some(advice.clone()),
        }
    }
}

/// What is saved, or costs.
fn saves(amount: f64) -> String {
    match amount >= 0.0 {
        true => format!("saves {amount:.3}"),
        false => format!("costs {:.3}", -amount),
    }
}

/// To a thousandth: milliseconds and microseconds are not known any better.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

/// All rows.
pub(super) fn answer(lines: &[Line]) -> Result<RecordBatch> {
    let text = |of: &dyn Fn(&Line) -> Option<String>| Values::Text(lines.iter().map(of).collect());
    let number = |of: fn(&Advice) -> f64| {
        let of = |line: &Line| line.advice.as_ref().map(|advice| rounded(of(advice)));
        Values::Double(lines.iter().map(of).collect())
    };
    let advice = lines.iter().map(|line| line.advice.as_ref());
    // What is not kept has no number.
    let numbers = advice.map(|advice| {
        i64::try_from(advice?.number)
            .ok()
            .filter(|number| *number > 0)
    });
    let statements = |line: &Line| Some(line.advice.as_ref()?.apply.join(";\n"));
    batch(vec![
        ("advice", Values::Long(numbers.collect())),
        ("table_name", text(&|line| line.table.clone())),
        ("statements", text(&statements)),
        ("reads_ms_now", number(|advice| advice.reads.now * 1e3)),
        ("reads_ms_then", number(|advice| advice.reads.then * 1e3)),
        ("write_us_now", number(|advice| advice.write.now * 1e6)),
        ("write_us_then", number(|advice| advice.write.then * 1e6)),
        ("bytes_now", number(|advice| advice.bytes.now.round())),
        ("bytes_then", number(|advice| advice.bytes.then.round())),
        ("note", text(&|line| Some(line.note.clone()))),
    ])
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
