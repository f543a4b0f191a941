//! DSM as the paper has it: a relation of surrogate and value for each attribute.
//!
//! Freestone's `dsm` knows a row by its position; in the paper each attribute is a
//! relation of its own, on slotted pages, with a B-tree on the surrogate. A selection
//! scans the relations of the predicate, keeps the surrogates that qualify, and looks
//! up the projected values of each by the tree (P, section 4.3).

use super::relation::{PAGE_BYTES, Relation, batch, schema};
use super::selection::{Answer, Selection};
use super::table::{Model, load};
use crate::error::Result;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use freestone_storage::{
    CompareOp, Key, KeyLookUp, Predicate, ReadView, ScanRequest, Store, Table, Value,
};
use std::sync::Arc;

/// R in relations of one attribute.
#[derive(Debug)]
pub(super) struct Surrogates {
    relations: Vec<(Arc<Table>, KeyLookUp)>,
    view: ReadView,
    _store: Arc<Store>,
}

impl Surrogates {
    /// Takes R apart.
    pub fn new(relation: &Relation) -> Result<Surrogates> {
        let store = Store::in_memory();
        let ids: Vec<i64> = (0..relation.rows() as i64).collect();
        let mut relations = Vec::with_capacity(relation.degree());
        for (number, attribute) in relation.attributes.iter().enumerate() {
            let mut pair = schema(["surrogate".to_string(), "value".to_string()].into_iter());
            pair.keys.push(Key {
                name: "surrogates".into(),
                columns: vec![0],
                primary: true,
            });
            let rows = batch(&pair, &[ids.clone(), attribute.clone()])?;
            let options = Model::Nsm.options(PAGE_BYTES);
            let table = load(&store, &format!("a{number}"), &pair, &options, &rows)?;
            let look_up = KeyLookUp::prepare(&table.schema, &[0], &[1])?;
            relations.push((table, look_up));
        }
        Ok(Surrogates {
            relations,
            view: ReadView::at(store.snapshot().timestamp()),
            _store: store,
        })
    }

    /// Asks as [`Selection::ask`] does.
    pub fn ask(&self, selection: &Selection) -> Result<Answer> {
        let mut qualifying: Option<Vec<i64>> = None;
        for range in &selection.ranges {
            let found = self.scan(*range)?;
            qualifying = Some(match qualifying {
                None => found,
                Some(before) => in_both(&before, &found),
            });
        }
        let qualifying = qualifying.unwrap_or_default();
        let sum = |attribute: &usize| -> Result<i64> {
            let (table, look_up) = &self.relations[*attribute];
            let mut sum = 0;
            for surrogate in &qualifying {
                let key = [Value::Int((*surrogate).into())];
                for (_, row) in table.find(&self.view, look_up, &key)? {
                    if let Some(Some(Value::Int(value))) = row.first() {
                        sum += *value as i64;
                    }
                }
            }
            Ok(sum)
        };
        Ok(Answer {
            rows: qualifying.len() as u64,
            sums: selection.projected.iter().map(sum).collect::<Result<_>>()?,
        })
    }

    /// The surrogates, ascending, of values in a range whose bounds are excluded.
    fn scan(&self, (attribute, low, high): (usize, i64, i64)) -> Result<Vec<i64>> {
        let compare = |op, value: i64| Predicate::Compare {
            column: 1,
            op,
            value: Value::Int(value.into()),
        };
        let terms = vec![compare(CompareOp::Gt, low), compare(CompareOp::Lt, high)];
        let scan = self.relations[attribute].0.scan(&ScanRequest {
            projection: vec![0],
            predicate: Some(Predicate::And(terms)),
            ..ScanRequest::default()
        })?;
        let mut surrogates = Vec::new();
        for batch in scan.worker() {
            let batch = batch?;
            surrogates.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
        }
        Ok(surrogates)
    }
}

/// What two ascending lists have in common.
fn in_both(one: &[i64], other: &[i64]) -> Vec<i64> {
    let mut other = other.iter().copied().peekable();
    let mut both = Vec::with_capacity(one.len());
    for value in one {
        while other.next_if(|next| next < value).is_some() {}
        if other.peek() == Some(value) {
            both.push(*value);
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_are_joined() {
        assert_eq!(in_both(&[1, 3, 5, 9], &[0, 3, 4, 9, 10]), [3, 9]);
        let relation = Relation::new(3_000, 4, 9);
        let apart = Surrogates::new(&relation).unwrap();
        let whole = relation.tables(&Store::in_memory()).unwrap();
        let selection = Selection::new(&[0, 2], &[3, 1], 0.5);
        let expected = selection.ask(&whole[0].1).unwrap();
        assert!(expected.rows > 1_000);
        assert_eq!(apart.ask(&selection).unwrap(), expected);
    }
}
