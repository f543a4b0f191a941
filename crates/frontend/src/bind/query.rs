//! Queries: set operations, WITH, ORDER BY and LIMIT.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use crate::syntax::walk::walk;
use sqlparser::ast::{
    Cte as Written, CteAsMaterialized, Fetch, LimitClause, ObjectName, Offset, OrderBy, Query,
    SetExpr, SetOperator, SetQuantifier, Table, Values, Visit, Visitor, With,
};

use super::coerce::{common_of, common_of_exprs};
use super::cycle::Marks;
use super::merge::is_merge;
use super::scope::{Clause, NamedCte, Namespace, Scope};
use super::select::{Ordered, order_of_columns};
use super::{Binder, Coercion, fold, place, refuse};
use crate::error::{Error, Result};
use crate::functions::Volatility;
use crate::plan::{Column, Cte, CteBody, CteId, Expr, ExprKind, JoinKind, Plan, SetKind, SortKey};
use crate::stack;
use crate::syntax::marks::{TIES, marked_call};
use crate::types::Type;

impl Binder<'_> {
    /// A query.
    pub(super) fn bind_query(&mut self, query: &Query) -> Result<Plan> {
        self.enter()?;
        let bound = self.query_inner(query);
        self.leave();
        bound
    }

    fn query_inner(&mut self, query: &Query) -> Result<Plan> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        refuse(!locks.is_empty(), "FOR UPDATE and FOR SHARE")?;
        refuse(for_clause.is_some(), "FOR XML and FOR JSON")?;
        refuse(settings.is_some(), "SETTINGS")?;
        refuse(format_clause.is_some(), "FORMAT")?;
        refuse(!pipe_operators.is_empty(), "the pipe syntax")?;
        let before = self.named.len();
        let list = self.list.take();
        let ctes = match with {
            Some(with) => self.with(with)?,
            None => Vec::new(),
        };
        self.list = list;
        let bound = self.ordered(
            body,
            order_by.as_ref(),
            limit_clause.as_ref(),
            fetch.as_ref(),
        );
        self.named.truncate(before);
        let mut plan = bound?;
        if !ctes.is_empty() {
            plan = super::shallow(with_ctes(ctes, plan))?;
        }
        Ok(plan)
    }

    fn ordered(
        &mut self,
        body: &SetExpr,
        order_by: Option<&OrderBy>,
        limit: Option<&LimitClause>,
        fetch: Option<&Fetch>,
    ) -> Result<Plan> {
        let mut ordered = match body {
            SetExpr::Select(select) if !is_merge(body) => self.bind_select(select, order_by)?,
            body => {
                let plan = self.body(body)?;
                let plan = match order_by {
                    Some(_) => self.known(plan)?,
                    None => plan,
                };
                let visible = plan.columns();
                let keys = match order_by {
                    Some(order_by) => order_of_columns(self, order_by, &visible)?,
                    None => Vec::new(),
                };
                let plan = match keys.is_empty() {
                    true => plan,
                    false => Plan::Sort {
                        input: Box::new(plan),
                        keys: keys.clone(),
                    },
                };
                Ordered {
                    plan,
                    keys,
                    visible,
                    names: Namespace::default(),
                }
            }
        };
        if limit.is_some() || fetch.is_some() {
            let Ordered {
                plan,
                keys,
                visible,
                names,
            } = ordered;
            self.scopes.push(Scope::new(names, Clause::Limit));
            let plan = self.limited(plan, &keys, limit, fetch);
            self.scopes.pop();
            ordered = Ordered {
                plan: plan?,
                keys,
                visible,
                names: Namespace::default(),
            };
        }
        Ok(ordered.cut())
    }

    fn limited(
        &mut self,
        plan: Plan,
        keys: &[SortKey],
        limit: Option<&LimitClause>,
        fetch: Option<&Fetch>,
    ) -> Result<Plan> {
        let (mut count, mut skipped) = (None, None);
        match limit {
            None => {}
            Some(LimitClause::LimitOffset {
                limit,
                offset,
                limit_by,
            }) => {
                refuse(!limit_by.is_empty(), "LIMIT … BY")?;
                count = limit.as_ref();
                if let Some(Offset { value, rows: _ }) = offset {
                    skipped = Some(value);
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                count = Some(limit);
                skipped = Some(offset);
            }
        }
        let tied = count.and_then(|count| marked_call(count, TIES));
        let tied = tied.and_then(|(_, arguments)| arguments.first().copied());
        let bound = tied.or(count).map(|count| self.row_count(count, "LIMIT"));
        let mut limit = bound.transpose()?;
        let bound = skipped.map(|skipped| self.row_count(skipped, "OFFSET"));
        let offset = bound.transpose()?;
        let (mut ties, mut share) = (None, false);
        if tied.is_some() {
            ties = Some(tie_keys(keys, limit.as_ref())?);
        }
        if let Some(Fetch {
            with_ties,
            percent,
            quantity,
        }) = fetch
        {
            if limit.is_some() {
                return Err(Error::new("42601", "multiple LIMIT clauses not allowed"));
            }
            share = *percent;
            limit = Some(match quantity {
                None => self.coerce(Expr::int4(1), &Type::Int8, Coercion::Implicit)?,
                Some(quantity) => self.row_count(quantity, "LIMIT")?,
            });
            if *with_ties {
                ties = Some(tie_keys(keys, limit.as_ref())?);
            }
        }
        Ok(Plan::Limit {
            input: Box::new(plan),
            limit,
            offset,
            ties,
            percent: share,
        })
    }

    /// A number of rows, which reads no column of its own query.
    fn row_count(&mut self, expr: &sqlparser::ast::Expr, clause: &str) -> Result<Expr> {
        // LIMIT ALL is no limit.
        if let sqlparser::ast::Expr::Identifier(ident) = expr
            && fold(ident) == "all"
        {
            return Ok(Expr::null(Type::Int8));
        }
        self.scope()?.clause = match clause {
            "OFFSET" => Clause::Offset,
            _ => Clause::Limit,
        };
        let bound = self.bind_expr(expr)?;
        self.check_constant(&bound, clause)?;
        if bound.ty != Type::Unknown
            && !self.coercible(&bound.ty, &Type::Int8, Coercion::Assignment)
        {
            let message = format!(
                "argument of {clause} must be type bigint, not type {}",
                bound.ty.base()
            );
            return Err(Error::new("42804", message));
        }
        let bound = self.coerce(bound, &Type::Int8, Coercion::Assignment)?;
        if bound.literal_integer().is_some_and(|count| count < 0) {
            let code = if clause == "OFFSET" { "2201X" } else { "2201W" };
            return Err(Error::new(code, format!("{clause} must not be negative")));
        }
        Ok(bound)
    }

    /// A SELECT, VALUES, or a set operation, without an order.
    fn body(&mut self, body: &SetExpr) -> Result<Plan> {
        self.enter()?;
        let bound = self.body_inner(body);
        self.leave();
        bound
    }

    fn body_inner(&mut self, body: &SetExpr) -> Result<Plan> {
        match body {
            SetExpr::Select(select) if is_merge(body) => self.bind_merge(select),
            SetExpr::Select(select) => Ok(self.bind_select(select, None)?.cut()),
            SetExpr::Query(query) => self.bind_query(query),
            SetExpr::Values(values) => self.values(values),
            SetExpr::SetOperation { .. } => self.set_operation(body),
            SetExpr::Table(table) => {
                let Table {
                    table_name,
                    schema_name,
                } = table.as_ref();
                let mut path = Vec::new();
                path.extend(schema_name.as_deref());
                path.extend(table_name.as_deref());
                let idents: Vec<_> = path.into_iter().map(sqlparser::ast::Ident::new).collect();
                let factor = sqlparser::ast::TableWithJoins {
                    relation: sqlparser::ast::TableFactor::Table {
                        name: idents.into(),
                        alias: None,
                        args: None,
                        with_hints: Vec::new(),
                        version: None,
                        with_ordinality: false,
                        partitions: Vec::new(),
                        json_path: None,
                        sample: None,
                        index_hints: Vec::new(),
                    },
                    joins: Vec::new(),
                };
                self.ranges.push(Vec::new());
                let bound = self.bind_from(std::slice::from_ref(&factor));
                self.ranges.pop();
                Ok(bound?.0)
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err(Error::unsupported(
                    "statements that change data inside of WITH are not supported",
                ))
            }
        }
    }

    fn values(&mut self, values: &Values) -> Result<Plan> {
        let Values {
            explicit_row: _,
            value_keyword: _,
            rows,
        } = values;
        let width = rows.first().map_or(0, |row| row.content.len());
        if rows.iter().any(|row| row.content.len() != width) {
            let other = rows.iter().find(|row| row.content.len() != width);
            let place = other.and_then(|row| row.content.first());
            return Err(
                Error::new("42601", "VALUES lists must all be the same length")
                    .at(place.and_then(|expr| super::at(sqlparser::ast::Spanned::span(expr)))),
            );
        }
        self.scopes
            .push(Scope::new(Namespace::default(), Clause::Values));
        let bound = self.rows(rows.iter().map(|row| row.content.as_slice()), width);
        self.scopes.pop();
        bound
    }

    fn rows<'q>(
        &mut self,
        rows: impl Iterator<Item = &'q [sqlparser::ast::Expr]>,
        width: usize,
    ) -> Result<Plan> {
        // The targets belong to the statement's own VALUES, not to VALUES inside of its values.
        let targets = std::mem::take(&mut self.targets);
        let mut bound: Vec<Vec<Expr>> = Vec::new();
        for row in rows {
            let row = row.iter().map(|expr| self.bind_expr(expr));
            bound.push(row.collect::<Result<_>>()?);
        }
        let mut types: Vec<Type> = Vec::with_capacity(width);
        let mut how = Coercion::Implicit;
        if !targets.is_empty() && targets.len() >= width {
            how = Coercion::Assignment;
            for (at, target) in targets.iter().take(width).enumerate() {
                let mut to = target.1.clone();
                for row in &bound {
                    to = self.storable(&row[at].ty, target)?;
                }
                types.push(to);
            }
        } else {
            for at in 0..width {
                let values = bound.iter().map(|row| &row[at]);
                types.push(match values.clone().all(|expr| expr.ty == Type::Unknown) {
                    true => Type::Unknown,
                    false => common_of_exprs(values, "VALUES")?,
                });
            }
        }
        let mut converted = Vec::with_capacity(bound.len());
        for row in bound {
            let row = row.into_iter().zip(&types);
            let row = row.map(|(expr, ty)| match ty {
                Type::Unknown => Ok(expr),
                ty => self.coerce(expr, ty, how),
            });
            converted.push(row.collect::<Result<Vec<_>>>()?);
        }
        let columns = types.into_iter().zip(1..);
        let columns = columns.map(|(ty, number)| self.column(format!("column{number}"), ty));
        Ok(Plan::Values {
            columns: columns.collect(),
            rows: converted,
        })
    }

    /// Set operations. A chain of one kind, which the parser nests to the left, is one node.
    fn set_operation(&mut self, whole: &SetExpr) -> Result<Plan> {
        let SetExpr::SetOperation {
            op, set_quantifier, ..
        } = whole
        else {
            return Err(Error::internal("a set operation that is none"));
        };
        let (kind, all, by_name) = set_kind(*op, *set_quantifier)?;
        let mut inputs = Vec::new();
        let mut open = vec![whole];
        while let Some(side) = open.pop() {
            match side {
                SetExpr::SetOperation {
                    op: other,
                    set_quantifier: quantifier,
                    left,
                    right,
                } if other == op
                    && quantifier == set_quantifier
                    && (kind == SetKind::Union || std::ptr::eq(side, whole)) =>
                {
                    open.extend([right.as_ref(), left]);
                }
                side => inputs.push(self.body(side)?),
            }
        }
        match by_name {
            true => self.set_by_name(kind, all, inputs),
            false => self.set_of(kind, all, inputs),
        }
    }

    fn set_of(&mut self, kind: SetKind, all: bool, inputs: Vec<Plan>) -> Result<Plan> {
        let word = match kind {
            SetKind::Union => "UNION",
            SetKind::Intersect => "INTERSECT",
            SetKind::Except => "EXCEPT",
        };
        let sides: Vec<Vec<Column>> = inputs.iter().map(Plan::columns).collect();
        let width = sides.first().map_or(0, Vec::len);
        if sides.iter().any(|side| side.len() != width) {
            return Err(Error::new(
                "42601",
                format!("each {word} query must have the same number of columns"),
            ));
        }
        let mut types = Vec::with_capacity(width);
        for at in 0..width {
            // A chain is typed side by side, as it is computed.
            let mut sides = sides.iter().map(|side| &side[at].ty);
            let mut common = sides.next().cloned().unwrap_or(Type::Text);
            for ty in sides {
                let pair = [common, ty.clone()];
                common = match (common_of(&pair, word)?, &pair) {
                    // Lengths stay where all sides have them.
                    (Type::Varchar(_), [a, b]) if a != b => Type::Varchar(None),
                    (common, _) => common,
                };
            }
            types.push(common);
        }
        let mut converted = Vec::with_capacity(inputs.len());
        for input in inputs {
            converted.push(self.plan_of_types(input, &types, Coercion::Implicit)?);
        }
        if !all {
            for ty in &types {
                self.check_equality(ty)?;
            }
        }
        let first = sides.into_iter().next().unwrap_or_default();
        let columns = first.into_iter().zip(types);
        let columns = columns
            .map(|(column, ty)| self.column(column.name, ty))
            .collect();
        Ok(Plan::Set {
            kind,
            all,
            inputs: converted,
            columns,
        })
    }

    /// UNION BY NAME: columns that a side lacks are NULL there.
    fn set_by_name(&mut self, kind: SetKind, all: bool, inputs: Vec<Plan>) -> Result<Plan> {
        let mut names: Vec<String> = Vec::new();
        for column in inputs.iter().flat_map(Plan::columns) {
            if !names.contains(&column.name) {
                names.push(column.name);
            }
        }
        let mut aligned = Vec::with_capacity(inputs.len());
        for input in inputs {
            let columns = input.columns();
            let mut items = Vec::with_capacity(names.len());
            for name in &names {
                let value = match columns.iter().find(|column| column.name == *name) {
                    Some(column) => column.reference(),
                    None => Expr::null(Type::Unknown),
                };
                items.push((self.column(name.clone(), value.ty.clone()), value));
            }
            aligned.push(Plan::Project {
                input: Box::new(input),
                items,
            });
        }
        self.set_of(kind, all, aligned)
    }

    /// The expressions of a WITH, in sight from now on.
    fn with(&mut self, with: &With) -> Result<Vec<Cte>> {
        let With {
            with_token: _,
            recursive,
            cte_tables,
        } = with;
        let mut bound: Vec<Cte> = Vec::with_capacity(cte_tables.len());
        let mut names = HashSet::new();
        for Written { alias, .. } in cte_tables {
            let name = fold(&alias.name);
            if !names.insert(name.clone()) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(Error::new("42712", message).at(place(&alias.name)));
            }
        }
        let order = match recursive {
            true => in_order(cte_tables)?,
            false => (0..cte_tables.len()).collect(),
        };
        for written in order.into_iter().filter_map(|at| cte_tables.get(at)) {
            let Written {
                alias,
                query,
                from,
                materialized,
                closing_paren_token: _,
            } = written;
            refuse(from.is_some(), "FROM behind a common table expression")?;
            let name = fold(&alias.name);
            let id = self.cte();
            let marks = Marks::of(&alias.columns)?;
            let renamed: Vec<String> = alias
                .columns
                .iter()
                .filter(|column| !Marks::is_one(&column.name))
                .map(|column| fold(&column.name))
                .collect();
            let is_recursive = *recursive && relation_names(query.as_ref()).contains(&name);
            let (body, columns) = match is_recursive {
                true => {
                    let recursion = self.recursive(query, id, &name, &renamed, &marks)?;
                    bound.extend(recursion.before);
                    (recursion.body, recursion.columns)
                }
                false => {
                    if !marks.is_empty() {
                        return Err(Error::new("42601", "WITH query is not recursive")
                            .at(place(&alias.name)));
                    }
                    let plan = self.bind_query(query)?;
                    let plan = self.known(plan)?;
                    let columns = plan.columns();
                    (CteBody::Plan(plan), columns)
                }
            };
            let columns = renamed_columns(&name, columns, &renamed)?;
            self.named.push(NamedCte {
                name: name.clone(),
                id,
                columns,
                recursing: false,
                hidden: 0,
                depth: self.scopes.len(),
            });
            bound.push(Cte {
                id,
                name,
                body,
                materialized: matches!(materialized, Some(CteAsMaterialized::Materialized)),
            });
        }
        Ok(bound)
    }

    fn recursive(
        &mut self,
        query: &Query,
        id: CteId,
        name: &str,
        renamed: &[String],
        marks: &Marks,
    ) -> Result<Recursion> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        let missing = |present: bool, clause: &str| match present {
            true => Err(Error::unsupported(format!(
                "{clause} in a recursive query is not implemented"
            ))),
            false => Ok(()),
        };
        let offset = matches!(
            limit_clause,
            Some(LimitClause::LimitOffset {
                limit: None,
                offset: Some(_),
                ..
            })
        );
        missing(order_by.is_some(), "ORDER BY")?;
        missing(offset, "OFFSET")?;
        missing(limit_clause.is_some() || fetch.is_some(), "LIMIT")?;
        missing(!locks.is_empty(), "FOR UPDATE/SHARE")?;
        refuse(for_clause.is_some(), "FOR XML and FOR JSON")?;
        refuse(settings.is_some(), "SETTINGS")?;
        refuse(format_clause.is_some(), "FORMAT")?;
        refuse(!pipe_operators.is_empty(), "the pipe syntax")?;
        // Its own WITH is in sight of both terms.
        if let Some(with) = with {
            let before = self.named.len();
            let bound = self.with(with).and_then(|mut ctes| {
                let recursion = self.recursion(body, id, name, renamed, marks)?;
                ctes.extend(recursion.before);
                Ok(Recursion {
                    before: ctes,
                    ..recursion
                })
            });
            self.named.truncate(before);
            return bound;
        }
        self.recursion(body, id, name, renamed, marks)
    }

    /// The two terms of a recursive expression.
    fn recursion(
        &mut self,
        body: &SetExpr,
        id: CteId,
        name: &str,
        renamed: &[String],
        marks: &Marks,
    ) -> Result<Recursion> {
        let SetExpr::SetOperation {
            op: SetOperator::Union,
            set_quantifier,
            left,
            right,
        } = body
        else {
            return Err(Error::new(
                "42P19",
                format!(
                    "recursive query \"{name}\" does not have the form non-recursive-term UNION \
                     [ALL] recursive-term"
                ),
            ));
        };
        let all = match set_quantifier {
            SetQuantifier::All => true,
            SetQuantifier::None | SetQuantifier::Distinct => false,
            _ => {
                return Err(Error::unsupported(
                    "BY NAME in a recursive query is not supported",
                ));
            }
        };
        if relation_names(left.as_ref()).contains(name) {
            return Err(Error::new(
                "42P19",
                format!(
                    "recursive reference to query \"{name}\" must not appear within its \
                     non-recursive term"
                ),
            ));
        }
        let base = self.body(left)?;
        let written: Vec<Type> = base.columns().into_iter().map(|column| column.ty).collect();
        let base = self.known(base)?;
        let own = renamed_columns(name, base.columns(), renamed)?;
        let base = self.marked_base(base, &own, marks)?;
        let given = base.columns();
        let mut step = self.recursive_step(right, id, name, (&given, &own), marks)?;
        check_recursion(&step, id, name)?;
        marks.check(&own)?;
        let step_columns = step.columns();
        if step_columns.len() != given.len() {
            return Err(Error::new(
                "42601",
                "each UNION query must have the same number of columns",
            ));
        }
        for (at, (column, of_step)) in given.iter().zip(&step_columns).enumerate() {
            // A literal without a type would take that of the recursive term.
            let written = written.get(at).unwrap_or(&column.ty).clone();
            let common = common_of(&[written, of_step.ty.clone()], "UNION")?;
            let shorter = matches!(column.ty, Type::Varchar(Some(_))) && column.ty != of_step.ty;
            let common = if shorter { common.base() } else { common };
            if common.base() != column.ty.base() || shorter {
                return Err(Error::new(
                    "42804",
                    format!(
                        "recursive query \"{name}\" column {} has type {} in non-recursive term \
                         but type {common} overall",
                        at + 1,
                        column.ty
                    ),
                )
                .with_hint("Cast the output of the non-recursive term to the correct type."));
            }
        }
        // NUMERIC keeps all digits that the recursion may give.
        let types = given.iter().zip(&step_columns);
        let types: Vec<Type> = types
            .map(|(column, of_step)| match column.ty == of_step.ty {
                true => column.ty.clone(),
                false => column.ty.base(),
            })
            .collect();
        let changed = given
            .iter()
            .zip(&types)
            .any(|(column, ty)| column.ty != *ty);
        let mut base = base;
        if changed {
            base = self.plan_of_types(base, &types, Coercion::Implicit)?;
            // The recursive term reads the wider columns.
            let mut seen = base.columns();
            for (column, ty) in seen.iter_mut().zip(&types) {
                column.ty = ty.clone();
            }
            step = self.recursive_step(right, id, name, (&seen, &own), marks)?;
        }
        let step = self.plan_of_types(step, &types, Coercion::Assignment)?;
        let columns = given.into_iter().zip(types);
        let columns: Vec<Column> = columns
            .map(|(column, ty)| self.column(column.name, ty))
            .collect();
        Ok(Recursion {
            body: CteBody::Recursive {
                base,
                step,
                all,
                columns: columns.clone(),
            },
            columns,
            before: Vec::new(),
        })
    }
}

