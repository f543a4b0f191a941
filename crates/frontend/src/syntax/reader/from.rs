//! FROM: relations, functions, sub-queries and joins.

use sqlparser::tokenizer::Token;

use super::super::lexeme::{Kind, near};
use super::super::marks::{COLUMNS, JOIN_ALIAS, ONLY, POSITIONAL, ROWS_FROM};
use super::super::words::{Class, class};
use super::Reader;
use crate::error::{Error, Result};

impl Reader<'_> {
    /// The list behind FROM.
    pub(super) fn list_of_from(&mut self) -> Result<()> {
        self.list(Self::joined)
    }

    /// A relation with those that are joined to it.
    fn joined(&mut self) -> Result<()> {
        self.joins().map(|_| ())
    }

    /// The same; whether it is a join.
    pub(super) fn joins(&mut self) -> Result<bool> {
        self.enter()?;
        let mut is_join = self.primary()?;
        while self.join()? {
            is_join = true;
        }
        self.leave();
        Ok(is_join)
    }

    /// Whether a join follows, and how many words it has before JOIN.
    fn join_words(&self) -> Option<usize> {
        let words: [Option<&str>; 4] = std::array::from_fn(|ahead| self.word(ahead));
        let natural = usize::from(words[0] == Some("natural"));
        let mut count = natural;
        if natural == 1 && words[1] == Some("cross") {
            return None;
        }
        match words[count] {
            Some("cross" | "inner") => count += 1,
            Some("left" | "right" | "full") => {
                count += 1;
                if words.get(count).copied().flatten() == Some("outer") {
                    count += 1;
                }
                if matches!(words.get(count).copied().flatten(), Some("semi" | "anti")) {
                    count += 1;
                }
            }
            Some("semi" | "anti" | "positional") => count += 1,
            Some("asof") => {
                count += 1;
                if matches!(words[count], Some("left" | "inner" | "right" | "full")) {
                    count += 1;
                    if words.get(count).copied().flatten() == Some("outer") {
                        count += 1;
                    }
                }
            }
            _ => {}
        }
        (self.word(count) == Some("join")).then_some(count)
    }

    /// A join, if there is one.
    fn join(&mut self) -> Result<bool> {
        let Some(words) = self.join_words() else {
            // The place of a word that needs JOIN behind it is that of what is there instead.
            if matches!(
                self.word(0),
                Some("natural" | "cross" | "inner" | "left" | "right" | "full")
            ) {
                let mut ahead = 1;
                while matches!(
                    self.word(ahead),
                    Some("outer" | "left" | "right" | "full" | "inner")
                ) && self.word(ahead - 1) != Some("outer")
                {
                    ahead += 1;
                }
                return Err(self.fail_at(self.at + ahead));
            }
            return Ok(false);
        };
        let first = self.word(0);
        let bare = matches!(first, Some("cross" | "natural"));
        if first == Some("positional") {
            self.put_words(&["FULL", "JOIN"]);
            self.skip();
            self.skip();
            self.primary()?;
            self.put_word("ON");
            self.put_call(POSITIONAL);
            self.put(Token::RParen);
            return Ok(true);
        }
        if first == Some("asof") {
            return self.asof_join(words);
        }
        if matches!(first, Some("semi" | "anti")) {
            self.put_word("LEFT");
        }
        for _ in 0..=words {
            self.keep();
        }
        if bare {
            self.primary()?;
            return Ok(true);
        }
        // `a JOIN b JOIN c ON … ON …` joins the last two first.
        let place = self.out.len();
        self.primary()?;
        let mut nested = false;
        while self.join_words().is_some() {
            nested |= self.join()?;
        }
        if nested {
            self.insert(place, vec![Token::LParen]);
            self.put(Token::RParen);
        }
        match self.word(0) {
            Some("on") => {
                self.keep();
                self.each(Self::expr)?;
            }
            Some("using") => {
                self.keep();
                self.names()?;
                self.join_alias()?;
            }
            _ => return Err(self.fail()),
        }
        Ok(true)
    }

    /// DuckDB's `ASOF JOIN t ON condition`: the whole condition says which row is the last.
    fn asof_join(&mut self, words: usize) -> Result<bool> {
        if words != 1 {
            return Err(Error::unsupported(
                "an ASOF JOIN that is an outer join is not supported",
            ));
        }
        self.keep();
        self.keep();
        self.primary()?;
        if self.is("match_condition") {
            self.keep();
            self.keep_mark("(")?;
            self.expr()?;
            self.keep_mark(")")?;
            if self.is("on") {
                self.keep();
                self.expr()?;
            } else {
                self.keep_word("using")?;
                self.names()?;
            }
            return Ok(true);
        }
        if self.is("using") {
            return Err(Error::unsupported("USING of an ASOF JOIN is not supported"));
        }
        self.skip_word("on")?;
        self.put_word("MATCH_CONDITION");
        self.put(Token::LParen);
        self.expr()?;
        self.put(Token::RParen);
        self.put_words(&["ON", "TRUE"]);
        Ok(true)
    }

    /// The alias of the columns of USING becomes one of them.
    fn join_alias(&mut self) -> Result<()> {
        if !self.is("as") {
            return Ok(());
        }
        self.skip();
        let name = match self.kind() {
            Kind::Word(name) if self.is_name(0) => name.clone(),
            Kind::Quoted(name) => name.clone(),
            _ => return Err(self.fail()),
        };
        self.out.pop();
        self.put(Token::Comma);
        self.put_mark(format!("{JOIN_ALIAS}{name}"));
        self.put(Token::RParen);
        self.skip();
        Ok(())
    }

    /// A relation, a function, a sub-query or joins in brackets; whether it is joins without a
    /// name.
    fn primary(&mut self) -> Result<bool> {
        let place = self.out.len();
        let is_join = self.primary_inner()?;
        self.pivot_clause(place)?;
        Ok(is_join)
    }

    fn primary_inner(&mut self) -> Result<bool> {
        let lateral = self.is("lateral");
        if lateral {
            self.keep();
        }
        if self.is_mark("(") {
            if self.holds_query(self.at) {
                self.keep();
                self.query()?;
                self.keep_mark(")")?;
                self.alias()?;
                self.sample()?;
                return Ok(false);
            }
            if lateral {
                self.skip();
                return Err(self.fail());
            }
            self.keep();
            // There is no relation alone in brackets.
            if !self.joins()? || !self.is_mark(")") {
                return Err(self.fail());
            }
            self.keep();
            return Ok(!self.alias()?);
        }
        if self.are(&["rows", "from"]) && self.mark(2) == Some("(") {
            self.rows_from()?;
            return Ok(false);
        }
        let mut only = false;
        if self.is("only") {
            only = true;
            self.skip();
            if self.is_mark("(") {
                self.skip();
                self.relation_name()?;
                self.skip_mark(")")?;
                self.alias()?;
                self.only();
                self.sample()?;
                return Ok(false);
            }
        }
        if matches!(self.kind(), Kind::Text(_)) && !only && !lateral {
            // A file by its name.
            self.keep();
            self.alias()?;
            self.sample()?;
            return Ok(false);
        }
        if !only && self.begins_call() {
            self.function()?;
            return Ok(false);
        }
        self.relation_name()?;
        if !only && self.operator(0) == Some("*") {
            self.skip();
        }
        if lateral {
            return Err(self.fail());
        }
        self.alias()?;
        if only {
            self.only();
        }
        self.sample()?;
        Ok(false)
    }

    /// ONLY of the table before, as a hint about it.
    pub(super) fn only(&mut self) {
        self.put_word("WITH");
        self.put(Token::LParen);
        self.put_mark(ONLY.to_owned());
        self.put(Token::RParen);
    }

    fn begins_call(&self) -> bool {
        let mut ahead = 0;
        loop {
            if !self.is_label(ahead) {
                return false;
            }
            match self.mark(ahead + 1) {
                Some("(") => return true,
                Some(".") => ahead += 2,
                _ => {
                    return ahead == 0
                        && matches!(
                            self.word(0),
                            Some(
                                "current_date"
                                    | "current_time"
                                    | "current_timestamp"
                                    | "localtime"
                                    | "localtimestamp"
                                    | "current_user"
                                    | "session_user"
                                    | "user"
                                    | "current_role"
                                    | "current_catalog"
                                    | "current_schema"
                            )
                        );
                }
            }
        }
    }

    fn relation_name(&mut self) -> Result<()> {
        if !self.is_name(0) {
            // The name of a function alone is followed by a bracket.
            let is_function =
                matches!(self.kind(), Kind::Word(word) if class(word) == Class::Function);
            return Err(self.fail_at(self.at + usize::from(is_function)));
        }
        self.keep_name();
        while self.is_mark(".") {
            self.keep();
            match self.is_label(0) {
                true => self.keep_name(),
                false => return Err(self.fail()),
            }
        }
        Ok(())
    }

    /// A call, whose name is returned.
    fn call_in_from(&mut self) -> Result<String> {
        let place = self.out.len();
        let mut ahead = 0;
        while self.mark(ahead + 1) == Some(".") {
            ahead += 2;
        }
        let mut name = match &self.lexeme(ahead).kind {
            Kind::Word(name) | Kind::Quoted(name) => name.clone(),
            _ => return Err(self.fail()),
        };
        let word = self.word(0).unwrap_or("").to_owned();
        if self.mark(1) != Some("(") && ahead == 0 {
            self.special(&word)?;
            self.put(Token::LParen);
            self.put(Token::RParen);
            return Ok(name);
        }
        if ahead == 0 && self.special(&word)? {
            // Forms of the language are calls in FROM, too.
            if let Some(Token::Word(word)) = self.out.get(place).map(|token| token.token.clone()) {
                name = word.value.to_lowercase();
            }
            return Ok(name);
        }
        // Words such as LEFT are names of functions, though of nothing else.
        let is_function = |word: &str| class(word) == Class::Function;
        if ahead == 0 && !self.is_name(0) && !self.word(0).is_some_and(is_function) {
            return Err(self.fail());
        }
        for _ in 0..=ahead {
            match self.is_mark(".") {
                true => self.keep(),
                false => self.keep_name(),
            }
        }
        self.keep_mark("(")?;
        if !self.is_mark(")") {
            self.list(Self::argument)?;
        }
        self.keep_mark(")")?;
        Ok(name)
    }

    fn function(&mut self) -> Result<()> {
        let name = self.call_in_from()?;
        let ordinality = self.are(&["with", "ordinality"]);
        if ordinality {
            self.keep();
            self.keep();
        }
        self.function_alias(Some(&name), ordinality)?;
        self.sample()
    }

    fn function_alias(&mut self, name: Option<&str>, ordinality: bool) -> Result<()> {
        // `AS (a int)` has the name of the function.
        if self.is("as") && self.mark(1) == Some("(") {
            let Some(name) = name else {
                self.skip();
                return Err(self.fail());
            };
            self.keep();
            self.put(Token::make_word(name, Some('"')));
            return self.definitions(ordinality);
        }
        if self.alias_name()? && self.is_mark("(") {
            let typed = self.is_name(1) && !matches!(self.mark(2), Some("," | ")"));
            return match typed {
                true => self.definitions(ordinality),
                false => self.names(),
            };
        }
        Ok(())
    }

    /// `(a int, b text)`.
    fn definitions(&mut self, ordinality: bool) -> Result<()> {
        if ordinality {
            let place = self.lexeme(1).span.start;
            return Err(Error::new(
                "42601",
                "WITH ORDINALITY cannot be used with a column definition list",
            )
            .at(super::position(place)));
        }
        self.keep_mark("(")?;
        self.list(|reader| {
            if !reader.is_name(0) {
                return Err(reader.fail());
            }
            reader.keep_name();
            reader.type_name()?;
            if reader.is("collate") {
                reader.skip();
                let place = reader.out.len();
                reader.any_name()?;
                reader.out.truncate(place);
            }
            Ok(())
        })?;
        self.keep_mark(")")
    }

    /// ROWS FROM becomes a call around the calls.
    fn rows_from(&mut self) -> Result<()> {
        self.put_mark(ROWS_FROM.to_owned());
        self.skip();
        self.skip();
        self.keep();
        self.list(|reader| {
            if !reader.begins_call() {
                reader.relation_name()?;
                return Err(reader.fail());
            }
            let place = reader.out.len();
            reader.call_in_from()?;
            if !reader.is("as") {
                return Ok(());
            }
            reader.skip();
            let mark = Token::Word(sqlparser::tokenizer::Word {
                value: COLUMNS.to_owned(),
                quote_style: Some(super::QUOTE),
                keyword: super::Keyword::NoKeyword,
            });
            reader.insert(place, vec![mark, Token::LParen]);
            reader.skip_mark("(")?;
            loop {
                reader.put(Token::Comma);
                if !reader.is_name(0) {
                    return Err(reader.fail());
                }
                reader.keep_name();
                reader.put(Token::RArrow);
                reader.put_word("NULL");
                reader.put(Token::DoubleColon);
                reader.type_name()?;
                if !reader.is_mark(",") {
                    break;
                }
                reader.skip();
            }
            reader.keep_mark(")")
        })?;
        self.keep_mark(")")?;
        let ordinality = self.are(&["with", "ordinality"]);
        if ordinality {
            self.keep();
            self.keep();
        }
        self.function_alias(None, ordinality)?;
        self.sample()
    }

    /// An alias, if there is one.
    pub(super) fn alias(&mut self) -> Result<bool> {
        let named = self.alias_name()?;
        if named && self.is_mark("(") {
            self.names()?;
        }
        Ok(named)
    }

    fn alias_name(&mut self) -> Result<bool> {
        if self.is("as") {
            self.keep();
            if !self.is_name(0) {
                return Err(self.fail());
            }
            self.keep_name();
            return Ok(true);
        }
        if !self.is_name(0) || self.begins_clause() {
            return Ok(false);
        }
        self.put_word("AS");
        self.keep_name();
        Ok(true)
    }

    /// Whether a word begins a form of DuckDB rather than being an alias.
    fn begins_clause(&self) -> bool {
        match self.word(0) {
            Some("semi" | "anti" | "asof" | "positional") => self.join_words().is_some(),
            Some("pivot" | "unpivot") => self.begins_pivot_clause(),
            Some("qualify") => self.begins_operand(1),
            _ => false,
        }
    }

    /// Whether an expression may begin at a place.
    pub(super) fn begins_operand(&self, ahead: usize) -> bool {
        match &self.lexeme(ahead).kind {
            Kind::Word(word) => {
                !matches!(
                    word.as_str(),
                    "as" | "from"
                        | "where"
                        | "group"
                        | "having"
                        | "window"
                        | "order"
                        | "limit"
                        | "offset"
                        | "fetch"
                        | "for"
                        | "union"
                        | "intersect"
                        | "except"
                        | "join"
                        | "left"
                        | "right"
                        | "full"
                        | "inner"
                        | "cross"
                        | "natural"
                        | "on"
                        | "using"
                        | "tablesample"
                        | "into"
                        | "is"
                        | "in"
                        | "like"
                        | "and"
                        | "or"
                ) || self.mark(ahead + 1) == Some("(") && matches!(word.as_str(), "left" | "right")
            }
            Kind::Mark(mark) => matches!(*mark, "(" | "["),
            Kind::Operator(operator) => matches!(operator.as_str(), "-" | "+" | "~" | "@"),
            Kind::End => false,
            _ => true,
        }
    }

    fn sample(&mut self) -> Result<()> {
        if !self.is("tablesample") {
            return Ok(());
        }
        if self.is_friendly_sample(1) {
            self.skip();
            self.put_words(&["CROSS", "JOIN"]);
            return self.sample_call();
        }
        self.keep();
        if !self.is_name(0) {
            return Err(self.fail());
        }
        let (name, place) = (self.word(0).unwrap_or("").to_owned(), self.span().start);
        self.keep();
        self.keep_mark("(")?;
        let mut count = 0;
        self.list(|reader| {
            count += 1;
            reader.expr()
        })?;
        self.keep_mark(")")?;
        if !matches!(name.as_str(), "bernoulli" | "system") {
            return Err(
                Error::new("42704", format!("tablesample method {name} does not exist"))
                    .at(super::position(place)),
            );
        }
        if count != 1 {
            return Err(Error::new(
                "2202H",
                format!("tablesample method {name} requires 1 argument, not {count}"),
            )
            .at(super::position(place)));
        }
        if self.is("repeatable") {
            self.keep();
            self.keep_mark("(")?;
            match (self.kind(), self.mark(1)) {
                (Kind::Number(_), Some(")")) => self.keep(),
                (Kind::Word(word), Some(")")) if word == "null" => {
                    return Err(Error::new(
                        "2202G",
                        "TABLESAMPLE REPEATABLE parameter cannot be null",
                    ));
                }
                _ => {
                    self.expr()?;
                    return Err(Error::unsupported(
                        "REPEATABLE takes a number that is written",
                    ));
                }
            }
            self.keep_mark(")")?;
        }
        if self.is("as") {
            return Err(near("syntax error", "AS", self.span().start));
        }
        Ok(())
    }
}
