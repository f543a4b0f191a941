//! Codecs: how the values of one column of one block become fewer bytes.
//!
//! A codec has two halves. The first turns values into integers (or coded
//! bytes) and a *codebook*: a dictionary's ranks, ALP's scaled floats, symbols
//! of text; for integer columns the values are the integers already. The second
//! stores integers in few bits: [`integers`] in chunks of 1,024 for layouts by
//! column, [`fields`] for tuples and minipages. So each codec serves every
//! layout, and a condition is translated into ranges of integers once per block
//! ([`CodeTest`]).
//!
//! | codec | holds | codebook | integers |
//! |---|---|---|---|
//! | plain | everything | | none: values in stored form |
//! | constant | everything | the value | none |
//! | bitpack, for, truncation | integers, decimals, dates, times, booleans | | values above a base |
//! | for_delta, rle | the same | | steps; runs |
//! | dictionary | everything | sorted distinct values | ranks |
//! | alp | floats | exponents and exceptions | scaled values |
//! | symbols | text and bytes | table of symbols | none: coded bytes |
//!
//! The estimator and the choice stand apart, in [`pick`].

mod alp;
pub mod bits;
pub mod code_source;
mod codebook;
mod compacted;
mod dense;
mod dictionary;
mod distinct;
mod encode;
pub mod fields;
mod form;
mod gather;
pub mod integers;
mod pick;
pub mod symbols;
mod translate;
mod views;

#[cfg(test)]
mod tests;

pub use bits::prefetch;
pub use codebook::{Codebook, Fetch, constant, symbols_to_arrow};
pub use compacted::compacted;
pub use dense::{Dense, DenseData, fixed_to_arrow, stored_value};
pub use dictionary::{Dictionary, build_whole as dictionary_of};
pub use encode::{Codes, Encoded, encode};
pub use form::ArrayForm;
pub use gather::gather_fixed;
pub use pick::pick;
pub use translate::{CodeTest, translate};
pub use views::{Views, coded as coded_array};
