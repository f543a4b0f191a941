//! Public test suites, asked of PostgreSQL and Freestone statement by statement.
//!
//! The suites lie elsewhere; only their statements are read, as PostgreSQL tells the answers. A
//! script of psql shares its database with the scripts before it; a sqllogictest file has one of
//! its own.
//!
//! ```text
//!          psql · slt            served · wire            judge · apart
//! files ────────────────▶ steps ───────────────▶ answers ───────────────▶ counts, list
//! ```

mod apart;
mod files;
mod judge;
mod psql;
mod sides;
mod slt;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::answer::Answer;
use crate::wire::Address;
use apart::Apart;
use judge::{Verdict, judge};
use sides::Sides;

/// The form of a suite's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scripts of psql.
    Psql,
    /// Files of sqllogictest.
    Sqllogictest,
}

/// The files that are asked, and how.
pub struct Rules {
    /// The form of the files.
    pub format: Format,
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Where differences are written down.
    pub list: Option<PathBuf>,
    /// A part of the paths of the files that are asked.
    pub only: Option<String>,
    /// Each Nth file is asked.
    pub every: usize,
}

/// A statement of a file.
struct Asked {
    /// Its first line, counted from 1.
    line: usize,
    text: String,
    /// The rows that it reads from the lines behind it.
    data: Option<String>,
}

/// A step of a file.
enum Step {
    Ask(Asked),
    /// The session begins anew.
    Again,
}

/// How often each judgement was given.
#[derive(Clone, Copy, Default)]
struct Counts {
    asked: usize,
    agree: usize,
    both_refuse: usize,
    other_state: usize,
    wrong: usize,
    refused: usize,
    accepted: usize,
    follows: usize,
    wanted: usize,
    left_out: usize,
    crashes: usize,
}

impl Counts {
    const HEADER: &str =
        "  asked  agree refuse  state  wrong refusd accept follow wanted  l.out crash";

    fn count(&mut self, verdict: &Verdict) {
        self.asked += 1;
        let count = match verdict {
            Verdict::Agree => &mut self.agree,
            Verdict::BothRefuse { alike: true } => &mut self.both_refuse,
            Verdict::BothRefuse { alike: false } => &mut self.other_state,
            Verdict::Wrong(_) => &mut self.wrong,
            Verdict::Refused(_) => &mut self.refused,
            Verdict::Accepted(_) => &mut self.accepted,
            Verdict::Follows => &mut self.follows,
            Verdict::Wanted => &mut self.wanted,
            Verdict::LeftOut => &mut self.left_out,
        };
        *count += 1;
    }

    fn all(&self) -> [usize; 11] {
        [
            self.asked,
            self.agree,
            self.both_refuse,
            self.other_state,
            self.wrong,
            self.refused,
            self.accepted,
            self.follows,
            self.wanted,
            self.left_out,
            self.crashes,
        ]
    }

    fn add(&mut self, other: &Counts) {
        let sums = [
            &mut self.asked,
            &mut self.agree,
            &mut self.both_refuse,
            &mut self.other_state,
            &mut self.wrong,
            &mut self.refused,
            &mut self.accepted,
            &mut self.follows,
            &mut self.wanted,
            &mut self.left_out,
            &mut self.crashes,
        ];
        for (sum, more) in sums.into_iter().zip(other.all()) {
            *sum += more;
        }
    }

    fn row(&self) -> String {
        let cells = self.all().map(|count| format!("{count:7}"));
        cells.concat()
    }
}

/// The differences of a run, written down as they are found.
struct List {
    output: Option<io::BufWriter<fs::File>>,
    kinds: BTreeMap<String, usize>,
}

impl List {
    fn open(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(fs::File::create).transpose()?;
        Ok(Self {
            output: file.map(io::BufWriter::new),
            kinds: BTreeMap::new(),
        })
    }

    fn add(
        &mut self,
        place: &str,
        statement: &str,
        verdict: &Verdict,
        [theirs, ours]: [&Answer; 2],
    ) -> io::Result<()> {
        let kind = match verdict {
            Verdict::Wrong(difference) => format!("wrong {}", difference.fingerprint()),
            Verdict::Refused(failure) => {
                let difference = crate::compare::Difference::Refused(failure.clone());
                difference.fingerprint()
            }
            _ => return Ok(()),
        };
        *self.kinds.entry(kind.clone()).or_default() += 1;
        let Some(output) = &mut self.output else {
            return Ok(());
        };
        writeln!(output, "-- {place} {kind}\n{statement};")?;
        writeln!(output, "-- PostgreSQL:\n{}", theirs.short())?;
        writeln!(output, "-- Freestone:\n{}\n", ours.short())
    }

