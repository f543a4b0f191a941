//! What scans cost on a machine: measured constants, and selections priced by them.
//!
//! A scan's time is taken apart the way scanners work: for each block something; for
//! each row a test of conditions; for each selected column its values, which cost
//! more for each the fewer are wanted. All are cycles, so that a machine with another
//! clock can be asked about.

use crate::correction::Correction;
use crate::curve::Curve;
use crate::machine::Machine;
use crate::rate::Scanner;
use crate::selection::{Selection, Used};
use serde::{Deserialize, Serialize};

/// Measured constants of one way to lay out blocks and scan them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutCosts {
    /// Layout, with the scanner if it is not the usual one: `column`, `column pipelined`.
    pub layout: String,
    /// Cycles to begin a scan, whatever it reads.
    #[serde(default)]
    pub scan: f64,
    /// Cycles to begin a block.
    pub block: f64,
    /// Cycles more to begin to test rows of a block.
    #[serde(default)]
    pub test: f64,
    /// Cycles to begin to read a column of a block, for all rows at once.
    #[serde(default)]
    pub part: f64,
    /// Cycles of each row of a block to find and hand over those that are selected, by
    /// their share.
    pub rows: Curve,
    /// Cycles of each row for each cache line of its tuple, besides the first, that
    /// selected values are on, by their share; where tuples lie together.
    #[serde(default)]
    pub lines: Curve,
    /// How many times what they cost among few columns values cost when
    /// [`MANY_COLUMNS`] are read together, by the share of the rows: what they are written
    /// to is more than the caches hold.
    #[serde(default)]
    pub crowd: Curve,
    /// What reading from disk adds.
    pub cold: ColdCosts,
    /// What the sum of all this is off by, in memory,
    #[serde(default)]
    pub hot_correction: Correction,
    /// and what reading from disk adds.
    #[serde(default)]
    pub cold_correction: Correction,
    /// What columns cost.
    pub columns: Vec<ColumnCosts>,
}

/// Columns that are few, and many, when they are read together.
pub const FEW_COLUMNS: usize = 4;
/// See [`FEW_COLUMNS`].
pub const MANY_COLUMNS: usize = 32;

/// Seconds that blocks take which are not in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColdCosts {
    /// To open a block.
    pub block: f64,
    /// To fetch a part of it that is stored apart, a column or all tuples.
    pub part: f64,
    /// For each byte of tuples that lie together.
    pub byte: f64,
}

/// Cycles of one column, in the rows of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnCosts {
    /// Its stored type and codec, as `i32 bitpack`.
    pub kind: String,
    /// Bytes of a value before it is coded.
    pub bytes: f64,
    /// Cycles of each row to test one condition, by the bytes of its tuple.
    pub test: Curve,
    /// Cycles of each row of the block to read the values of those rows that are
    /// selected, by their share.
    pub read: Curve,
    /// Seconds of each row of the block to fetch it from disk and check it, where columns
    /// are stored apart.
    #[serde(default)]
    pub cold: f64,
}

/// What all scans cost on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// One for each layout.
    pub layouts: Vec<LayoutCosts>,
    /// Bytes that a core's caches keep from one scan to the next: scans that touch no
    /// more do not wait for memory.
    #[serde(default)]
    pub cached: f64,
    /// Cache misses on the way down a tree to the rows of a key, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descent: Option<f64>,
}

/// See [`Costs::descent_misses`].
const DESCENT: f64 = 4.0;

impl Costs {
    /// Cache misses on the way down a tree to the rows of a key; a number written by hand
    /// if none was measured.
    pub fn descent_misses(&self) -> f64 {
        self.descent.unwrap_or(DESCENT)
    }

