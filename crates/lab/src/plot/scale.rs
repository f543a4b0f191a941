//! From values to places along an axis, and where its ticks are.

use super::ticks::{Tick, decades, doublings, round_step, stepped, thinned};
use crate::outcome::Axis;

/// How an axis maps values to the unit interval.
#[derive(Clone, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Ticks, ascending.
    pub ticks: Vec<Tick>,
}

/// Larger numbers leave no room to compute with; nothing measured comes near.
const LARGEST: f64 = 1e290;

/// Whether an axis can show that value.
pub fn shows(axis: &Axis, value: f64) -> bool {
    let place = value.is_finite() && value.abs() < LARGEST;
    match axis.logarithmic && axis.names.is_empty() {
        true => place && value > 1.0 / LARGEST,
        false => place,
    }
}

/// What an axis has room for.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// At about how many labels to aim.
    pub labels: usize,
    /// Whether the axis ends at a tick and starts at zero rather than cut a scale off.
    pub whole: bool,
}

impl Scale {
    /// The scale for values, each of which the axis [`shows`].
    pub fn of(axis: &Axis, values: &[f64], room: Room) -> Scale {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !axis.names.is_empty() {
            return Scale::named(&axis.names, low, high);
        }
        match (low <= high, axis.logarithmic) {
            (false, logarithmic) => Scale::empty(logarithmic),
            (true, true) => Scale::logarithmic(low, high, values, room),
            (true, false) => Scale::linear(low, high, room),
        }
    }

    /// Where a value is, from 0 to 1 for what lies inside.
    pub fn place(&self, value: f64) -> f64 {
        let map = |value: f64| match self.logarithmic {
            true => value.max(f64::MIN_POSITIVE).log10(),
            false => value,
        };
        let (low, high) = (map(self.low), map(self.high));
        ((map(value) - low) / (high - low)).clamp(0.0, 1.0)
    }

    fn empty(logarithmic: bool) -> Scale {
        Scale {
            low: if logarithmic { 1.0 } else { 0.0 },
            high: 10.0,
            logarithmic,
            ticks: Vec::new(),
        }
    }

    fn named(names: &[String], low: f64, high: f64) -> Scale {
        let ticks = (0..).zip(names).map(|(place, name)| Tick {
            value: f64::from(place),
            label: name.clone(),
        });
        // Points beside the names would be a mistake, but are not hidden.
        Scale {
            low: low.min(0.0) - 0.5,
            high: high.max(names.len() as f64 - 1.0) + 0.5,
            logarithmic: false,
            ticks: ticks.collect(),
        }
    }

    fn linear(low: f64, high: f64, room: Room) -> Scale {
        let (mut low, mut high) = apart(low, high);
        // A scale that starts above zero makes small differences look large.
        let near_zero = room.whole || low <= (high - low) * 0.5;
        if low > 0.0 && near_zero {
            low = 0.0;
        }
        if high < 0.0 && near_zero {
            high = 0.0;
        }
        let step = round_step((high - low) / room.labels.max(1) as f64);
        if room.whole {
            low = (low / step + 1e-9).floor() * step;
            high = (high / step - 1e-9).ceil() * step;
        }
        Scale {
            low,
            high,
            logarithmic: false,
            ticks: stepped(low, high, step),
        }
    }

    fn logarithmic(low: f64, high: f64, values: &[f64], room: Room) -> Scale {
        let (low, high) = match low == high {
            true => (low / 2.0, high * 2.0),
            false => (low, high),
        };
        let (low, high) = match room.whole {
            true => (round_down(low), round_up(high)),
            false => (low, high),
        };
        let ticks = match doublings(values) {
            // Short numbers at even distances may stand closer.
            Some(ticks) => thinned(ticks, room.labels + 2),
            None => decades(low, high, room.labels),
        };
        Scale {
            low,
            high,
            logarithmic: true,
            ticks,
        }
    }
}

/// Ends of a scale that differ enough to compute with.
fn apart(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    match high - low > size * 1e-9 && high - low > 1e-290 {
        true => (low, high),
        false if size < 1e-280 => (0.0, 1.0),
        false => (low - size * 0.1, high + size * 0.1),
    }
}

fn round_up(value: f64) -> f64 {
    round_step(value)
}

fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|round| round * power);
    let below = steps.into_iter().find(|&round| round <= value * 1.001);
    below.unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Room = Room {
        labels: 5,
        whole: true,
    };

    fn axis(logarithmic: bool) -> Axis {
        Axis {
            logarithmic,
            ..Axis::default()
        }
    }

    fn labels(scale: &Scale) -> Vec<&str> {
        let labels = scale.ticks.iter().map(|tick| tick.label.as_str());
        labels.filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn linear_axes_start_at_zero_and_end_at_a_round_number() {
        let scale = Scale::of(&axis(false), &[3.1, 9.7], WHOLE);
        assert_eq!(labels(&scale), ["0", "2", "4", "6", "8", "10"]);
        assert!((scale.place(3.1) - 0.31).abs() < 1e-9);
        let scale = Scale::of(&axis(false), &[-0.4, 0.0], WHOLE);
        assert_eq!(labels(&scale), ["−0.4", "−0.3", "−0.2", "−0.1", "0"]);
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten() {
        let scale = Scale::of(&axis(true), &[0.02, 30_000.0], WHOLE);
        assert_eq!(labels(&scale), ["0.1", "10", "1000"]);
        let scale = Scale::of(&axis(true), &[1.0, 100.0], WHOLE);
        assert!(
            labels(&scale).starts_with(&["1", "3", "10"]),
            "{:?}",
            labels(&scale)
        );
        assert_eq!(scale.place(10.0), 0.5);
    }

    #[test]
    fn powers_of_two_are_shown_as_such() {
        let values = [2.0, 4.0, 8.0, 16.0, 64.0];
        let scale = Scale::of(
            &axis(true),
            &values,
            Room {
                labels: 8,
                whole: false,
            },
        );
        assert_eq!(labels(&scale), ["2", "4", "8", "16", "64"]);
        let scale = Scale::of(&axis(true), &[131_072.0, 1048576.0, 2097152.0], WHOLE);
        assert_eq!(labels(&scale), ["2¹⁷", "2²⁰", "2²¹"]);
    }

    #[test]
    fn one_value_and_none_have_a_scale() {
        for logarithmic in [false, true] {
            for values in [&[][..], &[5.0], &[1e-280], &[1e289]] {
                let scale = Scale::of(&axis(logarithmic), values, WHOLE);
                let place = scale.place(5.0);
                assert!((0.0..=1.0).contains(&place), "{values:?} {scale:?}");
                assert!(scale.ticks.len() < 60);
            }
        }
        assert!(!shows(&axis(true), 0.0) && shows(&axis(false), 0.0));
        assert!(!shows(&axis(false), f64::NAN) && !shows(&axis(false), f64::INFINITY));
    }

    #[test]
    fn names_stand_in_the_middle_of_their_places() {
        let names = ["row", "column"].map(String::from).to_vec();
        let axis = Axis {
            names,
            ..Axis::default()
        };
        let scale = Scale::of(&axis, &[0.0, 1.0], WHOLE);
        assert_eq!((scale.place(0.0), scale.place(1.0)), (0.25, 0.75));
        assert_eq!(labels(&scale), ["row", "column"]);
    }
}
