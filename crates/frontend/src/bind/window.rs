//! Windows: PARTITION BY, ORDER BY and frames.

use std::sync::Arc;

use sqlparser::ast::{
    Expr as Ast, Interval, NamedWindowDefinition, NamedWindowExpr, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use super::scope::{Clause, NamedWindow, WindowKeys};
use super::{Binder, Coercion, fold};
use crate::error::{Error, Result};
use crate::functions::windows::distance::{Edge, at_distance};
use crate::plan::{Bound, Exclude, Expr, Frame, FrameUnits, SortKey};
use crate::types::Type;

/// A window, bound.
pub(super) struct Window {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<SortKey>,
    pub(super) frame: Frame,
}

impl Binder<'_> {
    /// Notes the windows of a WINDOW clause; their keys, which count even if nobody uses them.
    pub(super) fn name_windows(&mut self, named: &[NamedWindowDefinition]) -> Result<Vec<Expr>> {
        let mut keys = Vec::new();
        for NamedWindowDefinition(name, window) in named {
            let name = fold(name);
            let known = &self.scope()?.named_windows;
            if known.iter().any(|known| known.name == name) {
                return Err(Error::new(
                    "42P20",
                    format!("window \"{name}\" is already defined"),
                ));
            }
            let window = match window {
                NamedWindowExpr::WindowSpec(spec) => {
                    check_frame(spec)?;
                    let Window {
                        partition, order, ..
                    } = self.window_specified(spec)?;
                    if spec.window_name.is_none() {
                        keys.extend_from_slice(&partition);
                    }
                    if !spec.order_by.is_empty() {
                        keys.extend(order.iter().map(|key| key.expr.clone()));
                    }
                    NamedWindow {
                        name,
                        spec: spec.clone(),
                        keys: WindowKeys { partition, order },
                    }
                }
                NamedWindowExpr::NamedWindow(other) => NamedWindow {
                    name,
                    ..self.window_named(&fold(other))?
                },
            };
            self.scope()?.named_windows.push(window);
        }
        Ok(keys)
    }

    fn window_named(&mut self, name: &str) -> Result<NamedWindow> {
        let windows = &self.scope()?.named_windows;
        let found = windows.iter().find(|known| known.name == name);
        found
            .cloned()
            .ok_or_else(|| Error::new("42704", format!("window \"{name}\" does not exist")))
    }

    /// The window behind OVER.
    pub(super) fn window(&mut self, over: &WindowType) -> Result<Window> {
        match over {
            WindowType::NamedWindow(name) => {
                let named = self.window_named(&fold(name))?;
                self.window_specified(&named.spec)
            }
            WindowType::WindowSpec(spec) => self.window_specified(spec),
        }
    }

    /// The window of a specification. Of several faults of a query PostgreSQL tells those of
    /// windows last: here they are noted, and the window is an empty one.
    fn window_specified(&mut self, spec: &WindowSpec) -> Result<Window> {
        let depth = self.scopes.len();
        let window = self.in_clause(Clause::Window, |binder| binder.window_of(spec));
        let Err(fault) = window else {
            return window;
        };
        let is_here = self.scopes.len() == depth;
        match &mut self.scope()?.window_faults {
            Some(faults) if is_here => faults.push(fault),
            _ => return Err(fault),
        }
        Ok(Window {
            partition: Vec::new(),
            order: Vec::new(),
            frame: up_to_peers(),
        })
    }

    fn window_of(&mut self, spec: &WindowSpec) -> Result<Window> {
        let WindowSpec {
            window_name,
            partition_by,
            order_by,
            window_frame,
        } = spec;
        let (mut partition, mut order) = (Vec::new(), Vec::new());
        if let Some(name) = window_name {
            let base = self.window_named(&fold(name))?;
            if !partition_by.is_empty() {
                return Err(Error::new(
                    "42P20",
                    format!("cannot override PARTITION BY clause of window \"{name}\""),
                ));
            }
            let keys = order_by.iter().filter(|key| excluded(&key.expr).is_none());
            if keys.count() > 0 && !base.keys.order.is_empty() {
                return Err(Error::new(
                    "42P20",
                    format!("cannot override ORDER BY clause of window \"{name}\""),
                ));
            }
            if base.spec.window_frame.is_some() {
                return Err(Error::new(
                    "42P20",
                    format!("cannot copy window \"{name}\" because it has a frame clause"),
                ));
            }
            WindowKeys { partition, order } = base.keys;
        }
        for expr in partition_by {
            let expr = self.bind_expr(expr)?;
            let expr = self.known_expr(expr)?;
            self.check_equality(&expr.ty)?;
            partition.push(expr);
        }
        let mut exclude = Exclude::NoOthers;
        for key in order_by {
            match excluded(&key.expr) {
                Some(rows) => exclude = rows,
                None => order.push(self.sort_key(key)?),
            }
        }
        let frame = match window_frame {
            Some(frame) => Frame {
                exclude,
                ..self.frame(frame, &mut order)?
            },
            None => up_to_peers(),
        };
        Ok(Window {
            partition,
            order,
            frame,
        })
    }

    fn frame(&mut self, frame: &WindowFrame, order: &mut [SortKey]) -> Result<Frame> {
        let WindowFrame {
            units,
            start_bound,
            end_bound,
        } = frame;
        let units = match units {
            WindowFrameUnits::Rows => FrameUnits::Rows,
            WindowFrameUnits::Range => FrameUnits::Range,
            WindowFrameUnits::Groups => FrameUnits::Groups,
        };
        let current = WindowFrameBound::CurrentRow;
        let end_bound = end_bound.as_ref().unwrap_or(&current);
        if units == FrameUnits::Groups && order.is_empty() {
            return Err(Error::new(
                "42P20",
                "GROUPS mode requires an ORDER BY clause",
            ));
        }
        let start_offset = self.offset(start_bound, units, order)?;
        let end_offset = self.offset(end_bound, units, order)?;
        let mut offsets = [start_offset, end_offset];
        if let (FrameUnits::Range, [key]) = (units, &mut *order) {
            self.widen(key, &mut offsets)?;
        }
        let [start_offset, end_offset] = offsets;
        let start_value = self.value(start_bound, &start_offset, units, order, true)?;
        let end_value = self.value(end_bound, &end_offset, units, order, false)?;
        Ok(Frame {
            units,
            start: bound(start_bound, start_offset),
            end: bound(end_bound, end_offset),
            exclude: Exclude::NoOthers,
            start_value,
            end_value,
        })
    }

    /// The distance of an end of a frame, as a value of the type that its units ask for.
    fn offset(
        &mut self,
        bound: &WindowFrameBound,
        units: FrameUnits,
        order: &[SortKey],
    ) -> Result<Option<Expr>> {
        let (WindowFrameBound::Preceding(Some(distance))
        | WindowFrameBound::Following(Some(distance))) = bound
        else {
            return Ok(None);
        };
        if units == FrameUnits::Range {
            let [key] = order else {
                return Err(Error::new(
                    "42P20",
                    "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
                ));
            };
            let offset = self.range_offset(distance, key)?;
            return Ok(Some(offset));
        }
        let word = match units {
            FrameUnits::Groups => "GROUPS",
            _ => "ROWS",
        };
        let distance = self.distance(distance, units, &Type::Int8)?;
        let ty = distance.ty.base();
        self.coerce(distance, &Type::Int8, Coercion::Assignment)
            .map(Some)
            .map_err(|error| match error.sqlstate {
                "42804" => Error::new(
                    "42804",
                    format!("argument of {word} must be type bigint, not type {ty}"),
                ),
                _ => error,
            })
    }

    /// A distance, which reads no columns. The syntax has a text in quotes as an interval.
    fn distance(&mut self, distance: &Ast, units: FrameUnits, wanted: &Type) -> Result<Expr> {
        if let Ast::Interval(Interval {
            value,
            leading_field: None,
            leading_precision: None,
            last_field: None,
            fractional_seconds_precision: None,
        }) = distance
            && let Ast::Value(value) = value.as_ref()
            && *wanted != Type::Interval
        {
            let literal = self.literal(value)?;
            let read = self.coerce(literal.clone(), wanted, Coercion::Implicit);
            if read.is_ok() || self.bind_expr(distance).is_err() {
                return Ok(literal);
            }
        }
        let word = match units {
            FrameUnits::Rows => "ROWS",
            FrameUnits::Range => "RANGE",
            FrameUnits::Groups => "GROUPS",
        };
        let bound = self.in_clause(Clause::Frame(units), |binder| binder.bind_expr(distance))?;
        self.check_constant(&bound, word)?;
        Ok(bound)
    }

    /// A distance of RANGE: of the types that go with the key's type, the one that it is of,
    /// or else the key's own, or the only one.
    fn range_offset(&mut self, distance: &Ast, key: &SortKey) -> Result<Expr> {
        let of_key = key.expr.ty.base();
        let types: &[Type] = match of_key {
            Type::Int2 | Type::Int4 => &[Type::Int8, Type::Int4, Type::Int2],
            Type::Int8 => &[Type::Int8],
            Type::Float4 | Type::Float8 => &[Type::Float8],
            Type::Numeric(_) => &[Type::Numeric(None)],
            Type::Date
            | Type::Time(_)
            | Type::TimeTz(_)
            | Type::Timestamp(_)
            | Type::TimestampTz(_)
            | Type::Interval => &[Type::Interval],
            _ => &[],
        };
        let refused = |rest: &str| {
            Error::unsupported(format!(
                "RANGE with offset PRECEDING/FOLLOWING is not supported for column type \
                 {of_key}{rest}"
            ))
        };
        let [first, ..] = types else {
            return Err(refused(""));
        };
        let wanted = if types.contains(&of_key) {
            &of_key
        } else {
            first
        };
        let bound = self.distance(distance, FrameUnits::Range, wanted)?;
        let ty = bound.ty.base();
        let to = match &ty {
            Type::Unknown => Some(wanted),
            ty => types.iter().find(|to| *to == ty).or_else(|| {
                let sample = Expr::null(ty.clone());
                let fits = |binder: &mut Self, to: &Type| {
                    binder.coercible(&sample.ty, to, Coercion::Implicit)
                };
                types.iter().find(|to| fits(self, to))
            }),
        };
        let to = to.ok_or_else(|| {
            refused(&format!(" and offset type {ty}"))
                .with_hint("Cast the offset value to an appropriate type.")
        })?;
        // NUMERIC keeps its digits.
        match (to, &bound.ty) {
            (Type::Numeric(_), known) if *known != Type::Unknown => Ok(bound),
            (to, _) => self.coerce(bound, to, Coercion::Implicit),
        }
    }

    /// Brings the key of an order and the distances from it to one type, in which they are
    /// added: a date and an interval make a timestamp.
    fn widen(&mut self, key: &mut SortKey, offsets: &mut [Option<Expr>; 2]) -> Result<()> {
        if offsets.iter().all(Option::is_none) {
            return Ok(());
        }
        let differs = offsets
            .iter()
            .flatten()
            .any(|offset| offset.ty != key.expr.ty);
        let to = match key.expr.ty {
            Type::Date => Type::Timestamp(None),
            Type::Float4 => Type::Float8,
            Type::Int2 | Type::Int4 if differs => Type::Int8,
            _ => return Ok(()),
        };
        key.expr = self.coerce(key.expr.clone(), &to, Coercion::Implicit)?;
        if to == Type::Int8 {
            for offset in offsets.iter_mut().flatten() {
                *offset = self.coerce(offset.clone(), &to, Coercion::Implicit)?;
            }
        }
        Ok(())
    }

    /// The value at which a frame of RANGE ends.
    fn value(
        &mut self,
        bound: &WindowFrameBound,
        offset: &Option<Expr>,
        units: FrameUnits,
        order: &[SortKey],
        is_start: bool,
    ) -> Result<Option<Expr>> {
        let (FrameUnits::Range, Some(offset), [key]) = (units, offset, order) else {
            return Ok(None);
        };
        let edge = Edge {
            is_start,
            is_preceding: matches!(bound, WindowFrameBound::Preceding(_)),
            descending: key.descending,
        };
        let plus = edge.is_preceding == key.descending;
        let symbol = if plus { "+" } else { "-" };
        let (key, offset) = (key.expr.clone(), offset.clone());
        let operator = self.operator(symbol, &[&key, &offset])?;
        let mut operands = Vec::with_capacity(2);
        for (operand, to) in [key, offset].into_iter().zip(&operator.parameters) {
            operands.push(self.coerce(operand, to, Coercion::Implicit)?);
        }
        let function = at_distance(edge, &operator.function, &operator.returns);
        let value = Expr::call(Arc::new(function), operands, operator.returns);
        Ok(Some(value))
    }
}

