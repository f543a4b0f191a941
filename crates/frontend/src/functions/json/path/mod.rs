//! The SQL/JSON path language.

use crate::functions::Catalogue;

pub(super) fn register(_: &mut Catalogue) {}
