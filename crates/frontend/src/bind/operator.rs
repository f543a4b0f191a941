//! Operators.

use std::sync::Arc;

use sqlparser::ast::{BinaryOperator, UnaryOperator};

use super::call::by_names;
use super::coerce::common_of;
use super::literal::integer_as_numeric;
use super::{Binder, Coercion};
use crate::error::{Error, Result};
use crate::functions::{Resolved, Scalar, records, resolve_operator};
use crate::plan::{Expr, ExprKind};
use crate::types::Type;

/// The symbol of an operator in the catalogue, with the operator that a sign behind it is a
/// part of: `>-` is `>` and a minus before the right operand.
pub(super) fn symbol(op: &BinaryOperator) -> Result<String> {
    use BinaryOperator as O;
    let plain = match op {
        O::BitwiseOr => "|",
        O::BitwiseAnd => "&",
        O::PGBitwiseXor => "#",
        O::PGExp | O::BitwiseXor => "^",
        O::Modulo => "%",
        O::NotEq => "<>",
        O::StringConcat => "||",
        O::PGBitwiseShiftLeft => "<<",
        O::PGBitwiseShiftRight => ">>",
        O::PGOverlap => "&&",
        O::PGRegexMatch => "~",
        O::PGRegexIMatch => "~*",
        O::PGRegexNotMatch => "!~",
        O::PGRegexNotIMatch => "!~*",
        O::PGLikeMatch => "~~",
        O::PGILikeMatch => "~~*",
        O::PGNotLikeMatch => "!~~",
        O::PGNotILikeMatch => "!~~*",
        O::PGStartsWith => "^@",
        O::PGCustomBinaryOperator(parts) => {
            let last = parts.last().map_or("", String::as_str);
            return Ok(spelled(last).to_owned());
        }
        O::Custom(symbol) => return Ok(spelled(symbol).to_owned()),
        O::And | O::Or | O::Xor | O::Assignment | O::Match | O::Regexp | O::Spaceship => {
            return Err(Error::new(
                "42883",
                format!("operator does not exist: {op}"),
            ));
        }
        other => return Ok(spelled(&other.to_string()).to_owned()),
    };
    Ok(plain.to_owned())
}

fn spelled(symbol: &str) -> &str {
    match symbol {
        "!=" | "^=" => "<>",
        "==" => "=",
        "**" => "^",
        other => other,
    }
}

/// Whether an operator compares.
pub(super) fn is_comparison(symbol: &str) -> bool {
    matches!(symbol, "=" | "<>" | "<" | "<=" | ">" | ">=")
}

