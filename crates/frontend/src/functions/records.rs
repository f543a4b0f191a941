//! Records: ROW, fields, comparisons, texts.
//!
//! There are two ways to compare records. Rows that are written out, as in
//! `(a, b) = (1, 2)`, are compared field by field, and a NULL leaves the result open unless an
//! earlier field has decided ([`Rows::Written`]). Values that are records have a total order in
//! which NULL fields are equal and greater than all else ([`Rows::Values`]).
//!
//! | | written | values |
//! |---|---|---|
//! | `(1, NULL) = (1, 2)` | NULL | false |
//! | `(1, NULL) = (2, NULL)` | false | false |
//! | `(1, NULL) < (2, NULL)` | true | true |
//! | `(1, NULL) <= (1, NULL)` | NULL | true |
//!
//! The binder asks for these by name, for a signature cannot say "any record". Casts of records
//! are made with those of arrays, in [`nested_cast`](super::arrays::casts::nested_cast).

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_select::take::take;

use super::arrays::casts::struct_of;
use super::arrays::lists::{argument, argument_type, kernel, reformed};
use super::kernel::{Call, Column, Kernel};
use super::ordering::{Comparator, comparator, equality};
use super::{Catalogue, Returns, Scalar, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    let returns = Returns::Of(Arc::new(|types: &[Type]| row_type(types)));
    c.add(
        scalar("row", &[], returns, kernel(row))
            .with_nulls()
            .variadic(Type::Any),
    );
}

/// The type of a row of values; its fields are called f1, f2 and further.
pub fn row_type(types: &[Type]) -> Type {
    let fields = types.iter().enumerate();
    let fields = fields.map(|(at, ty)| (format!("f{}", at + 1), ty.clone()));
    Type::Record(fields.collect())
}

/// Records of the arguments' values.
fn row(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let Type::Record(fields) = call.returns else {
        return Err(Error::internal("a row that is no record"));
    };
    let mut made = Vec::with_capacity(columns.len());
    for (column, (_, ty)) in columns.iter().zip(fields.iter()) {
        let values = reformed(&column.array, ty)?;
        made.push(match column.constant {
            true => {
                let first = arrow_array::UInt32Array::from(vec![0; call.rows]);
                take(&values, &first, None)?
            }
            false => values,
        });
    }
    struct_of(call.returns, made, None, call.rows)
}

/// A kernel that takes a field, counted from 0, out of a record.
pub fn field(at: usize) -> Kernel {
    kernel(move |_, columns| {
        let array = &argument(columns, 0)?.array;
        let record = array
            .as_struct_opt()
            .filter(|record| at < record.num_columns());
        let record = record.ok_or_else(|| Error::internal("a record without the field"))?;
        let values = record.column(at);
        let Some(nulls) = record.nulls().filter(|nulls| nulls.null_count() > 0) else {
            return Ok(Arc::clone(values));
        };
        let places = (0..array.len()).map(|at| nulls.is_valid(at).then_some(at as u32));
        let places = places.collect::<arrow_array::UInt32Array>();
        Ok(take(values, &places, None)?)
    })
}

/// How records are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// As rows that are written out: a NULL leaves the result open.
    Written,
    /// As values: NULL is a value like others.
    Values,
}

/// The operator `symbol` on records of two types: `=`, `<>`, `<`, `<=`, `>` or `>=`. Fields of
/// rows that are written out are to be cast to common types before.
///
/// # Errors
/// `42804` if the types of fields differ, `42883` if one has no order or there is no such
/// operator.
pub fn comparison(symbol: &str, left: &Type, right: &Type, rows: Rows) -> Result<Scalar> {
    let (Type::Record(a), Type::Record(b)) = (left, right) else {
        return Err(Error::internal("a comparison of records is given others"));
    };
    if a.len() != b.len() {
        return Err(match rows {
            Rows::Written => Error::new("42601", "unequal number of entries in row expressions"),
            Rows::Values => Error::new(
                "42804",
                "cannot compare record types with different numbers of columns",
            ),
        });
    }
    for (at, ((_, a), (_, b))) in a.iter().zip(b.iter()).enumerate() {
        if a.base() != b.base() {
            return Err(Error::new(
                "42804",
                format!(
                    "cannot compare dissimilar column types {} and {} at record column {}",
                    a.base(),
                    b.base(),
                    at + 1
                ),
            ));
        }
    }
    let (name, is): (&'static str, fn(Ordering) -> bool) = match symbol {
        "=" => ("=", Ordering::is_eq),
        "<>" => ("<>", Ordering::is_ne),
        "<" => ("<", Ordering::is_lt),
        "<=" => ("<=", Ordering::is_le),
        ">" => (">", Ordering::is_gt),
        ">=" => (">=", Ordering::is_ge),
        _ => {
            return Err(Error::new(
                "42883",
                format!("operator does not exist: record {symbol} record"),
            ));
        }
    };
    let equal = matches!(name, "=" | "<>");
    let made = if equal { equality } else { comparator };
    let fields = a.iter().map(|(_, ty)| made(ty));
    let fields = Arc::new(fields.collect::<Result<Vec<_>>>()?);
    let kernel = kernel(move |call, columns| {
        let (left, right) = (argument(columns, 0)?, argument(columns, 1)?);
        let mut result = BooleanBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            if left.is_null(row) || right.is_null(row) {
                result.append_null();
                continue;
            }
            let order = match rows {
                Rows::Written if equal => equal_rows(left, right, row, &fields)?,
                Rows::Written => ordered_rows(left, right, row, &fields, false)?,
                Rows::Values => ordered_rows(left, right, row, &fields, true)?,
            };
            result.append_option(order.map(is));
        }
        Ok(Arc::new(result.finish()))
    });
    let parameters = [left.clone(), right.clone()];
    Ok(scalar(name, &parameters, Type::Bool, kernel))
}

