//! Arrays: `{1,2}` as text, and their binary form.

use arrow::array::{Array, AsArray};
use arrow::datatypes::DataType;
use bytes::{BufMut, BytesMut};
use freestone::{Parameter, Result};

use crate::kinds::Oid;
use crate::output::{Writer, binary, text};
use crate::parameters;

/// Writes lists as text, `{1,2}`, vectors of the catalog as `1 2`; `None` for other columns.
pub(crate) fn as_text(array: &dyn Array) -> Option<Writer<'_>> {
    let lists = array.as_list_opt::<i32>()?;
    let elements = lists.values().as_ref();
    let write = text(elements);
    let (open, between, close): (&[u8], u8, &[u8]) = match Oid::of(array.data_type()) {
        Oid::INT2VECTOR => (b"", b' ', b""),
        _ => (b"{", b',', b"}"),
    };
    Some(Box::new(move |row, out| {
        let range = lists.value_offsets()[row]..lists.value_offsets()[row + 1];
        out.put_slice(open);
        for (place, at) in (range.start as usize..range.end as usize).enumerate() {
            if place > 0 {
                out.put_u8(between);
            }
            if elements.is_null(at) || *elements.data_type() == DataType::Null {
                out.put_slice(b"NULL");
                continue;
            }
            let mut element = BytesMut::new();
            write(at, &mut element);
            put_quoted(&element, out);
        }
        out.put_slice(close);
    }))
}

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

/// Writes lists in binary; `None` for other columns.
pub(crate) fn as_binary(array: &dyn Array) -> Option<Writer<'_>> {
    let lists = array.as_list_opt::<i32>()?;
    let elements = lists.values().as_ref();
    let oid = Oid::of(elements.data_type());
    let write = binary(elements);
    Some(Box::new(move |row, out| {
        let range = lists.value_offsets()[row]..lists.value_offsets()[row + 1];
        let range = range.start as usize..range.end as usize;
        let missing = |at: usize| elements.is_null(at) || *elements.data_type() == DataType::Null;
        out.put_i32((!range.is_empty()).into());
        out.put_i32(range.clone().any(missing).into());
        out.put_u32(oid.0);
        if range.is_empty() {
            return;
        }
        out.put_i32(range.len() as i32);
        out.put_i32(1);
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
    use arrow::datatypes::Int32Type;

    use super::*;

    fn written(array: &ArrayRef, row: usize, how: fn(&dyn Array) -> Option<Writer<'_>>) -> Vec<u8> {
        let mut out = BytesMut::new();
        how(array.as_ref()).unwrap()(row, &mut out);
        out.to_vec()
    }

    #[test]
    fn what_is_written_is_read() {
        let rows = [vec![Some(1), None, Some(-3)], vec![]];
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>(rows.map(Some));
        let list: ArrayRef = std::sync::Arc::new(list);
        for (row, shown) in ["{1,NULL,-3}", "{}"].into_iter().enumerate() {
            assert_eq!(written(&list, row, as_text), shown.as_bytes());
            let bytes = written(&list, row, as_binary);
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
        let bytes = written(&list, 0, as_binary);
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
