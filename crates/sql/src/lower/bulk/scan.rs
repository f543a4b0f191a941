//! Tables, and the conditions on them.
//!
//! Terms of a condition that storage decides become the scan's predicate; the others are tested
//! of the rows that it leaves. Columns that are held in another form than the front has are
//! converted after that:
//!
//! ```text
//! Filter id#2 > 7 and note#3 ~ 'a'     project [id:2, real(price:1)]
//!   Scan t [price#1, id#2, note#3]       filter note:3 ~ 'a'
//!                                          scan t [price:1, id:2, note:3], id > 7
//! ```
//!
//! A partition whose bounds contradict the predicate gives no rows and is not read.

use std::sync::Arc;

use arrow::datatypes::DataType;
use freestone_frontend::plan::{Column, Expr as Bound, Plan};
use freestone_frontend::types::Type;
use freestone_storage::{ColumnType, Predicate, TableSchema};

use super::super::expression::balanced;
use super::super::outside::source::held;
use super::super::stored::{self, load, of_column};
use super::super::{Handle, own_name, place};
use super::outside::leaf;
use super::{Added, Bulk, Part, field};
use crate::engine::{Found, Scope, filtered, table, united};
use crate::error::{Error, Result};
use crate::expression::{Expr, Operator};
use crate::scan::predicate_of;
use crate::source::Source;

/// Rows that a relation is taken to have of which nothing is known.
const ROWS: f64 = 1000.0;

/// A column that a plan reads of a table.
struct Read<'a> {
    column: &'a Column,
    /// Its place in the table.
    at: usize,
    /// The name under which the scan gives it.
    name: String,
    /// The type in which it is held.
    kind: DataType,
    /// Its values as the front has them, if it is held in another form.
    converted: Option<Expr>,
}