impl Binder<'_> {
    /// An operator between two operands.
    pub(super) fn binary(&mut self, symbol: &str, left: Expr, right: Expr) -> Result<Expr> {
        if is_comparison(symbol)
            && let (Type::Record(_), Type::Record(_)) = (&left.ty, &right.ty)
        {
            return self.record_comparison(symbol, left, right);
        }
        if is_comparison(symbol)
            && let (Type::Record(_), Type::Unknown) | (Type::Unknown, Type::Record(_)) =
                (&left.ty, &right.ty)
        {
            return match left.is_literal_null() || right.is_literal_null() {
                true => Ok(Expr::null(Type::Bool)),
                false => Err(Error::unsupported(
                    "input of anonymous composite types is not implemented",
                )
                .with_hint("cast the text to the type of the record")),
            };
        }
        let (left, right) = beside(left, right);
        let resolved = self.operator(symbol, &[&left, &right])?;
        self.operated(resolved, vec![left, right])
    }

    /// An operator between two rows that are written out.
    pub(super) fn written_rows(&mut self, symbol: &str, left: Expr, right: Expr) -> Result<Expr> {
        match (left.kind, right.kind) {
            (ExprKind::Row(left), ExprKind::Row(right)) => self.row_comparison(symbol, left, right),
            _ => Err(Error::internal("a row that is none")),
        }
    }

    /// The overload for two operands, whose types may be changed to suit.
    pub(super) fn operator(
        &mut self,
        symbol: &str,
        operands: &[&Expr],
    ) -> Result<Resolved<Scalar>> {
        let types: Vec<Type> = operands.iter().map(|operand| operand.ty.clone()).collect();
        resolve_operator(symbol, &types).map_err(|why| {
            let shown: Vec<String> = types.iter().map(Type::standard_name).collect();
            let call = match shown.as_slice() {
                [only] => format!("{symbol} {only}"),
                [left, right] => format!("{left} {symbol} {right}"),
                _ => symbol.to_owned(),
            };
            match why {
                crate::functions::Unresolved::None | crate::functions::Unresolved::NoArray => {
                    Error::new("42883", format!("operator does not exist: {call}")).with_hint(
                        "No operator matches the given name and argument types. You might need \
                         to add explicit type casts.",
                    )
                }
                crate::functions::Unresolved::Undetermined => super::call::undetermined(),
                crate::functions::Unresolved::Ambiguous => {
                    Error::new("42725", format!("operator is not unique: {call}")).with_hint(
                        "Could not choose a best candidate operator. You might need to add \
                         explicit type casts.",
                    )
                }
            }
        })
    }

    /// The call of an operator that was found.
    pub(super) fn operated(
        &mut self,
        resolved: Resolved<Scalar>,
        operands: Vec<Expr>,
    ) -> Result<Expr> {
        let Resolved {
            function,
            mut parameters,
            returns,
        } = resolved;
        by_names(&function, &mut parameters);
        let arguments = operands.into_iter().zip(&parameters);
        let arguments = arguments.map(|(operand, to)| {
            let how = match (&operand.ty, to) {
                (Type::Reg(_), Type::Text) => Coercion::Explicit,
                _ => Coercion::Implicit,
            };
            self.coerce(operand, to, how)
        });
        let mut arguments: Vec<Expr> = arguments.collect::<Result<_>>()?;
        if is_comparison(function.name) {
            same_scale(&mut arguments);
        }
        let call = Expr::call(function, arguments, returns);
        Ok(self.folded(call))
    }

    /// An operator before its operand.
    pub(super) fn unary(&mut self, op: &UnaryOperator, operand: Expr) -> Result<Expr> {
        let symbol = match op {
            UnaryOperator::Plus => "+",
            UnaryOperator::Minus => "-",
            UnaryOperator::BitwiseNot => "~",
            UnaryOperator::PGSquareRoot => "|/",
            UnaryOperator::PGCubeRoot => "||/",
            UnaryOperator::PGAbs => "@",
            UnaryOperator::PGPrefixFactorial => "!!",
            UnaryOperator::PGPostfixFactorial => "!",
            UnaryOperator::Not | UnaryOperator::BangNot => {
                let operand = self.condition(operand, "NOT")?;
                return Ok(operand.not());
            }
            other => {
                return Err(Error::new(
                    "42883",
                    format!("operator does not exist: {other}"),
                ));
            }
        };
        match self.operator(symbol, &[&operand]) {
            Ok(resolved) => self.operated(resolved, vec![operand]),
            // SQLite and MySQL take a sign before a text for nothing, and PostgreSQL has no
            // meaning of its own for it.
            Err(_)
                if symbol == "+"
                    && matches!(
                        operand.ty.base(),
                        Type::Text | Type::Varchar(_) | Type::Char(_)
                    ) =>
            {
                Ok(operand)
            }
            Err(error) => Err(error),
        }
    }

    /// A prefix operator by its symbol.
    pub(super) fn prefix(&mut self, symbol: &str, operand: Expr) -> Result<Expr> {
        let resolved = self.operator(symbol, &[&operand])?;
        self.operated(resolved, vec![operand])
    }

    /// A comparison of rows: equality of all, or the order by the first that differs.
    fn row_comparison(&mut self, symbol: &str, left: Vec<Expr>, right: Vec<Expr>) -> Result<Expr> {
        if left.len() != right.len() {
            return Err(Error::new(
                "42601",
                "unequal number of entries in row expressions",
            ));
        }
        if left.is_empty() {
            return Err(Error::unsupported("cannot compare rows of zero length"));
        }
        if left.len() == 1 || !is_comparison(symbol) {
            let mut last = None;
            let pairs = left.into_iter().zip(right);
            for (left, right) in pairs {
                let one = self.binary(symbol, left, right)?;
                if one.ty != Type::Bool {
                    let message = format!(
                        "row comparison operator must yield type boolean, not type {}",
                        one.ty.base()
                    );
                    return Err(Error::new("42804", message));
                }
                last = match last {
                    None => Some(one),
                    Some(_) => {
                        let message = format!(
                            "could not determine interpretation of row comparison operator {symbol}"
                        );
                        return Err(Error::unsupported(message).with_hint(
                            "Row comparison operators must be associated with btree operator \
                             families.",
                        ));
                    }
                };
            }
            return last.ok_or_else(|| Error::internal("an empty row"));
        }
        let pairs = left.into_iter().zip(right);
        match symbol {
            "=" => {
                let equal = pairs.map(|(a, b)| self.binary("=", a, b));
                Ok(Expr::and(equal.collect::<Result<Vec<_>>>()?))
            }
            "<>" => {
                let differ = pairs.map(|(a, b)| self.binary("<>", a, b));
                Ok(Expr::or(differ.collect::<Result<Vec<_>>>()?))
            }
            _ => {
                // a < b OR a = b AND (the rest)
                let strict = symbol.trim_end_matches('=');
                let mut pairs: Vec<(Expr, Expr)> = pairs.collect();
                let (a, b) = pairs.pop().ok_or_else(|| Error::internal("an empty row"))?;
                let mut whole = self.binary(symbol, a, b)?;
                while let Some((a, b)) = pairs.pop() {
                    let (first, second) = (self.copy(&a)?, self.copy(&b)?);
                    let before = self.binary(strict, first, second)?;
                    let equal = self.binary("=", a, b)?;
                    whole = Expr::or([before, Expr::and([equal, whole])]);
                }
                Ok(whole)
            }
        }
    }

    /// A comparison of records that are not both written out.
    fn record_comparison(&mut self, symbol: &str, left: Expr, right: Expr) -> Result<Expr> {
        let function = self.record_operator(symbol, &left.ty, &right.ty)?;
        Ok(Expr::call(function, vec![left, right], Type::Bool))
    }

    /// A comparison of records of two types: one function, so that equal calls are equal.
    pub(super) fn record_operator(
        &mut self,
        symbol: &str,
        left: &Type,
        right: &Type,
    ) -> Result<Arc<Scalar>> {
        let key = (
            format!("record {symbol}"),
            vec![left.clone(), right.clone()],
        );
        if let Some(known) = self.shared.get(&key) {
            return Ok(Arc::clone(known));
        }
        let function = records::comparison(symbol, left, right, records::Rows::Values)?;
        let function = Arc::new(function);
        self.shared.insert(key, Arc::clone(&function));
        Ok(function)
    }

    /// Whether two values differ, NULL being a value.
    pub(super) fn distinct_from(&mut self, left: Expr, right: Expr, rows: bool) -> Result<Expr> {
        if rows && let (ExprKind::Row(a), ExprKind::Row(b)) = (&left.kind, &right.kind) {
            if a.len() != b.len() {
                return Err(Error::new(
                    "42601",
                    "unequal number of entries in row expressions",
                ));
            }
            let pairs = a.clone().into_iter().zip(b.clone());
            let differ = pairs.map(|(a, b)| self.distinct_from(a, b, false));
            return Ok(Expr::or(differ.collect::<Result<Vec<_>>>()?));
        }
        self.once(left, |binder, left| {
            binder.once(right, |binder, right| binder.differ(left, right))
        })
    }

    fn differ(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        Ok(self.alike(left, right)?.not())
    }

    /// Whether two values are equal or both NULL: TRUE or FALSE.
    fn alike(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        let is_null = |expr: &Expr| expr.is_literal_null() && expr.ty == Type::Unknown;
        if is_null(&left) || is_null(&right) {
            let other = if is_null(&left) { right } else { left };
            return Ok(other.is_null());
        }
        // PostgreSQL looks for equality.
        if !matches!(left.ty, Type::Record(_)) {
            self.operator("=", &[&left, &right])?;
        }
        let copies = (self.copy(&left)?, self.copy(&right)?);
        let equal = self.binary("=", copies.0, copies.1)?;
        let present = |expr: &Expr| expr.literal().is_some() && !expr.is_literal_null();
        if present(&left) || present(&right) {
            let other = if present(&left) { right } else { left };
            return Ok(Expr::and([other.is_null().not(), equal]));
        }
        let both_ask = left.has_subquery() && right.has_subquery();
        // A sub-query stands first where nothing decides whether it is computed.
        let (first, second) = match right.has_subquery() {
            true => (right.is_null(), left.is_null()),
            false => (left.is_null(), right.is_null()),
        };
        let coalesced = |value: Expr, otherwise: bool| {
            let values = vec![value, Expr::bool(otherwise)];
            Expr::new(ExprKind::Coalesce(values), Type::Bool)
        };
        if both_ask {
            let nulls = self.binary("=", first, second)?;
            return Ok(Expr::and([nulls, coalesced(equal, true)]));
        }
        let nulls = Expr::and([first, second]);
        Ok(Expr::or([nulls, coalesced(equal, false)]))
    }

    /// `=` of values of one type, for IN lists and CASE.
    pub(super) fn equality(&mut self, ty: &Type) -> Result<Arc<Scalar>> {
        if let Type::Record(_) = ty {
            return self.record_operator("=", ty, ty);
        }
        let operand = Expr::null(ty.clone());
        Ok(self.operator("=", &[&operand, &operand])?.function)
    }

    /// An expression as a condition.
    pub(super) fn condition(&mut self, expr: Expr, what: &str) -> Result<Expr> {
        if expr.ty == Type::Bool {
            return Ok(expr);
        }
        if expr.ty == Type::Unknown {
            return self.coerce(expr, &Type::Bool, Coercion::Implicit);
        }
        Err(Error::new(
            "42804",
            format!(
                "argument of {what} must be type boolean, not type {}",
                expr.ty.base()
            ),
        ))
    }

    /// Values and the type they are compared by: that of IN.
    pub(super) fn compared(&mut self, values: Vec<Expr>) -> Result<Vec<Expr>> {
        let types: Vec<Type> = values.iter().map(|value| value.ty.clone()).collect();
        let common = common_of(&types, "IN").map_err(|_| {
            let mut known = types.iter().filter(|ty| **ty != Type::Unknown);
            let (left, right) = (known.next(), known.next());
            let shown = |ty: Option<&Type>| ty.map_or_else(String::new, |ty| ty.base().to_string());
            let message = format!(
                "operator does not exist: {} = {}",
                shown(left),
                shown(right)
            );
            Error::new("42883", message)
        })?;
        let values = values.into_iter();
        values
            .map(|value| self.coerce(value, &common, Coercion::Implicit))
            .collect()
    }
}

