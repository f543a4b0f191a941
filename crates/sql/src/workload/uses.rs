//! What a plan asks of each table: the usages that the workload record keeps, and that
//! predictions are made of.

use std::sync::Arc;

use freestone_exec::expression::Expression;
use freestone_exec::{Node, Plan};
use freestone_model::{Run, Test, Tested, Usage};
use freestone_storage::{CompareOp, Predicate, ScanRequest, Table};

use crate::engine::Pipelines;
use crate::error::Result;
use crate::scan::selectivity;

/// What a plan asks of a table at one of its places.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) table: Arc<Table>,
    pub(crate) usage: Usage,
    /// Columns whose values it reads, and the condition.
    projection: Vec<usize>,
    predicate: Option<Predicate>,
    /// What the planner expects of a run; its seconds are not known.
    pub(crate) expected: Run,
}

/// Everything that a plan reads from tables.
pub(crate) fn uses(plan: &Pipelines) -> Vec<Use> {
    let mut found = Vec::new();
    trace(plan.plan(), &mut found);
    found
}

/// Adds a use; returns where the columns come from that it reads.
fn scanned(used: Use, projection: &[usize], found: &mut Vec<Use>) -> Vec<Origin> {
    let place = found.len();
    let columns = used.table.schema.columns.len();
    found.push(used);
    // Row ids are of no column.
    let origin = |column: &usize| (*column < columns).then_some((place, *column));
    projection.iter().map(origin).collect()
}

impl Use {
    pub(super) fn of(
        table: &Arc<Table>,
        projection: &[usize],
        predicate: Option<&Predicate>,
    ) -> Self {
        let columns = &table.schema.columns;
        let name = |column: usize| columns.get(column).map(|column| column.name.clone());
        let mut read: Vec<String> = projection.iter().filter_map(|at| name(*at)).collect();
        read.sort();
        read.dedup();
        let mut used = Self {
            table: Arc::clone(table),
            projection: projection.to_vec(),
            predicate: predicate.cloned(),
            usage: Usage {
                read,
                ..Usage::default()
            },
            expected: Run {
                selected: 1.0,
                scanned: 1.0,
                ..Run::default()
            },
        };
        let facts = table.statistics().ok();
        let share = |term: &Predicate| facts.map_or(1.0, |facts| selectivity(facts, term));
        for (column, test, term) in predicate.map(conditions).unwrap_or_default() {
            let Some(column) = name(column) else { continue };
            used.usage.tested.push(Tested { column, test });
            used.expected.shares.push(share(&term));
        }
        if let Some(predicate) = predicate {
            used.expected.selected = share(predicate);
        }
        used
    }
}

impl Use {
    /// The share of the blocks that it reads of which not all it needs is in memory.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if a block cannot be opened.
    pub(crate) fn cold_share(&self) -> Result<f64> {
        let columns = self.table.schema.columns.len();
        let stored = self.projection.iter().copied();
        let scan = self.table.scan(&ScanRequest {
            projection: stored.filter(|column| *column < columns).collect(),
            predicate: self.predicate.clone(),
            ..ScanRequest::default()
        })?;
        Ok(scan.cold_share()?)
    }
}

/// The conditions of a conjunction by column, those of one column as one.
fn conditions(predicate: &Predicate) -> Vec<(usize, Test, Predicate)> {
    let mut found: Vec<(usize, Test, Predicate)> = Vec::new();
    let terms = match predicate {
        Predicate::And(terms) => terms.as_slice(),
        one => std::slice::from_ref(one),
    };
    for term in terms {
        let mut columns = Vec::new();
        term.columns(&mut columns);
        let test = match columns.as_slice() {
            [_] => test_of(term),
            _ => Test::Other,
        };
        for column in columns {
            match found.iter_mut().find(|(known, _, _)| *known == column) {
                Some((_, kind, all)) => {
                    *kind = together(*kind, test);
                    match all {
                        Predicate::And(terms) => terms.push(term.clone()),
                        one => *one = Predicate::And(vec![one.clone(), term.clone()]),
                    }
                }
                None => found.push((column, test, term.clone())),
            }
        }
    }
    found.sort_by_key(|(column, _, _)| *column);
    found
}

