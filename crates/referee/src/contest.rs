//! Random statements that both sides answer, and their differences.
//!
//! A worker draws a case, gives its tables to both sides, asks all its statements at once and
//! compares. A difference of a new kind is made as small as it gets and reported once.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use freestone_frontend::types::Type;

use crate::answer::{Answer, Side};
use crate::compare::{self, Difference, Strictness};
use crate::corpus::is_ordered;
use crate::generate::forms::FORMS;
use crate::generate::signatures::Signatures;
use crate::generate::{Case, Generator, Table, Tree, usual_settings};
use crate::shrink::{Least, shrink};

/// Statements that are asked over the same tables.
const STATEMENTS: usize = 100;

/// How many failures of a kind in values that nothing needs are looked at.
const LOOKS: usize = 2;

/// The rules of a contest.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How many statements are asked.
    pub statements: usize,
    /// The seed; a contest with the same seed asks the same.
    pub seed: u64,
    /// A chapter that is drawn more often.
    pub chapter: Option<String>,
    /// Most differences that are made small.
    pub most: usize,
    /// Whether statements that change data are asked, too.
    pub changes: bool,
    /// Whether changes stay, so that later statements see them.
    pub kept: bool,
    /// Whether tables are plain ones, not temporary.
    pub permanent: bool,
    /// Whether messages of errors count.
    pub messages: bool,
    /// Whether queries that lock rows are asked, too.
    pub locks: bool,
}

/// The counts of a contest.
#[derive(Default, Debug)]
pub struct Counts {
    /// Statements asked.
    pub asked: AtomicUsize,
    /// Accepted by both sides.
    pub accepted: AtomicUsize,
    /// Refused by both.
    pub refused: AtomicUsize,
    /// Answered differently.
    pub differing: AtomicUsize,
    /// Answered differently on purpose.
    pub wanted: AtomicUsize,
    /// Failed on one side only, in a value that nothing needs.
    pub unneeded: AtomicUsize,
}

/// A kind of difference, by its least statement.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its fingerprint.
    pub fingerprint: String,
    /// Statements that make the tables.
    pub setup: Vec<String>,
    /// The statement.
    pub statement: String,
    /// PostgreSQL's answer.
    pub theirs: Answer,
    /// Ours.
    pub ours: Answer,
}

/// The state that all workers of a contest share.
pub struct Contest<'a> {
    /// The rules.
    pub rules: Rules,
    /// The counts.
    pub counts: Counts,
    /// Called for each new kind of difference.
    pub report: &'a (dyn Fn(&Kind) + Sync),
    next: AtomicUsize,
    /// How often each fingerprint was seen.
    seen: Mutex<HashMap<String, usize>>,
    /// Failures of one side in values that nothing needs, by their fingerprints: how many were
    /// looked at.
    unneeded: Mutex<HashMap<String, usize>>,
    /// Errors that both sides gave, by SQLSTATE and message.
    errors: Mutex<HashMap<String, usize>>,
    /// How often each of [`FORMS`] was asked, and how often both sides accepted it.
    forms: Mutex<HashMap<&'static str, (usize, usize)>>,
}

impl<'a> Contest<'a> {
    /// A contest by some rules.
    pub fn new(rules: Rules, report: &'a (dyn Fn(&Kind) + Sync)) -> Self {
        Self {
            rules,
            counts: Counts::default(),
            report,
            next: AtomicUsize::new(0),
            seen: Mutex::default(),
            unneeded: Mutex::default(),
            errors: Mutex::default(),
            forms: Mutex::default(),
        }
    }

