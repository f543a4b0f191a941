//! Whether two answers are the same answer.
//!
//! Rows are compared in order where the statement fixes it, else as multisets. Floats are
//! compared to fifteen digits (REAL to six), as sums of floats depend on the order of rows.
//! Errors are compared by SQLSTATE; of two errors of running, either may come first. Known and
//! wanted differences are rules ([`wanted`]).

use freestone_frontend::types::RangeOf;
use freestone_frontend::values::datetime::{IntervalStyle, SpanFields, read_interval};

use crate::answer::{Answer, Cell, Failure};

/// How answers are compared.
#[derive(Clone, Copy, Debug)]
pub struct Strictness {
    /// Whether rows have an order.
    pub ordered: bool,
    /// Whether names and types of columns count, as far as both sides give them.
    pub columns: bool,
    /// Whether equal numbers of different scales are the same: DISTINCT, GROUP BY and set
    /// operations give any one of equal values.
    pub by_value: bool,
    /// Whether messages of errors count.
    pub messages: bool,
}

/// A difference between the expected answer and ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// PostgreSQL accepts what we refuse.
    Refused(Failure),
    /// We accept what PostgreSQL refuses.
    Accepted(Failure),
    /// Both refuse, with different SQLSTATEs: PostgreSQL's and ours.
    State(Failure, Failure),
    /// Both refuse with one SQLSTATE and different messages: PostgreSQL's and ours.
    Message(String, String),
    /// Another number of columns, or other names: PostgreSQL's and ours.
    Names(String, String),
    /// Other types: PostgreSQL's and ours.
    Types(String, String),
    /// Another word of a statement without columns: PostgreSQL's and ours.
    Done(String, String),
    /// Other rows.
    Rows,
    /// The same rows in another order.
    Order,
}

impl Difference {
    /// A text that is the same for differences of one kind: numbers and quoted parts of
    /// messages are left out.
    pub fn fingerprint(&self) -> String {
        match self {
            Difference::Refused(f) => format!("refused {} {}", f.sqlstate, plain(&f.message)),
            Difference::Accepted(f) => format!("accepted {} {}", f.sqlstate, plain(&f.message)),
            Difference::State(a, b) => {
                format!("state {} {} {}", a.sqlstate, b.sqlstate, plain(&b.message))
            }
            Difference::Message(a, b) => format!("message {} | {}", plain(a), plain(b)),
            Difference::Names(a, b) => {
                let mut pairs = a.split(", ").zip(b.split(", "));
                match pairs.find(|(a, b)| a != b) {
                    Some((a, b)) => format!("names {a} {b}"),
                    None => format!("names {a} {b}"),
                }
            }
            Difference::Types(a, b) => format!("types {a} {b}"),
            Difference::Done(a, b) => format!("done {} {}", plain(a), plain(b)),
            Difference::Rows => "rows".to_owned(),
            Difference::Order => "order".to_owned(),
        }
    }

    /// Whether two differences are of one kind, so that a statement which shows one is as good
    /// as a statement which shows the other.
    pub fn is_like(&self, other: &Difference) -> bool {
        use Difference as D;
        match (self, other) {
            (D::Names(..), D::Names(..)) | (D::Types(..), D::Types(..)) => true,
            (a, b) => a.fingerprint() == b.fingerprint(),
        }
    }
}

