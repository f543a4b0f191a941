//! Figure 9: attributes of compressed ORDERS, with FOR-delta or FOR for the order key.

use super::claims::{balance, cpu_share, shares, waits_for_disks};
use super::disks::{Conditions, PAPER_CPDB, disks};
use super::replica::{self, Codec};
use super::setup::{Bench, nanoseconds, need, percent, repetitions, rows};
use super::stored::{Scanner, Source, Stored, both_layouts};
use super::sweep::{Curve, Subject, compute_plot, crossover, plot, sweep};
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
    need: |setting| need(TABLE, tuples(setting), 10).measured(repetitions(setting)),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 20, 10)
}

/// What was measured of one program, by name.
struct Measured {
    rows: Curve,
    delta: Curve,
    frame: Curve,
    /// The same two columns at 0.1 % selectivity.
    few: Vec<Curve>,
    /// ORDERS without codecs: rows, columns.
    plain: Vec<Curve>,
}

/// The document's program, and Freestone.
type Both = [Measured; 2];

/// ORDERS, and ORDERS-Z with FOR-delta and with FOR, of the document's program.
type Replicas = [(replica::Rows, replica::Columns); 3];

fn replicas(count: u64, seed: u64) -> Result<Replicas> {
    let packed = |codec| replica::make(TABLE, count, seed, &replica::orders_z(codec));
    Ok([
        replica::make_plain(TABLE, count, seed)?,
        packed(Codec::ForDelta(8))?,
        packed(Codec::For(16))?,
    ])
}

/// Rows and columns with FOR-delta, columns with FOR, and rows and columns without codecs:
/// first of the document's program, then Freestone's; then Freestone's single iterators.
fn all_subjects<'a>(tables: &'a [Stored], replicas: &'a Replicas) -> Vec<Subject<'a>> {
    let of_freestone = |name, table: usize, scanner| Subject {
        name,
        table: &tables[table],
        scanner,
    };
    let [(plain_rows, plain_columns), (rows, delta), (_, frame)] = replicas;
    let (row, pipelined) = (Scanner::Rows, Scanner::Pipelined);
    let replica = |name, table: &'a dyn Source, scanner| Subject {
        name,
        table,
        scanner,
    };
    vec![
        replica("rows, as in the document", rows, row),
        replica("columns, FOR-delta, as in the document", delta, pipelined),
        replica("columns, FOR, as in the document", frame, pipelined),
        replica("rows without codecs, as in the document", plain_rows, row),
        replica(
            "columns without codecs, as in the document",
            plain_columns,
            pipelined,
        ),
        of_freestone("rows", 2, row),
        of_freestone("columns, FOR-delta", 3, pipelined),
        of_freestone("columns, FOR", 5, pipelined),
        of_freestone("rows without codecs", 0, row),
        of_freestone("columns without codecs", 1, pipelined),
        of_freestone("columns, FOR-delta, single iterator", 3, Scanner::Single),
        of_freestone("columns, FOR, single iterator", 5, Scanner::Single),
    ]
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
    let replicas = replicas(count, setting.seed)?;
    let subjects = all_subjects(&tables, &replicas);
    let at = |subjects: &[Subject<'_>], share| {
        sweep(subjects, TABLE.threshold(share), repetitions(setting))
    };
    let curves = at(&subjects, 0.1)?;
    let measured = |first: usize| -> Result<Measured> {
        Ok(Measured {
            rows: curves[first].clone(),
            delta: curves[first + 1].clone(),
            frame: curves[first + 2].clone(),
            few: at(&subjects[first + 1..first + 3], 0.001)?,
            plain: curves[first + 3..first + 5].to_vec(),
        })
    };
    let both = [measured(0)?, measured(5)?];
    let drawn: Vec<Curve> = curves
        .iter()
        .filter(|curve| !curve.name.contains("without codecs"))
        .cloned()
        .collect();
    let title = "ORDERS-Z, 10 % selectivity: elapsed and CPU time";
    let label = "bytes of selected attributes per tuple before compression";
    Ok(Outcome {
        setup: bench.describe(count, setting, true)
            + ". ORDERS-Z has the codecs of figure 5. Freestone's FOR-delta and FOR begin anew \
               every 1,024 values in columns; FOR has one base for all of a block of 131,072 rows \
               in rows. The document's begin anew on each page.",
        plots: vec![
            plot(title, label, &places(), &drawn, &bench.disks),
            compute_plot("ORDERS-Z, 10 % selectivity: CPU time", &drawn),
        ],
        tables: vec![widths_of(&both), balances(&drawn, &bench)],
        claims: claims(&both, &bench),
    })
}

