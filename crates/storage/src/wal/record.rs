//! The bytes of a segment's head and of a record.

use crate::error::{Error, Result};
use crate::format::{Reader, Writer, checksum};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// First bytes of every segment.
const MAGIC: &[u8; 8] = b"FREESTWL";
/// Version of segments.
const VERSION: u16 = 1;
/// Bytes of a segment's head; the first record follows.
pub(super) const HEAD_BYTES: u64 = 64;
/// Bytes of a record before its payload.
pub(super) const RECORD_HEAD_BYTES: usize = 32;
/// Records begin at multiples of so many bytes.
pub(super) const RECORD_ALIGNMENT: u64 = 8;

/// `(offset, bytes, field)` of a segment's head.
#[cfg(test)]
pub(super) const HEAD_FIELDS: &[(usize, usize, &str)] = &[
    (0, 8, "magic `FREESTWL`"),
    (8, 2, "format version, 1"),
    (10, 6, "zero"),
    (16, 8, "segment number"),
    (
        24,
        8,
        "offset at which the records of the segment before end, 0 for none",
    ),
    (32, 8, "newest timestamp before this segment"),
    (40, 16, "zero"),
    (56, 8, "checksum of bytes 0..56"),
];

/// `(offset, bytes, field)` of a record before its payload.
#[cfg(test)]
pub(super) const RECORD_FIELDS: &[(usize, usize, &str)] = &[
    (0, 4, "bytes of the payload"),
    (
        4,
        4,
        "check of the other fields, low half of their checksum",
    ),
    (8, 8, "timestamp, greater than that of the record before"),
    (
        16,
        8,
        "newest timestamp in the log that was durable when this record was appended",
    ),
    (
        24,
        8,
        "checksum of the payload, seeded with the three fields above",
    ),
];

/// What a segment says about itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    pub(super) number: u64,
    /// Offset at which the records of the segment before end, 0 for none.
    pub(super) previous_end: u64,
    /// Newest timestamp before this segment.
    pub(super) previous_newest: u64,
}

impl Head {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(MAGIC);
        writer.u16(VERSION);
        writer.put(&[0; 6]);
        writer.u64(self.number);
        writer.u64(self.previous_end);
        writer.u64(self.previous_newest);
        writer.put(&[0; 16]);
        let mut bytes = writer.finish();
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the head of segment `number`.
    pub(super) fn decode(bytes: &[u8], number: u64) -> Result<Head> {
        let mut reader = Reader::new(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(Error::corrupt(
                "this is no log segment: it does not begin with FREESTWL",
            ));
        }
        let version = reader.u16()?;
        reader.take(6)?;
        let head = Head {
            number: reader.u64()?,
            previous_end: reader.u64()?,
            previous_newest: reader.u64()?,
        };
        reader.take(16)?;
        let sealed = bytes.get(..HEAD_BYTES as usize - 8).map(checksum);
        if Some(reader.u64()?) != sealed {
            return Err(Error::corrupt("checksum mismatch"));
        }
        if version != VERSION {
            return Err(Error::corrupt(format!(
                "segment version {version}; this program reads {VERSION}"
            )));
        }
        match head.number == number {
            true => Ok(head),
            false => Err(Error::corrupt(format!(
                "it calls itself segment {}",
                head.number
            ))),
        }
    }
}

/// Where a record begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) segment: u64,
    pub(super) offset: u64,
}

impl Place {
    fn seed(self) -> u64 {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.segment.to_le_bytes());
        bytes[8..].copy_from_slice(&self.offset.to_le_bytes());
        xxh3_64(&bytes)
    }
}

/// The fields before the payload; those of a whole record, if its payload is whole too.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordHead {
    pub(super) payload_bytes: u32,
    pub(super) timestamp: u64,
    pub(super) durable: u64,
    payload_checksum: u64,
}

/// A whole record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) timestamp: u64,
    pub(super) durable: u64,
    pub(super) payload: &'a [u8],
    /// Bytes from its beginning to the next record.
    pub(super) bytes: u64,
}

