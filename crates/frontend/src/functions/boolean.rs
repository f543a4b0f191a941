//! Booleans: casts and functions.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
