//! Values as unsigned integers that sort as the values do.
//!
//! An index compares *keys*: unsigned integers of at most 16 bytes. Every value
//! is first a string of bytes that sorts as the values do ([`normal`]): integers
//! big-endian with the sign bit flipped, floats likewise in IEEE total order,
//! text and bytes as they are. A *part* of a key stands for one column. It leaves
//! out the *prefix*, the bytes at the front that all values of the block share,
//! and *takes* as many of the bytes behind as the key has room for, short
//! strings filled up with zeros. The key is its parts, first column first.
//!
//! A part is *exact* if equal parts mean equal values. A key is exact if all its
//! parts are and no column was left out; otherwise what an index finds are
//! candidates, and key order is value order except among equal keys.
//!
//! Example: the BIGINTs 1000, 1001 and 1300 are `80 00 00 00 00 00 03 e8`, `… 03
//! e9` and `… 05 14`; the prefix is the first six bytes, two are taken, exact. The
//! texts `item-1`, `item-22` have the prefix `item-`, and two bytes `31 00` and
//! `32 32`. Keys of both columns take four bytes: `03 e8 31 00` for (1000, item-1).
//! A search for 7 finds that its first six bytes fit but for `item` that it ends
//! within the prefix: it lies below all values of the block.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 1 | parts |
//! | 1 | 1 | 1 if columns were left out, else 0 |
//! | 2 | … | for each part: |
//! | + 0 | 1 | kind: 1 boolean, 2 to 5 integer of 2, 4, 8, 16 bytes, 6 and 7 float of 4 and 8, 8 sixteen bytes, 9 text or bytes |
//! | + 1 | 1 | 0 inexact, 1 exact, 2 exact and filled up with zeros |
//! | + 2 | 1 | bytes taken, 0 to 16 |
//! | + 3 | 2 | bytes of the prefix |
//! | + 5 | … | the prefix |

mod build;
pub mod normal;
mod part;
mod search;

pub use build::RawColumn;
pub use part::{Exactness, KeyKind, KeyPart};
pub use search::{KeyInterval, Place};

use super::{KeyWidth, NODE_BYTES, must};
use crate::error::Result;
use crate::format::{Reader, Writer};
use arrow_buffer::Buffer;

/// Most bytes of a key.
pub const KEY_BYTES_MAX: usize = 16;

const NAME: &str = "key shape";

/// How the values of some columns of one block become keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyShape {
    parts: Vec<KeyPart>,
    columns_left_out: bool,
}

impl KeyShape {
    /// The parts, first column first; columns without room have none.
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Whether equal keys mean equal values in all columns.
    pub fn exact(&self) -> bool {
        !self.columns_left_out && self.parts.iter().all(KeyPart::exact)
    }

    /// The narrowest integers that hold the keys.
    pub fn width(&self) -> KeyWidth {
        let taken = self.parts.iter().map(|part| usize::from(part.taken));
        KeyWidth::holding(taken.sum())
    }

    /// Appends the shape.
    pub fn encode(&self, writer: &mut Writer) {
        writer.u8(self.parts.len() as u8);
        writer.u8(u8::from(self.columns_left_out));
        for part in &self.parts {
            part.encode(writer);
        }
    }

    /// Reads a shape and checks it.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<KeyShape> {
        let len = reader.u8()?;
        let left_out = reader.u8()?;
        must(left_out <= 1, NAME, "unknown flag")?;
        let parts: Vec<KeyPart> = (0..len)
            .map(|_| KeyPart::decode(reader))
            .collect::<Result<_>>()?;
        let taken: usize = parts.iter().map(|part| usize::from(part.taken)).sum();
        must(taken <= KEY_BYTES_MAX, NAME, "keys of over 16 bytes")?;
        let columns_left_out = left_out == 1;
        Ok(KeyShape {
            parts,
            columns_left_out,
        })
    }

    /// The shape and an index built with it as one section: length of the shape
    /// in four bytes, the shape, zeros up to a cache line, the index.
    pub fn seal(&self, index: &[u8]) -> Vec<u8> {
        let mut shape = Writer::default();
        self.encode(&mut shape);
        let mut writer = Writer::default();
        writer.u32(shape.len() as u32);
        writer.put(&shape.finish());
        let padding = writer.len().next_multiple_of(NODE_BYTES) - writer.len();
        writer.put(&[0; NODE_BYTES][..padding]);
        writer.put(index);
        writer.finish()
    }

    /// Takes apart what [`KeyShape::seal`] put together.
    ///
    /// # Errors
    /// `Corrupt`; the index is not looked at.
    pub fn unseal(section: &Buffer) -> Result<(KeyShape, Buffer)> {
        let mut reader = Reader::new(section);
        let len = reader.u32()? as usize;
        let mut bytes = Reader::new(reader.take(len)?);
        let shape = KeyShape::decode(&mut bytes)?;
        must(bytes.remaining() == 0, NAME, "bytes after the last part")?;
        let start = (4 + len).next_multiple_of(NODE_BYTES);
        let zero = reader.take(start - 4 - len)?.iter().all(|byte| *byte == 0);
        must(zero, NAME, "padding in use")?;
        Ok((shape, section.slice(start)))
    }
}
