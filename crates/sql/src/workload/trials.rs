//! What tables with automatic layouts were found to be in each layout, kept while that
//! says what they would be: a look at a table costs a hundred times what pricing does.

use std::collections::HashMap;
use std::sync::Arc;

use freestone_model::{Design, Stored, Usage, Workload};
use freestone_storage::{Layout, Table, TableId, TableOptions, TableSchema};
use parking_lot::Mutex;

use super::present::design_of;
use super::timing::costly;
use super::trial::Rows;
use crate::error::Result;

/// Times are those of a table with at most so many times as many rows, or as few,
const ROWS: f64 = 1.25;
/// and of conditions that find at most so many times as many, or as few;
const SHARE: f64 = 2.0;
/// less than this share of the rows counts as this.
const LEAST: f64 = 0.001;

/// The trials of tables.
#[derive(Default)]
pub(super) struct Trials(Mutex<HashMap<TableId, Trial>>);

/// A table that was tried.
struct Trial {
    schema: Arc<TableSchema>,
    options: TableOptions,
    asked: Vec<(Usage, Vec<f64>)>,
    designs: Vec<Stored>,
}

impl Trials {
    /// What a table would be in each layout, in the order of [`Layout::ALL`]: as it was
    /// found before, or by a trial. None of a table without rows in blocks, or when it
    /// shall not go on.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub(super) fn in_layouts(
        &self,
        table: &Arc<Table>,
        workload: &Workload,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Stored>>> {
        if let Some(known) = self.known(table, workload) {
            return Ok(Some(known));
        }
        let Some(designs) = tried(table, workload, goes_on)? else {
            return Ok(None);
        };
        let trial = Trial {
            schema: Arc::clone(&table.schema),
            options: options(table),
            asked: asked(workload),
            designs: designs.clone(),
        };
        self.0.lock().insert(table.id, trial);
        Ok(Some(designs))
    }

    fn known(&self, table: &Table, workload: &Workload) -> Option<Vec<Stored>> {
        let all = self.0.lock();
        let known = all.get(&table.id)?;
        known
            .is_of(table, workload)
            .then(|| known.designs_of(table))
    }

    /// Forgets the trials of other tables.
    pub(super) fn retain(&self, alive: impl Fn(TableId) -> bool) {
        self.0.lock().retain(|table, _| alive(*table));
    }
}

impl Trial {
    /// Whether a trial of the table for a workload would find the same.
    fn is_of(&self, table: &Table, workload: &Workload) -> bool {
        let rows = self.designs.first().map_or(0.0, |one| one.rows);
        let was_asked = |(usage, shares): &(Usage, Vec<f64>)| {
            let mut known = self.asked.iter();
            known.any(|(other, known)| {
                let mut both = shares.iter().zip(known);
                other == usage
                    && both.all(|(one, two)| is_within(SHARE, one.max(LEAST), two.max(LEAST)))
            })
        };
        Arc::ptr_eq(&self.schema, &table.schema)
            && self.options == options(table)
            && is_within(ROWS, table.rows() as f64, rows)
            && asked(workload).iter().all(was_asked)
    }

    /// The designs, of as many rows as the table has now.
    fn designs_of(&self, table: &Table) -> Vec<Stored> {
        let rows = table.rows() as f64;
        let of = |one: &Stored| Stored {
            rows,
            blocks: (one.blocks * rows / one.rows.max(1.0)).ceil().max(1.0),
            ..one.clone()
        };
        self.designs.iter().map(of).collect()
    }
}

fn tried(
    table: &Arc<Table>,
    workload: &Workload,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Vec<Stored>>> {
    let Some(rows) = Rows::of(table, workload)? else {
        return Ok(None);
    };
    let mut designs = Vec::new();
    for layout in Layout::ALL {
        if !goes_on() {
            return Ok(None);
        }
        let design = Design {
            layout: layout.to_string(),
            ..design_of(table)
        };
        designs.push(rows.in_design(&design)?);
    }
    Ok(Some(designs))
}

/// What a trial times, and the shares of the rows that its conditions find.
fn asked(workload: &Workload) -> Vec<(Usage, Vec<f64>)> {
    let costly = costly(workload).into_iter();
    costly
        .map(|(usage, runs)| (usage.clone(), runs.mean().shares))
        .collect()
}

/// The options, whatever layout new blocks have at the moment.
fn options(table: &Table) -> TableOptions {
    TableOptions {
        layout: Layout::Column,
        ..table.options.clone()
    }
}

fn is_within(factor: f64, one: f64, two: f64) -> bool {
    one <= two * factor && two <= one * factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;
    use crate::{Database, Session};

    /// What writing a row takes by what is known: two trials never took the same times.
    fn seconds(found: &[Stored]) -> Vec<f64> {
        found.iter().map(|one| one.write_seconds).collect()
    }

    /// What the table is found to be now.
    fn found(session: &Session) -> Vec<Stored> {
        let database = session.database();
        let snapshot = database.store().snapshot();
        database.record().settle(snapshot.catalog());
        let (_, table) = snapshot.all_tables().next().unwrap();
        let workload = database.record().workload(table.id);
        let trials = database.record().trials();
        let found = trials.in_layouts(table, &workload, &|| true).unwrap();
        found.unwrap()
    }

    #[test]
    fn a_table_is_tried_again_when_it_is_another() {
        let database = Database::in_memory();
        let session = database.session();
        let numbers = "SELECT value AS k, value AS n FROM generate_series(1, 10000) AS g(value)";
        run(&session, &format!("CREATE TABLE t AS {numbers}"));
        run(&session, "VACUUM t");
        run(&session, "SELECT sum(n) FROM t WHERE k < 5000");
        let first = found(&session);
        assert_eq!(first.len(), Layout::ALL.len());
        run(&session, "SELECT sum(n) FROM t WHERE k < 5100");
        assert_eq!(seconds(&found(&session)), seconds(&first));
        let mut known = seconds(&first);
        for change in [
            "SELECT avg(k) FROM t",
            "ALTER TABLE t SET (sort_by = 'n')",
            "CREATE INDEX i ON t (n)",
        ] {
            run(&session, change);
            let now = seconds(&found(&session));
            assert_ne!(now, known, "{change}");
            known = now;
        }
        run(&session, "RESET WORKLOAD");
        run(&session, "SELECT sum(n) FROM t WHERE k < 500");
        let other = seconds(&found(&session));
        assert_ne!(other, known, "another share of the rows");
        run(&session, &format!("INSERT INTO t {numbers}"));
        run(&session, "VACUUM t");
        assert_eq!(found(&session)[0].rows, 20000.0);
    }
}
