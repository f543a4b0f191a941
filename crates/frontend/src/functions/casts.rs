//! Casts between numbers, strings and booleans, and the text forms of all types.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
