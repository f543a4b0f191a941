//! Packages of Python for the engines, in one environment that is made once and
//! kept next to the build results.

use crate::Result;
use crate::engine::{Engine, Package};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The interpreter that has what an engine needs; it is installed if need be.
///
/// # Errors
/// In words: no Python, or no way to install into it.
pub fn python(engine: Engine) -> Result<PathBuf> {
    let home = std::env::var_os("HOME").ok_or("HOME is not set")?;
    let folder = Path::new(&home).join(".cache/freestone/bench-venv");
    let python = folder.join("bin/python");
    let packages = engine.packages();
    if has(&python, packages) {
        return Ok(python);
    }
    let exact = packages
        .iter()
        .map(|package| format!("{}=={}", package.name, package.version));
    let wanted: Vec<String> = exact.collect();
    let names = wanted.join(", ");
    eprintln!("installing {names} into {}", folder.display());
    // What other engines have there stays.
    if !has(&python, &[]) {
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--clear"]).arg(&folder);
        done(make, "python3 with its module venv is needed")?;
    }
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet"])
        .arg("--disable-pip-version-check")
        .args(wanted);
    done(install, "pip could not install it")?;
    match has(&python, packages) {
        true => Ok(python),
        false => Err("it was installed, but does not start".into()),
    }
}

/// Whether an interpreter starts and has the packages in the versions asked for.
fn has(python: &Path, packages: &[Package]) -> bool {
    let mut ask = String::from("from importlib.metadata import version\n");
    let mut wanted = Vec::new();
    for Package {
        name,
        module,
        version,
    } in packages
    {
        ask += &format!("import {module}; print(version('{name}'))\n");
        wanted.push(*version);
    }
    let output = Command::new(python)
        .args(["-I", "-c", &ask])
        .stderr(Stdio::null())
        .output();
    output.is_ok_and(|output| {
        let said = String::from_utf8_lossy(&output.stdout);
        output.status.success() && said.lines().eq(wanted)
    })
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
