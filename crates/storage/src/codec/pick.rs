//! Which codec a column gets: estimates from a sample, then a choice.
//!
//! The estimator knows nothing of the codecs' bytes, only what drives their
//! size: bits of the range, of the steps, runs, distinct values. The picker
//! weighs bytes against what reading costs, by the table's target:
//!
//! | target | picks |
//! |---|---|
//! | `auto` | the smallest, but delta and runs only when they save a fifth, and never in tuples and pages |
//! | `fast` | the smallest of those that compare and fetch single values fastest |
//! | `small` | the smallest |
//! | `none` | plain |
//! | a name | that codec where it can hold the column, else as `auto` |

use super::bits::{CHUNK, lane_bits, width_for};
use super::encode::{Codes, Encoded, encode, encode_symbols, integers, sample, trained};
use super::{Dense, DenseData, dictionary};
use crate::format::Codec;
use crate::schema::{CodecChoice, CodecName, Layout, Physical};
use std::collections::HashSet;

/// Chunks that integers are judged by.
const SAMPLE_CHUNKS: usize = 32;
/// Bytes of text that estimates look at.
const SAMPLE_BYTES: usize = 128 << 10;
/// Distinct values up to which a dictionary is taken without looking further.
const FEW_ENTRIES: usize = 256;

/// Encodes `column` as `choice` asks, for a block of `layout`.
pub fn pick(column: &Dense, physical: Physical, choice: CodecChoice, layout: Layout) -> Encoded {
    let picked = match choice {
        CodecChoice::None => None,
        CodecChoice::Named(name) => encode(column, physical, tag(name))
            .or_else(|| automatic(column, physical, Target::AUTO, layout)),
        CodecChoice::Auto => automatic(column, physical, Target::AUTO, layout),
        CodecChoice::Fast => automatic(column, physical, Target::FAST, layout),
        CodecChoice::Small => automatic(column, physical, Target::SMALL, layout),
    };
    picked.unwrap_or_else(|| plain(column))
}

fn tag(name: CodecName) -> Codec {
    match name {
        CodecName::Constant => Codec::Constant,
        CodecName::Bitpack => Codec::BitPack,
        CodecName::For => Codec::For,
        CodecName::ForDelta => Codec::ForDelta,
        CodecName::Rle => Codec::RunLength,
        CodecName::Dictionary => Codec::Dictionary,
        CodecName::Truncation => Codec::Truncation,
        CodecName::Alp => Codec::Alp,
        CodecName::Symbols => Codec::Symbols,
    }
}

fn plain(column: &Dense) -> Encoded {
    Encoded {
        codec: Codec::Plain,
        rows: column.rows,
        nulls: column.nulls.clone(),
        codebook: Vec::new(),
        codes: Codes::Stored(column.data.clone()),
    }
}

/// What a target weighs bytes with: factors on the estimated size.
#[derive(Clone, Copy, Debug)]
struct Target {
    delta: f64,
    runs: f64,
    symbols: f64,
    /// Bits of a symbol's code.
    code_bits: &'static [u8],
    truncation: bool,
}

impl Target {
    const AUTO: Target = Target {
        delta: 1.25,
        runs: 1.25,
        symbols: 1.0,
        code_bits: &[12],
        truncation: false,
    };
    const FAST: Target = Target {
        delta: 4.0,
        runs: 4.0,
        symbols: 3.0,
        code_bits: &[12],
        truncation: true,
    };
    const SMALL: Target = Target {
        delta: 1.0,
        runs: 1.0,
        symbols: 1.0,
        code_bits: &[12, 16],
        truncation: false,
    };
}

fn automatic(
    column: &Dense,
    physical: Physical,
    target: Target,
    layout: Layout,
) -> Option<Encoded> {
    if let Some(constant) = is_constant(column)
        .then(|| encode(column, physical, Codec::Constant))
        .flatten()
    {
        return Some(constant);
    }
    match (&column.data, physical) {
        (DenseData::Variable { .. }, _) => text(column, physical, target),
        (_, Physical::F32 | Physical::F64) => floats(column, physical),
        (DenseData::Fixed { .. }, _) => match integers(column, physical) {
            Some(values) => whole(column, physical, values, target, layout),
            None => by_dictionary(column, physical),
        },
    }
}

