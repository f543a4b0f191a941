//! Another engine in a process of its own, asked in lines of JSON; see its script.

use crate::engine::Engine;
use crate::ours::Cells;
use crate::schema::Table;
use crate::{Result, venv};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running peer.
pub struct Peer {
    engine: Engine,
    /// Known once a database was opened.
    version: String,
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
    /// Whether the statement was stopped; its seconds are then what it was given.
    pub timed_out: bool,
    /// Size of a file.
    pub bytes: u64,
    /// The engine's, when it opens a database.
    pub version: String,
    /// What has to be installed before it can be used.
    pub missing: Option<String>,
}

impl Peer {
    /// Starts the engine's script with an interpreter that has its packages.
    ///
    /// # Errors
    /// In words: what cannot be installed or started.
    pub fn start(engine: Engine) -> Result<Peer> {
        let python = venv::python(engine)?;
        let mut child = Command::new(python)
            // Isolated: nothing in the current folder stands in for a package.
            .args(["-I", "-u", "-c", &engine.script()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the peer has no output")?;
        let mut peer = Peer {
            engine,
            version: String::new(),
            child,
            input,
            output: BufReader::new(output),
        };
        match peer.ask(&json!({"ready": true}))?.missing {
            Some(missing) => Err(format!("{engine} is not installed: {missing}").into()),
            None => Ok(peer),
        }
    }

    /// What it speaks for.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The engine with its version, once a database was opened.
    pub fn name(&self) -> String {
        format!("{} {}", self.engine, self.version)
    }

    /// Opens a database file in place of the one that was open.
    ///
    /// # Errors
    /// The engine's.
    pub fn open(&mut self, path: &Path, threads: usize) -> Result<()> {
        let answer = self.ask(&json!({"open": path, "threads": threads}))?;
        self.version = answer.version;
        Ok(())
    }

    /// Creates tables and fills them, with the keys and indexes that help the engine.
    ///
    /// # Errors
    /// The engine's.
    pub fn load(&mut self, tables: &[(Table, PathBuf)]) -> Result<()> {
        let table = |(table, file): &(Table, PathBuf)| {
            let (name, columns) = (table.name(), table.columns());
            json!({"table": name, "columns": columns, "file": file})
        };
        let tables: Vec<Value> = tables.iter().map(table).collect();
        self.ask(&json!({"load": tables}))?;
        Ok(())
    }

    /// Seconds that each statement may take from now on.
    ///
    /// # Errors
    /// The engine's.
    pub fn limit(&mut self, seconds: u64) -> Result<()> {
        self.ask(&json!({"timeout": seconds}))?;
        Ok(())
    }

    /// Closes the open database, if there is one.
    ///
    /// # Errors
    /// The engine's.
    pub fn close(&mut self) -> Result<()> {
        self.ask(&json!({"close": true}))?;
        Ok(())
    }

    /// Runs a statement once.
    ///
    /// # Errors
    /// The engine's.
    pub fn run(&mut self, sql: &str) -> Result<Answer> {
        self.ask(&json!({"sql": sql}))
    }

    /// Runs a query once and fetches its result.
    ///
    /// # Errors
    /// The engine's.
    pub fn fetch(&mut self, sql: &str) -> Result<Answer> {
        self.ask(&json!({"sql": sql, "fetch": true}))
    }

    /// Runs a prepared statement once for each key.
    ///
    /// # Errors
    /// The engine's.
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
            }) => Err(format!("{}: {error}", self.engine).into()),
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
