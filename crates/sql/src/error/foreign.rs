//! Errors of the parser, DataFusion, Arrow, Parquet and storage, translated.

use std::error::Error as StdError;

use datafusion::arrow::error::ArrowError;
use datafusion::common::{Column, Diagnostic, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use parquet::errors::ParquetError;

use super::{Error, Position, did_you_mean, message};

impl From<freestone_storage::Error> for Error {
    fn from(error: freestone_storage::Error) -> Self {
        from_storage(&error)
    }
}

impl Error {
    /// The same for an error that is still needed elsewhere.
    pub(crate) fn from_shared(error: &freestone_storage::Error) -> Self {
        from_storage(error)
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

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        from_datafusion(&error)
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

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        DataFusionError::External(Box::new(error))
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

fn from_datafusion(error: &DataFusionError) -> Error {
    match error {
        DataFusionError::Context(_, inner) => from_datafusion(inner),
        DataFusionError::Shared(inner) => from_datafusion(inner),
        DataFusionError::Collection(all) => all.first().map_or_else(
            || Error::internal("an unknown error was reported"),
            from_datafusion,
        ),
        DataFusionError::Diagnostic(diagnostic, inner) => {
            from_datafusion(inner).at(position_of(diagnostic))
        }
        DataFusionError::External(inner) => from_any(inner.as_ref()),
        DataFusionError::ArrowError(inner, _) => from_arrow(inner),
        DataFusionError::ParquetError(inner) => from_parquet(inner),
        DataFusionError::SQL(inner, _) => parser(inner),
        DataFusionError::SchemaError(inner, _) => from_schema(inner),
        DataFusionError::Plan(text) | DataFusionError::Configuration(text) => message::plan(text),
        DataFusionError::NotImplemented(text) => message::unsupported(text),
        DataFusionError::Execution(text) => message::execution(text),
        DataFusionError::ResourcesExhausted(text) => Error::new("53200", text.clone()),
        DataFusionError::IoError(inner) => Error::new("58030", inner.to_string()),
        DataFusionError::ObjectStore(inner) => from_any(inner.as_ref()),
        DataFusionError::ExecutionJoin(inner) if inner.is_cancelled() => {
            Error::new("57014", "canceling statement due to user request")
        }
        DataFusionError::Internal(text) => Error::internal(text.clone()),
        other => Error::internal(other.to_string()),
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
        if let Some(inner) = current.downcast_ref::<DataFusionError>() {
            return from_datafusion(inner);
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
        ArrowError::NotYetImplemented(text) => message::unsupported(text),
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

fn from_schema(error: &SchemaError) -> Error {
    let quoted = |column: &Column| match &column.relation {
        Some(relation) => format!("{relation}.{}", column.name),
        None => format!("\"{}\"", column.name),
    };
    match error {
        SchemaError::FieldNotFound {
            field,
            valid_fields,
        } => {
            let missing_table = field.relation.as_ref().filter(|relation| {
                !valid_fields
                    .iter()
                    .any(|valid| valid.relation.as_ref() == Some(*relation))
            });
            if let Some(relation) = missing_table {
                return Error::new(
                    "42P01",
                    format!("missing FROM-clause entry for table \"{relation}\""),
                );
            }
            let names = valid_fields.iter().map(|column| column.name.as_str());
            Error::new("42703", format!("column {} does not exist", quoted(field)))
                .with_hint_opt(did_you_mean("column", &field.name, names))
        }
        SchemaError::AmbiguousReference { field } => Error::new(
            "42702",
            format!("column reference {} is ambiguous", quoted(field)),
        ),
        SchemaError::DuplicateQualifiedField { qualifier, .. } => Error::new(
            "42712",
            format!("table name \"{qualifier}\" specified more than once"),
        ),
        SchemaError::DuplicateUnqualifiedField { name } => Error::new(
            "42701",
            format!("column \"{name}\" specified more than once"),
        ),
    }
}

fn position_of(diagnostic: &Diagnostic) -> Option<Position> {
    let start = diagnostic.span?.start;
    (start.line > 0).then_some(Position {
        line: start.line,
        column: start.column,
    })
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
