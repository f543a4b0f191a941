//! Scans: DataFusion's view of a stored table.
//!
//! `provider` answers the logical planner (which filters can the scan take over?),
//! `exec` is the physical node whose partitions take blocks from one queue,
//! `sargable`, `logical` and `physical` translate expressions into storage
//! predicates, `statistics` tells the optimizer what to expect, and `twins` guards its rules
//! for filters.

mod excluded;
mod exec;
mod like;
mod logical;
mod physical;
mod provider;
mod sargable;
mod source;
mod statistics;
mod stream;
mod top;
pub(crate) mod twins;

pub(crate) use excluded::{held, pruned};
pub(crate) use exec::FreestoneScan;
pub(crate) use logical::{describe, predicate_of};
pub(crate) use provider::{ROW_ID, StoredTable};
pub(crate) use statistics::{scalar_of, selectivity};
pub(crate) use top::TopOfScan;

/// `column IN (values)` of the column's own type, when storage can decide it.
pub(crate) fn in_values(
    schema: &freestone_storage::TableSchema,
    column: usize,
    values: &[&datafusion::common::ScalarValue],
) -> Option<freestone_storage::Predicate> {
    let kind = &schema.columns.get(column)?.kind;
    sargable::in_list(column, kind, values, false, false)
}
