//! Functions that plans call and the front does not evaluate.
//!
//! DataFusion lets integers wrap around and gives infinity for a division of floats by zero:
//! `arithmetic` and `sum` have the operations that check. `roles`, `sequences` and `settings`
//! depend on what is stored or set.

mod arithmetic;
pub(crate) mod roles;
pub(crate) mod sequences;
pub(crate) mod settings;
mod sum;

pub(crate) use arithmetic::{checked_negation, checked_operator};
pub(crate) use sum::checked_sum;
