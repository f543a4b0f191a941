//! Files and blocks where another column than the sorted one is asked (Q, figure 3).

use super::figure::{blocks, by_width, tested, widths};
use super::organisation::{Cut, Organisation};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figure 3: files against blocks, column that is not sorted.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q3",
    source: "Q, figure 3",
    title: "Files and blocks: column that is not sorted",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

/// Layouts and ways to find rows; the first is that of the figure.
const WAYS: [(&str, Layout, Access); 4] = [
    ("row store, CSB+-tree", Layout::Row, Access::Index),
    ("column store, CSB+-tree", Layout::Column, Access::Index),
    ("row store, scan", Layout::Row, Access::Scan),
    ("column store, scan", Layout::Column, Access::Scan),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 4),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 4);
    let cut = blocks(setting, &lab);
    let load = |layout, cut| lab.load(&Organisation::plain(layout, cut).indexed(1));
    let rows = (load(Layout::Row, Cut::Files)?, load(Layout::Row, cut)?);
    let columns = (
        load(Layout::Column, Cut::Files)?,
        load(Layout::Column, cut)?,
    );
    let generator = lab.generator();
    let widths = widths(&lab);
    let (mut plots, mut sweeps) = (Vec::new(), Vec::new());
    for (name, layout, access) in WAYS {
        let (files, blocks) = match layout {
            Layout::Row => (&rows.0, &rows.1),
            _ => (&columns.0, &columns.1),
        };
        let contenders = [
            Contender::new("files", files, access),
            Contender::new("blocks", blocks, access),
        ];
        let sweep = lab.sweep(&contenders, &widths, |width, turn| {
            let projection = generator.projection(width as usize, turn as u64);
            Query::of(KIND, projection, 1, 0.1)
        })?;
        plots.push(by_width(
            &format!("Column that is not sorted, 10 %, {name}"),
            &sweep,
        ));
        sweeps.push(sweep);
    }
    let setup = lab.setup(
        "10 % of the rows match. A file is the part of one thread, in blocks of 2^20 rows, the \
         most that there can be. Rows that an index finds are read in the order in which they lie.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims: claims(&sweeps),
        ..Outcome::default()
    })
}

fn claims(sweeps: &[Sweep]) -> Vec<Claim> {
    let ratios = |sweep: &Sweep| sweep.ratios("blocks", "files");
    let projecting = |sweep: &Sweep| ratios(sweep).of(|width| width > 0.0);
    let listed = |sweeps: &[Sweep]| {
        let each = sweeps.iter().zip(WAYS);
        let each = each.map(|(sweep, (name, ..))| format!("{name}: {} columns", ratios(sweep)));
        each.collect::<Vec<String>>().join("; ")
    };
    let all = sweeps.iter().map(&ratios);
    let why = "Files here are rows of blocks of 2^20 rows, with an index over each, where the \
               paper's have 37 million: how little depends on the size of blocks up to there is \
               measured in q1, (b) and (c). What a block costs by itself is measured in q2.";
    vec![
        tested(
            "Observation 4: on a column that is not sorted, with an index on a row store, blocks \
             are faster than files at every width, by 2.1 to 37.7 % (holds if they take at most 2 % \
             longer at each width of 1 and more, and less over all of them).",
            sweeps.first().is_some_and(|sweep| {
                projecting(sweep).at_most(1.02) && projecting(sweep).mean() < 1.0
            }),
            format!(
                "Blocks' time over that of files: {}.",
                listed(&sweeps[..1.min(sweeps.len())])
            ),
            why,
        ),
        tested(
            "Observation 4: so they are with column stores and with scans (holds if, over all \
             widths, they are in all four cases).",
            sweeps.iter().all(|sweep| projecting(sweep).mean() < 1.0),
            format!("Blocks' time over that of files: {}.", listed(sweeps)),
            why,
        ),
        tested(
            "Insight 1: blocks are never slower than files, and often faster (holds if they take \
             at most 5 % longer in each case over all widths, and at least 5 % less in one).",
            all.clone().all(|ratios| ratios.mean() <= 1.05)
                && all.clone().any(|ratios| ratios.mean() <= 0.95),
            format!(
                "Blocks' time over that of files, over all widths: {}. What they cost to load is \
                 measured in qload and qindex.",
                all.zip(WAYS)
                    .map(|(ratios, (name, ..))| format!("{:.2} ({name})", ratios.mean()))
                    .collect::<Vec<String>>()
                    .join(", ")
            ),
            why,
        ),
    ]
}
