//! Expressions, by PostgreSQL's precedence.

use sqlparser::tokenizer::Token;

use super::super::lexeme::Kind;
use super::super::lexeme::position;
use super::super::marks::{ALL, ANY, PREFIX, QUERY, SYMMETRIC, WHOLE_ROW};
use super::super::words::{Class, class, is_bare_label};
use super::Reader;
use crate::error::{Error, Result};

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARE: u8 = 5;
const LIKE: u8 = 6;
const OTHER: u8 = 8;
const ADD: u8 = 9;
const MULTIPLY: u8 = 10;
const POWER: u8 = 11;
const ZONE: u8 = 12;
const COLLATE: u8 = 13;
const SIGN: u8 = 14;
const CAST: u8 = 17;

/// Operators behind which the grammar has ANY and ALL.
const COMPARED: &[&str] = &[
    "=", "<>", "<", ">", "<=", ">=", "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*",
];

/// Words that may follow an expression and go on with it.
pub(super) const INFIX: &[&str] = &[
    "or", "and", "is", "isnull", "notnull", "in", "like", "ilike", "similar", "between", "not",
    "at", "collate", "operator", "overlaps",
];

impl Reader<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Result<()> {
        self.expr_of(0, false)
    }

    /// An expression before a word such as IN, which ends it.
    pub(super) fn expr_before_in(&mut self) -> Result<()> {
        self.expr_of(0, true)
    }

    /// An expression of operators that bind at least as close as a precedence; `plain` ones have
    /// no AND, OR, NOT, IN, LIKE, BETWEEN and tests of NULL in them.
    fn expr_of(&mut self, least: u8, plain: bool) -> Result<()> {
        self.enter()?;
        let done = self.expr_inner(least, plain);
        self.leave();
        done
    }

    fn expr_inner(&mut self, least: u8, plain: bool) -> Result<()> {
        self.prefixed(plain)?;
        // The precedence of the last operator of those that form no chains.
        let mut last = None;
        loop {
            let Some(precedence) = self.infix(plain) else {
                return Ok(());
            };
            if precedence < least {
                return Ok(());
            }
            if last == Some(precedence) {
                return Err(self.fail());
            }
            let open = self.behind(precedence, plain)?;
            last = open.then_some(precedence);
        }
    }

    /// An operand with the operators before it.
    fn prefixed(&mut self, plain: bool) -> Result<()> {
        if self.is("not") && !plain {
            self.keep();
            return self.expr_of(NOT, false);
        }
        if self.is("operator") && self.mark(1) == Some("(") {
            return self.prefix_operator(plain);
        }
        match self.operator(0) {
            Some("?") => {
                self.placeholder();
                self.indirection()
            }
            Some("+" | "-") => {
                self.keep();
                self.expr_of(SIGN, plain)
            }
            Some("*") if self.word(1) == Some("columns") && self.mark(2) == Some("(") => {
                self.spread()
            }
            Some("*") | None => self.operand(),
            Some(_) => self.prefix_operator(plain),
        }
    }

    /// A prefix operator becomes a call.
    fn prefix_operator(&mut self, plain: bool) -> Result<()> {
        let mark = self.out.len();
        let symbol = self.operator_name()?;
        self.out.truncate(mark);
        // The operand is in brackets, as the grammar takes less for it.
        match symbol.as_str() {
            "~" => {
                self.put(Token::Tilde);
                self.put(Token::LParen);
            }
            "@" => {
                self.put(Token::AtSign);
                self.put(Token::LParen);
            }
            "|/" => {
                self.put(Token::PGSquareRoot);
                self.put(Token::LParen);
            }
            "||/" => {
                self.put(Token::PGCubeRoot);
                self.put(Token::LParen);
            }
            _ => self.put_call(&format!("{PREFIX}{symbol}")),
        }
        self.expr_of(OTHER, plain)?;
        self.put(Token::RParen);
        Ok(())
    }

    /// An operator, or one in `OPERATOR (schema.op)`.
    pub(super) fn operator_name(&mut self) -> Result<String> {
        let place = position(self.span().start);
        let bracketed = self.is("operator");
        if bracketed {
            self.keep();
            self.keep_mark("(")?;
            while self.is_name(0) {
                if let Kind::Word(schema) | Kind::Quoted(schema) = self.kind()
                    && !matches!(schema.as_str(), "pg_catalog" | "public" | "main")
                {
                    let message = format!("schema \"{schema}\" does not exist");
                    return Err(Error::new("3F000", message).at(place));
                }
                self.keep_name();
                self.keep_mark(".")?;
            }
        }
        let symbol = self.operator(0).ok_or_else(|| self.fail())?.to_owned();
        self.keep();
        if bracketed {
            self.keep_mark(")")?;
        }
        Ok(symbol)
    }

    /// The precedence of the operator here, if there is one.
    fn infix(&self, plain: bool) -> Option<u8> {
        let full = |precedence: u8| (!plain).then_some(precedence);
        match self.kind() {
            // `SELECT 1 and` has a label.
            Kind::Word(word)
                if self.item == Some(self.levels[self.at])
                    && is_bare_label(word)
                    && self.ends_item(1) =>
            {
                None
            }
            Kind::Word(word) => match word.as_str() {
                "or" => full(OR),
                "and" => full(AND),
                "is" if plain => match (self.word(1), self.word(2)) {
                    (Some("distinct"), _) | (Some("not"), Some("distinct")) => Some(IS),
                    _ => None,
                },
                "is" | "isnull" | "notnull" => Some(IS),
                "similar" if self.word(1) != Some("to") => None,
                "in" | "like" | "ilike" | "similar" | "between" => full(LIKE),
                "not" => match self.word(1) {
                    Some("in" | "like" | "ilike" | "similar" | "between") => full(LIKE),
                    _ => None,
                },
                "at" if self.word(1) == Some("time") => full(ZONE),
                "collate" => full(COLLATE),
                "operator" if self.mark(1) == Some("(") => Some(OTHER),
                "overlaps" => full(OTHER),
                _ => None,
            },
            Kind::Operator(operator) => Some(match operator.as_str() {
                "=" | "==" | "<" | ">" | "<=" | ">=" | "<>" => COMPARE,
                "+" | "-" => ADD,
                "*" | "/" | "%" | "//" => MULTIPLY,
                "^" | "**" => POWER,
                _ => OTHER,
            }),
            Kind::Mark("::") => Some(CAST),
            Kind::Mark("[") => Some(CAST),
            _ => None,
        }
    }

    /// An operator and what is behind it; whether another of its precedence must not follow.
    fn behind(&mut self, precedence: u8, plain: bool) -> Result<bool> {
        match self.kind() {
            Kind::Mark("::") => {
                self.keep();
                self.type_name()?;
                Ok(false)
            }
            Kind::Mark("[") => {
                self.subscript()?;
                Ok(false)
            }
            Kind::Operator(_) => self.binary(precedence, plain),
            Kind::Word(word) => self.worded(word.as_str(), precedence, plain),
            _ => Err(self.fail()),
        }
    }

    fn binary(&mut self, precedence: u8, plain: bool) -> Result<bool> {
        let place = self.out.len();
        let symbol = self.operator_name()?;
        let native = self.out.len() == place + 1 && COMPARED.contains(&symbol.as_str());
        if self.quantified(native)? {
            return Ok(false);
        }
        self.expr_of(precedence + 1, plain)?;
        Ok(precedence == COMPARE)
    }

    /// `ANY (x)` behind an operator; the grammar has it behind some.
    fn quantified(&mut self, native: bool) -> Result<bool> {
        let mark = match self.word(0) {
            Some("any" | "some") => ANY,
            Some("all") => ALL,
            _ => return Ok(false),
        };
        if self.mark(1) != Some("(") {
            return Err(self.fail_at(self.at + 1));
        }
        if native {
            self.put_word(if mark == ANY { "ANY" } else { "ALL" });
            self.skip();
            if self.holds_query(self.at) {
                self.subquery()?;
            } else {
                self.keep();
                self.expr()?;
                self.keep_mark(")")?;
            }
            return Ok(true);
        }
        self.skip();
        self.put_call(mark);
        if self.holds_query(self.at) {
            self.subquery()?;
        } else {
            self.skip();
            self.expr()?;
            self.skip_mark(")")?;
        }
        self.put(Token::RParen);
        Ok(true)
    }

    fn worded(&mut self, word: &str, precedence: u8, plain: bool) -> Result<bool> {
        match word {
            "or" | "and" => {
                self.keep();
                self.expr_of(precedence + 1, false)?;
                Ok(false)
            }
            "isnull" | "notnull" => {
                let words: &[&str] = match word {
                    "isnull" => &["IS", "NULL"],
                    _ => &["IS", "NOT", "NULL"],
                };
                self.put_words(words);
                self.skip();
                Ok(false)
            }
            "is" => self.test(plain),
            "at" => {
                self.keep();
                self.keep();
                self.keep_word("zone")?;
                self.expr_of(ZONE + 1, false)?;
                Ok(false)
            }
            "collate" => {
                self.keep();
                self.any_name()?;
                Ok(false)
            }
            "operator" => self.binary(precedence, plain),
            "overlaps" => {
                let is_row = |token: Option<&sqlparser::tokenizer::TokenWithSpan>| {
                    token.is_some_and(|token| token.token == Token::RParen)
                };
                if !is_row(self.out.last()) {
                    return Err(self.fail());
                }
                self.keep();
                if !self.is_mark("(") && !self.are(&["row"]) {
                    return Err(self.fail());
                }
                self.operand()?;
                Ok(true)
            }
            _ => self.pattern(),
        }
    }

    /// IS and what is tested.
    fn test(&mut self, plain: bool) -> Result<bool> {
        self.keep();
        self.takes("not");
        match self.word(0) {
            Some("distinct") => {
                self.keep();
                self.keep_word("from")?;
                self.expr_of(IS + 1, plain)?;
                Ok(true)
            }
            Some("null" | "true" | "false" | "unknown" | "normalized") => {
                self.keep();
                Ok(false)
            }
            Some("nfc" | "nfd" | "nfkc" | "nfkd") => {
                self.keep();
                self.keep_word("normalized")?;
                Ok(false)
            }
            Some("document") => Err(Error::unsupported("XML is not supported")),
            _ => Err(self.fail()),
        }
    }

    /// IN, LIKE, SIMILAR TO and BETWEEN, with NOT before them.
    pub(super) fn pattern(&mut self) -> Result<bool> {
        let negated = self.is("not");
        let place = self.out.len();
        self.takes("not");
        match self.word(0) {
            Some("in") => {
                self.keep();
                if !self.is_mark("(") {
                    return Err(self.fail());
                }
                if self.holds_query(self.at) {
                    self.subquery()?;
                    return Ok(false);
                }
                self.keep();
                // The grammar takes a list that begins with a sub-query for one.
                let begins = self.is_mark("(") && self.holds_query(self.at);
                if begins {
                    self.put(Token::make_word("coalesce", Some('"')));
                    self.put(Token::LParen);
                    self.expr()?;
                    self.put(Token::RParen);
                    if self.is_mark(",") {
                        self.keep();
                        self.list(Self::expr)?;
                    }
                } else {
                    self.list(Self::expr)?;
                }
                self.keep_mark(")")?;
                Ok(false)
            }
            Some("between") => {
                self.keep();
                let symmetric = self.is("symmetric");
                if symmetric || self.is("asymmetric") {
                    self.skip();
                }
                if symmetric {
                    self.put_call(SYMMETRIC);
                }
                self.expr_of(0, true)?;
                if symmetric {
                    self.put(Token::RParen);
                }
                self.keep_word("and")?;
                self.expr_of(LIKE + 1, false)?;
                Ok(true)
            }
            Some(word @ ("like" | "ilike")) => {
                let insensitive = word == "ilike";
                self.keep();
                if matches!(self.word(0), Some("any" | "some" | "all")) {
                    self.out.truncate(place);
                    self.put(match (negated, insensitive) {
                        (false, false) => Token::DoubleTilde,
                        (false, true) => Token::DoubleTildeAsterisk,
                        (true, false) => Token::ExclamationMarkDoubleTilde,
                        (true, true) => Token::ExclamationMarkDoubleTildeAsterisk,
                    });
                    self.quantified(true)?;
                    return Ok(false);
                }
                self.escaped_pattern(Some("like_escape"))?;
                Ok(true)
            }
            Some("similar") => {
                self.keep();
                self.keep_word("to")?;
                self.escaped_pattern(None)?;
                Ok(true)
            }
            _ => Err(self.fail()),
        }
    }

    /// A pattern with its ESCAPE, which becomes a call if it is no text.
    fn escaped_pattern(&mut self, function: Option<&str>) -> Result<()> {
        let place = self.out.len();
        self.expr_of(LIKE + 1, false)?;
        if !self.is("escape") {
            return Ok(());
        }
        if matches!(self.lexeme(1).kind, Kind::Text(_)) && !self.goes_on(2) {
            self.keep();
            self.keep();
            return Ok(());
        }
        let Some(function) = function else {
            self.skip();
            self.expr_of(LIKE + 1, false)?;
            return Err(Error::unsupported(
                "an ESCAPE of SIMILAR TO that is no literal is not supported",
            ));
        };
        self.insert(place, vec![Token::make_word(function, None), Token::LParen]);
        self.skip();
        self.put(Token::Comma);
        self.expr_of(LIKE + 1, false)?;
        self.put(Token::RParen);
        Ok(())
    }

    /// Whether an operator that binds closer than LIKE is at a place.
    fn goes_on(&self, ahead: usize) -> bool {
        match &self.lexeme(ahead).kind {
            Kind::Mark("::" | "[") => true,
            Kind::Operator(operator) => !matches!(
                operator.as_str(),
                "=" | "==" | "<" | ">" | "<=" | ">=" | "<>"
            ),
            Kind::Word(word) => matches!(word.as_str(), "collate" | "operator" | "at"),
            _ => false,
        }
    }

    /// A name with dots.
    pub(super) fn any_name(&mut self) -> Result<()> {
        if !self.is_name(0) && !self.is_function(0) {
            return Err(self.fail());
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

    fn is_function(&self, ahead: usize) -> bool {
        matches!(&self.lexeme(ahead).kind, Kind::Word(word) if class(word) == Class::Function)
    }

    /// An operand without operators.
    fn operand(&mut self) -> Result<()> {
        match self.kind() {
            Kind::Number(_) | Kind::Bits(..) | Kind::Text(_) => {
                let place = self.out.len();
                self.keep();
                match self.mark(0) {
                    Some("[") => Err(self.fail()),
                    Some(".") if self.is_label(1) && self.mark(2) == Some("(") => {
                        self.chained(place)?;
                        self.indirection_from(place)
                    }
                    _ => Ok(()),
                }
            }
            Kind::Parameter(_) => {
                self.keep();
                self.indirection()
            }
            Kind::Mark("(") => {
                let place = self.out.len();
                self.bracketed()?;
                self.indirection_from(place)
            }
            Kind::Mark("[") if self.is_comprehension() => self.comprehension(),
            Kind::Mark("[") => {
                self.put_word("ARRAY");
                self.elements()
            }
            Kind::Mark("{") if self.mark(2) == Some(":") => self.structure(),
            Kind::Quoted(_) => self.named(),
            Kind::Word(word) => self.word_operand(word.as_str()),
            _ => Err(self.fail()),
        }
    }

    /// What begins with a bracket: a sub-query, a row or an expression.
    fn bracketed(&mut self) -> Result<()> {
        if self.holds_query(self.at) {
            return self.subquery();
        }
        self.keep();
        self.list(Self::expr)?;
        self.keep_mark(")")
    }

    /// A sub-query in an expression. The grammar knows those that begin with SELECT or WITH.
    pub(super) fn subquery(&mut self) -> Result<()> {
        self.keep_mark("(")?;
        if matches!(self.word(0), Some("select" | "with")) {
            self.query()?;
            return self.keep_mark(")");
        }
        self.put_word("SELECT");
        self.put(Token::Mul);
        self.put_word("FROM");
        self.put(Token::LParen);
        self.query()?;
        self.put(Token::RParen);
        self.put_word("AS");
        self.put_mark(QUERY.to_owned());
        self.keep_mark(")")
    }

    /// Elements of an array between square brackets.
    fn elements(&mut self) -> Result<()> {
        self.enter()?;
        self.keep_mark("[")?;
        if !self.is_mark("]") {
            self.list(|reader| match reader.is_mark("[") {
                true => reader.elements(),
                false => reader.expr(),
            })?;
        }
        self.leave();
        self.keep_mark("]")
    }

    /// Fields and elements behind an operand.
    pub(super) fn indirection(&mut self) -> Result<()> {
        self.indirection_from(usize::MAX)
    }

    /// The same; calls may stand behind dots if it is known where the operand begins.
    fn indirection_from(&mut self, place: usize) -> Result<()> {
        loop {
            match self.mark(0) {
                Some("[") => self.subscript()?,
                Some(".") => {
                    if self.operator(1) == Some("*") {
                        // `(row).*` as an item of a list.
                        self.keep();
                        self.put_mark(WHOLE_ROW.to_owned());
                        self.skip();
                        return Ok(());
                    }
                    if !self.is_label(1) {
                        self.keep();
                        return Err(self.fail());
                    }
                    if self.mark(2) == Some("(") && place < usize::MAX {
                        self.chained(place)?;
                        continue;
                    }
                    self.keep();
                    self.keep_name();
                    if self.is_mark("(") {
                        return Err(self.fail());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// DuckDB's call behind a dot: `('a').upper()` is `upper(('a'))`.
    fn chained(&mut self, place: usize) -> Result<()> {
        self.skip();
        let name = super::name_token(self.kind());
        self.insert(place, vec![name, Token::LParen]);
        self.skip();
        self.skip();
        if !self.is_mark(")") {
            self.put(Token::Comma);
            self.list(Self::argument)?;
        }
        self.keep_mark(")")
    }

    /// `[1]` or `[1:2]`.
    fn subscript(&mut self) -> Result<()> {
        self.keep_mark("[")?;
        if !self.is_mark(":") {
            self.expr()?;
        }
        if self.is_mark(":") {
            self.keep();
            if !self.is_mark("]") {
                self.expr()?;
            }
        }
        self.keep_mark("]")
    }

    fn word_operand(&mut self, word: &str) -> Result<()> {
        match word {
            "null" | "true" | "false" => {
                self.keep();
                Ok(())
            }
            "case" => self.case(),
            "exists" if self.mark(1) == Some("(") => {
                self.keep();
                match self.holds_query(self.at) {
                    true => self.subquery(),
                    false => {
                        self.skip();
                        Err(self.fail())
                    }
                }
            }
            "array" => {
                self.keep();
                match self.mark(0) {
                    Some("[") => self.elements(),
                    Some("(") if self.holds_query(self.at) => self.subquery(),
                    Some("(") => {
                        self.skip();
                        Err(self.fail())
                    }
                    _ => Err(self.fail()),
                }
            }
            "row" if self.mark(1) == Some("(") => self.row(),
            "columns" if self.mark(1) == Some("(") => self.columns(),
            "interval" if self.counted_interval()? => Ok(()),
            "default" => {
                // It is refused where it is bound.
                let error = Error::new("42601", "DEFAULT is not allowed in this context");
                Err(error.at(super::position(self.span().start)))
            }
            _ => match class(word) {
                Class::Reserved if !self.special(word)? => Err(self.fail()),
                Class::Reserved => Ok(()),
                Class::Function | Class::Column | Class::Free => self.named(),
            },
        }
    }

    fn row(&mut self) -> Result<()> {
        let end = self.closing[self.at + 1];
        if end == self.at + 2 {
            self.keep();
            self.keep();
            self.keep();
            return self.indirection();
        }
        self.put_word("ROW");
        self.skip();
        self.keep();
        self.list(Self::expr)?;
        self.keep_mark(")")?;
        self.indirection()
    }

    fn case(&mut self) -> Result<()> {
        self.keep();
        if !self.is("when") {
            self.expr()?;
        }
        if !self.is("when") {
            return Err(self.fail());
        }
        while self.takes("when") {
            self.expr()?;
            self.keep_word("then")?;
            self.expr()?;
        }
        if self.takes("else") {
            self.expr()?;
        }
        self.keep_word("end")
    }

    /// A name of a column, with what stands behind it: fields, elements, or arguments.
    fn named(&mut self) -> Result<()> {
        let (first, place) = (self.at, self.out.len());
        if let Some(done) = self.special_type()? {
            return Ok(done);
        }
        let word = self.word(0);
        if let Some(word) = word
            && self.special(word)?
        {
            return Ok(());
        }
        let is_column = self.is_name(0);
        // The name, as far as it goes.
        let mut ahead = 1;
        while self.mark(ahead) == Some(".") && self.is_label(ahead + 1) {
            ahead += 2;
        }
        match &self.lexeme(ahead).kind {
            Kind::Text(_) => return self.typed_text(),
            Kind::Mark("(") => {
                let end = self.closing[self.at + ahead];
                if end != usize::MAX
                    && matches!(
                        self.lexemes.get(end + 1).map(|l| &l.kind),
                        Some(Kind::Text(_))
                    )
                {
                    return self.typed_text();
                }
                if ahead == 1 && word.is_some_and(|word| class(word) == Class::Column) {
                    // Types with digits, such as `float(3)`, are no functions.
                    return self.column_word_call();
                }
                for _ in 0..ahead {
                    match self.is_mark(".") {
                        true => self.keep(),
                        false => self.keep_name(),
                    }
                }
                return self.call();
            }
            _ => {}
        }
        if !is_column {
            self.at = first + 1;
            return Err(match ahead {
                1 => self.fail_name(first),
                _ => self.fail_at(first),
            });
        }
        self.out.truncate(place);
        self.keep_name();
        while self.is_mark(".") {
            if self.operator(1) == Some("*") {
                self.keep();
                self.put_mark(WHOLE_ROW.to_owned());
                self.skip();
                return Ok(());
            }
            self.keep();
            match self.is_label(0) {
                true => self.keep_name(),
                false => return Err(self.fail()),
            }
        }
        while self.is_mark("[") {
            self.subscript()?;
        }
        self.indirection()
    }

    /// The error for a word that is the name of a function or a type alone.
    fn fail_name(&self, at: usize) -> Error {
        match self.lexemes.get(at).map(|lexeme| &lexeme.kind) {
            // `is`, `like` and their kind cannot begin an operand; the name of a function could.
            Some(Kind::Word(word)) if class(word) == Class::Function => match word.as_str() {
                "left" | "right" | "binary" | "authorization" | "collation" | "concurrently"
                | "cross" | "freeze" | "full" | "ilike" | "inner" | "is" | "isnull" | "join"
                | "like" | "natural" | "notnull" | "outer" | "overlaps" | "similar"
                | "tablesample" | "verbose" => self.fail_at(at + 1),
                _ => self.fail_at(at),
            },
            _ => self.fail_at(at),
        }
    }
}
