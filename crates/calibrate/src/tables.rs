//! Tables to measure scans on: columns, and last one that selects.

use crate::columns::Recipe;
use crate::{Error, Random, Result};
use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use freestone_model::Used;
use freestone_storage::format::ZONE_ROWS;
use freestone_storage::{
    ArrayForm, Block, CodecChoice, Column, ColumnScanner, ColumnType, CompareOp, DEFAULT_SCHEMA,
    Layout, OpenMode, Predicate, Scan, ScanRequest, Store, Table, TableOptions, TableSchema, Value,
};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Values of the column that selects are below this.
const SELECTORS: u64 = 1 << 20;

/// The name by which the model knows a layout and a scanner.
pub(crate) fn name(layout: Layout, scanner: ColumnScanner) -> String {
    match scanner {
        ColumnScanner::Single => layout.to_string(),
        ColumnScanner::Pipelined => format!("{layout} pipelined"),
    }
}

/// Share of the rows that are selected if a share of the values is, and the first row of
/// each zone.
pub(crate) fn selected(share: f64) -> f64 {
    (share + 1.0 / ZONE_ROWS as f64).min(1.0)
}

/// A table and what it consists of.
pub(crate) struct Sample {
    /// Open as long as the table is read.
    _store: Arc<Store>,
    table: Arc<Table>,
    pub rows: usize,
    pub layout: Layout,
    /// Each column as a query uses it; the last is the one that selects.
    pub columns: Vec<Used>,
    /// Bytes of a row as stored.
    pub tuple_bytes: f64,
}

/// How a table is made.
pub(crate) struct Plan<'a> {
    pub layout: Layout,
    /// Codec of the column that selects.
    pub selector: CodecChoice,
    pub recipes: &'a [Recipe],
    pub rows: usize,
    pub block_rows: usize,
    /// Whether the first row of each zone is selected, so that no zone is ruled out.
    pub every_zone: bool,
    pub seed: u64,
}

impl Sample {
    /// Makes a table in memory, or in a directory that is empty.
    pub fn make(plan: &Plan<'_>, directory: Option<&Path>) -> Result<Sample> {
        let store = match directory {
            None => Store::in_memory(),
            Some(directory) => Store::open(directory, OpenMode::Create)?,
        };
        let column = |name: String, kind| Column {
            name,
            kind,
            nullable: false,
            default: None,
            identity: None,
            modifier: None,
            declared: None,
            generated: false,
            hidden: None,
        };
        let mut options = TableOptions {
            layout: plan.layout,
            block_bytes: 256 << 20,
            ..TableOptions::default()
        };
        let mut columns = Vec::new();
        for (number, recipe) in plan.recipes.iter().enumerate() {
            let name = format!("c{number}");
            options.column_codecs.insert(name.clone(), recipe.codec);
            columns.push(column(name, recipe.kind));
        }
        options.column_codecs.insert("s".into(), plan.selector);
        columns.push(column("s".into(), ColumnType::Integer));
        let schema = TableSchema {
            columns,
            ..TableSchema::default()
        };
        let blocks = blocks(&store, &schema, &options, plan)?;
        store.commit(|edit| {
            let id = edit.create_table(DEFAULT_SCHEMA, "t", schema.clone(), options.clone())?;
            edit.append(id, blocks)
        })?;
        Sample::of(store, plan.rows)
    }

    /// The same table, opened anew: nothing of it is in memory, and none of its blocks was
    /// looked at. Who reads ahead is ready, as in a database that has run for a while.
    pub fn reopened(self, directory: &Path) -> Result<Sample> {
        let Sample {
            _store: store,
            table,
            ..
        } = self;
        drop((store, table));
        let store = Store::open(directory, OpenMode::ReadOnly)?;
        store.read_method();
        Ok(Sample {
            table: table_of(&store)?,
            _store: store,
            ..self
        })
    }

    fn of(store: Arc<Store>, rows: usize) -> Result<Sample> {
        let table = table_of(&store)?;
        let mut columns: Vec<Used> = Vec::new();
        let first = table.blocks().first();
        let facts = first.map(|block| block.columns()).transpose()?;
        let (block_rows, facts) = (
            first.map_or(1.0, |block| block.rows() as f64),
            facts.unwrap_or_default(),
        );
        for (column, facts) in table.schema.columns.iter().zip(facts) {
            columns.push(Used {
                kind: column.kind.stored_as(facts.codec),
                bytes: facts.raw_bytes as f64 / block_rows,
                stored: facts.bytes as f64 / block_rows,
            });
        }
        let tuple_bytes = columns.iter().map(|column| column.stored).sum();
        Ok(Sample {
            _store: store,
            layout: table.options.layout,
            table,
            rows,
            columns,
            tuple_bytes,
        })
    }

