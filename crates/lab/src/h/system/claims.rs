//! What H says of system time, put to the test.

use super::reading::{Measured, Side};
use crate::h::setup::nanoseconds;
use crate::measure::percent;
use crate::outcome::Claim;

/// Attributes before, and at the end of, the three long texts of LINEITEM.
const TEXTS: (usize, usize) = (8, 11);

/// So many attributes are told apart: one is a fortieth of what all take, as are some turns.
const STEP: usize = 4;
/// What a request for one of several files has to cost more, to count.
const MORE: f64 = 1.05;

/// All of them, of LINEITEM, ORDERS and ORDERS-Z.
pub(super) fn claims(measured: &[Measured]) -> Vec<Claim> {
    let [lineitem, orders, compressed] = measured else {
        return Vec::new();
    };
    vec![
        same_for_rows(&lineitem.rows),
        grows_for_columns(&lineitem.columns),
        jumps(&lineitem.columns),
        more_for_all(lineitem),
        less_on_average(lineitem),
        smaller_share(lineitem, orders),
        reduced(orders, compressed),
    ]
}

/// System time for 1, 2, … attributes.
fn all(side: &Side) -> Vec<f64> {
    let all = 1..=side.attributes();
    all.map(|attributes| side.system(attributes)).collect()
}

fn shown(seconds: &[f64]) -> String {
    let shown: Vec<String> = seconds
        .iter()
        .map(|seconds| format!("{:.1}", 1e9 * seconds))
        .collect();
    format!("{} ns", shown.join(", "))
}

fn largest(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(0.0, f64::max)
}

fn same_for_rows(rows: &Side) -> Claim {
    let seconds = all(rows);
    let least = seconds.iter().copied().fold(f64::MAX, f64::min);
    Claim::tested(
        "Section 4.1: rows spend the same system time whatever is selected (tolerance: 10 %)",
        largest(&seconds) <= 1.1 * least,
        format!(
            "For 1 to 16 attributes of LINEITEM a tuple takes {}.",
            shown(&seconds)
        ),
    )
}

fn grows_for_columns(columns: &Side) -> Claim {
    let seconds = all(columns);
    let grows = seconds.windows(STEP + 1).all(|few| few[STEP] > few[0]);
    Claim::tested(
        format!(
            "Section 4.1: that of columns keeps increasing with the attributes that are read \
             (holds if {STEP} more always take more)"
        ),
        grows,
        format!("For 1 to 16 attributes a tuple takes {}.", shown(&seconds)),
    )
}

fn jumps(columns: &Side) -> Claim {
    let (before, end) = TEXTS;
    let texts = (columns.system(end) - columns.system(before)) / (end - before) as f64;
    let after = columns.attributes() - end;
    let integers = (columns.system(columns.attributes()) - columns.system(end)) / after as f64;
    Claim::tested(
        "Section 4.1: it jumps where the long texts are added (here: each adds at least three \
         times as much as the integers after them)",
        texts >= 3.0 * integers,
        format!(
            "A text adds {} a tuple, an integer {}.",
            nanoseconds(texts),
            nanoseconds(integers)
        ),
    )
}

fn more_for_all(table: &Measured) -> Claim {
    let attributes = table.rows.attributes();
    let (rows, columns) = (
        table.rows.system(attributes),
        table.columns.system(attributes),
    );
    Claim::tested(
        "Section 4.1: for all attributes columns spend more system time than rows, as several \
         files are asked for (here: 5 % at least)",
        columns >= MORE * rows,
        format!(
            "For all attributes rows take {} a tuple and columns {}, {:.2} times as much. A request \
             costs as much here whichever file it is for.",
            nanoseconds(rows),
            nanoseconds(columns),
            columns / rows
        ),
    )
}

fn less_on_average(table: &Measured) -> Claim {
    let both = |side: &Side| side.mean(Side::both);
    let system = |side: &Side| side.mean(Side::system);
    Claim::tested(
        "Section 4.1: on average over all numbers of attributes columns take somewhat less CPU \
         time than rows, due to less work in the system",
        both(&table.columns) < both(&table.rows) && system(&table.columns) < system(&table.rows),
        format!(
            "On average columns take {} a tuple, {} of it in the system; rows {} and {}.",
            nanoseconds(both(&table.columns)),
            nanoseconds(system(&table.columns)),
            nanoseconds(both(&table.rows)),
            nanoseconds(system(&table.rows)),
        ),
    )
}

fn smaller_share(lineitem: &Measured, orders: &Measured) -> Claim {
    let share = |side: &Side| side.mean(Side::share);
    let [rows, columns] = [&lineitem.rows, &lineitem.columns].map(share);
    let [narrow_rows, narrow_columns] = [&orders.rows, &orders.columns].map(share);
    Claim::tested(
        "Section 4.3: system time is a smaller share of CPU time for ORDERS than for LINEITEM, \
         as less is read for a tuple",
        narrow_rows < rows && narrow_columns < columns,
        format!(
            "On average over all numbers of attributes it is {} of rows' time for ORDERS and {} for \
             LINEITEM, {} and {} of columns'.",
            percent(narrow_rows),
            percent(rows),
            percent(narrow_columns),
            percent(columns),
        ),
    )
}

fn reduced(orders: &Measured, compressed: &Measured) -> Claim {
    let system = |side: &Side| side.mean(Side::system);
    let [rows, columns] = [&orders.rows, &orders.columns].map(system);
    let [less_rows, less_columns] = [&compressed.rows, &compressed.columns].map(system);
    Claim::tested(
        "Section 4.4: compression reduces the system time of rows and of columns",
        less_rows < rows && less_columns < columns,
        format!(
            "On average rows of ORDERS-Z take {} a tuple and of ORDERS {}, columns {} and {}.",
            nanoseconds(less_rows),
            nanoseconds(rows),
            nanoseconds(less_columns),
            nanoseconds(columns),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h::sweep::Curve;
    use crate::outcome::Verdict;

    fn side(nanoseconds: [f64; 16]) -> Side {
        Side {
            system: Curve::of(&nanoseconds.map(|one| 1e-9 * one)),
            user: Curve::of(&[1e-9; 16]),
        }
    }

    /// Rows read 152 bytes whatever is selected, columns what they need.
    #[test]
    fn system_time_by_bytes_is_that_of_the_document() {
        let widths = [4, 4, 4, 4, 4, 4, 1, 1, 25, 10, 69, 4, 4, 4, 4, 4];
        let mut bytes = 0.0;
        let columns = widths.map(|width| {
            bytes += f64::from(width);
            bytes
        });
        let narrow = columns.map(|bytes| bytes / 5.0);
        let table = |name, rows: f64, columns| Measured {
            name,
            rows: side([rows; 16]),
            columns: side(columns),
        };
        let tables = [
            table("LINEITEM", 140.0, columns),
            table("ORDERS", 32.0, narrow),
            table("ORDERS-Z", 12.0, narrow.map(|bytes| bytes / 3.0)),
        ];
        for claim in claims(&tables) {
            assert_eq!(claim.verdict, Verdict::Holds, "{claim:?}");
        }
        let other = [
            table("LINEITEM", 151.0, columns.map(|bytes| 150.0 - bytes)),
            table("ORDERS", 152.0, columns),
            table("ORDERS-Z", 153.0, columns.map(|bytes| bytes + 1.0)),
        ];
        let claims = claims(&other);
        for place in [1, 2, 3, 5, 6] {
            let claim = &claims[place];
            assert_eq!(claim.verdict, Verdict::DoesNotHold, "{claim:?}");
        }
    }
}
