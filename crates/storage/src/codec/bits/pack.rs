//! Packing, sizes, and codes at places.

use super::prefetch::prefetch;
use super::{CHUNK, LINE, Target, lane_bits};

/// A line has two to this many lanes of one bit.
const LANES_EXPONENT: u32 = (8 * LINE).trailing_zeros();

/// Bits that hold every value up to `largest`.
pub const fn width_for(largest: u64) -> u8 {
    (64 - largest.leading_zeros()) as u8
}

/// Bytes of `codes` codes (at most a chunk) of `width` bits.
pub const fn bytes_for(width: u8, codes: usize) -> usize {
    let bits = lane_bits(width);
    let exponent = bits.trailing_zeros();
    let lanes = LANES_EXPONENT - exponent;
    let places = (codes + (1 << lanes) - 1) >> lanes;
    ((places * width as usize + bits - 1) >> exponent) * LINE
}

/// Appends up to 1,024 codes, each below 2^`width`.
pub fn pack(codes: &[u64], width: u8, out: &mut Vec<u8>) {
    debug_assert!(codes.len() <= CHUNK);
    let start = out.len();
    out.resize(start + bytes_for(width, codes.len()), 0);
    let out = &mut out[start..];
    match lane_bits(width) {
        8 => pack_lanes::<1>(codes, width.into(), out),
        16 => pack_lanes::<2>(codes, width.into(), out),
        32 => pack_lanes::<4>(codes, width.into(), out),
        _ => pack_lanes::<8>(codes, width.into(), out),
    }
}

fn pack_lanes<const SIZE: usize>(codes: &[u64], width: usize, out: &mut [u8]) {
    let bits = 8 * SIZE;
    let lanes = LINE / SIZE;
    let (words, _) = out.as_chunks_mut::<SIZE>();
    let merge = |word: &mut [u8; SIZE], code: u64| {
        let code = code.to_le_bytes();
        word.iter_mut().zip(code).for_each(|(to, from)| *to |= from);
    };
    if width == 0 {
        return;
    }
    for (place, line) in codes.chunks(lanes).enumerate() {
        let (word, shift) = (place * width / bits, place * width % bits);
        for (lane, code) in line.iter().enumerate() {
            merge(&mut words[word * lanes + lane], code << shift);
            if shift + width > bits {
                merge(
                    &mut words[(word + 1) * lanes + lane],
                    code >> (bits - shift),
                );
            }
        }
    }
}

/// Where a code lies, in bytes of its chunk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The word that has its low bits,
    low: usize,
    /// and the one that has its high bits, often the same.
    high: usize,
    /// Bits of the first word before it.
    shift: u32,
    /// Bits of a word.
    lane: u32,
    width: u32,
}

impl Place {
    /// Of the code of `width` bits at `place` of a chunk whose bytes begin at `start`. Lanes
    /// are powers of two: nothing is divided, and no branch depends on the place.
    #[inline]
    pub fn of(width: u8, place: usize, start: usize) -> Place {
        Place::within(lane_bits(width), width, place, start)
    }

    /// The same, where the lane that codes of `width` bits take is known.
    #[inline(always)]
    fn within(lane: usize, width: u8, place: usize, start: usize) -> Place {
        let width = usize::from(width.min(64));
        let exponent = lane.trailing_zeros();
        let lanes = LANES_EXPONENT - exponent;
        let (number, first) = (place & ((1 << lanes) - 1), (place >> lanes) * width);
        let shift = first & (lane - 1);
        let low = start + (first >> exponent) * LINE + ((number << exponent) >> 3);
        Place {
            low,
            high: low + usize::from(shift + width > lane) * LINE,
            shift: shift as u32,
            lane: lane as u32,
            width: width as u32,
        }
    }

    /// Begins to fetch it.
    #[inline]
    pub fn prefetch(&self, bytes: &[u8]) {
        prefetch(bytes, self.low);
        prefetch(bytes, self.high);
    }

    /// The code; zero beyond the bytes.
    #[inline]
    pub fn code(&self, bytes: &[u8]) -> u64 {
        let load = |at: usize| {
            let rest = bytes.get(at..).unwrap_or_default();
            rest.first_chunk()
                .map_or_else(|| tail(rest), |eight: &[u8; 8]| u64::from_le_bytes(*eight))
        };
        // Of a code in one word the high bits are cut off again.
        let low = load(self.low) & u64::MAX >> (64 - self.lane);
        let code = low >> self.shift | load(self.high) << 1 << (self.lane - 1 - self.shift);
        code & u64::MAX.checked_shr(64 - self.width).unwrap_or(0)
    }
}

#[cold]
fn tail(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(eight)
}

/// Appends `base + code` of `rows` of a chunk, one after the other; codes beyond its bytes
/// are zero.
pub fn take<D: Target>(packed: &[u8], width: u8, base: i64, rows: &[u32], out: &mut Vec<D>) {
    // What depends on the lane is known in each of these.
    match lane_bits(width) {
        8 => take_in::<8, D>(packed, width, base, rows, out),
        16 => take_in::<16, D>(packed, width, base, rows, out),
        32 => take_in::<32, D>(packed, width, base, rows, out),
        _ => take_in::<64, D>(packed, width, base, rows, out),
    }
}

fn take_in<const LANE: usize, D: Target>(
    packed: &[u8],
    width: u8,
    base: i64,
    rows: &[u32],
    out: &mut Vec<D>,
) {
    out.extend(rows.iter().map(|row| {
        let place = Place::within(LANE, width, *row as usize % CHUNK, 0);
        D::from_code(base, place.code(packed))
    }));
}