impl Binder<'_> {
    /// The recursive term, which sees the columns under their names.
    fn recursive_step(
        &mut self,
        right: &SetExpr,
        id: CteId,
        name: &str,
        (given, own): (&[Column], &[Column]),
        marks: &Marks,
    ) -> Result<Plan> {
        let mut seen = given.to_vec();
        for (column, own) in seen.iter_mut().zip(own) {
            column.name.clone_from(&own.name);
        }
        self.named.push(NamedCte {
            name: name.to_owned(),
            id,
            columns: seen,
            recursing: true,
            hidden: given.len() - own.len(),
            depth: self.scopes.len(),
        });
        let step = match marks.is_empty() {
            true => self.body(right),
            false => self.marked_step(right, name, own, marks),
        };
        self.named.pop();
        step
    }
}

/// The keys of an order by which rows are tied with the last of so many.
fn tie_keys(keys: &[SortKey], count: Option<&Expr>) -> Result<Vec<SortKey>> {
    if keys.is_empty() {
        return Err(Error::new(
            "42601",
            "WITH TIES cannot be specified without ORDER BY clause",
        ));
    }
    if count.is_some_and(Expr::is_literal_null) {
        return Err(Error::new(
            "2201W",
            "row count cannot be null in FETCH FIRST ... WITH TIES clause",
        ));
    }
    Ok(keys.to_vec())
}

