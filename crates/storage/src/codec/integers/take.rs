//! Values of a frame at ascending positions.

use super::frame::{Frame, Located, Scratch};
use crate::codec::bits::{CHUNK, TOGETHER, Target};

/// From this many rows of a chunk on all of it is unpacked, which takes about 60 ns (see
/// `bits::tests::speed`) and one for each of the rows. Values that are gathered take two each,
const MANY_GATHERED: usize = 48;
/// one by one four.
const MANY: usize = 24;

/// Values that lie too far apart for the machine to see what comes next: so many are asked
/// of memory at a time.
const AHEAD: usize = 16;

/// Appends the values at ascending `positions`.
pub(super) fn take<D: Target>(frame: &Frame, positions: &[u32], out: &mut Vec<D>) {
    out.reserve(positions.len());
    let gathers = frame.gather(&positions[..positions.len().min(1)], &mut [0; TOGETHER]);
    let many = if gathers { MANY_GATHERED } else { MANY };
    if are_sparse(positions, many) {
        return match gathers {
            true => take_gathered(frame, positions, out),
            false => take_ahead(frame, positions, out),
        };
    }
    let mut codes = Scratch::default();
    by_chunk(positions, |chunk, places| {
        if places.len() >= many {
            frame.take_many(chunk, places, &mut codes, out);
        } else if gathers {
            take_gathered(frame, places, out);
        } else {
            frame.take_few(chunk, places, out);
        }
    });
}

/// Whether ascending positions are so far apart that chunks have fewer than `many` of them
/// on average.
fn are_sparse(positions: &[u32], many: usize) -> bool {
    let span = match positions {
        [first, .., last] => last.saturating_sub(*first) as usize,
        _ => 0,
    };
    positions.len() * CHUNK <= span * many
}

/// Values that are gathered together.
fn take_gathered<D: Target>(frame: &Frame, positions: &[u32], out: &mut Vec<D>) {
    let mut codes = [0; TOGETHER];
    for rows in positions.chunks(TOGETHER) {
        if !frame.gather(rows, &mut codes) {
            take_ahead(frame, rows, out);
            continue;
        }
        let base = |row: &u32| frame.base(*row as usize);
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        if first as usize / CHUNK == last as usize / CHUNK {
            let base = base(&first);
            let values = codes.map(|code| D::from_code(base, code.into()));
            out.extend_from_slice(&values[..rows.len()]);
        } else {
            let both = rows.iter().zip(&codes);
            out.extend(both.map(|(row, code)| D::from_code(base(row), (*code).into())));
        }
    }
}

/// Values one by one, each asked of memory some before it is needed.
fn take_ahead<D: Target>(frame: &Frame, positions: &[u32], out: &mut Vec<D>) {
    let mut located = [Located::default(); AHEAD];
    for (slot, row) in located.iter_mut().zip(positions) {
        *slot = frame.locate(*row as usize);
    }
    out.extend((0..positions.len()).map(|number| {
        let slot = &mut located[number % AHEAD];
        let value = frame.value(*slot);
        if let Some(row) = positions.get(number + AHEAD) {
            *slot = frame.locate(*row as usize);
        }
        D::from_code(value, 0)
    }));
}

/// Calls `each` with a chunk's number and the positions that lie in it.
pub(super) fn by_chunk(positions: &[u32], mut each: impl FnMut(usize, &[u32])) {
    let mut rest = positions;
    while let Some(first) = rest.first() {
        let chunk = *first as usize / CHUNK;
        // Positions ascend, so a chunk's are together; near ones are looked at first.
        let end = (chunk + 1) * CHUNK;
        let count = rest[..rest.len().min(CHUNK)].partition_point(|row| (*row as usize) < end);
        let (here, later) = rest.split_at(count.max(1));
        each(chunk, here);
        rest = later;
    }
}
