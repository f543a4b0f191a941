//! The paper's query: averages of some attributes where others lie in a range (P, 6.1).

use super::relation::VALUES;
use crate::error::Result;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use freestone_storage::{CompareOp, Predicate, ScanRequest, Table, Value};

/// `select avg(a_p), … from R where Lo < a_q and a_q < Hi and …`.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// Projected attributes.
    pub projected: Vec<usize>,
    /// Attributes in the predicate, each with its bounds, which are excluded. The first
    /// sets the selectivity, nearly all rows pass the others.
    pub ranges: Vec<(usize, i64, i64)>,
}

/// What a selection found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub rows: u64,
    /// Of each projected attribute.
    pub sums: Vec<i64>,
}

impl Selection {
    /// The selection in which a `share` of the rows qualifies by the first of the
    /// attributes `tested`.
    pub fn new(projected: &[usize], tested: &[usize], share: f64) -> Selection {
        let range = |(number, attribute): (usize, &usize)| match number {
            0 => (*attribute, 0, 1 + (share * VALUES as f64) as i64),
            // Bounds that zone maps cannot decide: the least and the largest value fail.
            _ => (*attribute, 1, VALUES),
        };
        Selection {
            projected: projected.to_vec(),
            ranges: tested.iter().enumerate().map(range).collect(),
        }
    }

    /// The selection of one attribute by another that is half a record away, so that in
    /// a record of NSM and the next they are 32 bytes apart or more: no line of the
    /// paper's caches has both.
    pub fn apart(share: f64) -> Selection {
        Selection::new(&[4], &[0], share)
    }

    /// Its predicate.
    pub fn predicate(&self) -> Predicate {
        let compare = |column, op, value: i64| Predicate::Compare {
            column,
            op,
            value: Value::Int(value.into()),
        };
        let ranges = self.ranges.iter();
        let terms = ranges.flat_map(|(attribute, low, high)| {
            [
                compare(*attribute, CompareOp::Gt, *low),
                compare(*attribute, CompareOp::Lt, *high),
            ]
        });
        Predicate::And(terms.collect())
    }

    /// Asks a table, with one thread.
    pub fn ask(&self, table: &Table) -> Result<Answer> {
        let scan = table.scan(&ScanRequest {
            projection: self.projected.clone(),
            predicate: Some(self.predicate()),
            ..ScanRequest::default()
        })?;
        let mut answer = Answer {
            rows: 0,
            sums: vec![0; self.projected.len()],
        };
        for batch in scan.worker() {
            let batch = batch?;
            answer.rows += batch.num_rows() as u64;
            for (sum, column) in answer.sums.iter_mut().zip(batch.columns()) {
                let values = column.as_primitive::<Int64Type>().values();
                *sum += values.iter().sum::<i64>();
            }
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::relation::Relation;
    use super::*;
    use freestone_storage::Store;

    #[test]
    fn all_layouts_give_what_the_rows_say() {
        let relation = Relation::new(20_000, 8, 3);
        let store = Store::in_memory();
        let tables = relation.tables(&store).unwrap();
        let selection = Selection::new(&[0, 3], &[7, 1], 0.3);
        let value = |attribute: usize, row: usize| relation.attributes[attribute][row];
        let passing: Vec<usize> = (0..relation.rows())
            .filter(|row| {
                let mut ranges = selection.ranges.iter();
                ranges.all(|(a, low, high)| (low + 1..*high).contains(&value(*a, *row)))
            })
            .collect();
        let expected = Answer {
            rows: passing.len() as u64,
            sums: [0, 3]
                .map(|a| passing.iter().map(|row| value(a, *row)).sum())
                .to_vec(),
        };
        assert!(expected.rows.abs_diff(6_000) < 300, "{}", expected.rows);
        for (model, table) in tables {
            assert_eq!(selection.ask(&table).unwrap(), expected, "{model}");
        }
    }
}