/// A recursive expression.
struct Recursion {
    body: CteBody,
    columns: Vec<Column>,
    /// The expressions of its own WITH, which are computed before it.
    before: Vec<Cte>,
}

/// The names of relations that a query has, without schemas and without those that a WITH in it
/// gives.
fn relation_names(node: &impl Visit) -> HashSet<String> {
    let mut names = Names::default();
    let _: ControlFlow<()> = walk(node, &mut names);
    names.found
}

/// Gathers names of relations.
#[derive(Default)]
struct Names {
    found: HashSet<String>,
    /// Names that the WITHs of the queries around give.
    given: Vec<String>,
    /// How many there were before each of those queries.
    marks: Vec<usize>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.marks.push(self.given.len());
        let given = query.with.iter().flat_map(|with| &with.cte_tables);
        self.given.extend(given.map(|cte| fold(&cte.alias.name)));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.given.truncate(self.marks.pop().unwrap_or(0));
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        if let [part] = relation.0.as_slice()
            && let Some(ident) = part.as_ident()
        {
            let name = fold(ident);
            if !self.given.contains(&name) {
                self.found.insert(name);
            }
        }
        ControlFlow::Continue(())
    }
}

/// The order in which the expressions of WITH RECURSIVE can be bound: each after those that it
/// names.
///
/// # Errors
/// `0A000` if some name one another.
fn in_order(written: &[Written]) -> Result<Vec<usize>> {
    let names = written.iter().zip(0..);
    let names: HashMap<String, usize> =
        names.map(|(cte, at)| (fold(&cte.alias.name), at)).collect();
    let mut reads = Vec::with_capacity(written.len());
    for (at, cte) in written.iter().enumerate() {
        let read = relation_names(cte.query.as_ref());
        let others = read.iter().filter_map(|name| names.get(name).copied());
        reads.push(others.filter(|other| *other != at).collect::<Vec<_>>());
    }
    let mut order: Vec<usize> = Vec::with_capacity(written.len());
    let mut done = vec![false; written.len()];
    while order.len() < written.len() {
        let free = |at: &usize| !done[*at] && reads[*at].iter().all(|other| done[*other]);
        let Some(next) = (0..written.len()).find(free) else {
            return Err(Error::unsupported(
                "mutual recursion between WITH items is not implemented",
            ));
        };
        done[next] = true;
        order.push(next);
    }
    Ok(order)
}

