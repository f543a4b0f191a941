//! Random histories of interleaved transactions, run on a store and on a model.

mod effects;
mod statements;

use crate::tables::Dice;
use crate::world::{Cells, World, batch, rows, world};
use effects::{Effect, apply, lasting};
use freestone_storage::io::Faulty;
use freestone_storage::wal::WalOptions;
use freestone_storage::{
    DEFAULT_SCHEMA, Error, Layout, Result, Savepoint, ScanRequest, Store, TableId, TableOptions,
    Transaction,
};
use std::sync::Arc;

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
            2 if self.dice.once_in(2) => self.rewrite(),
            2 => self.exchange(),
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

    /// Writes some blocks again, as rows or columns.
    fn exchange(&mut self) -> Result<()> {
        let Some(name) = self.any_table() else {
            return Ok(());
        };
        let options = options(&mut self.dice);
        let snapshot = self.store.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, &name).unwrap().clone();
        let mut blocks = table.blocks().to_vec();
        blocks.retain(|_| self.dice.once_in(2));
        let gone: Vec<_> = blocks.iter().map(|block| block.id()).collect();
        let request = ScanRequest {
            projection: (0..table.schema.columns.len()).collect(),
            view: snapshot.read_view(table.id),
            ..ScanRequest::default()
        };
        let scan = table.of_blocks(blocks).scan(&request)?;
        let timestamp = snapshot.timestamp();
        drop(snapshot);
        self.tolerate(|history| {
            let mut writer = history.store.writer(&table.schema, &options)?;
            for rows in scan.worker() {
                writer.push(&rows?)?;
            }
            let blocks = writer.finish()?;
            history
                .store
                .commit(|edit| edit.exchange(table.id, timestamp, &gone, blocks))
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
}
