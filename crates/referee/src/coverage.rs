//! Which names of PostgreSQL's documentation the corpus has.
//!
//! `corpus/coverage.txt` lists the functions, operators and clauses of each chapter:
//!
//! ```text
//! numeric: + - abs( ceil(
//! - xmlagg( no XML
//! ```

use std::fs;
use std::io;
use std::path::Path;

use crate::corpus;

/// A chapter's names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chapter {
    /// Its name.
    pub name: String,
    /// Names that a statement has.
    pub covered: Vec<String>,
    /// Names that none has.
    pub missing: Vec<String>,
    /// Names that are refused, with the reason.
    pub refused: Vec<String>,
}

/// The chapters of a folder's list, compared with its statements.
///
/// # Errors
/// A file cannot be read.
pub fn chapters(folder: &Path) -> io::Result<Vec<Chapter>> {
    let list = fs::read_to_string(folder.join("coverage.txt"))?;
    let mut chapters: Vec<Chapter> = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        if let (Some(refused), Some(chapter)) = (line.strip_prefix("- "), chapters.last_mut()) {
            chapter.refused.push(refused.to_owned());
            continue;
        }
        let Some((name, names)) = line.split_once(": ") else {
            continue;
        };
        let mut text = String::new();
        for file in corpus::files(folder, Some(name))? {
            text += &fs::read_to_string(file)?;
        }
        chapters.push(compared(name, names, &text));
    }
    Ok(chapters)
}

/// The names of a chapter in a text of statements; `\_` stands for a blank.
fn compared(chapter: &str, names: &str, text: &str) -> Chapter {
    let text = text.to_lowercase();
    let names = names
        .split_whitespace()
        .map(|name| name.replace("\\_", " "));
    let (covered, missing) = names.partition(|name| text.contains(name.as_str()));
    Chapter {
        name: chapter.to_owned(),
        covered,
        missing,
        refused: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_in_statements() {
        let chapter = compared(
            "x",
            "abs( at\\_time\\_zone ceil(",
            "SELECT Abs(1) AT TIME ZONE 'x';",
        );
        assert_eq!(chapter.covered, ["abs(", "at time zone"]);
        assert_eq!(chapter.missing, ["ceil("]);
    }

    #[test]
    fn the_corpus_has_all_names() {
        for chapter in chapters(&corpus::folder()).unwrap() {
            assert!(chapter.missing.is_empty(), "{chapter:?}");
            assert!(!chapter.covered.is_empty(), "{chapter:?}");
        }
    }
}