fn renamed_columns(name: &str, columns: Vec<Column>, renamed: &[String]) -> Result<Vec<Column>> {
    if renamed.len() > columns.len() {
        return Err(Error::new(
            "42P10",
            format!(
                "WITH query \"{name}\" has {} columns available but {} columns specified",
                columns.len(),
                renamed.len()
            ),
        ));
    }
    let mut columns = columns;
    for (column, name) in columns.iter_mut().zip(renamed) {
        column.name.clone_from(name);
    }
    Ok(columns)
}

fn set_kind(op: SetOperator, quantifier: SetQuantifier) -> Result<(SetKind, bool, bool)> {
    let kind = match op {
        SetOperator::Union => SetKind::Union,
        SetOperator::Intersect => SetKind::Intersect,
        SetOperator::Except | SetOperator::Minus => SetKind::Except,
    };
    let (all, by_name) = match quantifier {
        SetQuantifier::All => (true, false),
        SetQuantifier::Distinct | SetQuantifier::None => (false, false),
        SetQuantifier::ByName | SetQuantifier::DistinctByName => (false, true),
        SetQuantifier::AllByName => (true, true),
    };
    if by_name && kind != SetKind::Union {
        return Err(Error::unsupported(
            "BY NAME of INTERSECT and EXCEPT is not supported",
        ));
    }
    Ok((kind, all, by_name))
}

