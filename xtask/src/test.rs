//! Runs every test of the project, step by step, and adds up what they say.
//!
//! A step that fails does not keep later ones from running, so one run shows
//! all that is broken. The last line is `N passed, N failed, N skipped`, summed
//! over the steps; the exit code is 1 when anything failed.
//!
//! Every step uses the release profile: it is the only one, so that the
//! dependencies are built once (`docs/decisions/0002-one-profile.md`).

mod counts;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use counts::Counts;

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All that `make test` promises.
    All,
    /// Without clients by registry, sqllogictest and the kill test.
    Quick,
}

struct Step {
    name: &'static str,
    command: Command,
}

/// Runs the steps and prints the sum.
pub fn run(root: &Path, extent: Extent) -> ExitCode {
    let mut sum = Counts::default();
    let mut lines = Vec::new();
    for mut step in steps(root, extent) {
        println!("\n=== {} ===", step.name);
        let start = Instant::now();
        let counts = execute(&mut step.command);
        let seconds = start.elapsed().as_secs_f64();
        lines.push(format!("{:<28} {seconds:>7.1} s   {counts}", step.name));
        sum += counts;
    }
    println!("\n=== summary ===");
    for line in lines {
        println!("{line}");
    }
    println!("{sum}");
    match sum.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn steps(root: &Path, extent: Extent) -> Vec<Step> {
    let binaries = std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(Path::to_path_buf))
        .unwrap_or_else(|| root.join("target/release"));
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let step = |name, program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root);
        Step { name, command }
    };
    let mut steps = vec![
        step("format", &cargo, &["fmt", "--all", "--check"]),
        step("tidy", &binaries.join("xtask"), &["tidy"]),
        step("clippy", &binaries.join("xtask"), &["lint"]),
        step(
            "build",
            &cargo,
            &["build", "--release", "--workspace", "--locked"],
        ),
        step(
            "cargo test",
            &cargo,
            &[
                "test",
                "--release",
                "--workspace",
                "--locked",
                "--no-fail-fast",
            ],
        ),
    ];
    // A workspace of its own, which nothing else compiles.
    let fuzz = "fuzz/Cargo.toml";
    steps.push(step(
        "seeds of fuzz targets",
        &cargo,
        &["test", "--release", "--locked", "--manifest-path", fuzz],
    ));
    let clients = "clients/rust/Cargo.toml";
    let mut wire = step(
        "wire protocol",
        &cargo,
        &["test", "--release", "--locked", "--manifest-path", clients],
    );
    wire.command.env("FREESTONE", binaries.join("freestone"));
    steps.push(wire);
    let mut corpus = step(
        "corpus of the referee",
        &binaries.join("referee"),
        &["corpus"],
    );
    corpus
        .command
        .arg("--serve")
        .arg(binaries.join("freestone"));
    // It would look for its files in the folder of this program.
    corpus.command.env_remove("CARGO_MANIFEST_DIR");
    steps.push(corpus);
    // The same statements each time; `make referee` draws others.
    let mut random = step(
        "random statements beside PostgreSQL",
        &binaries.join("referee"),
        &["generate", "--own", "--statements", "20000", "--seed", "31"],
    );
    random
        .command
        .arg("--serve")
        .arg(binaries.join("freestone"));
    random.command.env_remove("CARGO_MANIFEST_DIR");
    steps.push(random);
    let package = root.join("crates/python/run-tests.sh");
    let mut python = step("Python package", &package, &[]);
    python.command.arg(binaries.join("lib_freestone.so"));
    steps.push(python);
    if extent == Extent::All {
        let mut clients = step("clients by registry", &root.join("clients/run.sh"), &[]);
        clients.command.arg(binaries.join("freestone"));
        steps.push(clients);
        steps.push(step("sqllogictest", &binaries.join("slt"), &["data/slt"]));
        steps.push(step(
            "kill, 5 moments",
            &binaries.join("kill"),
            &["--rounds", "5"],
        ));
        steps.push(step(
            "kill, transactions",
            &binaries.join("kill"),
            &["--transactions", "--rounds", "10"],
        ));
        for level in ["read-committed", "repeatable-read", "serializable"] {
            let name = "kill, lists that clients append to";
            let mut appends = step(name, &binaries.join("referee"), &["appends"]);
            appends
                .command
                .args([
                    "--isolation",
                    level,
                    "--transactions",
                    "2000",
                    "--kills",
                    "2",
                ])
                .arg("--serve")
                .arg(binaries.join("freestone"));
            steps.push(appends);
        }
    }
    steps
}

/// Runs one step, passing its output on. A step that reports no counts of its
/// own is one test, which its exit code decides.
fn execute(command: &mut Command) -> Counts {
    let mut counts = Counts::default();
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            println!(
                "cannot start {}: {error}",
                command.get_program().to_string_lossy()
            );
            return Counts::one(false);
        }
    };
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            counts += Counts::read(&line);
        }
    }
    let success = child.wait().is_ok_and(|status| status.success());
    match counts == Counts::default() || (!success && counts.failed == 0) {
        true => counts + Counts::one(success),
        false => counts,
    }
}
