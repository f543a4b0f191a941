//! Formatting of numbers: `to_char` and `to_number`.
//!
//! `to_char`, `to_date` and `to_timestamp` of dates and times are of the chapter on dates.

use super::Catalogue;

mod numbers;
mod picture;
#[cfg(test)]
mod tests;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    numbers::register(c);
}
