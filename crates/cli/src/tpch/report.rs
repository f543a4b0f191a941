//! What `freestone tpch` prints and writes as JSON.

use super::load::{Loaded, Plan};
use super::loading::Loading;
use crate::client::{duration, grouped, size};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::render::Format;
use arrow::array::{ArrayRef, Decimal128Array, RecordBatch, StringViewArray, UInt64Array};
use freestone::ScanCounts;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What one query came to.
#[derive(Debug, Serialize)]
pub struct QueryResult {
    /// 1 to 22.
    pub query: usize,
    /// Rows of the result.
    pub rows: u64,
    /// Best time, from text to the last batch.
    pub milliseconds: f64,
    /// Blocks that scans read.
    pub blocks_read: u64,
    /// Blocks that zone maps ruled out.
    pub blocks_pruned: u64,
    /// Whether the answer is the official one; `None` where there is none.
    pub verified: Option<bool>,
    /// The first difference, or the error.
    pub problem: Option<String>,
}

impl QueryResult {
    /// A query that failed.
    pub fn failed(query: usize, problem: String) -> Self {
        QueryResult {
            query,
            rows: 0,
            milliseconds: 0.0,
            blocks_read: 0,
            blocks_pruned: 0,
            verified: Some(false),
            problem: Some(problem),
        }
    }

    /// A query that gave `rows` rows.
    pub fn done(query: usize, rows: u64, time: Duration, scans: ScanCounts) -> Self {
        QueryResult {
            query,
            rows,
            milliseconds: time.as_secs_f64() * 1e3,
            blocks_read: scans.blocks_read,
            blocks_pruned: scans.blocks_pruned,
            verified: None,
            problem: None,
        }
    }
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    scale: f64,
    layout: &'static str,
    threads: usize,
    runs: Option<usize>,
    database: String,
    database_bytes: u64,
    reused: bool,
    /// Generating and loading at once, when the database was made.
    generate_and_load_seconds: f64,
    load_from_memory_seconds: Option<f64>,
    load_from_parquet_seconds: Option<f64>,
    total_milliseconds: f64,
    geometric_mean_milliseconds: f64,
    queries: Vec<QueryResult>,
}

impl Report {
    /// Puts the pieces together.
    pub fn new(
        path: &Path,
        plan: Plan,
        runs: Option<usize>,
        loaded: &Loaded,
        loading: Option<&Loading>,
        queries: Vec<QueryResult>,
    ) -> Self {
        let ours = queries.iter().map(|query| query.milliseconds);
        let catalog = loaded.database.store().snapshot();
        Report {
            scale: plan.scale,
            layout: plan.layout.name(),
            threads: plan.threads,
            runs,
            database: path.display().to_string(),
            database_bytes: catalog.all_tables().map(|(_, table)| table.bytes()).sum(),
            reused: loaded.reused,
            generate_and_load_seconds: loaded.seconds,
            load_from_memory_seconds: loading.map(|loading| loading.memory),
            load_from_parquet_seconds: loading.map(|loading| loading.parquet),
            total_milliseconds: ours.clone().sum(),
            geometric_mean_milliseconds: geometric_mean(ours),
            queries,
        }
    }

    /// How many answers were right, and how many were checked.
    pub fn verified(&self) -> (usize, usize) {
        let checked = self.queries.iter().filter_map(|query| query.verified);
        (
            checked.clone().filter(|right| *right).count(),
            checked.count(),
        )
    }

    /// Whether nothing failed and no answer was wrong.
    pub fn is_good(&self) -> bool {
        self.queries.iter().all(|query| query.problem.is_none())
    }

