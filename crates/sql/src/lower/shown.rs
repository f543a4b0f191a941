//! Expressions as SQL, for people who read plans.

use arrow::array::{ArrayRef, AsArray};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use freestone_frontend::plan::{ColumnId, Expr, ExprKind, Quantifier, SubqueryKind};
use freestone_frontend::types::Type;
use freestone_frontend::values::Numeric;

use crate::values::convert::as_shown;

/// How deep expressions are written out.
const DEPTH: usize = 24;
/// Of how many operands of AND, IN and the like the first are written.
const OPERANDS: usize = 8;

/// An expression as SQL.
pub(super) fn sql(expr: &Expr, name: &dyn Fn(ColumnId) -> String) -> String {
    let mut out = String::new();
    write(expr, name, DEPTH, &mut out);
    out
}

fn write(expr: &Expr, name: &dyn Fn(ColumnId) -> String, depth: usize, out: &mut String) {
    if depth == 0 {
        out.push('…');
        return;
    }
    let below = |expr: &Expr, out: &mut String| write(expr, name, depth - 1, out);
    let inner = |expr: &Expr, out: &mut String| {
        let plain = !matches!(
            &expr.kind,
            ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) | ExprKind::InList { .. }
        ) && !matches!(&expr.kind, ExprKind::Call { function, arguments }
            if arguments.len() == 2 && is_symbol(function.name));
        if plain {
            return below(expr, out);
        }
        out.push('(');
        below(expr, out);
        out.push(')');
    };
    let list = |all: &[Expr], between: &str, out: &mut String| {
        for (at, expr) in all.iter().take(OPERANDS).enumerate() {
            if at > 0 {
                out.push_str(between);
            }
            match between {
                ", " => below(expr, out),
                _ => inner(expr, out),
            }
        }
        if all.len() > OPERANDS {
            out.push_str(between);
            out.push('…');
        }
    };
    match &expr.kind {
        ExprKind::Literal(value) => literal(value, &expr.ty, out),
        ExprKind::Column(id) => out.push_str(&name(*id)),
        ExprKind::Parameter(number) => out.push_str(&format!("${number}")),
        ExprKind::Call {
            function,
            arguments,
        } => match arguments.as_slice() {
            [only] if function.name == "cast" => {
                inner(only, out);
                out.push_str(&format!("::{}", expr.ty));
            }
            [left, right] if is_symbol(function.name) => {
                inner(left, out);
                out.push_str(&format!(" {} ", function.name));
                inner(right, out);
            }
            [only] if is_symbol(function.name) => {
                out.push_str(function.name);
                inner(only, out);
            }
            all => {
                out.push_str(function.name);
                out.push('(');
                list(all, ", ", out);
                out.push(')');
            }
        },
        ExprKind::And(all) => list(all, " AND ", out),
        ExprKind::Or(all) => list(all, " OR ", out),
        ExprKind::Not(of) => {
            out.push_str("NOT ");
            inner(of, out);
        }
        ExprKind::IsNull(of) => {
            inner(of, out);
            out.push_str(" IS NULL");
        }
        ExprKind::Case {
            branches,
            otherwise,
        } => {
            out.push_str("CASE");
            for (when, then) in branches.iter().take(OPERANDS) {
                out.push_str(" WHEN ");
                below(when, out);
                out.push_str(" THEN ");
                below(then, out);
            }
            if let Some(otherwise) = otherwise {
                out.push_str(" ELSE ");
                below(otherwise, out);
            }
            out.push_str(" END");
        }
        ExprKind::Coalesce(all) => {
            out.push_str("COALESCE(");
            list(all, ", ", out);
            out.push(')');
        }
        ExprKind::InList {
            value, list: of, ..
        } => {
            inner(value, out);
            out.push_str(" IN (");
            list(of, ", ", out);
            out.push(')');
        }
        ExprKind::Any {
            operator,
            value,
            array,
            all,
        } => {
            inner(value, out);
            let word = if *all { "ALL" } else { "ANY" };
            out.push_str(&format!(" {} {word} (", operator.name));
            below(array, out);
            out.push(')');
        }
        ExprKind::Array(all) => {
            out.push_str("ARRAY[");
            list(all, ", ", out);
            out.push(']');
        }
        ExprKind::Row(all) => {
            out.push_str("ROW(");
            list(all, ", ", out);
            out.push(')');
        }
        ExprKind::Field(of, at) => {
            inner(of, out);
            match &of.ty {
                Type::Record(fields) if *at < fields.len() => {
                    out.push_str(&format!(".{}", fields[*at].0));
                }
                _ => out.push_str(&format!(".f{}", at + 1)),
            }
        }
        ExprKind::Subquery(subquery) => out.push_str(match &subquery.kind {
            SubqueryKind::Scalar => "(sub-query)",
            SubqueryKind::Exists => "EXISTS (sub-query)",
            SubqueryKind::Array => "ARRAY (sub-query)",
            SubqueryKind::Compare {
                quantifier: Quantifier::Any,
                ..
            } => "ANY (sub-query)",
            SubqueryKind::Compare { .. } => "ALL (sub-query)",
        }),
    }
}

fn is_symbol(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn literal(value: &ArrayRef, ty: &Type, out: &mut String) {
    if value.is_null(0) {
        out.push_str("NULL");
        return;
    }
    if let (Type::Numeric(_), Some(bytes)) = (ty, binary(value)) {
        out.push_str(&Numeric::decode(bytes).to_string());
        return;
    }
    if let Type::Inet
    | Type::Cidr
    | Type::MacAddr
    | Type::MacAddr8
    | Type::Internal(_)
    | Type::Money
    | Type::Range(_)
    | Type::Multirange(_)
    | Type::Array(_) = ty
    {
        let texts = as_shown(value, ty).ok();
        let text = texts.and_then(|texts| Some(texts.as_string_view_opt()?.value(0).to_owned()));
        out.push_str(&format!(
            "'{}'",
            text.unwrap_or_default().replace('\'', "''")
        ));
        return;
    }
    let options = FormatOptions::default();
    let text = ArrayFormatter::try_new(value.as_ref(), &options);
    let text = text.map(|formatter| formatter.value(0).to_string());
    let text = text.unwrap_or_else(|_| "?".to_owned());
    match ty {
        ty if ty.is_number() => out.push_str(&text),
        Type::Bool => out.push_str(&text.to_uppercase()),
        _ => out.push_str(&format!("'{}'", text.replace('\'', "''"))),
    }
}

fn binary(value: &ArrayRef) -> Option<&[u8]> {
    use arrow::array::cast::AsArray;
    Some(value.as_binary_view_opt()?.value(0))
}
