//! COLUMNS and the options of stars: one expression stands for one of each column.
//!
//! ```text
//! SELECT min(COLUMNS(* EXCLUDE c)) FROM t      SELECT min(a) AS a, min(b) AS b FROM t
//! WHERE COLUMNS('^x') > 0                      WHERE x1 > 0 AND x2 > 0
//! SELECT coalesce(*COLUMNS('^x')) FROM t       SELECT coalesce(x1, x2) FROM t
//! ```
//!
//! The syntax marks such an expression ([`EACH`]). The columns are found by their names and put
//! into the scope; in each copy of the expression a mark stands for one of them ([`PICKED`]), so
//! that columns of equal names are told apart.

use std::ops::ControlFlow;

use crate::syntax::walk::walk_mut;
use arrow_array::Array as _;
use arrow_array::cast::AsArray;
use sqlparser::ast::{
    Array, Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, Query, ValueWithSpan, VisitorMut,
};

use super::lambda::parts_of;
use super::naming::column_name;
use super::scope::{Clause, Namespace, Scope, ScopeColumn};
use super::{Binder, Coercion, fold, name_place, place};
use crate::error::{Error, Position, Result};
use crate::evaluate::fold::Fold;
use crate::plan::Expr;
use crate::stack;
use crate::syntax::marks::{
    COLUMNS_OF, EACH, LAMBDA, OF, PART, PATTERN, PICKED, QUOTE, RENAMED, REPLACED, SPREAD, WITHOUT,
    marked, marked_call,
};
use crate::types::Type;

/// One of the expressions that an expression stands for.
pub(super) struct Copy {
    /// The name of its column; `None` if the expression has a name of its own.
    name: Option<String>,
    /// The pattern by which the column was found.
    pattern: Option<String>,
    pub(super) expr: Ast,
}

/// The expression that is marked as one that may stand for several.
pub(super) fn each_of(expr: &Ast) -> Option<&Ast> {
    let (_, arguments) = marked_call(expr, EACH)?;
    arguments.first().copied()
}

/// The name of the column that a mark stands for.
pub(super) fn picked_name(ident: &Ident) -> Option<&str> {
    marked(ident, PICKED)?.splitn(3, PART).nth(2)
}

