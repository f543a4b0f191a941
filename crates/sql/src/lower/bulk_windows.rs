//! Window calls as the bulk engine's.
//!
//! Calls whose order is the beginning of another's share its sort. Aggregates are those that
//! are native in GROUP BY (`aggregate`); an average of exact numbers is its sum by its count.
//! Calls with DISTINCT, IGNORE NULLS and other aggregates are `outside::windows`.
//!
//! ```text
//! rank() OVER (PARTITION BY a ORDER BY b)          keys a, b, c
//! sum(x) OVER (PARTITION BY a ORDER BY b, c)       1 partition key, 1 or 2 of the order
//! ```

use arrow::datatypes::{DataType, TimeUnit};
use freestone_exec as exec;
use freestone_exec::expression::Expression;
use freestone_exec::vector::Kind;
use freestone_exec::{FrameBound, FrameUnit, Shift, WindowFunction, Windowing};
use freestone_frontend::functions::windows::frame::Bound as End;
use freestone_frontend::plan::{
    Column, Exclude, Expr as Bound, FrameUnits, SortKey, WindowCall, WindowKind,
};
use freestone_frontend::types::Type;

use super::aggregate::{Found, Native, quotient};
use super::expression::{cast, exact};
use super::windows::key_as;
use super::{Lowering, Typed, canonical, floats, place};
use crate::engine::Simple;
use crate::error::{Error, Result};
use crate::expression::{Expr, Scalar};

/// Keys that the bulk engine tells apart.
const KEYS: usize = 255;

/// A call, with all that it reads.
pub(super) struct BulkCall<'a> {
    of: &'a (Column, WindowCall),
    column: &'a Column,
    partition: Vec<&'a Bound>,
    /// The order; of frames with distances its key has the type of their ends.
    order: Vec<SortKey>,
    keys: Vec<Typed>,
    shape: Shape,
    filter: Option<Expr>,
    frame: BulkFrame,
}

enum Shape {
    /// A function without arguments, and its type.
    Rank(WindowFunction, DataType),
    /// One of values.
    Value(Box<ValueFunction>),
    Aggregate(Found),
}

/// A function that gives values of the argument, which come first.
enum ValueFunction {
    Tile(Expr),
    Shifted {
        value: Typed,
        by: By,
        back: bool,
        default: Option<Expr>,
    },
    First(Typed),
    Last(Typed),
    Nth(Typed, Expr),
}

enum By {
    Rows(i64),
    Each(Expr),
}

struct BulkFrame {
    unit: FrameUnit,
    start: BulkBound,
    end: BulkBound,
    exclude: exec::Exclude,
}

enum BulkBound {
    Known(FrameBound),
    /// The values at which frames end, and whether those lie before the row.
    At(Expr, bool),
}

/// An operator over windows.
pub(super) struct Windowed<'a> {
    /// Its input's columns.
    pub(super) given: Vec<Expr>,
    pub(super) windowing: Windowing,
    /// Names and types of its results, which come after the columns that are kept.
    pub(super) results: Vec<(String, DataType)>,
    /// The values of the calls over its results, but for
    pub(super) values: Vec<(&'a Column, Typed)>,
    /// those that are averages.
    pub(super) means: Vec<Mean<'a>>,
}

/// An average of exact numbers: a sum by a count.
pub(super) struct Mean<'a> {
    pub(super) column: &'a Column,
    sum: Column,
    count: Column,
}

/// Columns for the operator, each once.
#[derive(Default)]
struct Inputs(Vec<Expr>);

impl Inputs {
    /// The place of a value.
    fn place(&mut self, value: Expr) -> usize {
        // A volatile value is not computed once for two places.
        let is_steady = !value.is_volatile();
        let known = self.0.iter().position(|known| is_steady && *known == value);
        known.unwrap_or_else(|| {
            self.0.push(value);
            self.0.len() - 1
        })
    }
}

