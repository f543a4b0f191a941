//! Compression on and off (Q, figures 10 and 11).

use super::figure::{SHARES, by_share, judged, large_blocks, nanoseconds_per_row, tested};
use super::organisation::{Organisation, Stored};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Ratios, Sweep, memory};
use super::replica::Replica;
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_storage::schema::CodecName;
use freestone_storage::{CodecChoice, Layout};

/// Figures 10 and 11: compression of columns and of rows.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q10",
    source: "Q, figures 10 and 11",
    title: "Compression",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowE;
const WIDTH: usize = 3;
/// The column that is asked and sorted: the paper's fifth.
const ASKED: usize = 4;

const NONE: &str = "uncompressed";
const PAPER: &str = "truncated to 1, 2 or 4 bytes";
const OWN: &str = "as Freestone chooses";

const CODECS: [(&str, CodecChoice); 3] = [
    (NONE, CodecChoice::None),
    (PAPER, CodecChoice::Named(CodecName::Truncation)),
    (OWN, CodecChoice::Auto),
];

/// Layout, whether sorted, how rows are found, and how many of the shares make sense.
const WAYS: [(&str, Layout, bool, Access); 5] = [
    (
        "Figure 10: column store, scan",
        Layout::Column,
        false,
        Access::Scan,
    ),
    (
        "Figure 11: row store, CSB+-tree",
        Layout::Row,
        false,
        Access::Index,
    ),
    ("row store, scan", Layout::Row, false, Access::Scan),
    (
        "column store, CSB+-tree",
        Layout::Column,
        false,
        Access::Index,
    ),
    (
        "column store, sorted column",
        Layout::Column,
        true,
        Access::Scan,
    ),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 5),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 5);
    let cut = large_blocks(&lab);
    let generator = lab.generator();
    let (mut plots, mut sizes) = (Vec::new(), Vec::new());
    let mut sides = [Vec::new(), Vec::new()];
    for (layout, sorted) in [
        (Layout::Column, false),
        (Layout::Row, false),
        (Layout::Column, true),
    ] {
        let organise = |codec| {
            let plain = Organisation::plain(layout, cut).coded(codec);
            match sorted {
                true => plain.sorted(ASKED),
                false => plain.indexed(ASKED),
            }
        };
        let tables = CODECS.map(|(_, codec)| lab.load(&organise(codec)));
        let tables = tables.into_iter().collect::<Result<Vec<Stored>>>()?;
        let replicas = CODECS[..2]
            .iter()
            .map(|(_, codec)| lab.replica(&organise(*codec)));
        let replicas = replicas.collect::<Result<Vec<Replica>>>()?;
        if !sorted {
            sizes.push((
                layout,
                tables
                    .iter()
                    .map(tuple_bytes)
                    .collect::<Result<Vec<u64>>>()?,
            ));
        }
        let ways = WAYS.iter().filter(|way| (way.1, way.2) == (layout, sorted));
        for (title, _, _, access) in ways {
            let named = CODECS.iter().zip(&tables);
            let named = named.map(|((name, _), stored)| Contender::new(name, stored, *access));
            let papers = CODECS.iter().zip(&replicas);
            let papers = papers.map(|((name, _), table)| Contender::paper(name, table, *access));
            let contenders: Vec<Contender<'_>> = named.chain(papers).collect();
            // Where all rows match, no index is asked.
            let shares = match access {
                Access::Index => &SHARES[..4],
                _ => &SHARES[..],
            };
            let sweep = lab.sweep(&contenders, shares, |share, turn| {
                Query::of(KIND, generator.projection(WIDTH, turn as u64), ASKED, share)
            })?;
            plots.push(by_share(&format!("{title}, {WIDTH} columns"), &sweep));
            for (side, sweep) in sides.iter_mut().zip(sweep.sides()) {
                side.push(Found {
                    title,
                    paper: sweep.ratios(PAPER, NONE),
                    own: sweep.ratios(OWN, NONE),
                    few: per_row(&lab, &sweep, 0.01),
                    half: per_row(&lab, &sweep, 0.5),
                });
            }
        }
    }
    let raw = lab.rows * KIND.row_bytes() as u64;
    Ok(Outcome {
        setup: lab.setup(
            "The predicate is on column 5, which has values up to 11,585. A result is not \
             compressed.",
        ),
        plots,
        tables: vec![size_table(&sizes, raw)],
        claims: claims(&sides, &sizes, raw),
    })
}

/// Compressed time over uncompressed time for one way to find rows.
struct Found {
    title: &'static str,
    paper: Ratios,
    own: Ratios,
    /// Nanoseconds of a thread for a row of the result: uncompressed, truncated and, by
    /// Freestone, with its own codecs.
    few: Vec<f64>,
    /// The same where half of the rows match.
    half: Vec<f64>,
}

/// Nanoseconds of a thread for a row of the result, by codec.
fn per_row(lab: &Lab, sweep: &Sweep, share: f64) -> Vec<f64> {
    let of = |name: &String| nanoseconds_per_row(lab, sweep, name, share, share);
    sweep.names.iter().map(of).collect()
}

/// What rows of the result cost, way by way.
fn costs(found: &[Found]) -> String {
    let each = found.iter().map(|found| {
        let listed = |costs: &[f64]| {
            let each = costs.iter().map(|cost| format!("{cost:.0}"));
            each.collect::<Vec<String>>().join(", ")
        };
        format!(
            "{}: {} at 1 % and {} at 50 %",
            found.title,
            listed(&found.few),
            listed(&found.half)
        )
    });
    each.collect::<Vec<String>>().join("; ")
}

