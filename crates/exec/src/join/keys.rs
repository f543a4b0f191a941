//! Keys of both sides as integers, which are all that the table compares.
//!
//! A text becomes the number that the build side has given it, a float or truth value
//! its bits. The probe side looks texts up and gives no numbers, so that any number of
//! threads can ask at once.

use crate::interner::{Interner, hash_of};
use crate::kernels::hash_key;
use crate::keys::Keys;
use crate::plan::Join;
use crate::threads::on_items;
use crate::vector::{Kind, Values, Vector, same_array};
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Dictionaries of the probe side that are remembered: each thread may be at another.
const DICTIONARIES: usize = 16;
/// Stands for the number of an entry that was not looked up so far.
const UNKNOWN: i64 = -2;
/// Stands for the number of a text that the build side does not have.
const ABSENT: i64 = -1;
/// Rows whose words one thread makes at a time.
const PIECE: usize = 1 << 16;

/// What the keys of a join are, and the texts of the build side.
#[derive(Debug)]
pub(super) struct JoinKeys {
    kinds: Vec<Kind>,
    null_equal: bool,
    /// For each column, empty unless it is of text.
    texts: Vec<Texts>,
}

#[derive(Debug, Default)]
struct Texts {
    interner: Interner,
    /// Those of the probe side that were seen last, the newest at the end.
    dictionaries: Mutex<Vec<Arc<Dictionary>>>,
}

/// The numbers that the build side has given to the entries of a dictionary.
#[derive(Debug)]
struct Dictionary {
    entries: ArrayRef,
    /// Numbers over [`UNKNOWN`].
    numbers: Vec<AtomicU32>,
}

/// Keys as words.
pub(super) struct Words {
    /// One key after the other.
    pub words: ScalarBuffer<i64>,
    /// Words of a key.
    pub stride: usize,
    /// Which rows can have a partner; `None` when all can.
    pub able: Option<NullBuffer>,
}

impl Words {
    pub fn is_able(&self, row: usize) -> bool {
        self.able.as_ref().is_none_or(|able| able.is_valid(row))
    }
}

impl JoinKeys {
    pub fn new(join: &Join) -> JoinKeys {
        JoinKeys {
            kinds: kinds(join),
            null_equal: join.null_equal,
            texts: join.keys.iter().map(|_| Texts::default()).collect(),
        }
    }

    /// Bytes of memory that texts take.
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(|texts| texts.interner.memory()).sum()
    }

    /// Keys of the build side as integers; texts that are new are given numbers.
    ///
    /// # Errors
    /// `internal` for keys that are not of their kinds.
    pub fn number(&mut self, keys: Vec<Vector>) -> Result<Vec<Vector>> {
        let columns = self.kinds.iter().zip(&mut self.texts).zip(keys);
        let columns = columns.map(|((kind, texts), key)| {
            as_integers(*kind, key, |key| {
                let mut numbers = vec![0; key.len()];
                texts
                    .interner
                    .numbers(key, |row, number| numbers[row] = number)?;
                texts.interner.forget();
                Ok(numbers)
            })
        });
        columns.collect()
    }

    /// Keys of the probe side as integers.
    ///
    /// # Errors
    /// As [`JoinKeys::number`].
    pub fn look_up(&self, keys: Vec<Vector>) -> Result<Vec<Vector>> {
        let columns = self.kinds.iter().zip(&self.texts).zip(keys);
        let columns = columns
            .map(|((kind, texts), key)| as_integers(*kind, key, |key| Ok(texts.look_up(key))));
        columns.collect()
    }

    /// Words of keys that are integers.
    ///
    /// # Errors
    /// As [`JoinKeys::number`].
    pub fn words(&self, keys: &[Vector], rows: usize, threads: usize) -> Result<Words> {
        words_of(&self.kinds, keys, rows, (self.null_equal, threads))
    }
}

