//! Expressions as programs of the bulk engine.
//!
//! Numbers, comparisons and conditions become operations of the engine. All others become functions
//! of the arrays that its programs compute.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, FieldRef, TimeUnit};
use freestone_exec::Comparison;
use freestone_exec::expression::{Arithmetic, Call as Foreign, Constant, Expression};
use freestone_exec::vector::Kind;
use freestone_frontend::functions::kernel::{Column, repeated};

use crate::error::{Error, Result};
use crate::expression::{
    Cast, Compared, Computed, Expr, Function, Matched, Negated, OneOf, Operator, Prefixed,
    Repeated, Scalar,
};

/// Where columns are found.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    columns: &'a Found,
}

/// Columns of a plan of ours: the place and the type of each, by the name that it has in all of
/// the statement.
pub(crate) type Found = HashMap<String, (usize, FieldRef)>;

/// A function with those of its arguments that are constant.
#[derive(Debug)]
struct Called {
    function: Arc<dyn Function>,
    /// For each argument its value, if that is constant.
    constants: Vec<Option<ArrayRef>>,
}

impl freestone_exec::expression::Foreign for Called {
    fn call(&self, arguments: &[ArrayRef], rows: usize) -> freestone_exec::Result<ArrayRef> {
        let mut given = arguments.iter();
        let mut all = Vec::with_capacity(self.constants.len());
        for constant in &self.constants {
            all.push(match constant {
                Some(value) => Column::constant(Arc::clone(value)),
                None => match given.next() {
                    Some(array) => Column::rows(Arc::clone(array)),
                    None => return Err(freestone_exec::Error::internal("a missing argument")),
                },
            });
        }
        Ok(repeated(self.function.call(&all, rows)?, rows))
    }
}

impl<'a> Scope<'a> {
    /// Expressions over some columns.
    pub(crate) fn over(columns: &'a Found) -> Self {
        Self { columns }
    }
}