/// Bytes of a tuple that the first 1, 2, … attributes take without codecs.
fn places() -> Vec<f64> {
    let sum = |sum: &mut f64, bytes: u32| {
        *sum += f64::from(bytes);
        Some(*sum)
    };
    TABLE.widths().into_iter().scan(0.0, sum).collect()
}

fn claims(both: &Both, bench: &Bench) -> Vec<Claim> {
    let claim = |says: &str, of: fn(&Measured, &Bench) -> (bool, String)| {
        let [document, freestone] = both.each_ref().map(|measured| of(measured, bench));
        Claim::replicated(says, document, freestone)
    };
    vec![
        claim(
            "Compressed columns are bound by the CPU (CPU time is at least 90 % of elapsed time \
             for some number of attributes), while rows still wait for disks",
            columns_compute,
        ),
        claim(
            "Compression moves the crossover to the left, since columns wait for the CPU (here: by more \
             than 2 % of the tuple's bytes before compression, as the figure's axis has them)",
            moves_left,
        ),
        claim(
            "Compressed rows need somewhat more CPU time for all attributes than for one, for \
             decompression (here: more than 5 %)",
            rows_decompress,
        ),
        claim(
            "The codecs give rows and columns the same ratio (tolerance: 10 %)",
            same_ratio,
        ),
        claim(
            "Decompression adds a little CPU time for all attributes of rows (here: at most half as \
             much again as without codecs)",
            little_to_decompress,
        ),
        claim(
            "FOR-delta makes CPU time jump at the second attribute, since all values before one \
             have to be read; FOR does not (here: FOR-delta adds more than FOR, and at least \
             twice what each further attribute adds)",
            jump,
        ),
        claim(
            "FOR needs more space for the order key than FOR-delta: 16 bits and 8 in the document",
            frame_is_larger,
        ),
        claim(
            "With a third of the bandwidth, FOR-delta's smaller file offsets its CPU time",
            one_disk,
        ),
    ]
}