/// A plan with its expressions: those that are named once are put in there, those that nobody
/// names are left out.
fn with_ctes(ctes: Vec<Cte>, mut body: Plan) -> Plan {
    let mut uses: HashMap<CteId, usize> = HashMap::new();
    count(&body, 1, &mut uses);
    let mut kept: Vec<Cte> = Vec::new();
    let mut placed: HashMap<CteId, Plan> = HashMap::new();
    // Expressions are visited from the last to the first: an expression can be named only by
    // later ones, whose uses are counted by then.
    for cte in ctes.into_iter().rev() {
        let times = uses.get(&cte.id).copied().unwrap_or(0);
        // Columns of an outer query count where that query's aggregates and groups are found,
        // though nothing reads the expression; the rewriting drops it.
        if times == 0 && !reads_outer(&cte.body) {
            continue;
        }
        match &cte.body {
            CteBody::Plan(plan) => count(plan, 1, &mut uses),
            // A recursive term is computed many times.
            CteBody::Recursive { base, step, .. } => {
                count(base, 1, &mut uses);
                count(step, 2, &mut uses);
            }
        }
        match cte.body {
            CteBody::Plan(plan) if times == 1 && !cte.materialized && !is_volatile(&plan) => {
                placed.insert(cte.id, plan);
            }
            body => kept.push(Cte { body, ..cte }),
        }
    }
    if !placed.is_empty() {
        // Each expression that is put in place may hold the place of another.
        stack::with_room(placed.len().saturating_mul(8), || {
            put(&mut body, &mut placed);
            for later in &mut kept {
                match &mut later.body {
                    CteBody::Plan(inner) => put(inner, &mut placed),
                    CteBody::Recursive { base, step, .. } => {
                        put(base, &mut placed);
                        put(step, &mut placed);
                    }
                }
            }
        });
    }
    if kept.is_empty() {
        return body;
    }
    kept.reverse();
    Plan::With {
        ctes: kept,
        body: Box::new(body),
    }
}

