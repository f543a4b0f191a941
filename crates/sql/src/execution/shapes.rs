//! Statements with values in their texts, which are known by their shapes.
//!
//! ```text
//! UPDATE accounts SET balance = balance + 12 WHERE id = 7
//! UPDATE accounts SET balance = balance + CAST($1 AS INTEGER) WHERE id = CAST($2 AS INTEGER)
//! ```
//!
//! The second line is the shape of the first. A statement whose rows are found by keys, or that adds
//! rows without a plan, is prepared once for its shape, and runs with its values as a prepared one
//! does. Its text is known by its outline: it is not read again. A shape is made when an outline is
//! met for the second time: most queries of an analyst come once. Values are taken from
//! the conditions, from what SET gives, and from VALUES. In expressions a number becomes a
//! parameter of its own type and a text one of no type, so that operators and functions are found
//! as for the literals.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use freestone_frontend::syntax::cut_names;
use freestone_frontend::syntax::walk::walk_mut;
use sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Query, SetExpr, Statement as Ast, UnaryOperator,
    Value, ValueWithSpan, VisitorMut,
};
use sqlparser::tokenizer::Location;

use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::outline::Outline;
use crate::parameter::Parameter;
use crate::session::{Known, NewRows, Prepared, Session, Shape};
use crate::statement::{Statement, offsets, parse_one};

/// Most values of a statement that has a shape.
const MOST_VALUES: usize = 500;

impl Session {
    /// The outcome of a statement by its shape; `None` if it has to be run in another way.
    ///
    /// # Errors
    /// Errors of the statement, without their places in its text.
    pub(super) async fn by_shape(&self, statement: &Statement) -> Result<Option<Outcome>> {
        let Some((shape, values)) = self.shaped(statement).await else {
            return Ok(None);
        };
        let outcome = match shape.prepared.at_once(self, &values) {
            Ok(Some(batch)) => Ok(Some(Outcome::batch(batch))),
            Ok(None) => Box::pin(shape.prepared.without_plan(self, &values)).await,
            Err(error) => Err(error),
        };
        // Places are those of the text that the shape was made of.
        let outcome = outcome.map_err(Error::placeless);
        let is_quick = !matches!(outcome, Ok(None));
        shape.is_quick.store(is_quick, Ordering::Relaxed);
        outcome
    }

    /// The shape of a statement and its values; `None` if it has none, or was not met before.
    async fn shaped(&self, statement: &Statement) -> Option<(Arc<Shape>, Vec<Parameter>)> {
        if self.has_own_names() {
            return None;
        }
        let text = statement.text();
        let outline = match statement.outline() {
            Some(known) => Arc::clone(known),
            None if statement.is_deep() || !may_have_shape(statement.sql()?) => return None,
            None => Arc::new(Outline::of(text)?),
        };
        let shape = match self.shapes().known(&outline, text) {
            Known::Shape(shape) => shape,
            Known::Full => return None,
            Known::New => {
                self.shapes().keep(&outline, None);
                return None;
            }
            Known::Met => {
                let Some(made) = made(self, &outline, text).map(Arc::new) else {
                    self.shapes().refuse(&outline);
                    return None;
                };
                self.shapes().keep(&outline, Some(Arc::clone(&made)));
                made
            }
        };
        let values = shape.values(&outline, text)?;
        Some((shape, values))
    }
}

/// The shape of a text; `None` if it has none.
fn made(session: &Session, outline: &Outline, text: &str) -> Option<Shape> {
    // A notice is given for each of these.
    if !cut_names(text).is_empty() {
        return None;
    }
    let mut ast = parse_one(text).ok()?;
    let values = taken_out(&mut ast)?;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by_key(|number| values[*number].place);
    let places = order.iter().map(|number| values[*number].place);
    let mut taken = vec![(0, false); values.len()];
    for (offset, number) in offsets(text, places).into_iter().zip(order) {
        let value = &values[number];
        let mut literals = outline.literals.iter();
        let literal = literals.position(|literal| literal.place.start == offset)?;
        let read = outline.literals[literal].value(text, value.negative)?;
        if read != value.value {
            return None;
        }
        taken[number] = (literal, value.negative);
    }
    let fixed = outline.literals.iter().enumerate();
    let fixed = fixed.filter(|(number, _)| taken.iter().all(|(literal, _)| literal != number));
    let fixed =
        fixed.map(|(number, literal)| Some((number, text.get(literal.place.clone())?.into())));
    let fixed = fixed.collect::<Option<_>>()?;
    if matches!(ast, Ast::Insert(_)) {
        NewRows::of(session, &ast)?;
    }
    let prepared = Prepared::new(Statement::of(ast)).ok()?;
    (prepared.parameters() == taken.len()).then_some(Shape {
        prepared,
        taken,
        fixed,
        is_quick: AtomicBool::new(false),
    })
}

/// Puts parameters into the places of a statement's values; `None` for statements of other forms.
fn taken_out(ast: &mut Ast) -> Option<Vec<Taken>> {
    let mut values = Values::default();
    let taken = match ast {
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
        Ast::Insert(insert) => match insert.source.as_mut()?.body.as_mut() {
            SetExpr::Values(rows) => {
                let cells = rows.rows.iter_mut();
                let mut cells = cells.flat_map(|row| row.content.iter_mut());
                cells.try_for_each(|cell| values.cell(cell))
            }
            _ => return None,
        },
        _ => return None,
    };
    taken.is_continue().then_some(values.taken)
}

