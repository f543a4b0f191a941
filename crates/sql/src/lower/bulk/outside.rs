//! Rows of values and functions, and operators of the language front over rows of the bulk engine.
//!
//! An operator is given the columns of its input that something above reads, and values that it asks
//! for; it gives the columns, and those that it makes:
//!
//! ```text
//! ProjectSet [a, unnest(b)]           rows of functions beside: unnest
//!   Scan t [a, b]                       project [a, b as argument]
//! ```

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, FieldRef};
use freestone_exec::expression::Expression;
use freestone_exec::vector::Batch;
use freestone_exec::{Node, Operator, Outside, Plan as Own, Rows, SortKey as Key, Sorting};
use freestone_frontend::plan::{
    Column, Expr as Bound, JoinKind, Plan, Sample, SetItem, SortKey, TableCall, WindowCall,
};
use freestone_frontend::types::Type;

use super::super::expression::{as_kind, exact};
use super::super::join::{compared, ids, terms};
use super::super::outside::asof::{AsOf, Near};
use super::super::outside::cut::{Bounds, Cut, Most, share_of};
use super::super::outside::dependent::{Dependent, Pairs};
use super::super::outside::functions::{Beside, Calls, Part as Piece};
use super::super::outside::sample::Sampled;
use super::super::outside::values::{Computed, Known};
use super::super::outside::windows::Windows;
use super::super::outside::{batch, joined, number};
use super::super::{Typed, canonical};
use super::{Bulk, Part, chosen, field};
use crate::engine::{Converted, Found, Scope, united};
use crate::error::{Error, Result};
use crate::expression::{Expr, Operator as Op};
use crate::values::with_kind;

/// Rows that a function is taken to give.
const ROWS: f64 = 1000.0;

/// The columns that an operator is given.
pub(super) struct Given {
    expressions: Vec<Expression>,
    types: Vec<DataType>,
    /// Columns that are passed on, in their order.
    kept: Vec<(String, FieldRef)>,
}

impl Given {
    /// Adds a value of a type; its place.
    fn push(&mut self, value: Expression, kind: DataType) -> usize {
        self.expressions.push(value);
        self.types.push(kind);
        self.types.len() - 1
    }
}

/// A leaf.
pub(super) fn leaf(rows: impl Rows + 'static, types: Vec<DataType>, estimate: f64) -> Converted {
    Converted {
        distinct: vec![estimate; types.len()],
        plan: Own::new(Node::Rows(Arc::new(rows)), types, estimate),
        sampled: None,
    }
}

