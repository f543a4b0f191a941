//! Arrays are made by picking elements out of other arrays.
//!
//! A [`Picker`] is given the arrays that elements come from and then, row by row, which
//! elements of which of them make up the array. Values are copied once, at the end, whatever
//! their type:
//!
//! ```text
//! let mut picker = Picker::new(&Type::Int4, &[left, right], rows)?;
//! picker.pick(0, 7)?;          // element 7 of the first array
//! picker.pick_null();
//! picker.end_row()?;           // an array of two elements
//! ```

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray, new_empty_array, new_null_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::interleave::interleave;

use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Input, Kernel, Num, Output, repeated};
use crate::types::Type;
use crate::types::arrays::{Arrays, Bounds, Maker, element_type};

/// Most elements of an array.
pub const MOST_ELEMENTS: usize = 134_217_727;

/// `54000` for an array of too many elements.
pub fn too_many_elements() -> Error {
    Error::new(
        "54000",
        format!("array size exceeds the maximum allowed ({MOST_ELEMENTS})"),
    )
}

/// Makes arrays of picked elements.
pub struct Picker {
    element: Type,
    sources: Vec<ArrayRef>,
    picks: Vec<(usize, usize)>,
    /// Where the array begins that is being made.
    start: usize,
    maker: Maker,
    valid: Vec<bool>,
}

impl Picker {
    /// Lists of a type of elements, which come from some arrays.
    ///
    /// # Errors
    /// `XX000` if an array is of another type.
    pub fn new(element: &Type, sources: &[&ArrayRef], rows: usize) -> Result<Self> {
        let mut all = Vec::with_capacity(sources.len() + 1);
        for source in sources {
            all.push(reformed(source, element)?);
        }
        all.push(new_null_array(&element.arrow(), 1));
        Ok(Self {
            element: element.clone(),
            sources: all,
            picks: Vec::new(),
            start: 0,
            maker: Maker::new(rows),
            valid: Vec::with_capacity(rows),
        })
    }

    /// Adds an element of one of the arrays to the list.
    pub fn pick(&mut self, source: usize, at: usize) {
        self.picks.push((source, at));
    }

    /// Adds elements of one of the arrays.
    pub fn pick_all(&mut self, source: usize, range: Range<usize>) {
        self.picks.extend(range.map(|at| (source, at)));
    }

    /// Adds NULL.
    pub fn pick_null(&mut self) {
        self.picks.push((self.sources.len() - 1, 0));
    }

    /// Elements of the array that is being made.
    pub fn list_mut(&mut self) -> &mut [(usize, usize)] {
        self.picks.get_mut(self.start..).unwrap_or_default()
    }

    /// How many elements the array has that is being made.
    pub fn count(&self) -> usize {
        self.picks.len() - self.start
    }

    /// Ends the array of a row, which has one dimension that begins at 1.
    ///
    /// # Errors
    /// `54000` if there are too many elements.
    pub fn end_row(&mut self) -> Result<()> {
        let count = self.count();
        self.end_bounded(&Bounds::plain(count))
    }

    /// Ends the array of a row, which has some bounds.
    ///
    /// # Errors
    /// `54000` if there are too many elements, `XX000` if there are not as many as the bounds
    /// say.
    pub fn end_bounded(&mut self, bounds: &Bounds) -> Result<()> {
        let count = self.count();
        if count > MOST_ELEMENTS {
            return Err(too_many_elements());
        }
        let said = bounds.lengths.iter().product::<usize>();
        if count != if bounds.lengths.is_empty() { 0 } else { said } {
            return Err(Error::internal("bounds of another number of elements"));
        }
        self.start = self.picks.len();
        self.maker.bounded(bounds)?;
        self.valid.push(true);
        Ok(())
    }

    /// Makes the row NULL.
    ///
    /// # Errors
    /// `54000` if there are too many elements.
    pub fn null_row(&mut self) -> Result<()> {
        self.end_row()?;
        if let Some(valid) = self.valid.last_mut() {
            *valid = false;
        }
        Ok(())
    }

    /// The picked elements, in one array.
    ///
    /// # Errors
    /// `XX000` if Arrow refuses.
    pub fn values(&self) -> Result<ArrayRef> {
        if self.picks.is_empty() {
            return Ok(new_empty_array(&self.element.arrow()));
        }
        let sources: Vec<&dyn Array> = self.sources.iter().map(AsRef::as_ref).collect();
        Ok(interleave(&sources, &self.picks)?)
    }

    /// The arrays.
    ///
    /// # Errors
    /// `XX000` if Arrow refuses.
    pub fn finish(self) -> Result<ArrayRef> {
        let values = self.values()?;
        let nulls = NullBuffer::from(self.valid);
        self.maker.finish(values, Some(nulls))
    }
}

