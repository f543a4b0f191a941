//! Errors, sorted by what the caller does next.
//!
//! A bug is an assertion; everything the world can do to us is an [`Error`]
//! with an SQLSTATE, a message that says what and where, and, where there is
//! one, a hint that says how to mend it.

use std::fmt;

/// What storage operations return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was not done.
#[derive(Debug)]
pub enum Error {
    /// Stored bytes are not what was written: read another copy or salvage.
    Corrupt {
        /// File the bytes came from.
        file: String,
        /// Block number, if a block file.
        block: Option<u64>,
        /// Section of the block or part of the file.
        section: Option<String>,
        /// What is wrong with it.
        reason: String,
    },
    /// The request cannot be done as asked: change the request.
    Invalid {
        /// Five-character SQLSTATE.
        sqlstate: &'static str,
        /// What is wrong.
        message: String,
        /// How to mend it.
        hint: Option<String>,
    },
    /// Somebody else changed the same thing first: try again.
    Conflict {
        /// What was changed.
        message: String,
    },
    /// No room: free some and try again.
    Full {
        /// What is full.
        message: String,
    },
    /// The operating system refused.
    Io {
        /// What was attempted, on which file.
        context: String,
        /// Its answer.
        source: std::io::Error,
    },
}

impl Error {
    /// An [`Error::Invalid`] without a hint.
    pub fn invalid(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Error::Invalid {
            sqlstate,
            message: message.into(),
            hint: None,
        }
    }

    /// Wraps an operating-system error; a full disk becomes [`Error::Full`].
    pub fn io(context: impl Into<String>, source: std::io::Error) -> Self {
        let context = context.into();
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Error::Full {
                message: format!("{context}: {source}"),
            },
            _ => Error::Io { context, source },
        }
    }

    /// An [`Error::Corrupt`] that does not know its place yet; [`Error::at`] tells it.
    pub fn corrupt(reason: impl Into<String>) -> Self {
        Error::Corrupt {
            file: String::new(),
            block: None,
            section: None,
            reason: reason.into(),
        }
    }

    /// Fills in where a corruption was found, unless an inner layer knew already.
    #[must_use]
    pub fn at(
        self,
        place_file: &str,
        place_block: Option<u64>,
        place_section: Option<&str>,
    ) -> Self {
        match self {
            Error::Corrupt {
                file,
                block,
                section,
                reason,
            } => Error::Corrupt {
                file: if file.is_empty() {
                    place_file.to_string()
                } else {
                    file
                },
                block: block.or(place_block),
                section: section.or_else(|| place_section.map(str::to_string)),
                reason,
            },
            other => other,
        }
    }

    /// Says which column's section a corruption was found in: `values` becomes
    /// `values of l_tax`. Errors that were placed in a file are complete already.
    #[must_use]
    pub fn of_column(self, column: &str) -> Self {
        match self {
            Error::Corrupt {
                file,
                block,
                section: Some(section),
                reason,
            } if file.is_empty() => Error::Corrupt {
                file,
                block,
                section: Some(format!("{section} of {column}")),
                reason,
            },
            other => other,
        }
    }

    /// Adds a hint to an [`Error::Invalid`].
    #[must_use]
    pub fn with_hint(self, text: impl Into<String>) -> Self {
        match self {
            Error::Invalid {
                sqlstate, message, ..
            } => Error::Invalid {
                sqlstate,
                message,
                hint: Some(text.into()),
            },
            other => other,
        }
    }

    /// The SQLSTATE that SQL clients see.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Error::Corrupt { .. } => "XX001",
            Error::Invalid { sqlstate, .. } => sqlstate,
            Error::Conflict { .. } => "40001",
            Error::Full { .. } => "53100",
            Error::Io { .. } => "58030",
        }
    }

    /// How to mend it, where that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Invalid { hint, .. } => hint.as_deref(),
            Error::Corrupt { .. } => Some(
                "Run `freestone verify` to list every damaged block; other tables go on working. `freestone salvage` makes a database of what is left.",
            ),
            Error::Full { .. } => {
                Some("Free space on the disk; nothing that was acknowledged is lost.")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Corrupt {
                file,
                block,
                section,
                reason,
            } => {
                f.write_str("corrupt data")?;
                if let Some(block) = block {
                    write!(f, " in block {block}")?;
                }
                if let Some(section) = section {
                    write!(f, ", {section}")?;
                }
                if !file.is_empty() {
                    write!(f, ", file {file}")?;
                }
                write!(f, ": {reason}")
            }
            Error::Invalid { message, .. }
            | Error::Conflict { message }
            | Error::Full { message } => f.write_str(message),
            Error::Io { context, source } => write!(f, "{context}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Error::invalid("XX000", format!("internal: {error}"))
    }
}
