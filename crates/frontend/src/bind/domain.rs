//! Domains: values of another type that conditions hold for.
//!
//! An expression has the type that its domain is over. A cast to a domain checks each value:
//!
//! ```text
//! CREATE DOMAIN positive AS integer CHECK (VALUE > 0)
//! (-1)::positive      error 23514
//! ```

use std::sync::Arc;

use arrow_array::{Array, cast::AsArray};
use sqlparser::ast::{DataType, Expr as Ast};

use super::{Binder, Coercion, parts};
use crate::error::{Error, Result};
use crate::evaluate::{Input, evaluate};
use crate::functions::kernel::{Kernel, repeated};
use crate::functions::scalar;
use crate::plan::{Column, ColumnId, Expr};
use crate::types::Type;

/// The value that conditions of a domain are about; columns that a binder makes come before.
const VALUE: ColumnId = ColumnId(1 << 30);

/// A domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// The type that it is over, no domain.
    pub base: Type,
    /// Whether NULL is none of its values.
    pub not_null: bool,
    /// Names and conditions on `VALUE`, those of domains below first.
    pub checks: Vec<(String, Ast)>,
}

impl Binder<'_> {
    /// The domain that a written type is; `None` for any other.
    pub(super) fn domain(&self, written: &DataType) -> Result<Option<Arc<Domain>>> {
        let DataType::Custom(name, modifiers) = written else {
            return Ok(None);
        };
        if !modifiers.is_empty() {
            return Ok(None);
        }
        let mut parts = parts(name)?;
        let last = parts.pop().unwrap_or_default();
        self.catalog.domain(parts.pop().as_deref(), &last)
    }

    /// An expression of the type that a domain is over, with a check of its values.
    pub(super) fn of_domain(&mut self, value: Expr, domain: &Domain) -> Result<Expr> {
        let value = self.coerce(value, &domain.base, Coercion::Explicit)?;
        if !domain.not_null && domain.checks.is_empty() {
            return Ok(value);
        }
        let mut checks = Vec::with_capacity(domain.checks.len());
        for (name, condition) in &domain.checks {
            let condition = self.condition_on_value(condition, &domain.base)?;
            checks.push((name.clone(), condition));
        }
        let kernel = checked(domain.name.clone(), domain.not_null, checks);
        let base = domain.base.base();
        let function = scalar("domain", std::slice::from_ref(&base), base.clone(), kernel);
        let ty = domain.base.clone();
        Ok(Expr::call(Arc::new(function.with_nulls()), vec![value], ty))
    }

    /// A condition on `VALUE`, which is of a type.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    fn condition_on_value(&self, condition: &Ast, ty: &Type) -> Result<Expr> {
        let value = Column {
            id: VALUE,
            name: "value".to_owned(),
            ty: ty.clone(),
        };
        let relations = [(String::new(), vec![value])];
        let binder = Binder::new(self.catalog, self.session);
        binder.expression(
            condition,
            &relations,
            Some(&("value".to_owned(), Type::Bool)),
        )
    }
}

/// Gives values on that are those of a domain.
fn checked(domain: String, not_null: bool, checks: Vec<(String, Expr)>) -> Kernel {
    Arc::new(move |call, columns| {
        let [column] = columns else {
            return Err(Error::internal("a domain is short of its value"));
        };
        if not_null && column.array.null_count() > 0 {
            let message = format!("domain {domain} does not allow null values");
            return Err(Error::new("23502", message));
        }
        let find = |id: ColumnId| (id == VALUE).then(|| column.clone());
        let input = Input::new(call.rows, &find, call.session);
        for (name, condition) in &checks {
            let met = evaluate(condition, &input)?;
            let truths = met
                .array
                .as_boolean_opt()
                .ok_or_else(|| Error::internal("a CHECK that is no condition"))?;
            if truths.iter().any(|met| met == Some(false)) {
                let message =
                    format!("value for domain {domain} violates check constraint \"{name}\"");
                return Err(Error::new("23514", message));
            }
        }
        Ok(repeated(Arc::clone(&column.array), call.rows))
    })
}