/// Bytes per tuple of each table.
fn widths_of(both: &Both) -> Table {
    let bytes = |curve: &Curve| format!("{:.1}", curve.file_bytes.iter().sum::<f64>());
    let programs = ["as in the document", "Freestone"];
    let row = |(program, measured): (&str, &Measured)| {
        let columns = [&measured.plain[1], &measured.delta, &measured.frame].map(bytes);
        let rows = [&measured.plain[0], &measured.rows].map(bytes);
        std::iter::once(program.to_owned())
            .chain(rows)
            .chain(columns)
            .collect()
    };
    Table {
        title: "Bytes per tuple".to_owned(),
        columns: [
            "program",
            "ORDERS, rows",
            "ORDERS-Z, rows",
            "ORDERS, columns",
            "ORDERS-Z, FOR-delta, columns",
            "ORDERS-Z, FOR, columns",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: programs.into_iter().zip(both).map(row).collect(),
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

fn columns_compute(measured: &Measured, bench: &Bench) -> (bool, String) {
    let columns = waits_for_disks(&measured.delta, bench);
    let rows = waits_for_disks(&measured.rows, bench);
    let all = measured.delta.attributes();
    let curves = [&measured.rows, &measured.delta, &measured.frame].map(Curve::clone);
    (
        !columns && rows,
        format!(
            "{} Columns with FOR-delta take {} per tuple for all attributes, rows {}; the columns \
             would wait for the CPU below {:.1} cycles per disk byte, those of the document's \
             machine did at {PAPER_CPDB}.",
            shares(&curves, bench),
            nanoseconds(measured.delta.compute(all)),
            nanoseconds(measured.rows.compute(all)),
            balance(&measured.delta, bench),
        ),
    )
}

fn moves_left(measured: &Measured, bench: &Bench) -> (bool, String) {
    let usual = Conditions::default();
    let of = |rows, columns| crossover(rows, columns, &bench.disks, usual, &places());
    let plain = of(&measured.plain[0], &measured.plain[1]);
    let packed = of(&measured.rows, &measured.delta);
    let place = |share: Option<f64>| share.unwrap_or(1.0);
    let says = |share: Option<f64>| share.map_or_else(|| "nowhere".to_owned(), percent);
    (
        !waits_for_disks(&measured.delta, bench) && place(packed) < place(plain) - 0.02,
        format!(
            "Columns begin to take longer than rows at {} of the bytes of ORDERS, {} of those of \
             ORDERS-Z, where all of them take {:.1} bytes per tuple and rows {:.1}. The document's \
             columns wait for the CPU; these wait for disks: compression leaves the last attributes \
             a larger part of the bytes, and as many seeks.",
            says(plain),
            says(packed),
            measured.delta.reading(7, 0.0).bytes(),
            measured.rows.reading(7, 0.0).bytes(),
        ),
    )
}

fn rows_decompress(measured: &Measured, _bench: &Bench) -> (bool, String) {
    let rows = &measured.rows;
    let all = rows.attributes();
    (
        rows.compute(all) > 1.05 * rows.compute(1),
        format!(
            "They take {} per tuple for one attribute, and six more add {}. To rows without \
             codecs six more add {}, which is copying.",
            nanoseconds(rows.compute(1)),
            nanoseconds(added(rows)),
            nanoseconds(added(&measured.plain[0]))
        ),
    )
}

fn same_ratio(measured: &Measured, _bench: &Bench) -> (bool, String) {
    let bytes = |curve: &Curve| curve.reading(curve.attributes(), 0.0).bytes();
    let rows = bytes(&measured.plain[0]) / bytes(&measured.rows);
    let columns = bytes(&measured.plain[1]) / bytes(&measured.delta);
    (
        (columns / rows - 1.0).abs() <= 0.1,
        format!("Rows take {rows:.2} times as much without codecs, columns {columns:.2} times."),
    )
}

fn little_to_decompress(measured: &Measured, _bench: &Bench) -> (bool, String) {
    let [plain, packed] =
        [&measured.plain[0], &measured.rows].map(|curve| curve.compute(curve.attributes()));
    (
        (1.0..=1.5).contains(&(packed / plain)),
        format!(
            "Rows take {} per tuple without codecs and {} with them: the document's program copies \
             whole tuples where nothing is packed, and cuts value by value out of its bits where it is.",
            nanoseconds(plain),
            nanoseconds(packed)
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

fn jump(measured: &Measured, _bench: &Bench) -> (bool, String) {
    let (delta, frame) = (second(&measured.delta), second(&measured.frame));
    let others = (added(&measured.delta) - delta) / 5.0;
    let few = [0, 1].map(|number| second(&measured.few[number]));
    (
        delta > frame && delta > 2.0 * others,
        format!(
            "The order key adds {} per tuple with FOR-delta, {} with FOR, each further attribute \
             {}; at 0.1 % selectivity the order key adds {} and {}.",
            nanoseconds(delta),
            nanoseconds(frame),
            nanoseconds(others),
            nanoseconds(few[0]),
            nanoseconds(few[1]),
        ),
    )
}

fn frame_is_larger(measured: &Measured, _bench: &Bench) -> (bool, String) {
    let bits = |curve: &Curve| 8.0 * curve.file_bytes[1];
    let (delta, frame) = (bits(&measured.delta), bits(&measured.frame));
    (
        frame > 1.5 * delta,
        format!("FOR takes {frame:.1} bits per key, FOR-delta {delta:.1}."),
    )
}

fn one_disk(measured: &Measured, bench: &Bench) -> (bool, String) {
    let slow = disks(bench.clock, 3.0 * PAPER_CPDB);
    let at = |curve: &Curve| curve.elapsed(&slow, 2, Conditions::default());
    let (delta, frame) = (at(&measured.delta), at(&measured.frame));
    (
        delta <= frame,
        format!(
            "At 54 cycles per disk byte two attributes take {delta:.1} s with FOR-delta, \
             {frame:.1} s with FOR."
        ),
    )
}
