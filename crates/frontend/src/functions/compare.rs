//! Comparisons: `=`, `<>`, `<`, `<=`, `>`, `>=` of all types but arrays, records and JSONB, which
//! have them in their chapters.
//!
//! Values are compared as plain keys in loops over whole columns; NULLs are put on afterwards:
//!
//! ```text
//! smallint = bigint          both as 64-bit integers
//! real < double precision    both as integers in the order of the numbers; NaN is the greatest
//! text < text                the first four bytes as an integer, all bytes if they are equal
//! interval = interval        lengths, with months of 30 days
//! date < timestamptz         instants, in the session's time zone
//! ```
//!
//! Texts have the order of their bytes, which is that of their code points. IS DISTINCT FROM,
//! BETWEEN, GREATEST and LEAST are built from these by the binder.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_array::{BinaryViewArray, FixedSizeBinaryArray, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

use super::casts::{converted, place};
use super::kernel::{Bool, Call, Column, Date, Input, Kernel, Num, Stamp, f2, repeated};
use super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::{Internal, Type};
use crate::values::Interval;
use crate::values::datetime::{Zone, compare_date_instant, compare_stamp_instant};

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 6] = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];

    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Op::Eq => "=",
            Op::Ne => "<>",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
        }
    }

    /// Whether it is true of two values that are in an order.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Op::Eq => order.is_eq(),
            Op::Ne => order.is_ne(),
            Op::Lt => order.is_lt(),
            Op::Le => order.is_le(),
            Op::Gt => order.is_gt(),
            Op::Ge => order.is_ge(),
        }
    }
}

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    for op in Op::ALL {
        let mut add = |left: Type, right: Type, kernel: Kernel| {
            // A moment is compared with a date or a time of the session's zone.
            let zoned = |ty: &Type| matches!(ty, Type::TimestampTz(_));
            let stable = zoned(&left) != zoned(&right);
            let operator = scalar(op.symbol(), &[left, right], Type::Bool, kernel);
            c.add_operator(if stable { operator.stable() } else { operator });
        };
        numbers(op, &mut add);
        internal(op, &mut add);
        times(op, &mut add);
        add(Type::Bool, Type::Bool, booleans(op));
        let bpchar = Type::Char(None);
        for (left, right) in [
            (Type::Text, Type::Text),
            (bpchar.clone(), bpchar),
            (Type::CatalogChar, Type::CatalogChar),
            (Type::Bit(None), Type::Bit(None)),
            (Type::VarBit(None), Type::VarBit(None)),
            (Type::Name, Type::Name),
            (Type::Name, Type::Text),
            (Type::Text, Type::Name),
        ] {
            add(left, right, texts(op));
        }
        for ty in [
            Type::Bytea,
            Type::Inet,
            Type::MacAddr,
            Type::MacAddr8,
            Type::Money,
        ] {
            add(ty.clone(), ty, bytes(op));
        }
        add(
            Type::Uuid,
            Type::Uuid,
            fixed(op, |value| value.into_inner()),
        );
        add(Type::AnyEnum, Type::AnyEnum, labels(op));
        for ty in [Type::AnyRange, Type::AnyMultirange] {
            add(ty.clone(), ty, super::ranges::compared(op));
        }
    }
    // The operators of `text_pattern_ops`.
    for (symbol, op) in [
        ("~<~", Op::Lt),
        ("~<=~", Op::Le),
        ("~>~", Op::Gt),
        ("~>=~", Op::Ge),
    ] {
        for ty in [Type::Text, Type::Char(None)] {
            c.operator(symbol, &[ty.clone(), ty], Type::Bool, texts(op));
        }
    }
    for (name, nulls) in [("num_nulls", true), ("num_nonnulls", false)] {
        let count = scalar(name, &[Type::Any], Type::Int4, counted(nulls));
        c.add(count.variadic(Type::Any).with_nulls());
    }
}

