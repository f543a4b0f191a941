//! MERGE: for each WHEN clause the rows that it is the first to claim.
//!
//! Every clause is a query of its own over the statement's snapshot, with the
//! conditions of the clauses before it negated; all of them are done before
//! anything changes.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Expr, Merge, MergeAction, MergeClause, MergeClauseKind, MergeInsertExpr,
    MergeInsertKind, ObjectName, SelectItem, TableFactor, TableWithJoins, UnaryOperator,
};
use freestone_frontend::syntax::marks;
use freestone_storage::Table;

use super::Run;
use super::assigned::{assigned_columns, given, new_values};
use super::change::{Changed, RowQuery, refuse, row_id, stored_as, targets};
use super::changes::{Applied, Changes, whole_ids};
use super::compose;
use super::identity::Overriding;
use super::insert::{column_names, columns_named};
use super::literal::is_default;
use crate::dialect::overriding_in_merge;
use crate::error::{Error, Result};
use crate::front::{default_of, parse_expr};
use crate::names::{Name, fold, table_name};
use crate::outcome::Outcome;

/// The conditions of the clauses of one kind, so far.
#[derive(Default)]
struct Claims(Vec<Expr>);

impl Claims {
    /// The condition of the next clause: its own is met, and none of those before it.
    fn next(&mut self, predicate: Option<&Expr>) -> Expr {
        let mine = match predicate {
            Some(predicate) => Expr::IsTrue(Box::new(predicate.clone())),
            None => compose::truth(),
        };
        let others = self.0.iter().map(|other| Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr: Box::new(other.clone()),
        });
        let condition = others.fold(mine.clone(), compose::both);
        self.0.push(mine);
        condition
    }
}

/// The rows that a clause is of: those that meet a row of the other side, and those of the
/// target's or the source's side that meet none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Matched,
    Target,
    Source,
}

impl Of {
    fn clause(clause: &MergeClause) -> Of {
        match clause.clause_kind {
            MergeClauseKind::Matched => Of::Matched,
            MergeClauseKind::NotMatchedBySource => Of::Target,
            MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => Of::Source,
        }
    }
}

/// # Errors
/// `42601` if a clause comes after one of the same rows that has no condition.
pub(crate) fn must_be_reachable(clauses: &[MergeClause]) -> Result<()> {
    for (at, clause) in clauses.iter().enumerate() {
        let claims = |other: &MergeClause| {
            other.predicate.is_none() && Of::clause(other) == Of::clause(clause)
        };
        if clauses[..at].iter().any(claims) {
            let message = "unreachable WHEN clause specified after unconditional WHEN clause";
            return Err(Error::new("42601", message));
        }
    }
    Ok(())
}

/// A clause of MERGE: a query for the rows that it claims, and what becomes of them.
pub(super) struct MergePart {
    pub(super) query: RowQuery,
    does: Does,
}

enum Does {
    Insert,
    /// The columns that get values.
    Update(Vec<usize>),
    Delete,
}

/// The name by which a clause calls the rows of the source.
fn name_of_source(source: &TableFactor) -> Option<String> {
    match source {
        TableFactor::Table {
            alias: Some(alias), ..
        }
        | TableFactor::Derived {
            alias: Some(alias), ..
        } => Some(fold(&alias.name)),
        TableFactor::Table { name, .. } => table_name(name).ok().map(|name| name.name),
        _ => None,
    }
}

