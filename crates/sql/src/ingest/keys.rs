//! PRIMARY KEY and UNIQUE, checked at the end of a statement.
//!
//! The keys of the new rows are collected, in Arrow's row format, while they are
//! written; then those of the stored rows are read and compared. Few new keys are
//! looked up by value, so that zone maps spare most blocks; many are compared with
//! a scan of the key columns. Correct, and linear in the table: key indexes come
//! with the write path. Keys with a NULL in them never
//! collide, unless they are declared NULLS NOT DISTINCT.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::row::{RowConverter, SortField};
use freestone_storage::{Column, Key, Predicate, ReadView, ScanRequest, Table, TableSchema};

use crate::error::{Error, Result};
use crate::expression::Scalar;
use crate::scan::in_values;
use crate::values::show_of;

/// New keys up to which stored ones are looked up by value.
const LOOK_UP: usize = 256;

/// The keys of one statement's rows.
pub(crate) struct KeySet {
    schema: Arc<TableSchema>,
    keys: Vec<OneKey>,
}

struct OneKey {
    key: Key,
    converter: RowConverter,
    /// Encoded keys.
    seen: HashSet<Box<[u8]>>,
    /// The first [`LOOK_UP`] values of the key's first column, for look-ups.
    first: Vec<Scalar>,
}

impl KeySet {
    /// A set for the keys of a table; empty and free when there are none.
    ///
    /// # Errors
    /// `0A000` when a key column has a type that cannot be compared.
    pub(crate) fn new(schema: &Arc<TableSchema>, check: bool) -> Result<Self> {
        let keys = schema.keys.iter().filter(|_| check);
        let keys = keys
            .map(|key| {
                let fields = key
                    .columns
                    .iter()
                    .filter_map(|column| schema.columns.get(*column))
                    .map(|column| SortField::new(column.kind.arrow()))
                    .collect();
                Ok(OneKey {
                    key: key.clone(),
                    converter: RowConverter::new(fields)?,
                    seen: HashSet::new(),
                    first: Vec::new(),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            schema: Arc::clone(schema),
            keys,
        })
    }

    /// Adds the keys of a batch of the whole table's columns.
    ///
    /// # Errors
    /// `23505` when one occurs twice.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for one in &mut self.keys {
            let columns: Vec<ArrayRef> = one
                .key
                .columns
                .iter()
                .map(|column| Arc::clone(batch.column(*column)))
                .collect();
            one.add(&self.schema, &columns)?;
        }
        Ok(())
    }

    /// Takes over the keys of another stream of the same statement.
    ///
    /// # Errors
    /// `23505` when both have one.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        for (one, more) in self.keys.iter_mut().zip(other.keys) {
            for key in more.seen {
                if one.seen.contains(&key) {
                    return Err(one.duplicate(&self.schema, &key));
                }
                one.seen.insert(key);
            }
            one.first.extend(more.first);
        }
        Ok(())
    }

    /// Compares with the rows that the table holds.
    ///
    /// # Errors
    /// `23505`, naming the constraint and the key.
    pub(crate) fn check_against(&self, table: &Table, view: &ReadView) -> Result<()> {
        self.keys
            .iter()
            .filter(|one| !one.seen.is_empty())
            .try_for_each(|one| one.check_against(&self.schema, table, view))
    }
}

impl OneKey {
    fn add(&mut self, schema: &TableSchema, columns: &[ArrayRef]) -> Result<()> {
        let rows = self.converter.convert_columns(columns)?;
        for index in 0..rows.num_rows() {
            if !schema.is_in_key(&self.key, |at| columns[at].is_null(index)) {
                continue;
            }
            let key: Box<[u8]> = rows.row(index).data().into();
            if self.seen.contains(&key) {
                return Err(self.duplicate(schema, &key));
            }
            self.seen.insert(key);
            if self.first.len() <= LOOK_UP
                && let Some(column) = columns.first()
            {
                self.first.push(Scalar::of(column, index));
            }
        }
        Ok(())
    }

    fn check_against(&self, schema: &TableSchema, table: &Table, view: &ReadView) -> Result<()> {
        let scan = table.scan(&ScanRequest {
            projection: self.key.columns.clone(),
            predicate: self.look_up(schema),
            view: view.clone(),
            ..ScanRequest::default()
        })?;
        for batch in scan.worker() {
            let batch = batch?;
            let rows = self.converter.convert_columns(batch.columns())?;
            for row in rows.iter() {
                if self.seen.contains(row.data()) {
                    return Err(self.duplicate(schema, row.data()));
                }
            }
        }
        Ok(())
    }

    /// `first column IN (new values)`, while they are few.
    fn look_up(&self, schema: &TableSchema) -> Option<Predicate> {
        if self.first.len() > LOOK_UP || self.first.iter().any(Scalar::is_null) {
            return None;
        }
        let column = *self.key.columns.first()?;
        in_values(schema, column, &self.first)
    }

    fn duplicate(&self, schema: &TableSchema, key: &[u8]) -> Error {
        let columns: Vec<&Column> = schema.shown(&self.key.columns).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let parser = self.converter.parser();
        let values: Vec<String> = self
            .converter
            .convert_rows([parser.parse(key)])
            .map(|arrays| {
                let shown = arrays.iter().zip(&columns);
                shown
                    .map(|(array, column)| show_of(array, 0, column))
                    .collect()
            })
            .unwrap_or_default();
        Error::new(
            "23505",
            format!(
                "duplicate key value violates unique constraint \"{}\"",
                self.key.name
            ),
        )
        .with_detail(format!(
            "Key ({})=({}) already exists.",
            names.join(", "),
            values.join(", ")
        ))
    }
}
