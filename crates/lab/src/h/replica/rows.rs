//! One file of tuples, and its scanner (H, section 2.2.2).

use super::attribute::{Attribute, Before, Codec};
use super::block::{Block, Operator, Predicate};
use super::page::{self, ENTRY_BITS, Page};
use crate::error::Result;

/// An attribute, and the bit of a tuple where it begins.
#[derive(Debug)]
pub struct Placed {
    /// The attribute.
    pub attribute: Attribute,
    bit: usize,
}

/// The pages of a table.
#[derive(Debug)]
pub struct RowFile {
    /// Its attributes.
    pub attributes: Vec<Placed>,
    /// Pages, all but the last of them full.
    pub pages: Vec<Page>,
    /// Whether there are no codecs.
    plain: bool,
    tuple_bits: usize,
    per_page: usize,
    count: usize,
    /// The last value of each attribute.
    last: Vec<i32>,
}

impl RowFile {
    /// An empty one. Without codecs numbers lie at multiples of 4 bytes, so that LINEITEM
    /// takes 152 bytes; with codecs an attribute begins where the one before ends, and a
    /// tuple at a byte.
    pub fn new(attributes: Vec<Attribute>) -> RowFile {
        let plain = attributes.iter().all(|one| one.codec == Codec::Plain);
        let mut end: usize = 0;
        let place = |attribute: Attribute| {
            if plain && attribute.number {
                end = end.next_multiple_of(32);
            }
            let bit = end;
            end += attribute.bits();
            Placed { attribute, bit }
        };
        let attributes: Vec<Placed> = attributes.into_iter().map(place).collect();
        let tuple_bits = end.next_multiple_of(if plain { 32 } else { 8 });
        RowFile {
            last: vec![0; attributes.len()],
            attributes,
            pages: Vec::new(),
            plain,
            tuple_bits,
            per_page: ENTRY_BITS / tuple_bits,
            count: 0,
        }
    }

    /// Adds a tuple.
    ///
    /// # Errors
    /// Those of [`Attribute::store`].
    pub fn push<'v>(&mut self, values: impl Iterator<Item = &'v [u8]>) -> Result<()> {
        if self.count.is_multiple_of(self.per_page) {
            self.pages.push(page::empty(self.pages.len()));
            self.count = 0;
        }
        let Some(page) = self.pages.last_mut() else {
            return Ok(());
        };
        let start = self.count * self.tuple_bits;
        let places = self.attributes.iter_mut().zip(&mut self.last);
        for ((placed, last), value) in places.zip(values) {
            let before = Before {
                last: *last,
                count: self.count,
            };
            let at = start + placed.bit;
            placed.attribute.store(page, at, value, before)?;
            *last = page::integer(value);
        }
        self.count += 1;
        page::set_count(page, self.count);
        Ok(())
    }
}

/// Iterates over pages and, for each page, over tuples; puts those that qualify in blocks.
pub struct RowScanner<'a> {
    file: &'a RowFile,
    predicate: Predicate,
    /// Attributes with their offsets in a block's tuples; the predicate's first.
    projected: Vec<(&'a Placed, usize)>,
    page: usize,
    tuple: usize,
    reader: Reader,
    /// The projected attribute that needs the values of all tuples before.
    steps: Option<(usize, u32)>,
    block: Block,
}

