//! Column layout: one stripe per column (H2, Q4).
//!
//! A stripe's sections depend on its codec; each stripe is opened alone, so a
//! scan of two columns reads two columns.
//!
//! | codec | sections |
//! |---|---|
//! | plain, fixed width | validity?, values |
//! | plain, varying | validity?, ends, bytes |
//! | constant | validity?, codebook |
//! | of integers | validity?, codebook?, values as [`Integers`] |
//! | symbols | validity?, codebook, lengths (in place of ends) as [`Integers`], bytes |

use super::SectionData;
use super::coded_text::CodedText;
use super::stripe_sections::StripeSections;
use super::validity::{at_rows, open_validity};
use crate::codec::bits::{Mask, Target};
use crate::codec::fields::Rows;
use crate::codec::integers::{self, Integers};
use crate::codec::{
    ArrayForm, CodeTest, Codebook, Codes, DenseData, Encoded, Fetch, Views, constant,
    fixed_to_arrow, gather_fixed, prefetch, stored_value, translate,
};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind, UNIT_ROWS};
use crate::predicate::Leaf;
use crate::schema::{ColumnType, Physical, Value};
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use std::ops::Range;

/// Lays out `columns` as stripes.
pub(super) fn build(columns: &[Encoded]) -> Vec<SectionData> {
    let columns = columns.iter().enumerate();
    columns
        .flat_map(|(number, column)| stripe(number, column))
        .collect()
}

/// Lays out one column.
pub(super) fn stripe(number: usize, column: &Encoded) -> Vec<SectionData> {
    let mut sections = Vec::new();
    let mut add = |kind, codec, bytes| {
        sections.push(SectionData {
            kind,
            codec,
            column: u16::try_from(number).ok(),
            unit_rows: UNIT_ROWS,
            bytes,
        });
    };
    if let Some(bits) = validity(column) {
        add(SectionKind::Validity, Codec::Plain, bits);
    }
    if !column.codebook.is_empty() {
        add(
            SectionKind::Codebook,
            column.codec,
            Buffer::from_vec(column.codebook.clone()),
        );
    }
    match &column.codes {
        Codes::Nothing => {}
        Codes::Integers(values) => {
            add(
                SectionKind::Values,
                column.codec,
                Buffer::from_vec(integers::build(column.codec, values)),
            );
        }
        Codes::Stored(DenseData::Fixed { bytes, .. }) => {
            add(SectionKind::Values, Codec::Plain, bytes.clone())
        }
        Codes::Stored(DenseData::Variable { ends, bytes }) => {
            let (codec, ends) = if column.codec == Codec::Plain {
                (Codec::Plain, Buffer::from_vec(ends.clone()))
            } else {
                let starts = std::iter::once(&0).chain(ends);
                let lengths: Vec<i64> = starts
                    .zip(ends)
                    .map(|(start, end)| i64::from(end - start))
                    .collect();
                (
                    Codec::For,
                    Buffer::from_vec(integers::build(Codec::For, &lengths)),
                )
            };
            add(SectionKind::Ends, codec, ends);
            add(SectionKind::Bytes, column.codec, bytes.clone());
        }
    }
    sections
}

/// One bit for each row, if anything is NULL.
fn validity(column: &Encoded) -> Option<Buffer> {
    let bits: BooleanBuffer = column.nulls.as_ref()?.iter().collect();
    let bytes = bits
        .inner()
        .as_slice()
        .get(..column.rows.div_ceil(8))
        .unwrap_or_default();
    Some(Buffer::from_vec(bytes.to_vec()))
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
    Constant(Codebook),
    Integers(Codebook, Integers),
    Text(CodedText),
}

