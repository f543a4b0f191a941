//! DuckDB from its released package, in an environment of its own that is made
//! once and kept next to the build results.

use crate::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version that is compared with.
pub const DUCKDB: &str = "2.0.0";
/// Results leave DuckDB as Arrow batches through this package.
const PYARROW: &str = "26.0.1";

/// The interpreter that has DuckDB; the environment is made if need be.
///
/// # Errors
/// In words: no Python, or no way to install into it.
pub fn python() -> Result<PathBuf> {
    let home = std::env::var_os("HOME").ok_or("HOME is not set")?;
    let folder = Path::new(&home).join(".cache/freestone/bench-venv");
    let python = folder.join("bin/python");
    if has_duckdb(&python) {
        return Ok(python);
    }
    eprintln!("installing DuckDB {DUCKDB} into {}", folder.display());
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&folder);
    done(make, "python3 with its module venv is needed")?;
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet"])
        .arg("--disable-pip-version-check")
        .args([format!("duckdb=={DUCKDB}"), format!("pyarrow=={PYARROW}")]);
    done(install, "pip could not install it")?;
    match has_duckdb(&python) {
        true => Ok(python),
        false => Err("it was installed, but does not start".into()),
    }
}

fn has_duckdb(python: &Path) -> bool {
    let ask = Command::new(python)
        .args([
            "-c",
            "import duckdb, pyarrow; print(duckdb.__version__, pyarrow.__version__)",
        ])
        .stderr(Stdio::null())
        .output();
    let wanted = format!("{DUCKDB} {PYARROW}");
    ask.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == wanted)
}

/// Runs to the end; `otherwise` says what a failure means.
fn done(mut command: Command, otherwise: &str) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{otherwise} ({status})").into()),
        Err(error) => Err(format!("{otherwise} ({error})").into()),
    }
}
