//! FROM: tables, views, sub-queries, functions and joins.

use std::collections::HashSet;

use sqlparser::ast::{
    BinaryOperator, DataType, Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    Ident, Join, JoinConstraint, JoinOperator, ObjectName, Query, TableAlias, TableAliasColumnDef,
    TableFactor, TableFunctionArgs, TableSample, TableSampleKind, TableSampleMethod,
    TableSampleQuantity, TableSampleUnit, TableWithJoins,
};

use super::call::in_order;
use super::domain::Written;
use super::function::{Called, RowName, SqlReturns};
use super::sample::sample_of;
use super::scope::{Clause, Named, Namespace, Range, Scope, ScopeColumn, one_name, scope_columns};
use super::{
    Binder, Coercion, Found, Limited, Markers, PartColumn, Parts, Seen, View, fold, name_place,
    parts, place, refuse, shallow, written_type,
};
use crate::error::{Error, Result};
use crate::functions::catalogue;
use crate::plan::{
    Column, ColumnId, Expr, ExprKind, JoinKind, Plan, Relation, Sample, SetKind, SortKey, TableCall,
};
use crate::syntax::marks::{COLUMNS, JOIN_ALIAS, ONLY, POSITIONAL, ROWS_FROM, marked, marked_call};
use crate::types::{FieldDomain, Fields, Type};

impl Seen {
    /// Where the columns in sight are among all of a relation.
    fn places(&self, columns: &[ScopeColumn]) -> Vec<usize> {
        let place = |now: &String| columns.iter().position(|column| column.name == *now);
        let places = self.columns.iter().map(|(_, now)| place(now));
        places.flatten().collect()
    }

    /// The columns in sight, under their names in the view.
    fn of(&self, columns: &[ScopeColumn]) -> Vec<ScopeColumn> {
        called(&self.columns, columns)
    }
}

/// Columns under other names: those that are to be seen, each by the new name and by its own.
fn called(seen: &[(String, String)], columns: &[ScopeColumn]) -> Vec<ScopeColumn> {
    let of = |(then, now): &(String, String)| {
        let found = columns.iter().find(|column| column.name == *now)?;
        Some(ScopeColumn {
            name: then.clone(),
            value: found.value.clone(),
        })
    };
    seen.iter().filter_map(of).collect()
}

/// A key of columns, of which only those at some places are in sight; none if one is not.
fn seen_key(key: &[usize], places: &[usize]) -> Vec<usize> {
    let place = |at: &usize| places.iter().position(|place| place == at);
    let found: Option<Vec<usize>> = key.iter().map(place).collect();
    found.unwrap_or_default()
}

/// A part of FROM: its plan and its names.
pub(super) type Part = (Plan, Namespace);

