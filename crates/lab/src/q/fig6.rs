//! Row stores against column stores where the column is not sorted (Q, figures 6 and 7).

use super::figure::{by_width, judged, large_blocks, nanoseconds_per_value, tested, widths};
use super::organisation::{Cut, Organisation};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Ratios, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figures 6 and 7: row store against column store, by index and by scan.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q6",
    source: "Q, figures 6 and 7",
    title: "Row store and column store: column that is not sorted",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

const ROW: &str = "row store";
const COLUMN: &str = "column store";

/// Shares of rows that match, and how they are found; the second is that of figure 6,
/// the fourth that of figure 7.
const CASES: [(f64, Access); 5] = [
    (0.001, Access::Index),
    (0.01, Access::Index),
    (0.1, Access::Index),
    (0.5, Access::Scan),
    (1.0, Access::Scan),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 8),
        ..Need::default()
    }
}

fn title(cut: &str, (share, access): (f64, Access)) -> String {
    let way = match access {
        Access::Index => "CSB+-tree",
        _ => "scan",
    };
    let figure = match (cut, share) {
        ("blocks", 0.01) => "Figure 6: ",
        ("blocks", 0.5) => "Figure 7: ",
        _ => "",
    };
    format!(
        "{figure}column that is not sorted, {cut}, {way}, {}",
        percent(share)
    )
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 8);
    let cut = large_blocks(&lab);
    let load = |cut| {
        let [rows, columns] =
            [Layout::Row, Layout::Column].map(|layout| Organisation::plain(layout, cut).indexed(1));
        Result::Ok((
            [lab.load(&rows)?, lab.load(&columns)?],
            [lab.replica(&rows)?, lab.replica(&columns)?],
        ))
    };
    let (in_blocks, in_files) = (load(cut)?, load(Cut::Files)?);
    let mut plots = Vec::new();
    let mut sides = [Sides::default(), Sides::default()];
    for (number, (name, tables)) in [("blocks", &in_blocks), ("files", &in_files)]
        .into_iter()
        .enumerate()
    {
        let ([rows, columns], [row_replica, column_replica]) = tables;
        for case in CASES {
            let contenders = [
                Contender::new(ROW, rows, case.1),
                Contender::new(COLUMN, columns, case.1),
                Contender::paper(ROW, row_replica, case.1),
                Contender::paper(COLUMN, column_replica, case.1),
            ];
            let sweep = measured(&mut lab, &contenders, case.0)?;
            plots.push(by_width(&title(name, case), &sweep));
            for (side, sweep) in sides.iter_mut().zip(sweep.sides()) {
                let cost = |name| nanoseconds_per_value(&lab, &sweep, name, case.0);
                side.0[number].push(Found {
                    ratios: sweep.ratios(ROW, COLUMN),
                    costs: [cost(ROW), cost(COLUMN)],
                });
            }
        }
    }
    let setup = lab.setup(
        "A scan of Freestone gives columns, of rows as well, from which the tuples of the result \
         are put together; rows that an index finds are read in the order in which they lie.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims: claims(&sides),
        ..Outcome::default()
    })
}

