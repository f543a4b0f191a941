//! PostgreSQL's grammar of queries over lexemes: it finds the first place at which a text is
//! none of its sentences, and writes each query in forms that `sqlparser` has.
//!
//! | written | becomes |
//! |---|---|
//! | a name that is a key word of `sqlparser` | the name in quotes |
//! | `type 'text'` | `CAST('text' AS type)` |
//! | `substring(a FROM b)`, `trim(BOTH a FROM b)`, `position(a IN b)` … | calls with commas |
//! | `a op ANY (b)` | the operator with a call around `b` |
//! | `x ISNULL` | `x IS NULL` |
//! | `FETCH FIRST n ROWS ONLY` | `LIMIT n` |
//! | locks before LIMIT | locks behind it |
//! | `TABLE t` | `SELECT * FROM t` |
//! | forms of DuckDB | calls and marks (`friendly`, `pivot`) |
//! | forms that `sqlparser` lacks | names that nobody can write ([`marks`](super::marks)) |
//!
//! Statements that are no queries are copied; queries and conditions in them are read.

mod call;
mod expr;
mod friendly;
mod from;
mod pivot;
mod query;
mod types;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

use super::lexeme::{Kind, Lexeme, kept_name, near, position};
use super::marks::{ASSIGN, BASE, BY_NAME, DEFAULTS, NOTHING, QUOTE, TARGET};
use super::words::{Class, class};
use crate::error::{Error, Result};

/// Forms that may fail in a statement that is no query before the rest of it is copied.
const ATTEMPTS: usize = 4;

