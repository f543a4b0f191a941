//! `freestone lab`: the documents' experiments, on this machine.

use crate::args::{CodbArguments, LabArguments, LabCommand};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::tpch::Laboratory;
use freestone_lab::c::{Entropy, EntrySize, Workload, codb};
use freestone_lab::{Scale, command};
use std::sync::Arc;

/// The commit that the program was built from, for the records.
const COMMIT: &str = env!("FREESTONE_COMMIT");

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
            scale,
            quick,
            seed,
            out,
        } => {
            let scale = if *quick { Scale::Quick } else { *scale };
            let mut setting = command::setting(scale, *seed, out);
            setting.sql = Some(Arc::new(Laboratory::new()?));
            let tell = &mut |event: freestone_lab::Event<'_>| eprintln!("{event}");
            let summary = command::run(ids, &known, &setting, out, COMMIT, tell);
            let summary = summary.map_err(|error| Failure::Message(error.to_string()))?;
            output.line(&summary.to_string())?;
            match summary.failures().next() {
                Some(_) => Err(Failure::Reported),
                None => Ok(()),
            }
        }
        LabCommand::Codb(arguments) => requests(arguments),
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

/// Writes what each request took to standard output.
fn requests(arguments: &CodbArguments) -> Result<()> {
    let size = entry_size(&arguments.entry_size).ok_or_else(|| {
        Failure::Message(format!(
            "--entry-size cannot be \"{}\": give bytes, or the least and the most as 16-64",
            arguments.entry_size
        ))
    })?;
    let workload = Workload {
        reads: arguments.read_ratio,
        size,
        entropy: match arguments.entropy {
            0 => Entropy::Unlimited,
            count => Entropy::Distinct(count),
        },
        columns: arguments.columns,
        requests: arguments.requests,
        warm_up: arguments.warm_up,
        threads: arguments.threads,
        runs: arguments.runs,
        seed: arguments.seed,
        ..Workload::default()
    };
    let scratch = arguments.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let mut csv = std::io::BufWriter::new(std::io::stdout().lock());
    let ran = codb(&workload, &scratch, &mut csv);
    ran.map(drop)
        .map_err(|error| Failure::Message(error.to_string()))
}

/// Reads `32` or `16-64`.
fn entry_size(text: &str) -> Option<EntrySize> {
    match text.split_once('-') {
        None => text.parse().ok().map(EntrySize::Fixed),
        Some((least, most)) => Some(EntrySize::Random(least.parse().ok()?, most.parse().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_built_in_a_checkout_knows_its_commit() {
        let root = "../..";
        let git = std::process::Command::new("git")
            .args(["-C", root, "rev-parse", "HEAD"])
            .output();
        let is_checkout = std::path::Path::new(root).join(".git").exists();
        let known = is_checkout && git.is_ok_and(|git| git.status.success());
        assert!(!known || COMMIT != "unknown");
    }

    #[test]
    fn sizes_are_one_or_two() {
        assert_eq!(entry_size("32"), Some(EntrySize::Fixed(32)));
        assert_eq!(entry_size("16-64"), Some(EntrySize::Random(16, 64)));
        for wrong in ["", "-", "16-", "-64", "many"] {
            assert_eq!(entry_size(wrong), None, "{wrong}");
        }
    }
}
