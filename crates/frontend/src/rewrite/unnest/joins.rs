//! Sub-queries of expressions become joins on the input of their node.

use std::mem::replace;

use super::super::facts::{expr_reads, gives_one_row_at_most, made, plan_may_fail};
use super::{Unnesting, filter, lateral, only, or_else};
use crate::functions::catalogue;
use crate::plan::{
    AggregateCall, Column, Expr, ExprKind, JoinKind, Plan, Quantifier, SetItem, SetKind, SortKey,
    Subquery, SubqueryKind, TableCall,
};
use crate::types::Type;

impl Unnesting {
    /// The plan with joins for the sub-queries of its expressions.
    pub(super) fn joined(&mut self, mut plan: Plan) -> Plan {
        if crate::interrupt::check().is_err() {
            return plan;
        }
        for input in plan.inputs_mut() {
            let taken = replace(input, Plan::one_row());
            *input = self.joined(taken);
        }
        if !plan.expressions().iter().any(|expr| expr.has_subquery()) {
            return plan;
        }
        match plan {
            Plan::Filter { input, condition } => self.filtered(*input, condition),
            Plan::Join {
                kind,
                left,
                right,
                condition: Some(condition),
                ..
            } => self.on_condition(kind, *left, *right, condition),
            Plan::Values { columns, rows } => self.rows(columns, rows),
            Plan::Functions { calls, ordinality } => self.functions(calls, ordinality),
            // Constants.
            Plan::Limit { ties: None, .. } | Plan::Scan { .. } => plan,
            other => self.on_input(other),
        }
    }

    /// A node with one input, whose rows get the values of sub-queries.
    fn on_input(&mut self, mut plan: Plan) -> Plan {
        let columns = plan.columns();
        let mut input = match plan.inputs_mut().into_iter().next() {
            Some(input) => replace(input, Plan::one_row()),
            None => return plan,
        };
        let mut guards = Vec::new();
        match &mut plan {
            Plan::Project { items, .. } => {
                for (_, expr) in items {
                    self.extract(expr, &mut input, &mut guards);
                }
            }
            Plan::ProjectSet { items, .. } => {
                for item in items {
                    match item {
                        SetItem::Value(_, expr) => self.extract(expr, &mut input, &mut guards),
                        SetItem::Rows(call) => {
                            for expr in &mut call.arguments {
                                self.extract(expr, &mut input, &mut guards);
                            }
                        }
                    }
                }
            }
            Plan::Aggregate { keys, calls, .. } => {
                for (_, expr) in keys {
                    self.extract(expr, &mut input, &mut guards);
                }
                for (_, call) in calls {
                    self.of_aggregate(call, &mut input);
                }
            }
            Plan::Window { calls, .. } => {
                for (_, call) in calls {
                    let order = call.order.iter_mut().map(|key| &mut key.expr);
                    let all = call.arguments.iter_mut().chain(&mut call.filter);
                    let all = all.chain(&mut call.partition).chain(order);
                    let values = call.frame.start_value.iter_mut();
                    for expr in all.chain(values).chain(&mut call.frame.end_value) {
                        self.extract(expr, &mut input, &mut guards);
                    }
                }
            }
            Plan::Sort { keys, .. }
            | Plan::Limit {
                ties: Some(keys), ..
            } => {
                for key in keys {
                    self.extract(&mut key.expr, &mut input, &mut guards);
                }
            }
            Plan::Distinct { on: Some(on), .. } => {
                for expr in on {
                    self.extract(expr, &mut input, &mut guards);
                }
            }
            _ => {}
        }
        if let Some(place) = plan.inputs_mut().into_iter().next() {
            *place = input;
        }
        only(plan, &columns)
    }

