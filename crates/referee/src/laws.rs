//! Laws that need no other database.
//!
//! - A condition parts the rows of a query in three: those for which it is true, false and
//!   unknown. Together they are the rows of the query without the condition.
//! - The rows that a condition keeps are as many as those for which it is true where it is
//!   computed in the SELECT list.
//!
//! ```text
//! SELECT a FROM t   =   SELECT a FROM t WHERE p
//!                   +   SELECT a FROM t WHERE NOT p
//!                   +   SELECT a FROM t WHERE p IS NULL
//! ```

use std::io;

use crate::answer::{Answer, Cell, Side};
use crate::generate::law::Partition;
use crate::generate::signatures::Signatures;
use crate::generate::{Generator, Table};

/// Queries over the same tables.
const QUERIES: usize = 25;

/// A law that a side broke.
#[derive(Clone, Debug)]
pub struct Breach {
    /// Statements that make the tables.
    pub setup: Vec<String>,
    /// The statements that do not agree.
    pub statements: Vec<String>,
    /// Their answers.
    pub answers: Vec<Answer>,
}

/// The result of a test of laws.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Statements asked.
    pub asked: usize,
    /// Queries for which the laws could be tested, since no statement failed.
    pub tested: usize,
    /// Broken laws.
    pub breaches: Vec<Breach>,
}

/// Tests the laws with so many statements.
///
/// # Errors
/// The side is gone.
pub fn test(
    side: &mut dyn Side,
    signatures: &Signatures,
    statements: usize,
    seed: u64,
) -> io::Result<Verdict> {
    let mut verdict = Verdict::default();
    let mut generator = Generator::new(seed, signatures);
    while verdict.asked < statements {
        let (case, partitions) = generator.partitions(QUERIES);
        let setup: Vec<String> = case.tables.iter().flat_map(Table::setup).collect();
        side.ask(&setup)?;
        for partition in &partitions {
            let texts = texts(partition);
            let answers = side.ask(&texts)?;
            verdict.asked += texts.len();
            if !answers.iter().all(Answer::accepted) {
                continue;
            }
            verdict.tested += 1;
            if !holds(&answers) {
                verdict.breaches.push(Breach {
                    setup: setup.clone(),
                    statements: texts,
                    answers,
                });
            }
        }
    }
    Ok(verdict)
}

/// The query, its three parts, and two ways to count the first.
fn texts(partition: &Partition) -> Vec<String> {
    let Partition {
        query,
        from,
        condition,
    } = partition;
    vec![
        query.clone(),
        format!("{query} WHERE {condition}"),
        format!("{query} WHERE NOT {condition}"),
        format!("{query} WHERE {condition} IS NULL"),
        format!("SELECT count(*){from} WHERE {condition}"),
        format!("SELECT coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0){from}"),
    ]
}

fn holds(answers: &[Answer]) -> bool {
    let rows = |at: usize| -> Vec<Vec<Cell>> {
        let answer = answers.get(at).and_then(|answer| answer.rows.clone().ok());
        answer.unwrap_or_default()
    };
    let mut whole = rows(0);
    let mut parts: Vec<Vec<Cell>> = (1..4).flat_map(rows).collect();
    whole.sort();
    parts.sort();
    let kept = vec![vec![Some(rows(1).len().to_string())]];
    whole == parts && rows(4) == kept && rows(5) == kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: &[&str]) -> Answer {
        Answer {
            columns: None,
            rows: Ok(rows
                .iter()
                .map(|row| vec![Some((*row).to_owned())])
                .collect()),
            done: None,
        }
    }

    #[test]
    fn parts_must_make_the_whole() {
        let with = |unknown: &[&str], count: &str| {
            let whole = answer(&["a", "a", "b"]);
            let count = answer(&[count]);
            [
                whole,
                answer(&["a"]),
                answer(&["b"]),
                answer(unknown),
                count.clone(),
                count,
            ]
        };
        assert!(holds(&with(&["a"], "1")));
        assert!(!holds(&with(&[], "1")));
        assert!(!holds(&with(&["b"], "1")));
        assert!(!holds(&with(&["a"], "2")));
    }
}
