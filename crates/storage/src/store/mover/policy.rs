//! What the tuple mover does next to a table, decided by its numbers alone.
//!
//! A delta that is large enough becomes blocks; blocks without rows go; blocks of
//! which half of the rows are deleted are written again, with small neighbours; and
//! small neighbours become one block; then blocks get the layout that is wished for them.
//! Before blocks are merged, those of a partitioned table are cut into its ranges; then
//! those of a range are neighbours, and merge with each other only.
//! Blocks only merge when that at least
//! doubles them or fills one, so a row is written again a logarithmic number of
//! times, however small the blocks are that it comes in.

use crate::format::BLOCK_ROWS_MAX;
use crate::ids::BlockId;
use crate::schema::Layout;
use std::fmt;
use std::ops::Range;

/// A delta is moved when it has so many rows,
pub const DELTA_ROWS: u64 = 1 << 16;
/// or so many bytes, if there is memory for as many,
pub const DELTA_BYTES: u64 = 64 << 20;
/// and never for less than these.
pub const DELTA_BYTES_LEAST: u64 = 64 << 10;
/// A committer moves a delta itself when it is so many times as large.
const BEHIND: u64 = 4;
/// Small neighbours are merged when there are so many, or when they fill a block.
const MERGE_BLOCKS: usize = 8;
/// Rows of a sorted table are sorted together up to so many bytes.
const SORTED_BYTES: u64 = 64 << 20;

/// Bytes of a delta that is to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaBytes(u64);

impl DeltaBytes {
    /// For each of so many tables whose deltas may take `memory` bytes together.
    pub fn of(memory: u64, tables: usize) -> DeltaBytes {
        let share = memory / BEHIND / tables.max(1) as u64;
        DeltaBytes(share.clamp(DELTA_BYTES_LEAST, DELTA_BYTES))
    }

    /// Whether a delta of so many rows and bytes should become blocks.
    pub fn is_due(self, rows: u64, bytes: u64) -> bool {
        rows >= DELTA_ROWS || bytes >= self.0
    }

    /// Whether the mover has fallen so far behind that committers must help.
    pub fn is_behind(self, rows: u64, bytes: u64) -> bool {
        self.is_due(rows / BEHIND, bytes / BEHIND)
    }

    /// How many they are.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

/// A table in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFacts {
    /// Rows in no block, deleted ones included.
    pub delta_rows: u64,
    /// Bytes of memory they take.
    pub delta_bytes: u64,
    /// From how many on they are moved.
    pub delta_limit: DeltaBytes,
    /// Its blocks, in order; those of a range one after the other.
    pub blocks: Vec<BlockFacts>,
    /// Its ranges, if it is partitioned and they are known.
    pub partition: Option<PartitionFacts>,
    /// Whether blocks are sorted on a column.
    pub sorted: bool,
    /// Target size of a block in bytes of raw tuples.
    pub block_bytes: u64,
}

/// The ranges of a table in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionFacts {
    /// Most of them.
    pub ranges: u16,
    /// Whether their bounds were only found now.
    pub found: bool,
}

/// Which range of a partitioned table the rows of a block are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRange {
    /// Ranges are not known, or the block cannot be read.
    Unknown,
    /// This one.
    One(u16),
    /// More than one.
    Several,
}

/// A block in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// The block.
    pub id: BlockId,
    /// Its rows, deleted ones included.
    pub rows: u64,
    /// How many of them are deleted.
    pub deleted: u64,
    /// Bytes of its rows in stored form.
    pub raw_bytes: u64,
    /// How its tuples lie; only blocks of one layout are merged.
    pub layout: Layout,
    /// The range of its rows; only blocks of one range are merged.
    pub range: BlockRange,
    /// Whether it came of a merge that made no fewer blocks, and so is not small.
    pub settled: bool,
    /// Whether columns were laid over it.
    pub laid_over: bool,
    /// The layout that it should have instead of its own.
    pub wished: Option<Layout>,
}

/// How much is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// What pays in the long run.
    Background,
    /// All that can be done.
    Vacuum,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The delta becomes blocks.
    MoveDelta,
    /// Blocks without rows go.
    Drop(Vec<BlockId>),
    /// Neighbouring blocks are written again, without their deleted rows.
    Rewrite(Vec<BlockId>),
    /// Blocks with rows of several ranges become blocks of one range each; the table
    /// gets the bounds of its ranges if it has none.
    Partition(Vec<BlockId>),
    /// A block is written again in another layout.
    LayOut(BlockId, Layout),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::MoveDelta => f.write_str("move the delta"),
            Step::Drop(blocks) => write!(f, "drop {} blocks", blocks.len()),
            Step::Rewrite(blocks) => write!(f, "rewrite {} blocks", blocks.len()),
            Step::Partition(blocks) => write!(f, "cut {} blocks into ranges", blocks.len()),
            Step::LayOut(_, layout) => write!(f, "write a block as {layout}"),
        }
    }
}

impl BlockFacts {
    fn live(&self) -> u64 {
        self.rows.saturating_sub(self.deleted)
    }

