//! Lambdas: `list_transform(l, x -> x + y)`.
//!
//! A body is an expression over the lambda's parameters and over columns around it. The call
//! takes those columns as arguments, so that plans are changed without looking into bodies.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use sqlparser::ast::{Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::scope::{Clause, Namespace, Scope, ScopeColumn};
use super::{Binder, Coercion, fold, refuse};
use crate::error::{Error, Result};
use crate::evaluate::{Input, evaluate, expanded};
use crate::functions::arrays::lambda::{filter, reduce, transform};
use crate::functions::arrays::lists::kernel;
use crate::functions::kernel::{Call, Column as Values};
use crate::functions::scalar;
use crate::plan::{Column, ColumnId, Expr, ExprKind};
use crate::syntax::marks::LAMBDA;
use crate::types::Type;

/// Which function it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Transform,
    Filter,
    Reduce,
}

/// The names and the body of a lambda, which the syntax has as a call; `None` for other
/// arguments.
pub(super) fn parts_of(argument: &Ast) -> Option<(Vec<String>, &Ast)> {
    let Ast::Function(call) = argument else {
        return None;
    };
    let name = call.name.0.first()?.as_ident()?;
    let (true, FunctionArguments::List(list)) = (name.value == LAMBDA, &call.args) else {
        return None;
    };
    let mut all = Vec::with_capacity(list.args.len());
    for argument in &list.args {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(one)) = argument else {
            return None;
        };
        all.push(one);
    }
    let body = all.pop()?;
    let names = all.into_iter().map(|name| match name {
        Ast::Identifier(ident) => Some(fold(ident)),
        _ => None,
    });
    Some((names.collect::<Option<Vec<_>>>()?, body))
}

impl Binder<'_> {
    /// A call of a function that takes a lambda; `None` if none is given.
    ///
    /// # Errors
    /// The errors of binding its arguments and its body.
    pub(super) fn lambda_call(&mut self, name: &str, arguments: &[&Ast]) -> Result<Option<Expr>> {
        let [list, lambda, more @ ..] = arguments else {
            return Ok(None);
        };
        let Some((names, body)) = parts_of(lambda) else {
            return Ok(None);
        };
        let kind = match name {
            name if name.ends_with("filter") => Kind::Filter,
            name if name.ends_with("reduce") => Kind::Reduce,
            _ => Kind::Transform,
        };
        let list = self.bind_expr(list)?;
        let Type::Array(element) = list.ty.clone() else {
            let message = format!("function {name} takes an array, not {}", list.ty);
            return Err(Error::new("42883", message));
        };
        let initial = match (kind, more) {
            (_, []) => None,
            (Kind::Reduce, [initial]) => {
                let initial = self.bind_expr(initial)?;
                Some(self.known_expr(initial)?)
            }
            _ => {
                return Err(Error::new(
                    "42883",
                    format!("{name} takes no further arguments"),
                ));
            }
        };
        let state = initial
            .as_ref()
            .map_or((*element).clone(), |initial| initial.ty.clone());
        let mut types = match kind {
            Kind::Reduce => vec![state.clone(), (*element).clone()],
            _ => vec![(*element).clone()],
        };
        types.push(Type::Int8);
        if names.len() + 1 < types.len() || names.len() > types.len() {
            let message = format!(
                "a lambda of {name} does not have {} parameters",
                names.len()
            );
            return Err(Error::new("42883", message));
        }
        let mut named = names.iter().map(String::as_str).chain(["place"]);
        let parameters = types
            .into_iter()
            .map(|ty| self.column(named.next().unwrap_or(""), ty));
        let parameters: Vec<Column> = parameters.collect();
        let body = self.lambda_body(body, &parameters[..names.len()])?;
        let (body, returns) = match kind {
            Kind::Transform => {
                let body = self.known_expr(body)?;
                refuse(
                    matches!(body.ty, Type::Array(_)),
                    "a lambda that gives arrays",
                )?;
                let returns = body.ty.clone().array();
                (body, returns)
            }
            Kind::Filter => (
                self.coerce(body, &Type::Bool, Coercion::Implicit)?,
                list.ty.clone(),
            ),
            Kind::Reduce => (self.coerce(body, &state, Coercion::Assignment)?, state),
        };
        Ok(Some(called(kind, list, initial, parameters, body, returns)))
    }

    fn lambda_body(&mut self, body: &Ast, parameters: &[Column]) -> Result<Expr> {
        let columns = parameters.iter().map(|column| ScopeColumn {
            name: column.name.clone(),
            value: column.reference(),
        });
        let names = Namespace {
            relations: Vec::new(),
            columns: columns.collect(),
        };
        self.scopes.push(Scope::new(names, Clause::Alone));
        let bound = self.bind_expr(body);
        self.scopes.pop();
        let bound = bound?;
        refuse(bound.has_subquery(), "a sub-query in a lambda")?;
        let is_parameter = |expr: &Expr| matches!(expr.kind, ExprKind::Parameter(_));
        refuse(
            bound.any(&mut |expr| is_parameter(expr)),
            "a parameter of the statement in a lambda",
        )?;
        Ok(bound)
    }
}

