//! DuckDB in a process of its own, asked in lines of JSON; see the script.

use crate::Result;
use crate::ours::Cells;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SCRIPT: &str = include_str!("../peers/duckdb_peer.py");

/// A running peer.
pub struct Peer {
    child: Child,
    /// Taken at the end, and when its answers make no sense: a closed input is
    /// what stops the process.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What it answers; each command fills its part.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// What went wrong.
    pub error: Option<String>,
    /// Of each run.
    pub seconds: Vec<f64>,
    /// Rows of the result.
    pub rows: u64,
    /// The result, where asked for.
    pub value: Option<Cells>,
    /// Size of a file.
    pub bytes: u64,
}

impl Peer {
    /// Starts the script with an interpreter that has DuckDB.
    ///
    /// # Errors
    /// An interpreter that does not start.
    pub fn start(python: &Path) -> Result<Peer> {
        let mut child = Command::new(python)
            .args(["-u", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the peer has no output")?;
        Ok(Peer {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Opens a database file in place of the one that was open.
    ///
    /// # Errors
    /// DuckDB's.
    pub fn open(&mut self, path: &Path, threads: usize) -> Result<()> {
        self.ask(&json!({"open": path, "threads": threads}))?;
        Ok(())
    }

    /// Closes the open database, if there is one.
    ///
    /// # Errors
    /// DuckDB's.
    pub fn close(&mut self) -> Result<()> {
        self.ask(&json!({"close": true}))?;
        Ok(())
    }

    /// Runs a statement once.
    ///
    /// # Errors
    /// DuckDB's.
    pub fn run(&mut self, sql: &str) -> Result<Answer> {
        self.ask(&json!({"sql": sql}))
    }

    /// Runs a query once and fetches its result.
    ///
    /// # Errors
    /// DuckDB's.
    pub fn fetch(&mut self, sql: &str) -> Result<Answer> {
        self.ask(&json!({"sql": sql, "fetch": true}))
    }

    /// Runs a prepared statement once for each key.
    ///
    /// # Errors
    /// DuckDB's.
    pub fn lookup(&mut self, sql: &str, keys: &[i64]) -> Result<Answer> {
        self.ask(&json!({"lookup": sql, "keys": keys}))
    }

    /// Bytes of its database file.
    ///
    /// # Errors
    /// A file that is not there.
    pub fn size(&mut self, path: &Path) -> Result<u64> {
        Ok(self.ask(&json!({"size": path}))?.bytes)
    }

    fn ask(&mut self, command: &Value) -> Result<Answer> {
        let input = self.input.as_mut().ok_or("the peer has stopped")?;
        writeln!(input, "{command}")?;
        input.flush()?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the peer has stopped".into());
        }
        match serde_json::from_str::<Answer>(&line) {
            Ok(Answer {
                error: Some(error), ..
            }) => Err(format!("DuckDB: {error}").into()),
            Ok(answer) => Ok(answer),
            Err(error) => {
                // The next line would answer this command, not the next.
                self.input = None;
                Err(format!("the peer answered {line:?}: {error}").into())
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        // Nothing can be done about a process that does not end well.
        let _ = self.child.wait();
    }
}

/// A path as a literal of SQL.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "''"))
}
