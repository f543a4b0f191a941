//! Kernels: a function's work on whole columns, made of a closure over one row's values.
//!
//! A closure is written for plain Rust values; the markers [`Str`], [`I64`], [`Num`] … say how
//! they are read from an Arrow array and how results are written:
//!
//! ```text
//! f1::<Str, Str>(|text| Ok(text.to_lowercase()))
//! f2::<Str, I32, Str>(|text, n| Ok(left(text, n)))
//! f2::<Str, Opt<Str>, Str>(|text, other| …)      // called for a NULL in the second place, too
//! f1::<Str, Opt<I32>>(|text| Ok(None))           // may give NULL
//! ```
//!
//! A row with a NULL in a place without `Opt` is NULL, and the closure is not called.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, BooleanBuilder, FixedSizeBinaryBuilder};
use arrow_array::builder::{PrimitiveBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::IntervalMonthDayNano;
use arrow_schema::DataType;

use super::Session;
use crate::error::{Error, Result};
use crate::types::Type;
use crate::types::arrays::{Arrays, Bounds};
use crate::values::{Interval, Numeric};

/// The values of an argument.
#[derive(Clone, Debug)]
pub struct Column {
    /// One value for each row, or one in all if it is constant.
    pub array: ArrayRef,
    /// Whether it is the same for every row.
    pub constant: bool,
}

impl Column {
    /// Values of rows.
    pub fn rows(array: ArrayRef) -> Self {
        Self {
            array,
            constant: false,
        }
    }

    /// The same value for every row.
    pub fn constant(array: ArrayRef) -> Self {
        Self {
            array,
            constant: true,
        }
    }

    /// The place in the array of a row's value.
    #[inline]
    pub fn at(&self, row: usize) -> usize {
        if self.constant { 0 } else { row }
    }

    /// Whether the value of a row is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(self.at(row))
    }
}

/// A call of a function: all that is not a value of a row.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Rows to be computed.
    pub rows: usize,
    /// Types of the arguments.
    pub types: &'a [Type],
    /// Type of the result, with its modifiers; the array must have its Arrow type.
    pub returns: &'a Type,
    /// Settings and the time.
    pub session: &'a Session,
}

/// A function's work on whole columns.
pub type Kernel = Arc<dyn Fn(&Call<'_>, &[Column]) -> Result<ArrayRef> + Send + Sync>;

/// How an argument's values are read.
pub trait Input {
    /// A value of one row.
    type Item<'a>;
    /// Something to read values from.
    type Reader<'a>;
    /// Whether rows in which it is NULL are computed, too.
    const NULLS: bool = false;
    /// Something to read the values of an array from.
    ///
    /// # Errors
    /// `XX000` if the array is of another type.
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>>;
    /// The value at a place that is not NULL.
    fn get<'a>(reader: &Self::Reader<'a>, array: &'a ArrayRef, at: usize) -> Self::Item<'a>;
}

/// How results are written.
pub trait Output {
    /// A result of one row.
    type Item;
    /// Something to write results to.
    type Writer;
    /// A writer for a number of rows of a type.
    fn writer(ty: &Type, rows: usize) -> Self::Writer;
    /// Writes a result.
    ///
    /// # Errors
    /// `22003` where the result does not fit.
    fn put(writer: &mut Self::Writer, item: Self::Item) -> Result<()>;
    /// Writes NULL.
    fn null(writer: &mut Self::Writer);
    /// The array of all that was written.
    fn finish(writer: Self::Writer) -> ArrayRef;
}

fn wrong(array: &ArrayRef, wanted: &str) -> Error {
    Error::internal(format!(
        "a column of {} where {wanted} is read",
        array.data_type()
    ))
}

/// An argument or a result that may be NULL.
pub struct Opt<T>(PhantomData<T>);

impl<T: Input> Input for Opt<T> {
    type Item<'a> = Option<T::Item<'a>>;
    type Reader<'a> = T::Reader<'a>;
    const NULLS: bool = true;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        T::reader(array)
    }
    fn get<'a>(reader: &Self::Reader<'a>, array: &'a ArrayRef, at: usize) -> Self::Item<'a> {
        (!array.is_null(at)).then(|| T::get(reader, array, at))
    }
}

