//! From the hash of a symbol to the codes it may have.
//!
//! Buckets of four, looked at all at once: a chain of single slots would be
//! walked on for every sixth symbol, and each such step is a mispredicted branch.

/// A quarter of a word in the lowest place, and its highest bit in all places.
const LOW: u64 = 0x0001_0001_0001_0001;
const HIGH: u64 = 0x8000_8000_8000_8000;

/// Four tags and four codes, 16 bits each; the tag 0 is a free place.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    tags: u64,
    codes: u64,
}

/// Codes by hash.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    buckets: Box<[Bucket]>,
    shift: u32,
}

/// Bits of the hash that do not choose the bucket, and never 0.
#[inline(always)]
fn tag(hash: u64) -> u64 {
    (hash >> 24) & 0xFFFF | 1
}

impl Buckets {
    /// For up to `capacity` codes, a power of two of at least 2.
    pub(super) fn new(capacity: usize) -> Buckets {
        Buckets {
            buckets: vec![Bucket::default(); capacity].into_boxed_slice(),
            shift: 64 - capacity.trailing_zeros(),
        }
    }

    /// Adds a code; it must be one of at most `capacity`, so some place is free.
    pub(super) fn insert(&mut self, hash: u64, code: u16) {
        let mut at = (hash >> self.shift) as usize;
        while self.buckets[at].tags >> 48 != 0 {
            at = (at + 1) & (self.buckets.len() - 1);
        }
        let bucket = &mut self.buckets[at];
        // Places are taken from the lowest.
        let place = (64 - bucket.tags.leading_zeros()).next_multiple_of(16);
        bucket.tags |= tag(hash) << place;
        bucket.codes |= u64::from(code) << place;
    }

    /// The code with this hash that is `right`, the first added if there are many.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, right: impl Fn(u16) -> bool) -> Option<u16> {
        let mut at = (hash >> self.shift) as usize;
        loop {
            let bucket = &self.buckets[at & (self.buckets.len() - 1)];
            // The highest bit of a place that is 0, thus of an equal tag. A
            // place above one may be marked wrongly, which `right` finds out.
            let unequal = bucket.tags ^ (tag(hash) * LOW);
            let mut equal = unequal.wrapping_sub(LOW) & !unequal & HIGH;
            while equal != 0 {
                let code = (bucket.codes >> (equal.trailing_zeros() & 48)) as u16;
                if right(code) {
                    return Some(code);
                }
                equal &= equal - 1;
            }
            if bucket.tags >> 48 == 0 {
                return None;
            }
            at += 1;
        }
    }
}
