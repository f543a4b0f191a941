//! Scans of stored tables: what they read, and which conditions storage decides.
//!
//! `provider` has a table in one snapshot, `excluded` what the bounds of partitions say of it.
//! `sargable`, `like` and `logical` translate expressions into storage predicates; `statistics` tells how
//! many rows those keep.

mod excluded;
mod like;
mod logical;
mod provider;
mod sargable;
mod statistics;

pub(crate) use excluded::held;
pub(crate) use logical::{describe, predicate_of};
pub(crate) use provider::{ROW_ID, StoredTable};
pub(crate) use statistics::{scalar_of, selectivity};

/// `column IN (values)` of the column's own type, when storage can decide it.
pub(crate) fn in_values(
    schema: &freestone_storage::TableSchema,
    column: usize,
    values: &[crate::expression::Scalar],
) -> Option<freestone_storage::Predicate> {
    let kind = &schema.columns.get(column)?.kind;
    sargable::in_list(column, kind, values, false, false)
}
