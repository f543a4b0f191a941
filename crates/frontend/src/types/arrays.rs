//! How Arrow holds arrays: their elements, and the bounds of their dimensions.
//!
//! PostgreSQL has one type for arrays of all dimensions, so that the values of a column may
//! have several. An array is a struct of two fields:
//!
//! ```text
//! value               elements     bounds
//! {7,8}               [7, 8]       NULL
//! {{1,2,3},{4,5,6}}   [1, …, 6]    [2, 1, 3, 1]     lengths and lower bounds in turns
//! [0:1]={7,8}         [7, 8]       [2, 0]
//! {}                  []           NULL
//! ```
//!
//! Bounds that are NULL are those of nearly all arrays: one dimension that begins at 1, or
//! none. An array has one form only, so that equal arrays of plain elements have equal bits.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, ListArray, StructArray, UInt64Array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use arrow_select::take::take;

use crate::error::{Error, Result};

pub use crate::values::bounds::Bounds;

/// The name of the field of elements.
pub const ELEMENTS: &str = "elements";

/// The name of the field of bounds.
pub const BOUNDS: &str = "bounds";

fn list(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", element, true)))
}

fn fields(element: DataType) -> Fields {
    Fields::from(vec![
        Field::new(ELEMENTS, list(element), true),
        Field::new(BOUNDS, list(DataType::Int32), true),
    ])
}

/// The Arrow type of arrays of elements of an Arrow type.
pub fn data_type(element: DataType) -> DataType {
    DataType::Struct(fields(element))
}

