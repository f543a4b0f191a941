//! Windows: those that the bulk engine has are its own (`bulk_windows`), of the others calls of
//! one partition and order are one operator.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, LogicalPlan};
use freestone_frontend::functions::aggregates::Direction;
use freestone_frontend::functions::cast_between;
use freestone_frontend::functions::windows::frame::{self, Mode};
use freestone_frontend::plan::{
    Bound as End, Column, Exclude, Expr as Bound, FrameUnits, Plan, SortKey, WindowCall,
};
use freestone_frontend::types::Type;

use super::expression::exact;
use super::operator::{Key, over};
use super::operators::window::Windows;
use super::outside::windows::{Distances, Spec};
use super::sorting::options;
use super::{Lowering, canonical, own_name, projected};
use crate::error::{Error, Result};

impl Lowering {
    pub(super) fn window(
        &self,
        input: &Plan,
        calls: &[(Column, WindowCall)],
    ) -> Result<LogicalPlan> {
        let mut plan = self.plan(input)?;
        let mut kept = self.kept(input);
        let used = calls.iter().filter(|(column, _)| self.is_used(column.id));
        let mut rest: Vec<&(Column, WindowCall)> = used.collect();
        let (mut bulk, mut general) = (Vec::new(), Vec::new());
        for call in rest {
            match self.bulk_call(call)? {
                Some(found) => bulk.push(found),
                None => general.push(call),
            }
        }
        plan = self.bulk_windows(plan, &mut kept, bulk)?;
        rest = general;
        while let Some(first) = rest.first().copied() {
            let same = |(_, call): &&(Column, WindowCall)| {
                call.partition == first.1.partition && call.order == first.1.order
            };
            let (here, later): (Vec<_>, Vec<_>) = rest.iter().copied().partition(same);
            plan = self.one_window(plan, &kept, &here)?;
            kept.extend(here.iter().map(|(column, _)| column.clone()));
            rest = later;
        }
        Ok(plan)
    }

    fn one_window(
        &self,
        input: LogicalPlan,
        kept: &[Column],
        calls: &[&(Column, WindowCall)],
    ) -> Result<LogicalPlan> {
        let Some((_, first)) = calls.first() else {
            return Ok(input);
        };
        let mut exprs: Vec<Expr> = Vec::new();
        for column in kept {
            let value = exact(self.column(column.id)?, &column.ty)?;
            exprs.push(value.alias(own_name(column)));
        }
        let mut add = |value: Expr| {
            let name = format!("#{}", exprs.len());
            exprs.push(value.alias(name));
            exprs.len() - 1
        };
        let mut partition: Vec<usize> = Vec::new();
        for value in &first.partition {
            let key = canonical::key(self.expr(value)?, &value.ty);
            partition.push(add(key.expr));
        }
        let mut order: Vec<Key> = Vec::new();
        for key in &first.order {
            let value = canonical::key(self.expr(&key.expr)?, &key.expr.ty);
            order.push((add(value.expr), options(key)));
        }
        let specs = self.window_specs(calls, &mut |value, _| add(value))?;
        let input = projected(exprs, input)?;
        let results = calls.iter().map(|(column, _)| column.clone());
        let columns: Vec<Column> = kept.iter().cloned().chain(results).collect();
        let schema = self.schema_of_kept(&columns)?;
        let operator = Windows {
            columns: kept.len(),
            partition,
            order,
            calls: Arc::new(specs),
            around: self.around.clone(),
        };
        Ok(over(operator, vec![input], schema))
    }

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
            let kind = datafusion::arrow::datatypes::DataType::Int64;
            let value = crate::values::with_kind(value, &kind)?;
            use datafusion::arrow::array::cast::AsArray;
            use datafusion::arrow::datatypes::Int64Type;
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
