//! Clients of a server that is killed, and their history.
//!
//! Each client has a thread and a connection. The server is killed at random moments and started again
//! on the same directory; clients connect again and go on. After one more kill a new process tells the
//! lists that are left, once by a scan of the tables and once by each index.
//!
//! ```text
//! client 0   T0 ── T1 ── T2 ──╳          T3 ── T4 ──╳  ⋯
//! client 1   T5 ──── T6 ──────╳          T7 ────────╳  ⋯
//! server     ─────────────── kill  start ───────── kill  start ── lists that are left
//! ```
//!
//! The end of a transaction is what its client was told. A connection that is lost before COMMIT was
//! sent aborts it. A connection that is lost while COMMIT or a statement without BEGIN is under way
//! leaves it unknown.
//!
//! Left out: a kill of the machine, and limits of memory and disk.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::draw::{Form, Keys, Plan, Space, Statement};
use super::{GARBAGE, History, Isolation, NONE, Outcome, parsed};
use crate::answer::{Answer, Failure, Side};
use crate::random::Random;
use crate::served::Served;
use crate::wire::{Address, Wire};

/// The time between two looks at the server.
const MOMENT: Duration = Duration::from_millis(2);
/// The longest wait for a server that takes connections.
const PATIENCE: Duration = Duration::from_secs(120);
/// Keys of a statement that reads what is left.
const CHUNK: usize = 50;

/// The rules of a run.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Transactions of all clients.
    pub transactions: usize,
    /// Clients.
    pub clients: usize,
    /// Kills; none if the server is not ours.
    pub kills: usize,
    /// The level of all transactions.
    pub isolation: Isolation,
    /// A seed of what is drawn.
    pub seed: u64,
    /// Keys and tables.
    pub space: Space,
}

/// The server that is asked.
pub enum Target<'a> {
    /// A program that is started on a directory.
    Program(&'a str, &'a Path),
    /// A server that runs already.
    Running(Address),
}

/// A run that has ended.
pub struct Ran {
    /// The history.
    pub history: History,
    /// How often the server was killed while clients were at work or before the last reads,
    pub kills: usize,
    /// and while it was starting.
    pub killed_starts: usize,
    /// Failures by their SQLSTATE, with how often each was met and its first message.
    pub failures: BTreeMap<String, (usize, String)>,
    /// Faults that are no matter of the history.
    pub faults: Vec<String>,
}

/// A directory that is removed at the end unless it is kept.
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it stays.
    pub is_kept: bool,
}

impl Folder {
    /// A new directory for temporary files.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Self> {
        let name = format!("freestone-appends-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self {
            path,
            is_kept: false,
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// The state that clients share.
struct Shared {
    rules: Rules,
    keys: Keys,
    /// The server's address while it runs, and how often it was started.
    server: Mutex<(usize, Option<Address>)>,
    /// Transactions that have begun,
    begun: AtomicUsize,
    /// and that have ended.
    ended: AtomicUsize,
    /// Clients that have no more to do.
    gone: AtomicUsize,
    /// The time, which goes on at each beginning and each end.
    clock: AtomicU32,
    /// Whether the run is given up.
    stopped: AtomicBool,
    failures: Mutex<BTreeMap<String, (usize, String)>>,
    faults: Mutex<Vec<String>>,
}

impl Shared {
    fn now(&self) -> u32 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn publish(&self, address: Option<Address>) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.0 += usize::from(address.is_some());
        server.1 = address;
    }

    fn server(&self) -> (usize, Option<Address>) {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.clone()
    }

    fn count(&self, failure: &Failure) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let first = || (0, failure.message.clone());
        let entry = failures.entry(failure.sqlstate.clone());
        entry.or_insert_with(first).0 += 1;
    }

    fn fault(&self, fault: String) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push(fault);
    }

    /// Connects to the server, which may have to be started first.
    fn connect(&self) -> io::Result<(usize, Wire)> {
        let until = Instant::now() + PATIENCE;
        loop {
            let error = match self.server() {
                (number, Some(address)) => match connected(&address, self.rules.isolation) {
                    Ok(wire) => return Ok((number, wire)),
                    Err(error) => error,
                },
                (_, None) => io::Error::other("the server does not run"),
            };
            if self.stopped.load(Ordering::Relaxed) || Instant::now() > until {
                return Err(error);
            }
            thread::sleep(10 * MOMENT);
        }
    }
}

