//! Vectorised bulk operators over Freestone's storage.
//!
//! A [`Plan`] is run in pipelines: rows come from a scan or from what another pipeline
//! has left, pass filters, projections and joins batch by batch, and end in a group
//! table, the build side of a join, a sort, or with whoever asked. Threads take work from
//! one queue. Knows nothing of SQL.
//!
//! Modules from top to bottom; each imports only modules below it:
//!
//! ```text
//! pipeline                          a plan is opened, and its pipelines run
//! drive ─ step, source              threads send rows through the steps of a pipeline
//! scan, ranges                      tables, and ranges of their keys
//! merge, fold, join, window ─ sort  operators that collect rows
//! outside ─ context ─ shared        the run that they are part of
//! plan                              descriptions of operators
//! threads, limit, aggregate
//! kept ─ partition ─ memory ─ spill memory, and pages of rows that find no room in it
//! keys, interner
//! expression ─ vector ─ kernels     values, and what is computed of them
//! ```

mod aggregate;
mod context;
mod drive;
mod error;
pub mod expression;
mod fold;
mod interner;
mod join;
mod kept;
mod kernels;
mod keys;
mod limit;
mod memory;
mod merge;
mod outside;
mod partition;
mod pipeline;
mod plan;
mod ranges;
mod scan;
mod shared;
mod sort;
mod source;
mod spill;
mod step;
#[cfg(test)]
mod testing;
mod threads;
pub mod vector;
mod window;

pub use aggregate::{Aggregate, Function, Grouping, Lead};
pub use context::Run;
pub use error::{Error, Result};
pub use kept::{Gathered, Gathering};
pub use kernels::Comparison;
pub use limit::Limit;
pub use memory::{Memory, Reservation, Space};
pub use pipeline::run;
pub use plan::{
    Again, Batches, Exclude, Folded, Folder, Folding, Frame, FrameBound, FrameUnit, Inside, Join,
    JoinKind, Node, Operator, Out, Outside, Plan, Ranges, Rows, Shift, SortKey, Sorting, Table,
    WindowCall, WindowFunction, Windowing, Working,
};
pub use threads::{Around, begin, give_way, statement_begins, surrounded};
