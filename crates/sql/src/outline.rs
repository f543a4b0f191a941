//! Outlines: texts of statements without the values in them.
//!
//! Applications write values into the texts of their statements, so that the same statement comes
//! with another text each time. Its outline is the text with a mark in the place of each literal:
//!
//! ```text
//! UPDATE accounts SET balance = balance + 12 WHERE name = 'ab'
//! UPDATE accounts SET balance = balance + ␁i WHERE name = ␁t
//! ```
//!
//! A text is taken apart in one pass over its bytes, which takes a small part of the time that
//! reading it into a tree does. The pass knows plain numbers and plain texts in quotes. It gives up
//! where a text has anything else that may hold quotes or digits in another sense: comments,
//! escapes, dollar quotes, parameters, exponents.

use std::ops::Range;

use crate::parameter::Parameter;

/// Longer texts have no outline.
const LONG: usize = 16 << 10;
/// Most literals of a text.
const MOST_LITERALS: usize = 500;
/// The mark before the kind of a literal; a text that has it itself has no outline.
const MARK: u8 = 1;

/// A text without its literals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    /// The text with marks. It tells literals of different kinds apart.
    pub(crate) key: String,
    pub(crate) literals: Vec<Literal>,
}

/// A literal of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Literal {
    kind: Kind,
    /// Its bytes in the text, quotes included.
    pub(crate) place: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A number that is an INTEGER without a sign.
    Integer,
    /// A larger number that is a BIGINT.
    BigInt,
    /// Any other number without an exponent.
    Decimal,
    Text,
}

impl Kind {
    fn of_number(digits: &str) -> Kind {
        match digits.parse::<i64>() {
            Ok(number) if i32::try_from(number).is_ok() => Kind::Integer,
            Ok(_) => Kind::BigInt,
            Err(_) => Kind::Decimal,
        }
    }

    fn mark(self) -> char {
        match self {
            Kind::Integer => 'i',
            Kind::BigInt => 'b',
            Kind::Decimal => 'd',
            Kind::Text => 't',
        }
    }
}

impl Literal {
    /// Its value, of a number with or without a sign before it; `None` if it has none.
    pub(crate) fn value(&self, text: &str, negative: bool) -> Option<Parameter> {
        let written = text.get(self.place.clone())?;
        Some(match self.kind {
            Kind::Text => {
                let inner = written.get(1..written.len() - 1)?;
                Parameter::Text(match inner.contains('\'') {
                    true => inner.replace("''", "'"),
                    false => inner.to_owned(),
                })
            }
            Kind::Integer | Kind::BigInt => {
                let number: i64 = written.parse().ok()?;
                Parameter::Integer(if negative { -number } else { number })
            }
            Kind::Decimal => {
                let sign = if negative { "-" } else { "" };
                Parameter::Decimal(format!("{sign}{written}"))
            }
        })
    }
}

impl Outline {
    /// The outline of a statement's text; `None` if it is not taken apart.
    pub(crate) fn of(text: &str) -> Option<Outline> {
        if text.len() > LONG {
            return None;
        }
        let bytes = text.as_bytes();
        let (mut key, mut literals) = (String::with_capacity(text.len()), Vec::new());
        // The bytes from `copied` on are not in the key yet.
        let (mut at, mut copied) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            let (end, kind) = match byte {
                b'\'' => (end_of_text(bytes, at)?, Kind::Text),
                b'0'..=b'9' => {
                    let end = end_of_number(bytes, at)?;
                    (end, Kind::of_number(&text[at..end]))
                }
                b'"' => {
                    at = end_of_quoted(bytes, at, b'"')?;
                    continue;
                }
                byte if is_of_word(byte) => {
                    at = end_of_word(bytes, at)?;
                    continue;
                }
                _ => {
                    may_stand(bytes, at)?;
                    at += 1;
                    continue;
                }
            };
            if literals.len() == MOST_LITERALS {
                return None;
            }
            key.push_str(&text[copied..at]);
            key.push(char::from(MARK));
            key.push(kind.mark());
            literals.push(Literal {
                kind,
                place: at..end,
            });
            (at, copied) = (end, end);
        }
        key.push_str(&text[copied..]);
        Some(Outline { key, literals })
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The end of something in quotes, with quotes in it doubled.
fn end_of_quoted(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            byte if *byte == quote => match bytes.get(at + 1) {
                Some(next) if *next == quote => at += 2,
                _ => return Some(at + 1),
            },
            b'\\' | &MARK => return None,
            _ => at += 1,
        }
    }
}

