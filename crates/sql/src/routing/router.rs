//! Rows to leaves, and whether a row may be in a leaf.

use std::sync::Arc;

use arrow::array::{Array, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use freestone_storage::{Catalog, Table, TableId, TableSchema};

use super::{Divisions, Key};
use crate::error::{Error, Result};
use crate::front::Expressions;
use crate::names::Name;
use crate::partition::{ancestors, partitions, places, shown_part};
use crate::types::nullable;
use crate::values::convert;

/// A partitioned table among the rows' ways.
struct Node {
    name: String,
    /// The parts of its key as they are written.
    parts: Vec<String>,
    key: Key,
    divisions: Divisions,
    children: Vec<Child>,
}

enum Child {
    Leaf(usize),
    Node(Box<Node>),
}

/// A table that rows go to.
pub(crate) struct Leaf {
    pub(crate) name: Name,
    pub(crate) table: Arc<Table>,
    /// Where the whole's columns are in it.
    pub(crate) places: Vec<usize>,
}

/// Sends the rows of a partitioned table to its leaves.
pub(crate) struct Router {
    root: Node,
    pub(crate) leaves: Vec<Leaf>,
}

impl Router {
    /// That of a table.
    ///
    /// # Errors
    /// Those of reading keys and bounds.
    pub(crate) fn of(expressions: Expressions<'_>, table: &Table) -> Result<Router> {
        let mut leaves = Vec::new();
        let root = Node::of(expressions, table, table, &mut leaves)?;
        Ok(Router { root, leaves })
    }

    /// The leaf of each row, which has all columns of the table.
    ///
    /// # Errors
    /// `23514` for a row that no partition holds.
    pub(crate) fn find(&self, rows: &RecordBatch) -> Result<Vec<usize>> {
        self.root.find(rows)
    }

    /// The rows of each leaf, in its columns; leaves without rows are left out.
    ///
    /// # Errors
    /// As [`Router::find`].
    pub(crate) fn split(&self, rows: &RecordBatch) -> Result<Vec<(usize, RecordBatch)>> {
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); self.leaves.len()];
        for (row, leaf) in (0..).zip(self.find(rows)?) {
            places[leaf].push(row);
        }
        let mut parts = Vec::new();
        for (number, rows_of) in places.into_iter().enumerate() {
            if rows_of.is_empty() {
                continue;
            }
            let part = match rows_of.len() == rows.num_rows() {
                true => rows.clone(),
                false => take_record_batch(rows, &UInt32Array::from(rows_of))?,
            };
            parts.push((number, self.leaves[number].columns_of(&part)?));
        }
        Ok(parts)
    }

    /// The leaf that a table is.
    pub(crate) fn leaf(&self, table: TableId) -> Option<usize> {
        self.leaves.iter().position(|leaf| leaf.table.id == table)
    }
}

impl Leaf {
    /// Rows of the whole in the columns of the leaf.
    ///
    /// # Errors
    /// Those of Arrow.
    pub(crate) fn columns_of(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        if self.is_alike() {
            return Ok(rows.clone());
        }
        let schema = nullable(&self.table.schema);
        let columns = (0..self.places.len()).map(|own| {
            let whole = self.places.iter().position(|place| *place == own);
            whole.map(|whole| Arc::clone(rows.column(whole)))
        });
        let columns = columns.collect::<Option<Vec<_>>>();
        let columns = columns.ok_or_else(|| Error::internal("a partition has other columns"))?;
        Ok(RecordBatch::try_new(schema, columns)?)
    }

    /// Rows of the leaf in the columns of the whole.
    ///
    /// # Errors
    /// Those of Arrow.
    pub(crate) fn columns_of_whole(
        &self,
        whole: &TableSchema,
        rows: &RecordBatch,
    ) -> Result<RecordBatch> {
        if self.is_alike() {
            return Ok(rows.clone());
        }
        let columns = self.places.iter();
        let columns = columns.map(|place| Arc::clone(rows.column(*place)));
        Ok(RecordBatch::try_new(nullable(whole), columns.collect())?)
    }

    fn is_alike(&self) -> bool {
        let mut places = self.places.iter().enumerate();
        places.all(|(whole, own)| whole == *own)
    }
}

