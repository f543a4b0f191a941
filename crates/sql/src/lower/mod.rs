//! Plans of the language front as plans of the bulk engine.
//!
//! The front's algebra is typed, and columns are numbers. Here every node becomes an operator of
//! the bulk engine (`bulk`), or one of ours within its plans (`outside`). Expressions are native
//! where Arrow's comparison or arithmetic is PostgreSQL's; the smallest part that is not becomes one
//! function that the front evaluates (`evaluated`).
//!
//! ```text
//! Filter >(total#1, 5)                  filter: note ~ 'a+'      (one call of the front)
//!   Filter ~(note#2, 'a+')                scan orders [total, note] where total > 5
//!     Scan orders o [total#1, note#2]
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `expression` | expressions, native ones and those for the front |
//! | `numbers` | NUMERIC as decimals of one scale |
//! | `evaluated` | the function that the front evaluates |
//! | `checked` | arithmetic that checks |
//! | `canonical` | values whose order and equality are Arrow's, for keys |
//! | `bulk` | nodes of plans |
//! | `join`, `aggregate`, `sorting`, `windows` | keys, calls and orders that nodes have |
//! | `subquery` | sub-queries that no rewriting has made joins |
//! | `floats` | floats as integers of their order |
//! | `indexed` | conditions that hidden columns of a table answer |
//! | `stored` | columns that are held in another form than the front has |
//! | `shown` | expressions as SQL, for EXPLAIN |
//! | `outside` | operators of the front in plans of the bulk engine |
//! | `output` | results as they leave the engine |

mod aggregate;
mod bulk;
mod bulk_windows;
mod canonical;
mod checked;
mod evaluated;
mod expression;
mod floats;
mod indexed;
mod join;
mod numbers;
mod output;
mod outside;
mod shown;
mod sorting;
mod stored;
mod subquery;
#[cfg(test)]
mod tests;
mod windows;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use freestone_frontend::evaluate::fold::Fold;
use freestone_frontend::functions::{Scalar, Session, Volatility};
use freestone_frontend::plan::{Column, ColumnId, Expr as Bound, ExprKind, Plan};
use freestone_frontend::rewrite;
use freestone_frontend::types::Type;

use crate::engine::Pipelines;
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::source::Source;

pub(crate) use indexed::{FIRST, Term};
pub(crate) use output::{
    is_shown_otherwise, output, schema, shown_as, shown_batch, shown_field, shown_values, stored,
    stored_batch, stored_records, type_of, with_schema,
};
pub(crate) use sorting::sort_key;

/// What a relation of the front is here: its handle.
#[derive(Clone)]
pub(crate) struct Handle {
    /// Gives the rows.
    pub(crate) source: Arc<Source>,
    /// Its hidden columns.
    pub(crate) terms: Arc<[Term]>,
}

impl Handle {
    /// That of a relation without hidden columns.
    pub(crate) fn of(source: Arc<Source>) -> Self {
        Self {
            source,
            terms: Arc::default(),
        }
    }
}

/// A plan that is ready to run, for one of the front.
pub(crate) struct Lowered {
    /// The plan.
    pub(crate) plan: Pipelines,
    /// Names of the columns of the result, which need not differ.
    pub(crate) names: Vec<String>,
    /// Their types.
    pub(crate) types: Vec<Type>,
}

/// What expressions see of the statement's surroundings.
#[derive(Clone)]
pub(crate) struct Surroundings {
    /// Settings and the time.
    pub(crate) session: Arc<Session>,
    /// Values of the statement's parameters, one row each.
    pub(crate) parameters: Arc<[ArrayRef]>,
}

impl Surroundings {
    /// Folds constants by the settings, the time and the parameters of the statement.
    fn fold(&self) -> Fold<'_> {
        Fold {
            session: &self.session,
            stable: true,
            parameters: &self.parameters,
        }
    }
}

impl std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Surroundings")
    }
}

/// A bound plan with its constants folded, its sub-queries joins and its conditions far down.
///
/// Functions of the time and of settings are computed here or see the session that is given:
/// the plan is one statement's.
pub(crate) fn rewritten(plan: &Plan, around: &Surroundings) -> Plan {
    let mut plan = plan.clone();
    let fold = around.fold();
    fold.plan(&mut plan);
    rewrite::rewritten_with(plan, |plan| indexed::look_up(plan, &fold))
}