/// A session whose transactions are of a level.
fn connected(address: &Address, level: Isolation) -> io::Result<Wire> {
    let mut wire = Wire::connect(address)?;
    // PostgreSQL waits a second before it looks for deadlocks. A server may not know the setting.
    asked(&mut wire, "SET deadlock_timeout = '5ms'")?;
    let level = level.name();
    let level = format!("SET default_transaction_isolation = '{level}'");
    told(&mut wire, &level)?;
    Ok(wire)
}

/// The answer to a statement that has to be accepted.
fn told(wire: &mut Wire, statement: &str) -> io::Result<Answer> {
    let answer = asked(wire, statement)?;
    match &answer.rows {
        Ok(_) => Ok(answer),
        Err(failure) => {
            let (state, message) = (&failure.sqlstate, &failure.message);
            Err(io::Error::other(format!("{statement}: {state} {message}")))
        }
    }
}

/// The answer to a statement.
fn asked(wire: &mut Wire, statement: &str) -> io::Result<Answer> {
    let answers = wire.ask(&[statement.to_owned()])?;
    let none = || io::Error::other("a statement has no answer");
    answers.into_iter().next().ok_or_else(none)
}

/// Has clients work on a server, kills it, and reads what is left.
///
/// # Errors
/// The server does not start again, or does not take connections.
pub fn run(rules: Rules, target: &Target<'_>) -> io::Result<Ran> {
    let mut served = match target {
        Target::Program(program, folder) => Some(Served::start_on(program, Some(folder))?),
        Target::Running(_) => None,
    };
    let address = match (&served, target) {
        (Some(served), _) => Some(served.address.clone()),
        (None, Target::Running(address)) => Some(address.clone()),
        (None, Target::Program(..)) => None,
    };
    let shared = Shared {
        rules,
        keys: Keys::new(rules.space),
        server: Mutex::new((0, None)),
        begun: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
        gone: AtomicUsize::new(0),
        clock: AtomicU32::new(0),
        stopped: AtomicBool::new(false),
        failures: Mutex::default(),
        faults: Mutex::default(),
    };
    shared.publish(address);
    let (_, mut wire) = shared.connect()?;
    let tables = (0..rules.space.tables).map(|table| format!("l{table}"));
    let tables = tables.collect::<Vec<_>>().join(", ");
    told(&mut wire, &format!("DROP TABLE IF EXISTS {tables}"))?;
    for statement in rules.space.setup() {
        told(&mut wire, &statement)?;
    }
    drop(wire);
    let mut random = Random::new(rules.seed);
    let (mut kills, mut killed_starts) = (0, 0);
    let mut history = History::default();
    thread::scope(|scope| -> io::Result<()> {
        let shared = &shared;
        let clients = (0..rules.clients as u16).map(|number| {
            scope.spawn(move || {
                let history = Client::new(shared, number).work();
                shared.gone.fetch_add(1, Ordering::SeqCst);
                history
            })
        });
        let clients: Vec<_> = clients.collect();
        if let (Target::Program(program, folder), Some(first)) = (target, served.take()) {
            let killer = Killer {
                shared,
                program,
                folder,
            };
            let killed = killer.work(first, &mut random);
            shared.stopped.store(killed.is_err(), Ordering::SeqCst);
            let last;
            (last, kills, killed_starts) = killed?;
            served = Some(last);
        }
        for client in clients {
            let gone = |_| io::Error::other("a client panicked");
            history.join(client.join().map_err(gone)??);
        }
        Ok(())
    })?;
    if let Target::Program(program, folder) = target {
        shared.publish(None);
        drop(served.take());
        kills += 1;
        let last = Served::start_on(program, Some(folder))?;
        shared.publish(Some(last.address.clone()));
        served = Some(last);
    }
    let left = left(&shared, &mut history)?;
    history.leave(&left);
    drop(served);
    let failures = shared.failures.into_inner();
    let faults = shared.faults.into_inner();
    Ok(Ran {
        history,
        kills,
        killed_starts,
        failures: failures.unwrap_or_else(PoisonError::into_inner),
        faults: faults.unwrap_or_else(PoisonError::into_inner),
    })
}

/// Kills the server and starts it again.
struct Killer<'a> {
    shared: &'a Shared,
    program: &'a str,
    folder: &'a Path,
}

