//! Predicates over one table: what a scan can decide without SQL.
//!
//! A [`Predicate`] is bound to a table's columns once per scan
//! ([`BoundPredicate::bind`]): NOT is pushed down to the leaves, and constants
//! outside a column's range become "never" or "when not null". What remains has
//! only AND, OR and leaves, so that "not TRUE" (FALSE or NULL) can be one bit.
//!
//! The bound form answers two questions: [`BoundPredicate::prune`], from zone
//! maps alone, and [`BoundPredicate::evaluate`], on arrays.

mod bind;
mod conditions;
mod constants;
mod evaluate;
mod pattern;
mod prune;

pub use bind::{BoundPredicate, Leaf};
pub use conditions::{Conditions, combined};
pub use evaluate::{evaluate_leaf, value_at};
pub use prune::{Bounds, Prune, Zone};

use crate::schema::Value;
use std::fmt;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
}

impl CompareOp {
    /// The operator that is true where this one is false.
    pub fn negated(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::NotEq,
            CompareOp::NotEq => CompareOp::Eq,
            CompareOp::Lt => CompareOp::GtEq,
            CompareOp::LtEq => CompareOp::Gt,
            CompareOp::Gt => CompareOp::LtEq,
            CompareOp::GtEq => CompareOp::Lt,
        }
    }
}

/// A condition on the columns of one table; a row passes only when it is TRUE.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// `column op value`
    Compare {
        /// Position of the column in the table.
        column: usize,
        /// Operator.
        op: CompareOp,
        /// Constant.
        value: Value,
    },
    /// `column [NOT] IN (values)`
    In {
        /// Position of the column in the table.
        column: usize,
        /// Constants, none of them NULL.
        values: Vec<Value>,
        /// NOT IN.
        negated: bool,
    },
    /// `column IS NULL`
    IsNull(usize),
    /// `column IS NOT NULL`
    IsNotNull(usize),
    /// `column LIKE 'prefix%'`
    Prefix {
        /// Position of the column in the table.
        column: usize,
        /// What the text must begin with.
        prefix: String,
    },
    /// `column LIKE pattern` for any other pattern; `%` and `_` as in SQL, `\\` escapes.
    Like {
        /// Position of the column in the table.
        column: usize,
        /// The pattern.
        pattern: String,
        /// ILIKE: case does not matter.
        insensitive: bool,
    },
    /// All of them.
    And(Vec<Predicate>),
    /// At least one of them.
    Or(Vec<Predicate>),
    /// The opposite; NULL stays NULL.
    Not(Box<Predicate>),
}

impl Predicate {
    /// That the values of a column equal this one: both zeros of a float are one value,
    /// though a comparison takes -0 for less than 0.
    pub fn equal(column: usize, value: &Value) -> Predicate {
        match value {
            Value::Float(0.0) => Predicate::In {
                column,
                values: vec![Value::Float(-0.0), Value::Float(0.0)],
                negated: false,
            },
            value => Predicate::Compare {
                column,
                op: CompareOp::Eq,
                value: value.clone(),
            },
        }
    }

    /// Adds the columns that the predicate reads to `columns`, each once.
    pub fn columns(&self, columns: &mut Vec<usize>) {
        match self {
            Predicate::Compare { column, .. }
            | Predicate::In { column, .. }
            | Predicate::Prefix { column, .. }
            | Predicate::Like { column, .. }
            | Predicate::IsNull(column)
            | Predicate::IsNotNull(column) => {
                if !columns.contains(column) {
                    columns.push(*column);
                }
            }
            Predicate::And(terms) | Predicate::Or(terms) => {
                terms.iter().for_each(|term| term.columns(columns));
            }
            Predicate::Not(term) => term.columns(columns),
        }
    }
}

impl fmt::Display for CompareOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CompareOp::Eq => "=",
            CompareOp::NotEq => "<>",
            CompareOp::Lt => "<",
            CompareOp::LtEq => "<=",
            CompareOp::Gt => ">",
            CompareOp::GtEq => ">=",
        })
    }
}

#[cfg(test)]
mod tests;