/// A message without its names and numbers.
fn plain(message: &str) -> String {
    let mut plain = String::new();
    let mut quoted = false;
    for c in message.chars() {
        match c {
            '"' | '`' => {
                quoted = !quoted;
                plain.push(c);
            }
            _ if quoted || c.is_ascii_digit() => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Whether types are those of a table's rows: they have the table's name, a client is told that
/// they are records.
fn is_row(theirs: &str, ours: &str) -> bool {
    let brackets = ours.strip_prefix("record");
    let name = brackets.and_then(|brackets| theirs.strip_suffix(brackets));
    brackets.is_some_and(|brackets| brackets.is_empty() || brackets == "[]")
        && name.is_some_and(|name| freestone_frontend::types::named(name).is_none())
}

/// The difference between PostgreSQL's answer and ours, if there is one.
pub fn difference(theirs: &Answer, ours: &Answer, how: Strictness) -> Option<Difference> {
    let (expected, got) = match (&theirs.rows, &ours.rows) {
        (Ok(expected), Ok(got)) => (expected, got),
        (Ok(_), Err(failure)) => return Some(Difference::Refused(failure.clone())),
        (Err(failure), Ok(_)) => return Some(Difference::Accepted(failure.clone())),
        (Err(a), Err(b)) => {
            let same = a.sqlstate == b.sqlstate || running(a) && running(b);
            if same && how.messages && !running(a) && a.message != b.message {
                return Some(Difference::Message(a.message.clone(), b.message.clone()));
            }
            return (!same).then(|| Difference::State(a.clone(), b.clone()));
        }
    };
    if let (Some(expected), Some(got)) = (&theirs.done, &ours.done)
        && expected != got
    {
        return Some(Difference::Done(expected.clone(), got.clone()));
    }
    let mut floats = Vec::new();
    // CHAR without a length has no blanks at its end.
    let mut blanks: Vec<bool> = Vec::new();
    let mut spans: Vec<bool> = Vec::new();
    if let (Some(expected), Some(got)) = (&theirs.columns, &ours.columns) {
        let name = |(name, _): &(String, String)| name.clone();
        let ty = |(_, ty): &(String, String)| unmodified(ty);
        if how.columns {
            let names = [expected, got].map(|side| side.iter().map(name).collect::<Vec<_>>());
            if names[0] != names[1] {
                return Some(Difference::Names(names[0].join(", "), names[1].join(", ")));
            }
            let types = [expected, got].map(|side| side.iter().map(ty).collect::<Vec<_>>());
            if types[0] != types[1] {
                let mut pairs = types[0].iter().zip(&types[1]);
                let differing = pairs.find(|(a, b)| a != b && !is_row(a, b));
                if let Some((a, b)) = differing {
                    return Some(Difference::Types(a.clone(), b.clone()));
                }
            }
        }
    }
    if let Some(columns) = ours.columns.as_ref().or(theirs.columns.as_ref()) {
        floats = columns.iter().map(|(_, ty)| precision(ty)).collect();
        blanks = columns.iter().map(|(_, ty)| ty == "bpchar").collect();
        let ty = columns.iter().map(|(_, ty)| unmodified(ty));
        spans = ty.map(|ty| ty == "interval").collect();
    }
    let equal = |a: &[Vec<Cell>], b: &[Vec<Cell>]| {
        let rows = a.iter().zip(b);
        a.len() == b.len()
            && rows.into_iter().all(|(a, b)| {
                a.len() == b.len()
                    && a.iter().zip(b).enumerate().all(|(at, (a, b))| {
                        let digits = floats.get(at).copied().flatten();
                        let cut =
                            |cell: &'_ Cell| cell.as_deref().map(str::trim_end).map(str::to_owned);
                        let alike = blanks.get(at) == Some(&true) && cut(a) == cut(b);
                        alike || same_cell(a, b, digits, how.by_value)
                    })
            })
    };
    if how.ordered && equal(expected, got) {
        return None;
    }
    let mut sorted = [expected.clone(), got.clone()];
    for side in &mut sorted {
        side.sort_by_cached_key(|row| {
            let cells = row.iter().enumerate();
            let key = |(at, cell): (usize, &Cell)| {
                let number = floats.get(at).copied().flatten().is_some() || how.by_value;
                match cell.as_ref().map(|text| (text, text.parse::<f64>())) {
                    Some((_, Ok(value))) if number => Some(format!("{value:.9e}")),
                    Some((text, _)) if blanks.get(at) == Some(&true) => {
                        Some(text.trim_end().to_owned())
                    }
                    _ => cell.clone(),
                }
            };
            let keys = cells.map(key).collect::<Vec<_>>();
            // Of numbers whose first digits are the same the lesser comes first.
            let cells = row.iter().flatten();
            let numbers = cells.map(|text| text.parse().map_or(0, ordered_bits));
            (keys, numbers.collect::<Vec<_>>())
        });
    }
    // Equal intervals that are written in several ways have no order.
    let is_tie = |a: &[Cell], b: &[Cell]| {
        let cells = a.iter().zip(b).enumerate();
        a.len() == b.len()
            && cells.into_iter().all(|(at, (a, b))| {
                let span = spans.get(at) == Some(&true);
                a == b || span && length(a).is_some_and(|one| length(b) == Some(one))
            })
    };
    let are_ties = || expected.iter().zip(got).all(|(a, b)| is_tie(a, b));
    match (equal(&sorted[0], &sorted[1]), how.ordered) {
        (true, false) => None,
        (true, true) if are_ties() => None,
        (true, true) => Some(Difference::Order),
        (false, _) => Some(Difference::Rows),
    }
}

/// The length of an interval, by which intervals are compared.
fn length(cell: &Cell) -> Option<i128> {
    let span = read_interval(
        cell.as_ref()?,
        IntervalStyle::default(),
        SpanFields::default(),
    );
    Some(span.ok()?.length())
}

/// A whole number for a float, in the order of floats.
fn ordered_bits(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    match bits < 0 {
        true => i64::MIN.wrapping_sub(bits),
        false => bits,
    }
}

/// Whether a failure is one of running, not of understanding: which of two wrong rows is seen
/// first is not fixed.
fn running(failure: &Failure) -> bool {
    let classes = ["22", "21", "23", "44", "54", "53"];
    classes
        .iter()
        .any(|class| failure.sqlstate.starts_with(class))
        || of_values(failure)
}

/// Whether a failure without a class of its own depends on values.
fn of_values(failure: &Failure) -> bool {
    let begins = [
        ("0A000", "unit "),
        ("0A000", "cannot convert "),
        ("0A000", "searching for elements in multi"),
        ("0A000", "removing elements from multi"),
        // Patterns of to_char.
        ("42601", "cannot use "),
        ("42601", "multiple decimal points"),
        ("42601", "\"EEEE\" "),
        ("42601", "\"9\" must be ahead of "),
        ("42601", "\"0\" must be ahead of "),
    ];
    begins.iter().any(|(sqlstate, begin)| {
        failure.sqlstate == *sqlstate && failure.message.starts_with(begin)
    })
}

/// A type's name without its modifiers.
fn unmodified(ty: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for c in ty.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    match out.as_str() {
        "bpchar" => "character".to_owned(),
        // `interval day to second`.
        _ if out.starts_with("interval") => "interval".to_owned(),
        // In quotes it has any length.
        _ => out.replace("\"bit\"", "bit"),
    }
}

/// The digits that count of a type of floats.
fn precision(ty: &str) -> Option<i32> {
    match ty {
        "double precision" => Some(14),
        "real" => Some(5),
        _ => None,
    }
}

fn same_cell(a: &Cell, b: &Cell, digits: Option<i32>, by_value: bool) -> bool {
    if a == b {
        return true;
    }
    let (Some(a), Some(b)) = (a, b) else {
        return false;
    };
    if digits.is_none() && !by_value {
        return same_texts(a, b);
    }
    let (Ok(x), Ok(y)) = (a.parse::<f64>(), b.parse::<f64>()) else {
        return false;
    };
    let tolerance = 10f64.powi(-digits.unwrap_or(15));
    x == y || (x - y).abs() <= tolerance * x.abs().max(y.abs())
}

/// Whether two texts are the same but for the last digits of long numbers in them: arrays and
/// JSON of floats.
fn same_texts(a: &str, b: &str) -> bool {
    let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-' | '+');
    let (mut a, mut b) = (a, b);
    loop {
        let cut = |text: &str| text.find(part).unwrap_or(text.len());
        let (at, to) = (cut(a), cut(b));
        if a[..at] != b[..to] {
            return false;
        }
        (a, b) = (&a[at..], &b[to..]);
        if a.is_empty() || b.is_empty() {
            return a.is_empty() && b.is_empty();
        }
        let end = |text: &str| text.find(|c| !part(c)).unwrap_or(text.len());
        let (one, other) = (&a[..end(a)], &b[..end(b)]);
        let long = |text: &str| text.contains('.') && text.len() > 14;
        let near = || match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(x), Ok(y)) => (x - y).abs() <= 1e-14 * x.abs().max(y.abs()),
            _ => false,
        };
        if one != other && !((long(one) || long(other)) && near()) {
            return false;
        }
        (a, b) = (&a[one.len()..], &b[other.len()..]);
    }
}

/// The difference between PostgreSQL's answer to a statement and ours, if there is one, and the
/// reason for which it is wanted, if it is. With `char`, the statement may read columns of the
/// type CHAR.
pub fn judged(
    statement: &str,
    char: bool,
    theirs: &Answer,
    ours: &Answer,
    how: Strictness,
) -> Option<(Difference, Option<&'static str>)> {
    let difference = difference(theirs, ours, how)?;
    let mut reason = wanted(statement, &difference);
    let char = char
        || ["bpchar", "character(", "character["]
            .iter()
            .any(|ty| statement.contains(ty));
    if char && matches!(difference, Difference::Rows | Difference::Order) {
        // Functions of the text of an array are given other texts: the blanks of its elements stand
        // in the middle.
        let of_arrays = ["array_to_string(", "character[]"]
            .iter()
            .all(|part| statement.contains(part));
        let [theirs, ours] = [theirs, ours].map(without_blanks);
        if of_arrays || self::difference(&theirs, &ours, how).is_none() {
            reason = Some("CHAR is held without its trailing blanks");
        }
    }
    Some((difference, reason))
}

/// An answer without the blanks in its rows, and without the quotes that texts with blanks have in
/// records and arrays.
fn without_blanks(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    let cells = answer.rows.iter_mut().flatten().flatten().flatten();
    for cell in cells {
        let quoted = cell.starts_with(['(', '{']);
        cell.retain(|c| c != ' ' && !(quoted && c == '"'));
    }
    answer
}

/// The reason for which a difference is wanted, if it is. `differences.md` lists the rules.
pub fn wanted(statement: &str, difference: &Difference) -> Option<&'static str> {
    match difference {
        Difference::Accepted(failure) | Difference::State(failure, _)
            if failure.sqlstate == "42883"
                && ["max", "min"].iter().any(|name| {
                    let of =
                        |ty| failure.message == format!("function {name}({ty}) does not exist");
                    let types = [
                        "boolean",
                        "bytea",
                        "jsonb",
                        "bit",
                        "bit varying",
                        "macaddr",
                        "macaddr8",
                        "uuid",
                    ];
                    let ranges = RangeOf::ALL;
                    types.into_iter().any(of)
                        || ranges.iter().any(|range| of(range.range_name()))
                        || ranges.iter().any(|range| of(range.multirange_name()))
                }) =>
        {
            Some(
                "max and min of BOOLEAN, BYTEA, JSONB, UUID, bit strings, hardware addresses and ranges",
            )
        }
        Difference::Accepted(failure) | Difference::State(failure, _)
            if failure.sqlstate == "0A000"
                && failure.message == "could not implement recursive UNION" =>
        {
            Some("recursion over bit strings, which have no hash")
        }
        Difference::Accepted(failure) | Difference::State(failure, _)
            if failure.sqlstate == "42883" && failure.message.starts_with("function isfinite(") =>
        {
            Some("isfinite of numbers")
        }
        // PostgreSQL may find another error in the rest of the statement.
        Difference::Refused(failure) | Difference::State(_, failure)
            if failure.sqlstate == "42883"
                && failure.message.starts_with("operator does not exist: ")
                && failure.message.contains(" @@ ")
                && !failure.message.contains("json") =>
        {
            Some("text search")
        }
        Difference::Refused(failure)
            if failure.sqlstate == "22008" && failure.message == "interval out of range" =>
        {
            Some("the time of an INTERVAL is counted in nanoseconds")
        }
        Difference::Refused(failure)
            if failure.sqlstate == "22008"
                && failure.message == "timestamp out of range"
                && statement.contains("age(") =>
        {
            Some("the age of an infinite date")
        }
        Difference::Refused(failure)
            if failure.sqlstate == "54000" && failure.message.contains("too many rows") =>
        {
            Some("the interpreter's limit of rows")
        }
        Difference::Refused(failure)
            if failure.sqlstate == "0A000" && failure.message.starts_with("NaN in a column") =>
        {
            Some("no NaN in NUMERIC of a fixed width")
        }
        Difference::Refused(failure) | Difference::State(_, failure)
            if failure.sqlstate == "0A000" && is_of_lock(&failure.message) =>
        {
            Some("locks of rows that are not done")
        }
        Difference::Accepted(failure) | Difference::State(failure, _)
            if failure.sqlstate == "0A000" && is_of_lock(&failure.message) =>
        {
            Some("where in a query locks are refused")
        }
        Difference::Accepted(failure) | Difference::State(failure, _)
            if failure.sqlstate == "42803"
                && (failure
                    .message
                    .starts_with("subquery uses ungrouped column")
                    || failure.message.starts_with("arguments to GROUPING must be")) =>
        {
            Some("expressions that are grouped by may stand in sub-queries")
        }
        Difference::Accepted(failure) | Difference::State(failure, _)
            if failure.sqlstate == "42804"
                && ["text", "character"].iter().any(|ty| {
                    let of = failure.message.strip_prefix("cannot subscript type ");
                    of.is_some_and(|of| of.starts_with(ty))
                }) =>
        {
            Some("characters of texts by subscripts")
        }
        Difference::Accepted(failure) | Difference::State(failure, _)
            if failure.sqlstate == "42883"
                && ["+ text", "+ character"].iter().any(|of| {
                    failure
                        .message
                        .ends_with(&format!("operator does not exist: {of}"))
                }) =>
        {
            Some("a sign before a text")
        }
        // It computes `max` by a sub-query with LIMIT 1, which takes WITH TIES from the query.
        Difference::Accepted(failure)
            if failure.sqlstate == "21000" && statement.contains("WITH TIES") =>
        {
            Some("a fault of PostgreSQL")
        }
        // PostgreSQL fails by a fault of its own.
        Difference::State(theirs, _) | Difference::Accepted(theirs)
            if theirs.sqlstate == "XX000" =>
        {
            Some("a fault of PostgreSQL")
        }
        Difference::Rows | Difference::Order
            if !statement.is_ascii() && changes_case(statement) =>
        {
            Some("case of characters beyond ASCII")
        }
        Difference::Order
            if has_grouping_sets(statement)
                && statement.contains(" = ")
                && statement.contains("ORDER BY") =>
        {
            Some("the order of sub-totals of a key that equals a constant")
        }
        // An array of rows in that order.
        Difference::Rows
            if has_grouping_sets(statement)
                && statement.contains(" = ")
                && statement.contains("ORDER BY")
                && statement.contains("ARRAY(SELECT") =>
        {
            Some("the order of sub-totals of a key that equals a constant")
        }
        // It computes a key that asks a sub-query again for sub-totals, where it is NULL.
        Difference::Rows if asks_in_grouping_sets(statement) => {
            Some("sub-totals of a key that asks a sub-query")
        }
        // All its keys of DISTINCT are constants to PostgreSQL, which then takes the first row.
        Difference::Rows
            if has_grouping_sets(statement)
                && statement.contains("SELECT DISTINCT")
                && statement.contains(" = ") =>
        {
            Some("DISTINCT of sub-totals of a key that equals a constant")
        }
        // One side has two values where the other has one.
        Difference::Rows
            if statement.contains("SELECT DISTINCT")
                && ["var_samp(", "var_pop(", "variance(", "stddev"]
                    .iter()
                    .any(|call| statement.contains(call)) =>
        {
            Some("distinct variances of floats, whose last digits depend on the order of rows")
        }
        Difference::Rows
            if ["||/", "cbrt(", "asinh(", "acosh(", "atanh("]
                .iter()
                .any(|call| statement.contains(call)) =>
        {
            Some("the last digit of cube roots and inverse hyperbolic functions")
        }
        _ => None,
    }
}

