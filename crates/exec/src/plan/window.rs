//! Functions over windows.

use super::{SortKey, Sorting};
use crate::aggregate::Function;
use crate::expression::Expression;
use arrow_schema::DataType;

/// Calls over windows that one order of the rows serves. Its columns are some of the input's
/// and then the results of the calls; rows come in any order.
#[derive(Clone, Debug)]
pub struct Windowing {
    /// Which columns of the input come out.
    pub columns: Vec<usize>,
    /// The keys that rows are sorted by: partitions and orders of calls are the first of
    /// them.
    pub sorting: Sorting,
    /// The calls.
    pub calls: Vec<WindowCall>,
}

/// A call of a function over windows.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCall {
    /// So many keys tell partitions apart.
    pub partition: usize,
    /// So many keys behind those are the order.
    pub order: usize,
    /// The function.
    pub function: WindowFunction,
    /// Which rows count, of aggregates: the place of a column of truth values.
    pub filter: Option<usize>,
    /// The rows that functions of frames look at.
    pub frame: Frame,
    /// Type of the result.
    pub kind: DataType,
}

/// A function over windows. Its arguments are the places of columns.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowFunction {
    /// The number of the row in its partition.
    RowNumber,
    /// The number of the first of its peers.
    Rank,
    /// How many groups of peers there are up to its own.
    DenseRank,
    /// The rank among the other rows, from 0 to 1.
    PercentRank,
    /// The share of rows up to the last of its peers.
    CumeDist,
    /// Which of so many parts of the partition, which are as long as one another.
    Tile(usize),
    /// The value of the row so many rows away.
    Shifted {
        /// Which value.
        value: usize,
        /// How far.
        by: Shift,
        /// Backwards, as `lag` has it.
        back: bool,
        /// The value where there is no such row, if not NULL.
        default: Option<usize>,
    },
    /// The value of the first row of the frame.
    First(usize),
    /// The value of its last row.
    Last(usize),
    /// The value of its row of a number.
    Nth {
        /// Which value.
        value: usize,
        /// The number, from 1 on.
        number: usize,
    },
    /// An aggregate of the frame.
    Aggregate {
        /// The aggregate.
        function: Function,
        /// Of which values; of rows where there is none.
        argument: Option<usize>,
        /// Type of the argument.
        input: DataType,
    },
}

/// A number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// One number for every row.
    Rows(i64),
    /// The place of a column.
    Column(usize),
}

/// The rows that functions look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The unit of its distances.
    pub unit: FrameUnit,
    /// Where it starts.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
    /// The rows that are left out.
    pub exclude: Exclude,
}

/// The unit of the distances of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Values of the order's first key.
    Range,
    /// Groups of peers.
    Groups,
}

/// An end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBound {
    /// That of the partition.
    Unbounded,
    /// The row, or its peers.
    Current,
    /// So many rows or groups before the row, or, of RANGE, the place of a column with the
    /// key at which the frame ends for each row. It is of the kind of the first key of the
    /// order, the only one, and moves with it; where it is NULL, it lies beyond all keys.
    Preceding(usize),
    /// Behind the row likewise.
    Following(usize),
}

/// Rows that a frame leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclude {
    /// None.
    NoOthers,
    /// The row itself.
    CurrentRow,
    /// The row and its peers.
    Group,
    /// Its peers.
    Ties,
}

impl Windowing {
    /// How many of the first keys are partition keys of every call.
    pub(crate) fn common(&self) -> usize {
        let partitions = self.calls.iter().map(|call| call.partition);
        partitions.min().unwrap_or(0)
    }

    /// The columns of common partition keys, where they are columns of the input.
    pub(crate) fn partition_columns(&self) -> Vec<usize> {
        let keys = self.sorting.keys.iter().take(self.common());
        let column = |key: &SortKey| match key.expression {
            Expression::Column(place) => Some(place),
            _ => None,
        };
        keys.filter_map(column).collect()
    }
}
