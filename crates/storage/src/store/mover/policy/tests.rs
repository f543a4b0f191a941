use super::*;

const FULL: u64 = 1 << 20;
/// Rows of the blocks here have so many bytes.
const ROW: u64 = 100;

fn block(id: u64, rows: u64, deleted: u64) -> BlockFacts {
    BlockFacts {
        id: BlockId(id),
        rows,
        deleted,
        raw_bytes: rows * ROW,
        laid_over: false,
        layout: Layout::Column,
        range: BlockRange::Unknown,
        settled: false,
        wished: None,
    }
}

fn table(blocks: Vec<BlockFacts>) -> TableFacts {
    TableFacts {
        delta_rows: 0,
        delta_bytes: 0,
        delta_limit: DeltaBytes::of(u64::MAX, 1),
        blocks,
        partition: None,
        sorted: false,
        block_bytes: FULL,
    }
}

fn background(facts: &TableFacts) -> Option<Step> {
    next_step(facts, Effort::Background)
}

fn vacuum(facts: &TableFacts) -> Option<Step> {
    next_step(facts, Effort::Vacuum)
}

fn rewrite(ids: &[u64]) -> Option<Step> {
    Some(Step::Rewrite(ids.iter().map(|id| BlockId(*id)).collect()))
}

/// Blocks of these numbers of rows, one after the other.
fn row(rows: &[u64]) -> Vec<BlockFacts> {
    let numbers = rows.iter().zip(1..);
    numbers.map(|(rows, id)| block(id, *rows, 0)).collect()
}

const FULL_ROWS: u64 = FULL / ROW;

#[test]
fn layouts_come_after_all_else() {
    let mut facts = table(row(&[10, 10, FULL_ROWS]));
    facts.blocks[2].wished = Some(Layout::Row);
    assert_eq!(vacuum(&facts), rewrite(&[1, 2]));
    assert_eq!(
        background(&facts),
        Some(Step::LayOut(BlockId(3), Layout::Row))
    );
    facts.blocks[2].wished = None;
    assert_eq!(background(&facts), None);
}

#[test]
fn a_large_delta_is_moved_first() {
    let mut facts = table(vec![block(1, 100, 100)]);
    (facts.delta_rows, facts.delta_bytes) = (DELTA_ROWS - 1, DELTA_BYTES - 1);
    assert_eq!(background(&facts), Some(Step::Drop(vec![BlockId(1)])));
    assert_eq!(vacuum(&facts), Some(Step::MoveDelta));
    facts.delta_rows += 1;
    assert_eq!(background(&facts), Some(Step::MoveDelta));
    (facts.delta_rows, facts.delta_bytes) = (1, DELTA_BYTES);
    assert_eq!(background(&facts), Some(Step::MoveDelta));
    let limit = facts.delta_limit;
    assert!(!limit.is_behind(4 * DELTA_ROWS - 1, 4 * DELTA_BYTES - 1));
    assert!(limit.is_behind(4 * DELTA_ROWS, 0) && limit.is_behind(0, 4 * DELTA_BYTES));
}

#[test]
fn deltas_share_their_memory() {
    let memory = 64 << 20;
    for tables in [1, 10, 100] {
        let limit = DeltaBytes::of(memory, tables);
        let share = memory / tables as u64;
        assert!(limit.is_behind(0, share) && !limit.is_behind(0, share - 4));
        assert_eq!(limit.bytes(), share / 4);
    }
    let least = DeltaBytes::of(0, 0);
    assert!(least.is_due(0, DELTA_BYTES_LEAST) && !least.is_due(0, DELTA_BYTES_LEAST - 1));
}

#[test]
fn blocks_without_rows_go_together() {
    let facts = table(vec![block(1, 9, 9), block(2, FULL_ROWS, 0), block(3, 5, 5)]);
    let both = Some(Step::Drop(vec![BlockId(1), BlockId(3)]));
    assert_eq!((background(&facts), vacuum(&facts)), (both.clone(), both));
}

#[test]
fn deleted_rows_are_written_away_when_they_are_many() {
    let facts = table(vec![
        block(1, FULL_ROWS, 0),
        block(2, FULL_ROWS, FULL_ROWS / 2),
    ]);
    assert_eq!(background(&facts), None);
    assert_eq!(vacuum(&facts), rewrite(&[2]));
    let facts = table(vec![
        block(1, FULL_ROWS, 0),
        block(2, FULL_ROWS, FULL_ROWS / 2 + 1),
    ]);
    assert_eq!(background(&facts), rewrite(&[2]));
    // Small neighbours come along, up to what fills a block.
    let third = FULL_ROWS / 3;
    let facts = table(vec![
        block(1, third, 0),
        block(2, third, 0),
        block(3, third, third / 2 + 1),
        block(4, third, 0),
        block(5, third, 0),
    ]);
    assert_eq!(background(&facts), rewrite(&[1, 2, 3, 4]));
}