impl Binder<'_> {
    /// The value of a column that a mark stands for.
    pub(super) fn picked(&self, ident: &Ident) -> Option<Expr> {
        let mut parts = marked(ident, PICKED)?.splitn(3, PART);
        let (level, at) = (
            parts.next()?.parse::<usize>(),
            parts.next()?.parse::<usize>(),
        );
        let column = self.scopes.get(level.ok()?)?.picked.get(at.ok()?)?;
        Some(column.value.clone())
    }

    /// A name that stands for a column of the innermost scope.
    pub(super) fn pick(&mut self, column: ScopeColumn) -> Result<Ident> {
        let level = self.scopes.len().saturating_sub(1);
        let picked = &mut self.scope()?.picked;
        let value = format!("{PICKED}{level}{PART}{}{PART}{}", picked.len(), column.name);
        picked.push(column);
        Ok(Ident::with_quote(QUOTE, value))
    }

    /// All expressions that one stands for, in the order of the columns.
    ///
    /// # Errors
    /// `42703` if no column is selected, or one that is named does not exist.
    pub(super) fn copies(&mut self, expr: &Ast) -> Result<Vec<Copy>> {
        let mut expr = expr.clone();
        let mut find = Find::default();
        walk(&mut expr, &mut find)?;
        let Some(call) = find.found else {
            return Ok(vec![Copy::one(expr)]);
        };
        if find.differ {
            let message = "an expression with COLUMNS of several kinds is not supported";
            return Err(Error::unsupported(message).at(name_place(&call.name)));
        }
        let columns = self.selected(&call)?;
        let pattern = pattern_of(&call);
        let mut names = Vec::with_capacity(columns.len());
        for column in columns {
            let name = column.name.clone();
            names.push((name, self.pick(column)?));
        }
        let mut spread = Spread {
            columns: names.iter().map(|(_, ident)| ident.clone()).collect(),
        };
        walk(&mut expr, &mut spread)?;
        let mut left = Find::default();
        walk(&mut expr, &mut left)?;
        if left.found.is_none() {
            return Ok(vec![Copy::one(expr)]);
        }
        let mut copies = Vec::with_capacity(names.len());
        for (name, ident) in names {
            copies.push(Copy {
                name: Some(name),
                pattern: pattern.clone(),
                expr: Replace::columns(expr.clone(), &Ast::Identifier(ident)),
            });
        }
        Ok(copies)
    }

    /// A condition that stands for one of each column: all of them must hold.
    pub(super) fn each_condition(&mut self, expr: &Ast) -> Result<Expr> {
        let clause = self.scope()?.clause;
        let allowed = matches!(
            clause,
            Clause::Where | Clause::On | Clause::Having | Clause::Qualify
        );
        let mut copies = self.copies(expr)?;
        if copies.len() == 1 && copies[0].name.is_none() {
            return self.bind_expr(&copies.swap_remove(0).expr);
        }
        if !allowed {
            return Err(misplaced());
        }
        let mut all = Vec::with_capacity(copies.len());
        for copy in copies {
            all.push(self.bind_condition(&copy.expr, "COLUMNS")?);
        }
        Ok(Expr::and(all))
    }

    /// The columns that a call of COLUMNS selects.
    pub(super) fn selected(&mut self, call: &Function) -> Result<Vec<ScopeColumn>> {
        let position = name_place(&call.name);
        let FunctionArguments::List(list) = &call.args else {
            return Err(misplaced().at(position));
        };
        let mut columns: Option<Vec<ScopeColumn>> = None;
        for argument in &list.args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(part)) = argument else {
                return Err(misplaced().at(position));
            };
            if let Some((_, names)) = marked_call(part, OF) {
                columns = Some(self.columns_of(&names)?);
                continue;
            }
            let before = match columns.take() {
                Some(columns) => columns,
                None => self.all_columns(position)?,
            };
            columns = Some(self.narrowed(before, part)?);
        }
        let columns = match columns {
            Some(columns) => columns,
            None => self.all_columns(position)?,
        };
        match columns.is_empty() {
            true => Err(Error::new("42703", "COLUMNS selects no column").at(position)),
            false => Ok(columns),
        }
    }

    fn all_columns(&mut self, position: Option<Position>) -> Result<Vec<ScopeColumn>> {
        let names = &self.scope()?.names;
        match names.relations.is_empty() {
            true => Err(
                Error::new("42601", "SELECT * with no tables specified is not valid").at(position),
            ),
            false => Ok(names.columns.clone()),
        }
    }

    fn columns_of(&mut self, names: &[&Ast]) -> Result<Vec<ScopeColumn>> {
        let idents = match names {
            [Ast::Identifier(ident)] => vec![ident.clone()],
            [Ast::CompoundIdentifier(idents)] => idents.clone(),
            _ => return Err(Error::internal("a star of no relation")),
        };
        self.columns_of_relation(&ObjectName::from(idents))
    }

    /// Columns after one part of COLUMNS.
    fn narrowed(&mut self, columns: Vec<ScopeColumn>, part: &Ast) -> Result<Vec<ScopeColumn>> {
        let mut columns = columns;
        if let Some((_, names)) = marked_call(part, WITHOUT) {
            for name in names {
                let ident = last_name(name)?;
                let excluded = fold(ident);
                find(&mut columns, ident, "EXCLUDE")?;
                columns.retain(|column| column.name != excluded);
            }
            return Ok(columns);
        }
        if let Some((new, names)) = marked_call(part, RENAMED) {
            let [name] = names.as_slice() else {
                return Err(Error::internal("RENAME of several names"));
            };
            find(&mut columns, last_name(name)?, "RENAME")?.name = new.to_owned();
            return Ok(columns);
        }
        if let Some((name, values)) = marked_call(part, REPLACED) {
            let [value] = values.as_slice() else {
                return Err(Error::internal("REPLACE by several values"));
            };
            let value = self.bind_expr(value)?;
            let ident = Ident::with_quote(QUOTE, name);
            find(&mut columns, &ident, "REPLACE")?.value = value;
            return Ok(columns);
        }
        if let Ast::Array(Array { elem, .. }) = part {
            let mut listed = Vec::with_capacity(elem.len());
            for element in elem {
                let name = self.bind_expr(element)?;
                let name = self.constant_text(name, "a name in COLUMNS")?;
                let found = columns
                    .iter()
                    .find(|column| Some(&column.name) == name.as_ref());
                listed.push(found.cloned().ok_or_else(|| {
                    let name = name.as_deref().unwrap_or("NULL");
                    let message = format!("column \"{name}\" in COLUMNS does not exist");
                    Error::new("42703", message).at(place_of(element))
                })?);
            }
            return Ok(listed);
        }
        let mut kept = Vec::with_capacity(columns.len());
        for column in columns {
            if self.keeps(&column.name, part)? {
                kept.push(column);
            }
        }
        Ok(kept)
    }

    /// Whether a pattern or a lambda takes a name.
    fn keeps(&mut self, name: &str, part: &Ast) -> Result<bool> {
        let name = Expr::text(name, Type::Text);
        let kept = match parts_of(part) {
            Some((names, body)) => {
                let [parameter] = names.as_slice() else {
                    return Err(Error::new("42883", "a lambda of COLUMNS has one parameter"));
                };
                let column = ScopeColumn {
                    name: parameter.clone(),
                    value: name,
                };
                let names = Namespace {
                    relations: Vec::new(),
                    columns: vec![column],
                };
                self.scopes.push(Scope::new(names, Clause::Alone));
                let bound = self.bind_condition(body, "COLUMNS");
                self.scopes.pop();
                bound?
            }
            None => {
                let bound = self.bind_expr(part)?;
                match &bound.ty {
                    Type::Array(_) => {
                        let position = self.function("array_position", vec![bound, name])?;
                        position.is_null().not()
                    }
                    Type::Unknown | Type::Text | Type::Varchar(_) => {
                        self.binary("~", name, bound)?
                    }
                    other => {
                        let message = format!(
                            "COLUMNS takes *, a pattern, a list of names or a lambda, not {other}"
                        );
                        return Err(Error::new("42804", message).at(place_of(part)));
                    }
                }
            }
        };
        let kept = self.constant(kept, "the condition of COLUMNS")?;
        Ok(is_true(&kept))
    }

    /// An expression as a literal.
    ///
    /// # Errors
    /// `42P10` if it is no constant.
    pub(super) fn constant(&self, expr: Expr, what: &str) -> Result<Expr> {
        let mut expr = expr;
        Fold {
            session: self.session,
            stable: true,
            parameters: &[],
        }
        .expr(&mut expr);
        match expr.literal() {
            Some(_) => Ok(expr),
            None => Err(Error::new("42P10", format!("{what} must be a constant"))),
        }
    }

    /// The text of a constant; `None` for NULL.
    pub(super) fn constant_text(&mut self, expr: Expr, what: &str) -> Result<Option<String>> {
        let text = self.coerce(expr, &Type::Text, Coercion::Explicit)?;
        Ok(self.constant(text, what)?.literal_text().map(str::to_owned))
    }

    /// The name of a copy: its alias, that of its column, or the one that it would have anyway.
    pub(super) fn name_of_copy(
        &mut self,
        copy: &Copy,
        alias: Option<&Ident>,
        bound: &Expr,
    ) -> Result<String> {
        let Some(alias) = alias else {
            return Ok(match &copy.name {
                Some(name) => name.clone(),
                None => column_name(&copy.expr, bound),
            });
        };
        let Some(new) = marked(alias, PATTERN) else {
            return Ok(fold(alias));
        };
        let (Some(name), Some(pattern)) = (&copy.name, &copy.pattern) else {
            return Ok(new.to_owned());
        };
        let arguments = [name.as_str(), pattern.as_str(), new];
        let arguments = arguments.map(|text| Expr::text(text, Type::Text));
        let name = self.function("regexp_replace", arguments.to_vec())?;
        let name = self.constant(name, "the name of a column")?;
        Ok(name.literal_text().unwrap_or_default().to_owned())
    }
}

