//! Long chains of syntax trees become balanced trees, and their depth is counted.
//!
//! The parser nests a chain to the left, so that a tree of it is as deep as the chain is long,
//! and all walks over it, even its freeing, go as deep. AND, OR and set operations of one kind
//! may be grouped as one likes; others keep their form.
//!
//! ```text
//! ((a OR b) OR c) OR d        (a OR b) OR (c OR d)
//! ```

use std::ops::ControlFlow;

use super::walk::walk_mut;
use sqlparser::ast::{
    BinaryOperator, Expr, Query, SetExpr, SetOperator, SetQuantifier, TableFactor, Value, Values,
    Visit, VisitMut, Visitor, VisitorMut,
};

use crate::error::Result;
use crate::stack::{LEVELS, too_complex};

/// Terms of a chain that may stay as it is.
const SHORT: usize = 16;

/// Balances the chains of a syntax tree.
///
/// # Errors
/// `54001` for a tree that is too deep even so.
pub fn balance(tree: &mut impl VisitMut) -> Result<()> {
    let mut walk = Walk {
        levels: 0,
        in_chain: 0,
    };
    match walk_mut(tree, &mut walk) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(too_complex()),
    }
}

/// Levels of expressions that take as much of a stack as one of a query or a set operation.
const QUERY: usize = 4;

/// Whether a syntax tree has more levels than that; one of a query counts as [`QUERY`]. No walk
/// goes deeper to find out.
pub fn is_deeper(tree: &impl Visit, levels: usize) -> bool {
    let mut depth = Depth {
        levels: 0,
        most: levels,
    };
    tree.visit(&mut depth).is_break()
}

struct Depth {
    /// Levels that are open.
    levels: usize,
    /// Levels that there may be.
    most: usize,
}

impl Depth {
    fn enter(&mut self, levels: usize) -> ControlFlow<()> {
        self.levels += levels;
        match self.levels > self.most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn leave(&mut self, levels: usize) -> ControlFlow<()> {
        self.levels -= levels;
        ControlFlow::Continue(())
    }
}

impl Visitor for Depth {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        match operations(&query.body) * QUERY > self.most {
            true => ControlFlow::Break(()),
            false => self.enter(QUERY),
        }
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.leave(QUERY)
    }

    fn pre_visit_table_factor(&mut self, _: &TableFactor) -> ControlFlow<()> {
        self.enter(1)
    }

    fn post_visit_table_factor(&mut self, _: &TableFactor) -> ControlFlow<()> {
        self.leave(1)
    }

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.enter(1)
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.leave(1)
    }
}

/// Set operations above each other; a balanced tree has its deepest side at the left.
fn operations(body: &SetExpr) -> usize {
    let (mut count, mut rest) = (0, body);
    while let SetExpr::SetOperation { left, .. } = rest {
        count += 1;
        rest = left;
    }
    count
}

struct Walk {
    /// Levels that are open.
    levels: usize,
    /// Levels below for which the chain that they are in is balanced already.
    in_chain: usize,
}

impl Walk {
    fn enter(&mut self) -> ControlFlow<()> {
        self.levels += 1;
        match self.levels > LEVELS {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn leave(&mut self) -> ControlFlow<()> {
        self.levels -= 1;
        self.in_chain = self.in_chain.min(self.levels);
        ControlFlow::Continue(())
    }
}

impl VisitorMut for Walk {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        balance_sets(&mut query.body);
        match operations(&query.body) > LEVELS {
            true => ControlFlow::Break(()),
            false => self.enter(),
        }
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.leave()
    }

    fn pre_visit_table_factor(&mut self, _: &mut TableFactor) -> ControlFlow<()> {
        self.enter()
    }

    fn post_visit_table_factor(&mut self, _: &mut TableFactor) -> ControlFlow<()> {
        self.leave()
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let is_below = self.levels > 0 && self.in_chain == self.levels;
        if let Expr::BinaryOp { op, .. } = expr
            && matches!(op, BinaryOperator::And | BinaryOperator::Or)
        {
            if !is_below {
                balance_terms(expr);
            }
            let entered = self.enter();
            self.in_chain = self.levels;
            return entered;
        }
        self.enter()
    }

    fn post_visit_expr(&mut self, _: &mut Expr) -> ControlFlow<()> {
        self.leave()
    }
}

/// Terms in a balanced tree.
fn tree<T>(mut terms: Vec<T>, join: &mut dyn FnMut(T, T) -> T) -> Option<T> {
    while terms.len() > 1 {
        let mut pairs = Vec::with_capacity(terms.len().div_ceil(2));
        let mut rest = terms.into_iter();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => join(left, right),
                None => left,
            });
        }
        terms = pairs;
    }
    terms.pop()
}