/// Refuses a frame whose ends are in the wrong order, whatever else is wrong with a window.
///
/// # Errors
/// `42P20`.
pub(super) fn check_frame(spec: &WindowSpec) -> Result<()> {
    let Some(frame) = &spec.window_frame else {
        return Ok(());
    };
    match (&frame.start_bound, &frame.end_bound) {
        (WindowFrameBound::Following(Some(_)), None) => Err(Error::new(
            "42P20",
            "frame starting from following row cannot end with current row",
        )),
        (start, None) => check_bounds(start, &WindowFrameBound::CurrentRow),
        (start, Some(end)) => check_bounds(start, end),
    }
}

/// The frame that a window has if none is written.
fn up_to_peers() -> Frame {
    Frame {
        units: FrameUnits::Range,
        start: Bound::Unbounded,
        end: Bound::Current,
        exclude: Exclude::NoOthers,
        start_value: None,
        end_value: None,
    }
}

/// An end of a frame.
fn bound(written: &WindowFrameBound, offset: Option<Expr>) -> Bound {
    match (written, offset) {
        (WindowFrameBound::CurrentRow, _) => Bound::Current,
        (WindowFrameBound::Preceding(_), Some(offset)) => Bound::Preceding(offset),
        (WindowFrameBound::Following(_), Some(offset)) => Bound::Following(offset),
        (WindowFrameBound::Preceding(_) | WindowFrameBound::Following(_), None) => Bound::Unbounded,
    }
}

