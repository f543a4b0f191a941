//! How large experiments are, and how often they measure.

use crate::error::{Error, Result};
use crate::sql::Sql;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// How much an experiment does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// A few seconds: tables that leave the caches.
    Quick,
    /// As large as the documents, where memory allows it.
    Full,
    /// Tables so many times as large as those of [`Scale::Quick`], from 1, and none larger
    /// than those of [`Scale::Full`].
    Times(f64),
}

impl FromStr for Scale {
    type Err = Error;

    /// Reads `quick`, `full`, or a number from 1.
    fn from_str(text: &str) -> Result<Scale> {
        match (text, text.parse::<f64>()) {
            ("quick", _) => Ok(Scale::Quick),
            ("full", _) => Ok(Scale::Full),
            (_, Ok(factor)) if factor.is_finite() && factor >= 1.0 => Ok(Scale::Times(factor)),
            _ => Err(Error::new(
                format!("\"{text}\" is no scale"),
                "give quick, full, or how many times as large as quick, from 1",
            )),
        }
    }
}

/// As it is read.
impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scale::Quick => f.write_str("quick"),
            Scale::Full => f.write_str("full"),
            Scale::Times(factor) => factor.fmt(f),
        }
    }
}

/// What all experiments of a run have in common.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How much they do.
    pub scale: Scale,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Directory for files that an experiment needs while it runs.
    pub scratch: PathBuf,
    /// Threads of experiments that use several.
    pub threads: usize,
    /// Bytes of memory that an experiment may fill.
    pub memory: u64,
    /// What makes databases that are asked by SQL.
    pub sql: Option<Arc<dyn Sql>>,
}

impl Setting {
    /// `quick` or `full`, by the scale; between them, if it is a factor.
    pub(crate) fn by_scale<T: Extent>(&self, quick: T, full: T) -> T {
        match self.scale {
            Scale::Quick => quick,
            Scale::Full => full,
            Scale::Times(factor) => quick.times(factor, full),
        }
    }

    /// `quick` or `full` of what is no size of a table, as how often is measured: `quick`
    /// at every scale but the full one.
    pub(crate) fn by_extreme<T>(&self, quick: T, full: T) -> T {
        match self.scale {
            Scale::Quick | Scale::Times(_) => quick,
            Scale::Full => full,
        }
    }

    /// How often each point is measured; the documents measure three to five times.
    pub fn repetitions(&self) -> usize {
        5
    }

    /// Three times as often, for what takes little time and differs by little.
    pub(crate) fn many_repetitions(&self) -> usize {
        3 * self.repetitions()
    }

    /// What makes databases.
    ///
    /// # Errors
    /// If whoever runs the lab gave nothing.
    pub fn sql(&self) -> Result<&Arc<dyn Sql>> {
        self.sql.as_ref().ok_or_else(|| {
            let hint = "run it as `freestone lab run`";
            Error::new("the experiment asks by SQL, which this lab has not", hint)
        })
    }
}

/// What may grow with the scale.
pub(crate) trait Extent {
    /// So many times as much, and not more than `full`; what `full` has less of stays.
    fn times(self, factor: f64, full: Self) -> Self;
}

impl Extent for f64 {
    fn times(self, factor: f64, full: f64) -> f64 {
        (self * factor).min(full.max(self))
    }
}

impl Extent for u64 {
    fn times(self, factor: f64, full: u64) -> u64 {
        ((self as f64 * factor) as u64).min(full.max(self))
    }
}

impl Extent for usize {
    fn times(self, factor: f64, full: usize) -> usize {
        ((self as f64 * factor) as usize).min(full.max(self))
    }
}

impl<T: Extent, const N: usize> Extent for [T; N] {
    fn times(self, factor: f64, full: [T; N]) -> [T; N] {
        let mut full = full.into_iter();
        self.map(|quick| match full.next() {
            Some(full) => quick.times(factor, full),
            None => quick,
        })
    }
}

/// The places of an axis are no sizes.
impl<T> Extent for Vec<T> {
    fn times(self, _factor: f64, _full: Vec<T>) -> Vec<T> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(scale: &str) -> Setting {
        Setting {
            scale: scale.parse().unwrap(),
            seed: 1,
            scratch: PathBuf::new(),
            threads: 1,
            memory: 1,
            sql: None,
        }
    }

    #[test]
    fn a_factor_lies_between_quick_and_full() {
        for (scale, rows) in [
            ("quick", 100),
            ("1", 100),
            ("2.5", 250),
            ("10", 1_000),
            ("1e9", 1_000),
            ("full", 1_000),
        ] {
            let setting = setting(scale);
            assert_eq!(setting.by_scale(100_u64, 1_000), rows, "{scale}");
            assert_eq!(setting.by_scale([100_usize], [1_000])[0] as u64, rows);
            assert_eq!(setting.by_scale(0.1, 1.0), rows as f64 / 1e3, "{scale}");
            assert_eq!(
                setting.scale.to_string().parse::<Scale>().unwrap(),
                setting.scale
            );
        }
    }

    #[test]
    fn what_is_no_size_does_not_grow() {
        let setting = setting("3");
        assert_eq!(setting.by_scale(8_usize, 4), 8, "fewer runs at full scale");
        assert_eq!(setting.by_scale(vec![1, 2], vec![1, 2, 3]), [1, 2]);
        assert_eq!(setting.by_extreme(7, 9), 7);
    }

    #[test]
    fn scales_are_words_or_numbers() {
        for wrong in ["", "Quick", "0.5", "0", "-2", "nan", "inf", "two"] {
            let error = wrong.parse::<Scale>().unwrap_err().to_string();
            assert!(error.ends_with("from 1)"), "{error}");
        }
    }
}