impl Scope<'_> {
    /// The type of an expression; `None` if a column of it is not there.
    pub(crate) fn kind_of(&self, expr: &Expr) -> Option<DataType> {
        Some(match expr {
            Expr::Column(name) => self.columns.get(name)?.1.data_type().clone(),
            Expr::Literal(value) => value.data_type().clone(),
            Expr::Binary(left, op, right) => match op {
                Operator::Plus | Operator::Minus | Operator::Multiply => {
                    Computed(*op).kind(&[self.kind_of(left)?, self.kind_of(right)?])
                }
                _ => DataType::Boolean,
            },
            Expr::Not(_)
            | Expr::IsNull(_)
            | Expr::InList(..)
            | Expr::Like { .. }
            | Expr::Prefix(..) => DataType::Boolean,
            Expr::Negative(inner) => self.kind_of(inner)?,
            Expr::Case(branches, otherwise) => match (branches.first(), otherwise) {
                (Some((_, value)), _) => self.kind_of(value)?,
                (None, Some(value)) => self.kind_of(value)?,
                (None, None) => DataType::Null,
            },
            Expr::Cast(_, kind) => kind.clone(),
            Expr::Call(call) => {
                let kinds = call.arguments.iter().map(|argument| self.kind_of(argument));
                call.function.kind(&kinds.collect::<Option<Vec<_>>>()?)
            }
        })
    }

    /// The type of an expression.
    ///
    /// # Errors
    /// `XX000` for one that has none.
    pub(crate) fn typed(&self, expr: &Expr) -> Result<DataType> {
        let kind = self.kind_of(expr);
        kind.ok_or_else(|| Error::internal(format!("no column for {expr:?}")))
    }

    /// The expression as a program.
    ///
    /// # Errors
    /// `XX000` for one that nothing here can evaluate.
    pub(crate) fn expr(&self, expr: &Expr) -> Result<Expression> {
        let found = self.program(expr);
        found.ok_or_else(|| Error::internal(format!("an expression without a program: {expr:?}")))
    }

    /// The expression as a program; `None` for one that nothing here can evaluate.
    pub(crate) fn program(&self, expr: &Expr) -> Option<Expression> {
        match expr {
            Expr::Column(name) => Some(Expression::Column(self.columns.get(name)?.0)),
            Expr::Literal(value) => {
                literal(value).or_else(|| self.called(Repeated(value.clone()), &[]))
            }
            Expr::Binary(left, op, right) => self.binary(left, *op, right),
            Expr::Not(value) => Some(Expression::Not(Box::new(self.program(value)?))),
            Expr::IsNull(value) => Some(Expression::IsNull(Box::new(self.program(value)?))),
            Expr::Negative(value) => self.called(Negated, &[value]),
            Expr::Case(branches, otherwise) => self.case(branches, otherwise.as_deref()),
            Expr::InList(value, list) => {
                let own = self.in_list(value, list);
                own.or_else(|| self.called(OneOf::new(list).ok()?, &[value]))
            }
            Expr::Like {
                text,
                pattern,
                negated,
            } => {
                let matched = Matched {
                    pattern: pattern.clone(),
                    negated: *negated,
                };
                self.called(matched, &[text])
            }
            Expr::Prefix(text, prefix) => self.called(Prefixed(prefix.clone()), &[text]),
            Expr::Cast(value, to) => {
                let program = self.program(value)?;
                match widening(&self.kind_of(value)?, to).and_then(|d| factor(&program, d)) {
                    Some(factor) => Some(scaled(program, factor)),
                    None => {
                        let function = Arc::new(Cast(to.clone()));
                        self.call(function, vec![(value, Some(program))])
                    }
                }
            }
            Expr::Call(call) => {
                let arguments = call.arguments.iter().map(|argument| (argument, None));
                self.call(Arc::clone(&call.function), arguments.collect())
            }
        }
    }

    fn called(&self, function: impl Function + 'static, arguments: &[&Expr]) -> Option<Expression> {
        let arguments = arguments.iter().map(|argument| (*argument, None));
        self.call(Arc::new(function), arguments.collect())
    }

    /// A call of a function over programs of its arguments, some of which are made already.
    /// Constants are given to it as they are.
    fn call(
        &self,
        function: Arc<dyn Function>,
        arguments: Vec<(&Expr, Option<Expression>)>,
    ) -> Option<Expression> {
        let constant = |(argument, _): &(&Expr, Option<Expression>)| match argument {
            Expr::Literal(value) => Some(Arc::clone(value.array())),
            _ => None,
        };
        let constants: Vec<_> = arguments.iter().map(constant).collect();
        let all = constants.iter().flatten().cloned().map(Column::constant);
        let all: Vec<Column> = all.collect();
        if !all.is_empty() && all.len() == arguments.len() && !function.is_volatile() {
            // Its error is that of the rows, of which there may be none.
            if let Ok(value) = function.call(&all, 1) {
                let value = Scalar::of(&value, 0);
                return literal(&value).or_else(|| self.called(Repeated(value), &[]));
            }
        }
        let mut given = Vec::with_capacity(arguments.len());
        for ((argument, program), constant) in arguments.into_iter().zip(&constants) {
            if constant.is_none() {
                let program = match program {
                    Some(program) => program,
                    None => self.program(argument)?,
                };
                given.push((program, self.kind_of(argument)?));
            }
        }
        let is_text = matches!(given.as_slice(), [(_, DataType::Utf8View)]);
        let by_entry = is_text && function.never_fails();
        Some(Expression::Foreign(Foreign {
            function: Arc::new(Called {
                function,
                constants,
            }),
            arguments: given,
            by_entry,
            known: Arc::default(),
        }))
    }

    fn binary(&self, left: &Expr, op: Operator, right: &Expr) -> Option<Expression> {
        let both = || Some(vec![self.program(left)?, self.program(right)?]);
        let operation = match op {
            Operator::And => return Some(Expression::And(both()?)),
            Operator::Or => return Some(Expression::Or(both()?)),
            Operator::Plus => Arithmetic::Add,
            Operator::Minus => Arithmetic::Subtract,
            Operator::Multiply => Arithmetic::Multiply,
            op => {
                let own = self.compare(comparison(op)?, left, right);
                return own.or_else(|| self.called(Compared(op), &[left, right]));
            }
        };
        // Each side is made once: sides of sides would be made four times.
        let (x, y) = (self.program(left)?, self.program(right)?);
        let kinds = [self.kind_of(left)?, self.kind_of(right)?];
        let factors = digits_to_add(op, &kinds);
        let factors = factors.and_then(|(a, b)| Some((factor(&x, a)?, factor(&y, b)?)));
        match factors {
            Some((a, b)) => {
                let (x, y) = (scaled(x, a), scaled(y, b));
                Some(Expression::Arithmetic(operation, Box::new(x), Box::new(y)))
            }
            None => {
                let sides = vec![(left, Some(x)), (right, Some(y))];
                self.call(Arc::new(Computed(op)), sides)
            }
        }
    }

    fn compare(&self, comparison: Comparison, left: &Expr, right: &Expr) -> Option<Expression> {
        let (a, b) = (self.kind_of(left)?, self.kind_of(right)?);
        let same = match (&a, &b) {
            (DataType::Decimal128(_, a), DataType::Decimal128(_, b)) => a == b,
            (DataType::Utf8 | DataType::Utf8View, DataType::Utf8 | DataType::Utf8View) => true,
            (a, b) => a == b && Kind::of(a) != Kind::Other,
        };
        if !same {
            return None;
        }
        let (left, right) = (self.program(left)?, self.program(right)?);
        Some(Expression::Compare(
            comparison,
            Box::new(left),
            Box::new(right),
        ))
    }

    fn case(&self, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> Option<Expression> {
        let branches = branches.iter();
        let branches =
            branches.map(|(when, then)| Some((self.program(when)?, self.program(then)?)));
        let otherwise = match otherwise {
            Some(value) => Some(Box::new(self.program(value)?)),
            None => None,
        };
        Some(Expression::Case(
            branches.collect::<Option<_>>()?,
            otherwise,
        ))
    }

    fn in_list(&self, value: &Expr, list: &[Scalar]) -> Option<Expression> {
        let kind = self.kind_of(value)?;
        if Kind::of(&kind) != Kind::Int {
            return None;
        }
        let integer = |value: &Scalar| match literal(value)? {
            Expression::Constant(Constant::Int(number)) => {
                (*value.data_type() == kind).then_some(number)
            }
            _ => None,
        };
        let mut values = list.iter().map(integer).collect::<Option<Vec<i64>>>()?;
        values.sort_unstable();
        Some(Expression::OneOf(Box::new(self.program(value)?), values))
    }
}

