//! Recorded usages as scans that can be timed.

use std::hint::black_box;

use arrow::array::Array;
use freestone_model::{Run, Runs, Test, Usage, Workload};
use freestone_storage::predicate::value_at;
use freestone_storage::{ArrayForm, CompareOp, Predicate, ScanRequest, Table, Value};

use super::clock::Clock;
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

/// Seconds of processor time of a scan by one thread.
///
/// # Errors
/// `Corrupt` or `Io`.
pub(super) fn seconds(table: &Table, request: &ScanRequest) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let begin = Clock::start();
        let scan = table.scan(request)?;
        let mut worker = scan.worker();
        while let Some(columns) = worker.next_columns() {
            black_box(columns?);
        }
        least = least.min(begin.seconds());
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
    match test {
        Test::Present => return Ok(Some(Predicate::IsNotNull(column))),
        Test::Absent => return Ok(Some(Predicate::IsNull(column))),
        Test::Equal | Test::Range | Test::Other => {}
    }
    let sample = table.sample();
    if sample.rows() == 0 {
        return Ok(None);
    }
    let array = sample.column(column)?;
    let present = (0..sample.rows()).filter(|row| array.is_valid(*row));
    let values = present.filter_map(|row| value_at(array, row));
    let mut values: Vec<Value> = values.collect();
    values.sort_by(Value::total_order);
    let Some(last) = values.len().checked_sub(1) else {
        return Ok(None);
    };
    let at = match test {
        Test::Equal => last / 2,
        // A share of all rows, of which those without a value never pass.
        _ => ((share * sample.rows() as f64) as usize).min(last),
    };
    let op = match test {
        Test::Equal => CompareOp::Eq,
        // Fewer rows than the sample tells apart, not none: those need no look at blocks.
        Test::Range if at == 0 => CompareOp::LtEq,
        Test::Range => CompareOp::Lt,
        // Not equal to what is there: every value is looked at.
        _ => CompareOp::NotEq,
    };
    Ok(Some(Predicate::Compare {
        column,
        op,
        value: values.swap_remove(at),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Database;
    use crate::testing::run;

    /// A column that one row in ten has: what is timed finds as many rows as the queries did,
    /// of all rows, and asks what they asked.
    #[test]
    fn what_is_timed_finds_as_many_rows() {
        let database = Database::in_memory();
        let session = database.session();
        let few = "SELECT CASE WHEN value % 10 = 0 THEN value END AS n";
        let rows = "generate_series(1, 1000) AS g(value)";
        run(&session, &format!("CREATE TABLE t AS {few} FROM {rows}"));
        run(&session, "VACUUM t");
        for (condition, share) in [
            ("n < 400", 0.04),
            ("n IS NOT NULL", 0.1),
            ("n IS NULL", 0.9),
        ] {
            run(&session, "RESET WORKLOAD");
            run(&session, &format!("SELECT sum(n) FROM t WHERE {condition}"));
            let snapshot = database.store().snapshot();
            database.record().settle(snapshot.catalog());
            let (_, table) = snapshot.all_tables().next().unwrap();
            let asked = asked(table, &database.record().workload(table.id)).unwrap();
            let [(_, _, request)] = asked.as_slice() else {
                panic!("one query ran");
            };
            let found = table.scan(request).unwrap();
            let found: usize = found.worker().map(|rows| rows.unwrap().num_rows()).sum();
            // The sample has all rows of a table as small as that.
            let expected = share * 1000.0;
            assert!(
                (found as f64 / expected - 1.0).abs() < 0.1,
                "{condition}: {found}"
            );
        }
    }
}