fn numbers(op: Op, add: &mut impl FnMut(Type, Type, Kernel)) {
    let int2 = |v: i16| i64::from(v);
    let int4 = |v: i32| i64::from(v);
    let int8 = |v: i64| v;
    add(
        Type::Int2,
        Type::Int2,
        plain::<Int16Type, Int16Type, _>(op, |v| v, |v| v),
    );
    add(
        Type::Int4,
        Type::Int4,
        plain::<Int32Type, Int32Type, _>(op, |v| v, |v| v),
    );
    add(
        Type::Int8,
        Type::Int8,
        plain::<Int64Type, Int64Type, _>(op, |v| v, |v| v),
    );
    add(
        Type::Oid,
        Type::Oid,
        plain::<Int64Type, Int64Type, _>(op, |v| v, |v| v),
    );
    add(
        Type::Int2,
        Type::Int4,
        plain::<Int16Type, Int32Type, _>(op, int2, int4),
    );
    add(
        Type::Int2,
        Type::Int8,
        plain::<Int16Type, Int64Type, _>(op, int2, int8),
    );
    add(
        Type::Int4,
        Type::Int2,
        plain::<Int32Type, Int16Type, _>(op, int4, int2),
    );
    add(
        Type::Int4,
        Type::Int8,
        plain::<Int32Type, Int64Type, _>(op, int4, int8),
    );
    add(
        Type::Int8,
        Type::Int2,
        plain::<Int64Type, Int16Type, _>(op, int8, int2),
    );
    add(
        Type::Int8,
        Type::Int4,
        plain::<Int64Type, Int32Type, _>(op, int8, int4),
    );
    let (single, double) = (|v: f32| float_key(v.into()), float_key);
    add(
        Type::Float4,
        Type::Float4,
        plain::<Float32Type, Float32Type, _>(op, single, single),
    );
    add(
        Type::Float4,
        Type::Float8,
        plain::<Float32Type, Float64Type, _>(op, single, double),
    );
    add(
        Type::Float8,
        Type::Float4,
        plain::<Float64Type, Float32Type, _>(op, double, single),
    );
    add(
        Type::Float8,
        Type::Float8,
        plain::<Float64Type, Float64Type, _>(op, double, double),
    );
    add(Type::Numeric(None), Type::Numeric(None), numerics(op));
}

/// Numbers of transactions, places of rows and rights; but for XID8 and TID they have no order.
fn internal(op: Op, add: &mut impl FnMut(Type, Type, Kernel)) {
    let of = Type::Internal;
    let xid8 = plain::<Int64Type, Int64Type, _>(op, i64::cast_unsigned, i64::cast_unsigned);
    add(of(Internal::Xid8), of(Internal::Xid8), xid8);
    let tid = plain::<Int64Type, Int64Type, _>(op, |v| v, |v| v);
    add(of(Internal::Tid), of(Internal::Tid), tid);
    if matches!(op, Op::Eq | Op::Ne) {
        let xid = plain::<Int64Type, Int64Type, _>(op, |v| v, |v| v);
        add(of(Internal::Xid), of(Internal::Xid), xid);
        // The bits of an INTEGER are compared.
        let integer = |v: i32| i64::from(v.cast_unsigned());
        let xid = plain::<Int64Type, Int32Type, _>(op, |v| v, integer);
        add(of(Internal::Xid), Type::Int4, xid);
    }
    if op == Op::Eq {
        let cid = plain::<Int64Type, Int64Type, _>(op, |v| v, |v| v);
        add(of(Internal::Cid), of(Internal::Cid), cid);
        add(of(Internal::AclItem), of(Internal::AclItem), texts(op));
    }
}

