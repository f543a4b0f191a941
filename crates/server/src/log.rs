//! What happens, line by line, for those who look after a server.

use std::borrow::Cow;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// How lines are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Not at all.
    #[default]
    Off,
    /// `time event key=value …`.
    Text,
    /// A JSON object a line.
    Json,
}

/// Writes to standard error.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Log {
    pub(crate) format: LogFormat,
    /// Statements that take longer are told; none if it is not set.
    pub(crate) slow: Option<Duration>,
}

/// Bytes of a statement that are shown.
const SHOWN: usize = 1_000;

impl Log {
    /// Tells that something happened, with what is to be known of it.
    pub(crate) fn tell(&self, event: &str, facts: &[(&str, Value)]) {
        if let Some(line) = self.line(SystemTime::now(), event, facts) {
            // Nobody can be told that nobody can be told.
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }

    fn line(&self, now: SystemTime, event: &str, facts: &[(&str, Value)]) -> Option<String> {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = format!("{}.{:03}", since.as_secs(), since.subsec_millis());
        match self.format {
            LogFormat::Off => None,
            LogFormat::Json => {
                let mut all = Map::new();
                // In range: seconds have ten digits.
                all.insert("time".into(), time.parse::<f64>().unwrap_or(0.0).into());
                all.insert("event".into(), event.into());
                let facts = facts.iter().cloned();
                all.extend(facts.map(|(name, value)| (name.to_owned(), value)));
                Some(format!("{}\n", Value::Object(all)))
            }
            LogFormat::Text => {
                let facts = facts.iter().map(|(name, value)| format!(" {name}={value}"));
                Some(format!("{time} {event}{}\n", facts.collect::<String>()))
            }
        }
    }
}

/// As much of a statement as is shown; passwords are not.
pub(crate) fn shown(sql: &str) -> Value {
    let sql = without_passwords(sql);
    let end = sql.char_indices().map(|(at, _)| at);
    match end.take_while(|at| *at <= SHOWN).last() {
        Some(end) if sql.len() > SHOWN => format!("{}…", &sql[..end]).into(),
        _ => sql.into(),
    }
}

/// What is shown in the place of a password.
const LEFT_OUT: &str = "'…'";

/// A statement without what follows the word PASSWORD: a word, and the next text.
fn without_passwords(sql: &str) -> Cow<'_, str> {
    const WORD: &str = "password";
    let lower = sql.to_ascii_lowercase();
    let Some(found) = lower.find(WORD) else {
        return sql.into();
    };
    let (mut text, mut from) = (String::new(), 0);
    let mut next = Some(found);
    while let Some(at) = next {
        let mut after = at + WORD.len();
        if let Some((begin, end)) = bare(sql, after) {
            text.push_str(&sql[from..begin]);
            text.push_str(LEFT_OUT);
            (from, after) = (end, end);
        }
        // A word that is one may be none: rather too much is left out.
        if let Some((begin, end)) = quoted(sql, after) {
            text.push_str(&sql[from..begin]);
            text.push_str(LEFT_OUT);
            (from, after) = (end, end);
        }
        next = lower[after..].find(WORD).map(|more| after + more);
    }
    text.push_str(&sql[from..]);
    text.into()
}

/// Where the word after a blank begins and ends, unless it is NULL or begins a text.
fn bare(sql: &str, after: usize) -> Option<(usize, usize)> {
    let rest = sql[after..].trim_start();
    let begin = sql.len() - rest.len();
    if begin == after {
        return None;
    }
    let length = match rest.strip_prefix('"') {
        Some(named) => named.find('"').map_or(rest.len(), |end| end + 2),
        None => {
            let ends = |c: char| !c.is_alphanumeric() && c != '_';
            rest.find(ends).unwrap_or(rest.len())
        }
    };
    let (word, then) = rest.split_at(length);
    let none = word.is_empty() || word.eq_ignore_ascii_case("null") || then.starts_with('\'');
    (!none).then_some((begin, begin + length))
}

