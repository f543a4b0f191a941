//! Functions whose body is SQL, and macros: a call is the body with its arguments.
//!
//! ```text
//! CREATE FUNCTION twice(a int) RETURNS int LANGUAGE sql AS 'SELECT $1 + a'
//!
//! twice(x)              →  x + x
//! twice(random_int())   →  (SELECT p + p FROM (SELECT random_int() AS p))
//! ```
//!
//! An argument is computed once. It stands in the place of its parameter where nothing can tell
//! the difference and nothing is computed twice; else it is a column of one row, which the body
//! reads. The body sees nothing of the query around the call.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use sqlparser::ast::{Expr as Ast, Query};

use super::call::unresolved;
use super::from::takes_no_columns;
use super::scope::{Clause, Named, Namespace, Scope, ScopeColumn};
use super::{Binder, Coercion};
use crate::error::{Error, Result};
use crate::functions::{
    Overload, Resolved, Returns, Scalar, Unresolved, Volatility, catalogue, resolve_function,
};
use crate::plan::{Column, ColumnId, Expr, ExprKind, JoinKind, Plan, Subquery, SubqueryKind};
use crate::rewrite::facts::{is_volatile, plan_may_fail};
use crate::types::{Fields, Type};

/// Functions inside functions, at most.
const DEPTH: usize = 64;

/// Calls in one statement, those in bodies among them, at most.
const CALLS: usize = 20_000;

/// A function whose body is SQL.
#[derive(Debug)]
pub struct SqlFunction {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<SqlParameter>,
    /// Its result: a value, or rows with their columns.
    pub returns: SqlReturns,
    /// Queries that its body has before the last one. They change nothing and nobody sees their
    /// rows, so that only their meaning is checked.
    pub before: Vec<Query>,
    /// Its body.
    pub body: SqlBody,
    /// The name of the type that its rows are declared with, and its number in the catalog, if it has
    /// one.
    pub row: Option<RowName>,
    /// Whether it gives one row, where it gives rows: NULLs if its body has none.
    pub single: bool,
    /// Whether it is NULL, or has no rows, if one of its arguments is NULL.
    pub strict: bool,
    /// How often it may give another result for the same arguments.
    pub volatility: Volatility,
}

/// The name of a type of rows and its number in the catalog, or 0.
pub type RowName = (String, i64);

/// A parameter of a [`SqlFunction`].
#[derive(Debug)]
pub struct SqlParameter {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its type; a macro's is that of the argument.
    pub ty: Option<Type>,
    /// Its value where it is left out.
    pub default: Option<Ast>,
    /// Whether it stands for any number of arguments, which it has as an array.
    pub variadic: bool,
}

/// The result of a [`SqlFunction`].
#[derive(Debug)]
pub enum SqlReturns {
    /// A value of a type.
    Value(Type),
    /// Rows; columns without a name have that of the function.
    Rows(Vec<(String, Type)>),
    /// Rows of columns that each call names.
    Records,
    /// The value of a macro.
    Any,
    /// The rows of a macro.
    AnyRows,
}

/// The body of a [`SqlFunction`].
#[derive(Debug)]
pub enum SqlBody {
    /// An expression.
    Expr(Box<Ast>),
    /// A query, of which a value is that of the first row.
    Query(Box<Query>),
}

impl SqlFunction {
    /// Whether it gives rows.
    pub fn gives_rows(&self) -> bool {
        matches!(
            self.returns,
            SqlReturns::Rows(_) | SqlReturns::Records | SqlReturns::AnyRows
        )
    }
}

/// A function that a call may mean.
enum Callable {
    Known(Arc<Scalar>),
    Sql {
        function: Arc<SqlFunction>,
        /// Types of the parameters that the call gives arguments for, in its order.
        parameters: Vec<Type>,
        /// Their places. Further arguments are elements of the last parameter.
        places: Vec<usize>,
        /// Whether the last parameter is given its elements.
        gathers: bool,
        returns: Returns,
    },
}

