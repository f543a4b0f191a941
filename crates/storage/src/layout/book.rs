//! What the fields of a column mean, for layouts that keep tuples together.

use super::SectionData;
use super::column::test_chunks;
use crate::codec::bits::CHUNK;
use crate::codec::code_source::{CodeSource, Fetched};
use crate::codec::fields::{self, FieldCodes, Fields, Rows};
use crate::codec::{ArrayForm, CodeTest, Codebook, Codes, DenseData, Encoded, constant, translate};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind};
use crate::predicate::Leaf;
use crate::schema::{ColumnType, Physical, TableSchema, Value};
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use std::ops::Range;

/// How a column appears in a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Not at all.
    Nothing,
    /// A code of so many bits.
    Code(u8),
    /// A stored value of so many bytes.
    Fixed(usize),
    /// Bytes of its own, elsewhere.
    Variable,
}

/// The codes of a column for fields: none for stored values. Where the layout
/// keeps no field for a NULL, no row's value may depend on the field before it.
pub(super) fn field_codes(column: &Encoded, keeps_nulls: bool) -> Option<FieldCodes> {
    let codec = if keeps_nulls || column.nulls.is_none() {
        column.codec
    } else {
        Codec::For
    };
    match &column.codes {
        Codes::Integers(values) => Some(fields::build(codec, values)),
        _ => None,
    }
}

/// The form of an encoded column.
pub(super) fn form_of(column: &Encoded, codes: Option<&FieldCodes>) -> Form {
    match (&column.codes, codes) {
        (Codes::Stored(DenseData::Fixed { width, .. }), _) => Form::Fixed(*width),
        (Codes::Stored(DenseData::Variable { .. }), _) => Form::Variable,
        (_, Some(codes)) => Form::Code(codes.width),
        _ => Form::Nothing,
    }
}

/// About how many bytes an encoded column takes in tuples and heap, where its
/// codes, if it has some, are fields of `width` bits.
pub fn tuple_bytes(column: &Encoded, width: u8) -> usize {
    match &column.codes {
        Codes::Stored(DenseData::Fixed { width, .. }) => column.rows * width,
        Codes::Stored(DenseData::Variable { bytes, .. }) => bytes.len() + 4 * column.rows,
        Codes::Integers(_) => (column.rows * usize::from(width)).div_ceil(8),
        Codes::Nothing => 0,
    }
}

/// The sections that explain a column: its codebook and its fields.
pub(super) fn sections(
    number: usize,
    column: &Encoded,
    codes: Option<&FieldCodes>,
) -> Vec<SectionData> {
    let section = |kind, bytes| SectionData {
        kind,
        codec: column.codec,
        column: u16::try_from(number).ok(),
        unit_rows: 0,
        bytes: Buffer::from_vec(bytes),
    };
    let mut sections = Vec::new();
    if !column.codebook.is_empty() {
        sections.push(section(SectionKind::Codebook, column.codebook.clone()));
    }
    if let Some(codes) = codes {
        sections.push(section(SectionKind::Fields, codes.header.clone()));
    }
    sections
}

/// The bytes of a column's codebook and fields sections, with its codec.
#[derive(Clone, Debug)]
pub struct BookSections {
    /// Codec of the column.
    pub codec: Codec,
    /// Codebook, if it has one.
    pub codebook: Option<Buffer>,
    /// Fields, if it has codes.
    pub fields: Option<Buffer>,
}

impl BookSections {
    /// A column of stored values.
    pub fn plain() -> BookSections {
        BookSections {
            codec: Codec::Plain,
            codebook: None,
            fields: None,
        }
    }
}

/// The meaning of one column's fields, opened.
#[derive(Debug)]
pub struct Book {
    /// The column's type.
    pub kind: ColumnType,
    /// What codes mean.
    pub codebook: Codebook,
    fields: Option<Fields>,
}

/// Opens the books of all columns.
///
/// # Errors
/// `Corrupt` naming the column.
pub fn open_books(
    schema: &TableSchema,
    rows: usize,
    sections: &[BookSections],
) -> Result<Vec<Book>> {
    let columns = schema.columns.iter().zip(sections);
    columns
        .map(|(column, sections)| {
            let section = |name: &str| format!("{name} of {}", column.name);
            let book = sections.codebook.clone().unwrap_or_default();
            let codebook = Codebook::open(sections.codec, column.kind, &book, rows)
                .map_err(|error| error.at("", None, Some("codebook")).of_column(&column.name))?;
            let coded = matches!(
                codebook,
                Codebook::Integers | Codebook::Dictionary(_) | Codebook::Alp(_)
            );
            let fields = match (&sections.fields, coded) {
                (Some(bytes), true) => {
                    let fields = Fields::open(bytes, rows);
                    Some(fields.map_err(|error| error.at("", None, Some(&section("fields"))))?)
                }
                (None, true) => {
                    let missing = Error::corrupt("the section is missing");
                    return Err(missing.at("", None, Some(&section("fields"))));
                }
                (_, false) => None,
            };
            Ok(Book {
                kind: column.kind,
                codebook,
                fields,
            })
        })
        .collect()
}