/// A literal integer beside a NUMERIC becomes one of as few digits as it has.
fn beside(left: Expr, right: Expr) -> (Expr, Expr) {
    match (&left.ty, &right.ty) {
        (Type::Numeric(_), _) if right.literal_integer().is_some() => {
            (left, integer_as_numeric(right))
        }
        (_, Type::Numeric(_)) if left.literal_integer().is_some() => {
            (integer_as_numeric(left), right)
        }
        _ => (left, right),
    }
}

/// NUMERIC literals take the scale of what they are compared with, where that loses nothing.
fn same_scale(arguments: &mut [Expr]) {
    let [left, right] = arguments else { return };
    let (Type::Numeric(Some(a)), Type::Numeric(Some(b))) = (&left.ty, &right.ty) else {
        return;
    };
    if a.scale == b.scale {
        return;
    }
    let (wanted, literal) = match (left.literal().is_some(), right.literal().is_some()) {
        (false, true) => (*a, right),
        (true, false) => (*b, left),
        _ => return,
    };
    use arrow_array::cast::AsArray;
    use arrow_array::types::Decimal128Type;
    let (Some(value), Type::Numeric(Some(digits))) = (literal.literal(), &literal.ty) else {
        return;
    };
    // NULL has no digits.
    if literal.is_literal_null() || wanted.scale < digits.scale {
        return;
    }
    let more = u32::from(wanted.scale - digits.scale);
    let unscaled = value.as_primitive::<Decimal128Type>().value(0);
    let Some(scaled) = 10i128
        .checked_pow(more)
        .and_then(|factor| unscaled.checked_mul(factor))
    else {
        return;
    };
    let ty = Type::numeric(u32::from(digits.precision) + more, wanted.scale.into());
    if ty == Type::Numeric(None) {
        return;
    }
    let array = arrow_array::Decimal128Array::from(vec![scaled]).with_data_type(ty.arrow());
    *literal = Expr::new(ExprKind::Literal(Arc::new(array)), ty);
}