/// Whether all values that are present are one.
fn is_constant(column: &Dense) -> bool {
    let present = |row: &usize| {
        column
            .nulls
            .as_ref()
            .is_none_or(|nulls| nulls.is_valid(*row))
    };
    let mut rows = (0..column.rows).filter(present);
    let Some(first) = rows.next() else {
        return true;
    };
    let value = |row: usize| match &column.data {
        DenseData::Fixed { width, bytes } => &bytes[row * width..(row + 1) * width],
        DenseData::Variable { ends, bytes } => {
            let start = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
            &bytes[start..ends[row] as usize]
        }
    };
    let wanted = value(first);
    rows.all(|row| value(row) == wanted)
}

/// Sizes of a sample of chunks in bits, by what each scheme's size depends on.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    rows: usize,
    bitpack: f64,
    frame: f64,
    delta: f64,
    runs: f64,
    distinct: usize,
    span: (i64, i64),
}

/// Estimates from chunks spread evenly over the values.
fn estimate(values: &[i64]) -> Estimate {
    let chunks = values.len().div_ceil(CHUNK);
    let mut estimate = Estimate {
        span: (i64::MAX, i64::MIN),
        ..Estimate::default()
    };
    let mut seen: HashSet<i64> = HashSet::new();
    for number in (0..chunks).step_by(chunks.div_ceil(SAMPLE_CHUNKS).max(1)) {
        let chunk = &values[number * CHUNK..values.len().min((number + 1) * CHUNK)];
        let (low, high) = chunk
            .iter()
            .fold((i64::MAX, i64::MIN), |(low, high), value| {
                (low.min(*value), high.max(*value))
            });
        let count = chunk.len() as f64;
        let width = |low: i64, high: i64| f64::from(width_for(high.wrapping_sub(low) as u64));
        let steps = chunk.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
        let (least, most) = steps.fold((0, 0), |(low, high), step| (low.min(step), high.max(step)));
        let runs = chunk.chunk_by(|a, b| a == b).count() as f64;
        estimate.rows += chunk.len();
        estimate.bitpack += 128.0
            + count
                * if low < 0 {
                    f64::INFINITY
                } else {
                    width(0, high)
                };
        estimate.frame += 128.0 + count * width(low, high);
        estimate.delta += 192.0 + count * width(least, most);
        estimate.runs +=
            128.0 + runs * (width(low, high) + f64::from(width_for((count / runs) as u64)) + 2.0);
        estimate.span = (estimate.span.0.min(low), estimate.span.1.max(high));
        seen.extend(chunk.iter().step_by(4));
    }
    estimate.distinct = seen.len();
    estimate
}

fn whole(
    column: &Dense,
    physical: Physical,
    values: Vec<i64>,
    target: Target,
    layout: Layout,
) -> Option<Encoded> {
    let mut known = estimate(&values);
    let sampled = known.rows as f64;
    let columnar = !layout.keeps_tuples();
    if !columnar {
        // Fields have one base and one width in the whole block.
        let width = |low: i64, high: i64| f64::from(width_for(high.wrapping_sub(low) as u64));
        known.frame = sampled * width(known.span.0, known.span.1);
        known.bitpack = known.bitpack.max(sampled * width(0, known.span.1));
    }
    let scale = values.len() as f64 / sampled;
    let entry = f64::from(width_for(known.distinct as u64)) * sampled;
    let stored = 8.0 * column.raw_bytes() as f64 / column.rows.max(1) as f64;
    let wide = known.distinct < known.rows / 16;
    let dictionary = if wide {
        entry + 1.5 * stored * known.distinct as f64 / scale
    } else {
        f64::INFINITY
    };
    let walk = |bits: f64, factor: f64| {
        if columnar || factor <= 1.0 {
            bits * factor
        } else {
            f64::INFINITY
        }
    };
    let mut candidates = vec![
        (known.bitpack, Codec::BitPack),
        (known.frame, Codec::For),
        (walk(known.delta, target.delta), Codec::ForDelta),
        (walk(known.runs, target.runs), Codec::RunLength),
        (1.1 * dictionary, Codec::Dictionary),
    ];
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (bits, codec) in candidates {
        let codec = match codec {
            Codec::BitPack if target.truncation && nearly_whole_lanes(known.span.1) => {
                Codec::Truncation
            }
            codec => codec,
        };
        if bits >= stored * sampled {
            return None;
        }
        match codec {
            Codec::Dictionary => {
                // The sample may have missed values: an eighth of the rows is the most worth having.
                let most = dictionary::ENTRIES_MAX.min(values.len() / 8);
                if let Some((codebook, codes)) = dictionary::build(column, physical, most) {
                    return Some(encoded(column, codec, codebook, Codes::Integers(codes)));
                }
            }
            codec => return Some(encoded(column, codec, Vec::new(), Codes::Integers(values))),
        }
    }
    None
}

