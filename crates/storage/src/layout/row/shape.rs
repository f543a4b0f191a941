//! Where each column lies in a tuple of fixed width.

use crate::codec::fields::FieldCodes;
use crate::codec::{Codes, DenseData, Encoded};
use crate::layout::book::{Form, field_codes, form_of};

/// Codes wider than this begin at a whole byte, so that one load of eight bytes holds any.
const LOOSE_BITS: u8 = 56;

/// Where each column lies in a tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    /// In bits.
    pub offsets: Vec<usize>,
    /// In bytes.
    pub width: usize,
    /// Bytes of an end offset.
    pub end_bytes: usize,
}

impl Shape {
    /// Presence bits, then the columns in order, end offsets of four bytes among them.
    pub fn dense(forms: &[Form]) -> Shape {
        Shape::new(forms, 4, |_| true, |_| false)
    }

    /// Presence bits, then the fixed columns in order, then the end offsets.
    pub fn slotted(forms: &[Form], end_bytes: usize) -> Shape {
        let fixed = |form: &Form| *form != Form::Variable;
        Shape::new(forms, end_bytes, fixed, |form| !fixed(form))
    }

    /// First the columns that are `early`, then those that are `late`.
    fn new(
        forms: &[Form],
        end_bytes: usize,
        early: impl Fn(&Form) -> bool,
        late: impl Fn(&Form) -> bool,
    ) -> Shape {
        let mut at = 8 * forms.len().div_ceil(8);
        let mut offsets = vec![at; forms.len()];
        let columns = || forms.iter().enumerate();
        let early = columns().filter(|(_, form)| early(form));
        for (number, form) in early.chain(columns().filter(|(_, form)| late(form))) {
            let (bits, whole) = match form {
                Form::Nothing => (0, false),
                Form::Code(bits) => (usize::from(*bits), *bits > LOOSE_BITS),
                Form::Fixed(bytes) => (8 * bytes, true),
                Form::Variable => (8 * end_bytes, true),
            };
            if whole {
                at = at.next_multiple_of(8);
            }
            offsets[number] = at;
            at += bits;
        }
        Shape {
            offsets,
            width: at.div_ceil(8),
            end_bytes,
        }
    }

    /// Writes the end offset of a variable column; it fits `end_bytes`.
    pub fn put_end(&self, tuple: &mut [u8], column: usize, end: usize) {
        let at = self.offsets[column] / 8;
        tuple[at..at + self.end_bytes].copy_from_slice(&end.to_le_bytes()[..self.end_bytes]);
    }

    /// The end offset of a variable column in the tuple that begins at `at`.
    pub fn end(&self, tuples: &[u8], at: usize, column: usize) -> usize {
        let at = at + self.offsets[column] / 8;
        let mut bytes = [0; 4];
        bytes[..self.end_bytes].copy_from_slice(&tuples[at..at + self.end_bytes]);
        u32::from_le_bytes(bytes) as usize
    }
}

/// What tuples are written from.
pub(super) struct Source<'a> {
    /// The columns.
    pub columns: &'a [Encoded],
    /// Their codes for fields.
    pub codes: Vec<Option<FieldCodes>>,
    /// How they appear in a tuple.
    pub forms: Vec<Form>,
}

impl<'a> Source<'a> {
    /// Makes codes for fields.
    pub fn new(columns: &'a [Encoded]) -> Source<'a> {
        let codes: Vec<Option<FieldCodes>> = columns
            .iter()
            .map(|column| field_codes(column, true))
            .collect();
        let forms = columns
            .iter()
            .zip(&codes)
            .map(|(column, codes)| form_of(column, codes.as_ref()))
            .collect();
        Source {
            columns,
            codes,
            forms,
        }
    }

    /// Rows to be written.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.rows)
    }

    /// Writes a row's presence bits and fixed values into zeros.
    pub fn put_fixed(&self, row: usize, shape: &Shape, tuple: &mut [u8]) {
        for (number, (column, offset)) in self.columns.iter().zip(&shape.offsets).enumerate() {
            let nulls = column.nulls.as_ref();
            if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                tuple[number / 8] |= 1 << (number % 8);
            }
            match (&column.codes, &self.codes[number]) {
                (Codes::Integers(_), Some(codes)) => put_code(tuple, *offset, codes.codes[row]),
                (Codes::Stored(DenseData::Fixed { width, bytes }), _) => {
                    tuple[offset / 8..offset / 8 + width]
                        .copy_from_slice(&bytes[row * width..(row + 1) * width]);
                }
                _ => {}
            }
        }
    }

    /// The variable values of a row, with their columns.
    pub fn variable(&self, row: usize) -> impl Iterator<Item = (usize, &'a [u8])> {
        let columns = self.columns.iter().enumerate();
        columns.filter_map(move |(number, column)| match &column.codes {
            Codes::Stored(DenseData::Variable { ends, bytes }) => {
                let start = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
                Some((number, &bytes[start..ends[row] as usize]))
            }
            _ => None,
        })
    }
}

/// Sets a code's bits, which are zero so far.
fn put_code(tuple: &mut [u8], offset: usize, code: u64) {
    let bytes = (code << (offset % 8)).to_le_bytes();
    tuple[offset / 8..]
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to |= from);
}
