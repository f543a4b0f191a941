//! Casts among TEXT, VARCHAR, CHAR, NAME and enumerations, and from all types to these.
//!
//! A cast to `VARCHAR(3)` or `CHAR(3)` cuts a longer value silently, while storing one in such a
//! column is refused unless only blanks are lost. The first is the cast's kernel; the second is
//! [`check_length`], which the binder calls before the cast where a value is stored:
//!
//! ```text
//! 'abcdef'::varchar(3)                      'abc'
//! insert into t (v) values ('abcdef')       22001 value too long for type character varying(3)
//! insert into t (v) values ('abc   ')       'abc'
//! ```
//!
//! CHAR values are held without their trailing blanks; [`padded`] puts them back where a result
//! is shown. BPCHAR without a length loses them, too. Casts of OID types to text are made by the
//! binder, which knows the names; those of arrays and records are in their chapters.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, new_null_array};

use super::kernel::{Call, Column, Kernel, Str, repeated, w1};
use super::{Cast, Catalogue, Context, Scalar, Session, cast_between, scalar};
use crate::error::{Error, Result};
use crate::types::arrays::Arrays;
use crate::types::{EnumType, Internal, RangeOf, Type};

/// Bytes that a NAME has at most.
pub const NAME_BYTES: usize = 63;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Context::{Assignment, Explicit, Implicit};
    let (varchar, char) = (Type::Varchar(None), Type::Char(None));
    for from in [&varchar, &char, &Type::Name] {
        c.relabel(from.clone(), Type::Text, Implicit);
    }
    // The result of a function that gives nothing is shown as an empty text.
    c.relabel(Type::Void, Type::Text, Explicit);
    for (from, context) in [
        (Type::Text, Implicit),
        (Type::Varchar(None), Implicit),
        (Type::Char(None), Implicit),
        (Type::Name, Assignment),
    ] {
        c.cast(from.clone(), varchar.clone(), context, changed(cut));
        c.cast(from.clone(), char.clone(), context, changed(cut));
        if from != Type::Name {
            c.cast(from, Type::Name, Implicit, changed(cut));
        }
    }
    for ty in [
        Type::Bool,
        Type::Int2,
        Type::Int4,
        Type::Int8,
        Type::Float4,
        Type::Float8,
        Type::Numeric(None),
        Type::Bytea,
        Type::Date,
        Type::Time(None),
        Type::TimeTz(None),
        Type::Timestamp(None),
        Type::TimestampTz(None),
        Type::Interval,
        Type::Uuid,
        Type::Json,
        Type::Jsonb,
        Type::JsonPath,
        Type::Bit(None),
        Type::VarBit(None),
        Type::Inet,
        Type::Cidr,
        Type::MacAddr,
        Type::Money,
        Type::MacAddr8,
    ]
    .into_iter()
    .chain(RangeOf::ALL.map(Type::Range))
    .chain(RangeOf::ALL.map(Type::Multirange))
    .chain(Internal::ALL.map(Type::Internal))
    {
        for text in [&varchar, &char, &Type::Name] {
            c.cast(ty.clone(), text.clone(), Assignment, by_text());
            // The roles in rights are objects.
            if ty != Type::Internal(Internal::AclItem) {
                c.cast(text.clone(), ty.clone(), Explicit, by_text());
            }
        }
    }
    c.add(scalar(
        "assign_length",
        &[Type::Text],
        Type::Text,
        changed(check_length),
    ));
    let pad = w1::<Str, Str>(|call, text| {
        let ty = call.types.first().unwrap_or(call.returns);
        Ok(padded(ty, text).into_owned())
    });
    c.add(scalar(
        "bpchar_padded",
        &[Type::Char(None)],
        Type::Text,
        pad,
    ));
}

