//! What the database remembers of its queries: workloads, the ledger of predictions,
//! and what operators have been seen to cost.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use freestone_model::{Bound, Calibration, Change, Learnt, Run, Stored, Usage, Workload};
use freestone_storage::{
    BlockId, Catalog, Counted, Predicate, Store, Table, TableId, TableOptions, TableSchema,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::advice::Advice;
use super::present;
use super::trials::Trials;
use super::uses::Use;
use crate::error::{Error, Result};

/// The directory of a database that all of it is kept in.
const DIRECTORY: &str = "advisor";
/// The machine file in it, as `freestone calibrate` writes it.
const MACHINE: &str = "machine.json";
/// What was recorded.
const WORKLOAD: &str = "workload.json";
/// Queries that the ledger keeps.
const LEDGER: usize = 1000;
/// Characters of a statement that it keeps.
const TEXT: usize = 200;
/// What was recorded is written this often, and when the database is closed.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// One query in the ledger.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Seconds since 1970.
    pub(crate) at: f64,
    pub(crate) statement: String,
    /// Seconds that were predicted, the blocks being in memory.
    pub(crate) predicted: f64,
    /// Seconds that it took.
    pub(crate) actual: f64,
    pub(crate) bound: String,
}

/// What is remembered. Everything in it is advisory: lost, it is learnt again.
pub(crate) struct Record {
    /// Where it is kept; `None` of a database in memory, or one that is only read.
    directory: Option<PathBuf>,
    /// What counts look-ups and changes; gone when the database is closing.
    store: Weak<Store>,
    recording: AtomicBool,
    kept: Mutex<Kept>,
    calibration: Mutex<Option<Arc<Known>>>,
    /// Tables in the terms of the model.
    stored: Mutex<HashMap<TableId, Seen>>,
    trials: Trials,
}

/// A table as it was looked at last. It keeps no block: files of blocks that left the
/// table have to go.
struct Seen {
    schema: Arc<TableSchema>,
    options: TableOptions,
    blocks: Vec<BlockId>,
    stored: Arc<Stored>,
}

/// Constants, and where they come from.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) calibration: Calibration,
    /// Whether they were measured for this database.
    pub(crate) measured: bool,
    /// Whether they are those of a machine that a session asks about, see
    /// [`foreign`](super::foreign).
    pub(crate) foreign: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    workloads: HashMap<u64, Workload>,
    ledger: VecDeque<Entry>,
    learnt: Learnt,
    advice: Vec<Advice>,
    /// Whether recording was turned off.
    off: bool,
    #[serde(skip)]
    saved: Option<Instant>,
    #[serde(skip)]
    unsaved: bool,
}

impl Seen {
    /// Whether a table is still what it was.
    fn is(&self, table: &Table) -> bool {
        Arc::ptr_eq(&self.schema, &table.schema)
            && self.options == table.options
            && self.blocks == table.block_ids()
    }
}

impl Record {
    /// The record of a database; what cannot be read of an older one is begun anew.
    pub(crate) fn open(store: &Arc<Store>, writable: bool) -> Self {
        let directory = store.path().map(|path| path.join(DIRECTORY));
        let text = directory.as_ref().map(|at| at.join(WORKLOAD));
        let text = text.and_then(|at| std::fs::read_to_string(at).ok());
        let kept: Option<Kept> = text.and_then(|text| serde_json::from_str(&text).ok());
        let kept = kept.unwrap_or_default();
        Self {
            directory: directory.filter(|_| writable),
            store: Arc::downgrade(store),
            recording: AtomicBool::new(!kept.off),
            kept: Mutex::new(kept),
            calibration: Mutex::default(),
            stored: Mutex::default(),
            trials: Trials::default(),
        }
    }

    /// Turns recording on or off, also for whoever opens the database later.
    pub(crate) fn set_recording(&self, on: bool) {
        let mut kept = self.kept.lock();
        // What was counted so far belongs to what was said before.
        self.take_over_all(&mut kept);
        self.recording.store(on, Ordering::Relaxed);
        kept.off = !on;
        self.save(&mut kept);
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
    }

