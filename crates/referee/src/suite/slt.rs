//! Reader of sqllogictest files, with the additions of several databases.
//!
//! ```text
//! statement ok          query II rowsort       loop i 0 3       foreach t INT REAL
//! CREATE TABLE t (…)    SELECT …               …                …
//!                       ----                   endloop          endloop
//!                       1 2
//! ```
//!
//! The expected rows are not read: PostgreSQL tells them. Directives are left out.

use super::text::statements;
use super::{Asked, Step};

/// Rounds of a loop that are asked.
const ROUNDS: usize = 16;

/// Statements of a file that are asked.
const MOST: usize = 4_000;

/// The steps of a file.
pub fn read(text: &str) -> Vec<Step> {
    let lines: Vec<&str> = text.lines().collect();
    let mut steps = Vec::new();
    block(&lines, 0, &[], &mut steps);
    steps
}

/// Reads records up to the end of a loop or of the file, and tells the line behind it.
fn block(lines: &[&str], from: usize, values: &[(String, String)], steps: &mut Vec<Step>) -> usize {
    let mut at = from;
    while let Some(line) = lines.get(at) {
        at += 1;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first().copied().unwrap_or("") {
            "statement" | "query" => {
                let begin = at;
                let is_end = |line: &&str| line.trim().is_empty() || line.trim() == "----";
                let length = lines[at..].iter().position(is_end);
                at += length.unwrap_or(lines.len() - at);
                let sql = lines[begin..at].join("\n");
                if lines.get(at).is_some_and(|line| line.trim() == "----") {
                    at = behind(lines, at);
                }
                if !elsewhere(&words) && steps.len() < MOST {
                    ask(&sql, begin, values, steps);
                }
            }
            "loop" | "concurrentloop" | "foreach" | "concurrentforeach" => {
                at = rounds(lines, at, &words, values, steps);
            }
            "endloop" => return at,
            "halt" => return lines.len(),
            // The lines of a command belong to it.
            "system" | "control" | "copy" => at = behind(lines, at),
            _ => {}
        }
    }
    at
}

/// The line behind the next empty one.
fn behind(lines: &[&str], at: usize) -> usize {
    let empty = lines[at..].iter().position(|line| line.trim().is_empty());
    empty.map_or(lines.len(), |empty| at + empty + 1)
}

/// Whether a record is of another connection than the first.
fn elsewhere(words: &[&str]) -> bool {
    let named = |word: &&str| {
        let number = word.strip_prefix("con");
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    words.iter().skip(1).any(named)
}

/// Reads the records of a loop once for each of its values.
fn rounds(
    lines: &[&str],
    from: usize,
    words: &[&str],
    values: &[(String, String)],
    steps: &mut Vec<Step>,
) -> usize {
    let name = words.get(1).copied().unwrap_or("");
    let given: Vec<String> = match words[0].ends_with("loop") {
        true => {
            let bound = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
            let (from, to) = (bound(2).unwrap_or(0), bound(3).unwrap_or(0));
            (from..to)
                .take(ROUNDS)
                .map(|value| value.to_string())
                .collect()
        }
        false => {
            let words = words.iter().skip(2).filter(|word| !word.starts_with('!'));
            words.flat_map(|word| listed(word)).take(ROUNDS).collect()
        }
    };
    let mut end = None;
    for value in given {
        let mut values = values.to_vec();
        values.push((name.to_owned(), value));
        end = Some(block(lines, from, &values, steps));
    }
    // A loop without rounds is read for its end.
    end.unwrap_or_else(|| block(lines, from, values, &mut Vec::new()))
}

/// The types that a word for a group of them stands for.
fn listed(word: &str) -> Vec<String> {
    let signed = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"];
    let unsigned = ["UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"];
    let all: Vec<&str> = match word {
        "<signed>" => signed.to_vec(),
        "<unsigned>" => unsigned.to_vec(),
        "<integral>" => [signed, unsigned].concat(),
        "<numeric>" => [&signed[..], &unsigned, &["FLOAT", "DOUBLE"]].concat(),
        "<alltypes>" => [
            &signed[..],
            &["FLOAT", "DOUBLE", "BOOL", "INTERVAL", "VARCHAR"],
        ]
        .concat(),
        word => vec![word],
    };
    all.into_iter().map(str::to_owned).collect()
}

fn ask(sql: &str, line: usize, values: &[(String, String)], steps: &mut Vec<Step>) {
    let mut sql = sql.to_owned();
    for (name, value) in values {
        sql = sql.replace(&format!("${{{name}}}"), value);
    }
    // Files of the suite's own machine.
    if ["TEST_DIR", "TEMP_DIR", "DATA_DIR"]
        .iter()
        .any(|folder| sql.contains(folder))
    {
        return;
    }
    for (at, text) in statements(&sql) {
        let data = super::psql::reads_input(&text).then(String::new);
        let line = line + at + 1;
        steps.push(Step::Ask(Asked { line, text, data }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Vec<(usize, String)> {
        let steps = read(text).into_iter();
        let asked = steps.filter_map(|step| match step {
            Step::Ask(asked) => Some((asked.line, asked.text)),
            Step::Again => None,
        });
        asked.collect()
    }

    #[test]
    fn records_end_at_an_empty_line_or_at_their_rows() {
        let text = "# A comment\nrequire parts\n\nstatement ok\nCREATE TABLE t (\n  a INT);\n\n\
                    query I rowsort\nSELECT a FROM t; SELECT 2\n----\nstatement ok\n\n\
                    statement error division\nSELECT 1 / 0\n----\nno\n\n\
                    statement ok con1\nSELECT 3\n\nhalt\n\nstatement ok\nSELECT 4\n";
        let found = asked(text);
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "CREATE TABLE t (\n  a INT)",
                "SELECT a FROM t",
                "SELECT 2",
                "SELECT 1 / 0"
            ]
        );
        assert_eq!(found[0].0, 5);
        assert_eq!(found[1].0, 9);
    }

    #[test]
    fn loops_are_written_out() {
        let text = "loop i 1 3\n\nforeach t INT <signed>\n\nstatement ok\n\
                    SELECT ${i}::${t}\n\nendloop\n\nendloop\n\nloop i 0 0\n\nstatement ok\n\
                    SELECT 8\n\nendloop\n\nquery I\nSELECT 9\n----\n9\n";
        let texts: Vec<String> = asked(text).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts.len(), 13);
        assert_eq!(texts[0], "SELECT 1::INT");
        assert_eq!(texts[11], "SELECT 2::HUGEINT");
        assert_eq!(texts[12], "SELECT 9");
    }
}
