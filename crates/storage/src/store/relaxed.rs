//! Commits that do not wait for the disk.
//!
//! A relaxed commit is written but not synced: it survives the end of the
//! process, not a power loss within the next moments. What a power loss takes is
//! always the newest commits, never one from between. Only changes of rows are
//! relaxed; whatever changes the catalog removes files, and is durable before.

use super::Engine;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

/// How long a relaxed commit may wait to be durable.
const DELAY: Duration = Duration::from_millis(100);

/// Whether a thread makes commits durable.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    running: Mutex<bool>,
}

impl Engine {
    /// Sees to it that what is written is durable soon.
    pub(super) fn flush_soon(self: &Arc<Self>) {
        let mut running = self.flusher.running.lock();
        if *running {
            return;
        }
        let engine = Arc::downgrade(self);
        let thread = thread::Builder::new().name("relaxed-commits".into());
        *running = thread.spawn(move || flush_until_idle(&engine)).is_ok();
        if !*running {
            drop(running);
            self.flush_all();
        }
    }

    /// Makes everything durable that was committed; a failure is remembered by
    /// the log, which then takes nothing more.
    pub(super) fn flush_all(&self) {
        if let Some(wal) = &self.wal {
            let _ = wal.flush(u64::MAX);
        }
    }
}

/// Flushes until nothing was committed for a while, or the database is closed.
fn flush_until_idle(engine: &Weak<Engine>) {
    loop {
        thread::sleep(DELAY);
        let Some(engine) = engine.upgrade() else {
            return;
        };
        let idle = {
            let mut running = engine.flusher.running.lock();
            let mut logs = engine.wal.iter();
            let idle = logs.all(|wal| wal.durable() == wal.appended() || wal.reserve(0).is_err());
            *running = !idle;
            idle
        };
        if idle {
            return;
        }
        engine.flush_all();
    }
}