impl Copy {
    /// An expression that stands for itself.
    fn one(expr: Ast) -> Self {
        Self {
            name: None,
            pattern: None,
            expr,
        }
    }
}

/// The pattern of `COLUMNS ('pattern')`.
fn pattern_of(call: &Function) -> Option<String> {
    let FunctionArguments::List(list) = &call.args else {
        return None;
    };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::Value(value)))] => {
            value.value.clone().into_string()
        }
        _ => None,
    }
}

/// The column of a name.
fn find<'c>(
    columns: &'c mut [ScopeColumn],
    ident: &Ident,
    clause: &str,
) -> Result<&'c mut ScopeColumn> {
    let name = fold(ident);
    let found = columns.iter_mut().find(|column| column.name == name);
    found.ok_or_else(|| {
        let message = format!("column \"{name}\" in {clause} does not exist");
        Error::new("42703", message).at(place(ident))
    })
}

fn last_name(name: &Ast) -> Result<&Ident> {
    let ident = match name {
        Ast::Identifier(ident) => Some(ident),
        Ast::CompoundIdentifier(idents) => idents.last(),
        _ => None,
    };
    ident.ok_or_else(|| Error::internal("a name that is none"))
}

/// Whether a literal is TRUE.
fn is_true(expr: &Expr) -> bool {
    let value = expr.literal().and_then(|array| array.as_boolean_opt());
    value.is_some_and(|value| !value.is_null(0) && value.value(0))
}