impl<T: Output> Output for Opt<T> {
    type Item = Option<T::Item>;
    type Writer = T::Writer;
    fn writer(ty: &Type, rows: usize) -> Self::Writer {
        T::writer(ty, rows)
    }
    fn put(writer: &mut Self::Writer, item: Self::Item) -> Result<()> {
        match item {
            Some(item) => T::put(writer, item),
            None => {
                T::null(writer);
                Ok(())
            }
        }
    }
    fn null(writer: &mut Self::Writer) {
        T::null(writer);
    }
    fn finish(writer: Self::Writer) -> ArrayRef {
        T::finish(writer)
    }
}

macro_rules! primitives {
    ($($(#[$doc:meta])* $marker:ident $arrow:ident $native:ty;)*) => {$(
        $(#[$doc])*
        pub struct $marker;

        impl Input for $marker {
            type Item<'a> = $native;
            type Reader<'a> = &'a PrimitiveArray<$arrow>;
            fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
                array.as_primitive_opt().ok_or_else(|| wrong(array, stringify!($marker)))
            }
            #[inline]
            fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> $native {
                reader.value(at)
            }
        }

        impl Output for $marker {
            type Item = $native;
            type Writer = PrimitiveBuilder<$arrow>;
            fn writer(ty: &Type, rows: usize) -> Self::Writer {
                primitive_builder::<$arrow>(ty, rows)
            }
            #[inline]
            fn put(writer: &mut Self::Writer, item: $native) -> Result<()> {
                writer.append_value(item);
                Ok(())
            }
            fn null(writer: &mut Self::Writer) {
                writer.append_null();
            }
            fn finish(mut writer: Self::Writer) -> ArrayRef {
                Arc::new(writer.finish())
            }
        }
    )*};
}

fn primitive_builder<T: ArrowPrimitiveType>(ty: &Type, rows: usize) -> PrimitiveBuilder<T> {
    let builder = PrimitiveBuilder::with_capacity(rows);
    match ty.arrow() {
        // A zone is a part of the Arrow type.
        kind @ DataType::Timestamp(..) if T::DATA_TYPE != kind => builder.with_data_type(kind),
        _ => builder,
    }
}

primitives! {
    /// SMALLINT.
    I16 Int16Type i16;
    /// INTEGER.
    I32 Int32Type i32;
    /// BIGINT, OID and the REG types.
    I64 Int64Type i64;
    /// REAL.
    F32 Float32Type f32;
    /// DOUBLE PRECISION.
    F64 Float64Type f64;
    /// DATE, days since 1970-01-01.
    Date Date32Type i32;
    /// TIME, microseconds since midnight.
    Time Time64MicrosecondType i64;
    /// TIMESTAMP and TIMESTAMPTZ, microseconds since 1970-01-01 (UTC).
    Stamp TimestampMicrosecondType i64;
}

/// BOOLEAN.
pub struct Bool;

impl Input for Bool {
    type Item<'a> = bool;
    type Reader<'a> = &'a arrow_array::BooleanArray;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        array
            .as_boolean_opt()
            .ok_or_else(|| wrong(array, "BOOLEAN"))
    }
    #[inline]
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> bool {
        reader.value(at)
    }
}

impl Output for Bool {
    type Item = bool;
    type Writer = BooleanBuilder;
    fn writer(_: &Type, rows: usize) -> Self::Writer {
        BooleanBuilder::with_capacity(rows)
    }
    fn put(writer: &mut Self::Writer, item: bool) -> Result<()> {
        writer.append_value(item);
        Ok(())
    }
    fn null(writer: &mut Self::Writer) {
        writer.append_null();
    }
    fn finish(mut writer: Self::Writer) -> ArrayRef {
        Arc::new(writer.finish())
    }
}

/// TEXT and all types whose values are texts.
pub struct Str;

/// A text to be written: a closure gives `String`, `&'static str` or a [`Cow`] by `.into()`.
pub type Text = Cow<'static, str>;

impl Input for Str {
    type Item<'a> = &'a str;
    type Reader<'a> = &'a arrow_array::StringViewArray;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        array
            .as_string_view_opt()
            .ok_or_else(|| wrong(array, "TEXT"))
    }
    #[inline]
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> &'a str {
        reader.value(at)
    }
}

