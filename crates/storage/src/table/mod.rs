//! A table at one moment: columns, options and the blocks that hold its rows.

mod activity;
mod bounds;
mod sample;

pub use activity::{Activity, Counted};
pub use sample::Sample;

use crate::block::{Block, Sketch};
use crate::delta::{Delta, Fragment, ReadView};
use crate::error::Result;
use crate::ids::{BlockId, RowId, RowPlace, TableId};
use crate::predicate::Predicate;
use crate::row::Row;
use crate::scan::{BlockBounds, Extent, FoundRows, KeyLookUp, LookUp, Scan, ScanRequest, look_up};
use crate::schema::{FormerColumns, TableOptions, TableSchema, Value};
use arrow_schema::SchemaRef;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A table as one snapshot sees it.
#[derive(Debug)]
pub struct Table {
    /// The table's number.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// Columns and keys.
    pub schema: Arc<TableSchema>,
    /// Physical options of new blocks.
    pub options: TableOptions,
    blocks: Vec<Arc<Block>>,
    /// Where each block is among them.
    places: OnceLock<HashMap<BlockId, usize>>,
    /// Rows that are in no block.
    delta: Arc<Delta>,
    /// Columns of blocks that are older than today's.
    former: Arc<Vec<FormerColumns>>,
    statistics: OnceLock<TableStatistics>,
    sample: Mutex<Option<Arc<Sample>>>,
    activity: Arc<Activity>,
    /// The schema in Arrow's form, made once.
    arrow: OnceLock<SchemaRef>,
    /// Per column, the bounds of each block; see [`Table::bounds`].
    bounds: Vec<OnceLock<Option<BlockBounds>>>,
}

/// What is known of a table without reading its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// Rows.
    pub rows: u64,
    /// Per column.
    pub columns: Vec<ColumnStatistics>,
}

/// What is known of a column without reading its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// Rows that are NULL.
    pub null_count: u64,
    /// No value is smaller.
    pub min: Option<Value>,
    /// No value is larger.
    pub max: Option<Value>,
    /// Whether both bounds occur as values.
    pub exact_bounds: bool,
    /// About how many different values.
    pub distinct: u64,
}

impl Table {
    /// A table of `blocks`.
    pub fn new(
        id: TableId,
        name: String,
        schema: Arc<TableSchema>,
        options: TableOptions,
        blocks: Vec<Arc<Block>>,
    ) -> Table {
        let bounds = schema.columns.iter().map(|_| OnceLock::new()).collect();
        Table {
            id,
            name,
            bounds,
            activity: Arc::new(Activity::new(schema.columns.len())),
            delta: Arc::new(Delta::new(schema.clone(), 1)),
            schema,
            options,
            blocks,
            places: OnceLock::new(),
            former: Arc::default(),
            statistics: OnceLock::new(),
            sample: Mutex::default(),
            arrow: OnceLock::new(),
        }
    }

    /// The same table with other blocks or options.
    pub fn with(&self, name: &str, options: TableOptions, blocks: Vec<Arc<Block>>) -> Table {
        Table {
            former: self.former.clone(),
            delta: self.delta.clone(),
            activity: self.activity.clone(),
            ..Table::new(
                self.id,
                name.to_string(),
                self.schema.clone(),
                options,
                blocks,
            )
        }
    }

    /// Blocks of the table alone, without any row that is in no block.
    #[must_use]
    pub fn of_blocks(&self, blocks: Vec<Arc<Block>>) -> Table {
        let delta = Arc::new(Delta::new(self.schema.clone(), 1));
        let table = self.with(&self.name, self.options.clone(), blocks);
        table.with_delta(delta)
    }

    /// The same table with another delta.
    #[must_use]
    pub fn with_delta(self, delta: Arc<Delta>) -> Table {
        Table { delta, ..self }
    }

    /// Rows that are in no block.
    pub fn delta(&self) -> &Arc<Delta> {
        &self.delta
    }

    /// The same table with other former columns.
    pub fn with_former(self, former: Vec<FormerColumns>) -> Table {
        Table {
            former: Arc::new(former),
            ..self
        }
    }

    /// Columns of blocks that are older than today's.
    pub fn former(&self) -> &[FormerColumns] {
        &self.former
    }

    /// The same table with other options for new blocks.
    #[must_use]
    pub fn with_options(self, options: TableOptions) -> Table {
        Table { options, ..self }
    }

    /// The same table with another schema.
    pub fn with_schema(&self, schema: Arc<TableSchema>, blocks: Vec<Arc<Block>>) -> Table {
        let (name, options) = (self.name.clone(), self.options.clone());
        // Maps of its keys and indexes follow the schema.
        let delta = self.delta.from(schema.clone(), self.delta.first());
        Table {
            former: self.former.clone(),
            delta: Arc::new(delta),
            ..Table::new(self.id, name, schema, options, blocks)
        }
    }

