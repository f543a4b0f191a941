//! Operations of Arrow as functions, for types that the bulk engine does not compute with itself.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Datum, Scalar as One, StringViewArray};
use arrow::compute::kernels::comparison::{like, nlike, starts_with};
use arrow::compute::kernels::{cmp, numeric};
use arrow::compute::{cast_with_options, concat};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use freestone_frontend::functions::kernel::{Column, repeated};

use super::Operator;
use super::function::{Function, only};
use super::scalar::{STRICT, Scalar};
use crate::error::{Error, Result};

/// An argument as Arrow's operations take it.
fn datum(column: &Column) -> Box<dyn Datum> {
    match column.constant {
        true => Box::new(One::new(Arc::clone(&column.array))),
        false => Box::new(Arc::clone(&column.array)),
    }
}

fn both(arguments: &[Column]) -> Result<[Box<dyn Datum>; 2]> {
    match arguments {
        [left, right] => Ok([datum(left), datum(right)]),
        _ => Err(Error::internal("an operator of two values")),
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Compared(pub(crate) Operator);

impl Function for Compared {
    fn kind(&self, _: &[DataType]) -> DataType {
        DataType::Boolean
    }

    fn never_fails(&self) -> bool {
        true
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let [left, right] = both(arguments)?;
        let (left, right) = (left.as_ref(), right.as_ref());
        Ok(Arc::new(match self.0 {
            Operator::Eq => cmp::eq(left, right),
            Operator::NotEq => cmp::neq(left, right),
            Operator::Lt => cmp::lt(left, right),
            Operator::LtEq => cmp::lt_eq(left, right),
            Operator::Gt => cmp::gt(left, right),
            Operator::GtEq => cmp::gt_eq(left, right),
            other => return Err(Error::internal(format!("{other:?} is no comparison"))),
        }?))
    }
}

/// A sum, difference or product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Computed(pub(crate) Operator);

impl Function for Computed {
    fn kind(&self, arguments: &[DataType]) -> DataType {
        let [left, right] = arguments else {
            return DataType::Null;
        };
        let (&DataType::Decimal128(p, s), &DataType::Decimal128(q, t)) = (left, right) else {
            return left.clone();
        };
        // Arrow's own rule.
        let (digits, scale) = match self.0 {
            Operator::Multiply => (i16::from(p) + i16::from(q) + 1, s + t),
            _ => {
                let scale = s.max(t);
                let whole = |p: u8, s: i8| i16::from(p) - i16::from(s);
                (whole(p, s).max(whole(q, t)) + i16::from(scale) + 1, scale)
            }
        };
        let digits = u8::try_from(digits).unwrap_or(0);
        DataType::Decimal128(
            digits.clamp(1, arrow::datatypes::DECIMAL128_MAX_PRECISION),
            scale,
        )
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let [left, right] = both(arguments)?;
        let (left, right) = (left.as_ref(), right.as_ref());
        Ok(match self.0 {
            Operator::Plus => numeric::add(left, right),
            Operator::Minus => numeric::sub(left, right),
            Operator::Multiply => numeric::mul(left, right),
            other => return Err(Error::internal(format!("{other:?} is no arithmetic"))),
        }?)
    }
}

/// A number with the other sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Negated;

impl Function for Negated {
    fn kind(&self, arguments: &[DataType]) -> DataType {
        arguments.first().cloned().unwrap_or(DataType::Null)
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        Ok(numeric::neg(only(arguments)?.as_ref())?)
    }
}

/// A value as another type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cast(pub(crate) DataType);

impl Function for Cast {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.0.clone()
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        Ok(cast_with_options(only(arguments)?, &self.0, &STRICT)?)
    }
}

/// Whether a text is LIKE a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matched {
    pub(crate) pattern: String,
    pub(crate) negated: bool,
}

impl Function for Matched {
    fn kind(&self, _: &[DataType]) -> DataType {
        DataType::Boolean
    }

    fn never_fails(&self) -> bool {
        true
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let text = only(arguments)?;
        let pattern = One::new(pattern_for(text, &self.pattern));
        Ok(Arc::new(match self.negated {
            true => nlike(text, &pattern),
            false => like(text, &pattern),
        }?))
    }
}

