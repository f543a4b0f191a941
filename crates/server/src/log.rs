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

/// A statement whose texts after the word PASSWORD are left out.
fn without_passwords(sql: &str) -> Cow<'_, str> {
    const WORD: &str = "password";
    let lower = sql.to_ascii_lowercase();
    let Some(found) = lower.find(WORD) else {
        return sql.into();
    };
    let (mut text, mut from) = (String::new(), 0);
    let mut next = Some(found);
    while let Some(at) = next {
        let after = at + WORD.len();
        let Some(begin) = sql[after..].find('\'').map(|begin| after + begin) else {
            break;
        };
        // Of one that is not closed, or has quotes in it, rather too much is left out.
        let end = sql[begin + 1..].find([';', ')']).map(|end| begin + 1 + end);
        let end = sql[begin + 1..end.unwrap_or(sql.len())]
            .rfind('\'')
            .map_or(sql.len(), |last| begin + 2 + last);
        text.push_str(&sql[from..begin]);
        text.push_str("'…'");
        from = end;
        next = lower[from..].find(WORD).map(|more| from + more);
    }
    text.push_str(&sql[from..]);
    text.into()
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
        ] {
            assert_eq!(shown(sql), text);
        }
    }
}
