//! The section directory: what lies where in a block file.

use super::{Reader, Writer};
use crate::error::{Error, Result};
use crate::io::ALIGNMENT;

/// Bytes of one directory entry.
pub const SECTION_BYTES: usize = 32;
/// Values in one codec unit, called a chunk.
pub const UNIT_ROWS: u32 = 1024;

/// `(offset, bytes, field)` of one directory entry.
pub const SECTION_FIELDS: &[(usize, usize, &str)] = &[
    (0, 1, "section kind"),
    (1, 1, "codec tag, see codecs"),
    (2, 2, "column, 65535 for none"),
    (
        4,
        4,
        "values in a codec unit, 0 when not in units; an index: its number",
    ),
    (8, 8, "offset in the file, a multiple of 64"),
    (16, 8, "bytes"),
    (24, 8, "checksum of the bytes"),
];

/// What a section holds; the number is its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SectionKind {
    /// Row layout: the fixed parts of all tuples.
    Tuples = 1,
    /// Row layout: the variable values of all tuples.
    Heap = 2,
    /// Column layout: one bit a row, 1 = present; absent when nothing is null.
    Validity = 3,
    /// Column and DSM layouts: fixed-width values, or codes.
    Values = 4,
    /// Column and DSM layouts: end offset, or length, of each variable value;
    /// inverted layout: length of each row set.
    Ends = 5,
    /// Column and DSM layouts: variable values.
    Bytes = 6,
    /// PAX layout: pages.
    Pages = 7,
    /// PAX layout and slotted rows: start offset and first row of each page.
    PageDirectory = 8,
    /// Zone map of every column over the block.
    BlockZones = 9,
    /// Zone maps of one column per 8,192 rows.
    Zones = 10,
    /// Distinct-count sketch of every column.
    Sketches = 11,
    /// What a column's codec needs beside the codes: dictionary, exponents, symbols.
    Codebook = 12,
    /// DSM layout: the rows that a column's values belong to.
    Surrogates = 13,
    /// Inverted layout: the rows of each distinct value.
    RowSets = 14,
    /// Row and PAX layouts: what a column's fields mean.
    Fields = 15,
    /// Bytes of each column, stored and raw.
    Sizes = 16,
    /// Index sub-block; its number stands where others have the rows of a unit.
    Index = 17,
    /// Row layout: pages of records with a slot directory, in place of tuples and heap.
    SlottedPages = 18,
}

impl SectionKind {
    const ALL: [SectionKind; 18] = [
        SectionKind::Tuples,
        SectionKind::Heap,
        SectionKind::Validity,
        SectionKind::Values,
        SectionKind::Ends,
        SectionKind::Bytes,
        SectionKind::Pages,
        SectionKind::PageDirectory,
        SectionKind::BlockZones,
        SectionKind::Zones,
        SectionKind::Sketches,
        SectionKind::Codebook,
        SectionKind::Surrogates,
        SectionKind::RowSets,
        SectionKind::Fields,
        SectionKind::Sizes,
        SectionKind::Index,
        SectionKind::SlottedPages,
    ];

    /// The name that people and errors use.
    pub fn name(self) -> &'static str {
        match self {
            SectionKind::Tuples => "tuples",
            SectionKind::Heap => "heap",
            SectionKind::Validity => "validity",
            SectionKind::Values => "values",
            SectionKind::Ends => "ends",
            SectionKind::Bytes => "bytes",
            SectionKind::Pages => "pages",
            SectionKind::PageDirectory => "page directory",
            SectionKind::BlockZones => "block zone maps",
            SectionKind::Zones => "zone maps",
            SectionKind::Sketches => "distinct sketches",
            SectionKind::Codebook => "codebook",
            SectionKind::Fields => "fields",
            SectionKind::Sizes => "sizes",
            SectionKind::Index => "index",
            SectionKind::Surrogates => "surrogates",
            SectionKind::RowSets => "row sets",
            SectionKind::SlottedPages => "slotted pages",
        }
    }
}

