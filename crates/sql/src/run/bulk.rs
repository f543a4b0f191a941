//! UPDATE of many rows: columns are written anew, rows stay where they are.
//!
//! The query asks for the new values alone. In blocks of which many rows change,
//! the columns are laid over by new ones; rows of other blocks, and those in no
//! block, get new versions as always.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::{concat, interleave};
use freestone_storage::row::cell;
use freestone_storage::{Block, BlockId, NewColumns, Row, RowId, RowPlace, Table};
use parking_lot::Mutex;
use sqlparser::ast::Update;

use super::Run;
use super::assigned::{given, new_value};
use super::change::{Understood, Wanted, select, targets};
use super::changes::row_ids;
use crate::error::{Error, Result};
use crate::values::assign;

/// A column of a block is written anew if one of so many of its rows changes.
const SHARE: usize = 8;
/// Tables of fewer rows are changed row by row.
const ROWS: u64 = 10_000;

/// New values of some rows, in the order of a query's answer.
struct Answer {
    ids: Vec<RowId>,
    /// One for each assigned column.
    values: Vec<ArrayRef>,
}

/// Rows that follow each other in an answer, and in a block if they are in one.
#[derive(Clone, Copy)]
struct Span {
    answer: usize,
    /// The first of them in the answer,
    start: usize,
    /// and in the block.
    place: usize,
    len: usize,
}

fn rows_in(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.len).sum()
}

impl Run<'_> {
    /// Updates rows of a table, if it is large and no key or index is concerned;
    /// returns their number.
    pub(super) async fn update_columns(
        &self,
        understood: &Understood<'_>,
        statement: &Update,
    ) -> Result<Option<u64>> {
        let Understood {
            changed,
            table,
            assigned,
            ..
        } = understood;
        let columns = given(assigned);
        if self.is_of_parts() || table.rows() < ROWS || !can_be_laid_over(table, &columns) {
            return Ok(None);
        }
        let values = columns.iter().map(|column| {
            let column = (&table.schema.columns[*column], &assigned[*column]);
            new_value(changed, column)
        });
        let into = columns.iter().map(|column| &table.schema.columns[*column]);
        let into = targets(&self.snapshot, into);
        let query = select(changed, values.collect(), &[], understood.selection, into)?;
        let batches = match self.found_for_change(changed, &query).await? {
            Wanted::Plan(plan) => {
                let watching = self.watched(&plan, statement);
                match self.collected(plan, watching).await {
                    // They are changed as they are found then.
                    Err(error) if error.sqlstate == "53200" => return Ok(None),
                    batches => batches?,
                }
            }
            Wanted::Rows(rows) => vec![rows],
        };
        let answers = batches
            .into_iter()
            .map(|batch| answer(table, &columns, &batch))
            .collect::<Result<Vec<Answer>>>()?;
        let (in_blocks, mut single) = by_block(&answers);
        let work: Vec<(&Arc<Block>, Vec<Span>)> = {
            let mut work = Vec::new();
            for (id, found) in in_blocks {
                match table.block(id) {
                    Some(block) if rows_in(&found) * SHARE >= block.rows() as usize => {
                        work.push((block, found));
                    }
                    _ => single.extend(found),
                }
            }
            work
        };
        let written = self.write_all(table, &columns, &answers, work, &mut single)?;
        let rows = answers.iter().map(|answer| answer.ids.len() as u64).sum();
        table.activity().updated(rows, &columns);
        if !written.is_empty()
            && !self.change(|transaction| Ok(transaction.lay_over(table.id, written)?))?
        {
            if self.own.lock().is_some() {
                // Alone, the statement is soon done again on the new blocks.
                return Err(Error::new("40001", "rows were moved meanwhile"));
            }
            let (in_blocks, others) = by_block(&answers);
            single = others;
            single.extend(in_blocks.into_values().flatten());
        }
        let single = self.versions(table, &columns, &answers, &single)?;
        if !single.is_empty() {
            self.change(|transaction| Ok(transaction.update(table.id, single, &columns)?))?;
        }
        Ok(Some(rows))
    }

    /// Writes the columns of blocks, several at once; rows of blocks that have no
    /// place for them go to `single`.
    fn write_all(
        &self,
        table: &Table,
        columns: &[usize],
        answers: &[Answer],
        work: Vec<(&Arc<Block>, Vec<Span>)>,
        single: &mut Vec<Span>,
    ) -> Result<Vec<NewColumns>> {
        // More than there are cores: a thread waits while its file is synced.
        let threads = self.state().options().threads * 4;
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let write = || {
            while let Some((block, found)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                let values = merged(block, columns, answers, found);
                let written = values.and_then(|values| {
                    let store = self.store();
                    Ok(store.write_columns(table, block, columns, values)?)
                });
                if written.is_err() {
                    next.store(work.len(), Ordering::Relaxed);
                }
                done.lock().push((found, written));
            }
        };
        std::thread::scope(|scope| {
            (1..threads.clamp(1, work.len().max(1))).for_each(|_| drop(scope.spawn(write)));
            write();
        });
        let mut all = Vec::new();
        for (found, written) in done.into_inner() {
            match written? {
                Some(columns) => all.push(columns),
                None => single.extend(found),
            }
        }
        Ok(all)
    }

    /// Whole rows with their new values.
    fn versions(
        &self,
        table: &Table,
        columns: &[usize],
        answers: &[Answer],
        spans: &[Span],
    ) -> Result<Vec<(RowId, Row)>> {
        let view = self.snapshot.read_view(table.id);
        let all: Vec<usize> = (0..table.schema.columns.len()).collect();
        let mut rows = Vec::with_capacity(rows_in(spans));
        let each = spans.iter().flat_map(|span| {
            let rows = span.start..span.start + span.len;
            rows.map(|row| (&answers[span.answer], row))
        });
        for (answer, row) in each {
            let id = answer.ids[row];
            let old = table.row(&view, id, &all)?;
            let mut version = old.ok_or_else(|| Error::internal("a row that is not there"))?;
            for (column, values) in columns.iter().zip(&answer.values) {
                version[*column] = cell(values, row);
            }
            rows.push((id, version));
        }
        Ok(rows)
    }
}

