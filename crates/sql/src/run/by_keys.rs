//! Prepared queries whose rows are found by keys.

use datafusion::sql::sqlparser::ast::{Query, Statement as Ast};

use super::Run;
use super::locking::locks;
use crate::error::Result;
use crate::front;
use crate::keyed::KeyQuery;
use crate::session::{Outcome, PreparedKeys, Session};
use crate::statement::changing_query;

/// A query with parameters as the session sees it now; `None` if nothing can be said of it, as
/// in a transaction that failed.
pub(crate) async fn bound_by_keys(session: &Session, ast: &Ast) -> Option<KeyQuery> {
    let run = Run::planning(session).ok()?;
    let bound = match ast {
        Ast::Query(query) if changing_query(ast).is_none() => {
            // The statement reports its errors when it runs.
            run.bound_by_keys(ast, query).await.ok().flatten()
        }
        _ => None,
    };
    Some(KeyQuery::new(session, &run.snapshot, bound))
}

impl Run<'_> {
    async fn bound_by_keys(&self, ast: &Ast, query: &Query) -> Result<Option<crate::keyed::Bound>> {
        if !locks(ast) {
            return front::bound_by_keys(&self.relations(ast).await?, ast);
        }
        let Some((ast, locked)) = self.with_row_ids(query)? else {
            return Ok(None);
        };
        let mut relations = self.relations(&ast).await?;
        relations.locked = locked;
        front::bound_by_keys(&relations, &ast)
    }

    /// Finds the rows of a query, or runs it in another way if there are too many.
    pub(super) async fn by_keys(&self, keys: &PreparedKeys<'_>, ast: &Ast) -> Result<Outcome> {
        let Some(rows) = keys.keyed.rows(&self.snapshot)? else {
            return Box::pin(self.planned_by_kind(&keys.ast()?)).await;
        };
        match ast {
            Ast::Query(query) if !query.locks.is_empty() => self.locked_rows(query, rows).await,
            _ => Outcome::batch(rows),
        }
    }
}