fn times(op: Op, add: &mut impl FnMut(Type, Type, Kernel)) {
    type Stamp = TimestampMicrosecondType;
    let (stamp, zoned) = (Type::Timestamp(None), Type::TimestampTz(None));
    add(
        Type::Date,
        Type::Date,
        plain::<Date32Type, Date32Type, _>(op, |v| v, |v| v),
    );
    let time = plain::<Time64MicrosecondType, Time64MicrosecondType, _>(op, |v| v, |v| v);
    add(Type::Time(None), Type::Time(None), time);
    let stamps = || plain::<Stamp, Stamp, _>(op, |v| v, |v| v);
    add(stamp.clone(), stamp.clone(), stamps());
    add(zoned.clone(), zoned.clone(), stamps());
    let dates = plain::<Date32Type, Stamp, _>(op, date_key, stamp_key);
    add(Type::Date, stamp.clone(), dates);
    let dates = plain::<Stamp, Date32Type, _>(op, stamp_key, date_key);
    add(stamp.clone(), Type::Date, dates);
    for local in [Type::Date, stamp] {
        for first in [true, false] {
            let kernel = across(as_instants(stamps()), op, local == Type::Date, first);
            match first {
                true => add(local.clone(), zoned.clone(), kernel),
                false => add(zoned.clone(), local.clone(), kernel),
            }
        }
    }
    let length = |v: arrow_buffer::IntervalMonthDayNano| Interval::from(v).length();
    type Months = IntervalMonthDayNanoType;
    add(
        Type::Interval,
        Type::Interval,
        plain::<Months, Months, _>(op, length, length),
    );
    add(Type::TimeTz(None), Type::TimeTz(None), fixed(op, time_key));
}

/// An integer that has the place of a number among all: NaN last, both zeros the same.
pub fn float_key(value: f64) -> i64 {
    if value.is_nan() {
        return i64::MAX;
    }
    // Adding zero makes -0 to 0.
    let bits = (value + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// A timestamp in microseconds; dates go beyond the last one, but not beyond infinity.
fn stamp_key(micros: i64) -> i128 {
    match micros {
        i64::MIN => i128::MIN,
        i64::MAX => i128::MAX,
        micros => micros.into(),
    }
}

/// A date's midnight in microseconds.
fn date_key(days: i32) -> i128 {
    match days {
        i32::MIN => i128::MIN,
        i32::MAX => i128::MAX,
        days => i128::from(days) * i128::from(86_400_000_000_i64),
    }
}

/// The bytes of a UUID or a TIMETZ, short ones filled up.
struct Held([u8; 16]);

impl Held {
    fn into_inner(self) -> [u8; 16] {
        self.0
    }
}

/// The instant, and the zone for those of one instant.
fn time_key(value: Held) -> (i64, i32) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, ..] = value.0;
    let micros = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let zone = i32::from_le_bytes([i, j, k, l]);
    (micros.saturating_add(i64::from(zone) * 1_000_000), zone)
}

/// Two operands of a call.
fn operands(columns: &[Column]) -> Result<(&Column, &Column)> {
    match columns {
        [left, right] => Ok((left, right)),
        _ => Err(Error::internal("a comparison has two operands")),
    }
}

fn wrong(column: &Column) -> Error {
    let found = column.array.data_type();
    Error::internal(format!("a column of {found} cannot be compared here"))
}

/// Rows that are NULL as one of the operands is.
fn nulls(rows: usize, left: &Column, right: &Column) -> Option<NullBuffer> {
    let of = |column: &Column| match (column.constant, column.array.is_empty()) {
        (true, false) => column.is_null(0).then(|| NullBuffer::new_null(rows)),
        _ => column.array.nulls().cloned(),
    };
    NullBuffer::union(of(left).as_ref(), of(right).as_ref())
}

