//! Differences between both sides that follow from an earlier one.

use std::collections::HashSet;

use super::text::tokens;
use crate::answer::{Answer, Failure};

/// Names whose objects differ, and whether the open transactions do.
#[derive(Default)]
pub struct Apart {
    names: HashSet<String>,
    /// Statements that were wrong.
    wrong: HashSet<String>,
    /// Whether a transaction is open.
    open: bool,
    /// Whether it failed on one side only.
    split: bool,
    /// Names that it changed.
    touched: Vec<String>,
}

/// Words before the name of an object.
const BEFORE: [&str; 49] = [
    "or",
    "replace",
    "temp",
    "temporary",
    "unlogged",
    "global",
    "local",
    "unique",
    "recursive",
    "materialized",
    "constraint",
    "trusted",
    "procedural",
    "default",
    "table",
    "view",
    "function",
    "type",
    "domain",
    "sequence",
    "index",
    "schema",
    "trigger",
    "operator",
    "aggregate",
    "role",
    "user",
    "procedure",
    "rule",
    "policy",
    "collation",
    "extension",
    "statistics",
    "publication",
    "event",
    "foreign",
    "server",
    "class",
    "family",
    "language",
    "if",
    "not",
    "exists",
    "only",
    "concurrently",
    "column",
    "group",
    "all",
    "routine",
];

impl Apart {
    /// Whether a difference follows from an earlier one.
    pub fn explains(&self, statement: &str, theirs: &Answer, ours: &Answer) -> bool {
        if self.split {
            return true;
        }
        match (&theirs.rows, &ours.rows) {
            (Ok(_), Err(failure)) | (Err(failure), Ok(_)) => {
                self.is_of(failure) || is_of_contents(failure) && self.mentioned_in(statement)
            }
            (Ok(_), Ok(_)) => self.mentioned_in(statement),
            (Err(_), Err(_)) => false,
        }
    }

    /// Whether a wrong statement was not wrong before.
    pub fn is_first(&mut self, statement: &str) -> bool {
        self.wrong.insert(statement.to_owned())
    }

    /// Whether a statement has one of the names, also in a literal where it asks the catalog, in
    /// which types of arrays have a line before theirs.
    fn mentioned_in(&self, statement: &str) -> bool {
        let tokens = tokens(statement);
        let asks = |token: &String| token.starts_with("pg_") || token.starts_with("reg");
        let literals = tokens.iter().any(asks);
        let unquoted = |c: char| !c.is_alphanumeric() && c != '_';
        tokens.iter().any(|token| self.names.contains(token))
            || literals
                && statement
                    .split(unquoted)
                    .map(|word| word.trim_start_matches('_'))
                    .any(|word| self.names.contains(word))
    }

    /// Forgets the transaction, which went with its session.
    pub fn new_session(&mut self) {
        if self.split {
            self.names.extend(std::mem::take(&mut self.touched));
        }
        self.touched.clear();
        (self.open, self.split) = (false, false);
    }

    /// Whether a failure tells of an object that differs.
    fn is_of(&self, failure: &Failure) -> bool {
        if failure.sqlstate == "25P02" {
            return true;
        }
        let undefined = [
            "42P01", "42883", "42704", "3F000", "42703", "26000", "34000", "42P07", "42710",
            "42723", "42P06", "42701", "2BP01", "42809", "42P05", "42P03", "3B001", "42804",
            "42P16", "42501", "55000",
        ];
        undefined.contains(&failure.sqlstate.as_str())
            && tokens(&failure.message.replace(['"', '\''], " "))
                .iter()
                .any(|token| self.names.contains(token))
    }

    /// Takes note of a statement and of whether its answers differ.
    pub fn note(&mut self, statement: &str, theirs: &Answer, ours: &Answer, differ: bool) {
        let tokens = tokens(statement);
        let first = tokens.first().map_or("", String::as_str);
        let both = theirs.accepted() && ours.accepted();
        let targets = targets(&tokens);
        if self.open && theirs.accepted() != ours.accepted() {
            self.split = true;
        }
        match first {
            "begin" | "start" => self.open |= theirs.accepted() || ours.accepted(),
            "rollback" if tokens.iter().any(|token| token == "to") => self.split &= !both,
            "commit" | "end" | "rollback" | "abort" => {
                if self.split {
                    self.names.extend(std::mem::take(&mut self.touched));
                }
                self.touched.clear();
                (self.open, self.split) = (false, false);
                return;
            }
            _ => {}
        }
        if self.open {
            self.touched.extend(targets.iter().cloned());
        }
        if differ {
            if ["create", "do", "prepare"].contains(&first) {
                self.names.extend(of_body(statement));
            }
            self.names.extend(targets);
            return;
        }
        if !both {
            return;
        }
        if ["drop", "create", "set"].contains(&first) {
            // A new index changes no row of its table.
            let made = match first {
                "create" => object(&tokens[1..]),
                _ => targets.clone(),
            };
            for name in &made {
                self.names.remove(name);
            }
        }
        let spreads = first != "drop" && tokens.iter().any(|token| self.names.contains(token));
        if spreads {
            self.names.extend(targets);
        }
    }
}

/// Whether a failure depends on the rows of tables.
fn is_of_contents(failure: &Failure) -> bool {
    [
        "21", "22", "23", "P0", "40", "42703", "57", "09", "27", "44",
    ]
    .iter()
    .any(|class| failure.sqlstate.starts_with(class))
}

