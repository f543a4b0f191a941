//! Binary strings: functions and operators of BYTEA.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
