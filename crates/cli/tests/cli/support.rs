//! Runs the binary.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The program under test, with a home of its own.
pub fn freestone() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freestone"));
    command.env_remove("RUST_LOG").env("NO_COLOR", "1");
    command
}

/// What a run came to.
pub struct Ran {
    /// Exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// The standard output of a run that must have succeeded.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self.out
    }

    /// The standard error of a run that must have failed.
    pub fn failed(self) -> String {
        assert_eq!(self.code, 1, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self.err
    }
}

/// Runs with arguments and no input.
pub fn run(arguments: &[&str]) -> Ran {
    let output = freestone().args(arguments).stdin(Stdio::null()).output();
    ran(output.expect("the program starts"))
}

/// Runs with arguments and standard input.
pub fn run_with(arguments: &[&str], input: &str) -> Ran {
    let mut command = freestone();
    command.args(arguments).stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    ran(child.wait_with_output().expect("it ends"))
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A database directory with a small table `t` of 3 rows and a view `v`.
pub fn sample() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("db").to_string_lossy().into_owned();
    let sql = "CREATE TABLE t (id INT NOT NULL, name VARCHAR(20), price DECIMAL(8,2)) WITH (layout = 'pax');
        INSERT INTO t VALUES (1, 'granite', 12.50), (2, NULL, 0), (3, 'a,\"b\"', -1.05);
        VACUUM;
        CREATE VIEW v AS SELECT id FROM t WHERE price > 0";
    run(&[&db, "-c", sql]).ok();
    (folder, db)
}
