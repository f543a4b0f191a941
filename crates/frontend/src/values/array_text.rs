//! Text forms of arrays and records: `{1,NULL,"a b"}` and `(1,,"a b")`.
//!
//! A text is taken apart into the texts of elements, and made of them; their types are the
//! business of casts. An array of several dimensions is given by its dimensions and by its
//! elements in the order in which they are written:
//!
//! ```text
//! {{1,2},{3,NULL}}   dimensions 2 and 2, elements 1 2 3 NULL
//! [0:1]={1,2}        dimension 2, of which subscripts begin at 0
//! ```

use super::bounds::{Bounds, check_bounds};
use crate::error::{Error, Result};

/// Most dimensions of an array.
pub const MOST_DIMENSIONS: usize = 6;

/// An array's text taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Literal {
    /// Bounds of the dimensions; none if the array is empty.
    pub bounds: Bounds,
    /// Texts of the elements, `None` for NULL.
    pub elements: Vec<Option<String>>,
}

/// Whether a byte is space around elements.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// The bytes of a text, one after the other.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the part begins that error messages quote.
    quoted: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// The character at the current place; it is passed over.
    fn character(&mut self) -> Option<char> {
        let found = self.text.get(self.at..)?.chars().next()?;
        self.at += found.len_utf8();
        Some(found)
    }

    fn malformed(&self, detail: impl Into<String>) -> Error {
        let quoted = self.text.get(self.quoted..).unwrap_or_default();
        let message = format!("malformed array literal: \"{quoted}\"");
        Error::new("22P02", message).with_detail(detail)
    }
}

/// What was read last within braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Opened,
    Element,
    Delimiter,
}

impl Literal {
    /// Takes an array's text apart.
    ///
    /// # Errors
    /// `22P02` and `2202E` for a text that is no array, `54000` for more than six dimensions and
    /// for bounds that are no INTEGER.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader {
            text,
            at: 0,
            quoted: 0,
        };
        let bounds = reader.bounds()?;
        // Of errors from here on, PostgreSQL does not quote what was before.
        reader.quoted = reader.at;
        let mut literal = reader.contents()?;
        reader.quoted = 0;
        if let Some(bounds) = bounds {
            let lengths = bounds.iter().map(|(low, high)| high - low + 1);
            let given: Vec<i64> = literal.bounds.lengths.iter().map(|n| *n as i64).collect();
            if !lengths.eq(given) {
                return Err(
                    reader.malformed("Specified array dimensions do not match array contents.")
                );
            }
            let lows = bounds
                .iter()
                .map(|(low, _)| i32::try_from(*low).unwrap_or(1));
            literal.bounds.lows = lows.collect();
            check_bounds(&literal.bounds)?;
        }
        Ok(literal)
    }
}

