//! Random transactions of several sessions at once.
//!
//! A history is a list of steps, each a statement of a session. Both servers are given the same steps
//! in the same order. A statement that does not end at once waits for another session; the steps that
//! its session has yet to do follow when it goes on. Three things are compared: the answer to each
//! statement, whether it waited, and the rows that are left.
//!
//! ```text
//! s1  BEGIN
//! s1  UPDATE t SET a = a + 1 WHERE id = 2       UPDATE 1
//! s2  UPDATE t SET a = a + 5 WHERE id = 2       waits, UPDATE 1
//! s1  COMMIT
//! ```
//!
//! A history whose answers differ is asked again, as clocks decide what has waited, and then made
//! shorter as long as it differs.
//!
//! Left out: conditions over many rows at READ COMMITTED. After a wait PostgreSQL tests the condition
//! of the row alone, and Freestone runs the statement again.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::answer::{Answer, Side};
use crate::random::Random;
use crate::wire::{Address, Wire};

/// A statement that has not ended after this waits for another session. PostgreSQL looks for deadlocks
/// in less.
const MOMENT: Duration = Duration::from_millis(60);
/// After this a statement is taken to wait for ever.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a history must differ to be told.
const TIMES: usize = 3;
/// Keys of rows; not all of them are there at first.
const KEYS: usize = 5;

/// A statement of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The session, from 0.
    pub session: usize,
    /// Its statement.
    pub statement: String,
}

/// Statements of several sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Statements that make the tables.
    pub setup: Vec<String>,
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// Queries of what is left.
    pub left: Vec<String>,
}

/// The outcome of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it waited.
    pub waited: bool,
    /// The answer, in short; `None` if it waited for ever.
    pub answer: Option<String>,
}

/// The outcomes of a history's steps on a server, and the rows that are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// One for each step.
    pub steps: Vec<Outcome>,
    /// One for each query of what is left.
    pub left: Vec<String>,
}

/// A history whose outcomes differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The history, made short.
    pub history: History,
    /// PostgreSQL's outcomes.
    pub theirs: Told,
    /// Freestone's outcomes.
    pub ours: Told,
}

/// The kinds of histories that are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether sessions may be serialisable.
    pub serializable: bool,
    /// Whether rows refer to each other.
    pub foreign: bool,
}

/// A session of a server, in a thread of its own.
struct Session {
    asks: Sender<(usize, String)>,
}

impl Session {
    fn begin(address: &Address, answers: Sender<(usize, io::Result<String>)>) -> io::Result<Self> {
        let mut wire = Wire::connect(address)?;
        let (asks, asked) = channel::<(usize, String)>();
        std::thread::spawn(move || {
            // PostgreSQL waits a second before it looks for deadlocks; who knows no such setting
            // refuses it.
            let _ = wire.ask(&["SET deadlock_timeout = '5ms'".to_owned()]);
            while let Ok((step, statement)) = asked.recv() {
                let answer = wire.ask(&[statement]);
                let answer = answer.map(|all| all.first().map(in_short).unwrap_or_default());
                if answers.send((step, answer)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { asks })
    }
}

/// An answer without its columns and its message.
fn in_short(answer: &Answer) -> String {
    match &answer.rows {
        Err(failure) => failure.sqlstate.clone(),
        Ok(rows) => {
            let row = |row: &Vec<Option<String>>| {
                let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("∅"));
                format!("({})", cells.collect::<Vec<_>>().join(","))
            };
            let mut words: Vec<String> = answer.done.iter().cloned().collect();
            words.extend(rows.iter().map(row));
            words.join(" ")
        }
    }
}

/// The sessions of a history as they go on.
struct Course<'h> {
    history: &'h History,
    sessions: Vec<Session>,
    answers: Receiver<(usize, io::Result<String>)>,
    /// Steps of each session that have not begun.
    open: Vec<VecDeque<usize>>,
    /// The step that each session is at.
    at: Vec<Option<usize>>,
    outcomes: Vec<Outcome>,
}

impl Course<'_> {
    /// Goes on until all that can be done is done, or a moment has passed without anything.
    fn go_on(&mut self, patience: Duration) -> io::Result<()> {
        let mut until = Instant::now() + patience;
        loop {
            for (session, at) in self.at.iter_mut().enumerate() {
                if at.is_none()
                    && let Some(step) = self.open[session].pop_front()
                {
                    *at = Some(step);
                    let statement = self.history.steps[step].statement.clone();
                    let sent = self.sessions[session].asks.send((step, statement));
                    sent.map_err(|_| io::Error::other("a session is gone"))?;
                }
            }
            if self.at.iter().all(Option::is_none) {
                return Ok(());
            }
            match self
                .answers
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok((step, answer)) => {
                    self.outcomes[step].answer = Some(answer?);
                    self.at[self.history.steps[step].session] = None;
                    until = Instant::now() + patience;
                }
                Err(RecvTimeoutError::Timeout) => {
                    for step in self.at.iter().flatten() {
                        self.outcomes[*step].waited = true;
                    }
                    return Ok(());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("all sessions are gone"));
                }
            }
        }
    }
}

