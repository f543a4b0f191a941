//! Rows on their way from blocks and fragments into new blocks.

use crate::block::Block;
use crate::delta::{Deletes, Fragment};
use crate::error::{Error, Result};
use crate::ids::RowId;
use crate::store::locks::{GONE, Hop, Piece, Went, place_in};
use crate::store::writer::NewBlock;
use std::sync::Arc;

/// Where the rows of one block or fragment go.
struct Home {
    first: RowId,
    source: Source,
    places: Vec<u32>,
}

/// What marks rows of a home as deleted.
enum Source {
    Block(Arc<Block>),
    Fragment(Arc<Fragment>),
}

impl Source {
    fn deletes(&self) -> &Deletes {
        match self {
            Source::Block(block) => block.deletes(),
            Source::Fragment(fragment) => &fragment.deletes,
        }
    }
}

/// Rows on their way: where they were, and what they are.
#[derive(Default)]
pub(super) struct Carried {
    homes: Vec<Home>,
    moved: u32,
}

impl Carried {
    /// Rows of these blocks and fragments, none of which has gone anywhere yet.
    pub fn from(blocks: &[Arc<Block>], fragments: &[Arc<Fragment>]) -> Carried {
        let fragments = fragments.iter().map(|fragment| Home {
            first: RowId::in_delta(fragment.first()),
            places: vec![GONE; fragment.len()],
            source: Source::Fragment(fragment.clone()),
        });
        let blocks = blocks.iter().map(|block| Home {
            first: RowId::in_block(block.id(), 0),
            places: vec![GONE; block.rows() as usize],
            source: Source::Block(block.clone()),
        });
        let mut homes: Vec<Home> = blocks.chain(fragments).collect();
        homes.sort_by_key(|home| home.first);
        Carried { homes, moved: 0 }
    }

    /// How many rows have gone.
    pub fn rows(&self) -> u64 {
        self.moved.into()
    }

    /// Notes where the rows of these ids go: one after the other.
    pub fn put(&mut self, ids: impl Iterator<Item = u64>) -> Result<()> {
        let mut home = 0;
        for id in ids {
            let inside = |home: &Home| {
                let row = id.checked_sub(home.first.0)?;
                ((row as usize) < home.places.len()).then_some(row as usize)
            };
            // Rows mostly come from the home of the row before.
            let mut row = self.homes.get(home).and_then(inside);
            if row.is_none() {
                let after = self.homes.partition_point(|home| home.first.0 <= id);
                home = after.saturating_sub(1);
                row = self.homes.get(home).and_then(inside);
            }
            let row = row.ok_or_else(|| Error::corrupt(format!("a row {id} that is nowhere")))?;
            self.homes[home].places[row] = self.moved;
            self.moved += 1;
        }
        Ok(())
    }

    /// Marks rows of new blocks that were deleted since `timestamp`; says where all went.
    pub fn hops(self, blocks: &[NewBlock], timestamp: u64) -> Vec<Hop> {
        let mut first = 0;
        let piece = |block: &NewBlock| {
            let handle = block.handle();
            let piece = Piece {
                first,
                block: handle.id(),
                deletes: handle.deletes().clone(),
            };
            // In range: so many rows were counted in 32 bits.
            first += handle.rows() as u32;
            piece
        };
        let pieces: Arc<[Piece]> = blocks.iter().map(piece).collect();
        let hop = |home: Home| {
            let later = home.source.deletes().after(timestamp);
            for row in later.iter().flat_map(|(_, rows)| rows) {
                let place = home.places.get(*row as usize).copied().unwrap_or(GONE);
                if let Some((piece, row)) = place_in(&pieces, place) {
                    piece.deletes.settle(&[row]);
                }
            }
            (home.first, Went::Apart(home.places, pieces.clone()))
        };
        self.homes.into_iter().map(hop).collect()
    }
}
