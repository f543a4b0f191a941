//! Changes of single rows that need no plan: INSERT of one row of literals and
//! parameters, UPDATE and DELETE of the row with a key (Q5).
//!
//! As with queries by key, only what is understood whole is taken here. Whatever
//! may fail because of a value is left to the general way, which says why.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Delete, Expr, FromTable, Insert, SetExpr, Statement as Ast, TableObject,
    Update,
};
use freestone_storage::{
    Catalog, KeyLookUp, Privileges, Row, RowId, Snapshot, Table, TableSchema, Transaction,
};

use super::change::Changed;
use super::clauses::refuse_clauses;
use super::formula::Source;
use super::insert::{is_simple, target_columns};
use super::key::{KeyCondition, KeyValues};
use super::literal::{is_default, plain_values};
use super::materialized::may_change;
use crate::error::Result;
use crate::names::{Name, fold_part, table_name};
use crate::parameter::Parameter;
use crate::plan::expression::{Expressions, parse_expr};
use crate::session::{Outcome, Session};

/// A change of one row.
#[derive(Debug)]
pub(crate) struct PointChange {
    name: Name,
    schema: Arc<TableSchema>,
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// A value for each column.
    Insert(Vec<Source>),
    /// Some columns of the row with a key.
    Update(Sought, Vec<usize>, Vec<Source>),
    Delete(Sought),
}

/// The rows with a key.
#[derive(Debug)]
struct Sought {
    condition: KeyCondition,
    look_up: KeyLookUp,
}

impl PointChange {
    /// Reads a statement that is run with these parameters; `None` for one of
    /// another form, or one that is wrong: run in the general way it fails as a
    /// statement does, and the transaction around it with it.
    pub(crate) fn of(
        session: &Session,
        ast: &Ast,
        parameters: &[Parameter],
    ) -> Option<PointChange> {
        let open = session.transaction().snapshot().ok()?;
        let snapshot = open.unwrap_or_else(|| session.database().store().snapshot());
        match ast {
            Ast::Insert(insert) => insertion(&snapshot, insert),
            Ast::Update(update) => updating(session, &snapshot, update, parameters),
            Ast::Delete(delete) => deletion(&snapshot, delete),
            _ => None,
        }
    }

    /// Whether the session may make the change; if not, the general way says why.
    pub(crate) fn is_allowed(&self, session: &Session, catalog: &Catalog) -> bool {
        if !session.identity().is_limited() {
            return true;
        }
        let asked = match self.work {
            Work::Insert(_) => Privileges::INSERT,
            Work::Update(..) => Privileges::UPDATE | Privileges::SELECT,
            Work::Delete(_) => Privileges::DELETE | Privileges::SELECT,
        };
        let rights = session.identity().rights(catalog);
        let table = catalog.table(&self.name.schema, &self.name.name);
        table.is_some_and(|table| rights.within(&self.name.schema, &table.id.into(), asked))
    }

