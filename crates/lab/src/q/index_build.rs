//! What it costs to build CSB+-trees, and what they take (Q, sections 4.4, 4.4.2).

use super::alone::{Alone, trees};
use super::figure::{blocks, tested};
use super::organisation::{Cut, Organisation, Stored};
use super::race::{Lab, Times, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_storage::{IndexKind, Layout};
use std::time::Instant;

/// Section 4.4.2: cost of building an index, and size.
pub const EXPERIMENT: Experiment = Experiment {
    id: "qindex",
    source: "Q, sections 4.4 and 4.4.2",
    title: "Building an index",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

/// Row store and column store, each in files and in blocks.
const CASES: [(&str, Layout, bool); 4] = [
    ("files, row store", Layout::Row, true),
    ("blocks, row store", Layout::Row, false),
    ("files, column store", Layout::Column, true),
    ("blocks, column store", Layout::Column, false),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 6),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    // A block with an index is a new block: there are both while it is built.
    let lab = Lab::new(setting, KIND, 6);
    let cut = blocks(setting, &lab);
    let tables = CASES.map(|(_, layout, files)| {
        lab.load(&Organisation::plain(
            layout,
            if files { Cut::Files } else { cut },
        ))
    });
    let tables = tables.into_iter().collect::<Result<Vec<Stored>>>()?;
    let mut times = vec![Times::default(); tables.len()];
    for turn in 0..=lab.turns {
        for (stored, times) in tables.iter().zip(&mut times) {
            let start = Instant::now();
            let index = stored.store.build_index(
                &stored.table,
                "built",
                IndexKind::Csb,
                vec![1],
                lab.threads,
                &|| {},
            )?;
            let seconds = start.elapsed().as_secs_f64();
            drop(index);
            // The first reads the blocks and checks them.
            if turn > 0 {
                times.0.push(seconds);
            }
        }
    }
    let sizes = CASES.map(|(_, layout, files)| {
        let cut = if files { Cut::Files } else { cut };
        let stored = lab.load(&Organisation::plain(layout, cut).indexed(1))?;
        Ok(stored.table.bytes())
    });
    let sizes = sizes.into_iter().collect::<Result<Vec<u64>>>()?;
    let before: Vec<u64> = tables.iter().map(|stored| stored.table.bytes()).collect();
    let shares: Vec<f64> = sizes
        .iter()
        .zip(&before)
        .map(|(with, without)| *with as f64 / *without as f64 - 1.0)
        .collect();
    let setup = format!(
        "{KIND:?}, {} rows, {} threads, {} samples. Blocks never change: each is written again with \
         its index, which is in the time; times are by the clock, waiting for a core included. A file is the part of one thread, in blocks of 2^20 rows, \
         the most that there can be.",
        lab.rows, lab.threads, lab.turns
    );
    let alone = trees(&lab)?;
    let block = match cut {
        Cut::Blocks(rows) => rows,
        _ => 0,
    };
    let mut claims = claims(&times, &shares);
    claims.insert(1, of_trees(&alone, block));
    Ok(Outcome {
        setup,
        plots: vec![alone.plot("Building CSB+-trees alone, by how many rows each reaches over")],
        tables: vec![table(&times, &before, &shares)],
        claims,
    })
}

fn table(times: &[Times], before: &[u64], shares: &[f64]) -> Table {
    let rows = CASES.iter().enumerate().map(|(number, (name, ..))| {
        let point = times[number].point(0.0);
        vec![
            (*name).to_string(),
            format!("{:.0} ± {:.0}", point.mean, point.deviation),
            format!("{:.2}", before[number] as f64 / 1e6),
            format!("{:.1}", shares[number] * 100.0),
        ]
    });
    Table {
        title: "A CSB+-tree on one column of Narrow-U".into(),
        columns: ["organisation", "ms", "MB without it", "% more with it"]
            .map(String::from)
            .to_vec(),
        rows: rows.collect(),
    }
}

fn of_trees(alone: &Alone, block: usize) -> Claim {
    let (share, [few, all]) = alone.share(block);
    Claim::tested(
        "Observation 10, the trees alone: less time for many small ones than for few large ones \
         (holds if below 95 %, from plain arrays).",
        share < 0.95,
        format!(
            "Trees over {few} rows each take {:.0} % of the time of those over {all}, which is all \
             that a thread has.",
            share * 100.0
        ),
    )
}

fn claims(times: &[Times], shares: &[f64]) -> Vec<Claim> {
    let ratio = |number: usize, other: usize| times[number].median() / times[other].median();
    let blocks = [ratio(1, 0), ratio(3, 2)];
    let columns = [ratio(2, 0), ratio(3, 1)];
    vec![
        tested(
            "Observation 10: CSB+-trees of blocks are built in much less time than those of files, \
             38 to 55 % of it (holds if in at most 80 %, of rows as of columns).",
            blocks.iter().all(|ratio| *ratio <= 0.8),
            format!(
                "Blocks take {:.0} % of the time of files with rows, {:.0} % with columns.",
                blocks[0] * 100.0,
                blocks[1] * 100.0
            ),
            "A tree of a file reaches over 2^20 rows here, over 37 million in the paper, and a block \
             is written again as a whole with its index, which takes as long in either.",
        ),
        Claim::tested(
            "Section 4.4.2: it takes less time from a column store than from a row store, 55 to \
             78 % (holds if at most 95 %, in files as in blocks).",
            columns.iter().all(|ratio| *ratio <= 0.95),
            format!(
                "Columns take {:.0} % of the time of rows in files, {:.0} % in blocks.",
                columns[0] * 100.0,
                columns[1] * 100.0
            ),
        ),
        Claim::tested(
            "Section 4.4: an index on one of ten columns takes 25 % of the table's memory more \
             (holds if 18 to 32 %).",
            shares.iter().all(|share| (0.18..=0.32).contains(share)),
            format!(
                "It takes {} more.",
                shares
                    .iter()
                    .zip(CASES)
                    .map(|(share, (name, ..))| format!("{:.1} % ({name})", share * 100.0))
                    .collect::<Vec<String>>()
                    .join(", ")
            ),
        ),
    ]
}
