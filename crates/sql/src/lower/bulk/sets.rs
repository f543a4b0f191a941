//! Groups by several sets of keys: GROUPING SETS, ROLLUP and CUBE.
//!
//! Rows are grouped by all keys once. The groups of a set are groups of the smallest set around
//! it, whose counts and sums are added up.
//!
//! ```text
//! ROLLUP (a, b)      union
//!                      a, b         groups of the rows
//!                      a, NULL      groups of the groups by a, b
//!                      NULL, NULL   one group of the groups by a
//! ```
//!
//! If no set has all keys, and groups by all of them are hardly fewer than the rows, each set is
//! grouped by itself.
//!
//! Averages of floats and calls of distinct values are left out: their results do not add up.

use std::sync::Arc;

use arrow::datatypes::DataType;
use freestone_exec::expression::{Constant, Expression};
use freestone_exec::vector::Kind;
use freestone_exec::{Aggregate, Grouping, Lead, Node, Plan as Own};
use freestone_frontend::plan::Column;

use super::aggregate::{Asked, Below, Key, grouping, groups, or_none, types};
use super::{Bulk, Part, field};
use crate::engine::{Converted, Found, Scope, Simple, added_up, grouped, projected, united};

/// Sets of keys, as places of keys, and the columns that tell which keys a row lacks.
#[derive(Clone, Copy)]
pub(super) struct Sets<'a> {
    pub(super) sets: &'a [Vec<usize>],
    pub(super) grouping: &'a [(Column, Vec<usize>)],
}

/// Rows that others are grouped from: the groups of a set, or those that are grouped first.
struct Made {
    rows: Arc<Own>,
    distinct: Vec<f64>,
}

impl Made {
    fn new(rows: Converted) -> Self {
        Self {
            rows: Arc::new(rows.plan),
            distinct: rows.distinct,
        }
    }

    /// The rows for one of their readers.
    fn read(&self) -> Converted {
        let (types, rows) = (self.rows.types.clone(), self.rows.estimate);
        Converted {
            plan: Own::new(Node::Shared(Arc::clone(&self.rows)), types, rows),
            distinct: self.distinct.clone(),
            sampled: None,
        }
    }
}

/// The share of rows that groups by all keys are at most, if no set asks for these.
const FEWER: f64 = 0.25;

impl Bulk<'_> {
    /// The groups of each set.
    pub(super) fn of_sets(
        &self,
        below: Below,
        keys: Vec<Key>,
        asked: Vec<Asked>,
        Sets {
            sets,
            grouping: marks,
        }: Sets<'_>,
    ) -> Option<Part> {
        let adds_up = |asked: &Asked| !asked.distinct && asked.function != Simple::Average;
        let known = |key: &Key| Kind::of(&key.kind) != Kind::Other;
        if !asked.iter().all(adds_up) || !keys.iter().all(known) {
            return None;
        }
        let scope = Scope::over(match &below {
            Below::Cluster(_, found) => found,
            Below::Part(part) => &part.found,
        });
        let first = grouping(&scope, &keys, &asked)?;
        let marks: Vec<_> = marks
            .iter()
            .filter(|(column, _)| self.lowering.is_used(column.id))
            .collect();
        let mut kinds = types(&first);
        kinds.extend(marks.iter().map(|_| DataType::Int32));
        let sides = match ungrouped(&below, &first, sets) {
            Some(rows) => {
                let each = sets.iter().map(|set| grouped_by(&rows, &first, set));
                sets.iter()
                    .zip(each)
                    .map(|(set, rows)| (set.clone(), rows))
                    .collect()
            }
            None => of_groups(groups(below, first.clone())?, &first, sets),
        };
        let sides = sides
            .into_iter()
            .map(|(set, rows): (Vec<usize>, Converted)| {
                let at = |key: usize| set.iter().position(|of| *of == key);
                let of_keys = keys
                    .iter()
                    .enumerate()
                    .map(|(number, key)| match at(number) {
                        Some(place) => Expression::Column(place),
                        None => Expression::Null(key.kind.clone()),
                    });
                let of_calls = asked.iter().enumerate().map(|(number, asked)| {
                    let value = Expression::Column(set.len() + number);
                    match set.is_empty() && asked.is_added_up() {
                        true => or_none(value),
                        false => value,
                    }
                });
                let of_marks = marks.iter().map(|(_, of)| {
                    let bits = of
                        .iter()
                        .fold(0, |bits, key| bits << 1 | i64::from(at(*key).is_none()));
                    Expression::Constant(Constant::Int(bits))
                });
                let values = of_keys.chain(of_calls).chain(of_marks).collect();
                projected(rows, values, kinds.clone())
            });
        let rows = united(sides.collect(), kinds.clone());
        let mut found = Found::new();
        let names = keys.iter().map(|key| key.name.clone());
        let names = names.chain(asked.iter().map(|asked| asked.name.clone()));
        let of_marks = marks
            .iter()
            .map(|(column, _)| self.find(column, &DataType::Int32));
        for (at, name) in names.chain(of_marks).enumerate() {
            let field = field(&name, kinds.get(at)?.clone());
            found.insert(name, (at, field));
        }
        Some(Part { rows, found })
    }
}

