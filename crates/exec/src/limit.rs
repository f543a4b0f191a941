//! LIMIT and OFFSET where the order, if there is one, is that of the input.

use crate::vector::Batch;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Which rows come out: the first that come where the input has no order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// So many rows are left out.
    pub skip: usize,
    /// So many come out after those, if not all.
    pub fetch: Option<usize>,
}

/// What threads share who count the rows of a limit.
#[derive(Debug)]
pub(crate) struct Limiter {
    skip: usize,
    end: usize,
    seen: AtomicUsize,
}

impl Limiter {
    pub fn new(limit: Limit) -> Limiter {
        let fetch = limit.fetch.unwrap_or(usize::MAX);
        Limiter {
            skip: limit.skip,
            end: limit.skip.saturating_add(fetch),
            seen: AtomicUsize::new(0),
        }
    }

    /// Whether no row comes out any more.
    pub fn is_full(&self) -> bool {
        self.skip == self.end || self.seen.load(Ordering::Relaxed) >= self.end
    }

    /// The rows of a batch that come out, if there are any.
    pub fn pass(&self, batch: Batch) -> Option<Batch> {
        let start = self.seen.fetch_add(batch.rows, Ordering::Relaxed);
        let from = self.skip.saturating_sub(start).min(batch.rows);
        let to = self.end.saturating_sub(start).min(batch.rows);
        match (from, to) {
            (0, to) if to == batch.rows => Some(batch),
            (from, to) if from < to => Some(batch.slice(from, to - from)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, Limiter};
    use crate::vector::{Batch, Values, Vector};
    use proptest::prelude::*;

    proptest! {
        /// What passes is what skip and take of an iterator leave; after that it is full.
        #[test]
        fn limits_are_those_of_an_iterator(
            sizes in proptest::collection::vec(1usize..20, 0..12),
            skip in 0usize..60,
            fetch in proptest::option::of(0usize..60),
        ) {
            let limiter = Limiter::new(Limit { skip, fetch });
            let (mut next, mut found) = (0i64, Vec::new());
            for rows in sizes {
                let numbers: Vec<i64> = (next..next + rows as i64).collect();
                next += rows as i64;
                let wanted = limiter.is_full();
                let column = Vector::of(Values::Int(numbers.into()));
                let passed = limiter.pass(Batch { columns: vec![column], rows });
                prop_assert!(!(wanted && passed.is_some()));
                if let Some(batch) = passed {
                    let Values::Int(numbers) = &batch.columns[0].values else { unreachable!() };
                    prop_assert_eq!(numbers.len(), batch.rows);
                    found.extend(numbers.iter().copied());
                }
            }
            let expected: Vec<i64> = (0..next).skip(skip).take(fetch.unwrap_or(usize::MAX)).collect();
            prop_assert_eq!(found, expected);
            let all = fetch.is_some_and(|fetch| fetch == 0 || skip + fetch <= next as usize);
            prop_assert_eq!(limiter.is_full(), all);
        }
    }
}
