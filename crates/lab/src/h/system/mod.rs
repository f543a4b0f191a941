//! Figures 6 to 9, the lowest part of their bars: what reading costs the CPU.
//!
//! The other experiments of H scan pages in memory. Here the pages of the document's program
//! are files, and a thread does nothing but read those that a scan needs: what it computes
//! is the system's work for its requests.

mod claims;
mod files;
mod reading;

use self::claims::claims;
use self::reading::{Measured, Side, measure};
use super::replica::{Codec, orders_z};
use super::setup::{need, rows};
use super::sweep::compute_plot;
use super::tables::TableName;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::measure::percent;
use crate::outcome::{Outcome, Plot, Table};
use crate::setting::Setting;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "hsystem",
    source: "H, figures 6 to 9",
    title: "System time: what reading rows and columns costs the CPU",
    need: |setting| {
        let bytes: u64 = TABLES.iter().map(|(table, _)| bytes(setting, *table)).sum();
        let need = Need {
            disk: bytes,
            ..need(TableName::Lineitem, tuples(setting, TableName::Lineitem), 2)
        };
        need.measured(setting.many_repetitions())
    },
    run,
};

/// LINEITEM, ORDERS and, with codecs, ORDERS-Z.
const TABLES: [(TableName, &str); 3] = [
    (TableName::Lineitem, "LINEITEM"),
    (TableName::Orders, "ORDERS"),
    (TableName::Orders, "ORDERS-Z"),
];

/// Files large enough for hundreds of requests, and small enough to be read for each number
/// of attributes.
fn tuples(setting: &Setting, table: TableName) -> u64 {
    let quick = match table {
        TableName::Lineitem => 1 << 18,
        _ => 1 << 20,
    };
    rows(setting, table, quick, 2).min(16 * quick)
}

/// Bytes of a table as rows and as columns.
fn bytes(setting: &Setting, table: TableName) -> u64 {
    2 * tuples(setting, table) * table.stored_bytes()
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut measured = Vec::new();
    for (table, name) in TABLES {
        let codecs = match name {
            "ORDERS-Z" => orders_z(Codec::ForDelta(8)),
            _ => vec![Codec::Plain; table.widths().len()],
        };
        measured.push(measure(
            setting,
            tuples(setting, table),
            (table, name),
            &codecs,
        )?);
    }
    let counts = TABLES.map(|(table, _)| tuples(setting, table).to_string());
    Ok(Outcome {
        setup: format!(
            "The document's program: its pages of {} tuples of LINEITEM, ORDERS and ORDERS-Z as files on \
             the disk of this directory. One thread reads those that a scan needs, past the page cache \
             where the file system can do that, into one buffer, 128 KiB at a time, of several columns the \
             one that is furthest behind; a request waits for the one before, where the document's are 48 \
             ahead. System time is the processor's time of that thread, which does nothing else; {} \
             repetitions in turns, of which the middle one counts. What slows a turn slows all of it, so that \
             times are scaled by the mean of rows in their turn. The program's own time is that of figures \
             6 to 9 at 10 % selectivity, measured here over pages in memory.",
            counts.join(", "),
            setting.many_repetitions(),
        ),
        plots: measured.iter().map(plot).collect(),
        tables: vec![shares(&measured)],
        claims: claims(&measured),
    })
}

fn plot(measured: &Measured) -> Plot {
    let curves = [&measured.rows, &measured.columns].map(|side| side.system.clone());
    compute_plot(&format!("{}: system time", measured.name), &curves)
}

/// System time and its share of all CPU time.
fn shares(measured: &[Measured]) -> Table {
    let row = |table: &Measured| {
        let cell = |side: &Side, attributes| {
            let seconds = 1e9 * side.system(attributes);
            format!("{seconds:.1} ns, {}", percent(side.share(attributes)))
        };
        let all = table.rows.attributes();
        vec![
            table.name.to_owned(),
            cell(&table.rows, 1),
            cell(&table.rows, all),
            cell(&table.columns, 1),
            cell(&table.columns, all),
        ]
    };
    let columns = [
        "table",
        "rows, one attribute",
        "rows, all",
        "columns, one attribute",
        "columns, all",
    ];
    Table {
        title: "System time a tuple, and its share of CPU time".to_owned(),
        columns: columns.map(String::from).to_vec(),
        rows: measured.iter().map(row).collect(),
    }
}
