//! Functions of arrays.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use freestone_frontend::functions::kernel::Column;

use super::Expr;
use crate::error::{Error, Result};

/// A function of arrays. Two are the same if they are of one Rust type and equal.
pub(crate) trait Function: Same + fmt::Debug + Send + Sync {
    /// The Arrow type of its values for arguments of some types.
    fn kind(&self, arguments: &[DataType]) -> DataType;

    /// Whether it may have another value each time that it is called.
    fn is_volatile(&self) -> bool {
        false
    }

    /// Whether it has a value for each argument of its types.
    fn never_fails(&self) -> bool {
        false
    }

    /// Its value for each of some rows. If all arguments are constant, it is called for one row.
    ///
    /// # Errors
    /// Errors of computing it.
    fn call(&self, arguments: &[Column], rows: usize) -> Result<ArrayRef>;
}

/// Functions of different Rust types are compared.
pub(crate) trait Same {
    fn as_any(&self) -> &dyn Any;
    fn is_same(&self, other: &dyn Any) -> bool;
    fn digest(&self, state: &mut dyn Hasher);
}

impl<T: Eq + Hash + Any> Same for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| self == other)
    }

    fn digest(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
}

/// A function and what it is given.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: Arc<dyn Function>,
    pub(crate) arguments: Vec<Expr>,
}

impl Call {
    /// A call of a function.
    pub(crate) fn of(function: impl Function + 'static, arguments: Vec<Expr>) -> Expr {
        Expr::Call(Self {
            function: Arc::new(function),
            arguments,
        })
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.function.is_same((*other.function).as_any()) && self.arguments == other.arguments
    }
}

impl Eq for Call {}

impl Hash for Call {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.digest(state);
        self.arguments.hash(state);
    }
}

/// The only argument of a function.
///
/// # Errors
/// `XX000` for none or several.
pub(crate) fn only(arguments: &[Column]) -> Result<&ArrayRef> {
    match arguments {
        [only] => Ok(&only.array),
        _ => Err(Error::internal("a function of one value")),
    }
}
