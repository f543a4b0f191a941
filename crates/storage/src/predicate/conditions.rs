//! The conditions of a conjunction on each column, in the form that indexes can use.

use super::{BoundPredicate, CompareOp, Leaf};
use crate::schema::Value;
use std::ops::Bound;

/// Most combinations of values that an index is asked for.
const TUPLES_MAX: usize = 256;

/// The leaves that every row has to meet, by column.
#[derive(Debug, Default)]
pub struct Conditions<'a> {
    leaves: Vec<(usize, &'a Leaf)>,
    /// Whether there is nothing else to be met.
    complete: bool,
}

impl<'a> Conditions<'a> {
    /// Of a whole predicate.
    pub fn of(predicate: &'a BoundPredicate) -> Conditions<'a> {
        let mut conditions = Conditions {
            leaves: Vec::new(),
            complete: true,
        };
        conditions.add(predicate);
        conditions
    }

    fn add(&mut self, predicate: &'a BoundPredicate) {
        match predicate {
            BoundPredicate::Leaf(column, leaf) => self.leaves.push((*column, leaf)),
            BoundPredicate::And(terms) => terms.iter().for_each(|term| self.add(term)),
            BoundPredicate::Or(_) => self.complete = false,
        }
    }

    /// The conditions on one column.
    pub fn on(&self, column: usize) -> impl Iterator<Item = &'a Leaf> + '_ {
        self.leaves
            .iter()
            .filter(move |(known, _)| *known == column)
            .map(|(_, leaf)| *leaf)
    }

    /// Whether meeting the conditions is meeting the predicate.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.leaves.len()
    }

    /// Whether rows that meet everything on `columns` meet the whole predicate.
    pub fn only_on(&self, columns: &[usize]) -> bool {
        self.complete
            && self
                .leaves
                .iter()
                .all(|(column, _)| columns.contains(column))
    }

    /// The first column that must equal a whole number, and the number.
    pub fn whole_number(&self) -> Option<(usize, i128)> {
        self.leaves.iter().find_map(|(column, leaf)| match leaf {
            Leaf::Compare {
                op: CompareOp::Eq,
                value: Value::Int(value),
                ..
            } => Some((*column, *value)),
            _ => None,
        })
    }

    /// The values that a column must have one of.
    pub fn equal(&self, column: usize) -> Option<&'a [Value]> {
        self.on(column).find_map(|leaf| match leaf {
            Leaf::Compare {
                op: CompareOp::Eq,
                value,
                ..
            } => Some(std::slice::from_ref(value)),
            Leaf::In {
                values,
                negated: false,
                ..
            } => Some(values.as_slice()),
            _ => None,
        })
    }

    /// The bounds of a column, if it has any; `sure` as long as they say it all.
    pub fn range(&self, column: usize, sure: &mut bool) -> Option<(Bound<Value>, Bound<Value>)> {
        let (mut low, mut high) = (Bound::Unbounded, Bound::Unbounded);
        for leaf in self.on(column) {
            match leaf {
                Leaf::Compare { op, value, .. } => match op {
                    CompareOp::Gt => raise(&mut low, Bound::Excluded(value.clone())),
                    CompareOp::GtEq => raise(&mut low, Bound::Included(value.clone())),
                    CompareOp::Lt => lower(&mut high, Bound::Excluded(value.clone())),
                    CompareOp::LtEq => lower(&mut high, Bound::Included(value.clone())),
                    CompareOp::Eq => {
                        raise(&mut low, Bound::Included(value.clone()));
                        lower(&mut high, Bound::Included(value.clone()));
                    }
                    CompareOp::NotEq => *sure = false,
                },
                Leaf::Prefix {
                    prefix,
                    negated: false,
                } => {
                    raise(
                        &mut low,
                        Bound::Included(Value::Bytes(prefix.clone().into_bytes())),
                    );
                    match successor(prefix.as_bytes()) {
                        Some(next) => lower(&mut high, Bound::Excluded(Value::Bytes(next))),
                        None => *sure = false,
                    }
                }
                _ => *sure = false,
            }
        }
        let unbounded = matches!((&low, &high), (Bound::Unbounded, Bound::Unbounded));
        (!unbounded).then_some((low, high))
    }

    /// How many combinations of values there are, if all of `columns` must equal some and an index
    /// may be asked for as many.
    pub fn combinations(&self, columns: &[usize]) -> Option<usize> {
        let mut all = 1_usize;
        for column in columns {
            all = all.checked_mul(self.equal(*column)?.len())?;
        }
        (all <= TUPLES_MAX).then_some(all)
    }

    /// Every combination of values, if all of `columns` must equal some.
    pub fn all_equal(&self, columns: &[usize]) -> Option<Vec<Vec<Value>>> {
        let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
        for column in columns {
            tuples = combined(&tuples, self.equal(*column)?)?;
        }
        Some(tuples)
    }

    /// Whether rows that have one of these combinations in `columns` meet the whole predicate.
    pub fn are_equalities_of(&self, columns: &[usize]) -> bool {
        // One condition on each column: several may exclude each other.
        self.complete
            && self.leaves.len() == columns.len()
            && columns.iter().all(|column| self.equal(*column).is_some())
    }
}

/// Every value behind every tuple; `None` if that is too many.
pub fn combined(tuples: &[Vec<Value>], values: &[Value]) -> Option<Vec<Vec<Value>>> {
    if tuples.len() * values.len() > TUPLES_MAX {
        return None;
    }
    let extended = |tuple: &Vec<Value>| {
        let tuple = tuple.clone();
        values
            .iter()
            .map(move |value| {
                tuple
                    .iter()
                    .chain(std::iter::once(value))
                    .cloned()
                    .collect()
            })
            .collect::<Vec<_>>()
    };
    Some(tuples.iter().flat_map(extended).collect())
}

/// Raises a lower bound to `new`, if that is higher.
fn raise(bound: &mut Bound<Value>, new: Bound<Value>) {
    if tighter(bound, &new, std::cmp::Ordering::Less) {
        *bound = new;
    }
}

/// Lowers an upper bound to `new`, if that is lower.
fn lower(bound: &mut Bound<Value>, new: Bound<Value>) {
    if tighter(bound, &new, std::cmp::Ordering::Greater) {
        *bound = new;
    }
}

fn tighter(old: &Bound<Value>, new: &Bound<Value>, wanted: std::cmp::Ordering) -> bool {
    match (old, new) {
        (Bound::Unbounded, _) => true,
        (
            Bound::Included(old_value) | Bound::Excluded(old_value),
            Bound::Included(new_value) | Bound::Excluded(new_value),
        ) => {
            let order = old_value.total_order(new_value);
            order == wanted || (order.is_eq() && matches!(new, Bound::Excluded(_)))
        }
        _ => false,
    }
}

/// The least text above everything that begins with `prefix`; none for 0xFF…
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}
