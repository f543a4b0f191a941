//! Expressions: operations of Arrow where they mean the same, a call of the front elsewhere.
//!
//! - Columns, literals, AND, OR, NOT, IS NULL and CASE stay native: they have one meaning.
//! - Comparisons of two values of one Arrow type do, where Arrow's order is the type's. Floats
//!   only beside a literal that is neither 0 nor NaN: -0 and NaN have an order of their own in
//!   Arrow.
//! - `+ - *` of decimals of one scale each do, and of integers, by functions that check.
//! - Casts to more digits or wider integers do, which change no value, and LIKE with a pattern
//!   without backslashes, which the scan knows.
//! - Expressions of many levels are one call of the front.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use freestone_frontend::functions::{Scalar as Declared, digits_of_field};
use freestone_frontend::plan::{ColumnId, Expr as Bound, ExprKind};
use freestone_frontend::types::{Internal, Type};

use super::checked::Checked;
use super::evaluated::{Evaluated, Held};
use super::{Lowering, Typed};
use crate::error::{Error, Result};
use crate::expression::{Call, Expr, Operator, Scalar};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Levels of an expression that are programs of the engine: each level is called by the one above.
const LEVELS: usize = 100;

/// The function of fields of dates and times.
pub(super) const EXTRACT: &str = "extract";

/// Names of LIKE as an operator, and of what it denies.
const LIKE: [(&str, bool); 2] = [("~~", false), ("!~~", true)];

impl Typed {
    pub(super) fn new(expr: Expr, kind: DataType) -> Self {
        Self { expr, kind }
    }
}

/// The expression with exactly the Arrow type of its SQL type.
///
/// # Errors
/// `XX000` where that is another than a form of NUMERIC.
pub(super) fn exact(typed: Typed, ty: &Type) -> Result<Expr> {
    as_kind(typed, &ty.arrow())
}

/// The expression with an Arrow type.
pub(super) fn as_kind(typed: Typed, wanted: &DataType) -> Result<Expr> {
    let Typed { expr, kind } = typed;
    if kind == *wanted {
        return Ok(expr);
    }
    match (&kind, wanted) {
        (DataType::Decimal128(..), DataType::Decimal128(..)) => Ok(cast(expr, wanted)),
        (DataType::Decimal128(..), DataType::BinaryView)
        | (DataType::BinaryView, DataType::Decimal128(..)) => {
            Ok(Call::of(Held(wanted.clone()), vec![expr]))
        }
        // Fields of lists and records differ in names, or in the form of a NUMERIC.
        (from, to) if from.is_nested() && to.is_nested() => {
            Ok(Call::of(Held(wanted.clone()), vec![expr]))
        }
        (DataType::Null, _) => Ok(Expr::Literal(Scalar::null(wanted))),
        _ => Err(Error::internal(format!(
            "a value of {kind} where {wanted} is expected"
        ))),
    }
}

/// A cast; of a constant, its value, so that conditions on it reach the scan.
pub(super) fn cast(expr: Expr, to: &DataType) -> Expr {
    if let Expr::Literal(value) = &expr
        && let Ok(value) = value.cast_to(to)
    {
        return Expr::Literal(value);
    }
    Expr::Cast(Box::new(expr), to.clone())
}

/// Two expressions and an operator between them.
pub(super) fn binary(left: Expr, op: Operator, right: Expr) -> Expr {
    Expr::Binary(Box::new(left), op, Box::new(right))
}

/// All of some terms under one operator, as a tree of little depth.
pub(super) fn balanced(mut terms: Vec<Expr>, op: Operator) -> Option<Expr> {
    while terms.len() > 1 {
        let mut next = Vec::with_capacity(terms.len().div_ceil(2));
        let mut rest = terms.into_iter();
        while let Some(left) = rest.next() {
            next.push(match rest.next() {
                Some(right) => binary(left, op, right),
                None => left,
            });
        }
        terms = next;
    }
    terms.pop()
}

/// The comparison that an operator's name means.
pub(super) fn comparison(name: &str) -> Option<Operator> {
    Some(match name {
        "=" => Operator::Eq,
        "<>" | "!=" => Operator::NotEq,
        "<" => Operator::Lt,
        "<=" => Operator::LtEq,
        ">" => Operator::Gt,
        ">=" => Operator::GtEq,
        _ => return None,
    })
}

