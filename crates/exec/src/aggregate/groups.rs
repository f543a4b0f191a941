//! Numbers of groups, by their keys.

use crate::kernels::{bounds, hash_key};

/// Stands for "no group".
pub(super) const NO_GROUP: u32 = u32::MAX;
/// Entries of a direct table that is made whatever the keys are.
const DIRECT: u64 = 1 << 20;
/// Keys that are looked up at once, as far as memory is concerned.
const AT_ONCE: usize = 1024;

/// Groups in the order in which their keys came first.
#[derive(Debug)]
pub(super) struct Groups {
    stride: usize,
    /// Words of the keys.
    pub keys: Vec<i64>,
    finder: Finder,
    /// As many groups as are expected at least.
    pub expected: usize,
}

/// Finds the number of a key, plus one; 0 stands for none.
#[derive(Debug)]
enum Finder {
    /// Keys of one word came in order so far: one is that of the last group, or new.
    Ordered,
    /// By the place of the key among all that lie in a small box.
    Direct(Direct),
    /// By hash, whose upper half is kept beside the number.
    Hashed(Vec<u64>),
}

#[derive(Debug, Default)]
struct Direct {
    /// Least word and number of words, for each place of a key.
    sides: Vec<(i64, u64)>,
    slots: Vec<u32>,
}

impl Direct {
    /// A box around all words, where it is small enough.
    fn around(words: &[i64], stride: usize, before: &Direct, most: u64) -> Option<Direct> {
        let mut sides = Vec::with_capacity(stride);
        let mut size = 1u64;
        for place in 0..stride {
            let column: Vec<i64> = words.iter().skip(place).step_by(stride).copied().collect();
            let (mut low, mut high) = bounds(&column);
            if let Some((least, width)) = before.sides.get(place)
                && *width > 0
            {
                let last = least.saturating_add((*width - 1) as i64);
                // Grows by half at least, so that it does not grow for every batch.
                if high > last {
                    high = high.max(last.saturating_add((*width / 2) as i64));
                }
                if low < *least {
                    low = low.min(least.saturating_sub((*width / 2) as i64));
                }
                (low, high) = (low.min(*least), high.max(last));
            }
            let width = u64::try_from(i128::from(high) - i128::from(low) + 1).ok()?;
            size = size.checked_mul(width)?;
            if size > most {
                return None;
            }
            sides.push((low, width));
        }
        Some(Direct {
            sides,
            slots: vec![0; usize::try_from(size).ok()?],
        })
    }

    #[inline]
    fn slot<const N: usize>(&self, key: &[i64]) -> Option<usize> {
        let words = if N == 0 { key.len() } else { N };
        let sides = self.sides.get(..words)?;
        let (mut slot, mut inside) = (0, true);
        for word in 0..words {
            let (least, width) = sides[word];
            let place = key[word].wrapping_sub(least) as u64;
            inside &= place < width;
            // Outside it means nothing.
            slot = usize::wrapping_add(usize::wrapping_mul(slot, width as usize), place as usize);
        }
        inside.then_some(slot)
    }
}

impl Groups {
    pub fn new(stride: usize) -> Groups {
        Groups {
            stride,
            keys: Vec::new(),
            finder: match stride {
                1 => Finder::Ordered,
                _ => Finder::Direct(Direct::default()),
            },
            expected: 0,
        }
    }

    /// How many groups.
    pub fn len(&self) -> usize {
        self.keys.len() / self.stride
    }

    /// Whether groups are numbered in the order of their keys, of one word each.
    pub fn is_ordered(&self) -> bool {
        matches!(self.finder, Finder::Ordered)
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        let slots = match &self.finder {
            Finder::Ordered => 0,
            Finder::Direct(direct) => direct.slots.capacity() * 4,
            Finder::Hashed(slots) => slots.capacity() * 8,
        };
        self.keys.capacity() * 8 + slots
    }

    /// Gives every key one word more, 0, at the end.
    pub fn lengthen(&mut self) {
        let longer = self.keys.chunks_exact(self.stride);
        self.keys = longer
            .flat_map(|key| key.iter().copied().chain([0]))
            .collect();
        self.stride += 1;
        self.finder = Finder::Direct(Direct::default());
        let keys = std::mem::take(&mut self.keys);
        self.find(&keys);
    }

