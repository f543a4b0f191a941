//! Connections: sessions of open databases.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use arrow::datatypes::SchemaRef;
use freestone::{Error, Frame, Outcome, Parameter, Session, SessionOptions};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::exchange;
use crate::failure::{closed, raised};
use crate::many::run_all;
use crate::open::Held;
use crate::rows::{Rows, Source, closed_result};
use crate::session::{Known, Opened, locked};
use crate::values::{Given, parameters};
use crate::waiting::{runtime, wait};

/// A session of a database, below `freestone.Connection`.
#[pyclass(frozen, module = "freestone")]
pub struct Connection {
    /// Nothing once it is closed.
    opened: Mutex<Option<Arc<Opened>>>,
    /// Its results, which are closed with it.
    results: Mutex<Vec<Weak<Mutex<Source>>>>,
}

impl Connection {
    fn of(opened: Opened) -> Self {
        Self {
            opened: Mutex::new(Some(Arc::new(opened))),
            results: Mutex::default(),
        }
    }

    fn opened(&self, py: Python<'_>) -> PyResult<Arc<Opened>> {
        locked(&self.opened).clone().ok_or_else(|| closed(py))
    }

    /// A result, which is closed with the connection.
    fn result(&self, schema: SchemaRef, source: Source) -> Rows {
        let source = Arc::new(Mutex::new(source));
        let mut results = locked(&self.results);
        // Those that are gone are looked for now and then: each look-up has one.
        if results.len() >= results.capacity() {
            results.retain(|known| known.strong_count() > 0);
        }
        results.push(Arc::downgrade(&source));
        drop(results);
        Rows::new(schema, source)
    }

    /// Frames for the names that the database has no table for, as `finder` finds them;
    /// `None` if it has them all.
    fn frames(
        opened: &Opened,
        tables: &[String],
        finder: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<HashMap<String, Frame>>> {
        let unknown = tables
            .iter()
            .filter(|name| !opened.session().has_table(name));
        let mut unknown = unknown.peekable();
        let Some(finder) = finder.filter(|_| unknown.peek().is_some()) else {
            return Ok(None);
        };
        let mut frames = HashMap::new();
        for name in unknown {
            let found = finder.call1((name,))?;
            if !found.is_none() {
                let (source, once): (Bound<'_, PyAny>, bool) = found.extract()?;
                frames.insert(name.clone(), exchange::frame(&source, once)?);
            }
        }
        Ok(Some(frames))
    }
}

#[pymethods]
impl Connection {
    /// Opens a database, or a new one in memory.
    #[new]
    #[pyo3(signature = (path=None, read_only=false, threads=None, stripes=Vec::new()))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        read_only: bool,
        threads: Option<usize>,
        stripes: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let opened = py.detach(|| {
            let held = match &path {
                Some(path) => Held::open(path, read_only, &stripes)?,
                None => Held::in_memory(),
            };
            Opened::new(held, SessionOptions { threads })
        });
        opened.map(Self::of).map_err(|error| raised(py, error))
    }

    /// Another session of the same database.
    #[pyo3(signature = (threads=None))]
    fn again(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Self> {
        let opened = self.opened(py)?;
        let again = py.detach(|| Opened::new(opened.held.again(), SessionOptions { threads }));
        again.map(Self::of).map_err(|error| raised(py, error))
    }

    /// Runs the statements of a text; of several, which take no parameters, the outcome of
    /// the last is given. `finder` is asked for tables that the database does not have.
    /// Gives the rows or `None`, the command tag or `None`.
    #[pyo3(signature = (sql, values=None, finder=None, observer=None))]
    fn execute(
        &self,
        py: Python<'_>,
        sql: &str,
        values: Option<&Bound<'_, PyAny>>,
        finder: Option<&Bound<'_, PyAny>>,
        observer: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Option<Rows>, Option<String>)> {
        let opened = self.opened(py)?;
        let Given { values, types } = parameters(values)?;
        let known = opened.prepared(sql, types);
        let session = opened.session();
        let progress = session.progress();
        let (interrupts, fraction) = (&opened.interrupts, || progress.fraction());
        let outcome = match known.map_err(|error| raised(py, error))? {
            Some(known) => {
                // What is found by a key takes less time than another thread takes to wake up.
                runtime(py)?;
                let found = py.detach(|| known.prepared.at_once(session, &values));
                if let Some(batch) = found.map_err(|error| raised(py, error))? {
                    let schema = batch.schema();
                    return Ok((
                        Some(self.result(schema, Source::whole(batch, opened.clone()))),
                        None,
                    ));
                }
                let frames = Self::frames(&opened, &known.tables, finder)?;
                let opened = Arc::clone(&opened);
                let run = async move {
                    let session = opened.session();
                    let run = known.prepared.run(session, &values);
                    lent(session, frames, run).await
                };
                wait(py, interrupts, observer, fraction, run)
            }
            None if !values.is_empty() => {
                let message = "parameters are for one statement, and this text is not one";
                return Err(raised(py, Error::new("42601", message)));
            }
            None => {
                let statements = session.parse(sql).map_err(|error| raised(py, error))?;
                let mut last = Ok(Outcome::Done {
                    tag: String::new(),
                    rows: 0,
                });
                for statement in statements {
                    let frames = Self::frames(&opened, &statement.tables(), finder)?;
                    let opened = Arc::clone(&opened);
                    let run = async move {
                        let session = opened.session();
                        lent(session, frames, session.run(&statement)).await
                    };
                    last = wait(py, interrupts, observer, fraction, run)?;
                    if last.is_err() {
                        break;
                    }
                }
                Ok(last)
            }
        }?;
        match outcome.map_err(|error| raised(py, error))? {
            Outcome::Done { tag, .. } => Ok((None, Some(tag))),
            Outcome::Rows(rows) => {
                let schema = Arc::clone(&rows.schema);
                let source = Source::of(rows, Arc::clone(&opened));
                Ok((Some(self.result(schema, source)), None))
            }
        }
    }

    /// Runs a statement with each of several lists of values, all in one transaction; gives
    /// the command tags' counts, added up, or `None` if one has none.
    #[pyo3(signature = (sql, many, finder=None, observer=None))]
    fn execute_many(
        &self,
        py: Python<'_>,
        sql: &str,
        many: &Bound<'_, PyList>,
        finder: Option<&Bound<'_, PyAny>>,
        observer: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<u64>> {
        let opened = self.opened(py)?;
        let mut each: Vec<(Arc<Known>, Vec<Parameter>)> = Vec::with_capacity(many.len());
        for values in many {
            let Given { values, types } = parameters(Some(&values))?;
            let known = match each.last() {
                Some((known, _)) if known.types == types => Some(Arc::clone(known)),
                _ => {
                    let known = opened.prepared(sql, types);
                    known.map_err(|error| raised(py, error))?
                }
            };
            let Some(known) = known else {
                let message = "executemany takes one statement";
                return Err(raised(py, Error::new("42601", message)));
            };
            each.push((known, values));
        }
        let tables = each.first().map(|(known, _)| known.tables.as_slice());
        let frames = Self::frames(&opened, tables.unwrap_or_default(), finder)?;
        let (count, done) = (each.len().max(1), Arc::new(AtomicUsize::new(0)));
        let (ours, counted) = (Arc::clone(&opened), Arc::clone(&done));
        let work = async move {
            let session = ours.session();
            let work = run_all(session, &each, &counted);
            lent(session, frames, work).await
        };
        let fraction = || Some(done.load(Ordering::Relaxed) as f64 / count as f64);
        let sum = wait(py, &opened.interrupts, observer, fraction, work);
        sum?.map_err(|error| raised(py, error))
    }

    /// Stops the statements of this connection that are running, from any thread.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        self.opened(py)?.interrupts.ask();
        Ok(())
    }

    /// Whether BEGIN has opened a transaction that has not ended.
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.opened(py)?.session().in_transaction())
    }

