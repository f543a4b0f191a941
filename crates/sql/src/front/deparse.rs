//! Expressions as PostgreSQL prints those that it keeps: literals with their types, and every cast.
//!
//! ```text
//! name <> 'x'          (name <> 'x'::text)
//! b BETWEEN 1 AND 20   ((b >= 1) AND (b <= 20))
//! worth >= 0           (worth >= (0)::numeric)
//! worth >= 0::numeric  the same with few brackets
//! ```
//!
//! The text of a DEFAULT or a CHECK is kept as it was written. Its operators and functions are
//! looked up by the types of its columns, as binding looks them up, and casts are written where
//! an operand is of another type. An expression of a form that is not known here is shown as
//! it was written.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{
    Array, BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, TypedString, UnaryOperator, Value,
};
use freestone_frontend::bind::{Binder, Catalog as _, written_type};
use freestone_frontend::functions::{
    Scalar, catalogue, common_type, resolve_function, resolve_operator,
};
use freestone_frontend::types::{Reg, Type};

use super::names::Names;
use super::objects::Nothing;
use super::session_of;
use crate::names::{fold, quoted};
use crate::plan::expression::parse_expr;
use crate::plan::relations::Relations;

/// Names of functions that are words of the grammar: they are written in quotes.
const WORDS: [&str; 8] = [
    "left",
    "right",
    "substring",
    "overlay",
    "position",
    "char",
    "interval",
    "normalize",
];