/// Results of a test of two values of every row.
#[inline]
fn tested<A: Copy, B: Copy>(
    rows: usize,
    (left, right): (&Column, &Column),
    a: impl Fn(usize) -> A,
    b: impl Fn(usize) -> B,
    test: impl Fn(A, B) -> bool,
) -> BooleanBuffer {
    match (left.constant, right.constant) {
        _ if rows == 0 => BooleanBuffer::new_unset(0),
        (false, false) => BooleanBuffer::collect_bool(rows, |row| test(a(row), b(row))),
        (false, true) => {
            let b = b(0);
            BooleanBuffer::collect_bool(rows, |row| test(a(row), b))
        }
        (true, false) => {
            let a = a(0);
            BooleanBuffer::collect_bool(rows, |row| test(a, b(row)))
        }
        (true, true) => match test(a(0), b(0)) {
            true => BooleanBuffer::new_set(rows),
            false => BooleanBuffer::new_unset(rows),
        },
    }
}

/// A comparison of keys, one loop for each operator.
#[inline]
fn compared<K: Copy + Ord>(
    op: Op,
    rows: usize,
    sides: (&Column, &Column),
    a: impl Fn(usize) -> K,
    b: impl Fn(usize) -> K,
) -> ArrayRef {
    let values = match op {
        Op::Eq => tested(rows, sides, a, b, |a, b| a == b),
        Op::Ne => tested(rows, sides, a, b, |a, b| a != b),
        Op::Lt => tested(rows, sides, a, b, |a, b| a < b),
        Op::Le => tested(rows, sides, a, b, |a, b| a <= b),
        Op::Gt => tested(rows, sides, a, b, |a, b| a > b),
        Op::Ge => tested(rows, sides, a, b, |a, b| a >= b),
    };
    Arc::new(BooleanArray::new(values, nulls(rows, sides.0, sides.1)))
}

/// A kernel that compares keys of primitive values.
fn plain<A: ArrowPrimitiveType, B: ArrowPrimitiveType, K: Copy + Ord>(
    op: Op,
    left_key: impl Fn(A::Native) -> K + Send + Sync + 'static,
    right_key: impl Fn(B::Native) -> K + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, columns| {
        let sides = operands(columns)?;
        let left: &PrimitiveArray<A> = sides
            .0
            .array
            .as_primitive_opt()
            .ok_or_else(|| wrong(sides.0))?;
        let right: &PrimitiveArray<B> = sides
            .1
            .array
            .as_primitive_opt()
            .ok_or_else(|| wrong(sides.1))?;
        let (left, right): (&[_], &[_]) = (left.values(), right.values());
        let a = |row: usize| left_key(left[row]);
        let b = |row: usize| right_key(right[row]);
        Ok(compared(op, call.rows, sides, a, b))
    })
}

fn booleans(op: Op) -> Kernel {
    Arc::new(move |call, columns| {
        let sides = operands(columns)?;
        let left = sides
            .0
            .array
            .as_boolean_opt()
            .ok_or_else(|| wrong(sides.0))?;
        let right = sides
            .1
            .array
            .as_boolean_opt()
            .ok_or_else(|| wrong(sides.1))?;
        let (left, right) = (left.values(), right.values());
        Ok(compared(
            op,
            call.rows,
            sides,
            |row| left.value(row),
            |row| right.value(row),
        ))
    })
}

/// A kernel that compares keys of values of a fixed number of bytes.
fn fixed<K: Copy + Ord + 'static>(op: Op, key: fn(Held) -> K) -> Kernel {
    Arc::new(move |call, columns| {
        let sides = operands(columns)?;
        let of = |column: &'_ Column| -> Result<FixedSizeBinaryArray> {
            let array = column.array.as_fixed_size_binary_opt();
            array.cloned().ok_or_else(|| wrong(column))
        };
        let (left, right) = (of(sides.0)?, of(sides.1)?);
        let held = |array: &FixedSizeBinaryArray, row: usize| {
            let mut bytes = [0; 16];
            bytes
                .iter_mut()
                .zip(array.value(row))
                .for_each(|(to, from)| *to = *from);
            key(Held(bytes))
        };
        Ok(compared(
            op,
            call.rows,
            sides,
            |row| held(&left, row),
            |row| held(&right, row),
        ))
    })
}

