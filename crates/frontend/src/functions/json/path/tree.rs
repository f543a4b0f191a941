//! A path as a tree, and its canonical text.
//!
//! ```text
//! $.a[*] ? (@.b > 1).size()   →   $."a"[*]?(@."b" > 1).size()
//! ```

use std::fmt::Write;

use crate::values::json::quote;
use crate::values::regex::Regex;

/// A path.
pub(super) struct Path {
    /// Whether missing parts are errors.
    pub strict: bool,
    /// What it gives.
    pub root: Chain,
}

/// A head and the steps from it.
pub(super) struct Chain {
    pub head: Box<Head>,
    pub steps: Vec<Step>,
}

/// The start of a chain.
pub(super) enum Head {
    /// A constant, as JSON in normal form.
    Constant(String),
    /// `$name`.
    Variable(String),
    /// `$`.
    Root,
    /// `@`.
    Current,
    /// `last`.
    Last,
    /// An operator of two operands.
    Binary(Operator, Chain, Chain),
    /// `-x`, or `+x`.
    Sign(bool, Chain),
    /// `!(p)`.
    Not(Chain),
    /// `(p) is unknown`.
    IsUnknown(Chain),
    /// `exists (x)`.
    Exists(Chain),
    /// `x like_regex "…" flag "…"`.
    Like(Chain, Box<Pattern>),
}

/// A regular expression.
pub(super) struct Pattern {
    pub text: String,
    /// The flags that are set, of `ismxq`, in this order.
    pub flags: String,
    pub regex: Regex,
}

/// An operator of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    StartsWith,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl Operator {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "||",
            Operator::And => "&&",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::StartsWith => "starts with",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
        }
    }

    /// How tightly it binds.
    fn priority(self) -> u8 {
        match self {
            Operator::Or => 0,
            Operator::And => 1,
            Operator::Add | Operator::Subtract => 3,
            Operator::Multiply | Operator::Divide | Operator::Modulo => 4,
            _ => 2,
        }
    }

    /// Whether it gives a number.
    pub(super) fn is_arithmetic(self) -> bool {
        self.priority() > 2
    }
}

/// A step of a chain.
pub(super) enum Step {
    /// `.key`: the key as normal form has it.
    Key(String),
    /// `.*`.
    AnyKey,
    /// `[*]`.
    AnyElement,
    /// `[1, 2 to last]`.
    Elements(Vec<(Chain, Option<Chain>)>),
    /// `.**{2 to 3}`; [`LAST`] stands for the deepest level.
    Levels(u32, u32),
    /// `? (p)`.
    Filter(Chain),
    /// `.size()` and its kin.
    Method(Method),
    /// `.datetime("…")`.
    Datetime(Option<String>),
}

/// The deepest level.
pub(super) const LAST: u32 = u32::MAX;

/// A method without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Type,
    Size,
    Double,
    Abs,
    Floor,
    Ceiling,
    KeyValue,
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Type => "type",
            Method::Size => "size",
            Method::Double => "double",
            Method::Abs => "abs",
            Method::Floor => "floor",
            Method::Ceiling => "ceiling",
            Method::KeyValue => "keyvalue",
        }
    }
}

impl Path {
    /// The canonical text, which PostgreSQL shows. It does not always mean the path: the one
    /// of `(1 + 2).abs() * 3` lacks no brackets, but that of `(1 * 2).abs() + 3` does.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        if self.strict {
            out.push_str("strict ");
        }
        self.root.write(true, &mut out);
        out
    }
}

impl Chain {
    fn priority(&self) -> u8 {
        match &*self.head {
            Head::Binary(operator, ..) => operator.priority(),
            Head::Sign(..) => 5,
            _ => 6,
        }
    }

    /// Writes an operand of something that binds as tightly as `outer`.
    fn write_operand(&self, outer: u8, out: &mut String) {
        self.write(self.priority() <= outer, out);
    }

    fn write(&self, brackets: bool, out: &mut String) {
        self.write_head(brackets, out);
        self.steps.iter().for_each(|step| step.write(out));
    }

    fn write_head(&self, brackets: bool, out: &mut String) {
        let (open, close) = if brackets { ("(", ")") } else { ("", "") };
        match &*self.head {
            Head::Constant(json) => {
                let first = json.bytes().next().unwrap_or(b'"');
                let number = !self.steps.is_empty() && (first == b'-' || first.is_ascii_digit());
                match number {
                    true => {
                        out.push('(');
                        out.push_str(json);
                        out.push(')');
                    }
                    false => out.push_str(json),
                }
            }
            Head::Variable(name) => {
                out.push('$');
                quote(name, out);
            }
            Head::Root => out.push('$'),
            Head::Current => out.push('@'),
            Head::Last => out.push_str("last"),
            Head::Binary(operator, left, right) => {
                out.push_str(open);
                left.write_operand(operator.priority(), out);
                out.push(' ');
                out.push_str(operator.symbol());
                out.push(' ');
                right.write_operand(operator.priority(), out);
                out.push_str(close);
            }
            Head::Sign(minus, operand) => {
                out.push_str(open);
                out.push(if *minus { '-' } else { '+' });
                operand.write_operand(5, out);
                out.push_str(close);
            }
            Head::Not(operand) => {
                out.push_str("!(");
                operand.write(false, out);
                out.push(')');
            }
            Head::IsUnknown(operand) => {
                out.push('(');
                operand.write(false, out);
                out.push_str(") is unknown");
            }
            Head::Exists(operand) => {
                out.push_str("exists (");
                operand.write(false, out);
                out.push(')');
            }
            Head::Like(operand, pattern) => {
                out.push_str(open);
                operand.write_operand(6, out);
                out.push_str(" like_regex ");
                quote(&pattern.text, out);
                if !pattern.flags.is_empty() {
                    let _ = write!(out, " flag \"{}\"", pattern.flags);
                }
                out.push_str(close);
            }
        }
    }
}

impl Step {
    fn write(&self, out: &mut String) {
        match self {
            Step::Key(key) => {
                out.push_str(".\"");
                out.push_str(key);
                out.push('"');
            }
            Step::AnyKey => out.push_str(".*"),
            Step::AnyElement => out.push_str("[*]"),
            Step::Elements(places) => {
                out.push('[');
                for (at, (from, to)) in places.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    from.write(false, out);
                    if let Some(to) = to {
                        out.push_str(" to ");
                        to.write(false, out);
                    }
                }
                out.push(']');
            }
            Step::Levels(first, last) => {
                let level = |level: u32| match level {
                    LAST => "last".to_owned(),
                    other => other.to_string(),
                };
                out.push_str(".**");
                match (*first, *last) {
                    (0, LAST) => {}
                    (first, last) if first == last => {
                        let _ = write!(out, "{{{}}}", level(first));
                    }
                    (first, last) => {
                        let _ = write!(out, "{{{} to {}}}", level(first), level(last));
                    }
                }
            }
            Step::Filter(condition) => {
                out.push_str("?(");
                condition.write(false, out);
                out.push(')');
            }
            Step::Method(method) => {
                let _ = write!(out, ".{}()", method.name());
            }
            Step::Datetime(template) => {
                out.push_str(".datetime(");
                if let Some(template) = template {
                    quote(template, out);
                }
                out.push(')');
            }
        }
    }
}
