//! FROM: tables, views, sub-queries, functions and joins.

use std::collections::HashSet;

use sqlparser::ast::{
    Expr as Ast, FunctionArg, FunctionArgExpr, Ident, Join, JoinConstraint, JoinOperator,
    ObjectName, Query, TableAlias, TableAliasColumnDef, TableFactor, TableFunctionArgs,
    TableSample, TableSampleKind, TableSampleMethod, TableSampleQuantity, TableSampleUnit,
    TableWithJoins,
};

use super::scope::{Clause, Named, Namespace, Range, Scope, ScopeColumn, scope_columns};
use super::{Binder, Coercion, Found, View, fold, name_place, parts, place, refuse};
use crate::error::{Error, Result};
use crate::functions::catalogue;
use crate::plan::{Column, Expr, ExprKind, JoinKind, Plan, Relation, Sample, TableCall};
use crate::types::{Fields, Type};

/// A part of FROM: its plan and its names.
type Part = (Plan, Namespace);

impl Binder<'_> {
    /// The items of FROM, next to each other.
    pub(super) fn bind_from(&mut self, items: &[TableWithJoins]) -> Result<Part> {
        let mut whole: Option<Part> = None;
        for item in items {
            let visible = whole
                .as_ref()
                .map(|(_, names)| names.clone())
                .unwrap_or_default();
            let part = self.joined(item, &visible)?;
            whole = Some(match whole {
                None => part,
                Some(before) => cross(before, part)?,
            });
        }
        Ok(whole.unwrap_or_else(|| (Plan::one_row(), Namespace::default())))
    }

    /// A table and what is joined to it. `visible` are the names before it, for LATERAL.
    fn joined(&mut self, item: &TableWithJoins, visible: &Namespace) -> Result<Part> {
        let TableWithJoins { relation, joins } = item;
        let mut left = self.factor(relation, visible)?;
        for join in joins {
            left = self.join(left, join, visible)?;
        }
        Ok(left)
    }

    fn join(&mut self, left: Part, join: &Join, visible: &Namespace) -> Result<Part> {
        let Join {
            relation,
            global,
            join_operator,
        } = join;
        refuse(*global, "GLOBAL JOIN")?;
        let seen = visible.clone().join(left.1.clone());
        let seen = seen.unwrap_or_else(|_| left.1.clone());
        let right = self.factor(relation, &seen)?;
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
        self.constrained(kind, left, right, constraint)
    }

    fn constrained(
        &mut self,
        kind: JoinKind,
        left: Part,
        right: Part,
        constraint: &JoinConstraint,
    ) -> Result<Part> {
        match constraint {
            JoinConstraint::On(condition) => {
                let names = left.1.clone().join(right.1.clone())?;
                self.scopes.push(Scope::new(names.clone(), Clause::On));
                let bound = self.bind_condition(condition, "JOIN/ON");
                self.scopes.pop();
                let plan = joined_plan(kind, (left.0, &left.1), right.0, Some(bound?))?;
                let names = if kind.gives_right() { names } else { left.1 };
                Ok((plan, names))
            }
            JoinConstraint::Using(names) => {
                let mut merged = Vec::new();
                for name in names {
                    let name = parts(name)?.pop().unwrap_or_default();
                    if merged.contains(&name) {
                        let message = format!(
                            "column name \"{name}\" appears more than once in USING clause"
                        );
                        return Err(Error::new("42701", message));
                    }
                    merged.push(name);
                }
                self.merged(kind, left, right, &merged)
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

    /// A join whose common columns become one each.
    fn merged(
        &mut self,
        kind: JoinKind,
        left: Part,
        right: Part,
        common: &[String],
    ) -> Result<Part> {
        let (mut conditions, mut merged) = (Vec::new(), Vec::new());
        for name in common {
            let a = using_column(&left.1, name, "left")?;
            let b = using_column(&right.1, name, "right")?;
            let (left_type, right_type) = (a.ty.base(), b.ty.base());
            let pair = self.unified(vec![a, b], "JOIN/USING")?;
            let [a, b] = <[Expr; 2]>::try_from(pair)
                .map_err(|_| Error::internal("a pair of two is none"))?;
            conditions.push(self.binary("=", a.clone(), b.clone())?);
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
        let mut names = left.1.clone().join(right.1.clone())?;
        let rest = |side: &Namespace| {
            let rest = side
                .columns
                .iter()
                .filter(|column| !common.contains(&column.name));
            rest.cloned().collect::<Vec<_>>()
        };
        names.columns = merged;
        names.columns.extend(rest(&left.1));
        names.columns.extend(rest(&right.1));
        let condition = (!conditions.is_empty()).then(|| Expr::and(conditions));
        let plan = joined_plan(kind, (left.0, &left.1), right.0, condition)?;
        if !kind.gives_right() {
            names = left.1;
        }
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
        self.scopes.push(Scope::new(names.clone(), Clause::On));
        let bound = self.bind_condition(matched, "ASOF");
        self.scopes.pop();
        let bound = bound?;
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

    fn factor(&mut self, factor: &TableFactor, visible: &Namespace) -> Result<Part> {
        self.enter()?;
        let part = self.factor_inner(factor, visible);
        self.leave();
        part
    }

    fn factor_inner(&mut self, factor: &TableFactor, visible: &Namespace) -> Result<Part> {
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
                refuse(!with_hints.is_empty(), "WITH behind a table")?;
                refuse(version.is_some(), "a version of a table")?;
                refuse(!partitions.is_empty(), "PARTITION behind a table")?;
                refuse(json_path.is_some(), "a path behind a table")?;
                refuse(!index_hints.is_empty(), "hints about indexes")?;
                if let Some(TableFunctionArgs { args, settings }) = args {
                    refuse(settings.is_some(), "SETTINGS of a function")?;
                    refuse(sample.is_some(), "TABLESAMPLE of a function")?;
                    let call = (name, args.as_slice());
                    return self.functions(&[call], *with_ordinality, alias.as_ref(), visible);
                }
                refuse(*with_ordinality, "WITH ORDINALITY of a table")?;
                self.table(name, alias.as_ref(), sample.as_ref())
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
            } => {
                let call = (name, args.as_slice());
                self.functions(&[call], *with_ordinality, alias.as_ref(), visible)
            }
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
                        let call = (&call.name, list.args.as_slice());
                        self.functions(&[call], false, alias.as_ref(), visible)
                    }
                    _ => Err(Error::unsupported("TABLE(…) of anything but a function")),
                },
                _ => Err(Error::unsupported("TABLE(…) of anything but a function")),
            },
            other => {
                let text = super::expr::shortened(&other.to_string());
                Err(Error::unsupported(format!(
                    "{text} in FROM is not supported"
                )))
            }
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
    fn named_as(
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
        alias: Option<&TableAlias>,
        sample: Option<&TableSampleKind>,
    ) -> Result<Part> {
        let mut path = parts(name)?;
        let last = path.pop().unwrap_or_default();
        let schema = path.pop();
        if path.len() > 1 {
            return Err(Error::new(
                "42601",
                format!("improper qualified name (too many dotted names): {name}"),
            ));
        }
        if let (Some(database), Some(schema)) = (path.first(), &schema)
            && *database != self.session.database
        {
            return Err(Error::unsupported(format!(
                "cross-database references are not implemented: \"{database}.{schema}.{last}\""
            )));
        }
        if schema.is_none() {
            if let Some(found) = self.cte_named(&last) {
                refuse(sample.is_some(), "TABLESAMPLE of a common table expression")?;
                return self.cte_reference(&found, alias);
            }
            if quoted_text(name)
                && let Some(file) = self.catalog.file(&last)?
            {
                return self.scanned(file, None, alias, sample);
            }
        }
        let position = name_place(name);
        let found = self.catalog.relation(schema.as_deref(), &last, position)?;
        match found {
            Some(Found::Relation(relation)) => {
                let shown = relation.schema.clone();
                self.scanned(relation, Some(shown), alias, sample)
            }
            Some(Found::View(view)) => {
                refuse(sample.is_some(), "TABLESAMPLE of a view")?;
                self.view(schema, &last, view, alias)
            }
            None => {
                // Functions that are called without brackets may stand here.
                if schema.is_none()
                    && let [sqlparser::ast::ObjectNamePart::Identifier(ident)] = name.0.as_slice()
                    && super::expr::is_bare_function(ident)
                {
                    let value = self.function(&last, Vec::new())?;
                    return self.called_in_from(
                        vec![Functioned::Value(value)],
                        &last,
                        false,
                        alias,
                    );
                }
                Err(self
                    .catalog
                    .unknown_relation(schema.as_deref(), &last, position))
            }
        }
    }

    fn scanned(
        &mut self,
        relation: Relation,
        schema: Option<String>,
        alias: Option<&TableAlias>,
        sample: Option<&TableSampleKind>,
    ) -> Result<Part> {
        let mut columns = Vec::with_capacity(relation.columns.len() + relation.hidden.len());
        let all = relation.columns.iter().chain(&relation.hidden);
        for (position, (name, ty)) in all.enumerate() {
            columns.push((self.column(name.clone(), ty.clone()), position));
        }
        let visible: Vec<Column> = columns.iter().map(|(column, _)| column.clone()).collect();
        let (shown, hidden) = visible.split_at(relation.columns.len());
        let mut named = self.named_as(schema, &relation.name, scope_columns(shown), alias)?;
        named.hidden = scope_columns(hidden);
        named.key = relation.key.clone();
        if !relation.schema.is_empty() {
            named.row_type = Some(relation.name.clone());
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
        alias: Option<&TableAlias>,
    ) -> Result<Part> {
        self.catalog.enter_view(schema.as_deref(), name)?;
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
        let plan = bound.map_err(|mut error| {
            error.position = None;
            error.with_detail(format!("in view \"{name}\""))
        })?;
        let mut columns = scope_columns(&plan.columns());
        for (column, name) in columns.iter_mut().zip(&view.names) {
            column.name.clone_from(name);
        }
        let plan = match view.barrier {
            true => Plan::Barrier {
                input: Box::new(plan),
            },
            false => plan,
        };
        let mut named = self.named_as(schema, name, columns, alias)?;
        named.row_type = Some(name.to_owned());
        Ok((plan, Namespace::of(named)))
    }

    fn derived(
        &mut self,
        lateral: bool,
        query: &Query,
        alias: Option<&TableAlias>,
        visible: &Namespace,
    ) -> Result<Part> {
        if lateral {
            self.scopes
                .push(Scope::new(visible.clone(), Clause::FromQuery));
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
        calls: &[(&ObjectName, &[FunctionArg])],
        ordinality: bool,
        alias: Option<&TableAlias>,
        visible: &Namespace,
    ) -> Result<Part> {
        self.scopes.push(Scope::new(visible.clone(), Clause::From));
        let bound = calls
            .iter()
            .map(|(name, args)| self.table_function(name, args));
        let bound: Result<Vec<Functioned>> = bound.collect();
        self.scopes.pop();
        let bound = bound?;
        let name = calls.first().map(|(name, _)| name);
        let name = name
            .and_then(|name| parts(name).ok()?.pop())
            .unwrap_or_default();
        self.called_in_from(bound, &name, ordinality, alias)
    }

    fn called_in_from(
        &mut self,
        bound: Vec<Functioned>,
        name: &str,
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<Part> {
        let ordinal = ordinality.then(|| self.column("ordinality", Type::Int8));
        let mut scalar = None;
        let mut calls = Vec::new();
        for call in bound {
            match call {
                Functioned::Rows(call) => calls.push(call),
                Functioned::Value(value) => scalar = Some(value),
            }
        }
        let defined = defined_columns(alias, self.catalog)?;
        let (defined, renamed) = match defined {
            Some(fields) => {
                if ordinality {
                    return Err(Error::new(
                        "42601",
                        "WITH ORDINALITY cannot be used with a column definition list",
                    ));
                }
                let open = |ty: &Type| matches!(ty, Type::Record(fields) if fields.is_empty());
                match (calls.as_mut_slice(), &scalar) {
                    ([call], None) if call.columns.len() == 1 && open(&call.columns[0].ty) => {
                        call.columns[0].ty = Type::Record(fields);
                    }
                    _ => {
                        return Err(Error::new(
                            "42601",
                            "a column definition list is only allowed for functions returning \
                             \"record\"",
                        ));
                    }
                }
                let alias = alias.map(|alias| TableAlias {
                    columns: Vec::new(),
                    ..alias.clone()
                });
                (alias, true)
            }
            None => (None, false),
        };
        let alias = if renamed { defined.as_ref() } else { alias };
        for call in &calls {
            if let [
                Column {
                    ty: Type::Record(fields),
                    ..
                },
            ] = call.columns.as_slice()
                && fields.is_empty()
            {
                return Err(Error::new(
                    "42601",
                    "a column definition list is required for functions returning \"record\"",
                ));
            }
        }
        let plan = match scalar {
            Some(value) => {
                if !calls.is_empty() {
                    return Err(Error::unsupported(
                        "functions of one value beside others in ROWS FROM",
                    ));
                }
                let mut columns = Vec::new();
                let mut row = Vec::new();
                match (&value.ty, value.kind.clone()) {
                    (Type::Record(fields), ExprKind::Row(values)) => {
                        for ((name, ty), value) in fields.iter().zip(values) {
                            columns.push(self.column(name.clone(), ty.clone()));
                            row.push(value);
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
        let columns = plan.columns();
        let row_type = match columns.as_slice() {
            [
                Column {
                    ty: Type::Record(fields),
                    ..
                },
            ] => fields.name().map(str::to_owned),
            _ => None,
        };
        let plan = self.spread(plan);
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
        named.row_type = row_type;
        Ok((plan, Namespace::of(named)))
    }

    /// A plan with the fields of its records as columns.
    fn spread(&mut self, plan: Plan) -> Plan {
        let columns = plan.columns();
        let is_record = |column: &Column| matches!(column.ty, Type::Record(_));
        if !columns.iter().any(is_record) {
            return plan;
        }
        let mut items = Vec::new();
        for column in columns {
            let value = column.reference();
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
        Plan::Project {
            input: Box::new(plan),
            items,
        }
    }

    fn table_function(&mut self, name: &ObjectName, args: &[FunctionArg]) -> Result<Functioned> {
        let mut path = parts(name)?;
        let last = path.pop().unwrap_or_default();
        let position = name_place(name);
        let tables = catalogue().tables(&last);
        if tables.is_empty() {
            return self.called_value(name, args).map(Functioned::Value);
        }
        let mut arguments = Vec::new();
        for argument in args {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => {
                    arguments.push(self.bind_expr(expr)?);
                }
                other => {
                    return Err(Error::unsupported(format!(
                        "the argument {other} of a function in FROM"
                    )));
                }
            }
        }
        let call = self.table_call(&last, tables, arguments);
        Ok(Functioned::Rows(call.map_err(|error| error.at(position))?))
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
        visible: &Namespace,
    ) -> Result<Part> {
        self.scopes.push(Scope::new(visible.clone(), Clause::From));
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
        let named = named_by(None, &cte.name, scope_columns(&own), alias)?;
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
    let Some(alias) = alias else {
        return Ok(Named {
            schema,
            alias: name.to_owned(),
            columns,
            hidden: Vec::new(),
            key: Vec::new(),
            row_type: None,
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
    })
}

/// A function in FROM: one that gives rows, or one value.
enum Functioned {
    Rows(TableCall),
    Value(Expr),
}

/// The columns that an alias defines, with their types.
fn defined_columns(
    alias: Option<&TableAlias>,
    catalog: &dyn super::Catalog,
) -> Result<Option<Fields>> {
    let columns = alias.map_or(&[] as &[_], |alias| alias.columns.as_slice());
    if columns.iter().all(|column| column.data_type.is_none()) {
        return Ok(None);
    }
    let fields = columns.iter().map(|column| {
        let TableAliasColumnDef { name, data_type } = column;
        let Some(ty) = data_type else {
            return Err(Error::new(
                "42601",
                "syntax error in a column definition list",
            ));
        };
        Ok((fold(name), super::written_type(ty, catalog)?))
    });
    fields.collect::<Result<Fields>>().map(Some)
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

/// Two parts without a condition.
fn cross(left: Part, right: Part) -> Result<Part> {
    let plan = joined_plan(JoinKind::Inner, (left.0, &left.1), right.0, None)?;
    Ok((plan, left.1.join(right.1)?))
}

fn joined_plan(
    kind: JoinKind,
    (left, names): (Plan, &Namespace),
    right: Plan,
    condition: Option<Expr>,
) -> Result<Plan> {
    let given: HashSet<_> = left.columns().iter().map(|column| column.id).collect();
    let free = right.free();
    let lateral = free.iter().any(|id| given.contains(id));
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
