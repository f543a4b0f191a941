//! Common table expressions that are read once stand where they are read, and those that are not
//! read go.
//!
//! ```text
//! With t = Aggregate …                     Filter k > 3
//!   Filter k > 3                             Project
//!     CteScan t                                Aggregate …
//! ```
//!
//! One that is volatile, recursive or MATERIALIZED stays; so does one that is read where a plan
//! runs several times: in the step of a recursion, in the dependent side of a join, in a
//! sub-query of an expression.

use super::facts::is_volatile;
use crate::plan::{Column, Cte, CteBody, CteId, Expr, ExprKind, Plan};

/// Moves the expressions of one WITH where they are read.
pub(super) fn inlined(plan: &mut Plan) {
    let Plan::With { ctes, body } = plan else {
        return;
    };
    let mut at = 0;
    while at < ctes.len() {
        let id = ctes[at].id;
        let mut readers = Readers::default();
        readers.of(body, id, true);
        for cte in &ctes[at + 1..] {
            readers.of_body(&cte.body, id, true);
        }
        let may_move = match &ctes[at].body {
            CteBody::Plan(plan) => !ctes[at].materialized && !is_volatile(plan),
            CteBody::Recursive { .. } => false,
        };
        if readers.count > 1 || readers.count == 1 && !(may_move && readers.once) {
            at += 1;
            continue;
        }
        let Cte { body: moved, .. } = ctes.remove(at);
        if let (1, CteBody::Plan(moved)) = (readers.count, moved) {
            let mut moved = Some(moved);
            put(body, id, &mut moved);
            for cte in &mut ctes[at..] {
                match &mut cte.body {
                    CteBody::Plan(plan) => put(plan, id, &mut moved),
                    CteBody::Recursive { base, .. } => put(base, id, &mut moved),
                }
            }
        }
        // One before it may be read once less.
        at = 0;
    }
    if ctes.is_empty() {
        *plan = std::mem::replace(body, Plan::one_row());
    }
}

/// The readers of a common table expression.
struct Readers {
    count: usize,
    /// Whether all are where a plan runs once.
    once: bool,
}

impl Default for Readers {
    fn default() -> Self {
        Self {
            count: 0,
            once: true,
        }
    }
}

impl Readers {
    fn of(&mut self, plan: &Plan, id: CteId, once: bool) {
        if let Plan::CteScan { id: of, .. } = plan
            && *of == id
        {
            self.count += 1;
            self.once &= once;
        }
        for expr in plan.expressions() {
            expr.any(&mut |part| {
                if let ExprKind::Subquery(subquery) = &part.kind {
                    self.of(&subquery.plan, id, false);
                }
                false
            });
        }
        match plan {
            Plan::Join {
                left,
                right,
                lateral,
                ..
            } => {
                self.of(left, id, once);
                self.of(right, id, once && !lateral);
            }
            Plan::With { ctes, body } => {
                for cte in ctes {
                    self.of_body(&cte.body, id, once);
                }
                self.of(body, id, once);
            }
            other => {
                for input in other.inputs() {
                    self.of(input, id, once);
                }
            }
        }
    }

    fn of_body(&mut self, body: &CteBody, id: CteId, once: bool) {
        match body {
            CteBody::Plan(plan) => self.of(plan, id, once),
            CteBody::Recursive { base, step, .. } => {
                self.of(base, id, once);
                self.of(step, id, false);
            }
        }
    }
}

/// Puts a plan in the place of its only reader.
fn put(plan: &mut Plan, id: CteId, moved: &mut Option<Plan>) {
    if moved.is_none() {
        return;
    }
    if let Plan::CteScan {
        id: of, columns, ..
    } = plan
        && *of == id
    {
        let Some(input) = moved.take() else {
            return;
        };
        let given = input.columns();
        let value = |(column, of): (Column, _)| {
            let made = given.iter().find(|made| made.id == of);
            let ty = made.map_or_else(|| column.ty.clone(), |made| made.ty.clone());
            let value = Expr::new(ExprKind::Column(of), ty);
            (column, value)
        };
        let items = std::mem::take(columns).into_iter().map(value).collect();
        *plan = Plan::Project {
            input: Box::new(input),
            items,
        };
        return;
    }
    for input in plan.inputs_mut() {
        put(input, id, moved);
    }
}
