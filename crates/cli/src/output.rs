//! Where results go: standard output, or the file that `\o` names.

use crate::failure::{Failure, Result};
use crate::render::Target;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Width when the terminal does not say.
const USUAL_WIDTH: u16 = 80;

/// The current place for results.
pub struct Output {
    writer: Box<dyn Write>,
    to_terminal: bool,
    max_rows: usize,
}

impl Output {
    /// Standard output; `max_rows` (0: all) limits tables at a terminal.
    pub fn stdout(max_rows: usize) -> Self {
        Output {
            writer: Box::new(BufWriter::new(io::stdout())),
            to_terminal: io::stdout().is_terminal(),
            max_rows,
        }
    }

    /// Sends what follows to a new file, or back to standard output.
    ///
    /// # Errors
    /// [`Failure::Io`] when the file cannot be created.
    pub fn redirect(&mut self, path: Option<&Path>) -> Result<()> {
        self.flush()?;
        *self = match path {
            None => Output::stdout(self.max_rows),
            Some(path) => {
                let file = File::create(path).map_err(|error| {
                    Failure::io(format!("cannot create {}", path.display()), error)
                })?;
                Output {
                    writer: Box::new(BufWriter::new(file)),
                    to_terminal: false,
                    max_rows: self.max_rows,
                }
            }
        };
        Ok(())
    }

    /// Whether results are seen at once by a person.
    pub fn is_terminal(&self) -> bool {
        self.to_terminal
    }

    /// What a renderer may assume.
    pub fn target(&self) -> Target {
        if !self.to_terminal {
            return Target::default();
        }
        let width = comfy_table::Table::new().width().filter(|width| *width > 0);
        Target {
            terminal_width: Some(width.unwrap_or(USUAL_WIDTH)),
            max_rows: (self.max_rows > 0).then_some(self.max_rows),
            ..Target::default()
        }
    }

    /// Where a renderer writes.
    pub fn writer(&mut self) -> &mut dyn Write {
        &mut self.writer
    }

    /// Writes one line.
    ///
    /// # Errors
    /// [`Failure::Io`], or [`Failure::Closed`] when the reader has left.
    pub fn line(&mut self, text: &str) -> Result<()> {
        writeln!(self.writer, "{text}").map_err(Failure::output)
    }

    /// Passes on what is buffered.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn flush(&mut self) -> Result<()> {
        self.writer.flush().map_err(Failure::output)
    }
}