fn measured(lab: &mut Lab, contenders: &[Contender<'_>], share: f64) -> Result<Sweep> {
    let generator = lab.generator();
    lab.sweep(contenders, &widths(lab), |width, turn| {
        let projection = generator.projection(width as usize, turn as u64);
        Query::of(KIND, projection, 1, share)
    })
}

/// The cases in blocks, and in files.
#[derive(Default)]
struct Sides([Vec<Found>; 2]);

/// What one of the cases shows.
struct Found {
    /// The row store's time over the column store's, by width.
    ratios: Ratios,
    /// Nanoseconds of a thread for a further value of a row, of rows and of columns.
    costs: [f64; 2],
}

impl Found {
    fn mean(&self) -> f64 {
        self.ratios.of(|width| width > 0.0).mean()
    }
}

fn percent(share: f64) -> String {
    format!("{} %", share * 100.0)
}

fn listed(found: &[Found], cases: &[(f64, Access)]) -> String {
    let each = found.iter().zip(cases);
    let each =
        each.map(|(found, (share, _))| format!("{}: {} columns", percent(*share), found.ratios));
    format!(
        "the row store's time over the column store's is {}.",
        each.collect::<Vec<String>>().join("; ")
    )
}

/// What further columns cost.
fn costs(found: &[Found], cases: &[(f64, Access)]) -> String {
    let each = found.iter().zip(cases).map(|(found, (share, _))| {
        let [row, column] = found.costs;
        format!("{row:.1} and {column:.1} ns at {}", percent(*share))
    });
    format!(
        "Each further column costs a row of the result {} of a thread, from rows and from columns",
        each.collect::<Vec<String>>().join(", ")
    )
}

/// Why Freestone's rows do not gain what they gain in the paper.
fn why(found: &[Found], cases: &[(f64, Access)]) -> String {
    format!(
        "{}: Freestone gives projections column by column, so that it visits the tuples of a row \
         store once for each column, picks one field at a time and never copies a tuple, while \
         values of a column that lie side by side are copied or gathered many at once.",
        costs(found, cases)
    )
}

/// How many points are at least 5 % faster with rows, and how many with columns.
fn wins(found: &[Found]) -> (usize, usize) {
    let count = |holds: &dyn Fn(f64) -> bool| {
        let points = found.iter().flat_map(|found| &found.ratios.0);
        points
            .into_iter()
            .filter(|(_, ratio)| holds(*ratio))
            .count()
    };
    (count(&|ratio| ratio <= 0.95), count(&|ratio| ratio >= 1.05))
}

fn claims(sides: &[Sides; 2]) -> Vec<Claim> {
    fn indexed(side: &Sides) -> &[Found] {
        &side.0[0][..3]
    }
    fn scanned(side: &Sides) -> &[Found] {
        &side.0[0][3..]
    }
    let several = |found: &Found| found.ratios.of(|width| width > 1.0);
    let at = |found: &Found, wanted: f64| found.ratios.of(|width| width == wanted).mean();
    let best = |found: &[Found], holds: &dyn Fn(f64) -> bool| {
        found.iter().any(|found| holds(found.mean()))
    };
    let [replica, own] = sides;
    let because = |found: &dyn Fn(&Sides) -> &[Found], cases: &[(f64, Access)]| {
        [
            format!("{}.", costs(found(replica), cases)),
            why(found(own), cases),
        ]
    };
    let of_index = because(&indexed, &CASES);
    let of_scan = because(&scanned, &CASES[3..]);
    let of_files = because(&|side| &side.0[1], &CASES);
    vec![
        judged(
            "Observation 7, figure 6: on a column that is not sorted, with an index, row stores \
             beat column stores when more than one column is projected (holds if they do at 0.1, 1 \
             and 10 % with 3, 5 and 10 columns).",
            sides,
            |side| {
                let faster = |found: &Found| several(found).no_longer();
                (
                    indexed(side).iter().all(faster),
                    listed(indexed(side), &CASES),
                )
            },
            of_index.each_ref().map(String::as_str),
        ),
        judged(
            "Observation 7: and more so the wider the projection is (holds if the ratio of their \
             times falls from 1 to 10 columns at each share).",
            sides,
            |side| {
                let falls = |found: &Found| at(found, 10.0) < at(found, 1.0);
                (
                    indexed(side).iter().all(falls),
                    listed(indexed(side), &CASES),
                )
            },
            of_index.each_ref().map(String::as_str),
        ),
        judged(
            "Observation 7, figure 7: scanned, row stores and column stores take nearly the same \
             time (holds if within 25 % of each other at 50 % for every width of 1 and more).",
            sides,
            |side| {
                let half = scanned(side)[0].ratios.of(|width| width > 0.0);
                (half.about_one(0.25), listed(scanned(side), &CASES[3..]))
            },
            of_scan.each_ref().map(String::as_str),
        ),
        judged(
            "Observation 8: with files, which of the two is best depends on selectivity, width and \
             index (holds if each is at least 5 % faster at two points or more).",
            sides,
            |side| {
                let (rows, columns) = wins(&side.0[1]);
                let measured = format!(
                    "of {} points rows are faster at {rows}, columns at {columns}; {}",
                    CASES.len() * KIND.widths().len(),
                    listed(&side.0[1], &CASES)
                );
                (rows >= 2 && columns >= 2, measured)
            },
            of_files.each_ref().map(String::as_str),
        ),
        tested(
            "Insight 2: both layouts should be there, as each is best for something (holds if, in \
             blocks, each is at least 5 % faster over all widths for one of the shares).",
            best(&own.0[0], &|mean| mean <= 0.95) && best(&own.0[0], &|mean| mean >= 1.05),
            format!(
                "Freestone: the row store's time over the column store's, over all widths, is {}.",
                means(&own.0[0])
            ),
            &format!(
                "{} With the paper's own program it is {}.",
                why(&own.0[0], &CASES),
                means(&replica.0[0])
            ),
        ),
        Claim::untested(
            "Section 4.3: in a commercial system (DB-X) column stores slightly outperform row \
             stores when scanning.",
            "The paper does not name the system.",
        ),
    ]
}

fn means(found: &[Found]) -> String {
    let each = found.iter().zip(CASES);
    let each = each.map(|(found, (share, _))| format!("{:.2} at {}", found.mean(), percent(share)));
    each.collect::<Vec<String>>().join(", ")
}
