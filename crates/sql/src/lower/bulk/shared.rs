//! Common table expressions: their rows are computed once, for all places that read them.
//!
//! ```text
//! With t = Aggregate (…)           join
//!   Join                             shared plan 1
//!     CteScan t                        aggregate
//!     CteScan t                      shared plan 1
//! ```
//!
//! Recursive ones are tables of other operators.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use freestone_exec::expression::Expression;
use freestone_exec::{Node, Plan as Own};
use freestone_frontend::plan::{Column, ColumnId, Cte, CteBody, CteId, Plan};

use super::super::shared::readers;
use super::{Added, Bulk, Part};
use crate::engine::{Converted, Found};
use crate::error::Result;

/// Rows for several places.
pub(super) struct Shared {
    rows: Arc<Own>,
    distinct: Vec<f64>,
    found: Found,
}

impl Shared {
    pub(super) fn of(Part { rows, found }: Part) -> Self {
        Self {
            rows: Arc::new(rows.plan),
            distinct: rows.distinct,
            found,
        }
    }

    /// The rows for one of the places.
    pub(super) fn read(&self) -> Part {
        let (types, estimate) = (self.rows.types.clone(), self.rows.estimate);
        let rows = Converted {
            plan: Own::new(Node::Shared(Arc::clone(&self.rows)), types, estimate),
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

impl Bulk<'_> {
    pub(super) fn with(&self, ctes: &[Cte], body: &Plan) -> Result<Option<Part>> {
        for (at, cte) in ctes.iter().enumerate() {
            let plan = match &cte.body {
                // The rows of a shared plan come in any order.
                CteBody::Plan(plan) if gives_order(plan) && is_last(body, cte.id) => {
                    return Ok(None);
                }
                CteBody::Plan(plan) => plan,
                CteBody::Recursive { base, step, .. } => {
                    let mut own = vec![cte.id];
                    if [base, step]
                        .iter()
                        .any(|plan| self.reads_outside(plan, &mut own))
                    {
                        return Ok(None);
                    }
                    let readers = readers(&ctes[at + 1..], body, cte.id);
                    self.lowering.expression_table(cte, readers)?;
                    continue;
                }
            };
            match self.turned(plan)? {
                Some(turned) => drop(self.ctes.borrow_mut().insert(cte.id, turned)),
                None => return Ok(None),
            }
        }
        self.part(body)
    }

    fn turned(&self, plan: &Plan) -> Result<Option<Turned>> {
        let columns = plan.columns();
        let Some(part) = self.part(plan)? else {
            return Ok(None);
        };
        let scope = self.scope(&part.found);
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
            let Some(expression) = scope.expr(&typed.expr) else {
                return Ok(None);
            };
            places.insert(column.id, (add.types.len(), typed.kind.clone()));
            add.push(format!("shared {}", column.id.0), expression, typed.kind);
        }
        let shared = Shared::of(add.part(part.rows));
        Ok(Some(Turned { shared, places }))
    }

    /// The rows of a common table expression in one of the places that read it.
    pub(super) fn cte(
        &self,
        plan: &Plan,
        id: CteId,
        columns: &[(Column, ColumnId)],
    ) -> Result<Option<Part>> {
        let ctes = self.ctes.borrow();
        let Some(turned) = ctes.get(&id) else {
            return Ok(None);
        };
        let mut add = Added::default();
        for (column, of) in columns {
            if !self.lowering.is_used(column.id) {
                continue;
            }
            let Some((place, kind)) = turned.places.get(of) else {
                return Ok(None);
            };
            let name = self.find(column, kind);
            add.push(name, Expression::Column(*place), kind.clone());
        }
        self.spend(plan);
        Ok(Some(add.part(turned.shared.read().rows)))
    }
}

/// Whether rows of a plan come in an order that it asks for.
fn gives_order(plan: &Plan) -> bool {
    match plan {
        Plan::Sort { .. } => true,
        Plan::Project { input, .. }
        | Plan::Filter { input, .. }
        | Plan::Limit { input, .. }
        | Plan::Barrier { input } => gives_order(input),
        _ => false,
    }
}

/// Whether rows of a common table expression come out of a plan as they are.
fn is_last(plan: &Plan, id: CteId) -> bool {
    match plan {
        Plan::CteScan { id: of, .. } => *of == id,
        Plan::Project { input, .. }
        | Plan::Filter { input, .. }
        | Plan::Limit { input, .. }
        | Plan::Barrier { input } => is_last(input, id),
        Plan::With { body, .. } => is_last(body, id),
        _ => false,
    }
}