fn encoded(column: &Dense, codec: Codec, codebook: Vec<u8>, codes: Codes) -> Encoded {
    Encoded {
        codec,
        rows: column.rows,
        nulls: column.nulls.clone(),
        codebook,
        codes,
    }
}

/// Whether values up to `largest` nearly fill their lanes.
fn nearly_whole_lanes(largest: i64) -> bool {
    let width = width_for(largest as u64);
    4 * usize::from(width) >= 3 * lane_bits(width)
}

fn floats(column: &Dense, physical: Physical) -> Option<Encoded> {
    by_dictionary(column, physical).or_else(|| encode(column, physical, Codec::Alp))
}

/// A dictionary if an eighth of the rows, and no more than 4,096, are distinct.
fn by_dictionary(column: &Dense, physical: Physical) -> Option<Encoded> {
    let most = (column.rows / 8).min(1 << 12);
    let (codebook, codes) = dictionary::build(column, physical, most)?;
    let codes = Codes::Integers(codes);
    Some(encoded(column, Codec::Dictionary, codebook, codes))
}

fn text(column: &Dense, physical: Physical, target: Target) -> Option<Encoded> {
    let raw = column.raw_bytes();
    let values = sample(column, SAMPLE_BYTES);
    let seen = values.iter().collect::<HashSet<_>>().len();
    // Where the sample repeats itself, the whole column is asked.
    let repeats = 4 * seen < 3 * values.len();
    let most = if repeats {
        dictionary::ENTRIES_MAX.min(column.rows / 2)
    } else {
        FEW_ENTRIES
    };
    let found = dictionary::build(column, physical, most).map(|(codebook, codes)| {
        let largest = codes.iter().copied().max().unwrap_or(0) as u64;
        let bytes = codebook.len() + column.rows * usize::from(width_for(largest)) / 8;
        (bytes, largest as usize, codebook, codes)
    });
    let (mut best, mut winner) = (raw, None);
    if let Some((bytes, largest, codebook, codes)) = found
        && bytes < best
    {
        best = bytes;
        winner = Some(encoded(
            column,
            Codec::Dictionary,
            codebook,
            Codes::Integers(codes),
        ));
        if largest < FEW_ENTRIES {
            return winner;
        }
    }
    let sampled: usize = values.iter().map(|value| value.len()).sum::<usize>().max(1);
    let content = raw - 4 * column.rows;
    let mut table = None;
    for bits in target.code_bits {
        let candidate = trained(column, *bits);
        let mut own = Vec::new();
        candidate.write(&mut own);
        let bytes = candidate.encoder().compressed_estimate(&values) as f64 / sampled as f64
            * content as f64;
        let bytes = (target.symbols * (bytes + (column.rows / 2 + own.len()) as f64)) as usize;
        if bytes < best {
            best = bytes;
            table = Some(candidate);
        }
    }
    match table.and_then(|table| encode_symbols(column, &table)) {
        Some((codebook, data)) => Some(encoded(
            column,
            Codec::Symbols,
            codebook,
            Codes::Stored(data),
        )),
        None => winner,
    }
}
