//! Statements with values in their texts, which are known by their shapes.
//!
//! ```text
//! UPDATE accounts SET balance = balance + 12 WHERE id = 7
//! UPDATE accounts SET balance = balance + CAST($1 AS INTEGER) WHERE id = CAST($2 AS INTEGER)
//! ```
//!
//! The second line is the shape of the first. A statement whose rows are found by keys is bound
//! once for its shape, and runs with its values as a prepared one does. A shape is bound when it
//! is met for the second time: most queries of an analyst come once. Values are taken from
//! the conditions and from what SET gives. A number becomes a parameter of its own type and a
//! text one of no type, so that operators and functions are found as for the literals.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Query, SetExpr, Statement as Ast, UnaryOperator,
    Value, VisitorMut,
};
use freestone_frontend::syntax::walk::walk_mut;

use crate::keyed::KeyQuery;
use crate::parameter::Parameter;
use crate::run::bound_by_keys;
use crate::session::Session;
use crate::statement::Statement;

/// Most values of a statement that has a shape.
const MOST_VALUES: usize = 500;

impl Session {
    /// The bound statement of a shape, and the values of the statement; `None` if its rows are
    /// not found by keys.
    pub(super) async fn shaped(
        &self,
        statement: &Statement,
    ) -> Option<(Arc<KeyQuery>, Vec<Parameter>)> {
        if statement.is_deep() || self.has_own_names() {
            return None;
        }
        let (shape, values) = shape(statement.sql()?)?;
        let known = self.shapes().known(&shape);
        let Some(known) = known else {
            self.shapes().keep(shape, None);
            return None;
        };
        let query = match known.filter(|known| known.fits(self.bound_with())) {
            Some(known) => known,
            None => {
                let made = Arc::new(bound_by_keys(self, &shape).await?);
                self.shapes().keep(shape, Some(Arc::clone(&made)));
                made
            }
        };
        query.is_by_keys().then_some((query, values))
    }
}

/// The shape of a statement and its values; `None` for statements of other forms.
fn shape(ast: &Ast) -> Option<(Ast, Vec<Parameter>)> {
    if !may_be_by_keys(ast) {
        return None;
    }
    let mut shape = ast.clone();
    let mut values = Values::default();
    let taken = match &mut shape {
        Ast::Query(query) => match query.body.as_mut() {
            SetExpr::Select(select) => walk_mut(&mut select.selection, &mut values),
            _ => return None,
        },
        Ast::Update(update) => match walk_mut(&mut update.selection, &mut values) {
            ControlFlow::Continue(()) => {
                let mut assignments = update.assignments.iter_mut();
                assignments.try_for_each(|one| walk_mut(&mut one.value, &mut values))
            }
            ended => ended,
        },
        Ast::Delete(delete) => walk_mut(&mut delete.selection, &mut values),
        _ => return None,
    };
    taken.is_continue().then_some((shape, values.taken))
}

/// Whether a statement has a condition of one relation or more that may name keys.
fn may_be_by_keys(ast: &Ast) -> bool {
    match ast {
        Ast::Query(query) => match query.body.as_ref() {
            SetExpr::Select(select) => query.with.is_none() && select.selection.is_some(),
            _ => false,
        },
        Ast::Update(update) => update.selection.is_some(),
        Ast::Delete(delete) => delete.selection.is_some(),
        _ => false,
    }
}

/// Takes values out of expressions.
#[derive(Default)]
struct Values {
    taken: Vec<Parameter>,
    /// Whether a parameter that was just put in is visited next.
    is_own: bool,
}

impl Values {
    /// A value in the place of a literal: of some type, or of none.
    fn take(&mut self, value: Parameter, data_type: Option<DataType>) -> Expr {
        self.taken.push(value);
        // One that takes the place of a literal itself is not visited again.
        self.is_own = data_type.is_some();
        let text = format!("${}", self.taken.len());
        let holder = Expr::Value(Value::Placeholder(text).with_empty_span());
        match data_type {
            None => holder,
            Some(data_type) => Expr::Cast {
                kind: CastKind::Cast,
                expr: Box::new(holder),
                data_type,
                array: false,
                format: None,
            },
        }
    }

    fn number(&mut self, digits: &str, negative: bool) -> Option<Expr> {
        let sign = if negative { "-" } else { "" };
        let signed = format!("{sign}{digits}");
        if let Ok(number) = signed.parse::<i64>() {
            let data_type = match i32::try_from(number) {
                Ok(_) => DataType::Integer(None),
                Err(_) => DataType::BigInt(None),
            };
            // The magnitude of the least number is beyond its type.
            let is_least = number == i64::from(i32::MIN) || number == i64::MIN;
            return (!is_least).then(|| self.take(Parameter::Integer(number), Some(data_type)));
        }
        let is_decimal = digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let data_type = DataType::Numeric(ExactNumberInfo::None);
        is_decimal.then(|| self.take(Parameter::Decimal(signed), Some(data_type)))
    }
}

impl VisitorMut for Values {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let (literal, negative) = match &*expr {
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr: inner,
            } => match &**inner {
                Expr::Value(value) if matches!(value.value, Value::Number(..)) => {
                    (&value.value, true)
                }
                _ => return ControlFlow::Continue(()),
            },
            Expr::Value(value) => (&value.value, false),
            // Its text is a part of its syntax.
            Expr::Interval(_) => return ControlFlow::Break(()),
            _ => return ControlFlow::Continue(()),
        };
        let holder = match literal {
            Value::Number(digits, false) => self.number(&digits.clone(), negative),
            Value::SingleQuotedString(text) => Some(self.take(Parameter::Text(text.clone()), None)),
            // Placeholders of a statement that was not prepared are errors.
            Value::Placeholder(_) if !std::mem::take(&mut self.is_own) => {
                return ControlFlow::Break(());
            }
            _ => return ControlFlow::Continue(()),
        };
        match holder {
            Some(holder) if self.taken.len() <= MOST_VALUES => {
                *expr = holder;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        }
    }
}