impl Output for Str {
    type Item = String;
    type Writer = StringViewBuilder;
    fn writer(_: &Type, rows: usize) -> Self::Writer {
        StringViewBuilder::with_capacity(rows)
    }
    fn put(writer: &mut Self::Writer, item: String) -> Result<()> {
        writer.append_value(item);
        Ok(())
    }
    fn null(writer: &mut Self::Writer) {
        writer.append_null();
    }
    fn finish(mut writer: Self::Writer) -> ArrayRef {
        Arc::new(writer.finish())
    }
}

/// BYTEA.
pub struct Bytes;

impl Input for Bytes {
    type Item<'a> = &'a [u8];
    type Reader<'a> = &'a arrow_array::BinaryViewArray;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        array
            .as_binary_view_opt()
            .ok_or_else(|| wrong(array, "BYTEA"))
    }
    #[inline]
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> &'a [u8] {
        reader.value(at)
    }
}

impl Output for Bytes {
    type Item = Vec<u8>;
    type Writer = BinaryViewBuilder;
    fn writer(_: &Type, rows: usize) -> Self::Writer {
        BinaryViewBuilder::with_capacity(rows)
    }
    fn put(writer: &mut Self::Writer, item: Vec<u8>) -> Result<()> {
        writer.append_value(item);
        Ok(())
    }
    fn null(writer: &mut Self::Writer) {
        writer.append_null();
    }
    fn finish(mut writer: Self::Writer) -> ArrayRef {
        Arc::new(writer.finish())
    }
}

/// NUMERIC of either form.
pub struct Num;

/// See [`Num`].
pub enum NumReader<'a> {
    /// With one scale for all.
    Fixed(&'a PrimitiveArray<Decimal128Type>, u32),
    /// With a scale each.
    Varied(&'a arrow_array::BinaryViewArray),
}

impl Input for Num {
    type Item<'a> = Numeric;
    type Reader<'a> = NumReader<'a>;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        match array.data_type() {
            DataType::Decimal128(_, scale) => Ok(NumReader::Fixed(
                array.as_primitive(),
                scale.unsigned_abs().into(),
            )),
            DataType::BinaryView => Ok(NumReader::Varied(array.as_binary_view())),
            _ => Err(wrong(array, "NUMERIC")),
        }
    }
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> Numeric {
        match reader {
            NumReader::Fixed(array, scale) => Numeric::new(array.value(at), *scale),
            NumReader::Varied(array) => Numeric::decode(array.value(at)),
        }
    }
}

/// See [`Num`].
pub enum NumWriter {
    /// With one scale for all, and the power of ten that values must stay below.
    Fixed(PrimitiveBuilder<Decimal128Type>, u32, i128),
    /// With a scale each.
    Varied(BinaryViewBuilder),
}

impl Output for Num {
    type Item = Numeric;
    type Writer = NumWriter;
    fn writer(ty: &Type, rows: usize) -> Self::Writer {
        match ty {
            Type::Numeric(Some(digits)) => {
                let builder = PrimitiveBuilder::with_capacity(rows).with_data_type(ty.arrow());
                let limit = 10i128.pow(u32::from(digits.precision));
                NumWriter::Fixed(builder, u32::from(digits.scale), limit)
            }
            _ => NumWriter::Varied(BinaryViewBuilder::with_capacity(rows)),
        }
    }
    fn put(writer: &mut Self::Writer, item: Numeric) -> Result<()> {
        match writer {
            NumWriter::Fixed(builder, scale, limit) => {
                let value = item.to_i128(*scale).filter(|v| v.abs() < *limit);
                let value = value.ok_or_else(|| Error::new("22003", "numeric field overflow"))?;
                builder.append_value(value);
            }
            NumWriter::Varied(builder) => builder.append_value(item.encode()),
        }
        Ok(())
    }
    fn null(writer: &mut Self::Writer) {
        match writer {
            NumWriter::Fixed(builder, ..) => builder.append_null(),
            NumWriter::Varied(builder) => builder.append_null(),
        }
    }
    fn finish(writer: Self::Writer) -> ArrayRef {
        match writer {
            NumWriter::Fixed(mut builder, ..) => Arc::new(builder.finish()),
            NumWriter::Varied(mut builder) => Arc::new(builder.finish()),
        }
    }
}

/// INTERVAL.
pub struct Span;

impl Input for Span {
    type Item<'a> = Interval;
    type Reader<'a> = &'a PrimitiveArray<IntervalMonthDayNanoType>;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        array
            .as_primitive_opt()
            .ok_or_else(|| wrong(array, "INTERVAL"))
    }
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> Interval {
        reader.value(at).into()
    }
}

