//! PILOT ADVICE: about one block of a hundred is written in the advised design, and the
//! recorded queries are timed on these rows before and after.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use freestone_model::{AUTO, Workload};
use freestone_storage::{Block, NewBlock, ScanRequest, Table, TableOptions};

use super::advice::{Advice, described};
use super::exchange::{change, may_begin};
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

/// Blocks of a table, and what they would be.
struct Rewritten {
    table: Arc<Table>,
    old: Vec<Arc<Block>>,
    new: Vec<NewBlock>,
    /// When their rows were read.
    seen: u64,
}

/// Tries advice. The blocks stay in the advised design if the queries were faster on
/// them, and as they were if not.
///
/// # Errors
/// `0A000` for layouts block by block; `55000` if the table is gone or has no blocks; `25006` in a session that only reads;
/// `40001` if its rows keep changing.
pub(super) fn run(session: &Session, advice: &Advice) -> Result<Outcome> {
    may_begin(session, "PILOT ADVICE")?;
    session.must_write()?;
    if advice.design.layout == AUTO {
        let message = "advice of layouts block by block cannot be tried on a few blocks";
        return Err(Error::new("0A000", message).with_hint(
            "APPLY ADVICE writes one block after the other; UNDO ADVICE takes it back.",
        ));
    }
    let _hold = session.database().store().hold_mover(advice.table_id());
    let rewritten = Rewritten::make(session, advice, |table| {
        let blocks = table.blocks();
        let count = blocks.len().div_ceil(BLOCKS);
        let chosen = (0..count).map(|number| number * blocks.len() / count);
        let chosen = chosen.map(|at| Arc::clone(&blocks[at])).collect();
        Ok((chosen, declared(table, &advice.design)?.1))
    })?;
    let table = &rewritten.table;
    let count = rewritten.old.len();
    if count == 0 {
        let message = format!("table \"{}\" has no rows in blocks", advice.table);
        return Err(Error::new("55000", message)
            .with_hint("VACUUM turns rows that were just written into blocks."));
    }
    let old = table.of_blocks(rewritten.old.clone());
    let new: Vec<_> = rewritten.new.iter().map(NewBlock::handle).collect();
    let ids: Vec<u64> = new.iter().map(|block| block.id().0).collect();
    let new = table.of_blocks(new);
    let workload = session.database().record().workload(table.id);
    let timed = timed(table, &old, &new, &workload)?;
    let sum = |of: fn(&Timed) -> f64| timed.iter().map(|one| one.runs * of(one)).sum::<f64>();
    let better = sum(|one| one.after) < sum(|one| one.before);
    if better {
        rewritten.put_in_place(session)?;
        change(session, advice, |known| known.piloted.extend(ids));
    }
    Outcome::batch(report(&timed, better, count)?)
}

/// Writes what a trial left in another design as the table is declared.
///
/// # Errors
/// `55000` if the table is gone; `25006` in a session that only reads; `40001` if its
/// rows keep changing.
pub(super) fn undo(session: &Session, advice: &Advice) -> Result<()> {
    session.must_write()?;
    let _hold = session.database().store().hold_mover(advice.table_id());
    let rewritten = Rewritten::make(session, advice, |table| {
        let left = table.blocks().iter();
        let left = left.filter(|block| advice.piloted.contains(&block.id().0));
        Ok((left.cloned().collect(), table.options.clone()))
    })?;
    match rewritten.old.is_empty() {
        // The tuple mover has written them since.
        true => Ok(()),
        false => rewritten.put_in_place(session),
    }
}

impl Rewritten {
    /// Writes blocks that are chosen from a table with the options that are given.
    fn make(
        session: &Session,
        advice: &Advice,
        choose: impl FnOnce(&Arc<Table>) -> Result<(Vec<Arc<Block>>, TableOptions)>,
    ) -> Result<Self> {
        let store = session.database().store();
        let snapshot = store.snapshot();
        let table = advice.table_in(&snapshot)?;
        let (old, options) = choose(table)?;
        let mut writer = store.writer(&table.schema, &options)?;
        let scan = table.of_blocks(old.clone()).scan(&ScanRequest {
            projection: (0..table.schema.columns.len()).collect(),
            view: snapshot.read_view(table.id),
            ..ScanRequest::default()
        })?;
        for rows in scan.worker() {
            writer.push(&rows?)?;
        }
        Ok(Self {
            table: Arc::clone(table),
            old,
            new: writer.finish()?,
            seen: snapshot.timestamp(),
        })
    }

    fn put_in_place(self, session: &Session) -> Result<()> {
        let gone: Vec<_> = self.old.iter().map(|block| block.id()).collect();
        let store = session.database().store();
        store.commit(|edit| edit.exchange(self.table.id, self.seen, &gone, self.new))?;
        Ok(())
    }
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

/// The answer when nothing was timed, for its columns.
pub(super) fn nothing() -> Result<RecordBatch> {
    report(&[], false, 0)
}

/// The rows of the answer: what was timed, before and after.
fn report(timed: &[Timed], better: bool, blocks: usize) -> Result<RecordBatch> {
    let number =
        |of: fn(&Timed) -> f64| Values::Double(timed.iter().map(|one| Some(of(one))).collect());
    let verdict = match better {
        true => format!("kept in {blocks} of the table's blocks"),
        false => format!("not faster on {blocks} of the table's blocks: they are as they were"),
    };
    batch(vec![
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
    ])
}
