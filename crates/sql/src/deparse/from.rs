//! FROM: relations, sub-queries, functions and joins.

use freestone_frontend::bind::{Catalog as _, Found, Seen as Then, SqlReturns, written_type};
use freestone_frontend::functions::{Returns, catalogue, resolve_function};
use freestone_frontend::syntax::marks::{
    COLUMNS, JOIN_ALIAS, ONLY, POSITIONAL, ROWS_FROM, marked, marked_call,
};
use freestone_frontend::types::{Fields, Type};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableFactor, TableFunctionArgs,
    TableSampleKind, TableSampleMethod, TableWithJoins,
};

use super::calls::positional;
use super::read::{Reader, Typed, function_name, plain_call};
use super::scope::{Named, Namespace, Seen};
use super::tree::{From, Joined, Node, Range, RangeKind, RowsCall, Sample};
use crate::front::columns_of_view;
use crate::names::{DEFAULT_SCHEMA, Name, fold, meant_schema};

/// A part of FROM, its range and its names.
type Part = (From, Namespace);

fn range_of(from: &From) -> usize {
    match from {
        From::Range(range) | From::Join { range, .. } => *range,
    }
}

impl Reader<'_> {
    /// A relation and what is joined to it; `before` is what LATERAL sees.
    pub(super) fn joined(&self, item: &TableWithJoins, before: &Namespace) -> Option<Part> {
        let mut left = self.factor(&item.relation, before)?;
        for join in &item.joins {
            left = self.join(left, join, before)?;
        }
        Some(left)
    }

    fn join(&self, left: Part, join: &Join, before: &Namespace) -> Option<Part> {
        use JoinOperator as O;
        let (kind, constraint) = match &join.join_operator {
            O::Join(on) | O::Inner(on) => ("INNER", on),
            O::Left(on) | O::LeftOuter(on) => ("LEFT", on),
            O::Right(on) | O::RightOuter(on) => ("RIGHT", on),
            O::FullOuter(on) => ("FULL", on),
            O::CrossJoin(JoinConstraint::None) => ("INNER", &JoinConstraint::None),
            _ => return None,
        };
        let mut seen = before.clone();
        seen.join(left.1.clone());
        let right = self.factor(&join.relation, &seen)?;
        let (mut common, mut using_alias, mut on) = (Vec::new(), None, None);
        match constraint {
            JoinConstraint::On(condition) if marked_call(condition, POSITIONAL).is_none() => {
                let mut both = left.1.clone();
                both.join(right.1.clone());
                let read = || self.coerced(self.node(condition)?, &Type::Bool);
                on = Some(self.within(both, read)?);
            }
            JoinConstraint::Using(names) => {
                for name in names {
                    let ident = name.0.last()?.as_ident()?;
                    match marked(ident, JOIN_ALIAS) {
                        Some(alias) => using_alias = Some(alias.to_owned()),
                        None => common.push(fold(ident)),
                    }
                }
            }
            JoinConstraint::Natural => {
                for column in &left.1.columns {
                    let there = right.1.columns.iter().any(|one| one.name == column.name);
                    if there && !common.contains(&column.name) {
                        common.push(column.name.clone());
                    }
                }
            }
            JoinConstraint::None if kind == "INNER" => {}
            _ => return None,
        }
        self.merged(kind, left, right, (common, using_alias, on))
    }

    fn merged(
        &self,
        kind: &'static str,
        left: Part,
        right: Part,
        (common, using_alias, on): (Vec<String>, Option<String>, Option<Node>),
    ) -> Option<Part> {
        let at = self.scopes.borrow().ranges.len();
        let (mut places, mut columns) = (Vec::new(), Vec::new());
        let mut computed = false;
        for name in &common {
            let place = |names: &Namespace| {
                let mut all = names.columns.iter().enumerate();
                let (found, _) = all.find(|(_, seen)| seen.name == *name)?;
                let again = all.any(|(_, seen)| seen.name == *name);
                (!again).then_some(found)
            };
            let (a, b) = (place(&left.1)?, place(&right.1)?);
            let (of_left, of_right) = (&left.1.columns[a], &right.1.columns[b]);
            let ty = Self::common(&of_left.ty, &of_right.ty)?;
            let side = match kind {
                "INNER" if of_left.ty == ty => Some(of_left),
                "INNER" if of_right.ty == ty => Some(of_right),
                "LEFT" if of_left.ty == ty => Some(of_left),
                "RIGHT" if of_right.ty == ty => Some(of_right),
                _ => None,
            };
            computed |= side.is_none();
            let node = side.map_or_else(
                || Node::Column {
                    range: at,
                    column: Some(places.len()),
                    row: String::new(),
                },
                |side| side.node.clone(),
            );
            columns.push(Seen {
                name: name.clone(),
                node,
                ty,
            });
            places.push((Some(a), Some(b)));
        }
        for (is_left, names) in [(true, &left.1), (false, &right.1)] {
            for (place, seen) in names.columns.iter().enumerate() {
                if common.contains(&seen.name) {
                    continue;
                }
                places.push(match is_left {
                    true => (Some(place), None),
                    false => (None, Some(place)),
                });
                columns.push(seen.clone());
            }
        }
        let range = self.add_range(Range {
            kind: RangeKind::Join(Joined {
                left: range_of(&left.0),
                right: range_of(&right.0),
                places,
                using: common.len(),
                using_alias: using_alias.clone(),
                computed,
            }),
            alias: None,
            renamed: Vec::new(),
            name: String::new(),
            columns: columns.iter().map(|seen| seen.name.clone()).collect(),
            lateral: false,
        });
        let mut relations = left.1.relations;
        relations.extend(right.1.relations);
        if let Some(alias) = using_alias {
            relations.push(Named {
                name: alias,
                schema: None,
                columns: columns.iter().take(common.len()).cloned().collect(),
                row: None,
            });
        }
        let from = From::Join {
            range,
            kind,
            left: Box::new(left.0),
            right: Box::new(right.0),
            on,
        };
        Some((from, Namespace { relations, columns }))
    }

    fn factor(&self, factor: &TableFactor, before: &Namespace) -> Option<Part> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample,
                index_hints,
            } if partitions.is_empty() && index_hints.is_empty() => {
                let only = match with_hints.as_slice() {
                    [] => false,
                    [Expr::Identifier(hint)] if marked(hint, ONLY).is_some() => true,
                    _ => return None,
                };
                let sample = match sample {
                    Some(sample) => Some(Box::new(self.sample(sample)?)),
                    None => None,
                };
                self.relation(name, (only, sample), alias.as_ref())
            }
            TableFactor::Derived {
                lateral,
                subquery,
                alias: Some(alias),
                sample: None,
            } => {
                let read = || self.sub_query(subquery);
                let query = match lateral {
                    true => self.within(before.clone(), read)?,
                    false => read()?,
                };
                let columns = query.columns.clone();
                let kind = RangeKind::Query(Box::new(query));
                self.named(kind, "", columns, Some(alias), (None, *lateral))
            }
            TableFactor::Table {
                name,
                alias,
                args:
                    Some(TableFunctionArgs {
                        args,
                        settings: None,
                    }),
                with_ordinality,
                sample: None,
                ..
            } => {
                let calls = calls_of(name, args)?;
                self.functions(&calls, *with_ordinality, alias.as_ref(), (before, false))
            }
            TableFactor::Function {
                name,
                args,
                with_ordinality,
                alias,
                lateral,
            } => {
                let calls = calls_of(name, args)?;
                self.functions(&calls, *with_ordinality, alias.as_ref(), (before, *lateral))
            }
            TableFactor::UNNEST {
                alias,
                array_exprs,
                with_offset: false,
                with_offset_alias: None,
                with_ordinality,
            } => {
                let name = ObjectName::from(vec![Ident::new("unnest")]);
                let calls = array_exprs.iter().map(|array| {
                    let array = FunctionArg::Unnamed(FunctionArgExpr::Expr(array.clone()));
                    Called::new(&name, vec![array], None)
                });
                let calls = calls.collect::<Option<Vec<_>>>()?;
                self.functions(&calls, *with_ordinality, alias.as_ref(), (before, false))
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                let (from, names) = self.joined(table_with_joins, before)?;
                match alias {
                    None => Some((from, names)),
                    Some(alias) => self.aliased(from, names, alias),
                }
            }
            _ => None,
        }
    }

    /// A join under a name, which hides its parts.
    fn aliased(&self, from: From, names: Namespace, alias: &TableAlias) -> Option<Part> {
        let From::Join { range, .. } = &from else {
            return None;
        };
        let (name, renamed) = (fold(&alias.name), renamed(alias)?);
        let columns = names.columns.iter().enumerate().map(|(at, seen)| Seen {
            name: renamed.get(at).unwrap_or(&seen.name).clone(),
            node: Node::Column {
                range: *range,
                column: Some(at),
                row: String::new(),
            },
            ty: seen.ty.clone(),
        });
        let columns: Vec<Seen> = columns.collect();
        let mut scopes = self.scopes.borrow_mut();
        let of = scopes.ranges.get_mut(*range)?;
        of.alias = Some(name.clone());
        of.renamed = renamed;
        drop(scopes);
        let named = Named {
            name,
            schema: None,
            columns: columns.clone(),
            row: None,
        };
        Some((
            from,
            Namespace {
                relations: vec![named],
                columns,
            },
        ))
    }

    fn named(
        &self,
        kind: RangeKind,
        name: &str,
        columns: Vec<(String, Type)>,
        alias: Option<&TableAlias>,
        (schema, lateral): (Option<String>, bool),
    ) -> Option<Part> {
        let renamed = match alias {
            Some(alias) => renamed(alias)?,
            None => Vec::new(),
        };
        let own = alias.map(|alias| fold(&alias.name));
        let is_stored = matches!(kind, RangeKind::Relation { .. });
        let range = self.add_range(Range {
            kind,
            alias: own.clone(),
            renamed: renamed.clone(),
            name: name.to_owned(),
            columns: columns.iter().map(|(name, _)| name.clone()).collect(),
            lateral,
        });
        let seen = columns
            .into_iter()
            .enumerate()
            .map(|(at, (name, ty))| Seen {
                name: renamed.get(at).cloned().unwrap_or(name),
                node: Node::Column {
                    range,
                    column: Some(at),
                    row: String::new(),
                },
                ty,
            });
        let columns: Vec<Seen> = seen.collect();
        // The row of a stored relation has a type of its own.
        let fields = columns
            .iter()
            .map(|seen| (seen.name.clone(), seen.ty.clone()));
        let fields: Fields = fields.collect();
        let (row, fields) = match is_stored {
            true => (super::print::quoted(name), fields.with_name(name, 0)),
            false => ("record".to_owned(), fields),
        };
        let row = Node::Column {
            range,
            column: None,
            row,
        };
        let row = Some((row, Type::Record(fields)));
        let named = Named {
            name: own.clone().unwrap_or_else(|| name.to_owned()),
            schema: schema.filter(|_| own.is_none()),
            columns: columns.clone(),
            row,
        };
        let names = Namespace {
            relations: vec![named],
            columns,
        };
        Some((From::Range(range), names))
    }

    fn sample(&self, sample: &TableSampleKind) -> Option<Sample> {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
            sample;
        let method = match &sample.name {
            None | Some(TableSampleMethod::Bernoulli) => "bernoulli",
            Some(TableSampleMethod::System) => "system",
            Some(_) => return None,
        };
        let quantity = sample.quantity.as_ref()?;
        if quantity.unit.is_some() || sample.bucket.is_some() || sample.offset.is_some() {
            return None;
        }
        let share = self.within(Namespace::default(), || self.node(&quantity.value))?;
        let seed = match &sample.seed {
            Some(seed) => {
                let value = self.node(&Expr::Value(seed.value.clone()))?;
                Some(self.coerced(value, &Type::Float8)?)
            }
            None => None,
        };
        Some(Sample {
            method,
            share: self.coerced(share, &Type::Float4)?,
            seed,
        })
    }

    fn relation(
        &self,
        name: &ObjectName,
        (only, sample): (bool, Option<Box<Sample>>),
        alias: Option<&TableAlias>,
    ) -> Option<Part> {
        let (schema, last) = match name.0.as_slice() {
            [last] => (None, fold(last.as_ident()?)),
            [schema, last] => (Some(fold(schema.as_ident()?)), fold(last.as_ident()?)),
            _ => return None,
        };
        if schema.is_none() {
            let scopes = self.scopes.borrow();
            let found = scopes.ctes.iter().rev().find(|cte| cte.name == last);
            if let Some(found) = found.cloned() {
                drop(scopes);
                if only || sample.is_some() {
                    return None;
                }
                return self.named(RangeKind::Cte, &last, found.columns, alias, (None, false));
            }
        }
        let known = self.known.as_ref()?;
        let snapshot = &known.relations.snapshot;
        let stored = schema
            .as_deref()
            .map_or(DEFAULT_SCHEMA, meant_schema)
            .to_owned();
        let found = known.names.relation(schema.as_deref(), &last, None);
        let (found, seen) = match found.ok()?? {
            Found::Seen(found, seen) => (*found, Some(seen)),
            found => (found, None),
        };
        let found = match found {
            Found::Limited(found, _) => *found,
            found => found,
        };
        let (stored, last) = match &seen {
            Some(_) => {
                let read = known.relations.read(&Name::new(&stored, &last))?;
                read.now
            }
            None => (stored, last),
        };
        let (stored, columns) = match found {
            Found::Relation(relation) => {
                let is_own = known.relations.has(&stored, &last);
                let stored = if is_own {
                    stored
                } else {
                    "pg_catalog".to_owned()
                };
                (stored, relation.columns)
            }
            Found::Parts(parts) => (stored, parts.whole.columns),
            Found::View(_) => {
                snapshot.view(&stored, &last)?;
                let columns = columns_of_view(known.relations, &stored, &last).ok()?;
                (stored, columns)
            }
            Found::Seen(..) | Found::Limited(..) => return None,
        };
        let kind = RangeKind::Relation {
            schema: stored.clone(),
            only,
            sample,
        };
        let Some(seen) = seen else {
            return self.named(kind, &last, columns, alias, (Some(stored), false));
        };
        let (from, names) = self.named(kind, &last, columns, None, (Some(stored), false))?;
        self.seen(from, names, &seen, alias)
    }

    /// A relation under the names that it and its columns have in the text of the view.
    fn seen(
        &self,
        from: From,
        names: Namespace,
        seen: &Then,
        alias: Option<&TableAlias>,
    ) -> Option<Part> {
        let renamed = match alias {
            Some(alias) => renamed(alias)?,
            None => Vec::new(),
        };
        let own = alias.map(|alias| fold(&alias.name));
        let mut given = Vec::new();
        let mut columns = Vec::with_capacity(seen.columns.len());
        for (at, (then, now)) in seen.columns.iter().enumerate() {
            let place = names.columns.iter().position(|one| one.name == *now)?;
            given.push((place, renamed.get(at)));
            columns.push(Seen {
                name: renamed.get(at).unwrap_or(then).clone(),
                ..names.columns[place].clone()
            });
        }
        let mut relation = names.relations.into_iter().next()?;
        if alias.is_some() {
            let mut scopes = self.scopes.borrow_mut();
            let range = scopes.ranges.get_mut(range_of(&from))?;
            range.alias.clone_from(&own);
            if !renamed.is_empty() {
                // Columns that came later keep their names behind those of the list.
                range.renamed.clone_from(&range.columns);
                for (place, name) in given {
                    if let Some(name) = name {
                        range.renamed[place].clone_from(name);
                    }
                }
            }
        }
        relation.schema = own.is_none().then(|| seen.schema.clone());
        relation.name = own.unwrap_or_else(|| seen.name.clone());
        relation.columns.clone_from(&columns);
        let names = Namespace {
            relations: vec![relation],
            columns,
        };
        Some((from, names))
    }

    /// Functions in FROM: what stands before them is in their sight.
    fn functions(
        &self,
        calls: &[Called<'_>],
        ordinality: bool,
        alias: Option<&TableAlias>,
        (before, lateral): (&Namespace, bool),
    ) -> Option<Part> {
        let known = self.known.as_ref()?;
        let defined = match alias {
            Some(alias) if renamed(alias).is_none() => {
                let columns = alias.columns.iter().map(|column| {
                    let ty = written_type(column.data_type.as_ref()?, known.names).ok()?;
                    Some((fold(&column.name), ty))
                });
                Some(columns.collect::<Option<Columns>>()?)
            }
            _ => None,
        };
        let reads = self.scopes.borrow().reads.len();
        let read = || {
            let all = calls.iter().map(|call| {
                let columns = match &call.columns {
                    Some(columns) => Some(self.defined(columns)?),
                    None => defined.clone(),
                };
                self.rows_of(call, columns)
            });
            all.collect::<Option<Vec<Rows>>>()
        };
        let read = self.within(before.clone(), read)?;
        // One that reads columns before it is LATERAL.
        let lateral = lateral || self.reads_own(reads);
        let name = calls.first()?.name.clone();
        let is_scalar = matches!(read.as_slice(), [only] if only.is_scalar) && !ordinality;
        let by_alias = matches!(read.as_slice(), [only] if only.by_alias);
        let (mut all, mut columns) = (Vec::new(), Vec::new());
        for one in read {
            all.push(one.call);
            columns.extend(one.columns);
        }
        if let (Some(alias), [only], true) = (alias, columns.as_mut_slice(), by_alias) {
            only.0 = fold(&alias.name);
        }
        if ordinality {
            columns.push(("ordinality".to_owned(), Type::Int8));
        }
        let plain = alias.map(|alias| TableAlias {
            columns: match defined {
                Some(_) => Vec::new(),
                None => alias.columns.clone(),
            },
            ..alias.clone()
        });
        let kind = RangeKind::Functions {
            calls: all,
            ordinality,
        };
        let (from, mut names) =
            self.named(kind, &name, columns, plain.as_ref(), (None, lateral))?;
        // The row of a function of one value is that value.
        if let (Some(relation), true) = (names.relations.first_mut(), is_scalar) {
            let only = relation.columns.first()?;
            relation.row = Some((only.node.clone(), only.ty.clone()));
        }
        Some((from, names))
    }

    /// The columns of a column definition list in ROWS FROM.
    fn defined(&self, columns: &[FunctionArg]) -> Option<Columns> {
        let known = self.known.as_ref()?;
        let columns = columns.iter().map(|column| match column {
            FunctionArg::Named {
                name,
                arg: FunctionArgExpr::Expr(Expr::Cast { data_type, .. }),
                ..
            }
            | FunctionArg::ExprNamed {
                name: Expr::Identifier(name),
                arg: FunctionArgExpr::Expr(Expr::Cast { data_type, .. }),
                ..
            } => Some((fold(name), written_type(data_type, known.names).ok()?)),
            _ => None,
        });
        columns.collect()
    }

    /// One function in FROM and its columns.
    fn rows_of(&self, call: &Called<'_>, defined: Option<Columns>) -> Option<Rows> {
        let known = self.known.as_ref()?;
        let Called { schema, name, .. } = call;
        let written = || {
            let arguments = call.arguments.iter().map(positional);
            let arguments = arguments.collect::<Option<Vec<_>>>()?;
            let all = arguments.into_iter().map(|one| self.node(one));
            all.collect::<Option<Vec<Typed>>>()
        };
        let is_system = schema
            .as_deref()
            .is_none_or(|schema| schema == "pg_catalog");
        let tables = match is_system {
            true => catalogue().tables(name),
            false => &[],
        };
        let own = known.names.sql_functions(schema.as_deref(), name).ok()?;
        if own.is_empty() && tables.is_empty() {
            if !is_system || catalogue().functions(name).is_empty() {
                return None;
            }
            let (node, ty) = self.call(&call.as_value())?;
            return self.of_value(name, node, ty, defined);
        }
        let arguments = written()?;
        let types: Vec<Type> = arguments.iter().map(|(_, ty)| ty.base()).collect();
        if let Some((mut node, parameters, returns)) = self.created(schema.as_deref(), name, &types)
        {
            let arguments = arguments.into_iter().zip(&parameters);
            let arguments = arguments.map(|(one, to)| self.coerced(one, to));
            node.arguments = arguments.collect::<Option<_>>()?;
            let node = Node::Call(Box::new(node));
            let columns = match returns {
                SqlReturns::Value(ty) => return self.of_value(name, node, ty, defined),
                SqlReturns::Rows(columns) if defined.is_none() => columns,
                SqlReturns::Records => return Some(Rows::defined(node, defined?)),
                _ => return None,
            };
            let columns: Columns = columns
                .into_iter()
                .map(|(column, ty)| match column.is_empty() {
                    true => (name.clone(), ty),
                    false => (column, ty),
                })
                .collect();
            let by_alias = matches!(columns.as_slice(), [(only, _)] if only == name);
            return Some(Rows {
                call: bare(node),
                is_scalar: by_alias,
                by_alias,
                columns,
            });
        }
        if !own.is_empty() {
            return None;
        }
        let found = resolve_function(tables, &types).ok()?;
        let node = plain_call(function_name(name), self.arguments(arguments, &found)?);
        if let [(own, _)] = found.function.columns.as_slice() {
            let mut rows = self.of_value(name, node, found.returns, defined)?;
            rows.call.unnest = name == "unnest";
            if let (false, [only]) = (own.is_empty(), rows.columns.as_mut_slice()) {
                only.0 = (*own).to_owned();
                rows.by_alias = false;
            }
            return Some(rows);
        }
        if defined.is_some() {
            return None;
        }
        let columns = found.function.columns.iter().enumerate();
        let columns = columns.map(|(at, (own, returns))| {
            let ty = match (at, returns) {
                (0, _) => found.returns.clone(),
                (_, Returns::Type(ty)) => ty.clone(),
                (_, Returns::Of(of)) => of(&found.parameters),
            };
            let own = if own.is_empty() { name } else { *own };
            (own.to_owned(), ty)
        });
        let mut call = bare(node);
        call.unnest = name == "unnest";
        Some(Rows {
            columns: columns.collect(),
            call,
            is_scalar: false,
            by_alias: false,
        })
    }

    /// A function of one value: its only column, or those of a record.
    fn of_value(&self, name: &str, node: Node, ty: Type, defined: Option<Columns>) -> Option<Rows> {
        match (&ty, defined) {
            (Type::Record(_), Some(defined)) => Some(Rows::defined(node, defined)),
            (_, Some(_)) => None,
            (Type::Record(fields), None) if fields.is_empty() => None,
            (Type::Record(fields), None) => Some(Rows {
                columns: fields.iter().cloned().collect(),
                call: bare(node),
                is_scalar: false,
                by_alias: false,
            }),
            (_, None) => Some(Rows {
                columns: vec![(name.to_owned(), ty)],
                call: bare(node),
                is_scalar: true,
                by_alias: true,
            }),
        }
    }
}