    /// The machine's constants: those in the database's directory, else those of the
    /// machine that Freestone was made on.
    ///
    /// # Errors
    /// `58030` or `22023` for a machine file that cannot be read.
    pub(crate) fn known(&self, path: Option<&Path>) -> Result<Arc<Known>> {
        let mut calibration = self.calibration.lock();
        if let Some(known) = &*calibration {
            return Ok(Arc::clone(known));
        }
        let file = path.map(|path| path.join(DIRECTORY).join(MACHINE));
        let text = match &file {
            Some(file) if file.exists() => {
                Some(std::fs::read_to_string(file).map_err(|error| {
                    Error::new("58030", format!("cannot read {}: {error}", file.display()))
                })?)
            }
            _ => None,
        };
        let known = Known {
            measured: text.is_some(),
            foreign: false,
            calibration: match &text {
                Some(text) => Calibration::read(text),
                None => Calibration::reference(),
            }
            .map_err(unreadable)?,
        };
        Ok(Arc::clone(calibration.insert(Arc::new(known))))
    }

    /// Keeps a machine file for this database.
    ///
    /// # Errors
    /// See [`Database::keep_machine`](crate::Database::keep_machine).
    pub(crate) fn keep_machine(&self, path: Option<&Path>, text: &str) -> Result<()> {
        let calibration = Calibration::read(text).map_err(unreadable)?;
        let Some(directory) = &self.directory else {
            return Err(match path {
                Some(_) => Error::new("25006", "the database is open read-only"),
                None => Error::new("55000", "a database in memory keeps no machine file"),
            });
        };
        replace(directory, MACHINE, text.as_bytes()).map_err(|error| {
            let place = directory.join(MACHINE);
            Error::new(
                "58030",
                format!("cannot write {}: {error}", place.display()),
            )
        })?;
        *self.calibration.lock() = Some(Arc::new(Known {
            calibration,
            measured: true,
            foreign: false,
        }));
        // What was learnt corrected other constants.
        self.kept.lock().learnt = Learnt::default();
        Ok(())
    }

