//! The pipelined column scanner: scan nodes that pass positions and values (H4).
//!
//! Each column of the query is a node. The deepest one reads a chunk of its
//! column, applies its conditions and passes on the positions and values of the
//! rows that are left; the next reads its own values at those positions, applies
//! its conditions, and so on up. Nodes with conditions lie below those without,
//! the most selective deepest, as seen so far.
//!
//! The other scanner, which the paper proposes and which is the default here,
//! is the single iterator of [`super::worker`]: all conditions first, on codes,
//! then each column once for the rows of a whole batch. Which is faster has not
//! been measured yet; the default is the one that tests packed codes.

use super::Scan;
use crate::block::Block;
use crate::error::Result;
use crate::predicate::{Conditions, Leaf, evaluate_leaf};
use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::BooleanBuffer;
use std::ops::Range;

/// The nodes of one block, deepest first.
#[derive(Debug)]
pub(super) struct Pipeline {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    column: usize,
    /// Rows that came in and that were left.
    seen: u64,
    left: u64,
}

impl Node {
    /// The share of rows that the node has left so far.
    fn selectivity(&self) -> f64 {
        self.left as f64 / self.seen.max(1) as f64
    }
}

/// Rows on their way up: positions, and the values of the columns passed so far.
struct Passing {
    positions: Vec<u32>,
    values: Vec<(usize, ArrayRef)>,
}

impl Pipeline {
    /// The pipeline of a scan, if its predicate is a conjunction of conditions on
    /// single columns.
    pub fn of(scan: &Scan) -> Option<Pipeline> {
        let predicate = scan.predicate.as_ref()?;
        if !Conditions::of(predicate).is_complete() {
            return None;
        }
        let mut columns = Vec::new();
        predicate.columns(&mut columns);
        for column in &scan.projection {
            if !columns.contains(column) {
                columns.push(*column);
            }
        }
        let nodes = columns.into_iter().map(|column| Node {
            column,
            ..Node::default()
        });
        Some(Pipeline {
            nodes: nodes.collect(),
        })
    }

    /// The projected columns of those of `rows` that pass, and how many they are.
    pub fn run(
        &mut self,
        scan: &Scan,
        block: &Block,
        rows: Range<usize>,
    ) -> Result<(Vec<ArrayRef>, usize)> {
        let conditions = scan
            .predicate
            .as_ref()
            .map(Conditions::of)
            .unwrap_or_default();
        let with_conditions = |node: &Node| conditions.on(node.column).next().is_some();
        self.nodes.sort_by(|a, b| {
            let rank = |node: &Node| {
                if with_conditions(node) {
                    node.selectivity()
                } else {
                    2.0
                }
            };
            rank(a).total_cmp(&rank(b))
        });
        // In range: a block has at most 2^20 rows.
        let positions = rows.clone().map(|row| row as u32).collect();
        let mut passing = Passing {
            positions,
            values: Vec::new(),
        };
        for (depth, node) in self.nodes.iter_mut().enumerate() {
            if passing.positions.is_empty() {
                break;
            }
            let values = if depth == 0 {
                block.read(node.column, rows.clone())?
            } else {
                block.take(node.column, &passing.positions)?
            };
            node.seen += passing.positions.len() as u64;
            passing.values.push((node.column, values.clone()));
            for leaf in conditions.on(node.column) {
                passing.keep(leaf, node.column)?;
            }
            node.left += passing.positions.len() as u64;
        }
        let count = passing.positions.len();
        if count == 0 {
            return Ok((Vec::new(), 0));
        }
        let value = |column: &usize| passing.values.iter().find(|(known, _)| known == column);
        let columns = scan
            .projection
            .iter()
            .filter_map(value)
            .map(|(_, values)| values.clone());
        Ok((columns.collect(), count))
    }
}

impl Passing {
    /// Drops the rows that do not meet a condition on the values of `column`.
    fn keep(&mut self, leaf: &Leaf, column: usize) -> Result<()> {
        let Some((_, values)) = self.values.iter().find(|(known, _)| *known == column) else {
            return Ok(());
        };
        let bits: BooleanBuffer = evaluate_leaf(leaf, values)?;
        let passing = bits.count_set_bits();
        if passing == self.positions.len() {
            return Ok(());
        }
        self.positions = bits
            .set_indices()
            .map(|place| self.positions[place])
            .collect();
        let mask = BooleanArray::new(bits, None);
        for (_, values) in &mut self.values {
            *values = arrow_select::filter::filter(values, &mask)?;
        }
        Ok(())
    }
}
