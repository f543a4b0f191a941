//! Values that Arrow has no type for, and the text forms of all.

pub mod array_text;
mod interval;
mod numeric;

pub use interval::Interval;
pub use numeric::Numeric;
