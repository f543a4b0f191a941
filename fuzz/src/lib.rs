//! What each fuzz target does with its bytes.
//!
//! A target turns bytes into what a decoder is given: a few bytes choose types,
//! codecs and numbers of rows, the rest are the sections. The decoder must not
//! panic, overflow, run away or ask for memory without bounds. Where it accepts,
//! everything is read in several ways; the arrays must be well formed and the
//! ways agree. Each target says whether the decoder accepted, so that the tests
//! can tell a useful seed from one that is turned away at the door.

mod codecs;
mod files;
mod indexes;
mod input;
mod messages;
mod stores;

pub use codecs::{codebook, fields, integers, symbols};
pub use files::{block, header, manifest, sketch};
pub use indexes::{bloom, inverted, key_shape, postings, tree};
pub use input::{Input, KINDS, Output, kind_number, table};
pub use messages::messages;
pub use stores::{pages, stripe, tuples};

/// A target by its name.
pub type Target = fn(&[u8]) -> bool;

/// Every target.
pub const TARGETS: [(&str, Target); 17] = [
    ("integers", integers),
    ("fields", fields),
    ("codebook", codebook),
    ("symbols", symbols),
    ("stripe", stripe),
    ("tuples", tuples),
    ("pages", pages),
    ("header", header),
    ("sketch", sketch),
    ("block", block),
    ("manifest", manifest),
    ("postings", postings),
    ("tree", tree),
    ("inverted", inverted),
    ("bloom", bloom),
    ("key_shape", key_shape),
    ("messages", messages),
];