/// Where the next text begins and ends: `'…'`, `$$…$$` or `$tag$…$tag$`.
fn quoted(sql: &str, after: usize) -> Option<(usize, usize)> {
    let rest = &sql[after..];
    let mut places = rest.match_indices(['\'', '$']);
    let (begin, tag) = places.find_map(|(at, sign)| match sign {
        "$" => tag(&rest[at..]).map(|tag| (at, tag)),
        _ => Some((at, sign)),
    })?;
    let inside = begin + tag.len();
    let end = match tag {
        // Of one that is not closed, or has quotes in it, rather too much is left out.
        "'" => {
            let end = rest[inside..].find([';', ')']);
            let end = end.map_or(rest.len(), |end| inside + end);
            rest[inside..end].rfind('\'').map(|last| inside + last + 1)
        }
        tag => rest[inside..]
            .find(tag)
            .map(|last| inside + last + tag.len()),
    };
    Some((after + begin, after + end.unwrap_or(rest.len())))
}

/// The tag that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('$')?;
    let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let digit = inside.starts_with(|c: char| c.is_ascii_digit());
    (!digit && inside[end..].starts_with('$')).then(|| &text[..end + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_lines() {
        let at = UNIX_EPOCH + Duration::from_millis(1_500);
        let facts = [("user", Value::from("a \"b\"\n")), ("ms", 3.into())];
        let line = |format| Log { format, slow: None }.line(at, "failed", &facts);
        assert_eq!(line(LogFormat::Off), None);
        let text = line(LogFormat::Text).unwrap();
        assert_eq!(text, "1.500 failed user=\"a \\\"b\\\"\\n\" ms=3\n");
        let json: Value = serde_json::from_str(&line(LogFormat::Json).unwrap()).unwrap();
        assert_eq!(json["user"], "a \"b\"\n");
        assert_eq!(
            (&json["event"], &json["time"]),
            (&"failed".into(), &1.5.into())
        );
        assert_eq!(shown(&"é".repeat(600)), format!("{}…", "é".repeat(500)));
    }

    #[test]
    fn passwords_are_not_shown() {
        for (sql, text) in [
            (
                "ALTER ROLE a PASSWORD 'geheim'",
                "ALTER ROLE a PASSWORD '…'",
            ),
            (
                "create user é password 'it''s' login; SELECT 'x'",
                "create user é password '…' login; SELECT 'x'",
            ),
            (
                "ALTER ROLE a PASSWORD 'geh;eim",
                "ALTER ROLE a PASSWORD '…'",
            ),
            ("SELECT 1", "SELECT 1"),
            ("ALTER ROLE a PASSWORD NULL", "ALTER ROLE a PASSWORD NULL"),
            ("ALTER ROLE a PASSWORD $1", "ALTER ROLE a PASSWORD $1"),
            (
                "ALTER ROLE a PASSWORD $$geh'eim$$ LOGIN; SELECT 'x'",
                "ALTER ROLE a PASSWORD '…' LOGIN; SELECT 'x'",
            ),
            (
                "ALTER ROLE a PASSWORD\n$é1$ge$heim",
                "ALTER ROLE a PASSWORD\n'…'",
            ),
            ("ALTER ROLE a PASSWORD geheim", "ALTER ROLE a PASSWORD '…'"),
            (
                "ALTER ROLE a PASSWORD \"geh eim\" x",
                "ALTER ROLE a PASSWORD '…' x",
            ),
            (
                "CREATE USER a PASSWORD E'geheim'",
                "CREATE USER a PASSWORD E'…'",
            ),
            (
                "UPDATE t SET password = 'a', password_2 = $b$c$b$",
                "UPDATE t SET password = '…', password_2 = '…'",
            ),
            (
                "SELECT password('a'), password ('b')",
                "SELECT password('…'), password ('…')",
            ),
        ] {
            assert_eq!(shown(sql), text);
        }
    }
}
