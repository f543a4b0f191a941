//! Evaluating a predicate on one block, zone by zone.
//!
//! Every leaf is translated into the block's codes once and then tested on
//! packed codes; a leaf that has no such form is evaluated on values, and only
//! on those of rows that earlier terms have left, when they are few. The terms
//! of a conjunction are put in order by what they were seen to cost and to
//! leave: the cheapest way to lose rows comes first.

use crate::block::Block;
use crate::codec::CodeTest;
use crate::error::Result;
use crate::predicate::{BoundPredicate, Leaf, evaluate_leaf};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use std::ops::Range;
use std::time::Instant;

/// Below one row in so many, values are read only for rows that are left.
const SPARSE: usize = 8;

/// What is known of a predicate in one block.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// The tests of leaves, by their address in the predicate.
    tests: Vec<(usize, Option<CodeTest>)>,
    /// The terms of the outermost conjunction.
    terms: Vec<Term>,
}

/// What a term of a conjunction did so far.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    nanoseconds: u64,
    rows: u64,
    passed: u64,
}

impl Term {
    /// Cost of losing a row: low is good. A term that was never run comes first.
    fn rank(&self) -> f64 {
        let rows = self.rows.max(1) as f64;
        let lost = 1.0 - self.passed as f64 / rows;
        if self.rows == 0 {
            0.0
        } else {
            self.nanoseconds as f64 / rows / lost.max(1e-4)
        }
    }
}

impl Filter {
    /// One bit for each of `rows`, which are in one zone: set where `predicate` is TRUE.
    pub fn evaluate(
        &mut self,
        predicate: &BoundPredicate,
        block: &Block,
        rows: Range<usize>,
    ) -> Result<BooleanBuffer> {
        let BoundPredicate::And(terms) = predicate else {
            return self.term(predicate, block, &rows, None);
        };
        self.terms.resize(terms.len(), Term::default());
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by(|a, b| self.terms[*a].rank().total_cmp(&self.terms[*b].rank()));
        let mut passing = BooleanBuffer::new_set(rows.len());
        let mut left = rows.len();
        for number in order {
            if left == 0 {
                break;
            }
            let start = Instant::now();
            let few = (left * SPARSE < rows.len()).then_some(&passing);
            let bits = self.term(&terms[number], block, &rows, few)?;
            passing = &passing & &bits;
            let term = &mut self.terms[number];
            term.nanoseconds += start.elapsed().as_nanos() as u64;
            term.rows += left as u64;
            left = passing.count_set_bits();
            term.passed += left as u64;
        }
        Ok(passing)
    }

    /// One bit for each of ascending `positions`: set where `predicate` is TRUE.
    pub fn at(
        predicate: &BoundPredicate,
        block: &Block,
        positions: &[u32],
    ) -> Result<BooleanBuffer> {
        predicate.evaluate(positions.len(), &mut |column, leaf| {
            evaluate_leaf(leaf, &block.take(column, positions)?)
        })
    }

    /// The bits of one term; with `few`, right only for the rows set there.
    fn term(
        &mut self,
        predicate: &BoundPredicate,
        block: &Block,
        rows: &Range<usize>,
        few: Option<&BooleanBuffer>,
    ) -> Result<BooleanBuffer> {
        predicate.evaluate(rows.len(), &mut |column, leaf| {
            if let Some(test) = self.test(block, column, leaf)? {
                return if test.is_never() {
                    Ok(BooleanBuffer::new_unset(rows.len()))
                } else {
                    block.test(column, test, rows.clone())
                };
            }
            match few {
                None => evaluate_leaf(leaf, &block.read(column, rows.clone())?),
                Some(few) => evaluate_few(block, column, leaf, rows, few),
            }
        })
    }

    /// The leaf in the block's codes; translated at its first use.
    fn test(&mut self, block: &Block, column: usize, leaf: &Leaf) -> Result<Option<&CodeTest>> {
        let address = std::ptr::from_ref(leaf) as usize;
        let known = match self.tests.iter().position(|(known, _)| *known == address) {
            Some(known) => known,
            None => {
                self.tests.push((address, block.translate(column, leaf)?));
                self.tests.len() - 1
            }
        };
        Ok(self.tests[known].1.as_ref())
    }
}

/// Evaluates a leaf on the values of few rows.
fn evaluate_few(
    block: &Block,
    column: usize,
    leaf: &Leaf,
    rows: &Range<usize>,
    few: &BooleanBuffer,
) -> Result<BooleanBuffer> {
    let places: Vec<usize> = few.set_indices().collect();
    // In range: a block has at most 2^20 rows.
    let positions: Vec<u32> = places
        .iter()
        .map(|place| (rows.start + place) as u32)
        .collect();
    let found = evaluate_leaf(leaf, &block.take(column, &positions)?)?;
    let mut bits = BooleanBufferBuilder::new(rows.len());
    bits.append_n(rows.len(), false);
    found
        .set_indices()
        .for_each(|number| bits.set_bit(places[number], true));
    Ok(bits.finish())
}
