//! `unsafe` stands only in I/O modules, kernels, Arrow's C interface and the allocator's set-up, and says why it is sound.

use super::rust::{code_only, has_word};
use super::{File, Finding};

/// Paths (or folders, with a slash) where `unsafe` may stand. `views.rs` and
/// `compacted.rs` make Arrow arrays of checked bytes and of parts of right arrays, `exchange`
/// of what other libraries of Python's hand over.
const ALLOWED: [&str; 9] = [
    "crates/allocator/src/lib.rs",
    "crates/exec/src/kernels.rs",
    "crates/python/src/exchange/",
    "crates/storage/src/io.rs",
    "crates/storage/src/io/",
    "crates/storage/src/codec/compacted.rs",
    "crates/storage/src/codec/views.rs",
    "crates/storage/src/codec/bits/",
    "crates/storage/src/codec/symbols/",
];

/// Lines of comment looked at above the word.
const REACH: usize = 12;

/// Checks every Rust file, tests included.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.is_rust() && file.text.contains("unsafe"))
    {
        let code = code_only(&file.text);
        let lines: Vec<&str> = file.text.lines().collect();
        for (at, line) in code.lines().enumerate() {
            if !has_word(line, "unsafe") {
                continue;
            }
            if !ALLOWED.iter().any(|allowed| file.path.starts_with(allowed)) {
                findings.push(Finding::new(
                    &file.path,
                    at + 1,
                    "`unsafe` belongs to I/O modules and kernels only",
                ));
            } else if !explained(&lines, at) {
                findings.push(Finding::new(
                    &file.path,
                    at + 1,
                    "`unsafe` without a `SAFETY:` comment above it",
                ));
            }
        }
    }
    findings
}

/// A `SAFETY:` (or `# Safety` section) on the line or in the comment block above.
fn explained(lines: &[&str], at: usize) -> bool {
    let says = |line: &str| line.contains("SAFETY:") || line.contains("# Safety");
    if says(lines[at]) {
        return true;
    }
    lines[..at]
        .iter()
        .rev()
        .take(REACH)
        .take_while(|line| {
            line.trim_start().starts_with("//") || line.trim_start().starts_with("#[")
        })
        .any(|line| says(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&[File::new(path, text)]).len()
    }

    #[test]
    fn unsafe_outside_its_modules_is_found() {
        assert_eq!(
            count("crates/sql/src/lib.rs", "// SAFETY: no\nunsafe { f() }\n"),
            1
        );
        assert_eq!(
            count(
                "crates/sql/src/lib.rs",
                "#![forbid(unsafe_code)] // unsafe\n"
            ),
            0
        );
    }

    #[test]
    fn unsafe_without_a_reason_is_found() {
        let path = "crates/storage/src/io/map.rs";
        assert_eq!(count(path, "unsafe { f() }\n"), 1);
        assert_eq!(
            count(
                path,
                "// SAFETY: the map\n// outlives the slice.\nunsafe { f() }\n"
            ),
            0
        );
        assert_eq!(
            count(path, "// SAFETY: stale\nlet a = 1;\nunsafe { f() }\n"),
            1
        );
    }
}
