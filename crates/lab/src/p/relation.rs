//! The paper's relation R: attributes of 8 bytes with uniform values (P, section 6.1).

use super::table::{Model, load};
use crate::error::{Error, Result};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use freestone_calibrate::Random;
use freestone_storage::{Column, ColumnType, Store, Table, TableSchema};
use std::sync::Arc;

/// Bytes of a page, as in the paper.
pub(super) const PAGE_BYTES: u32 = 8 << 10;
/// Values are 1 to this: those of `l_partkey` where LINEITEM has 1.2 million rows.
pub(super) const VALUES: i64 = 40_000;

/// R, one vector for each attribute.
#[derive(Debug)]
pub(super) struct Relation {
    pub attributes: Vec<Vec<i64>>,
}

impl Relation {
    /// R with `degree` attributes; every value is as likely as the others.
    pub fn new(rows: usize, degree: usize, seed: u64) -> Relation {
        let attribute = |number| {
            let mut random = Random::stream(seed, number);
            (0..rows)
                .map(|_| 1 + random.below(VALUES as u64) as i64)
                .collect()
        };
        Relation {
            attributes: (0..degree as u64).map(attribute).collect(),
        }
    }

    pub fn rows(&self) -> usize {
        self.attributes.first().map_or(0, Vec::len)
    }

    pub fn degree(&self) -> usize {
        self.attributes.len()
    }

    /// BIGINT NOT NULL all over.
    pub fn schema(&self) -> TableSchema {
        schema((1..=self.degree()).map(|number| format!("a{number}")))
    }

    /// All rows.
    pub fn batch(&self) -> Result<RecordBatch> {
        batch(&self.schema(), &self.attributes)
    }

    /// The same rows in a table of each layout, in the order of [`Model::ALL`].
    pub fn tables(&self, store: &Store) -> Result<Vec<(Model, Arc<Table>)>> {
        let (schema, rows) = (self.schema(), self.batch()?);
        let table = |model: Model| {
            let name = format!("r_{}_{model}", self.degree());
            let options = model.options(PAGE_BYTES);
            Ok((model, load(store, &name, &schema, &options, &rows)?))
        };
        Model::ALL.into_iter().map(table).collect()
    }
}

/// Columns of BIGINT NOT NULL.
pub(super) fn schema(names: impl Iterator<Item = String>) -> TableSchema {
    let columns = names.map(|name| Column {
        name,
        kind: ColumnType::BigInt,
        nullable: false,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    });
    TableSchema {
        columns: columns.collect(),
        ..TableSchema::default()
    }
}

/// Rows of such columns.
pub(super) fn batch(schema: &TableSchema, columns: &[Vec<i64>]) -> Result<RecordBatch> {
    let arrays = columns.iter();
    let arrays = arrays.map(|values| Arc::new(Int64Array::from(values.clone())) as ArrayRef);
    RecordBatch::try_new(schema.arrow(), arrays.collect())
        .map_err(|error| Error::new(error.to_string(), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_uniform_and_attributes_independent() {
        let relation = Relation::new(40_000, 2, 7);
        for attribute in &relation.attributes {
            assert!(attribute.iter().all(|value| (1..=VALUES).contains(value)));
            let below = attribute
                .iter()
                .filter(|value| **value <= VALUES / 4)
                .count();
            assert!(below.abs_diff(10_000) < 400, "{below}");
        }
        let both = relation.attributes[0].iter().zip(&relation.attributes[1]);
        let both = both.filter(|(a, b)| **a <= VALUES / 2 && **b <= VALUES / 2);
        assert!(both.count().abs_diff(10_000) < 400);
    }
}