impl Bulk<'_> {
    /// The rows of a relation for which some terms are TRUE. Nodes that have been turned have the
    /// terms.
    pub(super) fn scan(&self, plan: &Plan, terms: &[&Bound]) -> Result<Part> {
        let Plan::Scan {
            relation,
            columns,
            sample,
            ..
        } = plan
        else {
            return Err(Error::internal("a scan that is none"));
        };
        let handle = relation.handle.downcast_ref::<Handle>();
        let Some(Handle { source, .. }) = handle else {
            let name = &relation.name;
            return Err(Error::internal(format!("\"{name}\" has no rows to read")));
        };
        let Some(stored) = source.stored() else {
            return self.read(plan, source, terms);
        };
        let schema = &stored.parts().0.schema;
        let mut used = Vec::with_capacity(columns.len());
        for (column, at) in columns {
            if !self.lowering.is_used(column.id) {
                continue;
            }
            let kind = match schema.columns.get(*at) {
                Some(of) => of.kind.arrow(),
                None if stored.has_row_ids() => DataType::UInt64,
                None => {
                    let name = &relation.name;
                    return Err(Error::internal(format!("{name} has no column {at}")));
                }
            };
            let wanted = column.ty.arrow();
            let number = matches!(column.ty, Type::Numeric(_)) && kind.is_decimal();
            if kind == wanted || number {
                used.push(Read {
                    column,
                    at: *at,
                    name: self.find(column, &kind),
                    kind,
                    converted: None,
                });
                continue;
            }
            // Until it is converted, conditions read it where it is held.
            let own = own_name(column);
            self.name(&own, column.id);
            let name = format!("{own}:held");
            let value = match dimensions(schema, *at) {
                0 | 1 => of_column(place(&name), &kind, &column.ty).expr,
                _ => load(place(&name), &column.ty),
            };
            self.lowering.found(column.id, value.clone(), wanted);
            used.push(Read {
                column,
                at: *at,
                name,
                kind,
                converted: Some(value),
            });
        }
        let find = |name: &str| {
            let read = used.iter().find(|read| read.name == name)?;
            // Storage decides nothing of row ids.
            (read.at < schema.columns.len()).then_some(read.at)
        };
        let (mut predicates, mut rest, mut read) = (Vec::new(), Vec::new(), Vec::new());
        let mut tested = Vec::new();
        for term in terms {
            let condition = self.lowering.condition(term)?;
            match predicate_of(schema, &find, &condition) {
                Some(predicate) => predicates.push(predicate),
                None => {
                    read.extend(term.reads());
                    tested.push(*term);
                    rest.push(condition);
                }
            }
        }
        let mut found = Found::new();
        let (mut projection, mut row_ids) = (Vec::new(), false);
        // Row ids come last.
        let (own, ids): (Vec<&Read<'_>>, Vec<&Read<'_>>) =
            used.iter().partition(|one| one.at < schema.columns.len());
        for one in own.into_iter().chain(ids) {
            let is_read = match one.converted {
                Some(_) => self.is_read(&own_name(one.column)),
                None => self.is_read(&one.name),
            };
            if is_read || read.contains(&one.column.id) {
                let field = field(&one.name, one.kind.clone());
                found.insert(one.name.clone(), (projection.len(), field));
                match one.at < schema.columns.len() {
                    true => projection.push(one.at),
                    false => row_ids = true,
                }
            }
        }
        let predicate = match predicates.len() {
            0 | 1 => predicates.pop(),
            _ => Some(Predicate::And(predicates)),
        };
        let is_empty = predicate.as_ref().is_some_and(|p| stored.excludes(p));
        // A sample is drawn by row ids.
        row_ids |= sample.is_some();
        let mut rows = table(stored, (projection, row_ids), predicate, self.weighs)?;
        if is_empty {
            rows = united(Vec::new(), rows.plan.types);
        }
        if let Some(condition) = balanced(rest, Operator::And) {
            let condition = Scope::over(&found).expr(&condition)?;
            rows = filtered(rows, condition);
            rows.plan.about = Some(self.about(tested));
        }
        let mut part = Part { rows, found };
        if let Some(sample) = sample {
            let ids = part.rows.plan.types.len() - 1;
            part = self.sampled(part, ids, sample)?;
        }
        self.converted(part, schema, &used)
    }

    /// The rows of a relation that is not stored for which some terms are TRUE.
    fn read(&self, plan: &Plan, source: &Arc<Source>, terms: &[&Bound]) -> Result<Part> {
        let Plan::Scan {
            relation, columns, ..
        } = plan
        else {
            return Err(Error::internal("a scan that is none"));
        };
        let schema = source.schema();
        let used = columns.iter();
        let used = used.filter(|(column, _)| self.lowering.is_used(column.id));
        let used: Vec<&(Column, usize)> = used.collect();
        let (mut kinds, mut found) = (Vec::with_capacity(used.len()), Found::new());
        for (column, at) in &used {
            let name = format!("{}:held", own_name(column));
            let kind = schema
                .fields()
                .get(*at)
                .map(|field| held(field.data_type()));
            let kind = kind
                .ok_or_else(|| Error::internal(format!("{} has no column {at}", relation.name)))?;
            found.insert(name.clone(), (kinds.len(), field(&name, kind.clone())));
            kinds.push(kind.clone());
        }
        let estimate = source.rows().map_or(ROWS, |rows| rows as f64);
        let rows = super::super::outside::source::Read {
            source: Arc::clone(source),
            name: relation.name.clone(),
            projection: used.iter().map(|(_, at)| *at).collect(),
        };
        let part = Part {
            rows: leaf(rows, kinds.clone(), estimate),
            found,
        };
        let scope = Scope::over(&part.found);
        let mut add = Added::default();
        for ((column, _), kind) in used.iter().zip(&kinds) {
            let held = place(&format!("{}:held", own_name(column)));
            let value = of_column(held, kind, &column.ty);
            let expression = scope.expr(&value.expr)?;
            add.push(self.find(column, &value.kind), expression, value.kind);
        }
        let Part { mut rows, found } = add.part(part.rows);
        let conditions = terms.iter().map(|term| self.lowering.condition(term));
        let conditions = conditions.collect::<Result<Vec<_>>>()?;
        if let Some(condition) = balanced(conditions, Operator::And) {
            let condition = Scope::over(&found).expr(&condition)?;
            rows = filtered(rows, condition);
            rows.plan.about = Some(self.about(terms.iter().copied()));
        }
        Ok(Part { rows, found })
    }

    /// The rows with the columns that are held in another form as the front has them.
    fn converted(&self, part: Part, schema: &TableSchema, used: &[Read<'_>]) -> Result<Part> {
        if used.iter().all(|read| read.converted.is_none()) {
            return Ok(part);
        }
        let scope = Scope::over(&part.found);
        let mut add = Added::over(self, &part);
        for read in used {
            let Some(value) = &read.converted else {
                continue;
            };
            let wanted = read.column.ty.arrow();
            let name = self.find(read.column, &wanted);
            if !self.is_read(&name) {
                continue;
            }
            let expression = scope.expr(value)?;
            let field = stored::marked(&name, wanted, dimensions(schema, read.at));
            add.push_field(name, expression, field);
        }
        Ok(add.part(part.rows))
    }
}

/// How many dimensions the arrays of a column have; 0 if it has none.
fn dimensions(schema: &TableSchema, column: usize) -> u8 {
    match schema.columns.get(column).map(|column| &column.kind) {
        Some(ColumnType::Array { dims, .. }) => *dims,
        _ => 0,
    }
}
