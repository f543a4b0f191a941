//! Sub-queries that are still in expressions, as joins.
//!
//! Rewriting turns most sub-queries into joins that need no outer row. Those that it leaves are
//! joined to the input of their node here, as a dependent join if they read its columns:
//!
//! ```text
//! Project a, Scalar(Q)          Project a, q
//!   T                             Single join
//!                                   T
//!                                   Q [q]
//! ```

use std::collections::HashMap;

use freestone_frontend::functions::catalogue;
use freestone_frontend::plan::{
    AggregateCall, Expr as Bound, ExprKind, JoinKind, Plan, Quantifier, Subquery, SubqueryKind,
};
use freestone_frontend::types::Type;

use super::Lowering;
use crate::error::{Error, Result};

/// Whether a plan has sub-queries in expressions.
pub(super) fn is_in(plan: &Plan) -> bool {
    plan.expressions().into_iter().any(has_subquery) || plan.inputs().into_iter().any(is_in)
}

impl Lowering {
    /// The plan with the sub-queries of all its nodes joined to their inputs, but for those of
    /// limits.
    pub(super) fn joined_all(&self, mut plan: Plan) -> Result<Plan> {
        while let Some(joined) = self.without_subqueries(&plan)? {
            plan = joined;
        }
        for input in plan.inputs_mut() {
            let below = std::mem::replace(input, Plan::one_row());
            *input = self.joined_all(below)?;
        }
        Ok(plan)
    }

    /// The node with its sub-queries joined to its input, if it has any.
    pub(super) fn without_subqueries(&self, plan: &Plan) -> Result<Option<Plan>> {
        if !plan.expressions().into_iter().any(has_subquery) || in_limits_only(plan) {
            return Ok(None);
        }
        if let Plan::Join {
            kind: JoinKind::Inner,
            left,
            right,
            condition: Some(condition),
            lateral,
        } = plan
        {
            let pairs = Plan::Join {
                kind: JoinKind::Inner,
                left: left.clone(),
                right: right.clone(),
                condition: None,
                lateral: *lateral,
            };
            return Ok(Some(Plan::Filter {
                input: Box::new(pairs),
                condition: condition.clone(),
            }));
        }
        if let Plan::Values { columns, rows } = plan
            && let [row] = rows.as_slice()
        {
            return Ok(Some(Plan::Project {
                input: Box::new(Plan::one_row()),
                items: columns.iter().cloned().zip(row.iter().cloned()).collect(),
            }));
        }
        let mut plan = plan.clone();
        // All else that has several inputs has no expression but a join's condition.
        if plan.inputs().len() != 1 {
            let message = "a sub-query in such a place";
            return Err(Error::unsupported(message));
        }
        let given = plan.columns();
        let mut input = match plan.inputs_mut().pop() {
            Some(input) => std::mem::replace(input, Plan::one_row()),
            None => return Ok(None),
        };
        let mut known = HashMap::new();
        for expr in plan.expressions_mut() {
            self.joined(expr, &mut input, &mut known)?;
        }
        let passes = matches!(
            plan,
            Plan::Filter { .. } | Plan::Sort { .. } | Plan::Limit { .. } | Plan::Distinct { .. }
        );
        if let Some(place) = plan.inputs_mut().pop() {
            *place = input;
        }
        if !passes {
            return Ok(Some(plan));
        }
        Ok(Some(Plan::Project {
            items: given
                .into_iter()
                .map(|column| (column.clone(), column.reference()))
                .collect(),
            input: Box::new(plan),
        }))
    }

