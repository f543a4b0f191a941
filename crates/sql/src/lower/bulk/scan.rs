//! Tables, and the conditions on them.
//!
//! Terms of a condition that storage decides become the scan's predicate; the others are tested
//! of the rows that it leaves.

use datafusion::logical_expr::Operator;
use freestone_frontend::plan::{Column, Expr as Bound, Plan};
use freestone_frontend::types::Type;
use freestone_storage::Predicate;

use super::super::Handle;
use super::super::expression::balanced;
use super::{Bulk, Part, field};
use crate::engine::{Found, filtered, table};
use crate::error::Result;
use crate::scan::{StoredTable, predicate_of};

impl Bulk<'_> {
    /// The rows of a relation for which some terms are TRUE. Nodes that have been turned have the
    /// terms.
    pub(super) fn scan(&self, plan: &Plan, terms: &[&Bound]) -> Result<Option<Part>> {
        let Plan::Scan {
            relation,
            columns,
            sample: None,
            ..
        } = plan
        else {
            return Ok(None);
        };
        let handle = relation.handle.downcast_ref::<Handle>();
        let stored = handle.and_then(|handle| handle.provider.downcast_ref::<StoredTable>());
        let Some(stored) = stored.filter(|stored| stored.held().is_empty()) else {
            return Ok(None);
        };
        let schema = &stored.parts().0.schema;
        let used = columns.iter();
        let used = used.filter(|(column, _)| self.lowering.is_used(column.id));
        let used: Vec<(&Column, usize)> = used.map(|(column, at)| (column, *at)).collect();
        let mut names = Vec::with_capacity(used.len());
        for (column, at) in &used {
            let Some(kind) = schema.columns.get(*at).map(|of| of.kind.arrow()) else {
                return Ok(None);
            };
            let number = matches!(column.ty, Type::Numeric(_)) && kind.is_decimal();
            if kind != column.ty.arrow() && !number {
                return Ok(None);
            }
            names.push((self.find(column, &kind), kind));
        }
        let find = |name: &str| {
            let at = names.iter().position(|(known, _)| known == name)?;
            Some(used[at].1)
        };
        let (mut predicates, mut rest, mut read) = (Vec::new(), Vec::new(), Vec::new());
        for term in terms {
            let condition = self.lowering.condition(term)?;
            match predicate_of(schema, &find, &condition) {
                Some(predicate) => predicates.push(predicate),
                None => {
                    read.extend(term.reads());
                    rest.push(condition);
                }
            }
        }
        let mut found = Found::new();
        let mut projection = Vec::new();
        for ((column, at), (name, kind)) in used.into_iter().zip(names) {
            if self.is_read(&name) || read.contains(&column.id) {
                let field = field(&name, kind);
                found.insert(name, (projection.len(), field));
                projection.push(at);
            }
        }
        let predicate = match predicates.len() {
            0 | 1 => predicates.pop(),
            _ => Some(Predicate::And(predicates)),
        };
        let Some(mut rows) = table(stored, projection, predicate, self.weighs) else {
            return Ok(None);
        };
        if let Some(condition) = balanced(rest, Operator::And) {
            let Some(condition) = self.scope(&found).expr(&condition) else {
                return Ok(None);
            };
            rows = filtered(rows, condition);
        }
        Ok(Some(Part { rows, found }))
    }
}
