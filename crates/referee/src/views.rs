//! Texts of views: random queries become views, and both sides print them.
//!
//! ```text
//! CREATE TEMP VIEW v AS q
//! SELECT pg_get_viewdef('v'::regclass)          PostgreSQL's text = ours
//! SELECT pg_get_viewdef('v'::regclass, true)    with few brackets, too
//! SELECT * FROM v                               the rows of our text as a query
//! CREATE TEMP VIEW w AS our text                prints what PostgreSQL prints for it
//! ```
//!
//! Where ours has a form that it does not print, it gives the text as it was written: that is
//! counted apart. Differences with the same words at the first place are one kind, of which the
//! first is made as small as it gets; of what is printed as written, all are, and those with least
//! statements of one shape are one kind.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::answer::{Answer, Side};
use crate::compare;
use crate::contest::{shape, strictness};
use crate::generate::signatures::Signatures;
use crate::generate::{Case, Generator, Table, Tree, usual_settings};
use crate::shrink::{Least, shrink};

/// Statements over the same tables.
const STATEMENTS: usize = 50;

/// Statements of a view's text: it is made, printed twice, and dropped.
const SCRIPT: usize = 4;

/// The rules of a contest of texts.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How many statements are drawn.
    pub statements: usize,
    /// The seed.
    pub seed: u64,
    /// A chapter that is drawn more often.
    pub chapter: Option<String>,
    /// Most differences that are made small.
    pub most: usize,
}

/// How a text differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Ours is the text as it was written.
    Written,
    /// Ours is another text than PostgreSQL's.
    Text,
    /// Ours has other rows than the view, as a query.
    Meaning,
    /// A view of our text is printed in another way than PostgreSQL prints it.
    Again,
}

impl Difference {
    fn words(self) -> &'static str {
        match self {
            Difference::Written => "printed as written",
            Difference::Text => "another text",
            Difference::Meaning => "another meaning",
            Difference::Again => "another text of its own text",
        }
    }
}

/// The counts of a contest of texts.
#[derive(Default, Debug)]
pub struct Counts {
    /// Statements drawn.
    pub asked: AtomicUsize,
    /// Views that both sides made.
    pub made: AtomicUsize,
    /// Of these, those with the same texts.
    pub same: AtomicUsize,
    /// Views that Freestone prints as they were written.
    pub written: AtomicUsize,
    /// Views that Freestone prints with another text than PostgreSQL.
    pub differing: AtomicUsize,
    /// Views whose printed text gives other rows than the view.
    pub wrong: AtomicUsize,
    /// Views with PostgreSQL's text from which Freestone and PostgreSQL print different texts again.
    pub again: AtomicUsize,
}

/// A difference by its least statement.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The same for all of the kind.
    pub fingerprint: String,
    /// How often it was found.
    pub times: usize,
    /// Statements that make the tables.
    pub setup: Vec<String>,
    /// The query of the view.
    pub statement: String,
    /// The other text: PostgreSQL's, or that of the view.
    pub theirs: String,
    /// Our text.
    pub ours: String,
}

/// Views of random queries on both sides; without the other side, ours alone.
pub struct Contest {
    /// The rules.
    pub rules: Rules,
    /// The counts.
    pub counts: Counts,
    next: AtomicUsize,
    shrunk: AtomicUsize,
    kinds: Mutex<HashMap<String, Kind>>,
}

/// Both sides.
struct Sides<'a> {
    theirs: Option<&'a mut dyn Side>,
    ours: &'a mut dyn Side,
    settings: Vec<String>,
}