fn balance_terms(whole: &mut Expr) {
    let Expr::BinaryOp { op: wanted, .. } = whole else {
        return;
    };
    let wanted = wanted.clone();
    let mut length = 0;
    let mut rest: &Expr = whole;
    while let Expr::BinaryOp { left, op, .. } = rest
        && *op == wanted
    {
        length += 1;
        rest = left;
    }
    if length <= SHORT {
        return;
    }
    let mut terms = Vec::with_capacity(length + 1);
    let mut rest = std::mem::replace(whole, Expr::Value(Value::Null.into()));
    let last = loop {
        match rest {
            Expr::BinaryOp { left, op, right } if op == wanted => {
                terms.push(*right);
                rest = *left;
            }
            other => break other,
        }
    };
    terms.push(last);
    terms.reverse();
    let mut join = |left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: wanted.clone(),
        right: Box::new(right),
    };
    if let Some(tree) = tree(terms, &mut join) {
        *whole = tree;
    }
}

fn balance_sets(whole: &mut SetExpr) {
    let SetExpr::SetOperation {
        op: SetOperator::Union,
        set_quantifier,
        ..
    } = whole
    else {
        return;
    };
    let wanted = *set_quantifier;
    if !matches!(
        wanted,
        SetQuantifier::All | SetQuantifier::None | SetQuantifier::Distinct
    ) {
        return;
    }
    let is_one = |op: &SetOperator, quantifier: &SetQuantifier| {
        *op == SetOperator::Union && *quantifier == wanted
    };
    let mut length = 0;
    let mut rest: &SetExpr = whole;
    while let SetExpr::SetOperation {
        left,
        op,
        set_quantifier,
        ..
    } = rest
        && is_one(op, set_quantifier)
    {
        length += 1;
        rest = left;
    }
    if length <= SHORT {
        return;
    }
    let empty = SetExpr::Values(Values {
        explicit_row: false,
        value_keyword: false,
        rows: Vec::new(),
    });
    let mut terms = Vec::with_capacity(length + 1);
    let mut rest = std::mem::replace(whole, empty);
    let last = loop {
        match rest {
            SetExpr::SetOperation {
                left,
                op,
                set_quantifier,
                right,
            } if is_one(&op, &set_quantifier) => {
                terms.push(*right);
                rest = *left;
            }
            other => break other,
        }
    };
    terms.push(last);
    terms.reverse();
    // The last one stays apart: a recursive query tells by it.
    let after = terms.pop();
    let mut join = |left, right| SetExpr::SetOperation {
        left: Box::new(left),
        op: SetOperator::Union,
        set_quantifier: wanted,
        right: Box::new(right),
    };
    if let (Some(tree), Some(after)) = (tree(terms, &mut join), after) {
        *whole = join(tree, after);
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::{expression, query};

    #[test]
    fn long_chains_keep_their_terms_in_order() {
        for word in [" OR ", " AND "] {
            let terms: Vec<String> = (0..5_000).map(|at| format!("a = {at}")).collect();
            let text = terms.join(word);
            assert_eq!(expression(&text).unwrap().to_string(), text);
        }
        let terms: Vec<String> = (0..3_000).map(|at| format!("SELECT {at}")).collect();
        for word in [" UNION ALL ", " UNION "] {
            let text = terms.join(word);
            assert_eq!(query(&text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn chains_that_cannot_be_grouped_are_refused_if_they_are_long() {
        let text = vec!["1"; 20_000].join(" + ");
        assert_eq!(expression(&text).unwrap_err().sqlstate, "54001");
        let text = vec!["SELECT 1"; 20_000].join(" EXCEPT ");
        assert_eq!(query(&text).unwrap_err().sqlstate, "54001");
        assert!(expression(&vec!["1"; 2_000].join(" + ")).is_ok());
    }
}
