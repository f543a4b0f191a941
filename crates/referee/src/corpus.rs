//! Statements of our own with PostgreSQL's recorded answers.
//!
//! A file `corpus/<chapter>/<topic>.sql` holds statements, each ended by a semicolon at the end
//! of a line; `<topic>.answers` beside it holds them with their answers:
//!
//! ```text
//! SELECT 1 AS a, NULL AS b;
//! ----
//! a integer | b text
//! 1|∅
//! ```
//!
//! A failed statement has `error 22012` instead, and one without columns nothing. A file's
//! statements are asked one after the other, so that tables stay; each file begins anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::answer::{Answer, Cell, Failure, Side};
use crate::compare::{self, Difference, Strictness};

/// A statement with its recorded answer.
pub struct Recorded {
    /// The statement, without its semicolon.
    pub statement: String,
    /// The answer.
    pub answer: Answer,
}

/// The folder of the corpus in the source tree: beside the package where cargo runs the program,
/// else under the working folder.
pub fn folder() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let package = package.map_or_else(|| PathBuf::from("crates/referee"), PathBuf::from);
    package.join("corpus")
}

/// The lists of known differences; the last one is that of the server.
pub const LISTS: [&str; 3] = ["open.sql", "wanted.sql", "served.sql"];

/// The files of a chapter, or of all.
///
/// # Errors
/// The folder cannot be read.
pub fn files(folder: &Path, chapter: Option<&str>) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let wanted = chapter.is_none_or(|chapter| entry.file_name() == chapter);
        if path.is_dir() && wanted {
            for file in fs::read_dir(path)? {
                let file = file?.path();
                if file.extension().is_some_and(|extension| extension == "sql") {
                    files.push(file);
                }
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Statements whose differences are known: still to be mended (`corpus/open.sql`), or wanted
/// (`corpus/wanted.sql`); of a server those of `corpus/served.sql`, too.
///
/// # Errors
/// The file cannot be read.
pub fn known(folder: &Path, served: bool) -> io::Result<Vec<String>> {
    let mut known = Vec::new();
    for list in LISTS.iter().take(if served { 3 } else { 2 }) {
        known.extend(statements(&fs::read_to_string(folder.join(list))?));
    }
    Ok(known)
}

/// A list of known differences without the statements that no longer differ. A reason with no
/// statement under it goes, too; the head, up to an empty line, stays.
pub fn pruned(text: &str, differing: &[String]) -> String {
    let (head, text) = text.split_once("\n\n").unwrap_or(("", text));
    let mut kept = format!("{head}\n\n");
    let mut reasons = String::new();
    let (mut open, mut below): (Vec<&str>, bool) = (Vec::new(), true);
    for line in text.lines() {
        if open.is_empty() && line.starts_with("--") {
            if below {
                reasons.clear();
                below = false;
            }
            reasons += &format!("{line}\n");
            continue;
        }
        below = true;
        open.push(line);
        if line.trim_end().ends_with(';') {
            let statement = open.join("\n");
            open.clear();
            if statements(&statement)
                .iter()
                .any(|one| differing.contains(one))
            {
                kept += &format!("{}{statement}\n", std::mem::take(&mut reasons));
            }
        }
    }
    kept
}

/// The statements of a text: a semicolon at the end of a line ends one, and lines that begin
/// with `--` belong to none.
pub fn statements(text: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.starts_with("--") || open.is_empty() && line.trim().is_empty() {
            continue;
        }
        match line.trim_end().strip_suffix(';') {
            Some(line) => {
                open.push(line);
                statements.push(open.join("\n"));
                open.clear();
            }
            None => open.push(line),
        }
    }
    statements
}

/// Statements and answers as text.
pub fn written(recorded: &[Recorded]) -> String {
    let mut text = String::new();
    for one in recorded {
        text += &format!("{};\n----\n", one.statement);
        match &one.answer.rows {
            Err(failure) => text += &format!("error {}\n", failure.sqlstate),
            Ok(rows) => {
                if let Some(columns) = &one.answer.columns
                    && !columns.is_empty()
                {
                    let columns = columns.iter().map(|(name, ty)| format!("{name} {ty}"));
                    text += &format!("{}\n", columns.collect::<Vec<_>>().join(" | "));
                }
                for row in rows {
                    let cells = row.iter().map(escaped);
                    text += &format!("{}\n", cells.collect::<Vec<_>>().join("|"));
                }
            }
        }
        text.push('\n');
    }
    text
}

fn escaped(cell: &Cell) -> String {
    let Some(text) = cell else {
        return "∅".to_owned();
    };
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '|' => out.push_str("\\p"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '∅' => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    // A row of one empty text is not the empty line that ends the rows.
    if out.is_empty() {
        out.push_str("\\e");
    }
    out
}

fn unescaped(text: &str) -> Cell {
    if text == "∅" {
        return None;
    }
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('p') => out.push('|'),
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('0') => out.push('∅'),
                Some('e') | None => {}
                Some(c) => out.push(c),
            },
            c => out.push(c),
        }
    }
    Some(out)
}

