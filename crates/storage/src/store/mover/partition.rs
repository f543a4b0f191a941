//! Blocks of partitioned tables: which range each is of, and rows that are brought
//! into blocks of one range each.

use super::carried::Carried;
use super::policy::{BlockRange, PartitionFacts, TableFacts};
use super::step::{Sources, in_order};
use crate::block::{Block, OverlayInfo};
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::predicate::Zone;
use crate::schema::{Partitioning, TableOptions, Value};
use crate::store::Engine;
use crate::store::pending::{PendingRanges, RangeRows};
use crate::store::writer::{BlockWriter, NewBlock};
use crate::table::Table;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows for each range from which on bounds are determined.
pub(super) const ROWS_PER_RANGE: u64 = 1024;

/// How a table is cut into blocks.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// What the table's options say.
    declared: Option<Partitioning>,
    /// The same with the bounds that the table will have with the next step.
    partitioning: Partitioning,
    /// Blocks of one range.
    ranges: HashMap<BlockId, u16>,
}

/// What was read of blocks whose zone maps do not tell their range, and of tables for
/// whose ranges no bounds were found.
#[derive(Debug, Default)]
pub(super) struct Known {
    blocks: HashMap<BlockId, KnownRange>,
    /// How it was to be partitioned, and how many rows it had.
    in_vain: HashMap<TableId, (Partitioning, u64)>,
}

#[derive(Debug)]
struct KnownRange {
    bounds: Vec<Value>,
    overlays: Vec<OverlayInfo>,
    range: BlockRange,
}

impl Known {
    pub fn forget_block(&mut self, block: BlockId) {
        self.blocks.remove(&block);
    }

    /// Lets bounds be looked for again.
    pub fn forget_table(&mut self, table: TableId) {
        self.in_vain.remove(&table);
    }
}

impl Cut {
    pub fn new(table: &Table, partitioning: Partitioning, facts: &TableFacts) -> Cut {
        let ranges = facts.blocks.iter().filter_map(|block| match block.range {
            BlockRange::One(range) => Some((block.id, range)),
            _ => None,
        });
        Cut {
            declared: table.options.partition_by.clone(),
            partitioning,
            ranges: ranges.collect(),
        }
    }

    /// Whether a table is still to be partitioned as it was.
    pub fn holds(&self, now: &Table) -> bool {
        now.options.partition_by == self.declared
    }

    /// Blocks were written of rows of one range each.
    pub fn note(&mut self, block: BlockId, range: u16) {
        self.ranges.insert(block, range);
    }

    /// Brings blocks of one range together, others to the end.
    pub fn group(&self, blocks: &mut [Arc<Block>]) {
        let range = |block: &Arc<Block>| self.ranges.get(&block.id()).copied();
        blocks.sort_by_key(|block| range(block).unwrap_or(u16::MAX));
    }

    /// Gives a table's options the bounds, unless it is to be partitioned otherwise.
    pub fn apply(&self, options: &mut TableOptions) {
        if options.partition_by == self.declared {
            options.partition_by = Some(self.partitioning.clone());
        }
    }
}

impl Engine {
    /// How a table is to be partitioned: as it is, or by bounds that are found of its
    /// rows as soon as there are enough of them. `None` if blocks are not cut.
    pub(super) fn partitioning(&self, table: &Table) -> Option<Partitioning> {
        let declared = table.options.partition_by.as_ref()?;
        let column = table.schema.index_of(&declared.column)?;
        if declared.fits(table.schema.columns[column].kind) {
            return Some(declared.clone());
        }
        let rows = table.rows();
        if rows < ROWS_PER_RANGE * u64::from(declared.ranges) {
            return None;
        }
        let known = self
            .mover
            .state
            .lock()
            .known
            .in_vain
            .get(&table.id)
            .cloned();
        let in_vain = |(by, before): &(Partitioning, u64)| by == declared && rows / 2 < *before;
        if known.as_ref().is_some_and(in_vain) {
            return None;
        }
        // What cannot be read is found by whoever asks for it.
        let found = table.options.with_bounds_from(table, true).ok();
        let found = found.and_then(|options| options.partition_by);
        let found = found.filter(Partitioning::is_known);
        if found.is_none() {
            let known = &mut self.mover.state.lock().known;
            known.in_vain.insert(table.id, (declared.clone(), rows));
        }
        found
    }

