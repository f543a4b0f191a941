//! Scans of tables, and what operators above ask of them.
//!
//! A [`Filter`] is a hint: it may drop rows that nobody wants, and whoever has made it
//! tests every row that comes.

use crate::Result;
use crate::context::Context;
use crate::expression::Expression;
use crate::join::KeyTest;
use crate::plan::{Metrics, Table};
use crate::vector::BATCH_ROWS;
use freestone_storage::{ArrayForm, CompareOp, Predicate, Scan, ScanRequest, Value, ValueTest};
use std::sync::Arc;

/// What is asked of a column of the plan below.
#[derive(Clone)]
pub(crate) struct Filter {
    pub column: usize,
    pub test: Test,
}

#[derive(Clone)]
pub(crate) enum Test {
    /// To be among the keys of a join.
    Keys(Arc<KeyTest>),
    /// Not to lie behind the first rows of an order.
    First(Arc<dyn ValueTest>),
}

impl Context<'_> {
    /// A scan of the rows of a table, those of the range that is computed.
    pub(crate) fn scan(
        &self,
        table: &Table,
        metrics: &Metrics,
        filters: &[Filter],
    ) -> Result<Arc<Scan>> {
        let counters = self.counters.begin(table);
        let scan = table.table.scan(&ScanRequest {
            projection: table.projection.clone(),
            predicate: self.predicate(table),
            batch_rows: if self.batch_rows == 0 {
                BATCH_ROWS
            } else {
                self.batch_rows
            },
            view: match self.moment {
                Some(moment) => moment.read_view(table.table.id),
                None => table.view.clone(),
            },
            form: ArrayForm::Compact,
            metrics: Some(counters.clone()),
            row_ids: table.row_ids,
            limit: table.limit,
            top: table.top,
            ..ScanRequest::default()
        })?;
        let mut within = Vec::new();
        for filter in filters {
            let Some(column) = table.projection.get(filter.column).copied() else {
                continue;
            };
            let mut bound = |op, value: i64| {
                let value = Value::Int(value.into());
                within.push(Predicate::Compare { column, op, value });
            };
            match &filter.test {
                Test::Keys(test) => {
                    bound(CompareOp::GtEq, test.least);
                    bound(CompareOp::LtEq, test.greatest);
                    scan.filter_values(column, test.clone());
                }
                Test::First(test) => scan.filter_values(column, test.clone()),
            }
        }
        if !within.is_empty() {
            scan.tighten(&Predicate::And(within))?;
        }
        self.counters.watch(table, &scan);
        *metrics.scan.lock() = Some(counters);
        Ok(scan)
    }

    /// Which rows of a table are wanted.
    fn predicate(&self, table: &Table) -> Option<Predicate> {
        let mut terms: Vec<Predicate> = table.predicate.iter().cloned().collect();
        if let Some(bounds) = self.bounds {
            bounds.add_terms(table, &mut terms);
        }
        match terms.len() {
            0 | 1 => terms.pop(),
            _ => Some(Predicate::And(terms)),
        }
    }
}

/// Those filters that are keys of a join.
pub(crate) fn by_keys(filters: &[Filter]) -> Vec<Filter> {
    let filters = filters.iter();
    let keys = filters.filter(|filter| matches!(filter.test, Test::Keys(_)));
    keys.cloned().collect()
}

/// Filters for the columns that some expressions are.
pub(crate) fn through<'e>(
    filters: &[Filter],
    expressions: impl Iterator<Item = &'e Expression> + Clone,
) -> Vec<Filter> {
    let below = |filter: &Filter| match expressions.clone().nth(filter.column)? {
        Expression::Column(column) => Some(Filter {
            column: *column,
            test: filter.test.clone(),
        }),
        _ => None,
    };
    filters.iter().filter_map(below).collect()
}
