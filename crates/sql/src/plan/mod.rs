//! From syntax tree to logical plan: names, views, files, column names.

mod arrays;
pub(crate) mod decorrelate;
pub(crate) mod expression;
pub(crate) mod files;
pub(crate) mod given;
mod information_columns;
mod information_constraints;
pub(crate) mod information_schema;
pub(crate) mod joins_apart;
pub(crate) mod membership;
pub(crate) mod names;
pub(crate) mod naming;
pub(crate) mod optimize;
mod outer_conditions;
pub(crate) mod pg_catalog;
mod privileges;
pub(crate) mod relations;
mod reserved;
pub(crate) mod rewrite;
pub(crate) mod rows;
mod series;
mod spelling;
mod table_functions;
