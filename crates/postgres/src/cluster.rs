//! A PostgreSQL of our own, in directories that are gone afterwards.

use crate::installed::{SOMEBODY, usable};
use rustix::process::geteuid;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Result, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The user within the database.
pub const USER: &str = "freestone";
/// The port in the name of the socket.
pub const PORT: u16 = 5432;

/// A server with a database.
#[derive(Debug)]
pub struct Cluster {
    /// Data and log.
    place: tempfile::TempDir,
    /// The socket, among temporary files: its name has to be short.
    socket: tempfile::TempDir,
    programs: PathBuf,
    running: bool,
}

impl Cluster {
    /// Makes one in the scratch directory, with a locale and further lines of
    /// `postgresql.conf`, and starts it; if PostgreSQL cannot be used, why not.
    ///
    /// # Errors
    /// If its programs fail.
    pub fn new(
        scratch: &Path,
        locale: &str,
        configuration: &str,
    ) -> Result<std::result::Result<Cluster, String>> {
        // Its programs work in a directory of their own.
        let scratch = fs::canonicalize(scratch)?;
        if geteuid().is_root() {
            // The directory is this experiment's; others may enter it and not list it.
            fs::set_permissions(&scratch, Permissions::from_mode(0o711))?;
        }
        let programs = match usable(&scratch) {
            Ok(programs) => programs,
            Err(why) => return Ok(Err(why)),
        };
        let named = |directory: &Path| {
            let mut builder = tempfile::Builder::new();
            builder.prefix("freestone-pg-").tempdir_in(directory)
        };
        let (place, socket) = (named(&scratch)?, named(&std::env::temp_dir())?);
        if geteuid().is_root() {
            let mut chown = Command::new("chown");
            done(chown.arg(SOMEBODY).args([place.path(), socket.path()]))?;
        }
        let mut cluster = Cluster {
            place,
            socket,
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
            &format!("--locale={locale}"),
            "-N",
            "-D",
        ]);
        done(command.arg(&data))?;
        cluster.configure(configuration)?;
        cluster.start()?;
        Ok(Ok(cluster))
    }

    /// Where its files are.
    pub fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// The directory of its socket.
    pub fn socket(&self) -> &Path {
        self.socket.path()
    }

    fn configure(&self, configuration: &str) -> Result<()> {
        let mut file = OpenOptions::new()
            .append(true)
            .open(self.data().join("postgresql.conf"))?;
        write!(
            file,
            "\nlisten_addresses = ''\nunix_socket_directories = '{}'\n{configuration}\n",
            self.socket.path().display(),
        )?;
        Ok(())
    }

    /// One of its programs, run by somebody who may.
    fn as_somebody(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = match geteuid().is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", SOMEBODY, "--"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        // A caller's own server is none of its business.
        for name in ["PGPORT", "PGHOST", "PGDATA", "PGUSER", "PGDATABASE"] {
            command.env_remove(name);
        }
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
        Err(io::Error::other(message))
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
            .arg(self.socket.path())
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
            Err(io::Error::other(format!("{name} failed: {}", said.trim())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_lives_in_the_scratch_directory() {
        let folder = tempfile::tempdir().unwrap();
        let cluster = match Cluster::new(folder.path(), "C", "fsync = off").unwrap() {
            Ok(cluster) => cluster,
            Err(why) => {
                assert!(std::env::var_os("CI").is_none(), "not tested: {why}");
                // Not by the macro, whose text the harness hides when a test passes.
                writeln!(std::io::stderr(), "skipped: a cluster; {why}").unwrap();
                return;
            }
        };
        let scratch = fs::canonicalize(folder.path()).unwrap();
        assert!(cluster.data().starts_with(scratch));
        assert_eq!(cluster.run("SELECT 1;\nSELECT 2;").unwrap().len(), 2);
        let socket = cluster.socket.path().to_path_buf();
        drop(cluster);
        assert!(!socket.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn times_are_read() {
        assert_eq!(milliseconds("Time: 0.215 ms"), Some(0.215));
        assert_eq!(milliseconds("Time: 61234.5 ms (01:01.235)"), Some(61_234.5));
        assert_eq!(milliseconds("Timing is on."), None);
    }
}
