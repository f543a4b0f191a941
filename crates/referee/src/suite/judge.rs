//! Judgements of the two answers to a statement of a suite.

use super::apart::Apart;
use super::text::tokens;
use crate::answer::{Answer, Cell, Failure};
use crate::compare::{self, Difference, Strictness};
use crate::corpus::is_ordered;

/// A judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both answer alike.
    Agree,
    /// Both refuse, with one SQLSTATE or with two.
    BothRefuse { alike: bool },
    /// They differ on purpose.
    Wanted,
    /// Values that cannot be equal, or rows that the statement does not fix.
    LeftOut,
    /// An earlier difference explains this one.
    Follows,
    /// PostgreSQL answers, Freestone answers otherwise.
    Wrong(Difference),
    /// PostgreSQL answers, Freestone refuses.
    Refused(Failure),
    /// PostgreSQL refuses, Freestone answers.
    Accepted(Failure),
}

/// Words for values of the moment.
const MOMENT: [&str; 14] = [
    "random",
    "now",
    "current_timestamp",
    "current_date",
    "current_time",
    "localtime",
    "localtimestamp",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "timeofday",
    "gen_random_uuid",
    "txid_current",
    "pg_current_xact_id",
];

/// Words for values that are each server's own.
const OWN: [&str; 34] = [
    "version",
    "server_version",
    "server_version_num",
    "pg_backend_pid",
    "oid",
    "ctid",
    "xmin",
    "xmax",
    "cmin",
    "tableoid",
    "reltuples",
    "relpages",
    "relfilenode",
    "log_cnt",
    "pg_relation_size",
    "pg_total_relation_size",
    "pg_table_size",
    "pg_indexes_size",
    "pg_database_size",
    "pg_column_size",
    "pg_my_temp_schema",
    "pg_current_wal_lsn",
    "tablesample",
    "explain",
    "hashtext",
    "pg_stat_activity",
    "pg_settings",
    "pg_locks",
    "pg_postmaster_start_time",
    "table_catalog",
    "catalog_name",
    "today",
    "yesterday",
    "tomorrow",
];

/// Whether a statement has values that differ at each call.
fn is_of_moment(statement: &str, tokens: &[String]) -> bool {
    tokens.iter().any(|token| MOMENT.contains(&token.as_str()))
        || statement.contains("'now'")
        || statement.contains("'today'")
}

/// Judges the answers to a statement and takes note of what follows from them.
pub fn judge(statement: &str, theirs: &Answer, ours: &Answer, apart: &mut Apart) -> Verdict {
    let verdict = verdict(statement, theirs, ours, apart);
    let alike = matches!(
        verdict,
        Verdict::Agree | Verdict::BothRefuse { .. } | Verdict::LeftOut
    );
    let differ = !alike
        || theirs.accepted() != ours.accepted()
        || is_of_moment(statement, &tokens(statement));
    apart.note(statement, theirs, ours, differ);
    if let Verdict::Wrong(_) = verdict
        && !apart.is_first(statement)
    {
        return Verdict::Follows;
    }
    verdict
}

fn verdict(statement: &str, theirs: &Answer, ours: &Answer, apart: &Apart) -> Verdict {
    let by_value = [
        "distinct",
        "union",
        "intersect",
        "except",
        "group",
        "limit",
        "fetch",
        "greatest",
        "least",
        "max",
        "min",
        "using",
        "natural",
        "in",
    ];
    let tokens = tokens(statement);
    let has = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.as_str()));
    let how = Strictness {
        ordered: is_ordered(statement),
        columns: true,
        by_value: has(&by_value),
        messages: false,
    };
    let Some((difference, reason)) = compare::judged(statement, true, theirs, ours, how) else {
        return match theirs.accepted() {
            true => Verdict::Agree,
            false => Verdict::BothRefuse { alike: true },
        };
    };
    if let Difference::State(..) | Difference::Message(..) = difference {
        return Verdict::BothRefuse { alike: false };
    }
    if reason.is_some() {
        return Verdict::Wanted;
    }
    if apart.explains(statement, theirs, ours) {
        return Verdict::Follows;
    }
    let timed_out = |failure: &Failure| failure.sqlstate == "57014";
    match difference {
        Difference::Refused(failure) => Verdict::Refused(failure),
        Difference::Accepted(failure) if timed_out(&failure) => Verdict::LeftOut,
        Difference::Accepted(failure) => Verdict::Accepted(failure),
        Difference::Order if same_keys(&tokens, theirs, ours) => Verdict::Agree,
        Difference::Rows | Difference::Done(..) if is_open(statement, &tokens, theirs, ours) => {
            Verdict::LeftOut
        }
        // A type whose name a short time limit kept from being told.
        Difference::Types(one, other) if [&one, &other].iter().any(|ty| is_number(ty)) => {
            Verdict::LeftOut
        }
        other => Verdict::Wrong(other),
    }
}

