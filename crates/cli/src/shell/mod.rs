//! The interactive shell: reads a statement, runs it, shows the result.

pub mod completion;
mod helper;
mod keywords;

use crate::batch::{self, Flow};
use crate::client::{Client, grouped};
use crate::failure::{Failure, Result};
use helper::{ShellHelper, is_word_command};
use rustyline::config::{BellStyle, Configurer};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// Statements remembered.
const HISTORY: usize = 10_000;

/// Runs the shell until its user leaves.
///
/// # Errors
/// [`Failure::Io`] when the terminal fails, [`Failure::Closed`] when it is gone.
/// Statements that fail are told and forgotten.
pub fn run(runtime: &Runtime, client: &mut Client, path: Option<&Path>) -> Result<()> {
    greet(client, path);
    let mut editor = editor(client)?;
    let history = history_file();
    if let Some(file) = &history {
        // There is none the first time.
        let _ = editor.load_history(file);
    }
    let outcome = talk(runtime, client, &mut editor, path);
    if let Some(file) = &history
        && let Err(error) = editor.append_history(file)
    {
        eprintln!("cannot save the history to {}: {error}", file.display());
    }
    outcome
}

fn talk(
    runtime: &Runtime,
    client: &mut Client,
    editor: &mut Editor<ShellHelper, FileHistory>,
    path: Option<&Path>,
) -> Result<()> {
    let name = path
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy());
    let plain = format!("{}> ", name.as_deref().unwrap_or("freestone"));
    let prompt = (plain.clone(), format!("\x1b[1m{plain}\x1b[0m"));
    loop {
        let text = match editor.readline(&prompt) {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(Failure::Message(format!("cannot read a line: {error}"))),
        };
        if text.trim().is_empty() {
            continue;
        }
        // The history may be full or unwritable; the statement still runs.
        let _ = editor.add_history_entry(text.trim());
        let text = match text.trim() {
            "help" => "\\?",
            word if is_word_command(word) => return Ok(()),
            _ => &text,
        };
        client.forget_interrupts();
        match runtime.block_on(batch::run_text(client, text)) {
            Ok(Flow::Quit) => return Ok(()),
            Ok(Flow::Continue) | Err(Failure::Reported) => {}
            Err(Failure::Closed) => return Err(Failure::Closed),
            Err(Failure::Interrupted) => eprintln!("cancelled"),
            Err(failure) => eprintln!("{failure}"),
        }
        client.output.flush()?;
    }
}

fn editor(client: &Client) -> Result<Editor<ShellHelper, FileHistory>> {
    let failed = |error| Failure::Message(format!("cannot open the terminal: {error}"));
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .bell_style(BellStyle::None)
        .bracketed_paste(true)
        .build();
    let mut editor = Editor::with_config(config).map_err(failed)?;
    editor.set_max_history_size(HISTORY).map_err(failed)?;
    editor.set_helper(Some(ShellHelper::new(client.database.clone())));
    Ok(editor)
}

fn greet(client: &Client, path: Option<&Path>) {
    println!(
        "Freestone {}. SQL ends with ';'. Type help for help, \\q to leave.",
        env!("CARGO_PKG_VERSION")
    );
    let catalog = client.database.store().snapshot();
    let tables = catalog.all_tables().count() as u64;
    match path {
        None => println!(
            "A database in memory: it is gone when you leave. 'freestone DIR' keeps one on disk."
        ),
        Some(path) if tables == 0 => println!("{}: no tables yet.", path.display()),
        Some(path) => {
            let rows = catalog.all_tables().map(|(_, table)| table.rows()).sum();
            println!(
                "{}: {tables} tables, {} rows. \\d lists them.",
                path.display(),
                grouped(rows)
            );
        }
    }
}

/// `$XDG_STATE_HOME/freestone/history`, its folder made if need be.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").filter(|value| !value.is_empty());
    let folder = match state {
        Some(state) => PathBuf::from(state),
        None => PathBuf::from(std::env::var_os("HOME")?)
            .join(".local")
            .join("state"),
    };
    let folder = folder.join("freestone");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
