//! Calls of functions, and of what looks like one.

use std::collections::HashSet;
use std::sync::Arc;

use sqlparser::ast::{
    DuplicateTreatment, Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, NullTreatment, OrderByExpr,
};

use super::scope::{Clause, near};
use super::{Binder, Coercion, fold, name_place, parts, refuse};
use crate::error::{Error, Result};
use crate::functions::aggregates::{Aggregate, Kind};
use crate::functions::{
    Overload, Resolved, Scalar, TableFunction, Unresolved, catalogue, resolve_function,
    resolve_operator,
};
use crate::plan::{AggregateCall, ColumnId, Expr, ExprKind, SortKey, TableCall};
use crate::types::{Category, Type};

/// The arguments of a call as they are written.
#[derive(Default)]
struct Written<'a> {
    positional: Vec<&'a Ast>,
    named: Vec<(String, &'a Ast)>,
    /// `f(*)`.
    star: bool,
    /// `f(t.*)`.
    rows: Vec<String>,
    distinct: bool,
    order: Vec<&'a OrderByExpr>,
    nulls: Option<NullTreatment>,
    separator: Option<&'a sqlparser::ast::ValueWithSpan>,
    /// Whether the last argument is VARIADIC.
    variadic: bool,
}

impl Binder<'_> {
    /// A call.
    pub(super) fn bind_call(&mut self, call: &Function) -> Result<Expr> {
        let Function {
            name,
            uses_odbc_syntax: _,
            parameters,
            args,
            filter,
            null_treatment,
            over,
            within_group,
        } = call;
        refuse(
            !matches!(parameters, FunctionArguments::None),
            "parameters before the arguments of a function",
        )?;
        let mut path = parts(name)?;
        let last = path.pop().unwrap_or_default();
        let in_catalogue = matches!(path.as_slice(), [] | [_] if path.iter().all(|schema| {
            matches!(
                schema.as_str(),
                "pg_catalog" | "public" | "main" | "information_schema"
            )
        }));
        if !in_catalogue {
            return Err(
                Error::new("42883", format!("function {name} does not exist")).at(name_place(name)),
            );
        }
        if let FunctionArguments::Subquery(query) = args {
            return match last.as_str() {
                "array" => self.array_subquery(query),
                _ => {
                    let value = self.scalar_subquery(query)?;
                    self.function(&last, vec![value])
                }
            };
        }
        let mut written = Written {
            nulls: *null_treatment,
            ..Written::default()
        };
        if let FunctionArguments::List(list) = args {
            written.take(list)?;
        }
        let place = name_place(name);
        let bound = if let Some(over) = over {
            refuse(written.variadic, "VARIADIC of a window function")?;
            self.over(&last, &written, filter.as_deref(), within_group, over)
        } else if !catalogue().aggregates(&last).is_empty() {
            refuse(written.variadic, "VARIADIC of an aggregate")?;
            refuse(
                written.nulls.is_some(),
                "RESPECT/IGNORE NULLS of an aggregate",
            )?;
            self.aggregate(&last, &written, filter.as_deref(), within_group)
        } else if !catalogue().windows(&last).is_empty() {
            Err(Error::new(
                "42809",
                format!("window function {last} requires an OVER clause"),
            ))
        } else {
            if filter.is_some() || written.distinct || !written.order.is_empty() {
                let what = match (filter.is_some(), written.distinct) {
                    (true, _) => "FILTER",
                    (_, true) => "DISTINCT",
                    _ => "ORDER BY",
                };
                return Err(Error::new(
                    "42809",
                    format!("{what} specified, but {last} is not an aggregate function"),
                )
                .at(place));
            }
            refuse(
                !within_group.is_empty(),
                "WITHIN GROUP of a function that is no aggregate",
            )?;
            self.plain(&last, &written)
        };
        bound.map_err(|error| error.at(place))
    }

    fn plain(&mut self, name: &str, written: &Written<'_>) -> Result<Expr> {
        if written.variadic {
            if matches!(
                name,
                "coalesce" | "greatest" | "least" | "nullif" | "row" | "grouping"
            ) {
                return Err(Error::new("42601", "syntax error at or near \"VARIADIC\""));
            }
            refuse(!written.named.is_empty(), "VARIADIC behind named arguments")?;
            let arguments = self.positional(written)?;
            return self.variadic_call(name, arguments);
        }
        if crate::syntax::WITH_LAMBDAS.contains(&name)
            && let Some(bound) = self.lambda_call(name, &written.positional)?
        {
            return Ok(bound);
        }
        match name {
            "coalesce" => {
                let values = self.positional(written)?;
                if values.is_empty() {
                    return Err(Error::new("42601", "syntax error at or near \")\""));
                }
                let mut values = self.unified(values, "COALESCE")?;
                let ty = values[0].ty.clone();
                return Ok(match values.len() {
                    1 => values.swap_remove(0),
                    _ => Expr::new(ExprKind::Coalesce(values), ty),
                });
            }
            "nullif" => {
                let values = self.positional(written)?;
                let [left, right] = two(values, name)?;
                let right_type = right.ty.clone();
                let equal = self.binary("=", left.clone(), right)?;
                // The result is the left value as the operator takes it.
                let taken = resolve_operator("=", &[left.ty.clone(), right_type]);
                let taken = taken
                    .ok()
                    .and_then(|found| found.parameters.into_iter().next());
                let left = match taken {
                    Some(to) if !to.is_pseudo() && to.base() != left.ty.base() => {
                        self.coerce(left, &to, Coercion::Implicit)?
                    }
                    _ => self.known_expr(left)?,
                };
                let ty = left.ty.clone();
                return Ok(Expr::new(
                    ExprKind::Case {
                        branches: vec![(equal, Expr::null(ty.clone()))],
                        otherwise: Some(Box::new(left)),
                    },
                    ty,
                ));
            }
            "greatest" | "least" => {
                let values = self.positional(written)?;
                let mut values = self.unified(values, &name.to_uppercase())?.into_iter();
                let first = values.next();
                let first =
                    first.ok_or_else(|| Error::new("42601", "syntax error at or near \")\""))?;
                let symbol = if name == "greatest" { ">" } else { "<" };
                return values.try_fold(first, |best, next| self.better(symbol, best, next));
            }
            "row" => {
                let values: Vec<Ast> = written
                    .positional
                    .iter()
                    .map(|&value| value.clone())
                    .collect();
                let mut bound = self.row(&values)?;
                for relation in &written.rows {
                    let row = self.relation_row(relation);
                    let row = row.ok_or_else(|| self.missing_from(relation, None))?;
                    if let (ExprKind::Row(all), ExprKind::Row(more)) = (&mut bound.kind, row.kind) {
                        all.extend(more);
                    }
                    if let ExprKind::Row(all) = bound.kind {
                        bound = super::expr::record(all);
                    }
                }
                return Ok(bound);
            }
            "grouping" => return self.grouping(written),
            "pg_typeof" => {
                let values = self.positional(written)?;
                if let [value] = values.as_slice() {
                    return Ok(Expr::text(&standard_name(&value.ty.base()), Type::Text));
                }
            }
            "ifnull" => {
                let values = self.positional(written)?;
                let pair = two(values, name)?;
                let values = self.unified(pair.to_vec(), "IFNULL")?;
                let ty = values[0].ty.clone();
                return Ok(Expr::new(ExprKind::Coalesce(values), ty));
            }
            _ => {}
        }
        if written.star {
            return Err(Error::new(
                "42809",
                format!("{name}(*) specified, but {name} is not an aggregate function"),
            ));
        }
        let tables = catalogue().tables(name);
        let arguments = self.positional(written)?;
        if !tables.is_empty() && catalogue().functions(name).is_empty() {
            return self.set_returning(name, tables, arguments);
        }
        if !written.named.is_empty() {
            return self.with_names(name, written, arguments);
        }
        self.function(name, arguments)
    }

    /// `a > b` or NULL: `a` if `b` is NULL or less.
    fn better(&mut self, symbol: &str, left: Expr, right: Expr) -> Result<Expr> {
        let ty = left.ty.clone();
        let is_better = self.binary(symbol, left.clone(), right.clone())?;
        let condition = Expr::or([right.clone().is_null(), is_better]);
        let keeps = Expr::and([left.clone().is_null().not(), condition]);
        Ok(Expr::new(
            ExprKind::Case {
                branches: vec![(keeps, left)],
                otherwise: Some(Box::new(right)),
            },
            ty,
        ))
    }

    fn positional(&mut self, written: &Written<'_>) -> Result<Vec<Expr>> {
        let mut bound = Vec::with_capacity(written.positional.len());
        for argument in &written.positional {
            bound.push(self.bind_expr(argument)?);
        }
        for relation in &written.rows {
            let row = self.relation_row(relation);
            bound.push(row.ok_or_else(|| self.missing_from(relation, None))?);
        }
        Ok(bound)
    }

    /// A call of a scalar function with arguments in order.
    pub(super) fn function(&mut self, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        let types: Vec<Type> = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        let known = catalogue().functions(name);
        let stored;
        let overloads = match known.is_empty() {
            false => known,
            true => {
                stored = self.catalog.functions(name);
                stored.as_slice()
            }
        };
        let resolved = match resolve_function(overloads, &types) {
            Ok(resolved) => resolved,
            // A type's name as a function is a cast.
            Err(_) if arguments.len() == 1 && crate::types::named(name).is_some() => {
                let to = crate::types::named(name).unwrap_or(Type::Text);
                let value = arguments.into_iter().next();
                let value = value.ok_or_else(|| Error::internal("a cast of nothing"))?;
                return self.coerce(value, &to.base(), Coercion::Explicit);
            }
            Err(why) => return Err(unresolved(name, &types, why)),
        };
        self.called(resolved, arguments)
    }

    fn called(&mut self, resolved: Resolved<Scalar>, mut arguments: Vec<Expr>) -> Result<Expr> {
        let function = &resolved.function;
        // Parameters that are left out have the values of their texts.
        let all = function.parameters.len();
        while arguments.len() < all && function.variadic.is_none() {
            let at = function.defaults.len() - (all - arguments.len());
            let text = Expr::text(function.defaults[at], Type::Unknown);
            let ty = function.parameters[arguments.len()].clone();
            let ty = if ty.is_pseudo() { Type::Text } else { ty };
            arguments.push(self.coerce(text, &ty, Coercion::Implicit)?);
        }
        let mut parameters = resolved.parameters.clone();
        for parameter in function.parameters.iter().skip(parameters.len()) {
            parameters.push(parameter.clone());
        }
        by_names(function, &mut parameters);
        let mut converted = Vec::with_capacity(arguments.len());
        for (argument, to) in arguments.into_iter().zip(&parameters) {
            let how = match argument.ty {
                Type::Reg(_) => Coercion::Explicit,
                _ => Coercion::Implicit,
            };
            converted.push(self.coerce(argument, to, how)?);
        }
        let call = Expr::call(Arc::clone(&resolved.function), converted, resolved.returns);
        Ok(self.folded(call))
    }

    /// A call with `name => value`.
    fn with_names(
        &mut self,
        name: &str,
        written: &Written<'_>,
        positional: Vec<Expr>,
    ) -> Result<Expr> {
        let mut named = Vec::new();
        for (parameter, value) in &written.named {
            named.push((parameter.clone(), self.bind_expr(value)?));
        }
        for function in catalogue().functions(name) {
            let required = function.parameters.len() - function.defaults.len();
            let mut arguments = positional.clone();
            let fits = |at: usize| function.names.get(at).copied();
            if named.iter().any(|(parameter, _)| {
                !function
                    .names
                    .iter()
                    .skip(positional.len())
                    .any(|known| known == parameter)
            }) {
                continue;
            }
            let mut complete = true;
            for at in positional.len()..function.parameters.len() {
                let given = named
                    .iter()
                    .find(|(parameter, _)| Some(parameter.as_str()) == fits(at));
                match given {
                    Some((_, value)) => arguments.push(value.clone()),
                    None if at >= required => {
                        let text = function.defaults[at - required];
                        let text = Expr::text(text, Type::Unknown);
                        let ty = function.parameters[at].clone();
                        arguments.push(self.coerce(text, &ty, Coercion::Implicit)?);
                    }
                    None => complete = false,
                }
            }
            let types: Vec<Type> = arguments
                .iter()
                .map(|argument| argument.ty.clone())
                .collect();
            if !complete {
                continue;
            }
            if let Ok(resolved) = resolve_function(std::slice::from_ref(function), &types) {
                return self.called(resolved, arguments);
            }
        }
        let mut types: Vec<Type> = positional
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        types.extend(named.iter().map(|(_, value)| value.ty.clone()));
        Err(unresolved(name, &types, Unresolved::None))
    }

    /// A function that gives rows, in a SELECT list.
    fn set_returning(
        &mut self,
        name: &str,
        overloads: &[Arc<TableFunction>],
        arguments: Vec<Expr>,
    ) -> Result<Expr> {
        let clause = self.scope()?.clause;
        if clause != Clause::List {
            return Err(Error::new(
                "0A000",
                format!(
                    "set-returning functions are not allowed in {}",
                    clause.name()
                ),
            ));
        }
        let call = self.table_call(name, overloads, arguments)?;
        let value = match call.columns.as_slice() {
            [only] => only.reference(),
            several => {
                let values = several.iter().map(crate::plan::Column::reference).collect();
                let fields = several.iter().map(|c| (c.name.clone(), c.ty.clone()));
                Expr::new(ExprKind::Row(values), Type::Record(fields.collect()))
            }
        };
        self.scope()?.sets.push(call);
        Ok(value)
    }

    /// A call of a function that gives rows.
    pub(super) fn table_call(
        &mut self,
        name: &str,
        overloads: &[Arc<TableFunction>],
        arguments: Vec<Expr>,
    ) -> Result<TableCall> {
        let types: Vec<Type> = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        let resolved = resolve_function(overloads, &types);
        let resolved = resolved.map_err(|why| unresolved(name, &types, why))?;
        let mut converted = Vec::with_capacity(arguments.len());
        for (argument, to) in arguments.into_iter().zip(&resolved.parameters) {
            converted.push(self.coerce(argument, to, Coercion::Implicit)?);
        }
        let mut columns = Vec::new();
        for (index, (column, returns)) in resolved.function.columns.iter().enumerate() {
            let ty = match (index, returns) {
                (0, _) => resolved.returns.clone(),
                (_, crate::functions::Returns::Type(ty)) => ty.clone(),
                (_, crate::functions::Returns::Of(of)) => of(&resolved.parameters),
            };
            let column = if column.is_empty() { name } else { column };
            columns.push(self.column(column, ty));
        }
        Ok(TableCall {
            function: resolved.function,
            arguments: converted,
            columns,
        })
    }

    fn grouping(&mut self, written: &Written<'_>) -> Result<Expr> {
        if written.positional.len() > 31 {
            return Err(Error::new(
                "54023",
                "GROUPING must have fewer than 32 arguments",
            ));
        }
        let before = std::mem::replace(&mut self.scope()?.clause, Clause::Aggregate);
        let arguments = self.positional(written);
        self.scope()?.clause = before;
        let arguments = arguments?;
        let column = self.column("grouping", Type::Int4);
        let reference = column.reference();
        self.scope()?.groupings.push((column, arguments));
        Ok(reference)
    }

    fn aggregate(
        &mut self,
        name: &str,
        written: &Written<'_>,
        filter: Option<&Ast>,
        within_group: &[OrderByExpr],
    ) -> Result<Expr> {
        let before = std::mem::replace(&mut self.scope()?.clause, Clause::Aggregate);
        let call = self.aggregate_call(name, written, filter, within_group);
        self.scope()?.clause = before;
        let call = call?;
        let level = self.level_of(&call)?;
        let scope = self
            .scopes
            .get_mut(level)
            .ok_or_else(|| Error::internal("no such scope"))?;
        if !matches!(
            scope.clause,
            Clause::List | Clause::Having | Clause::Qualify | Clause::Window
        ) {
            return Err(match scope.clause {
                Clause::Aggregate => {
                    Error::new("42803", "aggregate function calls cannot be nested")
                }
                clause => Error::new(
                    "42803",
                    format!("aggregate functions are not allowed in {}", clause.name()),
                ),
            });
        }
        let made: HashSet<ColumnId> = scope
            .aggregates
            .iter()
            .map(|(column, _)| column.id)
            .collect();
        if !made.is_empty() {
            let order = call.order.iter().map(|key| &key.expr);
            let mut all = call.arguments.iter().chain(&call.filter).chain(order);
            if all.any(|expr| expr.reads().iter().any(|id| made.contains(id))) {
                return Err(Error::new(
                    "42803",
                    "aggregate function calls cannot be nested",
                ));
            }
        }
        let same = |known: &AggregateCall| {
            Arc::ptr_eq(&known.function, &call.function)
                && known.arguments == call.arguments
                && known.direct == call.direct
                && known.distinct == call.distinct
                && known.filter == call.filter
                && known.order == call.order
                && !call.arguments.iter().any(Expr::is_volatile)
        };
        if let Some((column, _)) = scope.aggregates.iter().find(|(_, known)| same(known)) {
            return Ok(column.reference());
        }
        let column = self.column(name, call.returns.clone());
        let reference = column.reference();
        self.scopes[level].aggregates.push((column, call));
        Ok(reference)
    }

    fn aggregate_call(
        &mut self,
        name: &str,
        written: &Written<'_>,
        filter: Option<&Ast>,
        within_group: &[OrderByExpr],
    ) -> Result<AggregateCall> {
        if !written.named.is_empty() {
            return Err(Error::new(
                "42883",
                format!("function {name} does not take named arguments"),
            ));
        }
        let overloads = catalogue().aggregates(name);
        let plain = within_group.is_empty();
        let mut arguments = self.positional(written)?;
        if let Some(separator) = written.separator {
            arguments.push(self.literal(separator)?);
        }
        let mut order = Vec::new();
        for key in written.order.iter().copied().chain(within_group) {
            order.push(self.sort_key(key)?);
        }
        let fitting: Vec<Arc<Aggregate>> = overloads
            .iter()
            .filter(|function| (function.kind == Kind::Plain) == plain)
            .cloned()
            .collect();
        if fitting.is_empty() {
            return Err(match plain {
                true => Error::new(
                    "42809",
                    format!("WITHIN GROUP is required for ordered-set aggregate {name}"),
                ),
                false => Error::new(
                    "42809",
                    format!(
                        "{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
                    ),
                ),
            });
        }
        let mut direct = Vec::new();
        if !plain {
            if written.distinct || !written.order.is_empty() {
                return Err(Error::new(
                    "42601",
                    "cannot use DISTINCT or ORDER BY with WITHIN GROUP",
                ));
            }
            direct = std::mem::take(&mut arguments);
            arguments = order.iter().map(|key| key.expr.clone()).collect();
        }
        if written.star && !arguments.is_empty() {
            return Err(Error::new(
                "42601",
                "* stands alone as the argument of an aggregate",
            ));
        }
        let hypothetical = fitting
            .iter()
            .any(|function| function.kind == Kind::Hypothetical);
        let mut types: Vec<Type> = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        if !plain && !hypothetical {
            // Direct arguments decide, too.
            let direct_types: Vec<Type> =
                direct.iter().map(|argument| argument.ty.clone()).collect();
            let resolved = self.ordered_set(name, &fitting, &direct_types, &types)?;
            let (function, parameters, returns) = resolved;
            let wanted = function.direct.clone();
            let mut converted = Vec::new();
            for (value, to) in direct.into_iter().zip(wanted) {
                let to = if to.is_pseudo() { value.ty.clone() } else { to };
                converted.push(self.coerce(value, &to, Coercion::Implicit)?);
            }
            let mut ordered = Vec::new();
            for ((value, to), key) in arguments.into_iter().zip(parameters).zip(&mut order) {
                let value = self.coerce(value, &to, Coercion::Implicit)?;
                key.expr = value.clone();
                ordered.push(value);
            }
            return Ok(AggregateCall {
                function,
                direct: converted,
                arguments: ordered,
                distinct: false,
                filter: self.filter(filter)?,
                order,
                returns,
            });
        }
        if hypothetical && !plain {
            if direct.len() != arguments.len() {
                types.extend(direct.iter().map(|value| value.ty.clone()));
                return Err(unresolved(name, &types, Unresolved::None));
            }
            let function = Arc::clone(&fitting[0]);
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for ((a, b), key) in direct.into_iter().zip(arguments).zip(&mut order) {
                let mut pair = self.unified(vec![b, a], "WITHIN GROUP")?;
                let a = pair.pop().ok_or_else(|| Error::internal("no pair"))?;
                let b = pair.pop().ok_or_else(|| Error::internal("no pair"))?;
                key.expr = b.clone();
                first.push(a);
                second.push(b);
            }
            let returns = match function.returns() {
                crate::functions::Returns::Type(ty) => ty.clone(),
                crate::functions::Returns::Of(of) => of(&types),
            };
            return Ok(AggregateCall {
                function,
                direct: first,
                arguments: second,
                distinct: false,
                filter: self.filter(filter)?,
                order,
                returns,
            });
        }
        let resolved = resolve_function(&fitting, &types);
        let resolved = resolved.map_err(|why| match (why, written.star) {
            (Unresolved::None, false) if arguments.is_empty() && name == "count" => Error::new(
                "42809",
                format!("{name}(*) must be used to call a parameterless aggregate function"),
            ),
            _ => unresolved(name, &types, why),
        })?;
        let mut converted = Vec::with_capacity(arguments.len());
        for (argument, to) in arguments.into_iter().zip(&resolved.parameters) {
            converted.push(self.coerce(argument, to, Coercion::Implicit)?);
        }
        if written.distinct {
            if converted.is_empty() {
                return Err(Error::new("42601", "DISTINCT needs an argument"));
            }
            let listed = |key: &SortKey| converted.contains(&key.expr);
            if !order.iter().all(listed) {
                return Err(Error::new(
                    "42P10",
                    "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
                ));
            }
            for value in converted
                .iter()
                .filter(|value| !matches!(value.ty, Type::Enum(_)))
            {
                self.equality(&value.ty)
                    .map_err(|_| no_equality(&value.ty))?;
            }
        }
        Ok(AggregateCall {
            function: resolved.function,
            direct,
            arguments: converted,
            distinct: written.distinct,
            filter: self.filter(filter)?,
            order,
            returns: resolved.returns,
        })
    }

    /// The overload of an ordered-set aggregate, its ordered parameters' types and its result.
    fn ordered_set(
        &self,
        name: &str,
        overloads: &[Arc<Aggregate>],
        direct: &[Type],
        ordered: &[Type],
    ) -> Result<(Arc<Aggregate>, Vec<Type>, Type)> {
        // One overload, of all parameters, stands for each.
        struct Joint(Arc<Aggregate>, Vec<Type>);
        impl Overload for Joint {
            fn parameters(&self) -> &[Type] {
                &self.1
            }
            fn variadic(&self) -> Option<&Type> {
                None
            }
            fn optional(&self) -> usize {
                0
            }
            fn returns(&self) -> &crate::functions::Returns {
                &self.0.returns
            }
        }
        let joint: Vec<Arc<Joint>> = overloads
            .iter()
            .map(|function| {
                let all = function
                    .direct
                    .iter()
                    .chain(&function.parameters)
                    .cloned()
                    .collect();
                Arc::new(Joint(Arc::clone(function), all))
            })
            .collect();
        let types: Vec<Type> = direct.iter().chain(ordered).cloned().collect();
        let found =
            resolve_function(&joint, &types).map_err(|why| unresolved(name, &types, why))?;
        let parameters = found.parameters[direct.len()..].to_vec();
        Ok((Arc::clone(&found.function.0), parameters, found.returns))
    }

    fn filter(&mut self, filter: Option<&Ast>) -> Result<Option<Expr>> {
        filter
            .map(|filter| self.bind_condition(filter, "FILTER"))
            .transpose()
    }

    /// The scope whose rows an aggregate is over: that of the innermost column in it.
    fn level_of(&self, call: &AggregateCall) -> Result<usize> {
        let mut read = HashSet::new();
        let order = call.order.iter().map(|key| &key.expr);
        for expr in call.arguments.iter().chain(&call.filter).chain(order) {
            expr.read(&mut read);
        }
        let innermost = self.scopes.len().checked_sub(1);
        let innermost = innermost.ok_or_else(|| Error::internal("an aggregate without a scope"))?;
        if read.is_empty() {
            return Ok(innermost);
        }
        for level in (0..self.scopes.len()).rev() {
            if self.scope_has(level, &read) {
                return Ok(level);
            }
        }
        Ok(innermost)
    }

    fn scope_has(&self, level: usize, read: &HashSet<ColumnId>) -> bool {
        let scope = &self.scopes[level];
        let own = |column: &super::scope::ScopeColumn| {
            column.value.any(&mut |expr| match expr.kind {
                ExprKind::Column(id) => read.contains(&id),
                _ => false,
            })
        };
        let hidden = scope
            .names
            .relations
            .iter()
            .flat_map(|named| named.columns.iter().chain(&named.hidden));
        scope.names.columns.iter().chain(hidden).any(own)
            || scope
                .aggregates
                .iter()
                .any(|(column, _)| read.contains(&column.id))
    }

    /// A key of an order.
    pub(super) fn sort_key(&mut self, key: &OrderByExpr) -> Result<SortKey> {
        let OrderByExpr {
            expr,
            options,
            with_fill,
        } = key;
        refuse(with_fill.is_some(), "WITH FILL")?;
        let expr = self.bind_expr(expr)?;
        let expr = self.known_expr(expr)?;
        self.check_ordered(&expr.ty)?;
        let descending = options.asc == Some(false);
        Ok(SortKey {
            expr,
            descending,
            nulls_first: options.nulls_first.unwrap_or(descending),
        })
    }

    /// Whether values of a type have an order.
    ///
    /// # Errors
    /// `42883` if not.
    pub(super) fn check_ordered(&mut self, ty: &Type) -> Result<()> {
        if matches!(ty, Type::Array(_) | Type::Record(_) | Type::Enum(_)) {
            return Ok(());
        }
        let operand = Expr::null(ty.clone());
        self.operator("<", &[&operand, &operand])
            .map(|_| ())
            .map_err(|_| {
                Error::new(
                    "42883",
                    format!("could not identify an ordering operator for type {ty}"),
                )
                .with_hint("Use an explicit ordering operator or modify the query.")
            })
    }

    fn over(
        &mut self,
        name: &str,
        written: &Written<'_>,
        filter: Option<&Ast>,
        within_group: &[OrderByExpr],
        over: &sqlparser::ast::WindowType,
    ) -> Result<Expr> {
        let clause = self.scope()?.clause;
        if !matches!(clause, Clause::List | Clause::Qualify) {
            return Err(match clause {
                Clause::Aggregate => Error::new(
                    "42803",
                    "aggregate function calls cannot contain window function calls",
                ),
                Clause::Window => Error::new("42P20", "window function calls cannot be nested"),
                clause => Error::new(
                    "42P20",
                    format!("window functions are not allowed in {}", clause.name()),
                ),
            });
        }
        refuse(!within_group.is_empty(), "OVER of an ordered-set aggregate")?;
        let before = std::mem::replace(&mut self.scope()?.clause, Clause::Window);
        let call = self.window_call(name, written, filter, over);
        self.scope()?.clause = before;
        let call = call?;
        let column = self.column(name, call.returns.clone());
        let reference = column.reference();
        self.scope()?.windows.push((column, call));
        Ok(reference)
    }

    fn window_call(
        &mut self,
        name: &str,
        written: &Written<'_>,
        filter: Option<&Ast>,
        over: &sqlparser::ast::WindowType,
    ) -> Result<crate::plan::WindowCall> {
        use crate::plan::{WindowCall, WindowKind};
        let window = self.window(over)?;
        let windows = catalogue().windows(name);
        if !windows.is_empty() {
            refuse(written.distinct, "DISTINCT of a window function")?;
            refuse(
                !written.order.is_empty(),
                "ORDER BY among the arguments of a window function",
            )?;
            if filter.is_some() {
                return Err(Error::new(
                    "0A000",
                    "FILTER is not implemented for non-aggregate window functions",
                ));
            }
            let arguments = self.positional(written)?;
            let types: Vec<Type> = arguments
                .iter()
                .map(|argument| argument.ty.clone())
                .collect();
            let resolved = resolve_function(windows, &types);
            let resolved = resolved.map_err(|why| unresolved(name, &types, why))?;
            let mut converted = Vec::new();
            for (argument, to) in arguments.into_iter().zip(&resolved.parameters) {
                converted.push(self.coerce(argument, to, Coercion::Implicit)?);
            }
            if written.nulls.is_some() && !resolved.function.nulls {
                return Err(Error::new(
                    "42601",
                    format!("{name} takes no RESPECT/IGNORE NULLS"),
                ));
            }
            return Ok(WindowCall {
                kind: WindowKind::Function(resolved.function),
                arguments: converted,
                ignore_nulls: written.nulls == Some(NullTreatment::IgnoreNulls),
                distinct: false,
                filter: None,
                partition: window.partition,
                order: window.order,
                frame: window.frame,
                returns: resolved.returns,
            });
        }
        if catalogue().aggregates(name).is_empty() {
            let types: Vec<Type> = Vec::new();
            if catalogue().functions(name).is_empty() && catalogue().tables(name).is_empty() {
                return Err(unresolved(name, &types, Unresolved::None));
            }
            return Err(Error::new(
                "42809",
                format!(
                    "OVER specified, but {name} is not a window function nor an aggregate function"
                ),
            ));
        }
        if written.distinct {
            return Err(Error::new(
                "0A000",
                "DISTINCT is not implemented for window functions",
            ));
        }
        if !written.order.is_empty() {
            return Err(Error::new(
                "0A000",
                "aggregate ORDER BY is not implemented for window functions",
            ));
        }
        let call = self.aggregate_call(name, written, filter, &[])?;
        Ok(WindowCall {
            kind: WindowKind::Aggregate(call.function),
            arguments: call.arguments,
            ignore_nulls: written.nulls == Some(NullTreatment::IgnoreNulls),
            distinct: call.distinct,
            filter: call.filter,
            partition: window.partition,
            order: window.order,
            frame: window.frame,
            returns: call.returns,
        })
    }
}

