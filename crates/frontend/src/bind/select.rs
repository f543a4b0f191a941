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
    AccessExpr, Distinct, ExcludeSelectItem, Expr as Ast, GroupByExpr, Ident, ObjectName, OrderBy,
    OrderByExpr, OrderByKind, OrderByOptions, Select, SelectFlavor, SelectItem,
    SelectItemQualifiedWildcardKind, TableWithJoins, UnaryOperator, Value, ValueWithSpan,
    WildcardAdditionalOptions,
};

use super::columns::each_of;
use super::group::{
    Groups, Key, by_position, dependent, not_grouped, regroup, subqueries_of, subqueries_of_orders,
    ungrouped,
};
use super::naming::column_name;
use super::scope::{Clause, Namespace, Scope, ScopeColumn};
use super::{Binder, Coercion, fold, parts, place, refuse};
use crate::error::{Error, Result};
use crate::evaluate::fold::Fold;
use crate::plan::{Column, ColumnId, Expr, ExprKind, Marked, Plan, SetItem, SortKey, TableCall};
use crate::syntax::marks::{NOTHING, WHOLE_ROW, marked};
use crate::types::Type;

/// Most items of a SELECT list, as in PostgreSQL.
pub(super) const ITEMS: usize = 1_664;

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
    /// The names of its FROM, which LIMIT may not read.
    pub(super) names: Namespace,
}

/// A key of an order or of DISTINCT ON: an item of the list, if it stands for one, and a value.
struct Named {
    item: Option<usize>,
    expr: Expr,
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
        if into.is_some() {
            return Err(Error::new("42601", "SELECT ... INTO is not allowed here"));
        }
        refuse(!lateral_views.is_empty(), "LATERAL VIEW")?;
        refuse(prewhere.is_some(), "PREWHERE")?;
        refuse(!connect_by.is_empty(), "CONNECT BY")?;
        refuse(!cluster_by.is_empty(), "CLUSTER BY")?;
        refuse(!distribute_by.is_empty(), "DISTRIBUTE BY")?;
        refuse(!sort_by.is_empty(), "SORT BY")?;
        refuse(value_table_mode.is_some(), "SELECT AS VALUE")?;

