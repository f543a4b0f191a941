//! A B-tree of record ids by number, on pages of the buffer pool.

use super::pool::{BufferPool, PAGE_BYTES, Page, RecordId};
use super::shape::{get, put};

const COUNT: usize = 0;
const HEADER: usize = 8;
/// A key, then a page, then a slot; of an inner page the least key of a child, and its page.
const ENTRY: usize = 16;
const ENTRIES: usize = (PAGE_BYTES - HEADER) / ENTRY;

/// A B-tree whose pages are full.
#[derive(Debug)]
pub struct BTree {
    root: u32,
    /// Inner pages above a leaf.
    levels: usize,
}

fn key(page: &Page, entry: usize) -> u64 {
    let eight = page[HEADER + ENTRY * entry..].first_chunk();
    eight.map_or(0, |eight| u64::from_le_bytes(*eight))
}

fn id(page: &Page, entry: usize) -> RecordId {
    let at = HEADER + ENTRY * entry + 8;
    let four = page[at..].first_chunk();
    RecordId {
        page: four.map_or(0, |four| u32::from_le_bytes(*four)),
        slot: get(page, at + 4) as u16,
    }
}

/// How many keys of a page are at most as large.
fn up_to(page: &Page, wanted: u64) -> usize {
    let (mut low, mut high) = (0, get(page, COUNT));
    while low < high {
        let middle = (low + high) / 2;
        match key(page, middle) <= wanted {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

impl BTree {
    /// Makes one of ascending keys, of which there is at least one.
    pub fn new(pool: &mut BufferPool, mut entries: Vec<(u64, RecordId)>) -> BTree {
        let mut levels = 0;
        loop {
            let level = entries.chunks(ENTRIES).map(|chunk| {
                let number = pool.allocate();
                let page = pool.page_mut(number);
                put(page, COUNT, chunk.len());
                for (entry, (key, id)) in chunk.iter().enumerate() {
                    let at = HEADER + ENTRY * entry;
                    page[at..at + 8].copy_from_slice(&key.to_le_bytes());
                    page[at + 8..at + 12].copy_from_slice(&id.page.to_le_bytes());
                    put(page, at + 12, id.slot.into());
                }
                let child = RecordId {
                    page: number,
                    slot: 0,
                };
                (chunk[0].0, child)
            });
            entries = level.collect();
            if let [(_, root)] = entries.as_slice() {
                return BTree {
                    root: root.page,
                    levels,
                };
            }
            levels += 1;
        }
    }

    /// The record of a key.
    pub fn find(&self, pool: &BufferPool, wanted: u64) -> Option<RecordId> {
        let mut number = self.root;
        for _ in 0..self.levels {
            let pinned = pool.pin(number);
            let entry = up_to(pinned.page(), wanted).checked_sub(1)?;
            number = id(pinned.page(), entry).page;
        }
        let pinned = pool.pin(number);
        let entry = up_to(pinned.page(), wanted).checked_sub(1)?;
        (key(pinned.page(), entry) == wanted).then(|| id(pinned.page(), entry))
    }
}
