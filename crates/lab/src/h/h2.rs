//! Figure 2: the speed-up of columns over rows by tuple width and cycles per disk byte,
//! of the model with CPU costs measured here.

use super::disks::{Conditions, PAPER_CPDB, PAPER_SEEK, Reading, disks, seek_of};
use super::h2_claims::claims;
use super::replica;
use super::setup::{need, rows};
use super::stored::{Query, Stored, both_layouts};
use super::sweep::{Subject, quickest, replicas, subjects};
use super::tables::{TUPLES, TableName, plain};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Axis, Outcome, Plot, Point, Series, Table};
use crate::setting::Setting;
use freestone_model::{File, Machine, Query as Plan, Scanner as Cost, speed_up};

/// Attributes of 4 bytes; half of them are selected.
const ATTRIBUTES: [usize; 6] = [2, 4, 6, 8, 12, 16];
/// Cycles per disk byte; 20 to 400 are usual, H's machine has 18, and few
/// are needed here for the CPU to decide.
pub const CPDB: [f64; 9] = [0.5, 1.0, 2.0, 4.5, 9.0, 18.0, 36.0, 108.0, 400.0];
const WIDEST: TableName = TableName::Integers(16);

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "h2",
    source: "H, figure 2",
    title: "Speed-up of columns over rows, by the model",
    need: |setting| need(WIDEST, tuples(setting), 4).measured(2 * setting.repetitions()),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, WIDEST, 1 << 20, 4)
}

/// Seconds of CPU for a tuple of so many attributes, half of which are selected.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Bytes of a tuple.
    pub bytes: f64,
    /// Of rows.
    pub rows: f64,
    /// Of pipelined columns.
    pub pipelined: f64,
    /// Those of Freestone's single iterator; the document has none.
    single: Option<f64>,
}

/// Costs of the document's program, and Freestone's.
pub type Both<T> = [T; 2];

fn measure(setting: &Setting, attributes: usize) -> Result<Both<Costs>> {
    let (table, count) = (TableName::Integers(attributes), tuples(setting));
    let tables = Stored::make(table, count, setting.seed, &both_layouts(&plain()))?;
    let (row_file, column_files) = replica::make_plain(table, count, setting.seed)?;
    let own = subjects(&tables[0], &tables[1]);
    let all: Vec<Subject<'_>> = own
        .into_iter()
        .chain(replicas(&row_file, &column_files))
        .collect();
    let query = Query {
        attributes: attributes / 2,
        threshold: table.threshold(0.1),
    };
    let mut seconds = vec![Vec::new(); all.len()];
    // The first turn opens blocks and warms caches up.
    for turn in 0..=2 * setting.repetitions() {
        for (subject, seconds) in all.iter().zip(&mut seconds) {
            let one = subject.table.seconds_per_tuple(query, subject.scanner)?;
            if turn > 0 {
                seconds.push(one);
            }
        }
    }
    let at = |number: usize| quickest(&seconds[number]);
    let costs = |rows, pipelined, single| Costs {
        bytes: 4.0 * attributes as f64,
        rows,
        pipelined,
        single,
    };
    Ok([costs(at(3), at(4), None), costs(at(0), at(1), Some(at(2)))])
}

/// A scan in the terms of the model.
fn plan(clock: f64, tuple_bytes: f64, read_bytes: f64, seconds: f64) -> Plan {
    Plan {
        files: vec![File {
            read_bytes,
            ..File::of_rows(TUPLES, tuple_bytes)
        }],
        scanners: vec![Cost {
            system_cycles: 0.0,
            user_cycles: clock * seconds,
            bytes: read_bytes,
        }],
        operator_cycles: Vec::new(),
    }
}

/// The speed-up of columns that take so many seconds for a tuple.
pub fn predicted(machine: &Machine, costs: &Costs, seconds: f64, cpdb: f64) -> f64 {
    let rows = plan(machine.clock, costs.bytes, costs.bytes, costs.rows);
    let columns = plan(machine.clock, costs.bytes, costs.bytes / 2.0, seconds);
    speed_up(&machine.with_cpdb(cpdb), &columns, &rows)
}

fn run(setting: &Setting) -> Result<Outcome> {
    let clock = freestone_calibrate::clock();
    let machine = Machine {
        name: "this machine".to_owned(),
        clock,
        memory_bytes_per_cycle: freestone_calibrate::bandwidth() / clock,
        // The model's equations have no place for it.
        miss_cycles: Machine::of_the_paper().miss_cycles,
        disk_bandwidth: clock / PAPER_CPDB,
        seek_seconds: seek_of(PAPER_SEEK, clock),
    };
    let costs = ATTRIBUTES.map(|attributes| measure(setting, attributes));
    let costs = costs.into_iter().collect::<Result<Vec<Both<Costs>>>>()?;
    let [document, freestone] =
        [0, 1].map(|which| costs.iter().map(|both| both[which]).collect::<Vec<Costs>>());
    let setup = format!(
        "The speed-up formula with constants of this machine: {:.2} GHz, {:.2} bytes per cycle \
         from memory, and CPU costs of scans of {} tuples of 4-byte integers in memory, 10 % \
         selectivity, the first half of the attributes selected, quickest of {} repetitions in \
         turns: of the document's program, as in figure 6, which decides all claims, and of \
         Freestone. Disks have whatever bandwidth makes the cycles per disk byte; system time is 0.",
        clock / 1e9,
        machine.memory_bytes_per_cycle,
        tuples(setting),
        2 * setting.repetitions(),
    );
    Ok(Outcome {
        setup,
        plots: vec![
            plot(&machine, &document, "as in the document", |costs| {
                costs.pipelined
            }),
            plot(&machine, &freestone, "pipelined", |costs| costs.pipelined),
            plot(&machine, &freestone, "single iterator", |costs| {
                costs.single.unwrap_or(costs.pipelined)
            }),
        ],
        tables: vec![
            table(&machine, &document),
            measured(clock, &document, &freestone),
            beside_simulation(&machine, &document),
        ],
        claims: claims(&machine, [&document, &freestone]),
    })
}

