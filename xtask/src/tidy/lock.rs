//! Lock files: one Arrow, one Parquet, and each file up to date.
//!
//! A second version of Arrow would compile for minutes more, and its types would not fit ours.
//!
//! Workspaces beside the main one (fuzz targets, clients) have lock files of
//! their own, which builds of the main workspace do not touch. A dependency
//! that a crate gains has to be written into each of them: `--locked` refuses
//! the others.

use std::collections::BTreeMap;

use super::{File, Finding};

const SINGLE: [&str; 3] = ["arrow-array", "arrow-schema", "parquet"];

/// Checks every `Cargo.lock`.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = second_versions(files);
    let manifests = dependencies_of_crates(files);
    for lock in files.iter().filter(|file| is_lock(&file.path)) {
        let folder = lock.path.trim_end_matches("Cargo.lock");
        for package in lock.text.split("[[package]]").skip(1) {
            // Packages of a registry have a source.
            if package.contains("\nsource = ") {
                continue;
            }
            let Some(name) = package.lines().find_map(|line| quoted(line, "name = ")) else {
                continue;
            };
            for wanted in manifests.get(name).into_iter().flatten() {
                let locked = package.lines().any(|line| {
                    let entry = line.trim().trim_matches(['"', ',']);
                    entry.split(' ').next() == Some(wanted)
                });
                if !locked {
                    findings.push(Finding::new(
                        &lock.path,
                        0,
                        format!(
                            "`{name}` depends on `{wanted}`, which is not locked; run \
                             `cargo metadata --manifest-path {folder}Cargo.toml`"
                        ),
                    ));
                }
            }
        }
    }
    findings
}

fn is_lock(path: &str) -> bool {
    path == "Cargo.lock" || path.ends_with("/Cargo.lock")
}

/// The text in quotes behind `key`.
fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
}

/// Names of the dependencies that a crate always has, by the crate's name.
/// Dependencies of tests are locked in the crate's own workspace only.
fn dependencies_of_crates(files: &[File]) -> BTreeMap<&str, Vec<&str>> {
    let mut found = BTreeMap::new();
    for manifest in files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"))
    {
        let mut section = "";
        let mut name = None;
        let mut dependencies = Vec::new();
        for line in manifest.text.lines() {
            if line.starts_with('[') {
                section = line;
            } else if section == "[package]" {
                name = name.or_else(|| quoted(line, "name = "));
            } else if section.ends_with("dependencies]")
                && !section.ends_with("dev-dependencies]")
                && !section.starts_with("[workspace")
                && !line.starts_with('#')
                && !line.contains("optional = true")
                // Another name for a package: the lock has the package's.
                && !line.contains("package = ")
                && let Some((key, _)) = line.split_once(['.', ' ', '='])
            {
                dependencies.push(key);
            }
        }
        if let Some(name) = name {
            found.insert(name, dependencies);
        }
    }
    found
}

fn second_versions(files: &[File]) -> Vec<Finding> {
    let Some(file) = files.iter().find(|file| file.path == "Cargo.lock") else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for name in SINGLE {
        let wanted = format!("name = \"{name}\"");
        let places = (1..)
            .zip(file.text.lines())
            .filter(|(_, line)| *line == wanted);
        for (number, _) in places.skip(1) {
            findings.push(Finding::new(
                "Cargo.lock",
                number,
                format!("a second version of `{name}`"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_arrow_is_found() {
        let one = "[[package]]\nname = \"arrow-array\"\nversion = \"59.3.2\"\n";
        assert_eq!(check(&[File::new("Cargo.lock", one)]), Vec::new());
        assert_eq!(check(&[File::new("Cargo.lock", one.repeat(2))]).len(), 1);
    }

    #[test]
    fn a_dependency_that_another_workspace_has_not_locked_is_found() {
        let manifest = "[package]\nname = \"ours\"\n\n[dependencies]\nserde.workspace = true\n\n\
            [target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n# optional\n\
            later = { version = \"1\", optional = true }\n\n\
            [dev-dependencies]\nproptest = \"1\"\n";
        let lock = |dependencies: &str| {
            let text = format!(
                "[[package]]\nname = \"libc\"\nsource = \"registry\"\n\n[[package]]\nname = \
                 \"ours\"\nversion = \"0.1.0\"\ndependencies = [\n{dependencies}]\n"
            );
            [
                File::new("crates/ours/Cargo.toml", manifest),
                File::new("fuzz/Cargo.lock", text),
            ]
        };
        assert_eq!(check(&lock(" \"libc\",\n \"serde 1.0.2\",\n")), []);
        let found = check(&lock(" \"serde\",\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "fuzz/Cargo.lock");
        assert!(found[0].message.contains("`libc`"), "{found:?}");
    }
}
