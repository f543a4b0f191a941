//! Zone maps and what they prove.

use super::CompareOp;
use super::bind::{BoundPredicate, Leaf};
use crate::schema::Value;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Smallest and largest value of a zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// No value is smaller.
    pub min: Value,
    /// No value is larger.
    pub max: Value,
    /// Whether both bounds occur as values; long text is cut.
    pub exact: bool,
}

/// The zone map of one column over some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Rows in the zone.
    pub rows: u32,
    /// How many of them are NULL.
    pub nulls: u32,
    /// Bounds of the others; `None` when unknown (NaN) or when all are NULL.
    pub bounds: Option<Bounds>,
}

impl Zone {
    /// Whether no row has this value; `false` if that is not known.
    pub fn excludes(&self, value: &Value) -> bool {
        self.nulls == self.rows
            || self.bounds.as_ref().is_some_and(|bounds| {
                value.total_order(&bounds.min).is_lt() || value.total_order(&bounds.max).is_gt()
            })
    }
}

/// What zone maps say about a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// Every row satisfies it.
    All,
    /// Some rows may.
    Some,
    /// No row does.
    None,
    /// Nothing is known.
    Unknown,
}

impl BoundPredicate {
    /// Decides from zone maps alone whether rows satisfy the predicate.
    ///
    /// Reads no value: one pair of comparisons per term. [`Prune::None`]
    /// promises that no row matches, [`Prune::All`] that every row does; absent
    /// bounds and NaN give [`Prune::Unknown`].
    ///
    /// # Example
    /// `year` spans 1990..=1999: `year = 2005` gives `None`, `year >= 1990` gives
    /// `All` when the column has no nulls, `year < 1995` gives `Some`.
    pub fn prune<'a>(&self, zone: &impl Fn(usize) -> Option<Cow<'a, Zone>>) -> Prune {
        match self {
            BoundPredicate::Leaf(column, leaf) => {
                zone(*column).map_or(Prune::Unknown, |zone| prune_leaf(leaf, &zone))
            }
            BoundPredicate::And(terms) => {
                let answers = terms.iter().map(|term| term.prune(zone));
                combine(answers, Prune::None, Prune::All)
            }
            BoundPredicate::Or(terms) => {
                let answers = terms.iter().map(|term| term.prune(zone));
                combine(answers, Prune::All, Prune::None)
            }
        }
    }
}

/// `decisive` wins at once; `neutral` holds if all say so; doubt spreads.
fn combine(answers: impl Iterator<Item = Prune>, decisive: Prune, neutral: Prune) -> Prune {
    let mut result = neutral;
    for answer in answers {
        if answer == decisive {
            return decisive;
        }
        if answer == Prune::Unknown || (answer == Prune::Some && result == neutral) {
            result = answer;
        }
    }
    result
}

fn prune_leaf(leaf: &Leaf, zone: &Zone) -> Prune {
    let all_null = zone.nulls == zone.rows;
    match leaf {
        Leaf::Never => Prune::None,
        Leaf::IsNull => quantify(zone.nulls, zone.rows),
        Leaf::IsNotNull => quantify(zone.rows - zone.nulls.min(zone.rows), zone.rows),
        _ if all_null => Prune::None,
        _ => {
            let Some(bounds) = &zone.bounds else {
                return Prune::Unknown;
            };
            let answer = match leaf {
                Leaf::Compare { op, value, .. } => compare(*op, value, bounds),
                Leaf::In {
                    values, negated, ..
                } => among(values, *negated, bounds),
                Leaf::Prefix { prefix, negated } => prefixed(prefix.as_bytes(), *negated, bounds),
                Leaf::Like { .. } | Leaf::Never | Leaf::IsNull | Leaf::IsNotNull => Prune::Unknown,
            };
            // A NULL makes the term NULL, so "all" needs a zone without any.
            if answer == Prune::All && zone.nulls > 0 {
                Prune::Some
            } else {
                answer
            }
        }
    }
}

fn quantify(matching: u32, rows: u32) -> Prune {
    match matching {
        0 => Prune::None,
        n if n == rows => Prune::All,
        _ => Prune::Some,
    }
}

fn decide(all: bool, none: bool) -> Prune {
    match (all, none) {
        (true, _) => Prune::All,
        (_, true) => Prune::None,
        _ => Prune::Some,
    }
}

fn compare(op: CompareOp, value: &Value, bounds: &Bounds) -> Prune {
    let (Some(min), Some(max)) = (bounds.min.compare(value), bounds.max.compare(value)) else {
        return Prune::Unknown;
    };
    // Bounds do not tell the zeros apart, evaluation does.
    let zero = Value::Float(0.0);
    if *value == zero && (min.is_eq() || max.is_eq()) {
        return Prune::Some;
    }
    let (inside, single) = (
        min.is_le() && max.is_ge(),
        min.is_eq() && max.is_eq() && bounds.exact,
    );
    match op {
        CompareOp::Eq => decide(single, !inside),
        CompareOp::NotEq => decide(!inside, single),
        CompareOp::Lt => decide(max.is_lt(), min.is_ge()),
        CompareOp::LtEq => decide(max.is_le(), min.is_gt()),
        CompareOp::Gt => decide(min.is_gt(), max.is_le()),
        CompareOp::GtEq => decide(min.is_ge(), max.is_lt()),
    }
}

/// `values` are sorted and without duplicates.
fn among(values: &[Value], negated: bool, bounds: &Bounds) -> Prune {
    let first = values.partition_point(|value| value.compare(&bounds.min) == Some(Ordering::Less));
    let inside = values
        .get(first)
        .is_some_and(|value| value.compare(&bounds.max).is_some_and(Ordering::is_le));
    let single = bounds.exact && inside && bounds.min == bounds.max;
    match negated {
        false => decide(single, !inside),
        true => decide(!inside, single),
    }
}

fn prefixed(prefix: &[u8], negated: bool, bounds: &Bounds) -> Prune {
    let (Value::Bytes(min), Value::Bytes(max)) = (&bounds.min, &bounds.max) else {
        return Prune::Unknown;
    };
    // Both bounds beginning with the prefix hold everything between them to it.
    let all = min.starts_with(prefix) && max.starts_with(prefix);
    let none = max.as_slice() < prefix || (min.as_slice() > prefix && !min.starts_with(prefix));
    match negated {
        false => decide(all, none),
        true => decide(none, all),
    }
}
