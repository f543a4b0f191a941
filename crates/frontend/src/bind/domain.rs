//! Domains: values of another type that conditions hold for.
//!
//! An expression has the type that its domain is over. A cast to a domain checks each value:
//!
//! ```text
//! CREATE DOMAIN positive AS integer CHECK (VALUE > 0)
//! (-1)::positive      error 23514
//! ```

use std::sync::Arc;

use arrow_array::{Array, UInt64Array, cast::AsArray};
use arrow_select::take::take;
use sqlparser::ast::{ArrayElemTypeDef, DataType, Expr as Ast};

use super::{Binder, Coercion, parts};
use crate::error::{Error, Result};
use crate::evaluate::{Input, evaluate};
use crate::functions::kernel::{Column as Values, Kernel, repeated};
use crate::functions::{Session, scalar};
use crate::plan::{Column, ColumnId, Expr};
use crate::types::Type;
use crate::types::arrays::Arrays;

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

/// A written type that is a domain, or arrays of one.
pub(super) struct Written {
    domain: Arc<Domain>,
    arrays: bool,
}

impl Binder<'_> {
    /// The domain that a written type is, or that it is arrays of; `None` for any other.
    pub(super) fn domain(&self, written: &DataType) -> Result<Option<Written>> {
        if let DataType::Array(
            ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::AngleBracket(element),
        ) = written
        {
            let element = self.domain(element)?;
            return match element {
                Some(of) if matches!(of.domain.base, Type::Array(_)) => Err(Error::unsupported(
                    "arrays of a domain over arrays are not supported",
                )),
                of => Ok(of.map(|of| Written { arrays: true, ..of })),
            };
        }
        let DataType::Custom(name, modifiers) = written else {
            return Ok(None);
        };
        if !modifiers.is_empty() {
            return Ok(None);
        }
        let mut parts = parts(name)?;
        let last = parts.pop().unwrap_or_default();
        let domain = self.catalog.domain(parts.pop().as_deref(), &last)?;
        Ok(domain.map(|domain| Written {
            domain,
            arrays: false,
        }))
    }

    /// An expression of the type that a domain is over, or of arrays of it, with a check of its
    /// values.
    pub(super) fn of_domain(&mut self, value: Expr, written: &Written) -> Result<Expr> {
        let (domain, arrays) = (&written.domain, written.arrays);
        let ty = match arrays {
            true => domain.base.clone().array(),
            false => domain.base.clone(),
        };
        let value = self.coerce(value, &ty, Coercion::Explicit)?;
        if !domain.not_null && domain.checks.is_empty() {
            return Ok(value);
        }
        let mut checks = Vec::with_capacity(domain.checks.len());
        for (name, condition) in &domain.checks {
            let condition = self.condition_on_value(condition, &domain.base)?;
            checks.push((name.clone(), condition));
        }
        let checked = Checked {
            domain: domain.name.clone(),
            not_null: domain.not_null,
            checks,
        };
        let kernel = checked.kernel(arrays);
        let base = ty.base();
        let function = scalar("domain", std::slice::from_ref(&base), base.clone(), kernel);
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

/// The checks of the values of a domain.
struct Checked {
    domain: String,
    not_null: bool,
    checks: Vec<(String, Expr)>,
}

impl Checked {
    /// Gives values on that are those of the domain, or arrays of them.
    fn kernel(self, arrays: bool) -> Kernel {
        Arc::new(move |call, columns| {
            let [column] = columns else {
                return Err(Error::internal("a domain is short of its value"));
            };
            match arrays {
                false => self.check(column, call.rows, call.session)?,
                true => {
                    let arrays = Arrays::of(&column.array)?;
                    let places = (0..column.array.len()).flat_map(|at| arrays.range(at));
                    let places = places.map(|at| at as u64).collect::<UInt64Array>();
                    let elements = take(arrays.values(), &places, None)?;
                    let count = elements.len();
                    self.check(&Values::rows(elements), count, call.session)?;
                }
            }
            Ok(repeated(Arc::clone(&column.array), call.rows))
        })
    }

    fn check(&self, values: &Values, rows: usize, session: &Session) -> Result<()> {
        let domain = &self.domain;
        if self.not_null && values.array.null_count() > 0 {
            let message = format!("domain {domain} does not allow null values");
            return Err(Error::new("23502", message));
        }
        let find = |id: ColumnId| (id == VALUE).then(|| values.clone());
        let input = Input::new(rows, &find, session);
        for (name, condition) in &self.checks {
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
        Ok(())
    }
}
