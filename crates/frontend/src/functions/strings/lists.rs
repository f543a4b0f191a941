//! Arrays and rows of texts.
//!
//! A text is split at a separator; without one (NULL) into its characters, and by an empty one
//! not at all. Fields that equal a third argument become NULL:
//!
//! ```text
//! string_to_array('a,b,-', ',', '-')   {a,b,NULL}
//! string_to_table('a,b', ',')          two rows
//! ```

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringViewBuilder};
use arrow_array::{Array, ArrayRef, StringViewArray, new_null_array};

use super::super::kernel::{Input, Opt, Output, Str, f2, f3};
use super::super::{Catalogue, TableFunction, scalar};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::types::arrays::plain;

/// An array of texts as a result.
pub struct Texts;

impl Output for Texts {
    type Item = Vec<Option<String>>;
    type Writer = ListBuilder<StringViewBuilder>;
    fn writer(_: &Type, rows: usize) -> Self::Writer {
        ListBuilder::with_capacity(StringViewBuilder::new(), rows)
    }
    fn put(writer: &mut Self::Writer, item: Self::Item) -> Result<()> {
        writer.append_value(item);
        Ok(())
    }
    fn null(writer: &mut Self::Writer) {
        writer.append_null();
    }
    fn finish(mut writer: Self::Writer) -> ArrayRef {
        let lists = writer.finish();
        let rows = lists.len();
        // Lists of texts always make arrays.
        plain(&lists).unwrap_or_else(|_| new_null_array(&Type::Text.array().arrow(), rows))
    }
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::Text;
    for name in ["string_to_array", "str_split", "string_split"] {
        let kernel = f2::<Opt<Str>, Opt<Str>, Opt<Texts>>(|text, separator| {
            Ok(text.map(|text| split(text, separator, None)))
        });
        c.add(scalar(name, &[Text, Text], Text.array(), kernel).with_nulls());
    }
    let kernel = f3::<Opt<Str>, Opt<Str>, Opt<Str>, Opt<Texts>>(|text, separator, null| {
        Ok(text.map(|text| split(text, separator, null)))
    });
    c.add(scalar("string_to_array", &[Text, Text, Text], Text.array(), kernel).with_nulls());
    for parameters in [vec![Text; 2], vec![Text; 3]] {
        c.add_table(TableFunction {
            name: "string_to_table",
            parameters,
            variadic: None,
            columns: vec![("", Text.into())],
            strict: false,
            rows: Arc::new(|_, arguments| {
                let text = argument(arguments, 0)?;
                let (separator, null) = (argument(arguments, 1)?, argument(arguments, 2)?);
                let rows = match text {
                    Some(text) => split(text, separator, null),
                    None => Vec::new(),
                };
                let rows: ArrayRef = Arc::new(rows.iter().collect::<StringViewArray>());
                Ok(Box::new(std::iter::once(Ok(vec![rows]))))
            }),
        });
    }
}

/// The text that is an argument of a table function; `None` for NULL or a missing one.
pub(in super::super) fn argument(arguments: &[ArrayRef], at: usize) -> Result<Option<&str>> {
    let Some(array) = arguments.get(at) else {
        return Ok(None);
    };
    let reader = Str::reader(array)?;
    if array.is_empty() {
        return Err(Error::internal("an argument without a value"));
    }
    Ok(Opt::<Str>::get(&reader, array, 0))
}

fn split(text: &str, separator: Option<&str>, null: Option<&str>) -> Vec<Option<String>> {
    let kept = |field: &str| (Some(field) != null).then(|| field.to_owned());
    match separator {
        _ if text.is_empty() => Vec::new(),
        None => {
            let mut bytes = [0; 4];
            text.chars()
                .map(|c| kept(c.encode_utf8(&mut bytes)))
                .collect()
        }
        Some("") => vec![kept(text)],
        Some(separator) => text.split(separator).map(kept).collect(),
    }
}