    /// Prints the table and what there is to say about it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn print(&self, output: &mut Output) -> Result<()> {
        let batch = self.table()?;
        let mut target = output.target();
        (target.max_rows, target.uncounted) = (None, true);
        let mut renderer = Format::Table.renderer(target);
        renderer
            .start(output.writer(), &batch.schema())
            .map_err(Failure::output)?;
        renderer
            .batch(output.writer(), &batch)
            .map_err(Failure::output)?;
        renderer.finish(output.writer()).map_err(Failure::output)?;
        for query in &self.queries {
            if let Some(problem) = &query.problem {
                output.line(&format!("Q{}: {problem}", query.query))?;
            }
        }
        let how = match self.runs {
            None => "one run of each query".to_string(),
            Some(1) => "one run of each query after one that does not count".to_string(),
            Some(runs) => format!("best of {runs} runs after one that does not count"),
        };
        output.line(&format!(
            "geometric mean {:.1} ms; {how}, {} threads, layout {}",
            self.geometric_mean_milliseconds, self.threads, self.layout
        ))?;
        output.line(&self.verdict())?;
        self.print_loading(output)
    }

    fn verdict(&self) -> String {
        match self.verified() {
            (_, 0) => format!(
                "There are no official answers at scale {}: results are NOT verified.",
                self.scale
            ),
            (right, checked) => format!("{right} of {checked} answers verified"),
        }
    }

    fn print_loading(&self, output: &mut Output) -> Result<()> {
        let seconds = |seconds: f64| duration(Duration::from_secs_f64(seconds.max(0.0)));
        let when = if self.reused {
            "Loaded earlier"
        } else {
            "Loaded"
        };
        output.line(&format!(
            "{when} in {} (generating included), {}",
            seconds(self.generate_and_load_seconds),
            size(self.database_bytes)
        ))?;
        let alone = self
            .load_from_memory_seconds
            .zip(self.load_from_parquet_seconds);
        if let Some((memory, parquet)) = alone {
            output.line(&format!(
                "Loading alone: {} from memory, {} from Parquet",
                seconds(memory),
                seconds(parquet)
            ))?;
        }
        Ok(())
    }

    /// One row per query, then the total.
    fn table(&self) -> Result<RecordBatch> {
        let names = self.queries.iter().map(|query| format!("Q{}", query.query));
        let names = names.chain(["total".to_string()]);
        let of = |value: fn(&QueryResult) -> u64| {
            let sum = self.queries.iter().map(value).sum();
            let values = self.queries.iter().map(|query| Some(value(query)));
            Arc::new(UInt64Array::from_iter(values.chain([Some(sum)]))) as ArrayRef
        };
        let ours = self.queries.iter().map(|query| Some(query.milliseconds));
        let ours = ours.chain([Some(self.total_milliseconds)]);
        let verified = self
            .queries
            .iter()
            .map(|query| match (&query.problem, query.verified) {
                (_, Some(true)) => "yes",
                (Some(_), _) | (_, Some(false)) => "NO",
                (None, None) => "",
            });
        let verified = verified.chain([""]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("query", Arc::new(StringViewArray::from_iter_values(names))),
            ("rows", of(|query| query.rows)),
            ("milliseconds", decimals(ours, 1)?),
            ("blocks read", of(|query| query.blocks_read)),
            ("pruned", of(|query| query.blocks_pruned)),
            (
                "verified",
                Arc::new(StringViewArray::from_iter_values(verified)),
            ),
        ];
        RecordBatch::try_from_iter(columns).map_err(|error| Failure::Message(error.to_string()))
    }

    /// Writes the report to a file.
    ///
    /// # Errors
    /// [`Failure::Io`].
    pub fn write_json(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::Message(format!("cannot write JSON: {error}")))?;
        std::fs::write(path, text + "\n")
            .map_err(|error| Failure::io(format!("cannot write {}", path.display()), error))
    }

    /// Where the database is and how to look at it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn print_invitation(&self, output: &mut Output, loaded: &Loaded) -> Result<()> {
        let catalog = loaded.database.store().snapshot();
        let rows = catalog.all_tables().map(|(_, table)| table.rows()).sum();
        let rows = grouped(rows);
        output.line(&format!(
            "Explore its {rows} rows: freestone {}",
            self.database
        ))
    }
}

fn geometric_mean(times: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = times.clone().count().max(1);
    // A time of zero would be the mean of everything.
    (times.map(|time| time.max(1e-3).ln()).sum::<f64>() / count as f64).exp()
}

/// Numbers with a fixed count of digits after the point.
fn decimals(values: impl Iterator<Item = Option<f64>>, digits: i8) -> Result<ArrayRef> {
    let factor = 10f64.powi(digits.into());
    // Milliseconds: far below 2^127.
    let scaled = values.map(|value| value.map(|value| (value * factor).round() as i128));
    let array = Decimal128Array::from_iter(scaled).with_precision_and_scale(30, digits);
    Ok(Arc::new(
        array.map_err(|error| Failure::Message(error.to_string()))?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert!((geometric_mean([1.0, 100.0].into_iter()) - 10.0).abs() < 1e-9);
        assert!(geometric_mean(std::iter::empty()).is_finite());
    }
}
