//! Labels of the horizontal axis: side by side, in lines, or steep.

use super::WIDTH;
use super::scale::Scale;
use super::text::{escape, shorten, width, wrap};
use std::fmt::Write;

const SIZE: f64 = 12.0;
const LINE: f64 = 15.0;
/// Lines of a name below its place.
const NAME_LINES: usize = 3;
/// Names that do not fit below their places stand as steep as this, in degrees.
const STEEP: f64 = 70.0;
/// And are at most so long.
const STEEP_WIDTH: f64 = 124.0;

/// Labels of the horizontal ticks.
pub enum Names {
    /// In lines below their ticks.
    Lines(Vec<Vec<String>>),
    /// Too long for that: they rise towards their ticks.
    Steep(Vec<String>),
}

impl Names {
    /// Labels of a scale so `wide`; names may take several lines, numbers take one.
    pub fn of(scale: &Scale, named: bool, wide: f64) -> Names {
        let labels = || scale.ticks.iter().map(|tick| tick.label.as_str());
        if !named {
            return Names::Lines(labels().map(|label| vec![label.to_string()]).collect());
        }
        let room = wide / scale.ticks.len().max(1) as f64 - 4.0;
        let lines: Vec<_> = labels().map(|label| wrap(label, SIZE, room)).collect();
        let broken = |label: &str| {
            label
                .split_whitespace()
                .any(|word| width(word, SIZE) > room)
        };
        if lines.iter().any(|lines| lines.len() > NAME_LINES) || labels().any(broken) {
            return Names::Steep(labels().map(str::to_string).collect());
        }
        Names::Lines(lines)
    }

    /// How much room they take below the axis.
    pub fn height(&self) -> f64 {
        match self {
            Names::Lines(lines) => LINE * lines.iter().map(Vec::len).max().unwrap_or(0) as f64,
            Names::Steep(labels) => {
                let widths = labels.iter().map(|label| width(label, SIZE));
                widths.fold(0.0, f64::max).min(STEEP_WIDTH) * STEEP.to_radians().sin() + LINE / 2.0
            }
        }
    }

    /// Draws the label of the `place`-th tick below a point of the axis.
    pub fn draw(&self, place: usize, x: f64, y: f64, out: &mut String) {
        match self {
            Names::Lines(lines) => {
                for (line, text) in (1..).zip(lines.get(place).into_iter().flatten()) {
                    centred(x, y + LINE * f64::from(line), text, "", out);
                }
            }
            Names::Steep(labels) => {
                let label = labels.get(place).map_or("", String::as_str);
                let (x, y) = (x + 4.0, y + 8.0);
                // It must not leave the drawing to the left.
                let room = STEEP_WIDTH.min(x / STEEP.to_radians().cos());
                let (short, label) = (escape(&shorten(label, SIZE, room)), escape(label));
                let _ = write!(
                    out,
                    "<text text-anchor=\"end\" transform=\"translate({x:.1} {y:.1}) rotate(-{STEEP})\">\
                     <title>{label}</title>{short}</text>"
                );
            }
        }
    }
}

/// Text around `x`, moved inwards where it would leave the drawing.
pub fn centred(x: f64, y: f64, text: &str, class: &str, out: &mut String) {
    if text.is_empty() {
        return;
    }
    let half = width(text, SIZE) / 2.0;
    let x = x.min(WIDTH - 2.0 - half).max(half + 2.0);
    let text = escape(text);
    let _ = write!(
        out,
        "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>"
    );
}
