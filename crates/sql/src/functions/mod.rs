//! Functions that plans call and the front does not evaluate: they depend on what is stored or
//! set.

pub(crate) mod sequences;
pub(crate) mod settings;