/// Whether an expression reads columns of an outer query.
fn reads_outer(body: &CteBody) -> bool {
    match body {
        CteBody::Plan(plan) => !plan.free().is_empty(),
        CteBody::Recursive { base, step, .. } => !base.free().is_empty() || !step.free().is_empty(),
    }
}

/// Counts how often a plan reads each expression; more often where a row of another plan asks
/// for it.
fn count(plan: &Plan, times: usize, uses: &mut HashMap<CteId, usize>) {
    let mut add = |id: CteId, times: usize| {
        let known = uses.entry(id).or_default();
        *known = known.saturating_add(times);
    };
    if let Plan::CteScan { id, .. } = plan {
        add(*id, times);
    }
    let is_lateral = matches!(plan, Plan::Join { lateral: true, .. });
    for (at, input) in plan.inputs().into_iter().enumerate() {
        // It is computed for every row.
        let times = if is_lateral && at == 1 { 2 } else { times };
        count(input, times, uses);
    }
    for expr in plan.expressions() {
        expr.any(&mut |expr| {
            if let ExprKind::Subquery(subquery) = &expr.kind {
                let mut inner = HashMap::new();
                count(&subquery.plan, times, &mut inner);
                if !inner.is_empty() {
                    let again = if subquery.free().is_empty() { 1 } else { 2 };
                    for (id, times) in inner {
                        let known = uses.entry(id).or_default();
                        *known = known.saturating_add(times * again);
                    }
                }
            }
            false
        });
    }
}