impl Texts {
    /// The numbers of texts, [`ABSENT`] where there is none; those of NULLs mean nothing.
    fn look_up(&self, vector: &Vector) -> Vec<i64> {
        match &vector.values {
            Values::Coded { codes, entries } => {
                let dictionary = self.dictionary(entries);
                let codes_of = |code: &u32| dictionary.number(*code);
                let mut numbers: Vec<i64> = codes.iter().map(codes_of).collect();
                let new = numbers.iter().enumerate();
                let new = new.filter(|(row, number)| **number == UNKNOWN && !vector.is_null(*row));
                let new: Vec<usize> = new.map(|(row, _)| row).collect();
                if !new.is_empty() {
                    dictionary.learn(&self.interner, new.iter().map(|row| codes[*row]));
                    for row in new {
                        numbers[row] = dictionary.number(codes[row]);
                    }
                }
                numbers
            }
            Values::Text(array) => {
                let text = array.as_string_view();
                let texts = (0..text.len()).map(|row| text.value(row).as_bytes());
                let found = self.interner.find_all(&texts.collect::<Vec<&[u8]>>());
                let found = found.into_iter();
                found.map(|n| n.map_or(ABSENT, i64::from)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What is known of a dictionary.
    fn dictionary(&self, entries: &ArrayRef) -> Arc<Dictionary> {
        let mut all = self.dictionaries.lock();
        let known = all.iter().rev();
        let mut known = known.filter(|known| same_array(&known.entries, entries));
        if let Some(known) = known.next() {
            return known.clone();
        }
        if all.len() == DICTIONARIES {
            all.remove(0);
        }
        let dictionary = Arc::new(Dictionary {
            entries: entries.clone(),
            numbers: (0..entries.len()).map(|_| AtomicU32::new(0)).collect(),
        });
        all.push(dictionary.clone());
        dictionary
    }
}

impl Dictionary {
    fn number(&self, code: u32) -> i64 {
        // A dictionary may be empty if all rows are NULL.
        let number = self.numbers.get(code as usize);
        number.map_or(ABSENT, |number| {
            i64::from(number.load(Ordering::Relaxed)) + UNKNOWN
        })
    }

    /// Looks entries up. Another thread may do the same: it finds the same.
    fn learn(&self, interner: &Interner, codes: impl Iterator<Item = u32>) {
        let mut codes: Vec<u32> = codes.collect();
        codes.sort_unstable();
        codes.dedup();
        let text = self.entries.as_string_view();
        let texts = codes.iter();
        let texts = texts.map(|code| text.value(*code as usize).as_bytes());
        let found = interner.find_all(&texts.collect::<Vec<&[u8]>>());
        for (code, number) in codes.into_iter().zip(found) {
            let number = number.map_or(ABSENT, i64::from) - UNKNOWN;
            // In range: texts are numbered like rows, in 32 bits.
            self.numbers[code as usize].store(number as u32, Ordering::Relaxed);
        }
    }
}

pub(super) fn kinds(join: &Join) -> Vec<Kind> {
    let kinds = join.keys.iter();
    kinds.map(|(_, _, kind)| Kind::of(kind)).collect()
}

/// Hashes of the keys of some rows of either side: equal keys have equal ones, whoever
/// has numbered their texts.
///
/// # Errors
/// As [`JoinKeys::number`].
pub(super) fn hashes(join: &Join, keys: Vec<Vector>, rows: usize) -> Result<Vec<u64>> {
    let kinds = kinds(join);
    let keys = kinds.iter().zip(keys);
    let keys = keys.map(|(kind, key)| as_integers(*kind, key, |key| Ok(text_hashes(key))));
    let keys = keys.collect::<Result<Vec<Vector>>>()?;
    let all = words_of(&kinds, &keys, rows, (join.null_equal, 1))?;
    Ok(all.words.chunks_exact(all.stride).map(hash_key).collect())
}

fn text_hashes(vector: &Vector) -> Vec<i64> {
    let hash = |text: &StringViewArray, row: usize| hash_of(text.value(row).as_bytes()) as i64;
    let of_entries = |text: &StringViewArray| -> Vec<i64> {
        (0..text.len()).map(|entry| hash(text, entry)).collect()
    };
    match &vector.values {
        Values::Coded { codes, entries } if entries.len() <= 2 * codes.len() => {
            let known = of_entries(entries.as_string_view());
            let codes = codes.iter();
            codes
                .map(|code| known.get(*code as usize).copied().unwrap_or(0))
                .collect()
        }
        Values::Coded { codes, entries } => {
            let text = entries.as_string_view();
            codes
                .iter()
                .map(|code| hash(text, *code as usize))
                .collect()
        }
        Values::Text(array) => of_entries(array.as_string_view()),
        _ => Vec::new(),
    }
}

/// A column of keys as integers; `texts` knows what texts become.
fn as_integers(
    kind: Kind,
    key: Vector,
    texts: impl FnOnce(&Vector) -> Result<Vec<i64>>,
) -> Result<Vector> {
    let words: Vec<i64> = match (kind, &key.values) {
        (Kind::Int, Values::Int(_)) | (Kind::Wide, Values::Int(_) | Values::Wide(_)) => {
            return Ok(key);
        }
        (Kind::Float, Values::Float(values)) => values.iter().map(|v| float_bits(*v)).collect(),
        (Kind::Bool, Values::Bool(bits)) => bits.iter().map(i64::from).collect(),
        (Kind::Text, Values::Text(_) | Values::Coded { .. }) => texts(&key)?,
        _ => return Err(Error::internal("a key that is not of its column's kind")),
    };
    Ok(Vector {
        values: Values::Int(words.into()),
        nulls: key.nulls,
    })
}

/// Bits that are the same for equal floats: both zeros, and NaNs of the same bits.
fn float_bits(value: f64) -> i64 {
    let bits = value.to_bits();
    if bits << 1 == 0 { 0 } else { bits as i64 }
}

/// Words of keys that are integers.
fn words_of(
    kinds: &[Kind],
    keys: &[Vector],
    rows: usize,
    (null_equal, threads): (bool, usize),
) -> Result<Words> {
    if let ([kind], [key], false) = (kinds, keys, null_equal)
        && let (true, Values::Int(values)) = (*kind != Kind::Wide, &key.values)
    {
        return Ok(Words {
            words: values.clone(),
            stride: 1,
            able: key.nulls.clone(),
        });
    }
    let kind = |kind: &Kind| match kind {
        Kind::Wide => Kind::Wide,
        _ => Kind::Int,
    };
    let kinds: Vec<Kind> = kinds.iter().map(kind).collect();
    let whole = || -> Result<Keys> {
        let mut all = Keys::new(&kinds)?;
        if null_equal {
            all.allow_nulls();
        }
        Ok(all)
    };
    let (stride, mut keys, mut able) = (whole()?.stride, keys.to_vec(), None);
    // Otherwise rows with a NULL have no partner, so that keys need no word for it.
    for key in keys.iter_mut().filter(|_| !null_equal) {
        able = NullBuffer::union(able.as_ref(), key.nulls.take().as_ref());
    }
    let mut words = vec![0; rows * stride];
    let pieces = words.chunks_mut(PIECE * stride).enumerate().collect();
    let outcomes = on_items(threads, pieces, |(number, words): (usize, &mut [i64])| {
        let rows = words.len() / stride;
        let keys = keys.iter().map(|key| key.slice(number * PIECE, rows));
        whole()?.write(&keys.collect::<Vec<Vector>>(), words)
    });
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(Words {
        words: words.into(),
        stride,
        able,
    })
}

#[cfg(test)]
mod tests;
