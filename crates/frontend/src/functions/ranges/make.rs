//! Constructors of ranges and multiranges.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;

use super::{argument, bytes_of, values};
use crate::error::{Error, Result};
use crate::functions::kernel::{Bytes, Column, Input, Kernel, Str, f0, f1, repeated, w1};
use crate::functions::{Catalogue, scalar};
use crate::types::{RangeOf, Type};
use crate::values::range::{self, Bound, Span};

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    for of in RangeOf::ALL {
        let (one, many) = (Type::Range(of), Type::Multirange(of));
        let mut parameters = vec![of.element(), of.element()];
        c.add(scalar(of.range_name(), &parameters, one.clone(), between(of)).with_nulls());
        parameters.push(Type::Text);
        c.add(scalar(of.range_name(), &parameters, one.clone(), between(of)).with_nulls());
        let name = of.multirange_name();
        let none = f0::<Bytes>(move |_| Ok(range::encode_many(of, &[])));
        c.add(scalar(name, &[], many.clone(), none));
        let only = f1::<Bytes, Bytes>(move |bytes| {
            let span = range::decode(of, bytes);
            Ok(range::encode_many(of, span.as_slice()))
        });
        c.add(scalar(name, std::slice::from_ref(&one), many.clone(), only));
        let several = scalar(name, &[], many, together(of));
        c.add(several.variadic(one).with_nulls());
    }
    let kernel = w1::<Bytes, Bytes>(|call, bytes| {
        let of = super::of_argument(call, 0)?;
        let span = range::decode(of, bytes);
        Ok(range::encode_many(of, span.as_slice()))
    });
    c.add(scalar(
        "multirange",
        &[Type::AnyRange],
        Type::AnyMultirange,
        kernel,
    ));
}

/// The kernel that makes a range of two bounds, and of flags if there are three arguments. A NULL is
/// no bound.
fn between(of: RangeOf) -> Kernel {
    Arc::new(move |call, columns| {
        let (low, high) = (argument(columns, 0)?, argument(columns, 1)?);
        let (lows, highs) = (values(of, &low.array)?, values(of, &high.array)?);
        let flags = columns.get(2);
        let flags = flags.map(|column| Ok::<_, Error>((column, Str::reader(&column.array)?)));
        let flags = flags.transpose()?;
        let bound = |column: &Column, values: &dyn Fn(usize) -> range::Value, row: usize| {
            (!column.is_null(row)).then(|| values(column.at(row)))
        };
        let same = columns.iter().all(|column| column.constant);
        let rows = if same { call.rows.min(1) } else { call.rows };
        let mut made = BinaryViewBuilder::with_capacity(rows);
        for row in 0..rows {
            let (lower, upper) = match &flags {
                None => (true, false),
                Some((column, _)) if column.is_null(row) => {
                    let message = "range constructor flags argument must not be null";
                    return Err(Error::new("22000", message));
                }
                Some((column, reader)) => {
                    range::read_flags(Str::get(reader, &column.array, column.at(row)))?
                }
            };
            let lower = Bound::lower(bound(low, &*lows, row), lower);
            let upper = Bound::upper(bound(high, &*highs, row), upper);
            let span = Span::new(of, lower, upper)?;
            made.append_value(range::encode(of, span.as_ref()));
        }
        Ok(repeated(Arc::new(made.finish()), call.rows))
    })
}

/// The kernel that makes a multirange of any number of ranges.
fn together(of: RangeOf) -> Kernel {
    Arc::new(move |call, columns| {
        let all = columns.iter().map(bytes_of);
        let all = all.collect::<Result<Vec<_>>>()?;
        let mut made = BinaryViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            let mut spans = Vec::with_capacity(columns.len());
            for (column, values) in columns.iter().zip(&all) {
                if column.is_null(row) {
                    let message = "multirange values cannot contain null members";
                    return Err(Error::new("22004", message));
                }
                spans.extend(range::decode(of, values.value(column.at(row))));
            }
            made.append_value(range::encode_many(of, &range::normal(spans)));
        }
        Ok(Arc::new(made.finish()))
    })
}
