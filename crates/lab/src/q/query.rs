//! Selections with threads: `SELECT columns FROM table WHERE column >= constant AND …`.
//!
//! Rows are found by a scan of Freestone, by whatever Freestone chooses, or by an index
//! even where Freestone would not use it: what an index costs beyond its sweet spot is
//! part of what the paper shows. That last path is put together here from the block's
//! own parts, one block at a time, as Freestone does it.

use super::clock::timed;
use super::organisation::Stored;
use super::output::{Answer, Output};
use super::tables::TableKind;
use crate::error::{Error, Result};
use freestone_storage::predicate::Conditions;
use freestone_storage::predicate::{BoundPredicate, evaluate_leaf};
use freestone_storage::scan::BATCH_ROWS;
use freestone_storage::{
    Block, CompareOp, IndexDefinition, Predicate, Scan, ScanRequest, TableSchema, Value,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How rows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As Freestone chooses for each block.
    Chosen,
    /// Without indexes: a scan, or a search if a block is sorted on a column that has a
    /// condition.
    Scan,
    /// By the table's first index, after such a search if there is one.
    Index,
    /// The same, with the rows brought into the order in which they lie before any is
    /// read: what Freestone always does, and the paper does not.
    IndexInOrder,
}

/// What a selection asks for.
#[derive(Clone, Debug)]
pub struct Query {
    /// The columns to give out; none for the predicate alone.
    pub projection: Vec<usize>,
    /// Each column is at least its constant.
    pub conditions: Vec<(usize, Value)>,
}

impl Query {
    /// Of one condition that a share of the rows passes.
    pub fn of(kind: TableKind, projection: Vec<usize>, column: usize, share: f64) -> Query {
        Query {
            projection,
            conditions: vec![(column, kind.at_least(column, share))],
        }
    }

    /// The conditions as a predicate.
    fn predicate(&self) -> Predicate {
        let terms = self
            .conditions
            .iter()
            .map(|(column, value)| at_least(*column, value));
        Predicate::And(terms.collect())
    }
}

fn at_least(column: usize, value: &Value) -> Predicate {
    Predicate::Compare {
        column,
        op: CompareOp::GtEq,
        value: value.clone(),
    }
}

/// Work that several threads share until nothing is left.
enum Work {
    Scan(Arc<Scan>),
    Index(Box<IndexWork>),
}

/// Blocks whose rows an index finds.
struct IndexWork {
    blocks: Vec<Arc<Block>>,
    next: AtomicUsize,
    definition: IndexDefinition,
    schema: Arc<TableSchema>,
    /// The whole predicate; of it, each condition by itself.
    predicate: BoundPredicate,
    terms: Vec<(usize, Value, BoundPredicate)>,
    projection: Vec<usize>,
}

/// Runs a query once with `threads` threads; each puts its rows into its own output.
/// The time is that of [`timed`].
///
/// # Errors
/// Those of reading blocks.
pub fn run(
    stored: &Stored,
    query: &Query,
    access: Access,
    threads: usize,
    outputs: &mut [Output],
) -> Result<(Duration, Answer)> {
    let works = stored
        .queues(threads)
        .into_iter()
        .map(|blocks| work(stored, query, access, blocks))
        .collect::<Result<Vec<Work>>>()?;
    let outputs = &mut outputs[..threads];
    let mut at_work: Vec<(&mut Output, &Work)> = Vec::new();
    for (number, output) in outputs.iter_mut().enumerate() {
        output.clear();
        if let Some(work) = works
            .get(number)
            .or(works.first().filter(|_| works.len() == 1))
        {
            at_work.push((output, work));
        }
    }
    let elapsed = timed(at_work, |(output, work)| match work {
        Work::Scan(scan) => scan_into(scan, output),
        Work::Index(index) => index.find_into(output),
    })?;
    let answers = outputs.iter().map(Output::answer);
    Ok((elapsed, answers.fold(Answer::default(), Answer::and)))
}

/// A scan of the table without its indexes, for each of its queues.
///
/// # Errors
/// Those of a query that does not fit the table.
pub fn scans(stored: &Stored, query: &Query, threads: usize) -> Result<Vec<Arc<Scan>>> {
    let queues = stored.queues(threads).into_iter();
    let works = queues.map(|blocks| work(stored, query, Access::Scan, blocks));
    let scans = works.filter_map(|work| match work {
        Ok(Work::Scan(scan)) => Some(Ok(scan)),
        Ok(Work::Index(_)) => None,
        Err(error) => Some(Err(error)),
    });
    scans.collect()
}

fn work(stored: &Stored, query: &Query, access: Access, blocks: Vec<Arc<Block>>) -> Result<Work> {
    let table = &stored.table;
    let predicate = query.predicate();
    let request = ScanRequest {
        projection: query.projection.clone(),
        predicate: Some(predicate.clone()),
        ..ScanRequest::default()
    };
    let schema = match access {
        Access::Chosen => table.schema.clone(),
        Access::Scan => Arc::new(stored.unindexed()),
        Access::Index | Access::IndexInOrder => {
            let bind = |predicate: &Predicate| BoundPredicate::bind(predicate, &table.schema);
            let terms = query.conditions.iter().map(|(column, value)| {
                Ok((*column, value.clone(), bind(&at_least(*column, value))?))
            });
            let definition = table.schema.indexes.first().cloned();
            let missing = || Error::new("the table has no index", "");
            return Ok(Work::Index(Box::new(IndexWork {
                blocks,
                next: AtomicUsize::new(0),
                definition: definition.ok_or_else(missing)?,
                schema: table.schema.clone(),
                predicate: bind(&predicate)?,
                terms: terms.collect::<Result<_>>()?,
                projection: query.projection.clone(),
            })));
        }
    };
    let scan = Scan::new(schema, table.arrow(), blocks, Vec::new(), &request)?;
    Ok(Work::Scan(scan))
}

