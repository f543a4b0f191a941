//! Which records of a page are deleted, as bitmaps (P5).

use std::ops::Range;

/// The record numbers of a page. Those of deleted records are not given again,
/// so that the records after them keep theirs: a record is in the row of its
/// number less the records before it whose rows are gone.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    count: usize,
    /// Deleted, and their rows filled by those after them.
    gone: Bitmap,
    /// Deleted, and still in their rows.
    marked: Bitmap,
}

impl Numbers {
    /// Those of `count` records.
    pub fn new(count: usize) -> Numbers {
        Numbers {
            count,
            ..Numbers::default()
        }
    }

    /// How many were given.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Gives the next.
    pub fn give(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    /// The row of a record that is not deleted.
    pub fn row(&self, number: usize) -> Option<usize> {
        let here = number < self.count && !self.gone.has(number) && !self.marked.has(number);
        here.then(|| number - self.gone.before(number))
    }

    /// Marks a record as deleted.
    pub fn mark(&mut self, number: usize) {
        self.marked.set(number);
    }

    /// Whether there are deleted records in their rows.
    pub fn are_marked(&self) -> bool {
        self.marked.0.iter().any(|word| *word != 0)
    }

    /// The rows between those of the marked records, which are gone from now on.
    pub fn sweep(&mut self) -> Vec<Range<usize>> {
        let (mut runs, mut start, mut row) = (Vec::new(), 0, 0);
        for number in (0..self.count).filter(|number| !self.gone.has(*number)) {
            if self.marked.has(number) {
                runs.push(start..row);
                start = row + 1;
            }
            row += 1;
        }
        runs.push(start..row);
        self.gone.join(&self.marked);
        self.marked = Bitmap::default();
        runs.retain(|run| !run.is_empty());
        runs
    }
}

/// A set of numbers; memory up to the largest.
#[derive(Clone, Debug, Default)]
struct Bitmap(Vec<u64>);

impl Bitmap {
    fn has(&self, number: usize) -> bool {
        let word = self.0.get(number / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn set(&mut self, number: usize) {
        if self.0.len() <= number / 64 {
            self.0.resize(number / 64 + 1, 0);
        }
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// How many are less than `number`.
    fn before(&self, number: usize) -> usize {
        let whole = self.0.iter().take(number / 64);
        let part = self.0.get(number / 64).unwrap_or(&0) & ((1 << (number % 64)) - 1);
        let ones = whole.map(|word| word.count_ones()).sum::<u32>() + part.count_ones();
        ones as usize
    }

    fn join(&mut self, other: &Bitmap) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(word, other)| *word |= other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_numbers_and_move_up() {
        let mut numbers = Numbers::new(200);
        [3, 64, 65, 199]
            .into_iter()
            .for_each(|number| numbers.mark(number));
        assert!(numbers.are_marked());
        assert_eq!(
            (numbers.row(2), numbers.row(3), numbers.row(70)),
            (Some(2), None, Some(70))
        );
        assert_eq!(numbers.sweep(), [0..3, 4..64, 66..199]);
        assert!(!numbers.are_marked());
        assert_eq!(
            (numbers.row(3), numbers.row(4), numbers.row(70)),
            (None, Some(3), Some(67))
        );
        assert_eq!(
            (numbers.give(), numbers.row(200), numbers.row(201)),
            (200, Some(196), None)
        );
        numbers.mark(0);
        numbers.mark(100);
        assert_eq!(numbers.sweep(), [1..97, 98..197]);
        assert_eq!((numbers.row(0), numbers.row(200)), (None, Some(194)));
    }
}
