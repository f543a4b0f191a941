//! Arrays in their binary form.

use std::ops::Range;

use arrow::array::{Array, AsArray, ListArray};
use arrow::datatypes::DataType;
use bytes::{BufMut, BytesMut};
use freestone::{Arrays, Parameter, Result, Styles, VECTOR, said_of_element, said_of_elements};

use crate::kinds::Oid;

/// Writes the value of a row.
pub(crate) type Writer<'a> = Box<dyn Fn(usize, &mut BytesMut) + Send + 'a>;

fn put_quoted(element: &[u8], out: &mut BytesMut) {
    let special = |byte: &u8| b"{},\"\\".contains(byte) || byte.is_ascii_whitespace();
    let plain = !element.is_empty()
        && !element.iter().any(special)
        && !element.eq_ignore_ascii_case(b"null");
    if plain {
        out.put_slice(element);
        return;
    }
    out.put_u8(b'"');
    for byte in element {
        if b"\"\\".contains(byte) {
            out.put_u8(b'\\');
        }
        out.put_u8(*byte);
    }
    out.put_u8(b'"');
}

/// Writes lists in binary, lists of lists as arrays of more dimensions; `None` for other
/// columns. `binary` gives what writes the elements.
pub(crate) fn as_binary<'a>(
    array: &'a dyn Array,
    said: Option<&str>,
    styles: &Styles,
    binary: impl Fn(&'a dyn Array, Option<&str>, &Styles) -> Writer<'a>,
) -> Option<Writer<'a>> {
    let lists = array.as_list_opt::<i32>()?;
    let (mut elements, mut said, mut low) = (array, said.map(str::to_owned), 1);
    while let DataType::List(item) = elements.data_type() {
        said = match item.name() == VECTOR && *item.data_type() == DataType::Int64 {
            true => Some("oid".to_owned()),
            false => said_of_elements(said.as_deref(), item).map(str::to_owned),
        };
        // The items of vectors are counted from 0.
        low = i32::from(item.name() != VECTOR);
        elements = elements.as_list_opt::<i32>()?.values().as_ref();
    }
    let oid = Oid::said(said.as_deref(), elements.data_type());
    let write = binary(elements, said.as_deref(), styles);
    Some(Box::new(move |row, out| {
        let (dimensions, range) = shape(lists, row);
        let dimensions = dimensions.into_iter().map(|length| (length, low));
        put(elements, (oid, &write), dimensions, range, out);
    }))
}

/// Writes arrays in binary: their bounds, then their elements, with what `binary` gives.
pub(crate) fn binary_of<'a>(
    arrays: Arrays<'a>,
    said: Option<&str>,
    styles: &Styles,
    binary: impl Fn(&'a dyn Array, Option<&str>, &Styles) -> Writer<'a>,
) -> Writer<'a> {
    let elements: &'a dyn Array = arrays.values().as_ref();
    let said = said_of_element(said);
    let oid = Oid::said(said, elements.data_type());
    let write = binary(elements, said, styles);
    Box::new(move |row, out| {
        let bounds = arrays.bounds(row);
        let dimensions = bounds
            .lengths
            .iter()
            .copied()
            .zip(bounds.lows.iter().copied());
        put(elements, (oid, &write), dimensions, arrays.range(row), out);
    })
}