impl Lowering {
    /// A call as the bulk engine's, if it means the same there.
    pub(super) fn bulk_call<'a>(
        &self,
        of: &'a (Column, WindowCall),
    ) -> Result<Option<BulkCall<'a>>> {
        let (column, call) = of;
        if call.ignore_nulls || call.distinct {
            return Ok(None);
        }
        let Some((frame, key)) = self.bulk_frame(call)? else {
            return Ok(None);
        };
        let shape = match &call.kind {
            WindowKind::Function(function) => self.bulk_function(function.name, call)?,
            WindowKind::Aggregate(function) => self
                .native_aggregate(function, &call.arguments, false)?
                .filter(is_bulk)
                .map(Shape::Aggregate),
        };
        let Some(shape) = shape else {
            return Ok(None);
        };
        // A constant tells no partitions apart.
        let partition = call.partition.iter().filter(|key| key.literal().is_none());
        let partition: Vec<&Bound> = partition.collect();
        let order = key.map_or_else(|| call.order.clone(), |key| vec![key]);
        let mut keys = Vec::with_capacity(partition.len() + order.len());
        let ordered = order.iter().map(|key| &key.expr);
        let has_distances = call.frame.start_value.is_some() || call.frame.end_value.is_some();
        let plain = partition.iter().map(|key| (*key, false));
        for (key, has_form) in plain.chain(ordered.map(|key| (key, has_distances))) {
            let found = match has_form {
                true => self.sortable_form(key)?,
                false => canonical::sortable(self.expr(key)?, &key.ty),
            };
            let Some(found) = found else {
                return Ok(None);
            };
            keys.push(found);
        }
        if keys.len() > KEYS {
            return Ok(None);
        }
        let filter = match &call.filter {
            Some(filter) => Some(self.condition(filter)?),
            None => None,
        };
        Ok(Some(BulkCall {
            of,
            column,
            partition,
            order,
            keys,
            shape,
            filter,
            frame,
        }))
    }

    fn bulk_function(&self, name: &str, call: &WindowCall) -> Result<Option<Shape>> {
        let rank = |function, kind| Ok(Some(Shape::Rank(function, kind)));
        match name {
            "row_number" => return rank(WindowFunction::RowNumber, DataType::Int64),
            "rank" => return rank(WindowFunction::Rank, DataType::Int64),
            "dense_rank" => return rank(WindowFunction::DenseRank, DataType::Int64),
            "percent_rank" => return rank(WindowFunction::PercentRank, DataType::Float64),
            "cume_dist" => return rank(WindowFunction::CumeDist, DataType::Float64),
            _ => {}
        }
        let Some((value, rest)) = call.arguments.split_first() else {
            return Ok(None);
        };
        let typed = self.expr(value)?;
        if typed.kind == DataType::Null {
            return Ok(None);
        }
        let function = match (name, rest) {
            ("ntile", []) => ValueFunction::Tile(typed.expr),
            ("first_value", []) => ValueFunction::First(typed),
            ("last_value", []) => ValueFunction::Last(typed),
            ("nth_value", [number]) => ValueFunction::Nth(typed, self.expr(number)?.expr),
            ("lag" | "lead", [] | [_] | [_, _]) => {
                let by = match rest.first() {
                    Some(by) if by.reads().is_empty() => {
                        let by = crate::values::with_kind(self.constant(by)?, &DataType::Int64)?;
                        match Scalar::of(&by, 0).as_integer() {
                            Some(by) => By::Rows(by),
                            None => return Ok(None),
                        }
                    }
                    Some(by) => By::Each(self.expr(by)?.expr),
                    None => By::Rows(1),
                };
                let (value, default) = match rest.get(1) {
                    // Both have one form.
                    Some(default) => {
                        let kind = call.returns.arrow();
                        let of = exact(typed, &call.returns);
                        let default = exact(self.expr(default)?, &call.returns);
                        let (Ok(of), Ok(default)) = (of, default) else {
                            return Ok(None);
                        };
                        (Typed::new(of, kind), Some(default))
                    }
                    None => (typed, None),
                };
                ValueFunction::Shifted {
                    value,
                    by,
                    back: name == "lag",
                    default,
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Shape::Value(Box::new(function))))
    }

    /// A value that the bulk engine compares with others of its type, whichever form a NUMERIC
    /// has.
    fn sortable_form(&self, value: &Bound) -> Result<Option<Typed>> {
        let typed = self.expr(value)?;
        let (typed, ty) = match &value.ty {
            Type::Numeric(_) => {
                let ty = Type::Numeric(None);
                (Typed::new(exact(typed, &ty)?, ty.arrow()), ty)
            }
            ty => (typed, ty.clone()),
        };
        Ok(canonical::sortable(typed, &ty))
    }

    /// A frame, and the order's key where that must have the type of the frame's ends.
    fn bulk_frame(&self, call: &WindowCall) -> Result<Option<(BulkFrame, Option<SortKey>)>> {
        let frame = &call.frame;
        let ty = frame.start_value.as_ref().or(frame.end_value.as_ref());
        let ty = ty.map(|value| value.ty.clone());
        let key = match (&ty, call.order.as_slice()) {
            (None, _) => None,
            (Some(ty), [key]) => {
                let expr = key_as(key, ty)?;
                Some(SortKey {
                    expr,
                    ..key.clone()
                })
            }
            // Refused where it is lowered otherwise.
            _ => return Ok(None),
        };
        let bound = |end: &_, value: &Option<Bound>, is_start: bool| -> Result<_> {
            let end = self.end(end, frame.units, is_start)?;
            let at = |back: bool| -> Result<Option<BulkBound>> {
                let Some(value) = value else {
                    return Ok(None);
                };
                let found = self.sortable_form(value)?;
                Ok(found.map(|found| BulkBound::At(found.expr, back)))
            };
            let rows = |count: Option<i64>| count.and_then(|count| usize::try_from(count).ok());
            let known = |bound| Ok(Some(BulkBound::Known(bound)));
            match end {
                End::UnboundedPreceding | End::UnboundedFollowing => known(FrameBound::Unbounded),
                End::CurrentRow => known(FrameBound::Current),
                End::Preceding(_) if frame.units == FrameUnits::Range => at(true),
                End::Following(_) if frame.units == FrameUnits::Range => at(false),
                End::Preceding(count) => {
                    Ok(rows(count).map(|n| BulkBound::Known(FrameBound::Preceding(n))))
                }
                End::Following(count) => {
                    Ok(rows(count).map(|n| BulkBound::Known(FrameBound::Following(n))))
                }
            }
        };
        let start = bound(&frame.start, &frame.start_value, true)?;
        let end = bound(&frame.end, &frame.end_value, false)?;
        let (Some(start), Some(end)) = (start, end) else {
            return Ok(None);
        };
        let bulk = BulkFrame {
            unit: match frame.units {
                FrameUnits::Rows => FrameUnit::Rows,
                FrameUnits::Range => FrameUnit::Range,
                FrameUnits::Groups => FrameUnit::Groups,
            },
            start,
            end,
            exclude: match frame.exclude {
                Exclude::NoOthers => exec::Exclude::NoOthers,
                Exclude::CurrentRow => exec::Exclude::CurrentRow,
                Exclude::Group => exec::Exclude::Group,
                Exclude::Ties => exec::Exclude::Ties,
            },
        };
        Ok(Some((bulk, key)))
    }

    /// Calls whose columns are elsewhere now.
    pub(super) fn anew<'a>(&self, calls: Vec<BulkCall<'a>>) -> Result<Vec<BulkCall<'a>>> {
        let calls = calls.into_iter().map(|call| {
            let found = self.bulk_call(call.of)?;
            found.ok_or_else(|| Error::internal("a window's call that has changed"))
        });
        calls.collect()
    }

    /// The operator of calls that one order serves, that of the first, over rows of which some
    /// values are kept.
    pub(super) fn windowed<'a>(&self, kept: Vec<Expr>, calls: Vec<BulkCall<'a>>) -> Windowed<'a> {
        let mut inputs = Inputs::default();
        let columns = kept.into_iter().map(|value| inputs.place(value)).collect();
        let mut windowing = Windowing {
            columns,
            sorting: exec::Sorting {
                keys: Vec::new(),
                skip: 0,
                fetch: None,
            },
            calls: Vec::new(),
        };
        if let Some(first) = calls.first() {
            let partition = first.partition.len();
            for (number, key) in first.keys.iter().enumerate() {
                let order = number.checked_sub(partition);
                let order = order.and_then(|number| first.order.get(number));
                windowing.sorting.keys.push(exec::SortKey {
                    expression: Expression::Column(inputs.place(key.expr.clone())),
                    kind: key.kind.clone(),
                    descending: order.is_some_and(|key| key.descending),
                    nulls_first: order.is_some_and(|key| key.nulls_first),
                });
            }
        }
        let mut results: Vec<(String, DataType)> = Vec::new();
        let mut values: Vec<(&Column, Typed)> = Vec::new();
        let mut means = Vec::new();
        for call in calls {
            let mut bound = |bound: BulkBound| match bound {
                BulkBound::Known(bound) => bound,
                BulkBound::At(value, true) => FrameBound::Preceding(inputs.place(value)),
                BulkBound::At(value, false) => FrameBound::Following(inputs.place(value)),
            };
            let frame = exec::Frame {
                unit: call.frame.unit,
                start: bound(call.frame.start),
                end: bound(call.frame.end),
                exclude: call.frame.exclude,
            };
            let filter = call.filter.map(|filter| inputs.place(filter));
            let mut add = |function: WindowFunction, kind: DataType| {
                let one = exec::WindowCall {
                    partition: call.partition.len(),
                    order: call.order.len(),
                    function,
                    filter,
                    frame,
                    kind: kind.clone(),
                };
                let known = windowing.calls.iter().position(|known| *known == one);
                let number = known.unwrap_or_else(|| {
                    let number = self.fresh("window", Type::Int8).id.0;
                    results.push((format!("window {number}"), kind.clone()));
                    windowing.calls.push(one);
                    results.len() - 1
                });
                Typed::new(place(&results[number].0), kind)
            };
            let value = match call.shape {
                Shape::Rank(function, kind) => add(function, kind),
                Shape::Value(function) => {
                    let (function, kind) = value_function(*function, &mut inputs);
                    add(function, kind)
                }
                Shape::Aggregate(Found::One(native)) => aggregate(native, &mut inputs, &mut add),
                Shape::Aggregate(Found::Float(native)) => {
                    floats::float(aggregate(native, &mut inputs, &mut add))
                }
                Shape::Aggregate(Found::Mean(sum, ty, count)) => {
                    let sum = aggregate(*sum, &mut inputs, &mut add);
                    let count = aggregate(*count, &mut inputs, &mut add);
                    let sum_column = self.fresh("sum", ty);
                    let count_column = self.fresh("count", Type::Int8);
                    self.found(sum_column.id, sum.expr, sum.kind);
                    self.found(count_column.id, count.expr, count.kind);
                    means.push(Mean {
                        column: call.column,
                        sum: sum_column,
                        count: count_column,
                    });
                    continue;
                }
            };
            values.push((call.column, value));
        }
        Windowed {
            given: inputs.0,
            windowing,
            results,
            values,
            means,
        }
    }

    /// The value of an average of exact numbers.
    pub(super) fn mean(&self, mean: &Mean<'_>) -> Result<Typed> {
        let number = Type::Numeric(None);
        let value = self.evaluated(&quotient(&mean.sum, &mean.count)?)?;
        Ok(Typed::new(exact(value, &number)?, number.arrow()))
    }
}

