//! Sequences: numbers that are given once, also over a crash.
//!
//! ```text
//! position in memory ──── numbers left ────▶ position in the log
//! ```
//!
//! The log is ahead: it says that a sequence goes on behind a number that nobody has
//! been given yet. Up to there numbers come from memory; then the next lot is
//! reserved, in a commit of its own that is durable before one of them is given. That
//! commit leaves the catalog as it is, so no transaction conflicts with it, and it
//! stands when the transaction that asked is rolled back.
//!
//! Locks are taken in this order: `Counter::live`, `Engine::latest`, `Counter::logged`.

use super::catalog::{Catalog, SchemaEntry};
use super::edit::CatalogEdit;
use super::log::{self, CatalogChange};
use super::show::Unseen;
use super::{Engine, Store};
use crate::error::{Error, Result};
use crate::ids::{SequenceId, TableId};
use crate::manifest::ManifestSequence;
use crate::schema::{Column, Numbers, SequenceDefinition, SequencePosition};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

/// Numbers reserved at once, at least: what a crash leaves out.
const LOT: u64 = 1024;

/// A sequence. Its numbers are shared by all snapshots that it is in.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Its number, which stays the same.
    pub id: SequenceId,
    /// Its name.
    pub name: String,
    /// Which numbers it gives.
    pub definition: SequenceDefinition,
    counter: Arc<Counter>,
}

/// How far a sequence is.
#[derive(Debug)]
struct Counter {
    live: Mutex<Live>,
    /// What the log says, or will say when the sequence is committed.
    logged: Mutex<SequencePosition>,
}

#[derive(Clone, Copy, Debug)]
struct Live {
    position: SequencePosition,
    /// Numbers after it that are reserved.
    left: u64,
}

impl Sequence {
    fn new(id: SequenceId, name: &str, definition: SequenceDefinition) -> Sequence {
        let position = definition.beginning();
        Sequence::opened(
            name.to_string(),
            ManifestSequence {
                id,
                definition,
                position,
            },
        )
    }

    /// As the manifest or the log has it.
    pub(super) fn opened(name: String, stored: ManifestSequence) -> Sequence {
        let ManifestSequence {
            id,
            definition,
            position,
        } = stored;
        let counter = Counter {
            live: Mutex::new(Live { position, left: 0 }),
            logged: Mutex::new(position),
        };
        Sequence {
            id,
            name,
            definition,
            counter: Arc::new(counter),
        }
    }

    /// Where it is: behind the numbers that were given.
    pub fn position(&self) -> SequencePosition {
        self.counter.live.lock().position
    }

    /// What the manifest and the log say of it.
    pub(super) fn stored(&self) -> ManifestSequence {
        ManifestSequence {
            id: self.id,
            definition: self.definition.clone(),
            position: *self.counter.logged.lock(),
        }
    }

    /// What the log says, when it is read.
    pub(super) fn go_on_at(&self, position: SequencePosition) {
        *self.counter.live.lock() = Live { position, left: 0 };
        *self.counter.logged.lock() = position;
    }

    fn exhausted(&self) -> Error {
        let (what, end) = match self.definition.increment < 0 {
            false => ("maximum", self.definition.max),
            true => ("minimum", self.definition.min),
        };
        let message = format!(
            "nextval: reached {what} value of sequence \"{}\" ({end})",
            self.name
        );
        Error::invalid("2200H", message)
            .with_hint("Declare it with CYCLE or more values, or set it back with setval.")
    }
}

impl Engine {
    /// The next numbers of a sequence: as many as are wanted, or fewer, but one.
    ///
    /// # Errors
    /// 2200H if there are no more, 25006 if the database is open read-only, `Full`
    /// or `Io`.
    pub fn next_numbers(&self, sequence: &Sequence, wanted: u64) -> Result<Numbers> {
        if !self.writable {
            self.must_be_writable()?;
        }
        let mut live = sequence.counter.live.lock();
        let reserving = live.left == 0;
        if reserving {
            let lot = wanted.max(LOT).max(sequence.definition.cache);
            let numbers = sequence.definition.after(live.position, lot);
            let numbers = numbers.ok_or_else(|| sequence.exhausted())?;
            self.log_position(sequence, given(numbers.last()))?;
            live.left = numbers.count();
        }
        // One lot does not go beyond the end of a cycle, so all are what is reserved.
        let numbers = sequence
            .definition
            .after(live.position, wanted.min(live.left));
        let numbers = numbers.ok_or_else(|| sequence.exhausted())?;
        live.position = given(numbers.last());
        live.left -= numbers.count();
        drop(live);
        if reserving {
            self.shorten_log();
        }
        Ok(numbers)
    }

