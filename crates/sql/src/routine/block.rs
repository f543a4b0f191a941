//! The blocks of DO: statements, conditions and handlers of errors, as in PL/pgSQL.
//!
//! ```sql
//! DO $$ BEGIN
//!     CREATE TYPE mood AS ENUM ('sad', 'ok');
//! EXCEPTION
//!     WHEN duplicate_object THEN NULL;
//! END $$
//! ```
//!
//! Tools write such blocks for what has no IF NOT EXISTS. There are IF, PERFORM, EXECUTE, RAISE,
//! NULL, blocks in blocks, and any statement of SQL. Left out, and refused, are variables, loops,
//! INTO and the end of a transaction in a block.

use super::conditions::sqlstate_of;
use crate::error::{Error, Result};

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) body: Vec<Step>,
    /// The handlers of EXCEPTION; none if there is no such clause.
    pub(crate) handlers: Vec<Handler>,
}

/// A WHEN of EXCEPTION: the steps that run after some errors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Handler {
    /// SQLSTATEs of the errors; `None` is OTHERS.
    pub(crate) states: Vec<Option<String>>,
    pub(crate) body: Vec<Step>,
}

/// A step of a block. Expressions and statements are texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Nothing,
    Block(Block),
    /// IF: conditions with their steps, and those of ELSE.
    If(Vec<(String, Vec<Step>)>, Vec<Step>),
    /// PERFORM: a query whose rows nobody reads.
    Perform(String),
    /// EXECUTE: an expression that gives a statement.
    Execute(String),
    Raise {
        level: Level,
        format: String,
        values: Vec<String>,
    },
    Statement(String),
}

/// The level of RAISE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Nobody,
    Notice,
    Warning,
    Exception,
}

/// Nested blocks and conditions, at most.
const DEPTH: usize = 100;

/// The block of a text.
///
/// # Errors
/// `42601`; `0A000` for what is left out.
pub(crate) fn parse(text: &str) -> Result<Block> {
    let tokens = tokens(text)?;
    let mut reader = Reader {
        text,
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let block = reader.block()?;
    reader.takes_mark(";");
    match reader.tokens.get(reader.at) {
        None => Ok(block),
        Some(_) => Err(reader.fail()),
    }
}

/// A piece of the text: a word in lower case, a text in quotes, or any other character.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Word(String),
    Text,
    Mark,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Where a text in quotes ends that begins at a place.
fn end_of_quotes(text: &str, start: usize, quote: char, escapes: bool) -> Option<usize> {
    let mut chars = text[start..].char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escapes && c == '\\' {
            chars.next();
        } else if c == quote {
            match chars.peek() {
                Some((_, next)) if *next == quote => drop(chars.next()),
                _ => return Some(start + at + c.len_utf8()),
            }
        }
    }
    None
}

/// The tag of a text in dollars that begins here, such as `$$` or `$body$`.
fn dollar_tag(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix('$')?;
    let end = inner.find('$')?;
    let name = &inner[..end];
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let digit = name.starts_with(|c: char| c.is_ascii_digit());
    (plain && !digit).then_some(&rest[..end + 2])
}

fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut found = Vec::new();
    let mut at = 0;
    let open = |what: &str| Error::new("42601", format!("unterminated {what} in a block"));
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        let kind = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("/*") {
            at = end_of_comment(text, at).ok_or_else(|| open("comment"))?;
            continue;
        } else if c == '\'' || c == '"' {
            let escapes = matches!(found.last(), Some(Token { kind: Kind::Word(word), end, .. })
                if c == '\'' && word == "e" && *end == start);
            at = end_of_quotes(text, at, c, escapes).ok_or_else(|| open("text"))?;
            Kind::Text
        } else if let Some(tag) = dollar_tag(rest) {
            let inner = rest[tag.len()..].find(tag).ok_or_else(|| open("text"))?;
            at += inner + 2 * tag.len();
            Kind::Text
        } else if c.is_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
            at += end.unwrap_or(rest.len());
            Kind::Word(text[start..at].to_lowercase())
        } else {
            at += c.len_utf8();
            Kind::Mark
        };
        found.push(Token {
            kind,
            start,
            end: at,
        });
    }
    Ok(found)
}

