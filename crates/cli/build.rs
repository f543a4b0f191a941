//! Tells the program the commit that it is built from, for the records of the lab.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // As it is now: a target folder may be shared by several checkouts.
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&own).join("../..");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=FREESTONE_COMMIT");
    let given = std::env::var("FREESTONE_COMMIT").ok();
    let commit = given
        .filter(|commit| !commit.is_empty())
        .or_else(|| checked_out(&root))
        .unwrap_or("unknown".to_string());
    println!("cargo:rustc-env=FREESTONE_COMMIT={commit}");
}

/// The commit of this checkout; none of a copy without history, which another
/// repository may lie around.
fn checked_out(root: &Path) -> Option<String> {
    let own = root.join(".git");
    if !own.exists() {
        return None;
    }
    // Where git does not answer, it is asked again after the next commit.
    let directory = git(root, &["rev-parse", "--absolute-git-dir"]);
    let directory = directory.map_or(own, PathBuf::from);
    // The second is written with every commit. A file that is not there would be a
    // change each time.
    for file in ["HEAD", "logs/HEAD"] {
        let file = directory.join(file);
        if file.exists() {
            println!("cargo:rerun-if-changed={}", file.display());
        }
    }
    git(root, &["rev-parse", "--short", "HEAD"])
}

/// What git answers, if it is there and does.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_string())
}