/// Has a server do a history.
///
/// # Errors
/// It is gone.
pub fn done(history: &History, address: &Address) -> io::Result<Told> {
    let mut first = Wire::connect(address)?;
    first.ask(&history.setup)?;
    let count = history.steps.iter().map(|step| step.session + 1).max();
    let (told, answers) = channel();
    let sessions = (0..count.unwrap_or(0)).map(|_| Session::begin(address, told.clone()));
    let sessions: Vec<Session> = sessions.collect::<io::Result<_>>()?;
    let mut course = Course {
        history,
        open: vec![VecDeque::new(); sessions.len()],
        at: vec![None; sessions.len()],
        outcomes: vec![Outcome::default(); history.steps.len()],
        sessions,
        answers,
    };
    for (number, step) in history.steps.iter().enumerate() {
        course.open[step.session].push_back(number);
        course.go_on(MOMENT)?;
    }
    course.go_on(PATIENCE)?;
    let steps = std::mem::take(&mut course.outcomes);
    drop(course);
    let left = first.ask(&history.left)?;
    // Tables of thousands of histories would make statements slower, which looks like waiting.
    first.ask(history.setup.get(..1).unwrap_or_default())?;
    Ok(Told {
        steps,
        left: left.iter().map(in_short).collect(),
    })
}

/// A random history; tables have a suffix, so that several are done at once.
pub fn drawn(random: &mut Random, rules: Rules, suffix: usize) -> History {
    let (t, c) = (format!("t{suffix}"), format!("c{suffix}"));
    let mut setup = vec![
        format!("DROP TABLE IF EXISTS {c}, {t}"),
        format!("CREATE TABLE {t} (id int PRIMARY KEY, a int, b int UNIQUE)"),
        format!("INSERT INTO {t} VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3)"),
    ];
    let mut left = vec![format!("SELECT * FROM {t} ORDER BY id")];
    if rules.foreign {
        let on_delete = random.word(&["", "", " ON DELETE CASCADE", " ON DELETE SET NULL"]);
        let checked = random.word(&["", "", "", " DEFERRABLE INITIALLY DEFERRED"]);
        setup.push(format!(
            "CREATE TABLE {c} (id int PRIMARY KEY, t int REFERENCES {t} ON UPDATE CASCADE{on_delete}{checked})"
        ));
        setup.push(format!("INSERT INTO {c} VALUES (1, 1), (2, 2)"));
        left.push(format!("SELECT * FROM {c} ORDER BY id"));
    }
    let mut programs: Vec<VecDeque<String>> = Vec::new();
    for _ in 0..2 + random.below(2) {
        let levels: &[&str] = match rules.serializable {
            true => &["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"],
            false => &["READ COMMITTED", "REPEATABLE READ"],
        };
        let level = random.word(levels);
        let mut program = VecDeque::new();
        let is_block = random.below(5) > 0;
        if is_block {
            program.push_back(format!("BEGIN ISOLATION LEVEL {level}"));
        }
        let wide = is_block && level != "READ COMMITTED";
        let mut saved = false;
        for _ in 0..1 + random.below(4) {
            if is_block && random.below(8) == 0 {
                let word = if saved {
                    "ROLLBACK TO s"
                } else {
                    "SAVEPOINT s"
                };
                saved = true;
                program.push_back(word.to_owned());
            }
            program.push_back(statement(random, rules, (&t, &c), wide));
        }
        if is_block {
            let end = if random.below(4) == 0 {
                "ROLLBACK"
            } else {
                "COMMIT"
            };
            program.push_back(end.to_owned());
        }
        programs.push(program);
    }
    let mut steps = Vec::new();
    while programs.iter().any(|program| !program.is_empty()) {
        let session = random.below(programs.len());
        if let Some(statement) = programs[session].pop_front() {
            steps.push(Step { session, statement });
        }
    }
    History { setup, steps, left }
}