/// Columns by name and type.
type Columns = Vec<(String, Type)>;

/// A call in FROM as it is written.
struct Called<'q> {
    schema: Option<String>,
    name: String,
    written: &'q ObjectName,
    arguments: Vec<FunctionArg>,
    /// Its column definition list in ROWS FROM.
    columns: Option<&'q [FunctionArg]>,
}

impl<'q> Called<'q> {
    fn new(
        written: &'q ObjectName,
        arguments: Vec<FunctionArg>,
        columns: Option<&'q [FunctionArg]>,
    ) -> Option<Self> {
        let (schema, name) = match written.0.as_slice() {
            [name] => (None, name.as_ident()?),
            [schema, name] => (Some(fold(schema.as_ident()?)), name.as_ident()?),
            _ => return None,
        };
        let name = fold(name);
        let plain = !name.starts_with('\u{1}');
        plain.then_some(Self {
            schema,
            name,
            written,
            arguments,
            columns,
        })
    }

    /// The call as it is written elsewhere.
    fn as_value(&self) -> Function {
        Function {
            name: self.written.clone(),
            uses_odbc_syntax: false,
            parameters: FunctionArguments::None,
            args: FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment: None,
                args: self.arguments.clone(),
                clauses: Vec::new(),
            }),
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        }
    }
}

