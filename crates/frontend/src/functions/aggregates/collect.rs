//! Arrays, strings and JSON of all values.
//!
//! ```text
//! array_agg(x) over 1, NULL = {1,NULL}      string_agg(x, ', ') over 'a', NULL, 'b' = a, b
//! json_object_agg(k, v) over (a, 1) = { "a" : 1 }
//! ```
//!
//! An array of arrays has one dimension more, and all elements must have the same bounds.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringViewArray, UInt64Array};
use arrow_select::take::take;

use super::{Catalogue, State, argument, make, null, one, plain, too_long};
use crate::error::{Error, Result};
use crate::functions::json::Encoder;
use crate::functions::kernel::{Bytes, Call, Column, Input, Str};
use crate::functions::{Returns, catalogue};
use crate::types::Type;
use crate::types::arrays::{Arrays, Bounds, element_type, one as one_array};
use crate::values::array_text::{MOST_DIMENSIONS, too_many_dimensions};

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

/// An array of one row, which holds all values and has some bounds.
pub(super) fn list_of(values: ArrayRef, bounds: &Bounds) -> Result<ArrayRef> {
    if i32::try_from(values.len()).is_err() {
        return Err(too_long());
    }
    one_array(values, Some(bounds))
}

/// `array_agg` of values that are no arrays.
#[derive(Default)]
struct Collected(Values);

impl State for Collected {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        self.0.add(argument(arguments, 0)?)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let Some(values) = self.0.all()? else {
            return Ok(null(call));
        };
        let bounds = Bounds::plain(values.len());
        list_of(values, &bounds)
    }

    fn size(&self) -> usize {
        self.0.size()
    }
}

/// `array_agg` of arrays.
#[derive(Default)]
struct CollectedArrays {
    values: Values,
    /// How many arrays came, and the bounds of all of them.
    count: usize,
    bounds: Option<Bounds>,
}

/// The elements of all arrays, one after the other.
fn elements(arrays: &Arrays<'_>, rows: usize) -> Result<ArrayRef> {
    let (first, last) = (arrays.range(0), arrays.range(rows.saturating_sub(1)));
    let count: usize = (0..rows).map(|row| arrays.range(row).len()).sum();
    if first.start + count == last.end {
        return Ok(arrays.values().slice(first.start, count));
    }
    let places = (0..rows).flat_map(|row| arrays.range(row));
    let places = places.map(|at| at as u64).collect::<UInt64Array>();
    Ok(take(arrays.values(), &places, None)?)
}

impl CollectedArrays {
    fn push(&mut self, array: &ArrayRef) -> Result<()> {
        if array.is_empty() {
            return Ok(());
        }
        let arrays = Arrays::of(array)?;
        for row in 0..array.len() {
            if array.is_null(row) {
                return Err(Error::new("22004", "cannot accumulate null arrays"));
            }
            let bounds = arrays.bounds(row);
            match &self.bounds {
                None if bounds.lengths.is_empty() => {
                    return Err(Error::new("2202E", "cannot accumulate empty arrays"));
                }
                None if bounds.dimensions() >= MOST_DIMENSIONS => {
                    return Err(too_many_dimensions(bounds.dimensions() + 1));
                }
                None => self.bounds = Some(bounds),
                Some(known) if *known != bounds => {
                    let message = "cannot accumulate arrays of different dimensionality";
                    return Err(Error::new("2202E", message));
                }
                Some(_) => {}
            }
            self.count += 1;
        }
        self.values.add(&elements(&arrays, array.len())?)
    }

    /// The array; `None` if nothing came.
    fn made(&mut self) -> Result<Option<ArrayRef>> {
        let (Some(values), Some(inner)) = (self.values.all()?, &self.bounds) else {
            return Ok(None);
        };
        let mut bounds = inner.clone();
        bounds.lengths.insert(0, self.count);
        bounds.lows.insert(0, 1);
        list_of(values, &bounds).map(Some)
    }
}

impl State for CollectedArrays {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        self.push(argument(arguments, 0)?)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        Ok(self.made()?.unwrap_or_else(|| null(call)))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}

/// The array of the rows of a column, as `ARRAY(SELECT …)` makes it.
///
/// # Errors
/// Those of `array_agg`.
pub fn collected(values: ArrayRef) -> Result<ArrayRef> {
    if element_type(values.data_type()).is_none() {
        let bounds = Bounds::plain(values.len());
        return list_of(values, &bounds);
    }
    let mut state = CollectedArrays::default();
    state.push(&values)?;
    match state.made()? {
        Some(array) => Ok(array),
        None => one_array(Arrays::of(&values)?.values().slice(0, 0), None),
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
        let values = make(|_, _| Ok(Collected::default()));
        let arrays = make(|_, _| Ok(CollectedArrays::default()));
        for (ty, state) in [(AnyNonArray, values), (AnyArray, arrays)] {
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