/// A statement over the tables; a wide one may be about several rows.
fn statement(random: &mut Random, rules: Rules, (t, c): (&str, &str), wide: bool) -> String {
    let key = 1 + random.below(KEYS);
    let other = 1 + random.below(KEYS);
    let number = 1 + random.below(9);
    let mut rows = match random.below(if wide { 5 } else { 3 }) {
        0 | 1 => format!("id = {key}"),
        2 => format!("id IN ({key}, {other})"),
        3 => format!("a > {}", 5 * number),
        _ => "true".to_owned(),
    };
    if random.below(6) == 0 {
        rows = format!("{rows} AND a < {}", 8 * number);
    }
    if rules.foreign && random.below(3) == 0 {
        return match random.below(5) {
            0 | 1 => format!("INSERT INTO {c} VALUES ({other}, {key})"),
            2 => format!("DELETE FROM {c} WHERE id = {other}"),
            3 => format!("UPDATE {c} SET t = {key} WHERE id = {other}"),
            _ => format!("SELECT * FROM {c} ORDER BY id"),
        };
    }
    match random.below(12) {
        0 => format!("SELECT * FROM {t} ORDER BY id"),
        1 => format!("SELECT * FROM {t} WHERE {rows} ORDER BY id"),
        2 | 3 => {
            let strengths: &[&str] = match rules.foreign {
                true => &[
                    "FOR UPDATE",
                    "FOR SHARE",
                    "FOR NO KEY UPDATE",
                    "FOR KEY SHARE",
                ],
                false => &["FOR UPDATE", "FOR SHARE", "FOR UPDATE"],
            };
            let strength = random.word(strengths);
            let wait = random.word(&["", "", " NOWAIT", " SKIP LOCKED"]);
            format!("SELECT * FROM {t} WHERE {rows} ORDER BY id {strength}{wait}")
        }
        4..=6 => format!("UPDATE {t} SET a = a + {number} WHERE {rows}"),
        7 => format!("UPDATE {t} SET b = {other} WHERE id = {key}"),
        8 => format!("UPDATE {t} SET id = {other} WHERE id = {key}"),
        9 => format!("DELETE FROM {t} WHERE {rows}"),
        _ => {
            let conflict = [
                "".to_owned(),
                " ON CONFLICT DO NOTHING".to_owned(),
                " ON CONFLICT (id) DO NOTHING".to_owned(),
                format!(" ON CONFLICT (id) DO UPDATE SET a = {t}.a + {number}"),
            ];
            let conflict = random.pick(&conflict).cloned().unwrap_or_default();
            format!("INSERT INTO {t} VALUES ({key}, {number}, {other}){conflict}")
        }
    }
}