/// The names before a part of FROM, which LATERAL sees.
pub(super) type Visible<'v> = &'v [&'v Namespace];

impl Binder<'_> {
    /// The items of FROM, next to each other.
    pub(super) fn bind_from(&mut self, items: &[TableWithJoins]) -> Result<Part> {
        let mut whole: Option<Part> = None;
        for (item, level) in items.iter().zip(1..) {
            if let Some(args) = sample_of(&item.relation)
                && let Some(part) = whole.take()
            {
                whole = Some(self.sampled(part, args)?);
                continue;
            }
            let visible: Vec<&Namespace> = whole.iter().map(|(_, names)| names).collect();
            let part = self.joined(item, &visible)?;
            drop(visible);
            whole = Some(match whole {
                None => part,
                Some(before) => cross(roomy(before, level)?, part)?,
            });
        }
        Ok(whole.unwrap_or_else(|| (Plan::one_row(), Namespace::default())))
    }

    /// A table and what is joined to it. `visible` are the names before it, for LATERAL.
    pub(super) fn joined(&mut self, item: &TableWithJoins, visible: Visible<'_>) -> Result<Part> {
        let TableWithJoins { relation, joins } = item;
        let mut left = self.factor(relation, visible)?;
        for (join, level) in joins.iter().zip(1..) {
            left = self.join(roomy(left, level)?, join, visible)?;
        }
        Ok(left)
    }

    fn join(&mut self, left: Part, join: &Join, visible: Visible<'_>) -> Result<Part> {
        let Join {
            relation,
            global,
            join_operator,
        } = join;
        refuse(*global, "GLOBAL JOIN")?;
        if let Some(args) = sample_of(relation) {
            return self.sampled(left, args);
        }
        let mut seen = visible.to_vec();
        seen.push(&left.1);
        let right = self.factor(relation, &seen)?;
        drop(seen);
        use JoinOperator as O;
        let (kind, constraint) = match join_operator {
            O::Join(on) | O::Inner(on) | O::StraightJoin(on) => (JoinKind::Inner, on),
            O::Left(on) | O::LeftOuter(on) => (JoinKind::Left, on),
            O::Right(on) | O::RightOuter(on) => (JoinKind::Right, on),
            O::FullOuter(on) => (JoinKind::Full, on),
            O::CrossJoin(JoinConstraint::None) => return cross(left, right),
            O::CrossJoin(_) => return Err(Error::new("42601", "CROSS JOIN takes no condition")),
            O::Semi(on) | O::LeftSemi(on) => (JoinKind::Semi, on),
            O::Anti(on) | O::LeftAnti(on) => (JoinKind::Anti, on),
            O::AsOf {
                match_condition,
                constraint,
            } => return self.asof(left, right, match_condition, constraint),
            other => {
                return Err(Error::unsupported(format!("{other:?} is not supported")))
                    .map_err(|_| Error::unsupported("this kind of join is not supported"));
            }
        };
        let (left, right) = match self.markers.get() {
            Markers::Made => (
                self.with_marker(left, matches!(kind, JoinKind::Right | JoinKind::Full)),
                self.with_marker(right, matches!(kind, JoinKind::Left | JoinKind::Full)),
            ),
            Markers::None | Markers::Wanted => (left, right),
        };
        let (lefts, rights) = (left.1.relations.len(), right.1.relations.len());
        let (plan, mut names) = self.constrained(kind, left, right, constraint)?;
        for (at, named) in names.relations.iter_mut().enumerate() {
            named.nullable |= match kind {
                JoinKind::Left => (lefts..lefts + rights).contains(&at),
                JoinKind::Right => at < lefts,
                JoinKind::Full => at < lefts + rights,
                _ => false,
            };
        }
        Ok((plan, names))
    }

    /// A side of an outer join, if its rows may be missing, with a column that tells whether
    /// there is one, for whole rows of relations without a key.
    fn with_marker(&mut self, (plan, mut names): Part, nullable: bool) -> Part {
        let is_unmarked = |named: &Named| named.key.is_empty() && named.marker.is_none();
        if !nullable || !names.relations.iter().any(is_unmarked) {
            return (plan, names);
        }
        let columns = plan.columns().into_iter();
        let mut items: Vec<(Column, Expr)> = columns
            .map(|column| (column.clone(), column.reference()))
            .collect();
        let marker = self.column("there", Type::Bool);
        for named in names
            .relations
            .iter_mut()
            .filter(|named| is_unmarked(named))
        {
            named.marker = Some(marker.reference());
        }
        items.push((marker, Expr::bool(true)));
        let input = Box::new(plan);
        (Plan::Project { input, items }, names)
    }

    fn constrained(
        &mut self,
        kind: JoinKind,
        left: Part,
        right: Part,
        constraint: &JoinConstraint,
    ) -> Result<Part> {
        match constraint {
            JoinConstraint::On(condition) if marked_call(condition, POSITIONAL).is_some() => {
                self.positional_join(left, right)
            }
            JoinConstraint::On(condition) => {
                let sizes = (left.1.relations.len(), left.1.columns.len());
                let names = left.1.join(right.1)?;
                let (bound, mut names) = self.over_names(names, condition, "JOIN/ON")?;
                if !kind.gives_right() {
                    names.relations.truncate(sizes.0);
                    names.columns.truncate(sizes.1);
                }
                let plan = joined_plan(kind, left.0, right.0, Some(bound), &names)?;
                Ok((plan, names))
            }
            JoinConstraint::Using(names) => {
                let (mut merged, mut alias) = (Vec::new(), None);
                for name in names {
                    if let Some(ident) = name.0.first().and_then(|part| part.as_ident())
                        && let Some(given) = marked(ident, JOIN_ALIAS)
                    {
                        alias = Some(given.to_owned());
                        continue;
                    }
                    let name = parts(name)?.pop().unwrap_or_default();
                    if merged.contains(&name) {
                        let message = format!(
                            "column name \"{name}\" appears more than once in USING clause"
                        );
                        return Err(Error::new("42701", message));
                    }
                    merged.push(name);
                }
                let (plan, mut names) = self.merged(kind, left, right, &merged)?;
                if let Some(alias) = alias {
                    if names.relations.iter().any(|known| known.alias == alias) {
                        return Err(Error::new(
                            "42712",
                            format!("table name \"{alias}\" specified more than once"),
                        ));
                    }
                    // The alias has the merged columns and hides nothing.
                    let common = names.columns.iter().take(merged.len());
                    let named = Named {
                        schema: None,
                        alias,
                        columns: common.cloned().collect(),
                        hidden: Vec::new(),
                        key: Vec::new(),
                        row_type: None,
                        view: None,
                        fields: Vec::new(),
                        is_scalar: false,
                        nullable: false,
                        marker: None,
                    };
                    names = names.join(Namespace {
                        relations: vec![named],
                        columns: Vec::new(),
                    })?;
                }
                Ok((plan, names))
            }
            JoinConstraint::Natural => {
                let mut common = Vec::new();
                for column in &left.1.columns {
                    let there = right
                        .1
                        .columns
                        .iter()
                        .any(|other| other.name == column.name);
                    if there && !common.contains(&column.name) {
                        common.push(column.name.clone());
                    }
                }
                self.merged(kind, left, right, &common)
            }
            JoinConstraint::None => match kind {
                JoinKind::Inner => cross(left, right),
                _ => Err(Error::new("42601", "a join needs ON, USING or NATURAL")),
            },
        }
    }

    /// POSITIONAL JOIN: rows of equal numbers side by side.
    fn positional_join(&mut self, left: Part, right: Part) -> Result<Part> {
        let (left, left_number) = self.with_numbers(left)?;
        let (right, right_number) = self.with_numbers(right)?;
        let condition = self.binary("=", left_number, right_number)?;
        let names = left.1.join(right.1)?;
        let plan = joined_plan(JoinKind::Full, left.0, right.0, Some(condition), &names)?;
        Ok((plan, names))
    }

    /// A part with the number of each row.
    fn with_numbers(&mut self, (plan, names): Part) -> Result<(Part, Expr)> {
        let call = crate::syntax::expression("row_number() OVER ()")?;
        self.scopes
            .push(Scope::new(Namespace::default(), Clause::List));
        let bound = self.bind_expr(&call);
        let scope = self.scopes.pop();
        let number = bound?;
        let calls = scope.map(|scope| scope.windows).unwrap_or_default();
        let input = Box::new(plan);
        Ok(((Plan::Window { input, calls }, names), number))
    }

    /// A condition over names, and the names.
    pub(super) fn over_names(
        &mut self,
        names: Namespace,
        condition: &Ast,
        what: &str,
    ) -> Result<(Expr, Namespace)> {
        self.scopes.push(Scope::new(names, Clause::On));
        let bound = self.bind_condition(condition, what);
        let scope = self.scopes.pop();
        let scope = scope.ok_or_else(|| Error::internal("a condition without a scope"))?;
        Ok((bound?, scope.names))
    }

    /// A join whose common columns become one each.
    fn merged(
        &mut self,
        kind: JoinKind,
        left: Part,
        right: Part,
        common: &[String],
    ) -> Result<Part> {
        let (mut compared, mut merged) = (Vec::new(), Vec::new());
        for name in common {
            let a = using_column(&left.1, name, "left")?;
            let b = using_column(&right.1, name, "right")?;
            let (left_type, right_type) = (a.ty.base(), b.ty.base());
            let pair = self.unified(vec![a.clone(), b.clone()], "JOIN/USING")?;
            compared.push((a, b));
            let [a, b] = <[Expr; 2]>::try_from(pair)
                .map_err(|_| Error::internal("a pair of two is none"))?;
            let ty = a.ty.clone();
            // Of two equal values, the one that no cast has changed is taken.
            let value = match kind {
                JoinKind::Right => b,
                JoinKind::Full => Expr::new(ExprKind::Coalesce(vec![a, b]), ty),
                JoinKind::Inner if ty.base() != left_type && ty.base() == right_type => b,
                _ => a,
            };
            merged.push(ScopeColumn {
                name: name.clone(),
                value,
            });
        }
        // The types that are compared are the columns' own: there may be no such operator.
        let equal = compared.into_iter().map(|(a, b)| self.binary("=", a, b));
        let conditions = equal.collect::<Result<Vec<_>>>()?;
        let condition = (!conditions.is_empty()).then(|| Expr::and(conditions));
        let names = match kind.gives_right() {
            false => {
                left.1.check_aliases(&right.1)?;
                left.1
            }
            true => {
                let mut names = left.1.join(right.1)?;
                names
                    .columns
                    .retain(|column| !common.contains(&column.name));
                names.columns.splice(0..0, merged);
                names
            }
        };
        let plan = joined_plan(kind, left.0, right.0, condition, &names)?;
        Ok((plan, names))
    }

    /// `ASOF JOIN … ON …`, with an inequality that says which row is the last.
    fn asof(
        &mut self,
        left: Part,
        right: Part,
        matched: &Ast,
        constraint: &JoinConstraint,
    ) -> Result<Part> {
        let (plan, names) = self.constrained(JoinKind::Inner, left, right, constraint)?;
        let (bound, names) = self.over_names(names, matched, "ASOF")?;
        match plan {
            Plan::Join {
                left,
                right,
                condition,
                lateral,
                ..
            } => {
                let condition = Some(Expr::and(condition.into_iter().chain([bound])));
                let kind = JoinKind::AsOf;
                let plan = Plan::Join {
                    kind,
                    left,
                    right,
                    condition,
                    lateral,
                };
                Ok((plan, names))
            }
            _ => Err(Error::internal("an ASOF join is no join")),
        }
    }

    fn factor(&mut self, factor: &TableFactor, visible: Visible<'_>) -> Result<Part> {
        self.enter()?;
        let part = self.factor_inner(factor, visible);
        self.leave();
        part
    }

    fn factor_inner(&mut self, factor: &TableFactor, visible: Visible<'_>) -> Result<Part> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                let only = match with_hints.as_slice() {
                    [] => false,
                    [sqlparser::ast::Expr::Identifier(hint)] if marked(hint, ONLY).is_some() => {
                        true
                    }
                    _ => return Err(Error::unsupported("WITH behind a table is not supported")),
                };
                refuse(version.is_some(), "a version of a table")?;
                refuse(!partitions.is_empty(), "PARTITION behind a table")?;
                refuse(json_path.is_some(), "a path behind a table")?;
                refuse(!index_hints.is_empty(), "hints about indexes")?;
                if let Some(TableFunctionArgs { args, settings }) = args {
                    refuse(settings.is_some(), "SETTINGS of a function")?;
                    if let Some(part) = self.form_in_from(name, args, alias.as_ref())? {
                        return Ok(part);
                    }
                    refuse(sample.is_some(), "TABLESAMPLE of a function")?;
                    return self.functions(
                        &calls_of(name, args)?,
                        *with_ordinality,
                        alias.as_ref(),
                        visible,
                    );
                }
                refuse(*with_ordinality, "WITH ORDINALITY of a table")?;
                self.table(name, only, alias.as_ref(), sample.as_ref())
            }
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
                sample,
            } => {
                refuse(sample.is_some(), "TABLESAMPLE of a sub-query")?;
                self.derived(*lateral, subquery, alias.as_ref(), visible)
            }
            TableFactor::Function {
                lateral: _,
                name,
                args,
                with_ordinality,
                alias,
            } => self.functions(
                &calls_of(name, args)?,
                *with_ordinality,
                alias.as_ref(),
                visible,
            ),
            TableFactor::UNNEST {
                alias,
                array_exprs,
                with_offset,
                with_offset_alias,
                with_ordinality,
            } => {
                refuse(
                    *with_offset || with_offset_alias.is_some(),
                    "WITH OFFSET of UNNEST",
                )?;
                self.unnest(array_exprs, *with_ordinality, alias.as_ref(), visible)
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                let (plan, names) = self.joined(table_with_joins, visible)?;
                match alias {
                    None => Ok((plan, names)),
                    Some(alias) => self.aliased_join(plan, &names, alias),
                }
            }
            TableFactor::TableFunction { expr, alias } => match expr {
                Ast::Function(call) => match &call.args {
                    sqlparser::ast::FunctionArguments::List(list) => {
                        let calls = calls_of(&call.name, &list.args)?;
                        self.functions(&calls, false, alias.as_ref(), visible)
                    }
                    _ => Err(Error::unsupported("TABLE(…) of anything but a function")),
                },
                _ => Err(Error::unsupported("TABLE(…) of anything but a function")),
            },
            _ => Err(Error::unsupported("this form of FROM is not supported")),
        }
    }

    /// A join in brackets with a name: its parts are out of sight.
    fn aliased_join(&mut self, plan: Plan, names: &Namespace, alias: &TableAlias) -> Result<Part> {
        let mut items = Vec::new();
        for column in &names.columns {
            let target = self.column(column.name.clone(), column.value.ty.clone());
            items.push((target, column.value.clone()));
        }
        let columns: Vec<Column> = items.iter().map(|(column, _)| column.clone()).collect();
        let input = Box::new(plan);
        let named = self.named_as(None, "", scope_columns(&columns), Some(alias));
        let named = named.map_err(|mut error| {
            if let Some(rest) = error.message.strip_prefix("table ") {
                error.message = format!("join expression {rest}");
            }
            error
        })?;
        Ok((Plan::Project { input, items }, Namespace::of(named)))
    }

    /// A relation under its alias, with its columns renamed.
    pub(super) fn named_as(
        &mut self,
        schema: Option<String>,
        name: &str,
        columns: Vec<ScopeColumn>,
        alias: Option<&TableAlias>,
    ) -> Result<Named> {
        let relation = schema.is_some().then(|| name.to_owned());
        let named = named_by(schema, name, columns, alias)?;
        self.range(&named.alias, relation);
        Ok(named)
    }

    /// Notes a relation of FROM for messages.
    fn range(&mut self, alias: &str, relation: Option<String>) {
        if let Some(ranges) = self.ranges.last_mut() {
            ranges.push(Range {
                alias: alias.to_owned(),
                relation,
            });
        }
    }

    fn table(
        &mut self,
        name: &ObjectName,
        only: bool,
        alias: Option<&TableAlias>,
        sample: Option<&TableSampleKind>,
    ) -> Result<Part> {
        let mut path = parts(name)?;
        let last = path.pop().unwrap_or_default();
        let schema = path.pop();
        if path.len() > 1 {
            return Err(Error::new(
                "42601",
                format!(
                    "improper qualified name (too many dotted names): {}",
                    super::dotted(name)
                ),
            )
            .at(name_place(name)));
        }
        if let (Some(database), Some(schema)) = (path.first(), &schema)
            && *database != self.session.database
        {
            return Err(Error::unsupported(format!(
                "cross-database references are not implemented: \"{database}.{schema}.{last}\""
            ))
            .at(name_place(name)));
        }
        if schema.is_none() {
            if let Some(found) = self.cte_named(&last) {
                refuse(sample.is_some(), "TABLESAMPLE of a common table expression")?;
                return self.cte_reference(&found, alias);
            }
            if quoted_text(name)
                && let Some(file) = self.catalog.file(&last)?
            {
                return self.scanned(file, None, (alias, None), sample);
            }
        }
        let position = name_place(name);
        let found = self.catalog.relation(schema.as_deref(), &last, position)?;
        let (found, seen) = match found {
            Some(Found::Seen(found, seen)) => (Some(*found), Some(seen)),
            found => (found, None),
        };
        let (found, limited) = match found {
            Some(Found::Limited(found, limited)) => (Some(*found), Some(limited)),
            found => (found, None),
        };
        let seen = seen.as_ref();
        let part = match found {
            Some(Found::Relation(relation)) => {
                let shown = relation.schema.clone();
                self.scanned(relation, Some(shown), (alias, seen), sample)
            }
            Some(Found::Parts(Parts { whole, mut parts })) => {
                // A partitioned table has no rows of its own.
                let is_own =
                    |part: &Relation| (&part.schema, &part.name) == (&whole.schema, &whole.name);
                if only {
                    parts.retain(|(part, _)| is_own(part));
                }
                self.parts(Parts { whole, parts }, (alias, seen), sample)
            }
            Some(Found::View(view)) => {
                refuse(sample.is_some(), "TABLESAMPLE of a view")?;
                self.view(schema, &last, view, (alias, seen))
            }
            Some(Found::Seen(..) | Found::Limited(..)) => {
                Err(Error::internal("a relation that is seen twice"))
            }
            None => {
                // Functions that are called without brackets may stand here.
                if schema.is_none()
                    && let [sqlparser::ast::ObjectNamePart::Identifier(ident)] = name.0.as_slice()
                    && super::expr::is_bare_function(ident)
                {
                    let value = self.function(&last, Vec::new())?;
                    return self.called_in_from(
                        vec![Functioned::Value(value, last.clone())],
                        &last,
                        false,
                        alias,
                    );
                }
                Err(self
                    .catalog
                    .unknown_relation(schema.as_deref(), &last, position))
            }
        };
        let part = part?;
        if let Some(Limited { columns, error }) = limited {
            let others = part.0.columns().into_iter();
            let others = others.filter(|column| !columns.contains(&column.name));
            let others = others.map(|column| (column.id, error.clone()));
            self.forbidden.extend(others);
        }
        Ok(part)
    }

    /// Refuses a query that reads columns which it may not read.
    pub(super) fn check_forbidden(&self, plan: &Plan) -> Result<()> {
        if self.forbidden.is_empty() {
            return Ok(());
        }
        let mut read = HashSet::new();
        read_in(plan, &mut read);
        let mut read: Vec<&ColumnId> = read.iter().collect();
        read.sort_unstable();
        let mut errors = read.into_iter().filter_map(|id| self.forbidden.get(id));
        errors.next().map_or(Ok(()), |error| Err(error.clone()))
    }

    fn scanned(
        &mut self,
        relation: Relation,
        schema: Option<String>,
        (alias, seen): (Option<&TableAlias>, Option<&Seen>),
        sample: Option<&TableSampleKind>,
    ) -> Result<Part> {
        let mut columns = Vec::with_capacity(relation.columns.len() + relation.hidden.len());
        let all = relation.columns.iter().chain(&relation.hidden);
        for (position, (name, ty)) in all.enumerate() {
            columns.push((self.column(name.clone(), ty.clone()), position));
        }
        let visible: Vec<Column> = columns.iter().map(|(column, _)| column.clone()).collect();
        let (shown, hidden) = visible.split_at(relation.columns.len());
        let (mut shown, mut key) = (scope_columns(shown), relation.key.clone());
        if let Some(seen) = seen {
            let places = seen.places(&shown);
            key = seen_key(&key, &places);
            shown = seen.of(&shown);
        }
        let mut named = match seen {
            Some(seen) => self.named_as(Some(seen.schema.clone()), &seen.name, shown, alias)?,
            None => self.named_as(schema, &relation.name, shown, alias)?,
        };
        named.hidden = scope_columns(hidden);
        if let Some(seen) = seen {
            let more = called(&seen.hidden, &scope_columns(&visible));
            named.hidden.extend(more);
        }
        named.key = key;
        if !relation.schema.is_empty() {
            named.row_type = Some((relation.name.clone(), relation.number));
        }
        let sample = sample.map(|sample| self.sample(sample)).transpose()?;
        let plan = Plan::Scan {
            alias: named.alias.clone(),
            relation,
            columns,
            sample,
        };
        Ok((plan, Namespace::of(named)))
    }

    /// A relation whose rows are those of others: UNION ALL of these.
    fn parts(
        &mut self,
        parts: Parts,
        names: (Option<&TableAlias>, Option<&Seen>),
        sample: Option<&TableSampleKind>,
    ) -> Result<Part> {
        let Parts { whole, parts } = parts;
        let shown = whole.schema.clone();
        let (scan, names) = self.scanned(whole, Some(shown), names, sample)?;
        let Plan::Scan {
            columns, sample, ..
        } = scan
        else {
            return Err(Error::internal("a relation is no scan"));
        };
        let columns: Vec<Column> = columns.into_iter().map(|(column, _)| column).collect();
        let mut inputs = Vec::with_capacity(parts.len());
        let alone = parts.len() == 1;
        for (relation, places) in parts {
            let all: Vec<(String, Type)> = relation
                .columns
                .iter()
                .chain(&relation.hidden)
                .cloned()
                .collect();
            let (mut read, mut items) = (Vec::new(), Vec::new());
            for (whole, place) in columns.iter().zip(places) {
                let mut at_place = |binder: &mut Self, at: usize| {
                    let (name, ty) = all
                        .get(at)
                        .ok_or_else(|| Error::internal("a part lacks a column"))?;
                    let column = binder.column(name.clone(), ty.clone());
                    let value = Expr::new(ExprKind::Column(column.id), ty.clone());
                    read.push((column, at));
                    Ok::<Expr, Error>(value)
                };
                let value = match place {
                    PartColumn::Value(value) => value,
                    PartColumn::At(at) => at_place(self, at)?,
                    PartColumn::Of(function, at) => {
                        let arguments = vec![at_place(self, at)?];
                        Expr::call(function, arguments, whole.ty.clone())
                    }
                };
                let target = match alone {
                    true => whole.clone(),
                    false => self.column(whole.name.clone(), whole.ty.clone()),
                };
                items.push((target, value));
            }
            let input = Box::new(Plan::Scan {
                alias: relation.name.clone(),
                relation,
                columns: read,
                sample: sample.clone(),
            });
            inputs.push(Plan::Project { input, items });
        }
        let plan = match inputs.len() {
            0 => Plan::Values {
                columns,
                rows: Vec::new(),
            },
            1 => inputs.swap_remove(0),
            _ => Plan::Set {
                kind: SetKind::Union,
                all: true,
                inputs,
                columns,
            },
        };
        Ok((plan, names))
    }

    fn sample(&mut self, sample: &TableSampleKind) -> Result<Sample> {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
            sample;
        let TableSample {
            modifier: _,
            name,
            quantity,
            seed,
            bucket,
            offset,
        } = sample.as_ref();
        refuse(bucket.is_some(), "BUCKET of a sample")?;
        refuse(offset.is_some(), "OFFSET of a sample")?;
        let system = match name {
            None | Some(TableSampleMethod::Bernoulli) => false,
            Some(TableSampleMethod::System) => true,
            Some(other) => {
                let message = format!(
                    "tablesample method {} does not exist",
                    other.to_string().to_lowercase()
                );
                return Err(Error::new("42704", message));
            }
        };
        let Some(TableSampleQuantity {
            parenthesized: _,
            value,
            unit,
        }) = quantity
        else {
            return Err(Error::new(
                "42601",
                "a sample needs a share, such as TABLESAMPLE BERNOULLI (10)",
            ));
        };
        refuse(
            matches!(unit, Some(TableSampleUnit::Rows)),
            "a sample of a number of rows",
        )?;
        self.scopes
            .push(Scope::new(Namespace::default(), Clause::From));
        let bound = self.bind_expr(value);
        let bound = bound
            .and_then(|value| self.coerce(value, &Type::Float4, Coercion::Assignment))
            .and_then(|value| self.coerce(value, &Type::Float8, Coercion::Assignment));
        self.scopes.pop();
        let seed = match seed {
            None => None,
            Some(seed) => {
                let value = self.literal(&seed.value)?;
                Some(self.coerce(value, &Type::Float8, Coercion::Assignment)?)
            }
        };
        Ok(Sample {
            system,
            percent: bound?,
            seed,
        })
    }

    fn view(
        &mut self,
        schema: Option<String>,
        name: &str,
        view: View,
        (alias, seen): (Option<&TableAlias>, Option<&Seen>),
    ) -> Result<Part> {
        self.catalog.enter_view(Some(&view.schema), &view.name)?;
        // A view sees nothing of the query around it.
        let scopes = std::mem::take(&mut self.scopes);
        let ranges = std::mem::take(&mut self.ranges);
        let named = std::mem::take(&mut self.named);
        let bound = self
            .bind_query(&view.query)
            .and_then(|plan| self.known(plan));
        self.scopes = scopes;
        self.ranges = ranges;
        self.named = named;
        self.catalog.leave_view();
        let called = match view.hidden {
            0 => name,
            _ => &view.name,
        };
        let of_view = (view.schema, view.name.clone());
        let plan = bound.map_err(|mut error| {
            error.position = None;
            error.with_detail(format!("in view \"{called}\""))
        })?;
        let all = plan.columns();
        let (shown, hidden) = all.split_at(all.len().saturating_sub(view.hidden));
        let mut columns = scope_columns(shown);
        if let Some(seen) = seen {
            columns = seen.of(&columns);
        }
        let plan = match view.barrier {
            true => Plan::Barrier {
                input: Box::new(plan),
            },
            false => plan,
        };
        let mut named = match seen {
            Some(seen) => self.named_as(Some(seen.schema.clone()), &seen.name, columns, alias)?,
            None => self.named_as(schema, name, columns, alias)?,
        };
        named.hidden = scope_columns(hidden);
        named.row_type = Some((called.to_owned(), 0));
        named.view = Some(of_view);
        Ok((plan, Namespace::of(named)))
    }

    fn derived(
        &mut self,
        lateral: bool,
        query: &Query,
        alias: Option<&TableAlias>,
        visible: Visible<'_>,
    ) -> Result<Part> {
        if lateral {
            self.scopes
                .push(Scope::new(together(visible), Clause::FromQuery));
        }
        let plan = self.bind_query(query).and_then(|plan| self.known(plan));
        if lateral {
            self.scopes.pop();
        }
        let plan = plan?;
        let columns = scope_columns(&plan.columns());
        let named = self.named_as(None, "", columns, alias)?;
        Ok((plan, Namespace::of(named)))
    }

    /// Functions in FROM, which may name what stands before them.
    fn functions(
        &mut self,
        calls: &[Call<'_>],
        ordinality: bool,
        alias: Option<&TableAlias>,
        visible: Visible<'_>,
    ) -> Result<Part> {
        // `AS x (a int)` defines the columns of the only function.
        let mut defined = None;
        let mut plain = None;
        if let Some(alias) = alias
            && alias
                .columns
                .iter()
                .any(|column| column.data_type.is_some())
        {
            if ordinality {
                return Err(Error::new(
                    "42601",
                    "WITH ORDINALITY cannot be used with a column definition list",
                ));
            }
            defined = Some(self.definitions(&alias.columns)?);
            plain = Some(TableAlias {
                columns: Vec::new(),
                ..alias.clone()
            });
        }
        self.scopes
            .push(Scope::new(together(visible), Clause::From));
        let bound = calls.iter().map(|call| {
            let columns = match &call.columns {
                Some(columns) => Some(self.defined(columns)?),
                None => defined.clone(),
            };
            self.table_function(call.name, call.args, columns)
        });
        let bound: Result<Vec<Functioned>> = bound.collect();
        self.scopes.pop();
        let bound = bound?;
        let name = calls.first().map(|call| call.name);
        let name = name
            .and_then(|name| parts(name).ok()?.pop())
            .unwrap_or_default();
        self.called_in_from(bound, &name, ordinality, plain.as_ref().or(alias))
    }

    /// The columns of a column definition list behind an alias.
    fn definitions(&self, columns: &[TableAliasColumnDef]) -> Result<Fields> {
        let mut all = Definitions::default();
        for TableAliasColumnDef { name, data_type } in columns {
            let Some(written) = data_type else {
                return Err(Error::new("42601", "a column of the list has no type"));
            };
            self.define(&mut all, name, written)?;
        }
        Ok(all.fields())
    }

    /// The columns of a column definition list in ROWS FROM.
    fn defined(&self, columns: &[FunctionArg]) -> Result<Fields> {
        let mut all = Definitions::default();
        for column in columns {
            let (name, data_type) = match column {
                FunctionArg::Named {
                    name,
                    arg: FunctionArgExpr::Expr(Ast::Cast { data_type, .. }),
                    ..
                }
                | FunctionArg::ExprNamed {
                    name: Ast::Identifier(name),
                    arg: FunctionArgExpr::Expr(Ast::Cast { data_type, .. }),
                    ..
                } => (name, data_type),
                _ => return Err(Error::internal("a column definition that is none")),
            };
            self.define(&mut all, name, data_type)?;
        }
        Ok(all.fields())
    }

    fn define(&self, all: &mut Definitions, name: &Ident, written: &DataType) -> Result<()> {
        let folded = fold(name);
        if all.columns.iter().any(|(known, _)| *known == folded) {
            return Err(Error::new(
                "42701",
                format!("column name \"{folded}\" specified more than once"),
            )
            .at(place(name)));
        }
        let domain = self.domain(written)?;
        all.domains.push(domain.map(Written::of_field));
        all.columns
            .push((folded, written_type(written, self.catalog)?));
        Ok(())
    }

    fn called_in_from(
        &mut self,
        bound: Vec<Functioned>,
        name: &str,
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<Part> {
        let has_body = |call: &Functioned| matches!(call, Functioned::Plan(..));
        if (ordinality || bound.len() > 1) && bound.iter().any(has_body) {
            return self.side_by_side(bound, name, ordinality, alias);
        }
        let ordinal = ordinality.then(|| self.column("ordinality", Type::Int8));
        let mut scalar = None;
        let mut calls = Vec::new();
        let several = bound.len() > 1;
        for call in bound {
            match call {
                Functioned::Plan(plan, row) => {
                    let mut columns = scope_columns(&plan.columns());
                    // The only column of a function of its name has that of the alias.
                    if let (Some(alias), [only]) = (alias, columns.as_mut_slice())
                        && only.name == name
                    {
                        only.name = fold(&alias.name);
                    }
                    let mut named = self.named_as(None, name, columns, alias)?;
                    named.row_type = row;
                    return Ok((plan, Namespace::of(named)));
                }
                Functioned::Rows(call) => calls.push(call),
                // Beside others a value is a set of one row.
                Functioned::Value(value, name) if several => {
                    let value = self.known_expr(value)?;
                    let ty = value.ty.clone().array();
                    let array = Expr::new(ExprKind::Array(vec![value]), ty);
                    let tables = catalogue().tables("unnest");
                    let mut call = self.table_call("unnest", tables, vec![array])?;
                    for column in &mut call.columns {
                        column.name.clone_from(&name);
                    }
                    calls.push(call);
                }
                Functioned::Value(value, _) => scalar = Some(value),
            }
        }
        let scalar_type = scalar.as_ref().map(|value: &Expr| value.ty.clone());
        let plan = match scalar {
            Some(value) => {
                let mut columns = Vec::new();
                let mut row = Vec::new();
                match (&value.ty, value.kind.clone()) {
                    (Type::Record(fields), ExprKind::Row(values)) => {
                        for ((name, ty), value) in fields.iter().zip(values) {
                            columns.push(self.column(name.clone(), ty.clone()));
                            row.push(value);
                        }
                    }
                    (Type::Record(fields), _) if !fields.is_empty() => {
                        for (at, (name, ty)) in fields.iter().enumerate() {
                            columns.push(self.column(name.clone(), ty.clone()));
                            let whole = Box::new(value.clone());
                            row.push(Expr::new(ExprKind::Field(whole, at), ty.clone()));
                        }
                    }
                    _ => {
                        columns.push(self.column(name, value.ty.clone()));
                        row.push(value);
                    }
                }
                if let Some(ordinal) = ordinal {
                    let one = self.coerce(Expr::int4(1), &Type::Int8, Coercion::Implicit)?;
                    columns.push(ordinal);
                    row.push(one);
                }
                Plan::Values {
                    columns,
                    rows: vec![row],
                }
            }
            None => Plan::Functions {
                calls,
                ordinality: ordinal,
            },
        };
        let by_alias = match &plan {
            Plan::Functions { calls, .. } => {
                calls.len() == 1
                    && calls[0].function.columns.len() == 1
                    && calls[0].function.columns[0].0.is_empty()
            }
            _ => true,
        };
        let one_call = match &plan {
            Plan::Functions { calls, .. } => calls.len() == 1,
            _ => true,
        };
        let columns = plan.columns();
        let row_type = match columns.as_slice() {
            [
                Column {
                    ty: Type::Record(fields),
                    ..
                },
            ] => fields.name().map(|name| (name.to_owned(), fields.number())),
            _ => None,
        };
        // Fields have names of their own.
        let is_record = matches!(&scalar_type, Some(Type::Record(_)))
            || columns
                .iter()
                .any(|column| matches!(column.ty, Type::Record(_)));
        let by_alias = by_alias && !is_record;
        // The fields of a value are the columns already.
        let plan = match scalar_type {
            Some(_) => plan,
            None => self.spread(plan)?,
        };
        let columns = plan.columns();
        let mut scoped = scope_columns(&columns);
        // The only column of a function has the name of its alias.
        let own = columns.len() - usize::from(ordinality);
        if let (Some(alias), 1, true) = (alias, own, by_alias)
            && let Some(first) = scoped.first_mut()
        {
            first.name = fold(&alias.name);
        }
        let mut named = self.named_as(None, name, scoped, alias)?;
        named.row_type = row_type.filter(|_| one_call && !ordinality);
        named.is_scalar = one_call && !ordinality && !is_record;
        Ok((plan, Namespace::of(named)))
    }

    /// A plan with the number of each row in the plan's own order.
    fn in_order(&mut self, plan: Plan) -> Result<(Plan, Expr)> {
        // Columns that the order is of may be none of the projection's.
        if let Plan::Project { input, mut items } = plan {
            let (input, number) = self.in_order(*input)?;
            let column = self.column("number", number.ty.clone());
            let reference = column.reference();
            items.push((column, number));
            let input = Box::new(input);
            return Ok((Plan::Project { input, items }, reference));
        }
        let order = order_of(&plan).to_vec();
        let ((mut plan, _), number) = self.with_numbers((plan, Namespace::default()))?;
        if let Plan::Window { calls, .. } = &mut plan {
            for (_, call) in calls {
                call.order.clone_from(&order);
            }
        }
        Ok((plan, number))
    }

    /// Rows of several calls, or of one with its numbers, where the body of some is SQL: rows of
    /// equal numbers side by side.
    fn side_by_side(
        &mut self,
        bound: Vec<Functioned>,
        name: &str,
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<Part> {
        let several = bound.len() > 1;
        let mut all: Option<(Plan, Expr)> = None;
        for call in bound {
            let (plan, _) = match call {
                Functioned::Plan(plan, _) => (plan, Namespace::default()),
                Functioned::Value(value, own) => {
                    let call = Functioned::Value(value, own.clone());
                    self.called_in_from(vec![call], &own, false, None)?
                }
                rows @ Functioned::Rows(_) => self.called_in_from(vec![rows], name, false, None)?,
            };
            let (plan, number) = self.in_order(plan)?;
            all = Some(match all {
                None => (plan, number),
                Some((left, before)) => {
                    let condition = self.binary("=", before.clone(), number.clone())?;
                    let plan = Plan::Join {
                        kind: JoinKind::Full,
                        left: Box::new(left),
                        right: Box::new(plan),
                        condition: Some(condition),
                        lateral: false,
                    };
                    let ty = before.ty.clone();
                    (
                        plan,
                        Expr::new(ExprKind::Coalesce(vec![before, number]), ty),
                    )
                }
            });
        }
        let (plan, number) = all.ok_or_else(|| Error::internal("ROWS FROM without a call"))?;
        let given = plan.columns().into_iter();
        let numbers = number.reads();
        let mut items = Vec::new();
        for column in given.filter(|column| !numbers.contains(&column.id)) {
            let value = column.reference();
            items.push((self.column(column.name, column.ty), value));
        }
        let order = number.clone();
        // The only column of a function of its name has that of the alias.
        let by_alias = matches!(items.as_slice(), [(only, _)] if only.name == name) && !several;
        if ordinality {
            items.push((self.column("ordinality", Type::Int8), number));
        }
        // A full join gives its rows in no order.
        let plan = match several {
            true => Plan::Sort {
                input: Box::new(plan),
                keys: vec![SortKey {
                    expr: order,
                    descending: false,
                    nulls_first: false,
                }],
            },
            false => plan,
        };
        let plan = Plan::Project {
            input: Box::new(plan),
            items,
        };
        let mut columns = scope_columns(&plan.columns());
        if let (Some(alias), true, Some(first)) = (alias, by_alias, columns.first_mut()) {
            first.name = fold(&alias.name);
        }
        let named = self.named_as(None, name, columns, alias)?;
        Ok((plan, Namespace::of(named)))
    }

    /// A plan with the fields of its records as columns.
    fn spread(&mut self, plan: Plan) -> Result<Plan> {
        let columns = plan.columns();
        let is_record = |column: &Column| matches!(column.ty, Type::Record(_));
        if !columns.iter().any(is_record) {
            return Ok(plan);
        }
        let mut items = Vec::new();
        for column in columns {
            let value = self.with_domains_of_fields(column.reference())?;
            match &column.ty {
                Type::Record(fields) => {
                    for (at, (name, ty)) in fields.iter().enumerate() {
                        let field = ExprKind::Field(Box::new(value.clone()), at);
                        let target = self.column(name.clone(), ty.clone());
                        items.push((target, Expr::new(field, ty.clone())));
                    }
                }
                _ => items.push((column, value)),
            }
        }
        Ok(Plan::Project {
            input: Box::new(plan),
            items,
        })
    }

    fn table_function(
        &mut self,
        name: &ObjectName,
        args: &[FunctionArg],
        defined: Option<Fields>,
    ) -> Result<Functioned> {
        let mut path = parts(name)?;
        let last = path.pop().unwrap_or_default();
        let position = name_place(name);
        let stored = self.stored_tables(&last);
        let tables = match stored.is_empty() {
            true => catalogue().tables(&last),
            false => stored.as_slice(),
        };
        let schema = path.pop();
        let own = self.catalog.sql_functions(schema.as_deref(), &last)?;
        if tables.is_empty() && own.is_empty() && is_called_elsewhere(&last) {
            let value = self.called_value(name, args)?;
            let value = self.with_domains_of_fields(of_columns(value, defined)?)?;
            return Ok(Functioned::Value(value, last));
        }
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        let mut is_spread = false;
        for argument in args {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
                    if !own.is_empty()
                        && named.is_empty()
                        && let Some(inner) = super::variadic::inner_of(expr)? =>
                {
                    is_spread = true;
                    arguments.push(self.bind_expr(inner)?);
                }
                // The grammar reads `name := value` as an operator.
                FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::BinaryOp {
                    left,
                    op: BinaryOperator::Assignment,
                    right,
                })) if matches!(left.as_ref(), Ast::Identifier(_)) => {
                    if let Ast::Identifier(name) = left.as_ref() {
                        named.push((fold(name), self.bind_expr(right)?));
                    }
                }
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) if named.is_empty() => {
                    arguments.push(self.bind_expr(expr)?);
                }
                FunctionArg::Named {
                    name,
                    arg: FunctionArgExpr::Expr(expr),
                    operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
                }
                | FunctionArg::ExprNamed {
                    name: Ast::Identifier(name),
                    arg: FunctionArgExpr::Expr(expr),
                    operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
                } => named.push((fold(name), self.bind_expr(expr)?)),
                FunctionArg::Unnamed(FunctionArgExpr::Expr(_)) => {
                    return Err(Error::new(
                        "42601",
                        "positional argument cannot follow named argument",
                    ));
                }
                FunctionArg::Named { .. } | FunctionArg::ExprNamed { .. } => {
                    return Err(Error::unsupported(
                        "this form of a named argument of a function in FROM is not supported",
                    ));
                }
                FunctionArg::Unnamed(_) => {
                    return Err(Error::unsupported("* as an argument of a function in FROM"));
                }
            }
        }
        if !own.is_empty() {
            let open = own
                .iter()
                .any(|one| matches!(one.returns, SqlReturns::Records));
            if open && defined.is_none() {
                return Err(needs_columns().at(position));
            }
            if let Some(columns) = &defined
                && (0..columns.len()).any(|at| columns.domain(at).is_some())
            {
                let message = "domains in the column definition list of a function whose body is \
                               SQL are not supported";
                return Err(Error::unsupported(message).at(position));
            }
            let called =
                self.sql_call(&last, &own, arguments, named, defined.as_deref(), is_spread);
            let called = called.map_err(|error| error.at(position))?;
            return Ok(match called {
                Called::Value(value) => Functioned::Value(value, last),
                Called::Rows(plan, row) => Functioned::Plan(plan, row),
                Called::Record(plan, row) => Functioned::Plan(self.row_of(plan), row),
            });
        }
        if tables.is_empty() && catalogue().functions(&last).is_empty() {
            let positional = arguments.iter().map(|value| (None, value.clone()));
            let by_name = named
                .iter()
                .map(|(name, value)| (Some(name.clone()), value.clone()));
            let all: Vec<_> = positional.chain(by_name).collect();
            let relation = self.catalog.table_function(&last, &all);
            if let Some(relation) = relation.map_err(|error| error.at(position))? {
                if defined.is_some() {
                    return Err(takes_no_columns());
                }
                let (plan, _) = self.scanned(relation, None, (None, None), None)?;
                return Ok(Functioned::Plan(plan, None));
            }
        }
        if tables.is_empty() && !named.is_empty() {
            return Err(Error::unsupported(format!(
                "named arguments of {last} in FROM are not supported"
            ))
            .at(position));
        }
        let first = match args.first() {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) => Some(expr),
            _ => None,
        };
        let filled = self.filled_domain(&last, first.as_ref())?;
        if !tables.is_empty() {
            if filled.is_some() {
                let message = format!("{last} of a domain in FROM is not supported");
                return Err(Error::unsupported(message).at(position));
            }
            let arguments =
                in_order(&last, arguments, named).map_err(|error| error.at(position))?;
            let call = self.table_call(&last, tables, arguments);
            let mut call = call.map_err(|error| error.at(position))?;
            let is_record =
                |column: &Column| matches!(&column.ty, Type::Record(fields) if fields.is_empty());
            match (call.columns.as_mut_slice(), defined) {
                ([only], Some(columns)) if is_record(only) => {
                    only.ty = Type::Record(columns);
                }
                ([only], None) if is_record(only) => return Err(needs_columns().at(position)),
                (_, Some(_)) => return Err(takes_no_columns()),
                (_, None) => {}
            }
            return Ok(Functioned::Rows(call));
        }
        let value = self
            .function(&last, arguments)
            .map_err(|error| error.at(position))?;
        let mut value = of_columns(value, defined)?;
        if let Some(domain) = filled {
            value = self.of_domain(value, &domain)?;
        }
        Ok(Functioned::Value(self.with_domains_of_fields(value)?, last))
    }

    /// A function in FROM that gives one value, as it is called elsewhere.
    fn called_value(&mut self, name: &ObjectName, args: &[FunctionArg]) -> Result<Expr> {
        use sqlparser::ast::{Function, FunctionArgumentList, FunctionArguments};
        let list = FunctionArgumentList {
            duplicate_treatment: None,
            args: args.to_vec(),
            clauses: Vec::new(),
        };
        self.bind_call(&Function {
            name: name.clone(),
            uses_odbc_syntax: false,
            parameters: FunctionArguments::None,
            args: FunctionArguments::List(list),
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        })
    }

    fn unnest(
        &mut self,
        arrays: &[Ast],
        ordinality: bool,
        alias: Option<&TableAlias>,
        visible: Visible<'_>,
    ) -> Result<Part> {
        self.scopes
            .push(Scope::new(together(visible), Clause::From));
        let tables = catalogue().tables("unnest");
        let calls = arrays.iter().map(|array| {
            let array = self.bind_expr(array)?;
            Ok(Functioned::Rows(self.table_call(
                "unnest",
                tables,
                vec![array],
            )?))
        });
        let calls: Result<Vec<_>> = calls.collect();
        self.scopes.pop();
        self.called_in_from(calls?, "unnest", ordinality, alias)
    }

    fn cte_named(&self, name: &str) -> Option<super::scope::NamedCte> {
        self.named
            .iter()
            .rev()
            .find(|cte| cte.name == name)
            .cloned()
    }

    fn cte_reference(
        &mut self,
        cte: &super::scope::NamedCte,
        alias: Option<&TableAlias>,
    ) -> Result<Part> {
        let mut columns = Vec::with_capacity(cte.columns.len());
        for column in &cte.columns {
            columns.push((
                self.column(column.name.clone(), column.ty.clone()),
                column.id,
            ));
        }
        let own: Vec<Column> = columns.iter().map(|(column, _)| column.clone()).collect();
        let plan = match cte.recursing {
            true => Plan::Recursion {
                id: cte.id,
                name: cte.name.clone(),
                columns: own.clone(),
            },
            false => Plan::CteScan {
                id: cte.id,
                name: cte.name.clone(),
                columns,
            },
        };
        // Columns of SEARCH and CYCLE are no part of `*` in the query itself.
        let (shown, hidden) = own.split_at(own.len().saturating_sub(cte.hidden));
        let mut named = named_by(None, &cte.name, scope_columns(shown), alias)?;
        named.hidden = scope_columns(hidden);
        self.range(&named.alias, Some(cte.name.clone()));
        Ok((plan, Namespace::of(named)))
    }
}

