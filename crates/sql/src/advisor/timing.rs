//! Recorded usages as scans that can be timed.

use std::hint::black_box;
use std::time::Instant;

use freestone_model::{Run, Runs, Test, Usage, Workload};
use freestone_storage::predicate::value_at;
use freestone_storage::{ArrayForm, CompareOp, Predicate, ScanRequest, Table, Value};

use crate::error::Result;

/// Usages that are timed, those first that took the most time.
const QUERIES: usize = 8;
/// Runs of which the fastest counts.
const RUNS: usize = 5;

/// The usages of a workload that take the most time, how often they ran, and a scan of
/// each with constants that find as many rows of the table.
///
/// # Errors
/// `Corrupt` or `Io`.
pub(super) fn asked(table: &Table, workload: &Workload) -> Result<Vec<(Usage, f64, ScanRequest)>> {
    let asked = costly(workload).into_iter().map(|(usage, runs)| {
        let request = request(table, usage, &runs.mean())?;
        Ok((usage.clone(), runs.count, request))
    });
    asked.collect()
}

/// The usages of a workload that take the most time.
pub(super) fn costly(workload: &Workload) -> Vec<(&Usage, &Runs)> {
    let mut usages: Vec<_> = workload
        .usages
        .iter()
        .map(|(usage, runs)| (usage, runs))
        .collect();
    usages.sort_by(|one, two| two.1.seconds.total_cmp(&one.1.seconds));
    usages.truncate(QUERIES);
    usages
}

/// Seconds of a scan by one thread.
///
/// # Errors
/// `Corrupt` or `Io`.
pub(super) fn seconds(table: &Table, request: &ScanRequest) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let begin = Instant::now();
        let scan = table.scan(request)?;
        let mut worker = scan.worker();
        while let Some(columns) = worker.next_columns() {
            black_box(columns?);
        }
        least = least.min(begin.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// A scan as a usage makes it, with constants that find as many rows.
fn request(table: &Table, usage: &Usage, run: &Run) -> Result<ScanRequest> {
    let place = |name: &String| table.schema.index_of(name);
    let mut terms = Vec::new();
    for (number, tested) in usage.tested.iter().enumerate() {
        let share = run.shares.get(number).copied().unwrap_or(1.0);
        if let Some(column) = place(&tested.column) {
            terms.extend(condition(table, column, tested.test, share)?);
        }
    }
    Ok(ScanRequest {
        projection: usage.read.iter().filter_map(place).collect(),
        predicate: (!terms.is_empty()).then_some(Predicate::And(terms)),
        form: ArrayForm::Compact,
        ..ScanRequest::default()
    })
}

/// A condition that finds about a share of the rows by a column, whatever its values.
fn condition(table: &Table, column: usize, test: Test, share: f64) -> Result<Option<Predicate>> {
    let sample = table.sample();
    if sample.rows() == 0 {
        return Ok(None);
    }
    let array = sample.column(column)?;
    let values = (0..sample.rows()).filter_map(|row| value_at(array, row));
    let mut values: Vec<Value> = values.collect();
    values.sort_by(Value::total_order);
    let Some(last) = values.len().checked_sub(1) else {
        return Ok(None);
    };
    let at = match test {
        Test::Equal => last / 2,
        Test::Range | Test::Other => ((share * values.len() as f64) as usize).min(last),
    };
    let op = match test {
        Test::Equal => CompareOp::Eq,
        // Fewer rows than the sample tells apart, not none: those need no look at blocks.
        Test::Range if at == 0 => CompareOp::LtEq,
        Test::Range => CompareOp::Lt,
        // Not equal to what is there: every value is looked at.
        Test::Other => CompareOp::NotEq,
    };
    Ok(Some(Predicate::Compare {
        column,
        op,
        value: values.swap_remove(at),
    }))
}
