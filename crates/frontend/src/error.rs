//! Errors as PostgreSQL states them: SQLSTATE, message, detail, hint, position.

use std::fmt;

/// `Result` with the error of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a statement's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

/// The reason for which a statement is refused or fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Five-character code of the SQL standard and PostgreSQL, such as `42P01`.
    pub sqlstate: &'static str,
    /// One sentence in the user's words.
    pub message: String,
    /// More facts, when there are any.
    pub detail: Option<String>,
    /// A way to mend it, when there is one.
    pub hint: Option<String>,
    /// The place in the text, when known.
    pub position: Option<Position>,
}

impl Error {
    /// An error with a code and a message and nothing else.
    pub fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self {
            sqlstate,
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

    /// `XX000`: a bug of this crate or of a library below it.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("XX000", message)
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
        self.hint = hint.or(self.hint);
        self
    }

    /// Adds the place in the text, unless there is one.
    #[must_use]
    pub fn at(mut self, position: Option<Position>) -> Self {
        self.position = self.position.or(position);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {}: {}", self.sqlstate, self.message)
    }
}

impl std::error::Error for Error {}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::internal(error.to_string())
    }
}
