//! Group tables of several threads become one result, in memory or part by part.

use crate::aggregate::{GroupTable, Grouping, Parting};
use crate::context::Context;
use crate::memory::{LEAST, Reservation, Space};
use crate::partition::{LEVELS, PARTS};
use crate::plan::Metrics;
use crate::spill::Page;
use crate::threads::on_threads;
use crate::vector::{Batch, Selected};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::time::Instant;

/// Groups that one thread merges alone.
const ALONE: usize = 1 << 13;

/// The groups that one thread has seen, in memory and set aside.
pub(crate) struct Gatherer<'a> {
    grouping: &'a Grouping,
    table: GroupTable<'a>,
    held: Reservation,
    aside: Vec<Vec<Page>>,
}

/// Pages with all groups whose keys have the same bits in their hashes.
pub(crate) struct GroupPart {
    /// The bits that tell them apart.
    level: u32,
    pages: Vec<Page>,
}

/// The groups of all threads.
pub(crate) enum Merged {
    /// In memory, and the memory that they take.
    Here(Vec<Batch>, Reservation),
    /// Set aside.
    Aside(Vec<GroupPart>),
}

impl<'a> Gatherer<'a> {
    pub fn new(grouping: &'a Grouping, space: &Space) -> Result<Gatherer<'a>> {
        Ok(Gatherer {
            grouping,
            table: GroupTable::new(grouping)?,
            held: space.reservation(),
            aside: Vec::new(),
        })
    }

    /// Takes in some rows; without memory for their groups all are set aside.
    pub fn add(&mut self, rows: Selected, space: &Space) -> Result<()> {
        self.table.add(rows)?;
        if !self.held.hold(self.table.bytes()) && self.table.len() > LEAST {
            self.set_aside(space)?;
        }
        Ok(())
    }

    fn set_aside(&mut self, space: &Space) -> Result<()> {
        let table = std::mem::replace(&mut self.table, GroupTable::new(self.grouping)?);
        self.aside.resize(PARTS, Vec::new());
        write_parts(table, 0, space, &mut self.aside)?;
        self.held.hold(0);
        Ok(())
    }
}

/// Writes the groups of a table to the pages of their parts.
fn write_parts(
    table: GroupTable<'_>,
    level: u32,
    space: &Space,
    pages: &mut [Vec<Page>],
) -> Result<()> {
    for (batch, pages) in table.parted(level)?.iter().zip(pages) {
        if batch.rows > 0 {
            pages.push(space.set_aside(batch)?);
        }
    }
    Ok(())
}

impl Context<'_> {
    /// Merges the groups of all threads, those in memory at once.
    pub(crate) fn merge(
        &self,
        mut all: Vec<Gatherer<'_>>,
        grouping: &Grouping,
        metrics: &Metrics,
    ) -> Result<Merged> {
        let start = Instant::now();
        let mut held = self.space.reservation();
        let bytes = all.iter().map(|one| one.table.bytes()).sum();
        // Their result is made beside them.
        let groups: usize = all.iter().map(|one| one.table.len()).sum();
        let fits = held.hold(bytes) || groups <= LEAST;
        self.held(
            metrics,
            held.most() + all.iter().map(|one| one.held.most()).sum::<usize>(),
        );
        if fits && all.iter().all(|one| one.aside.is_empty()) {
            let tables = all.into_iter().map(|one| (one.table, one.held)).unzip();
            let (tables, _held): (Vec<_>, Vec<_>) = tables;
            let batches = self.merge_in_memory(tables, grouping)?;
            metrics.add(batches.iter().map(|batch| batch.rows).sum(), start);
            return Ok(Merged::Here(batches, held));
        }
        drop(held);
        for one in &mut all {
            one.set_aside(self.space)?;
        }
        let parts = (0..PARTS).map(|part| GroupPart {
            level: 1,
            pages: all.iter().flat_map(|one| one.aside[part].clone()).collect(),
        });
        let parts: Vec<GroupPart> = parts.filter(|part| !part.pages.is_empty()).collect();
        metrics.set_aside(parts.iter().flat_map(|part| &part.pages));
        metrics.add(0, start);
        Ok(Merged::Aside(parts))
    }

    fn merge_in_memory(
        &self,
        tables: Vec<GroupTable<'_>>,
        grouping: &Grouping,
    ) -> Result<Vec<Batch>> {
        let mut tables = GroupTable::alike(tables)?;
        if tables.len() == 1 {
            let table = tables
                .pop()
                .ok_or_else(|| Error::internal("no group table"))?;
            return Ok(table.finish()?.pieces());
        }
        let groups: usize = tables.iter().map(GroupTable::len).sum();
        let parts = if groups <= ALONE { 1 } else { self.threads };
        let outcomes = {
            let (tables, parting) = (&tables, Parting::of(&tables, parts));
            let part = |part: usize| {
                let merged = GroupTable::merged(tables, grouping, &parting, part)?;
                merged.map(GroupTable::finish).transpose()
            };
            on_threads(parting.parts(), part)
        };
        let mut batches = Vec::new();
        for outcome in outcomes {
            match outcome? {
                Some(batch) => batches.extend(batch.pieces()),
                // What one thread saw does not hold for what another did.
                None => {
                    grouping.lead.give_up();
                    let tables = GroupTable::all_whole(tables)?;
                    return self.merge_in_memory(tables, grouping);
                }
            }
        }
        Ok(batches)
    }

    /// The groups of a part. One that does not fit is parted again: what comes of that
    /// goes to `parts`, and there are no groups yet.
    pub(crate) fn merge_part(
        &self,
        part: GroupPart,
        grouping: &Grouping,
        parts: &Mutex<Vec<GroupPart>>,
    ) -> Result<Vec<Batch>> {
        let mut held = self.space.reservation();
        let mut all = GroupTable::of_whole_keys(grouping)?;
        let mut pages = part.pages.iter();
        while let Some(page) = pages.next() {
            let table = GroupTable::restored(grouping, &page.read()?)?;
            if !all.absorb(&table, &Parting::Whole, 0) {
                return Err(Error::internal("groups that contradict each other"));
            }
            // The result is made beside the table.
            let bytes = all.bytes() * 2;
            if held.hold(bytes) || all.len() <= LEAST || pages.len() == 0 {
                continue;
            }
            if part.level > LEVELS {
                return Err(self.space.refused("GROUP BY", bytes));
            }
            let mut parted = vec![Vec::new(); PARTS];
            write_parts(all, part.level, self.space, &mut parted)?;
            for page in pages {
                let table = GroupTable::restored(grouping, &page.read()?)?;
                write_parts(table, part.level, self.space, &mut parted)?;
            }
            let smaller = parted.into_iter().filter(|pages| !pages.is_empty());
            parts.lock().extend(smaller.map(|pages| GroupPart {
                level: part.level + 1,
                pages,
            }));
            return Ok(Vec::new());
        }
        Ok(all.finish()?.pieces())
    }
}