impl Reader<'_> {
    /// The bounds before an array's contents, if there are any: `[1:2][1:3]=`.
    fn bounds(&mut self) -> Result<Option<Vec<(i64, i64)>>> {
        let mut bounds = Vec::new();
        loop {
            self.skip_space();
            if self.peek() != Some(b'[') {
                break;
            }
            self.at += 1;
            if bounds.len() >= MOST_DIMENSIONS {
                return Err(too_many_dimensions(bounds.len() + 1));
            }
            let Some(first) = self.bound() else {
                return Err(
                    self.malformed("\"[\" must introduce explicitly-specified array dimensions.")
                );
            };
            let (low, high) = match self.peek() {
                Some(b':') => {
                    self.at += 1;
                    let second = self.bound();
                    let second =
                        second.ok_or_else(|| self.malformed("Missing array dimension value."));
                    (first, second?)
                }
                _ => (1, first),
            };
            if self.peek() != Some(b']') {
                return Err(self.malformed("Missing \"]\" after array dimensions."));
            }
            self.at += 1;
            if high < low {
                return Err(Error::new(
                    "2202E",
                    "upper bound cannot be less than lower bound",
                ));
            }
            bounds.push((low, high));
        }
        if bounds.is_empty() {
            if self.peek() != Some(b'{') {
                return Err(
                    self.malformed("Array value must start with \"{\" or dimension information.")
                );
            }
            return Ok(None);
        }
        if self.peek() != Some(b'=') {
            return Err(self.malformed("Missing \"=\" after array dimensions."));
        }
        self.at += 1;
        self.skip_space();
        if self.peek() != Some(b'{') {
            return Err(self.malformed("Array contents must start with \"{\"."));
        }
        Ok(Some(bounds))
    }

    fn bound(&mut self) -> Option<i64> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'))
        {
            self.at += 1;
        }
        let digits = self.text.get(start..self.at).filter(|d| !d.is_empty())?;
        let bound = digits.parse::<i64>().unwrap_or(0);
        Some(bound.clamp(i32::MIN.into(), i32::MAX.into()))
    }

    /// All from the first brace on.
    fn contents(&mut self) -> Result<Literal> {
        let unexpected = |reader: &Self, what: char| {
            reader.malformed(format!("Unexpected \"{what}\" character."))
        };
        let mut elements = Vec::new();
        // How many members each open level has, and how many each closed one had.
        let mut counts: Vec<usize> = Vec::new();
        let mut lengths: Vec<Option<usize>> = Vec::new();
        // The level that holds the elements.
        let mut leaf = None;
        let mut last = Last::Opened;
        loop {
            self.skip_space();
            let Some(byte) = self.peek() else {
                return Err(self.malformed("Unexpected end of input."));
            };
            match byte {
                b'{' => {
                    let full = leaf == Some(counts.len()) && leaf != Some(0);
                    if last == Last::Element || full {
                        return Err(unexpected(self, '{'));
                    }
                    if counts.len() >= MOST_DIMENSIONS {
                        return Err(too_many_dimensions(counts.len() + 1));
                    }
                    self.at += 1;
                    counts.push(0);
                    if lengths.len() < counts.len() {
                        lengths.push(None);
                    }
                    last = Last::Opened;
                }
                b'}' => {
                    let level = counts.len();
                    let empty = last == Last::Opened && level == 1 && lengths.len() == 1;
                    if last != Last::Element && !empty {
                        return Err(unexpected(self, '}'));
                    }
                    self.at += 1;
                    let count = counts.pop().unwrap_or_default();
                    let length = lengths.get_mut(level - 1);
                    if let Some(length) = length
                        && *length.get_or_insert(count) != count
                    {
                        return Err(self.malformed(
                            "Multidimensional arrays must have sub-arrays with matching \
                             dimensions.",
                        ));
                    }
                    match counts.last_mut() {
                        Some(count) => *count += 1,
                        None => break,
                    }
                    last = Last::Element;
                }
                b',' => {
                    if last != Last::Element {
                        return Err(unexpected(self, ','));
                    }
                    self.at += 1;
                    last = Last::Delimiter;
                }
                _ => {
                    let level = *leaf.get_or_insert(counts.len());
                    if last == Last::Element || level != counts.len() || lengths.len() > level {
                        return Err(self.malformed("Unexpected array element."));
                    }
                    elements.push(self.element()?);
                    if let Some(count) = counts.last_mut() {
                        *count += 1;
                    }
                    last = Last::Element;
                }
            }
        }
        self.skip_space();
        if self.peek().is_some() {
            return Err(self.malformed("Junk after closing right brace."));
        }
        let lengths = match elements.is_empty() {
            true => Vec::new(),
            false => lengths.into_iter().flatten().collect(),
        };
        Ok(Literal {
            bounds: Bounds::of(lengths),
            elements,
        })
    }

    /// An element up to what ends it.
    fn element(&mut self) -> Result<Option<String>> {
        let mut element = String::new();
        if self.peek() == Some(b'"') {
            self.at += 1;
            loop {
                match self.escaped()? {
                    ('"', false) => return Ok(Some(element)),
                    (found, _) => element.push(found),
                }
            }
        }
        // The length with the last character that is no space or was escaped.
        let (mut length, mut plain) = (0, true);
        loop {
            match self.peek() {
                Some(b'{' | b'}' | b',') => break,
                Some(b'"') => return Err(self.malformed("Unexpected array element.")),
                _ => {}
            }
            let (found, escaped) = self.escaped()?;
            element.push(found);
            plain &= !escaped;
            if escaped || !found.is_ascii() || !is_space(found as u8) {
                length = element.len();
            }
        }
        element.truncate(length);
        Ok((!plain || !element.eq_ignore_ascii_case("null")).then_some(element))
    }

    /// A character, and whether a backslash stands before it.
    fn escaped(&mut self) -> Result<(char, bool)> {
        let end = "Unexpected end of input.";
        match self.character() {
            Some('\\') => match self.character() {
                Some(found) => Ok((found, true)),
                None => Err(self.malformed(end)),
            },
            Some(found) => Ok((found, false)),
            None => Err(self.malformed(end)),
        }
    }
}

