//! Figure 9: attributes of compressed ORDERS, with FOR-delta or FOR for the order key.

use super::claims::{balance, cpu_share, shares, waits_for_disks};
use super::disks::{Conditions, PAPER_CPDB, disks};
use super::setup::{Bench, nanoseconds, need, percent, repetitions, rows};
use super::stored::{Scanner, Stored, both_layouts};
use super::sweep::{Curve, Subject, compute_plot, crossover, plot, subjects, sweep};
use super::tables::{TableName, orders_z, plain};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_storage::CodecName;

const TABLE: TableName = TableName::Orders;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "h9",
    source: "H, figure 9",
    title: "Rows and columns of compressed ORDERS, FOR-delta and FOR",
    need: |setting| need(TABLE, tuples(setting), 6),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 20, 6)
}

/// What was measured, by name.
struct Measured {
    rows: Curve,
    delta: Curve,
    frame: Curve,
    /// The same two at 0.1 % selectivity.
    few: Vec<Curve>,
    /// ORDERS without codecs: rows, pipelined columns, single iterator.
    plain: Vec<Curve>,
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let all = [
        plain(),
        orders_z(CodecName::ForDelta),
        orders_z(CodecName::For),
    ];
    let all: Vec<_> = all.iter().flat_map(both_layouts).collect();
    let tables = Stored::make(TABLE, count, setting.seed, &all)?;
    let subject = |name, table: usize, scanner| Subject {
        name,
        table: &tables[table],
        scanner,
    };
    let mut measured = vec![
        subject("rows", 2, Scanner::Rows),
        subject("columns, FOR-delta", 3, Scanner::Pipelined),
        subject("columns, FOR", 5, Scanner::Pipelined),
        subject("columns, FOR-delta, single iterator", 3, Scanner::Single),
        subject("columns, FOR, single iterator", 5, Scanner::Single),
    ];
    measured.extend(subjects(&tables[0], &tables[1]));
    let few = sweep(
        &measured[1..3],
        TABLE.threshold(0.001),
        repetitions(setting),
    )?;
    let mut curves = sweep(&measured, TABLE.threshold(0.1), repetitions(setting))?;
    let plain = curves.split_off(5);
    let widths = TABLE.widths();
    let until = |k: usize| {
        widths[..k]
            .iter()
            .map(|bytes| f64::from(*bytes))
            .sum::<f64>()
    };
    let places: Vec<f64> = (1..=widths.len()).map(until).collect();
    let title = "ORDERS-Z, 10 % selectivity: elapsed and CPU time";
    let label = "bytes of selected attributes per tuple before compression";
    let plots = vec![
        plot(title, label, &places, &curves, &bench.disks),
        compute_plot("ORDERS-Z, 10 % selectivity: CPU time", &curves),
    ];
    let measured = Measured {
        rows: curves[0].clone(),
        delta: curves[1].clone(),
        frame: curves[2].clone(),
        few,
        plain,
    };
    let tables = vec![widths_of(&tables), balances(&curves, &bench)];
    Ok(Outcome {
        setup: bench.describe(count, setting)
            + ". ORDERS-Z has the codecs of figure 5. FOR-delta and FOR begin anew every 1,024 \
               values in columns; FOR has one base for all of a block of 131,072 rows in rows.",
        plots,
        tables,
        claims: claims(&measured, &curves, &bench),
    })
}

fn claims(measured: &Measured, curves: &[Curve], bench: &Bench) -> Vec<Claim> {
    vec![
        columns_compute(measured, curves, bench),
        moves_left(measured, bench),
        rows_decompress(measured),
        jump(measured),
        frame_is_larger(measured),
        one_disk(measured, bench),
    ]
}

/// Bytes per tuple of each table.
fn widths_of(tables: &[Stored]) -> Table {
    let names = ["ORDERS", "ORDERS-Z, FOR-delta", "ORDERS-Z, FOR"];
    let row = |(name, pair): (&str, &[Stored])| {
        let bytes = |table: &Stored| {
            let bytes = table.bytes_per_tuple(table.attributes());
            bytes.map_or_else(|error| error.to_string(), |bytes| format!("{bytes:.1}"))
        };
        vec![name.to_owned(), bytes(&pair[0]), bytes(&pair[1])]
    };
    Table {
        title: "Bytes per tuple".to_owned(),
        columns: ["table", "rows", "columns"].map(str::to_owned).to_vec(),
        rows: names.into_iter().zip(tables.chunks(2)).map(row).collect(),
    }
}

