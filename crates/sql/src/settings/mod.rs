//! Settings of sessions: names, values and defaults of those that a client has, the options of
//! the engine behind others, the modes of transactions, and the path along which names are looked
//! up.
//!
//! They are values alone: SET, SHOW and `set_config` are in the modules that run statements.

mod client;
mod known;
mod modes;
mod options;
mod path;

pub(crate) use client::{ClientSettings, Restored, invalid};
pub(crate) use known::{IDLE, Kind, Known, find};
pub(crate) use modes::{AskedModes, Level, Modes};
pub(crate) use options::{
    MACHINE, MEMORY, MOVER, Setting, WORKLOAD, all_settings, change, current, is_internal, of_all,
    option_of, spelt,
};
pub(crate) use path::listed;

/// When the transaction around a statement began, in microseconds since 1970.
pub(crate) struct Begun(pub(crate) i64);
