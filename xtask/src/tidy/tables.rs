//! Byte tables: prose about bytes drifts from the code unless a test holds it.
//!
//! A table in `docs/format.md` carries a marker such as
//! `<!-- byte-table: block-header -->` on the line above it. The test
//! `byte_table_block_header` rebuilds the table from the constants of the code
//! and compares. This rule checks that marker, table and test belong together;
//! the comparison itself is the test's.

use super::rust::code_only;
use super::{File, Finding};

const FORMAT: &str = "docs/format.md";
const OPEN: &str = "<!-- byte-table:";
const TEST: &str = "fn byte_table_";

/// Checks both ways: no marker without a test, no test without a marker.
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
            let name = name.trim().replace('-', "_");
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
    let tests = tests(files);
    for (line, name) in &marked {
        if !tests.iter().any(|(_, _, test)| test == name) {
            let message = format!("no test `byte_table_{name}` compares this table with the code");
            findings.push(Finding::new(FORMAT, *line, message));
        }
    }
    for (path, line, name) in &tests {
        if !marked.iter().any(|(_, marker)| marker == name) {
            let message = format!("test `byte_table_{name}` has no marked table in {FORMAT}");
            findings.push(Finding::new(path, *line, message));
        }
    }
    findings
}

/// Path, line and name of each `byte_table_…` test.
fn tests(files: &[File]) -> Vec<(String, usize, String)> {
    let mut tests = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with("crates/"))
    {
        if !file.text.contains(TEST) {
            continue;
        }
        for (number, line) in (1..).zip(code_only(&file.text).lines()) {
            if let Some((_, rest)) = line.split_once(TEST) {
                let name: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                tests.push((file.path.clone(), number, name));
            }
        }
    }
    tests
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
        let test = "#[test]\nfn byte_table_block_header() {}\n";
        assert_eq!(messages(PAGE, test), Vec::<String>::new());
        assert_eq!(
            messages(PAGE, "// fn byte_table_block_header() {}\n"),
            [
                "docs/format.md:3: no test `byte_table_block_header` compares this table with the code"
            ]
        );
        assert_eq!(messages("# Format\n", test).len(), 1);
        assert_eq!(
            messages("<!-- byte-table: block-header -->\nprose\n", test).len(),
            1
        );
    }
}
