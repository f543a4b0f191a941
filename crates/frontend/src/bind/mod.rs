//! Names, scopes and types: statements to plans.
