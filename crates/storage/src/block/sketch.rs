//! How many different values: HyperLogLog, exact while there are few.
//!
//! Up to [`SPARSE_MAX`] different hashes are kept as they are; beyond that 1,024
//! registers estimate with a standard error of about 3 %. Sketches of blocks
//! merge into the table's (Flajolet et al., 2007; linear counting below 2.5 m).

use crate::codec::{Dense, DenseData};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer, checksum};

const REGISTERS: usize = 1024;
const REGISTER_BITS: u32 = 10;
/// Hashes kept before registers take over.
const SPARSE_MAX: usize = 64;

/// A distinct-count sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sketch {
    /// The hashes themselves, sorted.
    Sparse(Vec<u64>),
    /// Longest run of zeros seen, plus one, per register.
    Registers(Vec<u8>),
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch::Sparse(Vec::new())
    }
}

/// Spreads an integer over 64 bits (the finisher of MurmurHash3).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

impl Sketch {
    /// The sketch of one column's values, NULLs apart.
    pub fn of(column: &Dense) -> Sketch {
        let mut sketch = Sketch::default();
        let present = |row: usize| {
            column
                .nulls
                .as_ref()
                .is_none_or(|nulls| nulls.is_valid(row))
        };
        match &column.data {
            DenseData::Fixed { width, bytes } => {
                let values = bytes
                    .chunks_exact(*width)
                    .enumerate()
                    .filter(|(row, _)| present(*row));
                match width {
                    16 => values.for_each(|(_, value)| sketch.add(checksum(value))),
                    _ => values.for_each(|(_, value)| {
                        let mut word = [0; 8];
                        word[..value.len()].copy_from_slice(value);
                        sketch.add(mix(u64::from_le_bytes(word)));
                    }),
                }
            }
            DenseData::Variable { ends, bytes } => {
                let mut start = 0;
                for (row, end) in ends.iter().enumerate() {
                    if present(row) {
                        sketch.add(checksum(&bytes[start..*end as usize]));
                    }
                    start = *end as usize;
                }
            }
        }
        sketch
    }

    fn add(&mut self, hash: u64) {
        match self {
            Sketch::Registers(registers) => {
                let register = (hash >> (64 - REGISTER_BITS)) as usize;
                let zeros =
                    (hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1)).leading_zeros() as u8 + 1;
                registers[register] = registers[register].max(zeros);
            }
            Sketch::Sparse(hashes) => {
                let Err(place) = hashes.binary_search(&hash) else {
                    return;
                };
                hashes.insert(place, hash);
                if hashes.len() > SPARSE_MAX {
                    let hashes = std::mem::take(hashes);
                    *self = Sketch::Registers(vec![0; REGISTERS]);
                    hashes.into_iter().for_each(|hash| self.add(hash));
                }
            }
        }
    }

    /// Adds what `other` has seen.
    pub fn merge(&mut self, other: &Sketch) {
        match (&mut *self, other) {
            (_, Sketch::Sparse(hashes)) => hashes.iter().for_each(|hash| self.add(*hash)),
            (Sketch::Registers(mine), Sketch::Registers(theirs)) => {
                mine.iter_mut()
                    .zip(theirs)
                    .for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            }
            (Sketch::Sparse(mine), Sketch::Registers(theirs)) => {
                let mine = std::mem::take(mine);
                *self = Sketch::Registers(theirs.clone());
                mine.into_iter().for_each(|hash| self.add(hash));
            }
        }
    }

    /// About how many different values were added.
    pub fn estimate(&self) -> u64 {
        match self {
            Sketch::Sparse(hashes) => hashes.len() as u64,
            Sketch::Registers(registers) => {
                let count = REGISTERS as f64;
                let sum: f64 = registers
                    .iter()
                    .map(|zeros| (-f64::from(*zeros)).exp2())
                    .sum();
                let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
                let empty = registers.iter().filter(|zeros| **zeros == 0).count();
                let estimate = if raw <= 2.5 * count && empty > 0 {
                    count * (count / empty as f64).ln()
                } else {
                    raw
                };
                estimate.round() as u64
            }
        }
    }

    /// Appends the sketch.
    pub fn encode(&self, writer: &mut Writer) {
        match self {
            Sketch::Sparse(hashes) => {
                writer.u8(1);
                writer.u16(hashes.len() as u16);
                hashes.iter().for_each(|hash| writer.u64(*hash));
            }
            Sketch::Registers(registers) => {
                writer.u8(2);
                writer.put(registers);
            }
        }
    }

    /// Reads a sketch.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Sketch> {
        match reader.u8()? {
            1 => {
                let len = reader.u16()?;
                let mut hashes = (0..len)
                    .map(|_| reader.u64())
                    .collect::<Result<Vec<u64>>>()?;
                hashes.sort_unstable();
                hashes.dedup();
                Ok(Sketch::Sparse(hashes))
            }
            2 => Ok(Sketch::Registers(reader.take(REGISTERS)?.to_vec())),
            tag => Err(Error::corrupt(format!("unknown sketch tag {tag}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_close_and_merge() {
        for count in [0u64, 1, 64, 65, 1000, 50_000, 1_000_000] {
            let (mut low, mut high) = (Sketch::default(), Sketch::default());
            (0..count / 2 + count / 4).for_each(|n| low.add(mix(n + 1)));
            (count / 4..count).for_each(|n| high.add(mix(n + 1)));
            low.merge(&high);
            let error = (low.estimate() as f64 - count as f64).abs();
            assert!(error <= 0.12 * count as f64, "{count}: {}", low.estimate());
            let mut writer = Writer::default();
            low.encode(&mut writer);
            assert_eq!(
                Sketch::decode(&mut Reader::new(&writer.finish())).unwrap(),
                low
            );
        }
    }
}