    /// Lets a sequence go on elsewhere, at once and for everybody.
    ///
    /// # Errors
    /// 22003 for a number that it does not have; 25006, `Full`, `Io`.
    pub fn set_sequence(&self, sequence: &Sequence, position: SequencePosition) -> Result<()> {
        let (min, max) = (sequence.definition.min, sequence.definition.max);
        if position.value < min || position.value > max {
            let message = format!(
                "setval: value {} is out of bounds for sequence \"{}\" ({min}..{max})",
                position.value, sequence.name
            );
            return Err(Error::invalid("22003", message));
        }
        let mut live = sequence.counter.live.lock();
        self.log_position(sequence, position)?;
        *live = Live { position, left: 0 };
        Ok(())
    }

    /// Makes durable where a sequence goes on. One that is not committed yet is written
    /// down when it is; one that was dropped, or declared anew, meanwhile, never.
    fn log_position(&self, sequence: &Sequence, position: SequencePosition) -> Result<()> {
        self.must_be_writable()?;
        let mut latest = self.latest.lock();
        let known = latest.catalog.sequence_by_id(sequence.id);
        let committed =
            known.is_some_and(|(_, known)| Arc::ptr_eq(&known.counter, &sequence.counter));
        let Some(wal) = self.wal.as_ref().filter(|_| committed) else {
            *sequence.counter.logged.lock() = position;
            return Ok(());
        };
        let next_block = self.place.next_number();
        let change =
            CatalogChange::of_position(&latest.catalog, next_block, (sequence.id, position));
        let payload = log::encode(Some(&change), &[])?;
        let timestamp = latest.timestamp + 1;
        wal.reserve(payload.len())?;
        wal.append(timestamp, &payload)?;
        *sequence.counter.logged.lock() = position;
        (latest.timestamp, latest.full) = (timestamp, timestamp);
        let shown = (timestamp, latest.catalog.clone());
        self.shown.write().pending.push_back(shown);
        drop(latest);
        self.finish(Unseen::durable(timestamp))
    }
}

impl Store {
    /// Nobody takes numbers any more: those that are left need not be left out.
    pub(super) fn return_numbers(&self) {
        let catalog = self.latest.lock().catalog.clone();
        for (_, sequence) in catalog.all_sequences() {
            let position = sequence.counter.live.lock().position;
            *sequence.counter.logged.lock() = position;
        }
    }
}

fn given(value: i64) -> SequencePosition {
    SequencePosition { value, given: true }
}

impl SchemaEntry {
    /// Whether a table, view or sequence is called so.
    pub(super) fn has_relation(&self, name: &str) -> bool {
        self.tables.contains_key(name)
            || self.views.contains_key(name)
            || self.sequences.contains_key(name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
            && self.views.is_empty()
            && self.functions.is_empty()
            && self.sequences.is_empty()
            && self.types.is_empty()
    }
}

impl Catalog {
    /// A sequence by schema and name.
    pub fn sequence(&self, schema: &str, name: &str) -> Option<&Arc<Sequence>> {
        self.schemas.get(schema)?.sequences.get(name)
    }

    /// Every sequence with the name of its schema.
    pub fn all_sequences(&self) -> impl Iterator<Item = (&str, &Arc<Sequence>)> {
        self.schemas.iter().flat_map(|(schema, entry)| {
            let sequences = entry.sequences.values();
            sequences.map(move |sequence| (schema.as_str(), sequence))
        })
    }

    /// A sequence by its number, and its schema.
    pub fn sequence_by_id(&self, id: SequenceId) -> Option<(&str, &Arc<Sequence>)> {
        self.all_sequences().find(|(_, sequence)| sequence.id == id)
    }
}

impl CatalogEdit {
    /// Adds a sequence.
    ///
    /// # Errors
    /// 3F000, 42P07; 22023 for numbers that cannot be.
    pub fn create_sequence(
        &mut self,
        schema: &str,
        name: &str,
        definition: SequenceDefinition,
    ) -> Result<SequenceId> {
        definition.check()?;
        let id = SequenceId(self.next_id());
        let entry = self.free_name(schema, name)?;
        let sequence = Sequence::new(id, name, definition);
        entry.sequences.insert(name.to_string(), Arc::new(sequence));
        self.made(id.into());
        Ok(id)
    }

    /// Removes a sequence.
    ///
    /// # Errors
    /// 3F000, 42P01; 2BP01 if it is that of an identity column.
    pub fn drop_sequence(&mut self, schema: &str, name: &str) -> Result<()> {
        let id = self.sequence_id(schema, name)?;
        for (_, table) in self.catalog.all_tables() {
            let mut columns = table.schema.columns.iter();
            let owner =
                columns.find(|column| column.identity.is_some_and(|own| own.sequence == id));
            if let Some(column) = owner {
                let column = format!("column \"{}\" of table \"{}\"", column.name, table.name);
                let message = format!("cannot drop sequence \"{name}\": {column} requires it");
                return Err(Error::invalid("2BP01", message)
                    .with_hint(format!("You can drop {column} instead.")));
            }
        }
        self.schema(schema)?.sequences.remove(name);
        self.forget(&id.into());
        Ok(())
    }

