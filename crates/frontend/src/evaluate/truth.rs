//! AND, OR and NOT over whole columns, by three-valued logic.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, UInt32Array};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};

use super::{Input, evaluate, evaluate_rows};
use crate::error::{Error, Result};
use crate::functions::kernel::Column;
use crate::plan::{Expr, ExprKind};
use crate::types::Type;

/// Truth values of rows, as two sets: those that are TRUE and those that are FALSE.
pub(super) struct Truth {
    pub(super) yes: BooleanBuffer,
    pub(super) no: BooleanBuffer,
}

impl Truth {
    /// The truth values of a column, for each of some rows.
    pub(super) fn of(column: &Column, rows: usize) -> Result<Truth> {
        if column.constant {
            let value = single(column)?;
            let all = |wanted| match value == Some(wanted) {
                true => BooleanBuffer::new_set(rows),
                false => BooleanBuffer::new_unset(rows),
            };
            return Ok(Truth {
                yes: all(true),
                no: all(false),
            });
        }
        let array = booleans(column)?;
        let values = array.values();
        Ok(match array.nulls() {
            Some(nulls) => Truth {
                yes: values & nulls.inner(),
                no: &!values & nulls.inner(),
            },
            None => Truth {
                yes: values.clone(),
                no: !values,
            },
        })
    }

    /// The conjunction or the disjunction with another.
    pub(super) fn join(&self, other: &Truth, and: bool) -> Truth {
        match and {
            true => Truth {
                yes: &self.yes & &other.yes,
                no: &self.no | &other.no,
            },
            false => Truth {
                yes: &self.yes | &other.yes,
                no: &self.no & &other.no,
            },
        }
    }

    /// The rows that further parts may still change.
    pub(super) fn open(&self, and: bool) -> BooleanBuffer {
        if and { !&self.no } else { !&self.yes }
    }

    /// The same of more rows: these are at the places that are set, others are NULL.
    fn spread(&self, at: &BooleanBuffer) -> Truth {
        let spread = |set: &BooleanBuffer| {
            let mut all = BooleanBufferBuilder::new(at.len());
            all.append_n(at.len(), false);
            for (from, to) in at.set_indices().enumerate() {
                if set.value(from) {
                    all.set_bit(to, true);
                }
            }
            all.finish()
        };
        Truth {
            yes: spread(&self.yes),
            no: spread(&self.no),
        }
    }

    pub(super) fn column(self) -> Column {
        let known = NullBuffer::new(&self.yes | &self.no);
        let nulls = Some(known).filter(|known| known.null_count() > 0);
        Column::rows(Arc::new(BooleanArray::new(self.yes, nulls)))
    }
}

fn booleans(column: &Column) -> Result<&BooleanArray> {
    let array = column.array.as_boolean_opt();
    array.ok_or_else(|| Error::internal("a condition is not of type boolean"))
}

/// The truth value of a constant.
pub(super) fn single(column: &Column) -> Result<Option<bool>> {
    let array = booleans(column)?;
    match array.is_empty() {
        true => Err(Error::internal("a constant without a value")),
        false => Ok((!array.is_null(0)).then(|| array.value(0))),
    }
}

/// A constant truth value.
pub(super) fn constant(value: Option<bool>) -> Column {
    Column::constant(Arc::new(BooleanArray::from(vec![value])))
}

/// The places that are set.
pub(super) fn places(set: &BooleanBuffer) -> UInt32Array {
    set.set_indices().map(|at| at as u32).collect()
}

/// Of some truth values, as parts come one after the other.
pub(super) struct Connective {
    and: bool,
    rows: usize,
    /// Of the parts that are constant.
    constant: Option<bool>,
    /// Of the others.
    varied: Option<Truth>,
}

/// The rows for which a next part is needed.
pub(super) enum Needed {
    None,
    All,
    Some(BooleanBuffer),
}

impl Connective {
    pub(super) fn new(and: bool, rows: usize) -> Self {
        Self {
            and,
            rows,
            constant: Some(and),
            varied: None,
        }
    }

    pub(super) fn needed(&self) -> Needed {
        if self.constant == Some(!self.and) {
            return Needed::None;
        }
        let Some(varied) = &self.varied else {
            return Needed::All;
        };
        let open = varied.open(self.and);
        match open.count_set_bits() {
            0 => Needed::None,
            all if all == self.rows => Needed::All,
            _ => Needed::Some(open),
        }
    }

    /// Adds a part that is computed for the rows that are set, or for all.
    pub(super) fn add(&mut self, part: &Column, of: Option<&BooleanBuffer>) -> Result<()> {
        if part.constant {
            let value = single(part)?;
            // A value of the open rows only may count for all: the others are decided.
            self.constant = match (self.constant, value) {
                (a, b) if a == Some(!self.and) || b == Some(!self.and) => Some(!self.and),
                (Some(_), b) => b,
                (None, _) => None,
            };
            return Ok(());
        }
        let rows = of.map_or(self.rows, BooleanBuffer::count_set_bits);
        let mut part = Truth::of(part, rows)?;
        if let Some(of) = of {
            part = part.spread(of);
        }
        self.varied = Some(match &self.varied {
            Some(before) => before.join(&part, self.and),
            None => part,
        });
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Column> {
        match self.varied {
            Some(varied) if self.constant != Some(!self.and) => {
                let fixed = Truth::of(&constant(self.constant), self.rows)?;
                Ok(varied.join(&fixed, self.and).column())
            }
            _ => Ok(constant(self.constant)),
        }
    }
}

#[inline(never)]
pub(super) fn connective(parts: &[Expr], and: bool, input: &Input<'_>) -> Result<Column> {
    let mut result = Connective::new(and, input.rows);
    for part in parts {
        next(&mut result, part, input)?;
    }
    result.finish()
}

fn next(result: &mut Connective, part: &Expr, input: &Input<'_>) -> Result<()> {
    match result.needed() {
        Needed::None => Ok(()),
        Needed::Some(open) if !cannot_fail(part, 4) => {
            let value = evaluate_rows(part, &places(&open), input)?;
            result.add(&value, Some(&open))
        }
        _ => result.add(&evaluate(part, input)?, None),
    }
}

/// Whether an expression raises no error and is cheap, so that it may be computed for rows
/// that need it not. It looks at a few levels only.
fn cannot_fail(expr: &Expr, levels: u32) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Column(_) => true,
        ExprKind::And(parts) | ExprKind::Or(parts) => {
            parts.iter().all(|part| cannot_fail(part, below))
        }
        ExprKind::Not(inner) | ExprKind::IsNull(inner) => cannot_fail(inner, below),
        ExprKind::Call {
            function,
            arguments,
        } => {
            let comparison = matches!(function.name, "=" | "<>" | "<" | "<=" | ">" | ">=");
            match arguments.as_slice() {
                [a, b] if comparison => {
                    is_plain(&a.ty)
                        && a.ty.base() == b.ty.base()
                        && cannot_fail(a, below)
                        && cannot_fail(b, below)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether comparisons of values of a type raise no errors.
fn is_plain(ty: &Type) -> bool {
    !matches!(
        ty,
        Type::Record(_) | Type::Array(_) | Type::Json | Type::Jsonb | Type::JsonPath
    )
}

#[inline(never)]
pub(super) fn not(inner: &Expr, input: &Input<'_>) -> Result<Column> {
    let mut column = evaluate(inner, input)?;
    let array = booleans(&column)?;
    column.array = Arc::new(BooleanArray::new(!array.values(), array.nulls().cloned()));
    Ok(column)
}
