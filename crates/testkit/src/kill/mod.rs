//! A load that is killed leaves all of its rows or none, and nothing else moves.
//!
//! A database gets a table `keep`. Then, round after round, the `freestone`
//! program starts a load of another table, `big`, and is killed with SIGKILL at
//! a random moment between its start and a little after its usual end. The
//! database must then open, every block must verify, `big` must hold all of
//! its rows or none, and `keep` must be what it was.
//!
//! Three ways to load take turns, because they publish differently: COPY into
//! an empty table, CREATE TABLE AS, and INSERT … SELECT into a table that
//! already holds rows, which must survive.
//!
//! What SIGKILL cannot show is the loss of bytes that the system had not
//! written yet; the storage crate's fault-injecting files test that.

mod check;
mod load;
pub mod transactions;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use check::Seen;
use load::Load;

/// What to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The `freestone` program.
    pub program: PathBuf,
    /// How many processes to kill.
    pub rounds: usize,
    /// Rows of `big`.
    pub rows: u64,
    /// Seed of the random moments; printed, so that a run can be repeated.
    pub seed: u64,
}

/// How one round went.
#[derive(Debug)]
pub struct Round {
    /// Which load was running.
    pub load: &'static str,
    /// When it was killed, after its start.
    pub moment: Duration,
    /// How long it takes undisturbed.
    pub usual: Duration,
    /// Whether it had ended by itself before the kill.
    pub ended: bool,
    /// What the database holds, or what is wrong with it.
    pub outcome: Result<Seen, String>,
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (moment, usual) = (self.moment.as_millis(), self.usual.as_millis());
        write!(
            f,
            "{:<16} killed at {moment:>5} ms of {usual:>5} ms  ",
            self.load
        )?;
        match &self.outcome {
            Ok(seen) => write!(f, "{seen}{}", if self.ended { " (had ended)" } else { "" }),
            Err(reason) => write!(f, "FAILED: {reason}"),
        }
    }
}

/// Runs the plan in a temporary folder and calls `done` after each round.
///
/// # Errors
/// When the database cannot be set up, or an undisturbed load fails.
pub fn run(plan: &Plan, done: &dyn Fn(usize, &Round)) -> Result<Vec<Round>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let database = folder.path().join("db");
    let loads = load::prepare(&database, folder.path(), plan.rows)?;
    let mut usual = Vec::new();
    for load in &loads {
        usual.push(undisturbed(plan, &database, load)?);
    }
    let mut random = Random(plan.seed);
    let mut rounds = Vec::new();
    for number in 0..plan.rounds {
        let (load, usual) = (&loads[number % loads.len()], usual[number % loads.len()]);
        let moment = usual.mul_f64(1.2 * random.next());
        load::reset(&database, load)?;
        let ended = kill_at(plan, &database, load, moment)?;
        let outcome =
            check::check(&database, load, plan.rows).and_then(|seen| match (ended, seen) {
                (
                    true,
                    Seen {
                        complete: false, ..
                    },
                ) => Err("the load reported success, but its rows are missing".into()),
                (_, seen) => Ok(seen),
            });
        let round = Round {
            load: load.name,
            moment,
            usual,
            ended,
            outcome,
        };
        done(number, &round);
        rounds.push(round);
    }
    check::no_leftovers(&database)?;
    Ok(rounds)
}

fn undisturbed(plan: &Plan, database: &Path, load: &Load) -> Result<Duration, String> {
    load::reset(database, load)?;
    let start = Instant::now();
    let status = load
        .start(&plan.program, database)?
        .wait()
        .map_err(|error| error.to_string())?;
    let elapsed = start.elapsed();
    match (status.success(), check::check(database, load, plan.rows)?) {
        (true, Seen { complete: true, .. }) => Ok(elapsed),
        (_, seen) => Err(format!(
            "undisturbed {} ended with {status}, {seen}",
            load.name
        )),
    }
}

/// Starts the load and kills it at `moment`; true when it had succeeded before.
fn kill_at(plan: &Plan, database: &Path, load: &Load, moment: Duration) -> Result<bool, String> {
    let mut child = load.start(&plan.program, database)?;
    std::thread::sleep(moment);
    child.kill().map_err(|error| error.to_string())?;
    let status = child.wait().map_err(|error| error.to_string())?;
    match status.code() {
        None => Ok(false), // ended by the signal
        Some(0) => Ok(true),
        Some(code) => Err(format!(
            "{} failed by itself with exit code {code}",
            load.name
        )),
    }
}

/// SplitMix64: enough to choose moments, and the same on every machine.
struct Random(u64);

impl Random {
    /// Uniform in 0..1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_spread_and_repeatable() {
        let draw = |seed| {
            let mut random = Random(seed);
            (0..100).map(|_| random.next()).collect::<Vec<_>>()
        };
        let moments = draw(1);
        assert_eq!(moments, draw(1));
        assert_ne!(moments, draw(2));
        assert!(moments.iter().all(|m| (0.0..=1.0).contains(m)));
        assert!(moments.iter().any(|m| *m < 0.1) && moments.iter().any(|m| *m > 0.9));
    }
}
