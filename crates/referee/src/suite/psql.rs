//! Reader of scripts for psql.
//!
//! Commands with a backslash are left out, but for those that set a variable and those that
//! begin the session anew.

use std::collections::HashMap;
use std::path::Path;

use super::text::{end, placed, quoted, tokens};
use super::{Asked, Step};

/// The steps of a script that lies at a path.
pub fn read(script: &str, path: &Path) -> Vec<Step> {
    let folder = path.parent().and_then(Path::parent).unwrap_or(path);
    let mut reader = Reader {
        variables: HashMap::new(),
        folder: folder.display().to_string(),
        steps: Vec::new(),
    };
    reader.read(script);
    reader.steps
}

struct Reader {
    variables: HashMap<String, String>,
    /// The folder that scripts know as that of the suite's sources.
    folder: String,
    steps: Vec<Step>,
}

impl Reader {
    fn read(&mut self, script: &str) {
        let bytes = script.as_bytes();
        // Statements begin at `from`; what `\;` separates is one statement for psql only.
        let mut from = 0;
        while from < script.len() {
            let until = end(bytes, from, true);
            let (line, statement) = placed(script, from, until);
            let line_end = |at: usize| {
                let end = script[at..].find('\n');
                end.map_or(script.len(), |end| at + end + 1)
            };
            from = match bytes.get(until) {
                Some(b'\\') if bytes.get(until + 1) == Some(&b';') => until + 2,
                Some(b'\\') => {
                    let next = line_end(until);
                    self.command(script[until + 1..next].trim(), statement, line);
                    next
                }
                _ => until + 1,
            };
            if bytes.get(until) == Some(&b'\\') && bytes.get(until + 1) != Some(&b';') {
                continue;
            }
            let mut data = None;
            if !statement.is_empty() && reads_input(statement) && from <= script.len() {
                let begin = line_end(from.min(script.len()));
                let rows = &script[begin..];
                let length = match rows.starts_with("\\.") {
                    true => 0,
                    false => rows.find("\n\\.").map_or(rows.len(), |end| end + 1),
                };
                data = Some(rows[..length].to_owned());
                from = line_end(begin + length);
            }
            self.ask(statement, line, data);
        }
    }

    fn ask(&mut self, statement: &str, line: usize, data: Option<String>) {
        if !statement.is_empty() {
            let text = self.filled(statement);
            let line = line + 1;
            self.steps.push(Step::Ask(Asked { line, text, data }));
        }
    }

    /// Carries a command out that stands behind a statement or alone.
    fn command(&mut self, command: &str, statement: &str, line: usize) {
        let mut words = command.split_whitespace();
        let name = words.next().unwrap_or("");
        match name {
            "set" => {
                let variable = words.next().unwrap_or("").to_owned();
                let value = words.map(|word| {
                    let named = word.strip_prefix(':').and_then(|of| self.variables.get(of));
                    named
                        .cloned()
                        .unwrap_or_else(|| word.trim_matches('\'').to_owned())
                });
                let value = value.collect();
                self.variables.insert(variable, value);
            }
            "getenv" => {
                if let (Some(variable), Some("PG_ABS_SRCDIR")) = (words.next(), words.next()) {
                    self.variables
                        .insert(variable.to_owned(), self.folder.clone());
                }
            }
            "c" | "connect" => self.steps.push(Step::Again),
            // They run the statement before them.
            _ if name.starts_with('g') || name.starts_with("crosstab") => {
                self.ask(statement, line, None);
            }
            _ => {}
        }
    }

    /// A statement with the values of its variables.
    fn filled(&self, statement: &str) -> String {
        let bytes = statement.as_bytes();
        let mut out = String::new();
        let (mut at, mut from) = (0, 0);
        while at < bytes.len() {
            if let Some(end) = quoted(bytes, at) {
                at = end;
                continue;
            }
            let doubled = at > 0 && bytes[at - 1] == b':';
            if bytes[at] == b':'
                && !doubled
                && let Some((length, value)) = self.value(&statement[at + 1..])
            {
                out.push_str(&statement[from..at]);
                out.push_str(&value);
                at += 1 + length;
                from = at;
                continue;
            }
            at += 1;
        }
        out.push_str(&statement[from..]);
        out
    }

    /// The value of the variable whose name a text begins with, and the name's length.
    fn value(&self, text: &str) -> Option<(usize, String)> {
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let name = &text[usize::from(quote.is_some())..];
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &name[..end.unwrap_or(name.len())];
        let value = self.variables.get(name)?;
        Some(match quote {
            Some(quote) => (name.len() + 2, format!("{quote}{value}{quote}")),
            None => (name.len(), value.clone()),
        })
    }
}

/// Whether a statement reads rows from the lines behind it.
pub fn reads_input(statement: &str) -> bool {
    let tokens = tokens(statement);
    let pairs = tokens.windows(2);
    tokens.first().is_some_and(|first| first == "copy")
        && pairs.into_iter().any(|pair| pair == ["from", "stdin"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &str) -> Vec<(usize, String, Option<String>)> {
        let steps = read(script, Path::new("/suite/sql/one.sql")).into_iter();
        let asked = steps.filter_map(|step| match step {
            Step::Ask(asked) => Some((asked.line, asked.text, asked.data)),
            Step::Again => None,
        });
        asked.collect()
    }

    #[test]
    fn commands_are_left_out() {
        let script = "\\pset null '∅'\n-- One.\nSELECT 1;\n\\d t\nSELECT 2\n  AS two \\gset\n\\c -\n\
                      SELECT 3\\; SELECT 4;\n";
        let found = asked(script);
        let texts: Vec<&str> = found.iter().map(|(_, text, _)| text.as_str()).collect();
        assert_eq!(
            texts,
            ["SELECT 1", "SELECT 2\n  AS two", "SELECT 3", "SELECT 4"]
        );
        assert_eq!(found[0].0, 3);
        assert_eq!(found[1].0, 5);
        let steps = read(script, Path::new("one.sql"));
        assert_eq!(
            steps
                .iter()
                .filter(|step| matches!(step, Step::Again))
                .count(),
            1
        );
    }

    #[test]
    fn variables_have_values() {
        let script = "\\getenv src PG_ABS_SRCDIR\n\\set file :src '/data/x.data'\n\
                      COPY t FROM :'file'; SELECT ':file', a::file, :file;";
        let found = asked(script);
        assert_eq!(found[0].1, "COPY t FROM '/suite/data/x.data'");
        assert_eq!(found[1].1, "SELECT ':file', a::file, /suite/data/x.data");
    }

    #[test]
    fn rows_belong_to_the_statement_before_them() {
        let script = "COPY t FROM stdin;\n1\ta;b\n2\t'\n\\.\nCOPY t (a) FROM STDIN WITH CSV;\n\\.\n\
                      SELECT 1;";
        let found = asked(script);
        assert_eq!(found[0].2.as_deref(), Some("1\ta;b\n2\t'\n"));
        assert_eq!(found[1].2.as_deref(), Some(""));
        assert_eq!(found[2].1, "SELECT 1");
    }
}
