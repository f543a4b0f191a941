//! Aggregates that the caller implements: each group has a state, and its rows update the state.
//!
//! Rows are partitioned by the hash of their keys. A partition has its own groups, so that several
//! threads can update states at once. A partition that gets no more memory starts no new groups:
//! rows of its groups still update their states, and other rows are spilled. When the groups are
//! finished, the spilled rows are read and grouped.
//!
//! ```text
//! rows of a, b, c    the states of a and b are updated; there is no memory for c
//! rows of a, c       the state of a is updated; the row of c is spilled
//! end                results of a and b; then the rows of c are read
//! ```
//!
//! A state that keeps its rows, as `array_agg` and DISTINCT do, grows after its group has started.
//! Rows of such groups are collected before any state starts. If they find no memory, they are
//! spilled by partition, and a partition that does not fit is partitioned again.
//!
//! A single state that does not fit into the memory is an error.

use crate::context::Context;
use crate::memory::{LEAST, Reservation, Space};
use crate::partition::{LEVELS, PARTS, PartWriter, parted};
use crate::plan::{Folded, Folding, Metrics};
use crate::spill::Page;
use crate::vector::Batch;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Parts for each thread.
const PER_THREAD: usize = 4;
/// Bytes by which states may grow beyond their memory before the run fails.
const SLACK: usize = 1 << 16;

/// Some of the groups of a set.
struct Part {
    set: usize,
    /// The bits of hashes that tell its parts apart.
    level: u32,
    rows: usize,
    held: Reservation,
    content: Content,
}

enum Content {
    /// States that take rows as they come.
    States {
        folded: Box<dyn Folded>,
        /// The bytes that they had when they got no more memory.
        full: Option<usize>,
        /// Rows of other groups.
        aside: PartWriter,
    },
    /// Rows of groups whose states would keep them.
    Rows {
        batches: Vec<Batch>,
        bytes: usize,
        /// Rows by the hash of their groups, once there was no memory for all.
        parts: Vec<PartWriter>,
    },
}

impl Part {
    fn begin(folding: &Folding, set: usize, level: u32, space: &Space) -> Result<Part> {
        let content = match folding.keeps {
            true => Content::Rows {
                batches: Vec::new(),
                bytes: 0,
                parts: Vec::new(),
            },
            false => Content::States {
                folded: folding.folder.begin(set)?,
                full: None,
                aside: PartWriter::default(),
            },
        };
        Ok(Part {
            set,
            level,
            rows: 0,
            held: space.reservation(),
            content,
        })
    }

    fn add(&mut self, folding: &Folding, rows: Batch, space: &Space) -> Result<()> {
        let count = rows.rows;
        match &mut self.content {
            Content::States {
                folded,
                full,
                aside,
            } => {
                let left = folded.add(&rows, full.is_none())?;
                if !left.is_empty() {
                    aside.push(rows.take(&left)?, space)?;
                }
                self.rows += count - left.len();
                let bytes = folded.bytes();
                if self.held.hold(bytes) || self.rows <= LEAST {
                    return Ok(());
                }
                match *full.get_or_insert(bytes) {
                    full if bytes > full + SLACK => Err(space.refused("GROUP BY", bytes)),
                    _ => Ok(()),
                }
            }
            Content::Rows {
                batches,
                bytes,
                parts,
            } => {
                self.rows += count;
                if parts.is_empty() {
                    *bytes += rows.bytes();
                    batches.push(rows);
                    // States take them over one batch after the other.
                    let needed = *bytes * 2;
                    if self.held.hold(needed) || self.rows <= LEAST {
                        return Ok(());
                    }
                    if self.level > LEVELS {
                        return Err(space.refused("GROUP BY", needed));
                    }
                    parts.resize_with(PARTS, PartWriter::default);
                    for rows in std::mem::take(batches) {
                        write(folding, (self.set, self.level), &rows, parts, space)?;
                    }
                    *bytes = 0;
                    self.held.hold(0);
                    return Ok(());
                }
                write(folding, (self.set, self.level), &rows, parts, space)
            }
        }
    }
}

/// Writes rows to their parts.
fn write(
    folding: &Folding,
    (set, level): (usize, u32),
    rows: &Batch,
    parts: &mut [PartWriter],
    space: &Space,
) -> Result<()> {
    // One group has no parts.
    let hashes = folding.folder.hashes(set, rows)?;
    let hashes = hashes.ok_or_else(|| space.refused("GROUP BY", rows.bytes()))?;
    for (part, positions) in parts.iter_mut().zip(parted(hashes.into_iter(), level)) {
        if !positions.is_empty() {
            part.push(rows.take(&positions)?, space)?;
        }
    }
    Ok(())
}

/// Groups on their way out.
pub(crate) struct Folds<'a> {
    folding: &'a Folding,
    parts: Mutex<Vec<Waiting>>,
    metrics: &'a Metrics,
}

