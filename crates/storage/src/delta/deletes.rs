//! Which rows of a block or fragment are deleted, as of when.
//!
//! One bit for each row that was ever deleted, and apart from that the deletes
//! of commits that some snapshot may not see yet. A snapshot that sees them all
//! shares the bits; an older one gets a copy without those that came later. So
//! a scan pays for deletes with one AND per word, whatever their number.

use arrow_buffer::{BooleanBuffer, Buffer};
use parking_lot::RwLock;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One bit for each row. Words are kept from the first to the last that was needed,
/// so that a few rows take little memory wherever they are.
#[derive(Clone, Debug, Default)]
pub struct RowBits {
    /// Number of the first word.
    first: usize,
    words: Vec<u64>,
}

impl PartialEq for RowBits {
    fn eq(&self, other: &RowBits) -> bool {
        self.rows().eq(other.rows())
    }
}

impl Eq for RowBits {}

impl RowBits {
    /// The word of this number.
    fn word(&self, number: usize) -> u64 {
        let place = number.checked_sub(self.first);
        let word = place.and_then(|place| self.words.get(place));
        word.copied().unwrap_or(0)
    }

    /// The word of this number, to be changed.
    fn word_mut(&mut self, number: usize) -> &mut u64 {
        if self.words.is_empty() {
            self.first = number;
        }
        if number < self.first {
            let more = self.first - number;
            self.words.splice(0..0, std::iter::repeat_n(0, more));
            self.first = number;
        }
        let place = number - self.first;
        if place >= self.words.len() {
            self.words.resize(place + 1, 0);
        }
        &mut self.words[place]
    }

    /// Whether a row's bit is set.
    pub fn contains(&self, row: u32) -> bool {
        self.word(row as usize / 64) >> (row % 64) & 1 == 1
    }

    /// Sets a bit; returns whether it was not set before.
    pub fn insert(&mut self, row: u32) -> bool {
        let word = self.word_mut(row as usize / 64);
        let new = *word >> (row % 64) & 1 == 0;
        *word |= 1 << (row % 64);
        new
    }

    /// Clears a bit.
    pub fn remove(&mut self, row: u32) {
        if self.contains(row) {
            *self.word_mut(row as usize / 64) &= !(1 << (row % 64));
        }
    }

    /// Sets every bit that `other` has.
    pub fn add_all(&mut self, other: &RowBits) {
        let Some(last) = other.words.len().checked_sub(1) else {
            return;
        };
        self.word_mut(other.first);
        self.word_mut(other.first + last);
        let start = other.first - self.first;
        for (word, more) in self.words[start..].iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// How many bits are set.
    pub fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The rows whose bits are set, ascending.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.words
            .iter()
            .zip(self.first..)
            .flat_map(|(word, place)| {
                let mut left = *word;
                std::iter::from_fn(move || {
                    let bit = (left != 0).then(|| left.trailing_zeros())?;
                    left &= left - 1;
                    // In range: a block or fragment has at most 2^20 rows.
                    Some(place as u32 * 64 + bit)
                })
            })
    }

    /// Whether any of `rows` is set; `rows` begins a word.
    pub fn any(&self, rows: &Range<usize>) -> bool {
        let last = rows.end.div_ceil(64).min(self.first + self.words.len());
        (rows.start / 64..last).any(|number| self.word(number) != 0)
    }

    /// `passing` without the rows that are set; its first bit is row `first`,
    /// which begins a word.
    pub fn taken_from(&self, passing: &BooleanBuffer, first: usize) -> BooleanBuffer {
        let mut words: Vec<u64> = passing.bit_chunks().iter_padded().collect();
        let start = first / 64;
        let here = words.iter_mut().skip(self.first.saturating_sub(start));
        let gone = self.words.iter().skip(start.saturating_sub(self.first));
        here.zip(gone).for_each(|(word, gone)| *word &= !gone);
        BooleanBuffer::new(Buffer::from_vec(words), 0, passing.len())
    }
}

/// The deletes of one block or fragment.
#[derive(Debug, Default)]
pub struct Deletes {
    state: RwLock<State>,
    /// The last commit that gave rows other values where they are.
    laid_over: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    all: Option<Arc<RowBits>>,
    /// How many bits are set.
    count: usize,
    /// Commits that an active snapshot may not see, oldest first.
    recent: Vec<(u64, Vec<u32>)>,
    /// The rows of all of these.
    recent_rows: RowBits,
}

