//! PILOT ADVICE: about one block of a hundred is written as the table is and as it would
//! be, and what is asked of the table is timed on both.

use std::sync::Arc;

use freestone_model::AUTO;
use freestone_storage::{Block, NewBlock, ScanRequest, Snapshot, Table, TableOptions};

use super::compared::{Timed, compared, report, together};
use super::exchange::{change, may_begin};
use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::session::Session;
use crate::workload::{Advice, Rows, design_of, options_in};

/// Of so many blocks one is tried.
const BLOCKS: usize = 100;
/// Bytes of the blocks that are timed, at most, but for one: they are held in memory.
const BYTES: u64 = 256 << 20;
/// How often both are written and timed in turns: the quickest counts.
const ROUNDS: usize = 3;
/// What differs by less than this share of the time is not faster.
const ALIKE: f64 = 0.02;

/// Blocks of a table, and what they would be.
struct Rewritten {
    table: Arc<Table>,
    old: Vec<Arc<Block>>,
    new: Vec<NewBlock>,
    /// When their rows were read.
    seen: u64,
}

/// Tries advice. The blocks stay in the advised design if what is asked of the table was
/// faster on them, and as they were if not, or if they had to have other indexes than the
/// table.
///
/// # Errors
/// `0A000` for layouts block by block; `55000` if the table is gone or has no blocks; `25006` in a session that only reads;
/// `40001` if its rows keep changing.
pub(super) fn run(session: &Session, advice: &Advice) -> Result<Outcome> {
    may_begin(session, "PILOT ADVICE")?;
    session.must_write()?;
    let _hold = session.database().store().hold_mover(advice.table_id());
    let snapshot = session.database().store().snapshot();
    let table = advice.table_in(&snapshot)?;
    if advice.design.layout == AUTO && !table.options.auto_layout {
        let message = "advice of layouts block by block cannot be tried on a few blocks";
        return Err(Error::new("0A000", message).with_hint(
            "APPLY ADVICE writes one block after the other; UNDO ADVICE takes it back.",
        ));
    }
    let timed = timed(session, advice, &snapshot, table)?;
    let all = together(&timed);
    let is_better = all.after < all.before * (1.0 - ALIKE);
    let has_other_indexes = design_of(table).indexes != advice.design.indexes;
    let count = chosen(table).len();
    let verdict = match (is_better, has_other_indexes) {
        _ if timed.is_empty() => {
            "nothing is known of what is asked of the table: it is as it was".to_owned()
        }
        (true, false) => format!("kept in {count} of the table's blocks"),
        (true, true) => format!(
            "faster on {count} of the table's blocks, and nothing was put in place: blocks have \
             the indexes that their table has. APPLY ADVICE {} makes them",
            advice.number
        ),
        (false, _) => {
            format!("not faster on {count} of the table's blocks: they are as they were")
        }
    };
    if is_better && !has_other_indexes {
        keep(session, advice)?;
    }
    Ok(Outcome::batch(report(&timed, &verdict)?))
}

/// Writes blocks in the advised design, and notes them for UNDO.
fn keep(session: &Session, advice: &Advice) -> Result<()> {
    let rewritten = Rewritten::make(session, advice, |table| {
        Ok((chosen(table), options_in(table, &advice.design)?))
    })?;
    let new = rewritten.new.iter();
    let ids: Vec<u64> = new.map(|block| block.handle().id().0).collect();
    rewritten.put_in_place(session)?;
    change(session, advice, |known| known.piloted.extend(ids));
    Ok(())
}

/// The blocks that are tried, from all over a table.
fn chosen(table: &Table) -> Vec<Arc<Block>> {
    let blocks = table.blocks();
    let count = blocks.len().div_ceil(BLOCKS);
    let chosen = (0..count).map(|number| number * blocks.len() / count);
    chosen.map(|at| Arc::clone(&blocks[at])).collect()
}

/// Times what advice was given for, on rows written as the table is and as it would be.
fn timed(
    session: &Session,
    advice: &Advice,
    snapshot: &Snapshot,
    table: &Arc<Table>,
) -> Result<Vec<Timed>> {
    let record = session.database().record();
    let workload = match advice.workload.is_empty() {
        // Advice of an older version.
        true => record.workload(table.id),
        false => advice.workload.clone(),
    };
    let mut blocks = chosen(table);
    let held = BYTES / table.options.block_bytes.max(1);
    blocks.truncate(usize::try_from(held).unwrap_or(usize::MAX).max(1));
    let view = snapshot.read_view(table.id);
    let Some(rows) = Rows::of_blocks(table, blocks, &view, &workload)? else {
        let message = format!("table \"{}\" has no rows in blocks", advice.table);
        return Err(Error::new("55000", message)
            .with_hint("VACUUM turns rows that were just written into blocks."));
    };
    let now = design_of(table);
    let mut then = advice.design.clone();
    if then.layout == AUTO {
        then.layout.clone_from(&now.layout);
    }
    let known = session.known()?;
    let mut best = (rows.in_design(&now)?, rows.in_design(&then)?);
    for _ in 1..ROUNDS {
        best.0.keep_quickest(&rows.in_design(&now)?);
        best.1.keep_quickest(&rows.in_design(&then)?);
    }
    Ok(compared(&known.calibration, &workload, (&best.0, &best.1)))
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
