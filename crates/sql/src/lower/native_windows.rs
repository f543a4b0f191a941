//! Window calls as DataFusion's, which streams most of them and needs no room for a partition.
//!
//! Ranks, neighbours, and aggregates that are native as those of GROUP BY are computed by it
//! over frames whose distances are rows. All else is `operators::window`.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_window::cume_dist::cume_dist_udwf;
use datafusion::functions_window::lead_lag::{lag_udwf, lead_udwf};
use datafusion::functions_window::nth_value::{first_value_udwf, last_value_udwf};
use datafusion::functions_window::rank::{dense_rank_udwf, percent_rank_udwf, rank_udwf};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr, LogicalPlan, SortExpr, Window, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowFunctionDefinition, WindowUDF,
};
use freestone_frontend::functions::windows::frame::Bound as End;
use freestone_frontend::plan::{Column, Exclude, FrameUnits, WindowCall, WindowKind};
use freestone_frontend::types::Type;

use super::aggregate::{Found, Native, quotient};
use super::expression::{cast, exact};
use super::{Lowering, Typed, canonical, floats, own_name, place, projected};
use crate::error::Result;

/// A call, with its frame.
pub(super) struct NativeWindow {
    shape: Shape,
    frame: WindowFrame,
}

enum Shape {
    /// A function of windows, and the Arrow type that it gives.
    Function(Arc<WindowUDF>, Vec<Expr>, DataType),
    Aggregate(Found),
}

impl Lowering {
    /// A call as one of DataFusion's, if it means the same there.
    pub(super) fn native_window(&self, call: &WindowCall) -> Result<Option<NativeWindow>> {
        if call.ignore_nulls || call.distinct || call.filter.is_some() {
            return Ok(None);
        }
        let Some(frame) = self.native_frame(call)? else {
            return Ok(None);
        };
        let shape = match &call.kind {
            WindowKind::Function(function) => self.native_function(function.name, call)?,
            WindowKind::Aggregate(function) => {
                // Others cannot take a row back when a frame moves on.
                let moves = matches!(&*function.name, "count" | "min" | "max");
                if !frame.start_bound.is_unbounded() && !moves {
                    return Ok(None);
                }
                let found = self.native_aggregate(function, &call.arguments, false)?;
                found.map(Shape::Aggregate)
            }
        };
        Ok(shape.map(|shape| NativeWindow { shape, frame }))
    }

