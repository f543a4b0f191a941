//! Pattern matching: LIKE, SIMILAR TO, regular expressions.
//!
//! | SQL | operator or function |
//! |---|---|
//! | `a LIKE b`, `a NOT LIKE b` | `a ~~ b`, `a !~~ b` |
//! | `a ILIKE b`, `a NOT ILIKE b` | `a ~~* b`, `a !~~* b` |
//! | `a LIKE b ESCAPE c` | `a ~~ like_escape(b, c)` |
//! | `a SIMILAR TO b ESCAPE c` | `a ~ similar_to_escape(b, c)` |
//! | `SUBSTRING(a FROM b)` | `substring(a, b)`, b a regular expression |
//! | `SUBSTRING(a SIMILAR b ESCAPE c)` | `substring(a, b, c)` |
//!
//! CHAR(n) has its trailing blanks where it is matched, unlike where it is compared.

mod like;
mod regexp;
mod similar;

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    like::register(c);
    regexp::register(c);
    similar::register(c);
}

#[cfg(test)]
mod tests;
