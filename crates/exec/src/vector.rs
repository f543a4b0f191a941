//! Vectors: the values of one column in the rows of a batch.

use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, PrimitiveArray, StringArray,
    UInt32Array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};
use std::sync::Arc;

/// Stands for "no row" among positions.
pub const NO_ROW: u32 = u32::MAX;

/// How the values of a type are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit integers: integers, decimals of at most 18 digits (unscaled), dates, times.
    Int,
    /// Longer decimals: 64 bits where all values of a vector fit, else 128.
    Wide,
    /// 64-bit floats.
    Float,
    /// Truth values.
    Bool,
    /// Text, as views or as codes of a dictionary.
    Text,
    /// Arrays of any other type, which can be carried along.
    Other,
}

impl Kind {
    /// The kind that holds values of an Arrow type.
    pub fn of(kind: &DataType) -> Kind {
        match kind {
            DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Date32 => Kind::Int,
            DataType::Timestamp(TimeUnit::Microsecond, None) => Kind::Int,
            DataType::Decimal128(precision, _) if *precision <= 18 => Kind::Int,
            DataType::Decimal128(..) => Kind::Wide,
            DataType::Float64 => Kind::Float,
            DataType::Boolean => Kind::Bool,
            DataType::Utf8View => Kind::Text,
            _ => Kind::Other,
        }
    }
}

/// Values, one for each row; those of NULLs mean nothing.
#[derive(Clone, Debug)]
pub enum Values {
    /// See [`Kind::Int`].
    Int(ScalarBuffer<i64>),
    /// Decimals that may not fit 64 bits.
    Wide(ScalarBuffer<i128>),
    /// See [`Kind::Float`].
    Float(ScalarBuffer<f64>),
    /// See [`Kind::Bool`].
    Bool(BooleanBuffer),
    /// Text as an array of views.
    Text(ArrayRef),
    /// Text as codes into an array of views.
    Coded {
        /// One for each row, below the number of entries.
        codes: ScalarBuffer<u32>,
        /// What codes stand for.
        entries: ArrayRef,
    },
    /// See [`Kind::Other`].
    Other(ArrayRef),
}

/// The values of one column in the rows of a batch.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The values.
    pub values: Values,
    /// Which are not NULL; `None` when all are.
    pub nulls: Option<NullBuffer>,
}

/// Some rows: as many values of each column.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The columns.
    pub columns: Vec<Vector>,
    /// How many rows.
    pub rows: usize,
}

impl Batch {
    /// The rows at `positions`.
    ///
    /// # Errors
    /// Those of taking rows of arrays.
    pub fn take(&self, positions: &[u32]) -> Result<Batch> {
        let columns = self.columns.iter().map(|column| column.take(positions));
        Ok(Batch {
            columns: columns.collect::<Result<_>>()?,
            rows: positions.len(),
        })
    }

    /// Some rows from `first` on.
    pub fn slice(&self, first: usize, rows: usize) -> Batch {
        Batch {
            columns: self.columns.iter().map(|c| c.slice(first, rows)).collect(),
            rows,
        }
    }
}

impl Vector {
    /// A vector without NULLs.
    pub fn of(values: Values) -> Vector {
        Vector {
            values,
            nulls: None,
        }
    }

    /// The values of an array, which storage may have given in compact form.
    ///
    /// # Errors
    /// An array that is not of the type it says.
    pub fn from_arrow(array: &ArrayRef) -> Result<Vector> {
        fn wide<T: arrow_array::ArrowPrimitiveType<Native: Into<i64>>>(
            array: &ArrayRef,
        ) -> ScalarBuffer<i64> {
            let values = array.as_primitive::<T>().values();
            values
                .iter()
                .map(|value| (*value).into())
                .collect::<Vec<i64>>()
                .into()
        }
        let nulls = array
            .nulls()
            .filter(|nulls| nulls.null_count() > 0)
            .cloned();
        let values = match array.data_type() {
            DataType::Int16 => Values::Int(wide::<Int16Type>(array)),
            DataType::Int32 => Values::Int(wide::<Int32Type>(array)),
            DataType::Date32 => Values::Int(wide::<Date32Type>(array)),
            DataType::Int64 => Values::Int(array.as_primitive::<Int64Type>().values().clone()),
            DataType::Timestamp(TimeUnit::Microsecond, None) => {
                let values = array.as_primitive::<TimestampMicrosecondType>();
                Values::Int(values.values().clone())
            }
            DataType::Decimal128(..) => narrowed(
                array.as_primitive::<Decimal128Type>().values(),
                nulls.as_ref(),
            ),
            DataType::Float64 => {
                Values::Float(array.as_primitive::<Float64Type>().values().clone())
            }
            DataType::Boolean => Values::Bool(array.as_boolean().values().clone()),
            DataType::Utf8View => Values::Text(array.clone()),
            DataType::Dictionary(..) => match array.as_dictionary_opt::<UInt32Type>() {
                Some(coded) => Values::Coded {
                    codes: coded.keys().values().clone(),
                    entries: coded.values().clone(),
                },
                None => return Err(Error::internal("a dictionary with keys of another type")),
            },
            _ => Values::Other(array.clone()),
        };
        Ok(Vector { values, nulls })
    }

