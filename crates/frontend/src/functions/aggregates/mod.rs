//! Aggregates: their signatures and how they are computed.
//!
//! An [`Aggregate`] is one overload; it makes a [`State`] for each group, which is given the
//! group's rows and is asked for the result:
//!
//! ```text
//! sum(x) over 1, NULL, 2:  state() ─▶ add([1, 2]) ─▶ result() = 3
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `general` | counts, least and greatest values, booleans and bits, first and last |
//! | `sums` | `sum` and `avg` by PostgreSQL's result types, and products and means of floats |
//! | `exact` | sums of integers and decimals without a limit, and PostgreSQL's scale of quotients |
//! | `collect` | arrays, strings and JSON of all values |
//! | `statistics` | variances, regressions, moments, entropy |
//! | `ranges` | multiranges of ranges, and what ranges have in common |
//! | `sets` | ordered-set and hypothetical-set aggregates |
//!
//! GROUPING belongs to the binder, ORDER BY, DISTINCT and FILTER to the operator that calls.

mod collect;
mod exact;
mod general;
mod ranges;
mod sets;
mod statistics;
mod sums;
#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};

use super::kernel::{Call, Input, Output};
use super::{Catalogue, Returns};
pub use collect::collected;

use crate::error::{Error, Result};
use crate::types::Type;

/// How an aggregate's arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `sum(x)`.
    Plain,
    /// `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`: direct arguments, then ordered ones.
    OrderedSet,
    /// `rank(5) WITHIN GROUP (ORDER BY x)`: a row that is thought to be among the others. There
    /// are as many direct arguments as ordered ones, and each has the type of its fellow.
    Hypothetical,
}

/// One overload of an aggregate. Several kinds may have one name, such as `mode`: a call with
/// WITHIN GROUP means those that are not [`Kind::Plain`].
#[derive(Clone)]
pub struct Aggregate {
    /// Its name.
    pub name: Cow<'static, str>,
    /// How its arguments are written.
    pub kind: Kind,
    /// Types of the direct arguments of an ordered-set aggregate.
    pub direct: Vec<Type>,
    /// Types of the arguments that each row gives.
    pub parameters: Vec<Type>,
    /// The type of any number of further arguments.
    pub variadic: Option<Type>,
    /// Result type.
    pub returns: Returns,
    /// Whether rows with a NULL among the arguments are passed over.
    pub skips_nulls: bool,
    /// Whether the order in which rows come changes the result.
    pub ordered: bool,
    /// Makes the state of one group. The call's `types` are those of direct arguments and of
    /// parameters, one after the other; `direct` holds the values of the former, one row each.
    pub state: Maker,
}

/// Makes the state of one group.
pub type Maker = Arc<dyn Fn(&Call<'_>, &[ArrayRef]) -> Result<Box<dyn State>> + Send + Sync>;

impl fmt::Debug for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// The order of one ordered argument: `ORDER BY x DESC NULLS LAST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Direction {
    /// Whether greater values come first.
    pub descending: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// An end of the order of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The least value.
    Least,
    /// The greatest value.
    Greatest,
}

/// The knowledge of a group's rows, from which its result is computed.
pub trait State: Send {
    /// Adds rows; of ordered aggregates in their order, of DISTINCT ones each value once.
    /// Rows that FILTER drops, and those that `skips_nulls` passes over, never come. The
    /// call's `rows` is the number of rows, which `count(*)` cannot learn from arguments.
    ///
    /// # Errors
    /// Errors of the aggregate.
    fn add(&mut self, call: &Call<'_>, arguments: &[ArrayRef]) -> Result<()>;

    /// The result, an array of one row. It may be asked for again, and after more rows.
    ///
    /// # Errors
    /// Errors of the aggregate.
    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef>;

    /// Takes back the rows that were added first, if the aggregate can. After `false` the
    /// state is of no more use, and the group must be computed anew.
    ///
    /// # Errors
    /// Errors of the aggregate.
    fn remove(&mut self, _call: &Call<'_>, _arguments: &[ArrayRef]) -> Result<bool> {
        Ok(false)
    }

    /// Tells how the rows will be ordered, before the first comes. Hypothetical-set aggregates
    /// take each argument as ascending with NULLs last unless they are told.
    fn set_order(&mut self, _directions: &[Direction]) {}

    /// Which end of the order of its argument the result is, if it is one and nothing else.
    fn extreme(&self) -> Option<Extreme> {
        None
    }

    /// Bytes of memory that it holds.
    fn size(&self) -> usize {
        64
    }
}

/// An aggregate that folds the values of its only argument.
pub(super) trait Fold: Default + Send + 'static {
    /// How the argument is read.
    type In: Input;
    /// How the result is written.
    type Out: Output;
    /// Adds a value.
    fn step(&mut self, item: <Self::In as Input>::Item<'_>) -> Result<()>;
    /// Takes back the oldest value, if it can.
    fn undo(&mut self, _item: <Self::In as Input>::Item<'_>) -> Result<bool> {
        Ok(false)
    }
    /// The result; `None` for NULL.
    fn finish(&self) -> Result<Option<<Self::Out as Output>::Item>>;
}

/// The state of a [`Fold`].
struct Folding<F>(F);

impl<F: Fold> State for Folding<F> {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        each::<F::In>(argument(arguments, 0)?, |item| self.0.step(item))
    }