impl Overload for Callable {
    fn parameters(&self) -> &[Type] {
        match self {
            Callable::Known(function) => &function.parameters,
            Callable::Sql { parameters, .. } => parameters,
        }
    }
    fn variadic(&self) -> Option<&Type> {
        match self {
            Callable::Known(function) => function.variadic.as_ref(),
            Callable::Sql { .. } => None,
        }
    }
    fn optional(&self) -> usize {
        match self {
            Callable::Known(function) => function.defaults.len(),
            Callable::Sql { .. } => 0,
        }
    }
    fn returns(&self) -> &Returns {
        match self {
            Callable::Known(function) => &function.returns,
            Callable::Sql { returns, .. } => returns,
        }
    }
}

/// A call of a function, bound: a value or rows.
pub(super) enum Called {
    /// A value.
    Value(Expr),
    /// Rows, and their type if they are declared to have one.
    Rows(Plan, Option<RowName>),
    /// One row of several columns, or none for one of NULLs, and its type.
    Record(Plan, Option<RowName>),
}

/// The type of rows of some fields.
pub(super) fn row_type(fields: Fields, row: Option<RowName>) -> Type {
    Type::Record(match row {
        Some((name, number)) => fields.with_name(&name, number),
        None => fields,
    })
}

/// A function with the arguments of a call.
struct Frame {
    /// Values of the parameters: arguments, or columns that stand for them.
    values: Vec<Expr>,
    /// Columns and the arguments that they stand for.
    columns: Vec<(Column, Expr)>,
}

impl Callable {
    /// A function as a call with some positional and named arguments takes it; `None` if it
    /// does not.
    fn of(
        function: &Arc<SqlFunction>,
        positional: usize,
        named: &[String],
        is_spread: bool,
    ) -> Option<Self> {
        let all = &function.parameters;
        let is_variadic = all.last().is_some_and(|last| last.variadic);
        let gathers = is_variadic && !is_spread && named.is_empty() && positional >= all.len();
        // The value behind VARIADIC is that of the parameter.
        let fits = match is_spread {
            true => is_variadic && positional == all.len(),
            false => {
                gathers || positional <= all.len() && !(is_variadic && positional == all.len())
            }
        };
        if !fits {
            return None;
        }
        let mut places: Vec<usize> = (0..positional.min(all.len())).collect();
        for name in named {
            let mut places_of = all.iter().enumerate().skip(positional);
            let found = places_of.find(|(_, one)| one.name.as_deref() == Some(name.as_str()));
            let (place, _) = found?;
            if places.contains(&place) {
                return None;
            }
            places.push(place);
        }
        let missing = all
            .iter()
            .enumerate()
            .any(|(place, parameter)| parameter.default.is_none() && !places.contains(&place));
        if missing {
            return None;
        }
        let parameters = places.iter().map(|place| {
            let ty = all.get(*place).and_then(|parameter| parameter.ty.as_ref());
            ty.map_or(Type::Any, Type::base)
        });
        let mut parameters: Vec<Type> = parameters.collect();
        if gathers {
            let element = match parameters.pop() {
                Some(Type::Array(element)) => *element,
                Some(Type::AnyArray) => Type::AnyElement,
                Some(Type::AnyCompatibleArray) => Type::AnyCompatible,
                _ => return None,
            };
            parameters.resize(positional, element);
        }
        let returns = match &function.returns {
            SqlReturns::Value(ty) => ty.clone(),
            SqlReturns::Rows(columns) => match columns.first() {
                Some((_, ty)) => ty.clone(),
                None => Type::Void,
            },
            SqlReturns::Records | SqlReturns::Any | SqlReturns::AnyRows => Type::Void,
        };
        Some(Callable::Sql {
            function: Arc::clone(function),
            parameters,
            places,
            gathers,
            returns: returns.into(),
        })
    }
}

