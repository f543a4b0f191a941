//! Asking for what the next blocks of a scan will need, before it comes to them (H7).
//!
//! A scan whose blocks are in memory only looks whether they are. At the first that
//! is not, its worker asks for that block's parts and for those of blocks further on
//! in the queue, as far as the window goes, and again after each batch. Zone maps and
//! Bloom filters rule out blocks here as they do later. What fails here fails again
//! when the scan comes to it, and is reported then.

use super::Scan;
use crate::block::{Ahead, Block, Window};
use crate::error::Result;
use crate::ids::BlockId;
use crate::predicate::Prune;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks that are opened ahead of those that parts are asked for of.
const TO_OPEN: usize = 8;

/// What a scan has asked for and not come to yet.
#[derive(Debug)]
pub(super) struct ReadAhead {
    window: Window,
    /// Whether a block was not in memory.
    cold: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The block to ask for next.
    next: usize,
    blocks: Vec<Asked>,
    /// Columns, and how many blocks more have used than not used what was asked for.
    uses: Vec<(usize, i64)>,
}

/// What was asked for of a block.
#[derive(Debug)]
struct Asked {
    number: usize,
    id: BlockId,
    ahead: Ahead,
    /// Rows that may come of it.
    rows: u64,
}

impl ReadAhead {
    /// For a scan of these blocks; `None` if nothing is to be read ahead.
    pub fn of(blocks: &[Arc<Block>]) -> Option<ReadAhead> {
        let cache = blocks.first()?.cache();
        Some(ReadAhead {
            window: Window::of(cache)?,
            cold: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    fn is_cold(&self) -> bool {
        self.cold.load(Ordering::Relaxed)
    }
}

impl State {
    /// What was asked for of a block so far.
    fn of_block(&mut self, number: usize, block: &Block) -> &mut Asked {
        let known = self.blocks.iter().position(|asked| asked.number == number);
        let place = known.unwrap_or_else(|| {
            self.blocks.push(Asked {
                number,
                id: block.id(),
                ahead: Ahead::default(),
                rows: 0,
            });
            self.blocks.len() - 1
        });
        &mut self.blocks[place]
    }

    /// Whether blocks use a column, so far.
    fn is_used(&self, column: usize) -> bool {
        let mut uses = self.uses.iter();
        uses.find(|(known, _)| *known == column)
            .is_none_or(|(_, balance)| *balance >= 0)
    }

    fn count(&mut self, column: usize, used: bool) {
        let place = self.uses.iter().position(|(known, _)| *known == column);
        let place = place.unwrap_or_else(|| {
            self.uses.push((column, 0));
            self.uses.len() - 1
        });
        self.uses[place].1 += if used { 1 } else { -1 };
    }
}

impl Scan {
    /// The share of the blocks it has to read of which not all that it needs is in memory.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if a block cannot be opened.
    pub fn cold_share(&self) -> Result<f64> {
        let (mut read, mut cold) = (0, 0);
        for block in &self.blocks {
            if !matches!(self.verdict(block)?, (Prune::None, _) | (_, true)) {
                read += 1;
                cold += usize::from(!block.is_in_memory(&self.columns));
            }
        }
        Ok(cold as f64 / read.max(1) as f64)
    }

    /// A worker comes to block `number`, all of whose rows pass, or not, and of which not
    /// all is in memory, or is.
    pub(super) fn read_ahead(&self, (number, block): (usize, &Block), all: bool, cold: bool) {
        let Some(ahead) = &self.ahead else {
            return;
        };
        if !ahead.is_cold() && !cold {
            return;
        }
        let mut state = ahead.state.lock();
        if number >= state.next {
            // What it cannot ask for the worker reads itself.
            let _ = self.ask(ahead, &mut state, number, block, all);
            state.next = number + 1;
        }
        if !ahead.is_cold() && state.of_block(number, block).ahead.bytes == 0 {
            // Such as files in memory: they are not read ahead.
            state.blocks.clear();
            return;
        }
        ahead.cold.store(true, Ordering::Relaxed);
        self.look_further(ahead, &mut state);
    }

    /// Asks for more if there is room.
    pub(super) fn read_further(&self) {
        if let Some(ahead) = self.ahead.as_ref().filter(|ahead| ahead.is_cold())
            && ahead.window.has_room()
            && let Some(mut state) = ahead.state.try_lock()
        {
            self.look_further(ahead, &mut state);
        }
    }

    /// The scan is done with a block: what it has not read it never will.
    pub(super) fn is_done_with(&self, block: &Block) {
        let Some(ahead) = self.ahead.as_ref().filter(|ahead| ahead.is_cold()) else {
            return;
        };
        let mut state = ahead.state.lock();
        let place = state.blocks.iter().position(|asked| asked.id == block.id());
        let Some(place) = place else {
            return;
        };
        let asked = state.blocks.swap_remove(place);
        // A column that was not asked for is worth it again when blocks need it.
        for column in &self.columns {
            if !state.is_used(*column) && block.is_in_memory(&[*column]) {
                state.count(*column, true);
            }
        }
        for (column, used) in asked.ahead.end() {
            state.count(column, used);
        }
    }

    fn look_further(&self, ahead: &ReadAhead, state: &mut State) {
        let begin = self.next.load(Ordering::Relaxed);
        state.next = state.next.max(begin);
        // Of what is in the page cache nothing is asked for: that has an end, too.
        let end = begin.saturating_add(ahead.window.depth());
        while ahead.window.has_room() && state.next < end && self.wants_more(state, begin) {
            let number = state.next;
            let Some(block) = self.blocks.get(number) else {
                return;
            };
            for (later, block) in (number..).zip(self.blocks[number..].iter().take(TO_OPEN)) {
                let asked = state.of_block(later, block);
                let _ = block.ask_to_open(&ahead.window, &mut asked.ahead);
            }
            let whole = match self.verdict(block) {
                Ok((Prune::None, _) | (_, true)) | Err(_) => {
                    state.blocks.retain(|asked| asked.number != number);
                    Ok(true)
                }
                Ok((verdict, _)) => self.ask(ahead, state, number, block, verdict == Prune::All),
            };
            if let Ok(false) = whole {
                return;
            }
            state.next = number + 1;
        }
    }

    /// Whether the limit may reach beyond the blocks that were asked for.
    fn wants_more(&self, state: &State, begin: usize) -> bool {
        let coming = state.blocks.iter().filter(|asked| asked.number >= begin);
        let rows: u64 = coming.map(|asked| asked.rows).sum();
        rows < self.remaining.load(Ordering::Relaxed)
    }

    /// Asks for the columns of a block, those of the predicate first; whether there was
    /// room for all of them.
    fn ask(
        &self,
        ahead: &ReadAhead,
        state: &mut State,
        number: usize,
        block: &Block,
        all: bool,
    ) -> Result<bool> {
        let mut tested = Vec::new();
        if let Some(predicate) = self.predicate.as_ref().filter(|_| !all) {
            predicate.columns(&mut tested);
        }
        let others = self.projection.iter().copied();
        let others: Vec<usize> = others
            .filter(|column| !tested.contains(column) && state.is_used(*column))
            .collect();
        let asked = state.of_block(number, block);
        asked.rows = block.rows();
        let before = asked.ahead.bytes;
        let mut whole = true;
        for (columns, with_zones) in [(&tested, true), (&others, false)] {
            for column in columns {
                whole =
                    whole && block.ask_for(*column, with_zones, &ahead.window, &mut asked.ahead)?;
            }
        }
        let bytes = asked.ahead.bytes - before;
        let counter = &self.metrics.bytes_ahead;
        counter.fetch_add(bytes, Ordering::Relaxed);
        Ok(whole)
    }
}