    /// The values as an array of an Arrow type.
    ///
    /// # Errors
    /// `internal` if they are not of a kind that the type has.
    pub fn to_arrow(&self, kind: &DataType) -> Result<ArrayRef> {
        fn narrow<T: arrow_array::ArrowPrimitiveType>(
            values: &ScalarBuffer<i64>,
            nulls: Option<NullBuffer>,
            to: impl Fn(i64) -> T::Native,
        ) -> ArrayRef {
            let values: Vec<T::Native> = values.iter().map(|value| to(*value)).collect();
            Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
        }
        let nulls = self.nulls.clone();
        // Values were of the narrower type before, or were computed as one that holds them.
        Ok(match (&self.values, kind) {
            (Values::Int(v), DataType::Int16) => narrow::<Int16Type>(v, nulls, |v| v as i16),
            (Values::Int(v), DataType::Int32) => narrow::<Int32Type>(v, nulls, |v| v as i32),
            (Values::Int(v), DataType::Date32) => narrow::<Date32Type>(v, nulls, |v| v as i32),
            (Values::Int(v), DataType::Int64) => {
                Arc::new(PrimitiveArray::<Int64Type>::new(v.clone(), nulls))
            }
            (Values::Int(v), DataType::Timestamp(TimeUnit::Microsecond, None)) => Arc::new(
                PrimitiveArray::<TimestampMicrosecondType>::new(v.clone(), nulls),
            ),
            (Values::Int(v), DataType::Decimal128(precision, scale)) => {
                let values: Vec<i128> = v.iter().map(|value| i128::from(*value)).collect();
                decimals(values.into(), nulls, *precision, *scale)?
            }
            (Values::Wide(v), DataType::Decimal128(precision, scale)) => {
                decimals(v.clone(), nulls, *precision, *scale)?
            }
            (Values::Float(v), DataType::Float64) => Arc::new(Float64Array::new(v.clone(), nulls)),
            (Values::Bool(v), DataType::Boolean) => Arc::new(BooleanArray::new(v.clone(), nulls)),
            (Values::Text(array), DataType::Utf8View) => with_nulls(array, nulls),
            (Values::Coded { codes, entries }, DataType::Utf8View) => {
                let codes = UInt32Array::new(codes.clone(), nulls);
                arrow_select::take::take(entries, &codes, None)?
            }
            (Values::Text(_) | Values::Coded { .. }, DataType::Utf8) => {
                let views = self.to_arrow(&DataType::Utf8View)?;
                let text: StringArray = views.as_string_view().iter().collect();
                Arc::new(text)
            }
            (Values::Other(array), kind) if array.data_type() == kind => array.clone(),
            (values, kind) => {
                let message = format!("values {:?} where {kind} was expected", kind_name(values));
                return Err(Error::internal(message));
            }
        })
    }

    /// Whether the value of a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The values at `positions`.
    ///
    /// # Errors
    /// Those of taking rows of arrays.
    pub fn take(&self, positions: &[u32]) -> Result<Vector> {
        fn gather<T: Copy + arrow_buffer::ArrowNativeType>(
            values: &ScalarBuffer<T>,
            positions: &[u32],
        ) -> ScalarBuffer<T> {
            let values = values.as_ref();
            let found = positions.iter().map(|row| values[*row as usize]);
            found.collect::<Vec<T>>().into()
        }
        let of_array = |array: &ArrayRef| -> Result<ArrayRef> {
            let positions = UInt32Array::from(positions.to_vec());
            Ok(arrow_select::take::take(array, &positions, None)?)
        };
        let values = match &self.values {
            Values::Int(values) => Values::Int(gather(values, positions)),
            Values::Wide(values) => Values::Wide(gather(values, positions)),
            Values::Float(values) => Values::Float(gather(values, positions)),
            Values::Bool(values) => Values::Bool(taken_bits(values, positions)),
            Values::Text(array) => Values::Text(of_array(array)?),
            Values::Coded { codes, entries } => Values::Coded {
                codes: gather(codes, positions),
                entries: entries.clone(),
            },
            Values::Other(array) => Values::Other(of_array(array)?),
        };
        let nulls = self
            .nulls
            .as_ref()
            .map(|nulls| NullBuffer::new(taken_bits(nulls.inner(), positions)));
        Ok(Vector { values, nulls })
    }

