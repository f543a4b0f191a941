//! Layouts block by block: of one table, blocks whose rows are asked for one by one may
//! lie as rows, and those that are only scanned as columns.

use super::design::{Design, Stored};
use super::price::{price, total};
use super::search::with_space;
use super::workload::Workload;
use crate::calibration::Calibration;

/// A block keeps its layout unless another saves this share of what it costs: it has to
/// be written for that.
const KEPT: f64 = 0.2;

/// A block in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockUse {
    /// Its rows.
    pub rows: f64,
    /// How often rows of it were asked for one by one, on the same scale for all blocks.
    pub heat: f64,
    /// Which of the designs it has, if it has one of them.
    pub design: Option<usize>,
}

/// The layout whose blocks choose theirs.
pub const AUTO: &str = "auto";

/// The table with each block in the layout that costs it least; none if all should
/// have the same. See [`block_designs`].
pub fn mixture(
    calibration: &Calibration,
    workload: &Workload,
    designs: &[Stored],
    blocks: &[BlockUse],
) -> Option<Stored> {
    let fresh = blocks.iter().map(|block| BlockUse {
        design: None,
        ..*block
    });
    let fresh: Vec<BlockUse> = fresh.collect();
    let (chosen, _) = block_designs(calibration, workload, designs, &fresh)?;
    let shares = |of: fn(&BlockUse) -> f64| {
        let all = blocks.iter().map(of).sum::<f64>().max(f64::MIN_POSITIVE);
        let share = |number: usize| {
            let having = chosen.iter().zip(blocks);
            let having = having.filter(|(design, _)| **design == number);
            having.map(|(_, block)| of(block)).sum::<f64>() / all
        };
        (0..designs.len()).map(share).collect::<Vec<f64>>()
    };
    let (rows, heat) = (shares(|block| block.rows), shares(|block| block.heat));
    let used = rows.iter().zip(designs).filter(|(share, _)| **share > 0.0);
    let mixture: Vec<(f64, Stored)> = used.map(|(share, one)| (*share, one.clone())).collect();
    let largest = mixture.iter().max_by(|one, two| one.0.total_cmp(&two.0))?;
    let mean = |shares: &[f64], of: fn(&Stored) -> f64| {
        let parts = shares.iter().zip(designs);
        parts.map(|(share, one)| share * of(one)).sum::<f64>()
    };
    (mixture.len() > 1).then(|| Stored {
        design: Design {
            layout: AUTO.to_owned(),
            ..largest.1.design.clone()
        },
        row_bytes: mean(&rows, |one| one.row_bytes),
        fetch_seconds: mean(&heat, |one| one.fetch_seconds),
        write_seconds: mean(&heat, |one| one.write_seconds),
        mixture: mixture.clone(),
        ..largest.1.clone()
    })
}

/// For each of `blocks` the number of the design that it should have, and last the one
/// that new rows should get; `None` without designs.
///
/// `designs` are the table under one layout each. Scans cost every block by its rows;
/// what is done to single rows costs a block by its heat.
pub fn block_designs(
    calibration: &Calibration,
    workload: &Workload,
    designs: &[Stored],
    blocks: &[BlockUse],
) -> Option<(Vec<usize>, usize)> {
    let totals = designs.iter().map(|one| total(calibration, one, workload));
    let totals: Vec<_> = totals.collect();
    // Without plans, which cost the same whatever the layout.
    let scans = designs.iter().map(|one| {
        let priced = workload.usages.iter().map(|(usage, runs)| {
            let price = price(calibration, one, usage, &runs.mean());
            // Nothing is asked of a layout that was never measured.
            price.map_or(f64::INFINITY, |price| price.seconds * runs.count)
        });
        priced.sum::<f64>()
    });
    let scans: Vec<f64> = scans.collect();
    let row_bytes = designs.iter().map(|one| one.row_bytes);
    let smallest = row_bytes.fold(f64::INFINITY, f64::min);
    let cost = |number: usize, rows: f64, heat: f64| {
        let total = &totals[number];
        let seconds = rows * scans[number] + heat * (total.looking_up + total.writing);
        with_space(seconds, designs[number].row_bytes, smallest)
    };
    let best = |rows: f64, heat: f64| {
        let numbers = 0..designs.len();
        numbers.min_by(|one, two| cost(*one, rows, heat).total_cmp(&cost(*two, rows, heat)))
    };
    let all_rows = blocks.iter().map(|block| block.rows).sum::<f64>().max(1.0);
    let all_heat = blocks.iter().map(|block| block.heat).sum::<f64>();
    let chosen = blocks.iter().map(|block| {
        let rows = block.rows / all_rows;
        let heat = if all_heat > 0.0 {
            block.heat / all_heat
        } else {
            rows
        };
        let found = best(rows, heat)?;
        let kept = block
            .design
            .filter(|present| cost(found, rows, heat) >= (1.0 - KEPT) * cost(*present, rows, heat));
        Some(kept.unwrap_or(found))
    });
    Some((chosen.collect::<Option<_>>()?, best(1.0, 1.0)?))
}
