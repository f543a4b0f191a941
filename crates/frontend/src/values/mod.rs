//! Values that Arrow has no type for, and the text forms of all.

pub mod array_text;
pub mod datetime;
mod interval;
pub mod json;
mod numeric;

pub use interval::Interval;
pub use numeric::Numeric;
