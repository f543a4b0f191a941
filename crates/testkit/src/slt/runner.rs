//! Runs files and records.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqllogictest::{
    Condition, Control, DefaultColumnType, Normalizer, QueryExpect, Record, ResultMode, Runner,
    StatementExpect, TestErrorKind,
};

use super::database::{Expected, Freestone};
use super::known::{Failed, shorten};
use super::scope::Scope;
use super::script::{self, ENGINE};

/// What one file gave.
#[derive(Debug, Clone, Default)]
pub struct FileResult {
    /// File relative to the folder, without `.zst`.
    pub name: String,
    /// Records that did as expected.
    pub passed: u64,
    /// Records that did not.
    pub failed: Vec<Failed>,
    /// Records that need UPDATE, DELETE or CREATE INDEX.
    pub left_out: u64,
    /// Records meant for other engines.
    pub other_engines: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
}

/// Runs every file below `folder` whose name contains `filter`, on `threads`
/// threads, and calls `done` after each.
///
/// # Errors
/// When a file cannot be read or parsed.
pub fn run_folder(
    folder: &Path,
    filter: &str,
    threads: usize,
    done: &(dyn Fn(&FileResult) + Sync),
) -> Result<Vec<FileResult>, String> {
    let mut paths =
        script::find(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Long files first: the last thread to finish decides.
    paths.sort_by_key(|path| std::cmp::Reverse(path.metadata().map_or(0, |meta| meta.len())));
    let queue: VecDeque<(PathBuf, String)> = paths
        .into_iter()
        .map(|path| (path.clone(), name_of(folder, &path)))
        .filter(|(_, name)| name.contains(filter))
        .collect();
    let queue = Mutex::new(queue);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let next = queue
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                    let Some((path, name)) = next else { break };
                    let result = run_file(&path, &name);
                    if let Ok(result) = &result {
                        done(result);
                    }
                    results
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut results: Vec<FileResult> = results.into_iter().collect::<Result<_, _>>()?;
    results.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(results)
}

fn name_of(folder: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(folder).unwrap_or(path).to_string_lossy();
    relative.trim_end_matches(".zst").replace('\\', "/")
}

fn run_file(path: &Path, name: &str) -> Result<FileResult, String> {
    let records = script::read(path, name)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    Ok(runtime.block_on(run_records(records, name)))
}

async fn run_records(records: Vec<Record<DefaultColumnType>>, name: &str) -> FileResult {
    let start = Instant::now();
    let mut result = FileResult {
        name: name.to_string(),
        ..FileResult::default()
    };
    let expected = Expected::default();
    let mut runner = {
        let expected = expected.clone();
        Runner::new(move || {
            let expected = expected.clone();
            async move { Ok(Freestone::new(expected)) }
        })
    };
    let as_written: Normalizer = |value| value.trim_end().to_string();
    runner.with_normalizer(as_written);
    // SQLite writes one value per line.
    runner
        .apply_record(Record::Control(Control::ResultMode(ResultMode::ValueWise)))
        .await;
    let mut scope = Scope::default();
    for record in records {
        let (conditions, sql, line, fails) = match &record {
            Record::Statement {
                conditions,
                sql,
                loc,
                expected,
                ..
            } => (
                conditions,
                sql,
                loc.line(),
                matches!(expected, StatementExpect::Error(_)),
            ),
            Record::Query {
                conditions,
                sql,
                loc,
                ..
            } => (conditions, sql, loc.line(), false),
            _ => continue,
        };
        if conditions.iter().any(for_another_engine) {
            result.other_engines += 1;
            continue;
        }
        if scope.leaves_out(sql, fails) {
            result.left_out += 1;
            continue;
        }
        let sql = sql.clone();
        let (types, threshold) = expectation(&record);
        expected.set(types);
        runner.with_hash_threshold(threshold);
        match runner.run_async(record).await {
            Ok(_) => result.passed += 1,
            Err(error) => result.failed.push(Failed {
                file: name.to_string(),
                line,
                reason: reason(&error.kind()),
                sql,
            }),
        }
    }
    result.elapsed = start.elapsed();
    result
}

fn for_another_engine(condition: &Condition) -> bool {
    match condition {
        Condition::OnlyIf { label } => label != ENGINE,
        Condition::SkipIf { label } => label == ENGINE,
    }
}

/// The types a record declares, and the hash threshold that makes the crate
/// hash exactly when the record expects a hash. (SQLite's own threshold is an
/// option of the run; files without a `hash-threshold` line hold hashes, too.)
fn expectation(record: &Record<DefaultColumnType>) -> (Vec<DefaultColumnType>, usize) {
    let Record::Query {
        expected: QueryExpect::Results { types, results, .. },
        ..
    } = record
    else {
        return (Vec::new(), 0);
    };
    let hashed = match &results[..] {
        [line] => line
            .split_once(" values hashing to ")
            .and_then(|(count, _)| count.parse::<usize>().ok()),
        _ => None,
    };
    (
        types.clone(),
        hashed.map_or(0, |count| count.saturating_sub(1).max(1)),
    )
}

/// One line that says what went wrong.
fn reason(kind: &TestErrorKind) -> String {
    match kind {
        TestErrorKind::Fail { err, .. } => err.to_string(),
        TestErrorKind::Ok { .. } => "succeeds where an error is expected".to_string(),
        TestErrorKind::QueryResultMismatch {
            expected, actual, ..
        } => {
            format!("expected {}, got {}", list(expected), list(actual))
        }
        other => other.to_string(),
    }
}

fn list(values: &str) -> String {
    match values.is_empty() {
        true => "nothing".to_string(),
        false => shorten(&values.replace('\n', ", "), 40),
    }
}
