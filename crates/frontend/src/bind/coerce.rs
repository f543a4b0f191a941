//! Conversions: of literals, by casts, and of several values to one type.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::ArrayRef;

use super::Binder;
use crate::error::{Error, Result};
use crate::evaluate::fold::is_small;
use crate::functions::kernel::{Call, Column as Values};
use crate::functions::objects::{has_names, object_cast, reads_names, with_names};
use crate::functions::{Cast, Context, Scalar, Volatility, cast_between, catalogue, common_type};
use crate::plan::{Expr, ExprKind, Plan};
use crate::types::{Category, Type};

/// How a conversion is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coercion {
    /// By a cast that is written.
    Explicit,
    /// By storing a value in a column.
    Assignment,
    /// By its context.
    Implicit,
}

impl Binder<'_> {
    /// An expression as a value of a type.
    ///
    /// # Errors
    /// `42846` or `42804` if there is no such cast, and those of reading a literal.
    pub(super) fn coerce(&mut self, expr: Expr, to: &Type, how: Coercion) -> Result<Expr> {
        let from = expr.ty.clone();
        if from == *to || to.is_pseudo() {
            return Ok(expr);
        }
        if let ExprKind::Parameter(number) = expr.kind
            && from == Type::Unknown
        {
            return self.typed_parameter(number, to);
        }
        if expr.is_literal_null() {
            if from != Type::Unknown && from.base() != to.base() && how != Coercion::Implicit {
                self.cast(&from, to, how)?;
            }
            return Ok(Expr::null(to.clone()));
        }
        // A literal of an array of objects is one of their names.
        if from == Type::Unknown
            && let Type::Array(element) = to
            && reads_names(element)
        {
            let names = self.coerce(expr, &Type::Text.array(), Coercion::Implicit)?;
            return self.coerce(names, to, Coercion::Explicit);
        }
        // Literals of arrays and records are converted part by part.
        if let (ExprKind::Array(_), Type::Array(element)) = (&expr.kind, to)
            && let ExprKind::Array(parts) = expr.kind
        {
            if parts.is_empty() && *from.innermost() != Type::Unknown {
                self.cast(&from, to, how)?;
            }
            let parts = parts.into_iter();
            let parts = parts.map(|part| {
                let to = match part.ty {
                    Type::Array(_) => to,
                    _ => element,
                };
                self.coerce(part, to, how)
            });
            let parts: Vec<Expr> = parts.collect::<Result<_>>()?;
            return Ok(Expr::new(ExprKind::Array(parts), to.clone()));
        }
        if let (ExprKind::Row(parts), Type::Record(fields)) = (&expr.kind, to)
            && parts.len() == fields.len()
        {
            let ExprKind::Row(parts) = expr.kind else {
                return Err(Error::internal("a row that is none"));
            };
            let parts = parts.into_iter().zip(fields.iter());
            let parts = parts.map(|(part, (_, ty))| self.coerce(part, ty, how));
            let parts = parts.collect::<Result<_>>()?;
            return self.with_domains_of_fields(Expr::new(ExprKind::Row(parts), to.clone()));
        }
        let cast = self.cast(&from, to, how)?;
        let made = self.cast_by(expr, to, cast)?;
        match from.base() == to.base() {
            true => Ok(made),
            false => self.with_domains_of_fields(made),
        }
    }

    /// The cast between two types in a context.
    fn cast(&self, from: &Type, to: &Type, how: Coercion) -> Result<Cast> {
        let (base, target) = (from.base(), to.base());
        let named = has_names(&base) || has_names(&target) || reads_names(&target);
        let objects = || named.then(|| self.catalog.objects());
        let objects = objects().and_then(|objects| object_cast(&objects, &base, &target));
        let known = if objects.is_some() {
            objects.map(|cast| match *from {
                Type::Unknown => Cast {
                    context: Context::Implicit,
                    ..cast
                },
                _ => cast,
            })
        } else if *from == Type::Unknown {
            cast_between(&Type::Text, &target).map(|cast| Cast {
                context: Context::Implicit,
                ..cast
            })
        } else if base == target {
            let known = catalogue().cast_of(&base, &target).cloned();
            // Modifiers of elements and fields change values: a length, or digits.
            let nested = matches!(from, Type::Array(_) | Type::Record(_)) && from != to;
            let known = known.or_else(|| nested.then(|| cast_between(from, to)).flatten());
            Some(Cast {
                context: Context::Implicit,
                function: known.and_then(|cast| cast.function),
            })
        } else {
            cast_between(&base, &target)
        };
        let allowed = |cast: &Cast| match how {
            Coercion::Explicit => true,
            Coercion::Assignment => cast.context >= Context::Assignment,
            Coercion::Implicit => cast.context == Context::Implicit,
        };
        if let Some(cast) = known.filter(allowed) {
            return Ok(cast);
        }
        Err(match how {
            Coercion::Explicit => {
                let (from, to) = (base.standard_name(), target.standard_name());
                let error = Error::new("42846", format!("cannot cast type {from} to {to}"));
                match other_width(&base, &target) {
                    Some(detail) => error.with_detail(detail),
                    None => error,
                }
            }
            _ => Error::new("42804", format!("a value of type {from} is no {to}")),
        })
    }

    /// Whether values of a type can be those of another.
    pub(super) fn coercible(&self, from: &Type, to: &Type, how: Coercion) -> bool {
        from == to || self.cast(from, to, how).is_ok()
    }

    fn cast_by(&mut self, expr: Expr, to: &Type, cast: Cast) -> Result<Expr> {
        let Some(function) = cast.function else {
            return Ok(expr.relabelled(to));
        };
        let from = match expr.ty {
            Type::Unknown => Type::Text,
            _ => expr.ty.clone(),
        };
        self.dated |= is_dated(&expr, to);
        if let Some(value) = expr.literal() {
            // A literal in quotes is read here; another that cannot be converted fails when it
            // is run.
            match self.computed(&function, &[from], std::slice::from_ref(value), to) {
                Ok(array) => return Ok(Expr::new(ExprKind::Literal(array), to.clone())),
                Err(error) if expr.ty == Type::Unknown => return Err(error),
                Err(_) => {}
            }
        }
        Ok(Expr::call(function, vec![expr], to.clone()))
    }

    /// The result of a function for values.
    pub(super) fn computed(
        &self,
        function: &Arc<Scalar>,
        types: &[Type],
        values: &[ArrayRef],
        returns: &Type,
    ) -> Result<ArrayRef> {
        let call = Call {
            rows: 1,
            types,
            returns,
            session: self.session,
        };
        let columns: Vec<Values> = values.iter().cloned().map(Values::constant).collect();
        (function.kernel)(&call, &columns)
    }

    /// A call, computed at once if it is immutable and all arguments are literals.
    pub(super) fn folded(&self, expr: Expr) -> Expr {
        let ExprKind::Call {
            function,
            arguments,
        } = &expr.kind
        else {
            return expr;
        };
        let values: Option<Vec<ArrayRef>> = arguments
            .iter()
            .map(|argument| argument.literal().cloned())
            .collect();
        let Some(values) = values else { return expr };
        if !is_small(function, &values) {
            return expr;
        }
        if function.volatility != Volatility::Immutable {
            return expr;
        }
        if function.strict && arguments.iter().any(Expr::is_literal_null) {
            return Expr::null(expr.ty);
        }
        let types: Vec<Type> = arguments
            .iter()
            .map(|argument| argument.ty.clone())
            .collect();
        match self.computed(function, &types, &values, &expr.ty) {
            Ok(array) if array.len() == 1 && array.data_type() == &expr.ty.arrow() => {
                Expr::new(ExprKind::Literal(array), expr.ty)
            }
            _ => expr,
        }
    }

    /// A parameter whose type is found by its use.
    fn typed_parameter(&mut self, number: usize, to: &Type) -> Result<Expr> {
        // Clients send names of objects as texts.
        if reads_names(to.innermost()) {
            let text = match to {
                Type::Array(_) => Type::Text.array(),
                _ => Type::Text,
            };
            let name = self.typed_parameter(number, &text)?;
            return self.coerce(name, to, Coercion::Explicit);
        }
        if self.parameters.len() < number {
            self.parameters.resize(number, None);
        }
        let ty = to.base();
        match &self.parameters[number - 1] {
            None => self.parameters[number - 1] = Some(ty.clone()),
            Some(known) if *known == ty => {}
            Some(known) => {
                let known = Expr::new(ExprKind::Parameter(number), known.clone());
                return self.coerce(known, to, Coercion::Implicit);
            }
        }
        let parameter = Expr::new(ExprKind::Parameter(number), ty);
        let parameter = self.coerce(parameter, to, Coercion::Implicit)?;
        self.with_domains_of_fields(parameter)
    }

    /// An expression whose type is known: a literal without context is a text.
    pub(super) fn known_expr(&mut self, expr: Expr) -> Result<Expr> {
        match expr.ty {
            Type::Unknown => self.coerce(expr, &Type::Text, Coercion::Implicit),
            _ => Ok(expr),
        }
    }

    /// A plan whose columns all have known types.
    pub(super) fn known(&mut self, plan: Plan) -> Result<Plan> {
        let columns = plan.columns();
        if columns.iter().all(|column| column.ty != Type::Unknown) {
            return Ok(plan);
        }
        let types: Vec<Type> = columns.iter().map(|column| column.ty.clone()).collect();
        let types = types.into_iter().map(|ty| match ty {
            Type::Unknown => Type::Text,
            other => other,
        });
        self.plan_of_types(plan, &types.collect::<Vec<_>>(), Coercion::Implicit)
    }

    /// A plan whose columns are as clients are shown them: objects by their names.
    pub(super) fn by_names(&mut self, plan: Plan) -> Result<Plan> {
        let columns = plan.columns();
        if !columns.iter().any(|column| has_names(&column.ty)) {
            return Ok(plan);
        }
        let mut items = Vec::with_capacity(columns.len());
        for column in columns {
            let value = column.reference();
            if !has_names(&column.ty) {
                items.push((column, value));
                continue;
            }
            let text = with_names(&column.ty);
            let value = self.coerce(value, &text, Coercion::Explicit)?;
            items.push((self.column(column.name, text), value));
        }
        Ok(Plan::Project {
            input: Box::new(plan),
            items,
        })
    }

    /// A plan with its columns converted to types.
    pub(super) fn plan_of_types(
        &mut self,
        plan: Plan,
        types: &[Type],
        how: Coercion,
    ) -> Result<Plan> {
        let columns = plan.columns();
        if columns
            .iter()
            .zip(types)
            .all(|(column, ty)| column.ty == *ty)
        {
            return Ok(plan);
        }
        // Literals of a SELECT list or of VALUES are converted where they stand.
        let plan = match plan {
            Plan::Project { input, items } => {
                let mut converted = Vec::with_capacity(items.len());
                for ((mut column, expr), ty) in items.into_iter().zip(types) {
                    let expr = self.coerce(expr, ty, how)?;
                    if column.ty != expr.ty {
                        column = self.column(column.name, expr.ty.clone());
                    }
                    converted.push((column, expr));
                }
                return Ok(Plan::Project {
                    input,
                    items: converted,
                });
            }
            other => other,
        };
        let mut items = Vec::with_capacity(columns.len());
        for (column, ty) in columns.iter().zip(types) {
            let expr = self.coerce(column.reference(), ty, how)?;
            let target = match column.ty == *ty {
                true => column.clone(),
                false => self.column(column.name.clone(), ty.clone()),
            };
            items.push((target, expr));
        }
        Ok(Plan::Project {
            input: Box::new(plan),
            items,
        })
    }

    /// A plan with its columns as values that can be stored in columns of some names and types.
    pub(super) fn stored(&mut self, plan: Plan, targets: &[(String, Type)]) -> Result<Plan> {
        let columns = plan.columns();
        let mut types = Vec::with_capacity(targets.len());
        for (column, target) in columns.iter().zip(targets) {
            let stored = self.storable(&column.ty, target)?;
            types.push(match (&stored, &column.ty) {
                // Numbers of any digits are stored as they are held.
                (Type::Numeric(None), held @ Type::Numeric(Some(_))) => held.clone(),
                _ => stored,
            });
        }
        self.plan_of_types(plan, &types, Coercion::Assignment)
    }

    /// The type in which values of a type are stored in a column. Lengths are checked where the
    /// values are stored.
    ///
    /// # Errors
    /// `42804` if they cannot be stored.
    pub(super) fn storable(&self, from: &Type, target: &(String, Type)) -> Result<Type> {
        let (name, to) = target;
        let to = to.without_length();
        if let Some(detail) = other_width(from, &to) {
            let message = format!("cannot cast type {from} to {to}");
            return Err(Error::new("42846", message).with_detail(detail));
        }
        if *from != Type::Unknown && self.cast(from, &to, Coercion::Assignment).is_err() {
            let message = format!(
                "column \"{name}\" is of type {} but expression is of type {}",
                to.standard_name(),
                from.standard_name()
            );
            return Err(Error::new("42804", message)
                .with_hint("You will need to rewrite or cast the expression."));
        }
        Ok(to)
    }

    /// Values brought to one type, as those of CASE or ARRAY.
    ///
    /// # Errors
    /// `42804` if there is none.
    pub(super) fn unified(&mut self, values: Vec<Expr>, what: &str) -> Result<Vec<Expr>> {
        let common = common_of_exprs(values.iter(), what)?;
        let values = values.into_iter();
        values
            .map(|value| self.coerce(value, &common, Coercion::Implicit))
            .collect()
    }
}

