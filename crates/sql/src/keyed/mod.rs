//! Queries whose tables are all read by keys: their rows are computed at once.
//!
//! A plan of operators is made for many rows; making it takes far longer than to find ten rows
//! by their keys. Where the conditions of a query give every table it reads the values of a key
//! ([`access`]), the rows are looked up, and the front's own interpreter computes
//! the rest over them. Whether that is so depends on the bound plan alone: on its conditions,
//! not on how the statement is written or sent.
//!
//! ```text
//! SELECT c.name, w.tax FROM customer c, warehouse w
//! WHERE w.id = 1 AND c.w_id = w.id AND c.d_id = 7 AND c.id IN (12, 40)
//!
//! warehouse by (1)                       one look-up
//! customer  by (1, 7, 12), (1, 7, 40)    two look-ups
//! ```
//!
//! Every condition is tested again on the rows that are found, so that a look-up may give more
//! rows than are wanted, but never fewer. A query that finds many rows goes the usual way, and
//! so do those with sub-queries, volatile functions, windows and set operations.

mod access;

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Decimal128Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use freestone_frontend::plan::{Column as Read, Plan, Relation};
use freestone_frontend::reference;
use freestone_frontend::types::Type;
use freestone_storage::delta::arrays;
use freestone_storage::{Column, KeyLookUp, Row, RowId};

use self::access::Access;
use crate::error::Result;
use crate::lower::{Surroundings, shown_batch};
use crate::values::convert::{is_held_as_text, loaded};

/// Most rows that all look-ups of a query may find.
const MOST_ROWS: usize = 1_000;

/// The rows of a rewritten plan as clients are shown them, under the names and types of
/// `shown`; `None` if they are not found by keys.
///
/// # Errors
/// An error of reading rows or of a function of the query.
pub(crate) fn rows(
    plan: &Plan,
    shown: &[Read],
    around: &Surroundings,
) -> Result<Option<RecordBatch>> {
    let Some(accesses) = access::all(plan) else {
        return Ok(None);
    };
    let mut found: HashMap<*const Relation, RecordBatch> = HashMap::new();
    let mut left = MOST_ROWS;
    for access in &accesses {
        let Some(batch) = looked_up(access, &mut left)? else {
            return Ok(None);
        };
        found.insert(std::ptr::from_ref(access.relation), batch);
    }
    let of = |relation: &Relation, _: &[(Read, usize)]| {
        let batch = found.get(&std::ptr::from_ref(relation));
        Ok(batch.cloned().into_iter().collect())
    };
    let table = reference::run(plan, &of, &around.session, &around.parameters)?;
    let ids = plan.columns();
    let columns = shown.iter().zip(&ids).map(|(column, id)| {
        let values = table.column(id.id).cloned();
        values.map(|values| (column.name.as_str(), &column.ty, values))
    });
    let Some(columns) = columns.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    shown_batch(&columns, table.rows, &around.session)
}

/// The rows of an access, with the columns that the plan reads; `None` if there are more than
/// may be left.
fn looked_up(access: &Access<'_>, left: &mut usize) -> Result<Option<RecordBatch>> {
    let (table, view) = access.stored.parts();
    let look_up = KeyLookUp::prepare(&table.schema, &access.key, &access.columns)?;
    let mut rows: Vec<(RowId, Row)> = Vec::new();
    for key in &access.values {
        let some = table.find(view, &look_up, key)?;
        if some.len() > *left {
            return Ok(None);
        }
        *left -= some.len();
        rows.extend(some);
    }
    table.activity().looked_up(access.values.len() as u64);
    let (ids, rows): (Vec<RowId>, Vec<Row>) = rows.into_iter().unzip();
    let columns = access.columns.iter();
    let columns: Vec<Column> = columns
        .map(|at| table.schema.columns[*at].clone())
        .collect();
    let mut stored = arrays(&columns, &rows)?.into_iter();
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
    let fields = all.iter().zip(&access.read);
    let fields =
        fields.map(|(array, (read, _))| Field::new(&read.name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
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
