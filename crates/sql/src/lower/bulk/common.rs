//! Expressions that several others have in common are computed once.
//!
//! ```text
//! sum(p * (1 - d)), sum(p * (1 - d) * (1 + t))      sum(c), sum(c * (1 + t))
//!                                                     project c = p * (1 - d)
//! ```
//!
//! Branches of CASE and terms of AND and OR are left alone: they may not be evaluated for all rows.

use std::collections::{HashMap, HashSet};

use super::super::place;
use super::{Added, Bulk, Part};
use crate::engine::Scope;
use crate::error::Result;
use crate::expression::{Expr, Operator};

/// Parts of expressions that are looked at, at most.
const MANY: usize = 2_000;

impl Bulk<'_> {
    /// The rows with a column more for each expression that others have in common, which these
    /// read.
    pub(super) fn with_common(&self, part: Part, exprs: &mut [Expr]) -> Result<Part> {
        let found = common(exprs);
        if found.is_empty() {
            return Ok(part);
        }
        let scope = Scope::over(&part.found);
        // Of this node, too.
        let mut add = Added::over(self, &part);
        for (name, value) in found {
            let kind = scope.typed(&value)?;
            add.push(name, scope.expr(&value)?, kind);
        }
        Ok(add.part(part.rows))
    }
}

/// Whether no part stands in expressions more than once.
pub(super) fn none_in(exprs: &[Expr]) -> bool {
    common(&mut exprs.to_vec()).is_empty()
}

/// Puts columns of some names in the place of parts that stand in expressions more than once.
fn common(exprs: &mut [Expr]) -> Vec<(String, Expr)> {
    let (mut counts, mut seen) = (HashMap::<&Expr, usize>::new(), 0);
    for expr in exprs.iter() {
        expr.visit(&mut |part| {
            seen += 1;
            if seen > MANY || is_conditional(part) {
                return false;
            }
            if !is_cheap(part) && !part.is_volatile() {
                *counts.entry(part).or_default() += 1;
            }
            true
        });
    }
    counts.retain(|_, count| *count > 1);
    let counts: HashSet<Expr> = counts.into_keys().cloned().collect();
    let mut found: Vec<(String, Expr)> = Vec::new();
    if counts.is_empty() || seen > MANY {
        return found;
    }
    for expr in exprs {
        expr.change(&mut |part| {
            if is_conditional(part) {
                return false;
            }
            if !counts.contains(part) {
                return true;
            }
            let known = found.iter().find(|(_, known)| known == part);
            let name = known.map(|(name, _)| name.clone()).unwrap_or_else(|| {
                // No name that SQL can give to a column.
                let name = format!("\0common {} {part:?}", found.len());
                found.push((name.clone(), part.clone()));
                name
            });
            *part = place(&name);
            false
        });
    }
    found
}

/// Whether not all parts of an expression are evaluated for each row.
fn is_conditional(expr: &Expr) -> bool {
    match expr {
        Expr::Case(..) => true,
        Expr::Binary(_, op, _) => matches!(op, Operator::And | Operator::Or),
        _ => false,
    }
}

/// Whether an expression costs no more than to read a column.
fn is_cheap(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Literal(_) => true,
        Expr::Cast(inner, _) => is_cheap(inner),
        _ => false,
    }
}
