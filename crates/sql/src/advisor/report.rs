//! The rows of ADVISE.

use arrow::array::RecordBatch;

use crate::error::Result;
use crate::names::Name;
use crate::rows::{Values, batch};
use crate::workload::{Advice, Change, rounded};

/// One row of ADVISE.
pub(super) struct Line {
    table: Option<String>,
    advice: Option<Advice>,
    note: String,
}

impl Line {
    /// A table for which there is nothing to do, and why.
    pub(super) fn nothing(name: &Name, note: String) -> Self {
        Self {
            table: Some(name.to_string()),
            advice: None,
            note,
        }
    }

    /// No table at all, and why.
    pub(super) fn of_no_table(note: String) -> Self {
        Self {
            table: None,
            advice: None,
            note,
        }
    }

    /// A table that should be another.
    pub(super) fn of(advice: &Advice) -> Self {
        let name = Name::new(&advice.schema, &advice.table);
        let mut parts = Vec::new();
        if !advice.queries.is_empty() {
            let queries = advice.queries.iter().map(|query| query.runs).sum::<f64>();
            let Change { now, then } = advice.reads;
            parts.push(format!(
                "{} ms a query ({:.2} times as fast)",
                saves((now - then) / queries.max(1.0) * 1e3),
                now / then.max(f64::MIN_POSITIVE)
            ));
        }
        let Change { now, then } = advice.look_up;
        parts.push(format!("{} µs a row looked up", saves((now - then) * 1e6)));
        let Change { now, then } = advice.write;
        parts.push(format!("{} µs a row written", saves((now - then) * 1e6)));
        let Change { now, then } = advice.bytes;
        parts.push(format!("takes {:.2} of the space", then / now.max(1.0)));
        Self {
            table: Some(name.to_string()),
            note: format!(
                "{}: {}; half of the predictions are within {:.0} %",
                advice.design,
                parts.join(", "),
                advice.error * 100.0
            ),
            advice: Some(advice.clone()),
        }
    }
}

/// What is saved, or costs.
fn saves(amount: f64) -> String {
    match amount >= 0.0 {
        true => format!("saves {amount:.3}"),
        false => format!("costs {:.3}", -amount),
    }
}

/// All rows.
pub(super) fn answer(lines: &[Line]) -> Result<RecordBatch> {
    let text = |of: &dyn Fn(&Line) -> Option<String>| Values::Text(lines.iter().map(of).collect());
    let number = |of: fn(&Advice) -> f64| {
        let of = |line: &Line| line.advice.as_ref().map(|advice| rounded(of(advice)));
        Values::Double(lines.iter().map(of).collect())
    };
    let advice = lines.iter().map(|line| line.advice.as_ref());
    // What is not kept has no number.
    let numbers = advice.map(|advice| {
        i64::try_from(advice?.number)
            .ok()
            .filter(|number| *number > 0)
    });
    let statements = |line: &Line| Some(line.advice.as_ref()?.apply.join(";\n"));
    batch(vec![
        ("advice", Values::Long(numbers.collect())),
        ("table_name", text(&|line| line.table.clone())),
        ("statements", text(&statements)),
        ("reads_ms_now", number(|advice| advice.reads.now * 1e3)),
        ("reads_ms_then", number(|advice| advice.reads.then * 1e3)),
        ("write_us_now", number(|advice| advice.write.now * 1e6)),
        ("write_us_then", number(|advice| advice.write.then * 1e6)),
        ("bytes_now", number(|advice| advice.bytes.now.round())),
        ("bytes_then", number(|advice| advice.bytes.then.round())),
        ("note", text(&|line| Some(line.note.clone()))),
    ])
}
