//! A machine in numbers.

use crate::error::{Result, positive};
use serde::{Deserialize, Serialize};

/// What a query has of a machine: all cores and all disks together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is called.
    pub name: String,
    /// Cycles a second.
    pub clock: f64,
    /// Bytes that arrive from memory in a cycle, read in sequence.
    pub memory_bytes_per_cycle: f64,
    /// Cycles until a value at a random place of memory is there.
    pub miss_cycles: f64,
    /// Bytes a second that the disks deliver in sequence.
    pub disk_bandwidth: f64,
    /// Seconds until a disk delivers from another place.
    pub seek_seconds: f64,
}

impl Machine {
    /// The machine of H: 3.2 GHz, 180 MB/s from three disks, 128 bytes per 128 cycles from
    /// memory, 380 cycles for a random miss, seeks of 5 to 10 ms.
    pub fn of_the_paper() -> Machine {
        Machine {
            name: "one processor and three disks of 2006".to_owned(),
            clock: 3.2e9,
            memory_bytes_per_cycle: 1.0,
            miss_cycles: 380.0,
            disk_bandwidth: 180e6,
            seek_seconds: 7.5e-3,
        }
    }

    /// Cycles that pass while the disks deliver a byte: the one number by which a machine
    /// favours rows (low) or columns (high); 20 to 400 are usual.
    pub fn cpdb(&self) -> f64 {
        self.clock / self.disk_bandwidth
    }

    /// The same machine with disks that give it so many cycles per disk byte.
    #[must_use]
    pub fn with_cpdb(&self, cpdb: f64) -> Machine {
        Machine {
            disk_bandwidth: self.clock / cpdb,
            ..self.clone()
        }
    }

    /// Whether its numbers can be a machine's.
    ///
    /// # Errors
    /// If one is not above zero.
    pub fn check(&self) -> Result<()> {
        let numbers = [
            ("clock", self.clock),
            ("memory_bytes_per_cycle", self.memory_bytes_per_cycle),
            ("miss_cycles", self.miss_cycles),
            ("disk_bandwidth", self.disk_bandwidth),
            ("seek_seconds", self.seek_seconds),
        ];
        for (name, value) in numbers {
            positive(name, value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper rates its machine at 18, with one of its three disks at 54.
    #[test]
    fn cycles_per_disk_byte() {
        let three = Machine::of_the_paper();
        assert_eq!(three.cpdb().round(), 18.0);
        let one = Machine {
            disk_bandwidth: three.disk_bandwidth / 3.0,
            ..three.clone()
        };
        assert_eq!(one.cpdb().round(), 53.0);
        assert!((three.with_cpdb(108.0).cpdb() - 108.0).abs() < 1e-9);
    }

    #[test]
    fn numbers_are_above_zero() {
        let machine = Machine::of_the_paper();
        assert_eq!(machine.check(), Ok(()));
        for clock in [0.0, -1.0, f64::NAN] {
            let wrong = Machine {
                clock,
                ..machine.clone()
            };
            assert!(wrong.check().unwrap_err().message.contains("clock"));
        }
    }
}
