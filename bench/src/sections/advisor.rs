//! What the advisor picks beside the best of all designs, for workloads that none of its
//! constants were fitted on.

mod workloads;

use self::workloads::{WORKLOADS, Workload};
use crate::Result;
use crate::bench::{Bench, session};
use crate::ours;
use crate::report::{Bar, Row, Section};
use arrow::array::{Array, AsArray};
use freestone::{Database, Session};
use std::time::Instant;
use tokio::runtime::Runtime;

/// Layouts that are tried.
const LAYOUTS: [&str; 5] = ["row", "column", "pax", "dsm", "inverted"];
/// Designs that are measured again beside the default and the advised one.
const FINALISTS: usize = 3;
/// How often those are loaded, and run the workload in turns then: where a table happens to
/// lie in memory makes a tenth of its time.
const LOADS: usize = 3;
const TURNS: usize = 3;
/// What takes little time is run more often, for about so many seconds of each design.
const SECONDS: f64 = 0.2;
/// At most so many times as long as the best design, and as the default.
const BEST: f64 = 1.15;
const DEFAULT: f64 = 1.05;

/// A design: its statements, and the seconds of each run of the workload.
struct Design {
    name: String,
    statements: Vec<String>,
    seconds: Vec<f64>,
}

/// Measures the section.
///
/// # Errors
/// Those of the statements.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    let mut rows = Vec::new();
    let wanted = |workload: &&Workload| workload.name.contains(&bench.workload);
    for workload in WORKLOADS.iter().filter(wanted) {
        eprintln!("advisor: {}", workload.name);
        let advised = advised(&bench.runtime, workload)?;
        eprintln!("  advice: {}", advised.name);
        let designs = finalists(bench, workload, advised)?;
        // The first is what is judged, the second the default; no advice is the default.
        let advised = designs[0].seconds();
        let default = designs.iter().find(|design| design.statements.is_empty());
        let default = default.map_or(advised, Design::seconds);
        for design in &designs {
            eprintln!("  {:.1} ms: {}", design.seconds() * 1e3, design.name);
        }
        let best = designs.iter().map(Design::seconds);
        let best = best.fold(f64::INFINITY, f64::min);
        let what = format!("{}: advised over best", workload.name);
        rows.push(Row::new(what, "x", advised / best).bar(Bar::AtMost(BEST)));
        let what = format!("{}: advised over default", workload.name);
        rows.push(Row::new(what, "x", advised / default).bar(Bar::AtMost(DEFAULT)));
    }
    let note =
        "12 workloads over 3 schemas; the best of 5 layouts, sorted or not, with an index or not";
    Ok(Section::new("advisor", note, rows))
}

/// The advised design, the default if it is another, and the best of all others; what they
/// took when they ran the workload in turns.
fn finalists(bench: &Bench, workload: &Workload, advised: Design) -> Result<Vec<Design>> {
    let mut others = designs(workload);
    for design in &mut others {
        for _ in 0..bench.rounds.min(3) {
            let (_database, session) = loaded(&bench.runtime, workload, &design.statements)?;
            design.run(&bench.runtime, &session, workload)?;
        }
    }
    let default = others.remove(0);
    others.sort_by(|one, two| one.seconds().total_cmp(&two.seconds()));
    others.truncate(FINALISTS);
    let default = (!advised.statements.is_empty()).then_some(default);
    let mut all: Vec<Design> = std::iter::once(advised)
        .chain(default)
        .chain(others)
        .collect();
    for design in &mut all {
        design.seconds.clear();
    }
    for _ in 0..LOADS {
        in_turns(bench, workload, &mut all)?;
        // The next ones are loaded in another order.
        all.rotate_left(1);
    }
    let designs = all.len();
    all.rotate_right(LOADS % designs);
    Ok(all)
}

/// Loads designs, and runs the workload on one after the other.
fn in_turns(bench: &Bench, workload: &Workload, all: &mut [Design]) -> Result<()> {
    let sessions = all.iter();
    let sessions = sessions.map(|one| loaded(&bench.runtime, workload, &one.statements));
    let sessions = sessions.collect::<Result<Vec<_>>>()?;
    let (mut turn, mut turns, mut quickest) = (0, TURNS, f64::INFINITY);
    while turn <= turns {
        // Each begins once: what follows another finds what that left behind.
        for place in 0..all.len() {
            let place = (place + turn) % all.len();
            let (design, (_, session)) = (&mut all[place], &sessions[place]);
            let seconds = run(&bench.runtime, session, workload.statements)?;
            quickest = quickest.min(seconds);
            // At first nothing was in the caches.
            if turn > 0 {
                design.seconds.push(seconds);
            }
        }
        turns = TURNS.max((SECONDS / quickest) as usize);
        turn += 1;
    }
    Ok(())
}