        let body = Body {
            distinct: distinct.as_ref(),
            projection,
            exclude: exclude.as_ref(),
            selection: selection.as_ref(),
            group_by,
            having: having.as_ref(),
            named_window,
            qualify: qualify.as_ref(),
            everything: *flavor == SelectFlavor::FromFirstNoSelect,
        };
        self.ranges.push(Vec::new());
        let bound = self.bind_over(from, body, order_by);
        self.ranges.pop();
        bound
    }

    fn bind_over(
        &mut self,
        from: &[TableWithJoins],
        body: Body<'_>,
        order_by: Option<&OrderBy>,
    ) -> Result<Ordered> {
        let list = self.list.take().unwrap_or(Clause::List);
        let (plan, names) = self.bind_from(from)?;
        self.scopes.push(Scope {
            list,
            ..Scope::new(names, Clause::Where)
        });
        let bound = self.bind_body(plan, body, order_by);
        let scope = self.scopes.pop();
        let mut bound = bound?;
        bound.names = scope.map(|scope| scope.names).unwrap_or_default();
        Ok(bound)
    }

    pub(super) fn bind_body(
        &mut self,
        mut plan: Plan,
        body: Body<'_>,
        order_by: Option<&OrderBy>,
    ) -> Result<Ordered> {
        let mut shared = subqueries_of(body.group_by);
        if let Some(distinct) = body.distinct {
            shared.extend(subqueries_of(distinct));
            shared.extend(order_by.map(subqueries_of).unwrap_or_default());
        }
        for item in body.projection {
            shared.extend(subqueries_of_orders(item));
        }
        let scope = self.scope()?;
        scope.of_keys = shared;
        scope.clause = scope.list;
        self.scope()?.window_faults = Some(Vec::new());
        let mut window_keys = self.name_windows(body.named_window)?;
        let mut read = HashSet::new();
        window_keys.iter().for_each(|key| key.read(&mut read));
        self.unused.extend(read);
        let mut items = self.items(&body)?;
        // Of two faults PostgreSQL names that of the list, and then that of WHERE.
        self.scope()?.clause = Clause::Where;
        let condition = match body.selection {
            None => None,
            Some(condition) => Some(self.with_aliases(body.projection, |binder| {
                binder.bind_condition(condition, "WHERE")
            })?),
        };
        self.scope()?.aliases.clear();
        self.scope()?.clause = Clause::List;
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
                    let Named { item, expr } = self.named_or_bound(expr, &items, "DISTINCT ON")?;
                    let expr = self.known_expr(expr)?;
                    self.check_equality(&expr.ty)?;
                    on.push(Named { item, expr });
                }
                Some(on)
            }
            _ => None,
        };
        let distinct = matches!(body.distinct, Some(Distinct::Distinct));
        let (mut order, ordered) = self.order(order_by, &items)?;
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
                self.check_equality(&item.expr.ty)?;
            }
        }
        if let Some(fault) = self
            .scope()?
            .window_faults
            .take()
            .into_iter()
            .flatten()
            .next()
        {
            return Err(fault);
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
        if let Some(condition) = condition {
            plan = Plan::Filter {
                input: Box::new(plan),
                condition,
            };
        }
        let (mut having, mut qualify, mut on, mut windows, mut sets) =
            (having, qualify, on, windows, sets);
        // Rows of functions that groups go by come before the groups.
        if !sets.is_empty() {
            let keys = groups.keys.iter().map(|key| &key.expr);
            let (below, above) = sets_below(sets, reads_of(keys));
            plan = with_sets(plan, below);
            sets = above;
        }
        let input: HashSet<ColumnId> = plan.columns().iter().map(|column| column.id).collect();
        if grouped_by || !aggregates.is_empty() || having.is_some() || !groupings.is_empty() {
            // Rows that are sorted or partitioned by a whole key are so by the key, even if that is a
            // constant; in other places it is that constant.
            let is_key = |expr: &mut Expr| {
                if let Some(key) = groups.keys.iter().find(|key| key.expr == *expr) {
                    *expr = key.column.reference();
                }
            };
            order.iter_mut().for_each(|key| is_key(&mut key.expr));
            for (_, call) in &mut windows {
                call.partition.iter_mut().for_each(&is_key);
                call.order.iter_mut().for_each(|key| is_key(&mut key.expr));
            }
            let mut all: Vec<&mut Expr> = items.iter_mut().map(|item| &mut item.expr).collect();
            all.extend(&mut having);
            all.extend(&mut qualify);
            all.extend(on.iter_mut().flatten().map(|key| &mut key.expr));
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
            all.extend(&mut window_keys);
            plan = self.aggregated(plan, groups, (aggregates, groupings), all, &input)?;
            // A key that stands for an item is that item, whatever it has become.
            let keys = order.iter_mut().map(|key| &mut key.expr).zip(ordered);
            let on = on.iter_mut().flatten();
            for (expr, item) in keys.chain(on.map(|key| (&mut key.expr, key.item))) {
                if let Some(item) = item.and_then(|item| items.get(item)) {
                    let ty = expr.ty.clone();
                    *expr = self.coerce(item.expr.clone(), &ty, Coercion::Implicit)?;
                }
            }
        }
        let on = on.map(|on| on.into_iter().map(|key| key.expr).collect());
        if let Some(condition) = having {
            plan = Plan::Filter {
                input: Box::new(plan),
                condition,
            };
        }
        if !windows.is_empty() {
            if !sets.is_empty() {
                let calls = windows.iter();
                let parts = calls.flat_map(|(_, call)| {
                    let order = call.order.iter().map(|key| &key.expr);
                    call.partition.iter().chain(order)
                });
                let (below, above) = sets_below(sets, reads_of(parts));
                plan = with_sets(plan, below);
                sets = above;
            }
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
        // Rows of functions come after DISTINCT ON and its order if those read none of them.
        if on.is_some() && !sets.is_empty() && !order.is_empty() {
            let keys = order.iter().map(|key| &key.expr);
            let (read, unread) = sets_below(sets, reads_of(keys.chain(on.iter().flatten())));
            if read.is_empty() {
                return self.listed_before_sets(plan, items, order, on, unread);
            }
            sets = read;
            sets.extend(unread);
        }
        plan = with_sets(plan, sets);
        self.listed(plan, items, order, distinct, on)
    }

    /// The list over the rows of functions, which are over a plan with its order and DISTINCT ON.
    fn listed_before_sets(
        &mut self,
        plan: Plan,
        items: Vec<Item>,
        order: Vec<SortKey>,
        on: Option<Vec<Expr>>,
        sets: Vec<TableCall>,
    ) -> Result<Ordered> {
        let columns = plan.columns();
        let below = columns.iter().map(|column| Item {
            name: column.name.clone(),
            expr: column.reference(),
        });
        let below = below.collect();
        let order_exprs: Vec<Expr> = order.iter().map(|key| key.expr.clone()).collect();
        let ordered = self.listed(plan, below, order, false, on)?;
        let given = ordered.plan.columns();
        let sorted = order_exprs.into_iter().zip(&ordered.keys);
        let sorted = sorted.filter_map(|(expr, key)| {
            let column = given.iter().find(|given| given.reference() == key.expr)?;
            Some((column.clone(), expr))
        });
        let passed = ordered.visible.iter().cloned();
        let passed = passed.zip(columns.iter().map(Column::reference));
        let known = sorted.chain(passed);
        let known: Vec<(Expr, Expr)> = known
            .map(|(column, expr)| (column.reference(), expr))
            .collect();
        let mut sets = sets;
        for argument in sets.iter_mut().flat_map(|call| &mut call.arguments) {
            regroup(argument, &known);
        }
        let (mut projected, mut visible) = (Vec::new(), Vec::new());
        for mut item in items {
            regroup(&mut item.expr, &known);
            let column = self.column(item.name, item.expr.ty.clone());
            visible.push(column.clone());
            projected.push((column, item.expr));
        }
        let mut keys = Vec::with_capacity(ordered.keys.len());
        for key in ordered.keys {
            let column = self.column("order", key.expr.ty.clone());
            let expr = column.reference();
            projected.push((column, key.expr));
            keys.push(SortKey { expr, ..key });
        }
        let plan = Plan::Project {
            input: Box::new(with_sets(ordered.plan, sets)),
            items: projected,
        };
        Ok(Ordered {
            plan,
            keys,
            visible,
            names: Namespace::default(),
        })
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
        let Groups {
            keys: given,
            mut sets,
            ..
        } = groups;
        let mut above = above;
        let mut keys: Vec<(Column, Expr)> = Vec::with_capacity(given.len());
        // Keys by which parts of expressions are known, behind what stands for them. A constant is
        // none: it stands for the item that it is written as and for no other. So does a key that
        // becomes one, which is that constant elsewhere.
        let mut known: Vec<(Expr, Expr)> = Vec::with_capacity(given.len());
        let fold = Fold {
            session: self.session,
            stable: false,
            parameters: &[],
        };
        for Key { column, expr, item } in given {
            if expr.literal().is_none() {
                let mut folded = expr.clone();
                fold.expr(&mut folded);
                known.push(match folded.literal() {
                    Some(_) => (folded, expr.clone()),
                    None => (column.reference(), expr.clone()),
                });
            }
            if let Some(item) = item.and_then(|item| above.get_mut(item)) {
                **item = column.reference();
            }
            keys.push((column, expr));
        }
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
        let in_all: Vec<Expr> = keys
            .iter()
            .enumerate()
            .filter(|(at, _)| {
                sets.as_ref()
                    .is_none_or(|sets| sets.iter().all(|set| set.contains(at)))
            })
            .map(|(_, (_, key))| key.clone())
            .collect();
        let mut more: Vec<ColumnId> = Vec::new();
        let direct = calls.iter().flat_map(|(_, call)| &call.direct);
        for expr in above.iter().map(|expr| &**expr).chain(direct) {
            let mut regrouped = expr.clone();
            regroup(&mut regrouped, &known);
            for id in ungrouped(&regrouped, input) {
                if dependent(self.scope()?, &in_all, id) {
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
                for set in sets.iter_mut().flatten() {
                    set.push(keys.len());
                }
                known.push((key.reference(), column.reference()));
                keys.push((key, column.reference()));
            }
        }
        for expr in above {
            regroup(expr, &known);
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
            names: Namespace::default(),
        })
    }

    /// The keys of an ORDER BY over a SELECT, and the items of the list that they stand for.
    fn order(
        &mut self,
        order_by: Option<&OrderBy>,
        items: &[Item],
    ) -> Result<(Vec<SortKey>, Vec<Option<usize>>)> {
        let Some(order_by) = order_by else {
            return Ok((Vec::new(), Vec::new()));
        };
        let (mut keys, mut places) = (Vec::new(), Vec::new());
        match written(order_by)? {
            Written::All(options) => {
                for (at, item) in items.iter().enumerate() {
                    keys.push(self.key_of(item.expr.clone(), options)?);
                    places.push(Some(at));
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
                    if let Some(inner) = each_of(expr) {
                        self.each_key(inner, options, &mut keys)?;
                        places.resize(keys.len(), None);
                        continue;
                    }
                    let Named { item, expr } = self.named_or_bound(expr, items, "ORDER BY")?;
                    keys.push(self.key_of(expr, options)?);
                    places.push(item);
                }
            }
        }
        Ok((keys, places))
    }

    /// The keys that one with COLUMNS stands for.
    fn each_key(
        &mut self,
        expr: &Ast,
        options: &OrderByOptions,
        keys: &mut Vec<SortKey>,
    ) -> Result<()> {
        for copy in self.copies(expr)? {
            let expr = self.bind_expr(&copy.expr)?;
            keys.push(self.key_of(expr, options)?);
        }
        Ok(())
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
    fn named_or_bound(&mut self, expr: &Ast, items: &[Item], clause: &str) -> Result<Named> {
        let found = match (position(expr, clause)?, expr) {
            (Some(position), _) => Some(by_position(position, items, clause)?),
            (None, Ast::Identifier(ident)) => item_named(ident, items, clause)?,
            _ => None,
        };
        if let Some(item) = found {
            let expr = items[item].expr.clone();
            return Ok(Named {
                item: Some(item),
                expr,
            });
        }
        let expr = self.bind_expr(expr)?;
        Ok(Named { item: None, expr })
    }

    /// Whether equal values of a type can be found.
    ///
    /// # Errors
    /// `42883` if not.
    pub(super) fn check_equality(&mut self, ty: &Type) -> Result<()> {
        match ty {
            Type::Array(element) => self.check_equality(element.innermost()),
            Type::Record(_) | Type::Enum(_) => Ok(()),
            ty => {
                let found = self.equality(ty).map(|_| ());
                found.map_err(|_| super::call::no_equality(ty))
            }
        }
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
                SelectItem::UnnamedExpr(written) if let Some(inner) = each_of(written) => {
                    self.each_item(inner, None, &mut items)?;
                }
                SelectItem::ExprWithAlias { expr, alias } if let Some(inner) = each_of(expr) => {
                    self.each_item(inner, Some(alias), &mut items)?;
                }
                SelectItem::UnnamedExpr(written) => {
                    if let Some(row) = starred(written) {
                        let value = self.bind_expr(&row)?;
                        items.extend(fields_of(value)?.iter().map(item_of));
                        continue;
                    }
                    let expr = self.list_expr(written, &items)?;
                    let name = column_name(written, &expr);
                    items.push(Item { name, expr });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    // The name of a whole row is passed over.
                    if let Some(row) = starred(expr) {
                        let value = self.bind_expr(&row)?;
                        items.extend(fields_of(value)?.iter().map(item_of));
                        continue;
                    }
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
                    plain(options)?;
                    items.extend(self.scope()?.names.columns.iter().map(item_of));
                }
                SelectItem::QualifiedWildcard(kind, options) => {
                    plain(options)?;
                    items.extend(self.qualified(kind)?.iter().map(item_of));
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

    /// The items that one with COLUMNS stands for.
    fn each_item(
        &mut self,
        expr: &Ast,
        alias: Option<&Ident>,
        items: &mut Vec<Item>,
    ) -> Result<()> {
        for copy in self.copies(expr)? {
            let expr = self.list_expr(&copy.expr, items)?;
            let name = self.name_of_copy(&copy, alias, &expr)?;
            items.push(Item { name, expr });
        }
        Ok(())
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
        self.columns_of_relation(name)
    }

    /// The columns of a relation in sight.
    pub(super) fn columns_of_relation(&self, name: &ObjectName) -> Result<Vec<ScopeColumn>> {
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
pub(super) struct Body<'a> {
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

impl<'a> Body<'a> {
    /// A list and the keys of its groups.
    pub(super) fn grouped(projection: &'a [SelectItem], group_by: &'a GroupByExpr) -> Self {
        Self {
            distinct: None,
            projection,
            exclude: None,
            selection: None,
            group_by,
            having: None,
            named_window: &[],
            qualify: None,
            everything: false,
        }
    }
}

fn item_of(column: &ScopeColumn) -> Item {
    Item {
        name: column.name.clone(),
        expr: column.value.clone(),
    }
}

pub(super) fn fields_of(value: Expr) -> Result<Vec<ScopeColumn>> {
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

/// `0A000` for options of a star that the syntax has not brought into COLUMNS.
fn plain(options: &WildcardAdditionalOptions) -> Result<()> {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike,
        opt_exclude,
        opt_except,
        opt_replace,
        opt_rename,
        opt_alias,
    } = options;
    let others = opt_ilike.is_some() || opt_exclude.is_some() || opt_replace.is_some();
    refuse(
        others || opt_rename.is_some(),
        "an option of * in this form",
    )?;
    refuse(opt_except.is_some(), "EXCEPT of *")?;
    refuse(opt_alias.is_some(), "an alias of *")
}

fn excluded(exclude: &ExcludeSelectItem) -> Result<Vec<String>> {
    let last = |name: &ObjectName| Ok(parts(name)?.pop().unwrap_or_default());
    match exclude {
        ExcludeSelectItem::Single(name) => Ok(vec![last(name)?]),
        ExcludeSelectItem::Multiple(names) => names.iter().map(last).collect(),
    }
}

/// A position that is written in ORDER BY, GROUP BY or DISTINCT ON.
///
/// # Errors
/// `42601` for another constant.
pub(super) fn position(expr: &Ast, clause: &str) -> Result<Option<i64>> {
    let mut inner = expr;
    let mut sign = 1;
    loop {
        inner = match inner {
            Ast::Nested(nested) => nested,
            // A sign before digits is a part of the number.
            Ast::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => {
                sign = -sign;
                expr
            }
            _ => break,
        };
    }
    let Ast::Value(ValueWithSpan { value, span }) = inner else {
        return Ok(None);
    };
    let number = match value {
        Value::Number(digits, false) => digits.parse::<i32>().ok(),
        Value::Placeholder(_) => return Ok(None),
        _ if sign < 0 => return Ok(None),
        _ => None,
    };
    match number {
        Some(number) => Ok(Some(sign * i64::from(number))),
        None => {
            let message = format!("non-integer constant in {clause}");
            Err(Error::new("42601", message).at(super::at(*span)))
        }
    }
}

/// The item of the list that a name in ORDER BY, GROUP BY or DISTINCT ON means.
///
/// # Errors
/// `42702` if several have it that differ.
pub(super) fn item_named(ident: &Ident, items: &[Item], clause: &str) -> Result<Option<usize>> {
    let name = fold(ident);
    let mut named = items
        .iter()
        .enumerate()
        .filter(|(_, item)| item.name == name);
    let Some((at, first)) = named.next() else {
        return Ok(None);
    };
    if named.any(|(_, other)| other.expr != first.expr) {
        let message = format!("{clause} \"{name}\" is ambiguous");
        return Err(Error::new("42702", message).at(place(ident)));
    }
    Ok(Some(at))
}

/// The functions whose rows some columns are of, with those that they read, and the others.
fn sets_below(sets: Vec<TableCall>, reads: HashSet<ColumnId>) -> (Vec<TableCall>, Vec<TableCall>) {
    let mut reads = reads;
    let (mut below, mut above) = (Vec::new(), sets);
    loop {
        let wanted = |call: &TableCall| call.columns.iter().any(|c| reads.contains(&c.id));
        let (now, rest): (Vec<_>, Vec<_>) = above.into_iter().partition(wanted);
        above = rest;
        if now.is_empty() {
            return (below, above);
        }
        reads.extend(reads_of(now.iter().flat_map(|call| &call.arguments)));
        below.extend(now);
    }
}

/// The columns that some expressions read.
fn reads_of<'e>(exprs: impl Iterator<Item = &'e Expr>) -> HashSet<ColumnId> {
    let mut reads = HashSet::new();
    exprs.for_each(|expr| expr.read(&mut reads));
    reads
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
                let value = match (position(expr, "ORDER BY")?, expr) {
                    (Some(position), _) => {
                        let item = by_position(position, &items, "ORDER BY")?;
                        items[item].expr.clone()
                    }
                    (None, Ast::Identifier(ident)) => named_item(ident, &items)?,
                    (None, Ast::CompoundIdentifier(idents)) if idents.len() > 1 => {
                        let relation = &idents[idents.len() - 2];
                        return Err(binder.missing_from(&fold(relation), place(relation)));
                    }
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
    let found = item_named(ident, items, "ORDER BY")?;
    let item = found.and_then(|item| items.get(item)).ok_or_else(|| {
        let message = format!("column \"{}\" does not exist", fold(ident));
        Error::new("42703", message).at(place(ident))
    })?;
    Ok(item.expr.clone())
}

fn check_distinct_on(on: &[Named], order: &[SortKey]) -> Result<()> {
    // The first keys of the order are those of DISTINCT ON, in any order.
    let leading = order
        .iter()
        .take_while(|key| on.iter().any(|on| on.expr == key.expr))
        .count();
    let rest = order.iter().skip(leading);
    let missing = on
        .iter()
        .filter(|on| !order[..leading].iter().any(|key| key.expr == on.expr));
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