/// Two conditions on one column: the one that finds fewer rows leads.
fn together(one: Test, other: Test) -> Test {
    match (one, other) {
        (Test::Equal, _) | (_, Test::Equal) => Test::Equal,
        (Test::Range, _) | (_, Test::Range) => Test::Range,
        (one, other) if one == other => one,
        _ => Test::Other,
    }
}

/// What a condition on one column asks of it.
fn test_of(term: &Predicate) -> Test {
    match term {
        Predicate::Compare { op, .. } => match op {
            CompareOp::Eq => Test::Equal,
            CompareOp::NotEq => Test::Other,
            _ => Test::Range,
        },
        Predicate::In { negated: false, .. } => Test::Equal,
        Predicate::Prefix { .. } => Test::Range,
        Predicate::IsNotNull(_) => Test::Present,
        Predicate::IsNull(_) => Test::Absent,
        _ => Test::Other,
    }
}

/// Where a column of a plan comes from: a use, and a column of its table.
type Origin = Option<(usize, usize)>;

/// Adds the uses of a plan of our operators; returns where its columns come from.
fn trace(plan: &Plan, found: &mut Vec<Use>) -> Vec<Origin> {
    match &plan.node {
        Node::Table(table) => {
            let used = Use::of(&table.table, &table.projection, table.predicate.as_ref());
            scanned(used, &table.projection, found)
        }
        Node::Filter(input, _) | Node::Limit(input, _) | Node::Ranges(input, _) => {
            trace(input, found)
        }
        Node::Shared(input) => trace(input, found),
        Node::Project(input, expressions) => {
            let below = trace(input, found);
            let origin = |expression: &Expression| column_of(expression, &below);
            expressions.iter().map(origin).collect()
        }
        Node::Aggregate(input, grouping) => {
            let below = trace(input, found);
            let keys = grouping.keys.iter().map(|(key, _)| column_of(key, &below));
            let mut origins: Vec<Origin> = keys.collect();
            note(found, &origins, |usage| &mut usage.grouped);
            origins.resize(plan.types.len(), None);
            origins
        }
        Node::Sort(input, sorting) => {
            let below = trace(input, found);
            let keys = sorting.keys.iter();
            let keys = keys.map(|key| column_of(&key.expression, &below));
            note(found, &keys.collect::<Vec<_>>(), |usage| &mut usage.sorted);
            below
        }
        Node::Window(input, windowing) => {
            let below = trace(input, found);
            let keys = windowing.sorting.keys.iter();
            let keys: Vec<Origin> = keys.map(|key| column_of(&key.expression, &below)).collect();
            for call in &windowing.calls {
                let (partition, order) = keys.split_at(call.partition);
                note(found, partition, |usage| &mut usage.grouped);
                note(found, &order[..call.order], |usage| &mut usage.sorted);
            }
            let columns = windowing.columns.iter();
            let mut origins: Vec<Origin> = columns.map(|at| below[*at]).collect();
            origins.resize(plan.types.len(), None);
            origins
        }
        Node::Fold(..) | Node::Outside(_) => {
            for input in plan.inputs() {
                trace(input, found);
            }
            vec![None; plan.types.len()]
        }
        Node::Rows(_) | Node::Round(_) => vec![None; plan.types.len()],
        Node::Join(join) => {
            let build = trace(&join.build, found);
            let probe = trace(&join.probe, found);
            for (left, right, _) in &join.keys {
                let both = [column_of(left, &build), column_of(right, &probe)];
                note(found, &both, |usage| &mut usage.joined);
            }
            let mut origins = match join.kind.gives_pairs() {
                true => probe.into_iter().chain(build).collect(),
                false if plan.types.len() == build.len() => build,
                false => probe,
            };
            origins.resize(plan.types.len(), None);
            origins
        }
        Node::Union(inputs) => {
            for input in inputs {
                trace(input, found);
            }
            vec![None; plan.types.len()]
        }
    }
}

fn column_of(expression: &Expression, below: &[Origin]) -> Origin {
    match expression {
        Expression::Column(place) => below.get(*place).copied().flatten(),
        _ => None,
    }
}

/// Adds columns to a list of the usages that they belong to.
fn note(found: &mut [Use], origins: &[Origin], list: fn(&mut Usage) -> &mut Vec<String>) {
    for (place, column) in origins.iter().flatten() {
        let used = &mut found[*place];
        let name = &used.table.schema.columns[*column].name;
        let list = list(&mut used.usage);
        if !list.contains(name) {
            list.push(name.clone());
        }
    }
}
