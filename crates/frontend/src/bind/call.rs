//! Calls of functions, and of what looks like one.

use std::collections::HashSet;
use std::sync::Arc;

use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr as Ast, Function, FunctionArg, FunctionArgExpr,
    FunctionArgOperator, FunctionArgumentClause, FunctionArgumentList, FunctionArguments,
    NullTreatment, ObjectName, OrderByExpr, WindowType,
};

use super::created::SqlAggregate;
use super::function::{Called, RowName, row_type};
use super::query::expression_reads_cte;
use super::scope::{Clause, near};
use super::window::check_frame;
use super::{Binder, Coercion, fold, name_place, parts, refuse};
use crate::error::{Error, Result};
use crate::functions::aggregates::{Aggregate, Kind};
use crate::functions::extremes::extreme;
use crate::functions::objects::{has_names, with_names};
use crate::functions::{
    Overload, Resolved, Scalar, TableFunction, Unresolved, catalogue, resolve_function,
    resolve_operator,
};
use crate::plan::{
    AggregateCall, Column, ColumnId, CteId, Expr, ExprKind, Plan, SortKey, Subquery, SubqueryKind,
    TableCall,
};
use crate::types::{Category, Reg, Type};

/// The arguments of a call as they are written.
#[derive(Default)]
struct Written<'a> {
    positional: Vec<&'a Ast>,
    named: Vec<(String, &'a Ast)>,
    /// `f(*)`.
    star: bool,
    /// `f(t.*)`, with the number of arguments before each.
    rows: Vec<(usize, String)>,
    distinct: bool,
    order: Vec<&'a OrderByExpr>,
    nulls: Option<NullTreatment>,
    separator: Option<&'a sqlparser::ast::ValueWithSpan>,
    /// Whether the last argument is VARIADIC.
    variadic: bool,
    /// Created aggregates of the name.
    own: Vec<Arc<SqlAggregate>>,
}

/// Most arguments of a function, as in PostgreSQL.
const ARGUMENTS: usize = 100;

fn nested() -> Error {
    Error::new("42803", "aggregate function calls cannot be nested")
}