    /// Puts columns of joins to an input in the place of sub-queries. Copies of one, which forms such
    /// as BETWEEN make, are joined once; `known` has the values of those before.
    fn joined(
        &self,
        expr: &mut Bound,
        input: &mut Plan,
        known: &mut HashMap<u32, Bound>,
    ) -> Result<()> {
        if let ExprKind::Subquery(subquery) = &mut expr.kind {
            let subquery_id = subquery.id;
            if let Some(value) = known.get(&subquery_id) {
                *expr = value.clone();
                return Ok(());
            }
            let subquery = std::mem::replace(
                subquery.as_mut(),
                Subquery {
                    kind: SubqueryKind::Exists,
                    plan: Plan::one_row(),
                    id: subquery_id,
                },
            );
            *expr = self.value_of(subquery, expr.ty.clone(), input)?;
            known.insert(subquery_id, expr.clone());
            return Ok(());
        }
        for child in expr.children_mut() {
            self.joined(child, input, known)?;
        }
        Ok(())
    }

    fn value_of(&self, subquery: Subquery, ty: Type, input: &mut Plan) -> Result<Bound> {
        let Subquery { kind, plan, .. } = subquery;
        Ok(match kind {
            SubqueryKind::Scalar => {
                let column = only(&plan)?;
                self.beside(JoinKind::Single, plan, None, input);
                column
            }
            SubqueryKind::Exists => self.mark(plan, None, input),
            SubqueryKind::Compare {
                comparison,
                quantifier,
            } => match quantifier {
                Quantifier::Any => self.mark(plan, Some(*comparison), input),
                Quantifier::All => self.mark(plan, Some(comparison.not()), input).not(),
            },
            SubqueryKind::Array => {
                let value = only(&plan)?;
                let mut known = catalogue().aggregates("array_agg").iter();
                let plain = known.find(|function| {
                    let array = matches!(function.parameters.as_slice(), [Type::AnyArray]);
                    array == matches!(value.ty, Type::Array(_))
                });
                let function = plain.cloned();
                let function =
                    function.ok_or_else(|| Error::internal("the catalogue has no array_agg"))?;
                let column = self.fresh("array", ty.clone());
                let call = AggregateCall {
                    function,
                    direct: Vec::new(),
                    arguments: vec![value],
                    distinct: false,
                    filter: None,
                    order: Vec::new(),
                    returns: ty.clone(),
                };
                let plan = Plan::Aggregate {
                    input: Box::new(plan),
                    keys: Vec::new(),
                    sets: None,
                    calls: vec![(column.clone(), call)],
                    grouping: Vec::new(),
                };
                self.beside(JoinKind::Single, plan, None, input);
                let empty = Bound::new(ExprKind::Array(Vec::new()), ty.clone());
                Bound::new(ExprKind::Coalesce(vec![column.reference(), empty]), ty)
            }
        })
    }

    fn mark(&self, plan: Plan, condition: Option<Bound>, input: &mut Plan) -> Bound {
        let mark = self.fresh("mark", Type::Bool);
        self.beside(JoinKind::Mark(mark.id), plan, condition, input);
        mark.reference()
    }

    fn beside(&self, kind: JoinKind, right: Plan, condition: Option<Bound>, input: &mut Plan) {
        let lateral = !right.free().is_empty();
        let left = std::mem::replace(input, Plan::one_row());
        *input = Plan::Join {
            kind,
            left: Box::new(left),
            right: Box::new(right),
            condition,
            lateral,
        };
    }
}

/// The only column of a plan.
fn only(plan: &Plan) -> Result<Bound> {
    let columns = plan.columns();
    let column = columns.first();
    let column = column.ok_or_else(|| Error::internal("a sub-query without a column"))?;
    Ok(column.reference())
}

/// Whether LIMIT and OFFSET alone have the sub-queries of a node: those are computed apart.
fn in_limits_only(plan: &Plan) -> bool {
    match plan {
        Plan::Limit { ties, .. } => {
            let mut keys = ties.iter().flatten();
            !keys.any(|key| has_subquery(&key.expr))
        }
        _ => false,
    }
}

/// Whether a number of rows is known only when the statement runs: it is that of a sub-query or of
/// a function such as `nextval`, which is called once.
pub(super) fn is_of_running(expr: &Bound) -> bool {
    has_subquery(expr) || expr.is_volatile()
}

fn has_subquery(expr: &Bound) -> bool {
    expr.any(&mut |expr| matches!(expr.kind, ExprKind::Subquery(_)))
}