/// Whether a statement may name keys by a condition, or adds rows that it has itself.
fn may_have_shape(ast: &Ast) -> bool {
    match ast {
        Ast::Query(query) => match query.body.as_ref() {
            SetExpr::Select(select) => query.with.is_none() && select.selection.is_some(),
            _ => false,
        },
        Ast::Update(update) => update.selection.is_some(),
        Ast::Delete(delete) => delete.selection.is_some(),
        Ast::Insert(insert) => {
            let source = insert.source.as_ref();
            insert.on.is_none()
                && insert.returning.is_none()
                && source.is_some_and(|source| matches!(*source.body, SetExpr::Values(_)))
        }
        _ => false,
    }
}

/// A value that was taken out.
struct Taken {
    value: Parameter,
    negative: bool,
    /// Where it stands in the text, without its sign.
    place: Location,
}

/// A literal with its sign and its place.
struct Found<'a> {
    value: &'a Value,
    negative: bool,
    place: Location,
}

impl<'a> Found<'a> {
    fn of(expr: &'a Expr) -> Option<Self> {
        let found = |value: &'a ValueWithSpan, negative| Found {
            value: &value.value,
            negative,
            place: value.span.start,
        };
        match expr {
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr: inner,
            } => match &**inner {
                Expr::Value(value) if matches!(value.value, Value::Number(..)) => {
                    Some(found(value, true))
                }
                _ => None,
            },
            Expr::Value(value) => Some(found(value, false)),
            _ => None,
        }
    }
}

/// Takes values out of expressions.
#[derive(Default)]
struct Values {
    taken: Vec<Taken>,
    /// Whether a parameter that was just put in is visited next.
    is_own: bool,
}

impl Values {
    /// Puts a parameter of some type, or of none, into the place of a value; ends the walk if there
    /// are too many.
    fn put(
        &mut self,
        expr: &mut Expr,
        taken: Taken,
        data_type: Option<DataType>,
    ) -> ControlFlow<()> {
        self.taken.push(taken);
        if self.taken.len() > MOST_VALUES {
            return ControlFlow::Break(());
        }
        // One that takes the place of a literal itself is not visited again.
        self.is_own = data_type.is_some();
        let text = format!("${}", self.taken.len());
        let holder = Expr::Value(Value::Placeholder(text).with_empty_span());
        *expr = match data_type {
            None => holder,
            Some(data_type) => Expr::Cast {
                kind: CastKind::Cast,
                expr: Box::new(holder),
                data_type,
                array: false,
                format: None,
            },
        };
        ControlFlow::Continue(())
    }

    /// The value of digits, and its type.
    fn number(digits: &str, negative: bool) -> Option<(Parameter, DataType)> {
        let sign = if negative { "-" } else { "" };
        let signed = format!("{sign}{digits}");
        if let Ok(number) = signed.parse::<i64>() {
            let data_type = match i32::try_from(number) {
                Ok(_) => DataType::Integer(None),
                Err(_) => DataType::BigInt(None),
            };
            // The magnitude of the least number is beyond its type.
            let is_least = number == i64::from(i32::MIN) || number == i64::MIN;
            return (!is_least).then_some((Parameter::Integer(number), data_type));
        }
        let mut bytes = digits.bytes();
        let is_decimal = bytes.all(|byte| byte.is_ascii_digit() || byte == b'.');
        let data_type = DataType::Numeric(ExactNumberInfo::None);
        is_decimal.then_some((Parameter::Decimal(signed), data_type))
    }

    /// A value of VALUES: its column decides the type.
    fn cell(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Some(found) = Found::of(expr) else {
            return ControlFlow::Continue(());
        };
        let value = match found.value {
            Value::Number(digits, false) => match Self::number(digits, found.negative) {
                Some((value, _)) => value,
                None => return ControlFlow::Break(()),
            },
            Value::SingleQuotedString(text) => Parameter::Text(text.clone()),
            Value::Placeholder(_) => return ControlFlow::Break(()),
            _ => return ControlFlow::Continue(()),
        };
        let taken = Taken {
            value,
            negative: found.negative,
            place: found.place,
        };
        self.put(expr, taken, None)
    }
}

impl VisitorMut for Values {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        // The text of an interval is a part of its syntax.
        if matches!(expr, Expr::Interval(_)) {
            return ControlFlow::Break(());
        }
        let Some(found) = Found::of(expr) else {
            return ControlFlow::Continue(());
        };
        let (negative, place) = (found.negative, found.place);
        let (value, data_type) = match found.value {
            Value::Number(digits, false) => match Self::number(digits, negative) {
                Some((value, data_type)) => (value, Some(data_type)),
                None => return ControlFlow::Break(()),
            },
            Value::SingleQuotedString(text) => (Parameter::Text(text.clone()), None),
            // Placeholders of a statement that was not prepared are errors.
            Value::Placeholder(_) if !std::mem::take(&mut self.is_own) => {
                return ControlFlow::Break(());
            }
            _ => return ControlFlow::Continue(()),
        };
        let taken = Taken {
            value,
            negative,
            place,
        };
        self.put(expr, taken, data_type)
    }
}
