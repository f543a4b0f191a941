//! Collations of values, which `pg_collation_for` tells.
//!
//! All texts are compared by their bytes. A collation is a name, and comes to a value as in
//! PostgreSQL:
//!
//! ```text
//! a || 'x' COLLATE "C"                                            "C"
//! percentile_disc(1) WITHIN GROUP (ORDER BY a COLLATE "POSIX")    "POSIX"
//! (SELECT a COLLATE "C" FROM t)                                   "C"
//! ```

use sqlparser::ast::{
    Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments, SelectItem, SetExpr,
};

use super::{Binder, parts};
use crate::error::{Error, Result};
use crate::plan::Expr;
use crate::types::{Category, Type};

impl Binder<'_> {
    /// The name of the collation of a value, as SQL writes it: texts have one, and a literal that
    /// is of no type has none.
    pub(super) fn collation_of(&mut self, value: &Ast) -> Result<Expr> {
        let ty = self.bind_expr(value)?.ty;
        let chosen = chosen_collation(value)?;
        let said = match &chosen {
            Some(name) => name,
            None if *ty.innermost() == Type::Name => "C",
            None => "default",
        };
        match ty.innermost().category() {
            Category::String => Ok(Expr::text(&format!("\"{said}\""), Type::Text)),
            _ if ty == Type::Unknown && chosen.is_some() => {
                Ok(Expr::text(&format!("\"{said}\""), Type::Text))
            }
            _ if ty == Type::Unknown => Ok(Expr::null(Type::Text)),
            _ => {
                let message = format!("collations are not supported by type {}", ty.base());
                Err(Error::new("42804", message))
            }
        }
    }
}

/// The collation that COLLATE chooses for a value: that of its operands, if one of them has it.
///
/// # Errors
/// `42P21` if two of them have others.
fn chosen_collation(value: &Ast) -> Result<Option<String>> {
    let mut chosen = None;
    let mut open = vec![value];
    while let Some(operand) = open.pop() {
        let Ast::Collate { collation, .. } = operand else {
            open.extend(operands(operand).into_iter().rev());
            continue;
        };
        let collation = parts(collation)?.pop();
        if let (Some(known), Some(other)) = (&chosen, &collation)
            && known != other
        {
            let message = format!(
                "collation mismatch between explicit collations \"{known}\" and \"{other}\""
            );
            return Err(Error::new("42P21", message));
        }
        chosen = collation;
    }
    Ok(chosen)
}

/// The parts of a value that its collation comes from.
fn operands(value: &Ast) -> Vec<&Ast> {
    match value {
        Ast::Nested(inner) | Ast::Cast { expr: inner, .. } => vec![inner],
        Ast::BinaryOp { left, right, .. } => vec![left, right],
        Ast::UnaryOp { expr, .. } => vec![expr],
        Ast::Case {
            conditions,
            else_result,
            ..
        } => {
            let results = conditions.iter().map(|branch| &branch.result);
            results.chain(else_result.as_deref()).collect()
        }
        Ast::Substring { expr, .. } | Ast::Trim { expr, .. } => vec![expr],
        Ast::Array(array) => array.elem.iter().collect(),
        Ast::Function(call) => {
            let mut all = Vec::new();
            if let FunctionArguments::List(list) = &call.args {
                all.extend(list.args.iter().filter_map(|argument| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(value))
                    | FunctionArg::Named {
                        arg: FunctionArgExpr::Expr(value),
                        ..
                    } => Some(value),
                    _ => None,
                }));
            }
            all.extend(call.within_group.iter().map(|key| &key.expr));
            all
        }
        Ast::Subquery(query) => {
            let mut body = query.body.as_ref();
            while let SetExpr::Query(inner) = body {
                body = inner.body.as_ref();
            }
            match body {
                SetExpr::Select(select) => match select.projection.as_slice() {
                    [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] => {
                        vec![expr]
                    }
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}
