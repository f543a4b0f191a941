//! What it costs to build CSB+-trees, and what they take (Q, sections 4.4, 4.4.2).

use super::alone::{Alone, trees};
use super::figure::{blocks, judged};
use super::organisation::{Cut, Organisation, Stored};
use super::race::{Lab, REPLICA, Times, memory};
use super::replica::Replica;
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
        memory: memory(setting, KIND, 8),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    // A block with an index is a new block: there are both while it is built.
    let lab = Lab::new(setting, KIND, 8);
    let cut = blocks(&lab);
    let organised = CASES.map(|(_, layout, files)| {
        Organisation::plain(layout, if files { Cut::Files } else { cut })
    });
    let tables = organised.iter().map(|organisation| lab.load(organisation));
    let tables = tables.collect::<Result<Vec<Stored>>>()?;
    let replicas = organised
        .iter()
        .map(|organisation| lab.replica(organisation));
    let replicas = replicas.collect::<Result<Vec<Replica>>>()?;
    let mut times = vec![Times::default(); tables.len()];
    let mut replica_times = times.clone();
    for turn in 0..=lab.turns {
        for (replica, times) in replicas.iter().zip(&mut replica_times) {
            times.0.push(replica.build_index(1, lab.threads)?);
        }
        for (stored, times) in tables.iter().zip(&mut times) {
            let start = Instant::now();
            let index = stored.store.build_index(
                &stored.table,
                "built",
                IndexKind::Csb,
                vec![1],
                lab.threads,
                &|| true,
            )?;
            let seconds = start.elapsed().as_secs_f64();
            drop(index);
            // The first reads the blocks and checks them.
            if turn > 0 {
                times.0.push(seconds);
            }
        }
    }
    let before: Vec<u64> = tables.iter().map(|stored| stored.table.bytes()).collect();
    let raw: Vec<u64> = replicas.iter().map(Replica::bytes).collect();
    drop((tables, replicas));
    let indexed = organised.map(|organisation| organisation.indexed(1));
    let sizes = indexed
        .iter()
        .map(|organisation| Ok(lab.load(organisation)?.table.bytes()));
    let own = Built::new(times, before, sizes.collect::<Result<_>>()?);
    let sizes = indexed
        .iter()
        .map(|organisation| Ok(lab.replica(organisation)?.bytes()));
    let replica = Built::new(replica_times, raw, sizes.collect::<Result<_>>()?);
    let sides = [replica, own];
    let setup = format!(
        "{KIND:?}, {} rows, {} threads, {} samples. Freestone's blocks never change: each is written \
         again with its index, which is in the time; its times are by the clock, waiting for a core \
         included. A file is the part of one thread; Freestone has it in blocks of 2^20 rows, the \
         most that there can be. {REPLICA}",
        lab.rows, lab.threads, lab.turns
    );
    let alone = trees(&lab)?;
    let block = match cut {
        Cut::Blocks(rows) => rows,
        _ => 0,
    };
    let mut claims = claims(&sides);
    claims[0].because += &of_trees(&alone, block);
    Ok(Outcome {
        setup,
        plots: vec![alone.plot("Building CSB+-trees alone, by how many rows each reaches over")],
        tables: vec![table(&sides)],
        claims,
    })
}

/// What building comes to, case by case.
struct Built {
    times: Vec<Times>,
    /// Bytes of the table without the index,
    before: Vec<u64>,
    /// and how much more it is with it, as a share.
    shares: Vec<f64>,
}

impl Built {
    fn new(times: Vec<Times>, before: Vec<u64>, after: Vec<u64>) -> Built {
        let pairs = after.iter().zip(&before);
        let shares = pairs.map(|(with, without)| *with as f64 / *without as f64 - 1.0);
        Built {
            shares: shares.collect(),
            times,
            before,
        }
    }
}

fn table([replica, own]: &[Built; 2]) -> Table {
    let sides = [(own, ""), (replica, ", as in the paper")].into_iter();
    let rows = sides.flat_map(|(built, whose)| {
        CASES.iter().enumerate().map(move |(number, (name, ..))| {
            let point = built.times[number].point(0.0);
            vec![
                format!("{name}{whose}"),
                format!("{:.0} ± {:.0}", point.mean, point.deviation),
                format!("{:.2}", built.before[number] as f64 / 1e6),
                format!("{:.1}", built.shares[number] * 100.0),
            ]
        })
    });
    Table {
        title: "A CSB+-tree on one column of Narrow-U".into(),
        columns: ["organisation", "ms", "MB without it", "% more with it"]
            .map(String::from)
            .to_vec(),
        rows: rows.collect(),
    }
}

/// What building trees alone takes, beside the first claim.
fn of_trees(alone: &Alone, block: usize) -> String {
    let (share, [few, all]) = alone.share(block);
    format!(
        " The trees alone, from plain arrays: those over {few} rows each take {:.0} % of the time of \
         those over {all}, which is all that a thread has.",
        share * 100.0
    )
}

fn claims(sides: &[Built; 2]) -> Vec<Claim> {
    let ratio = |built: &Built, number: usize, other: usize| {
        built.times[number].median() / built.times[other].median()
    };
    vec![
        judged(
            "Observation 10: CSB+-trees of blocks are built in much less time than those of files, \
             38 to 55 % of it (holds if in at most 80 %, of rows as of columns).",
            sides,
            |built| {
                let blocks = [ratio(built, 1, 0), ratio(built, 3, 2)];
                let measured = format!(
                    "blocks take {:.0} % of the time of files with rows, {:.0} % with columns.",
                    blocks[0] * 100.0,
                    blocks[1] * 100.0
                );
                (blocks.iter().all(|ratio| *ratio <= 0.8), measured)
            },
            [
                "",
                "A tree of a file reaches over 2^20 rows here, over 37 million in the paper, and a \
                 block is written again as a whole with its index, which takes as long in either.",
            ],
        ),
        judged(
            "Section 4.4.2: it takes less time from a column store than from a row store, 55 to \
             78 % (holds if at most 95 %, in files as in blocks).",
            sides,
            |built| {
                let columns = [ratio(built, 2, 0), ratio(built, 3, 1)];
                let measured = format!(
                    "columns take {:.0} % of the time of rows in files, {:.0} % in blocks.",
                    columns[0] * 100.0,
                    columns[1] * 100.0
                );
                (columns.iter().all(|ratio| *ratio <= 0.95), measured)
            },
            ["", ""],
        ),
        judged(
            "Section 4.4: an index on one of ten columns takes 25 % of the table's memory more \
             (holds if 18 to 32 %).",
            sides,
            |built| {
                let each = built.shares.iter().zip(CASES);
                let each =
                    each.map(|(share, (name, ..))| format!("{:.1} % ({name})", share * 100.0));
                let measured = format!(
                    "it takes {} more.",
                    each.collect::<Vec<String>>().join(", ")
                );
                let mut shares = built.shares.iter();
                (shares.all(|share| (0.18..=0.32).contains(share)), measured)
            },
            ["", ""],
        ),
    ]
}
