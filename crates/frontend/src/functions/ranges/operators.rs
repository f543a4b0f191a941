//! Operators of ranges and multiranges.

use std::sync::Arc;

use arrow_array::BooleanArray;

use super::{argument, bytes_of, of_argument, spans, values};
use crate::functions::Catalogue;
use crate::functions::compare::Op;
use crate::functions::kernel::{Bool, Bytes, Call, Kernel, repeated, w2};
use crate::types::Type;
use crate::values::range::{self, Bound, Span};

/// The kernel of a comparison.
pub(in crate::functions) fn compared(op: Op) -> Kernel {
    w2::<Bytes, Bytes, Bool>(move |call, a, b| {
        let of = of_argument(call, 0)?;
        Ok(op.holds(range::key(of, a).cmp(range::key(of, b))))
    })
}

/// Whether all values of some ranges are in others.
fn contains(whole: &[Span], part: &[Span]) -> bool {
    part.iter()
        .all(|part| whole.iter().any(|whole| whole.contains(part)))
}

fn overlaps(a: &[Span], b: &[Span]) -> bool {
    let (mut at, mut other) = (0, 0);
    while let (Some(left), Some(right)) = (a.get(at), b.get(other)) {
        if left.overlaps(right) {
            return true;
        }
        match left.is_before(right) {
            true => at += 1,
            false => other += 1,
        }
    }
    false
}

/// A test of the ranges from the first to the last value of both operands, false if one is empty.
fn of_wholes(a: &[Span], b: &[Span], test: fn(&Span, &Span) -> bool) -> bool {
    let both = range::whole(a).zip(range::whole(b));
    both.is_some_and(|(a, b)| test(&a, &b))
}

/// Adds the operators.
pub(super) fn register(c: &mut Catalogue) {
    let (one, many) = (Type::AnyRange, Type::AnyMultirange);
    type Test = fn(&[Span], &[Span]) -> bool;
    let tests: [(&str, Test); 8] = [
        ("@>", contains),
        ("<@", |a, b| contains(b, a)),
        ("&&", overlaps),
        ("<<", |a, b| of_wholes(a, b, Span::is_before)),
        (">>", |a, b| of_wholes(b, a, Span::is_before)),
        ("&<", |a, b| of_wholes(a, b, |a, b| a.upper <= b.upper)),
        ("&>", |a, b| of_wholes(a, b, |a, b| a.lower >= b.lower)),
        ("-|-", |a, b| of_wholes(a, b, Span::is_adjacent)),
    ];
    for (symbol, test) in tests {
        for left in [&one, &many] {
            for right in [&one, &many] {
                let kernel = w2::<Bytes, Bytes, Bool>(move |call, a, b| {
                    let [left, right] = call.types else {
                        return Ok(false);
                    };
                    Ok(test(&spans(left, a), &spans(right, b)))
                });
                c.operator(symbol, &[left.clone(), right.clone()], Type::Bool, kernel);
            }
        }
    }
    for ty in [&one, &many] {
        let element = Type::AnyElement;
        c.operator("@>", &[ty.clone(), element.clone()], Type::Bool, has(0));
        c.operator("<@", &[element, ty.clone()], Type::Bool, has(1));
    }
    type Join = fn(Span, Span) -> crate::error::Result<Option<Span>>;
    let joins: [(&'static str, Join); 3] = [
        ("+", |a, b| a.with(&b).map(Some)),
        ("-", |a, b| a.without(&b)),
        ("*", |a, b| Ok(a.common(&b))),
    ];
    for (symbol, join) in joins {
        let kernel = w2::<Bytes, Bytes, Bytes>(move |call, a, b| {
            let of = of_argument(call, 0)?;
            let span = match (range::decode(of, a), range::decode(of, b)) {
                (Some(a), Some(b)) => join(a, b)?,
                (a, b) => match symbol {
                    "+" => a.or(b),
                    "-" => a,
                    _ => None,
                },
            };
            Ok(range::encode(of, span.as_ref()))
        });
        c.operator(symbol, &[one.clone(), one.clone()], one.clone(), kernel);
    }
    type JoinMany = fn(Vec<Span>, Vec<Span>) -> Vec<Span>;
    let joins: [(&'static str, JoinMany); 3] = [
        ("+", |mut a, b| {
            a.extend(b);
            range::normal(a)
        }),
        ("-", |a, b| range::difference(&a, &b)),
        ("*", |a, b| range::common(&a, &b)),
    ];
    for (symbol, join) in joins {
        let kernel = w2::<Bytes, Bytes, Bytes>(move |call, a, b| {
            let of = of_argument(call, 0)?;
            let joined = join(range::decode_many(of, a), range::decode_many(of, b));
            Ok(range::encode_many(of, &joined))
        });
        c.operator(symbol, &[many.clone(), many.clone()], many.clone(), kernel);
    }
}

/// The kernel that tells whether the range at a place among the arguments has the value of the other.
fn has(at: usize) -> Kernel {
    Arc::new(move |call: &Call<'_>, columns| {
        let of = of_argument(call, at)?;
        let ty = &call.types[at];
        let (ranges, elements) = (argument(columns, at)?, argument(columns, 1 - at)?);
        let bytes = bytes_of(ranges)?;
        let value = values(of, &elements.array)?;
        let same = ranges.constant && elements.constant;
        let rows = if same { call.rows.min(1) } else { call.rows };
        // A range that is the same for all rows is read once.
        let known = match ranges.constant && rows > 0 && !ranges.is_null(0) {
            true => Some(spans(ty, bytes.value(0))),
            false => None,
        };
        let found = (0..rows).map(|row| {
            if ranges.is_null(row) || elements.is_null(row) {
                return None;
            }
            let value = value(elements.at(row));
            let read;
            let spans = match &known {
                Some(known) => known,
                None => {
                    read = spans(ty, bytes.value(ranges.at(row)));
                    &read
                }
            };
            let after =
                spans.partition_point(|span| span.upper < Bound::lower(Some(value.clone()), true));
            Some(spans.get(after).is_some_and(|span| span.has(&value)))
        });
        Ok(repeated(
            Arc::new(found.collect::<BooleanArray>()),
            call.rows,
        ))
    })
}
