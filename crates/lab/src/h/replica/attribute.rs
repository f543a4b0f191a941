//! Attributes and their codecs (H, section 2.2.1 and figure 5).

use super::page::{self, Page};
use crate::error::{Error, Result};

/// How values are stored, in so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// As they are.
    Plain,
    /// The lower bits of a number.
    Pack(u32),
    /// Their place among all different values.
    Dictionary(u32),
    /// Their distance from the page's base.
    For(u32),
    /// Their distance from the value before, of the first from the page's base.
    ForDelta(u32),
}

/// The codecs of ORDERS-Z, with that of the order key.
pub fn orders_z(order_key: Codec) -> Vec<Codec> {
    vec![
        Codec::Pack(14),
        order_key,
        Codec::Plain,
        Codec::Dictionary(2),
        Codec::Dictionary(3),
        Codec::Plain,
        Codec::Pack(1),
    ]
}

/// An attribute of a table.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Bytes of its values: 4 of a number, any of a text.
    pub bytes: usize,
    /// Whether they are numbers.
    pub number: bool,
    /// How they are stored.
    pub codec: Codec,
    /// The different values, if its codec has them.
    pub dictionary: Vec<Vec<u8>>,
}

/// What an attribute's values have been on a page so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// The last one.
    pub last: i32,
    /// Entries so far.
    pub count: usize,
}

impl Attribute {
    /// Bits of a stored value.
    pub fn bits(&self) -> usize {
        match self.codec {
            Codec::Plain => 8 * self.bytes,
            Codec::Pack(bits)
            | Codec::Dictionary(bits)
            | Codec::For(bits)
            | Codec::ForDelta(bits) => bits as usize,
        }
    }

    /// Stores a value at a bit of a page.
    ///
    /// # Errors
    /// If its codec has no bits for the value.
    pub fn store(
        &mut self,
        page: &mut Page,
        at: usize,
        value: &[u8],
        before: Before,
    ) -> Result<()> {
        let number = page::integer(value);
        let first = before.count == 0;
        let (width, code) = match self.codec {
            Codec::Plain => {
                // At any bit: a compressed tuple has numbers wherever they come.
                for (place, byte) in value.iter().enumerate() {
                    page::set_bits(page, at + 8 * place, 8, u32::from(*byte));
                }
                return Ok(());
            }
            Codec::Pack(width) => (width, i64::from(number)),
            Codec::Dictionary(width) => (width, self.place(value)),
            Codec::For(width) | Codec::ForDelta(width) => {
                if first {
                    page::set_base(page, number);
                }
                let from = match self.codec {
                    Codec::ForDelta(_) if !first => before.last,
                    _ => page::base(page),
                };
                (width, i64::from(number) - i64::from(from))
            }
        };
        if code < 0 || code >> width != 0 {
            let message = format!("{code} does not fit in {width} bits of {:?}", self.codec);
            return Err(Error::new(message, ""));
        }
        page::set_bits(page, at, width, code as u32);
        Ok(())
    }

    /// The place of a value in the dictionary, at its end if it is new.
    fn place(&mut self, value: &[u8]) -> i64 {
        let known = self.dictionary.iter().position(|known| known == value);
        let place = known.unwrap_or_else(|| {
            self.dictionary.push(value.to_vec());
            self.dictionary.len() - 1
        });
        place as i64
    }
}