impl Killer<'_> {
    /// Works until all clients are gone; the last server, its kills, and those while it was starting.
    fn work(&self, mut server: Served, random: &mut Random) -> io::Result<(Served, usize, usize)> {
        let rules = &self.shared.rules;
        let marks = (0..rules.kills).map(|_| random.below(rules.transactions));
        let mut marks: Vec<usize> = marks.collect();
        marks.sort_unstable();
        let mut marks = marks.into_iter().peekable();
        let (mut kills, mut killed_starts) = (0, 0);
        loop {
            let is_over = self.shared.gone.load(Ordering::SeqCst) == rules.clients;
            let ended = self.shared.ended.load(Ordering::Relaxed);
            if let Some(status) = server.ended()? {
                let fault = format!("the server ended by itself, {status}");
                self.shared.fault(fault);
            } else if marks.next_if(|mark| is_over || ended >= *mark).is_some() {
                thread::sleep(Duration::from_micros(random.below(30_000) as u64));
                kills += 1;
            } else if is_over {
                return Ok((server, kills, killed_starts));
            } else {
                thread::sleep(MOMENT);
                continue;
            }
            self.shared.publish(None);
            drop(server);
            while random.percent(30) {
                let after = Duration::from_micros(random.below(100_000) as u64);
                Served::kill_starting(self.program, self.folder, after)?;
                killed_starts += 1;
            }
            server = Served::start_on(self.program, Some(self.folder))?;
            self.shared.publish(Some(server.address.clone()));
        }
    }
}

/// The lists that are left, by scans; reads by the indexes are added to the history.
fn left(shared: &Shared, history: &mut History) -> io::Result<Vec<Vec<u32>>> {
    let space = shared.rules.space;
    let (_, mut wire) = shared.connect()?;
    let mut lists = vec![Vec::new(); shared.keys.end() as usize];
    for table in 0..space.tables {
        let answer = told(&mut wire, &format!("SELECT k, v FROM l{table}"))?;
        for row in answer.rows.unwrap_or_default() {
            let mut cells = row.iter().map(|cell| cell.as_deref().unwrap_or("?"));
            let (key, list) = (cells.next().unwrap_or("?"), cells.next().unwrap_or("?"));
            let key = key.parse().ok().filter(|key| space.table(*key) == table);
            match key.and_then(|key| lists.get_mut(key as usize)) {
                Some(known) => known.extend(parsed(list)),
                None => shared.fault(format!("l{table} has a row ({})", row_shown(&row))),
            }
        }
    }
    let keys: Vec<u32> = (0..shared.keys.end()).collect();
    for table in 0..space.tables {
        let of = keys
            .iter()
            .copied()
            .filter(|key| space.table(*key) == table);
        let of: Vec<u32> = of.collect();
        for keys in of.chunks(CHUNK) {
            let targets = keys.iter().map(|key| (*key, NONE)).collect();
            let statement = Statement {
                form: Form::Several,
                undone: false,
                targets,
                base: Vec::new(),
            };
            let others: Vec<String> = keys.iter().map(|key| format!("-{key}")).collect();
            let others = others.join(", ");
            let by_other = format!("SELECT k, v FROM l{table} WHERE g IN ({others})");
            for text in [statement.text(space), by_other] {
                history.begin(shared.rules.clients as u16, true, shared.now());
                let answer = told(&mut wire, &text)?;
                for (key, list) in reads(&statement, &answer.rows.unwrap_or_default()) {
                    history.read(0, statement.form, key, &list);
                    let known = lists.get(key as usize);
                    if known.is_some_and(|known| *known != list) {
                        let fault = format!("{text}: the list of key {key} is not that of a scan");
                        shared.fault(fault);
                    }
                }
                history.end(Outcome::Committed, shared.now());
            }
        }
    }
    Ok(lists)
}

fn row_shown(row: &[Option<String>]) -> String {
    let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("∅"));
    cells.collect::<Vec<_>>().join(", ")
}