fn plot(machine: &Machine, costs: &[Costs], name: &str, of: fn(&Costs) -> f64) -> Plot {
    let series = |cpdb: f64| Series {
        name: format!("{cpdb} cycles per disk byte"),
        points: costs
            .iter()
            .map(|costs| Point::exact(costs.bytes, predicted(machine, costs, of(costs), cpdb)))
            .collect(),
    };
    Plot {
        title: format!("Speed-up of columns ({name}) over rows, half of the attributes"),
        x: Axis {
            label: "bytes of a tuple".to_owned(),
            ..Axis::default()
        },
        y: Axis {
            label: "speed-up".to_owned(),
            ..Axis::default()
        },
        series: CPDB.map(series).to_vec(),
    }
}

/// The contour plot as numbers.
fn table(machine: &Machine, costs: &[Costs]) -> Table {
    let row = |cpdb: f64| {
        let cell = |costs: &Costs| {
            let speed_up = predicted(machine, costs, costs.pipelined, cpdb);
            format!("{speed_up:.2}")
        };
        std::iter::once(format!("{cpdb}"))
            .chain(costs.iter().map(cell))
            .collect()
    };
    let widths = costs.iter().map(|costs| format!("{} bytes", costs.bytes));
    Table {
        title: "Speed-up of columns over rows, as in the document".to_owned(),
        columns: std::iter::once("cycles per disk byte".to_owned())
            .chain(widths)
            .collect(),
        rows: CPDB.into_iter().rev().map(row).collect(),
    }
}

fn measured(clock: f64, document: &[Costs], freestone: &[Costs]) -> Table {
    let row = |(document, freestone): (&Costs, &Costs)| {
        let single = freestone.single.unwrap_or_default();
        let cells = [
            document.rows,
            document.pipelined,
            freestone.rows,
            freestone.pipelined,
            single,
        ];
        let cells = cells.map(|seconds| format!("{:.1}", clock * seconds));
        std::iter::once(format!("{}", document.bytes))
            .chain(cells)
            .collect()
    };
    Table {
        title: "Measured CPU cycles per tuple".to_owned(),
        columns: [
            "bytes of a tuple",
            "rows, as in the document",
            "columns, as in the document",
            "rows",
            "columns, pipelined",
            "columns, single iterator",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: document.iter().zip(freestone).map(row).collect(),
    }
}

/// Seconds for 60 million tuples as rows and as pipelined columns: by the equations, and by
/// the simulation, which knows of seeks.
pub fn times(machine: &Machine, costs: &Costs, cpdb: f64) -> [(f64, f64); 2] {
    let scaled = machine.with_cpdb(cpdb);
    let disks = disks(machine.clock, cpdb);
    let attributes = (costs.bytes / 4.0) as usize;
    let columns = Reading {
        file_bytes: vec![4.0; attributes / 2],
        compute: costs.pipelined,
    };
    let rows = Reading::rows(costs.bytes, costs.rows);
    [rows, columns].map(|reading| {
        let plan = plan(machine.clock, costs.bytes, reading.bytes(), reading.compute);
        let predicted = plan.predict(&scaled).rate.seconds(TUPLES);
        (predicted, reading.on(&disks, Conditions::default()).elapsed)
    })
}

/// Cycles per disk byte at which both are compared: those of a desktop machine and of H's,
/// and fewer than are usual.
pub const COMPARED: [f64; 3] = [108.0, PAPER_CPDB, 4.5];

fn beside_simulation(machine: &Machine, costs: &[Costs]) -> Table {
    let rows = COMPARED.into_iter().flat_map(|cpdb| {
        costs.iter().map(move |costs| {
            let times = times(machine, costs, cpdb);
            let cells = times.map(|(predicted, simulated)| [predicted, simulated]);
            let cells = cells.concat().into_iter().map(|time| format!("{time:.2}"));
            let first = [format!("{cpdb}"), format!("{}", costs.bytes)];
            first.into_iter().chain(cells).collect()
        })
    });
    Table {
        title: "Seconds for 60 million tuples, half of the attributes".to_owned(),
        columns: [
            "cycles per disk byte",
            "bytes of a tuple",
            "rows, by the model",
            "rows, simulated",
            "columns, by the model",
            "columns, simulated",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: rows.collect(),
    }
}