/// Where a comment ends that begins at a place; comments may be in comments.
fn end_of_comment(text: &str, start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn word(&self) -> Option<&str> {
        match &self.tokens.get(self.at)?.kind {
            Kind::Word(word) => Some(word),
            Kind::Text | Kind::Mark => None,
        }
    }

    fn mark(&self) -> Option<&str> {
        let token = self.tokens.get(self.at)?;
        (token.kind == Kind::Mark).then(|| &self.text[token.start..token.end])
    }

    fn takes(&mut self, word: &str) -> bool {
        let is = self.word() == Some(word);
        self.at += usize::from(is);
        is
    }

    fn takes_mark(&mut self, mark: &str) -> bool {
        let is = self.mark() == Some(mark);
        self.at += usize::from(is);
        is
    }

    fn must(&mut self, word: &str) -> Result<()> {
        match self.takes(word) {
            true => Ok(()),
            false => Err(self.fail()),
        }
    }

    fn must_end(&mut self) -> Result<()> {
        match self.takes_mark(";") {
            true => Ok(()),
            false => Err(self.fail()),
        }
    }

    fn fail(&self) -> Error {
        let message = match self.tokens.get(self.at) {
            Some(token) => {
                let found = &self.text[token.start..token.end];
                format!("syntax error at or near \"{found}\" in a block")
            }
            None => "syntax error at the end of a block".to_owned(),
        };
        Error::new("42601", message)
    }

    fn block(&mut self) -> Result<Block> {
        self.depth += 1;
        if self.depth > DEPTH {
            let message = "blocks are nested too deep";
            return Err(Error::new("54001", message));
        }
        if self.word() == Some("declare") {
            return Err(Error::unsupported(
                "a block with variables is not supported",
            ));
        }
        self.must("begin")?;
        let body = self.steps(&["end", "exception"])?;
        let mut handlers = Vec::new();
        if self.takes("exception") {
            while self.takes("when") {
                let mut states = vec![self.condition()?];
                while self.takes("or") {
                    states.push(self.condition()?);
                }
                self.must("then")?;
                let body = self.steps(&["when", "end"])?;
                handlers.push(Handler { states, body });
            }
            if handlers.is_empty() {
                return Err(self.fail());
            }
        }
        self.must("end")?;
        self.depth -= 1;
        Ok(Block { body, handlers })
    }

    /// The code of a condition of EXCEPTION.
    fn condition(&mut self) -> Result<Option<String>> {
        if self.takes("others") {
            return Ok(None);
        }
        if self.takes("sqlstate") {
            let token = self.tokens.get(self.at).ok_or_else(|| self.fail())?;
            let state = self.text[token.start..token.end].trim_matches('\'');
            let is_state = state.len() == 5
                && state
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
            if token.kind != Kind::Text || !is_state {
                return Err(Error::new("42601", "invalid SQLSTATE code in a block"));
            }
            self.at += 1;
            return Ok(Some(state.to_owned()));
        }
        let name = self.word().ok_or_else(|| self.fail())?;
        let state = sqlstate_of(name).ok_or_else(|| {
            Error::new(
                "42704",
                format!("unrecognized exception condition \"{name}\""),
            )
        })?;
        self.at += 1;
        Ok(Some(state.to_owned()))
    }

    /// Steps up to a word that ends them.
    fn steps(&mut self, ends: &[&str]) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            match self.word() {
                Some(word) if ends.contains(&word) => return Ok(steps),
                _ if self.at >= self.tokens.len() => return Err(self.fail()),
                _ => steps.push(self.step()?),
            }
        }
    }

    fn step(&mut self) -> Result<Step> {
        let word = self.word().unwrap_or_default().to_owned();
        match word.as_str() {
            "null" => {
                self.at += 1;
                self.must_end()?;
                Ok(Step::Nothing)
            }
            "begin" | "declare" => {
                let block = self.block()?;
                self.must_end()?;
                Ok(Step::Block(block))
            }
            "if" => self.branches(),
            "perform" => {
                self.at += 1;
                let query = self.until_end(&[])?;
                Ok(Step::Perform(format!("SELECT {query}")))
            }
            "execute" => {
                self.at += 1;
                Ok(Step::Execute(self.until_end(&["into", "using"])?))
            }
            "raise" => self.raise(),
            "case" | "loop" | "while" | "for" | "foreach" | "exit" | "continue" | "return"
            | "get" | "open" | "fetch" | "move" | "close" | "assert" | "commit" | "rollback"
            | "savepoint" | "release" | "start" | "abort" => Err(Error::unsupported(format!(
                "{} in a block is not supported",
                word.to_uppercase()
            ))),
            _ if matches!(
                self.tokens.get(self.at).map(|token| &token.kind),
                Some(Kind::Word(_))
            ) =>
            {
                let assigns = self.tokens.get(self.at + 1).is_some_and(|token| {
                    token.kind == Kind::Mark && self.text[token.start..].starts_with(":=")
                });
                if assigns {
                    let message = "a block with variables is not supported";
                    return Err(Error::unsupported(message));
                }
                Ok(Step::Statement(self.until_end(&[])?))
            }
            _ => Err(self.fail()),
        }
    }

    fn branches(&mut self) -> Result<Step> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Error::new("54001", "conditions are nested too deep"));
        }
        let mut branches = Vec::new();
        let mut others = Vec::new();
        while self.takes("if") || self.takes("elsif") || self.takes("elseif") {
            let condition = self.until("then")?;
            let steps = self.steps(&["elsif", "elseif", "else", "end"])?;
            branches.push((condition, steps));
            if self.takes("else") {
                others = self.steps(&["end"])?;
                break;
            }
            if self.word() == Some("end") {
                break;
            }
        }
        self.must("end")?;
        self.must("if")?;
        self.must_end()?;
        self.depth -= 1;
        Ok(Step::If(branches, others))
    }

    fn raise(&mut self) -> Result<Step> {
        self.at += 1;
        let level = match self.word() {
            Some("debug" | "log") => Some(Level::Nobody),
            Some("info" | "notice") => Some(Level::Notice),
            Some("warning") => Some(Level::Warning),
            Some("exception") => Some(Level::Exception),
            _ => None,
        };
        self.at += usize::from(level.is_some());
        let token = self.tokens.get(self.at).ok_or_else(|| self.fail())?;
        let written = &self.text[token.start..token.end];
        let Some(format) = written
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''))
        else {
            let message = "RAISE in a block without a text is not supported";
            return Err(Error::unsupported(message));
        };
        let format = format.replace("''", "'");
        self.at += 1;
        let mut values = Vec::new();
        while self.takes_mark(",") {
            values.push(self.expression(&[",", ";"], &["using"])?);
        }
        if self.word() == Some("using") {
            return Err(Error::unsupported(
                "RAISE … USING in a block is not supported",
            ));
        }
        self.must_end()?;
        let wanted = format.replace("%%", "").matches('%').count();
        if wanted != values.len() {
            let few = if wanted > values.len() { "few" } else { "many" };
            let message = format!("too {few} parameters specified for RAISE");
            return Err(Error::new("42601", message));
        }
        Ok(Step::Raise {
            level: level.unwrap_or(Level::Exception),
            format,
            values,
        })
    }

    /// The text up to the semicolon, which is skipped.
    fn until_end(&mut self, refused: &[&str]) -> Result<String> {
        let text = self.expression(&[";"], refused)?;
        if let Some(word) = self.word() {
            let message = format!("{} in a block is not supported", word.to_uppercase());
            return Err(Error::unsupported(message));
        }
        self.must_end()?;
        Ok(text)
    }

    /// The text up to a word, which is skipped; those of CASE are its own.
    fn until(&mut self, end: &str) -> Result<String> {
        let text = self.expression(&[";"], &[end])?;
        self.must(end)?;
        Ok(text)
    }

    /// The text up to a mark or a word outside of brackets and of CASE.
    fn expression(&mut self, marks: &[&str], words: &[&str]) -> Result<String> {
        let first = self.at;
        let (mut open, mut cases) = (0_usize, 0_usize);
        while let Some(token) = self.tokens.get(self.at) {
            let piece = &self.text[token.start..token.end];
            match &token.kind {
                Kind::Word(word) if word == "case" => cases += 1,
                Kind::Word(word) if word == "end" && cases > 0 => cases -= 1,
                Kind::Word(word) if open == 0 && cases == 0 && words.contains(&word.as_str()) => {
                    break;
                }
                Kind::Mark if matches!(piece, "(" | "[") => open += 1,
                Kind::Mark if matches!(piece, ")" | "]") => open = open.saturating_sub(1),
                Kind::Mark if open == 0 && marks.contains(&piece) => break,
                _ => {}
            }
            self.at += 1;
        }
        if first == self.at || self.at >= self.tokens.len() {
            return Err(self.fail());
        }
        let (start, end) = (self.tokens[first].start, self.tokens[self.at - 1].end);
        Ok(self.text[start..end].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read() {
        let block = parse(
            "BEGIN -- first\n CREATE TYPE t AS ENUM ('a;b', 'it''s'); PERFORM f(1);\n \
             IF EXISTS (SELECT 1) AND CASE WHEN true THEN true END THEN NULL; ELSE \
             EXECUTE 'x' || $q$;$q$; END IF; /* no /* in */ */ BEGIN NULL; END; \
             RAISE NOTICE 'n %', (1, 2); \
             EXCEPTION WHEN duplicate_object OR SQLSTATE '42P07' THEN NULL; \
             WHEN OTHERS THEN RAISE WARNING 'w'; END;",
        )
        .unwrap();
        assert_eq!(block.body.len(), 5);
        assert_eq!(
            block.body[0],
            Step::Statement("CREATE TYPE t AS ENUM ('a;b', 'it''s')".to_owned())
        );
        let Step::If(branches, others) = &block.body[2] else {
            panic!("{:?}", block.body[2]);
        };
        assert_eq!(
            branches[0].0,
            "EXISTS (SELECT 1) AND CASE WHEN true THEN true END"
        );
        assert_eq!(others, &[Step::Execute("'x' || $q$;$q$".to_owned())]);
        let states: Vec<_> = block
            .handlers
            .iter()
            .map(|one| one.states.clone())
            .collect();
        let state = |text: &str| Some(text.to_owned());
        assert_eq!(states, [vec![state("42710"), state("42P07")], vec![None]]);
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, state) in [
            ("", "42601"),
            ("SELECT 1", "42601"),
            ("BEGIN", "42601"),
            ("BEGIN NULL END", "42601"),
            ("BEGIN END x y", "42601"),
            ("BEGIN SELECT 'x; END", "42601"),
            ("BEGIN EXCEPTION END", "42601"),
            ("BEGIN EXCEPTION WHEN what THEN NULL; END", "42704"),
            ("BEGIN RAISE NOTICE '% %', 1; END", "42601"),
            ("BEGIN IF true NULL; END IF; END", "42601"),
            ("DECLARE a int; BEGIN END", "0A000"),
            ("BEGIN a := 1; END", "0A000"),
            ("BEGIN FOR i IN 1..2 LOOP NULL; END LOOP; END", "0A000"),
            ("BEGIN EXECUTE 'x' USING 1; END", "0A000"),
            ("BEGIN COMMIT; END", "0A000"),
        ] {
            assert_eq!(parse(text).unwrap_err().sqlstate, state, "{text}");
        }
        let deep = "BEGIN ".repeat(10_000);
        assert_eq!(parse(&deep).unwrap_err().sqlstate, "54001");
    }
}
