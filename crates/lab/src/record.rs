//! What one run of one experiment found, kept as a JSON file.

mod directory;
mod drawings;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::outcome::{Outcome, Plot};
use crate::setting::Setting;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use directory::Records;

/// The form of the files; programs read those of their own form and of earlier ones.
const FORM: u32 = 1;

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// The git commit it was built from, or `unknown`.
    pub commit: String,
}

impl Program {
    /// This program, built from that commit.
    pub fn here(commit: &str) -> Program {
        Program {
            version: env!("CARGO_PKG_VERSION").to_string(),
            commit: commit.to_string(),
        }
    }
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// It measured.
    Outcome(Outcome),
    /// It could not, and why.
    Failure(String),
}

/// One run of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The form of the file.
    pub form: u32,
    /// The experiment's name.
    pub id: String,
    /// Where the experiment is from.
    pub source: String,
    /// What it shows.
    pub title: String,
    /// What measured.
    pub program: Program,
    /// Where.
    pub machine: Machine,
    /// When it began, in universal time.
    pub date: String,
    /// Seed of everything drawn.
    pub seed: u64,
    /// `quick`, `full`, or how many times as large as quick.
    pub scale: String,
    /// How often each point was measured.
    pub repetitions: usize,
    /// Threads of experiments that use several.
    pub threads: usize,
    /// How many threads wanted to run in the minute before the first experiment of its run.
    pub load: Option<f64>,
    /// How long all of it took.
    pub seconds: f64,
    /// What should be known of the record itself.
    pub remarks: Vec<String>,
    /// What was found.
    pub found: Found,
}

impl Record {
    /// A record of a run that began at `start` and took `seconds`.
    pub fn new(
        experiment: &Experiment,
        setting: &Setting,
        program: &Program,
        machine: &Machine,
        start: SystemTime,
        seconds: f64,
        found: Found,
    ) -> Record {
        let mut record = Record {
            form: FORM,
            id: experiment.id.to_string(),
            source: experiment.source.to_string(),
            title: experiment.title.to_string(),
            program: program.clone(),
            machine: machine.clone(),
            date: date(start),
            seed: setting.seed,
            scale: setting.scale.to_string(),
            repetitions: (experiment.need)(setting)
                .repetitions
                .unwrap_or(setting.repetitions()),
            threads: setting.threads,
            load: None,
            seconds,
            remarks: Vec::new(),
            found,
        };
        if let Found::Outcome(outcome) = &mut record.found {
            let plots = outcome.plots.iter_mut();
            record.remarks.extend(plots.filter_map(without_non_numbers));
        }
        record
    }

    /// Whether other work kept the machine busy when the run began, so that times say little.
    pub fn is_disturbed(&self) -> bool {
        const BUSY: f64 = 0.5;
        self.load.is_some_and(|load| load > BUSY)
    }

    /// What was measured, if anything.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.found {
            Found::Outcome(outcome) => Some(outcome),
            Found::Failure(_) => None,
        }
    }

    /// Where the record of an experiment is.
    pub fn path(directory: &Path, id: &str) -> PathBuf {
        directory.join(format!("{id}.json"))
    }

    /// Where an experiment's plots are drawn, each in a file of its own; the first has `number` 1.
    pub fn drawing(directory: &Path, id: &str, number: usize) -> PathBuf {
        directory.join(format!("{id}-{number}.svg"))
    }

    /// Writes the record and a drawing of each of its plots, in place of earlier ones of the
    /// same experiment.
    ///
    /// # Errors
    /// What the disk says. Each earlier file is whole until the new one is.
    pub fn write(&self, directory: &Path) -> Result<PathBuf> {
        let path = Record::path(directory, &self.id);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::new(format!("{} makes no JSON: {error}", self.id), ""))?;
        replace(&path, &(text + "\n"))?;
        let plots = self.outcome().map_or(&[][..], |outcome| &outcome.plots);
        drawings::write(directory, &self.id, plots)?;
        Ok(path)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Names the file, what is wrong with it, and how to have it again.
    pub fn read(path: &Path) -> Result<Record> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            Error::new(
                format!("cannot read {name}: {error}"),
                "allow reading it, or remove it",
            )
        })?;
        let again = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some(id) => format!("run `freestone lab run {id}` again, or remove the file"),
            None => "remove the file".to_string(),
        };
        let form = serde_json::from_str::<Form>(&text).map_or(FORM, |file| file.form);
        if form > FORM {
            let message = format!("{name} was written by a newer program (form {form})");
            return Err(Error::new(message, format!("use that program, or {again}")));
        }
        serde_json::from_str(&text)
            .map_err(|error| Error::new(format!("{name} is damaged: {error}"), again))
    }
}

/// Writes a file and its directory; what was there is whole until all is written.
fn replace(path: &Path, text: &str) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let directory = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(directory)
        .and_then(|()| fs::write(&part, text))
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        Error::new(message, "make room, or choose another directory with --out")
    })
}

/// Of a file of whatever form, its form.
#[derive(Deserialize)]
struct Form {
    form: u32,
}

/// Drops points that JSON has no number for, and says how many, if any.
fn without_non_numbers(plot: &mut Plot) -> Option<String> {
    let mut dropped = 0;
    for series in &mut plot.series {
        let before = series.points.len();
        series.points.retain(|point| {
            point.x.is_finite() && point.mean.is_finite() && point.deviation.is_finite()
        });
        dropped += before - series.points.len();
    }
    (dropped > 0).then(|| {
        format!(
            "{dropped} points of “{}” were no numbers and were left out",
            plot.title
        )
    })
}

/// A moment as `2026-11-22 21:40:05 UTC`.
fn date(moment: SystemTime) -> String {
    let since = moment
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(0);
    let date = chrono::DateTime::from_timestamp(seconds, 0);
    date.map(|date| date.to_string())
        .unwrap_or_else(|| "unknown".to_string())
}