    fn of_aggregate(&mut self, call: &mut AggregateCall, input: &mut Plan) {
        let mut guards = Vec::new();
        if let Some(condition) = &mut call.filter {
            self.extract(condition, input, &mut guards);
            guards.push(condition.clone());
        }
        let order = call.order.iter_mut().map(|key| &mut key.expr);
        let all = call.direct.iter_mut().chain(&mut call.arguments);
        for expr in all.chain(order) {
            self.extract(expr, input, &mut guards);
        }
    }

    /// A filter. Conditions without sub-queries come first, and each of the others lessens the
    /// rows for those after it.
    fn filtered(&mut self, mut input: Plan, condition: Expr) -> Plan {
        let columns = input.columns();
        let conjuncts = condition.conjuncts();
        let (hard, plain): (Vec<_>, Vec<_>) = conjuncts.into_iter().partition(Expr::has_subquery);
        if !plain.is_empty() {
            input = filter(input, Expr::and(plain));
        }
        for mut condition in hard {
            input = match self.as_join(&mut condition, input) {
                Ok(joined) => joined,
                Err(mut input) => {
                    self.extract(&mut condition, &mut input, &mut Vec::new());
                    filter(input, condition)
                }
            };
        }
        only(input, &columns)
    }

    /// The input's rows that have a row in a sub-query or have none, or the input if the
    /// condition is another.
    fn as_join(&mut self, condition: &mut Expr, mut input: Plan) -> Result<Plan, Plan> {
        let (kind, subquery) = match &mut condition.kind {
            ExprKind::Subquery(subquery) => (JoinKind::Semi, subquery),
            ExprKind::Not(inner) => match &mut inner.kind {
                ExprKind::Subquery(subquery) if matches!(subquery.kind, SubqueryKind::Exists) => {
                    (JoinKind::Anti, subquery)
                }
                _ => return Err(input),
            },
            _ => return Err(input),
        };
        let condition = match &mut subquery.kind {
            SubqueryKind::Exists => None,
            SubqueryKind::Compare {
                comparison,
                quantifier: Quantifier::Any,
            } => {
                self.extract_compared(comparison, &subquery.plan, &mut input, &mut Vec::new());
                if comparison.has_subquery() {
                    return Err(input);
                }
                Some(replace(comparison.as_mut(), Expr::bool(true)))
            }
            _ => return Err(input),
        };
        let mut plan = replace(&mut subquery.plan, Plan::one_row());
        if condition.is_none() {
            plan = without_values(plan);
        }
        let plan = self.joined(plan);
        Ok(lateral(kind, input, plan, condition))
    }

    /// A join whose condition has sub-queries: they are computed on one of its sides.
    fn on_condition(
        &mut self,
        kind: JoinKind,
        mut left: Plan,
        mut right: Plan,
        condition: Expr,
    ) -> Plan {
        let columns = super::columns_of(kind, &left, &right);
        match kind {
            JoinKind::Inner => {
                let conjuncts = condition.conjuncts();
                let (hard, plain): (Vec<_>, Vec<_>) =
                    conjuncts.into_iter().partition(Expr::has_subquery);
                let plain = (!plain.is_empty()).then(|| Expr::and(plain));
                let pairs = lateral(kind, left, right, plain);
                return self.filtered(pairs, Expr::and(hard));
            }
            JoinKind::Right => {
                let swapped = self.on_condition(JoinKind::Left, right, left, condition);
                return only(swapped, &columns);
            }
            _ => {}
        }
        let mut condition = condition;
        let sides = (made(&left), made(&right));
        let reads_right = expr_subqueries_read(&condition, &sides.1);
        let reads_left = expr_subqueries_read(&condition, &sides.0);
        let reads = condition.reads();
        let only_right = reads.is_disjoint(&sides.0) && !reads.is_disjoint(&sides.1);
        // The left side does not see the right one, and the right one of FULL JOIN not the left:
        // conditions that read the other side guard nothing.
        let before = self.compared.clone();
        if !reads_right && !only_right {
            self.compared.extend(&sides.1);
            self.extract(&mut condition, &mut left, &mut Vec::new());
        } else if !reads_left || kind != JoinKind::Full {
            if kind == JoinKind::Full {
                self.compared.extend(&sides.0);
            }
            self.extract(&mut condition, &mut right, &mut Vec::new());
        }
        self.compared = before;
        let joined = lateral(kind, left, right, Some(condition));
        only(joined, &columns)
    }

