//! The same query on all sides, in turn.

use crate::Result;
use crate::bench::Bench;
use crate::compare::difference;
use crate::ours;
use crate::peer::Peer;
use crate::report::Row;
use arrow::array::RecordBatch;
use freestone::Session;
use tokio::runtime::Runtime;

/// What a query took on each side.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// Best seconds of Freestone.
    pub ours: f64,
    /// Best seconds of DuckDB.
    pub theirs: Option<f64>,
    /// Where the results differ, or why there is none.
    pub problem: Option<String>,
}

impl Pair {
    /// As a row in milliseconds.
    pub fn row(&self, what: impl Into<String>) -> Row {
        let mut row = Row::new(what, "ms", self.ours * 1e3);
        row.peer = self.theirs.map(|seconds| seconds * 1e3);
        row.problem.clone_from(&self.problem);
        row
    }
}

/// Runs a query once on each side without counting, then in turn.
///
/// # Errors
/// Those of Freestone; DuckDB's become the pair's problem.
pub fn query(bench: &mut Bench, session: &Session, sql: &str) -> Result<Pair> {
    let turns = Turns {
        runtime: &bench.runtime,
        session,
        rounds: bench.rounds,
    };
    let mut peers: Vec<&mut Peer> = bench.peer.iter_mut().collect();
    let (ours, theirs) = turns.run(sql, &mut peers)?;
    let theirs = theirs.first();
    Ok(Pair {
        ours,
        theirs: theirs.and_then(Theirs::best),
        problem: theirs.and_then(|theirs| theirs.problem.clone()),
    })
}

/// How queries run in turn.
#[derive(Clone, Copy)]
pub struct Turns<'a> {
    /// Runs the statements of Freestone.
    pub runtime: &'a Runtime,
    /// Where they run.
    pub session: &'a Session,
    /// Measured runs on each side.
    pub rounds: usize,
}

impl Turns<'_> {
    /// Runs a query once on each side without counting, then in turn; the best
    /// seconds of Freestone, and what each peer did.
    ///
    /// # Errors
    /// Those of Freestone; a peer's become its problem.
    pub fn run(&self, sql: &str, peers: &mut [&mut Peer]) -> Result<(f64, Vec<Theirs>)> {
        let mut ours = Vec::new();
        let mut theirs: Vec<Theirs> = peers.iter().map(|_| Theirs::default()).collect();
        for round in 0..=self.rounds {
            let (seconds, batches) = ours::run(self.runtime, self.session, sql)?;
            ours.push(seconds);
            let first = (round == 0).then_some(batches.as_slice());
            for (peer, theirs) in peers.iter_mut().zip(&mut theirs) {
                theirs.turn(peer, sql, first)?;
            }
        }
        // The first of each warmed up.
        Ok((best(&ours[1..]).unwrap_or_default(), theirs))
    }
}

/// What a query took on another side.
#[derive(Debug, Default)]
pub struct Theirs {
    /// Of all runs, the first of which warmed up.
    seconds: Vec<f64>,
    /// Whether the last run was stopped.
    pub timed_out: bool,
    /// Where the results differ, or why there is none.
    pub problem: Option<String>,
}

impl Theirs {
    /// One more run, unless there was one that went wrong; the first is beside the
    /// batches of ours, which it is compared with.
    fn turn(&mut self, peer: &mut Peer, sql: &str, first: Option<&[RecordBatch]>) -> Result<()> {
        if self.timed_out || self.problem.is_some() {
            return Ok(());
        }
        let answer = match first {
            Some(_) => peer.fetch(sql),
            None => peer.run(sql),
        };
        match answer {
            Ok(answer) => {
                self.seconds.extend(answer.seconds);
                self.timed_out = answer.timed_out;
                if let (Some(batches), Some(cells)) = (first, answer.value) {
                    let name = peer.engine().to_string();
                    self.problem = difference(&ours::cells(batches)?, &cells, &name);
                }
            }
            Err(error) => self.problem = Some(error.to_string()),
        }
        Ok(())
    }

    /// Runs that all took as long.
    #[cfg(test)]
    pub fn of(seconds: f64) -> Theirs {
        Theirs {
            seconds: vec![seconds; 2],
            ..Theirs::default()
        }
    }

    /// The best seconds of its runs; of one that was stopped, the seconds until then.
    pub fn best(&self) -> Option<f64> {
        match self.timed_out {
            true => self.seconds.last().copied(),
            false => best(self.seconds.get(1..).unwrap_or_default()),
        }
    }
}

/// The least value: what a query takes where nothing else disturbs it.
pub fn best(values: &[f64]) -> Option<f64> {
    values.iter().copied().min_by(f64::total_cmp)
}

/// The value in the middle; of an even count the mean of the two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_stopped_run_counts() {
        let mut theirs = Theirs {
            seconds: vec![9.0, 2.0, 1.0, 3.0],
            ..Theirs::default()
        };
        assert_eq!(theirs.best(), Some(1.0));
        theirs.seconds = vec![60.0];
        assert_eq!(theirs.best(), None);
        theirs.timed_out = true;
        assert_eq!(theirs.best(), Some(60.0));
    }
}