/// The plan of the bulk engine for a rewritten plan.
///
/// # Errors
/// `0A000` for a form that no operator has; `XX000` for plans that are not whole.
pub(crate) fn lowered(plan: &Plan, around: &Surroundings) -> Result<Lowered> {
    let columns = plan.columns();
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let (lowering, plan) = Lowering::over(plan, around)?;
    Ok(Lowered {
        plan: bulk::pipelines(&lowering, &plan)?,
        names,
        types: columns.into_iter().map(|column| column.ty).collect(),
    })
}

/// An expression over columns that stand somewhere; its value is as clients are shown it, or
/// has the Arrow type of its type or is text, as storage takes it.
///
/// # Errors
/// `0A000` for sub-queries.
pub(crate) fn lowered_expression(
    expr: &Bound,
    columns: &[(Column, Expr, DataType)],
    around: &Surroundings,
    is_shown: bool,
) -> Result<Expr> {
    let mut expr = expr.clone();
    around.fold().expr(&mut expr);
    if expr.has_subquery() {
        return Err(Error::unsupported("a sub-query is not supported here"));
    }
    let lowering = Lowering::new(&Plan::one_row(), around);
    for (column, place, kind) in columns {
        let typed = stored::of_column(place.clone(), kind, &column.ty);
        lowering.found(column.id, typed.expr, typed.kind);
    }
    let value = expression::exact(lowering.expr(&expr)?, &expr.ty)?;
    Ok(match is_shown {
        true => output::displayed(value, &expr.ty, &around.session),
        false => output::storable(value, &expr.ty),
    })
}

/// Whether a plan means the same at any time, under the same settings: no call of it depends on
/// the moment of the statement or on what it has seen of the catalog. Others must not be kept for statements to come.
pub(crate) fn is_lasting(plan: &Plan) -> bool {
    // Casts depend on settings only.
    calls_only(plan, &|function| {
        function.volatility == Volatility::Immutable || function.name == "cast"
    })
}

/// Whether all functions of a plan are immutable.
pub(crate) fn is_immutable(plan: &Plan) -> bool {
    calls_only(plan, &|function| {
        function.volatility == Volatility::Immutable
    })
}

/// Looks at each relation that a plan or one of its sub-queries reads.
///
/// # Errors
/// The first error that the closure returns.
pub(crate) fn look_at_relations(plan: &Plan, look: &dyn Fn(&Handle) -> Result<()>) -> Result<()> {
    if let Plan::Scan { relation, .. } = plan
        && let Some(handle) = relation.handle.downcast_ref::<Handle>()
    {
        look(handle)?;
    }
    let mut plans = plan.inputs();
    for expr in plan.expressions() {
        subqueries(expr, &mut plans);
    }
    let mut plans = plans.into_iter();
    plans.try_for_each(|plan| look_at_relations(plan, look))
}

/// Whether a plan calls only functions of a kind.
fn calls_only(plan: &Plan, fits: &dyn Fn(&Scalar) -> bool) -> bool {
    let of_kind = |expr: &Bound| {
        let mut plans = Vec::new();
        subqueries(expr, &mut plans);
        plans.into_iter().all(|plan| calls_only(plan, fits))
            && !expr.any(&mut |expr| match &expr.kind {
                ExprKind::Call { function, .. } => !fits(function),
                _ => false,
            })
    };
    plan.expressions().into_iter().all(of_kind)
        && plan
            .inputs()
            .into_iter()
            .all(|input| calls_only(input, fits))
}

/// An expression with the Arrow type that it really has: a NUMERIC column may be
/// decimals of one scale where its type would allow several.
#[derive(Clone, Debug)]
struct Typed {
    expr: Expr,
    kind: DataType,
}

/// The work of turning one plan.
struct Lowering {
    around: Surroundings,
    /// Where each column is found.
    columns: RefCell<HashMap<ColumnId, Typed>>,
    /// How many nodes of the plan read a column.
    reads: RefCell<HashMap<ColumnId, u32>>,
    /// The next number of a column.
    next: Cell<u32>,
}

impl Lowering {
    fn new(plan: &Plan, around: &Surroundings) -> Self {
        let mut reads = HashMap::new();
        let mut last = 0;
        read_all(&plan.columns(), &mut reads);
        uses(plan, &mut reads, &mut last);
        Self {
            around: around.clone(),
            columns: RefCell::default(),
            reads: RefCell::new(reads),
            next: Cell::new(last + 1),
        }
    }

