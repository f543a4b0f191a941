//! What scans of each layout cost: the constants of the model.

use crate::columns::{Recipe, recipes};
use crate::meter::{Begun, FEW, Meter, filler, plan};
use crate::refine::refined;
use crate::tables::{Sample, name, selected};
use crate::{Result, cold, descent, hardware};
use freestone_model::{
    Calibration, ColdCosts, ColumnCosts, Correction, Costs, Curve, FEW_COLUMNS, LayoutCosts,
    MANY_COLUMNS, Machine, Selection,
};
use freestone_storage::{ColumnScanner, Layout};
use std::collections::BTreeMap;
use std::path::Path;

/// The part of the time that costs are measured, before their sums are corrected.
const MEASURING: f64 = 0.6;
/// Series of runs of which the fastest counts; of what all else is the difference to, more.
const RUNS: usize = 5;
const BASE_RUNS: usize = 15;
/// Shares of the rows that are selected.
const SHARES: [f64; 8] = [0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0];
/// Those at which many columns are read together.
const CROWDED: [f64; 5] = [0.001, 0.01, 0.1, 0.5, 1.0];
/// Columns of eight bytes that make tuples wider.
const FILLERS: [usize; 5] = [0, 2, 6, 14, 30];
/// As many of them take a cache line.
const LINE_COLUMNS: usize = 8;

/// Measures every layout, in memory and on files in `directory`; `progress` hears how much
/// of the work is done, from 0 to 1.
///
/// # Errors
/// Those of making and reading tables.
pub fn calibration(
    machine: Machine,
    directory: &Path,
    progress: &dyn Fn(f64),
) -> Result<Calibration> {
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
        let mut costs = layout_costs(&machine, (layout, scanner), &step)?;
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
    let costs = Costs {
        layouts,
        cached: hardware::cached(),
        descent: Some(descent::misses(&machine)?),
    };
    let refining = progress_of(MEASURING, 1.0);
    let (costs, stated) = refined(&machine, costs, directory, &refining)?;
    Ok(Calibration {
        machine,
        costs,
        stated: Some(stated),
        operators: BTreeMap::new(),
    })
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
        begun: Begun::default(),
    };
    let begun = Begun::measured(&meter, layout)?;
    let meter = Meter { begun, ..meter };
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
        test: begun.test,
        part: begun.part,
        hot_correction: Correction::default(),
        cold_correction: Correction::default(),
        rows,
        lines,
        crowd: Curve::default(),
        cold: ColdCosts::default(),
        columns,
    };
    costs.crowd = crowd(&meter, layout, &costs)?;
    Ok(costs)
}

/// Measures many columns of all kinds, read together, beside what few of each cost.
fn crowd(meter: &Meter, layout: Layout, few: &LayoutCosts) -> Result<Curve> {
    let kinds = recipes();
    let all = kinds.iter().cycle().take(MANY_COLUMNS).copied();
    let all: Vec<Recipe> = all.collect();
    let sample = Sample::make(&plan(layout, &all), None)?;
    let projection: Vec<usize> = (0..all.len()).collect();
    // The same without what values cost.
    let mut bare = few.clone();
    for column in &mut bare.columns {
        column.read = Curve::default();
    }
    let [few, bare] = [few.clone(), bare].map(|costs| Costs {
        layouts: vec![costs],
        ..Costs::default()
    });
    let name = name(layout, meter.scanner);
    let cost = |share: f64| {
        let found = selected(share);
        let whole = Selection {
            layout: name.clone(),
            blocks: sample.blocks() as f64,
            rows: sample.rows as f64,
            tuple_bytes: sample.tuple_bytes,
            stride: Selection::stride(&name, sample.columns.iter()),
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
        let cycles = |costs: &Costs, selection: &Selection| {
            let scanner = costs.scanner(selection);
            scanner.map_or(0.0, |scanner| scanner.user_cycles * selection.rows)
        };
        // Columns are begun and lines touched besides; all else the table tells itself.
        let beside = cycles(&bare, &whole) - cycles(&bare, &without);
        let read = cycles(&few, &whole) - cycles(&bare, &whole);
        let taken = meter.whole(&sample, share, &projection)? - meter.whole(&sample, share, &[])?;
        let times = (taken - beside) / read.max(1.0);
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
    let more = match recipe.values.threshold(&recipe.kind) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::ROWS;

    /// What a test costs is measured on all rows: each zone has some that pass.
    #[test]
    fn no_zone_is_ruled_out_while_tests_are_measured() {
        for recipe in recipes() {
            let Some(value) = recipe.values.threshold(&recipe.kind) else {
                continue;
            };
            let recipes = [recipe];
            let sample = Sample::make(&plan(Layout::Column, &recipes), None).unwrap();
            let left = sample.left_below(Some((0, value))).unwrap();
            assert_eq!(left, ROWS as f64, "{recipe:?}");
        }
    }
}
