//! Plots of linear axes, as most figures of the paper are.

use crate::outcome::{Axis, Plot, Point, Series};

/// Curves over an axis `x`.
pub(super) fn plot(title: impl Into<String>, x: &str, y: &str, series: Vec<Series>) -> Plot {
    let axis = |label: &str| Axis {
        label: label.into(),
        ..Axis::default()
    };
    Plot {
        title: title.into(),
        x: axis(x),
        y: axis(y),
        series,
    }
}

/// A curve.
pub(super) fn series(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Series {
    Series {
        name: name.into(),
        points: points.into_iter().collect(),
    }
}

/// Numbers with two digits after the point, side by side.
pub(super) fn listed(numbers: &[f64]) -> String {
    let texts = numbers.iter().map(|number| format!("{number:.2}"));
    texts.collect::<Vec<_>>().join(", ")
}