fn scan_into(scan: &Arc<Scan>, output: &mut Output) -> Result<()> {
    let mut worker = scan.worker();
    while let Some(next) = worker.next_columns() {
        let (columns, rows) = next?;
        output.append(&columns, rows);
    }
    Ok(())
}

impl IndexWork {
    fn find_into(&self, output: &mut Output) -> Result<()> {
        while let Some(block) = self.blocks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let positions = self.positions(block)?;
            for some in positions.chunks(BATCH_ROWS) {
                let columns = self
                    .projection
                    .iter()
                    .map(|column| block.take(*column, some));
                let columns = columns.collect::<freestone_storage::Result<Vec<_>>>()?;
                output.append(&columns, some.len());
            }
        }
        Ok(())
    }

    /// The rows of a block that pass, ascending: the index first, then what a search in
    /// the order of the rows leaves of them, then one condition after the other.
    fn positions(&self, block: &Block) -> Result<Vec<u32>> {
        let indexed = self.definition.columns[0];
        let mut positions = self.by_index(block)?;
        let sorted = block.sort_column()?;
        for (column, value, bound) in &self.terms {
            if *column == indexed {
                continue;
            }
            if sorted == Some(*column) {
                let values = block.sorted_values(*column)?;
                let first = values.partition_point(|other| other.total_order(value).is_lt())?;
                positions.drain(..positions.partition_point(|row| (*row as usize) < first));
                continue;
            }
            let bits = bound.evaluate(positions.len(), &mut |column, leaf| {
                evaluate_leaf(leaf, &block.take(column, &positions)?)
            })?;
            positions = bits.set_indices().map(|place| positions[place]).collect();
        }
        Ok(positions)
    }

    fn by_index(&self, block: &Block) -> Result<Vec<u32>> {
        let conditions = Conditions::of(&self.predicate);
        let missing = || Error::new("a block has no answer from its index", "");
        let index = block.index(&self.definition)?.ok_or_else(missing)?;
        let column = self.definition.columns[0];
        if !index.has_codes() {
            let found = index.by_values(&conditions, &self.definition, &self.schema)?;
            return Ok(found.ok_or_else(missing)?.positions()?);
        }
        for leaf in conditions.on(column) {
            if let Some(test) = block.translate(column, leaf)?
                && let Some(found) = index.by_codes(&test)?
            {
                return Ok(found.positions()?);
            }
        }
        Err(missing())
    }
}

#[cfg(test)]
mod tests {
    use super::super::organisation::{Cut, Organisation};
    use super::super::tables::Generator;
    use super::*;
    use freestone_storage::{CodecChoice, Layout};

    /// What the query gives, straight from the generator.
    fn expected(generator: Generator, rows: u64, query: &Query) -> Answer {
        let mut answer = Answer::default();
        for row in 0..rows {
            let passes = query.conditions.iter().all(|(column, value)| match value {
                Value::Int(least) => i128::from(generator.integer(*column, row)) >= *least,
                Value::Bytes(least) => generator.string(*column, row)[..] >= least[..],
                _ => false,
            });
            if passes {
                answer.rows += 1;
                for column in &query.projection {
                    let sum = match generator.kind {
                        TableKind::Strings => {
                            let text = generator.string(*column, row);
                            text.iter().map(|byte| u64::from(*byte)).sum::<u64>()
                        }
                        _ => generator.integer(*column, row) as u64,
                    };
                    answer.sum = answer.sum.wrapping_add(sum);
                }
            }
        }
        answer
    }

    fn organisations() -> Vec<Organisation> {
        let mut all = Vec::new();
        for layout in [Layout::Row, Layout::Column] {
            for cut in [Cut::Blocks(1500), Cut::Files, Cut::Partitions(1500)] {
                for codec in [CodecChoice::None, CodecChoice::Auto] {
                    let plain = Organisation::plain(layout, cut).coded(codec).indexed(1);
                    all.push(plain.clone());
                    all.push(plain.sorted(2));
                }
            }
        }
        all
    }

    #[test]
    fn every_organisation_and_access_gives_the_same() {
        let rows = 5_000;
        for kind in [TableKind::NarrowE, TableKind::Strings] {
            let generator = Generator { kind, seed: 3 };
            let cuts = organisations().into_iter();
            // Strings have no numbers to be partitioned by.
            let cuts = cuts.filter(|each| {
                kind != TableKind::Strings || !matches!(each.cut, Cut::Partitions(_))
            });
            let condition = |column, share| (column, kind.at_least(column, share));
            let queries = [
                Query::of(kind, vec![4, 0, 9], 1, 0.3),
                Query {
                    projection: vec![7],
                    conditions: vec![condition(2, 0.5), condition(1, 0.5), condition(5, 0.5)],
                },
                Query::of(kind, Vec::new(), 1, 1.0),
            ];
            let wanted: Vec<Answer> = queries
                .iter()
                .map(|query| expected(generator, rows, query))
                .collect();
            for organisation in cuts {
                let stored = Stored::load(generator, rows, &organisation, 2).unwrap();
                for (query, wanted) in queries.iter().zip(&wanted) {
                    for access in [Access::Chosen, Access::Scan, Access::Index] {
                        let mut outputs = [Output::default(), Output::default()];
                        let (_, found) = run(&stored, query, access, 2, &mut outputs).unwrap();
                        assert_eq!(found, *wanted, "{organisation:?} {access:?} {query:?}");
                    }
                }
            }
        }
    }
}
