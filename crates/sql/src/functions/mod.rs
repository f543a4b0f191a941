//! Functions that are made for each statement: they depend on what is stored or set.

pub(crate) mod sequences;
pub(crate) mod settings;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use freestone_frontend::functions::kernel::Column;

use crate::error::Result;

/// A function that is made for each statement.
pub(crate) trait OfStatement: Send + Sync {
    /// Whether it may have another value each time that it is called in the statement.
    fn is_volatile(&self) -> bool;

    /// The types of its parameters for arguments of some types.
    ///
    /// # Errors
    /// `42883` for another number of arguments.
    fn parameters(&self, given: &[DataType]) -> Result<Vec<DataType>>;

    /// The type of its values.
    fn returns(&self) -> DataType;

    /// Its value for each of some rows, of arguments of its parameters' types.
    ///
    /// # Errors
    /// Errors of computing it.
    fn call(&self, arguments: &[Column], rows: usize) -> Result<ArrayRef>;
}
