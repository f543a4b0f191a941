//! Bit-packed codes compared with a constant, in memory, on one core.

use crate::Result;
use crate::pair::median;
use crate::report::{Bar, Row, Section};
use freestone_storage::codec::bits::{CHUNK, Level, Mask, bytes_for, in_range, pack};
use std::time::{Duration, Instant};

/// Billion codes per second, where there is AVX-512.
const BAR: f64 = 10.0;

/// Widths of `l_quantity`, `l_shipdate` and `l_partkey` at scale 1.
const WIDTHS: [u8; 3] = [6, 12, 18];

/// Packed bytes: more than a core's own caches hold, and less.
const SIZES: [usize; 2] = [16 << 20, 1 << 20];

/// A measurement goes over the data again until it took so long. Its median pass
/// counts: few are interrupted by other work of the machine.
const LONG_ENOUGH: Duration = Duration::from_millis(400);

/// Where cache lines begin.
const LINE: usize = 64;

/// Measures the section.
///
/// # Errors
/// None: nothing here depends on a file or on the other side.
pub fn measure() -> Result<Section> {
    let level = Level::best();
    let mut rows = Vec::new();
    for size in SIZES {
        for width in WIDTHS {
            let packed = packed(width, size);
            let what = format!("{} MiB, {width} bits", size >> 20);
            let row = Row::new(what, "billion/s", rate(level, &packed, width));
            rows.push(match level {
                Level::Avx512 => row.bar(Bar::AtLeast(BAR)),
                Level::Avx2 | Level::Plain => row,
            });
        }
    }
    let note = format!("codes compared with a constant on one core ({level:?})");
    Ok(Section::new("packed", &note, rows))
}

/// Chunks of codes that a buffer owns from its first whole cache line on.
struct Packed {
    buffer: Vec<u8>,
    start: usize,
}

fn packed(width: u8, size: usize) -> Packed {
    let chunks = size / bytes_for(width, CHUNK);
    let mut state = 1u64;
    let mut codes = [0; CHUNK];
    let mut bytes = Vec::new();
    for _ in 0..chunks {
        for code in &mut codes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *code = state >> (64 - width);
        }
        pack(&codes, width, &mut bytes);
    }
    let mut buffer = vec![0; bytes.len() + LINE];
    let start = buffer.as_ptr().align_offset(LINE).min(LINE);
    buffer[start..start + bytes.len()].copy_from_slice(&bytes);
    buffer.truncate(start + bytes.len());
    Packed { buffer, start }
}

/// Billion codes per second in the median pass.
fn rate(level: Level, packed: &Packed, width: u8) -> f64 {
    let constant = (1 << width) / 3;
    let data = &packed.buffer[packed.start..];
    let chunk_bytes = bytes_for(width, CHUNK);
    let mut mask: Mask = [0; CHUNK / 64];
    let mut seconds = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < LONG_ENOUGH {
        let start = Instant::now();
        for chunk in data.chunks_exact(chunk_bytes) {
            in_range(level, chunk, width, 0, constant, &mut mask);
            std::hint::black_box(&mask);
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    let codes = data.len() / chunk_bytes * CHUNK;
    median(&seconds).map_or(0.0, |seconds| codes as f64 / seconds / 1e9)
}
