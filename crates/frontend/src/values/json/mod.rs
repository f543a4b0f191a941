//! JSON texts: reading, a normal form, parts of a value and their order.
//!
//! JSON is kept as the text that was given. JSONB is kept as a text in normal form, so that
//! its output is that text:
//!
//! ```text
//! {"b": [1,1.0e1], "a":"\u0041", "a" : null}   →   {"a": null, "b": [1, 10]}
//! ```
//!
//! In normal form the keys of an object are unique and ordered by length, then by bytes; of
//! equal keys the last one counts. Numbers are those of NUMERIC, and texts have no escapes but
//! those that JSON asks for. A part of a value in normal form is in normal form, too. Hence
//! functions need no tree: they walk the text and hand out slices of it.
//!
//! | module | holds |
//! |---|---|
//! | `lex` | tokens and the errors of text that is no JSON |
//! | `normal` | the check of a JSON text and its normal form |
//! | `walk` | elements and members of a value, as slices |
//! | `number` | normal form and order of numbers |
//! | `order` | order of values and containment |

mod lex;
mod normal;
mod number;
mod order;
mod walk;

pub use lex::{Place, pieces};
pub use normal::{normal, validate};
pub use number::{compare as compare_numbers, normal as normal_number};
pub use order::{compare, contains, key};
pub use walk::{Elements, Kind, Members, find, inside, kind, quote, quoted, unquoted};
pub(crate) use walk::{compare_raw_keys, skip_blanks, skip_value};

use crate::error::Error;

/// Arrays and objects that may be within one another.
pub const MAX_DEPTH: usize = 6500;

/// `54001`: a value or a path is nested too deeply.
pub fn too_deep() -> Error {
    Error::new("54001", "stack depth limit exceeded")
        .with_hint("Nest the value or the expression less deeply.")
}
