//! Whether to bring rows that an index finds into order (Q, section 4.4.1).
//!
//! Freestone always does; the paper does not, and neither does the replica unless it is
//! told to. Only the replica is measured.

use super::figure::{by_share, large_blocks, nanoseconds_per_row, tested};
use super::organisation::{Cut, Organisation};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Section 4.4.1: index order against row order.
pub const EXPERIMENT: Experiment = Experiment {
    id: "qorder",
    source: "Q, section 4.4.1",
    title: "Sorting the rows that an index finds",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;
const SHARES: [f64; 3] = [0.01, 0.1, 0.5];
const AS_FOUND: &str = "in the order of the index";
const IN_ORDER: &str = "sorted into the order of rows";

const CASES: [(&str, Layout, bool); 4] = [
    ("files, column store", Layout::Column, true),
    ("files, row store", Layout::Row, true),
    ("blocks, column store", Layout::Column, false),
    ("blocks, row store", Layout::Row, false),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 1),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 1);
    let cut = large_blocks(&lab);
    let all: Vec<usize> = (0..KIND.columns()).collect();
    let (mut plots, mut sweeps) = (Vec::new(), Vec::new());
    for (name, layout, files) in CASES {
        let cut = if files { Cut::Files } else { cut };
        let replica = lab.replica(&Organisation::plain(layout, cut).indexed(0))?;
        let contenders = [
            Contender::paper(AS_FOUND, &replica, Access::Index),
            Contender::paper(IN_ORDER, &replica, Access::IndexInOrder),
        ];
        let sweep = lab.sweep(&contenders, &SHARES, |share, _| {
            Query::of(KIND, all.clone(), 0, share)
        })?;
        plots.push(by_share(&format!("{name}, {} columns", all.len()), &sweep));
        let [replica, _] = sweep.sides();
        sweeps.push(replica);
    }
    Ok(Outcome {
        setup: lab.setup("All columns are projected."),
        plots,
        claims: claims(&lab, &sweeps),
        ..Outcome::default()
    })
}

fn claims(lab: &Lab, sweeps: &[Sweep]) -> Vec<Claim> {
    let ratios = |number: usize| sweeps[number].ratios(IN_ORDER, AS_FOUND);
    let at_ten = |number: usize| ratios(number).of(|share| share == 0.1);
    let listed = |numbers: &[usize]| {
        let each = numbers
            .iter()
            .map(|number| format!("{}: {}", CASES[*number].0, ratios(*number)));
        format!(
            "As in the paper: sorted over as found is, by share of rows, {}.",
            each.collect::<Vec<String>>().join("; ")
        )
    };
    let each = CASES.iter().zip(sweeps).map(|((name, ..), sweep)| {
        let cost = |way| nanoseconds_per_row(lab, sweep, way, 0.1, 0.1);
        format!(
            "{:.0} and {:.0} ns ({name})",
            cost(AS_FOUND),
            cost(IN_ORDER)
        )
    });
    let why = format!(
        "At 10 % a row of the result takes a thread, as found and sorted, {}: out of order each of a \
         tuple's ten columns is a cache line by itself, which costs more than the sort.",
        each.collect::<Vec<String>>().join(", ")
    );
    vec![
        tested(
            "Section 4.4.1: for a column store in files, at 10 % and 10 columns, sorting the rows \
             that an index finds changes the time little (holds if by at most 20 %).",
            at_ten(0).about_one(0.2),
            listed(&[0]),
            &why,
        ),
        tested(
            "Section 4.4.1, footnote 4: on another of its servers sorting them made column stores in \
             files significantly faster from 10 % on (holds if by at least 20 % at 10 and 50 %).",
            ratios(0).of(|share| share >= 0.1).at_most(0.8),
            listed(&[0]),
            "",
        ),
        tested(
            "Section 4.4.1: for row stores and for blocks it takes longer to sort them (holds if at \
             10 % it does in all three cases).",
            [1, 2, 3]
                .into_iter()
                .all(|number| at_ten(number).no_shorter()),
            listed(&[1, 2, 3]),
            &why,
        ),
    ]
}
