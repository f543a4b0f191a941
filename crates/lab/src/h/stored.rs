//! Tables whose blocks are in memory, and scans of them.

use super::tables::{Generator, TableName};
use crate::error::Result;
use arrow_schema::SchemaRef;
use freestone_calibrate::CpuTimer;
use freestone_storage::block::{Cache, build, file_name};
use freestone_storage::io::{Files, Memory};
use freestone_storage::{
    Block, BlockId, BlockInfo, ColumnScanner, CompareOp, Layout, Predicate, Scan, ScanRequest,
    TableOptions, TableSchema, Value,
};
use std::hint::black_box;
use std::sync::Arc;

/// Rows of a block, and of a batch of the generator.
pub const BLOCK_ROWS: u64 = 1 << 17;

/// A table that is scanned: Freestone's, or one of the document's program.
pub trait Source: std::fmt::Debug {
    /// How many attributes it has.
    fn attributes(&self) -> usize;

    /// Bytes that a tuple's first `attributes` take in the file: those of all in a layout
    /// that keeps tuples together.
    ///
    /// # Errors
    /// Those of opening blocks.
    fn bytes_per_tuple(&self, attributes: usize) -> Result<f64>;

    /// Runs a scan whose tuples nobody needs: CPU seconds for each tuple of the table.
    ///
    /// # Errors
    /// Those of scans.
    fn seconds_per_tuple(&self, query: Query, scanner: Scanner) -> Result<f64>;
}

/// A table in one layout.
#[derive(Debug)]
pub struct Stored {
    schema: Arc<TableSchema>,
    arrow: SchemaRef,
    blocks: Vec<Arc<Block>>,
    rows: u64,
}

/// The scanners of H.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanner {
    /// Tuples of a row layout.
    Rows,
    /// A pipeline of scan nodes, one for each column.
    Pipelined,
    /// One iterator over all columns, which H proposes and does not measure.
    Single,
}

impl Scanner {
    /// All of them.
    pub const ALL: [Scanner; 3] = [Scanner::Rows, Scanner::Pipelined, Scanner::Single];

    /// What plots call it.
    pub fn name(self) -> &'static str {
        match self {
            Scanner::Rows => "rows",
            Scanner::Pipelined => "columns, pipelined",
            Scanner::Single => "columns, single iterator",
        }
    }
}

/// `select A1, …, Ak where A1 <= constant`.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// How many attributes, from the first one.
    pub attributes: usize,
    /// The constant.
    pub threshold: i32,
}

impl Query {
    fn request(self, scanner: Scanner) -> ScanRequest {
        ScanRequest {
            projection: (0..self.attributes).collect(),
            predicate: Some(Predicate::Compare {
                column: 0,
                op: CompareOp::LtEq,
                value: Value::Int(self.threshold.into()),
            }),
            scanner: match scanner {
                Scanner::Pipelined => ColumnScanner::Pipelined,
                Scanner::Rows | Scanner::Single => ColumnScanner::Single,
            },
            ..ScanRequest::default()
        }
    }
}

impl Stored {
    /// The same `rows` tuples with each of `options`.
    ///
    /// # Errors
    /// Those of building blocks.
    pub fn make(
        table: TableName,
        rows: u64,
        seed: u64,
        options: &[TableOptions],
    ) -> Result<Vec<Stored>> {
        let schema = Arc::new(table.schema());
        let mut generator = Generator::new(table, seed);
        let makers = options.iter().map(|_| Stored {
            schema: schema.clone(),
            arrow: schema.arrow(),
            blocks: Vec::new(),
            rows,
        });
        let mut tables: Vec<Stored> = makers.collect();
        let places = options
            .iter()
            .map(|_| (Arc::new(Memory::default()), Arc::new(Cache::new(u64::MAX))));
        let places: Vec<(Arc<Memory>, Arc<Cache>)> = places.collect();
        for first in (0..rows).step_by(BLOCK_ROWS as usize) {
            let count = BLOCK_ROWS.min(rows - first);
            let batch = generator.batch(count as usize)?;
            for ((table, options), (files, cache)) in tables.iter_mut().zip(options).zip(&places) {
                let id = BlockId(first / BLOCK_ROWS);
                let bytes = build(id, &schema, options, &batch)?;
                files.write(&file_name(id), &bytes.pieces())?;
                let info = BlockInfo {
                    id,
                    rows: count,
                    bytes: bytes.total(),
                    layout: options.layout,
                    version: None,
                    overlays: Vec::new(),
                };
                let block = Block::new(info, schema.clone(), None, files.clone(), cache.clone());
                table.blocks.push(Arc::new(block));
            }
        }
        Ok(tables)
    }

