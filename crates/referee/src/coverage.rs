//! Which names of PostgreSQL's documentation and catalogue the corpus has.
//!
//! `corpus/coverage.txt` lists the functions, operators and clauses of each chapter:
//!
//! ```text
//! numeric: + - abs( ceil(
//! - xmlagg( no XML
//! - pg_stat_* counters of the server
//! ```
//!
//! `data/postgres.txt` holds what PostgreSQL's own catalogue lists (`data/postgres.sql` asks for
//! it): each name of it has a place in a chapter, is refused with a reason, or takes values of a
//! type that the front has not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use freestone_frontend::types::named;

use crate::answer::Side;
use crate::corpus;

/// A chapter's names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chapter {
    /// Its name.
    pub name: String,
    /// Names of statements that are answered as PostgreSQL answers them.
    pub covered: Vec<String>,
    /// Names of statements whose answers are known to differ, and of no others.
    pub open: Vec<String>,
    /// Names that no statement has.
    pub missing: Vec<String>,
    /// Names that are refused, with the reason.
    pub refused: Vec<String>,
}

/// The chapters of a folder's list, compared with its statements. Casts are a chapter of their
/// own.
///
/// # Errors
/// A file cannot be read.
pub fn chapters(folder: &Path) -> io::Result<Vec<Chapter>> {
    let list = fs::read_to_string(folder.join("coverage.txt"))?;
    let known: BTreeSet<String> = corpus::known(folder, false)?.into_iter().collect();
    let mut chapters: Vec<Chapter> = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        if let (Some(refused), Some(chapter)) = (line.strip_prefix("- "), chapters.last_mut()) {
            chapter.refused.push(refused.to_owned());
            continue;
        }
        let Some((name, names)) = line.split_once(": ") else {
            continue;
        };
        let statements = statements(folder, Some(name))?;
        let names = names.split_whitespace();
        let names: Vec<String> = names.map(|name| name.replace("\\_", " ")).collect();
        chapters.push(compared(name, &names, &statements, &known));
    }
    let casts = entries().filter(|entry| entry.kind == "cast" && entry.foreign().is_none());
    let casts = casts.map(|entry| format!("cast({} as {})", entry.name, entry.returns));
    // Numbers of objects, as which the server's catalogue knows them.
    let (refused, casts): (Vec<String>, Vec<String>) = casts.partition(|cast| cast.contains("reg"));
    let statements = statements(folder, Some("types-casts"))?;
    let statements: Vec<String> = statements.iter().map(|one| without_values(one)).collect();
    let known = known.iter().map(|one| without_values(one)).collect();
    chapters.push(Chapter {
        refused: refused
            .into_iter()
            .map(|cast| format!("{cast} objects are the server's"))
            .collect(),
        ..compared("casts", &casts, &statements, &known)
    });
    Ok(chapters)
}

fn statements(folder: &Path, chapter: Option<&str>) -> io::Result<Vec<String>> {
    let mut statements = Vec::new();
    for file in corpus::files(folder, chapter)? {
        statements.extend(corpus::statements(&fs::read_to_string(file)?));
    }
    Ok(statements)
}

/// The names of a chapter in its statements.
fn compared(
    chapter: &str,
    names: &[String],
    statements: &[String],
    known: &BTreeSet<String>,
) -> Chapter {
    let (differing, same): (Vec<_>, Vec<_>) = statements
        .iter()
        .partition(|statement| known.contains(*statement));
    let text = |statements: Vec<&String>| {
        let texts = statements.into_iter().map(|statement| words(statement));
        texts.collect::<String>()
    };
    let (differing, same) = (text(differing), text(same));
    let mut result = Chapter {
        name: chapter.to_owned(),
        ..Chapter::default()
    };
    for name in names {
        let wanted = words(name);
        let to = match () {
            () if same.contains(&wanted) => &mut result.covered,
            () if differing.contains(&wanted) => &mut result.open,
            () => &mut result.missing,
        };
        to.push(name.clone());
    }
    result
}

/// A text's words and operators, each between blanks, in small letters.
fn words(text: &str) -> String {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Blank,
        Word,
        Operator,
        Single,
    }
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => Kind::Word,
        c if c.is_whitespace() => Kind::Blank,
        c if "+-*/<>=~!@#%^&|`?".contains(c) => Kind::Operator,
        _ => Kind::Single,
    };
    let mut out = String::from(" ");
    let mut last = Kind::Blank;
    for c in text.to_lowercase().chars() {
        let now = kind(c);
        if last != Kind::Blank && (now != last || now == Kind::Single) {
            out.push(' ');
        }
        if now != Kind::Blank {
            out.push(c);
        }
        last = now;
    }
    if last != Kind::Blank {
        out.push(' ');
    }
    out
}

/// A statement without the texts between its quotes, as which casts are looked for:
/// `CAST(date '2020-01-01' AS text)`, `CAST('x'::name AS text)`.
fn without_values(statement: &str) -> String {
    let outside = statement.split('\'').step_by(2).collect::<String>();
    outside.to_lowercase().replace("(::", "(")
}

/// An entry of PostgreSQL's catalogue.
struct Entry<'a> {
    /// `function`, `aggregate`, `window`, `operator` or `cast`.
    kind: &'a str,
    /// Its name; of a cast the type from which it casts.
    name: &'a str,
    /// Types of its arguments, between commas.
    arguments: &'a str,
    /// Type of its result.
    returns: &'a str,
}

impl<'a> Entry<'a> {
    /// A type of it that the front has not.
    fn foreign(&self) -> Option<&'a str> {
        let types = self.arguments.split(',').filter(|ty| !ty.is_empty());
        types
            .chain([self.returns])
            .find(|ty| !has_type(ty.trim_end_matches("[]")))
    }
}

