//! GROUP BY: keys, grouping sets, and what of a row a group still has.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    DuplicateTreatment, Expr as Ast, FunctionArgumentClause, FunctionArguments, GroupByExpr,
    GroupByWithModifier, Visit, visit_expressions,
};

use super::scope::{Clause, Scope};
use super::select::{Item, item_named, position};
use super::{Binder, fold, refuse};
use crate::error::{Error, Result};
use crate::plan::{Column, ColumnId, Expr, ExprKind, Plan};
use crate::syntax::marks::{CUBE, DISTINCT_SETS, GROUPING_SETS, NO_KEYS, ROLLUP, marked_call};

/// Most grouping sets of a query, as in PostgreSQL.
const SETS: usize = 4096;

/// Keys and sets of a GROUP BY.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) keys: Vec<Key>,
    pub(super) sets: Option<Vec<Vec<usize>>>,
    /// The places of keys by their marks.
    marks: HashMap<u64, Vec<usize>>,
}

/// A key of GROUP BY.
#[derive(Debug)]
pub(super) struct Key {
    /// The column that stands for it.
    pub(super) column: Column,
    /// Its value.
    pub(super) expr: Expr,
    /// The item of the SELECT list that it is, where that tells it from equal ones: constants,
    /// and items of grouping sets.
    pub(super) item: Option<usize>,
}

