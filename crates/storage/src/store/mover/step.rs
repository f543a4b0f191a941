//! One step of the tuple mover.
//!
//! Rows are written as new blocks while others go on. Then, between two commits,
//! a table with these blocks takes the place of the one before. Rows that were
//! deleted meanwhile are deleted rows of the new blocks; where each row went is
//! kept for those who know it by its old place.

use super::carried::Carried;
use super::partition::Cut;
use super::policy::{self, BlockFacts, BlockRange, Effort, Step, TableFacts};
use crate::block::Block;
use crate::delta::{Fragment, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::scan::{Scan, ScanRequest};
use crate::schema::{Layout, TableOptions};
use crate::store::Engine;
use crate::store::commit::{Change, Latest};
use crate::store::show::Unseen;
use crate::store::snapshot::Snapshot;
use crate::store::writer::{BlockWriter, NewBlock, concatenated, sort_order};
use crate::table::Table;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use std::collections::HashSet;
use std::sync::Arc;

/// What came of looking for a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There was nothing to do.
    Nothing,
    /// A step was done.
    Done(Done),
    /// The table changed too much meanwhile, or somebody holds it.
    GivenUp,
}

/// A step that was done.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub step: Step,
    /// Rows that have another place now.
    pub rows: u64,
    /// Bytes of block files that are not needed any more, and of new ones.
    pub freed: u64,
    pub written: u64,
    /// New blocks that should not be merged again.
    pub settled: Vec<BlockId>,
}

/// What a step begins with.
pub(super) struct Sources {
    pub table: Arc<Table>,
    /// Keeps deletes after `timestamp` apart from those before.
    _snapshot: Snapshot,
    timestamp: u64,
    blocks: Vec<Arc<Block>>,
    fragments: Vec<Arc<Fragment>>,
    /// Layout of the new blocks, if it is another than that of the old.
    layout: Option<Layout>,
    /// Number of the first row of the delta that stays, if it is moved.
    rest: Option<u64>,
}

impl Sources {
    /// Whether the table still is what the step began with, but for deleted rows:
    /// columns laid over its blocks since would be lost.
    fn hold(&self, now: &Table) -> bool {
        let delta = self.rest.is_none() || Arc::ptr_eq(now.delta(), self.table.delta());
        let there = |block: &Arc<Block>| {
            let known = now.block(block.id());
            known.is_some_and(|known| known.info().overlays == block.info().overlays)
        };
        now.schema == self.table.schema && delta && self.blocks.iter().all(there)
    }

    /// Its rows, none of which has gone anywhere yet.
    pub fn carried(&self) -> Carried {
        Carried::from(&self.blocks, &self.fragments)
    }

    /// Whether blocks were merged into as many others.
    fn is_fruitless(&self, new: usize) -> bool {
        let whole = self.blocks.iter().all(|block| block.deletes().count() == 0);
        self.blocks.len() > 1 && new >= self.blocks.len() && whole
    }

    /// Whether no row is left.
    fn is_empty(&self) -> bool {
        let empty = |block: &Arc<Block>| block.deletes().count() as u64 == block.rows();
        self.fragments.is_empty() && self.blocks.iter().all(empty)
    }

    /// Nothing is exchanged for blocks that do not have all its rows.
    fn check_whole(&self, new: &[NewBlock]) -> Result<()> {
        let view = ReadView::at(self.timestamp);
        let in_fragments = self.fragments.iter().map(|fragment| {
            let home = RowHome::Fragment(fragment.first());
            view.visible(home, fragment).len() as u64
        });
        let in_blocks = self.blocks.iter().map(|block| {
            let gone = block.deletes().at(self.timestamp);
            block.rows() - gone.map_or(0, |gone| gone.count() as u64)
        });
        let expected: u64 = in_fragments.chain(in_blocks).sum();
        let found: u64 = new.iter().map(NewBlock::rows).sum();
        match found == expected {
            true => Ok(()),
            false => Err(Error::corrupt(format!(
                "{found} rows were written, {expected} are to be moved"
            ))),
        }
    }

    /// How new blocks are written: those of other blocks keep their layout.
    fn options(&self, cut: Option<&Cut>) -> TableOptions {
        let mut options = self.table.options.clone();
        if let Some(cut) = cut {
            cut.apply(&mut options);
        }
        let first = self.blocks.first().map(|block| block.layout());
        if let Some(layout) = self.layout.or(first) {
            options.layout = layout;
            options.slotted &= options.layout == Layout::Row;
        }
        options
    }

    /// The new blocks are as hot as those that they came of.
    fn warm(&self, new: &[Arc<Block>]) {
        let heat: u64 = self.blocks.iter().map(|block| block.heat()).sum();
        for block in new {
            block.warm(heat / new.len() as u64);
        }
    }

