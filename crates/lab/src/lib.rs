//! The lab: repeats the experiments of the documents on the user's machine.
//!
//! One file per experiment, in folders by document. An [`Experiment`] measures and
//! returns [`Outcome`]s: plots, tables and, for each claim of the document, whether
//! it holds here. The rest of the crate runs them, keeps what they found as JSON,
//! and makes one page of it.

pub mod c;
pub mod cache;
mod error;
mod experiment;
mod outcome;
mod p;
mod registry;
mod setting;

pub use error::{Error, Result};
pub use experiment::{Experiment, Need};
pub use outcome::{Axis, Claim, Outcome, Plot, Point, Series, Table, Verdict};
pub use registry::{all, find};
pub use setting::{Scale, Setting};
