//! Advice: another design for a table, as SQL, with what it gains and costs.

use std::sync::Arc;

use freestone_model::{Candidate, Design, Gain, Total, Usage};
use freestone_storage::{Snapshot, Table, TableId};
use serde::{Deserialize, Serialize};

use super::present::is_of_key;
use crate::error::{Error, Result};
use crate::plan::names::{Name, quoted};

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
    /// Advice to exchange what a table is for the best that was found.
    pub(super) fn new(name: &Name, table: &Table, now: &Candidate, best: &Candidate) -> Self {
        let (before, after) = (&now.stored, &best.stored);
        let change = |now, then| Change { now, then };
        let mut advice = Self {
            number: 0,
            schema: name.schema.clone(),
            table: name.name.clone(),
            id: table.id.0,
            design: after.design.clone(),
            apply: Vec::new(),
            undo: Vec::new(),
            applied: false,
            piloted: Vec::new(),
            reads: change(0.0, 0.0),
            look_up: change(before.fetch_seconds, after.fetch_seconds),
            write: change(before.write_seconds, after.write_seconds),
            bytes: change(before.bytes(), after.bytes()),
            error: 0.0,
            queries: Vec::new(),
        };
        advice.write_statements(name, table, &before.design);
        advice
    }

    /// The queries and what they gain, each by so many threads.
    pub(super) fn with_gains(mut self, gains: &[Gain], threads: usize) -> Self {
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
    pub(super) fn saved(&self, now: &Total, then: &Total) -> f64 {
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
    pub(super) fn is_undoable(&self) -> bool {
        self.applied || !self.piloted.is_empty()
    }

    /// The table, as long as it is the one that was advised.
    ///
    /// # Errors
    /// `55000` if it is not.
    pub(super) fn table_in<'a>(&self, snapshot: &'a Snapshot) -> Result<&'a Arc<Table>> {
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

    fn write_statements(&mut self, name: &Name, table: &Table, from: &Design) {
        let target = format!("{}.{}", quoted(&name.schema), quoted(&name.name));
        let to = &self.design;
        let options = [
            ("layout", &from.layout, &to.layout),
            (
                "sort_by",
                &from.sort_by.clone().unwrap_or_default(),
                &to.sort_by.clone().unwrap_or_default(),
            ),
            ("codec", &from.codec, &to.codec),
            (
                "block_bytes",
                &from.block_bytes.to_string(),
                &to.block_bytes.to_string(),
            ),
        ]
        .map(|(name, from, to)| (name, from.replace('\'', "''"), to.replace('\'', "''")));
        let changed: Vec<_> = options.iter().filter(|(_, from, to)| from != to).collect();
        if !changed.is_empty() {
            let set = |which: fn(&(&str, String, String)) -> String| {
                let all: Vec<String> = changed.iter().map(|one| which(one)).collect();
                format!("ALTER TABLE {target} SET ({})", all.join(", "))
            };
            self.apply
                .push(set(|(name, _, to)| format!("{name} = '{to}'")));
            self.undo
                .push(set(|(name, from, _)| format!("{name} = '{from}'")));
        }
        let schema = quoted(&name.schema);
        for index in to
            .indexes
            .iter()
            .filter(|index| !from.indexes.contains(index))
        {
            let called = quoted(&format!("{}_{}_advised", name.name, index.column));
            let column = quoted(&index.column);
            let create = format!(
                "CREATE INDEX {called} ON {target} USING {} ({column})",
                index.kind
            );
            self.apply.push(create);
            self.undo.push(format!("DROP INDEX {schema}.{called}"));
        }
        for index in from
            .indexes
            .iter()
            .filter(|index| !to.indexes.contains(index))
        {
            let known = table.schema.indexes.iter().find(|known| {
                let column = known
                    .columns
                    .first()
                    .and_then(|at| table.schema.columns.get(*at));
                known.columns.len() == 1
                    && !is_of_key(table, known)
                    && column.is_some_and(|column| column.name == index.column)
                    && known.kind.to_string() == index.kind
            });
            let Some(known) = known else { continue };
            let (called, column) = (quoted(&known.name), quoted(&index.column));
            self.apply.push(format!("DROP INDEX {schema}.{called}"));
            let create = format!(
                "CREATE INDEX {called} ON {target} USING {} ({column})",
                index.kind
            );
            self.undo.push(create);
        }
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
