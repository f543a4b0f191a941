//! What scans of each layout cost: the constants of the model.

use crate::Result;
use crate::cold;
use crate::columns::{Recipe, Values, recipes};
use crate::refine::refined;
use crate::tables::{Plan, Sample, selected};
use crate::timer::least;
use freestone_model::{
    ColdCosts, ColumnCosts, Correction, Costs, Curve, FEW_COLUMNS, LayoutCosts, MANY_COLUMNS,
    Machine, Selection,
};
use freestone_storage::{CodecChoice, ColumnScanner, ColumnType, Layout, Value};
use std::path::Path;

/// The part of the time that costs are measured, before their sums are corrected.
const MEASURING: f64 = 0.6;
/// Rows of the tables that are measured.
const ROWS: usize = 1 << 18;
/// Rows of a table whose scan is little else than begun.
const FEWEST: usize = 16;
/// Series of runs of which the fastest counts; of what all else is the difference to, more.
const RUNS: usize = 5;
const BASE_RUNS: usize = 15;
/// Shares of the rows that are selected.
const SHARES: [f64; 8] = [0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0];
/// Those at which many columns are read together.
const CROWDED: [f64; 5] = [0.001, 0.01, 0.1, 0.5, 1.0];
/// The share for tests alone.
const FEW: f64 = 0.00001;
/// Columns of eight bytes that make tuples wider.
const FILLERS: [usize; 5] = [0, 2, 6, 14, 30];
/// As many of them are read in each of many blocks.
const PARTS: usize = 8;
/// As many of them take a cache line.
const LINE_COLUMNS: usize = 8;

/// Measures every layout, in memory and on files in `directory`; `progress` hears how much of the work is done, from 0 to 1.
///
/// # Errors
/// Those of making and reading tables.
pub fn costs(machine: &Machine, directory: &Path, progress: &dyn Fn(f64)) -> Result<Costs> {
    let mut ways: Vec<_> = Layout::ALL
        .map(|layout| (layout, ColumnScanner::Single))
        .into();
    ways.push((Layout::Column, ColumnScanner::Pipelined));
    let progress_of = |from: f64, to: f64| move |part: f64| progress(from + (to - from) * part);
    let measuring = progress_of(0.0, MEASURING);
    let count = ways.len() as f64;
    let mut layouts: Vec<LayoutCosts> = Vec::new();
    for (number, (layout, scanner)) in ways.into_iter().enumerate() {
        let step = |part: f64| measuring((number as f64 + part) / count);
        let mut costs = layout_costs(machine, (layout, scanner), &step)?;
        // The scanner makes no difference to the disk.
        match layouts
            .iter()
            .find(|known| known.layout == layout.to_string())
        {
            Some(known) => costs.read_as(known),
            None => cold_costs(&mut costs, layout, directory)?,
        }
        layouts.push(costs);
    }
    let refining = progress_of(MEASURING, 1.0);
    refined(machine, Costs { layouts }, directory, &refining)
}

/// The name by which the model knows a layout and a scanner.
pub(crate) fn name(layout: Layout, scanner: ColumnScanner) -> String {
    match scanner {
        ColumnScanner::Single => layout.to_string(),
        ColumnScanner::Pipelined => format!("{layout} pipelined"),
    }
}

/// Measures cycles a row of one layout.
struct Meter {
    clock: f64,
    scanner: ColumnScanner,
    runs: usize,
}

impl Meter {
    /// Cycles of a select, for each row of the table.
    fn cycles(&self, sample: &Sample, share: f64, projection: &[usize]) -> Result<f64> {
        let mut outcome = Ok(0);
        let seconds = least(self.runs, || {
            outcome = sample.select(self.scanner, share, projection)
        });
        outcome?;
        Ok(seconds * self.clock / sample.rows as f64)
    }

    /// The same for rows whose value in a column is below a constant, and their share.
    fn condition(&self, sample: &Sample, column: usize, value: &Value) -> Result<(f64, f64)> {
        let mut outcome = Ok(0);
        let seconds = least(self.runs, || {
            outcome = sample.select_below(self.scanner, Some((column, value.clone())), &[]);
        });
        let rows = sample.rows as f64;
        Ok((seconds * self.clock / rows, outcome? as f64 / rows))
    }
}

