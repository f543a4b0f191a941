//! DECLARE, FETCH, MOVE and CLOSE: results that are read piece by piece.

use chrono::Utc;
use sqlparser::ast::{
    CloseCursor, Declare, DeclareType, FetchDirection, Ident, ObjectName, Statement as Ast,
};

use super::Run;
use crate::error::{Error, Result};
use crate::grammar::gives_rows;
use crate::names::fold;
use crate::outcome::Outcome;
use crate::session::{Declared, Move};

impl Run<'_> {
    pub(super) async fn declare_cursor(&self, statements: &[Declare]) -> Result<Outcome> {
        let [
            Declare {
                names,
                data_type: _,
                assignment: _,
                declare_type: Some(DeclareType::Cursor),
                binary,
                sensitive: _,
                scroll,
                hold,
                for_query: Some(query),
            },
        ] = statements
        else {
            return Err(Error::unsupported("only cursors are declared"));
        };
        let [name] = names.as_slice() else {
            return Err(Error::new("42601", "a cursor has one name"));
        };
        let declared = Declared {
            text: String::new(),
            holds: *hold == Some(true),
            binary: *binary == Some(true),
            scrolls: *scroll,
            time: Utc::now().timestamp_micros(),
        };
        if !declared.holds && !self.session.in_transaction() {
            return Err(Error::new(
                "25P01",
                "DECLARE CURSOR can only be used in transaction blocks",
            )
            .with_hint("BEGIN a transaction, or declare it WITH HOLD"));
        }
        let ast = Ast::Query(query.clone());
        let Outcome::Rows(rows) = Box::pin(self.query(&ast)).await? else {
            return Err(Error::internal("a query without rows"));
        };
        let cursor = self.session.new_cursor(rows, declared).await?;
        self.session.cursors().open(fold(name), cursor)?;
        if !self.session.in_transaction() {
            self.session.cursors().end_transaction(true);
        }
        Ok(Outcome::done("DECLARE CURSOR"))
    }

    pub(super) async fn fetch(
        &self,
        name: &Ident,
        direction: &FetchDirection,
        into: Option<&ObjectName>,
    ) -> Result<Outcome> {
        let outcome = self.session.fetch(&fold(name), wanted(direction)?).await?;
        match outcome {
            Outcome::Rows(rows) if !gives_rows(into) => {
                use futures::TryStreamExt;
                let batches: Vec<_> = rows.stream.try_collect().await?;
                let count: usize = batches.iter().map(|batch| batch.num_rows()).sum();
                Ok(Outcome::done(format!("MOVE {count}")))
            }
            other => Ok(other),
        }
    }

    pub(super) fn close_cursor(&self, cursor: &CloseCursor) -> Result<Outcome> {
        match cursor {
            CloseCursor::All => {
                self.session.cursors().close(None)?;
                Ok(Outcome::done("CLOSE CURSOR ALL"))
            }
            CloseCursor::Specific { name } => {
                self.session.cursors().close(Some(&fold(name)))?;
                Ok(Outcome::done("CLOSE CURSOR"))
            }
        }
    }
}

fn wanted(direction: &FetchDirection) -> Result<Move> {
    let count = |limit: &sqlparser::ast::ValueWithSpan| {
        limit.value.to_string().parse::<i64>().map_err(|_| {
            let message = format!("\"{limit}\" is no number of rows");
            Error::new("22003", message)
        })
    };
    let or_one = |limit: &Option<_>| limit.as_ref().map_or(Ok(1), count);
    Ok(match direction {
        FetchDirection::Count { limit } => Move::By(count(limit)?),
        FetchDirection::Next => Move::By(1),
        FetchDirection::Prior => Move::By(-1),
        FetchDirection::First => Move::To(1),
        FetchDirection::Last => Move::To(-1),
        FetchDirection::Absolute { limit } => Move::To(count(limit)?),
        FetchDirection::Relative { limit } => Move::Relative(count(limit)?),
        FetchDirection::All | FetchDirection::ForwardAll => Move::By(i64::MAX),
        FetchDirection::Forward { limit } => Move::By(or_one(limit)?),
        FetchDirection::Backward { limit } => Move::By(or_one(limit)?.saturating_neg()),
        FetchDirection::BackwardAll => Move::By(i64::MIN),
    })
}