    /// Writes how often each kind was found.
    fn close(&mut self) -> io::Result<()> {
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by(|one, other| other.1.cmp(one.1));
        if let Some(output) = &mut self.output {
            for (kind, times) in kinds {
                writeln!(output, "== {times:5} {kind}")?;
            }
            output.flush()?;
        }
        Ok(())
    }
}

/// Asks the files of a suite and prints the counts of each and of all; whether none is wrong.
///
/// # Errors
/// A file cannot be read or written, or a side does not start.
pub fn run(rules: &Rules, postgres: &Address, program: &str) -> io::Result<bool> {
    let files = files::listed(rules)?;
    let mut sides = Sides::new(postgres, program);
    let mut list = List::open(rules.list.as_deref())?;
    let mut all = Counts::default();
    println!("{} file", Counts::HEADER);
    let mut apart = Apart::default();
    for (at, file) in files.iter().enumerate() {
        if at == 0 || rules.format == Format::Sqllogictest {
            sides.fresh()?;
            apart = Apart::default();
        } else {
            sides.again()?;
            apart.new_session();
        }
        let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
        let steps = match rules.format {
            Format::Psql => psql::read(&text, file),
            Format::Sqllogictest => slt::read(&text),
        };
        let counts = ask(&steps, file, &mut sides, &mut apart, &mut list)?;
        println!("{} {}", counts.row(), file.display());
        all.add(&counts);
    }
    println!("{} all {} files", all.row(), files.len());
    list.close()?;
    Ok(all.wrong == 0)
}

/// Asks the steps of a file.
fn ask(
    steps: &[Step],
    file: &Path,
    sides: &mut Sides,
    apart: &mut Apart,
    list: &mut List,
) -> io::Result<Counts> {
    let mut counts = Counts::default();
    for step in steps {
        let asked = match step {
            Step::Ask(asked) => asked,
            Step::Again => {
                sides.again()?;
                apart.new_session();
                continue;
            }
        };
        let [theirs, ours] = sides.ask(&asked.text, asked.data.as_deref())?;
        let verdict = judge(&asked.text, &theirs, &ours, apart);
        counts.count(&verdict);
        counts.crashes += usize::from(sides.crashed());
        let place = format!("{}:{}", file.display(), asked.line);
        list.add(&place, &asked.text, &verdict, [&theirs, &ours])?;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Side;
    use crate::front::Front;

    /// The front, which refuses statements with a word.
    fn refusing(front: &mut Front, statement: &str, word: &str) -> io::Result<Answer> {
        if statement.contains(word) {
            return Ok(Answer::failed("0A000", "not offered"));
        }
        let answers = front.ask(&[statement.to_owned()])?;
        let answer = answers.into_iter().next();
        answer.ok_or_else(|| io::Error::other("no answer"))
    }

    #[test]
    fn a_file_is_read_asked_and_counted() -> io::Result<()> {
        let text = "statement ok\nCREATE TEMPORARY TABLE t (a INT)\n\n\
                    statement ok\nCREATE TEMPORARY TABLE odd (a INT)\n\n\
                    loop i 0 3\n\nstatement ok\nINSERT INTO t VALUES (${i})\n\nendloop\n\n\
                    query I rowsort\nSELECT a FROM t\n----\n0\n1\n2\n\n\
                    query I\nSELECT a FROM odd\n----\n\n\
                    statement error\nSELECT 1 / 0\n----\ndivision\n\n\
                    query I\nSELECT 'odd' AS a\n----\nodd\n";
        let (mut theirs, mut ours) = (Front::default(), Front::default());
        let mut apart = Apart::default();
        let mut counts = Counts::default();
        let mut list = List::open(None)?;
        for step in slt::read(text) {
            let Step::Ask(asked) = step else {
                continue;
            };
            let answers = [
                refusing(&mut theirs, &asked.text, "no such word")?,
                refusing(&mut ours, &asked.text, "TABLE odd")?,
            ];
            let [theirs, ours] = &answers;
            let verdict = judge(&asked.text, theirs, ours, &mut apart);
            counts.count(&verdict);
            list.add("one", &asked.text, &verdict, [theirs, ours])?;
        }
        assert_eq!((counts.asked, counts.agree, counts.both_refuse), (9, 6, 1));
        assert_eq!((counts.wrong, counts.refused, counts.follows), (0, 1, 1));
        assert_eq!(list.kinds.len(), 1);
        Ok(())
    }
}