/// Whether equality, and for `ordered` the order, of a type is Arrow's own.
pub(super) fn is_native(ty: &Type, ordered: bool) -> bool {
    match ty {
        Type::Bool
        | Type::Int2
        | Type::Int4
        | Type::Int8
        | Type::Oid
        | Type::Reg(_)
        | Type::Numeric(Some(_))
        | Type::Text
        | Type::Varchar(_)
        | Type::Char(_)
        | Type::CatalogChar
        | Type::Internal(Internal::Xid | Internal::Cid | Internal::AclItem)
        | Type::Bit(_)
        | Type::VarBit(_)
        | Type::Name
        | Type::Bytea
        | Type::Inet
        | Type::Cidr
        | Type::MacAddr
        | Type::Money
        | Type::MacAddr8
        | Type::Date
        | Type::Time(_)
        | Type::Timestamp(_)
        | Type::TimestampTz(_)
        | Type::Uuid => true,
        Type::Range(of) | Type::Multirange(of) => !of.has_scales(),
        Type::Internal(Internal::Tid) => true,
        Type::Enum(_) | Type::Internal(Internal::Xid8) => !ordered,
        _ => false,
    }
}

/// A constant.
fn literal(value: Scalar) -> Typed {
    let kind = value.data_type().clone();
    Typed::new(Expr::Literal(value), kind)
}

impl Lowering {
    /// An expression.
    pub(super) fn expr(&self, bound: &Bound) -> Result<Typed> {
        match self.native(bound)? {
            Some(native) => Ok(native),
            None => self.evaluated(bound),
        }
    }

    /// A condition.
    pub(super) fn condition(&self, bound: &Bound) -> Result<Expr> {
        Ok(self.expr(bound)?.expr)
    }

    fn native(&self, bound: &Bound) -> Result<Option<Typed>> {
        let is_flat = matches!(
            bound.kind,
            ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::And(_) | ExprKind::Or(_)
        );
        if !is_flat && bound.levels() > LEVELS {
            return Ok(None);
        }
        Ok(match &bound.kind {
            ExprKind::Literal(value) => Some(literal(Scalar::of(value, 0))),
            ExprKind::Column(id) => Some(self.column(*id)?),
            ExprKind::Parameter(number) => {
                let value = self.around.parameters.get(number.wrapping_sub(1));
                let value = value.filter(|value| value.data_type() == &bound.ty.arrow());
                value.map(|value| literal(Scalar::of(value, 0)))
            }
            ExprKind::And(terms) => self.connected(terms, Operator::And)?,
            ExprKind::Or(terms) => self.connected(terms, Operator::Or)?,
            ExprKind::Not(inner) => {
                let inner = self.expr(inner)?.expr;
                let expr = Expr::Not(Box::new(inner));
                Some(Typed::new(expr, DataType::Boolean))
            }
            ExprKind::IsNull(inner) if !matches!(inner.ty, Type::Record(_)) => {
                let inner = self.expr(inner)?.expr;
                let expr = Expr::IsNull(Box::new(inner));
                Some(Typed::new(expr, DataType::Boolean))
            }
            ExprKind::Case {
                branches,
                otherwise,
            } => self.case(branches, otherwise.as_deref(), &bound.ty)?,
            ExprKind::InList { value, list, .. } => self.in_list(value, list)?,
            ExprKind::Call {
                function,
                arguments,
            } => self.call(function, arguments, &bound.ty)?,
            _ => None,
        })
    }

    fn connected(&self, terms: &[Bound], op: Operator) -> Result<Option<Typed>> {
        let terms = terms.iter().map(|term| self.condition(term));
        let terms = terms.collect::<Result<Vec<_>>>()?;
        let all = balanced(terms, op);
        Ok(all.map(|all| Typed::new(all, DataType::Boolean)))
    }

    fn case(
        &self,
        branches: &[(Bound, Bound)],
        otherwise: Option<&Bound>,
        ty: &Type,
    ) -> Result<Option<Typed>> {
        let mut values = Vec::with_capacity(branches.len() + 1);
        for value in branches.iter().map(|(_, value)| value).chain(otherwise) {
            values.push(self.expr(value)?);
        }
        let kind = common_kind(&values, ty);
        let mut values = values.into_iter().map(|value| as_kind(value, &kind));
        let mut pairs = Vec::with_capacity(branches.len());
        for (when, _) in branches {
            let Some(value) = values.next() else {
                return Ok(None);
            };
            pairs.push((self.condition(when)?, value?));
        }
        let otherwise = values.next().transpose()?.map(Box::new);
        Ok(Some(Typed::new(Expr::Case(pairs, otherwise), kind)))
    }