impl Binder<'_> {
    /// The keys of GROUP BY; `items` are those of the SELECT list.
    pub(super) fn groups(&mut self, group_by: &GroupByExpr, items: &[Item]) -> Result<Groups> {
        let (exprs, modifiers) = match group_by {
            GroupByExpr::Expressions(exprs, modifiers) => (exprs, modifiers),
            GroupByExpr::All(modifiers) => {
                refuse(!modifiers.is_empty(), "a modifier of GROUP BY ALL")?;
                return self.all_groups(items);
            }
        };
        self.scope()?.clause = Clause::GroupBy;
        let mut groups = Groups::default();
        // Each element of the list is a choice of sets; the whole is their product.
        let mut product: Vec<Vec<usize>> = vec![Vec::new()];
        let mut has_sets = false;
        let mut distinct = false;
        let is_sets = |expr: &Ast| {
            matches!(expr, Ast::Rollup(_) | Ast::Cube(_) | Ast::GroupingSets(_))
                || [ROLLUP, CUBE, GROUPING_SETS, NO_KEYS]
                    .iter()
                    .any(|mark| marked_call(expr, mark).is_some())
        };
        let by_item = !modifiers.is_empty() || exprs.iter().any(is_sets);
        for expr in exprs {
            if marked_call(expr, DISTINCT_SETS).is_some() {
                distinct = true;
                continue;
            }
            has_sets |= is_sets(expr);
            let sets = self.element(expr, (items, by_item), &mut groups)?;
            product = multiplied(&product, &sets)?;
        }
        for modifier in modifiers {
            has_sets = true;
            let all: Vec<usize> = (0..groups.keys.len()).collect();
            match modifier {
                GroupByWithModifier::Rollup => {
                    product = (0..=all.len()).rev().map(|n| all[..n].to_vec()).collect();
                }
                GroupByWithModifier::Cube => {
                    product = subsets(&all.iter().map(|k| vec![*k]).collect::<Vec<_>>())?
                }
                GroupByWithModifier::GroupingSets(expr) => {
                    let sets = self.element(expr, (items, by_item), &mut groups)?;
                    product = multiplied(&product, &sets)?;
                }
                GroupByWithModifier::Totals => {
                    return Err(Error::unsupported(
                        "GROUP BY … WITH TOTALS is not supported",
                    ));
                }
            }
        }
        if has_sets
            || exprs
                .iter()
                .any(|expr| matches!(expr, Ast::Tuple(parts) if parts.is_empty()))
        {
            if distinct {
                product = without_repeats(product);
            }
            groups.sets = Some(product);
        }
        Ok(groups)
    }

    /// GROUP BY ALL: every item of the list that has no aggregate.
    fn all_groups(&mut self, items: &[Item]) -> Result<Groups> {
        let scope = self.scope()?;
        let made: HashSet<ColumnId> = scope
            .aggregates
            .iter()
            .map(|(column, _)| column.id)
            .chain(scope.windows.iter().map(|(column, _)| column.id))
            .collect();
        let mut groups = Groups::default();
        for item in items {
            let constant = item.expr.literal().is_some();
            if constant || item.expr.reads().iter().any(|id| made.contains(id)) {
                continue;
            }
            self.key((item.expr.clone(), None), &mut groups)?;
        }
        Ok(groups)
    }

    /// The sets that an element of GROUP BY stands for.
    fn element(
        &mut self,
        expr: &Ast,
        (items, by_item): (&[Item], bool),
        groups: &mut Groups,
    ) -> Result<Vec<Vec<usize>>> {
        let list = (items, by_item);
        Ok(match expr {
            Ast::Rollup(parts) => {
                let parts = self.parts_of_sets(parts, list, groups)?;
                (0..=parts.len())
                    .rev()
                    .map(|n| parts[..n].concat())
                    .collect()
            }
            Ast::Cube(parts) => subsets(&self.parts_of_sets(parts, list, groups)?)?,
            Ast::GroupingSets(sets) => {
                let mut all = Vec::new();
                for set in sets {
                    match set.as_slice() {
                        [
                            one @ (Ast::Rollup(_)
                            | Ast::Cube(_)
                            | Ast::GroupingSets(_)
                            | Ast::Function(_)),
                        ] => {
                            all.extend(self.element(one, list, groups)?);
                        }
                        several => {
                            let mut keys = Vec::new();
                            for expr in several {
                                keys.extend(self.element(expr, list, groups)?.concat());
                            }
                            all.push(keys);
                        }
                    }
                }
                all
            }
            Ast::Tuple(parts) => {
                let mut keys = Vec::new();
                for part in parts {
                    keys.extend(self.element(part, list, groups)?.concat());
                }
                vec![keys]
            }
            Ast::Nested(inner) => self.element(inner, list, groups)?,
            expr => {
                if marked_call(expr, NO_KEYS).is_some() {
                    return Ok(vec![Vec::new()]);
                }
                if let Some((_, sets)) = marked_call(expr, GROUPING_SETS) {
                    let mut all = Vec::new();
                    for set in sets {
                        all.extend(self.element(set, list, groups)?);
                        if all.len() > SETS {
                            return Err(too_many());
                        }
                    }
                    return Ok(all);
                }
                for mark in [ROLLUP, CUBE] {
                    let Some((_, parts)) = marked_call(expr, mark) else {
                        continue;
                    };
                    let mut keys = Vec::with_capacity(parts.len());
                    for part in parts {
                        keys.push(self.element(part, list, groups)?.concat());
                    }
                    return match mark {
                        CUBE => subsets(&keys),
                        _ => Ok((0..=keys.len()).rev().map(|n| keys[..n].concat()).collect()),
                    };
                }
                let (bound, item) = self.group_key(expr, items)?;
                let item = item.filter(|_| by_item || bound.literal().is_some());
                vec![vec![self.key((bound, item), groups)?]]
            }
        })
    }

    fn parts_of_sets(
        &mut self,
        parts: &[Vec<Ast>],
        list: (&[Item], bool),
        groups: &mut Groups,
    ) -> Result<Vec<Vec<usize>>> {
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            let mut keys = Vec::new();
            for expr in part {
                keys.extend(self.element(expr, list, groups)?.concat());
            }
            all.push(keys);
        }
        Ok(all)
    }

    /// A key: an expression, a position in the list, or the name of an item.
    fn group_key(&mut self, expr: &Ast, items: &[Item]) -> Result<(Expr, Option<usize>)> {
        let mut found = None;
        if let Some(position) = position(expr, "GROUP BY")? {
            found = Some(by_position(position, items, "GROUP BY")?);
        } else if let Ast::Identifier(ident) = expr {
            let name = fold(ident);
            let scope = self.scope()?;
            if !matches!(scope.names.column(&name), Ok(Some(_)) | Err(())) {
                found = item_named(ident, items, "GROUP BY")?;
            }
        }
        if let Some(item) = found {
            return Ok((items[item].expr.clone(), Some(item)));
        }
        let expr = self.bind_expr(expr)?;
        let expr = self.known_expr(expr)?;
        let item = items.iter().position(|item| item.expr == expr);
        Ok((expr, item))
    }

    /// The number of a key, which is added if it is new.
    fn key(&mut self, (expr, item): (Expr, Option<usize>), groups: &mut Groups) -> Result<usize> {
        let scope = self.scope()?;
        let reads = expr.reads();
        let is_one = |column: &Column| reads.contains(&column.id);
        let wrong = if scope.aggregates.iter().any(|(column, _)| is_one(column)) {
            Some(("42803", "aggregate functions"))
        } else if scope.groupings.iter().any(|(column, _)| is_one(column)) {
            Some(("42803", "grouping operations"))
        } else if scope.windows.iter().any(|(column, _)| is_one(column)) {
            Some(("42P20", "window functions"))
        } else {
            None
        };
        if let Some((sqlstate, what)) = wrong {
            let message = format!("{what} are not allowed in GROUP BY");
            return Err(Error::new(sqlstate, message));
        }
        let expr = self.known_expr(expr)?;
        let like = groups.marks.entry(expr.mark()).or_default();
        let keys = &groups.keys;
        let is_known = |at: &&usize| keys[**at].item == item && keys[**at].expr == expr;
        if let Some(known) = like.iter().find(is_known) {
            return Ok(*known);
        }
        like.push(groups.keys.len());
        self.check_equality(&expr.ty)?;
        let column = self.column(key_name(&expr), expr.ty.clone());
        groups.keys.push(Key { column, expr, item });
        Ok(groups.keys.len() - 1)
    }
}

