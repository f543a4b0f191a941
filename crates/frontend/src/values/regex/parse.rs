//! The text of an expression to a tree.
//!
//! | text | means |
//! |---|---|
//! | `a|b`, `ab`, `(a)`, `(?:a)` | alternatives, one after the other, groups |
//! | `*`, `+`, `?`, `{2}`, `{2,}`, `{2,5}` | how often; with a `?` behind, rather less than more |
//! | `.`, `[a-c]`, `[^a]`, `[[:alpha:]]`, `\d`, `\s`, `\w`, `\D` … | sets |
//! | `^`, `$`, `\A`, `\Z`, `\m`, `\M`, `\y`, `\Y`, `[[:<:]]`, `[[:>:]]` | places |
//! | `(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)` | places before or behind something |
//! | `\1` | the text of a group |
//! | `***:`, `***=`, `(?i)` at the start | options; the whole as plain text |
//!
//! Basic expressions (options `b` and `e`) are those of POSIX.

use std::sync::Arc;

use super::invalid;
use super::set::{Class, Set};
use crate::error::{Error, Result};

/// Depth of groups that is allowed.
const DEPTH: usize = 100;
/// Most repetitions that can be written.
const REPEAT: u32 = 255;
/// Most characters of an expression.
const LENGTH: usize = 1 << 20;

/// The kind of an expression and its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Both cases of a letter match.
    pub any_case: bool,
    /// `^` and `$` match at each line, too.
    pub lines: bool,
    /// `.` and `[^…]` do not match a newline.
    pub no_newline: bool,
    /// White space and comments do not count.
    pub expanded: bool,
    /// The syntax.
    pub syntax: Syntax,
}

/// The syntax of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// All that PostgreSQL has.
    #[default]
    Advanced,
    /// POSIX's basic expressions.
    Basic,
    /// Plain text.
    Literal,
}

impl Options {
    /// Sets the option that a letter stands for; `false` if there is none.
    pub fn set(&mut self, letter: char) -> bool {
        match letter {
            // PostgreSQL means basic expressions by both, though it says that `e` is for extended
            // ones.
            'b' | 'e' => self.syntax = Syntax::Basic,
            'c' => self.any_case = false,
            'i' => self.any_case = true,
            'm' | 'n' => (self.lines, self.no_newline) = (true, true),
            'p' => (self.lines, self.no_newline) = (false, true),
            'q' => self.syntax = Syntax::Literal,
            's' => (self.lines, self.no_newline) = (false, false),
            't' => self.expanded = false,
            'w' => (self.lines, self.no_newline) = (true, false),
            'x' => self.expanded = true,
            _ => return false,
        }
        true
    }
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// The start of a line.
    LineStart,
    /// The end of a line.
    LineEnd,
    /// The start of a word.
    WordStart,
    /// The end of a word.
    WordEnd,
    /// The start or the end of a word.
    Word,
    /// Neither.
    NoWord,
}

/// A part of an expression.
#[derive(Clone, Debug)]
pub enum Node {
    /// The empty text.
    Empty,
    /// A character of a set.
    Set(Arc<Set>),
    /// A place.
    Place(Place),
    /// A place before or behind something.
    Look {
        /// Whether it looks back.
        behind: bool,
        /// Whether it is not to be there.
        negative: bool,
        /// The text that is looked for.
        node: Box<Node>,
    },
    /// One after the other.
    Concat(Vec<Node>),
    /// One of several.
    Alt(Vec<Node>),
    /// Several times.
    Repeat {
        /// The part that is repeated.
        node: Box<Node>,
        /// How often at least.
        least: u32,
        /// How often at most.
        most: Option<u32>,
        /// Whether rather less than more; `None` if that is left to what is repeated.
        lazy: Option<bool>,
    },
    /// A group whose text is kept.
    Group(usize, Box<Node>),
    /// The text of a group, perhaps in another case.
    Same(usize, bool),
}

/// An expression.
pub struct Parsed {
    /// Its tree.
    pub node: Node,
    /// How many groups it has.
    pub groups: usize,
    /// The groups, by their number, from 1.
    pub bodies: Vec<Option<Node>>,
}

