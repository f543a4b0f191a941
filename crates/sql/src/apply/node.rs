//! The node of apply in logical plans.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Column, DFSchema, DFSchemaRef};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, LogicalPlanBuilder, UserDefinedLogicalNodeCore,
};

use crate::error::Error;
use crate::functions::any_expression;

/// What a sub-query gives to each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Gives {
    /// Its value: NULL without rows, an error with several.
    Value,
    /// Whether it has rows.
    Whether,
}

/// Adds to every row of its input what a sub-query gives for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApplyNode {
    input: LogicalPlan,
    /// The sub-query; no more rows than count.
    pub(super) subquery: Arc<LogicalPlan>,
    /// Its outer columns.
    pub(super) columns: Vec<Column>,
    /// Each of them, of the input's columns.
    pub(super) keys: Vec<Expr>,
    pub(super) gives: Gives,
    /// Whether the same outer values give the same result: no `random()` and the like.
    pub(super) lasting: bool,
    schema: DFSchemaRef,
}

impl ApplyNode {
    /// A sub-query applied to rows that have its outer columns.
    ///
    /// # Errors
    /// Those of building plans.
    pub(super) fn new(
        input: LogicalPlan,
        subquery: LogicalPlan,
        columns: Vec<Column>,
        gives: Gives,
    ) -> DfResult<Self> {
        let rows = match gives {
            Gives::Value => 2,
            Gives::Whether => 1,
        };
        let subquery = LogicalPlanBuilder::from(subquery)
            .limit(0, Some(rows))?
            .build()?;
        let kind = match gives {
            Gives::Value => subquery.schema().field(0).data_type().clone(),
            Gives::Whether => DataType::Boolean,
        };
        let name = format!("__applied_{}", input.schema().fields().len());
        let field = Arc::new(Field::new(name, kind, true));
        Ok(Self {
            schema: with_field(&input, &field)?,
            keys: columns.iter().cloned().map(Expr::from).collect(),
            lasting: !is_volatile(&subquery)?,
            input,
            subquery: Arc::new(subquery),
            columns,
            gives,
        })
    }

    /// The column that it adds.
    pub(super) fn column(&self) -> Column {
        Column::new_unqualified(self.field().name())
    }

    pub(super) fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension {
            node: Arc::new(self),
        })
    }

    fn field(&self) -> &Arc<Field> {
        let last = self.schema.fields().len() - 1;
        &self.schema.fields()[last]
    }
}

fn is_volatile(plan: &LogicalPlan) -> DfResult<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= any_expression(node, Expr::is_volatile)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn with_field(input: &LogicalPlan, field: &Arc<Field>) -> DfResult<DFSchemaRef> {
    let fields = input.schema().iter();
    let mut fields: Vec<_> = fields
        .map(|(table, field)| (table.cloned(), Arc::clone(field)))
        .collect();
    fields.push((None, Arc::clone(field)));
    let metadata = input.schema().metadata().clone();
    Ok(Arc::new(DFSchema::new_with_metadata(fields, metadata)?))
}

impl PartialOrd for ApplyNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for ApplyNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.input.hash(state);
        self.subquery.hash(state);
        self.keys.hash(state);
        self.gives.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for ApplyNode {
    fn name(&self) -> &'static str {
        "Apply"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        self.keys.clone()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        HashSet::from([self.field().name().clone()])
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Apply: keys=[{}]", listed(&self.keys))
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        let Some(input) = inputs.into_iter().next() else {
            return Err(Error::internal("apply without an input").into());
        };
        Ok(Self {
            schema: with_field(&input, self.field())?,
            input,
            keys: exprs,
            ..self.clone()
        })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let known = self.input.schema();
        let passed = output_columns.iter().copied();
        let mut needed: Vec<usize> = passed.filter(|at| *at < known.fields().len()).collect();
        for column in self.keys.iter().flat_map(Expr::column_refs) {
            needed.push(known.maybe_index_of_column(column)?);
        }
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}

/// Expressions, separated by commas.
pub(super) fn listed(exprs: &[impl fmt::Display]) -> String {
    let all: Vec<String> = exprs.iter().map(ToString::to_string).collect();
    all.join(", ")
}
