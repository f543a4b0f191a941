//! Byte tables: prose about bytes drifts from the code unless a test holds it.
//!
//! A table in `docs/format.md` carries a marker such as
//! `<!-- byte-table: block-header -->` on the line above it. A test calls
//! `check_table("block-header", …)` with the rows made of the code's constants,
//! and compares. This rule checks that marker, table and call belong together;
//! the comparison itself is the test's.

use super::rust::code_only;
use super::{File, Finding};

const FORMAT: &str = "docs/format.md";
const OPEN: &str = "<!-- byte-table:";
const CALL: &str = "check_table(";

/// Checks both ways: no marker without a call, no call without a marker.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut marked = Vec::new();
    if let Some(file) = files.iter().find(|file| file.path == FORMAT) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = line
                .trim()
                .strip_prefix(OPEN)
                .and_then(|rest| rest.strip_suffix("-->"))
            else {
                continue;
            };
            let name = name.trim().to_string();
            let table = lines[at + 1..].iter().find(|line| !line.trim().is_empty());
            if !table.is_some_and(|line| line.starts_with('|')) {
                findings.push(Finding::new(
                    FORMAT,
                    at + 1,
                    format!("no table follows the marker of `{name}`"),
                ));
            }
            marked.push((at + 1, name));
        }
    }
    let calls = calls(files);
    for (line, name) in &marked {
        if !calls.iter().any(|(_, _, called)| called == name) {
            let message = format!("no test calls `check_table(\"{name}\", …)`");
            findings.push(Finding::new(FORMAT, *line, message));
        }
    }
    for (path, line, name) in &calls {
        if !marked.iter().any(|(_, marker)| marker == name) {
            let message = format!("no table of {FORMAT} is marked `{name}`");
            findings.push(Finding::new(path, *line, message));
        }
    }
    findings
}

/// Path, line and table of each `check_table("table", …)`.
fn calls(files: &[File]) -> Vec<(String, usize, String)> {
    let mut calls = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with("crates/"))
    {
        let code = code_only(&file.text);
        for ((number, line), code) in (1..).zip(file.text.lines()).zip(code.lines()) {
            let named = line
                .split_once(CALL)
                .filter(|_| code.contains(CALL))
                .and_then(|(_, rest)| rest.strip_prefix('"'))
                .and_then(|rest| rest.split_once('"'));
            if let Some((name, _)) = named {
                calls.push((file.path.clone(), number, name.to_string()));
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(page: &str, code: &str) -> Vec<String> {
        check(&[
            File::new(FORMAT, page),
            File::new("crates/storage/src/format/tests.rs", code),
        ])
        .iter()
        .map(Finding::to_string)
        .collect()
    }

    const PAGE: &str = "# Format\n\n<!-- byte-table: block-header -->\n\n| offset |\n|---|\n";

    #[test]
    fn marker_table_and_test_belong_together() {
        let test = "#[test]\nfn t() {\n    check_table(\"block-header\", FIELDS);\n}\n";
        assert_eq!(messages(PAGE, test), Vec::<String>::new());
        assert_eq!(
            messages(PAGE, "// check_table(\"block-header\", FIELDS)\n"),
            ["docs/format.md:3: no test calls `check_table(\"block-header\", …)`"]
        );
        assert_eq!(
            messages("# Format\n", test),
            [
                "crates/storage/src/format/tests.rs:3: no table of docs/format.md is marked `block-header`"
            ]
        );
        assert_eq!(
            messages("<!-- byte-table: block-header -->\nprose\n", test).len(),
            1
        );
    }
}
