//! Errors as PostgreSQL states them: SQLSTATE, message, detail, hint, position.
//!
//! Everything that can go wrong below (parser, planner, kernels, storage, files)
//! is turned into one [`Error`] here, so that a client can branch on the code
//! and a person can read the text. Our own code creates errors with
//! [`Error::new`]; what others report is translated in `foreign`.
//!
//! An [`Error`] can travel through the bulk engine and Arrow, and comes out unchanged on the
//! other side.

mod foreign;
mod message;

use std::fmt;

pub(crate) use foreign::{panicked, parser};
pub(crate) use message::sql_name_of_debug;

/// `Result` with the error of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where in the statement's text an error was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

/// Why a statement failed.
///
/// # Example
/// ```
/// let session = freestone::Database::in_memory().session();
/// let error = session.parse("SELEC 1").unwrap_err();
/// assert_eq!(error.sqlstate, "42601");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Five-character code of the SQL standard and PostgreSQL, such as `42P01`.
    pub sqlstate: String,
    /// One sentence that names what failed.
    pub message: String,
    /// More facts, when there are any.
    pub detail: Option<String>,
    /// What the user might do instead.
    pub hint: Option<String>,
    /// Where in the text, when known.
    pub position: Option<Position>,
}

impl Error {
    /// An error with a code and a message and nothing else.
    pub fn new(sqlstate: &str, message: impl Into<String>) -> Self {
        Self {
            sqlstate: sqlstate.to_owned(),
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
        }
    }

    /// `0A000`: understood, but not offered.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new("0A000", message)
    }

    /// `XX000`: a bug in Freestone or in a library below it.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("XX000", message)
    }

    /// Whether it is of a value or a row, so that a statement may fail or not by what it meets.
    pub(crate) fn is_of_values(&self) -> bool {
        ["21", "22", "23"]
            .iter()
            .any(|class| self.sqlstate.starts_with(class))
    }

    /// Adds further facts.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds advice when there is some.
    #[must_use]
    pub fn with_hint_opt(mut self, hint: Option<String>) -> Self {
        if hint.is_some() {
            self.hint = hint;
        }
        self
    }

    /// Adds the place in the text.
    #[must_use]
    pub fn at(mut self, position: Option<Position>) -> Self {
        self.position = self.position.or(position);
        self
    }

    /// Forgets the place: it is none in the text of the statement.
    pub(crate) fn placeless(mut self) -> Self {
        self.position = None;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {}: {}", self.sqlstate, self.message)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, " (line {line}, column {column})")?;
        }
        if let Some(detail) = &self.detail {
            write!(f, "\nDETAIL: {detail}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nHINT: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The candidate nearest to `name`, as "did you mean" advice.
///
/// Near means at most a third of the letters differ (and at least one may).
pub(crate) fn did_you_mean<'a>(
    kind: &str,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let wanted = name.to_lowercase();
    let (distance, best) = candidates
        .into_iter()
        .map(|candidate| (edit_distance(&wanted, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    let allowed = (wanted.chars().count() / 3).max(1);
    (distance <= allowed).then(|| format!("did you mean {kind} \"{best}\"?"))
}

/// Levenshtein distance, counted in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_offered_only_when_near() {
        let tables = ["lineitem", "orders", "part"];
        assert_eq!(
            did_you_mean("table", "linitem", tables).as_deref(),
            Some("did you mean table \"lineitem\"?")
        );
        assert_eq!(did_you_mean("table", "weather", tables), None);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn display_states_everything_once() {
        let error = Error::new("42P01", "table \"x\" does not exist")
            .at(Some(Position { line: 2, column: 7 }))
            .with_hint("did you mean table \"y\"?");
        assert_eq!(
            error.to_string(),
            "ERROR 42P01: table \"x\" does not exist (line 2, column 7)\nHINT: did you mean table \"y\"?"
        );
    }
}
