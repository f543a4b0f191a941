//! The committed list of records that fail, each with its reason.
//!
//! One line per record: `file:line`, reason and shortened SQL, separated by
//! tabs. The list is a ratchet: a failure that is not in it fails the run, and
//! so does an entry whose record passes now.

use std::collections::BTreeMap;
use std::fmt::Write;

const HEADING: &str =
    "# Records of SQLite's test files that Freestone answers differently: place, reason, SQL.
# `slt --bless` writes it and keeps the reasons of records already listed, which people may put
# better; an entry that passes fails the run, so the list can only shrink.
";

/// A record that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failed {
    /// File relative to the folder, without `.zst`.
    pub file: String,
    /// Line of the record's first line in that file.
    pub line: u32,
    /// What happened instead of the expected.
    pub reason: String,
    /// The record's SQL.
    pub sql: String,
}

/// The list as committed: place → whole line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known(BTreeMap<(String, u32), String>);

impl Known {
    /// Parses the list.
    ///
    /// # Errors
    /// Names the line that does not start with `file:line`.
    pub fn parse(text: &str) -> Result<Known, String> {
        let mut known = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = line.split('\t').next().unwrap_or("");
            let (file, at) = place
                .rsplit_once(':')
                .and_then(|(file, at)| Some((file, at.parse().ok()?)))
                .ok_or_else(|| format!("line {number}: expected `file:line`, found `{place}`"))?;
            known.insert((file.to_string(), at), line.to_string());
        }
        Ok(Known(known))
    }

    /// Whether this failure is expected.
    pub fn contains(&self, failed: &Failed) -> bool {
        self.0.contains_key(&(failed.file.clone(), failed.line))
    }

    /// Entries of `files` that are not among `failed`: their records pass now,
    /// or are not there any more.
    pub fn mended(&self, failed: &[Failed], files: &[String]) -> Vec<&str> {
        let failing: std::collections::BTreeSet<_> =
            failed.iter().map(|f| (f.file.clone(), f.line)).collect();
        self.0
            .iter()
            .filter(|(place, _)| files.contains(&place.0) && !failing.contains(place))
            .map(|(_, line)| line.as_str())
            .collect()
    }
}

/// The list that `failed` would make. Records already `known` keep their line.
pub fn write(failed: &[Failed], known: &Known) -> String {
    let mut sorted = failed.to_vec();
    sorted.sort();
    let mut text = HEADING.to_string();
    for failed in sorted {
        let Failed {
            file,
            line,
            reason,
            sql,
        } = &failed;
        let _ = match known.0.get(&(file.clone(), *line)) {
            Some(kept) => writeln!(text, "{kept}"),
            None => {
                let (reason, sql) = (shorten(reason, 110), shorten(sql, 100));
                writeln!(text, "{file}:{line}\t{reason}\t{sql}")
            }
        };
    }
    text
}

/// One line of at most `limit` characters.
pub fn shorten(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(file: &str, line: u32) -> Failed {
        Failed {
            file: file.into(),
            line,
            reason: "expected 1,\ngot 2".into(),
            sql: "SELECT 'a\tb'".into(),
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        let all = [failed("b.test", 7), failed("a.test", 12)];
        let text = write(&all, &Known::default());
        assert!(text.ends_with("a.test:12\texpected 1, got 2\tSELECT 'a b'\nb.test:7\texpected 1, got 2\tSELECT 'a b'\n"));
        let known = Known::parse(&text).unwrap();
        assert!(all.iter().all(|failed| known.contains(failed)));
        assert!(!known.contains(&failed("a.test", 13)));
        assert!(Known::parse("nonsense\n").is_err());
    }

    #[test]
    fn an_entry_that_passes_is_reported() {
        let all = [
            failed("a.test", 1),
            failed("a.test", 2),
            failed("b.test", 3),
        ];
        let known = Known::parse(&write(&all, &Known::default())).unwrap();
        let mended = known.mended(&[failed("a.test", 2)], &["a.test".to_string()]);
        assert_eq!(mended.len(), 1);
        assert!(mended[0].starts_with("a.test:1\t"));
    }

    #[test]
    fn a_reason_written_by_hand_is_kept() {
        let by_hand = "a.test:1\tas PostgreSQL does\tSELECT 1";
        let known = Known::parse(by_hand).unwrap();
        let text = write(&[failed("a.test", 1), failed("a.test", 2)], &known);
        assert!(
            text.contains(&format!("{by_hand}\na.test:2\texpected")),
            "{text}"
        );
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        assert_eq!(shorten("ééé", 2), "éé…");
        assert_eq!(shorten("a\n b", 10), "a b");
    }
}
