//! Arrays and records as SQL reads them: `{1,NULL,"a b"}`, `{{1,2},{3,4}}`, `(1,a,)`.

use std::ops::Range;

use arrow::array::{Array, AsArray, ListArray};
use arrow::datatypes::DataType;
use freestone_frontend::types::arrays::Arrays;

use super::{Styles, Writer, writer};
use crate::types::VECTOR;

/// A writer of lists; vectors of the catalog are written as `1 2`.
pub(super) fn list<'a>(array: &'a dyn Array, styles: &Styles) -> Writer<'a> {
    let lists = array.as_list::<i32>();
    let elements = lists.values().as_ref();
    let is_vector = matches!(array.data_type(), DataType::List(item) if item.name() == VECTOR);
    let (open, between, close) = match is_vector {
        true => ("", ' ', ""),
        false => ("{", ',', "}"),
    };
    let is_array = matches!(elements.data_type(), DataType::List(_));
    let write = part(elements, styles);
    Box::new(move |row, out| {
        let range = range(lists, row);
        out.push_str(open);
        // An array without elements has no dimensions.
        let range = if is_hollow(elements, &range) {
            0..0
        } else {
            range
        };
        for (place, at) in range.enumerate() {
            if place > 0 {
                out.push(between);
            }
            if is_null(elements, at) {
                out.push_str("NULL");
            } else if is_array {
                write(at, out);
            } else {
                let mut element = String::new();
                write(at, &mut element);
                put_element(&element, out);
            }
        }
        out.push_str(close);
    })
}

/// A writer of arrays of any number of dimensions. Bounds stand before it if a dimension begins
/// elsewhere than at 1.
pub(super) fn array<'a>(arrays: Arrays<'a>, styles: &Styles) -> Writer<'a> {
    let elements = arrays.values().as_ref();
    let write = part(elements, styles);
    Box::new(move |row, out| {
        let range = arrays.range(row);
        if range.is_empty() {
            out.push_str("{}");
            return;
        }
        let bounds = arrays.bounds(row);
        if !bounds.begin_at_one() {
            out.push_str(&bounds.text());
            out.push('=');
        }
        let parts = inner_counts(&bounds.lengths);
        let mut element = String::new();
        for (place, at) in range.enumerate() {
            if place > 0 {
                out.push(',');
            }
            let opened = parts.iter().filter(|count| place % **count == 0);
            out.extend(opened.map(|_| '{'));
            if is_null(elements, at) {
                out.push_str("NULL");
            } else {
                element.clear();
                write(at, &mut element);
                put_element(&element, out);
            }
            let closed = parts.iter().filter(|count| (place + 1) % **count == 0);
            out.extend(closed.map(|_| '}'));
        }
    })
}

/// How many elements a part of each dimension has, the whole first.
fn inner_counts(lengths: &[usize]) -> Vec<usize> {
    let mut counts: Vec<usize> = lengths
        .iter()
        .rev()
        .scan(1usize, |count, length| {
            *count = count.saturating_mul(*length).max(1);
            Some(*count)
        })
        .collect();
    counts.reverse();
    counts
}

/// A writer of records. NULL is nothing at all.
pub(super) fn record<'a>(array: &'a dyn Array, styles: &Styles) -> Writer<'a> {
    let columns = array.as_struct().columns().iter();
    let columns: Vec<(&dyn Array, Writer<'a>)> = columns
        .map(|column| (column.as_ref(), part(column.as_ref(), styles)))
        .collect();
    Box::new(move |row, out| {
        out.push('(');
        for (place, (column, write)) in columns.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            if !is_null(*column, row) {
                let mut value = String::new();
                write(row, &mut value);
                put_value(&value, out);
            }
        }
        out.push(')');
    })
}

/// A writer of what is part of an array or a record.
fn part<'a>(array: &'a dyn Array, styles: &Styles) -> Writer<'a> {
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, out| out.push(if values.value(row) { 't' } else { 'f' }))
        }
        _ => writer(array, styles),
    }
}

fn is_null(array: &dyn Array, row: usize) -> bool {
    array.is_null(row) || *array.data_type() == DataType::Null
}

fn range(lists: &ListArray, row: usize) -> Range<usize> {
    let offset = |at: usize| {
        let offset = lists.value_offsets().get(at).copied().unwrap_or(0);
        usize::try_from(offset).unwrap_or(0)
    };
    offset(row)..offset(row + 1)
}

/// Whether the elements of a range are arrays that all have none.
fn is_hollow(elements: &dyn Array, of: &Range<usize>) -> bool {
    let Some(lists) = elements.as_list_opt::<i32>() else {
        return of.is_empty();
    };
    of.clone()
        .all(|at| !lists.is_null(at) && is_hollow(lists.values().as_ref(), &range(lists, at)))
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// An element, in quotes if it could be taken for something else.
fn put_element(element: &str, out: &mut String) {
    let special = |byte: u8| b"{},\"\\".contains(&byte) || is_space(byte);
    let plain = !element.is_empty()
        && !element.bytes().any(special)
        && !element.eq_ignore_ascii_case("null");
    if plain {
        out.push_str(element);
        return;
    }
    out.push('"');
    for c in element.chars() {
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// A value of a record, in quotes if it could be taken for something else.
fn put_value(value: &str, out: &mut String) {
    let special = |byte: u8| b"(),\"\\".contains(&byte) || is_space(byte);
    if !value.is_empty() && !value.bytes().any(special) {
        out.push_str(value);
        return;
    }
    out.push('"');
    for c in value.chars() {
        if c == '"' || c == '\\' {
            out.push(c);
        }
        out.push(c);
    }
    out.push('"');
}
