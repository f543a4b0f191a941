//! Transactions that are killed: all of each or nothing, and none that was
//! acknowledged is lost.
//!
//! The program reads transactions from a pipe and says each number when it has
//! committed it. After the kill the database must hold exactly the transactions up
//! to the last number that was said, or one more, which was under way. What a
//! transaction does follows from its number alone, so a model can do it again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use freestone::Database;

use super::check::{block_on, no_leftovers, verify};
use super::{Plan, Random};

const ACCOUNTS: u64 = 20_000;
/// A transaction of so many changes all accounts.
const MANY: u64 = 41;

/// How one round went.
#[derive(Debug)]
pub struct Killed {
    /// Transactions that the database holds, in all.
    pub held: u64,
    /// How many of them the program had said, in this round.
    pub said: u64,
}

/// What the tables should hold after some transactions.
#[derive(Debug, Default)]
struct Model {
    done: u64,
    balances: Vec<i64>,
    seen: u64,
    journal: BTreeMap<u64, u64>,
    tables: BTreeSet<u64>,
}

/// The accounts between which transaction `number` moves money, and how much.
fn transfer(number: u64) -> (u64, u64, i64) {
    let mut random = Random(number);
    let mut pick = |below: u64| (random.next() * below as f64) as u64 % below;
    (pick(ACCOUNTS), pick(ACCOUNTS), pick(1000) as i64)
}

impl Model {
    fn apply(&mut self, number: u64) {
        let (from, to, amount) = transfer(number);
        self.balances[from as usize] -= amount;
        self.balances[to as usize] += amount;
        self.journal.insert(number, from);
        self.journal = self.journal.split_off(&number.saturating_sub(500));
        if number.is_multiple_of(MANY) {
            self.seen = number;
        }
        if number.is_multiple_of(13) {
            self.tables.insert(number);
            self.tables = self.tables.split_off(&number.saturating_sub(100));
        }
        self.done = number;
    }
}

/// The statements of a transaction, and one that says its number.
fn statements(number: u64, tables: &BTreeSet<u64>) -> String {
    let (from, to, amount) = transfer(number);
    let mut sql = format!(
        "BEGIN;\n\
         UPDATE accounts SET balance = balance - {amount} WHERE id = {from};\n\
         UPDATE accounts SET balance = balance + {amount} WHERE id = {to};\n\
         INSERT INTO journal VALUES ({number}, {from}, 'from {from} to {to}');\n\
         DELETE FROM journal WHERE number < {};\n",
        number.saturating_sub(500)
    );
    if number.is_multiple_of(MANY) {
        let _ = writeln!(sql, "UPDATE accounts SET seen = {number};");
    }
    if number.is_multiple_of(13) {
        let _ = writeln!(sql, "CREATE TABLE t{number} (id BIGINT PRIMARY KEY);");
        let _ = writeln!(sql, "INSERT INTO t{number} VALUES ({number});");
        for old in tables.range(..number.saturating_sub(100)) {
            let _ = writeln!(sql, "DROP TABLE t{old};");
        }
    }
    if number.is_multiple_of(97) {
        let _ = writeln!(sql, "SAVEPOINT s; DELETE FROM accounts; ROLLBACK TO s;");
    }
    let _ = writeln!(sql, "COMMIT;\nSELECT {number};");
    sql
}

/// Kills the program so many times, `moment` being when after its start; the
/// database goes on from one round to the next.
///
/// # Errors
/// When the database cannot be set up, or does not hold what it should.
pub fn run(plan: &Plan, done: &dyn Fn(usize, &Killed)) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let place = folder.path().join("db");
    let mut model = prepare(&place)?;
    let mut random = Random(plan.seed);
    for round in 0..plan.rounds {
        let moment = Duration::from_secs_f64(0.02 + 0.6 * random.next());
        let said = killed(plan, &place, &model, moment)?;
        let held = compare(&place, &mut model, said)
            .map_err(|reason| format!("round {}, killed after {moment:?}: {reason}", round + 1))?;
        done(round, &held);
    }
    no_leftovers(&place)
}

