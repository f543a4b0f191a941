//! Cuts text into statements and meta commands.
//!
//! One rule serves the shell, `-c`, `-f`, `\i` and standard input: a statement
//! ends at a `;` outside quotes and comments; a line that starts with `\` where
//! a statement could start is a meta command and ends with its line. [`Script`]
//! takes text as it arrives, so that a program may talk to the shell through a
//! pipe and get each answer before it sends the next statement.

use std::ops::Range;

use crate::lexer::{Kind, tokens};

/// A piece of a script that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// SQL without its `;`, and the line it starts on (from 1).
    Statement {
        /// The text; may start with a comment.
        text: String,
        /// Line of the script on which `text` starts.
        line: usize,
    },
    /// A meta command with its backslash, and the line it is on (from 1).
    Meta {
        /// The text.
        text: String,
        /// Line of the script.
        line: usize,
    },
}

/// Text that arrives piece by piece and leaves as items.
#[derive(Default)]
pub struct Script {
    pending: String,
    lines_before: usize,
}

impl Script {
    /// Adds text (whole lines, when it comes line by line) and returns the
    /// items that are complete now.
    pub fn push(&mut self, text: &str) -> Vec<Item> {
        self.pending.push_str(text);
        // Without one of these nothing can have become complete.
        if !text.contains([';', '\\']) {
            return Vec::new();
        }
        self.complete()
    }

    /// What is left of a text that ends without `;` or newline.
    pub fn finish(mut self) -> Vec<Item> {
        self.pending.push('\n');
        let mut items = self.complete();
        if let Some(range) = significant(&self.pending, 0..self.pending.len()) {
            let line = self.lines_before + newlines(&self.pending[..range.start]) + 1;
            let text = self.pending[range].to_string();
            items.push(Item::Statement { text, line });
        }
        items
    }

    /// Takes every complete item from the front.
    fn complete(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while let Some((item, used)) = self.first() {
            items.extend(item);
            self.lines_before += newlines(&self.pending[..used]);
            self.pending.drain(..used);
        }
        items
    }

    /// The first complete item and the bytes up to its end; the item is `None`
    /// for an empty statement.
    fn first(&self) -> Option<(Option<Item>, usize)> {
        let text = &self.pending;
        let mut blank = true;
        for token in tokens(text) {
            let line = || self.lines_before + newlines(&text[..token.range.start]) + 1;
            match token.kind {
                Kind::Semicolon => {
                    let item = significant(text, 0..token.range.start).map(|range| {
                        let line = self.lines_before + newlines(&text[..range.start]) + 1;
                        Item::Statement {
                            text: text[range].to_string(),
                            line,
                        }
                    });
                    return Some((item, token.range.end));
                }
                Kind::Symbol if blank && text[token.range.clone()].starts_with('\\') => {
                    let rest = &text[token.range.start..];
                    let end = rest.find('\n')?;
                    let item = Item::Meta {
                        text: rest[..end].trim_end().to_string(),
                        line: line(),
                    };
                    return Some((Some(item), token.range.start + end + 1));
                }
                Kind::Space | Kind::Comment => {}
                _ => blank = false,
            }
        }
        None
    }
}

/// Cuts a whole text.
pub fn split(text: &str) -> Vec<Item> {
    let mut script = Script::default();
    let mut items = script.push(text);
    items.extend(script.finish());
    items
}

/// Whether the shell may run `text`, or should ask for another line.
pub fn is_complete(text: &str) -> bool {
    let mut blank = true;
    let mut ended = true;
    for token in tokens(text) {
        match token.kind {
            Kind::Space => {}
            Kind::Comment => ended &= token.closed,
            Kind::Semicolon => (blank, ended) = (true, true),
            Kind::Symbol if blank && text[token.range.clone()].starts_with('\\') => return true,
            _ => (blank, ended) = (false, false),
        }
    }
    ended
}

/// Trims white space; `None` when only white space and comments are there.
fn significant(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    tokens(part).find(|token| !matches!(token.kind, Kind::Space | Kind::Comment))?;
    let start = range.start + (part.len() - part.trim_start().len());
    Some(start..start + part.trim().len())
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(text: &str, line: usize) -> Item {
        let text = text.to_string();
        Item::Statement { text, line }
    }

    #[test]
    fn statements_and_meta_commands_know_their_lines() {
        let items = split("select 1;\n\n\\dt\n-- note\nselect\n ';' ; ;select 3");
        let meta = Item::Meta {
            text: "\\dt".into(),
            line: 3,
        };
        assert_eq!(
            items,
            vec![
                statement("select 1", 1),
                meta,
                statement("-- note\nselect\n ';'", 4),
                statement("select 3", 6)
            ]
        );
    }

    #[test]
    fn a_backslash_inside_a_statement_is_no_command() {
        assert_eq!(
            split("select 1\n\\dt;"),
            vec![statement("select 1\n\\dt", 1)]
        );
    }

    #[test]
    fn text_arrives_in_pieces() {
        let mut script = Script::default();
        assert!(script.push("select '\n").is_empty());
        assert_eq!(script.push(";' ;\n"), vec![statement("select '\n;'", 1)]);
        assert!(script.push("select 2\n").is_empty());
        assert_eq!(script.finish(), vec![statement("select 2", 3)]);
    }

    #[test]
    fn complete_or_not() {
        for text in [
            "",
            "  ",
            "select 1;",
            "\\d t",
            "-- note",
            "select 1; -- note",
            ";",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in [
            "select 1",
            "select ';",
            "/* ",
            "select 1; select",
            "select 1; /*",
            "$$;",
        ] {
            assert!(!is_complete(text), "{text}");
        }
    }
}