/// Puts plans in the places where their expressions are named.
fn put(plan: &mut Plan, placed: &mut HashMap<CteId, Plan>) {
    if let Plan::CteScan { id, columns, .. } = plan {
        if let Some(mut inner) = placed.remove(id) {
            put(&mut inner, placed);
            let given = inner.columns();
            let items = columns.iter().zip(0..).map(|((column, from), at)| {
                // Mostly the columns are in the same order.
                let same: Option<&Column> = given.get(at).filter(|known| known.id == *from);
                let value = same.or_else(|| given.iter().find(|known| known.id == *from));
                let value = value.map_or_else(|| Expr::null(column.ty.clone()), Column::reference);
                (column.clone(), value)
            });
            *plan = Plan::Project {
                items: items.collect(),
                input: Box::new(inner),
            };
        }
        return;
    }
    for input in plan.inputs_mut() {
        put(input, placed);
    }
    for expr in plan.expressions_mut() {
        expr.change(&mut |expr| {
            if let ExprKind::Subquery(subquery) = &mut expr.kind {
                put(&mut subquery.plan, placed);
            }
        });
    }
}

/// Whether a plan may give other rows when it is computed again.
fn is_volatile(plan: &Plan) -> bool {
    let here = plan.expressions().into_iter().any(|expr| {
        expr.any(&mut |expr| match &expr.kind {
            ExprKind::Call { function, .. } => function.volatility == Volatility::Volatile,
            ExprKind::Subquery(subquery) => is_volatile(&subquery.plan),
            _ => false,
        })
    });
    here || matches!(
        plan,
        Plan::Scan {
            sample: Some(_),
            ..
        }
    ) || plan.inputs().into_iter().any(is_volatile)
}

