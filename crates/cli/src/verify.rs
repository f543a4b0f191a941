//! `freestone verify`: every checksum of every block file.

use crate::args::VerifyArguments;
use crate::client::{grouped, size};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::render::count_of;
use freestone::Database;
use freestone_storage::VerifyReport;

/// What is known of the table that is being read.
#[derive(Default)]
struct Tally {
    table: String,
    blocks: u64,
    bytes: u64,
    bad: Vec<String>,
}

/// Reads everything; one line per table, then one for each bad block.
///
/// # Errors
/// [`Failure::Reported`] when something is bad, so that the exit code is 1.
pub fn run(arguments: &VerifyArguments) -> Result<()> {
    let database = Database::open_read_only(&arguments.db)?;
    let mut output = Output::stdout(0);
    let mut outcome = Ok(());
    let mut tally = Tally::default();
    let mut bad = 0;
    for note in database.store().notes() {
        output.line(&format!("note: {note}"))?;
    }
    let empty = database.store().snapshot();
    let empty = empty
        .all_tables()
        .filter(|(_, table)| table.blocks().is_empty());
    for (schema, table) in empty {
        output.line(&format!("{schema}.{}: no blocks", table.name))?;
    }
    database.store().verify(|report| {
        let table = format!("{}.{}", report.schema, report.table);
        if table != tally.table {
            bad += tally.bad.len();
            if outcome.is_ok() {
                outcome = tell(&mut output, &tally);
            }
            tally = Tally {
                table,
                ..Tally::default()
            };
        }
        tally.add(report);
    });
    outcome?;
    tell(&mut output, &tally)?;
    bad += tally.bad.len();
    output.flush()?;
    match bad {
        0 => Ok(()),
        bad => {
            eprintln!(
                "{} damaged: restore the files named above",
                count_of(bad as u64, "block")
            );
            Err(Failure::Reported)
        }
    }
}

impl Tally {
    fn add(&mut self, report: VerifyReport) {
        self.blocks += 1;
        self.bytes += report.bytes;
        if let Err(error) = report.outcome {
            let VerifyReport { block, file, .. } = report;
            let error = error.to_string();
            self.bad.push(match error.contains(&file) {
                true => format!("  BAD: {error}"),
                false => format!("  BAD: block {} in {file}: {error}", block.0),
            });
        }
    }
}

fn tell(output: &mut Output, tally: &Tally) -> Result<()> {
    if tally.table.is_empty() {
        return Ok(());
    }
    let verdict = match tally.bad.len() {
        0 => "ok".to_string(),
        bad => format!("{} BAD", grouped(bad as u64)),
    };
    let blocks = count_of(tally.blocks, "block");
    output.line(&format!(
        "{}: {blocks}, {}, {verdict}",
        tally.table,
        size(tally.bytes)
    ))?;
    tally.bad.iter().try_for_each(|line| output.line(line))?;
    output.flush()
}
