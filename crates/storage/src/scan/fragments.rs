//! Scanning rows that are in no block.

use super::Scan;
use crate::codec::ArrayForm;
use crate::delta::{Fragment, RowHome};
use crate::error::Result;
use crate::predicate::evaluate_leaf;
use arrow_array::{ArrayRef, UInt64Array};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Columns of some rows, and how many rows.
pub type Columns = (Vec<ArrayRef>, usize);

/// The rows of a fragment that the scan's reader sees and that pass.
pub(super) fn read(scan: &Scan, home: RowHome, fragment: &Fragment) -> Result<VecDeque<Columns>> {
    let visible = scan.view.visible(home, fragment);
    let looked_at = visible.len() as u64;
    scan.metrics
        .rows_in_delta
        .fetch_add(looked_at, Ordering::Relaxed);
    let tuples = fragment.read();
    // What asks for compact arrays is a query, which will come again; others, such as
    // the tuple mover, read rows that are about to go.
    let column = |column: usize, rows: &[u32], form| match scan.form {
        ArrayForm::Compact => tuples.kept_column(column, rows, form),
        ArrayForm::Sql => tuples.column(column, rows, form),
    };
    let rows = match &scan.predicate {
        Some(predicate) if !visible.is_empty() => {
            let bits = predicate.evaluate(visible.len(), &mut |number, leaf| {
                evaluate_leaf(leaf, &column(number, &visible, ArrayForm::Sql)?)
            })?;
            bits.set_indices().map(|place| visible[place]).collect()
        }
        _ => visible,
    };
    // In range: a fragment has at most 2^20 rows.
    scan.metrics.decided(looked_at as usize, rows.len());
    let batch = |rows: &[u32]| {
        let columns = scan
            .projection
            .iter()
            .map(|number| column(*number, rows, scan.form));
        let mut columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        if scan.row_ids {
            columns.push(row_ids(home, rows.iter().copied()));
        }
        Ok((columns, rows.len()))
    };
    rows.chunks(scan.batch_rows).map(batch).collect()
}

/// The ids of rows of one home.
pub(super) fn row_ids(home: RowHome, rows: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(
        rows.map(|row| home.row(row).0),
    ))
}
