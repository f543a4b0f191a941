//! What PILOT ADVICE timed, before and after, and how it is told.

use arrow::array::RecordBatch;
use freestone_model::{Calibration, Stored, Workload, price, total};

use crate::error::Result;
use crate::rows::{Values, batch};
use crate::workload::described;

/// What is asked of a table as it is, and as it would be: seconds of one run on all of
/// the table by one thread, or of one row.
pub(super) struct Timed {
    what: String,
    runs: f64,
    pub(super) before: f64,
    pub(super) after: f64,
}

/// What some rows of a table took in two designs, side by side.
pub(super) fn compared(
    calibration: &Calibration,
    workload: &Workload,
    (now, then): (&Stored, &Stored),
) -> Vec<Timed> {
    let tried = now.tried.iter().flat_map(|tried| &tried.usages);
    let usages = tried.filter_map(|tried| {
        let mut usages = workload.usages.iter();
        usages.find(|(usage, _)| *usage == tried.usage)
    });
    let mut timed = Vec::new();
    for (usage, runs) in usages {
        let run = runs.mean();
        // Of all rows, with the plan that is made before.
        let seconds = |stored: &Stored| {
            let tried = stored.tried.as_ref()?;
            let on_rows = tried.usages.iter().find(|tried| tried.usage == *usage)?;
            let planning = price(calibration, stored, usage, &run)?.planning();
            Some(on_rows.seconds * stored.rows / tried.rows + planning)
        };
        if let (Some(before), Some(after)) = (seconds(now), seconds(then)) {
            timed.push(Timed {
                what: described(usage),
                runs: runs.count,
                before,
                after,
            });
        }
    }
    let [before, after] = [now, then].map(|stored| total(calibration, stored, workload));
    let looked_up = (before.looking_up, after.looking_up);
    let written = (before.writing, after.writing);
    for (what, rows, (before, after)) in [
        ("look up a row", workload.looked_up, looked_up),
        ("write a row", workload.changed(), written),
    ] {
        if rows > 0.0 {
            timed.push(Timed {
                what: what.to_owned(),
                runs: rows,
                before: before / rows,
                after: after / rows,
            });
        }
    }
    timed
}

/// All runs of all that was timed.
pub(super) fn together(timed: &[Timed]) -> Timed {
    let sum = |of: fn(&Timed) -> f64| timed.iter().map(|one| one.runs * of(one)).sum();
    Timed {
        what: "all of it".to_owned(),
        runs: 1.0,
        before: sum(|one| one.before),
        after: sum(|one| one.after),
    }
}

/// The rows of the answer: what was timed, the last one being all of it.
pub(super) fn report(timed: &[Timed], verdict: &str) -> Result<RecordBatch> {
    let all = together(timed);
    let lines = || timed.iter().chain([&all]);
    let number = |of: fn(&Timed) -> f64| Values::Double(lines().map(|one| Some(of(one))).collect());
    let texts = lines().map(|one| Some(one.what.clone()));
    let verdicts = lines().map(|_| Some(verdict.to_owned()));
    batch(vec![
        ("query", Values::Text(texts.collect())),
        ("runs", number(|one| one.runs)),
        ("ms_before", number(|one| one.before * 1e3)),
        ("ms_after", number(|one| one.after * 1e3)),
        ("verdict", Values::Text(verdicts.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_verdict_on_nothing() {
        let told = report(&[], "not tried").unwrap();
        assert_eq!(told.num_rows(), 1);
    }
}
