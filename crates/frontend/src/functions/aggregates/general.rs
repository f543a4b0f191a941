//! Counts, least and greatest values, booleans and bits, first and last values.
//!
//! ```text
//! max(x) over 3, NULL, 7 = 7        arg_max(name, x) = the name in the row of 7
//! ```
//!
//! Of equal values, such as 1.0 and 1.00, `min` and `max` give the last one, `arg_min` and
//! `arg_max` the row of the first one.

use arrow_array::{Array, ArrayRef};

use super::{
    Aggregate, Catalogue, Extreme, Fold, State, argument, as_argument, copied, fold, make, null,
    one, plain,
};
use crate::error::Result;
use crate::functions::kernel::{Bool, Call, I16, I32, I64};
use crate::functions::ordering::{Comparator, comparator};
use crate::types::{Internal, Type};

/// `count(*)`, and `count(x)`, to which NULLs never come.
pub(super) struct Count(pub(super) i64);

impl State for Count {
    fn add(&mut self, call: &Call<'_>, _: &[ArrayRef]) -> Result<()> {
        self.0 += call.rows as i64;
        Ok(())
    }

    fn remove(&mut self, call: &Call<'_>, _: &[ArrayRef]) -> Result<bool> {
        self.0 -= call.rows as i64;
        Ok(true)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        one::<I64>(call, Some(self.0))
    }
}

/// Counts of true and of false values.
#[derive(Default)]
struct Truths {
    yes: i64,
    no: i64,
}

impl Truths {
    fn of(&mut self, value: bool) -> &mut i64 {
        if value { &mut self.yes } else { &mut self.no }
    }

    fn any(&self) -> bool {
        self.yes + self.no > 0
    }
}

