//! Tables, each in a box of its own in which it can be moved sideways.

use crate::outcome::{Plot, Table};
use crate::plot::{escape, named, significant};

/// A table of an outcome, with its title.
pub fn table(table: &Table) -> String {
    let title = escape(&table.title);
    let boxed = boxed(&table.title, &table.columns, &table.rows);
    format!("<figure class=\"table\"><figcaption>{title}</figcaption>{boxed}</figure>\n")
}

/// The numbers behind a plot: a row for each place, a column for each curve.
pub fn numbers(plot: &Plot) -> String {
    let mut places: Vec<f64> = Vec::new();
    for point in plot.series.iter().flat_map(|series| &series.points) {
        if !places.contains(&point.x) {
            places.push(point.x);
        }
    }
    places.sort_by(f64::total_cmp);
    let mut columns = vec![plot.x.label.clone()];
    columns.extend(plot.series.iter().map(|series| series.name.clone()));
    let row = |x: &f64| {
        let mut cells = vec![named(&plot.x, *x)];
        for series in &plot.series {
            let at_place = series.points.iter().filter(|point| point.x == *x);
            let said = at_place.map(|point| match point.deviation > 0.0 {
                true => format!(
                    "{} ± {}",
                    named(&plot.y, point.mean),
                    significant(point.deviation, 2)
                ),
                false => named(&plot.y, point.mean),
            });
            cells.push(said.collect::<Vec<_>>().join("; "));
        }
        cells
    };
    let rows: Vec<Vec<String>> = places.iter().map(row).collect();
    boxed(&format!("Numbers of {}", plot.title), &columns, &rows)
}

/// A box can be reached and moved with the keyboard, for which it needs a name.
fn boxed(name: &str, columns: &[String], rows: &[Vec<String>]) -> String {
    let class = |column: usize| match is_number_column(column, rows) {
        true => " class=\"number\"",
        false => "",
    };
    let heading = |(at, text): (usize, &String)| {
        format!("<th scope=\"col\"{}>{}</th>", class(at), escape(text))
    };
    let cell = |(at, text): (usize, &String)| format!("<td{}>{}</td>", class(at), escape(text));
    let row = |row: &Vec<String>| {
        let cells: String = row.iter().enumerate().map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let headings: String = columns.iter().enumerate().map(heading).collect();
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table>\n\
         <thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>",
        escape(name)
    )
}

/// Whether each cell begins as a number does; such columns stand to the right.
fn is_number_column(column: usize, rows: &[Vec<String>]) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(column));
    let mut cells = cells
        .map(|cell| cell.trim())
        .filter(|cell| !cell.is_empty())
        .peekable();
    let is_number = |cell: &str| {
        let digits = cell
            .trim_start_matches(['-', '−', '+', '<', '≤', '~'])
            .trim_start();
        digits.starts_with(|c: char| c.is_ascii_digit()) || matches!(cell, "–" | "—" | "-")
    };
    cells.peek().is_some() && cells.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Axis, Point, Series};

    #[test]
    fn numbers_stand_to_the_right() {
        let rows = vec![
            vec!["row".to_string(), "−1.5 s".to_string()],
            vec!["column".to_string(), "–".to_string()],
        ];
        assert!(!is_number_column(0, &rows));
        assert!(is_number_column(1, &rows));
        assert!(!is_number_column(2, &rows), "no such column");
    }

    #[test]
    fn a_plot_becomes_rows() {
        let series = |name: &str, points| Series {
            name: name.to_string(),
            points,
        };
        let plot = Plot {
            x: Axis {
                label: "layout".to_string(),
                names: vec!["row".to_string()],
                logarithmic: false,
            },
            series: vec![
                series("a", vec![Point::of(0.0, &[1.0, 3.0])]),
                series("b<", vec![Point::exact(1.0, 2.0)]),
            ],
            ..Plot::default()
        };
        let html = numbers(&plot);
        assert!(
            html.contains(
                "<td>row</td><td class=\"number\">2 ± 1.4</td><td class=\"number\"></td>"
            ),
            "{html}"
        );
        assert!(
            html.contains("<td>1</td><td class=\"number\"></td><td class=\"number\">2</td>"),
            "{html}"
        );
        assert!(html.contains("b&lt;"));
    }
}
