//! `sum` and `avg` by PostgreSQL's result types, and products and means of floats.
//!
//! | argument | sum | avg |
//! |---|---|---|
//! | SMALLINT, INTEGER | BIGINT | NUMERIC |
//! | BIGINT | NUMERIC(38, 0) | NUMERIC |
//! | NUMERIC(p, s) | NUMERIC(38, s) | NUMERIC |
//! | NUMERIC | NUMERIC | NUMERIC |
//! | REAL | REAL | DOUBLE PRECISION |
//! | DOUBLE PRECISION | DOUBLE PRECISION | DOUBLE PRECISION |
//! | INTERVAL | INTERVAL | INTERVAL |
//! | MONEY | MONEY | none |
//!
//! Floats are added one by one in the order in which they come, so that rounding is that of
//! PostgreSQL. A sum of floats cannot take values back; exact sums and intervals can.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::exact::{Decimal, Sum, Total};
use super::{
    Catalogue, Fold, Maker, State, argument, each, float_overflow, fold, make, one, plain,
};
use crate::error::{Error, Result};
use crate::functions::Returns;
use crate::functions::kernel::{Bytes, Call, F32, F64, I64, Num, Span};
use crate::types::{DECIMAL_DIGITS, Type};
use crate::values::{Interval, Numeric, money};

/// The result that is wanted of a total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The sum as NUMERIC.
    Sum,
    /// The sum as BIGINT.
    Whole,
    /// The mean.
    Mean,
    /// The variance, of a sample or of all.
    Variance { sample: bool },
    /// The root of it.
    Deviation { sample: bool },
}

/// An exact total of integers or NUMERIC values.
struct Exact {
    total: Total,
    wanted: Wanted,
}

/// Makes states of exact totals.
pub(super) fn exact(wanted: Wanted) -> Maker {
    make(move |_, _| {
        let squares = matches!(wanted, Wanted::Variance { .. } | Wanted::Deviation { .. });
        let total = if squares {
            Total::with_squares()
        } else {
            Total::default()
        };
        Ok(Exact { total, wanted })
    })
}

impl Exact {
    /// Adds or takes back the values of an array of whichever numbers.
    fn change(&mut self, array: &ArrayRef, remove: bool) -> Result<bool> {
        let total = &mut self.total;
        let mut able = true;
        let mut change = |value: i128, scale: u32| {
            if remove {
                able &= total.remove(value, scale);
            } else {
                total.add(value, scale);
            }
        };
        match array.data_type() {
            DataType::Int16 => {
                let values = array.as_primitive::<Int16Type>();
                values.iter().flatten().for_each(|v| change(v.into(), 0));
            }
            DataType::Int32 => {
                let values = array.as_primitive::<Int32Type>();
                values.iter().flatten().for_each(|v| change(v.into(), 0));
            }
            DataType::Int64 => {
                let values = array.as_primitive::<Int64Type>();
                values.iter().flatten().for_each(|v| change(v.into(), 0));
            }
            DataType::Decimal128(_, scale) => {
                let scale = scale.unsigned_abs().into();
                let values = array.as_primitive::<Decimal128Type>();
                values.iter().flatten().for_each(|v| change(v, scale));
            }
            _ => each::<Num>(array, |value| {
                if remove {
                    able &= total.remove_numeric(&value);
                } else {
                    total.add_numeric(&value);
                }
                Ok(())
            })?,
        }
        Ok(able)
    }

    fn numeric(&self) -> Result<Option<Numeric>> {
        let sum = match self.wanted {
            Wanted::Variance { sample } | Wanted::Deviation { sample } => {
                self.total.variance(sample)
            }
            _ => self.total.sum(),
        };
        let value = match sum {
            Sum::Empty => return Ok(None),
            Sum::NotANumber => return Numeric::parse("NaN").map(Some),
            Sum::Infinite { negative: false } => return Numeric::parse("Infinity").map(Some),
            Sum::Infinite { negative: true } => return Numeric::parse("-Infinity").map(Some),
            Sum::Finite(value) => value,
        };
        let value = match self.wanted {
            Wanted::Mean => value.divided(&Decimal {
                mantissa: self.total.count().into(),
                scale: 0,
            }),
            Wanted::Deviation { .. } => value.square_root(),
            _ => value,
        };
        value.numeric().map(Some)
    }
}

