//! What one run of one experiment found, kept as a JSON file.

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::outcome::{Outcome, Plot};
use crate::setting::{Scale, Setting};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
    /// This program; built with `FREESTONE_COMMIT` set, it knows its commit by itself.
    pub fn here(commit: Option<&str>) -> Program {
        let commit = commit.or(option_env!("FREESTONE_COMMIT")).map(str::trim);
        let commit = commit
            .filter(|commit| !commit.is_empty())
            .unwrap_or("unknown");
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
    /// `quick` or `full`.
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
            scale: match setting.scale {
                Scale::Quick => "quick".to_string(),
                Scale::Full => "full".to_string(),
            },
            repetitions: setting.repetitions(),
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

    /// Writes the record, in place of an earlier one of the same experiment.
    ///
    /// # Errors
    /// What the disk says. The earlier record is whole until the new one is.
    pub fn write(&self, directory: &Path) -> Result<PathBuf> {
        let path = Record::path(directory, &self.id);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::new(format!("{} makes no JSON: {error}", self.id), ""))?;
        let part = path.with_extension("json.part");
        let written = fs::create_dir_all(directory)
            .and_then(|()| fs::write(&part, text + "\n"))
            .and_then(|()| fs::rename(&part, &path));
        written.map_err(|error| {
            let message = format!("cannot write {}: {error}", path.display());
            Error::new(message, "make room, or choose another directory with --out")
        })?;
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

/// Of a file of whatever form, its form.
#[derive(Deserialize)]
struct Form {
    form: u32,
}

/// All records of a directory.
#[derive(Debug, Default)]
pub struct Records {
    /// Those that can be read, by the names of their files.
    pub whole: Vec<Record>,
    /// What is wrong with the others.
    pub damaged: Vec<Error>,
}

impl Records {
    /// Reads every `.json` file of a directory.
    ///
    /// # Errors
    /// If the directory cannot be read or has no such file. Damaged files are no error here.
    pub fn read(directory: &Path) -> Result<Records> {
        let hint = "`freestone lab run all --quick` makes records; --out says where";
        let name = directory.display();
        let entries = fs::read_dir(directory).map_err(|error| {
            Error::new(format!("cannot read the directory {name}: {error}"), hint)
        })?;
        let paths = entries.flatten().map(|entry| entry.path());
        let is_json = |path: &PathBuf| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        };
        let mut paths: Vec<PathBuf> = paths.filter(is_json).collect();
        paths.sort();
        if paths.is_empty() {
            return Err(Error::new(
                format!("{name} has no records of experiments"),
                hint,
            ));
        }
        let mut records = Records::default();
        for path in paths {
            match Record::read(&path) {
                Ok(record) => records.whole.push(record),
                Err(error) => records.damaged.push(error),
            }
        }
        Ok(records)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Need;
    use crate::outcome::{Axis, Claim, Point, Series, Table};
    use std::time::Duration;

    const EXPERIMENT: Experiment = Experiment {
        id: "t1",
        source: "T, figure 1",
        title: "test",
        need: |_| Need::default(),
        run: |_| Ok(Outcome::default()),
    };

    fn record(found: Found) -> Record {
        let setting = Setting {
            scale: Scale::Quick,
            seed: u64::MAX,
            scratch: std::env::temp_dir(),
            threads: 2,
            memory: 1,
        };
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let program = Program::here(Some("abc"));
        Record::new(
            &EXPERIMENT,
            &setting,
            &program,
            &Machine::here(),
            start,
            1.5,
            found,
        )
    }

    fn outcome() -> Outcome {
        let points = vec![
            Point::of(0.1, &[1.0, 2.0]),
            Point::exact(f64::NAN, 1.0),
            Point::exact(1.0, f64::INFINITY),
        ];
        let series = vec![Series {
            name: "s".to_string(),
            points,
        }];
        let plot = Plot {
            title: "p".to_string(),
            x: Axis::default(),
            y: Axis::default(),
            series,
        };
        let rows = vec![vec!["1".to_string()]];
        let table = Table {
            title: "t".to_string(),
            columns: vec!["c".to_string()],
            rows,
        };
        let claims = vec![Claim::tested("a", true, "b"), Claim::untested("c", "d")];
        Outcome {
            setup: "quick".to_string(),
            plots: vec![plot],
            tables: vec![table],
            claims,
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for found in [
            Found::Outcome(outcome()),
            Found::Failure("no disk".to_string()),
        ] {
            let record = record(found);
            let path = record.write(&folder.path().join("new")).unwrap();
            assert!(path.ends_with("new/t1.json"));
            assert_eq!(Record::read(&path).unwrap(), record);
        }
    }

    #[test]
    fn points_that_are_no_numbers_are_left_out_and_counted() {
        let record = record(Found::Outcome(outcome()));
        assert_eq!(
            record.remarks,
            ["2 points of “p” were no numbers and were left out"]
        );
        assert_eq!(record.outcome().unwrap().plots[0].series[0].points.len(), 1);
        assert_eq!(record.date, "2023-11-14 22:13:20 UTC");
    }

    #[test]
    fn damaged_records_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = record(Found::Outcome(outcome()))
            .write(folder.path())
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(folder.path().join("t2.json"), &text[..text.len() / 2]).unwrap();
        fs::write(
            folder.path().join("t3.json"),
            text.replace("\"form\": 1", "\"form\": 9"),
        )
        .unwrap();
        fs::write(folder.path().join("notes.txt"), "not a record").unwrap();
        let records = Records::read(folder.path()).unwrap();
        assert_eq!((records.whole.len(), records.damaged.len()), (1, 2));
        let said: Vec<String> = records.damaged.iter().map(Error::to_string).collect();
        assert!(said[0].contains("t2.json is damaged: EOF"), "{said:?}");
        assert!(
            said[0].contains("run `freestone lab run t2` again, or remove"),
            "{said:?}"
        );
        assert!(
            said[1].contains("t3.json was written by a newer program"),
            "{said:?}"
        );
    }

    #[test]
    fn a_directory_without_records_says_how_to_make_them() {
        let folder = tempfile::tempdir().unwrap();
        for directory in [folder.path().to_path_buf(), folder.path().join("absent")] {
            let error = Records::read(&directory).unwrap_err();
            assert!(error.hint.contains("freestone lab run"), "{error}");
        }
    }
}