    /// The same table with its rows where `now` has them, which has those of `before` in other
    /// places; `None` if its own are not where `before` had them.
    pub fn over(self: &Arc<Table>, before: &Arc<Table>, now: &Arc<Table>) -> Option<Arc<Table>> {
        if Arc::ptr_eq(self, before) {
            return Some(now.clone());
        }
        let same = self.block_ids() == before.block_ids()
            && self.delta.first() == before.delta.first()
            && self.former == before.former;
        if !same {
            return None;
        }
        let options = match self.options == before.options {
            true => now.options.clone(),
            false => self.options.clone(),
        };
        let blocks = now.blocks().to_vec();
        let table = now.with(&self.name, options, blocks.clone());
        Some(Arc::new(table.with_schema(self.schema.clone(), blocks)))
    }

    /// What is done to its rows.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Numbers of the blocks, in order.
    pub fn block_ids(&self) -> Vec<BlockId> {
        self.blocks.iter().map(|block| block.id()).collect()
    }

    /// Rows that are there, by everything committed.
    pub fn rows(&self) -> u64 {
        let deleted = self
            .blocks
            .iter()
            .map(|block| block.deletes().count() as u64);
        let fragments = self.delta.fragments().into_iter();
        let newest = fragments.map(|fragment| {
            // Deletes first: rows may come in between, and go.
            let gone = fragment.deletes.count();
            fragment.len().saturating_sub(gone) as u64
        });
        let deleted: u64 = deleted.sum();
        self.rows_in_blocks().saturating_sub(deleted) + newest.sum::<u64>()
    }

    /// Rows in all blocks, deleted ones included.
    pub fn rows_in_blocks(&self) -> u64 {
        self.blocks.iter().map(|block| block.rows()).sum()
    }

    /// Bytes of all block files.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes()).sum()
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// The block of this number.
    pub fn block(&self, id: BlockId) -> Option<&Arc<Block>> {
        let places = self.places.get_or_init(|| {
            let blocks = self.blocks.iter().enumerate();
            blocks.map(|(place, block)| (block.id(), place)).collect()
        });
        self.blocks.get(*places.get(&id)?)
    }

    /// Whether every row that there is, is in a block and not deleted.
    pub fn is_settled(&self) -> bool {
        self.delta.rows() == 0 && self.blocks.iter().all(|block| block.deletes().count() == 0)
    }

    /// Prepares a scan; see [`Scan`].
    ///
    /// # Errors
    /// 42703 or 42804 for a request that does not fit the columns.
    pub fn scan(&self, request: &ScanRequest) -> Result<Arc<Scan>> {
        Scan::new(
            self.schema.clone(),
            self.arrow(),
            self.blocks.clone(),
            request.view.fragments(&self.delta),
            request,
        )
    }

    /// The schema in Arrow's form.
    pub fn arrow(&self) -> &SchemaRef {
        self.arrow.get_or_init(|| self.schema.arrow())
    }

    /// The `columns` of rows that meet `predicate`, which should be few.
    ///
    /// # Errors
    /// As [`look_up`].
    pub fn look_up(
        &self,
        view: &ReadView,
        predicate: &Predicate,
        columns: &[usize],
    ) -> Result<Vec<(RowId, Row)>> {
        let all = self.look_up_within(view, predicate, columns, Extent::ALL)?;
        Ok(all.unwrap_or_default().into_rows())
    }

    /// The same within an extent; `None` if more rows have to be looked at.
    ///
    /// # Errors
    /// As [`Table::look_up`].
    pub fn look_up_within(
        &self,
        view: &ReadView,
        predicate: &Predicate,
        columns: &[usize],
        extent: Extent,
    ) -> Result<Option<FoundRows>> {
        self.with_place(|place| look_up(place, view, predicate, columns, extent))
    }

    /// The `columns` of the rows in which those of a key have these values, NULL for NULL.
    ///
    /// # Errors
    /// As [`Table::look_up`].
    pub fn find_alike(
        &self,
        view: &ReadView,
        (key, values): (&[usize], &[Option<Value>]),
        columns: &[usize],
    ) -> Result<Vec<(RowId, Row)>> {
        let tests = key.iter().zip(values).map(|(column, value)| match value {
            None => Predicate::IsNull(*column),
            Some(value) => Predicate::equal(*column, value),
        });
        self.look_up(view, &Predicate::And(tests.collect()), columns)
    }

    /// The rows whose key columns equal `key`, by a look-up prepared for them.
    ///
    /// # Errors
    /// 42703 if a column of the look-up was dropped since, 42804 for values of
    /// other types or number than the key's; `Corrupt` or `Io`.
    pub fn find(
        &self,
        view: &ReadView,
        prepared: &KeyLookUp,
        key: &[Value],
    ) -> Result<Vec<(RowId, Row)>> {
        if prepared.fits(&self.schema) {
            return self.with_place(|place| prepared.find(place, view, key));
        }
        let again = prepared.again(&self.schema)?;
        self.with_place(|place| again.find(place, view, key))
    }

