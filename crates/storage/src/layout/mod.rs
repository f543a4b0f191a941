//! Tuple stores: the same rows laid out in different ways.
//!
//! Writing: [`build`] turns the columns of one block into sections. Reading: a
//! [`TupleStore`] is opened once over a block's sections, checks everything that
//! later reads rely on (offsets, UTF-8), and from then on answers any column of
//! any rows. The layouts know nothing of each other, of files or checksums.
//!
//! | layout | sections |
//! |---|---|
//! | row | tuples, heap |
//! | column | for each column: validity, values or ends and bytes |
//! | pax | pages, page directory |

mod column;
mod dense;
mod pax;
mod row;
mod views;

pub use column::{Stripe, StripeSections};
pub use dense::{Dense, DenseData};
pub use pax::{PaxBuildReport, PaxStore, build_reported};
pub use row::RowStore;

use crate::error::Result;
use crate::format::SectionKind;
use crate::schema::{Layout, TableOptions, TableSchema};
use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use std::ops::Range;

/// One section on its way into a file.
#[derive(Debug)]
pub struct SectionData {
    /// What it holds.
    pub kind: SectionKind,
    /// Column it belongs to.
    pub column: Option<u16>,
    /// Values in a codec unit, 0 when not in units.
    pub unit_rows: u32,
    /// The bytes.
    pub bytes: Buffer,
}

/// Rows of one block that can be read in any order.
pub trait TupleStore: Send + Sync {
    /// The values of `column` in `rows`, an array of `rows.len()`.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes contradict each other.
    fn read(&self, column: usize, rows: Range<usize>) -> Result<ArrayRef>;

    /// The values of `column` at ascending `positions`.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes contradict each other.
    fn take(&self, column: usize, positions: &[u32]) -> Result<ArrayRef>;
}

/// Lays out the columns of one block, all of the same length.
///
/// # Errors
/// 54000 when a tuple is too large for the layout.
pub fn build(
    schema: &TableSchema,
    columns: &[Dense],
    options: &TableOptions,
) -> Result<Vec<SectionData>> {
    match options.layout {
        Layout::Column => Ok(column::build(columns)),
        Layout::Row => row::build(columns),
        Layout::Pax => pax::build(schema, columns, options),
    }
}