/// `54000` for an array of too many dimensions.
pub fn too_many_dimensions(dimensions: usize) -> Error {
    Error::new(
        "54000",
        format!(
            "number of array dimensions ({dimensions}) exceeds the maximum allowed \
             ({MOST_DIMENSIONS})"
        ),
    )
}

/// Writes an element as it stands within braces.
pub fn write_element(to: &mut String, element: Option<&str>) {
    let Some(element) = element else {
        to.push_str("NULL");
        return;
    };
    let special = |b: u8| is_space(b) || matches!(b, b'{' | b'}' | b',' | b'"' | b'\\');
    if !element.is_empty() && !element.bytes().any(special) && !element.eq_ignore_ascii_case("null")
    {
        to.push_str(element);
        return;
    }
    to.push('"');
    for found in element.chars() {
        if matches!(found, '"' | '\\') {
            to.push('\\');
        }
        to.push(found);
    }
    to.push('"');
}

/// Takes a record's text apart into the texts of its fields. Fields before an error are there,
/// too, for PostgreSQL reads their values first.
///
/// # Errors
/// `22P02` if the text is no record of `count` fields.
pub fn parse_record(text: &str, count: usize, fields: &mut Vec<Option<String>>) -> Result<()> {
    let malformed = |detail: &str| {
        let message = format!("malformed record literal: \"{text}\"");
        Err(Error::new("22P02", message).with_detail(detail))
    };
    let mut reader = Reader {
        text,
        at: 0,
        quoted: 0,
    };
    reader.skip_space();
    if reader.peek() != Some(b'(') {
        return malformed("Missing left parenthesis.");
    }
    reader.at += 1;
    loop {
        if fields.len() == count {
            // A record without fields is an empty pair of parentheses.
            match reader.peek() {
                Some(b')') if count == 0 => break,
                _ => return malformed("Too many columns."),
            }
        }
        let (mut field, mut quoted, mut given) = (String::new(), false, false);
        loop {
            match reader.peek() {
                Some(b',' | b')') if !quoted => break,
                _ => {}
            }
            given = true;
            match reader.character() {
                None => return malformed("Unexpected end of input."),
                Some('\\') => match reader.character() {
                    None => return malformed("Unexpected end of input."),
                    Some(found) => field.push(found),
                },
                Some('"') if !quoted => quoted = true,
                Some('"') if reader.peek() == Some(b'"') => {
                    reader.at += 1;
                    field.push('"');
                }
                Some('"') => quoted = false,
                Some(found) => field.push(found),
            }
        }
        fields.push(given.then_some(field));
        if reader.character() == Some(')') {
            if fields.len() < count {
                return malformed("Too few columns.");
            }
            break;
        }
    }
    if count == 0 {
        reader.at += 1;
    }
    reader.skip_space();
    if reader.peek().is_some() {
        return malformed("Junk after right parenthesis.");
    }
    Ok(())
}

