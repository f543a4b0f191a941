//! A column family over Freestone: records found by key, each column stored apart.

use super::run::Records;
use super::workload::{Requests, Workload};
use crate::error::{Error, Result};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use freestone_storage::row::Row;
use freestone_storage::store::DEFAULT_SCHEMA;
use freestone_storage::{
    Column, ColumnType, Key, KeyLookUp, Layout, OpenMode, Store, TableId, TableOptions,
    TableSchema, Value,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const NAME: &str = "family";

/// A column family: a table of the layout `dsm`, where each column is a relation of record
/// ids and values (C1). New records are in the table's delta until there are enough for a
/// block.
#[derive(Debug)]
pub(super) struct Family {
    store: Arc<Store>,
    table: TableId,
    look_up: KeyLookUp,
    /// Records that may be read have smaller keys.
    committed: AtomicU64,
    next: AtomicU64,
}

impl Family {
    /// Makes one in a new directory, with the records of the workload.
    pub fn new(directory: &Path, workload: &Workload) -> Result<Family> {
        let store = Store::open(directory, OpenMode::Create)?;
        let options = TableOptions {
            layout: Layout::Dsm,
            ..TableOptions::default()
        };
        let schema = schema(workload.columns);
        let table = store
            .commit(|edit| edit.create_table(DEFAULT_SCHEMA, NAME, schema, options.clone()))?;
        let snapshot = store.snapshot();
        let known = snapshot.table_by_id(table);
        let schema = known.ok_or_else(|| gone(table))?.schema.clone();
        if workload.records > 0 {
            let mut writer = store.writer(&schema, &options)?;
            writer.push(&records(&schema, workload)?)?;
            let blocks = writer.finish()?;
            store.commit(|edit| edit.append(table, blocks).map(drop))?;
        }
        let columns: Vec<usize> = (1..=workload.columns).collect();
        Ok(Family {
            look_up: KeyLookUp::prepare(&schema, &[0], &columns)?,
            store,
            table,
            committed: AtomicU64::new(workload.records as u64),
            next: AtomicU64::new(workload.records as u64),
        })
    }

    /// All columns of a record that is there, chosen by any number; `None` if there is none.
    fn record(&self, chosen: u64) -> Result<Option<Row>> {
        let there = self.committed.load(Ordering::Acquire);
        if there == 0 {
            return Ok(None);
        }
        let key = Value::Int((chosen % there).into());
        let snapshot = self.store.snapshot();
        let table = snapshot.table_by_id(self.table);
        let table = table.ok_or_else(|| gone(self.table))?;
        let found = table.find(&snapshot.read_view(self.table), &self.look_up, &[key])?;
        Ok(found.into_iter().next().map(|(_, row)| row))
    }
}

impl Records for Family {
    fn read(&self, chosen: u64) -> Result<()> {
        std::hint::black_box(self.record(chosen)?);
        Ok(())
    }

    /// Adds a record. Its commit does not wait for the disk, nor did CODB's.
    fn write(&self, entries: Vec<Vec<u8>>) -> Result<()> {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let entries = entries.into_iter().map(|entry| Some(Value::Bytes(entry)));
        let key_value = Some(Value::Int(key.into()));
        let row: Row = std::iter::once(key_value).chain(entries).collect();
        let mut transaction = self.store.begin()?;
        transaction.relax();
        let first = transaction.insert_rows(self.table, &[row])?;
        transaction.check_keys(self.table, first)?;
        transaction.commit()?;
        // With several threads a key below may come a moment later; it is not found then.
        self.committed.fetch_max(key + 1, Ordering::Release);
        Ok(())
    }

    /// Bytes of memory that its records take: the delta's and those of opened blocks.
    fn bytes(&self) -> Result<u64> {
        Ok(self.store.delta_bytes() + self.store.cache_bytes())
    }
}

fn gone(table: TableId) -> Error {
    Error::new(format!("table {table} is gone"), "")
}

/// A key, and text columns that may be absent.
fn schema(columns: usize) -> TableSchema {
    let column = |name: String, kind, nullable| Column {
        name,
        kind,
        nullable,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    let key = column("id".into(), ColumnType::BigInt, false);
    let entries = (1..=columns).map(|number| column(format!("c{number}"), ColumnType::Text, true));
    TableSchema {
        columns: std::iter::once(key).chain(entries).collect(),
        keys: vec![Key {
            name: "ids".into(),
            columns: vec![0],
            primary: true,
            ..Key::default()
        }],
        ..TableSchema::default()
    }
}

/// The records that are there before the first request.
fn records(schema: &TableSchema, workload: &Workload) -> Result<RecordBatch> {
    let mut requests = Requests::new(workload, u64::MAX);
    let ids = Int64Array::from_iter_values(0..workload.records as i64);
    let mut columns: Vec<ArrayRef> = vec![Arc::new(ids)];
    for _ in 0..workload.columns {
        let entries = (0..workload.records).map(|_| {
            // Entries are letters.
            String::from_utf8_lossy(&requests.entry()).into_owned()
        });
        columns.push(Arc::new(StringViewArray::from_iter_values(entries)));
    }
    RecordBatch::try_new(schema.arrow(), columns).map_err(|error| Error::new(error.to_string(), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let workload = Workload {
            records: 100,
            ..Workload::default()
        };
        let family = Family::new(directory.path(), &workload).unwrap();
        let old = family.record(7).unwrap().unwrap();
        assert_eq!(old.len(), 2);
        family
            .write(vec![b"one".to_vec(), b"two".to_vec()])
            .unwrap();
        let new = family.record(100).unwrap().unwrap();
        let entry = |text: &[u8]| Some(Value::Bytes(text.to_vec()));
        assert_eq!(new, [entry(b"one"), entry(b"two")]);
        assert_eq!(family.record(101 + 7).unwrap().unwrap(), old);
        assert!(family.bytes().unwrap() > 0);
    }
}