    /// The work of turning a plan, and the plan with its sub-queries joined to their nodes.
    fn over<'p>(plan: &'p Plan, around: &Surroundings) -> Result<(Self, Cow<'p, Plan>)> {
        let lowering = Self::new(plan, around);
        if !subquery::is_in(plan) {
            return Ok((lowering, Cow::Borrowed(plan)));
        }
        let joined = lowering.joined_all(plan.clone())?;
        Ok((Self::new(&joined, around), Cow::Owned(joined)))
    }

    /// A column of a number that no other has.
    fn fresh(&self, name: &str, ty: Type) -> Column {
        let id = ColumnId(self.next.get());
        self.next.set(id.0 + 1);
        self.reads.borrow_mut().insert(id, 1);
        Column {
            id,
            name: name.to_owned(),
            ty,
        }
    }

    /// Where a column is found.
    fn column(&self, id: ColumnId) -> Result<Typed> {
        let known = self.columns.borrow().get(&id).cloned();
        known.ok_or_else(|| Error::internal(format!("column #{} is not in the plan", id.0)))
    }

    /// Says where a column is found.
    fn found(&self, id: ColumnId, expr: Expr, kind: DataType) {
        self.columns.borrow_mut().insert(id, Typed { expr, kind });
    }

    /// The columns of a plan of the front that something reads.
    fn kept(&self, plan: &Plan) -> Vec<Column> {
        let mut columns = plan.columns();
        columns.retain(|column| self.is_used(column.id));
        columns
    }

    /// Whether something reads a column.
    fn is_used(&self, id: ColumnId) -> bool {
        self.reads.borrow().contains_key(&id)
    }
}

/// The name under which a computed column is found: no two have the same.
fn own_name(column: &Column) -> String {
    format!("{}:{}", column.name, column.id.0)
}

/// The column of a name.
fn place(name: &str) -> Expr {
    Expr::Column(name.to_owned())
}

/// Counts the nodes that read each column of a plan, and finds the greatest number of any.
fn uses(plan: &Plan, reads: &mut HashMap<ColumnId, u32>, last: &mut u32) {
    for expr in plan.expressions() {
        uses_of(expr, reads, last);
    }
    for column in plan.columns() {
        *last = (*last).max(column.id.0);
    }
    match plan {
        // Nodes that read their inputs' columns by position, or all of them.
        Plan::Set { inputs, .. } => inputs.iter().for_each(|i| read_all(&i.columns(), reads)),
        Plan::Distinct { input, .. } => read_all(&input.columns(), reads),
        Plan::CteScan { columns, .. } => {
            let of = columns.iter().map(|(_, of)| *of);
            of.for_each(|id| *reads.entry(id).or_default() += 1);
        }
        Plan::With { ctes, .. } => {
            // Of others the columns are read that their readers name.
            for cte in ctes {
                if let freestone_frontend::plan::CteBody::Recursive {
                    base,
                    step,
                    columns,
                    ..
                } = &cte.body
                {
                    read_all(&base.columns(), reads);
                    read_all(&step.columns(), reads);
                    read_all(columns, reads);
                }
            }
        }
        _ => {}
    }
    for input in plan.inputs() {
        uses(input, reads, last);
    }
}

/// Counts one node more that reads columns.
fn read_all(columns: &[Column], reads: &mut HashMap<ColumnId, u32>) {
    for column in columns {
        *reads.entry(column.id).or_default() += 1;
    }
}

fn uses_of(expr: &Bound, reads: &mut HashMap<ColumnId, u32>, last: &mut u32) {
    for id in expr.reads() {
        *last = (*last).max(id.0);
        *reads.entry(id).or_default() += 1;
    }
    let mut plans = Vec::new();
    subqueries(expr, &mut plans);
    for plan in plans {
        read_all(&plan.columns(), reads);
        uses(plan, reads, last);
    }
}

/// The plans of the sub-queries of an expression.
fn subqueries<'a>(expr: &'a Bound, plans: &mut Vec<&'a Plan>) {
    if let ExprKind::Subquery(subquery) = &expr.kind {
        plans.push(&subquery.plan);
    }
    for child in expr.children() {
        subqueries(child, plans);
    }
}