/// The lists that a statement reads, one for each of its keys.
fn reads(statement: &Statement, rows: &[Vec<Option<String>>]) -> Vec<(u32, Vec<u32>)> {
    let keys = statement.targets.iter().map(|(key, _)| (*key, Vec::new()));
    let mut lists: Vec<(u32, Vec<u32>)> = keys.collect();
    for row in rows {
        let key = match row.as_slice() {
            [Some(key), _] => key.parse().ok(),
            [_] => lists.first().map(|(key, _)| *key),
            _ => None,
        };
        let list = row.last().and_then(Option::as_deref).map(parsed);
        let list = list.unwrap_or_else(|| vec![GARBAGE]);
        match lists.iter_mut().find(|(of, _)| Some(*of) == key) {
            Some((_, known)) => known.extend(list),
            // A row of a key that was not asked for.
            None => lists.extend(key.map(|key| (key, vec![GARBAGE]))),
        }
    }
    lists
}

/// A client.
struct Client<'a> {
    shared: &'a Shared,
    number: u16,
    random: Random,
    history: History,
    /// Its connection, and the number of the server's start.
    wire: Option<(usize, Wire)>,
    /// Lists that the transaction may replace.
    known: Vec<(u32, Vec<u32>)>,
}

/// The connection is lost.
struct Lost;

impl<'a> Client<'a> {
    fn new(shared: &'a Shared, number: u16) -> Self {
        let seed = shared.rules.seed ^ (u64::from(number) + 1) << 32;
        Self {
            shared,
            number,
            random: Random::new(seed),
            history: History::default(),
            wire: None,
            known: Vec::new(),
        }
    }

    /// Does transactions as long as there are any.
    fn work(mut self) -> io::Result<History> {
        let rules = &self.shared.rules;
        let mut lost = None;
        while self.shared.begun.fetch_add(1, Ordering::Relaxed) < rules.transactions {
            if self.wire.is_none() {
                let wire = self.shared.connect()?;
                if lost == Some(wire.0) {
                    let fault = format!("client {} lost a connection without a kill", self.number);
                    self.shared.fault(fault);
                }
                self.wire = Some(wire);
            }
            let plan = self
                .shared
                .keys
                .transaction(&mut self.random, rules.isolation);
            self.history
                .begin(self.number, plan.alone, self.shared.now());
            self.known.clear();
            let outcome = self.transact(&plan);
            let outcome = outcome.unwrap_or_else(|Lost| {
                lost = self.wire.take().map(|(number, _)| number);
                // A lost COMMIT tells its end itself.
                match plan.alone {
                    true => Outcome::Unknown,
                    false => Outcome::Aborted,
                }
            });
            if outcome == Outcome::Unknown && !plan.alone {
                lost = self.wire.take().map(|(number, _)| number).or(lost);
            }
            self.history.end(outcome, self.shared.now());
            self.shared.ended.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self.history)
    }

    fn ask(&mut self, statement: &str) -> Result<Answer, Lost> {
        let Some((_, wire)) = &mut self.wire else {
            return Err(Lost);
        };
        let answer = asked(wire, statement).map_err(|_| Lost)?;
        if let Err(failure) = &answer.rows {
            self.shared.count(failure);
        }
        Ok(answer)
    }

    /// Does a transaction; its end unless the connection is lost before COMMIT.
    fn transact(&mut self, plan: &Plan) -> Result<Outcome, Lost> {
        if !plan.alone && !self.ask(&self.begin())?.accepted() {
            return Ok(Outcome::Aborted);
        }
        for (number, statement) in (0..).zip(&plan.statements) {
            if let Some(failure) = self.state(number, statement)? {
                if !plan.alone {
                    self.ask("ROLLBACK")?;
                    return Ok(Outcome::Aborted);
                }
                return Ok(end_of(&failure));
            }
        }
        if plan.alone {
            return Ok(Outcome::Committed);
        }
        if plan.rolled_back {
            self.ask("ROLLBACK")?;
            return Ok(Outcome::Aborted);
        }
        let Ok(answer) = self.ask("COMMIT") else {
            return Ok(Outcome::Unknown);
        };
        Ok(match (&answer.rows, answer.done.as_deref()) {
            (Err(failure), _) => end_of(failure),
            (Ok(_), Some("COMMIT")) => Outcome::Committed,
            (Ok(_), Some("ROLLBACK")) => Outcome::Aborted,
            (Ok(_), _) => Outcome::Unknown,
        })
    }

    fn begin(&self) -> String {
        let level = self.shared.rules.isolation.name().to_uppercase();
        format!("BEGIN ISOLATION LEVEL {level}")
    }

