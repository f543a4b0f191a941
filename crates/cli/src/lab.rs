//! `freestone lab`: the documents' experiments, on this machine.

use crate::args::{LabArguments, LabCommand};
use crate::failure::{Failure, Result};
use crate::output::Output;
use freestone_lab::command;

/// Names the commit that the program was built from, for the records.
const COMMIT: &str = "FREESTONE_COMMIT";

/// Lists or runs experiments, or makes the page of what they found.
///
/// # Errors
/// Before anything runs, what would keep it from running; a record or page that cannot
/// be written; [`Failure::Reported`] if an experiment failed.
pub fn run(arguments: &LabArguments) -> Result<()> {
    let known = freestone_lab::all();
    let mut output = Output::stdout(0);
    match &arguments.command {
        LabCommand::List => output.line(command::list(&known).trim_end()),
        LabCommand::Run {
            ids,
            quick,
            seed,
            out,
        } => {
            let setting = command::setting(*quick, *seed, out);
            let commit = std::env::var(COMMIT).ok();
            let tell = &mut |event: freestone_lab::Event<'_>| eprintln!("{event}");
            let summary = command::run(ids, &known, &setting, out, commit.as_deref(), tell);
            let summary = summary.map_err(|error| Failure::Message(error.to_string()))?;
            output.line(&summary.to_string())?;
            match summary.failures().next() {
                Some(_) => Err(Failure::Reported),
                None => Ok(()),
            }
        }
        LabCommand::Report { from, out } => {
            let written = command::report(from, &known, out);
            let written = written.map_err(|error| Failure::Message(error.to_string()))?;
            for damaged in &written.damaged {
                eprintln!("{damaged}");
            }
            output.line(&format!(
                "{} of {} experiments are in {}",
                written.records,
                known.len(),
                written.path.display()
            ))
        }
    }
}
