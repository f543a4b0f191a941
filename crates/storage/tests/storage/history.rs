//! Random histories of interleaved transactions, run on a store and on a model.

use crate::tables::Dice;
use crate::world::{Cells, ModelTable, World, array, batch, column, rows, schema, world};
use freestone_storage::io::Faulty;
use freestone_storage::wal::WalOptions;
use freestone_storage::{
    DEFAULT_SCHEMA, Error, IndexKind, Layout, Result, RowId, Savepoint, Snapshot, Store, TableId,
    TableOptions, Transaction,
};
use std::sync::Arc;

/// A change that a transaction made, to be made to the model when it commits.
#[derive(Clone, Debug)]
enum Effect {
    Put(String, i64, Cells),
    Remove(String, i64),
    Create(String, ModelTable),
    Drop(String),
    AddColumn(String, String, Option<i64>),
    DropColumn(String, String),
    AddIndex(String, String),
    DropIndex(String, String),
}

impl Effect {
    fn table(&self) -> &str {
        match self {
            Effect::Put(name, ..)
            | Effect::Remove(name, _)
            | Effect::Create(name, _)
            | Effect::Drop(name)
            | Effect::AddColumn(name, ..)
            | Effect::DropColumn(name, _)
            | Effect::AddIndex(name, _)
            | Effect::DropIndex(name, _) => name,
        }
    }
}

/// Effects without those on tables and rows that came and went: others may have
/// taken their names and keys.
fn lasting(effects: Vec<Effect>) -> Vec<Effect> {
    let mut lasting: Vec<Effect> = Vec::new();
    for effect in effects {
        let came = |other: &Effect| match (&effect, other) {
            (Effect::Drop(name), Effect::Create(other, _)) => name == other,
            (Effect::Remove(name, key), Effect::Put(other, other_key, _)) => {
                (name, key) == (other, other_key)
            }
            _ => false,
        };
        match (&effect, lasting.iter().rposition(came)) {
            (Effect::Drop(name), Some(created)) => {
                let mut later = lasting.split_off(created);
                later.retain(|other| other.table() != name);
                lasting.extend(later);
            }
            (Effect::Remove(..), Some(put)) => drop(lasting.remove(put)),
            _ => lasting.push(effect),
        }
    }
    lasting
}

fn apply(world: &mut World, effect: &Effect) {
    match effect.clone() {
        Effect::Create(name, table) => drop(world.insert(name, table)),
        Effect::Drop(name) => drop(world.remove(&name)),
        Effect::Put(name, key, cells) => {
            world.get_mut(&name).unwrap().rows.insert(key, cells);
        }
        Effect::Remove(name, key) => drop(world.get_mut(&name).unwrap().rows.remove(&key)),
        Effect::AddColumn(name, column, value) => {
            let table = world.get_mut(&name).unwrap();
            table.columns.push(column);
            table.rows.values_mut().for_each(|row| row.push(value));
        }
        Effect::DropColumn(name, column) => {
            let table = world.get_mut(&name).unwrap();
            let place = table.columns.iter().position(|other| *other == column);
            let place = place.unwrap();
            table.columns.remove(place);
            for row in table.rows.values_mut() {
                row.remove(place);
            }
        }
        Effect::AddIndex(name, index) => {
            world.get_mut(&name).unwrap().indexes.insert(index);
        }
        Effect::DropIndex(name, index) => {
            world.get_mut(&name).unwrap().indexes.remove(&index);
        }
    }
}

/// A transaction that has not ended, and what it must see.
struct Running {
    transaction: Transaction,
    world: World,
    effects: Vec<Effect>,
    savepoints: Vec<(Savepoint, World, usize)>,
}

impl Running {
    fn begin(store: &Arc<Store>, committed: &World) -> Result<Running> {
        Ok(Running {
            transaction: store.begin()?,
            world: committed.clone(),
            effects: Vec::new(),
            savepoints: Vec::new(),
        })
    }