/// The sub-queries of a clause that stand for values, beside what they are bound to once they
/// are. An equal sub-query elsewhere in the statement is the same value then.
pub(super) fn subqueries_of(clause: &impl Visit) -> Vec<(Ast, Option<Expr>)> {
    let mut found = Vec::new();
    let _: ControlFlow<()> = visit_expressions(clause, |expr| {
        let has_query = match expr {
            Ast::Subquery(_) | Ast::Exists { .. } | Ast::InSubquery { .. } => true,
            Ast::AnyOp { right, .. } | Ast::AllOp { right, .. } => {
                matches!(**right, Ast::Subquery(_))
            }
            Ast::Function(call) => matches!(call.args, FunctionArguments::Subquery(_)),
            _ => false,
        };
        if has_query {
            found.push((expr.clone(), None));
        }
        ControlFlow::Continue(())
    });
    found
}

/// The sub-queries in the orders of aggregates with DISTINCT, which have to be those of
/// arguments.
pub(super) fn subqueries_of_orders(clause: &impl Visit) -> Vec<(Ast, Option<Expr>)> {
    let mut found = Vec::new();
    let _: ControlFlow<()> = visit_expressions(clause, |expr| {
        if let Ast::Function(call) = expr
            && let FunctionArguments::List(list) = &call.args
            && list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
        {
            for clause in &list.clauses {
                if let FunctionArgumentClause::OrderBy(keys) = clause {
                    found.extend(subqueries_of(keys));
                }
            }
        }
        ControlFlow::Continue(())
    });
    found
}

/// Sets without those that have the keys of one before them.
fn without_repeats(sets: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut seen = HashSet::new();
    let mut first = |set: &Vec<usize>| {
        let mut keys = set.clone();
        keys.sort_unstable();
        keys.dedup();
        seen.insert(keys)
    };
    sets.into_iter().filter(|set| first(set)).collect()
}

fn key_name(expr: &Expr) -> &'static str {
    match expr.kind {
        ExprKind::Column(_) => "key",
        _ => "group",
    }
}

/// The item of the SELECT list at a position, from 1.
pub(super) fn by_position(position: i64, items: &[Item], clause: &str) -> Result<usize> {
    let index = position
        .checked_sub(1)
        .and_then(|index| usize::try_from(index).ok());
    index.filter(|index| *index < items.len()).ok_or_else(|| {
        Error::new(
            "42P10",
            format!("{clause} position {position} is not in select list"),
        )
    })
}

