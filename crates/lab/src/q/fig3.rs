//! Files and blocks where another column than the sorted one is asked (Q, figure 3).

use super::figure::{blocks, by_width, judged, tested, widths};
use super::organisation::{Cut, Organisation};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Ratios, Sweep, memory};
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
        memory: memory(setting, KIND, 8),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 8);
    let cut = blocks(&lab);
    let load = |layout| {
        let [files, blocks] =
            [Cut::Files, cut].map(|cut| Organisation::plain(layout, cut).indexed(1));
        Result::Ok((
            [lab.load(&files)?, lab.load(&blocks)?],
            [lab.replica(&files)?, lab.replica(&blocks)?],
        ))
    };
    let (rows, columns) = (load(Layout::Row)?, load(Layout::Column)?);
    let generator = lab.generator();
    let widths = widths(&lab);
    let (mut plots, mut sweeps) = (Vec::new(), Vec::new());
    for (name, layout, access) in WAYS {
        let ([files, blocks], [large, small]) = match layout {
            Layout::Row => &rows,
            _ => &columns,
        };
        let contenders = [
            Contender::new("files", files, access),
            Contender::new("blocks", blocks, access),
            Contender::paper("files", large, access),
            Contender::paper("blocks", small, access),
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
        "10 % of the rows match. A file is the part of one thread; Freestone has it in blocks of \
         2^20 rows, the most that there can be, and reads rows that an index finds in the order in \
         which they lie.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims: claims(&sweeps, file_size(&lab)),
        ..Outcome::default()
    })
}

/// MB of a file.
fn file_size(lab: &Lab) -> u64 {
    lab.rows / lab.threads as u64 * KIND.row_bytes() as u64 / 1_000_000
}

/// Blocks' time over that of files, way by way.
type Found = Vec<Ratios>;

fn claims(sweeps: &[Sweep], file: u64) -> Vec<Claim> {
    let side = |number: usize| -> Found {
        let sides = sweeps.iter().map(|sweep| sweep.sides()[number].clone());
        sides.map(|side| side.ratios("blocks", "files")).collect()
    };
    let sides = [side(0), side(1)];
    let projecting = |ratios: &Ratios| ratios.of(|width| width > 0.0);
    let listed = |found: &[Ratios]| {
        let each = found.iter().zip(WAYS);
        let each = each.map(|(ratios, (name, ..))| format!("{name}: {ratios} columns"));
        let each = each.collect::<Vec<String>>().join("; ");
        format!("blocks' time over that of files is {each}.")
    };
    let own = &sides[1];
    let small = format!(
        "A file has {file} MB here, 1,500 in the paper; the third cache, which is shared with other \
         machines, may hold it as well as a block."
    );
    let why = "Files here are rows of blocks of 2^20 rows, with an index over each, where the \
               paper's have 37 million: how little depends on the size of blocks up to there is \
               measured in q1, (b) and (c). What a block costs by itself is measured in q2.";
    vec![
        judged(
            "Observation 4: on a column that is not sorted, with an index on a row store, blocks \
             are faster than files at every width, by 2.1 to 37.7 % (holds if they take at most 2 % \
             longer at each width of 1 and more, and less over all of them).",
            &sides,
            |found| {
                let first = projecting(&found[0]);
                let holds = first.at_most(1.02) && first.mean() < 1.0;
                (holds, listed(&found[..1]))
            },
            [&small, why],
        ),
        judged(
            "Observation 4: so they are with column stores and with scans (holds if, over all \
             widths, they are in all four cases).",
            &sides,
            |found| {
                let holds = found.iter().all(|ratios| projecting(ratios).mean() < 1.0);
                (holds, listed(found))
            },
            [&small, why],
        ),
        tested(
            "Insight 1: blocks are never slower than files, and often faster (holds if they take \
             at most 5 % longer in each case over all widths, and at least 5 % less in one).",
            own.iter().all(|ratios| ratios.mean() <= 1.05)
                && own.iter().any(|ratios| ratios.mean() <= 0.95),
            format!(
                "Freestone: blocks' time over that of files, over all widths, is {}. What they cost \
                 to load is measured in qload and qindex.",
                own.iter()
                    .zip(WAYS)
                    .map(|(ratios, (name, ..))| format!("{:.2} ({name})", ratios.mean()))
                    .collect::<Vec<String>>()
                    .join(", ")
            ),
            why,
        ),
    ]
}
