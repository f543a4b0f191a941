//! Bounds of the dimensions of an array.

use crate::error::{Error, Result};

/// The lengths of an array's dimensions and where their subscripts begin; none if the array is
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The length of each dimension, at least 1.
    pub lengths: Vec<usize>,
    /// The least subscript of each dimension.
    pub lows: Vec<i32>,
}

impl Bounds {
    /// Those of an array of one dimension that begins at 1.
    pub fn plain(length: usize) -> Self {
        Self::of(match length {
            0 => Vec::new(),
            _ => vec![length],
        })
    }

    /// Those of dimensions that begin at 1.
    pub fn of(lengths: Vec<usize>) -> Self {
        Self {
            lows: vec![1; lengths.len()],
            lengths,
        }
    }

    /// How many dimensions there are.
    pub fn dimensions(&self) -> usize {
        self.lengths.len()
    }

    /// Whether they are those of nearly all arrays.
    pub fn is_plain(&self) -> bool {
        match (self.lengths.as_slice(), self.lows.as_slice()) {
            ([], _) => true,
            ([_], [low]) => *low == 1,
            _ => false,
        }
    }

    /// Whether the subscripts of all dimensions begin at 1.
    pub fn begin_at_one(&self) -> bool {
        self.lows.iter().all(|low| *low == 1)
    }

    /// The length of a dimension, from 1, and its least subscript.
    pub fn dimension(&self, number: i32) -> Option<(usize, i32)> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((*self.lengths.get(at)?, *self.lows.get(at)?))
    }

    /// The least and the greatest subscript of each dimension.
    pub fn ranges(&self) -> impl Iterator<Item = (i32, i64)> + '_ {
        let pairs = self.lengths.iter().zip(&self.lows);
        pairs.map(|(length, low)| (*low, i64::from(*low) + *length as i64 - 1))
    }

    /// `[1:2][0:1]`.
    pub fn text(&self) -> String {
        let ranges = self.ranges();
        ranges
            .map(|(low, high)| format!("[{low}:{high}]"))
            .collect()
    }
}

/// Refuses bounds whose greatest subscript is no INTEGER's.
///
/// # Errors
/// `54000` if there is such a dimension.
pub fn check_bounds(bounds: &Bounds) -> Result<()> {
    let pairs = bounds.lengths.iter().zip(&bounds.lows);
    for (length, low) in pairs {
        let length = i64::try_from(*length).unwrap_or(i64::MAX);
        if i64::from(*low).saturating_add(length) > i64::from(i32::MAX) {
            let message = format!("array lower bound is too large: {low}");
            return Err(Error::new("54000", message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_shown() {
        let bounds = Bounds {
            lengths: vec![2, 3],
            lows: vec![1, -1],
        };
        assert_eq!(bounds.text(), "[1:2][-1:1]");
        assert_eq!(bounds.dimension(2), Some((3, -1)));
        assert_eq!(bounds.dimension(0), None);
        assert_eq!(bounds.dimension(3), None);
    }
}