    /// Asks cases until there are enough statements. Several workers share the cases.
    ///
    /// # Errors
    /// A side is gone.
    pub fn work(
        &self,
        theirs: &mut dyn Side,
        ours: &mut dyn Side,
        signatures: &Signatures,
    ) -> io::Result<()> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let before = number * STATEMENTS;
            if before >= self.rules.statements {
                return Ok(());
            }
            // A case depends on its number only, so that workers do not change it.
            let seed = self
                .rules
                .seed
                .wrapping_mul(0x1_0000_0001)
                .wrapping_add(number as u64);
            let mut generator = Generator::new(seed, signatures)
                .with_chapter(self.rules.chapter.as_deref())
                .with_changes(self.rules.changes)
                .with_locks(self.rules.locks);
            if self.rules.permanent {
                generator = generator.with_permanent(number);
            }
            let many = STATEMENTS.min(self.rules.statements - before);
            let case = generator.case(many);
            if let Err(error) = self.ask(&case, theirs, ours) {
                eprintln!("case {number}: {error}; beginning anew");
                theirs.reset()?;
                ours.reset()?;
            }
        }
    }

    fn ask(&self, case: &Case, theirs: &mut dyn Side, ours: &mut dyn Side) -> io::Result<()> {
        let columns = case.tables.iter().flat_map(|table| &table.columns);
        let mut types = columns.map(|(_, ty)| ty);
        let mut sides = Sides {
            theirs,
            ours,
            settings: case.settings.clone(),
            char: types.any(|ty| matches!(ty, Type::Char(_))),
            messages: self.rules.messages,
            kept: self.rules.kept,
        };
        sides.set_up(&case.tables)?;
        let texts: Vec<String> = case.statements.iter().map(Tree::to_string).collect();
        let answers = sides.ask(&texts)?;
        let mut again = Vec::new();
        for (at, (theirs, ours)) in answers.iter().enumerate() {
            self.count_forms(&texts[at], theirs.rows.is_ok() && ours.rows.is_ok());
            let counts = &self.counts;
            counts.asked.fetch_add(1, Ordering::Relaxed);
            match (&theirs.rows, &ours.rows) {
                (Ok(_), Ok(_)) => {
                    counts.accepted.fetch_add(1, Ordering::Relaxed);
                }
                (Err(failure), Err(_)) => {
                    counts.refused.fetch_add(1, Ordering::Relaxed);
                    let difference = Difference::Accepted(failure.clone());
                    count(&self.errors, difference.fingerprint());
                }
                _ => {}
            }
            let how = strictness(&texts[at], self.rules.messages);
            let judged = compare::judged(&texts[at], sides.char, theirs, ours, how);
            let Some((difference, reason)) = judged else {
                continue;
            };
            // What follows a change that only one side made, or made otherwise, says nothing.
            let parted = sides.kept && target(&texts[at]).is_some();
            if reason.is_some() {
                counts.wanted.fetch_add(1, Ordering::Relaxed);
            } else if compare::may_be_unneeded(&difference) && self.known(&difference) {
                counts.unneeded.fetch_add(1, Ordering::Relaxed);
            } else {
                again.push((at, difference));
            }
            if parted {
                break;
            }
        }
        let mut changed = std::mem::replace(&mut sides.kept, false);
        for (at, difference) in again {
            if changed {
                sides.set_up(&case.tables)?;
            }
            changed = self.investigate(case, at, &difference, &mut sides)?;
        }
        if self.rules.permanent {
            let drops = case.tables.iter().map(Table::dropped).collect::<Vec<_>>();
            sides.ask(&drops)?;
        }
        Ok(())
    }

    /// Whether failures of this kind were looked at often enough: all were in values that
    /// nothing needs.
    fn known(&self, difference: &Difference) -> bool {
        let looked = self.unneeded.lock();
        let looked = looked.map(|looked| looked.get(&difference.fingerprint()).copied());
        looked.ok().flatten().unwrap_or(0) >= LOOKS
    }

    /// Makes a difference small and reports it, if it is of a new kind; whether the sides'
    /// tables were changed.
    fn investigate(
        &self,
        case: &Case,
        at: usize,
        difference: &Difference,
        sides: &mut Sides<'_>,
    ) -> io::Result<bool> {
        let counts = &self.counts;
        let rough = difference.fingerprint();
        let by_shape = matches!(difference, Difference::Rows | Difference::Order);
        let maybe = compare::may_be_unneeded(difference);
        let times = match maybe {
            true => 0,
            false => count(&self.seen, rough.clone()),
        };
        let shrunk = self.seen.lock().map(|seen| seen.len()).unwrap_or(0);
        if !by_shape && times > 1 || shrunk > self.rules.most {
            counts.differing.fetch_add(1, Ordering::Relaxed);
            return Ok(false);
        }
        if self.rules.kept {
            let text = case.statements[at].to_string();
            if sides
                .differing(std::slice::from_ref(&text), difference)?
                .is_none()
            {
                counts.differing.fetch_add(1, Ordering::Relaxed);
                self.report_history(case, at, difference, sides)?;
                return Ok(true);
            }
        }
        let mut least = Least {
            tables: case.tables.clone(),
            statement: case.statements[at].clone(),
        };
        let mut failed = None;
        let mut keeps = |tables: Option<&[Table]>, texts: &[String]| {
            let mut keep = || {
                if let Some(tables) = tables {
                    sides.set_up(tables)?;
                }
                sides.differing(texts, difference)
            };
            keep().unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        };
        shrink(&mut least, 600, &mut keeps);
        if let Some(error) = failed {
            return Err(error);
        }
        let given = sides.settings.clone();
        sides.forget_settings(&least, difference)?;
        let statement = least.statement.to_string();
        let used = std::mem::replace(&mut sides.settings, given);
        let data: String = least.tables.iter().flat_map(Table::setup).collect();
        if compare::is_of_case(&statement, difference, &data) {
            counts.wanted.fetch_add(1, Ordering::Relaxed);
            return Ok(true);
        }
        if maybe {
            let rows = least.tables.iter().all(|table| !table.rows.is_empty());
            if compare::is_unneeded(&statement, rows) {
                count(&self.unneeded, rough);
                counts.unneeded.fetch_add(1, Ordering::Relaxed);
                return Ok(true);
            }
            if count(&self.seen, rough.clone()) > 1 {
                counts.differing.fetch_add(1, Ordering::Relaxed);
                return Ok(true);
            }
        }
        counts.differing.fetch_add(1, Ordering::Relaxed);
        let shape = match by_shape {
            true => format!("{rough} {}", shape(&statement)),
            false => rough,
        };
        if by_shape && count(&self.seen, shape.clone()) > 1 {
            return Ok(true);
        }
        let given = std::mem::replace(&mut sides.settings, used);
        sides.set_up(&least.tables)?;
        let answers = sides.ask(std::slice::from_ref(&statement))?;
        if let Some((theirs, ours)) = answers.into_iter().next() {
            let tables = least.tables.iter().flat_map(Table::setup);
            (self.report)(&Kind {
                fingerprint: shape,
                setup: sides.settings.iter().cloned().chain(tables).collect(),
                statement,
                theirs,
                ours,
            });
        }
        sides.settings = given;
        Ok(true)
    }

    /// Reports a difference that needs the changes before it.
    fn report_history(
        &self,
        case: &Case,
        at: usize,
        difference: &Difference,
        sides: &mut Sides<'_>,
    ) -> io::Result<()> {
        let fingerprint = format!("(after changes) {}", difference.fingerprint());
        if count(&self.seen, fingerprint.clone()) > 1 {
            return Ok(());
        }
        sides.set_up(&case.tables)?;
        sides.kept = true;
        let texts = case.statements.iter().take(at + 1).map(Tree::to_string);
        let mut texts: Vec<String> = texts.collect();
        let statement = texts.pop().unwrap_or_default();
        texts.retain(|text| target(text).is_some());
        sides.ask(&texts)?;
        let answers = sides.ask(std::slice::from_ref(&statement))?;
        sides.kept = false;
        if let Some((theirs, ours)) = answers.into_iter().next() {
            let setup = sides.settings.iter().cloned();
            let setup = setup.chain(case.tables.iter().flat_map(Table::setup));
            (self.report)(&Kind {
                fingerprint,
                setup: setup.chain(texts).collect(),
                statement,
                theirs,
                ours,
            });
        }
        Ok(())
    }

    /// The most frequent errors of both sides.
    pub fn errors(&self) -> Vec<(String, usize)> {
        let errors = self
            .errors
            .lock()
            .map(|errors| errors.clone())
            .unwrap_or_default();
        let mut errors: Vec<_> = errors.into_iter().collect();
        errors.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        errors
    }

    fn count_forms(&self, statement: &str, accepted: bool) {
        let Ok(mut forms) = self.forms.lock() else {
            return;
        };
        for (form, words) in FORMS {
            if words.iter().any(|word| statement.contains(word)) {
                let (asked, by_both) = forms.entry(form).or_default();
                *asked += 1;
                *by_both += usize::from(accepted);
            }
        }
    }

    /// The forms of the grammar: how many statements had each, and how many of these both sides
    /// accepted.
    pub fn forms(&self) -> Vec<(&'static str, usize, usize)> {
        let Ok(forms) = self.forms.lock() else {
            return Vec::new();
        };
        let count = |form: &str| forms.get(form).copied().unwrap_or_default();
        let all = FORMS.iter().map(|(form, _)| (*form, count(form)));
        all.map(|(form, (asked, by_both))| (form, asked, by_both))
            .collect()
    }

    /// How many kinds of differences were seen.
    pub fn kinds(&self) -> usize {
        self.seen.lock().map(|seen| seen.len()).unwrap_or(0)
    }
}