fn plan(layout: Layout, recipes: &[Recipe]) -> Plan<'_> {
    Plan {
        layout,
        selector: CodecChoice::Auto,
        recipes,
        rows: ROWS,
        block_rows: ROWS,
        every_zone: true,
        seed: 7,
    }
}

/// A column of eight bytes.
fn filler() -> Recipe {
    Recipe {
        kind: ColumnType::BigInt,
        codec: CodecChoice::None,
        values: Values::Below(1 << 60),
    }
}

fn layout_costs(
    machine: &Machine,
    (layout, scanner): (Layout, ColumnScanner),
    step: &dyn Fn(f64),
) -> Result<LayoutCosts> {
    let meter = Meter {
        clock: machine.clock,
        scanner,
        runs: BASE_RUNS,
    };
    let mut widths = Vec::new();
    let mut rows = Curve::default();
    for count in FILLERS {
        let recipes = vec![filler(); count];
        let sample = Sample::make(&plan(layout, &recipes), None)?;
        widths.push((sample.tuple_bytes, meter.cycles(&sample, FEW, &[])?));
        if count == 0 {
            let test = widths[0].1;
            let cost = |share: f64| {
                // Nothing is tested where all rows are wanted.
                let tested = if share < 1.0 { test } else { 0.0 };
                let cycles = meter.cycles(&sample, share, &[])? - tested;
                Ok((selected(share), cycles.max(0.0)))
            };
            rows = Curve::through(SHARES.into_iter().map(cost).collect::<Result<Vec<_>>>()?);
        }
    }
    let begun = Begun::measured(&meter, layout)?;
    let meter = Meter {
        runs: RUNS,
        ..meter
    };
    let kinds = recipes();
    let mut columns = Vec::new();
    for (number, recipe) in kinds.iter().enumerate() {
        columns.push(column_costs(&meter, layout, recipe, &rows, &widths)?);
        step((number + 1) as f64 / kinds.len() as f64);
    }
    let lines = match layout {
        Layout::Row => lines(&meter, &rows, &columns)?,
        _ => Curve::default(),
    };
    let mut costs = LayoutCosts {
        layout: name(layout, scanner),
        scan: begun.scan,
        block: begun.block,
        part: begun.part,
        hot_correction: Correction::default(),
        cold_correction: Correction::default(),
        rows,
        lines,
        crowd: Curve::default(),
        cold: ColdCosts::default(),
        columns,
    };
    costs.crowd = crowd(&meter, machine, layout, &costs)?;
    Ok(costs)
}

/// Cycles to begin something.
struct Begun {
    scan: f64,
    block: f64,
    /// A column of a block.
    part: f64,
}

impl Begun {
    /// Measures a table of many small blocks beside one of a single block, and one of
    /// hardly any rows.
    fn measured(meter: &Meter, layout: Layout) -> Result<Begun> {
        let some = vec![filler(); PARTS];
        let one = Sample::make(&plan(layout, &some), None)?;
        let many = Plan {
            block_rows: 1 << 10,
            ..plan(layout, &some)
        };
        let many = Sample::make(&many, None)?;
        // One row of each block is found.
        let apart = |columns: &[usize]| -> Result<f64> {
            let more = meter.cycles(&many, FEW, columns)? - meter.cycles(&one, FEW, columns)?;
            Ok((more * ROWS as f64 / (many.blocks() - 1) as f64).max(0.0))
        };
        let all: Vec<usize> = (0..PARTS).collect();
        let block = apart(&[])?;
        let few = Plan {
            rows: FEWEST,
            block_rows: FEWEST,
            ..plan(layout, &[])
        };
        let whole = meter.cycles(&Sample::make(&few, None)?, 1.0, &[])? * FEWEST as f64;
        Ok(Begun {
            scan: (whole - block).max(0.0),
            block,
            part: (apart(&all)? - block).max(0.0) / PARTS as f64,
        })
    }
}