/// A relation under its alias, with its columns renamed.
fn named_by(
    schema: Option<String>,
    name: &str,
    mut columns: Vec<ScopeColumn>,
    alias: Option<&TableAlias>,
) -> Result<Named> {
    let fields = columns.iter().map(|column| column.name.clone()).collect();
    let Some(alias) = alias else {
        return Ok(Named {
            schema: schema.map(one_name),
            alias: name.to_owned(),
            columns,
            hidden: Vec::new(),
            key: Vec::new(),
            row_type: None,
            view: None,
            fields,
            is_scalar: false,
            nullable: false,
            marker: None,
        });
    };
    let TableAlias {
        explicit: _,
        name,
        columns: renamed,
        at,
    } = alias;
    refuse(at.is_some(), "AT behind an alias")?;
    if renamed.len() > columns.len() {
        return Err(Error::new(
            "42P10",
            format!(
                "table \"{}\" has {} columns available but {} columns specified",
                fold(name),
                columns.len(),
                renamed.len()
            ),
        )
        .at(place(name)));
    }
    for (column, TableAliasColumnDef { name, data_type }) in columns.iter_mut().zip(renamed) {
        refuse(
            data_type.is_some(),
            "a column definition list behind an alias",
        )?;
        column.name = fold(name);
    }
    Ok(Named {
        schema: None,
        alias: fold(name),
        columns,
        hidden: Vec::new(),
        key: Vec::new(),
        row_type: None,
        view: None,
        fields,
        is_scalar: false,
        nullable: false,
        marker: None,
    })
}

