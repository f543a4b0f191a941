//! The text of a path to its tree, by recursive descent.
//!
//! The grammar tells expressions, which give values, from predicates, which give a truth
//! value. An operand of the wrong kind is a syntax error at the token behind it.

use super::lex::{Lexer, Token};
use super::tree::{Chain, Head, LAST, Method, Operator, Path, Pattern, Step};
use crate::error::Error;
use crate::values::json::{normal_number, quote, quoted, too_deep};
use crate::values::regex::{Options, Regex};

/// Levels of brackets, filters and subscripts.
const MAX_DEPTH: usize = 60;
/// Tokens of a path.
const MAX_TOKENS: usize = 20_000;
/// Operators of a path: a row of them makes a deep tree.
const MAX_OPERATORS: usize = 500;

/// The error is boxed, so that frames of the descent are small.
type Result<T> = std::result::Result<T, Box<Error>>;

/// Reads a path.
///
/// # Errors
/// `42601` and its kin.
pub(super) fn parse(text: &str) -> crate::error::Result<Path> {
    read(text).map_err(|error| *error)
}

fn read(text: &str) -> Result<Path> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    if token == Token::End {
        return Err(Box::new(Error::new(
            "22P02",
            format!("invalid input syntax for type jsonpath: \"{text}\""),
        )));
    }
    let mut parser = Parser {
        lexer,
        token,
        depth: 0,
        tokens: 0,
        operators: 0,
    };
    let strict = parser.is_word("strict");
    if strict || parser.is_word("lax") {
        parser.advance()?;
    }
    let (root, _) = parser.any()?;
    if parser.token != Token::End {
        return Err(Box::new(parser.syntax()));
    }
    check(&root, false, false)?;
    Ok(Path { strict, root })
}

