//! Every width, every level, against the obvious way.

use super::*;
use proptest::prelude::*;

fn codes(width: u8, count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed | 1;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            if width == 0 {
                0
            } else {
                (state ^ state >> 29) >> (64 - width)
            }
        })
        .collect()
}

#[test]
fn every_width_comes_back_at_every_level() {
    for width in 0..=64u8 {
        for count in [1, 7, 128, 500, CHUNK] {
            let codes = codes(width, count, u64::from(width) << 20 | count as u64);
            let mut packed = Vec::new();
            pack(&codes, width, &mut packed);
            assert_eq!(packed.len(), bytes_for(width, count));
            for (place, code) in codes.iter().enumerate() {
                assert_eq!(
                    Place::of(width, place, 0).code(&packed),
                    *code,
                    "width {width} place {place}"
                );
            }
            let places: Vec<u32> = (0..count as u32).step_by(3).collect();
            let mut taken: Vec<u64> = Vec::new();
            take(&packed, width, 0, &places, &mut taken);
            let expected = places.iter().map(|place| &codes[*place as usize]);
            assert!(taken.iter().eq(expected), "width {width}");
            for level in Level::available() {
                let mut out = [0u64; CHUNK];
                unpack(level, &packed, width, 0, &mut out);
                assert_eq!(out[..count], codes, "width {width} {level:?}");
                let mut wide = [0i128; CHUNK];
                unpack(level, &packed, width, -5, &mut wide);
                let expected: Vec<i128> = codes
                    .iter()
                    .map(|code| (*code as i64).wrapping_sub(5).into())
                    .collect();
                assert_eq!(wide[..count], expected);
            }
        }
    }
}

#[test]
fn ranges_are_found_at_every_level() {
    for width in 1..=64u8 {
        let codes = codes(width, CHUNK, width.into());
        let mut packed = Vec::new();
        pack(&codes, width, &mut packed);
        let largest = u64::MAX >> (64 - width);
        let (a, b) = (codes[3].min(codes[700]), codes[3].max(codes[700]));
        let ranges = [
            (a, b),
            (a, a),
            (0, b),
            (b, u64::MAX),
            (0, largest),
            (b, a),
            (largest, largest),
            (0, 0),
        ];
        for (low, high) in ranges {
            for level in Level::available() {
                let mut mask = [0; CHUNK / 64];
                in_range(level, &packed, width, low, high, &mut mask);
                for (place, code) in codes.iter().enumerate() {
                    let found = mask[place / 64] >> (place % 64) & 1 == 1;
                    assert_eq!(
                        found,
                        (low..=high).contains(code),
                        "width {width} {low}..={high} {level:?}"
                    );
                }
            }
        }
    }
}

/// Tuples of fields of one width behind `before` bits, the last as short as it may be.
fn tuples(width: u8, before: usize, codes: &[u64]) -> (Vec<u8>, usize) {
    let stride = (before + usize::from(width)).div_ceil(8).max(1);
    let mut tuples = vec![0xff; stride * codes.len()];
    for (tuple, code) in tuples.chunks_exact_mut(stride).zip(codes) {
        let ones = u128::MAX.checked_shr(128 - u32::from(width)).unwrap_or(0);
        let place = ones << (before % 8);
        let code = u128::from(*code) << (before % 8);
        for (byte, at) in tuple[before / 8..].iter_mut().zip((0..).step_by(8)) {
            *byte = *byte & !((place >> at) as u8) | (code >> at) as u8;
        }
    }
    (tuples, stride)
}

