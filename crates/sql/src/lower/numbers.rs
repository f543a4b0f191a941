//! NUMERIC as decimals of one scale.
//!
//! A NUMERIC value has a scale of its own; that of columns `NUMERIC(p, s)` is known, and so is
//! that of what `+ - *` make of them. Such expressions stay Arrow's decimals, whatever digits
//! their SQL type promises: operators read both forms. For comparisons and sums the scale of
//! a value does not matter, so that a literal may be given another (`fixed`).
//!
//! Arrow's products have at most 38 digits. Expressions that could have more are kept native,
//! as long as the digits behind the point fit: values of so many digits are refused with 22003.

use arrow::array::{Array, cast::AsArray};
use arrow::datatypes::{DataType, Decimal128Type};
use freestone_frontend::plan::{Expr as Bound, ExprKind};
use freestone_frontend::types::{DECIMAL_DIGITS, Type};
use freestone_frontend::values::Numeric;

use super::expression::{binary, cast, is_integer, one_of};
use super::{Lowering, Typed};
use crate::error::Result;
use crate::expression::{Expr, Operator, Scalar};

/// Most digits behind the point of products that are kept native.
const SCALE_MOST: u8 = 18;

/// Digits of a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    /// Before the point.
    whole: u8,
    /// Behind it.
    scale: u8,
}

impl Size {
    fn of(kind: &DataType) -> Option<Size> {
        match kind {
            DataType::Decimal128(p, s) => {
                let scale = u8::try_from(*s).ok()?;
                Some(Size {
                    whole: p.checked_sub(scale)?,
                    scale,
                })
            }
            _ => None,
        }
    }

    fn kind(self) -> Option<DataType> {
        let digits = self.whole.checked_add(self.scale)?.max(1);
        (digits <= DECIMAL_DIGITS).then_some(DataType::Decimal128(digits, self.scale as i8))
    }

    fn both(self, other: Size) -> Size {
        Size {
            whole: self.whole.max(other.whole),
            scale: self.scale.max(other.scale),
        }
    }
}

/// Digits that integers of a type may have.
fn integer_digits(ty: &Type) -> Option<u8> {
    Some(match ty {
        Type::Int2 => 5,
        Type::Int4 => 10,
        Type::Int8 => 19,
        _ => return None,
    })
}

/// The decimal with the digits of a literal.
fn literal_decimal(value: &dyn Array) -> Option<(i128, u8)> {
    if value.is_null(0) {
        return None;
    }
    match value.data_type() {
        DataType::Decimal128(_, scale) => {
            let scale = u8::try_from(*scale).ok()?;
            Some((value.as_primitive::<Decimal128Type>().value(0), scale))
        }
        DataType::BinaryView => {
            let number = Numeric::decode(value.as_binary_view().value(0));
            let scale = u8::try_from(number.scale()).ok()?;
            (scale <= DECIMAL_DIGITS).then_some(())?;
            Some((number.to_i128(u32::from(scale))?, scale))
        }
        _ => None,
    }
}

fn digits_of(value: i128) -> u8 {
    let mut digits = 0;
    let mut rest = value.unsigned_abs();
    while rest > 0 {
        rest /= 10;
        digits += 1;
    }
    digits
}

/// A literal of just its digits.
fn literal_of(value: i128, scale: u8) -> Option<Typed> {
    let whole = digits_of(value).saturating_sub(scale);
    let kind = Size { whole, scale }.kind()?;
    let DataType::Decimal128(precision, scale) = kind else {
        return None;
    };
    let value = Scalar::decimal(value, precision, scale).ok()?;
    Some(Typed::new(Expr::Literal(value), kind))
}

