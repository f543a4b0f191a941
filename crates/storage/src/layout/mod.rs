//! Tuple stores: the same rows laid out in different ways.
//!
//! Writing: [`build`] turns the columns of one block into sections. Reading: a
//! [`TupleStore`] is opened once over a block's sections, checks everything that
//! later reads rely on (offsets, UTF-8), and from then on answers any column of
//! any rows. The layouts know nothing of each other, of files or checksums.
//!
//! | layout | sections |
//! |---|---|
//! | row | tuples, heap; for each column: codebook, fields |
//! | row, slotted | slotted pages, page directory; for each column: codebook, fields |
//! | column | for each column: validity, codebook, values or ends and bytes |
//! | pax | pages, page directory; for each column: codebook, fields |
//! | dsm | for each column that has values: surrogates, and a stripe of the present ones |
//! | inverted | for each column that has values: codebook, ends, row sets |

mod book;
mod coded_text;
mod column;
mod dsm;
mod edit;
mod inverted;
mod pages;
mod pax;
mod row;
mod stripe_sections;
mod validity;

pub use book::{BookSections, tuple_bytes};
pub use column::Stripe;
pub use dsm::Relation;
pub use edit::{Compaction, PageColumn, PageEditor, PageFile, PageUpdate, UpdateCounts};
pub use inverted::InvertedColumn;
pub use pax::{PaxBuildReport, PaxPageEditor, PaxStore, build_reported};
pub use row::{RowStore, SlottedPageEditor};
pub use stripe_sections::StripeSections;

use crate::codec::fields::Rows;
use crate::codec::{ArrayForm, CodeTest, Dense, Encoded, pick};
use crate::error::Result;
use crate::format::{Codec, SectionKind};
use crate::predicate::Leaf;
use crate::row::cell;
use crate::schema::{CodecChoice, Layout, Physical, TableOptions, TableSchema, Value};
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer};
use std::ops::Range;

/// One section on its way into a file.
#[derive(Debug)]
pub struct SectionData {
    /// What it holds.
    pub kind: SectionKind,
    /// How it is encoded.
    pub codec: Codec,
    /// Column it belongs to.
    pub column: Option<u16>,
    /// Values in a codec unit, 0 when not in units.
    pub unit_rows: u32,
    /// The bytes.
    pub bytes: Buffer,
}

/// Rows of one block that can be read in any order. A store of one column
/// (DSM, inverted) is asked for that column only.
pub trait TupleStore: std::fmt::Debug + Send + Sync {
    /// The values of `column` in ascending `rows`.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes contradict each other.
    fn read(&self, column: usize, rows: &Rows<'_>) -> Result<ArrayRef> {
        self.read_as(column, rows, ArrayForm::Sql)
    }

    /// The same in another form, as far as the layout has it.
    ///
    /// # Errors
    /// As [`TupleStore::read`].
    fn read_as(&self, column: usize, rows: &Rows<'_>, form: ArrayForm) -> Result<ArrayRef>;

    /// Begins to fetch what [`TupleStore::value`] will read of `columns`, as far
    /// as they were read before.
    fn prefetch(&self, _columns: &[usize], _row: u32) {}

    /// One value of `column`; `None` if it is NULL.
    ///
    /// # Errors
    /// As [`TupleStore::read`].
    fn value(&self, column: usize, row: u32) -> Result<Option<Value>> {
        Ok(cell(&self.read(column, &Rows::Positions(&[row]))?, 0))
    }

    /// `leaf` as a test of the column's codes; `None` where it must be
    /// evaluated on values.
    ///
    /// # Errors
    /// Those of evaluating it on a dictionary.
    fn translate(&self, column: usize, leaf: &Leaf) -> Result<Option<CodeTest>>;

    /// The codes of all rows of a column that has a dictionary.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes contradict each other.
    fn ranks(&self, column: usize) -> Result<Option<Vec<i64>>>;

    /// The runs of `rows`, if the column is stored so: the value of each, and the row
    /// after its last.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes contradict each other.
    fn runs(&self, _column: usize, _rows: Range<usize>) -> Result<Option<(Vec<i64>, Vec<u32>)>> {
        Ok(None)
    }

    /// Which of `rows`, which begin a chunk, pass a test from [`TupleStore::translate`].
    ///
    /// # Errors
    /// `Corrupt` if stored bytes contradict each other.
    fn test(&self, column: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer>;
}

/// Encodes a column as its layout stores it: DSM the present values only,
/// inverted always by dictionary, all others as `choice` says.
pub fn encode(column: &Dense, physical: Physical, choice: CodecChoice, layout: Layout) -> Encoded {
    match layout {
        Layout::Dsm => dsm::encode(column, physical, choice),
        Layout::Inverted => inverted::encode(column, physical),
        _ => pick(column, physical, choice, layout),
    }
}

/// Lays out the columns of one block, all of the same length; `encoded` are
/// those from [`encode`].
///
/// # Errors
/// 54000 when a tuple is too large for the layout.
pub fn build(
    schema: &TableSchema,
    columns: &[Dense],
    encoded: &[Encoded],
    options: &TableOptions,
) -> Result<Vec<SectionData>> {
    match options.layout {
        Layout::Column => Ok(column::build(encoded)),
        Layout::Row if options.slotted => row::build_slotted(encoded, options),
        Layout::Row => row::build(encoded),
        Layout::Pax => pax::build(schema, encoded, options),
        Layout::Dsm => Ok(dsm::build(columns, encoded)),
        Layout::Inverted => Ok(inverted::build(encoded)),
    }
}