    /// VALUES: each row is a projection of one row without columns.
    fn rows(&mut self, columns: Vec<Column>, rows: Vec<Vec<Expr>>) -> Plan {
        let single = rows.len() == 1;
        let mut inputs = Vec::with_capacity(rows.len());
        for row in rows {
            let mut items = Vec::with_capacity(row.len());
            for (column, expr) in columns.iter().zip(row) {
                let column = if single {
                    column.clone()
                } else {
                    self.again(column)
                };
                items.push((column, expr));
            }
            let input = Box::new(Plan::one_row());
            inputs.push(self.on_input(Plan::Project { input, items }));
        }
        if single && let Some(only) = inputs.pop() {
            return only;
        }
        Plan::Set {
            kind: SetKind::Union,
            all: true,
            inputs,
            columns,
        }
    }

    /// Functions whose arguments are computed on a row of their own.
    fn functions(&mut self, mut calls: Vec<TableCall>, ordinality: Option<Column>) -> Plan {
        let mut row = Plan::one_row();
        for call in &mut calls {
            for argument in &mut call.arguments {
                self.extract(argument, &mut row, &mut Vec::new());
            }
        }
        let functions = Plan::Functions { calls, ordinality };
        let columns = functions.columns();
        only(lateral(JoinKind::Inner, row, functions, None), &columns)
    }

    /// Takes the sub-queries out of an expression and joins them to the input. The expression
    /// is computed only for rows for which all guards are TRUE.
    fn extract(&mut self, expr: &mut Expr, input: &mut Plan, guards: &mut Vec<Expr>) {
        if expr.has_subquery() {
            self.extract_all(expr, input, guards);
        }
    }

    /// The same for the comparison of a value with the rows of a plan.
    fn extract_compared(
        &mut self,
        comparison: &mut Expr,
        plan: &Plan,
        input: &mut Plan,
        guards: &mut Vec<Expr>,
    ) {
        let own = plan.columns().into_iter().map(|column| column.id);
        let before = self.compared.clone();
        self.compared.extend(own);
        self.extract(comparison, input, guards);
        self.compared = before;
    }

    fn extract_all(&mut self, expr: &mut Expr, input: &mut Plan, guards: &mut Vec<Expr>) {
        let before = guards.len();
        match &mut expr.kind {
            ExprKind::And(parts) => {
                self.one_by_one(parts, input, guards, |part| or_else(part.clone(), true));
            }
            ExprKind::Or(parts) => {
                self.one_by_one(parts, input, guards, |part| {
                    or_else(part.clone(), false).not()
                });
            }
            ExprKind::Coalesce(parts) => {
                self.one_by_one(parts, input, guards, |part| part.clone().is_null());
            }
            ExprKind::Case {
                branches,
                otherwise,
            } => {
                let asked = |expr: &Expr| expr.has_subquery();
                let last = branches
                    .iter()
                    .rposition(|(when, then)| asked(when) || asked(then));
                let last = match otherwise.as_deref().is_some_and(asked) {
                    true => branches.len(),
                    false => last.map_or(0, |last| last + 1),
                };
                for (when, then) in branches.iter_mut().take(last) {
                    self.extract(when, input, guards);
                    guards.push(when.clone());
                    self.extract(then, input, guards);
                    guards.pop();
                    guards.push(or_else(when.clone(), false).not());
                }
                if let Some(otherwise) = otherwise {
                    self.extract(otherwise, input, guards);
                }
            }
            ExprKind::Subquery(subquery) => {
                if let SubqueryKind::Compare { comparison, .. } = &mut subquery.kind {
                    self.extract_compared(comparison, &subquery.plan, input, guards);
                }
                // A copy, as BETWEEN has, reads the column of the first one if that is computed
                // for all rows that ask for the copy: where it is asked, its guards hold, too.
                let id = subquery.id;
                let first = self.values.get(&id).filter(|(value, needed)| {
                    let columns = input.columns();
                    let mut reads = value.reads().into_iter();
                    reads.all(|read| columns.iter().any(|column| column.id == read))
                        && needed.iter().all(|guard| guards.contains(guard))
                });
                if let Some((value, _)) = first {
                    *expr = value.clone().read_as(&expr.ty);
                } else if let Some(value) = self.attached(subquery, &expr.ty, input, guards) {
                    self.values.insert(id, (value.clone(), guards.clone()));
                    *expr = value;
                }
            }
            _ => {
                // Not asked again at each level: expressions may be deep.
                for child in expr.children_mut() {
                    self.extract_all(child, input, guards);
                }
            }
        }
        guards.truncate(before);
    }

