//! Another machine's constants (what-if hardware): what a session is told its queries
//! would take there is by the machine file alone. Nothing that was learnt here corrects
//! it, and nothing of it is learnt, recorded or kept.

use std::path::Path;

use freestone_model::{Calibration, Learnt};

use super::record::unreadable;
use super::{Known, Record};
use crate::error::{Error, Result};

impl Known {
    /// Reads the machine file of another machine.
    ///
    /// # Errors
    /// `58030` if it cannot be read, `22023` if it is no machine file.
    pub(crate) fn of_another(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            Error::new("58030", format!("cannot read {}: {error}", file.display()))
        })?;
        Ok(Self {
            calibration: Calibration::read(&text).map_err(unreadable)?,
            measured: true,
            foreign: true,
        })
    }

    /// How far its predictions can be relied on, to follow one.
    pub(super) fn described(&self) -> String {
        let mut text = String::new();
        let calibration = &self.calibration;
        if let Some(error) = calibration.error().filter(|_| self.measured) {
            text += &format!("; half of all scans within {:.0} %", error * 100.0);
        }
        if self.foreign {
            text += &format!("; as on \"{}\"", calibration.machine.name);
        }
        if !self.measured {
            text += "; constants of another machine";
        }
        text
    }

    /// Asks what scans and operators were seen to cost; of another machine nothing was.
    pub(crate) fn learnt<T>(&self, record: &Record, ask: impl FnOnce(&Learnt) -> T) -> T {
        match self.foreign {
            true => ask(&Learnt::default()),
            false => record.learnt(|learnt| ask(learnt)),
        }
    }
}
