//! Iterators over the values of a column, one for each codec (H, section 2.2.2).

use super::attribute::{Attribute, Codec};
use super::columns::ColumnFile;
use super::page::{self, Page};

/// The values of a column, one at a time.
pub trait Values {
    /// The value at a position, which is not before that of the call before; none behind
    /// the last one.
    fn at(&mut self, position: usize) -> Option<&[u8]>;
}

/// Makes something of a column's iterator, for each codec by itself: so it is inlined, as the
/// predicate is in the scanner of rows.
pub trait Visitor<'a> {
    /// What is made.
    type Made;

    /// Makes it.
    fn visit(self, values: impl Values + 'a) -> Self::Made;
}

/// Makes something of the iterator over a column.
pub fn with_values<'a, V: Visitor<'a>>(file: &'a ColumnFile, visitor: V) -> V::Made {
    let place = Place {
        pages: &file.pages,
        page: None,
        first: 0,
        end: 0,
        per_page: file.per_page,
    };
    let value = [0; 4];
    match file.attribute.codec {
        Codec::Plain => visitor.visit(Plain {
            place,
            bytes: file.attribute.bytes,
        }),
        Codec::Pack(bits) => visitor.visit(Packed { place, bits, value }),
        Codec::Dictionary(bits) => visitor.visit(Coded {
            place,
            bits,
            attribute: &file.attribute,
        }),
        Codec::For(bits) => visitor.visit(Framed { place, bits, value }),
        Codec::ForDelta(bits) => visitor.visit(Delta {
            place,
            bits,
            read: 0,
            last: 0,
            value,
        }),
    }
}

/// The page of a position.
struct Place<'a> {
    pages: &'a [Page],
    page: Option<&'a Page>,
    /// The page's first position, and the one behind its last.
    first: usize,
    end: usize,
    per_page: usize,
}

impl<'a> Place<'a> {
    /// The page of a position, and its entry there.
    fn find(&mut self, position: usize) -> Option<(&'a Page, usize)> {
        if position >= self.end {
            self.turn(position)?;
        }
        Some((self.page?, position - self.first))
    }

    /// All pages but the last are full.
    fn turn(&mut self, position: usize) -> Option<()> {
        let number = position / self.per_page;
        let page = self.pages.get(number)?;
        self.first = number * self.per_page;
        self.end = self.first + page::count(page);
        self.page = Some(page);
        (position < self.end).then_some(())
    }
}

struct Plain<'a> {
    place: Place<'a>,
    bytes: usize,
}

impl Values for Plain<'_> {
    fn at(&mut self, position: usize) -> Option<&[u8]> {
        let (page, entry) = self.place.find(position)?;
        Some(page::bytes(page, 8 * self.bytes * entry, self.bytes))
    }
}

struct Packed<'a> {
    place: Place<'a>,
    bits: u32,
    value: [u8; 4],
}

impl Values for Packed<'_> {
    fn at(&mut self, position: usize) -> Option<&[u8]> {
        let (page, entry) = self.place.find(position)?;
        let code = page::bits(page, entry * self.bits as usize, self.bits);
        self.value = code.to_le_bytes();
        Some(&self.value)
    }
}

struct Coded<'a> {
    place: Place<'a>,
    bits: u32,
    attribute: &'a Attribute,
}

impl Values for Coded<'_> {
    fn at(&mut self, position: usize) -> Option<&[u8]> {
        let (page, entry) = self.place.find(position)?;
        let code = page::bits(page, entry * self.bits as usize, self.bits);
        let value = self.attribute.dictionary.get(code as usize);
        value.map(Vec::as_slice)
    }
}

struct Framed<'a> {
    place: Place<'a>,
    bits: u32,
    value: [u8; 4],
}

impl Values for Framed<'_> {
    fn at(&mut self, position: usize) -> Option<&[u8]> {
        let (page, entry) = self.place.find(position)?;
        let code = page::bits(page, entry * self.bits as usize, self.bits);
        self.value = page::base(page).wrapping_add(code as i32).to_le_bytes();
        Some(&self.value)
    }
}

struct Delta<'a> {
    place: Place<'a>,
    bits: u32,
    /// Entries of the page that have been read, and the value of the last of them.
    read: usize,
    last: i32,
    value: [u8; 4],
}

impl Values for Delta<'_> {
    /// Reads all values of the page up to the position.
    fn at(&mut self, position: usize) -> Option<&[u8]> {
        let first = self.place.first;
        let (page, entry) = self.place.find(position)?;
        if self.place.first != first || self.read == 0 {
            (self.read, self.last) = (0, page::base(page));
        }
        while self.read <= entry {
            let step = page::bits(page, self.read * self.bits as usize, self.bits);
            self.last = self.last.wrapping_add(step as i32);
            self.read += 1;
        }
        self.value = self.last.to_le_bytes();
        Some(&self.value)
    }
}