impl Node {
    fn of(
        expressions: Expressions<'_>,
        table: &Table,
        whole: &Table,
        leaves: &mut Vec<Leaf>,
    ) -> Result<Node> {
        let catalog = expressions.snapshot.catalog();
        let (key, divisions) = divided(expressions, table, whole, catalog)?;
        let mut children = Vec::new();
        for (schema, part) in partitions(catalog, table) {
            children.push(match part.schema.partitioned {
                Some(_) => Child::Node(Box::new(Node::of(expressions, part, whole, leaves)?)),
                None => {
                    leaves.push(Leaf {
                        name: Name::new(schema, &part.name),
                        table: Arc::clone(part),
                        places: places(whole, part)?,
                    });
                    Child::Leaf(leaves.len() - 1)
                }
            });
        }
        let parts = key.parts.iter();
        Ok(Node {
            name: table.name.clone(),
            parts: parts.map(|part| shown_part(table, &part.text)).collect(),
            key,
            divisions,
            children,
        })
    }

    fn find(&self, rows: &RecordBatch) -> Result<Vec<usize>> {
        let values = self.key.values(rows)?;
        let found = self.divisions.find(&self.key, &values)?;
        let mut leaves = Vec::with_capacity(found.len());
        let mut further: Vec<Vec<u32>> = vec![Vec::new(); self.children.len()];
        for (row, child) in found.into_iter().enumerate() {
            match child.and_then(|child| Some((child, self.children.get(child)?))) {
                Some((_, Child::Leaf(leaf))) => leaves.push(*leaf),
                Some((child, Child::Node(_))) => {
                    further[child].push(row as u32);
                    leaves.push(usize::MAX);
                }
                None => {
                    let mut shown = Vec::with_capacity(values.len());
                    for (part, values) in self.key.parts.iter().zip(&values) {
                        let text = convert::as_shown(&values.slice(row, 1), &part.ty)?;
                        shown.push(match text.is_null(0) {
                            true => "null".to_owned(),
                            false => crate::values::show(&text, 0),
                        });
                    }
                    let message =
                        format!("no partition of relation \"{}\" found for row", self.name);
                    return Err(Error::new("23514", message).with_detail(format!(
                        "Partition key of the failing row contains ({}) = ({}).",
                        self.parts.join(", "),
                        shown.join(", ")
                    )));
                }
            }
        }
        for (child, of) in self.children.iter().zip(further) {
            if let Child::Node(node) = child
                && !of.is_empty()
            {
                let part = take_record_batch(rows, &UInt32Array::from(of.clone()))?;
                for (row, leaf) in of.into_iter().zip(node.find(&part)?) {
                    leaves[row as usize] = leaf;
                }
            }
        }
        Ok(leaves)
    }
}

/// The key of a partitioned table over the columns of another one, and its divisions.
fn divided(
    expressions: Expressions<'_>,
    table: &Table,
    over: &Table,
    catalog: &Catalog,
) -> Result<(Key, Divisions)> {
    let key = table.schema.partitioned.as_ref();
    let key = key.ok_or_else(|| Error::internal("a table that is not partitioned"))?;
    let key = Key::of(expressions, key, &over.schema, &over.name)?;
    let all = partitions(catalog, table).into_iter();
    let bounds = all.filter_map(|(_, part)| part.schema.partition.as_ref());
    let divisions = Divisions::of(&key, bounds.map(|of| &of.bound))?;
    Ok((key, divisions))
}

/// The test for rows of a partition: for each table that this is part of, the key and the
/// partition that has to hold it.
#[derive(Default)]
pub(crate) struct Membership(Vec<(Key, Divisions, usize)>);

impl std::fmt::Debug for Membership {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Membership of {} tables", self.0.len())
    }
}

impl Membership {
    /// That of a partition as the catalog has it; of nothing for another table.
    ///
    /// # Errors
    /// Those of reading keys and bounds.
    pub(crate) fn of(expressions: Expressions<'_>, table: &Table) -> Result<Self> {
        let catalog = expressions.snapshot.catalog();
        let mut all = Vec::new();
        let mut part = table.id;
        for (_, parent) in ancestors(catalog, table) {
            let (key, divisions) = divided(expressions, parent, table, catalog)?;
            let mut number = partitions(catalog, parent).into_iter();
            if let Some(number) = number.position(|(_, known)| known.id == part) {
                all.push((key, divisions, number));
            }
            part = parent.id;
        }
        Ok(Self(all))
    }

    /// The first row that is not one of the partition.
    ///
    /// # Errors
    /// Those of computing keys.
    pub(crate) fn stranger(&self, rows: &RecordBatch) -> Result<Option<usize>> {
        for (key, divisions, number) in &self.0 {
            let found = divisions.find(key, &key.values(rows)?)?;
            let wrong = found.iter().position(|found| *found != Some(*number));
            if wrong.is_some() {
                return Ok(wrong);
            }
        }
        Ok(None)
    }
}