    fn note(&mut self, effect: Effect) {
        apply(&mut self.world, &effect);
        self.effects.push(effect);
    }

    fn id(&self, name: &str) -> TableId {
        let snapshot = self.transaction.snapshot();
        snapshot.table(DEFAULT_SCHEMA, name).unwrap().id
    }

    /// Whether it has changed rows of a table, which then keeps its columns.
    fn touches(&self, table: &str) -> bool {
        self.effects.iter().any(|effect| match effect {
            Effect::Put(name, ..) | Effect::Remove(name, _) => name == table,
            _ => false,
        })
    }
}

/// A state that was acknowledged, and between which operations it came about.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    /// Operations before its commit began,
    pub from: u64,
    /// and when it was acknowledged.
    pub until: u64,
    pub world: Arc<World>,
}

/// A history that goes on with every call of [`History::step`].
pub struct History {
    pub store: Arc<Store>,
    files: Arc<Faulty>,
    dice: Dice,
    log: WalOptions,
    running: Vec<Running>,
    pub committed: Arc<World>,
    pub acknowledged: Vec<Acknowledged>,
    /// What a commit that failed would have led to.
    pub uncertain: Option<World>,
    /// Whether opening the database again failed.
    pub closed: bool,
    next_key: i64,
    next_name: u64,
}

/// Errors by which a transaction loses against another one.
fn is_conflict(error: &Error) -> bool {
    ["40001", "23505"].contains(&error.sqlstate())
}

pub fn log_options(dice: &mut Dice) -> WalOptions {
    WalOptions {
        segment_bytes: *dice.choose(&[2048, 5000, 20_000]),
        ..WalOptions::default()
    }
}

pub fn options(dice: &mut Dice) -> TableOptions {
    TableOptions {
        layout: *dice.choose(&Layout::ALL),
        block_bytes: *dice.choose(&[400, 1200, 1 << 20]),
        page_bytes: 1024,
        ..TableOptions::default()
    }
}

impl History {
    /// # Errors
    /// Those of opening.
    pub fn begin(files: Arc<Faulty>, seed: u64) -> Result<History> {
        let mut dice = Dice(seed);
        let log = log_options(&mut dice);
        let store = Store::over_files_with(files.clone(), log.clone())?;
        let committed: Arc<World> = Arc::default();
        Ok(History {
            acknowledged: vec![Acknowledged {
                from: 0,
                until: files.operations(),
                world: committed.clone(),
            }],
            store,
            files,
            dice,
            log,
            running: Vec::new(),
            committed,
            uncertain: None,
            closed: false,
            next_key: 1000,
            next_name: 0,
        })
    }

    /// Does the next thing. Conflicts are part of it.
    ///
    /// # Errors
    /// Any other error of the store.
    pub fn step(&mut self) -> Result<()> {
        if self.running.len() < 1 + self.dice.below(3) {
            let running = Running::begin(&self.store, &self.committed)?;
            self.running.push(running);
        }
        match self.dice.below(24) {
            0 => self.store.checkpoint(),
            1 => self.move_rows(),
            2 => self.rewrite(),
            3 if self.dice.once_in(3) => self.reopen(),
            4..=9 => self.end_one(),
            _ => self.change_one(),
        }
    }

    fn any_table(&mut self) -> Option<String> {
        let names: Vec<&String> = self.committed.keys().collect();
        (!names.is_empty()).then(|| (*self.dice.choose(&names)).clone())
    }

    fn move_rows(&mut self) -> Result<()> {
        let Some(name) = self.any_table() else {
            return Ok(());
        };
        let snapshot = self.store.snapshot();
        let id = snapshot.table(DEFAULT_SCHEMA, &name).unwrap().id;
        self.tolerate(|history| history.store.move_delta(id).map(drop))
    }

    /// Runs what changes nothing that can be seen, and may lose against a transaction.
    fn tolerate(&mut self, change: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let outcome = change(self);
        if !outcome.as_ref().is_err_and(is_conflict) {
            outcome?;
        }
        self.check();
        Ok(())
    }

