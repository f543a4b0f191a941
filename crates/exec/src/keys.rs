//! Keys of groups and joins as 64-bit words.
//!
//! Every value of a key becomes one word, decimals of more than 18 digits two; text
//! becomes the number that an [`Interner`] gave it. Where any is NULL, a
//! last word has a bit for each column that is.

use crate::interner::Interner;
use crate::kernels::hash;
use crate::vector::{Batch, Kind, Values, Vector, narrowed};
use crate::{Error, Result};
use arrow_array::new_null_array;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

/// The columns of a key.
#[derive(Debug)]
pub(crate) struct Keys {
    kinds: Vec<Kind>,
    interners: Vec<Interner>,
    /// Words of a key.
    pub stride: usize,
    /// Place of the word of NULLs, if there is one.
    nulls: usize,
}

impl Keys {
    /// # Errors
    /// `internal` for kinds that cannot be keys.
    pub fn new(kinds: &[Kind]) -> Result<Keys> {
        let words = |kind: &Kind| match kind {
            Kind::Wide => Ok(2),
            Kind::Other => Err(Error::internal("a key of a type that cannot be one")),
            _ => Ok(1),
        };
        let nulls: usize = kinds.iter().map(words).sum::<Result<usize>>()?;
        Ok(Keys {
            interners: kinds.iter().map(|_| Interner::default()).collect(),
            kinds: kinds.to_vec(),
            // A key has one word at least.
            stride: nulls.max(1),
            nulls,
        })
    }

    /// Whether a key is one number that is the same in every table.
    pub fn is_one_number(&self) -> bool {
        self.kinds == [Kind::Int] && self.stride == 1
    }

    /// Bytes of memory that the texts take.
    pub fn bytes(&self) -> usize {
        self.interners.iter().map(Interner::memory).sum()
    }

    /// Whether keys have a word of NULLs.
    pub fn is_nullable(&self) -> bool {
        self.stride > self.nulls.max(1) || (self.nulls == 0 && self.kinds.is_empty())
    }

    /// From now on keys have a word of NULLs, at the end.
    pub fn allow_nulls(&mut self) {
        if !self.is_nullable() {
            self.stride += 1;
        }
    }

    /// Whether the column numbered `number` of a key is NULL.
    fn is_null(&self, key: &[i64], number: usize) -> bool {
        key.get(self.nulls)
            .is_some_and(|nulls| nulls >> number & 1 == 1)
    }

    /// The words of the key of each row, one key after the other.
    pub fn words(&mut self, columns: &[Vector], rows: usize) -> Result<Vec<i64>> {
        let stride = self.stride;
        if let ([Kind::Int], [only], 1) = (self.kinds.as_slice(), columns, stride)
            && let (Values::Int(values), None) = (&only.values, &only.nulls)
        {
            return Ok(values.to_vec());
        }
        if rows == 0 {
            return Ok(Vec::new());
        }
        let mut words = vec![0i64; rows * stride];
        self.write(columns, &mut words)?;
        Ok(words)
    }

    /// Writes the words of the key of each row, one key after the other, to where there
    /// are zeros.
    pub fn write(&mut self, columns: &[Vector], words: &mut [i64]) -> Result<()> {
        let (stride, mut place) = (self.stride, 0);
        let rows = words.len() / stride;
        for (number, (kind, vector)) in self.kinds.iter().zip(columns).enumerate() {
            let mut put = |row: usize, word: i64| words[row * stride + place] = word;
            match (kind, &vector.values) {
                (Kind::Int, Values::Int(values)) => {
                    let places = words[place..].iter_mut().step_by(stride);
                    places
                        .zip(values.iter())
                        .for_each(|(word, value)| *word = *value);
                }
                (Kind::Float, Values::Float(values)) => {
                    for (row, value) in values.iter().enumerate() {
                        // One zero, one NaN.
                        let value = if value.is_nan() {
                            f64::NAN
                        } else {
                            value + 0.0
                        };
                        put(row, value.to_bits() as i64);
                    }
                }
                (Kind::Bool, Values::Bool(bits)) => {
                    bits.iter()
                        .enumerate()
                        .for_each(|(row, bit)| put(row, i64::from(bit)));
                }
                (Kind::Wide, Values::Int(values)) => {
                    for (row, value) in values.iter().enumerate() {
                        words[row * stride + place] = *value;
                        words[row * stride + place + 1] = value >> 63;
                    }
                }
                (Kind::Wide, Values::Wide(values)) => {
                    for (row, value) in values.iter().enumerate() {
                        words[row * stride + place] = *value as i64;
                        words[row * stride + place + 1] = (value >> 64) as i64;
                    }
                }
                (Kind::Text, _) => self.interners[number].numbers(vector, put)?,
                _ => return Err(Error::internal("a key that is not of its column's kind")),
            }
            let width = if *kind == Kind::Wide { 2 } else { 1 };
            if let Some(nulls) = &vector.nulls {
                if !self.is_nullable() {
                    return Err(Error::internal("NULL in a key that has none"));
                }
                for row in (0..rows).filter(|row| nulls.is_null(*row)) {
                    words[row * stride + place..row * stride + place + width].fill(0);
                    words[row * stride + self.nulls] |= 1 << number;
                }
            }
            place += width;
        }
        Ok(())
    }