    /// The table after the step.
    fn exchanged(&self, now: &Table, new: Vec<Arc<Block>>, cut: Option<&Cut>) -> Table {
        let gone: HashSet<BlockId> = self.blocks.iter().map(|block| block.id()).collect();
        let is_gone = |block: &Arc<Block>| gone.contains(&block.id());
        let place = now.blocks().iter().position(is_gone);
        let mut blocks = now.blocks().to_vec();
        let place = place.unwrap_or(blocks.len());
        let after = blocks.split_off(place);
        blocks.extend(new);
        blocks.extend(after.into_iter().filter(|block| !is_gone(block)));
        let mut options = now.options.clone();
        if let Some(cut) = cut {
            cut.group(&mut blocks);
            cut.apply(&mut options);
        }
        let table = now.with(&now.name, options, blocks);
        match self.rest {
            Some(rest) => {
                let delta = now.delta().from(now.schema.clone(), rest);
                table.with_delta(Arc::new(delta))
            }
            None => table,
        }
    }
}

impl Engine {
    /// The table in numbers.
    pub(super) fn facts(&self, table: &Table) -> (TableFacts, Option<Cut>) {
        let by = self.partitioning(table);
        let settled = self.mover.settled_blocks();
        let wishes = self.mover.wishes(table);
        let block = |block: &Arc<Block>| {
            let raw_bytes = block.raw_bytes();
            BlockFacts {
                id: block.id(),
                rows: block.rows(),
                deleted: block.deletes().count() as u64,
                // One that cannot be read is left as it is.
                settled: raw_bytes.is_err() || settled.contains(&block.id()),
                raw_bytes: raw_bytes.unwrap_or_else(|_| block.bytes()),
                layout: block.layout(),
                range: by
                    .as_ref()
                    .map_or(BlockRange::Unknown, |by| self.block_range(by, table, block)),
                laid_over: block.overlays().next().is_some(),
                wished: wishes
                    .get(&block.id())
                    .copied()
                    .filter(|wished| *wished != block.layout()),
            }
        };
        let mut blocks: Vec<BlockFacts> = table.blocks().iter().map(block).collect();
        blocks.sort_by_key(|block| match block.range {
            BlockRange::One(range) => range,
            BlockRange::Several | BlockRange::Unknown => u16::MAX,
        });
        let facts = TableFacts {
            delta_rows: table.delta().rows(),
            delta_bytes: table.delta().bytes() as u64,
            delta_limit: self.delta_limit(),
            blocks,
            partition: by.as_ref().map(|by| Engine::partition_facts(by, table)),
            sorted: table.options.sort_by.is_some(),
            block_bytes: table.options.block_bytes,
        };
        let cut = by.map(|by| Cut::new(table, by, &facts));
        (facts, cut)
    }

    /// Does the next step for a table, if `choose` finds one in its numbers.
    pub(super) fn step(
        &self,
        id: TableId,
        choose: impl FnOnce(&TableFacts) -> Option<Step>,
    ) -> Result<Progress> {
        self.must_be_writable()?;
        let _one = self.mover.moving.lock();
        let known = self.latest.lock().catalog.table_by_id(id).cloned();
        let Some(table) = known else {
            return Ok(Progress::Nothing);
        };
        let (facts, cut) = self.facts(&table);
        let Some(step) = choose(&facts) else {
            return Ok(Progress::Nothing);
        };
        drop(table);
        let outcome = self.carry_out(id, step, cut);
        // Nothing of the step keeps old files from going away any more.
        self.clear_up();
        outcome
    }

    fn carry_out(&self, id: TableId, step: Step, mut cut: Option<Cut>) -> Result<Progress> {
        let Some(sources) = self.sources(id, &step, cut.as_ref()) else {
            return Ok(Progress::GivenUp);
        };
        let (blocks, carried) = self.write_rows(&sources, cut.as_mut())?;
        let mut latest = self.latest.lock();
        let now = latest.catalog.table_by_id(id).cloned();
        let now = now.filter(|now| sources.hold(now) && !self.mover.is_held(id));
        let Some(now) = now else {
            return Ok(Progress::GivenUp);
        };
        let ids = blocks.iter().map(NewBlock::id);
        // Blocks that were cut into ranges may merge with others of theirs.
        let cuts = matches!(step, Step::Partition(_));
        let fruitless = !cuts && sources.is_fruitless(blocks.len());
        let done = Done {
            step,
            rows: carried.rows(),
            freed: sources.blocks.iter().map(|block| block.bytes()).sum(),
            written: blocks.iter().map(|block| block.handle().bytes()).sum(),
            settled: ids.filter(|_| fruitless).collect(),
        };
        let hops = carried.hops(&blocks, sources.timestamp);
        let new: Vec<Arc<Block>> = blocks.iter().map(NewBlock::handle).collect();
        sources.warm(&new);
        let exchanged = sources.exchanged(&now, new, cut.as_ref());
        let change = Change::moved(&latest, exchanged, blocks, hops);
        let timestamp = self.install(&mut latest, change)?;
        drop(now);
        drop(latest);
        self.finish(Unseen::durable(timestamp))?;
        Ok(Progress::Done(done))
    }