fn multiplied(left: &[Vec<usize>], right: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    if left.len().saturating_mul(right.len()) > SETS {
        return Err(too_many());
    }
    let mut product = Vec::with_capacity(left.len() * right.len());
    for a in left {
        for b in right {
            let mut set = a.clone();
            set.extend(b.iter().filter(|key| !a.contains(key)));
            product.push(set);
        }
    }
    Ok(product)
}

fn subsets(parts: &[Vec<usize>]) -> Result<Vec<Vec<usize>>> {
    if parts.len() > 12 {
        return Err(Error::new("54011", "CUBE is limited to 12 elements"));
    }
    let all = (0..1usize << parts.len()).rev().map(|mask| {
        let chosen = (0..parts.len()).filter(|bit| mask >> (parts.len() - 1 - bit) & 1 == 1);
        chosen.flat_map(|bit| parts[bit].clone()).collect()
    });
    Ok(all.collect())
}

fn too_many() -> Error {
    Error::new(
        "54001",
        format!("too many grouping sets present (maximum {SETS})"),
    )
}

/// Puts what stands for keys in the place of the keys' expressions.
pub(super) fn regroup(expr: &mut Expr, keys: &[(Expr, Expr)]) {
    if let Some((stands, _)) = keys.iter().find(|(_, key)| key == expr) {
        *expr = stands.clone();
        return;
    }
    // A cast that leaves values as they are has changed the type and nothing else. Calls whose
    // types have other modifiers are other calls.
    let same_call = |key: &Expr| {
        !matches!(key.kind, ExprKind::Call { .. })
            || key.ty == key.ty.base() && expr.ty == expr.ty.base()
    };
    let relabelled = keys.iter().find(|(_, key)| {
        key.ty != expr.ty
            && same_call(key)
            && key.ty.arrow() == expr.ty.arrow()
            && std::mem::discriminant(&key.kind) == std::mem::discriminant(&expr.kind)
            && Expr::new(expr.kind.clone(), key.ty.clone()) == *key
    });
    if let Some((stands, _)) = relabelled {
        expr.kind = stands.kind.clone();
        return;
    }
    for child in expr.children_mut() {
        regroup(child, keys);
    }
    if let ExprKind::Subquery(subquery) = &mut expr.kind {
        regroup_plan(&mut subquery.plan, keys);
    }
}

fn regroup_plan(plan: &mut Plan, keys: &[(Expr, Expr)]) {
    for expr in plan.expressions_mut() {
        regroup(expr, keys);
    }
    for input in plan.inputs_mut() {
        regroup_plan(input, keys);
    }
}

/// Columns of the input that an expression reads although they are no keys.
pub(super) fn ungrouped(expr: &Expr, input: &HashSet<ColumnId>) -> Vec<ColumnId> {
    let mut found: Vec<ColumnId> = expr
        .reads()
        .into_iter()
        .filter(|id| input.contains(id))
        .collect();
    found.sort_unstable();
    found
}

/// Keys that depend on the primary key of a relation, if that is among the keys.
pub(super) fn dependent(scope: &Scope, keys: &[Expr], id: ColumnId) -> bool {
    let is_key = |wanted: &Expr| keys.contains(wanted);
    scope.names.relations.iter().any(|named| {
        let own = |expr: &Expr| matches!(expr.kind, ExprKind::Column(own) if own == id);
        !named.key.is_empty()
            && named.columns.iter().any(|column| own(&column.value))
            && named
                .key
                .iter()
                .all(|at| named.columns.get(*at).is_some_and(|c| is_key(&c.value)))
    })
}

/// `42803` for a column that is no key.
pub(super) fn not_grouped(scope: &Scope, id: ColumnId, in_subquery: bool) -> Error {
    let mut shown = String::from("?column?");
    for named in &scope.names.relations {
        for column in named.columns.iter().chain(&named.hidden) {
            if matches!(column.value.kind, ExprKind::Column(own) if own == id) {
                shown = match named.alias.as_str() {
                    "" => column.name.clone(),
                    alias => format!("{alias}.{}", column.name),
                };
            }
        }
    }
    let message = match in_subquery {
        true => format!("subquery uses ungrouped column \"{shown}\" from outer query"),
        false => format!(
            "column \"{shown}\" must appear in the GROUP BY clause or be used in an aggregate \
             function"
        ),
    };
    Error::new("42803", message)
}
