//! The analytical model of rows and columns (H9), and CODB's (C6).
//!
//! A query's input arrives at the lesser of two rates: that of the disks, and that of
//! scanners and operators one after the other. Scanners wait for memory besides. All
//! rates are tuples a second; "disk" and "processor" are all disks and all cores that a
//! query has.

mod advisor;
mod calibration;
mod codb;
mod correction;
mod costs;
mod curve;
mod disk;
mod error;
mod machine;
mod operators;
mod query;
mod rate;
mod selection;

pub use advisor::{
    AUTO, BLOCK_BYTES, BlockUse, Candidate, Change, ColumnUse, Design, Gain, HALF_LIFE, Index,
    Partition, Price, QUERIES, Run, Runs, Stored, Test, Tested, Total, Tried, TriedUsage, USAGES,
    Usage, Workload, block_designs, gains, missing, mixture, price, search, total,
};
pub use calibration::{Calibration, Spread, Stated};
pub use codb::Traits;
pub use correction::Correction;
pub use costs::{ColdCosts, ColumnCosts, Costs, FEW_COLUMNS, LayoutCosts, MANY_COLUMNS};
pub use curve::Curve;
pub use disk::File;
pub use error::{Error, Result};
pub use machine::Machine;
pub use operators::Learnt;
pub use query::{Bound, Prediction, Query, speed_up};
pub use rate::{Rate, Scanner};
pub use selection::{Selection, Used};