fn balances(curves: &[Curve], bench: &Bench) -> Table {
    let row = |curve: &Curve| {
        let share = percent(cpu_share(curve, bench));
        vec![
            curve.name.clone(),
            share,
            format!("{:.1}", balance(curve, bench)),
        ]
    };
    Table {
        title: "Where scans of ORDERS-Z begin to wait for the CPU".to_owned(),
        columns: [
            "scan",
            "largest share of elapsed time that is CPU time",
            "cycles per disk byte below which it waits for the CPU",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: curves.iter().map(row).collect(),
    }
}

fn columns_compute(measured: &Measured, curves: &[Curve], bench: &Bench) -> Claim {
    let columns = waits_for_disks(&measured.delta, bench);
    let rows = waits_for_disks(&measured.rows, bench);
    let all = measured.delta.attributes();
    Claim::tested(
        "Compressed columns are bound by the CPU (CPU time is at least 90 % of elapsed time for \
         some number of attributes), while rows still wait for disks",
        !columns && rows,
        format!(
            "{} Columns with FOR-delta take {} per tuple for all attributes, rows {}. Freestone \
             decodes and tests up to 1,024 values at once: the columns would wait for the CPU \
             below {:.1} cycles per disk byte, the document's do at {PAPER_CPDB}.",
            shares(curves, bench),
            nanoseconds(measured.delta.compute(all)),
            nanoseconds(measured.rows.compute(all)),
            balance(&measured.delta, bench),
        ),
    )
}

fn moves_left(measured: &Measured, bench: &Bench) -> Claim {
    let usual = Conditions::default();
    let plain = crossover(&measured.plain[0], &measured.plain[1], &bench.disks, usual);
    let packed = crossover(&measured.rows, &measured.delta, &bench.disks, usual);
    let place = |share: Option<f64>| share.unwrap_or(1.0);
    let says = |share: Option<f64>| share.map_or_else(|| "nowhere".to_owned(), percent);
    Claim::tested(
        "Compression moves the crossover to the left, since columns wait for the CPU (here: by \
         more than 2 % of the tuple's bytes)",
        place(packed) < place(plain) - 0.02,
        format!(
            "Columns begin to take longer than rows at {} of the bytes of ORDERS, {} of those of \
             ORDERS-Z. Columns wait for disks here, and all of them take {:.1} bytes per tuple \
             where rows take {:.1}: their frames are of 1,024 values, those of rows of a block.",
            says(plain),
            says(packed),
            measured.delta.reading(7, 0.0).bytes(),
            measured.rows.reading(7, 0.0).bytes(),
        ),
    )
}

fn rows_decompress(measured: &Measured) -> Claim {
    let rows = &measured.rows;
    let all = rows.attributes();
    let (packed, plain) = (added(rows), added(&measured.plain[0]));
    Claim::tested(
        "Compressed rows need somewhat more CPU time for all attributes than for one, for \
         decompression (here: more than 5 %)",
        rows.compute(all) > 1.05 * rows.compute(1),
        format!(
            "They take {} per tuple for one attribute, and six more add {}. To rows without \
             codecs six more add {}, so that it is the copying out of tuples as well.",
            nanoseconds(rows.compute(1)),
            nanoseconds(packed),
            nanoseconds(plain)
        ),
    )
}

/// CPU time that attributes after the first add.
fn added(curve: &Curve) -> f64 {
    curve.compute(curve.attributes()) - curve.compute(1)
}

/// CPU time that the second attribute, the order key, adds.
fn second(curve: &Curve) -> f64 {
    curve.compute(2) - curve.compute(1)
}

fn jump(measured: &Measured) -> Claim {
    let (delta, frame) = (second(&measured.delta), second(&measured.frame));
    let others = (added(&measured.delta) - delta) / 5.0;
    let few = [0, 1].map(|number| second(&measured.few[number]));
    Claim::tested(
        "FOR-delta makes CPU time jump at the second attribute, since all values before one \
         have to be read; FOR does not (here: FOR-delta adds more than FOR, and at least twice \
         what each further attribute adds)",
        delta > frame && delta > 2.0 * others,
        format!(
            "The order key adds {} per tuple with FOR-delta, {} with FOR, each further attribute \
             {}; at 0.1 % selectivity the order key adds {} and {}. Freestone begins \
             anew every 1,024 values, unpacks their steps at once and adds them up.",
            nanoseconds(delta),
            nanoseconds(frame),
            nanoseconds(others),
            nanoseconds(few[0]),
            nanoseconds(few[1]),
        ),
    )
}

fn frame_is_larger(measured: &Measured) -> Claim {
    let bits = |curve: &Curve| 8.0 * curve.file_bytes[1];
    let (delta, frame) = (bits(&measured.delta), bits(&measured.frame));
    Claim::tested(
        "FOR needs more space for the order key than FOR-delta: 16 bits and 8 in the document",
        frame > 1.5 * delta,
        format!("Here FOR takes {frame:.1} bits per key, FOR-delta {delta:.1}."),
    )
}

fn one_disk(measured: &Measured, bench: &Bench) -> Claim {
    let slow = disks(bench.clock, 3.0 * PAPER_CPDB);
    let at = |curve: &Curve| curve.elapsed(&slow, 2, Conditions::default());
    let (delta, frame) = (at(&measured.delta), at(&measured.frame));
    Claim::tested(
        "With a third of the bandwidth, FOR-delta's smaller file offsets its CPU time",
        delta <= frame,
        format!(
            "At 54 cycles per disk byte two attributes take {delta:.1} s with FOR-delta, \
             {frame:.1} s with FOR."
        ),
    )
}
