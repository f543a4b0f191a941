//! Index against scan (Q, figures 8 and 9).

use super::figure::{blocks, by_share, tested};
use super::organisation::{Cut, Organisation, Stored};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Ratios, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figures 8 and 9: CSB+-tree against scan, in blocks and in files.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q8",
    source: "Q, figures 8 and 9",
    title: "Index and scan",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;
const WIDTH: usize = 3;
const SHARES: [f64; 6] = [0.001, 0.01, 0.05, 0.1, 0.2, 0.5];

const SCAN: &str = "scan";
const INDEX: &str = "CSB+-tree";
const CHOSEN: &str = "as Freestone chooses";

const CASES: [(&str, &str); 4] = [
    ("Figure 8", "blocks, row store"),
    ("Figure 8", "blocks, column store"),
    ("Figure 9", "files, row store"),
    ("Figure 9", "files, column store"),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 4),
        ..Need::default()
    }
}

/// What is known of one layout and cut.
struct Case {
    name: &'static str,
    sweep: Sweep,
    /// Nanoseconds of a thread to test a row of a scan,
    test: f64,
    /// and to find one by the index, in the order of rows.
    find: f64,
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 4);
    let cut = blocks(setting, &lab);
    let load = |layout, cut| lab.load(&Organisation::plain(layout, cut).indexed(1));
    let tables = [
        load(Layout::Row, cut)?,
        load(Layout::Column, cut)?,
        load(Layout::Row, Cut::Files)?,
        load(Layout::Column, Cut::Files)?,
    ];
    let (mut plots, mut cases) = (Vec::new(), Vec::new());
    for (stored, (figure, name)) in tables.iter().zip(CASES) {
        let case = measured(&mut lab, stored, name)?;
        plots.push(by_share(
            &format!("{figure}: {name}, {WIDTH} columns"),
            &case.sweep,
        ));
        cases.push(case);
    }
    let setup = lab.setup(
        "Freestone decides for each block whether its index is worth it; the curves of index and \
         scan are made to use one or the other. Rows that an index finds are brought into the order \
         in which they lie before any is read.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims: claims(&cases),
        ..Outcome::default()
    })
}

fn measured(lab: &mut Lab, stored: &Stored, name: &'static str) -> Result<Case> {
    let contenders = [
        Contender::new(SCAN, stored, Access::Scan),
        Contender::new(INDEX, stored, Access::Index),
        Contender::new(CHOSEN, stored, Access::Chosen),
    ];
    let generator = lab.generator();
    let sweep = lab.sweep(&contenders, &SHARES, |share, turn| {
        Query::of(KIND, generator.projection(WIDTH, turn as u64), 1, share)
    })?;
    // Without output: what it takes to find rows.
    let share = 0.1;
    let threads = lab.threads;
    let times = lab.race(&contenders[..2], threads, |_| {
        Query::of(KIND, Vec::new(), 1, share)
    })?;
    let nanoseconds = |number: usize| times[number].median() * 1e9 * threads as f64;
    Ok(Case {
        name,
        test: nanoseconds(0) / lab.rows as f64,
        find: nanoseconds(1) / (lab.rows as f64 * share),
        sweep,
    })
}

/// Where the index becomes slower than the scan, between the shares that were measured
/// (in logarithms); `None` if it is slower, or faster, everywhere.
fn crossover(ratios: &Ratios) -> Option<f64> {
    let pairs = ratios.0.windows(2);
    let mut pairs = pairs.filter(|pair| pair[0].1 <= 1.0 && pair[1].1 > 1.0);
    pairs.next_back().map(|pair| {
        let [(x, a), (y, b)] = [pair[0], pair[1]].map(|(share, ratio)| (share.ln(), ratio.ln()));
        (x + (y - x) * a / (a - b)).exp()
    })
}

fn claims(cases: &[Case]) -> Vec<Claim> {
    let ratios = |case: &Case| case.sweep.ratios(INDEX, SCAN);
    let faster = |case: &Case| ratios(case).of(|share| share <= 0.1).at_most(1.0);
    let listed = |cases: &[Case], with: &dyn Fn(&Case) -> String| {
        let each = cases
            .iter()
            .map(|case| format!("{}: {}", case.name, with(case)));
        each.collect::<Vec<String>>().join("; ")
    };
    let times = |cases: &[Case]| listed(cases, &|case| ratios(case).to_string());
    let costs = |cases: &[Case]| {
        let each = listed(cases, &|case| {
            format!(
                "testing a row takes {:.2} ns of a thread, finding one by the index {:.1} ns",
                case.test, case.find
            )
        });
        format!(
            "Without output, {each}: a scan of columns tests packed values, many at once; the \
             paper's tests one after the other."
        )
    };
    let (in_blocks, in_files) = cases.split_at(2.min(cases.len()));
    let figure = |number: usize, cases: &[Case]| {
        let cut = if number == 8 { "blocks" } else { "files" };
        tested(
            format!(
                "Observation 9, figure {number}: in {cut} a CSB+-tree beats a scan at 0.1, 1 and \
                 10 %, of a row store as of a column store (holds if it takes no longer at any share \
                 up to 10 %)."
            ),
            cases.iter().all(&faster),
            format!("The index' time over the scan's: {}.", times(cases)),
            &costs(cases),
        )
    };
    let crossovers = listed(cases, &|case| match crossover(&ratios(case)) {
        Some(share) => format!("{:.1} %", share * 100.0),
        None => "none between 0.1 and 50 %".into(),
    });
    let between = |case: &Case| {
        let share = crossover(&ratios(case));
        share.is_some_and(|share| (0.1..=0.5).contains(&share))
    };
    let chosen = |case: &Case| {
        let (scan, index) = (
            case.sweep.ratios(CHOSEN, SCAN),
            case.sweep.ratios(CHOSEN, INDEX),
        );
        let pairs = scan.0.iter().zip(&index.0);
        Ratios(
            pairs
                .map(|(scan, index)| (scan.0, scan.1.max(index.1)))
                .collect(),
        )
    };
    vec![
        figure(8, in_blocks),
        figure(9, in_files),
        tested(
            "Section 4.4: index and scan are equal somewhere between 10 and 50 %, not below 10 % as \
             is commonly held (holds if they are so in all four cases).",
            cases.iter().all(between),
            format!("They are equal at: {crossovers}."),
            &costs(cases),
        ),
        Claim::tested(
            "Insight 3: an index inside the block pays for columns that are not sorted while few \
             rows match (holds if it is at least twice as fast at 0.1 % in every case).",
            cases
                .iter()
                .all(|case| ratios(case).of(|share| share <= 0.001).at_most(0.5)),
            format!("The index' time over the scan's: {}.", times(cases)),
        ),
        tested(
            "Section 4.4: the choice between index and scan can be left to each block (holds if \
             what Freestone chooses takes at most 30 % longer than the better of the two at every \
             share).",
            cases.iter().all(|case| chosen(case).at_most(1.3)),
            format!(
                "Its time over that of the better one: {}.",
                listed(cases, &|case| chosen(case).to_string())
            ),
            &format!(
                "Its choice rests on costs that were measured on another machine. {}",
                costs(cases)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossovers_lie_between_the_shares_around_them() {
        let ratios = Ratios(vec![(0.01, 0.5), (0.1, 2.0), (0.5, 3.0)]);
        let share = crossover(&ratios).unwrap();
        // Half and double are equally far from one.
        assert!((share - 0.001_f64.sqrt()).abs() < 1e-9, "{share}");
        assert_eq!(crossover(&Ratios(vec![(0.01, 1.5), (0.1, 2.0)])), None);
    }
}
