//! Calls with VARIADIC: the elements of an array as arguments.

use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use sqlparser::ast::Expr as Ast;

use super::Binder;
use super::call::unresolved;
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Kernel};
use crate::functions::{Unresolved, catalogue, resolve_function};
use crate::plan::{Expr, ExprKind};
use crate::syntax::marks::{VARIADIC, marked_call};
use crate::types::Type;

impl Binder<'_> {
    /// The call of a function whose last argument is VARIADIC; `None` if it is not.
    pub(super) fn variadic(&mut self, name: &str, written: &[&Ast]) -> Result<Option<Expr>> {
        let Some((last, before)) = written.split_last() else {
            return Ok(None);
        };
        let Some((_, inner)) = marked_call(last, VARIADIC) else {
            return Ok(None);
        };
        let [inner] = inner.as_slice() else {
            return Err(Error::internal("VARIADIC of several values"));
        };
        let mut arguments = Vec::with_capacity(written.len());
        for argument in before {
            arguments.push(self.bind_expr(argument)?);
        }
        let array = self.bind_expr(inner)?;
        let Type::Array(element) = array.ty.clone() else {
            let mut types: Vec<Type> = arguments.iter().map(|one| one.ty.clone()).collect();
            types.push(array.ty);
            let known = !catalogue().functions(name).is_empty();
            return Err(match known {
                true => Error::new("42804", "VARIADIC argument must be an array"),
                false => unresolved(name, &types, Unresolved::None),
            });
        };
        let mut types: Vec<Type> = arguments.iter().map(|one| one.ty.clone()).collect();
        types.push((*element).clone());
        let found = resolve_function(catalogue().functions(name), &types)
            .map_err(|why| unresolved(name, &types, why))?;
        if found.function.variadic.is_none() {
            types.pop();
            types.push(array.ty);
            return Err(unresolved(name, &types, Unresolved::None));
        }
        if let ExprKind::Array(elements) = &array.kind
            && !elements.iter().any(|one| matches!(one.ty, Type::Array(_)))
        {
            arguments.extend(elements.iter().cloned());
            return self.function(name, arguments).map(Some);
        }
        let mut fixed = Vec::with_capacity(arguments.len() + 1);
        for (argument, to) in arguments.into_iter().zip(&found.parameters) {
            fixed.push(self.coerce(argument, to, super::Coercion::Implicit)?);
        }
        let to = found.parameters.last().cloned().unwrap_or(Type::Text);
        let to = if to.is_pseudo() {
            (*element).clone()
        } else {
            to
        };
        fixed.push(self.coerce(array, &to.clone().array(), super::Coercion::Implicit)?);
        let mut function = (*found.function).clone();
        function.kernel = spread(Arc::clone(&function.kernel), function.strict, to);
        Ok(Some(Expr::call(Arc::new(function), fixed, found.returns)))
    }
}

/// A kernel of which the last column holds arrays, whose elements become arguments.
fn spread(inner: Kernel, strict: bool, element: Type) -> Kernel {
    Arc::new(move |call, columns| {
        let Some((last, before)) = columns.split_last() else {
            return Err(Error::internal("VARIADIC without an array"));
        };
        let lists = last.array.as_list_opt::<i32>();
        let lists = lists.ok_or_else(|| Error::internal("VARIADIC of no array"))?;
        let mut parts = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let null = || arrow_array::new_null_array(&call.returns.arrow(), 1);
            if last.is_null(row) {
                parts.push(null());
                continue;
            }
            let elements = lists.value(last.at(row));
            if strict && elements.null_count() > 0 {
                parts.push(null());
                continue;
            }
            let mut one: Vec<Column> = before
                .iter()
                .map(|column| Column::constant(column.array.slice(column.at(row), 1)))
                .collect();
            one.extend((0..elements.len()).map(|at| Column::constant(elements.slice(at, 1))));
            let mut types = call.types[..before.len()].to_vec();
            types.resize(one.len(), element.clone());
            let call = Call {
                rows: 1,
                types: &types,
                ..*call
            };
            parts.push(inner(&call, &one)?);
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        match parts.is_empty() {
            true => Ok(arrow_array::new_empty_array(&call.returns.arrow())),
            false => Ok(arrow_select::concat::concat(&parts)?),
        }
    })
}