/// Reads an expression.
///
/// # Errors
/// `2201B`.
pub fn parse(pattern: &str, mut options: Options) -> Result<Parsed> {
    if pattern.len() > LENGTH {
        return Err(invalid("regular expression is too complex"));
    }
    let mut text: &str = pattern;
    if options.syntax != Syntax::Literal
        && let Some(rest) = text.strip_prefix("***")
    {
        (options.syntax, text) = match (rest.strip_prefix('='), rest.strip_prefix(':')) {
            (Some(plain), _) => (Syntax::Literal, plain),
            (_, Some(advanced)) => (Syntax::Advanced, advanced),
            _ if rest.starts_with('?') => {
                return Err(invalid("invalid regexp (reg version 0.8)"));
            }
            _ => return Err(invalid("quantifier operand invalid")),
        };
    }
    if options.syntax == Syntax::Advanced
        && let Some(rest) = text.strip_prefix("(?")
        && rest.starts_with(|c: char| c.is_alphabetic())
    {
        let end = rest
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(rest.len());
        let known = rest[..end].chars().all(|letter| options.set(letter));
        match rest[end..].strip_prefix(')') {
            Some(after) if known => text = after,
            _ => return Err(invalid("invalid embedded option")),
        }
    }
    let mut parser = Parser {
        text: text.chars().collect(),
        at: 0,
        options,
        bodies: vec![None],
        opened: 0,
        looking: false,
    };
    let node = match options.syntax {
        Syntax::Literal => {
            let any_case = options.any_case;
            let sets = parser
                .text
                .iter()
                .map(|c| Node::Set(Arc::new(Set::one(*c, any_case))));
            concat(sets.collect())
        }
        _ => {
            let node = parser.alternatives(0)?;
            if parser.at < parser.text.len() {
                return Err(invalid("parentheses () not balanced"));
            }
            node
        }
    };
    Ok(Parsed {
        node,
        groups: parser.opened,
        bodies: parser.bodies,
    })
}

