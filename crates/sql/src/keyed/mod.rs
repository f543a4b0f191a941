//! Queries whose tables are all read by keys: their rows are computed at once.
//!
//! A plan of operators is made for many rows; making it takes far longer than to find ten rows
//! by their keys. Where the conditions of a query give every table it reads the values of a key
//! ([`access`]), the rows are looked up, and the front's own interpreter computes
//! the rest over them. Whether that is so depends on the bound plan alone: on its conditions,
//! not on how the statement is written or sent. The first columns of a key or of an index do as
//! well, as long as few rows have these values, or a LIMIT wants few of them in the order of the
//! next column.
//!
//! ```text
//! SELECT c.name, w.tax FROM customer c, warehouse w
//! WHERE w.id = 1 AND c.w_id = w.id AND c.d_id = 7 AND c.id IN (12, 40)
//!
//! warehouse by (1)                       one look-up
//! customer  by (1, 7, 12), (1, 7, 40)    two look-ups
//! ```
//!
//! Conditions that say more than the values of a key are tested on the rows that are found, so that
//! a look-up may give more rows than are wanted, but never fewer. A query that finds many rows goes the usual way, and
//! so do those with sub-queries, volatile functions, windows and set operations. A query without
//! tables whose values are all given, such as `SELECT 1`, is a query of no keys.

mod access;
mod cells;
mod direct;
mod given;
mod query;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, RecordBatch, RecordBatchOptions};
use arrow::compute::filter;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use freestone_frontend::functions::Session;
use freestone_frontend::plan::{Column as Read, ColumnId, Expr, Plan, Relation};
use freestone_frontend::reference;
use freestone_frontend::types::Type;
use freestone_storage::{Extent, FoundRows, Row, RowId, Snapshot, Table, Value};

use self::access::{Access, By, Given, Key};
use self::direct::Direct;
use crate::error::Result;
use crate::lower::{shown_batch, shown_field, stored_batch};
use crate::values::convert::{is_held_as_text, loaded};
use crate::workload::Record;

pub(crate) use given::Parameters;
pub(crate) use query::{Bound, KeyChange, KeyQuery, Keyed};

/// Most rows that all look-ups of a query may find.
const MOST_ROWS: usize = 1_000;

/// A rewritten plan whose tables are all read by keys.
#[derive(Debug)]
pub(crate) struct KeyPlan {
    /// In a place of its own: accesses know its relations by their addresses.
    plan: Box<Plan>,
    /// Conditions that are not in the plan, as all rows that keys find meet them.
    met: Vec<Expr>,
    accesses: Vec<Access>,
    /// Columns of the result: their names and types, and where they stand in the plan.
    shown: Vec<(String, Type, ColumnId)>,
    /// The result for clients; `None` if what is known of other objects decides how values are
    /// shown.
    answer: Option<SchemaRef>,
    /// The look-up that gives the result without the plan.
    direct: Option<Direct>,
}

/// Most rows that the look-ups of a table by the first columns of a key may look at, and how many
/// each of them may at least.
const MOST_LOOKED_AT: usize = 4_000;
const EACH_LOOKS_AT: usize = 100;
/// Most keys that rows of another table give; a join of operators finds more of them sooner.
const MOST_AFTER: usize = 256;
/// Most blocks of a table that its look-ups may ask.
const MOST_ASKED: usize = 200_000;

/// The things around a query that its rows depend on.
pub(crate) struct Seen<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) session: &'a Session,
    /// Where uses of indexes are noted, from which designs are chosen.
    pub(crate) record: Option<&'a Record>,
}

impl<'a> Seen<'a> {
    fn given(&self, parameters: &'a Parameters<'a>) -> Given<'a> {
        Given {
            parameters,
            session: self.session,
        }
    }
}

/// The form of the values of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// As clients are shown them.
    Shown,
    /// As storage takes them.
    Stored,
}

impl KeyPlan {
    /// A rewritten plan with names and types for its columns; `None`, and the plan, if its tables are
    /// not read by keys.
    pub(crate) fn of(plan: Plan, shown: &[Read]) -> std::result::Result<KeyPlan, Plan> {
        let mut plan = Box::new(plan);
        let Some(accesses) = access::all(&plan) else {
            return Err(*plan);
        };
        let ids = plan.columns();
        let shown = shown.iter().zip(&ids);
        let shown = shown.map(|(column, id)| (column.name.clone(), column.ty.clone(), id.id));
        let shown: Vec<(String, Type, ColumnId)> = shown.collect();
        let direct = Direct::of(&plan, &accesses, &shown);
        let fields = shown.iter().map(|(name, ty, _)| shown_field(name, ty));
        let fields: Option<Vec<Field>> = fields.collect();
        let mut met = Vec::new();
        conditions_over_exact(&mut plan, &accesses, &mut |condition| {
            met.push(std::mem::replace(condition, Expr::bool(true)));
        });
        Ok(KeyPlan {
            met,
            answer: fields.map(|fields| Arc::new(Schema::new(fields))),
            shown,
            direct,
            accesses,
            plan,
        })
    }

