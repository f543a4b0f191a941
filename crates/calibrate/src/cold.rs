//! What blocks cost that are not in memory.

use crate::Result;
use crate::columns::{Recipe, Values};
use crate::disk::forget;
use crate::tables::{Plan, Sample};
use freestone_model::ColdCosts;
use freestone_storage::{CodecChoice, ColumnScanner, ColumnType, Layout};
use std::fs::File;
use std::path::Path;
use std::time::Instant;

/// Runs of which the fastest counts.
const RUNS: usize = 3;
/// Blocks of a table that has many.
const BLOCKS: usize = 32;
/// Columns of a table that has many, and how far apart those are that are read.
const COLUMNS: usize = 32;
const APART: usize = 4;
/// Rows of small blocks.
const SMALL: usize = 1 << 10;
/// Rows of a large block, of few columns and of many.
const LARGE: usize = 1 << 19;
const WIDE: usize = 1 << 16;

/// What reading a table took longer than from memory.
struct Added {
    seconds: f64,
    /// Parts that were read, and their bytes.
    parts: f64,
    bytes: f64,
}

/// Measures a layout by tables of many blocks, of many columns and of many bytes.
pub(crate) fn costs(layout: Layout, directory: &Path) -> Result<ColdCosts> {
    let filler = Recipe {
        kind: ColumnType::BigInt,
        codec: CodecChoice::None,
        values: Values::Below(1 << 60),
    };
    let (few, many) = ([filler; APART], [filler; COLUMNS]);
    let plan = |recipes, rows, block_rows| Plan {
        layout,
        selector: CodecChoice::Auto,
        recipes,
        rows,
        block_rows,
        seed: 11,
    };
    let blocks = added(&plan(&few[..1], BLOCKS * SMALL, SMALL), 1, directory)?;
    let wide = added(&plan(&many, WIDE, WIDE), APART, directory)?;
    let large = added(&plan(&few, LARGE, LARGE), 1, directory)?;
    // Two equations for a part and a byte; blocks are the rest of the third.
    let over = wide.parts * large.bytes - large.parts * wide.bytes;
    let byte = match layout.keeps_tuples() {
        true => large.seconds / large.bytes,
        false => (wide.parts * large.seconds - large.parts * wide.seconds) / over,
    };
    let byte = byte.max(0.0);
    let part = match layout.keeps_tuples() {
        true => 0.0,
        false => ((wide.seconds - byte * wide.bytes) / wide.parts).max(0.0),
    };
    let block = (blocks.seconds - byte * blocks.bytes) / BLOCKS as f64 - part;
    Ok(ColdCosts {
        block: block.max(0.0),
        part,
        byte,
    })
}

/// Reads each of so many columns of a table, cold and hot.
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
    for _ in 0..RUNS {
        sample = sample.reopened(place.path())?;
        forget_all(place.path())?;
        cold = cold.min(time(&sample)?);
        hot = hot.min(time(&sample)?);
    }
    let stored = read.iter().map(|column| sample.columns[*column].stored);
    let row = match plan.layout.keeps_tuples() {
        true => sample.tuple_bytes,
        false => stored.sum(),
    };
    Ok(Added {
        seconds: (cold - hot).max(0.0),
        parts: read.len() as f64,
        bytes: row * plan.rows as f64,
    })
}

/// Has the system forget all files of a directory.
pub(crate) fn forget_all(directory: &Path) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        match path.is_dir() {
            true => forget_all(&path)?,
            false => forget(&File::open(&path)?)?,
        }
    }
    Ok(())
}
