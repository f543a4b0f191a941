//! Errors of the parser, operators, Arrow, Parquet and storage, translated.

use std::error::Error as StdError;
use std::sync::Arc;

use arrow::error::ArrowError;
use parquet::errors::ParquetError;
use sqlparser::parser::ParserError;

use super::{Error, Position, message};

impl From<freestone_storage::Error> for Error {
    fn from(error: freestone_storage::Error) -> Self {
        from_storage(&error)
    }
}

impl From<freestone_frontend::Error> for Error {
    fn from(error: freestone_frontend::Error) -> Self {
        Self {
            sqlstate: error.sqlstate.to_owned(),
            message: error.message,
            detail: error.detail,
            hint: error.hint,
            position: error.position.map(|at| Position {
                line: at.line,
                column: at.column,
            }),
        }
    }
}

impl From<freestone_exec::Error> for Error {
    fn from(error: freestone_exec::Error) -> Self {
        from_exec(&error)
    }
}

impl From<Error> for freestone_exec::Error {
    fn from(error: Error) -> Self {
        freestone_exec::Error::Other(Arc::new(error))
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        from_arrow(&error)
    }
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Self {
        from_parquet(&error)
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        ArrowError::ExternalError(Box::new(error))
    }
}

impl Error {
    /// A file that could not be read or written, by name.
    pub(crate) fn file(action: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let sqlstate = match error.kind() {
            std::io::ErrorKind::NotFound => "58P01",
            std::io::ErrorKind::PermissionDenied => "42501",
            std::io::ErrorKind::StorageFull => "53100",
            _ => "58030",
        };
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
            _ => error.to_string(),
        };
        Self::new(
            sqlstate,
            format!("could not {action} \"{}\": {reason}", path.display()),
        )
    }
}

fn from_storage(error: &freestone_storage::Error) -> Error {
    let mut out = Error::new(error.sqlstate(), error.to_string());
    if let freestone_storage::Error::Invalid { message, .. } = error {
        out.message.clone_from(message);
        // Storage says which constraint, then which key.
        let of_key = ["23503", "23505"].contains(&error.sqlstate());
        if let (true, Some((what, key))) = (of_key, message.split_once(": key ")) {
            out.message = what.to_owned();
            out = out.with_detail(format!("Key {key}."));
        }
    }
    out.with_hint_opt(error.hint().map(str::to_owned))
}

fn from_exec(error: &freestone_exec::Error) -> Error {
    use freestone_exec::Error as Exec;
    match error {
        Exec::Storage(error) => from_storage(error),
        Exec::Other(error) => from_any(error.as_ref()),
        Exec::OutOfRange(_) => Error::new("22003", error.to_string()),
        Exec::NotPositive("ntile") => Error::new("22014", error.to_string()),
        Exec::NotPositive(_) => Error::new("22016", error.to_string()),
        Exec::SeveralRows => Error::new("21000", error.to_string()),
        Exec::OutOfMemory { .. } => Error::new("53200", error.to_string())
            .with_hint("Raise memory_limit, or let fewer queries run at once."),
        Exec::Spill(cause) => {
            let is_full = cause.kind() == std::io::ErrorKind::StorageFull;
            let sqlstate = if is_full { "53100" } else { "58030" };
            Error::new(sqlstate, format!("cannot spill rows: {cause}"))
        }
        Exec::Internal(message) => Error::internal(message.clone()),
        Exec::Cancelled => Error::new("57014", "the query was cancelled"),
    }
}

/// Follows the chain of causes to an error that we know.
fn from_any(error: &(dyn StdError + 'static)) -> Error {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(ours) = current.downcast_ref::<Error>() {
            return ours.clone();
        }
        if let Some(inner) = current.downcast_ref::<freestone_frontend::Error>() {
            return inner.clone().into();
        }
        if let Some(inner) = current.downcast_ref::<freestone_exec::Error>() {
            return from_exec(inner);
        }
        if let Some(inner) = current.downcast_ref::<ArrowError>() {
            return from_arrow(inner);
        }
        if let Some(inner) = current.downcast_ref::<ParquetError>() {
            return from_parquet(inner);
        }
        if let Some(inner) = current.downcast_ref::<freestone_storage::Error>() {
            return from_storage(inner);
        }
        if let Some(inner) = current.downcast_ref::<std::io::Error>() {
            let missing = inner.kind() == std::io::ErrorKind::NotFound;
            return Error::new(if missing { "58P01" } else { "58030" }, inner.to_string());
        }
        cause = current.source();
    }
    Error::internal(error.to_string())
}

fn from_arrow(error: &ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(inner) => from_any(inner.as_ref()),
        ArrowError::DivideByZero => Error::new("22012", "division by zero"),
        ArrowError::ArithmeticOverflow(detail) => message::overflow(detail),
        ArrowError::CastError(text)
        | ArrowError::ParseError(text)
        | ArrowError::InvalidArgumentError(text)
        | ArrowError::ComputeError(text) => message::kernel(text),
        ArrowError::NotYetImplemented(text) => Error::unsupported(text.clone()),
        ArrowError::MemoryError(text) => Error::new("53200", text.clone()),
        ArrowError::IoError(_, inner) => from_any(inner),
        ArrowError::CsvError(text) | ArrowError::ParquetError(text) => {
            Error::new("22P04", text.clone())
        }
        ArrowError::OffsetOverflowError(_) => {
            Error::new("54000", "a batch of strings is longer than 2 GiB")
        }
        other => Error::internal(other.to_string()),
    }
}

fn from_parquet(error: &ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => from_any(inner.as_ref()),
        ParquetError::ArrowError(text) => message::kernel(text),
        other => Error::new("22P04", other.to_string()),
    }
}

/// A syntax error, with the position taken out of its text.
pub(crate) fn parser(error: &ParserError) -> Error {
    // The parser has no other way to tell that it was stopped.
    if let Err(stopped) = freestone_frontend::interrupt::now() {
        return stopped.into();
    }
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            return Error::new("54001", "the statement is nested too deeply");
        }
    };
    let (text, position) = message::split_position(text);
    let error = match text
        .strip_prefix("Expected: ")
        .and_then(|rest| rest.rsplit_once(", found: "))
    {
        Some((expected, "EOF")) => Error::new("42601", "syntax error at end of input")
            .with_detail(format!("expected {expected}")),
        Some((expected, found)) => {
            Error::new("42601", format!("syntax error at or near \"{found}\""))
                .with_detail(format!("expected {expected}"))
        }
        None => Error::new("42601", format!("syntax error: {text}")),
    };
    error.at(position)
}

/// A panic below is a bug, but not one that should take the process with it.
pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Error::internal(format!("the statement panicked: {text}"))
}