    /// The same, to be kept: without what its plan knows of its tables, which would keep their
    /// blocks.
    pub(crate) fn without_handles(mut self) -> KeyPlan {
        let mut open = vec![&mut *self.plan];
        while let Some(plan) = open.pop() {
            if let Plan::Scan { relation, .. } = plan {
                relation.handle = Arc::new(());
            }
            open.extend(plan.inputs_mut());
        }
        self
    }

    /// The plan, with all its conditions.
    pub(crate) fn into_plan(mut self) -> Plan {
        let mut met = std::mem::take(&mut self.met).into_iter();
        conditions_over_exact(&mut self.plan, &self.accesses, &mut |condition| {
            if let Some(own) = met.next() {
                *condition = own;
            }
        });
        *self.plan
    }

    fn direct(&self) -> Option<(&Direct, &Access)> {
        Some((self.direct.as_ref()?, self.accesses.first()?))
    }

    /// The rows that a snapshot sees as they are stored, if nothing has to be computed.
    ///
    /// # Errors
    /// An error of reading rows.
    pub(crate) fn stored_rows(
        &self,
        seen: &Seen<'_>,
        parameters: &Parameters<'_>,
    ) -> Result<Option<Vec<Row>>> {
        match self.direct() {
            Some((direct, access)) => direct.stored_rows(access, seen, parameters),
            None => Ok(None),
        }
    }

    /// The ids of rows of a table and their new versions, if keys alone decide which rows they
    /// are; see [`Direct::versions`].
    ///
    /// # Errors
    /// An error of reading rows or of a function.
    pub(crate) fn versions(
        &self,
        seen: &Seen<'_>,
        parameters: &Parameters<'_>,
        table: &Table,
    ) -> Result<Option<Vec<(RowId, Row)>>> {
        match self.direct() {
            Some((direct, access)) => direct.versions(access, seen, parameters, table),
            None => Ok(None),
        }
    }

    /// The rows that a snapshot sees; `None` if there are many, a table is not there, or a value
    /// cannot be given in the form.
    ///
    /// # Errors
    /// An error of reading rows or of a function of the query.
    pub(crate) fn rows(
        &self,
        seen: &Seen<'_>,
        parameters: &Parameters<'_>,
        form: Form,
    ) -> Result<Option<RecordBatch>> {
        if let (Some((direct, access)), Form::Shown) = (self.direct(), form)
            && direct.is_shown()
        {
            let Some(found) = direct.found(access, seen, parameters)? else {
                return Ok(None);
            };
            if let Some(answer) = direct.answer(found, seen, parameters)? {
                return Ok(Some(answer));
            }
        }
        let session = seen.session;
        let mut found: Vec<RecordBatch> = Vec::with_capacity(self.accesses.len());
        let mut left = MOST_ROWS;
        for access in &self.accesses {
            let Some(keys) = access.values(&seen.given(parameters), &found) else {
                return Ok(None);
            };
            if access.is_after_another() && keys.len() > MOST_AFTER {
                return Ok(None);
            }
            let of = (access, keys.as_slice());
            let Some(batch) = looked_up(of, (seen.snapshot, seen.record), parameters, &mut left)?
            else {
                return Ok(None);
            };
            found.push(batch);
        }
        let of = |relation: &Relation, _: &[(Read, usize)]| {
            let address = std::ptr::from_ref(relation).addr();
            let mut accesses = self.accesses.iter();
            let place = accesses.position(|access| access.relation == address);
            let batch = place.and_then(|place| found.get(place));
            Ok(batch.cloned().into_iter().collect())
        };
        let table = reference::run(&self.plan, &of, session, parameters.arrays())?;
        let columns = self.shown.iter().map(|(name, ty, id)| {
            let values = table.column(*id).cloned();
            values.map(|values| (name.as_str(), ty, values))
        });
        let Some(columns) = columns.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        match (form, &self.answer) {
            (Form::Shown, Some(schema)) => shown_batch(schema, &columns, table.rows, session),
            (Form::Shown, None) => Ok(None),
            (Form::Stored, _) => stored_batch(&columns, table.rows),
        }
    }
}

/// Shows the conditions of filters right above tables whose rows all meet them, always in the same
/// order.
fn conditions_over_exact(plan: &mut Plan, accesses: &[Access], show: &mut dyn FnMut(&mut Expr)) {
    let mut open = vec![plan];
    while let Some(plan) = open.pop() {
        if let Plan::Filter { input, condition } = plan
            && let Plan::Scan { relation, .. } = input.as_ref()
        {
            let address = std::ptr::from_ref(relation).addr();
            let mut accesses = accesses.iter();
            if accesses.any(|access| access.is_exact && access.relation == address) {
                show(condition);
            }
        }
        open.extend(plan.inputs_mut());
    }
}