/// The place of a literal.
fn place_of(expr: &Ast) -> Option<Position> {
    match expr {
        Ast::Value(ValueWithSpan { span, .. }) => super::at(*span),
        Ast::Identifier(ident) => place(ident),
        _ => None,
    }
}

/// The error for COLUMNS where it stands for nothing.
pub(super) fn misplaced() -> Error {
    Error::unsupported(
        "COLUMNS and the options of * stand in SELECT lists, ORDER BY, and conditions of queries only",
    )
}

/// Walks an expression where there is room for it.
fn walk(expr: &mut Ast, visitor: &mut dyn VisitorMut<Break = ()>) -> Result<()> {
    stack::check()?;
    let _ = walk_mut(expr, visitor);
    Ok(())
}

fn is_call(expr: &Ast, mark: &str) -> bool {
    marked_call(expr, mark).is_some()
}

/// Finds the calls of COLUMNS, outside of sub-queries and of lambdas that select columns.
#[derive(Default)]
struct Find {
    found: Option<Function>,
    differ: bool,
    queries: usize,
}

impl VisitorMut for Find {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Ast) -> ControlFlow<()> {
        if self.queries == 0
            && is_call(expr, COLUMNS_OF)
            && let Ast::Function(call) = expr
        {
            match &self.found {
                None => self.found = Some(call.clone()),
                Some(found) => self.differ |= found != call,
            }
        }
        ControlFlow::Continue(())
    }
}

/// Puts an expression in the place of COLUMNS.
pub(super) struct Replace<'a>(&'a Ast);

impl Replace<'_> {
    /// An expression with another in the place of COLUMNS.
    pub(super) fn columns(expr: Ast, by: &Ast) -> Ast {
        let mut expr = expr;
        let _ = walk_mut(&mut expr, &mut Replace(by));
        expr
    }
}

impl VisitorMut for Replace<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Ast) -> ControlFlow<()> {
        if is_call(expr, COLUMNS_OF) {
            *expr = self.0.clone();
        }
        ControlFlow::Continue(())
    }
}

/// Puts all columns into the lists around `*COLUMNS (…)`.
struct Spread {
    columns: Vec<Ident>,
}

impl Spread {
    fn list(&self, list: &mut Vec<Ast>) {
        while let Some(at) = list.iter().position(|item| is_call(item, SPREAD)) {
            let columns = self.columns.iter().cloned().map(Ast::Identifier);
            list.splice(at..=at, columns);
        }
    }
}

impl VisitorMut for Spread {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Ast) -> ControlFlow<()> {
        match expr {
            Ast::Function(call) if is_mark_of_form(call) => {}
            Ast::Function(call) => {
                if let FunctionArguments::List(list) = &mut call.args {
                    let is_spread = |argument: &FunctionArg| matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) if is_call(expr, SPREAD));
                    while let Some(at) = list.args.iter().position(is_spread) {
                        let columns = self.columns.iter().cloned();
                        let columns = columns.map(|ident| {
                            FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::Identifier(ident)))
                        });
                        list.args.splice(at..=at, columns);
                    }
                }
            }
            Ast::InList { list, .. } | Ast::Tuple(list) => self.list(list),
            Ast::Array(Array { elem, .. }) => self.list(elem),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Whether a call is one of a lambda or of COLUMNS.
fn is_mark_of_form(call: &Function) -> bool {
    let ident = call.name.0.first().and_then(|part| part.as_ident());
    ident.is_some_and(|ident| {
        [LAMBDA, COLUMNS_OF, SPREAD]
            .iter()
            .any(|mark| marked(ident, mark).is_some())
    })
}
