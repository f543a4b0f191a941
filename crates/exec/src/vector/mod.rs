//! Vectors: the values of one column in the rows of a batch.

mod arrow;
mod concat;
mod selected;

pub(crate) use arrow::narrowed;
pub use concat::concat;
pub(crate) use selected::{Selected, positions};

use crate::Result;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};

/// Stands for "no row" among positions.
pub const NO_ROW: u32 = u32::MAX;

/// Rows of a batch of usual size.
pub(crate) const BATCH_ROWS: usize = 8192;

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
            DataType::Timestamp(TimeUnit::Microsecond, _) => Kind::Int,
            DataType::Time64(TimeUnit::Microsecond) => Kind::Int,
            DataType::Decimal128(precision, _) if *precision <= 18 => Kind::Int,
            DataType::Decimal128(..) => Kind::Wide,
            DataType::Float64 => Kind::Float,
            DataType::Boolean => Kind::Bool,
            DataType::Utf8View | DataType::Utf8 => Kind::Text,
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
    /// The rows at `positions`. A column that was left out stays so.
    ///
    /// # Errors
    /// Those of taking rows of arrays.
    pub fn take(&self, positions: &[u32]) -> Result<Batch> {
        let columns = self.columns.iter().map(|column| match column.is_empty() {
            true => Ok(column.clone()),
            false => column.take(positions),
        });
        Ok(Batch {
            columns: columns.collect::<Result<_>>()?,
            rows: positions.len(),
        })
    }

    /// About how many bytes of memory it takes; what others share with it is theirs.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Vector::bytes).sum()
    }

    /// Some rows from `first` on.
    pub fn slice(&self, first: usize, rows: usize) -> Batch {
        Batch {
            columns: self.columns.iter().map(|c| c.slice(first, rows)).collect(),
            rows,
        }
    }

    /// The rows in batches of usual size, none of them empty.
    pub(crate) fn pieces(self) -> Vec<Batch> {
        match self.rows {
            0 => return Vec::new(),
            1..=BATCH_ROWS => return vec![self],
            _ => {}
        }
        let starts = (0..self.rows).step_by(BATCH_ROWS);
        starts
            .map(|start| self.slice(start, BATCH_ROWS.min(self.rows - start)))
            .collect()
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

    fn bytes(&self) -> usize {
        let values = match &self.values {
            Values::Int(values) => values.len() * 8,
            Values::Wide(values) => values.len() * 16,
            Values::Float(values) => values.len() * 8,
            Values::Bool(values) => values.len() / 8,
            // The lower half of a view is the length of its text.
            Values::Text(array) => {
                let views = array.as_string_view().views();
                views.iter().map(|view| 16 + *view as u32 as usize).sum()
            }
            Values::Coded { codes, .. } => codes.len() * 4,
            Values::Other(array) => array.to_data().get_slice_memory_size().unwrap_or(0),
        };
        values + self.nulls.as_ref().map_or(0, |nulls| nulls.len() / 8)
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

/// Whether two arrays of views are the same piece of memory.
pub fn same_array(a: &ArrayRef, b: &ArrayRef) -> bool {
    match (a.as_string_view_opt(), b.as_string_view_opt()) {
        (Some(a), Some(b)) => {
            a.views().as_ptr() == b.views().as_ptr() && a.views().len() == b.views().len()
        }
        _ => false,
    }
}
