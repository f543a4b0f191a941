//! PILOT ADVICE: about one block of a hundred is written in the advised design, and the
//! recorded queries are timed on these rows before and after.

use std::sync::Arc;

use freestone_model::Workload;
use freestone_storage::{NewBlock, ScanRequest, Table};

use super::advice::{Advice, described};
use super::timing::{asked, seconds};
use super::trial::declared;
use crate::error::{Error, Result};
use crate::plan::rows::{Values, batch};
use crate::session::{Outcome, Session};

/// Of so many blocks one is written anew.
const BLOCKS: usize = 100;

/// One query on the blocks as they were, and as they would be.
struct Timed {
    what: String,
    runs: f64,
    before: f64,
    after: f64,
}

/// Tries advice. The blocks stay in the advised design if the queries were faster on
/// them, and as they were if not.
///
/// # Errors
/// `55000` if the table is gone or has no blocks; `25006` in a session that only reads; `40001` if its rows keep changing.
pub(super) fn run(session: &Session, advice: &Advice) -> Result<Outcome> {
    if session.in_transaction() {
        let message = "PILOT ADVICE cannot run inside a transaction block";
        return Err(Error::new("25001", message));
    }
    session.must_write()?;
    let store = session.database().store();
    let _hold = store.hold_mover(advice.table_id());
    let snapshot = store.snapshot();
    let table = snapshot.table(&advice.schema, &advice.table);
    let table = table.filter(|table| table.id == advice.table_id());
    let table = table.filter(|table| !table.blocks().is_empty());
    let table = table.ok_or_else(|| {
        let message = format!("table \"{}\" is not the one that was advised", advice.table);
        Error::new("55000", message)
    })?;
    let count = table.blocks().len().div_ceil(BLOCKS);
    let chosen = (0..count).map(|number| number * table.blocks().len() / count);
    let chosen: Vec<_> = chosen.map(|at| Arc::clone(&table.blocks()[at])).collect();
    let old = table.of_blocks(chosen.clone());
    let (_, options) = declared(table, &advice.design)?;
    let mut writer = store.writer(&table.schema, &options)?;
    let scan = old.scan(&ScanRequest {
        projection: (0..table.schema.columns.len()).collect(),
        view: snapshot.read_view(table.id),
        ..ScanRequest::default()
    })?;
    for rows in scan.worker() {
        writer.push(&rows?)?;
    }
    let blocks = writer.finish()?;
    let new = blocks.iter().map(NewBlock::handle).collect();
    let new = table.of_blocks(new);
    let workload = session.database().record().workload(table.id);
    let timed = timed(table, &old, &new, &workload)?;
    let sum = |of: fn(&Timed) -> f64| timed.iter().map(|one| one.runs * of(one)).sum::<f64>();
    let better = sum(|one| one.after) < sum(|one| one.before);
    if better {
        let (id, seen) = (table.id, snapshot.timestamp());
        let gone: Vec<_> = chosen.iter().map(|block| block.id()).collect();
        store.commit(|edit| edit.exchange(id, seen, &gone, blocks))?;
    }
    report(&timed, better, count)
}

fn timed(table: &Table, old: &Table, new: &Table, workload: &Workload) -> Result<Vec<Timed>> {
    let asked = asked(table, workload)?;
    let timed = asked.into_iter().map(|(usage, runs, request)| {
        Ok(Timed {
            what: described(&usage),
            runs,
            before: seconds(old, &request)?,
            after: seconds(new, &request)?,
        })
    });
    timed.collect()
}

fn report(timed: &[Timed], better: bool, blocks: usize) -> Result<Outcome> {
    let number =
        |of: fn(&Timed) -> f64| Values::Double(timed.iter().map(|one| Some(of(one))).collect());
    let verdict = match better {
        true => format!("kept in {blocks} of the table's blocks"),
        false => format!("not faster on {blocks} of the table's blocks: they are as they were"),
    };
    Outcome::batch(batch(vec![
        (
            "query",
            Values::Text(timed.iter().map(|one| Some(one.what.clone())).collect()),
        ),
        ("runs", number(|one| one.runs)),
        ("ms_before", number(|one| one.before * 1e3)),
        ("ms_after", number(|one| one.after * 1e3)),
        (
            "verdict",
            Values::Text(timed.iter().map(|_| Some(verdict.clone())).collect()),
        ),
    ])?)
}
