//! Nodes of plans.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::default_table_source::provider_as_source;
use datafusion::common::{Column as Place, TableReference};
use datafusion::logical_expr::{
    EmptyRelation, Expr, Filter, LogicalPlan, TableScanBuilder, Values,
};
use freestone_frontend::plan::{Column, ColumnId, Expr as Bound, Plan, Relation, Sample, SetItem};
use freestone_frontend::types::Type;
use freestone_storage::ColumnType;

use super::Typed;
use super::expression::{cast, exact};
use super::operator::over;
use super::operators::{sample::Sampled, set_rows::SetRows, table::Calls};
use super::stored::load;
use super::{Handle, Lowering, bulk, own_name, place, projected, schema_of};
use crate::barrier;
use crate::error::{Error, Result};
use crate::scan::StoredTable;
use crate::values::convert::is_held_as_text;

impl Lowering {
    /// The plan of DataFusion for a node and all below it.
    pub(super) fn plan(&self, plan: &Plan) -> Result<LogicalPlan> {
        if let Some(joined) = self.without_subqueries(plan)? {
            // The new nodes may lie where others were.
            self.failed.borrow_mut().clear();
            return self.plan(&joined);
        }
        if let Some(rows) = bulk::part_of(self, plan)? {
            return Ok(rows);
        }
        match plan {
            Plan::Values { columns, rows } => self.values(columns, rows),
            Plan::Scan {
                relation,
                alias,
                columns,
                sample,
            } => self.scan(relation, alias, columns, sample.as_ref()),
            Plan::Functions { calls, ordinality } => self.functions(calls, ordinality.as_ref()),
            Plan::Filter { input, condition } => {
                if let Some(rows) = self.not_in(input, condition)? {
                    return Ok(rows);
                }
                let input = self.plan(input)?;
                let condition = self.condition(condition)?;
                filtered(condition, input)
            }
            Plan::Project { input, items } => self.project(input, items),
            Plan::ProjectSet { input, items } => self.project_set(input, items),
            Plan::Join {
                kind,
                left,
                right,
                condition,
                lateral,
            } => self.join(*kind, left, right, condition.as_ref(), *lateral),
            Plan::Aggregate {
                input,
                keys,
                sets,
                calls,
                grouping,
            } => self.aggregate(input, keys, sets.as_deref(), calls, grouping),
            Plan::Window { input, calls } => self.window(input, calls),
            Plan::Sort { input, keys } => self.sort(input, keys),
            Plan::Limit {
                input,
                limit,
                offset,
                ties,
                percent,
            } => {
                let cut = (limit.as_ref(), offset.as_ref());
                self.limit(input, cut, ties.as_deref(), *percent)
            }
            Plan::Distinct { input, on } => self.distinct(input, on.as_deref()),
            Plan::Set {
                kind,
                all,
                inputs,
                columns,
            } => self.set(*kind, *all, inputs, columns),
            Plan::With { ctes, body } => self.with(ctes, body),
            Plan::CteScan { id, name, columns } => self.cte_scan(*id, name, columns),
            Plan::Recursion { id, name, columns } => self.recursion(*id, name, columns),
            Plan::Barrier { input } => Ok(barrier::barred(self.plan(input)?)),
        }
    }

