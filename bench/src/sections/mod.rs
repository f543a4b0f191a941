//! What is measured; one module per section.

mod advisor;
mod aging;
mod clients;
mod engines;
mod frames;
mod layouts;
mod load;
mod lookup;
mod packed;
mod planning;
mod scan;
mod size;
mod ssb;
mod tpch;
mod write;

use crate::Result;
use crate::bench::Bench;
use crate::engine::Engine;
use crate::report::Section;
use clap::ValueEnum;
use std::fmt;

/// A section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SectionName {
    /// Bytes on disk
    Size,
    /// Bytes of a tuple of LINEITEM-Z and ORDERS-Z
    Frames,
    /// Loading from Parquet
    Load,
    /// Few or many columns of few or many rows
    Scan,
    /// Bit-packed codes compared with a constant
    Packed,
    /// One row by its key
    Lookup,
    /// Single rows and many, changed
    Write,
    /// Durable commits by one client and by many
    Clients,
    /// Tables that were changed beside fresh ones
    Aging,
    /// Designs that the advisor picks beside the best ones
    Advisor,
    /// From the text of a query to its plan
    Planning,
    /// The 22 queries of TPC-H
    Tpch,
    /// The 13 queries of the Star Schema Benchmark
    Ssb,
    /// TPC-H beside the better of DuckDB and Hyper
    Hyper,
    /// TPC-H as layout pax beside column
    Layouts,
    /// TPC-H as layout row beside PostgreSQL and SQLite; only when named, takes many minutes
    Rows,
}

impl SectionName {
    /// All, in the order of a run.
    pub const ALL: [SectionName; 16] = [
        SectionName::Size,
        SectionName::Frames,
        SectionName::Load,
        SectionName::Scan,
        SectionName::Packed,
        SectionName::Lookup,
        SectionName::Write,
        SectionName::Clients,
        SectionName::Aging,
        SectionName::Advisor,
        SectionName::Planning,
        SectionName::Tpch,
        SectionName::Ssb,
        SectionName::Hyper,
        SectionName::Layouts,
        SectionName::Rows,
    ];

    /// Whether it runs when no section is named.
    pub fn is_default(self) -> bool {
        self != SectionName::Rows
    }

    /// What it needs beside DuckDB.
    pub fn engines(self) -> &'static [Engine] {
        match self {
            SectionName::Hyper => &[Engine::Hyper],
            SectionName::Rows => &[Engine::Postgres, Engine::Sqlite],
            _ => &[],
        }
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SectionName::Size => "size",
            SectionName::Frames => "frames",
            SectionName::Load => "load",
            SectionName::Scan => "scan",
            SectionName::Packed => "packed",
            SectionName::Lookup => "lookup",
            SectionName::Write => "write",
            SectionName::Clients => "clients",
            SectionName::Aging => "aging",
            SectionName::Advisor => "advisor",
            SectionName::Planning => "planning",
            SectionName::Tpch => "tpch",
            SectionName::Ssb => "ssb",
            SectionName::Hyper => "hyper",
            SectionName::Layouts => "layouts",
            SectionName::Rows => "rows",
        })
    }
}

/// Measures a section.
///
/// # Errors
/// What keeps it from being measured.
pub fn run(name: SectionName, bench: &mut Bench) -> Result<Section> {
    match name {
        SectionName::Size => size::measure(bench),
        SectionName::Frames => frames::measure(bench),
        SectionName::Load => load::measure(bench),
        SectionName::Scan => scan::measure(bench),
        SectionName::Packed => packed::measure(),
        SectionName::Lookup => lookup::measure(bench),
        SectionName::Write => write::measure(bench),
        SectionName::Clients => clients::measure(bench),
        SectionName::Aging => aging::measure(bench),
        SectionName::Advisor => advisor::measure(bench),
        SectionName::Planning => planning::measure(bench),
        SectionName::Tpch => tpch::measure(bench),
        SectionName::Ssb => ssb::measure(bench),
        SectionName::Hyper => engines::hyper(bench),
        SectionName::Layouts => layouts::measure(bench),
        SectionName::Rows => engines::rows(bench),
    }
}