/// Refuses `@` outside of filters, and `last` outside of subscripts.
fn check(chain: &Chain, filter: bool, subscript: bool) -> Result<()> {
    match &*chain.head {
        Head::Current if !filter => {
            return Err(Box::new(Error::new(
                "42601",
                "@ is not allowed in root expressions",
            )));
        }
        Head::Last if !subscript => {
            return Err(Box::new(Error::new(
                "42601",
                "LAST is allowed only in array subscripts",
            )));
        }
        Head::Binary(_, left, right) => {
            check(left, filter, subscript)?;
            check(right, filter, subscript)?;
        }
        Head::Sign(_, operand)
        | Head::Not(operand)
        | Head::IsUnknown(operand)
        | Head::Exists(operand)
        | Head::Like(operand, _) => check(operand, filter, subscript)?,
        _ => {}
    }
    for step in &chain.steps {
        match step {
            Step::Filter(condition) => check(condition, true, subscript)?,
            Step::Elements(places) => {
                for (from, to) in places {
                    check(from, filter, true)?;
                    if let Some(to) = to {
                        check(to, filter, true)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a chain is a predicate.
type IsPredicate = bool;

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    depth: usize,
    tokens: usize,
    operators: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<Token> {
        self.tokens += 1;
        if self.tokens > MAX_TOKENS {
            return Err(Box::new(too_deep()));
        }
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn syntax(&self) -> Error {
        self.lexer.error("syntax error")
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(&self.token, Token::Mark(found) if *found == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if !self.is_mark(mark) {
            return Err(Box::new(self.syntax()));
        }
        self.advance()?;
        Ok(())
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Box::new(too_deep()));
        }
        let found = f(self);
        self.depth -= 1;
        found
    }

    /// Refuses a predicate, or an expression, at the token behind it.
    fn only(&self, found: (Chain, IsPredicate), predicate: IsPredicate) -> Result<Chain> {
        match found.1 == predicate {
            true => Ok(found.0),
            false => Err(Box::new(self.syntax())),
        }
    }

    fn any(&mut self) -> Result<(Chain, IsPredicate)> {
        self.deeper(Self::disjunction)
    }

    fn expression(&mut self) -> Result<Chain> {
        let found = self.deeper(Self::sum)?;
        self.only(found, false)
    }

    fn predicate(&mut self) -> Result<Chain> {
        let found = self.any()?;
        self.only(found, true)
    }

    fn disjunction(&mut self) -> Result<(Chain, IsPredicate)> {
        let mut left = self.conjunction()?;
        while self.is_mark("||") {
            let first = self.only(left, true)?;
            self.operator()?;
            let right = self.conjunction()?;
            let right = self.only(right, true)?;
            left = (binary(Operator::Or, first, right), true);
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<(Chain, IsPredicate)> {
        let mut left = self.comparison()?;
        while self.is_mark("&&") {
            let first = self.only(left, true)?;
            self.operator()?;
            let right = self.comparison()?;
            let right = self.only(right, true)?;
            left = (binary(Operator::And, first, right), true);
        }
        Ok(left)
    }

    /// Passes over an operator.
    fn operator(&mut self) -> Result<()> {
        self.advance()?;
        self.operators += 1;
        match self.operators > MAX_OPERATORS {
            true => Err(Box::new(too_deep())),
            false => Ok(()),
        }
    }

    fn comparison(&mut self) -> Result<(Chain, IsPredicate)> {
        if self.is_mark("!") {
            self.advance()?;
            let operand = match self.is_word("exists") {
                true => self.exists()?,
                false => {
                    self.expect("(")?;
                    let operand = self.predicate()?;
                    self.expect(")")?;
                    operand
                }
            };
            return Ok((alone(Head::Not(operand)), true));
        }
        if self.is_word("exists") {
            return Ok((self.exists()?, true));
        }
        let left = self.sum()?;
        if left.1 {
            if self.is_word("is") {
                self.advance()?;
                if !self.is_word("unknown") {
                    return Err(Box::new(self.syntax()));
                }
                self.advance()?;
                return Ok((alone(Head::IsUnknown(left.0)), true));
            }
            return Ok(left);
        }
        let left = left.0;
        let operator = match &self.token {
            Token::Mark("==") => Operator::Equal,
            Token::Mark("!=") => Operator::NotEqual,
            Token::Mark("<") => Operator::Less,
            Token::Mark("<=") => Operator::LessOrEqual,
            Token::Mark(">") => Operator::Greater,
            Token::Mark(">=") => Operator::GreaterOrEqual,
            _ if self.is_word("starts") => {
                self.advance()?;
                if !self.is_word("with") {
                    return Err(Box::new(self.syntax()));
                }
                self.advance()?;
                let head = match &self.token {
                    Token::Text(text) => text_constant(text),
                    Token::Variable(name) => Head::Variable(name.clone()),
                    _ => return Err(Box::new(self.syntax())),
                };
                self.advance()?;
                return Ok((binary(Operator::StartsWith, left, alone(head)), true));
            }
            _ if self.is_word("like_regex") => {
                self.advance()?;
                return Ok((self.like(left)?, true));
            }
            _ => return Ok((left, false)),
        };
        self.advance()?;
        let right = self.sum()?;
        let right = self.only(right, false)?;
        Ok((binary(operator, left, right), true))
    }

    fn exists(&mut self) -> Result<Chain> {
        self.advance()?;
        self.expect("(")?;
        let operand = self.expression()?;
        self.expect(")")?;
        Ok(alone(Head::Exists(operand)))
    }

    fn like(&mut self, operand: Chain) -> Result<Chain> {
        let Token::Text(text) = &self.token else {
            return Err(Box::new(self.syntax()));
        };
        let text = text.clone();
        self.advance()?;
        let mut given = String::new();
        if self.is_word("flag") {
            self.advance()?;
            let Token::Text(flags) = &self.token else {
                return Err(Box::new(self.syntax()));
            };
            given = flags.clone();
            self.advance()?;
        }
        let pattern = pattern(text, &given)?;
        Ok(alone(Head::Like(operand, Box::new(pattern))))
    }

    fn sum(&mut self) -> Result<(Chain, IsPredicate)> {
        let mut left = self.product()?;
        loop {
            let operator = match &self.token {
                Token::Mark("+") => Operator::Add,
                Token::Mark("-") => Operator::Subtract,
                _ => return Ok(left),
            };
            let first = self.only(left, false)?;
            self.operator()?;
            let right = self.product()?;
            let right = self.only(right, false)?;
            left = (binary(operator, first, right), false);
        }
    }

    fn product(&mut self) -> Result<(Chain, IsPredicate)> {
        let mut left = self.sign()?;
        loop {
            let operator = match &self.token {
                Token::Mark("*") => Operator::Multiply,
                Token::Mark("/") => Operator::Divide,
                Token::Mark("%") => Operator::Modulo,
                _ => return Ok(left),
            };
            let first = self.only(left, false)?;
            self.operator()?;
            let right = self.sign()?;
            let right = self.only(right, false)?;
            left = (binary(operator, first, right), false);
        }
    }

    fn sign(&mut self) -> Result<(Chain, IsPredicate)> {
        let minus = self.is_mark("-");
        if !minus && !self.is_mark("+") {
            return self.primary();
        }
        self.advance()?;
        let operand = self.deeper(Self::sign)?;
        let operand = self.only(operand, false)?;
        // The sign of a number is a part of it.
        if let Head::Constant(json) = &*operand.head
            && operand.steps.is_empty()
            && json.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        {
            let json = match (minus, json.strip_prefix('-')) {
                (false, _) => json.clone(),
                (true, Some(digits)) => digits.to_owned(),
                (true, None) => normal_number(&format!("-{json}"))?.into_owned(),
            };
            return Ok((alone(Head::Constant(json)), false));
        }
        Ok((alone(Head::Sign(minus, operand)), false))
    }

    fn primary(&mut self) -> Result<(Chain, IsPredicate)> {
        if self.is_mark("(") {
            self.advance()?;
            let (inner, predicate) = self.any()?;
            self.expect(")")?;
            if !self.at_step() {
                return Ok((inner, predicate));
            }
            // A chain within brackets goes on as it is.
            let mut chain = inner;
            self.steps(&mut chain.steps)?;
            return Ok((chain, false));
        }
        let head = match &self.token {
            Token::Text(text) => text_constant(text),
            Token::Number(text) | Token::Integer(text) => {
                let text = text.strip_suffix('.').unwrap_or(text).to_owned();
                let text = text.replace(".e", "e").replace(".E", "E");
                let text = match text.strip_prefix('.') {
                    Some(fraction) => format!("0.{fraction}"),
                    None => text,
                };
                Head::Constant(normal_number(&text)?.into_owned())
            }
            Token::Variable(name) => Head::Variable(name.clone()),
            Token::Mark("$") => Head::Root,
            Token::Mark("@") => Head::Current,
            Token::Word(word) => match word.as_str() {
                "null" | "true" | "false" => Head::Constant(word.clone()),
                other if other.eq_ignore_ascii_case("last") => Head::Last,
                _ => return Err(Box::new(self.syntax())),
            },
            _ => return Err(Box::new(self.syntax())),
        };
        self.advance()?;
        let mut chain = alone(head);
        self.steps(&mut chain.steps)?;
        Ok((chain, false))
    }

    fn at_step(&self) -> bool {
        [".", "[", "?"].iter().any(|mark| self.is_mark(mark))
    }

    fn steps(&mut self, steps: &mut Vec<Step>) -> Result<()> {
        while self.at_step() {
            let step = match self.advance()? {
                Token::Mark("[") => self.elements()?,
                Token::Mark("?") => {
                    self.expect("(")?;
                    let condition = self.predicate()?;
                    self.expect(")")?;
                    Step::Filter(condition)
                }
                _ => self.member()?,
            };
            steps.push(step);
        }
        Ok(())
    }

    fn elements(&mut self) -> Result<Step> {
        if self.is_mark("*") {
            self.advance()?;
            self.expect("]")?;
            return Ok(Step::AnyElement);
        }
        let mut places = Vec::new();
        loop {
            let from = self.expression()?;
            let mut to = None;
            if self.is_word("to") {
                self.advance()?;
                to = Some(self.expression()?);
            }
            places.push((from, to));
            if !self.is_mark(",") {
                break;
            }
            self.advance()?;
        }
        self.expect("]")?;
        Ok(Step::Elements(places))
    }

    fn member(&mut self) -> Result<Step> {
        match self.advance_past_member()? {
            Token::Mark("*") => Ok(Step::AnyKey),
            Token::Mark(_) => self.levels(),
            Token::Word(word) if self.is_mark("(") => {
                let method = match word.to_ascii_lowercase().as_str() {
                    "type" => Method::Type,
                    "size" => Method::Size,
                    "double" => Method::Double,
                    "abs" => Method::Abs,
                    "floor" => Method::Floor,
                    "ceiling" => Method::Ceiling,
                    "keyvalue" => Method::KeyValue,
                    "datetime" => {
                        self.advance()?;
                        let mut template = None;
                        if let Token::Text(text) = &self.token {
                            template = Some(text.clone());
                            self.advance()?;
                        }
                        self.expect(")")?;
                        return Ok(Step::Datetime(template));
                    }
                    _ => return Err(Box::new(self.syntax())),
                };
                self.advance()?;
                self.expect(")")?;
                Ok(Step::Method(method))
            }
            Token::Word(key) | Token::Text(key) => Ok(Step::Key(quoted(&key).into_owned())),
            _ => Err(Box::new(self.syntax())),
        }
    }

    /// Passes over what may stand behind a point.
    fn advance_past_member(&mut self) -> Result<Token> {
        match &self.token {
            Token::Mark("*" | "**") | Token::Word(_) | Token::Text(_) => self.advance(),
            _ => Err(Box::new(self.syntax())),
        }
    }

    fn levels(&mut self) -> Result<Step> {
        if !self.is_mark("{") {
            return Ok(Step::Levels(0, LAST));
        }
        self.advance()?;
        let first = self.level()?;
        let mut last = first;
        if self.is_word("to") {
            self.advance()?;
            last = self.level()?;
        }
        self.expect("}")?;
        Ok(Step::Levels(first, last))
    }

    fn level(&mut self) -> Result<u32> {
        let level = match &self.token {
            Token::Integer(text) => match text.parse::<i32>() {
                Ok(level) => level.unsigned_abs(),
                Err(_) => {
                    return Err(Box::new(Error::new(
                        "22003",
                        format!("value \"{text}\" is out of range for type integer"),
                    )));
                }
            },
            _ if self.is_word("last") => LAST,
            _ => return Err(Box::new(self.syntax())),
        };
        self.advance()?;
        Ok(level)
    }
}

fn alone(head: Head) -> Chain {
    Chain {
        head: Box::new(head),
        steps: Vec::new(),
    }
}

fn binary(operator: Operator, left: Chain, right: Chain) -> Chain {
    alone(Head::Binary(operator, left, right))
}

fn text_constant(text: &str) -> Head {
    let mut json = String::with_capacity(text.len() + 2);
    quote(text, &mut json);
    Head::Constant(json)
}

/// A regular expression with flags: of letters of any case, `s` lets a point stand for a line's
/// end, `m` makes `^` and `$` match at lines, and `q` takes the text as it stands.
fn pattern(text: String, given: &str) -> Result<Pattern> {
    if let Some(other) = given.chars().find(|c| !"ismxq".contains(*c)) {
        return Err(Box::new(
            Error::new("42601", "invalid input syntax for type jsonpath").with_detail(format!(
                "Unrecognized flag character \"{other}\" in LIKE_REGEX predicate."
            )),
        ));
    }
    let has = |flag| given.contains(flag);
    if has('x') && !has('q') {
        return Err(Box::new(Error::unsupported(
            "XQuery \"x\" flag (expanded regular expressions) is not implemented",
        )));
    }
    let mut options = Options::default();
    if has('i') {
        options.set('i');
    }
    if has('q') {
        options.set('q');
    } else {
        // Points and `[^…]` pass over no line's end; `^` and `$` are those of lines.
        options.no_newline = !has('s');
        options.lines = has('m');
    }
    let regex = Regex::new(&text, options)?;
    Ok(Pattern {
        text,
        flags: "ismxq".chars().filter(|flag| has(*flag)).collect(),
        regex,
    })
}
