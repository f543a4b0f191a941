//! Queries.

use freestone_frontend::bind::name_of_expression;
use freestone_frontend::functions::common_type;
use freestone_frontend::functions::records::row_type;
use freestone_frontend::syntax::marks::{
    CUBE, CYCLE, DISTINCT_SETS, GROUPING_SETS, NO_KEYS, NOTHING, PART, QUERY, ROLLUP, SEARCH, TIES,
    WHOLE_ROW, marked, marked_call,
};
use freestone_frontend::syntax::strength::Strength;
use freestone_frontend::types::Type;
use sqlparser::ast::{
    AccessExpr, CteAsMaterialized, Distinct as Unique, Expr, GroupByExpr, Ident, LimitClause,
    NonBlock, OrderByKind, Query as Written, Select as WrittenSelect, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, TableFactor, Value,
    ValueWithSpan, Values, With,
};

use super::calls::direction;
use super::read::{Reader, text_or};
use super::scope::{Namespace, SeenCte};
use super::tree::{
    Body, Clause, Cte, Distinct, Group, Item, Key, Lock, Node, Query, Range, RangeKind, Select, Set,
};
use crate::front::parse_expr;
use crate::names::fold;

type Columns = Vec<(String, Type)>;

impl Reader<'_> {
    /// The columns of a relation or the fields of a value, for which `(row).*` stands.
    fn fields_of(&self, row: &Expr, names: &Namespace) -> Option<Vec<(String, Node, Type)>> {
        let mut row = row;
        while let Expr::Nested(inner) = row {
            row = inner;
        }
        if let Expr::Identifier(ident) = row {
            let name = fold(ident);
            if !names.columns.iter().any(|seen| seen.name == name)
                && let Some(relation) = names.relation(None, &name)
            {
                let columns = relation.columns.iter();
                let columns =
                    columns.map(|seen| (seen.name.clone(), seen.node.clone(), seen.ty.clone()));
                return Some(columns.collect());
            }
        }
        let (node, ty) = self.node(row)?;
        let Type::Record(fields) = ty else {
            return None;
        };
        let fields = fields.iter().map(|(name, ty)| {
            let field = Node::Field(Box::new(node.clone()), name.clone());
            (name.clone(), field, ty.clone())
        });
        Some(fields.collect())
    }

    /// A sub-query; the syntax has some as the FROM of another.
    pub(super) fn sub_query(&self, query: &Written) -> Option<Query> {
        if let SetExpr::Select(select) = query.body.as_ref()
            && let ([SelectItem::Wildcard(_)], [only]) =
                (select.projection.as_slice(), select.from.as_slice())
            && let TableFactor::Derived {
                subquery,
                alias: Some(alias),
                ..
            } = &only.relation
            && marked(&alias.name, QUERY).is_some()
        {
            return self.query(subquery, false);
        }
        self.query(query, false)
    }

    /// A query; literals of one of a set operation have no type yet.
    pub(super) fn query(&self, query: &Written, of_set: bool) -> Option<Query> {
        let Written {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause: None,
            settings: None,
            format_clause: None,
            pipe_operators,
        } = query
        else {
            return None;
        };
        if !pipe_operators.is_empty() {
            return None;
        }
        let before = self.scopes.borrow().ctes.len();
        let read = || {
            let (recursive, ctes) = match with {
                Some(with) => (with.recursive, self.with(with)?),
                None => (false, Vec::new()),
            };
            if let SetExpr::Query(inner) = body.as_ref() {
                let bare = ctes.is_empty()
                    && order_by.is_none()
                    && limit_clause.is_none()
                    && fetch.is_none()
                    && locks.is_empty();
                return if bare {
                    self.query(inner, of_set)
                } else {
                    None
                };
            }
            self.own_level(|| {
                let mut read = self.body(body, order_by.as_ref().map(|by| &by.kind), of_set)?;
                read.recursive = recursive;
                read.with = ctes.clone();
                match limit_clause {
                    None => {}
                    Some(LimitClause::LimitOffset {
                        limit,
                        offset,
                        limit_by,
                    }) if limit_by.is_empty() => {
                        if let Some(limit) = limit {
                            let ties = marked_call(limit, TIES);
                            read.ties = ties.is_some();
                            read.limit = Some(match ties {
                                Some((_, count)) => self.count(count.first()?)?,
                                None => self.count(limit)?,
                            });
                        }
                        if let Some(offset) = offset {
                            read.offset = Some(self.count(&offset.value)?);
                        }
                    }
                    Some(_) => return None,
                }
                if let Some(fetch) = fetch {
                    if fetch.percent || !fetch.with_ties {
                        return None;
                    }
                    read.limit = Some(self.count(fetch.quantity.as_ref()?)?);
                    read.ties = true;
                }
                for lock in locks {
                    self.lock(lock, &mut read)?;
                }
                Some(read)
            })
        };
        let read = read();
        self.scopes.borrow_mut().ctes.truncate(before);
        read
    }

    fn own_level<T>(&self, read: impl FnOnce() -> Option<T>) -> Option<T> {
        self.scopes.borrow_mut().own.push(Vec::new());
        let done = read();
        self.scopes.borrow_mut().own.pop();
        done
    }

    fn count(&self, count: &Expr) -> Option<Node> {
        if let Expr::Identifier(ident) = count
            && fold(ident) == "all"
        {
            return Some(Node::Literal("NULL".to_owned(), None));
        }
        let count = self.within(Namespace::default(), || self.node(count))?;
        self.coerced(count, &Type::Int8)
    }

    fn lock(&self, lock: &sqlparser::ast::LockClause, read: &mut Query) -> Option<()> {
        let Body::Select(select) = &read.body else {
            return None;
        };
        let scopes = self.scopes.borrow();
        let (strength, of) = Strength::of(lock);
        let wanted = match &of {
            None => None,
            Some(name) => Some(fold(name.0.last()?.as_ident()?)),
        };
        let mut found = false;
        for at in &select.ranges {
            let range = scopes.ranges.get(*at)?;
            let name = range.alias.as_ref().unwrap_or(&range.name);
            match (&range.kind, &wanted) {
                (RangeKind::Join(_), _) => continue,
                (_, Some(wanted)) if wanted != name => continue,
                (RangeKind::Relation { .. }, _) => {}
                _ => return None,
            }
            found = true;
            read.locks.push(Lock {
                words: strength.words(),
                range: *at,
                wait: match lock.nonblock {
                    None => "",
                    Some(NonBlock::Nowait) => " NOWAIT",
                    Some(NonBlock::SkipLocked) => " SKIP LOCKED",
                },
            });
        }
        found.then_some(())
    }

    fn with(&self, with: &With) -> Option<Vec<Cte>> {
        let mut all = Vec::new();
        for one in &with.cte_tables {
            let name = fold(&one.alias.name);
            let clause = |ident: &Ident| {
                marked(ident, SEARCH)
                    .or_else(|| marked(ident, CYCLE))
                    .is_some()
            };
            if one.from.is_some() {
                return None;
            }
            let (clauses, renamed): (Vec<&Ident>, Vec<&Ident>) = one
                .alias
                .columns
                .iter()
                .map(|one| &one.name)
                .partition(|name| clause(name));
            let renamed: Vec<String> = renamed.into_iter().map(fold).collect();
            let query = match with.recursive && names_itself(&one.query, &name) {
                true => self.recursion(&one.query, &name, &renamed)?,
                false => self.query(&one.query, false)?,
            };
            let mut columns = renamed_columns(&query.columns, &renamed);
            let clauses = clauses
                .into_iter()
                .map(|clause| self.clause(clause, &mut columns));
            let clauses = clauses.collect::<Option<Vec<_>>>()?;
            self.scopes.borrow_mut().ctes.push(SeenCte {
                name: name.clone(),
                columns,
            });
            all.push(Cte {
                name,
                columns: renamed,
                materialized: match one.materialized {
                    None => "",
                    Some(CteAsMaterialized::Materialized) => "MATERIALIZED ",
                    Some(CteAsMaterialized::NotMaterialized) => "NOT MATERIALIZED ",
                },
                query,
                clauses,
            });
        }
        Some(all)
    }

    /// SEARCH or CYCLE, whose columns are added to those of the query.
    fn clause(&self, written: &Ident, columns: &mut Columns) -> Option<Clause> {
        let types = |names: &[String], columns: &Columns| {
            let ty = |name: &String| {
                let mut all = columns.iter();
                all.find(|(known, _)| known == name)
                    .map(|(_, ty)| ty.clone())
            };
            names.iter().map(ty).collect::<Option<Vec<Type>>>()
        };
        if let Some(text) = marked(written, SEARCH) {
            let mut parts = text.split(PART).map(str::to_owned);
            let breadth = parts.next()? == "breadth";
            let sequence = parts.next()?;
            let names: Vec<String> = parts.collect();
            let mut types = types(&names, columns)?;
            let ty = match breadth {
                true => {
                    types.insert(0, Type::Int8);
                    row_type(&types)
                }
                false => row_type(&types).array(),
            };
            columns.push((sequence.clone(), ty));
            return Some(Clause::Search {
                order: if breadth { "BREADTH" } else { "DEPTH" },
                columns: names,
                sequence,
            });
        }
        let mut parts = marked(written, CYCLE)?.split(PART).map(str::to_owned);
        let (mark, path) = (parts.next()?, parts.next()?);
        let values = [parts.next()?, parts.next()?];
        let names: Vec<String> = parts.collect();
        let types = types(&names, columns)?;
        let values = values
            .iter()
            .map(|value| self.node(&parse_expr(value).ok()?));
        let (values, ty) = self.alike(values.collect::<Option<_>>()?)?;
        let values = <[Node; 2]>::try_from(values).ok()?;
        columns.push((mark.clone(), ty));
        columns.push((path.clone(), row_type(&types).array()));
        let is =
            |node: &Node, word: &str| matches!(node, Node::Literal(text, None) if text == word);
        let usual = is(&values[0], "true") && is(&values[1], "false");
        Some(Clause::Cycle {
            columns: names,
            mark,
            values: (!usual).then_some(values),
            path,
        })
    }

    /// A query that reads its own rows: its first part tells their types.
    fn recursion(&self, query: &Written, name: &str, renamed: &[String]) -> Option<Query> {
        if query.with.is_some() || query.order_by.is_some() || query.limit_clause.is_some() {
            return None;
        }
        let SetExpr::SetOperation {
            op: SetOperator::Union,
            set_quantifier,
            left,
            right,
        } = query.body.as_ref()
        else {
            return None;
        };
        let words = match set_quantifier {
            SetQuantifier::All => "UNION ALL ",
            SetQuantifier::None | SetQuantifier::Distinct => "UNION ",
            _ => return None,
        };
        let (mut left, mut columns) = self.set(left)?;
        for column in &mut columns {
            column.1 = text_or(&column.1);
        }
        let types: Vec<Type> = columns.iter().map(|(_, ty)| ty.clone()).collect();
        self.typed(&mut left, &types)?;
        let before = self.scopes.borrow().ctes.len();
        self.scopes.borrow_mut().ctes.push(SeenCte {
            name: name.to_owned(),
            columns: renamed_columns(&columns, renamed),
        });
        let right = self.set(right);
        self.scopes.borrow_mut().ctes.truncate(before);
        let (mut right, _) = right?;
        self.typed(&mut right, &types)?;
        let set = Set::Both {
            words,
            left: Box::new(left),
            right: Box::new(right),
        };
        Some(bare(Body::Set(Box::new(set)), columns))
    }

    fn body(&self, body: &SetExpr, order: Option<&OrderByKind>, of_set: bool) -> Option<Query> {
        match body {
            SetExpr::Select(select) => self.select(select, order, of_set),
            SetExpr::Values(values) => self.values_query(values, order),
            SetExpr::SetOperation { .. } => {
                let (mut set, mut columns) = self.set(body)?;
                for column in &mut columns {
                    column.1 = text_or(&column.1);
                }
                let types: Vec<Type> = columns.iter().map(|(_, ty)| ty.clone()).collect();
                self.typed(&mut set, &types)?;
                let mut read = bare(Body::Set(Box::new(set)), columns);
                for key in keys_of(order)? {
                    let place = match &key.expr {
                        Expr::Identifier(ident) => {
                            let name = fold(ident);
                            let mut all = read.columns.iter();
                            all.position(|(known, _)| *known == name)? + 1
                        }
                        other => position(other)?,
                    };
                    read.order.push(Key {
                        node: Node::Literal("NULL".to_owned(), None),
                        place: Some(place),
                        direction: direction(key),
                    });
                }
                Some(read)
            }
            _ => None,
        }
    }

    fn set(&self, body: &SetExpr) -> Option<(Set, Columns)> {
        let SetExpr::SetOperation {
            op,
            set_quantifier,
            left,
            right,
        } = body
        else {
            let query = match body {
                SetExpr::Query(query) => self.query(query, true)?,
                other => self.own_level(|| self.body(other, None, true))?,
            };
            let columns = query.columns.clone();
            return Some((leaf(query), columns));
        };
        let all = match set_quantifier {
            SetQuantifier::All => true,
            SetQuantifier::None | SetQuantifier::Distinct => false,
            _ => return None,
        };
        let words = match (op, all) {
            (SetOperator::Union, false) => "UNION ",
            (SetOperator::Union, true) => "UNION ALL ",
            (SetOperator::Intersect, false) => "INTERSECT ",
            (SetOperator::Intersect, true) => "INTERSECT ALL ",
            (SetOperator::Except, false) => "EXCEPT ",
            (SetOperator::Except, true) => "EXCEPT ALL ",
            _ => return None,
        };
        let (mut left, mut columns) = self.set(left)?;
        let (mut right, others) = self.set(right)?;
        if columns.len() != others.len() {
            return None;
        }
        for (column, (_, other)) in columns.iter_mut().zip(&others) {
            column.1 = text_or(&Self::common(&column.1, other)?);
        }
        let types: Vec<Type> = columns.iter().map(|(_, ty)| ty.clone()).collect();
        self.typed(&mut left, &types)?;
        self.typed(&mut right, &types)?;
        let set = Set::Both {
            words,
            left: Box::new(left),
            right: Box::new(right),
        };
        Some((set, columns))
    }

    /// Gives literals in the lists of a set operation their types.
    fn typed(&self, set: &mut Set, types: &[Type]) -> Option<()> {
        let Set::Leaf(query) = set else {
            return Some(());
        };
        let Body::Select(select) = &mut query.body else {
            return Some(());
        };
        for ((item, column), to) in select.items.iter_mut().zip(&mut query.columns).zip(types) {
            if column.1 == Type::Unknown {
                item.node = self.coerced((item.node.clone(), Type::Unknown), to)?;
                column.1 = to.clone();
            }
        }
        Some(())
    }

    fn values_query(&self, values: &Values, order: Option<&OrderByKind>) -> Option<Query> {
        let rows = values.rows.iter().map(|row| {
            let row = row.content.iter().map(|value| self.node(value));
            row.collect::<Option<Vec<_>>>()
        });
        let rows: Vec<_> = rows.collect::<Option<_>>()?;
        let width = rows.first()?.len();
        let mut columns = Vec::with_capacity(width);
        for at in 0..width {
            let types = rows.iter().map(|row| row.get(at).map(|(_, ty)| ty.base()));
            let types: Vec<Type> = types.collect::<Option<_>>()?;
            let ty = text_or(&common_type(&types)?);
            columns.push((format!("column{}", at + 1), ty));
        }
        let rows = rows.into_iter().map(|row| {
            let row = row.into_iter().zip(&columns);
            row.map(|(value, (_, ty))| self.coerced(value, ty))
                .collect()
        });
        let rows: Vec<Vec<Node>> = rows.collect::<Option<_>>()?;
        let range = self.add_range(Range {
            kind: RangeKind::Values,
            alias: None,
            renamed: Vec::new(),
            name: "*VALUES*".to_owned(),
            columns: columns.iter().map(|(name, _)| name.clone()).collect(),
            lateral: false,
        });
        let mut read = bare(Body::Values(range, rows), columns);
        for key in keys_of(order)? {
            let place = match &key.expr {
                Expr::Identifier(ident) => {
                    let name = fold(ident);
                    let mut all = read.columns.iter();
                    all.position(|(known, _)| *known == name)?
                }
                other => position(other)?.checked_sub(1)?,
            };
            let node = Node::Column {
                range,
                column: Some(place),
                row: String::new(),
            };
            if place >= width {
                return None;
            }
            read.order.push(Key {
                node,
                place: None,
                direction: direction(key),
            });
        }
        Some(read)
    }

    fn select(
        &self,
        select: &WrittenSelect,
        order: Option<&OrderByKind>,
        of_set: bool,
    ) -> Option<Query> {
        let plain = select.top.is_none()
            && select.exclude.is_none()
            && select.into.is_none()
            && select.lateral_views.is_empty()
            && select.prewhere.is_none()
            && select.connect_by.is_empty()
            && select.cluster_by.is_empty()
            && select.distribute_by.is_empty()
            && select.sort_by.is_empty()
            && select.qualify.is_none()
            && select.value_table_mode.is_none();
        if !plain {
            return None;
        }
        let mut names = Namespace::default();
        let mut from = Vec::new();
        for item in &select.from {
            let (part, more) = self.joined(item, &names)?;
            names.join(more);
            from.push(part);
        }
        self.within(names.clone(), || {
            // Before WINDOW the syntax has a condition that is none.
            let is_true = |condition: &&Expr| {
                let truth = Value::Boolean(true);
                matches!(condition, Expr::Value(value) if value.value == truth)
            };
            let none = !select.named_window.is_empty()
                && select.selection.as_ref().is_some_and(|one| is_true(&one));
            let condition = select.selection.as_ref().filter(|_| !none);
            let condition = self.condition(condition)?;
            let (items, columns) = self.items(select, &names, of_set)?;
            let (group_distinct, groups) = self.groups(&select.group_by, &items, &names)?;
            let having = self.condition(select.having.as_ref())?;
            let windows = select.named_window.iter();
            let windows = windows.map(|window| self.named_window(window));
            let windows = windows.collect::<Option<_>>()?;
            // Expressions that the query has keys of; each is a key once.
            let mut targets: Vec<Node> = items.iter().map(|item| item.node.clone()).collect();
            let (mut sorted, mut places) = (Vec::new(), Vec::new());
            for key in keys_of(order)? {
                let place = self.target(&key.expr, &items, &mut targets)?;
                if !places.contains(&place) {
                    places.push(place);
                    sorted.push(Key {
                        node: targets.get(place)?.clone(),
                        place: None,
                        direction: direction(key),
                    });
                }
            }
            let distinct = match &select.distinct {
                None | Some(Unique::All) => None,
                Some(Unique::Distinct) => Some(Distinct::All),
                Some(Unique::On(keys)) => {
                    let mut on = Vec::new();
                    for key in keys {
                        let place = self.target(key, &items, &mut targets)?;
                        if !on.contains(&place) {
                            on.push(place);
                        }
                    }
                    // They stand in the order of the rows.
                    let first = places.iter().filter(|place| on.contains(place));
                    let rest = on.iter().filter(|place| !places.contains(place));
                    let keys = first.chain(rest).map(|place| targets.get(*place).cloned());
                    Some(Distinct::On(keys.collect::<Option<_>>()?))
                }
            };
            let ranges = self.scopes.borrow().own.last().cloned().unwrap_or_default();
            let select = Select {
                distinct,
                items,
                ranges,
                from,
                condition,
                group_distinct,
                groups,
                having,
                windows,
            };
            let mut read = bare(Body::Select(Box::new(select)), columns);
            read.order = sorted;
            Some(read)
        })
    }

    fn condition(&self, condition: Option<&Expr>) -> Option<Option<Node>> {
        let Some(condition) = condition else {
            return Some(None);
        };
        let typed = self.node(condition)?;
        self.coerced(typed, &Type::Bool).map(Some)
    }

    fn items(
        &self,
        select: &WrittenSelect,
        names: &Namespace,
        of_set: bool,
    ) -> Option<(Vec<Item>, Columns)> {
        let (mut items, mut columns) = (Vec::new(), Vec::new());
        let mut add = |name: String, node: Node, ty: Type| {
            columns.push((name.clone(), ty));
            items.push(Item { node, name });
        };
        for item in &select.projection {
            let (expr, alias) = match item {
                SelectItem::UnnamedExpr(Expr::Identifier(ident))
                    if marked(ident, NOTHING).is_some() =>
                {
                    continue;
                }
                SelectItem::UnnamedExpr(Expr::CompoundFieldAccess { root, access_chain })
                    if let [AccessExpr::Dot(Expr::Identifier(star))] = access_chain.as_slice()
                        && marked(star, WHOLE_ROW).is_some() =>
                {
                    for (name, node, ty) in self.fields_of(root, names)? {
                        add(name, node, ty);
                    }
                    continue;
                }
                SelectItem::UnnamedExpr(expr) => (expr, None),
                SelectItem::ExprWithAlias { expr, alias } => (expr, Some(fold(alias))),
                SelectItem::Wildcard(options) if options.to_string().is_empty() => {
                    for seen in &names.columns {
                        add(seen.name.clone(), seen.node.clone(), seen.ty.clone());
                    }
                    continue;
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) if options.to_string().is_empty() => {
                    let relation = fold(name.0.last()?.as_ident()?);
                    let relation = names.relation(None, &relation)?;
                    for seen in &relation.columns {
                        add(seen.name.clone(), seen.node.clone(), seen.ty.clone());
                    }
                    continue;
                }
                _ => return None,
            };
            let (node, ty) = self.node(expr)?;
            let name = match (alias, expr) {
                (Some(alias), _) => alias,
                (None, Expr::Subquery(_)) => match &node {
                    Node::Query(sub) => sub.query.columns.first()?.0.clone(),
                    _ => return None,
                },
                (None, expr) => name_of_expression(expr),
            };
            match (&ty, of_set) {
                (Type::Unknown, true) => add(name, node, ty),
                _ => {
                    let to = if ty == Type::Unknown {
                        Type::Text
                    } else {
                        ty.clone()
                    };
                    add(name, self.coerced((node, ty), &to)?, to);
                }
            }
        }
        Some((items, columns))
    }

    /// The place of a key in the list, where it stands by its number, by the name of an item or as
    /// an expression, or of what is added to it.
    fn target(&self, expr: &Expr, items: &[Item], targets: &mut Vec<Node>) -> Option<usize> {
        if let Some(place) = position(expr) {
            let place = place.checked_sub(1)?;
            return (place < items.len()).then_some(place);
        }
        if let Expr::Identifier(ident) = expr {
            let name = fold(ident);
            if let Some(place) = items.iter().position(|item| item.name == name) {
                return Some(place);
            }
        }
        let typed = self.node(expr)?;
        let to = text_or(&typed.1);
        let node = self.coerced(typed, &to)?;
        if let Some(place) = targets.iter().position(|one| *one == node) {
            return Some(place);
        }
        targets.push(node);
        Some(targets.len() - 1)
    }

    /// A key by its place in the list, by the name of an item, or as an expression.
    fn chosen(&self, expr: &Expr, items: &[Item]) -> Option<Node> {
        let mut targets: Vec<Node> = items.iter().map(|item| item.node.clone()).collect();
        let place = self.target(expr, items, &mut targets)?;
        targets.get(place).cloned()
    }

    fn groups(
        &self,
        group_by: &GroupByExpr,
        items: &[Item],
        names: &Namespace,
    ) -> Option<(bool, Vec<Group>)> {
        let GroupByExpr::Expressions(exprs, modifiers) = group_by else {
            return None;
        };
        if !modifiers.is_empty() {
            return None;
        }
        let (mut distinct, mut groups) = (false, Vec::new());
        for expr in exprs {
            if marked_call(expr, DISTINCT_SETS).is_some() {
                distinct = true;
                continue;
            }
            match self.group(expr, items, names)? {
                Group::Keys(keys) if !keys.is_empty() => {
                    for key in keys.into_iter().map(Group::Key) {
                        if !groups.contains(&key) {
                            groups.push(key);
                        }
                    }
                }
                Group::Key(key) if groups.contains(&Group::Key(key.clone())) => {}
                group => groups.push(group),
            }
        }
        // Beside keys, a set of none means nothing if there are no other sets.
        let is_key = |group: &Group| matches!(group, Group::Key(_));
        if groups.iter().any(is_key) && !groups.iter().any(|one| matches!(one, Group::Sets(..))) {
            groups.retain(is_key);
        }
        Some((distinct, groups))
    }

    fn group(&self, expr: &Expr, items: &[Item], names: &Namespace) -> Option<Group> {
        let list = |parts: &[Expr]| match parts {
            [only] => self.group(only, items, names),
            several => {
                let keys = several.iter().map(|key| self.group_key(key, items, names));
                Some(Group::Keys(keys.collect::<Option<_>>()?))
            }
        };
        let lists = |words: &'static str, parts: &[Vec<Expr>]| {
            let parts = parts.iter().map(|part| list(part));
            Some(Group::Sets(words, parts.collect::<Option<_>>()?))
        };
        match expr {
            Expr::Rollup(parts) => lists("ROLLUP(", parts),
            Expr::Cube(parts) => lists("CUBE(", parts),
            Expr::GroupingSets(parts) => lists("GROUPING SETS (", parts),
            Expr::Tuple(parts) => list(parts),
            Expr::Nested(inner) => self.group(inner, items, names),
            expr => {
                if marked_call(expr, NO_KEYS).is_some() {
                    return Some(Group::Keys(Vec::new()));
                }
                for (mark, words) in [
                    (ROLLUP, "ROLLUP("),
                    (CUBE, "CUBE("),
                    (GROUPING_SETS, "GROUPING SETS ("),
                ] {
                    if let Some((_, parts)) = marked_call(expr, mark) {
                        let parts = parts.iter().map(|part| self.group(part, items, names));
                        return Some(Group::Sets(words, parts.collect::<Option<_>>()?));
                    }
                }
                Some(Group::Key(self.group_key(expr, items, names)?))
            }
        }
    }

    /// A key; a name is that of a column before that of an item.
    fn group_key(&self, expr: &Expr, items: &[Item], names: &Namespace) -> Option<Node> {
        if let Expr::Identifier(ident) = expr {
            let name = fold(ident);
            if names.columns.iter().any(|seen| seen.name == name) {
                return Some(self.named_column(ident)?.0);
            }
        }
        self.chosen(expr, items)
    }
}

