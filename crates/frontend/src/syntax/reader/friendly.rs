//! Forms that people bring from DuckDB: the grammar has none of them, so that they become calls
//! and marks.
//!
//! | written | becomes |
//! |---|---|
//! | `COLUMNS (…)`, `*` with EXCLUDE, REPLACE, RENAME or a pattern | a call of [`COLUMNS_OF`], one argument for each part |
//! | an item, a condition or a key of an order that has one | a call of [`EACH`] around it |
//! | `*COLUMNS (…)` | a call of [`SPREAD`] around it |
//! | `[x + 1 FOR x IN l IF x > 1]` | `list_transform(list_filter(l, x -> x > 1), x -> x + 1)` |
//! | `{'a': 1}` | `struct_pack("a" => 1)` |
//! | `INTERVAL (n) DAY` | `to_days(n)` |
//! | `USING SAMPLE 10%` | a call of [`SAMPLE`] in FROM |

use sqlparser::tokenizer::Token;

use super::super::lexeme::{Kind, position};
use super::super::marks::{
    COLUMNS_OF, EACH, LAMBDA, NAMED, OF, PATTERN, RENAMED, REPLACED, SAMPLE, SPREAD, WITHOUT,
};
use super::Reader;
use crate::error::{Error, Result};

/// Units behind INTERVAL, and the functions that make intervals of them.
const UNITS: [(&[&str], &str); 13] = [
    (&["year", "years"], "to_years"),
    (&["month", "months"], "to_months"),
    (&["day", "days"], "to_days"),
    (&["hour", "hours"], "to_hours"),
    (&["minute", "minutes"], "to_minutes"),
    (&["second", "seconds"], "to_seconds"),
    (&["millisecond", "milliseconds"], "to_milliseconds"),
    (&["microsecond", "microseconds"], "to_microseconds"),
    (&["week", "weeks"], "to_weeks"),
    (&["quarter", "quarters"], "to_quarters"),
    (&["decade", "decades"], "to_decades"),
    (&["century", "centuries"], "to_centuries"),
    (&["millennium", "millennia"], "to_millennia"),
];