impl<'a> Written<'a> {
    fn take(&mut self, list: &'a FunctionArgumentList) -> Result<()> {
        let FunctionArgumentList {
            duplicate_treatment,
            args,
            clauses,
        } = list;
        self.distinct = *duplicate_treatment == Some(DuplicateTreatment::Distinct);
        for argument in args {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => match expr {
                    Ast::QualifiedWildcard(name, _) => {
                        self.rows.push(parts(name)?.pop().unwrap_or_default());
                    }
                    expr => {
                        if !self.named.is_empty() {
                            return Err(Error::new(
                                "42601",
                                "positional argument cannot follow named argument",
                            ));
                        }
                        if self.variadic {
                            return Err(Error::new("42601", "syntax error at or near \",\""));
                        }
                        let inner = super::variadic::inner_of(expr)?;
                        self.variadic = inner.is_some();
                        self.positional.push(inner.unwrap_or(expr));
                    }
                },
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => self.star = true,
                FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name)) => {
                    self.rows.push(parts(name)?.pop().unwrap_or_default());
                }
                FunctionArg::Named {
                    name,
                    arg: FunctionArgExpr::Expr(expr),
                    operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
                } => self.named.push((fold(name), expr)),
                FunctionArg::ExprNamed {
                    name: Ast::Identifier(name),
                    arg: FunctionArgExpr::Expr(expr),
                    operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
                } => self.named.push((fold(name), expr)),
                other => {
                    return Err(Error::unsupported(format!(
                        "the argument {other} is not supported"
                    )));
                }
            }
        }
        for clause in clauses {
            match clause {
                FunctionArgumentClause::IgnoreOrRespectNulls(nulls) => self.nulls = Some(*nulls),
                FunctionArgumentClause::OrderBy(keys) => self.order.extend(keys),
                FunctionArgumentClause::Separator(value) => self.separator = Some(value),
                other => {
                    return Err(Error::unsupported(format!(
                        "{other} among the arguments of a function is not supported"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Where a function takes values of any type, objects are given by their names.
pub(super) fn by_names(function: &Scalar, parameters: &mut [Type]) {
    for (at, parameter) in parameters.iter_mut().enumerate() {
        let declared = function.parameters.get(at).or(function.variadic.as_ref());
        let any = matches!(
            declared,
            Some(Type::Any | Type::AnyNonArray | Type::AnyElement)
        );
        if any && matches!(parameter, Type::Reg(_)) {
            *parameter = Type::Text;
        }
    }
}

fn two(values: Vec<Expr>, name: &str) -> Result<[Expr; 2]> {
    let count = values.len();
    <[Expr; 2]>::try_from(values).map_err(|_| {
        Error::new(
            "42601",
            format!("{} takes two arguments, not {count}", name.to_uppercase()),
        )
    })
}

/// The error for an array of arrays.
pub(super) fn no_array_of(ty: Option<&Type>) -> Error {
    let ty = ty.unwrap_or(&Type::Unknown).in_message();
    let message = format!("could not find array type for data type {ty}");
    Error::new("42704", message)
}

/// The error for values that cannot be told apart.
pub(super) fn no_equality(ty: &Type) -> Error {
    Error::new(
        "42883",
        format!("could not identify an equality operator for type {ty}"),
    )
}

/// The name of a type without modifiers as `pg_typeof` gives it.
fn standard_name(ty: &Type) -> String {
    match ty {
        Type::Char(_) => "character".to_owned(),
        Type::Array(element) => format!("{}[]", standard_name(element.innermost())),
        ty => ty.to_string(),
    }
}

/// The error for literals that do not tell the type of a pseudo type.
pub(super) fn undetermined() -> Error {
    Error::new(
        "42804",
        "could not determine polymorphic type because input has type unknown",
    )
}

/// `42883` or `42725` for a call that no or no one overload takes.
pub(super) fn unresolved(name: &str, types: &[Type], why: Unresolved) -> Error {
    let shown: Vec<String> = types.iter().map(Type::in_message).collect();
    let call = format!("{name}({})", shown.join(", "));
    let why = match (why, name) {
        // PostgreSQL has overloads of types that are not here.
        (Unresolved::Undetermined, "unnest") => Unresolved::Ambiguous,
        (why, _) => why,
    };
    match why {
        Unresolved::NoArray => {
            no_array_of(types.iter().find(|ty| ty.category() == Category::Array))
        }
        Unresolved::Ambiguous => Error::new("42725", format!("function {call} is not unique"))
            .with_hint(
                "Could not choose a best candidate function. You might need to add explicit type \
                 casts.",
            ),
        Unresolved::Undetermined => undetermined(),
        Unresolved::None => {
            let all = catalogue();
            let known = !all.functions(name).is_empty()
                || !all.tables(name).is_empty()
                || !all.aggregates(name).is_empty()
                || !all.windows(name).is_empty();
            let hint = match known {
                true => Some(
                    "No function matches the given name and argument types. You might need to \
                     add explicit type casts."
                        .to_owned(),
                ),
                false => near("function", name, all.names()),
            };
            Error::new("42883", format!("function {call} does not exist")).with_hint_opt(hint)
        }
    }
}