/// Whether the front has a type of PostgreSQL.
fn has_type(ty: &str) -> bool {
    match ty {
        "character varying" | "double precision" | "record" | "\"any\"" => true,
        "time with time zone" | "time without time zone" => true,
        "timestamp with time zone" | "timestamp without time zone" => true,
        "anyelement" | "anyarray" | "anynonarray" | "anyenum" => true,
        "anycompatible" | "anycompatiblearray" | "anyrange" | "anymultirange" => true,
        name => named(name).is_some(),
    }
}

fn entries() -> impl Iterator<Item = Entry<'static>> {
    include_str!("../data/postgres.txt")
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t');
            Some(Entry {
                kind: fields.next()?,
                name: fields.next()?,
                arguments: fields.next()?,
                returns: fields.next()?,
            })
        })
}

/// What PostgreSQL's catalogue has and the list has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Names with a place in the list.
    pub listed: usize,
    /// Names that the list refuses.
    pub refused: usize,
    /// Names by the type of theirs that the front has not, all overloads of which have one.
    pub foreign: BTreeMap<String, usize>,
    /// Names with no place.
    pub missing: Vec<String>,
}

/// Where the names of PostgreSQL's catalogue are in a folder's list.
///
/// # Errors
/// The list cannot be read.
pub fn placed(folder: &Path) -> io::Result<Placed> {
    let list = fs::read_to_string(folder.join("coverage.txt"))?;
    let (mut listed, mut refused) = (BTreeSet::new(), Vec::new());
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        match (line.strip_prefix("- "), line.split_once(": ")) {
            (Some(line), _) => refused.extend(line.split(' ').next()),
            (None, Some((_, names))) => listed.extend(names.split_whitespace()),
            _ => {}
        }
    }
    let is_refused = |name: &str| {
        refused
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(start) if !start.is_empty() => name.starts_with(start),
                _ => name == *pattern,
            })
    };
    let mut names: BTreeMap<(bool, &str), Vec<Option<&str>>> = BTreeMap::new();
    for entry in entries().filter(|entry| entry.kind != "cast") {
        let key = (entry.kind == "operator", entry.name);
        names.entry(key).or_default().push(entry.foreign());
    }
    let mut placed = Placed::default();
    for ((operator, name), foreign) in names {
        let called = match operator {
            true => name.to_owned(),
            false => format!("{name}("),
        };
        match foreign.iter().find(|foreign| foreign.is_none()) {
            _ if listed.contains(called.as_str()) || listed.contains(name) => placed.listed += 1,
            _ if is_refused(&called) || is_refused(name) => placed.refused += 1,
            Some(_) => placed.missing.push(called),
            None => {
                let ty = foreign.into_iter().flatten().next().unwrap_or_default();
                *placed.foreign.entry(ty.to_owned()).or_default() += 1;
            }
        }
    }
    Ok(placed)
}

/// Asks PostgreSQL for its catalogue and writes it into a folder of data.
///
/// # Errors
/// The side is gone or refuses, or the file cannot be written.
pub fn record(data: &Path, postgres: &mut dyn Side) -> io::Result<usize> {
    let answers = postgres.ask(&[include_str!("../data/postgres.sql").to_owned()])?;
    let answer = answers.into_iter().next().map(|answer| answer.rows);
    let rows = match answer {
        Some(Ok(rows)) => rows,
        Some(Err(failure)) => return Err(io::Error::other(failure.message)),
        None => return Err(io::Error::other("no answer")),
    };
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().map(|cell| cell.as_deref().unwrap_or_default());
        text += &format!("{}\n", cells.collect::<Vec<_>>().join("\t"));
    }
    fs::write(data.join("postgres.txt"), text)?;
    Ok(rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_in_statements() {
        let names = ["abs(", "at time zone", "ceil(", "<", "substr("].map(str::to_owned);
        let statements = [
            "SELECT Abs(1) AT TIME\nZONE 'x', 2<=3, regexp_substr('a', 'b')",
            "SELECT ceil(2)",
        ];
        let statements = statements.map(str::to_owned);
        let known = BTreeSet::from([statements[1].clone()]);
        let chapter = compared("x", &names, &statements, &known);
        assert_eq!(chapter.covered, ["abs(", "at time zone"]);
        assert_eq!(chapter.open, ["ceil("]);
        assert_eq!(chapter.missing, ["<", "substr("]);
    }

    #[test]
    fn casts_are_looked_for_without_values() {
        for statement in [
            "SELECT CAST(date '2020-01-01' AS text)",
            "SELECT CAST('x'::date AS text)",
        ] {
            assert!(words(&without_values(statement)).contains(&words("cast(date as text)")));
        }
    }

    #[test]
    fn the_corpus_has_all_names() {
        let (mut covered, mut open) = (0, 0);
        for chapter in chapters(&corpus::folder()).unwrap() {
            assert!(chapter.missing.is_empty(), "{chapter:?}");
            assert!(!chapter.covered.is_empty(), "{chapter:?}");
            covered += chapter.covered.len();
            open += chapter.open.len();
        }
        assert!(
            covered * 100 >= (covered + open) * 95,
            "{covered} covered, {open} open"
        );
    }

    #[test]
    fn each_name_of_the_catalogue_has_a_place() {
        let placed = placed(&corpus::folder()).unwrap();
        assert!(placed.missing.is_empty(), "{:?}", placed.missing);
        assert!(placed.listed > 300, "{}", placed.listed);
    }
}
