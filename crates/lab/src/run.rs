//! Runs experiments, one after the other, and keeps what each found.

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::machine::{self, Machine};
use crate::outcome::Outcome;
use crate::plot::seconds;
use crate::record::{Found, Program, Record};
use crate::report::Tally;
use crate::setting::Setting;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// What happens during a run, for a line or a progress bar; written out, it is a line.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Something is not installed, so that some claims cannot be tested.
    Lacks(&'a str),
    /// An experiment begins.
    Begins {
        /// Which of them, from 1.
        place: usize,
        /// How many there are.
        of: usize,
        /// The experiment.
        experiment: &'a Experiment,
    },
    /// An experiment is over, and its record written.
    Ends {
        /// Which of them, from 1.
        place: usize,
        /// How many there are.
        of: usize,
        /// What it found.
        record: &'a Record,
    },
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Lacks(what) => f.write_str(what),
            Event::Begins {
                place,
                of,
                experiment,
            } => {
                let Experiment {
                    id, source, title, ..
                } = experiment;
                write!(f, "[{place}/{of}] {id}: {title} ({source})")
            }
            Event::Ends { place, of, record } => {
                let took = seconds(record.seconds);
                write!(f, "[{place}/{of}] {}: {took}, ", record.id)?;
                match &record.found {
                    Found::Outcome(outcome) => Tally::of(&outcome.claims).fmt(f),
                    Found::Failure(why) => write!(f, "failed: {why}"),
                }
            }
        }
    }
}

/// What a run found, all in all; written out, it is a few lines.
#[derive(Debug)]
pub struct Summary {
    /// A record for each experiment, in the order in which they ran.
    pub records: Vec<Record>,
    /// Where the records are.
    pub directory: PathBuf,
    /// How long all of it took.
    pub seconds: f64,
}

impl Summary {
    /// What became of all claims.
    pub fn tally(&self) -> Tally {
        let claims = self.records.iter().filter_map(Record::outcome);
        claims.map(|outcome| Tally::of(&outcome.claims)).sum()
    }

    /// Experiments that failed, with their reasons.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.records
            .iter()
            .filter_map(|record| match &record.found {
                Found::Failure(why) => Some((record.id.as_str(), why.as_str())),
                Found::Outcome(_) => None,
            })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (took, count) = (seconds(self.seconds), self.records.len());
        let experiments = if count == 1 {
            "experiment"
        } else {
            "experiments"
        };
        writeln!(f, "{count} {experiments} in {took}: {}", self.tally())?;
        for (id, why) in self.failures() {
            writeln!(f, "{id} failed: {why}")?;
        }
        write!(f, "records are in {}", self.directory.display())
    }
}

