//! Expressions of queries, and rare ones.

use freestone_frontend::bind::Binder;
use freestone_frontend::functions::records::row_type;
use freestone_frontend::functions::{catalogue, common_type, resolve_function, resolve_operator};
use freestone_frontend::syntax::marks::{ALL, ANY, SYMMETRIC, WHOLE_ROW, marked, marked_call};
use freestone_frontend::types::Type;
use sqlparser::ast::{
    AccessExpr, CeilFloorKind, DataType, DateTimeField, Expr, FunctionArguments, Ident, Interval,
    Query as Written, Subscript, Value, ValueWithSpan,
};
use std::sync::Arc;

use super::print::{in_quotes, quoted};
use super::read::{Reader, Typed, modified, plain_call, text_or};
use super::tree::{Bounds, Node, Piece, Sub, SubKind};
use crate::front::{parse_expr, session_of};
use crate::names::fold;

/// Whether the lower bound of BETWEEN says that the bounds may change places.
pub(super) fn is_symmetric(low: &Expr) -> bool {
    marked_call(low, SYMMETRIC).is_some()
}

fn words(text: &str) -> Piece {
    Piece::Words(text.to_owned())
}

/// The values of a row that is written out.
pub(super) fn row_parts(expr: &Expr) -> Option<Vec<&Expr>> {
    match expr {
        Expr::Tuple(parts) => Some(parts.iter().collect()),
        Expr::Nested(inner) => row_parts(inner),
        Expr::Function(call) => {
            let [name] = call.name.0.as_slice() else {
                return None;
            };
            let FunctionArguments::List(list) = &call.args else {
                return None;
            };
            if fold(name.as_ident()?) != "row" {
                return None;
            }
            let parts = list.args.iter().map(super::calls::positional);
            parts.collect()
        }
        _ => None,
    }
}

/// Whether an expression is a row that is written out.
pub(super) fn is_row(expr: &Expr) -> bool {
    row_parts(expr).is_some()
}

/// The only column of a query.
fn only(columns: &[(String, Type)]) -> Option<Type> {
    match columns {
        [(_, ty)] => Some(ty.clone()),
        _ => None,
    }
}

