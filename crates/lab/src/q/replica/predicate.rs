//! Predicates: expressions over the columns of one table, whatever they are (Q, section
//! 2.1). Each part of an expression is an object that gives its value for a tuple.

use super::block::Block;
use super::field::{Field, Key};
use std::marker::PhantomData;

/// A predicate, bound to a block.
pub trait Predicate {
    /// Whether a tuple matches.
    fn matches(&self, block: &Block, tuple: usize) -> bool;
}

/// Something that has a value for each tuple.
pub trait Scalar {
    /// The bytes of the value, as they are stored.
    fn value<'a>(&'a self, block: &'a Block, tuple: usize) -> &'a [u8];
}

/// A way to compare two values.
pub trait Comparator {
    /// Whether it holds for them.
    fn holds(&self, left: &[u8], right: &[u8]) -> bool;
}

/// A column.
pub struct Attribute(pub Field);

/// A constant.
pub struct Literal(pub Vec<u8>);

/// `left >= right`, as keys of one kind.
pub struct AtLeast<K: Key>(pub PhantomData<K>);

/// A comparison of two values.
pub struct Comparison {
    /// The one,
    pub left: Box<dyn Scalar>,
    /// the other,
    pub right: Box<dyn Scalar>,
    /// and what is asked of them.
    pub comparator: Box<dyn Comparator>,
}

/// All of several predicates.
pub struct All(pub Vec<Box<dyn Predicate>>);

/// No tuple matches.
pub struct Never;

impl Scalar for Attribute {
    fn value<'a>(&'a self, block: &'a Block, tuple: usize) -> &'a [u8] {
        let start = self.0.at(tuple);
        let end = start + self.0.bytes;
        block.memory().get(start..end).unwrap_or_default()
    }
}

impl Scalar for Literal {
    fn value<'a>(&'a self, _: &'a Block, _: usize) -> &'a [u8] {
        &self.0
    }
}

impl<K: Key> Comparator for AtLeast<K> {
    fn holds(&self, left: &[u8], right: &[u8]) -> bool {
        K::read(left, 0) >= K::read(right, 0)
    }
}

impl Predicate for Comparison {
    fn matches(&self, block: &Block, tuple: usize) -> bool {
        let (left, right) = (
            self.left.value(block, tuple),
            self.right.value(block, tuple),
        );
        self.comparator.holds(left, right)
    }
}

impl Predicate for All {
    fn matches(&self, block: &Block, tuple: usize) -> bool {
        self.0.iter().all(|each| each.matches(block, tuple))
    }
}

impl Predicate for Never {
    fn matches(&self, _: &Block, _: usize) -> bool {
        false
    }
}
