//! Written types, and texts with a type before them.

use sqlparser::tokenizer::Token;

use super::super::lexeme::Kind;
use super::super::words::{Class, class};
use super::Reader;
use crate::error::{Error, Result};

/// Fields of intervals, from the longest.
const FIELDS: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];

impl Reader<'_> {
    /// ARRAY behind a type, which stands for brackets: `text ARRAY`, `int ARRAY[3]`.
    pub(super) fn array_of(&mut self) -> Result<()> {
        self.skip();
        self.put(Token::LBracket);
        if self.is_mark("[") {
            self.skip();
            if !matches!(self.kind(), Kind::Number(_)) {
                return Err(self.fail());
            }
            self.skip();
            self.skip_mark("]")?;
        }
        self.put(Token::RBracket);
        Ok(())
    }

    /// A type, with the dimensions behind it.
    pub(super) fn type_name(&mut self) -> Result<()> {
        if self.is("setof") {
            return Err(self.fail());
        }
        self.simple_type()?;
        if self.is("array") {
            return self.array_of();
        }
        while self.is_mark("[") {
            self.keep();
            if matches!(self.kind(), Kind::Number(_)) {
                self.skip();
            }
            self.keep_mark("]")?;
        }
        Ok(())
    }

    fn simple_type(&mut self) -> Result<()> {
        if matches!(self.kind(), Kind::Quoted(_)) {
            return self.named_type();
        }
        let Some(word) = self.word(0) else {
            return Err(self.fail());
        };
        if class(word) == Class::Reserved {
            return Err(self.fail());
        }
        match word {
            "double" if self.word(1) == Some("precision") => {
                self.keep();
                self.keep();
                Ok(())
            }
            "national" | "nchar" | "character" | "char" | "varchar" => self.character_type(),
            "bit" => {
                self.keep();
                self.takes("varying");
                self.optional_digits()
            }
            "time" | "timestamp" => {
                self.keep();
                self.optional_digits()?;
                if matches!(self.word(0), Some("with" | "without")) && self.word(1) == Some("time")
                {
                    self.keep();
                    self.keep();
                    self.keep_word("zone")?;
                }
                Ok(())
            }
            "interval" => {
                self.keep();
                if self.is_mark("(") {
                    return self.optional_digits();
                }
                self.interval_fields()
            }
            "int" | "integer" | "bigint" | "smallint" | "real" | "boolean" => {
                self.keep();
                Ok(())
            }
            "float" | "dec" | "decimal" | "numeric" => {
                self.keep();
                self.modifiers()
            }
            _ => match class(word) {
                Class::Column => Err(self.fail()),
                _ => self.named_type(),
            },
        }
    }

    fn character_type(&mut self) -> Result<()> {
        let mut varying = self.is("varchar");
        if self.is("national") {
            self.skip();
            if !matches!(self.word(0), Some("character" | "char")) {
                return Err(self.fail());
            }
        }
        let place = self.out.len();
        self.put_word("CHARACTER");
        self.skip();
        if !varying && self.is("varying") {
            self.skip();
            varying = true;
        }
        if varying {
            self.out.truncate(place);
            self.put_word("VARCHAR");
        }
        self.optional_digits()
    }

    /// `year`, `day to hour`, `second(3)` …
    fn interval_fields(&mut self) -> Result<()> {
        let Some(first) = self
            .word(0)
            .and_then(|word| FIELDS.iter().position(|f| *f == word))
        else {
            return Ok(());
        };
        self.keep();
        let mut last = first;
        if self.is("to") && first < 5 && first != 1 {
            self.keep();
            let to = self
                .word(0)
                .and_then(|word| FIELDS.iter().position(|f| *f == word));
            last = match (first, to) {
                (0, Some(1)) => 1,
                (2..=4, Some(to)) if to > first => to,
                _ => return Err(self.fail()),
            };
            self.keep();
        }
        match last {
            5 => self.optional_digits(),
            _ => Ok(()),
        }
    }

    fn optional_digits(&mut self) -> Result<()> {
        if !self.is_mark("(") {
            return Ok(());
        }
        self.keep();
        match self.kind() {
            Kind::Number(_) => self.keep(),
            _ => return Err(self.fail()),
        }
        self.keep_mark(")")
    }

    fn modifiers(&mut self) -> Result<()> {
        if !self.is_mark("(") {
            return Ok(());
        }
        let place = self.at.saturating_sub(1);
        let mut count = 0;
        self.keep();
        self.list(|reader| {
            count += 1;
            if matches!(reader.operator(0), Some("-" | "+")) {
                reader.keep();
            }
            match reader.kind() {
                Kind::Number(_) | Kind::Text(_) | Kind::Word(_) | Kind::Quoted(_) => {
                    reader.keep();
                    Ok(())
                }
                _ => Err(reader.fail()),
            }
        })?;
        self.keep_mark(")")?;
        // The grammar has no modifiers behind some types, and at most two behind others.
        let name = match &self.lexemes[place].kind {
            Kind::Word(name) => name.as_str(),
            _ => return Ok(()),
        };
        let start = super::position(self.lexemes[place].span.start);
        match name {
            "date" | "text" | "bool" | "int2" | "int4" | "int8" | "float4" | "float8" | "uuid"
            | "json" | "jsonb" | "bytea" | "name" | "oid" => Err(Error::new(
                "42601",
                format!("type modifier is not allowed for type \"{name}\""),
            )
            .at(start)),
            "numeric" | "decimal" | "dec" if count > 2 => {
                Err(Error::new("22023", "invalid NUMERIC type modifier").at(start))
            }
            _ => Ok(()),
        }
    }

    /// A type by its name, which may have a schema.
    fn named_type(&mut self) -> Result<()> {
        if self.word(0) == Some("pg_catalog") && self.mark(1) == Some(".") {
            self.skip();
            self.skip();
        }
        match self.is_label(0) {
            true => self.keep(),
            false => return Err(self.fail()),
        }
        while self.is_mark(".") {
            self.keep();
            match self.is_label(0) {
                true => self.keep_name(),
                false => return Err(self.fail()),
            }
        }
        self.modifiers()
    }

    /// A type of several words or with fields before a text; `None` if there is none here.
    pub(super) fn special_type(&mut self) -> Result<Option<()>> {
        let Some(word) = self.word(0) else {
            return Ok(None);
        };
        let typed = match word {
            "double" => self.word(1) == Some("precision"),
            "national" => matches!(self.word(1), Some("character" | "char")),
            "character" | "char" | "nchar" | "bit" => {
                self.word(1) == Some("varying") || matches!(self.lexeme(1).kind, Kind::Text(_))
            }
            "time" | "timestamp" => {
                matches!(self.word(1), Some("with" | "without")) && self.word(2) == Some("time")
                    || self.mark(1) == Some("(")
            }
            "interval" => matches!(self.lexeme(1).kind, Kind::Text(_)) || self.mark(1) == Some("("),
            _ => false,
        };
        if !typed {
            return Ok(None);
        }
        match word {
            "interval" => self.interval_text().map(Some),
            _ => self.typed_text().map(Some),
        }
    }

    /// `interval '1' day to hour` or `interval(3) '1 day'`.
    fn interval_text(&mut self) -> Result<()> {
        let place = self.out.len();
        self.put_word("INTERVAL");
        self.skip();
        if matches!(self.kind(), Kind::Text(_)) {
            self.keep();
            return self.interval_fields();
        }
        self.optional_digits()?;
        let Kind::Text(text) = self.kind() else {
            return Err(self.fail());
        };
        let literal = Token::SingleQuotedString(text.clone());
        self.skip();
        self.finish_text(place, literal)
    }

    /// `type 'text'` becomes a cast.
    pub(super) fn typed_text(&mut self) -> Result<()> {
        let place = self.out.len();
        self.simple_type()?;
        let Kind::Text(text) = self.kind() else {
            return Err(self.fail());
        };
        let literal = Token::SingleQuotedString(text.clone());
        // A literal of CHAR without a length has the length of its text.
        if self.out.len() == place + 1 && self.out[place].token == Token::make_keyword("CHARACTER")
        {
            self.out.truncate(place);
            self.put(Token::make_word("bpchar", None));
        }
        // A literal of BIT without a length has the length of its digits, too.
        if self.out.len() == place + 1
            && let Token::Word(word) = &self.out[place].token
            && word.quote_style.is_none()
            && word.value.eq_ignore_ascii_case("bit")
        {
            self.out.truncate(place);
            self.put(Token::make_word("bit", Some('"')));
        }
        self.skip();
        self.finish_text(place, literal)
    }

    fn finish_text(&mut self, place: usize, literal: Token) -> Result<()> {
        self.insert(
            place,
            vec![
                Token::make_keyword("CAST"),
                Token::LParen,
                literal,
                Token::make_keyword("AS"),
            ],
        );
        self.put(Token::RParen);
        Ok(())
    }
}
