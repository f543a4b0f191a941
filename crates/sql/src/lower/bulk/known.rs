//! Counts and bounds of a whole table that its statistics tell, so that no row is read.
//!
//! They are told while all rows of the table are in blocks, as the blocks were written, and the
//! transaction has changed none of them. A plan that has such an answer is made anew after a change
//! (`plans`).

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, new_null_array};
use freestone_exec::vector::Batch;
use freestone_exec::{Batches, Inside, Node, Rows, Table as Scanned};
use freestone_frontend::plan::{AggregateCall, Column, ColumnId, ExprKind, Plan};
use freestone_storage::ColumnStatistics;

use super::super::Handle;
use super::super::expression::is_native;
use super::super::outside::batch;
use super::{Bulk, Part};
use crate::engine::{Converted, table};
use crate::error::Result;
use crate::scan::scalar_of;
use crate::values::with_kind;

/// An answer about a table.
#[derive(Debug)]
struct Told {
    of: Scanned,
    row: Batch,
}

impl Rows for Told {
    fn name(&self) -> &'static str {
        "statistics of"
    }

    fn describe(&self) -> String {
        self.of.table.name.clone()
    }

    fn table(&self) -> Option<&Scanned> {
        Some(&self.of)
    }

    fn open<'b>(&'b self, _: &dyn Inside) -> freestone_exec::Result<Vec<Batches<'b>>> {
        Ok(vec![Box::new(std::iter::once(Ok(self.row.clone())))])
    }
}

impl Bulk<'_> {
    /// The only row of an aggregate without keys, if statistics tell all of it.
    pub(super) fn told(
        &self,
        plan: &Plan,
        input: &Plan,
        calls: &[(Column, AggregateCall)],
    ) -> Result<Option<Part>> {
        let Some((scan, renamed)) = whole(input) else {
            return Ok(None);
        };
        let Plan::Scan {
            relation, columns, ..
        } = scan
        else {
            return Ok(None);
        };
        let handle = relation.handle.downcast_ref::<Handle>();
        let Some(stored) = handle.and_then(|handle| handle.source.stored()) else {
            return Ok(None);
        };
        let (of, view) = stored.parts();
        let Some(facts) = of.statistics().ok().filter(|_| {
            // Statistics are those of blocks as they were written.
            of.is_settled() && view.own.is_none()
        }) else {
            return Ok(None);
        };
        let mut made = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (column, call) in calls {
            if !self.lowering.is_used(column.id) {
                continue;
            }
            let plain = call.filter.is_none() && !call.distinct && call.order.is_empty();
            let name = &*call.function.name;
            let array: ArrayRef = match call.arguments.as_slice() {
                _ if !plain => return Ok(None),
                [] if name == "count" => Arc::new(Int64Array::from(vec![facts.rows as i64])),
                [value] => {
                    let ExprKind::Column(id) = value.kind else {
                        return Ok(None);
                    };
                    let id = renamed(id);
                    let read = columns.iter().find(|(column, _)| column.id == id);
                    let Some((known, place)) = read else {
                        return Ok(None);
                    };
                    let kind = of.schema.columns.get(*place);
                    let (Some(kind), Some(fact)) = (kind, facts.columns.get(*place)) else {
                        return Ok(None);
                    };
                    let kind = &kind.kind;
                    let is_null = fact.null_count >= facts.rows;
                    let bound = |value: fn(&ColumnStatistics) -> Option<&_>| {
                        let same = is_native(&known.ty, true) && kind.arrow() == known.ty.arrow();
                        let value = value(fact).filter(|_| same && fact.exact_bounds)?;
                        Some(Arc::clone(scalar_of(kind, value)?.array()))
                    };
                    let found = match name {
                        "count" => {
                            let count = facts.rows.saturating_sub(fact.null_count);
                            Some(Arc::new(Int64Array::from(vec![count as i64])) as ArrayRef)
                        }
                        "min" | "max" if is_null => Some(new_null_array(&call.returns.arrow(), 1)),
                        "min" => bound(|fact| fact.min.as_ref()),
                        "max" => bound(|fact| fact.max.as_ref()),
                        _ => None,
                    };
                    match found {
                        Some(array) => with_kind(array, &call.returns.arrow())?,
                        None => return Ok(None),
                    }
                }
                _ => return Ok(None),
            };
            made.push(column.clone());
            arrays.push(array);
        }
        let scanned = table(stored, (Vec::new(), false), None, false)?;
        let Node::Table(of) = scanned.plan.node else {
            return Ok(None);
        };
        let kinds = arrays.iter().map(|array| array.data_type().clone());
        let kinds: Vec<_> = kinds.collect();
        let row = batch(&arrays, 1)?;
        let rows: Converted = super::outside::leaf(Told { of, row }, kinds, 1.0);
        self.spend(plan);
        Ok(Some(self.leaf(rows, &made)))
    }
}

/// The scan of a whole table that a plan is, and how it renames columns.
fn whole(plan: &Plan) -> Option<(&Plan, impl Fn(ColumnId) -> ColumnId)> {
    let (scan, items) = match plan {
        Plan::Project { input, items } => (&**input, items.as_slice()),
        plan => (plan, [].as_slice()),
    };
    let renamed = move |id| {
        let item = items.iter().find(|(column, _)| column.id == id);
        match item.map(|(_, value)| &value.kind) {
            Some(ExprKind::Column(of)) => *of,
            _ => id,
        }
    };
    matches!(scan, Plan::Scan { sample: None, .. }).then_some((scan, renamed))
}
