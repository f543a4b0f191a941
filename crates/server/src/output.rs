//! Rows as messages.
//!
//! A batch's columns are looked at once; then each row is written straight into what is
//! to be sent.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Field, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNanoType, IntervalUnit, Schema, SchemaRef, Time64MicrosecondType,
    TimeUnit, TimestampMicrosecondType,
};
use arrow::util::display::FormatOptions;
use bytes::{BufMut, BytesMut};
use freestone::{
    Arrays, Cells, Error, Inet, Result, Styles, element_type, money, read_tid, said_type,
};
use pgwire::messages::data::{FieldDescription, RowDescription};

use crate::arrays::{self, Writer};
use crate::kinds::Oid;
use crate::numeric;
use crate::ranges::{self, DAYS, MICROS};

/// Casts that fail rather than make NULLs.
pub(crate) const EXACT: CastOptions<'_> = CastOptions {
    safe: false,
    format_options: FormatOptions::new(),
};

/// Whether a value is sent as text or in binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Binary,
}

impl Format {
    /// The format that a client's code names.
    ///
    /// # Errors
    /// `08P01` for another.
    pub(crate) fn of(code: i16) -> Result<Format> {
        match code {
            0 => Ok(Self::Text),
            1 => Ok(Self::Binary),
            code => Err(Error::new("08P01", format!("there is no format {code}"))),
        }
    }

    /// The format of each of `count` values: one code for all, one for each, or none.
    ///
    /// # Errors
    /// `08P01` for another number of codes.
    pub(crate) fn each(codes: &[i16], count: usize) -> Result<Vec<Format>> {
        match codes {
            [] => Ok(vec![Self::Text; count]),
            [code] => Ok(vec![Self::of(*code)?; count]),
            codes if codes.len() == count => codes.iter().map(|code| Self::of(*code)).collect(),
            codes => {
                let message = format!("{} formats for {count} values", codes.len());
                Err(Error::new("08P01", message))
            }
        }
    }
}

/// What columns are, for a client.
pub(crate) fn description(schema: &SchemaRef, formats: &[Format]) -> RowDescription {
    let fields = schema.fields().iter().enumerate().map(|(place, field)| {
        let oid = Oid::told(field);
        let format = formats.get(place).copied().unwrap_or(Format::Text);
        FieldDescription::new(
            field.name().clone(),
            0,
            0,
            oid.0,
            oid.size(),
            Oid::modifier(field),
            format as i16,
        )
    });
    RowDescription::new(fields.collect())
}

/// The columns of a batch, ready to be written.
pub(crate) struct Lines<'a> {
    columns: Vec<(&'a dyn Array, Writer<'a>)>,
}

/// A batch whose columns are of types that have a binary form.
///
/// # Errors
/// Those of a cast.
pub(crate) fn sendable(batch: &RecordBatch, promised: &SchemaRef) -> Result<Vec<ArrayRef>> {
    let pairs = batch.columns().iter().zip(promised.fields());
    let columns = pairs.map(|(array, field)| {
        let wanted = plain(field.data_type());
        match *array.data_type() == wanted {
            true => Ok(array.clone()),
            false => cast_with_options(array, &wanted, &EXACT)
                .map_err(|error| Error::new("22003", format!("cannot send a column: {error}"))),
        }
    });
    columns.collect()
}

/// What a result is sent as: the columns that the client was told, as far as what comes can
/// be made those. What was to be text is sent as text, whatever the format.
///
/// # Errors
/// `0A000` if the statement gives other columns by now.
pub(crate) fn agreed(
    told: Option<&SchemaRef>,
    comes: &SchemaRef,
    formats: &mut [Format],
) -> Result<SchemaRef> {
    let Some(told) = told else {
        return Ok(Arc::clone(comes));
    };
    let pairs = told.fields().iter().zip(comes.fields()).zip(formats);
    let agreed = pairs.map(|((told, comes), format)| {
        let (wanted, given) = (Oid::of_field(told), Oid::of_field(comes));
        if wanted.is_text() {
            *format = Format::Text;
        }
        if wanted == given || wanted.is_text() {
            return Some(Arc::clone(comes));
        }
        // Fields that say nothing have any type that their values can have.
        let silent = said_type(comes).is_none() && told.data_type() == comes.data_type();
        let fits = silent || wanted.holds(given) || *comes.data_type() == DataType::Null;
        fits.then(|| Arc::clone(told))
    });
    let agreed: Option<Vec<_>> = agreed.collect();
    match agreed.filter(|_| told.fields().len() == comes.fields().len()) {
        Some(fields) => Ok(Arc::new(Schema::new(fields))),
        None => Err(
            Error::new("0A000", "cached plan must not change result type")
                .with_hint("its tables have changed since: prepare the statement again"),
        ),
    }
}