/// The keys that the rows of a plan are sorted by.
fn order_of(plan: &Plan) -> &[SortKey] {
    match plan {
        Plan::Sort { keys, .. } => keys,
        Plan::Limit { input, .. } | Plan::Filter { input, .. } => order_of(input),
        _ => &[],
    }
}

/// A function in FROM: one that gives rows, or one value.
#[expect(clippy::large_enum_variant, reason = "a call in FROM has one")]
enum Functioned {
    Rows(TableCall),
    /// The value, and the function's name.
    Value(Expr, String),
    /// Rows, and their type if they are declared to have one.
    Plan(Plan, Option<RowName>),
}

/// A call in FROM.
struct Call<'q> {
    name: &'q ObjectName,
    args: &'q [FunctionArg],
    /// Its column definition list in ROWS FROM.
    columns: Option<&'q [FunctionArg]>,
}

/// The calls that a call in FROM stands for: several if it is ROWS FROM.
fn calls_of<'q>(name: &'q ObjectName, args: &'q [FunctionArg]) -> Result<Vec<Call<'q>>> {
    let is = |name: &ObjectName, mark: &str| {
        let first = name.0.first().and_then(|part| part.as_ident());
        first.is_some_and(|ident| marked(ident, mark).is_some())
    };
    if !is(name, ROWS_FROM) {
        return Ok(vec![Call {
            name,
            args,
            columns: None,
        }]);
    }
    let call = |argument: &'q FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::Function(call))) => {
            let args: &'q [FunctionArg] = match &call.args {
                sqlparser::ast::FunctionArguments::List(list) => &list.args,
                _ => &[],
            };
            Ok((&call.name, args))
        }
        _ => Err(Error::unsupported(
            "an expression that is no call in ROWS FROM is not supported",
        )),
    };
    let mut calls = Vec::with_capacity(args.len());
    for argument in args {
        let (name, args) = call(argument)?;
        calls.push(match (is(name, COLUMNS), args) {
            (true, [inner, columns @ ..]) => {
                let (name, args) = call(inner)?;
                Call {
                    name,
                    args,
                    columns: Some(columns),
                }
            }
            _ => Call {
                name,
                args,
                columns: None,
            },
        });
    }
    Ok(calls)
}