/// The end of a text in quotes; `None` for one that goes on in another line, or has a prefix.
fn end_of_text(bytes: &[u8], start: usize) -> Option<usize> {
    if start > 0 && bytes[start - 1] == b'&' {
        return None;
    }
    let end = end_of_quoted(bytes, start, b'\'')?;
    let mut behind = bytes[end..]
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace());
    (behind.next() != Some(&b'\'')).then_some(end)
}

/// The end of digits with at most one point among or behind them.
fn end_of_number(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |from: usize| {
        let rest = bytes[from..].iter();
        from + rest.take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut end = digits(start);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    let goes_on = |byte: &u8| is_of_word(*byte) || matches!(byte, b'.' | b'$');
    (!bytes.get(end).is_some_and(goes_on)).then_some(end)
}

/// The end of a word; `None` for the prefix of a text.
fn end_of_word(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes[start..].iter();
    let end = start
        + rest
            .take_while(|byte| is_of_word(**byte) || **byte == b'$')
            .count();
    (bytes.get(end) != Some(&b'\'')).then_some(end)
}

/// Whether a character between words and literals is nothing that leads to other syntax.
fn may_stand(bytes: &[u8], at: usize) -> Option<()> {
    let next = bytes.get(at + 1);
    let leads = match bytes[at] {
        b'$' | b'\\' | b';' | b'?' | MARK | 0 => true,
        b'-' => next == Some(&b'-'),
        b'/' => next == Some(&b'*'),
        // Digits behind a point: a number without digits before it, or a part of a name.
        b'.' => next.is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    (!leads).then_some(())
}

#[cfg(test)]
mod tests {
    use super::Outline;
    use crate::parameter::Parameter;

    fn shown(text: &str) -> Option<(String, Vec<Parameter>)> {
        let outline = Outline::of(text)?;
        let values = outline.literals.iter().map(|one| one.value(text, false));
        let values = values.collect::<Option<_>>().unwrap();
        Some((outline.key.replace('\u{1}', "#"), values))
    }

    #[test]
    fn literals_are_taken_out() {
        let text =
            "SELECT a1, \"b 2\" FROM t_3 WHERE x=-4 AND y IN ('it''s', '') AND z<3000000000+1.50";
        let (key, values) = shown(text).unwrap();
        assert_eq!(
            key,
            "SELECT a1, \"b 2\" FROM t_3 WHERE x=-#i AND y IN (#t, #t) AND z<#b+#d"
        );
        let texts = ["it's", ""].map(Parameter::from);
        assert_eq!(values[0], 4.into());
        assert_eq!(values[1..3], texts);
        assert_eq!(values[3], 3_000_000_000_i64.into());
        assert_eq!(values[4], Parameter::Decimal("1.50".into()));
        assert_eq!(shown("f(x)::varchar(12)").unwrap().0, "f(x)::varchar(#i)");
        assert_eq!(shown("é='ü'").unwrap(), ("é=#t".into(), vec!["ü".into()]));
        assert_eq!(shown("a[1:2]").unwrap().0, "a[#i:#i]");
        assert_eq!(shown("x = 5.").unwrap().0, "x = #d");
        assert_eq!(shown("").unwrap().0, "");
    }

    #[test]
    fn other_texts_have_no_outline() {
        for text in [
            "x = E'a'",
            "x = U&'a'",
            "x = 'a\\'",
            "x = 'a",
            "x = \"a",
            "x = $1",
            "x = $$a$$",
            "x = ?",
            "x = 1e5",
            "x = 0x1f",
            "x = 1_000",
            "x = .5",
            "x = 1..2",
            "x = 1.2.3",
            "x = 'a' \n 'b'",
            "x -- 5",
            "x /* 5 */",
            "x; y",
            "x = 5a",
            "x = '\u{1}'",
            "x = \u{1}",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
        assert_eq!(Outline::of(&"x".repeat(20_000)), None);
        assert_eq!(Outline::of(&"1,".repeat(501)), None);
    }
}
