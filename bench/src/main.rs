//! `freestone-bench`: Freestone beside DuckDB and others on the same data in the same run.
//!
//! Each section measures one thing and holds it against a bar. Missed bars are
//! news, not failures: the exit code is 0 unless something could not be measured
//! or two engines disagree on a result.
//!
//! | module | concern |
//! |---|---|
//! | `data` | the eight tables as Parquet files and in all databases |
//! | `ours`, `peer` | running SQL on Freestone and on other engines, which are processes |
//! | `engine`, `venv` | the other engines' scripts and packages, and where these come from |
//! | `pair`, `compare` | alternating runs, their best and medians, whether results agree |
//! | `report` | rows, bars, tables, JSON |
//! | `sections` | what is measured |

mod bench;
mod compare;
mod data;
mod engine;
mod ours;
mod pair;
mod peer;
mod report;
mod sections;
mod venv;

// The definitions that the command `freestone tpch` has, not a copy of them.
#[path = "../../crates/cli/src/tpch/queries.rs"]
#[allow(dead_code, reason = "shared with the program, which uses all of it")]
mod queries;
#[path = "../../crates/cli/src/tpch/schema.rs"]
#[allow(dead_code, reason = "shared with the program, which uses all of it")]
mod schema;

use bench::Bench;
use clap::Parser;
use report::Report;
use sections::SectionName;
use std::path::PathBuf;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: freestone_allocator::Allocator = freestone_allocator::Allocator;

/// Whatever stops a measurement, in words.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Compare Freestone with DuckDB and others: same data, same machine, same run
#[derive(Debug, Parser)]
#[command(name = "freestone-bench", version)]
struct Arguments {
    /// Folder for Parquet files, databases and bench-results.json
    #[arg(long, value_name = "DIR", default_value = "bench-db")]
    db: PathBuf,
    /// TPC-H scale factor
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    scale: f64,
    /// Only these sections; all but `rows`, which takes many minutes, when none is named
    #[arg(long, value_enum, value_name = "SECTION,…", value_delimiter = ',')]
    only: Vec<SectionName>,
    /// Runs on each side, in turn; of queries the best counts, of others the median
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Only workloads of the advisor whose names have this in them
    #[arg(long, value_name = "TEXT", default_value = "")]
    workload: String,
    /// Memory of Freestone's queries, such as 1GB; the peer's stays as it is
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<String>,
}

fn main() -> ExitCode {
    freestone_allocator::keep_freed_memory();
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("freestone-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and prints; false when something could not be measured or results differ.
fn run(arguments: &Arguments) -> Result<bool> {
    let mut bench = Bench::new(&arguments.db, arguments.scale, arguments.rounds.into())?;
    bench.memory_limit.clone_from(&arguments.memory_limit);
    bench.workload.clone_from(&arguments.workload);
    let mut report = Report::new(arguments.scale, arguments.rounds.into(), bench.peer_name());
    println!("{}", report.heading());
    let names = chosen(&arguments.only);
    // What is missing is said before anything takes its time.
    for engine in names.iter().flat_map(|name| name.engines()) {
        bench.start(*engine);
    }
    for name in names {
        eprintln!("{name}: measuring");
        match sections::run(name, &mut bench) {
            Ok(section) => {
                println!("\n{section}");
                report.sections.push(section);
            }
            Err(error) => {
                eprintln!("{name}: failed: {error}");
                report.failures.push(format!("{name}: {error}"));
            }
        }
    }
    println!("\n{}", report.summary());
    report.write(&arguments.db.join("bench-results.json"))?;
    Ok(report.is_good())
}

/// The sections of a run, in their order.
fn chosen(only: &[SectionName]) -> Vec<SectionName> {
    let is_chosen = |name: &SectionName| match only.is_empty() {
        true => name.is_default(),
        false => only.contains(name),
    };
    SectionName::ALL.into_iter().filter(is_chosen).collect()
}

fn scale(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 1000.0 => Ok(scale),
        _ => Err("expected a number above 0, up to 1000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_by_name() {
        let arguments =
            Arguments::try_parse_from(["freestone-bench", "--only", "size,tpch"]).expect("valid");
        assert_eq!(arguments.only, [SectionName::Size, SectionName::Tpch]);
        assert_eq!(chosen(&arguments.only), arguments.only);
        assert_eq!(chosen(&[SectionName::Rows]), [SectionName::Rows]);
        assert!(!chosen(&[]).contains(&SectionName::Rows));
        assert!(Arguments::try_parse_from(["freestone-bench", "--rounds", "0"]).is_err());
    }
}