    /// The `columns` of one row; `None` if there is no row of this id.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn row(&self, view: &ReadView, id: RowId, columns: &[usize]) -> Result<Option<Row>> {
        let of_fragment = |found: Option<(Arc<Fragment>, u32)>| {
            let (fragment, row) = found?;
            let tuples = fragment.read();
            let values = columns.iter();
            let values = values.map(|column| fragment.shape().value(tuples.tuple(row), *column));
            Some(values.collect())
        };
        match id.place() {
            RowPlace::Block(block, row) => {
                let block = self.block(block);
                block.map(|block| block.row(columns, row)).transpose()
            }
            RowPlace::Delta(number) => Ok(of_fragment(self.delta.find(number))),
            RowPlace::Own(number) => {
                let own = view.own.as_ref();
                Ok(of_fragment(own.and_then(|own| own.find(number))))
            }
        }
    }

    fn with_place<T>(&self, ask: impl FnOnce(&LookUp<'_>) -> T) -> T {
        ask(&LookUp {
            schema: &self.schema,
            arrow: self.arrow(),
            blocks: &self.blocks,
            delta: &self.delta,
            bounds: &|column| self.bounds(column),
        })
    }

    /// The least and the greatest value of a column of whole numbers in each
    /// block, side by side; `None` if not every block has them.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if a block cannot be opened.
    pub fn bounds(&self, column: usize) -> Result<Option<&[(i128, i128)]>> {
        let Some(slot) = self.bounds.get(column) else {
            return Ok(None);
        };
        if let Some(known) = slot.get() {
            return Ok(known.as_deref());
        }
        let of_block = |block: &Arc<Block>| {
            let zone = block.zone(column)?;
            Ok(
                match zone
                    .bounds
                    .as_ref()
                    .map(|bounds| (&bounds.min, &bounds.max))
                {
                    Some((Value::Int(min), Value::Int(max))) => Some((*min, *max)),
                    _ => None,
                },
            )
        };
        let bounds: Result<Option<BlockBounds>> = self.blocks.iter().map(of_block).collect();
        let bounds = bounds?;
        Ok(slot.get_or_init(|| bounds).as_deref())
    }

    /// Statistics from zone maps and sketches; computed once per snapshot.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if a block cannot be opened.
    pub fn statistics(&self) -> Result<&TableStatistics> {
        if let Some(known) = self.statistics.get() {
            return Ok(known);
        }
        let mut sketches = vec![Sketch::default(); self.schema.columns.len()];
        for block in &self.blocks {
            for (all, one) in sketches.iter_mut().zip(block.sketches()?) {
                all.merge(&one);
            }
        }
        let columns = sketches
            .iter()
            .enumerate()
            .map(|(column, sketch)| self.column_statistics(column, sketch));
        let statistics = TableStatistics {
            rows: self.rows_in_blocks(),
            columns: columns.collect::<Result<_>>()?,
        };
        Ok(self.statistics.get_or_init(|| statistics))
    }

    /// Some of its rows; chosen once per snapshot, and anew when many more are in the delta.
    pub fn sample(&self) -> Arc<Sample> {
        let mut known = self.sample.lock();
        match &*known {
            Some(sample) if !sample.is_outdated(self) => Arc::clone(sample),
            _ => Arc::clone(known.insert(Arc::new(Sample::of(self)))),
        }
    }

    fn column_statistics(&self, column: usize, sketch: &Sketch) -> Result<ColumnStatistics> {
        let (mut null_count, mut known, mut exact_bounds) = (0, true, true);
        let (mut min, mut max): (Option<Value>, Option<Value>) = (None, None);
        for block in &self.blocks {
            let zone = block.zone(column)?.into_owned();
            null_count += u64::from(zone.nulls);
            match zone.bounds {
                None => known &= zone.nulls == zone.rows,
                Some(bounds) => {
                    exact_bounds &= bounds.exact;
                    if min.as_ref().is_none_or(|min| {
                        bounds.min.compare(min).is_some_and(|order| order.is_lt())
                    }) {
                        min = Some(bounds.min);
                    }
                    if max.as_ref().is_none_or(|max| {
                        bounds.max.compare(max).is_some_and(|order| order.is_gt())
                    }) {
                        max = Some(bounds.max);
                    }
                }
            }
        }
        if !known {
            (min, max) = (None, None);
        }
        Ok(ColumnStatistics {
            null_count,
            min,
            max,
            exact_bounds,
            distinct: sketch.estimate(),
        })
    }
}