impl State {
    /// The deletes of commits after `timestamp`, oldest first.
    fn after(&self, timestamp: u64) -> &[(u64, Vec<u32>)] {
        let first = self.recent.partition_point(|(when, _)| *when <= timestamp);
        &self.recent[first..]
    }

    /// Forgets when rows were deleted that every snapshot from `oldest` on sees as gone.
    fn forget(&mut self, oldest: u64) {
        let settled = self.recent.len() - self.after(oldest).len();
        for row in self.recent.drain(..settled).flat_map(|(_, rows)| rows) {
            self.recent_rows.remove(row);
        }
        if self.recent.is_empty() {
            self.recent_rows = RowBits::default();
        }
    }

    fn set(&mut self, rows: &[u32]) {
        let all = Arc::make_mut(self.all.get_or_insert_default());
        for row in rows {
            self.count += usize::from(all.insert(*row));
        }
    }
}

impl Deletes {
    /// Deletes that every snapshot sees.
    pub fn settled(rows: RowBits) -> Deletes {
        let count = rows.count();
        let all = (count > 0).then(|| Arc::new(rows));
        Deletes {
            state: RwLock::new(State {
                all,
                count,
                ..State::default()
            }),
            laid_over: AtomicU64::new(0),
        }
    }

    /// Notes that a commit gave rows other values where they are.
    pub fn lay_over(&self, timestamp: u64) {
        self.laid_over.store(timestamp, Ordering::SeqCst);
    }

    /// Whether commits since `timestamp`, of which a snapshot is held, deleted rows
    /// or gave them other values.
    pub fn changed_since(&self, timestamp: u64) -> bool {
        self.laid_over() > timestamp || !self.after(timestamp).is_empty()
    }

    /// The last commit that did so; 0 for none.
    pub fn laid_over(&self) -> u64 {
        self.laid_over.load(Ordering::SeqCst)
    }

    /// Marks rows of a block that no snapshot sees yet.
    pub fn settle(&self, rows: &[u32]) {
        self.state.write().set(rows);
    }

    /// The rows that are deleted as of `timestamp`; `None` for none.
    pub fn at(&self, timestamp: u64) -> Option<Arc<RowBits>> {
        let state = self.state.read();
        let all = state.all.as_ref()?;
        if state.after(timestamp).is_empty() {
            return Some(all.clone());
        }
        let mut seen = (**all).clone();
        let later = state.after(timestamp).iter();
        later
            .flat_map(|(_, rows)| rows)
            .for_each(|row| seen.remove(*row));
        (seen.count() > 0).then(|| Arc::new(seen))
    }

    /// Whether a row is deleted, by anyone who has committed.
    pub fn contains(&self, row: u32) -> bool {
        let state = self.state.read();
        state.all.as_ref().is_some_and(|all| all.contains(row))
    }

    /// Whether a row is deleted as of `timestamp`.
    pub fn contains_at(&self, row: u32, timestamp: u64) -> bool {
        let state = self.state.read();
        if !state.all.as_ref().is_some_and(|all| all.contains(row)) {
            return false;
        }
        let mut later = state.after(timestamp).iter();
        !state.recent_rows.contains(row) || !later.any(|(_, rows)| rows.contains(&row))
    }

    /// Forgets when rows were deleted, before there is any snapshot.
    pub fn forget_times(&self) {
        self.state.write().forget(u64::MAX);
    }

    /// Whether a row is deleted for every snapshot in use, and all to come. It is known at the
    /// next delete here, and not before.
    pub fn is_gone(&self, row: u32) -> bool {
        let state = self.state.read();
        state.all.as_ref().is_some_and(|all| all.contains(row)) && !state.recent_rows.contains(row)
    }

    /// Marks rows that were not deleted before. Commits mark in order of their
    /// timestamps; `oldest` is that of the oldest snapshot in use.
    pub fn mark(&self, rows: Vec<u32>, timestamp: u64, oldest: u64) {
        let mut state = self.state.write();
        state.set(&rows);
        state.forget(oldest);
        for row in &rows {
            state.recent_rows.insert(*row);
        }
        state.recent.push((timestamp, rows));
    }

    /// The deletes of commits after `timestamp`, oldest first.
    pub fn after(&self, timestamp: u64) -> Vec<(u64, Vec<u32>)> {
        self.state.read().after(timestamp).to_vec()
    }

    /// How many rows are deleted, by anyone who has committed.
    pub fn count(&self) -> usize {
        self.state.read().count
    }
}
