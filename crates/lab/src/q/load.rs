//! What it costs to load a sorted column store, and what it takes (Q, sections 4.2, 4.3).

use super::alone::{Alone, sorting};
use super::figure::{blocks, judged};
use super::organisation::{Cut, Organisation, Stored};
use super::race::{Lab, REPLICA, Times, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Sections 4.2 and 4.2.1: cost of loading, and size.
pub const EXPERIMENT: Experiment = Experiment {
    id: "qload",
    source: "Q, sections 4.2, 4.2.1 and 4.3",
    title: "Loading a sorted column store, and sizes",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 2),
        ..Need::default()
    }
}

/// A table's cost, and what it takes.
struct Loaded {
    name: String,
    times: Times,
    /// Bytes of its blocks, and how many there are.
    bytes: u64,
    blocks: u64,
}

/// What loading comes to, case by case: the replica's, and Freestone's.
type Sides = [[Loaded; 6]; 2];

fn run(setting: &Setting) -> Result<Outcome> {
    let lab = Lab::new(setting, KIND, 2);
    let cut = blocks(&lab);
    let sorted = |cut| Organisation::plain(Layout::Column, cut).sorted(0);
    let column = |cut| Organisation::plain(Layout::Column, cut);
    let row = |cut| Organisation::plain(Layout::Row, cut);
    let cases = [
        ("files, sorted column store", sorted(Cut::Files)),
        ("blocks, sorted column store", sorted(cut)),
        ("files, column store", column(Cut::Files)),
        ("blocks, column store", column(cut)),
        ("files, row store", row(Cut::Files)),
        ("blocks, row store", row(cut)),
    ];
    let mut sides = [true, false].map(|is_replica| {
        cases
            .each_ref()
            .map(|(name, _)| Loaded::new(name, is_replica))
    });
    // A first round to fault in memory is not counted.
    for turn in 0..=lab.turns {
        for (number, (_, organisation)) in cases.iter().enumerate() {
            let [replica, own] = &mut sides;
            let table = lab.replica(organisation)?;
            replica[number].add(turn, table.load_seconds, table.bytes(), table.blocks());
            drop(table);
            let Stored {
                table,
                load_seconds,
                ..
            } = lab.load(organisation)?;
            let blocks = table.blocks().len() as u64;
            own[number].add(turn, load_seconds, table.bytes(), blocks);
        }
    }
    let raw = lab.rows * KIND.row_bytes() as u64;
    let setup = format!(
        "{KIND:?}, {} rows, {} threads, {} samples. Times are of \
         sorting and, with Freestone, encoding, checksums and zone maps, the mean of all threads; \
         making the rows is not among them. A file is the part of one thread; Freestone has it in \
         blocks of 2^20 rows, the most that there can be. {REPLICA}",
        lab.rows, lab.threads, lab.turns
    );
    let alone = sorting(&lab)?;
    let block = match cut {
        Cut::Blocks(rows) => rows,
        _ => 0,
    };
    let mut claims = claims(&sides, raw);
    claims[0].because += &of_sorting(&alone, block);
    Ok(Outcome {
        setup,
        plots: vec![alone.plot("Sorting the table, by how many rows are sorted at once")],
        tables: vec![table(&sides, raw)],
        claims,
    })
}

impl Loaded {
    fn new(name: &str, is_replica: bool) -> Loaded {
        let whose = if is_replica { ", as in the paper" } else { "" };
        Loaded {
            name: format!("{name}{whose}"),
            times: Times::default(),
            bytes: 0,
            blocks: 0,
        }
    }

    fn add(&mut self, turn: usize, seconds: f64, bytes: u64, blocks: u64) {
        (self.bytes, self.blocks) = (bytes, blocks);
        if turn > 0 {
            self.times.0.push(seconds);
        }
    }
}

fn table([replica, own]: &Sides, raw: u64) -> Table {
    let rows = own.iter().chain(replica).map(|loaded| {
        let point = loaded.times.point(0.0);
        vec![
            loaded.name.clone(),
            format!("{:.0} ± {:.0}", point.mean, point.deviation),
            loaded.blocks.to_string(),
            format!("{:.2}", loaded.bytes as f64 / 1e6),
            format!("{:.2}", (loaded.bytes as f64 / raw as f64 - 1.0) * 100.0),
        ]
    });
    Table {
        title: "Loading Narrow-U".into(),
        columns: [
            "organisation",
            "ms",
            "blocks",
            "MB",
            "% more than raw tuples",
        ]
        .map(String::from)
        .to_vec(),
        rows: rows.collect(),
    }
}

/// What sorting alone takes, beside the first claim.
fn of_sorting(alone: &Alone, block: usize) -> String {
    let (share, [few, all]) = alone.share(block);
    format!(
        " The sort alone, on plain arrays: sorting {few} rows at once takes {:.0} % of the time of \
         {all} at once, which is all that a thread has.",
        share * 100.0
    )
}

fn claims(sides: &Sides, raw: u64) -> Vec<Claim> {
    let seconds = |loaded: &[Loaded; 6], number: usize| loaded[number].times.median();
    let own = &sides[1];
    let why = format!(
        "Without a sort, blocks take {:.0} ms and files {:.0} ms: most of the time goes to \
         encoding, zone maps, sketches and checksums, which the paper's blocks do not have.",
        seconds(own, 3) * 1e3,
        seconds(own, 2) * 1e3
    );
    let bytes = |loaded: &[Loaded; 6], number: usize| loaded[number].bytes as f64;
    vec![
        judged(
            "Observation 5: a sorted column store of blocks is built in less time than one of \
             files; 55 % of it in the paper (holds if below 95 %).",
            sides,
            |loaded| {
                let share = seconds(loaded, 1) / seconds(loaded, 0);
                let measured = format!("blocks take {:.0} % of the time of files.", share * 100.0);
                (share < 0.95, measured)
            },
            ["", &why],
        ),
        judged(
            "Section 4.2: blocks take 0.05 % more memory than files (holds if at most 0.5 %).",
            sides,
            |loaded| {
                let more = bytes(loaded, 3) / bytes(loaded, 2) - 1.0;
                (
                    more <= 0.005,
                    format!("they take {:.4} % more.", more * 100.0),
                )
            },
            ["", ""],
        ),
        judged(
            "Section 4.2: a block has less than 100 bytes of metadata.",
            sides,
            |loaded| {
                let blocks = loaded[3].blocks - loaded[2].blocks;
                let metadata = (bytes(loaded, 3) - bytes(loaded, 2)) / blocks.max(1) as f64;
                let measured = format!("each block more adds {metadata:.0} bytes.");
                (metadata < 100.0, measured)
            },
            [
                "",
                &format!(
                    "They are header, directory of sections with checksums, zone maps and sketches \
                     of ten columns; all tables have {:.2} % more than raw tuples or less.",
                    own.iter()
                        .map(|loaded| (loaded.bytes as f64 / raw as f64 - 1.0) * 100.0)
                        .fold(0.0, f64::max)
                ),
            ],
        ),
        judged(
            "Section 4.3: row store and column store take the same memory (holds if within 1 %).",
            sides,
            |loaded| {
                let rows = bytes(loaded, 5) / bytes(loaded, 3);
                let measured = format!("the row store takes {rows:.3} times as much.");
                ((rows - 1.0).abs() <= 0.01, measured)
            },
            [
                "",
                "A tuple begins with a bit for each column that says whether it is NULL.",
            ],
        ),
    ]
}
