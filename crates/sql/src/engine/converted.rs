//! Plans of the bulk engine while they are built, with estimates.

use arrow::datatypes::DataType;
use freestone_exec::expression::Expression;
use freestone_exec::{Node, Plan, Table};
use freestone_storage::Predicate;

use super::sampled::Sampled;
use super::window::narrowed;
use crate::error::{Error, Result};
use crate::scan::{StoredTable, selectivity};

/// A plan with what is known of its columns, which are those of the logical plan.
pub(crate) struct Converted {
    pub(crate) plan: Plan,
    /// About how many different values each has.
    pub(crate) distinct: Vec<f64>,
    /// What it leaves of the sample of its table, if it is one with conditions.
    pub(crate) sampled: Option<Sampled>,
}

/// Share of rows that a condition leaves of which nothing is known.
const GUESS: f64 = 0.2;

impl Converted {
    /// About how many different values an expression has.
    pub(crate) fn distinct_of(&self, expression: &Expression) -> f64 {
        let rows = self.plan.estimate.max(1.0);
        let mut product = 1.0;
        expression.columns(&mut |column| {
            product *= self.distinct.get(column).copied().unwrap_or(rows);
        });
        product.clamp(1.0, rows)
    }
}

/// The places of as many columns in order.
pub(crate) fn places(columns: usize) -> Vec<usize> {
    (0..columns).collect()
}

/// Some columns of the rows of a table for which a predicate is TRUE. The ids of the rows come
/// last, if they are wanted. If they are weighed, the rows are estimated by a sample.
///
/// # Errors
/// Errors of reading what the table consists of.
pub(crate) fn table(
    stored: &StoredTable,
    (projection, row_ids): (Vec<usize>, bool),
    predicate: Option<Predicate>,
    weighs: bool,
) -> Result<Converted> {
    let (table, view) = stored.parts();
    let columns = table.schema.columns.len();
    if projection.iter().any(|column| *column >= columns) {
        let name = &table.name;
        return Err(Error::internal(format!("{name} has fewer columns")));
    }
    let facts = table.statistics()?;
    let sampled = match weighs {
        true => Sampled::of(table, &projection, predicate.as_ref()),
        false => None,
    };
    let guess = predicate.as_ref().map_or(1.0, |p| selectivity(facts, p));
    let share = sampled
        .as_ref()
        .map_or(guess, |sampled| sampled.share(guess));
    let all = match &sampled {
        Some(sampled) => sampled.rows(),
        None => (facts.rows + table.delta().rows()) as f64,
    };
    let rows = (all * share).max(1.0);
    let distinct = projection.iter().map(|column| {
        let known = facts.columns.get(*column);
        let known = known.map_or(rows, |known| known.distinct as f64);
        let distinct = match &sampled {
            Some(sampled) => sampled.distinct(*column, known),
            None => known,
        };
        distinct.clamp(1.0, rows)
    });
    let distinct = distinct.chain(row_ids.then_some(rows)).collect();
    let types = projection
        .iter()
        .map(|column| table.schema.columns[*column].kind.arrow());
    let types = types.chain(row_ids.then_some(DataType::UInt64)).collect();
    let node = Node::Table(Table {
        table: table.clone(),
        view: view.clone(),
        projection,
        predicate,
        row_ids,
        limit: None,
        top: None,
    });
    Ok(Converted {
        sampled,
        plan: Plan::new(node, types, rows),
        distinct,
    })
}

/// The rows of `input` for which a condition is TRUE.
pub(crate) fn filtered(input: Converted, condition: Expression) -> Converted {
    let before = input.plan.estimate;
    let sampled = input.sampled.as_ref();
    let sampled = sampled.and_then(|sampled| Some((sampled, sampled.filtered(&condition)?)));
    let rows = match &sampled {
        Some((before_it, after)) => before * (after.share(GUESS) / before_it.share(1.0)).min(1.0),
        None => before * GUESS,
    };
    let rows = rows.max(1.0);
    let types = input.plan.types.clone();
    Converted {
        sampled: sampled.map(|(_, after)| after),
        plan: Plan::new(Node::Filter(Box::new(input.plan), condition), types, rows),
        distinct: input
            .distinct
            .iter()
            .map(|distinct| distinct.min(rows))
            .collect(),
    }
}

/// Values computed of each row, of some types.
pub(crate) fn projected(
    input: Converted,
    expressions: Vec<Expression>,
    types: Vec<DataType>,
) -> Converted {
    let distinct = expressions.iter().map(|e| input.distinct_of(e)).collect();
    let (input, places) = narrowed(input, &expressions);
    let expressions = expressions.iter().map(|e| e.moved(&|at| places[at]));
    let expressions = expressions.collect();
    let rows = input.plan.estimate;
    let node = Node::Project(Box::new(input.plan), expressions);
    Converted {
        sampled: None,
        plan: Plan::new(node, types, rows),
        distinct,
    }
}
