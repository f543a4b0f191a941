//! PREPARE, EXECUTE and DEALLOCATE.

use datafusion::sql::sqlparser::ast::{Expr, Statement as Ast};

use crate::error::{Error, Result};
use crate::plan::names::fold;
use crate::session::{Outcome, Prepared, Session, executed};
use crate::statement::Statement;

/// A statement about prepared ones, done; `None` for any other.
///
/// # Errors
/// `26000`, `42P05`; those of the statement that is executed.
pub(super) async fn run(session: &Session, ast: &Ast) -> Result<Option<Outcome>> {
    match ast {
        Ast::Prepare {
            name, statement, ..
        } => {
            if matches!(**statement, Ast::Prepare { .. } | Ast::Execute { .. }) {
                return Err(Error::new("42601", "PREPARE of PREPARE or EXECUTE"));
            }
            let statement = Statement::of((**statement).clone());
            session.keep(fold(name), Prepared::new(statement)?)?;
            Ok(Some(Outcome::done("PREPARE")))
        }
        Ast::Execute {
            name: Some(name),
            parameters,
            immediate: false,
            using,
            ..
        } if using.is_empty() => {
            let name = executed(name).unwrap_or_default();
            let prepared = session.kept(&name)?;
            // Operators around a parameter bind the whole value.
            let values = parameters.iter().map(|value| match value {
                Expr::Value(_) => value.clone(),
                other => Expr::Nested(Box::new(other.clone())),
            });
            let values: Vec<Expr> = values.collect();
            let run = Box::pin(prepared.run_with(session, &values));
            Ok(Some(run.await?))
        }
        Ast::Deallocate { name, .. } => {
            let name = fold(name);
            let all = name == "all";
            session.forget((!all).then_some(name.as_str()))?;
            let tag = if all { "DEALLOCATE ALL" } else { "DEALLOCATE" };
            Ok(Some(Outcome::done(tag)))
        }
        _ => Ok(None),
    }
}
