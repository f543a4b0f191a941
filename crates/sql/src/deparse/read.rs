//! Expressions with their types, as their operators and functions are resolved.

use std::cell::RefCell;
use std::sync::Arc;

use freestone_frontend::bind::{Binder, Catalog as _, written_type};
use freestone_frontend::functions::{
    Overload, Resolved, Scalar, catalogue, common_type, resolve_function, resolve_operator,
};
use freestone_frontend::stack;
use freestone_frontend::types::{Category, Reg, Type};
use sqlparser::ast::{
    Array, BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, TypedString, UnaryOperator, Value,
};

use super::forms::{is_row, row_parts};
use super::print::{in_quotes, quoted};
use super::scope::Scopes;
use super::tree::{Call, Node, Piece};
use crate::front::{Names, Nothing, parse_expr, session_of};
use crate::names::fold;
use crate::relations::Relations;

/// A part and its type; a literal in quotes has none yet.
pub(super) type Typed = (Node, Type);

/// The names that an expression may read.
pub(super) struct Known<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) relations: &'a Relations<'a>,
    /// Columns of the only relation of an expression that stands alone.
    pub(super) columns: &'a [(String, Type)],
}

/// Reads an expression; without names it reads what is printed already, in which every cast is
/// written.
pub(super) struct Reader<'a> {
    pub(super) known: Option<Known<'a>>,
    /// Relations of the queries around, and all that were read.
    pub(super) scopes: RefCell<Scopes>,
}

pub(super) fn text_or(ty: &Type) -> Type {
    match ty {
        Type::Unknown => Type::Text,
        known => known.base(),
    }
}

/// Whether PostgreSQL has an operator between values of two types.
pub(super) fn meet(symbol: &str, a: &Type, b: &Type) -> bool {
    let both = |all: &[Type]| all.contains(a) && all.contains(b);
    let compares = matches!(symbol, "=" | "<>" | "<" | "<=" | ">" | ">=");
    let counts = matches!(symbol, "+" | "-" | "*" | "/");
    let matches = matches!(
        symbol,
        "~" | "!~" | "~*" | "!~*" | "~~" | "!~~" | "~~*" | "!~~*"
    );
    (compares || counts)
        && (both(&[Type::Int2, Type::Int4, Type::Int8]) || both(&[Type::Float4, Type::Float8]))
        || compares
            && (both(&[Type::Name, Type::Text])
                || both(&[Type::Date, Type::Timestamp(None), Type::TimestampTz(None)]))
        || matches && matches!((a, b), (Type::Name, Type::Text))
}

