//! Types of PostgreSQL's own working: XID, XID8, CID, TID, ACLITEM and PG_NODE_TREE.
//!
//! ```text
//! '0x1f'::xid                      31: numbers are read as C reads them
//! '4294967297'::xid8::xid          1: the lower half
//! 'joe=r*w/freestone'::aclitem     joe may read, and hand this on, and change
//! ```
//!
//! The roles of an ACLITEM are objects: a caller tells which there are.

use std::sync::Arc;

use arrow_array::Int64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;

use super::kernel::{I32, I64, Kernel, Str, f1, f2, repeated};
use super::objects::Objects;
use super::{Catalogue, Context, Scalar, scalar};
use crate::error::{Error, Result};
use crate::types::{Internal, Reg, Type};

/// The letters of rights in the order in which they are written.
const RIGHTS: &str = "arwdDxtXUCTcsA";

/// The number of the role that has granted where none is said.
const FIRST_ROLE: i64 = 10;

/// Bits of the number of a row in its page.
const ROW_BITS: u32 = 16;

/// The greatest of these numbers.
const LAST_ROW: i64 = (1 << ROW_BITS) - 1;

/// Bytes of the longest name.
const LONGEST: usize = 63;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Context::{Assignment, Explicit, Implicit};
    let [xid, xid8, cid, tid, item, tree] = Internal::ALL.map(Type::Internal);
    let read = f1::<Str, I64>(read_tid);
    c.cast(Type::Text, tid.clone(), Explicit, read);
    let shown = f1::<I64, Str>(|place| Ok(format!("({},{})", place >> ROW_BITS, place & LAST_ROW)));
    c.cast(tid, Type::Text, Assignment, shown);
    for small in [&xid, &cid] {
        let read = f1::<Str, I64>(|text| Ok(read_xid(text)));
        c.cast(Type::Text, small.clone(), Explicit, read);
    }
    let read = f1::<Str, I64>(|text| Ok(unsigned(text).cast_signed()));
    c.cast(Type::Text, xid8.clone(), Explicit, read);
    for number in [&xid, &cid, &xid8] {
        let shown = f1::<I64, Str>(|number| Ok(number.cast_unsigned().to_string()));
        c.cast(number.clone(), Type::Text, Assignment, shown);
    }
    let lower = f1::<I64, I64>(|number| Ok(low(number.cast_unsigned())));
    c.cast(xid8.clone(), xid.clone(), Explicit, lower.clone());
    c.add(scalar("xid", std::slice::from_ref(&xid8), xid, lower));
    let order = f2::<I64, I64, I32>(|a, b| Ok(a.cast_unsigned().cmp(&b.cast_unsigned()) as i32));
    c.add(scalar("xid8cmp", &[xid8.clone(), xid8], Type::Int4, order));
    c.relabel(item, Type::Text, Assignment);
    let refused = f1::<Str, Str>(|_| {
        let message = "cannot accept a value of type pg_node_tree";
        Err::<String, Error>(Error::new("0A000", message))
    });
    c.cast(Type::Text, tree.clone(), Explicit, refused);
    c.relabel(tree, Type::Text, Implicit);
}

/// The TID that a text means, such as `(7,1)`. As in PostgreSQL, texts around the brackets and
/// blanks before numbers mean nothing.
///
/// # Errors
/// `22P02`.
pub fn read_tid(text: &str) -> Result<i64> {
    let place = || {
        let (inside, _) = text.split_once(')')?;
        let (_, inside) = inside.split_once('(')?;
        let (page, row) = inside.split_once(',')?;
        let number = |text: &str| text.trim_start().parse::<i64>().ok();
        // A page below zero is one of 32 bits.
        let page = number(page)?;
        let page = match i32::try_from(page) {
            Ok(page) => page.cast_unsigned(),
            Err(_) => u32::try_from(page).ok()?,
        };
        let row = u16::try_from(number(row)?).ok()?;
        Some(i64::from(page) << ROW_BITS | i64::from(row))
    };
    place().ok_or_else(|| {
        let message = format!("invalid input syntax for type tid: \"{text}\"");
        Error::new("22P02", message)
    })
}

/// Bits of the number of a row within its kind of place, of the 48 that a TID has.
const PLACE_BITS: u32 = 46;

/// The function that gives the TID of a row by the number that storage has for it: 64 bits, the
/// two highest of which tell the kind of its place. It is NULL for a number that does not fit.
pub fn tid_of_row() -> Arc<Scalar> {
    let kernel: Kernel = Arc::new(|call, columns| {
        let Some(rows) = columns.first() else {
            return Err(Error::internal("a row without a number"));
        };
        let rows = rows.array.as_primitive::<Decimal128Type>();
        let tid = |row: i128| {
            let row = u64::try_from(row).ok()?;
            let (kind, number) = (row >> 62, row & (u64::MAX >> 2));
            let fits = number >> PLACE_BITS == 0;
            fits.then_some((kind << PLACE_BITS | number).cast_signed())
        };
        let tids: Int64Array = rows.iter().map(|row| row.and_then(tid)).collect();
        Ok(repeated(Arc::new(tids), call.rows))
    });
    let row = Type::numeric(20, 0);
    Arc::new(scalar("tid", &[row], Type::Internal(Internal::Tid), kernel))
}

