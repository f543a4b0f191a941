//! What tests of the frame share.

pub mod browser;
pub mod markup;