/// Refuses a recursive term whose meaning would not be that of a fixed point.
fn check_recursion(step: &Plan, id: CteId, name: &str) -> Result<()> {
    let bad = |message: String| Err(Error::new("42P19", message));
    let here = |plan: &Plan| recursions(plan, id);
    if here(step) > 1 {
        return bad(format!(
            "recursive reference to query \"{name}\" must not appear more than once"
        ));
    }
    for expr in step.expressions() {
        let mut inside = false;
        expr.any(&mut |expr| {
            if let ExprKind::Subquery(subquery) = &expr.kind {
                inside |= deep_recursions(&subquery.plan, id) > 0;
            }
            false
        });
        if inside {
            return bad(format!(
                "recursive reference to query \"{name}\" must not appear within a subquery"
            ));
        }
    }
    match step {
        Plan::Aggregate { input, calls, .. } if !calls.is_empty() && here(input) > 0 => {
            return bad(
                "aggregate functions are not allowed in a recursive query's recursive term"
                    .to_owned(),
            );
        }
        Plan::Join {
            kind, left, right, ..
        } => {
            let outer = match kind {
                JoinKind::Single | JoinKind::Mark(_) => here(right) > 0,
                JoinKind::Left | JoinKind::AsOfLeft | JoinKind::Anti | JoinKind::Semi => {
                    here(right) > 0
                }
                JoinKind::Right => here(left) > 0,
                JoinKind::Full => here(left) + here(right) > 0,
                JoinKind::Inner | JoinKind::AsOf => false,
            };
            if outer {
                return bad(format!(
                    "recursive reference to query \"{name}\" must not appear within an outer join"
                ));
            }
        }
        Plan::Set {
            kind: SetKind::Except,
            inputs,
            ..
        } if inputs.iter().skip(1).any(|input| here(input) > 0) => {
            return bad(format!(
                "recursive reference to query \"{name}\" must not appear within EXCEPT"
            ));
        }
        _ => {}
    }
    step.inputs()
        .into_iter()
        .try_for_each(|input| check_recursion(input, id, name))
}

/// Whether a plan reads one of some expressions, in a sub-query or not.
pub(super) fn reads_cte(plan: &Plan, wanted: &dyn Fn(CteId) -> bool) -> bool {
    let own = match plan {
        Plan::CteScan { id, .. } | Plan::Recursion { id, .. } => wanted(*id),
        _ => false,
    };
    let inside = |expr: &&Expr| expression_reads_cte(expr, wanted);
    own || plan.expressions().iter().any(inside)
        || plan
            .inputs()
            .into_iter()
            .any(|input| reads_cte(input, wanted))
}

/// Whether a sub-query of an expression reads one of some common table expressions.
pub(super) fn expression_reads_cte(expr: &Expr, wanted: &dyn Fn(CteId) -> bool) -> bool {
    expr.any(&mut |expr| match &expr.kind {
        ExprKind::Subquery(subquery) => reads_cte(&subquery.plan, wanted),
        _ => false,
    })
}

fn recursions(plan: &Plan, id: CteId) -> usize {
    let own = usize::from(matches!(plan, Plan::Recursion { id: other, .. } if *other == id));
    own + plan
        .inputs()
        .into_iter()
        .map(|input| recursions(input, id))
        .sum::<usize>()
}

fn deep_recursions(plan: &Plan, id: CteId) -> usize {
    let mut inside = 0;
    for expr in plan.expressions() {
        expr.any(&mut |expr| {
            if let ExprKind::Subquery(subquery) = &expr.kind {
                inside += deep_recursions(&subquery.plan, id);
            }
            false
        });
    }
    let own = usize::from(matches!(plan, Plan::Recursion { id: other, .. } if *other == id));
    own + inside
        + plan
            .inputs()
            .into_iter()
            .map(|input| deep_recursions(input, id))
            .sum::<usize>()
}