/// Values in the Arrow form of a type that differs from theirs in modifiers only: NUMERIC with
/// one scale for all becomes NUMERIC with a scale each, within arrays and records, too.
///
/// # Errors
/// `XX000` if the types differ in more.
pub fn reformed(array: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    if array.data_type() == &ty.arrow() {
        return Ok(Arc::clone(array));
    }
    match (ty, array.data_type()) {
        (Type::Numeric(_), DataType::Decimal128(..) | DataType::BinaryView) => {
            let reader = Num::reader(array)?;
            let mut writer = Num::writer(ty, array.len());
            for at in 0..array.len() {
                match array.is_null(at) {
                    true => Num::null(&mut writer),
                    false => Num::put(&mut writer, Num::get(&reader, array, at))?,
                }
            }
            Ok(Num::finish(writer))
        }
        (Type::Array(element), held) if element_type(held).is_some() => {
            let arrays = Arrays::of(array)?;
            let values = reformed(arrays.values(), element)?;
            arrays.with_values(values, array.nulls().cloned())
        }
        (Type::Record(types), DataType::Struct(fields)) if types.len() == fields.len() => {
            let columns = array.as_struct().columns().iter().zip(types.iter());
            let columns = columns.map(|(column, (_, ty))| reformed(column, ty));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let DataType::Struct(fields) = ty.arrow() else {
                return Err(Error::internal("a record that is no struct"));
            };
            let nulls = array.nulls().cloned();
            let made = StructArray::try_new_with_length(fields, columns, nulls, array.len())?;
            Ok(Arc::new(made))
        }
        (_, DataType::Null) => Ok(new_null_array(&ty.arrow(), array.len())),
        _ => Err(Error::internal(format!(
            "a column of {} where {ty} is read",
            array.data_type()
        ))),
    }
}

/// An argument that is an array.
pub struct Lists<'a> {
    column: &'a Column,
    arrays: Arrays<'a>,
    /// The elements of all rows' arrays.
    pub values: ArrayRef,
}

impl<'a> Lists<'a> {
    /// An argument's arrays.
    ///
    /// # Errors
    /// `XX000` if it is no array.
    pub fn of(column: &'a Column) -> Result<Self> {
        let arrays = Arrays::of(&column.array)?;
        Ok(Self {
            column,
            values: Arc::clone(arrays.values()),
            arrays,
        })
    }

    /// Where the elements of a row's array are; `None` if it is NULL.
    pub fn range(&self, row: usize) -> Option<Range<usize>> {
        let at = self.column.at(row);
        (!self.column.is_null(row)).then(|| self.arrays.range(at))
    }

    /// The bounds of a row's array; none if it is NULL.
    pub fn bounds(&self, row: usize) -> Bounds {
        match self.column.is_null(row) {
            true => Bounds::default(),
            false => self.arrays.bounds(self.column.at(row)),
        }
    }

    /// Where the elements of a row's array of one dimension are, for functions of lists;
    /// `None` if it is NULL.
    ///
    /// # Errors
    /// `0A000` if it has several dimensions.
    pub fn list(&self, row: usize) -> Result<Option<Range<usize>>> {
        let Some(range) = self.range(row) else {
            return Ok(None);
        };
        match self.bounds(row).dimensions() {
            0 | 1 => Ok(Some(range)),
            _ => Err(Error::unsupported(
                "functions of lists do not take arrays of several dimensions",
            )),
        }
    }
}

/// How many rows a kernel computes: one if all arguments are constant. Its result is to be
/// [`repeated`](crate::functions::kernel::repeated).
pub fn rows_of(rows: usize, columns: &[Column]) -> usize {
    let same = !columns.is_empty() && columns.iter().all(|column| column.constant);
    if same { rows.min(1) } else { rows }
}

/// A kernel that computes one row if all arguments are constant. The closure's call has the
/// number of rows that it is to compute.
pub fn kernel(
    f: impl Fn(&Call<'_>, &[Column]) -> Result<ArrayRef> + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, columns| {
        let rows = rows_of(call.rows, columns);
        Ok(repeated(f(&Call { rows, ..*call }, columns)?, call.rows))
    })
}

/// The argument at a place.
///
/// # Errors
/// `XX000` if there are fewer.
pub fn argument(columns: &[Column], at: usize) -> Result<&Column> {
    let column = columns.get(at);
    column.ok_or_else(|| Error::internal("a function is short of arguments"))
}

/// The type of an argument.
///
/// # Errors
/// `XX000` if there are fewer.
pub fn argument_type<'a>(call: &Call<'a>, at: usize) -> Result<&'a Type> {
    let ty = call.types.get(at);
    ty.ok_or_else(|| Error::internal("a function is short of arguments' types"))
}

/// The type of an array's elements.
pub fn element_of(ty: &Type) -> &Type {
    ty.innermost()
}
