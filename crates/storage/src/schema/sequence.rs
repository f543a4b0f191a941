//! Sequences as declared: which numbers there are, and which come next.

use super::ColumnType;
use crate::error::{Error, Result};
use crate::ids::{SequenceId, TableId};
use serde::{Deserialize, Serialize};

/// What makes a column an identity column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The sequence that its default takes numbers of; it goes when the column goes.
    pub sequence: SequenceId,
    /// GENERATED ALWAYS: statements give no values of their own.
    pub always: bool,
    /// Declared SERIAL: clients are told of a default, and not of an identity column.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub serial: bool,
}

/// Which numbers a sequence gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceDefinition {
    /// SMALLINT, INTEGER or BIGINT.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// The first number.
    pub start: i64,
    /// From one number to the next; never 0.
    pub increment: i64,
    /// The least number.
    pub min: i64,
    /// The greatest number.
    pub max: i64,
    /// Whether it begins again at its end.
    pub cycle: bool,
    /// Numbers that are to be reserved at once, at least.
    pub cache: u64,
    /// Table and column that it goes with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<(TableId, String)>,
}

/// Where a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequencePosition {
    /// A number,
    pub value: i64,
    /// which was given, or else is the next.
    pub given: bool,
}

/// Numbers of a sequence that follow each other; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    first: i64,
    increment: i64,
    count: u64,
}

impl Numbers {
    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The last of them.
    pub fn last(&self) -> i64 {
        self.at(self.count.saturating_sub(1))
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = i64> + use<> {
        let numbers = *self;
        (0..numbers.count).map(move |place| numbers.at(place))
    }

    fn at(&self, place: u64) -> i64 {
        // They were counted so that all lie between minimum and maximum.
        let distance = i128::from(self.increment) * i128::from(place);
        (i128::from(self.first) + distance) as i64
    }
}

impl SequenceDefinition {
    /// All numbers of a type from 1 on, or from -1 down.
    pub fn of_type(kind: ColumnType, increment: i64) -> SequenceDefinition {
        let (least, greatest) = range(&kind);
        let (min, max) = match increment < 0 {
            false => (1, greatest),
            true => (least, -1),
        };
        let mut definition = SequenceDefinition {
            kind,
            start: 0,
            increment,
            min,
            max,
            cycle: false,
            cache: 1,
            owner: None,
        };
        definition.start = definition.first_of_all();
        definition
    }

    /// Where it starts unless told otherwise, and where a cycle begins again.
    pub fn first_of_all(&self) -> i64 {
        if self.increment < 0 {
            self.max
        } else {
            self.min
        }
    }

    /// Before its first number.
    pub fn beginning(&self) -> SequencePosition {
        SequencePosition {
            value: self.start,
            given: false,
        }
    }

    /// Checks that there are such numbers.
    ///
    /// # Errors
    /// 22023.
    pub fn check(&self) -> Result<()> {
        let (least, greatest) = range(&self.kind);
        let invalid = |message: String| Err(Error::invalid("22023", message));
        if self.increment == 0 {
            return invalid("INCREMENT must not be zero".into());
        }
        if self.cache == 0 {
            return invalid("CACHE must be greater than zero".into());
        }
        for (name, value) in [("MINVALUE", self.min), ("MAXVALUE", self.max)] {
            if value < least || value > greatest {
                let kind = &self.kind;
                return invalid(format!(
                    "{name} ({value}) is out of range for sequence data type {kind}"
                ));
            }
        }
        let (min, max, start) = (self.min, self.max, self.start);
        if min >= max {
            return invalid(format!(
                "MINVALUE ({min}) must be less than MAXVALUE ({max})"
            ));
        }
        if start < min {
            return invalid(format!(
                "START value ({start}) cannot be less than MINVALUE ({min})"
            ));
        }
        if start > max {
            return invalid(format!(
                "START value ({start}) cannot be greater than MAXVALUE ({max})"
            ));
        }
        Ok(())
    }

    /// Up to `wanted` numbers after a position, as far as the end of a cycle; `None`
    /// if there are no more.
    pub fn after(&self, position: SequencePosition, wanted: u64) -> Option<Numbers> {
        let (min, max) = (i128::from(self.min), i128::from(self.max));
        let step = i128::from(self.increment);
        let mut first = i128::from(position.value);
        if position.given {
            first += step;
        }
        if first < min || first > max {
            if !self.cycle {
                return None;
            }
            first = i128::from(self.first_of_all());
        }
        let end = if step < 0 { min } else { max };
        let all = (end - first).checked_div(step)? + 1;
        let count = all.min(i128::from(wanted.max(1)));
        Some(Numbers {
            first: i64::try_from(first).ok()?,
            increment: self.increment,
            count: u64::try_from(count).ok()?,
        })
    }
}

/// The least and the greatest number of a type.
fn range(kind: &ColumnType) -> (i64, i64) {
    match kind {
        ColumnType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        ColumnType::Integer => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(value: i64) -> SequencePosition {
        SequencePosition { value, given: true }
    }

    fn taken(definition: &SequenceDefinition, from: SequencePosition, wanted: u64) -> Vec<i64> {
        let numbers = definition.after(from, wanted);
        numbers.map_or_else(Vec::new, |numbers| numbers.iter().collect())
    }

    #[test]
    fn numbers_end_where_the_type_does() {
        let up = SequenceDefinition::of_type(ColumnType::BigInt, 10);
        assert_eq!(taken(&up, up.beginning(), 3), [1, 11, 21]);
        assert_eq!(taken(&up, given(i64::MAX - 10), 3), [i64::MAX]);
        assert_eq!(taken(&up, given(i64::MAX - 9), 3), [0; 0]);
        let down = SequenceDefinition::of_type(ColumnType::SmallInt, -1);
        assert_eq!(taken(&down, down.beginning(), 2), [-1, -2]);
        assert_eq!(taken(&down, given(-32767), 9), [-32768]);
        assert_eq!(taken(&down, given(-32768), 9), [0; 0]);
    }

    #[test]
    fn a_cycle_begins_again_at_its_least_number() {
        let mut definition = SequenceDefinition::of_type(ColumnType::Integer, 3);
        (definition.min, definition.max, definition.cycle) = (2, 9, true);
        definition.start = 4;
        assert_eq!(taken(&definition, definition.beginning(), 99), [4, 7]);
        assert_eq!(taken(&definition, given(7), 99), [2, 5, 8]);
        assert_eq!(taken(&definition, given(8), 2), [2, 5]);
        definition.increment = -3;
        assert_eq!(taken(&definition, given(3), 99), [9, 6, 3]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = SequenceDefinition::of_type(ColumnType::Integer, 1);
        assert!(good.check().is_ok());
        let refused = |change: fn(&mut SequenceDefinition)| {
            let mut bad = good.clone();
            change(&mut bad);
            bad.check().unwrap_err().to_string()
        };
        assert!(refused(|d| d.increment = 0).contains("INCREMENT must not be zero"));
        assert!(refused(|d| d.max = 1).contains("must be less than MAXVALUE"));
        assert!(refused(|d| d.start = 0).contains("cannot be less than"));
        assert!(refused(|d| d.max = 1 << 40).contains("out of range for sequence data type"));
        assert!(refused(|d| d.cache = 0).contains("CACHE"));
    }
}
