//! ALP: floats that are decimals in disguise, as integers (Afroozeh et al., 2023).
//!
//! One pair of exponents for the block: `integer = round(value · 10^e · 10^-f)`,
//! and back by the same two factors. A value that does not come back bit by bit
//! is an exception, kept beside with its row.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | e |
//! | 1 | 1 | f |
//! | 2 | 2 | zero |
//! | 4 | 4 | exceptions |
//! | 8 | 4 × exceptions | their rows, ascending |
//! | | 8 × exceptions | their values, as 64-bit floats |

use super::encode::spread;
use super::{Dense, DenseData};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer};
use crate::schema::Physical;

const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];
const INVERSES: [f64; 19] = [
    1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14,
    1e-15, 1e-16, 1e-17, 1e-18,
];
/// Integers beyond this are not exact as floats.
const LARGEST: f64 = (1i64 << 52) as f64;
/// Values that the exponents are chosen from.
const SAMPLE: usize = 256;

/// The exponents of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exponents {
    e: usize,
    f: usize,
}

impl Exponents {
    fn encode(self, value: f64) -> Option<i64> {
        let scaled = value * POWERS[self.e] * INVERSES[self.f];
        (scaled.abs() < LARGEST).then(|| scaled.round_ties_even() as i64)
    }

    fn decode(self, integer: i64) -> f64 {
        integer as f64 * POWERS[self.f] * INVERSES[self.e]
    }
}

/// Whether `value` comes back from `integer`, at the width it is stored in.
fn same(value: f64, back: f64, single: bool) -> bool {
    if single {
        (value as f32).to_bits() == (back as f32).to_bits()
    } else {
        value.to_bits() == back.to_bits()
    }
}

/// The values as 64-bit floats.
fn floats(column: &Dense, physical: Physical) -> Option<Vec<f64>> {
    let DenseData::Fixed { bytes, .. } = &column.data else {
        return None;
    };
    match physical {
        Physical::F32 => Some(
            bytes
                .typed_data::<f32>()
                .iter()
                .map(|value| f64::from(*value))
                .collect(),
        ),
        Physical::F64 => Some(bytes.typed_data::<f64>().to_vec()),
        _ => None,
    }
}

/// The codebook and one integer for each row; `None` when too few values are decimals.
pub fn build(column: &Dense, physical: Physical) -> Option<(Vec<u8>, Vec<i64>)> {
    let values = floats(column, physical)?;
    let single = physical == Physical::F32;
    let present = |row: usize| {
        column
            .nulls
            .as_ref()
            .is_none_or(|nulls| nulls.is_valid(row))
    };
    let rows = spread(values.len(), SAMPLE);
    let sample: Vec<f64> = rows
        .filter(|row| present(*row))
        .map(|row| values[row])
        .collect();
    let exponents = choose(&sample, single)?;
    let (mut integers, mut exceptions) = (Vec::with_capacity(values.len()), Vec::new());
    let mut last = 0;
    for (row, value) in values.iter().enumerate().map(|(row, value)| (row, *value)) {
        if present(row) {
            match exponents
                .encode(value)
                .filter(|integer| same(value, exponents.decode(*integer), single))
            {
                Some(integer) => last = integer,
                None => exceptions.push((row as u32, value)),
            }
        }
        integers.push(last);
    }
    if exceptions.len() > values.len() / 4 {
        return None;
    }
    let mut writer = Writer::default();
    writer.u8(exponents.e as u8);
    writer.u8(exponents.f as u8);
    writer.u16(0);
    writer.u32(exceptions.len() as u32);
    exceptions.iter().for_each(|(row, _)| writer.u32(*row));
    exceptions
        .iter()
        .for_each(|(_, value)| writer.u64(value.to_bits()));
    Some((writer.finish(), integers))
}

/// The exponents with the smallest integers among those with the fewest exceptions.
fn choose(sample: &[f64], single: bool) -> Option<Exponents> {
    let mut best: Option<(f64, Exponents)> = None;
    for e in (0..POWERS.len()).rev() {
        for f in (0..=e).rev() {
            let exponents = Exponents { e, f };
            let (mut low, mut high, mut lost) = (i64::MAX, i64::MIN, 0usize);
            for value in sample {
                match exponents
                    .encode(*value)
                    .filter(|integer| same(*value, exponents.decode(*integer), single))
                {
                    Some(integer) => (low, high) = (low.min(integer), high.max(integer)),
                    None => lost += 1,
                }
            }
            let width = if low > high {
                0
            } else {
                64 - (high.wrapping_sub(low) as u64).leading_zeros()
            };
            let bits = f64::from(width) * sample.len() as f64 + 96.0 * lost as f64;
            if best.is_none_or(|(known, _)| bits < known) {
                best = Some((bits, exponents));
            }
        }
    }
    let stored = if single { 32.0 } else { 64.0 };
    best.filter(|(bits, _)| *bits < 0.9 * stored * sample.len() as f64)
        .map(|(_, exponents)| exponents)
}

/// Exponents and exceptions, opened.
#[derive(Debug)]
pub struct Alp {
    exponents: Exponents,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Alp {
    /// Checks exponents and the rows of exceptions.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(bytes: &[u8], rows: usize) -> Result<Alp> {
        let mut reader = Reader::new(bytes);
        let (e, f, _) = (
            usize::from(reader.u8()?),
            usize::from(reader.u8()?),
            reader.u16()?,
        );
        let count = reader.u32()? as usize;
        if f > e || e >= POWERS.len() || count > rows || reader.remaining() != 12 * count {
            return Err(Error::corrupt(format!(
                "exponents {e} and {f} with {count} exceptions in {} bytes",
                bytes.len()
            )));
        }
        let places = (0..count)
            .map(|_| reader.u32())
            .collect::<Result<Vec<u32>>>()?;
        let ascending = places.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || places.last().is_some_and(|row| *row as usize >= rows) {
            return Err(Error::corrupt(
                "the rows of exceptions do not ascend within the block",
            ));
        }
        let values = (0..count)
            .map(|_| reader.u64().map(f64::from_bits))
            .collect::<Result<Vec<f64>>>()?;
        Ok(Alp {
            exponents: Exponents { e, f },
            rows: places,
            values,
        })
    }

    /// The value of one integer, which belongs to `row`.
    pub fn value(&self, integer: i64, row: u32) -> f64 {
        match self.rows.binary_search(&row) {
            Ok(exception) => self.values[exception],
            Err(_) => self.exponents.decode(integer),
        }
    }

    /// The values of `integers`, which belong to ascending `rows`.
    pub fn decode(&self, integers: &[i64], rows: impl Iterator<Item = u32> + Clone) -> Vec<f64> {
        let mut values: Vec<f64> = integers
            .iter()
            .map(|integer| self.exponents.decode(*integer))
            .collect();
        let Some(first) = rows.clone().next().filter(|_| !self.rows.is_empty()) else {
            return values;
        };
        let mut exceptions = self.rows.partition_point(|row| *row < first);
        for (value, row) in values.iter_mut().zip(rows) {
            while self
                .rows
                .get(exceptions)
                .is_some_and(|exception| *exception < row)
            {
                exceptions += 1;
            }
            match self.rows.get(exceptions) {
                None => break,
                Some(exception) if *exception == row => *value = self.values[exceptions],
                Some(_) => {}
            }
        }
        values
    }
}
