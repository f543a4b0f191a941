//! Tables, and the order and the groups of their rows.

use std::cmp::Ordering;

use arrow_array::{Array, ArrayRef, UInt64Array, new_empty_array};
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::functions::ordering::{beginnings, comparator};
use crate::plan::{Column, ColumnId, SortKey};
use crate::types::Type;

/// Rows of columns, which go by their numbers.
#[derive(Clone, Debug)]
pub struct Table {
    /// Columns in order.
    pub columns: Vec<(ColumnId, ArrayRef)>,
    /// How many rows there are.
    pub rows: usize,
}

impl Table {
    /// One row without columns.
    pub(super) fn one_row() -> Table {
        Table {
            columns: Vec::new(),
            rows: 1,
        }
    }

    /// A column by its number.
    pub fn column(&self, id: ColumnId) -> Option<&ArrayRef> {
        let found = self.columns.iter().find(|(other, _)| *other == id);
        found.map(|(_, array)| array)
    }

    /// Some of its rows.
    pub(super) fn select(&self, rows: &[usize]) -> Result<Table> {
        let rows: Vec<Option<usize>> = rows.iter().copied().map(Some).collect();
        self.select_or_null(&rows)
    }

    /// Some of its rows, and rows of NULLs.
    pub(super) fn select_or_null(&self, rows: &[Option<usize>]) -> Result<Table> {
        let mut places = rows.iter().enumerate();
        if rows.len() == self.rows && places.all(|(place, row)| *row == Some(place)) {
            return Ok(self.clone());
        }
        let places: UInt64Array = rows.iter().map(|row| row.map(|row| row as u64)).collect();
        let columns = self
            .columns
            .iter()
            .map(|(id, array)| Ok((*id, take(array, &places, None)?)));
        Ok(Table {
            columns: columns.collect::<Result<_>>()?,
            rows: rows.len(),
        })
    }

    /// The rows of tables one after the other; columns go by their places and get new numbers.
    pub(super) fn stacked(ids: &[ColumnId], tables: &[Table]) -> Result<Table> {
        let columns = ids.iter().enumerate().map(|(at, id)| {
            let pieces = tables.iter().map(|table| {
                let column = table.columns.get(at).map(|(_, array)| array.clone());
                column.ok_or_else(|| Error::internal("a side of a set is short of columns"))
            });
            Ok((*id, concat(&pieces.collect::<Result<Vec<_>>>()?)?))
        });
        Ok(Table {
            columns: columns.collect::<Result<_>>()?,
            rows: tables.iter().map(|table| table.rows).sum(),
        })
    }

    /// The rows of tables one after the other, with the columns of a plan even if there are none.
    pub(super) fn stacked_as(columns: &[&Column], mut tables: Vec<Table>) -> Result<Table> {
        let ids: Vec<_> = columns.iter().map(|column| column.id).collect();
        let none = columns.iter().map(|column| {
            let empty = new_empty_array(&column.ty.arrow());
            (column.id, empty)
        });
        tables.push(Table {
            columns: none.collect(),
            rows: 0,
        });
        Table::stacked(&ids, &tables)
    }

    /// The columns of two tables side by side.
    pub(super) fn beside(mut self, other: Table) -> Table {
        self.columns.extend(other.columns);
        self
    }
}

/// Arrays one after the other.
pub(super) fn concat(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    Ok(arrow_select::concat::concat(&arrays)?)
}

/// Whether two rows have the same values, NULLs being the same.
pub(super) fn same(keys: &[(Type, ArrayRef)]) -> Result<impl Fn(usize, usize) -> bool> {
    let order = order(keys)?;
    Ok(move |a, b| order(a, b).is_eq())
}

/// The order of rows by their values, all ascending with NULLs last.
fn order(keys: &[(Type, ArrayRef)]) -> Result<impl Fn(usize, usize) -> Ordering> {
    let keys = keys
        .iter()
        .map(|(ty, array)| Ok((comparator(ty)?, array.clone())));
    let keys = keys.collect::<Result<Vec<_>>>()?;
    Ok(move |a, b| {
        let mut each = keys.iter().map(|(order, array)| order(array, a, array, b));
        each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

/// Rows of the same values together, in order; groups come in the order of their first rows.
pub(super) fn groups(keys: &[(Type, ArrayRef)], rows: usize) -> Result<Vec<Vec<usize>>> {
    let order = order(keys)?;
    let first = keys.first().and_then(|(ty, array)| beginnings(ty, array));
    let all = arranged(rows, first, &order);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in all {
        match groups.last_mut() {
            Some(group) if order(group[0], row).is_eq() => group.push(row),
            _ => groups.push(vec![row]),
        }
    }
    groups.sort_by_key(|group| group[0]);
    Ok(groups)
}

/// The rows in an order; peers keep theirs.
pub(super) fn sorted(
    values: &[(Type, ArrayRef)],
    keys: &[SortKey],
    rows: usize,
) -> Result<Vec<usize>> {
    let orders = values.iter().map(|(ty, _)| comparator(ty));
    let orders = orders.collect::<Result<Vec<_>>>()?;
    let first = keys.first().zip(values.first());
    let first = first.and_then(|(key, (ty, array))| {
        let mut first = beginnings(ty, array)?;
        if key.descending {
            first.iter_mut().for_each(|value| *value = !*value);
        }
        Some(first)
    });
    Ok(arranged(rows, first, |a, b| {
        let each = keys.iter().zip(values).zip(&orders);
        let mut each =
            each.map(
                |((key, (_, array)), order)| match (array.is_null(a), array.is_null(b)) {
                    (false, false) if key.descending => order(array, b, array, a),
                    (false, false) => order(array, a, array, b),
                    (left, right) if key.nulls_first => right.cmp(&left),
                    (left, right) => left.cmp(&right),
                },
            );
        each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }))
}

/// The numbers of rows in an order; peers keep theirs. `first` has a number of each row whose
/// order is theirs wherever two numbers differ.
fn arranged(
    rows: usize,
    first: Option<Vec<u64>>,
    order: impl Fn(usize, usize) -> Ordering,
) -> Vec<usize> {
    let Some(first) = first else {
        let mut all: Vec<usize> = (0..rows).collect();
        all.sort_by(|a, b| order(*a, *b));
        return all;
    };
    let mut all: Vec<(u64, usize)> = first.into_iter().zip(0..).collect();
    all.sort_by(|(first, a), (second, b)| first.cmp(second).then_with(|| order(*a, *b)));
    all.into_iter().map(|(_, row)| row).collect()
}
