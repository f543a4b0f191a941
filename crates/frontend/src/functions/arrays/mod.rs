//! Arrays: subscripts, slices, operators, functions.
//!
//! Arrays of all dimensions are of one type: elements, and bounds ([`crate::types::arrays`]).
//!
//! | file | holds |
//! |---|---|
//! | `lists` | how lists are read and made |
//! | `casts` | casts of arrays and records, made of those of their elements |
//! | `build` | ARRAY[...] |
//! | `access`, `assign` | subscripts and slices, and such that are assigned |
//! | `operators` | `\|\|`, comparisons, containment |
//! | `any_all` | `x op ANY (array)` |
//! | `functions` | PostgreSQL's functions of arrays |
//! | `friendly` | functions of lists that PostgreSQL does not have |
//! | `spread` | `f(VARIADIC array)` |
//! | `lambda` | `list_transform`, `list_filter`, `list_reduce` |
//!
//! Functions that give rows (`unnest`) are in [`series`](super::series).

mod access;
mod any_all;
mod assign;
mod build;
pub mod casts;
mod friendly;
mod functions;
pub mod lambda;
pub mod lists;
mod operators;
mod places;
mod spread;
#[cfg(test)]
mod tests;

use super::Catalogue;

pub use any_all::any_all;
pub use build::construct;
pub use spread::spread;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    access::register(c);
    assign::register(c);
    build::register(c);
    functions::register(c);
    friendly::register(c);
    operators::register(c);
    places::register(c);
}
