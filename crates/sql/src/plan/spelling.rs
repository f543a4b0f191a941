//! Operators of PostgreSQL that DataFusion's planner does not take, spelt otherwise.
//!
//! | written | becomes |
//! |---|---|
//! | `x LIKE 'a/%' ESCAPE '/'` | `x LIKE 'a\%'` |
//! | `(a, b) IN ((1, 2), (3, 4))` | `(a = 1 AND b = 2) OR (a = 3 AND b = 4)` |
//! | `a IS DISTINCT FROM b AND c`, read as `a IS DISTINCT FROM (b AND c)` | `(a IS DISTINCT FROM b) AND c` |
//! | `~ x` | `x # -1` |
//! | `x = ANY(ARRAY[a, b])`, `x <> ALL(ARRAY[a, b])` | `x IN (a, b)`, `x NOT IN (a, b)`: NULLs count, and indexes are used |

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, UnaryOperator, Value,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

use crate::error::{Error, Result};

/// An operator spelt otherwise; `None` for other expressions.
///
/// # Errors
/// `22025` for an ESCAPE of several characters.
// Its callers are visitors, in which it would stand a hundred times.
#[inline(never)]
pub(super) fn rewritten(expr: &mut Expr) -> Result<Option<Expr>> {
    let distinct = matches!(expr, Expr::IsDistinctFrom(..));
    let text = match expr {
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right)
            if is_junction(right) =>
        {
            // Moved, not copied: a copy of a deep expression takes a stack of its own.
            let taken = |side: &mut Expr| std::mem::replace(side, null());
            let left = Box::new(taken(left));
            return Ok(Some(rotated(left, taken(right), distinct)));
        }
        Expr::Like {
            pattern,
            escape_char,
            ..
        }
        | Expr::ILike {
            pattern,
            escape_char,
            ..
        } => {
            let Some(Value::SingleQuotedString(mark)) =
                escape_char.as_ref().map(|mark| &mark.value)
            else {
                return Ok(None);
            };
            if mark != "\\" {
                let text = with_backslashes(pattern, mark)?;
                **pattern = parsed(&text)?;
            }
            *escape_char = None;
            return Ok(None);
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => match expr.as_ref() {
            Expr::Tuple(columns) if !list.iter().all(is_plain) => {
                let Some(text) = any_of(columns, list) else {
                    return Ok(None);
                };
                if *negated {
                    format!("NOT ({text})")
                } else {
                    text
                }
            }
            _ => return Ok(None),
        },
        Expr::UnaryOp {
            op: UnaryOperator::BitwiseNot,
            expr,
        } => format!("(({expr}) # -1)"),
        _ => return Ok(None),
    };
    parsed(&text).map(Some)
}

/// Stands where an expression was taken from.
pub(super) fn null() -> Expr {
    Expr::Value(Value::Null.with_empty_span())
}

fn is_junction(expr: &Expr) -> bool {
    let and_or = [BinaryOperator::And, BinaryOperator::Or];
    matches!(expr, Expr::BinaryOp { op, .. } if and_or.contains(op))
}

/// The parser takes all that follows `a IS DISTINCT FROM` for the other side, though AND and
/// OR bind less.
fn rotated(left: Box<Expr>, right: Expr, distinct: bool) -> Expr {
    match right {
        Expr::BinaryOp {
            left: first,
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            right: second,
        } => Expr::BinaryOp {
            left: Box::new(rotated(left, *first, distinct)),
            op,
            right: second,
        },
        other if distinct => Expr::IsDistinctFrom(left, Box::new(other)),
        other => Expr::IsNotDistinctFrom(left, Box::new(other)),
    }
}

/// A comparison with all members of an array that is written out; `None` for other
/// expressions. The parts of `expr` have been rewritten.
///
/// # Errors
/// Those of reading it again.
#[inline(never)]
pub(super) fn listed(expr: &Expr) -> Result<Option<Expr>> {
    let (left, right, negated) = match expr {
        Expr::AnyOp {
            left,
            compare_op: BinaryOperator::Eq,
            right,
            ..
        } => (left, right, false),
        Expr::AllOp {
            left,
            compare_op: BinaryOperator::NotEq,
            right,
        } => (left, right, true),
        _ => return Ok(None),
    };
    let Some(members) = members(right) else {
        return Ok(None);
    };
    if members.is_empty() {
        return parsed(if negated { "TRUE" } else { "FALSE" }).map(Some);
    }
    let not = if negated { "NOT " } else { "" };
    parsed(&format!("({left}) {not}IN ({})", members.join(", "))).map(Some)
}

/// The members of an array that is written out.
fn members(array: &Expr) -> Option<Vec<String>> {
    match array {
        Expr::Nested(inner) => members(inner),
        Expr::Array(array) if !array.elem.iter().any(|one| matches!(one, Expr::Array(_))) => {
            Some(array.elem.iter().map(Expr::to_string).collect())
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(kind, _)),
            ..
        } => {
            let plain = members(expr)?.into_iter();
            Some(plain.map(|one| format!("CAST({one} AS {kind})")).collect())
        }
        _ => None,
    }
}

/// A pattern whose special characters are marked by backslashes instead.
fn with_backslashes(pattern: &Expr, mark: &str) -> Result<String> {
    let mut marks = mark.chars();
    let (mark, None) = (marks.next(), marks.next()) else {
        return Err(Error::new("22025", "invalid escape string")
            .with_hint("the escape string is empty or one character"));
    };
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    if let Expr::Value(value) = pattern
        && let Value::SingleQuotedString(text) = &value.value
    {
        let mut changed = String::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                c if Some(c) == mark => {
                    changed.push('\\');
                    changed.extend(rest.next());
                }
                '\\' => changed.push_str("\\\\"),
                other => changed.push(other),
            }
        }
        return Ok(quoted(&changed));
    }
    let plain = format!("replace({pattern}, '\\', '\\\\')");
    let Some(mark) = mark else {
        return Ok(plain);
    };
    // A mark that is marked itself is put aside meanwhile.
    let (mark, aside) = (mark.to_string(), '\u{1}');
    Ok(format!(
        "replace(replace(replace({plain}, {}, '{aside}'), {}, '\\'), '{aside}', {})",
        quoted(&format!("{mark}{mark}")),
        quoted(&mark),
        quoted(&format!("\\{mark}"))
    ))
}

/// Whether DataFusion takes it as a member of a list.
fn is_plain(member: &Expr) -> bool {
    match member {
        Expr::Tuple(parts) => parts
            .iter()
            .all(|part| matches!(part, Expr::Value(_) | Expr::Identifier(_))),
        _ => true,
    }
}

/// `None` if the members are no tuples of as many parts.
fn any_of(columns: &[Expr], list: &[Expr]) -> Option<String> {
    let members = list.iter().map(|member| match member {
        Expr::Tuple(parts) if parts.len() == columns.len() => {
            let pairs = columns.iter().zip(parts);
            let pairs: Vec<String> = pairs.map(|(a, b)| format!("({a}) = ({b})")).collect();
            Some(format!("({})", pairs.join(" AND ")))
        }
        _ => None,
    });
    let members = members.collect::<Option<Vec<String>>>()?;
    Some(format!("({})", members.join(" OR ")))
}

fn parsed(text: &str) -> Result<Expr> {
    Parser::new(&PostgreSqlDialect {})
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_expr())
        .map_err(|error| crate::error::parser(&error))
}
