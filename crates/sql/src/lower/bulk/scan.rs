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

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, Operator};
use freestone_frontend::plan::{Column, Expr as Bound, Plan};
use freestone_frontend::types::Type;
use freestone_storage::{ColumnType, Predicate, TableSchema};

use super::super::expression::balanced;
use super::super::relation::of_column;
use super::super::stored::{self, load};
use super::super::{Handle, own_name, place};
use super::{Added, Bulk, Part, field};
use crate::engine::{Found, filtered, table, united};
use crate::error::Result;
use crate::scan::{StoredTable, predicate_of};

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
    pub(super) fn scan(&self, plan: &Plan, terms: &[&Bound]) -> Result<Option<Part>> {
        let Plan::Scan {
            relation,
            columns,
            sample,
            ..
        } = plan
        else {
            return Ok(None);
        };
        let handle = relation.handle.downcast_ref::<Handle>();
        let stored = handle.and_then(|handle| handle.provider.downcast_ref::<StoredTable>());
        let Some(stored) = stored else {
            return Ok(None);
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
                None => return Ok(None),
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
                several => load(place(&name), &column.ty, several),
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
        let Some(mut rows) = table(stored, (projection, row_ids), predicate, self.weighs) else {
            return Ok(None);
        };
        if is_empty {
            rows = united(Vec::new(), rows.plan.types);
        }
        if let Some(condition) = balanced(rest, Operator::And) {
            let Some(condition) = self.scope(&found).expr(&condition) else {
                return Ok(None);
            };
            rows = filtered(rows, condition);
            rows.plan.about = Some(self.about(tested));
        }
        let mut part = Part { rows, found };
        if let Some(sample) = sample {
            let ids = part.rows.plan.types.len() - 1;
            part = match self.sampled(part, ids, sample)? {
                Some(part) => part,
                None => return Ok(None),
            };
        }
        self.converted(part, schema, &used)
    }

    /// The rows with the columns that are held in another form as the front has them.
    fn converted(
        &self,
        part: Part,
        schema: &TableSchema,
        used: &[Read<'_>],
    ) -> Result<Option<Part>> {
        if used.iter().all(|read| read.converted.is_none()) {
            return Ok(Some(part));
        }
        let scope = self.scope(&part.found);
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
            let Some(expression) = scope.expr(value) else {
                return Ok(None);
            };
            let field = stored::marked(&name, wanted, dimensions(schema, read.at));
            add.push_field(name, expression, field);
        }
        Ok(Some(add.part(part.rows)))
    }
}

/// How many dimensions the arrays of a column have; 0 if it has none.
fn dimensions(schema: &TableSchema, column: usize) -> u8 {
    match schema.columns.get(column).map(|column| &column.kind) {
        Some(ColumnType::Array { dims, .. }) => *dims,
        _ => 0,
    }
}
