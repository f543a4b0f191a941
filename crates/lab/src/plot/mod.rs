//! A [`Plot`] as SVG.
//!
//! The drawing is as wide as [`WIDTH`] and as high as it needs; it scales to any size.
//! The legend stands below the axes, never on the data. Curves differ by the shape of
//! their markers as well as by colour. Colours are named in [`STYLE`], for light and
//! dark, which a page has once; [`standalone`] brings them along.

mod curves;
mod frame;
mod legend;
mod names;
mod number;
mod scale;
mod text;
mod ticks;

#[cfg(test)]
mod tests;

use crate::outcome::{Axis, Plot, Point, Series};
use frame::Frame;
use std::fmt::Write;

pub use number::{bytes, seconds, significant};
pub use text::escape;

/// Colours and strokes of all plots on a page.
///
/// The colours keep apart for colour-blind people (after Okabe and Ito), darkened or
/// lightened until each stands out from the page.
pub const STYLE: &str = include_str!("style.css");

/// Width of every drawing, in its own units; text is 12 of them high.
pub const WIDTH: f64 = 440.0;

/// Colours in [`STYLE`].
const COLOURS: usize = 7;

/// A plot as an SVG element for a page that has [`STYLE`].
///
/// `id` has to be unique on the page: the drawing's title and description are found by it.
pub fn svg(plot: &Plot, id: &str) -> String {
    draw(plot, id, "")
}

/// A plot as a file of its own.
pub fn standalone(plot: &Plot) -> String {
    draw(plot, "plot", &format!("<style>{STYLE}</style>\n"))
}

fn draw(plot: &Plot, id: &str, style: &str) -> String {
    let id = escape(id);
    let frame = Frame::of(plot);
    let legend = legend::Legend::of(&plot.series);
    let hidden = hidden(plot);
    let note = if hidden.is_empty() { 0.0 } else { 18.0 };
    let (width, height) = (WIDTH, frame.bottom() + legend.height() + note);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {width} {height:.0}\" \
         role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
         <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{desc}</desc>\n{style}",
        title = escape(&plot.title),
        desc = escape(&description(plot)),
    );
    frame.draw(plot, &mut out);
    for (place, series) in plot.series.iter().enumerate() {
        curves::draw(series, place, plot, &frame, &mut out);
    }
    legend.draw(frame.bottom(), &mut out);
    if !hidden.is_empty() {
        let y = height - 6.0;
        let _ = write!(
            out,
            "<text class=\"note\" x=\"8\" y=\"{y:.1}\">{hidden}</text>"
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The points of a curve that its plot can show.
fn shown(plot: &Plot, series: &Series) -> impl Iterator<Item = Point> {
    let points = series.points.iter().copied();
    points.filter(|point| is_shown(plot, point))
}

fn is_shown(plot: &Plot, point: &Point) -> bool {
    scale::shows(&plot.x, point.x) && scale::shows(&plot.y, point.mean)
}

/// Ends of a point's error bar, of which the lower may lie below a logarithmic axis.
fn error_bar(point: &Point) -> Option<(f64, f64)> {
    let deviates = point.deviation > 0.0 && point.deviation < 1e290;
    deviates.then_some((point.mean - point.deviation, point.mean + point.deviation))
}

/// A value, or its name if its axis has names.
pub(crate) fn named(axis: &Axis, value: f64) -> String {
    let place = (value >= 0.0 && value.fract() == 0.0).then_some(value as usize);
    let name = place.and_then(|place| axis.names.get(place)).cloned();
    name.unwrap_or_else(|| significant(value, 4))
}

/// Says how many points are not shown, if any, as zeros on a logarithmic axis.
fn hidden(plot: &Plot) -> String {
    let points = plot.series.iter().flat_map(|series| &series.points);
    match points.filter(|point| !is_shown(plot, point)).count() {
        0 => String::new(),
        1 => "1 point cannot be shown on these axes.".to_string(),
        many => format!("{many} points cannot be shown on these axes."),
    }
}

/// The plot in words, for those who hear it.
fn description(plot: &Plot) -> String {
    let mut text = format!("{} over {}.", plot.y.label, plot.x.label);
    let at = |point: &Point| {
        let (x, y) = (named(&plot.x, point.x), named(&plot.y, point.mean));
        format!("{y} at {x}")
    };
    for series in &plot.series {
        let points: Vec<Point> = shown(plot, series).collect();
        let _ = match &points[..] {
            [] => write!(text, " {}: nothing.", series.name),
            [only] => write!(text, " {}: {}.", series.name, at(only)),
            [first, .., last] => {
                write!(
                    text,
                    " {}: from {} to {}.",
                    series.name,
                    at(first),
                    at(last)
                )
            }
        };
    }
    format!("{text} {}", hidden(plot)).trim_end().to_string()
}
