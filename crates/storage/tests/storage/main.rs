//! Storage as its users see it, held against models that are too plain to be wrong.
//!
//! - `conformance`: every layout gives the rows that were put in, whatever the
//!   types, NULLs, predicates, limits and number of workers.
//! - `corrupt`: each kind of damage gives its own error, with its place.
//! - `flips`: no damaged byte gives a wrong answer or a panic.
//! - `fixtures`: files of earlier format versions stay readable.
//! - `crash`: whatever fails, reopening gives the state before or after.

#![allow(clippy::unwrap_used, reason = "in tests, the panic is the report")]

mod conformance;
mod corrupt;
mod crash;
mod fixtures;
mod flips;
mod home;
mod model;
mod tables;
