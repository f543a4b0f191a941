//! A server of Freestone with a database in memory, which goes with its owner.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::wire::Address;

/// A running server.
pub struct Served {
    process: Child,
    /// Where it listens.
    pub address: Address,
}

impl Served {
    /// Starts a program's server at a port that is free.
    ///
    /// # Errors
    /// It does not start, or does not say where it listens.
    pub fn start(program: &str) -> io::Result<Self> {
        let mut command = Command::new(program);
        let mut process = command
            .args(["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .spawn()?;
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
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
