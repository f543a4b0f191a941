//! Aggregates that are created: a function leads from state to state, row by row, and another
//! one may make the result of the last state.
//!
//! ```text
//! CREATE AGGREGATE longest(text) (SFUNC = longer, STYPE = text)
//!
//! longest(x) over 'a', 'bbb':  NULL → 'a' → longer('a', 'bbb') = 'bbb'
//! ```
//!
//! A strict function is given no row with a NULL, and no NULL as the state; without a first
//! state the first value is it.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_select::take::take;

use super::{Binder, Coercion};
use crate::error::{Error, Result};
use crate::evaluate::{Input, constant, evaluate};
use crate::functions::aggregates::{Aggregate, Kind, State};
use crate::functions::kernel::{Call, Column as Values};
use crate::functions::{Overload, Returns, catalogue};
use crate::plan::{Column, ColumnId, Expr, ExprKind};
use crate::types::Type;

/// The column of the state; those of arguments follow. Columns that a binder makes come before.
const STATE: u32 = 1 << 30;

/// Aggregates in functions of aggregates, at most.
const DEPTH: usize = 16;

/// The schema, if it is no built-in function, and the name of a function.
pub type FunctionName = (Option<String>, String);

/// An aggregate that was created.
pub struct SqlAggregate {
    /// Its name.
    pub name: String,
    /// Its schema and its signature, which are no other's.
    pub identity: String,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
    /// The function that leads from state to state.
    pub step: FunctionName,
    /// The type of states.
    pub state: Returns,
    /// The text of the first state, which is NULL without one.
    pub initial: Option<String>,
    /// The function that makes the result of the last state.
    pub finish: Option<FunctionName>,
    /// Whether that function has a NULL for each argument, too.
    pub extra: bool,
}

impl Overload for SqlAggregate {
    fn parameters(&self) -> &[Type] {
        &self.parameters
    }
    fn variadic(&self) -> Option<&Type> {
        None
    }
    fn optional(&self) -> usize {
        0
    }
    fn returns(&self) -> &Returns {
        &self.state
    }
}

/// The transition function of an aggregate, and its final function, as expressions.
struct Steps {
    step: Expr,
    strict: bool,
    initial: ArrayRef,
    finish: Option<Expr>,
    arguments: Vec<Type>,
}

