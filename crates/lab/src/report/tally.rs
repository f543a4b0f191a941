//! How many claims hold.

use crate::outcome::{Claim, Verdict};
use std::fmt;
use std::iter::Sum;

/// What became of some claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many hold.
    pub hold: usize,
    /// How many do not.
    pub do_not: usize,
    /// How many this machine cannot tell.
    pub untested: usize,
}

impl Tally {
    /// Counts verdicts.
    pub fn of(claims: &[Claim]) -> Tally {
        let count = |verdict| {
            claims
                .iter()
                .filter(|claim| claim.verdict == verdict)
                .count()
        };
        Tally {
            hold: count(Verdict::Holds),
            do_not: count(Verdict::DoesNotHold),
            untested: count(Verdict::CannotBeTested),
        }
    }

    /// Per cent of the tested claims that hold; none if none was tested.
    ///
    /// Rounded, but never to 100 or 0 while some do not or some do.
    pub fn share(&self) -> Option<usize> {
        let tested = self.hold + self.do_not;
        let rounded = (200 * self.hold + tested).checked_div(2 * tested)?;
        match (self.hold, self.do_not) {
            (_, 0) => Some(100),
            (0, _) => Some(0),
            _ => Some(rounded.clamp(1, 99)),
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |sum, tally| Tally {
            hold: sum.hold + tally.hold,
            do_not: sum.do_not + tally.do_not,
            untested: sum.untested + tally.untested,
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.hold, "holds", "hold"),
            (self.do_not, "does not hold", "do not hold"),
            (self.untested, "cannot be tested", "cannot be tested"),
        ];
        let mut first = true;
        for (count, one, many) in parts {
            if count == 0 {
                continue;
            }
            match (first, count) {
                (true, 1) => write!(f, "1 claim {one}")?,
                (true, _) => write!(f, "{count} claims {many}")?,
                (false, 1) => write!(f, ", 1 {one}")?,
                (false, _) => write!(f, ", {count} {many}")?,
            }
            first = false;
        }
        if first {
            f.write_str("no claims")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_was_tested() {
        let tally = |hold, do_not, untested| Tally {
            hold,
            do_not,
            untested,
        };
        assert_eq!(tally(3, 1, 7).share(), Some(75));
        assert_eq!(tally(0, 0, 7).share(), None);
        assert_eq!(tally(999, 1, 0).share(), Some(99));
        assert_eq!(tally(1, 999, 0).share(), Some(1));
        assert_eq!(tally(2, 1, 0).share(), Some(67));
    }

    #[test]
    fn counts_are_said_in_words() {
        let claims = [
            Claim::tested("a", true, ""),
            Claim::tested("b", false, ""),
            Claim::untested("c", ""),
        ];
        assert_eq!(
            Tally::of(&claims).to_string(),
            "1 claim holds, 1 does not hold, 1 cannot be tested"
        );
        let twice: Tally = [Tally::of(&claims), Tally::of(&claims[..1])]
            .into_iter()
            .sum();
        assert_eq!(
            twice.to_string(),
            "2 claims hold, 1 does not hold, 1 cannot be tested"
        );
        assert_eq!(Tally::default().to_string(), "no claims");
    }
}
