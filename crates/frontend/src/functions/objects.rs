//! Types of PostgreSQL's catalog: `"char"`, vectors, and numbers that are shown by names.
//!
//! ```text
//! 'pg_class'::regclass          the number of a table; it is shown by its name
//! indkey                        an INT2VECTOR such as `1 3`; its items are counted from 0
//! ```
//!
//! Which objects there are only a caller knows: it tells by [`Objects`].

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int16Array, Int32Array, Int64Array, ListArray, StringViewArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;

use super::casts::converted;
use super::internal::read_item;
use super::kernel::{Call, Column, I32, I64, Kernel, Str, f1, repeated};
use super::keywords::WORDS;
use super::resolve::cast_between;
use super::{Cast, Catalogue, Context, Returns, Scalar, TableFunction, scalar};
use crate::error::{Error, Result};
use crate::types::arrays::{Arrays, Bounds, Maker};
use crate::types::{Fields, Internal, Reg, Type};

/// What there is besides the language, by numbers and names.
pub trait Objects: Send + Sync {
    /// The number of an object.
    ///
    /// # Errors
    /// That there is none of the name.
    fn number(&self, kind: Reg, name: &str) -> Result<i64>;

    /// The name of an object; `None` for a number that nothing has.
    fn name(&self, kind: Reg, number: i64) -> Option<String>;
}

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    let letter = Type::CatalogChar;
    c.relabel(letter.clone(), Type::Text, Context::Implicit);
    for text in [Type::Varchar(None), Type::Char(None), Type::Name] {
        c.relabel(letter.clone(), text, Context::Assignment);
    }
    for text in [Type::Text, Type::Varchar(None), Type::Char(None)] {
        let first = f1::<Str, Str>(|text| Ok(shown_byte(read_byte(text))));
        c.cast(text, letter.clone(), Context::Assignment, first);
    }
    // The byte has a sign.
    let code = f1::<Str, I32>(|text| Ok(i32::from(read_byte(text).cast_signed())));
    c.cast(letter.clone(), Type::Int4, Context::Explicit, code);
    let of_code = f1::<I32, Str>(|code| match i8::try_from(code) {
        Ok(code) => Ok(shown_byte(code.cast_unsigned())),
        Err(_) => Err(Error::new("22003", "\"char\" out of range")),
    });
    c.cast(Type::Int4, letter, Context::Explicit, of_code);
    for vector in [Type::Int2Vector, Type::OidVector] {
        vectors(c, &vector);
    }
    expanded(c);
    words(c);
    nothing(c);
}

