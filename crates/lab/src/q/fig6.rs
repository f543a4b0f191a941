//! Row stores against column stores where the column is not sorted (Q, figures 6 and 7).

use super::figure::{blocks, by_width, widths};
use super::organisation::{Cut, Organisation, Stored};
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
        memory: memory(setting, KIND, 4),
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
        "{figure}column that is not sorted, {cut}, {way}, {} %",
        share * 100.0
    )
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 4);
    let cut = blocks(setting, &lab);
    let load = |cut| -> Result<[Stored; 2]> {
        let load = |layout| lab.load(&Organisation::plain(layout, cut).indexed(1));
        Ok([load(Layout::Row)?, load(Layout::Column)?])
    };
    let (in_blocks, in_files) = (load(cut)?, load(Cut::Files)?);
    let mut plots = Vec::new();
    let mut ratios = Vec::new();
    for (name, [rows, columns]) in [("blocks", &in_blocks), ("files", &in_files)] {
        let mut found = Vec::new();
        for case in CASES {
            let contenders = [
                Contender::new(ROW, rows, case.1),
                Contender::new(COLUMN, columns, case.1),
            ];
            let sweep = measured(&mut lab, &contenders, case.0)?;
            plots.push(by_width(&title(name, case), &sweep));
            found.push(sweep.ratios(ROW, COLUMN));
        }
        ratios.push(found);
    }
    let setup = lab.setup(
        "A scan of Freestone gives columns, of rows as well, from which the tuples of the result \
         are put together; rows that an index finds are read in the order in which they lie.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims: claims(&ratios[0], &ratios[1]),
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

fn listed(ratios: &[Ratios], cases: &[(f64, Access)]) -> String {
    let each = ratios.iter().zip(cases);
    let each = each.map(|(ratios, (share, _))| format!("{} %: {ratios} columns", share * 100.0));
    each.collect::<Vec<String>>().join("; ")
}

/// Claims on the row store's time over that of the column store, case by case, of
/// blocks and of files.
fn claims(in_blocks: &[Ratios], in_files: &[Ratios]) -> Vec<Claim> {
    let (indexed, scanned) = in_blocks.split_at(3);
    let several = |ratios: &Ratios| ratios.of(|width| width > 1.0);
    let narrow = |ratios: &Ratios| ratios.of(|width| width == 1.0).mean();
    let wide = |ratios: &Ratios| ratios.of(|width| width == 10.0).mean();
    let half = &scanned[0].of(|width| width > 0.0);
    let wins = |all: &[Ratios], holds: &dyn Fn(f64) -> bool| {
        let ratios = all.iter().flat_map(|ratios| &ratios.0);
        ratios
            .into_iter()
            .filter(|(_, ratio)| holds(*ratio))
            .count()
    };
    let (rows, columns) = (
        wins(in_blocks, &|ratio| ratio <= 0.95),
        wins(in_blocks, &|ratio| ratio >= 1.05),
    );
    let (file_rows, file_columns) = (
        wins(in_files, &|ratio| ratio <= 0.95),
        wins(in_files, &|ratio| ratio >= 1.05),
    );
    let of = CASES.len() * KIND.widths().len();
    let how = "Freestone reads a projection column by column from rows as well, so that a row \
               store's tuples are visited once for each column, and the cache holds them in \
               between; it copies no tuple as a whole.";
    vec![
        Claim::tested(
            "Observation 7, figure 6: on a column that is not sorted, with an index, row stores \
             beat column stores when more than one column is projected (holds if they do at 0.1, 1 \
             and 10 % with 3, 5 and 10 columns).",
            indexed.iter().all(|ratios| several(ratios).at_most(1.0)),
            format!(
                "Row store's time over the column store's: {}. {how}",
                listed(indexed, &CASES)
            ),
        ),
        Claim::tested(
            "Observation 7: and more so the wider the projection is (holds if the ratio falls from \
             1 to 10 columns at each share).",
            indexed.iter().all(|ratios| wide(ratios) < narrow(ratios)),
            format!(
                "Row store's time over the column store's: {}.",
                listed(indexed, &CASES)
            ),
        ),
        Claim::tested(
            "Observation 7, figure 7: scanned, row stores and column stores take nearly the same \
             time (holds if within 25 % of each other at 50 % for every width of 1 and more).",
            half.about_one(0.25),
            format!(
                "Row store's time over the column store's: {}. A predicate is tested on \
                 packed values of a column, many at once, where columns lie apart; of rows, each \
                 value is fetched by itself.",
                listed(scanned, &CASES[3..])
            ),
        ),
        Claim::tested(
            "Observation 8: with files, which of the two is best depends on selectivity, width and \
             index (holds if each is at least 5 % faster somewhere).",
            file_rows > 0 && file_columns > 0,
            format!(
                "Of {of} cases rows are faster in {file_rows}, columns in {file_columns}: {}.",
                listed(in_files, &CASES)
            ),
        ),
        Claim::tested(
            "Insight 2: both layouts should be there, as each is best for something (holds if, in \
             blocks, each is at least 5 % faster somewhere in these figures).",
            rows > 0 && columns > 0,
            format!("Of {of} cases rows are faster in {rows}, columns in {columns}."),
        ),
        Claim::untested(
            "Section 4.3: in a commercial system (DB-X) column stores slightly outperform row \
             stores when scanning.",
            "The system is not named.",
        ),
    ]
}
