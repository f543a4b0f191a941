//! The bytes of a block file: header, section directory, sections.
//!
//! One module holds the format; the builder and the reader both use it.
//! Little-endian throughout. `docs/format.md` shows the tables; the tests here
//! rebuild them from the constants. Tag 0 is never valid, and every length and
//! offset is checked against the file before it is used.

mod bytes;
mod directory;
mod header;

pub use bytes::{Reader, Writer};
pub use directory::{Codec, SECTION_BYTES, SECTION_FIELDS, Section, SectionKind, UNIT_ROWS};
pub use header::{FORMAT_VERSION, HEADER_BYTES, HEADER_FIELDS, Header, MAGIC};

/// Most rows a block may hold.
pub const BLOCK_ROWS_MAX: usize = 1 << 20;

/// Rows that share one fine zone map.
pub const ZONE_ROWS: usize = 8192;

/// The checksum of every section, header and manifest.
pub fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// A checksum that also depends on where the bytes belong.
pub fn checksum_seeded(bytes: &[u8], seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytes, seed)
}

#[cfg(test)]
pub(crate) mod tests;
