//! Table 1: what each parameter does to the time of disks, memory and CPU.

use super::disks::{Conditions, PAPER_CPDB, Reading, disks};
use super::setup::{Bench, need, rows};
use super::stored::{Query, Scanner, Source, Stored, both_layouts};
use super::sweep::quickest;
use super::tables::{TUPLES, TableName, orders_z, plain};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_storage::CodecName;
use freestone_storage::io::{Sim, SimAsking};

const WIDE: TableName = TableName::Lineitem;
const NARROW: TableName = TableName::Orders;
/// A change below this share is none.
const TOLERANCE: f64 = 0.05;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ht1",
    source: "H, table 1",
    title: "What parameters do to disk, memory and CPU time",
    need: |setting| need(WIDE, tuples(setting), 3).measured(3 * setting.repetitions()),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, WIDE, 1 << 18, 3)
}

/// What a scan of the first attributes of a table as columns reads and computes.
fn measured(setting: &Setting, table: &Stored, query: Query) -> Result<Reading> {
    let mut seconds = Vec::new();
    // The first turns open blocks and warm caches up.
    for turn in 0..2 + 3 * setting.repetitions() {
        let one = table.seconds_per_tuple(query, Scanner::Pipelined)?;
        if turn >= 2 {
            seconds.push(one);
        }
    }
    let mut until = vec![0.0];
    for attributes in 1..=query.attributes {
        until.push(table.bytes_per_tuple(attributes)?);
    }
    Ok(Reading {
        file_bytes: until.windows(2).map(|pair| pair[1] - pair[0]).collect(),
        compute: quickest(&seconds),
    })
}

/// Disk, memory and CPU time of 60 million tuples, seconds.
type Times = [f64; 3];

/// A row of the table.
struct Trend {
    parameter: &'static str,
    /// What the document expects of disk, memory and CPU: -1, 0 or 1; 2 for either.
    expected: [i8; 3],
    before: Times,
    after: Times,
}

impl Trend {
    fn ratios(&self) -> [f64; 3] {
        [0, 1, 2].map(|part| self.after[part] / self.before[part])
    }

    fn holds(&self) -> bool {
        let agrees = |(ratio, expected): (f64, i8)| match expected {
            -1 => ratio < 1.0 - TOLERANCE,
            1 => ratio > 1.0 + TOLERANCE,
            0 => (ratio - 1.0).abs() <= TOLERANCE,
            _ => true,
        };
        self.ratios().into_iter().zip(self.expected).all(agrees)
    }

    fn arrows(&self) -> [&'static str; 3] {
        self.expected.map(|expected| match expected {
            -1 => "less",
            0 => "",
            1 => "more",
            _ => "less or more",
        })
    }

    fn claim(&self) -> Claim {
        let says: Vec<String> = ["disk", "memory", "CPU"]
            .iter()
            .zip(self.arrows())
            .filter(|(_, arrow)| !arrow.is_empty())
            .map(|(part, arrow)| format!("{arrow} {part} time"))
            .collect();
        let [disk, memory, cpu] = self.ratios();
        Claim::tested(
            format!(
                "{}: {}, and nothing else (tolerance: 5 %)",
                self.parameter,
                says.join(", ")
            ),
            self.holds(),
            format!("Disk time changes {disk:.2} times, memory {memory:.2}, CPU {cpu:.2}."),
        )
    }
}

/// What the table is derived from.
struct Runs {
    bench: Bench,
    bandwidth: f64,
    one: Reading,
    all: Reading,
    few: Reading,
    narrow: Reading,
    packed: Reading,
}

impl Runs {
    fn measure(setting: &Setting) -> Result<Runs> {
        let count = tuples(setting);
        let wide = Stored::make(WIDE, count, setting.seed, &both_layouts(&plain()))?;
        let query = |table: TableName, attributes, share| Query {
            attributes,
            threshold: table.threshold(share),
        };
        let columns = |attributes, share| {
            let query = query(WIDE, attributes, share);
            measured(setting, &wide[1], query)
        };
        let options = [plain(), orders_z(CodecName::ForDelta)];
        let options = options
            .each_ref()
            .map(|options| both_layouts(options)[1].clone());
        let tables = Stored::make(NARROW, count, setting.seed, &options)?;
        let orders = |table: &Stored| measured(setting, table, query(NARROW, 7, 0.1));
        Ok(Runs {
            bench: Bench::new(),
            bandwidth: freestone_calibrate::bandwidth(),
            one: columns(1, 0.1)?,
            all: columns(16, 0.1)?,
            few: columns(16, 0.001)?,
            narrow: orders(&tables[0])?,
            packed: orders(&tables[1])?,
        })
    }