    /// The values at `positions`, NULL for [`NO_ROW`].
    ///
    /// # Errors
    /// As [`Vector::take`].
    pub fn take_or_null(&self, positions: &[u32]) -> Result<Vector> {
        let present = BooleanBuffer::collect_bool(positions.len(), |at| positions[at] != NO_ROW);
        if self.is_empty() {
            return Ok(self.all_null(positions.len()));
        }
        let some: Vec<u32> = positions
            .iter()
            .map(|row| if *row == NO_ROW { 0 } else { *row })
            .collect();
        let mut taken = self.take(&some)?;
        taken.nulls = NullBuffer::union(taken.nulls.as_ref(), Some(&NullBuffer::new(present)));
        if let Values::Other(array) = &taken.values {
            taken.values = Values::Other(with_nulls(array, taken.nulls.clone()));
        }
        Ok(taken)
    }

    /// NULLs of the same kind.
    fn all_null(&self, rows: usize) -> Vector {
        let values = match &self.values {
            Values::Int(_) => Values::Int(vec![0; rows].into()),
            Values::Wide(_) => Values::Wide(vec![0; rows].into()),
            Values::Float(_) => Values::Float(vec![0.0; rows].into()),
            Values::Bool(_) => Values::Bool(BooleanBuffer::new_unset(rows)),
            Values::Text(_) | Values::Coded { .. } => {
                Values::Text(new_null_array(&DataType::Utf8View, rows))
            }
            Values::Other(array) => Values::Other(new_null_array(array.data_type(), rows)),
        };
        Vector {
            values,
            nulls: Some(NullBuffer::new_null(rows)),
        }
    }

    /// Some values from `first` on.
    pub fn slice(&self, first: usize, rows: usize) -> Vector {
        let values = match &self.values {
            Values::Int(values) => Values::Int(values.slice(first, rows)),
            Values::Wide(values) => Values::Wide(values.slice(first, rows)),
            Values::Float(values) => Values::Float(values.slice(first, rows)),
            Values::Bool(values) => Values::Bool(values.slice(first, rows)),
            Values::Text(array) => Values::Text(array.slice(first, rows)),
            Values::Coded { codes, entries } => Values::Coded {
                codes: codes.slice(first, rows),
                entries: entries.clone(),
            },
            Values::Other(array) => Values::Other(array.slice(first, rows)),
        };
        let nulls = self.nulls.as_ref().map(|nulls| nulls.slice(first, rows));
        Vector { values, nulls }
    }

