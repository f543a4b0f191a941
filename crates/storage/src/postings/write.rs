//! Writing a set: one pass to weigh the forms, one to write the lightest.

use super::Form;
use super::bits::{put_variable, variable_len};

/// What each form of a set would weigh, heads apart.
#[derive(Default)]
struct Weights {
    runs: usize,
    variable: usize,
    largest_gap: u32,
}

fn gaps(positions: &[u32]) -> impl Iterator<Item = u32> {
    positions.windows(2).map(|pair| pair[1] - pair[0] - 1)
}

/// Each run as (positions between it and the run before less one, length less one).
fn runs(positions: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let mut end = None;
    positions
        .chunk_by(|left, right| left + 1 == *right)
        .map(move |run| {
            let apart = end.map_or(0, |end| run[0] - end - 1);
            end = Some(run[run.len() - 1] + 1);
            (apart, run.len() as u32 - 1)
        })
}

fn weigh(positions: &[u32]) -> Weights {
    let mut weights = Weights::default();
    for gap in gaps(positions) {
        weights.variable += variable_len(gap);
        weights.largest_gap = weights.largest_gap.max(gap);
    }
    for (number, (apart, length)) in runs(positions).enumerate() {
        weights.runs += variable_len(length);
        weights.runs += if number > 0 { variable_len(apart) } else { 0 };
    }
    weights
}

/// Appends a set of positions in its smallest form.
///
/// # Panics
/// In debug builds if the positions do not ascend.
pub fn encode(positions: &[u32], bytes: &mut Vec<u8>) {
    debug_assert!(positions.is_sorted_by(|left, right| left < right));
    let ([first, ..], [.., last]) = (positions, positions) else {
        bytes.push(Form::Runs as u8);
        return put_variable(0, bytes);
    };
    let weights = weigh(positions);
    let width = 32 - weights.largest_gap.leading_zeros();
    let span = last - first;
    let gaps_bits = (positions.len() - 1) * width as usize;
    // Of equal weights the first wins: it is the fastest to read.
    let choices = [
        (weights.runs, Form::Runs),
        (variable_len(span) + span as usize / 8 + 1, Form::Bitmap),
        (1 + gaps_bits.div_ceil(8), Form::Packed),
        (weights.variable, Form::Variable),
    ];
    let (size, form) = choices
        .into_iter()
        .min_by_key(|(size, _)| *size)
        .unwrap_or(choices[0]);
    bytes.reserve(size + 11);
    bytes.push(form as u8);
    put_variable(positions.len() as u32, bytes);
    put_variable(*first, bytes);
    write(form, positions, width, bytes);
}

fn write(form: Form, positions: &[u32], width: u32, bytes: &mut Vec<u8>) {
    match form {
        Form::Runs => {
            for (number, (apart, length)) in runs(positions).enumerate() {
                if number > 0 {
                    put_variable(apart, bytes);
                }
                put_variable(length, bytes);
            }
        }
        Form::Bitmap => {
            let (first, last) = (positions[0], positions[positions.len() - 1]);
            put_variable(last - first, bytes);
            let start = bytes.len();
            bytes.resize(start + (last - first) as usize / 8 + 1, 0);
            for position in positions {
                let bit = position - first;
                bytes[start + bit as usize / 8] |= 1 << (bit % 8);
            }
        }
        Form::Packed => {
            bytes.push(width as u8);
            pack(gaps(positions), width, bytes);
        }
        Form::Variable => gaps(positions).for_each(|gap| put_variable(gap, bytes)),
    }
}

/// Appends integers of `width` bits, lowest bit first.
fn pack(values: impl Iterator<Item = u32>, width: u32, bytes: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u64, 0);
    for value in values {
        word |= u64::from(value) << filled;
        filled += width;
        while filled >= 8 {
            bytes.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        bytes.push(word as u8);
    }
}