/// Measures many columns of all kinds, read together, beside what few of each cost.
fn crowd(meter: &Meter, machine: &Machine, layout: Layout, few: &LayoutCosts) -> Result<Curve> {
    let kinds = recipes();
    let all = kinds.iter().cycle().take(MANY_COLUMNS).copied();
    let all: Vec<Recipe> = all.collect();
    let sample = Sample::make(&plan(layout, &all), None)?;
    let projection: Vec<usize> = (0..all.len()).collect();
    let costs = Costs {
        layouts: vec![few.clone()],
    };
    let cost = |share: f64| {
        let found = selected(share);
        let whole = Selection {
            layout: few.layout.clone(),
            blocks: sample.blocks() as f64,
            rows: sample.rows as f64,
            tuple_bytes: sample.tuple_bytes,
            stride: Selection::stride(&few.layout, sample.columns.iter()),
            tested: match share < 1.0 {
                true => vec![(sample.columns[sample.selector()].clone(), 1.0)],
                false => Vec::new(),
            },
            share: found,
            read: sample.columns[..all.len()].to_vec(),
        };
        let without = Selection {
            read: Vec::new(),
            ..whole.clone()
        };
        let predicted = |selection| costs.seconds(machine, selection).unwrap_or_default();
        let (whole, without) = (predicted(&whole), predicted(&without));
        let taken = meter.cycles(&sample, share, &projection)? * sample.rows as f64 / meter.clock;
        let times = (taken - without) / (whole - without).max(1e-9);
        Ok((found, times.clamp(0.5, 4.0)))
    };
    let points = CROWDED.into_iter().map(cost);
    Ok(Curve::through(points.collect::<Result<Vec<_>>>()?))
}

/// Measures columns that are a cache line apart in wide tuples, beside what they cost in
/// narrow ones.
fn lines(meter: &Meter, rows: &Curve, columns: &[ColumnCosts]) -> Result<Curve> {
    let recipes = vec![filler(); FILLERS[FILLERS.len() - 1]];
    let sample = Sample::make(&plan(Layout::Row, &recipes), None)?;
    let used = &sample.columns[0];
    let narrow = columns.iter().find(|column| column.kind == used.kind);
    let read = narrow.map(|column| column.read.clone()).unwrap_or_default();
    let apart: Vec<usize> = (0..recipes.len()).step_by(LINE_COLUMNS).collect();
    let count = apart.len() as f64;
    let test = meter.cycles(&sample, FEW, &[])?;
    let cost = |share: f64| {
        let found = selected(share);
        let tested = if share < 1.0 { test } else { 0.0 };
        let cycles = meter.cycles(&sample, share, &apart)?;
        let more = cycles - tested - rows.at(found) - count * read.at(found);
        Ok((found, (more / (count - 1.0)).max(0.0)))
    };
    let points = SHARES.into_iter().map(cost);
    Ok(Curve::through(points.collect::<Result<Vec<_>>>()?))
}

/// Measures what blocks cost that are not in memory.
fn cold_costs(costs: &mut LayoutCosts, layout: Layout, directory: &Path) -> Result<()> {
    costs.cold = cold::costs(layout, directory)?;
    for (column, recipe) in costs.columns.iter_mut().zip(recipes()) {
        column.cold = cold::column(layout, &recipe, &costs.cold, directory)?;
    }
    Ok(())
}

/// Measures several columns of a kind, read together, beside none of them.
fn column_costs(
    meter: &Meter,
    layout: Layout,
    recipe: &Recipe,
    rows: &Curve,
    widths: &[(f64, f64)],
) -> Result<ColumnCosts> {
    let recipes = [*recipe; FEW_COLUMNS];
    let sample = Sample::make(&plan(layout, &recipes), None)?;
    let all: Vec<usize> = (0..FEW_COLUMNS).collect();
    let own_test = meter.cycles(&sample, FEW, &[])?;
    // Tuples of other widths cost as much more or less as they do for the column that
    // selects.
    let more = match recipe.values.threshold() {
        Some(value) => {
            let (cycles, share) = meter.condition(&sample, 0, &value)?;
            cycles - rows.at(share) - own_test
        }
        None => 0.0,
    };
    let wider = widths
        .iter()
        .map(|(bytes, cycles)| (*bytes, (cycles + more).max(0.0)));
    let test = Curve::through(wider);
    let mut points = Vec::new();
    for share in SHARES {
        let tested = if share < 1.0 { own_test } else { 0.0 };
        let found = selected(share);
        let read = meter.cycles(&sample, share, &all)? - tested - rows.at(found);
        points.push((found, read.max(0.0) / FEW_COLUMNS as f64));
    }
    let used = &sample.columns[0];
    Ok(ColumnCosts {
        kind: used.kind.clone(),
        bytes: used.bytes,
        test,
        read: Curve::through(points),
        cold: 0.0,
    })
}
