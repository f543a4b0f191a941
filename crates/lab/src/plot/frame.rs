//! The axes of a plot: where they are, their ticks and their labels.

use super::scale::{Room, Scale};
use super::text::{escape, shorten, width, wrap};
use super::{WIDTH, error_bar, shown};
use crate::outcome::Plot;
use std::fmt::Write;

const SIZE: f64 = 12.0;
const LINE: f64 = 15.0;
/// Height of the area inside the axes.
const HEIGHT: f64 = 220.0;
const EDGE: f64 = 8.0;
/// At most this much of the width goes to labels beside the vertical axis.
const WIDEST: f64 = 130.0;
/// Between an axis and its labels.
const GAP: f64 = 6.0;
/// Lines of a name below its place.
const NAME_LINES: usize = 3;
/// Names that do not fit below their places stand as steep as this, in degrees.
const STEEP: f64 = 70.0;
/// And are at most so long.
const STEEP_WIDTH: f64 = 124.0;

/// Axes and their place in the drawing.
pub struct Frame {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    top: f64,
    /// Heading of the vertical axis, above it.
    y_label: Vec<String>,
    x_label: Vec<String>,
    names: Names,
}

impl Frame {
    /// Axes that hold all points of a plot, with their error bars.
    pub fn of(plot: &Plot) -> Frame {
        let points = || plot.series.iter().flat_map(|series| shown(plot, series));
        let xs: Vec<f64> = points().map(|point| point.x).collect();
        let mut ys: Vec<f64> = points().map(|point| point.mean).collect();
        let bars = points().filter_map(|point| error_bar(&point));
        let ends = bars.flat_map(|(low, high)| [low, high]);
        let drawn: Vec<f64> = ends
            .filter(|&end| super::scale::shows(&plot.y, end))
            .collect();
        ys.extend(drawn);
        let whole = Room {
            labels: 5,
            whole: true,
        };
        let y = Scale::of(&plot.y, &ys, whole);
        let widths = y.ticks.iter().map(|tick| width(&tick.label, SIZE));
        let left = EDGE + GAP + widths.fold(0.0, f64::max).min(WIDEST);
        let right = WIDTH - EDGE - 10.0;
        let x = horizontal(plot, &xs, right - left);
        let y_label = wrap(&plot.y.label, SIZE, WIDTH - 2.0 * EDGE);
        Frame {
            names: Names::of(&x, !plot.x.names.is_empty(), right - left),
            top: 8.0 + LINE * y_label.len() as f64 + 8.0,
            x_label: wrap(&plot.x.label, SIZE, WIDTH - 2.0 * EDGE),
            x,
            y,
            left,
            right,
            y_label,
        }
    }

    /// Where a value of the horizontal axis is.
    pub fn x(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * (self.right - self.left)
    }

    /// Where a value of the vertical axis is.
    pub fn y(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * HEIGHT
    }

    /// The lowest line of axes and labels.
    pub fn bottom(&self) -> f64 {
        let label = LINE * self.x_label.len() as f64;
        self.top + HEIGHT + GAP + self.names.height() + label + 6.0
    }

    /// Draws grid, axes, ticks and labels.
    pub fn draw(&self, plot: &Plot, out: &mut String) {
        let bottom = self.top + HEIGHT;
        let (left, right) = (self.left, self.right);
        for (line, text) in (1..).zip(&self.y_label) {
            let y = 4.0 + LINE * f64::from(line);
            let text = escape(text);
            let _ = write!(
                out,
                "<text class=\"label\" x=\"{EDGE}\" y=\"{y:.1}\">{text}</text>"
            );
        }
        for tick in &self.y.ticks {
            let y = self.y(tick.value);
            let class = if tick.label.is_empty() {
                "minor"
            } else {
                "grid"
            };
            let _ = write!(
                out,
                "<path class=\"{class}\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>"
            );
            if tick.label.is_empty() {
                continue;
            }
            let label = escape(&shorten(&tick.label, SIZE, WIDEST));
            let (x, y) = (left - GAP, y + 4.0);
            let _ = write!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"
            );
        }
        for (place, tick) in self.x.ticks.iter().enumerate() {
            let x = self.x(tick.value);
            let long = if tick.label.is_empty() { 3.0 } else { 5.0 };
            let _ = write!(
                out,
                "<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v{long}\"/>"
            );
            self.names.draw(place, x, bottom + GAP, out);
        }
        let _ = write!(
            out,
            "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>"
        );
        let below = bottom + GAP + self.names.height() + 2.0;
        for (line, text) in (1..).zip(&self.x_label) {
            let y = below + LINE * f64::from(line);
            centred((left + right) / 2.0, y, text, " class=\"label\"", out);
        }
        if plot
            .series
            .iter()
            .all(|series| shown(plot, series).next().is_none())
        {
            let (x, y) = ((left + right) / 2.0, self.top + HEIGHT / 2.0);
            centred(
                x,
                y,
                "no points that these axes can show",
                " class=\"note\"",
                out,
            );
        }
        out.push('\n');
    }
}

/// Labels of the horizontal ticks.
enum Names {
    /// In lines below their ticks.
    Lines(Vec<Vec<String>>),
    /// Too long for that: they rise towards their ticks.
    Steep(Vec<String>),
}

impl Names {
    fn of(scale: &Scale, named: bool, wide: f64) -> Names {
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

    fn height(&self) -> f64 {
        match self {
            Names::Lines(lines) => LINE * lines.iter().map(Vec::len).max().unwrap_or(0) as f64,
            Names::Steep(labels) => {
                let widths = labels.iter().map(|label| width(label, SIZE));
                widths.fold(0.0, f64::max).min(STEEP_WIDTH) * STEEP.to_radians().sin() + LINE / 2.0
            }
        }
    }

    fn draw(&self, place: usize, x: f64, y: f64, out: &mut String) {
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
fn centred(x: f64, y: f64, text: &str, class: &str, out: &mut String) {
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

/// The horizontal scale, with as many ticks as their labels leave room for.
fn horizontal(plot: &Plot, xs: &[f64], room: f64) -> Scale {
    let mut labels = 8;
    loop {
        let mut scale = Scale::of(
            &plot.x,
            xs,
            Room {
                labels,
                whole: false,
            },
        );
        if !plot.x.names.is_empty() || fits(&scale, room) {
            return scale;
        }
        if labels == 2 {
            // One label at least always fits.
            scale.ticks.truncate(1);
            return scale;
        }
        labels -= 1;
    }
}

fn fits(scale: &Scale, room: f64) -> bool {
    let mut end = f64::NEG_INFINITY;
    scale
        .ticks
        .iter()
        .filter(|tick| !tick.label.is_empty())
        .all(|tick| {
            let (middle, half) = (
                scale.place(tick.value) * room,
                width(&tick.label, SIZE) / 2.0,
            );
            let clear = middle - half > end;
            end = middle + half + 6.0;
            clear
        })
}
