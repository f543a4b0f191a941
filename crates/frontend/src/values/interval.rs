//! Intervals: months, days and microseconds, which are kept apart.

use std::cmp::Ordering;

use arrow_buffer::IntervalMonthDayNano;

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;

/// An interval. Two are equal if they are equally long with months of 30 days and days of
/// 24 hours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

impl Interval {
    /// The length in microseconds, by which intervals are compared.
    pub fn length(&self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }
}

impl From<IntervalMonthDayNano> for Interval {
    fn from(value: IntervalMonthDayNano) -> Self {
        Self {
            months: value.months,
            days: value.days,
            micros: value.nanoseconds / 1000,
        }
    }
}

impl From<Interval> for IntervalMonthDayNano {
    /// Microseconds beyond 292 years become the most that fits.
    fn from(value: Interval) -> Self {
        Self::new(value.months, value.days, value.micros.saturating_mul(1000))
    }
}

impl PartialEq for Interval {
    fn eq(&self, other: &Self) -> bool {
        self.length() == other.length()
    }
}

impl Eq for Interval {}

impl PartialOrd for Interval {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Interval {
    fn cmp(&self, other: &Self) -> Ordering {
        self.length().cmp(&other.length())
    }
}