impl Run<'_> {
    pub(super) async fn merge(&self, merge: &Merge) -> Result<Outcome> {
        let (target, table, parts) = self.parts_of_merge(merge)?;
        let mut changes = Changes::default();
        for MergePart { query, does } in parts {
            let rows = self.rows_to_change(&target, &query, merge).await?;
            if !matches!(does, Does::Insert) {
                self.must_be_unchanged(&table, &rows, "MERGE")?;
            }
            match does {
                Does::Insert => changes.inserted.extend(rows),
                Does::Update(columns) => changes.update(rows, columns),
                Does::Delete => changes.deleted.extend(rows),
            }
        }
        must_be_once(&changes)?;
        let Applied { rows, .. } = self.apply(&table, &changes)?;
        Ok(Outcome::Done {
            tag: format!("MERGE {rows}"),
            rows,
        })
    }

    /// The table that a MERGE changes, and a query for each of its clauses.
    ///
    /// # Errors
    /// Whatever is wrong with the statement, but for what is wrong inside of the queries.
    pub(super) fn parts_of_merge(
        &self,
        merge: &Merge,
    ) -> Result<(Changed, Arc<Table>, Vec<MergePart>)> {
        refuse(&[(merge.output.is_some(), "MERGE with OUTPUT")])?;
        must_be_reachable(&merge.clauses)?;
        let written = TableWithJoins {
            relation: merge.table.clone(),
            joins: Vec::new(),
        };
        let target = Changed::of(&written, "MERGE")?;
        let table = self.table_to_merge(&target.name)?.clone();
        if name_of_source(&merge.source).as_deref() == Some(target.called.as_str()) {
            let message = format!("name \"{}\" specified more than once", target.called);
            return Err(Error::new("42712", message)
                .with_detail("The name is used both as MERGE target table and data source."));
        }
        let own = || compose::alone(target.from.clone());
        let source = || compose::alone(merge.source.clone());
        let unmet = |of: TableWithJoins| {
            let one = vec![SelectItem::UnnamedExpr(compose::truth())];
            let on = Some(merge.on.as_ref().clone());
            Ok::<_, Error>(Expr::Exists {
                subquery: Box::new(compose::query(one, vec![of], on)?),
                negated: true,
            })
        };
        let (mut matched, mut unmatched, mut unsourced) =
            (Claims::default(), Claims::default(), Claims::default());
        let mut parts = Vec::with_capacity(merge.clauses.len());
        for clause in &merge.clauses {
            let predicate = clause.predicate.as_ref();
            let (from, on, claimed) = match Of::clause(clause) {
                Of::Matched => {
                    let on = merge.on.as_ref().clone();
                    (vec![own(), source()], on, matched.next(predicate))
                }
                Of::Target => (vec![own()], unmet(source())?, unsourced.next(predicate)),
                Of::Source => (vec![source()], unmet(own())?, unmatched.next(predicate)),
            };
            let condition = compose::both(on, claimed);
            let inserting = matches!(
                clause.clause_kind,
                MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget
            );
            if does_nothing(&clause.action) {
                continue;
            }
            match (&clause.action, inserting) {
                (MergeAction::Insert(insert), true) => {
                    refuse(&[(
                        insert.insert_predicate.is_some() && overriding_in_merge(insert).is_none(),
                        "INSERT … WHERE in MERGE",
                    )])?;
                    let row = self.merge_insert(&table, &target, insert)?;
                    let into = stored_as(&self.snapshot, &table.schema.columns).collect();
                    let query = RowQuery {
                        query: compose::query(row, from, Some(condition))?,
                        has_ids: false,
                        into,
                    };
                    let does = Does::Insert;
                    parts.push(MergePart { query, does });
                }
                (MergeAction::Update(update), false) => {
                    refuse(&[
                        (update.update_predicate.is_some(), "UPDATE … WHERE in MERGE"),
                        (update.delete_predicate.is_some(), "DELETE WHERE in MERGE"),
                    ])?;
                    let assigned = assigned_columns(
                        &self.snapshot,
                        &table,
                        (&target.name, &target.called, None),
                        &update.assignments,
                    )?;
                    let mut list = vec![row_id(&target)];
                    list.extend(new_values(&table, &target, &assigned));
                    let query = RowQuery {
                        query: compose::query(list, from, Some(condition))?,
                        has_ids: true,
                        into: targets(&self.snapshot, &table.schema.columns),
                    };
                    let does = Does::Update(given(&assigned));
                    parts.push(MergePart { query, does });
                }
                (MergeAction::Delete { .. }, false) => {
                    let list = vec![row_id(&target)];
                    let query = RowQuery {
                        query: compose::query(list, from, Some(condition))?,
                        has_ids: true,
                        into: Vec::new(),
                    };
                    let does = Does::Delete;
                    parts.push(MergePart { query, does });
                }
                (action, _) => {
                    let message = format!("{action} cannot follow WHEN {}", clause.clause_kind);
                    return Err(Error::new("42601", message));
                }
            }
        }
        Ok((target, table, parts))
    }

    /// The table of a MERGE.
    ///
    /// # Errors
    /// `0A000` for a view; those of names.
    pub(crate) fn table_to_merge(&self, name: &Name) -> Result<&Arc<Table>> {
        if self.snapshot.view(&name.schema, &name.name).is_some() {
            let message = format!("cannot execute MERGE on relation \"{}\"", name.name);
            let error = Error::unsupported(message);
            return Err(error.with_detail("This operation is not supported for views."));
        }
        self.stored_table(name)
    }

    /// The columns of the rows that a clause inserts.
    fn merge_insert(
        &self,
        table: &Table,
        target: &Changed,
        insert: &MergeInsertExpr,
    ) -> Result<Vec<SelectItem>> {
        let MergeInsertKind::Values(values) = &insert.kind else {
            return Err(Error::unsupported("INSERT ROW is not supported"));
        };
        let [row] = values.rows.as_slice() else {
            return Err(Error::new("42601", "MERGE inserts one row of VALUES"));
        };
        let defaults = insert
            .columns
            .iter()
            .any(|name| is_form(name, marks::DEFAULTS));
        let row: &[Expr] = if defaults { &[] } else { &row.content };
        let places = match insert.columns.is_empty() || defaults {
            true => (0..table.schema.declared().len()).collect(),
            false => {
                let names = column_names(&insert.columns)?;
                columns_named(&table.schema, &target.name, &names)?
            }
        };
        let listed = !insert.columns.is_empty() && !defaults;
        if row.len() > places.len() || (row.len() < places.len() && listed) {
            return Err(Error::new(
                "42601",
                format!(
                    "MERGE inserts {} values into {} columns",
                    row.len(),
                    places.len()
                ),
            ));
        }
        let overriding = Overriding::in_merge(insert);
        let columns = table.schema.columns.iter().enumerate();
        let values = columns.map(|(index, column)| {
            let place = places.iter().position(|place| *place == index);
            let given = place.and_then(|place| row.get(place));
            let given = match given.filter(|value| !is_default(value)) {
                Some(given) => overriding.takes(column)?.then(|| given.clone()),
                None => None,
            };
            let value = match (given, default_of(&self.snapshot, column)) {
                (Some(given), _) => given,
                (None, Some(default)) => parse_expr(default)?,
                (None, None) => compose::null(),
            };
            Ok(compose::named(value, &column.name))
        });
        values.collect()
    }
}