/// Whether a type is told by its number instead of its name.
fn is_number(ty: &str) -> bool {
    let number = ty.strip_prefix("type ");
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether rows in another order have the sort keys that are columns of the result in one order.
/// Keys are compared up to the first that is none.
fn same_keys(tokens: &[String], theirs: &Answer, ours: &Answer) -> bool {
    let (Some(columns), Ok(theirs), Ok(ours)) = (&theirs.columns, &theirs.rows, &ours.rows) else {
        return false;
    };
    let keys = keys(tokens, columns);
    let of = |row: &Vec<Cell>| -> Vec<Cell> { keys.iter().map(|key| row[*key].clone()).collect() };
    theirs.iter().map(of).eq(ours.iter().map(of))
}

/// The columns that the outermost ORDER BY names first.
fn keys(tokens: &[String], columns: &[(String, String)]) -> Vec<usize> {
    let mut depth = 0;
    let mut begin = None;
    for (at, pair) in tokens.windows(2).enumerate() {
        match pair[0].as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "order" if depth == 0 && pair[1] == "by" => begin = Some(at + 2),
            _ => {}
        }
    }
    let Some(begin) = begin else {
        return Vec::new();
    };
    let ends = ["limit", "offset", "fetch", "for", ")"];
    let list = tokens[begin..].iter().map(String::as_str);
    let list: Vec<&str> = list.take_while(|token| !ends.contains(token)).collect();
    let mut keys = Vec::new();
    for item in list.split(|token| *token == ",") {
        let words = ["asc", "desc", "nulls", "first", "last"];
        let item: Vec<&&str> = item.iter().filter(|token| !words.contains(token)).collect();
        let name = match item.as_slice() {
            [name] => name,
            [_, dot, name] if **dot == "." => name,
            _ => break,
        };
        let column = match name.parse::<usize>() {
            Ok(number) => number.checked_sub(1).filter(|at| *at < columns.len()),
            Err(_) => columns.iter().position(|(column, _)| column == **name),
        };
        match column {
            Some(column) => keys.push(column),
            None => break,
        }
    }
    keys
}

