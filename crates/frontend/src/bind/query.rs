//! Queries: set operations, WITH, ORDER BY and LIMIT.

use std::collections::{HashMap, HashSet};

use sqlparser::ast::{
    Cte as Written, CteAsMaterialized, Fetch, LimitClause, Offset, OrderBy, Query, SetExpr,
    SetOperator, SetQuantifier, Table, Values, With,
};

use super::coerce::{common_of, common_of_exprs};
use super::scope::{Clause, NamedCte, Namespace, Scope};
use super::select::{Ordered, order_of_columns};
use super::{Binder, Coercion, fold, place, refuse};
use crate::error::{Error, Result};
use crate::functions::Volatility;
use crate::plan::{Column, Cte, CteBody, CteId, Expr, ExprKind, JoinKind, Plan, SetKind, SortKey};
use crate::stack;
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
        let ctes = match with {
            Some(with) => self.with(with)?,
            None => Vec::new(),
        };
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
            SetExpr::Select(select) => self.bind_select(select, order_by)?,
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
                }
            }
        };
        if limit.is_some() || fetch.is_some() {
            let Ordered {
                plan,
                keys,
                visible,
            } = ordered;
            let plan = self.limited(plan, &keys, limit, fetch)?;
            ordered = Ordered {
                plan,
                keys,
                visible,
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
        let mut limit = count
            .map(|count| self.row_count(count, "LIMIT"))
            .transpose()?;
        let offset = skipped
            .map(|skipped| self.row_count(skipped, "OFFSET"))
            .transpose()?;
        let (mut ties, mut share) = (None, false);
        if let Some(Fetch {
            with_ties,
            percent,
            quantity,
        }) = fetch
        {
            if limit.is_some() {
                return Err(Error::new("42601", "multiple LIMIT clauses not allowed"));
            }
            if *with_ties {
                if keys.is_empty() {
                    return Err(Error::new(
                        "42601",
                        "WITH TIES cannot be specified without ORDER BY clause",
                    ));
                }
                ties = Some(keys.to_vec());
            }
            share = *percent;
            limit = Some(match quantity {
                None => self.coerce(Expr::int4(1), &Type::Int8, Coercion::Implicit)?,
                Some(quantity) => self.row_count(quantity, "FETCH FIRST")?,
            });
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
        self.scopes
            .push(Scope::new(Namespace::default(), Clause::Limit));
        let bound = self.bind_expr(expr);
        self.scopes.pop();
        let bound = bound?;
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
                Ok(self.bind_from(std::slice::from_ref(&factor))?.0)
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
            return Err(Error::new(
                "42601",
                "VALUES lists must all be the same length",
            ));
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
        let mut bound: Vec<Vec<Expr>> = Vec::new();
        for row in rows {
            let row = row.iter().map(|expr| self.bind_expr(expr));
            bound.push(row.collect::<Result<_>>()?);
        }
        let mut types: Vec<Type> = Vec::with_capacity(width);
        let targets = std::mem::take(&mut self.targets);
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
            let column: Vec<Type> = sides.iter().map(|side| side[at].ty.clone()).collect();
            types.push(common_of(&column, word)?);
        }
        let mut converted = Vec::with_capacity(inputs.len());
        for input in inputs {
            converted.push(self.plan_of_types(input, &types, Coercion::Implicit)?);
        }
        if !all {
            for ty in &types {
                if !matches!(ty, Type::Array(_) | Type::Record(_) | Type::Enum(_)) {
                    self.equality(ty)
                        .map_err(|_| super::call::no_equality(ty))?;
                }
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
        for written in cte_tables {
            let Written {
                alias,
                query,
                from,
                materialized,
                closing_paren_token: _,
            } = written;
            refuse(from.is_some(), "FROM behind a common table expression")?;
            let name = fold(&alias.name);
            if !names.insert(name.clone()) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(Error::new("42712", message).at(place(&alias.name)));
            }
            let id = self.cte();
            let renamed: Vec<String> = alias
                .columns
                .iter()
                .map(|column| fold(&column.name))
                .collect();
            let (body, columns) = match *recursive && self.is_recursive(query, &name) {
                true => self.recursive(query, id, &name, &renamed)?,
                false => {
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

    /// Whether the query of an expression names the expression.
    fn is_recursive(&self, query: &Query, name: &str) -> bool {
        use std::ops::ControlFlow;
        let found = sqlparser::ast::visit_relations(query, |relation| {
            let is_it = matches!(relation.0.as_slice(), [part]
                if part.as_ident().is_some_and(|ident| fold(ident) == name));
            match is_it {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        found.is_break()
    }

    fn recursive(
        &mut self,
        query: &Query,
        id: CteId,
        name: &str,
        renamed: &[String],
    ) -> Result<(CteBody, Vec<Column>)> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            ..
        } = query;
        refuse(with.is_some(), "WITH inside of a recursive expression")?;
        refuse(order_by.is_some(), "ORDER BY in a recursive query")?;
        refuse(
            limit_clause.is_some() || fetch.is_some(),
            "LIMIT in a recursive query",
        )?;
        let SetExpr::SetOperation {
            op: SetOperator::Union,
            set_quantifier,
            left,
            right,
        } = body.as_ref()
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
        let base = self.body(left)?;
        let base = self.known(base)?;
        let given = base.columns();
        let seen = renamed_columns(name, given.clone(), renamed)?;
        self.named.push(NamedCte {
            name: name.to_owned(),
            id,
            columns: seen.clone(),
            recursing: true,
        });
        let step = self.body(right);
        self.named.pop();
        let mut step = step?;
        check_recursion(&step, id, name)?;
        let step_columns = step.columns();
        if step_columns.len() != given.len() {
            return Err(Error::new(
                "42601",
                "each UNION query must have the same number of columns",
            ));
        }
        for (at, (column, of_step)) in given.iter().zip(&step_columns).enumerate() {
            let common = common_of(&[column.ty.clone(), of_step.ty.clone()], "UNION")?;
            if common.base() != column.ty.base() {
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
            let mut seen = renamed_columns(name, base.columns(), renamed)?;
            for (column, ty) in seen.iter_mut().zip(&types) {
                column.ty = ty.clone();
            }
            self.named.push(NamedCte {
                name: name.to_owned(),
                id,
                columns: seen,
                recursing: true,
            });
            let again = self.body(right);
            self.named.pop();
            step = again?;
        }
        let step = self.plan_of_types(step, &types, Coercion::Assignment)?;
        let columns = given.into_iter().zip(types);
        let columns: Vec<Column> = columns
            .map(|(column, ty)| self.column(column.name, ty))
            .collect();
        Ok((
            CteBody::Recursive {
                base,
                step,
                all,
                columns: columns.clone(),
            },
            columns,
        ))
    }
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
    // Those behind one that is named nowhere do not name it.
    for cte in ctes.into_iter().rev() {
        let times = uses.get(&cte.id).copied().unwrap_or(0);
        if times == 0 && !matches!(cte.body, CteBody::Change { .. }) {
            continue;
        }
        match &cte.body {
            CteBody::Plan(plan) => count(plan, 1, &mut uses),
            // A recursive term is computed many times.
            CteBody::Recursive { base, step, .. } => {
                count(base, 1, &mut uses);
                count(step, 2, &mut uses);
            }
            CteBody::Change { .. } => {}
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
                    CteBody::Change { .. } => {}
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
        Plan::Aggregate { input, .. } if here(input) > 0 => {
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