impl Lowering {
    /// A number as a decimal of one scale that has the same value, if it is one.
    pub(super) fn fixed(&self, bound: &Bound) -> Result<Option<Typed>> {
        if let Some(value) = bound.literal() {
            if let Some((value, scale)) = literal_decimal(value.as_ref()) {
                return Ok(literal_of(value, scale));
            }
            return Ok(None);
        }
        if let ExprKind::Case {
            branches,
            otherwise,
        } = &bound.kind
        {
            return self.fixed_case(branches, otherwise.as_deref());
        }
        let Type::Numeric(_) = bound.ty else {
            return Ok(None);
        };
        let typed = match &bound.kind {
            ExprKind::Column(_) | ExprKind::Call { .. } | ExprKind::Parameter(_) => {
                self.expr(bound)?
            }
            _ => return Ok(None),
        };
        Ok(typed.kind.is_decimal().then_some(typed))
    }

    /// Alternatives, all with the most digits that one has.
    fn fixed_case(
        &self,
        branches: &[(Bound, Bound)],
        otherwise: Option<&Bound>,
    ) -> Result<Option<Typed>> {
        let mut values = Vec::with_capacity(branches.len() + 1);
        let mut all: Option<Size> = None;
        for value in branches.iter().map(|(_, value)| value).chain(otherwise) {
            if value.is_literal_null() {
                values.push(None);
                continue;
            }
            let Some(typed) = self.fixed(value)? else {
                return Ok(None);
            };
            let Some(size) = Size::of(&typed.kind) else {
                return Ok(None);
            };
            all = Some(all.map_or(size, |all| all.both(size)));
            values.push(Some(typed));
        }
        let Some(kind) = all.and_then(Size::kind) else {
            return Ok(None);
        };
        let mut values = values.into_iter().map(|value| match value {
            Some(typed) => to_kind(typed, &kind),
            None => Expr::Literal(Scalar::null(&kind)),
        });
        let mut pairs = Vec::with_capacity(branches.len());
        for (when, _) in branches {
            let Some(value) = values.next() else {
                return Ok(None);
            };
            pairs.push((self.condition(when)?, value));
        }
        let last = values.next().map(Box::new);
        Ok(Some(Typed::new(Expr::Case(pairs, last), kind)))
    }

    /// Two numbers as decimals of the same digits.
    pub(super) fn same_decimals(
        &self,
        left: &Bound,
        right: &Bound,
    ) -> Result<Option<(Expr, Expr)>> {
        let (Some(left), Some(right)) = (self.fixed(left)?, self.fixed(right)?) else {
            return Ok(None);
        };
        let sizes = Size::of(&left.kind).zip(Size::of(&right.kind));
        let Some(kind) = sizes.and_then(|(a, b)| a.both(b).kind()) else {
            return Ok(None);
        };
        Ok(Some((to_kind(left, &kind), to_kind(right, &kind))))
    }

