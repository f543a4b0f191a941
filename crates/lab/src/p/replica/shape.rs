//! The attributes of a relation, none of which may be NULL.

use super::pool::Page;

/// Lengths and places of attributes.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Bytes of each attribute; 0 of one whose values vary in length.
    bytes: Vec<usize>,
    /// Of an attribute of fixed length the bytes before it in a record, of another its
    /// number among those.
    offsets: Vec<usize>,
    fixed_bytes: usize,
    varying: usize,
}

impl Shape {
    /// The shape of attributes of so many bytes, 0 for those that vary.
    pub fn new(bytes: Vec<usize>) -> Shape {
        let (mut fixed_bytes, mut varying) = (0, 0);
        let offset = |bytes: &usize| {
            let counter = match bytes {
                0 => (&mut varying, 1),
                fixed => (&mut fixed_bytes, *fixed),
            };
            *counter.0 += counter.1;
            *counter.0 - counter.1
        };
        Shape {
            offsets: bytes.iter().map(offset).collect(),
            bytes,
            fixed_bytes,
            varying,
        }
    }

    /// How many attributes there are.
    pub fn degree(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the values of an attribute have one length.
    pub fn fixed(&self, attribute: usize) -> bool {
        self.bytes[attribute] > 0
    }

    /// Bytes of an attribute of fixed length, else 0.
    pub fn bytes(&self, attribute: usize) -> usize {
        self.bytes[attribute]
    }

    /// The place among attributes of its kind: bytes, or a number.
    pub fn offset(&self, attribute: usize) -> usize {
        self.offsets[attribute]
    }

    /// Bytes of all attributes of fixed length.
    pub fn fixed_bytes(&self) -> usize {
        self.fixed_bytes
    }

    /// How many attributes vary.
    pub fn varying(&self) -> usize {
        self.varying
    }
}

/// A number of 2 bytes.
pub fn get(page: &Page, at: usize) -> usize {
    let two = page[at..].first_chunk();
    usize::from(two.map_or(0, |two| u16::from_le_bytes(*two)))
}

/// Sets a number of 2 bytes, which it fits in.
pub fn put(page: &mut Page, at: usize, number: usize) {
    page[at..at + 2].copy_from_slice(&(number as u16).to_le_bytes());
}
