//! Orders, limits, and rows that are equal.

use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Aggregate, Expr, Limit, LogicalPlan, Sort, SortExpr};
use freestone_frontend::plan::{
    Column, ColumnId, Expr as Bound, ExprKind, JoinKind, Plan, SetKind, SortKey,
};
use freestone_frontend::types::Type;

use super::expression::exact;
use super::operator::{Key, over};
use super::operators::rows::{Bounds, Cut, Most, share_of};
use super::subquery::is_of_running;
use super::{Lowering, canonical, own_name, projected, schema_of};
use crate::error::{Error, Result};

/// Whether a column of a plan is one constant in all rows.
fn is_constant(plan: &Plan, id: ColumnId) -> bool {
    match plan {
        Plan::Project { input, items } => {
            let item = items.iter().find(|(column, _)| column.id == id);
            item.is_some_and(|(_, value)| match &value.kind {
                ExprKind::Literal(_) => true,
                ExprKind::Column(of) => is_constant(input, *of),
                _ => false,
            })
        }
        Plan::Filter { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Limit { input, .. }
        | Plan::Distinct { input, .. }
        | Plan::With { body: input, .. } => is_constant(input, id),
        Plan::Join {
            kind, left, right, ..
        } => match kind {
            JoinKind::Inner => is_constant(left, id) || is_constant(right, id),
            JoinKind::Right | JoinKind::Full => false,
            _ => is_constant(left, id),
        },
        _ => false,
    }
}

impl Lowering {
    pub(super) fn sort(&self, input: &Plan, keys: &[SortKey]) -> Result<LogicalPlan> {
        let rows = self.plan(input)?;
        // DataFusion loses on its way what it knows of constants, and then refuses its own order.
        let keys = keys.iter().filter(|key| match key.expr.kind {
            ExprKind::Column(id) => !is_constant(input, id),
            _ => true,
        });
        let keys = keys.map(|key| self.sort_key(key));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        if keys.is_empty() {
            return Ok(rows);
        }
        Ok(LogicalPlan::Sort(Sort {
            expr: keys,
            input: Arc::new(rows),
            fetch: None,
        }))
    }

    pub(super) fn sort_key(&self, key: &SortKey) -> Result<SortExpr> {
        let value = canonical::order(self.expr(&key.expr)?, &key.expr.ty);
        Ok(SortExpr::new(value, !key.descending, key.nulls_first))
    }

    /// Columns for an operator: those of the result, then values of its own, in canonical form
    /// those that are asked for by sort keys; and the order of the latter.
    pub(super) fn with_keys(
        &self,
        kept: &[Column],
        values: &[&Bound],
        keys: &[SortKey],
        input: LogicalPlan,
    ) -> Result<(LogicalPlan, Vec<Key>)> {
        let mut exprs = Vec::with_capacity(kept.len() + values.len() + keys.len());
        for column in kept {
            let value = exact(self.column(column.id)?, &column.ty)?;
            exprs.push(value.alias(own_name(column)));
        }
        for (at, value) in values.iter().enumerate() {
            let value = exact(self.expr(value)?, &value.ty)?;
            exprs.push(value.alias(format!("value {at}")));
        }
        let mut order = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            order.push((exprs.len(), options(key)));
            let value = canonical::key(self.expr(&key.expr)?, &key.expr.ty);
            exprs.push(value.expr.alias(format!("key {at}")));
        }
        Ok((projected(exprs, input)?, order))
    }

    pub(super) fn limit(
        &self,
        input: &Plan,
        (limit, offset): (Option<&Bound>, Option<&Bound>),
        ties: Option<&[SortKey]>,
        percent: bool,
    ) -> Result<LogicalPlan> {
        if limit.into_iter().chain(offset).any(is_of_running) {
            return self.computed_limit(input, (limit, offset), ties, percent);
        }
        let skip = match offset {
            Some(offset) => self.rows(offset, "2201X", "OFFSET")?.unwrap_or(0),
            None => 0,
        };
        if ties.is_none() && !percent {
            let fetch = match limit {
                Some(limit) => self.rows(limit, "2201W", "LIMIT")?,
                None => None,
            };
            // DataFusion drops an order below a limit that only passes rows over.
            let passes_over = fetch.is_none() && skip > 0;
            if let (true, Plan::Project { input, items }) = (passes_over, input)
                && is_sorted(input)
            {
                let rest = Plan::Limit {
                    input: input.clone(),
                    limit: None,
                    offset: offset.cloned(),
                    ties: None,
                    percent: false,
                };
                return self.plan(&Plan::Project {
                    input: Box::new(rest),
                    items: items.clone(),
                });
            }
            if passes_over && is_sorted(input) {
                let bounds = Bounds::Known {
                    skip: usize::try_from(skip).unwrap_or(usize::MAX),
                    most: Most::All,
                };
                return self.cut(input, bounds, None, None);
            }
            let input = self.plan(input)?;
            if fetch.is_none() && skip == 0 {
                return Ok(input);
            }
            let literal = |rows: i64| Box::new(Expr::Literal(ScalarValue::Int64(Some(rows)), None));
            return Ok(LogicalPlan::Limit(Limit {
                skip: (skip > 0).then(|| literal(skip)),
                fetch: fetch.map(literal),
                input: Arc::new(input),
            }));
        }
        let most = match (limit, percent) {
            (None, _) => Most::All,
            (Some(limit), true) => self.share(limit)?,
            (Some(limit), false) => match self.rows(limit, "2201W", "LIMIT")? {
                Some(rows) => Most::Rows(usize::try_from(rows).unwrap_or(usize::MAX)),
                None => Most::All,
            },
        };
        let bounds = Bounds::Known {
            skip: usize::try_from(skip).unwrap_or(usize::MAX),
            most,
        };
        self.cut(input, bounds, ties, None)
    }

    /// A limit that is known when it runs: its numbers are the only row of a second input.
    fn computed_limit(
        &self,
        input: &Plan,
        (limit, offset): (Option<&Bound>, Option<&Bound>),
        ties: Option<&[SortKey]>,
        percent: bool,
    ) -> Result<LogicalPlan> {
        let number = |name: &str, value: Option<&Bound>, ty: Type| {
            let null = || Bound::null(ty.clone());
            let value = value.cloned().unwrap_or_else(null);
            (self.fresh(name, value.ty.clone()), value)
        };
        let kind = if percent { Type::Float8 } else { Type::Int8 };
        let numbers = self.plan(&Plan::Project {
            input: Box::new(Plan::one_row()),
            items: vec![
                number("limit", limit, kind),
                number("offset", offset, Type::Int8),
            ],
        })?;
        self.cut(input, Bounds::Computed { percent }, ties, Some(numbers))
    }

    fn cut(
        &self,
        input: &Plan,
        bounds: Bounds,
        ties: Option<&[SortKey]>,
        numbers: Option<LogicalPlan>,
    ) -> Result<LogicalPlan> {
        let kept = self.kept(input);
        let below = self.plan(input)?;
        let keys = ties.unwrap_or(order_of(input));
        let (below, order) = self.with_keys(&kept, &[], keys, below)?;
        let schema = self.schema_of_kept(&kept)?;
        let operator = Cut {
            bounds,
            columns: kept.len(),
            order,
            ties: ties.is_some(),
        };
        let inputs = std::iter::once(below).chain(numbers).collect();
        Ok(over(operator, inputs, schema))
    }

    /// The schema of columns under their own names.
    pub(super) fn schema_of_kept(
        &self,
        kept: &[Column],
    ) -> Result<Arc<datafusion::common::DFSchema>> {
        let kinds = kept.iter().map(|column| column.ty.arrow());
        schema_of(self.named(kept, kinds))
    }

    /// A number of rows; `None` for NULL.
    pub(super) fn rows(&self, expr: &Bound, sqlstate: &str, word: &str) -> Result<Option<i64>> {
        let value = self.constant(expr)?;
        let kind = datafusion::arrow::datatypes::DataType::Int64;
        let value = crate::values::with_kind(value, &kind)?;
        match ScalarValue::try_from_array(&value, 0)? {
            ScalarValue::Int64(Some(rows)) if rows < 0 => {
                let message = format!("{word} must not be negative");
                Err(Error::new(sqlstate, message))
            }
            ScalarValue::Int64(rows) => Ok(rows),
            _ => Ok(None),
        }
    }

    fn share(&self, expr: &Bound) -> Result<Most> {
        let value = self.constant(expr)?;
        let kind = datafusion::arrow::datatypes::DataType::Float64;
        let value = super::operators::number(&crate::values::with_kind(value, &kind)?);
        match value {
            Some(share) => share_of(share),
            None => Ok(Most::All),
        }
    }

    pub(super) fn distinct(&self, input: &Plan, on: Option<&[Bound]>) -> Result<LogicalPlan> {
        if on.is_some() {
            return Err(Error::internal("DISTINCT ON that is no window"));
        }
        let columns = input.columns();
        let below = self.plan(input)?;
        self.once(&columns, below)
    }

    /// Equal rows once.
    pub(super) fn once(&self, columns: &[Column], below: LogicalPlan) -> Result<LogicalPlan> {
        let mut places = Vec::with_capacity(columns.len());
        let mut native = !columns.is_empty();
        for column in columns {
            let typed = self.column(column.id)?;
            native &= canonical::kind(&column.ty, &typed.kind).is_none();
            native &= !places.contains(&typed.expr);
            places.push(typed.expr);
        }
        if native {
            let aggregate = Aggregate::try_new(Arc::new(below), places, Vec::new())?;
            return Ok(LogicalPlan::Aggregate(aggregate));
        }
        if columns.is_empty() {
            let one = Expr::Literal(ScalarValue::Int64(Some(1)), None);
            return Ok(LogicalPlan::Limit(Limit {
                skip: None,
                fetch: Some(Box::new(one)),
                input: Arc::new(below),
            }));
        }
        let keys = columns.iter();
        let keys: Vec<_> = keys.map(|key| (key.clone(), key.reference())).collect();
        self.general(below, &keys, None, &[], &[])
    }

    pub(super) fn set(
        &self,
        kind: SetKind,
        all: bool,
        inputs: &[Plan],
        columns: &[Column],
    ) -> Result<LogicalPlan> {
        if columns.is_empty() {
            // Rows without columns are equal, and there may be many of them: they get one.
            let row = [self.fresh("row", Type::Int4)];
            let inputs = inputs.iter().map(|input| Plan::Project {
                input: Box::new(input.clone()),
                items: vec![(row[0].clone(), Bound::int4(0))],
            });
            let inputs: Vec<Plan> = inputs.collect();
            let rows = self.set(kind, all, &inputs, &row)?;
            return projected(Vec::new(), rows);
        }
        let mut sides = Vec::with_capacity(inputs.len());
        for input in inputs {
            let below = self.plan(input)?;
            let mut exprs = Vec::with_capacity(columns.len());
            for (of, to) in input.columns().iter().zip(columns) {
                let value = exact(self.column(of.id)?, &to.ty)?;
                exprs.push(value.alias(own_name(to)));
            }
            sides.push(projected(exprs, below)?);
        }
        let kinds = columns.iter().map(|column| column.ty.arrow());
        let schema = schema_of(self.named(columns, kinds))?;
        if kind != SetKind::Union {
            return Err(Error::internal("INTERSECT or EXCEPT that is no join"));
        }
        let sides = sides.into_iter().map(Arc::new).collect();
        let union = datafusion::logical_expr::Union {
            inputs: sides,
            schema,
        };
        let union = LogicalPlan::Union(union);
        match all {
            true => Ok(union),
            false => self.once(columns, union),
        }
    }
}

/// Whether a plan is, under projections, an order.
pub(super) fn is_sorted(plan: &Plan) -> bool {
    match plan {
        Plan::Sort { .. } => true,
        Plan::Project { input, .. } => is_sorted(input),
        _ => false,
    }
}

/// The order of a plan's rows.
pub(super) fn order_of(plan: &Plan) -> &[SortKey] {
    match plan {
        Plan::Sort { keys, .. } => keys,
        Plan::Filter { input, .. } | Plan::Limit { input, .. } => order_of(input),
        _ => &[],
    }
}

/// The direction of a key.
pub(super) fn options(key: &SortKey) -> SortOptions {
    SortOptions {
        descending: key.descending,
        nulls_first: key.nulls_first,
    }
}
