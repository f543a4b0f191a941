//! What is left of a join when all rows of the probe side have passed: rows of the
//! build side, and partitions that were set aside (P6).

use super::build::{Aside, partitions};
use super::{JoinTable, Probe};
use crate::Result;
use crate::expression::Expression;
use crate::memory::{LEAST, Space};
use crate::partition::{LEVELS, PARTS, PartWriter};
use crate::plan::{Join, Metrics};
use crate::spill::Page;
use crate::vector::Batch;
use parking_lot::Mutex;
use std::sync::Arc;

/// Memory of a table over so many times the bytes of its pages.
const MEMORY: usize = 4;

/// A piece of what is left.
pub(crate) enum Left {
    /// Rows that come out.
    Rows(Batch),
    /// A partition to be joined.
    Part {
        /// The bits of hashes that tell its rows apart.
        level: u32,
        build: Vec<Page>,
        probe: Vec<Page>,
    },
}

/// Rows of both sides that wait on disk.
#[derive(Debug)]
pub(crate) struct Waiting {
    aside: Aside,
    probe: Vec<Mutex<PartWriter>>,
}

impl Waiting {
    pub fn new(aside: Aside) -> Waiting {
        Waiting {
            aside,
            probe: (0..PARTS).map(|_| Mutex::default()).collect(),
        }
    }

    /// Sets rows of the probe side aside whose partners are; gives the others.
    pub fn keep(&self, join: &Join, batch: &Batch, space: &Space) -> Result<Batch> {
        let keys = join.keys.iter().map(|(_, key, _)| key);
        let parts = partitions(join, keys, batch, 0)?;
        let mut others = Vec::new();
        for (number, (positions, writer)) in parts.into_iter().zip(&self.probe).enumerate() {
            if self.aside.mask >> number & 1 == 0 {
                others.extend(positions);
            } else if !positions.is_empty() {
                writer.lock().push(batch.take(&positions)?, space)?;
            }
        }
        others.sort_unstable();
        batch.take(&others)
    }
}

impl Probe<'_> {
    /// What is left now that no row of the probe side comes any more.
    pub fn left(&self, metrics: &Metrics) -> Result<Vec<Left>> {
        let mut left = Vec::new();
        if let Some(waiting) = &self.waiting {
            for (build, probe) in waiting.aside.pages.iter().zip(&waiting.probe) {
                let probe = std::mem::take(&mut *probe.lock()).finish(self.space)?;
                metrics.set_aside(build.iter().chain(&probe));
                left.push(Left::Part {
                    level: 1,
                    build: build.clone(),
                    probe,
                });
            }
        }
        if self.join.kind.gives_build_rows() {
            left.extend(self.build_rows()?.pieces().into_iter().map(Left::Rows));
        }
        Ok(left)
    }

    /// Gives `out` the rows of a piece of what is left, or puts smaller ones to `queue`.
    pub fn finish(
        &self,
        left: Left,
        queue: &Mutex<Vec<Left>>,
        out: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let (level, build, probe) = match left {
            Left::Rows(batch) => return out(batch),
            Left::Part {
                level,
                build,
                probe,
            } => (level, build, probe),
        };
        if build.is_empty() && probe.is_empty() {
            return Ok(());
        }
        let bytes = build.iter().map(Page::bytes).sum::<usize>() * MEMORY;
        let mut held = self.space.reservation();
        if !held.hold(bytes) && build.iter().map(Page::rows).sum::<usize>() > LEAST {
            if level > LEVELS {
                return Err(self.space.refused("join", bytes));
            }
            let of_build = self.smaller(&build, level, |(key, _, _)| key)?;
            let of_probe = self.smaller(&probe, level, |(_, key, _)| key)?;
            let parts = of_build.into_iter().zip(of_probe);
            queue.lock().extend(parts.map(|(build, probe)| Left::Part {
                level: level + 1,
                build,
                probe,
            }));
            return Ok(());
        }
        let batches = build.iter().map(Page::read).collect::<Result<Vec<_>>>()?;
        let (table, _) = JoinTable::new(self.join, &batches, held, 1)?;
        let part = Probe {
            join: self.join,
            table: Arc::new(table),
            waiting: None,
            contents: self.contents,
            space: self.space,
            stop: self.stop,
        };
        for page in &probe {
            part.push(&page.read()?, out)?;
        }
        if self.join.kind.gives_build_rows() {
            part.build_rows()?.pieces().into_iter().try_for_each(out)?;
        }
        Ok(())
    }

    /// Rows of some pages, parted by other bits of their hashes.
    fn smaller(
        &self,
        pages: &[Page],
        level: u32,
        side: impl Fn(&(Expression, Expression, arrow_schema::DataType)) -> &Expression,
    ) -> Result<Vec<Vec<Page>>> {
        let mut writers: Vec<PartWriter> = (0..PARTS).map(|_| PartWriter::default()).collect();
        for page in pages {
            let batch = page.read()?;
            let keys = self.join.keys.iter().map(&side);
            let parts = partitions(self.join, keys, &batch, level)?;
            for (writer, positions) in writers.iter_mut().zip(parts) {
                if !positions.is_empty() {
                    writer.push(batch.take(&positions)?, self.space)?;
                }
            }
        }
        let pages = writers.into_iter().map(|writer| writer.finish(self.space));
        pages.collect()
    }
}
