//! Operators and casts, by PostgreSQL.
