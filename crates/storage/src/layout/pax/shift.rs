//! Moving the boundaries between the minipages of a page.

/// What a minipage holds, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Values, at its front.
    pub values: usize,
    /// Presence bits or end offsets, at its back.
    pub back: usize,
}

impl Held {
    /// Bytes of both.
    pub fn bytes(self) -> usize {
        self.values + self.back
    }
}

/// Moves what lies around each boundary (the back of one minipage, the front of
/// the next) from the `old` boundaries to the `new`: right-movers from the
/// right, then left-movers from the left, so that none runs over another. Both
/// end with the page's end, and have room for what is held.
pub(super) fn shift(page: &mut [u8], held: &[Held], old: &[usize], new: &[usize]) {
    let mut shift = |column: usize| {
        let back = held[column - 1].back;
        let from = old[column] - back..old[column] + held[column].values;
        page.copy_within(from, new[column] - back);
    };
    let inner = 1..held.len();
    let right = inner.clone().rev();
    right
        .filter(|column| new[*column] > old[*column])
        .for_each(&mut shift);
    inner
        .filter(|column| new[*column] < old[*column])
        .for_each(&mut shift);
    // Presence bits are only ever set, so what was left behind must not shine through.
    for (column, held) in held.iter().enumerate() {
        page[new[column] + held.values..new[column + 1] - held.back].fill(0);
    }
}
