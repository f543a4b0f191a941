//! Functions that depend on what is stored or set, as functions of the front.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type};
use freestone_frontend::functions::kernel::{Call, Column, Kernel, repeated};
use freestone_frontend::functions::{Scalar, Volatility, scalar};
use freestone_frontend::types::{Reg, Type};
use freestone_storage::Catalog;

use crate::error::Error;
use crate::functions::OfStatement;
use crate::names::quoted;
use crate::oids::{relation_numbers, sequence_numbered};
use crate::types::type_of;

/// A function of a statement as one of the front, of any arguments that it takes.
pub(crate) fn wrapped(name: &'static str, function: &Arc<dyn OfStatement>) -> Arc<Scalar> {
    let returns = type_of(&Field::new("", function.returns(), true));
    Arc::new(Scalar {
        name,
        parameters: vec![Type::Any],
        variadic: Some(Type::Any),
        names: &[],
        defaults: &[],
        returns: returns.into(),
        volatility: match function.is_volatile() {
            true => Volatility::Volatile,
            false => Volatility::Stable,
        },
        strict: false,
        kernel: kernel_of(function),
    })
}

/// The overloads of a function of sequences: each takes a sequence by its name, and by its
/// number, as in `nextval(oid::regclass)`.
pub(super) fn of_sequences(
    name: &'static str,
    function: &Arc<dyn OfStatement>,
    catalog: &Arc<Catalog>,
) -> Vec<Arc<Scalar>> {
    let more: &[&[Type]] = match name {
        "setval" => &[&[Type::Int8], &[Type::Int8, Type::Bool]],
        "lastval" => {
            let kernel = kernel_of(function);
            return vec![Arc::new(scalar(name, &[], Type::Int8, kernel).volatile())];
        }
        _ => &[&[]],
    };
    let by_name = more.iter().map(|more| {
        let mut parameters = vec![Type::Text];
        parameters.extend_from_slice(more);
        let kernel = kernel_of(function);
        Arc::new(scalar(name, &parameters, Type::Int8, kernel).volatile())
    });
    let by_number = more.iter().map(|more| {
        let mut parameters = vec![Type::Reg(Reg::Class)];
        parameters.extend_from_slice(more);
        let mut types = parameters.clone();
        if let Some(first) = types.first_mut() {
            *first = Type::Text;
        }
        let (function, catalog) = (Arc::clone(function), Arc::clone(catalog));
        let kernel: Kernel = Arc::new(move |call, columns| {
            let names = |column: &Column| -> Result<Column, Error> {
                let numbers = cast(&column.array, &DataType::Int64)?;
                let numbers = numbers.as_primitive::<Int64Type>().iter();
                let names = numbers.map(|number| number.map(|one| numbered(&catalog, one)));
                let names = names.map(Option::transpose);
                let names: StringViewArray = names.collect::<Result<_, Error>>()?;
                Ok(Column {
                    array: Arc::new(names),
                    constant: column.constant,
                })
            };
            let mut columns = columns.to_vec();
            if let Some(first) = columns.first_mut() {
                *first = names(first).map_err(front_error)?;
            }
            let call = Call {
                types: &types,
                ..*call
            };
            called(&function, &call, &columns).map_err(front_error)
        });
        Arc::new(scalar(name, &parameters, Type::Int8, kernel).volatile())
    });
    by_name.chain(by_number).collect()
}

fn kernel_of(function: &Arc<dyn OfStatement>) -> Kernel {
    let function = Arc::clone(function);
    Arc::new(move |call, columns| called(&function, call, columns).map_err(front_error))
}

/// The full name of a sequence by its number, as a text has it.
fn numbered(catalog: &Catalog, number: i64) -> Result<String, Error> {
    if let Some((schema, sequence)) = sequence_numbered(catalog, number) {
        return Ok(format!("{}.{}", quoted(schema), quoted(&sequence.name)));
    }
    let mut all = relation_numbers(catalog).into_iter();
    Err(match all.find(|(known, ..)| *known == number) {
        Some((_, _, name)) => Error::new("42809", format!("\"{name}\" is not a sequence")),
        None => Error::new(
            "42P01",
            format!("relation with OID {number} does not exist"),
        ),
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

fn called(
    function: &Arc<dyn OfStatement>,
    call: &Call<'_>,
    columns: &[Column],
) -> Result<ArrayRef, Error> {
    let kinds: Vec<DataType> = call.types.iter().map(Type::arrow).collect();
    let wanted = function.parameters(&kinds)?;
    let mut values = Vec::with_capacity(columns.len());
    for (column, kind) in columns.iter().zip(&wanted) {
        values.push(Column {
            array: cast(&column.array, kind)?,
            constant: column.constant,
        });
    }
    let array = repeated(function.call(&values, call.rows)?, call.rows);
    let wanted = call.returns.arrow();
    Ok(
        match array.data_type() == &wanted || matches!(wanted, DataType::Null) {
            true => array,
            false => cast(&array, &wanted)?,
        },
    )
}
