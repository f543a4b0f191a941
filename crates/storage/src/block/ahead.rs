//! Asking for what will be needed of a block, before it is (H7).

use super::cache::{PartKey, Reserved};
use super::open::{FIRST_READ, holds_values};
use super::{Block, Cache, FoundColumn, Opened};
use crate::error::Result;
use crate::format::{Section, SectionKind};
use crate::io::{ALIGNMENT, PrefetchFile};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much a scan may have asked for and not come to yet: so many I/O units, and a
/// share of the cache.
#[derive(Debug)]
pub(crate) struct Window {
    cache: Arc<Cache>,
    unit_bytes: u64,
    depth: usize,
    /// Units that are taken.
    used: Arc<AtomicUsize>,
}

/// A part of a window that is taken.
#[derive(Debug)]
struct Share {
    used: Arc<AtomicUsize>,
    units: usize,
    memory: Option<Reserved>,
}

impl Window {
    /// A window as the options of the cache have it; `None` if nothing is to be read ahead.
    pub fn of(cache: &Arc<Cache>) -> Option<Window> {
        let options = cache.prefetcher().options();
        (options.depth > 0).then(|| Window {
            cache: cache.clone(),
            unit_bytes: options.unit_bytes as u64,
            depth: options.depth,
            used: Arc::default(),
        })
    }

    /// Units that may be asked for, at most.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a unit more may be asked for.
    pub fn has_room(&self) -> bool {
        self.used.load(Ordering::Relaxed) < self.depth
    }

    /// Room for so many bytes. What is larger than the window has it to itself.
    fn take(&self, bytes: u64) -> Option<Share> {
        let units = bytes.div_ceil(self.unit_bytes).max(1) as usize;
        let fits = |used: usize| (used == 0 || used + units <= self.depth).then_some(used + units);
        let order = Ordering::Relaxed;
        self.used.fetch_update(order, order, fits).ok()?;
        // Refused memory, it gives the units back.
        let share = Share {
            used: self.used.clone(),
            units,
            memory: self.cache.reserve(bytes),
        };
        share.memory.is_some().then_some(share)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.used.fetch_sub(self.units, Ordering::Relaxed);
    }
}

/// What was asked for of a block. What nobody has read when it is dropped is given up.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    asked: Vec<Asked>,
    /// Bytes of all of it.
    pub bytes: u64,
}

#[derive(Debug)]
struct Asked {
    /// The column of the table that it was asked for, if for one.
    column: Option<usize>,
    file: Arc<PrefetchFile>,
    number: u64,
}

impl Ahead {
    /// Gives up what nobody has read; which columns somebody has, and which nobody.
    pub fn end(mut self) -> Vec<(usize, bool)> {
        let asked = std::mem::take(&mut self.asked).into_iter();
        let ended = asked.filter_map(|asked| {
            let unread = asked.file.forget(asked.number);
            Some((asked.column?, !unread))
        });
        ended.collect()
    }

    fn ask(
        &mut self,
        column: Option<usize>,
        file: &Arc<PrefetchFile>,
        (bytes, reads): (Range<u64>, usize),
        window: &Window,
    ) -> bool {
        if file.is_coming(&bytes) {
            return true;
        }
        let len = bytes.end - bytes.start;
        let Some(share) = window.take(len) else {
            return false;
        };
        if let Some(number) = file.prefetch(bytes, reads, Box::new(share)) {
            self.bytes += len;
            self.asked.push(Asked {
                column,
                file: file.clone(),
                number,
            });
        }
        true
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        for asked in &self.asked {
            asked.file.forget(asked.number);
        }
    }
}

impl Block {
    /// What keeps its parts.
    pub(crate) fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// Whether all parts with these columns are in memory.
    pub(crate) fn is_in_memory(&self, columns: &[usize]) -> bool {
        let key = |column: &usize| self.key_of(*column);
        self.cache.has(columns.iter().filter_map(key))
    }

