//! Rates of operators and scanners, and of chains of them (H9, equations 5 to 8).

use crate::machine::Machine;

/// Tuples a second. Infinite is a part of a plan that costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

impl Rate {
    /// What costs nothing.
    pub const FREE: Rate = Rate(f64::INFINITY);

    /// An operator that takes so many cycles for each tuple (equation 7).
    pub fn of_cycles(machine: &Machine, cycles: f64) -> Rate {
        Rate(machine.clock / cycles)
    }

    /// Two parts that every tuple passes, one after the other: as two resistors in
    /// parallel (equation 5), so 4 and 6 tuples a second make 2.4.
    #[must_use]
    pub fn then(self, other: Rate) -> Rate {
        Rate(1.0 / (1.0 / self.0 + 1.0 / other.0))
    }

    /// A chain of parts (equation 6); [`Rate::FREE`] of none.
    pub fn chain(parts: impl IntoIterator<Item = Rate>) -> Rate {
        parts.into_iter().fold(Rate::FREE, Rate::then)
    }

    /// The lesser of two rates.
    #[must_use]
    pub fn at_most(self, other: Rate) -> Rate {
        Rate(self.0.min(other.0))
    }

    /// Seconds for so many tuples.
    pub fn seconds(self, tuples: f64) -> f64 {
        tuples / self.0
    }
}

/// What a scanner asks of a machine for each tuple.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scanner {
    /// Cycles that the system takes to bring it.
    pub system_cycles: f64,
    /// Cycles of the scanner itself.
    pub user_cycles: f64,
    /// Bytes that come from memory in sequence.
    pub bytes: f64,
}

impl Scanner {
    /// Its rate (equation 8): the system's work, and then the slower of the scanner's
    /// own and the memory's.
    pub fn rate(&self, machine: &Machine) -> Rate {
        let user = Rate::of_cycles(machine, self.user_cycles).at_most(self.memory(machine));
        Rate::of_cycles(machine, self.system_cycles).then(user)
    }

    /// The rate at which memory brings what it reads.
    pub fn memory(&self, machine: &Machine) -> Rate {
        Rate(machine.clock * machine.memory_bytes_per_cycle / self.bytes)
    }

    /// Whether it waits for memory.
    pub fn waits_for_memory(&self, machine: &Machine) -> bool {
        self.memory(machine) < Rate::of_cycles(machine, self.user_cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's example.
    #[test]
    fn four_and_six_make_two_point_four() {
        assert!((Rate(4.0).then(Rate(6.0)).0 - 2.4).abs() < 1e-12);
        assert_eq!(Rate::chain([]), Rate::FREE);
        assert_eq!(Rate::FREE.then(Rate(7.0)), Rate(7.0));
    }

    /// 128 bytes arrive in 128 cycles on the paper's machine: a tuple of 150 bytes that
    /// takes less than 150 cycles waits for memory.
    #[test]
    fn scanners_wait_for_memory_when_they_compute_little() {
        let machine = Machine::of_the_paper();
        let scanner = |user_cycles| Scanner {
            system_cycles: 50.0,
            user_cycles,
            bytes: 150.0,
        };
        assert!(scanner(100.0).waits_for_memory(&machine));
        assert!(!scanner(200.0).waits_for_memory(&machine));
        let waiting = scanner(100.0).rate(&machine).0;
        assert!((waiting - 3.2e9 / 200.0).abs() < 1.0);
        let computing = scanner(200.0).rate(&machine).0;
        assert!((computing - 3.2e9 / 250.0).abs() < 1.0);
    }
}
