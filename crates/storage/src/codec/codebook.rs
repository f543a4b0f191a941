//! The reading side of a codec: integers and coded bytes back to Arrow arrays.

use super::alp::Alp;
use super::bits::Target;
use super::dictionary::Dictionary;
use super::symbols::SymbolTable;
use super::{ArrayForm, Views, fixed_to_arrow};
use crate::error::{Error, Result};
use crate::format::Codec;
use crate::schema::{ColumnType, Physical, Value};
use arrow_array::types::*;
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer};
use std::sync::Arc;

/// What the codes of a column mean.
#[derive(Debug)]
pub enum Codebook {
    /// No codes: values in stored form.
    Plain,
    /// Integers are the values.
    Integers,
    /// Every row is the one entry, or NULL.
    Constant(Dictionary),
    /// Integers are ranks.
    Dictionary(Dictionary),
    /// Integers are scaled floats.
    Alp(Alp),
    /// Bytes are codes of symbols.
    Symbols(Box<SymbolTable>),
}

/// Integers of some rows, in whatever type they are wanted.
pub trait Fetch {
    /// How many.
    fn count(&self) -> usize;
    /// Appends them.
    fn fetch<D: Target>(&self, out: &mut Vec<D>);
    /// The rows they belong to, ascending.
    fn rows(&self) -> impl Iterator<Item = u32> + Clone;
}

impl Codebook {
    /// Checks that `codec` can hold columns of `kind`, and its codebook.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(codec: Codec, kind: ColumnType, bytes: &Buffer, rows: usize) -> Result<Codebook> {
        let physical = kind.physical();
        let integers = matches!(
            physical,
            Physical::Bool | Physical::I16 | Physical::I32 | Physical::I64 | Physical::I128
        );
        let fits = match codec {
            Codec::Plain | Codec::Constant | Codec::Dictionary => true,
            Codec::Alp => matches!(physical, Physical::F32 | Physical::F64),
            Codec::Symbols => matches!(physical, Physical::Bytes { .. }),
            Codec::BitPack
            | Codec::For
            | Codec::ForDelta
            | Codec::RunLength
            | Codec::Truncation => integers,
        };
        if !fits {
            // The tag stands in the directory.
            let error = Error::corrupt(format!("codec {} cannot hold {kind}", codec.name()));
            return Err(error.at("", None, Some("section directory")));
        }
        let has_book = matches!(
            codec,
            Codec::Constant | Codec::Dictionary | Codec::Alp | Codec::Symbols
        );
        if has_book && bytes.is_empty() {
            return Err(Error::corrupt("the section is missing or empty"));
        }
        Ok(match codec {
            Codec::Plain => Codebook::Plain,
            Codec::Constant => {
                let dictionary = Dictionary::open(kind, bytes)?;
                if dictionary.entries() > 1 {
                    return Err(Error::corrupt(format!(
                        "a constant of {} values",
                        dictionary.entries()
                    )));
                }
                Codebook::Constant(dictionary)
            }
            Codec::Dictionary => Codebook::Dictionary(Dictionary::open(kind, bytes)?),
            Codec::Alp => Codebook::Alp(Alp::open(bytes, rows)?),
            Codec::Symbols => Codebook::Symbols(Box::new(SymbolTable::read(bytes)?)),
            _ => Codebook::Integers,
        })
    }

    /// Bytes of memory beyond the section.
    pub fn memory(&self) -> usize {
        match self {
            Codebook::Plain | Codebook::Integers => 0,
            Codebook::Constant(dictionary) | Codebook::Dictionary(dictionary) => {
                dictionary.memory()
            }
            Codebook::Alp(_) => 0,
            Codebook::Symbols(_) => 80 << 10,
        }
    }

    /// The values of `integers` as an array.
    ///
    /// # Errors
    /// `Corrupt` for a code that is not in the dictionary.
    pub fn decode(
        &self,
        kind: &ColumnType,
        integers: &impl Fetch,
        nulls: Option<NullBuffer>,
        form: ArrayForm,
    ) -> Result<ArrayRef> {
        match self {
            Codebook::Dictionary(dictionary) => {
                let mut codes: Vec<u32> = Vec::with_capacity(integers.count());
                integers.fetch(&mut codes);
                let largest = codes.iter().copied().fold(0, u32::max) as usize;
                if largest >= dictionary.entries().max(1) {
                    let entries = dictionary.entries();
                    return Err(Error::corrupt(format!(
                        "code {largest} in a dictionary of {entries}"
                    )));
                }
                form.coded(dictionary, codes, nulls)
            }
            Codebook::Constant(dictionary) => constant(dictionary, integers.count(), nulls, form),
            Codebook::Alp(alp) => {
                let mut values: Vec<i64> = Vec::with_capacity(integers.count());
                integers.fetch(&mut values);
                let values = alp.decode(&values, integers.rows());
                let bytes = match kind.physical() {
                    Physical::F32 => Buffer::from_vec(
                        values
                            .iter()
                            .map(|value| *value as f32)
                            .collect::<Vec<f32>>(),
                    ),
                    _ => Buffer::from_vec(values),
                };
                fixed_to_arrow(kind, integers.count(), bytes, nulls)
            }
            _ => integers_to_arrow(&form.kind(kind), integers, nulls),
        }
    }

    /// The value that one integer stands for in `row`.
    ///
    /// # Errors
    /// `Corrupt` for a code that is not in the dictionary.
    pub fn value(&self, kind: &ColumnType, integer: i64, row: u32) -> Result<Value> {
        match (self, kind.physical()) {
            (Codebook::Dictionary(dictionary) | Codebook::Constant(dictionary), _) => {
                dictionary.value(integer)
            }
            (Codebook::Alp(alp), physical) => {
                let value = alp.value(integer, row);
                let single = physical == Physical::F32;
                Ok(Value::Float(if single {
                    f64::from(value as f32)
                } else {
                    value
                }))
            }
            (_, Physical::Bool) => Ok(Value::Bool(integer == 1)),
            _ => Ok(Value::Int(integer.into())),
        }
    }
}

