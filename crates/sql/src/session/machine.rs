//! The setting `freestone.machine`: a machine file, of any machine, by which EXPLAIN and
//! ADVISE of this session say what queries would take.

use std::fmt::Display;
use std::sync::Arc;

use super::Session;
use crate::engine::Pipelines;
use crate::error::Result;
use crate::files::readable;
use crate::plans::PlanSettings;
use crate::settings::MACHINE;
use crate::workload::{Known, Watched};

/// A machine file as it was named, and what it says.
pub(super) type Named = (String, Arc<Known>);

impl Session {
    /// The constants that its queries are predicted by: those of the machine that it asks
    /// about, else those of its database.
    ///
    /// # Errors
    /// `58030` or `22023` for a machine file of the database that cannot be read.
    pub(crate) fn known(&self) -> Result<Arc<Known>> {
        match &*self.machine.lock() {
            Some((_, known)) => Ok(Arc::clone(known)),
            None => self.database.record().known(self.database.store().path()),
        }
    }

    /// A plan of a statement with what is predicted of it.
    ///
    /// # Errors
    /// As [`Session::known`]; errors of reading what tables consist of.
    pub(crate) fn watched(&self, plan: &Pipelines, statement: &dyn Display) -> Result<Watched> {
        let database = &self.database;
        Watched::of(
            (database.record(), self.known()?),
            (self.threads(), database.store().path().is_some()),
            (plan, statement),
            || database.keep_layouts(),
        )
    }

    /// Whether it is another machine that the session asks about.
    pub(crate) fn asks_of_another(&self) -> bool {
        self.machine.lock().is_some()
    }

    /// The file that a session has named, if that is what is asked for.
    pub(crate) fn machine(&self, name: &str) -> Option<String> {
        let named = || self.machine.lock().as_ref().map(|(file, _)| file.clone());
        name.eq_ignore_ascii_case(MACHINE)
            .then(|| named().unwrap_or_default())
    }

    /// Takes a machine file, or with an empty name none; whether that is what is set.
    ///
    /// # Errors
    /// `42501`; `58P01` and `58030` for a file that cannot be read, `22023` for one that is
    /// no machine file.
    pub(super) fn set_machine(&self, name: &str, value: Option<&str>) -> Result<bool> {
        if !name.eq_ignore_ascii_case(MACHINE) {
            return Ok(false);
        }
        let named = value
            .filter(|file| !file.is_empty())
            .map(|file| -> Result<Named> {
                let snapshot = self.database.store().snapshot();
                let path = readable(&self.identity, snapshot.catalog(), file)?;
                Ok((file.to_owned(), Arc::new(Known::of_another(&path)?)))
            });
        *self.machine.lock() = named.transpose()?;
        // Known plans are predicted by what was known of them.
        *self.plan_settings.lock() = PlanSettings::own();
        Ok(true)
    }
}
