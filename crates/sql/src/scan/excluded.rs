//! Partitions in which no row meets a condition.
//!
//! A partition's bound says which values its key has there. A scan of a partition whose
//! condition asks for other values reads nothing, so it leaves the plan:
//!
//! ```text
//! day >= '2026-01-01'     FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')     no row
//! ```
//!
//! Only columns as parts of keys say something, of a key of several columns the first. Bounds of
//! hashes and default partitions exclude nothing; blocks of those have zone maps.

use std::cmp::Ordering;

use freestone_storage::row::cell;
use freestone_storage::{
    BoundValue, Catalog, Column, CompareOp, PartitionBound, Predicate, Table, Value,
};

use crate::partition::{ancestors, column_of_part};
use crate::types::type_held;
use crate::values::assign;
use crate::values::convert::from_text;

/// The values that a column has in a table.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    column: usize,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    Range {
        from: Option<Value>,
        to: Option<Value>,
        /// Whether the last value may be there: further columns of the key decide.
        closed: bool,
    },
    List {
        values: Vec<Value>,
        null: bool,
    },
}

/// The conditions on a partition's columns that its bounds and those of its parents make.
pub(crate) fn held(catalog: &Catalog, table: &Table) -> Vec<Held> {
    let mut all = Vec::new();
    let mut of = table.schema.partition.as_ref();
    for (_, parent) in ancestors(catalog, table) {
        if let (Some(bound), Some(key)) = (of, &parent.schema.partitioned)
            && let Some(column) = key
                .parts
                .first()
                .and_then(|part| column_of_part(&table.schema, part))
            && let Some(values) = values_of(&table.schema.columns[column], &bound.bound)
        {
            all.push(Held { column, values });
        }
        of = parent.schema.partition.as_ref();
    }
    all
}

fn values_of(column: &Column, bound: &PartitionBound) -> Option<Values> {
    if !column.is_plain() || !column.kind.has_order() {
        return None;
    }
    let value = |text: &str| {
        let read = from_text(&text_of(text), &type_held(column)).ok()?;
        cell(&assign(&read, column).ok()?, 0)
    };
    let end = |ends: &[BoundValue]| match ends.first()? {
        BoundValue::Value(text) => value(text).map(Some),
        BoundValue::Min | BoundValue::Max => Some(None),
    };
    match bound {
        PartitionBound::Range { from, to } => Some(Values::Range {
            from: end(from)?,
            to: end(to)?,
            closed: to.len() > 1,
        }),
        PartitionBound::List(list) => {
            let values = list.iter().flatten();
            Some(Values::List {
                values: values.map(|text| value(text)).collect::<Option<_>>()?,
                null: list.iter().any(Option::is_none),
            })
        }
        PartitionBound::Hash { .. } | PartitionBound::Default => None,
    }
}

fn text_of(text: &str) -> arrow::array::ArrayRef {
    use arrow::array::StringViewArray;
    std::sync::Arc::new(StringViewArray::from_iter_values([text]))
}

impl Held {
    /// Whether no row of the table meets a condition.
    pub(super) fn excludes(&self, predicate: &Predicate) -> bool {
        match predicate {
            Predicate::And(terms) => terms.iter().any(|term| self.excludes(term)),
            Predicate::Or(terms) => terms.iter().all(|term| self.excludes(term)),
            Predicate::Compare { column, op, value } if *column == self.column => {
                self.values.exclude(*op, value)
            }
            Predicate::In {
                column,
                values,
                negated: false,
            } if *column == self.column => {
                let mut values = values.iter();
                values.all(|value| self.values.exclude(CompareOp::Eq, value))
            }
            Predicate::IsNull(column) if *column == self.column => match &self.values {
                Values::Range { .. } => true,
                Values::List { null, .. } => !null,
            },
            Predicate::IsNotNull(column) if *column == self.column => {
                matches!(&self.values, Values::List { values, .. } if values.is_empty())
            }
            _ => false,
        }
    }
}

impl Values {
    fn exclude(&self, op: CompareOp, value: &Value) -> bool {
        match self {
            Values::Range { from, to, closed } => {
                let first = from.as_ref().and_then(|from| from.compare(value));
                let last = to.as_ref().and_then(|to| to.compare(value));
                let above = first == Some(Ordering::Greater);
                let below = match last {
                    Some(Ordering::Less) => true,
                    Some(Ordering::Equal) => !closed,
                    _ => false,
                };
                match op {
                    CompareOp::Eq => above || below,
                    CompareOp::Lt => above || first == Some(Ordering::Equal),
                    CompareOp::LtEq => above,
                    CompareOp::Gt => below || last == Some(Ordering::Equal),
                    CompareOp::GtEq => below,
                    CompareOp::NotEq => false,
                }
            }
            Values::List { values, .. } => values.iter().all(|held| {
                let Some(order) = held.compare(value) else {
                    return false;
                };
                !match op {
                    CompareOp::Eq => order.is_eq(),
                    CompareOp::NotEq => order.is_ne(),
                    CompareOp::Lt => order.is_lt(),
                    CompareOp::LtEq => order.is_le(),
                    CompareOp::Gt => order.is_gt(),
                    CompareOp::GtEq => order.is_ge(),
                }
            }),
        }
    }
}
