//! Passed, failed, skipped: read from a runner's closing line, added, printed.

use std::fmt;
use std::ops::{Add, AddAssign};

/// What a test runner reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl Counts {
    /// A step that is one test by itself.
    pub fn one(success: bool) -> Counts {
        Counts {
            passed: u64::from(success),
            failed: u64::from(!success),
            skipped: 0,
        }
    }

    /// Reads the closing line of cargo's test harness or of our own runners;
    /// any other line counts nothing.
    pub fn read(line: &str) -> Counts {
        let cargo = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
            .map(|(_, rest)| rest);
        let (text, separator, names) = match cargo {
            Some(rest) => (rest, "; ", ["passed", "failed", "ignored"]),
            None => (line, ", ", ["passed", "failed", "skipped"]),
        };
        let mut parts = text.trim_end().split(separator);
        let mut numbers = [0; 3];
        for (number, name) in numbers.iter_mut().zip(names) {
            let value = parts
                .next()
                .and_then(|part| part.strip_suffix(name))
                .and_then(|digits| digits.strip_suffix(' '))
                .and_then(|digits| digits.parse().ok());
            match value {
                Some(value) => *number = value,
                None => return Counts::default(),
            }
        }
        let [passed, failed, skipped] = numbers;
        Counts {
            passed,
            failed,
            skipped,
        }
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = *self + other;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_closing_lines() {
        let cargo = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s";
        let expected = Counts {
            passed: 12,
            failed: 3,
            skipped: 1,
        };
        assert_eq!(Counts::read(cargo), expected);
        assert_eq!(Counts::read("12 passed, 3 failed, 1 skipped"), expected);
        assert_eq!(Counts::read(&expected.to_string()), expected);
    }

    #[test]
    fn other_lines_count_nothing() {
        for line in [
            "",
            "12 passed",
            "test a ... ok",
            "x passed, 1 failed, 2 skipped",
            "file: 3 passed, 0 failed, 1 skipped",
        ] {
            assert_eq!(Counts::read(line), Counts::default(), "{line}");
        }
    }
}
