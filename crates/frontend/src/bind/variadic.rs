//! `f(a, VARIADIC array)`: the elements of an array as the last arguments of a function.

use std::sync::Arc;

use sqlparser::ast::{Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::call::unresolved;
use super::{Binder, Coercion};
use crate::error::{Error, Result};
use crate::functions::arrays::spread;
use crate::functions::{Unresolved, catalogue, resolve_function};
use crate::plan::Expr;
use crate::syntax::marks::VARIADIC;
use crate::types::Type;

/// What stands behind VARIADIC, which the syntax has as a call; `None` for other arguments.
///
/// # Errors
/// `42601` if another argument follows.
pub(super) fn inner_of(argument: &Ast) -> Result<Option<&Ast>> {
    let Ast::Function(call) = argument else {
        return Ok(None);
    };
    let name = call.name.0.first().and_then(|part| part.as_ident());
    let (true, FunctionArguments::List(list)) =
        (name.is_some_and(|name| name.value == VARIADIC), &call.args)
    else {
        return Ok(None);
    };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))] if list.clauses.is_empty() => {
            Ok(Some(inner))
        }
        [] => Err(Error::new("42601", "syntax error at or near \")\"")),
        _ => Err(Error::new("42601", "syntax error at or near \",\"")),
    }
}

impl Binder<'_> {
    /// A call whose last argument is an array of further arguments.
    ///
    /// # Errors
    /// `42883` if no function takes any number of arguments of the array's elements, `42804` if
    /// it is no array.
    pub(super) fn variadic_call(&mut self, name: &str, mut arguments: Vec<Expr>) -> Result<Expr> {
        let types: Vec<Type> = arguments.iter().map(|one| one.ty.clone()).collect();
        let none = || unresolved(name, &types, Unresolved::None);
        let array = arguments.pop();
        let mut array = array.ok_or_else(|| Error::internal("VARIADIC of nothing"))?;
        let fixed = arguments.len();
        let overloads: Vec<_> = catalogue()
            .functions(name)
            .iter()
            .filter(|function| {
                // Of functions that want one argument at least, it is among the variadic ones.
                let wanted = function.parameters.len();
                let last = function.parameters.last();
                function.variadic.is_some()
                    && (wanted == fixed
                        || wanted == fixed + 1 && last == function.variadic.as_ref())
            })
            .cloned()
            .collect();
        if overloads.is_empty() {
            // Other functions take the argument as it is.
            arguments.push(array);
            return self.function(name, arguments);
        }
        let mut found = types.clone();
        if let Some(last) = found.last_mut() {
            *last = match &array.ty {
                Type::Array(element) => (**element).clone(),
                _ => Type::Unknown,
            };
        }
        let resolved = resolve_function(&overloads, &found).map_err(|_| none())?;
        let is_any = resolved.function.variadic == Some(Type::Any);
        match array.ty {
            Type::Array(_) => {}
            _ if is_any => {
                return Err(Error::new("42804", "VARIADIC argument must be an array"));
            }
            Type::Unknown => {}
            _ => return Err(none()),
        }
        let element = resolved
            .parameters
            .get(fixed)
            .cloned()
            .unwrap_or(Type::Text);
        array = self.coerce(array, &element.array(), Coercion::Implicit)?;
        let mut converted = Vec::with_capacity(fixed + 1);
        for (argument, to) in arguments.into_iter().zip(&resolved.parameters) {
            converted.push(self.coerce(argument, to, Coercion::Implicit)?);
        }
        converted.push(array);
        let types: Vec<Type> = converted.iter().map(|one| one.ty.clone()).collect();
        // Equal calls are calls of one function.
        let mut key = types.clone();
        key.push(resolved.returns.clone());
        let function = self.shared.entry((format!("variadic {name}"), key));
        let function = function
            .or_insert_with(|| Arc::new(spread(&resolved.function, &types, &resolved.returns)));
        let call = Expr::call(Arc::clone(function), converted, resolved.returns);
        Ok(self.folded(call))
    }
}
