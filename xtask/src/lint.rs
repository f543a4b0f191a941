//! Clippy over our own crates, for the price of compiling them once more.
//!
//! `cargo clippy` works on `cargo check`, which shares nothing with a build: it
//! would first check every dependency. Its driver is a
//! compiler, though. As the wrapper of our crates' compiler in a build it lints
//! while the dependencies stay the built ones. Our crates are not optimised in
//! that build; their programs are built anew by the next one.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Arguments that the driver splits at this word; cargo-clippy does the same.
const DENY_WARNINGS: &str = "-Dwarnings__CLIPPY_HACKERY__";

/// Lints every target of every crate.
pub fn run(root: &Path) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "build",
            "--release",
            "--locked",
            "--workspace",
            "--all-targets",
        ])
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        .env("CLIPPY_ARGS", DENY_WARNINGS)
        .current_dir(root);
    for package in packages(root) {
        command.args([
            "--config",
            &format!("profile.release.package.{package}.opt-level=0"),
        ]);
    }
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("lint: cannot start cargo: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Names of our own packages: the folders of `crates/`, the bench, and this one.
fn packages(root: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(root.join("crates"));
    let folders = folders.into_iter().flatten().flatten();
    let mut names: Vec<String> = folders
        .filter_map(|folder| std::fs::read_to_string(folder.path().join("Cargo.toml")).ok())
        .filter_map(|manifest| {
            let line = manifest.lines().find(|line| line.starts_with("name = "))?;
            Some(line.split('"').nth(1)?.to_string())
        })
        .collect();
    names.extend(["freestone-bench", "xtask"].map(String::from));
    names
}
