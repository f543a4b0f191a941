//! Predicates from expressions.
//!
//! Called once for each conjunct of a WHERE clause when the planner asks which
//! filters the scan takes over. A conjunct is taken whole or not at all: what
//! comes out here decides rows, nothing above filters again.

use freestone_storage::{ColumnType, CompareOp, Predicate, TableSchema, Value};

use super::like::like;
use super::sargable::{cast_keeps_order, compare, in_list};
use crate::expression::{Expr, Operator, Scalar};

/// The predicate that holds for exactly the rows where `expr` is TRUE; `find` says which column a
/// name means.
pub(crate) fn predicate_of(
    schema: &TableSchema,
    find: &dyn Fn(&str) -> Option<usize>,
    expr: &Expr,
) -> Option<Predicate> {
    Translate { schema, find }.expr(expr, false)
}

struct Translate<'a> {
    schema: &'a TableSchema,
    /// The column that a name means.
    find: &'a dyn Fn(&str) -> Option<usize>,
}

impl Translate<'_> {
    /// `strict`: NULL and FALSE must be told apart, as below a NOT.
    fn expr(&self, expr: &Expr, strict: bool) -> Option<Predicate> {
        match expr {
            // A condition on a NOT NULL column may be simplified to it.
            Expr::Literal(value) => Some(match value.as_bool()? {
                true => Predicate::And(Vec::new()),
                false => Predicate::Or(Vec::new()),
            }),
            Expr::Binary(left, op, right) => self.binary(left, *op, right, strict),
            Expr::Not(inner) => Some(match &**inner {
                Expr::IsNull(inner) => Predicate::IsNotNull(self.plain_column(inner)?),
                inner => denied(self.expr(inner, true)?),
            }),
            Expr::IsNull(inner) => Some(Predicate::IsNull(self.plain_column(inner)?)),
            Expr::InList(value, list) => {
                let column = self.column(value)?;
                let kind = &self.schema.columns[column].kind;
                in_list(column, kind, list, false, strict)
            }
            Expr::Like {
                text,
                pattern,
                negated,
            } => {
                let column = self.column(text)?;
                let kind = &self.schema.columns[column].kind;
                let found = like(column, kind, pattern, false)?;
                Some(match negated {
                    true => Predicate::Not(Box::new(found)),
                    false => found,
                })
            }
            Expr::Column(_) => {
                let column = self.plain_column(expr)?;
                compare(
                    column,
                    &self.schema.columns[column].kind,
                    CompareOp::Eq,
                    &Scalar::boolean(true),
                )
            }
            Expr::Prefix(text, prefix) => {
                let column = self.column(text)?;
                // Only for text columns: the empty pattern tells.
                like(column, &self.schema.columns[column].kind, "%", false)?;
                let prefix = prefix.clone();
                Some(Predicate::Prefix { column, prefix })
            }
            _ => None,
        }
    }

    fn binary(&self, left: &Expr, op: Operator, right: &Expr, strict: bool) -> Option<Predicate> {
        let both = || Some([self.expr(left, strict)?, self.expr(right, strict)?]);
        match op {
            Operator::And => return Some(Predicate::And(both()?.into())),
            Operator::Or => return Some(either(both()?)),
            _ => {}
        }
        let (column, op, scalar) = match (constant(left), constant(right)) {
            (None, Some(scalar)) => (self.column(left)?, op, scalar),
            (Some(scalar), None) => (self.column(right)?, op.swap()?, scalar),
            _ => return None,
        };
        let op = compare_op(op)?;
        compare(column, &self.schema.columns[column].kind, op, scalar)
    }

    /// The column under casts that change neither value nor order.
    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Column(name) => (self.find)(name),
            Expr::Cast(expr, to) => {
                let column = self.column(expr)?;
                cast_keeps_order(&self.schema.columns[column].kind, to).then_some(column)
            }
            _ => None,
        }
    }

    fn plain_column(&self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Column(name) => (self.find)(name),
            _ => None,
        }
    }
}

/// One of two predicates; values of one column are one list.
fn either(sides: [Predicate; 2]) -> Predicate {
    let one_of = |side: &Predicate| match side {
        Predicate::Compare {
            column,
            op: CompareOp::Eq,
            value,
        } => Some((*column, vec![value.clone()])),
        Predicate::In {
            column,
            values,
            negated: false,
        } => Some((*column, values.clone())),
        _ => None,
    };
    match (one_of(&sides[0]), one_of(&sides[1])) {
        (Some((column, mut values)), Some((other, more))) if column == other => {
            values.extend(more);
            Predicate::In {
                column,
                values,
                negated: false,
            }
        }
        _ => Predicate::Or(sides.into()),
    }
}

