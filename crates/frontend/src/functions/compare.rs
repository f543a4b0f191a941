//! Comparisons of all types, and the functions of rows that compare.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
