//! Tables in memory, organised in the ways that the paper compares (Q, section 3.3).
//!
//! What the paper calls a file is a large part of the table that one thread works on
//! from beginning to end. Here it is a row of blocks of 2^20 rows, which is the most
//! that a block of Freestone holds: a sort and an index reach over 2^20 rows instead
//! of the paper's 37 million.

use super::clock::Clock;
use super::tables::{Generator, TableKind};
use crate::error::{Error, Result};
use arrow_array::RecordBatch;
use freestone_storage::{
    Block, CodecChoice, DEFAULT_SCHEMA, IndexDefinition, IndexForm, IndexKind, Layout, MoverHold,
    NewBlock, Store, Table, TableOptions, TableSchema,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most rows of a block.
pub const ROWS_MAX: usize = 1 << 20;

/// Range partitions (Q, section 3.3.1).
pub const PARTITIONS: u64 = 16;

/// How a table is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Blocks of so many rows, which threads take from one queue.
    Blocks(usize),
    /// As many static partitions as there are threads.
    Files,
    /// Blocks of so many rows, each with values of one sixteenth of the sort column's
    /// range only.
    Partitions(usize),
}

/// How a table is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Organisation {
    /// How tuples lie.
    pub layout: Layout,
    /// The column that each block, or part of a file, is sorted on.
    pub sorted: Option<usize>,
    /// How the table is cut.
    pub cut: Cut,
    /// How columns are compressed.
    pub codec: CodecChoice,
    /// The columns that have a CSB+-tree each.
    pub indexed: Vec<usize>,
}

impl Organisation {
    /// Uncompressed, unsorted, without indexes.
    pub fn plain(layout: Layout, cut: Cut) -> Organisation {
        Organisation {
            layout,
            sorted: None,
            cut,
            codec: CodecChoice::None,
            indexed: Vec::new(),
        }
    }

    /// The same, sorted on a column.
    pub fn sorted(self, column: usize) -> Organisation {
        Organisation {
            sorted: Some(column),
            ..self
        }
    }

    /// The same with a CSB+-tree on a column.
    pub fn indexed(mut self, column: usize) -> Organisation {
        self.indexed.push(column);
        self
    }

    /// The same with other codecs.
    pub fn coded(self, codec: CodecChoice) -> Organisation {
        Organisation { codec, ..self }
    }

    fn schema(&self, kind: TableKind) -> TableSchema {
        let mut schema = kind.schema();
        let indexes = self.indexed.iter().zip(1..);
        schema.indexes = indexes
            .map(|(column, number)| IndexDefinition {
                number,
                name: format!("index{number}"),
                kind: IndexKind::Csb,
                columns: vec![*column],
                form: IndexForm::default(),
            })
            .collect();
        schema.index_numbers = self.indexed.len() as u32;
        schema
    }

    fn options(&self, schema: &TableSchema) -> TableOptions {
        let sorted = self.sorted.and_then(|column| schema.columns.get(column));
        TableOptions {
            layout: self.layout,
            sort_by: sorted.map(|column| column.name.clone()),
            // Blocks are cut by rows, before the writer would.
            block_bytes: freestone_storage::schema::BLOCK_BYTES_MAX,
            codec: self.codec,
            ..TableOptions::default()
        }
    }
}

/// The rows of a block.
enum Piece {
    /// Next to each other.
    Range(std::ops::Range<u64>),
    /// Of one partition.
    Listed(Vec<u64>),
}

/// A table in memory.
#[derive(Debug)]
pub struct Stored {
    /// How it is stored.
    pub organisation: Organisation,
    /// The table.
    pub table: Arc<Table>,
    /// Seconds of all threads in sorting, encoding, indexing and writing, divided by their
    /// number; making the rows is not among them.
    pub load_seconds: f64,
    /// Keeps the blocks.
    pub store: Arc<Store>,
    /// Keeps the mover from merging small blocks while they are measured.
    _hold: MoverHold,
}

impl Stored {
    /// Makes a table and stores it.
    ///
    /// # Errors
    /// Those of writing blocks.
    pub fn load(
        generator: Generator,
        rows: u64,
        organisation: &Organisation,
        threads: usize,
    ) -> Result<Stored> {
        let store = Store::in_memory();
        let schema = organisation.schema(generator.kind);
        let options = organisation.options(&schema);
        let pieces = pieces(generator, rows, organisation, threads);
        let shared = Arc::new(schema.clone());
        let write = |piece: &Piece| -> Result<(Vec<NewBlock>, f64)> {
            let columns = match piece {
                Piece::Range(rows) => generator.columns(rows.clone()),
                Piece::Listed(rows) => generator.columns(rows.iter().copied()),
            };
            let batch = RecordBatch::try_new(shared.arrow(), columns)
                .map_err(|error| Error::new(error.to_string(), ""))?;
            let clock = Clock::start();
            let mut writer = store.writer(&shared, &options)?;
            writer.push(&batch)?;
            Ok((writer.finish()?, clock.elapsed().as_secs_f64()))
        };
        let (blocks, load_seconds) = in_parallel(&pieces, threads, &write)?;
        let blocks: Vec<NewBlock> = blocks.into_iter().flatten().collect();
        let table = store.commit(|edit| edit.create_table(DEFAULT_SCHEMA, "t", schema, options))?;
        let hold = store.hold_mover(table);
        store.commit(|edit| edit.append(table, blocks).map(drop))?;
        let table = store.snapshot().table_by_id(table).cloned();
        Ok(Stored {
            organisation: organisation.clone(),
            table: table.ok_or_else(|| Error::new("the table is gone", ""))?,
            load_seconds,
            store,
            _hold: hold,
        })
    }