    /// The group of each key of `words`; new ones are added.
    pub fn find(&mut self, words: &[i64]) -> Vec<u32> {
        match self.stride {
            1 => self.find_in::<1>(words),
            2 => self.find_in::<2>(words),
            3 => self.find_in::<3>(words),
            _ => self.find_in::<0>(words),
        }
    }

    /// The same for keys of `N` words, or of any number if `N` is 0.
    fn find_in<const N: usize>(&mut self, words: &[i64]) -> Vec<u32> {
        let stride = if N == 0 { self.stride } else { N };
        let mut found = Vec::with_capacity(words.len() / stride);
        let mut start = 0;
        if self.is_ordered() {
            if self.follow(words, &mut found) {
                return found;
            }
            self.finder = self.without_order();
        }
        while let Finder::Direct(direct) = &mut self.finder {
            // Before the first key there is no box to look in.
            let inside = if direct.slots.is_empty() {
                0
            } else {
                words.len()
            };
            for key in words[start..inside.max(start)].chunks_exact(stride) {
                let Some(slot) = direct.slot::<N>(key) else {
                    break;
                };
                if direct.slots[slot] == 0 {
                    self.keys.extend_from_slice(key);
                    direct.slots[slot] = (self.keys.len() / stride) as u32;
                }
                found.push(direct.slots[slot] - 1);
            }
            start = found.len() * stride;
            if start == words.len() {
                return found;
            }
            self.widen(&words[start..]);
        }
        for batch in words[start..].chunks(AT_ONCE * stride) {
            self.find_hashed::<N>(batch, &mut found);
        }
        found
    }

    /// The groups of keys that go on in order; false if they do not.
    fn follow(&mut self, words: &[i64], found: &mut Vec<u32>) -> bool {
        let Some(first) = words.first() else {
            return true;
        };
        if !words.is_sorted() || self.keys.last().is_some_and(|last| last > first) {
            return false;
        }
        let mut last = match self.keys.last() {
            Some(_) => self.keys.len() - 1,
            None => 0,
        };
        self.keys.resize(last + 1 + words.len(), *first);
        found.extend(words.iter().map(|word| {
            last += usize::from(self.keys[last] != *word);
            self.keys[last] = *word;
            // In range: groups are numbered in 32 bits.
            last as u32
        }));
        self.keys.truncate(last + 1);
        true
    }

    /// What finds the groups that came in order from now on.
    fn without_order(&self) -> Finder {
        let (Some(least), Some(last)) = (self.keys.first(), self.keys.last()) else {
            return Finder::Direct(Direct::default());
        };
        match u64::try_from(i128::from(*last) - i128::from(*least) + 1) {
            Ok(width) => Finder::Direct(Direct {
                sides: vec![(*least, width)],
                slots: Vec::new(),
            }),
            Err(_) => Finder::Hashed(Vec::new()),
        }
    }

    /// Makes the table larger, or one of hashes.
    fn widen(&mut self, words: &[i64]) {
        let Finder::Direct(before) = &self.finder else {
            return;
        };
        let most = DIRECT.max(16 * (self.len() + words.len() / self.stride) as u64);
        self.finder = match Direct::around(words, self.stride, before, most) {
            Some(mut direct) => {
                for (number, key) in self.keys.chunks_exact(self.stride).enumerate() {
                    if let Some(slot) = direct.slot::<0>(key) {
                        direct.slots[slot] = number as u32 + 1;
                    }
                }
                Finder::Direct(direct)
            }
            None => Finder::Hashed(Vec::new()),
        };
    }

