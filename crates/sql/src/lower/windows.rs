//! Calls over windows that the bulk engine has not (`bulk_windows` has those of its own), and frames.

use std::collections::HashSet;

use arrow::array::Array;
use arrow::datatypes::DataType;
use freestone_frontend::functions::aggregates::Direction;
use freestone_frontend::functions::cast_between;
use freestone_frontend::functions::windows::frame::{self, Mode};
use freestone_frontend::plan::{
    Bound as End, Column, Exclude, Expr as Bound, FrameUnits, SortKey, WindowCall,
};

use super::Lowering;
use super::expression::exact;
use super::outside::windows::{Distances, Spec};
use crate::error::{Error, Result};
use crate::expression::Expr;
use freestone_frontend::types::Type;

impl Lowering {
    /// Calls over windows of one partition and order. `add` is given the values that they read, with
    /// their Arrow types, and says where each stands.
    pub(super) fn window_specs(
        &self,
        calls: &[&(Column, WindowCall)],
        add: &mut dyn FnMut(Expr, DataType) -> usize,
    ) -> Result<Vec<Spec>> {
        let mut specs = Vec::with_capacity(calls.len());
        for (_, call) in calls {
            let mut arguments = Vec::with_capacity(call.arguments.len());
            for value in &call.arguments {
                arguments.push(add(exact(self.expr(value)?, &value.ty)?, value.ty.arrow()));
            }
            let filter = match &call.filter {
                Some(filter) => Some(add(self.condition(filter)?, DataType::Boolean)),
                None => None,
            };
            let frame = frame::Frame {
                mode: match call.frame.units {
                    FrameUnits::Rows => Mode::Rows,
                    FrameUnits::Range => Mode::Range,
                    FrameUnits::Groups => Mode::Groups,
                },
                start: self.end(&call.frame.start, call.frame.units, true)?,
                end: self.end(&call.frame.end, call.frame.units, false)?,
                exclude: match call.frame.exclude {
                    Exclude::NoOthers => frame::Exclude::NoOthers,
                    Exclude::CurrentRow => frame::Exclude::CurrentRow,
                    Exclude::Group => frame::Exclude::Group,
                    Exclude::Ties => frame::Exclude::Ties,
                },
            };
            let ends = (&call.frame.start_value, &call.frame.end_value);
            let distances = match (ends, call.order.as_slice()) {
                ((None, None), _) => None,
                ((start, end), [key]) => {
                    let ty = start.as_ref().or(end.as_ref()).map(|value| &value.ty);
                    let ty = ty.unwrap_or(&key.expr.ty).clone();
                    let value = key_as(key, &ty)?;
                    let mut place = |value: &Bound| -> Result<usize> {
                        Ok(add(exact(self.expr(value)?, &ty)?, ty.arrow()))
                    };
                    Some(Distances {
                        keys: place(&value)?,
                        start: start.as_ref().map(&mut place).transpose()?,
                        end: end.as_ref().map(&mut place).transpose()?,
                        direction: Direction {
                            descending: key.descending,
                            nulls_first: key.nulls_first,
                        },
                        ty,
                    })
                }
                _ => {
                    let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one \
                                   ORDER BY column";
                    return Err(Error::new("42P20", message));
                }
            };
            specs.push(Spec {
                kind: call.kind.clone(),
                types: call
                    .arguments
                    .iter()
                    .map(|value| value.ty.clone())
                    .collect(),
                arguments,
                filter,
                frame,
                distances,
                ignore_nulls: call.ignore_nulls,
                returns: call.returns.clone(),
            });
        }
        Ok(specs)
    }

    /// An end of a frame.
    pub(super) fn end(&self, end: &End, units: FrameUnits, start: bool) -> Result<frame::Bound> {
        let offset = |expr: &Bound| -> Result<Option<i64>> {
            let mut read = HashSet::new();
            expr.read(&mut read);
            if !read.is_empty() {
                let what = "a sub-query as the distance of a frame is not supported";
                return Err(Error::unsupported(what));
            }
            let value = self.constant(expr)?;
            if units == FrameUnits::Range {
                return match value.is_null(0) {
                    true => Err(frame::null_offset(start).into()),
                    false => Ok(None),
                };
            }
            let kind = arrow::datatypes::DataType::Int64;
            let value = crate::values::with_kind(value, &kind)?;
            use arrow::array::cast::AsArray;
            use arrow::datatypes::Int64Type;
            let value = value.as_primitive::<Int64Type>();
            Ok(value.is_valid(0).then(|| value.value(0)))
        };
        Ok(match end {
            End::Unbounded if start => frame::Bound::UnboundedPreceding,
            End::Unbounded => frame::Bound::UnboundedFollowing,
            End::Current => frame::Bound::CurrentRow,
            End::Preceding(expr) => frame::Bound::Preceding(offset(expr)?),
            End::Following(expr) => frame::Bound::Following(offset(expr)?),
        })
    }
}

/// The value of an order's key as another type: a date and an interval make a timestamp.
pub(super) fn key_as(key: &SortKey, ty: &Type) -> Result<Bound> {
    let value = key.expr.clone();
    if value.ty == *ty || value.ty.base() == ty.base() {
        return Ok(value);
    }
    let cast = cast_between(&value.ty, ty).and_then(|cast| cast.function);
    let cast = cast.ok_or_else(|| {
        let message = format!("a frame of {} with distances of {ty}", value.ty);
        Error::unsupported(message)
    })?;
    Ok(Bound::call(cast, vec![value], ty.clone()))
}
