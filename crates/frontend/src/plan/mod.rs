//! Typed expressions and the algebra of plans.
//!
//! Every column of every plan has a number that is its own in the statement
//! ([`ColumnId`]), so that an expression names it wherever it stands: in a sub-query a column
//! of the outer query is no other thing than its number, and a plan is *correlated* if it reads
//! numbers that nothing in it makes ([`Plan::free`]). Types are complete: every conversion is a
//! call.
//!
//! ```text
//! SELECT name FROM orders o WHERE total > (SELECT avg(total) FROM orders WHERE cust = o.cust)
//!
//! Project name#0
//!   Filter >(total#1, Scalar(Aggregate avg(total#4) #6 over Filter =(cust#5, cust#2) …))
//!     Scan orders [name#0, total#1, cust#2]
//! ```

mod expr;
mod mark;
mod walk;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::functions::{TableFunction, aggregates::Aggregate, windows::WindowFunction};
use crate::types::Type;

pub use expr::{Expr, ExprKind, Quantifier, Subquery, SubqueryKind};
pub use mark::Marked;

/// The number of a column, its own in the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);

/// A column of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its number.
    pub id: ColumnId,
    /// Its name, which need not be its own.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

impl Column {
    /// A reference to it.
    pub fn reference(&self) -> Expr {
        Expr::new(ExprKind::Column(self.id), self.ty.clone())
    }
}

/// A relation that the caller stores or computes: a table, a file, a catalogue's view.
#[derive(Clone)]
pub struct Relation {
    /// Its schema; empty for files.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its columns, with their types.
    pub columns: Vec<(String, Type)>,
    /// Columns that a query may name but `*` does not give, such as row ids; they come after
    /// the others.
    pub hidden: Vec<(String, Type)>,
    /// Positions of the columns of its primary key, if it has one.
    pub key: Vec<usize>,
    /// The number of the type of its rows in the catalog; 0 if it has none.
    pub number: i64,
    /// The caller's own handle of it.
    pub handle: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// Kinds of joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and rows of the left side without one.
    Left,
    /// Pairs, and rows of the right side without one.
    Right,
    /// Pairs, and rows of both sides without one.
    Full,
    /// Rows of the left side that have one.
    Semi,
    /// Rows of the left side that have none.
    Anti,
    /// Each row of the left side with the last row, in the right side's order, of those that
    /// the condition allows.
    AsOf,
    /// The same, and rows of the left side without one.
    AsOfLeft,
    /// Each row of the left side with the only one of the right side that the condition
    /// allows, or with NULLs; several are an error, as those of a scalar sub-query.
    Single,
    /// Rows of the left side, and a column of type BOOLEAN that tells whether the condition
    /// holds for any row of the right side, by three-valued logic: `x = ANY (SELECT …)`.
    /// Without a condition it tells whether there is a row.
    Mark(ColumnId),
}

impl JoinKind {
    /// Whether the right side's columns are columns of the join.
    pub fn gives_right(self) -> bool {
        !matches!(self, JoinKind::Semi | JoinKind::Anti | JoinKind::Mark(_))
    }

    /// The column that it adds.
    pub fn mark(self) -> Option<Column> {
        match self {
            JoinKind::Mark(id) => Some(Column {
                id,
                name: "mark".to_owned(),
                ty: Type::Bool,
            }),
            _ => None,
        }
    }
}

/// A key of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// The value.
    pub expr: Expr,
    /// Whether greater values come first.
    pub descending: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// A call of an aggregate.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    /// The aggregate.
    pub function: Arc<Aggregate>,
    /// Direct arguments of an ordered-set aggregate; they are constant in a group.
    pub direct: Vec<Expr>,
    /// Arguments, cast to the parameters' types; those of `WITHIN GROUP (ORDER BY …)` too.
    pub arguments: Vec<Expr>,
    /// Whether equal arguments count once.
    pub distinct: bool,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// The order in which rows come; of an ordered-set aggregate, that of WITHIN GROUP.
    pub order: Vec<SortKey>,
    /// Result type.
    pub returns: Type,
}

/// The function of a window call.
#[derive(Clone, Debug)]
pub enum WindowKind {
    /// A function of windows only.
    Function(Arc<WindowFunction>),
    /// An aggregate over the frame.
    Aggregate(Arc<Aggregate>),
}

/// Units of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnits {
    /// Rows.
    Rows,
    /// Distances of the order's value.
    Range,
    /// Groups of peers.
    Groups,
}

/// An end of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// The beginning of the partition, as a start; its end, as an end.
    Unbounded,
    /// The current row, or its first or last peer.
    Current,
    /// So far before the current row.
    Preceding(Expr),
    /// So far after it.
    Following(Expr),
}

/// Rows left out of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclude {
    /// None.
    NoOthers,
    /// The current row.
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// The current row's peers, but not itself.
    Ties,
}

/// A frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its units.
    pub units: FrameUnits,
    /// Its start.
    pub start: Bound,
    /// Its end.
    pub end: Bound,
    /// Rows left out of it.
    pub exclude: Exclude,
    /// For RANGE with a distance: the start's and the end's values for each row, computed of
    /// the only key of the order.
    pub start_value: Option<Expr>,
    /// See `start_value`.
    pub end_value: Option<Expr>,
}