/// Statements and answers of a text that [`written`] gave.
pub fn read(text: &str) -> Vec<Recorded> {
    let mut recorded = Vec::new();
    let mut lines = text.lines();
    loop {
        let mut statement: Vec<&str> = Vec::new();
        for line in lines.by_ref().take_while(|line| *line != "----") {
            if !(statement.is_empty() && line.is_empty()) {
                statement.push(line);
            }
        }
        if statement.is_empty() {
            return recorded;
        }
        let statement = statement.join("\n");
        let mut answer: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let answer = match answer.first().and_then(|line| line.strip_prefix("error ")) {
            Some(sqlstate) => Answer {
                columns: None,
                rows: Err(Failure {
                    sqlstate: sqlstate.to_owned(),
                    message: String::new(),
                }),
                done: None,
            },
            None if answer.is_empty() => Answer {
                columns: None,
                rows: Ok(Vec::new()),
                done: None,
            },
            None => {
                let head = answer.remove(0);
                let columns = head.split(" | ").map(|column| {
                    let (name, ty) = column.split_once(' ').unwrap_or((column, ""));
                    (name.to_owned(), ty.to_owned())
                });
                let row = |line: &&str| line.split('|').map(unescaped).collect();
                Answer {
                    columns: Some(columns.collect()),
                    rows: Ok(answer.iter().map(row).collect()),
                    done: None,
                }
            }
        };
        recorded.push(Recorded {
            statement: statement.trim_end_matches(';').to_owned(),
            answer,
        });
    }
}

/// Asks a side the statements of a file and writes its answers beside it.
///
/// # Errors
/// The side is gone, or a file cannot be read or written.
pub fn record(file: &Path, side: &mut dyn Side) -> io::Result<usize> {
    let statements = statements(&fs::read_to_string(file)?);
    side.reset()?;
    let answers = side.ask(&statements)?;
    let recorded = statements.into_iter().zip(answers);
    let recorded = recorded.map(|(statement, answer)| Recorded { statement, answer });
    let recorded: Vec<Recorded> = recorded.collect();
    fs::write(file.with_extension("answers"), written(&recorded))?;
    Ok(recorded.len())
}

/// A statement that is answered otherwise than recorded.
pub struct Miss {
    /// The statement.
    pub statement: String,
    /// The kind of the difference.
    pub difference: Difference,
    /// The recorded answer.
    pub theirs: Answer,
    /// The side's answer.
    pub ours: Answer,
}

/// Asks a side the statements of a file and compares its answers with those recorded: how many
/// were asked, and the differences that nobody wants.
///
/// # Errors
/// The side is gone, or a file cannot be read.
pub fn check(file: &Path, side: &mut dyn Side) -> io::Result<(usize, Vec<Miss>)> {
    let recorded = read(&fs::read_to_string(file.with_extension("answers"))?);
    side.reset()?;
    let statements: Vec<String> = recorded.iter().map(|one| one.statement.clone()).collect();
    let answers = side.ask(&statements)?;
    let mut misses = Vec::new();
    for (one, ours) in recorded.into_iter().zip(answers) {
        let how = Strictness {
            ordered: is_ordered(&one.statement),
            columns: true,
            by_value: false,
            messages: false,
        };
        let Some(difference) = compare::difference(&one.answer, &ours, how) else {
            continue;
        };
        if compare::wanted(&one.statement, &difference).is_none() {
            misses.push(Miss {
                statement: one.statement,
                difference,
                theirs: one.answer,
                ours,
            });
        }
    }
    Ok((statements.len(), misses))
}