impl Contest {
    /// A contest by some rules.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            counts: Counts::default(),
            next: AtomicUsize::new(0),
            shrunk: AtomicUsize::new(0),
            kinds: Mutex::default(),
        }
    }

    /// The kinds of differences, the most frequent first.
    pub fn kinds(&self) -> Vec<Kind> {
        let kinds = self
            .kinds
            .lock()
            .map(|kinds| kinds.values().cloned().collect());
        let mut kinds: Vec<Kind> = kinds.unwrap_or_default();
        kinds.sort_by(|a, b| {
            b.times
                .cmp(&a.times)
                .then_with(|| a.fingerprint.cmp(&b.fingerprint))
        });
        kinds
    }

    /// Asks cases until there are enough statements. Several workers share the cases.
    ///
    /// # Errors
    /// A side is gone.
    pub fn work(
        &self,
        mut theirs: Option<&mut dyn Side>,
        ours: &mut dyn Side,
        signatures: &Signatures,
    ) -> io::Result<()> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let before = number * STATEMENTS;
            if before >= self.rules.statements {
                return Ok(());
            }
            let seed = self.rules.seed.wrapping_mul(0x1_0000_0001);
            let mut generator = Generator::new(seed.wrapping_add(number as u64), signatures)
                .with_chapter(self.rules.chapter.as_deref());
            let case = generator.case(STATEMENTS.min(self.rules.statements - before));
            let mut sides = Sides {
                theirs: match &mut theirs {
                    Some(theirs) => Some(&mut **theirs),
                    None => None,
                },
                ours: &mut *ours,
                settings: usual_settings(),
            };
            if let Err(error) = self.ask(&case, &mut sides) {
                eprintln!("case {number}: {error}; beginning anew");
                if let Some(theirs) = &mut theirs {
                    theirs.reset()?;
                }
                ours.reset()?;
            }
        }
    }

    fn ask(&self, case: &Case, sides: &mut Sides<'_>) -> io::Result<()> {
        sides.set_up(&case.tables)?;
        let texts: Vec<String> = case.statements.iter().map(Tree::to_string).collect();
        let judged = sides.judged(&texts)?;
        let counts = &self.counts;
        let mut found = Vec::new();
        for (at, judged) in judged.into_iter().enumerate() {
            counts.asked.fetch_add(1, Ordering::Relaxed);
            let Some(judged) = judged else {
                continue;
            };
            counts.made.fetch_add(1, Ordering::Relaxed);
            let count = match judged.difference {
                None => &counts.same,
                Some(Difference::Written) => &counts.written,
                Some(Difference::Text) => &counts.differing,
                Some(Difference::Meaning) => &counts.wrong,
                Some(Difference::Again) => &counts.again,
            };
            count.fetch_add(1, Ordering::Relaxed);
            if let Some(difference) = judged.difference {
                let place = place(&judged.theirs, &judged.ours);
                found.push((at, difference, format!("{}: {place}", difference.words())));
            }
        }
        for (at, difference, rough) in found {
            // What is printed as written says nothing of its kind before it is made small.
            if difference != Difference::Written && self.is_known(&rough) {
                continue;
            }
            if self.shrunk.fetch_add(1, Ordering::Relaxed) < self.rules.most {
                self.investigate(case, (&case.statements[at], rough), difference, sides)?;
            }
        }
        sides.drop_tables(&case.tables)
    }

    /// Whether a difference of a kind was made small; it counts.
    fn is_known(&self, rough: &str) -> bool {
        let kinds = self.kinds.lock();
        kinds.is_ok_and(|mut kinds| match kinds.get_mut(rough) {
            Some(kind) => {
                kind.times += 1;
                true
            }
            None => false,
        })
    }

    /// Makes a difference small and notes its kind.
    fn investigate(
        &self,
        case: &Case,
        (statement, rough): (&Tree, String),
        difference: Difference,
        sides: &mut Sides<'_>,
    ) -> io::Result<()> {
        let mut least = Least {
            tables: case.tables.clone(),
            statement: statement.clone(),
        };
        let mut failed = None;
        let mut keeps = |tables: Option<&[Table]>, texts: &[String]| {
            let mut keep = || {
                if let Some(tables) = tables {
                    sides.set_up(tables)?;
                }
                let judged = sides.judged(texts)?;
                let like = |one: &Option<Judged>| {
                    one.as_ref()
                        .is_some_and(|one| one.difference == Some(difference))
                };
                io::Result::Ok(judged.iter().position(like))
            };
            keep().unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        };
        shrink(&mut least, 400, &mut keeps);
        if let Some(error) = failed {
            return Err(error);
        }
        sides.set_up(&least.tables)?;
        let statement = least.statement.to_string();
        let judged = sides.judged(std::slice::from_ref(&statement))?;
        if let Some(Some(judged)) = judged.into_iter().next() {
            let fingerprint = match difference {
                Difference::Written => format!("{}: {}", difference.words(), shape(&statement)),
                _ => rough,
            };
            let tables = least.tables.iter().flat_map(Table::setup);
            let setup = sides.settings.iter().cloned().chain(tables).collect();
            if let Ok(mut kinds) = self.kinds.lock() {
                let kind = kinds.entry(fingerprint.clone()).or_insert_with(|| Kind {
                    fingerprint,
                    times: 0,
                    setup,
                    statement,
                    theirs: judged.theirs,
                    ours: judged.ours,
                });
                kind.times += 1;
            }
        }
        sides.set_up(&case.tables)
    }
}

/// A view that all sides made.
struct Judged {
    difference: Option<Difference>,
    theirs: String,
    ours: String,
}