/// A part of an expression, as it is printed.
enum Node {
    /// A column, or a word such as CURRENT_DATE.
    Name(String),
    /// A literal with the name of its type, if it is written.
    Literal(String, Option<String>),
    Cast {
        inner: Box<Node>,
        ty: String,
        /// Whether the context asks for it: it is left out where that is seen.
        implicit: bool,
    },
    Call(String, Vec<Node>),
    /// EXTRACT of a field.
    Extract(String, Box<Node>),
    Operator(String, Option<Box<Node>>, Box<Node>),
    /// AND or OR.
    Logic(&'static str, Vec<Node>),
    Not(Box<Node>),
    /// A test such as IS NULL.
    Test(Box<Node>, &'static str),
    Distinct(Box<Node>, Box<Node>),
    /// An operator with ANY or ALL elements of an array.
    Any(String, Box<Node>, Box<Node>, &'static str),
    Array(Vec<Node>),
    Case {
        operand: Option<Box<Node>>,
        branches: Vec<(Node, Node)>,
        otherwise: Option<Box<Node>>,
    },
}

/// A part and its type; a literal in quotes has none yet.
type Typed = (Node, Type);

/// The names that an expression may read.
struct Known<'a> {
    names: &'a Names<'a>,
    relations: &'a Relations<'a>,
    columns: &'a [(String, Type)],
}

/// Reads an expression; without names it reads what is printed already, in which every cast is
/// written.
struct Reader<'a> {
    known: Option<Known<'a>>,
}

/// An expression over some columns as PostgreSQL prints it, as a value of a type if it becomes
/// one. The text itself if it cannot be read so.
pub(crate) fn deparsed(
    relations: &Relations<'_>,
    text: &str,
    columns: &[(String, Type)],
    to: Option<&Type>,
) -> String {
    let names = Names::new(relations);
    let known = Known {
        names: &names,
        relations,
        columns,
    };
    let reader = Reader { known: Some(known) };
    let printed = || {
        let (node, ty) = reader.node(&parse_expr(text).ok()?)?;
        let node = match to {
            Some(to) => reader.coerced((node, ty), to)?,
            None => reader.coerced((node, ty.clone()), &text_or(&ty))?,
        };
        Some(node.shown(false))
    };
    printed().unwrap_or_else(|| text.to_owned())
}

/// The text of [`deparsed`] with brackets only where they are needed.
pub(crate) fn pretty(text: &str) -> String {
    let reader = Reader { known: None };
    let printed = || Some(reader.node(&parse_expr(text).ok()?)?.0.shown(true));
    printed().unwrap_or_else(|| text.to_owned())
}

fn text_or(ty: &Type) -> Type {
    match ty {
        Type::Unknown => Type::Text,
        known => known.base(),
    }
}

/// Whether PostgreSQL has operators between values of two types.
fn meet(a: &Type, b: &Type) -> bool {
    let both = |all: &[Type]| all.contains(a) && all.contains(b);
    both(&[Type::Int2, Type::Int4, Type::Int8])
        || both(&[Type::Float4, Type::Float8])
        || both(&[Type::Name, Type::Text])
        || both(&[Type::Date, Type::Timestamp(None), Type::TimestampTz(None)])
}

fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A literal of a type.
fn literal(text: &str, ty: &Type) -> Node {
    let plain = match ty {
        Type::Bool => matches!(text, "true" | "false"),
        Type::Int4 => !text.starts_with('-'),
        Type::Numeric(_) => !text.starts_with('-') && text.contains(['.', 'e', 'E']),
        _ => false,
    };
    match plain {
        true => Node::Literal(text.to_owned(), None),
        false => Node::Literal(in_quotes(text), Some(ty.base().to_string())),
    }
}

impl Reader<'_> {
    fn node(&self, expr: &Expr) -> Option<Typed> {
        let truth = |node| Some((node, Type::Bool));
        match expr {
            Expr::Nested(inner) => self.node(inner),
            Expr::Identifier(ident) => self.column(&fold(ident)),
            Expr::Value(value) => self.value(&value.value),
            Expr::Cast {
                kind: CastKind::Cast | CastKind::DoubleColon,
                expr,
                data_type,
                array: false,
                format: None,
            } => self.cast(expr, data_type),
            Expr::TypedString(TypedString {
                data_type, value, ..
            }) => self.cast(&Expr::Value(value.clone()), data_type),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::And => self.logic("AND", left, right),
                BinaryOperator::Or => self.logic("OR", left, right),
                op => self.binary(&symbol(op)?, self.node(left)?, self.node(right)?),
            },
            Expr::IsNull(inner) => self.test(inner, "IS NULL"),
            Expr::IsNotNull(inner) => self.test(inner, "IS NOT NULL"),
            Expr::IsTrue(inner) => self.test(inner, "IS TRUE"),
            Expr::IsNotTrue(inner) => self.test(inner, "IS NOT TRUE"),
            Expr::IsFalse(inner) => self.test(inner, "IS FALSE"),
            Expr::IsNotFalse(inner) => self.test(inner, "IS NOT FALSE"),
            Expr::IsUnknown(inner) => self.test(inner, "IS UNKNOWN"),
            Expr::IsNotUnknown(inner) => self.test(inner, "IS NOT UNKNOWN"),
            Expr::IsDistinctFrom(left, right) => truth(self.distinct(left, right)?),
            Expr::IsNotDistinctFrom(left, right) => {
                truth(Node::Not(Box::new(self.distinct(left, right)?)))
            }
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let (word, least, most) = match negated {
                    false => ("AND", ">=", "<="),
                    true => ("OR", "<", ">"),
                };
                let (low, _) = self.binary(least, self.node(expr)?, self.node(low)?)?;
                let (high, _) = self.binary(most, self.node(expr)?, self.node(high)?)?;
                truth(Node::Logic(word, vec![low, high]))
            }
            Expr::InList {
                expr,
                list,
                negated,
            } => self.in_list(expr, list, *negated),
            Expr::Like {
                negated,
                any: false,
                expr,
                pattern,
                escape_char: None,
            } => {
                let symbol = if *negated { "!~~" } else { "~~" };
                self.binary(symbol, self.node(expr)?, self.node(pattern)?)
            }
            Expr::ILike {
                negated,
                any: false,
                expr,
                pattern,
                escape_char: None,
            } => {
                let symbol = if *negated { "!~~*" } else { "~~*" };
                self.binary(symbol, self.node(expr)?, self.node(pattern)?)
            }
            Expr::AnyOp {
                left,
                compare_op,
                right,
                ..
            } => self.any(left, compare_op, right, "ANY"),
            Expr::AllOp {
                left,
                compare_op,
                right,
            } => self.any(left, compare_op, right, "ALL"),
            Expr::Array(Array { elem, .. }) => {
                let all: Vec<Typed> = elem
                    .iter()
                    .map(|one| self.node(one))
                    .collect::<Option<_>>()?;
                let (all, ty) = self.alike(all)?;
                Some((Node::Array(all), ty.array()))
            }
            Expr::Function(call) => self.call(call),
            Expr::Extract { field, expr, .. } => {
                let (inner, _) = self.node(expr)?;
                let field = field.to_string().to_lowercase();
                Some((Node::Extract(field, Box::new(inner)), Type::Numeric(None)))
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => {
                let operand = operand.as_ref().map(|operand| self.node(operand));
                let (mut whens, mut values) = (Vec::new(), Vec::new());
                let operand = match operand {
                    Some(operand) => Some(operand?),
                    None => None,
                };
                for when in conditions {
                    let condition = self.node(&when.condition)?;
                    whens.push(match &operand {
                        Some((_, ty)) => self.coerced(condition, ty)?,
                        None => condition.0,
                    });
                    values.push(self.node(&when.result)?);
                }
                match else_result {
                    Some(value) => values.push(self.node(value)?),
                    // Without ELSE it is NULL, which is written; a text that is printed has it.
                    None if self.known.is_some() => {
                        values.push((Node::Literal("NULL".to_owned(), None), Type::Unknown));
                    }
                    None => {}
                }
                let has_else = values.len() > whens.len();
                let (mut values, ty) = self.alike(values)?;
                let otherwise = if has_else { values.pop() } else { None };
                let node = Node::Case {
                    operand: operand.map(|(operand, _)| Box::new(operand)),
                    branches: whens.into_iter().zip(values).collect(),
                    otherwise: otherwise.map(Box::new),
                };
                Some((node, ty))
            }
            _ => None,
        }
    }

    fn column(&self, name: &str) -> Option<Typed> {
        let Some(known) = &self.known else {
            let shown = if name == "value" {
                "VALUE".to_owned()
            } else {
                quoted(name)
            };
            return Some((Node::Name(shown), Type::Unknown));
        };
        let (found, ty) = known.columns.iter().find(|(known, _)| known == name)?;
        // The value of a domain is a word.
        let shown = match known.columns {
            [(only, _)] if only == "value" => "VALUE".to_owned(),
            _ => quoted(found),
        };
        Some((Node::Name(shown), ty.clone()))
    }

    fn value(&self, value: &Value) -> Option<Typed> {
        Some(match value {
            Value::Number(digits, false) => {
                let ty = match digits.parse::<i64>() {
                    Ok(number) if i32::try_from(number).is_ok() => Type::Int4,
                    Ok(_) => Type::Int8,
                    Err(_) => Type::Numeric(None),
                };
                (literal(digits, &ty), ty)
            }
            Value::SingleQuotedString(text) => {
                (Node::Literal(in_quotes(text), None), Type::Unknown)
            }
            Value::Boolean(truth) => (literal(&truth.to_string(), &Type::Bool), Type::Bool),
            Value::Null => (Node::Literal("NULL".to_owned(), None), Type::Unknown),
            _ => return None,
        })
    }

    /// A literal in quotes as a value of a type, as its type writes it.
    fn normal(&self, text: &str, to: &Type) -> Option<String> {
        let known = self.known.as_ref()?;
        let session = Arc::new(session_of(known.relations));
        if let Type::Reg(kind) = to {
            let objects = known.names.objects();
            return objects.name(*kind, objects.number(*kind, text).ok()?);
        }
        let expr = parse_expr(&format!("CAST(CAST({} AS {to}) AS text)", in_quotes(text))).ok()?;
        let bound = Binder::new(known.names, &session).expression(&expr, &[], None);
        bound.ok()?.literal_text().map(str::to_owned)
    }

    /// A part as a value of a type.
    fn coerced(&self, (node, from): Typed, to: &Type) -> Option<Node> {
        let to = to.base();
        if self.known.is_none() || from.base() == to || to.is_pseudo() && from != Type::Unknown {
            return Some(node);
        }
        let to = if to.is_pseudo() { Type::Text } else { to };
        match (node, from) {
            (Node::Literal(text, None), Type::Unknown) if text == "NULL" => {
                Some(Node::Literal(text, Some(to.to_string())))
            }
            (Node::Literal(text, None), Type::Unknown) => {
                let inner = text.get(1..text.len().checked_sub(1)?)?.replace("''", "'");
                let normal = self.normal(&inner, &to).unwrap_or(inner);
                Some(literal(&normal, &to))
            }
            (_, Type::Unknown) => None,
            (node, _) => Some(Node::Cast {
                inner: Box::new(node),
                ty: to.to_string(),
                implicit: true,
            }),
        }
    }

    /// Parts as values of the type that they have in common.
    fn alike(&self, all: Vec<Typed>) -> Option<(Vec<Node>, Type)> {
        let types: Vec<Type> = all.iter().map(|(_, ty)| ty.base()).collect();
        let common = common_type(&types)?;
        let all = all.into_iter().map(|one| self.coerced(one, &common));
        Some((all.collect::<Option<_>>()?, common))
    }

    fn cast(&self, inner: &Expr, data_type: &DataType) -> Option<Typed> {
        let ty = match &self.known {
            Some(known) => written_type(data_type, known.names).ok()?,
            None => match written_type(data_type, &Nothing) {
                Ok(ty) => ty,
                Err(_) => {
                    let shown = data_type.to_string();
                    return Some((self.labelled(self.node(inner)?.0, shown), Type::Unknown));
                }
            },
        };
        // A cast of an array that is written out is one of its elements.
        if let (Expr::Array(Array { elem, .. }), Type::Array(element)) = (inner, &ty)
            && !elem.is_empty()
            && self.known.is_some()
        {
            let all = elem
                .iter()
                .map(|one| self.coerced(self.node(one)?, element));
            return Some((Node::Array(all.collect::<Option<_>>()?), ty));
        }
        let (node, from) = self.node(inner)?;
        if let Node::Literal(text, None) = &node
            && from == Type::Unknown
            && text != "NULL"
        {
            let inner = text.get(1..text.len().checked_sub(1)?)?.replace("''", "'");
            let normal = self.normal(&inner, &ty).unwrap_or(inner);
            let label = ty.to_string();
            return Some((
                match ty == ty.base() {
                    true => literal(&normal, &ty),
                    false => Node::Literal(in_quotes(&normal), Some(label)),
                },
                ty,
            ));
        }
        if from == ty {
            return Some((node, ty));
        }
        let label = ty.to_string();
        Some((self.labelled(node, label), ty))
    }

    fn labelled(&self, node: Node, ty: String) -> Node {
        match node {
            Node::Literal(text, None) if text.starts_with('\'') || text == "NULL" => {
                Node::Literal(text, Some(ty))
            }
            node => Node::Cast {
                inner: Box::new(node),
                ty,
                implicit: false,
            },
        }
    }

    fn unary(&self, op: UnaryOperator, operand: &Expr) -> Option<Typed> {
        let symbol = match op {
            UnaryOperator::Not => {
                let (inner, _) = self.node(operand)?;
                return Some((Node::Not(Box::new(inner)), Type::Bool));
            }
            UnaryOperator::Minus => "-",
            UnaryOperator::Plus => "+",
            UnaryOperator::BitwiseNot => "~",
            _ => return None,
        };
        if symbol == "-"
            && let Expr::Value(value) = operand
            && let Value::Number(digits, false) = &value.value
        {
            let (_, ty) = self.value(&value.value)?;
            return Some((literal(&format!("-{digits}"), &ty), ty));
        }
        let (node, ty) = self.node(operand)?;
        if self.known.is_none() {
            return Some((Node::Operator(symbol.to_owned(), None, Box::new(node)), ty));
        }
        let found = resolve_operator(symbol, std::slice::from_ref(&ty)).ok()?;
        let node = self.coerced((node, ty), found.parameters.first()?)?;
        let node = Node::Operator(symbol.to_owned(), None, Box::new(node));
        Some((node, found.returns))
    }

    fn binary(&self, symbol: &str, left: Typed, right: Typed) -> Option<Typed> {
        let node =
            |left, right| Node::Operator(symbol.to_owned(), Some(Box::new(left)), Box::new(right));
        if self.known.is_none() {
            return Some((node(left.0, right.0), Type::Unknown));
        }
        let types = [left.1.base(), right.1.base()];
        let found = resolve_operator(symbol, &types).ok()?;
        if meet(&types[0], &types[1]) {
            return Some((node(left.0, right.0), found.returns));
        }
        let [to_left, to_right] = found.parameters.as_slice() else {
            return None;
        };
        let (left, right) = (self.coerced(left, to_left)?, self.coerced(right, to_right)?);
        Some((node(left, right), found.returns))
    }

    fn logic(&self, word: &'static str, left: &Expr, right: &Expr) -> Option<Typed> {
        let mut parts = Vec::new();
        for (at, side) in [left, right].into_iter().enumerate() {
            match (self.node(side)?.0, side) {
                // A chain is one list, but brackets that were written to the right keep theirs.
                (Node::Logic(known, more), _) if known == word && at == 0 => parts.extend(more),
                (other, _) => parts.push(other),
            }
        }
        Some((Node::Logic(word, parts), Type::Bool))
    }

    fn test(&self, inner: &Expr, what: &'static str) -> Option<Typed> {
        let typed = self.node(inner)?;
        let ty = text_or(&typed.1);
        let node = self.coerced(typed, &ty)?;
        Some((Node::Test(Box::new(node), what), Type::Bool))
    }

    fn distinct(&self, left: &Expr, right: &Expr) -> Option<Node> {
        let (both, _) = self.binary("=", self.node(left)?, self.node(right)?)?;
        match both {
            Node::Operator(_, Some(left), right) => Some(Node::Distinct(left, right)),
            _ => None,
        }
    }

    fn in_list(&self, value: &Expr, list: &[Expr], negated: bool) -> Option<Typed> {
        let (symbol, word) = if negated { ("<>", "ALL") } else { ("=", "ANY") };
        if let [only] = list {
            return self.binary(symbol, self.node(value)?, self.node(only)?);
        }
        let value = self.node(value)?;
        let list: Vec<Typed> = list
            .iter()
            .map(|one| self.node(one))
            .collect::<Option<_>>()?;
        let mut types: Vec<Type> = list.iter().map(|(_, ty)| ty.base()).collect();
        types.push(value.1.base());
        let common = common_type(&types)?;
        let list = list.into_iter().map(|one| self.coerced(one, &common));
        let array = Node::Array(list.collect::<Option<_>>()?);
        self.any_of(symbol, value, (array, common.array()), word)
    }

    fn any(
        &self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        word: &'static str,
    ) -> Option<Typed> {
        self.any_of(&symbol(op)?, self.node(left)?, self.node(right)?, word)
    }

    fn any_of(
        &self,
        symbol: &str,
        value: Typed,
        (array, ty): Typed,
        word: &'static str,
    ) -> Option<Typed> {
        let (value, array) = match &self.known {
            None => (value.0, array),
            Some(_) => {
                let types = [value.1.base(), ty.innermost().base()];
                let found = resolve_operator(symbol, &types).ok()?;
                let [to_left, to_right] = found.parameters.as_slice() else {
                    return None;
                };
                match meet(&types[0], &types[1]) {
                    true => (value.0, array),
                    false => (
                        self.coerced(value, to_left)?,
                        self.coerced((array, ty), &to_right.clone().array())?,
                    ),
                }
            }
        };
        let node = Node::Any(symbol.to_owned(), Box::new(value), Box::new(array), word);
        Some((node, Type::Bool))
    }

    fn call(&self, call: &Function) -> Option<Typed> {
        let plain = call.filter.is_none()
            && call.over.is_none()
            && call.within_group.is_empty()
            && call.null_treatment.is_none();
        if !plain {
            return None;
        }
        let (schema, name) = match call.name.0.as_slice() {
            [name] => (None, fold(name.as_ident()?)),
            [schema, name] => (Some(fold(schema.as_ident()?)), fold(name.as_ident()?)),
            _ => return None,
        };
        let list = match &call.args {
            FunctionArguments::None => {
                let ty = match name.as_str() {
                    "current_date" => Type::Date,
                    "current_timestamp" => Type::TimestampTz(None),
                    "localtimestamp" => Type::Timestamp(None),
                    "current_time" => Type::TimeTz(None),
                    "localtime" => Type::Time(None),
                    "current_user" | "session_user" | "current_role" | "user"
                    | "current_catalog" | "current_schema" => Type::Name,
                    _ => return None,
                };
                return Some((Node::Name(name.to_uppercase()), ty));
            }
            FunctionArguments::List(list)
                if list.clauses.is_empty() && list.duplicate_treatment.is_none() =>
            {
                list
            }
            _ => return None,
        };
        let arguments = list.args.iter().map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => self.node(argument),
            _ => None,
        });
        let arguments: Vec<Typed> = arguments.collect::<Option<_>>()?;
        if matches!(name.as_str(), "coalesce" | "greatest" | "least" | "nullif") && schema.is_none()
        {
            let (arguments, ty) = self.alike(arguments)?;
            return Some((Node::Call(name.to_uppercase(), arguments), ty));
        }
        let word = WORDS.contains(&name.as_str());
        let shown = if word {
            format!("\"{name}\"")
        } else {
            quoted(&name)
        };
        let shown = match schema.as_deref() {
            None | Some("pg_catalog") => shown,
            Some(schema) => format!("{}.{shown}", quoted(schema)),
        };
        let Some(known) = &self.known else {
            let arguments = arguments.into_iter().map(|(node, _)| node).collect();
            return Some((Node::Call(shown, arguments), Type::Unknown));
        };
        if matches!(name.as_str(), "nextval" | "currval") {
            let mut arguments = arguments.into_iter();
            let sequence = self.coerced(arguments.next()?, &Type::Reg(Reg::Class))?;
            return Some((Node::Call(shown, vec![sequence]), Type::Int8));
        }
        let mut overloads: Vec<Arc<Scalar>> = catalogue().functions(&name).to_vec();
        if overloads.is_empty() {
            overloads = known.names.functions(&name);
        }
        let types: Vec<Type> = arguments.iter().map(|(_, ty)| ty.base()).collect();
        let found = resolve_function(&overloads, &types).ok()?;
        let arguments = arguments.into_iter().zip(&found.parameters);
        let arguments = arguments.map(|(argument, to)| self.coerced(argument, to));
        let arguments = arguments.collect::<Option<_>>()?;
        Some((Node::Call(shown, arguments), found.returns))
    }
}

