//! Columns of a block that were written anew, apart from the others.
//!
//! An UPDATE of many rows leaves blocks as they are: the new values of its columns
//! go into a file of their own, in layout `column` whatever the block's is. Rows keep
//! their names and what marks them as deleted. Whoever writes the block anew, such
//! as the tuple mover, reads through its overlays, which then are gone.

use super::{Block, BlockInfo, FoundColumn};
use crate::error::{Error, Result};
use crate::ids::BlockId;
use crate::row::Row;
use crate::schema::{IndexDefinition, Layout, TableSchema};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the manifest knows of an overlay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlayInfo {
    /// The number of its file.
    pub id: BlockId,
    /// Bytes of its file.
    pub bytes: u64,
    /// Which of the columns that the block was written with it has, in its order.
    pub columns: Vec<usize>,
}

/// An overlay, opened when it is first read.
#[derive(Clone, Debug)]
pub(super) struct Overlay {
    columns: Vec<usize>,
    block: Arc<Block>,
}

impl Block {
    /// The same block with the overlays that its information names; `known` is
    /// another handle of it.
    ///
    /// # Errors
    /// `Corrupt` for an overlay of a column that the block does not have.
    pub fn with_overlays(mut self, known: Option<&Block>) -> Result<Block> {
        self.overlays = self.open_overlays()?;
        if let Some(known) = known {
            self.share_overlays(known);
        }
        Ok(self)
    }

    /// Opens the overlays that the block's information names.
    ///
    /// # Errors
    /// `Corrupt` for a column that the block does not have.
    fn open_overlays(&self) -> Result<Vec<Overlay>> {
        let open = |info: &OverlayInfo| {
            let columns = info.columns.iter().map(|column| {
                let column = self.schema.columns.get(*column);
                column
                    .cloned()
                    .ok_or_else(|| Error::corrupt("an overlay of no column"))
            });
            let schema = TableSchema {
                columns: columns.collect::<Result<_>>()?,
                ..TableSchema::default()
            };
            let own = BlockInfo {
                id: info.id,
                rows: self.info.rows,
                bytes: info.bytes,
                layout: Layout::Column,
                version: None,
                overlays: Vec::new(),
            };
            let (files, cache) = (self.files.clone(), self.cache.clone());
            let block = Block::new(own, Arc::new(schema), None, files, cache);
            Ok(Overlay {
                columns: info.columns.clone(),
                block: Arc::new(block),
            })
        };
        self.info.overlays.iter().map(open).collect()
    }

    /// The same rows with an overlay more, over `columns` of those that the block
    /// was written with. An older overlay without columns of its own is gone.
    #[must_use]
    pub fn overlaid(&self, columns: Vec<usize>, overlay: Arc<Block>) -> Block {
        let (files, cache) = (self.files.clone(), self.cache.clone());
        let mut info = self.info.clone();
        let covered = |older: &Overlay| older.columns.iter().all(|own| columns.contains(own));
        let older = self.overlays.iter().filter(|older| !covered(older));
        let mut overlays: Vec<Overlay> = older.cloned().collect();
        overlays.push(Overlay {
            columns,
            block: overlay,
        });
        info.overlays = overlays.iter().map(Overlay::info).collect();
        Block {
            overlays,
            ..Block::new(info, self.schema.clone(), self.places.clone(), files, cache).beside(self)
        }
    }

    /// Uses the handles that `known` has of the same files.
    fn share_overlays(&mut self, known: &Block) {
        for overlay in &mut self.overlays {
            let same = |known: &&Arc<Block>| known.id() == overlay.block.id();
            if let Some(block) = known.overlays().find(same) {
                overlay.block = block.clone();
            }
        }
    }

    /// The handles of the files of its overlays.
    pub fn overlays(&self) -> impl Iterator<Item = &Arc<Block>> {
        self.overlays.iter().map(|overlay| &overlay.block)
    }

    /// Where a column that the block was written with is now, if it was laid over.
    pub(super) fn overlay(&self, own: usize) -> Option<(&Block, usize)> {
        let mut newest_first = self.overlays.iter().rev();
        newest_first.find_map(|overlay| {
            let place = overlay.columns.iter().position(|column| *column == own)?;
            Some((&*overlay.block, place))
        })
    }

    /// Which of the columns that it was written with a column of the table is, if any.
    ///
    /// # Errors
    /// `Corrupt` for a column that the table does not have.
    pub fn own_column(&self, column: usize) -> Result<Option<usize>> {
        Ok(match self.find_column(column)? {
            FoundColumn::Own(own) => Some(own),
            FoundColumn::Missing(..) => None,
        })
    }

    /// Whether an index of the block's file is over values that are no more.
    pub(super) fn is_stale(&self, index: &IndexDefinition) -> bool {
        let laid_over = |column: &usize| match self.find_column(*column) {
            Ok(FoundColumn::Own(own)) => self.overlay(own).is_some(),
            _ => false,
        };
        !self.overlays.is_empty() && index.columns.iter().any(laid_over)
    }

    /// Puts the newest values into a row that was read from the block's own file.
    pub(super) fn lay_over(&self, columns: &[usize], row: u32, values: &mut Row) -> Result<()> {
        for (column, value) in columns.iter().zip(values) {
            if let Some((block, place)) = self.overlay(*column) {
                *value = block.row(&[place], row)?.pop().flatten();
            }
        }
        Ok(())
    }
}

impl Overlay {
    fn info(&self) -> OverlayInfo {
        OverlayInfo {
            id: self.block.id(),
            bytes: self.block.bytes(),
            columns: self.columns.clone(),
        }
    }
}
