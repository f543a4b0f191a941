//! Constant folding: calls of literals become their values, and conditions that are decided
//! lose the parts that do not matter.
//!
//! ```text
//! x > 1 + 2 AND TRUE            x > 3
//! CASE WHEN FALSE THEN 1 / 0 ELSE x END        x
//! x = ANY ('{1, 2}')            x IN (1, 2)
//! 1 / 0                         1 / 0: a call that fails stays, and fails when it is run
//! ```
//!
//! Every expression is looked at once, those below it first.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};

use super::{Input, evaluate, lists};
use crate::error::Result;
use crate::functions::{Scalar, Session, Volatility};
use crate::interrupt;
use crate::plan::{Expr, ExprKind, Plan};
use crate::stack;
use crate::types::Type;

/// Values that folding goes by.
#[derive(Clone, Copy)]
pub struct Fold<'a> {
    /// Settings and the time.
    pub session: &'a Session,
    /// Whether stable calls are folded, too, which holds for one statement only.
    pub stable: bool,
    /// Values of the statement's parameters, if they are known.
    pub parameters: &'a [ArrayRef],
}

impl Fold<'_> {
    /// Folds an expression.
    pub fn expr(&self, expr: &mut Expr) {
        stack::with_room(expr.levels(), || self.inside(expr));
    }

    /// Folds all expressions of a plan and of the plans below it.
    pub fn plan(&self, plan: &mut Plan) {
        stack::with_room(plan.levels(), || self.nodes(plan));
    }

    fn inside(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Call { arguments, .. } => {
                for argument in arguments {
                    self.inside(argument);
                }
            }
            _ => self.below(expr),
        }
        self.simplify(expr);
    }

    fn nodes(&self, plan: &mut Plan) {
        for expr in plan.expressions_mut() {
            self.inside(expr);
        }
        if interrupt::check().is_err() {
            return;
        }
        for input in plan.inputs_mut() {
            self.nodes(input);
        }
    }

    #[inline(never)]
    fn below(&self, expr: &mut Expr) {
        for child in expr.children_mut() {
            self.inside(child);
        }
        if let ExprKind::Subquery(subquery) = &mut expr.kind {
            self.nodes(&mut subquery.plan);
        }
    }

    #[inline(never)]
    fn simplify(&self, expr: &mut Expr) {
        let new = match &mut expr.kind {
            ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Subquery(_) => None,
            ExprKind::Parameter(number) => {
                let value = self.parameters.get(number.wrapping_sub(1));
                value.map(|value| ExprKind::Literal(value.clone()))
            }
            ExprKind::Call {
                function,
                arguments,
            } => self.call(function, arguments, &expr.ty),
            ExprKind::And(parts) => Some(connective(std::mem::take(parts), true)),
            ExprKind::Or(parts) => Some(connective(std::mem::take(parts), false)),
            ExprKind::Not(inner) => negation(inner),
            ExprKind::IsNull(inner) => inner
                .literal()
                .map(|value| Expr::bool(value.is_null(0)).kind),
            ExprKind::Case {
                branches,
                otherwise,
            } => case(branches, otherwise, &expr.ty),
            ExprKind::Coalesce(values) => coalesce(values, &expr.ty),
            ExprKind::InList { value, list, equal } => {
                let volatility = Some(equal.volatility);
                match value.is_literal_null() && equal.strict && !list.is_empty() {
                    true => Some(Expr::null(Type::Bool).kind),
                    false => self.if_literals(expr, volatility),
                }
            }
            ExprKind::Any { operator, .. } => {
                let volatility = Some(operator.volatility);
                let value = self.if_literals(expr, volatility);
                value.or_else(|| in_list(expr))
            }
            ExprKind::Array(_) | ExprKind::Row(_) | ExprKind::Field(..) => {
                self.if_literals(expr, None)
            }
        };
        if let Some(kind) = new {
            expr.kind = kind;
        }
    }

    fn allows(&self, volatility: Volatility) -> bool {
        match volatility {
            Volatility::Immutable => true,
            Volatility::Stable => self.stable,
            Volatility::Volatile => false,
        }
    }

    fn call(&self, function: &Scalar, arguments: &[Expr], ty: &Type) -> Option<ExprKind> {
        if function.strict && arguments.iter().any(Expr::is_literal_null) {
            // A call that fails does so before it is known that nobody needs its value.
            let fails = arguments.iter().any(|argument| self.fails(argument));
            return (!fails).then(|| Expr::null(ty.clone()).kind);
        }
        let literals = arguments.iter().map(|argument| argument.literal().cloned());
        let literals: Vec<ArrayRef> = literals.collect::<Option<_>>()?;
        if !self.allows(function.volatility) {
            return None;
        }
        if !is_small(function, &literals) {
            return None;
        }
        let types: Vec<Type> = arguments.iter().map(|a| a.ty.clone()).collect();
        let columns = literals.into_iter().map(super::Column::constant).collect();
        let value = super::apply(function, &types, columns, ty, 1, self.session);
        literal(value)
    }

    /// Whether a folded expression has a call of literals that has no value.
    fn fails(&self, expr: &Expr) -> bool {
        let literals = |arguments: &[Expr]| -> Option<Vec<ArrayRef>> {
            let literals = arguments.iter().map(|argument| argument.literal().cloned());
            literals.collect()
        };
        expr.any(&mut |part| match &part.kind {
            ExprKind::Call {
                function,
                arguments,
            } => {
                let small = |values: Vec<ArrayRef>| is_small(function, &values);
                self.allows(function.volatility) && literals(arguments).is_some_and(small)
            }
            _ => false,
        })
    }

    /// The value, if all below is literal.
    fn if_literals(&self, expr: &Expr, volatility: Option<Volatility>) -> Option<ExprKind> {
        let below = expr.children();
        if !below.iter().all(|child| child.literal().is_some())
            || volatility.is_some_and(|volatility| !self.allows(volatility))
        {
            return None;
        }
        literal(evaluate(expr, &Input::new(1, &|_| None, self.session)))
    }
}