/// Whether a column has the names of objects such as tables, or arrays of them.
pub(crate) fn names_objects(field: &Field) -> bool {
    let oid = Oid::of_field(field);
    match element_type(field.data_type()) {
        Some(element) => *element == DataType::Utf8View && oid.is_array_of_objects(),
        None => *field.data_type() == DataType::Utf8View && oid.is_object(),
    }
}

/// The type that stands for others of the same number.
fn plain(kind: &DataType) -> DataType {
    match (Oid::of(kind), kind) {
        (Oid::INT2, _) => DataType::Int16,
        (Oid::INT4, _) => DataType::Int32,
        (Oid::INT8, _) => DataType::Int64,
        (Oid::FLOAT4, _) => DataType::Float32,
        (Oid::FLOAT8, _) => DataType::Float64,
        (Oid::NUMERIC, DataType::Decimal128(precision, scale)) => {
            DataType::Decimal128(*precision, *scale)
        }
        (Oid::NUMERIC, DataType::UInt64) => DataType::Decimal128(20, 0),
        (Oid::DATE, _) => DataType::Date32,
        (Oid::TIME, _) => DataType::Time64(TimeUnit::Microsecond),
        (Oid::TIMESTAMP | Oid::TIMESTAMPTZ, DataType::Timestamp(_, zone)) => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        (Oid::INTERVAL, DataType::Interval(_)) => DataType::Interval(IntervalUnit::MonthDayNano),
        (Oid::BYTEA, _) => DataType::BinaryView,
        (_, DataType::Dictionary(_, values)) => plain(values),
        (
            oid,
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _),
        ) if oid.is_array() => {
            let item = item.as_ref().clone();
            let kind = plain(item.data_type());
            DataType::List(Arc::new(item.with_data_type(kind)))
        }
        (_, other) => other.clone(),
    }
}

impl<'a> Lines<'a> {
    /// Columns in their formats, of the types that the schema says; texts in the styles.
    pub(crate) fn new(
        columns: &'a [ArrayRef],
        schema: &Schema,
        formats: &[Format],
        styles: &Styles,
    ) -> Self {
        let columns = columns.iter().enumerate().map(|(place, array)| {
            let array: &dyn Array = array.as_ref();
            let writer = match formats.get(place) {
                Some(Format::Binary) => {
                    let field = schema.fields().get(place);
                    binary(array, field.and_then(|field| said_type(field)), styles)
                }
                _ => text(array, styles),
            };
            (array, writer)
        });
        Self {
            columns: columns.collect(),
        }
    }

    /// Adds a row to what is to be sent.
    pub(crate) fn write(&self, row: usize, out: &mut BytesMut) {
        out.put_u8(b'D');
        let start = out.len();
        out.put_i32(0);
        out.put_i16(self.columns.len() as i16);
        for (array, writer) in &self.columns {
            if array.is_null(row) || *array.data_type() == DataType::Null {
                out.put_i32(-1);
                continue;
            }
            let place = out.len();
            out.put_i32(0);
            writer(row, out);
            let length = (out.len() - place - 4) as i32;
            out[place..place + 4].copy_from_slice(&length.to_be_bytes());
        }
        let length = (out.len() - start) as i32;
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

pub(crate) fn text<'a>(array: &'a dyn Array, styles: &Styles) -> Writer<'a> {
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, out| out.put_u8(if values.value(row) { b't' } else { b'f' }))
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            Box::new(move |row, out| out.put_slice(values.value(row).as_bytes()))
        }
        _ => {
            let cells = Cells::styled(array, styles);
            Box::new(move |row, out| {
                let mut text = String::new();
                cells.write(row, &mut text);
                out.put_slice(text.as_bytes());
            })
        }
    }
}

macro_rules! fixed {
    ($array:expr, $kind:ty, $put:ident) => {{
        let values = $array.as_primitive::<$kind>();
        Box::new(move |row, out: &mut BytesMut| out.$put(values.value(row)))
    }};
}

