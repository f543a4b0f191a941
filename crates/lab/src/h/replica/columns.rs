//! One file for each column, and the pipelined scanner (H, section 2.2.2).

use super::attribute::{Attribute, Before};
use super::block::{Block, Operator, Predicate};
use super::page::{self, ENTRY_BITS, Page};
use super::values::{Values, Visitor, with_values};
use crate::error::Result;

/// The pages of a column.
#[derive(Debug)]
pub struct ColumnFile {
    /// What it has.
    pub attribute: Attribute,
    /// Pages, all but the last of them full.
    pub pages: Vec<Page>,
    /// Entries of a full page.
    pub per_page: usize,
    before: Before,
}

impl ColumnFile {
    /// An empty one.
    pub fn new(attribute: Attribute) -> ColumnFile {
        ColumnFile {
            per_page: ENTRY_BITS / attribute.bits(),
            attribute,
            pages: Vec::new(),
            before: Before::default(),
        }
    }

    /// Adds a value.
    ///
    /// # Errors
    /// Those of [`Attribute::store`].
    pub fn push(&mut self, value: &[u8]) -> Result<()> {
        if self.before.count.is_multiple_of(self.per_page) {
            self.pages.push(page::empty(self.pages.len()));
            self.before.count = 0;
        }
        let Some(page) = self.pages.last_mut() else {
            return Ok(());
        };
        let at = self.before.count * self.attribute.bits();
        self.attribute.store(page, at, value, self.before)?;
        self.before = Before {
            last: page::integer(value),
            count: self.before.count + 1,
        };
        page::set_count(page, self.before.count);
        Ok(())
    }
}

/// A scanner of the first columns: a node for each of them, the predicate's the deepest.
pub fn scanner(files: &[ColumnFile], predicate: Predicate) -> Option<Box<dyn Operator + '_>> {
    let (first, others) = files.split_first()?;
    let width = files.iter().map(|file| file.attribute.bytes).sum();
    let deepest = Making::Deepest(predicate, width);
    let mut node = with_values(first, deepest);
    let mut offset = first.attribute.bytes;
    for file in others {
        node = with_values(file, Making::Attaching(node, offset));
        offset += file.attribute.bytes;
    }
    Some(node)
}

/// A node that is to be made for the codec of its column.
enum Making<'a> {
    /// For tuples of so many bytes.
    Deepest(Predicate, usize),
    /// Above another, at so many bytes of a tuple.
    Attaching(Box<dyn Operator + 'a>, usize),
}

impl<'a> Visitor<'a> for Making<'a> {
    type Made = Box<dyn Operator + 'a>;

    fn visit(self, values: impl Values + 'a) -> Self::Made {
        match self {
            Making::Deepest(predicate, width) => Box::new(Deepest {
                values,
                predicate,
                position: 0,
                block: Block::new(width),
            }),
            Making::Attaching(below, offset) => Box::new(Attaching {
                below,
                values,
                offset,
            }),
        }
    }
}

/// The node that reads all values of its column.
struct Deepest<V> {
    values: V,
    predicate: Predicate,
    position: usize,
    block: Block,
}

impl<V: Values> Operator for Deepest<V> {
    fn next_block(&mut self) -> Option<&mut Block> {
        self.block.clear();
        while !self.block.is_full() {
            let Some(value) = self.values.at(self.position) else {
                break;
            };
            if self.predicate.passes(page::integer(value)) {
                let tuple = self.block.push(self.position);
                self.block.set(tuple, 0, value);
            }
            self.position += 1;
        }
        (self.block.count() > 0).then_some(&mut self.block)
    }
}

/// A node without a predicate: it attaches its values to the tuples from below.
struct Attaching<'a, V> {
    below: Box<dyn Operator + 'a>,
    values: V,
    offset: usize,
}

impl<V: Values> Operator for Attaching<'_, V> {
    fn next_block(&mut self) -> Option<&mut Block> {
        let block = self.below.next_block()?;
        for tuple in 0..block.count() {
            if let Some(value) = self.values.at(block.position(tuple)) {
                block.set(tuple, self.offset, value);
            }
        }
        Some(block)
    }
}