fn count(counts: &Mutex<HashMap<String, usize>>, key: String) -> usize {
    let Ok(mut counts) = counts.lock() else {
        return 0;
    };
    let times = counts.entry(key).or_default();
    *times += 1;
    *times
}

/// How the answers to a generated statement are compared: its ORDER BY, if it has one, is over
/// all its columns.
pub fn strictness(statement: &str, messages: bool) -> Strictness {
    let words = [
        "DISTINCT",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "GROUP BY",
        "LIMIT",
        "FETCH",
        "OFFSET",
        "PARTITION",
        "ORDER BY",
        "greatest(",
        "least(",
        "max(",
        "min(",
        "IN (",
        "USING (",
        "NATURAL",
    ];
    Strictness {
        ordered: is_ordered(statement),
        columns: true,
        by_value: words.iter().any(|word| statement.contains(word)),
        messages,
    }
}

/// A statement without its names, numbers and texts.
pub fn shape(statement: &str) -> String {
    let mut shape = String::new();
    let mut quoted = false;
    for c in statement.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                shape.push(c);
            }
            _ if quoted || c.is_ascii_digit() => {}
            c => shape.push(c),
        }
    }
    shape
}

/// Both sides.
struct Sides<'a> {
    theirs: &'a mut dyn Side,
    ours: &'a mut dyn Side,
    /// Statements that set the sessions up.
    settings: Vec<String>,
    /// Whether a table has a column of the type CHAR.
    char: bool,
    /// Whether messages of errors count.
    messages: bool,
    /// Whether changes stay.
    kept: bool,
}

