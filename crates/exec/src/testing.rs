//! What tests run plans over: tables in memory, and memory that ends.

use crate::context::Run;
use crate::memory::{Memory, Space};
use crate::pipeline::run;
use crate::plan::{Node, Plan, Table};
use crate::vector::{Batch, Values, Vector, concat};
use crate::{Error, Result};
use arrow_array::{ArrayRef, RecordBatch, new_empty_array};
use freestone_storage::{Column, ColumnType, DEFAULT_SCHEMA, Store, TableOptions, TableSchema};
use parking_lot::Mutex;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// So many bytes for all, and files in the system's folder.
#[derive(Debug)]
struct Limited {
    used: AtomicUsize,
    limit: usize,
}

impl Memory for Limited {
    fn grow(&self, bytes: usize) -> bool {
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.limit);
        let order = Ordering::Relaxed;
        self.used.fetch_update(order, order, more).is_ok()
    }

    fn shrink(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn file(&self) -> std::io::Result<File> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("freestone-exec-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }
}

/// Memory without an end.
pub(crate) fn space() -> Space {
    Space::new(Arc::new(Limited {
        used: AtomicUsize::new(0),
        limit: usize::MAX,
    }))
}

/// How a plan is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub threads: usize,
    pub batch_rows: usize,
    pub memory: usize,
}

/// One thread, batches as they come, and memory enough.
pub(crate) const ALONE: How = How {
    threads: 1,
    batch_rows: 0,
    memory: usize::MAX,
};

/// A scan of a table whose blocks have some columns of some types.
pub(crate) fn table(kinds: &[ColumnType], blocks: &[Vec<ArrayRef>]) -> Plan {
    table_with_delta(kinds, blocks, &[])
}

/// The same with more rows in its delta.
pub(crate) fn table_with_delta(
    kinds: &[ColumnType],
    blocks: &[Vec<ArrayRef>],
    delta: &[Vec<ArrayRef>],
) -> Plan {
    let columns = kinds.iter().enumerate().map(|(number, kind)| Column {
        name: format!("c{number}"),
        kind: *kind,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    });
    let schema = Arc::new(TableSchema {
        columns: columns.collect(),
        ..TableSchema::default()
    });
    let (store, options) = (Store::in_memory(), TableOptions::default());
    let mut new = Vec::new();
    for block in blocks {
        let mut writer = store.writer(&schema, &options).unwrap();
        let batch = RecordBatch::try_new(schema.arrow(), block.clone()).unwrap();
        writer.push(&batch).unwrap();
        new.extend(writer.finish().unwrap());
    }
    let id = store
        .commit(|edit| edit.create_table(DEFAULT_SCHEMA, "t", (*schema).clone(), options))
        .unwrap();
    // The mover would merge blocks as small as these before the snapshot is taken.
    let _hold = store.hold_mover(id);
    store.commit(|edit| edit.append(id, new)).unwrap();
    for rows in delta {
        let rows = RecordBatch::try_new(schema.arrow(), rows.clone()).unwrap();
        let mut transaction = store.begin().unwrap();
        transaction.insert(id, &rows).unwrap();
        transaction.commit().unwrap();
    }
    let snapshot = store.snapshot();
    let table = Table {
        table: snapshot.table_by_id(id).unwrap().clone(),
        view: snapshot.read_view(id),
        projection: (0..kinds.len()).collect(),
        predicate: None,
        row_ids: false,
        limit: None,
        top: None,
    };
    let types = kinds.iter().map(ColumnType::arrow).collect();
    Plan::new(Node::Table(table), types, 0.0)
}

/// The batches that a plan gives, as they came. Those of an ordered plan must come one
/// after the other.
pub(crate) fn batches(plan: &Plan, how: How) -> Result<Vec<Batch>> {
    let memory = Arc::new(Limited {
        used: AtomicUsize::new(0),
        limit: how.memory,
    });
    let (stop, busy) = (AtomicBool::new(false), AtomicBool::new(false));
    let run_of = Run {
        threads: how.threads,
        batch_rows: how.batch_rows,
        stop: &stop,
        watch: &|_| {},
        space: Space::new(memory.clone()),
        moment: None,
    };
    let all = Mutex::new(Vec::new());
    run(plan, &run_of, &|batch| {
        if busy.swap(true, Ordering::SeqCst) && plan.is_ordered() {
            return Err(Error::internal("two batches at once"));
        }
        if plan.is_ordered() {
            std::thread::yield_now();
        }
        all.lock().push(batch);
        busy.store(false, Ordering::SeqCst);
        Ok(())
    })?;
    drop(run_of);
    assert_eq!(
        memory.used.load(Ordering::Relaxed),
        0,
        "bytes not given back"
    );
    Ok(all.into_inner())
}

/// The columns that a plan gives.
pub(crate) fn columns(plan: &Plan, how: How) -> Result<Vec<ArrayRef>> {
    let batches = batches(plan, how)?;
    let columns = plan.types.iter().enumerate().map(|(number, kind)| {
        if batches.is_empty() {
            return Ok(new_empty_array(kind));
        }
        let parts: Vec<_> = batches.iter().map(|batch| &batch.columns[number]).collect();
        concat(&parts)?.to_arrow(kind)
    });
    columns.collect()
}

/// The rows that a plan gives, sorted; its columns are of integers and truth values.
pub(crate) fn rows(plan: &Plan, how: How) -> Result<Vec<Vec<Option<i64>>>> {
    let value = |vector: &Vector, row: usize| {
        (!vector.is_null(row)).then(|| match &vector.values {
            Values::Int(values) => values[row],
            Values::Wide(values) => i64::try_from(values[row]).unwrap(),
            Values::Bool(bits) => bits.value(row).into(),
            _ => panic!("a column that is no number"),
        })
    };
    let batches = batches(plan, how)?;
    let rows = batches.iter().flat_map(|batch| {
        (0..batch.rows).map(move |row| {
            let columns = batch.columns.iter();
            columns.map(|column| value(column, row)).collect()
        })
    });
    let mut rows: Vec<Vec<Option<i64>>> = rows.collect();
    rows.sort_unstable();
    Ok(rows)
}
