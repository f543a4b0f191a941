//! SELECT: its list, groups, windows, sets of rows, DISTINCT and ORDER BY.
//!
//! Expressions are bound first; calls of aggregates, windows and functions that give rows are
//! put aside in the scope, and columns stand for them. Then the plan is built from the inside:
//!
//! ```text
//! FROM → WHERE → groups → HAVING → windows → QUALIFY → rows of functions → list → DISTINCT → ORDER BY
//! ```

use std::collections::{HashMap, HashSet};

use sqlparser::ast::{
    AccessExpr, Distinct, ExceptSelectItem, ExcludeSelectItem, Expr as Ast, GroupByExpr, Ident,
    IlikeSelectItem, ObjectName, OrderBy, OrderByExpr, OrderByKind, OrderByOptions,
    RenameSelectItem, ReplaceSelectItem, Select, SelectFlavor, SelectItem,
    SelectItemQualifiedWildcardKind, UnaryOperator, Value, ValueWithSpan,
    WildcardAdditionalOptions,
};

use super::group::{Groups, by_position, dependent, not_grouped, regroup, ungrouped};
use super::naming::column_name;
use super::scope::{Clause, Scope, ScopeColumn};
use super::{Binder, fold, parts, place, refuse};
use crate::error::{Error, Result};
use crate::plan::{Column, ColumnId, Expr, ExprKind, Marked, Plan, SetItem, SortKey, TableCall};
use crate::syntax::marks::{NOTHING, WHOLE_ROW, marked};
use crate::types::Type;

/// Most items of a SELECT list, as in PostgreSQL.
const ITEMS: usize = 1_664;

/// An item of a SELECT list.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) expr: Expr,
}

/// A plan with an order that is not yet cut to its visible columns.
pub(super) struct Ordered {
    pub(super) plan: Plan,
    /// The order that its rows have.
    pub(super) keys: Vec<SortKey>,
    /// Its columns, without those that only the order needs.
    pub(super) visible: Vec<Column>,
}

impl Ordered {
    /// The plan with its visible columns only.
    pub(super) fn cut(self) -> Plan {
        if self.plan.columns().len() == self.visible.len() {
            return self.plan;
        }
        let items = self.visible.into_iter().map(|column| {
            let value = column.reference();
            (column, value)
        });
        Plan::Project {
            items: items.collect(),
            input: Box::new(self.plan),
        }
    }
}