    fn remove(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<bool> {
        let mut able = true;
        each::<F::In>(argument(arguments, 0)?, |item| {
            able = able && self.0.undo(item)?;
            Ok(())
        })?;
        Ok(able)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        one::<F::Out>(call, self.0.finish()?)
    }

    fn size(&self) -> usize {
        size_of::<F>()
    }
}

/// Makes states of a [`Fold`].
pub(super) fn fold<F: Fold>() -> Maker {
    make(|_, _| Ok(Folding(F::default())))
}

/// Makes states by a closure.
fn make<S: State + 'static>(
    state: impl Fn(&Call<'_>, &[ArrayRef]) -> Result<S> + Send + Sync + 'static,
) -> Maker {
    Arc::new(move |call, direct| Ok(Box::new(state(call, direct)?)))
}

/// An aggregate that passes over NULLs and that no order changes.
pub(super) fn plain(
    name: &'static str,
    parameters: &[Type],
    returns: impl Into<Returns>,
    state: Maker,
) -> Aggregate {
    Aggregate {
        name: Cow::Borrowed(name),
        kind: Kind::Plain,
        direct: Vec::new(),
        parameters: parameters.to_vec(),
        variadic: None,
        returns: returns.into(),
        skips_nulls: true,
        ordered: false,
        state,
    }
}

impl Aggregate {
    /// Is given rows with NULLs, too.
    fn with_nulls(mut self) -> Self {
        self.skips_nulls = false;
        self
    }

    /// Depends on the order of rows.
    fn in_order(mut self) -> Self {
        self.ordered = true;
        self
    }

    /// Is written with WITHIN GROUP, after direct arguments of some types.
    fn within_group(mut self, direct: &[Type]) -> Self {
        self.kind = Kind::OrderedSet;
        self.direct = direct.to_vec();
        self.ordered = true;
        self
    }

    /// Whether the order that a call asks for changes the result: sums of floats are rounded at
    /// each step.
    pub fn follows_order(&self) -> bool {
        let is_float = |ty: &Type| matches!(ty, Type::Float4 | Type::Float8);
        self.ordered || self.parameters.iter().any(is_float)
    }
}

/// The type of the first argument with its modifiers, as a result type.
fn as_argument() -> Returns {
    Returns::Of(Arc::new(|types| {
        types.first().cloned().unwrap_or(Type::Text)
    }))
}

/// The argument at a place.
fn argument(arguments: &[ArrayRef], at: usize) -> Result<&ArrayRef> {
    let found = arguments.get(at);
    found.ok_or_else(|| Error::internal("an aggregate is short of arguments"))
}

/// Calls a closure for each value that is not NULL.
fn each<T: Input>(array: &ArrayRef, mut f: impl FnMut(T::Item<'_>) -> Result<()>) -> Result<()> {
    let reader = T::reader(array)?;
    let nulls = array.null_count() > 0;
    for row in 0..array.len() {
        if !nulls || !array.is_null(row) {
            f(T::get(&reader, array, row))?;
        }
    }
    Ok(())
}

/// An array of one value, or of NULL.
fn one<R: Output>(call: &Call<'_>, item: Option<R::Item>) -> Result<ArrayRef> {
    let mut writer = R::writer(call.returns, 1);
    match item {
        Some(item) => R::put(&mut writer, item)?,
        None => R::null(&mut writer),
    }
    Ok(R::finish(writer))
}

/// NULL as an array of one row.
fn null(call: &Call<'_>) -> ArrayRef {
    arrow_array::new_null_array(&call.returns.arrow(), 1)
}

/// A copy of one row, which does not keep the array it is from.
fn copied(array: &ArrayRef, row: usize) -> Result<ArrayRef> {
    let row = arrow_array::UInt64Array::from(vec![row as u64]);
    Ok(arrow_select::take::take(array, &row, None)?)
}

/// `22003`: a sum of finite floats that is infinite.
fn float_overflow() -> Error {
    Error::new("22003", "value out of range: overflow")
}

/// `54000`: a result that would take more than a gigabyte.
fn too_long() -> Error {
    Error::new("54000", "requested length too large")
}

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    general::register(c);
    ranges::register(c);
    sums::register(c);
    collect::register(c);
    statistics::register(c);
    sets::register(c);
}
