//! Index against scan (Q, figures 8 and 9).

use super::figure::{by_share, judged, large_blocks, tested};
use super::organisation::{Cut, Organisation};
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
        memory: memory(setting, KIND, 2),
        ..Need::default()
    }
    .measured(setting.many_repetitions())
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
    let mut lab = Lab::new(setting, KIND, 2);
    lab.turns = setting.many_repetitions();
    let cut = large_blocks(&lab);
    let organised = [
        (Layout::Row, cut),
        (Layout::Column, cut),
        (Layout::Row, Cut::Files),
        (Layout::Column, Cut::Files),
    ];
    let (mut plots, mut sides) = (Vec::new(), [Vec::new(), Vec::new()]);
    for ((layout, cut), (figure, name)) in organised.into_iter().zip(CASES) {
        let organisation = Organisation::plain(layout, cut).indexed(1);
        let (sweep, cases) = measured(&mut lab, &organisation, name)?;
        plots.push(by_share(
            &format!("{figure}: {name}, {WIDTH} columns"),
            &sweep,
        ));
        for (side, case) in sides.iter_mut().zip(cases) {
            side.push(case);
        }
    }
    let setup = lab.setup(
        "Freestone decides for each block whether its index is worth it; the curves of index and \
         scan are made to use one or the other. It brings rows that an index finds into the order in \
         which they lie before any is read; the paper does not.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims: claims(&sides),
        ..Outcome::default()
    })
}

/// Races Freestone and the replica over one organisation: all curves, and what is known of
/// the replica and of Freestone.
fn measured(
    lab: &mut Lab,
    organisation: &Organisation,
    name: &'static str,
) -> Result<(Sweep, [Case; 2])> {
    let (stored, replica) = (lab.load(organisation)?, lab.replica(organisation)?);
    let contenders = [
        Contender::new(SCAN, &stored, Access::Scan),
        Contender::new(INDEX, &stored, Access::Index),
        Contender::new(CHOSEN, &stored, Access::Chosen),
        Contender::paper(SCAN, &replica, Access::Scan),
        Contender::paper(INDEX, &replica, Access::Index),
    ];
    let generator = lab.generator();
    let sweep = lab.sweep(&contenders, &SHARES, |share, turn| {
        Query::of(KIND, generator.projection(WIDTH, turn as u64), 1, share)
    })?;
    // Without output: what it takes to find rows.
    let share = 0.1;
    let threads = lab.threads;
    let [scan, index, _, ours @ ..] = &contenders;
    let both = [scan, index].into_iter().chain(ours).cloned();
    let both: Vec<Contender<'_>> = both.collect();
    let times = lab.race(&both, threads, |_| Query::of(KIND, Vec::new(), 1, share))?;
    let nanoseconds = |number: usize| times[number].median() * 1e9 * threads as f64;
    let [replica, own] = sweep.sides();
    let rows = lab.rows as f64;
    let case = |sweep, first: usize| Case {
        name,
        test: nanoseconds(first) / rows,
        find: nanoseconds(first + 1) / (rows * share),
        sweep,
    };
    let cases = [case(replica, 2), case(own, 0)];
    Ok((sweep, cases))
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

fn ratios(case: &Case) -> Ratios {
    case.sweep.ratios(INDEX, SCAN)
}

fn listed(cases: &[Case], with: &dyn Fn(&Case) -> String) -> String {
    let each = cases.iter();
    let each = each.map(|case| format!("{}: {}", case.name, with(case)));
    each.collect::<Vec<String>>().join("; ")
}

fn times(cases: &[Case]) -> String {
    let ratios = listed(cases, &|case| ratios(case).to_string());
    format!("the index' time over the scan's is {ratios}.")
}

/// What finding rows costs.
fn costs(cases: &[Case]) -> String {
    let each = listed(cases, &|case| {
        format!(
            "testing a row takes {:.2} ns of a thread, finding one by the index {:.1} ns",
            case.test, case.find
        )
    });
    format!("Without output, {each}.")
}

/// The time of what Freestone chooses over that of the better way.
fn chosen(case: &Case) -> Ratios {
    let (scan, index) = (
        case.sweep.ratios(CHOSEN, SCAN),
        case.sweep.ratios(CHOSEN, INDEX),
    );
    let pairs = scan.0.iter().zip(&index.0);
    let pairs = pairs.map(|(scan, index)| (scan.0, scan.1.max(index.1)));
    Ratios(pairs.collect())
}

fn claims(sides: &[Vec<Case>; 2]) -> Vec<Claim> {
    let faster = |case: &Case| ratios(case).of(|share| share <= 0.1).no_longer();
    let [replica, own] = sides;
    let why = [
        format!(
            "{} The scan tests a row through the objects of its predicate.",
            costs(replica)
        ),
        format!(
            "{} A scan of columns tests packed values, many at once.",
            costs(own)
        ),
    ];
    let why = why.each_ref().map(String::as_str);
    let figure = |number: usize, cut: &str, cases: std::ops::Range<usize>| {
        judged(
            format!(
                "Observation 9, figure {number}: in {cut} a CSB+-tree beats a scan at 0.1, 1 and \
                 10 %, of a row store as of a column store (holds if it takes no longer at any share \
                 up to 10 %)."
            ),
            sides,
            |side| {
                let cases = &side[cases.clone()];
                (cases.iter().all(faster), times(cases))
            },
            why,
        )
    };
    let between = |case: &Case| {
        let share = crossover(&ratios(case));
        share.is_some_and(|share| (0.1..=0.5).contains(&share))
    };
    vec![
        figure(8, "blocks", 0..2),
        figure(9, "files", 2..4),
        judged(
            "Section 4.4: index and scan are equal somewhere between 10 and 50 %, not below 10 % as \
             is commonly held (holds if they are so in all four cases).",
            sides,
            |side| {
                let crossovers = listed(side, &|case| match crossover(&ratios(case)) {
                    Some(share) => format!("{:.1} %", share * 100.0),
                    None => "none between 0.1 and 50 %".into(),
                });
                (
                    side.iter().all(between),
                    format!("they are equal at {crossovers}."),
                )
            },
            why,
        ),
        Claim::tested(
            "Insight 3: an index inside the block pays for columns that are not sorted while few \
             rows match (holds if it is at least twice as fast at 0.1 % in every case).",
            own.iter()
                .all(|case| ratios(case).of(|share| share <= 0.001).at_most(0.5)),
            format!("Freestone: {}", times(own)),
        ),
        tested(
            "Section 4.4: the choice between index and scan can be left to each block (holds if \
             what Freestone chooses takes at most 30 % longer than the better of the two at every \
             share).",
            own.iter().all(|case| chosen(case).at_most(1.3)),
            format!(
                "Its time over that of the better one: {}.",
                listed(own, &|case| chosen(case).to_string())
            ),
            &format!(
                "Its choice rests on costs that were measured on another machine. {}",
                costs(own)
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
