//! What keeps an experiment from running.

use std::fmt;

/// A result of the lab.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an experiment cannot run, and what would make it.
#[derive(Debug)]
pub struct Error {
    /// What is wrong.
    pub message: String,
    /// What would make it work; empty if nothing known does.
    pub hint: String,
}

impl Error {
    /// An error and what would mend it.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.hint.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", self.hint),
        }
    }
}

impl std::error::Error for Error {}

impl From<freestone_storage::Error> for Error {
    fn from(error: freestone_storage::Error) -> Error {
        Error::new(error.to_string(), "")
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::new(error.to_string(), "")
    }
}