/// The one value in every row.
///
/// # Errors
/// `Corrupt` if there is no value and a row is not NULL.
pub fn constant(
    dictionary: &Dictionary,
    rows: usize,
    nulls: Option<NullBuffer>,
    form: ArrayForm,
) -> Result<ArrayRef> {
    let absent = nulls.as_ref().map_or(0, NullBuffer::null_count);
    if dictionary.entries() == 0 && absent < rows {
        return Err(Error::corrupt(
            "a constant without value in rows that are not NULL",
        ));
    }
    form.coded(dictionary, vec![0; rows], nulls)
}

/// Coded values, one after the other, decoded.
///
/// # Errors
/// `Corrupt` for unknown codes or text that is not UTF-8.
pub fn symbols_to_arrow<'a>(
    table: &SymbolTable,
    values: impl ExactSizeIterator<Item = &'a [u8]>,
    text: bool,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let rows = values.len();
    let (mut bytes, mut start) = (Vec::new(), 0);
    let mut places = Vec::with_capacity(rows);
    for value in values {
        table.decode(value, &mut bytes)?;
        places.push(start..bytes.len());
        start = bytes.len();
    }
    let views = Views::new(Buffer::from_vec(bytes), places.into_iter(), text)?;
    Ok(views.slice(0..rows, nulls))
}

fn integers_to_arrow(
    kind: &ColumnType,
    integers: &impl Fetch,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    fn native<N: Target>(integers: &impl Fetch) -> Vec<N> {
        let mut values = Vec::with_capacity(integers.count());
        integers.fetch(&mut values);
        values
    }
    fn typed<T: ArrowPrimitiveType<Native: Target + ArrowNativeType>>(
        integers: &impl Fetch,
        nulls: Option<NullBuffer>,
    ) -> PrimitiveArray<T> {
        PrimitiveArray::new(native::<T::Native>(integers).into(), nulls)
    }
    Ok(match kind {
        ColumnType::Boolean => {
            let values: Vec<u8> = native(integers);
            let bits = BooleanBuffer::collect_bool(values.len(), |row| values[row] == 1);
            Arc::new(BooleanArray::new(bits, nulls))
        }
        ColumnType::SmallInt => Arc::new(typed::<Int16Type>(integers, nulls)),
        ColumnType::Integer => Arc::new(typed::<Int32Type>(integers, nulls)),
        ColumnType::Date => Arc::new(typed::<Date32Type>(integers, nulls)),
        ColumnType::BigInt => Arc::new(typed::<Int64Type>(integers, nulls)),
        ColumnType::Time => Arc::new(typed::<Time64MicrosecondType>(integers, nulls)),
        ColumnType::Timestamp => Arc::new(typed::<TimestampMicrosecondType>(integers, nulls)),
        ColumnType::TimestampTz => {
            Arc::new(typed::<TimestampMicrosecondType>(integers, nulls).with_timezone("+00:00"))
        }
        ColumnType::Decimal { precision, scale } => {
            let array = typed::<Decimal128Type>(integers, nulls);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        _ => {
            return Err(Error::corrupt(format!(
                "integers cannot be values of {kind}"
            )));
        }
    })
}