/// The columns of a column definition list.
#[derive(Default)]
struct Definitions {
    columns: Vec<(String, Type)>,
    domains: Vec<Option<FieldDomain>>,
}

impl Definitions {
    fn fields(self) -> Fields {
        let fields: Fields = self.columns.into_iter().collect();
        fields.with_domains(self.domains)
    }
}

/// Whether a function of one value, or what looks like one, is called in FROM as elsewhere.
fn is_called_elsewhere(name: &str) -> bool {
    let all = catalogue();
    !all.functions(name).is_empty()
        || !all.aggregates(name).is_empty()
        || !all.windows(name).is_empty()
        || matches!(
            name,
            "coalesce" | "nullif" | "greatest" | "least" | "row" | "grouping"
        )
}

/// A record with the columns of a definition list.
fn of_columns(mut value: Expr, defined: Option<Fields>) -> Result<Expr> {
    let Some(columns) = defined else {
        return Ok(value);
    };
    let Type::Record(fields) = &value.ty else {
        return Err(takes_no_columns());
    };
    let same = fields.len() == columns.len()
        && fields
            .iter()
            .zip(columns.iter())
            .all(|((_, a), (_, b))| a.base() == b.base());
    if !same {
        return Err(Error::new(
            "42804",
            "function return row and query-specified return row do not match",
        ));
    }
    value.ty = Type::Record(columns);
    Ok(value)
}

