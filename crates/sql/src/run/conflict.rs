//! ON CONFLICT: new rows whose key is there already are left out, or change the
//! row that is there.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::memory::Held;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, filter_record_batch, take_record_batch};
use arrow::datatypes::{Field, Schema};
use freestone_frontend::syntax::marks::{self, marked};
use freestone_frontend::syntax::walk::visit_expressions_mut;
use freestone_frontend::types::Type;
use freestone_storage::row::cell;
use freestone_storage::{Column, Key, KeyLookUp, Row, RowId, Table, Value};
use sqlparser::ast::{
    ConflictTarget, DoUpdate, Expr, Ident, OnConflict, OnConflictAction, OnInsert, SelectItem,
    Statement as Ast,
};

use super::Run;
use super::assigned::{Assigned, assigned_columns, given};
use super::change::{stored_as, stored_in};
use super::changes::{Changes, with_ids, without_ids};
use super::compose;
use super::insert::columns_named;
use crate::error::{Error, Result};
use crate::front;
use crate::front::{Columns, has_query};
use crate::names::{Name, fold, fold_part};
use crate::relations::updatable::{Command, PLACE, Through};
use crate::routing::Leaf;
use crate::statement::parse_one;
use crate::types::nullable;

/// The clause of an INSERT, understood.
pub(super) struct Conflict<'a> {
    /// Positions of the keys that may be there already.
    keys: Vec<&'a Key>,
    update: Option<&'a DoUpdate>,
    /// The views over the table that the rows are inserted into.
    through: Option<&'a Through>,
}

impl<'a> Conflict<'a> {
    /// Reads the clause.
    ///
    /// # Errors
    /// `42P10` for columns that are no key, `42704` for an unknown constraint.
    pub(super) fn of(
        run: &Run<'_>,
        on: &'a OnInsert,
        table: &'a Table,
        (name, through): (&Name, Option<&'a Through>),
    ) -> Result<Conflict<'a>> {
        let OnInsert::OnConflict(OnConflict {
            conflict_target,
            action,
        }) = on
        else {
            return Err(
                Error::unsupported("ON DUPLICATE KEY UPDATE is not supported")
                    .with_hint("write ON CONFLICT (…) DO UPDATE SET …"),
            );
        };
        let all = &table.schema.keys;
        let keys: Vec<&Key> = match conflict_target {
            None => all.iter().collect(),
            Some(ConflictTarget::Columns(columns)) => {
                let found = run.inferred(table, name, columns)?;
                if found.is_empty() {
                    return Err(Error::new(
                        "42P10",
                        "there is no unique or exclusion constraint matching the ON CONFLICT \
                         specification",
                    ));
                }
                found
            }
            Some(ConflictTarget::OnConstraint(written)) => {
                let wanted = written.0.last().and_then(fold_part).unwrap_or_default();
                let is_meant = |key: &&Key| key.name == wanted && !key.of_index;
                let found: Vec<&Key> = all.iter().filter(is_meant).collect();
                if found.is_empty() {
                    let message =
                        format!("constraint \"{wanted}\" of table \"{name}\" does not exist");
                    return Err(Error::new("42704", message));
                }
                found
            }
        };
        if keys.iter().any(|key| !key.deferral.is_never()) {
            let message = "ON CONFLICT does not support deferrable unique constraints/exclusion \
                           constraints as arbiters";
            return Err(Error::new("55000", message));
        }
        let update = match action {
            OnConflictAction::DoNothing => None,
            OnConflictAction::DoUpdate(_) if conflict_target.is_none() => {
                return Err(Error::new(
                    "42601",
                    "ON CONFLICT DO UPDATE needs the columns of a key, or a constraint",
                ));
            }
            OnConflictAction::DoUpdate(update) => Some(update),
        };
        Ok(Conflict {
            keys,
            update,
            through,
        })
    }
}