/// Reads lexemes and writes tokens.
pub(super) struct Reader<'a> {
    sql: &'a str,
    lexemes: &'a [Lexeme],
    at: usize,
    out: Vec<TokenWithSpan>,
    /// For each opening bracket, its closing one.
    closing: Vec<usize>,
    /// For each opening bracket, whether a query is in it, as far as it was asked.
    queries: Vec<Option<bool>>,
    /// For each lexeme, the brackets around it.
    levels: Vec<u32>,
    /// The brackets around the item of a SELECT list that is read.
    item: Option<u32>,
    depth: usize,
    /// Most levels.
    limit: usize,
    parameters: usize,
    /// Whether DEFAULT may stand in VALUES.
    defaults: bool,
    /// Whether the query that begins is one of WITH RECURSIVE.
    recursive: bool,
    /// Whether COLUMNS is in the expression that is read.
    has_columns: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(sql: &'a str, lexemes: &'a [Lexeme], limit: usize) -> Self {
        let mut closing = vec![usize::MAX; lexemes.len()];
        let mut open = Vec::new();
        let mut levels = Vec::with_capacity(lexemes.len());
        let mut level = 0u32;
        for (at, lexeme) in lexemes.iter().enumerate() {
            match lexeme.kind {
                Kind::Mark("(" | "[") => level = level.saturating_add(1),
                Kind::Mark(")" | "]") => level = level.saturating_sub(1),
                Kind::Mark(";") => level = 0,
                _ => {}
            }
            levels.push(level);
            match lexeme.kind {
                Kind::Mark("(") => open.push(at),
                Kind::Mark(")") => {
                    if let Some(opening) = open.pop() {
                        closing[opening] = at;
                    }
                }
                Kind::Mark(";") => open.clear(),
                _ => {}
            }
        }
        Self {
            sql,
            lexemes,
            at: 0,
            out: Vec::with_capacity(lexemes.len() + 1),
            closing,
            queries: vec![None; lexemes.len()],
            levels,
            item: None,
            depth: 0,
            limit,
            parameters: 0,
            defaults: false,
            recursive: false,
            has_columns: false,
        }
    }

    /// Reads all statements.
    ///
    /// # Errors
    /// `42601` at the first place that fits nowhere.
    pub(super) fn statements(mut self) -> Result<Vec<TokenWithSpan>> {
        loop {
            match self.kind() {
                Kind::End => break,
                Kind::Mark(";") => self.keep(),
                _ => {
                    self.parameters = 0;
                    match self.begins_query() {
                        true => {
                            self.query()?;
                            if !matches!(self.kind(), Kind::End | Kind::Mark(";")) {
                                return Err(self.fail());
                            }
                        }
                        false => self.other_statement()?,
                    }
                }
            }
        }
        self.keep();
        Ok(self.out)
    }

    /// Reads an expression.
    ///
    /// # Errors
    /// `42601` at the first place that fits nowhere.
    pub(super) fn expression(mut self) -> Result<Vec<TokenWithSpan>> {
        self.expr()?;
        match self.kind() {
            Kind::End => {
                self.keep();
                Ok(self.out)
            }
            _ => Err(self.fail()),
        }
    }

    /// Copies a statement that is no query; queries and conditions in it are read.
    pub(super) fn other_statement(&mut self) -> Result<()> {
        self.other_statement_until(usize::MAX)
    }

    /// Reads a statement up to a lexeme.
    pub(super) fn other_statement_until(&mut self, last: usize) -> Result<()> {
        let mut attempts = ATTEMPTS;
        if self.are(&["reset", "time", "zone"]) {
            self.keep();
            self.put_word("timezone");
            self.at += 2;
        }
        self.defaults = self.is("insert") || self.is("merge");
        let first = self.at;
        // A query may follow other words than AS.
        let holds = matches!(self.word(0), Some("explain" | "declare" | "insert"));
        let known = matches!(
            self.word(0),
            Some(
                "insert"
                    | "update"
                    | "delete"
                    | "create"
                    | "explain"
                    | "merge"
                    | "copy"
                    | "declare"
                    | "prepare"
                    | "with"
                    | "alter"
                    | "describe"
            )
        );
        let mut changes = matches!(self.word(0), Some("insert" | "update" | "merge"));
        let mut merges = self.is("merge");
        let defines = matches!(self.word(0), Some("create" | "alter"));
        // The statement that these carry out is behind other words.
        let carries = matches!(self.word(0), Some("explain" | "prepare"));
        // The level of the SET clause that is read, and the end of the columns of INSERT.
        let (mut setting, mut columns) = (None, None);
        let mut has_columns = !self.is("insert");
        // Statements in brackets, as those of ADVISE FOR, belong to the one around them.
        let mut open = 0_usize;
        while !matches!(self.kind(), Kind::End)
            && self.at < last
            && (open > 0 || !matches!(self.kind(), Kind::Mark(";")))
        {
            let before = match self.at > first {
                true => Some(&self.lexemes[self.at - 1].kind),
                false => None,
            };
            let before = match before {
                Some(Kind::Word(word)) => word.as_str(),
                _ => "",
            };
            if carries
                && !changes
                && let Some(word @ ("insert" | "update" | "merge")) = self.word(0)
            {
                changes = true;
                merges = word == "merge";
                has_columns = word != "insert";
                self.defaults = word != "update";
            }
            if changes && self.at > first {
                let level = self.levels.get(self.at).copied();
                let listed = self.lexemes[self.at - 1].kind == Kind::Mark(",");
                if before == "set" {
                    setting = level;
                } else if setting.is_some()
                    && matches!(
                        self.word(0),
                        Some("where" | "from" | "returning" | "when" | "on")
                    )
                {
                    setting = None;
                }
                let target = self.is_name(0) && matches!(self.mark(1), Some("[" | "."));
                if target && (before == "set" || listed) && setting.is_some() && setting == level {
                    self.assigned_elements()?;
                    continue;
                }
                if matches!(self.word(0), Some("values" | "select" | "default" | "with")) {
                    has_columns = true;
                }
                if !has_columns
                    && self.is("by")
                    && matches!(self.word(1), Some("name" | "position"))
                    && (self.mark(2) == Some("(")
                        || matches!(
                            self.word(2),
                            Some("select" | "with" | "from" | "values" | "table")
                        ))
                {
                    if self.word(1) == Some("name") {
                        self.put(Token::LParen);
                        self.put_mark(BY_NAME.to_owned());
                        self.put(Token::RParen);
                    }
                    self.at += 2;
                    has_columns = true;
                    columns = self.at.checked_sub(1);
                    continue;
                }
                if !has_columns && self.is_mark("(") {
                    has_columns = true;
                    columns = match self.holds_query(self.at) {
                        true => {
                            self.told_from_columns();
                            None
                        }
                        false => self.closing.get(self.at).copied(),
                    };
                }
                let opened = self.lexemes[self.at - 1].kind == Kind::Mark("(");
                if target && (listed || opened) && columns.is_some_and(|end| self.at < end) {
                    self.target_elements()?;
                    continue;
                }
            }
            if merges && before == "then" && self.merge_action(first) {
                continue;
            }
            // The end of what is before the query of INSERT, EXPLAIN and DECLARE.
            let begun = match (first..self.at).next_back() {
                Some(last) if changes && !merges => match has_columns {
                    true => columns == Some(last),
                    false => !matches!(before, "insert" | "into"),
                },
                Some(last) if self.lexemes[first].kind.is("explain") => {
                    matches!(before, "explain" | "analyze" | "verbose")
                        || self.closing.get(first + 1) == Some(&last)
                }
                Some(_) => before == "for" && self.lexemes[first].kind.is("declare"),
                None => false,
            };
            if defines && self.is("array") && self.ends_type(first) {
                self.array_of()?;
                continue;
            }
            let is_query = match self.word(0) {
                Some("select") => {
                    !matches!(before, "grant" | "revoke" | "on") && (before != "for" || holds)
                }
                Some("values") => self.mark(1) == Some("("),
                Some("with") => before == "as" || holds && self.mark(1) != Some("("),
                Some("table" | "from") => before == "as" || begun,
                Some("pivot" | "pivot_wider" | "unpivot" | "pivot_longer" | "summarize") => {
                    let carried =
                        matches!(before, "as" | "explain" | "analyze" | "verbose" | "for");
                    let opened =
                        self.at > first && self.lexemes[self.at - 1].kind == Kind::Mark("(");
                    (carried || opened) && self.begins_form(self.at)
                }
                None => (before == "as" || holds) && self.is_mark("(") && self.holds_query(self.at),
                _ => false,
            };
            let of_when = merges
                && before == "and"
                && self.at > first + 1
                && matches!(&self.lexemes[self.at - 2].kind, Kind::Word(word)
                    if matches!(word.as_str(), "matched" | "source" | "target"));
            let is_list = before == "returning";
            let is_expr = matches!(before, "where" | "check")
                || merges && before == "on"
                || of_when
                || before == "default" && self.mark(1) == Some("(")
                || before == "as" && self.is_mark("(") && !self.holds_query(self.at)
                || before == "set" && self.mark(0) == Some("(");
            let operand = self.at > first
                && matches!(&self.lexemes[self.at - 1].kind, Kind::Operator(op) if op == "=")
                && matches!(self.lexemes[first].kind, Kind::Word(ref word) if matches!(word.as_str(), "update" | "insert" | "merge"));
            if known && attempts > 0 && (is_query || is_list || is_expr || operand) {
                let (at, length, parameters) = (self.at, self.out.len(), self.parameters);
                let done = match () {
                    () if is_query => self.query(),
                    () if is_list => self.items(),
                    () => self.expr(),
                };
                match done {
                    Ok(()) => continue,
                    // There is more room elsewhere.
                    Err(error) if error.sqlstate == "54001" => return Err(error),
                    Err(_) => {}
                }
                attempts -= 1;
                self.at = at;
                self.out.truncate(length);
                self.parameters = parameters;
            }
            match self.kind() {
                Kind::Mark("(") => open += 1,
                Kind::Mark(")") => open = open.saturating_sub(1),
                _ => {}
            }
            self.copy();
        }
        self.defaults = false;
        Ok(())
    }

    /// Whether ARRAY, which is here, stands behind a type and makes no value.
    fn ends_type(&self, first: usize) -> bool {
        let Some(before) = self.at.checked_sub(1).filter(|before| *before > first) else {
            return false;
        };
        let bounded = matches!(self.lexeme(2).kind, Kind::Number(_)) && self.mark(3) == Some("]");
        let is_type = match &self.lexemes[before].kind {
            Kind::Quoted(_) | Kind::Mark(")") => true,
            Kind::Word(word) => {
                word != "return" && !matches!(class(word), Class::Reserved | Class::Function)
            }
            _ => false,
        };
        is_type && (self.mark(1) != Some("[") || bounded)
    }

    /// DO NOTHING and INSERT DEFAULT VALUES behind THEN become actions of columns that there
    /// are not; false for any other action.
    fn merge_action(&mut self, first: usize) -> bool {
        let (column, value, count) = match () {
            () if self.are(&["do", "nothing"]) => (NOTHING, "NULL", 2),
            () if self.are(&["insert", "default", "values"]) => (DEFAULTS, "DEFAULT", 3),
            () => return false,
        };
        let word = |at: usize| match self.lexemes.get(at).map(|lexeme| &lexeme.kind) {
            Some(Kind::Word(word)) => Some(word.as_str()),
            _ => None,
        };
        // Not one of CASE.
        let begins = |at: &usize| {
            let next = match word(at + 1) {
                Some("not") => word(at + 2),
                next => next,
            };
            word(*at) == Some("when") && next == Some("matched")
        };
        let when = (first..self.at).rev().find(begins);
        let when = when.unwrap_or(first);
        let unmatched = word(when + 1) == Some("not")
            && !(word(when + 3) == Some("by") && word(when + 4) == Some("source"));
        match unmatched || count == 3 {
            true => {
                self.put_word("INSERT");
                self.put(Token::LParen);
                self.put_mark(column.to_owned());
                self.put(Token::RParen);
                self.put_word("VALUES");
                self.put(Token::LParen);
                self.put_word(value);
                self.put(Token::RParen);
            }
            false => {
                self.put_words(&["UPDATE", "SET"]);
                self.put_mark(column.to_owned());
                self.put(Token::Eq);
                self.put_word(value);
            }
        }
        self.at += count;
        true
    }

    /// The place behind subscripts and fields.
    fn behind_subscripts(&self, from: usize) -> Result<usize> {
        let (mut at, mut depth) = (from, 0_usize);
        loop {
            match self.lexemes.get(at).map(|lexeme| &lexeme.kind) {
                Some(Kind::Mark("[")) => depth += 1,
                Some(Kind::Mark("]")) => depth = depth.saturating_sub(1),
                None | Some(Kind::End | Kind::Mark(";")) => return Err(self.fail_at(at)),
                _ if depth > 0 => {}
                // A field behind an element.
                Some(Kind::Mark(".")) => at += 1,
                _ => return Ok(at),
            }
            at += 1;
        }
    }

    /// `a[1] = x` and `a.f = x` become `a =` a call that says what is assigned.
    fn assigned_elements(&mut self) -> Result<()> {
        self.keep_name();
        let first = self.at;
        let behind = self.behind_subscripts(first)?;
        if !matches!(&self.lexemes[behind].kind, Kind::Operator(operator) if operator == "=") {
            return Err(self.fail_at(behind));
        }
        self.put(Token::Eq);
        self.put_call(ASSIGN);
        self.put(Token::LParen);
        self.put_mark(BASE.to_owned());
        self.put(Token::RParen);
        self.indirection()?;
        if self.at != behind {
            return Err(self.fail());
        }
        self.put(Token::Comma);
        self.skip();
        self.expr()?;
        self.put(Token::RParen);
        Ok(())
    }

    /// `a[1]` or `a.f` among the columns of INSERT becomes `a.` a name that holds what is behind
    /// the column.
    fn target_elements(&mut self) -> Result<()> {
        self.keep_name();
        let (first, behind) = (self.at, self.behind_subscripts(self.at)?);
        let text = self
            .sql
            .get(self.lexemes[first].start..self.lexemes[behind - 1].end);
        self.put(Token::Period);
        self.put_mark(format!("{TARGET}{}", text.unwrap_or("")));
        self.at = behind;
        Ok(())
    }

    /// Copies a lexeme of a statement that is not read.
    fn copy(&mut self) {
        if *self.kind() == Kind::Operator("?".to_owned()) {
            return self.placeholder();
        }
        self.keep();
    }

    /// `?` as a parameter with its number.
    fn placeholder(&mut self) {
        self.parameters += 1;
        self.put(Token::Placeholder(format!("${}", self.parameters)));
        self.at += 1;
    }

    // What is read.

    fn lexeme(&self, ahead: usize) -> &'a Lexeme {
        let last = self.lexemes.len() - 1;
        &self.lexemes[(self.at + ahead).min(last)]
    }

    fn kind(&self) -> &'a Kind {
        &self.lexeme(0).kind
    }

    fn word(&self, ahead: usize) -> Option<&'a str> {
        match &self.lexeme(ahead).kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn mark(&self, ahead: usize) -> Option<&'static str> {
        match self.lexeme(ahead).kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    fn operator(&self, ahead: usize) -> Option<&'a str> {
        match &self.lexeme(ahead).kind {
            Kind::Operator(operator) => Some(operator),
            _ => None,
        }
    }

    fn is(&self, word: &str) -> bool {
        self.word(0) == Some(word)
    }

    fn are(&self, words: &[&str]) -> bool {
        words
            .iter()
            .enumerate()
            .all(|(ahead, word)| self.word(ahead) == Some(word))
    }

    fn is_mark(&self, mark: &str) -> bool {
        self.mark(0) == Some(mark)
    }

    /// Whether a lexeme may be the name of a column or a table.
    fn is_name(&self, ahead: usize) -> bool {
        match &self.lexeme(ahead).kind {
            Kind::Quoted(_) => true,
            Kind::Word(word) => matches!(class(word), Class::Free | Class::Column),
            _ => false,
        }
    }

    /// Whether a lexeme may be any label.
    fn is_label(&self, ahead: usize) -> bool {
        matches!(self.lexeme(ahead).kind, Kind::Quoted(_) | Kind::Word(_))
    }

    /// The error for the lexeme here.
    fn fail(&self) -> Error {
        self.fail_at(self.at)
    }

    fn fail_at(&self, at: usize) -> Error {
        let lexeme = &self.lexemes[at.min(self.lexemes.len() - 1)];
        match lexeme.kind {
            Kind::End => {
                Error::new("42601", "syntax error at end of input").at(position(lexeme.span.start))
            }
            _ => {
                let text = self.sql.get(lexeme.start..lexeme.end).unwrap_or("");
                near("syntax error", text, lexeme.span.start)
            }
        }
    }

    fn enter(&mut self) -> Result<()> {
        crate::interrupt::check()?;
        self.depth += 1;
        match self.depth > self.limit {
            true => Err(crate::stack::too_complex()),
            false => Ok(()),
        }
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    // What is written.

    fn span(&self) -> Span {
        self.lexeme(0).span
    }

    fn put(&mut self, token: Token) {
        let span = self.span();
        self.out.push(TokenWithSpan::new(token, span));
    }

    fn put_word(&mut self, word: &str) {
        self.put(Token::make_keyword(word));
    }

    fn put_words(&mut self, words: &[&str]) {
        for word in words {
            self.put_word(word);
        }
    }

    /// The grammar takes a bracket behind INSERT's table for a list of columns, unless SELECT
    /// follows it: a query that begins with other brackets gets a WITH that it does not use.
    fn told_from_columns(&mut self) {
        if self.word(1) == Some("select") {
            return;
        }
        self.put_word("WITH");
        self.put_mark(NOTHING.to_owned());
        self.put_word("AS");
        self.put(Token::LParen);
        self.put_words(&["SELECT", "NULL"]);
        self.put(Token::RParen);
    }

    /// A name that stands for a form.
    fn put_mark(&mut self, value: String) {
        self.put(mark_token(value));
    }

    fn put_call(&mut self, mark: &str) {
        self.put_mark(mark.to_owned());
        self.put(Token::LParen);
    }

    /// Writes tokens before those from a place on.
    fn insert(&mut self, place: usize, tokens: Vec<Token>) {
        let span = self
            .out
            .get(place)
            .map_or_else(|| self.span(), |token| token.span);
        let tokens = tokens
            .into_iter()
            .map(|token| TokenWithSpan::new(token, span));
        self.out.splice(place..place, tokens);
    }

    /// Writes the lexeme here as it is and goes on.
    fn keep(&mut self) {
        let token = match self.kind() {
            // Words keep the case in which they are written.
            Kind::Word(word) => {
                let lexeme = self.lexeme(0);
                let written = self.sql.get(lexeme.start..lexeme.end);
                Token::make_word(kept_name(written.unwrap_or(word)), None)
            }
            kind => token_of(kind),
        };
        self.put(token);
        self.at += 1;
    }

    /// Goes on without writing.
    fn skip(&mut self) {
        self.at += 1;
    }

    /// Writes the lexeme here as a name and goes on.
    fn keep_name(&mut self) {
        let token = name_token(self.kind());
        self.put(token);
        self.at += 1;
    }

    fn keep_mark(&mut self, mark: &str) -> Result<()> {
        match self.is_mark(mark) {
            true => {
                self.keep();
                Ok(())
            }
            false => Err(self.fail()),
        }
    }

    fn keep_word(&mut self, word: &str) -> Result<()> {
        match self.is(word) {
            true => {
                self.keep();
                Ok(())
            }
            false => Err(self.fail()),
        }
    }

    fn skip_mark(&mut self, mark: &str) -> Result<()> {
        match self.is_mark(mark) {
            true => {
                self.skip();
                Ok(())
            }
            false => Err(self.fail()),
        }
    }

    fn skip_word(&mut self, word: &str) -> Result<()> {
        match self.is(word) {
            true => {
                self.skip();
                Ok(())
            }
            false => Err(self.fail()),
        }
    }

    /// Takes a word if it is here.
    fn takes(&mut self, word: &str) -> bool {
        let is = self.is(word);
        if is {
            self.keep();
        }
        is
    }

    /// A list with commas.
    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        loop {
            item(self)?;
            if !self.is_mark(",") {
                return Ok(());
            }
            self.keep();
        }
    }

    /// Names of columns in brackets.
    fn names(&mut self) -> Result<()> {
        self.keep_mark("(")?;
        self.list(|reader| match reader.is_name(0) {
            true => {
                reader.keep_name();
                Ok(())
            }
            false => Err(reader.fail()),
        })?;
        self.keep_mark(")")
    }

    /// Whether a query begins here.
    fn begins_query(&mut self) -> bool {
        match self.word(0) {
            Some("select" | "with" | "table") => true,
            Some("values" | "from") => true,
            Some(_) => self.begins_form(self.at),
            None => self.is_mark("(") && self.holds_query(self.at),
        }
    }

    /// Whether a query is between the bracket at a place and its closing one.
    fn holds_query(&mut self, at: usize) -> bool {
        if let Some(known) = self.queries.get(at).copied().flatten() {
            return known;
        }
        let mut chain = vec![at];
        while self
            .lexemes
            .get(at + chain.len())
            .is_some_and(|lexeme| lexeme.kind == Kind::Mark("("))
        {
            chain.push(at + chain.len());
        }
        let innermost = at + chain.len();
        let mut holds = match self.lexemes.get(innermost).map(|lexeme| &lexeme.kind) {
            Some(Kind::Word(word)) => match word.as_str() {
                "select" | "with" | "table" | "from" => true,
                "values" => matches!(
                    self.lexemes.get(innermost + 1).map(|lexeme| &lexeme.kind),
                    Some(Kind::Mark("("))
                ),
                _ => self.begins_form(innermost),
            },
            _ => false,
        };
        let mut inner: Option<usize> = None;
        for place in chain.into_iter().rev() {
            if let Some(inner) = inner {
                let behind = self.closing[inner].saturating_add(1);
                holds = holds
                    && match self.lexemes.get(behind).map(|lexeme| &lexeme.kind) {
                        Some(Kind::Mark(")")) => true,
                        Some(Kind::Word(word)) => matches!(
                            word.as_str(),
                            "union"
                                | "intersect"
                                | "except"
                                | "order"
                                | "limit"
                                | "offset"
                                | "fetch"
                                | "for"
                        ),
                        _ => false,
                    };
            }
            self.queries[place] = Some(holds);
            inner = Some(place);
        }
        holds
    }
}