impl Sides<'_> {
    fn set_up(&mut self, tables: &[Table]) -> io::Result<()> {
        let tables: Vec<String> = tables.iter().flat_map(Table::setup).collect();
        for setup in [self.settings.clone(), tables] {
            let theirs = self.theirs.ask(&setup)?;
            let ours = self.ours.ask(&setup)?;
            for ((theirs, ours), text) in theirs.iter().zip(&ours).zip(&setup) {
                if theirs.accepted() != ours.accepted() {
                    let reason = format!("{text}: {:?}, {:?}", theirs.rows, ours.rows);
                    return Err(io::Error::other(reason));
                }
            }
        }
        Ok(())
    }

    /// Answers of both sides. What a statement changes is seen within its transaction, and
    /// taken back.
    fn ask(&mut self, statements: &[String]) -> io::Result<Vec<(Answer, Answer)>> {
        let scripts: Vec<Vec<String>> = statements
            .iter()
            .map(|text| script(text, self.kept))
            .collect();
        let all = scripts.concat();
        let mut theirs = self.theirs.ask(&all)?.into_iter();
        let mut ours = self.ours.ask(&all)?.into_iter();
        let mut answers = Vec::new();
        for script in &scripts {
            let one = summed(theirs.by_ref().take(script.len()).collect());
            let other = summed(ours.by_ref().take(script.len()).collect());
            answers.push((one, other));
        }
        Ok(answers)
    }

    /// Takes the usual settings, if the difference stays.
    fn forget_settings(&mut self, least: &Least, like: &Difference) -> io::Result<()> {
        let given = std::mem::replace(&mut self.settings, usual_settings());
        self.set_up(&least.tables)?;
        let text = least.statement.to_string();
        if self.differing(std::slice::from_ref(&text), like)?.is_none() {
            self.settings = given;
        }
        Ok(())
    }

    /// The first of some statements that differs in the same way.
    fn differing(&mut self, texts: &[String], like: &Difference) -> io::Result<Option<usize>> {
        let answers = self.ask(texts)?;
        let (char, messages) = (self.char, self.messages);
        let found = answers
            .iter()
            .zip(texts)
            .position(|((theirs, ours), text)| {
                let how = strictness(text, messages);
                let judged = compare::judged(text, char, theirs, ours, how);
                judged.is_some_and(|(difference, reason)| {
                    difference.is_like(like) && reason.is_none()
                })
            });
        Ok(found)
    }
}

