//! Figure 11: ORDERS beside another scan, and columns that ask for one file at a time.

use super::claims::pair;
use super::disks::Conditions;
use super::setup::{Bench, Measured, measure, need, repetitions, rows};
use super::sweep::Curve;
use super::tables::TableName;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Axis, Claim, Outcome, Plot, Series};
use crate::setting::Setting;
use freestone_storage::io::SimAsking;

const TABLE: TableName = TableName::Orders;
/// Bytes of a row of LINEITEM in the document.
const LINEITEM_BYTES: f64 = 152.0;
/// Prefetch depths of both scans, one graph for each.
const DEPTHS: [u64; 3] = [48, 8, 2];

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "h11",
    source: "H, figure 11",
    title: "ORDERS beside a scan of LINEITEM",
    need: |setting| need(TABLE, tuples(setting), 4).measured(repetitions(setting)),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 20, 4)
}

/// What was measured, and where it is replayed.
struct Scans<'a> {
    rows: &'a Curve,
    columns: &'a Curve,
    /// Bytes of a tuple of the other table.
    beside: f64,
    bench: &'a Bench,
}

impl<'a> Scans<'a> {
    fn new(curves: &'a [Curve], beside: f64, bench: &'a Bench) -> Scans<'a> {
        let (rows, columns) = pair(curves);
        Scans {
            rows,
            columns,
            beside,
            bench,
        }
    }

    fn conditions(&self, depth: u64, asking: SimAsking) -> Conditions {
        Conditions {
            depth,
            asking,
            beside: self.beside,
        }
    }

    /// Elapsed time of rows, columns and slow columns.
    fn times(&self, depth: u64, attributes: usize) -> [f64; 3] {
        let time = |curve: &Curve, asking| {
            curve.elapsed(
                &self.bench.disks,
                attributes,
                self.conditions(depth, asking),
            )
        };
        [
            time(self.rows, SimAsking::Ahead),
            time(self.columns, SimAsking::Ahead),
            time(self.columns, SimAsking::OneFile),
        ]
    }

    fn series(&self, places: &[f64], depth: u64) -> [Series; 3] {
        let series = |curve: &Curve, asking, name: &str| Series {
            name: format!("{}{name}", curve.name),
            ..curve.elapsed_series(&self.bench.disks, places, self.conditions(depth, asking))
        };
        [
            series(self.rows, SimAsking::Ahead, ""),
            series(self.columns, SimAsking::Ahead, ""),
            series(self.columns, SimAsking::OneFile, ", slow"),
        ]
    }
}

/// The scans of the document's program, and Freestone's.
type Both<'a> = [Scans<'a>; 2];

