//! Wide columns and wide rows (Q, figures 15 and 16).

use super::figure::{by_width, judged, large_blocks, nanoseconds_per_value, widths};
use super::organisation::Organisation;
use super::query::{Access, Query};
use super::race::{Contender, Lab, Ratios, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;
use std::ops::Range;

/// Figure 15: ten strings of 20 characters.
pub const STRINGS: Experiment = Experiment {
    id: "q15",
    source: "Q, figure 15",
    title: "Wide columns",
    need: |setting| need(setting, TableKind::Strings),
    run: |setting| run(setting, TableKind::Strings),
};

/// Figure 16: fifty integers.
pub const WIDE: Experiment = Experiment {
    id: "q16",
    source: "Q, figure 16",
    title: "Wide rows",
    need: |setting| need(setting, TableKind::WideE),
    run: |setting| run(setting, TableKind::WideE),
};

const ROW: &str = "row store";
const COLUMN: &str = "column store";

/// The column that is asked: of Wide-E one with over 10,000 values.
const ASKED: usize = 20;

/// Shares of rows that match, and how they are found; the first is that of the figures.
const CASES: [(f64, Access); 3] = [
    (0.5, Access::Scan),
    (0.01, Access::Index),
    (0.1, Access::Index),
];

fn need(setting: &Setting, kind: TableKind) -> Need {
    Need {
        memory: memory(setting, kind, 4),
        ..Need::default()
    }
}

fn run(setting: &Setting, kind: TableKind) -> Result<Outcome> {
    let mut lab = Lab::new(setting, kind, 4);
    let cut = large_blocks(&lab);
    let asked = ASKED.min(kind.columns() - 1);
    let organised =
        [Layout::Row, Layout::Column].map(|layout| Organisation::plain(layout, cut).indexed(asked));
    let (rows, columns) = (lab.load(&organised[0])?, lab.load(&organised[1])?);
    let replicas = (lab.replica(&organised[0])?, lab.replica(&organised[1])?);
    let generator = lab.generator();
    let widths = widths(&lab);
    let (mut plots, mut sides) = (Vec::new(), [Vec::new(), Vec::new()]);
    for (share, access) in CASES {
        let contenders = [
            Contender::new(ROW, &rows, access),
            Contender::new(COLUMN, &columns, access),
            Contender::paper(ROW, &replicas.0, access),
            Contender::paper(COLUMN, &replicas.1, access),
        ];
        let sweep = lab.sweep(&contenders, &widths, |width, turn| {
            let projection = generator.projection(width as usize, turn as u64);
            Query::of(kind, projection, asked, share)
        })?;
        let way = match (access, kind) {
            (Access::Index, _) => "CSB+-tree",
            (_, TableKind::Strings) => "scan (figure 15)",
            _ => "scan (figure 16)",
        };
        plots.push(by_width(
            &format!("{kind:?}, {way}, {} %", share * 100.0),
            &sweep,
        ));
        for (side, sweep) in sides.iter_mut().zip(sweep.sides()) {
            let cost = |name| nanoseconds_per_value(&lab, &sweep, name, share);
            side.push(Found {
                ratios: sweep.ratios(COLUMN, ROW),
                costs: [cost(ROW), cost(COLUMN)],
            });
        }
    }
    let claims = match kind {
        TableKind::Strings => of_strings(&sides),
        _ => of_wide_rows(&sides),
    };
    let strings = match kind {
        TableKind::Strings => {
            " A tuple of Freestone's row store has an offset of four bytes for each string; the \
             characters lie in a heap of the block, those of one tuple side by side. The paper has \
             them in the tuple; keys of its tree are the first 16."
        }
        _ => "",
    };
    Ok(Outcome {
        setup: lab.setup(&format!(
            "The predicate is on a column that is not sorted.{strings}"
        )),
        plots,
        claims,
        ..Outcome::default()
    })
}

/// What one of the cases shows.
struct Found {
    /// The column store's time over the row store's, by width.
    ratios: Ratios,
    /// Nanoseconds of a thread for a further value of a row, of rows and of columns.
    costs: [f64; 2],
}

fn case(number: usize) -> String {
    let (share, access) = CASES[number];
    let way = if access == Access::Index {
        "index"
    } else {
        "scan"
    };
    format!("{way} at {} %", share * 100.0)
}

fn listed(found: &[Found], cases: Range<usize>) -> String {
    let each = cases.map(|number| format!("{}: {} columns", case(number), found[number].ratios));
    format!(
        "the column store's time over the row store's is {}.",
        each.collect::<Vec<String>>().join("; ")
    )
}

/// What further columns cost, and why rows of Freestone do not gain what they gain in the
/// paper.
fn why([replica, own]: &[Vec<Found>; 2], cases: Range<usize>) -> [String; 2] {
    let costs = |found: &[Found]| {
        let each = cases.clone().map(|number| {
            let [row, column] = found[number].costs;
            format!("{row:.1} and {column:.1} ns ({})", case(number))
        });
        format!(
            "Each further column costs a row of the result {} of a thread, from rows and from columns",
            each.collect::<Vec<String>>().join(", ")
        )
    };
    [
        format!("{}.", costs(replica)),
        format!(
            "{}: Freestone gives a projection column by column, of rows as well, and puts tuples \
             together afterwards; it copies no tuple as a whole.",
            costs(own)
        ),
    ]
}

/// A claim on some of the cases.
fn on(
    says: &str,
    sides: &[Vec<Found>; 2],
    cases: Range<usize>,
    holds: impl Fn(&Found) -> bool,
) -> Claim {
    let why = why(sides, cases.clone());
    judged(
        says,
        sides,
        |found| {
            let holds = found[cases.clone()].iter().all(&holds);
            (holds, listed(found, cases.clone()))
        },
        why.each_ref().map(String::as_str),
    )
}

fn of_strings(sides: &[Vec<Found>; 2]) -> Vec<Claim> {
    let narrow = |found: &Found| found.ratios.of(|width| width == 1.0 || width == 3.0);
    let several = |found: &Found| found.ratios.of(|width| width > 1.0);
    vec![
        on(
            "Section 4.8, figure 15: with wide columns, scanned at 50 %, column stores beat row \
             stores for narrow projections (holds if they do with 1 and 3 columns).",
            sides,
            0..1,
            |found| narrow(found).no_longer(),
        ),
        on(
            "Section 4.8: with an index at 1 and 10 %, row stores are still faster when more than \
             one column is projected (holds if they are with 3, 5 and 10 columns).",
            sides,
            1..3,
            |found| several(found).no_shorter(),
        ),
    ]
}

fn of_wide_rows(sides: &[Vec<Found>; 2]) -> Vec<Claim> {
    let at = |found: &Found, wanted: f64| found.ratios.of(|width| width == wanted);
    let projecting = |found: &Found| found.ratios.of(|width| width > 0.0);
    vec![
        on(
            "Section 4.9, figure 16: with wide rows, scanned at 50 %, a column store is faster for \
             narrow projections (holds if it is with one column).",
            sides,
            0..1,
            |found| at(found, 1.0).no_longer(),
        ),
        on(
            "Section 4.9, figure 16: and a row store is faster for wide ones (holds if it is with \
             all 50 columns).",
            sides,
            0..1,
            |found| at(found, 50.0).no_shorter(),
        ),
        on(
            "Section 4.9: with an index at 1 and 10 %, a row store is faster at every width (holds \
             if it is with 1, 15, 25 and 50 columns).",
            sides,
            1..3,
            |found| projecting(found).no_shorter(),
        ),
    ]
}
