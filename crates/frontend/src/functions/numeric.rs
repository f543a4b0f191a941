//! Arithmetic of numbers: operators and casts between them.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
