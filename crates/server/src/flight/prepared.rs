//! Statements that clients have prepared.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use freestone::{Error, Parameter, Prepared, Result};
use parking_lot::Mutex;

use super::clients::{Client, KNOWN};
use super::handle;

/// Statements that are kept at a time, of all clients.
const MOST: usize = 10_000;
/// Statements of one name, and bytes of their texts and values.
const MOST_OF_ONE: usize = 1_000;
const BYTES_OF_ONE: usize = 128 << 20;

/// A statement, and the values of the call to come.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) statement: Arc<Prepared>,
    /// Columns of its result, as they are sent; none of one without.
    pub(super) columns: Option<SchemaRef>,
    /// The transaction that it was prepared in.
    pub(super) transaction: Option<Bytes>,
    /// Values of its parameters, one set for each run.
    pub(super) values: Arc<Vec<Vec<Parameter>>>,
    /// Bytes of the values.
    pub(super) bytes: usize,
}

impl Kept {
    /// The values of each run: of one without any there is one run.
    pub(super) fn runs(&self) -> Arc<Vec<Vec<Parameter>>> {
        match self.values.is_empty() {
            true => Arc::new(vec![Vec::new()]),
            false => Arc::clone(&self.values),
        }
    }
}

/// Refuses to keep so many bytes more for those of a name.
fn room(all: &HashMap<String, Entry>, owner: &str, more: usize) -> Result<()> {
    let own = all.values().filter(|entry| entry.owner == owner);
    let bytes = own.map(|entry| entry.kept.statement.statement().text().len() + entry.kept.bytes);
    match bytes.fold(more, usize::saturating_add) <= BYTES_OF_ONE {
        true => Ok(()),
        false => {
            let message = format!(
                "prepared statements of \"{owner}\" would take more than {BYTES_OF_ONE} bytes"
            );
            Err(Error::new("53200", message).with_hint("close some of them"))
        }
    }
}

struct Entry {
    kept: Kept,
    owner: String,
    last: Instant,
}

/// All of them.
#[derive(Default)]
pub(super) struct Statements(Mutex<HashMap<String, Entry>>);

impl Statements {
    /// Keeps one; what it is called from now on.
    ///
    /// # Errors
    /// `53400` if too many are kept, `53200` if they take too much.
    pub(super) fn keep(&self, kept: Kept, client: &Client) -> Result<String> {
        let mut all = self.0.lock();
        let own = all.values().filter(|entry| entry.owner == client.name);
        if all.len() >= MOST || own.count() >= MOST_OF_ONE {
            let message = format!(
                "more than {MOST} prepared statements, or {MOST_OF_ONE} of \"{}\"",
                client.name
            );
            return Err(Error::new("53400", message).with_hint("close some of them"));
        }
        room(&all, &client.name, kept.statement.statement().text().len())?;
        let name = handle();
        let entry = Entry {
            kept,
            owner: client.name.clone(),
            last: Instant::now(),
        };
        all.insert(name.clone(), entry);
        Ok(name)
    }

    /// The one of that name.
    ///
    /// # Errors
    /// `26000` if there is none, or it is another client's.
    pub(super) fn find(&self, name: &[u8], client: &Client) -> Result<Kept> {
        self.with(name, client, |entry| entry.kept.clone())
    }

    /// Binds it to values.
    ///
    /// # Errors
    /// As [`Statements::find`]; `53200` if the values take too much with all others.
    pub(super) fn bind(
        &self,
        name: &[u8],
        client: &Client,
        (values, bytes): (Vec<Vec<Parameter>>, usize),
    ) -> Result<()> {
        // What it is bound to so far goes either way.
        self.with(name, client, |entry| {
            (entry.kept.values, entry.kept.bytes) = (Arc::default(), 0);
        })?;
        room(&self.0.lock(), &client.name, bytes)?;
        self.with(name, client, |entry| {
            (entry.kept.values, entry.kept.bytes) = (Arc::new(values), bytes);
        })
    }

    /// Forgets it; one that is not there is none the less gone.
    pub(super) fn close(&self, name: &[u8], client: &Client) {
        if self.find(name, client).is_ok() {
            let name = String::from_utf8_lossy(name);
            self.0.lock().remove(name.as_ref());
        }
    }

    fn with<T>(
        &self,
        name: &[u8],
        client: &Client,
        what: impl FnOnce(&mut Entry) -> T,
    ) -> Result<T> {
        let mut all = self.0.lock();
        let name = String::from_utf8_lossy(name);
        let entry = all.get_mut(name.as_ref());
        let Some(entry) = entry.filter(|entry| entry.owner == client.name) else {
            let error = Error::new("26000", "there is no such prepared statement");
            return Err(error.with_hint("prepare it again"));
        };
        entry.last = Instant::now();
        Ok(what(entry))
    }

    /// Forgets those that were not used for long.
    pub(super) fn sweep(&self) {
        self.0
            .lock()
            .retain(|_, entry| entry.last.elapsed() < KNOWN);
    }
}
