//! A block: one stretch of memory that says itself what it holds (Q, section 2.1), and
//! its trees, which are memory of their own beside it.

use super::field::Field;
use super::header::Header;
use super::tree::Tree;
use crate::error::{Error, Result};

/// A block with its trees.
#[derive(Debug)]
pub struct Block {
    memory: Vec<u8>,
    tuples: usize,
    trees: Vec<(usize, Tree)>,
    fields: Vec<Field>,
    /// The column that its tuples are sorted on.
    pub(super) sorted: Option<usize>,
    /// Bytes of a value where it is not compressed.
    pub(super) value_bytes: usize,
}

/// An error for a column that a block does not have.
pub fn unknown(column: usize) -> Error {
    Error::new(format!("no column {column} in a block"), "")
}

impl Block {
    /// The block that lies there.
    ///
    /// # Errors
    /// Its header does not fit it.
    pub fn open(memory: Vec<u8>) -> Result<Block> {
        let header = Header::read(&memory)?;
        Ok(Block {
            tuples: header.tuples as usize,
            sorted: header.sorted.map(usize::from),
            value_bytes: header.value_bytes.into(),
            fields: header.fields(),
            trees: Vec::new(),
            memory,
        })
    }

    /// Adds a tree on a column.
    ///
    /// # Errors
    /// The block does not have the column.
    pub fn index(&mut self, column: usize) -> Result<()> {
        let tree = Tree::build(self, column)?;
        self.trees.push((column, tree));
        Ok(())
    }

    /// Its bytes, with those of its trees.
    pub fn bytes(&self) -> usize {
        let trees = self.trees.iter().map(|(_, tree)| tree.bytes());
        self.memory.len() + trees.sum::<usize>()
    }

    /// All its memory.
    #[inline]
    pub fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// How many tuples there are.
    pub fn tuples(&self) -> usize {
        self.tuples
    }

    /// Its tree on a column, if there is one.
    pub fn tree(&self, column: usize) -> Option<&Tree> {
        let mut trees = self.trees.iter().filter(|(of, _)| *of == column);
        trees.next().map(|(_, tree)| tree)
    }

    /// Where the values of a column lie.
    ///
    /// # Errors
    /// The block does not have it.
    pub fn field(&self, column: usize) -> Result<Field> {
        self.fields
            .get(column)
            .copied()
            .ok_or_else(|| unknown(column))
    }
}