    /// What is committed is what can be seen.
    pub fn check(&self) {
        assert_eq!(world(&self.store.snapshot()), *self.committed);
    }

    fn rewrite(&mut self) -> Result<()> {
        let Some(name) = self.any_table() else {
            return Ok(());
        };
        let options = options(&mut self.dice);
        let snapshot = self.store.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, &name).unwrap().clone();
        let all = rows(&snapshot, &name).into_iter();
        let all: Vec<(i64, Cells)> = all.map(|(key, (_, cells))| (key, cells)).collect();
        let timestamp = snapshot.timestamp();
        drop(snapshot);
        self.tolerate(|history| {
            let mut writer = history.store.writer(&table.schema, &options)?;
            writer.push(&batch(&history.committed[&name].columns, &all))?;
            let blocks = writer.finish()?;
            history
                .store
                .commit(|edit| edit.rewrite(table.id, &table, timestamp, options, blocks))
        })
    }

    /// Opens the database again after an error; the commit that failed may have
    /// become durable.
    pub fn reopen_after_failure(&mut self) {
        self.running.clear();
        self.store = Store::in_memory();
        self.store = Store::over_files_with(self.files.clone(), self.log.clone()).unwrap();
        self.closed = false;
        let found = world(&self.store.snapshot());
        let uncertain = self.uncertain.take();
        assert!(found == *self.committed || Some(&found) == uncertain.as_ref());
        self.committed = Arc::new(found);
    }

    fn reopen(&mut self) -> Result<()> {
        self.running.clear();
        self.closed = true;
        // The old store has to be gone before the new one comes.
        self.store = Store::in_memory();
        self.store = Store::over_files_with(self.files.clone(), self.log.clone())?;
        self.closed = false;
        self.check();
        Ok(())
    }

    fn end_one(&mut self) -> Result<()> {
        let chosen = self.dice.below(self.running.len());
        let ending = self.running.swap_remove(chosen);
        if self.dice.once_in(5) {
            return Ok(());
        }
        let from = self.files.operations();
        match ending.transaction.commit() {
            Err(error) if is_conflict(&error) => return Ok(()),
            outcome => {
                let mut next = (*self.committed).clone();
                let effects = lasting(ending.effects);
                effects.iter().for_each(|effect| apply(&mut next, effect));
                if let Err(error) = outcome {
                    self.uncertain = Some(next);
                    return Err(error);
                }
                self.committed = Arc::new(next);
            }
        }
        self.acknowledged.push(Acknowledged {
            from,
            until: self.files.operations(),
            world: self.committed.clone(),
        });
        self.check();
        Ok(())
    }

    fn change_one(&mut self) -> Result<()> {
        let chosen = self.dice.below(self.running.len());
        let mut running = self.running.swap_remove(chosen);
        if running.effects.is_empty() && self.dice.once_in(3) {
            self.settle(&mut running)?;
        }
        let before = (
            running.transaction.savepoint(),
            running.world.clone(),
            running.effects.len(),
        );
        let outcome = self.change(&mut running);
        if let Err(error) = outcome {
            // A statement that fails takes itself back.
            running.transaction.roll_back_to(&before.0);
            running.world = before.1;
            running.effects.truncate(before.2);
            if !is_conflict(&error) {
                return Err(error);
            }
        }
        assert_eq!(world(&running.transaction.snapshot()), running.world);
        self.running.push(running);
        Ok(())
    }

    fn change(&mut self, running: &mut Running) -> Result<()> {
        let dice = &mut self.dice;
        let names: Vec<String> = running.world.keys().cloned().collect();
        if names.len() < 2 || (names.len() < 5 && dice.once_in(12)) {
            return self.create(running);
        }
        let name = dice.choose(&names).clone();
        match dice.below(24) {
            0 => self.drop_table(running, name),
            1 if !running.touches(&name) => self.add_column(running, name),
            2 if !running.touches(&name) => self.drop_column(running, name),
            3 if !running.touches(&name) => self.add_index(running, name),
            4 if !running.touches(&name) => self.drop_index(running, name),
            5 | 6 => {
                let world = running.world.clone();
                let savepoint = running.transaction.savepoint();
                let effects = running.effects.len();
                running.savepoints.push((savepoint, world, effects));
                Ok(())
            }
            7 => {
                roll_back(running, dice);
                Ok(())
            }
            8 | 9 => self.add_blocks(running, name),
            10..=15 => self.insert(running, name),
            16..=18 => self.delete(running, name),
            _ => self.update(running, name),
        }
    }
}

