//! Common table expressions: their rows are computed once, for all places that read them.
//!
//! ```text
//! With t = Aggregate (…)           join
//!   Join                             shared plan 1
//!     CteScan t                        aggregate
//!     CteScan t                      shared plan 1
//! ```
//!
//! One that is read once stands where it is read. A recursive one is an operator that runs its step
//! over the rows of each round, which the step reads by the number of the expression.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::DataType;
use freestone_exec::expression::Expression;
use freestone_exec::{Node, Outside, Plan as Own};
use freestone_frontend::plan::{Column, ColumnId, Cte, CteBody, CteId, Plan};

use super::super::outside::recursive::Recursive;
use super::super::{Lowering, Surroundings, own_name};
use super::{Added, Bulk, Part, field};
use crate::engine::{Converted, Found, Scope};
use crate::error::{Error, Result};

/// Rows for several places.
pub(super) struct Shared {
    rows: Arc<Own>,
    distinct: Vec<f64>,
    found: Found,
    /// Whether there is one place only.
    is_once: bool,
}

impl Shared {
    pub(super) fn of(Part { rows, found }: Part) -> Self {
        Self {
            rows: Arc::new(rows.plan),
            distinct: rows.distinct,
            found,
            is_once: false,
        }
    }

    /// The rows for one of the places.
    pub(super) fn read(&self) -> Part {
        let (types, estimate) = (self.rows.types.clone(), self.rows.estimate);
        let rows = Converted {
            plan: match self.is_once {
                true => Own::clone(&self.rows),
                false => Own::new(Node::Shared(Arc::clone(&self.rows)), types, estimate),
            },
            distinct: self.distinct.clone(),
            sampled: None,
        };
        let found = self.found.clone();
        Part { rows, found }
    }
}

/// A common table expression that has been turned.
pub(super) struct Turned {
    shared: Shared,
    /// Where its columns are, and their types.
    places: HashMap<ColumnId, (usize, DataType)>,
}

/// Rows that a round is taken to have.
const ROWS: f64 = 1000.0;

/// Common table expressions around a plan that is made while another one runs.
#[derive(Clone, Default)]
pub(in super::super) struct Outer(HashMap<CteId, Arc<Turned>>);

impl Outer {
    /// Their plans.
    pub(in super::super) fn plans(&self) -> Vec<&Own> {
        self.0.values().map(|turned| &*turned.shared.rows).collect()
    }

    /// The plan of the bulk engine for a plan that may read them, its columns in the forms of
    /// their types.
    ///
    /// # Errors
    /// Errors of making it.
    pub(in super::super) fn lowered(&self, plan: &Plan, around: &Surroundings) -> Result<Own> {
        let (lowering, plan) = Lowering::over(plan, around)?;
        let bulk = Bulk::of(&lowering, &plan);
        *bulk.ctes.borrow_mut() = self.0.clone();
        bulk.apart(&plan)
    }
}