/// The arguments of a function that gives rows, where some are told by their names.
///
/// # Errors
/// `42883` for other names, or too few arguments; `0A000` for functions whose names are not known.
pub(super) fn in_order(
    name: &str,
    positional: Vec<Expr>,
    named: Vec<(String, Expr)>,
) -> Result<Vec<Expr>> {
    if named.is_empty() {
        return Ok(positional);
    }
    let Some(known) = crate::functions::names_of_rows(name) else {
        let message = format!("named arguments of {name} are not supported");
        return Err(Error::unsupported(message));
    };
    let given = positional.len();
    let mut arguments: Vec<Option<Expr>> = positional.into_iter().map(Some).collect();
    arguments.resize(known.len().max(given), None);
    let types: Vec<Type> = arguments
        .iter()
        .flatten()
        .map(|one| one.ty.clone())
        .collect();
    let types = || {
        let named = named.iter().map(|(_, value)| value.ty.clone());
        types.iter().cloned().chain(named).collect::<Vec<Type>>()
    };
    for (parameter, value) in &named {
        let place = known.iter().position(|(known, _)| known == parameter);
        match place.filter(|place| *place >= given && arguments[*place].is_none()) {
            Some(place) => arguments[place] = Some(value.clone()),
            None => return Err(unresolved(name, &types(), Unresolved::None)),
        }
    }
    let mut all = Vec::with_capacity(arguments.len());
    for (argument, (_, default)) in arguments.into_iter().zip(known) {
        let default = default.map(|text| Expr::text(text, Type::Unknown));
        match argument.or(default) {
            Some(argument) => all.push(argument),
            None => return Err(unresolved(name, &types(), Unresolved::None)),
        }
    }
    Ok(all)
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
        let (path, last) = self.called_name(name)?;
        let in_catalogue = matches!(path.as_slice(), [] | [_] if path.iter().all(|schema| {
            matches!(
                schema.as_str(),
                "pg_catalog" | "public" | "main" | "information_schema"
            )
        }));
        let known_elsewhere = |path: &[String]| -> Result<bool> {
            match path {
                [.., schema] => {
                    let own = self.catalog.sql_functions(Some(schema), &last)?;
                    let aggregates = self.catalog.sql_aggregates(Some(schema), &last)?;
                    Ok(!own.is_empty() || !aggregates.is_empty())
                }
                [] => Ok(false),
            }
        };
        if !in_catalogue && !known_elsewhere(&path)? {
            return self.chained(call);
        }
        // The catalogue's functions are not in the schema of what is created.
        let elsewhere = path.first().is_some_and(|schema| schema == "public")
            && self.catalog.functions(&last).is_empty()
            && !known_elsewhere(&path)?;
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
        let schema = path.first().map(String::as_str);
        let full = |name: &str| match schema {
            Some(schema) => format!("{schema}.{name}"),
            None => name.to_owned(),
        };
        if elsewhere {
            let types = types_of(&self.positional(&written)?);
            return Err(unresolved(&full(&last), &types, Unresolved::None).at(place));
        }
        if !matches!(schema, Some("pg_catalog")) {
            written.own = self.catalog.sql_aggregates(schema, &last)?;
        }
        let bound = if let Some(over) = over {
            refuse(written.variadic, "VARIADIC of a window function")?;
            self.over(&last, &written, filter.as_deref(), within_group, over)
        } else if !catalogue().aggregates(&last).is_empty() || !written.own.is_empty() {
            refuse(written.variadic, "VARIADIC of an aggregate")?;
            refuse(
                written.nulls.is_some(),
                "RESPECT/IGNORE NULLS of an aggregate",
            )?;
            self.aggregate(&last, &written, filter.as_deref(), within_group)
        } else if !catalogue().windows(&last).is_empty() {
            self.without_over(&last, &written)
        } else {
            let what = match () {
                () if written.star => Some("(*)"),
                () if written.distinct => Some("DISTINCT"),
                () if !within_group.is_empty() => Some("WITHIN GROUP"),
                () if !written.order.is_empty() => Some("ORDER BY"),
                () if filter.is_some() => Some("FILTER"),
                () => None,
            };
            match what {
                None => self.plain(schema, &last, &written),
                Some(what) => Err(self.no_aggregate(&last, &written, within_group, what)),
            }
        };
        let bound = bound.and_then(|value| {
            match self.filled_domain(&last, written.positional.first())? {
                Some(domain) => self.of_domain(value, &domain),
                None => Ok(value),
            }
        });
        bound.map_err(|mut error| {
            let call = format!("function {last}(");
            if let (Some(_), Some(rest)) = (schema, error.message.strip_prefix(&call)) {
                error.message = format!("function {}({rest}", full(&last));
            }
            error.at(place)
        })
    }

    /// The schema and the name of a function; `mean` is another name of `avg`.
    #[inline(never)]
    fn called_name(&self, name: &ObjectName) -> Result<(Vec<String>, String)> {
        let mut path = parts(name)?;
        let mut last = path.pop().unwrap_or_default();
        if last == "mean" && path.is_empty() && self.catalog.sql_functions(None, &last)?.is_empty()
        {
            "avg".clone_into(&mut last);
        }
        Ok((path, last))
    }

    /// `a.upper()` of a column: a call with the column as its first argument.
    ///
    /// # Errors
    /// `42883` if it is no column.
    #[inline(never)]
    fn chained(&mut self, call: &Function) -> Result<Expr> {
        if let ([first, name], FunctionArguments::List(list)) = (call.name.0.as_slice(), &call.args)
            && let Some(column) = first.as_ident()
            && call.over.is_none()
            && self.named_column(column).is_ok()
        {
            let mut list = list.clone();
            let value = FunctionArgExpr::Expr(Ast::Identifier(column.clone()));
            list.args.insert(0, FunctionArg::Unnamed(value));
            let call = Function {
                name: ObjectName(vec![name.clone()]),
                args: FunctionArguments::List(list),
                ..call.clone()
            };
            return self.bind_call(&call);
        }
        let message = format!("function {} does not exist", super::dotted(&call.name));
        Err(Error::new("42883", message).at(name_place(&call.name)))
    }

    /// A call of a window function that has no OVER.
    fn without_over(&mut self, name: &str, written: &Written<'_>) -> Result<Expr> {
        let types = types_of(&self.positional(written)?);
        resolve_function(catalogue().windows(name), &types)
            .map_err(|why| unresolved(name, &types, why))?;
        Err(Error::new(
            "42809",
            format!("window function {name} requires an OVER clause"),
        ))
    }

    /// The error for a call with a part that only aggregates have.
    fn no_aggregate(
        &mut self,
        name: &str,
        written: &Written<'_>,
        within_group: &[OrderByExpr],
        what: &str,
    ) -> Error {
        let mut types = match self.positional(written) {
            Ok(arguments) => types_of(&arguments),
            Err(error) => return error,
        };
        for key in within_group {
            match self.bind_expr(&key.expr) {
                Ok(key) => types.push(key.ty),
                Err(error) => return error,
            }
        }
        let all = catalogue();
        let known = resolve_function(all.functions(name), &types).is_ok()
            || resolve_function(all.tables(name), &types).is_ok();
        if !known {
            return unresolved(name, &types, Unresolved::None);
        }
        let subject = match what {
            "(*)" => format!("{name}(*)"),
            other => other.to_owned(),
        };
        Error::new(
            "42809",
            format!("{subject} specified, but {name} is not an aggregate function"),
        )
    }

    /// Functions that give rows of what is stored; those of the language go before them.
    pub(super) fn stored_tables(&self, name: &str) -> Vec<Arc<TableFunction>> {
        let all = catalogue();
        match all.tables(name).is_empty() && all.functions(name).is_empty() {
            true => self.catalog.tables(name),
            false => Vec::new(),
        }
    }

    fn plain(&mut self, schema: Option<&str>, name: &str, written: &Written<'_>) -> Result<Expr> {
        if written.variadic {
            if matches!(
                name,
                "coalesce" | "greatest" | "least" | "nullif" | "row" | "grouping"
            ) {
                return Err(Error::new("42601", "syntax error at or near \"VARIADIC\""));
            }
            refuse(!written.named.is_empty(), "VARIADIC behind named arguments")?;
            let arguments = self.positional(written)?;
            let own = self.catalog.sql_functions(schema, name)?;
            let mut last = own.iter().filter_map(|one| one.parameters.last());
            if last.any(|last| last.variadic) {
                let called = self.sql_call(name, &own, arguments, Vec::new(), None, true)?;
                return self.value_of_call(called);
            }
            return self.variadic_call(name, arguments);
        }
        if crate::syntax::marks::WITH_LAMBDAS.contains(&name)
            && let Some(bound) = self.lambda_call(name, &written.positional)?
        {
            return Ok(bound);
        }
        if let Some(bound) = self.special_call(name, written)? {
            return Ok(bound);
        }
        let stored = self.stored_tables(name);
        let tables = match stored.is_empty() {
            true => catalogue().tables(name),
            false => stored.as_slice(),
        };
        let arguments = self.positional(written)?;
        let own = self.catalog.sql_functions(schema, name)?;
        if !own.is_empty() {
            let mut named = Vec::with_capacity(written.named.len());
            for (parameter, value) in &written.named {
                named.push((parameter.clone(), self.bind_expr(value)?));
            }
            let called = self.sql_call(name, &own, arguments, named, None, false)?;
            return self.value_of_call(called);
        }
        if !tables.is_empty() && catalogue().functions(name).is_empty() {
            let mut named = Vec::with_capacity(written.named.len());
            for (parameter, value) in &written.named {
                named.push((parameter.clone(), self.bind_expr(value)?));
            }
            let arguments = in_order(name, arguments, named)?;
            return self.set_returning(name, tables, arguments);
        }
        if !written.named.is_empty() {
            return self.with_names(name, written, arguments);
        }
        self.function(name, arguments)
    }

    /// Calls that are more than functions. They are apart, so that the frame of the recursion
    /// stays small.
    #[inline(never)]
    fn special_call(&mut self, name: &str, written: &Written<'_>) -> Result<Option<Expr>> {
        Ok(Some(match name {
            "coalesce" => {
                let values = self.positional(written)?;
                if values.is_empty() {
                    return Err(Error::new("42601", "syntax error at or near \")\""));
                }
                let mut values = self.unified(values, "COALESCE")?;
                let ty = values[0].ty.clone();
                match values.len() {
                    1 => values.swap_remove(0),
                    _ => Expr::new(ExprKind::Coalesce(values), ty),
                }
            }
            "nullif" => {
                let values = self.positional(written)?;
                let [left, right] = two(values, name)?;
                self.once(left, |binder, left| binder.nullif(left, right))?
            }
            "greatest" | "least" => self.extreme(name, written)?,
            "row" => self.row_call(written)?,
            "grouping" => self.grouping(written)?,
            "current_time" | "current_timestamp" | "localtime" | "localtimestamp"
                if !written.positional.is_empty() =>
            {
                self.now(name, written)?
            }
            "pg_collation_for" => match written.positional.as_slice() {
                [value] => self.collation_of(value)?,
                _ => return Ok(None),
            },
            "pg_typeof" => {
                let values = self.positional(written)?;
                match values.as_slice() {
                    [value] => {
                        let domain = self.domain_of_cast(written.positional.first())?;
                        let name = match domain {
                            Some(domain) => domain.shown(),
                            None => value.ty.standard_name(),
                        };
                        let literal = Expr::text(&name, Type::Unknown);
                        // Without a catalog, types have names only.
                        self.coerce(literal, &Type::Reg(Reg::Type), Coercion::Explicit)
                            .unwrap_or_else(|_| Expr::text(&name, Type::Text))
                    }
                    _ => return Ok(None),
                }
            }
            "ifnull" | "nvl" => {
                let values = self.positional(written)?;
                let pair = two(values, name)?;
                let values = self.unified(pair.to_vec(), &name.to_uppercase())?;
                let ty = values[0].ty.clone();
                Expr::new(ExprKind::Coalesce(values), ty)
            }
            // Functions of the user's own come first.
            _ if !is_friendly(name) || !self.catalog.sql_functions(None, name)?.is_empty() => {
                return Ok(None);
            }
            "struct_pack" => self.struct_pack(&written.positional, &written.named)?,
            "struct_insert" => self.struct_insert(&written.positional, &written.named)?,
            "struct_extract" => {
                let values = self.positional(written)?;
                let [record, field] = two(values, name)?;
                self.struct_extract(record, field)?
            }
            "list_aggregate" | "list_aggr" | "array_aggregate" | "array_aggr" => {
                self.list_aggregate(name, written)?
            }
            "if" => self.if_call(written)?,
            _ => return Ok(None),
        }))
    }

    /// `list_aggregate(l, 'sum')` is `list_sum(l)`.
    fn list_aggregate(&mut self, name: &str, written: &Written<'_>) -> Result<Expr> {
        let values = self.positional(written)?;
        if values.len() > 2 {
            return Err(Error::unsupported(format!(
                "{name} of an aggregate with further arguments is not supported"
            )));
        }
        let [list, aggregate] = two(values, name)?;
        let aggregate = self.constant_text(aggregate, "the name of an aggregate")?;
        let aggregate = aggregate.unwrap_or_default().to_lowercase();
        let function = format!("list_{aggregate}");
        let is_one = !catalogue().aggregates(&aggregate).is_empty();
        if !is_one || catalogue().functions(&function).is_empty() {
            return Err(Error::new(
                "42883",
                format!("{name} does not know the aggregate {aggregate}"),
            ));
        }
        self.function(&function, vec![list])
    }

    /// `if(condition, then, otherwise)`.
    fn if_call(&mut self, written: &Written<'_>) -> Result<Expr> {
        let values = self.positional(written)?;
        let [test, then, otherwise] = <[Expr; 3]>::try_from(values).map_err(|values| {
            let types = types_of(&values);
            unresolved("if", &types, Unresolved::None)
        })?;
        let test = self.condition(test, "IF")?;
        let values = self.unified(vec![then, otherwise], "IF")?;
        let [then, otherwise] = two(values, "if")?;
        let ty = then.ty.clone();
        let branches = vec![(test, then)];
        let otherwise = Some(Box::new(otherwise));
        Ok(Expr::new(
            ExprKind::Case {
                branches,
                otherwise,
            },
            ty,
        ))
    }

    /// A call of a function whose body is SQL among expressions.
    pub(super) fn value_of_call(&mut self, called: Called) -> Result<Expr> {
        match called {
            Called::Value(value) => Ok(value),
            Called::Rows(plan, row) => self.rows_in_list(plan, row),
            Called::Record(plan, row) => Ok(self.record_of(plan, row)),
        }
    }

    /// GREATEST and LEAST.
    fn extreme(&mut self, name: &str, written: &Written<'_>) -> Result<Expr> {
        let values = self.positional(written)?;
        if values.is_empty() {
            return Err(Error::new("42601", "syntax error at or near \")\""));
        }
        let values = self.unified(values, &name.to_uppercase())?;
        let ty = values[0].ty.clone();
        let greatest = name == "greatest";
        // Calls of one function are known to be equal.
        let key = (greatest, ty.clone(), values.len());
        let function = match self.made.get(&key) {
            Some(known) => Arc::clone(known),
            None => Arc::new(extreme(&ty, values.len(), greatest)?),
        };
        self.made.insert(key, Arc::clone(&function));
        Ok(self.folded(Expr::call(function, values, ty)))
    }

    /// ROW, whose fields may be those of relations.
    fn row_call(&mut self, written: &Written<'_>) -> Result<Expr> {
        let mut all = Vec::new();
        let mut rows = written.rows.iter().peekable();
        for at in 0..=written.positional.len() {
            while let Some((_, relation)) = rows.next_if(|(before, _)| *before == at) {
                let row = self.relation_row(relation);
                let row = row.ok_or_else(|| self.missing_from(relation, None))?;
                match row.kind {
                    ExprKind::Row(values) => all.extend(values),
                    _ => return Err(Error::internal("a relation's row is none")),
                }
            }
            if let Some(value) = written.positional.get(at) {
                self.row_field(value, &mut all)?;
            }
        }
        Ok(super::expr::record(all))
    }

    /// CURRENT_TIME and its kin with so many digits of a second.
    fn now(&mut self, name: &str, written: &Written<'_>) -> Result<Expr> {
        let arguments = self.positional(written)?;
        let digits = match arguments.as_slice() {
            [one] => one.literal_integer(),
            _ => None,
        };
        let digits = digits.and_then(|digits| u8::try_from(digits.min(6)).ok());
        let value = self.function(name, arguments)?;
        let to = match &value.ty {
            Type::TimeTz(_) => Type::TimeTz(digits),
            Type::TimestampTz(_) => Type::TimestampTz(digits),
            Type::Time(_) => Type::Time(digits),
            Type::Timestamp(_) => Type::Timestamp(digits),
            other => other.clone(),
        };
        self.coerce(value, &to, Coercion::Explicit)
    }

    /// The left value, or NULL if it equals the right one.
    fn nullif(&mut self, left: Expr, right: Expr) -> Result<Expr> {
        let right_type = right.ty.clone();
        let copied = self.copy(&left)?;
        let equal = self.binary("=", copied, right)?;
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
        // The digits are those of the left value.
        let null = self.with_digits_marked(Expr::null(ty.clone()));
        Ok(Expr::new(
            ExprKind::Case {
                branches: vec![(equal, null)],
                otherwise: Some(Box::new(left)),
            },
            ty,
        ))
    }

    fn positional(&mut self, written: &Written<'_>) -> Result<Vec<Expr>> {
        let mut bound = Vec::with_capacity(written.positional.len());
        for argument in &written.positional {
            bound.push(self.bind_expr(argument)?);
        }
        for (already, (at, relation)) in written.rows.iter().enumerate() {
            let row = self.relation_row(relation);
            let row = row.ok_or_else(|| self.missing_from(relation, None))?;
            bound.insert((at + already).min(bound.len()), row);
        }
        Ok(bound)
    }

    /// A call of a scalar function with arguments in order.
    pub(super) fn function(&mut self, name: &str, arguments: Vec<Expr>) -> Result<Expr> {
        if arguments.len() > ARGUMENTS {
            return Err(Error::new(
                "54023",
                format!("cannot pass more than {ARGUMENTS} arguments to a function"),
            ));
        }
        let types: Vec<Type> = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        let known = catalogue().functions(name);
        let stored;
        let overloads = match known.is_empty() || resolve_function(known, &types).is_err() {
            false => known,
            true => {
                stored = self.catalog.functions(name);
                match stored.is_empty() {
                    true => known,
                    false => stored.as_slice(),
                }
            }
        };
        // A field of a row may be written as a function of it.
        let field = match arguments.as_slice() {
            [row] => match &row.ty {
                Type::Record(fields) => fields.iter().position(|(field, _)| field == name),
                _ => None,
            },
            _ => None,
        };
        if let (Some(at), Some(Type::Record(fields))) = (field, types.first())
            && resolve_function(overloads, &types).is_err()
        {
            let ty = fields[at].1.clone();
            let row = arguments.into_iter().next();
            let row = row.ok_or_else(|| Error::internal("a field of nothing"))?;
            return Ok(match row.kind {
                ExprKind::Row(mut values) => values.swap_remove(at),
                _ => Expr::new(ExprKind::Field(Box::new(row), at), ty),
            });
        }
        // A literal in quotes is one of the type of that name.
        if let [literal] = arguments.as_slice()
            && literal.ty == Type::Unknown
            && let Some(to) = crate::types::named(name)
            && overloads.len() == known.len()
        {
            return self.coerce(literal.clone(), &to.base(), Coercion::Explicit);
        }
        let resolved = match resolve_function(overloads, &types) {
            Ok(resolved) => resolved,
            // A type's name as a function is a cast.
            Err(why) if arguments.len() == 1 && crate::types::named(name).is_some() => {
                let to = crate::types::named(name).unwrap_or(Type::Text);
                let value = arguments.into_iter().next();
                let value = value.ok_or_else(|| Error::internal("a cast of nothing"))?;
                let cast = self.coerce(value, &to.base(), Coercion::Explicit);
                return cast.map_err(|error| match error.sqlstate == "42846" {
                    true => unresolved(name, &types, why),
                    false => error,
                });
            }
            Err(why) => return Err(unresolved(name, &types, why)),
        };
        self.called(resolved, arguments)
    }

    pub(super) fn called(
        &mut self,
        resolved: Resolved<Scalar>,
        mut arguments: Vec<Expr>,
    ) -> Result<Expr> {
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
        let declared = function.parameters.iter();
        let declared = declared
            .map(Some)
            .chain(std::iter::repeat(function.variadic.as_ref()));
        for (parameter, declared) in parameters.iter_mut().zip(declared) {
            if is_made_of_texts(&resolved.returns) && declared.is_some_and(Type::is_pseudo) {
                *parameter = with_names(parameter);
            }
        }
        let mut converted = Vec::with_capacity(arguments.len());
        for (argument, to) in arguments.into_iter().zip(&parameters) {
            let how = match has_names(&argument.ty) {
                true => Coercion::Explicit,
                false => Coercion::Implicit,
            };
            converted.push(self.coerce(argument, to, how)?);
        }
        let makes_records = resolved.function.name.ends_with("_populate_record");
        let call = Expr::call(Arc::clone(&resolved.function), converted, resolved.returns);
        let call = self.folded(call);
        match makes_records {
            true => self.with_domains_of_fields(call),
            false => Ok(call),
        }
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
        if !matches!(clause, Clause::List | Clause::GroupBy | Clause::Window) {
            let message = match clause {
                Clause::Aggregate | Clause::WindowArgument => {
                    format!(
                        "{} cannot contain set-returning function calls",
                        clause.name()
                    )
                }
                Clause::From => {
                    "set-returning functions must appear at top level of FROM".to_owned()
                }
                Clause::Frame(_) => {
                    "set-returning functions are not allowed in window definitions".to_owned()
                }
                clause => format!(
                    "set-returning functions are not allowed in {}",
                    clause.name()
                ),
            };
            let error = Error::unsupported(message);
            return Err(match clause {
                Clause::Aggregate | Clause::WindowArgument => error.with_hint(
                    "You might be able to move the set-returning function into a LATERAL FROM \
                     item.",
                ),
                _ => error,
            });
        }
        let call = self.table_call(name, overloads, arguments)?;
        // Equal calls go side by side, as one does.
        let known = self.scope()?.sets.iter().find(|known| {
            Arc::ptr_eq(&known.function, &call.function)
                && known.arguments == call.arguments
                && !call.arguments.iter().any(Expr::is_volatile)
        });
        let call = match known {
            Some(known) => TableCall {
                columns: known.columns.clone(),
                ..call
            },
            None => {
                self.scope()?.sets.push(call.clone());
                call
            }
        };
        let value = match call.columns.as_slice() {
            [only] => only.reference(),
            several => {
                let values = several.iter().map(crate::plan::Column::reference).collect();
                let fields = several.iter().map(|c| (c.name.clone(), c.ty.clone()));
                Expr::new(ExprKind::Row(values), Type::Record(fields.collect()))
            }
        };
        Ok(value)
    }

    /// The rows of a function whose body is SQL, in a SELECT list.
    fn rows_in_list(&mut self, plan: Plan, row: Option<RowName>) -> Result<Expr> {
        let columns = plan.columns();
        let mut only_array = None;
        let (plan, ty) = match columns.as_slice() {
            // Arrays are taken apart as far as they go, records are not.
            [only] if row.is_none() && matches!(only.ty.base(), Type::Array(_)) => {
                only_array = Some(only.ty.clone());
                let fields = [(only.name.clone(), only.ty.clone())];
                let ty = Type::Record(fields.into_iter().collect());
                let row = Expr::new(ExprKind::Row(vec![only.reference()]), ty.clone());
                let column = self.column("row", ty.clone());
                let plan = Plan::Project {
                    input: Box::new(plan),
                    items: vec![(column, row)],
                };
                (plan, ty)
            }
            [only] if row.is_none() => (plan, only.ty.clone()),
            several => {
                let values: Vec<Expr> = several.iter().map(Column::reference).collect();
                let fields = several.iter().map(|c| (c.name.clone(), c.ty.clone()));
                let ty = row_type(fields.collect(), row);
                let row = Expr::new(ExprKind::Row(values), ty.clone());
                let column = self.column("row", ty.clone());
                let plan = Plan::Project {
                    input: Box::new(plan),
                    items: vec![(column, row)],
                };
                (plan, ty)
            }
        };
        self.subqueries += 1;
        let subquery = Subquery {
            kind: SubqueryKind::Array,
            plan,
            id: self.subqueries,
        };
        let array = Expr::new(ExprKind::Subquery(Box::new(subquery)), ty.array());
        let tables = catalogue().tables("unnest");
        let value = self.set_returning("unnest", tables, vec![array])?;
        Ok(match only_array {
            Some(ty) => Expr::new(ExprKind::Field(Box::new(value), 0), ty),
            None => value,
        })
    }

    /// A call of a function that gives rows.
    pub(super) fn table_call(
        &mut self,
        name: &str,
        overloads: &[Arc<TableFunction>],
        mut arguments: Vec<Expr>,
    ) -> Result<TableCall> {
        // Vectors are arrays to functions that do not know them.
        for argument in &mut arguments {
            let Some(item) = argument.ty.vector_item() else {
                continue;
            };
            if !overloads
                .iter()
                .any(|one| one.parameters.contains(&argument.ty))
            {
                let vector = std::mem::replace(argument, Expr::bool(false));
                *argument = self.coerce(vector, &item.array(), Coercion::Implicit)?;
            }
        }
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
        if written.positional.is_empty() || written.star || !written.named.is_empty() {
            return Err(Error::new("42601", "syntax error at or near \")\""));
        }
        let unused = self.unused.len();
        let arguments = self.in_aggregate(|binder| binder.positional(written))?;
        let level = self.level_of(arguments.iter(), unused)?;
        self.check_placed("grouping operations", level, arguments.iter())?;
        let column = self.column("grouping", Type::Int4);
        let reference = column.reference();
        self.scopes[level].groupings.push((column, arguments));
        Ok(reference)
    }

    /// Binds something as a part of another clause of the innermost query.
    pub(super) fn in_clause<T>(
        &mut self,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.scope()?.clause, clause);
        let bound = bind(self);
        self.scope()?.clause = before;
        bound
    }

    /// Binds the arguments of an aggregate of the innermost query.
    ///
    /// # Errors
    /// `42803` for an aggregate of the same query in them.
    fn in_aggregate<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let bound = self.in_clause(Clause::Aggregate, bind)?;
        match std::mem::take(&mut self.scope()?.nested) {
            true => Err(nested()),
            false => Ok(bound),
        }
    }

    /// Whether an aggregate or GROUPING over the rows of a query may stand where it does.
    ///
    /// # Errors
    /// `42803` if not.
    fn check_placed<'e>(
        &mut self,
        what: &str,
        level: usize,
        within: impl Iterator<Item = &'e Expr>,
    ) -> Result<()> {
        let scope = &mut self.scopes[level];
        match scope.clause {
            clause if clause.has_aggregates() => {}
            // Other faults in the aggregate around come first.
            Clause::Aggregate => scope.nested = true,
            clause => {
                return Err(Error::new(
                    "42803",
                    format!("{what} are not allowed in {}", clause.name()),
                ));
            }
        }
        let mut reads = HashSet::new();
        for expr in within {
            expr.read(&mut reads);
        }
        let is_read = |column: &Column| reads.contains(&column.id);
        let is_nested = !reads.is_empty()
            && (scope.aggregates.iter().any(|(column, _)| is_read(column))
                || scope.groupings.iter().any(|(column, _)| is_read(column)));
        match is_nested {
            true => Err(nested()),
            false => Ok(()),
        }
    }

    fn aggregate(
        &mut self,
        name: &str,
        written: &Written<'_>,
        filter: Option<&Ast>,
        within_group: &[OrderByExpr],
    ) -> Result<Expr> {
        let unused = self.unused.len();
        let call =
            self.in_aggregate(|binder| binder.aggregate_call(name, written, filter, within_group))?;
        let order = call.order.iter().map(|key| &key.expr);
        let parts = call.arguments.iter().chain(&call.filter).chain(order);
        let level = self.level_of(parts.clone(), unused)?;
        self.check_ctes(level, parts.clone())?;
        self.check_placed("aggregate functions", level, parts.chain(&call.direct))?;
        if !call.direct.is_empty() && self.level_of(call.direct.iter(), self.unused.len())? > level
        {
            let mut reads = HashSet::new();
            call.direct.iter().for_each(|expr| expr.read(&mut reads));
            if !reads.is_empty() {
                return Err(Error::new(
                    "42803",
                    "outer-level aggregate cannot contain a lower-level variable in its direct \
                     arguments",
                ));
            }
        }
        let scope = &self.scopes[level];
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

    /// Refuses an aggregate over the rows of an outer query that reads an expression of a query
    /// within it.
    fn check_ctes<'e>(
        &self,
        level: usize,
        mut parts: impl Iterator<Item = &'e Expr>,
    ) -> Result<()> {
        let nested = self.named.iter().filter(|cte| cte.depth > level);
        let nested: Vec<CteId> = nested.map(|cte| cte.id).collect();
        let is_nested = |id| nested.contains(&id);
        if nested.is_empty() || !parts.any(|part| expression_reads_cte(part, &is_nested)) {
            return Ok(());
        }
        Err(Error::unsupported(
            "outer-level aggregate cannot use a nested CTE",
        ))
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
        for key in within_group {
            // The type of a literal is the function's choice.
            let expr = self.bind_expr(&key.expr)?;
            order.push(self.sort_key_of(key, expr)?);
        }
        // Errors of FILTER come before those of the function and of ORDER BY.
        let filter = self.filter(filter)?;
        for key in written.order.iter().copied() {
            order.push(self.sort_key(key)?);
        }
        if !plain && (written.distinct || !written.order.is_empty()) {
            let message = match written.distinct {
                true => "cannot use DISTINCT with WITHIN GROUP",
                false => "cannot use multiple ORDER BY clauses with WITHIN GROUP",
            };
            return Err(Error::new("42601", message));
        }
        let fitting: Vec<Arc<Aggregate>> = overloads
            .iter()
            .filter(|function| (function.kind == Kind::Plain) == plain)
            .cloned()
            .collect();
        if !plain && !written.own.is_empty() && overloads.is_empty() {
            return Err(Error::new(
                "42809",
                format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"),
            ));
        }
        if fitting.is_empty() && written.own.is_empty() {
            let ordered = order.iter().map(|key| &key.expr).filter(|_| !plain);
            let types = types_of(arguments.iter().chain(ordered));
            return Err(self.other_kind(name, &types, plain));
        }
        let mut direct = Vec::new();
        if !plain {
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
                filter,
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
                filter,
                order,
                returns,
            });
        }
        let own = self.own_aggregate(name, written, &types)?;
        // Values without an order have no least and no greatest.
        if own.is_none()
            && let ("min" | "max", [one]) = (name, arguments.as_slice())
            && self.check_ordered(&one.ty).is_err()
        {
            return Err(unresolved(name, &types, Unresolved::None));
        }
        let resolved = match own {
            Some(own) => Ok(own),
            None => resolve_function(&fitting, &types),
        };
        let resolved = resolved.map_err(|why| match (why, written.star) {
            (Unresolved::None, false) if arguments.is_empty() && name == "count" => Error::new(
                "42809",
                format!("{name}(*) must be used to call a parameterless aggregate function"),
            ),
            _ => unresolved(name, &types, why),
        })?;
        // A key of DISTINCT is an argument as it was written, without the cast to the parameter.
        let mut written_arguments = Vec::new();
        if written.distinct && !order.is_empty() {
            written_arguments.clone_from(&arguments);
        }
        let mut converted = Vec::with_capacity(arguments.len());
        for (argument, to) in arguments.into_iter().zip(&resolved.parameters) {
            converted.push(match is_made_of_texts(&resolved.returns) && has_names(to) {
                true => self.coerce(argument, &with_names(to), Coercion::Explicit)?,
                false => self.coerce(argument, to, Coercion::Implicit)?,
            });
        }
        if written.distinct {
            if converted.is_empty() {
                return Err(Error::new("42601", "DISTINCT needs an argument"));
            }
            for key in &mut order {
                let listed = written_arguments.iter().zip(&converted);
                let mut listed = listed.filter(|(argument, _)| **argument == key.expr);
                let Some((_, argument)) = listed.next() else {
                    return Err(Error::new(
                        "42P10",
                        "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
                    ));
                };
                key.expr.clone_from(argument);
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
            filter,
            order,
            returns: resolved.returns,
        })
    }

    /// The created aggregate that a call means; `None` if it means another.
    fn own_aggregate(
        &mut self,
        name: &str,
        written: &Written<'_>,
        types: &[Type],
    ) -> Result<Option<Resolved<Aggregate>>> {
        if written.own.is_empty() {
            return Ok(None);
        }
        let found = match resolve_function(&written.own, types) {
            Ok(found) => found,
            Err(_) if !catalogue().aggregates(name).is_empty() => return Ok(None),
            Err(why) => return Err(unresolved(name, types, why)),
        };
        if types.is_empty() && !written.star {
            let message =
                format!("{name}(*) must be used to call a parameterless aggregate function");
            return Err(Error::new("42809", message));
        }
        let given = found.parameters.iter().zip(types);
        let parameters: Vec<Type> = given
            .map(|(to, ty)| match (to.is_pseudo(), ty) {
                (false, _) => to.clone(),
                (true, Type::Unknown) => Type::Text,
                (true, ty) => ty.clone(),
            })
            .collect();
        let (function, returns) =
            self.compiled_aggregate(&found.function, &parameters, &found.returns)?;
        Ok(Some(Resolved {
            function,
            parameters,
            returns,
        }))
    }

    /// The error for an ordered-set aggregate without WITHIN GROUP, or another with it.
    fn other_kind(&self, name: &str, types: &[Type], plain: bool) -> Error {
        let all = catalogue();
        if plain && resolve_function(all.windows(name), types).is_ok() {
            return Error::new(
                "42809",
                format!("window function {name} requires an OVER clause"),
            );
        }
        let overloads = all.aggregates(name);
        let known = overloads.iter().any(|function| match function.kind {
            Kind::Plain => resolve_function(std::slice::from_ref(function), types).is_ok(),
            Kind::OrderedSet => {
                let direct = function.direct.len().min(types.len());
                let one = std::slice::from_ref(function);
                self.ordered_set(name, one, &types[..direct], &types[direct..])
                    .is_ok()
            }
            Kind::Hypothetical => !types.is_empty(),
        });
        if !known {
            return unresolved(name, types, Unresolved::None);
        }
        Error::new(
            "42809",
            match plain {
                true => format!("WITHIN GROUP is required for ordered-set aggregate {name}"),
                false => {
                    format!(
                        "{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
                    )
                }
            },
        )
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
        let found = resolve_function(&joint, &types).map_err(|why| match why {
            Unresolved::NoArray => unresolved(name, ordered, why),
            why => unresolved(name, &types, why),
        })?;
        let parameters = found.parameters[direct.len()..].to_vec();
        Ok((Arc::clone(&found.function.0), parameters, found.returns))
    }

    fn filter(&mut self, filter: Option<&Ast>) -> Result<Option<Expr>> {
        let Some(filter) = filter else {
            return Ok(None);
        };
        let bound = self.in_clause(Clause::Filter, |binder| {
            binder.bind_condition(filter, "FILTER")
        });
        bound.map(Some)
    }

    /// The scope whose rows an aggregate is over: that of the innermost column in it. Columns
    /// that its sub-queries name and do not need count, too: `unused` of them were there before.
    fn level_of<'e>(&self, parts: impl Iterator<Item = &'e Expr>, unused: usize) -> Result<usize> {
        let mut read: HashSet<ColumnId> = self.unused.iter().skip(unused).copied().collect();
        for expr in parts {
            expr.read(&mut read);
        }
        let innermost = self.scopes.len().checked_sub(1);
        let innermost = innermost.ok_or_else(|| Error::internal("an aggregate without a scope"))?;
        if read.is_empty() {
            return Ok(innermost);
        }
        for level in (0..self.scopes.len()).rev() {
            if !self.scopes[level].parameters && self.scope_has(level, &read) {
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
            || !made_by_groups(scope).is_disjoint(read)
    }

    /// A key of an order.
    pub(super) fn sort_key(&mut self, key: &OrderByExpr) -> Result<SortKey> {
        let expr = self.bind_expr(&key.expr)?;
        let expr = self.known_expr(expr)?;
        self.sort_key_of(key, expr)
    }

    /// A key with its expression bound.
    fn sort_key_of(&mut self, key: &OrderByExpr, expr: Expr) -> Result<SortKey> {
        let OrderByExpr {
            expr: _,
            options,
            with_fill,
        } = key;
        refuse(with_fill.is_some(), "WITH FILL")?;
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
        over: &WindowType,
    ) -> Result<Expr> {
        let clause = self.scope()?.clause;
        if !matches!(clause, Clause::List | Clause::Qualify) {
            // Whatever is wrong with the arguments comes first.
            self.positional(written)?;
            return Err(match clause {
                Clause::Aggregate => Error::new(
                    "42803",
                    "aggregate function calls cannot contain window function calls",
                ),
                Clause::WindowArgument => {
                    Error::new("42P20", "window function calls cannot be nested")
                }
                Clause::Frame(_) => Error::new(
                    "42P20",
                    "window functions are not allowed in window definitions",
                ),
                clause => Error::new(
                    "42P20",
                    format!("window functions are not allowed in {}", clause.name()),
                ),
            });
        }
        let call = self.in_clause(Clause::WindowArgument, |binder| {
            binder.window_call(name, written, filter, within_group, over)
        })?;
        // Equal calls are computed once.
        let known = self.scope()?.windows.iter();
        if let Some((column, _)) = known.clone().find(|(_, known)| known.is_same(&call)) {
            return Ok(column.reference());
        }
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
        within_group: &[OrderByExpr],
        over: &WindowType,
    ) -> Result<crate::plan::WindowCall> {
        use crate::plan::{WindowCall, WindowKind};
        if let WindowType::WindowSpec(spec) = over {
            check_frame(spec)?;
        }
        if !within_group.is_empty() {
            let call = self.aggregate_call(name, written, filter, within_group)?;
            return Err(Error::unsupported(format!(
                "OVER is not supported for ordered-set aggregate {}",
                call.function.name
            )));
        }
        let windows = catalogue().windows(name);
        let aggregates = catalogue().aggregates(name);
        let resolved = match windows.is_empty() {
            true => None,
            false => {
                let types = types_of(&self.positional(written)?);
                match resolve_function(windows, &types) {
                    Ok(_) => Some(()),
                    // An aggregate may have the name, too.
                    Err(_) if !aggregates.is_empty() || !written.own.is_empty() => None,
                    Err(why) => return Err(unresolved(name, &types, why)),
                }
            }
        };
        if resolved.is_some() {
            if written.distinct {
                return Err(Error::unsupported(
                    "DISTINCT is not implemented for window functions",
                ));
            }
            if !written.order.is_empty() {
                return Err(Error::unsupported(
                    "aggregate ORDER BY is not implemented for window functions",
                ));
            }
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
            let window = self.window(over)?;
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
        if aggregates.is_empty() && written.own.is_empty() {
            let types = types_of(&self.positional(written)?);
            let all = catalogue();
            if resolve_function(all.functions(name), &types).is_err()
                && resolve_function(all.tables(name), &types).is_err()
            {
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
        let window = self.window(over)?;
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
                    // The grammar reads `name := value` as an operator.
                    Ast::BinaryOp {
                        left,
                        op: BinaryOperator::Assignment,
                        right,
                    } if matches!(left.as_ref(), Ast::Identifier(_)) => {
                        if let Ast::Identifier(name) = left.as_ref() {
                            self.named.push((fold(name), right));
                        }
                    }
                    Ast::QualifiedWildcard(name, _) => {
                        let relation = parts(name)?.pop().unwrap_or_default();
                        self.rows.push((self.positional.len(), relation));
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
                    let relation = parts(name)?.pop().unwrap_or_default();
                    self.rows.push((self.positional.len(), relation));
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
                _ => {
                    return Err(Error::unsupported(
                        "this form of an argument is not supported",
                    ));
                }
            }
        }
        for clause in clauses {
            match clause {
                FunctionArgumentClause::IgnoreOrRespectNulls(nulls) => self.nulls = Some(*nulls),
                FunctionArgumentClause::OrderBy(keys) => self.order.extend(keys),
                FunctionArgumentClause::Separator(value) => self.separator = Some(value),
                _ => {
                    return Err(Error::unsupported(
                        "this clause among the arguments of a function is not supported",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Whether a result has the texts of values in it: objects in them are given by their names.
fn is_made_of_texts(returns: &Type) -> bool {
    matches!(returns, Type::Text | Type::Json | Type::Jsonb)
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

/// Whether a call of this name is one of DuckDB that is more than a function.
fn is_friendly(name: &str) -> bool {
    matches!(
        name,
        "struct_pack"
            | "struct_insert"
            | "struct_extract"
            | "list_aggregate"
            | "list_aggr"
            | "array_aggregate"
            | "array_aggr"
            | "if"
    )
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
    let ty = ty.unwrap_or(&Type::Unknown).standard_name();
    let message = format!("could not find array type for data type {ty}");
    Error::new("42704", message)
}

/// The types of some expressions.
fn types_of<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Type> {
    exprs.into_iter().map(|expr| expr.ty.clone()).collect()
}

/// The columns that stand for aggregates and GROUPING of a query.
pub(super) fn made_by_groups(scope: &super::scope::Scope) -> HashSet<ColumnId> {
    let aggregates = scope.aggregates.iter().map(|(column, _)| column.id);
    aggregates
        .chain(scope.groupings.iter().map(|(column, _)| column.id))
        .collect()
}

/// The error for values that cannot be told apart.
pub(super) fn no_equality(ty: &Type) -> Error {
    Error::new(
        "42883",
        format!("could not identify an equality operator for type {ty}"),
    )
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
    let shown: Vec<String> = types.iter().map(Type::standard_name).collect();
    let name = match name {
        "extract" => "pg_catalog.extract",
        other => other,
    };
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
