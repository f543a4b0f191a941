//! Every plot is drawn: whole, inside its box, and with its points where they belong.

use super::*;
use crate::outcome::Axis;
use proptest::prelude::*;

fn plot(x: Axis, y: Axis, series: Vec<Series>) -> Plot {
    let title = "A & B <plot>".to_string();
    Plot {
        title,
        x,
        y,
        series,
    }
}

fn axis(label: &str, logarithmic: bool) -> Axis {
    let label = label.to_string();
    Axis {
        label,
        logarithmic,
        names: Vec::new(),
    }
}

fn series(name: &str, points: Vec<Point>) -> Series {
    let name = name.to_string();
    Series { name, points }
}

/// Values of an attribute, in order.
fn attributes<'a>(svg: &'a str, name: &str) -> Vec<&'a str> {
    let opening = format!(" {name}=\"");
    let parts = svg.split(opening.as_str()).skip(1);
    parts.map(|part| part.split('"').next().unwrap()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

#[test]
fn points_lie_where_their_values_are() {
    let points = vec![
        Point::exact(0.0, 0.0),
        Point::exact(5.0, 5.0),
        Point::exact(10.0, 10.0),
    ];
    let svg = svg(
        &plot(
            axis("x", false),
            axis("y", false),
            vec![series("s", points)],
        ),
        "p",
    );
    let cx: Vec<f64> = attributes(&svg, "cx").into_iter().map(number).collect();
    let cy: Vec<f64> = attributes(&svg, "cy").into_iter().map(number).collect();
    // Three points and the legend's sample.
    assert_eq!((cx.len(), cy.len()), (4, 4));
    assert!((cx[1] - (cx[0] + cx[2]) / 2.0).abs() < 0.11, "{cx:?}");
    assert!(cy[0] > cy[1] && cy[1] > cy[2], "upwards is more: {cy:?}");
    assert!(cy[3] > cy[0], "the legend is below the data");
}

#[test]
fn error_bars_only_where_something_deviates() {
    let points = vec![
        Point::exact(1.0, 2.0),
        Point {
            x: 2.0,
            mean: 4.0,
            deviation: 1.0,
        },
    ];
    let drawn = plot(axis("x", false), axis("y", true), vec![series("s", points)]);
    let svg = svg(&drawn, "p");
    assert_eq!(svg.matches("class=\"error\"").count(), 1);
    assert!(svg.contains("4 ± 1 at 2"), "{svg}");
}

#[test]
fn names_titles_and_labels_are_escaped() {
    let names = ["<row>", "a&b"].map(String::from).to_vec();
    let x = Axis {
        names,
        ..axis("<x>", false)
    };
    let curve = series(
        "\"q\" & <s>",
        vec![Point::exact(0.0, 1.0), Point::exact(1.0, 2.0)],
    );
    let svg = standalone(&plot(x, axis("y <ms>", false), vec![curve]));
    for text in [
        "&lt;row&gt;",
        "a&amp;b",
        "&lt;x&gt;",
        "y &lt;ms&gt;",
        "A &amp; B &lt;plot&gt;",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!svg.contains("<row>") && !svg.contains("<s>"));
}

#[test]
fn curves_differ_in_shape_and_colour() {
    let markers: std::collections::BTreeSet<_> = (0..16)
        .map(|place| (place % COLOURS, curves::marker(place, 0.0, 0.0)))
        .collect();
    assert_eq!(markers.len(), 16);
    for colour in 0..COLOURS {
        assert_eq!(
            STYLE.matches(&format!("--c{colour}: #")).count(),
            2,
            "light and dark"
        );
    }
}

#[test]
fn many_long_names_stand_steep_and_inside() {
    let names: Vec<_> = (0..16)
        .map(|column| format!("l_extendedprice_{column}"))
        .collect();
    let points = (0..16)
        .map(|place| Point::exact(f64::from(place), 1.0))
        .collect();
    let x = Axis {
        names,
        ..axis("column", false)
    };
    let svg = svg(
        &plot(x, axis("bits", false), vec![series("s", points)]),
        "p",
    );
    assert_eq!(svg.matches("rotate(-70)").count(), 16);
}

#[test]
fn nothing_to_show_is_said() {
    let nan = Point::exact(f64::NAN, 1.0);
    let infinite = Point::exact(1.0, f64::INFINITY);
    let zero = Point::exact(1.0, 0.0);
    for points in [vec![], vec![nan], vec![infinite, zero]] {
        let svg = svg(
            &plot(axis("x", true), axis("y", true), vec![series("s", points)]),
            "p",
        );
        assert!(svg.contains("no points"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    let some = vec![zero, Point::exact(2.0, 1.0)];
    let some = svg(
        &plot(axis("x", true), axis("y", true), vec![series("s", some)]),
        "p",
    );
    assert!(
        some.contains(">1 point cannot be shown") && !some.contains("no points"),
        "{some}"
    );
    let empty = svg(&Plot::default(), "p");
    assert!(empty.contains("no points"));
}

/// Numbers as they come, and some that do not.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3f64,
        2 => 0.0..1.0f64,
        1 => any::<f64>(),
        1 => Just(0.0),
        1 => (0u32..30).prop_map(|power| 2f64.powi(power as i32)),
    ]
}

fn any_point() -> impl Strategy<Value = Point> {
    (any_number(), any_number(), any_number()).prop_map(|(x, mean, deviation)| Point {
        x,
        mean,
        deviation,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_points_are_drawn_inside(
        curves in prop::collection::vec(prop::collection::vec(any_point(), 0..20), 0..5),
        (log_x, log_y, named) in any::<(bool, bool, bool)>(),
    ) {
        let curves = curves.into_iter().map(|points| series("some curve", points)).collect();
        let mut x = axis("x", log_x);
        if named {
            x.names = vec!["first name".to_string(), "second".to_string()];
        }
        let svg = svg(&plot(x, axis("y", log_y), curves), "p");
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
        let sizes = attributes(&svg, "viewBox")[0];
        let height = number(sizes.rsplit(' ').next().unwrap());
        let inside = |name, limit: f64| {
            attributes(&svg, name).into_iter().map(number).all(|at| (0.0..=limit).contains(&at))
        };
        prop_assert!(inside("cx", WIDTH) && inside("x", WIDTH), "{}", svg);
        prop_assert!(inside("cy", height) && inside("y", height), "{}", svg);
    }
}