/// Whether a name stands for a form.
fn is_form(name: &ObjectName, mark: &str) -> bool {
    let ident = name.0.first().and_then(|part| part.as_ident());
    ident.is_some_and(|ident| ident.quote_style == Some(marks::QUOTE) && ident.value == mark)
}

/// Whether an action is DO NOTHING: its rows are claimed, and stay as they are.
fn does_nothing(action: &MergeAction) -> bool {
    match action {
        MergeAction::Insert(insert) => {
            let mut columns = insert.columns.iter();
            columns.any(|name| is_form(name, marks::NOTHING))
        }
        MergeAction::Update(update) => update.assignments.iter().any(|one| {
            matches!(&one.target, AssignmentTarget::ColumnName(name)
                if is_form(name, marks::NOTHING))
        }),
        MergeAction::Delete { .. } => false,
    }
}

/// A row may be changed once.
fn must_be_once(changes: &Changes) -> Result<()> {
    let mut seen = HashSet::new();
    for batch in changes.deleted.iter().chain(&changes.updated) {
        if whole_ids(batch.column(0))?
            .into_iter()
            .any(|id| !seen.insert(id))
        {
            return Err(
                Error::new("21000", "MERGE command cannot affect row a second time")
                    .with_hint("more than one source row matched a row of the table"),
            );
        }
    }
    Ok(())
}
