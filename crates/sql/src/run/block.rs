//! DO: the steps of a block, each a statement of its own within one transaction.

use std::future::Future;
use std::pin::Pin;

use arrow::array::{Array, AsArray};
use futures::TryStreamExt;
use sqlparser::ast::Statement as Ast;

use super::transaction::{ATTEMPTS, pause};
use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::routine::block::{Block, Level, Step, parse};
use crate::session::{Notice, Session};

/// Errors that OTHERS leaves alone: the statement is to end.
const FINAL: &str = "57014";

type Running<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// Carries out a block in a language, by default PL/pgSQL.
///
/// # Errors
/// Those of reading the block, and those of its steps. A block that fails changes nothing.
pub(super) async fn run(session: &Session, language: Option<&str>, body: &str) -> Result<Outcome> {
    session.transaction().running()?;
    let read = match language {
        None | Some("plpgsql") => parse(body),
        Some(other) => Err(Error::unsupported(format!(
            "language \"{other}\" does not support inline code execution"
        ))),
    };
    let alone = !session.in_transaction();
    let block = match read {
        Ok(block) => block,
        Err(error) => {
            session.fail();
            return Err(error);
        }
    };
    if !alone {
        let done = steps(session, &block, 0).await;
        if done.is_err() {
            session.fail();
        }
        done?;
        return Ok(Outcome::done("DO"));
    }
    for attempt in 1.. {
        match transaction(session, &block).await {
            Err(error) if error.sqlstate == "40001" && attempt < ATTEMPTS => pause(attempt).await,
            done => {
                done?;
                break;
            }
        }
    }
    Ok(Outcome::done("DO"))
}

/// Runs a block as a transaction of its own.
async fn transaction(session: &Session, block: &Block) -> Result<()> {
    session.begin_implicit()?;
    let done = steps(session, block, 0).await;
    if done.is_err() {
        session.fail();
    }
    session.end_implicit().await?;
    done
}

/// A block: what it has done is taken back before its errors are handled.
fn steps<'a>(session: &'a Session, block: &'a Block, depth: usize) -> Running<'a> {
    Box::pin(async move {
        if block.handlers.is_empty() {
            return all(session, &block.body, depth).await;
        }
        // Nobody else can have written this name.
        let name = format!("\u{1}block {depth}");
        let kept = session.marks();
        session.transaction().save_within(name.clone(), kept)?;
        let Err(error) = all(session, &block.body, depth + 1).await else {
            session.transaction().release(&name)?;
            return Ok(());
        };
        let meets = |state: &Option<String>| match state {
            Some(state) => *state == error.sqlstate,
            None => error.sqlstate != FINAL,
        };
        let mut handlers = block.handlers.iter();
        let Some(handler) = handlers.find(|handler| handler.states.iter().any(meets)) else {
            return Err(error);
        };
        let kept = session.transaction().roll_back_to(&name)?;
        session.back_to(kept);
        session.transaction().release(&name)?;
        all(session, &handler.body, depth + 1).await
    })
}

fn all<'a>(session: &'a Session, steps: &'a [Step], depth: usize) -> Running<'a> {
    Box::pin(async move {
        for step in steps {
            session.goes_on()?;
            one(session, step, depth).await?;
        }
        Ok(())
    })
}

async fn one(session: &Session, step: &Step, depth: usize) -> Result<()> {
    match step {
        Step::Nothing => Ok(()),
        Step::Block(block) => steps(session, block, depth + 1).await,
        Step::If(branches, others) => {
            for (condition, then) in branches {
                if holds(session, condition).await? {
                    return all(session, then, depth).await;
                }
            }
            all(session, others, depth).await
        }
        Step::Perform(query) => {
            statement(session, query, true).await?;
            Ok(())
        }
        Step::Execute(text) => match value(session, text).await? {
            Some(text) => statement(session, &text, true).await,
            None => {
                let message = "query string argument of EXECUTE is null";
                Err(Error::new("22004", message))
            }
        },
        Step::Raise {
            level,
            format,
            values,
        } => {
            let mut texts = Vec::with_capacity(values.len());
            for text in values {
                texts.push(value(session, text).await?);
            }
            raise(session, *level, &filled(format, &texts))
        }
        Step::Statement(text) => statement(session, text, false).await,
    }
}

/// Runs a statement, and drops its rows if it may have some.
async fn statement(session: &Session, text: &str, rows_are_dropped: bool) -> Result<()> {
    for statement in session.parse(text).map_err(Error::placeless)? {
        if matches!(
            statement.sql(),
            Some(
                Ast::StartTransaction { .. }
                    | Ast::Commit { .. }
                    | Ast::Rollback { .. }
                    | Ast::Savepoint { .. }
                    | Ast::ReleaseSavepoint { .. }
            )
        ) {
            let message = "transactions do not begin or end in a block";
            return Err(Error::unsupported(message));
        }
        let outcome = Box::pin(session.run(&statement)).await;
        match outcome.map_err(Error::placeless)? {
            Outcome::Done { .. } => {}
            Outcome::Rows(rows) if rows_are_dropped => {
                let mut stream = rows.stream;
                while stream.try_next().await?.is_some() {}
            }
            Outcome::Rows(_) => {
                let message = "query has no destination for result data";
                return Err(Error::new("42601", message).with_hint(
                    "If you want to discard the results of a SELECT, use PERFORM instead.",
                ));
            }
        }
    }
    Ok(())
}

/// Whether a condition is true.
async fn holds(session: &Session, condition: &str) -> Result<bool> {
    let query = format!("SELECT ({condition})::boolean");
    let found = session.query(&query).await.map_err(Error::placeless)?;
    let first = found.iter().find(|batch| batch.num_rows() > 0);
    let truths = first.and_then(|batch| batch.column(0).as_boolean_opt());
    Ok(truths.is_some_and(|truths| truths.is_valid(0) && truths.value(0)))
}

/// The value of an expression as text.
async fn value(session: &Session, text: &str) -> Result<Option<String>> {
    let query = format!("SELECT ({text})::text");
    let found = session.query(&query).await.map_err(Error::placeless)?;
    let Some(batch) = found.iter().find(|batch| batch.num_rows() > 0) else {
        return Ok(None);
    };
    let texts = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    Ok(texts.is_valid(0).then(|| texts.value(0).to_owned()))
}

/// A format of RAISE with its values.
fn filled(format: &str, values: &[Option<String>]) -> String {
    let mut values = values.iter();
    let mut text = String::with_capacity(format.len());
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '%' if chars.peek() == Some(&'%') => {
                chars.next();
                text.push('%');
            }
            '%' => match values.next() {
                Some(Some(value)) => text.push_str(value),
                Some(None) | None => text.push_str("<NULL>"),
            },
            c => text.push(c),
        }
    }
    text
}

fn raise(session: &Session, level: Level, text: &str) -> Result<()> {
    match level {
        Level::Nobody => {}
        Level::Notice => session.notify(Notice::told("00000", text)),
        Level::Warning => session.notify(Notice::warning("01000", text)),
        Level::Exception => return Err(Error::new("P0001", text)),
    }
    Ok(())
}