fn has_grouping_sets(statement: &str) -> bool {
    let sets = ["ROLLUP", "CUBE", "GROUPING SETS"];
    sets.iter().any(|word| statement.contains(word))
}

/// Whether a key of grouping sets has a sub-query.
fn asks_in_grouping_sets(statement: &str) -> bool {
    let asks = |rest: &str| {
        let ends = [
            " HAVING ",
            " WINDOW ",
            " ORDER BY ",
            " LIMIT ",
            " UNION ",
            " EXCEPT ",
            " INTERSECT ",
        ];
        let end = ends.iter().filter_map(|word| rest.find(word)).min();
        let groups = &rest[..end.unwrap_or(rest.len())];
        let queries = ["(SELECT", "(VALUES", "EXISTS"];
        has_grouping_sets(groups) && queries.iter().any(|query| groups.contains(query))
    };
    statement.split("GROUP BY").skip(1).any(asks)
}

/// Whether an error is that of a query which cannot lock rows, or not in this way.
fn is_of_lock(message: &str) -> bool {
    let locks = [
        "FOR SHARE",
        "FOR UPDATE",
        "FOR NO KEY UPDATE",
        "FOR KEY SHARE",
    ];
    let refused = [
        "is not supported",
        "is not allowed with",
        "cannot be applied",
    ];
    locks.iter().any(|lock| message.starts_with(lock))
        && refused.iter().any(|why| message.contains(why))
}