    fn one_by_one(
        &mut self,
        parts: &mut [Expr],
        input: &mut Plan,
        guards: &mut Vec<Expr>,
        guard: impl Fn(&Expr) -> Expr,
    ) {
        let last = parts.iter().rposition(Expr::has_subquery).unwrap_or(0);
        for (at, part) in parts.iter_mut().enumerate().take(last + 1) {
            self.extract(part, input, guards);
            if at < last {
                guards.push(guard(part));
            }
        }
    }

    /// Joins a sub-query to the input; its value in the expression.
    fn attached(
        &mut self,
        subquery: &mut Subquery,
        ty: &Type,
        input: &mut Plan,
        guards: &[Expr],
    ) -> Option<Expr> {
        // Sub-queries that could not be taken out of it keep a comparison where it is.
        if let SubqueryKind::Compare { comparison, .. } = &subquery.kind
            && comparison.has_subquery()
        {
            return None;
        }
        let array_agg = match subquery.kind {
            SubqueryKind::Array => Some(array_agg(&subquery.plan.columns().first()?.ty)?),
            _ => None,
        };
        let mut plan = replace(&mut subquery.plan, Plan::one_row());
        if matches!(subquery.kind, SubqueryKind::Exists) {
            plan = without_values(plan);
        }
        let plan = self.joined(plan);
        let known = |guard: &&Expr| guard.reads().is_disjoint(&self.compared);
        let guards: Vec<Expr> = guards.iter().filter(known).cloned().collect();
        let volatile = guards.iter().any(Expr::is_volatile);
        let several =
            matches!(subquery.kind, SubqueryKind::Scalar) && !gives_one_row_at_most(&plan);
        let guard = match guards.is_empty() || volatile || !(several || plan_may_fail(&plan)) {
            true => None,
            false => Some(Expr::and(guards)),
        };
        let (kind, plan, condition, value) = match take_kind(subquery) {
            SubqueryKind::Scalar => {
                let one = gives_one_row_at_most(&plan);
                let first = plan.columns().into_iter().next()?;
                let column = self.again(&first);
                let value = Expr::new(ExprKind::Column(column.id), ty.clone());
                let plan = Plan::Project {
                    input: Box::new(plan),
                    items: vec![(column, first.reference())],
                };
                let correlated = lateral_to(&plan, input) || guard.is_some();
                let kind = match one && correlated {
                    true => JoinKind::Left,
                    false => JoinKind::Single,
                };
                (kind, plan, None, value)
            }
            SubqueryKind::Exists => {
                let mark = self.column("mark", Type::Bool);
                (JoinKind::Mark(mark.id), plan, None, mark.reference())
            }
            SubqueryKind::Compare {
                comparison,
                quantifier,
            } => {
                let mark = self.column("mark", Type::Bool);
                // Of all rows it holds if there is none of which it does not.
                let (condition, value) = match quantifier {
                    Quantifier::Any => (*comparison, mark.reference()),
                    Quantifier::All => (comparison.not(), mark.reference().not()),
                };
                (JoinKind::Mark(mark.id), plan, Some(condition), value)
            }
            SubqueryKind::Array => {
                let mut plan = plan;
                let order = self.order_of(&mut plan);
                let first = plan.columns().into_iter().next()?;
                let column = self.column("array", ty.clone());
                let call = AggregateCall {
                    function: array_agg?,
                    direct: Vec::new(),
                    arguments: vec![first.reference()],
                    distinct: false,
                    filter: None,
                    order,
                    returns: ty.clone(),
                };
                let values = vec![column.reference(), empty_array(ty)?];
                let value = Expr::new(ExprKind::Coalesce(values), ty.clone());
                let plan = Plan::Aggregate {
                    input: Box::new(plan),
                    keys: Vec::new(),
                    sets: None,
                    calls: vec![(column, call)],
                    grouping: Vec::new(),
                };
                (JoinKind::Left, plan, None, value)
            }
        };
        let plan = match guard {
            Some(guard) => {
                // Dependent, so that the plan is not run if the guard lets no row through.
                Plan::Join {
                    kind: JoinKind::Inner,
                    left: Box::new(filter(Plan::one_row(), guard)),
                    right: Box::new(plan),
                    condition: None,
                    lateral: true,
                }
            }
            None => plan,
        };
        let taken = replace(input, Plan::one_row());
        *input = lateral(kind, taken, plan, condition);
        Some(value)
    }

