//! One column's part of a key.

use super::{KEY_BYTES_MAX, NAME};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer};
use crate::index::must;
use crate::schema::Physical;

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
    pub(super) fn bits(&self) -> u32 {
        8 * u32::from(self.taken)
    }

    /// The largest part.
    pub(super) fn largest(&self) -> u128 {
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

    /// Appends the part.
    pub(super) fn encode(&self, writer: &mut Writer) {
        writer.u8(self.kind as u8);
        writer.u8(self.exactness as u8);
        writer.u8(self.taken);
        writer.u16(self.prefix.len() as u16);
        writer.put(&self.prefix);
    }

    /// Reads a part and checks it.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<KeyPart> {
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
}