/// Whether a text begins with another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Prefixed(pub(crate) String);

impl Function for Prefixed {
    fn kind(&self, _: &[DataType]) -> DataType {
        DataType::Boolean
    }

    fn never_fails(&self) -> bool {
        true
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let text = only(arguments)?;
        let prefix = One::new(pattern_for(text, &self.0));
        Ok(Arc::new(starts_with(text, &prefix)?))
    }
}

/// A text in an array of the type of others.
fn pattern_for(text: &ArrayRef, pattern: &str) -> ArrayRef {
    match text.data_type() {
        DataType::Utf8 => Arc::new(arrow::array::StringArray::from(vec![pattern])),
        _ => Arc::new(StringViewArray::from(vec![pattern])),
    }
}

/// Whether a value is one of some. Values are compared by their bytes in rows of Arrow.
#[derive(Debug)]
pub(crate) struct OneOf {
    list: Vec<Scalar>,
    has_null: bool,
    texts: HashSet<Box<str>>,
    others: Option<(RowConverter, HashSet<Box<[u8]>>)>,
}

impl OneOf {
    /// Some values of one type.
    ///
    /// # Errors
    /// Errors of Arrow for values of a type that is not compared, and of several types.
    pub(crate) fn new(list: &[Scalar]) -> Result<Self> {
        let has_null = list.iter().any(Scalar::is_null);
        let known: Vec<&Scalar> = list.iter().filter(|value| !value.is_null()).collect();
        let texts = known.iter().map(|value| value.as_text().map(Box::from));
        let texts: Option<HashSet<Box<str>>> = texts.collect();
        let others = match (&texts, known.first()) {
            (None, Some(first)) => {
                let arrays: Vec<&dyn Array> = known.iter().map(|v| v.array().as_ref()).collect();
                let field = SortField::new(first.data_type().clone());
                let converter = RowConverter::new(vec![field])?;
                let rows = converter.convert_columns(&[concat(&arrays)?])?;
                let rows = rows.iter().map(|row| Box::from(row.as_ref())).collect();
                Some((converter, rows))
            }
            _ => None,
        };
        Ok(Self {
            list: list.to_vec(),
            has_null,
            texts: texts.unwrap_or_default(),
            others,
        })
    }
}

impl PartialEq for OneOf {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Eq for OneOf {}

impl std::hash::Hash for OneOf {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.list.hash(state);
    }
}

impl Function for OneOf {
    fn kind(&self, _: &[DataType]) -> DataType {
        DataType::Boolean
    }

    fn never_fails(&self) -> bool {
        true
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let values = only(arguments)?;
        // With NULL in the list, a value that is not found may be in it.
        let of = |found: bool| (found || !self.has_null).then_some(found);
        let found: BooleanArray = match (&self.others, values.data_type()) {
            (Some((converter, known)), _) => {
                let rows = converter.convert_columns(&[Arc::clone(values)])?;
                let rows = rows.iter().enumerate();
                rows.map(|(at, row)| match values.is_null(at) {
                    true => None,
                    false => of(known.contains(row.as_ref())),
                })
                .collect()
            }
            (None, DataType::Utf8View) => {
                let texts = values.as_string_view().iter();
                texts.map(|text| of(self.texts.contains(text?))).collect()
            }
            (None, DataType::Utf8) => {
                let texts = values.as_string::<i32>().iter();
                texts.map(|text| of(self.texts.contains(text?))).collect()
            }
            // A list of NULLs alone.
            (None, _) => {
                let rows = 0..values.len();
                rows.map(|at| values.is_valid(at).then(|| of(false)).flatten())
                    .collect()
            }
        };
        Ok(Arc::new(found))
    }
}

/// One value, repeated for each row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Repeated(pub(crate) Scalar);

impl Function for Repeated {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.0.data_type().clone()
    }

    fn call(&self, _: &[Column], rows: usize) -> Result<ArrayRef> {
        Ok(repeated(Arc::clone(self.0.array()), rows))
    }
}
