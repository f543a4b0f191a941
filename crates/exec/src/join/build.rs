//! Collecting the build side, in memory while it lasts (P6).
//!
//! Rows are kept as they come until memory is refused. Then they are parted by their
//! keys, and the partition with most bytes is set aside, and the next, for all
//! threads; the others stay in memory and are joined as if nothing had happened.

use super::keys::{hashes, kinds};
use crate::Result;
use crate::expression::Expression;
use crate::memory::{LEAST, Reservation, Space};
use crate::partition::{PARTS, PartWriter, parted};
use crate::plan::Join;
use crate::spill::Page;
use crate::vector::{Batch, Kind, Values, Vector};
use arrow_array::cast::AsArray;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Bytes of a row in the table, beside its values, while several threads make it.
const ROW: usize = 40;

/// What all threads share.
pub(crate) struct Builder<'a> {
    join: &'a Join,
    /// A bit for each partition that is set aside.
    aside: AtomicU32,
    /// Whether there is a row, and whether one has a NULL in its key, if that is asked.
    any: AtomicBool,
    null: AtomicBool,
}

/// What all rows of the build side have among them, wherever they are; nothing unless
/// the kind of join asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents {
    /// A row.
    pub any: bool,
    /// A row with a NULL in its key.
    pub null: bool,
}

/// The rows of one thread.
pub(crate) struct BuildRows {
    held: Reservation,
    rows: usize,
    bytes: usize,
    whole: Vec<Batch>,
    /// By partition, once memory was refused.
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    rows: Vec<Batch>,
    bytes: usize,
    writer: PartWriter,
}

/// Rows of the build side that are not in memory.
#[derive(Debug)]
pub(crate) struct Aside {
    /// A bit for each partition that is set aside.
    pub mask: u32,
    /// The rows of each.
    pub pages: Vec<Vec<Page>>,
}

/// All rows of the build side.
pub(crate) struct Built {
    pub batches: Vec<Batch>,
    pub held: Reservation,
    pub aside: Option<Aside>,
    pub contents: Contents,
}