impl Binder<'_> {
    /// Whether the body of a function is right, whatever its arguments are. What depends on
    /// their types is told by calls.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn check_function(mut self, function: &SqlFunction) -> Result<()> {
        let mut given = Vec::with_capacity(function.parameters.len());
        for parameter in &function.parameters {
            let Some(ty) = parameter.ty.as_ref().filter(|ty| !ty.is_pseudo()) else {
                return Ok(());
            };
            if let Some(default) = &parameter.default {
                let value = self.alone(|binder| binder.bind_expr(default))?;
                self.coerce(value, ty, Coercion::Assignment)?;
            }
            let name = parameter.name.clone().unwrap_or_default();
            given.push(Some(self.column(name, ty.clone()).reference()));
        }
        let returns = match &function.returns {
            SqlReturns::Value(ty) => ty.clone(),
            _ => Type::Void,
        };
        self.sql_called(function, given, returns, None).map(|_| ())
    }

    /// A call of a function whose body is SQL, or of another of its name; the last argument may
    /// stand behind VARIADIC.
    pub(super) fn sql_call(
        &mut self,
        name: &str,
        functions: &[Arc<SqlFunction>],
        positional: Vec<Expr>,
        named: Vec<(String, Expr)>,
        defined: Option<&[(String, Type)]>,
        is_spread: bool,
    ) -> Result<Called> {
        let names: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
        let mut overloads = Vec::new();
        if names.is_empty() && !is_spread {
            let known = catalogue().functions(name).iter();
            overloads.extend(known.map(|one| Arc::new(Callable::Known(Arc::clone(one)))));
        }
        let own = functions
            .iter()
            .filter_map(|one| Callable::of(one, positional.len(), &names, is_spread));
        overloads.extend(own.map(Arc::new));
        let mut arguments = positional;
        arguments.extend(named.into_iter().map(|(_, value)| value));
        let types: Vec<Type> = arguments.iter().map(|value| value.ty.clone()).collect();
        let resolved = resolve_function(&overloads, &types).map_err(|why| {
            let error = unresolved(name, &types, why);
            match why {
                Unresolved::None => error.with_hint(
                    "No function matches the given name and argument types. You might need to \
                     add explicit type casts.",
                ),
                _ => error,
            }
        })?;
        let Resolved {
            function,
            parameters,
            returns,
        } = resolved;
        match function.as_ref() {
            Callable::Known(known) => {
                let resolved = Resolved {
                    function: Arc::clone(known),
                    parameters,
                    returns,
                };
                Ok(Called::Value(self.called(resolved, arguments)?))
            }
            Callable::Sql {
                function,
                places,
                gathers,
                ..
            } => {
                let (mut arguments, mut parameters) = (arguments, parameters);
                let mut returns = returns;
                if *gathers {
                    // The digits of the first value are not those of the others.
                    returns = returns.base();
                    let before = places.len().saturating_sub(1);
                    let element = parameters.get(before).map_or(Type::Text, Type::base);
                    let elements = arguments.split_off(before).into_iter();
                    let elements =
                        elements.map(|one| self.coerce(one, &element, Coercion::Implicit));
                    let elements = elements.collect::<Result<Vec<_>>>()?;
                    let array = element.array();
                    parameters.truncate(before);
                    parameters.push(array.clone());
                    arguments.push(Expr::new(ExprKind::Array(elements), array));
                }
                let mut given: Vec<Option<Expr>> = Vec::new();
                given.resize_with(function.parameters.len(), || None);
                for ((argument, to), place) in arguments.into_iter().zip(&parameters).zip(places) {
                    let declared = function.parameters.get(*place);
                    let declared = declared.and_then(|parameter| parameter.ty.as_ref());
                    let value = match declared {
                        // An argument of a macro stays as it is written.
                        None => argument,
                        Some(ty) if ty.is_pseudo() => {
                            self.coerce(argument, to, Coercion::Implicit)?
                        }
                        Some(ty) => self.coerce(argument, &ty.base(), Coercion::Implicit)?,
                    };
                    if let Some(place) = given.get_mut(*place) {
                        *place = Some(value);
                    }
                }
                let open = matches!(function.returns, SqlReturns::Records);
                if defined.is_some() && !open {
                    return Err(takes_no_columns());
                }
                self.sql_called(function, given, returns, defined)
            }
        }
    }

    /// Whether the function is strict that a call with some types means, and its parameters.
    ///
    /// # Errors
    /// `42883` and `42725` if there is none, or are several.
    pub(super) fn told_of(
        &self,
        name: &str,
        functions: &[Arc<SqlFunction>],
        types: &[Type],
    ) -> Result<(bool, Vec<Type>)> {
        let known = catalogue().functions(name).iter();
        let own = functions
            .iter()
            .filter_map(|one| Callable::of(one, types.len(), &[], false));
        let mut overloads: Vec<Arc<Callable>> = own.map(Arc::new).collect();
        if overloads.is_empty() {
            overloads.extend(known.map(|one| Arc::new(Callable::Known(Arc::clone(one)))));
        }
        let found = resolve_function(&overloads, types);
        let found = found.map_err(|why| unresolved(name, types, why))?;
        let (strict, declared) = match found.function.as_ref() {
            Callable::Known(function) => (function.strict, function.parameters.clone()),
            Callable::Sql {
                function,
                parameters,
                ..
            } => (function.strict, parameters.clone()),
        };
        Ok((strict, declared))
    }

    /// A call of a function with arguments at their places.
    fn sql_called(
        &mut self,
        function: &SqlFunction,
        given: Vec<Option<Expr>>,
        returns: Type,
        defined: Option<&[(String, Type)]>,
    ) -> Result<Called> {
        self.calls += 1;
        self.open += 1;
        if self.open > DEPTH || self.calls > CALLS {
            self.open -= 1;
            let hint = "A function whose body is SQL cannot call itself.";
            return Err(Error::new("54001", "stack depth limit exceeded").with_hint(hint));
        }
        let called = self
            .sql_frame(function, given)
            .and_then(|frame| {
                self.check_before(function, &frame)?;
                Ok(frame)
            })
            .and_then(|frame| match function.gives_rows() {
                true => {
                    let plan = self.rows_called(function, frame, defined)?;
                    Ok(match function.single {
                        true => Called::Record(self.first_row(plan)?, function.row.clone()),
                        false => Called::Rows(plan, function.row.clone()),
                    })
                }
                false => Ok(Called::Value(self.value_of(function, frame, &returns)?)),
            });
        self.open -= 1;
        called
    }

    /// Queries before the last one are not carried out: nobody could tell.
    ///
    /// # Errors
    /// Whatever is wrong with them; `0A000` for those that may change something or fail.
    fn check_before(&mut self, function: &SqlFunction, frame: &Frame) -> Result<()> {
        for query in &function.before {
            let plan = self.in_body(function, frame, |binder| binder.bind_query(query))?;
            let plan = self.known(plan)?;
            if is_volatile(&plan) || plan_may_fail(&plan) {
                return Err(Error::unsupported(
                    "a query that may change something or fail is not supported before the last \
                     statement of a function",
                ));
            }
        }
        Ok(())
    }

    /// The values of a function's parameters.
    fn sql_frame(&mut self, function: &SqlFunction, given: Vec<Option<Expr>>) -> Result<Frame> {
        let mut frame = Frame {
            values: Vec::with_capacity(given.len()),
            columns: Vec::new(),
        };
        for (parameter, given) in function.parameters.iter().zip(given) {
            let value = match (given, &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => {
                    let value = self.alone(|binder| binder.bind_expr(default))?;
                    match &parameter.ty {
                        Some(ty) if !ty.is_pseudo() => {
                            self.coerce(value, &ty.base(), Coercion::Assignment)?
                        }
                        _ => value,
                    }
                }
                (None, None) => return Err(Error::internal("a call without an argument")),
            };
            let plain = matches!(
                value.kind,
                ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Parameter(_)
            );
            if plain {
                frame.values.push(value);
                continue;
            }
            let value = self.known_expr(value)?;
            let name = parameter.name.clone().unwrap_or_default();
            let column = self.column(name, value.ty.clone());
            frame.values.push(column.reference());
            frame.columns.push((column, value));
        }
        Ok(frame)
    }

    /// Something bound without the names around it.
    pub(super) fn alone<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let scopes = std::mem::take(&mut self.scopes);
        let named = std::mem::take(&mut self.named);
        let targets = std::mem::take(&mut self.targets);
        self.scopes
            .push(Scope::new(Namespace::default(), Clause::Alone));
        let bound = bind(self);
        self.scopes = scopes;
        self.named = named;
        self.targets = targets;
        bound
    }

    /// A function's body, bound among its parameters.
    fn in_body<T>(
        &mut self,
        function: &SqlFunction,
        frame: &Frame,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let parameters = function.parameters.iter().zip(&frame.values);
        let columns = parameters.filter_map(|(parameter, value)| {
            Some(ScopeColumn {
                name: parameter.name.clone()?,
                value: value.clone(),
            })
        });
        let named = Named {
            schema: None,
            alias: function.name.clone(),
            columns: columns.collect(),
            hidden: Vec::new(),
            key: Vec::new(),
            row_type: None,
            view: None,
            fields: Vec::new(),
            is_scalar: false,
            nullable: false,
            marker: None,
        };
        let before = self.arguments.replace(frame.values.clone());
        let bound = self.alone(|binder| {
            binder.scopes.clear();
            let mut scope = Scope::new(Namespace::of(named), Clause::Alone);
            scope.parameters = true;
            binder.scopes.push(scope);
            bind(binder)
        });
        self.arguments = before;
        bound.map_err(|mut error| {
            error.position = None;
            match error.detail {
                Some(_) => error,
                None => error.with_detail(format!("in function \"{}\"", function.name)),
            }
        })
    }

    /// The value of a call.
    fn value_of(&mut self, function: &SqlFunction, frame: Frame, returns: &Type) -> Result<Expr> {
        let value = match &function.body {
            SqlBody::Expr(expr) => self.in_body(function, &frame, |binder| {
                let value = binder.bind_expr(expr)?;
                binder.returned(value, function, returns)
            })?,
            SqlBody::Query(query) => {
                let plan = self.in_body(function, &frame, |binder| binder.bind_query(query))?;
                self.first_value(plan, function, returns)?
            }
        };
        let value = match function.strict {
            true => guarded(&frame, value),
            false => value,
        };
        self.with_arguments(frame, value)
    }

    /// A value as one of the type that a function gives.
    fn returned(&mut self, value: Expr, function: &SqlFunction, to: &Type) -> Result<Expr> {
        let SqlReturns::Value(_) = function.returns else {
            return self.known_expr(value);
        };
        if *to == Type::Void {
            return Ok(Expr::null(Type::Void));
        }
        let from = value.ty.clone();
        self.coerce(value, to, Coercion::Assignment)
            .map_err(|error| mismatch(error, to, &from))
    }

    /// The first value of a query.
    fn first_value(&mut self, plan: Plan, function: &SqlFunction, returns: &Type) -> Result<Expr> {
        // SELECT without FROM is its expression.
        let plan = match plan {
            Plan::Project { input, mut items }
                if items.len() == 1
                    && matches!(input.as_ref(), Plan::Values { columns, rows }
                        if columns.is_empty() && rows.len() == 1) =>
            {
                match items.pop() {
                    Some((_, value)) => return self.returned(value, function, returns),
                    None => return Err(Error::internal("an item that is none")),
                }
            }
            other => other,
        };
        let plan = self.known(plan)?;
        let columns = plan.columns();
        let [column] = columns.as_slice() else {
            let message = format!("return type mismatch in function declared to return {returns}");
            return Err(Error::new("42P13", message)
                .with_detail("Final statement must return exactly one column."));
        };
        let from = column.ty.clone();
        let typed = matches!(function.returns, SqlReturns::Value(_));
        let plan = match typed && *returns != Type::Void {
            true => self
                .plan_of_types(plan, std::slice::from_ref(returns), Coercion::Assignment)
                .map_err(|error| mismatch(error, returns, &from))?,
            false => plan,
        };
        let ty = match plan.columns().first() {
            Some(column) => column.ty.clone(),
            None => return Err(Error::internal("a query without its column")),
        };
        let plan = match gives_one_row(&plan) {
            true => plan,
            false => Plan::Limit {
                input: Box::new(plan),
                limit: Some(self.coerce(Expr::int4(1), &Type::Int8, Coercion::Implicit)?),
                offset: None,
                ties: None,
                percent: false,
            },
        };
        Ok(self.scalar_of(plan, ty))
    }

    fn scalar_of(&mut self, plan: Plan, ty: Type) -> Expr {
        self.subqueries += 1;
        let id = self.subqueries;
        let kind = SubqueryKind::Scalar;
        Expr::new(
            ExprKind::Subquery(Box::new(Subquery { kind, plan, id })),
            ty,
        )
    }

    /// A body with its arguments: in the places of their columns where they are read once, else
    /// beside it.
    fn with_arguments(&mut self, frame: Frame, mut value: Expr) -> Result<Expr> {
        let (placed, beside) = split(frame.columns, |with| value.replace(with));
        value.replace(&|id| placed.get(&id).cloned());
        if beside.is_empty() {
            return Ok(value);
        }
        let row = Plan::Project {
            input: Box::new(Plan::one_row()),
            items: beside,
        };
        let ty = value.ty.clone();
        let result = self.column("value", ty.clone());
        let plan = Plan::Project {
            input: Box::new(row),
            items: vec![(result, value)],
        };
        Ok(self.scalar_of(plan, ty))
    }

    /// The first row of a plan.
    fn first_row(&mut self, plan: Plan) -> Result<Plan> {
        if gives_one_row(&plan) {
            return Ok(plan);
        }
        Ok(Plan::Limit {
            input: Box::new(plan),
            limit: Some(self.coerce(Expr::int4(1), &Type::Int8, Coercion::Implicit)?),
            offset: None,
            ties: None,
            percent: false,
        })
    }

    /// A row as a value of its type, NULL if there is none.
    pub(super) fn record_of(&mut self, plan: Plan, row: Option<RowName>) -> Expr {
        let columns = plan.columns();
        let fields = columns.iter();
        let fields = fields.map(|column| (column.name.clone(), column.ty.clone()));
        let ty = row_type(fields.collect(), row);
        let values = columns.iter().map(Column::reference).collect();
        let row = Expr::new(ExprKind::Row(values), ty.clone());
        let column = self.column("row", ty.clone());
        let plan = Plan::Project {
            input: Box::new(plan),
            items: vec![(column, row)],
        };
        self.scalar_of(plan, ty)
    }

    /// A row, of NULLs if there is none.
    pub(super) fn row_of(&mut self, plan: Plan) -> Plan {
        Plan::Join {
            kind: JoinKind::Left,
            left: Box::new(Plan::one_row()),
            right: Box::new(plan),
            condition: None,
            lateral: false,
        }
    }

    /// The rows of a call.
    fn rows_called(
        &mut self,
        function: &SqlFunction,
        frame: Frame,
        defined: Option<&[(String, Type)]>,
    ) -> Result<Plan> {
        let SqlBody::Query(query) = &function.body else {
            return Err(Error::internal("a function of rows without a query"));
        };
        let plan = self.in_body(function, &frame, |binder| binder.bind_query(query))?;
        let plan = self.known(plan)?;
        let mut plan = self.rows_returned(plan, function, defined)?;
        if let SqlReturns::Rows(columns) = &function.returns
            && let [(_, Type::Void)] = columns.as_slice()
        {
            // It has been carried out, and gives nothing.
            plan = Plan::Filter {
                input: Box::new(plan),
                condition: Expr::bool(false),
            };
        }
        if function.strict {
            let nulls = frame
                .values
                .iter()
                .filter(|value| value.literal().is_none());
            let known = nulls.map(|value| value.clone().is_null().not());
            let missing = frame.values.iter().any(Expr::is_literal_null);
            let condition = match missing {
                true => Expr::bool(false),
                false => Expr::and(known),
            };
            plan = Plan::Filter {
                input: Box::new(plan),
                condition,
            };
        }
        let (placed, beside) = split(frame.columns, |with| plan.replace(with));
        plan.replace(&|id| placed.get(&id).cloned());
        if beside.is_empty() {
            return Ok(plan);
        }
        let columns = plan.columns();
        let row = Plan::Project {
            input: Box::new(Plan::one_row()),
            items: beside,
        };
        let joined = Plan::Join {
            kind: JoinKind::Inner,
            left: Box::new(row),
            right: Box::new(plan),
            condition: None,
            lateral: true,
        };
        let mut items = Vec::with_capacity(columns.len());
        for column in columns {
            let value = column.reference();
            items.push((self.column(column.name, column.ty), value));
        }
        Ok(Plan::Project {
            input: Box::new(joined),
            items,
        })
    }

    /// Rows under the names and of the types that a function gives.
    fn rows_returned(
        &mut self,
        plan: Plan,
        function: &SqlFunction,
        defined: Option<&[(String, Type)]>,
    ) -> Result<Plan> {
        let wanted = match (&function.returns, defined) {
            (SqlReturns::Rows(wanted), _) => wanted.as_slice(),
            (SqlReturns::Records, Some(wanted)) => wanted,
            _ => return Ok(plan),
        };
        let columns = plan.columns();
        if let [(_, Type::Void)] = wanted {
            let value = (
                self.column(&function.name, Type::Void),
                Expr::null(Type::Void),
            );
            return Ok(Plan::Project {
                input: Box::new(plan),
                items: vec![value],
            });
        }
        // One value of a composite type is a row of its fields.
        if let [only] = columns.as_slice()
            && let Type::Record(fields) = &only.ty
            && fields.len() == wanted.len()
            && !matches!(wanted, [(_, Type::Record(_))])
        {
            return self.fields_returned(plan, only, function, wanted);
        }
        if columns.len() != wanted.len() {
            return Err(Error::new(
                "42P13",
                "return type mismatch in function declared to return record",
            )
            .with_detail(format!(
                "Final statement returns too {} columns.",
                if columns.len() > wanted.len() {
                    "many"
                } else {
                    "few"
                }
            )));
        }
        let mut items = Vec::with_capacity(columns.len());
        for (column, (name, to)) in columns.iter().zip(wanted) {
            let value = match to.is_pseudo() {
                true => column.reference(),
                false => self
                    .coerce(column.reference(), to, Coercion::Assignment)
                    .map_err(|error| match wanted.len() {
                        1 => mismatch(error, to, &column.ty),
                        _ => mismatch(error, &Type::Record([].as_slice().into()), &column.ty),
                    })?,
            };
            let name = if name.is_empty() {
                &function.name
            } else {
                name
            };
            items.push((self.column(name.clone(), value.ty.clone()), value));
        }
        Ok(Plan::Project {
            input: Box::new(plan),
            items,
        })
    }
}