/// The Arrow type of the elements of arrays; `None` if an Arrow type is not that of arrays.
pub fn element_type(of: &DataType) -> Option<&DataType> {
    let DataType::Struct(fields) = of else {
        return None;
    };
    match (fields.first(), fields.get(1), fields.len()) {
        (Some(elements), Some(bounds), 2)
            if elements.name() == ELEMENTS && bounds.name() == BOUNDS =>
        {
            match elements.data_type() {
                DataType::List(item) => Some(item.data_type()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The arrays of an Arrow array.
#[derive(Clone, Copy)]
pub struct Arrays<'a> {
    elements: &'a ListArray,
    bounds: &'a ListArray,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Arrays<'a> {
    /// Reads arrays; `None` if the Arrow array holds something else.
    pub fn read(array: &'a ArrayRef) -> Option<Self> {
        let fields = array.as_struct_opt()?;
        Some(Self {
            elements: fields.columns().first()?.as_list_opt()?,
            bounds: fields.columns().get(1)?.as_list_opt()?,
            nulls: fields.nulls(),
        })
    }

    /// The same where nothing else can be.
    ///
    /// # Errors
    /// `XX000` if the Arrow array holds something else.
    pub fn of(array: &'a ArrayRef) -> Result<Self> {
        Self::read(array)
            .ok_or_else(|| Error::internal(format!("an array is read in {}", array.data_type())))
    }

    /// The elements of all arrays, which may be more than those that ranges name.
    pub fn values(&self) -> &'a ArrayRef {
        self.elements.values()
    }

    /// Whether the array at a place is NULL.
    pub fn is_null(&self, at: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(at))
    }

    /// Where the elements of the array at a place are; none if it is NULL.
    pub fn range(&self, at: usize) -> Range<usize> {
        if self.is_null(at) || self.elements.is_null(at) {
            return 0..0;
        }
        let offsets = self.elements.value_offsets();
        let place = |at: usize| offsets.get(at).map_or(0, |offset| *offset as usize);
        place(at)..place(at + 1)
    }

    /// The elements of the array at a place.
    pub fn elements(&self, at: usize) -> ArrayRef {
        let range = self.range(at);
        self.values().slice(range.start, range.len())
    }

    /// The bounds of the array at a place.
    pub fn bounds(&self, at: usize) -> Bounds {
        if !self.is_null(at) && self.bounds.is_valid(at) {
            let numbers = self.bounds.value(at);
            if let Some(numbers) = numbers.as_primitive_opt::<Int32Type>() {
                let pairs = numbers.values().chunks_exact(2);
                let (mut lengths, mut lows) = (Vec::new(), Vec::new());
                for pair in pairs {
                    lengths.push(usize::try_from(pair[0]).unwrap_or(0));
                    lows.push(pair[1]);
                }
                return Bounds { lengths, lows };
            }
        }
        Bounds::plain(self.range(at).len())
    }

    /// The same arrays with other values in the place of each of their elements.
    ///
    /// # Errors
    /// `XX000` if there are not as many.
    pub fn with_values(&self, values: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let field = Arc::new(Field::new("item", values.data_type().clone(), true));
        let (offsets, held) = (
            self.elements.offsets().clone(),
            self.elements.nulls().cloned(),
        );
        let elements = ListArray::try_new(field, offsets, values, held)?;
        from_parts(elements, self.bounds.clone(), nulls)
    }

    /// The elements of each array as an Arrow list, without regard to dimensions.
    pub fn lists(&self) -> &'a ListArray {
        self.elements
    }
}

/// Arrays of lists of elements and of bounds that are held already.
///
/// # Errors
/// `XX000` if they do not agree.
pub fn from_parts(
    elements: ListArray,
    bounds: ListArray,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let fields = fields(elements.value_type());
    let columns: Vec<ArrayRef> = vec![Arc::new(elements), Arc::new(bounds)];
    Ok(Arc::new(StructArray::try_new(fields, columns, nulls)?))
}

/// Arrays of one dimension that begin at 1, of Arrow lists.
///
/// # Errors
/// `XX000` if Arrow refuses.
pub fn plain(lists: &ListArray) -> Result<ArrayRef> {
    let field = Arc::new(Field::new("item", DataType::Int32, true));
    let bounds = ListArray::new_null(field, lists.len());
    let elements = named_item(lists)?;
    from_parts(elements, bounds, lists.nulls().cloned())
}

/// Arrays of Arrow lists, of which lists of lists have several dimensions.
///
/// # Errors
/// `2202E` for lists of lists of several lengths.
pub fn from_lists(lists: &ListArray) -> Result<ArrayRef> {
    let Some(inner) = lists.values().as_list_opt::<i32>() else {
        return plain(lists);
    };
    let inner = from_lists(inner)?;
    let arrays = Arrays::of(&inner)?;
    let mut maker = Maker::new(lists.len());
    let mut places = Vec::new();
    let offsets = lists.value_offsets();
    for at in 0..lists.len() {
        let place = |at: usize| offsets.get(at).map_or(0, |offset| *offset as usize);
        let range = match lists.is_null(at) {
            true => 0..0,
            false => place(at)..place(at + 1),
        };
        let count = range.len();
        let mut known: Option<Bounds> = None;
        for part in range {
            let bounds = arrays.bounds(part);
            if *known.get_or_insert_with(|| bounds.clone()) != bounds {
                let message = "multidimensional arrays must have array expressions with \
                               matching dimensions";
                return Err(Error::new("2202E", message));
            }
            places.extend(arrays.range(part).map(|at| at as u64));
        }
        let mut bounds = known.unwrap_or_default();
        if !bounds.lengths.is_empty() {
            bounds.lengths.insert(0, count);
            bounds.lows.insert(0, 1);
        }
        maker.bounded(&bounds)?;
    }
    let values = take(arrays.values(), &UInt64Array::from(places), None)?;
    maker.finish(values, lists.nulls().cloned())
}

/// A list whose elements have the name that arrays give them.
fn named_item(lists: &ListArray) -> Result<ListArray> {
    let field = Arc::new(Field::new("item", lists.value_type(), true));
    let (offsets, values) = (lists.offsets().clone(), Arc::clone(lists.values()));
    let nulls = lists.nulls().cloned();
    Ok(ListArray::try_new(field, offsets, values, nulls)?)
}

/// Makes arrays row by row, of elements that are given at the end.
pub struct Maker {
    offsets: Vec<i32>,
    numbers: Vec<i32>,
    number_offsets: Vec<i32>,
    has_bounds: Vec<bool>,
}

impl Maker {
    /// Arrays of a number of rows.
    pub fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self {
            number_offsets: offsets.clone(),
            offsets,
            numbers: Vec::new(),
            has_bounds: Vec::with_capacity(rows),
        }
    }

    fn push(&mut self, count: usize, bounds: Option<&Bounds>) -> Result<()> {
        let last = self.offsets.last().copied().unwrap_or(0);
        let end = i32::try_from(count).ok().and_then(|n| last.checked_add(n));
        let end = end.ok_or_else(|| {
            Error::new(
                "54000",
                "array size exceeds the maximum allowed (134217727)",
            )
        })?;
        self.offsets.push(end);
        let bounds = bounds.filter(|bounds| !bounds.is_plain());
        self.has_bounds.push(bounds.is_some());
        if let Some(bounds) = bounds {
            for (length, low) in bounds.lengths.iter().zip(&bounds.lows) {
                self.numbers
                    .extend([i32::try_from(*length).unwrap_or(i32::MAX), *low]);
            }
        }
        self.number_offsets.push(self.numbers.len() as i32);
        Ok(())
    }

    /// The next array has one dimension that begins at 1, or none.
    ///
    /// # Errors
    /// `54000` if there are too many elements.
    pub fn plain(&mut self, count: usize) -> Result<()> {
        self.push(count, None)
    }

    /// The next array has some bounds.
    ///
    /// # Errors
    /// `54000` if there are too many elements.
    pub fn bounded(&mut self, bounds: &Bounds) -> Result<()> {
        let count = match bounds.lengths.is_empty() {
            true => 0,
            false => bounds
                .lengths
                .iter()
                .fold(1usize, |all, n| all.saturating_mul(*n)),
        };
        self.push(count, Some(bounds))
    }

    /// The arrays of elements.
    ///
    /// # Errors
    /// `XX000` if there are too few elements.
    pub fn finish(self, values: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let field = Arc::new(Field::new("item", values.data_type().clone(), true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let elements = ListArray::try_new(field, offsets, values, None)?;
        let field = Arc::new(Field::new("item", DataType::Int32, true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.number_offsets));
        let numbers: ArrayRef = Arc::new(Int32Array::from(self.numbers));
        let has = NullBuffer::from(self.has_bounds);
        let bounds = ListArray::try_new(field, offsets, numbers, Some(has))?;
        from_parts(elements, bounds, nulls)
    }
}

/// The array of all values, in one row.
///
/// # Errors
/// `54000` if there are too many.
pub fn one(values: ArrayRef, bounds: Option<&Bounds>) -> Result<ArrayRef> {
    let mut maker = Maker::new(1);
    match bounds {
        Some(bounds) => maker.bounded(bounds)?,
        None => maker.plain(values.len())?,
    }
    maker.finish(values, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_as_they_were_made() {
        let all = [
            Bounds::plain(2),
            Bounds::of(vec![2, 1]),
            Bounds::default(),
            Bounds {
                lengths: vec![1],
                lows: vec![0],
            },
        ];
        let mut maker = Maker::new(all.len());
        for bounds in &all {
            maker.bounded(bounds).unwrap();
        }
        let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5]));
        let array = maker.finish(values, None).unwrap();
        assert_eq!(array.data_type(), &data_type(DataType::Int32));
        assert_eq!(element_type(array.data_type()), Some(&DataType::Int32));
        let arrays = Arrays::of(&array).unwrap();
        for (at, bounds) in all.iter().enumerate() {
            assert_eq!(&arrays.bounds(at), bounds);
        }
        assert_eq!(arrays.range(3), 4..5);
        let part = array.slice(1, 2);
        let arrays = Arrays::of(&part).unwrap();
        assert_eq!((arrays.range(0), arrays.range(1)), (2..4, 4..4));
        assert_eq!(arrays.bounds(0), all[1]);
    }
}