    fn native_function(&self, name: &str, call: &WindowCall) -> Result<Option<Shape>> {
        let of = |function, kind| Ok(Some(Shape::Function(function, Vec::new(), kind)));
        match name {
            "row_number" => return of(row_number_udwf(), DataType::UInt64),
            "rank" => return of(rank_udwf(), DataType::UInt64),
            "dense_rank" => return of(dense_rank_udwf(), DataType::UInt64),
            "percent_rank" => return of(percent_rank_udwf(), DataType::Float64),
            "cume_dist" => return of(cume_dist_udwf(), DataType::Float64),
            _ => {}
        }
        let Some((value, rest)) = call.arguments.split_first() else {
            return Ok(None);
        };
        if !super::expression::is_native(&value.ty, true) {
            return Ok(None);
        }
        let mut arguments = Vec::with_capacity(2);
        let typed = self.expr(value)?;
        let kind = typed.kind.clone();
        arguments.push(typed.expr);
        let function = match (name, rest) {
            ("first_value", []) => first_value_udwf(),
            ("last_value", []) => last_value_udwf(),
            ("lag" | "lead", [] | [_]) => {
                if let [offset] = rest {
                    if !offset.reads().is_empty() {
                        return Ok(None);
                    }
                    let offset = self.constant(offset)?;
                    let offset = crate::values::with_kind(offset, &DataType::Int64)?;
                    let offset = ScalarValue::try_from_array(&offset, 0)?;
                    if offset.is_null() {
                        return Ok(None);
                    }
                    arguments.push(Expr::Literal(offset, None));
                }
                match name {
                    "lag" => lag_udwf(),
                    _ => lead_udwf(),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Shape::Function(function, arguments, kind)))
    }

    /// A frame as DataFusion's, if rows are its distances and it ends where it starts or later.
    fn native_frame(&self, call: &WindowCall) -> Result<Option<WindowFrame>> {
        let frame = &call.frame;
        let is_function = matches!(&call.kind, WindowKind::Function(function)
            if !matches!(function.name, "first_value" | "last_value"));
        if is_function {
            // Ranks and neighbours know no frame.
            return Ok(Some(WindowFrame::new(
                (!call.order.is_empty()).then_some(false),
            )));
        }
        let is_plain = frame.exclude == Exclude::NoOthers
            && frame.start_value.is_none()
            && frame.end_value.is_none();
        let units = match frame.units {
            FrameUnits::Rows => WindowFrameUnits::Rows,
            FrameUnits::Range => WindowFrameUnits::Range,
            FrameUnits::Groups => return Ok(None),
        };
        if !is_plain {
            return Ok(None);
        }
        let rows = |count: Option<i64>| {
            let count = count.and_then(|count| u64::try_from(count).ok())?;
            Some(ScalarValue::UInt64(Some(count)))
        };
        let all = ScalarValue::UInt64(None);
        // Without an order all rows are peers.
        let current = |start: bool| match (units, call.order.is_empty(), start) {
            (WindowFrameUnits::Range, true, true) => WindowFrameBound::Preceding(all.clone()),
            (WindowFrameUnits::Range, true, false) => WindowFrameBound::Following(all.clone()),
            _ => WindowFrameBound::CurrentRow,
        };
        let start = match self.end(&frame.start, frame.units, true)? {
            End::UnboundedPreceding => WindowFrameBound::Preceding(all.clone()),
            End::CurrentRow => current(true),
            End::Preceding(count) => match rows(count) {
                Some(count) => WindowFrameBound::Preceding(count),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let end = match self.end(&frame.end, frame.units, false)? {
            End::UnboundedFollowing => WindowFrameBound::Following(all.clone()),
            End::CurrentRow => current(false),
            End::Following(count) => match rows(count) {
                Some(count) => WindowFrameBound::Following(count),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(WindowFrame::new_bounds(units, start, end)))
    }

    /// Calls over the partitions and the order of `of`.
    pub(super) fn native_windows(
        &self,
        input: LogicalPlan,
        of: &WindowCall,
        calls: Vec<(&(Column, WindowCall), NativeWindow)>,
    ) -> Result<LogicalPlan> {
        // DataFusion loses on its way what it knows of constants, and then refuses its own order.
        let partition = of.partition.iter().filter(|key| key.literal().is_none());
        let partition = partition.map(|key| Ok(canonical::key(self.expr(key)?, &key.ty).expr));
        let partition = partition.collect::<Result<Vec<Expr>>>()?;
        let order = of.order.iter().map(|key| self.sort_key(key));
        let order = order.collect::<Result<Vec<SortExpr>>>()?;
        let mut exprs: Vec<Expr> = Vec::new();
        // Two calls may be one here: a rule of DataFusion would take equal ones out of the node.
        let mut known: Vec<(WindowFunction, String)> = Vec::new();
        let mut add = |fun: WindowFunctionDefinition, args: Vec<Expr>, frame: &WindowFrame| {
            let call = WindowFunction {
                fun,
                params: WindowFunctionParams {
                    args,
                    partition_by: partition.clone(),
                    order_by: order.clone(),
                    window_frame: frame.clone(),
                    filter: None,
                    null_treatment: None,
                    distinct: false,
                },
            };
            if let Some((_, name)) = known.iter().find(|(known, _)| *known == call) {
                return place(name);
            }
            let name = format!("window {}", self.fresh("window", Type::Int8).id.0);
            exprs.push(Expr::from(call.clone()).alias(&name));
            known.push((call, name.clone()));
            place(&name)
        };
        let mut results: Vec<(&Column, Typed)> = Vec::new();
        let mut means = Vec::new();
        for ((column, _), NativeWindow { shape, frame }) in calls {
            let mut aggregate = |native: Native| {
                let Native {
                    function,
                    argument,
                    distinct: _,
                    kind,
                } = native;
                let fun = WindowFunctionDefinition::AggregateUDF(function);
                Typed::new(add(fun, vec![argument], &frame), kind)
            };
            match shape {
                Shape::Aggregate(Found::One(native)) => results.push((column, aggregate(native))),
                Shape::Aggregate(Found::Float(native)) => {
                    results.push((column, floats::float(aggregate(native))));
                }
                Shape::Aggregate(Found::Mean(sum, ty, count)) => {
                    let (sum, count) = (aggregate(*sum), aggregate(*count));
                    let sum_column = self.fresh("sum", ty);
                    let count_column = self.fresh("count", Type::Int8);
                    self.found(sum_column.id, sum.expr, sum.kind);
                    self.found(count_column.id, count.expr, count.kind);
                    means.push((column, sum_column, count_column));
                }
                Shape::Function(function, args, kind) => {
                    let fun = WindowFunctionDefinition::WindowUDF(function);
                    let value = add(fun, args, &frame);
                    results.push((
                        column,
                        match kind {
                            DataType::UInt64 => {
                                Typed::new(cast(value, &DataType::Int64), DataType::Int64)
                            }
                            kind => Typed::new(value, kind),
                        },
                    ));
                }
            }
        }
        let given = input.schema().columns();
        let plan = LogicalPlan::Window(Window::try_new(exprs, Arc::new(input))?);
        for (column, sum, count) in means {
            let value = self.evaluated(&quotient(&sum, &count)?)?;
            let value = exact(value, &Type::Numeric(None))?;
            results.push((column, Typed::new(value, Type::Numeric(None).arrow())));
        }
        let mut exprs: Vec<Expr> = given.into_iter().map(Expr::Column).collect();
        for (column, value) in results {
            let name = own_name(column);
            exprs.push(value.expr.alias(&name));
            self.found(column.id, place(&name), value.kind);
        }
        projected(exprs, plan)
    }
}
