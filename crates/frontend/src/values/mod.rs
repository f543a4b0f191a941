//! Values that Arrow has no type for, and the text forms of all.

pub mod float;
mod interval;
pub(crate) mod numeric;

pub use interval::Interval;
pub use numeric::Numeric;
