//! Prepared statements whose rows are found by keys.

use std::ops::ControlFlow;

use arrow::array::RecordBatch;
use freestone_frontend::syntax::walk::visit_expressions;
use freestone_storage::{RowId, Transaction};
use sqlparser::ast::{Expr, Query, SelectItem, Statement as Ast};

use super::Run;
use super::assigned::given;
use super::cascade::following;
use super::change::{RowQuery, Understood};
use super::changes::{Changes, Touched, first_of_each};
use super::locking::locks;
use super::returning::asks;
use crate::error::{Error, Result};
use crate::front;
use crate::ingest::Checks;
use crate::keyed::{Bound, KeyChange, KeyQuery};
use crate::outcome::Outcome;
use crate::parameter;
use crate::relations::may_change;
use crate::relations::updatable::Command;
use crate::session::{KnownKeys, Session};
use crate::statement::changing_query;

/// A statement with parameters as the session sees it now; `None` if nothing can be said of it,
/// as in a transaction that failed.
pub(crate) async fn bound_by_keys(session: &Session, ast: &Ast) -> Option<KeyQuery> {
    let run = Run::planning(session).ok()?;
    // The statement reports its errors when it runs.
    let bound = match ast {
        ast if locks(ast) && !matches!(ast, Ast::Query(_)) => None,
        Ast::Query(query) if changing_query(ast).is_none() => {
            run.bound_by_keys(ast, query).await.ok().flatten()
        }
        Ast::Update(update) => run.bound_as(run.understood_update(update)).await,
        Ast::Delete(delete) => run.bound_as(run.understood_delete(delete)).await,
        _ => None,
    };
    Some(KeyQuery::new(session.bound_with(), &run.snapshot, bound))
}

/// Changes the rows with some keys in a transaction, each as it is; `None` if keys alone do not
/// decide which rows they are, or more has to be looked at: then nothing has changed.
///
/// # Errors
/// Errors of the statement, such as a key that is there already.
pub(super) fn changed_rows(
    transaction: &mut Transaction,
    keys: &KnownKeys<'_>,
    ast: &Ast,
) -> Result<Option<Outcome>> {
    let Some(change) = keys.keyed.change() else {
        return Ok(None);
    };
    let catalog = transaction.catalog();
    let table = catalog.table(&change.name.schema, &change.name.name);
    let Some(table) = table.cloned() else {
        return Ok(None);
    };
    let (verb, returning) = match ast {
        Ast::Update(update) => ("UPDATE", &update.returning),
        Ast::Delete(delete) => ("DELETE", &delete.returning),
        _ => return Ok(None),
    };
    let is_plain = returning.is_none()
        && !change.is_joined
        && table.schema.partition.is_none()
        && may_change(&change.name, &table).is_ok()
        && !Checks::are_needed(&table.schema)
        && following(catalog, &table).is_empty();
    if !is_plain {
        return Ok(None);
    }
    // The rows that are seen are let go before the first is changed.
    let Some(versions) = keys.keyed.versions(&transaction.snapshot(), &table)? else {
        return Ok(None);
    };
    let rows = versions.len() as u64;
    let first = match ast {
        Ast::Update(_) => {
            table.activity().updated(rows, &change.columns);
            transaction.update(table.id, versions, &change.columns)?
        }
        _ => {
            table.activity().deleted(rows);
            let ids: Vec<RowId> = versions.into_iter().map(|(id, _)| id).collect();
            transaction.delete(table.id, &ids)?;
            Some(u64::MAX)
        }
    };
    if let Some(first) = first {
        transaction.check_keys(table.id, first)?;
    }
    let tag = format!("{verb} {rows}");
    Ok(Some(Outcome::Done { tag, rows }))
}

/// Whether a list needs nothing but the row that is changed.
fn is_of_row(list: Option<&[SelectItem]>) -> bool {
    let Some(list) = list else {
        return true;
    };
    let has_parameter = |item: &SelectItem| {
        let found = visit_expressions(item, |part: &Expr| match parameter::number_of(part) {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        });
        found.is_break()
    };
    !asks(Some(list)) && !list.iter().any(has_parameter)
}

impl Run<'_> {
    async fn bound_by_keys(&self, ast: &Ast, query: &Query) -> Result<Option<Bound>> {
        if !locks(ast) {
            return front::bound_by_keys(&self.relations(ast).await?, ast, None);
        }
        let Some((ast, locked)) = self.with_row_ids(query)? else {
            return Ok(None);
        };
        let mut relations = self.relations(&ast).await?;
        relations.locked = locked;
        front::bound_by_keys(&relations, &ast, None)
    }

    async fn bound_as(&self, understood: Result<Understood<'_>>) -> Option<Bound> {
        self.bound_change(understood.ok()?).await.ok().flatten()
    }

    async fn bound_change(&self, understood: Understood<'_>) -> Result<Option<Bound>> {
        let Understood {
            changed,
            table,
            others,
            returning,
            ..
        } = &understood;
        let is_plain = is_of_row(*returning) && (others.is_empty() || returning.is_none());
        if !is_plain || changed.through.is_some() || table.schema.partitioned.is_some() {
            return Ok(None);
        }
        let RowQuery { query, into, .. } = understood.query(&self.snapshot, &[])?;
        let ast = Ast::Query(Box::new(query));
        let mut relations = self.relations(&ast).await?;
        relations.list_of = Some("UPDATE");
        relations.row_ids = Some((changed.name.schema.clone(), changed.name.name.clone()));
        let change = KeyChange {
            name: changed.name.clone(),
            called: changed.called.clone(),
            columns: given(&understood.assigned),
            is_joined: !others.is_empty(),
        };
        front::bound_by_keys(&relations, &ast, Some((change, &into)))
    }

    /// Changes rows that were found.
    async fn change_found(
        &self,
        change: &KeyChange,
        command: Command,
        rows: RecordBatch,
        returning: Option<&[SelectItem]>,
    ) -> Result<Outcome> {
        let table = self.stored_table(&change.name)?;
        let rows = match change.is_joined {
            true => first_of_each(vec![rows])?,
            false => vec![rows],
        };
        let changes = Changes::of(command, rows, change.columns.clone());
        let of = (table.as_ref(), change.called.as_str(), None);
        self.carried_out(of, (command, &changes), returning, (&[], &[]))
            .await
    }

    /// Finds the rows of a statement and does with them as it says, or runs it in another way if
    /// there are too many.
    pub(super) async fn by_keys(&self, keys: &KnownKeys<'_>, ast: &Ast) -> Result<Outcome> {
        if keys.keyed.change().is_some()
            && let Some(outcome) =
                self.change(|transaction| changed_rows(transaction, keys, ast))?
        {
            self.settle(Touched::default())?;
            return Ok(outcome);
        }
        let Some(rows) = keys.keyed.rows(&self.snapshot)? else {
            return Box::pin(self.planned_by_kind(&keys.ast()?)).await;
        };
        match (ast, keys.keyed.change()) {
            (Ast::Query(query), _) if !query.locks.is_empty() => self.locked_rows(query, &rows),
            (Ast::Query(_), _) => Ok(Outcome::batch(rows)),
            (Ast::Update(update), Some(change)) => {
                let list = update.returning.as_deref();
                self.change_found(change, Command::Update, rows, list).await
            }
            (Ast::Delete(delete), Some(change)) => {
                let list = delete.returning.as_deref();
                self.change_found(change, Command::Delete, rows, list).await
            }
            _ => Err(Error::internal("rows by keys of another statement")),
        }
    }
}