/// Whether rows are equal, as an order; `None` if a NULL leaves it open.
fn equal_rows(
    left: &Column,
    right: &Column,
    row: usize,
    fields: &[Comparator],
) -> Result<Option<Ordering>> {
    let mut open = false;
    for (at, order) in fields.iter().enumerate() {
        let (a, b) = (field_of(left, at)?, field_of(right, at)?);
        let (here, there) = (left.at(row), right.at(row));
        if a.is_null(here) || b.is_null(there) {
            open = true;
        } else if order(a, here, b, there).is_ne() {
            return Ok(Some(Ordering::Less));
        }
    }
    Ok((!open).then_some(Ordering::Equal))
}

/// The order of rows; `None` if a NULL comes before what decides, unless NULL is a value.
fn ordered_rows(
    left: &Column,
    right: &Column,
    row: usize,
    fields: &[Comparator],
    nulls: bool,
) -> Result<Option<Ordering>> {
    for (at, order) in fields.iter().enumerate() {
        let (a, b) = (field_of(left, at)?, field_of(right, at)?);
        let (here, there) = (left.at(row), right.at(row));
        if !nulls && (a.is_null(here) || b.is_null(there)) {
            return Ok(None);
        }
        let found = order(a, here, b, there);
        if found.is_ne() {
            return Ok(Some(found));
        }
    }
    Ok(Some(Ordering::Equal))
}

fn field_of(column: &Column, at: usize) -> Result<&ArrayRef> {
    let record = column.array.as_struct_opt();
    let record = record.filter(|record| at < record.num_columns());
    let record = record.ok_or_else(|| Error::internal("a record without the field"))?;
    Ok(record.column(at))
}

/// `record IS NULL`, and `record IS NOT NULL` where `not`: true if the record is NULL or all its
/// fields are, and true if none of them is. Neither need hold.
pub fn is_null(not: bool) -> Kernel {
    kernel(move |call, columns| {
        let column = argument(columns, 0)?;
        if !matches!(argument_type(call, 0)?, Type::Record(_)) {
            return Err(Error::internal("a test of records is given something else"));
        }
        let record = column.array.as_struct_opt();
        let record = record.ok_or_else(|| Error::internal("a record that is no struct"))?;
        let result = (0..call.rows).map(|row| {
            let at = column.at(row);
            let whole = record.is_null(at);
            let mut fields = record.columns().iter();
            Some(match not {
                false => whole || fields.all(|field| field.is_null(at)),
                true => !whole && fields.all(|field| !field.is_null(at)),
            })
        });
        Ok(Arc::new(result.collect::<BooleanArray>()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::testing;

    fn record(types: &[Type]) -> Type {
        row_type(types)
    }

    #[test]
    fn texts_are_read_and_written() {
        let ty = record(&[Type::Text, Type::Text, Type::Bool]);
        let cases = [
            ("(a,,t)", "(a,,t)"),
            (r#"("a b","x""y\\",no)"#, r#"("a b","x""y\\",f)"#),
            (r#"("",é,)"#, r#"("",é,)"#),
        ];
        for (text, expected) in cases {
            let shown = testing::cast((ty.clone(), Some(text)), &Type::Text).unwrap();
            assert_eq!(shown.as_deref(), Some(expected), "{text}");
        }
        let error = testing::cast((ty, Some("(a,b)")), &Type::Text).unwrap_err();
        assert_eq!(error.message, "malformed record literal: \"(a,b)\"");
    }

    #[test]
    fn null_decides_in_values_and_leaves_rows_open() {
        let ty = record(&[Type::Text, Type::Text]);
        let cases = [
            ("=", "(a,)", "(a,b)", None, Some(false)),
            ("=", "(a,)", "(b,)", Some(false), Some(false)),
            ("=", "(a,)", "(a,)", None, Some(true)),
            ("<>", "(a,)", "(b,)", Some(true), Some(true)),
            ("<", "(a,)", "(b,)", Some(true), Some(true)),
            ("<", "(a,b)", "(a,)", None, Some(true)),
            ("<=", "(a,)", "(a,)", None, Some(true)),
            (">=", "(a,b)", "(a,b)", Some(true), Some(true)),
            (">", "(b,a)", "(a,b)", Some(true), Some(true)),
        ];
        for (symbol, left, right, written, values) in cases {
            for (rows, expected) in [(Rows::Written, written), (Rows::Values, values)] {
                let op = comparison(symbol, &ty, &ty, rows).unwrap();
                let arguments = [(ty.clone(), Some(left)), (ty.clone(), Some(right))];
                let found = testing::apply(&op, &Type::Bool, &arguments).unwrap();
                let expected = expected.map(|is| if is { "true" } else { "false" }.to_owned());
                assert_eq!(found, expected, "{left} {symbol} {right} {rows:?}");
            }
        }
    }

    #[test]
    fn records_of_other_fields_are_not_compared() {
        let (a, b) = (
            record(&[Type::Int4, Type::Int4]),
            record(&[Type::Int4, Type::Text]),
        );
        let error = comparison("=", &a, &b, Rows::Values).unwrap_err();
        let message = "cannot compare dissimilar column types integer and text at record column 2";
        assert_eq!((error.sqlstate, error.message.as_str()), ("42804", message));
        let error = comparison("=", &a, &record(&[Type::Int4]), Rows::Written).unwrap_err();
        assert_eq!(error.sqlstate, "42601");
    }
}
