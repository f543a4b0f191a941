//! Lambdas over lists: `list_transform(l, x -> x + 1)`, `list_filter`, `list_reduce`.
//!
//! The binder compiles a lambda's body to a closure over columns. Here it is called with the
//! elements of all rows' lists side by side, and the results are cut into lists again:
//!
//! ```text
//! lists      [1, 2]  NULL  [3]
//! elements   1 2 3      places 1 2 1      rows 0 0 2
//! ```
//!
//! Columns of the statement that a body names are brought to the elements by the rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::lists::{Lists, too_many_elements};
use crate::error::{Error, Result};
use crate::functions::kernel::Column;
use crate::types::arrays::Maker;

/// A lambda's body: of its parameters' values and of the row that each belongs to, the results.
/// The last parameter is the element's place, from 1, which a lambda need not name.
pub type Body<'a> = &'a dyn Fn(&[Column], &UInt32Array) -> Result<ArrayRef>;

/// The elements of lists, with the rows they are of.
struct Elements {
    values: ArrayRef,
    places: Int64Array,
    rows: UInt32Array,
    /// How many elements each row's list has.
    counts: Vec<usize>,
    nulls: Option<NullBuffer>,
}

impl Elements {
    fn of(list: &ArrayRef) -> Result<Self> {
        let column = Column::rows(Arc::clone(list));
        let lists = Lists::of(&column)?;
        let (mut from, mut places) = (Vec::new(), Vec::new());
        let (mut rows, mut counts) = (Vec::new(), Vec::with_capacity(list.len()));
        for row in 0..list.len() {
            let range = lists.list(row)?.unwrap_or_default();
            counts.push(range.len());
            places.extend(1..=range.len() as i64);
            rows.resize(rows.len() + range.len(), row as u32);
            from.extend(range.map(|at| at as u32));
        }
        Ok(Self {
            values: take(&lists.values, &UInt32Array::from(from), None)?,
            places: Int64Array::from(places),
            rows: UInt32Array::from(rows),
            counts,
            nulls: list.nulls().cloned(),
        })
    }

    fn results(&self, body: Body<'_>) -> Result<ArrayRef> {
        let places: ArrayRef = Arc::new(self.places.clone());
        let columns = [Column::rows(Arc::clone(&self.values)), Column::rows(places)];
        body(&columns, &self.rows)
    }
}

/// Lists of the results of a body of an element (and its place).
///
/// # Errors
/// Those of the body.
pub fn transform(list: &ArrayRef, body: Body<'_>) -> Result<ArrayRef> {
    let elements = Elements::of(list)?;
    let results = elements.results(body)?;
    let mut maker = Maker::new(list.len());
    for count in &elements.counts {
        maker.plain(*count)?;
    }
    maker.finish(results, elements.nulls)
}

/// Lists of the elements for which a body of an element (and its place) is true.
///
/// # Errors
/// Those of the body.
pub fn filter(list: &ArrayRef, body: Body<'_>) -> Result<ArrayRef> {
    let elements = Elements::of(list)?;
    let results = elements.results(body)?;
    let kept = results.as_boolean_opt();
    let kept = kept.ok_or_else(|| Error::new("42804", "argument of lambda must be boolean"))?;
    let (mut places, mut at) = (Vec::new(), 0);
    let mut maker = Maker::new(list.len());
    for count in &elements.counts {
        let before = places.len();
        places.extend((at..at + count).filter(|at| kept.is_valid(*at) && kept.value(*at)));
        maker.plain(places.len() - before)?;
        at += count;
    }
    let places = places.into_iter().map(|at| at as u32);
    let values = take(&elements.values, &places.collect::<UInt32Array>(), None)?;
    maker.finish(values, elements.nulls)
}