    /// The same for the policy.
    pub(super) fn partition_facts(by: &Partitioning, table: &Table) -> PartitionFacts {
        PartitionFacts {
            ranges: by.ranges,
            found: table.options.partition_by.as_ref() != Some(by),
        }
    }

    /// Which range the rows of a block are of.
    pub(super) fn block_range(
        &self,
        by: &Partitioning,
        table: &Table,
        block: &Block,
    ) -> BlockRange {
        let Some(column) = table.schema.index_of(&by.column) else {
            return BlockRange::Unknown;
        };
        let Ok(zone) = block.zone(column) else {
            return BlockRange::Unknown;
        };
        if let Some(range) = range_of(by, &zone) {
            return range;
        }
        let overlays = &block.info().overlays;
        if let Some(known) = self.mover.state.lock().known.blocks.get(&block.id())
            && known.bounds == by.bounds
            && known.overlays == *overlays
        {
            return known.range;
        }
        let range = read_range(by, column, block).unwrap_or(BlockRange::Unknown);
        let known = KnownRange {
            bounds: by.bounds.clone(),
            overlays: overlays.clone(),
            range,
        };
        let mut state = self.mover.state.lock();
        state.known.blocks.insert(block.id(), known);
        range
    }

    /// The rows of a step in new blocks of one range each.
    pub(super) fn write_ranges(
        &self,
        (sources, cut): (&Sources, &mut Cut),
        options: &TableOptions,
        most: u64,
        batches: impl Iterator<Item = Result<RecordBatch>>,
    ) -> Result<(Vec<NewBlock>, Carried)> {
        let (table, mut carried) = (&sources.table, sources.carried());
        let (place, schema) = (self.place.clone(), table.schema.clone());
        let mut writer = BlockWriter::new(place, schema, options.clone()).in_order();
        let mut pending = PendingRanges::of(&table.schema, options, most)
            .ok_or_else(|| Error::corrupt("ranges of another type"))?;
        let all: Vec<usize> = (0..table.schema.columns.len()).collect();
        let mut ranges: Vec<u16> = Vec::new();
        let mut write = |due: RangeRows| -> Result<()> {
            let batch = in_order(due.batch, table, options)?;
            let ids = batch.column(all.len()).as_primitive::<UInt64Type>();
            carried.put(ids.values().iter().copied())?;
            let blocks = writer.write_evenly(&batch.project(&all)?, due.bytes)?;
            ranges.resize(ranges.len() + blocks, due.range);
            Ok(())
        };
        for batch in batches {
            self.mover.check_going()?;
            pending.push(batch?)?;
            while let Some(due) = pending.next_due() {
                write(due)?;
            }
        }
        pending.end()?;
        while let Some(due) = pending.next_due() {
            self.mover.check_going()?;
            write(due)?;
        }
        let blocks = writer.finish()?;
        for (block, range) in blocks.iter().zip(ranges) {
            cut.note(block.id(), range);
        }
        Ok((blocks, carried))
    }
}

/// The range of a block's rows as far as its zone map tells.
fn range_of(by: &Partitioning, zone: &Zone) -> Option<BlockRange> {
    let last = by.last();
    if zone.nulls == zone.rows {
        return Some(BlockRange::One(last));
    }
    // Where one is NaN there are no bounds.
    let bounds = zone.bounds.as_ref()?;
    let (first, end) = (by.range_of(&bounds.min), by.range_of(&bounds.max));
    if first == end && (zone.nulls == 0 || first == last) {
        return Some(BlockRange::One(first));
    }
    // Those of long texts are cut, and may be in another range than any text.
    let sure = bounds.exact || !matches!(bounds.min, Value::Bytes(_));
    sure.then_some(BlockRange::Several)
}

fn read_range(by: &Partitioning, column: usize, block: &Block) -> Option<BlockRange> {
    // In range: a block has at most 2^20 rows.
    let values = block.read(column, 0..block.rows() as usize).ok()?;
    let ranges = by.ranges_of(&values)?;
    let (first, rest) = ranges.split_first()?;
    Some(match rest.iter().all(|range| range == first) {
        true => BlockRange::One(*first),
        false => BlockRange::Several,
    })
}
