//! R in all layouts, ready to be asked, and what a selection costs in each.

use super::places::Places;
use super::relation::Relation;
use super::selection::{Answer, Selection};
use super::table::Model;
use super::touched::{misses, per_record};
use crate::cache::CacheMachine;
use crate::error::{Error, Result};
use crate::measure::timed;
use freestone_storage::{Store, Table};
use std::sync::Arc;

/// Cycles that the paper's processor waits for a miss of the first cache only.
pub(super) const FIRST_PENALTY: f64 = 10.0;
/// And for one of the second: 70 to 80.
pub(super) const SECOND_PENALTY: f64 = 75.0;

/// What all experiments say of their misses.
pub(super) const OF_THE_MODEL: &str = "Misses are not those of the processor, whose counters \
     are out of reach here, but those of the lab's own model of caches (LRU, no prefetching; \
     `valgrind --tool=cachegrind` would be another). It is fed with the addresses at which \
     Freestone's pages keep headers, slots and values, read record by record as in the \
     paper; indexes and the program's own data are left out.";

/// R in all layouts.
#[derive(Debug)]
pub(super) struct Bench {
    pub relation: Relation,
    pub tables: Vec<(Model, Arc<Table>)>,
    places: Vec<(Model, Places)>,
    /// The blocks are as long there as it.
    _store: Arc<Store>,
}

/// Misses of each record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Misses {
    pub first: f64,
    pub second: f64,
}

impl Misses {
    /// Cycles that each record waits, at the paper's penalties.
    pub fn cycles(self) -> f64 {
        FIRST_PENALTY * (self.first - self.second).max(0.0) + SECOND_PENALTY * self.second
    }
}

impl Bench {
    /// Makes R and its tables.
    pub fn new(rows: usize, degree: usize, seed: u64) -> Result<Bench> {
        let relation = Relation::new(rows, degree, seed);
        let store = Store::in_memory();
        let tables = relation.tables(&store)?;
        let places = |(model, table): &(Model, Arc<Table>)| {
            let places = match model {
                Model::Nsm => Places::nsm(&relation)?,
                Model::Pax => Places::pax(&relation)?,
                Model::Dsm => Places::dsm(table)?,
            };
            Ok((*model, places))
        };
        let places = tables.iter().map(places).collect::<Result<_>>()?;
        Ok(Bench {
            relation,
            tables,
            places,
            _store: store,
        })
    }

    pub fn rows(&self) -> f64 {
        self.relation.rows() as f64
    }

    fn table(&self, model: Model) -> Result<&Table> {
        let mut tables = self.tables.iter();
        let found = tables.find(|(known, _)| *known == model);
        found
            .map(|(_, table)| table.as_ref())
            .ok_or_else(|| Error::new(format!("no table of {model}"), ""))
    }

    /// Nanoseconds of each record of R that one run of a selection takes.
    pub fn nanoseconds(&self, model: Model, selection: &Selection) -> Result<f64> {
        let table = self.table(model)?;
        self.nanoseconds_of(|| selection.ask(table))
    }

    /// The same of any other way to ask.
    pub fn nanoseconds_of(&self, ask: impl FnOnce() -> Result<Answer>) -> Result<f64> {
        let (answer, seconds) = timed(ask)?;
        std::hint::black_box(answer);
        Ok(1e9 * seconds / self.rows())
    }

    /// Misses of each record of R in the caches of a machine.
    pub fn misses(&self, model: Model, selection: &Selection, machine: &CacheMachine) -> Misses {
        let mut places = self.places.iter();
        let found = places.find(|(known, _)| *known == model);
        let none = Misses {
            first: 0.0,
            second: 0.0,
        };
        found.map_or(none, |(_, places)| {
            self.misses_at(places, selection, machine)
        })
    }

    /// The same of R kept in other places.
    pub fn misses_at(
        &self,
        places: &Places,
        selection: &Selection,
        machine: &CacheMachine,
    ) -> Misses {
        let counts = misses(&self.relation, places, selection, machine);
        Misses {
            first: per_record(&self.relation, &counts, 1),
            second: per_record(&self.relation, &counts, machine.levels.len()),
        }
    }
}

/// Rows of R: the paper's 1.2 million, which the caches of servers do not hold either.
pub(super) const ROWS: usize = 1_200_000;

/// What experiments over R need: the rows, in three tables of each program, and places of
/// values.
pub(super) fn need(_: &crate::setting::Setting) -> crate::experiment::Need {
    crate::experiment::Need {
        memory: ROWS as u64 * 64 * 20,
        ..crate::experiment::Need::default()
    }
}