impl Output for Span {
    type Item = Interval;
    type Writer = PrimitiveBuilder<IntervalMonthDayNanoType>;
    fn writer(_: &Type, rows: usize) -> Self::Writer {
        PrimitiveBuilder::with_capacity(rows)
    }
    fn put(writer: &mut Self::Writer, item: Interval) -> Result<()> {
        if !item.is_storable() {
            return Err(Error::new("22008", "interval out of range"));
        }
        writer.append_value(IntervalMonthDayNano::from(item));
        Ok(())
    }
    fn null(writer: &mut Self::Writer) {
        writer.append_null();
    }
    fn finish(mut writer: Self::Writer) -> ArrayRef {
        Arc::new(writer.finish())
    }
}

/// Values of `N` bytes: UUID (16), TIMETZ (12).
pub struct Fixed<const N: usize>;

/// UUID.
pub type Uuid = Fixed<16>;
/// TIME WITH TIME ZONE.
pub type TimeTz = Fixed<12>;

impl<const N: usize> Input for Fixed<N> {
    type Item<'a> = [u8; N];
    type Reader<'a> = &'a arrow_array::FixedSizeBinaryArray;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        let found = array.as_fixed_size_binary_opt();
        let found = found.filter(|array| array.value_length() as usize == N);
        found.ok_or_else(|| wrong(array, "bytes of a fixed number"))
    }
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> [u8; N] {
        reader.value(at).try_into().unwrap_or([0; N])
    }
}

impl<const N: usize> Output for Fixed<N> {
    type Item = [u8; N];
    type Writer = FixedSizeBinaryBuilder;
    fn writer(_: &Type, rows: usize) -> Self::Writer {
        FixedSizeBinaryBuilder::with_capacity(rows, N as i32)
    }
    fn put(writer: &mut Self::Writer, item: [u8; N]) -> Result<()> {
        Ok(writer.append_value(item)?)
    }
    fn null(writer: &mut Self::Writer) {
        writer.append_null();
    }
    fn finish(mut writer: Self::Writer) -> ArrayRef {
        Arc::new(writer.finish())
    }
}

/// A value of any type, as an array of one row.
pub struct Any;

impl Input for Any {
    type Item<'a> = ArrayRef;
    type Reader<'a> = &'a ArrayRef;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        Ok(array)
    }
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> ArrayRef {
        reader.slice(at, 1)
    }
}

/// The elements of an array without regard to its dimensions, as an Arrow array.
pub struct List;

impl Input for List {
    type Item<'a> = ArrayRef;
    type Reader<'a> = Arrays<'a>;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        Arrays::read(array).ok_or_else(|| wrong(array, "an array"))
    }
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> ArrayRef {
        reader.elements(at)
    }
}

/// The elements of an array and its bounds.
pub struct Bounded;

impl Input for Bounded {
    type Item<'a> = (ArrayRef, Bounds);
    type Reader<'a> = Arrays<'a>;
    fn reader<'a>(array: &'a ArrayRef) -> Result<Self::Reader<'a>> {
        List::reader(array)
    }
    fn get<'a>(reader: &Self::Reader<'a>, _: &'a ArrayRef, at: usize) -> Self::Item<'a> {
        (reader.elements(at), reader.bounds(at))
    }
}

/// Rows between two looks at whether the statement is to end.
const ROWS: usize = 64;

