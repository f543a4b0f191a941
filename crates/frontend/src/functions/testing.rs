//! Calls of catalogue functions with values written as text, for tests.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray, new_null_array};

use super::kernel::{Call, Column};
use super::{Resolved, Scalar, Session, catalogue, resolve_function, resolve_operator};
use crate::error::{Error, Result};
use crate::types::Type;

/// An argument: its type and PostgreSQL's text form of its value, `None` for NULL.
pub type Argument<'a> = (Type, Option<&'a str>);

/// The text form of a function's result; `None` for NULL.
pub fn call(name: &str, arguments: &[Argument<'_>]) -> Result<Option<String>> {
    let types: Vec<Type> = arguments.iter().map(|(ty, _)| ty.clone()).collect();
    let found = resolve_function(catalogue().functions(name), &types);
    let found = found.map_err(|why| Error::new("42883", format!("{name}: {why:?}")))?;
    shown(&found, arguments)
}

/// The same of an operator.
pub fn operate(symbol: &str, operands: &[Argument<'_>]) -> Result<Option<String>> {
    let types: Vec<Type> = operands.iter().map(|(ty, _)| ty.clone()).collect();
    let found = resolve_operator(symbol, &types);
    let found = found.map_err(|why| Error::new("42883", format!("{symbol}: {why:?}")))?;
    shown(&found, operands)
}

/// The text form of a value cast to a type.
pub fn cast(argument: Argument<'_>, to: &Type) -> Result<Option<String>> {
    let value = read(&argument)?;
    text(&casted(value, &argument.0, to)?, to)
}

/// The text form of the result of a function that was not found by name; arguments have its
/// parameters' types.
pub fn apply(
    function: &Scalar,
    returns: &Type,
    arguments: &[Argument<'_>],
) -> Result<Option<String>> {
    let found = Resolved {
        function: Arc::new(function.clone()),
        parameters: arguments.iter().map(|(ty, _)| ty.clone()).collect(),
        returns: returns.clone(),
    };
    shown(&found, arguments)
}

/// Text forms of the first rows of a function that gives rows, `limit` at most; NULL as `NULL`,
/// columns apart by `|`.
pub fn rows(name: &str, arguments: &[Argument<'_>], limit: usize) -> Result<Vec<String>> {
    let types: Vec<Type> = arguments.iter().map(|(ty, _)| ty.clone()).collect();
    let found = resolve_function(catalogue().tables(name), &types);
    let found = found.map_err(|why| Error::new("42883", format!("{name}: {why:?}")))?;
    let mut values = Vec::new();
    for (argument, to) in arguments.iter().zip(&found.parameters) {
        values.push(casted(read(argument)?, &argument.0, to)?);
    }
    if found.function.strict && values.iter().any(|value| value.is_null(0)) {
        return Ok(Vec::new());
    }
    let call = Call {
        rows: 1,
        types: &found.parameters,
        returns: &found.returns,
        session: &Session::default(),
    };
    let mut shown = Vec::new();
    for part in (found.function.rows)(&call, &values)? {
        let part = part?;
        for row in 0..part.first().map_or(0, |column| column.len()) {
            if shown.len() == limit {
                return Ok(shown);
            }
            let mut line = Vec::new();
            for (at, column) in part.iter().enumerate() {
                let ty = match &found.function.columns[at].1 {
                    _ if at == 0 => found.returns.clone(),
                    super::Returns::Type(ty) => ty.clone(),
                    super::Returns::Of(of) => of(&found.parameters),
                };
                let value = text(&column.slice(row, 1), &ty)?;
                line.push(value.unwrap_or_else(|| "NULL".to_owned()));
            }
            shown.push(line.join("|"));
        }
    }
    Ok(shown)
}

fn shown(found: &Resolved<Scalar>, arguments: &[Argument<'_>]) -> Result<Option<String>> {
    let mut columns = Vec::new();
    for (argument, to) in arguments.iter().zip(&found.parameters) {
        let value = casted(read(argument)?, &argument.0, to)?;
        columns.push(Column::constant(value));
    }
    if found.function.strict && columns.iter().any(|column| column.is_null(0)) {
        return Ok(None);
    }
    let call = Call {
        rows: 1,
        types: &found.parameters,
        returns: &found.returns,
        session: &Session::default(),
    };
    let result = (found.function.kernel)(&call, &columns)?;
    assert_eq!(
        result.data_type(),
        &found.returns.arrow(),
        "{:?}",
        found.function
    );
    text(&result, &found.returns)
}

/// The value that a text stands for.
fn read((ty, value): &Argument<'_>) -> Result<ArrayRef> {
    let Some(value) = value else {
        return Ok(new_null_array(&ty.arrow(), 1));
    };
    let array: ArrayRef = Arc::new(StringViewArray::from(vec![*value]));
    if *ty == Type::Unknown {
        return Ok(array);
    }
    casted(array, &Type::Text, ty)
}

fn casted(value: ArrayRef, from: &Type, to: &Type) -> Result<ArrayRef> {
    let unchanged = from == to || *from == Type::Unknown && *to == Type::Text;
    if unchanged || value.is_null(0) {
        return Ok(match value.data_type() == &to.arrow() {
            true => value,
            false => new_null_array(&to.arrow(), 1),
        });
    }
    let from = if *from == Type::Unknown {
        &Type::Text
    } else {
        from
    };
    let Some(cast) = super::cast_between(from, to) else {
        return Err(Error::new(
            "42846",
            format!("cannot cast type {from} to {to}"),
        ));
    };
    let Some(function) = &cast.function else {
        return Ok(value);
    };
    let call = Call {
        rows: 1,
        types: std::slice::from_ref(from),
        returns: to,
        session: &Session::default(),
    };
    (function.kernel)(&call, &[Column::constant(value)])
}

fn text(value: &ArrayRef, ty: &Type) -> Result<Option<String>> {
    let text = casted(Arc::clone(value), ty, &Type::Text)?;
    Ok((!text.is_null(0)).then(|| text.as_string_view().value(0).to_owned()))
}
