//! Plans: trees of operators.

mod fold;
mod join;
mod outside;
mod ranges;
mod sort;
mod window;

pub use fold::{Folded, Folder, Folding};
pub use join::{Join, JoinKind};
pub use outside::{Again, Batches, Inside, Operator, Out, Outside, Rows, Working};
pub use ranges::Ranges;
pub use sort::{SortKey, Sorting};
pub use window::{
    Exclude, Frame, FrameBound, FrameUnit, Shift, WindowCall, WindowFunction, Windowing,
};

use crate::aggregate::Grouping;
use crate::expression::Expression;
use crate::limit::Limit;
use crate::spill::Page;

use arrow_schema::DataType;
use freestone_storage::{Predicate, ReadView, ScanMetrics, Top};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An operator over others.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The operator.
    pub node: Node,
    /// Types of its columns.
    pub types: Vec<DataType>,
    /// About how many rows it gives.
    pub estimate: f64,
    /// Its condition or values, as a plan is explained.
    pub about: Option<Arc<str>>,
    /// What it has done.
    pub metrics: Arc<Metrics>,
}

/// An operator.
#[derive(Clone, Debug)]
pub enum Node {
    /// Rows of a table.
    Table(Table),
    /// Rows for which a condition is TRUE.
    Filter(Box<Plan>, Expression),
    /// Values computed of each row.
    Project(Box<Plan>, Vec<Expression>),
    /// Groups of rows.
    Aggregate(Box<Plan>, Grouping),
    /// Groups of rows by functions of others; results come in any order.
    Fold(Box<Plan>, Folding),
    /// Pairs of rows.
    Join(Box<Join>),
    /// Rows in an order, or the first of them.
    Sort(Box<Plan>, Sorting),
    /// Functions over windows of the rows.
    Window(Box<Plan>, Windowing),
    /// Some of the rows; of an input in order the first.
    Limit(Box<Plan>, Limit),
    /// The rows of several plans, which have the same types.
    Union(Vec<Plan>),
    /// The rows of a plan, computed for one range of a column's values after the other.
    Ranges(Box<Plan>, Ranges),
    /// The rows of a plan that stands in several places, in no order. The first place that
    /// is run has all of them computed and kept until the run ends, for every other. Below
    /// [`Node::Ranges`], rows are kept for each range anew.
    Shared(Arc<Plan>),
    /// Rows that others have, in their order.
    Rows(Arc<dyn Rows>),
    /// The rows of an operator that others define.
    Outside(Box<Outside>),
    /// The rows of a round, by the number that the operator gives it which runs the plan.
    Round(usize),
}

/// A table to be scanned.
#[derive(Clone, Debug)]
pub struct Table {
    /// The table.
    pub table: Arc<freestone_storage::Table>,
    /// What the reader sees of it.
    pub view: ReadView,
    /// Which columns, in which order.
    pub projection: Vec<usize>,
    /// Which rows.
    pub predicate: Option<Predicate>,
    /// Whether their ids follow, as unsigned integers.
    pub row_ids: bool,
    /// How many rows are enough, if not all are wanted.
    pub limit: Option<usize>,
    /// The rows that are enough for the sort above.
    pub top: Option<Top>,
}

/// What an operator has done.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Rows it gave.
    pub rows: AtomicU64,
    /// Nanoseconds that threads spent in it.
    pub nanoseconds: AtomicU64,
    /// Bytes of memory that it held for rows and groups, the most of each thread together;
    /// where a thread computes one range after the other, that of its largest.
    pub memory: AtomicU64,
    /// Bytes of rows that it has set aside for want of memory.
    pub aside: AtomicU64,
    /// What its scan has done, if it is one; that of all ranges together.
    pub scan: Mutex<Option<Arc<ScanMetrics>>>,
}

impl Metrics {
    pub(crate) fn set_aside<'p>(&self, pages: impl Iterator<Item = &'p Page>) {
        let bytes: usize = pages.map(Page::bytes).sum();
        self.aside.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn held(&self, bytes: usize) {
        self.memory.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, rows: usize, since: std::time::Instant) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        let spent = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(spent, Ordering::Relaxed);
    }
}

impl Plan {
    /// An operator whose columns are of some types.
    pub fn new(node: Node, types: Vec<DataType>, estimate: f64) -> Plan {
        Plan {
            node,
            types,
            estimate,
            about: None,
            metrics: Arc::default(),
        }
    }

    /// The plans it reads.
    pub fn inputs(&self) -> Vec<&Plan> {
        match &self.node {
            Node::Table(_) | Node::Rows(_) | Node::Round(_) => Vec::new(),
            Node::Filter(input, _)
            | Node::Project(input, _)
            | Node::Aggregate(input, _)
            | Node::Fold(input, _)
            | Node::Sort(input, _)
            | Node::Window(input, _)
            | Node::Limit(input, _)
            | Node::Ranges(input, _) => vec![input.as_ref()],
            Node::Shared(input) => vec![input.as_ref()],
            Node::Join(join) => vec![&join.build, &join.probe],
            Node::Union(inputs) => inputs.iter().collect(),
            Node::Outside(outside) => {
                let inputs = std::iter::once(&outside.input).chain(&outside.beside);
                inputs.chain(outside.operator.inner()).collect()
            }
        }
    }

    /// The tables it reads, in the order of a walk that comes to a plan before its
    /// [inputs](Plan::inputs); those of a shared plan at each of its places.
    pub fn tables(&self) -> Vec<&Table> {
        match &self.node {
            Node::Table(table) => vec![table],
            Node::Rows(rows) => rows.table().into_iter().collect(),
            _ => self.inputs().into_iter().flat_map(Plan::tables).collect(),
        }
    }

    /// Whether it gives the same rows whenever it is run on the same tables.
    pub fn is_lasting(&self) -> bool {
        let lasts = match &self.node {
            Node::Rows(rows) => rows.is_lasting(),
            Node::Outside(outside) => outside.operator.is_lasting(),
            _ => true,
        };
        lasts && self.inputs().into_iter().all(Plan::is_lasting)
    }

    /// Whether rows that others have may be very many.
    pub fn may_be_many(&self) -> bool {
        let many = matches!(&self.node, Node::Rows(rows) if rows.may_be_many());
        many || self.inputs().into_iter().any(Plan::may_be_many)
    }

    /// Whether its rows come in an order, that of the sort nearest to it: [`run`] gives
    /// them to `out` batch by batch in that order, one call after the other, though not
    /// always from the same thread.
    ///
    /// [`run`]: crate::run
    pub fn is_ordered(&self) -> bool {
        match &self.node {
            Node::Sort(..) | Node::Rows(_) | Node::Round(_) => true,
            Node::Outside(outside) => outside.input.is_ordered(),
            Node::Filter(input, _) | Node::Project(input, _) | Node::Limit(input, _) => {
                input.is_ordered()
            }
            Node::Table(_)
            | Node::Aggregate(..)
            | Node::Fold(..)
            | Node::Window(..)
            | Node::Join(_)
            | Node::Union(_)
            | Node::Ranges(..)
            | Node::Shared(_) => false,
        }
    }
}
