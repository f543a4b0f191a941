//! Joining texts and other values.
//!
//! `||` is NULL if one side is. `concat` leaves NULLs out and takes values of any type in the
//! form in which results show them, which for BOOLEAN is `t` or `f`:
//!
//! ```text
//! true || 'x'                  'truex'
//! concat(true, NULL, 'x')      'tx'
//! concat_ws(', ', 1, NULL, 2)  '1, 2'
//! ```

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};

use super::super::casts::{converted, text_of};
use super::super::kernel::{Call, Column, Kernel, Str, f2, repeated};
use super::super::{Catalogue, scalar};
use super::allowed;
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Any, AnyNonArray, Text};
    let kernel = f2::<Str, Str, Str>(|a, b| {
        allowed(a.len().checked_add(b.len()))?;
        Ok([a, b].concat())
    });
    c.operator("||", &[Text, Text], Text, kernel.clone());
    let kernel = with_texts(kernel);
    let mut add = |left: Type, right: Type| {
        c.add_operator(scalar("||", &[left, right], Text, kernel.clone()).stable());
    };
    add(Text, AnyNonArray);
    add(AnyNonArray, Text);
    let concat = scalar("concat", &[Any], Text, joining(false));
    c.add(concat.variadic(Any).with_nulls().stable());
    let concat = scalar("concat_ws", &[Text, Any], Text, joining(true));
    c.add(concat.variadic(Any).with_nulls().stable());
    // With a separator only.
    c.add(scalar("concat_ws", &[Text], Text, joining(true)).with_nulls());
}

/// A kernel of texts for operands that are cast to text.
fn with_texts(kernel: Kernel) -> Kernel {
    Arc::new(move |call, columns| {
        let mut texts = Vec::with_capacity(columns.len());
        for (column, ty) in columns.iter().zip(call.types) {
            texts.push(Column {
                array: converted(call, Arc::clone(&column.array), ty, &Type::Text)?,
                constant: column.constant,
            });
        }
        kernel(call, &texts)
    })
}

/// The texts of all arguments, as results show them.
///
/// # Errors
/// Errors of the casts to text.
pub(in super::super) fn shown(call: &Call<'_>, columns: &[Column]) -> Result<Vec<Column>> {
    let mut texts = Vec::with_capacity(columns.len());
    for (at, column) in columns.iter().enumerate() {
        let ty = call.types.get(at).unwrap_or(&Type::Text);
        texts.push(Column {
            array: text_of(call, ty, &column.array)?,
            constant: column.constant,
        });
    }
    Ok(texts)
}

/// `concat`, or `concat_ws`, whose first argument stands between the others.
fn joining(separated: bool) -> Kernel {
    Arc::new(move |call, columns| {
        let columns = shown(call, columns)?;
        let same = columns.iter().all(|column| column.constant);
        let rows = if same { call.rows.min(1) } else { call.rows };
        let mut texts = Vec::with_capacity(columns.len());
        for column in &columns {
            let array = column.array.as_string_view_opt();
            texts.push((
                array.ok_or_else(|| Error::internal("text that is none"))?,
                column,
            ));
        }
        let value = |(array, column): &(&arrow_array::StringViewArray, &Column), row: usize| {
            let at = column.at(row);
            (!array.is_null(at)).then(|| array.value(at).to_owned())
        };
        let mut joined = StringViewBuilder::with_capacity(rows);
        let mut line = String::new();
        for row in 0..rows {
            let mut rest = texts.as_slice();
            let mut separator = String::new();
            if separated && let Some((first, others)) = texts.split_first() {
                let Some(text) = value(first, row) else {
                    joined.append_null();
                    continue;
                };
                (separator, rest) = (text, others);
            }
            line.clear();
            let mut first = true;
            for (array, column) in rest {
                let at = column.at(row);
                if array.is_null(at) {
                    continue;
                }
                let text = array.value(at);
                allowed(line.len().checked_add(separator.len() + text.len()))?;
                if !first {
                    line.push_str(&separator);
                }
                line.push_str(text);
                first = false;
            }
            joined.append_value(&line);
        }
        let joined: ArrayRef = Arc::new(joined.finish());
        Ok(repeated(joined, call.rows))
    })
}