/// A name that stands for a form, as a token.
fn mark_token(value: String) -> Token {
    Token::Word(Word {
        value,
        quote_style: Some(QUOTE),
        keyword: Keyword::NoKeyword,
    })
}

/// A lexeme as a name, whatever meaning the grammar has for the word.
fn name_token(kind: &Kind) -> Token {
    match kind {
        Kind::Word(word) => Token::Word(Word {
            value: word.clone(),
            quote_style: None,
            keyword: Keyword::NoKeyword,
        }),
        kind => token_of(kind),
    }
}

/// A lexeme as it is.
fn token_of(kind: &Kind) -> Token {
    match kind {
        Kind::Word(word) => Token::make_word(word, None),
        Kind::Quoted(name) => Token::make_word(name, Some('"')),
        Kind::Text(text) => Token::SingleQuotedString(text.clone()),
        Kind::Bits('x', digits) => Token::HexStringLiteral(digits.clone()),
        Kind::Bits(_, digits) => Token::SingleQuotedByteStringLiteral(digits.clone()),
        Kind::Number(digits) => Token::Number(digits.clone(), false),
        Kind::Parameter(name) => Token::Placeholder(name.clone()),
        Kind::Operator(operator) => operator_token(operator),
        Kind::Mark(mark) => match *mark {
            "(" => Token::LParen,
            ")" => Token::RParen,
            "[" => Token::LBracket,
            "]" => Token::RBracket,
            "{" => Token::LBrace,
            "}" => Token::RBrace,
            "," => Token::Comma,
            ";" => Token::SemiColon,
            "." | ".." => Token::Period,
            ":" => Token::Colon,
            "::" => Token::DoubleColon,
            ":=" => Token::Assignment,
            _ => Token::RArrow,
        },
        Kind::End => Token::EOF,
    }
}

