//! Random statements that both sides answer, and their differences.
//!
//! A worker draws a case, gives its tables to both sides, asks all its statements at once and
//! compares. A difference of a new kind is made as small as it gets and reported once.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::answer::{Answer, Side};
use crate::compare::{self, Difference, Strictness};
use crate::corpus::is_ordered;
use crate::generate::signatures::Signatures;
use crate::generate::{Case, Generator, Table, Tree};
use crate::shrink::{Least, shrink};

/// Statements that are asked over the same tables.
const STATEMENTS: usize = 100;

/// One in so many cases asks for types, which costs as much as the answers.
const TYPES: usize = 4;

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
    /// Errors that both sides gave, by SQLSTATE and message.
    errors: Mutex<HashMap<String, usize>>,
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
            errors: Mutex::default(),
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
            let mut generator =
                Generator::new(seed, signatures).with_chapter(self.rules.chapter.as_deref());
            let many = STATEMENTS.min(self.rules.statements - before);
            let case = generator.case(many);
            let types = number.is_multiple_of(TYPES);
            if let Err(error) = self.ask(&case, types, theirs, ours) {
                eprintln!("case {number}: {error}; beginning anew");
                theirs.reset()?;
                ours.reset()?;
            }
        }
    }

    fn ask(
        &self,
        case: &Case,
        types: bool,
        theirs: &mut dyn Side,
        ours: &mut dyn Side,
    ) -> io::Result<()> {
        let mut sides = Sides { theirs, ours };
        sides.set_up(&case.tables)?;
        let texts: Vec<String> = case.statements.iter().map(Tree::to_string).collect();
        let answers = sides.ask(&texts, types)?;
        let mut again = Vec::new();
        for (at, (theirs, ours)) in answers.iter().enumerate() {
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
            let Some(difference) = compare::difference(theirs, ours, strictness(&texts[at])) else {
                continue;
            };
            if compare::wanted(&texts[at], &difference).is_some() {
                counts.wanted.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            counts.differing.fetch_add(1, Ordering::Relaxed);
            again.push((at, difference));
        }
        let mut changed = false;
        for (at, difference) in again {
            if changed {
                sides.set_up(&case.tables)?;
            }
            changed = self.investigate(case, at, &difference, &mut sides)?;
        }
        Ok(())
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
        let rough = difference.fingerprint();
        let by_shape = matches!(difference, Difference::Rows | Difference::Order);
        let times = count(&self.seen, rough.clone());
        let shrunk = self.seen.lock().map(|seen| seen.len()).unwrap_or(0);
        if !by_shape && times > 1 || shrunk > self.rules.most {
            return Ok(false);
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
        let statement = least.statement.to_string();
        let shape = match by_shape {
            true => format!("{rough} {}", shape(&statement)),
            false => rough,
        };
        // An error of running that one side has may be that of a value that the other does not
        // compute.
        let shape = match difference {
            Difference::Refused(failure) | Difference::Accepted(failure)
                if is_of_running(failure) && statement.contains(" FROM ") =>
            {
                format!("(computed by one side?) {shape}")
            }
            _ => shape,
        };
        if by_shape && count(&self.seen, shape.clone()) > 1 {
            return Ok(true);
        }
        sides.set_up(&least.tables)?;
        let answers = sides.ask(std::slice::from_ref(&statement), true)?;
        if let Some((theirs, ours)) = answers.into_iter().next() {
            (self.report)(&Kind {
                fingerprint: shape,
                setup: least.tables.iter().flat_map(Table::setup).collect(),
                statement,
                theirs,
                ours,
            });
        }
        Ok(true)
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
pub fn strictness(statement: &str) -> Strictness {
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
    }
}

/// A statement without its names, numbers and texts.
fn shape(statement: &str) -> String {
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
}

impl Sides<'_> {
    fn set_up(&mut self, tables: &[Table]) -> io::Result<()> {
        let setup: Vec<String> = tables.iter().flat_map(Table::setup).collect();
        for (theirs, ours) in self.ask(&setup, false)? {
            if theirs.accepted() != ours.accepted() {
                return Err(io::Error::other(format!("tables: {theirs:?}, {ours:?}")));
            }
        }
        Ok(())
    }

    fn ask(&mut self, statements: &[String], types: bool) -> io::Result<Vec<(Answer, Answer)>> {
        let theirs = self.theirs.ask(statements, types)?;
        let ours = self.ours.ask(statements, types)?;
        Ok(theirs.into_iter().zip(ours).collect())
    }

    /// The first of some statements that differs in the same way.
    fn differing(&mut self, texts: &[String], like: &Difference) -> io::Result<Option<usize>> {
        let answers = self.ask(texts, true)?;
        let found = answers
            .iter()
            .zip(texts)
            .position(|((theirs, ours), text)| {
                let difference = compare::difference(theirs, ours, strictness(text));
                difference.is_some_and(|difference| {
                    difference.is_like(like) && compare::wanted(text, &difference).is_none()
                })
            });
        Ok(found)
    }
}

/// Whether a failure is one of values, and not of the statement.
fn is_of_running(failure: &crate::answer::Failure) -> bool {
    // Functions of arrays say of values that they are not supported.
    failure.sqlstate.starts_with("22")
        || failure
            .message
            .contains("multidimensional arrays is not supported")
}
