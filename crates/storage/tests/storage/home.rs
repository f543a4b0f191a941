//! A store with one table `t`, and ways to read it.

use crate::model::Model;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::*;
use freestone_storage::{
    BlockWriter, DEFAULT_SCHEMA, Layout, NewBlock, OpenMode, Result, Scan, Store, Table,
    TableOptions,
};
use std::sync::Arc;

/// A store, and the directory that goes away with it.
pub struct Home {
    pub store: Arc<Store>,
    directory: Option<tempfile::TempDir>,
}

impl Home {
    pub fn new(on_disk: bool) -> Home {
        if !on_disk {
            return Home {
                store: Store::in_memory(),
                directory: None,
            };
        }
        let directory = tempfile::tempdir().unwrap();
        Home {
            store: Store::open(directory.path(), OpenMode::Create).unwrap(),
            directory: Some(directory),
        }
    }

    /// Closes and opens a database on disk.
    pub fn reopened(self) -> Home {
        let Home { store, directory } = self;
        let Some(directory) = directory else {
            return Home {
                store,
                directory: None,
            };
        };
        drop(store);
        Home {
            store: Store::open(directory.path(), OpenMode::ReadOnly).unwrap(),
            directory: Some(directory),
        }
    }

    pub fn table(&self) -> Arc<Table> {
        self.store
            .snapshot()
            .table(DEFAULT_SCHEMA, "t")
            .unwrap()
            .clone()
    }
}

pub fn written(mut writer: BlockWriter, batch: &RecordBatch, cut: usize) -> Vec<NewBlock> {
    for start in (0..batch.num_rows()).step_by(cut) {
        writer
            .push(&batch.slice(start, cut.min(batch.num_rows() - start)))
            .unwrap();
    }
    writer.finish().unwrap()
}

/// Makes table `t`: one part of the rows after the other, each with its options.
pub fn fill(home: &Home, model: &Model, parts: &[TableOptions], cut: usize) {
    fill_store(&home.store, model, parts, cut);
}

/// As [`fill`], for any store.
pub fn fill_store(store: &Store, model: &Model, parts: &[TableOptions], cut: usize) {
    let schema = Arc::new(model.schema.clone());
    let share = model.batch.num_rows().div_ceil(parts.len()).max(1);
    let mut blocks = Vec::new();
    for (part, options) in parts.iter().enumerate() {
        let start = (part * share).min(model.batch.num_rows());
        let batch = model
            .batch
            .slice(start, share.min(model.batch.num_rows() - start));
        blocks.extend(written(
            store.writer(&schema, options).unwrap(),
            &batch,
            cut,
        ));
    }
    let create = |edit: &mut freestone_storage::CatalogEdit| {
        let id = edit.create_table(DEFAULT_SCHEMA, "t", model.schema.clone(), parts[0].clone())?;
        edit.append(id, blocks)
    };
    assert_eq!(store.commit(create).unwrap(), model.batch.num_rows() as u64);
}

pub fn collected(batches: Vec<RecordBatch>, columns: usize) -> Vec<Option<ArrayRef>> {
    let column = |column: usize| {
        let arrays: Vec<&dyn Array> = batches
            .iter()
            .map(|batch| batch.column(column).as_ref())
            .collect();
        (!arrays.is_empty()).then(|| arrow_select::concat::concat(&arrays).unwrap())
    };
    (0..columns).map(column).collect()
}

pub fn one_worker(scan: &Arc<Scan>) -> Vec<RecordBatch> {
    scan.worker().collect::<Result<_>>().unwrap()
}

/// The `id` of every row, ascending.
pub fn ids(batches: &[RecordBatch]) -> Vec<u32> {
    let ids = batches.iter().flat_map(|batch| {
        batch
            .column(0)
            .as_primitive::<Int64Type>()
            .values()
            .to_vec()
    });
    let mut ids: Vec<u32> = ids.map(|id| id as u32).collect();
    ids.sort_unstable();
    ids
}

pub fn three_workers(scan: &Arc<Scan>) -> Vec<RecordBatch> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| one_worker(scan))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Every form that tuples have: each layout, and slotted rows.
pub fn every_form(block_bytes: u64) -> Vec<TableOptions> {
    let slotted = TableOptions {
        slotted: true,
        fill_percent: 90,
        ..options(Layout::Row, block_bytes)
    };
    let layouts = Layout::ALL.map(|layout| options(layout, block_bytes));
    layouts.into_iter().chain([slotted]).collect()
}

pub fn options(layout: Layout, block_bytes: u64) -> TableOptions {
    TableOptions {
        layout,
        block_bytes,
        page_bytes: 2048,
        ..TableOptions::default()
    }
}
