//! Arrays, strings and JSON of all values.
//!
//! ```text
//! array_agg(x) over 1, NULL = {1,NULL}      string_agg(x, ', ') over 'a', NULL, 'b' = a, b
//! json_object_agg(k, v) over (a, 1) = { "a" : 1 }
//! ```
//!
//! An array of arrays has one dimension more, and all elements must have one shape.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StringViewArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};

use super::{Catalogue, State, argument, make, null, one, plain, too_long};
use crate::error::{Error, Result};
use crate::functions::json::Encoder;
use crate::functions::kernel::{Bytes, Call, Column, Input, Str};
use crate::functions::{Returns, catalogue};
use crate::types::Type;

/// Most bytes of a result.
const MOST_BYTES: usize = (1 << 30) - 1;

/// All values of an argument, in the order in which they came.
#[derive(Default)]
pub(super) struct Values {
    parts: Vec<ArrayRef>,
    rows: usize,
    bytes: usize,
}

impl Values {
    /// Adds the rows of an array.
    pub(super) fn add(&mut self, array: &ArrayRef) -> Result<()> {
        if array.is_empty() {
            return Ok(());
        }
        self.rows += array.len();
        self.bytes += array.to_data().get_slice_memory_size()?;
        self.parts.push(Arc::clone(array));
        // Many short parts are joined, so that their headers do not outweigh the values.
        if self.parts.len() >= 1024 {
            self.join()?;
        }
        Ok(())
    }

    fn join(&mut self) -> Result<()> {
        let parts: Vec<&dyn Array> = self.parts.iter().map(AsRef::as_ref).collect();
        let joined = arrow_select::concat::concat(&parts)?;
        self.parts = vec![joined];
        Ok(())
    }

    /// All values as one array; `None` if there are none.
    pub(super) fn all(&mut self) -> Result<Option<ArrayRef>> {
        if self.parts.len() > 1 {
            self.join()?;
        }
        Ok(self.parts.first().cloned())
    }

    /// Bytes of memory.
    pub(super) fn size(&self) -> usize {
        64 + self.bytes
    }
}

/// A list of one row, which holds all values.
pub(super) fn list_of(values: ArrayRef, element: DataType) -> Result<ArrayRef> {
    if i32::try_from(values.len()).is_err() {
        return Err(too_long());
    }
    let field = Arc::new(Field::new("item", element, true));
    let offsets = OffsetBuffer::from_lengths([values.len()]);
    Ok(Arc::new(ListArray::try_new(field, offsets, values, None)?))
}

/// `array_agg`.
struct Collected {
    values: Values,
    /// Whether values are arrays, and the lengths of their dimensions.
    nested: bool,
    shape: Option<Vec<usize>>,
}

impl Collected {
    /// Refuses arrays that cannot be elements of one array.
    fn check(&mut self, array: &ArrayRef) -> Result<()> {
        for row in 0..array.len() {
            if array.is_null(row) {
                return Err(Error::new("22004", "cannot accumulate null arrays"));
            }
            let shape = shape(array.as_list::<i32>().value(row));
            if self.shape.is_none() && shape.first() == Some(&0) {
                return Err(Error::new("2202E", "cannot accumulate empty arrays"));
            }
            if *self.shape.get_or_insert_with(|| shape.clone()) != shape {
                let message = "cannot accumulate arrays of different dimensionality";
                return Err(Error::new("2202E", message));
            }
        }
        Ok(())
    }
}

/// The lengths of an array's dimensions.
fn shape(mut values: ArrayRef) -> Vec<usize> {
    let mut shape = vec![values.len()];
    while let Some(list) = values.as_list_opt::<i32>().filter(|list| !list.is_empty()) {
        let inner = list.value(0);
        shape.push(inner.len());
        values = inner;
    }
    shape
}

impl State for Collected {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let array = argument(arguments, 0)?;
        if self.nested {
            self.check(array)?;
        }
        self.values.add(array)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let Some(values) = self.values.all()? else {
            return Ok(null(call));
        };
        let element = values.data_type().clone();
        list_of(values, element)
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}

/// `string_agg` of TEXT or BYTEA.
#[derive(Default)]
struct Joined {
    bytes: Vec<u8>,
    any: bool,
}

impl Joined {
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > MOST_BYTES - self.bytes.len() {
            return Err(too_long());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn add<T>(&mut self, arguments: &[ArrayRef]) -> Result<()>
    where
        T: Input,
        for<'a> T::Item<'a>: AsRef<[u8]>,
    {
        let values = argument(arguments, 0)?;
        let delimiters = arguments.get(1);
        let reader = T::reader(values)?;
        let marks = delimiters.map(T::reader).transpose()?;
        for row in 0..values.len() {
            if values.is_null(row) {
                continue;
            }
            if let (true, Some(array), Some(marks)) = (self.any, delimiters, &marks)
                && !array.is_null(row)
            {
                self.push(T::get(marks, array, row).as_ref())?;
            } else if self.any && delimiters.is_none() {
                self.push(b",")?;
            }
            self.push(T::get(&reader, values, row).as_ref())?;
            self.any = true;
        }
        Ok(())
    }
}

/// `string_agg` of TEXT.
struct JoinedText(Joined);

impl State for JoinedText {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        self.0.add::<Str>(arguments)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let text = String::from_utf8_lossy(&self.0.bytes).into_owned();
        one::<Str>(call, self.0.any.then_some(text))
    }