/// Whether the outermost query of a statement has an ORDER BY.
pub fn is_ordered(statement: &str) -> bool {
    let mut depth = 0i32;
    let mut outside = String::new();
    // Brackets in literals and names are none.
    let mut quote = None;
    for c in statement.chars() {
        match c {
            c if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '\'' | '"' => quote = Some(c),
            '(' => depth += 1,
            ')' => depth -= 1,
            c if depth == 0 => outside.push(c.to_ascii_lowercase()),
            _ => {}
        }
    }
    outside
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .contains("order by")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_inside_of_brackets_is_not_that_of_the_statement() {
        assert!(is_ordered("SELECT a FROM t\n  ORDER  BY a"));
        assert!(is_ordered("SELECT ')' FROM (SELECT '[1,2)') t ORDER BY 1"));
        assert!(!is_ordered("SELECT '[1,2)' FROM (SELECT 1 ORDER BY 1) t"));
        assert!(!is_ordered(
            "SELECT '(' AS \")\" FROM (SELECT 1 ORDER BY 1) t"
        ));
    }

    #[test]
    fn statements_end_at_the_end_of_a_line() {
        let text = "-- A comment.\nSELECT 1;\n\nSELECT ';'\n  , 2;\n";
        assert_eq!(statements(text), ["SELECT 1", "SELECT ';'\n  , 2"]);
    }

    #[test]
    fn a_mended_statement_goes_with_its_reason() {
        let text =
            "-- Head.\n\n-- One.\n-- More.\nSELECT 1;\nSELECT 2\n  , 3;\n-- Two.\nSELECT 4;\n";
        let differing = ["SELECT 2\n  , 3".to_owned()];
        assert_eq!(
            pruned(text, &differing),
            "-- Head.\n\n-- One.\n-- More.\nSELECT 2\n  , 3;\n"
        );
        let all = ["SELECT 1", "SELECT 2\n  , 3", "SELECT 4"].map(str::to_owned);
        assert_eq!(pruned(text, &all), text);
    }

    #[test]
    fn answers_come_back_as_they_were_written() {
        let cell = |text: &str| Some(text.to_owned());
        let answers = [
            Answer {
                columns: Some(vec![("a".to_owned(), "text".to_owned())]),
                rows: Ok(vec![vec![None], vec![cell("")], vec![cell("a|b\n\\ ∅")]]),
                done: None,
            },
            Answer {
                columns: Some(vec![
                    ("a".to_owned(), "integer".to_owned()),
                    ("?column?".to_owned(), "double precision".to_owned()),
                ]),
                rows: Ok(Vec::new()),
                done: None,
            },
            Answer {
                columns: None,
                rows: Ok(Vec::new()),
                done: None,
            },
            Answer::failed("22012", ""),
        ];
        let recorded = answers.iter().enumerate().map(|(at, answer)| Recorded {
            statement: format!("SELECT\n{at}"),
            answer: answer.clone(),
        });
        let back = read(&written(&recorded.collect::<Vec<_>>()));
        assert_eq!(back.len(), 4);
        for (at, (answer, back)) in answers.iter().zip(&back).enumerate() {
            assert_eq!(answer, &back.answer);
            assert_eq!(back.statement, format!("SELECT\n{at}"));
        }
    }

    #[test]
    fn only_the_outermost_order_counts() {
        assert!(is_ordered("SELECT 1 ORDER\n BY 1"));
        assert!(!is_ordered("SELECT array_agg(x ORDER BY x) FROM t"));
    }
}