    /// A scan of all blocks that has not begun.
    ///
    /// # Errors
    /// Those of [`Scan::new`].
    pub fn scan(&self, query: Query, scanner: Scanner) -> Result<Arc<Scan>> {
        let request = query.request(scanner);
        let (schema, blocks) = (self.schema.clone(), self.blocks.clone());
        Ok(Scan::new(
            schema,
            &self.arrow,
            blocks,
            Vec::new(),
            &request,
        )?)
    }
}

impl Source for Stored {
    fn seconds_per_tuple(&self, query: Query, scanner: Scanner) -> Result<f64> {
        let timer = CpuTimer::start();
        let mut worker = self.scan(query, scanner)?.worker();
        while let Some(columns) = worker.next_columns() {
            black_box(columns?);
        }
        Ok(timer.elapsed().as_secs_f64() / self.rows as f64)
    }

    fn bytes_per_tuple(&self, attributes: usize) -> Result<f64> {
        let whole = self
            .blocks
            .iter()
            .all(|block| block.layout() == Layout::Row);
        let attributes = match whole {
            true => self.schema.columns.len(),
            false => attributes,
        };
        let columns: Vec<usize> = (0..attributes).collect();
        let mut bytes = 0;
        for block in &self.blocks {
            bytes += block.bytes_of(&columns)?;
        }
        Ok(bytes as f64 / self.rows as f64)
    }

    fn attributes(&self) -> usize {
        self.schema.columns.len()
    }
}

/// `options` as rows and as columns.
pub fn both_layouts(options: &TableOptions) -> [TableOptions; 2] {
    [Layout::Row, Layout::Column].map(|layout| TableOptions {
        layout,
        ..options.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h::tables::{orders_z, plain};
    use arrow_array::RecordBatch;
    use freestone_storage::CodecName;

    fn tuples(table: &Stored, query: Query, scanner: Scanner) -> Vec<String> {
        let worker = table.scan(query, scanner).unwrap().worker();
        let rows = |batch: RecordBatch| {
            let cells = |row: usize| {
                let columns = batch.columns().iter();
                columns
                    .map(|column| format!("{:?}", column.slice(row, 1)))
                    .collect()
            };
            (0..batch.num_rows()).map(cells).collect::<Vec<String>>()
        };
        worker.flat_map(|batch| rows(batch.unwrap())).collect()
    }

    /// H4: the same tuples out of each scanner, compressed or not.
    #[test]
    fn scanners_give_the_same_tuples() {
        for (name, attributes) in [(TableName::Lineitem, 16), (TableName::Orders, 7)] {
            let mut options = both_layouts(&plain()).to_vec();
            if name == TableName::Orders {
                options.extend(both_layouts(&orders_z(CodecName::ForDelta)));
                options.extend(both_layouts(&orders_z(CodecName::For)));
            }
            let tables = Stored::make(name, 3_000, 5, &options).unwrap();
            let query = Query {
                attributes,
                threshold: name.threshold(0.1),
            };
            let expected = tuples(&tables[0], query, Scanner::Rows);
            assert!((200..400).contains(&expected.len()));
            for table in &tables {
                for scanner in Scanner::ALL {
                    assert!(expected == tuples(table, query, scanner), "{scanner:?}");
                }
            }
        }
    }

    /// Texts have an offset of 4 bytes more than in H.
    #[test]
    fn tuples_take_the_bytes_of_their_attributes() {
        let tables = Stored::make(TableName::Orders, 20_000, 5, &both_layouts(&plain())).unwrap();
        for table in &tables {
            let all = table.bytes_per_tuple(7).unwrap();
            assert!((39.0..42.0).contains(&all), "{all}");
        }
        assert!((3.9..4.2).contains(&tables[1].bytes_per_tuple(1).unwrap()));
        assert_eq!(
            tables[0].bytes_per_tuple(1).unwrap(),
            tables[0].bytes_per_tuple(7).unwrap()
        );
    }
}