    fn values(&self, columns: &[Column], rows: &[Vec<Bound>]) -> Result<LogicalPlan> {
        let kinds = columns.iter().map(|column| column.ty.arrow());
        let schema = schema_of(self.named(columns, kinds))?;
        if columns.is_empty() || rows.is_empty() {
            return Ok(LogicalPlan::EmptyRelation(EmptyRelation {
                produce_one_row: !rows.is_empty(),
                schema,
            }));
        }
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            let row = row.iter().zip(columns);
            let row = row.map(|(expr, column)| exact(self.expr(expr)?, &column.ty));
            values.push(row.collect::<Result<Vec<Expr>>>()?);
        }
        Ok(LogicalPlan::Values(Values { schema, values }))
    }

    fn scan(
        &self,
        relation: &Relation,
        alias: &str,
        columns: &[(Column, usize)],
        sample: Option<&Sample>,
    ) -> Result<LogicalPlan> {
        let handle = relation.handle.downcast_ref::<Handle>();
        let Some(Handle { provider, .. }) = handle else {
            let name = &relation.name;
            return Err(Error::internal(format!("\"{name}\" has no rows to read")));
        };
        let columns: Vec<_> = columns.iter().map(|(c, at)| (c, *at)).collect();
        let source = provider_as_source(Arc::clone(provider));
        let table = self.table_name(alias);
        let scan = TableScanBuilder::new(table.clone(), source).build()?;
        let plan = LogicalPlan::TableScan(scan);
        let stored = provider.downcast_ref::<StoredTable>();
        let dimensions = |at: usize| {
            let column = stored.and_then(|stored| stored.parts().0.schema.columns.get(at));
            match column.map(|column| &column.kind) {
                Some(ColumnType::Array { dims, .. }) => *dims,
                _ => 0,
            }
        };
        let plan = self.found_in(plan, &table, &columns, &dimensions)?;
        match sample {
            Some(sample) => self.sampled(plan, &columns, sample),
            None => Ok(plan),
        }
    }

    /// A name for a table that no other in the plan has.
    pub(super) fn table_name(&self, alias: &str) -> TableReference {
        let mut names = self.names.borrow_mut();
        let mut name = alias.to_owned();
        let mut number = 1;
        while !names.insert(name.clone()) {
            number += 1;
            name = format!("{alias}_{number}");
        }
        TableReference::bare(name)
    }

    /// Says where columns of a scan are found, by their positions; those that are held in
    /// another Arrow type are cast. Columns of arrays have some number of dimensions.
    pub(super) fn found_in(
        &self,
        plan: LogicalPlan,
        table: &TableReference,
        columns: &[(&Column, usize)],
        dimensions: &dyn Fn(usize) -> u8,
    ) -> Result<LogicalPlan> {
        let mut exprs = Vec::with_capacity(columns.len());
        let mut differs = false;
        for (column, at) in columns {
            let schema = plan.schema();
            if *at >= schema.fields().len() {
                return Err(Error::internal(format!("{table} has no column {at}")));
            }
            let field = schema.field(*at);
            let held = field.data_type();
            let expr = Expr::Column(Place::new(Some(table.clone()), field.name()));
            let wanted = column.ty.arrow();
            let same =
                *held == wanted || matches!(column.ty, Type::Numeric(_)) && held.is_decimal();
            if same {
                exprs.push(expr.clone());
                self.found(column.id, expr, held.clone());
                continue;
            }
            let name = own_name(column);
            let value = match dimensions(*at) {
                0 | 1 => of_column(expr, held, &column.ty),
                several => Typed::new(load(expr, &column.ty, several), wanted.clone()),
            };
            exprs.push(value.expr.alias(&name));
            self.found(column.id, place(&name), wanted);
            differs = true;
        }
        match differs {
            true => projected(exprs, plan),
            false => Ok(plan),
        }
    }

    fn sampled(
        &self,
        plan: LogicalPlan,
        columns: &[(&Column, usize)],
        sample: &Sample,
    ) -> Result<LogicalPlan> {
        let number = |expr: &Bound| -> Result<Option<f64>> {
            let value = self.constant(expr)?;
            let kind = DataType::Float64;
            let value = crate::values::with_kind(value, &kind)?;
            Ok(super::operators::number(&value))
        };
        let percent = number(&sample.percent)?;
        let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
        let percent = percent
            .ok_or_else(|| Error::new("2202H", "sample percentage must be between 0 and 100"))?;
        let seed = match &sample.seed {
            Some(seed) => Some(number(seed)?.ok_or_else(|| {
                Error::new("2202G", "TABLESAMPLE REPEATABLE parameter cannot be null")
            })?),
            None => None,
        };
        let kept: Vec<Column> = columns
            .iter()
            .map(|(column, _)| Column::clone(column))
            .filter(|column| self.is_used(column.id))
            .collect();
        let input = self.exactly(&kept, plan)?;
        let kinds = kept.iter().map(|column| column.ty.arrow());
        let schema = schema_of(self.named(&kept, kinds))?;
        let operator = Sampled::new(percent / 100.0, seed, sample.system);
        Ok(over(operator, vec![input], schema))
    }

    /// The value of an expression that reads no column.
    pub(super) fn constant(&self, expr: &Bound) -> Result<datafusion::arrow::array::ArrayRef> {
        Ok(super::evaluated::values(expr, &[], &[], 1, &self.around)?.array)
    }

    fn functions(
        &self,
        calls: &[freestone_frontend::plan::TableCall],
        ordinality: Option<&Column>,
    ) -> Result<LogicalPlan> {
        let columns = calls.iter().flat_map(|call| call.columns.iter().cloned());
        let columns: Vec<Column> = columns.chain(ordinality.cloned()).collect();
        let kinds = columns.iter().map(|column| column.ty.arrow());
        let schema = schema_of(self.named(&columns, kinds))?;
        let operator = Calls::new(calls, ordinality.is_some(), self.around.clone());
        Ok(over(operator, Vec::new(), schema))
    }

    fn project(&self, input: &Plan, items: &[(Column, Bound)]) -> Result<LogicalPlan> {
        let input = self.plan(input)?;
        let used = |(column, _): &&(Column, Bound)| self.is_used(column.id);
        let names: HashMap<String, ColumnId> = items
            .iter()
            .filter(used)
            .map(|(column, _)| (own_name(column), column.id))
            .collect();
        let mut seen = HashSet::new();
        let mut exprs = Vec::with_capacity(items.len());
        for (column, expr) in items.iter().filter(used) {
            let typed = self.expr(expr)?;
            // A column keeps its name unless it is that of another one here.
            let is_free = |name: &str| names.get(name).is_none_or(|id| *id == column.id);
            let expr = match typed.expr {
                Expr::Column(place) if is_free(&place.name) && seen.insert(place.clone()) => {
                    let expr = Expr::Column(place);
                    self.found(column.id, expr.clone(), typed.kind);
                    expr
                }
                other => {
                    let name = own_name(column);
                    self.found(column.id, place(&name), typed.kind);
                    other.alias(name)
                }
            };
            exprs.push(expr);
        }
        match exprs.is_empty() {
            true => Ok(input),
            false => projected(exprs, input),
        }
    }

    fn project_set(&self, input: &Plan, items: &[SetItem]) -> Result<LogicalPlan> {
        let below = self.plan(input)?;
        let mut exprs = Vec::new();
        let mut add = |expr: &Bound, name: String| -> Result<usize> {
            exprs.push(exact(self.expr(expr)?, &expr.ty)?.alias(name));
            Ok(exprs.len() - 1)
        };
        let mut parts = Vec::with_capacity(items.len());
        let mut columns = Vec::new();
        for item in items {
            match item {
                SetItem::Value(column, expr) => {
                    let at = add(expr, format!("value {}", column.id.0))?;
                    parts.push(super::operators::set_rows::Part::Value(at));
                    columns.push(column.clone());
                }
                SetItem::Rows(call) => {
                    let mut places = Vec::with_capacity(call.arguments.len());
                    for argument in &call.arguments {
                        places.push(add(
                            argument,
                            format!("argument {}.{}", parts.len(), places.len()),
                        )?);
                    }
                    columns.extend(call.columns.iter().cloned());
                    parts.push(super::operators::set_rows::Part::rows(call, places));
                }
            }
        }
        // A row without columns still counts.
        let input = match exprs.is_empty() {
            true => below,
            false => projected(exprs, below)?,
        };
        let kinds = columns.iter().map(|column| column.ty.arrow());
        let schema = schema_of(self.named(&columns, kinds))?;
        let operator = SetRows::new(parts, self.around.clone());
        Ok(over(operator, vec![input], schema))
    }
}

/// Rows for which a condition is TRUE.
pub(super) fn filtered(condition: Expr, input: LogicalPlan) -> Result<LogicalPlan> {
    let filter = Filter::try_new(condition, Arc::new(input))?;
    Ok(LogicalPlan::Filter(filter))
}

/// A column that stands somewhere in an Arrow type, as one of a type of the front.
pub(super) fn of_column(place: Expr, held: &DataType, ty: &Type) -> Typed {
    let wanted = ty.arrow();
    if *held == wanted || matches!(ty, Type::Numeric(_)) && held.is_decimal() {
        return Typed::new(place, held.clone());
    }
    // Tables of the catalog have lists where the front has arrays.
    let is_list = matches!((held, ty), (DataType::List(_), Type::Array(_)));
    let value = match is_list || *held == DataType::Utf8View && is_held_as_text(ty) {
        true => load(place, ty, 1),
        false => cast(place, &wanted),
    };
    Typed::new(value, wanted)
}
