//! Values that Arrow has no type for, and the text forms of all.

pub mod array_text;
pub mod bounds;
pub mod datetime;
pub mod float;
mod interval;
pub mod json;
pub mod money;
pub mod network;
pub(crate) mod numeric;
pub mod range;
pub mod regex;

pub use interval::Interval;
pub use numeric::Numeric;