impl Binder<'_> {
    /// The fields of the records of a plan as the columns that a function gives; a function of one
    /// row gives none for NULL.
    fn fields_returned(
        &mut self,
        plan: Plan,
        record: &Column,
        function: &SqlFunction,
        wanted: &[(String, Type)],
    ) -> Result<Plan> {
        let Type::Record(fields) = &record.ty else {
            return Err(Error::internal("fields of no record"));
        };
        let mut items = Vec::with_capacity(wanted.len());
        for (at, ((_, ty), (name, to))) in fields.iter().zip(wanted).enumerate() {
            let whole = Box::new(record.reference());
            let value = Expr::new(ExprKind::Field(whole, at), ty.clone());
            let value = self
                .coerce(value, to, Coercion::Assignment)
                .map_err(|error| mismatch(error, to, ty))?;
            items.push((self.column(name.clone(), value.ty.clone()), value));
        }
        let input = match function.single {
            true => Plan::Filter {
                input: Box::new(self.first_row(plan)?),
                condition: record.reference().is_null().not(),
            },
            false => plan,
        };
        Ok(Plan::Project {
            input: Box::new(input),
            items,
        })
    }
}

/// `42P13` for a result of another type.
fn mismatch(error: Error, to: &Type, from: &Type) -> Error {
    if !matches!(error.sqlstate, "42804" | "42846") {
        return error;
    }
    let message = format!("return type mismatch in function declared to return {to}");
    Error::new("42P13", message).with_detail(format!("Actual return type is {from}."))
}

