//! `slt FOLDER [--filter TEXT] [--threads N] [--bless]`: runs the sqllogictest
//! files of a folder and holds them against its `known-failures.txt`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use freestone_testkit::slt::{Report, known, known::Known, run_folder};

const USAGE: &str = "usage: slt FOLDER [--filter TEXT] [--threads N] [--bless]";

struct Options {
    folder: String,
    filter: String,
    threads: usize,
    bless: bool,
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("slt: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let folder = Path::new(&options.folder);
    let list = folder.join("known-failures.txt");
    let text = std::fs::read_to_string(&list).unwrap_or_default();
    let known = Known::parse(&text).map_err(|error| format!("{}: {error}", list.display()))?;
    let start = Instant::now();
    let results = run_folder(folder, &options.filter, options.threads, &|file| {
        let (seconds, failed) = (file.elapsed.as_secs_f64(), file.failed.len());
        println!(
            "{:<38} {:>6} passed {failed:>5} failed {seconds:>6.1} s",
            file.name, file.passed
        );
    })?;
    if options.bless {
        let failed: Vec<_> = results
            .iter()
            .flat_map(|file| file.failed.clone())
            .collect();
        std::fs::write(&list, known::write(&failed, &known))
            .map_err(|error| format!("{}: {error}", list.display()))?;
    }
    let report = Report::new(&results, &known);
    println!(
        "{:.1} s on {} threads",
        start.elapsed().as_secs_f64(),
        options.threads
    );
    println!("{report}");
    Ok(report.good())
}

fn options() -> Option<Options> {
    let mut options = Options {
        folder: String::new(),
        filter: String::new(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        bless: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--filter" => options.filter = arguments.next()?,
            "--threads" => options.threads = arguments.next()?.parse().ok()?,
            "--bless" => options.bless = true,
            folder if options.folder.is_empty() && !folder.starts_with('-') => {
                options.folder = folder.to_string()
            }
            _ => return None,
        }
    }
    // The list covers all files: blessing part of them would lose the rest.
    let complete = !options.bless || options.filter.is_empty();
    (!options.folder.is_empty() && complete).then_some(options)
}
