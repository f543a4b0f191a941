//! Words that must not be committed: paths of one machine, registry hosts,
//! unfinished work, and tests switched off without a reason.
//!
//! The list below is pieced together so that this file does not find itself.

use super::{File, Finding};

/// A banned string and what to do instead.
const BANNED: [(&str, &str); 16] = [
    (concat!("/wo", "rk/"), "no path of one machine"),
    (concat!("/ro", "ot"), "no path of one machine"),
    (concat!("/ho", "me/"), "no path of one machine"),
    (
        concat!("../sha", "red"),
        "the project stands alone: copy the data in",
    ),
    (concat!("crates", ".io"), "no registry host"),
    (concat!("pypi", ".org"), "no registry host"),
    (concat!("npmjs", ".com"), "no registry host"),
    (concat!("TO", "DO"), "finish it, or write an issue"),
    (concat!("FIX", "ME"), "finish it, or write an issue"),
    (concat!("XX", "X"), "finish it, or write an issue"),
    (concat!("to", "do!("), "finish it"),
    (
        concat!("unimple", "mented!("),
        "finish it, or return an error",
    ),
    (concat!("db", "g!("), "debugging left in"),
    (
        concat!("#[ig", "nore]"),
        "a test that does not run says why: `= \"reason\"`",
    ),
    (concat!("<<<<", "<<<"), "an unresolved merge"),
    (
        concat!("env!(\"CARGO_MANI", "FEST_DIR\")"),
        "checkouts share a target folder: paths from the package, or the variable at run time",
    ),
];

/// Written by cargo, and it names the registry.
const EXEMPT: [&str; 4] = [
    "Cargo.lock",
    "fuzz/Cargo.lock",
    "clients/rust/Cargo.lock",
    "models/commit-order/Cargo.lock",
];

/// Checks every text file.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files
        .iter()
        .filter(|file| !EXEMPT.contains(&file.path.as_str()))
    {
        for (number, line) in (1..).zip(file.text.lines()) {
            for (word, instead) in BANNED {
                if stands_in(line, word) {
                    findings.push(Finding::new(
                        &file.path,
                        number,
                        format!("`{word}`: {instead}"),
                    ));
                }
            }
        }
    }
    findings
}

/// A word ends where letters end: `root` inside `/rootless` is another word.
fn stands_in(line: &str, word: &str) -> bool {
    let ends_in_letter = word.ends_with(|c: char| c.is_alphanumeric());
    let starts_in_letter = word.starts_with(|c: char| c.is_alphanumeric());
    let part_of_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let longer_word =
            (ends_in_letter && part_of_name(after)) || (starts_in_letter && part_of_name(before));
        let longer_path = word.starts_with('/')
            && before.is_some_and(|c| c.is_alphanumeric() || "._-})$".contains(c));
        !longer_word && !longer_path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_banned_word_is_found_with_its_line() {
        for (word, _) in BANNED {
            let found = check(&[File::new("docs/a.md", format!("fine\nsee {word} here\n"))]);
            assert_eq!(found.len(), 1, "{word}");
            assert_eq!((found[0].path.as_str(), found[0].line), ("docs/a.md", 2));
        }
    }

    #[test]
    fn look_alikes_pass() {
        let text = "src/root.rs XX001 XXXX mastodon $(HOME)/.cache framework/ #[ignore = \"needs a disk\"]\n";
        assert_eq!(check(&[File::new("a.md", text)]), Vec::new());
        assert_eq!(
            check(&[File::new("Cargo.lock", concat!("crates", ".io"))]),
            Vec::new()
        );
    }
}
