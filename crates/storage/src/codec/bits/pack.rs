//! Packing, sizes, and the one code at a place.

use super::{CHUNK, LINE, lane_bits};

/// Bits that hold every value up to `largest`.
pub const fn width_for(largest: u64) -> u8 {
    (64 - largest.leading_zeros()) as u8
}

/// Bytes of `codes` codes (at most a chunk) of `width` bits.
pub const fn bytes_for(width: u8, codes: usize) -> usize {
    let bits = lane_bits(width);
    let lanes = 8 * LINE / bits;
    (codes.div_ceil(lanes) * width as usize).div_ceil(bits) * LINE
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

/// Where the code at `place` of a chunk begins, in bytes.
pub fn place_of(width: u8, place: usize) -> usize {
    let bits = lane_bits(width.max(1));
    let (lanes, width) = (8 * LINE / bits, usize::from(width));
    (place / lanes * width / bits * lanes + place % lanes) * bits / 8
}

/// The code at `place` of a chunk; 0 beyond its bytes.
#[inline]
pub fn get(packed: &[u8], width: u8, place: usize) -> u64 {
    if width == 0 {
        return 0;
    }
    let bits = lane_bits(width);
    let (size, lanes, width) = (bits / 8, 8 * LINE / bits, usize::from(width));
    let (lane, first) = (place % lanes, place / lanes * width);
    let (word, shift) = (first / bits, first % bits);
    let load = |word: usize| {
        let at = (word * lanes + lane) * size;
        let Some(rest) = packed.get(at..) else {
            return 0;
        };
        // One load of a known width, where lengths known late would be calls.
        match size {
            1 => rest
                .first_chunk()
                .map_or(0, |bytes| u8::from_le_bytes(*bytes).into()),
            2 => rest
                .first_chunk()
                .map_or(0, |bytes| u16::from_le_bytes(*bytes).into()),
            4 => rest
                .first_chunk()
                .map_or(0, |bytes| u32::from_le_bytes(*bytes).into()),
            _ => rest
                .first_chunk()
                .map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        }
    };
    let mut code = load(word) >> shift;
    if shift + width > bits {
        code |= load(word + 1) << (bits - shift);
    }
    if width == 64 {
        code
    } else {
        code & ((1 << width) - 1)
    }
}