fn bare(body: Body, columns: Columns) -> Query {
    Query {
        recursive: false,
        with: Vec::new(),
        body,
        order: Vec::new(),
        offset: None,
        limit: None,
        ties: false,
        locks: Vec::new(),
        columns,
    }
}

/// A set operation in brackets without clauses is a part of the one around it.
fn leaf(query: Query) -> Set {
    let plain = query.with.is_empty()
        && query.order.is_empty()
        && query.limit.is_none()
        && query.offset.is_none();
    match query.body {
        Body::Set(set) if plain => *set,
        body => Set::Leaf(Box::new(Query { body, ..query })),
    }
}

fn keys_of(order: Option<&OrderByKind>) -> Option<&[sqlparser::ast::OrderByExpr]> {
    match order {
        None => Some(&[]),
        Some(OrderByKind::Expressions(keys)) => Some(keys),
        Some(OrderByKind::All(_)) => None,
    }
}

/// The place in a list that a number says.
fn position(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(ValueWithSpan {
            value: Value::Number(digits, _),
            ..
        }) => digits.parse().ok(),
        _ => None,
    }
}

fn renamed_columns(columns: &[(String, Type)], renamed: &[String]) -> Columns {
    let columns = columns.iter().enumerate();
    let columns =
        columns.map(|(at, (name, ty))| (renamed.get(at).unwrap_or(name).clone(), ty.clone()));
    columns.collect()
}

fn names_itself(query: &Written, name: &str) -> bool {
    use std::ops::ControlFlow;
    let found = freestone_frontend::syntax::walk::visit_relations(query, |relation| match relation
        .0
        .as_slice()
    {
        [only] if only.as_ident().is_some_and(|ident| fold(ident) == name) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}
