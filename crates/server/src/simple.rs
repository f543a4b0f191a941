//! The simple query protocol: a text of statements, results as text.

use freestone::{CopyStream, Error, Outcome, Statement};
use pgwire::messages::PgWireBackendMessage as Backend;
use pgwire::messages::response::EmptyQueryResponse;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::description;
use crate::portal::{Sending, complete, noticed};

impl Connection {
    /// Runs all statements of a text, several as one transaction, and stops at the first
    /// that fails.
    ///
    /// # Errors
    /// That of the statement.
    pub(crate) async fn query(&mut self, sql: &str) -> Result<(), Failure> {
        let statements = self.session.parse(sql)?;
        if statements.is_empty() {
            let empty = Backend::EmptyQueryResponse(EmptyQueryResponse::new());
            return self.messages.put(&empty);
        }
        let several = statements.len() > 1;
        for statement in statements {
            if several {
                self.session.begin_implicit()?;
            }
            let limit = self.timeouts.of(&self.session).statement;
            self.session.begin_statement(limit);
            self.limits.begin(limit);
            match CopyStream::of(&statement)? {
                Some(copy) => self.copy(copy).await?,
                None => self.statement(&statement).await?,
            }
        }
        Ok(self.session.end_implicit().await?)
    }

    async fn statement(&mut self, statement: &Statement) -> Result<(), Failure> {
        if self.forget(statement) {
            return complete(&mut self.messages, "DEALLOCATE".to_owned());
        }
        let outcome = self.limits.wait(self.session.run(statement)).await??;
        noticed(&mut self.messages, &self.session)?;
        match outcome {
            Outcome::Done { tag, .. } => complete(&mut self.messages, tag),
            Outcome::Rows(rows) => {
                let verb = self.session.verb(statement);
                let mut sending = Sending::text(rows, self.session.styles(), verb);
                let columns = description(sending.schema(), &[]);
                self.messages.put(&Backend::RowDescription(columns))?;
                let sent = sending.some(&mut self.messages, &mut self.limits, None);
                match sent.await? {
                    true => complete(&mut self.messages, sending.tag()),
                    false => Err(Error::internal("a result without an end").into()),
                }
            }
        }
    }
}