    /// Cycles and bytes of each row; nothing for a layout that was not measured.
    pub fn scanner(&self, selection: &Selection) -> Option<Scanner> {
        let costs = self.of(&selection.layout)?;
        let rows = selection.rows.max(1.0);
        let tests = selection.tested.iter().map(|(used, reached)| {
            let column = costs.column(used);
            match *reached >= 1.0 {
                true => column(&|column| column.test.at(selection.stride)),
                // Of rows that an earlier condition left, values are fetched.
                false => column(&|column| column.read.at(*reached)),
            }
        });
        let reads = selection.read.iter().map(|used| {
            let column = costs.column(used);
            column(&|column| column.read.at(selection.share))
        });
        let parts = selection.read.len() as f64;
        let test = if selection.tested.is_empty() {
            0.0
        } else {
            costs.test
        };
        let begun = costs.scan + (costs.block + test + costs.part * parts) * selection.blocks;
        let user_cycles = begun / rows
            + costs.rows.at(selection.share)
            + tests.sum::<f64>()
            + reads.sum::<f64>() * costs.crowded(selection)
            + costs.lines.at(selection.share) * (selection.lines() - 1.0).max(0.0);
        let touched = selection.touched();
        Some(Scanner {
            system_cycles: 0.0,
            user_cycles: user_cycles * costs.hot_correction.factor(selection),
            bytes: if touched * rows <= self.cached {
                0.0
            } else {
                touched
            },
        })
    }

    /// Seconds that are added if the blocks have to come from disk: opened, and the
    /// whole of those that keep tuples together read, else the columns that are used.
    pub fn cold_seconds(&self, machine: &Machine, selection: &Selection) -> Option<f64> {
        let costs = self.of(&selection.layout)?;
        let cold = &costs.cold;
        let (parts, bytes) = selection.stored();
        let disk = bytes / machine.disk_bandwidth;
        let read: f64 = match selection.keeps_tuples() {
            true => bytes * cold.byte,
            false => {
                let columns = selection.used().map(|used| costs.column(used));
                columns
                    .map(|column| column(&|column| column.cold))
                    .sum::<f64>()
                    * selection.rows
            }
        };
        let opened = selection.blocks * (cold.block + parts * cold.part);
        Some((opened + read.max(disk)) * costs.cold_correction.factor(selection))
    }

    fn of(&self, layout: &str) -> Option<&LayoutCosts> {
        self.layouts.iter().find(|costs| costs.layout == layout)
    }

    /// Seconds of a selection by one thread whose blocks are in memory.
    pub fn seconds(&self, machine: &Machine, selection: &Selection) -> Option<f64> {
        let scanner = self.scanner(selection)?;
        Some(scanner.rate(machine).seconds(selection.rows))
    }
}

impl LayoutCosts {
    /// Takes over what another costs that is not in memory.
    pub fn read_as(&mut self, other: &LayoutCosts) {
        self.cold = other.cold;
        self.cold_correction = other.cold_correction;
        for (column, known) in self.columns.iter_mut().zip(&other.columns) {
            column.cold = known.cold;
        }
    }

    /// How many times what they cost alone the columns of a selection cost together.
    fn crowded(&self, selection: &Selection) -> f64 {
        let many = self.crowd.at(selection.share);
        if many <= 0.0 {
            return 1.0;
        }
        let (few, columns) = (FEW_COLUMNS as f64, selection.read.len() as f64);
        let part = (columns / few).ln() / (MANY_COLUMNS as f64 / few).ln();
        1.0 + (many - 1.0) * part.clamp(0.0, 1.5)
    }

    /// Asks about a column: of its kind those of nearest size, else of any kind.
    fn column<'a>(&'a self, used: &'a Used) -> impl Fn(&dyn Fn(&ColumnCosts) -> f64) -> f64 + 'a {
        move |ask| {
            let mut same: Vec<&ColumnCosts> = self.of_kind(&used.kind);
            same.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
            let above = same.iter().position(|column| column.bytes >= used.bytes);
            match (above, same.as_slice()) {
                (_, []) => 0.0,
                (None, [.., last]) => ask(last),
                (Some(0), [first, ..]) => ask(first),
                (Some(at), columns) => {
                    let (low, high) = (columns[at - 1], columns[at]);
                    let part = (used.bytes - low.bytes) / (high.bytes - low.bytes);
                    ask(low) + (ask(high) - ask(low)) * part
                }
            }
        }
    }

    fn of_kind(&self, kind: &str) -> Vec<&ColumnCosts> {
        let physical = |kind: &str| kind.split(' ').next().unwrap_or_default().to_owned();
        let mut same: Vec<_> = self.columns.iter().filter(|c| c.kind == kind).collect();
        if same.is_empty() {
            let wanted = physical(kind);
            let alike = |column: &&ColumnCosts| physical(&column.kind) == wanted;
            same = self.columns.iter().filter(alike).collect();
        }
        match same.is_empty() {
            true => self.columns.iter().collect(),
            false => same,
        }
    }
}
