//! Typed expressions and the algebra of plans.