impl<'a> Conflict<'a> {
    /// The same for a leaf of a partitioned table, whose keys have names of their own.
    pub(super) fn in_leaf(&self, leaf: &'a Leaf) -> Conflict<'a> {
        let places = |columns: &[usize]| {
            let places = columns.iter().filter_map(|at| leaf.places.get(*at));
            places.copied().collect::<HashSet<usize>>()
        };
        let wanted: Vec<HashSet<usize>> =
            self.keys.iter().map(|key| places(&key.columns)).collect();
        let all = leaf.table.schema.keys.iter();
        let same = |key: &&Key| wanted.contains(&key.columns.iter().copied().collect());
        Conflict {
            keys: all.filter(same).collect(),
            update: self.update,
            through: self.through,
        }
    }
}

/// An INSERT with ON CONFLICT whose rows come in parts.
pub(super) struct Upsert<'a> {
    pub(super) table: &'a Arc<Table>,
    /// As the statement calls the table.
    alias: &'a str,
    conflict: &'a Conflict<'a>,
    assigned: Vec<Assigned>,
    /// The values that rows so far have of each key, and the memory that they take.
    taken: Vec<HashSet<String>>,
    memory: Held,
}

/// Bytes that a text takes in a set, besides its own.
const EACH_TAKES: usize = 48;

/// A new row and the row that has its key.
struct Meeting {
    new: u32,
    id: RowId,
    row: Row,
}

