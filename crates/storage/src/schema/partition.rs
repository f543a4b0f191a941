//! Tables of which no block has rows of two ranges of a column.

use super::{TableOptions, Value};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;

/// How many ranges a table may have.
const RANGES: RangeInclusive<u16> = 2..=256;

/// The option `partition_by`: ranges of a column, and where they begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Partitioning {
    /// The column.
    pub column: String,
    /// Ranges at most, from 2 to 256.
    pub ranges: u16,
    /// Where each range but the first begins: ascending, distinct, fewer than
    /// `ranges`. None as long as they are not known; then blocks are not cut by them.
    pub bounds: Vec<Value>,
}

// No bound is NaN.
impl Eq for Partitioning {}

impl Partitioning {
    /// Ranges of a column whose bounds are not known.
    pub fn new(column: impl Into<String>, ranges: u16) -> Partitioning {
        Partitioning {
            column: column.into(),
            ranges,
            bounds: Vec::new(),
        }
    }

    /// Whether it is known where ranges begin.
    pub fn is_known(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// The same, of which it is not known where ranges begin.
    #[must_use]
    pub fn without_bounds(&self) -> Partitioning {
        Partitioning::new(&self.column, self.ranges)
    }

    /// Reads `range(column, n)`.
    fn parse(text: &str) -> Option<Partitioning> {
        let text = text.trim();
        let (word, rest) = text.split_at_checked("range".len())?;
        let inner = rest.trim_start().strip_prefix('(')?.strip_suffix(')')?;
        let (column, ranges) = inner.rsplit_once(',')?;
        let ranges = ranges.trim().parse().ok()?;
        let column = unquoted(column.trim())?;
        let fits = word.eq_ignore_ascii_case("range") && RANGES.contains(&ranges);
        fits.then(|| Partitioning::new(column, ranges))
    }
}

/// A column's name, which may be in quotes.
fn unquoted(text: &str) -> Option<String> {
    let quoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let (name, quotes) = match quoted {
        Some(inner) => (inner.replace("\"\"", "\u{0}"), true),
        None => (text.to_owned(), false),
    };
    let strange = |c: char| c == '"' || !quotes && matches!(c, '(' | ')' | ',');
    let name = (!name.is_empty() && !name.contains(strange)).then_some(name)?;
    Some(name.replace('\u{0}', "\""))
}

impl fmt::Display for Partitioning {
    /// As [`TableOptions::set`] reads it; bounds are not in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        match self.column.chars().all(plain) {
            true => write!(f, "range({}, {})", self.column, self.ranges),
            false => {
                let name = self.column.replace('"', "\"\"");
                write!(f, "range(\"{name}\", {})", self.ranges)
            }
        }
    }
}

impl TableOptions {
    /// Sets `partition_by`; ranges that the table has already keep their bounds.
    pub(super) fn set_partitioning(&mut self, value: &str) -> Result<()> {
        if value.trim().is_empty() {
            self.partition_by = None;
            return Ok(());
        }
        let given = Partitioning::parse(value).ok_or_else(|| {
            let (least, most) = (RANGES.start(), RANGES.end());
            Error::invalid("22023", format!("partition_by cannot be \"{value}\"")).with_hint(
                format!("Give 'range(column, n)' with n from {least} to {most}, or '' for none."),
            )
        })?;
        let same = |known: &Partitioning| known.without_bounds() == given;
        if !self.partition_by.as_ref().is_some_and(same) {
            self.partition_by = Some(given);
        }
        Ok(())
    }

    /// Whether others are the same, but for bounds of ranges: those are found by
    /// themselves.
    pub(crate) fn same_but_bounds(&self, other: &TableOptions) -> bool {
        let plain = |options: &TableOptions| TableOptions {
            partition_by: options
                .partition_by
                .as_ref()
                .map(Partitioning::without_bounds),
            ..options.clone()
        };
        plain(self) == plain(other)
    }
}

/// A [`Partitioning`] in a manifest.
#[derive(Serialize, Deserialize)]
struct Stored {
    column: String,
    ranges: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bounds: Vec<StoredValue>,
}

/// A bound in a manifest; JSON has no integers of 128 bits and no exact floats.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredValue {
    Bool(bool),
    /// In decimal digits.
    Int(String),
    /// The bits of a double, as an integer.
    Float(u64),
    /// Hexadecimal.
    Bytes(String),
}

impl From<Partitioning> for Stored {
    fn from(partitioning: Partitioning) -> Stored {
        let stored = |value: Value| match value {
            Value::Bool(value) => StoredValue::Bool(value),
            Value::Int(value) => StoredValue::Int(value.to_string()),
            Value::Float(value) => StoredValue::Float(value.to_bits()),
            Value::Bytes(bytes) => {
                let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
                StoredValue::Bytes(digits.collect())
            }
        };
        Stored {
            column: partitioning.column,
            ranges: partitioning.ranges,
            bounds: partitioning.bounds.into_iter().map(stored).collect(),
        }
    }
}

impl TryFrom<Stored> for Partitioning {
    type Error = String;

    fn try_from(stored: Stored) -> std::result::Result<Partitioning, String> {
        let bounds = stored.bounds.into_iter().map(opened);
        let bounds: Option<Vec<Value>> = bounds.collect();
        let bounds = bounds.ok_or("a bound of ranges that is no value")?;
        let ascends = |pair: &[Value]| match pair {
            [one, next] => one.compare(next).is_some_and(|order| order.is_lt()),
            _ => false,
        };
        let whole = bounds.len() < usize::from(stored.ranges)
            && bounds.windows(2).all(ascends)
            && !bounds.iter().any(Value::is_nan);
        match whole && RANGES.contains(&stored.ranges) {
            true => Ok(Partitioning {
                column: stored.column,
                ranges: stored.ranges,
                bounds,
            }),
            false => Err(format!(
                "{} bounds of {} ranges that are not in order",
                bounds.len(),
                stored.ranges
            )),
        }
    }
}

fn opened(stored: StoredValue) -> Option<Value> {
    Some(match stored {
        StoredValue::Bool(value) => Value::Bool(value),
        StoredValue::Int(digits) => Value::Int(digits.parse().ok()?),
        StoredValue::Float(bits) => Value::Float(f64::from_bits(bits)),
        StoredValue::Bytes(digits) => {
            let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
            let bytes = (0..digits.len()).step_by(2).map(byte);
            Value::Bytes(bytes.collect::<Option<Vec<u8>>>()?)
        }
    })
}

#[cfg(test)]
mod tests;