/// The symbol of an operator; `None` for one that has none of its own here.
fn symbol(op: &BinaryOperator) -> Option<String> {
    use BinaryOperator as O;
    Some(match op {
        O::NotEq => "<>".to_owned(),
        O::PGLikeMatch => "~~".to_owned(),
        O::PGILikeMatch => "~~*".to_owned(),
        O::PGNotLikeMatch => "!~~".to_owned(),
        O::PGNotILikeMatch => "!~~*".to_owned(),
        O::BitwiseXor | O::PGExp => "^".to_owned(),
        other => {
            let shown = other.to_string();
            let plain = shown.chars().all(|c| c.is_ascii_punctuation());
            plain.then_some(shown)?
        }
    })
}

impl Node {
    fn shown(&self, pretty: bool) -> String {
        let mut printer = Printer {
            text: String::new(),
            pretty,
        };
        printer.node(self, false);
        printer.text
    }

    /// Whether it needs no brackets in another part, of which it may be the left operand.
    fn is_simple(&self, parent: &Node, left: bool) -> bool {
        let listed = matches!(parent, Node::Call(..) | Node::Array(_) | Node::Case { .. });
        let of_logic = matches!(parent, Node::Logic(..) | Node::Not(_));
        match self {
            Node::Name(_)
            | Node::Literal(..)
            | Node::Call(..)
            | Node::Extract(..)
            | Node::Array(_)
            | Node::Cast { .. }
            | Node::Case { .. } => true,
            Node::Operator(symbol, ..) => match parent {
                Node::Operator(of, Some(_), _) => {
                    let product = |symbol: &str| matches!(symbol, "*" | "/" | "%");
                    let sum = |symbol: &str| matches!(symbol, "+" | "-");
                    match (symbol.as_str(), of.as_str()) {
                        (symbol, of) if product(symbol) && sum(of) => true,
                        (symbol, of) if product(symbol) && product(of) => left,
                        (symbol, of) if sum(symbol) && sum(of) => left,
                        _ => false,
                    }
                }
                _ => listed || of_logic,
            },
            Node::Test(..) | Node::Distinct(..) => listed || of_logic,
            Node::Logic("OR", _) => listed || matches!(parent, Node::Logic("OR", _)),
            Node::Logic(..) | Node::Not(_) => listed || matches!(parent, Node::Logic(..)),
            Node::Any(..) => false,
        }
    }
}