impl Stripe {
    /// Checks a stripe's sections against each other.
    ///
    /// # Errors
    /// `Corrupt` if sections are missing, or lengths, offsets, codes or text wrong.
    pub fn open(
        kind: ColumnType,
        rows: usize,
        codec: Codec,
        sections: StripeSections,
    ) -> Result<Stripe> {
        let nulls = open_validity(sections.validity, rows).map_err(inside("validity"))?;
        let need = |section: Option<Buffer>, name: &str| {
            let missing = || Error::corrupt("the section is missing");
            section.ok_or_else(missing).map_err(inside(name))
        };
        let book = sections.codebook.unwrap_or_default();
        let codebook = Codebook::open(codec, kind, &book, rows).map_err(inside("codebook"))?;
        let values = match (codebook, kind.physical()) {
            (Codebook::Plain, Physical::Bytes { text }) => {
                let (ends, bytes) = (need(sections.ends, "ends")?, need(sections.bytes, "bytes")?);
                plain_text(ends, bytes, rows, text)?
            }
            (Codebook::Plain, physical) => {
                let width = physical.width().unwrap_or(1);
                let bytes = need(sections.values, "values")?;
                if rows.checked_mul(width) != Some(bytes.len()) {
                    let reason = format!("{} bytes of values for {rows} rows", bytes.len());
                    return Err(inside("values")(Error::corrupt(reason)));
                }
                Values::Fixed { width, bytes }
            }
            (Codebook::Symbols(table), physical) => {
                let (ends, bytes) = (need(sections.ends, "ends")?, need(sections.bytes, "bytes")?);
                let text = physical == Physical::Bytes { text: true };
                let coded = Integers::open(Codec::For, ends, rows)
                    .and_then(|lengths| CodedText::open(table, lengths, bytes, text));
                Values::Text(coded.map_err(inside("ends"))?)
            }
            (codebook @ Codebook::Constant(_), _) => Values::Constant(codebook),
            (codebook, _) => {
                let integers = Integers::open(codec, need(sections.values, "values")?, rows);
                Values::Integers(codebook, integers.map_err(inside("values"))?)
            }
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
    pub fn read_as(&self, rows: &Rows<'_>, form: ArrayForm) -> Result<ArrayRef> {
        self.read_values(rows, form).map_err(inside(self.section()))
    }

    /// The section that values are in.
    fn section(&self) -> &'static str {
        match &self.values {
            Values::Constant(_) => "codebook",
            Values::Text(_) | Values::Variable(_) => "bytes",
            Values::Fixed { .. } | Values::Integers(..) => "values",
        }
    }

    fn read_values(&self, rows: &Rows<'_>, form: ArrayForm) -> Result<ArrayRef> {
        let kind = form.kind(&self.kind);
        let nulls = self.nulls.as_ref().map(|nulls| at_rows(nulls, rows));
        match (&self.values, rows) {
            (Values::Variable(views), Rows::Range(rows)) => Ok(views.slice(rows.clone(), nulls)),
            (Values::Variable(views), Rows::Positions(positions)) => {
                Ok(views.take(positions, nulls))
            }
            (Values::Fixed { width, bytes }, Rows::Range(rows)) => {
                let bytes = bytes.slice_with_length(rows.start * width, rows.len() * width);
                fixed_to_arrow(&kind, rows.len(), bytes, nulls)
            }
            (Values::Fixed { width, bytes }, Rows::Positions(positions)) => fixed_to_arrow(
                &kind,
                positions.len(),
                gather_fixed(bytes, *width, positions),
                nulls,
            ),
            (Values::Constant(Codebook::Constant(value)), rows) => {
                constant(value, rows.count(), nulls, form)
            }
            (Values::Constant(_), _) => Err(Error::corrupt("a constant without value")),
            (Values::Integers(codebook, integers), rows) => {
                codebook.decode(&self.kind, &Chunks { integers, rows }, nulls, form)
            }
            (Values::Text(text), rows) => text.read(rows, nulls),
        }
    }

    /// Begins to fetch what [`Stripe::value`] will read.
    pub fn prefetch(&self, row: u32) {
        let row = row as usize;
        match &self.values {
            Values::Fixed { width, bytes } => prefetch(bytes, row * width),
            Values::Variable(views) => views.prefetch(row),
            Values::Constant(_) => {}
            Values::Integers(_, integers) => integers.prefetch(row),
            Values::Text(text) => text.prefetch(row),
        }
    }

    /// One value; `None` if it is NULL.
    ///
    /// # Errors
    /// As [`Stripe::read`].
    pub fn value(&self, row: u32) -> Result<Option<Value>> {
        let place = row as usize;
        if self
            .nulls
            .as_ref()
            .is_some_and(|nulls| nulls.is_null(place))
        {
            return Ok(None);
        }
        let physical = self.kind.physical();
        let value = match &self.values {
            Values::Variable(views) => Ok(Value::Bytes(views.value(place).to_vec())),
            Values::Text(text) => text.value(place).map(Value::Bytes),
            Values::Constant(codebook) => codebook.value(&self.kind, 0, row),
            Values::Integers(codebook, integers) => {
                codebook.value(&self.kind, integers.get(place), row)
            }
            Values::Fixed { width, bytes } => Ok(stored_value(
                &bytes[place * width..(place + 1) * width],
                physical,
            )),
        };
        value.map(Some).map_err(inside(self.section()))
    }

    /// `leaf` as a test of codes, where this stripe can have one.
    ///
    /// # Errors
    /// As [`translate`].
    pub fn translate(&self, leaf: &Leaf) -> Result<Option<CodeTest>> {
        match &self.values {
            Values::Integers(codebook, _) => translate(leaf, codebook),
            _ => Ok(None),
        }
    }

    /// The rows of `rows`, which begin a chunk, that pass a test from [`Stripe::translate`].
    pub fn test(&self, test: &CodeTest, rows: Range<usize>) -> BooleanBuffer {
        let Values::Integers(_, integers) = &self.values else {
            return BooleanBuffer::new_unset(rows.len());
        };
        let passing = test_chunks(rows.clone(), |chunk, mask| match test {
            CodeTest::Ranges(ranges) => integers.test(chunk, ranges, mask),
            CodeTest::Set(_) | CodeTest::Rows(_) => {
                let mut values = [0i64; crate::codec::bits::CHUNK];
                integers.chunk(chunk, &mut values);
                test.test(&values, mask);
            }
        });
        match &self.nulls {
            Some(nulls) => &passing & nulls.slice(rows.start, rows.len()).inner(),
            None => passing,
        }
    }

    /// The runs of some rows, if integers without NULLs lie in runs that save anything:
    /// the value of each, and the row after its last.
    pub fn runs(&self, rows: Range<usize>) -> Option<(&[i64], &[u32])> {
        match (&self.values, &self.nulls) {
            (Values::Integers(Codebook::Integers, Integers::Runs(runs)), None)
                if !rows.is_empty() && runs.count() * 2 <= runs.rows() =>
            {
                Some(runs.in_rows(rows))
            }
            _ => None,
        }
    }

    /// The codes of all rows, if the stripe has a dictionary.
    pub fn ranks(&self) -> Option<Vec<i64>> {
        let Values::Integers(Codebook::Dictionary(_), integers) = &self.values else {
            return None;
        };
        let mut ranks = Vec::with_capacity(integers.rows());
        integers.read(0..integers.rows(), &mut ranks);
        Some(ranks)
    }

    /// Bytes of memory beyond the sections.
    pub fn memory(&self) -> usize {
        match &self.values {
            Values::Fixed { .. } => 0,
            Values::Variable(views) => views.memory(),
            Values::Constant(codebook) => codebook.memory(),
            Values::Integers(codebook, integers) => codebook.memory() + integers.memory(),
            Values::Text(text) => text.memory(),
        }
    }
}

/// Places an error in a section of the column.
fn inside(section: &str) -> impl Fn(Error) -> Error {
    move |error| error.at("", None, Some(section))
}

fn plain_text(ends: Buffer, bytes: Buffer, rows: usize, text: bool) -> Result<Values> {
    if rows.checked_mul(4) != Some(ends.len()) {
        let reason = format!("{} bytes of end offsets for {rows} rows", ends.len());
        return Err(inside("ends")(Error::corrupt(reason)));
    }
    let ends: ScalarBuffer<u32> = ends.into();
    let starts = std::iter::once(0).chain(ends.iter().map(|end| *end as usize));
    let places: Vec<Range<usize>> = starts
        .zip(ends.iter())
        .map(|(start, end)| start..*end as usize)
        .collect();
    let views = Views::new(bytes, places.into_iter(), text).map_err(inside("bytes"))?;
    Ok(Values::Variable(views))
}

/// One bit for each of `rows`, which begin a chunk, from a mask for each chunk.
pub(super) fn test_chunks(
    rows: Range<usize>,
    mut chunk: impl FnMut(usize, &mut Mask),
) -> BooleanBuffer {
    const CHUNK: usize = crate::codec::bits::CHUNK;
    debug_assert!(rows.start.is_multiple_of(CHUNK));
    let mut words: Vec<u64> = Vec::with_capacity(rows.len().div_ceil(64));
    for number in rows.start / CHUNK..rows.end.div_ceil(CHUNK) {
        let mut mask = [0; CHUNK / 64];
        chunk(number, &mut mask);
        words.extend_from_slice(&mask);
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, rows.len())
}

/// Integers of a stripe, fetched for some rows.
struct Chunks<'a> {
    integers: &'a Integers,
    rows: &'a Rows<'a>,
}

impl Fetch for Chunks<'_> {
    fn count(&self) -> usize {
        self.rows.count()
    }

    fn fetch<D: Target>(&self, out: &mut Vec<D>) {
        match self.rows {
            Rows::Range(rows) => self.integers.read(rows.clone(), out),
            Rows::Positions(positions) => self.integers.take(positions, out),
        }
    }

    fn rows(&self) -> impl Iterator<Item = u32> + Clone {
        self.rows.iter()
    }
}