/// Digits that the sides of arithmetic need more behind the point to be computed with as integers;
/// `None` for types that the engine does not compute with.
fn digits_to_add(op: Operator, kinds: &[DataType; 2]) -> Option<(i8, i8)> {
    match kinds {
        [DataType::Float64, DataType::Float64] => Some((0, 0)),
        &[DataType::Decimal128(p, s), DataType::Decimal128(q, t)] if s >= 0 && t >= 0 => {
            let DataType::Decimal128(_, scale) = Computed(op).kind(kinds) else {
                return None;
            };
            match op {
                _ if p > 38 || q > 38 => None,
                Operator::Multiply => (scale == s + t).then_some((0, 0)),
                _ => Some((scale - s, scale - t)),
            }
        }
        _ => None,
    }
}

/// Digits behind the point that a cast adds which changes no value, to more digits or to a wider
/// integer; `None` for any other cast.
fn widening(from: &DataType, to: &DataType) -> Option<i8> {
    if from == to {
        return Some(0);
    }
    let digits = |kind: &DataType| match kind {
        DataType::Int16 => Some(5),
        DataType::Int32 => Some(10),
        DataType::Int64 => Some(19),
        _ => None,
    };
    let whole = |precision: u8, scale: i8| i16::from(precision) - i16::from(scale);
    match (from, to) {
        (DataType::Int16 | DataType::Int32, DataType::Int32 | DataType::Int64) => {
            (digits(from)? < digits(to)?).then_some(0)
        }
        (&DataType::Decimal128(p, s), &DataType::Decimal128(q, t)) => {
            (t >= s && whole(q, t) >= whole(p, s)).then_some(t - s)
        }
        (from, &DataType::Decimal128(q, t)) => (whole(q, t) >= digits(from)?).then_some(t),
        _ => None,
    }
}

fn comparison(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Eq => Comparison::Equal,
        Operator::NotEq => Comparison::NotEqual,
        Operator::Lt => Comparison::Less,
        Operator::LtEq => Comparison::LessOrEqual,
        Operator::Gt => Comparison::Greater,
        Operator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// The factor that adds digits behind the point; `None` if it, or the constant that it is for,
/// becomes too large.
fn factor(program: &Expression, digits: i8) -> Option<i64> {
    let factor = 10i64.checked_pow(u32::try_from(digits).ok()?)?;
    match program {
        Expression::Constant(Constant::Int(value)) => value.checked_mul(factor).map(|_| factor),
        _ => Some(factor),
    }
}

/// A program times a [`factor`].
fn scaled(program: Expression, factor: i64) -> Expression {
    match program {
        program if factor == 1 => program,
        Expression::Constant(Constant::Int(value)) => {
            Expression::Constant(Constant::Int(value.wrapping_mul(factor)))
        }
        program => Expression::Scaled(Box::new(program), factor),
    }
}

fn literal(value: &Scalar) -> Option<Expression> {
    let integer = |value: i64| Some(Expression::Constant(Constant::Int(value)));
    let kind = value.data_type();
    if value.is_null() {
        return (*kind != DataType::Null).then(|| Expression::Null(kind.clone()));
    }
    match kind {
        DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Decimal128(..) => {
            integer(i64::try_from(value.as_number()?.0).ok()?)
        }
        DataType::Date32 => integer(value.as_date()?.into()),
        DataType::Timestamp(TimeUnit::Microsecond, _) => integer(value.as_timestamp()?.0),
        DataType::Time64(TimeUnit::Microsecond) => integer(value.as_time()?),
        DataType::Float64 => Some(Expression::Constant(Constant::Float(value.as_float()?))),
        DataType::Boolean => Some(Expression::Constant(Constant::Bool(value.as_bool()?))),
        DataType::Utf8 | DataType::Utf8View => {
            let text = value.as_text()?.to_owned();
            Some(Expression::Constant(Constant::Text(text)))
        }
        _ => None,
    }
}
