//! Columns that are held in another form than the front has them.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use freestone_frontend::functions::kernel::Column;
use freestone_frontend::types::Type;

use super::Typed;
use super::expression::cast;
use crate::error::Result;
use crate::expression::{Call, Expr, Function, only};
use crate::values::DIMENSIONS_KEY;
use crate::values::convert::{is_held_as_text, loaded};

/// Values of a column as the front has them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Loaded(Type);

/// The values of a column as the front has them.
pub(super) fn load(column: Expr, ty: &Type) -> Expr {
    Call::of(Loaded(ty.clone()), vec![column])
}

/// A column that stands somewhere in an Arrow type, as one of a type of the front.
pub(super) fn of_column(place: Expr, held: &DataType, ty: &Type) -> Typed {
    let wanted = ty.arrow();
    if *held == wanted || matches!(ty, Type::Numeric(_)) && held.is_decimal() {
        return Typed::new(place, held.clone());
    }
    // Tables of the catalog have lists where the front has arrays.
    let is_list = matches!((held, ty), (DataType::List(_), Type::Array(_)));
    let value = match is_list || *held == DataType::Utf8View && is_held_as_text(ty) {
        true => load(place, ty),
        false => cast(place, &wanted),
    };
    Typed::new(value, wanted)
}

/// A column whose arrays have some number of dimensions, and says so if there are several.
pub(super) fn marked(name: &str, kind: DataType, dimensions: u8) -> FieldRef {
    let field = Field::new(name, kind, true);
    let marked = (dimensions > 1).then(|| (DIMENSIONS_KEY.to_owned(), dimensions.to_string()));
    Arc::new(field.with_metadata(marked.into_iter().collect()))
}

impl Function for Loaded {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.0.arrow()
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        loaded(only(arguments)?, &self.0)
    }
}
