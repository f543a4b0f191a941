//! Plans of the language front as plans of the bulk engine, from their leaves to their roots.
//!
//! A column is found by one name from where it is made to where it is read last. A node that
//! only chooses or renames columns makes no operator: the new numbers mean the old names. Each
//! node that has been turned reads its columns no more, and columns that no other reads are
//! dropped before rows are joined or grouped.
//!
//! ```text
//! Project a#7 = a#1, s#8 = b#2 + c#5       project [a:1, s:8]
//!   Join a#1 = d#4                           join on a:1 = d:4
//!     Scan t [a#1, b#2]                        scan t [a:1, b:2]
//!     Scan u [c#5, d#4]                        scan u [c:5, d:4]
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `scan` | tables and the conditions on them |
//! | `join` | joins |
//! | `aggregate` | groups, equal rows once |
//! | `sets` | groups by several sets of keys |
//! | `rows` | orders, limits, unions |
//! | `outside` | values, functions, and operators of the front |
//! | `window` | functions over windows |
//! | `known` | counts and bounds of whole tables |
//! | `common` | expressions that several others have in common |
//! | `shared` | common table expressions |

mod aggregate;
mod common;
mod join;
mod known;
mod outside;
mod rows;
mod scan;
mod sets;
mod shared;
mod window;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use freestone_exec::Node;
use freestone_exec::Plan as Own;
use freestone_exec::expression::Expression;
use freestone_frontend::plan::{Column, ColumnId, CteId, Expr as Bound, ExprKind, JoinKind, Plan};
use freestone_frontend::types::Type;

use super::expression::exact;
use super::join::depends;
use super::{Lowering, own_name, place, shown};
use crate::engine::{Converted, Found, Pipelines, Scope, filtered, projected};
use crate::error::{Error, Result};
use crate::expression::Expr;

use self::shared::Turned;

pub(super) use self::shared::Outer;

/// The work of turning a plan.
struct Bulk<'a> {
    lowering: &'a Lowering,
    /// How many nodes that have not been turned yet read a column.
    reads: RefCell<HashMap<ColumnId, u32>>,
    /// The numbers of the columns that a name means.
    named: RefCell<HashMap<String, Vec<ColumnId>>>,
    /// Whether estimates decide anything, as they do for joins.
    weighs: bool,
    /// Common table expressions that have been turned.
    ctes: RefCell<HashMap<CteId, Arc<Turned>>>,
}

/// A plan of the bulk engine and its columns.
struct Part {
    rows: Converted,
    found: Found,
}

/// A plan of the bulk engine, whose columns are the plan's, in order and exactly of their types.
///
/// # Errors
/// Errors of values that a plan is made with, such as the number of rows of a limit.
pub(super) fn pipelines(lowering: &Lowering, plan: &Plan) -> Result<Pipelines> {
    let columns = plan.columns().into_iter();
    let types: Vec<Type> = columns.map(|column| column.ty).collect();
    let (plan, fields) = Bulk::of(lowering, plan).exactly(plan, &types)?;
    Ok(Pipelines::new(plan, fields))
}

/// Values computed of rows, of some types; the rows if that is what they are.
fn chosen(rows: Converted, expressions: Vec<Expression>, types: Vec<DataType>) -> Converted {
    let mut places = expressions.iter().enumerate();
    let same = places.all(|(at, one)| matches!(one, Expression::Column(place) if *place == at));
    match same && types == rows.plan.types {
        true => rows,
        false => projected(rows, expressions, types),
    }
}

fn has_join(plan: &Plan) -> bool {
    matches!(plan, Plan::Join { .. }) || plan.inputs().into_iter().any(has_join)
}

/// A column of a plan.
fn field(name: &str, kind: DataType) -> FieldRef {
    Arc::new(Field::new(name, kind, true))
}

/// A field that is marked as another one is: with how many dimensions its arrays have.
fn with_metadata(field: FieldRef, of: &Field) -> FieldRef {
    match of.metadata().is_empty() {
        true => field,
        false => Arc::new(Field::clone(&field).with_metadata(of.metadata().clone())),
    }
}

/// The column that an item of a projection renames, if it does no more.
fn renamed(value: &Bound) -> Option<ColumnId> {
    match value.kind {
        ExprKind::Column(id) => Some(id),
        _ => None,
    }
}

impl<'a> Bulk<'a> {
    fn of(lowering: &'a Lowering, plan: &Plan) -> Self {
        Self {
            lowering,
            reads: RefCell::new(lowering.reads.borrow().clone()),
            named: RefCell::default(),
            weighs: has_join(plan),
            ctes: RefCell::default(),
        }
    }
}