    /// Takes a column's default away.
    ///
    /// # Errors
    /// `Conflict` if the table is gone.
    pub fn drop_default(&mut self, table: TableId, column: usize) -> Result<()> {
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            if let Some(column) = schema.columns.get_mut(column) {
                column.default = None;
            }
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })
    }

    /// Lets a sequence begin again, for others once this is committed.
    ///
    /// # Errors
    /// 3F000, 42P01.
    pub fn restart_sequence(&mut self, schema: &str, name: &str) -> Result<()> {
        let id = self.sequence_id(schema, name)?;
        if let Some(known) = self.schema(schema)?.sequences.get_mut(name) {
            *known = Arc::new(Sequence::new(id, name, known.definition.clone()));
        }
        Ok(())
    }

    /// Declares a sequence anew; it goes on at a position, or where it is.
    ///
    /// # Errors
    /// 3F000, 42P01; 22023 for numbers that cannot be.
    pub fn alter_sequence(
        &mut self,
        schema: &str,
        name: &str,
        definition: SequenceDefinition,
        position: Option<SequencePosition>,
    ) -> Result<()> {
        definition.check()?;
        self.sequence_id(schema, name)?;
        if let Some(known) = self.schema(schema)?.sequences.get_mut(name) {
            let now = known.position();
            let position = position.unwrap_or(now);
            let (min, max) = (definition.min, definition.max);
            let wrong = match position.value {
                value if value < min => Some(("less", "MINVALUE", min)),
                value if value > max => Some(("greater", "MAXVALUE", max)),
                _ => None,
            };
            if let Some((how, what, end)) = wrong {
                let value = position.value;
                let message =
                    format!("RESTART value ({value}) cannot be {how} than {what} ({end})");
                return Err(Error::invalid("22023", message));
            }
            let stored = ManifestSequence {
                id: known.id,
                definition,
                position,
            };
            *known = Arc::new(Sequence::opened(name.to_string(), stored));
        }
        Ok(())
    }

    /// Calls a sequence otherwise, in the same schema or another.
    ///
    /// # Errors
    /// 3F000, 42P01, 42P07.
    pub fn rename_sequence(&mut self, schema: &str, name: &str, to: (&str, &str)) -> Result<()> {
        self.sequence_id(schema, name)?;
        self.free_name(to.0, to.1)?;
        if let Some(known) = self.schema(schema)?.sequences.remove(name) {
            let renamed = Sequence {
                id: known.id,
                name: to.1.to_string(),
                definition: known.definition.clone(),
                counter: known.counter.clone(),
            };
            let entry = self.schema(to.0)?;
            entry.sequences.insert(to.1.to_string(), Arc::new(renamed));
        }
        Ok(())
    }

    /// Tells sequences that go with a column that it is called otherwise, or, without another
    /// name, is no more. Without a column all of the table's are meant.
    pub fn tell_sequences(&mut self, table: TableId, column: Option<&str>, to: Option<&str>) {
        let is_meant = |sequence: &Sequence| {
            let owner = sequence.definition.owner.as_ref();
            owner.is_some_and(|(of, name)| {
                *of == table && column.is_none_or(|column| column == name)
            })
        };
        let mut gone = Vec::new();
        for entry in self.catalog.schemas.values_mut() {
            let meant = entry.sequences.values().filter(|known| is_meant(known));
            let meant: Vec<Arc<Sequence>> = meant.cloned().collect();
            for known in meant {
                entry.sequences.remove(&known.name);
                self.changed = true;
                match to {
                    None => gone.push(known.id),
                    Some(to) => {
                        let mut definition = known.definition.clone();
                        definition.owner = Some((table, to.to_string()));
                        let renamed = Sequence {
                            id: known.id,
                            name: known.name.clone(),
                            definition,
                            counter: known.counter.clone(),
                        };
                        entry
                            .sequences
                            .insert(known.name.clone(), Arc::new(renamed));
                    }
                }
            }
        }
        gone.iter().for_each(|id| self.forget(&(*id).into()));
    }

    fn sequence_id(&mut self, schema: &str, name: &str) -> Result<SequenceId> {
        let known = self.schema(schema)?.sequences.get(name);
        known.map(|sequence| sequence.id).ok_or_else(|| {
            let message = format!("sequence \"{name}\" does not exist");
            Error::invalid("42P01", message)
        })
    }

    /// Removes the sequences of columns that are no more.
    pub(super) fn remove_sequences_of<'a>(
        &mut self,
        columns: impl IntoIterator<Item = &'a Column>,
    ) {
        let identities = columns.into_iter().filter_map(|column| column.identity);
        let ids: HashSet<SequenceId> = identities.map(|identity| identity.sequence).collect();
        if !ids.is_empty() {
            for entry in self.catalog.schemas.values_mut() {
                entry.sequences.retain(|_, known| !ids.contains(&known.id));
            }
            ids.iter().for_each(|id| self.forget(&(*id).into()));
        }
    }
}