impl Sides<'_> {
    fn set_up(&mut self, tables: &[Table]) -> io::Result<()> {
        self.drop_tables(tables)?;
        let tables = tables.iter().flat_map(Table::setup);
        let setup: Vec<String> = self.settings.iter().cloned().chain(tables).collect();
        if let Some(theirs) = &mut self.theirs {
            theirs.ask(&setup)?;
        }
        self.ours.ask(&setup)?;
        Ok(())
    }

    fn drop_tables(&mut self, tables: &[Table]) -> io::Result<()> {
        let mut drops: Vec<String> = ["v", "w"].map(dropped).to_vec();
        drops.extend(tables.iter().map(Table::dropped));
        if let Some(theirs) = &mut self.theirs {
            theirs.ask(&drops)?;
        }
        self.ours.ask(&drops)?;
        Ok(())
    }

    /// The texts of some queries; `None` where a side makes no view of a query.
    fn judged(&mut self, queries: &[String]) -> io::Result<Vec<Option<Judged>>> {
        let scripts: Vec<String> = queries
            .iter()
            .flat_map(|query| script("v", query))
            .collect();
        let ours = self.ours.ask(&scripts)?;
        let theirs = match &mut self.theirs {
            Some(theirs) => Some(theirs.ask(&scripts)?),
            None => None,
        };
        let mut all = Vec::with_capacity(queries.len());
        for (at, query) in queries.iter().enumerate() {
            let of = |answers: &[Answer]| printed(answers.get(at * SCRIPT..(at + 1) * SCRIPT)?);
            let made = || {
                let ours = of(&ours)?;
                let theirs = match &theirs {
                    Some(theirs) => of(theirs)?,
                    None => ours.clone(),
                };
                Some((theirs, ours))
            };
            let Some((theirs, ours)) = made() else {
                all.push(None);
                continue;
            };
            // A printed text begins with a blank, or with the bracket of a set operation.
            let is_printed = ours[0].starts_with([' ', '(']);
            let mut judged = Judged {
                difference: match is_printed {
                    false => Some(Difference::Written),
                    true if theirs != ours => Some(Difference::Text),
                    true => None,
                },
                theirs: theirs.join("\n"),
                ours: ours.join("\n"),
            };
            if is_printed && let Some((wrong, other)) = self.wrong(query, &ours)? {
                judged.difference = Some(wrong);
                judged.theirs = other;
            }
            all.push(Some(judged));
        }
        Ok(all)
    }

    /// Whether our text has other rows than its view, or its own text is another one.
    fn wrong(
        &mut self,
        query: &str,
        [text, pretty]: &[String; 2],
    ) -> io::Result<Option<(Difference, String)>> {
        let mut script: Vec<String> = script("w", text).into();
        script.extend([text.clone(), pretty.clone(), query.to_owned()]);
        let answers = self.ours.ask(&script)?;
        let again = answers.get(..SCRIPT).and_then(printed);
        // PostgreSQL prints some texts of its own in another way, too.
        let wanted = match &mut self.theirs {
            Some(theirs) => printed(&theirs.ask(&script[..SCRIPT])?),
            None => Some([text.clone(), pretty.clone()]),
        };
        let [.., plain, few, view] = answers.as_slice() else {
            return Ok(None);
        };
        for one in [plain, few] {
            let how = strictness(query, false);
            if let Some(difference) = compare::difference(view, one, how) {
                let both_fail = !view.accepted() && !one.accepted();
                if !both_fail {
                    return Ok(Some((Difference::Meaning, difference.fingerprint())));
                }
            }
        }
        Ok(match (again, wanted) {
            (again, wanted) if again == wanted => None,
            (Some(again), _) => Some((Difference::Again, again.join("\n"))),
            (None, _) => Some((Difference::Again, format!("{:?}", answers.first()))),
        })
    }
}

/// The words of both texts at the first place where they differ.
fn place(theirs: &str, ours: &str) -> String {
    let mut pairs = theirs.split_whitespace().zip(ours.split_whitespace());
    match pairs.find(|(theirs, ours)| theirs != ours) {
        Some((theirs, ours)) => format!("{} | {}", shape(theirs), shape(ours)),
        None => "blanks".to_owned(),
    }
}

fn dropped(view: &str) -> String {
    format!("DROP VIEW IF EXISTS {view}")
}

/// The statements that make a view, print it and drop it.
fn script(view: &str, query: &str) -> [String; SCRIPT] {
    let query = query.trim_end_matches(';');
    [
        format!("CREATE TEMP VIEW {view} AS {query}"),
        format!("SELECT pg_get_viewdef('{view}'::regclass)"),
        format!("SELECT pg_get_viewdef('{view}'::regclass, true)"),
        dropped(view),
    ]
}

/// The two texts of a view; `None` if it was not made.
fn printed(answers: &[Answer]) -> Option<[String; 2]> {
    let [made, plain, pretty, _] = answers else {
        return None;
    };
    if !made.accepted() {
        return None;
    }
    let text = |answer: &Answer| match &answer.rows {
        Ok(rows) => rows.first().and_then(|row| row.first().cloned().flatten()),
        Err(failure) => Some(failure.message.clone()),
    };
    Some([
        text(plain).unwrap_or_default(),
        text(pretty).unwrap_or_default(),
    ])
}
