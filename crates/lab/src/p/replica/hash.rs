//! A hash table of numbers, for the buffer pool and the lock manager.

const EMPTY: u64 = u64::MAX;

/// Values by key, in one array; no key is the largest number.
#[derive(Debug)]
pub struct HashTable {
    slots: Vec<(u64, u32)>,
    count: usize,
}

impl HashTable {
    /// An empty one.
    pub fn new() -> HashTable {
        HashTable {
            slots: vec![(EMPTY, 0); 64],
            count: 0,
        }
    }

    /// The place of a key, or the free one where it belongs.
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[place].0 != key && self.slots[place].0 != EMPTY {
            place = (place + 1) & mask;
        }
        place
    }

    /// The value of a key.
    pub fn get(&self, key: u64) -> Option<u32> {
        let (known, value) = self.slots[self.place(key)];
        (known == key).then_some(value)
    }

    /// The value of a key, which is `new` if it was not there.
    pub fn entry(&mut self, key: u64, new: u32) -> &mut u32 {
        if 2 * self.count >= self.slots.len() {
            self.grow();
        }
        let place = self.place(key);
        let slot = &mut self.slots[place];
        if slot.0 == EMPTY {
            *slot = (key, new);
            self.count += 1;
        }
        &mut slot.1
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        if self.count > 0 {
            self.slots.fill((EMPTY, 0));
            self.count = 0;
        }
    }

    fn grow(&mut self) {
        let twice = vec![(EMPTY, 0); 2 * self.slots.len()];
        let before = std::mem::replace(&mut self.slots, twice);
        for (key, value) in before.into_iter().filter(|(key, _)| *key != EMPTY) {
            let place = self.place(key);
            self.slots[place] = (key, value);
        }
    }
}