    /// What a step moves, as of now; none if the table has changed since the step
    /// was chosen, or somebody holds it.
    fn sources(&self, id: TableId, step: &Step, cut: Option<&Cut>) -> Option<Sources> {
        let snapshot = self.snapshot();
        let latest: &Latest = &self.latest.lock();
        let table = latest.catalog.table_by_id(id)?.clone();
        if self.mover.is_held(id) || cut.is_some_and(|cut| !cut.holds(&table)) {
            return None;
        }
        let (blocks, delta) = match step {
            Step::MoveDelta => (Vec::new(), true),
            Step::Drop(blocks) | Step::Rewrite(blocks) | Step::Partition(blocks) => {
                let blocks = blocks.iter().map(|id| table.block(*id).cloned());
                (blocks.collect::<Option<Vec<Arc<Block>>>>()?, false)
            }
            Step::LayOut(block, _) => (vec![table.block(*block)?.clone()], false),
        };
        let fragments = match delta {
            true => table.delta().seal(),
            false => Vec::new(),
        };
        let layout = match step {
            Step::LayOut(_, layout) => Some(*layout),
            _ => None,
        };
        Some(Sources {
            layout,
            rest: delta.then(|| table.delta().next()),
            timestamp: latest.timestamp,
            _snapshot: snapshot,
            fragments,
            blocks,
            table,
        })
    }

    /// The rows of a step in new blocks, in the order that the table wants.
    fn write_rows(
        &self,
        sources: &Sources,
        cut: Option<&mut Cut>,
    ) -> Result<(Vec<NewBlock>, Carried)> {
        if sources.is_empty() {
            return Ok(Default::default());
        }
        let (table, options) = (&sources.table, sources.options(cut.as_deref()));
        let request = ScanRequest {
            projection: (0..table.schema.columns.len()).collect(),
            view: ReadView::at(sources.timestamp),
            row_ids: true,
            ..ScanRequest::default()
        };
        let fragments = sources.fragments.iter();
        let fragments = fragments.map(|one| (RowHome::Fragment(one.first()), one.clone()));
        let blocks = sources.blocks.clone();
        let scan = Scan::new(
            table.schema.clone(),
            table.arrow(),
            blocks,
            fragments.collect(),
            &request,
        )?;
        let (blocks, carried) = match cut {
            Some(cut) => {
                let most = policy::together(options.block_bytes, options.sort_by.is_some());
                self.write_ranges((sources, cut), &options, most, scan.worker())?
            }
            None => self.write_together(sources, &options, scan.worker())?,
        };
        sources.check_whole(&blocks)?;
        Ok((blocks, carried))
    }

    fn write_together(
        &self,
        sources: &Sources,
        options: &TableOptions,
        batches: impl Iterator<Item = Result<RecordBatch>>,
    ) -> Result<(Vec<NewBlock>, Carried)> {
        let (table, mut carried) = (&sources.table, sources.carried());
        let mut writer =
            BlockWriter::new(self.place.clone(), table.schema.clone(), options.clone()).in_order();
        let all: Vec<usize> = (0..table.schema.columns.len()).collect();
        let mut sorted = Vec::new();
        for batch in batches {
            self.mover.check_going()?;
            let batch = batch?;
            if options.sort_by.is_some() {
                sorted.push(batch);
                continue;
            }
            let ids = batch.column(all.len()).as_primitive::<UInt64Type>();
            carried.put(ids.values().iter().copied())?;
            writer.push(&batch.project(&all)?)?;
        }
        if let [first, ..] = sorted.as_slice() {
            let batch = concatenated(&first.schema(), &sorted)?;
            drop(sorted);
            let batch = in_order(batch, table, options)?;
            let ids = batch.column(all.len()).as_primitive::<UInt64Type>();
            carried.put(ids.values().iter().copied())?;
            writer.push(&batch.project(&all)?)?;
        }
        Ok((writer.finish()?, carried))
    }

    /// What a step of the policy would be.
    pub(super) fn next_step(&self, table: &Table, effort: Effort) -> Option<Step> {
        policy::next_step(&self.facts(table).0, effort)
    }
}

pub(super) fn in_order(
    batch: RecordBatch,
    table: &Table,
    options: &TableOptions,
) -> Result<RecordBatch> {
    Ok(match sort_order(&batch, &table.schema, options)? {
        Some(order) => arrow_select::take::take_record_batch(&batch, &order)?,
        None => batch,
    })
}