/// The predicate that is TRUE where another is FALSE, in a form that zone maps can judge.
fn denied(predicate: Predicate) -> Predicate {
    let all = |parts: Vec<Predicate>| parts.into_iter().map(denied).collect();
    match predicate {
        Predicate::Compare { column, op, value } => Predicate::Compare {
            column,
            op: match op {
                CompareOp::Eq => CompareOp::NotEq,
                CompareOp::NotEq => CompareOp::Eq,
                CompareOp::Lt => CompareOp::GtEq,
                CompareOp::LtEq => CompareOp::Gt,
                CompareOp::Gt => CompareOp::LtEq,
                CompareOp::GtEq => CompareOp::Lt,
            },
            value,
        },
        Predicate::In {
            column,
            values,
            negated,
        } => Predicate::In {
            column,
            values,
            negated: !negated,
        },
        Predicate::IsNull(column) => Predicate::IsNotNull(column),
        Predicate::IsNotNull(column) => Predicate::IsNull(column),
        Predicate::And(parts) => Predicate::Or(all(parts)),
        Predicate::Or(parts) => Predicate::And(all(parts)),
        Predicate::Not(inner) => *inner,
        other @ (Predicate::Prefix { .. } | Predicate::Like { .. }) => {
            Predicate::Not(Box::new(other))
        }
    }
}

fn constant(expr: &Expr) -> Option<&Scalar> {
    match expr {
        Expr::Literal(scalar) => Some(scalar),
        _ => None,
    }
}

/// The comparison that an operator is, if it is one.
pub(crate) fn compare_op(op: Operator) -> Option<CompareOp> {
    Some(match op {
        Operator::Eq => CompareOp::Eq,
        Operator::NotEq => CompareOp::NotEq,
        Operator::Lt => CompareOp::Lt,
        Operator::LtEq => CompareOp::LtEq,
        Operator::Gt => CompareOp::Gt,
        Operator::GtEq => CompareOp::GtEq,
        _ => return None,
    })
}

/// A predicate as SQL, for EXPLAIN.
pub(crate) fn describe(schema: &TableSchema, predicate: &Predicate) -> String {
    let name = |column: &usize| {
        schema
            .columns
            .get(*column)
            .map_or_else(|| format!("#{column}"), |c| c.name.clone())
    };
    let all = |parts: &[Predicate], word: &str| {
        let parts: Vec<String> = parts.iter().map(|p| describe(schema, p)).collect();
        format!("({})", parts.join(word))
    };
    match predicate {
        Predicate::Compare { column, op, value } => {
            let op = match op {
                CompareOp::Eq => "=",
                CompareOp::NotEq => "<>",
                CompareOp::Lt => "<",
                CompareOp::LtEq => "<=",
                CompareOp::Gt => ">",
                CompareOp::GtEq => ">=",
            };
            format!("{} {op} {}", name(column), show(schema, *column, value))
        }
        Predicate::In {
            column,
            values,
            negated,
        } => {
            let not = if *negated { "NOT " } else { "" };
            let shown: Vec<String> = values
                .iter()
                .take(8)
                .map(|value| show(schema, *column, value))
                .collect();
            let more = if values.len() > 8 { ", …" } else { "" };
            format!("{} {not}IN ({}{more})", name(column), shown.join(", "))
        }
        Predicate::IsNull(column) => format!("{} IS NULL", name(column)),
        Predicate::IsNotNull(column) => format!("{} IS NOT NULL", name(column)),
        Predicate::Prefix { column, prefix } => format!("{} LIKE '{prefix}%'", name(column)),
        Predicate::Like {
            column,
            pattern,
            insensitive,
        } => {
            let like = if *insensitive { "ILIKE" } else { "LIKE" };
            format!("{} {like} '{pattern}'", name(column))
        }
        Predicate::And(parts) => all(parts, " AND "),
        Predicate::Or(parts) => all(parts, " OR "),
        Predicate::Not(inner) => format!("NOT {}", describe(schema, inner)),
    }
}

fn show(schema: &TableSchema, column: usize, value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Int(value) => match schema.columns.get(column) {
            Some(column) => super::statistics::scalar_of(&column.kind, &Value::Int(*value))
                .map_or_else(|| value.to_string(), |scalar| scalar.to_string()),
            None => value.to_string(),
        },
        Value::Bytes(bytes)
            if let Some(column) = schema.columns.get(column)
                && column.kind == ColumnType::Bytea =>
        {
            format!("'{}'", column.shown_bytes(bytes))
        }
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => format!("'{text}'"),
            Err(_) => {
                bytes.iter().fold(String::from("'\\x"), |mut out, byte| {
                    use std::fmt::Write;
                    let _ = write!(out, "{byte:02x}");
                    out
                }) + "'"
            }
        },
    }
}
