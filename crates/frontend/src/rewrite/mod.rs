//! Plans to plans that mean the same and run faster.
