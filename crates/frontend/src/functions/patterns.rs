//! Pattern matching: LIKE, SIMILAR TO, regular expressions.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
