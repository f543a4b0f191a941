//! Measuring organisations against each other: in turns, so that what disturbs the
//! machine disturbs all of them.

use super::organisation::{Organisation, Stored};
use super::output::{Answer, Output};
use super::query::{Access, Query, run};
use super::replica::{Destination, Replica};
use super::sweep::AS_IN_THE_PAPER;
pub use super::sweep::{Ratios, Sweep, Times};
use super::tables::{Generator, TableKind};
use crate::error::{Error, Result};
use crate::setting::Setting;

/// A table and a way to find rows in it.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    /// What the legend calls it.
    pub name: String,
    /// The table.
    pub table: Held<'a>,
    /// How rows are found.
    pub access: Access,
}

/// A table, and whose it is.
#[derive(Clone, Copy, Debug)]
pub enum Held<'a> {
    /// Freestone's.
    Freestone(&'a Stored),
    /// The paper's.
    Replica(&'a Replica),
}

impl<'a> Contender<'a> {
    /// Of these three.
    pub fn new(name: &str, stored: &'a Stored, access: Access) -> Contender<'a> {
        Contender {
            name: name.into(),
            table: Held::Freestone(stored),
            access,
        }
    }

    /// The same of the paper's own program.
    pub fn paper(name: &str, replica: &'a Replica, access: Access) -> Contender<'a> {
        Contender {
            name: format!("{name}{AS_IN_THE_PAPER}"),
            table: Held::Replica(replica),
            access,
        }
    }
}

/// What all races of an experiment share.
#[derive(Debug)]
pub struct Lab {
    /// Seed of tables and projections.
    pub seed: u64,
    /// Rows of a table, unless an experiment says otherwise.
    pub rows: u64,
    /// The table.
    pub kind: TableKind,
    /// Threads of a query.
    pub threads: usize,
    /// Turns: each is a sample.
    pub turns: usize,
    outputs: Vec<Output>,
    destinations: Vec<Destination>,
}

/// What the replica is, for those who read what was measured.
pub const REPLICA: &str = "As in the paper: a replica of its storage manager, in which predicates are \
                           expressions of objects, numbers of tuples that match are listed and the \
                           tuples copied one by one in that order, and sorts are of references.";

/// Most runs of a sample: the quickest of them counts.
const RUNS: usize = 40;
/// Seconds after which a sample has no further runs, from the second on.
const ENOUGH: f64 = 0.03;

impl Lab {
    /// For an experiment that keeps `tables` tables at once. The number of rows is the
    /// paper's where memory allows it.
    pub fn new(setting: &Setting, kind: TableKind, tables: u64) -> Lab {
        let full = full_rows(setting, kind, tables);
        // Two blocks for each of two threads, of the most rows that a block has.
        let quick = (4_u64 << 20) * 40 / kind.row_bytes() as u64;
        Lab {
            seed: setting.seed,
            rows: setting.by_scale(quick.min(full), full),
            kind,
            threads: setting.threads.max(1),
            turns: setting.repetitions(),
            outputs: Vec::new(),
            destinations: Vec::new(),
        }
    }

    /// The generator of its table.
    pub fn generator(&self) -> Generator {
        Generator {
            kind: self.kind,
            seed: self.seed,
        }
    }

    /// Its table, organised.
    ///
    /// # Errors
    /// Those of writing blocks.
    pub fn load(&self, organisation: &Organisation) -> Result<Stored> {
        Stored::load(self.generator(), self.rows, organisation, self.threads)
    }

    /// Its table, as the paper keeps it.
    ///
    /// # Errors
    /// An organisation that the paper does not have.
    pub fn replica(&self, organisation: &Organisation) -> Result<Replica> {
        Replica::load(self.generator(), self.rows, organisation, self.threads)
    }

    /// Rows of a block of so many bytes of raw tuples.
    pub fn rows_of(&self, bytes: usize) -> usize {
        bytes / self.kind.row_bytes()
    }

    /// Runs one query by each contender, in turns; seconds of each, turn by turn.
    ///
    /// # Errors
    /// Those of the queries; that two contenders do not agree.
    pub fn race(
        &mut self,
        contenders: &[Contender<'_>],
        threads: usize,
        query: impl Fn(usize) -> Query,
    ) -> Result<Vec<Times>> {
        let room = threads.max(self.outputs.len());
        self.outputs.resize_with(room, Output::default);
        self.destinations.resize_with(room, Destination::default);
        let mut times = vec![Times(Vec::new()); contenders.len()];
        for turn in 0..self.turns {
            let query = query(turn);
            let mut agreed: Option<Answer> = None;
            for (contender, times) in contenders.iter().zip(&mut times) {
                let (answer, seconds) = self.sample(contender, threads, &query)?;
                let expected = *agreed.get_or_insert(answer);
                if answer != expected {
                    let message = format!(
                        "{} found {answer:?} where others found {expected:?}",
                        contender.name
                    );
                    return Err(Error::new(message, "This is a bug: please report it."));
                }
                times.0.push(seconds);
            }
        }
        Ok(times)
    }

    /// A run to warm up, and the best of some more.
    fn sample(
        &mut self,
        contender: &Contender<'_>,
        threads: usize,
        query: &Query,
    ) -> Result<(Answer, f64)> {
        let access = contender.access;
        let mut once = || match contender.table {
            Held::Freestone(stored) => run(stored, query, access, threads, &mut self.outputs),
            Held::Replica(replica) => replica.run(query, access, threads, &mut self.destinations),
        };
        let (_, answer) = once()?;
        let (mut best, mut spent) = (f64::INFINITY, 0.0);
        for number in 0..RUNS {
            if number >= 2 && spent > ENOUGH {
                break;
            }
            let seconds = once()?.0.as_secs_f64();
            best = f64::min(best, seconds);
            spent += seconds;
        }
        Ok((answer, best))
    }

    /// Races one query after the other: `query(x, turn)` for each of `xs`.
    ///
    /// # Errors
    /// As [`Lab::race`].
    pub fn sweep(
        &mut self,
        contenders: &[Contender<'_>],
        xs: &[f64],
        query: impl Fn(f64, usize) -> Query,
    ) -> Result<Sweep> {
        let threads = self.threads;
        let mut sweep = Sweep {
            names: contenders.iter().map(|each| each.name.clone()).collect(),
            xs: xs.to_vec(),
            times: vec![Vec::new(); contenders.len()],
        };
        for x in xs {
            let times = self.race(contenders, threads, |turn| query(*x, turn))?;
            for (all, times) in sweep.times.iter_mut().zip(times) {
                all.push(times);
            }
        }
        Ok(sweep)
    }

    /// What was measured, of Freestone and of the replica.
    pub fn setup(&self, more: &str) -> String {
        format!("{} {REPLICA}", self.setup_alone(more))
    }

    /// What was measured, of Freestone alone.
    pub fn setup_alone(&self, more: &str) -> String {
        format!(
            "{:?}, {} rows (the paper has {}), {} threads, {} samples for each point, each the \
             best of up to {RUNS} runs after one to warm up, the mean of what \
             its threads work, without what they wait for a core; columns to project are drawn anew for each sample. \
             Times are compared turn by turn, of which the middle one counts. \
             Where a claim says that one thing takes no longer than another, 5 % are no difference. \
             {more}",
            self.kind,
            self.rows,
            self.kind.paper_rows(),
            self.threads,
            self.turns,
        )
    }
}

/// Rows of the paper, or fewer if so many tables and their results must fit into memory.
fn full_rows(setting: &Setting, kind: TableKind, tables: u64) -> u64 {
    // A table beside its files, with an index and a result: about two and a half times
    // its tuples.
    let bytes = kind.row_bytes() as u64 * 5 / 2 * tables.max(1);
    kind.paper_rows()
        .min(setting.memory / bytes.max(1))
        .max(1 << 16)
}

/// Bytes of memory for an experiment with so many tables at once.
pub fn memory(setting: &Setting, kind: TableKind, tables: u64) -> u64 {
    let rows = Lab::new(setting, kind, tables).rows;
    rows * kind.row_bytes() as u64 * 5 / 2 * tables
}
