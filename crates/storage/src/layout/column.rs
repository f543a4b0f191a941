//! Column layout: one stripe per column (H2, Q4).
//!
//! A stripe has up to three sections: validity (one bit a row, only when
//! something is NULL), and values, or ends and bytes. Each stripe is opened
//! alone, so a scan of two columns reads two columns.

use super::SectionData;
use super::dense::{Dense, DenseData, fixed_to_arrow};
use super::views::Views;
use crate::error::{Error, Result};
use crate::format::{SectionKind, UNIT_ROWS};
use crate::schema::{ColumnType, Physical};
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use std::ops::Range;

/// Lays out `columns` as stripes.
pub(super) fn build(columns: &[Dense]) -> Vec<SectionData> {
    let mut sections = Vec::new();
    for (number, column) in columns.iter().enumerate() {
        let mut add = |kind, unit_rows, bytes| {
            sections.push(SectionData {
                kind,
                column: u16::try_from(number).ok(),
                unit_rows,
                bytes,
            });
        };
        if let Some(nulls) = &column.nulls {
            let bits: BooleanBuffer = nulls.iter().collect();
            let bytes = bits
                .inner()
                .as_slice()
                .get(..column.rows.div_ceil(8))
                .unwrap_or_default()
                .to_vec();
            add(SectionKind::Validity, 0, Buffer::from_vec(bytes));
        }
        match &column.data {
            DenseData::Fixed { bytes, .. } => add(SectionKind::Values, UNIT_ROWS, bytes.clone()),
            DenseData::Variable { ends, bytes } => {
                add(SectionKind::Ends, UNIT_ROWS, Buffer::from_vec(ends.clone()));
                add(SectionKind::Bytes, 0, bytes.clone());
            }
        }
    }
    sections
}

/// One column of one block, opened.
#[derive(Debug)]
pub struct Stripe {
    kind: ColumnType,
    nulls: Option<NullBuffer>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Fixed { width: usize, bytes: Buffer },
    Variable(Views),
}

/// The sections of one stripe.
#[derive(Debug)]
pub struct StripeSections {
    /// Validity bits, if anything is NULL.
    pub validity: Option<Buffer>,
    /// Values, or end offsets.
    pub values: Buffer,
    /// Variable values.
    pub bytes: Option<Buffer>,
}

impl Stripe {
    /// Checks a stripe's sections against each other.
    ///
    /// # Errors
    /// `Corrupt` if lengths, offsets or text are wrong.
    pub fn open(kind: ColumnType, rows: usize, sections: StripeSections) -> Result<Stripe> {
        let nulls = match sections.validity {
            None => None,
            Some(bits) if bits.len() == rows.div_ceil(8) => {
                Some(NullBuffer::new(BooleanBuffer::new(bits, 0, rows)))
            }
            Some(bits) => {
                return Err(Error::corrupt(format!(
                    "{} bytes of validity for {rows} rows",
                    bits.len()
                )));
            }
        };
        let (unit, name) = kind
            .physical()
            .width()
            .map_or((4, "end offsets"), |width| (width, "values"));
        if rows.checked_mul(unit) != Some(sections.values.len()) {
            return Err(Error::corrupt(format!(
                "{} bytes of {name} for {rows} rows",
                sections.values.len()
            )));
        }
        let values = match (kind.physical(), sections.bytes) {
            (Physical::Bytes { text }, Some(bytes)) => {
                let ends: ScalarBuffer<u32> = sections.values.into();
                let starts = std::iter::once(0).chain(ends.iter().map(|end| *end as usize));
                let places: Vec<Range<usize>> = starts
                    .zip(ends.iter())
                    .map(|(start, end)| start..*end as usize)
                    .collect();
                Values::Variable(Views::new(bytes, places.into_iter(), text)?)
            }
            (Physical::Bytes { .. }, None) => {
                return Err(Error::corrupt("the bytes section is missing"));
            }
            (_, _) => Values::Fixed {
                width: unit,
                bytes: sections.values,
            },
        };
        Ok(Stripe {
            kind,
            nulls,
            values,
        })
    }

    /// The values of some rows.
    ///
    /// # Errors
    /// `Corrupt` if the stored values cannot be of this type.
    pub fn read(&self, rows: Range<usize>) -> Result<ArrayRef> {
        let nulls = self
            .nulls
            .as_ref()
            .map(|nulls| nulls.slice(rows.start, rows.len()));
        match &self.values {
            Values::Variable(views) => Ok(views.slice(rows, nulls)),
            Values::Fixed { width, bytes } => {
                let bytes = bytes.slice_with_length(rows.start * width, rows.len() * width);
                fixed_to_arrow(&self.kind, rows.len(), bytes, nulls)
            }
        }
    }

    /// The values at ascending `positions`.
    ///
    /// # Errors
    /// As [`Stripe::read`].
    pub fn take(&self, positions: &[u32]) -> Result<ArrayRef> {
        let nulls = self.nulls.as_ref().map(|nulls| {
            positions
                .iter()
                .map(|row| nulls.is_valid(*row as usize))
                .collect::<NullBuffer>()
        });
        match &self.values {
            Values::Variable(views) => Ok(views.take(positions, nulls)),
            Values::Fixed { width, bytes } => {
                let bytes = gather_fixed(bytes.as_slice(), *width, positions);
                fixed_to_arrow(&self.kind, positions.len(), bytes, nulls)
            }
        }
    }

    /// Bytes of memory beyond the sections.
    pub fn memory(&self) -> usize {
        match &self.values {
            Values::Fixed { .. } => 0,
            Values::Variable(views) => views.memory(),
        }
    }
}

/// Copies the values at `positions`; one loop per width, so that each is a plain load and store.
fn gather_fixed(bytes: &[u8], width: usize, positions: &[u32]) -> Buffer {
    fn gather<const N: usize>(bytes: &[u8], positions: &[u32]) -> Buffer {
        let (values, _) = bytes.as_chunks::<N>();
        let mut gathered = arrow_buffer::MutableBuffer::new(N * positions.len());
        for row in positions {
            gathered.extend_from_slice(&values[*row as usize]);
        }
        gathered.into()
    }
    match width {
        1 => gather::<1>(bytes, positions),
        2 => gather::<2>(bytes, positions),
        4 => gather::<4>(bytes, positions),
        8 => gather::<8>(bytes, positions),
        _ => gather::<16>(bytes, positions),
    }
}