#[test]
fn fields_of_tuples_are_read_at_every_level() {
    for width in 0..=64u8 {
        let offsets = if width > 56 { [0, 8, 64] } else { [1, 14, 67] };
        for (before, count) in offsets.into_iter().zip([CHUNK, 77, 3]) {
            let codes = codes(width, count, u64::from(width) << 10 | 1);
            let (tuples, stride) = tuples(width, before, &codes);
            let field = Strided::new(&tuples, stride, before, width);
            let one_by_one: Vec<u64> = (0..count).map(|row| field.code(row)).collect();
            assert_eq!(one_by_one, codes, "width {width}");
            let positions: Vec<u32> = (0..count as u32).step_by(3).collect();
            let mut some: Vec<u64> = Vec::new();
            field.take(&positions, 0, &mut some);
            assert_eq!(some, codes.iter().copied().step_by(3).collect::<Vec<u64>>());
            for level in Level::available() {
                let mut all: Vec<i64> = Vec::new();
                field.read(level, 1..count, -3, &mut all);
                let expected = codes[1..].iter().map(|code| (*code as i64).wrapping_sub(3));
                assert_eq!(
                    all,
                    expected.collect::<Vec<i64>>(),
                    "width {width} {level:?}"
                );
                let (low, high) = (codes[1].min(codes[2]), codes[1].max(codes[2]));
                let mut mask = [0; CHUNK / 64];
                field.in_range(level, 0..count, low, high, &mut mask);
                for row in 0..CHUNK {
                    let found = mask[row / 64] >> (row % 64) & 1 == 1;
                    let passes = |code: &u64| (low..=high).contains(code);
                    assert_eq!(found, codes.get(row).is_some_and(passes), "{width} {row}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn unaligned_and_short_bytes_are_read_as_far_as_they_go(
        bytes in prop::collection::vec(any::<u8>(), 0..9000), cut in 0usize..9, width in 0u8..=64
    ) {
        let bytes = &bytes[cut.min(bytes.len())..];
        let mut plain = [0u64; CHUNK];
        unpack(Level::Plain, bytes, width, 0, &mut plain);
        let mut best = [0u64; CHUNK];
        unpack(Level::best(), bytes, width, 0, &mut best);
        prop_assert_eq!(plain, best);
        let whole = bytes.len() / LINE * LINE;
        for place in [0, 1, 511, 1023] {
            if bytes.len() == whole || whole >= usize::from(width) * LINE {
                prop_assert_eq!(Place::of(width, place, 0).code(bytes), plain[place]);
            }
        }
    }
}

/// The bytes of two small chunks, written down: the format does not drift.
#[test]
fn golden_bytes() {
    let mut packed = Vec::new();
    pack(&[1, 2, 3], 3, &mut packed);
    assert_eq!(packed.len(), 128);
    assert_eq!(packed[..4], [1, 2, 3, 0]);
    let mut packed = Vec::new();
    let codes: Vec<u64> = (0..384).map(|row| row % 8).collect();
    pack(&codes, 3, &mut packed);
    assert_eq!(packed.len(), 256);
    // Lane 7 holds 7, 7, 7: nine bits, the last one in the second line.
    assert_eq!((packed[7], packed[128 + 7]), (0xff, 1));
}

#[test]
#[ignore = "a measurement, not a check"]
fn speed() {
    let mut packed = Vec::new();
    let chunks = 256;
    for width in [3u8, 7, 12, 17, 24, 40] {
        packed.clear();
        for chunk in 0..chunks {
            pack(&codes(width, CHUNK, chunk), width, &mut packed);
        }
        let size = bytes_for(width, CHUNK);
        for level in Level::available() {
            let mut rates = [0.0; 3];
            for (kind, rate) in rates.iter_mut().enumerate() {
                let (mut out, mut wide, mut mask) = ([0i32; CHUNK], [0i64; CHUNK], [0; CHUNK / 64]);
                let start = std::time::Instant::now();
                let rounds = 400;
                for _ in 0..rounds {
                    for chunk in packed.chunks_exact(size) {
                        match kind {
                            0 => in_range(level, chunk, width, 3, (1 << width) * 2 / 3, &mut mask),
                            1 => unpack(level, chunk, width, 9, &mut out),
                            _ => unpack(level, chunk, width, 9, &mut wide),
                        }
                        std::hint::black_box((&mask, &out, &wide));
                    }
                }
                *rate =
                    (rounds * chunks * CHUNK as u64) as f64 / start.elapsed().as_secs_f64() / 1e9;
            }
            println!(
                "width {width:2} {level:?}: {:.1} billion/s compared, {:.1} unpacked to i32, {:.1} to i64",
                rates[0], rates[1], rates[2]
            );
        }
    }
}

/// Chunks of different widths, the last with fewer codes: entries, packed bytes, values.
fn mixed_chunks(seed: u64, widths: &[u8]) -> (Vec<Entry>, Vec<u8>, Vec<u32>) {
    let (mut entries, mut packed, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (number, width) in widths.iter().enumerate() {
        let count = if number + 1 < widths.len() {
            CHUNK
        } else {
            100
        };
        let codes = codes(*width, count, seed + number as u64);
        entries.push(Entry {
            base: 0,
            offset: packed.len() as u32,
            width: (*width).into(),
        });
        pack(&codes, *width, &mut packed);
        values.extend(codes.iter().map(|code| *code as u32));
    }
    (entries, packed, values)
}

#[test]
fn codes_that_are_gathered_are_those_at_their_places() {
    let widths: Vec<u8> = (0..=32).chain([7, 7, 32, 1]).collect();
    let (entries, packed, values) = mixed_chunks(3, &widths);
    let mut state = 5u64;
    let mut gathered = 0;
    for level in Level::available() {
        for most in [1, 3, 40, 900, 5000] {
            let mut rows = Vec::new();
            let mut row = 0;
            while row < values.len() {
                rows.push(row as u32);
                state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
                row += 1 + (state >> 33) as usize % most;
            }
            for some in rows.chunks(TOGETHER).chain(rows.chunks(5)) {
                let mut found = [0; TOGETHER];
                if !gather(level, (&entries, &packed), some, &mut found) {
                    continue;
                }
                gathered += 1;
                for (row, found) in some.iter().zip(found) {
                    assert_eq!(
                        found, values[*row as usize],
                        "{level:?} row {row} of {some:?}"
                    );
                }
            }
        }
    }
    let can = Level::best() == Level::Avx512;
    assert_eq!(gathered > 1000, can, "{gathered} groups");
}

#[test]
fn what_cannot_be_gathered_is_left() {
    let (mut entries, packed, _) = mixed_chunks(9, &[20, 20, 20]);
    let mut codes = [0; TOGETHER];
    let mut gathers = |entries: &[Entry], bytes: &[u8], rows: &[u32]| {
        gather(Level::best(), (entries, bytes), rows, &mut codes)
    };
    let can = Level::best() == Level::Avx512;
    assert_eq!(gathers(&entries, &packed, &[]), can);
    assert_eq!(gathers(&entries, &packed, &[3, 1500]), can);
    // A row of no chunk, and bytes that end too soon for one of them.
    assert!(!gathers(&entries, &packed, &[3, 4000]));
    assert!(!gathers(&entries, &packed[..4000], &[3, 1900]));
    assert!(!gathers(&entries, &[], &[3]));
    entries[1].width = 33;
    assert_eq!(gathers(&entries, &packed, &[3, 4]), can);
    assert!(!gathers(&entries, &packed, &[3, 1500]));
    entries[1].offset = u32::MAX;
    assert!(!gathers(&entries, &packed, &[1500]));
}

#[test]
#[ignore = "a measurement, not a check"]
fn speed_of_gathers() {
    for width in [7u8, 12, 27] {
        let (entries, packed, values) = mixed_chunks(1, &[width; 2048]);
        for apart in [2, 4, 10, 30, 100, 300, 1000] {
            let mut state = 5u64;
            let rows = (0..values.len() as u32).filter(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
                (state >> 33).is_multiple_of(apart)
            });
            let rows: Vec<u32> = rows.collect();
            let mut out = vec![0u32; rows.len() + TOGETHER];
            let times = Level::available().into_iter().map(|level| {
                let turn = |_| {
                    let start = std::time::Instant::now();
                    for (some, out) in rows.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
                        let out = out.first_chunk_mut().unwrap();
                        if !gather(level, (&entries, &packed), some, out) {
                            for (row, out) in some.iter().zip(out) {
                                let row = *row as usize;
                                *out = entries[row / CHUNK].place(row).code(&packed) as u32;
                            }
                        }
                    }
                    std::hint::black_box(&out);
                    start.elapsed().as_secs_f64() * 1e9 / rows.len() as f64
                };
                let least = (0..9).map(turn).fold(f64::MAX, f64::min);
                format!("{level:?} {least:.1} ns")
            });
            let times = times.collect::<Vec<String>>().join(", ");
            println!("width {width}, one of {apart}: {times}");
        }
    }
}
