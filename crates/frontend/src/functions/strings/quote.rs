//! SQL's quotes: texts as names and as literals, and names taken apart.
//!
//! ```text
//! quote_ident('a b')            '"a b"'
//! quote_literal('it''s')        '''it''''s'''
//! parse_ident('"A".b')          {A,b}
//! ```

use std::sync::Arc;

use super::super::casts::text_of;
use super::super::kernel::{Bool, Column, Kernel, Opt, Str, f1, f2};
use super::super::{Catalogue, scalar};
use super::lists::Texts;
use crate::error::{Error, Result};
use crate::types::Type;

/// Words that cannot be names of columns, or not of functions, without quotes.
const WORDS: &str = "\
    all analyse analyze and any array as asc asymmetric authorization between bigint \
    binary bit boolean both case cast char character check coalesce collate collation \
    column concurrently constraint create cross current_catalog current_date \
    current_role current_schema current_time current_timestamp current_user dec decimal \
    default deferrable desc distinct do else end except exists extract false fetch \
    float for foreign freeze from full grant greatest group grouping having ilike in \
    initially inner inout int integer intersect interval into is isnull join lateral \
    leading least left like limit localtime localtimestamp national natural nchar none \
    normalize not notnull null nullif numeric offset on only or order out outer \
    overlaps overlay placing position precision primary real references returning right \
    row select session_user setof similar smallint some substring symmetric table \
    tablesample then time timestamp to trailing treat trim true union unique user using \
    values varchar variadic verbose when where window with xmlattributes xmlconcat \
    xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize \
    xmltable \
    ";

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{AnyElement, Text};
    c.add(scalar(
        "quote_ident",
        &[Text],
        Text,
        f1::<Str, Str>(|text| Ok(name(text))),
    ));
    let literals = f1::<Str, Str>(|text| Ok(literal(text)));
    c.add(scalar("quote_literal", &[Text], Text, literals.clone()));
    let kernel = of_any(literals);
    c.add(scalar("quote_literal", &[AnyElement], Text, kernel).stable());
    let nullable = f1::<Opt<Str>, Str>(|text| Ok(text.map_or("NULL".to_owned(), literal)));
    c.add(scalar("quote_nullable", &[Text], Text, nullable.clone()).with_nulls());
    let kernel = of_any(nullable);
    c.add(
        scalar("quote_nullable", &[AnyElement], Text, kernel)
            .with_nulls()
            .stable(),
    );
    let parse = f2::<Str, Bool, Texts>(parts);
    let parse = scalar("parse_ident", &[Text, Type::Bool], Text.array(), parse);
    c.add(parse.named(&["str", "strict"], &[]));
    let parse = f1::<Str, Texts>(|text| parts(text, true));
    c.add(scalar("parse_ident", &[Text], Text.array(), parse));
}

/// A kernel of a text for a value of any type, which is cast to text.
fn of_any(kernel: Kernel) -> Kernel {
    Arc::new(move |call, columns| {
        let (Some(column), Some(ty)) = (columns.first(), call.types.first()) else {
            return Err(Error::internal("a function is short of its argument"));
        };
        let array = match ty {
            // These are cast to text, unlike in `concat`.
            Type::Bool | Type::Char(_) | Type::Inet => {
                super::super::casts::converted(call, Arc::clone(&column.array), ty, &Type::Text)?
            }
            ty => text_of(call, ty, &column.array)?,
        };
        let column = Column {
            array,
            constant: column.constant,
        };
        kernel(call, &[column])
    })
}

/// A text as a name in SQL, in quotes if it needs them.
pub fn name(text: &str) -> String {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'_' | b'0'..=b'9');
    let starts = text
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    if starts && text.bytes().all(plain) && !WORDS.split(' ').any(|word| word == text) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A text as a literal in SQL.
pub fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "\'\'");
    match text.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

/// The parts of a qualified name; those without quotes in lower case.
fn parts(text: &str, strict: bool) -> Result<Vec<Option<String>>> {
    let bad = |detail: Option<&str>| {
        let message = format!("string is not a valid identifier: \"{text}\"");
        let error = Error::new("22023", message);
        match detail {
            Some(detail) => error.with_detail(detail),
            None => error,
        }
    };
    let space = super::super::boolean::is_space;
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches(space);
    let mut after_dot = false;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (part, after) =
                in_quotes(quoted).ok_or_else(|| bad(Some("String has unclosed double quotes.")))?;
            if part.is_empty() {
                return Err(bad(Some("Quoted identifier must not be empty.")));
            }
            found.push(Some(part));
            rest = after;
        } else {
            let begins = |c: char| c == '_' || c.is_ascii_alphabetic() || !c.is_ascii();
            let goes_on = |c: char| begins(c) || c.is_ascii_digit() || c == '$';
            if rest.starts_with(begins) {
                let end = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
                found.push(Some(super::lower(&rest[..end])));
                rest = &rest[end..];
            } else if rest.starts_with('.') {
                return Err(bad(Some("No valid identifier before \".\".")));
            } else if after_dot {
                return Err(bad(Some("No valid identifier after \".\".")));
            } else {
                return Err(bad(None));
            }
        }
        rest = rest.trim_start_matches(space);
        match rest.strip_prefix('.') {
            Some(after) => {
                after_dot = true;
                rest = after.trim_start_matches(space);
            }
            None if rest.is_empty() || !strict => return Ok(found),
            None => return Err(bad(None)),
        }
    }
}

/// The text up to a closing quote, with doubled ones undone, and the rest.
fn in_quotes(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut rest = text;
    loop {
        let at = rest.find('"')?;
        part.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                part.push('"');
                rest = after;
            }
            None => return Some((part, rest)),
        }
    }
}

/// The parts of a name with `|` between them, for tests.
#[cfg(test)]
pub(super) fn parts_of(text: &str) -> Result<String> {
    let parts: Vec<String> = parts(text, true)?.into_iter().flatten().collect();
    Ok(parts.join("|"))
}