fn roll_back(running: &mut Running, dice: &mut Dice) {
    if running.savepoints.is_empty() {
        return;
    }
    let chosen = dice.below(running.savepoints.len());
    running.savepoints.truncate(chosen + 1);
    if let Some((savepoint, world, effects)) = running.savepoints.last() {
        running.transaction.roll_back_to(savepoint);
        running.world = world.clone();
        running.effects.truncate(*effects);
    }
}

/// Statements.
impl History {
    fn name(&mut self, kind: &str) -> String {
        self.next_name += 1;
        format!("{kind}{}", self.next_name)
    }

    fn cells(&mut self, columns: &[String]) -> Cells {
        let dice = &mut self.dice;
        let cell = |_| (!dice.once_in(4)).then(|| dice.below(100_000) as i64);
        columns.iter().map(cell).collect()
    }

    fn create(&mut self, running: &mut Running) -> Result<()> {
        // Names are few, so that tables take the places of others.
        let name = format!("table{}", self.dice.below(6));
        if running.world.contains_key(&name) {
            return Ok(());
        }
        let columns = vec![self.name("n"), self.name("t")];
        let options = options(&mut self.dice);
        let schema = schema(&columns, &name);
        running.transaction.edit(|edit| {
            let id = edit.create_table(DEFAULT_SCHEMA, &name, schema, options)?;
            Ok(id)
        })?;
        let table = ModelTable {
            columns,
            ..ModelTable::default()
        };
        running.note(Effect::Create(name, table));
        Ok(())
    }

    fn drop_table(&mut self, running: &mut Running, name: String) -> Result<()> {
        if !self.dice.once_in(2) || running.touches(&name) {
            return Ok(());
        }
        running
            .transaction
            .edit(|edit| edit.drop_table(DEFAULT_SCHEMA, &name, false))?;
        running.note(Effect::Drop(name));
        Ok(())
    }

    /// Lets a transaction that has not begun in earnest find all rows in blocks.
    fn settle(&mut self, running: &mut Running) -> Result<()> {
        let names: Vec<String> = running.world.keys().cloned().collect();
        for name in names {
            let id = running.id(&name);
            self.tolerate(|history| history.store.move_delta(id).map(drop))?;
        }
        *running = Running::begin(&self.store, &self.committed)?;
        Ok(())
    }

    fn add_column(&mut self, running: &mut Running, name: String) -> Result<()> {
        let kind = *self.dice.choose(&["n", "t"]);
        let (added, value) = (self.name(kind), self.cells(&[String::new()])[0]);
        let id = running.id(&name);
        let values = array(&added, std::iter::once(value));
        running
            .transaction
            .edit(|edit| edit.add_column(id, column(&added), &values))?;
        running.note(Effect::AddColumn(name, added, value));
        Ok(())
    }

    fn drop_column(&mut self, running: &mut Running, name: String) -> Result<()> {
        let table = &running.world[&name];
        // An index goes with its column; those are left alone for the model's sake.
        if table.columns.len() < 2 || !table.indexes.is_empty() {
            return Ok(());
        }
        let dropped = self.dice.choose(&table.columns).clone();
        let id = running.id(&name);
        running
            .transaction
            .edit(|edit| edit.drop_column(id, &dropped))?;
        running.note(Effect::DropColumn(name, dropped));
        Ok(())
    }

