//! What blocks cost that are not in memory.

use crate::Result;
use crate::columns::{Recipe, Values};
use crate::disk::forget_all;
use crate::tables::{Plan, Sample};
use crate::timer::TURNS;
use freestone_model::ColdCosts;
use freestone_storage::{CodecChoice, ColumnScanner, ColumnType, Layout};
use std::path::Path;
use std::time::Instant;

/// Small blocks of a table that has many, and their rows.
const BLOCKS: usize = 32;
const SMALL: usize = 1 << 10;
/// Columns of a table that has many, and how far apart those are that are read.
const COLUMNS: usize = 32;
const APART: usize = 4;
/// Rows of a large block.
const LARGE: usize = 1 << 18;
/// Columns of a kind that are read together.
const ALIKE: usize = 2;

/// What reading a table took longer than from memory.
struct Added {
    seconds: f64,
    /// Parts that were read, and the bytes of all tuples.
    parts: f64,
    bytes: f64,
}

fn plan(layout: Layout, recipes: &[Recipe], rows: usize, block_rows: usize) -> Plan<'_> {
    Plan {
        layout,
        selector: CodecChoice::Auto,
        recipes,
        rows,
        block_rows,
        every_zone: true,
        seed: 11,
    }
}

/// Measures a layout: blocks and their parts by small blocks, of which one column is read
/// and then several; bytes of tuples by a large one.
pub(crate) fn costs(layout: Layout, directory: &Path) -> Result<ColdCosts> {
    let filler = Recipe {
        kind: ColumnType::BigInt,
        codec: CodecChoice::None,
        values: Values::Below(1 << 60),
    };
    let wide = [filler; COLUMNS];
    let small = plan(layout, &wide, BLOCKS * SMALL, SMALL);
    let one = added(&small, COLUMNS, directory)?;
    if layout.keeps_tuples() {
        let large = added(&plan(layout, &wide[..APART], LARGE, LARGE), 1, directory)?;
        let byte = large.seconds / large.bytes;
        return Ok(ColdCosts {
            block: ((one.seconds - byte * one.bytes) / BLOCKS as f64).max(0.0),
            part: 0.0,
            byte,
        });
    }
    let some = added(&small, APART, directory)?;
    let part = (some.seconds - one.seconds) / (some.parts - one.parts) / BLOCKS as f64;
    let part = part.max(0.0);
    Ok(ColdCosts {
        block: (one.seconds / BLOCKS as f64 - part).max(0.0),
        part,
        byte: 0.0,
    })
}

/// Seconds of each row to fetch and check a column of a kind that is stored apart, beyond
/// what its block and part cost.
pub(crate) fn column(
    layout: Layout,
    recipe: &Recipe,
    cold: &ColdCosts,
    directory: &Path,
) -> Result<f64> {
    if layout.keeps_tuples() {
        return Ok(0.0);
    }
    let recipes = [*recipe; ALIKE];
    let added = added(&plan(layout, &recipes, LARGE, LARGE), 1, directory)?;
    let seconds = added.seconds - cold.block - added.parts * cold.part;
    Ok((seconds / (LARGE * ALIKE) as f64).max(0.0))
}

/// Reads one of so many columns of a table each, cold and hot.
fn added(plan: &Plan<'_>, apart: usize, directory: &Path) -> Result<Added> {
    let place = tempfile::tempdir_in(directory)?;
    let mut sample = Sample::make(plan, Some(place.path()))?;
    let read: Vec<usize> = (0..plan.recipes.len()).step_by(apart).collect();
    let time = |sample: &Sample| {
        let start = Instant::now();
        sample.select(ColumnScanner::Single, 1.0, &read)?;
        Ok::<f64, crate::Error>(start.elapsed().as_secs_f64())
    };
    let (mut cold, mut hot) = (f64::MAX, f64::MAX);
    // As often as queries are measured that this is to predict: the least of more is less.
    for _ in 0..TURNS {
        sample = sample.reopened(place.path())?;
        forget_all(place.path())?;
        cold = cold.min(time(&sample)?);
        hot = hot.min(time(&sample)?);
    }
    Ok(Added {
        seconds: (cold - hot).max(0.0),
        parts: read.len() as f64,
        bytes: sample.tuple_bytes * plan.rows as f64,
    })
}
