//! Statements from `-c`, `-f`, `\i` and standard input: run in order, stop at
//! the first error.

use crate::client::Client;
use crate::failure::{Failure, Result, describe};
use crate::meta::{self, Next};
use crate::script::{Item, Script, split};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Whether to go on after a statement or a meta command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next statement, please.
    Continue,
    /// `\q`.
    Quit,
}

/// How deep `\i` may nest.
const DEPTH: usize = 16;

/// Runs the text of one `-c`.
///
/// # Errors
/// The first failure, already reported.
pub async fn run_text(client: &mut Client, text: &str) -> Result<Flow> {
    for item in split(text) {
        if run_item(client, &item, None, 0).await? == Flow::Quit {
            return Ok(Flow::Quit);
        }
    }
    Ok(Flow::Continue)
}

/// Runs a file, `-` being standard input. `depth` counts the `\i` around it.
///
/// # Errors
/// The first failure, already reported.
pub async fn run_file(client: &mut Client, path: &Path, depth: usize) -> Result<Flow> {
    let shown = path.display();
    if depth > DEPTH {
        return Err(Failure::Message(format!(
            "{shown}: \\i is nested more than {DEPTH} deep"
        )));
    }
    if path == Path::new("-") {
        return run_lines(client, std::io::stdin().lock(), "<stdin>", depth).await;
    }
    let file =
        File::open(path).map_err(|error| Failure::io(format!("cannot read {shown}"), error))?;
    run_lines(client, BufReader::new(file), &shown.to_string(), depth).await
}

/// Runs each statement as soon as its last line has arrived.
async fn run_lines(
    client: &mut Client,
    mut input: impl BufRead,
    name: &str,
    depth: usize,
) -> Result<Flow> {
    let mut script = Script::default();
    let mut line = String::new();
    loop {
        line.clear();
        let read = input.read_line(&mut line);
        if read.map_err(|error| Failure::io(format!("cannot read {name}"), error))? == 0 {
            break;
        }
        for item in script.push(&line) {
            if run_item(client, &item, Some(name), depth).await? == Flow::Quit {
                return Ok(Flow::Quit);
            }
        }
    }
    for item in script.finish() {
        if run_item(client, &item, Some(name), depth).await? == Flow::Quit {
            return Ok(Flow::Quit);
        }
    }
    Ok(Flow::Continue)
}

async fn run_item(
    client: &mut Client,
    item: &Item,
    file: Option<&str>,
    depth: usize,
) -> Result<Flow> {
    let (outcome, text, line) = match item {
        Item::Statement { text, line } => {
            (client.run(text).await.map(|()| Flow::Continue), text, line)
        }
        Item::Meta { text, line } => {
            let outcome = match meta::run(client, text) {
                Ok(Next::Statement) => Ok(Flow::Continue),
                Ok(Next::Quit) => Ok(Flow::Quit),
                Ok(Next::File(file)) => Box::pin(run_file(client, &file, depth + 1)).await,
                Err(failure) => Err(failure),
            };
            (outcome, text, line)
        }
    };
    let failure = match outcome {
        Ok(flow) => return Ok(flow),
        Err(failure) => failure,
    };
    let inner = match &failure {
        Failure::Sql(error) => error.position.map_or(0, |at| at.line.saturating_sub(1)),
        _ => 0,
    };
    let place = file.map_or(String::new(), |name| {
        format!("{name}:{}: ", *line as u64 + inner)
    });
    // Rows that came before the error are shown before it.
    let _ = client.output.flush();
    match failure {
        Failure::Sql(error) => eprintln!("{place}{}", describe(&error, text)),
        Failure::Message(message) => eprintln!("{place}{message}"),
        other @ Failure::Io { .. } => eprintln!("{place}{other}"),
        other => return Err(other),
    }
    Err(Failure::Reported)
}
