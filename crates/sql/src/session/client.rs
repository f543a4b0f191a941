//! The settings of a session as its statements and its client change them.

use std::sync::Arc;
use std::time::Duration;

use super::{Block, Open, Session};
use crate::error::{Error, Result};
use crate::settings::{
    AskedModes, ClientSettings, MACHINE, Modes, Restored, Setting, current, find, invalid, of_all,
};
use crate::values::Styles;

impl Session {
    /// Settings that concern its client.
    pub(crate) fn client(&self) -> &Arc<ClientSettings> {
        &self.client
    }

    /// How values are shown as text, by its settings.
    pub fn styles(&self) -> Styles {
        self.client.styles()
    }

    /// A number that is another one after a setting was changed.
    pub fn setting_changes(&self) -> u64 {
        self.client.changes()
    }

    /// The value of a setting, as SHOW prints it.
    ///
    /// # Errors
    /// `42704` for an unknown setting.
    pub fn setting(&self, name: &str) -> Result<String> {
        let own = self.client.get(name).or_else(|| self.reading(name));
        match own.or_else(|| self.machine(name)) {
            Some(value) => Ok(value),
            None => current(&self.state.read(), name),
        }
    }

    /// Brings back the defaults of the settings that concern a session alone.
    ///
    /// # Errors
    /// Those of [`Session::set`].
    pub(crate) fn reset_all(&self) -> Result<()> {
        self.client.reset()?;
        let own = [
            "timezone",
            "threads",
            "durability",
            "freestone.engine",
            MACHINE,
        ];
        for name in own {
            self.configure(&Setting {
                name: name.to_owned(),
                value: None,
                local: false,
            })?;
        }
        Ok(())
    }

    /// Brings settings that are kept elsewhere than in [`ClientSettings`] to what they were.
    fn restore(&self, restored: Vec<Restored>) {
        for (name, value) in restored {
            let setting = Setting {
                name,
                value,
                local: false,
            };
            // It had this value before.
            let _ = self.configured(&setting);
        }
    }

    /// Sets what the last statement's `set_config` has asked for.
    pub(crate) fn apply_pending(&self) {
        let pending = self.client.take_pending();
        for setting in pending {
            // It was tried.
            let _ = self.configure(&setting);
        }
    }

    /// Takes back what was set since a mark in the transaction.
    pub(crate) fn undo_settings(&self, mark: usize) {
        self.restore(self.client.undo(mark));
    }

    /// Ends a transaction for what was set in it: it stays but for what was set for the
    /// transaction alone, or is taken back.
    pub(crate) fn end_settings(&self, committed: bool) {
        match committed {
            true => self.restore(self.client.settle()),
            false => self.undo_settings(0),
        }
    }

    /// Changes a setting until its transaction ends, if `local`, or until the session does.
    ///
    /// # Errors
    /// `42704` for an unknown setting, `22023` for a value that it cannot have.
    pub(crate) fn configure(&self, setting: &Setting) -> Result<()> {
        let (name, value) = (setting.name.as_str(), setting.value.as_deref());
        self.may_set(name)?;
        if self.client.set(name, value, setting.local)? {
            return Ok(());
        }
        let name = name.to_lowercase();
        if Modes::SETTINGS.contains(&name.as_str()) {
            return self.set_mode(&name, value);
        }
        if of_all(&name) {
            if setting.local {
                let message = format!("SET LOCAL of \"{name}\" is not supported");
                let hint = "it is a setting of the whole database";
                return Err(Error::unsupported(message).with_hint(hint));
            }
            return self.configured(setting);
        }
        let before = self.setting(&name).ok();
        self.configured(setting)?;
        let after = self.setting(&name).ok();
        self.client.note((name, before), after, setting.local);
        Ok(())
    }

    /// Sets a mode of the open transaction.
    fn set_mode(&self, name: &str, value: Option<&str>) -> Result<()> {
        let default = self.client.modes().shown(name).unwrap_or_default();
        let value = value.unwrap_or(default);
        let asked = AskedModes::set(name, value).ok_or_else(|| invalid(name, value))?;
        self.transaction().set_modes(asked)
    }

    /// Changes a setting, as SET does.
    ///
    /// # Errors
    /// `42704` for an unknown setting, `22023` for a value that it cannot have.
    pub fn set(&self, name: &str, value: &str) -> Result<()> {
        self.configure(&Setting {
            name: name.to_owned(),
            value: Some(value.to_owned()),
            local: false,
        })
    }

    /// Fails the open transaction, if there is one: its client did something wrong that no
    /// statement has noticed.
    pub fn fail(&self) {
        self.transaction().leave(true);
    }

    /// Opens a transaction for statements that a client sends as one, unless there is one.
    /// BEGIN makes it one that lasts, COMMIT and ROLLBACK end it.
    ///
    /// # Errors
    /// Those of storage.
    pub fn begin_implicit(&self) -> Result<()> {
        let mut open = self.transaction();
        if let Open::Nothing = *open {
            self.end_settings(true);
            let begun = self.database().store().begin()?;
            *open = Open::Going(Block::new(begun, self.modes()).implicit());
        }
        Ok(())
    }

    /// The limit of time that a setting such as `statement_timeout` asks for; `None` if
    /// there is none.
    pub fn timeout(&self, setting: &str) -> Option<Duration> {
        self.client.timeout(setting)
    }

    /// Makes `most` the default of a limit of time such as `statement_timeout`, and the longest
    /// that this session has: SET with 0 or more than that leaves it at that.
    ///
    /// # Errors
    /// `42704` for a setting that is no limit of time.
    pub fn limit(&self, setting: &str, most: Duration) -> Result<()> {
        let known = find(setting).filter(|known| known.name.ends_with("timeout"));
        let known = known.ok_or_else(|| {
            let message = format!("there is no limit of time \"{setting}\"");
            Error::new("42704", message)
        })?;
        self.client.limit(known, most);
        Ok(())
    }

    /// Makes READ COMMITTED the level of transactions that say nothing of it, as clients of
    /// PostgreSQL expect, instead of REPEATABLE READ.
    pub fn read_committed(&self) {
        self.client.read_committed();
    }
}