/// The names of the tables that the body of a routine changes.
fn of_body(statement: &str) -> Vec<String> {
    let tokens = tokens(&statement.replace(['$', '\''], " "));
    let places = tokens.windows(2).enumerate().filter(|(_, pair)| {
        let pair = [pair[0].as_str(), pair[1].as_str()];
        pair[0] == "update" || pair == ["insert", "into"] || pair == ["delete", "from"]
    });
    let names = places.flat_map(|(at, _)| {
        let behind = at + if tokens[at] == "update" { 1 } else { 2 };
        object(&tokens[behind..])
    });
    names.collect()
}

/// The names of the objects that a statement makes, changes or drops.
fn targets(tokens: &[String]) -> Vec<String> {
    let at = |at: usize| tokens.get(at).map_or("", String::as_str);
    let behind = |word: &str| {
        let found = tokens.iter().position(|token| token == word);
        found
            .map(|found| object(&tokens[found + 1..]))
            .unwrap_or_default()
    };
    let deleted = || {
        let mut pairs = tokens.windows(2);
        let found = pairs.position(|pair| pair == ["delete", "from"]);
        found
            .map(|found| object(&tokens[found + 2..]))
            .unwrap_or_default()
    };
    match at(0) {
        "insert" | "merge" | "select" => behind("into"),
        "update" => object(&tokens[1..]),
        "delete" => deleted(),
        "with" => [behind("into"), behind("update"), deleted()].concat(),
        "copy" if tokens.iter().any(|token| token == "from") => object(&tokens[1..]),
        "set" => object(&tokens[1 + usize::from(["session", "local"].contains(&at(1)))..]),
        "prepare" | "declare" | "refresh" | "cluster" => object(&tokens[1..]),
        "truncate" | "drop" => {
            let names = tokens[1..].iter().filter(|token| is_name(token));
            names.cloned().collect()
        }
        "alter" | "comment" => [object(&tokens[1..]), behind("to")].concat(),
        "create" => {
            let of_table = ["trigger", "rule", "policy", "unique", "index"];
            let mut names = object(&tokens[1..]);
            if tokens
                .iter()
                .take(4)
                .any(|token| of_table.contains(&token.as_str()))
            {
                names.extend(behind("on"));
                names.extend(behind("to"));
            }
            names
        }
        _ => Vec::new(),
    }
}

fn is_name(token: &str) -> bool {
    let first = token.chars().next();
    first.is_some_and(|c| c.is_alphabetic() || c == '_') && !BEFORE.contains(&token)
}

/// The first name of some tokens, without its schema.
fn object(tokens: &[String]) -> Vec<String> {
    let skipped = tokens.iter().position(|token| is_name(token));
    let Some(mut at) = skipped.filter(|at| *at < 8) else {
        return Vec::new();
    };
    while tokens.get(at + 1).is_some_and(|token| token == ".") && at + 2 < tokens.len() {
        at += 2;
    }
    vec![tokens[at].clone()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done() -> Answer {
        Answer {
            columns: None,
            rows: Ok(Vec::new()),
            done: None,
        }
    }

    #[test]
    fn statements_have_targets() {
        for (statement, names) in [
            ("INSERT INTO s.t (a) VALUES (1)", "t"),
            ("UPDATE ONLY t SET a = 1", "t"),
            ("WITH w AS (SELECT 1) DELETE FROM t", "t"),
            ("CREATE OR REPLACE TEMP VIEW v AS SELECT 1", "v"),
            ("CREATE TABLE IF NOT EXISTS t (a int)", "t"),
            ("CREATE UNIQUE INDEX i ON t (a)", "i t"),
            ("ALTER TABLE IF EXISTS t RENAME TO u", "t u"),
            ("DROP TABLE t, u", "t u"),
            ("SELECT 1", ""),
            ("SELECT 1 AS a INTO t", "t"),
        ] {
            assert_eq!(targets(&tokens(statement)).join(" "), names, "{statement}");
        }
    }

    #[test]
    fn a_table_that_one_side_lacks_explains_later_failures() {
        let mut apart = Apart::default();
        let refused = Answer::failed("0A000", "not offered");
        apart.note("CREATE TABLE t (a point)", &done(), &refused, true);
        let lacking = Answer::failed("42P01", "relation \"t\" does not exist");
        assert!(apart.explains("SELECT * FROM t", &done(), &lacking));
        assert!(!apart.explains(
            "SELECT * FROM t",
            &done(),
            &Answer::failed("42601", "syntax")
        ));
        assert!(!apart.explains("SELECT 1", &done(), &done()));
        apart.note("CREATE VIEW v AS SELECT * FROM t", &done(), &done(), false);
        assert!(apart.explains("SELECT * FROM v", &done(), &done()));
        apart.note("DROP TABLE t", &done(), &done(), false);
        assert!(!apart.explains("SELECT * FROM t", &done(), &done()));
    }

    #[test]
    fn a_transaction_that_failed_on_one_side_explains_what_is_in_it() {
        let mut apart = Apart::default();
        apart.note("BEGIN", &done(), &done(), false);
        apart.note("INSERT INTO t VALUES (1)", &done(), &done(), false);
        apart.note(
            "SELECT odd()",
            &done(),
            &Answer::failed("42883", "odd()"),
            true,
        );
        assert!(apart.explains("SELECT 1", &done(), &Answer::failed("25P02", "")));
        apart.note("COMMIT", &done(), &done(), true);
        assert!(!apart.explains("SELECT 1", &done(), &done()));
        assert!(apart.explains("SELECT * FROM t", &done(), &done()));
    }
}
