//! Curves: lines, error bars and markers.

use super::frame::Frame;
use super::number::significant;
use super::text::escape;
use super::{COLOURS, error_bar, is_shown, named, shown};
use crate::outcome::{Plot, Point, Series};
use std::fmt::Write;

/// More markers than this on one curve hide it.
const MARKERS: usize = 16;
/// Half the width of the end of an error bar.
const CAP: f64 = 3.0;

/// Draws a curve, the `place`-th of its plot.
pub fn draw(series: &Series, place: usize, plot: &Plot, frame: &Frame, out: &mut String) {
    let points: Vec<Point> = shown(plot, series).collect();
    let shift = shift(place, plot, frame);
    let at = |point: &Point| (frame.x(point.x) + shift, frame.y(point.mean));
    let _ = write!(out, "<g class=\"c{}\">", place % COLOURS);
    // Between names there is nothing; the line only leads the eye.
    let class = if plot.x.names.is_empty() {
        "curve"
    } else {
        "loose"
    };
    let path = path(series, plot, at);
    if points.len() > 1 && !path.is_empty() {
        let _ = write!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
    let stride = points.len().div_ceil(MARKERS).max(1);
    // Marks of different curves stand at different places, should curves coincide.
    let first = if stride > 1 { place % stride } else { 0 };
    for point in points.iter().skip(first).step_by(stride) {
        let (x, y) = at(point);
        let said = format!("{}: {}", series.name, said(plot, point));
        let _ = write!(out, "<g><title>{}</title>", escape(&said));
        if let Some((low, high)) = error_bar(point) {
            let (low, high) = (frame.y(low), frame.y(high));
            let (left, wide) = (x - CAP, 2.0 * CAP);
            let _ = write!(
                out,
                "<path class=\"error\" d=\"M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h{wide}M{left:.1} {high:.1}h{wide}\"/>"
            );
        }
        let _ = write!(out, "{}</g>", marker(place, x, y));
    }
    out.push_str("</g>\n");
}

/// The line through all points, interrupted where one cannot be shown.
fn path(series: &Series, plot: &Plot, at: impl Fn(&Point) -> (f64, f64)) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for point in &series.points {
        if !is_shown(plot, point) {
            pen = 'M';
            continue;
        }
        let (x, y) = at(point);
        let _ = write!(path, "{pen}{x:.1} {y:.1}");
        pen = 'L';
    }
    path
}

/// How far a curve stands beside the middle of a name, so that error bars do not meet.
fn shift(place: usize, plot: &Plot, frame: &Frame) -> f64 {
    let curves = plot.series.len();
    if plot.x.names.is_empty() || curves < 2 {
        return 0.0;
    }
    let room = (frame.x(1.0) - frame.x(0.0)) * 0.6;
    let apart = (room / (curves - 1) as f64).min(14.0);
    (place as f64 - (curves - 1) as f64 / 2.0) * apart
}

/// A point in words.
fn said(plot: &Plot, point: &Point) -> String {
    let (x, y) = (named(&plot.x, point.x), named(&plot.y, point.mean));
    match error_bar(point) {
        Some(_) => format!("{y} ± {} at {x}", significant(point.deviation, 2)),
        None => format!("{y} at {x}"),
    }
}

/// The marker of the `place`-th curve: eight shapes, filled and then hollow.
pub fn marker(place: usize, x: f64, y: f64) -> String {
    let class = if (place / 8).is_multiple_of(2) {
        "mark"
    } else {
        "hollow"
    };
    let path =
        |class: &str, steps: &str| format!("<path class=\"{class}\" d=\"M{x:.1} {y:.1}{steps}\"/>");
    match place % 8 {
        0 => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\"/>"),
        1 => path(class, "m-3.2-3.2h6.4v6.4h-6.4z"),
        2 => path(class, "m0-4.2l4.2 7.4h-8.4z"),
        3 => path(class, "m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z"),
        4 => path(class, "m0 4.2l4.2-7.4h-8.4z"),
        5 => path("stroke", "m-3.4-3.4l6.8 6.8m0-6.8l-6.8 6.8"),
        6 => path("stroke", "m-4.4 0h8.8m-4.4-4.4v8.8"),
        _ => path(class, "m-4.4 0l2.2-3.8h4.4l2.2 3.8l-2.2 3.8h-4.4z"),
    }
}
