//! The workload generator of CODB (C, section III).

use crate::error::{Error, Result};
use freestone_calibrate::Random;

/// What requests are made (C4).
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The share of requests that read, 0 to 1; the others add a record.
    pub reads: f64,
    /// How large entries are.
    pub size: EntrySize,
    /// How many different entries there are.
    pub entropy: Entropy,
    /// Columns that each request touches, 1 or more.
    pub columns: usize,
    /// Measured requests of a run, of all threads together.
    pub requests: usize,
    /// Requests before them that are not measured; 0 for a cold start. The records are
    /// made anew after those.
    pub warm_up: usize,
    /// Threads that make requests at once, 1 or more.
    pub threads: usize,
    /// How often all of it is done, each time from the beginning.
    pub runs: usize,
    /// Records that are there before the first request.
    pub records: usize,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

/// How large an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrySize {
    /// So many bytes.
    Fixed(usize),
    /// From the first number of bytes to the second, each as likely.
    Random(usize, usize),
}

/// How many different entries are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entropy {
    /// So many, each as likely.
    Distinct(u64),
    /// Any: entries hardly ever are the same.
    Unlimited,
}

impl Default for Workload {
    /// The document's defaults: 50,000 requests four times, half of them reads, after
    /// 1,000 for warming up, of two columns with few different entries, by one thread.
    fn default() -> Workload {
        Workload {
            reads: 0.5,
            size: EntrySize::Fixed(32),
            entropy: Entropy::Distinct(10),
            columns: 2,
            requests: 50_000,
            warm_up: 1_000,
            threads: 1,
            runs: 4,
            records: 50_000,
            seed: 42,
        }
    }
}

impl Workload {
    /// Whether there is such a workload.
    ///
    /// # Errors
    /// If a number is out of its range, which the hint tells.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str, hint: &str| Err(Error::new(what, hint));
        if !(0.0..=1.0).contains(&self.reads) {
            return wrong("the share of reads is none", "Give 0 to 1.");
        }
        if self.columns == 0 || self.runs == 0 || self.threads == 0 {
            return wrong(
                "nothing would be done",
                "Give 1 or more columns, runs and threads.",
            );
        }
        match (self.size, self.entropy) {
            (EntrySize::Random(least, most), _) if least > most => wrong(
                "entries have no size",
                "Give the smaller number of bytes first.",
            ),
            (_, Entropy::Distinct(0)) => wrong("there are no entries", "Give 1 or more."),
            _ => Ok(()),
        }
    }
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Reads all columns of one of the records that are there, chosen by this number.
    Read(u64),
    /// Adds a record with an entry for each column.
    Write(Vec<Vec<u8>>),
}

/// The requests of one thread, without end.
#[derive(Debug)]
pub(super) struct Requests {
    workload: Workload,
    random: Random,
}

impl Requests {
    /// Those of a stream: threads and runs have each their own.
    pub fn new(workload: &Workload, stream: u64) -> Requests {
        Requests {
            workload: workload.clone(),
            random: Random::stream(workload.seed, stream),
        }
    }

    /// An entry: text, whose size and letters follow from which of the different ones it is.
    pub fn entry(&mut self) -> Vec<u8> {
        let which = match self.workload.entropy {
            Entropy::Distinct(count) => self.random.below(count.max(1)),
            Entropy::Unlimited => self.random.bits(),
        };
        let mut letters = Random::stream(which, 1);
        let bytes = match self.workload.size {
            EntrySize::Fixed(bytes) => bytes,
            EntrySize::Random(least, most) => {
                let more = most.saturating_sub(least) as u64 + 1;
                least + letters.below(more) as usize
            }
        };
        (0..bytes).map(|_| b'a' + letters.below(26) as u8).collect()
    }
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        Some(match self.random.share() < self.workload.reads {
            true => Request::Read(self.random.bits()),
            false => Request::Write((0..self.workload.columns).map(|_| self.entry()).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn entries(workload: &Workload, count: usize) -> Vec<Vec<u8>> {
        let mut requests = Requests::new(workload, 0);
        (0..count).map(|_| requests.entry()).collect()
    }

    #[test]
    fn wrong_workloads_are_refused() {
        Workload::default().check().unwrap();
        let refused = |workload: Workload| workload.check().is_err();
        let default = Workload::default;
        assert!(refused(Workload {
            reads: 1.5,
            ..default()
        }));
        assert!(refused(Workload {
            reads: f64::NAN,
            ..default()
        }));
        assert!(refused(Workload {
            threads: 0,
            ..default()
        }));
        let size = EntrySize::Random(9, 8);
        assert!(refused(Workload { size, ..default() }));
    }

    #[test]
    fn entropy_is_the_number_of_different_entries() {
        let few = entries(&Workload::default(), 2_000);
        assert_eq!(few.iter().collect::<BTreeSet<_>>().len(), 10);
        let workload = Workload {
            entropy: Entropy::Unlimited,
            ..Workload::default()
        };
        let many = entries(&workload, 2_000);
        assert_eq!(many.iter().collect::<BTreeSet<_>>().len(), 2_000);
    }

    #[test]
    fn entries_have_the_sizes_that_were_asked_for() {
        assert!(
            entries(&Workload::default(), 50)
                .iter()
                .all(|entry| entry.len() == 32)
        );
        let workload = Workload {
            size: EntrySize::Random(10, 19),
            entropy: Entropy::Unlimited,
            ..Workload::default()
        };
        let sizes: BTreeSet<usize> = entries(&workload, 500).iter().map(Vec::len).collect();
        assert_eq!(sizes, (10..20).collect());
    }

    #[test]
    fn requests_have_the_share_of_reads_and_the_columns() {
        let workload = Workload {
            reads: 0.8,
            columns: 3,
            ..Workload::default()
        };
        let requests = Requests::new(&workload, 5).take(10_000);
        let (mut reads, mut entries) = (0, 0);
        for request in requests {
            match request {
                Request::Read(_) => reads += 1,
                Request::Write(columns) => entries += columns.len(),
            }
        }
        assert!((7_850..8_150).contains(&reads), "{reads}");
        assert_eq!(entries, 3 * (10_000 - reads));
    }
}
