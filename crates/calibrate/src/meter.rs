//! Cycles of scans, and those of them that begin something.

use crate::Result;
use crate::columns::{Recipe, Values};
use crate::tables::{Plan, Sample};
use crate::timer::least;
use freestone_storage::{CodecChoice, ColumnScanner, ColumnType, Layout, Value};

/// Rows of the tables that are measured.
pub(crate) const ROWS: usize = 1 << 18;
/// Rows of a table whose scan is hardly more than begun.
const FEWEST: usize = 16;
/// The share for tests alone.
pub(crate) const FEW: f64 = 0.00001;
/// Columns that are read in each of many blocks.
const PARTS: usize = 8;

/// Measures cycles of scans of one layout.
pub(crate) struct Meter {
    pub clock: f64,
    pub scanner: ColumnScanner,
    pub runs: usize,
    /// What is known to begin a scan and its blocks, and is no cost of rows.
    pub begun: Begun,
}

impl Meter {
    /// Cycles of a select.
    pub fn whole(&self, sample: &Sample, share: f64, projection: &[usize]) -> Result<f64> {
        let mut outcome = Ok(0);
        let seconds = least(self.runs, || {
            outcome = sample.select(self.scanner, share, projection)
        });
        outcome?;
        Ok(seconds * self.clock)
    }

    /// The same for each row of the table, without what is begun.
    pub fn cycles(&self, sample: &Sample, share: f64, projection: &[usize]) -> Result<f64> {
        let begun = self
            .begun
            .of(sample.blocks(), share < 1.0, projection.len());
        Ok((self.whole(sample, share, projection)? - begun) / sample.rows as f64)
    }

    /// The same for rows whose value in a column is below a constant, and their share.
    pub fn condition(&self, sample: &Sample, column: usize, value: &Value) -> Result<(f64, f64)> {
        let mut outcome = Ok(0);
        let seconds = least(self.runs, || {
            outcome = sample.select_below(self.scanner, Some((column, value.clone())), &[]);
        });
        let rows = sample.rows as f64;
        let cycles = seconds * self.clock - self.begun.of(sample.blocks(), true, 0);
        Ok((cycles / rows, outcome? as f64 / rows))
    }
}

/// Cycles to begin something.
#[derive(Clone, Copy, Default)]
pub(crate) struct Begun {
    pub scan: f64,
    pub block: f64,
    /// A condition in a block.
    pub test: f64,
    /// A column of a block.
    pub part: f64,
}

impl Begun {
    /// Of a scan of so many blocks and columns.
    fn of(&self, blocks: usize, tested: bool, columns: usize) -> f64 {
        let test = if tested { self.test } else { 0.0 };
        let block = self.block + test + self.part * columns as f64;
        self.scan + block * blocks as f64
    }

    /// Measures a table of many small blocks beside one of a single block, and one of
    /// hardly any rows.
    pub fn measured(meter: &Meter, layout: Layout) -> Result<Begun> {
        let some = vec![filler(); PARTS];
        let one = Sample::make(&plan(layout, &some), None)?;
        let many = Plan {
            block_rows: 1 << 10,
            ..plan(layout, &some)
        };
        let many = Sample::make(&many, None)?;
        // All rows without a look at them, or one row of each block.
        let apart = |share: f64, columns: &[usize]| -> Result<f64> {
            let more = meter.whole(&many, share, columns)? - meter.whole(&one, share, columns)?;
            Ok((more / (many.blocks() - 1) as f64).max(0.0))
        };
        let all: Vec<usize> = (0..PARTS).collect();
        let block = apart(1.0, &[])?;
        let tested = apart(FEW, &[])?;
        let few = Plan {
            rows: FEWEST,
            block_rows: FEWEST,
            ..plan(layout, &[])
        };
        let whole = meter.whole(&Sample::make(&few, None)?, 1.0, &[])?;
        Ok(Begun {
            scan: (whole - block).max(0.0),
            block,
            test: (tested - block).max(0.0),
            part: (apart(FEW, &all)? - tested).max(0.0) / PARTS as f64,
        })
    }
}

/// A table of one block, each zone of which has a row that is selected.
pub(crate) fn plan(layout: Layout, recipes: &[Recipe]) -> Plan<'_> {
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
pub(crate) fn filler() -> Recipe {
    Recipe {
        kind: ColumnType::BigInt,
        codec: CodecChoice::None,
        values: Values::Below(1 << 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 3 blocks with a condition and two columns each.
    #[test]
    fn what_is_begun_adds_up() {
        let begun = Begun {
            scan: 1000.0,
            block: 100.0,
            test: 10.0,
            part: 1.0,
        };
        assert_eq!(begun.of(3, true, 2), 1336.0);
        assert_eq!(begun.of(3, false, 2), 1306.0);
    }
}