/// Whether a statement leaves its rows open: by a limit, by an order within an aggregate, or by
/// values that differ at each call.
fn is_open(statement: &str, tokens: &[String], one: &Answer, other: &Answer) -> bool {
    let has = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.as_str()));
    if is_of_moment(statement, tokens) || has(&OWN) {
        return true;
    }
    // The catalog as a whole has each side's own objects.
    let catalog = tokens.iter().any(|token| token.starts_with("pg_"));
    if catalog && !has(&["where", "on"]) || matches!((&one.done, catalog), (Some(_), true)) {
        return true;
    }
    // Numbers of objects are each side's own.
    let own = |(name, ty): &(String, String)| {
        OWN.contains(&name.as_str()) || ty == "oid" || ty == "oid[]"
    };
    if one.columns.iter().flatten().any(own) {
        return true;
    }
    let (Ok(theirs), Ok(ours)) = (&one.rows, &other.rows) else {
        return false;
    };
    if theirs.len() == ours.len() && has(&["limit", "fetch", "row_number", "lag", "lead", "rows"]) {
        return !has(&["order"]) || has(&["row_number", "lag", "lead", "rows"]) && !has(&["limit"]);
    }
    if theirs.len() == ours.len() && has(&["limit", "fetch"]) {
        // Of equal keys any row may be within the limit.
        return same_keys(tokens, one, other)
            && !keys(tokens, one.columns.as_deref().unwrap_or(&[])).is_empty();
    }
    // Aggregates without an order take rows as they come.
    let sorted = |rows: &[Vec<Cell>]| {
        let mut cells: Vec<Vec<char>> = Vec::new();
        for cell in rows.iter().flatten().flatten() {
            let mut letters: Vec<char> = cell.chars().collect();
            letters.sort_unstable();
            cells.push(letters);
        }
        cells.sort();
        cells
    };
    tokens.iter().any(|token| token.ends_with("_agg")) && sorted(theirs) == sorted(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: &[&str], rows: &[&[&str]]) -> Answer {
        let cell = |cell: &&str| Some((*cell).to_owned());
        let column = |name: &&str| ((*name).to_owned(), "text".to_owned());
        Answer {
            columns: Some(columns.iter().map(column).collect()),
            rows: Ok(rows
                .iter()
                .map(|row| row.iter().map(cell).collect())
                .collect()),
            done: None,
        }
    }

    fn judged(statement: &str, theirs: &Answer, ours: &Answer) -> Verdict {
        judge(statement, theirs, ours, &mut Apart::default())
    }

    #[test]
    fn an_order_counts_as_far_as_it_is_given() {
        let one = rows(&["a", "b"], &[&["1", "x"], &["1", "y"], &["2", "z"]]);
        let other = rows(&["a", "b"], &[&["1", "y"], &["1", "x"], &["2", "z"]]);
        assert_eq!(judged("SELECT a, b FROM t", &one, &other), Verdict::Agree);
        let by = |keys: &str| judged(&format!("SELECT a, b FROM t ORDER BY {keys}"), &one, &other);
        assert_eq!(by("t.a DESC NULLS LAST"), Verdict::Agree);
        assert_eq!(by("1, 2"), Verdict::Wrong(Difference::Order));
        assert_eq!(by("a, b || 'x'"), Verdict::Agree);
    }

    #[test]
    fn rows_that_are_not_fixed_are_left_out() {
        let one = rows(&["a"], &[&["1"]]);
        let other = rows(&["a"], &[&["2"]]);
        for (statement, wrong) in [
            ("SELECT a FROM t", true),
            ("SELECT random() AS a", false),
            ("SELECT a FROM t LIMIT 1", false),
            ("SELECT a FROM t ORDER BY a LIMIT 1", true),
            ("SELECT 'random' AS a", true),
        ] {
            let verdict = judged(statement, &one, &other);
            assert_eq!(verdict != Verdict::LeftOut, wrong, "{statement}");
        }
        let one = rows(&["a"], &[&["{1,2}"]]);
        let other = rows(&["a"], &[&["{2,1}"]]);
        assert_eq!(
            judged("SELECT array_agg(a) AS a FROM t", &one, &other),
            Verdict::LeftOut
        );
    }

    #[test]
    fn refusals_count_apart_where_they_follow() {
        let mut apart = Apart::default();
        let made = rows(&[], &[]);
        let refused = Answer::failed("0A000", "not offered");
        let statement = "CREATE TABLE odd (a point)";
        let Answer {
            rows: Err(failure), ..
        } = refused.clone()
        else {
            return;
        };
        assert_eq!(
            judge(statement, &made, &refused, &mut apart),
            Verdict::Refused(failure)
        );
        let lacking = Answer::failed("42P01", "relation \"odd\" does not exist");
        let verdict = judge("SELECT * FROM odd", &made, &lacking, &mut apart);
        assert_eq!(verdict, Verdict::Follows);
        let both = judge("SELECT * FROM none", &lacking, &lacking, &mut apart);
        assert_eq!(both, Verdict::BothRefuse { alike: true });
    }
}
