//! Runs of a workload: response times, throughput, and memory (C, section III).

use super::family::Family;
use super::replica::Codb;
use super::workload::{Request, Requests, Workload};
use crate::error::{Error, Result};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Times that memory and throughput are looked at in a run, by each thread.
const LOOKS: usize = 50;

/// One request, measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Run, from 0.
    pub run: usize,
    /// Thread, from 0.
    pub thread: usize,
    /// Whether it read.
    pub read: bool,
    /// How long it took.
    pub milliseconds: f64,
    /// When it ended, in seconds from the beginning of the run.
    pub at: f64,
}

/// A look at a run while it went on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Run, from 0.
    pub run: usize,
    /// When, in seconds from the beginning of the run.
    pub at: f64,
    /// Requests a second, of all threads, since the look before by this thread.
    pub throughput: f64,
    /// Megabytes that the records take in memory.
    pub megabytes: f64,
}

/// What the runs of a workload gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Every request.
    pub requests: Vec<Measured>,
    /// Looks at throughput and memory.
    pub looks: Vec<Look>,
}

/// A column family that serves requests.
pub trait Records: Send + Sync {
    /// Reads all columns of one of the records that are there, chosen by any number.
    ///
    /// # Errors
    /// Those of storage.
    fn read(&self, chosen: u64) -> Result<()>;

    /// Adds a record, with an entry for each column.
    ///
    /// # Errors
    /// Those of storage.
    fn write(&self, entries: Vec<Vec<u8>>) -> Result<()>;

    /// Bytes of memory that it takes.
    ///
    /// # Errors
    /// Those of storage.
    fn bytes(&self) -> Result<u64>;
}

/// The programs that have column families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The document's, whose families begin empty.
    Codb,
    /// This one, whose families begin with the records of the workload.
    Freestone,
}

impl Program {
    fn family(self, directory: &Path, workload: &Workload) -> Result<Arc<dyn Records>> {
        Ok(match self {
            Program::Codb => Arc::new(Codb::new(directory, workload)?),
            Program::Freestone => Arc::new(Family::new(directory, workload)?),
        })
    }
}

/// Runs a workload in directories of its own within `scratch`, and writes every request as
/// a line of CSV: `run,thread,request,kind,response_ms,requests_per_second,peak_memory_mb`.
/// The last two are those of the run so far,
/// memory as of fifty looks at it.
///
/// # Errors
/// If the database or `csv` cannot be written.
pub fn codb(workload: &Workload, scratch: &Path, csv: &mut dyn Write) -> Result<Report> {
    runs(Program::Freestone, workload, scratch, csv)
}

/// The same of either program.
///
/// # Errors
/// If its files or `csv` cannot be written.
pub fn runs(
    program: Program,
    workload: &Workload,
    scratch: &Path,
    csv: &mut dyn Write,
) -> Result<Report> {
    workload.check()?;
    let mut report = Report::default();
    writeln!(
        csv,
        "run,thread,request,kind,response_ms,requests_per_second,peak_memory_mb"
    )?;
    for run in 0..workload.runs {
        let (mut requests, mut looks) = one_run(program, workload, scratch, run)?;
        requests.sort_by(|a, b| a.at.total_cmp(&b.at));
        looks.sort_by(|a, b| a.at.total_cmp(&b.at));
        write_run(&requests, &looks, csv)?;
        report.requests.extend(requests);
        report.looks.extend(looks);
    }
    csv.flush()?;
    Ok(report)
}

/// Writes the requests of a run; both they and the looks are in order of time.
fn write_run(requests: &[Measured], looks: &[Look], csv: &mut dyn Write) -> Result<()> {
    let (mut peak, mut looks) = (0.0_f64, looks.iter().peekable());
    for (number, request) in requests.iter().enumerate() {
        while let Some(look) = looks.next_if(|look| look.at <= request.at) {
            peak = peak.max(look.megabytes);
        }
        let kind = if request.read { "read" } else { "write" };
        let so_far = (number + 1) as f64 / request.at.max(1e-9);
        writeln!(
            csv,
            "{},{},{number},{kind},{:.6},{so_far:.1},{peak:.3}",
            request.run, request.thread, request.milliseconds
        )?;
    }
    Ok(())
}

