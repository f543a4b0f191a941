//! Queries: WITH, SELECT, VALUES, set operations, ORDER BY, LIMIT and locks.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::super::lexeme::Kind;
use super::super::marks::{
    CUBE, CYCLE, DISTINCT_SETS, EACH, GROUPING_SETS, KEY, NO_KEYS, NOTHING, PART, ROLLUP, SEARCH,
    TIES, USING,
};
use super::super::words::is_bare_label;
use super::Reader;
use super::expr::INFIX;
use crate::error::{Error, Result};

impl Reader<'_> {
    /// A query.
    pub(super) fn query(&mut self) -> Result<()> {
        let clauses = self.query_without_end(false)?;
        let Clauses {
            order,
            limit,
            offset,
            locks,
            ..
        } = clauses;
        // FETCH stands behind OFFSET.
        let fetches = limit
            .first()
            .is_some_and(|first| first.token == Token::make_keyword("FETCH"));
        let limits = match fetches {
            true => [offset, limit],
            false => [limit, offset],
        };
        self.out.extend(order);
        self.out.extend(limits.into_iter().flatten());
        self.out.extend(locks);
        Ok(())
    }

    /// A query; its ORDER BY and all behind it are read, and not yet written. Clauses outside of
    /// brackets may `belong` to it.
    fn query_without_end(&mut self, belong: bool) -> Result<Clauses> {
        self.enter()?;
        let recursive = std::mem::take(&mut self.recursive);
        let with = self.is("with").then(|| self.span().start);
        self.with()?;
        // WITH may stand before statements that change rows.
        if matches!(self.word(0), Some("insert" | "update" | "delete" | "merge")) && self.depth == 1
        {
            self.leave();
            self.other_statement()?;
            return Ok(Clauses::default());
        }
        let mut clauses = match self.is_query_in_brackets(belong || with.is_some()) {
            true => self.query_in_brackets()?,
            false => Clauses {
                combined: self.body()?,
                ..Clauses::default()
            },
        };
        let twice = |clause: &str, place| {
            let message = format!("multiple {clause} clauses not allowed");
            Error::new("42601", message).at(super::position(place))
        };
        if let Some(place) = with {
            if clauses.with {
                return Err(twice("WITH", place));
            }
            clauses.with = true;
        }
        if self.is("order") {
            let (place, at) = (self.out.len(), self.lexeme(2).span.start);
            self.order_by()?;
            if !clauses.order.is_empty() {
                return Err(twice("ORDER BY", at));
            }
            clauses.order = self.out.split_off(place);
        }
        let limits = self.limits()?;
        for (own, inner, clause) in [
            (limits.offset, &mut clauses.offset, "OFFSET"),
            (limits.limit, &mut clauses.limit, "LIMIT"),
        ] {
            match own {
                Some((_, place)) if !inner.is_empty() => return Err(twice(clause, place)),
                Some((tokens, _)) => *inner = tokens,
                None => {}
            }
        }
        clauses.locks.extend(limits.locks);
        // WITH RECURSIVE refuses locks by its own rule.
        if let (true, Some(strength), false) = (clauses.combined, limits.strength, recursive) {
            return Err(Error::unsupported(format!(
                "{strength} is not allowed with UNION/INTERSECT/EXCEPT"
            )));
        }
        self.leave();
        Ok(clauses)
    }

    /// Whether brackets stand here around a query that is no side of a set operation, and clauses
    /// behind them or, as is told, before them.
    fn is_query_in_brackets(&mut self, before: bool) -> bool {
        if !self.is_mark("(") || !self.holds_query(self.at) {
            return false;
        }
        let end = self.closing.get(self.at).copied().unwrap_or(usize::MAX);
        let behind = end.checked_add(1).and_then(|next| self.lexemes.get(next));
        match behind.map(|lexeme| &lexeme.kind) {
            Some(Kind::Word(word)) => match word.as_str() {
                "union" | "intersect" | "except" => false,
                "order" | "limit" | "offset" | "fetch" | "for" => true,
                _ => before,
            },
            _ => before,
        }
    }

    /// Brackets around a query: clauses behind them belong to the query, too.
    fn query_in_brackets(&mut self) -> Result<Clauses> {
        self.skip();
        let clauses = self.query_without_end(true)?;
        if !self.is_mark(")") {
            return Err(self.fail());
        }
        self.skip();
        Ok(clauses)
    }

    /// WITH, if there is one.
    fn with(&mut self) -> Result<()> {
        if !self.is("with") {
            return Ok(());
        }
        self.keep();
        let recursive = self.takes("recursive");
        self.list(|reader| reader.cte(recursive))
    }

    fn cte(&mut self, recursive: bool) -> Result<()> {
        if !self.is_name(0) {
            return Err(self.fail());
        }
        let place = self.span().start;
        self.keep_name();
        let listed = self.is_mark("(");
        if listed {
            self.names()?;
        }
        let columns = self.out.len();
        self.keep_word("as")?;
        if self.is("not") {
            self.keep();
            self.keep_word("materialized")?;
        } else {
            self.takes("materialized");
        }
        if !self.is_mark("(") {
            return Err(self.fail());
        }
        if matches!(self.word(1), Some("insert" | "update" | "delete" | "merge")) {
            let end = self.closing.get(self.at).copied().unwrap_or(usize::MAX);
            if end == usize::MAX {
                return Err(self.fail_at(self.lexemes.len() - 1));
            }
            self.keep();
            self.other_statement_until(end)?;
            self.keep_mark(")")?;
        } else {
            self.keep();
            if !self.begins_query() {
                return Err(self.fail());
            }
            self.recursive = recursive;
            self.query()?;
            self.keep_mark(")")?;
        }
        let mut marks = Vec::new();
        if self.is("search") {
            marks.push(self.search()?);
        }
        if self.is("cycle") {
            marks.push(self.cycle()?);
        }
        if marks.is_empty() {
            return Ok(());
        }
        if !recursive {
            return Err(
                Error::new("42601", "WITH query is not recursive").at(super::position(place))
            );
        }
        // The marks are columns at the end of the list.
        let mut tokens = Vec::new();
        for mark in marks {
            if listed || !tokens.is_empty() {
                tokens.push(Token::Comma);
            }
            tokens.push(Token::Word(sqlparser::tokenizer::Word {
                value: mark,
                quote_style: Some(super::QUOTE),
                keyword: super::Keyword::NoKeyword,
            }));
        }
        match listed {
            true => self.insert(columns - 1, tokens),
            false => {
                tokens.insert(0, Token::LParen);
                tokens.push(Token::RParen);
                self.insert(columns, tokens);
            }
        }
        Ok(())
    }

    /// The name here.
    fn taken_name(&mut self) -> Result<String> {
        match self.kind() {
            Kind::Word(name) if self.is_name(0) => {
                self.skip();
                Ok(name.clone())
            }
            Kind::Quoted(name) => {
                self.skip();
                Ok(name.clone())
            }
            _ => Err(self.fail()),
        }
    }

    fn taken_names(&mut self) -> Result<Vec<String>> {
        let mut names = vec![self.taken_name()?];
        while self.is_mark(",") {
            self.skip();
            names.push(self.taken_name()?);
        }
        Ok(names)
    }

    /// `SEARCH DEPTH FIRST BY a, b SET o`: the kind, the new column and the columns.
    fn search(&mut self) -> Result<String> {
        self.skip();
        let kind = match self.word(0) {
            Some(kind @ ("depth" | "breadth")) => kind.to_owned(),
            _ => return Err(self.fail()),
        };
        self.skip();
        self.skip_word("first")?;
        self.skip_word("by")?;
        let columns = self.taken_names()?;
        self.skip_word("set")?;
        let mut parts = vec![kind, self.taken_name()?];
        parts.extend(columns);
        Ok(format!("{SEARCH}{}", parts.join(&PART.to_string())))
    }

    /// `CYCLE a, b SET mark TO x DEFAULT y USING path`: the new columns, the values and the
    /// columns.
    fn cycle(&mut self) -> Result<String> {
        self.skip();
        let columns = self.taken_names()?;
        self.skip_word("set")?;
        let mark = self.taken_name()?;
        let mut values = ["true".to_owned(), "false".to_owned()];
        if self.is("to") {
            self.skip();
            values[0] = self.constant()?;
            self.skip_word("default")?;
            values[1] = self.constant()?;
        }
        self.skip_word("using")?;
        let mut parts = vec![mark, self.taken_name()?];
        parts.extend(values);
        parts.extend(columns);
        Ok(format!("{CYCLE}{}", parts.join(&PART.to_string())))
    }

    /// The text of a constant.
    fn constant(&mut self) -> Result<String> {
        let (from, place) = (self.at, self.out.len());
        self.expr_before_in()?;
        self.out.truncate(place);
        let (first, last) = (&self.lexemes[from], &self.lexemes[self.at - 1]);
        Ok(self.sql.get(first.start..last.end).unwrap_or("").to_owned())
    }

    /// SELECTs with set operations between them; whether there is one.
    fn body(&mut self) -> Result<bool> {
        let mut combined = false;
        loop {
            self.simple()?;
            if !matches!(self.word(0), Some("union" | "intersect" | "except")) {
                return Ok(combined);
            }
            combined = true;
            self.keep();
            match self.word(0) {
                Some("all") => self.keep(),
                Some("distinct") => self.skip(),
                _ => {}
            }
            if self.are(&["by", "name"]) {
                self.keep();
                self.keep();
            }
        }
    }

    fn simple(&mut self) -> Result<()> {
        match self.word(0) {
            Some("select") => self.select(),
            Some("from") => self.query_by_from(),
            Some("values") => self.values(),
            Some(_) if self.begins_form(self.at) => self.form(),
            Some("table") => {
                self.put_words(&["SELECT"]);
                self.put(Token::Mul);
                self.put_word("FROM");
                self.skip();
                let only = self.is("only");
                if only {
                    self.skip();
                }
                self.any_name()?;
                if only {
                    self.only();
                } else if self.operator(0) == Some("*") {
                    self.skip();
                }
                Ok(())
            }
            _ if self.is_mark("(") => {
                if !self.holds_query(self.at) {
                    self.skip();
                    return Err(match self.begins_query() {
                        true => self.fail_in_brackets(),
                        false => self.fail(),
                    });
                }
                self.keep();
                self.query()?;
                self.keep_mark(")")
            }
            _ => Err(self.fail()),
        }
    }

    /// The error of brackets that hold a query and more.
    fn fail_in_brackets(&mut self) -> Error {
        match self.query() {
            Err(error) => error,
            Ok(()) => self.fail(),
        }
    }

    fn values(&mut self) -> Result<()> {
        self.keep();
        self.list(|reader| {
            reader.keep_mark("(")?;
            reader.list(|reader| match reader.is("default") {
                true if !reader.defaults => {
                    let error = Error::new("42601", "DEFAULT is not allowed in this context");
                    Err(error.at(super::position(reader.span().start)))
                }
                true => {
                    reader.keep();
                    Ok(())
                }
                false => reader.expr(),
            })?;
            reader.keep_mark(")")
        })
    }

    fn query_by_from(&mut self) -> Result<()> {
        let place = self.out.len();
        self.keep();
        self.list_of_from()?;
        if self.is("select") {
            return self.select_from(Some(self.out.len()));
        }
        self.insert(place, vec![Token::make_keyword("SELECT"), Token::Mul]);
        self.clauses(Some(self.out.len()))
    }

    fn select(&mut self) -> Result<()> {
        self.select_from(None)
    }

    /// A SELECT; `from` is the end of FROM if that stands before it.
    fn select_from(&mut self, from: Option<usize>) -> Result<()> {
        let mut from = from;
        self.keep();
        let mut distinct = false;
        match self.word(0) {
            Some("all") => self.skip(),
            Some("distinct") => {
                distinct = true;
                self.keep();
                if self.is("on") {
                    self.keep();
                    self.keep_mark("(")?;
                    self.list(Self::expr)?;
                    self.keep_mark(")")?;
                }
            }
            _ => {}
        }
        if distinct || !self.ends_items() {
            self.items()?;
        } else if !self.is("from") {
            self.put_mark(NOTHING.to_owned());
        }
        if self.is("into") {
            self.keep();
            for word in ["local", "temporary", "temp", "unlogged", "table"] {
                self.takes(word);
            }
            loop {
                match self.is_name(0) {
                    true => self.keep_name(),
                    false => return Err(self.fail()),
                }
                if !self.is_mark(".") {
                    break;
                }
                self.keep();
            }
        }
        if self.is("from") && from.is_none() {
            self.keep();
            self.list_of_from()?;
            from = Some(self.out.len());
        }
        self.clauses(from)
    }

    /// Whether the list of a SELECT has ended.
    fn ends_items(&self) -> bool {
        match self.kind() {
            Kind::End => true,
            Kind::Mark(mark) => matches!(*mark, ";" | ")"),
            Kind::Word(word) => matches!(
                word.as_str(),
                "from"
                    | "where"
                    | "group"
                    | "having"
                    | "window"
                    | "union"
                    | "intersect"
                    | "except"
                    | "order"
                    | "limit"
                    | "offset"
                    | "fetch"
                    | "for"
                    | "into"
            ),
            _ => false,
        }
    }

    pub(super) fn items(&mut self) -> Result<()> {
        loop {
            self.item()?;
            if !self.is_mark(",") {
                return Ok(());
            }
            // A comma at the end of a list is DuckDB's.
            let last = match &self.lexeme(1).kind {
                Kind::Word(word) => matches!(
                    word.as_str(),
                    "from" | "where" | "group" | "order" | "limit" | "having" | "union"
                ),
                _ => false,
            };
            if last {
                self.skip();
                return Ok(());
            }
            self.keep();
        }
    }

    /// Whether an item of a SELECT list ends before a lexeme.
    pub(super) fn ends_item(&self, ahead: usize) -> bool {
        match &self.lexeme(ahead).kind {
            Kind::End => true,
            Kind::Mark(mark) => matches!(*mark, "," | ";" | ")"),
            Kind::Word(word) => matches!(
                word.as_str(),
                "from"
                    | "where"
                    | "group"
                    | "having"
                    | "window"
                    | "union"
                    | "intersect"
                    | "except"
                    | "order"
                    | "limit"
                    | "offset"
                    | "fetch"
                    | "for"
                    | "into"
            ),
            _ => false,
        }
    }

    fn item(&mut self) -> Result<()> {
        let around = self.item.replace(self.levels[self.at]);
        let done = self.item_inner();
        self.item = around;
        done
    }

    fn item_inner(&mut self) -> Result<()> {
        if self.operator(0) == Some("*") && self.word(1) != Some("columns") {
            if self.has_star_options(1) {
                return self.each(|reader| reader.star_with_options(1));
            }
            self.keep();
            return Ok(());
        }
        if let Some(length) = self.star() {
            if self.has_star_options(length) {
                return self.each(|reader| reader.star_with_options(length));
            }
            for _ in 0..length {
                match self.is_label(0) {
                    true => self.keep_name(),
                    false => self.keep(),
                }
            }
            self.label_of_star();
            return Ok(());
        }
        // `(t.*)` is `t.*`.
        if self.is_mark("(")
            && let Some(end) = self.star_from(1)
            && self.mark(end) == Some(")")
            && (self.word(end + 1) == Some("as") || self.ends_item(end + 1))
        {
            self.skip();
            for _ in 1..end {
                match self.is_label(0) {
                    true => self.keep_name(),
                    false => self.keep(),
                }
            }
            self.skip();
            self.label_of_star();
            return Ok(());
        }
        // `label: expr` of DuckDB.
        if self.is_name(0) && self.mark(1) == Some(":") {
            let label = super::name_token(self.kind());
            self.skip();
            self.skip();
            self.each(Self::expr)?;
            self.put_word("AS");
            self.put(label);
            return Ok(());
        }
        let first = self.out.len();
        self.each(Self::expr)?;
        if self.is("as") {
            self.keep();
            let each = self.out.get(first).is_some_and(is_each);
            if each && self.label_pattern() {
                return Ok(());
            }
            if !self.is_label(0) {
                return Err(self.fail());
            }
            self.label();
            return Ok(());
        }
        let bare = match self.kind() {
            Kind::Quoted(_) => true,
            Kind::Word(word) => {
                let begins_clause = match word.as_str() {
                    "qualify" => self.begins_operand(1),
                    "using" => self.word(1) == Some("sample"),
                    _ => false,
                };
                is_bare_label(word) && !begins_clause
            }
            _ => false,
        };
        if bare {
            self.put_word("AS");
            self.label();
        }
        Ok(())
    }

    /// Writes a label, always in quotes if it is a key word.
    fn label(&mut self) {
        self.keep_name();
    }

    /// PostgreSQL passes over a label behind a star.
    fn label_of_star(&mut self) {
        if self.is("as") && self.is_label(1) {
            self.skip();
            self.skip();
        }
    }

    /// The length of `t.*` where it is an item of the list.
    pub(super) fn star(&self) -> Option<usize> {
        self.star_from(0)
    }

    /// The lexemes to the end of `t.*` that begins so many lexemes ahead.
    fn star_from(&self, first: usize) -> Option<usize> {
        let mut ahead = first;
        while self.is_label(ahead) && self.mark(ahead + 1) == Some(".") {
            ahead += 2;
            if self.operator(ahead) == Some("*") {
                let goes_on = !self.has_star_options(ahead + 1)
                    && match &self.lexeme(ahead + 1).kind {
                        Kind::Operator(_) => true,
                        Kind::Mark(mark) => matches!(*mark, "::" | "[" | "."),
                        Kind::Word(word) => INFIX.contains(&word.as_str()),
                        _ => false,
                    };
                return (self.is_name(first) && !goes_on).then_some(ahead + 1);
            }
        }
        None
    }

    /// The clauses behind FROM, which ends at a place.
    fn clauses(&mut self, from: Option<usize>) -> Result<()> {
        if self.takes("where") {
            self.each(Self::expr)?;
        } else if self.is("window") && self.is_name(1) && self.word(2) == Some("as") {
            // Without FROM, the grammar takes the word for the name of the last item.
            self.put_words(&["WHERE", "TRUE"]);
        } else if self.are(&["on", "conflict"]) {
            // It takes ON for that name, too.
            self.put_words(&["WHERE", "TRUE"]);
        }
        if self.is("group") {
            self.group_by()?;
        }
        if self.takes("having") {
            self.each(Self::expr)?;
        }
        if self.is("qualify") && self.begins_operand(1) {
            self.keep();
            self.each(Self::expr)?;
        }
        if self.takes("window") {
            self.list(|reader| {
                if !reader.is_name(0) {
                    return Err(reader.fail());
                }
                reader.keep_name();
                reader.keep_word("as")?;
                reader.window()
            })?;
        }
        if self.is("qualify") && self.begins_operand(1) {
            self.keep();
            self.expr()?;
        }
        if self.is("using") && self.word(1) == Some("sample") {
            let Some(from) = from else {
                return Err(self.fail());
            };
            self.skip();
            self.skip();
            let place = self.out.len();
            self.sample_call()?;
            let call = self.out.split_off(place).into_iter();
            let call = std::iter::once(Token::Comma).chain(call.map(|token| token.token));
            self.insert(from, call.collect());
        }
        Ok(())
    }

    fn group_by(&mut self) -> Result<()> {
        self.keep();
        self.keep_word("by")?;
        if self.is("all") {
            let alone = match &self.lexeme(1).kind {
                Kind::End | Kind::Mark(")" | ";") => true,
                Kind::Word(word) => matches!(
                    word.as_str(),
                    "having"
                        | "order"
                        | "limit"
                        | "offset"
                        | "window"
                        | "union"
                        | "except"
                        | "intersect"
                        | "qualify"
                        | "fetch"
                        | "for"
                ),
                _ => false,
            };
            if alone {
                self.keep();
                return Ok(());
            }
            self.skip();
        } else if self.is("distinct") {
            self.put_call(DISTINCT_SETS);
            self.skip();
            self.put(Token::RParen);
            self.put(Token::Comma);
        }
        self.list(Self::group_key)?;
        if self.is("with") && matches!(self.word(1), Some("rollup" | "cube" | "totals")) {
            self.keep();
            self.keep();
        }
        Ok(())
    }

    fn group_item(&mut self) -> Result<()> {
        self.enter()?;
        let done = self.group_item_inner();
        self.leave();
        done
    }

    /// Whether sets are inside of the sets that begin at a bracket.
    fn nests_sets(&self, open: usize) -> bool {
        let end = self.closing.get(open).copied().unwrap_or(usize::MAX);
        let inside = self.lexemes.get(open + 1..end.min(self.lexemes.len()));
        inside.is_some_and(|inside| {
            inside.iter().any(|lexeme| {
                matches!(&lexeme.kind, Kind::Word(word) if matches!(word.as_str(), "grouping" | "rollup" | "cube"))
            })
        })
    }

    /// Whether an item of the list in a bracket begins with a bracket and goes on behind it, as
    /// `(a)::text` does: the grammar takes it for a list of keys.
    fn begins_with_bracket(&self, open: usize) -> bool {
        let closing = |at: usize| self.closing.get(at).copied().unwrap_or(usize::MAX);
        let end = closing(open).min(self.lexemes.len());
        let (mut at, mut begins) = (open + 1, true);
        while let Some(lexeme) = self.lexemes.get(at).filter(|_| at < end) {
            let first = std::mem::replace(&mut begins, lexeme.kind == Kind::Mark(","));
            at = match lexeme.kind {
                Kind::Mark("(") => {
                    let behind = closing(at).saturating_add(1);
                    let next = self.lexemes.get(behind).map(|next| &next.kind);
                    if first && behind < end && next != Some(&Kind::Mark(",")) {
                        return true;
                    }
                    behind
                }
                _ => at + 1,
            };
        }
        false
    }

    /// An item of GROUP BY itself, in the forms of the grammar where it has them.
    fn group_key(&mut self) -> Result<()> {
        match self.word(0) {
            Some("rollup" | "cube")
                if self.mark(1) == Some("(") && !self.begins_with_bracket(self.at + 1) =>
            {
                self.keep();
                self.keep();
                self.list(Self::expr)?;
                self.keep_mark(")")
            }
            Some("grouping")
                if self.word(1) == Some("sets")
                    && self.mark(2) == Some("(")
                    && !self.nests_sets(self.at + 2)
                    && !self.begins_with_bracket(self.at + 2) =>
            {
                self.keep();
                self.keep();
                self.keep();
                self.list(
                    |reader| match reader.is_mark("(") && reader.mark(1) == Some(")") {
                        true => {
                            reader.keep();
                            reader.keep();
                            Ok(())
                        }
                        false => reader.expr(),
                    },
                )?;
                self.keep_mark(")")
            }
            _ if self.is_mark("(") && self.mark(1) == Some(")") => {
                self.keep();
                self.keep();
                Ok(())
            }
            _ => self.group_item(),
        }
    }

    fn group_item_inner(&mut self) -> Result<()> {
        if self.is_mark("(") && self.mark(1) == Some(")") {
            self.put_call(NO_KEYS);
            self.skip();
            self.keep();
            return Ok(());
        }
        match self.word(0) {
            Some("grouping") if self.word(1) == Some("sets") => {
                self.skip();
                self.skip();
                if !self.is_mark("(") {
                    return Err(self.fail());
                }
                self.put_call(GROUPING_SETS);
                self.skip();
                self.list(Self::group_item)?;
                self.keep_mark(")")
            }
            Some(word @ ("rollup" | "cube")) if self.mark(1) == Some("(") => {
                self.put_call(if word == "cube" { CUBE } else { ROLLUP });
                self.skip();
                self.skip();
                self.list(Self::expr)?;
                self.keep_mark(")")
            }
            _ => self.expr(),
        }
    }

    /// ORDER BY with its keys.
    pub(super) fn order_by(&mut self) -> Result<()> {
        self.keep_word("order")?;
        self.keep_word("by")?;
        self.list(Self::sort_key)
    }

    fn sort_key(&mut self) -> Result<()> {
        if self.is("all") {
            self.keep();
        } else {
            let place = self.out.len();
            self.each(Self::expr)?;
            if self.is("using") {
                self.skip();
                let mark = self.out.len();
                if !self.is("operator") && self.operator(0).is_none() {
                    return Err(self.fail());
                }
                let symbol = self.operator_name()?;
                self.out.truncate(mark);
                match symbol.as_str() {
                    "<" => {}
                    ">" => self.put_word("DESC"),
                    _ => {
                        let name = Token::Word(sqlparser::tokenizer::Word {
                            value: format!("{USING}{symbol}"),
                            quote_style: Some(super::QUOTE),
                            keyword: super::Keyword::NoKeyword,
                        });
                        self.insert(place, vec![name, Token::LParen]);
                        self.put(Token::RParen);
                    }
                }
            } else if matches!(self.word(0), Some("asc" | "desc")) {
                self.keep();
            }
        }
        if self.is("all") {
            return Err(self.fail());
        }
        if matches!(self.word(0), Some("asc" | "desc"))
            && self.out.last().is_some_and(|token| {
                token.token == Token::make_keyword("ALL")
                    || token.token == Token::make_word("all", None)
            })
        {
            self.keep();
        }
        if self.is("nulls") && matches!(self.word(1), Some("first" | "last")) {
            self.keep();
            self.keep();
        }
        Ok(())
    }

    /// LIMIT, OFFSET, FETCH and locks.
    fn limits(&mut self) -> Result<Limits> {
        let mut limit = None;
        let mut offset = None;
        let mut locks: Vec<TokenWithSpan> = Vec::new();
        // Locks stand before all limits or behind them.
        let mut limited_first = false;
        let mut strength = None;
        loop {
            let place = self.out.len();
            let at = self.lexeme(1).span.start;
            match self.word(0) {
                Some("limit") if limit.is_none() => {
                    if limited_first && !locks.is_empty() {
                        return Err(self.fail());
                    }
                    // DuckDB's `LIMIT 10%`.
                    if matches!(self.lexeme(1).kind, Kind::Number(_) | Kind::Parameter(_))
                        && (self.operator(2) == Some("%") && self.ends_item(3)
                            || self.word(2) == Some("percent"))
                    {
                        self.put_words(&["FETCH", "FIRST"]);
                        self.skip();
                        self.keep();
                        self.put_words(&["PERCENT", "ROWS", "ONLY"]);
                        self.skip();
                        limit = Some((self.out.split_off(place), at));
                        continue;
                    }
                    self.keep();
                    match self.is("all") {
                        true => {
                            self.put_word("NULL");
                            self.skip();
                        }
                        false => self.expr()?,
                    }
                    if self.is_mark(",") {
                        self.keep();
                        self.expr()?;
                    }
                    limit = Some((self.out.split_off(place), at));
                }
                Some("fetch") if limit.is_none() => {
                    if limited_first && !locks.is_empty() {
                        return Err(self.fail());
                    }
                    self.fetch()?;
                    limit = Some((self.out.split_off(place), at));
                }
                Some("offset") if offset.is_none() => {
                    if limited_first && !locks.is_empty() {
                        return Err(self.fail());
                    }
                    self.keep();
                    self.expr()?;
                    if matches!(self.word(0), Some("row" | "rows")) {
                        self.skip();
                    }
                    offset = Some((self.out.split_off(place), at));
                }
                Some("limit" | "fetch" | "offset") => return Err(self.fail()),
                Some("order") if !locks.is_empty() => return Err(self.fail()),
                Some("for") => {
                    limited_first |= limit.is_some() || offset.is_some();
                    let lock = self.lock()?;
                    strength = strength.or(lock);
                    locks.extend(self.out.split_off(place));
                }
                _ => break,
            }
        }
        Ok(Limits {
            limit,
            offset,
            locks,
            strength,
        })
    }

    /// FETCH becomes LIMIT, but for WITH TIES.
    fn fetch(&mut self) -> Result<()> {
        let place = self.out.len();
        self.put_word("LIMIT");
        self.skip();
        match self.word(0) {
            Some("first" | "next") => self.skip(),
            _ => return Err(self.fail()),
        }
        if matches!(self.word(0), Some("row" | "rows")) {
            self.put(Token::Number("1".to_owned(), false));
        } else {
            // A number, or an operand in brackets.
            match self.kind() {
                Kind::Operator(sign) if sign == "-" || sign == "+" => {
                    self.keep();
                    match self.kind() {
                        Kind::Number(_) => self.keep(),
                        _ => return Err(self.fail()),
                    }
                }
                Kind::Number(_) | Kind::Parameter(_) => self.keep(),
                Kind::Mark("(") if !self.holds_query(self.at) => {
                    self.keep();
                    self.expr()?;
                    self.keep_mark(")")?;
                }
                _ => self.expr()?,
            }
        }
        match self.word(0) {
            Some("row" | "rows") => self.skip(),
            _ => return Err(self.fail()),
        }
        if self.is("only") {
            self.skip();
            return Ok(());
        }
        if !self.is("with") {
            return Err(self.fail());
        }
        self.skip();
        if !self.is("ties") {
            return Err(self.fail());
        }
        // The grammar has single values only.
        let quantity = self.out.split_off(place + 1);
        if quantity.len() == 1 {
            self.out.pop();
            self.put_words(&["FETCH", "FIRST"]);
            self.out.extend(quantity);
            self.put_words(&["ROWS", "WITH", "TIES"]);
        } else {
            self.put_call(TIES);
            self.out.extend(quantity);
            self.put(Token::RParen);
        }
        self.skip();
        Ok(())
    }

    /// FOR UPDATE and its kind; its words.
    fn lock(&mut self) -> Result<Option<&'static str>> {
        let first = self.out.len();
        self.keep();
        let strength = match self.word(0) {
            Some("update") => "FOR UPDATE",
            Some("share") => "FOR SHARE",
            Some("no") => "FOR NO KEY UPDATE",
            _ => "FOR KEY SHARE",
        };
        let weaker = matches!(self.word(0), Some("no" | "key"));
        match self.word(0) {
            Some("update" | "share") => self.keep(),
            Some("no") => {
                self.skip();
                self.skip_word("key")?;
                self.keep_word("update")?;
            }
            Some("key") => {
                self.skip();
                self.keep_word("share")?;
            }
            Some("read") => {
                self.out.pop();
                self.skip();
                self.skip_word("only")?;
                return Ok(None);
            }
            _ => return Err(self.fail()),
        }
        // The grammar has one table for each lock.
        let head = self.out[first..].to_vec();
        let mut names = Vec::new();
        if weaker && !self.is("of") {
            self.put_word("OF");
            self.put_mark(KEY.to_owned());
        }
        if self.is("of") {
            loop {
                self.put_word("OF");
                self.skip();
                let place = self.out.len() - 1;
                if weaker {
                    self.put_mark(KEY.to_owned());
                    self.put(Token::Period);
                }
                self.any_name()?;
                names.push(self.out.split_off(place));
                if !self.is_mark(",") {
                    break;
                }
            }
        }
        let place = self.out.len();
        match self.word(0) {
            Some("nowait") => self.keep(),
            Some("skip") => {
                self.keep();
                self.keep_word("locked")?;
            }
            _ => {}
        }
        let tail = self.out.split_off(place);
        for (at, name) in names.into_iter().enumerate() {
            if at > 0 {
                self.out.extend(tail.iter().cloned());
                self.out.extend(head.iter().cloned());
            }
            self.out.extend(name);
        }
        self.out.extend(tail);
        Ok(Some(strength))
    }
}

/// The end of a query as it is written for the grammar.
#[derive(Default)]
struct Clauses {
    /// Whether WITH stands before it.
    with: bool,
    /// Whether it has set operations.
    combined: bool,
    order: Vec<TokenWithSpan>,
    limit: Vec<TokenWithSpan>,
    offset: Vec<TokenWithSpan>,
    locks: Vec<TokenWithSpan>,
}

/// A clause with the place of its value.
type Placed = (Vec<TokenWithSpan>, sqlparser::tokenizer::Location);

/// Clauses behind ORDER BY.
struct Limits {
    limit: Option<Placed>,
    offset: Option<Placed>,
    locks: Vec<TokenWithSpan>,
    /// The words of the first lock.
    strength: Option<&'static str>,
}

/// Whether a token begins what stands for several expressions.
fn is_each(token: &TokenWithSpan) -> bool {
    matches!(&token.token, Token::Word(word) if word.value == EACH)
}