/// The rows of an access; of those that are not found by whole keys, some columns of the table.
/// `None` if there are more than may be left.
fn found(
    (access, keys, columns): (&Access, &[Key<Value>], &[usize]),
    (snapshot, table, record): (&Snapshot, &Arc<Table>, Option<&Record>),
    parameters: &Parameters<'_>,
    left: &mut usize,
) -> Result<Option<FoundRows>> {
    let view = snapshot.read_view(table.id);
    let mut found = FoundRows::default();
    if keys.len().saturating_mul(table.blocks().len()) > MOST_ASKED {
        return Ok(None);
    }
    let most = (MOST_LOOKED_AT / keys.len().max(1)).max(EACH_LOOKS_AT);
    let foremost = access.by.foremost(parameters);
    let foremost = foremost.filter(|foremost| foremost.count <= MOST_ROWS);
    let begun = Instant::now();
    let mut apart = keys;
    if let Some(condition) = access.by.condition_of_all(keys) {
        let extent = Extent {
            most: most.saturating_mul(keys.len()),
            foremost: None,
        };
        match table.look_up_within(&view, &condition, columns, extent)? {
            Some(some) if some.len() <= *left => found.extend(some),
            Some(_) | None => return Ok(None),
        }
        *left -= found.len();
        apart = &[];
    }
    for key in apart {
        let known = found.len();
        match &access.by {
            By::Key(look_up) => found.extend_rows(table.find(&view, look_up, &key.values)?),
            by => {
                let Some(condition) = by.condition(key) else {
                    continue;
                };
                let extent = Extent { most, foremost };
                match table.look_up_within(&view, &condition, columns, extent)? {
                    Some(some) => found.extend(some),
                    None => return Ok(None),
                }
            }
        };
        let some = found.len() - known;
        if some > *left {
            return Ok(None);
        }
        *left -= some;
    }
    match &access.by {
        By::Key(_) => table.activity().looked_up(keys.len() as u64),
        by => {
            if let Some(record) = record
                && let Some(noted) = access.uncounted.add(found.len(), begun.elapsed())
                && let Some(condition) = keys.first().and_then(|key| by.condition(key))
            {
                record.found((table, columns, &condition), noted);
            }
        }
    }
    Ok(Some(found))
}

/// The rows of an access, with the columns that the plan reads; `None` if there are more than
/// may be left.
fn looked_up(
    (access, keys): (&Access, &[Key<Value>]),
    (snapshot, record): (&Snapshot, Option<&Record>),
    parameters: &Parameters<'_>,
    left: &mut usize,
) -> Result<Option<RecordBatch>> {
    let Some(table) = access.table_in(snapshot) else {
        return Ok(None);
    };
    let of = (access, keys, access.columns.as_slice());
    let Some(found) = found(of, (snapshot, table, record), parameters, left)? else {
        return Ok(None);
    };
    let columns = access.columns.iter();
    let columns = columns.map(|at| &table.schema.columns[*at]);
    let (mut ids, mut stored) = found.into_columns(columns)?;
    if let [_, _, ..] = keys
        && keys.iter().any(|key| !key.bounds.is_empty())
    {
        // Ranges may overlap.
        let mut seen = HashSet::new();
        let is_first: BooleanArray = ids.iter().map(|id| Some(seen.insert(*id))).collect();
        if is_first.true_count() < ids.len() {
            let kept = |array: &ArrayRef| filter(array, &is_first);
            stored = stored
                .iter()
                .map(kept)
                .collect::<std::result::Result<_, _>>()?;
            let mut first = is_first.values().iter();
            ids.retain(|_| first.next().unwrap_or_default());
        }
    }
    let count = ids.len();
    let mut stored = stored.into_iter();
    let mut all: Vec<ArrayRef> = Vec::with_capacity(access.read.len());
    for (read, is_id) in &access.read {
        let array = match is_id {
            true => Some(of_ids(&ids)?),
            false => stored.next(),
        };
        let Some(array) = array else {
            return Ok(None);
        };
        all.push(match is_held_otherwise(array.data_type(), &read.ty) {
            true => loaded(&array, &read.ty)?,
            false => array,
        });
    }
    let schema = access.schema.get_or_init(|| {
        let fields = all.iter().zip(&access.read);
        let fields = fields
            .map(|(array, (read, _))| Field::new(&read.name, array.data_type().clone(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    });
    let schema = Arc::clone(schema);
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    Ok(Some(RecordBatch::try_new_with_options(
        schema, all, &options,
    )?))
}

/// Row ids as the front has them: it has no unsigned integers.
fn of_ids(ids: &[RowId]) -> Result<ArrayRef> {
    let ids = Decimal128Array::from_iter_values(ids.iter().map(|id| i128::from(id.0)));
    Ok(Arc::new(ids.with_precision_and_scale(20, 0)?))
}

fn is_held_otherwise(held: &DataType, ty: &Type) -> bool {
    *held != ty.arrow() && *held == DataType::Utf8View && is_held_as_text(ty)
}

/// Whether a stored column of an Arrow type can be read as a type of the front.
fn is_readable(held: &DataType, ty: &Type) -> bool {
    *held == ty.arrow() || is_held_otherwise(held, ty)
}
