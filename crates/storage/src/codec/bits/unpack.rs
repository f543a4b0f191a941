//! Unpacking a chunk into values: `base + code`, in the type that is wanted.

use super::level::dispatch;
use super::{CHUNK, LINE, Level, lane_bits, with_lines};
use crate::codec::bits;

/// A type that chunks are unpacked to. Sums wrap, as the bytes may be corrupt.
pub trait Target: Copy + Default + Send + Sync + 'static {
    /// `base + code`, cut to this type.
    fn from_code(base: i64, code: u64) -> Self;
}

macro_rules! targets {
    ($($type:ty),*) => {$(
        impl Target for $type {
            #[inline(always)]
            fn from_code(base: i64, code: u64) -> Self {
                (base as $type).wrapping_add(code as $type)
            }
        }
    )*};
}
targets!(u8, i16, i32, i64, u16, u32, u64);

impl Target for i128 {
    #[inline(always)]
    fn from_code(base: i64, code: u64) -> Self {
        i128::from(base.wrapping_add(code as i64))
    }
}

/// A lane: the unsigned integer that codes are packed in.
pub(super) trait Lane: Copy + Default + 'static {
    const BITS: usize;
    /// The lanes of one line.
    type Line: AsRef<[Self]> + AsMut<[Self]>;
    fn line() -> Self::Line;
    fn shifted_right(self, by: usize) -> Self;
    fn shifted_left(self, by: usize) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn cut(value: u64) -> Self;
    fn wide(self) -> u64;
    fn minus(self, other: Self) -> Self;
    fn at_most(self, other: Self) -> bool;
}

macro_rules! lanes {
    ($($type:ty),*) => {$(
        impl Lane for $type {
            const BITS: usize = <$type>::BITS as usize;
            type Line = [$type; LINE / size_of::<$type>()];
            #[inline(always)]
            fn line() -> Self::Line { [0; LINE / size_of::<$type>()] }
            #[inline(always)]
            fn shifted_right(self, by: usize) -> Self { self >> by }
            #[inline(always)]
            fn shifted_left(self, by: usize) -> Self { self << by }
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn cut(value: u64) -> Self { value as $type }
            #[inline(always)]
            fn wide(self) -> u64 { self as u64 }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn at_most(self, other: Self) -> bool { self <= other }
        }
    )*};
}
lanes!(u8, u16, u32, u64);

/// Unpacks the 1,024 codes of a chunk, each with `base` added; codes beyond the
/// chunk's bytes are zero.
pub fn unpack<D: Target>(level: Level, packed: &[u8], width: u8, base: i64, out: &mut [D; CHUNK]) {
    if width == 0 {
        return out.fill(D::from_code(base, 0));
    }
    let width = width.min(64);
    with_lines(packed, width, |lines| match lane_bits(width) {
        8 => run::<u8, D>(level, lines, width, base, out),
        16 => run::<u16, D>(level, lines, width, base, out),
        32 => run::<u32, D>(level, lines, width, base, out),
        _ => run::<u64, D>(level, lines, width, base, out),
    });
}

fn run<T: Lane, D: Target>(level: Level, lines: &[u8], width: u8, base: i64, out: &mut [D; CHUNK]) {
    let words = words::<T>(lines);
    dispatch!(level, body::<T: bits::unpack::Lane, D: bits::Target>(words: &[T], width: u8, base: i64, out: &mut [D; CHUNK]))
}

/// The bytes of whole lines as lane words.
pub(super) fn words<T: Lane>(lines: &[u8]) -> &[T] {
    // SAFETY: `T` is an unsigned integer, for which any bytes are a value;
    // `align_to` gives only the aligned middle, which is everything, because
    // `lines` begins aligned to 8 (see `super::lines`) and is whole lines.
    let (head, words, _) = unsafe { lines.align_to::<T>() };
    debug_assert!(head.is_empty());
    words
}

#[inline(always)]
fn body<T: Lane, D: Target>(words: &[T], width: u8, base: i64, out: &mut [D; CHUNK]) {
    let lanes = 8 * LINE / T::BITS;
    let width = usize::from(width);
    for (place, out) in out.chunks_exact_mut(lanes).enumerate() {
        let mut line = T::line();
        codes(words, width, place, line.as_mut());
        for (out, code) in out.iter_mut().zip(line.as_ref()) {
            *out = D::from_code(base, code.wide());
        }
    }
}

/// The codes of one place of all lanes: consecutive rows.
#[inline(always)]
pub(super) fn codes<T: Lane>(words: &[T], width: usize, place: usize, line: &mut [T]) {
    let lanes = 8 * LINE / T::BITS;
    let mask = T::cut(u64::MAX >> (64 - width));
    let (word, shift) = (place * width / T::BITS, place * width % T::BITS);
    let low = &words[word * lanes..(word + 1) * lanes];
    if shift + width <= T::BITS {
        for (code, low) in line.iter_mut().zip(low) {
            *code = low.shifted_right(shift).and(mask);
        }
    } else {
        let high = &words[(word + 1) * lanes..(word + 2) * lanes];
        for ((code, low), high) in line.iter_mut().zip(low).zip(high) {
            let high = high.shifted_left(T::BITS - shift);
            *code = low.shifted_right(shift).or(high).and(mask);
        }
    }
}