    fn in_list(&self, value: &Bound, list: &[Bound]) -> Result<Option<Typed>> {
        let is_float = value.ty.is_float();
        let fits = |item: &Bound| {
            item.literal().is_some_and(|item| {
                item.data_type() == &value.ty.arrow() && (!is_float || has_one_form(item))
            })
        };
        if !(is_float || is_native(&value.ty, false)) || !list.iter().all(fits) {
            return self.numbers_in_list(value, list);
        }
        let of = self.expr(value)?;
        let wanted = of.kind.clone();
        let items = list.iter().map(|item| as_kind(self.expr(item)?, &wanted));
        let items = items.collect::<Result<Vec<_>>>()?;
        Ok(one_of(of.expr, items))
    }

    fn call(
        &self,
        function: &Arc<Declared>,
        arguments: &[Bound],
        ty: &Type,
    ) -> Result<Option<Typed>> {
        match arguments {
            [left, right] => {
                if function.name == EXTRACT {
                    return self.field(function, left, right);
                }
                if let Some(op) = comparison(function.name) {
                    return self.compare(op, left, right);
                }
                if let Some(op) = arithmetic(function.name) {
                    return self.arithmetic(op, left, right, ty);
                }
                let like = LIKE.iter().find(|(name, _)| *name == function.name);
                if let Some((_, negated)) = like {
                    return self.like(left, right, *negated);
                }
                if function.name == "starts_with" || function.name == "^@" {
                    return self.starts_with(left, right);
                }
                Ok(None)
            }
            [only] if function.name == "-" => self.negation(only, ty),
            [only] if function.name == "cast" => self.cast(only, ty),
            _ => Ok(None),
        }
    }