/// Texts and byte strings by the views that Arrow holds them by: length and first four bytes,
/// which decide most comparisons, are in one word.
trait Views {
    fn view(&self, row: usize) -> u128;
    fn bytes(&self, row: usize) -> &[u8];
}

impl Views for StringViewArray {
    #[inline]
    fn view(&self, row: usize) -> u128 {
        self.views()[row]
    }
    #[inline]
    fn bytes(&self, row: usize) -> &[u8] {
        self.value(row).as_bytes()
    }
}

impl Views for BinaryViewArray {
    #[inline]
    fn view(&self, row: usize) -> u128 {
        self.views()[row]
    }
    #[inline]
    fn bytes(&self, row: usize) -> &[u8] {
        self.value(row)
    }
}

/// Bytes that a view holds within itself.
const INLINE: u32 = 12;

fn same_bytes<V: Views>(left: &V, a: usize, right: &V, b: usize) -> bool {
    let (x, y) = (left.view(a), right.view(b));
    if x as u64 != y as u64 {
        return false;
    }
    // Beyond that, a long text's view says where it is held.
    match x as u32 {
        0..=INLINE => x == y,
        _ => left.bytes(a) == right.bytes(b),
    }
}

fn byte_order<V: Views>(left: &V, a: usize, right: &V, b: usize) -> Ordering {
    let prefix = |view: u128| ((view >> 32) as u32).swap_bytes();
    let order = prefix(left.view(a)).cmp(&prefix(right.view(b)));
    order.then_with(|| left.bytes(a).cmp(right.bytes(b)))
}

fn views<V: Views + 'static>(
    op: Op,
    rows: usize,
    sides: (&Column, &Column),
    left: &V,
    right: &V,
) -> ArrayRef {
    let at = |row: usize| row;
    let values = match op {
        Op::Eq => tested(rows, sides, at, at, |a, b| same_bytes(left, a, right, b)),
        Op::Ne => tested(rows, sides, at, at, |a, b| !same_bytes(left, a, right, b)),
        _ => tested(rows, sides, at, at, |a, b| {
            op.holds(byte_order(left, a, right, b))
        }),
    };
    Arc::new(BooleanArray::new(values, nulls(rows, sides.0, sides.1)))
}

fn texts(op: Op) -> Kernel {
    Arc::new(move |call, columns| {
        let sides = operands(columns)?;
        let left = sides
            .0
            .array
            .as_string_view_opt()
            .ok_or_else(|| wrong(sides.0))?;
        let right = sides
            .1
            .array
            .as_string_view_opt()
            .ok_or_else(|| wrong(sides.1))?;
        Ok(views(op, call.rows, sides, left, right))
    })
}

fn bytes(op: Op) -> Kernel {
    Arc::new(move |call, columns| {
        let sides = operands(columns)?;
        let left = sides
            .0
            .array
            .as_binary_view_opt()
            .ok_or_else(|| wrong(sides.0))?;
        let right = sides
            .1
            .array
            .as_binary_view_opt()
            .ok_or_else(|| wrong(sides.1))?;
        Ok(views(op, call.rows, sides, left, right))
    })
}

/// NUMERIC of one scale as integers, else value by value.
fn numerics(op: Op) -> Kernel {
    let fast = plain::<Decimal128Type, Decimal128Type, _>(op, |v| v, |v| v);
    Arc::new(move |call, columns| {
        let (left, right) = operands(columns)?;
        let scale = |column: &Column| match column.array.data_type() {
            DataType::Decimal128(_, scale) => Some(*scale),
            _ => None,
        };
        if scale(left).is_some() && scale(left) == scale(right) {
            return fast(call, columns);
        }
        let (a, b) = (Num::reader(&left.array)?, Num::reader(&right.array)?);
        let both = left.constant && right.constant;
        let rows = if both { call.rows.min(1) } else { call.rows };
        let order = |row: usize| {
            if left.is_null(row) || right.is_null(row) {
                return None;
            }
            let a = Num::get(&a, &left.array, left.at(row));
            let b = Num::get(&b, &right.array, right.at(row));
            Some(op.holds(a.cmp(&b)))
        };
        let values: BooleanArray = (0..rows).map(order).collect();
        Ok(repeated(Arc::new(values), call.rows))
    })
}

