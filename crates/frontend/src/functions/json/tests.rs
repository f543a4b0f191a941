//! Results of PostgreSQL 15.
