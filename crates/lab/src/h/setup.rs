//! What all experiments of H have in common: how they are set up, and how they say it.

use super::disks::{PAPER_CPDB, disks};
use super::replica;
use super::stored::{Stored, both_layouts};
use super::sweep::{Curve, replicas, subjects, sweep};
use super::tables::{TableName, plain};
use crate::error::Result;
use crate::experiment::Need;
use crate::setting::Setting;
use freestone_storage::io::Sim;

/// What `setup` says of the document's program.
const AS_IN_THE_DOCUMENT: &str = " As in the document: its own program over the same tuples, on \
     dense pages of 4 KiB in memory; a row scanner and a pipeline of scan nodes, a value at a \
     time, tuples in blocks of 100. A value iterator is called for each value of a column; \
     nodes find pages by position. Claims about that program are decided by it.";

/// This machine, with disks that are to it what H's were to theirs.
#[derive(Clone, Copy, Debug)]
pub struct Bench {
    /// Cycles a second.
    pub clock: f64,
    /// Three disks at 18 cycles per byte.
    pub disks: Sim,
}

impl Bench {
    /// Measures the clock.
    pub fn new() -> Bench {
        let clock = freestone_calibrate::clock();
        Bench {
            clock,
            disks: disks(clock, PAPER_CPDB),
        }
    }

    /// What `setup` says of times, with the document's program or without.
    pub fn describe(&self, rows: u64, setting: &Setting, replica: bool) -> String {
        format!(
            "CPU time is measured, of the scanning thread: Freestone's row scanner and both of \
             its column scanners over {rows} tuples whose blocks are in memory and open, without \
             codecs unless said, one thread, {} repetitions in turns after one to warm up, of \
             which plots show mean and deviation and claims use the quickest, scaled to 60 \
             million tuples.{} Disk time is virtual: three disks of {:.0} MB/s each, so that this \
             machine's {:.2} GHz make {PAPER_CPDB} cycles per disk byte, seeks of {:.1} ms, as \
             many cycles as 7.5 ms at 3.2 GHz, I/O units of 128 KB per disk, 48 of them in each \
             file's buffer unless said; files have the bytes that Freestone's blocks have, where \
             a text takes 4 bytes more than in the document. Elapsed time is what a simulation \
             of both makes of them. System time is missing: no request costs the CPU anything (hsystem measures it)",
            repetitions(setting),
            if replica { AS_IN_THE_DOCUMENT } else { "" },
            self.disks.bytes_per_second / 1e6,
            self.clock / 1e9,
            1e3 * self.disks.seek_seconds,
        )
    }
}

/// How often each scan is measured: more often than the documents, for the machine does
/// other things meanwhile.
pub fn repetitions(setting: &Setting) -> usize {
    2 * setting.repetitions() - 1
}

/// Tuples of `table` to measure with: `quick`, or as many as fit in three quarters of the
/// memory in `copies` layouts, at most as many as in H.
pub fn rows(setting: &Setting, table: TableName, quick: u64, copies: u64) -> u64 {
    let fitting = setting.memory / 4 * 3 / (table.stored_bytes() * copies);
    setting.by_scale(
        quick.min(fitting.max(1 << 10)),
        fitting.clamp(1 << 10, 60_000_000),
    )
}

/// Memory for `rows` tuples in `copies` layouts.
pub fn need(table: TableName, rows: u64, copies: u64) -> Need {
    Need {
        // A quarter more for the batch that blocks are made of.
        memory: rows * table.stored_bytes() * copies * 5 / 4,
        ..Need::default()
    }
}

/// What [`measure`] finds.
pub struct Measured {
    /// Freestone's rows, pipelined columns, and columns with a single iterator.
    pub freestone: Vec<Curve>,
    /// Rows and columns of the document's program.
    pub document: Vec<Curve>,
}

impl Measured {
    /// All curves, Freestone's first.
    pub fn all(&self) -> Vec<Curve> {
        [self.freestone.as_slice(), &self.document].concat()
    }
}

/// The usual measurement at each of several selectivities: Freestone and the document's
/// program, without codecs.
///
/// # Errors
/// Those of storage.
pub fn measure(
    setting: &Setting,
    table: TableName,
    rows: u64,
    shares: &[f64],
) -> Result<Vec<Measured>> {
    let tables = Stored::make(table, rows, setting.seed, &both_layouts(&plain()))?;
    let (row_file, column_files) = replica::make_plain(table, rows, setting.seed)?;
    let mut all = subjects(&tables[0], &tables[1]);
    let own = all.len();
    all.extend(replicas(&row_file, &column_files));
    let measured = |share: &f64| {
        let mut freestone = sweep(&all, table.threshold(*share), repetitions(setting))?;
        let document = freestone.split_off(own);
        Ok(Measured {
            freestone,
            document,
        })
    };
    shares.iter().map(measured).collect()
}

/// Freestone alone, at 10 %.
///
/// # Errors
/// Those of storage.
pub fn measure_freestone(setting: &Setting, table: TableName, rows: u64) -> Result<Vec<Curve>> {
    let tables = Stored::make(table, rows, setting.seed, &both_layouts(&plain()))?;
    let all = subjects(&tables[0], &tables[1]);
    sweep(&all, table.threshold(0.1), repetitions(setting))
}

/// Seconds as nanoseconds, for people.
pub fn nanoseconds(seconds: f64) -> String {
    format!("{:.1} ns", 1e9 * seconds)
}

/// A share as percent, for people.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