/// Warms up if asked to, then measures with fresh records.
fn one_run(
    program: Program,
    workload: &Workload,
    scratch: &Path,
    run: usize,
) -> Result<(Vec<Measured>, Vec<Look>)> {
    if workload.warm_up > 0 {
        let place = tempfile::tempdir_in(scratch)?;
        let family = program.family(place.path(), workload)?;
        let stream = u64::MAX - 1 - run as u64;
        let requests = Requests::new(workload, stream).take(workload.warm_up);
        for request in requests {
            serve(family.as_ref(), request)?;
        }
    }
    let place = tempfile::tempdir_in(scratch)?;
    let family = program.family(place.path(), workload)?;
    let began = Instant::now();
    let threads = workload.threads.max(1);
    let parts: Vec<Result<(Vec<Measured>, Vec<Look>)>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let family = family.clone();
                scope.spawn(move || one_thread(workload, family.as_ref(), run, thread, began))
            })
            .collect();
        let joined = workers.into_iter().map(|worker| {
            let stopped = |_| Err(Error::new("a thread of requests stopped", ""));
            worker.join().unwrap_or_else(stopped)
        });
        joined.collect()
    });
    let (mut requests, mut looks) = (Vec::new(), Vec::new());
    for part in parts {
        let (of_thread, seen) = part?;
        requests.extend(of_thread);
        looks.extend(seen);
    }
    Ok((requests, looks))
}

/// The requests of one thread.
fn one_thread(
    workload: &Workload,
    family: &dyn Records,
    run: usize,
    thread: usize,
    began: Instant,
) -> Result<(Vec<Measured>, Vec<Look>)> {
    let threads = workload.threads.max(1);
    // The first threads take what cannot be shared evenly.
    let count = workload.requests / threads + usize::from(thread < workload.requests % threads);
    let stream = (run * threads + thread) as u64;
    let (mut measured, mut looks) = (Vec::with_capacity(count), Vec::with_capacity(LOOKS));
    let every = (count / LOOKS).max(1);
    let mut looked = (0, Instant::now());
    for (number, request) in Requests::new(workload, stream).take(count).enumerate() {
        let read = matches!(request, Request::Read(_));
        let before = Instant::now();
        serve(family, request)?;
        let milliseconds = before.elapsed().as_secs_f64() * 1e3;
        measured.push(Measured {
            run,
            thread,
            read,
            milliseconds,
            at: began.elapsed().as_secs_f64(),
        });
        if (number + 1) % every == 0 {
            let since = number + 1 - looked.0;
            let seconds = looked.1.elapsed().as_secs_f64();
            looks.push(Look {
                run,
                at: began.elapsed().as_secs_f64(),
                throughput: (since * threads) as f64 / seconds.max(1e-9),
                megabytes: family.bytes()? as f64 / 1e6,
            });
            looked = (number + 1, Instant::now());
        }
    }
    Ok((measured, looks))
}

fn serve(family: &dyn Records, request: Request) -> Result<()> {
    match request {
        Request::Read(chosen) => family.read(chosen),
        Request::Write(entries) => family.write(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_a_line() {
        let workload = Workload {
            requests: 301,
            warm_up: 10,
            threads: 2,
            runs: 2,
            records: 100,
            ..Workload::default()
        };
        let (scratch, mut csv) = (tempfile::tempdir().unwrap(), Vec::new());
        let report = codb(&workload, scratch.path(), &mut csv).unwrap();
        let text = String::from_utf8(csv).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), report.requests.len()), (1 + 602, 602));
        assert!(lines.iter().all(|line| line.split(',').count() == 7));
        let reads = report
            .requests
            .iter()
            .filter(|request| request.read)
            .count();
        assert!((200..400).contains(&reads), "{reads}");
        assert!(report.looks.iter().all(|look| look.megabytes > 0.0));
        // Nothing is left behind.
        assert_eq!(scratch.path().read_dir().unwrap().count(), 0);
    }
}
