//! The language: SQL text in, a bound and typed logical plan out, by PostgreSQL's rules.
//!
//! ```text
//! text ──syntax──▶ Statement ──bind──▶ Plan (columns by number, every expression typed)
//! ```
//!
//! Modules import only from those before them in this list:
//!
//! | module | holds |
//! |---|---|
//! | `error` | an error as PostgreSQL states it: SQLSTATE, message, hint, position |
//! | `interrupt` | requests to stop |
//! | `stack` | room for the recursion over trees |
//! | `values` | values that Arrow has no type for: NUMERIC, intervals, text forms |
//! | `types` | SQL types, their names and how Arrow holds their values |
//! | `functions` | the catalogue of functions, operators and casts, by chapter, and overload resolution |
//! | `plan` | typed expressions and the algebra of plans |
//! | `evaluate` | expressions over batches of columns, and constant folding |
//! | `rewrite` | plans to plans that mean the same and run faster |
//! | `reference` | the interpreter of plans: for few rows, and the judge of operators in tests |
//! | `syntax` | text to statements |
//! | `bind` | names, scopes and types: statements to plans |
//!
//! The crate knows Arrow and the grammar, and nothing of storage, threads or operators. A
//! caller tells it which tables there are (`bind::Catalog`) and runs the plan.

pub mod bind;
pub mod error;
pub mod evaluate;
pub mod functions;
pub mod interrupt;
pub mod plan;
pub mod reference;
pub mod rewrite;
pub mod stack;
pub mod syntax;
pub mod types;
pub mod values;

pub use error::{Error, Position, Result};
