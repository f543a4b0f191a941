//! The commands of the lab, without their arguments' parsing and without a terminal.

use crate::check;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::machine::available_memory;
use crate::record::{Program, Records};
use crate::report;
use crate::run::{self, Event, Summary};
use crate::setting::{Scale, Setting};
use std::fs;
use std::path::{Path, PathBuf};

/// A setting for this machine: all its threads, half of the memory that is free, and
/// files beside the records.
///
/// The system's directory for temporary files is often in memory, where there is
/// nothing to learn about disks.
pub fn setting(scale: Scale, seed: u64, directory: &Path) -> Setting {
    const UNKNOWN: u64 = 2 << 30;
    Setting {
        scale,
        seed,
        scratch: directory.join("scratch"),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        memory: available_memory().map_or(UNKNOWN, |free| free / 2),
        sql: None,
    }
}

/// A table of the experiments, as text.
pub fn list(known: &[&Experiment]) -> String {
    let row = |experiment: &&Experiment| [experiment.id, experiment.source, experiment.title];
    let mut rows = vec![["id", "source", "title"]];
    rows.extend(known.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let (first, second) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    let line =
        |[id, source, title]: &[&str; 3]| format!("{id:<first$}  {source:<second$}  {title}\n");
    rows.iter().map(line).collect()
}

/// Runs the experiments of those names and writes a record of each into `directory`.
///
/// `commit` is what this program was built from, or `unknown`; `tell` hears what happens.
///
/// # Errors
/// Before anything runs, everything that would keep it from running; later, only that
/// a record cannot be written.
pub fn run(
    ids: &[String],
    known: &[&Experiment],
    setting: &Setting,
    directory: &Path,
    commit: &str,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Summary> {
    let chosen = check::prepare(ids, known, setting)?;
    writable(directory)?;
    for lacking in check::lacking(&chosen, setting) {
        tell(Event::Lacks(&lacking));
    }
    let summary = run::run(&chosen, setting, directory, &Program::here(commit), tell);
    // Fails if others have files there, which then stay.
    let _ = fs::remove_dir(&setting.scratch);
    summary
}

/// An hour of measuring must not end with a directory that cannot be written.
fn writable(directory: &Path) -> Result<()> {
    let tried = fs::create_dir_all(directory).and_then(|()| tempfile::tempfile_in(directory));
    tried.map(drop).map_err(|error| {
        let message = format!(
            "records cannot be written to {}: {error}",
            directory.display()
        );
        Error::new(message, "choose another directory with --out")
    })
}

/// A page that was made.
#[derive(Debug)]
pub struct Written {
    /// Where it is.
    pub path: PathBuf,
    /// How many records it shows.
    pub records: usize,
    /// Files that could not be read as records, and why.
    pub damaged: Vec<Error>,
}

/// Makes one page of all records of a directory.
///
/// # Errors
/// If there are no records, or the page cannot be written.
pub fn report(directory: &Path, known: &[&Experiment], to: &Path) -> Result<Written> {
    let records = Records::read(directory)?;
    let page = report::page(&records, known);
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let written = parent
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(to, page));
    written.map_err(|error| {
        let message = format!("cannot write {}: {error}", to.display());
        Error::new(message, "choose another file with --out")
    })?;
    Ok(Written {
        path: to.to_path_buf(),
        records: records.whole.len(),
        damaged: records.damaged,
    })
}
