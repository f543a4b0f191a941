//! Imports between crates point one way:
//! `cli, server, python, lab, bench → sql → exec → storage` and `sql → model`.

use super::{File, Finding};

/// A crate and the crates of this workspace it may depend on. Crates that do
/// not exist yet are listed, so that the order is fixed before they arrive.
const ALLOWED: [(&str, &[&str]); 19] = [
    ("freestone-storage", &[]),
    ("freestone-model", &[]),
    // The language; knows Arrow and the grammar only.
    ("freestone-frontend", &[]),
    // The programs' allocator.
    ("freestone-allocator", &[]),
    ("freestone-exec", &["freestone-storage"]),
    // Measures a machine for the model.
    (
        "freestone-calibrate",
        &["freestone-storage", "freestone-model"],
    ),
    (
        "freestone",
        &[
            "freestone-frontend",
            "freestone-storage",
            "freestone-exec",
            "freestone-model",
        ],
    ),
    (
        "freestone-server",
        &[
            "freestone",
            "freestone-exec",
            "freestone-storage",
            "freestone-model",
        ],
    ),
    (
        "freestone-cli",
        &[
            "freestone",
            "freestone-allocator",
            "freestone-calibrate",
            "freestone-exec",
            "freestone-storage",
            "freestone-lab",
            "freestone-model",
            "freestone-server",
        ],
    ),
    // The core of the Python package.
    ("freestone-python", &["freestone"]),
    (
        "freestone-lab",
        &[
            "freestone",
            "freestone-calibrate",
            "freestone-exec",
            "freestone-storage",
            "freestone-model",
            "freestone-postgres",
        ],
    ),
    (
        "freestone-testkit",
        &[
            "freestone",
            "freestone-exec",
            "freestone-storage",
            "freestone-model",
        ],
    ),
    // Fuzz targets, in a workspace of their own.
    ("freestone-fuzz", &["freestone-storage"]),
    ("commit-order", &[]),
    ("freestone-clients", &[]),
    // Compares the language with PostgreSQL's.
    (
        "freestone-referee",
        &["freestone-frontend", "freestone-postgres"],
    ),
    // A PostgreSQL to compare with.
    ("freestone-postgres", &[]),
    // Measures from outside, as a user's program would.
    (
        "freestone-bench",
        &["freestone", "freestone-allocator", "freestone-storage"],
    ),
    ("xtask", &[]),
];

/// Outside crates that a crate must never know, by prefix.
const FORBIDDEN: [(&str, &[&str]); 3] = [
    ("freestone-storage", &["tokio", "pyo3", "sqlparser"]),
    ("freestone-model", &["tokio", "pyo3", "arrow", "parquet"]),
    ("xtask", &["arrow", "tokio"]),
];

/// Outside crates that none of ours may know, by prefix: decision 49.
const FORBIDDEN_TO_ALL: [&str; 1] = ["datafusion"];

/// Crates that any other may use in its tests.
const TEST_TOOLS: [&str; 1] = ["freestone-testkit"];

/// Checks every `Cargo.toml` that has a `[package]`.
pub fn check(files: &[File]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"))
        .flat_map(check_manifest)
        .collect()
}

fn check_manifest(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut section = String::new();
    let mut package = None;
    for (number, line) in (1..).zip(file.text.lines()) {
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_matches(['[', ']']).to_string();
            // `[dependencies.x]` names its dependency in the heading.
            if let Some((kind, name)) = section.split_once("dependencies.") {
                let kind = format!("{kind}dependencies");
                let name = name.to_string();
                findings.extend(check_dependency(file, number, &package, &kind, &name));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim().split('.').next().unwrap_or("").trim_matches('"');
        if section == "package" && key == "name" {
            let name = value.trim().trim_matches('"').to_string();
            if !ALLOWED.iter().any(|(known, _)| *known == name) {
                let message = format!(
                    "crate `{name}` has no place in the import order of xtask/src/tidy/crates.rs"
                );
                findings.push(Finding::new(&file.path, number, message));
            }
            package = Some(name);
        } else if section.ends_with("dependencies") {
            findings.extend(check_dependency(file, number, &package, &section, key));
        }
    }
    findings
}

fn check_dependency(
    file: &File,
    line: usize,
    package: &Option<String>,
    section: &str,
    name: &str,
) -> Option<Finding> {
    let package = package.as_deref()?;
    if section.starts_with("dev-") && TEST_TOOLS.contains(&name) {
        return None;
    }
    let ours = ALLOWED.iter().any(|(known, _)| *known == name);
    let allowed = ALLOWED.iter().find(|(known, _)| *known == package)?.1;
    if ours && !allowed.contains(&name) {
        let may = match allowed {
            [] => "none of our crates".to_string(),
            some => some.join(", "),
        };
        return Some(Finding::new(
            &file.path,
            line,
            format!("`{package}` may import {may}, not `{name}`"),
        ));
    }
    let forbidden = FORBIDDEN.iter().find(|(known, _)| *known == package);
    let forbidden = forbidden.map_or(&[][..], |(_, prefixes)| *prefixes);
    let mut forbidden = forbidden.iter().chain(&FORBIDDEN_TO_ALL);
    forbidden
        .find(|prefix| name.starts_with(**prefix))
        .map(|prefix| {
            Finding::new(
                &file.path,
                line,
                format!("`{package}` must not know `{prefix}`"),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(manifest: &str) -> Vec<String> {
        check(&[File::new("crates/x/Cargo.toml", manifest)])
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn an_import_against_the_order_is_found() {
        let found = findings(
            "[package]\nname = \"freestone-storage\"\n\n[dependencies]\nfreestone.workspace = true\n",
        );
        assert_eq!(
            found,
            [
                "crates/x/Cargo.toml:5: `freestone-storage` may import none of our crates, not `freestone`"
            ]
        );
        let found = findings(
            "[package]\nname = \"freestone\"\n[dependencies.freestone-cli]\npath = \"x\"\n",
        );
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn storage_must_not_know_sql() {
        let found = findings(
            "[package]\nname = \"freestone-storage\"\n[dev-dependencies]\ndatafusion-expr = \"1\"\n",
        );
        assert_eq!(
            found,
            ["crates/x/Cargo.toml:4: `freestone-storage` must not know `datafusion`"]
        );
    }

    #[test]
    fn an_unknown_crate_is_found() {
        assert_eq!(findings("[package]\nname = \"freestone-extra\"\n").len(), 1);
    }

    #[test]
    fn the_order_itself_passes() {
        let manifest = "[package]\nname = \"freestone\"\n[dependencies]\nfreestone-storage.workspace = true\n\
                        arrow = { version = \"1\" }\n[dev-dependencies]\nfreestone-testkit.workspace = true\n";
        assert_eq!(findings(manifest), Vec::<String>::new());
    }
}