    /// Position of the column that selects.
    pub fn selector(&self) -> usize {
        self.columns.len() - 1
    }

    /// Blocks of the table.
    pub fn blocks(&self) -> usize {
        self.table.blocks().len()
    }

    /// Selects a share of the rows and reads columns of them; how many rows it were.
    pub fn select(
        &self,
        scanner: ColumnScanner,
        share: f64,
        projection: &[usize],
    ) -> Result<usize> {
        self.select_below(scanner, self.condition(share), projection)
    }

    /// Rows in zones that zone maps leave of a selection of a share of the rows.
    pub fn left(&self, share: f64) -> Result<f64> {
        self.left_below(self.condition(share))
    }

    /// The same of rows whose value in a column is below a constant.
    pub fn left_below(&self, condition: Option<(usize, Value)>) -> Result<f64> {
        let zones = |block: &Arc<Block>| block.rows().div_ceil(ZONE_ROWS as u64);
        let all: u64 = self.table.blocks().iter().map(zones).sum();
        let in_block = all / (self.blocks() as u64).max(1);
        let scan = self.scan(ColumnScanner::Single, condition, &[])?;
        let mut worker = scan.worker();
        while let Some(columns) = worker.next_columns() {
            columns?;
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let metrics = scan.metrics();
        let out = count(&metrics.zones_pruned) + count(&metrics.blocks_pruned) * in_block;
        let left = all.saturating_sub(out).max(1) as f64 / all.max(1) as f64;
        Ok(left * self.rows as f64)
    }

    /// All rows are not asked for a condition that rules out none.
    fn condition(&self, share: f64) -> Option<(usize, Value)> {
        let below = (share * SELECTORS as f64).round() as i128;
        (share < 1.0).then_some((self.selector(), Value::Int(below)))
    }

    /// Selects rows whose value in a column is below a constant.
    pub fn select_below(
        &self,
        scanner: ColumnScanner,
        condition: Option<(usize, Value)>,
        projection: &[usize],
    ) -> Result<usize> {
        let mut worker = self.scan(scanner, condition, projection)?.worker();
        let mut rows = 0;
        while let Some(columns) = worker.next_columns() {
            let columns = columns?;
            rows += columns.1;
            black_box(&columns);
        }
        Ok(rows)
    }

    fn scan(
        &self,
        scanner: ColumnScanner,
        condition: Option<(usize, Value)>,
        projection: &[usize],
    ) -> Result<Arc<Scan>> {
        Ok(self.table.scan(&ScanRequest {
            projection: projection.to_vec(),
            predicate: condition.map(|(column, value)| Predicate::Compare {
                column,
                op: CompareOp::Lt,
                value,
            }),
            scanner,
            form: ArrayForm::Compact,
            ..ScanRequest::default()
        })?)
    }
}

fn table_of(store: &Store) -> Result<Arc<Table>> {
    let snapshot = store.snapshot();
    let table = snapshot.table(DEFAULT_SCHEMA, "t").cloned();
    table.ok_or_else(|| Error::Arrow("the table is gone".to_owned()))
}

fn blocks(
    store: &Arc<Store>,
    schema: &TableSchema,
    options: &TableOptions,
    plan: &Plan<'_>,
) -> Result<Vec<freestone_storage::NewBlock>> {
    let shared = Arc::new(schema.clone());
    let mut random = Random::new(plan.seed);
    let mut blocks = Vec::new();
    for start in (0..plan.rows).step_by(plan.block_rows) {
        let rows = plan.block_rows.min(plan.rows - start);
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for recipe in plan.recipes {
            arrays.push(recipe.values.array(&recipe.kind, rows, &mut random)?);
        }
        let selectors = (0..rows).map(|row| match row % ZONE_ROWS {
            0 if plan.every_zone => 0,
            _ => random.below(SELECTORS) as i32,
        });
        arrays.push(Arc::new(Int32Array::from_iter_values(selectors)));
        let batch = RecordBatch::try_new(shared.arrow(), arrays)
            .map_err(|error| Error::Arrow(error.to_string()))?;
        let mut writer = store.writer(&shared, options)?;
        writer.push(&batch)?;
        blocks.extend(writer.finish()?);
    }
    Ok(blocks)
}
