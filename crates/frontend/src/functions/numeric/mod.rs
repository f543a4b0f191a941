//! Arithmetic of numbers: operators, and casts between number types and from and to text.
//!
//! | module | holds |
//! |---|---|
//! | `integers` | operators of SMALLINT, INTEGER, BIGINT and their mixtures |
//! | `floats` | operators of REAL and DOUBLE PRECISION |
//! | `decimals` | operators of NUMERIC, and kernels for columns of one scale |
//! | `casts` | casts between them, and from and to text |
//!
//! ```text
//! 2147483647 + 1         22003 integer out of range
//! 7 / 2                  3
//! 7.0 / 2                3.5000000000000000
//! ```

use super::Catalogue;

mod casts;
mod decimals;
mod floats;
mod integers;
mod rows;

#[cfg(test)]
mod tests;

pub use casts::{read_integer, read_oid};
pub(super) use decimals::whole_type;
pub(super) use floats::{overflow, power, square_root, underflow};
pub(super) use integers::out_of_range;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    integers::register(c);
    floats::register(c);
    decimals::register(c);
    casts::register(c);
}
