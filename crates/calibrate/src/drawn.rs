//! Selections of all sorts, drawn and run on every layout.

use crate::columns::{Recipe, Values, recipes};
use crate::disk::forget_all;
use crate::tables::{Plan, Sample, name};
use crate::timer::{TURNS, least};
use crate::{Random, Result};
use freestone_model::{Costs, Machine, Selection};
use freestone_storage::{CodecChoice, CodecName, ColumnScanner, Layout};
use std::path::Path;
use std::time::Instant;
use tempfile::TempDir;

/// A selection, and what it took.
pub(crate) struct Measured {
    /// What was selected.
    pub what: String,
    /// The selection, of rows in zones that are not ruled out.
    pub selection: Selection,
    /// Rows of the table.
    pub rows: f64,
    /// Whether blocks came from disk.
    pub cold: bool,
    /// Seconds, the least of some runs.
    pub seconds: f64,
    /// Of these, seconds that the same scan took from memory, of a scan from disk.
    pub hot_seconds: f64,
}

impl Measured {
    /// How far off the model is, as a share of what was measured.
    pub fn error(&self, machine: &Machine, costs: &Costs) -> f64 {
        let (hot, more) = self.predicted(machine, costs);
        ((hot + more) / self.seconds - 1.0).abs()
    }

    /// Seconds of the scan by the model, and those that reading from disk adds; nothing
    /// for a layout that it does not know.
    pub fn predicted(&self, machine: &Machine, costs: &Costs) -> (f64, f64) {
        let hot = costs.seconds(machine, &self.selection).unwrap_or_default();
        if !self.cold {
            return (hot, 0.0);
        }
        // What comes from disk comes whole.
        let whole = Selection {
            rows: self.rows,
            ..self.selection.clone()
        };
        (hot, costs.cold_seconds(machine, &whole).unwrap_or_default())
    }
}

/// Draws a query and runs it on every layout, from memory and from the files of a table
/// in `directory`, in turns, so that what others do to the machine meets all alike.
///
/// # Errors
/// Those of making and reading tables.
pub(crate) fn measured(random: &mut Random, directory: &Path) -> Result<Vec<Measured>> {
    of_drawn(&Drawn::new(random), directory)
}

fn of_drawn(drawn: &Drawn, directory: &Path) -> Result<Vec<Measured>> {
    let mut cases = Vec::new();
    for layout in Layout::ALL {
        cases.push(Case::new(drawn, layout, directory)?);
    }
    for _ in 0..TURNS {
        cases = cases
            .into_iter()
            .map(|case| case.run(drawn))
            .collect::<Result<_>>()?;
    }
    let mut all = Vec::new();
    for Case { sample, ways, .. } in cases {
        let left = sample.left(drawn.share)?;
        let hot = ways.first().map_or(0.0, |(.., seconds)| *seconds);
        for (scanner, cold, seconds) in ways {
            all.push(Measured {
                what: drawn.what(&sample),
                selection: drawn.selection(scanner, &sample, left),
                rows: drawn.rows as f64,
                cold,
                seconds,
                hot_seconds: if cold { hot } else { 0.0 },
            });
        }
    }
    Ok(all)
}

/// A query's table in one layout.
struct Case {
    sample: Sample,
    place: TempDir,
    /// By each scanner from memory, the usual one first, and from disk: the least seconds
    /// that it took.
    ways: Vec<(ColumnScanner, bool, f64)>,
}

impl Case {
    fn new(drawn: &Drawn, layout: Layout, directory: &Path) -> Result<Case> {
        let place = tempfile::tempdir_in(directory)?;
        let mut ways = vec![(ColumnScanner::Single, false, f64::MAX)];
        if layout == Layout::Column {
            ways.push((ColumnScanner::Pipelined, false, f64::MAX));
        }
        ways.push((ColumnScanner::Single, true, f64::MAX));
        Ok(Case {
            sample: Sample::make(&drawn.plan(layout), Some(place.path()))?,
            place,
            ways,
        })
    }

    fn run(mut self, drawn: &Drawn) -> Result<Case> {
        for (scanner, cold, seconds) in &mut self.ways {
            let mut outcome = Ok(0);
            let mut select = |sample: &Sample| {
                outcome = sample.select(*scanner, drawn.share, &drawn.projection);
            };
            let taken = match cold {
                false => least(1, || select(&self.sample)),
                true => {
                    self.sample = self.sample.reopened(self.place.path())?;
                    forget_all(self.place.path())?;
                    let start = Instant::now();
                    select(&self.sample);
                    start.elapsed().as_secs_f64()
                }
            };
            outcome?;
            *seconds = seconds.min(taken);
        }
        Ok(self)
    }
}

/// A query over a table, both drawn.
struct Drawn {
    recipes: Vec<Recipe>,
    selector: CodecChoice,
    rows: usize,
    block_rows: usize,
    seed: u64,
    share: f64,
    /// Positions in the table of columns that are read.
    projection: Vec<usize>,
}