/// The calls that one order serves, and the others.
pub(super) fn of_one_order(mut calls: Vec<BulkCall<'_>>) -> (Vec<BulkCall<'_>>, Vec<BulkCall<'_>>) {
    // The longest order first: those that it begins with are served by it.
    calls.sort_by_key(|call| std::cmp::Reverse(call.keys.len()));
    let Some(first) = calls.first() else {
        return (calls, Vec::new());
    };
    let (partition, order) = (first.partition.clone(), first.order.clone());
    let forms: Vec<Expr> = first.keys.iter().map(|key| key.expr.clone()).collect();
    calls.into_iter().partition(|call| {
        let mut forms = call.keys.iter().zip(&forms);
        call.partition == partition
            && order.starts_with(&call.order)
            && forms.all(|(key, form)| key.expr == *form)
    })
}

/// A function of values over the columns of the operator, and its type.
fn value_function(function: ValueFunction, inputs: &mut Inputs) -> (WindowFunction, DataType) {
    match function {
        ValueFunction::Tile(count) => (WindowFunction::Tile(inputs.place(count)), DataType::Int32),
        ValueFunction::First(value) => {
            (WindowFunction::First(inputs.place(value.expr)), value.kind)
        }
        ValueFunction::Last(value) => (WindowFunction::Last(inputs.place(value.expr)), value.kind),
        ValueFunction::Nth(value, number) => {
            let function = WindowFunction::Nth {
                value: inputs.place(value.expr),
                number: inputs.place(number),
            };
            (function, value.kind)
        }
        ValueFunction::Shifted {
            value,
            by,
            back,
            default,
        } => {
            let function = WindowFunction::Shifted {
                value: inputs.place(value.expr),
                by: match by {
                    By::Rows(rows) => Shift::Rows(rows),
                    By::Each(by) => Shift::Column(inputs.place(by)),
                },
                back,
                default: default.map(|default| inputs.place(default)),
            };
            (function, value.kind)
        }
    }
}

