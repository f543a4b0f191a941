//! File sizes: no source file past 600 lines, and the ones past 400 stand in a
//! ratchet file with their size, which may only go down.

use super::rust::lines_before_tests;
use super::{File, Finding};

const LIMIT: usize = 600;
const LOOK_AGAIN: usize = 400;
/// A test module inside a file; longer ones move to a sibling `tests.rs`.
const INLINE_TESTS: usize = 150;
/// Lines of the form `path lines`.
const RATCHET: &str = "xtask/ratchet.txt";

/// Checks Rust and Python sources. Tests do not count towards a file's size.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut listed = Vec::new();
    let mut findings = Vec::new();
    if let Some(file) = files.iter().find(|file| file.path == RATCHET) {
        for (number, line) in (1..).zip(file.text.lines()) {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                [path, size] if size.parse::<usize>().is_ok() => {
                    listed.push((number, path, size.parse::<usize>().unwrap_or(0)));
                }
                _ => findings.push(Finding::new(RATCHET, number, "expected `path lines`")),
            }
        }
    }
    for file in files {
        if file.is_test() || !(file.is_rust() || file.path.ends_with(".py")) {
            continue;
        }
        let size = lines_before_tests(&file.text);
        let tests = file.text.lines().count() - size;
        let allowed = listed
            .iter()
            .find(|(_, path, _)| *path == file.path)
            .map(|(_, _, size)| *size);
        let message = if size > LIMIT {
            format!("{size} lines; no file goes past {LIMIT}: split it")
        } else if size > allowed.unwrap_or(LOOK_AGAIN).max(LOOK_AGAIN) {
            format!("{size} lines; split it, or if it reads well as one, list it in {RATCHET}")
        } else if tests > INLINE_TESTS {
            format!("{tests} lines of tests; past {INLINE_TESTS} they move to a sibling tests.rs")
        } else {
            continue;
        };
        findings.push(Finding::new(&file.path, 0, message));
    }
    for (number, path, _) in listed {
        let size = files
            .iter()
            .find(|file| file.path == path)
            .map(|file| lines_before_tests(&file.text));
        if size.is_none_or(|size| size <= LOOK_AGAIN) {
            findings.push(Finding::new(
                RATCHET,
                number,
                format!("`{path}` needs no place here any more: remove the line"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(lines: usize) -> File {
        File::new("crates/x/src/a.rs", "// x\n".repeat(lines))
    }

    fn messages(files: &[File]) -> Vec<String> {
        check(files).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(messages(&[source(400)]), Vec::<String>::new());
        assert!(messages(&[source(401)])[0].contains("list it"));
        assert!(messages(&[source(601)])[0].contains("no file goes past 600"));
    }

    #[test]
    fn the_ratchet_only_goes_down() {
        let ratchet = |text: &str| File::new(RATCHET, text);
        assert_eq!(
            messages(&[source(450), ratchet("crates/x/src/a.rs 450\n")]),
            Vec::<String>::new()
        );
        assert_eq!(
            messages(&[source(451), ratchet("crates/x/src/a.rs 450\n")]).len(),
            1
        );
        let found = messages(&[source(300), ratchet("# why\ncrates/x/src/a.rs 450\n")]);
        assert_eq!(
            found,
            [
                "xtask/ratchet.txt:2: `crates/x/src/a.rs` needs no place here any more: remove the line"
            ]
        );
        assert_eq!(messages(&[ratchet("gone.rs 450\n")]).len(), 1);
        assert_eq!(messages(&[ratchet("nonsense\n")]).len(), 1);
    }

    #[test]
    fn tests_do_not_count_but_move_out_when_long() {
        let with_tests = |lines: usize| {
            File::new(
                "a.rs",
                format!(
                    "fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{}}}\n",
                    "// x\n".repeat(lines)
                ),
            )
        };
        assert_eq!(messages(&[with_tests(100)]), Vec::<String>::new());
        assert_eq!(messages(&[with_tests(500)]).len(), 1);
        assert_eq!(
            messages(&[File::new("crates/x/src/tests.rs", "\n".repeat(2000))]),
            Vec::<String>::new()
        );
    }
}