/// The byte that a text of a `"char"` stands for: `\ooo`, or the first of its bytes.
fn read_byte(text: &str) -> u8 {
    match text.as_bytes() {
        [] => 0,
        [b'\\', a @ b'0'..=b'7', b @ b'0'..=b'7', c @ b'0'..=b'7'] => {
            (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0')
        }
        [first, ..] => *first,
    }
}

/// The text of a `"char"`, which is how it is held, too: one beyond ASCII is `\ooo`.
fn shown_byte(byte: u8) -> String {
    match byte {
        0 => String::new(),
        byte if byte.is_ascii() => char::from(byte).to_string(),
        byte => format!("\\{byte:03o}"),
    }
}

fn vectors(c: &mut Catalogue, vector: &Type) {
    let Some(item) = vector.vector_item() else {
        return;
    };
    let array = item.clone().array();
    c.cast(
        vector.clone(),
        array.clone(),
        Context::Implicit,
        Arc::new(renamed),
    );
    c.cast(array, vector.clone(), Context::Explicit, Arc::new(renamed));
    for kind in Reg::ALL {
        let named = Type::Reg(kind).array();
        if *vector == Type::OidVector {
            c.cast(
                vector.clone(),
                named.clone(),
                Context::Explicit,
                Arc::new(renamed),
            );
            c.cast(named, vector.clone(), Context::Explicit, Arc::new(renamed));
        }
    }
    if *vector == Type::OidVector {
        c.cast(
            vector.clone(),
            Type::Int4.array(),
            Context::Explicit,
            Arc::new(as_integers),
        );
    }
    c.cast(
        vector.clone(),
        Type::Text,
        Context::Assignment,
        Arc::new(shown),
    );
    c.cast(
        Type::Text,
        vector.clone(),
        Context::Explicit,
        Arc::new(read),
    );
    let dimension = [vector.clone(), Type::Int4];
    for (name, upper) in [("array_lower", false), ("array_upper", true)] {
        let bound: Kernel = Arc::new(move |call, columns| ends(call, columns, upper));
        c.add(scalar(name, &dimension, Type::Int4, bound));
    }
    let wanted = [vector.clone(), item];
    c.add(scalar(
        "array_position",
        &wanted,
        Type::Int4,
        Arc::new(position),
    ));
    c.add_table(TableFunction {
        name: "generate_subscripts",
        parameters: dimension.to_vec(),
        variadic: None,
        columns: vec![("", Type::Int4.into())],
        strict: true,
        rows: Arc::new(|_, arguments| {
            let length = arguments.first().map_or(0, |list| items(list, 0).len());
            let all = Int32Array::from_iter_values(0..length as i32);
            Ok(one_part(vec![Arc::new(all)]))
        }),
    });
}

/// The items of an array or a vector, each with its place.
fn expanded(c: &mut Catalogue) {
    c.add_table(TableFunction {
        name: "_pg_expandarray",
        parameters: vec![Type::AnyArray],
        variadic: None,
        columns: vec![
            (
                "x",
                Returns::Of(Arc::new(|types: &[Type]| {
                    types
                        .first()
                        .map_or(Type::Text, |ty| ty.innermost().clone())
                })),
            ),
            ("n", Type::Int4.into()),
        ],
        strict: true,
        rows: Arc::new(|_, arguments| {
            let Some(list) = arguments.first() else {
                return Err(short());
            };
            let values = items(list, 0);
            let places = Int32Array::from_iter_values(1..=values.len() as i32);
            Ok(one_part(vec![values, Arc::new(places)]))
        }),
    });
}

/// The words of the grammar.
fn words(c: &mut Catalogue) {
    let column = |name, ty: Type| (name, Returns::Type(ty));
    c.add_table(TableFunction {
        name: "pg_get_keywords",
        parameters: Vec::new(),
        variadic: None,
        columns: vec![
            column("word", Type::Text),
            column("catcode", Type::CatalogChar),
            column("barelabel", Type::Bool),
            column("catdesc", Type::Text),
            column("baredesc", Type::Text),
        ],
        strict: true,
        rows: Arc::new(|_, _| {
            let texts = |of: &dyn Fn(&(&'static str, char, bool)) -> String| -> ArrayRef {
                Arc::new(StringViewArray::from_iter_values(WORDS.iter().map(of)))
            };
            let category = |letter: char| match letter {
                'C' => "unreserved (cannot be function or type name)",
                'T' => "reserved (can be function or type name)",
                'R' => "reserved",
                _ => "unreserved",
            };
            let label = |bare: bool| match bare {
                true => "can be bare label",
                false => "requires AS",
            };
            let bare = WORDS.iter().map(|(.., bare)| Some(*bare));
            Ok(one_part(vec![
                texts(&|(word, ..)| (*word).to_owned()),
                texts(&|(_, letter, _)| letter.to_string()),
                Arc::new(bare.collect::<BooleanArray>()),
                texts(&|(_, letter, _)| category(*letter).to_owned()),
                texts(&|(.., bare)| label(*bare).to_owned()),
            ]))
        }),
    });
}

/// Functions of rows about what there never is.
fn nothing(c: &mut Catalogue) {
    let texts = Type::Text.array();
    let mut none = |name, parameter: &Type, columns: &[(&'static str, Type)]| {
        let columns = columns.iter();
        let columns = columns.map(|(name, ty)| (*name, Returns::Type(ty.clone())));
        c.add_table(TableFunction {
            name,
            parameters: vec![parameter.clone()],
            variadic: None,
            columns: columns.collect(),
            strict: true,
            rows: Arc::new(|_, _| {
                let none: Parts = Box::new(std::iter::empty());
                Ok(none)
            }),
        });
    };
    none(
        "pg_options_to_table",
        &texts,
        &[("option_name", Type::Text), ("option_value", Type::Text)],
    );
}

type Parts = Box<dyn Iterator<Item = Result<Vec<ArrayRef>>> + Send>;

fn one_part(columns: Vec<ArrayRef>) -> Parts {
    Box::new(std::iter::once(Ok(columns)))
}

fn short() -> Error {
    Error::internal("a function is short of its argument")
}

/// The items of a row's list.
fn items(list: &ArrayRef, row: usize) -> ArrayRef {
    if let Ok(arrays) = Arrays::of(list)
        && row < list.len()
        && list.is_valid(row)
    {
        return arrays.elements(row);
    }
    match list.as_list_opt::<i32>() {
        Some(lists) if row < lists.len() && lists.is_valid(row) => lists.value(row),
        _ => Arc::new(Int64Array::from(Vec::<i64>::new())),
    }
}

/// Vectors as arrays, and arrays as vectors.
fn renamed(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let column = columns.first().ok_or_else(short)?;
    let lists = match Arrays::read(&column.array) {
        Some(arrays) => arrays.lists().clone(),
        None => column.array.as_list_opt::<i32>().ok_or_else(short)?.clone(),
    };
    let lists: ArrayRef = match call.returns.arrow() {
        DataType::List(field) => {
            let nulls = column.array.nulls().cloned();
            let (_, offsets, values, _) = lists.into_parts();
            Arc::new(ListArray::try_new(field, offsets, values, nulls)?)
        }
        // Items of vectors are counted from 0.
        _ => {
            let mut maker = Maker::new(lists.len());
            for at in 0..lists.len() {
                maker.bounded(&match lists.value_length(at) {
                    0 => Bounds::default(),
                    length => Bounds {
                        lengths: vec![length as usize],
                        lows: vec![0],
                    },
                })?;
            }
            let (first, last) = match lists.value_offsets() {
                [first, .., last] => (*first as usize, *last as usize),
                _ => (0, 0),
            };
            maker.finish(
                lists.values().slice(first, last - first),
                lists.nulls().cloned(),
            )?
        }
    };
    Ok(spread(column, lists, call.rows))
}

/// Vectors of numbers of objects as arrays of integers.
fn as_integers(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let returns = Type::Oid.array();
    let call = Call {
        returns: &returns,
        ..*call
    };
    let array = renamed(&call, columns)?;
    let arrays = Arrays::of(&array)?;
    let values = numbers(arrays.values()).into_iter();
    let values = Int32Array::from_iter_values(values.map(|number| number as i32));
    arrays.with_values(Arc::new(values), array.nulls().cloned())
}

/// One value for each row.
fn spread(column: &Column, array: ArrayRef, rows: usize) -> ArrayRef {
    match column.constant {
        true => repeated(array, rows),
        false => array,
    }
}

fn shown(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let column = columns.first().ok_or_else(short)?;
    let texts = (0..column.array.len()).map(|row| {
        column.array.is_valid(row).then(|| {
            let items = items(&column.array, row);
            let numbers = numbers(&items).into_iter();
            let texts: Vec<String> = numbers.map(|number| number.to_string()).collect();
            texts.join(" ")
        })
    });
    let texts: ArrayRef = Arc::new(texts.collect::<arrow_array::StringViewArray>());
    Ok(spread(column, texts, call.rows))
}

fn numbers(items: &ArrayRef) -> Vec<i64> {
    match items.as_primitive_opt::<Int16Type>() {
        Some(short) => short.values().iter().map(|n| i64::from(*n)).collect(),
        None => match items.as_primitive_opt::<Int64Type>() {
            Some(long) => long.values().to_vec(),
            None => Vec::new(),
        },
    }
}

fn read(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let column = columns.first().ok_or_else(short)?;
    let texts = column.array.as_string_view_opt().ok_or_else(short)?;
    let (mut all, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts {
        let before = all.len();
        for word in text.unwrap_or_default().split_ascii_whitespace() {
            let number = word.parse::<i64>().map_err(|_| {
                let message = format!(
                    "invalid input syntax for type {}: \"{word}\"",
                    call.returns
                        .vector_item()
                        .map_or_else(String::new, |ty| ty.to_string())
                );
                Error::new("22P02", message)
            })?;
            all.push(number);
        }
        lengths.push(all.len() - before);
        valid.push(text.is_some());
    }
    let values: ArrayRef = match call.returns {
        Type::Int2Vector => {
            let small = all.into_iter().map(i16::try_from);
            let small = small.collect::<Result<Vec<i16>, _>>();
            let small = small
                .map_err(|_| Error::new("22003", "value is out of range for type smallint"))?;
            Arc::new(Int16Array::from(small))
        }
        _ => Arc::new(Int64Array::from(all)),
    };
    let DataType::List(field) = call.returns.arrow() else {
        return Err(Error::internal("a vector that is no list"));
    };
    let offsets = OffsetBuffer::from_lengths(lengths);
    let lists = ListArray::try_new(field, offsets, values, Some(NullBuffer::from(valid)))?;
    Ok(spread(column, Arc::new(lists), call.rows))
}

/// The first or last place of vectors.
fn ends(call: &Call<'_>, columns: &[Column], upper: bool) -> Result<ArrayRef> {
    let [list, dimension] = columns else {
        return Err(short());
    };
    let dimension_of = dimension
        .array
        .as_primitive_opt::<arrow_array::types::Int32Type>()
        .ok_or_else(short)?;
    let bounds = (0..call.rows).map(|row| {
        if list.is_null(row) || dimension.is_null(row) || dimension_of.value(dimension.at(row)) != 1
        {
            return None;
        }
        let length = items(&list.array, list.at(row)).len() as i32;
        Some(if upper { length - 1 } else { 0 })
    });
    Ok(Arc::new(bounds.collect::<Int32Array>()))
}

fn position(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let [list, wanted] = columns else {
        return Err(short());
    };
    let found = (0..call.rows).map(|row| {
        if list.is_null(row) || wanted.is_null(row) {
            return None;
        }
        let one = wanted.array.slice(wanted.at(row), 1);
        let one = numbers(&one).first().copied()?;
        let all = numbers(&items(&list.array, list.at(row)));
        let place = all.iter().position(|number| *number == one)?;
        i32::try_from(place).ok()
    });
    Ok(Arc::new(found.collect::<Int32Array>()))
}

/// Whether values of a type are numbers that are shown by names, or have such in them.
pub fn has_names(ty: &Type) -> bool {
    match ty {
        Type::Reg(_) => true,
        Type::Array(element) => has_names(element),
        Type::Record(fields) => fields.iter().any(|(_, ty)| has_names(ty)),
        _ => false,
    }
}

/// A type with texts in the place of numbers that are shown by names.
#[must_use]
pub fn with_names(ty: &Type) -> Type {
    match ty {
        Type::Reg(_) => Type::Text,
        Type::Array(element) => with_names(element).array(),
        Type::Record(fields) if has_names(ty) => {
            let texts = fields.iter();
            let texts = texts.map(|(name, ty)| (name.clone(), with_names(ty)));
            let texts = texts.collect::<Fields>();
            Type::Record(match fields.name() {
                Some(name) => texts.with_name(name, fields.number()),
                None => texts,
            })
        }
        other => other.clone(),
    }
}

/// Values of a type with names in the place of numbers that are shown by them.
fn named_values(objects: &dyn Objects, ty: &Type, array: &ArrayRef) -> Result<ArrayRef> {
    let missing = || Error::internal(format!("{ty} is read in {}", array.data_type()));
    match ty {
        Type::Reg(kind) => {
            let numbers = array.as_primitive_opt::<Int64Type>().ok_or_else(missing)?;
            let names = numbers.iter();
            let names = names.map(|number| Some(named(objects, *kind, number?)));
            Ok(Arc::new(names.collect::<StringViewArray>()))
        }
        Type::Array(element) if has_names(element) => {
            let arrays = Arrays::of(array)?;
            let values = named_values(objects, element, arrays.values())?;
            arrays.with_values(values, array.nulls().cloned())
        }
        Type::Record(fields) if has_names(ty) => {
            let record = array.as_struct_opt().ok_or_else(missing)?;
            let DataType::Struct(shown) = with_names(ty).arrow() else {
                return Err(missing());
            };
            let columns = record.columns().iter().zip(fields.iter());
            let columns = columns.map(|(column, (_, ty))| named_values(objects, ty, column));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let record = StructArray::try_new(shown, columns, record.nulls().cloned());
            Ok(Arc::new(record.map_err(|_| missing())?))
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// Whether texts of values of a type, or of arrays of it, have names of objects that are looked up
/// where they are read.
pub fn reads_names(ty: &Type) -> bool {
    matches!(
        ty.innermost(),
        Type::Reg(_) | Type::Internal(Internal::AclItem)
    )
}

/// The cast of arrays and records with numbers that are shown by names to those with the names,
/// or to their text.
fn nested_cast(objects: &Arc<dyn Objects>, from: &Type, to: &Type) -> Option<Cast> {
    let shown = with_names(from);
    if *to != shown && (!to.is_string() || cast_between(&shown, to).is_none()) {
        return None;
    }
    let (objects, ty, to_type) = (Arc::clone(objects), from.clone(), to.clone());
    let kernel: Kernel = Arc::new(move |call, columns| {
        let column = columns.first().ok_or_else(short)?;
        let values = named_values(objects.as_ref(), &ty, &column.array)?;
        let values = converted(call, values, &shown, &to_type)?;
        Ok(spread(column, values, call.rows))
    });
    let function = scalar("cast", std::slice::from_ref(from), to.clone(), kernel);
    Some(Cast {
        context: Context::Assignment,
        function: Some(Arc::new(function.stable())),
    })
}

/// The cast between a text and a number that is shown by a name, or arrays and records with these,
/// and from a text to rights, or arrays of them.
pub fn object_cast(objects: &Arc<dyn Objects>, from: &Type, to: &Type) -> Option<Cast> {
    let is_text = |ty: &Type| ty.is_string() || *ty == Type::Unknown;
    if !matches!(from, Type::Reg(_)) && has_names(from) {
        return nested_cast(objects, from, to);
    }
    let kernel: Kernel = match (from.innermost(), to.innermost()) {
        (text, Type::Reg(kind)) if is_text(text) => {
            let (objects, kind) = (Arc::clone(objects), *kind);
            f1::<Str, I64>(move |text| numbered(objects.as_ref(), kind, text))
        }
        (text, Type::Internal(Internal::AclItem)) if is_text(text) => {
            let objects = Arc::clone(objects);
            f1::<Str, Str>(move |text| read_item(objects.as_ref(), text))
        }
        (Type::Reg(kind), text) if is_text(text) => {
            let (objects, kind) = (Arc::clone(objects), *kind);
            f1::<I64, Str>(move |number| Ok(named(objects.as_ref(), kind, number)))
        }
        _ => return None,
    };
    let kernel = match (from, to) {
        (Type::Array(_), Type::Array(_)) => each(kernel, from, to),
        (Type::Array(_), _) | (_, Type::Array(_)) => return None,
        _ => kernel,
    };
    let context = match (from, to) {
        (_, Type::Reg(Reg::Class)) => Context::Implicit,
        (_, Type::Reg(_) | Type::Internal(_)) => Context::Explicit,
        _ => Context::Assignment,
    };
    let function = scalar("cast", std::slice::from_ref(from), to.clone(), kernel);
    Some(Cast {
        context,
        function: Some(Arc::new(function.stable())),
    })
}

/// A kernel of values as one of lists of them.
fn each(kernel: Kernel, from: &Type, to: &Type) -> Kernel {
    let (from, to) = (from.innermost().clone(), to.innermost().clone());
    Arc::new(move |call, columns| {
        let column = columns.first().ok_or_else(short)?;
        let arrays = Arrays::of(&column.array)?;
        let values = Arc::clone(arrays.values());
        let inner = Call {
            rows: values.len(),
            types: std::slice::from_ref(&from),
            returns: &to,
            session: call.session,
        };
        let values = kernel(&inner, &[Column::rows(values)])?;
        let nulls = column.array.nulls().cloned();
        Ok(spread(
            column,
            arrays.with_values(values, nulls)?,
            call.rows,
        ))
    })
}

/// The number of an object by its name or its number, as texts.
fn numbered(objects: &dyn Objects, kind: Reg, text: &str) -> Result<i64> {
    let text = text.trim();
    if text == "-" {
        return Ok(0);
    }
    match text.parse::<u32>() {
        Ok(number) => Ok(number.into()),
        // Numbers of objects may be greater than PostgreSQL's.
        Err(_) => match text.parse::<i64>() {
            Ok(number) if number >= 0 => Ok(number),
            _ => objects.number(kind, text),
        },
    }
}

fn named(objects: &dyn Objects, kind: Reg, number: i64) -> String {
    match number {
        0 => "-".to_owned(),
        _ => objects
            .name(kind, number)
            .unwrap_or_else(|| number.to_string()),
    }
}

/// A function that finds the number of an object by its name: NULL if there is none.
pub fn found(name: &'static str, kind: Reg, objects: &Arc<dyn Objects>) -> Scalar {
    let objects = Arc::clone(objects);
    let kernel = f1::<Str, super::kernel::Opt<I64>>(move |text| {
        // Numbers are none of an object's names here.
        if text.trim().parse::<i64>().is_ok() {
            return Ok(None);
        }
        Ok(objects.number(kind, text.trim()).ok())
    });
    scalar(name, &[Type::Text], Type::Reg(kind), kernel).stable()
}

/// A caller that has no objects.
#[derive(Debug)]
pub struct NoObjects;

impl Objects for NoObjects {
    fn number(&self, kind: Reg, name: &str) -> Result<i64> {
        Err(match kind {
            Reg::Class => Error::new("42P01", format!("relation \"{name}\" does not exist")),
            Reg::Type => Error::new("42704", format!("type \"{name}\" does not exist")),
            Reg::Proc | Reg::Procedure => {
                Error::new("42883", format!("function \"{name}\" does not exist"))
            }
            Reg::Namespace => Error::new("3F000", format!("schema \"{name}\" does not exist")),
            Reg::Role => Error::new("42704", format!("role \"{name}\" does not exist")),
            Reg::Collation => Error::new("42704", format!("collation \"{name}\" does not exist")),
        })
    }

    fn name(&self, _: Reg, _: i64) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::cast;
    use super::*;

    struct One;

    impl Objects for One {
        fn number(&self, kind: Reg, name: &str) -> Result<i64> {
            match (kind, name) {
                (Reg::Class, "t") => Ok(7),
                _ => NoObjects.number(kind, name),
            }
        }
        fn name(&self, kind: Reg, number: i64) -> Option<String> {
            (kind == Reg::Class && number == 7).then(|| "t".to_owned())
        }
    }

    #[test]
    fn vectors_are_written_with_blanks() {
        for (ty, text, wanted) in [
            (Type::Int2Vector, " 1  3 ", Ok("1 3")),
            (Type::Int2Vector, "", Ok("")),
            (Type::OidVector, "25 1043", Ok("25 1043")),
            (Type::Int2Vector, "1 x", Err("22P02")),
            (Type::Int2Vector, "70000", Err("22003")),
        ] {
            let read = cast((Type::Text, Some(text)), &ty);
            let found = read.map(|text| text.unwrap_or_default());
            match wanted {
                Ok(wanted) => assert_eq!(found, Ok(wanted.to_owned()), "{text}"),
                Err(state) => assert_eq!(found.unwrap_err().sqlstate, state, "{text}"),
            }
        }
    }

    #[test]
    fn objects_are_found_by_name_or_number() {
        let class = |text| numbered(&One, Reg::Class, text);
        for (text, wanted) in [("t", 7), (" t ", 7), ("12", 12), ("-", 0)] {
            assert_eq!(class(text), Ok(wanted), "{text}");
        }
        assert_eq!(class("u").unwrap_err().sqlstate, "42P01");
        assert_eq!(named(&One, Reg::Class, 7), "t");
        assert_eq!(named(&One, Reg::Class, 8), "8");
        assert_eq!(named(&One, Reg::Class, 0), "-");
    }
}