impl Bulk<'_> {
    /// The plan of the bulk engine for a node and all below it.
    fn part(&self, plan: &Plan) -> Result<Part> {
        if join::joins(plan) {
            return self.free_joins(plan);
        }
        match plan {
            Plan::Scan { .. } => self.scan(plan, &[]),
            Plan::Filter { input, condition } => self.filter(plan, input, condition),
            Plan::Project { input, items } => {
                let part = self.part(input)?;
                self.project(plan, part, items)
            }
            Plan::Join {
                kind,
                left,
                right,
                condition,
                lateral,
            } => {
                let (sides, condition) = ((&**left, &**right), condition.as_ref());
                match kind {
                    _ if *lateral && depends(left, right) => {
                        self.dependent(plan, *kind, sides, condition)
                    }
                    JoinKind::AsOf | JoinKind::AsOfLeft => {
                        self.as_of(plan, *kind == JoinKind::AsOfLeft, sides, condition)
                    }
                    kind => self.bound_join(plan, *kind, sides, condition),
                }
            }
            Plan::Aggregate {
                input,
                keys,
                sets,
                calls,
                grouping,
            } => self.aggregate(plan, input, keys, calls, sets.as_deref(), grouping),
            Plan::Window { input, calls } => self.window(plan, input, calls),
            Plan::Distinct { input, on: None } => self.distinct(plan, input),
            Plan::Sort { input, keys } => self.sort(plan, input, keys, (0, None)),
            Plan::Limit { .. } => self.limit(plan),
            Plan::Set { .. } => self.union(plan),
            Plan::Barrier { input } => self.part(input),
            Plan::With { ctes, body } => self.with(ctes, body),
            Plan::CteScan { id, columns, .. } => self.cte(plan, *id, columns),
            Plan::Recursion { id, columns, .. } => Ok(self.round(*id, columns)),
            Plan::Values { columns, rows } => {
                self.spend(plan);
                self.values(columns, rows)
            }
            Plan::Functions { calls, ordinality } => {
                Ok(self.functions(plan, calls, ordinality.as_ref()))
            }
            Plan::ProjectSet { input, items } => self.project_set(plan, input, items),
            Plan::Distinct { on: Some(_), .. } => {
                Err(Error::internal("DISTINCT ON that is no window"))
            }
        }
    }

    /// A plan with its columns in the forms of their types.
    pub(super) fn apart(&self, plan: &Plan) -> Result<Own> {
        let columns = plan.columns().into_iter();
        let types: Vec<Type> = columns.map(|column| column.ty).collect();
        Ok(self.exactly(plan, &types)?.0)
    }

    /// A plan with its columns in the forms of some types, and their fields.
    fn exactly(&self, plan: &Plan, types: &[Type]) -> Result<(Own, Vec<FieldRef>)> {
        let columns = plan.columns();
        let part = self.part(plan)?;
        let scope = Scope::over(&part.found);
        let mut expressions = Vec::with_capacity(columns.len());
        let mut fields = Vec::with_capacity(columns.len());
        for (at, (column, ty)) in columns.iter().zip(types).enumerate() {
            let value = exact(self.lowering.column(column.id)?, ty)?;
            expressions.push(scope.expr(&value)?);
            let name = format!("{}:result {at}", column.name);
            let result = field(&name, ty.arrow());
            let of = match &value {
                Expr::Column(place) => part.found.get(place),
                _ => None,
            };
            fields.push(match of {
                Some((_, of)) => with_metadata(result, of),
                None => result,
            });
        }
        let kinds = types.iter().map(Type::arrow).collect();
        Ok((chosen(part.rows, expressions, kinds).plan, fields))
    }

    fn filter(&self, plan: &Plan, input: &Plan, condition: &Bound) -> Result<Part> {
        if let Plan::Scan { .. } = input {
            let terms = super::join::terms(Some(condition));
            self.spend(plan);
            return self.scan(input, &terms);
        }
        if let Some(part) = self.not_in(plan, input, condition)? {
            return Ok(part);
        }
        let Part { rows, found } = self.part(input)?;
        let about = self.about([condition]);
        let condition = self.lowering.condition(condition)?;
        let condition = Scope::over(&found).expr(&condition)?;
        self.spend(plan);
        let mut rows = filtered(rows, condition);
        rows.plan.about = Some(about);
        Ok(Part { rows, found })
    }

    /// Conditions as a plan is explained.
    fn about<'t>(&self, terms: impl IntoIterator<Item = &'t Bound>) -> Arc<str> {
        let terms = terms.into_iter();
        let terms = terms.map(|term| shown::sql(term, &|id| self.lowering.shown_column(id)));
        terms.collect::<Vec<_>>().join(" AND ").into()
    }

    /// Columns of a projection over some rows; columns of these that others read stay.
    fn project(&self, plan: &Plan, part: Part, items: &[(Column, Bound)]) -> Result<Part> {
        let mut computed = Vec::new();
        for (column, value) in items {
            if !self.lowering.is_used(column.id) {
                continue;
            }
            match renamed(value) {
                Some(of) => self.rename(column, of)?,
                None => computed.push((column, self.lowering.expr(value)?)),
            }
        }
        let mut values: Vec<Expr> = computed.iter().map(|(_, t)| t.expr.clone()).collect();
        let part = self.with_common(part, &mut values)?;
        self.spend(plan);
        if computed.is_empty() {
            return Ok(part);
        }
        let scope = Scope::over(&part.found);
        let mut add = Added::over(self, &part);
        for ((column, typed), value) in computed.into_iter().zip(values) {
            let expression = scope.expr(&value)?;
            let name = self.find(column, &typed.kind);
            add.push(name, expression, typed.kind);
        }
        Ok(add.part(part.rows))
    }

    /// Says that a column is found under a name of its own.
    fn find(&self, column: &Column, kind: &DataType) -> String {
        let name = own_name(column);
        self.lowering.found(column.id, place(&name), kind.clone());
        self.name(&name, column.id);
        name
    }

    /// Says that a column is another one.
    fn rename(&self, column: &Column, of: ColumnId) -> Result<()> {
        let typed = self.lowering.column(of)?;
        if let Expr::Column(place) = &typed.expr {
            self.name(place, column.id);
        }
        self.lowering.found(column.id, typed.expr, typed.kind);
        Ok(())
    }

    fn name(&self, name: &str, id: ColumnId) {
        let mut named = self.named.borrow_mut();
        match named.get_mut(name) {
            Some(ids) => ids.push(id),
            None => {
                named.insert(name.to_owned(), vec![id]);
            }
        }
    }

    /// A node reads its columns no more.
    fn spend(&self, plan: &Plan) {
        let mut reads = self.reads.borrow_mut();
        let mut spend = |id: ColumnId| {
            if let Some(count) = reads.get_mut(&id) {
                *count = count.saturating_sub(1);
            }
        };
        for expr in plan.expressions() {
            expr.reads().into_iter().for_each(&mut spend);
        }
        match plan {
            Plan::CteScan { columns, .. } => columns.iter().for_each(|(_, of)| spend(*of)),
            Plan::Set { inputs, .. } => {
                let columns = inputs.iter().flat_map(Plan::columns);
                columns.for_each(|column| spend(column.id));
            }
            Plan::Distinct { input, .. } => {
                let columns = input.columns().into_iter();
                columns.for_each(|column| spend(column.id));
            }
            _ => {}
        }
    }

    /// Whether a node that has not been turned yet reads a column of a name.
    fn is_read(&self, name: &str) -> bool {
        let (named, reads) = (self.named.borrow(), self.reads.borrow());
        let read = |id: &ColumnId| reads.get(id).is_some_and(|count| *count > 0);
        named.get(name).is_some_and(|ids| ids.iter().any(read))
    }

    /// The rows without columns that nothing reads any more.
    fn narrowed(&self, part: Part) -> Part {
        // A scan reads no others.
        if matches!(part.rows.plan.node, Node::Table(_)) {
            return part;
        }
        self.kept(part, &|_| false)
    }

    /// The rows with the columns that something reads, and some others.
    fn kept(&self, part: Part, others: &dyn Fn(&str) -> bool) -> Part {
        let add = Added::of(self, &part, others);
        match add.expressions.len() == part.rows.plan.types.len() {
            true => part,
            false => add.part(part.rows),
        }
    }
}

