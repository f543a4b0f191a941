//! Values of a partition key.
//!
//! Each part of a key is a column or an expression over columns. Bounds are kept as texts; here
//! they become values of the parts' types, which one order compares with those of rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringViewArray};
use freestone_frontend::functions::ordering::{Comparator, comparator};
use freestone_frontend::types::Type;
use freestone_storage::{PartitionKey, PartitionStrategy, TableSchema};

use crate::error::Result;
use crate::front::{Columns, Compiled, Expressions, parse_expr, type_of_stored};
use crate::partition::column_of_part;
use crate::values::convert;

/// The key of a partitioned table, ready to be computed for rows of a table with its columns.
pub(crate) struct Key {
    pub(crate) strategy: PartitionStrategy,
    pub(crate) parts: Vec<Part>,
}

/// A part of a key.
pub(crate) struct Part {
    /// As it is written.
    pub(crate) text: String,
    /// The type of its values.
    pub(crate) ty: Type,
    value: Source,
}

/// Where the values of a part come from.
enum Source {
    Column(usize),
    Computed(Compiled),
}

impl Key {
    /// A key over the columns of a table, which are found by name.
    ///
    /// # Errors
    /// Those of its expressions.
    pub(crate) fn of(
        expressions: Expressions<'_>,
        key: &PartitionKey,
        schema: &TableSchema,
        table: &str,
    ) -> Result<Key> {
        let mut parts = Vec::with_capacity(key.parts.len());
        for text in &key.parts {
            let (ty, value) = match column_of_part(schema, text) {
                Some(at) => {
                    let ty = type_of_stored(expressions.snapshot, &schema.columns[at]);
                    (ty, Source::Column(at))
                }
                None => {
                    let expr = parse_expr(text)?;
                    let columns = Columns::of(schema, table);
                    let ty = expressions.type_of(&expr, &columns)?;
                    (ty, Source::Computed(expressions.compiled(&expr, &columns)?))
                }
            };
            let text = text.clone();
            parts.push(Part { text, ty, value });
        }
        Ok(Key {
            strategy: key.strategy,
            parts,
        })
    }

    /// The values of the key for rows.
    ///
    /// # Errors
    /// Those of computing them.
    pub(crate) fn values(&self, rows: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let of = |part: &Part| {
            let values = match &part.value {
                Source::Column(at) => Arc::clone(rows.column(*at)),
                Source::Computed(value) => value.evaluate(rows)?,
            };
            convert::loaded(&values, &part.ty)
        };
        self.parts.iter().map(of).collect()
    }

    /// The order of each part.
    ///
    /// # Errors
    /// `42883` for a type without one.
    pub(crate) fn orders(&self) -> Result<Vec<Comparator>> {
        let orders = self.parts.iter().map(|part| comparator(&part.ty));
        Ok(orders.collect::<std::result::Result<_, _>>()?)
    }
}

/// Texts of bounds as values of a type.
///
/// # Errors
/// Those of reading a text that no bound should have.
pub(super) fn read(texts: &[Option<&str>], ty: &Type) -> Result<ArrayRef> {
    let texts: ArrayRef = Arc::new(StringViewArray::from_iter(texts.iter().copied()));
    convert::from_text(&texts, ty)
}
