//! From syntax tree to logical plan: names, views, files, column names.

pub(crate) mod calls;
pub(crate) mod expression;
pub(crate) mod files;
pub(crate) mod given;
mod information_columns;
mod information_constraints;
mod information_others;
pub(crate) mod information_schema;
pub(crate) mod pg_catalog;
mod privileges;
pub(crate) mod relations;
pub(crate) mod table_functions;
pub(crate) mod updatable;
