//! Arrays: subscripts, slices, operators, functions.

mod access;
pub mod casts;
pub mod lists;
mod operators;

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    access::register(c);
    operators::register(c);
}
