//! Wide columns and wide rows (Q, figures 15 and 16).

use super::figure::{blocks, by_width, widths};
use super::organisation::Organisation;
use super::query::{Access, Query};
use super::race::{Contender, Lab, Ratios, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

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
        memory: memory(setting, kind, 2),
        ..Need::default()
    }
}

fn run(setting: &Setting, kind: TableKind) -> Result<Outcome> {
    let mut lab = Lab::new(setting, kind, 2);
    let cut = blocks(setting, &lab);
    let asked = ASKED.min(kind.columns() - 1);
    let load = |layout| lab.load(&Organisation::plain(layout, cut).indexed(asked));
    let (rows, columns) = (load(Layout::Row)?, load(Layout::Column)?);
    let generator = lab.generator();
    let widths = widths(&lab);
    let (mut plots, mut found) = (Vec::new(), Vec::new());
    for (share, access) in CASES {
        let contenders = [
            Contender::new(ROW, &rows, access),
            Contender::new(COLUMN, &columns, access),
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
        found.push(sweep.ratios(COLUMN, ROW));
    }
    let claims = match kind {
        TableKind::Strings => of_strings(&found),
        _ => of_wide_rows(&found),
    };
    Ok(Outcome {
        setup: lab.setup(
            "The predicate is on a column that is not sorted. Strings of a row lie behind its fixed \
             part, in a heap of the block, where Freestone keeps all values of varying length.",
        ),
        plots,
        claims,
        ..Outcome::default()
    })
}

fn listed(found: &[Ratios]) -> String {
    let each = found.iter().zip(CASES);
    let each = each.map(|(ratios, (share, access))| {
        let way = if access == Access::Index {
            "index"
        } else {
            "scan"
        };
        format!("{way} at {} %: {ratios} columns", share * 100.0)
    });
    each.collect::<Vec<String>>().join("; ")
}

/// Claims on the column store's time over the row store's: scan, then indexes.
fn of_strings(found: &[Ratios]) -> Vec<Claim> {
    let scan = found[0].of(|width| width == 1.0 || width == 3.0);
    let several = |ratios: &Ratios| ratios.of(|width| width > 1.0);
    vec![
        Claim::tested(
            "Section 4.8, figure 15: with wide columns, scanned at 50 %, column stores beat row \
             stores for narrow projections (holds if they do with 1 and 3 columns).",
            scan.at_most(1.0),
            format!(
                "Column store's time over the row store's: {}.",
                listed(&found[..1])
            ),
        ),
        Claim::tested(
            "Section 4.8: with an index at 1 and 10 %, row stores are still faster when more than \
             one column is projected (holds if they are with 3, 5 and 10 columns).",
            found[1..]
                .iter()
                .all(|ratios| several(ratios).at_least(1.0)),
            format!(
                "Column store's time over the row store's: {}.",
                listed(found)
            ),
        ),
    ]
}

/// The same for wide rows.
fn of_wide_rows(found: &[Ratios]) -> Vec<Claim> {
    let at = |wanted: f64| found[0].of(|width| width == wanted);
    let projecting = |ratios: &Ratios| ratios.of(|width| width > 0.0);
    vec![
        Claim::tested(
            "Section 4.9, figure 16: with wide rows, scanned at 50 %, a column store is faster for \
             narrow projections (holds if it is with one column).",
            at(1.0).at_most(1.0),
            format!(
                "Column store's time over the row store's: {}.",
                listed(&found[..1])
            ),
        ),
        Claim::tested(
            "Section 4.9, figure 16: and a row store is faster for wide ones (holds if it is with \
             all 50 columns).",
            at(50.0).at_least(1.0),
            format!(
                "Column store's time over the row store's: {}. Freestone decodes a projection \
                 column by column from rows as well and puts tuples together afterwards; it copies \
                 no tuple as a whole.",
                listed(&found[..1])
            ),
        ),
        Claim::tested(
            "Section 4.9: with an index at 1 and 10 %, a row store is faster at every width (holds \
             if it is with 1, 15, 25 and 50 columns).",
            found[1..]
                .iter()
                .all(|ratios| projecting(ratios).at_least(1.0)),
            format!(
                "Column store's time over the row store's: {}.",
                listed(found)
            ),
        ),
    ]
}