/// How the values of a section are encoded; the number is its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Codec {
    /// Values as they are, each in its stored width.
    Plain = 1,
    /// One value for all rows.
    Constant = 2,
    /// Packed bits of values that are not negative.
    BitPack = 3,
    /// Frame of reference: a base, and packed bits above it.
    For = 4,
    /// A first value, and packed steps to the next.
    ForDelta = 5,
    /// Each run's value and length.
    RunLength = 6,
    /// Sorted distinct values, and packed ranks.
    Dictionary = 7,
    /// Values cut to 1, 2, 4 or 8 bytes.
    Truncation = 8,
    /// Floats as integers, with exceptions.
    Alp = 9,
    /// Text as codes of a table of symbols.
    Symbols = 10,
}

impl Codec {
    /// All of them, in order of their tags.
    pub const ALL: [Codec; 10] = [
        Codec::Plain,
        Codec::Constant,
        Codec::BitPack,
        Codec::For,
        Codec::ForDelta,
        Codec::RunLength,
        Codec::Dictionary,
        Codec::Truncation,
        Codec::Alp,
        Codec::Symbols,
    ];

    /// The name that SQL, people and errors use.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Plain => "plain",
            Codec::Constant => "constant",
            Codec::BitPack => "bitpack",
            Codec::For => "for",
            Codec::ForDelta => "for_delta",
            Codec::RunLength => "rle",
            Codec::Dictionary => "dictionary",
            Codec::Truncation => "truncation",
            Codec::Alp => "alp",
            Codec::Symbols => "symbols",
        }
    }
}

/// One directory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub kind: SectionKind,
    /// How it is encoded.
    pub codec: Codec,
    /// Column it belongs to.
    pub column: Option<u16>,
    /// Values in a codec unit, 0 when not in units.
    pub unit_rows: u32,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Length, bytes.
    pub len: u64,
    /// Checksum of those bytes.
    pub checksum: u64,
}

impl Section {
    /// Appends the entry.
    pub fn encode(&self, writer: &mut Writer) {
        writer.u8(self.kind as u8);
        writer.u8(self.codec as u8);
        writer.u16(self.column.unwrap_or(u16::MAX));
        writer.u32(self.unit_rows);
        writer.u64(self.offset);
        writer.u64(self.len);
        writer.u64(self.checksum);
    }

    /// Reads one entry of a block with `columns` columns in a file of `file_bytes`.
    ///
    /// # Errors
    /// `Corrupt` for unknown tags, columns or a place outside the file.
    pub fn decode(reader: &mut Reader<'_>, columns: u16, file_bytes: u64) -> Result<Section> {
        let (kind, codec, column) = (reader.u8()?, reader.u8()?, reader.u16()?);
        let (unit_rows, offset, len) = (reader.u32()?, reader.u64()?, reader.u64()?);
        let checksum = reader.u64()?;
        let kind = SectionKind::ALL
            .into_iter()
            .find(|known| *known as u8 == kind)
            .ok_or_else(|| Error::corrupt(format!("unknown section kind {kind}")))?;
        let codec = Codec::ALL
            .into_iter()
            .find(|known| *known as u8 == codec)
            .ok_or_else(|| {
                Error::corrupt(format!(
                    "unknown codec tag {codec} in section {}",
                    kind.name()
                ))
            })?;
        let column = (column != u16::MAX).then_some(column);
        if column.is_some_and(|column| column >= columns) {
            return Err(Error::corrupt(format!(
                "section {} of column {column:?}, there are {columns}",
                kind.name()
            )));
        }
        let inside = offset.checked_add(len).is_some_and(|end| end <= file_bytes);
        if !inside || !offset.is_multiple_of(ALIGNMENT as u64) {
            return Err(Error::corrupt(format!(
                "section {} at {offset} with {len} bytes does not fit a file of {file_bytes}",
                kind.name()
            )));
        }
        Ok(Section {
            kind,
            codec,
            column,
            unit_rows,
            offset,
            len,
            checksum,
        })
    }

    /// The name that errors and `inspect` use: `values of l_tax`.
    pub fn name(&self, columns: &[crate::schema::Column]) -> String {
        match self
            .column
            .and_then(|column| columns.get(usize::from(column)))
        {
            Some(column) => format!("{} of {}", self.kind.name(), column.name),
            None if self.kind == SectionKind::Index => format!("index number {}", self.unit_rows),
            None => self.kind.name().to_string(),
        }
    }
}
