//! SQL, from text to rows, compared with expected values.
//!
//! Every test runs on databases in memory; those that touch storage run once per
//! layout. What comes back is compared as text in the form of `psql -A`: columns
//! separated by `|`, NULL written out.

#![allow(clippy::unwrap_used, missing_docs)]

mod advisor;
mod advisory_locks;
mod aggregates;
mod alter;
mod apply;
mod arithmetic;
mod assigned;
mod barriers;
mod benchmarks;
mod bits;
mod blocks;
mod bulk;
mod catalog;
mod catalog_answers;
mod change;
mod clients;
mod column_rights;
mod columns;
mod comments;
mod composites;
mod constraints;
mod copy;
mod ddl;
mod declared;
mod definitions;
mod disclosure;
mod elements;
mod engines;
mod errors;
mod explain;
mod found;
mod friendly;
mod indexes;
mod insert;
mod internal;
mod keyed;
mod lending;
mod limits;
mod load;
mod locking;
mod materialized;
mod merge;
mod migrations;
mod money;
mod network;
mod partitioned;
mod partitions;
mod path;
mod places;
mod plans;
mod point_change;
mod prepared;
mod queries;
mod ranges;
mod reserved;
mod roles;
mod roles_attacks;
mod routines;
mod sargable;
mod sequences;
mod settings;
mod stacks;
mod styles;
mod support;
mod temporary;
#[path = "../../../cli/src/tpch/queries.rs"]
mod tpch_queries;
#[path = "../../../cli/src/tpch/schema.rs"]
mod tpch_schema;
mod transactions;
mod types;
mod updatable_views;
mod upsert;
mod utility;
mod views;
mod views_text;
mod windows;
mod workload;