/// Runs all, each in a directory of its own that is gone afterwards.
///
/// An experiment that fails is recorded as failed, and the next one runs.
///
/// # Errors
/// If a record cannot be written: what comes after it would be lost, too.
pub fn run(
    experiments: &[&Experiment],
    setting: &Setting,
    directory: &Path,
    program: &Program,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Summary> {
    let begin = Instant::now();
    let machine = Machine::here();
    // Later, it would be our own.
    let load = machine::load();
    let of = experiments.len();
    let mut records = Vec::new();
    for (place, experiment) in (1..).zip(experiments) {
        tell(Event::Begins {
            place,
            of,
            experiment,
        });
        let (start, clock) = (SystemTime::now(), Instant::now());
        let found = match measure(experiment, setting) {
            Ok(outcome) => Found::Outcome(outcome),
            Err(error) => Found::Failure(error.to_string()),
        };
        let took = clock.elapsed().as_secs_f64();
        let mut record = Record::new(experiment, setting, program, &machine, start, took, found);
        record.load = load;
        record.write(directory)?;
        tell(Event::Ends {
            place,
            of,
            record: &record,
        });
        records.push(record);
    }
    Ok(Summary {
        records,
        directory: directory.to_path_buf(),
        seconds: begin.elapsed().as_secs_f64(),
    })
}

/// Runs one; a panic in it is an error like others, so that it does not end the rest.
fn measure(experiment: &Experiment, setting: &Setting) -> Result<Outcome> {
    std::fs::create_dir_all(&setting.scratch)?;
    let prefix = format!("freestone-lab-{}-", experiment.id);
    let scratch = tempfile::Builder::new()
        .prefix(&prefix)
        .tempdir_in(&setting.scratch)?;
    let setting = Setting {
        scratch: scratch.path().to_path_buf(),
        ..setting.clone()
    };
    // Nothing that the experiment shares with others outlives it.
    let caught = catch_unwind(AssertUnwindSafe(|| (experiment.run)(&setting)));
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or(panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        Err(Error::new(
            format!("it panicked: {text}"),
            "this is a bug; please report it",
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Need;
    use crate::outcome::Claim;
    use crate::setting::Scale;

    const fn experiment(id: &'static str, run: fn(&Setting) -> Result<Outcome>) -> Experiment {
        Experiment {
            id,
            source: "T, figure 1",
            title: "test",
            need: |_| Need::default(),
            run,
        }
    }

    const GOOD: Experiment = experiment("good", |setting| {
        std::fs::write(setting.scratch.join("left over"), "x")?;
        let claims = vec![Claim::tested("says", true, "because")];
        Ok(Outcome {
            claims,
            ..Outcome::default()
        })
    });
    const BAD: Experiment = experiment("bad", |_| Err(Error::new("too small", "buy more")));
    const BROKEN: Experiment = experiment("broken", |_| panic!("of purpose"));

    #[test]
    fn a_failure_does_not_end_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = folder.path().join("scratch");
        let records = folder.path().join("records");
        let setting = Setting {
            scale: Scale::Quick,
            seed: 1,
            scratch: scratch.clone(),
            threads: 1,
            memory: 1,
            sql: None,
        };
        let mut lines = Vec::new();
        let mut tell = |event: Event<'_>| lines.push(event.to_string());
        let all = [&BROKEN, &BAD, &GOOD];
        let summary = run(
            &all,
            &setting,
            &records,
            &Program::here("unknown"),
            &mut tell,
        )
        .unwrap();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[4], "[3/3] good: test (T, figure 1)");
        assert!(
            lines[5].starts_with("[3/3] good: ") && lines[5].ends_with(" s, 1 claim holds"),
            "{lines:?}"
        );
        let failures: Vec<_> = summary.failures().collect();
        assert_eq!(
            failures[0],
            (
                "broken",
                "it panicked: of purpose (this is a bug; please report it)"
            )
        );
        assert_eq!(failures[1], ("bad", "too small (buy more)"));
        assert_eq!(summary.tally().hold, 1);
        for record in &summary.records {
            let path = Record::path(&records, &record.id);
            assert_eq!(Record::read(&path).unwrap(), *record);
        }
        assert_eq!(
            std::fs::read_dir(scratch).unwrap().count(),
            0,
            "scratch is cleaned"
        );
        let said = summary.to_string();
        assert!(said.starts_with("3 experiments in "), "{said}");
        assert!(
            said.contains(": 1 claim holds\nbroken failed: it panicked"),
            "{said}"
        );
    }

    #[test]
    fn a_record_that_cannot_be_written_ends_it() {
        let setting = Setting {
            scale: Scale::Quick,
            seed: 1,
            scratch: std::env::temp_dir(),
            threads: 1,
            memory: 1,
            sql: None,
        };
        let error = run(
            &[&GOOD],
            &setting,
            Path::new("/proc/nowhere"),
            &Program::here("unknown"),
            &mut |_| (),
        );
        assert!(
            error
                .unwrap_err()
                .message
                .starts_with("cannot write /proc/nowhere/good.json")
        );
    }
}
