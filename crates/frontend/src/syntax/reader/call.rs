//! Calls, and the functions with a syntax of their own.

use sqlparser::tokenizer::Token;

use super::super::lexeme::Kind;
use super::super::marks::{LAMBDA, VARIADIC, WITH_LAMBDAS};
use super::super::words::is_key_word;
use super::Reader;
use crate::error::{Error, Result};

impl Reader<'_> {
    /// The arguments of a call and the clauses behind them; its name is written.
    pub(super) fn call(&mut self) -> Result<()> {
        let takes_lambdas = match self.at.checked_sub(1).map(|at| &self.lexemes[at].kind) {
            Some(Kind::Word(name)) => WITH_LAMBDAS.contains(&name.as_str()),
            _ => false,
        };
        self.keep_mark("(")?;
        if takes_lambdas && !self.is_mark(")") {
            self.list(Self::lambda)?;
            self.keep_mark(")")?;
            return self.behind_call();
        }
        if !self.is_mark(")") {
            if self.operator(0) == Some("*") && self.word(1) != Some("columns") {
                self.keep();
            } else {
                match self.word(0) {
                    Some("distinct") => self.keep(),
                    Some("all") => self.skip(),
                    _ => {}
                }
                self.arguments()?;
            }
            self.null_treatment();
        }
        self.keep_mark(")")?;
        self.behind_call()
    }

    /// Arguments, with the order of an aggregate.
    fn arguments(&mut self) -> Result<()> {
        self.list(Self::argument)?;
        if self.is("order") && self.word(1) == Some("by") {
            self.order_by()?;
        }
        Ok(())
    }

    /// An argument that may be a lambda, `x -> x + 1` or `lambda x: x + 1`, which becomes a call.
    pub(super) fn lambda(&mut self) -> Result<()> {
        if let Some(length) = self.lambda_head() {
            self.put_call(LAMBDA);
            for at in 0..length {
                match at > 0 && self.is_name(0) {
                    true => {
                        self.keep_name();
                        self.put(Token::Comma);
                    }
                    false => self.skip(),
                }
            }
            self.expr()?;
            self.put(Token::RParen);
            return Ok(());
        }
        let mut ahead = 1;
        let several = self.is_mark("(");
        if several {
            while self.is_name(ahead) && self.mark(ahead + 1) == Some(",") {
                ahead += 2;
            }
            if !self.is_name(ahead) || self.mark(ahead + 1) != Some(")") {
                return self.argument();
            }
            ahead += 2;
        } else if !self.is_name(0) {
            return self.argument();
        }
        if self.operator(ahead) != Some("->") {
            return self.argument();
        }
        self.put_call(LAMBDA);
        for _ in 0..ahead {
            if self.is_name(0) {
                self.keep_name();
                self.put(Token::Comma);
            } else {
                self.skip();
            }
        }
        self.skip();
        self.expr()?;
        self.put(Token::RParen);
        Ok(())
    }

    pub(super) fn argument(&mut self) -> Result<()> {
        if self.is("variadic") {
            self.skip();
            self.put_call(VARIADIC);
            self.expr()?;
            self.put(Token::RParen);
            return match self.is_mark(")") || self.is("order") {
                true => Ok(()),
                false => Err(self.fail()),
            };
        }
        if self.is_label(0) && matches!(self.mark(1), Some(":=" | "=>")) {
            self.keep_name();
            self.skip();
            self.put(Token::RArrow);
        }
        self.expr()
    }

    fn null_treatment(&mut self) {
        if matches!(self.word(0), Some("ignore" | "respect")) && self.word(1) == Some("nulls") {
            self.keep();
            self.keep();
        }
    }

    /// WITHIN GROUP, FILTER and OVER behind a call.
    fn behind_call(&mut self) -> Result<()> {
        if self.is("within") && self.word(1) == Some("group") {
            self.keep();
            self.keep();
            self.keep_mark("(")?;
            self.order_by()?;
            self.keep_mark(")")?;
        }
        if self.is("filter") && self.mark(1) == Some("(") {
            self.keep();
            self.keep();
            self.keep_word("where")?;
            self.expr()?;
            self.keep_mark(")")?;
        }
        self.null_treatment();
        if self.is("over") {
            self.keep();
            match self.is_mark("(") {
                true => self.window()?,
                false if self.is_name(0) => self.keep_name(),
                false => return Err(self.fail()),
            }
        }
        if self.is_mark(".") {
            return self.indirection();
        }
        Ok(())
    }

    /// A window in brackets.
    pub(super) fn window(&mut self) -> Result<()> {
        self.keep_mark("(")?;
        let clause = matches!(
            self.word(0),
            Some("partition" | "order" | "range" | "rows" | "groups")
        );
        if !clause && self.is_name(0) {
            self.keep_name();
        }
        if self.is("partition") {
            self.keep();
            self.keep_word("by")?;
            self.list(Self::expr)?;
        }
        let ordered = self.is("order");
        if ordered {
            self.order_by()?;
        }
        let place = self.out.len();
        if matches!(self.word(0), Some("rows" | "range" | "groups")) {
            self.keep();
            match self.takes("between") {
                true => {
                    self.bound()?;
                    self.keep_word("and")?;
                    self.bound()?;
                }
                false => self.bound()?,
            }
            if self.is("exclude") {
                self.exclusion(place, ordered)?;
            }
        }
        self.keep_mark(")")
    }

    fn bound(&mut self) -> Result<()> {
        match (self.word(0), self.word(1)) {
            (Some("unbounded"), Some("preceding" | "following")) => {
                self.keep();
                self.keep();
                return Ok(());
            }
            (Some("current"), Some("row")) => {
                self.keep();
                self.keep();
                return Ok(());
            }
            _ => {}
        }
        // The grammar takes a text at the beginning for the whole bound.
        let text = matches!(self.kind(), super::Kind::Text(_));
        if text {
            self.put(Token::LParen);
        }
        self.expr()?;
        if text {
            self.put(Token::RParen);
        }
        match self.word(0) {
            Some("preceding" | "following") => {
                self.keep();
                Ok(())
            }
            _ => Err(self.fail()),
        }
    }

    /// EXCLUDE becomes a key of the order before the frame.
    fn exclusion(&mut self, place: usize, ordered: bool) -> Result<()> {
        self.skip();
        let words: &[&str] = match self.word(0) {
            Some("current") => &["current", "row"],
            Some("no") => &["no", "others"],
            Some("group") => &["group"],
            Some("ties") => &["ties"],
            _ => return Err(self.fail()),
        };
        for word in words {
            self.skip_word(word)?;
        }
        let key = Token::Word(sqlparser::tokenizer::Word {
            value: format!("{}{}", super::super::marks::EXCLUDE, words.join(" ")),
            quote_style: Some(super::QUOTE),
            keyword: super::Keyword::NoKeyword,
        });
        let tokens = match ordered {
            true => vec![Token::Comma, key],
            false => vec![Token::make_keyword("ORDER"), Token::make_keyword("BY"), key],
        };
        self.insert(place, tokens);
        Ok(())
    }

    /// A function that has a syntax of its own; false if the word begins none.
    pub(super) fn special(&mut self, word: &str) -> Result<bool> {
        let called = self.mark(1) == Some("(");
        match word {
            "cast" | "try_cast" if called => {
                self.keep();
                self.keep();
                self.expr()?;
                self.keep_word("as")?;
                self.type_name()?;
                self.keep_mark(")")?;
            }
            "current_date" | "current_user" | "session_user" | "user" | "current_role"
            | "current_catalog" => self.keep(),
            "current_time" | "current_timestamp" | "localtime" | "localtimestamp" => {
                self.keep();
                if self.is_mark("(") {
                    self.keep();
                    match self.kind() {
                        Kind::Number(_) => self.keep(),
                        _ => return Err(self.fail()),
                    }
                    self.keep_mark(")")?;
                }
            }
            "current_schema" if !called => self.keep(),
            "extract" if called => {
                self.put_word("EXTRACT");
                self.skip();
                self.keep();
                match self.kind() {
                    Kind::Text(_) => self.keep(),
                    Kind::Quoted(name) => {
                        self.put(Token::SingleQuotedString(name.clone()));
                        self.skip();
                    }
                    Kind::Word(name)
                        if is_key_word(name)
                            && !matches!(
                                name.as_str(),
                                "year" | "month" | "day" | "hour" | "minute" | "second"
                            ) =>
                    {
                        return Err(self.fail());
                    }
                    Kind::Word(name) if self.word(1) == Some("from") => {
                        self.put(Token::SingleQuotedString(name.clone()));
                        self.skip();
                    }
                    Kind::Word(_) => {
                        self.skip();
                        return Err(self.fail());
                    }
                    _ => return Err(self.fail()),
                }
                self.keep_word("from")?;
                self.expr()?;
                self.keep_mark(")")?;
            }
            "normalize" if called => {
                self.named_call("normalize");
                self.expr()?;
                if self.is_mark(",") {
                    self.keep();
                    match self.word(0) {
                        Some(form @ ("nfc" | "nfd" | "nfkc" | "nfkd")) => {
                            self.put(Token::SingleQuotedString(form.to_uppercase()));
                            self.skip();
                        }
                        _ => return Err(self.fail()),
                    }
                }
                self.keep_mark(")")?;
            }
            "overlay" if called => {
                let place = self.out.len();
                self.named_call("overlay");
                if self.is_mark(")") {
                    self.keep();
                    return Ok(true);
                }
                self.list(Self::argument)?;
                if self.is("placing") {
                    self.of_system(place);
                    self.comma_for("placing")?;
                    self.expr()?;
                    self.comma_for("from")?;
                    self.expr()?;
                    if self.is("for") {
                        self.comma_for("for")?;
                        self.expr()?;
                    }
                }
                self.keep_mark(")")?;
            }
            "position" if called => self.position()?,
            "substring" if called => self.substring()?,
            "trim" if called => self.trim()?,
            "treat" if called => return Err(Error::unsupported("TREAT is not supported")),
            "nullif" | "coalesce" | "greatest" | "least" | "grouping" if called => {
                self.named_call(word);
                let mut count = 0;
                self.list(|reader| {
                    count += 1;
                    reader.expr()?;
                    match (word, count, reader.mark(0)) {
                        ("nullif", 1, Some(",")) | ("nullif", 2, Some(")")) => Ok(()),
                        ("nullif", ..) => Err(reader.fail()),
                        _ => Ok(()),
                    }
                })?;
                self.keep_mark(")")?;
            }
            "collation" if self.word(1) == Some("for") => {
                self.put(Token::make_word("pg_collation_for", None));
                self.skip();
                self.skip();
                self.keep_mark("(")?;
                self.expr()?;
                self.keep_mark(")")?;
            }
            "xmlelement" | "xmlparse" | "xmlforest" | "xmlconcat" | "xmlpi" | "xmlroot"
            | "xmlserialize" | "xmlexists" | "xmltable"
                if called =>
            {
                return Err(Error::unsupported("XML is not supported"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes the name of a function and goes behind its bracket.
    fn named_call(&mut self, name: &str) {
        self.put(Token::make_word(name, Some('"')));
        self.skip();
        self.keep();
    }

    /// Writes the schema of a call whose arguments have words between them: it is one of the
    /// language's functions.
    fn of_system(&mut self, place: usize) {
        self.insert(
            place,
            vec![Token::make_word("pg_catalog", None), Token::Period],
        );
    }

    /// A comma in the place of a word.
    fn comma_for(&mut self, word: &str) -> Result<()> {
        match self.is(word) {
            true => {
                self.put(Token::Comma);
                self.skip();
                Ok(())
            }
            false => Err(self.fail()),
        }
    }

    /// The tokens that a part writes, taken out again.
    fn aside(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Vec<super::TokenWithSpan>> {
        let place = self.out.len();
        part(self)?;
        Ok(self.out.split_off(place))
    }

    /// `position(a IN b)` is `position(b, a)`.
    fn position(&mut self) -> Result<()> {
        self.named_call("position");
        let part = self.aside(|reader| reader.expr_before_in())?;
        self.skip_word("in")?;
        self.expr_before_in()?;
        self.put(Token::Comma);
        self.out.extend(part);
        self.keep_mark(")")
    }

    fn substring(&mut self) -> Result<()> {
        let place = self.out.len();
        self.named_call("substring");
        if self.is_mark(")") {
            self.keep();
            return Ok(());
        }
        self.list(Self::argument)?;
        if matches!(self.word(0), Some("from" | "for" | "similar")) {
            self.of_system(place);
        }
        match self.word(0) {
            Some("from") => {
                self.comma_for("from")?;
                self.expr()?;
                if self.is("for") {
                    self.comma_for("for")?;
                    self.expr()?;
                }
            }
            Some("for") => {
                self.skip();
                let length = self.aside(Self::expr)?;
                self.put(Token::Comma);
                match self.is("from") {
                    true => {
                        self.skip();
                        self.expr()?;
                    }
                    false => self.put(Token::Number("1".to_owned(), false)),
                }
                self.put(Token::Comma);
                self.out.extend(length);
            }
            Some("similar") => {
                self.comma_for("similar")?;
                self.expr()?;
                self.comma_for("escape")?;
                self.expr()?;
            }
            _ => {}
        }
        self.keep_mark(")")
    }

    fn trim(&mut self) -> Result<()> {
        let name = match self.word(2) {
            Some("leading") => "ltrim",
            Some("trailing") => "rtrim",
            _ => "btrim",
        };
        self.named_call(name);
        if matches!(self.word(0), Some("leading" | "trailing" | "both")) {
            self.skip();
        }
        if self.is("from") {
            self.skip();
            self.list(Self::expr)?;
            return self.keep_mark(")");
        }
        let characters = self.aside(Self::expr)?;
        match self.is("from") {
            true => {
                self.skip();
                self.list(Self::expr)?;
                self.put(Token::Comma);
                self.out.extend(characters);
            }
            false => {
                self.out.extend(characters);
                if self.is_mark(",") {
                    self.keep();
                    self.list(Self::expr)?;
                }
            }
        }
        self.keep_mark(")")
    }

    /// A word of the class of types and special functions before a bracket.
    pub(super) fn column_word_call(&mut self) -> Result<()> {
        let word = self.word(0).unwrap_or("").to_owned();
        match word.as_str() {
            // What DuckDB and others call as functions.
            "char" | "row" | "values" | "setof" | "out" | "inout" | "none" | "int" | "integer"
            | "bigint" | "smallint" | "real" | "boolean" | "national" | "nchar" | "bit"
            | "varchar" | "character" | "dec" | "decimal" | "numeric" | "float" | "time"
            | "timestamp" | "interval" | "between" | "precision" => {
                // They are types with digits, and a text must follow.
                let place = self.out.len();
                self.type_name()?;
                self.out.truncate(place);
                Err(self.fail())
            }
            _ => {
                self.keep_name();
                self.call()
            }
        }
    }
}
