//! Round numbers along an axis.

use super::number::{raised, tick};

/// A tick: a value and its label; minor ticks have none.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it is.
    pub value: f64,
    /// What stands beside it; empty for minor ticks.
    pub label: String,
}

/// The step of that size or the next larger one among 1, 2 and 5 times powers of ten.
pub fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|round| round * power);
    let enough = steps.into_iter().find(|&round| round >= step * 0.999);
    enough.unwrap_or(power * 10.0)
}

/// Ticks at the multiples of a step.
pub fn stepped(low: f64, high: f64, step: f64) -> Vec<Tick> {
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first).clamp(-1.0, 50.0);
    let multiples = (0..=50).map(f64::from).take_while(|&at| at <= count);
    multiples.map(|at| at_value((first + at) * step)).collect()
}

fn at_value(value: f64) -> Tick {
    let label = tick(value);
    Tick { value, label }
}

fn linear(low: f64, high: f64, labels: usize) -> Vec<Tick> {
    stepped(low, high, round_step((high - low) / labels.max(1) as f64))
}

/// Ticks at the values, if all are powers of two and there are several.
pub fn doublings(values: &[f64]) -> Option<Vec<Tick>> {
    let mut powers = Vec::new();
    for value in values {
        let power = value.log2().round();
        if value.log2() != power {
            return None;
        }
        powers.push(power as i32);
    }
    powers.sort_unstable();
    powers.dedup();
    let large = powers.last().is_some_and(|&power| power >= 20);
    let tick_at = |power: i32| {
        let value = 2f64.powi(power);
        let label = match large {
            true => format!("2{}", raised(power)),
            false => tick(value),
        };
        Tick { value, label }
    };
    (powers.len() > 2).then(|| powers.into_iter().map(tick_at).collect())
}

/// Every second or third of too many ticks.
pub fn thinned(ticks: Vec<Tick>, labels: usize) -> Vec<Tick> {
    let stride = ticks.len().div_ceil(labels.max(2)).max(1);
    ticks.into_iter().step_by(stride).collect()
}

/// Ticks of a logarithmic axis: powers of ten, and what is round between few of them.
pub fn decades(low: f64, high: f64, labels: usize) -> Vec<Tick> {
    let inside = |value: f64| value >= low * 0.999 && value <= high * 1.001;
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let at = |digits: &[u8]| -> Vec<f64> {
        let power = |exponent| 10f64.powi(exponent);
        let decade = |exponent| {
            digits
                .iter()
                .map(move |&digit| f64::from(digit) * power(exponent))
        };
        exponents
            .clone()
            .flat_map(decade)
            .filter(|&value| inside(value))
            .collect()
    };
    let labelled = |values: Vec<f64>| values.into_iter().map(at_value).collect::<Vec<_>>();
    for digits in [&[1, 2, 3, 4, 5, 6, 7, 8, 9][..], &[1, 2, 5], &[1, 3]] {
        let values = at(digits);
        if values.len() >= 2 && values.len() <= labels.max(3) {
            return labelled(values);
        }
    }
    let powers = at(&[1]);
    if powers.len() < 2 {
        // Less than a decade, and too little for round digits: as if it were linear.
        return linear(low, high, labels.min(5));
    }
    let few = powers.len() <= labels.max(3);
    let mut ticks = thinned(labelled(powers), labels);
    if few {
        let minor = at(&[2, 3, 4, 5, 6, 7, 8, 9]).into_iter();
        ticks.extend(minor.map(|value| Tick {
            value,
            label: String::new(),
        }));
        ticks.sort_by(|a, b| a.value.total_cmp(&b.value));
    }
    ticks
}
