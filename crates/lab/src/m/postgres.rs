//! A PostgreSQL of our own, on a socket in a directory that is gone afterwards.

use crate::error::{Error, Result};
use crate::setting::Setting;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Whom the server runs as where we are root, which it refuses to be.
const SOMEBODY: &str = "postgres";
/// Where Debian keeps the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user within the database.
const USER: &str = "freestone";

/// The directory of its programs, of the newest version that is installed.
pub(crate) fn programs() -> Option<PathBuf> {
    let has = |folder: &PathBuf| {
        ["initdb", "pg_ctl"]
            .iter()
            .all(|one| folder.join(one).is_file())
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let version = |folder: &PathBuf| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let kept = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    versions.sort_by_key(version);
    let versions = versions.into_iter().rev().map(|folder| folder.join("bin"));
    versions.chain(env::split_paths(&path)).find(has)
}

/// A server with a database.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Data, log and socket.
    place: tempfile::TempDir,
    programs: PathBuf,
    running: bool,
}

impl Cluster {
    /// Makes one and starts it, if PostgreSQL is installed.
    ///
    /// # Errors
    /// If its programs fail.
    pub fn new(setting: &Setting) -> Result<Option<Cluster>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        // Not in the scratch directory: names of sockets are short, and another user may
        // not reach it.
        let place = tempfile::Builder::new()
            .prefix("freestone-lab-pg-")
            .tempdir()?;
        if rustix::process::geteuid().is_root() {
            done(Command::new("chown").arg(SOMEBODY).arg(place.path()))?;
        }
        let mut cluster = Cluster {
            place,
            programs,
            running: false,
        };
        let data = cluster.data();
        let mut command = cluster.as_somebody("initdb");
        command.args([
            "-A",
            "trust",
            "-U",
            USER,
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
            "-D",
        ]);
        done(command.arg(&data))?;
        cluster.configure(setting)?;
        cluster.start()?;
        Ok(Some(cluster))
    }

    /// Where its files are.
    pub fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    fn configure(&self, setting: &Setting) -> Result<()> {
        let mut file = OpenOptions::new()
            .append(true)
            .open(self.data().join("postgresql.conf"))?;
        let megabytes = (setting.memory >> 20).clamp(256, 1 << 15);
        write!(
            file,
            "\nlisten_addresses = ''\nunix_socket_directories = '{}'\nshared_buffers = '{}MB'\n\
             effective_cache_size = '{megabytes}MB'\nwork_mem = '{}MB'\n\
             maintenance_work_mem = '{}MB'\nmax_parallel_workers_per_gather = {}\n\
             max_wal_size = '8GB'\nfsync = off\n",
            self.place.path().display(),
            megabytes / 4,
            megabytes / 32,
            megabytes / 16,
            setting.threads.saturating_sub(1),
        )?;
        Ok(())
    }

    /// One of its programs, run by somebody who may.
    fn as_somebody(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = match rustix::process::geteuid().is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", SOMEBODY, "--"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.current_dir(self.place.path());
        command
    }

    fn control(&self, arguments: &[&str]) -> Result<()> {
        let mut command = self.as_somebody("pg_ctl");
        command.arg("-D").arg(self.data());
        command.arg("-l").arg(self.place.path().join("log"));
        // The server keeps what it is started with open; nobody waits for that.
        command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let status = command.stdin(Stdio::null()).status()?;
        if status.success() {
            return Ok(());
        }
        let log = fs::read_to_string(self.place.path().join("log")).unwrap_or_default();
        let last: Vec<&str> = log.lines().rev().take(3).collect();
        let message = format!(
            "pg_ctl {} failed: {}",
            arguments.join(" "),
            last.join(" / ")
        );
        Err(Error::new(message, ""))
    }

    /// Starts the server.
    ///
    /// # Errors
    /// With the end of its log.
    pub fn start(&mut self) -> Result<()> {
        self.control(&["-w", "-t", "120", "start"])?;
        self.running = true;
        Ok(())
    }

    /// Stops the server.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn stop(&mut self) -> Result<()> {
        self.running = false;
        self.control(&["-w", "-t", "120", "-m", "fast", "stop"])
    }

    /// Runs statements, or commands of psql; seconds of each statement.
    ///
    /// # Errors
    /// What psql says.
    pub fn run(&self, script: &str) -> Result<Vec<f64>> {
        let psql = self.programs.join("psql");
        let psql = if psql.is_file() { psql } else { "psql".into() };
        let mut child = Command::new(psql)
            .args([
                "-X",
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                USER,
                "-d",
                "postgres",
                "-h",
            ])
            .arg(self.place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            write!(input, "\\timing on\n\\o /dev/null\n{script}\n")?;
        }
        let output = checked("psql", child.wait_with_output()?)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let times = text.lines().filter_map(milliseconds);
        Ok(times.map(|milliseconds| milliseconds / 1e3).collect())
    }

    /// Its version, as `PostgreSQL 15.18`.
    pub fn version(&self) -> String {
        let output = Command::new(self.programs.join("pg_ctl"))
            .arg("--version")
            .output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let text = text.unwrap_or_default();
        let number = text
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        format!("PostgreSQL {}", number.unwrap_or("of an unknown version"))
    }

    /// Loads a table from a file of CSV.
    ///
    /// # Errors
    /// As [`Cluster::run`].
    pub fn load(&self, (table, columns): (&str, &str), file: &Path) -> Result<()> {
        let file = file.display();
        self.run(&format!(
            "CREATE TABLE {table} ({columns});\n\\copy {table} FROM '{file}' WITH (FORMAT csv)"
        ))
        .map(drop)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.running {
            // Its directory goes whatever becomes of it.
            let _ = self.stop();
        }
    }
}

/// The number of `Time: 12.345 ms (00:00.012)`.
fn milliseconds(line: &str) -> Option<f64> {
    let rest = line.strip_prefix("Time: ")?;
    rest.split_whitespace().next()?.parse().ok()
}

fn done(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output()?;
    checked(&name, output).map(drop)
}

fn checked(name: &str, output: Output) -> Result<Output> {
    match output.status.success() {
        true => Ok(output),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(Error::new(format!("{name} failed: {}", said.trim()), ""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(milliseconds("Time: 0.215 ms"), Some(0.215));
        assert_eq!(milliseconds("Time: 61234.5 ms (01:01.235)"), Some(61_234.5));
        assert_eq!(milliseconds("Timing is on."), None);
    }
}