/// Writes one array: lengths and lower bounds of its dimensions, then the elements of a range.
fn put(
    elements: &dyn Array,
    (oid, write): (Oid, &Writer<'_>),
    dimensions: impl ExactSizeIterator<Item = (usize, i32)>,
    range: Range<usize>,
    out: &mut BytesMut,
) {
    let missing = |at: usize| elements.is_null(at) || *elements.data_type() == DataType::Null;
    if range.is_empty() {
        out.put_i32(0);
        out.put_i32(0);
        out.put_u32(oid.0);
        return;
    }
    out.put_i32(dimensions.len() as i32);
    out.put_i32(range.clone().any(missing).into());
    out.put_u32(oid.0);
    for (length, low) in dimensions {
        out.put_i32(length as i32);
        out.put_i32(low);
    }
    for at in range {
        let place = out.len();
        out.put_i32(-1);
        if !missing(at) {
            write(at, out);
            let length = (out.len() - place - 4) as i32;
            out[place..place + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
}

/// The lengths of the dimensions of an array, and where its elements are.
fn shape(lists: &ListArray, row: usize) -> (Vec<usize>, Range<usize>) {
    let offset = |lists: &ListArray, at: usize| lists.value_offsets()[at] as usize;
    let mut range = offset(lists, row)..offset(lists, row + 1);
    let (mut dimensions, mut count) = (vec![range.len()], range.len());
    let mut values = lists.values();
    while let Some(inner) = values.as_list_opt::<i32>() {
        range = offset(inner, range.start)..offset(inner, range.end);
        let length = range.len().checked_div(count).unwrap_or(0);
        dimensions.push(length);
        count *= length;
        values = inner.values();
    }
    // What is no box has no dimensions but one.
    if count != range.len() {
        dimensions = vec![range.len()];
    }
    (dimensions, range)
}

/// Most dimensions of an array.
const DIMENSIONS: usize = 6;

/// The length and the lower bound of each dimension of an array.
type Dimensions = Vec<(usize, i32)>;

/// An array in binary as its text; `None` for bytes that are none. `binary` reads an
/// element of a type.
///
/// # Errors
/// Those of its elements.
pub(crate) fn read(
    bytes: &[u8],
    binary: impl Fn(&[u8], Oid) -> Result<Option<Parameter>>,
) -> Result<Option<Parameter>> {
    let mut rest = bytes;
    let Some((dimensions, oid)) = head(&mut rest) else {
        return Ok(None);
    };
    let mut out = BytesMut::new();
    if dimensions.iter().any(|(_, low)| *low != 1) {
        for (length, low) in &dimensions {
            // A length is that of an INTEGER.
            let high = i64::from(*low) + *length as i64 - 1;
            out.put_slice(format!("[{low}:{high}]").as_bytes());
        }
        out.put_u8(b'=');
    }
    if dimensions.iter().any(|(length, _)| *length == 0) || dimensions.is_empty() {
        return Ok(rest.is_empty().then(|| Parameter::Text("{}".to_owned())));
    }
    // How many elements a part of each dimension has.
    let (mut parts, mut count) = (Vec::new(), 1usize);
    for (length, _) in dimensions.iter().rev() {
        count = count.saturating_mul(*length);
        parts.push(count);
    }
    for place in 0..count {
        if place > 0 {
            out.put_u8(b',');
        }
        let opened = parts.iter().filter(|count| place % **count == 0);
        out.put_bytes(b'{', opened.count());
        let Some(length) = next(&mut rest) else {
            return Ok(None);
        };
        match usize::try_from(length) {
            Err(_) => out.put_slice(b"NULL"),
            Ok(length) => {
                let Some((element, behind)) = rest.split_at_checked(length) else {
                    return Ok(None);
                };
                rest = behind;
                let element = binary(element, oid)?;
                let Some(element) = element.as_ref().and_then(shown) else {
                    return Ok(None);
                };
                put_quoted(element.as_bytes(), &mut out);
            }
        }
        let closed = parts.iter().filter(|count| (place + 1) % **count == 0);
        out.put_bytes(b'}', closed.count());
    }
    let text = String::from_utf8(out.to_vec()).ok();
    Ok(text.filter(|_| rest.is_empty()).map(Parameter::Text))
}

/// The next four bytes as a number.
fn next(rest: &mut &[u8]) -> Option<i32> {
    let (four, behind) = rest.split_at_checked(4)?;
    *rest = behind;
    Some(i32::from_be_bytes(four.try_into().ok()?))
}

/// Takes the bounds of an array and the type of its elements from its bytes.
fn head(rest: &mut &[u8]) -> Option<(Dimensions, Oid)> {
    let (count, _, oid) = (next(rest)?, next(rest)?, next(rest)?);
    let count = usize::try_from(count).ok()?;
    if count > DIMENSIONS {
        return None;
    }
    let mut dimensions = Vec::with_capacity(count);
    for _ in 0..count {
        let length = usize::try_from(next(rest)?).ok()?;
        dimensions.push((length, next(rest)?));
    }
    Some((dimensions, Oid(oid as u32)))
}

/// A value as text; `None` is NULL.
pub(crate) fn shown(value: &Parameter) -> Option<String> {
    Some(match value {
        Parameter::Null => return None,
        Parameter::Boolean(value) => value.to_string(),
        Parameter::Integer(value) => value.to_string(),
        Parameter::Decimal(text) | Parameter::Text(text) => text.clone(),
        Parameter::Double(value) => value.to_string(),
        Parameter::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("\\x{digits}")
        }
        Parameter::List(values) => {
            let each = values
                .iter()
                .map(|value| shown(value).unwrap_or("NULL".into()));
            format!("{{{}}}", each.collect::<Vec<String>>().join(","))
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, ListArray, StructArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::{Field, Int32Type};

    use super::*;
    use crate::output::binary;
    use crate::parameters;

    fn written(array: &ArrayRef, row: usize) -> Vec<u8> {
        let mut out = BytesMut::new();
        as_binary(array.as_ref(), None, &Styles::default(), binary).unwrap()(row, &mut out);
        out.to_vec()
    }

    #[test]
    fn lists_of_lists_have_dimensions() {
        let rows = [Some(vec![Some(1), Some(2)]), Some(vec![Some(3), None])];
        let inner = ListArray::from_iter_primitive::<Int32Type, _, _>(rows);
        let field = Field::new("item", inner.data_type().clone(), true);
        let offsets = OffsetBuffer::from_lengths([2]);
        let outer = ListArray::new(field.into(), offsets, std::sync::Arc::new(inner), None);
        let bytes = written(&(std::sync::Arc::new(outer) as ArrayRef), 0);
        let parts = [2, 1, 23, 2, 1, 2, 1, 4, 1, 4, 2, 4, 3, -1];
        let expected: Vec<u8> = parts
            .iter()
            .flat_map(|part: &i32| part.to_be_bytes())
            .collect();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn what_is_written_is_read() {
        let rows = [vec![Some(1), None, Some(-3)], vec![]];
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>(rows.map(Some));
        let list: ArrayRef = std::sync::Arc::new(list);
        for (row, shown) in ["{1,NULL,-3}", "{}"].into_iter().enumerate() {
            let bytes = written(&list, row);
            let known = Parameter::Text(shown.to_owned());
            assert_eq!(read(&bytes, parameters::binary).unwrap(), Some(known));
            for end in 0..bytes.len() {
                assert_eq!(
                    read(&bytes[..end], parameters::binary).unwrap(),
                    None,
                    "{end}"
                );
            }
        }
    }

    /// Arrays of any bounds are read as the texts that show them.
    #[test]
    fn bounds_are_written_and_read() {
        for (lengths, lows, expected) in [
            (&[3][..], &[1][..], "{0,NULL,2}"),
            (&[3], &[-1], "[-1:1]={0,NULL,2}"),
            (&[2, 2], &[1, 1], "{{0,NULL},{2,3}}"),
            (&[1, 2, 2], &[1, 5, 1], "[1:1][5:6][1:2]={{{0,NULL},{2,3}}}"),
            (&[], &[], "{}"),
        ] {
            let count = match lengths {
                [] => 0,
                some => some.iter().product::<usize>() as i32,
            };
            let values = (0..count).map(|value| (value != 1).then_some(value));
            let values: ArrayRef = Arc::new(Int32Array::from_iter(values));
            let lows = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(
                lengths
                    .iter()
                    .zip(lows)
                    .flat_map(|(length, low)| [Some(*length as i32), Some(*low)]),
            )]);
            let field = Arc::new(Field::new("item", DataType::Int32, true));
            let offsets = OffsetBuffer::from_lengths([values.len()]);
            let elements = ListArray::new(field, offsets, values, None);
            let columns: [(Arc<Field>, ArrayRef); 2] = [
                (
                    Arc::new(Field::new("elements", elements.data_type().clone(), true)),
                    Arc::new(elements),
                ),
                (
                    Arc::new(Field::new("bounds", lows.data_type().clone(), true)),
                    Arc::new(lows),
                ),
            ];
            let array = StructArray::from(columns.to_vec());
            let mut bytes = BytesMut::new();
            binary(&array, Some("integer[]"), &Styles::default())(0, &mut bytes);
            let known = Parameter::Text(expected.to_owned());
            assert_eq!(
                read(&bytes, parameters::binary).unwrap(),
                Some(known),
                "{expected}"
            );
            for end in 0..bytes.len() {
                assert_eq!(
                    read(&bytes[..end], parameters::binary).unwrap(),
                    None,
                    "{expected} {end}"
                );
            }
        }
    }

    /// Whatever is sent is an array or none.
    #[test]
    fn bytes_that_are_wrong_do_no_harm() {
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None])]);
        let list: ArrayRef = std::sync::Arc::new(list);
        let bytes = written(&list, 0);
        for at in 0..bytes.len() {
            for wrong in 0..=u8::MAX {
                let mut bytes = bytes.clone();
                bytes[at] = wrong;
                let _ = read(&bytes, parameters::binary);
                bytes.truncate(at + 1);
                let _ = read(&bytes, parameters::binary);
            }
        }
    }

    #[test]
    fn what_could_be_mistaken_is_quoted() {
        let quoted = |text: &str| {
            let mut out = BytesMut::new();
            put_quoted(text.as_bytes(), &mut out);
            String::from_utf8(out.to_vec()).unwrap()
        };
        assert_eq!(quoted("a.b"), "a.b");
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(quoted("Null"), "\"Null\"");
        assert_eq!(quoted("a, \"b\\"), "\"a, \\\"b\\\\\"");
    }
}