macro_rules! kernels {
    ($($(#[$doc:meta])* $plain:ident $with:ident ($($A:ident $i:tt),*);)*) => {$(
        $(#[$doc])*
        pub fn $plain<$($A: Input,)* R: Output>(
            f: impl Fn($($A::Item<'_>),*) -> Result<R::Item> + Send + Sync + 'static,
        ) -> Kernel {
            $with::<$($A,)* R>(move |_, $($i),*| f($($i),*))
        }

        /// The same for a closure that is also given the call.
        pub fn $with<$($A: Input,)* R: Output>(
            f: impl Fn(&Call<'_>, $($A::Item<'_>),*) -> Result<R::Item> + Send + Sync + 'static,
        ) -> Kernel {
            Arc::new(move |call, columns| {
                let mut all = columns.iter();
                let mut next = || {
                    all.next().ok_or_else(|| Error::internal("a function is short of arguments"))
                };
                $(
                    let $i = next()?;
                    let $i = ($A::reader(&$i.array)?, $i);
                )*
                let same = columns.iter().all(|column| column.constant);
                let rows = if same && !columns.is_empty() { call.rows.min(1) } else { call.rows };
                let mut writer = R::writer(call.returns, rows);
                for row in 0..rows {
                    if row % ROWS == ROWS - 1 {
                        crate::interrupt::now()?;
                    }
                    if $((!$A::NULLS && $i.1.is_null(row)))||* {
                        R::null(&mut writer);
                        continue;
                    }
                    let item = f(call, $($A::get(&$i.0, &$i.1.array, $i.1.at(row))),*)?;
                    R::put(&mut writer, item)?;
                }
                Ok(repeated(R::finish(writer), call.rows))
            })
        }
    )*};
}

kernels! {
    /// A kernel of one argument.
    f1 w1 (A a);
    /// A kernel of two arguments.
    f2 w2 (A a, B b);
    /// A kernel of three arguments.
    f3 w3 (A a, B b, C c);
    /// A kernel of four arguments.
    f4 w4 (A a, B b, C c, D d);
    /// A kernel of five arguments.
    f5 w5 (A a, B b, C c, D d, E e);
    /// A kernel of six arguments.
    f6 w6 (A a, B b, C c, D d, E e, F g);
    /// A kernel of seven arguments.
    f7 w7 (A a, B b, C c, D d, E e, F g, G h);
}

/// A kernel of two arguments, of which the first is a text that is mostly the same in all rows,
/// such as the name of a unit. What is made of it is kept until another comes.
pub fn by_text<P, B: Input, R: Output>(
    prepare: impl Fn(&Call<'_>, &str) -> Result<P> + Send + Sync + 'static,
    f: impl Fn(&P, B::Item<'_>) -> Result<R::Item> + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, columns| {
        let [name, value] = columns else {
            return Err(Error::internal("a function is short of arguments"));
        };
        let (names, values) = (Str::reader(&name.array)?, B::reader(&value.array)?);
        let rows = match name.constant && value.constant {
            true => call.rows.min(1),
            false => call.rows,
        };
        let mut writer = R::writer(call.returns, rows);
        let mut known: Option<(&str, P)> = None;
        for row in 0..rows {
            if row % ROWS == ROWS - 1 {
                crate::interrupt::now()?;
            }
            if name.is_null(row) || value.is_null(row) {
                R::null(&mut writer);
                continue;
            }
            let text = Str::get(&names, &name.array, name.at(row));
            if known.as_ref().is_none_or(|(last, _)| *last != text) {
                known = Some((text, prepare(call, text)?));
            }
            if let Some((_, prepared)) = &known {
                let value = B::get(&values, &value.array, value.at(row));
                R::put(&mut writer, f(prepared, value)?)?;
            }
        }
        Ok(repeated(R::finish(writer), call.rows))
    })
}

/// A kernel without arguments; it is called for every row.
pub fn f0<R: Output>(f: impl Fn(&Call<'_>) -> Result<R::Item> + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, _| {
        let mut writer = R::writer(call.returns, call.rows);
        for _ in 0..call.rows {
            R::put(&mut writer, f(call)?)?;
        }
        Ok(R::finish(writer))
    })
}

/// The rows of an array, or its only value for that many rows.
pub fn repeated(array: ArrayRef, rows: usize) -> ArrayRef {
    if array.len() == rows || array.len() != 1 {
        return array;
    }
    let indices = arrow_array::UInt32Array::from(vec![0u32; rows]);
    arrow_select::take::take(&array, &indices, None).unwrap_or(array)
}

/// The number that an array's first value is; `None` for NULL.
pub fn number(value: &ArrayRef) -> Option<f64> {
    if value.is_empty() || value.is_null(0) {
        return None;
    }
    Some(match value.data_type() {
        DataType::Int16 => f64::from(value.as_primitive::<Int16Type>().value(0)),
        DataType::Int32 => f64::from(value.as_primitive::<Int32Type>().value(0)),
        DataType::Int64 => value.as_primitive::<Int64Type>().value(0) as f64,
        DataType::Float32 => f64::from(value.as_primitive::<Float32Type>().value(0)),
        DataType::Float64 => value.as_primitive::<Float64Type>().value(0),
        _ => {
            let reader = Num::reader(value).ok()?;
            let text = Num::get(&reader, value, 0).to_string();
            text.parse().ok()?
        }
    })
}
