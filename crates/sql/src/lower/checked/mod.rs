//! Arithmetic that checks. DataFusion lets integers wrap around, and gives infinity for a division
//! of floats by zero.

mod arithmetic;

pub(super) use arithmetic::{checked_negation, checked_operator};
