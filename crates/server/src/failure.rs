//! Errors as messages.

use std::io;

use freestone::{Error, Notice, Position};
use pgwire::error::PgWireError;
use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::response::{ErrorResponse, NoticeResponse};

/// Why something did not work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The client is told, and goes on.
    Told(Error),
    /// The client is told, and the connection ends.
    Fatal(Error),
    /// There is nobody to tell.
    Gone,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.sqlstate.as_str() {
            "57P01" => Self::Fatal(error),
            _ => Self::Told(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl From<PgWireError> for Failure {
    fn from(error: PgWireError) -> Self {
        let text = error.to_string();
        Self::Fatal(match error {
            PgWireError::IoError(_) => return Self::Gone,
            PgWireError::InvalidPassword(user) => Error::new(
                "28P01",
                format!("password authentication failed for user \"{user}\""),
            ),
            PgWireError::UserNameRequired => Error::new("28000", "no user name was given"),
            _ => Error::new("08P01", text),
        })
    }
}

/// Breaks the protocol: nothing that follows can be understood.
pub(crate) fn violation(message: impl Into<String>) -> Failure {
    Failure::Fatal(Error::new("08P01", message))
}

/// The message for an error in a text of `sql`.
pub(crate) fn response(error: &Error, sql: &str, fatal: bool) -> Message {
    let severity = if fatal { "FATAL" } else { "ERROR" };
    let mut fields = vec![
        (b'S', severity.to_owned()),
        (b'V', severity.to_owned()),
        (b'C', error.sqlstate.clone()),
        (b'M', error.message.clone()),
    ];
    if let Some(detail) = &error.detail {
        fields.push((b'D', detail.clone()));
    }
    if let Some(hint) = &error.hint {
        fields.push((b'H', hint.clone()));
    }
    if let Some(place) = error.position.and_then(|place| characters(sql, place)) {
        fields.push((b'P', place.to_string()));
    }
    Message::ErrorResponse(ErrorResponse::new(fields))
}

/// The message for what is said of a statement that has succeeded.
pub(crate) fn notice(notice: &Notice) -> Message {
    let severity = notice.severity.to_string();
    let mut fields = vec![
        (b'S', severity.clone()),
        (b'V', severity),
        (b'C', notice.sqlstate.to_owned()),
        (b'M', notice.message.clone()),
    ];
    fields.extend(notice.detail.clone().map(|detail| (b'D', detail)));
    Message::NoticeResponse(NoticeResponse::new(fields))
}

/// The number of a character in a text, from 1.
fn characters(sql: &str, place: Position) -> Option<u64> {
    let lines = usize::try_from(place.line.checked_sub(1)?).ok()?;
    let before: usize = sql
        .split_inclusive('\n')
        .take(lines)
        .map(|line| line.chars().count())
        .sum();
    Some(before as u64 + place.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let place = |line, column| characters("é\nbc d", Position { line, column });
        assert_eq!(place(1, 1), Some(1));
        assert_eq!(place(2, 4), Some(6));
        assert_eq!(place(0, 1), None);
    }
}