fn operator_token(operator: &str) -> Token {
    match operator {
        "=" | "==" => Token::Eq,
        "<>" => Token::Neq,
        "<" => Token::Lt,
        ">" => Token::Gt,
        "<=" => Token::LtEq,
        ">=" => Token::GtEq,
        "+" => Token::Plus,
        "-" => Token::Minus,
        "*" => Token::Mul,
        "/" => Token::Div,
        "%" => Token::Mod,
        "^" | "**" => Token::Caret,
        "||" => Token::StringConcat,
        "&" => Token::Ampersand,
        "|" => Token::Pipe,
        "#" => Token::Sharp,
        "~" => Token::Tilde,
        "~*" => Token::TildeAsterisk,
        "!~" => Token::ExclamationMarkTilde,
        "!~*" => Token::ExclamationMarkTildeAsterisk,
        "~~" => Token::DoubleTilde,
        "~~*" => Token::DoubleTildeAsterisk,
        "!~~" => Token::ExclamationMarkDoubleTilde,
        "!~~*" => Token::ExclamationMarkDoubleTildeAsterisk,
        "<<" => Token::ShiftLeft,
        ">>" => Token::ShiftRight,
        "&&" => Token::Overlap,
        "^@" => Token::CaretAt,
        "->" => Token::Arrow,
        "->>" => Token::LongArrow,
        "#>" => Token::HashArrow,
        "#>>" => Token::HashLongArrow,
        "@>" => Token::AtArrow,
        "<@" => Token::ArrowAt,
        "#-" => Token::HashMinus,
        "@?" => Token::AtQuestion,
        "@@" => Token::AtAt,
        "?" => Token::Question,
        "?&" => Token::QuestionAnd,
        "?|" => Token::QuestionPipe,
        other => Token::CustomBinaryOperator(other.to_owned()),
    }
}
