//! Lists are made by picking elements out of other arrays.
//!
//! A [`Picker`] is given the arrays that elements come from and then, row by row, which
//! elements of which of them make up the list. Values are copied once, at the end, whatever
//! their type:
//!
//! ```text
//! let mut picker = Picker::new(&Type::Int4, &[left, right], rows)?;
//! picker.pick(0, 7)?;          // element 7 of the first array
//! picker.pick_null();
//! picker.end_row()?;           // a list of two elements
//! ```

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StructArray, new_empty_array, new_null_array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use arrow_select::interleave::interleave;

use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Input, Kernel, Num, Output, repeated};
use crate::functions::ordering::{dimensions, flat};
use crate::types::Type;

/// Most elements of an array.
pub const MOST_ELEMENTS: usize = 134_217_727;

/// `54000` for an array of too many elements.
pub fn too_many_elements() -> Error {
    Error::new(
        "54000",
        format!("array size exceeds the maximum allowed ({MOST_ELEMENTS})"),
    )
}

/// Makes lists of picked elements.
pub struct Picker {
    element: Type,
    sources: Vec<ArrayRef>,
    picks: Vec<(usize, usize)>,
    offsets: Vec<i32>,
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
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Ok(Self {
            element: element.clone(),
            sources: all,
            picks: Vec::new(),
            offsets,
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

    /// Elements of the list that is being made.
    pub fn list_mut(&mut self) -> &mut [(usize, usize)] {
        let start = self.offsets.last().map_or(0, |offset| *offset as usize);
        self.picks.get_mut(start..).unwrap_or_default()
    }

    /// Ends the list of a row.
    ///
    /// # Errors
    /// `54000` if there are too many elements.
    pub fn end_row(&mut self) -> Result<()> {
        if self.list_mut().len() > MOST_ELEMENTS {
            return Err(too_many_elements());
        }
        let end = i32::try_from(self.picks.len()).map_err(|_| too_many_elements())?;
        self.offsets.push(end);
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

    /// The lists.
    ///
    /// # Errors
    /// `XX000` if Arrow refuses.
    pub fn finish(self) -> Result<ArrayRef> {
        let values = self.values()?;
        let nulls = NullBuffer::from(self.valid);
        list_of(self.offsets, values, Some(nulls))
    }
}

/// A list array of offsets and values.
///
/// # Errors
/// `XX000` if they do not agree.
pub fn list_of(offsets: Vec<i32>, values: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls)?))
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
        (Type::Array(element), DataType::List(_)) => {
            let list = array.as_list::<i32>();
            let values = reformed(list.values(), element)?;
            let offsets = list.value_offsets().to_vec();
            list_of(offsets, values, list.nulls().cloned())
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
    /// The elements of all rows' arrays; these are arrays if there are several dimensions.
    pub values: ArrayRef,
}

impl<'a> Lists<'a> {
    /// An argument's arrays.
    ///
    /// # Errors
    /// `XX000` if it is no array.
    pub fn of(column: &'a Column) -> Result<Self> {
        let list = column.array.as_list_opt::<i32>();
        let list = list.ok_or_else(|| Error::internal("a function of arrays is given none"))?;
        Ok(Self {
            column,
            values: Arc::clone(list.values()),
        })
    }

    /// Where the elements of a row's array are; `None` if it is NULL.
    pub fn range(&self, row: usize) -> Option<Range<usize>> {
        if self.column.is_null(row) {
            return None;
        }
        Some(flat(&self.column.array, self.column.at(row), 1).1)
    }

    /// Lengths of the dimensions of a row's array.
    pub fn dimensions(&self, row: usize, depth: usize) -> Vec<usize> {
        dimensions(&self.column.array, self.column.at(row), depth)
    }

    /// The elements of all dimensions, and where those of a row's array are.
    pub fn flat(&self, row: usize, depth: usize) -> (&ArrayRef, Range<usize>) {
        flat(&self.column.array, self.column.at(row), depth)
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

/// The type of the elements of an array's first dimension.
pub fn element_of(ty: &Type) -> &Type {
    match ty {
        Type::Array(element) => element,
        other => other,
    }
}

/// The lists that hold the elements of arrays of several dimensions.
pub struct Shape {
    levels: Vec<Vec<i32>>,
}

impl Shape {
    /// Arrays of a number of dimensions.
    pub fn new(depth: usize) -> Self {
        Self {
            levels: vec![vec![0]; depth],
        }
    }

    /// Adds an array with lengths of its dimensions; it is empty if there are none.
    ///
    /// # Errors
    /// `54000` if there are too many elements.
    pub fn push(&mut self, lengths: &[usize]) -> Result<()> {
        // Lists of a level: one at the outermost, then the product of the lengths above.
        let mut lists = 1usize;
        for (at, offsets) in self.levels.iter_mut().enumerate() {
            let length = lengths.get(at).copied().unwrap_or(0);
            let next = lists.checked_mul(length);
            let next = next.filter(|all| *all <= MOST_ELEMENTS);
            let next = next.ok_or_else(too_many_elements)?;
            for _ in 0..lists {
                let last = offsets.last().copied().unwrap_or(0);
                let end = last.checked_add(length as i32);
                offsets.push(end.ok_or_else(too_many_elements)?);
            }
            lists = next;
            if lists == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The arrays of elements.
    ///
    /// # Errors
    /// `XX000` if there are too few elements.
    pub fn around(mut self, elements: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut values = elements;
        while let Some(level) = self.levels.pop() {
            let nulls = nulls.clone().filter(|_| self.levels.is_empty());
            values = list_of(level, values, nulls)?;
        }
        Ok(values)
    }
}
