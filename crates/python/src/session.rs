//! Sessions, and the statements that they remember.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use freestone::{Error, Prepared, Result, Session, SessionOptions};

use crate::open::Held;
use crate::waiting::Interrupts;

/// Statements that a connection remembers, and the longest text of one.
const KNOWN: usize = 256;
const LONG: usize = 16 << 10;

/// A session and what belongs to it.
pub struct Opened {
    session: Session,
    /// Its database.
    pub held: Held,
    /// Requests to stop.
    pub interrupts: Interrupts,
    known: Mutex<HashMap<String, Vec<Arc<Known>>>>,
}

/// A statement that was prepared.
pub struct Known {
    pub prepared: Prepared,
    /// The types that its parameters were given.
    pub types: Vec<Option<&'static str>>,
    /// Tables that it names.
    pub tables: Vec<String>,
}

impl Opened {
    /// A session of a database.
    ///
    /// # Errors
    /// `08003` if the database is closed.
    pub fn new(held: Held, options: SessionOptions) -> Result<Self> {
        let database = held.database();
        let database = database.ok_or_else(|| Error::new("08003", "the database is closed"))?;
        Ok(Self {
            session: database.session_with(options),
            held,
            interrupts: Interrupts::default(),
            known: Mutex::default(),
        })
    }

    /// Its session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The one statement of a text, prepared; `None` for a text of none or several.
    pub fn prepared(
        &self,
        sql: &str,
        types: Vec<Option<&'static str>>,
    ) -> Result<Option<Arc<Known>>> {
        let alike = |known: &&Arc<Known>| known.types == types;
        if let Some(found) = locked(&self.known).get(sql)
            && let Some(known) = found.iter().find(alike)
        {
            return Ok(Some(Arc::clone(known)));
        }
        let mut statements = self.session.parse(sql)?;
        let (Some(statement), true) = (statements.pop(), statements.is_empty()) else {
            return Ok(None);
        };
        let known = Arc::new(Known {
            tables: statement.tables(),
            prepared: Prepared::new(statement)?.with_types(&types)?,
            types,
        });
        if sql.len() <= LONG {
            let mut all = locked(&self.known);
            if all.len() >= KNOWN {
                all.clear();
            }
            let alike = all.entry(sql.to_owned()).or_default();
            alike.push(Arc::clone(&known));
        }
        Ok(Some(known))
    }
}

/// Locks a mutex, also after a panic of a thread that held it.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