fn concat(mut parts: Vec<Node>) -> Node {
    match parts.len() {
        0 => Node::Empty,
        1 => parts.swap_remove(0),
        _ => Node::Concat(parts),
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    options: Options,
    bodies: Vec<Option<Node>>,
    opened: usize,
    /// Whether it is within a look ahead or behind, which has no groups.
    looking: bool,
}

/// An atom, and whether it can be repeated.
enum Atom {
    Plain(Node),
    Fixed(Node),
    /// Only blanks or a comment.
    Nothing,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn follows(&self, text: &str) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.len() >= text.len() && text.chars().zip(rest).all(|(a, b)| a == *b)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.follows(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn is_basic(&self) -> bool {
        self.options.syntax == Syntax::Basic
    }

    fn is_advanced(&self) -> bool {
        self.options.syntax == Syntax::Advanced
    }

    /// Passes blanks and comments over.
    fn skip(&mut self) -> Result<()> {
        loop {
            let before = self.at;
            if self.options.expanded {
                while self.peek().is_some_and(char::is_whitespace) {
                    self.at += 1;
                }
                if self.peek() == Some('#') {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
            }
            if self.is_advanced() && self.follows("(?#") {
                while self.peek().is_some_and(|c| c != ')') {
                    self.at += 1;
                }
                if !self.eat(")") && self.at < self.text.len() {
                    return Err(invalid("parentheses () not balanced"));
                }
            }
            if self.at == before {
                return Ok(());
            }
        }
    }

    fn alternatives(&mut self, depth: usize) -> Result<Node> {
        if depth > DEPTH {
            return Err(invalid("regular expression is too complex"));
        }
        let mut branches = vec![self.branch(depth)?];
        while !self.is_basic() && self.peek() == Some('|') {
            self.at += 1;
            branches.push(self.branch(depth)?);
        }
        Ok(match branches.len() {
            1 => branches.swap_remove(0),
            _ => Node::Alt(branches),
        })
    }

    fn ends_branch(&self) -> bool {
        match self.peek() {
            None => true,
            Some('\\') if self.is_basic() => self.follows("\\)"),
            Some('|' | ')') => !self.is_basic(),
            _ => false,
        }
    }

    fn branch(&mut self, depth: usize) -> Result<Node> {
        let mut parts = Vec::new();
        loop {
            self.skip()?;
            if self.ends_branch() {
                return Ok(concat(parts));
            }
            let first = parts.is_empty();
            let (node, repeats) = match self.atom(depth, first)? {
                Atom::Plain(node) => (node, true),
                Atom::Fixed(node) => (node, false),
                Atom::Nothing => continue,
            };
            self.skip()?;
            // A star behind the start is a star in basic expressions.
            if self.is_basic() && matches!(node, Node::Place(Place::Start | Place::LineStart)) {
                parts.push(node);
                continue;
            }
            let node = match self.quantifier()? {
                Some(_) if !repeats => return Err(invalid("quantifier operand invalid")),
                Some((least, most, lazy)) => {
                    self.skip()?;
                    if self.is_quantifier() {
                        return Err(invalid("quantifier operand invalid"));
                    }
                    Node::Repeat {
                        node: Box::new(node),
                        least,
                        most,
                        lazy,
                    }
                }
                None => node,
            };
            parts.push(node);
        }
    }

    fn is_quantifier(&self) -> bool {
        match self.peek() {
            Some('*') => true,
            Some('+' | '?') => !self.is_basic(),
            Some('\\') if self.is_basic() => self.follows("\\{"),
            Some('{') if !self.is_basic() => {
                let next = self.text.get(self.at + 1);
                next.is_some_and(char::is_ascii_digit)
            }
            _ => false,
        }
    }

    /// How often, at least and at most, and whether rather less than more.
    #[allow(clippy::type_complexity)]
    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>, Option<bool>)>> {
        if !self.is_quantifier() {
            return Ok(None);
        }
        let open = self.peek();
        self.at += 1;
        let (least, most, own) = match open {
            Some('*') => (0, None, true),
            Some('+') => (1, None, true),
            Some('?') => (0, Some(1), true),
            _ => {
                if open == Some('\\') {
                    self.at += 1;
                }
                self.bounds()?
            }
        };
        let lazy = self.is_advanced() && self.eat("?");
        Ok(Some((least, most, own.then_some(lazy))))
    }

    fn bounds(&mut self) -> Result<(u32, Option<u32>, bool)> {
        let least = self.bound()?;
        let comma = self.eat(",");
        let most = match self.peek() {
            Some(c) if comma && c.is_ascii_digit() => Some(self.bound()?),
            _ if comma => None,
            _ => Some(least),
        };
        if most.is_some_and(|most| least > most) {
            return Err(invalid("invalid repetition count(s)"));
        }
        let close = if self.is_basic() { "\\}" } else { "}" };
        match (self.eat(close), self.peek()) {
            (true, _) => Ok((least, most, comma)),
            (false, None) => Err(invalid("braces {} not balanced")),
            (false, Some(_)) => Err(invalid("invalid repetition count(s)")),
        }
    }

    fn bound(&mut self) -> Result<u32> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let more = number.unwrap_or(0) * 10 + digit;
            if more > REPEAT {
                return Err(invalid("invalid repetition count(s)"));
            }
            number = Some(more);
            self.at += 1;
        }
        number.ok_or_else(|| match self.peek() {
            None => invalid("braces {} not balanced"),
            Some(_) => invalid("invalid repetition count(s)"),
        })
    }

    fn set(&self, c: char) -> Node {
        Node::Set(Arc::new(Set::one(c, self.options.any_case)))
    }

    fn class(&self, class: Class, negated: bool) -> Node {
        let mut set = Set::default();
        set.add_class(class, negated);
        Node::Set(Arc::new(set.finish()))
    }

    fn atom(&mut self, depth: usize, first: bool) -> Result<Atom> {
        let Some(c) = self.peek() else {
            return Ok(Atom::Nothing);
        };
        if self.is_basic() {
            return self.basic_atom(depth, first);
        }
        self.at += 1;
        let lines = self.options.lines;
        Ok(match c {
            '(' => return self.group(depth),
            '[' => return self.bracket(),
            '^' if lines => Atom::Fixed(Node::Place(Place::LineStart)),
            '^' => Atom::Fixed(Node::Place(Place::Start)),
            '$' if lines => Atom::Fixed(Node::Place(Place::LineEnd)),
            '$' => Atom::Fixed(Node::Place(Place::End)),
            '.' => Atom::Plain(Node::Set(Arc::new(Set::all(self.options.no_newline)))),
            '*' | '+' | '?' => return Err(invalid("quantifier operand invalid")),
            '{' if self.peek().is_some_and(|c| c.is_ascii_digit()) => {
                return Err(invalid("quantifier operand invalid"));
            }
            '\\' => return self.escape(),
            c => Atom::Plain(self.set(c)),
        })
    }

    fn basic_atom(&mut self, depth: usize, first: bool) -> Result<Atom> {
        let Some(c) = self.peek() else {
            return Ok(Atom::Nothing);
        };
        self.at += 1;
        let lines = self.options.lines;
        Ok(match c {
            '^' if first => Atom::Fixed(Node::Place(if lines {
                Place::LineStart
            } else {
                Place::Start
            })),
            '$' if self.at == self.text.len() || self.follows("\\)") => {
                Atom::Fixed(Node::Place(if lines { Place::LineEnd } else { Place::End }))
            }
            '[' => return self.bracket(),
            '.' => Atom::Plain(Node::Set(Arc::new(Set::all(self.options.no_newline)))),
            '\\' => {
                let Some(c) = self.peek() else {
                    return Err(invalid("invalid escape \\ sequence"));
                };
                self.at += 1;
                match c {
                    '(' => return self.captured(depth, "\\)"),
                    '<' => Atom::Fixed(Node::Place(Place::WordStart)),
                    '>' => Atom::Fixed(Node::Place(Place::WordEnd)),
                    '{' => return Err(invalid("quantifier operand invalid")),
                    '1'..='9' => self.same(c as u32 as usize - '0' as usize)?,
                    c => Atom::Plain(self.set(c)),
                }
            }
            c => Atom::Plain(self.set(c)),
        })
    }

    fn captured(&mut self, depth: usize, close: &str) -> Result<Atom> {
        let number = match self.looking {
            true => None,
            false => {
                self.opened += 1;
                self.bodies.push(None);
                Some(self.opened)
            }
        };
        let node = self.alternatives(depth + 1)?;
        if !self.eat(close) {
            return Err(invalid("parentheses () not balanced"));
        }
        Ok(Atom::Plain(match number {
            Some(number) => {
                if let Some(body) = self.bodies.get_mut(number) {
                    *body = Some(node.clone());
                }
                Node::Group(number, Box::new(node))
            }
            None => node,
        }))
    }

    fn group(&mut self, depth: usize) -> Result<Atom> {
        if !self.is_advanced() || !self.follows("?") {
            return self.captured(depth, ")");
        }
        self.at += 1;
        if self.eat(":") {
            let node = self.alternatives(depth + 1)?;
            return match self.eat(")") {
                true => Ok(Atom::Plain(node)),
                false => Err(invalid("parentheses () not balanced")),
            };
        }
        let kinds = [
            ("=", false, false),
            ("!", false, true),
            ("<=", true, false),
            ("<!", true, true),
        ];
        let found = kinds.into_iter().find(|(mark, ..)| self.follows(mark));
        let Some((mark, behind, negative)) = found else {
            return Err(invalid("quantifier operand invalid"));
        };
        self.at += mark.len();
        let outer = std::mem::replace(&mut self.looking, true);
        let node = Box::new(self.alternatives(depth + 1)?);
        self.looking = outer;
        if !self.eat(")") {
            return Err(invalid("parentheses () not balanced"));
        }
        Ok(Atom::Fixed(Node::Look {
            behind,
            negative,
            node,
        }))
    }

    fn same(&self, number: usize) -> Result<Atom> {
        let complete = self.bodies.get(number).is_some_and(Option::is_some);
        match complete && !self.looking {
            true => Ok(Atom::Plain(Node::Same(number, self.options.any_case))),
            false => Err(invalid("invalid backreference number")),
        }
    }

    fn escape(&mut self) -> Result<Atom> {
        let bad = || invalid("invalid escape \\ sequence");
        let c = self.peek().ok_or_else(bad)?;
        self.at += 1;
        let place = |place| Ok(Atom::Fixed(Node::Place(place)));
        match c {
            'A' => place(Place::Start),
            'Z' => place(Place::End),
            'm' | '<' => place(Place::WordStart),
            'M' | '>' => place(Place::WordEnd),
            'y' => place(Place::Word),
            'Y' => place(Place::NoWord),
            'd' => Ok(Atom::Plain(self.class(Class::Digit, false))),
            's' => Ok(Atom::Plain(self.class(Class::Space, false))),
            'w' => Ok(Atom::Plain(self.class(Class::Word, false))),
            'D' | 'S' | 'W' => {
                let mut set = Set::default();
                let class = match c {
                    'D' => Class::Digit,
                    'S' => Class::Space,
                    _ => Class::Word,
                };
                set.add_class(class, true);
                Ok(Atom::Plain(Node::Set(Arc::new(set.finish()))))
            }
            '1'..='9' => {
                let start = self.at - 1;
                let digits = self.text[start..].iter().take_while(|c| c.is_ascii_digit());
                let digits: String = digits.collect();
                let number = digits.parse::<usize>().unwrap_or(usize::MAX);
                // Several digits that are no group's number are a code in octal.
                if digits.len() == 1 || number <= self.opened {
                    self.at = start + digits.len();
                    return self.same(number);
                }
                self.at = start;
                let c = self.octal()?;
                Ok(Atom::Plain(self.set(c)))
            }
            _ => {
                self.at -= 1;
                let code = self.code()?;
                Ok(Atom::Plain(match char::from_u32(code) {
                    Some(c) => self.set(c),
                    None => Node::Set(Arc::new(Set::default().finish())),
                }))
            }
        }
    }

    fn octal(&mut self) -> Result<char> {
        let mut code = 0;
        for _ in 0..3 {
            match self.peek().and_then(|c| c.to_digit(8)) {
                Some(digit) if code * 8 + digit <= 0xff => code = code * 8 + digit,
                _ => break,
            }
            self.at += 1;
        }
        char::from_u32(code).ok_or_else(|| invalid("invalid escape \\ sequence"))
    }

    /// The code that an escape means. A number may be that of no character.
    fn code(&mut self) -> Result<u32> {
        let bad = || invalid("invalid escape \\ sequence");
        let c = self.peek().ok_or_else(bad)?;
        self.at += 1;
        let (least, most) = match c {
            'a' => return Ok(u32::from('\u{7}')),
            'b' => return Ok(u32::from('\u{8}')),
            'B' => return Ok(u32::from('\\')),
            'c' => {
                let c = self.peek().ok_or_else(bad)?;
                self.at += 1;
                return Ok(u32::from(c) & 0x1f);
            }
            'e' => return Ok(u32::from('\u{1b}')),
            'f' => return Ok(u32::from('\u{c}')),
            'n' => return Ok(u32::from('\n')),
            'r' => return Ok(u32::from('\r')),
            't' => return Ok(u32::from('\t')),
            'v' => return Ok(u32::from('\u{b}')),
            'u' => (4, 4),
            'U' => (8, 8),
            'x' => (1, 255),
            '0' => {
                self.at -= 1;
                return self.octal().map(u32::from);
            }
            c if c.is_alphanumeric() => return Err(bad()),
            c => return Ok(u32::from(c)),
        };
        let mut code: u32 = 0;
        let mut digits = 0;
        while digits < most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                break;
            };
            code = code.wrapping_mul(16).wrapping_add(digit);
            digits += 1;
            self.at += 1;
        }
        match digits < least || code > MOST_CODE {
            true => Err(bad()),
            false => Ok(code),
        }
    }

    /// A set in brackets; the first of them is read.
    fn bracket(&mut self) -> Result<Atom> {
        for (text, place) in [("[:<:]]", Place::WordStart), ("[:>:]]", Place::WordEnd)] {
            if self.eat(text) {
                return Ok(Atom::Fixed(Node::Place(place)));
            }
        }
        let mut set = Set::default();
        let negated = self.eat("^");
        let any_case = self.options.any_case;
        let mut first = true;
        loop {
            let Some(c) = self.peek() else {
                return Err(invalid("brackets [] not balanced"));
            };
            if c == ']' && !first {
                self.at += 1;
                break;
            }
            let from = match self.element(first)? {
                Element::Class(class, negated) => {
                    let class = match class {
                        Class::Lower | Class::Upper if any_case => Class::Alpha,
                        class => class,
                    };
                    set.add_class(class, negated);
                    first = false;
                    // A class begins no range.
                    if self.follows("-") && !self.follows("-]") {
                        return Err(invalid("invalid character range"));
                    }
                    continue;
                }
                Element::Range => return Err(invalid("invalid character range")),
                Element::One(code) => code,
            };
            first = false;
            let mut to = from;
            if self.follows("-") && !self.follows("-]") {
                self.at += 1;
                to = match self.element(false)? {
                    Element::One(code) => code,
                    Element::Range => u32::from('-'),
                    Element::Class(..) => return Err(invalid("invalid character range")),
                };
                if self.peek().is_none() {
                    return Err(invalid("brackets [] not balanced"));
                }
                if from > to {
                    return Err(invalid("invalid character range"));
                }
            }
            if let Some(from) = at_least(from) {
                set.add(from, at_most(to), any_case);
            }
        }
        if negated {
            set.negate(self.options.no_newline);
        }
        Ok(Atom::Plain(Node::Set(Arc::new(set.finish()))))
    }

    fn element(&mut self, first: bool) -> Result<Element> {
        let unbalanced = || invalid("brackets [] not balanced");
        let c = self.peek().ok_or_else(unbalanced)?;
        self.at += 1;
        match (c, self.peek()) {
            ('[', Some(kind @ (':' | '.' | '='))) => {
                self.at += 1;
                let close = format!("{kind}]");
                let start = self.at;
                while !self.follows(&close) {
                    if self.at >= self.text.len() {
                        return Err(unbalanced());
                    }
                    self.at += 1;
                }
                let name: String = self.text[start..self.at].iter().collect();
                self.at += 2;
                if kind == ':' {
                    let class = Class::named(&name);
                    let class = class.ok_or_else(|| invalid("invalid character class"))?;
                    return Ok(Element::Class(class, false));
                }
                let mut all = name.chars();
                match (all.next(), all.next()) {
                    (Some(one), None) => Ok(Element::One(u32::from(one))),
                    _ => named(&name)
                        .map(|c| Element::One(u32::from(c)))
                        .ok_or_else(|| invalid("invalid collating element")),
                }
            }
            ('\\', next) if self.is_advanced() => {
                let class = match next {
                    Some('d') => Element::Class(Class::Digit, false),
                    Some('s') => Element::Class(Class::Space, false),
                    Some('w') => Element::Class(Class::Word, false),
                    Some('D') => Element::Class(Class::Digit, true),
                    Some('S') => Element::Class(Class::Space, true),
                    Some('W') => Element::Class(Class::Word, true),
                    Some('1'..='9') => {
                        let rest = self.text[self.at..].iter();
                        let digits = rest.take_while(|c| c.is_ascii_digit());
                        let digits: String = digits.collect();
                        let number = digits.parse::<usize>().unwrap_or(usize::MAX);
                        // The text of a group is no character.
                        if digits.len() == 1 || number <= self.opened {
                            return Err(invalid("invalid escape \\ sequence"));
                        }
                        return Ok(Element::One(u32::from(self.octal()?)));
                    }
                    Some('A' | 'Z' | 'm' | 'M' | 'y' | 'Y') => {
                        return Err(invalid("invalid escape \\ sequence"));
                    }
                    _ => return Ok(Element::One(self.code()?)),
                };
                self.at += 1;
                Ok(class)
            }
            ('-', next) if !first && next != Some(']') => Ok(Element::Range),
            (c, _) => Ok(Element::One(u32::from(c))),
        }
    }
}