/// The call of a function with a lambda.
fn called(
    kind: Kind,
    list: Expr,
    initial: Option<Expr>,
    parameters: Vec<Column>,
    body: Expr,
    returns: Type,
) -> Expr {
    // Columns around the lambda become arguments.
    let mut around: Vec<(ColumnId, Expr)> = Vec::new();
    body.any(&mut |expr| {
        if let ExprKind::Column(id) = expr.kind
            && parameters.iter().all(|parameter| parameter.id != id)
            && around.iter().all(|(known, _)| *known != id)
        {
            around.push((id, expr.clone()));
        }
        false
    });
    let (ids, columns): (Vec<ColumnId>, Vec<Expr>) = around.into_iter().unzip();
    let volatile = body.is_volatile();
    let has_initial = initial.is_some();
    let parameters: Vec<ColumnId> = parameters.iter().map(|column| column.id).collect();
    let mut arguments = vec![list];
    arguments.extend(initial);
    let before = arguments.len();
    arguments.extend(columns);
    let types: Vec<Type> = arguments
        .iter()
        .map(|argument| argument.ty.clone())
        .collect();
    let work = move |call: &Call<'_>, columns: &[Values]| -> Result<ArrayRef> {
        let list = columns.first();
        let list = list.ok_or_else(|| Error::internal("a lambda without a list"))?;
        let list = expanded(list, call.rows);
        let computed = |given: &[Values], rows: &UInt32Array| -> Result<ArrayRef> {
            let mut known: Vec<(ColumnId, Values)> = Vec::with_capacity(columns.len());
            known.extend(parameters.iter().copied().zip(given.iter().cloned()));
            for (id, column) in ids.iter().zip(columns.iter().skip(before)) {
                let mut column = column.clone();
                if !column.constant {
                    column.array = take(&column.array, rows, None)?;
                }
                known.push((*id, column));
            }
            let find = |id: ColumnId| {
                let found = known.iter().find(|(known, _)| *known == id);
                found.map(|(_, column)| column.clone())
            };
            let input = Input::new(rows.len(), &find, call.session);
            Ok(expanded(&evaluate(&body, &input)?, rows.len()))
        };
        match kind {
            Kind::Transform => transform(&list, &computed),
            Kind::Filter => filter(&list, &computed),
            Kind::Reduce => {
                let initial = columns.get(1).filter(|_| has_initial);
                reduce(&list, initial, &computed)
            }
        }
    };
    let function = scalar("lambda", &types, returns.clone(), kernel(work)).with_nulls();
    let function = if volatile {
        function.volatile()
    } else {
        function.stable()
    };
    Expr::call(Arc::new(function), arguments, returns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::{Catalog, Found};
    use crate::error::Position;
    use crate::functions::Session;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    struct Nothing;

    impl Catalog for Nothing {
        fn relation(&self, _: Option<&str>, _: &str, _: Option<Position>) -> Result<Option<Found>> {
            Ok(None)
        }
    }

    /// The rows of a query of one column of TEXT, or the error's state.
    fn answer(sql: &str) -> String {
        let session = Session::default();
        let run = || {
            let query = crate::syntax::query(sql)?;
            let bound = Binder::new(&Nothing, &session).query(&query)?;
            let table = crate::reference::run(&bound.plan, &|_, _| Ok(Vec::new()), &session, &[])?;
            let column = table.column(bound.columns[0].id).unwrap().clone();
            let texts = column.as_string_view().iter();
            let texts = texts.map(|text| text.unwrap_or("NULL").to_owned());
            assert_eq!(column.len(), table.rows);
            Ok::<_, Error>(texts.collect::<Vec<_>>().join(" "))
        };
        run().unwrap_or_else(|error| error.sqlstate.to_owned())
    }

    #[test]
    fn lambdas_are_computed_for_each_element() {
        let cases = [
            ("list_transform(ARRAY[1,NULL,3], x -> x + 1)", "{2,NULL,4}"),
            ("list_transform('{}'::int[], x -> x + 1)", "{}"),
            ("list_transform(NULL::int[], x -> x + 1)", "NULL"),
            (
                "list_transform(ARRAY['a','b'], (x, i) -> x || i)",
                "{a1,b2}",
            ),
            ("list_filter(ARRAY[1,NULL,3], x -> x > 1)", "{3}"),
            ("list_reduce(ARRAY[1,2,3], (a, b) -> a + b)", "6"),
            ("list_reduce('{}'::int[], (a, b) -> a + b, 7)", "7"),
            ("list_reduce('{}'::int[], (a, b) -> a + b)", "22023"),
            (
                "list_transform(ARRAY[1,2], x -> list_reduce(ARRAY[1,1], (a, b) -> a + b + x))",
                "{3,4}",
            ),
            ("list_transform(ARRAY[0], x -> 1 / x)", "22012"),
            ("list_transform(ARRAY[1], x -> ARRAY[x])", "0A000"),
            ("list_transform(ARRAY[1], x -> (SELECT x))", "0A000"),
            ("list_transform(ARRAY[1], x -> count(x))", "42803"),
            ("list_transform(ARRAY[[1]], x -> x)", "0A000"),
            ("list_filter(ARRAY[1], (x, i, z) -> true)", "42883"),
            ("list_transform(1, x -> x)", "42883"),
        ];
        for (call, expected) in cases {
            assert_eq!(
                answer(&format!("SELECT ({call})::text")),
                expected,
                "{call}"
            );
        }
    }

    #[test]
    fn lambdas_read_columns_around_them() {
        let rows = "(VALUES ('{1,2}'::int[], 10), (NULL, 1), ('{}', 1), ('{1}', NULL)) v (l, n)";
        let cases = [
            ("list_transform(l, x -> x + n)", "{11,12} NULL {} {NULL}"),
            ("list_filter(l, x -> x * n > 10)", "{2} NULL {} {}"),
            ("list_reduce(l, (a, b) -> a + b, n)", "13 NULL 1 NULL"),
        ];
        for (call, expected) in cases {
            let found = answer(&format!("SELECT ({call})::text FROM {rows}"));
            assert_eq!(found, expected, "{call}");
        }
    }

    #[test]
    fn arrays_are_spread_into_arguments() {
        let cases = [
            ("concat_ws(',', VARIADIC ARRAY['a', NULL, 'b'])", "a,b"),
            ("concat_ws(',', VARIADIC NULL::text[])", "NULL"),
            ("format('%s-%s', VARIADIC ARRAY[1, 2])", "1-2"),
            ("num_nulls(VARIADIC ARRAY[[1, NULL], [NULL, 2]])::text", "2"),
            ("concat_ws(',', VARIADIC 1)", "42804"),
            ("coalesce(VARIADIC ARRAY['a'])", "42601"),
            ("concat_ws(VARIADIC ARRAY['a'], 'b')", "42601"),
            ("lower(VARIADIC 'A')", "a"),
        ];
        for (call, expected) in cases {
            assert_eq!(answer(&format!("SELECT {call}")), expected, "{call}");
        }
    }
}
