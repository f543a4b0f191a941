//! Arrays: subscripts, slices, operators, functions.

pub mod casts;
pub mod lists;

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
