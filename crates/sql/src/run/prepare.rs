//! PREPARE, EXECUTE and DEALLOCATE.

use std::ops::ControlFlow;

use chrono::{DateTime, Datelike};
use freestone_frontend::syntax::walk::{visit_expressions_mut, walk_mut};
use sqlparser::ast::{
    CreateTable, DataType, Expr, FunctionArg, FunctionArgExpr, Query, SetExpr, Statement as Ast,
    TableFactor, TimezoneInfo, Value, VisitorMut,
};

use super::Run;
use crate::error::{Error, Result};
use crate::expression::Scalar;
use crate::names::fold;
use crate::outcome::Outcome;
use crate::session::{Prepared, Session, executed};
use crate::statement::Statement;

/// A statement about prepared ones, done; `None` for any other.
///
/// # Errors
/// `26000`, `42P05`; those of the statement that is executed.
pub(super) async fn run(session: &Session, whole: &Statement) -> Result<Option<Outcome>> {
    let Some(ast) = whole.sql() else {
        return Ok(None);
    };
    match ast {
        Ast::Prepare {
            name,
            data_types,
            statement,
        } => {
            if matches!(**statement, Ast::Prepare { .. } | Ast::Execute { .. }) {
                return Err(Error::new("42601", "PREPARE of PREPARE or EXECUTE"));
            }
            let run = Run::planning(session)?;
            for data_type in data_types {
                run.known_type(data_type)?;
            }
            let mut statement = (**statement).clone();
            run.read_moments(&mut statement);
            let statement = Statement::of(statement);
            let prepared = Prepared::new(statement)?.with_data_types(data_types);
            session.keep(fold(name), prepared, whole.text()).await?;
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
            let prepared = session.executing(&name)?;
            let values = values(&name, &prepared, parameters)?;
            prepared.returns_as_told(session).await?;
            let run = Box::pin(prepared.run_with(session, &values));
            Ok(Some(match run.await? {
                Outcome::Rows(rows) => Outcome::Rows(prepared.as_told(rows)?),
                done @ Outcome::Done { .. } => done,
            }))
        }
        Ast::CreateTable(create) => {
            let Some(create) = with_executed(session, create)? else {
                return Ok(None);
            };
            let ast = Ast::CreateTable(create);
            let statement = Statement::of(ast);
            Ok(Some(Box::pin(session.run(&statement)).await?))
        }
        Ast::Explain { statement, .. } => {
            if let Ast::CreateTable(create) = statement.as_ref() {
                let Some(create) = with_executed(session, create)? else {
                    return Ok(None);
                };
                let mut ast = ast.clone();
                if let Ast::Explain { statement, .. } = &mut ast {
                    **statement = Ast::CreateTable(create);
                }
                let statement = Statement::of(ast);
                return Ok(Some(Box::pin(session.run(&statement)).await?));
            }
            let Ast::Execute {
                name: Some(name),
                parameters,
                immediate: false,
                using,
                ..
            } = statement.as_ref()
            else {
                return Ok(None);
            };
            if !using.is_empty() {
                return Ok(None);
            }
            let name = executed(name).unwrap_or_default();
            let prepared = session.executing(&name)?;
            let bound = prepared.bound(&values(&name, &prepared, parameters)?)?;
            let mut ast = ast.clone();
            if let Ast::Explain { statement, .. } = &mut ast {
                **statement = bound;
            }
            let statement = Statement::of(ast);
            Ok(Some(Box::pin(session.run(&statement)).await?))
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

impl Run<'_> {
    /// Reads texts that are cast to TIMESTAMP WITH TIME ZONE: they mean a moment of the zone that
    /// the session has now, whichever it has when the statement is executed.
    fn read_moments(&self, statement: &mut Ast) {
        let _: ControlFlow<()> = visit_expressions_mut(statement, |expr| {
            if let Expr::Cast {
                expr: text,
                data_type,
                ..
            } = &*expr
                && matches!(&**text, Expr::Value(value)
                    if matches!(value.value, Value::SingleQuotedString(_)))
                && is_zoned(data_type)
                // A text that cannot be read says so when it is executed.
                && let Ok(moment) = self.constant(expr)
                && let Some((moment, _)) = Scalar::of(&moment, 0).as_timestamp()
                && let Some(moment) = DateTime::from_timestamp_micros(moment)
                && (1..=9999).contains(&moment.year())
            {
                let read = moment.format("%Y-%m-%d %H:%M:%S%.6f+00").to_string();
                let read = Value::SingleQuotedString(read).with_empty_span();
                if let Expr::Cast { expr: text, .. } = expr {
                    **text = Expr::Value(read);
                }
            }
            ControlFlow::Continue(())
        });
    }
}

/// Whether a written type is TIMESTAMP WITH TIME ZONE.
fn is_zoned(written: &DataType) -> bool {
    match written {
        DataType::Timestamp(_, zone) => {
            matches!(zone, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz)
        }
        DataType::Custom(name, _) => name.to_string().eq_ignore_ascii_case("timestamptz"),
        _ => false,
    }
}

/// The values of EXECUTE, of the types that PREPARE says: operators around a parameter bind the whole value.
///
/// # Errors
/// `42601` for too few values or too many.
fn values(name: &str, prepared: &Prepared, parameters: &[Expr]) -> Result<Vec<Expr>> {
    let (wanted, given) = (prepared.parameters(), parameters.len());
    if wanted != given {
        let message = format!("wrong number of parameters for prepared statement \"{name}\"");
        let detail = format!("Expected {wanted} parameters but got {given}.");
        return Err(Error::new("42601", message).with_detail(detail));
    }
    let values = parameters.iter().map(|value| match value {
        Expr::Value(_) => value.clone(),
        other => Expr::Nested(Box::new(other.clone())),
    });
    let values = values.enumerate();
    let values = values.map(|(number, value)| prepared.executed_with(number, value));
    Ok(values.collect())
}

/// A new table whose query is that of a prepared statement, with the query; `None` for any
/// other table.
///
/// # Errors
/// `26000` if there is no such statement, `42601` if it is no query.
fn with_executed(session: &Session, create: &CreateTable) -> Result<Option<CreateTable>> {
    struct Put<'a> {
        session: &'a Session,
        done: bool,
        error: Option<Error>,
    }
    impl VisitorMut for Put<'_> {
        type Break = ();

        fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            let SetExpr::Select(select) = query.body.as_ref() else {
                return ControlFlow::Continue(());
            };
            let [from] = select.from.as_slice() else {
                return ControlFlow::Continue(());
            };
            let TableFactor::Table {
                name,
                args: Some(args),
                ..
            } = &from.relation
            else {
                return ControlFlow::Continue(());
            };
            let Some(name) = crate::dialect::executed(name) else {
                return ControlFlow::Continue(());
            };
            let given = args.args.iter().filter_map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
                _ => None,
            });
            let given: Vec<Expr> = given.collect();
            let bound = self.session.executing(name);
            let bound =
                bound.and_then(|prepared| prepared.bound(&values(name, &prepared, &given)?));
            match bound {
                Ok(Ast::Query(kept)) => {
                    // WITH NO DATA is a limit to no rows.
                    let limit = query.limit_clause.take();
                    *query = *kept;
                    if limit.is_some() {
                        query.limit_clause = limit;
                    }
                    self.done = true;
                    ControlFlow::Continue(())
                }
                Ok(_) => {
                    let message = "prepared statement is not a SELECT";
                    self.error = Some(Error::new("42809", message));
                    ControlFlow::Break(())
                }
                Err(error) => {
                    self.error = Some(error);
                    ControlFlow::Break(())
                }
            }
        }
    }
    let Some(query) = &create.query else {
        return Ok(None);
    };
    let mut query = query.clone();
    let mut put = Put {
        session,
        done: false,
        error: None,
    };
    let _ = walk_mut(&mut query, &mut put);
    if let Some(error) = put.error {
        return Err(error);
    }
    Ok(put.done.then(|| CreateTable {
        query: Some(query),
        ..create.clone()
    }))
}
