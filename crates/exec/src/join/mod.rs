//! Joins: one side is kept in a table, the other asks it row by row. Rows that are kept in
//! the order of their keys are merged with those that ask in order.

mod build;
mod chains;
mod fill;
mod filter;
mod keys;
mod left;
mod merge;
mod probe;
mod table;

pub(crate) use build::{BuildRows, Builder, Built};
pub(crate) use filter::KeyTest;
pub(crate) use left::Waiting;
pub(crate) use probe::Probe;
pub(crate) use table::JoinTable;

#[cfg(test)]
mod tests;