enum Waiting {
    Part(Box<Part>),
    /// Rows of groups of a set that are to be folded, of a level.
    Pages(usize, u32, Vec<Page>),
}

/// The results that one thread gives next, and their memory.
#[derive(Default)]
pub(crate) struct Ready {
    batches: std::vec::IntoIter<Batch>,
    held: Option<Reservation>,
}

/// The parts of all sets while rows come.
pub(crate) struct Sets<'a> {
    folding: &'a Folding,
    sets: Vec<Vec<Mutex<Part>>>,
}

impl<'a> Sets<'a> {
    /// Groups without rows, for rows of so many threads.
    pub fn begin(folding: &'a Folding, threads: usize, space: &Space) -> Result<Sets<'a>> {
        let count = match threads {
            1 => 1,
            threads => threads * PER_THREAD,
        };
        let sets = (0..folding.sets).map(|set| {
            let parts = (0..count).map(|_| Part::begin(folding, set, 0, space).map(Mutex::new));
            parts.collect::<Result<Vec<_>>>()
        });
        Ok(Sets {
            folding,
            sets: sets.collect::<Result<_>>()?,
        })
    }

    /// Adds rows to all sets. Threads begin at different parts, so that they seldom wait.
    pub fn add(&self, rows: &Batch, thread: usize, space: &Space) -> Result<()> {
        for (set, parts) in self.sets.iter().enumerate() {
            let hashes = match parts.len() {
                1 => None,
                _ => self.folding.folder.hashes(set, rows)?,
            };
            let Some(hashes) = hashes else {
                parts[0].lock().add(self.folding, rows.clone(), space)?;
                continue;
            };
            let mut of = vec![Vec::new(); parts.len()];
            for (row, hash) in (0u32..).zip(hashes) {
                of[(hash % parts.len() as u64) as usize].push(row);
            }
            for number in 0..parts.len() {
                let number = (number + thread * PER_THREAD) % parts.len();
                if !of[number].is_empty() {
                    let rows = rows.take(&of[number])?;
                    parts[number].lock().add(self.folding, rows, space)?;
                }
            }
        }
        Ok(())
    }

    /// The groups, now that all rows have come, and the most bytes that they took.
    pub fn finish(self, metrics: &'a Metrics) -> (Folds<'a>, usize) {
        let parts = self.sets.into_iter().flat_map(|parts| {
            let parts = parts.into_iter().map(Mutex::into_inner);
            // Without rows, one part says what comes of none.
            let parts = parts.enumerate();
            parts.filter(|(number, part)| *number == 0 || part.rows > 0)
        });
        let parts: Vec<Box<Part>> = parts.map(|(_, part)| Box::new(part)).collect();
        let held = parts.iter().map(|part| part.held.most()).sum();
        let folds = Folds {
            folding: self.folding,
            parts: Mutex::new(parts.into_iter().map(Waiting::Part).collect()),
            metrics,
        };
        (folds, held)
    }
}

impl Folds<'_> {
    /// How many threads have something to do.
    pub fn threads(&self, most: usize) -> usize {
        self.parts.lock().len().min(most)
    }

    /// The next results; `ready` has those of the thread that asks.
    pub fn next(&self, ready: &mut Ready, context: &Context<'_>) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = ready.batches.next() {
                return Ok(Some(batch));
            }
            ready.held = None;
            let start = Instant::now();
            let Some(part) = self.parts.lock().pop() else {
                return Ok(None);
            };
            let part = match part {
                Waiting::Part(part) => *part,
                Waiting::Pages(set, level, pages) => {
                    let mut part = Part::begin(self.folding, set, level, context.space)?;
                    for page in pages {
                        if context.stop.load(Ordering::Relaxed) {
                            return Err(Error::Cancelled);
                        }
                        part.add(self.folding, page.read()?, context.space)?;
                    }
                    part
                }
            };
            let (folded, pages) = match part.content {
                Content::States { folded, aside, .. } => {
                    (Some(folded), vec![aside.finish(context.space)?])
                }
                Content::Rows { batches, parts, .. } if parts.is_empty() => {
                    let mut folded = self.folding.folder.begin(part.set)?;
                    for rows in batches {
                        folded.add(&rows, true)?;
                    }
                    (Some(folded), Vec::new())
                }
                Content::Rows { parts, .. } => {
                    let pages = parts.into_iter().map(|part| part.finish(context.space));
                    (None, pages.collect::<Result<_>>()?)
                }
            };
            for pages in pages.into_iter().filter(|pages| !pages.is_empty()) {
                self.metrics.set_aside(pages.iter());
                let waiting = Waiting::Pages(part.set, part.level + 1, pages);
                self.parts.lock().push(waiting);
            }
            let Some(folded) = folded else {
                continue;
            };
            let batches = folded.finish()?;
            self.metrics
                .add(batches.iter().map(|batch| batch.rows).sum(), start);
            ready.batches = batches.into_iter();
            ready.held = Some(part.held);
        }
    }
}

#[cfg(test)]
mod tests;
