//! A database opens its sessions, and loads batches by one of them.

use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::state::SessionState;
use arrow::array::RecordBatch;

use super::{Session, SessionOptions};
use crate::database::Database;
use crate::error::{Error, Result};
use crate::front::Expressions;
use crate::ingest::{self, Checks};
use crate::names::Name;
use crate::progress::Progress;
use crate::relations::unknown_table;
use crate::rights::Login;

/// How often a load passes its counts on.
const REPORT_EVERY: Duration = Duration::from_millis(50);

impl Database {
    /// A session with default options.
    pub fn session(&self) -> Session {
        self.session_with(SessionOptions::default())
    }

    /// A session with options of its own.
    pub fn session_with(&self, options: SessionOptions) -> Session {
        Session::new(self.clone(), SessionState::clone(self.template()), &options)
    }

    /// The session of somebody who has connected from elsewhere. Its statements name files
    /// in `folders` only.
    ///
    /// # Errors
    /// `22023` for a limit of memory that the machine cannot have.
    pub fn session_of(&self, login: &Login, folders: &Arc<[PathBuf]>) -> Result<Session> {
        let session = self.session();
        session.enter(login, Arc::clone(folders))?;
        Ok(session)
    }

    /// Appends batches to a table: all rows, or none.
    ///
    /// Every source is read on a thread of its own. Columns are taken in order
    /// and cast as INSERT would. Blocks until the rows are durable; returns how
    /// many there were. `progress` counts rows done; the caller adds the total.
    ///
    /// # Errors
    /// `42P01` for an unknown table, those of the sources, and those of INSERT.
    pub fn load(
        &self,
        schema: &str,
        table: &str,
        sources: Vec<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>>,
        progress: &Progress,
    ) -> Result<u64> {
        let name = Name::new(schema, table);
        let snapshot = self.store().snapshot();
        let target = snapshot
            .table(schema, table)
            .ok_or_else(|| unknown_table(&snapshot, &name))?;
        if target.schema.is_in_partitions() {
            let message = "loading files into a partitioned table this way is not supported";
            return Err(Error::unsupported(message).with_hint("COPY does it."));
        }
        let session = self.session();
        let state = session.statement_state();
        let expressions = Expressions {
            state: &state,
            snapshot: &snapshot,
        };
        let checks = Checks::of(expressions, &target.schema, table)?;
        let load = ingest::load(self.store(), &state, &name, target, sources, checks);
        let counted = session.progress();
        // A thread of our own: the caller may be inside a runtime already.
        let workers = state.options().threads;
        std::thread::scope(|scope| {
            let (finished, wait) = mpsc::channel();
            let run = move || {
                let loaded = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(workers)
                    .build()
                    .map_err(|error| Error::internal(format!("no threads to load with: {error}")))
                    .and_then(|runtime| runtime.block_on(load));
                let _ = finished.send(());
                loaded
            };
            let thread = scope.spawn(run);
            let mut reported = 0;
            loop {
                let running = wait.recv_timeout(REPORT_EVERY) == Err(RecvTimeoutError::Timeout);
                progress.add_done(counted.done() - reported);
                reported = counted.done();
                if !running {
                    break;
                }
            }
            thread
                .join()
                .unwrap_or_else(|_| Err(Error::internal("a loading thread panicked")))
        })
    }
}