impl Binder<'_> {
    /// Binds a created aggregate for types of arguments and a type of states. Gives the aggregate
    /// and the type of its result.
    ///
    /// # Errors
    /// `42883` for functions that are not there, `42804` for those of other types, `0A000` for
    /// those that read tables.
    pub(super) fn compiled_aggregate(
        &mut self,
        created: &SqlAggregate,
        arguments: &[Type],
        state: &Type,
    ) -> Result<(Arc<Aggregate>, Type)> {
        let mut key = arguments.to_vec();
        key.push(state.clone());
        let key = (created.identity.clone(), key);
        if let Some(known) = self.created.get(&key) {
            return Ok(known.clone());
        }
        if self.within > DEPTH {
            return Err(Error::new("54001", "stack depth limit exceeded"));
        }
        let mut binder = Binder::new(self.catalog, self.session);
        binder.within = self.within + 1;
        let column = |at: usize, ty: &Type| {
            let id = ColumnId(STATE + at as u32);
            let (name, ty) = (String::new(), ty.clone());
            Column { id, name, ty }.reference()
        };
        let mut given = vec![column(0, state)];
        given.extend(
            arguments
                .iter()
                .enumerate()
                .map(|(at, ty)| column(at + 1, ty)),
        );
        let (step, strict) = binder.function_of_state(&created.step, given)?;
        if step.ty.base() != state.base() {
            let message = format!(
                "return type of transition function {} is not {}",
                created.step.1,
                state.standard_name()
            );
            return Err(Error::new("42804", message));
        }
        let first_fits = arguments
            .first()
            .is_some_and(|ty| ty.base() == state.base());
        if strict && created.initial.is_none() && !first_fits {
            let message = "must not omit initial value when transition function is strict and \
                           transition type is not compatible with input type";
            return Err(Error::new("42P13", message));
        }
        let finish = match &created.finish {
            None => None,
            Some(name) => {
                let mut given = vec![column(0, state)];
                if created.extra {
                    given.extend(arguments.iter().map(|ty| Expr::null(ty.clone())));
                }
                Some(binder.function_of_state(name, given)?.0)
            }
        };
        let initial = match &created.initial {
            None => Expr::null(state.clone()),
            Some(text) => {
                let text = Expr::text(text, Type::Unknown);
                binder.coerce(text, state, Coercion::Explicit)?
            }
        };
        let returns = finish.as_ref().map_or(state, |finish| &finish.ty).clone();
        let steps = Arc::new(Steps {
            step,
            strict,
            initial: constant(&initial, &[], self.session)?,
            finish,
            arguments: arguments.to_vec(),
        });
        let aggregate = Arc::new(Aggregate {
            name: Cow::Owned(created.name.clone()),
            kind: Kind::Plain,
            direct: Vec::new(),
            parameters: arguments.to_vec(),
            variadic: None,
            returns: Returns::Type(returns.clone()),
            skips_nulls: strict,
            ordered: true,
            state: Arc::new(move |_, _| {
                Ok(Box::new(Stepping {
                    steps: Arc::clone(&steps),
                    state: Arc::clone(&steps.initial),
                    begun: steps.initial.is_valid(0),
                }))
            }),
        });
        let made = (aggregate, returns);
        self.created.insert(key, made.clone());
        Ok(made)
    }

    /// The type of the result of an aggregate that is to be created; of one whose types depend on
    /// its arguments, the type that its declaration says.
    ///
    /// # Errors
    /// `42883` and `42804` for functions that do not fit, `42P13` for types that nothing tells.
    pub fn check_aggregate(mut self, created: &SqlAggregate) -> Result<Type> {
        let state = match &created.state {
            Returns::Type(ty) => ty.clone(),
            Returns::Of(of) => of(&created.parameters),
        };
        let is_told = |ty: &Type| !ty.is_pseudo();
        if created.parameters.iter().chain([&state]).all(is_told) {
            let (_, returns) = self.compiled_aggregate(created, &created.parameters, &state)?;
            return Ok(returns);
        }
        let untold = |what: &str, ty: &Type| {
            let mut parameters = created.parameters.iter();
            match is_told(ty) || parameters.any(|one| tells(one, ty)) {
                true => Ok(()),
                false => {
                    let message = format!("cannot determine {what} data type");
                    let detail = format!(
                        "A result of type {ty} requires at least one input of a type that tells it."
                    );
                    Err(Error::new("42P13", message).with_detail(detail))
                }
            }
        };
        untold("transition", &state)?;
        let mut given = vec![state.clone()];
        given.extend(created.parameters.iter().cloned());
        self.declared_result(&created.step, &given)?;
        let Some(finish) = &created.finish else {
            return Ok(state);
        };
        if !created.extra {
            given.truncate(1);
        }
        let returns = self.declared_result(finish, &given)?;
        untold("result", &returns)?;
        Ok(returns)
    }

    /// The result that a function is declared with which takes arguments of some types, among
    /// them those that stand for others.
    fn declared_result(&self, (schema, name): &FunctionName, given: &[Type]) -> Result<Type> {
        use super::function::SqlReturns;
        let fits = |declared: &[Type]| {
            declared.len() == given.len()
                && declared.iter().zip(given).all(|(to, ty)| takes(to, ty))
        };
        let declared = |returns: &Returns, parameters: &[Type]| match returns {
            Returns::Type(ty) => ty.clone(),
            Returns::Of(of) => of(parameters),
        };
        let known = catalogue().functions(name).iter();
        let mut known = known.filter(|one| schema.is_none() && fits(&one.parameters));
        if let Some(one) = known.next() {
            return Ok(declared(&one.returns, given));
        }
        for one in self.catalog.sql_functions(schema.as_deref(), name)? {
            let types = one.parameters.iter().map(|one| one.ty.clone());
            let types: Vec<Type> = types.map(|ty| ty.unwrap_or(Type::Any)).collect();
            if let SqlReturns::Value(ty) = &one.returns
                && fits(&types)
            {
                return Ok(ty.clone());
            }
        }
        let shown: Vec<String> = given.iter().map(Type::standard_name).collect();
        let message = format!("function {name}({}) does not exist", shown.join(", "));
        Err(Error::new("42883", message))
    }

    /// A call of a function by its name, and whether the function is strict.
    fn function_of_state(
        &mut self,
        (schema, name): &FunctionName,
        given: Vec<Expr>,
    ) -> Result<(Expr, bool)> {
        let own = match schema {
            None => Vec::new(),
            Some(schema) => self.catalog.sql_functions(Some(schema), name)?,
        };
        let types: Vec<Type> = given.iter().map(|value| value.ty.clone()).collect();
        let (strict, wanted) = self.told_of(name, &own, &types)?;
        let is_held_alike = |(wanted, ty): (&Type, &Type)| {
            let cast = catalogue().cast_of(ty, wanted);
            wanted.is_pseudo()
                || wanted.base() == ty.base()
                || cast.is_some_and(|cast| cast.function.is_none())
        };
        if !wanted.iter().zip(&types).all(is_held_alike) {
            let shown: Vec<String> = wanted.iter().map(Type::standard_name).collect();
            let shown = shown.join(", ");
            let message = format!("function {name}({shown}) requires run-time type coercion");
            return Err(Error::new("42804", message));
        }
        let value = self.alone(|binder| match own.is_empty() {
            true => binder.function(name, given),
            false => {
                let called = binder.sql_call(name, &own, given, Vec::new(), None, false)?;
                binder.value_of_call(called)
            }
        })?;
        let reads = value.any(&mut |expr| matches!(expr.kind, ExprKind::Subquery(_)));
        match reads {
            true => Err(Error::unsupported(format!(
                "function {name} has a query in its body, and cannot be that of an aggregate"
            ))),
            false => Ok((value, strict)),
        }
    }
}