    /// The order in which a plan's rows come, as keys that its columns give. It may get columns
    /// for that.
    fn order_of(&mut self, plan: &mut Plan) -> Vec<SortKey> {
        match plan {
            Plan::Sort { keys, .. } => keys.clone(),
            Plan::Filter { input, .. } | Plan::Limit { input, .. } => self.order_of(input),
            Plan::Project { input, items } => {
                let mut keys = self.order_of(input);
                for key in &mut keys {
                    let column = self.column("key", key.expr.ty.clone());
                    let value = replace(&mut key.expr, column.reference());
                    items.push((column, value));
                }
                keys
            }
            _ => Vec::new(),
        }
    }
}

/// Whether the sub-queries of an expression read one of some columns.
fn expr_subqueries_read(
    expr: &Expr,
    columns: &std::collections::HashSet<crate::plan::ColumnId>,
) -> bool {
    expr.any(&mut |expr| matches!(expr.kind, ExprKind::Subquery(_)) && expr_reads(expr, columns))
}

/// The plan below projections: EXISTS does not compute values.
fn without_values(mut plan: Plan) -> Plan {
    while let Plan::Project { input, .. } = plan {
        plan = *input;
    }
    plan
}

fn lateral_to(plan: &Plan, input: &Plan) -> bool {
    super::facts::reads(plan, &made(input))
}

fn take_kind(subquery: &mut Subquery) -> SubqueryKind {
    replace(&mut subquery.kind, SubqueryKind::Exists)
}

/// The aggregate that makes an array of values of a type.
fn array_agg(of: &Type) -> Option<std::sync::Arc<crate::functions::aggregates::Aggregate>> {
    let parameter = match of {
        Type::Array(_) => Type::AnyArray,
        _ => Type::AnyNonArray,
    };
    let all = catalogue().aggregates("array_agg");
    let found = all
        .iter()
        .find(|aggregate| aggregate.parameters.first() == Some(&parameter));
    found.cloned()
}

/// The array without elements.
fn empty_array(ty: &Type) -> Option<Expr> {
    let Type::Array(element) = ty else {
        return None;
    };
    let values = arrow_array::new_empty_array(&element.arrow());
    let array = crate::types::arrays::one(values, None).ok()?;
    Some(Expr::new(ExprKind::Literal(array), ty.clone()))
}