/// A call of a function over a window.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// The function.
    pub kind: WindowKind,
    /// Arguments, cast to the parameters' types.
    pub arguments: Vec<Expr>,
    /// Whether rows with a NULL as first argument are passed over.
    pub ignore_nulls: bool,
    /// Whether equal arguments count once.
    pub distinct: bool,
    /// FILTER (WHERE …), of aggregates.
    pub filter: Option<Expr>,
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// The frame.
    pub frame: Frame,
    /// Result type.
    pub returns: Type,
}

impl WindowCall {
    /// Whether another call gives the same for each row.
    pub fn is_same(&self, other: &Self) -> bool {
        let kind = match (&self.kind, &other.kind) {
            (WindowKind::Function(one), WindowKind::Function(other)) => Arc::ptr_eq(one, other),
            (WindowKind::Aggregate(one), WindowKind::Aggregate(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        let values = self.arguments.iter().chain(&self.filter);
        let values = values.chain(&self.partition);
        let mut values = values.chain(self.order.iter().map(|key| &key.expr));
        kind && self.arguments == other.arguments
            && self.ignore_nulls == other.ignore_nulls
            && self.distinct == other.distinct
            && self.filter == other.filter
            && self.partition == other.partition
            && self.order == other.order
            && self.frame == other.frame
            && self.returns == other.returns
            && !values.any(Expr::is_volatile)
    }
}

/// Set operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// A call of a function that gives rows.
#[derive(Clone, Debug)]
pub struct TableCall {
    /// The function.
    pub function: Arc<TableFunction>,
    /// Arguments, cast to the parameters' types.
    pub arguments: Vec<Expr>,
    /// Its columns.
    pub columns: Vec<Column>,
}

/// An item of a [`Plan::ProjectSet`].
#[derive(Clone, Debug)]
pub enum SetItem {
    /// A value of the input's row, the same in all its rows.
    Value(Column, Expr),
    /// The rows of a function; NULL where another gives more of them.
    Rows(TableCall),
}

/// Numbers common table expressions in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CteId(pub u32);

/// A plan.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Rows that stand in the statement; one row without columns is `SELECT` without FROM.
    Values {
        /// Columns.
        columns: Vec<Column>,
        /// Rows; they may read columns of outer queries only.
        rows: Vec<Vec<Expr>>,
    },
    /// Rows of a relation.
    Scan {
        /// The relation.
        relation: Relation,
        /// The name that the statement gives it.
        alias: String,
        /// Columns that are read, with their positions in the relation, hidden ones after the
        /// others.
        columns: Vec<(Column, usize)>,
        /// TABLESAMPLE, as the share of rows from 0 to 1 and a seed; by blocks for SYSTEM.
        sample: Option<Sample>,
    },
    /// Rows of functions, side by side (`ROWS FROM`); shorter ones are filled up with NULL.
    /// Arguments may read columns of outer queries, as LATERAL.
    Functions {
        /// The calls.
        calls: Vec<TableCall>,
        /// WITH ORDINALITY.
        ordinality: Option<Column>,
    },
    /// Rows for which a condition is TRUE.
    Filter {
        /// Input.
        input: Box<Plan>,
        /// Condition.
        condition: Expr,
    },
    /// Values computed of each row.
    Project {
        /// Input.
        input: Box<Plan>,
        /// Columns and their values.
        items: Vec<(Column, Expr)>,
    },
    /// The rows that functions give for each row.
    ProjectSet {
        /// Input.
        input: Box<Plan>,
        /// Columns.
        items: Vec<SetItem>,
    },
    /// Pairs of rows.
    Join {
        /// Kind.
        kind: JoinKind,
        /// Left side.
        left: Box<Plan>,
        /// Right side; if `lateral`, it may read columns of the left side.
        right: Box<Plan>,
        /// Condition.
        condition: Option<Expr>,
        /// Whether the right side depends on the left one: a dependent join.
        lateral: bool,
    },
    /// Groups of rows.
    Aggregate {
        /// Input.
        input: Box<Plan>,
        /// Keys: columns of the result and their values.
        keys: Vec<(Column, Expr)>,
        /// Grouping sets as positions in `keys`; `None` for one set of all keys.
        sets: Option<Vec<Vec<usize>>>,
        /// Calls.
        calls: Vec<(Column, AggregateCall)>,
        /// GROUPING(…): columns of the result and the positions of keys they tell of.
        grouping: Vec<(Column, Vec<usize>)>,
    },
    /// Values computed over windows, added to each row.
    Window {
        /// Input.
        input: Box<Plan>,
        /// Calls.
        calls: Vec<(Column, WindowCall)>,
    },
    /// Rows in an order.
    Sort {
        /// Input.
        input: Box<Plan>,
        /// Keys.
        keys: Vec<SortKey>,
    },
    /// Some of the rows.
    Limit {
        /// Input.
        input: Box<Plan>,
        /// Most rows; NULL is no limit.
        limit: Option<Expr>,
        /// Rows passed over.
        offset: Option<Expr>,
        /// Whether peers of the last row come, too, by these keys.
        ties: Option<Vec<SortKey>>,
        /// Whether `limit` is a share of the rows, in percent.
        percent: bool,
    },
    /// Equal rows once.
    Distinct {
        /// Input.
        input: Box<Plan>,
        /// DISTINCT ON: the first row of each group of equal values, in the input's order.
        on: Option<Vec<Expr>>,
    },
    /// A set operation; sides have as many columns of the same types.
    Set {
        /// Operation.
        kind: SetKind,
        /// Whether rows keep their multiplicities.
        all: bool,
        /// Sides, two or more for UNION, two for the others.
        inputs: Vec<Plan>,
        /// Columns.
        columns: Vec<Column>,
    },
    /// Common table expressions that are computed once.
    With {
        /// Their numbers, names and plans, each of which may read those before it.
        ctes: Vec<Cte>,
        /// The rest of the statement.
        body: Box<Plan>,
    },
    /// The rows of a common table expression.
    CteScan {
        /// Its number.
        id: CteId,
        /// Its name.
        name: String,
        /// Columns here, and the columns of the expression's plan that they are.
        columns: Vec<(Column, ColumnId)>,
    },
    /// The rows of a recursive term's last round; in the recursive term only.
    Recursion {
        /// The number of the expression.
        id: CteId,
        /// Its name.
        name: String,
        /// Columns.
        columns: Vec<Column>,
    },
    /// A view whose reader may not see the rows under it: no condition that could tell of them
    /// goes below.
    Barrier {
        /// Input.
        input: Box<Plan>,
    },
}

/// TABLESAMPLE.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Whether blocks are drawn and not rows.
    pub system: bool,
    /// Share in percent; a constant.
    pub percent: Expr,
    /// REPEATABLE (seed); a constant.
    pub seed: Option<Expr>,
}

/// A common table expression.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Its number.
    pub id: CteId,
    /// Its name.
    pub name: String,
    /// How it is computed.
    pub body: CteBody,
    /// Whether it must be computed once, whoever reads it: AS MATERIALIZED.
    pub materialized: bool,
}

