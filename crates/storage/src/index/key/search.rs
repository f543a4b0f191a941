//! From conditions on columns to an interval of keys.
//!
//! A constant need not be a value of the block, nor one its column could hold:
//! 2.5 against whole numbers in a REAL, or a text longer than all others. So it
//! gets a [`Place`]: a part, and whether the constant lies at, just below or
//! just above the values with that part.
//!
//! Example: texts `a`, `bc` (two bytes, exact). `b` has the place at `62 00`,
//! `bcd` the place above `62 63`, and `x > 'bcd'` wants parts from `62 64` on.

use super::normal::{common_prefix, constant, from_bytes};
use super::{Exactness, KeyKind, KeyPart, KeyShape};
use crate::schema::Value;
use std::cmp::Ordering;
use std::ops::Bound;

/// Where a constant lies among the values of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// A part of a key.
    pub key: u128,
    /// `Less` if the constant is below all values with this part and above those
    /// with lower ones, `Greater` the other way round. `Equal` if a value equal to
    /// the constant would have this part.
    pub side: Ordering,
}

/// The keys that may satisfy conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyInterval {
    /// No row satisfies them.
    Empty,
    /// Rows that satisfy them have keys in here.
    Span {
        /// The least key.
        low: u128,
        /// The greatest key, included.
        high: u128,
        /// Whether all rows with keys in here satisfy them; if not, the values of
        /// each must be compared.
        exact: bool,
    },
}

impl KeyPart {
    /// Where a constant lies; `None` if it is of another type than the column.
    pub fn place(&self, value: &Value) -> Option<Place> {
        let normal = constant(value, self.kind)?;
        let bytes = normal.bytes();
        let prefix = self.prefix.as_slice();
        if common_prefix(bytes, prefix) < prefix.len() {
            // Unlike all values of the block already at the front.
            let (key, side) = match bytes < prefix {
                true => (0, Ordering::Less),
                false => (self.largest(), Ordering::Greater),
            };
            return Some(Place { key, side });
        }
        let (rest, taken) = (&bytes[prefix.len()..], usize::from(self.taken));
        let side = match (self.exactness, self.kind) {
            // What was cut off decides, and nobody knows it any more.
            (Exactness::Inexact, _) => Ordering::Equal,
            (Exactness::Exact, KeyKind::Bytes) => rest.len().cmp(&taken),
            (Exactness::Exact, _) => normal.side,
            // Values with this part end before the constant does.
            (Exactness::Filled, _) if rest.len() > taken => Ordering::Greater,
            (Exactness::Filled, _) if rest.last() == Some(&0) => Ordering::Greater,
            (Exactness::Filled, _) => Ordering::Equal,
        };
        let key = from_bytes(rest, taken);
        Some(Place { key, side })
    }

    fn bound(&self, bound: Bound<&Value>) -> Option<Bound<Place>> {
        Some(match bound {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(value) => Bound::Included(self.place(value)?),
            Bound::Excluded(value) => Bound::Excluded(self.place(value)?),
        })
    }

    /// The least part at or above a bound, and whether it holds no value below
    /// the bound; `None` if there is none.
    fn least(&self, bound: Bound<Place>) -> Option<(u128, bool)> {
        let (place, included) = match bound {
            Bound::Unbounded => return Some((0, true)),
            Bound::Included(place) => (place, true),
            Bound::Excluded(place) => (place, false),
        };
        let above = (place.key < self.largest()).then(|| (place.key + 1, true));
        match place.side {
            Ordering::Less => Some((place.key, true)),
            Ordering::Greater => above,
            Ordering::Equal if !self.exact() => Some((place.key, false)),
            Ordering::Equal if included => Some((place.key, true)),
            Ordering::Equal => above,
        }
    }

    /// The greatest part at or below a bound, and whether it holds no value above
    /// the bound; `None` if there is none.
    fn greatest(&self, bound: Bound<Place>) -> Option<(u128, bool)> {
        let (place, included) = match bound {
            Bound::Unbounded => return Some((self.largest(), true)),
            Bound::Included(place) => (place, true),
            Bound::Excluded(place) => (place, false),
        };
        let below = place.key.checked_sub(1).map(|key| (key, true));
        match place.side {
            Ordering::Less => below,
            Ordering::Greater => Some((place.key, true)),
            Ordering::Equal if !self.exact() => Some((place.key, false)),
            Ordering::Equal if included => Some((place.key, true)),
            Ordering::Equal => below,
        }
    }

    /// The parts between two bounds, and whether all values with them are.
    fn between(&self, low: Bound<Place>, high: Bound<Place>) -> Option<(u128, u128, bool)> {
        let (low, low_exact) = self.least(low)?;
        let (high, high_exact) = self.greatest(high)?;
        (low <= high).then_some((low, high, low_exact && high_exact))
    }
}

impl KeyShape {
    /// The keys of rows whose first columns equal `equal` and whose next column, if
    /// there is a `range`, lies in it. `None` if a constant is of another type than
    /// its column.
    ///
    /// Rows with a NULL in any key column have no key. If conditions leave some key
    /// columns open and those can be NULL, rows that satisfy them may be missing
    /// from the index.
    pub fn interval(
        &self,
        equal: &[Value],
        range: Option<(Bound<&Value>, Bound<&Value>)>,
    ) -> Option<KeyInterval> {
        let mut parts = self.parts.iter();
        let mut free: u32 = self.parts.iter().map(KeyPart::bits).sum();
        let (mut front, mut exact) = (0u128, true);
        for value in equal {
            let Some(part) = parts.next() else {
                exact = false;
                break;
            };
            let place = part.place(value)?;
            if place.side != Ordering::Equal {
                return Some(KeyInterval::Empty);
            }
            free -= part.bits();
            front |= place.key.unbounded_shl(free);
            exact &= part.exact();
        }
        let (mut low, mut high) = (front, front);
        match range.map(|range| (range, parts.next())) {
            None => {}
            // The column has no part: nothing is known of it.
            Some((_, None)) => exact = false,
            Some(((least, greatest), Some(part))) => {
                let bounds = (part.bound(least)?, part.bound(greatest)?);
                let Some((least, greatest, sure)) = part.between(bounds.0, bounds.1) else {
                    return Some(KeyInterval::Empty);
                };
                free -= part.bits();
                low |= least.unbounded_shl(free);
                high |= greatest.unbounded_shl(free);
                exact &= sure;
            }
        }
        high |= u128::MAX.unbounded_shr(128 - free);
        Some(KeyInterval::Span { low, high, exact })
    }
}