fn needs_columns() -> Error {
    Error::new(
        "42601",
        "a column definition list is required for functions returning \"record\"",
    )
}

/// `42601` for a column definition list where the columns are known.
pub(super) fn takes_no_columns() -> Error {
    Error::new(
        "42601",
        "a column definition list is only allowed for functions returning \"record\"",
    )
}

/// Whether a name is written as a text: `FROM 'x.csv'`.
fn quoted_text(name: &ObjectName) -> bool {
    let is_text = |ident: &Ident| ident.quote_style == Some('\'');
    matches!(name.0.as_slice(), [sqlparser::ast::ObjectNamePart::Identifier(ident)] if is_text(ident))
        || matches!(name.0.as_slice(), [sqlparser::ast::ObjectNamePart::Identifier(ident)]
            if ident.value.contains(['/', '.']))
}

fn using_column(names: &Namespace, name: &str, side: &str) -> Result<Expr> {
    let mut found = names.columns.iter().filter(|column| column.name == name);
    let Some(first) = found.next() else {
        return Err(Error::new(
            "42703",
            format!("column \"{name}\" specified in USING clause does not exist in {side} table"),
        ));
    };
    match found.next() {
        Some(_) => Err(Error::new(
            "42702",
            format!("common column name \"{name}\" appears more than once in {side} table"),
        )),
        None => Ok(first.value.clone()),
    }
}

