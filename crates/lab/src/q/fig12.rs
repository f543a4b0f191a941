//! Conjunctions of three conditions (Q, figures 12 and 13).

use super::figure::{by_width, judged, large_blocks, widths};
use super::organisation::Organisation;
use super::query::{Access, Query};
use super::race::{Contender, Lab, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figures 12 and 13: four ways to evaluate a conjunction; rows against columns.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q12",
    source: "Q, figures 12 and 13",
    title: "Conjunctions",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

const SCAN: &str = "scan";
const INDEX: &str = "CSB+-tree, then filter";
const SEARCH: &str = "search of the sorted column, then filter";
const BOTH: &str = "search and CSB+-tree, then filter";
const CHOSEN: &str = "as Freestone chooses";
const ROW: &str = "row store";
const COLUMN: &str = "column store";

/// Shares of rows that pass all three conditions; the first is that of the figures.
const SHARES: [f64; 3] = [0.01, 0.001, 0.1];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 6),
        ..Need::default()
    }
}

/// Three conditions on columns that do not depend on each other, equally selective: the
/// sorted column, the indexed one, and one more.
fn query(projection: Vec<usize>, share: f64) -> Query {
    let conditions = [0, 1, 2].map(|column| (column, KIND.at_least(column, share.cbrt())));
    Query {
        projection,
        conditions: conditions.to_vec(),
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 6);
    let cut = large_blocks(&lab);
    let load = |organisation: Organisation| {
        let organisation = organisation.indexed(1);
        Result::Ok((lab.load(&organisation)?, lab.replica(&organisation)?))
    };
    let columns = load(Organisation::plain(Layout::Column, cut))?;
    let sorted = load(Organisation::plain(Layout::Column, cut).sorted(0))?;
    let rows = load(Organisation::plain(Layout::Row, cut))?;
    let ways = [
        Contender::new(SCAN, &columns.0, Access::Scan),
        Contender::new(INDEX, &columns.0, Access::Index),
        Contender::new(SEARCH, &sorted.0, Access::Scan),
        Contender::new(BOTH, &sorted.0, Access::Index),
        Contender::new(CHOSEN, &sorted.0, Access::Chosen),
        Contender::paper(SCAN, &columns.1, Access::Scan),
        Contender::paper(INDEX, &columns.1, Access::Index),
        Contender::paper(SEARCH, &sorted.1, Access::Scan),
        Contender::paper(BOTH, &sorted.1, Access::Index),
    ];
    let layouts = [
        Contender::new(ROW, &rows.0, Access::Index),
        Contender::new(COLUMN, &columns.0, Access::Index),
        Contender::paper(ROW, &rows.1, Access::Index),
        Contender::paper(COLUMN, &columns.1, Access::Index),
    ];
    let generator = lab.generator();
    let widths = widths(&lab);
    let (mut plots, mut sides) = (Vec::new(), [Sides::default(), Sides::default()]);
    for share in SHARES {
        let ask = |width: f64, turn: usize| {
            query(generator.projection(width as usize, turn as u64), share)
        };
        let (by_way, by_layout) = (
            lab.sweep(&ways, &widths, ask)?,
            lab.sweep(&layouts, &widths, ask)?,
        );
        let title = format!("conjunction of three conditions, {} %", share * 100.0);
        plots.push(by_width(
            &format!("Figure 12: {title}, column store"),
            &by_way,
        ));
        plots.push(by_width(
            &format!("Figure 13: {title}, CSB+-tree"),
            &by_layout,
        ));
        let pairs = by_way.sides().into_iter().zip(by_layout.sides());
        for (side, (by_way, by_layout)) in sides.iter_mut().zip(pairs) {
            side.ways.push(by_way);
            side.layouts.push(by_layout);
        }
    }
    Ok(Outcome {
        setup: lab.setup(
            "Each of the three conditions passes the cube root of the share by itself: 21.5 % for \
             1 %. Search and index, and index alone, are made to be used; the last curve of figure \
             12 is what Freestone chooses in sorted blocks that have the index.",
        ),
        plots,
        claims: claims(&lab, &sides),
        ..Outcome::default()
    })
}

/// Sweeps over widths for each share.
#[derive(Default)]
struct Sides {
    /// Of ways to evaluate the conjunction,
    ways: Vec<Sweep>,
    /// and of layouts.
    layouts: Vec<Sweep>,
}

/// A ratio of two ways for each share.
fn listed(sweeps: &[Sweep], way: &str, other: &str) -> String {
    let each = sweeps.iter().zip(SHARES);
    let each = each
        .map(|(sweep, share)| format!("{} %: {} columns", share * 100.0, sweep.ratios(way, other)));
    each.collect::<Vec<String>>().join("; ")
}

