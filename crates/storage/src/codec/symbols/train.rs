//! Learning the symbols of a block from a sample of its values.
//!
//! The sample is coded with the symbols known so far, from the left and
//! longest first; when two symbols have followed each other often enough,
//! they become one, from that place on. So symbols grow along with the text and
//! fit together, which makes a better table than rounds that count all pairs
//! first and then choose: those choose `ab` and `bc` for one `abc`.
//!
//! A narrow table fills up with what came early. So it is made in two passes:
//! after the first the sample is coded again, symbols that were hardly
//! used (mostly halves of longer ones) leave, and their places are given away
//! in a second pass. A wide table does not fill up; one pass is enough.

use super::matcher::{Matcher, walk};
use super::table::SymbolTable;
use super::{BYTE_SYMBOLS, MAX_SYMBOL};

/// Bytes of sample that are looked at.
const SAMPLE_BYTES: usize = 1 << 20;
/// Bytes of one value that are looked at.
const VALUE_BYTES: usize = 4 << 10;

/// How often a pair must be met in each pass to become a symbol, and how often
/// a symbol must be used to stay between passes.
struct Thresholds {
    join: &'static [u32],
    keep: u32,
}

pub(super) fn train(sample: &[&[u8]], code_bits: u8) -> SymbolTable {
    assert!(matches!(code_bits, 12 | 16), "codes are of 12 or 16 bits");
    let sample = Sample::take(sample);
    let bytes = sample.bytes.len();
    let thresholds = match code_bits {
        12 if bytes > SAMPLE_BYTES / 4 => Thresholds {
            join: &[4, 3],
            keep: 4,
        },
        12 => Thresholds {
            join: &[3, 2],
            keep: 2,
        },
        _ => Thresholds {
            join: &[2],
            keep: 0,
        },
    };
    // A small sample cannot fill a wide table; smaller look-up tables are faster.
    let capacity = (1 << code_bits).min((bytes / 16).max(1 << 12));
    let mut matcher = Matcher::new(capacity);
    for (pass, &threshold) in thresholds.join.iter().enumerate() {
        if pass > 0 {
            matcher = pruned(&matcher, &sample, thresholds.keep, capacity);
        }
        let mut pairs = PairCounts::new(bytes);
        for value in sample.values() {
            if matcher.len() == capacity {
                break;
            }
            join_pairs(&mut matcher, &mut pairs, value, threshold, capacity);
        }
    }
    SymbolTable::from_symbols(&matcher, code_bits)
}

/// Values one after the other, as they are gone over several times.
struct Sample {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Sample {
    /// Takes values in a random but repeatable order until they are enough.
    fn take(values: &[&[u8]]) -> Sample {
        let mut sample = Sample {
            bytes: Vec::with_capacity(SAMPLE_BYTES + VALUE_BYTES),
            ends: Vec::new(),
        };
        let mut places: Vec<usize> = (0..values.len()).collect();
        let mut state = 0x853C_49E6_748F_EA9B_u64;
        for at in 0..places.len() {
            if sample.bytes.len() >= SAMPLE_BYTES {
                break;
            }
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            places.swap(at, at + (state % (values.len() - at) as u64) as usize);
            let value = values[places[at]];
            let head = &value[..value.len().min(VALUE_BYTES)];
            sample.bytes.extend_from_slice(head);
            sample.ends.push(sample.bytes.len());
        }
        sample
    }

    fn values(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let value = &self.bytes[start..end];
            start = end;
            value
        })
    }
}

/// Codes one value, making a symbol of every pair that was met often enough.
fn join_pairs(
    matcher: &mut Matcher,
    pairs: &mut PairCounts,
    value: &[u8],
    threshold: u32,
    capacity: usize,
) {
    // Code, bytes and length of the symbol before; at first one that joins with none.
    let mut before = (0, 0, MAX_SYMBOL);
    walk(value, |window, allowed| {
        let (code, length) = matcher.longest(window, allowed);
        let (left, bytes, left_length) = before;
        before = (code, window, length);
        let joined_length = left_length + length;
        if joined_length <= MAX_SYMBOL && pairs.add(left, code) >= threshold {
            pairs.clear(left, code);
            let shift = 8 * left_length;
            let joined = bytes & ((1 << shift) - 1) | window << shift;
            if matcher.len() < capacity && matcher.exact(joined, joined_length).is_none() {
                before = (matcher.push(joined, joined_length), joined, joined_length);
            }
        }
        length
    });
}

/// The symbols that are used at least `keep` times in coding the sample.
fn pruned(matcher: &Matcher, sample: &Sample, keep: u32, capacity: usize) -> Matcher {
    let mut used = vec![0_u32; matcher.len()];
    for value in sample.values() {
        walk(value, |window, allowed| {
            let (code, length) = matcher.longest(window, allowed);
            used[usize::from(code)] += 1;
            length
        });
    }
    let mut kept = Matcher::new(capacity);
    for code in (BYTE_SYMBOLS..matcher.len()).filter(|&code| used[code] >= keep) {
        let (bytes, length) = matcher.symbol(code);
        kept.push(bytes, length);
    }
    kept
}

/// How often pairs of codes were met. Where many pairs share a neighbourhood the
/// newest takes the place of another, whose count is lost: a frequent pair comes again.
struct PairCounts {
    /// The pair above 32 bits of count; 0 is free.
    entries: Box<[u64]>,
    shift: u32,
}

impl PairCounts {
    const PROBES: usize = 8;

    /// Sized for a sample of `bytes`, within what stays near the processor.
    fn new(bytes: usize) -> PairCounts {
        let size = (bytes / 8).next_power_of_two().clamp(1 << 12, 1 << 17);
        PairCounts {
            entries: vec![0; size].into_boxed_slice(),
            shift: 64 - size.trailing_zeros(),
        }
    }

    /// Where the pair is, or else where it should go.
    #[inline(always)]
    fn place(&self, pair: u64) -> usize {
        let start = (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        let mut place = start;
        for probe in 0..Self::PROBES {
            place = (start + probe) & (self.entries.len() - 1);
            let entry = self.entries[place];
            if entry >> 32 == pair || entry == 0 {
                break;
            }
        }
        place
    }

    /// Counts a pair once more and gives the count.
    #[inline(always)]
    fn add(&mut self, left: u16, right: u16) -> u32 {
        let pair = u64::from(left) << 16 | u64::from(right);
        let place = self.place(pair);
        let entry = &mut self.entries[place];
        if *entry >> 32 != pair {
            *entry = pair << 32;
        }
        *entry += 1;
        *entry as u32
    }

    /// Sets the count of a pair that was just met to nothing.
    fn clear(&mut self, left: u16, right: u16) {
        let pair = u64::from(left) << 16 | u64::from(right);
        let place = self.place(pair);
        self.entries[place] = pair << 32;
    }
}