    /// Bits of a key that are the same whoever numbered its texts.
    pub fn content_hash(&self, key: &[i64]) -> u64 {
        let nulls = key.get(self.nulls).copied().unwrap_or(0);
        let (mut place, mut state) = (0, nulls as u64);
        for (number, kind) in self.kinds.iter().enumerate() {
            let interner = &self.interners[number];
            let null = self.is_null(key, number);
            let word = match kind {
                Kind::Text if !null => interner.hash(key[place] as usize) as i64,
                _ => key[place],
            };
            state = hash((state.rotate_left(7) ^ word as u64) as i64);
            place += if *kind == Kind::Wide { 2 } else { 1 };
        }
        state
    }

    /// A key of `other` in the words of this one.
    pub fn translated(&mut self, other: &Keys, key: &mut [i64]) {
        let mut place = 0;
        for (number, kind) in self.kinds.iter().enumerate() {
            let null = self.is_null(key, number);
            if *kind == Kind::Text && !null {
                let text = other.interners[number].text(key[place] as usize);
                key[place] = i64::from(self.interners[number].number(text));
            }
            place += if *kind == Kind::Wide { 2 } else { 1 };
        }
    }

    /// The columns of some keys.
    pub fn columns(&self, keys: &[i64]) -> Batch {
        let stride = self.stride;
        let rows = keys.len() / stride;
        let mut place = 0;
        let mut columns = Vec::with_capacity(self.kinds.len());
        for (number, kind) in self.kinds.iter().enumerate() {
            let word = |row: usize| keys[row * stride + place];
            let valid = |row: usize| !self.is_null(&keys[row * stride..(row + 1) * stride], number);
            let nulls = self
                .is_nullable()
                .then(|| NullBuffer::new(BooleanBuffer::collect_bool(rows, valid)));
            let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
            let values = match kind {
                Kind::Int => Values::Int((0..rows).map(word).collect::<Vec<i64>>().into()),
                Kind::Float => {
                    let floats = (0..rows).map(|row| f64::from_bits(word(row) as u64));
                    Values::Float(floats.collect::<Vec<f64>>().into())
                }
                Kind::Bool => Values::Bool(BooleanBuffer::collect_bool(rows, |row| word(row) == 1)),
                Kind::Wide => {
                    let high = |row: usize| keys[row * stride + place + 1];
                    let wide = |row| i128::from(high(row)) << 64 | i128::from(word(row) as u64);
                    narrowed(&(0..rows).map(wide).collect::<Vec<i128>>(), None)
                }
                Kind::Text | Kind::Other => match self.interners[number].texts() {
                    // NULLs have code 0, which must be one.
                    Some(entries) => {
                        let codes = (0..rows).map(|row| word(row) as u32);
                        Values::Coded {
                            codes: codes.collect::<Vec<u32>>().into(),
                            entries,
                        }
                    }
                    None => Values::Text(new_null_array(&DataType::Utf8View, rows)),
                },
            };
            columns.push(Vector { values, nulls });
            place += if *kind == Kind::Wide { 2 } else { 1 };
        }
        Batch { columns, rows }
    }
}
