//! Functions that depend on what is stored or set, as functions of the front.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, Volatility as Stability,
};
use freestone_frontend::functions::kernel::{Call, Column, Kernel};
use freestone_frontend::functions::{Returns, Scalar, Volatility};
use freestone_frontend::types::Type;

use crate::error::Error;
use crate::types::type_of;

/// A function of DataFusion as one of the front, of any arguments that it takes.
pub(super) fn wrapped(name: &'static str, function: &Arc<ScalarUDF>) -> Arc<Scalar> {
    let of_types = Arc::clone(function);
    let kernel = Arc::clone(function);
    let kernel: Kernel =
        Arc::new(move |call, columns| called(&kernel, call, columns).map_err(front_error));
    Arc::new(Scalar {
        name,
        // All of them take something, but for the last number that was taken.
        parameters: match name {
            "lastval" => Vec::new(),
            _ => vec![Type::Any],
        },
        variadic: Some(Type::Any),
        names: &[],
        defaults: &[],
        returns: Returns::Of(Arc::new(move |types| {
            returned(&of_types, types).map_or(Type::Text, |field| type_of(&field))
        })),
        volatility: match function.signature().volatility {
            Stability::Immutable => Volatility::Immutable,
            Stability::Stable => Volatility::Stable,
            Stability::Volatile => Volatility::Volatile,
        },
        strict: false,
        kernel,
    })
}

/// An error as one of the front.
pub(super) fn front_error(error: Error) -> freestone_frontend::Error {
    let mut front = freestone_frontend::Error::new(sqlstate(&error.sqlstate), error.message);
    front.detail = error.detail;
    front.hint = error.hint;
    front.position = error.position.map(|place| freestone_frontend::Position {
        line: place.line,
        column: place.column,
    });
    front
}

/// A code that lives as long as the program; there are few.
fn sqlstate(code: &str) -> &'static str {
    use std::collections::HashSet;
    use std::sync::{LazyLock, Mutex};
    static CODES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let Ok(mut codes) = CODES.lock() else {
        return "XX000";
    };
    if let Some(known) = codes.get(code) {
        return known;
    }
    let code: &'static str = Box::leak(code.to_owned().into_boxed_str());
    codes.insert(code);
    code
}

fn fields(types: &[Type]) -> Vec<Arc<Field>> {
    let fields = types
        .iter()
        .map(|ty| Arc::new(Field::new("", ty.arrow(), true)));
    fields.collect()
}

fn returned(function: &ScalarUDF, types: &[Type]) -> Result<Arc<Field>, Error> {
    let coerced = fields_with_udf(&fields(types), function)?;
    let values = vec![None; coerced.len()];
    Ok(function.return_field_from_args(ReturnFieldArgs {
        arg_fields: &coerced,
        scalar_arguments: &values,
    })?)
}

fn called(function: &ScalarUDF, call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef, Error> {
    let coerced = fields_with_udf(&fields(call.types), function)?;
    let mut values = Vec::with_capacity(columns.len());
    for (column, field) in columns.iter().zip(&coerced) {
        let array = cast(&column.array, field.data_type())?;
        values.push(match column.constant {
            true => {
                ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&array, 0)?)
            }
            false => ColumnarValue::Array(array),
        });
    }
    let scalars = vec![None; coerced.len()];
    let return_field = function.return_field_from_args(ReturnFieldArgs {
        arg_fields: &coerced,
        scalar_arguments: &scalars,
    })?;
    let result = function.invoke_with_args(ScalarFunctionArgs {
        args: values,
        arg_fields: coerced,
        number_rows: call.rows,
        return_field,
        config_options: Arc::new(ConfigOptions::default()),
    })?;
    let array = result.into_array(call.rows)?;
    let wanted = call.returns.arrow();
    Ok(
        match array.data_type() == &wanted || matches!(wanted, DataType::Null) {
            true => array,
            false => cast(&array, &wanted)?,
        },
    )
}
