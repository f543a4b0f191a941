//! Advice: another design for a table, as SQL, with what it gains and costs.

use std::sync::Arc;

use freestone_model::{Candidate, Design, Gain, Total, Usage, Workload};
use freestone_storage::{Snapshot, Table, TableId};
use serde::{Deserialize, Serialize};

use super::changes::Changes;
use super::present::shown;
use crate::error::{Error, Result};
use crate::names::Name;

/// Advice that was given. Seconds are those of one thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Advice {
    pub(crate) number: u64,
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) id: u64,
    pub(crate) design: Design,
    /// What APPLY and UNDO do.
    pub(crate) apply: Vec<String>,
    pub(crate) undo: Vec<String>,
    pub(crate) applied: bool,
    /// Whether there is later advice for the table, so that nobody may apply this.
    #[serde(default)]
    pub(crate) replaced: bool,
    /// What is asked of the table, as it was known then.
    #[serde(default)]
    pub(crate) workload: Workload,
    /// Blocks that a trial left in the design.
    #[serde(default)]
    pub(crate) piloted: Vec<u64>,
    pub(crate) reads: Change,
    /// To look one row up by its key.
    pub(crate) look_up: Change,
    /// To write one row.
    pub(crate) write: Change,
    /// Bytes of the table.
    pub(crate) bytes: Change,
    /// Half of the predictions were off by no more.
    pub(crate) error: f64,
    pub(crate) queries: Vec<Query>,
}

/// Something now, and under the design.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) now: f64,
    pub(crate) then: f64,
}

/// One query that was recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Query {
    pub(crate) what: String,
    pub(crate) runs: f64,
    pub(crate) seconds: Change,
}

impl Advice {
    /// Advice to exchange what a table is for the best that was found for a workload.
    ///
    /// # Errors
    /// None but those of a bug in the search: what it tried can be.
    pub(crate) fn new(
        (name, table): (&Name, &Table),
        workload: &Workload,
        (now, best): (&Candidate, &Candidate),
    ) -> Result<Self> {
        let (before, after) = (&now.stored, &best.stored);
        let design = shown(table, &after.design);
        let Changes { apply, undo } = Changes::between(name, table, &before.design, &design)?;
        let change = |now, then| Change { now, then };
        Ok(Self {
            number: 0,
            schema: name.schema.clone(),
            table: name.name.clone(),
            id: table.id.0,
            design,
            apply,
            undo,
            applied: false,
            replaced: false,
            workload: workload.clone(),
            piloted: Vec::new(),
            reads: change(0.0, 0.0),
            look_up: change(before.fetch_seconds, after.fetch_seconds),
            write: change(before.write_seconds, after.write_seconds),
            bytes: change(before.bytes(), after.bytes()),
            error: 0.0,
            queries: Vec::new(),
        })
    }

    /// The queries and what they gain, each by so many threads.
    pub(crate) fn with_gains(mut self, gains: &[Gain], threads: usize) -> Self {
        let query = |gain: &Gain| {
            let (now, then) = gain.whole(threads.max(1) as f64);
            Query {
                what: described(&gain.usage),
                runs: gain.runs.count,
                seconds: Change { now, then },
            }
        };
        self.queries = gains.iter().map(query).collect();
        let sum = |of: fn(&Query) -> f64| self.queries.iter().map(|q| q.runs * of(q)).sum();
        self.reads = Change {
            now: sum(|query| query.seconds.now),
            then: sum(|query| query.seconds.then),
        };
        self
    }

    /// Share of all time that it saves; what is looked up and written costs the rest of
    /// `now` and `then`.
    pub(crate) fn saved(&self, now: &Total, then: &Total) -> f64 {
        let whole = |reads: f64, total: &Total| reads + total.looking_up + total.writing;
        let before = whole(self.reads.now, now);
        1.0 - whole(self.reads.then, then) / before.max(f64::MIN_POSITIVE)
    }

    /// Whether it was applied, in a word.
    pub(crate) fn state(&self) -> &'static str {
        match (self.applied, self.piloted.is_empty()) {
            (true, _) => "applied",
            (false, false) => "piloted",
            (false, true) => "given",
        }
    }

    /// Whether there is something that UNDO takes back.
    pub(crate) fn is_undoable(&self) -> bool {
        self.applied || !self.piloted.is_empty()
    }

    /// The table, as long as it is the one that was advised.
    ///
    /// # Errors
    /// `55000` if it is not.
    pub(crate) fn table_in<'a>(&self, snapshot: &'a Snapshot) -> Result<&'a Arc<Table>> {
        let table = snapshot.table(&self.schema, &self.table);
        let table = table.filter(|table| table.id == self.table_id());
        table.ok_or_else(|| {
            let message = format!("table \"{}\" is not the one that was advised", self.table);
            Error::new("55000", message)
        })
    }

    pub(crate) fn table_id(&self) -> TableId {
        TableId(self.id)
    }
}

/// A usage in a few words.
pub(crate) fn described(usage: &Usage) -> String {
    let mut text = format!("read {}", listed(&usage.read));
    let tested: Vec<String> = usage
        .tested
        .iter()
        .map(|tested| tested.column.clone())
        .collect();
    for (word, columns) in [
        (" where ", &tested),
        (" join on ", &usage.joined),
        (" group by ", &usage.grouped),
        (" order by ", &usage.sorted),
    ] {
        if !columns.is_empty() {
            text.push_str(word);
            text.push_str(&listed(columns));
        }
    }
    text
}

fn listed(columns: &[String]) -> String {
    match columns {
        [] => "no column".to_owned(),
        [first, second, rest @ ..] if rest.len() > 4 => {
            format!("{first}, {second} and {} more", rest.len())
        }
        few => few.join(", "),
    }
}
