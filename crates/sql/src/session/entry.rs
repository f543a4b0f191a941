//! Whose a session is, and what follows from that for its settings.

use std::path::PathBuf;
use std::sync::Arc;

use super::Session;
use crate::error::{Error, Result};
use crate::plans::PlannedFor;
use crate::rights::{Identity, Login};
use crate::settings::{ClientSettings, of_all};

impl Session {
    /// Which known plans were made with its settings, and for its rights.
    pub(crate) fn plan_settings(&self) -> PlannedFor {
        let settings = *self.plan_settings.lock();
        (settings, self.styles(), self.identity.planned_for())
    }

    /// Its settings, by which queries that were bound for it are known.
    pub(crate) fn bound_with(&self) -> (&Arc<ClientSettings>, PlannedFor) {
        (self.client(), self.plan_settings())
    }

    /// Who it is.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Makes it the session of somebody who has connected. Its statements may name files
    /// in `folders` only, none of the database's own, and have what that role's queries may take together.
    pub(crate) fn enter(&self, login: &Login, folders: Arc<[PathBuf]>) -> Result<()> {
        let own = self.database.store().directories();
        self.identity.confine(folders, own);
        if let Some((role, limit)) = login.memory_limit() {
            let broker = self.database.role_memory(role, &limit)?;
            let mut state = self.state.write();
            state.set_memory(broker);
        }
        self.identity.enter(&login.who);
        Ok(())
    }

    /// Refuses to change a setting that concerns others, to whom that is not allowed.
    ///
    /// # Errors
    /// `42501`.
    pub(super) fn may_set(&self, name: &str) -> Result<()> {
        if !self.identity.is_limited() || !of_all(&name.to_lowercase()) {
            return Ok(());
        }
        let rights = self.identity.rights(&self.database.store().snapshot());
        match rights.is_superuser() {
            true => Ok(()),
            false => {
                let message = format!("permission denied to set parameter \"{name}\"");
                Err(Error::new("42501", message))
            }
        }
    }
}