impl<'a> RowScanner<'a> {
    /// A scanner of the first attributes.
    pub fn new(file: &'a RowFile, attributes: usize, predicate: Predicate) -> Self {
        let mut offset = 0;
        let place = |placed: &'a Placed| {
            offset += placed.attribute.bytes;
            (placed, offset - placed.attribute.bytes)
        };
        let projected: Vec<_> = file.attributes[..attributes].iter().map(place).collect();
        let delta = |(placed, _): &(&Placed, usize)| match placed.attribute.codec {
            Codec::ForDelta(bits) => Some((placed.bit, bits)),
            _ => None,
        };
        RowScanner {
            file,
            predicate,
            steps: projected.iter().find_map(delta),
            projected,
            page: 0,
            tuple: 0,
            reader: Reader::default(),
            block: Block::new(offset),
        }
    }

    /// Goes on with a page whose tuples are stored as they are, until the block is full.
    fn plain(&mut self, page: &Page) {
        let width = self.file.tuple_bits / 8;
        let tuples = page::bytes(page, 0, page::count(page) * width);
        for tuple in tuples[self.tuple * width..].chunks_exact(width) {
            self.tuple += 1;
            if self.predicate.passes(page::integer(tuple)) {
                let number = self.block.push(0);
                for (placed, offset) in &self.projected {
                    let value = &tuple[placed.bit / 8..][..placed.attribute.bytes];
                    self.block.set(number, *offset, value);
                }
                if self.block.is_full() {
                    return;
                }
            }
        }
    }

    /// The same of compressed tuples, by the codec of the attribute that is tested.
    fn compressed(&mut self, page: &Page) {
        let Some((tested, _)) = self.projected.first() else {
            return;
        };
        let bit = tested.bit;
        match tested.attribute.codec {
            Codec::Plain => self.coded(page, |_, start| page::bits(page, start + bit, 32) as i32),
            Codec::Pack(bits) => {
                self.coded(page, |_, start| page::bits(page, start + bit, bits) as i32);
            }
            Codec::For(bits) => {
                let base = page::base(page);
                let code = move |start| page::bits(page, start + bit, bits) as i32;
                self.coded(page, move |_, start| base.wrapping_add(code(start)));
            }
            Codec::ForDelta(_) => self.coded(page, |reader, _| reader.last),
            Codec::Dictionary(_) => {
                self.coded(page, |reader, start| {
                    page::integer(reader.read(page, start, tested))
                });
            }
        }
    }

    /// Goes on with a page of compressed tuples, of which `tested` gives the number that the
    /// predicate is about.
    fn coded(&mut self, page: &Page, tested: impl Fn(&mut Reader, usize) -> i32) {
        for entry in self.tuple..page::count(page) {
            let start = entry * self.file.tuple_bits;
            if let Some((bit, bits)) = self.steps {
                self.reader.step(page, start + bit, bits, entry);
            }
            self.tuple = entry + 1;
            if self.predicate.passes(tested(&mut self.reader, start)) {
                let number = self.block.push(0);
                for (placed, offset) in &self.projected {
                    let value = self.reader.read(page, start, placed);
                    self.block.set(number, *offset, value);
                }
                if self.block.is_full() {
                    return;
                }
            }
        }
    }
}

impl Operator for RowScanner<'_> {
    fn next_block(&mut self) -> Option<&mut Block> {
        self.block.clear();
        let file = self.file;
        while let Some(page) = file.pages.get(self.page) {
            match file.plain {
                true => self.plain(page),
                false => self.compressed(page),
            }
            if self.block.is_full() {
                break;
            }
            (self.page, self.tuple) = (self.page + 1, 0);
        }
        (self.block.count() > 0).then_some(&mut self.block)
    }
}

/// Reads attributes out of tuples.
#[derive(Debug, Default)]
struct Reader {
    value: [u8; 4],
    /// The current value of the attribute with FOR-delta.
    last: i32,
}

impl Reader {
    /// Goes on to the next value of an attribute with FOR-delta.
    fn step(&mut self, page: &Page, at: usize, bits: u32, tuple: usize) {
        let from = if tuple == 0 {
            page::base(page)
        } else {
            self.last
        };
        self.last = from.wrapping_add(page::bits(page, at, bits) as i32);
    }

    /// The value of an attribute of the tuple that begins at a bit.
    fn read<'a>(&'a mut self, page: &'a Page, start: usize, placed: &'a Placed) -> &'a [u8] {
        let (attribute, at) = (&placed.attribute, start + placed.bit);
        let number = match attribute.codec {
            // Only numbers are left as they are beside codecs.
            Codec::Plain => page::bits(page, at, 32) as i32,
            Codec::Pack(bits) => page::bits(page, at, bits) as i32,
            Codec::Dictionary(bits) => {
                let code = page::bits(page, at, bits);
                let value = attribute.dictionary.get(code as usize);
                return value.map_or(&[], Vec::as_slice);
            }
            Codec::For(bits) => page::base(page).wrapping_add(page::bits(page, at, bits) as i32),
            Codec::ForDelta(_) => self.last,
        };
        self.value = number.to_le_bytes();
        &self.value
    }
}