/// The columns of a projection: those of its input that are read, and others.
#[derive(Default)]
struct Added {
    expressions: Vec<Expression>,
    types: Vec<DataType>,
    found: Found,
}

impl Added {
    /// The columns of a plan that something reads.
    fn over(bulk: &Bulk<'_>, part: &Part) -> Self {
        Self::of(bulk, part, &|_| false)
    }

    /// The columns of a plan that something reads, and some others.
    fn of(bulk: &Bulk<'_>, part: &Part, others: &dyn Fn(&str) -> bool) -> Self {
        let mut kept: Vec<(usize, &String, &FieldRef)> = part
            .found
            .iter()
            .filter(|(name, _)| bulk.is_read(name) || others(name))
            .map(|(name, (place, field))| (*place, name, field))
            .collect();
        kept.sort_unstable_by_key(|(place, ..)| *place);
        let mut added = Self::default();
        for (place, name, field) in kept {
            let value = Expression::Column(place);
            added.push_field(name.clone(), value, Arc::clone(field));
        }
        added
    }

    fn push(&mut self, name: String, value: Expression, kind: DataType) {
        let field = field(&name, kind);
        self.push_field(name, value, field);
    }

    fn push_field(&mut self, name: String, value: Expression, field: FieldRef) {
        self.types.push(field.data_type().clone());
        self.found.insert(name, (self.expressions.len(), field));
        self.expressions.push(value);
    }

    fn part(self, rows: Converted) -> Part {
        Part {
            rows: projected(rows, self.expressions, self.types),
            found: self.found,
        }
    }
}