impl Reader<'_> {
    /// Reads what may stand for several expressions, and marks it if it does.
    pub(super) fn each(&mut self, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let around = std::mem::take(&mut self.has_columns);
        let place = self.out.len();
        let done = read(self);
        if std::mem::replace(&mut self.has_columns, around) && done.is_ok() {
            let mark = super::mark_token(EACH.to_owned());
            self.insert(place, vec![mark, Token::LParen]);
            self.put(Token::RParen);
        }
        done
    }

    /// `COLUMNS (…)`: a star, `t.*`, a pattern, names in brackets or a lambda.
    pub(super) fn columns(&mut self) -> Result<()> {
        self.put_call(COLUMNS_OF);
        self.skip();
        self.skip();
        if self.operator(0) == Some("*") && self.word(1) != Some("columns") {
            self.skip();
            self.star_options(false)?;
        } else if let Some(length) = self.star() {
            self.star_relation(length);
            self.star_options(true)?;
        } else {
            self.lambda()?;
        }
        self.has_columns = true;
        self.keep_mark(")")
    }

    /// `*` or `t.*` in a list, with options behind it.
    pub(super) fn star_with_options(&mut self, length: usize) -> Result<()> {
        self.put_call(COLUMNS_OF);
        let qualified = length > 1;
        match qualified {
            true => self.star_relation(length),
            false => self.skip(),
        }
        self.star_options(qualified)?;
        self.put(Token::RParen);
        self.has_columns = true;
        Ok(())
    }

    /// Whether options of a star are at a place.
    pub(super) fn has_star_options(&self, ahead: usize) -> bool {
        match self.word(ahead) {
            Some("exclude" | "rename") => {
                self.mark(ahead + 1) == Some("(") || self.is_label(ahead + 1)
            }
            Some("replace") => self.mark(ahead + 1) == Some("("),
            Some("like" | "ilike") => true,
            Some("similar") => self.word(ahead + 1) == Some("to"),
            Some("not") => matches!(self.word(ahead + 1), Some("like" | "ilike" | "similar")),
            _ => false,
        }
    }

    /// `t.` and the star behind it.
    fn star_relation(&mut self, length: usize) {
        self.put_call(OF);
        for at in 0..length {
            match at + 2 < length {
                true if self.is_label(0) => self.keep_name(),
                true => self.keep(),
                false => self.skip(),
            }
        }
        self.put(Token::RParen);
    }

    /// EXCLUDE, REPLACE, RENAME and a pattern behind a star.
    fn star_options(&mut self, follows: bool) -> Result<()> {
        let mut follows = follows;
        loop {
            if !self.has_star_options(0) {
                return Ok(());
            }
            if follows {
                self.put(Token::Comma);
            }
            follows = true;
            match self.word(0) {
                Some("exclude") => {
                    self.put_call(WITHOUT);
                    self.skip();
                    self.listed_or_one(Self::any_name)?;
                    self.put(Token::RParen);
                }
                Some("rename") => {
                    self.skip();
                    self.listed_or_one(|reader| {
                        reader.labelled(RENAMED, true, |reader| reader.any_name())
                    })?;
                }
                Some("replace") => {
                    self.skip();
                    self.listed_or_one(|reader| reader.labelled(REPLACED, true, Self::expr))?;
                }
                _ => {
                    self.put_call(LAMBDA);
                    self.put(Token::make_word("name", Some('"')));
                    self.put(Token::Comma);
                    self.put(Token::make_word("name", Some('"')));
                    self.pattern()?;
                    self.put(Token::RParen);
                }
            }
        }
    }

    /// A list in brackets, or one item without them.
    fn listed_or_one(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if !self.is_mark("(") {
            return item(self);
        }
        self.skip();
        self.list(item)?;
        self.skip_mark(")")
    }

    /// An expression with its label behind it: a call of the mark and the label.
    pub(super) fn labelled(
        &mut self,
        mark: &str,
        needed: bool,
        read: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let place = self.out.len();
        read(self)?;
        let label = match self.is("as") {
            true => {
                self.skip();
                self.taken_label()?
            }
            false if needed => return Err(self.fail()),
            false => return Ok(()),
        };
        let mark = super::mark_token(format!("{mark}{label}"));
        self.insert(place, vec![mark, Token::LParen]);
        self.put(Token::RParen);
        Ok(())
    }

    /// A label, which may be a text.
    fn taken_label(&mut self) -> Result<String> {
        match self.kind() {
            Kind::Word(label) | Kind::Quoted(label) | Kind::Text(label) => {
                self.skip();
                Ok(label.clone())
            }
            _ => Err(self.fail()),
        }
    }

    /// `COLUMNS ('(.*)_old') AS '\1'`: the name is made of that of each column.
    pub(super) fn label_pattern(&mut self) -> bool {
        let Kind::Text(pattern) = self.kind() else {
            return false;
        };
        self.put_mark(format!("{PATTERN}{pattern}"));
        self.skip();
        true
    }

    /// `*COLUMNS (…)`, whose columns are items of the list around it.
    pub(super) fn spread(&mut self) -> Result<()> {
        self.put_call(SPREAD);
        self.skip();
        self.columns()?;
        self.put(Token::RParen);
        Ok(())
    }

    /// Whether a list comprehension begins at the bracket here. FOR stands nowhere else in an
    /// expression without brackets around it.
    pub(super) fn is_comprehension(&self) -> bool {
        let Some(level) = self.levels.get(self.at) else {
            return false;
        };
        let inside = self.lexemes[self.at + 1..]
            .iter()
            .zip(&self.levels[self.at + 1..]);
        for (lexeme, inner) in inside {
            match &lexeme.kind {
                _ if inner < level => return false,
                Kind::Word(word) if inner == level && word == "for" => return true,
                Kind::End | Kind::Mark(";") => return false,
                Kind::Mark(",") if inner == level => return false,
                _ => {}
            }
        }
        false
    }

    /// `[body FOR x, i IN list IF condition]`.
    pub(super) fn comprehension(&mut self) -> Result<()> {
        self.enter()?;
        self.skip();
        let place = self.out.len();
        self.expr()?;
        let body = self.out.split_off(place);
        self.skip_word("for")?;
        let names_at = self.span().start;
        self.list(|reader| match reader.is_name(0) {
            true => {
                reader.keep_name();
                Ok(())
            }
            false => Err(reader.fail()),
        })?;
        let names = self.out.split_off(place);
        self.skip_word("in")?;
        self.expr()?;
        let list = self.out.split_off(place);
        let condition = match self.is("if") {
            true => {
                self.skip();
                self.expr()?;
                Some(self.out.split_off(place))
            }
            false => None,
        };
        if condition.is_some() && names.len() > 1 {
            let message =
                "the place of an element in a list comprehension with IF is not supported";
            return Err(Error::unsupported(message).at(position(names_at)));
        }
        self.put(Token::make_word("list_transform", None));
        self.put(Token::LParen);
        if condition.is_some() {
            self.put(Token::make_word("list_filter", None));
            self.put(Token::LParen);
        }
        self.out.extend(list);
        for part in condition.into_iter().chain([body]) {
            self.put(Token::Comma);
            self.put_call(LAMBDA);
            self.out.extend(names.iter().cloned());
            self.put(Token::Comma);
            self.out.extend(part);
            self.put(Token::RParen);
            self.put(Token::RParen);
        }
        self.leave();
        self.skip_mark("]")?;
        self.indirection()
    }

    /// `{'a': 1, b: 2}`.
    pub(super) fn structure(&mut self) -> Result<()> {
        self.enter()?;
        self.put(Token::make_word("struct_pack", None));
        self.put(Token::LParen);
        self.skip();
        loop {
            let label = self.taken_label()?;
            self.skip_mark(":")?;
            self.put(Token::make_word(&label, Some('"')));
            self.put(Token::RArrow);
            self.expr()?;
            if !self.is_mark(",") {
                break;
            }
            self.keep();
        }
        self.skip_mark("}")?;
        self.put(Token::RParen);
        self.leave();
        self.indirection()
    }

    /// `INTERVAL 3 DAY` and `INTERVAL (n) DAYS`; false for other forms.
    pub(super) fn counted_interval(&mut self) -> Result<bool> {
        let unit = match self.kind_at(1) {
            Some(Kind::Number(_)) => self.at + 2,
            Some(Kind::Mark("(")) => match self.closing.get(self.at + 1) {
                Some(end) if *end != usize::MAX => end + 1,
                _ => return Ok(false),
            },
            _ => return Ok(false),
        };
        let Some(Kind::Word(word)) = self.lexemes.get(unit).map(|lexeme| &lexeme.kind) else {
            return Ok(false);
        };
        let function = UNITS
            .iter()
            .find(|(words, _)| words.contains(&word.as_str()));
        let Some((_, function)) = function else {
            return Ok(false);
        };
        self.skip();
        self.put(Token::make_word(function, None));
        match self.is_mark("(") {
            true => {
                self.keep();
                self.expr()?;
                self.keep_mark(")")?;
            }
            false => {
                self.put(Token::LParen);
                self.keep();
                self.put(Token::RParen);
            }
        }
        self.skip();
        Ok(true)
    }

    /// The names of `lambda x, y:` and the lexemes that they take; `None` for anything else.
    pub(super) fn lambda_head(&self) -> Option<usize> {
        if self.word(0) != Some("lambda") {
            return None;
        }
        let bracketed = self.mark(1) == Some("(");
        let mut ahead = 1 + usize::from(bracketed);
        loop {
            if !self.is_name(ahead) {
                return None;
            }
            ahead += 1;
            match self.mark(ahead) {
                Some(",") => ahead += 1,
                Some(")") if bracketed && self.mark(ahead + 1) == Some(":") => {
                    return Some(ahead + 2);
                }
                Some(":") if !bracketed => return Some(ahead + 1),
                _ => return None,
            }
        }
    }

    /// Whether a sample is written as DuckDB writes it: its size first, in brackets, or of rows.
    pub(super) fn is_friendly_sample(&self, ahead: usize) -> bool {
        matches!(self.kind_at(ahead), Some(Kind::Number(_)))
            || self.mark(ahead) == Some("(")
            || self.word(ahead) == Some("reservoir") && self.mark(ahead + 1) == Some("(")
            || self.mark(ahead + 1) == Some("(")
                && matches!(self.word(ahead + 3), Some("rows" | "percent"))
            || self.mark(ahead + 1) == Some("(") && self.operator(ahead + 3) == Some("%")
    }

    /// `10%`, `2 ROWS`, `reservoir (50 ROWS) REPEATABLE (42)`: a call of the method, the size, its
    /// unit and the seed.
    pub(super) fn sample_call(&mut self) -> Result<()> {
        let text = |text: &str| Token::SingleQuotedString(text.to_owned());
        self.put_call(SAMPLE);
        let mut method = None;
        if self.is_name(0) && self.mark(1) == Some("(") {
            method = self.sample_method()?;
        }
        let bracketed = self.is_mark("(");
        if bracketed {
            self.skip();
        }
        let place = self.out.len();
        match self.kind() {
            Kind::Number(_) => self.keep(),
            _ => return Err(self.fail()),
        }
        let size = self.out.split_off(place);
        let percent = match (self.operator(0), self.word(0)) {
            (Some("%"), _) | (_, Some("percent")) => true,
            (_, Some("rows" | "row")) => false,
            _ => {
                // A size alone is one of rows, in the words of the standard a share.
                self.at -= 1;
                matches!(method.as_deref(), Some("bernoulli" | "system"))
            }
        };
        self.skip();
        if bracketed {
            self.skip_mark(")")?;
        }
        let mut seed = None;
        if method.is_none() && self.is_mark("(") {
            self.skip();
            method = self.sample_method()?;
            if self.is_mark(",") {
                self.skip();
                seed = Some(self.seed()?);
            }
            self.skip_mark(")")?;
        }
        if self.is("repeatable") {
            self.skip();
            self.skip_mark("(")?;
            seed = Some(self.seed()?);
            self.skip_mark(")")?;
        }
        self.put(text(method.as_deref().unwrap_or("")));
        self.put(Token::Comma);
        self.out.extend(size);
        self.put(Token::Comma);
        self.put(text(if percent { "percent" } else { "rows" }));
        if let Some(seed) = seed {
            self.put(Token::Comma);
            self.put(text(&seed));
        }
        self.put(Token::RParen);
        Ok(())
    }

    fn sample_method(&mut self) -> Result<Option<String>> {
        let name = self.word(0).unwrap_or("").to_owned();
        if !matches!(name.as_str(), "bernoulli" | "system" | "reservoir") {
            let message = format!("tablesample method {name} does not exist");
            return Err(Error::new("42704", message).at(position(self.span().start)));
        }
        self.skip();
        Ok(Some(name))
    }

    fn seed(&mut self) -> Result<String> {
        match self.kind() {
            Kind::Number(seed) => {
                self.skip();
                Ok(seed.clone())
            }
            _ => Err(self.fail()),
        }
    }

    fn kind_at(&self, ahead: usize) -> Option<&Kind> {
        self.lexemes.get(self.at + ahead).map(|lexeme| &lexeme.kind)
    }

    /// An expression that may have a label.
    pub(super) fn named_expr(&mut self) -> Result<()> {
        self.labelled(NAMED, false, Self::expr)
    }
}
