//! Intervals: months, days and microseconds, which are kept apart.
//!
//! A month has no fixed number of days, and a day of summer time none of hours. Where both have
//! to be compared, a month is 30 days and a day is 24 hours. A fraction that a product leaves
//! of a month becomes days, and one of a day becomes time.

use std::cmp::Ordering;

use arrow_buffer::IntervalMonthDayNano;

use super::datetime::interval_out_of_range;
use crate::error::{Error, Result};

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
    /// An interval of its parts.
    pub fn new(months: i32, days: i32, micros: i64) -> Self {
        Self {
            months,
            days,
            micros,
        }
    }

    /// The length in microseconds, by which intervals are compared.
    pub fn length(&self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }

    /// The sum, part by part.
    ///
    /// # Errors
    /// `22008`.
    pub fn plus(&self, other: &Self) -> Result<Self> {
        let sum = || {
            Some(Self {
                months: self.months.checked_add(other.months)?,
                days: self.days.checked_add(other.days)?,
                micros: self.micros.checked_add(other.micros)?,
            })
        };
        sum().ok_or_else(interval_out_of_range)
    }

    /// The difference, part by part.
    ///
    /// # Errors
    /// `22008`.
    pub fn minus(&self, other: &Self) -> Result<Self> {
        let difference = || {
            Some(Self {
                months: self.months.checked_sub(other.months)?,
                days: self.days.checked_sub(other.days)?,
                micros: self.micros.checked_sub(other.micros)?,
            })
        };
        difference().ok_or_else(interval_out_of_range)
    }

    /// The interval with the other sign.
    ///
    /// # Errors
    /// `22008`.
    pub fn negated(&self) -> Result<Self> {
        Self::default().minus(self)
    }

    /// The interval `factor` times. Fractions of months become days, and those of days time.
    ///
    /// # Errors
    /// `22008`.
    pub fn times(&self, factor: f64) -> Result<Self> {
        self.scaled(|part| part * factor)
    }

    /// The interval divided by a number. Fractions spill as in [`times`](Self::times).
    ///
    /// # Errors
    /// `22008`; `22012` for zero.
    pub fn over(&self, divisor: f64) -> Result<Self> {
        if divisor == 0.0 {
            return Err(Error::new("22012", "division by zero"));
        }
        self.scaled(|part| part / divisor)
    }

    fn scaled(&self, scale: impl Fn(f64) -> f64) -> Result<Self> {
        let out = interval_out_of_range;
        // The sixth decimal of a second is the last that counts.
        let rounded = |value: f64| (value * 1e6).round_ties_even() / 1e6;
        let whole = |value: f64| {
            let fits = value >= f64::from(i32::MIN) && value < 2_147_483_648.0;
            fits.then_some(value as i32).ok_or_else(out)
        };
        let exact_months = scale(f64::from(self.months));
        let exact_days = scale(f64::from(self.days));
        let months = whole(exact_months)?;
        let mut days = whole(exact_days)?;
        let of_month = rounded((exact_months - f64::from(months)) * 30.0);
        let whole_of_month = of_month.trunc();
        let rest = exact_days - f64::from(days) + of_month - whole_of_month;
        let mut seconds = rounded(rest * 86_400.0);
        if seconds.abs() >= 86_400.0 {
            let more = (seconds / 86_400.0).trunc();
            days = days.checked_add(more as i32).ok_or_else(out)?;
            seconds -= more * 86_400.0;
        }
        days = days.checked_add(whole_of_month as i32).ok_or_else(out)?;
        let micros = (scale(self.micros as f64) + seconds * 1e6).round_ties_even();
        if !(micros >= i64::MIN as f64 && micros < i64::MAX as f64) {
            return Err(out());
        }
        Ok(Self {
            months,
            days,
            micros: micros as i64,
        })
    }

    /// With whole days of the time among the days.
    ///
    /// # Errors
    /// `22008`.
    pub fn justified_hours(&self) -> Result<Self> {
        let more = i32::try_from(self.micros / DAY).ok();
        let days = more.and_then(|more| self.days.checked_add(more));
        let mut span = Self {
            days: days.ok_or_else(interval_out_of_range)?,
            micros: self.micros % DAY,
            ..*self
        };
        if span.days > 0 && span.micros < 0 {
            span.micros += DAY;
            span.days -= 1;
        } else if span.days < 0 && span.micros > 0 {
            span.micros -= DAY;
            span.days += 1;
        }
        Ok(span)
    }

    /// With whole months of the days among the months.
    ///
    /// # Errors
    /// `22008`.
    pub fn justified_days(&self) -> Result<Self> {
        let months = self.months.checked_add(self.days / 30);
        let mut span = Self {
            months: months.ok_or_else(interval_out_of_range)?,
            days: self.days % 30,
            ..*self
        };
        if span.months > 0 && span.days < 0 {
            span.days += 30;
            span.months -= 1;
        } else if span.months < 0 && span.days > 0 {
            span.days -= 30;
            span.months += 1;
        }
        Ok(span)
    }

    /// With whole days of the time, whole months of the days, and one sign.
    ///
    /// # Errors
    /// `22008`.
    pub fn justified(&self) -> Result<Self> {
        let out = interval_out_of_range;
        let mut days = i64::from(self.days);
        let mut months = i64::from(self.months);
        let mut micros = self.micros;
        let more = |days: &mut i64, months: &mut i64| {
            *months += *days / 30;
            *days %= 30;
        };
        // Days and time of one sign may hold a month before the time is split.
        if days > 0 && micros > 0 || days < 0 && micros < 0 {
            more(&mut days, &mut months);
        }
        days += micros / DAY;
        micros %= DAY;
        more(&mut days, &mut months);
        if months > 0 && (days < 0 || days == 0 && micros < 0) {
            days += 30;
            months -= 1;
        } else if months < 0 && (days > 0 || days == 0 && micros > 0) {
            days -= 30;
            months += 1;
        }
        if days > 0 && micros < 0 {
            micros += DAY;
            days -= 1;
        } else if days < 0 && micros > 0 {
            micros -= DAY;
            days += 1;
        }
        Ok(Self {
            months: i32::try_from(months).map_err(|_| out())?,
            days: i32::try_from(days).map_err(|_| out())?,
            micros,
        })
    }

    /// The difference of two timestamps, in days and time.
    ///
    /// # Errors
    /// `22008`.
    pub fn between(later: i64, earlier: i64) -> Result<Self> {
        if !super::datetime::calendar::is_finite(later)
            || !super::datetime::calendar::is_finite(earlier)
        {
            return Err(Error::new("22008", "cannot subtract infinite timestamps"));
        }
        let micros = later
            .checked_sub(earlier)
            .ok_or_else(interval_out_of_range)?;
        Self::new(0, 0, micros).justified_hours()
    }

    /// Whether an Arrow array can hold it: its time is at most 292 years.
    pub fn is_storable(&self) -> bool {
        self.micros.checked_mul(1000).is_some()
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
