//! Changes of the rows of partitioned tables: each row is changed where it is.
//!
//! A query for the rows to be changed reads all leaves; a row's id there is the number of its
//! table and its id in that. New versions and new rows are sent to the leaf that their keys name:
//! a row whose key leads elsewhere is deleted here and inserted there.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::{concat_batches, interleave_record_batch, take_record_batch};
use arrow::datatypes::{Field, Schema};
use freestone_storage::delta::arrays;
use freestone_storage::{Table, TableId};
use sqlparser::ast::{Ident, Query, SelectItem, SetExpr};

use super::Run;
use super::changes::{
    Applied, Changes, Touched, in_partition, of_partition, row_ids_in, whole_ids, without_ids,
};
use super::compose;
use super::conflict::Conflict;
use crate::error::{Error, Result};
use crate::ingest::{self, Streams};
use crate::names::Name;
use crate::oids::numbered_table;
use crate::relations::TABLE;
use crate::routing::Router;
use crate::scan::ROW_ID;
use crate::types::nullable;

/// Adds the number of each row's table to a query for row ids.
pub(super) fn ask_for_table(query: &mut Query, alias: &Ident) {
    if let SetExpr::Select(select) = query.body.as_mut() {
        let number = compose::column(alias, TABLE);
        select.projection.push(SelectItem::UnnamedExpr(number));
    }
}

/// Rows to be changed with one id each, made of those of the row and of its table.
///
/// # Errors
/// `XX000` for numbers of no table.
pub(super) fn with_whole_ids(rows: &RecordBatch) -> Result<RecordBatch> {
    let last = rows.num_columns() - 1;
    let wrong = || Error::internal("a row of no table");
    let numbers = rows.column(last).as_any().downcast_ref::<Int64Array>();
    let numbers = numbers.ok_or_else(wrong)?.values();
    let ids = row_ids_in(rows.column(0))?;
    let ids = ids.into_iter().zip(numbers).map(|(id, number)| {
        let table = numbered_table(*number).ok_or_else(wrong)?;
        Ok(in_partition(table, id))
    });
    let ids = ids.collect::<Result<Vec<i128>>>()?;
    with_ids(ids, &rows.project(&(1..last).collect::<Vec<_>>())?)
}