/// The XID that a text means.
pub fn read_xid(text: &str) -> i64 {
    low(unsigned(text))
}

/// The lower half of a number.
fn low(number: u64) -> i64 {
    i64::from(number as u32)
}

/// The number at the beginning of a text as C reads it: octal after 0, hexadecimal after 0x. It is
/// 0 without digits, and the greatest if it is too great.
fn unsigned(text: &str) -> u64 {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let hexadecimal = hexadecimal.filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (radix, digits) = match hexadecimal {
        Some(rest) => (16, rest),
        None if text.starts_with('0') => (8, text),
        None => (10, text),
    };
    let digits = digits.chars().map_while(|digit| digit.to_digit(radix));
    let value = digits.into_iter().try_fold(0_u64, |value, digit| {
        let value = value.checked_mul(radix.into())?;
        value.checked_add(digit.into())
    });
    match (value, negative) {
        (None, _) => u64::MAX,
        (Some(value), true) => value.wrapping_neg(),
        (Some(value), false) => value,
    }
}

/// The rights of a role in their normal form.
///
/// # Errors
/// `22P02` for texts of another form, `42704` for roles that there are not.
pub(super) fn read_item(objects: &dyn Objects, text: &str) -> Result<String> {
    let wrong = |message: &str| Error::new("22P02", message.to_owned());
    let (mut name, mut rest) = identifier(text)?;
    if !rest.starts_with('=') {
        if !matches!(name.as_str(), "group" | "user") {
            let error = wrong(&format!("unrecognized key word: \"{name}\""));
            return Err(error.with_hint("ACL key word must be \"group\" or \"user\"."));
        }
        (name, rest) = identifier(rest)?;
        if name.is_empty() {
            let error = wrong("missing name");
            return Err(error.with_hint("A name must follow the \"group\" or \"user\" key word."));
        }
    }
    let Some(rest) = rest.strip_prefix('=') else {
        return Err(wrong("missing \"=\" sign"));
    };
    let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '*');
    let (letters, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let (mut given, mut handed_on, mut last) = (0_u32, 0_u32, 0_u32);
    for letter in letters.chars() {
        match (letter, RIGHTS.find(letter)) {
            ('*', _) => handed_on |= last,
            (_, Some(place)) => last = 1 << place,
            (_, None) => {
                let message = format!("invalid mode character: must be one of \"{RIGHTS}\"");
                return Err(wrong(&message));
            }
        }
        given |= last;
    }
    let role = |name: &str| {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        match objects.number(Reg::Role, &quoted) {
            Ok(number) => Ok(shown_role(objects, number)),
            Err(_) => {
                let message = format!("role \"{name}\" does not exist");
                Err(Error::new("42704", message))
            }
        }
    };
    let mut item = match name.as_str() {
        "" => String::new(),
        name => role(name)?,
    };
    item.push('=');
    for (place, letter) in RIGHTS.chars().enumerate() {
        if given >> place & 1 == 1 {
            item.push(letter);
        }
        if handed_on >> place & 1 == 1 {
            item.push('*');
        }
    }
    item.push('/');
    let rest = match rest.strip_prefix('/') {
        Some(rest) => {
            let (name, rest) = identifier(rest)?;
            if name.is_empty() {
                return Err(wrong("a name must follow the \"/\" sign"));
            }
            item.push_str(&role(&name)?);
            rest
        }
        None => {
            item.push_str(&shown_role(objects, FIRST_ROLE));
            rest
        }
    };
    match rest.trim_start().is_empty() {
        true => Ok(item),
        false => Err(wrong("extra garbage at the end of the ACL specification")),
    }
}

/// The name of a role within rights, or its number.
fn shown_role(objects: &dyn Objects, number: i64) -> String {
    let name = objects.name(Reg::Role, number);
    name.unwrap_or_else(|| number.to_string())
}

/// The name at the beginning of a text, without quotes, and what stands behind it and its blanks.
fn identifier(text: &str) -> Result<(String, &str)> {
    let text = text.trim_start();
    let (mut name, mut quoted, mut end) = (String::new(), false, text.len());
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' if letters.next_if(|(_, next)| *next == '"').is_none() => {
                quoted = !quoted;
                continue;
            }
            '"' => {}
            letter if quoted || letter == '_' || letter.is_ascii_alphanumeric() => {}
            _ => {
                end = at;
                break;
            }
        }
        name.push(letter);
        if name.len() > LONGEST {
            let error = Error::new("42602", "identifier too long");
            return Err(error.with_detail("Identifier must be less than 64 characters."));
        }
    }
    Ok((name, text.get(end..).unwrap_or_default().trim_start()))
}