impl Run<'_> {
    /// The keys that the elements of ON CONFLICT are of, in any order: over columns and
    /// expressions. A condition leads to partial indexes with it, and to all that have none.
    fn inferred<'a>(
        &self,
        table: &'a Table,
        name: &Name,
        elements: &[Ident],
    ) -> Result<Vec<&'a Key>> {
        let (mut list, mut condition) = (Vec::new(), String::new());
        for element in elements {
            if let Some(text) = marked(element, marks::INFERRED_WHERE) {
                condition = format!(" WHERE {text}");
            } else if let Some(text) = marked(element, marks::INFERRED) {
                list.push(text.to_owned());
            } else {
                columns_named(&table.schema, name, &[fold(element)])?;
                list.push(element.to_string());
            }
        }
        let text = format!("CREATE INDEX ON t ({}){condition}", list.join(", "));
        let Ast::CreateIndex(create) = parse_one(&text).map_err(Error::placeless)? else {
            return Err(Error::internal(
                "the elements of ON CONFLICT are of no index",
            ));
        };
        let over = self
            .index_over(name, table, &create)
            .map_err(Error::placeless)?;
        let rows = over.schema.condition(&over.columns);
        let of = |columns: &[usize], condition: Option<&Column>| {
            let all = columns.len() - usize::from(condition.is_some());
            columns[..all].iter().copied().collect::<HashSet<usize>>()
        };
        let wanted = of(&over.columns, rows);
        let is_meant = |key: &&Key| {
            let own = table.schema.condition(&key.columns);
            let holds = own.is_none_or(|own| rows.is_some_and(|rows| rows.name == own.name));
            holds && of(&key.columns, own) == wanted
        };
        Ok(table.schema.keys.iter().filter(is_meant).collect())
    }

    /// An INSERT with ON CONFLICT before its first rows.
    ///
    /// # Errors
    /// Errors of the assignments of DO UPDATE.
    pub(super) fn upsert<'a>(
        &self,
        table: &'a Arc<Table>,
        alias: &'a str,
        conflict: &'a Conflict<'a>,
    ) -> Result<Upsert<'a>> {
        let context = self.session.run_context();
        Ok(Upsert {
            table,
            alias,
            conflict,
            assigned: self.set_by(table, alias, conflict)?,
            taken: vec![HashSet::new(); conflict.keys.len()],
            memory: Held::new(&context.memory, "keys of ON CONFLICT"),
        })
    }

    /// The changes that further `rows`, cast to the columns of the table, make.
    ///
    /// # Errors
    /// `21000` if a row would be changed twice; those of the expressions; `53200`.
    pub(super) async fn upserted(
        &self,
        upsert: &mut Upsert<'_>,
        rows: &[RecordBatch],
    ) -> Result<Changes> {
        let Upsert {
            table,
            alias,
            conflict,
            ..
        } = *upsert;
        let rows: Vec<RecordBatch> = rows
            .iter()
            .map(|rows| self.assigned(table, rows))
            .collect::<Result<_>>()?;
        let rows = concat_batches(&nullable(&table.schema), &rows)?;
        let checks = self.checks(table)?;
        // Keys may be over columns that are computed.
        let rows = checks.completed(rows)?;
        // What a row must be counts before what it meets.
        for (column, values) in table.schema.columns.iter().zip(rows.columns()) {
            if !column.nullable && values.null_count() > 0 {
                let message = format!(
                    "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                    column.name, table.name
                );
                return Err(Error::new("23502", message));
            }
        }
        checks.check(&rows)?;
        let (fresh, meetings) = self.meetings(upsert, &rows)?;
        let inserted = take_record_batch(&rows, &UInt32Array::from(fresh))?;
        let mut changes = Changes {
            inserted: vec![inserted],
            ..Changes::default()
        };
        if let Some(update) = conflict.update {
            // Whatever is wrong with values that no row gets is wrong all the same.
            let of = (table.as_ref(), alias, conflict.through);
            let updated = self.updated(of, (update, &upsert.assigned), &rows, meetings);
            let rows = updated.await?;
            self.must_be_unchanged(table, std::slice::from_ref(&rows), "ON CONFLICT DO UPDATE")?;
            changes.update(vec![rows], given(&upsert.assigned));
        }
        Ok(changes)
    }

    /// The assignments of DO UPDATE; none for DO NOTHING.
    fn set_by(&self, table: &Table, alias: &str, conflict: &Conflict<'_>) -> Result<Vec<Assigned>> {
        let Some(update) = conflict.update else {
            return Ok(Vec::new());
        };
        let name = Name::of_table(table);
        let through = conflict.through.map(|through| (through, Command::Insert));
        let of = (&name, alias, through);
        assigned_columns(&self.snapshot, table, of, &update.assignments)
    }

    /// Binds the expressions of DO UPDATE, for no rows.
    ///
    /// # Errors
    /// Whatever is wrong with them.
    pub(super) async fn check_conflict(
        &self,
        table: &Table,
        alias: &str,
        conflict: &Conflict<'_>,
    ) -> Result<()> {
        let assigned = self.set_by(table, alias, conflict)?;
        if let Some(update) = conflict.update {
            let none = RecordBatch::new_empty(nullable(&table.schema));
            let of = (table, alias, conflict.through);
            let updated = self.updated(of, (update, &assigned), &none, Vec::new());
            updated.await?;
        }
        Ok(())
    }

    /// The error of inserting the rows that meet none, if another transaction has added one with the
    /// same key since the statement began.
    pub(super) fn missed(&self, error: Error, conflict: &Conflict<'_>) -> Error {
        let is_of = |key: &&Key| {
            error
                .message
                .contains(&format!("unique constraint \"{}\"", key.name))
        };
        if error.sqlstate != "23505" || !conflict.keys.iter().any(is_of) {
            return error;
        }
        match self.change(|own| {
            own.has_missed();
            Ok(())
        }) {
            Ok(()) => Error::new(
                "40001",
                "could not serialize access due to concurrent update",
            )
            .with_hint("run the transaction again"),
            Err(error) => error,
        }
    }

    /// Which rows are new, and which meet one that is there.
    fn meetings(
        &self,
        upsert: &mut Upsert<'_>,
        rows: &RecordBatch,
    ) -> Result<(Vec<u32>, Vec<Meeting>)> {
        let Upsert {
            table,
            conflict,
            taken,
            memory,
            ..
        } = upsert;
        let all: Vec<usize> = (0..table.schema.columns.len()).collect();
        let view = self.snapshot.read_view(table.id);
        let look_ups = conflict
            .keys
            .iter()
            .map(|key| Ok((*key, KeyLookUp::prepare(&table.schema, &key.columns, &all)?)));
        let look_ups = look_ups.collect::<Result<Vec<_>>>()?;
        let (mut fresh, mut met) = (Vec::new(), Vec::new());
        'rows: for row in 0..rows.num_rows() {
            let mut mine = Vec::with_capacity(look_ups.len());
            for (number, (key, look_up)) in look_ups.iter().enumerate() {
                let columns = key.columns.iter();
                let values = columns.map(|column| cell(rows.column(*column), row));
                let values: Vec<Option<Value>> = values.collect();
                if !table.schema.is_in_key(key, |at| values[at].is_none()) {
                    continue;
                }
                let shown = format!("{values:?}");
                if taken[number].contains(&shown) {
                    if conflict.update.is_some() {
                        return Err(twice());
                    }
                    continue 'rows;
                }
                let whole: Option<Vec<Value>> = values.iter().cloned().collect();
                let found = match whole {
                    Some(whole) => table.find(&view, look_up, &whole)?,
                    None => table.find_alike(&view, (&key.columns, &values), &all)?,
                };
                if let Some((id, old)) = found.into_iter().next() {
                    if conflict.update.is_none() {
                        // The row may be there no more, or have another key, when another ends.
                        self.change(|own| Ok(own.must_be_settled(table.id, id)?))?;
                    }
                    // In range: few rows are inserted this way.
                    let new = row as u32;
                    met.push(Meeting { new, id, row: old });
                    memory.grow(shown.len() + EACH_TAKES)?;
                    taken[number].insert(shown);
                    continue 'rows;
                }
                mine.push((number, shown));
            }
            for (number, shown) in mine {
                memory.grow(shown.len() + EACH_TAKES)?;
                taken[number].insert(shown);
            }
            fresh.push(row as u32);
        }
        Ok((fresh, met))
    }

    /// The rows that are there, changed by DO UPDATE.
    async fn updated(
        &self,
        (table, alias, through): (&Table, &str, Option<&Through>),
        (update, assigned): (&DoUpdate, &[Assigned]),
        rows: &RecordBatch,
        meetings: Vec<Meeting>,
    ) -> Result<RecordBatch> {
        let mut seen = HashSet::new();
        if !meetings.iter().all(|meeting| seen.insert(meeting.id)) {
            return Err(twice());
        }
        let new: UInt32Array = meetings.iter().map(|meeting| meeting.new).collect();
        let (ids, old): (Vec<RowId>, Vec<Row>) = meetings
            .into_iter()
            .map(|meeting| (meeting.id, meeting.row))
            .unzip();
        let old = with_ids(&table.schema.columns, &ids, &old)?;
        let excluded = take_record_batch(rows, &new)?;
        let asks = update.selection.as_ref().is_some_and(has_query)
            || assigned.iter().any(|assigned| match assigned {
                Assigned::Same => false,
                Assigned::Value(expr) => has_query(expr),
            });
        if asks || through.is_some() {
            let (of, update) = ((table, alias, through), (update, assigned));
            return self.updated_by_query(of, update, old, &excluded).await;
        }
        // Columns of the row that is there, then of the one that was to come.
        let columns = Columns::of(&table.schema, alias).and(Columns::of(&table.schema, "excluded"));
        let (before, after) = (old.schema(), excluded.schema());
        let fields = before.fields().iter().skip(1).cloned();
        let fields = fields.chain(after.fields().iter().cloned());
        let arrays = old.columns()[1..].iter().chain(excluded.columns());
        let mut both = RecordBatch::try_new(
            Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            arrays.cloned().collect(),
        )?;
        let mut old = old;
        if let Some(condition) = &update.selection {
            let condition = qualified(condition, table, alias);
            let met = self.expressions().evaluate(&condition, &columns, &both)?;
            let met = met
                .as_boolean_opt()
                .ok_or_else(|| Error::new("42804", "argument of WHERE must be type boolean"))?;
            both = filter_record_batch(&both, met)?;
            old = filter_record_batch(&old, met)?;
        }
        let mut arrays: Vec<ArrayRef> = vec![Arc::clone(old.column(0))];
        let mut fields = vec![old.schema().field(0).clone()];
        for (number, (column, value)) in table.schema.columns.iter().zip(assigned).enumerate() {
            let array = match value {
                Assigned::Same => Arc::clone(old.column(number + 1)),
                Assigned::Value(expr) => {
                    let expr = qualified(expr, table, alias);
                    self.expressions()
                        .evaluate_for(&expr, &columns, &both, column)?
                }
            };
            fields.push(Field::new(&column.name, array.data_type().clone(), true));
            arrays.push(array);
        }
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
    }

    /// The same where expressions have queries in them: one query over both rows of each
    /// meeting has all new values.
    async fn updated_by_query(
        &self,
        (table, alias, through): (&Table, &str, Option<&Through>),
        (update, assigned): (&DoUpdate, &[Assigned]),
        old: RecordBatch,
        excluded: &RecordBatch,
    ) -> Result<RecordBatch> {
        let columns: Vec<(String, Type)> =
            stored_in(&self.snapshot, &table.schema.columns).collect();
        let (own, coming) = (compose::exact(alias), compose::exact("excluded"));
        let (there, to_come, names) = match through {
            Some(through) => {
                let names = through.columns();
                let names = names.map(|name| compose::exact(&excluded_name(name)));
                let there = self.place_through(through, table, &without_ids(&old)?)?;
                let to_come = self.place_through(through, table, excluded)?;
                (there, to_come, names.collect())
            }
            None => {
                let renamed = columns
                    .iter()
                    .map(|(name, ty)| (excluded_name(name), ty.clone()));
                let there = old.columns()[1..].to_vec();
                let there = self.place("rows that are there", columns.clone(), there)?;
                let to_come = excluded.columns().to_vec();
                let to_come = self.place("rows to come", renamed.collect(), to_come)?;
                (there, to_come, Vec::new())
            }
        };
        let place = |table: &Ident| compose::column(table, PLACE);
        let values = table.schema.columns.iter().zip(assigned);
        let values = values.map(|(column, value)| {
            let value = match value {
                Assigned::Same => match through {
                    Some(through) => compose::column(&own, &through.in_sight(&column.name)),
                    None => compose::column(&own, &column.name),
                },
                Assigned::Value(expr) => of_excluded(expr),
            };
            compose::named(value, &column.name)
        });
        let mut list: Vec<SelectItem> = values.collect();
        let condition = update.selection.as_ref();
        let condition = condition.map_or_else(compose::truth, of_excluded);
        list.push(compose::named(condition, MET));
        let from = vec![
            compose::alone(compose::table(there, own.clone(), Vec::new())?),
            compose::alone(compose::table(to_come, coming.clone(), names)?),
        ];
        let meets = compose::equal(place(&own), place(&coming));
        let query = compose::query(list, from, Some(meets))?;
        let mut query = compose::ordered(query, place(&own));
        query.with.clone_from(&self.around.lock());
        let ast = Ast::Query(Box::new(query));
        let mut into: Vec<_> = stored_as(&self.snapshot, &table.schema.columns).collect();
        into.push((MET.to_owned(), Type::Bool));
        let relations = self.relations(&ast).await?;
        let plan = front::planned_into(&relations, &ast, &into)?;
        let plan = plan.runnable()?;
        let found = self.collected(plan, None).await?;
        let Some(first) = found.first() else {
            return Ok(old.slice(0, 0));
        };
        let found = concat_batches(&first.schema(), &found)?;
        if found.num_rows() != old.num_rows() {
            return Err(Error::internal("rows that meet others were lost"));
        }
        let last = found.num_columns() - 1;
        let met = found.column(last).as_boolean_opt().cloned();
        let met = met.ok_or_else(|| Error::internal("a condition of another type"))?;
        let mut arrays = vec![Arc::clone(old.column(0))];
        arrays.extend(found.columns()[..last].iter().cloned());
        let mut fields = vec![old.schema().field(0).clone()];
        let named = table.schema.columns.iter().zip(&arrays[1..]);
        fields.extend(
            named.map(|(column, array)| Field::new(&column.name, array.data_type().clone(), true)),
        );
        let all = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?;
        Ok(filter_record_batch(&all, &met)?)
    }
}