    /// The part that has a column, if any does.
    fn key_of(&self, column: usize) -> Option<PartKey> {
        let FoundColumn::Own(own) = self.find_column(column).ok()? else {
            return None;
        };
        let (block, own) = self.overlay(own).unwrap_or((self, own));
        Some(block.part_key(u16::try_from(own).ok()?))
    }

    /// Asks for what opening the block will read.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if there is no such file.
    pub(crate) fn ask_to_open(&self, window: &Window, ahead: &mut Ahead) -> Result<()> {
        if self.opened.get().is_some() || self.file.get().is_some() {
            return Ok(());
        }
        let file = self.open_file()?;
        let first = 0..FIRST_READ.min(file.len());
        ahead.ask(None, &file, (first, 1), window);
        // If somebody was quicker, it is given up with `ahead`.
        let _ = self.file.set(file);
        Ok(())
    }

    /// Asks for the part that has `column`, and for its zone maps; whether there was
    /// room for all of it.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if the block cannot be opened.
    pub(crate) fn ask_for(
        &self,
        column: usize,
        with_zones: bool,
        window: &Window,
        ahead: &mut Ahead,
    ) -> Result<bool> {
        let FoundColumn::Own(own) = self.find_column(column)? else {
            return Ok(true);
        };
        let (block, own) = self.overlay(own).unwrap_or((self, own));
        let Ok(number) = u16::try_from(own) else {
            return Ok(true);
        };
        let opened = block.opened()?;
        if with_zones
            && opened
                .fine
                .get(own)
                .is_some_and(|zones| zones.get().is_none())
        {
            let zones = block.find(opened, SectionKind::Zones, Some(number));
            let bytes = zones.map(|section| section.offset..section.offset + section.len);
            if let Some(bytes) = bytes
                && !ahead.ask(None, &opened.file, (bytes, 1), window)
            {
                return Ok(false);
            }
        }
        if block.cache.has(std::iter::once(block.part_key(number))) {
            return Ok(true);
        }
        let mut spans = block.spans(opened, number).into_iter();
        Ok(spans.all(|span| ahead.ask(Some(column), &opened.file, span, window)))
    }

    /// Where the sections of a part lie, neighbours together, and how many they are.
    fn spans(&self, opened: &Opened, column: u16) -> Vec<(Range<u64>, usize)> {
        let whole = self.info.layout.keeps_tuples();
        let mine = |section: &&Section| {
            holds_values(section) && section.len > 0 && (whole || section.column == Some(column))
        };
        let mut sections: Vec<&Section> = opened.sections.iter().filter(mine).collect();
        sections.sort_by_key(|section| section.offset);
        let mut spans: Vec<(Range<u64>, usize)> = Vec::new();
        for section in sections {
            let bytes = section.offset..section.offset + section.len;
            match spans.last_mut() {
                Some((span, reads)) if bytes.start < span.end + ALIGNMENT as u64 => {
                    span.end = span.end.max(bytes.end);
                    *reads += 1;
                }
                _ => spans.push((bytes, 1)),
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever reads in the background has shares: one that kept its reader would keep
    /// itself.
    #[test]
    fn shares_keep_no_reader() {
        let cache = Arc::new(Cache::new(1 << 30));
        let reader = Arc::downgrade(cache.prefetcher());
        let window = Window::of(&cache).unwrap();
        let share = window.take(1000).unwrap();
        assert_eq!(cache.bytes(), 1000);
        drop((window, cache));
        assert!(reader.upgrade().is_none());
        drop(share);
    }

    #[test]
    fn windows_end() {
        let cache = Arc::new(Cache::new(40 << 20));
        let window = Window::of(&cache).unwrap();
        let all = window.take(6 << 20).unwrap();
        assert!(!window.has_room() && window.take(1).is_none());
        drop(all);
        assert_eq!(cache.bytes(), 0);
        // What is larger has it to itself, as far as memory goes.
        assert!(window.take((10 << 20) + 1).is_none());
        let large = window.take(10 << 20).unwrap();
        assert!(window.take(1).is_none());
        drop(large);
        assert!(window.take(1).is_some() && window.has_room());
    }
}
