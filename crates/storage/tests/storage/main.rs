//! Storage as its users see it, held against models that are too plain to be wrong.
//!
//! - `ahead`: reading ahead changes nothing but when.
//! - `choices`: codecs and ways in are those written down.
//! - `cold` (ignored): scans of what is not in memory, measured.
//! - `constants` (ignored): what ways are weighed by, measured.
//! - `columns`: columns come and go, blocks stay.
//! - `indexes`: whichever way rows are come by, they are the same.
//! - `conformance`: every layout gives the rows that were put in, whatever the
//!   types, NULLs, predicates, limits and number of workers.
//! - `corrupt`: each kind of damage gives its own error, with its place.
//! - `flips`: no damaged byte gives a wrong answer or a panic.
//! - `delta`: rows in no block and deleted rows, as of any moment.
//! - `directories`: blocks in several of them.
//! - `fixtures`: files of earlier format versions stay readable.
//! - `mover`: rows that move are followed, and space comes back.
//! - `overlay`: columns of whole blocks get new values, and blocks stay.
//! - `partitions`: blocks of one range each, as they are written.
//! - `sparse`: wide tables of few values, and columns of many distinct ones.
//! - `transactions`: what each sees, who may write, what a power loss leaves.
//! - `transfers`: threads that write, move, make checkpoints and read.
//! - `commit_order`: the protocol of commits in every order of its threads.
//! - `crash`: whatever fails, reopening gives the state before or after.
//! - `crash_model`: power losses at every operation of random histories.
//! - `failures`: every operation of random histories fails.
//! - `readers`: stores that follow one that writes.
//! - `salvage`: any damage is refused or accounted for.
//! - `sequences`: no number is given twice.
//! - `keys`: no key twice, whether it was locked or not.
//! - `roles`: owners and grants come and go with their objects.
//! - `regressions`: the smallest forms of what random histories found.
//! - `history`, `world`: random transactions, and the model they are held against.

#![allow(clippy::unwrap_used, reason = "in tests, the panic is the report")]

mod ahead;
mod choices;
mod cold;
mod columns;
mod conformance;
mod constants;
mod corrupt;
mod crash;
mod crash_model;
mod delta;
mod delta_keys;
mod directories;
mod durability;
mod failures;
mod fixtures;
mod flips;
mod history;
mod home;
mod indexes;
mod keys;
mod model;
mod mover;
mod overlay;
mod partitions;
mod readers;
mod regressions;
mod roles;
mod salvage;
mod sequences;
mod sparse;
mod tables;
mod transactions;
mod transfers;
mod wanted;
mod world;
