//! Blocks of tuples, and what passes them on (H, section 2.2.3).

/// Tuples of a block, which then fits in the first cache.
pub const BLOCK_TUPLES: usize = 100;

/// An array of tuples whose attributes lie at fixed places, used again and again.
#[derive(Debug)]
pub struct Block {
    width: usize,
    count: usize,
    positions: [u32; BLOCK_TUPLES],
    tuples: Vec<u8>,
}

/// Every operator and scanner: a block for each call, until there is none.
pub trait Operator {
    /// The next block; it belongs to the operator, which fills it anew when it is called
    /// again.
    fn next_block(&mut self) -> Option<&mut Block>;
}

/// `attribute <= constant`, of a number.
#[derive(Clone, Copy, Debug)]
pub struct Predicate {
    /// The constant.
    pub most: i32,
}

impl Predicate {
    /// Whether a value passes.
    pub fn passes(self, value: i32) -> bool {
        value <= self.most
    }
}

impl Block {
    /// One for tuples of so many bytes.
    pub fn new(width: usize) -> Block {
        Block {
            width,
            count: 0,
            positions: [0; BLOCK_TUPLES],
            tuples: vec![0; width * BLOCK_TUPLES],
        }
    }

    /// How many tuples it has.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether there is no room for another.
    pub fn is_full(&self) -> bool {
        self.count == BLOCK_TUPLES
    }

    /// Takes all tuples out.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Begins another tuple, of a position in the table; its number. There is room.
    pub fn push(&mut self, position: usize) -> usize {
        let tuple = self.count;
        self.positions[tuple] = position as u32;
        self.count += 1;
        tuple
    }

    /// The position of a tuple in the table.
    pub fn position(&self, tuple: usize) -> usize {
        self.positions[tuple] as usize
    }

    /// Sets an attribute of a tuple, at so many bytes.
    pub fn set(&mut self, tuple: usize, offset: usize, value: &[u8]) {
        let start = tuple * self.width + offset;
        let place = &mut self.tuples[start..start + value.len()];
        // A number is a move, a text a call.
        match (place.first_chunk_mut::<4>(), value.first_chunk::<4>()) {
            (Some(place), Some(number)) if value.len() == 4 => *place = *number,
            _ => self.tuples[start..start + value.len()].copy_from_slice(value),
        }
    }

    /// A tuple.
    #[cfg(test)]
    pub fn tuple(&self, tuple: usize) -> &[u8] {
        &self.tuples[tuple * self.width..(tuple + 1) * self.width]
    }
}
