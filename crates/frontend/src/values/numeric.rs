//! NUMERIC values of any number of digits, each with a scale of its own.

use std::cmp::Ordering;
use std::fmt;

use crate::error::{Error, Result};

/// A NUMERIC value.
#[derive(Clone, Debug)]
pub struct Numeric {
    value: i128,
    scale: u32,
}

impl Numeric {
    /// `value` times ten to the power of `-scale`, shown with `scale` digits.
    pub fn new(value: i128, scale: u32) -> Self {
        Self { value, scale }
    }

    /// Digits that are shown behind the point.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Reads PostgreSQL's text form.
    ///
    /// # Errors
    /// `22P02`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::new(
                "22P02",
                format!("invalid input syntax for type numeric: \"{text}\""),
            )
        };
        let trimmed = text.trim();
        let (whole, fraction) = trimmed.split_once('.').unwrap_or((trimmed, ""));
        let digits = format!("{whole}{fraction}");
        let value = digits.parse().map_err(|_| bad())?;
        Ok(Self::new(value, fraction.len() as u32))
    }

    /// Bytes whose order is that of the values, but for the scale at their end.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.value.to_le_bytes().to_vec();
        bytes.extend(self.scale.to_le_bytes());
        bytes
    }

    /// The value of [`encode`](Self::encode)'s bytes.
    pub fn decode(bytes: &[u8]) -> Self {
        let value = bytes.get(..16).and_then(|b| b.try_into().ok());
        let scale = bytes.get(16..20).and_then(|b| b.try_into().ok());
        Self::new(
            value.map_or(0, i128::from_le_bytes),
            scale.map_or(0, u32::from_le_bytes),
        )
    }

    /// The integer it is with `scale` digits behind the point, rounded half away from zero;
    /// `None` if it is too large or no number.
    pub fn to_i128(&self, scale: u32) -> Option<i128> {
        if scale >= self.scale {
            return self
                .value
                .checked_mul(10i128.checked_pow(scale - self.scale)?);
        }
        let factor = 10i128.checked_pow(self.scale - scale)?;
        let half = factor / 2 * self.value.signum();
        Some((self.value + half) / factor)
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.value < 0 { "-" } else { "" };
        let digits = self.value.unsigned_abs().to_string();
        let scale = self.scale as usize;
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        match fraction {
            "" => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Numeric {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.to_i128(scale).cmp(&other.to_i128(scale))
    }
}
