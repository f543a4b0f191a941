//! The system catalogs: `pg_catalog` and `information_schema` as tables, and functions about them.
//!
//! The front asks for them by [`SystemCatalogs`](crate::front::SystemCatalogs), and knows nothing
//! else of them.

mod about;
mod about_privileges;
mod about_rows;
mod information_columns;
mod information_constraints;
mod information_others;
pub(crate) mod information_schema;
mod numbers;
pub(crate) mod pg_catalog;
mod privileges;
mod role_functions;
mod statement;
mod told_objects;

pub(crate) use about::view_definitions;
pub(crate) use numbers::Numbers;
pub(crate) use statement::installed;