/// A literal of a type.
pub(super) fn literal(text: &str, ty: &Type) -> Node {
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
    pub(super) fn node(&self, expr: &Expr) -> Option<Typed> {
        stack::step(|| Ok(self.node_here(expr))).ok()?
    }

    fn node_here(&self, expr: &Expr) -> Option<Typed> {
        let truth = |node| Some((node, Type::Bool));
        match expr {
            Expr::Nested(inner) => self.node(inner),
            Expr::Identifier(ident) => match self.is_query() {
                true => self.named_column(ident),
                false => self.column(&fold(ident)),
            },
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
                BinaryOperator::Overlaps => self.overlaps(left, right),
                op => {
                    if let Some(found) = self.rows(left, &symbol(op)?, right) {
                        return found;
                    }
                    if let Some(found) = self.quantified(left, &symbol(op)?, right) {
                        return found;
                    }
                    self.binary(&symbol(op)?, self.node(left)?, self.node(right)?)
                }
            },
            Expr::IsNull(inner) => self.test(inner, "IS NULL"),
            Expr::IsNotNull(inner) => self.test(inner, "IS NOT NULL"),
            Expr::IsTrue(inner) => self.truth(inner, "IS TRUE"),
            Expr::IsNotTrue(inner) => self.truth(inner, "IS NOT TRUE"),
            Expr::IsFalse(inner) => self.truth(inner, "IS FALSE"),
            Expr::IsNotFalse(inner) => self.truth(inner, "IS NOT FALSE"),
            Expr::IsUnknown(inner) => self.truth(inner, "IS UNKNOWN"),
            Expr::IsNotUnknown(inner) => self.truth(inner, "IS NOT UNKNOWN"),
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
                if super::forms::is_symmetric(low) {
                    return self.symmetric(expr, low, high, *negated);
                }
                let value = self.node(expr)?;
                let (low, _) = self.binary(least, value.clone(), self.node(low)?)?;
                let (high, _) = self.binary(most, value, self.node(high)?)?;
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
                escape_char,
            } => {
                let symbol = if *negated { "!~~" } else { "~~" };
                let pattern = self.escaped(pattern, escape_char.as_ref(), "like_escape")?;
                self.binary(symbol, self.node(expr)?, pattern)
            }
            Expr::ILike {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            } => {
                let symbol = if *negated { "!~~*" } else { "~~*" };
                let pattern = self.escaped(pattern, escape_char.as_ref(), "like_escape")?;
                self.binary(symbol, self.node(expr)?, pattern)
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
                let (inner, from) = self.node(expr)?;
                // A date is no timestamp here.
                let inner = match from {
                    Type::Unknown => return None,
                    _ => inner,
                };
                let field = field.to_string().trim_matches('\'').to_lowercase();
                let pieces = vec![
                    Piece::Words(format!("EXTRACT({field} FROM ")),
                    Piece::Alone(inner),
                    Piece::Words(")".to_owned()),
                ];
                Some((Node::Syntax(pieces), Type::Numeric(None)))
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
                let otherwise = else_result.as_ref().map(|value| self.node(value));
                let nothing = (Node::Literal("NULL".to_owned(), None), Type::Unknown);
                // The last value has the first word on the type.
                match (otherwise, self.known.is_some()) {
                    (Some(value), _) => values.insert(0, value?),
                    (None, true) => values.insert(0, nothing),
                    (None, false) => {}
                }
                let has_else = values.len() > whens.len();
                let (mut values, ty) = self.alike(values)?;
                let otherwise = has_else.then(|| values.remove(0));
                let node = Node::Case {
                    operand: operand.map(|(operand, _)| Box::new(operand)),
                    branches: whens.into_iter().zip(values).collect(),
                    otherwise: otherwise.map(Box::new),
                };
                Some((node, ty))
            }
            _ => self.form(expr),
        }
    }

    /// Whether columns are those of a query's relations.
    pub(super) fn is_query(&self) -> bool {
        !self.scopes.borrow().open.is_empty()
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
                let normal = match (digits.parse::<i64>(), &self.known) {
                    (Ok(number), _) => Some(number.to_string()),
                    (Err(_), Some(_)) => self.normal(digits, &ty),
                    (Err(_), None) => None,
                };
                (literal(normal.as_deref().unwrap_or(digits), &ty), ty)
            }
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => {
                (Node::Untyped(text.clone()), Type::Unknown)
            }
            Value::Boolean(truth) => (literal(&truth.to_string(), &Type::Bool), Type::Bool),
            Value::Null => (Node::Literal("NULL".to_owned(), None), Type::Unknown),
            Value::Placeholder(number) => return self.parameter(number),
            _ => return None,
        })
    }

    /// A literal in quotes as a value of a type, as its type writes it.
    fn normal(&self, text: &str, to: &Type) -> Option<String> {
        let known = self.known.as_ref()?;
        if matches!(to, Type::Text | Type::Varchar(_) | Type::Char(_)) {
            return Some(text.to_owned());
        }
        // A length is no part of the type that a literal is read by.
        let plain = |ty: &Type| match ty {
            Type::Varchar(_) | Type::Char(_) => Type::Text,
            other => other.clone(),
        };
        let to = &match to {
            Type::Array(element) => plain(element).array(),
            other => other.clone(),
        };
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
    pub(super) fn coerced(&self, (node, from): Typed, to: &Type) -> Option<Node> {
        let to = to.base();
        if self.known.is_none() || from.base() == to || to.is_pseudo() && from != Type::Unknown {
            return Some(node);
        }
        match (&node, &to) {
            (Node::Untyped(_), Type::Any) => return Some(node),
            (Node::Literal(text, None), Type::Any) if text == "NULL" => {
                return Some(Node::Literal(text.clone(), Some(from.to_string())));
            }
            _ => {}
        }
        let to = if to.is_pseudo() { Type::Text } else { to };
        match (node, from) {
            (Node::Literal(text, None), Type::Unknown) if text == "NULL" => {
                Some(Node::Literal(text, Some(to.to_string())))
            }
            (Node::Untyped(text), Type::Unknown) => {
                let normal = self.normal(&text, &to).unwrap_or(text);
                Some(literal(&normal, &to))
            }
            (_, Type::Unknown) => None,
            (node, from) => Some(Node::Cast {
                inner: Box::new(node),
                relabels: relabels(&from, &to),
                ty: to.to_string(),
                implicit: true,
                bare: false,
            }),
        }
    }

    /// The arguments of a call as its function takes them. A literal that may be of any type
    /// stays without one.
    pub(super) fn arguments<F: Overload>(
        &self,
        all: Vec<Typed>,
        found: &Resolved<F>,
    ) -> Option<Vec<Node>> {
        let declared = found.function.parameters();
        let all = all.into_iter().enumerate().zip(&found.parameters);
        let all = all.map(|((at, one), to)| {
            let declared = declared.get(at).or(found.function.variadic());
            match declared {
                Some(Type::Any) if one.1 == Type::Unknown => self.coerced(one, &Type::Any),
                _ => self.coerced(one, to),
            }
        });
        all.collect()
    }

    /// Parts as values of the type that they have in common.
    pub(super) fn alike(&self, all: Vec<Typed>) -> Option<(Vec<Node>, Type)> {
        let types: Vec<Type> = all.iter().map(|(_, ty)| ty.base()).collect();
        let common = common_type(&types)?;
        let all = all.into_iter().map(|one| self.coerced(one, &common));
        Some((all.collect::<Option<_>>()?, common))
    }

    fn cast(&self, inner: &Expr, data_type: &DataType) -> Option<Typed> {
        if let (
            DataType::Interval {
                fields: Some(_), ..
            },
            Some(_),
        ) = (data_type, &self.known)
        {
            return self.interval_of(inner, data_type);
        }
        let ty = match &self.known {
            Some(known) => written_type(data_type, known.names).ok()?,
            None => match written_type(data_type, &Nothing) {
                Ok(ty) => ty,
                Err(_) => {
                    let shown = data_type.to_string();
                    return Some((self.labelled(self.node(inner)?, shown, None), Type::Unknown));
                }
            },
        };
        // A cast of an array that is written out is one of its elements.
        if let (Expr::Array(array), Type::Array(_), Some(_)) = (written(inner), &ty, &self.known) {
            let node = match array.elem.is_empty() {
                true => Node::Cast {
                    inner: Box::new(Node::Array(Vec::new())),
                    ty: ty.to_string(),
                    implicit: false,
                    relabels: true,
                    bare: false,
                },
                false => self.array_of(array, &ty)?,
            };
            return Some((node, ty));
        }
        let (node, from) = self.node(inner)?;
        if let Node::Untyped(text) = &node
            && self.known.is_some()
        {
            let base = ty.base();
            let normal = self.normal(text, &base).unwrap_or_else(|| text.clone());
            let node = literal(&normal, &base);
            return Some(match ty == base {
                true => (node, ty),
                false => (modified(node, &ty.to_string()), ty),
            });
        }
        if from == ty {
            return Some((node, ty));
        }
        if let (Node::Literal(text, label), Some(_)) = (&node, &self.known) {
            let is_null = from == Type::Unknown && text == "NULL";
            if is_null {
                let node = Node::Literal(text.clone(), Some(ty.base().to_string()));
                return Some(match ty == ty.base() {
                    true => (node, ty),
                    false => (modified(node, &ty.to_string()), ty),
                });
            }
            let unmodified = label
                .as_ref()
                .is_none_or(|label| *label == from.base().to_string());
            if unmodified && from.base() == ty.base() {
                return Some((modified(node, &ty.to_string()), ty));
            }
        }
        let label = ty.to_string();
        Some((self.labelled((node, from), label, Some(&ty)), ty))
    }

    /// The elements of an array, some of which may be arrays, as values of a type.
    fn array_of(&self, array: &Array, ty: &Type) -> Option<Node> {
        let Type::Array(element) = ty else {
            return None;
        };
        let all = array.elem.iter().map(|one| match written(one) {
            Expr::Array(inner) if !inner.elem.is_empty() => self.array_of(inner, ty),
            other => {
                let (node, from) = self.node(other)?;
                match from {
                    Type::Array(_) => self.coerced((node, from), ty),
                    _ => self.coerced((node, from), element),
                }
            }
        });
        Some(Node::Array(all.collect::<Option<_>>()?))
    }

    fn labelled(&self, (node, from): Typed, ty: String, to: Option<&Type>) -> Node {
        match node {
            Node::Untyped(text) => Node::Literal(in_quotes(&text), Some(ty)),
            Node::Literal(text, None) if text.starts_with('\'') || text == "NULL" => {
                Node::Literal(text, Some(ty))
            }
            node => Node::Cast {
                inner: Box::new(node),
                ty,
                implicit: false,
                relabels: to.is_some_and(|to| relabels(&from, to)),
                bare: false,
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
            UnaryOperator::PGAbs => "@",
            UnaryOperator::PGSquareRoot => "|/",
            UnaryOperator::PGCubeRoot => "||/",
            _ => return None,
        };
        if symbol == "-"
            && let Some((digits, signs)) = negated(operand)
        {
            let digits = match signs % 2 {
                0 => format!("-{digits}"),
                _ => digits.to_owned(),
            };
            return self.value(&Value::Number(digits, false));
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

    pub(super) fn binary(&self, symbol: &str, left: Typed, right: Typed) -> Option<Typed> {
        let node =
            |left, right| Node::Operator(symbol.to_owned(), Some(Box::new(left)), Box::new(right));
        if self.known.is_none() {
            return Some((node(left.0, right.0), Type::Unknown));
        }
        let types = [left.1.base(), right.1.base()];
        let found = resolve_operator(symbol, &types).ok()?;
        if meet(symbol, &types[0], &types[1]) {
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
            let (node, ty) = self.node(side)?;
            let node = self.coerced((node, ty), &Type::Bool)?;
            match (node, side) {
                // A chain is one list, but brackets that were written to the right keep theirs.
                (Node::Logic(known, more), side)
                    if known == word && at == 0 && is_chain(side, word) =>
                {
                    parts.extend(more);
                }
                (other, _) => parts.push(other),
            }
        }
        Some((Node::Logic(word, parts), Type::Bool))
    }

    fn test(&self, inner: &Expr, what: &'static str) -> Option<Typed> {
        let typed = self.node(inner)?;
        let ty = text_or(&typed.1);
        let node = self.coerced(typed, &ty)?;
        Some((Node::Test(Box::new(node), what, true), Type::Bool))
    }

    fn truth(&self, inner: &Expr, what: &'static str) -> Option<Typed> {
        let inner = self.node(inner)?;
        let node = self.coerced(inner, &Type::Bool)?;
        Some((Node::Test(Box::new(node), what, false), Type::Bool))
    }

    fn distinct(&self, left: &Expr, right: &Expr) -> Option<Node> {
        if let (Some(_), Some(left), Some(right)) = (&self.known, row_parts(left), row_parts(right))
        {
            let pairs = left.into_iter().zip(right);
            let pairs = pairs.map(|(left, right)| self.distinct(left, right));
            return Some(Node::Logic("OR", pairs.collect::<Option<_>>()?));
        }
        let (both, _) = self.binary("=", self.node(left)?, self.node(right)?)?;
        match both {
            Node::Operator(_, Some(left), right) => Some(Node::Distinct(left, right)),
            _ => None,
        }
    }

    fn in_list(&self, value: &Expr, list: &[Expr], negated: bool) -> Option<Typed> {
        let (symbol, word, logic) = match negated {
            true => ("<>", "ALL", "AND"),
            false => ("=", "ANY", "OR"),
        };
        if let [only] = list {
            if let Some(found) = self.rows(value, symbol, only) {
                return found;
            }
            return self.binary(symbol, self.node(value)?, self.node(only)?);
        }
        let Some(_) = &self.known else {
            let all = list.iter().map(|one| Some(self.node(one)?.0));
            let array = Node::Array(all.collect::<Option<_>>()?);
            return self.any_of(symbol, self.node(value)?, (array, Type::Unknown), word);
        };
        // Values that read no column of the query become an array, if their type has arrays.
        let row = is_row(value);
        let (mut all, mut rest): (Option<Node>, Vec<&Expr>) = (None, list.iter().collect());
        if !row {
            let left = self.node(value)?;
            let (mut fixed, mut others) = (Vec::new(), Vec::new());
            for one in list {
                let before = self.scopes.borrow().reads.len();
                let node = self.node(one)?;
                match self.reads_own(before) {
                    true => others.push(node),
                    false => fixed.push(node),
                }
            }
            let types = std::iter::once(&left).chain(&fixed);
            let types: Vec<Type> = types.map(|(_, ty)| ty.base()).collect();
            let common = common_type(&types);
            let common = common.filter(|ty| !matches!(ty, Type::Array(_) | Type::Record(_)));
            match common.filter(|_| fixed.len() > 1) {
                Some(common) => {
                    let list = fixed.into_iter().map(|one| self.coerced(one, &common));
                    let array = Node::Array(list.collect::<Option<_>>()?);
                    let any = self.any_of(symbol, left.clone(), (array, common.array()), word)?;
                    all = Some(any.0);
                    rest.clear();
                    for other in others {
                        let next = self.binary(symbol, left.clone(), other)?.0;
                        all = all.map(|before| Node::Logic(logic, vec![before, next]));
                    }
                }
                None if common_type(&types).is_none() && list.len() > 1 => return None,
                None => {}
            }
        }
        for one in rest {
            let next = match self.rows(value, symbol, one) {
                Some(both) if row => both?.0,
                _ => self.binary(symbol, self.node(value)?, self.node(one)?)?.0,
            };
            all = Some(match all {
                Some(before) => Node::Logic(logic, vec![before, next]),
                None => next,
            });
        }
        Some((all?, Type::Bool))
    }

    fn any(
        &self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        word: &'static str,
    ) -> Option<Typed> {
        let symbol = symbol(op)?;
        if let Expr::Subquery(query) = right {
            return self.compared(left, &symbol, query, word);
        }
        self.any_of(&symbol, self.node(left)?, self.node(right)?, word)
    }

    pub(super) fn any_of(
        &self,
        symbol: &str,
        value: Typed,
        (array, ty): Typed,
        word: &'static str,
    ) -> Option<Typed> {
        let written = ty.to_string();
        let (value, array) = match &self.known {
            None => (value.0, array),
            Some(_) => {
                let types = [value.1.base(), ty.innermost().base()];
                let found = resolve_operator(symbol, &types).ok()?;
                let [to_left, to_right] = found.parameters.as_slice() else {
                    return None;
                };
                match meet(symbol, &types[0], &types[1]) {
                    true => (value.0, array),
                    false => (
                        self.coerced(value, to_left)?,
                        self.coerced((array, ty), &to_right.clone().array())?,
                    ),
                }
            }
        };
        let node = Node::Any {
            symbol: symbol.to_owned(),
            value: Box::new(value),
            array: Box::new(array),
            word,
            ty: written,
        };
        Some((node, Type::Bool))
    }

    pub(super) fn call(&self, call: &Function) -> Option<Typed> {
        let plain = call.filter.is_none()
            && call.over.is_none()
            && call.within_group.is_empty()
            && call.null_treatment.is_none();
        if self.known.is_some() && (!plain || self.is_query()) {
            return self.any_call(call);
        }
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
            return Some((plain_call(name.to_uppercase(), arguments), ty));
        }
        let shown = function_name(&name);
        let shown = match schema.as_deref() {
            None | Some("pg_catalog") => shown,
            Some(schema) => format!("{}.{shown}", quoted(schema)),
        };
        let Some(known) = &self.known else {
            let arguments = arguments.into_iter().map(|(node, _)| node).collect();
            return Some((plain_call(shown, arguments), Type::Unknown));
        };
        if matches!(name.as_str(), "nextval" | "currval") {
            let mut arguments = arguments.into_iter();
            let sequence = self.coerced(arguments.next()?, &Type::Reg(Reg::Class))?;
            return Some((plain_call(shown, vec![sequence]), Type::Int8));
        }
        let mut overloads: Vec<Arc<Scalar>> = catalogue().functions(&name).to_vec();
        if overloads.is_empty() {
            overloads = known.names.functions(&name);
        }
        let types: Vec<Type> = arguments.iter().map(|(_, ty)| ty.base()).collect();
        let found = resolve_function(&overloads, &types).ok()?;
        let arguments = self.arguments(arguments, &found)?;
        Some((plain_call(shown, arguments), found.returns))
    }
}

/// Whether an operand is itself written with AND or OR.
fn is_chain(side: &Expr, word: &str) -> bool {
    match side {
        Expr::Nested(inner) => is_chain(inner, word),
        Expr::BinaryOp { op, .. } => match op {
            BinaryOperator::And => word == "AND",
            BinaryOperator::Or => word == "OR",
            _ => false,
        },
        _ => false,
    }
}

/// The digits of a number and the number of signs before it.
fn negated(operand: &Expr) -> Option<(&str, usize)> {
    match operand {
        Expr::Nested(inner) => negated(inner),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => negated(expr).map(|(digits, signs)| (digits, signs + 1)),
        Expr::Value(value) => match &value.value {
            Value::Number(digits, false) => Some((digits, 0)),
            _ => None,
        },
        _ => None,
    }
}

/// A literal of a type with modifiers.
pub(super) fn modified(node: Node, ty: &str) -> Node {
    Node::Cast {
        inner: Box::new(node),
        ty: ty.to_owned(),
        implicit: false,
        relabels: false,
        bare: true,
    }
}

/// An expression without the brackets around it.
fn written(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => written(inner),
        other => other,
    }
}

/// A call with nothing but arguments.
pub(super) fn plain_call(name: String, arguments: Vec<Node>) -> Node {
    let call = Call {
        name,
        arguments,
        ..Call::default()
    };
    Node::Call(Box::new(call))
}

/// The name of a function as it is written.
pub(super) fn function_name(name: &str) -> String {
    quoted(name)
}

/// Whether a cast calls no function: one between texts, or by way of one.
fn relabels(from: &Type, to: &Type) -> bool {
    let (from, to) = (from.base(), to.base());
    let is_text = |ty: &Type| {
        matches!(
            ty,
            Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name
        )
    };
    match (is_text(&from), is_text(&to)) {
        (true, true) => !matches!(
            (&from, &to),
            (Type::Name | Type::Char(_), _) | (_, Type::Name | Type::Char(_))
        ),
        (false, false) => matches!(from.category(), Category::Array),
        (true, false) => to != Type::Bool || from != Type::Text,
        (false, true) => from != Type::Bool,
    }
}

/// The symbol of an operator; `None` for one that has none of its own here.
pub(super) fn symbol(op: &BinaryOperator) -> Option<String> {
    use BinaryOperator as O;
    Some(match op {
        O::NotEq => "<>".to_owned(),
        O::PGLikeMatch => "~~".to_owned(),
        O::PGILikeMatch => "~~*".to_owned(),
        O::PGNotLikeMatch => "!~~".to_owned(),
        O::PGNotILikeMatch => "!~~*".to_owned(),
        O::BitwiseXor | O::PGExp => "^".to_owned(),
        // OPERATOR (pg_catalog.+) is one of the language's.
        O::PGCustomBinaryOperator(parts) => match parts.as_slice() {
            [symbol] => symbol.clone(),
            [schema, symbol] if schema == "pg_catalog" => match symbol.as_str() {
                "!=" => "<>".to_owned(),
                symbol => symbol.to_owned(),
            },
            _ => return None,
        },
        other => {
            let shown = other.to_string();
            let plain = shown.chars().all(|c| c.is_ascii_punctuation());
            plain.then_some(shown)?
        }
    })
}