/// The rows themselves, if groups by all keys are neither asked for nor much fewer.
fn ungrouped(below: &Below, first: &Grouping, sets: &[Vec<usize>]) -> Option<Made> {
    let Below::Part(part) = below else {
        return None;
    };
    let whole = sets.iter().any(|set| set.len() == first.keys.len());
    let groups = first.keys.iter().map(|(key, _)| part.rows.distinct_of(key));
    let groups: f64 = groups.product();
    let fewer = groups < part.rows.plan.estimate * FEWER;
    (!whole && !fewer).then(|| {
        let rows = Converted {
            plan: part.rows.plan.clone(),
            distinct: part.rows.distinct.clone(),
            sampled: None,
        };
        Made::new(rows)
    })
}

/// The groups of rows by a set of keys.
fn grouped_by(rows: &Made, first: &Grouping, set: &[usize]) -> Converted {
    let keys = set.iter().filter_map(|key| first.keys.get(*key).cloned());
    let grouping = Grouping {
        keys: keys.collect(),
        aggregates: first.aggregates.clone(),
        lead: Lead::default(),
    };
    let types = types(&grouping);
    grouped(rows.read(), grouping, types)
}

/// The groups of each set, made of the groups by all keys: its keys, and its rows.
fn of_groups(
    all: Converted,
    first: &Grouping,
    sets: &[Vec<usize>],
) -> Vec<(Vec<usize>, Converted)> {
    let every: Vec<usize> = (0..first.keys.len()).collect();
    let mut order: Vec<Vec<usize>> = sets.to_vec();
    for set in &mut order {
        set.sort_unstable();
        set.dedup();
    }
    // Larger sets come first: those around a set are there before it.
    order.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let around: Vec<Option<usize>> = order
        .iter()
        .enumerate()
        .map(|(number, set)| {
            let holds = |other: &Vec<usize>| set.iter().all(|key| other.contains(key));
            order[..number].iter().rposition(holds)
        })
        .collect();
    let all = Made::new(all);
    let mut made: Vec<Option<Made>> = Vec::with_capacity(order.len());
    let mut sides = Vec::with_capacity(order.len());
    for (number, set) in order.iter().enumerate() {
        let (from, of) = match around[number] {
            Some(place) => (made[place].as_ref().unwrap_or(&all), &order[place]),
            None => (&all, &every),
        };
        if set == of {
            sides.push((set.clone(), from.read()));
            let same = Made {
                rows: Arc::clone(&from.rows),
                distinct: from.distinct.clone(),
            };
            made.push(Some(same));
            continue;
        }
        let place = |key: &usize| of.iter().position(|known| known == key).unwrap_or_default();
        let keys = set.iter().map(|key| {
            let kind = first.keys[*key].1.clone();
            (Expression::Column(place(key)), kind)
        });
        let calls = first.aggregates.iter().enumerate();
        let calls = calls.map(|(number, one)| Aggregate {
            input: one.kind.clone(),
            ..added_up(one, of.len() + number)
        });
        let grouping = Grouping {
            keys: keys.collect(),
            aggregates: calls.collect(),
            lead: Lead::default(),
        };
        let types = types(&grouping);
        let rows = grouped(from.read(), grouping, types);
        match around.contains(&Some(number)) {
            true => {
                let rows = Made::new(rows);
                sides.push((set.clone(), rows.read()));
                made.push(Some(rows));
            }
            false => {
                sides.push((set.clone(), rows));
                made.push(None);
            }
        }
    }
    sides
}
