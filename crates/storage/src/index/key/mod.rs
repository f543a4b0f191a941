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
mod search;

pub use build::RawColumn;
pub use search::{KeyInterval, Place};

use super::{KeyWidth, NODE_BYTES, must};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer};
use crate::schema::Physical;
use arrow_buffer::Buffer;

/// Most bytes of a key.
pub const KEY_BYTES_MAX: usize = 16;

const NAME: &str = "key shape";

/// What a part is made of; numbers as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyKind {
    /// A boolean.
    Bool = 1,
    /// A signed integer of 2 bytes.
    I16 = 2,
    /// A signed integer of 4 bytes.
    I32 = 3,
    /// A signed integer of 8 bytes.
    I64 = 4,
    /// A signed integer of 16 bytes.
    I128 = 5,
    /// A float of 4 bytes.
    F32 = 6,
    /// A float of 8 bytes.
    F64 = 7,
    /// Sixteen bytes.
    Bytes16 = 8,
    /// Any number of bytes.
    Bytes = 9,
}

const KINDS: [KeyKind; 9] = [
    KeyKind::Bool,
    KeyKind::I16,
    KeyKind::I32,
    KeyKind::I64,
    KeyKind::I128,
    KeyKind::F32,
    KeyKind::F64,
    KeyKind::Bytes16,
    KeyKind::Bytes,
];

impl KeyKind {
    /// The kind for values stored so; intervals have no order that keys could keep.
    pub fn of(physical: Physical) -> Option<KeyKind> {
        Some(match physical {
            Physical::Bool => KeyKind::Bool,
            Physical::I16 => KeyKind::I16,
            Physical::I32 => KeyKind::I32,
            Physical::I64 => KeyKind::I64,
            Physical::I128 => KeyKind::I128,
            Physical::F32 => KeyKind::F32,
            Physical::F64 => KeyKind::F64,
            Physical::Bytes16 => KeyKind::Bytes16,
            Physical::Bytes { .. } => KeyKind::Bytes,
            Physical::Interval => return None,
        })
    }

    /// Bytes of a normalised value, unless they vary.
    pub fn bytes(self) -> Option<usize> {
        match self {
            KeyKind::Bool => Some(1),
            KeyKind::I16 => Some(2),
            KeyKind::I32 | KeyKind::F32 => Some(4),
            KeyKind::I64 | KeyKind::F64 => Some(8),
            KeyKind::I128 | KeyKind::Bytes16 => Some(16),
            KeyKind::Bytes => None,
        }
    }
}

/// What equal parts of two keys say about the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exactness {
    /// Nothing: bytes were cut off.
    Inexact = 0,
    /// They are equal, and all values have the same number of bytes.
    Exact = 1,
    /// They are equal: values differ in length, but none ends in a zero byte
    /// behind the prefix, so that filling up with zeros mixes up none.
    Filled = 2,
}

/// How one column's values become bytes of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// What the values are.
    pub kind: KeyKind,
    /// Whether equal parts mean equal values.
    pub exactness: Exactness,
    /// Bytes in the key.
    pub taken: u8,
    /// The front bytes all values share.
    pub prefix: Vec<u8>,
}

impl KeyPart {
    /// Whether equal parts mean equal values.
    pub fn exact(&self) -> bool {
        self.exactness != Exactness::Inexact
    }

    /// Bits in the key.
    fn bits(&self) -> u32 {
        8 * u32::from(self.taken)
    }

    /// The largest part.
    fn largest(&self) -> u128 {
        u128::MAX.unbounded_shr(128 - self.bits())
    }

    /// Whether [`KeyShape::of`] could have made this.
    fn check(&self) -> Result<()> {
        if let Some(bytes) = self.kind.bytes() {
            let used = self.prefix.len() + usize::from(self.taken);
            must(used <= bytes, NAME, "more bytes than a value has")?;
            let exactness = match used == bytes {
                true => Exactness::Exact,
                false => Exactness::Inexact,
            };
            must(self.exactness == exactness, NAME, "wrong exactness")?;
        }
        Ok(())
    }
}

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
            writer.u8(part.kind as u8);
            writer.u8(part.exactness as u8);
            writer.u8(part.taken);
            writer.u16(part.prefix.len() as u16);
            writer.put(&part.prefix);
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
            .map(|_| decode_part(reader))
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

fn decode_part(reader: &mut Reader<'_>) -> Result<KeyPart> {
    let kind = usize::from(reader.u8()?);
    let kind = kind.checked_sub(1).and_then(|place| KINDS.get(place));
    let kind = *kind.ok_or_else(|| Error::corrupt("key shape: unknown kind"))?;
    let exactness = match reader.u8()? {
        0 => Exactness::Inexact,
        1 => Exactness::Exact,
        2 => Exactness::Filled,
        _ => return Err(Error::corrupt("key shape: unknown exactness")),
    };
    let taken = reader.u8()?;
    let prefix = usize::from(reader.u16()?);
    let prefix = reader.take(prefix)?.to_vec();
    let part = KeyPart {
        kind,
        exactness,
        taken,
        prefix,
    };
    must(usize::from(taken) <= KEY_BYTES_MAX, NAME, "part too wide")?;
    part.check()?;
    Ok(part)
}
