//! System information: version, current_user, pg_typeof and their kin.

use super::Catalogue;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}
