//! Values that Arrow has no type for, and the text forms of all.

mod interval;
mod numeric;
pub mod regex;

pub use interval::Interval;
pub use numeric::Numeric;