    /// How much of a block of `block_bytes` its live rows take, in bytes: their
    /// own, or more where it is their number that fills a block.
    fn size(&self, block_bytes: u64) -> u64 {
        let part = |whole: u64, part: u64, of: u64| {
            let bytes = u128::from(whole) * u128::from(part) / u128::from(of.max(1));
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        part(self.raw_bytes, self.live(), self.rows).max(part(
            block_bytes,
            self.live(),
            BLOCK_ROWS_MAX as u64,
        ))
    }

    /// Whether a block could take its rows twice.
    fn is_small(&self, block_bytes: u64) -> bool {
        !self.settled && self.size(block_bytes) < block_bytes / 2
    }

    fn is_dirty(&self, effort: Effort) -> bool {
        match effort {
            Effort::Background => is_dirty(self.deleted, self.rows),
            Effort::Vacuum => self.deleted > 0 || self.laid_over,
        }
    }
}

/// Whether so many of a block's rows are deleted that it is written again: for each row
/// that is written a deleted one goes. With a quarter in the place of half, three rows are
/// written for each.
pub fn is_dirty(deleted: u64, rows: u64) -> bool {
    deleted * 2 > rows
}

/// The next thing to do, if there is any.
pub fn next_step(facts: &TableFacts, effort: Effort) -> Option<Step> {
    let due = match effort {
        Effort::Background => facts
            .delta_limit
            .is_due(facts.delta_rows, facts.delta_bytes),
        Effort::Vacuum => facts.delta_rows > 0,
    };
    if due {
        return Some(Step::MoveDelta);
    }
    let ids = |blocks: &[BlockFacts]| blocks.iter().map(|block| block.id).collect();
    let empty = facts.blocks.iter().filter(|block| block.live() == 0);
    let empty: Vec<BlockFacts> = empty.cloned().collect();
    if !empty.is_empty() {
        return Some(Step::Drop(ids(&empty)));
    }
    if let Some(mixed) = to_be_cut(facts) {
        return Some(Step::Partition(ids(&mixed)));
    }
    let mut start = 0;
    while start < facts.blocks.len() {
        let end = end_of_run(facts, start, effort);
        if let Some(run) = worth_writing(facts, start..end, effort) {
            return Some(Step::Rewrite(ids(&facts.blocks[run])));
        }
        start = end.max(start + 1);
    }
    let wished = |block: &BlockFacts| Some(Step::LayOut(block.id, block.wished?));
    facts.blocks.iter().find_map(wished)
}

/// Blocks with rows of several ranges, as many as could fill a block of each.
fn to_be_cut(facts: &TableFacts) -> Option<Vec<BlockFacts>> {
    let partition = facts.partition.as_ref()?;
    let mixed = facts
        .blocks
        .iter()
        .filter(|block| block.range == BlockRange::Several);
    let layout = mixed.clone().next().map(|block| block.layout);
    let mut room = facts.block_bytes.saturating_mul(partition.ranges.into());
    let fits = |block: &&BlockFacts| {
        let fits = room > 0 && Some(block.layout) == layout;
        room = room.saturating_sub(block.size(facts.block_bytes));
        fits
    };
    let mixed: Vec<BlockFacts> = mixed.take_while(fits).cloned().collect();
    (partition.found || !mixed.is_empty()).then_some(mixed)
}

/// The end of the neighbours from `start` on that could be written again together.
fn end_of_run(facts: &TableFacts, start: usize, effort: Effort) -> usize {
    let of = |block: &BlockFacts| (block.layout, block.range);
    let first = of(&facts.blocks[start]);
    let rest = facts.blocks[start..].iter();
    let fits = |block: &&BlockFacts| {
        of(block) == first && (block.is_small(facts.block_bytes) || block.is_dirty(effort))
    };
    start + rest.take_while(fits).count()
}

/// The part of a run that is to be written again now, if any is.
fn worth_writing(facts: &TableFacts, run: Range<usize>, effort: Effort) -> Option<Range<usize>> {
    let blocks = &facts.blocks[run.clone()];
    if let Some(dirty) = blocks.iter().position(|block| block.is_dirty(effort)) {
        // Small neighbours before it come along.
        let start = (0..dirty)
            .rev()
            .take_while(|place| size_of(facts, &blocks[*place..=dirty]) <= facts.block_bytes);
        let start = run.start + start.last().unwrap_or(dirty);
        let end = cut(facts, start..run.end).max(run.start + dirty + 1);
        return Some(start..end);
    }
    worth_merging(facts, run, effort)
}

/// The part of a run of small blocks without many deleted rows that is to be merged.
fn worth_merging(facts: &TableFacts, run: Range<usize>, effort: Effort) -> Option<Range<usize>> {
    if run.len() < 2 {
        return None;
    }
    let blocks = &facts.blocks[run.clone()];
    let total = size_of(facts, blocks);
    let sizes = blocks.iter().map(|block| block.size(facts.block_bytes));
    let (place, largest) = sizes.enumerate().max_by_key(|(_, size)| *size)?;
    let many = run.len() >= MERGE_BLOCKS && largest <= total / 2;
    if effort == Effort::Vacuum || many || total >= facts.block_bytes {
        let end = cut(facts, run.clone());
        return (end > run.start + 1).then_some(run.start..end);
    }
    // One that is larger than all others together waits until they have grown.
    worth_merging(facts, run.start..run.start + place, effort)
        .or_else(|| worth_merging(facts, run.start + place + 1..run.end, effort))
}

fn size_of(facts: &TableFacts, blocks: &[BlockFacts]) -> u64 {
    let sizes = blocks.iter().map(|block| block.size(facts.block_bytes));
    sizes.sum()
}

/// How many bytes of rows are brought into order at once.
pub(super) fn together(block_bytes: u64, sorted: bool) -> u64 {
    match sorted {
        true => block_bytes.max(SORTED_BYTES),
        false => block_bytes,
    }
}

/// The end of as many blocks of a run as are written at once: enough to fill one,
/// or several of a sorted table, so that they do not overlap.
fn cut(facts: &TableFacts, run: Range<usize>) -> usize {
    let most = together(facts.block_bytes, facts.sorted);
    let mut size = 0;
    for place in run.clone() {
        size += facts.blocks[place].size(facts.block_bytes);
        if size >= most {
            return place + 1;
        }
    }
    run.end
}

#[cfg(test)]
mod tests;
