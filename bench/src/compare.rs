//! Whether two results are the same.

use crate::ours::Cells;

/// The first difference from the cells of the side with that name, in words.
pub fn difference(ours: &Cells, theirs: &Cells, name: &str) -> Option<String> {
    let different = different_row(ours, theirs, name)?;
    // Rows that tie in their order may come either way; the column they are ordered by
    // is then the same in every place.
    let columns = ours.first().map_or(0, Vec::len);
    let in_place = |column: usize| {
        let mut pairs = ours.iter().zip(theirs);
        pairs.all(|(ours, theirs)| ours.get(column) == theirs.get(column))
    };
    if !(0..columns).any(in_place) {
        return Some(different);
    }
    let sorted = |cells: &Cells| {
        let mut cells = cells.clone();
        cells.sort();
        cells
    };
    different_row(&sorted(ours), &sorted(theirs), name).map(|_| different)
}

/// What is different about the first row that is.
fn different_row(ours: &Cells, theirs: &Cells, name: &str) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!(
            "results differ: {} rows, {name} has {}",
            ours.len(),
            theirs.len()
        ));
    }
    for (number, (ours, theirs)) in (1..).zip(ours.iter().zip(theirs)) {
        let same = ours.len() == theirs.len()
            && ours
                .iter()
                .zip(theirs)
                .all(|(ours, theirs)| match (ours, theirs) {
                    // DuckDB shows CHAR(n) without its blanks.
                    (Some(ours), Some(theirs)) => same(ours.trim_end(), theirs.trim_end()),
                    (ours, theirs) => ours.is_none() && theirs.is_none(),
                });
        if !same {
            let shown = |row: &[Option<String>]| {
                let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL"));
                cells.collect::<Vec<_>>().join(" | ")
            };
            return Some(format!(
                "results differ in row {number}: {}, {name} has {}",
                shown(ours),
                shown(theirs)
            ));
        }
    }
    None
}

/// Equal text, or numbers that agree as far as the shorter one's digits go:
/// averages are decimals on one side and floats on the other.
fn same(ours: &str, theirs: &str) -> bool {
    if ours == theirs {
        return true;
    }
    let (Ok(a), Ok(b)) = (ours.parse::<f64>(), theirs.parse::<f64>()) else {
        return false;
    };
    (a - b).abs() <= 1e-5 + a.abs() * 1e-12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_agree_as_far_as_their_digits_go() {
        assert!(same("25.522005", "25.522005853257337"));
        assert!(same("380456", "380456.00"));
        assert!(!same("380456", "380457"));
        assert!(!same("1994-01-01", "1994-01-02"));
        let row = |text: &str| vec![vec![Some(text.to_string()), None]];
        assert_eq!(difference(&row("1"), &row("1.0"), "x"), None);
        assert_eq!(difference(&row("MAIL      "), &row("MAIL"), "x"), None);
        assert!(difference(&row("1"), &row("2"), "x").is_some());
        assert!(difference(&row("1"), &Vec::new(), "x").is_some());
    }

    #[test]
    fn rows_that_tie_may_come_either_way() {
        let rows = |rows: &[[&str; 2]]| -> Cells {
            let cells = |row: &[&str; 2]| row.iter().map(|cell| Some(cell.to_string())).collect();
            rows.iter().map(cells).collect()
        };
        let (a, b) = (
            rows(&[["1", "x"], ["2", "x"]]),
            rows(&[["2", "x"], ["1", "x"]]),
        );
        assert_eq!(difference(&a, &b, "x"), None);
        let (a, b) = (
            rows(&[["1", "x"], ["2", "y"]]),
            rows(&[["2", "y"], ["1", "x"]]),
        );
        assert!(difference(&a, &b, "x").is_some());
    }
}
