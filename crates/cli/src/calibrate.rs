//! `freestone calibrate`: measures this machine and writes a machine file.

use crate::args::CalibrateArguments;
use crate::client::size;
use crate::failure::{Failure, Result};
use crate::output::Output;
use freestone_calibrate::{Checked, Errors};
use freestone_model::{Calibration, Stated};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::io;
use std::path::Path;

/// Seed of the selections that are checked; none of them was measured for the constants.
const SEED: u64 = 2006;

/// Measures, or reads what was measured, and checks it if that is asked for.
///
/// # Errors
/// If files cannot be written or read.
pub fn run(arguments: &CalibrateArguments) -> Result<()> {
    if let Some(place) = &arguments.db {
        // What takes minutes is not begun for what is no database.
        freestone::Database::open_existing(place).map_err(|error| message(&error))?;
    }
    let runs = arguments.from.is_none() || arguments.check > 0;
    match (&arguments.scratch, &arguments.db) {
        (None, Some(place)) if runs => inside(place, |scratch| calibrate(arguments, scratch)),
        (Some(scratch), _) => calibrate(arguments, scratch),
        (None, _) => calibrate(arguments, &std::env::temp_dir()),
    }
}

/// Measures on the disk of a database, in a directory of its own that is gone afterwards;
/// one that is there was left by a run that was killed.
fn inside(place: &Path, run: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let scratch = place.join("calibration");
    let failed = |error| Failure::io(format!("cannot use {}", scratch.display()), error);
    let remove = || match fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    };
    remove()?;
    fs::create_dir(&scratch).map_err(failed)?;
    let outcome = run(&scratch);
    outcome.and(remove())
}

fn calibrate(arguments: &CalibrateArguments, scratch: &Path) -> Result<()> {
    if arguments.from.is_none() || arguments.check > 0 {
        warn(scratch)?;
    }
    let mut output = Output::stdout(0);
    let calibration = match &arguments.from {
        Some(file) => read(file)?,
        None => measure(arguments, scratch)?,
    };
    describe(&calibration, &mut output)?;
    if arguments.from.is_none() {
        let text = calibration.written().map_err(|error| message(&error))?;
        let what = format!("cannot write {}", arguments.out.display());
        fs::write(&arguments.out, text + "\n").map_err(|error| Failure::io(what, error))?;
        output.line(&format!("written to {}", arguments.out.display()))?;
    }
    if let Some(place) = &arguments.db {
        let text = calibration.written().map_err(|error| message(&error))?;
        let database = freestone::Database::open_existing(place);
        let kept = database.and_then(|database| database.keep_machine(&text));
        kept.map_err(|error| message(&error))?;
        output.line(&format!("kept in {}", place.display()))?;
    }
    match arguments.check {
        0 => Ok(()),
        queries => check(&calibration, queries, scratch, &mut output),
    }
}

/// Says so if there is no disk below a directory.
fn warn(scratch: &Path) -> Result<()> {
    let what = format!("cannot use {}", scratch.display());
    let in_memory = freestone_calibrate::is_in_memory(scratch);
    if in_memory.map_err(|error| Failure::Message(format!("{what}: {error}")))? {
        eprintln!(
            "warning: {} is in memory (tmpfs), so that no disk is measured; \
             name a directory on the disk that counts by --scratch or --db",
            scratch.display()
        );
    }
    Ok(())
}

fn message(error: &impl ToString) -> Failure {
    Failure::Message(error.to_string())
}

fn read(file: &Path) -> Result<Calibration> {
    let what = format!("cannot read {}", file.display());
    let text = fs::read_to_string(file).map_err(|error| Failure::io(what, error))?;
    let read = Calibration::read(&text);
    read.map_err(|error| Failure::Message(format!("{}: {error}", file.display())))
}

fn measure(arguments: &CalibrateArguments, scratch: &Path) -> Result<Calibration> {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{msg:28} {bar:30} {percent:>3} % {eta}") {
        bar.set_style(style);
    }
    bar.set_message("clock, memory and disk");
    let machine = freestone_calibrate::machine(&arguments.name, scratch);
    let machine = machine.map_err(|error| message(&error))?;
    bar.set_message("layouts, codecs and scanners");
    let progress = |part: f64| bar.set_position((part * 1000.0) as u64);
    let calibration = freestone_calibrate::calibration(machine, scratch, &progress);
    let mut calibration = calibration.map_err(|error| message(&error))?;
    bar.set_message("operators");
    let operators = crate::runtime(None)?.block_on(freestone::operator_costs());
    calibration.operators = operators.map_err(|error| message(&error))?;
    bar.finish_and_clear();
    Ok(calibration)
}

