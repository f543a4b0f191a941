//! Between the values of Arrow, of parameters and of Python.

mod nested;
mod parameter;
mod read;
mod time;

pub use parameter::{Given, parameters};
pub use read::tuples;
