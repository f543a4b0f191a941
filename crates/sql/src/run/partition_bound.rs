//! Bounds of partitions as they are written: values of the key's types, which are kept as texts.

use std::ops::ControlFlow;

use arrow::array::Array;
use freestone_frontend::syntax::walk::visit_expressions;
use freestone_storage::{BoundValue, Column, PartitionBound, PartitionStrategy};
use sqlparser::ast::{Expr, ForValues, PartitionBoundValue};

use super::Run;
use super::partition::wrong;
use crate::error::{Error, Result};
use crate::front;
use crate::front::has_query;
use crate::routing::Key;
use crate::types::{column_type_of_type, declared_of_type};
use crate::values::{assign, convert, show};

impl Run<'_> {
    /// A bound as it is written.
    pub(super) fn bound(&self, key: &Key, written: &ForValues) -> Result<PartitionBound> {
        let strategy = key.strategy;
        let kind = |name: &str| {
            Err(invalid(format!(
                "invalid bound specification for a {name} partition"
            )))
        };
        match (written, strategy) {
            (ForValues::Default, PartitionStrategy::Hash) => {
                let message = "a hash-partitioned table may not have a default partition";
                Err(invalid(message))
            }
            (ForValues::Default, _) => Ok(PartitionBound::Default),
            (ForValues::With { modulus, remainder }, PartitionStrategy::Hash) => {
                if *modulus == 0 || *modulus > i32::MAX as u64 {
                    let message =
                        "modulus for hash partition must be an integer value greater than zero";
                    return Err(invalid(message));
                }
                if remainder >= modulus {
                    let message = "remainder for hash partition must be less than modulus";
                    return Err(invalid(message));
                }
                Ok(PartitionBound::Hash {
                    modulus: *modulus,
                    remainder: *remainder,
                })
            }
            (ForValues::In(values), PartitionStrategy::List) => {
                let mut list: Vec<Option<String>> = Vec::with_capacity(values.len());
                for value in values {
                    let value = self.bound_value(key, 0, value)?;
                    if !list.contains(&value) {
                        list.push(value);
                    }
                }
                Ok(PartitionBound::List(list))
            }
            (ForValues::From { from, to }, PartitionStrategy::Range) => {
                for (which, ends) in [("FROM", from), ("TO", to)] {
                    if ends.len() != key.parts.len() {
                        return Err(invalid(format!(
                            "{which} must specify exactly one value per partitioning column"
                        )));
                    }
                }
                Ok(PartitionBound::Range {
                    from: self.range_ends(key, from)?,
                    to: self.range_ends(key, to)?,
                })
            }
            (_, PartitionStrategy::Range) => kind("range"),
            (_, PartitionStrategy::List) => kind("list"),
            (_, PartitionStrategy::Hash) => kind("hash"),
        }
    }

    fn range_ends(&self, key: &Key, written: &[PartitionBoundValue]) -> Result<Vec<BoundValue>> {
        let mut ends = Vec::with_capacity(written.len());
        for (part, end) in written.iter().enumerate() {
            let end = match end {
                PartitionBoundValue::MinValue => BoundValue::Min,
                PartitionBoundValue::MaxValue => BoundValue::Max,
                PartitionBoundValue::Expr(expr) => match self.bound_value(key, part, expr)? {
                    Some(text) => BoundValue::Value(text),
                    None => return Err(wrong("cannot specify NULL in range bound")),
                },
            };
            let before = match ends.last() {
                Some(BoundValue::Min) if end != BoundValue::Min => Some("MINVALUE"),
                Some(BoundValue::Max) if end != BoundValue::Max => Some("MAXVALUE"),
                _ => None,
            };
            if let Some(before) = before {
                let message = format!("every bound following {before} must also be {before}");
                return Err(Error::new("42804", message));
            }
            ends.push(end);
        }
        Ok(ends)
    }

    /// A value of a bound as text.
    fn bound_value(&self, key: &Key, part: usize, expr: &Expr) -> Result<Option<String>> {
        if has_query(expr) {
            return Err(Error::unsupported("cannot use subquery in partition bound"));
        }
        let columns = visit_expressions(expr, |part| match part {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        if columns.is_break() {
            let message = "cannot use column reference in partition bound expression";
            return Err(Error::unsupported(message));
        }
        let part = key
            .parts
            .get(part)
            .ok_or_else(|| Error::internal("a bound of no key"))?;
        let column = Column {
            name: part.text.clone(),
            kind: column_type_of_type(&part.ty)?,
            nullable: true,
            default: None,
            identity: None,
            modifier: declared_of_type(&part.ty),
            declared: front::declared_by(&part.ty),
            generated: false,
            hidden: None,
        };
        let value = self.constant_for(expr, &column)?;
        let value = assign(&value, &column).map_err(|bad| bad.error)?;
        let text = convert::as_text(&convert::loaded(&value, &part.ty)?, &part.ty)?;
        Ok(text.is_valid(0).then(|| show(&text, 0)))
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new("42P16", message)
}