    fn size(&self) -> usize {
        64 + self.0.bytes.capacity()
    }
}

/// `string_agg` of BYTEA.
struct JoinedBytes(Joined);

impl State for JoinedBytes {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        self.0.add::<Bytes>(arguments)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        one::<Bytes>(call, self.0.any.then(|| self.0.bytes.clone()))
    }

    fn size(&self) -> usize {
        64 + self.0.bytes.capacity()
    }
}

/// `json_agg`, `json_object_agg` and the same of JSONB.
struct Json {
    /// Whether keys come before values.
    object: bool,
    binary: bool,
    text: String,
}

impl Json {
    fn check(&self) -> Result<()> {
        match self.text.len() > MOST_BYTES {
            true => Err(too_long()),
            false => Ok(()),
        }
    }
}

impl State for Json {
    fn add(&mut self, call: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let encoder = |at: usize| {
            let ty = call.types.get(at).unwrap_or(&Type::Text);
            Encoder::new(call.session, ty, argument(arguments, at)?)
        };
        let values = encoder(usize::from(self.object))?;
        let keys = self.object.then(|| encoder(0)).transpose()?;
        for row in 0..argument(arguments, 0)?.len() {
            let first = self.text.is_empty();
            self.text.push_str(if first { "" } else { ", " });
            if let Some(keys) = &keys {
                if keys.is_null(row) {
                    return Err(Error::new("22023", "field name must not be null"));
                }
                keys.write_key(row, &mut self.text)?;
                self.text.push_str(" : ");
            } else if !first && values.has_parts() && !values.is_null(row) {
                self.text.push_str("\n ");
            }
            values.write(row, &mut self.text);
            self.check()?;
        }
        Ok(())
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        if self.text.is_empty() {
            return Ok(null(call));
        }
        let text = match self.object {
            true => format!("{{ {} }}", self.text),
            false => format!("[{}]", self.text),
        };
        if self.binary {
            let text: ArrayRef = Arc::new(StringViewArray::from(vec![text]));
            return cast(call, &Type::Text, &Type::Jsonb, &text);
        }
        one::<Str>(call, Some(text))
    }

    fn size(&self) -> usize {
        64 + self.text.capacity()
    }
}

/// Values cast to another type by the catalogue; as they are if it has no such cast.
fn cast(call: &Call<'_>, from: &Type, to: &Type, values: &ArrayRef) -> Result<ArrayRef> {
    let cast = catalogue().cast_of(from, to);
    let Some(function) = cast.and_then(|cast| cast.function.as_ref()) else {
        return Ok(Arc::clone(values));
    };
    let call = Call {
        rows: values.len(),
        types: std::slice::from_ref(from),
        returns: to,
        session: call.session,
    };
    (function.kernel)(&call, &[Column::rows(Arc::clone(values))])
}

/// An array of the first argument's type.
fn array_of_argument() -> Returns {
    Returns::Of(Arc::new(|types| {
        types.first().cloned().unwrap_or(Type::Text).array()
    }))
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Any, AnyArray, AnyNonArray, Bytea, Jsonb, Text};
    for name in ["array_agg", "list"] {
        for (ty, nested) in [(AnyNonArray, false), (AnyArray, true)] {
            let state = make(move |_, _| {
                Ok(Collected {
                    values: Values::default(),
                    nested,
                    shape: None,
                })
            });
            let all = plain(name, &[ty], array_of_argument(), state);
            c.add_aggregate(all.with_nulls().in_order());
        }
    }
    let text = make(|_, _| Ok(JoinedText(Joined::default())));
    let bytes = make(|_, _| Ok(JoinedBytes(Joined::default())));
    for name in ["string_agg", "group_concat", "listagg"] {
        let joined = [
            plain(name, &[Text, Text], Text, text.clone()),
            plain(name, &[Bytea, Bytea], Bytea, bytes.clone()),
            plain(name, &[Text], Text, text.clone()),
        ];
        for all in joined {
            c.add_aggregate(all.with_nulls().in_order());
        }
    }
    let json = [
        ("json_agg", false, false),
        ("jsonb_agg", false, true),
        ("json_object_agg", true, false),
        ("jsonb_object_agg", true, true),
    ];
    for (name, object, binary) in json {
        let parameters: &[Type] = if object {
            &[Any, Any]
        } else {
            &[Type::AnyElement]
        };
        let returns = if binary { Jsonb } else { Type::Json };
        let state = make(move |_, _| {
            Ok(Json {
                object,
                binary,
                text: String::new(),
            })
        });
        let all = plain(name, parameters, returns, state);
        c.add_aggregate(all.with_nulls().in_order());
    }
}
