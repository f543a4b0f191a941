//! The lab: repeats the experiments of the documents on the user's machine.
//!
//! One file per experiment, in folders by document. An [`Experiment`] measures and
//! returns [`Outcome`]s: plots, tables and, for each claim of the document, whether
//! it holds here. The rest of the crate runs them, keeps what they found as JSON,
//! and makes one page of it.

pub mod c;
pub mod cache;
mod check;
pub mod command;
mod error;
mod experiment;
mod h;
mod m;
mod machine;
mod measure;
mod outcome;
mod p;
pub mod plot;
mod q;
mod record;
mod registry;
mod report;
mod run;
mod setting;
mod sql;

pub use error::{Error, Result};
pub use experiment::{Experiment, Need};
pub use machine::Machine;
pub use outcome::{Axis, Claim, Outcome, Plot, Point, Series, Table, Verdict};
pub use record::{Found, Program, Record, Records};
pub use registry::{all, find};
pub use report::Tally;
pub use run::{Event, Summary};
pub use setting::{Scale, Setting};
pub use sql::{Sql, SqlDatabase};
