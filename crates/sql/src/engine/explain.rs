//! Plans of the bulk engine as EXPLAIN shows them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use freestone_exec::{Node, Plan};

use crate::progress::ScanCounts;
use crate::scan::describe;

/// A plan as text, one operator a line; those below an operator stand further right.
pub(crate) fn explained(plan: &Plan) -> String {
    struct Shown<'a>(&'a Plan);
    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            level(self.0, 0, &mut Vec::new(), f)
        }
    }
    Shown(plan).to_string()
}

/// A shared plan is shown at the first of its places.
fn level(
    plan: &Plan,
    depth: usize,
    shared: &mut Vec<*const Plan>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut shown = false;
    if depth > 0 {
        write!(f, "\n{:width$}", "", width = 2 * depth)?;
    }
    match &plan.node {
        Node::Table(table) => {
            let schema = &table.table.schema;
            let columns = table.projection.iter();
            let columns = columns.map(|column| schema.columns[*column].name.as_str());
            let ids = table.row_ids.then_some("row id");
            let columns: Vec<&str> = columns.chain(ids).collect();
            write!(f, "scan {} [{}]", table.table.name, columns.join(", "))?;
            if let Some(predicate) = &table.predicate {
                write!(f, " where {}", describe(schema, predicate))?;
            }
            if let Some(limit) = table.limit {
                write!(f, ", limit {limit}")?;
            }
            if let Some(top) = &table.top {
                let order = if top.descending { "DESC" } else { "ASC" };
                let column = &schema.columns[top.column].name;
                write!(f, ", first {} by {column} {order}", top.rows)?;
            }
        }
        Node::Filter(..) => write!(f, "filter")?,
        Node::Project(_, expressions) => write!(f, "project {} columns", expressions.len())?,
        Node::Aggregate(_, grouping) => {
            let (keys, aggregates) = (grouping.keys.len(), grouping.aggregates.len());
            write!(f, "aggregate {aggregates} by {keys} keys")?;
        }
        Node::Fold(_, folding) => {
            write!(f, "fold {:?}", folding.folder)?;
            if folding.sets > 1 {
                write!(f, " of {} sets", folding.sets)?;
            }
        }
        Node::Join(join) => write!(f, "join {:?} on {} keys", join.kind, join.keys.len())?,
        Node::Sort(_, sorting) => {
            write!(f, "sort by {} keys", sorting.keys.len())?;
            cut(
                sorting.skip,
                sorting.fetch.map(|last| last.saturating_sub(sorting.skip)),
                f,
            )?;
        }
        Node::Window(_, windowing) => {
            let (calls, keys) = (windowing.calls.len(), windowing.sorting.keys.len());
            write!(f, "window {calls} by {keys} keys")?;
        }
        Node::Limit(_, limit) => {
            write!(f, "limit")?;
            cut(limit.skip, limit.fetch, f)?;
        }
        Node::Union(inputs) => write!(f, "union of {}", inputs.len())?,
        Node::Ranges(_, ranges) => write!(f, "in {} ranges", ranges.count())?,
        Node::Shared(input) => {
            let input = Arc::as_ptr(input);
            let place = shared.iter().position(|known| *known == input);
            shown = place.is_some();
            let number = place.unwrap_or_else(|| {
                shared.push(input);
                shared.len() - 1
            });
            write!(f, "shared plan {}", number + 1)?;
        }
        Node::Rows(rows) => {
            f.write_str(rows.name())?;
            more(&rows.describe(), f)?;
        }
        Node::Outside(outside) => {
            f.write_str(outside.operator.name())?;
            more(&outside.operator.describe(), f)?;
        }
        Node::Round(_) => f.write_str("rows of the round before")?,
    }
    more(plan.about.as_deref().unwrap_or_default(), f)?;
    write!(f, "  (about {:.0} rows", plan.estimate)?;
    let rows = plan.metrics.rows.load(Ordering::Relaxed);
    let spent = plan.metrics.nanoseconds.load(Ordering::Relaxed);
    if spent > 0 {
        write!(f, "; {rows} in {:.3} ms", spent as f64 / 1e6)?;
    }
    for (bytes, what) in [
        (&plan.metrics.memory, "bytes of memory"),
        (&plan.metrics.aside, "bytes set aside"),
    ] {
        let bytes = bytes.load(Ordering::Relaxed);
        if bytes > 0 {
            write!(f, ", {bytes} {what}")?;
        }
    }
    if let Some(scan) = &*plan.metrics.scan.lock() {
        for (name, value) in ScanCounts::of(scan).entries() {
            write!(f, ", {name}={value}")?;
        }
    }
    write!(f, ")")?;
    if shown {
        return Ok(());
    }
    plan.inputs()
        .into_iter()
        .try_for_each(|input| level(input, depth + 1, shared, f))
}

/// More about an operator, if there is something.
fn more(about: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match about {
        "" => Ok(()),
        about => write!(f, ": {about}"),
    }
}

/// Which rows come out.
fn cut(skip: usize, fetch: Option<usize>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if skip > 0 {
        write!(f, ", without the first {skip}")?;
    }
    match fetch {
        Some(fetch) => write!(f, ", {fetch} rows"),
        None => Ok(()),
    }
}
