//! What a block says of itself, in its first 64 bytes.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 4 | tuples |
//! | 4 | 1 | 1 for a row store, 0 for a column store |
//! | 5 | 1 | the column that tuples are sorted on, 255 for none |
//! | 6 | 1 | bytes of a value where it is not compressed |
//! | 7 | 1 | columns |
//! | 8 | 56 | bytes of a stored value, a byte for each column |
//! | 64 | … | the tuples |

use super::field::{Field, Key};
use crate::error::{Error, Result};

const HEADER: usize = 64;
const WIDTHS: usize = 8;
const UNSORTED: u8 = 255;

/// What a block says of itself.
#[derive(Clone, Debug)]
pub struct Header {
    /// Tuples.
    pub tuples: u32,
    /// Whether they lie one after the other; else their columns do.
    pub is_row_store: bool,
    /// The column that they are sorted on.
    pub sorted: Option<u8>,
    /// Bytes of a value where it is not compressed.
    pub value_bytes: u8,
    /// Bytes of a stored value of each column.
    pub widths: Vec<u8>,
}

impl Header {
    fn tuple_bytes(&self) -> usize {
        self.widths.iter().map(|width| usize::from(*width)).sum()
    }

    /// The memory of a block, with this header and room for its tuples.
    ///
    /// # Errors
    /// More columns than there is room for.
    pub fn memory(&self) -> Result<Vec<u8>> {
        let columns = self.widths.len();
        if columns > HEADER - WIDTHS {
            return Err(Error::new("too many columns for a block", ""));
        }
        let mut memory = vec![0; HEADER + self.tuples as usize * self.tuple_bytes()];
        memory[..4].copy_from_slice(&self.tuples.to_le_bytes());
        memory[4] = self.is_row_store.into();
        memory[5] = self.sorted.unwrap_or(UNSORTED);
        memory[6] = self.value_bytes;
        memory[7] = columns as u8;
        memory[WIDTHS..WIDTHS + columns].copy_from_slice(&self.widths);
        Ok(memory)
    }

    /// The header of a block.
    ///
    /// # Errors
    /// It does not fit the block.
    pub fn read(memory: &[u8]) -> Result<Header> {
        let short = || Error::new("a block without a header", "");
        let (header, tuples) = memory.split_at_checked(HEADER).ok_or_else(short)?;
        let columns = usize::from(header[7]).min(HEADER - WIDTHS);
        let header = Header {
            tuples: u32::read(header, 0),
            is_row_store: header[4] == 1,
            sorted: Some(header[5]).filter(|column| *column != UNSORTED),
            value_bytes: header[6],
            widths: header[WIDTHS..WIDTHS + columns].to_vec(),
        };
        match header.tuples as usize * header.tuple_bytes() == tuples.len() {
            true => Ok(header),
            false => Err(Error::new(
                "a block of another size than its header says",
                "",
            )),
        }
    }

    /// Where the values of each column lie.
    pub fn fields(&self) -> Vec<Field> {
        let mut start = HEADER;
        let fields = self.widths.iter().map(|width| {
            let bytes = usize::from(*width);
            let (here, stride) = (
                start,
                if self.is_row_store {
                    self.tuple_bytes()
                } else {
                    bytes
                },
            );
            start += if self.is_row_store {
                bytes
            } else {
                bytes * self.tuples as usize
            };
            Field {
                start: here,
                stride,
                bytes,
            }
        });
        fields.collect()
    }
}
