//! Pictures, by PostgreSQL.