fn check_bounds(start: &WindowFrameBound, end: &WindowFrameBound) -> Result<()> {
    use WindowFrameBound as B;
    let message = match (start, end) {
        (B::Following(None), _) => "frame start cannot be UNBOUNDED FOLLOWING",
        (_, B::Preceding(None)) => "frame end cannot be UNBOUNDED PRECEDING",
        (B::CurrentRow, B::Preceding(_)) => {
            "frame starting from current row cannot have preceding rows"
        }
        (B::Following(_), B::CurrentRow) => {
            "frame starting from following row cannot have preceding rows"
        }
        (B::Following(_), B::Preceding(_)) => {
            "frame starting from following row cannot have preceding rows"
        }
        _ => return Ok(()),
    };
    Err(Error::new("42P20", message))
}

/// Rows left out of a frame, which the syntax has as a key of the order.
fn excluded(key: &Ast) -> Option<Exclude> {
    let Ast::Identifier(ident) = key else {
        return None;
    };
    match ident.value.strip_prefix(crate::syntax::marks::EXCLUDE)? {
        "current row" => Some(Exclude::CurrentRow),
        "group" => Some(Exclude::Group),
        "ties" => Some(Exclude::Ties),
        "no others" => Some(Exclude::NoOthers),
        _ => None,
    }
}