impl Bulk<'_> {
    pub(super) fn with(&self, ctes: &[Cte], body: &Plan) -> Result<Part> {
        for (at, cte) in ctes.iter().enumerate() {
            let mut turned = match &cte.body {
                CteBody::Plan(plan) => self.turned(plan)?,
                CteBody::Recursive {
                    base,
                    step,
                    all,
                    columns,
                } => self.recursive(cte.id, (base, step), *all, columns)?,
            };
            turned.shared.is_once = readers(&ctes[at + 1..], body, cte.id) <= 1;
            self.ctes.borrow_mut().insert(cte.id, Arc::new(turned));
        }
        self.part(body)
    }

    /// A base, and a step that is run over the rows of the round before.
    fn recursive(
        &self,
        id: CteId,
        (base, step): (&Plan, &Plan),
        all: bool,
        columns: &[Column],
    ) -> Result<Turned> {
        let types: Vec<_> = columns.iter().map(|column| column.ty.clone()).collect();
        let base = self.exactly(base, &types)?.0;
        let step = self.exactly(step, &types)?.0;
        let kinds: Vec<DataType> = types.iter().map(|ty| ty.arrow()).collect();
        let estimate = base.estimate + step.estimate;
        let outside = Outside {
            input: base,
            beside: Vec::new(),
            operator: Arc::new(Recursive {
                step,
                round: id.0 as usize,
                all,
                types,
            }),
        };
        let mut found = Found::new();
        let mut places = HashMap::new();
        for (at, (column, kind)) in columns.iter().zip(&kinds).enumerate() {
            let name = own_name(column);
            found.insert(name.clone(), (at, field(&name, kind.clone())));
            places.insert(column.id, (at, kind.clone()));
        }
        let distinct = vec![estimate; kinds.len()];
        let plan = Own::new(Node::Outside(Box::new(outside)), kinds, estimate);
        let rows = Converted {
            plan,
            distinct,
            sampled: None,
        };
        let shared = Shared::of(Part { rows, found });
        Ok(Turned { shared, places })
    }

    /// The rows of the last round of a recursion.
    pub(super) fn round(&self, id: CteId, columns: &[Column]) -> Part {
        let kinds: Vec<DataType> = columns.iter().map(|column| column.ty.arrow()).collect();
        let rows = Converted {
            distinct: vec![ROWS; kinds.len()],
            plan: Own::new(Node::Round(id.0 as usize), kinds, ROWS),
            sampled: None,
        };
        self.leaf(rows, columns)
    }

    /// The common table expressions that are known here, for a plan that is made later.
    pub(super) fn outer(&self) -> Outer {
        Outer(self.ctes.borrow().clone())
    }

    fn turned(&self, plan: &Plan) -> Result<Turned> {
        let columns = plan.columns();
        let part = self.part(plan)?;
        let scope = Scope::over(&part.found);
        let mut add = Added::default();
        let mut places = HashMap::new();
        for column in &columns {
            // Nodes below have read theirs; readers of the expression are still to come.
            let reads = self.reads.borrow();
            if reads.get(&column.id).is_none_or(|count| *count == 0) {
                continue;
            }
            drop(reads);
            let typed = self.lowering.column(column.id)?;
            let expression = scope.expr(&typed.expr)?;
            places.insert(column.id, (add.types.len(), typed.kind.clone()));
            add.push(format!("shared {}", column.id.0), expression, typed.kind);
        }
        let shared = Shared::of(add.part(part.rows));
        Ok(Turned { shared, places })
    }

    /// The rows of a common table expression in one of the places that read it.
    pub(super) fn cte(
        &self,
        plan: &Plan,
        id: CteId,
        columns: &[(Column, ColumnId)],
    ) -> Result<Part> {
        let ctes = self.ctes.borrow();
        let lost = || Error::internal("a common table expression that has no plan");
        let turned = ctes.get(&id).ok_or_else(lost)?;
        let mut add = Added::default();
        for (column, of) in columns {
            if !self.lowering.is_used(column.id) {
                continue;
            }
            let (place, kind) = turned.places.get(of).ok_or_else(lost)?;
            let name = self.find(column, kind);
            add.push(name, Expression::Column(*place), kind.clone());
        }
        self.spend(plan);
        Ok(add.part(turned.shared.read().rows))
    }
}

/// How many places read a common table expression; one that may be run again counts as many.
fn readers(later: &[Cte], body: &Plan, id: CteId) -> usize {
    let mut bodies: Vec<&Plan> = vec![body];
    let mut many = Vec::new();
    for cte in later {
        match &cte.body {
            CteBody::Plan(plan) => bodies.push(plan),
            CteBody::Recursive { base, step, .. } => {
                bodies.push(base);
                many.push(step);
            }
        }
    }
    let once: usize = bodies.into_iter().map(|plan| reads(plan, id)).sum();
    let again: usize = many.into_iter().map(|plan| reads(plan, id)).sum();
    once + 2 * again
}

fn reads(plan: &Plan, id: CteId) -> usize {
    let own = match plan {
        Plan::CteScan { id: other, .. } => usize::from(*other == id),
        _ => 0,
    };
    let mut plans = Vec::new();
    for expr in plan.expressions() {
        super::super::subqueries(expr, &mut plans);
    }
    let inside: usize = plans.into_iter().map(|plan| reads(plan, id)).sum();
    let below = plan.inputs().into_iter().map(|input| reads(input, id));
    let below: usize = below.sum();
    let again = matches!(plan, Plan::Join { lateral: true, .. })
        || matches!(plan, Plan::With { ctes, .. }
            if ctes.iter().any(|cte| matches!(cte.body, CteBody::Recursive { .. })));
    own + 2 * inside + below * if again { 2 } else { 1 }
}