    /// Times of a scan; memory brings all that disks do.
    fn times(&self, reading: &Reading, conditions: Conditions) -> Times {
        let free = Reading {
            compute: 0.0,
            ..reading.clone()
        };
        let disk = free.on(&self.bench.disks, conditions).elapsed;
        let memory = reading.bytes() * TUPLES / self.bandwidth;
        [disk, memory, reading.compute * TUPLES]
    }

    fn trends(&self) -> Vec<Trend> {
        let usual = Conditions::default();
        let shallow = Conditions { depth: 2, ..usual };
        let beside = Conditions {
            beside: WIDE.stored_bytes() as f64,
            asking: SimAsking::Ahead,
            ..usual
        };
        let of = |reading| self.times(reading, usual);
        let trend = |parameter, expected, before, after| Trend {
            parameter,
            expected,
            before,
            after,
        };
        let [disk, memory, cpu] = of(&self.narrow);
        let free = Reading {
            compute: 0.0,
            ..self.narrow.clone()
        };
        let six = disks(self.bench.clock, PAPER_CPDB);
        let six = Sim { disks: 6, ..six };
        let more = free.on(&six, usual).elapsed;
        vec![
            trend(
                "Selecting more attributes (columns)",
                [1, 1, 1],
                of(&self.one),
                of(&self.all),
            ),
            trend(
                "Decreased selectivity",
                [0, 0, -1],
                of(&self.all),
                of(&self.few),
            ),
            trend(
                "Narrower tuples",
                [-1, -1, -1],
                of(&self.all),
                of(&self.narrow),
            ),
            trend(
                "Compression",
                [-1, -1, 2],
                of(&self.narrow),
                of(&self.packed),
            ),
            trend(
                "Larger prefetch",
                [-1, 0, 0],
                self.times(&self.narrow, shallow),
                of(&self.narrow),
            ),
            trend(
                "More disk traffic",
                [1, 0, 0],
                of(&self.narrow),
                self.times(&self.narrow, beside),
            ),
            trend(
                "Twice the CPUs and disks (CPU time is halved, as in the model)",
                [-1, 0, -1],
                [disk, memory, cpu],
                [more, memory, cpu / 2.0],
            ),
        ]
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let runs = Runs::measure(setting)?;
    let trends = runs.trends();
    let row = |trend: &Trend| {
        let [disk, memory, cpu] = trend.arrows();
        let [a, b, c] = trend.ratios().map(|ratio| format!("{ratio:.2}"));
        [trend.parameter, disk, &a, memory, &b, cpu, &c]
            .map(str::to_owned)
            .to_vec()
    };
    let columns = [
        "parameter",
        "disk in the document",
        "disk here",
        "memory in the document",
        "memory here",
        "CPU in the document",
        "CPU here",
    ];
    let setup = runs.bench.describe(tuples(setting), setting, false);
    Ok(Outcome {
        setup: format!(
            "{setup}. Numbers are times as multiples of those without the change, of pipelined \
             columns: LINEITEM with 1 and 16 attributes, at 10 and 0.1 %; ORDERS and ORDERS-Z \
             with 7. Memory time is that of reading a scan's bytes in sequence, {:.1} GB/s.",
            runs.bandwidth / 1e9
        ),
        plots: Vec::new(),
        tables: vec![Table {
            title: "Trends of disk, memory and CPU time".to_owned(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: trends.iter().map(row).collect(),
        }],
        claims: trends.iter().map(Trend::claim).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(expected: [i8; 3], after: Times) -> Trend {
        Trend {
            parameter: "Something",
            expected,
            before: [1.0, 2.0, 4.0],
            after,
        }
    }

    #[test]
    fn trends_hold_where_all_three_parts_agree() {
        assert!(trend([1, 0, -1], [1.5, 2.0, 3.0]).holds());
        assert!(trend([1, 0, 2], [1.5, 2.05, 9.0]).holds());
        assert!(!trend([1, 0, -1], [1.01, 2.0, 3.0]).holds());
        assert!(!trend([1, 0, -1], [1.5, 2.5, 3.0]).holds());
        assert!(!trend([-1, 0, -1], [1.5, 2.0, 3.0]).holds());
    }
}