/// The results of a body of the result so far and the next element (and its place), for each
/// list from its first element on, or from an initial value.
///
/// # Errors
/// `22023` for an empty list without an initial value, and those of the body.
pub fn reduce(list: &ArrayRef, initial: Option<&Column>, body: Body<'_>) -> Result<ArrayRef> {
    let elements = Elements::of(list)?;
    let mut starts = Vec::with_capacity(elements.counts.len());
    let mut start = 0usize;
    for count in &elements.counts {
        starts.push(start);
        start += count;
    }
    let first = |row: usize| -> Result<Option<u32>> {
        if list.is_null(row) {
            return Ok(None);
        }
        match elements.counts.get(row).copied().unwrap_or(0) {
            0 => Err(Error::new(
                "22023",
                "cannot perform list_reduce on an empty input list",
            )),
            _ => Ok(starts.get(row).map(|at| *at as u32)),
        }
    };
    let (mut state, skipped) = match initial {
        Some(column) => {
            let places = (0..list.len()).map(|row| (!list.is_null(row)).then_some(column.at(row)));
            let places = places.map(|at| at.map(|at| at as u32));
            let places = places.collect::<UInt32Array>();
            (take(&column.array, &places, None)?, 0)
        }
        None => {
            let places = (0..list.len()).map(first);
            let places = places.collect::<Result<Vec<_>>>()?;
            (take(&elements.values, &UInt32Array::from(places), None)?, 1)
        }
    };
    let longest = elements.counts.iter().max().copied().unwrap_or(0);
    for step in skipped..longest {
        let longer = |row: &usize| elements.counts.get(*row).is_some_and(|count| *count > step);
        let rows: Vec<usize> = (0..list.len()).filter(longer).collect();
        let of_rows = rows.iter().map(|row| *row as u32).collect::<UInt32Array>();
        let places = rows
            .iter()
            .map(|row| starts.get(*row).map(|at| (at + step) as u32));
        let places = places.collect::<UInt32Array>();
        let so_far = take(&state, &of_rows, None)?;
        let next = take(&elements.values, &places, None)?;
        let place = i64::try_from(step + 1).map_err(|_| too_many_elements())?;
        let place: ArrayRef = Arc::new(Int64Array::from(vec![place; rows.len()]));
        let columns = [so_far, next, place].map(Column::rows);
        let results = body(&columns, &of_rows)?;
        if rows.len() == list.len() {
            state = results;
            continue;
        }
        let mut picks: Vec<(usize, usize)> = (0..list.len()).map(|row| (0, row)).collect();
        for (at, row) in rows.into_iter().enumerate() {
            if let Some(pick) = picks.get_mut(row) {
                *pick = (1, at);
            }
        }
        state = interleave(&[state.as_ref(), results.as_ref()], &picks)?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::arrays::{Arrays, plain};
    use arrow_array::types::Int64Type;
    use arrow_array::{BooleanArray, ListArray};

    fn lists() -> ArrayRef {
        let lists = vec![
            Some(vec![Some(1), Some(2), Some(3)]),
            None,
            Some(vec![]),
            Some(vec![Some(4), None]),
        ];
        plain(&ListArray::from_iter_primitive::<Int64Type, _, _>(lists)).unwrap()
    }

    fn shown(list: &ArrayRef) -> String {
        let arrays = Arrays::of(list).unwrap();
        let rows = 0..list.len();
        let list = rows.map(|row| (!list.is_null(row)).then(|| arrays.elements(row)));
        let list = list.map(|one| one.map(|one| one.as_primitive::<Int64Type>().iter().collect()));
        format!("{:?}", list.collect::<Vec<Option<Vec<Option<i64>>>>>())
    }

    fn sum(columns: &[Column], _: &UInt32Array) -> Result<ArrayRef> {
        let values = |at: usize| columns[at].array.as_primitive::<Int64Type>().iter();
        let sums = values(0).zip(values(1)).map(|(a, b)| Some(a? + b?));
        Ok(Arc::new(sums.collect::<Int64Array>()))
    }

    #[test]
    fn transform_adds_the_place() {
        let expected = "[Some([Some(2), Some(4), Some(6)]), None, Some([]), Some([Some(5), None])]";
        assert_eq!(shown(&transform(&lists(), &sum).unwrap()), expected);
    }

    #[test]
    fn filter_keeps_what_is_true() {
        let body = |columns: &[Column], rows: &UInt32Array| -> Result<ArrayRef> {
            let values = columns[0].array.as_primitive::<Int64Type>().iter();
            assert_eq!(rows.values(), &[0, 0, 0, 3, 3]);
            Ok(Arc::new(
                values.map(|v| v.map(|v| v > 1)).collect::<BooleanArray>(),
            ))
        };
        let expected = "[Some([Some(2), Some(3)]), None, Some([]), Some([Some(4)])]";
        assert_eq!(shown(&filter(&lists(), &body).unwrap()), expected);
    }

    #[test]
    fn reduce_goes_step_by_step() {
        let initial = Column::constant(Arc::new(Int64Array::from(vec![10])));
        let result = reduce(&lists(), Some(&initial), &sum).unwrap();
        let result: Vec<_> = result.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(result, [Some(16), None, Some(10), None]);
        let error = reduce(&lists(), None, &sum).unwrap_err();
        assert_eq!(error.sqlstate, "22023");
        let result = reduce(&lists().slice(0, 2), None, &sum).unwrap();
        let result: Vec<_> = result.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(result, [Some(6), None]);
    }
}
