//! Identifiers: what the manifest, block headers and scans call things by.
//!
//! Identifiers are never reused within one database, so a stale reference can
//! be recognised instead of answering with another table's rows.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// Names one block of one database; also its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockId(pub u64);

/// Names one table of one database, whatever it is called now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableId(pub u64);

/// Names one sequence of one database; tables and sequences share their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SequenceId(pub u64);

/// Names one type that was created; types share their numbers with tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TypeId(pub u64);

impl TableId {
    /// In the declaration of a new table: the table itself.
    pub const ITSELF: TableId = TableId(u64::MAX);
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A map whose keys are identifiers.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Hashes identifiers by one multiplication for each number. They are the database's own, so that no
/// user can choose them to collide.
#[derive(Clone, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        // The upper bits are the well mixed ones.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}

/// Names one row of a table, as long as the row is not moved.
///
/// The two highest bits say where it lives: in a block (block number and row),
/// in the table's delta (the row's number there), or among the uncommitted rows
/// of the transaction that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u64);

/// A row's place, taken from its [`RowId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// A row of a block.
    Block(BlockId, u32),
    /// A row of the delta, by number.
    Delta(u64),
    /// An uncommitted row of one's own, by number.
    Own(u64),
}

/// Bits of a row's number within its block.
const ROW_BITS: u32 = 20;
const IN_DELTA: u64 = 1 << 63;
const OWN: u64 = 3 << 62;

impl RowId {
    /// A row of a block.
    pub fn in_block(block: BlockId, row: u32) -> RowId {
        RowId(block.0 << ROW_BITS | u64::from(row))
    }

    /// A row of the delta.
    pub fn in_delta(number: u64) -> RowId {
        RowId(IN_DELTA | number)
    }

    /// An uncommitted row.
    pub fn own(number: u64) -> RowId {
        RowId(OWN | number)
    }

    /// Where the row is.
    pub fn place(self) -> RowPlace {
        match self.0 >> 62 {
            0 | 1 => {
                let row = self.0 & ((1 << ROW_BITS) - 1);
                // In range: it has 20 bits.
                RowPlace::Block(BlockId(self.0 >> ROW_BITS), row as u32)
            }
            2 => RowPlace::Delta(self.0 & !OWN),
            _ => RowPlace::Own(self.0 & !OWN),
        }
    }
}