/// A writer of values in binary, of the type that is said. Texts are in the styles of the session.
pub(crate) fn binary<'a>(array: &'a dyn Array, said: Option<&str>, styles: &Styles) -> Writer<'a> {
    match (array.data_type(), Oid::said(said, array.data_type())) {
        (DataType::Utf8View, Oid::NUMERIC) => {
            let values = array.as_string_view();
            Box::new(move |row, out| numeric::write_text(values.value(row), out))
        }
        (DataType::Utf8View, Oid::JSONB | Oid::JSONPATH) => {
            let values = array.as_string_view();
            Box::new(move |row, out| {
                // The version of the form.
                out.put_u8(1);
                out.put_slice(values.value(row).as_bytes());
            })
        }
        (DataType::Utf8View, oid @ (Oid::INET | Oid::CIDR)) => {
            let values = array.as_string_view();
            Box::new(move |row, out| {
                // Shown values can be read.
                if let Ok(address) = Inet::read(values.value(row)) {
                    out.put_slice(&address.sent(oid == Oid::CIDR));
                }
            })
        }
        (DataType::Utf8View, Oid::MONEY) => {
            let values = array.as_string_view();
            Box::new(move |row, out| {
                // Shown values can be read.
                if let Ok(amount) = money::read(values.value(row)) {
                    out.put_i64(amount);
                }
            })
        }
        (DataType::Utf8View, Oid::XID8) => {
            let values = array.as_string_view();
            Box::new(move |row, out| {
                // Shown values can be read.
                if let Ok(number) = values.value(row).parse() {
                    out.put_u64(number);
                }
            })
        }
        (DataType::Utf8View, Oid::TID) => {
            let values = array.as_string_view();
            Box::new(move |row, out| {
                // Shown values can be read.
                if let Ok(place) = read_tid(values.value(row)) {
                    let bytes = place.to_be_bytes();
                    out.extend_from_slice(&bytes[2..]);
                }
            })
        }
        (DataType::Utf8View, Oid::MACADDR | Oid::MACADDR8) => {
            let values = array.as_string_view();
            Box::new(move |row, out| {
                let bytes = values.value(row).split(':');
                out.extend(bytes.flat_map(|byte| u8::from_str_radix(byte, 16)));
            })
        }
        (DataType::Utf8View, oid) if ranges::is_range(oid) => {
            let (values, styles) = (array.as_string_view(), *styles);
            Box::new(move |row, out| ranges::write(values.value(row), oid, &styles, out))
        }
        (DataType::Utf8View, Oid::BIT | Oid::VARBIT) => {
            let values = array.as_string_view();
            Box::new(move |row, out| bits(values.value(row), out))
        }
        (DataType::Int64, oid) if oid.is_object() => {
            let values = array.as_primitive::<Int64Type>();
            Box::new(move |row, out| out.put_u32(values.value(row) as u32))
        }
        (DataType::List(_), oid) if oid.is_array() => {
            arrays::as_binary(array, said, styles, binary).unwrap_or_else(|| Box::new(|_, _| {}))
        }
        (DataType::Struct(_), _) => match Arrays::read(array) {
            Some(of) => arrays::binary_of(of, said, styles, binary),
            None => record(array, styles),
        },
        _ => binary_of_kind(array),
    }
}

/// Zeros and ones in binary: how many there are, then eight in each byte.
fn bits(digits: &str, out: &mut BytesMut) {
    out.put_i32(digits.len() as i32);
    for eight in digits.as_bytes().chunks(8) {
        let ones = eight
            .iter()
            .enumerate()
            .filter(|(_, digit)| **digit == b'1');
        out.put_u8(ones.fold(0, |byte, (at, _)| byte | 0x80 >> at));
    }
}

/// A writer of records in binary: the number of fields, then each with its type.
fn record<'a>(array: &'a dyn Array, styles: &Styles) -> Writer<'a> {
    let records = array.as_struct();
    let pairs = records.fields().iter().zip(records.columns());
    let columns: Vec<(Oid, &dyn Array, Writer<'a>)> = pairs
        .map(|(field, column)| {
            let column: &dyn Array = column.as_ref();
            let write = binary(column, said_type(field), styles);
            (Oid::of_field(field), column, write)
        })
        .collect();
    Box::new(move |row, out| {
        out.put_i32(columns.len() as i32);
        for (oid, column, write) in &columns {
            out.put_u32(oid.0);
            let place = out.len();
            out.put_i32(-1);
            if column.is_null(row) || *column.data_type() == DataType::Null {
                continue;
            }
            write(row, out);
            let length = (out.len() - place - 4) as i32;
            out[place..place + 4].copy_from_slice(&length.to_be_bytes());
        }
    })
}