fn plot(both: &Both<'_>, depth: u64) -> Plot {
    let places = both[0].columns.places();
    Plot {
        title: format!("ORDERS beside a scan of LINEITEM, prefetch depth {depth}"),
        x: Axis {
            label: "bytes of selected attributes per tuple".to_owned(),
            ..Axis::default()
        },
        y: Axis {
            label: "seconds of virtual time for 60 million tuples".to_owned(),
            ..Axis::default()
        },
        series: both
            .iter()
            .flat_map(|scans| scans.series(&places, depth))
            .collect(),
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let measured = measure(setting, TABLE, count, &[0.1])?;
    let Some(Measured {
        freestone,
        document,
    }) = measured.first()
    else {
        return Ok(Outcome::default());
    };
    let both = [
        Scans::new(document, LINEITEM_BYTES, &bench),
        Scans::new(freestone, TableName::Lineitem.stored_bytes() as f64, &bench),
    ];
    let claim = |says: &str, of: fn(&Scans<'_>) -> (bool, String)| {
        Claim::replicated(says, of(&both[0]), of(&both[1]))
    };
    Ok(Outcome {
        setup: bench.describe(count, setting, true)
            + ". Meanwhile 60 million tuples of LINEITEM are read as rows with the same depth by \
               a scan that computes nothing; each scan has a processor of its own. Disks serve \
               requests in the order in which they are made.",
        plots: DEPTHS.map(|depth| plot(&both, depth)).to_vec(),
        tables: Vec::new(),
        claims: vec![
            claim(
                "Beside another scan columns are faster than rows at depths 48, 8 and 2, even for \
                 all attributes, since they ask ahead for several files",
                columns_win,
            ),
            claim(
                "Columns that ask for one file at a time lose that advantage: for all attributes \
                 they are slower than other columns, and not faster than rows",
                slow_lose,
            ),
            claim(
                "Such columns come closer to what was expected of columns beside another scan, the \
                 time of rows (here: within 25 % for all attributes at the document's usual depth of \
                 48, and closer than others)",
                slow_as_rows,
            ),
            claim(
                "Beside another scan rows, too, depend on prefetching: the less, the slower",
                suffers,
            ),
        ],
    })
}

fn columns_win(scans: &Scans<'_>) -> (bool, String) {
    let all = scans.rows.attributes();
    let wins = |depth: u64| {
        (1..=all).all(|k| {
            let [rows, columns, _] = scans.times(depth, k);
            columns < rows
        })
    };
    let shown = |depth: u64| {
        let [rows, columns, _] = scans.times(depth, all);
        format!("{columns:.1} and {rows:.1} s at depth {depth}")
    };
    (
        DEPTHS.iter().all(|depth| wins(*depth)),
        format!(
            "For all attributes columns and rows take {}.",
            DEPTHS.map(shown).join(", ")
        ),
    )
}

/// Elapsed time of columns and slow columns as multiples of that of rows, for all
/// attributes at each depth.
fn multiples(scans: &Scans<'_>) -> [(u64, f64, f64); 3] {
    let all = scans.rows.attributes();
    DEPTHS.map(|depth| {
        let [rows, columns, slow] = scans.times(depth, all);
        (depth, columns / rows, slow / rows)
    })
}

fn shown(multiples: [(u64, f64, f64); 3]) -> String {
    let shown = multiples.map(|(depth, columns, slow)| {
        format!("{slow:.2} times at depth {depth} (others {columns:.2} times)")
    });
    shown.join(", ")
}

fn slow_lose(scans: &Scans<'_>) -> (bool, String) {
    let multiples = multiples(scans);
    (
        multiples
            .iter()
            .all(|(_, columns, slow)| slow > columns && *slow > 0.98),
        format!(
            "For all attributes they take, as multiples of rows, {}.",
            shown(multiples)
        ),
    )
}

fn slow_as_rows(scans: &Scans<'_>) -> (bool, String) {
    let multiples = multiples(scans);
    let apart = |times: f64| times.ln().abs();
    let further: Vec<String> = multiples
        .iter()
        .filter(|(_, columns, slow)| apart(*slow) >= apart(*columns))
        .map(|(depth, ..)| depth.to_string())
        .collect();
    let why = match further.is_empty() {
        true => String::new(),
        false => format!(
            " They are further from it than others at depth {}: half a buffer is one unit there, \
             so that most of their turns bring one, while a scan of a single file has asked for two \
             next to each other by its turn.",
            further.join(", ")
        ),
    };
    // The first of the depths is the usual one.
    let (_, columns, slow) = multiples[0];
    (
        (slow - 1.0).abs() < 0.25 && apart(slow) < apart(columns),
        format!(
            "For all attributes they take, as multiples of rows, {}.{why}",
            shown(multiples)
        ),
    )
}

fn suffers(scans: &Scans<'_>) -> (bool, String) {
    let alone = |depth| {
        let conditions = Conditions {
            depth,
            ..Conditions::default()
        };
        scans.rows.elapsed(&scans.bench.disks, 1, conditions)
    };
    let ratios = DEPTHS.map(|depth| scans.times(depth, 1)[0] / alone(depth));
    let shown: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.1}")).collect();
    (
        ratios.is_sorted() && ratios[2] > 1.5 * ratios[0],
        format!(
            "Beside the other scan rows take {} times as long as alone at depths 48, 8 and 2.",
            shown.join(", ")
        ),
    )
}