    /// Whether a number is one of a list of literals.
    pub(super) fn numbers_in_list(&self, value: &Bound, list: &[Bound]) -> Result<Option<Typed>> {
        if !matches!(value.ty, Type::Numeric(_)) || list.iter().any(|item| item.literal().is_none())
        {
            return Ok(None);
        }
        let Some(value) = self.fixed(value)? else {
            return Ok(None);
        };
        let Some(mut size) = Size::of(&value.kind) else {
            return Ok(None);
        };
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            let Some(item) = self.fixed(item)? else {
                return Ok(None);
            };
            let Some(digits) = Size::of(&item.kind) else {
                return Ok(None);
            };
            size = size.both(digits);
            items.push(item);
        }
        let Some(kind) = size.kind() else {
            return Ok(None);
        };
        let items = items.into_iter().map(|item| to_kind(item, &kind));
        let value = to_kind(value, &kind);
        Ok(one_of(value, items.collect()))
    }

    /// `+ - *` of decimals of one scale each.
    pub(super) fn decimal_arithmetic(
        &self,
        op: Operator,
        left: &Bound,
        right: &Bound,
    ) -> Result<Option<Typed>> {
        let (Some(left), Some(right)) = (self.one_scale(left)?, self.one_scale(right)?) else {
            return Ok(None);
        };
        let Some((a, b)) = Size::of(&left.kind).zip(Size::of(&right.kind)) else {
            return Ok(None);
        };
        // Arrow's own rule.
        let size = match op {
            Operator::Multiply => Size {
                whole: a.whole + b.whole + 1,
                scale: a.scale + b.scale,
            },
            _ => {
                let both = a.both(b);
                Size {
                    whole: both.whole + 1,
                    ..both
                }
            }
        };
        if size.scale > SCALE_MOST && size.kind().is_none() {
            return Ok(None);
        }
        let digits = (size.whole + size.scale).clamp(1, DECIMAL_DIGITS);
        let kind = DataType::Decimal128(digits, size.scale as i8);
        Ok(Some(Typed::new(binary(left.expr, op, right.expr), kind)))
    }

    /// A number as a decimal of the scale that all its values have in SQL, too.
    fn one_scale(&self, bound: &Bound) -> Result<Option<Typed>> {
        match bound.kind {
            ExprKind::Case { .. } => {
                let typed = self.expr(bound)?;
                Ok(typed.kind.is_decimal().then_some(typed))
            }
            _ => self.fixed(bound),
        }
    }

    /// A cast to NUMERIC that changes no value.
    pub(super) fn to_decimal(&self, inner: &Bound, ty: &Type) -> Result<Option<Typed>> {
        let wanted = match ty {
            Type::Numeric(Some(_)) => Size::of(&ty.arrow()),
            _ => None,
        };
        if is_integer(&inner.ty) {
            let Some(digits) = integer_digits(&inner.ty) else {
                return Ok(None);
            };
            if let Some(value) = inner.literal_integer() {
                let literal = match wanted {
                    None => literal_of(i128::from(value), 0),
                    Some(size) => rescaled(i128::from(value), 0, size),
                };
                return Ok(literal);
            }
            let size = wanted.unwrap_or(Size {
                whole: digits,
                scale: 0,
            });
            let Some(kind) = size.kind().filter(|_| size.whole >= digits) else {
                return Ok(None);
            };
            let value = self.expr(inner)?.expr;
            return Ok(Some(Typed::new(cast(value, &kind), kind)));
        }
        if !matches!(inner.ty, Type::Numeric(_)) {
            return Ok(None);
        }
        let Some(typed) = self.one_scale(inner)? else {
            return Ok(None);
        };
        let (Some(from), Some(to)) = (Size::of(&typed.kind), wanted) else {
            // Without digits the value stays as it is.
            return Ok(Some(typed));
        };
        let widens = to.whole >= from.whole && to.scale >= from.scale;
        let Some(kind) = to.kind().filter(|_| widens) else {
            return Ok(None);
        };
        let expr = to_kind(typed, &kind);
        Ok(Some(Typed::new(expr, kind)))
    }
}

/// A literal with digits of a size.
fn rescaled(value: i128, scale: u8, size: Size) -> Option<Typed> {
    let more = u32::from(size.scale.checked_sub(scale)?);
    let value = value.checked_mul(10i128.checked_pow(more)?)?;
    let kind = size.kind()?;
    let DataType::Decimal128(precision, scale) = kind else {
        return None;
    };
    (digits_of(value) <= precision).then_some(())?;
    let value = Scalar::decimal(value, precision, scale).ok()?;
    Some(Typed::new(Expr::Literal(value), kind))
}

/// A decimal with at least as many digits.
fn to_kind(typed: Typed, kind: &DataType) -> Expr {
    if typed.kind == *kind {
        return typed.expr;
    }
    if let (Expr::Literal(value), Some(size)) = (&typed.expr, Size::of(kind))
        && let Some((value, scale)) = value.as_number()
        && let Ok(scale) = u8::try_from(scale)
        && let Some(literal) = rescaled(value, scale, size)
    {
        return literal.expr;
    }
    cast(typed.expr, kind)
}
