//! Arrays in their binary form.

use std::ops::Range;

use arrow::array::{Array, AsArray, ListArray};
use arrow::datatypes::DataType;
use bytes::{BufMut, BytesMut};
use freestone::{Parameter, Result, said_of_elements};

use crate::kinds::Oid;
use crate::output::{Writer, binary};
use crate::parameters;

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
/// columns.
pub(crate) fn as_binary<'a>(array: &'a dyn Array, said: Option<&str>) -> Option<Writer<'a>> {
    let lists = array.as_list_opt::<i32>()?;
    let (mut elements, mut said) = (array, said.map(str::to_owned));
    while let DataType::List(item) = elements.data_type() {
        said = said_of_elements(said.as_deref(), item).map(str::to_owned);
        elements = elements.as_list_opt::<i32>()?.values().as_ref();
    }
    let oid = Oid::said(said.as_deref(), elements.data_type());
    let write = binary(elements, said.as_deref());
    Some(Box::new(move |row, out| {
        let (dimensions, range) = shape(lists, row);
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
        for length in dimensions {
            out.put_i32(length as i32);
            out.put_i32(1);
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
    }))
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

/// An array in binary as its text; `None` for bytes that are none, or have several
/// dimensions.
///
/// # Errors
/// Those of its elements.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<Parameter>> {
    let mut rest = bytes;
    let mut next = || -> Option<i32> {
        let (four, behind) = rest.split_at_checked(4)?;
        rest = behind;
        Some(i32::from_be_bytes(four.try_into().ok()?))
    };
    let (Some(dimensions), Some(_), Some(oid)) = (next(), next(), next()) else {
        return Ok(None);
    };
    if dimensions == 0 {
        return Ok(Some(Parameter::Text("{}".to_owned())));
    }
    let (Some(count), Some(_), 1) = (next(), next(), dimensions) else {
        return Ok(None);
    };
    let mut out = BytesMut::from(&b"{"[..]);
    for place in 0..count {
        if place > 0 {
            out.put_u8(b',');
        }
        let Some((length, behind)) = rest.split_at_checked(4) else {
            return Ok(None);
        };
        let length = i32::from_be_bytes(length.try_into().unwrap_or_default());
        rest = behind;
        if length < 0 {
            out.put_slice(b"NULL");
            continue;
        }
        let Some((element, behind)) = rest.split_at_checked(length as usize) else {
            return Ok(None);
        };
        rest = behind;
        let Some(element) = parameters::binary(element, Oid(oid as u32))? else {
            return Ok(None);
        };
        let Some(element) = shown(&element) else {
            return Ok(None);
        };
        put_quoted(element.as_bytes(), &mut out);
    }
    out.put_u8(b'}');
    let text = String::from_utf8(out.to_vec()).ok();
    Ok(text.filter(|_| rest.is_empty()).map(Parameter::Text))
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
    use arrow::array::{ArrayRef, ListArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::{Field, Int32Type};

    use super::*;

    fn written(array: &ArrayRef, row: usize) -> Vec<u8> {
        let mut out = BytesMut::new();
        as_binary(array.as_ref(), None).unwrap()(row, &mut out);
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
            assert_eq!(read(&bytes).unwrap(), Some(known));
            for end in 0..bytes.len() {
                assert_eq!(read(&bytes[..end]).unwrap(), None, "{end}");
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
                let _ = read(&bytes);
                bytes.truncate(at + 1);
                let _ = read(&bytes);
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
