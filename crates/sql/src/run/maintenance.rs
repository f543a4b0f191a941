//! ANALYZE, LOCK, DISCARD and RESET ALL: what tools say between other statements.

use sqlparser::ast::{Analyze, DiscardObject, Lock, LockTableMode};

use super::Run;
use crate::error::{Error, Result};
use crate::names::table_name;
use crate::outcome::Outcome;

impl Run<'_> {
    /// ANALYZE: there is nothing to gather, blocks and zone maps tell what there is.
    pub(super) fn analyze(&self, analyze: &Analyze) -> Result<Outcome> {
        if let Some(name) = &analyze.table_name {
            self.stored_table(&table_name(name)?)?;
        }
        Ok(Outcome::done("ANALYZE"))
    }

    /// LOCK … IN ACCESS SHARE MODE: what a transaction reads stays as it is anyhow.
    pub(super) fn lock(&self, lock: &Lock) -> Result<Outcome> {
        if !matches!(lock.lock_mode, Some(LockTableMode::AccessShare)) {
            return Err(
                Error::unsupported("LOCK TABLE has the mode ACCESS SHARE only").with_hint(
                    "two transactions that change the same rows do not both commit: no lock is needed",
                ),
            );
        }
        for target in &lock.tables {
            self.stored_table(&table_name(&target.name)?)?;
        }
        Ok(Outcome::done("LOCK TABLE"))
    }

    /// DISCARD: what a session has kept.
    pub(super) fn discard(&self, what: &DiscardObject) -> Result<Outcome> {
        if *what == DiscardObject::ALL {
            if self.session.in_transaction() {
                let message = "DISCARD ALL cannot run inside a transaction block";
                return Err(Error::new("25001", message));
            }
            self.session.forget(None)?;
            self.session.cursors().close(None)?;
            self.session.locks().unlock_all();
            self.session.reset_all()?;
            let identity = self.session.identity();
            identity.set_session(&identity.login());
        }
        if matches!(what, DiscardObject::ALL | DiscardObject::SEQUENCES) {
            self.session.numbers().forget();
        }
        if matches!(what, DiscardObject::ALL | DiscardObject::TEMP) {
            self.session.drop_temporary()?;
        }
        Ok(Outcome::done(format!("DISCARD {what}")))
    }
}
