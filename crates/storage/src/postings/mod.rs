//! Sets of row positions, each in the smallest of four forms.
//!
//! A *set* holds distinct positions of one block, written in ascending order.
//! The *gap* between two neighbours is how many positions lie between them: 0
//! when they touch. A *run* is a stretch of neighbours that touch. What is
//! smallest depends on the set: a sorted column makes runs, a frequent value a
//! bitmap, a rare one bit-packed gaps, and gaps of very different sizes want a
//! variable-length integer each. Every form begins alike:
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 1 | form: 1 runs, 2 bitmap, 3 packed gaps, 4 variable-length gaps |
//! | 1 | 1–5 | number of positions, `v` |
//! | … | 1–5 | first position, `v`; missing in the empty set, where all ends here |
//!
//! `v` is an unsigned integer in groups of seven bits, lowest first, the top
//! bit saying that more follow. Then comes
//!
//! * runs: length - 1 of the first run, `v`; for each further run the positions
//!   between, less one, `v`, and its length - 1, `v`;
//! * bitmap: last position less the first, `v`; one bit for each position from
//!   first to last, lowest bit first;
//! * packed gaps: bits of one gap, 1 byte; the gaps, lowest bit first;
//! * variable-length gaps: each gap, `v`.
//!
//! Example: {5, 6, 7, 8, 20, 21} is `01 06 05 03 0a 01`: runs, six positions, the
//! first is 5, a run of 3 + 1; 10 + 1 positions on, a run of 1 + 1.
//!
//! Nothing read is trusted: opening looks at the head, and every reading checks
//! as it goes that positions ascend, stay in the block and are as many as said.

mod bits;
mod write;

pub use write::encode;

use crate::error::{Error, Result};
use bits::{Sink, Words, packed, variable};

/// The four forms; numbers as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Runs = 1,
    Bitmap = 2,
    Packed = 3,
    Variable = 4,
}

/// A stored set of row positions.
#[derive(Clone, Copy, Debug)]
pub struct Postings<'a> {
    form: Form,
    len: u32,
    first: u32,
    rows: u32,
    payload: &'a [u8],
}

fn broken<T>(reason: &str) -> Result<T> {
    Err(Error::corrupt(format!("set of positions: {reason}")))
}

impl<'a> Postings<'a> {
    /// Opens the set in exactly these bytes, for a block of `rows` rows; reads its head only.
    ///
    /// # Errors
    /// `Corrupt` for an unknown form or a head that cannot be true.
    pub fn open(bytes: &'a [u8], rows: u32) -> Result<Postings<'a>> {
        let Some((form, mut payload)) = bytes.split_first() else {
            return broken("no bytes");
        };
        let form = match form {
            1 => Form::Runs,
            2 => Form::Bitmap,
            3 => Form::Packed,
            4 => Form::Variable,
            _ => return broken("unknown form"),
        };
        let len = variable(&mut payload)?;
        if len > rows {
            return broken("more positions than the block has rows");
        }
        let first = match len {
            0 => 0,
            _ => variable(&mut payload)?,
        };
        if len == 0 && (form != Form::Runs || !payload.is_empty()) {
            return broken("bytes after an empty set");
        }
        if len > 0 && first >= rows {
            return broken("position beyond the block");
        }
        Ok(Postings {
            form,
            len,
            first,
            rows,
            payload,
        })
    }

    /// Number of positions; nothing is decoded.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads everything once without keeping it.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn check(&self) -> Result<()> {
        self.visit(&mut ())
    }

    /// Appends the positions, ascending.
    ///
    /// # Errors
    /// `Corrupt`; some positions may have been appended by then.
    pub fn decode_into(&self, positions: &mut Vec<u32>) -> Result<()> {
        positions.reserve(self.len());
        self.visit(positions)
    }

    /// Sets the bit of every position; bit `n` is bit `n % 64` of word `n / 64`.
    ///
    /// # Errors
    /// `Corrupt`; some bits may have been set by then.
    ///
    /// # Panics
    /// If the words have fewer bits than the block has rows.
    pub fn or_into(&self, words: &mut [u64]) -> Result<()> {
        assert!(
            words.len() >= (self.rows as usize).div_ceil(64),
            "a bit for every row"
        );
        self.visit(&mut Words(words))
    }

    fn visit(&self, sink: &mut impl Sink) -> Result<()> {
        match self.form {
            _ if self.len == 0 => Ok(()),
            Form::Runs => self.visit_runs(sink),
            Form::Bitmap => self.visit_bitmap(sink),
            Form::Packed => self.visit_packed(sink),
            Form::Variable => self.visit_variable(sink),
        }
    }

    fn visit_runs(&self, sink: &mut impl Sink) -> Result<()> {
        let (mut rest, mut left) = (self.payload, u64::from(self.len));
        let mut start = u64::from(self.first);
        loop {
            let len = u64::from(variable(&mut rest)?) + 1;
            if len > left || start + len > u64::from(self.rows) {
                return broken("run beyond the block or the count");
            }
            sink.run(start as u32..(start + len) as u32);
            left -= len;
            if left == 0 {
                break;
            }
            start += len + u64::from(variable(&mut rest)?) + 1;
        }
        self.ends_here(rest)
    }

    fn visit_bitmap(&self, sink: &mut impl Sink) -> Result<()> {
        let mut bits = self.payload;
        let span = variable(&mut bits)?;
        if u64::from(self.first) + u64::from(span) >= u64::from(self.rows) {
            return broken("position beyond the block");
        }
        if bits.len() != span as usize / 8 + 1 {
            return broken("bitmap of the wrong length");
        }
        let ends_right = bits[bits.len() - 1] >> (span % 8) == 1;
        let count: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
        if bits[0] & 1 == 0 || !ends_right || count != self.len {
            return broken("bitmap does not hold the positions it says");
        }
        sink.bitmap(self.first, bits);
        Ok(())
    }

    fn visit_packed(&self, sink: &mut impl Sink) -> Result<()> {
        let Some((width, bits)) = self.payload.split_first() else {
            return broken("ends early");
        };
        let (width, gaps) = (usize::from(*width), self.len as usize - 1);
        if width > 32 || bits.len() != (gaps * width).div_ceil(8) {
            return broken("packed gaps of the wrong length");
        }
        let mut position = self.first;
        sink.one(position);
        for gap in 0..gaps {
            position = self.after(position, packed(bits, gap * width, width))?;
            sink.one(position);
        }
        Ok(())
    }

    fn visit_variable(&self, sink: &mut impl Sink) -> Result<()> {
        let (mut rest, mut position) = (self.payload, self.first);
        sink.one(position);
        for _ in 1..self.len {
            position = self.after(position, variable(&mut rest)?)?;
            sink.one(position);
        }
        self.ends_here(rest)
    }

    /// The position after `position` and a gap.
    #[inline]
    fn after(&self, position: u32, gap: u32) -> Result<u32> {
        let next = u64::from(position) + u64::from(gap) + 1;
        if next >= u64::from(self.rows) {
            return broken("position beyond the block");
        }
        Ok(next as u32)
    }

    fn ends_here(&self, rest: &[u8]) -> Result<()> {
        if !rest.is_empty() {
            return broken("bytes after the last position");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
