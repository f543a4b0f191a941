//! Functions, by PostgreSQL.