/// Does a history on both servers; the difference, if it is there each time.
///
/// # Errors
/// A server is gone.
pub fn compared(
    history: &History,
    (theirs, ours): (&Address, &Address),
) -> io::Result<Option<Difference>> {
    let mut last = None;
    for _ in 0..TIMES {
        let (theirs, ours) = (done(history, theirs)?, done(history, ours)?);
        if theirs == ours {
            return Ok(None);
        }
        last = Some(Difference {
            history: history.clone(),
            theirs,
            ours,
        });
    }
    Ok(last)
}

impl Difference {
    /// Leaves out steps as long as the rest differs.
    ///
    /// # Errors
    /// A server is gone.
    pub fn made_short(mut self, servers: (&Address, &Address)) -> io::Result<Self> {
        let mut at = 0;
        while at < self.history.steps.len() {
            let mut shorter = self.history.clone();
            let step = shorter.steps.remove(at);
            // A transaction loses its end with its beginning alone.
            if is_of_block(&step.statement) {
                let ends =
                    |other: &Step| other.session == step.session && is_of_block(&other.statement);
                shorter.steps.retain(|other| !ends(other));
            }
            match compared(&shorter, servers)? {
                Some(difference) => self = difference,
                None => at += 1,
            }
        }
        Ok(self)
    }

    /// The first difference, without numbers.
    pub fn fingerprint(&self) -> String {
        let pairs = self.theirs.steps.iter().zip(&self.ours.steps);
        let mut pairs = pairs.zip(&self.history.steps);
        let Some(((theirs, ours), step)) = pairs.find(|((theirs, ours), _)| theirs != ours) else {
            return "other rows are left".to_owned();
        };
        let words: String = step
            .statement
            .chars()
            .filter(|char| !char.is_ascii_digit())
            .collect();
        let class = |outcome: &Outcome| {
            let waits = if outcome.waited { "waits, " } else { "" };
            let answer = outcome.answer.as_deref().unwrap_or("never ends");
            let failed = answer.len() == 5 && !answer.contains(' ');
            format!("{waits}{}", if failed { answer } else { "done" })
        };
        format!("{words}: {} / {}", class(theirs), class(ours))
    }

    /// The history, with both outcomes of each step.
    pub fn shown(&self) -> String {
        let mut lines: Vec<String> = self
            .history
            .setup
            .iter()
            .map(|one| format!("{one};"))
            .collect();
        let outcome = |outcome: &Outcome| {
            let waits = if outcome.waited { "waits, " } else { "" };
            format!(
                "{waits}{}",
                outcome.answer.as_deref().unwrap_or("never ends")
            )
        };
        let pairs = self.theirs.steps.iter().zip(&self.ours.steps);
        for (step, (theirs, ours)) in self.history.steps.iter().zip(pairs) {
            lines.push(format!("s{}  {}", step.session + 1, step.statement));
            match theirs == ours {
                true => lines.push(format!("        {}", outcome(theirs))),
                false => lines.extend([
                    format!("    PostgreSQL: {}", outcome(theirs)),
                    format!("    Freestone:  {}", outcome(ours)),
                ]),
            }
        }
        for ((query, theirs), ours) in self
            .history
            .left
            .iter()
            .zip(&self.theirs.left)
            .zip(&self.ours.left)
        {
            if theirs != ours {
                lines.extend([
                    query.clone(),
                    format!("    PostgreSQL: {theirs}"),
                    format!("    Freestone:  {ours}"),
                ]);
            }
        }
        lines.join("\n")
    }
}

/// Whether a statement begins or ends a transaction.
fn is_of_block(statement: &str) -> bool {
    statement.starts_with("BEGIN") || matches!(statement, "COMMIT" | "ROLLBACK")
}

/// Differences by their kinds, with how often each was met.
pub type Kinds = BTreeMap<String, (usize, Difference)>;