impl Reader<'_> {
    /// Forms that are rare or that only queries have.
    pub(super) fn form(&self, expr: &Expr) -> Option<Typed> {
        let truth = |node, negated: bool| {
            let node = match negated {
                true => Node::Not(Box::new(node)),
                false => node,
            };
            Some((node, Type::Bool))
        };
        self.known.as_ref()?;
        match expr {
            Expr::CompoundIdentifier(parts) => self.compound(parts),
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            Expr::Exists { subquery, negated } => {
                let query = self.sub_query(subquery)?;
                truth(sub(SubKind::Exists, query), *negated)
            }
            Expr::Subquery(query) => {
                let query = self.sub_query(query)?;
                let ty = only(&query.columns)?;
                Some((sub(SubKind::Value, query), ty))
            }
            Expr::InSubquery {
                expr,
                subquery,
                negated,
            } => {
                let (node, _) = self.compared(expr, "=", subquery, "ANY")?;
                truth(node, *negated)
            }
            Expr::Tuple(parts) => self.row(parts.iter().collect()),
            Expr::Interval(interval) => self.interval(expr, interval),
            Expr::AtTimeZone {
                timestamp,
                time_zone,
            } => {
                let (zone, value) = (self.node(time_zone)?, self.node(timestamp)?);
                let types = [zone.1.base(), value.1.base()];
                let found = resolve_function(catalogue().functions("timezone"), &types).ok()?;
                let [to_zone, to_value] = found.parameters.as_slice() else {
                    return None;
                };
                let pieces = vec![
                    words("("),
                    Piece::Operand(self.coerced(value, to_value)?),
                    words(" AT TIME ZONE "),
                    Piece::Operand(self.coerced(zone, to_zone)?),
                    words(")"),
                ];
                Some((Node::Syntax(pieces), found.returns))
            }
            Expr::Collate { expr, collation } => {
                let typed = self.node(expr)?;
                let ty = text_or(&typed.1);
                let node = self.coerced(typed, &ty)?;
                let [.., name] = collation.0.as_slice() else {
                    return None;
                };
                let name = quoted(&fold(name.as_ident()?));
                Some((Node::Collate(Box::new(node), name), ty))
            }
            Expr::IsNormalized {
                expr,
                form,
                negated,
            } => {
                let typed = self.node(expr)?;
                let node = self.coerced(typed, &Type::Text)?;
                let form = form.map_or_else(String::new, |form| format!(" {form}"));
                let pieces = vec![
                    words("("),
                    Piece::Operand(node),
                    Piece::Words(format!(" IS{form} NORMALIZED)")),
                ];
                truth(Node::Syntax(pieces), *negated)
            }
            Expr::SimilarTo {
                negated,
                expr,
                pattern,
                escape_char,
            } => {
                let typed = self.node(pattern)?;
                let mut arguments = vec![self.coerced(typed, &Type::Text)?];
                if let Some(escape) = escape_char {
                    let typed = self.node(&Expr::Value(escape.clone()))?;
                    arguments.push(self.coerced(typed, &Type::Text)?);
                }
                let pattern = plain_call("similar_to_escape".to_owned(), arguments);
                let symbol = if *negated { "!~" } else { "~" };
                self.binary(symbol, self.node(expr)?, (pattern, Type::Text))
            }
            Expr::Ceil {
                expr,
                field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime),
            } => self.known_call("ceil", vec![self.node(expr)?]),
            Expr::Floor {
                expr,
                field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime),
            } => self.known_call("floor", vec![self.node(expr)?]),
            _ => None,
        }
    }

    /// A call of one of the language's functions by a syntax of its own.
    pub(super) fn known_call(&self, name: &str, arguments: Vec<Typed>) -> Option<Typed> {
        let types: Vec<Type> = arguments.iter().map(|(_, ty)| ty.base()).collect();
        let found = resolve_function(catalogue().functions(name), &types).ok()?;
        let arguments = self.arguments(arguments, &found)?;
        Some((plain_call(name.to_owned(), arguments), found.returns))
    }

    fn compound(&self, parts: &[Ident]) -> Option<Typed> {
        let schema = |ident: &Ident| match fold(ident).as_str() {
            "public" => "main".to_owned(),
            other => other.to_owned(),
        };
        match parts {
            [relation, last] if marked(last, WHOLE_ROW).is_some() => {
                self.whole_row(None, &fold(relation))
            }
            [of, relation, last] if marked(last, WHOLE_ROW).is_some() => {
                self.whole_row(Some(&schema(of)), &fold(relation))
            }
            [relation, column] => self.qualified(None, &fold(relation), &fold(column)),
            [of, relation, column] => {
                self.qualified(Some(&schema(of)), &fold(relation), &fold(column))
            }
            _ => None,
        }
    }

    fn access(&self, root: &Expr, chain: &[AccessExpr]) -> Option<Typed> {
        let (mut node, mut ty) = self.node(root)?;
        let mut rest = chain;
        while let Some(first) = rest.first() {
            if let AccessExpr::Dot(Expr::Identifier(field)) = first {
                let name = fold(field);
                // A field of the row of a relation is its column.
                if let Node::Column {
                    range,
                    column: None,
                    ..
                } = &node
                {
                    (node, ty) = self.field_of(*range, &ty, &name)?;
                    rest = &rest[1..];
                    continue;
                }
                let Type::Record(fields) = &ty else {
                    return None;
                };
                let (_, found) = fields.iter().find(|(known, _)| *known == name)?;
                let found = found.clone();
                (node, ty) = (Node::Field(Box::new(node), name), found);
                rest = &rest[1..];
                continue;
            }
            let count = rest
                .iter()
                .take_while(|one| matches!(one, AccessExpr::Subscript(_)))
                .count();
            if count == 0 {
                return None;
            }
            let (subscripts, behind) = rest.split_at(count);
            (node, ty) = self.subscripts(node, &ty, subscripts)?;
            rest = behind;
        }
        Some((node, ty))
    }

    /// The column of a relation that is a field of its row.
    fn field_of(&self, range: usize, row: &Type, name: &str) -> Option<Typed> {
        let Type::Record(fields) = row else {
            return None;
        };
        let at = fields.iter().position(|(known, _)| known == name)?;
        let node = Node::Column {
            range,
            column: Some(at),
            row: String::new(),
        };
        Some((node, fields.get(at)?.1.clone()))
    }

    fn subscripts(&self, node: Node, ty: &Type, all: &[AccessExpr]) -> Option<Typed> {
        if *ty == Type::Jsonb {
            let bounds = all.iter().map(|one| match one {
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    let (node, ty) = self.node(index)?;
                    let to = match ty {
                        Type::Int2 | Type::Int4 | Type::Int8 => Type::Int4,
                        _ => Type::Text,
                    };
                    Some(Bounds::Element(self.coerced((node, ty), &to)?))
                }
                _ => None,
            });
            let bounds = bounds.collect::<Option<_>>()?;
            return Some((Node::Subscript(Box::new(node), bounds), Type::Jsonb));
        }
        let Type::Array(element) = ty else {
            return None;
        };
        let index = |expr: &Expr| self.coerced(self.node(expr)?, &Type::Int4);
        let slices = all
            .iter()
            .any(|one| matches!(one, AccessExpr::Subscript(Subscript::Slice { .. })));
        let mut bounds = Vec::with_capacity(all.len());
        for one in all {
            bounds.push(match one {
                AccessExpr::Subscript(Subscript::Index { index: at }) if slices => {
                    let first = Node::Literal("1".to_owned(), None);
                    Bounds::Slice(Some(first), Some(index(at)?))
                }
                AccessExpr::Subscript(Subscript::Index { index: at }) => {
                    Bounds::Element(index(at)?)
                }
                AccessExpr::Subscript(Subscript::Slice {
                    lower_bound,
                    upper_bound,
                    stride: None,
                }) => {
                    let bound = |bound: &Option<Expr>| match bound {
                        Some(bound) => index(bound).map(Some),
                        None => Some(None),
                    };
                    Bounds::Slice(bound(lower_bound)?, bound(upper_bound)?)
                }
                _ => return None,
            });
        }
        let ty = if slices {
            ty.clone()
        } else {
            (**element).clone()
        };
        Some((Node::Subscript(Box::new(node), bounds), ty))
    }

    /// A row that is written out.
    pub(super) fn row(&self, parts: Vec<&Expr>) -> Option<Typed> {
        let parts = parts.into_iter().map(|part| {
            let (node, ty) = self.node(part)?;
            let to = text_or(&ty);
            let ty = if ty == Type::Unknown { to.clone() } else { ty };
            Some((self.coerced((node, ty.clone()), &to).filter(|_| true)?, ty))
        });
        let parts: Vec<Typed> = parts.collect::<Option<_>>()?;
        let types: Vec<Type> = parts.iter().map(|(_, ty)| ty.clone()).collect();
        let nodes = parts.into_iter().map(|(node, _)| node).collect();
        Some((Node::Row(nodes), row_type(&types)))
    }

    /// A comparison of two rows that are written out; `None` for other operands.
    pub(super) fn rows(&self, left: &Expr, symbol: &str, right: &Expr) -> Option<Option<Typed>> {
        self.known.as_ref()?;
        let left_parts = row_parts(left)?;
        if let Expr::Subquery(query) = right {
            return Some(self.compared(left, symbol, query, ""));
        }
        let right_parts = row_parts(right)?;
        Some(self.compared_rows(left_parts, symbol, right_parts))
    }

    fn compared_rows(&self, left: Vec<&Expr>, symbol: &str, right: Vec<&Expr>) -> Option<Typed> {
        if left.len() != right.len() || left.len() < 2 {
            return None;
        }
        let pairs = left.into_iter().zip(right).map(|(left, right)| {
            let (both, _) = self.binary(symbol, self.node(left)?, self.node(right)?)?;
            Some(both)
        });
        let pairs: Vec<Node> = pairs.collect::<Option<_>>()?;
        let node = match symbol {
            "=" => Node::Logic("AND", pairs),
            "<>" => Node::Logic("OR", pairs),
            "<" | "<=" | ">" | ">=" => {
                let (mut all, mut others) = (Vec::new(), Vec::new());
                for pair in pairs {
                    let Node::Operator(_, Some(left), right) = pair else {
                        return None;
                    };
                    all.push(*left);
                    others.push(*right);
                }
                Node::Rows(all, symbol.to_owned(), others)
            }
            _ => return None,
        };
        Some((node, Type::Bool))
    }

    /// An operator with `ANY (x)` that the grammar has as a call; `None` for other operands.
    pub(super) fn quantified(
        &self,
        left: &Expr,
        symbol: &str,
        right: &Expr,
    ) -> Option<Option<Typed>> {
        let any = marked_call(right, ANY).map(|(_, parts)| (parts, "ANY"));
        let (parts, word) =
            any.or_else(|| marked_call(right, ALL).map(|(_, parts)| (parts, "ALL")))?;
        let of = || {
            let [right] = parts.as_slice() else {
                return None;
            };
            match right {
                Expr::Subquery(query) => self.compared(left, symbol, query, word),
                right => self.any_of(symbol, self.node(left)?, self.node(right)?, word),
            }
        };
        Some(of())
    }

    /// Values that are compared with the rows of a query.
    pub(super) fn compared(
        &self,
        left: &Expr,
        symbol: &str,
        query: &Written,
        word: &'static str,
    ) -> Option<Typed> {
        let parts = row_parts(left).unwrap_or_else(|| vec![left]);
        let query = self.sub_query(query)?;
        if parts.len() != query.columns.len() {
            return None;
        }
        let mut values = Vec::with_capacity(parts.len());
        for (part, (_, ty)) in parts.into_iter().zip(&query.columns) {
            let value = self.node(part)?;
            let types = [value.1.base(), ty.base()];
            // Rows have operators that are resolved apart.
            if matches!(types, [Type::Record(_), Type::Record(_)]) {
                values.push(value.0);
                continue;
            }
            let found = resolve_operator(symbol, &types).ok()?;
            if super::read::meet(symbol, &types[0], &types[1]) {
                values.push(value.0);
                continue;
            }
            values.push(self.coerced(value, found.parameters.first()?)?);
        }
        let kind = SubKind::Compared {
            left: values,
            symbol: symbol.to_owned(),
            word,
        };
        Some((sub(kind, query), Type::Bool))
    }

    pub(super) fn overlaps(&self, left: &Expr, right: &Expr) -> Option<Typed> {
        let (left, right) = (row_parts(left)?, row_parts(right)?);
        let all = left.into_iter().chain(right).map(|part| self.node(part));
        let all: Vec<Typed> = all.collect::<Option<_>>()?;
        let types: Vec<Type> = all.iter().map(|(_, ty)| ty.base()).collect();
        let found = resolve_function(catalogue().functions("overlaps"), &types).ok()?;
        let all = all.into_iter().zip(&found.parameters);
        let all = all.map(|(one, to)| self.coerced(one, to));
        let all: Vec<Node> = all.collect::<Option<_>>()?;
        let around = ["((", ", ", ") OVERLAPS (", ", "];
        let mut pieces = Vec::new();
        for (before, one) in around.iter().zip(all) {
            pieces.push(words(before));
            pieces.push(Piece::Alone(one));
        }
        pieces.push(words("))"));
        Some((Node::Syntax(pieces), Type::Bool))
    }

    pub(super) fn symmetric(
        &self,
        value: &Expr,
        low: &Expr,
        high: &Expr,
        negated: bool,
    ) -> Option<Typed> {
        let (_, bounds) = marked_call(low, SYMMETRIC)?;
        let [low] = bounds.as_slice() else {
            return None;
        };
        let (inner, outer, least, most) = match negated {
            false => ("AND", "OR", ">=", "<="),
            true => ("OR", "AND", "<", ">"),
        };
        let between = |low: &Expr, high: &Expr| {
            let (low, _) = self.binary(least, self.node(value)?, self.node(low)?)?;
            let (high, _) = self.binary(most, self.node(value)?, self.node(high)?)?;
            Some(Node::Logic(inner, vec![low, high]))
        };
        let both = vec![between(low, high)?, between(high, low)?];
        Some((Node::Logic(outer, both), Type::Bool))
    }

    /// A pattern with its escape, which becomes a call.
    pub(super) fn escaped(
        &self,
        pattern: &Expr,
        escape: Option<&ValueWithSpan>,
        function: &str,
    ) -> Option<Typed> {
        let pattern = self.node(pattern)?;
        let Some(escape) = escape else {
            return Some(pattern);
        };
        self.known.as_ref()?;
        let escape = self.node(&Expr::Value(escape.clone()))?;
        let arguments = vec![
            self.coerced(pattern, &Type::Text)?,
            self.coerced(escape, &Type::Text)?,
        ];
        Some((plain_call(function.to_owned(), arguments), Type::Text))
    }

    fn interval(&self, expr: &Expr, interval: &Interval) -> Option<Typed> {
        let Interval {
            value,
            leading_field,
            leading_precision: None,
            last_field,
            fractional_seconds_precision: None,
        } = interval
        else {
            return None;
        };
        let Expr::Value(ValueWithSpan {
            value: Value::SingleQuotedString(_),
            ..
        }) = value.as_ref()
        else {
            return None;
        };
        let fields = [leading_field, last_field].map(|field| {
            let field = field.as_ref().map(|field| field.to_string().to_lowercase());
            field.unwrap_or_default()
        });
        let label = match fields {
            [first, last] if last.is_empty() => format!("interval {first}"),
            [first, last] => format!("interval {first} to {last}"),
        };
        self.interval_literal(expr, label.trim_end())
    }

    /// A literal of an interval of some fields.
    fn interval_literal(&self, expr: &Expr, label: &str) -> Option<Typed> {
        let known = self.known.as_ref()?;
        let session = Arc::new(session_of(known.relations));
        let text = parse_expr(&format!("CAST({expr} AS text)")).ok()?;
        let bound = Binder::new(known.names, &session).expression(&text, &[], None);
        let text = in_quotes(bound.ok()?.literal_text()?);
        let node = match label {
            "interval" => Node::Literal(text, Some(label.to_owned())),
            label => modified(Node::Literal(text, Some("interval".to_owned())), label),
        };
        Some((node, Type::Interval))
    }

    /// A cast to an interval of some fields.
    pub(super) fn interval_of(&self, inner: &Expr, data_type: &DataType) -> Option<Typed> {
        let label = data_type.to_string().to_lowercase();
        let Node::Untyped(text) = self.node(inner)?.0 else {
            return None;
        };
        let cast = parse_expr(&format!("CAST({} AS {label})", in_quotes(&text))).ok()?;
        self.interval_literal(&cast, &label)
    }

    /// A function that is called without brackets.
    pub(super) fn bare_call(&self, ident: &Ident) -> Option<Typed> {
        if ident.quote_style.is_some() {
            return None;
        }
        let name = fold(ident);
        let ty = match name.as_str() {
            "current_date" => Type::Date,
            "current_timestamp" => Type::TimestampTz(None),
            "localtimestamp" => Type::Timestamp(None),
            "current_time" => Type::TimeTz(None),
            "localtime" => Type::Time(None),
            "current_user" | "session_user" | "current_role" | "user" | "current_catalog"
            | "current_schema" => Type::Name,
            _ => return None,
        };
        Some((Node::Name(name.to_uppercase()), ty))
    }

    /// Types of two columns that become one.
    pub(super) fn common(left: &Type, right: &Type) -> Option<Type> {
        match left == right {
            true => Some(left.clone()),
            false => common_type(&[left.base(), right.base()]),
        }
    }
}

pub(super) fn sub(kind: SubKind, query: super::tree::Query) -> Node {
    Node::Query(Box::new(Sub { kind, query }))
}