/// Whether a parameter of a declared type takes arguments of a type, which may stand for others.
fn takes(declared: &Type, given: &Type) -> bool {
    let is_array = |ty: &Type| {
        matches!(
            ty,
            Type::Array(_) | Type::AnyArray | Type::AnyCompatibleArray
        )
    };
    match declared {
        Type::Any | Type::AnyElement | Type::AnyCompatible => true,
        Type::AnyNonArray => !is_array(given),
        Type::AnyArray | Type::AnyCompatibleArray => is_array(given),
        declared => declared.base() == given.base(),
    }
}

/// Whether an argument for a parameter tells a type.
fn tells(parameter: &Type, wanted: &Type) -> bool {
    let family = |ty: &Type| match ty {
        Type::AnyElement | Type::AnyArray | Type::AnyNonArray | Type::AnyEnum => 1,
        Type::AnyCompatible | Type::AnyCompatibleArray => 2,
        _ => 0,
    };
    family(parameter) > 0 && family(parameter) == family(wanted)
}

/// The state of one group.
struct Stepping {
    steps: Arc<Steps>,
    state: ArrayRef,
    /// Whether there has been a state that is not NULL.
    begun: bool,
}

/// One row of an array, which does not keep the array.
fn row_of(array: &ArrayRef, row: usize) -> Result<ArrayRef> {
    Ok(take(array, &UInt64Array::from(vec![row as u64]), None)?)
}

impl State for Stepping {
    fn add(&mut self, call: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let steps = Arc::clone(&self.steps);
        for row in 0..call.rows {
            if steps.strict && self.state.is_null(0) {
                if let (false, Some(first)) = (self.begun, arguments.first()) {
                    self.state = row_of(first, row)?;
                    self.begun = true;
                }
                continue;
            }
            let mut known = vec![Values::constant(Arc::clone(&self.state))];
            for (argument, _) in arguments.iter().zip(&steps.arguments) {
                known.push(Values::constant(row_of(argument, row)?));
            }
            let find = |id: ColumnId| {
                let at = id.0.checked_sub(STATE)?;
                known.get(at as usize).cloned()
            };
            let found = evaluate(&steps.step, &Input::new(1, &find, call.session))?;
            self.state = row_of(&found.array, 0)?;
        }
        Ok(())
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let Some(finish) = &self.steps.finish else {
            return Ok(Arc::clone(&self.state));
        };
        let state = Values::constant(Arc::clone(&self.state));
        let find = |id: ColumnId| (id == ColumnId(STATE)).then(|| state.clone());
        let found = evaluate(finish, &Input::new(1, &find, call.session))?;
        row_of(&found.array, 0)
    }

    fn size(&self) -> usize {
        128 + self.state.get_array_memory_size()
    }
}
