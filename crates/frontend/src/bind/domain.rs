//! Domains: values of another type that conditions hold for.
//!
//! An expression has the type that its domain is over. A cast to a domain checks each value, and
//! so does one to a composite type with fields of domains:
//!
//! ```text
//! CREATE DOMAIN positive AS integer CHECK (VALUE > 0)
//! (-1)::positive      error 23514
//! ```

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt64Array, cast::AsArray};
use arrow_select::take::take;
use sqlparser::ast::{ArrayElemTypeDef, DataType, Expr as Ast};

use super::{Binder, Coercion, parts};
use crate::error::{Error, Result};
use crate::evaluate::{Input, evaluate};
use crate::functions::kernel::{Column as Values, Kernel, repeated};
use crate::functions::{Session, scalar};
use crate::plan::{Column, ColumnId, Expr};
use crate::types::arrays::Arrays;
use crate::types::{FieldDomain, Type};

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
    /// Its name, and whether it is arrays of it.
    name: FieldDomain,
}

impl Written {
    /// Its name as it is shown.
    pub(super) fn shown(&self) -> String {
        let array = if self.name.of_elements { "[]" } else { "" };
        format!("{}{array}", self.domain.name)
    }

    /// The domain as that of a field.
    pub(super) fn of_field(self) -> FieldDomain {
        self.name
    }
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
                of => Ok(of.map(|mut of| {
                    of.name.of_elements = true;
                    of
                })),
            };
        }
        let DataType::Custom(name, modifiers) = written else {
            return Ok(None);
        };
        if !modifiers.is_empty() {
            return Ok(None);
        }
        let mut parts = parts(name)?;
        let name = FieldDomain {
            name: parts.pop().unwrap_or_default(),
            schema: parts.pop(),
            of_elements: false,
        };
        let domain = self.catalog.domain(name.schema.as_deref(), &name.name)?;
        Ok(domain.map(|domain| Written { domain, name }))
    }

    /// The domain that a function of a name fills records of from JSON: that of the cast which is
    /// its first argument.
    ///
    /// # Errors
    /// Errors of the catalog while it reads the domain.
    pub(super) fn filled_domain(
        &self,
        name: &str,
        first: Option<&&Ast>,
    ) -> Result<Option<Written>> {
        match name.ends_with("_populate_record") || name.ends_with("_populate_recordset") {
            true => self.domain_of_cast(first),
            false => Ok(None),
        }
    }

    /// The domain, or the arrays of one, that an expression casts to.
    ///
    /// # Errors
    /// Errors of the catalog while it reads the domain.
    pub(super) fn domain_of_cast(&self, first: Option<&&Ast>) -> Result<Option<Written>> {
        let mut first = first.copied();
        while let Some(Ast::Nested(within)) = first {
            first = Some(within);
        }
        match first {
            Some(Ast::Cast { data_type, .. }) => self.domain(data_type),
            _ => Ok(None),
        }
    }

    /// An expression of the type that a domain is over, or of arrays of it, with a check of its
    /// values.
    pub(super) fn of_domain(&mut self, value: Expr, written: &Written) -> Result<Expr> {
        let domain = &written.domain;
        let ty = match written.name.of_elements {
            true => domain.base.clone().array(),
            false => domain.base.clone(),
        };
        let value = self.coerce(value, &ty, Coercion::Explicit)?;
        let rule = self.rule_of_domain(domain, written.name.of_elements)?;
        Ok(checked(value, rule))
    }

    /// A value that has just been made, with a check of the domains that fields of its records,
    /// or of those in it, are of.
    ///
    /// # Errors
    /// Whatever is wrong with the conditions of a domain.
    pub(super) fn with_domains_of_fields(&self, value: Expr) -> Result<Expr> {
        let rule = self.rule_of_type(&value.ty)?;
        Ok(checked(value, rule))
    }

    /// Whether fields in values of a type are of domains that have something to check.
    ///
    /// # Errors
    /// Whatever is wrong with the conditions of a domain.
    pub(super) fn has_domains(&self, ty: &Type) -> Result<bool> {
        Ok(self.rule_of_type(ty)?.is_some())
    }

    /// The rule that values of a domain meet, or that elements of arrays do; `None` if it has none.
    fn rule_of_domain(&self, domain: &Domain, of_elements: bool) -> Result<Option<Rule>> {
        if !domain.not_null && domain.checks.is_empty() {
            return Ok(None);
        }
        let mut checks = Vec::with_capacity(domain.checks.len());
        for (name, condition) in &domain.checks {
            let condition = self.condition_on_value(condition, &domain.base)?;
            checks.push((name.clone(), condition));
        }
        let values = Rule::Values(Checked {
            domain: domain.name.clone(),
            not_null: domain.not_null,
            checks,
        });
        Ok(Some(match of_elements {
            true => Rule::Elements(Box::new(values)),
            false => values,
        }))
    }

    /// The rule that the domains in a type give to its values; `None` if there are none.
    fn rule_of_type(&self, ty: &Type) -> Result<Option<Rule>> {
        Ok(match ty {
            Type::Array(element) => {
                let rule = self.rule_of_type(element)?;
                rule.map(|rule| Rule::Elements(Box::new(rule)))
            }
            Type::Record(fields) => {
                let mut rules = Vec::new();
                for (at, (_, ty)) in fields.iter().enumerate() {
                    rules.extend(self.rule_of_type(ty)?.map(|rule| (at, rule)));
                    let Some(of) = fields.domain(at) else {
                        continue;
                    };
                    let domain = self.catalog.domain(of.schema.as_deref(), &of.name)?;
                    if let Some(domain) = domain {
                        let rule = self.rule_of_domain(&domain, of.of_elements)?;
                        rules.extend(rule.map(|rule| (at, rule)));
                    }
                }
                (!rules.is_empty()).then_some(Rule::Fields(rules))
            }
            _ => None,
        })
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
        let relations = [((String::new(), 0), vec![value])];
        let binder = Binder::new(self.catalog, self.session);
        binder.expression(
            condition,
            &relations,
            Some(&("value".to_owned(), Type::Bool)),
        )
    }
}

