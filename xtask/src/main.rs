//! `cargo xtask`: chores of this repository that need a program.
//!
//! | command | does |
//! |---|---|
//! | `tidy` | checks the house rules a program can check; prints `file:line: message`, exits 1 on any |
//! | `lint` | runs clippy over our crates, warnings denied, without checking the dependencies again |
//! | `test` | runs every test of the project and closes with `N passed, N failed, N skipped` |
//!
//! Only the standard library is used, so the rules can be checked before (and
//! without) the minutes that building the dependencies takes.

mod lint;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy | lint | test [--quick]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = root();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(&root),
        ["lint"] => lint::run(&root),
        ["test"] => test::run(&root, test::Extent::All),
        ["test", "--quick"] => test::run(&root, test::Extent::Quick),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace: the one above this package's own. Cargo says
/// which that is when it runs us; asked at compile time, two checkouts that share
/// a target folder would get each other's.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    package
        .and_then(|package| package.parent().map(Path::to_path_buf))
        .unwrap_or_else(|| PathBuf::from("."))
}