    /// How many values.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Int(values) => values.len(),
            Values::Wide(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Text(array) | Values::Other(array) => array.len(),
            Values::Coded { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn kind_name(values: &Values) -> &'static str {
    match values {
        Values::Int(_) => "int",
        Values::Wide(_) => "wide",
        Values::Float(_) => "float",
        Values::Bool(_) => "bool",
        Values::Text(_) | Values::Coded { .. } => "text",
        Values::Other(_) => "other",
    }
}

/// Decimals in as few bits as all of them need.
fn narrowed(values: &[i128], nulls: Option<&NullBuffer>) -> Values {
    let fits = |value: &i128| i64::try_from(*value).is_ok();
    let all = match nulls {
        None => values.iter().all(fits),
        Some(nulls) => (values.iter().zip(nulls)).all(|(value, valid)| !valid || fits(value)),
    };
    match all {
        true => Values::Int(
            values
                .iter()
                .map(|v| *v as i64)
                .collect::<Vec<i64>>()
                .into(),
        ),
        false => Values::Wide(values.to_vec().into()),
    }
}

fn decimals(
    values: ScalarBuffer<i128>,
    nulls: Option<NullBuffer>,
    precision: u8,
    scale: i8,
) -> Result<ArrayRef> {
    let array = Decimal128Array::new(values, nulls);
    Ok(Arc::new(array.with_precision_and_scale(precision, scale)?))
}

fn with_nulls(array: &ArrayRef, nulls: Option<NullBuffer>) -> ArrayRef {
    if array.nulls() == nulls.as_ref() {
        return array.clone();
    }
    match array.to_data().into_builder().nulls(nulls).build() {
        Ok(data) => arrow_array::make_array(data),
        // The same buffers with as many validity bits as rows: always valid.
        Err(_) => array.clone(),
    }
}

fn taken_bits(bits: &BooleanBuffer, positions: &[u32]) -> BooleanBuffer {
    BooleanBuffer::collect_bool(positions.len(), |at| bits.value(positions[at] as usize))
}

/// All values of some vectors of one kind, one after the other.
///
/// # Errors
/// Those of joining arrays.
pub fn concat(parts: &[&Vector]) -> Result<Vector> {
    if let [only] = parts {
        return Ok((*only).clone());
    }
    let rows = parts.iter().map(|part| part.len()).sum();
    let nulls = parts.iter().any(|part| part.nulls.is_some()).then(|| {
        let mut bits = arrow_buffer::BooleanBufferBuilder::new(rows);
        for part in parts {
            match &part.nulls {
                Some(nulls) => bits.append_buffer(nulls.inner()),
                None => bits.append_n(part.len(), true),
            }
        }
        NullBuffer::new(bits.finish())
    });
    let values = concat_values(parts, rows)?;
    Ok(Vector { values, nulls })
}

fn concat_values(parts: &[&Vector], rows: usize) -> Result<Values> {
    let wide = parts
        .iter()
        .any(|part| matches!(part.values, Values::Wide(_)));
    let arrays = |kind: &dyn Fn(&Vector) -> Result<ArrayRef>| -> Result<ArrayRef> {
        let arrays = parts.iter().map(|part| kind(part));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        Ok(arrow_select::concat::concat(&arrays)?)
    };
    let mismatch = || Error::internal("vectors of different kinds in one column");
    Ok(match &parts.first().ok_or_else(mismatch)?.values {
        Values::Int(_) | Values::Wide(_) if wide => {
            let mut all: Vec<i128> = Vec::with_capacity(rows);
            for part in parts {
                match &part.values {
                    Values::Int(values) => all.extend(values.iter().map(|v| i128::from(*v))),
                    Values::Wide(values) => all.extend_from_slice(values),
                    _ => return Err(mismatch()),
                }
            }
            Values::Wide(all.into())
        }
        Values::Int(_) | Values::Wide(_) => {
            let mut all: Vec<i64> = Vec::with_capacity(rows);
            for part in parts {
                let Values::Int(values) = &part.values else {
                    return Err(mismatch());
                };
                all.extend_from_slice(values);
            }
            Values::Int(all.into())
        }
        Values::Float(_) => {
            let mut all: Vec<f64> = Vec::with_capacity(rows);
            for part in parts {
                let Values::Float(values) = &part.values else {
                    return Err(mismatch());
                };
                all.extend_from_slice(values);
            }
            Values::Float(all.into())
        }
        Values::Bool(_) => {
            let array = arrays(&|part| part.to_arrow(&DataType::Boolean))?;
            Values::Bool(array.as_boolean().values().clone())
        }
        Values::Coded { entries, .. } if same_entries(parts, entries) => {
            let mut all: Vec<u32> = Vec::with_capacity(rows);
            for part in parts {
                if let Values::Coded { codes, .. } = &part.values {
                    all.extend_from_slice(codes);
                }
            }
            Values::Coded {
                codes: all.into(),
                entries: entries.clone(),
            }
        }
        Values::Text(_) | Values::Coded { .. } => {
            Values::Text(arrays(&|part| part.to_arrow(&DataType::Utf8View))?)
        }
        Values::Other(_) => Values::Other(arrays(&|part| match &part.values {
            Values::Other(array) => Ok(array.clone()),
            _ => Err(mismatch()),
        })?),
    })
}

/// Whether all are codes of the same dictionary.
fn same_entries(parts: &[&Vector], known: &ArrayRef) -> bool {
    parts.iter().all(|part| match &part.values {
        Values::Coded { entries, .. } => same_array(entries, known),
        _ => false,
    })
}

/// Whether two arrays of views are the same piece of memory.
pub fn same_array(a: &ArrayRef, b: &ArrayRef) -> bool {
    match (a.as_string_view_opt(), b.as_string_view_opt()) {
        (Some(a), Some(b)) => {
            a.views().as_ptr() == b.views().as_ptr() && a.views().len() == b.views().len()
        }
        _ => false,
    }
}
