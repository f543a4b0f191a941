//! What can go wrong in the program, and how it is said.
//!
//! Errors of the database are shown as `psql` shows them: severity and SQLSTATE,
//! the line of the statement with a caret under the place, then detail and hint.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// The database refused.
    Sql(Box<freestone::Error>),
    /// A file or terminal of the program itself.
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else, in words.
    Message(String),
    /// Whoever read our output has closed it.
    Closed,
    /// Ctrl-C.
    Interrupted,
    /// The user has been told already.
    Reported,
}

/// `Result` with [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// An I/O error while doing `what`; a closed pipe is no error.
    pub fn io(what: impl Into<String>, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Io {
                what: what.into(),
                source,
            },
        }
    }

    /// An error while writing results.
    pub fn output(source: io::Error) -> Self {
        Failure::io("cannot write the output", source)
    }

    /// Says what happened on standard error and chooses the exit code: 0 when
    /// the reader left, 130 after Ctrl-C, else 1.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Closed => ExitCode::SUCCESS,
            Failure::Interrupted => {
                eprintln!("cancelled");
                ExitCode::from(130)
            }
            Failure::Reported => ExitCode::FAILURE,
            other => {
                eprintln!("{other}");
                ExitCode::FAILURE
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Sql(error) => f.write_str(&describe(error, "")),
            Failure::Io { what, source } => write!(f, "freestone: {what}: {source}"),
            Failure::Message(message) => write!(f, "freestone: {message}"),
            Failure::Closed => f.write_str("freestone: the output was closed"),
            Failure::Interrupted => f.write_str("cancelled"),
            Failure::Reported => Ok(()),
        }
    }
}

impl From<freestone::Error> for Failure {
    fn from(error: freestone::Error) -> Self {
        Failure::Sql(Box::new(error))
    }
}

impl From<freestone_storage::Error> for Failure {
    fn from(error: freestone_storage::Error) -> Self {
        freestone::Error::from(error).into()
    }
}

/// An error of the database about the statement `sql`, over several lines.
pub fn describe(error: &freestone::Error, sql: &str) -> String {
    let mut text = format!("ERROR {}: {}", error.sqlstate, error.message);
    if let Some(place) = error
        .position
        .and_then(|at| pointer(sql, at.line, at.column))
    {
        text.push_str(&place);
    }
    if let Some(detail) = &error.detail {
        text.push_str(&format!("\nDETAIL: {detail}"));
    }
    if let Some(hint) = &error.hint {
        text.push_str(&format!("\nHINT: {hint}"));
    }
    text
}

/// Longest part of a line that is shown; the caret stays inside.
const EXCERPT: usize = 100;

/// The line an error is on, and a caret under its column (both from 1).
fn pointer(sql: &str, line: u64, column: u64) -> Option<String> {
    let text = sql
        .lines()
        .nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let at = usize::try_from(column).ok()?.checked_sub(1)?;
    let length = text.chars().count();
    if at > length {
        return None;
    }
    let skipped = if length > EXCERPT {
        at.saturating_sub(EXCERPT / 2)
    } else {
        0
    };
    let shown = text.chars().skip(skipped).take(EXCERPT);
    let shown: String = shown
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let front = if skipped > 0 { "..." } else { "" };
    let back = if skipped + EXCERPT < length {
        "..."
    } else {
        ""
    };
    let label = format!("LINE {line}: {front}");
    let caret = " ".repeat(label.len() + at - skipped);
    Some(format!("\n{label}{shown}{back}\n{caret}^"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        let found = pointer("select\n  foo from t", 2, 3).expect("inside");
        assert_eq!(found, "\nLINE 2:   foo from t\n          ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let sql = format!("{}X{}", "a".repeat(300), "b".repeat(300));
        let found = pointer(&sql, 1, 301).expect("inside");
        let lines: Vec<&str> = found.lines().collect();
        let caret = lines[2].find('^').expect("a caret");
        assert_eq!(&lines[1][caret..=caret], "X");
        assert!(lines[1].len() < 120);
    }

    #[test]
    fn a_place_outside_the_text_is_not_shown() {
        assert_eq!(pointer("select", 2, 1), None);
        assert_eq!(pointer("select", 1, 99), None);
        assert_eq!(pointer("select", 0, 0), None);
    }
}