/// All designs, the default first.
fn designs(workload: &Workload) -> Vec<Design> {
    let table = (workload.table)();
    let mut all = vec![Design::new("default", Vec::new())];
    for layout in LAYOUTS {
        for sort in ["", table.sort] {
            for index in ["", table.index] {
                let mut name = format!("layout {layout}");
                let set = format!("ALTER TABLE t SET (layout = '{layout}', sort_by = '{sort}')");
                let mut statements = vec![set];
                if !sort.is_empty() {
                    name.push_str(&format!(", sorted by {sort}"));
                }
                if !index.is_empty() {
                    name.push_str(&format!(", index on {index}"));
                    statements.push(format!("CREATE INDEX i ON t ({index})"));
                }
                if (layout, sort, index) != ("column", "", "") {
                    all.push(Design::new(&name, statements));
                }
            }
        }
    }
    all
}

/// The design that the advisor gives after the workload has run on the default.
fn advised(runtime: &Runtime, workload: &Workload) -> Result<Design> {
    let (_database, session) = loaded(runtime, workload, &[])?;
    run(runtime, &session, workload.before)?;
    run(runtime, &session, workload.statements)?;
    let (_, rows) = ours::run(runtime, &session, "ADVISE TABLE t")?;
    let mut statements = Vec::new();
    let mut note = String::new();
    for batch in &rows {
        let text = |name: &str| {
            batch
                .column_by_name(name)
                .map(|column| column.as_string_view())
        };
        if let Some(found) = text("statements").filter(|all| all.is_valid(0)) {
            statements.extend(found.value(0).split(";\n").map(String::from));
        }
        note = text("note").map_or(note, |note| note.value(0).to_owned());
    }
    Ok(Design::new(&note, statements))
}

/// A database with the table of a workload in a design.
fn loaded(
    runtime: &Runtime,
    workload: &Workload,
    design: &[String],
) -> Result<(Database, Session)> {
    let database = Database::in_memory();
    let session = session(&database);
    let table = (workload.table)();
    let mut statements = vec![
        format!(
            "CREATE TABLE t ({}) WITH (block_bytes = '4MiB')",
            table.columns
        ),
        format!(
            "INSERT INTO t SELECT {} FROM (SELECT value AS n FROM generate_series(1::BIGINT, {}) AS g(value))",
            table.values, table.rows
        ),
    ];
    statements.extend(design.iter().cloned());
    // What is left to do in the background is done before.
    statements.extend(["VACUUM t".into(), "RESET WORKLOAD".into()]);
    for statement in &statements {
        ours::run(runtime, &session, statement)?;
    }
    Ok((database, session))
}

/// Runs statements in turns, and what they leave to the tuple mover.
fn run(runtime: &Runtime, session: &Session, statements: &[(&str, usize)]) -> Result<f64> {
    let begin = Instant::now();
    let most = statements
        .iter()
        .map(|(_, times)| *times)
        .max()
        .unwrap_or(0);
    let mut number: u64 = 1;
    for turn in 0..most {
        for (sql, times) in statements {
            // As evenly as it goes.
            let due = (turn + 1) * times / most - turn * times / most;
            for _ in 0..due {
                number = number
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let random = number >> 33;
                let sql = sql.replace('@', &(random % 900 + 1).to_string());
                let sql = sql.replace('#', &(random % 1400).to_string());
                ours::run(runtime, session, &sql)?;
            }
        }
    }
    if statements.iter().any(|(sql, _)| sql.starts_with("UPDATE")) {
        ours::run(runtime, session, "VACUUM t")?;
    }
    Ok(begin.elapsed().as_secs_f64())
}

impl Design {
    fn new(name: &str, statements: Vec<String>) -> Design {
        Design {
            name: name.to_owned(),
            statements,
            seconds: Vec::new(),
        }
    }

    /// The least of its runs.
    fn seconds(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn run(&mut self, runtime: &Runtime, session: &Session, workload: &Workload) -> Result<()> {
        self.seconds
            .push(run(runtime, session, workload.statements)?);
        Ok(())
    }
}