/// Writes a record's field as it stands within parentheses.
pub fn write_field(to: &mut String, field: Option<&str>) {
    let Some(field) = field else {
        return;
    };
    let special = |b: u8| is_space(b) || matches!(b, b'(' | b')' | b',' | b'"' | b'\\');
    if !field.is_empty() && !field.bytes().any(special) {
        to.push_str(field);
        return;
    }
    to.push('"');
    for found in field.chars() {
        if matches!(found, '"' | '\\') {
            to.push(found);
        }
        to.push(found);
    }
    to.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match Literal::parse(text) {
            Ok(literal) => {
                let mut shown = format!("{:?}", literal.bounds.lengths);
                for element in &literal.elements {
                    shown.push(' ');
                    write_element(&mut shown, element.as_deref());
                }
                shown
            }
            Err(error) => format!("{} {}", error.sqlstate, error.detail.unwrap_or_default()),
        }
    }

    #[test]
    fn arrays_are_taken_apart_as_postgresql_does() {
        let cases = [
            ("{}", "[]"),
            (" { } ", "[]"),
            ("{1,2}", "[2] 1 2"),
            ("{ {1 , 2},{ \"3\" ,null}}", "[2, 2] 1 2 3 NULL"),
            (
                r#"{a\ ,\null, a  b ,"","NULL"}"#,
                r#"[5] "a " "null" "a  b" "" "NULL""#,
            ),
            ("{é,\u{a0}}", "[2] é \u{a0}"),
            ("[1:2]={1,2}", "[2] 1 2"),
            ("[2] = {1,2}", "[2] 1 2"),
            ("{{}}", "22P02 Unexpected \"}\" character."),
            ("{{1},{}}", "22P02 Unexpected \"}\" character."),
            ("{,}", "22P02 Unexpected \",\" character."),
            ("{a,}", "22P02 Unexpected \"}\" character."),
            ("{1,{2}}", "22P02 Unexpected \"{\" character."),
            ("{{1},2}", "22P02 Unexpected array element."),
            ("{a\"b\"}", "22P02 Unexpected array element."),
            ("{\"a\" b}", "22P02 Unexpected array element."),
            ("{a\\", "22P02 Unexpected end of input."),
            ("{a}}", "22P02 Junk after closing right brace."),
            (
                "{{1,2},{3}}",
                "22P02 Multidimensional arrays must have sub-arrays with matching dimensions.",
            ),
            (
                "",
                "22P02 Array value must start with \"{\" or dimension information.",
            ),
            (
                "[1:3]={1,2}",
                "22P02 Specified array dimensions do not match array contents.",
            ),
            ("[2:1]={}", "2202E "),
            ("[0:1]={1,2}", "[2] 1 2"),
            (
                "[2147483647]={1}",
                "22P02 Specified array dimensions do not match array contents.",
            ),
            ("[2147483647:2147483647]={1}", "54000 "),
            ("{{{{{{{1}}}}}}}", "54000 "),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn records_are_taken_apart_as_postgresql_does() {
        let cases = [
            ("(1,a,)", r#"1|a|NULL"#),
            (r#"( 1, a ,"a""b\"")"#, r#" 1| a |a"b""#),
            (r#" (1,a\,b,x"y z"w) "#, "1|a,b|xy zw"),
            (r#"(1,"",)"#, "1||NULL"),
            ("(1,a)", "Too few columns."),
            ("(1,a,b,c)", "Too many columns."),
            ("1,a,b", "Missing left parenthesis."),
            ("(1,a,b", "Unexpected end of input."),
            ("(1,a,\"b)", "Unexpected end of input."),
            ("(1,a,b\\", "Unexpected end of input."),
            ("(1,a,b)x", "Junk after right parenthesis."),
        ];
        for (text, expected) in cases {
            let mut fields = Vec::new();
            let shown = match parse_record(text, 3, &mut fields) {
                Ok(()) => {
                    let fields = fields.into_iter();
                    let fields = fields.map(|field| field.unwrap_or("NULL".to_owned()));
                    fields.collect::<Vec<_>>().join("|")
                }
                Err(error) => error.detail.unwrap_or_default(),
            };
            assert_eq!(shown, expected, "{text}");
        }
        let mut fields = Vec::new();
        assert_eq!(parse_record("()", 0, &mut fields), Ok(()));
        assert!(fields.is_empty());
    }
}
