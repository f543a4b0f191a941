//! The machine file: what was measured of a machine, for its user and for others.

use crate::costs::Costs;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::operators;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A machine, and what Freestone's scans cost on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Clock, memory and disks.
    pub machine: Machine,
    /// Cycles of scans.
    pub costs: Costs,
    /// How far off they were, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Stated>,
    /// Nanoseconds of one thread for each row that comes into an operator, by its name, if
    /// that was measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub operators: BTreeMap<String, f64>,
}

/// How far off predicted scans were from measured ones that their costs were not
/// corrected by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Of blocks in memory.
    pub hot: Spread,
    /// Of blocks that came from disk.
    pub cold: Spread,
}

/// How far apart errors lie, as shares of what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Half of the errors are no larger.
    pub median: f64,
    /// Nine of ten are not.
    pub ninth: f64,
}

impl Spread {
    /// The spread of errors; nothing of none.
    pub fn of(errors: impl IntoIterator<Item = f64>) -> Spread {
        let mut errors: Vec<f64> = errors.into_iter().collect();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = ((errors.len() as f64 * share).ceil() as usize).max(1) - 1;
            errors.get(place).copied().unwrap_or_default()
        };
        Spread {
            median: at(0.5),
            ninth: at(0.9),
        }
    }
}

impl Calibration {
    /// Half of the predicted scans of blocks in memory were off by no more, as a share of
    /// what was measured; `None` of a machine file that does not say.
    pub fn error(&self) -> Option<f64> {
        self.stated.map(|stated| stated.hot.median)
    }

    /// Reads a machine file.
    ///
    /// # Errors
    /// If it is none, or a number in it cannot be.
    pub fn read(text: &str) -> Result<Calibration> {
        let found: Calibration = serde_json::from_str(text).map_err(|error| Error {
            message: format!("this is no machine file: {error}"),
            hint: "`freestone calibrate` writes one",
        })?;
        found.machine.check()?;
        let wrong = found.operators.iter().find(|(_, cost)| **cost < 0.0);
        match wrong {
            Some((name, cost)) => Err(Error {
                message: format!("an operator takes no {cost} ns a row: {name}"),
                hint: "measure it again",
            }),
            None => Ok(found),
        }
    }

    /// Nanoseconds of one thread for each row that comes into an operator, measured or as
    /// usual; none of one that nobody knows.
    pub fn operator(&self, name: &str) -> f64 {
        let measured = self.operators.get(name).copied();
        measured.unwrap_or_else(|| operators::usual(name))
    }

    /// Constants of the machine that Freestone was made on, for databases whose machine
    /// was not measured.
    ///
    /// # Errors
    /// None; as [`Calibration::read`].
    pub fn reference() -> Result<Calibration> {
        Calibration::read(include_str!("reference.json"))
    }

    /// The machine file.
    ///
    /// # Errors
    /// If a number cannot be written, as infinity.
    pub fn written(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Error {
            message: format!(
                "machine \"{}\" cannot be written: {error}",
                self.machine.name
            ),
            hint: "measure it again",
        })
    }
}

#[cfg(test)]
mod tests;
