//! The range of a key that a part of a run computes.

use crate::plan::{Metrics, Table};
use freestone_storage::{CompareOp, Predicate, Value};
use parking_lot::Mutex;
use std::collections::HashMap;

/// The range that is computed.
pub(crate) struct Bounds<'r> {
    /// Where it begins, and what lies behind it.
    pub from: Option<i64>,
    pub to: Option<i64>,
    /// The key of each table that has one.
    pub keys: &'r [(&'r Table, usize)],
    /// The range around it, of a plan that has this one as part.
    pub around: Option<&'r Bounds<'r>>,
    /// The memory of operators so far.
    pub most: &'r Most,
}

impl Bounds<'_> {
    /// Adds what is asked of the rows of a table.
    pub fn add_terms(&self, table: &Table, terms: &mut Vec<Predicate>) {
        let keys = self.keys.iter();
        for (_, column) in keys.filter(|(of, _)| std::ptr::eq(*of, table)) {
            let term = |op, bound: i64| Predicate::Compare {
                column: *column,
                op,
                value: Value::Int(bound.into()),
            };
            terms.extend(self.from.map(|from| term(CompareOp::GtEq, from)));
            terms.extend(self.to.map(|to| term(CompareOp::Lt, to)));
        }
        if let Some(around) = self.around {
            around.add_terms(table, terms);
        }
    }
}

/// The most memory that each operator has held for one of the ranges of a thread.
#[derive(Debug, Default)]
pub(crate) struct Most(Mutex<HashMap<usize, usize>>);

impl Most {
    /// Takes note of a range; how much more it is than the ranges before.
    pub fn raise(&self, metrics: &Metrics, bytes: usize) -> usize {
        let mut most = self.0.lock();
        let most = most.entry(std::ptr::from_ref(metrics).addr()).or_default();
        let more = bytes.saturating_sub(*most);
        *most += more;
        more
    }
}