/// Bytes of a record with its head and the zeros that follow.
///
/// # Errors
/// 54000 if the payload is too long for a record.
pub(super) fn record_bytes(payload_bytes: usize) -> Result<u64> {
    match u32::try_from(payload_bytes) {
        Ok(payload_bytes) => Ok(aligned_bytes(payload_bytes)),
        Err(_) => Err(Error::invalid(
            "54000",
            format!(
                "the changes of this transaction take {payload_bytes} bytes of log; {} are allowed",
                u32::MAX
            ),
        )
        .with_hint("Commit in smaller parts.")),
    }
}

fn aligned_bytes(payload_bytes: u32) -> u64 {
    (RECORD_HEAD_BYTES as u64 + u64::from(payload_bytes)).next_multiple_of(RECORD_ALIGNMENT)
}

impl RecordHead {
    /// The fields, with `check` in its place.
    fn encode(&self, check: u32) -> [u8; RECORD_HEAD_BYTES] {
        let mut bytes = [0; RECORD_HEAD_BYTES];
        bytes[0..4].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[4..8].copy_from_slice(&check.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.timestamp.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.durable.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.payload_checksum.to_le_bytes());
        bytes
    }

    fn check(&self, seed: u64) -> u32 {
        xxh3_64_with_seed(&self.encode(0), seed) as u32
    }

    fn sum(&self, payload: &[u8], seed: u64) -> u64 {
        let fields = xxh3_64_with_seed(&self.encode(0)[..24], seed);
        xxh3_64_with_seed(payload, fields)
    }

    /// The head of the record that begins with `bytes`, if one does.
    pub(super) fn decode(bytes: &[u8], place: Place) -> Option<RecordHead> {
        let mut reader = Reader::new(bytes.get(..RECORD_HEAD_BYTES)?);
        let (payload_bytes, check) = (reader.u32().ok()?, reader.u32().ok()?);
        let head = RecordHead {
            payload_bytes,
            timestamp: reader.u64().ok()?,
            durable: reader.u64().ok()?,
            payload_checksum: reader.u64().ok()?,
        };
        // Rules out zeros and most other bytes without a checksum.
        let plausible = head.durable < head.timestamp;
        (plausible && head.check(place.seed()) == check).then_some(head)
    }

    /// Bytes from the record's beginning to the next record.
    pub(super) fn bytes(&self) -> u64 {
        aligned_bytes(self.payload_bytes)
    }

    /// The record that begins with `bytes`, if it is whole.
    pub(super) fn record<'a>(&self, bytes: &'a [u8], place: Place) -> Option<Record<'a>> {
        let end = RECORD_HEAD_BYTES.checked_add(self.payload_bytes as usize)?;
        let payload = bytes.get(RECORD_HEAD_BYTES..end)?;
        (self.sum(payload, place.seed()) == self.payload_checksum).then_some(Record {
            timestamp: self.timestamp,
            durable: self.durable,
            payload,
            bytes: self.bytes(),
        })
    }
}

impl<'a> Record<'a> {
    /// The record that begins with `bytes`, if there is a whole one.
    pub(super) fn decode(bytes: &'a [u8], place: Place) -> Option<Record<'a>> {
        RecordHead::decode(bytes, place)?.record(bytes, place)
    }

    /// Appends a record that will stand at `place` to `buffer`; its payload has
    /// a length that [`record_bytes`] allows.
    pub(super) fn encode(
        place: Place,
        (timestamp, durable): (u64, u64),
        payload: &[u8],
        buffer: &mut Vec<u8>,
    ) {
        let mut head = RecordHead {
            payload_bytes: payload.len() as u32,
            timestamp,
            durable,
            payload_checksum: 0,
        };
        let seed = place.seed();
        head.payload_checksum = head.sum(payload, seed);
        let end = buffer.len() + head.bytes() as usize;
        buffer.extend_from_slice(&head.encode(head.check(seed)));
        buffer.extend_from_slice(payload);
        buffer.resize(end, 0);
    }
}
