//! Arrays: subscripts, slices, operators, functions.
//!
//! An array is an Arrow list, one of several dimensions a list of lists; lists of one level have
//! equal lengths, and an array without elements is the empty list whatever its type's
//! dimensions. Its lower bounds are 1.
//!
//! | file | holds |
//! |---|---|
//! | `lists` | how lists are read and made |
//! | `casts` | casts of arrays and records, made of those of their elements |
//! | `build` | ARRAY[...] |
//! | `access` | subscripts and slices |
//! | `operators` | `\|\|`, comparisons, containment |
//! | `any_all` | `x op ANY (array)` |
//! | `functions` | PostgreSQL's functions of arrays |
//! | `friendly` | functions of lists that PostgreSQL does not have |
//! | `lambda` | `list_transform`, `list_filter`, `list_reduce` |
//!
//! Functions that give rows (`unnest`) are in [`series`](super::series).

mod access;
mod any_all;
mod build;
pub mod casts;
mod friendly;
mod functions;
pub mod lambda;
pub mod lists;
mod operators;
#[cfg(test)]
mod tests;

use super::Catalogue;

pub use any_all::any_all;
pub use build::construct;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    access::register(c);
    build::register(c);
    functions::register(c);
    friendly::register(c);
    operators::register(c);
}