    /// Makes the change; returns the number of rows. `None` if the table is
    /// another by now, or a value may not fit: then nothing has changed.
    ///
    /// # Errors
    /// `40001` if another transaction changed the row; those of constraints.
    pub(crate) fn apply(
        &self,
        transaction: &mut Transaction,
        parameters: &[Parameter],
    ) -> Result<Option<u64>> {
        let table = transaction
            .catalog()
            .table(&self.name.schema, &self.name.name);
        let known = table.filter(|table| Arc::ptr_eq(&table.schema, &self.schema));
        let Some(table) = known.cloned() else {
            return Ok(None);
        };
        match &self.work {
            Work::Insert(values) => {
                let mut row = Row::with_capacity(values.len());
                for (source, column) in values.iter().zip(&self.schema.columns) {
                    let Some(value) = source.plain(column, parameters) else {
                        return Ok(None);
                    };
                    row.push(value);
                }
                let first = transaction.insert_rows(table.id, &[row])?;
                transaction.check_keys(table.id, first)?;
                table.activity().inserted(1);
                Ok(Some(1))
            }
            Work::Update(sought, columns, sources) => {
                let keyed = self.schema.are_keyed(columns);
                if keyed && is_referenced(transaction, &table) {
                    return Ok(None);
                }
                let Some(mut rows) = sought.find(transaction, &table, parameters)? else {
                    return Ok(None);
                };
                if let Some((_, row)) = rows.first_mut() {
                    let mut values = Vec::with_capacity(columns.len());
                    for (column, source) in columns.iter().zip(sources) {
                        let value = source.value(&self.schema, *column, row, parameters)?;
                        let Some(value) = value else { return Ok(None) };
                        values.push(value);
                    }
                    // All see the row as it was.
                    for (column, value) in columns.iter().zip(values) {
                        row[*column] = value;
                    }
                }
                let count = rows.len() as u64;
                table.activity().updated(count, columns);
                if let Some(first) = transaction.update(table.id, rows, columns)? {
                    transaction.check_keys(table.id, first)?;
                }
                Ok(Some(count))
            }
            Work::Delete(sought) => {
                if is_referenced(transaction, &table) {
                    return Ok(None);
                }
                let Some(rows) = sought.find(transaction, &table, parameters)? else {
                    return Ok(None);
                };
                let ids: Vec<RowId> = rows.into_iter().map(|(id, _)| id).collect();
                table.activity().deleted(ids.len() as u64);
                Ok(Some(transaction.delete(table.id, &ids)?))
            }
        }
    }

    /// What the statement answers.
    pub(crate) fn outcome(&self, rows: u64) -> Outcome {
        let tag = match self.work {
            Work::Insert(_) => "INSERT 0",
            Work::Update(..) => "UPDATE",
            Work::Delete(_) => "DELETE",
        };
        let tag = format!("{tag} {rows}");
        Outcome::Done { tag, rows }
    }
}

impl Sought {
    fn of(
        table: &Table,
        called: &str,
        selection: Option<&Expr>,
        columns: &[usize],
    ) -> Option<Sought> {
        let condition = KeyCondition::of(selection?, &table.schema, called)?;
        let look_up = KeyLookUp::prepare(&table.schema, condition.columns(), columns).ok()?;
        let look_up = look_up.of_reader();
        Some(Sought { condition, look_up })
    }

    /// The row, if it is there; `None` if there are several, or a parameter has a
    /// type that the column does not.
    fn find(
        &self,
        transaction: &Transaction,
        table: &Table,
        parameters: &[Parameter],
    ) -> Result<Option<Vec<(RowId, Row)>>> {
        let rows = match self.condition.values(&table.schema, parameters) {
            None => return Ok(None),
            Some(KeyValues::Null) => Vec::new(),
            Some(KeyValues::Some(key)) => {
                table.find(&transaction.read_view(table.id), &self.look_up, &key)?
            }
        };
        Ok((rows.len() <= 1).then_some(rows))
    }
}

/// Whether foreign keys refer to a table, its own among them.
fn is_referenced(transaction: &Transaction, table: &Table) -> bool {
    let mut own = table.schema.foreign_keys.iter();
    own.any(|key| key.parent == table.id) || !transaction.catalog().children(table.id).is_empty()
}