/// The fault in the number of fields of a row that is to be of a composite type.
fn other_width(from: &Type, to: &Type) -> Option<&'static str> {
    let (Type::Record(from), Type::Record(to)) = (from, to) else {
        return None;
    };
    match from.len().cmp(&to.len()) {
        _ if from.name().is_some() => None,
        Ordering::Less => Some("Input has too few columns."),
        Ordering::Equal => None,
        Ordering::Greater => Some("Input has too many columns."),
    }
}

/// Whether a literal of a date or time is one of the words for the moment.
fn is_dated(expr: &Expr, to: &Type) -> bool {
    to.category() == Category::DateTime
        && expr.literal_text().is_some_and(|text| {
            let text = text.to_lowercase();
            ["now", "today", "tomorrow", "yesterday"]
                .iter()
                .any(|word| text.contains(word))
        })
}

/// The type that values of some types have in common.
///
/// # Errors
/// `42804` if there is none.
pub(super) fn common_of(types: &[Type], what: &str) -> Result<Type> {
    common_type(types).ok_or_else(|| {
        let mut known = types.iter().filter(|ty| **ty != Type::Unknown);
        let first = known.next().cloned().unwrap_or(Type::Unknown);
        let differs = known.find(|ty| common_type(&[first.clone(), (*ty).clone()]).is_none());
        let other = differs.unwrap_or(&first);
        let is_row = |ty: &Type| matches!(ty, Type::Record(fields) if fields.name().is_none());
        if is_row(&first) && is_row(other) {
            return Error::unsupported(format!(
                "{what} of rows whose fields have types that do not match is not supported"
            ));
        }
        if first.category() == other.category() && !is_row(&first) && !is_row(other) {
            let (other, first) = (other.standard_name(), first.standard_name());
            let what = if what == "CASE" { "CASE/WHEN" } else { what };
            let message = format!("{what} could not convert type {other} to {first}");
            return Error::new("42846", message);
        }
        let (first, other) = (first.standard_name(), other.standard_name());
        Error::new(
            "42804",
            format!("{what} types {first} and {other} cannot be matched"),
        )
    })
}

/// The common type of some expressions. The text of a literal in quotes has no modifiers, so
/// that the common type has none where there is one.
///
/// # Errors
/// `42804` if there is none.
pub(super) fn common_of_exprs<'e>(
    exprs: impl Iterator<Item = &'e Expr> + Clone,
    what: &str,
) -> Result<Type> {
    let types: Vec<Type> = exprs.clone().map(|expr| expr.ty.clone()).collect();
    let common = common_of(&types, what)?;
    let mut exprs = exprs;
    let text = exprs.any(|expr| expr.ty == Type::Unknown && !expr.is_literal_null());
    Ok(if text { common.base() } else { common })
}