/// A value with a check, if there is one.
fn checked(value: Expr, rule: Option<Rule>) -> Expr {
    let Some(rule) = rule else {
        return value;
    };
    let ty = value.ty.clone();
    let base = ty.base();
    let kernel = rule.kernel();
    let function = scalar("domain", std::slice::from_ref(&base), base.clone(), kernel);
    Expr::call(Arc::new(function.with_nulls()), vec![value], ty)
}

/// A rule that domains give to values.
enum Rule {
    /// They are those of a domain.
    Values(Checked),
    /// It holds for the elements of arrays.
    Elements(Box<Rule>),
    /// It holds for fields of records, counted from 0.
    Fields(Vec<(usize, Rule)>),
}

impl Rule {
    /// Gives values on for which the rule holds.
    fn kernel(self) -> Kernel {
        Arc::new(move |call, columns| {
            let [column] = columns else {
                return Err(Error::internal("a domain is short of its value"));
            };
            if call.rows > 0 {
                self.check(&column.array, call.session)?;
            }
            Ok(repeated(Arc::clone(&column.array), call.rows))
        })
    }

    /// # Errors
    /// `23514` and `23502` for values of which it does not hold.
    fn check(&self, values: &ArrayRef, session: &Session) -> Result<()> {
        match self {
            Rule::Values(checked) => {
                checked.check(&Values::rows(Arc::clone(values)), values.len(), session)
            }
            Rule::Elements(rule) => {
                let arrays = Arrays::of(values)?;
                let places = (0..values.len()).flat_map(|at| arrays.range(at));
                let places = places.map(|at| at as u64).collect::<UInt64Array>();
                rule.check(&take(arrays.values(), &places, None)?, session)
            }
            Rule::Fields(rules) => {
                let records = values.as_struct_opt();
                let records = records.ok_or_else(|| Error::internal("a record is no struct"))?;
                // A record that is NULL has no fields.
                let places = (0..values.len()).filter(|at| records.is_valid(*at));
                let places = places.map(|at| at as u64).collect::<UInt64Array>();
                for (at, rule) in rules {
                    let field = records.columns().get(*at);
                    let field = field.ok_or_else(|| Error::internal("a field is missing"))?;
                    rule.check(&take(field, &places, None)?, session)?;
                }
                Ok(())
            }
        }
    }
}

/// The checks of the values of a domain.
struct Checked {
    domain: String,
    not_null: bool,
    checks: Vec<(String, Expr)>,
}

impl Checked {
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