/// Rows behind ids of rows of a partitioned table.
fn with_ids(ids: Vec<i128>, rows: &RecordBatch) -> Result<RecordBatch> {
    let ids = Decimal128Array::from(ids).with_precision_and_scale(38, 0)?;
    let ids: ArrayRef = Arc::new(ids);
    let mut fields = vec![Field::new(ROW_ID, ids.data_type().clone(), true)];
    let schema = rows.schema();
    fields.extend(schema.fields().iter().map(|field| field.as_ref().clone()));
    let mut arrays = vec![ids];
    arrays.extend(rows.columns().iter().cloned());
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// Where a changed row of the whole is among the batches of its leaf.
enum Written {
    Updated(usize, usize),
    Inserted(usize, usize),
}

/// Changes that were carried out in leaves.
pub(super) struct InLeaves {
    /// How many rows have changed.
    pub(super) rows: u64,
    /// The leaf of each changed row that is still there, and its place there.
    order: Vec<(usize, Written)>,
    /// How many batches of each leaf are of updated rows, and these, then those of new ones.
    written: BTreeMap<usize, (usize, Vec<RecordBatch>)>,
}

impl InLeaves {
    /// The changed rows as the whole table has them, in the order in which they came.
    fn applied(self) -> Result<Applied> {
        let (mut batches, mut first) = (Vec::new(), BTreeMap::new());
        for (leaf, (updated, rows)) in self.written {
            first.insert(leaf, (batches.len(), updated));
            batches.extend(rows);
        }
        let places = self.order.iter().filter_map(|(leaf, written)| {
            let (first, updated) = first.get(leaf)?;
            Some(match written {
                Written::Updated(at, row) => (first + at, *row),
                Written::Inserted(at, row) => (first + updated + at, *row),
            })
        });
        let places: Vec<(usize, usize)> = places.collect();
        let written = match places.is_empty() {
            true => Vec::new(),
            false => {
                let batches: Vec<&RecordBatch> = batches.iter().collect();
                vec![interleave_record_batch(&batches, &places)?]
            }
        };
        Ok(Applied {
            rows: self.rows,
            written,
        })
    }
}

/// The rows of a batch at some places, with ids before them if there are any.
fn picked(rows: &RecordBatch, places: Vec<u32>, ids: Option<Vec<u64>>) -> Result<RecordBatch> {
    let rows = take_record_batch(rows, &UInt32Array::from(places))?;
    let Some(ids) = ids else {
        return Ok(rows);
    };
    let ids: ArrayRef = Arc::new(UInt64Array::from(ids));
    let mut fields = vec![Field::new(ROW_ID, ids.data_type().clone(), false)];
    fields.extend(
        rows.schema()
            .fields()
            .iter()
            .map(|field| field.as_ref().clone()),
    );
    let mut arrays = vec![ids];
    arrays.extend(rows.columns().iter().cloned());
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

impl Run<'_> {
    /// Whether there is a partitioned table of a name.
    pub(super) fn is_partitioned(&self, name: &Name) -> bool {
        let table = self.snapshot.table(&name.schema, &name.name);
        table.is_some_and(|table| table.schema.partitioned.is_some())
    }

    /// Sends the rows of a partitioned table to its leaves.
    ///
    /// # Errors
    /// Those of reading keys and bounds.
    pub(crate) fn router(&self, table: &Table) -> Result<Router> {
        Router::of(self.expressions(), table)
    }

    /// As [`Run::apply`], to a partitioned table.
    pub(super) fn apply_to_leaves(&self, whole: &Table, changes: &Changes) -> Result<Applied> {
        let mut touched = Touched::default();
        let router = self.router(whole)?;
        let done = self.carry_out_in_leaves(whole, &router, changes, &mut touched)?;
        self.settle(touched)?;
        done.applied()
    }

    /// As [`Run::carry_out`], of a partitioned table.
    pub(super) fn carry_out_in_leaves(
        &self,
        whole: &Table,
        router: &Router,
        changes: &Changes,
        touched: &mut Touched,
    ) -> Result<InLeaves> {
        let mut of_leaves: BTreeMap<usize, Changes> = BTreeMap::new();
        let leaf_of = |table: TableId| {
            let moved = || Error::new("40001", "a partition was detached or dropped meanwhile");
            router.leaf(table).ok_or_else(moved)
        };
        let mut rows = 0;
        for batch in &changes.deleted {
            rows += batch.num_rows();
            let mut gone: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
            for id in whole_ids(batch.column(0))? {
                let (table, id) = of_partition(id);
                gone.entry(leaf_of(table)?).or_default().push(id.0);
            }
            for (leaf, ids) in gone {
                of_leaves
                    .entry(leaf)
                    .or_default()
                    .deleted
                    .push(only_ids(ids)?);
            }
        }
        // New versions, then new rows, each in the order in which they came.
        let mut order = Vec::new();
        for batch in &changes.updated {
            rows += batch.num_rows();
            let ids = whole_ids(batch.column(0))?;
            let new = self.assigned(whole, &without_ids(batch)?)?;
            let to = router.find(&new)?;
            let mut stays: BTreeMap<usize, (Vec<u32>, Vec<u64>)> = BTreeMap::new();
            let mut comes: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
            let mut goes: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
            for (row, (id, to)) in (0..).zip(ids.into_iter().zip(to)) {
                let (table, id) = of_partition(id);
                let from = leaf_of(table)?;
                match from == to {
                    true => {
                        let (places, ids) = stays.entry(to).or_default();
                        order.push((to, Written::Updated(0, places.len())));
                        places.push(row);
                        ids.push(id.0);
                    }
                    false => {
                        goes.entry(from).or_default().push(id.0);
                        let places = comes.entry(to).or_default();
                        order.push((to, Written::Inserted(0, places.len())));
                        places.push(row);
                    }
                }
            }
            let count = order.len() - batch.num_rows();
            for (leaf, written) in &mut order[count..] {
                let known = of_leaves.get(leaf);
                match written {
                    Written::Updated(at, _) => *at = known.map_or(0, |known| known.updated.len()),
                    Written::Inserted(at, _) => *at = known.map_or(0, |known| known.inserted.len()),
                }
            }
            for (leaf, (places, ids)) in stays {
                let rows = router.leaves[leaf].columns_of(&picked(&new, places, None)?)?;
                let all = (0..rows.num_rows() as u32).collect();
                let of = of_leaves.entry(leaf).or_default();
                of.updated.push(picked(&rows, all, Some(ids))?);
            }
            if !comes.is_empty() && !whole.schema.keys.is_empty() {
                touched.changes_keys();
            }
            for (leaf, places) in comes {
                let rows = router.leaves[leaf].columns_of(&picked(&new, places, None)?)?;
                of_leaves.entry(leaf).or_default().inserted.push(rows);
            }
            for (leaf, ids) in goes {
                of_leaves
                    .entry(leaf)
                    .or_default()
                    .deleted
                    .push(only_ids(ids)?);
            }
        }
        for batch in &changes.inserted {
            rows += batch.num_rows();
            let new = self.assigned(whole, batch)?;
            let mut comes: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
            for (row, leaf) in (0..).zip(router.find(&new)?) {
                let at = of_leaves.get(&leaf).map_or(0, |known| known.inserted.len());
                let places = comes.entry(leaf).or_default();
                order.push((leaf, Written::Inserted(at, places.len())));
                places.push(row);
            }
            for (leaf, places) in comes {
                let rows = router.leaves[leaf].columns_of(&picked(&new, places, None)?)?;
                of_leaves.entry(leaf).or_default().inserted.push(rows);
            }
        }
        let mut written: BTreeMap<usize, (usize, Vec<RecordBatch>)> = BTreeMap::new();
        for (leaf, changes) in &of_leaves {
            let leaf_table = &router.leaves[*leaf];
            let applied = self.carry_out(&leaf_table.table, changes, touched)?;
            let rows = applied.written.iter();
            let rows = rows.map(|rows| leaf_table.columns_of_whole(&whole.schema, rows));
            let rows = rows.collect::<Result<Vec<_>>>()?;
            written.insert(*leaf, (changes.updated.len(), rows));
        }
        Ok(InLeaves {
            rows: rows as u64,
            order,
            written,
        })
    }

    /// As [`Run::resolved`], of a partitioned table: what rows meet is in their leaf.
    pub(super) async fn resolved_in_leaves(
        &self,
        whole: &Table,
        alias: &str,
        conflict: &Conflict<'_>,
        rows: &[RecordBatch],
    ) -> Result<Changes> {
        let router = self.router(whole)?;
        let rows = concat_batches(&nullable(&whole.schema), rows)?;
        let rows = self.assigned(whole, &rows)?;
        let mut changes = Changes::default();
        for (number, rows) in router.split(&rows)? {
            let leaf = &router.leaves[number];
            let here = conflict.in_leaf(leaf);
            let mut upsert = self.upsert(&leaf.table, alias, &here)?;
            let found = Box::pin(self.upserted(&mut upsert, &[rows])).await?;
            for batch in &found.inserted {
                changes
                    .inserted
                    .push(leaf.columns_of_whole(&whole.schema, batch)?);
            }
            for batch in &found.updated {
                let new = self.assigned(&leaf.table, &without_ids(batch)?)?;
                let new = leaf.columns_of_whole(&whole.schema, &new)?;
                if router.find(&new)?.iter().any(|to| *to != number) {
                    let message = "invalid ON UPDATE specification";
                    return Err(Error::unsupported(message).with_detail(
                        "The result tuple would appear in a different partition than the original \
                         tuple.",
                    ));
                }
                let ids = row_ids_in(batch.column(0))?.into_iter();
                let ids = ids.map(|id| in_partition(leaf.table.id, id)).collect();
                changes.updated.push(with_ids(ids, &new)?);
            }
        }
        Ok(changes)
    }

    /// All columns of rows of a partitioned table, in the order of their ids.
    pub(super) fn rows_of_leaves(&self, whole: &Table, ids: &ArrayRef) -> Result<RecordBatch> {
        let router = self.router(whole)?;
        let mut batches = vec![RecordBatch::new_empty(nullable(&whole.schema))];
        for id in whole_ids(ids)? {
            let (table, id) = of_partition(id);
            let Some(leaf) = router.leaf(table).and_then(|leaf| router.leaves.get(leaf)) else {
                continue;
            };
            let view = self.snapshot.read_view(table);
            if let Some(row) = leaf.table.row(&view, id, &leaf.places)? {
                let arrays = arrays(&whole.schema.columns, &[row])?;
                batches.push(RecordBatch::try_new(nullable(&whole.schema), arrays)?);
            }
        }
        Ok(concat_batches(&nullable(&whole.schema), &batches)?)
    }

    /// Puts the rows of streams, which have the columns of a table, into blocks of it or of its
    /// leaves.
    ///
    /// # Errors
    /// Those of the rows, and of publishing them.
    pub(crate) async fn load(
        &self,
        name: &Name,
        table: &Arc<Table>,
        streams: Streams,
    ) -> Result<u64> {
        if table.schema.partitioned.is_none() {
            let target = self.target(table)?;
            let written = ingest::write(self.state(), &target, streams).await?;
            return self.append(&[(name.clone(), Arc::clone(table))], vec![written]);
        }
        let router = Arc::new(self.router(table)?);
        let leaves = router.leaves.iter();
        let targets = leaves.map(|leaf| self.target(&leaf.table));
        let targets = targets.collect::<Result<Vec<_>>>()?;
        let split = Arc::clone(&router);
        let split = move |rows: &RecordBatch| split.split(rows);
        let written = ingest::write_apart(self.state(), &targets, streams, split).await?;
        let leaves = router.leaves.iter();
        let leaves = leaves.map(|leaf| (leaf.name.clone(), Arc::clone(&leaf.table)));
        self.append(&leaves.collect::<Vec<_>>(), written)
    }
}

/// Row ids of one table, as rows to be changed have them.
fn only_ids(ids: Vec<u64>) -> Result<RecordBatch> {
    let ids: ArrayRef = Arc::new(UInt64Array::from(ids));
    let field = Field::new(ROW_ID, ids.data_type().clone(), false);
    Ok(RecordBatch::try_new(
        Arc::new(Schema::new(vec![field])),
        vec![ids],
    )?)
}
