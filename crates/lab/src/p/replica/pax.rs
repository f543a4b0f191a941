//! Pages of minipages (P, sections 3.2 and 4.2).
//!
//! The header has the count of records and, for each attribute, the size of its values and
//! where its minipage begins. A minipage has values of fixed length side by side, or others
//! with their ends, which grow from the minipage's end. Nothing is NULL, so that there are
//! no presence bits.

use super::pool::{PAGE_BYTES, Page};
use super::shape::{Shape, get, put};

const COUNT: usize = 4;
const DEGREE: usize = 6;
const HEADER: usize = 8;
const ENTRY: usize = 4;
/// Bytes of a varying value's end.
const END: usize = 2;

/// How many bytes each minipage has.
pub type Sizes = Vec<usize>;

/// Bytes of a page for minipages.
pub fn usable(shape: &Shape) -> usize {
    PAGE_BYTES - HEADER - ENTRY * shape.degree()
}

/// Minipages for as many records as fit, of values with these bytes on average, each at
/// least as large as its `least`; the last has what is left over.
pub fn sizes(shape: &Shape, averages: &[f64], least: &[usize]) -> Sizes {
    let capacity = (usable(shape) as f64 / averages.iter().sum::<f64>()).floor();
    let both = averages.iter().zip(least);
    let mut sizes: Sizes = both
        .map(|(average, least)| ((capacity * average) as usize).max(*least))
        .collect();
    // What minima take too much is taken from those with the most room.
    while let Some(over) = sizes.iter().sum::<usize>().checked_sub(usable(shape) + 1) {
        let room = (0..sizes.len()).max_by_key(|number| sizes[*number] - least[*number]);
        let Some(roomy) = room else { break };
        let taken = (over + 1).min(sizes[roomy] - least[roomy]);
        if taken == 0 {
            break;
        }
        sizes[roomy] -= taken;
    }
    let rest = usable(shape).saturating_sub(sizes.iter().sum());
    if let Some(last) = sizes.last_mut() {
        *last += rest;
    }
    sizes
}

/// An empty page with minipages of these sizes.
pub fn format(page: &mut Page, number: u32, shape: &Shape, sizes: &[usize]) {
    page[..4].copy_from_slice(&number.to_le_bytes());
    put(page, COUNT, 0);
    put(page, DEGREE, shape.degree());
    let mut start = HEADER + ENTRY * shape.degree();
    for (attribute, size) in sizes.iter().enumerate() {
        let entry = HEADER + ENTRY * attribute;
        put(page, entry, shape.bytes(attribute));
        put(page, entry + 2, start);
        start += size;
    }
}

/// How many records it has.
pub fn count(page: &Page) -> usize {
    get(page, COUNT)
}

/// Where a minipage begins.
pub fn start(page: &Page, attribute: usize) -> usize {
    get(page, HEADER + ENTRY * attribute + 2)
}

/// Where it ends.
fn end(page: &Page, attribute: usize) -> usize {
    match attribute + 1 < get(page, DEGREE) {
        true => start(page, attribute + 1),
        false => PAGE_BYTES,
    }
}

/// Where a value is.
pub fn place(page: &Page, record: usize, attribute: usize) -> (usize, usize) {
    let start = start(page, attribute);
    let bytes = get(page, HEADER + ENTRY * attribute);
    if bytes > 0 {
        return (start + record * bytes, bytes);
    }
    let ends = end(page, attribute);
    let from = match record {
        0 => 0,
        record => get(page, ends - END * record),
    };
    let to = get(page, ends - END * (record + 1));
    (start + from, to - from)
}

/// Bytes that a minipage has in use, ends included.
fn used(page: &Page, attribute: usize) -> usize {
    let count = count(page);
    let bytes = get(page, HEADER + ENTRY * attribute);
    match (bytes, count) {
        (_, 0) => 0,
        (0, _) => get(page, end(page, attribute) - END * count) + END * count,
        (bytes, _) => bytes * count,
    }
}

/// Bytes in use of each minipage, with a record that is to come.
pub fn needed(page: &Page, shape: &Shape, values: &[&[u8]]) -> Vec<usize> {
    let all = values.iter().enumerate();
    all.map(|(attribute, value)| used(page, attribute) + stored(shape, attribute, value))
        .collect()
}

/// Bytes that a value takes, with its end.
pub fn stored(shape: &Shape, attribute: usize, value: &[u8]) -> usize {
    value.len() + if shape.fixed(attribute) { 0 } else { END }
}

/// Copies each value to its minipage; false if one of them has no room. `places` is scratch
/// space.
pub fn append(page: &mut Page, shape: &Shape, values: &[&[u8]], places: &mut Vec<usize>) -> bool {
    let count = count(page);
    places.clear();
    let mut from = start(page, 0);
    for (attribute, value) in values.iter().enumerate() {
        let to = end(page, attribute);
        let bytes = shape.bytes(attribute);
        let (at, room) = match (bytes, count) {
            (0, 0) => (from, to - END),
            (0, count) => (from + get(page, to - END * count), to - END * (count + 1)),
            (bytes, count) => (from + bytes * count, to),
        };
        if at + value.len() > room {
            return false;
        }
        places.push(at);
        from = to;
    }
    for (attribute, (value, at)) in values.iter().zip(places).enumerate() {
        copy(&mut page[*at..*at + value.len()], value);
        if !shape.fixed(attribute) {
            let ends = end(page, attribute) - END * (count + 1);
            let length = *at + value.len() - start(page, attribute);
            put(page, ends, length);
        }
    }
    put(page, COUNT, count + 1);
    true
}

/// Copies a value, a number as one.
fn copy(place: &mut [u8], value: &[u8]) {
    if let (Some(place), Some(value)) = (place.as_mut_array::<8>(), value.as_array()) {
        *place = *value;
    } else if let (Some(place), Some(value)) = (place.as_mut_array::<4>(), value.as_array()) {
        *place = *value;
    } else {
        place.copy_from_slice(value);
    }
}

/// Moves the boundaries of minipages to sizes that what they have fits in.
pub fn reorganise(page: &mut Page, shape: &Shape, sizes: &[usize]) {
    let before = *page;
    let count = count(&before);
    let number = before
        .first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four));
    format(page, number, shape, sizes);
    for attribute in 0..shape.degree() {
        let (from, to) = (start(&before, attribute), start(page, attribute));
        let ends = match (shape.fixed(attribute), count) {
            (true, _) | (_, 0) => 0,
            (false, count) => END * count,
        };
        let values = used(&before, attribute) - ends;
        page[to..to + values].copy_from_slice(&before[from..from + values]);
        let (from, to) = (end(&before, attribute), end(page, attribute));
        page[to - ends..to].copy_from_slice(&before[from - ends..from]);
    }
    put(page, COUNT, count);
}