    /// Does a statement; its failure, if it fails.
    fn state(&mut self, number: u16, statement: &Statement) -> Result<Option<Failure>, Lost> {
        let mut statement = statement.clone();
        let form = statement.form;
        if form == Form::Replace {
            let key = statement.targets.first().map(|(key, _)| *key);
            let known = self.known.iter().find(|(of, _)| Some(*of) == key);
            statement.base = known.map(|(_, list)| list.clone()).unwrap_or_default();
            if statement.base.is_empty() {
                statement.form = Form::Update;
            }
        }
        let form = statement.form;
        if form.is_append() {
            for (key, element) in &statement.targets {
                self.history.append(number, form, *key, *element);
            }
        }
        if statement.undone
            && let Err(failure) = self.ask("SAVEPOINT s")?.rows
        {
            return Ok(Some(failure));
        }
        let text = statement.text(self.shared.rules.space);
        let answer = self.ask(&text)?;
        let rows = match answer.rows {
            Ok(rows) => rows,
            Err(failure) => return Ok(Some(failure)),
        };
        let gives = matches!(form, Form::Returning | Form::Joined) || !form.is_append();
        let read = if gives {
            reads(&statement, &rows)
        } else {
            Vec::new()
        };
        let missed = |key: u32| match form {
            Form::Returning | Form::Joined => {
                read.iter().any(|(of, list)| *of == key && list.is_empty())
            }
            Form::Update | Form::UpdateByOther | Form::Replace => {
                answer.done.as_deref() == Some("UPDATE 0")
            }
            _ => false,
        };
        for (key, element) in &statement.targets {
            if form.is_append() && missed(*key) {
                self.history.miss(number, form, *key);
            } else if form.is_append() && !statement.undone {
                let known = self.known.iter_mut().find(|(of, _)| of == key);
                if let Some((_, list)) = known {
                    list.push(*element);
                }
            }
        }
        for (key, list) in &read {
            if form.is_append() && missed(*key) {
                continue;
            }
            self.history.read(number, form, *key, list);
            let holds = match self.shared.rules.isolation {
                Isolation::ReadCommitted => form.is_lock(),
                _ => !form.is_append(),
            };
            if holds && !statement.undone {
                self.known.retain(|(of, _)| of != key);
                // A row that is not there is not locked, and another may add it.
                if !list.is_empty() {
                    self.known.push((*key, list.clone()));
                }
            }
        }
        if statement.undone {
            if let Err(failure) = self.ask("ROLLBACK TO s")?.rows {
                return Ok(Some(failure));
            }
            self.history.undo(number);
        }
        Ok(None)
    }
}

/// The end of a transaction whose COMMIT fails, or of a statement without BEGIN.
fn end_of(failure: &Failure) -> Outcome {
    let class = failure.sqlstate.get(..2).unwrap_or_default();
    let is_unsure = matches!(class, "08" | "53" | "57" | "58" | "XX");
    match is_unsure && failure.sqlstate != "57014" || failure.sqlstate == "40003" {
        true => Outcome::Unknown,
        false => Outcome::Aborted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_to_the_keys_that_were_asked_for() {
        let statement = |keys: &[u32]| Statement {
            form: Form::Several,
            undone: false,
            targets: keys.iter().map(|key| (*key, NONE)).collect(),
            base: Vec::new(),
        };
        let row = |cells: &[&str]| cells.iter().map(|cell| Some((*cell).to_owned())).collect();
        let read = reads(&statement(&[4, 2]), &[row(&["2", " 7 8"])]);
        assert_eq!(read, [(4, vec![]), (2, vec![7, 8])]);
        let read = reads(&statement(&[4]), &[row(&["{5,6}"])]);
        assert_eq!(read, [(4, vec![5, 6])]);
        let read = reads(&statement(&[4]), &[row(&["3", " 9"]), row(&["4", " 5"])]);
        assert_eq!(read, [(4, vec![5]), (3, vec![GARBAGE])]);
    }

    #[test]
    fn a_failure_tells_the_end_unless_the_server_is_gone() {
        let end = |sqlstate: &str| {
            end_of(&Failure {
                sqlstate: sqlstate.to_owned(),
                message: String::new(),
            })
        };
        assert_eq!(end("40001"), Outcome::Aborted);
        assert_eq!(end("57014"), Outcome::Aborted);
        assert_eq!(end("57P01"), Outcome::Unknown);
        assert_eq!(end("XX000"), Outcome::Unknown);
        assert_eq!(end("40003"), Outcome::Unknown);
    }
}