/// Whether a difference may be a failure in a value that nothing needs: PostgreSQL computes
/// constants when it plans, and both sides compute other columns of sub-queries.
pub fn may_be_unneeded(difference: &Difference) -> bool {
    match difference {
        Difference::Refused(failure) | Difference::Accepted(failure) => {
            of_values(failure)
                || ["21", "22", "54"]
                    .iter()
                    .any(|class| failure.sqlstate.starts_with(class))
        }
        _ => false,
    }
}

/// Whether a statement that was made as small as it gets has values that need not be computed:
/// those of rows that are not kept, of branches, of columns that nobody reads. `rows` tells that
/// all its tables have rows.
pub fn is_unneeded(least: &str, rows: bool) -> bool {
    let words = [
        " WHERE ",
        "CASE ",
        "coalesce(",
        "COALESCE(",
        " AND ",
        " OR ",
        "FILTER",
        "(SELECT",
        " IN (",
        "LIMIT",
        "greatest(",
        "least(",
        "BETWEEN",
        " ANY (",
        " ALL (",
        " SOME (",
        "ROW(",
        "JOIN",
        "LATERAL",
        "NULL",
        "VALUES",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "OVERLAPS",
        "num_nulls(",
        "num_nonnulls(",
        "EXISTS",
        // They take the values of some rows.
        "lead(",
        "lag(",
        "first_value(",
        "last_value(",
        "nth_value(",
        // In a list they may give no rows.
        "unnest(",
        "generate_series(",
        "generate_subscripts(",
    ];
    let table = least.matches(" FROM ").count() == 1 && least.contains(" FROM t") && rows;
    // An UPDATE computes nothing for a table without rows.
    let given = table || !least.contains(" FROM ") && (rows || !least.starts_with("UPDATE "));
    !given || words.iter().any(|word| least.contains(word)) || compares_rows(least)
}

