//! The axes of a plot: where they are, their ticks and their labels.

use super::names::{Names, centred};
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
        self.draw_vertical(out);
        self.draw_horizontal(out);
        let mut series = plot.series.iter();
        if series.all(|series| shown(plot, series).next().is_none()) {
            let (x, y) = ((self.left + self.right) / 2.0, self.top + HEIGHT / 2.0);
            let note = "no points that these axes can show";
            centred(x, y, note, " class=\"note\"", out);
        }
        out.push('\n');
    }

    /// The vertical axis is its grid; its heading stands above it, easier to read so.
    fn draw_vertical(&self, out: &mut String) {
        let (left, right) = (self.left, self.right);
        for (line, text) in (1..).zip(&self.y_label) {
            let (y, text) = (4.0 + LINE * f64::from(line), escape(text));
            let _ = write!(
                out,
                "<text class=\"label\" x=\"{EDGE}\" y=\"{y:.1}\">{text}</text>"
            );
        }
        for tick in &self.y.ticks {
            let y = self.y(tick.value);
            let is_minor = tick.label.is_empty();
            let class = if is_minor { "minor" } else { "grid" };
            let _ = write!(
                out,
                "<path class=\"{class}\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>"
            );
            if !is_minor {
                let label = escape(&shorten(&tick.label, SIZE, WIDEST));
                let (x, y) = (left - GAP, y + 4.0);
                let _ = write!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"
                );
            }
        }
    }

    fn draw_horizontal(&self, out: &mut String) {
        let (left, right, bottom) = (self.left, self.right, self.top + HEIGHT);
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
    }
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