    /// A comparison.
    fn compare(&self, op: Operator, left: &Bound, right: &Bound) -> Result<Option<Typed>> {
        let sides = match (&left.ty, &right.ty) {
            (Type::Numeric(_), Type::Numeric(_)) => self.same_decimals(left, right)?,
            (a, b) if a.is_float() && a == b => {
                let safe = |side: &Bound| side.literal().is_some_and(has_one_form);
                match safe(left) || safe(right) {
                    true => Some((self.expr(left)?.expr, self.expr(right)?.expr)),
                    false => None,
                }
            }
            (a, b) if is_integer(a) && is_integer(b) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                Some(same_integers(left, right))
            }
            (Type::Date, Type::Timestamp(_)) => return self.dated(op, left, right),
            (Type::Timestamp(_), Type::Date) => {
                return match op.swap() {
                    Some(op) => self.dated(op, right, left),
                    None => Ok(None),
                };
            }
            (a, b) => {
                let ordered = !matches!(op, Operator::Eq | Operator::NotEq);
                let alike = a.arrow() == b.arrow()
                    && is_native(a, ordered)
                    && is_native(b, ordered)
                    && matches!(a, Type::Char(_)) == matches!(b, Type::Char(_))
                    && matches!(a, Type::Enum(_)) == matches!(b, Type::Enum(_));
                match alike {
                    true => Some((self.expr(left)?.expr, self.expr(right)?.expr)),
                    false => None,
                }
            }
        };
        // A column stands before its constant, so that `a = 3` and `3 = a` are one expression.
        let sides = sides.map(|(left, right)| match (&right, op.swap()) {
            (Expr::Column(_), Some(swapped)) if left.is_constant() => binary(right, swapped, left),
            _ => binary(left, op, right),
        });
        Ok(sides.map(|compared| Typed::new(compared, DataType::Boolean)))
    }

    /// The comparison of a date with a timestamp, one of which is a literal, as one of dates or of
    /// timestamps.
    fn dated(&self, op: Operator, date: &Bound, stamp: &Bound) -> Result<Option<Typed>> {
        let Some(value) = stamp.literal() else {
            let Some(day) = date.literal() else {
                return Ok(None);
            };
            let Some(day) = Scalar::of(day, 0).as_date() else {
                return Ok(None);
            };
            // The infinities are no days.
            if matches!(day, i32::MIN | i32::MAX) {
                return Ok(None);
            }
            let micros = i64::from(day) * DAY;
            let midnight = Expr::Literal(Scalar::timestamp(micros));
            let compared = binary(midnight, op, self.expr(stamp)?.expr);
            return Ok(Some(Typed::new(compared, DataType::Boolean)));
        };
        let Some((micros, _)) = Scalar::of(value, 0).as_timestamp() else {
            return Ok(None);
        };
        // The infinities are no days.
        if matches!(micros, i64::MIN | i64::MAX) {
            return Ok(None);
        }
        let whole = micros.rem_euclid(DAY) == 0;
        let Ok(day) = i32::try_from(micros.div_euclid(DAY)) else {
            return Ok(None);
        };
        let op = match op {
            Operator::Lt if !whole => Operator::LtEq,
            Operator::GtEq if !whole => Operator::Gt,
            Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => op,
            Operator::Eq | Operator::NotEq if whole => op,
            _ => return Ok(None),
        };
        let day = Expr::Literal(Scalar::date(day));
        let compared = binary(self.expr(date)?.expr, op, day);
        Ok(Some(Typed::new(compared, DataType::Boolean)))
    }

    fn arithmetic(
        &self,
        op: Operator,
        left: &Bound,
        right: &Bound,
        ty: &Type,
    ) -> Result<Option<Typed>> {
        if matches!(ty, Type::Numeric(_)) {
            return self.decimal_arithmetic(op, left, right);
        }
        if !(is_integer(ty) && is_integer(&left.ty) && is_integer(&right.ty)) {
            return Ok(None);
        }
        let kind = ty.arrow();
        let Some(function) = Checked::of(op, &kind) else {
            return Ok(None);
        };
        let side = |side: &Bound| {
            let typed = self.expr(side)?;
            Ok::<_, Error>(match typed.kind == kind {
                true => typed.expr,
                false => cast(typed.expr, &kind),
            })
        };
        let call = Call::of(function, vec![side(left)?, side(right)?]);
        Ok(Some(Typed::new(call, kind)))
    }

    fn negation(&self, inner: &Bound, ty: &Type) -> Result<Option<Typed>> {
        if !(is_integer(ty) || matches!(ty, Type::Numeric(_))) {
            return Ok(None);
        }
        let Some(Typed { expr, kind }) = self.native(inner)? else {
            return Ok(None);
        };
        let negated = match (&kind, Checked::negation(&kind)) {
            (_, Some(function)) => Call::of(function, vec![expr]),
            (DataType::Decimal128(..), None) => Expr::Negative(Box::new(expr)),
            _ => return Ok(None),
        };
        Ok(Some(Typed::new(negated, kind)))
    }

    /// Casts that change no value.
    fn cast(&self, inner: &Bound, ty: &Type) -> Result<Option<Typed>> {
        let rank = |ty: &Type| match ty {
            Type::Int2 => 1,
            Type::Int4 => 2,
            Type::Int8 => 3,
            _ => 0,
        };
        let (from, to) = (rank(&inner.ty), rank(ty));
        if from > 0 && to >= from {
            let typed = self.expr(inner)?;
            let kind = ty.arrow();
            let expr = match typed.kind == kind {
                true => typed.expr,
                false => cast(typed.expr, &kind),
            };
            return Ok(Some(Typed::new(expr, kind)));
        }
        if from > 0 && *ty == Type::Float8 {
            let kind = DataType::Float64;
            return Ok(Some(Typed::new(cast(self.expr(inner)?.expr, &kind), kind)));
        }
        match ty {
            Type::Numeric(_) => self.to_decimal(inner, ty),
            _ => Ok(None),
        }
    }

    fn like(&self, text: &Bound, pattern: &Bound, negated: bool) -> Result<Option<Typed>> {
        let pattern = pattern.literal_text().filter(|p| !p.contains('\\'));
        let is_text = text.ty.is_string() && !matches!(text.ty, Type::Char(_));
        let Some(pattern) = pattern.filter(|_| is_text) else {
            return Ok(None);
        };
        let like = Expr::Like {
            text: Box::new(self.expr(text)?.expr),
            pattern: pattern.to_owned(),
            negated,
        };
        Ok(Some(Typed::new(like, DataType::Boolean)))
    }

    /// A field of dates and times as a decimal of one scale, if all of its values are such.
    fn field(&self, of: &Arc<Declared>, name: &Bound, value: &Bound) -> Result<Option<Typed>> {
        let digits = name.literal_text();
        let digits = digits.and_then(|name| digits_of_field(name, &value.ty));
        let Some(digits) = digits else {
            return Ok(None);
        };
        let ty = Type::Numeric(Some(digits));
        let call = Bound::call(Arc::clone(of), vec![name.clone(), value.clone()], ty);
        Ok(Some(self.evaluated(&call)?))
    }

    fn starts_with(&self, text: &Bound, prefix: &Bound) -> Result<Option<Typed>> {
        let is_text = text.ty.arrow() == DataType::Utf8View;
        let Some(prefix) = prefix.literal_text().filter(|_| is_text) else {
            return Ok(None);
        };
        let text = Box::new(self.expr(text)?.expr);
        let starts = Expr::Prefix(text, prefix.to_owned());
        Ok(Some(Typed::new(starts, DataType::Boolean)))
    }

    /// The expression as a call of the front.
    pub(super) fn evaluated(&self, bound: &Bound) -> Result<Typed> {
        let read: HashSet<_> = bound.reads();
        let mut read: Vec<_> = read.into_iter().collect();
        read.sort_unstable();
        let mut wanted = HashMap::new();
        in_own_form(bound, &mut wanted);
        let mut arguments = Vec::with_capacity(read.len());
        for id in &read {
            let column = self.column(*id)?;
            arguments.push(match wanted.get(id) {
                Some(ty) => exact(column, ty)?,
                None => column.expr,
            });
        }
        let name = super::shown::sql(bound, &|id| self.shown_column(id));
        let function = Evaluated::new(bound.clone(), read, name, self.around.clone());
        Ok(Typed::new(Call::of(function, arguments), bound.ty.arrow()))
    }

    /// How a column is called where plans are explained.
    pub(super) fn shown_column(&self, id: freestone_frontend::plan::ColumnId) -> String {
        let known = self.columns.borrow();
        match known.get(&id).map(|typed| &typed.expr) {
            Some(Expr::Column(name)) => name.split(':').next().unwrap_or_default().to_owned(),
            _ => format!("#{}", id.0),
        }
    }
}

