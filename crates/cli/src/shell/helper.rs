//! Connects the shell to rustyline: when a line is complete, what Tab offers,
//! and a little colour.

use super::completion::{Offer, offer};
use super::keywords::is_keyword;
use crate::lexer::{Kind, tokens};
use crate::script::is_complete;
use freestone::Database;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Result};
use std::borrow::Cow;

const KEYWORD: &str = "\x1b[1;34m";
const TEXT: &str = "\x1b[32m";
const NUMBER: &str = "\x1b[36m";
const FAINT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// The shell's helper for the line editor.
pub struct ShellHelper {
    database: Database,
    files: FilenameCompleter,
}

impl ShellHelper {
    /// Completes names of `database`.
    pub fn new(database: Database) -> Self {
        ShellHelper {
            database,
            files: FilenameCompleter::new(),
        }
    }
}

impl Helper for ShellHelper {}

impl Hinter for ShellHelper {
    type Hint = String;
}

impl Validator for ShellHelper {
    fn validate(&self, context: &mut ValidationContext) -> Result<ValidationResult> {
        let input = context.input();
        Ok(match is_complete(input) || is_word_command(input) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

/// The commands that need neither backslash nor semicolon.
pub fn is_word_command(input: &str) -> bool {
    matches!(input.trim(), "help" | "exit" | "quit")
}

impl Completer for ShellHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, context: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        match offer(&self.database.store().snapshot(), line, at) {
            Offer::File => self.files.complete(line, at, context),
            Offer::Words { start, words } => {
                let pairs = words.into_iter().map(|word| Pair {
                    display: word.clone(),
                    replacement: word,
                });
                Ok((start, pairs.collect()))
            }
        }
    }
}

impl Highlighter for ShellHelper {
    fn highlight<'l>(&self, line: &'l str, _at: usize) -> Cow<'l, str> {
        if line.trim_start().starts_with('\\') {
            return Cow::Borrowed(line);
        }
        let mut out = String::with_capacity(line.len() + 32);
        for token in tokens(line) {
            let text = &line[token.range];
            let colour = match token.kind {
                Kind::Word if is_keyword(text) => KEYWORD,
                Kind::String => TEXT,
                Kind::Number => NUMBER,
                Kind::Comment => FAINT,
                _ => "",
            };
            out.push_str(colour);
            out.push_str(text);
            if !colour.is_empty() {
                out.push_str(RESET);
            }
        }
        Cow::Owned(out)
    }

    fn highlight_char(&self, _line: &str, _at: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}