fn describe(calibration: &Calibration, output: &mut Output) -> Result<()> {
    let Calibration { machine, costs, .. } = calibration;
    let bandwidth = machine.memory_bytes_per_cycle * machine.clock;
    let lines = [
        format!("machine   {}", machine.name),
        format!("clock     {:.2} GHz", machine.clock / 1e9),
        format!(
            "memory    {}/s to one core, {:.0} cycles for a random line",
            size(bandwidth as u64),
            machine.miss_cycles
        ),
        format!(
            "disk      {}/s, {:.0} µs for a random page",
            size(machine.disk_bandwidth as u64),
            machine.seek_seconds * 1e6
        ),
        format!("cpdb      {:.1} cycles per disk byte", machine.cpdb()),
    ];
    lines.iter().try_for_each(|line| output.line(line))?;
    // Files of before say nothing of these.
    if let Some(misses) = costs.descent {
        output.line(&format!(
            "caches    {} are read again faster than from memory; {misses:.1} misses down a tree",
            size(costs.cached as u64)
        ))?;
    }
    if !calibration.operators.is_empty() {
        let each = calibration.operators.iter();
        let each: Vec<String> = each.map(|(name, cost)| format!("{name} {cost}")).collect();
        output.line(&format!("operators {} ns a row", each.join(", ")))?;
    }
    let Some(Stated { hot, cold }) = calibration.stated else {
        return Ok(());
    };
    [("in memory", hot), ("from disk", cold)]
        .iter()
        .try_for_each(|(name, errors)| {
            output.line(&format!(
                "error     scans {name}: half within {:.0} %, nine of ten within {:.0} %",
                errors.median * 100.0,
                errors.ninth * 100.0
            ))
        })
}

/// Draws queries that nothing was fitted on, runs them and compares.
fn check(
    calibration: &Calibration,
    queries: usize,
    scratch: &Path,
    output: &mut Output,
) -> Result<()> {
    let Calibration { machine, costs, .. } = calibration;
    output.line(&format!(
        "\n{:<17} {:<4} {:>10} {:>10} {:>7}  selection",
        "layout", "", "predicted", "measured", "off by"
    ))?;
    let mut shown = Ok(());
    let mut each = |checked: &Checked| {
        if shown.is_ok() {
            shown = output.line(&line(checked));
        }
    };
    let all = freestone_calibrate::check(machine, costs, queries, SEED, scratch, &mut each);
    let all = all.map_err(|error| message(&error))?;
    shown?;
    let part = |cold| all.iter().filter(move |one| one.cold == cold).cloned();
    let (hot, cold): (Vec<_>, Vec<_>) = (part(false).collect(), part(true).collect());
    output.line("")?;
    for (name, some) in [("hot", &hot), ("cold", &cold), ("all", &all)] {
        let errors = Errors::of(some);
        output.line(&format!(
            "{name:<5} {:>4} predictions: half within {:.0} %, nine of ten within {:.0} %; \
             faster layout named in {} of {} pairs that differ by a fifth",
            some.len(),
            errors.median * 100.0,
            errors.ninth * 100.0,
            errors.named,
            errors.pairs
        ))?;
    }
    Ok(())
}

fn line(checked: &Checked) -> String {
    format!(
        "{:<17} {:<4} {:>7.2} ms {:>7.2} ms {:>+6.0}%  {}",
        checked.layout,
        if checked.cold { "cold" } else { "hot" },
        checked.predicted * 1e3,
        checked.measured * 1e3,
        (checked.predicted / checked.measured - 1.0) * 100.0,
        checked.what
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a killed run left is removed before, and what this one leaves after it.
    #[test]
    fn the_disk_of_a_database_is_left_as_it_was() {
        let place = std::env::temp_dir().join(format!("calibrate-{}", std::process::id()));
        fs::create_dir_all(place.join("calibration/left")).unwrap();
        let mut seen = None;
        let outcome = inside(&place, |scratch| {
            seen = Some(fs::read_dir(scratch).unwrap().count());
            fs::write(scratch.join("file"), "bytes").unwrap();
            Err(Failure::Interrupted)
        });
        assert!(matches!(outcome, Err(Failure::Interrupted)));
        assert_eq!(seen, Some(0));
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
        fs::remove_dir_all(&place).unwrap();
    }
}
