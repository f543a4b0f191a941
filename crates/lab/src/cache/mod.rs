//! A model of data caches: which reads of a program miss, level by level.
//!
//! Processors count their misses, but virtual machines rarely let programs ask, and
//! the caches of the documents' machines are gone. So reads are counted through a
//! model instead: set-associative levels with lines of one size each and replacement
//! of the line that was used longest ago (LRU). A line that one level misses is asked
//! of the next. Prefetching, writes, instructions and address translation are left
//! out, so that a miss is a line that the program touched and the level did not have.
//! `valgrind --tool=cachegrind` models caches of the same kind for a whole program.

mod geometry;
mod hierarchy;
mod level;
mod machines;

pub use geometry::Geometry;
pub use hierarchy::{Counts, Hierarchy};
pub use machines::{CacheMachine, here};