/// A kernel that changes texts by the type of the result.
fn changed(change: for<'a> fn(&Type, &'a str) -> Result<Cow<'a, str>>) -> Kernel {
    Arc::new(move |call, columns| {
        let column = first(columns)?;
        let array = match call.returns {
            Type::Varchar(None) | Type::Text => Arc::clone(&column.array),
            ty => {
                let texts = column.array.as_string_view_opt();
                let texts = texts.ok_or_else(|| Error::internal("a cast of no text"))?;
                let mut changed = StringViewBuilder::with_capacity(texts.len());
                for text in texts {
                    match text {
                        Some(text) => changed.append_value(change(ty, text)?),
                        None => changed.append_null(),
                    }
                }
                Arc::new(changed.finish())
            }
        };
        Ok(repeated(array, call.rows))
    })
}

fn first(columns: &[Column]) -> Result<&Column> {
    let short = || Error::internal("a cast is short of its argument");
    columns.first().ok_or_else(short)
}

/// A text as a value of a type: cut to its length, without the blanks that CHAR does not hold.
///
/// # Errors
/// None.
pub fn cut<'a>(ty: &Type, text: &'a str) -> Result<Cow<'a, str>> {
    Ok(Cow::Borrowed(match ty {
        Type::Varchar(Some(length)) => start(text, *length),
        Type::Char(None) => text.trim_end_matches(' '),
        Type::Char(Some(length)) => start(text, *length).trim_end_matches(' '),
        Type::Name => &text[..text.floor_char_boundary(NAME_BYTES)],
        _ => text,
    }))
}

/// A text as a value of a type into whose column it is stored.
///
/// # Errors
/// `22001` if it is too long by more than blanks.
pub fn check_length<'a>(ty: &Type, text: &'a str) -> Result<Cow<'a, str>> {
    if let Type::Varchar(Some(length)) | Type::Char(Some(length)) = ty {
        let rest = &text[start(text, *length).len()..];
        if rest.bytes().any(|byte| byte != b' ') {
            return Err(Error::new("22001", format!("value too long for type {ty}")));
        }
    }
    cut(ty, text)
}

/// Checks the lengths of texts and bit strings, in arrays and records, too: casts cut them, what
/// stores or reads them does not.
///
/// # Errors
/// `22001` for one that is too long by more than blanks, `22026` for a BIT(n) of another length.
pub fn must_fit(array: &ArrayRef, to: &Type) -> Result<()> {
    match to {
        Type::Array(element) => {
            let arrays = Arrays::read(array);
            arrays.map_or(Ok(()), |arrays| must_fit(arrays.values(), element))
        }
        Type::Record(fields) => {
            let columns = array.as_struct_opt().into_iter();
            let columns = columns.flat_map(|record| record.columns());
            let mut pairs = columns.zip(fields.iter());
            pairs.try_for_each(|(column, (_, ty))| must_fit(column, ty))
        }
        Type::Bit(_) | Type::VarBit(_) => {
            let mut texts = array.as_string_view_opt().into_iter().flatten().flatten();
            texts.try_for_each(|bits| super::bits::check_length(to, bits))
        }
        Type::Varchar(Some(_)) | Type::Char(Some(_)) => {
            let mut texts = array.as_string_view_opt().into_iter().flatten().flatten();
            texts.try_for_each(|text| check_length(to, text).map(|_| ()))
        }
        _ => Ok(()),
    }
}

/// The first characters of a text.
fn start(text: &str, length: u32) -> &str {
    let length = length as usize;
    if text.len() <= length {
        return text;
    }
    match text.char_indices().nth(length) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// A value of CHAR(n) with its trailing blanks; texts of other types as they are.
pub fn padded<'a>(ty: &Type, text: &'a str) -> Cow<'a, str> {
    let Type::Char(Some(length)) = ty else {
        return Cow::Borrowed(text);
    };
    match (*length as usize).saturating_sub(text.chars().count()) {
        0 => Cow::Borrowed(text),
        blanks => Cow::Owned(format!("{text}{}", " ".repeat(blanks))),
    }
}

/// A cast that goes by way of text.
fn by_text() -> Kernel {
    Arc::new(|call, columns| {
        let column = first(columns)?;
        let from = call.types.first().unwrap_or(&Type::Text);
        let text = converted(call, Arc::clone(&column.array), from, &Type::Text)?;
        let array = converted(call, text, &Type::Text, call.returns)?;
        Ok(repeated(array, call.rows))
    })
}