/// Gathers the columns of numbers that something reads that knows but one form of them: all
/// but functions of numbers, such as CASE, which puts values of several columns into one.
fn in_own_form(bound: &Bound, wanted: &mut HashMap<ColumnId, Type>) {
    let either = |at: usize| match &bound.kind {
        ExprKind::Call { function, .. } => {
            matches!(function.parameters.get(at), Some(Type::Numeric(_)))
        }
        ExprKind::IsNull(_) => true,
        _ => false,
    };
    for (at, child) in bound.children().into_iter().enumerate() {
        match (&child.kind, &child.ty) {
            (ExprKind::Column(id), Type::Numeric(_)) if !either(at) => {
                wanted.insert(*id, child.ty.clone());
            }
            _ => in_own_form(child, wanted),
        }
    }
}

/// The Arrow type of values that are alternatives: one scale if all have it.
fn common_kind(values: &[Typed], ty: &Type) -> DataType {
    if let (Type::Numeric(_), Some(first)) = (ty, values.first())
        && let DataType::Decimal128(_, scale) = first.kind
    {
        let of = |kind: &DataType| match kind {
            DataType::Decimal128(p, s) if *s == scale => Some(*p),
            _ => None,
        };
        let precisions: Option<Vec<u8>> = values.iter().map(|v| of(&v.kind)).collect();
        if let Some(most) = precisions.and_then(|p| p.into_iter().max()) {
            return DataType::Decimal128(most, scale);
        }
    }
    ty.arrow()
}

/// Whether a value is one of some constants.
pub(super) fn one_of(value: Expr, list: Vec<Expr>) -> Option<Typed> {
    let list = list.into_iter().map(|item| match item {
        Expr::Literal(value) => Some(value),
        _ => None,
    });
    let list = Expr::InList(Box::new(value), list.collect::<Option<_>>()?);
    Some(Typed::new(list, DataType::Boolean))
}

/// Whether a float has one form and equals no other.
fn has_one_form(value: &ArrayRef) -> bool {
    let value = Scalar::of(value, 0);
    match value.as_float() {
        Some(value) => value != 0.0 && !value.is_nan(),
        None => value.is_null(),
    }
}

/// The operator that a name of arithmetic means.
fn arithmetic(name: &str) -> Option<Operator> {
    Some(match name {
        "+" => Operator::Plus,
        "-" => Operator::Minus,
        "*" => Operator::Multiply,
        _ => return None,
    })
}

pub(super) fn is_integer(ty: &Type) -> bool {
    matches!(ty, Type::Int2 | Type::Int4 | Type::Int8)
}

/// Integers brought to the wider of their types.
fn same_integers(left: Typed, right: Typed) -> (Expr, Expr) {
    let width = |kind: &DataType| kind.primitive_width().unwrap_or(0);
    if width(&left.kind) < width(&right.kind) {
        return (cast(left.expr, &right.kind), right.expr);
    }
    if width(&right.kind) < width(&left.kind) {
        let right = cast(right.expr, &left.kind);
        return (left.expr, right);
    }
    (left.expr, right.expr)
}

/// Floats.
pub(super) trait Floats {
    /// Whether it is one of the types of floats.
    fn is_float(&self) -> bool;
}

impl Floats for Type {
    fn is_float(&self) -> bool {
        matches!(self, Type::Float4 | Type::Float8)
    }
}