/// A writer of values in binary whose Arrow type says all.
fn binary_of_kind<'a>(array: &'a dyn Array) -> Writer<'a> {
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, out| out.put_u8(values.value(row).into()))
        }
        DataType::Int16 => fixed!(array, Int16Type, put_i16),
        DataType::Int32 => fixed!(array, Int32Type, put_i32),
        DataType::Int64 => fixed!(array, Int64Type, put_i64),
        DataType::Float32 => fixed!(array, Float32Type, put_f32),
        DataType::Float64 => fixed!(array, Float64Type, put_f64),
        DataType::Date32 => {
            let values = array.as_primitive::<Date32Type>();
            Box::new(move |row, out| {
                out.put_i32(match values.value(row) {
                    i32::MAX => i32::MAX,
                    days => days.saturating_sub(DAYS),
                });
            })
        }
        DataType::Time64(TimeUnit::Microsecond) => fixed!(array, Time64MicrosecondType, put_i64),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let values = array.as_primitive::<TimestampMicrosecondType>();
            Box::new(move |row, out| {
                out.put_i64(match values.value(row) {
                    i64::MAX => i64::MAX,
                    micros => micros.saturating_sub(MICROS),
                });
            })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(move |row, out| {
                let value = values.value(row);
                out.put_i64(value.nanoseconds / 1_000);
                out.put_i32(value.days);
                out.put_i32(value.months);
            })
        }
        DataType::Decimal128(_, scale) => {
            let (values, scale) = (array.as_primitive::<Decimal128Type>(), *scale);
            Box::new(move |row, out| {
                let mut bytes = Vec::new();
                numeric::write(values.value(row), scale, &mut bytes);
                out.put_slice(&bytes);
            })
        }
        DataType::BinaryView => {
            let values = array.as_binary_view();
            Box::new(move |row, out| out.put_slice(values.value(row)))
        }
        DataType::FixedSizeBinary(16) => {
            let values = array.as_fixed_size_binary();
            Box::new(move |row, out| out.put_slice(values.value(row)))
        }
        DataType::FixedSizeBinary(12) => {
            let values = array.as_fixed_size_binary();
            Box::new(move |row, out| {
                // Both numbers have their bytes the other way round.
                let (micros, west) = values.value(row).split_at(8);
                out.extend(micros.iter().rev());
                out.extend(west.iter().rev());
            })
        }
        // Of texts both forms are the same.
        _ => text(array, &Styles::default()),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        FixedSizeBinaryArray, Int32Array, Int64Array, StringViewArray, StructArray,
    };
    use arrow::datatypes::Field;

    use super::*;

    #[test]
    fn bits_and_addresses_are_packed() {
        let text = |text: &str| StringViewArray::from(vec![text.to_owned()]);
        for (shown, said, bytes) in [
            ("101001011", "bit(9)", "00000009a580"),
            ("", "bit varying", "00000000"),
            ("10.0.0.1", "inet", "022000040a000001"),
            ("10.0.0.0/8", "cidr", "020801040a000000"),
            ("::1/64", "inet", "0340001000000000000000000000000000000001"),
            ("08:00:2b:01:02:03", "macaddr", "08002b010203"),
            ("-$1.50", "money", "ffffffffffffff6a"),
        ] {
            assert_eq!(hex(text(shown), Some(said)), bytes, "{shown}");
        }
    }

    fn hex(array: impl Array, said: Option<&str>) -> String {
        let mut out = BytesMut::new();
        binary(&array, said, &Styles::default())(0, &mut out);
        out.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// As PostgreSQL's functions `numeric_send`, `jsonb_send` and so on give them.
    #[test]
    fn values_have_the_bytes_of_the_types_that_are_said() {
        let number = StringViewArray::from(vec!["-1234567.89"]);
        assert_eq!(hex(number, Some("numeric")), "0003000140000002007b11d722c4");
        let json = StringViewArray::from(vec!["{\"a\": 1}"]);
        assert_eq!(hex(json, Some("jsonb")), "017b2261223a20317d");
        let object = Int64Array::from(vec![16_384]);
        assert_eq!(hex(object, Some("oid")), "00004000");
        let mut time = 3_661_500_000_i64.to_le_bytes().to_vec();
        time.extend_from_slice(&(-7_200_i32).to_le_bytes());
        let time = FixedSizeBinaryArray::try_from_iter([time].into_iter()).unwrap();
        assert_eq!(hex(time, None), "00000000da3e0e60ffffe3e0");
    }

    #[test]
    fn records_have_their_fields_with_types() {
        let field = |name| Arc::new(Field::new(name, DataType::Int32, true));
        let number: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        let missing: ArrayRef = Arc::new(Int32Array::from(vec![None]));
        let records = StructArray::from(vec![(field("a"), number), (field("b"), missing)]);
        let expected = "00000002000000170000000400000001\
                        00000017ffffffff";
        assert_eq!(hex(records, Some("record")), expected);
    }
}
