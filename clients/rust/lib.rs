//! Nothing but tests: see `tests/wire`.
