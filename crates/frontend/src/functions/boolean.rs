//! Booleans: their text forms, casts and functions.
//!
//! `'t'`, `'yes'`, `'on'` and `'1'` are true, in any case and with blanks around them; each word
//! may be cut short as long as it stays clear (`'tr'`, but not `'o'`). The text of a BOOLEAN is
//! `true` or `false`; results and `concat` show `t` and `f`, which is left to them.

use super::kernel::{Bool, I32, Opt, Str, f1, f2};
use super::{Catalogue, Context, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    c.cast(
        Type::Text,
        Type::Bool,
        Context::Explicit,
        f1::<Str, Bool>(read),
    );
    c.cast(
        Type::Bool,
        Type::Text,
        Context::Assignment,
        f1::<Bool, Str>(|value| Ok(value.to_string())),
    );
    c.cast(
        Type::Int4,
        Type::Bool,
        Context::Explicit,
        f1::<I32, Bool>(|value| Ok(value != 0)),
    );
    c.cast(
        Type::Bool,
        Type::Int4,
        Context::Explicit,
        f1::<Bool, I32>(|value| Ok(value.into())),
    );
    let two = [Type::Bool, Type::Bool];
    let and = f2::<Opt<Bool>, Opt<Bool>, Opt<Bool>>(|a, b| {
        Ok(match (a, b) {
            (Some(a), Some(b)) => Some(a && b),
            _ => a.or(b),
        })
    });
    c.add(scalar("booland_statefunc", &two, Type::Bool, and));
    let or = f2::<Opt<Bool>, Opt<Bool>, Opt<Bool>>(|a, b| {
        Ok(match (a, b) {
            (Some(a), Some(b)) => Some(a || b),
            _ => a.or(b),
        })
    });
    c.add(scalar("boolor_statefunc", &two, Type::Bool, or));
}

/// The value that a text stands for.
///
/// # Errors
/// `22P02`.
pub fn read(text: &str) -> Result<bool> {
    let word = text.trim_matches(is_space).to_ascii_lowercase();
    let short_for = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if short_for("true", 1) || short_for("yes", 1) || word == "on" || word == "1" {
        return Ok(true);
    }
    if short_for("false", 1) || short_for("no", 1) || short_for("off", 2) || word == "0" {
        return Ok(false);
    }
    Err(Error::new(
        "22P02",
        format!("invalid input syntax for type boolean: \"{text}\""),
    ))
}

/// Whether a character is white space of C's `isspace`.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

#[cfg(test)]
mod tests {
    use super::super::testing::cast;
    use crate::types::Type;

    #[test]
    fn reads_words_and_their_beginnings() {
        for word in ["t", "TRUE", " tru ", "y", "yes", "ye", "on", "1", "\tOn\n"] {
            let read = cast((Type::Text, Some(word)), &Type::Bool);
            assert_eq!(read, Ok(Some("true".to_owned())), "{word}");
        }
        for word in ["f", "fals", "n", "NO", "of", "off", "0"] {
            let read = cast((Type::Text, Some(word)), &Type::Bool);
            assert_eq!(read, Ok(Some("false".to_owned())), "{word}");
        }
    }

    #[test]
    fn refuses_other_words() {
        for word in [
            "", " ", "o", "tr ue", "truee", "2", "-1", "01", "nope", "ja", "µ",
        ] {
            let error = cast((Type::Text, Some(word)), &Type::Bool).unwrap_err();
            assert_eq!(error.sqlstate, "22P02");
            let message = format!("invalid input syntax for type boolean: \"{word}\"");
            assert_eq!(error.message, message);
        }
    }
}
