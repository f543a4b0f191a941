//! Values on their way into a table, from text and from arrays of other types, and out
//! of a result as text.
//!
//! One set of rules serves INSERT, COPY from CSV and Parquet, and CREATE TABLE AS:
//! PostgreSQL's input functions for text and its assignment casts for the rest.
//! A value that does not fit is reported with its row, so that the caller can say
//! which line or row group it stood in; nothing is ever rounded to fit silently,
//! except digits after the point, which assignment rounds in SQL where digits are declared.

mod assign;
pub(crate) mod buffers;
mod builder;
mod cells;
pub(crate) mod convert;
mod digits;
mod kind;
mod lists;
pub(crate) mod styles;
pub(crate) mod text;

use crate::error::Error;

pub(crate) use assign::{assign, check_assignable, show, show_of, text_of_bytes};
pub(crate) use builder::ColumnBuilder;
pub use cells::Cells;
pub(crate) use kind::with_kind;
pub(crate) use lists::DIMENSIONS_KEY;
pub use lists::{as_lists, lists_schema};
pub use styles::Styles;
pub(crate) use text::is_the_same_everywhere;

/// A value that cannot be stored in its column.
#[derive(Debug)]
pub(crate) struct BadValue {
    /// Row within the batch, from 0.
    pub(crate) row: usize,
    /// Why.
    pub(crate) error: Error,
}