#[cfg(test)]
mod tests {
    use super::super::objects::NoObjects;
    use super::super::testing::{cast, operate};
    use super::*;

    /// The roles `freestone` and `joe "x"`.
    struct Two;

    impl Objects for Two {
        fn number(&self, kind: Reg, name: &str) -> Result<i64> {
            match (kind, name) {
                (Reg::Role, "\"freestone\"") => Ok(10),
                (Reg::Role, "\"joe \"\"x\"\"\"") => Ok(11),
                _ => NoObjects.number(kind, name),
            }
        }

        fn name(&self, kind: Reg, number: i64) -> Option<String> {
            match (kind, number) {
                (Reg::Role, 10) => Some("freestone".to_owned()),
                (Reg::Role, 11) => Some("\"joe \"\"x\"\"\"".to_owned()),
                _ => None,
            }
        }
    }

    #[test]
    fn numbers_of_transactions_are_read_as_c_reads_them() {
        for (text, narrow, wide) in [
            ("7", "7", "7"),
            (" +017x", "15", "15"),
            ("0x1fg", "31", "31"),
            ("0x", "0", "0"),
            ("abc", "0", "0"),
            ("-1", "4294967295", "18446744073709551615"),
            ("4294967297", "1", "4294967297"),
            ("99999999999999999999", "4294967295", "18446744073709551615"),
        ] {
            for (of, wanted) in [(Internal::Xid, narrow), (Internal::Xid8, wide)] {
                let ty = Type::Internal(of);
                let found = cast((Type::Text, Some(text)), &ty).unwrap();
                assert_eq!(found.as_deref(), Some(wanted), "{text} as {ty}");
            }
        }
        let tree = cast((Type::Text, Some("x")), &Type::Internal(Internal::NodeTree));
        let message = "cannot accept a value of type pg_node_tree";
        assert_eq!(tree.unwrap_err().message, message);
    }

    #[test]
    fn places_of_rows_have_a_page_and_a_number() {
        let tid = Type::Internal(Internal::Tid);
        for (text, wanted) in [
            ("(0,1)", "(0,1)"),
            (" ( 7, 65535) ", "(7,65535)"),
            ("(-1,2)", "(4294967295,2)"),
        ] {
            let found = cast((Type::Text, Some(text)), &tid).unwrap();
            assert_eq!(found.as_deref(), Some(wanted), "{text}");
        }
        for text in [
            "",
            "1",
            "(1)",
            "(1,65536)",
            "(4294967296,1)",
            "(7 ,1)",
            "(1,-1)",
            "(1,2,3)",
        ] {
            let refused = cast((Type::Text, Some(text)), &tid).unwrap_err();
            assert_eq!(refused.sqlstate, "22P02", "{text}");
        }
        let of = |text| (tid.clone(), Some(text));
        let less = operate("<", &[of("(1,9)"), of("(2,0)")]);
        assert_eq!(less.unwrap().as_deref(), Some("true"));
    }

    #[test]
    fn only_wide_numbers_have_an_order() {
        let of = |of, text| (Type::Internal(of), Some(text));
        let wide = |text| of(Internal::Xid8, text);
        let less = operate("<", &[wide("3"), wide("18446744073709551615")]);
        assert_eq!(less.unwrap().as_deref(), Some("true"));
        let less = operate("<", &[of(Internal::Xid, "3"), of(Internal::Xid, "4")]);
        assert_eq!(less.unwrap_err().sqlstate, "42883");
        let same = operate("=", &[of(Internal::Xid, "-1"), (Type::Int4, Some("-1"))]);
        assert_eq!(same.unwrap().as_deref(), Some("true"));
    }

    #[test]
    fn rights_are_put_in_order() {
        let read = |text| read_item(&Two, text).map_err(|error| error.message);
        for (text, wanted) in [
            ("freestone=wr*/freestone", "freestone=r*w/freestone"),
            ("=r/freestone", "=r/freestone"),
            (" user freestone = ", "freestone=/freestone"),
            ("\"joe \"\"x\"\"\"=X", "\"joe \"\"x\"\"\"=X/freestone"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(wanted), "{text}");
        }
        for (text, wanted) in [
            ("", "unrecognized key word: \"\""),
            ("freestone", "unrecognized key word: \"freestone\""),
            ("user /r", "missing name"),
            ("user freestone r", "missing \"=\" sign"),
            (
                "=q",
                "invalid mode character: must be one of \"arwdDxtXUCTcsA\"",
            ),
            ("=r/", "a name must follow the \"/\" sign"),
            ("=r/nobody", "role \"nobody\" does not exist"),
            (
                "=r/freestone x",
                "extra garbage at the end of the ACL specification",
            ),
        ] {
            assert_eq!(read(text), Err(wanted.to_owned()), "{text}");
        }
    }
}
