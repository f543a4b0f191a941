//! What is wrong with numbers that a model is asked to work with.

use std::fmt;

/// The result of a function that may fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong, where, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong, and where.
    pub message: String,
    /// How to mend it.
    pub hint: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.hint)
    }
}

impl std::error::Error for Error {}

/// A quantity that is measured, thus finite and above zero.
pub(crate) fn positive(name: &str, value: f64) -> Result<f64> {
    match value.is_finite() && value > 0.0 {
        true => Ok(value),
        false => Err(Error {
            message: format!("{name} is {value}"),
            hint: "it has to be a number above zero",
        }),
    }
}
