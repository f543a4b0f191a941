//! Walks over syntax trees.
//!
//! `sqlparser` compiles a walk over all of its tree for each type of visitor. Here every visitor is
//! one type, which calls it through a pointer, so that there is one walk, and one of those that
//! change the tree.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, ObjectName, Query, Select, Statement, TableFactor, ValueWithSpan, Visit, VisitMut,
    Visitor, VisitorMut,
};

/// Shows a tree to a visitor.
pub fn walk<N: Visit>(node: &N, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
    node.visit(&mut Erased(visitor))
}

/// Lets a visitor change a tree.
pub fn walk_mut<N: VisitMut>(
    node: &mut N,
    visitor: &mut dyn VisitorMut<Break = ()>,
) -> ControlFlow<()> {
    node.visit(&mut ErasedMut(visitor))
}

/// Calls a closure with each expression, an outer one before those in it, until it breaks.
pub fn visit_expressions<N: Visit, B>(
    node: &N,
    mut f: impl FnMut(&Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut broken = None;
    let mut each = |expr: &Expr| kept(f(expr), &mut broken);
    let _ = walk(node, &mut Expressions(&mut each));
    ended(broken)
}

/// Calls a closure that may change it with each expression, an outer one after those in it.
pub fn visit_expressions_mut<N: VisitMut, B>(
    node: &mut N,
    mut f: impl FnMut(&mut Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut broken = None;
    let mut each = |expr: &mut Expr| kept(f(expr), &mut broken);
    let _ = walk_mut(node, &mut ExpressionsMut(&mut each));
    ended(broken)
}

/// Calls a closure with each name of a relation, until it breaks.
pub fn visit_relations<N: Visit, B>(
    node: &N,
    mut f: impl FnMut(&ObjectName) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut broken = None;
    let mut each = |name: &ObjectName| kept(f(name), &mut broken);
    let _ = walk(node, &mut Relations(&mut each));
    ended(broken)
}

/// Calls a closure that may change it with each name of a relation, until it breaks.
pub fn visit_relations_mut<N: VisitMut, B>(
    node: &mut N,
    mut f: impl FnMut(&mut ObjectName) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut broken = None;
    let mut each = |name: &mut ObjectName| kept(f(name), &mut broken);
    let _ = walk_mut(node, &mut RelationsMut(&mut each));
    ended(broken)
}

fn kept<B>(flow: ControlFlow<B>, broken: &mut Option<B>) -> ControlFlow<()> {
    match flow {
        ControlFlow::Continue(()) => ControlFlow::Continue(()),
        ControlFlow::Break(with) => {
            *broken = Some(with);
            ControlFlow::Break(())
        }
    }
}

fn ended<B>(broken: Option<B>) -> ControlFlow<B> {
    match broken {
        Some(with) => ControlFlow::Break(with),
        None => ControlFlow::Continue(()),
    }
}

struct Expressions<'a>(&'a mut dyn FnMut(&Expr) -> ControlFlow<()>);

impl Visitor for Expressions<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        (self.0)(expr)
    }
}

struct ExpressionsMut<'a>(&'a mut dyn FnMut(&mut Expr) -> ControlFlow<()>);

impl VisitorMut for ExpressionsMut<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        (self.0)(expr)
    }
}

struct Relations<'a>(&'a mut dyn FnMut(&ObjectName) -> ControlFlow<()>);

impl Visitor for Relations<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        (self.0)(name)
    }
}

struct RelationsMut<'a>(&'a mut dyn FnMut(&mut ObjectName) -> ControlFlow<()>);

impl VisitorMut for RelationsMut<'_> {
    type Break = ();

    fn post_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        (self.0)(name)
    }
}

/// Any visitor.
struct Erased<'a>(&'a mut dyn Visitor<Break = ()>);
/// Any visitor that changes the tree.
struct ErasedMut<'a>(&'a mut dyn VisitorMut<Break = ()>);

macro_rules! handed_on {
    ($trait:ident for $erased:ident: $($method:ident($node:ty);)*) => {
        impl $trait for $erased<'_> {
            type Break = ();

            $(fn $method(&mut self, node: $node) -> ControlFlow<()> {
                self.0.$method(node)
            })*
        }
    };
}

handed_on! {
    Visitor for Erased:
    pre_visit_query(&Query);
    post_visit_query(&Query);
    pre_visit_select(&Select);
    post_visit_select(&Select);
    pre_visit_relation(&ObjectName);
    post_visit_relation(&ObjectName);
    pre_visit_table_factor(&TableFactor);
    post_visit_table_factor(&TableFactor);
    pre_visit_expr(&Expr);
    post_visit_expr(&Expr);
    pre_visit_statement(&Statement);
    post_visit_statement(&Statement);
    pre_visit_value(&ValueWithSpan);
    post_visit_value(&ValueWithSpan);
}

handed_on! {
    VisitorMut for ErasedMut:
    pre_visit_query(&mut Query);
    post_visit_query(&mut Query);
    pre_visit_select(&mut Select);
    post_visit_select(&mut Select);
    pre_visit_relation(&mut ObjectName);
    post_visit_relation(&mut ObjectName);
    pre_visit_table_factor(&mut TableFactor);
    post_visit_table_factor(&mut TableFactor);
    pre_visit_expr(&mut Expr);
    post_visit_expr(&mut Expr);
    pre_visit_statement(&mut Statement);
    post_visit_statement(&mut Statement);
    pre_visit_value(&mut ValueWithSpan);
    post_visit_value(&mut ValueWithSpan);
}