/// Keys of ORDER BY as they are written.
enum Written<'a> {
    All(&'a OrderByOptions),
    Keys(&'a [OrderByExpr]),
}

impl Binder<'_> {
    /// A SELECT with the ORDER BY behind it.
    pub(super) fn bind_select(
        &mut self,
        select: &Select,
        order_by: Option<&OrderBy>,
    ) -> Result<Ordered> {
        let Select {
            select_token: _,
            optimizer_hints: _,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        refuse(select_modifiers.is_some(), "a modifier behind SELECT")?;
        refuse(top.is_some(), "TOP")?;
        refuse(into.is_some(), "SELECT INTO")?;
        refuse(!lateral_views.is_empty(), "LATERAL VIEW")?;
        refuse(prewhere.is_some(), "PREWHERE")?;
        refuse(!connect_by.is_empty(), "CONNECT BY")?;
        refuse(!cluster_by.is_empty(), "CLUSTER BY")?;
        refuse(!distribute_by.is_empty(), "DISTRIBUTE BY")?;
        refuse(!sort_by.is_empty(), "SORT BY")?;
        refuse(value_table_mode.is_some(), "SELECT AS VALUE")?;

        let (plan, names) = self.bind_from(from)?;
        self.scopes.push(Scope::new(names, Clause::Where));
        let bound = self.bind_body(
            plan,
            Body {
                distinct: distinct.as_ref(),
                projection,
                exclude: exclude.as_ref(),
                selection: selection.as_ref(),
                group_by,
                having: having.as_ref(),
                named_window,
                qualify: qualify.as_ref(),
                everything: *flavor == SelectFlavor::FromFirstNoSelect,
            },
            order_by,
        );
        self.scopes.pop();
        bound
    }

    fn bind_body(
        &mut self,
        mut plan: Plan,
        body: Body<'_>,
        order_by: Option<&OrderBy>,
    ) -> Result<Ordered> {
        let condition = match body.selection {
            None => None,
            Some(condition) => Some(self.with_aliases(body.projection, |binder| {
                binder.bind_condition(condition, "WHERE")
            })?),
        };
        self.scope()?.aliases.clear();
        self.scope()?.clause = Clause::List;
        self.name_windows(body.named_window)?;
        let mut items = self.items(&body)?;
        let grouped_by = !matches!(body.group_by, GroupByExpr::Expressions(keys, modifiers)
            if keys.is_empty() && modifiers.is_empty());
        let groups = self.groups(body.group_by, &items)?;
        let having = match body.having {
            None => None,
            Some(having) => {
                self.scope()?.clause = Clause::Having;
                Some(self.with_items(&items, |binder| binder.bind_condition(having, "HAVING"))?)
            }
        };
        self.scope()?.clause = Clause::Qualify;
        let qualify = match body.qualify {
            None => None,
            Some(qualify) => {
                Some(self.with_items(&items, |binder| binder.bind_condition(qualify, "QUALIFY"))?)
            }
        };
        self.scope()?.clause = Clause::List;
        let on = match body.distinct {
            Some(Distinct::On(exprs)) => {
                let mut on = Vec::new();
                for expr in exprs {
                    on.push(self.named_or_bound(expr, &items, "DISTINCT ON")?);
                }
                Some(on)
            }
            _ => None,
        };
        let distinct = matches!(body.distinct, Some(Distinct::Distinct));
        let mut order = self.order(order_by, &items)?;
        if let Some(on) = &on {
            check_distinct_on(on, &order)?;
        }
        if distinct {
            for item in &mut items {
                item.expr = self.known_expr(item.expr.clone())?;
            }
            let listed = Marked::of(items.iter().map(|item| &item.expr));
            if !order.iter().all(|key| listed.position(&key.expr).is_some()) {
                return Err(Error::new(
                    "42P10",
                    "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                ));
            }
            for item in &items {
                if !matches!(
                    item.expr.ty,
                    Type::Array(_) | Type::Record(_) | Type::Enum(_)
                ) {
                    let ty = &item.expr.ty;
                    self.equality(ty)
                        .map_err(|_| super::call::no_equality(ty))?;
                }
            }
        }
        let (aggregates, groupings, windows, sets) = {
            let scope = self.scope()?;
            (
                std::mem::take(&mut scope.aggregates),
                std::mem::take(&mut scope.groupings),
                std::mem::take(&mut scope.windows),
                std::mem::take(&mut scope.sets),
            )
        };
        let input: HashSet<ColumnId> = plan.columns().iter().map(|column| column.id).collect();
        if let Some(condition) = condition {
            plan = Plan::Filter {
                input: Box::new(plan),
                condition,
            };
        }
        let (mut having, mut qualify, mut on, mut windows, mut sets) =
            (having, qualify, on, windows, sets);
        if grouped_by || !aggregates.is_empty() || having.is_some() || !groupings.is_empty() {
            let mut all: Vec<&mut Expr> = items.iter_mut().map(|item| &mut item.expr).collect();
            all.extend(&mut having);
            all.extend(&mut qualify);
            all.extend(on.iter_mut().flatten());
            all.extend(order.iter_mut().map(|key| &mut key.expr));
            for (_, call) in &mut windows {
                all.extend(&mut call.arguments);
                all.extend(&mut call.filter);
                all.extend(&mut call.partition);
                all.extend(call.order.iter_mut().map(|key| &mut key.expr));
                all.extend(&mut call.frame.start_value);
                all.extend(&mut call.frame.end_value);
            }
            all.extend(sets.iter_mut().flat_map(|call| &mut call.arguments));
            plan = self.aggregated(plan, groups, (aggregates, groupings), all, &input)?;
        }
        if let Some(condition) = having {
            plan = Plan::Filter {
                input: Box::new(plan),
                condition,
            };
        }
        if !windows.is_empty() {
            plan = Plan::Window {
                input: Box::new(plan),
                calls: windows,
            };
        }
        if let Some(condition) = qualify {
            plan = Plan::Filter {
                input: Box::new(plan),
                condition,
            };
        }
        plan = with_sets(plan, sets);
        self.listed(plan, items, order, distinct, on)
    }

    /// The groups of a plan; all expressions above them read what they give.
    fn aggregated(
        &mut self,
        plan: Plan,
        groups: Groups,
        (calls, groupings): Calls,
        above: Vec<&mut Expr>,
        input: &HashSet<ColumnId>,
    ) -> Result<Plan> {
        let Groups { mut keys, sets, .. } = groups;
        let mut grouping = Vec::new();
        for (column, arguments) in groupings {
            let mut places = Vec::new();
            for argument in arguments {
                let found = keys.iter().position(|(_, key)| *key == argument);
                places.push(found.ok_or_else(|| {
                    Error::new(
                        "42803",
                        "arguments to GROUPING must be grouping expressions of the associated query level",
                    )
                })?);
            }
            grouping.push((column, places));
        }
        // Columns of a row's relation that its primary key determines.
        let mut above = above;
        let mut more: Vec<ColumnId> = Vec::new();
        for expr in &mut above {
            let mut regrouped = (**expr).clone();
            regroup(&mut regrouped, &keys);
            for id in ungrouped(&regrouped, input) {
                if sets.is_none() && dependent(self.scope()?, &keys, id) {
                    if !more.contains(&id) {
                        more.push(id);
                    }
                    continue;
                }
                let mut direct = false;
                regrouped.any(&mut |part| {
                    direct |= matches!(part.kind, ExprKind::Column(own) if own == id);
                    direct
                });
                return Err(not_grouped(self.scope()?, id, !direct));
            }
        }
        let types: HashMap<ColumnId, Column> = plan
            .columns()
            .into_iter()
            .map(|column| (column.id, column))
            .collect();
        for id in more {
            if let Some(column) = types.get(&id) {
                let key = self.column(column.name.clone(), column.ty.clone());
                keys.push((key, column.reference()));
            }
        }
        for expr in above {
            regroup(expr, &keys);
        }
        for ((column, key), index) in keys.iter_mut().zip(0..) {
            if let ExprKind::Column(id) = key.kind
                && let Some(known) = types.get(&id)
            {
                column.name.clone_from(&known.name);
            } else {
                column.name = format!("group{index}");
            }
        }
        Ok(Plan::Aggregate {
            input: Box::new(plan),
            keys,
            sets,
            calls,
            grouping,
        })
    }

    /// The list over a plan, with DISTINCT and ORDER BY.
    fn listed(
        &mut self,
        plan: Plan,
        items: Vec<Item>,
        order: Vec<SortKey>,
        distinct: bool,
        on: Option<Vec<Expr>>,
    ) -> Result<Ordered> {
        let mut projected: Vec<(Column, Expr)> = Vec::with_capacity(items.len());
        for Item { name, expr } in items {
            let column = self.column(name, expr.ty.clone());
            projected.push((column, expr));
        }
        let visible: Vec<Column> = projected.iter().map(|(column, _)| column.clone()).collect();
        let mut marks: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, (_, value)) in projected.iter().enumerate() {
            marks.entry(value.mark()).or_default().push(at);
        }
        let mut place = |binder: &mut Self, expr: Expr| -> Expr {
            let like = marks.entry(expr.mark()).or_default();
            let found = like.iter().find(|at| projected[**at].1 == expr);
            match found {
                Some(at) => projected[*at].0.reference(),
                None => {
                    let column = binder.column("order", expr.ty.clone());
                    let reference = column.reference();
                    like.push(projected.len());
                    projected.push((column, expr));
                    reference
                }
            }
        };
        let mut keys = Vec::with_capacity(order.len());
        for key in order {
            keys.push(SortKey {
                expr: place(self, key.expr),
                ..key
            });
        }
        let on = on.map(|on| {
            on.into_iter()
                .map(|expr| place(self, expr))
                .collect::<Vec<_>>()
        });
        let mut plan = Plan::Project {
            input: Box::new(plan),
            items: projected,
        };
        if distinct {
            plan = Plan::Distinct {
                input: Box::new(plan),
                on: None,
            };
        }
        if !keys.is_empty() {
            plan = Plan::Sort {
                input: Box::new(plan),
                keys: keys.clone(),
            };
        }
        if let Some(on) = on {
            plan = Plan::Distinct {
                input: Box::new(plan),
                on: Some(on),
            };
        }
        Ok(Ordered {
            plan,
            keys,
            visible,
        })
    }

    /// The keys of an ORDER BY over a SELECT.
    fn order(&mut self, order_by: Option<&OrderBy>, items: &[Item]) -> Result<Vec<SortKey>> {
        let Some(order_by) = order_by else {
            return Ok(Vec::new());
        };
        let mut keys = Vec::new();
        match written(order_by)? {
            Written::All(options) => {
                for item in items {
                    keys.push(self.key_of(item.expr.clone(), options)?);
                }
            }
            Written::Keys(exprs) => {
                for OrderByExpr {
                    expr,
                    options,
                    with_fill,
                } in exprs
                {
                    refuse(with_fill.is_some(), "WITH FILL")?;
                    let value = self.named_or_bound(expr, items, "ORDER BY")?;
                    keys.push(self.key_of(value, options)?);
                }
            }
        }
        Ok(keys)
    }

    fn key_of(&mut self, expr: Expr, options: &OrderByOptions) -> Result<SortKey> {
        let OrderByOptions { asc, nulls_first } = options;
        let expr = self.known_expr(expr)?;
        self.check_ordered(&expr.ty)?;
        let descending = *asc == Some(false);
        Ok(SortKey {
            expr,
            descending,
            nulls_first: nulls_first.unwrap_or(descending),
        })
    }

    /// A position in the list, the name of an item, or an expression.
    fn named_or_bound(&mut self, expr: &Ast, items: &[Item], clause: &str) -> Result<Expr> {
        if let Some(position) = position(expr) {
            return by_position(position, items, clause);
        }
        no_constant(expr, clause)?;
        if let Ast::Identifier(ident) = expr {
            let name = fold(ident);
            let mut named = items.iter().filter(|item| item.name == name);
            if let Some(first) = named.next() {
                if named.any(|other| other.expr != first.expr) {
                    let message = format!("{clause} \"{name}\" is ambiguous");
                    return Err(Error::new("42702", message).at(place(ident)));
                }
                return Ok(first.expr.clone());
            }
        }
        self.bind_expr(expr)
    }

    /// Binds what may name items of the list, where PostgreSQL would find no such column.
    fn with_items<T>(
        &mut self,
        items: &[Item],
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let named = items
            .iter()
            .map(|item| (item.name.clone(), item.expr.clone()));
        let scope = self.scope()?;
        scope.aliases = named.collect();
        scope.shows_aliases = true;
        let bound = bind(self);
        let scope = self.scope()?;
        scope.aliases.clear();
        scope.shows_aliases = false;
        bound
    }

    /// The same before the list is bound: only if that fails, names of the list are tried.
    fn with_aliases<T>(
        &mut self,
        projection: &[SelectItem],
        bind: impl Fn(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let depth = self.depth;
        let error = match bind(self) {
            Err(error) if error.sqlstate == "42703" => error,
            done => return done,
        };
        self.depth = depth;
        let mut aliases = Vec::new();
        for item in projection {
            let SelectItem::ExprWithAlias { expr, alias } = item else {
                continue;
            };
            // An alias whose expression may not stand here helps nobody.
            if let Ok(bound) = self.bind_expr(expr) {
                aliases.push((fold(alias), bound));
            }
            self.depth = depth;
        }
        if aliases.is_empty() {
            return Err(error);
        }
        let scope = self.scope()?;
        scope.aliases = aliases;
        scope.shows_aliases = true;
        let bound = bind(self);
        self.scope()?.shows_aliases = false;
        self.depth = depth;
        bound.map_err(|_| error)
    }

    /// The items of the list, with every `*` written out.
    fn items(&mut self, body: &Body<'_>) -> Result<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        if body.everything {
            return Ok(self.scope()?.names.columns.iter().map(item_of).collect());
        }
        for item in body.projection {
            match item {
                SelectItem::UnnamedExpr(Ast::Identifier(ident))
                    if marked(ident, NOTHING).is_some() => {}
                SelectItem::UnnamedExpr(expr) => {
                    if let Some(row) = starred(expr) {
                        let value = self.bind_expr(&row)?;
                        items.extend(fields_of(value)?.iter().map(item_of));
                        continue;
                    }
                    let name = column_name(expr);
                    let expr = self.list_expr(expr, &items)?;
                    items.push(Item { name, expr });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let name = fold(alias);
                    let expr = self.list_expr(expr, &items)?;
                    items.push(Item { name, expr });
                }
                SelectItem::ExprWithAliases { .. } => {
                    return Err(Error::unsupported("several aliases of one expression"));
                }
                SelectItem::Wildcard(options) => {
                    if self.scope()?.names.relations.is_empty() {
                        return Err(Error::new(
                            "42601",
                            "SELECT * with no tables specified is not valid",
                        ));
                    }
                    let columns = self.scope()?.names.columns.clone();
                    items.extend(self.wildcard(columns, options)?);
                }
                SelectItem::QualifiedWildcard(kind, options) => {
                    let columns = self.qualified(kind)?;
                    items.extend(self.wildcard(columns, options)?);
                }
            }
        }
        if let Some(exclude) = body.exclude {
            let names = excluded(exclude)?;
            items.retain(|item| !names.contains(&item.name));
        }
        self.scope()?.aliases.clear();
        if items.len() > ITEMS {
            return Err(Error::new(
                "54011",
                format!("target lists can have at most {ITEMS} entries"),
            ));
        }
        Ok(items)
    }

    /// An expression of the list, which may name items before it where no column has the name.
    fn list_expr(&mut self, expr: &Ast, before: &[Item]) -> Result<Expr> {
        let depth = self.depth;
        // The search for like names would be in vain for most.
        let hints = std::mem::replace(&mut self.hints, before.is_empty());
        let bound = self.bind_expr(expr);
        self.hints = hints;
        if before.is_empty() || !matches!(&bound, Err(error) if error.sqlstate == "42703") {
            return bound;
        }
        self.depth = depth;
        let scope = self.scope()?;
        scope.clause = Clause::List;
        // Items are added only, so that those that are there need not be put there again.
        let known = scope.aliases.len();
        let more = before.iter().skip(known);
        let more = more.map(|item| (item.name.clone(), item.expr.clone()));
        scope.aliases.extend(more);
        scope.shows_aliases = true;
        let named = self.bind_expr(expr);
        self.scope()?.shows_aliases = false;
        match named {
            Err(error) if error.sqlstate != "54001" => {
                self.depth = depth;
                self.bind_expr(expr)
            }
            done => done,
        }
    }

    fn qualified(&mut self, kind: &SelectItemQualifiedWildcardKind) -> Result<Vec<ScopeColumn>> {
        let name = match kind {
            SelectItemQualifiedWildcardKind::ObjectName(name) => name,
            SelectItemQualifiedWildcardKind::Expr(expr) => {
                let value = self.bind_expr(expr)?;
                return fields_of(value);
            }
        };
        let mut path = parts(name)?;
        let last = path.pop().unwrap_or_default();
        let schema = path.pop();
        for scope in self.scopes.iter().rev() {
            if let Some(named) = scope.names.relation(schema.as_deref(), &last) {
                return Ok(named.columns.clone());
            }
        }
        Err(self.missing_from(&last, super::name_place(name)))
    }

    fn wildcard(
        &mut self,
        columns: Vec<ScopeColumn>,
        options: &WildcardAdditionalOptions,
    ) -> Result<Vec<Item>> {
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        refuse(opt_alias.is_some(), "an alias of *")?;
        let mut items: Vec<Item> = columns.iter().map(item_of).collect();
        if let Some(IlikeSelectItem { pattern }) = opt_ilike {
            let pattern = pattern.to_lowercase();
            items.retain(|item| like(&item.name.to_lowercase(), &pattern));
        }
        let mut left_out = Vec::new();
        if let Some(exclude) = opt_exclude {
            left_out.extend(excluded(exclude)?);
        }
        if let Some(ExceptSelectItem {
            first_element,
            additional_elements,
        }) = opt_except
        {
            left_out.extend(
                std::iter::once(first_element)
                    .chain(additional_elements)
                    .map(fold),
            );
        }
        for name in &left_out {
            if !items.iter().any(|item| item.name == *name) {
                return Err(Error::new(
                    "42703",
                    format!("column \"{name}\" in EXCLUDE does not exist"),
                ));
            }
        }
        items.retain(|item| !left_out.contains(&item.name));
        if let Some(ReplaceSelectItem { items: replaced }) = opt_replace {
            for element in replaced {
                let name = fold(&element.column_name);
                let value = self.bind_expr(&element.expr)?;
                let found = items.iter_mut().find(|item| item.name == name);
                let found = found.ok_or_else(|| {
                    Error::new(
                        "42703",
                        format!("column \"{name}\" in REPLACE does not exist"),
                    )
                })?;
                found.expr = value;
            }
        }
        if let Some(rename) = opt_rename {
            let renamed = match rename {
                RenameSelectItem::Single(one) => vec![one],
                RenameSelectItem::Multiple(several) => several.iter().collect(),
            };
            for one in renamed {
                let name = fold(&one.ident);
                let found = items.iter_mut().find(|item| item.name == name);
                let found = found.ok_or_else(|| {
                    Error::new(
                        "42703",
                        format!("column \"{name}\" in RENAME does not exist"),
                    )
                })?;
                found.name = fold(&one.alias);
            }
        }
        Ok(items)
    }
}

/// The row whose fields are all items of the list: `(row).*`.
fn starred(expr: &Ast) -> Option<Ast> {
    let Ast::CompoundFieldAccess { root, access_chain } = expr else {
        return None;
    };
    let [before @ .., AccessExpr::Dot(Ast::Identifier(last))] = access_chain.as_slice() else {
        return None;
    };
    marked(last, WHOLE_ROW)?;
    Some(match before {
        [] => root.as_ref().clone(),
        before => Ast::CompoundFieldAccess {
            root: root.clone(),
            access_chain: before.to_vec(),
        },
    })
}

/// Calls of aggregates and of GROUPING, with the columns that stand for them.
type Calls = (
    Vec<(Column, crate::plan::AggregateCall)>,
    Vec<(Column, Vec<Expr>)>,
);

/// The parts of a SELECT that are bound over its FROM.
struct Body<'a> {
    distinct: Option<&'a Distinct>,
    projection: &'a [SelectItem],
    exclude: Option<&'a ExcludeSelectItem>,
    selection: Option<&'a Ast>,
    group_by: &'a GroupByExpr,
    having: Option<&'a Ast>,
    named_window: &'a [sqlparser::ast::NamedWindowDefinition],
    qualify: Option<&'a Ast>,
    /// `FROM t` without SELECT.
    everything: bool,
}

fn item_of(column: &ScopeColumn) -> Item {
    Item {
        name: column.name.clone(),
        expr: column.value.clone(),
    }
}

fn fields_of(value: Expr) -> Result<Vec<ScopeColumn>> {
    let Type::Record(fields) = &value.ty else {
        return Err(Error::new(
            "42809",
            format!("type {} is not composite", value.ty),
        ));
    };
    let fields = fields.iter().enumerate();
    let fields = fields.map(|(at, (name, ty))| {
        let field = match &value.kind {
            ExprKind::Row(values) => values.get(at).cloned(),
            _ => None,
        };
        let field = field
            .unwrap_or_else(|| Expr::new(ExprKind::Field(Box::new(value.clone()), at), ty.clone()));
        ScopeColumn {
            name: name.clone(),
            value: field,
        }
    });
    Ok(fields.collect())
}

fn excluded(exclude: &ExcludeSelectItem) -> Result<Vec<String>> {
    let last = |name: &ObjectName| Ok(parts(name)?.pop().unwrap_or_default());
    match exclude {
        ExcludeSelectItem::Single(name) => Ok(vec![last(name)?]),
        ExcludeSelectItem::Multiple(names) => names.iter().map(last).collect(),
    }
}

/// Whether a name is like a pattern with `%` and `_`.
fn like(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    let (mut n, mut p, mut star, mut mark) = (0, 0, None, 0);
    while n < name.len() {
        match pattern.get(p) {
            Some('%') => {
                star = Some(p);
                mark = n;
                p += 1;
            }
            Some('_') => (n, p) = (n + 1, p + 1),
            Some(c) if *c == name[n] => (n, p) = (n + 1, p + 1),
            _ => match star {
                Some(at) => {
                    mark += 1;
                    (n, p) = (mark, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '%')
}

/// Refuses a constant that is no position in ORDER BY or GROUP BY.
pub(super) fn no_constant(expr: &Ast, clause: &str) -> Result<()> {
    let Ast::Value(ValueWithSpan { value, span }) = expr else {
        return Ok(());
    };
    match value {
        Value::Placeholder(_) => Ok(()),
        _ => Err(
            Error::new("42601", format!("non-integer constant in {clause}")).at(super::at(*span)),
        ),
    }
}

/// A position that is written in ORDER BY or GROUP BY.
pub(super) fn position(expr: &Ast) -> Option<i64> {
    match expr {
        Ast::Value(ValueWithSpan {
            value: Value::Number(digits, false),
            ..
        }) => digits.parse().ok(),
        Ast::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match position(expr) {
            Some(position) if matches!(**expr, Ast::Value(_)) => Some(-position),
            _ => None,
        },
        _ => None,
    }
}

fn written(order_by: &OrderBy) -> Result<Written<'_>> {
    let OrderBy { kind, interpolate } = order_by;
    refuse(interpolate.is_some(), "INTERPOLATE")?;
    Ok(match kind {
        OrderByKind::All(options) => Written::All(options),
        OrderByKind::Expressions(keys) => Written::Keys(keys),
    })
}

/// The keys of an order over columns that have no query below them any more: by name or
/// position.
pub(super) fn order_of_columns(
    binder: &mut Binder<'_>,
    order_by: &OrderBy,
    columns: &[Column],
) -> Result<Vec<SortKey>> {
    let items: Vec<Item> = columns
        .iter()
        .map(|column| Item {
            name: column.name.clone(),
            expr: column.reference(),
        })
        .collect();
    let mut keys = Vec::new();
    match written(order_by)? {
        Written::All(options) => {
            for item in &items {
                keys.push(binder.key_of(item.expr.clone(), options)?);
            }
        }
        Written::Keys(exprs) => {
            for OrderByExpr {
                expr,
                options,
                with_fill,
            } in exprs
            {
                refuse(with_fill.is_some(), "WITH FILL")?;
                let value = match (position(expr), expr) {
                    (Some(position), _) => by_position(position, &items, "ORDER BY")?,
                    (None, Ast::Identifier(ident)) => named_item(ident, &items)?,
                    _ => {
                        return Err(Error::unsupported(
                            "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                        )
                        .with_detail("Only result column names can be used, not expressions or functions.")
                        .with_hint(
                            "Add the expression/function to every SELECT, or move the UNION into a FROM clause.",
                        ));
                    }
                };
                keys.push(binder.key_of(value, options)?);
            }
        }
    }
    Ok(keys)
}

fn named_item(ident: &Ident, items: &[Item]) -> Result<Expr> {
    let name = fold(ident);
    let mut named = items.iter().filter(|item| item.name == name);
    let first = named.next().ok_or_else(|| {
        Error::new("42703", format!("column \"{name}\" does not exist")).at(place(ident))
    })?;
    match named.next() {
        Some(_) => {
            Err(Error::new("42702", format!("ORDER BY \"{name}\" is ambiguous")).at(place(ident)))
        }
        None => Ok(first.expr.clone()),
    }
}

fn check_distinct_on(on: &[Expr], order: &[SortKey]) -> Result<()> {
    // The first keys of the order are those of DISTINCT ON, in any order.
    let leading = order
        .iter()
        .take_while(|key| on.contains(&key.expr))
        .count();
    let rest = order.iter().skip(leading);
    let missing = on
        .iter()
        .filter(|expr| !order[..leading].iter().any(|key| key.expr == **expr));
    if missing.count() > 0 && rest.count() > 0 {
        return Err(Error::new(
            "42P10",
            "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
        ));
    }
    Ok(())
}

/// Rows of functions of a SELECT list. One that reads another's rows comes after it.
fn with_sets(mut plan: Plan, sets: Vec<TableCall>) -> Plan {
    let mut left = sets;
    while !left.is_empty() {
        let made: HashSet<ColumnId> = left
            .iter()
            .flat_map(|call| &call.columns)
            .map(|column| column.id)
            .collect();
        let (later, now): (Vec<TableCall>, Vec<TableCall>) = left.into_iter().partition(|call| {
            call.arguments
                .iter()
                .any(|expr| expr.reads().iter().any(|id| made.contains(id)))
        });
        let before = plan.columns().into_iter().map(|column| {
            let value = column.reference();
            SetItem::Value(column, value)
        });
        let items = before.chain(now.into_iter().map(SetItem::Rows)).collect();
        plan = Plan::ProjectSet {
            input: Box::new(plan),
            items,
        };
        left = later;
    }
    plan
}
