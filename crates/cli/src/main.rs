//! The `freestone` program: shell, scripts, serve, inspect, verify, tpch, calibrate, lab.
//!
//! It knows nothing about storage or SQL that the libraries below do not tell
//! it: it reads arguments and lines, and shows results. One module per concern:
//!
//! | module | concern |
//! |---|---|
//! | `args` | the command line |
//! | `shell` | line editing, completion |
//! | `meta`, `describe` | meta commands, and what `\d` shows |
//! | `batch`, `script`, `lexer` | statements from `-c`, files and pipes |
//! | `client`, `progress`, `output` | running a statement, Ctrl-C, the bar, where results go |
//! | `render` | results as table, csv, json, jsonl, markdown, line |
//! | `serve` | the database over PostgreSQL's protocol |
//! | `inspect`, `verify`, `salvage` | bytes by name; checksums; what is left of a damaged database |
//! | `tpch` | the benchmark: data, queries, answers, comparison |
//! | `calibrate` | what this machine costs: the machine file |
//! | `lab` | the papers' experiments, and the page of what they found |

mod args;
mod batch;
mod calibrate;
mod client;
mod describe;
mod failure;
mod inspect;
mod lab;
mod lexer;
mod meta;
mod output;
mod progress;
mod render;
mod salvage;
mod script;
mod serve;
mod shell;
mod tpch;
mod verify;

use args::{Arguments, Command, DatabaseArguments, ShellArguments};
use batch::Flow;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use client::Client;
use failure::{Failure, Result};
use freestone::Database;
use output::Output;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: freestone_allocator::Allocator = freestone_allocator::Allocator;

fn main() -> ExitCode {
    freestone_allocator::keep_freed_memory();
    let matches = Arguments::command().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let outcome = match &arguments.command {
        None => open_shell(&arguments.shell, &matches),
        Some(Command::Serve(arguments)) => serve::run(arguments),
        Some(Command::Inspect(arguments)) => inspect::run(arguments),
        Some(Command::Verify(arguments)) => verify::run(arguments),
        Some(Command::Salvage(arguments)) => salvage::run(arguments),
        Some(Command::Tpch(arguments)) => tpch::run(arguments),
        Some(Command::Calibrate(arguments)) => calibrate::run(arguments),
        Some(Command::Lab(arguments)) => lab::run(arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Bytes of a thread's stack: as much as the first thread of a process has. Deep statements
/// take some of it.
const STACK: usize = 8 << 20;

/// A runtime for queries; one worker per thread that a query may use.
///
/// # Errors
/// [`Failure::Io`] when the system gives no threads.
fn runtime(threads: Option<usize>) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads);
    }
    builder.thread_stack_size(STACK);
    let runtime = builder.enable_all().thread_name("freestone").build();
    runtime.map_err(|error| Failure::io("cannot start threads", error))
}

fn open_shell(arguments: &ShellArguments, matches: &ArgMatches) -> Result<()> {
    let threads = arguments.database.threads;
    let runtime = runtime(threads)?;
    let database = open(&arguments.database)?;
    for note in database.store().notes() {
        eprintln!("note: {note}");
    }
    let inside = runtime.enter();
    let output = Output::stdout(arguments.max_rows);
    let mut client = Client::new(database, threads, arguments.format, output)?;
    drop(inside);
    let scripts = scripts(arguments, matches);
    if scripts.is_empty() && std::io::stdin().is_terminal() {
        return shell::run(&runtime, &mut client, arguments.database.directory());
    }
    runtime.block_on(async {
        if scripts.is_empty() {
            batch::run_file(&mut client, Path::new("-"), 0).await?;
        }
        for script in scripts {
            let flow = match script {
                Source::Text(text) => batch::run_text(&mut client, text).await?,
                Source::File(path) => batch::run_file(&mut client, path, 0).await?,
            };
            if flow == Flow::Quit {
                break;
            }
        }
        client.output.flush()
    })
}

fn open(arguments: &DatabaseArguments) -> Result<Database> {
    match (arguments.directory(), arguments.read_only) {
        (Some(path), false) => Ok(Database::open_striped(path, &arguments.stripe)?),
        (Some(path), true) => Ok(Database::open_read_only(path)?),
        (None, false) if !arguments.stripe.is_empty() => Err(Failure::Message(
            "--stripe is for databases on disk: name a directory".into(),
        )),
        (None, false) => Ok(Database::in_memory()),
        (None, true) => Err(Failure::Message(
            "--read-only needs a database: a new one in memory is empty".into(),
        )),
    }
}

/// What a `-c` or `-f` gives.
enum Source<'a> {
    Text(&'a str),
    File(&'a Path),
}

/// Every `-c` and `-f` in the order of the command line.
fn scripts<'a>(arguments: &'a ShellArguments, matches: &ArgMatches) -> Vec<Source<'a>> {
    let places = |id| matches.indices_of(id).into_iter().flatten();
    let texts = arguments.commands.iter().map(|text| Source::Text(text));
    let files = arguments.files.iter().map(|path| Source::File(path));
    let mut all: Vec<_> = places("commands")
        .zip(texts)
        .chain(places("files").zip(files))
        .collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, source)| source).collect()
}
