//! Names and numbers of character sets: `pg_encoding_to_char` and its kin. Clients and databases
//! have UTF-8.
//!
//! ```text
//! pg_char_to_encoding('utf-8')   6
//! pg_encoding_to_char(6)         UTF8
//! pg_encoding_max_length(6)      4
//! ```

use super::kernel::{I32, Opt, Str, f0, f1};
use super::{Catalogue, scalar};
use crate::types::Type;

/// The name of each number, and the most bytes that a character of it has.
const ENCODINGS: [(&str, i32); 42] = [
    ("SQL_ASCII", 1),
    ("EUC_JP", 3),
    ("EUC_CN", 3),
    ("EUC_KR", 3),
    ("EUC_TW", 4),
    ("EUC_JIS_2004", 3),
    ("UTF8", 4),
    ("MULE_INTERNAL", 4),
    ("LATIN1", 1),
    ("LATIN2", 1),
    ("LATIN3", 1),
    ("LATIN4", 1),
    ("LATIN5", 1),
    ("LATIN6", 1),
    ("LATIN7", 1),
    ("LATIN8", 1),
    ("LATIN9", 1),
    ("LATIN10", 1),
    ("WIN1256", 1),
    ("WIN1258", 1),
    ("WIN866", 1),
    ("WIN874", 1),
    ("KOI8R", 1),
    ("WIN1251", 1),
    ("WIN1252", 1),
    ("ISO_8859_5", 1),
    ("ISO_8859_6", 1),
    ("ISO_8859_7", 1),
    ("ISO_8859_8", 1),
    ("WIN1250", 1),
    ("WIN1253", 1),
    ("WIN1254", 1),
    ("WIN1255", 1),
    ("WIN1257", 1),
    ("KOI8U", 1),
    ("SJIS", 2),
    ("BIG5", 2),
    ("GBK", 2),
    ("UHC", 2),
    ("GB18030", 4),
    ("JOHAB", 3),
    ("SHIFT_JIS_2004", 2),
];

/// Other names, without their signs.
const ALIASES: [(&str, &str); 12] = [
    ("unicode", "UTF8"),
    ("iso88591", "LATIN1"),
    ("iso88592", "LATIN2"),
    ("iso88593", "LATIN3"),
    ("iso88594", "LATIN4"),
    ("iso88599", "LATIN5"),
    ("iso885910", "LATIN6"),
    ("iso885913", "LATIN7"),
    ("iso885914", "LATIN8"),
    ("iso885915", "LATIN9"),
    ("iso885916", "LATIN10"),
    ("koi8", "KOI8R"),
];

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Int4, Name};
    for name in ["pg_client_encoding", "getdatabaseencoding"] {
        let kernel = f0::<Str>(|_| Ok("UTF8".to_owned()));
        c.add(scalar(name, &[], Name, kernel).stable());
    }
    let kernel = f1::<Str, I32>(|name| Ok(number(name)));
    c.add(scalar("pg_char_to_encoding", &[Name], Int4, kernel).stable());
    let kernel = f1::<I32, Str>(|number| {
        let found = of(number);
        Ok(found.map_or_else(String::new, |(name, _)| name.to_owned()))
    });
    c.add(scalar("pg_encoding_to_char", &[Int4], Name, kernel).stable());
    let kernel = f1::<I32, Opt<I32>>(|number| Ok(of(number).map(|(_, most)| most)));
    c.add(scalar("pg_encoding_max_length", &[Int4], Int4, kernel));
}

fn of(number: i32) -> Option<(&'static str, i32)> {
    let at = usize::try_from(number).ok()?;
    ENCODINGS.get(at).copied()
}

/// The number of a name, or -1; case and signs do not count.
fn number(name: &str) -> i32 {
    let plain = |name: &str| {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect::<String>()
    };
    let mut wanted = plain(name);
    if let Some(number) = wanted.strip_prefix("windows") {
        wanted = format!("win{number}");
    }
    if let Some((_, name)) = ALIASES.iter().find(|(alias, _)| *alias == wanted) {
        wanted = plain(name);
    }
    let at = ENCODINGS.iter().position(|(name, _)| plain(name) == wanted);
    at.and_then(|at| i32::try_from(at).ok()).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_numbers() {
        let cases = [
            ("UTF8", 6),
            ("utf-8", 6),
            ("Unicode", 6),
            ("latin-1", 8),
            ("ISO 8859-1", 8),
            ("iso_8859_5", 25),
            ("windows-1252", 24),
            ("shift_jis_2004", 41),
            ("nosuch", -1),
            ("", -1),
        ];
        for (name, expected) in cases {
            assert_eq!(number(name), expected, "{name}");
        }
    }

    #[test]
    fn numbers_have_names_and_lengths() {
        assert_eq!(of(6), Some(("UTF8", 4)));
        assert_eq!(of(0), Some(("SQL_ASCII", 1)));
        assert_eq!(of(41), Some(("SHIFT_JIS_2004", 2)));
        assert_eq!((of(-1), of(42)), (None, None));
    }
}
