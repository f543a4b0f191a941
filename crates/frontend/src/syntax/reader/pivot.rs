//! PIVOT, UNPIVOT and SUMMARIZE, by DuckDB's statements and by the standard's clauses of FROM.
//!
//! Each becomes a call in FROM, whose first argument is a query of what is pivoted:
//!
//! ```text
//! PIVOT t ON a IN (1, 2) USING sum(c) GROUP BY b
//! FROM t PIVOT (sum(c) FOR a IN (1, 2) GROUP BY b)
//!     pivot((SELECT * FROM t), on(a, 1, 2), using(sum(c)), by(b))
//! UNPIVOT t ON a, b INTO NAME n VALUE v
//! FROM t UNPIVOT (v FOR n IN (a, b))
//!     unpivot((SELECT * FROM t), into(n, v), a, b)
//! ```

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::super::lexeme::Kind;
use super::super::marks::{
    NAMED, PIVOT, PIVOT_BY, PIVOT_ON, PIVOT_USING, QUERY, SUMMARIZE, UNPIVOT, UNPIVOT_INTO,
    UNPIVOT_NULLS,
};
use super::Reader;
use crate::error::{Error, Result};

impl Reader<'_> {
    /// Whether a statement of this kind begins at a place.
    pub(super) fn begins_form(&self, at: usize) -> bool {
        let kind = |at: usize| self.lexemes.get(at).map(|lexeme| &lexeme.kind);
        let word = |at: usize| match kind(at) {
            Some(Kind::Word(word)) => Some(word.as_str()),
            _ => None,
        };
        let first = word(at);
        let summarizes = first == Some("summarize");
        if !summarizes && !is_pivot(first) && !is_unpivot(first) {
            return false;
        }
        match kind(at + 1) {
            Some(Kind::Quoted(_) | Kind::Text(_)) => true,
            Some(Kind::Word(next)) => match next.as_str() {
                "select" | "from" | "with" | "values" | "table" => summarizes,
                next => {
                    use super::super::words::{Class, class};
                    matches!(class(next), Class::Free | Class::Column)
                        || matches!(word(at + 1), Some("lateral"))
                }
            },
            Some(Kind::Mark("(")) => {
                let behind = self
                    .closing
                    .get(at + 1)
                    .map_or(usize::MAX, |end| end.saturating_add(1));
                summarizes && matches!(kind(behind), Some(Kind::End | Kind::Mark(";" | ")")))
                    || matches!(word(behind), Some("on" | "using" | "as" | "group"))
                    || matches!(
                        word(behind + usize::from(behind < usize::MAX)),
                        Some("on" | "using")
                    )
            }
            _ => false,
        }
    }

    /// A statement of this kind as a SELECT.
    pub(super) fn form(&mut self) -> Result<()> {
        self.put_word("SELECT");
        self.put(Token::Mul);
        self.put_word("FROM");
        let word = self.word(0);
        let (pivots, unpivots) = (is_pivot(word), is_unpivot(word));
        let call = self.out.len();
        self.put_call(match () {
            () if pivots => PIVOT,
            () if unpivots => UNPIVOT,
            () => SUMMARIZE,
        });
        self.skip();
        self.put(Token::LParen);
        match !pivots && !unpivots && self.begins_query() {
            // The grammar has only SELECT in the place of a value.
            true if !matches!(self.word(0), Some("select" | "with")) => {
                self.put_word("SELECT");
                self.put(Token::Mul);
                self.put_word("FROM");
                self.put(Token::LParen);
                self.query()?;
                self.put(Token::RParen);
                self.put_word("AS");
                self.put_mark(QUERY.to_owned());
            }
            true => self.query()?,
            false => {
                self.put_word("SELECT");
                self.put(Token::Mul);
                self.put_word("FROM");
                self.joins()?;
            }
        }
        self.put(Token::RParen);
        match () {
            () if pivots => self.pivot_parts()?,
            () if unpivots => self.unpivot_parts(call)?,
            () => {}
        }
        self.put(Token::RParen);
        Ok(())
    }

    /// ON, USING and GROUP BY.
    fn pivot_parts(&mut self) -> Result<()> {
        if !matches!(self.word(0), Some("on" | "using" | "group")) {
            return Err(self.fail());
        }
        if self.is("on") {
            self.skip();
            loop {
                self.pivot_on()?;
                if !self.is_mark(",") {
                    break;
                }
                self.skip();
            }
        }
        if self.is("using") {
            self.skip();
            self.part(PIVOT_USING, Self::named_expr)?;
        }
        self.pivot_groups()
    }

    fn pivot_groups(&mut self) -> Result<()> {
        if !self.is("group") {
            return Ok(());
        }
        self.skip();
        self.skip_word("by")?;
        self.part(PIVOT_BY, Self::expr)
    }

    /// A list as a call behind a comma.
    fn part(&mut self, mark: &str, item: fn(&mut Self) -> Result<()>) -> Result<()> {
        self.put(Token::Comma);
        self.put_call(mark);
        self.list(item)?;
        self.put(Token::RParen);
        Ok(())
    }

    /// An expression and the values that it may have.
    fn pivot_on(&mut self) -> Result<()> {
        self.put(Token::Comma);
        self.put_call(PIVOT_ON);
        self.expr_before_in()?;
        if self.is("in") {
            self.skip();
            if !self.is_mark("(") {
                return Err(self.unsupported("IN of PIVOT takes a list of values in brackets"));
            }
            if self.holds_query(self.at) || matches!(self.word(1), Some("select" | "any")) {
                return Err(self.unsupported(
                    "a sub-query in IN of PIVOT is not supported: without IN all values are found",
                ));
            }
            self.skip();
            loop {
                self.put(Token::Comma);
                self.named_expr()?;
                if !self.is_mark(",") {
                    break;
                }
                self.skip();
            }
            self.skip_mark(")")?;
        }
        self.put(Token::RParen);
        Ok(())
    }

    fn unsupported(&self, message: &str) -> Error {
        Error::unsupported(message).at(super::position(self.span().start))
    }

    /// ON and INTO of a call that begins at a place.
    fn unpivot_parts(&mut self, call: usize) -> Result<()> {
        self.skip_word("on")?;
        let place = self.out.len();
        self.unpivot_items()?;
        let items = self.out.split_off(place);
        self.put(Token::Comma);
        self.put_call(UNPIVOT_INTO);
        match self.is("into") {
            true => {
                self.skip();
                self.skip_word("name")?;
                self.one_name()?;
                self.skip_word("value")?;
                self.put(Token::Comma);
                self.list(Self::one_name)?;
            }
            false => self.put_names(&["name", "value"]),
        }
        self.put(Token::RParen);
        self.out.extend(items);
        if let Some(nulls) = self.nulls()? {
            self.rename_call(call, nulls);
        }
        Ok(())
    }

    fn put_names(&mut self, names: &[&str]) {
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                self.put(Token::Comma);
            }
            self.put(Token::make_word(name, Some('"')));
        }
    }

    fn one_name(&mut self) -> Result<()> {
        match self.is_name(0) {
            true => {
                self.keep_name();
                Ok(())
            }
            false => Err(self.fail()),
        }
    }

    /// INCLUDE NULLS or EXCLUDE NULLS.
    fn nulls(&mut self) -> Result<Option<bool>> {
        let included = match self.word(0) {
            Some("include") => true,
            Some("exclude") => false,
            _ => return Ok(None),
        };
        self.skip();
        self.skip_word("nulls")?;
        Ok(Some(included))
    }

    fn rename_call(&mut self, call: usize, nulls: bool) {
        if let (Some(token), true) = (self.out.get_mut(call), nulls) {
            token.token = super::mark_token(UNPIVOT_NULLS.to_owned());
        }
    }

    /// The columns to unpivot, each behind a comma.
    fn unpivot_items(&mut self) -> Result<()> {
        loop {
            self.put(Token::Comma);
            self.each(|reader| {
                reader.labelled(NAMED, false, |reader| {
                    let star = reader.operator(0) == Some("*");
                    match star && reader.word(1) != Some("columns") {
                        true => reader.star_with_options(1),
                        false => reader.expr(),
                    }
                })
            })?;
            if !self.is_mark(",") {
                return Ok(());
            }
            self.skip();
        }
    }

    /// PIVOT or UNPIVOT in brackets behind the relation whose tokens begin at a place, if it
    /// is there.
    pub(super) fn pivot_clause(&mut self, place: usize) -> Result<()> {
        while self.begins_pivot_clause() {
            let unpivots = self.is("unpivot");
            let source = vec![
                super::mark_token(if unpivots { UNPIVOT } else { PIVOT }.to_owned()),
                Token::LParen,
                Token::LParen,
                Token::make_keyword("SELECT"),
                Token::Mul,
                Token::make_keyword("FROM"),
            ];
            self.insert(place, source);
            self.put(Token::RParen);
            self.skip();
            match unpivots {
                true => self.unpivot_brackets(place)?,
                false => self.pivot_brackets()?,
            }
            self.put(Token::RParen);
            self.alias()?;
        }
        Ok(())
    }

    /// Whether a word begins such a clause rather than being an alias.
    pub(super) fn begins_pivot_clause(&self) -> bool {
        match self.word(0) {
            Some("pivot") => self.mark(1) == Some("("),
            Some("unpivot") => {
                self.mark(1) == Some("(")
                    || matches!(self.word(1), Some("include" | "exclude"))
                        && self.word(2) == Some("nulls")
            }
            _ => false,
        }
    }

    fn pivot_brackets(&mut self) -> Result<()> {
        self.skip_mark("(")?;
        self.part(PIVOT_USING, Self::named_expr)?;
        self.skip_word("for")?;
        loop {
            self.pivot_on()?;
            if self.is_mark(")") || self.is("group") {
                break;
            }
        }
        self.pivot_groups()?;
        self.skip_mark(")")
    }

    fn unpivot_brackets(&mut self, call: usize) -> Result<()> {
        if let Some(nulls) = self.nulls()? {
            self.rename_call(call, nulls);
        }
        self.skip_mark("(")?;
        let place = self.out.len();
        match self.is_mark("(") {
            true => {
                self.skip();
                self.list(Self::one_name)?;
                self.skip_mark(")")?;
            }
            false => self.one_name()?,
        }
        let values: Vec<TokenWithSpan> = self.out.split_off(place);
        self.skip_word("for")?;
        self.put(Token::Comma);
        self.put_call(UNPIVOT_INTO);
        self.one_name()?;
        self.put(Token::Comma);
        self.out.extend(values);
        self.put(Token::RParen);
        self.skip_word("in")?;
        self.skip_mark("(")?;
        self.unpivot_items()?;
        self.skip_mark(")")?;
        self.skip_mark(")")
    }
}

fn is_pivot(word: Option<&str>) -> bool {
    matches!(word, Some("pivot" | "pivot_wider"))
}

fn is_unpivot(word: Option<&str>) -> bool {
    matches!(word, Some("unpivot" | "pivot_longer"))
}