/// A kernel of instants for operands of which one is a date or a local timestamp.
fn as_instants(kernel: Kernel) -> Kernel {
    Arc::new(move |call, columns| {
        let instant = Type::TimestampTz(None);
        let mut instants = Vec::with_capacity(2);
        for (column, ty) in columns.iter().zip(call.types) {
            instants.push(Column {
                array: match ty.base() == instant {
                    true => Arc::clone(&column.array),
                    false => converted(call, Arc::clone(&column.array), ty, &instant)?,
                },
                constant: column.constant,
            });
        }
        let types = [instant.clone(), instant.clone()];
        let call = Call {
            types: &types,
            ..*call
        };
        kernel(&call, &instants)
    })
}

/// The kernel, or, where a date or a local timestamp is beyond the instants, one that compares
/// them all the same. The local operand is the `first` or the second.
fn across(kernel: Kernel, op: Op, is_date: bool, first: bool) -> Kernel {
    Arc::new(move |call, columns| {
        let error = match kernel(call, columns) {
            Err(error) if error.sqlstate == "22008" => error,
            done => return done,
        };
        let Some(zone) = Zone::of_setting(&call.session.time_zone) else {
            return Err(error);
        };
        let holds = move |order: Ordering| {
            let order = if first { order } else { order.reverse() };
            Ok(op.holds(order))
        };
        let slow = match (is_date, first) {
            (true, true) => {
                f2::<Date, Stamp, Bool>(move |a, b| holds(compare_date_instant(a, b, &zone)))
            }
            (true, false) => {
                f2::<Stamp, Date, Bool>(move |a, b| holds(compare_date_instant(b, a, &zone)))
            }
            (false, true) => {
                f2::<Stamp, Stamp, Bool>(move |a, b| holds(compare_stamp_instant(a, b, &zone)))
            }
            (false, false) => {
                f2::<Stamp, Stamp, Bool>(move |a, b| holds(compare_stamp_instant(b, a, &zone)))
            }
        };
        slow(call, columns)
    })
}

/// Labels of an enumeration by their places.
fn labels(op: Op) -> Kernel {
    let same = texts(op);
    Arc::new(move |call, columns| {
        if matches!(op, Op::Eq | Op::Ne) {
            return same(call, columns);
        }
        let sides = operands(columns)?;
        let Some(Type::Enum(of)) = call.types.first() else {
            return Err(Error::internal("labels of no enumeration"));
        };
        let places = |column: &Column| -> Result<Vec<usize>> {
            let labels = column
                .array
                .as_string_view_opt()
                .ok_or_else(|| wrong(column))?;
            let places = labels.iter();
            places
                .map(|label| label.map_or(Ok(0), |label| place(of, label)))
                .collect()
        };
        let (left, right) = (places(sides.0)?, places(sides.1)?);
        Ok(compared(
            op,
            call.rows,
            sides,
            |row| left[row],
            |row| right[row],
        ))
    })
}

