//! Flight SQL over gRPC: results go and tables come as Arrow.
//!
//! Calls stand alone: each has a session of its own, unless it names a transaction, whose
//! session it then uses. Who calls says so with a password, for which it gets a token, or
//! with the token; whoever needs no password over PostgreSQL's protocol needs none here.
//!
//! ```text
//! listener ─ service ┬ calls     statements and transactions
//!                    ├ clients   who calls: passwords, tokens
//!                    ├ work      sessions: of one call, of a transaction
//!                    ├ prepared  statements that are prepared, and their values
//!                    ├ results   rows on their way out
//!                    ├ ingest    rows on their way in
//!                    └ metadata  what there is: schemas, tables, keys
//! ```

mod calls;
mod clients;
mod ingest;
mod listener;
mod metadata;
mod prepared;
mod results;
mod service;
mod values;
mod work;

pub(crate) use listener::{Flight, serve};

use freestone::Error;
use tonic::{Code, Status};

/// An error for a client: its code by its SQLSTATE, which the message begins with.
fn status(error: &Error) -> Status {
    let code = match error.sqlstate.as_str() {
        "28000" | "28P01" => Code::Unauthenticated,
        "42501" => Code::PermissionDenied,
        "42P01" | "3F000" | "42703" | "26000" => Code::NotFound,
        "42P07" | "23505" => Code::AlreadyExists,
        "57014" => Code::Cancelled,
        "57P01" => Code::Unavailable,
        "0A000" => Code::Unimplemented,
        "XX000" | "XX001" => Code::Internal,
        state => match state.get(..2) {
            Some("40") => Code::Aborted,
            Some("53") => Code::ResourceExhausted,
            _ => Code::InvalidArgument,
        },
    };
    let mut text = format!("{}: {}", error.sqlstate, error.message);
    for more in [&error.detail, &error.hint].into_iter().flatten() {
        text.push_str("; ");
        text.push_str(more);
    }
    Status::new(code, text)
}

/// As [`status`], for `map_err`.
#[expect(clippy::needless_pass_by_value, reason = "map_err gives it away")]
fn refused(error: Error) -> Status {
    status(&error)
}

/// A random name for something that is kept for a client: nobody can guess it.
fn handle() -> String {
    let bytes = crate::users::random(16);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
