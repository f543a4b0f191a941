//! A server of Freestone that goes with its owner.
//!
//! Its database is in memory, or in a directory that another server may open after it. The owner goes
//! without a word: the process is killed, so that a directory is left as after a crash.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::wire::Address;

/// A running server.
pub struct Served {
    process: Child,
    /// Where it listens.
    pub address: Address,
}

impl Served {
    /// Starts a program's server at a port that is free, with a database in memory.
    ///
    /// # Errors
    /// It does not start, or does not say where it listens.
    pub fn start(program: &str) -> io::Result<Self> {
        Self::start_on(program, None)
    }

    /// Starts a program's server on a directory, if one is given.
    ///
    /// # Errors
    /// It does not start, or does not say where it listens.
    pub fn start_on(program: &str, directory: Option<&Path>) -> io::Result<Self> {
        let mut process = spawned(program, directory)?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let port = line.split(|c: char| !c.is_ascii_digit());
        let port = port
            .filter_map(|word| word.parse().ok())
            .find(|port| *port > 255);
        let Some(port) = port else {
            let _ = process.kill();
            let _ = process.wait();
            return Err(io::Error::other(format!("the server says {line:?}")));
        };
        let address = Address {
            host: "127.0.0.1".to_owned(),
            port,
            user: "postgres".to_owned(),
            database: "postgres".to_owned(),
        };
        Ok(Self { process, address })
    }

    /// Starts a program's server on a directory and kills it after some time, wherever it is then.
    ///
    /// # Errors
    /// It does not start.
    pub fn kill_starting(program: &str, directory: &Path, after: Duration) -> io::Result<()> {
        let mut process = spawned(program, Some(directory))?;
        std::thread::sleep(after);
        process.kill()?;
        process.wait()?;
        Ok(())
    }

    /// How the process has ended, if it has.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }
}

fn spawned(program: &str, directory: Option<&Path>) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(["serve", "--port", "0"]).args(directory);
    command.stdout(Stdio::piped()).spawn()
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
