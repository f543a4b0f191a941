//! Sequences and relations that texts of a statement name, such as `nextval('s')` and
//! `'t'::regclass`: they are looked up where the names of its relations are.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::{visit_expressions, visit_expressions_mut};
use sqlparser::ast::{
    DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectName, Value,
    ValueWithSpan, Visit, VisitMut,
};

use crate::names::{fold_part, quoted, written_name};

/// Functions whose first argument names a sequence.
const OF_SEQUENCES: [&str; 3] = ["nextval", "currval", "setval"];

/// The kind of relation that a text names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sequence,
    Any,
}

/// Lets the names in texts be other ones.
pub(super) fn renamed(part: &mut impl VisitMut, mut change: impl FnMut(&mut ObjectName, Kind)) {
    let mut of = |value: &mut ValueWithSpan, kind: Kind| {
        if let Value::SingleQuotedString(text) = &mut value.value
            && let Ok(before) = written_name(text)
        {
            let mut name = before.clone();
            change(&mut name, kind);
            if name != before {
                let parts = name.0.iter().filter_map(fold_part);
                let parts: Vec<String> = parts.map(|part| quoted(&part)).collect();
                *text = parts.join(".");
            }
        }
    };
    let _: ControlFlow<()> = visit_expressions_mut(part, |expr| {
        match expr {
            Expr::Function(call) => {
                let name = call.name.0.last().and_then(fold_part).unwrap_or_default();
                let kind = match name.as_str() {
                    name if OF_SEQUENCES.contains(&name) => Kind::Sequence,
                    "to_regclass"
                    | "pg_get_serial_sequence"
                    | "pg_relation_size"
                    | "pg_total_relation_size"
                    | "pg_table_size" => Kind::Any,
                    _ => return ControlFlow::Continue(()),
                };
                if let FunctionArguments::List(list) = &mut call.args
                    && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))) =
                        list.args.first_mut()
                {
                    of(value, kind);
                }
            }
            Expr::Cast {
                expr,
                data_type: DataType::Regclass,
                ..
            } => {
                if let Expr::Value(value) = expr.as_mut() {
                    of(value, Kind::Any);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
}

/// Whether a function is called with a name of a sequence that is computed, so that it is not
/// known before the statement runs.
pub(super) fn has_computed(part: &impl Visit) -> bool {
    let found = visit_expressions(part, |expr| {
        let Expr::Function(call) = expr else {
            return ControlFlow::Continue(());
        };
        let called = |call: &Function| call.name.0.last().and_then(fold_part).unwrap_or_default();
        let first = match &call.args {
            FunctionArguments::List(list) => list.args.first(),
            FunctionArguments::None | FunctionArguments::Subquery(_) => None,
        };
        let is_known = match first {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))) => match argument {
                Expr::Value(_)
                | Expr::Cast {
                    data_type: DataType::Regclass,
                    ..
                } => true,
                // It gives full names.
                Expr::Function(inner) => called(inner) == "pg_get_serial_sequence",
                _ => false,
            },
            _ => true,
        };
        match is_known || !OF_SEQUENCES.contains(&called(call).as_str()) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    found.is_break()
}