/// The table that a statement changes.
fn target(statement: &str) -> Option<&str> {
    let words = ["INSERT INTO ", "UPDATE ", "DELETE FROM ", "MERGE INTO "];
    let rest = match statement.strip_prefix("WITH ") {
        Some(_) => {
            // Locks are no changes.
            let is_change = |at: &usize| {
                let before = &statement[..*at];
                !before.ends_with("FOR ") && !before.ends_with("NO KEY ")
            };
            let found = words.iter().filter_map(|word| {
                let mut places = statement.match_indices(word).map(|(at, _)| at);
                places.find(is_change)
            });
            statement.get(found.min()?..)?
        }
        None => statement,
    };
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?;
    rest.split([' ', '(']).next()
}

/// The statements that show what a statement does: itself, if it changes nothing. Of a view the
/// rows of the table under it are shown, whose name its own begins with.
fn script(statement: &str, kept: bool) -> Vec<String> {
    let [begin, end] = match kept {
        true => ["SELECT 'begin'", "SELECT 'end'"],
        false => ["BEGIN", "ROLLBACK"],
    };
    match target(statement) {
        Some(table) => vec![
            begin.to_owned(),
            statement.to_owned(),
            format!("SELECT * FROM {}", table.split('v').next().unwrap_or(table)),
            end.to_owned(),
        ],
        None => vec![statement.to_owned()],
    }
}

/// One answer for those to a script: a failure of the statement, or its rows and those of the
/// table.
fn summed(mut answers: Vec<Answer>) -> Answer {
    if answers.len() < 4 {
        return answers
            .pop()
            .unwrap_or_else(|| Answer::failed("XX000", "no answer"));
    }
    let after = answers.remove(2);
    let mut done = answers.remove(1);
    if let Ok(rows) = &mut done.rows {
        match after.rows {
            Ok(more) => rows.extend(more),
            Err(failure) => done.rows = Err(failure),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_and_taken_back() {
        for (statement, table) in [
            ("SELECT 1", None),
            ("INSERT INTO t0 (a) VALUES (1)", Some("t0")),
            ("UPDATE t1 SET a = 1", Some("t1")),
            ("WITH w AS (SELECT 1) DELETE FROM t2 AS r", Some("t2")),
            ("WITH w AS (SELECT 1) SELECT 1", None),
            (
                "WITH w AS (SELECT 1) SELECT 1 FROM t FOR UPDATE SKIP LOCKED",
                None,
            ),
        ] {
            assert_eq!(target(statement), table, "{statement}");
        }
        assert_eq!(script("DELETE FROM t0", false)[3], "ROLLBACK");
        let rows = "SELECT * FROM t0";
        assert_eq!(script("DELETE FROM t0", false)[2], rows);
        assert_eq!(script("DELETE FROM t0v1 AS g", false)[2], rows);
        assert_ne!(script("DELETE FROM t0", true)[3], "ROLLBACK");
        let row = |text: &str| Answer {
            columns: None,
            rows: Ok(vec![vec![Some(text.to_owned())]]),
            done: None,
        };
        let both = summed(vec![row("begin"), row("a"), row("b"), row("end")]);
        assert_eq!(both.rows.map(|rows| rows.len()), Ok(2));
        let failed = Answer::failed("23505", "");
        let answer = summed(vec![row("begin"), failed.clone(), row("b"), row("end")]);
        assert_eq!(answer, failed);
    }
}
