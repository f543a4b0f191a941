//! Functions of a row's place in its partition, which frames do not change.
//!
//! ```text
//! x             10   10   20   30
//! rank           1    1    3    4
//! dense_rank     1    1    2    3
//! percent_rank   0    0  2/3    1
//! cume_dist    1/2  1/2  3/4    1
//! ntile(3)       1    1    2    3
//! ```

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, Int64Array};

use super::{Catalogue, Partition, WindowFunction};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, I32, Input};
use crate::types::Type;

/// The row at which the peers of a row begin, and the one behind them.
fn peers(partition: &Partition<'_>, row: usize) -> (usize, usize) {
    let found = partition.peers.get(row);
    found.map_or((row, row + 1), |peers| (peers.start, peers.end))
}

fn whole(partition: &Partition<'_>, f: impl FnMut(usize) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values((0..partition.rows).map(f)))
}

fn part(partition: &Partition<'_>, f: impl FnMut(usize) -> f64) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values((0..partition.rows).map(f)))
}

fn row_number(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    Ok(whole(partition, |row| row as i64 + 1))
}

fn rank(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    Ok(whole(partition, |row| peers(partition, row).0 as i64 + 1))
}

fn dense_rank(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    let mut rank = 0;
    Ok(whole(partition, |row| {
        rank += i64::from(peers(partition, row).0 == row);
        rank
    }))
}

fn percent_rank(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    let others = partition.rows.saturating_sub(1).max(1) as f64;
    Ok(part(partition, |row| {
        peers(partition, row).0 as f64 / others
    }))
}

fn cume_dist(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    let rows = partition.rows as f64;
    Ok(part(partition, |row| peers(partition, row).1 as f64 / rows))
}

/// Parts of a partition that are as long as one another, the first ones by one row longer
/// where rows are left. The number of parts is that of the first row that has one.
fn ntile(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    let counts = partition.argument(0)?;
    let reader = I32::reader(counts)?;
    let first = (0..partition.rows).find(|row| !counts.is_null(*row));
    let Some(first) = first else {
        return Ok(Arc::new(Int32Array::new_null(partition.rows)));
    };
    let count = reader.value(first);
    if count <= 0 {
        let message = "argument of ntile must be greater than zero";
        return Err(Error::new("22014", message));
    }
    let parts = count as usize;
    let (length, longer) = (partition.rows / parts, partition.rows % parts);
    let border = longer * (length + 1);
    let tile = |row: usize| {
        // Rows are counted from the first that has a number of parts.
        let row = row.checked_sub(first)?;
        let tile = match row < border {
            true => row / (length + 1),
            false => longer + (row - border) / length.max(1),
        };
        i32::try_from(tile + 1).ok()
    };
    let tiles: Int32Array = (0..partition.rows).map(tile).collect();
    Ok(Arc::new(tiles))
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Float8, Int4, Int8};
    type Rank = fn(&Call<'_>, &Partition<'_>) -> Result<ArrayRef>;
    let all: [(&'static str, &[Type], Type, Rank); 6] = [
        ("row_number", &[], Int8, row_number),
        ("rank", &[], Int8, rank),
        ("dense_rank", &[], Int8, dense_rank),
        ("percent_rank", &[], Float8, percent_rank),
        ("cume_dist", &[], Float8, cume_dist),
        ("ntile", &[Int4], Int4, ntile),
    ];
    for (name, parameters, returns, kernel) in all {
        c.add_window(WindowFunction {
            name,
            parameters: parameters.to_vec(),
            optional: 0,
            returns: returns.into(),
            nulls: false,
            framed: false,
            kernel: Arc::new(kernel),
        });
    }
}