#[test]
fn small_blocks_merge_when_that_pays() {
    // Seven are too few, unless they fill a block.
    assert_eq!(background(&table(row(&[10; 7]))), None);
    assert_eq!(
        vacuum(&table(row(&[10; 7]))),
        rewrite(&[1, 2, 3, 4, 5, 6, 7])
    );
    assert_eq!(
        background(&table(row(&[10; 8]))),
        rewrite(&[1, 2, 3, 4, 5, 6, 7, 8])
    );
    let two_fifths = 2 * FULL_ROWS / 5;
    assert_eq!(background(&table(row(&[two_fifths; 2]))), None);
    assert_eq!(
        background(&table(row(&[two_fifths; 4]))),
        rewrite(&[1, 2, 3])
    );
    // One that is larger than all others waits.
    let mut grown = vec![1000];
    grown.extend([10; 7]);
    assert_eq!(background(&table(row(&grown))), None);
    grown.push(10);
    assert_eq!(
        background(&table(row(&grown))),
        rewrite(&[2, 3, 4, 5, 6, 7, 8, 9])
    );
    // Large ones stay as they are, and stand between others.
    let half = FULL_ROWS / 2 + 1;
    assert_eq!(vacuum(&table(row(&[half; 9]))), None);
    assert_eq!(vacuum(&table(row(&[10, half, 10]))), None);
    assert_eq!(vacuum(&table(row(&[10, half, 10, 10]))), rewrite(&[3, 4]));
    // So does another layout.
    let mut facts = table(row(&[10; 4]));
    facts.blocks[1].layout = Layout::Row;
    assert_eq!(vacuum(&facts), rewrite(&[3, 4]));
    // Merging again what merging did not make fewer would never end.
    facts.blocks[2].settled = true;
    assert_eq!(vacuum(&facts), None);
}

#[test]
fn rows_of_few_bytes_fill_a_block_by_their_number() {
    let mut facts = table(row(&[BLOCK_ROWS_MAX as u64 / 2; 9]));
    facts
        .blocks
        .iter_mut()
        .for_each(|block| block.raw_bytes = 1);
    assert_eq!((background(&facts), vacuum(&facts)), (None, None));
    facts
        .blocks
        .iter_mut()
        .for_each(|block| block.rows = 400_000);
    assert_eq!(background(&facts), rewrite(&[1, 2, 3]));
}

#[test]
fn a_sorted_table_is_sorted_over_several_blocks() {
    let third = FULL_ROWS / 3;
    let mut facts = table(row(&[third; 30]));
    facts.sorted = true;
    let all: Vec<u64> = (1..=30).collect();
    assert_eq!(background(&facts), rewrite(&all));
    facts.sorted = false;
    assert_eq!(background(&facts), rewrite(&[1, 2, 3, 4]));
}

fn in_ranges(ranges: &[BlockRange], rows: u64) -> TableFacts {
    let mut facts = table(row(&vec![rows; ranges.len()]));
    for (block, range) in facts.blocks.iter_mut().zip(ranges) {
        block.range = *range;
    }
    facts.partition = Some(PartitionFacts {
        ranges: 2,
        found: false,
    });
    facts
}

#[test]
fn blocks_of_several_ranges_are_cut_before_others_merge() {
    use BlockRange::{One, Several};
    let cut = |ids: &[u64]| {
        let ids = ids.iter().map(|id| BlockId(*id));
        Some(Step::Partition(ids.collect()))
    };
    let mut facts = in_ranges(&[One(0), One(0), Several, Several], 10);
    assert_eq!(
        (background(&facts), vacuum(&facts)),
        (cut(&[3, 4]), cut(&[3, 4]))
    );
    // New blocks have the layout of the first.
    facts.blocks[3].layout = Layout::Row;
    assert_eq!(vacuum(&facts), cut(&[3]));
    // As many as fill a block of each range.
    let facts = in_ranges(&[Several; 9], FULL_ROWS / 2);
    assert_eq!(background(&facts), cut(&[1, 2, 3, 4, 5]));
    // Bounds are kept though no block has to be written.
    let mut facts = in_ranges(&[One(0), One(1)], FULL_ROWS);
    assert_eq!(background(&facts), None);
    facts.partition.as_mut().unwrap().found = true;
    assert_eq!(background(&facts), cut(&[]));
}

#[test]
fn only_blocks_of_one_range_merge() {
    use BlockRange::{One, Unknown};
    let facts = in_ranges(&[One(0), One(0), One(1), One(1), One(1), Unknown], 10);
    assert_eq!(vacuum(&facts), rewrite(&[1, 2]));
    assert_eq!(background(&facts), None);
    let facts = in_ranges(&[One(0), One(1), One(2)], 10);
    assert_eq!(vacuum(&facts), None);
    let mut facts = in_ranges(&[One(0), One(1), One(1)], 10);
    facts.blocks[1].deleted = 9;
    assert_eq!(background(&facts), rewrite(&[2, 3]));
}

/// However small the blocks are that rows come in, each row is written again a
/// logarithmic number of times.
#[test]
fn merging_is_not_quadratic() {
    let (mut facts, mut written, mut next) = (table(Vec::new()), 0, 0);
    let loads = 20_000;
    for _ in 0..loads {
        facts.blocks.push(block(next, 1, 0));
        next += 1;
        while let Some(step) = background(&facts) {
            let Step::Rewrite(ids) = step else {
                panic!("{step}");
            };
            let first = facts.blocks.iter().position(|block| block.id == ids[0]);
            let merged = facts
                .blocks
                .splice(first.unwrap()..first.unwrap() + ids.len(), []);
            let rows: u64 = merged.map(|block| block.rows).sum();
            written += rows;
            facts.blocks.insert(first.unwrap(), block(next, rows, 0));
            next += 1;
        }
        assert!(facts.blocks.len() < 40, "{} blocks", facts.blocks.len());
    }
    assert!(
        written < 10 * loads,
        "each row is written {} times",
        written / loads
    );
}