fn insertion(snapshot: &Snapshot, insert: &Insert) -> Option<PointChange> {
    let plain = insert.on.is_none() && insert.returning.is_none() && insert.table_alias.is_none();
    let TableObject::TableName(written) = &insert.table else {
        return None;
    };
    let name = table_name(written).ok()?;
    let table = snapshot.table(&name.schema, &name.name)?;
    may_change(&name, table).ok()?;
    let schema = Arc::clone(&table.schema);
    let numbered = schema
        .columns
        .iter()
        .any(|column| column.identity.is_some() || !is_simple(column));
    let plain = plain && !schema.is_in_partitions();
    if !plain || numbered || refuse_clauses(insert).is_err() || !schema.checks.is_empty() {
        return None;
    }
    let SetExpr::Values(values) = insert.source.as_deref()?.body.as_ref() else {
        return None;
    };
    let [row] = values.rows.as_slice() else {
        return None;
    };
    plain_values(insert.source.as_deref()?)?;
    let given = &row.content;
    let targets = target_columns(&schema, &name, insert).ok()?;
    let listed = !insert.columns.is_empty();
    if given.len() > targets.len() || (listed && given.len() != targets.len()) {
        return None;
    }
    let mut sources = Vec::with_capacity(schema.columns.len());
    for (index, column) in schema.columns.iter().enumerate() {
        let place = targets.iter().position(|target| *target == index);
        let expr = place.and_then(|place| given.get(place));
        sources.push(
            match (expr.filter(|expr| !is_default(expr)), &column.default) {
                (Some(expr), _) => Source::of(expr, column)?,
                (None, Some(text)) => Source::of(&parse_expr(text).ok()?, column)?,
                (None, None) if column.nullable => Source::Given(None),
                (None, None) => return None,
            },
        );
    }
    Some(PointChange {
        name,
        schema,
        work: Work::Insert(sources),
    })
}

fn updating(
    session: &Session,
    snapshot: &Snapshot,
    update: &Update,
    parameters: &[Parameter],
) -> Option<PointChange> {
    let more = [
        update.or.is_some(),
        update.output.is_some(),
        update.from.is_some(),
        update.returning.is_some(),
        !update.order_by.is_empty(),
        update.limit.is_some(),
    ];
    let changed = Changed::of(&update.table, "UPDATE").ok()?;
    let table = snapshot.table(&changed.name.schema, &changed.name.name)?;
    may_change(&changed.name, table).ok()?;
    let schema = &table.schema;
    let all: Vec<usize> = (0..schema.columns.len()).collect();
    let sought = Sought::of(table, &changed.called, update.selection.as_ref(), &all)?;
    let simple = schema.columns.iter().all(is_simple) && !schema.is_in_partitions();
    if more.contains(&true) || !schema.checks.is_empty() || !simple {
        return None;
    }
    let (mut columns, mut sources) = (Vec::new(), Vec::new());
    for assignment in &update.assignments {
        let AssignmentTarget::ColumnName(name) = &assignment.target else {
            return None;
        };
        let name = name.0.last().and_then(fold_part)?;
        let index = schema.index_of(&name)?;
        let numbered = schema.columns[index].identity.is_some();
        if numbered || columns.contains(&index) || is_default(&assignment.value) {
            return None;
        }
        let source = match Source::of(&assignment.value, &schema.columns[index]) {
            Some(source) => source,
            None => {
                let state = session.statement_state();
                let state = &state;
                let expressions = Expressions { state, snapshot };
                let called = &changed.called;
                Source::computed(
                    expressions,
                    (&assignment.value, index),
                    schema,
                    called,
                    parameters,
                )
                .ok()??
            }
        };
        columns.push(index);
        sources.push(source);
    }
    Some(PointChange {
        schema: Arc::clone(schema),
        name: changed.name,
        work: Work::Update(sought, columns, sources),
    })
}

fn deletion(snapshot: &Snapshot, delete: &Delete) -> Option<PointChange> {
    let more = [
        !delete.tables.is_empty(),
        delete.using.is_some(),
        delete.returning.is_some(),
        delete.output.is_some(),
        !delete.order_by.is_empty(),
        delete.limit.is_some(),
    ];
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [written] = from.as_slice() else {
        return None;
    };
    let changed = Changed::of(written, "DELETE").ok()?;
    let table = snapshot.table(&changed.name.schema, &changed.name.name)?;
    may_change(&changed.name, table).ok()?;
    let sought = Sought::of(table, &changed.called, delete.selection.as_ref(), &[])?;
    (!more.contains(&true)).then(|| PointChange {
        schema: Arc::clone(&table.schema),
        name: changed.name,
        work: Work::Delete(sought),
    })
}