/// All values of an array, cast by the catalogue.
///
/// # Errors
/// `42846` if there is no cast; else those of the cast.
pub(super) fn converted(
    call: &Call<'_>,
    array: ArrayRef,
    from: &Type,
    to: &Type,
) -> Result<ArrayRef> {
    if from == to || *from == Type::Unknown && *to == Type::Text {
        return Ok(array);
    }
    let cast = cast_between(from, to);
    let none = || Error::new("42846", format!("cannot cast type {from} to {to}"));
    let Some(function) = cast.ok_or_else(none)?.function else {
        return Ok(array);
    };
    let call = Call {
        rows: array.len(),
        types: std::slice::from_ref(from),
        returns: to,
        session: call.session,
    };
    (function.kernel)(&call, &[Column::rows(array)])
}

/// Values of a type by its input function, which does not cut what is too long.
///
/// # Errors
/// `22P02` and others of the type's input; `42846` for a type without one.
pub fn read(session: &Session, ty: &Type, texts: ArrayRef) -> Result<ArrayRef> {
    if *ty == Type::Text {
        return Ok(texts);
    }
    let any = ty.without_length();
    if any != *ty {
        must_fit(&read(session, &any, Arc::clone(&texts))?, ty)?;
    }
    if texts.null_count() == texts.len() {
        return Ok(new_null_array(&ty.arrow(), texts.len()));
    }
    let cast = cast_between(&Type::Text, ty)
        .ok_or_else(|| Error::new("42846", format!("cannot cast type text to {ty}")))?;
    let Some(function) = cast.function else {
        return Ok(texts);
    };
    let call = Call {
        rows: texts.len(),
        types: &[Type::Text],
        returns: ty,
        session,
    };
    (function.kernel)(&call, &[Column::rows(texts)])
}

/// The texts of the values of an array, as results show them: of BOOLEAN `t` or `f`, of CHAR(n)
/// with its blanks, of INET without a mask of all bits.
///
/// # Errors
/// Errors of the cast to text.
pub fn text_of(call: &Call<'_>, ty: &Type, array: &ArrayRef) -> Result<ArrayRef> {
    match ty {
        Type::Bool => {
            let shown = |value: Option<bool>| value.map(|value| if value { "t" } else { "f" });
            let texts = array.as_boolean().iter().map(shown);
            Ok(Arc::new(texts.collect::<arrow_array::StringViewArray>()))
        }
        Type::Char(Some(_)) => {
            let texts = array.as_string_view().iter();
            let texts = texts.map(|text| text.map(|text| padded(ty, text)));
            Ok(Arc::new(texts.collect::<arrow_array::StringViewArray>()))
        }
        Type::Inet => super::network::shown(array),
        _ => converted(call, Arc::clone(array), ty, &Type::Text),
    }
}

/// A function that leaves values as they are.
pub(crate) fn relabelling(name: &'static str, from: &Type, to: &Type) -> Scalar {
    let kernel: Kernel = Arc::new(|call, columns| {
        let only = first(columns)?;
        Ok(repeated(only.array.clone(), call.rows))
    });
    scalar(name, &[from.base()], to.clone(), kernel)
}

/// The cast between an enumeration and a type of texts; enumerations are not in the catalogue,
/// as they are made by users.
pub fn enumeration_cast(from: &Type, to: &Type) -> Option<Cast> {
    let (context, kernel) = match (from, to) {
        (Type::Enum(_), Type::Text) => {
            return Some(Cast {
                context: Context::Assignment,
                function: None,
            });
        }
        (Type::Enum(_), Type::Varchar(_) | Type::Char(_) | Type::Name) => {
            (Context::Assignment, changed(cut))
        }
        (Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name, Type::Enum(_)) => {
            (Context::Explicit, changed(label))
        }
        _ => return None,
    };
    let function = scalar("cast", std::slice::from_ref(from), to.clone(), kernel);
    Some(Cast {
        context,
        function: Some(Arc::new(function)),
    })
}