/// How many of its arguments are NULL, or are not.
fn counted(nulls: bool) -> Kernel {
    Arc::new(move |call, columns| {
        let count = |row: usize| {
            let counted = columns.iter().filter(|column| column.is_null(row) == nulls);
            i32::try_from(counted.count()).unwrap_or(i32::MAX)
        };
        let counts: arrow_array::Int32Array = (0..call.rows).map(count).map(Some).collect();
        Ok(Arc::new(counts))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, operate};
    use super::super::{Session, Volatility, resolve_operator};
    use super::*;
    use arrow_array::{Float64Array, Int32Array, Int64Array, StringViewArray};

    /// As PostgreSQL's catalogue has it: an index may compare a `bigint` with an `integer`.
    #[test]
    fn comparisons_depend_on_the_zone_alone() {
        let (date, moment) = (Type::Date, Type::TimestampTz(None));
        for (left, right, volatility) in [
            (Type::Int8, Type::Int4, Volatility::Immutable),
            (Type::Int2, Type::Int8, Volatility::Immutable),
            (Type::Float4, Type::Float8, Volatility::Immutable),
            (Type::Name, Type::Text, Volatility::Immutable),
            (date.clone(), Type::Timestamp(None), Volatility::Immutable),
            (moment.clone(), moment.clone(), Volatility::Immutable),
            (date.clone(), moment.clone(), Volatility::Stable),
            (moment, Type::Timestamp(None), Volatility::Stable),
        ] {
            for op in Op::ALL {
                let types = [left.clone(), right.clone()];
                let found = resolve_operator(op.symbol(), &types).unwrap();
                let function = &found.function;
                assert_eq!(function.volatility, volatility, "{types:?}");
            }
        }
    }

    fn kernel(op: Op, types: &[Type], rows: usize, columns: &[Column]) -> Vec<Option<bool>> {
        let found = resolve_operator(op.symbol(), types).unwrap();
        let session = Session::default();
        let call = Call {
            rows,
            types: &found.parameters,
            returns: &Type::Bool,
            session: &session,
        };
        let result = (found.function.kernel)(&call, columns).unwrap();
        result.as_boolean().iter().collect()
    }

    #[test]
    fn every_operator_in_every_order_of_texts() {
        let values = [
            "",
            "a",
            "a ",
            "ab",
            "abcd",
            "abcdefghijklm",
            "abcdefghijkln",
            "abce",
            "ä",
        ];
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                for op in Op::ALL {
                    let found =
                        operate(op.symbol(), &[(Type::Text, Some(a)), (Type::Text, Some(b))]);
                    let wanted = op.holds(i.cmp(&j)).to_string();
                    assert_eq!(found, Ok(Some(wanted)), "{a} {op:?} {b}");
                }
            }
        }
    }

    #[test]
    fn floats_have_an_order_with_nan_and_zeros() {
        let values = [
            f64::NEG_INFINITY,
            -1.5,
            -0.0,
            f64::MIN_POSITIVE,
            1.0,
            f64::INFINITY,
            f64::NAN,
        ];
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(float_key(*a).cmp(&float_key(*b)), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(float_key(0.0), float_key(-0.0));
        assert_eq!(float_key(f64::NAN), float_key(-f64::NAN));
    }

    #[test]
    fn columns_and_constants_with_nulls() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
        let longs: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), Some(3), Some(2)]));
        let three = Column::constant(Arc::new(Int64Array::from(vec![3])));
        let null = Column::constant(Arc::new(Int64Array::from(vec![None])));
        let types = [Type::Int4, Type::Int8];
        let left = Column::rows(numbers);
        let right = Column::rows(longs);
        let found = kernel(Op::Lt, &types, 3, &[left.clone(), right]);
        assert_eq!(found, [Some(true), None, Some(false)]);
        let found = kernel(Op::Ge, &types, 3, &[left.clone(), three]);
        assert_eq!(found, [Some(false), None, Some(true)]);
        let found = kernel(Op::Eq, &types, 3, &[left, null]);
        assert_eq!(found, [None, None, None]);
    }

    #[test]
    fn constants_of_both_sides() {
        let a = Column::constant(Arc::new(Float64Array::from(vec![f64::NAN])));
        let found = kernel(Op::Eq, &[Type::Float8, Type::Float8], 2, &[a.clone(), a]);
        assert_eq!(found, [Some(true), Some(true)]);
    }

    #[test]
    fn dates_beside_timestamps() {
        use arrow_array::{Date32Array, TimestampMicrosecondArray};
        let date = |days| Column::constant(Arc::new(Date32Array::from(vec![days])) as ArrayRef);
        let stamp = |micros| {
            let array = TimestampMicrosecondArray::from(vec![micros]);
            Column::constant(Arc::new(array) as ArrayRef)
        };
        let (day, infinity) = (86_400_000_000, i64::MAX);
        for (days, micros, order) in [
            (1, day, Ordering::Equal),
            (1, day - 1, Ordering::Greater),
            (-1, 0, Ordering::Less),
            (i32::MAX, infinity, Ordering::Equal),
            (i32::MIN, i64::MIN, Ordering::Equal),
            (i32::MAX - 1, infinity, Ordering::Less),
            (i32::MAX - 1, infinity - 1, Ordering::Greater),
        ] {
            let (date, stamp) = (date(days), stamp(micros));
            for op in Op::ALL {
                let types = [Type::Date, Type::Timestamp(None)];
                let found = kernel(op, &types, 1, &[date.clone(), stamp.clone()]);
                assert_eq!(found, [Some(op.holds(order))], "{days} {op:?} {micros}");
                let types = [Type::Timestamp(None), Type::Date];
                let found = kernel(op, &types, 1, &[stamp.clone(), date.clone()]);
                let wanted = op.holds(order.reverse());
                assert_eq!(found, [Some(wanted)], "{micros} {op:?} {days}");
            }
        }
    }

    #[test]
    fn slices_of_columns() {
        let all: ArrayRef = Arc::new(StringViewArray::from(vec!["x", "long text of many", "b"]));
        let part = Column::rows(all.slice(1, 2));
        let same = Column::constant(Arc::new(StringViewArray::from(vec!["long text of many"])));
        let found = kernel(Op::Eq, &[Type::Text, Type::Text], 2, &[part, same]);
        assert_eq!(found, [Some(true), Some(false)]);
    }

    #[test]
    fn blanks_of_char_do_not_count() {
        let char = |n, text| (Type::Char(Some(n)), Some(text));
        let found = operate("=", &[char(3, "a"), char(5, "a  ")]);
        assert_eq!(found, Ok(Some("true".to_owned())));
    }

    #[test]
    fn labels_have_the_order_of_their_enumeration() {
        let mood = Type::Enum(Arc::new(crate::types::EnumType {
            name: "mood".to_owned(),
            labels: vec!["sad".to_owned(), "ok".to_owned(), "happy".to_owned()],
            number: 0,
        }));
        let column = |label: &str| Column::constant(Arc::new(StringViewArray::from(vec![label])));
        let types = [mood.clone(), mood];
        let found = kernel(Op::Lt, &types, 1, &[column("sad"), column("happy")]);
        assert_eq!(found, [Some(true)]);
        let found = kernel(Op::Gt, &types, 1, &[column("happy"), column("ok")]);
        assert_eq!(found, [Some(true)]);
    }

    #[test]
    fn nulls_are_counted() {
        let arguments = [
            (Type::Text, None),
            (Type::Bool, Some("t")),
            (Type::Text, None),
        ];
        assert_eq!(kernel_of("num_nulls", &arguments), 2);
        assert_eq!(kernel_of("num_nonnulls", &arguments), 1);
        assert!(call("num_nulls", &[]).is_err());
    }

    fn kernel_of(name: &str, arguments: &[(Type, Option<&str>)]) -> i32 {
        let types: Vec<Type> = arguments.iter().map(|(ty, _)| ty.clone()).collect();
        let overloads = super::super::catalogue().functions(name);
        let found = super::super::resolve_function(overloads, &types).unwrap();
        let session = Session::default();
        let columns = arguments.iter().map(|(_, text)| {
            Column::constant(Arc::new(StringViewArray::from(vec![*text])) as ArrayRef)
        });
        let columns: Vec<Column> = columns.collect();
        let call = Call {
            rows: 1,
            types: &found.parameters,
            returns: &Type::Int4,
            session: &session,
        };
        let result = (found.function.kernel)(&call, &columns).unwrap();
        result.as_primitive::<Int32Type>().value(0)
    }
}
