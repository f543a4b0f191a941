//! Arrays: subscripts, slices, operators, functions.

mod access;
mod any_all;
mod build;
pub mod casts;
mod friendly;
mod functions;
pub mod lambda;
pub mod lists;
mod operators;

use super::Catalogue;

pub use any_all::any_all;
pub use build::construct;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    access::register(c);
    build::register(c);
    functions::register(c);
    friendly::register(c);
    operators::register(c);
}
