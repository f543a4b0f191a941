//! Formatting: to_char, to_date, to_timestamp, to_number, format.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