/// NULL where an argument is NULL.
fn guarded(frame: &Frame, value: Expr) -> Expr {
    let ty = value.ty.clone();
    if frame.values.iter().any(Expr::is_literal_null) {
        return Expr::null(ty);
    }
    let unknown = frame
        .values
        .iter()
        .filter(|value| value.literal().is_none());
    let nulls: Vec<Expr> = unknown.map(|value| value.clone().is_null()).collect();
    if nulls.is_empty() {
        return value;
    }
    Expr::new(
        ExprKind::Case {
            branches: vec![(Expr::or(nulls), Expr::null(ty.clone()))],
            otherwise: Some(Box::new(value)),
        },
        ty,
    )
}

/// Whether a plan is seen to give no more than one row.
fn gives_one_row(plan: &Plan) -> bool {
    match plan {
        Plan::Values { rows, .. } => rows.len() <= 1,
        Plan::Aggregate { keys, sets, .. } => keys.is_empty() && sets.is_none(),
        Plan::Project { input, .. }
        | Plan::Filter { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Window { input, .. } => gives_one_row(input),
        _ => false,
    }
}

/// A walk over something's columns.
type Walk<'w> = &'w dyn Fn(ColumnId) -> Option<Expr>;

/// Arguments that may stand in the place of their columns, and the others.
fn split(
    columns: Vec<(Column, Expr)>,
    walk: impl FnOnce(Walk<'_>),
) -> (HashMap<ColumnId, Expr>, Vec<(Column, Expr)>) {
    let counts: RefCell<HashMap<ColumnId, usize>> = RefCell::default();
    if !columns.is_empty() {
        walk(&|id| {
            *counts.borrow_mut().entry(id).or_default() += 1;
            None
        });
    }
    let counts = counts.into_inner();
    let (mut placed, mut beside) = (HashMap::new(), Vec::new());
    for (column, value) in columns {
        let reads = counts.get(&column.id).copied().unwrap_or(0);
        match reads <= 1 && !volatile(&value) {
            true => {
                placed.insert(column.id, value);
            }
            false => beside.push((column, value)),
        }
    }
    (placed, beside)
}

/// Whether an expression, or a plan in it, may give another value at every call.
fn volatile(value: &Expr) -> bool {
    value.is_volatile() || value.has_subquery()
}

#[cfg(test)]
mod tests;