/// Whether a statement compares rows: the first column often decides, as in `(a, b) <> (1, 2)`.
fn compares_rows(statement: &str) -> bool {
    let mut operators = ["=", "<>", "<", "<=", ">", ">="].iter();
    operators.any(|operator| {
        let between = format!(") {operator} (");
        let mut behind = statement.split(&between).skip(1);
        behind.any(has_several_parts)
    })
}

/// Whether there is a comma in the parentheses that a text begins within.
fn has_several_parts(text: &str) -> bool {
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            ',' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Whether other rows may come of the case or the class of characters beyond ASCII, which are in
/// the data of a statement.
pub fn is_of_case(statement: &str, difference: &Difference, data: &str) -> bool {
    let rows = matches!(difference, Difference::Rows | Difference::Order);
    rows && !data.is_ascii() && changes_case(statement)
}

fn changes_case(statement: &str) -> bool {
    let statement = statement.to_lowercase();
    let words = ["lower(", "upper(", "initcap(", "ilike", "~*", "[[:", "\\w"];
    words.iter().any(|word| statement.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(ty: &str, cells: &[&str]) -> Answer {
        Answer {
            columns: Some(vec![("x".to_owned(), ty.to_owned())]),
            rows: Ok(cells
                .iter()
                .map(|cell| vec![Some((*cell).to_owned())])
                .collect()),
            done: None,
        }
    }

    fn strict(ordered: bool) -> Strictness {
        Strictness {
            ordered,
            columns: true,
            by_value: false,
            messages: false,
        }
    }

    #[test]
    fn sub_queries_count_in_keys_of_grouping_sets_alone() {
        for (statement, asks) in [
            (
                "SELECT 1 FROM t GROUP BY ROLLUP (a, (b > ANY (VALUES (1))))",
                true,
            ),
            (
                "SELECT 1 FROM t GROUP BY CUBE (a) HAVING (SELECT true)",
                false,
            ),
            ("SELECT (SELECT 1) FROM t GROUP BY CUBE (a)", false),
            ("SELECT 1 FROM t GROUP BY (SELECT a)", false),
        ] {
            assert_eq!(asks_in_grouping_sets(statement), asks, "{statement}");
        }
    }

    #[test]
    fn multisets_count_each_row() {
        let a = answer("text", &["a", "b", "a"]);
        assert_eq!(
            difference(&a, &answer("text", &["a", "a", "b"]), strict(false)),
            None
        );
        let other = difference(&a, &answer("text", &["a", "b", "b"]), strict(false));
        assert_eq!(other, Some(Difference::Rows));
        let fewer = difference(&a, &answer("text", &["a", "b"]), strict(false));
        assert_eq!(fewer, Some(Difference::Rows));
    }

    #[test]
    fn blanks_of_char_are_those_of_its_values_alone() {
        let reason = |statement, [theirs, ours]: [&str; 2]| {
            let [theirs, ours] = [theirs, ours].map(|cell| answer("text", &[cell]));
            let judged = judged(statement, false, &theirs, &ours, strict(false));
            judged.map(|(_, reason)| reason.is_some())
        };
        let statement = "SELECT ROW('a '::bpchar)::text";
        assert_eq!(reason(statement, ["(\"a   \")", "(a)"]), Some(true));
        assert_eq!(reason(statement, ["(\"a   \")", "(b)"]), Some(false));
        assert_eq!(reason(statement, ["\"a\"", "a"]), Some(false));
        assert_eq!(
            reason("SELECT ROW('a ')::text", ["(\"a \")", "(a)"]),
            Some(false)
        );
    }

    #[test]
    fn rows_that_differ_in_late_digits_alone_are_told_apart() {
        let rows = |cells: [&str; 2]| answer("text", &cells);
        let (near, far) = ("100.001555555", "100.0015555555");
        let how = Strictness {
            by_value: true,
            ..strict(false)
        };
        assert_eq!(
            difference(&rows([near, far]), &rows([far, near]), how),
            None
        );
        let other = difference(&rows([near, near]), &rows([far, near]), how);
        assert_eq!(other, Some(Difference::Rows));
        assert!(ordered_bits(-2.0) < ordered_bits(-1.0) && ordered_bits(-1.0) < ordered_bits(0.5));
    }

    #[test]
    fn equal_intervals_have_no_order() {
        let rows = |cells: [&str; 2]| answer("interval", &cells);
        let (one, other) = ("1 mon -1 days +00:00:01", "29 days 00:00:01");
        let how = strict(true);
        assert_eq!(
            difference(&rows([one, other]), &rows([other, one]), how),
            None
        );
        let found = difference(&rows([one, "1 day"]), &rows(["1 day", one]), how);
        assert_eq!(found, Some(Difference::Order));
        let found = difference(&rows([one, one]), &rows([one, other]), how);
        assert_eq!(found, Some(Difference::Rows));
    }

    #[test]
    fn an_order_counts_where_it_is_fixed() {
        let (a, b) = (answer("text", &["a", "b"]), answer("text", &["b", "a"]));
        assert_eq!(difference(&a, &b, strict(true)), Some(Difference::Order));
        assert_eq!(difference(&a, &b, strict(false)), None);
    }

    #[test]
    fn floats_are_compared_to_fifteen_digits() {
        let a = answer("double precision", &["0.1", "30000000000000004"]);
        let b = answer("double precision", &["30000000000000000", "0.1"]);
        assert_eq!(difference(&a, &b, strict(false)), None);
        let c = answer("double precision", &["0.1", "3.1"]);
        assert_eq!(difference(&a, &c, strict(false)), Some(Difference::Rows));
        let json = [
            answer("json", &["[2.3124383412727525, 1]"]),
            answer("json", &["[2.312438341272753, 1]"]),
        ];
        assert_eq!(difference(&json[0], &json[1], strict(false)), None);
        let other = answer("json", &["[2.312438341272753, 2]"]);
        assert_eq!(
            difference(&json[0], &other, strict(false)),
            Some(Difference::Rows)
        );
        let numeric = [answer("numeric", &["1.0"]), answer("numeric", &["1.00"])];
        let rows = difference(&numeric[0], &numeric[1], strict(false));
        assert_eq!(rows, Some(Difference::Rows));
        let text = [answer("text", &["(a ,b)"]), answer("text", &["(a,b)"])];
        let reason = |char| {
            let judged = judged(
                "SELECT r::text FROM r",
                char,
                &text[0],
                &text[1],
                strict(false),
            );
            judged.and_then(|(_, reason)| reason)
        };
        assert!(reason(true).is_some());
        assert_eq!(reason(false), None);
        let by_value = Strictness {
            by_value: true,
            ..strict(false)
        };
        assert_eq!(difference(&numeric[0], &numeric[1], by_value), None);
    }

    #[test]
    fn blanks_at_the_end_count_where_they_mean_something() {
        let of = |ty, cell| answer(ty, &[cell]);
        let char = difference(&of("bpchar", "a "), &of("bpchar", "a"), strict(false));
        assert_eq!(char, None);
        let text = difference(&of("text", "a "), &of("text", "a"), strict(false));
        assert_eq!(text, Some(Difference::Rows));
        let before = difference(&of("bpchar", " a"), &of("bpchar", "a"), strict(false));
        assert_eq!(before, Some(Difference::Rows));
    }

    #[test]
    fn only_values_that_may_stay_uncomputed_excuse_a_failure() {
        let failure = |sqlstate: &str| {
            let answer = Answer::failed(sqlstate, "x");
            Difference::Accepted(answer.rows.unwrap_err())
        };
        assert!(may_be_unneeded(&failure("22012")));
        assert!(!may_be_unneeded(&failure("42883")));
        assert!(!may_be_unneeded(&Difference::Rows));
        assert!(is_unneeded("SELECT 1 FROM t WHERE 1 / 0 = 1", true));
        assert!(is_unneeded("SELECT 1 / 0 FROM t0 AS r", false));
        assert!(!is_unneeded("SELECT 1 / 0 FROM t0 AS r", true));
        assert!(!is_unneeded("SELECT 1 / 0", true));
        assert!(is_unneeded("SELECT 1 / 0, unnest(ARRAY[]::int[])", true));
        assert!(is_unneeded("SELECT (1 / 0, 1) <> (f(2, 3), 5)", true));
        assert!(!is_unneeded("SELECT (1 / 0) <> (f(2, 3))", true));
    }

    #[test]
    fn types_count_without_modifiers() {
        let (a, b) = (
            answer("character varying(3)", &[]),
            answer("character varying", &[]),
        );
        assert_eq!(difference(&a, &b, strict(true)), None);
        let other = difference(&a, &answer("text", &[]), strict(true));
        assert!(matches!(other, Some(Difference::Types(..))), "{other:?}");
    }

    #[test]
    fn errors_of_running_may_come_in_any_order() {
        let fail = |state: &str| Answer::failed(state, "");
        assert_eq!(
            difference(&fail("22012"), &fail("22003"), strict(true)),
            None
        );
        let state = difference(&fail("42883"), &fail("42804"), strict(true));
        assert!(matches!(state, Some(Difference::State(..))), "{state:?}");
        let how = Strictness {
            messages: true,
            ..strict(true)
        };
        let message = difference(&fail("42883"), &Answer::failed("42883", "x"), how);
        assert!(
            matches!(message, Some(Difference::Message(..))),
            "{message:?}"
        );
        let refused = difference(&answer("text", &[]), &fail("0A000"), strict(true));
        assert!(
            matches!(refused, Some(Difference::Refused(_))),
            "{refused:?}"
        );
    }
}