/// Whether the bulk engine has an aggregate.
fn is_bulk(found: &Found) -> bool {
    let natives = match found {
        Found::One(native) | Found::Float(native) => vec![native],
        Found::Mean(sum, _, count) => vec![sum.as_ref(), count.as_ref()],
    };
    natives.into_iter().all(|native| {
        let is_known = match native.function {
            Simple::Count => true,
            Simple::Sum | Simple::Average => matches!(
                native.kind,
                DataType::Int64 | DataType::Float64 | DataType::Decimal128(..)
            ),
            Simple::Least | Simple::Greatest | Simple::All | Simple::Any => {
                is_time(&native.kind) || Kind::of(&native.kind) != Kind::Other
            }
        };
        is_known && !native.distinct
    })
}

/// Whether values are compared as the integers that they are held as.
fn is_time(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Time64(TimeUnit::Microsecond)
            | DataType::Timestamp(TimeUnit::Microsecond, Some(_))
    )
}

/// The result of an aggregate that the bulk engine has.
fn aggregate(
    native: Native,
    inputs: &mut Inputs,
    add: &mut dyn FnMut(WindowFunction, DataType) -> Typed,
) -> Typed {
    let Native {
        function,
        argument,
        distinct: _,
        kind,
    } = native;
    let function = match function {
        Simple::Sum => exec::Function::Sum,
        Simple::Average => exec::Function::Average { factor: 1 },
        Simple::Least | Simple::All => exec::Function::Least,
        Simple::Greatest | Simple::Any => exec::Function::Greatest,
        Simple::Count => exec::Function::Count,
    };
    let is_best = matches!(function, exec::Function::Least | exec::Function::Greatest);
    let (argument, held) = match is_best && is_time(&kind) {
        true => (cast(argument, &DataType::Int64), DataType::Int64),
        false => (argument, kind.clone()),
    };
    let argument = match (function, &argument) {
        // Rows are counted, whatever constant stands for them.
        (exec::Function::Count, Expr::Literal(value)) if !value.is_null() => None,
        _ => Some(inputs.place(argument)),
    };
    let function = WindowFunction::Aggregate {
        function,
        argument,
        input: held.clone(),
    };
    let result = add(function, held);
    match result.kind == kind {
        true => result,
        false => Typed::new(cast(result.expr, &kind), kind),
    }
}