/// What the ways cost without output at the first of the shares.
fn costs(lab: &Lab, sweep: &Sweep) -> String {
    let alone = SHARES[0].cbrt();
    let nanoseconds = |way, rows: f64| {
        let seconds = sweep
            .medians(way)
            .first()
            .map_or(f64::NAN, |(_, seconds)| *seconds);
        seconds * 1e9 * lab.threads as f64 / rows
    };
    let rows = lab.rows as f64;
    format!(
        "Without output, a scan takes {:.1} ns of a thread for each row of the table, and the index \
         with its filter {:.1} ns for each of the {:.1} % that it finds",
        nanoseconds(SCAN, rows),
        nanoseconds(INDEX, rows * alone),
        alone * 100.0
    )
}

fn claims(lab: &Lab, sides: &[Sides; 2]) -> Vec<Claim> {
    let all = |sweeps: &[Sweep], way: &str, other: &str| {
        sweeps
            .iter()
            .all(|sweep| sweep.ratios(way, other).no_longer())
    };
    let narrow = |sweep: &Sweep| sweep.ratios(COLUMN, ROW).of(|width| width == 1.0);
    let [replica, own] = sides.each_ref().map(|side| costs(lab, &side.ways[0]));
    let why = [
        &format!(
            "{replica}. Search alone reads rows in the order in which they lie, the others in that \
             of the index, which counts where many columns of many rows are read."
        ),
        &format!(
            "{own}: Freestone tests packed values, many at once, where rows are in order, while rows \
             from an index have to be brought into order and each of their values fetched."
        ),
    ];
    let why = why.map(String::as_str);
    vec![
        judged(
            "Figure 12: a scan is the slowest way to evaluate a conjunction of 1 % (holds if \
             search, index and both take no longer at any width).",
            sides,
            |side| {
                let first = &side.ways[..1];
                let mut ways = [SEARCH, INDEX, BOTH].into_iter();
                let measured = format!(
                    "time over that of the scan is, by search, {}; by index, {}; by both, {}.",
                    listed(first, SEARCH, SCAN),
                    listed(first, INDEX, SCAN),
                    listed(first, BOTH, SCAN)
                );
                (ways.all(|way| all(first, way, SCAN)), measured)
            },
            why,
        ),
        judged(
            "Observation 12: below 10 %, search of the sorted column and index together beat either \
             alone (holds if they take no longer than each at 0.1 and 1 % and every width).",
            sides,
            |side| {
                let ways = &side.ways[..2];
                let measured = format!(
                    "both over index alone is {}; both over search alone, {}.",
                    listed(&side.ways, BOTH, INDEX),
                    listed(&side.ways, BOTH, SEARCH)
                );
                (all(ways, BOTH, INDEX) && all(ways, BOTH, SEARCH), measured)
            },
            why,
        ),
        judged(
            "Figure 13: with an index on one of three columns, at 0.1 and 1 %, column stores are \
             slightly faster than row stores for narrow projections, against observation 7 (holds \
             if they are with one column).",
            sides,
            |side| {
                let mut some = side.layouts.iter().take(2);
                let measured = format!(
                    "the column store's time over the row store's is {}.",
                    listed(&side.layouts, COLUMN, ROW)
                );
                (some.all(|sweep| narrow(sweep).no_longer()), measured)
            },
            ["", ""],
        ),
        of_choice(&sides[1].ways),
    ]
}

/// What Freestone chooses, beside the two ways that sorted blocks with an index have.
fn of_choice(ways: &[Sweep]) -> Claim {
    Claim::tested(
        "Section 4.6: which ways to use can be left to the block (holds if what Freestone \
         chooses in sorted blocks with an index takes at most 30 % longer than the best of the \
         two at every width and share).",
        ways.iter().all(|sweep| {
            let (both, search) = (sweep.ratios(CHOSEN, BOTH), sweep.ratios(CHOSEN, SEARCH));
            let pairs = both.0.iter().zip(&search.0);
            pairs
                .into_iter()
                .all(|(both, search)| both.1.max(search.1) <= 1.3)
        }),
        format!(
            "Its time over search alone: {}; over both: {}.",
            listed(ways, CHOSEN, SEARCH),
            listed(ways, CHOSEN, BOTH)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tables::Generator;
    use super::*;
    use freestone_storage::Value;

    #[test]
    fn conditions_pass_their_share_together() {
        let generator = Generator {
            kind: KIND,
            seed: 1,
        };
        let rows = 100_000;
        for share in SHARES {
            let query = query(Vec::new(), share);
            let passes = |row: &u64| {
                let mut conditions = query.conditions.iter();
                conditions.all(|(column, value)| {
                    let here = Value::Int(generator.integer(*column, *row).into());
                    value.total_order(&here).is_le()
                })
            };
            let passed = (0..rows).filter(passes).count() as f64;
            let expected = share * rows as f64;
            assert!(
                (passed - expected).abs() < 5.0 * expected.sqrt(),
                "{share}: {passed}"
            );
        }
    }
}
