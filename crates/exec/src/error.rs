//! What can go wrong while rows are computed.

use arrow_schema::ArrowError;

/// An error of an operator.
#[derive(Clone, Debug)]
pub enum Error {
    /// From reading the table.
    Storage(std::sync::Arc<freestone_storage::Error>),
    /// From whoever evaluates what this crate does not, or from Arrow.
    Other(std::sync::Arc<dyn std::error::Error + Send + Sync>),
    /// A value that is outside its type; the text names the type.
    OutOfRange(String),
    /// An argument of a function of windows that must be positive.
    NotPositive(&'static str),
    /// A row that has several partners where one is all it may have.
    SeveralRows,
    /// An operator that cannot do with the memory there is.
    OutOfMemory {
        /// Which operator.
        operator: &'static str,
        /// Bytes it cannot do without.
        bytes: usize,
        /// Bytes there are for all.
        limit: usize,
    },
    /// Rows could not be set aside.
    Spill(std::sync::Arc<std::io::Error>),
    /// A mistake of this program.
    Internal(String),
    /// The query was given up.
    Cancelled,
}

/// The outcome of an operator.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A mistake of this program.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::Internal(message.into())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Storage(error) => error.fmt(f),
            Error::Other(error) => error.fmt(f),
            Error::OutOfRange(kind) => write!(f, "{kind} out of range"),
            Error::NotPositive(function) => {
                write!(f, "argument of {function} must be greater than zero")
            }
            Error::SeveralRows => {
                f.write_str("more than one row returned by a subquery used as an expression")
            }
            Error::OutOfMemory {
                operator,
                bytes,
                limit,
            } => write!(
                f,
                "{operator} needs {bytes} bytes at once, more than {limit} bytes for all leave it"
            ),
            Error::Spill(error) => write!(f, "cannot set rows aside: {error}"),
            Error::Internal(message) => f.write_str(message),
            Error::Cancelled => f.write_str("the query was cancelled"),
        }
    }
}

impl std::error::Error for Error {}

impl From<freestone_storage::Error> for Error {
    fn from(error: freestone_storage::Error) -> Error {
        Error::Storage(std::sync::Arc::new(error))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Spill(std::sync::Arc::new(error))
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Error {
        Error::Other(std::sync::Arc::new(error))
    }
}
