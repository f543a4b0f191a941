//! Windows: PARTITION BY, ORDER BY and frames.

use sqlparser::ast::{
    Expr as Ast, NamedWindowDefinition, NamedWindowExpr, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use super::{Binder, Coercion, fold};
use crate::error::{Error, Result};
use crate::plan::{Bound, Exclude, Expr, Frame, FrameUnits, SortKey};
use crate::types::{Category, Type};

/// A window, bound.
pub(super) struct Window {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<SortKey>,
    pub(super) frame: Frame,
}

impl Binder<'_> {
    /// Notes the windows of a WINDOW clause.
    pub(super) fn name_windows(&mut self, named: &[NamedWindowDefinition]) -> Result<()> {
        for NamedWindowDefinition(name, window) in named {
            let name = fold(name);
            if self
                .scope()?
                .named_windows
                .iter()
                .any(|(known, _)| *known == name)
            {
                return Err(Error::new(
                    "42P20",
                    format!("window \"{name}\" is already defined"),
                ));
            }
            let spec = match window {
                NamedWindowExpr::WindowSpec(spec) => spec.clone(),
                NamedWindowExpr::NamedWindow(other) => self.window_named(&fold(other))?,
            };
            self.scope()?.named_windows.push((name, spec));
        }
        Ok(())
    }

    fn window_named(&mut self, name: &str) -> Result<WindowSpec> {
        let windows = &self.scope()?.named_windows;
        let found = windows.iter().find(|(known, _)| known == name);
        found
            .map(|(_, spec)| spec.clone())
            .ok_or_else(|| Error::new("42704", format!("window \"{name}\" does not exist")))
    }

    /// The window behind OVER.
    pub(super) fn window(&mut self, over: &WindowType) -> Result<Window> {
        match over {
            WindowType::NamedWindow(name) => {
                let spec = self.window_named(&fold(name))?;
                self.window_of(&spec)
            }
            WindowType::WindowSpec(spec) => self.window_of(spec),
        }
    }

    fn window_of(&mut self, spec: &WindowSpec) -> Result<Window> {
        let WindowSpec {
            window_name,
            partition_by,
            order_by,
            window_frame,
        } = spec;
        let (mut partition, mut order) = (Vec::new(), Vec::new());
        let mut frame = window_frame.clone();
        if let Some(name) = window_name {
            let base_spec = self.window_named(&fold(name))?;
            if !partition_by.is_empty() {
                return Err(Error::new(
                    "42P20",
                    format!("cannot override PARTITION BY clause of window \"{name}\""),
                ));
            }
            let keys = order_by.iter().filter(|key| excluded(&key.expr).is_none());
            if keys.count() > 0 && !base_spec.order_by.is_empty() {
                return Err(Error::new(
                    "42P20",
                    format!("cannot override ORDER BY clause of window \"{name}\""),
                ));
            }
            if base_spec.window_frame.is_some() {
                return Err(Error::new(
                    "42P20",
                    format!("cannot copy window \"{name}\" because it has a frame clause"),
                ));
            }
            self.enter()?;
            let base = self.window_of(&base_spec);
            self.leave();
            let base = base?;
            (partition, order) = (base.partition, base.order);
            frame = window_frame.clone();
        }
        for expr in partition_by {
            let expr = self.bind_expr(expr)?;
            partition.push(self.known_expr(expr)?);
        }
        let mut exclude = Exclude::NoOthers;
        for key in order_by {
            match excluded(&key.expr) {
                Some(rows) => exclude = rows,
                None => order.push(self.sort_key(key)?),
            }
        }
        let frame = match &frame {
            Some(frame) => Frame {
                exclude,
                ..self.frame(frame, &mut order)?
            },
            None => Frame {
                units: FrameUnits::Range,
                start: Bound::Unbounded,
                end: Bound::Current,
                exclude: Exclude::NoOthers,
                start_value: None,
                end_value: None,
            },
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
        check_bounds(start_bound, end_bound)?;
        if units == FrameUnits::Groups && order.is_empty() {
            return Err(Error::new(
                "42P20",
                "GROUPS mode requires an ORDER BY clause",
            ));
        }
        // A date and an interval make a timestamp, with which keys are compared.
        let by_distance = |bound: &WindowFrameBound| {
            matches!(
                bound,
                WindowFrameBound::Preceding(Some(_)) | WindowFrameBound::Following(Some(_))
            )
        };
        if units == FrameUnits::Range
            && (by_distance(start_bound) || by_distance(end_bound))
            && let [key] = &mut *order
            && key.expr.ty == Type::Date
        {
            let date = key.expr.clone();
            key.expr = self.coerce(date, &Type::Timestamp(None), Coercion::Implicit)?;
        }
        let (start, start_value) = self.bound(start_bound, units, order)?;
        let (end, end_value) = self.bound(end_bound, units, order)?;
        Ok(Frame {
            units,
            start,
            end,
            exclude: Exclude::NoOthers,
            start_value,
            end_value,
        })
    }

    /// An end of a frame, and its value where the frame goes by values.
    fn bound(
        &mut self,
        bound: &WindowFrameBound,
        units: FrameUnits,
        order: &[SortKey],
    ) -> Result<(Bound, Option<Expr>)> {
        let (distance, following) = match bound {
            WindowFrameBound::CurrentRow => return Ok((Bound::Current, None)),
            WindowFrameBound::Preceding(None) | WindowFrameBound::Following(None) => {
                return Ok((Bound::Unbounded, None));
            }
            WindowFrameBound::Preceding(Some(distance)) => (distance, false),
            WindowFrameBound::Following(Some(distance)) => (distance, true),
        };
        let (distance, value) = self.distance(distance, following, units, order)?;
        Ok(match following {
            true => (Bound::Following(distance), value),
            false => (Bound::Preceding(distance), value),
        })
    }

    fn distance(
        &mut self,
        distance: &Ast,
        following: bool,
        units: FrameUnits,
        order: &[SortKey],
    ) -> Result<(Expr, Option<Expr>)> {
        let bound = self.bind_expr(distance)?;
        let (mut here, read) = (std::collections::HashSet::new(), bound.reads());
        for column in &self.scope()?.names.columns {
            column.value.read(&mut here);
        }
        if read.iter().any(|column| here.contains(column)) {
            let units = match units {
                FrameUnits::Rows => "ROWS",
                FrameUnits::Range => "RANGE",
                FrameUnits::Groups => "GROUPS",
            };
            return Err(Error::new(
                "42P10",
                format!("argument of {units} must not contain variables"),
            ));
        }
        if units != FrameUnits::Range {
            let bound = self.coerce(bound, &Type::Int8, Coercion::Assignment)?;
            return Ok((bound, None));
        }
        let [key] = order else {
            return Err(Error::new(
                "42P20",
                "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
            ));
        };
        // A literal is of the type that is added to the key's.
        let bound = match key.expr.ty.category() {
            Category::DateTime if bound.ty == Type::Unknown => {
                self.coerce(bound, &Type::Interval, Coercion::Implicit)?
            }
            _ => bound,
        };
        let plus = following != key.descending;
        let value = self.binary(
            if plus { "+" } else { "-" },
            key.expr.clone(),
            bound.clone(),
        );
        let value = value.map_err(|_| {
            Error::new(
                "0A000",
                format!(
                    "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {} \
                     and offset type {}",
                    key.expr.ty.base(),
                    bound.ty.base()
                ),
            )
        })?;
        Ok((bound, Some(value)))
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
