//! The first 64 bytes of a block file.

use super::{BLOCK_ROWS_MAX, Reader, Writer, checksum};
use crate::error::{Error, Result};
use crate::ids::BlockId;
use crate::schema::{COLUMNS_MAX, Layout};

/// First bytes of every block file.
pub const MAGIC: &[u8; 8] = b"FREESTBK";
/// Version that this code writes; older ones stay readable.
pub const FORMAT_VERSION: u16 = 2;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;

/// What a block says about itself before anything else is read (Q1: under 100 bytes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Tuple-store layout.
    pub layout: Layout,
    /// Rows, 1..=`BLOCK_ROWS_MAX`.
    pub rows: u32,
    /// The block's number.
    pub id: BlockId,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// Size of a PAX or slotted page in bytes, 0 where there are no pages.
    pub page_bytes: u32,
    /// Columns, equal to the schema's.
    pub columns: u16,
    /// Column that the rows are sorted on.
    pub sort_column: Option<u16>,
    /// Sections in the directory.
    pub sections: u32,
    /// Checksum of the section directory.
    pub directory_checksum: u64,
}

/// `(offset, bytes, field)` of the header; the table in `docs/format.md` and the
/// encoder are both held against it.
pub const HEADER_FIELDS: &[(usize, usize, &str)] = &[
    (0, 8, "magic `FREESTBK`"),
    (
        8,
        2,
        "format version, 2; blocks of version 1 have no codecs",
    ),
    (
        10,
        1,
        "layout tag: 1 row, 2 column, 3 pax, 4 dsm, 5 inverted",
    ),
    (11, 1, "zero"),
    (12, 4, "rows, 1..=1048576"),
    (16, 8, "block number"),
    (24, 8, "bytes of the file"),
    (
        32,
        4,
        "size of a PAX or slotted page in bytes, 0 without pages",
    ),
    (36, 2, "columns"),
    (38, 2, "sort column plus 1, 0 for none"),
    (40, 4, "sections in the directory"),
    (44, 4, "zero"),
    (48, 8, "checksum of the directory"),
    (56, 8, "checksum of bytes 0..56"),
];

impl Header {
    /// The header's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(MAGIC);
        writer.u16(FORMAT_VERSION);
        writer.u8(self.layout as u8);
        writer.u8(0);
        writer.u32(self.rows);
        writer.u64(self.id.0);
        writer.u64(self.file_bytes);
        writer.u32(self.page_bytes);
        writer.u16(self.columns);
        writer.u16(self.sort_column.map_or(0, |column| column + 1));
        writer.u32(self.sections);
        writer.u32(0);
        writer.u64(self.directory_checksum);
        let mut bytes = writer.finish();
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Reads and bounds every field.
    ///
    /// # Errors
    /// `Corrupt`; a newer format version says so.
    pub fn decode(bytes: &[u8]) -> Result<Header> {
        let mut reader = Reader::new(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(Error::corrupt(
                "this is no Freestone block: it does not begin with FREESTBK",
            ));
        }
        let version = reader.u16()?;
        let sealed = bytes.get(..HEADER_BYTES - 8).map(checksum);
        let (layout_tag, _, rows, id) = (
            reader.u8()?,
            reader.u8()?,
            reader.u32()?,
            BlockId(reader.u64()?),
        );
        let (file_bytes, page_bytes, columns) = (reader.u64()?, reader.u32()?, reader.u16()?);
        let (sort, sections, _) = (reader.u16()?, reader.u32()?, reader.u32()?);
        let directory_checksum = reader.u64()?;
        if Some(reader.u64()?) != sealed {
            return Err(Error::corrupt("checksum mismatch"));
        }
        if !(1..=FORMAT_VERSION).contains(&version) {
            return Err(Error::corrupt(format!(
                "format version {version}; this program reads versions up to {FORMAT_VERSION}"
            )));
        }
        let layout = Layout::from_tag(layout_tag)
            .ok_or_else(|| Error::corrupt(format!("unknown layout tag {layout_tag}")))?;
        if rows == 0 || rows as usize > BLOCK_ROWS_MAX {
            return Err(Error::corrupt(format!(
                "{rows} rows; a block holds 1 to {BLOCK_ROWS_MAX}"
            )));
        }
        if columns as usize > COLUMNS_MAX || sort > columns {
            return Err(Error::corrupt(format!(
                "{columns} columns, sorted on number {sort}"
            )));
        }
        let sort_column = sort.checked_sub(1);
        Ok(Header {
            layout,
            rows,
            id,
            file_bytes,
            page_bytes,
            columns,
            sort_column,
            sections,
            directory_checksum,
        })
    }
}
