//! `freestone salvage`: what a damaged database has lost, and what remains.

use crate::args::SalvageArguments;
use crate::failure::{Failure, Result};
use crate::output::Output;
use freestone_storage::Store;

/// Reads everything and reports; with `--rewrite` the directory is made whole.
///
/// # Errors
/// [`Failure::Reported`] when something is lost, so that the exit code is 1; a
/// directory with nothing to begin with.
pub fn run(arguments: &SalvageArguments) -> Result<()> {
    let salvaged = Store::salvage(&arguments.db, arguments.rewrite);
    let (store, report) = salvaged.map_err(freestone::Error::from)?;
    let mut output = Output::stdout(0);
    if arguments.json {
        let text = serde_json::to_string_pretty(&report);
        let text = text.map_err(|error| Failure::Message(error.to_string()))?;
        output.line(&text)?;
    } else {
        for line in report.to_string().lines() {
            output.line(line)?;
        }
        let snapshot = store.snapshot();
        for (schema, table) in snapshot.all_tables() {
            let rows = table.rows();
            output.line(&format!("{schema}.{}: {rows} rows", table.name))?;
        }
        if !arguments.rewrite && !report.damage.is_empty() {
            output.line("take a copy of the directory, then use --rewrite to keep what remains")?;
        }
    }
    output.flush()?;
    match report.is_whole() {
        true => Ok(()),
        false => Err(Failure::Reported),
    }
}