impl<'a> Builder<'a> {
    pub fn new(join: &'a Join) -> Builder<'a> {
        Builder {
            join,
            aside: AtomicU32::new(0),
            any: AtomicBool::new(false),
            null: AtomicBool::new(false),
        }
    }

    /// What a thread begins with.
    pub fn rows(&self, space: &Space) -> BuildRows {
        BuildRows {
            held: space.reservation(),
            rows: 0,
            bytes: 0,
            whole: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Takes some rows.
    pub fn push(&self, rows: &mut BuildRows, batch: Batch, space: &Space) -> Result<()> {
        rows.rows += batch.rows;
        if self.join.kind.is_null_aware() {
            self.note(&batch)?;
        }
        if rows.parts.is_empty() {
            rows.bytes += self.bytes(&batch);
            rows.whole.push(batch);
        } else {
            self.part(rows, batch, space)?;
        }
        self.obey(rows, space)?;
        while !rows.held.hold(rows.bytes) && rows.rows > LEAST {
            if !self.set_more_aside(rows, space)? {
                break;
            }
        }
        Ok(())
    }

    fn note(&self, batch: &Batch) -> Result<()> {
        for (key, _, _) in &self.join.keys {
            let nulls = key.evaluate(batch)?.nulls;
            if nulls.is_some_and(|nulls| nulls.null_count() > 0) {
                self.null.store(true, Ordering::Relaxed);
            }
        }
        self.any.fetch_or(batch.rows > 0, Ordering::Relaxed);
        Ok(())
    }

    /// Bytes of some rows, and of the texts of their keys, of which the table has a copy.
    fn bytes(&self, batch: &Batch) -> usize {
        let keys = self.join.keys.iter().zip(kinds(self.join));
        let texts = keys.map(|((key, _, _), kind)| match key {
            Expression::Column(column) if kind == Kind::Text => batch.columns.get(*column),
            _ => None,
        });
        batch.bytes() + texts.flatten().map(text_bytes).sum::<usize>()
    }

    /// Puts rows to their partitions.
    fn part(&self, rows: &mut BuildRows, batch: Batch, space: &Space) -> Result<()> {
        let keys = self.join.keys.iter().map(|(key, _, _)| key);
        let parts = partitions(self.join, keys, &batch, 0)?;
        let aside = self.aside.load(Ordering::Relaxed);
        for (number, (part, positions)) in rows.parts.iter_mut().zip(parts).enumerate() {
            if positions.is_empty() {
                continue;
            }
            let batch = batch.take(&positions)?;
            if aside >> number & 1 == 1 {
                part.writer.push(batch, space)?;
                continue;
            }
            let bytes = self.bytes(&batch);
            part.bytes += bytes;
            rows.bytes += bytes;
            part.rows.push(batch);
        }
        Ok(())
    }

    /// Writes what another thread has found to be too much.
    fn obey(&self, rows: &mut BuildRows, space: &Space) -> Result<()> {
        let aside = self.aside.load(Ordering::Relaxed);
        if aside != 0 && rows.parts.is_empty() {
            self.begin_parts(rows, space)?;
        }
        for (number, part) in rows.parts.iter_mut().enumerate() {
            if aside >> number & 1 == 1 && !part.rows.is_empty() {
                for batch in part.rows.drain(..) {
                    part.writer.push(batch, space)?;
                }
                rows.bytes -= std::mem::take(&mut part.bytes);
            }
        }
        Ok(())
    }

    fn begin_parts(&self, rows: &mut BuildRows, space: &Space) -> Result<()> {
        rows.parts.resize_with(PARTS, Part::default);
        rows.bytes = 0;
        for batch in std::mem::take(&mut rows.whole) {
            self.part(rows, batch, space)?;
        }
        Ok(())
    }

    /// Sets the largest partition aside; false if none is left that takes memory.
    fn set_more_aside(&self, rows: &mut BuildRows, space: &Space) -> Result<bool> {
        if self.join.keys.is_empty() {
            return Err(space.refused("join", rows.bytes));
        }
        if rows.parts.is_empty() {
            self.begin_parts(rows, space)?;
        }
        let largest = rows.parts.iter().enumerate();
        let largest = largest.max_by_key(|(_, part)| part.bytes);
        let Some((number, _)) = largest.filter(|(_, part)| part.bytes > 0) else {
            return Ok(false);
        };
        self.aside.fetch_or(1 << number, Ordering::Relaxed);
        self.obey(rows, space)?;
        Ok(true)
    }

    /// Puts together what all threads have.
    pub fn finish(self, threads: Vec<BuildRows>, space: &Space) -> Result<Built> {
        let mut all = self.rows(space);
        let mut writers: Vec<Vec<Page>> = vec![Vec::new(); PARTS];
        let parted = threads.iter().any(|rows| !rows.parts.is_empty());
        for mut rows in threads {
            if parted && rows.parts.is_empty() {
                self.begin_parts(&mut rows, space)?;
            }
            all.rows += rows.rows;
            all.bytes += rows.bytes;
            all.whole.append(&mut rows.whole);
            all.parts
                .resize_with(rows.parts.len().max(all.parts.len()), Part::default);
            for ((part, to), pages) in rows.parts.into_iter().zip(&mut all.parts).zip(&mut writers)
            {
                to.bytes += part.bytes;
                to.rows.extend(part.rows);
                pages.extend(part.writer.finish(space)?);
            }
        }
        self.obey(&mut all, space)?;
        // The table is made beside the rows.
        loop {
            let parts = all.parts.iter().flat_map(|part| &part.rows);
            let rows: usize = all.whole.iter().chain(parts).map(|batch| batch.rows).sum();
            let fits = all.held.hold(all.bytes * 2 + rows * ROW) || all.rows <= LEAST;
            if fits || !self.set_more_aside(&mut all, space)? {
                break;
            }
        }
        let mask = self.aside.into_inner();
        let mut batches = all.whole;
        for (part, pages) in all.parts.into_iter().zip(&mut writers) {
            batches.extend(part.rows);
            pages.extend(part.writer.finish(space)?);
        }
        Ok(Built {
            batches,
            held: all.held,
            aside: (mask != 0).then_some(Aside {
                mask,
                pages: writers,
            }),
            contents: Contents {
                any: self.any.into_inner(),
                null: self.null.into_inner(),
            },
        })
    }
}

/// Bytes of texts; where they are codes, those of all entries at most.
fn text_bytes(vector: &Vector) -> usize {
    // The lower half of a view is the length of its text.
    let len = |view: &u128| *view as u32 as usize;
    match &vector.values {
        Values::Text(array) => array.as_string_view().views().iter().map(len).sum(),
        Values::Coded { codes, entries } => {
            let views = entries.as_string_view().views();
            if views.len() <= codes.len() {
                return views.iter().map(len).sum();
            }
            let views = codes.iter().map(|code| views.get(*code as usize));
            views.flatten().map(len).sum()
        }
        _ => 0,
    }
}

/// Positions of the rows of each partition, by some keys.
pub(super) fn partitions<'e>(
    join: &Join,
    keys: impl Iterator<Item = &'e Expression>,
    batch: &Batch,
    level: u32,
) -> Result<Vec<Vec<u32>>> {
    let keys = keys.map(|key| key.evaluate(batch));
    let hashes = hashes(join, keys.collect::<Result<_>>()?, batch.rows)?;
    Ok(parted(hashes.into_iter(), level))
}