impl Bulk<'_> {
    /// The columns of a part that something reads, to be given to an operator.
    fn given(&self, part: &Part) -> Given {
        let mut kept: Vec<(usize, &String, &FieldRef)> = part
            .found
            .iter()
            .filter(|(name, _)| self.is_read(name))
            .map(|(name, (place, field))| (*place, name, field))
            .collect();
        kept.sort_unstable_by_key(|(place, ..)| *place);
        let mut given = Given {
            expressions: Vec::new(),
            types: Vec::new(),
            kept: Vec::with_capacity(kept.len()),
        };
        for (place, name, field) in kept {
            given.push(Expression::Column(place), field.data_type().clone());
            given.kept.push((name.clone(), Arc::clone(field)));
        }
        given
    }

    /// Adds the value of an expression in the form of its type; its place.
    fn give(&self, part: &Part, given: &mut Given, value: &Bound) -> Result<usize> {
        let kind = value.ty.arrow();
        let value = exact(self.lowering.expr(value)?, &value.ty)?;
        self.give_expr(part, given, &value, kind)
    }

    fn give_expr(
        &self,
        part: &Part,
        given: &mut Given,
        value: &Expr,
        kind: DataType,
    ) -> Result<usize> {
        let value = Scope::over(&part.found).expr(value)?;
        Ok(given.push(value, kind))
    }

    /// An operator over the columns that it is given, and the columns that it makes.
    fn outside(
        &self,
        operator: impl Operator + 'static,
        part: Part,
        given: Given,
        beside: Vec<Own>,
        made: &[Column],
    ) -> Part {
        let Given {
            expressions,
            types,
            kept,
        } = given;
        let input = chosen(part.rows, expressions, types);
        let mut found = Found::new();
        let mut types = Vec::with_capacity(kept.len() + made.len());
        for (name, field) in kept {
            types.push(field.data_type().clone());
            found.insert(name, (types.len() - 1, field));
        }
        for column in made {
            let kind = column.ty.arrow();
            let name = self.find(column, &kind);
            let field = field(&name, kind.clone());
            found.insert(name, (types.len(), field));
            types.push(kind);
        }
        let estimate = input.plan.estimate;
        let mut distinct = input.distinct;
        distinct.resize(types.len(), estimate);
        let outside = Outside {
            input: input.plan,
            beside,
            operator: Arc::new(operator),
        };
        let plan = Own::new(Node::Outside(Box::new(outside)), types, estimate);
        Part {
            rows: Converted {
                plan,
                distinct,
                sampled: None,
            },
            found,
        }
    }

    /// The columns of a leaf.
    pub(super) fn leaf(&self, rows: Converted, columns: &[Column]) -> Part {
        let kinds = rows.plan.types.clone();
        let mut found = Found::new();
        for (at, (column, kind)) in columns.iter().zip(kinds).enumerate() {
            let name = self.find(column, &kind);
            let field = field(&name, kind);
            found.insert(name, (at, field));
        }
        Part { rows, found }
    }

    /// Rows of values. Those of constants are there; others are computed in each run.
    pub(super) fn values(&self, columns: &[Column], rows: &[Vec<Bound>]) -> Result<Part> {
        let kinds: Vec<DataType> = columns.iter().map(|column| column.ty.arrow()).collect();
        let estimate = rows.len() as f64;
        if rows.is_empty() {
            return Ok(self.leaf(united(Vec::new(), kinds), columns));
        }
        if columns.is_empty() {
            let rows = Batch {
                columns: Vec::new(),
                rows: rows.len(),
            };
            let rows = leaf(Known(vec![rows]), kinds, estimate);
            return Ok(self.leaf(rows, columns));
        }
        let constants = rows.iter().flatten().all(|value| value.literal().is_some());
        let rows = match constants {
            true => leaf(Known(constant_rows(rows, &kinds)?), kinds, estimate),
            false => {
                let rows = Computed {
                    rows: rows.to_vec(),
                    around: self.lowering.around.clone(),
                };
                leaf(rows, kinds, estimate)
            }
        };
        Ok(self.leaf(rows, columns))
    }

    /// Rows of functions.
    pub(super) fn functions(
        &self,
        plan: &Plan,
        calls: &[TableCall],
        ordinality: Option<&Column>,
    ) -> Part {
        let columns = calls.iter().flat_map(|call| call.columns.iter().cloned());
        let columns: Vec<Column> = columns.chain(ordinality.cloned()).collect();
        let kinds = columns.iter().map(|column| column.ty.arrow()).collect();
        let around = self.lowering.around.clone();
        let rows = leaf(Calls::new(calls, ordinality.is_some(), around), kinds, ROWS);
        self.spend(plan);
        self.leaf(rows, &columns)
    }

    /// Functions that give rows beside values.
    pub(super) fn project_set(&self, plan: &Plan, input: &Plan, items: &[SetItem]) -> Result<Part> {
        let part = self.part(input)?;
        let mut given = self.given(&part);
        let mut pieces: Vec<Piece> = (0..given.kept.len()).map(Piece::Value).collect();
        let mut made = Vec::new();
        for item in items {
            match item {
                SetItem::Value(column, value) => {
                    let place = self.give(&part, &mut given, value)?;
                    pieces.push(Piece::Value(place));
                    made.push(column.clone());
                }
                SetItem::Rows(call) => {
                    let piece = self.piece(&part, &mut given, call)?;
                    pieces.push(piece);
                    made.extend(call.columns.iter().cloned());
                }
            }
        }
        self.spend(plan);
        Ok(self.beside(part, given, pieces, false, &made))
    }

    /// A function whose arguments are given.
    fn piece(&self, part: &Part, given: &mut Given, call: &TableCall) -> Result<Piece> {
        let mut places = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            let place = self.give(part, given, argument)?;
            places.push(place);
        }
        Ok(Piece::rows(call, places))
    }

    fn beside(
        &self,
        part: Part,
        given: Given,
        parts: Vec<Piece>,
        outer: bool,
        made: &[Column],
    ) -> Part {
        let operator = Beside {
            parts,
            outer,
            kinds: given.types.clone(),
            around: self.lowering.around.clone(),
        };
        self.outside(operator, part, given, Vec::new(), made)
    }

    /// A side of a join that is run for each row of the other: rows of functions stand beside
    /// it, other plans are run for the values that they read.
    pub(super) fn dependent(
        &self,
        plan: &Plan,
        kind: JoinKind,
        (left, right): (&Plan, &Plan),
        condition: Option<&Bound>,
    ) -> Result<Part> {
        let whole = condition.is_none_or(super::super::join::is_true);
        if let (Plan::Functions { calls, ordinality }, JoinKind::Inner | JoinKind::Left) =
            (right, kind)
            && (kind == JoinKind::Inner || whole)
        {
            let part = self.part(left)?;
            let mut given = self.given(&part);
            let mut pieces: Vec<Piece> = (0..given.kept.len()).map(Piece::Value).collect();
            let mut made = Vec::new();
            for call in calls {
                let piece = self.piece(&part, &mut given, call)?;
                pieces.push(piece);
                made.extend(call.columns.iter().cloned());
            }
            if let Some(column) = ordinality {
                pieces.push(Piece::Number);
                made.push(column.clone());
            }
            let outer = kind == JoinKind::Left;
            let part = self.beside(part, given, pieces, outer, &made);
            self.spend_right(right);
            let Some(condition) = condition.filter(|_| !whole) else {
                self.spend(plan);
                return Ok(part);
            };
            let condition = self.lowering.condition(condition)?;
            let condition = Scope::over(&part.found).expr(&condition)?;
            self.spend(plan);
            return Ok(Part {
                rows: crate::engine::filtered(part.rows, condition),
                found: part.found,
            });
        }
        let pairs = match kind {
            JoinKind::Inner => Pairs::Inner,
            JoinKind::Left => Pairs::Left,
            JoinKind::Semi => Pairs::Semi,
            JoinKind::Anti => Pairs::Anti,
            JoinKind::Single => Pairs::Single,
            JoinKind::Mark(_) => Pairs::Mark {
                condition: condition.is_some(),
            },
            _ => {
                let message = "a dependent side of such a join";
                return Err(Error::unsupported(message));
            }
        };
        let part = self.part(left)?;
        let mut made = match kind.gives_right() {
            true => self.lowering.kept(right),
            false => Vec::new(),
        };
        // No more columns than are read above.
        let items = made.iter();
        let items = items.map(|column| (column.clone(), column.reference()));
        let mut items: Vec<(Column, Bound)> = items.collect();
        let mut inner = right.clone();
        match (condition, kind) {
            (Some(condition), JoinKind::Mark(_)) => {
                let column = self.lowering.fresh("condition", Type::Bool);
                items.push((column, condition.clone()));
            }
            (Some(condition), _) => {
                inner = Plan::Filter {
                    input: Box::new(inner),
                    condition: condition.clone(),
                };
            }
            (None, _) => {}
        }
        let types = items.iter().map(|(column, _)| column.ty.arrow()).collect();
        inner = Plan::Project {
            items,
            input: Box::new(inner),
        };
        // One row decides.
        if matches!(
            pairs,
            Pairs::Semi | Pairs::Anti | Pairs::Mark { condition: false }
        ) {
            inner = Plan::Limit {
                input: Box::new(inner),
                limit: Some(Bound::int4(1)),
                offset: None,
                ties: None,
                percent: false,
            };
        }
        let free = inner.free();
        let mut outer = left.columns();
        outer.retain(|column| free.contains(&column.id));
        self.spend(plan);
        self.spend_right(right);
        let mut given = self.given(&part);
        let columns = given.kept.len();
        for column in &outer {
            let value = column.reference();
            self.give(&part, &mut given, &value)?;
        }
        made.extend(kind.mark());
        let operator = Dependent {
            pairs,
            columns,
            kinds: given.types.clone(),
            outer,
            given: types,
            plan: inner,
            tables: self.outer(),
            around: self.lowering.around.clone(),
        };
        Ok(self.outside(operator, part, given, Vec::new(), &made))
    }

    /// The nodes of a side that is run for itself read their columns there.
    fn spend_right(&self, plan: &Plan) {
        self.spend(plan);
        for input in plan.inputs() {
            self.spend_right(input);
        }
    }

    /// Each row of the left side with the nearest of the right one.
    pub(super) fn as_of(
        &self,
        plan: &Plan,
        outer: bool,
        (left, right): (&Plan, &Plan),
        condition: Option<&Bound>,
    ) -> Result<Part> {
        let sides = [ids(&left.columns()), ids(&right.columns())];
        let (mut equal, mut near) = (Vec::new(), None);
        for term in terms(condition) {
            let found = compared(term, &sides);
            match found {
                Some(found) if found.op == Op::Eq => equal.push(found),
                Some(found) if near.is_none() && found.op != Op::NotEq => near = Some(found),
                _ => {
                    let message = "an ASOF join with more than equalities and one inequality";
                    return Err(Error::unsupported(message));
                }
            }
        }
        let near = near.ok_or_else(|| Error::unsupported("an ASOF join without an inequality"))?;
        let direction = match near.op {
            Op::GtEq => Near::Before { equal: true },
            Op::Gt => Near::Before { equal: false },
            Op::LtEq => Near::After { equal: true },
            _ => Near::After { equal: false },
        };
        let mut types = Vec::new();
        for found in equal.iter().chain([&near]) {
            let [a, b] = found.sides().map(|side| side.ty.base());
            if a != b {
                let message = "an ASOF join on values of two types";
                return Err(Error::unsupported(message).with_hint("cast one side"));
            }
            types.push(a);
        }
        let mut parts = Vec::with_capacity(2);
        for (at, side) in [left, right].into_iter().enumerate() {
            let part = self.part(side)?;
            let mut given = self.given(&part);
            for (found, ty) in equal.iter().chain([&near]).zip(&types) {
                let value = self.lowering.expr(found.sides()[at])?;
                let value = as_kind(value, &ty.arrow())?;
                self.give_expr(&part, &mut given, &value, ty.arrow())?;
            }
            parts.push((part, given));
        }
        self.spend(plan);
        let (Some((to, of_right)), Some((from, of_left))) = (parts.pop(), parts.pop()) else {
            return Err(Error::internal("a join without its sides"));
        };
        let operator = AsOf {
            near: direction,
            outer,
            columns: [of_left.kept.len(), of_right.kept.len()],
            kinds: [of_left.types.clone(), of_right.types.clone()],
            types,
        };
        let beside = chosen(to.rows, of_right.expressions, of_right.types).plan;
        let mut part = self.outside(operator, from, of_left, vec![beside], &[]);
        for (name, field) in of_right.kept {
            let types = &mut part.rows.plan.types;
            types.push(field.data_type().clone());
            part.found.insert(name, (types.len() - 1, field));
            part.rows.distinct.push(part.rows.plan.estimate);
        }
        Ok(part)
    }

    /// The first rows with their peers, as a share of all, or as many as a sub-query says.
    pub(super) fn cut(
        &self,
        plan: &Plan,
        input: &Plan,
        (limit, offset): (Option<&Bound>, Option<&Bound>),
        ties: Option<&[SortKey]>,
        percent: bool,
    ) -> Result<Part> {
        let computed = limit
            .into_iter()
            .chain(offset)
            .any(super::super::subquery::is_of_running);
        let (bounds, beside) = match computed {
            true => {
                let numbers = self.numbers((limit, offset), percent)?;
                (Bounds::Computed { percent }, vec![numbers])
            }
            false => (self.bounds((limit, offset), percent)?, Vec::new()),
        };
        let part = self.part(input)?;
        self.spend(plan);
        let mut given = self.given(&part);
        let columns = given.kept.len();
        for key in ties.unwrap_or_default() {
            let value = canonical::key(self.lowering.expr(&key.expr)?, &key.expr.ty);
            let Typed { expr, kind } = value;
            self.give_expr(&part, &mut given, &expr, kind)?;
        }
        let operator = Cut {
            bounds,
            columns,
            kinds: given.types.clone(),
            ties: ties.is_some(),
        };
        Ok(self.outside(operator, part, given, beside, &[]))
    }

    /// The numbers of a limit that are known.
    fn bounds(
        &self,
        (limit, offset): (Option<&Bound>, Option<&Bound>),
        percent: bool,
    ) -> Result<Bounds> {
        let rows = |value: Option<&Bound>, sqlstate, word| match value {
            Some(value) => self.lowering.rows(value, sqlstate, word),
            None => Ok(None),
        };
        let count = |rows: i64| usize::try_from(rows).unwrap_or(usize::MAX);
        let skip = rows(offset, "2201X", "OFFSET")?.map_or(0, count);
        let most = match (limit, percent) {
            (None, _) => Most::All,
            (Some(limit), true) => {
                let value = with_kind(self.lowering.constant(limit)?, &DataType::Float64)?;
                number(&value).map_or(Ok(Most::All), share_of)?
            }
            (limit, false) => {
                rows(limit, "2201W", "LIMIT")?.map_or(Most::All, |rows| Most::Rows(count(rows)))
            }
        };
        Ok(Bounds::Known { skip, most })
    }

    /// The row of a limit's numbers.
    fn numbers(
        &self,
        (limit, offset): (Option<&Bound>, Option<&Bound>),
        percent: bool,
    ) -> Result<Own> {
        let limit_type = if percent { Type::Float8 } else { Type::Int8 };
        let number = |name: &str, value: Option<&Bound>, ty: Type| {
            let null = || Bound::null(ty.clone());
            let value = value.cloned().unwrap_or_else(null);
            (self.lowering.fresh(name, value.ty.clone()), value)
        };
        let plan = Plan::Project {
            input: Box::new(Plan::one_row()),
            items: vec![
                number("limit", limit, limit_type),
                number("offset", offset, Type::Int8),
            ],
        };
        self.outer().lowered(&plan, &self.lowering.around)
    }

    /// A sample of the rows of a table, whose ids are the last column.
    pub(super) fn sampled(&self, part: Part, ids: usize, sample: &Sample) -> Result<Part> {
        let constant = |expr: &Bound| -> Result<Option<f64>> {
            let value = with_kind(self.lowering.constant(expr)?, &DataType::Float64)?;
            Ok(number(&value))
        };
        let percent = constant(&sample.percent)?;
        let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
        let percent = percent
            .ok_or_else(|| Error::new("2202H", "sample percentage must be between 0 and 100"))?;
        let seed = match &sample.seed {
            Some(seed) => Some(constant(seed)?.ok_or_else(|| {
                Error::new("2202G", "TABLESAMPLE REPEATABLE parameter cannot be null")
            })?),
            None => None,
        };
        let mut given = self.given(&part);
        given.push(Expression::Column(ids), DataType::UInt64);
        let operator = Sampled {
            share: percent / 100.0,
            seed,
            system: sample.system,
            kinds: given.types.clone(),
        };
        let mut part = self.outside(operator, part, given, Vec::new(), &[]);
        part.rows.plan.estimate = (part.rows.plan.estimate * percent / 100.0).max(1.0);
        Ok(part)
    }

    /// Functions over windows of one partition and order that the bulk engine has not.
    pub(super) fn general_window(
        &self,
        part: Part,
        calls: &[&(Column, WindowCall)],
    ) -> Result<Part> {
        let Some((_, first)) = calls.first() else {
            return Ok(part);
        };
        let mut given = self.given(&part);
        let columns = given.kept.len();
        let mut keys = Vec::new();
        let (mut partition, mut order) = (Vec::new(), Vec::new());
        let plain = first.partition.iter().map(|value| (value, false, false));
        let ordered = first.order.iter();
        let ordered = ordered.map(|key| (&key.expr, key.descending, key.nulls_first));
        for (at, (value, descending, nulls_first)) in plain.chain(ordered).enumerate() {
            let typed = self.lowering.expr(value)?;
            let key = canonical::key(typed, &value.ty);
            let (expr, kind) = (key.expr.clone(), key.kind.clone());
            let place = self.give_expr(&part, &mut given, &expr, kind)?;
            match at < first.partition.len() {
                true => partition.push(place),
                false => order.push(place),
            }
            let lost = || Error::internal(format!("an order of values of {}", value.ty));
            let sorted = canonical::comparable(key).ok_or_else(lost)?;
            let expression = Scope::over(&part.found).expr(&sorted.expr)?;
            keys.push((expression, sorted.kind, descending, nulls_first));
        }
        let mut failed = Ok(());
        let specs = self
            .lowering
            .window_specs(calls, &mut |value, kind| match self
                .give_expr(&part, &mut given, &value, kind)
            {
                Ok(place) => place,
                Err(error) => {
                    failed = Err(error);
                    0
                }
            })?;
        failed?;
        let kinds = given.types.clone();
        let width = kinds.len();
        let mut sorting = Sorting {
            keys: Vec::with_capacity(keys.len()),
            skip: 0,
            fetch: None,
        };
        let mut all = given;
        for (at, (value, kind, descending, nulls_first)) in keys.into_iter().enumerate() {
            all.push(value, kind.clone());
            sorting.keys.push(Key {
                expression: Expression::Column(width + at),
                kind,
                descending,
                nulls_first,
            });
        }
        let made: Vec<Column> = calls.iter().map(|(column, _)| column.clone()).collect();
        let Given {
            expressions,
            types,
            kept,
        } = all;
        let mut rows = chosen(part.rows, expressions, types);
        if !sorting.keys.is_empty() {
            rows = crate::engine::cut(rows, 0, None, |plan| Node::Sort(plan, sorting));
        }
        let part = Part {
            rows,
            found: part.found,
        };
        let given = Given {
            expressions: (0..width).map(Expression::Column).collect(),
            types: kinds.clone(),
            kept,
        };
        let operator = Windows {
            columns,
            kinds,
            partition,
            order,
            calls: Arc::new(specs),
            around: self.lowering.around.clone(),
        };
        Ok(self.outside(operator, part, given, Vec::new(), &made))
    }
}

/// Rows of constants.
fn constant_rows(rows: &[Vec<Bound>], kinds: &[DataType]) -> Result<Vec<Batch>> {
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(kinds.len());
    for (at, kind) in kinds.iter().enumerate() {
        let mut parts = Vec::with_capacity(rows.len());
        for value in rows.iter().filter_map(|row| row.get(at)?.literal()) {
            parts.push(with_kind(Arc::clone(value), kind)?);
        }
        columns.push(joined(&parts, kind)?);
    }
    let all = batch(&columns, rows.len())?;
    let starts = (0..rows.len()).step_by(BATCH);
    let parts = starts.map(|start| all.slice(start, BATCH.min(rows.len() - start)));
    Ok(parts.collect())
}

/// Rows of a batch of constants.
const BATCH: usize = 8192;