/// `x = ANY ('{1, 2}')` as `x IN (1, 2)`, for which there are indexes and zone maps.
fn in_list(any: &Expr) -> Option<ExprKind> {
    let ExprKind::Any {
        operator,
        value,
        array,
        all: false,
    } = &any.kind
    else {
        return None;
    };
    let ty = array.ty.innermost();
    let elements = lists::elements(array.literal()?).ok()??;
    let is_equality = operator.name == "=" && value.ty.arrow() == *elements.data_type();
    if !is_equality || elements.is_empty() || elements.len() > ELEMENTS {
        return None;
    }
    let item = |at| Expr::new(ExprKind::Literal(elements.slice(at, 1)), ty.clone());
    Some(ExprKind::InList {
        value: value.clone(),
        list: (0..elements.len()).map(item).collect(),
        equal: Arc::clone(operator),
    })
}

/// Most elements of an array that become a list.
const ELEMENTS: usize = 10_000;

/// A value that folding leaves, unless it is a great one: plans are copied and shown.
fn literal(value: Result<super::Column>) -> Option<ExprKind> {
    let array = value.ok()?.array;
    (array.get_buffer_memory_size() <= MOST).then_some(ExprKind::Literal(array))
}

/// Most bytes of values that folding works on.
const BYTES: usize = 64 << 10;

/// Most bytes of a value that it leaves.
const MOST: usize = 1 << 20;

/// Whether the values of a call are so few bytes that its result is no great one: others are
/// computed when the statement is run, which counts the memory.
pub(crate) fn is_small(function: &Scalar, values: &[ArrayRef]) -> bool {
    if function.name == "cast" {
        return true;
    }
    let bytes: usize = values
        .iter()
        .map(|value| value.get_buffer_memory_size())
        .sum();
    let grows = matches!(
        function.name,
        "repeat" | "lpad" | "rpad" | "array_fill" | "^" | "power" | "pow" | "factorial"
    );
    let great = |value: &ArrayRef| {
        let literal = Expr::new(ExprKind::Literal(value.clone()), Type::Unknown);
        let times = usize::try_from(literal.literal_integer().unwrap_or(0)).unwrap_or(0);
        times > BYTES || times.saturating_mul(bytes) > 16 * MOST
    };
    bytes <= BYTES && !(grows && values.iter().any(great))
}

/// The truth value of a literal; the inner `None` is NULL.
pub(crate) fn truth(expr: &Expr) -> Option<Option<bool>> {
    let value = expr.literal()?.as_boolean_opt()?;
    Some((!value.is_null(0)).then(|| value.value(0)))
}

fn connective(parts: Vec<Expr>, and: bool) -> ExprKind {
    let mut open = Vec::with_capacity(parts.len());
    let mut unknown = false;
    for part in parts {
        match (truth(&part), part.kind) {
            (Some(Some(value)), _) if value == and => {}
            (Some(Some(value)), _) => return Expr::bool(value).kind,
            (Some(None), _) => unknown = true,
            (None, ExprKind::And(inner)) if and => open.extend(inner),
            (None, ExprKind::Or(inner)) if !and => open.extend(inner),
            (None, kind) => open.push(Expr::new(kind, Type::Bool)),
        }
    }
    if unknown {
        open.push(Expr::null(Type::Bool));
    }
    match open.len() {
        0 => Expr::bool(and).kind,
        1 => open.swap_remove(0).kind,
        _ if and => ExprKind::And(open),
        _ => ExprKind::Or(open),
    }
}

fn negation(inner: &mut Expr) -> Option<ExprKind> {
    if let Some(value) = truth(inner) {
        let value = value.map_or_else(|| Expr::null(Type::Bool), |value| Expr::bool(!value));
        return Some(value.kind);
    }
    match &mut inner.kind {
        ExprKind::Not(twice) => Some(taken(twice).kind),
        _ => None,
    }
}

fn taken(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::bool(false))
}

fn case(
    branches: &mut Vec<(Expr, Expr)>,
    otherwise: &mut Option<Box<Expr>>,
    ty: &Type,
) -> Option<ExprKind> {
    if branches.iter().all(|(when, _)| truth(when).is_none()) {
        return None;
    }
    let mut left = Vec::with_capacity(branches.len());
    let mut last = otherwise.take();
    for (when, then) in branches.drain(..) {
        match truth(&when) {
            None => left.push((when, then)),
            Some(Some(true)) => {
                last = Some(Box::new(then));
                break;
            }
            Some(_) => {}
        }
    }
    match last {
        last if !left.is_empty() => Some(ExprKind::Case {
            branches: left,
            otherwise: last,
        }),
        // A value of another form of the type keeps the CASE around it.
        Some(last) if last.ty.arrow() != ty.arrow() => Some(ExprKind::Case {
            branches: Vec::new(),
            otherwise: Some(last),
        }),
        Some(last) => Some(last.relabelled(ty).kind),
        None => Some(Expr::null(ty.clone()).kind),
    }
}

fn coalesce(values: &mut Vec<Expr>, ty: &Type) -> Option<ExprKind> {
    values.retain(|value| !value.is_literal_null());
    if let Some(at) = values.iter().position(|value| value.literal().is_some()) {
        values.truncate(at + 1);
    }
    match values.as_mut_slice() {
        [] => Some(Expr::null(ty.clone()).kind),
        [one] if one.ty.arrow() == ty.arrow() => Some(taken(one).relabelled(ty).kind),
        _ => None,
    }
}