macro_rules! truths {
    ($($(#[$doc:meta])* $name:ident $out:ident $all:ident $result:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Default)]
        struct $name(Truths);

        impl Fold for $name {
            type In = Bool;
            type Out = $out;
            fn step(&mut self, item: bool) -> Result<()> {
                *self.0.of(item) += 1;
                Ok(())
            }
            fn undo(&mut self, item: bool) -> Result<bool> {
                *self.0.of(item) -= 1;
                Ok(true)
            }
            fn finish(&self) -> Result<Option<<$out as crate::functions::kernel::Output>::Item>> {
                let $all = &self.0;
                Ok($result)
            }
        }
    )*};
}

truths! {
    /// `bool_and` and `every`.
    AllTrue Bool all all.any().then_some(all.no == 0);
    /// `bool_or`.
    AnyTrue Bool all all.any().then_some(all.yes > 0);
    /// `count_if`.
    CountTrue I64 all Some(all.yes);
}

macro_rules! bits {
    ($($(#[$doc:meta])* $name:ident $item:ident $native:ty, $op:tt;)*) => {$(
        $(#[$doc])*
        #[derive(Default)]
        struct $name(Option<$native>);

        impl Fold for $name {
            type In = $item;
            type Out = $item;
            fn step(&mut self, item: $native) -> Result<()> {
                self.0 = Some(self.0.map_or(item, |known| known $op item));
                Ok(())
            }
            fn finish(&self) -> Result<Option<$native>> {
                Ok(self.0)
            }
        }
    )*};
}

bits! {
    /// `bit_and` of SMALLINT.
    And16 I16 i16, &;
    /// `bit_and` of INTEGER.
    And32 I32 i32, &;
    /// `bit_and` of BIGINT.
    And64 I64 i64, &;
    /// `bit_or` of SMALLINT.
    Or16 I16 i16, |;
    /// `bit_or` of INTEGER.
    Or32 I32 i32, |;
    /// `bit_or` of BIGINT.
    Or64 I64 i64, |;
    /// `bit_xor` of SMALLINT.
    Xor16 I16 i16, ^;
    /// `bit_xor` of INTEGER.
    Xor32 I32 i32, ^;
    /// `bit_xor` of BIGINT.
    Xor64 I64 i64, ^;
}

/// The row in which an argument is least or greatest: `min`, `max`, `arg_min`, `arg_max`.
struct Best {
    compare: Comparator,
    end: Extreme,
    /// The place among the arguments of the value that is compared.
    by: usize,
    /// The best row's arguments.
    best: Vec<ArrayRef>,
}

impl Best {
    fn is_better(&self, a: (&ArrayRef, usize), b: (&ArrayRef, usize)) -> bool {
        let order = (self.compare)(a.0, a.1, b.0, b.1);
        match self.end {
            // Of equal values `min` and `max` keep the last, as PostgreSQL does.
            _ if order.is_eq() => self.by == 0,
            Extreme::Least => order.is_lt(),
            Extreme::Greatest => order.is_gt(),
        }
    }
}

impl State for Best {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let values = argument(arguments, self.by)?;
        let mut best = None;
        for row in 0..values.len() {
            if arguments.iter().any(|array| array.is_null(row)) {
                continue;
            }
            if best.is_none_or(|best| self.is_better((values, row), (values, best))) {
                best = Some(row);
            }
        }
        let Some(row) = best else { return Ok(()) };
        let known = self.best.get(self.by);
        if known.is_none_or(|known| self.is_better((values, row), (known, 0))) {
            let row = arguments.iter().map(|array| copied(array, row));
            self.best = row.collect::<Result<_>>()?;
        }
        Ok(())
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        Ok(self
            .best
            .first()
            .map_or_else(|| null(call), ArrayRef::clone))
    }

    fn extreme(&self) -> Option<Extreme> {
        (self.by == 0).then_some(self.end)
    }

    fn size(&self) -> usize {
        let sizes = self.best.iter().map(|array| array.get_array_memory_size());
        64 + sizes.sum::<usize>()
    }
}

/// The first or the last row's value, NULL or not; `any_value`, to which NULLs never come.
struct Edge {
    last: bool,
    value: Option<ArrayRef>,
}

impl State for Edge {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let values = argument(arguments, 0)?;
        if values.is_empty() || !self.last && self.value.is_some() {
            return Ok(());
        }
        let row = if self.last { values.len() - 1 } else { 0 };
        self.value = Some(copied(values, row)?);
        Ok(())
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        Ok(self.value.clone().unwrap_or_else(|| null(call)))
    }

    fn size(&self) -> usize {
        64 + self.value.as_ref().map_or(0, |v| v.get_array_memory_size())
    }
}

/// `min` and `max`; PostgreSQL's own overloads come first, so that strings become TEXT.
fn register_extremes(c: &mut Catalogue) {
    let compared = [
        Type::Int2,
        Type::Int4,
        Type::Int8,
        Type::Float4,
        Type::Float8,
        Type::Numeric(None),
        Type::Oid,
        Type::Internal(Internal::Xid8),
        Type::Internal(Internal::Tid),
        Type::Text,
        Type::Char(None),
        Type::Date,
        Type::Time(None),
        Type::TimeTz(None),
        Type::Timestamp(None),
        Type::TimestampTz(None),
        Type::Interval,
        Type::Inet,
        Type::Money,
        Type::AnyArray,
        Type::AnyElement,
    ];
    for (name, end) in [("min", Extreme::Least), ("max", Extreme::Greatest)] {
        for ty in &compared {
            let state = make(move |call, _| best(call, 0, end));
            c.add_aggregate(plain(name, std::slice::from_ref(ty), as_argument(), state));
        }
    }
    let by_other = [
        ("arg_min", Extreme::Least),
        ("min_by", Extreme::Least),
        ("argmin", Extreme::Least),
        ("arg_max", Extreme::Greatest),
        ("max_by", Extreme::Greatest),
        ("argmax", Extreme::Greatest),
    ];
    for (name, end) in by_other {
        let state = make(move |call, _| best(call, 1, end));
        c.add_aggregate(plain(name, &[Type::Any, Type::Any], as_argument(), state).in_order());
    }
}

fn best(call: &Call<'_>, by: usize, end: Extreme) -> Result<Best> {
    Ok(Best {
        compare: comparator(call.types.get(by).unwrap_or(call.returns))?,
        end,
        by,
        best: Vec::new(),
    })
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Any, AnyElement, Int2, Int4, Int8};
    let count = make(|_, _| Ok(Count(0)));
    c.add_aggregate(plain("count", &[], Int8, count.clone()).with_nulls());
    c.add_aggregate(plain("count", &[Any], Int8, count));
    let boolean = &[Type::Bool];
    for name in ["bool_and", "every"] {
        c.add_aggregate(plain(name, boolean, Type::Bool, fold::<AllTrue>()));
    }
    c.add_aggregate(plain("bool_or", boolean, Type::Bool, fold::<AnyTrue>()));
    for name in ["count_if", "countif"] {
        c.add_aggregate(plain(name, boolean, Int8, fold::<CountTrue>()));
    }
    let bits = [
        ("bit_and", Int2, fold::<And16>()),
        ("bit_and", Int4, fold::<And32>()),
        ("bit_and", Int8, fold::<And64>()),
        ("bit_or", Int2, fold::<Or16>()),
        ("bit_or", Int4, fold::<Or32>()),
        ("bit_or", Int8, fold::<Or64>()),
        ("bit_xor", Int2, fold::<Xor16>()),
        ("bit_xor", Int4, fold::<Xor32>()),
        ("bit_xor", Int8, fold::<Xor64>()),
    ];
    for (name, ty, state) in bits {
        c.add_aggregate(plain(name, std::slice::from_ref(&ty), ty.clone(), state));
    }
    register_extremes(c);
    let edge = |last| make(move |_, _| Ok(Edge { last, value: None }));
    let any = |name, last| -> Aggregate {
        plain(name, &[AnyElement], as_argument(), edge(last)).in_order()
    };
    c.add_aggregate(any("any_value", false));
    c.add_aggregate(any("first", false).with_nulls());
    c.add_aggregate(any("last", true).with_nulls());
}
