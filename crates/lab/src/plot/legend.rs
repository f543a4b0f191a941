//! Which curve is which: below the axes, in as many lines as it takes.

use super::WIDTH;
use super::curves::marker;
use super::text::{escape, width, wrap};
use crate::outcome::Series;
use std::fmt::Write;

const SIZE: f64 = 12.0;
const LINE: f64 = 17.0;
const EDGE: f64 = 8.0;
/// Room for a curve's marker, with a piece of the curve.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 14.0;

/// A name and where it stands.
struct Entry {
    place: usize,
    x: f64,
    y: f64,
    lines: Vec<String>,
}

/// The legend of a plot.
pub struct Legend {
    entries: Vec<Entry>,
    height: f64,
}

impl Legend {
    /// Sets the names of all curves side by side, as far as they fit.
    pub fn of(series: &[Series]) -> Legend {
        let room = WIDTH - 2.0 * EDGE - SAMPLE;
        let (mut x, mut y, mut deepest) = (EDGE, LINE, 0.0f64);
        let mut entries = Vec::new();
        for (place, series) in series.iter().enumerate() {
            let lines = wrap(&series.name, SIZE, room);
            let widths = lines.iter().map(|line| width(line, SIZE));
            let wide = SAMPLE + widths.fold(0.0, f64::max);
            if x > EDGE && x + wide > WIDTH - EDGE {
                (x, y) = (EDGE, deepest + LINE);
            }
            deepest = deepest.max(y + LINE * (lines.len().max(1) - 1) as f64);
            entries.push(Entry { place, x, y, lines });
            x += wide + GAP;
        }
        let height = if entries.is_empty() {
            4.0
        } else {
            deepest + 8.0
        };
        Legend { entries, height }
    }

    /// How high it is.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// Draws it below `top`.
    pub fn draw(&self, top: f64, out: &mut String) {
        for entry in &self.entries {
            let (x, y) = (entry.x, top + entry.y);
            let middle = y - 4.0;
            let _ = write!(
                out,
                "<g class=\"c{}\"><path class=\"curve\" d=\"M{x:.1} {middle:.1}h20\"/>{}</g>",
                entry.place % super::COLOURS,
                marker(entry.place, x + 10.0, middle),
            );
            for (line, text) in (0..).zip(&entry.lines) {
                let _ = write!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    x + SAMPLE,
                    y + LINE * f64::from(line),
                    escape(text)
                );
            }
            out.push('\n');
        }
    }
}