impl State for Exact {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        self.change(argument(arguments, 0)?, false).map(|_| ())
    }

    fn remove(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<bool> {
        self.change(argument(arguments, 0)?, true)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        if self.wanted != Wanted::Whole {
            return one::<Num>(call, self.numeric()?);
        }
        if self.total.count() == 0 {
            return one::<I64>(call, None);
        }
        let sum = self.total.small().and_then(|sum| i64::try_from(sum).ok());
        let sum = sum.ok_or_else(|| Error::new("22003", "bigint out of range"))?;
        one::<I64>(call, Some(sum))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

macro_rules! float_sums {
    ($($(#[$doc:meta])* $name:ident $item:ident $native:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Default)]
        struct $name(Option<$native>);

        impl Fold for $name {
            type In = $item;
            type Out = $item;
            fn step(&mut self, item: $native) -> Result<()> {
                let known = self.0.unwrap_or(0.0);
                let sum = self.0.map_or(item, |known| known + item);
                if sum.is_infinite() && known.is_finite() && item.is_finite() {
                    return Err(float_overflow());
                }
                self.0 = Some(sum);
                Ok(())
            }
            fn finish(&self) -> Result<Option<$native>> {
                Ok(self.0)
            }
        }
    )*};
}

float_sums! {
    /// `sum` of REAL.
    SumF32 F32 f32;
    /// `sum` of DOUBLE PRECISION.
    SumF64 F64 f64;
}

/// `sum` of MONEY, and how many values there are.
#[derive(Default)]
struct MoneySum {
    sum: i64,
    count: i64,
}

impl Fold for MoneySum {
    type In = Bytes;
    type Out = Bytes;
    fn step(&mut self, item: &[u8]) -> Result<()> {
        let sum = self.sum.checked_add(money::decode(item));
        self.sum = sum.ok_or_else(money::out_of_range)?;
        self.count += 1;
        Ok(())
    }
    fn undo(&mut self, item: &[u8]) -> Result<bool> {
        let sum = self.sum.checked_sub(money::decode(item));
        self.sum = sum.ok_or_else(money::out_of_range)?;
        self.count -= 1;
        Ok(true)
    }
    fn finish(&self) -> Result<Option<Vec<u8>>> {
        Ok((self.count > 0).then(|| money::encode(self.sum)))
    }
}

/// `product`.
#[derive(Default)]
struct Product(Option<f64>);

impl Fold for Product {
    type In = F64;
    type Out = F64;
    fn step(&mut self, item: f64) -> Result<()> {
        self.0 = Some(self.0.unwrap_or(1.0) * item);
        Ok(())
    }
    fn finish(&self) -> Result<Option<f64>> {
        Ok(self.0)
    }
}

/// A sum whose rounding errors are summed, too (Kahan's summation as Neumaier improves it).
#[derive(Default)]
struct Compensated {
    sum: f64,
    lost: f64,
    count: u64,
}

impl Compensated {
    fn add(&mut self, item: f64) {
        let sum = self.sum + item;
        if sum.is_finite() {
            self.lost += if self.sum.abs() >= item.abs() {
                (self.sum - sum) + item
            } else {
                (item - sum) + self.sum
            };
        }
        self.sum = sum;
        self.count += 1;
    }

    fn sum(&self) -> Option<f64> {
        (self.count > 0).then_some(self.sum + self.lost)
    }

    fn mean(&self) -> Option<f64> {
        self.sum().map(|sum| sum / self.count as f64)
    }
}

macro_rules! compensated {
    ($($(#[$doc:meta])* $name:ident |$item:ident| $value:expr, |$all:ident| $result:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Default)]
        struct $name(Compensated);

        impl Fold for $name {
            type In = F64;
            type Out = F64;
            fn step(&mut self, $item: f64) -> Result<()> {
                self.0.add($value);
                Ok(())
            }
            fn finish(&self) -> Result<Option<f64>> {
                let $all = &self.0;
                Ok($result)
            }
        }
    )*};
}

compensated! {
    /// `fsum`.
    CompensatedSum |item| item, |all| all.sum();
    /// `favg`.
    CompensatedMean |item| item, |all| all.mean();
    /// `geomean`, by the mean of logarithms.
    GeometricMean |item| item.ln(), |all| all.mean().map(f64::exp);
}

/// The sum of intervals, field by field.
#[derive(Default)]
struct Spans {
    sum: Interval,
    count: i64,
}

impl Spans {
    fn change(&mut self, item: Interval, count: i64) -> Result<()> {
        self.sum = match count < 0 {
            true => self.sum.minus(&item)?,
            false => self.sum.plus(&item)?,
        };
        self.count += count;
        Ok(())
    }
}

macro_rules! spans {
    ($($(#[$doc:meta])* $name:ident |$all:ident| $result:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Default)]
        struct $name(Spans);

        impl Fold for $name {
            type In = Span;
            type Out = Span;
            fn step(&mut self, item: Interval) -> Result<()> {
                self.0.change(item, 1)
            }
            fn undo(&mut self, item: Interval) -> Result<bool> {
                self.0.change(item, -1)?;
                Ok(true)
            }
            fn finish(&self) -> Result<Option<Interval>> {
                let $all = &self.0;
                match $all.count {
                    0 => Ok(None),
                    _ => $result.map(Some),
                }
            }
        }
    )*};
}

spans! {
    /// `sum` of INTERVAL.
    SpanSum |all| Ok(all.sum);
    /// `avg` of INTERVAL.
    SpanMean |all| all.sum.over(all.count as f64);
}

/// NUMERIC with all digits that there are, at the argument's scale.
fn widest() -> Returns {
    Returns::Of(Arc::new(|types| match types.first() {
        Some(Type::Numeric(Some(digits))) => {
            Type::numeric(DECIMAL_DIGITS.into(), digits.scale.into())
        }
        Some(Type::Int8) => Type::numeric(DECIMAL_DIGITS.into(), 0),
        _ => Type::Numeric(None),
    }))
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Float4, Float8, Int2, Int4, Int8, Interval, Money};
    let numeric = Type::Numeric(None);
    for ty in [Int2, Int4] {
        c.add_aggregate(plain("sum", &[ty], Int8, exact(Wanted::Whole)));
    }
    for ty in [Int8, numeric.clone()] {
        c.add_aggregate(plain("sum", &[ty], widest(), exact(Wanted::Sum)));
    }
    c.add_aggregate(plain("sum", &[Float4], Float4, fold::<SumF32>()));
    c.add_aggregate(plain("sum", &[Float8], Float8, fold::<SumF64>()));
    c.add_aggregate(plain("sum", &[Interval], Interval, fold::<SpanSum>()));
    c.add_aggregate(plain("sum", &[Money], Money, fold::<MoneySum>()));
    for ty in [Int2, Int4, Int8, numeric.clone()] {
        c.add_aggregate(plain("avg", &[ty], numeric.clone(), exact(Wanted::Mean)));
    }
    c.add_aggregate(plain("avg", &[Interval], Interval, fold::<SpanMean>()));
    let floats = [
        ("product", fold::<Product>()),
        ("fsum", fold::<CompensatedSum>()),
        ("sumkahan", fold::<CompensatedSum>()),
        ("kahan_sum", fold::<CompensatedSum>()),
        ("favg", fold::<CompensatedMean>()),
        ("geomean", fold::<GeometricMean>()),
        ("geometric_mean", fold::<GeometricMean>()),
    ];
    for (name, state) in floats {
        c.add_aggregate(plain(name, &[Float8], Float8, state));
    }
}