/// The greatest number that an escape may have.
const MOST_CODE: u32 = 0x7fff_fffe;

/// The first character from a code on; `None` behind the last one.
fn at_least(code: u32) -> Option<char> {
    match code {
        0xd800..=0xdfff => Some('\u{e000}'),
        code => char::from_u32(code),
    }
}

/// The last character up to a code.
fn at_most(code: u32) -> char {
    match code {
        0xd800..=0xdfff => '\u{d7ff}',
        code => char::from_u32(code).unwrap_or(char::MAX),
    }
}

enum Element {
    /// A code, which may be that of no character.
    One(u32),
    Class(Class, bool),
    /// A `-` that stands between two others.
    Range,
}

/// The character of a name in POSIX's portable character set.
fn named(name: &str) -> Option<char> {
    const CONTROLS: &str = "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 \
        DC3 DC4 NAK SYN ETB CAN EM SUB ESC IS4 IS3 IS2 IS1";
    const SIGNS: [(&str, char); 52] = [
        ("alert", '\u{7}'),
        ("backspace", '\u{8}'),
        ("tab", '\t'),
        ("newline", '\n'),
        ("vertical-tab", '\u{b}'),
        ("form-feed", '\u{c}'),
        ("carriage-return", '\r'),
        ("space", ' '),
        ("exclamation-mark", '!'),
        ("quotation-mark", '"'),
        ("number-sign", '#'),
        ("dollar-sign", '$'),
        ("percent-sign", '%'),
        ("ampersand", '&'),
        ("apostrophe", '\''),
        ("left-parenthesis", '('),
        ("right-parenthesis", ')'),
        ("asterisk", '*'),
        ("plus-sign", '+'),
        ("comma", ','),
        ("hyphen", '-'),
        ("hyphen-minus", '-'),
        ("period", '.'),
        ("full-stop", '.'),
        ("slash", '/'),
        ("solidus", '/'),
        ("zero", '0'),
        ("one", '1'),
        ("two", '2'),
        ("three", '3'),
        ("four", '4'),
        ("five", '5'),
        ("six", '6'),
        ("seven", '7'),
        ("eight", '8'),
        ("nine", '9'),
        ("colon", ':'),
        ("semicolon", ';'),
        ("less-than-sign", '<'),
        ("equals-sign", '='),
        ("greater-than-sign", '>'),
        ("question-mark", '?'),
        ("commercial-at", '@'),
        ("left-square-bracket", '['),
        ("backslash", '\\'),
        ("reverse-solidus", '\\'),
        ("right-square-bracket", ']'),
        ("circumflex", '^'),
        ("underscore", '_'),
        ("grave-accent", '`'),
        ("left-brace", '{'),
        ("tilde", '~'),
    ];
    const MORE: [(&str, char); 7] = [
        ("circumflex-accent", '^'),
        ("low-line", '_'),
        ("left-curly-bracket", '{'),
        ("vertical-line", '|'),
        ("right-brace", '}'),
        ("right-curly-bracket", '}'),
        ("DEL", '\u{7f}'),
    ];
    if let Some(code) = CONTROLS.split_whitespace().position(|known| known == name) {
        return char::from_u32(code as u32);
    }
    let known = SIGNS
        .into_iter()
        .chain(MORE)
        .find(|(known, _)| *known == name);
    known.map(|(_, c)| c)
}

/// The error of an option that is none.
pub fn unknown_option(letter: char) -> Error {
    Error::new(
        "22023",
        format!("invalid regular expression option: \"{letter}\""),
    )
}
