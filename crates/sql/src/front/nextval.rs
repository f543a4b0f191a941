//! Expressions that take numbers of sequences.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::visit_expressions;
use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Value, Visit};

use super::parse_expr;
use crate::names::{Name, fold_part, named};

/// Whether a default takes numbers of a sequence.
pub(crate) fn takes_numbers_of(default: &str, name: &Name) -> bool {
    parse_expr(default).is_ok_and(|expr| has_numbers_of(&expr, name))
}

/// Whether an expression or a query takes numbers of a sequence.
pub(crate) fn has_numbers_of(part: &impl Visit, name: &Name) -> bool {
    let found = visit_expressions(part, |part| {
        let known = nextval_of(part).and_then(|text| named(text).ok());
        match known.is_some_and(|known| (&known.schema, &known.name) == (&name.schema, &name.name))
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    found.is_break()
}

/// The text in `nextval('text')`; `None` for anything else.
pub(crate) fn nextval_of(expr: &Expr) -> Option<&str> {
    let Expr::Function(call) = expr else {
        return None;
    };
    let [name] = call.name.0.as_slice() else {
        return None;
    };
    let FunctionArguments::List(list) = &call.args else {
        return None;
    };
    let plain = call.filter.is_none() && call.over.is_none() && list.clauses.is_empty();
    if !plain || fold_part(name).as_deref() != Some("nextval") {
        return None;
    }
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] => string(argument),
        _ => None,
    }
}

/// The string in `'text'` or `'text'::regclass`.
fn string(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        Expr::Cast {
            expr, data_type, ..
        } if data_type.to_string().eq_ignore_ascii_case("regclass") => string(expr),
        _ => None,
    }
}