    /// What was said of statements that succeeded, since this was asked last.
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let notices = self.opened(py)?.session().take_notices();
        Ok(notices.iter().map(ToString::to_string).collect())
    }

    /// Whether a statement failed in the open transaction.
    fn transaction_failed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.opened(py)?.session().transaction_failed())
    }

    /// Whether the database has a table or view of that name.
    fn has_table(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.opened(py)?.session().has_table(name))
    }

    /// Changes a setting, as SET does.
    fn set(&self, py: Python<'_>, name: &str, value: &str) -> PyResult<()> {
        let set = self.opened(py)?.session().set(name, value);
        set.map_err(|error| raised(py, error))
    }

    /// Whether `close` was called.
    fn is_closed(&self) -> bool {
        locked(&self.opened).is_none()
    }

    /// Ends the session: results are closed, an open transaction is rolled back.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let opened = locked(&self.opened).take();
            if let Some(opened) = opened {
                opened.interrupts.ask();
                for source in locked(&self.results).drain(..) {
                    if let Some(source) = source.upgrade() {
                        locked(&source).close(closed_result());
                    }
                }
            }
        });
    }
}

/// Does work whose statement names frames, if it does.
async fn lent<T>(
    session: &Session,
    frames: Option<HashMap<String, Frame>>,
    work: impl Future<Output = T>,
) -> T {
    match frames {
        Some(frames) => session.lending(frames, work).await,
        None => work.await,
    }
}

impl Drop for Connection {
    /// Closing may wait for the disk, and for threads that need Python's lock to end.
    fn drop(&mut self) {
        let _ = Python::try_attach(|py| py.detach(|| drop(locked(&self.opened).take())));
    }
}