impl Drawn {
    /// Up to 50 columns of every kind, tuples of 4 to some hundred bytes, selectivities
    /// from 0.01 % to all.
    fn new(random: &mut Random) -> Drawn {
        let kinds = recipes();
        // As many narrow tables as wide ones.
        let columns = (50f64.powf(random.share()).round() as usize).max(1);
        let narrow =
            |recipe: &&Recipe| !matches!(recipe.values, Values::Texts(100) | Values::Words(100, _));
        let few: Vec<&Recipe> = kinds.iter().filter(narrow).collect();
        let draw = |random: &mut Random| match columns > 8 {
            true => *few[random.below(few.len() as u64) as usize],
            false => kinds[random.below(kinds.len() as u64) as usize],
        };
        let recipes: Vec<Recipe> = (0..columns).map(|_| draw(random)).collect();
        let share = 10f64.powf(-4.0 * random.share()).min(1.0);
        let selectors = [
            CodecChoice::Auto,
            CodecChoice::None,
            CodecChoice::Named(CodecName::Bitpack),
            CodecChoice::Named(CodecName::Truncation),
        ];
        let wanted = 1 + random.below(columns as u64);
        let mut projection: Vec<usize> = (0..columns).collect();
        while projection.len() > wanted as usize {
            projection.remove(random.below(projection.len() as u64) as usize);
        }
        let rows = 100_000 + random.below(200_000) as usize;
        Drawn {
            recipes,
            selector: selectors[random.below(4) as usize],
            rows,
            block_rows: rows.div_ceil(1 + random.below(4) as usize),
            seed: random.bits(),
            // One query in eight asks for all.
            share: if random.below(8) == 0 { 1.0 } else { share },
            projection,
        }
    }

    fn plan(&self, layout: Layout) -> Plan<'_> {
        Plan {
            layout,
            selector: self.selector,
            recipes: &self.recipes,
            rows: self.rows,
            block_rows: self.block_rows,
            every_zone: false,
            seed: self.seed,
        }
    }

    fn what(&self, sample: &Sample) -> String {
        format!(
            "{} of {} columns, {:.0} bytes, {:.2} % of {} rows",
            self.projection.len(),
            self.recipes.len(),
            sample.tuple_bytes,
            self.share * 100.0,
            self.rows
        )
    }

    /// The selection of the rows that are `left` by zone maps, which are asked before it
    /// runs; how many of them pass is not known but by the constant.
    fn selection(&self, scanner: ColumnScanner, sample: &Sample, left: f64) -> Selection {
        let used = |column: &usize| sample.columns[*column].clone();
        Selection {
            layout: name(sample.layout, scanner),
            blocks: sample.blocks() as f64,
            rows: left,
            tuple_bytes: sample.tuple_bytes,
            stride: Selection::stride(&sample.layout.to_string(), sample.columns.iter()),
            tested: match self.share < 1.0 {
                true => vec![(used(&sample.selector()), 1.0)],
                false => Vec::new(),
            },
            share: (self.share * self.rows as f64 / left).min(1.0),
            read: self.projection.iter().map(used).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each layout from memory and from disk, columns by the other scanner, too.
    #[test]
    fn a_query_is_measured_in_every_way() {
        let drawn = Drawn {
            rows: 3_000,
            block_rows: 1_000,
            share: 0.5,
            ..Drawn::new(&mut Random::new(4))
        };
        let place = tempfile::tempdir().unwrap();
        let all = of_drawn(&drawn, place.path()).unwrap();
        let cold: Vec<&Measured> = all.iter().filter(|one| one.cold).collect();
        assert_eq!((all.len(), cold.len()), (11, 5));
        assert!(all.iter().all(|one| one.seconds > 0.0));
        assert!(cold.iter().all(|one| one.hot_seconds > 0.0));
        assert!(all.iter().all(|one| one.selection.rows == 3_000.0));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    /// A query asks the same of every layout, and finds as many rows as its share says.
    #[test]
    fn layouts_give_the_same_rows() {
        let mut random = Random::new(3);
        for _ in 0..3 {
            let drawn = Drawn {
                rows: 5_000,
                block_rows: 1_300,
                share: 0.25,
                ..Drawn::new(&mut random)
            };
            let mut found = Vec::new();
            for layout in Layout::ALL {
                let sample = Sample::make(&drawn.plan(layout), None).unwrap();
                assert_eq!((sample.blocks(), sample.layout), (4, layout));
                let count = sample.select(ColumnScanner::Single, 0.25, &drawn.projection);
                found.push(count.unwrap());
                assert!(sample.tuple_bytes > 0.0);
                // Of blocks of 1,300 rows each is a zone, with some that pass.
                assert_eq!(sample.left(0.25).unwrap(), 5_000.0);
                assert!(sample.left(0.0).unwrap() < 5_000.0);
            }
            assert!((1_100..1_400).contains(&found[0]), "{found:?}");
            assert!(found.iter().all(|count| *count == found[0]), "{found:?}");
        }
    }
}