/// Whether nothing but the values of these columns depends on them.
fn can_be_laid_over(table: &Table, columns: &[usize]) -> bool {
    let schema = &table.schema;
    let indexed = schema.indexes.iter().flat_map(|index| &index.columns);
    let sorted = table.options.sort_by.as_ref();
    let sorted = sorted.and_then(|name| schema.index_of(name));
    let ranges = table.options.partition_by.as_ref();
    let ranges = ranges.and_then(|by| schema.index_of(&by.column));
    !columns.is_empty()
        && !schema.is_in_partitions()
        && schema.checks.is_empty()
        && !schema.columns.iter().any(|column| column.generated)
        && !columns
            .iter()
            .any(|column| schema.columns[*column].declared.is_some())
        && !schema.are_keyed(columns)
        && !indexed
            .chain(sorted.iter().chain(&ranges))
            .any(|column| columns.contains(column))
}

/// Row ids, and values as the columns have them.
fn answer(table: &Table, columns: &[usize], batch: &RecordBatch) -> Result<Answer> {
    let values = columns.iter().zip(&batch.columns()[1..]);
    let values = values.map(|(column, array)| {
        let column = &table.schema.columns[*column];
        assign(array, column)
            .map_err(|bad| bad.error.with_detail(format!("column \"{}\"", column.name)))
    });
    Ok(Answer {
        ids: row_ids(batch)?,
        values: values.collect::<Result<_>>()?,
    })
}

/// The rows of each block, in its order, and those in no block.
fn by_block(answers: &[Answer]) -> (HashMap<BlockId, Vec<Span>>, Vec<Span>) {
    let (mut blocks, mut others): (HashMap<BlockId, Vec<Span>>, Vec<Span>) = Default::default();
    for (number, answer) in answers.iter().enumerate() {
        let mut start = 0;
        // Rows that follow each other in a block have ids that do.
        for ids in answer.ids.chunk_by(|a, b| a.0.checked_add(1) == Some(b.0)) {
            let mut span = Span {
                answer: number,
                start,
                place: 0,
                len: ids.len(),
            };
            start += ids.len();
            match ids[0].place() {
                RowPlace::Block(block, place) => {
                    span.place = place as usize;
                    blocks.entry(block).or_default().push(span);
                }
                RowPlace::Delta(_) | RowPlace::Own(_) => others.push(span),
            }
        }
    }
    for spans in blocks.values_mut() {
        spans.sort_unstable_by_key(|span| span.place);
    }
    (blocks, others)
}

/// The columns of a block with new values in the rows that were found.
fn merged(
    block: &Block,
    columns: &[usize],
    answers: &[Answer],
    spans: &[Span],
) -> Result<Vec<ArrayRef>> {
    let rows = block.rows() as usize;
    let mut merged = Vec::with_capacity(columns.len());
    for (index, column) in columns.iter().enumerate() {
        let values = |number: usize| answers[number].values[index].as_ref();
        if rows_in(spans) == rows {
            let slices = spans
                .iter()
                .map(|span| values(span.answer).slice(span.start, span.len));
            let slices: Vec<ArrayRef> = slices.collect();
            let slices: Vec<&dyn Array> = slices.iter().map(AsRef::as_ref).collect();
            merged.push(concat(&slices)?);
            continue;
        }
        let old = block.read(*column, 0..rows)?;
        let mut sources: Vec<&dyn Array> = (0..answers.len()).map(values).collect();
        sources.push(old.as_ref());
        let mut picks: Vec<(usize, usize)> = (0..rows).map(|row| (answers.len(), row)).collect();
        for span in spans {
            let places = picks.iter_mut().skip(span.place).take(span.len);
            for (slot, row) in places.zip(span.start..) {
                *slot = (span.answer, row);
            }
        }
        merged.push(interleave(&sources, &picks)?);
    }
    Ok(merged)
}