/// The column of the condition in a query for new values.
const MET: &str = "condition of the update";

/// What a column of a row that is to come is called in such a query: names without a table are
/// those of the row that is there.
fn excluded_name(column: &str) -> String {
    format!("excluded {column}")
}

/// An expression with those names.
fn of_excluded(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |part| {
        if let Expr::CompoundIdentifier(parts) = part
            && let [table, column] = parts.as_mut_slice()
            && fold(table) == "excluded"
        {
            *column = Ident::with_quote('"', excluded_name(&fold(column)));
        }
        ControlFlow::Continue(())
    });
    expr
}

/// Columns without a table are those of the row that is there.
fn qualified(expr: &Expr, table: &Table, alias: &str) -> Expr {
    let mut expr = expr.clone();
    let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |part| {
        if let Expr::Identifier(ident) = part
            && table.schema.index_of(&fold(ident)).is_some()
        {
            let table = Ident::with_quote('"', alias);
            *part = Expr::CompoundIdentifier(vec![table, ident.clone()]);
        }
        ControlFlow::Continue(())
    });
    expr
}

fn twice() -> Error {
    Error::new(
        "21000",
        "ON CONFLICT DO UPDATE command cannot affect row a second time",
    )
    .with_hint("the rows of one INSERT must have different keys")
}
