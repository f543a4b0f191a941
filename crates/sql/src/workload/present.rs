//! What a table is now, in the terms of the advisor.

use std::collections::BTreeMap;

use freestone_model::{AUTO, Design, Index, Partition, Stored, Used};
use freestone_storage::{Block, IndexDefinition, Table};

use crate::error::Result;

/// Blocks whose columns are looked at; others are taken to be alike.
const BLOCKS: usize = 8;

/// The design that a table's blocks and options say; of blocks in several layouts, that
/// of the most rows.
pub(crate) fn design_of(table: &Table) -> Design {
    let mut by_layout: BTreeMap<String, u64> = BTreeMap::new();
    for block in table.blocks() {
        *by_layout.entry(block.layout().to_string()).or_default() += block.rows();
    }
    let most = by_layout.into_iter().max_by_key(|(_, rows)| *rows);
    let layout = most.map_or_else(|| table.options.layout.to_string(), |(layout, _)| layout);
    let name = |column: &usize| table.schema.columns.get(*column);
    let indexes = table.schema.indexes.iter();
    let indexes = indexes.filter(|index| !is_of_key(table, index));
    let indexes = indexes.filter_map(|index| {
        let [column] = index.columns.as_slice() else {
            return None;
        };
        Some(Index {
            kind: index.kind.to_string(),
            column: name(column)?.name.clone(),
        })
    });
    let mut indexes: Vec<Index> = indexes.collect();
    indexes.sort();
    Design {
        layout,
        sort_by: table.options.sort_by.clone(),
        partition_by: table.options.partition_by.as_ref().map(|known| Partition {
            column: known.column.clone(),
            ranges: known.ranges,
        }),
        codec: table.options.codec.to_string(),
        indexes,
        block_bytes: table.options.block_bytes,
    }
}

/// A design as the options of a table would say it: where layouts follow by themselves
/// none is set.
pub(crate) fn shown(table: &Table, design: &Design) -> Design {
    let mut design = design.clone();
    if table.options.auto_layout {
        AUTO.clone_into(&mut design.layout);
    }
    design
}

/// Whether an index is that of a key, which is there whatever the queries.
pub(super) fn is_of_key(table: &Table, index: &IndexDefinition) -> bool {
    let mut keys = table.schema.keys.iter();
    keys.any(|key| key.columns == index.columns)
}

/// What some blocks of a table say of all of it. Writing and fetching were not measured.
///
/// # Errors
/// `Corrupt` or `Io` if a block cannot be read.
pub(super) fn stored(table: &Table) -> Result<Stored> {
    let blocks = table.blocks();
    let some = blocks.len().min(BLOCKS);
    let chosen = (0..some).map(|number| &blocks[number * blocks.len() / some]);
    let mut sums = Sums::default();
    for block in chosen {
        sums.add(table, block)?;
    }
    let rows = table.rows() as f64;
    Ok(Stored {
        design: design_of(table),
        rows,
        blocks: (blocks.len() as f64).max(1.0),
        row_bytes: sums.bytes / sums.rows.max(1.0),
        columns: sums.columns(),
        write_seconds: 0.0,
        fetch_seconds: 0.0,
        in_order: true,
        tried: None,
        mixture: Vec::new(),
    })
}

/// Bytes and codecs of blocks, added up.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) rows: f64,
    pub(super) bytes: f64,
    columns: BTreeMap<String, (String, f64, f64)>,
}

impl Sums {
    pub(super) fn add(&mut self, table: &Table, block: &Block) -> Result<()> {
        self.rows += block.rows() as f64;
        self.bytes += block.bytes() as f64;
        for (column, facts) in table.schema.columns.iter().zip(block.columns()?) {
            let sum = self.columns.entry(column.name.clone()).or_default();
            sum.0 = column.kind.stored_as(facts.codec);
            sum.1 += facts.raw_bytes as f64;
            sum.2 += facts.bytes as f64;
        }
        Ok(())
    }

    pub(super) fn columns(self) -> BTreeMap<String, Used> {
        let rows = self.rows.max(1.0);
        let columns = self.columns.into_iter();
        let used = columns.map(|(name, (kind, raw, stored))| {
            let used = Used {
                kind,
                bytes: raw / rows,
                stored: stored / rows,
            };
            (name, used)
        });
        used.collect()
    }
}