/// The calls that a call in FROM stands for: several if it is ROWS FROM.
fn calls_of<'q>(name: &'q ObjectName, args: &'q [FunctionArg]) -> Option<Vec<Called<'q>>> {
    let is = |name: &ObjectName, mark: &str| {
        let first = name.0.first().and_then(|part| part.as_ident());
        first.is_some_and(|ident| marked(ident, mark).is_some())
    };
    if !is(name, ROWS_FROM) {
        return Some(vec![Called::new(name, args.to_vec(), None)?]);
    }
    fn parts(argument: &FunctionArg) -> Option<(&ObjectName, &[FunctionArg])> {
        match positional(argument)? {
            Expr::Function(call) => match &call.args {
                FunctionArguments::List(list) => Some((&call.name, list.args.as_slice())),
                _ => None,
            },
            _ => None,
        }
    }
    let calls = args.iter().map(|argument| {
        let (name, args) = parts(argument)?;
        match args {
            [inner, columns @ ..] if is(name, COLUMNS) => {
                let (name, args) = parts(inner)?;
                Called::new(name, args.to_vec(), Some(columns))
            }
            args => Called::new(name, args.to_vec(), None),
        }
    });
    calls.collect()
}

/// A call in FROM and its columns.
struct Rows {
    call: RowsCall,
    columns: Columns,
    /// Whether its row is its only column.
    is_scalar: bool,
    /// Whether its only column has the name of the alias.
    by_alias: bool,
}

impl Rows {
    /// A call whose columns its query defines.
    fn defined(node: Node, defined: Columns) -> Self {
        let types = defined.iter();
        let types = types.map(|(name, ty)| (name.clone(), ty.to_string()));
        Rows {
            call: RowsCall {
                node,
                unnest: false,
                defined: types.collect(),
            },
            columns: defined,
            is_scalar: false,
            by_alias: false,
        }
    }
}

fn bare(node: Node) -> RowsCall {
    RowsCall {
        node,
        unnest: false,
        defined: Vec::new(),
    }
}

/// The columns of an alias; `None` for a column definition list.
fn renamed(alias: &TableAlias) -> Option<Vec<String>> {
    let columns = alias.columns.iter().map(|column| {
        let plain = column.data_type.is_none();
        plain.then(|| fold(&column.name))
    });
    columns.collect()
}
