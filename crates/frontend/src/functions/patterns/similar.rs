//! SIMILAR TO: SQL's regular expressions as those of POSIX.
//!
//! `%` and `_` are those of LIKE; `|`, `*`, `+`, `?`, `{…}`, `(…)` and `[…]` those of regular
//! expressions; all other signs stand for themselves, and the whole text has to match:
//!
//! ```text
//! 'a%(b|c)'          ^(?:a.*(?:b|c))$
//! '%#"b_#"%' with #  ^(?:.*){1,1}?(b.){1,1}(?:.*)$
//! ```
//!
//! The second is SUBSTRING's: the part between the separators is the result, and the parts before
//! it and behind it are as short and as long as can be.

use super::super::kernel::{Opt, Str, f1, f2, f3};
use super::super::{Catalogue, scalar};
use super::like::bad_escape;
use super::regexp;
use crate::error::{Error, Result};
use crate::types::Type::Text;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    let kernel = f1::<Str, Str>(|pattern| expression(pattern, "\\"));
    c.add(scalar("similar_to_escape", &[Text], Text, kernel));
    let kernel = f2::<Str, Str, Str>(expression);
    c.add(scalar("similar_to_escape", &[Text, Text], Text, kernel));
    // The older form takes NULL for the backslash.
    let kernel =
        f2::<Str, Opt<Str>, Str>(|pattern, mark| expression(pattern, mark.unwrap_or("\\")));
    c.add(scalar("similar_escape", &[Text, Text], Text, kernel).with_nulls());
    let kernel = f3::<Str, Str, Str, Opt<Str>>(|text, pattern, mark| {
        regexp::part(text, &expression(pattern, mark)?)
    });
    c.add(scalar("substring", &[Text, Text, Text], Text, kernel));
}

/// From here on a closing bracket ends a set.
const BEGUN: usize = 3;

/// The regular expression of a pattern; an empty mark is no escape.
fn expression(pattern: &str, mark: &str) -> Result<String> {
    let mut marks = mark.chars();
    let mark = match (marks.next(), marks.next()) {
        (mark, None) => mark,
        _ => return Err(bad_escape()),
    };
    let mut to = String::with_capacity(pattern.len() + 8);
    to.push_str("^(?:");
    let (mut after_mark, mut separators) = (false, 0);
    // How many brackets are open, and whether a closing one would end a set: right behind the
    // opening one, or the `^` there, it is a member.
    let (mut brackets, mut begun) = (0, 0);
    for c in pattern.chars() {
        if after_mark {
            after_mark = false;
            if c == '"' && brackets == 0 {
                to.push_str(match separators {
                    0 => "){1,1}?(",
                    1 => "){1,1}(?:",
                    _ => {
                        let message = "SQL regular expression may not contain more than two \
                            escape-double-quote separators";
                        return Err(Error::new("2200C", message));
                    }
                });
                separators += 1;
            } else {
                to.extend(['\\', c]);
                begun = BEGUN;
            }
            continue;
        }
        match c {
            c if Some(c) == mark => after_mark = true,
            c if brackets > 0 => {
                if c == '\\' {
                    to.push('\\');
                }
                to.push(c);
                match c {
                    ']' if begun >= BEGUN => brackets -= 1,
                    '[' => (brackets, begun) = (brackets + 1, BEGUN),
                    '^' => begun += 1,
                    _ => begun = BEGUN,
                }
            }
            '[' => {
                to.push(c);
                (brackets, begun) = (1, 1);
            }
            '%' => to.push_str(".*"),
            '_' => to.push('.'),
            '(' => to.push_str("(?:"),
            '\\' | '.' | '^' | '$' => to.extend(['\\', c]),
            c => to.push(c),
        }
    }
    to.push_str(")$");
    Ok(to)
}