/// Writes an expression.
struct Printer {
    text: String,
    pretty: bool,
}

impl Printer {
    fn open(&mut self) {
        if !self.pretty {
            self.text.push('(');
        }
    }

    fn close(&mut self) {
        if !self.pretty {
            self.text.push(')');
        }
    }

    /// A part of another, in brackets if it needs them.
    fn inner(&mut self, node: &Node, parent: &Node, left: bool, implicit: bool) {
        let bare = !self.pretty || node.is_simple(parent, left);
        if !bare {
            self.text.push('(');
        }
        self.node(node, implicit);
        if !bare {
            self.text.push(')');
        }
    }

    fn list(&mut self, all: &[Node]) {
        for (at, one) in all.iter().enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            self.node(one, true);
        }
    }

    /// A part; casts that its context asks for are written only if that is not seen.
    fn node(&mut self, node: &Node, implicit: bool) {
        match node {
            Node::Name(name) => self.text.push_str(name),
            Node::Literal(text, label) => {
                self.text.push_str(text);
                if let Some(label) = label {
                    self.text.push_str("::");
                    self.text.push_str(label);
                }
            }
            Node::Cast {
                inner,
                implicit: true,
                ..
            } if !implicit => self.inner(inner, node, false, false),
            Node::Cast { inner, ty, .. } => {
                let empty = matches!(inner.as_ref(), Node::Array(elements) if elements.is_empty());
                if empty {
                    self.text.push_str(&format!("ARRAY[]::{ty}"));
                    return;
                }
                self.open();
                self.inner(inner, node, false, false);
                self.close();
                self.text.push_str("::");
                self.text.push_str(ty);
            }
            Node::Call(name, arguments) => {
                self.text.push_str(name);
                self.text.push('(');
                self.list(arguments);
                self.text.push(')');
            }
            Node::Extract(field, inner) => {
                self.text.push_str(&format!("EXTRACT({field} FROM "));
                self.node(inner, true);
                self.text.push(')');
            }
            Node::Operator(symbol, left, right) => {
                self.open();
                if let Some(left) = left {
                    self.inner(left, node, true, true);
                    self.text.push(' ');
                }
                self.text.push_str(symbol);
                self.text.push(' ');
                self.inner(right, node, false, true);
                self.close();
            }
            Node::Logic(word, parts) => {
                self.open();
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        self.text.push_str(&format!(" {word} "));
                    }
                    self.inner(part, node, at == 0, false);
                }
                self.close();
            }
            Node::Not(inner) => {
                self.open();
                self.text.push_str("NOT ");
                self.inner(inner, node, false, false);
                self.close();
            }
            Node::Test(inner, what) => {
                self.open();
                self.inner(inner, node, false, true);
                self.text.push(' ');
                self.text.push_str(what);
                self.close();
            }
            Node::Distinct(left, right) => {
                self.open();
                self.inner(left, node, true, true);
                self.text.push_str(" IS DISTINCT FROM ");
                self.inner(right, node, false, true);
                self.close();
            }
            Node::Any(symbol, value, array, word) => {
                self.open();
                self.inner(value, node, true, true);
                self.text.push_str(&format!(" {symbol} {word} ("));
                self.inner(array, node, false, true);
                self.text.push(')');
                self.close();
            }
            Node::Array(elements) => {
                self.text.push_str("ARRAY[");
                self.list(elements);
                self.text.push(']');
            }
            Node::Case {
                operand,
                branches,
                otherwise,
            } => {
                self.text.push_str("\nCASE");
                if let Some(operand) = operand {
                    self.text.push(' ');
                    self.node(operand, true);
                }
                for (condition, value) in branches {
                    self.text.push_str("\n    WHEN ");
                    self.node(condition, false);
                    self.text.push_str(" THEN ");
                    self.node(value, true);
                }
                if let Some(otherwise) = otherwise {
                    self.text.push_str("\n    ELSE ");
                    self.node(otherwise, true);
                }
                self.text.push_str("\nEND");
            }
        }
    }
}