/// A part that is the left side of many joins, if this thread has room for walks over it.
fn roomy(part: Part, level: usize) -> Result<Part> {
    match level % 64 {
        0 => Ok((shallow(part.0)?, part.1)),
        _ => Ok(part),
    }
}

/// Names that are seen together; nearer ones hide those of the same name before them.
fn together(visible: Visible<'_>) -> Namespace {
    let mut all = Namespace::default();
    for &names in visible {
        all.hide(names);
        all.relations.extend(names.relations.iter().cloned());
        all.columns.extend(names.columns.iter().cloned());
    }
    all
}

/// Two parts without a condition.
fn cross(left: Part, right: Part) -> Result<Part> {
    let names = left.1.join(right.1)?;
    Ok((
        joined_plan(JoinKind::Inner, left.0, right.0, None, &names)?,
        names,
    ))
}

/// The join of two plans, of which messages know the names.
fn joined_plan(
    kind: JoinKind,
    left: Plan,
    right: Plan,
    condition: Option<Expr>,
    names: &Namespace,
) -> Result<Plan> {
    let free = right.free();
    let lateral = !free.is_empty() && !left.given().is_disjoint(&free);
    if lateral && matches!(kind, JoinKind::Right | JoinKind::Full) {
        let read = names.relations.iter().find(|named| {
            let mut columns = named.columns.iter().chain(&named.hidden);
            columns.any(|column| !column.value.reads().is_disjoint(&free))
        });
        let alias = read.map_or("", |named| named.alias.as_str());
        return Err(Error::new(
            "42P10",
            format!("invalid reference to FROM-clause entry for table \"{alias}\""),
        )
        .with_detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference."));
    }
    Ok(Plan::Join {
        kind,
        left: Box::new(left),
        right: Box::new(right),
        condition,
        lateral,
    })
}

/// The columns that the expressions of a plan read, those of its sub-queries too.
fn read_in(plan: &Plan, read: &mut HashSet<ColumnId>) {
    for expr in plan.expressions() {
        expr.any(&mut |expr| {
            match &expr.kind {
                ExprKind::Column(id) => drop(read.insert(*id)),
                ExprKind::Subquery(subquery) => read_in(&subquery.plan, read),
                _ => {}
            }
            false
        });
    }
    plan.inputs()
        .into_iter()
        .for_each(|input| read_in(input, read));
}