fn prepare(place: &Path) -> Result<Model, String> {
    let database = Database::open(place).map_err(|error| error.to_string())?;
    let sql = format!(
        "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, seen BIGINT); \
         INSERT INTO accounts SELECT i, 0, 0 FROM generate_series(0, {}) AS g(i); \
         CREATE TABLE journal (number BIGINT PRIMARY KEY, account BIGINT, note TEXT)",
        ACCOUNTS - 1
    );
    block_on(database.session().execute(&sql))?.map_err(|error| error.to_string())?;
    Ok(Model {
        balances: vec![0; ACCOUNTS as usize],
        ..Model::default()
    })
}

/// Lets the program work until it is killed; the last number that it said.
fn killed(plan: &Plan, place: &Path, model: &Model, moment: Duration) -> Result<u64, String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut child = Command::new(&plan.program)
        .arg(place)
        .args(["--format", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(failed)?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("a process without pipes".into());
    };
    let (first, mut tables) = (model.done + 1, model.tables.clone());
    let feeder = std::thread::spawn(move || {
        for number in first.. {
            // The pipe breaks when its reader is killed.
            if input
                .write_all(statements(number, &tables).as_bytes())
                .is_err()
            {
                break;
            }
            if number.is_multiple_of(13) {
                tables.insert(number);
                tables = tables.split_off(&number.saturating_sub(100));
            }
        }
    });
    let listener = std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.filter_map(|line| line.parse::<u64>().ok()).max()
    });
    std::thread::sleep(moment);
    child.kill().map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    feeder.join().map_err(|_| "the feeder panicked")?;
    let said = listener.join().map_err(|_| "the listener panicked")?;
    if status.code().is_some() {
        return Err(format!("the program ended by itself: {status}"));
    }
    Ok(said.unwrap_or(model.done))
}

/// Compares the database with what it should hold.
fn compare(place: &Path, model: &mut Model, said: u64) -> Result<Killed, String> {
    let database =
        Database::open_existing(place).map_err(|error| format!("does not open: {error}"))?;
    verify(&database)?;
    let session = database.session();
    let rows = |sql: &str| -> Result<Vec<Vec<i64>>, String> {
        let prepared = session.prepare(sql).map_err(|error| error.to_string())?;
        let rows = block_on(prepared.rows(&session, &[]))?.map_err(|error| error.to_string())?;
        let number = |value: &Option<freestone::Value>| match value {
            Some(freestone::Value::Int(value)) => i64::try_from(*value).unwrap_or(i64::MIN),
            _ => i64::MIN,
        };
        Ok(rows
            .iter()
            .map(|row| row.iter().map(number).collect())
            .collect())
    };
    let journal = rows("SELECT number, account FROM journal ORDER BY number")?;
    let held = journal.last().map_or(0, |row| row[0] as u64);
    if held != said && held != said + 1 {
        return Err(format!(
            "transaction {said} was acknowledged, {held} is there"
        ));
    }
    let before = model.done;
    (before + 1..=held).for_each(|number| model.apply(number));
    let expected: Vec<Vec<i64>> = model
        .journal
        .iter()
        .map(|(number, account)| vec![*number as i64, *account as i64])
        .collect();
    if journal != expected {
        return Err(format!("the journal is not that of {held} transactions"));
    }
    let accounts = rows("SELECT id, balance, seen FROM accounts ORDER BY id")?;
    let expected = model.balances.iter().enumerate();
    let expected = expected.map(|(id, balance)| vec![id as i64, *balance, model.seen as i64]);
    if !accounts.into_iter().eq(expected) {
        return Err(format!("accounts are not those of {held} transactions"));
    }
    let snapshot = database.store().snapshot();
    let mut tables: Vec<u64> = snapshot
        .tables("main")
        .iter()
        .filter_map(|table| table.name.strip_prefix('t')?.parse().ok())
        .collect();
    tables.sort_unstable();
    if !tables.iter().eq(model.tables.iter()) {
        return Err(format!("tables {tables:?}, {:?} were made", model.tables));
    }
    Ok(Killed {
        held,
        said: said - before,
    })
}