fn label<'a>(ty: &Type, text: &'a str) -> Result<Cow<'a, str>> {
    let Type::Enum(of) = ty else {
        return Err(Error::internal("a label of no enumeration"));
    };
    place(of, text).map(|_| Cow::Borrowed(text))
}

/// The place of a label in its enumeration.
///
/// # Errors
/// `22P02` if it is none of its labels.
pub fn place(of: &EnumType, label: &str) -> Result<usize> {
    let place = of.labels.iter().position(|known| known == label);
    place.ok_or_else(|| {
        let name = &of.name;
        Error::new(
            "22P02",
            format!("invalid input value for enum {name}: \"{label}\""),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::Session;
    use super::super::testing::{call, cast};
    use super::*;

    #[test]
    fn casts_cut_and_blanks_go() {
        for (to, text, cast_to) in [
            (Type::Varchar(Some(3)), "abcdef", "abc"),
            (Type::Varchar(Some(3)), "äöüß", "äöü"),
            (Type::Varchar(Some(3)), "ab   ", "ab "),
            (Type::Varchar(None), "ab   ", "ab   "),
            (Type::Char(Some(3)), "abcdef", "abc"),
            (Type::Char(Some(3)), "ab cd", "ab"),
            (Type::Char(Some(5)), "ab", "ab"),
            (Type::Name, &"x".repeat(70), &"x".repeat(63)),
            (Type::Name, &"ä".repeat(40), &"ä".repeat(31)),
        ] {
            let found = cast((Type::Text, Some(text)), &to);
            assert_eq!(found, Ok(Some(cast_to.to_owned())), "{text} as {to}");
        }
    }

    #[test]
    fn assignment_refuses_what_is_too_long() {
        for (ty, text, stored) in [
            (Type::Varchar(Some(3)), "abc   ", Some("abc")),
            (Type::Varchar(Some(3)), "äöü", Some("äöü")),
            (Type::Varchar(Some(3)), "abcd", None),
            (Type::Varchar(Some(3)), "abc  d", None),
            (Type::Char(Some(3)), "ab    ", Some("ab")),
            (Type::Char(Some(3)), "abcd", None),
            (Type::Text, "abcd", Some("abcd")),
        ] {
            match (check_length(&ty, text), stored) {
                (Ok(found), Some(stored)) => assert_eq!(found, stored),
                (Err(error), None) => {
                    assert_eq!(error.sqlstate, "22001");
                    assert_eq!(error.message, format!("value too long for type {ty}"));
                }
                (found, _) => panic!("{text} as {ty}: {found:?}"),
            }
        }
    }

    #[test]
    fn char_is_padded_where_it_is_shown() {
        let shown = call("bpchar_padded", &[(Type::Char(Some(4)), Some("äb"))]);
        assert_eq!(shown, Ok(Some("äb  ".to_owned())));
    }

    #[test]
    fn other_types_go_by_way_of_text() {
        let cut = cast((Type::Bool, Some("true")), &Type::Varchar(Some(2)));
        assert_eq!(cut, Ok(Some("tr".to_owned())));
        let read = cast((Type::Varchar(None), Some("yes")), &Type::Bool);
        assert_eq!(read, Ok(Some("true".to_owned())));
    }

    #[test]
    fn enumerations_have_their_labels_only() {
        let mood = Type::Enum(Arc::new(EnumType {
            name: "mood".to_owned(),
            labels: vec!["sad".to_owned(), "ok".to_owned()],
            number: 0,
        }));
        let session = Session::default();
        let call = Call {
            rows: 1,
            types: &[Type::Text],
            returns: &mood,
            session: &session,
        };
        let of =
            |text: &str| -> ArrayRef { Arc::new(arrow_array::StringViewArray::from(vec![text])) };
        assert!(converted(&call, of("ok"), &Type::Text, &mood).is_ok());
        let error = converted(&call, of("OK"), &Type::Text, &mood).unwrap_err();
        assert_eq!(error.sqlstate, "22P02");
        assert_eq!(error.message, "invalid input value for enum mood: \"OK\"");
    }
}