    /// Its columns without its indexes: what a scan is planned with that shall use none.
    pub fn unindexed(&self) -> TableSchema {
        TableSchema {
            indexes: Vec::new(),
            ..(*self.table.schema).clone()
        }
    }

    /// The blocks as threads take them: a queue for each, or one for all.
    pub fn queues(&self, threads: usize) -> Vec<Vec<Arc<Block>>> {
        let blocks = self.table.blocks();
        match self.organisation.cut {
            Cut::Files => blocks
                .chunks(blocks.len().div_ceil(threads.max(1)).max(1))
                .map(<[Arc<Block>]>::to_vec)
                .collect(),
            _ => vec![blocks.to_vec()],
        }
    }
}

/// The rows of each block, in order.
fn pieces(
    generator: Generator,
    rows: u64,
    organisation: &Organisation,
    threads: usize,
) -> Vec<Piece> {
    let ranges = |start: u64, end: u64, step: usize| {
        let starts = (start..end).step_by(step.clamp(1, ROWS_MAX));
        starts
            .map(move |start| Piece::Range(start..end.min(start + step as u64)))
            .collect::<Vec<Piece>>()
    };
    match organisation.cut {
        Cut::Blocks(step) => ranges(0, rows, step.clamp(1, ROWS_MAX)),
        Cut::Files => {
            let share = rows.div_ceil(threads.max(1) as u64).max(1);
            let starts = (0..rows).step_by(share as usize);
            starts
                .flat_map(|start| ranges(start, rows.min(start + share), ROWS_MAX))
                .collect()
        }
        Cut::Partitions(step) => {
            let column = organisation.sorted.unwrap_or(0);
            let largest = generator.kind.largest(column) as u64;
            let mut listed: Vec<Vec<u64>> = (0..PARTITIONS).map(|_| Vec::new()).collect();
            for row in 0..rows {
                let value = generator.integer(column, row) as u64 - 1;
                listed[(value * PARTITIONS / largest) as usize].push(row);
            }
            let chunks = listed
                .iter()
                .flat_map(|rows| rows.chunks(step.clamp(1, ROWS_MAX)));
            chunks.map(|rows| Piece::Listed(rows.to_vec())).collect()
        }
    }
}

/// Does the same with each piece, with several threads; what comes of them in their
/// order, and the seconds of all threads, divided by their number.
///
/// # Errors
/// The first that a piece gives.
pub fn in_parallel<P: Sync, T: Send>(
    pieces: &[P],
    threads: usize,
    work: &(impl Fn(&P) -> Result<(T, f64)> + Sync),
) -> Result<(Vec<T>, f64)> {
    type Done<T> = (Vec<(usize, Result<T>)>, f64);
    let next = AtomicUsize::new(0);
    let done: Mutex<Done<T>> = Mutex::new((Vec::new(), 0.0));
    let thread = || {
        let mut seconds = 0.0;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(number) else {
                break;
            };
            let result = work(piece).map(|(result, taken)| {
                seconds += taken;
                result
            });
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.0.push((number, result));
        }
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.1 += seconds / threads.max(1) as f64;
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(thread)));
        thread();
    });
    let (mut results, seconds) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    let results = results.into_iter().map(|(_, result)| result);
    Ok((results.collect::<Result<Vec<T>>>()?, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(cut: Cut) -> Stored {
        let generator = Generator {
            kind: TableKind::NarrowU,
            seed: 1,
        };
        let organisation = Organisation::plain(Layout::Column, cut).sorted(2);
        Stored::load(generator, 10_000, &organisation, 2).unwrap()
    }

    #[test]
    fn tables_are_cut_as_asked() {
        let blocks = load(Cut::Blocks(4096));
        let rows = |stored: &Stored| -> Vec<u64> {
            stored
                .table
                .blocks()
                .iter()
                .map(|block| block.rows())
                .collect()
        };
        assert_eq!(rows(&blocks), [4096, 4096, 1808]);
        assert_eq!(blocks.queues(2).len(), 1);
        let files = load(Cut::Files);
        assert_eq!(rows(&files), [5000, 5000]);
        assert_eq!(files.queues(2).len(), 2);
    }

    #[test]
    fn partitions_do_not_overlap() {
        let stored = load(Cut::Partitions(4096));
        let bounds = |block: &Arc<Block>| {
            let zone = block.zone(2).unwrap().into_owned().bounds.unwrap();
            (zone.min, zone.max)
        };
        let zones: Vec<_> = stored.table.blocks().iter().map(bounds).collect();
        assert_eq!(zones.len(), PARTITIONS as usize);
        let apart = |pair: &[(_, _)]| {
            let (before, after): (
                &(_, freestone_storage::Value),
                &(freestone_storage::Value, _),
            ) = (&pair[0], &pair[1]);
            before.1.compare(&after.0) == Some(std::cmp::Ordering::Less)
        };
        assert!(zones.windows(2).all(apart));
        assert_eq!(stored.table.rows(), 10_000);
    }
}
