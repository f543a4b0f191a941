//! The shell at a terminal: Python's `pty` makes one.

use crate::support::sample;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A shell at a terminal, what it has printed, and where we have read to.
struct Terminal {
    child: Child,
    printed: Arc<Mutex<Vec<u8>>>,
    seen: usize,
    _home: tempfile::TempDir,
}

impl Terminal {
    fn open(db: &str) -> Terminal {
        let home = tempfile::tempdir().expect("a folder");
        Terminal::open_at(db, home)
    }

    fn open_at(db: &str, home: tempfile::TempDir) -> Terminal {
        let spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
        let mut child = Command::new("python3")
            .args(["-c", spawn, env!("CARGO_BIN_EXE_freestone"), db])
            .env("XDG_STATE_HOME", home.path())
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("python3 is there");
        let printed = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&printed);
        let mut output = child.stdout.take().expect("piped");
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                sink.lock()
                    .expect("not poisoned")
                    .extend_from_slice(&buffer[..read]);
            }
        });
        Terminal {
            child,
            printed,
            seen: 0,
            _home: home,
        }
    }

    fn type_in(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().expect("piped");
        input.write_all(text.as_bytes()).expect("it reads");
        input.flush().expect("it reads");
    }

    /// Waits until the text is printed after what was waited for before.
    fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            let printed = self.printed.lock().expect("not poisoned").clone();
            let new = String::from_utf8_lossy(&printed[self.seen..]).into_owned();
            if let Some(at) = new.find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "no {text:?} in {new:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn ends_with(mut self, code: i32) -> tempfile::TempDir {
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code));
        self._home
    }
}

#[test]
fn a_session() {
    let (_folder, db) = sample();
    let mut shell = Terminal::open(&db);
    shell.wait_for("help");
    shell.wait_for("db> ");
    // A statement over two lines, with a semicolon that does not end it.
    shell.type_in("SELECT ';' AS semi,\r");
    shell.type_in("  count(*) AS n FROM t;\r");
    shell.wait_for("semi");
    shell.wait_for("(1 row)");
    shell.wait_for("db> ");
    shell.type_in("\\dt\r");
    shell.wait_for("1 pax");
    shell.wait_for("db> ");
    // Tab completes the only table that starts so.
    shell.type_in("DESCRIBE gran\x15SELECT pri\t FROM t ORDER BY id LIMIT 1;\r");
    shell.wait_for("12.50");
    shell.wait_for("db> ");
    shell.type_in("SELECT nosuch FROM t;\r");
    shell.wait_for("ERROR 42703");
    shell.wait_for("db> ");
    // Ctrl-D leaves.
    shell.type_in("\x04");
    let home = shell.ends_with(0);
    let history = std::fs::read_to_string(home.path().join("freestone/history")).expect("kept");
    assert!(history.contains("count(*)"), "{history}");
}

#[test]
fn long_results_are_cut_and_counted() {
    let (_folder, db) = sample();
    let mut shell = Terminal::open(&db);
    shell.wait_for("db> ");
    shell.type_in("SELECT value FROM generate_series(1, 1000) AS g(value);\r");
    shell.wait_for("(1000 rows, 40 shown)");
    shell.type_in("\\q\r");
    shell.ends_with(0);
}

#[test]
fn ctrl_c_cancels_the_query_and_not_the_shell() {
    let (_folder, db) = sample();
    let mut shell = Terminal::open(&db);
    shell.wait_for("db> ");
    shell.type_in(
        "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b;\r",
    );
    std::thread::sleep(Duration::from_millis(700));
    shell.type_in("\x03");
    shell.wait_for("cancelled");
    shell.wait_for("db> ");
    // At the prompt it only clears the line.
    shell.type_in("SELECT 1\x03");
    shell.wait_for("db> ");
    shell.type_in("SELECT 40 + 2 AS answer;\r");
    shell.wait_for("42");
    shell.type_in("exit\r");
    shell.ends_with(0);
}