    fn add_index(&mut self, running: &mut Running, name: String) -> Result<()> {
        let index = self.name("index");
        let snapshot = running.transaction.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, &name).unwrap();
        let kind = *self.dice.choose(&[IndexKind::Csb, IndexKind::Inverted]);
        let column = self.dice.below(table.schema.columns.len());
        let built = self
            .store
            .build_index(table, &index, kind, vec![column], 1, &|| {})?;
        running
            .transaction
            .edit(|edit| edit.create_index(DEFAULT_SCHEMA, table, built))?;
        running.note(Effect::AddIndex(name, index));
        Ok(())
    }

    fn drop_index(&mut self, running: &mut Running, name: String) -> Result<()> {
        let Some(index) = running.world[&name].indexes.first().cloned() else {
            return Ok(());
        };
        running
            .transaction
            .edit(|edit| edit.drop_index(DEFAULT_SCHEMA, &index))?;
        running.note(Effect::DropIndex(name, index));
        Ok(())
    }

    fn new_rows(&mut self, columns: &[String], count: usize) -> Vec<(i64, Cells)> {
        let row = |_| {
            self.next_key += 1;
            (self.next_key, self.cells(columns))
        };
        (0..count).map(row).collect()
    }

    fn add_blocks(&mut self, running: &mut Running, name: String) -> Result<()> {
        let columns = running.world[&name].columns.clone();
        let count = 1 + self.dice.below(40);
        let added = self.new_rows(&columns, count);
        let snapshot = running.transaction.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, &name).unwrap();
        let mut writer = self.store.writer(&table.schema, &table.options)?;
        writer.push(&batch(&columns, &added))?;
        let blocks = writer.finish()?;
        let id = table.id;
        running.transaction.edit(|edit| edit.append(id, blocks))?;
        for (key, cells) in added {
            running.note(Effect::Put(name.clone(), key, cells));
        }
        Ok(())
    }

    fn put(&mut self, running: &mut Running, name: &str, added: Vec<(i64, Cells)>) -> Result<()> {
        let id = running.id(name);
        let rows = batch(&running.world[name].columns, &added);
        let first = running.transaction.insert(id, &rows)?;
        running.transaction.check_keys(id, first)?;
        for (key, cells) in added {
            running.note(Effect::Put(name.to_string(), key, cells));
        }
        Ok(())
    }

    fn insert(&mut self, running: &mut Running, name: String) -> Result<()> {
        let columns = running.world[&name].columns.clone();
        let count = 1 + self.dice.below(6);
        let mut added = self.new_rows(&columns, count);
        // A key that others may have, too.
        let key = self.dice.below(30) as i64;
        if !running.world[&name].rows.contains_key(&key) {
            added[0].0 = key;
        }
        self.put(running, &name, added)
    }

    fn choose(&mut self, snapshot: &Snapshot, name: &str) -> Option<(i64, RowId)> {
        let found = rows(snapshot, name).into_iter();
        let found: Vec<(i64, RowId)> = found.map(|(key, (id, _))| (key, id)).collect();
        (!found.is_empty()).then(|| *self.dice.choose(&found))
    }

    fn delete(&mut self, running: &mut Running, name: String) -> Result<()> {
        let Some((key, row)) = self.choose(&running.transaction.snapshot(), &name) else {
            return Ok(());
        };
        let id = running.id(&name);
        assert_eq!(running.transaction.delete(id, &[row])?, 1);
        running.note(Effect::Remove(name, key));
        Ok(())
    }

    fn update(&mut self, running: &mut Running, name: String) -> Result<()> {
        let Some((key, row)) = self.choose(&running.transaction.snapshot(), &name) else {
            return Ok(());
        };
        let id = running.id(&name);
        running.transaction.delete(id, &[row])?;
        running.note(Effect::Remove(name.clone(), key));
        let cells = self.cells(&running.world[&name].columns.clone());
        self.put(running, &name, vec![(key, cells)])
    }
}
