//! What is done to the rows of a table, counted for whoever wants to know.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one table, shared by its versions until its columns change. Whoever
/// changes or looks up rows counts them; storage itself does not.
#[derive(Debug, Default)]
pub struct Activity {
    statements: AtomicU64,
    inserted: AtomicU64,
    updated: AtomicU64,
    deleted: AtomicU64,
    looked_up: AtomicU64,
    /// By column, rows in which it was assigned.
    assigned: Vec<AtomicU64>,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Times that something was counted.
    pub statements: u64,
    /// Rows that were added.
    pub inserted: u64,
    /// Rows that were given other values.
    pub updated: u64,
    /// Rows that were removed.
    pub deleted: u64,
    /// Rows that were asked for by key.
    pub looked_up: u64,
    /// By column, rows in which it was given another value.
    pub assigned: Vec<u64>,
}

impl Activity {
    /// Nothing yet, of a table with so many columns.
    pub(super) fn new(columns: usize) -> Activity {
        Activity {
            assigned: (0..columns).map(|_| AtomicU64::new(0)).collect(),
            ..Activity::default()
        }
    }

    fn count(&self, sum: &AtomicU64, rows: u64) {
        self.statements.fetch_add(1, Ordering::Relaxed);
        sum.fetch_add(rows, Ordering::Relaxed);
    }

    /// Rows were added.
    pub fn inserted(&self, rows: u64) {
        self.count(&self.inserted, rows);
    }

    /// Rows were given other values in some columns.
    pub fn updated(&self, rows: u64, columns: &[usize]) {
        self.count(&self.updated, rows);
        for column in columns {
            if let Some(count) = self.assigned.get(*column) {
                count.fetch_add(rows, Ordering::Relaxed);
            }
        }
    }

    /// Rows were removed.
    pub fn deleted(&self, rows: u64) {
        self.count(&self.deleted, rows);
    }

    /// Rows were asked for by key, found or not.
    pub fn looked_up(&self, rows: u64) {
        self.count(&self.looked_up, rows);
    }

    /// What was counted since this was asked last.
    pub fn take(&self) -> Counted {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        Counted {
            statements: take(&self.statements),
            inserted: take(&self.inserted),
            updated: take(&self.updated),
            deleted: take(&self.deleted),
            looked_up: take(&self.looked_up),
            assigned: self.assigned.iter().map(take).collect(),
        }
    }
}

impl Counted {
    /// Whether it is nothing.
    pub fn is_nothing(&self) -> bool {
        self.statements == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_taken_once() {
        let activity = Activity::new(2);
        activity.inserted(3);
        activity.updated(2, &[1]);
        activity.updated(1, &[0, 1, 7]);
        activity.deleted(4);
        activity.looked_up(5);
        let expected = Counted {
            statements: 5,
            inserted: 3,
            updated: 3,
            deleted: 4,
            looked_up: 5,
            assigned: vec![1, 3],
        };
        assert_eq!(activity.take(), expected);
        assert!(activity.take().is_nothing());
    }
}