/// Why a claim does not hold for Freestone.
fn why(found: &[Found]) -> String {
    format!(
        "A row of the result takes so many ns of a thread, uncompressed, truncated, and with \
         Freestone's codecs: {}. Where rows are fetched singly, each code has to be located and \
         cut out of its words, and a search decodes each value that it meets; where many are read in order, decoding costs \
         less than is saved in testing codes and reading memory.",
        costs(found)
    )
}

/// Bytes of a table's values, without indexes and statistics.
fn tuple_bytes(stored: &Stored) -> Result<u64> {
    let all: Vec<usize> = (0..KIND.columns()).collect();
    let blocks = stored.table.blocks().iter();
    let bytes = blocks.map(|block| block.bytes_of(&all));
    Ok(bytes
        .collect::<freestone_storage::Result<Vec<u64>>>()?
        .iter()
        .sum())
}

fn size_table(sizes: &[(Layout, Vec<u64>)], raw: u64) -> Table {
    let rows = sizes.iter().flat_map(|(layout, sizes)| {
        let each = sizes.iter().zip(CODECS);
        each.map(move |(bytes, (codec, _))| {
            vec![
                layout.to_string(),
                codec.to_string(),
                format!("{:.1}", *bytes as f64 / 1e6),
                format!("{:.2}", *bytes as f64 / raw as f64),
            ]
        })
    });
    Table {
        title: "Size of the table's values".into(),
        columns: ["layout", "compression", "MB", "share of raw tuples"]
            .map(String::from)
            .to_vec(),
        rows: rows.collect(),
    }
}

/// Truncated time over uncompressed time, way by way.
fn listed(found: &[Found]) -> String {
    let each = found.iter();
    let each = each.map(|found| format!("{}: {}", found.title, found.paper));
    let each = each.collect::<Vec<String>>().join("; ");
    format!("truncated over uncompressed is {each}.")
}

fn claims(sides: &[Vec<Found>; 2], sizes: &[(Layout, Vec<u64>)], raw: u64) -> Vec<Claim> {
    let low = |ratios: &Ratios| ratios.of(|share| share <= 0.1);
    let high = |ratios: &Ratios| ratios.of(|share| share >= 0.5);
    let [replica, own] = sides;
    let why = [
        format!(
            "A row of the result takes so many ns of a thread, uncompressed and truncated: {}.",
            costs(replica)
        ),
        why(own),
    ];
    let why = why.each_ref().map(String::as_str);
    let mut claims = vec![
        judged(
            "Observation 11: truncated codes are faster when 10 % of the rows or fewer match, \
             however rows are found (holds if the time over all shares up to 10 % is below that \
             without compression in all five cases).",
            sides,
            |found| {
                let holds = found.iter().all(|found| low(&found.paper).mean() < 1.0);
                (holds, listed(found))
            },
            why,
        ),
        judged(
            "Observation 11: they are slightly slower when 50 % or more match (holds if the time at \
             50 and 100 % is 1 to 1.5 times that without compression in all five cases).",
            sides,
            |found| {
                let slower = |found: &Found| (1.0..=1.5).contains(&high(&found.paper).mean());
                (found.iter().all(slower), listed(found))
            },
            why,
        ),
        judged(
            "Observation 11: they gain most where column stores are scanned (holds if figure 10 \
             has the least time over the shares up to 10 %, relative to no compression).",
            sides,
            |found| {
                let gains = found.iter();
                let gains = gains.map(|found| (low(&found.paper).mean(), found.title));
                let mut gains: Vec<(f64, &str)> = gains.collect();
                gains.sort_by(|a, b| a.0.total_cmp(&b.0));
                let most = gains.first().map_or("", |(_, title)| title);
                let each = gains
                    .iter()
                    .map(|(ratio, title)| format!("{title}: {ratio:.2}"));
                let each = each.collect::<Vec<String>>().join("; ");
                (most.starts_with("Figure 10"), format!("{each}."))
            },
            ["", ""],
        ),
    ];
    claims.extend(of_own(own, sizes, raw));
    claims
}

/// What is said of compression in general: judged on the codecs that Freestone chooses.
fn of_own(found: &[Found], sizes: &[(Layout, Vec<u64>)], raw: u64) -> [Claim; 2] {
    let low = |found: &Found| found.own.of(|share| share <= 0.1).mean();
    let each = found.iter();
    let each = each.map(|found| format!("{}: {}", found.title, found.own));
    let ratio = |codec: usize| {
        let column = sizes.iter().find(|(layout, _)| *layout == Layout::Column);
        column.map_or(f64::NAN, |(_, sizes)| sizes[codec] as f64 / raw as f64)
    };
    [
        tested(
            "Insight 4: compression makes queries faster at 10 % and below (holds for the codecs \
             that Freestone chooses, if their time over all shares up to 10 % is below that without \
             in all five cases).",
            found.iter().all(|found| low(found) < 1.0),
            format!(
                "Freestone's choice over uncompressed: {}.",
                each.collect::<Vec<String>>().join("; ")
            ),
            &why(found),
        ),
        Claim::tested(
            "Section 4.5: compression takes Narrow-E from 28,624 to 20,032 MB, to 70 % (holds if \
             truncation of the column store is within 3 points of it).",
            (ratio(1) - 0.7).abs() <= 0.03,
            format!(
                "Truncated: {:.1} % of the raw tuples; with the codecs that Freestone chooses: \
                 {:.1} %.",
                ratio(1) * 100.0,
                ratio(2) * 100.0
            ),
        ),
    ]
}