    /// A table in the terms of the model.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub(crate) fn stored(&self, table: &Arc<Table>) -> Result<Arc<Stored>> {
        if let Some(seen) = self.stored.lock().get(&table.id)
            && seen.is(table)
        {
            return Ok(Arc::clone(&seen.stored));
        }
        let stored = Arc::new(present::stored(table)?);
        let seen = Seen {
            schema: Arc::clone(&table.schema),
            options: table.options.clone(),
            blocks: table.block_ids(),
            stored: Arc::clone(&stored),
        };
        self.stored.lock().insert(table.id, seen);
        Ok(stored)
    }

    /// Notes a query: its use of tables, and what was predicted for it.
    pub(crate) fn query(&self, uses: Vec<(TableId, Usage, Run)>, entry: Entry) {
        let mut kept = self.kept.lock();
        for (table, usage, run) in uses {
            let workload = kept.workloads.entry(table.0).or_default();
            workload.query(usage, &run);
        }
        while kept.ledger.len() >= LEDGER {
            kept.ledger.pop_front();
        }
        let statement = entry.statement.chars().take(TEXT).collect();
        kept.ledger.push_back(Entry { statement, ..entry });
        kept.unsaved = true;
        if kept.saved.get_or_insert_with(Instant::now).elapsed() >= SAVE_EVERY {
            self.take_over_all(&mut kept);
            self.save(&mut kept);
        }
    }

    /// Notes that rows of a table were found by the first columns of a key or an index: so many
    /// times, and how many rows and how long it took on average.
    pub(crate) fn found(
        &self,
        (table, columns, condition): (&Arc<Table>, &[usize], &Predicate),
        (times, rows, took): (u64, f64, Duration),
    ) {
        if !self.is_recording() {
            return;
        }
        let Use {
            usage, expected, ..
        } = Use::of(table, columns, Some(condition));
        let share = rows / table.rows().max(1) as f64;
        let run = Run {
            seconds: took.as_secs_f64(),
            selected: share.min(1.0),
            scanned: share.min(1.0),
            shares: expected.shares,
        };
        let mut kept = self.kept.lock();
        let workload = kept.workloads.entry(table.id.0).or_default();
        workload.queries_alike(usage, &run, times as f64);
        kept.unsaved = true;
    }

    /// Takes over what was counted of tables, and forgets those that are gone.
    pub(crate) fn settle(&self, catalog: &Catalog) {
        self.take_over(&mut self.kept.lock(), catalog);
    }

    /// The same of the tables that there are now, where that is kept.
    fn take_over_all(&self, kept: &mut Kept) {
        let store = self.directory.as_ref().and_then(|_| self.store.upgrade());
        if let Some(store) = store {
            self.take_over(kept, store.snapshot().catalog());
        }
    }

    fn take_over(&self, kept: &mut Kept, catalog: &Catalog) {
        let mut alive = Vec::new();
        for (_, table) in catalog.all_tables() {
            alive.push(table.id.0);
            let counted = table.activity().take();
            if self.is_recording() && !counted.is_nothing() {
                let workload = kept.workloads.entry(table.id.0).or_default();
                add(workload, table, &counted);
                kept.unsaved = true;
            }
        }
        kept.workloads.retain(|table, _| alive.contains(table));
        self.stored
            .lock()
            .retain(|table, _| alive.contains(&table.0));
        self.trials.retain(|table| alive.contains(&table.0));
    }

    /// What tables would be in other layouts.
    pub(super) fn trials(&self) -> &Trials {
        &self.trials
    }

    /// What is known of a table's workload.
    pub(crate) fn workload(&self, table: TableId) -> Workload {
        let kept = self.kept.lock();
        kept.workloads.get(&table.0).cloned().unwrap_or_default()
    }

    /// The ledger, the oldest query first.
    pub(crate) fn ledger(&self) -> Vec<Entry> {
        self.kept.lock().ledger.iter().cloned().collect()
    }

    /// Half of the ledger's predictions are off by no more than this share; `None` of
    /// fewer than ten.
    pub(crate) fn median_error(&self) -> Option<f64> {
        let kept = self.kept.lock();
        let mut errors: Vec<f64> = kept.ledger.iter().map(Entry::error).collect();
        errors.sort_by(f64::total_cmp);
        errors
            .get(errors.len() / 2)
            .copied()
            .filter(|_| errors.len() >= 10)
    }

    /// What operators and scans have been seen to cost.
    pub(crate) fn learnt<T>(&self, with: impl FnOnce(&mut Learnt) -> T) -> T {
        with(&mut self.kept.lock().learnt)
    }

    /// The advice that was given last.
    pub(crate) fn given(&self) -> Vec<Advice> {
        self.kept.lock().advice.clone()
    }

    /// Changes it, and keeps that.
    pub(crate) fn advice<T>(&self, with: impl FnOnce(&mut Vec<Advice>) -> T) -> T {
        let mut kept = self.kept.lock();
        let answer = with(&mut kept.advice);
        kept.unsaved = true;
        self.save(&mut kept);
        answer
    }

    /// Forgets workloads and ledger, not what things cost.
    pub(crate) fn reset(&self, catalog: &Catalog) {
        self.settle(catalog);
        let mut kept = self.kept.lock();
        kept.workloads.clear();
        kept.ledger.clear();
        self.save(&mut kept);
    }

    /// Writes the record beside the old one and puts it in its place. What fails is tried
    /// again the next time: nothing depends on it.
    fn save(&self, kept: &mut Kept) {
        kept.saved = Some(Instant::now());
        let Some(directory) = &self.directory else {
            return;
        };
        let text = serde_json::to_vec(kept).map_err(Into::into);
        let written = text.and_then(|text| replace(directory, WORKLOAD, &text));
        kept.unsaved = written.is_err();
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let mut kept = std::mem::take(self.kept.get_mut());
        self.take_over_all(&mut kept);
        if kept.unsaved {
            self.save(&mut kept);
        }
    }
}

impl Entry {
    /// A query that has just ended.
    pub(crate) fn new(statement: &str, predicted: f64, actual: f64, bound: Bound) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            at: now.unwrap_or_default().as_secs_f64(),
            statement: statement.to_owned(),
            predicted,
            actual,
            bound: bound.to_string(),
        }
    }

    /// How far off the prediction was, as a share of what it took.
    pub(crate) fn error(&self) -> f64 {
        (self.predicted / self.actual.max(1e-9) - 1.0).abs()
    }
}

/// Writes a file beside the one that is there, and puts it in its place.
fn replace(directory: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let draft = directory.join(format!("{name}.draft"));
    std::fs::create_dir_all(directory)?;
    std::fs::write(&draft, bytes)?;
    std::fs::rename(&draft, directory.join(name))
}

pub(super) fn unreadable(error: freestone_model::Error) -> Error {
    Error::new("22023", error.message).with_hint(error.hint.to_owned())
}

fn add(workload: &mut Workload, table: &Table, counted: &Counted) {
    workload.pass(counted.statements as f64);
    let sums = [
        (Change::Insert, counted.inserted),
        (Change::Update, counted.updated),
        (Change::Delete, counted.deleted),
        (Change::LookUp, counted.looked_up),
    ];
    for (change, rows) in sums {
        workload.change(change, rows as f64);
    }
    for (column, rows) in table.schema.columns.iter().zip(&counted.assigned) {
        if *rows > 0 {
            workload.assign(&column.name, *rows as f64);
        }
    }
}