    /// Looks up some keys by hash, all of them at once as far as memory is concerned.
    fn find_hashed<const N: usize>(&mut self, words: &[i64], found: &mut Vec<u32>) {
        let stride = if N == 0 { self.stride } else { N };
        self.reserve(words.len() / stride);
        let Finder::Hashed(slots) = &mut self.finder else {
            return;
        };
        let mask = slots.len() - 1;
        let hashes: Vec<u64> = words.chunks_exact(stride).map(hash_key).collect();
        // Slots and keys are fetched for all before any is compared.
        let known = hashes.iter().map(|hash| slots[*hash as usize & mask]);
        let known: Vec<u64> = known.collect();
        let first = |known: &u64| match (*known as u32).checked_sub(1) {
            Some(group) => self.keys[group as usize * stride],
            None => 0,
        };
        let firsts: Vec<i64> = known.iter().map(first).collect();
        let fetched = known.into_iter().zip(firsts);
        for ((key, hash), (known, first)) in words.chunks_exact(stride).zip(hashes).zip(fetched) {
            // The upper half tells keys apart that share a slot.
            let tag = hash >> 32 << 32;
            if N == 1 && known != 0 && known >> 32 << 32 == tag && first == key[0] {
                found.push(known as u32 - 1);
                continue;
            }
            let mut slot = hash as usize & mask;
            loop {
                let known = slots[slot];
                if known == 0 {
                    let group = (self.keys.len() / stride) as u32;
                    slots[slot] = tag | u64::from(group + 1);
                    self.keys.extend_from_slice(key);
                    found.push(group);
                    break;
                }
                let place = (known as u32 as usize - 1) * stride;
                if known >> 32 << 32 == tag && same::<N>(&self.keys[place..place + stride], key) {
                    found.push(known as u32 - 1);
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
    }

    /// Makes room for so many more groups.
    fn reserve(&mut self, more: usize) {
        let (groups, expected) = (self.len(), self.expected);
        let Finder::Hashed(slots) = &mut self.finder else {
            return;
        };
        if (groups + more) * 2 <= slots.len() {
            return;
        }
        let size = ((groups + more) * 4).max(expected * 2).next_power_of_two();
        *slots = vec![0; size];
        for (number, key) in self.keys.chunks_exact(self.stride).enumerate() {
            let hash = hash_key(key);
            let mut slot = hash as usize & (size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = hash >> 32 << 32 | (number as u64 + 1);
        }
    }
}

/// Whether two keys are the same, without a call for so few words.
#[inline(always)]
fn same<const N: usize>(a: &[i64], b: &[i64]) -> bool {
    match N {
        0 => a == b,
        _ => (0..N).all(|word| a[word] == b[word]),
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Keys in order are found without a table, and still when others come later.
        #[test]
        fn keys_in_order_are_those_of_a_map(
            steps in proptest::collection::vec(0i64..3, 0..400),
            start in prop_oneof![Just(i64::MIN), Just(i64::MAX - 800), -9i64..9],
            others in proptest::collection::vec(any::<u8>(), 0..60),
            cut in 1usize..100,
        ) {
            let mut key = start;
            let ascending = steps.iter().map(|step| {
                key += step;
                key
            });
            let ascending: Vec<i64> = ascending.collect();
            let later = others.iter().map(|other| i64::from(*other));
            let later: Vec<i64> = later.collect();
            let mut groups = Groups::new(1);
            let mut model: HashMap<i64, u32> = HashMap::new();
            for words in ascending.chunks(cut).chain(later.chunks(cut)) {
                let found = groups.find(words);
                for (key, found) in words.iter().zip(found) {
                    let next = model.len() as u32;
                    prop_assert_eq!(*model.entry(*key).or_insert(next), found);
                }
                prop_assert!(groups.is_ordered() || !later.is_empty());
            }
            prop_assert_eq!(groups.len(), model.len());
        }

        /// Groups are numbered as a map would: by the first key of each, whatever batches
        /// the keys come in and wherever they lie.
        #[test]
        fn groups_are_those_of_a_map(
            stride in 1usize..4,
            batches in proptest::collection::vec(
                (any::<i8>(), 0u32..60, proptest::collection::vec(any::<i16>(), 0..300)),
                0..8,
            ),
        ) {
            let mut groups = Groups::new(stride);
            let mut model: HashMap<Vec<i64>, u32> = HashMap::new();
            for (base, shift, values) in batches {
                let word = |value: &i16| (i64::from(base) << shift).wrapping_add(i64::from(*value >> 9));
                let words: Vec<i64> = values.iter().map(word).collect();
                let words = &words[..words.len() / stride * stride];
                let found = groups.find(words);
                for (key, found) in words.chunks_exact(stride).zip(found) {
                    let next = model.len() as u32;
                    prop_assert_eq!(*model.entry(key.to_vec()).or_insert(next), found);
                }
            }
            prop_assert_eq!(groups.len(), model.len());
        }
    }
}