impl Book {
    /// How the column appears in a tuple.
    pub fn form(&self) -> Form {
        match (&self.fields, &self.codebook, self.kind.physical()) {
            (Some(fields), ..) => Form::Code(fields.width()),
            (None, Codebook::Constant(_), _) => Form::Nothing,
            (None, _, Physical::Bytes { .. }) => Form::Variable,
            (None, _, physical) => Form::Fixed(physical.width().unwrap_or(1)),
        }
    }

    /// Whether variable bytes are text as it is.
    pub fn is_plain_text(&self) -> bool {
        matches!(self.codebook, Codebook::Plain)
            && self.kind.physical() == Physical::Bytes { text: true }
    }

    /// Whether coded bytes become text.
    pub fn is_text(&self) -> bool {
        self.kind.physical() == Physical::Bytes { text: true }
    }

    /// The values of `rows`, whose codes `source` has.
    ///
    /// # Errors
    /// `Corrupt` for a code without value.
    pub fn decode(
        &self,
        rows: &Rows<'_>,
        nulls: Option<NullBuffer>,
        source: &impl CodeSource,
        form: ArrayForm,
    ) -> Result<ArrayRef> {
        match (&self.fields, &self.codebook) {
            (Some(fields), codebook) => {
                let fetched = Fetched {
                    fields,
                    source,
                    rows,
                };
                codebook.decode(&self.kind, &fetched, nulls, form)
            }
            (None, Codebook::Constant(value)) => constant(value, rows.count(), nulls, form),
            (None, _) => Err(Error::corrupt(
                "a column without fields was read by its codes",
            )),
        }
    }

    /// The value of one row, whose code `code` gives; `source` has those of more
    /// rows, if the value depends on them.
    ///
    /// # Errors
    /// `Corrupt` for a code without value.
    pub fn value(
        &self,
        row: u32,
        code: impl FnOnce() -> u64,
        source: &impl CodeSource,
    ) -> Result<Value> {
        let integer = match &self.fields {
            None => 0,
            Some(fields) => match fields.base() {
                Some(base) => base.wrapping_add(code() as i64),
                None => {
                    let mut one: Vec<i64> = Vec::with_capacity(1);
                    fields.integers(&Rows::Positions(&[row]), source, &mut one);
                    one[0]
                }
            },
        };
        self.codebook.value(&self.kind, integer, row)
    }

    /// `leaf` as a test of codes, where the column has some.
    ///
    /// # Errors
    /// As [`translate`].
    pub fn translate(&self, leaf: &Leaf) -> Result<Option<CodeTest>> {
        if self.fields.is_some() {
            translate(leaf, &self.codebook)
        } else {
            Ok(None)
        }
    }

    /// The rows of `rows`, which begin a chunk, whose codes pass; NULLs may.
    pub fn test(
        &self,
        test: &CodeTest,
        rows: Range<usize>,
        source: &impl CodeSource,
    ) -> BooleanBuffer {
        let Some(fields) = &self.fields else {
            return BooleanBuffer::new_unset(rows.len());
        };
        test_chunks(rows.clone(), |chunk, mask| {
            let part = chunk * CHUNK..rows.end.min((chunk + 1) * CHUNK);
            fields.test(part, test, source, mask);
        })
    }

    /// The runs of `rows`, none of which is NULL, see [`Fields::runs`].
    pub fn runs(
        &self,
        rows: Range<usize>,
        source: &impl CodeSource,
    ) -> Option<(Vec<i64>, Vec<u32>)> {
        match (&self.codebook, &self.fields) {
            (Codebook::Integers, Some(fields)) => fields.runs(rows, source),
            _ => None,
        }
    }

    /// The codes of all `rows`, if the column has a dictionary.
    pub fn ranks(&self, rows: usize, source: &impl CodeSource) -> Option<Vec<i64>> {
        match (&self.codebook, &self.fields) {
            (Codebook::Dictionary(_), Some(fields)) => {
                let mut ranks = Vec::with_capacity(rows);
                fields.integers(&Rows::Range(0..rows), source, &mut ranks);
                Some(ranks)
            }
            _ => None,
        }
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.codebook.memory() + self.fields.as_ref().map_or(0, Fields::memory)
    }
}