/// How a common table expression is computed.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a statement has few of them")]
pub enum CteBody {
    /// By a plan.
    Plan(Plan),
    /// By recursion.
    Recursive {
        /// The first rows.
        base: Plan,
        /// The rows of the next round; it reads the last one's by [`Plan::Recursion`]. Its
        /// columns are those of `base`, in order.
        step: Plan,
        /// Whether rows that came before are kept again: UNION ALL.
        all: bool,
        /// Columns of the whole.
        columns: Vec<Column>,
    },
}

impl CteBody {
    /// Its columns.
    pub fn columns(&self) -> Vec<Column> {
        match self {
            CteBody::Plan(plan) => plan.columns(),
            CteBody::Recursive { columns, .. } => columns.clone(),
        }
    }
}

impl Plan {
    /// One row without columns.
    pub fn one_row() -> Plan {
        Plan::Values {
            columns: Vec::new(),
            rows: vec![Vec::new()],
        }
    }

    /// Its columns.
    pub fn columns(&self) -> Vec<Column> {
        match self {
            Plan::Values { columns, .. }
            | Plan::Recursion { columns, .. }
            | Plan::Set { columns, .. } => columns.clone(),
            Plan::Scan { columns, .. } => columns.iter().map(|(c, _)| c.clone()).collect(),
            Plan::CteScan { columns, .. } => columns.iter().map(|(c, _)| c.clone()).collect(),
            Plan::Functions { calls, ordinality } => {
                let columns = calls.iter().flat_map(|call| call.columns.iter().cloned());
                columns.chain(ordinality.iter().cloned()).collect()
            }
            Plan::Filter { input, .. }
            | Plan::Sort { input, .. }
            | Plan::Limit { input, .. }
            | Plan::Distinct { input, .. }
            | Plan::Barrier { input } => input.columns(),
            Plan::Project { items, .. } => items.iter().map(|(c, _)| c.clone()).collect(),
            Plan::ProjectSet { items, .. } => items
                .iter()
                .flat_map(|item| match item {
                    SetItem::Value(column, _) => vec![column.clone()],
                    SetItem::Rows(call) => call.columns.clone(),
                })
                .collect(),
            Plan::Join {
                kind, left, right, ..
            } => {
                let mut columns = left.columns();
                if kind.gives_right() {
                    columns.extend(right.columns());
                }
                columns.extend(kind.mark());
                columns
            }
            Plan::Aggregate {
                keys,
                calls,
                grouping,
                ..
            } => {
                let keys = keys.iter().map(|(c, _)| c.clone());
                let calls = calls.iter().map(|(c, _)| c.clone());
                let grouping = grouping.iter().map(|(c, _)| c.clone());
                keys.chain(calls).chain(grouping).collect()
            }
            Plan::Window { input, calls } => {
                let mut columns = input.columns();
                columns.extend(calls.iter().map(|(c, _)| c.clone()));
                columns
            }
            Plan::With { body, .. } => body.columns(),
        }
    }
}
