//! A block explained: every byte range by name, every column in numbers.

use super::{Block, FoundColumn, Opened};
use crate::error::Result;
use crate::format::{HEADER_BYTES, HEADER_FIELDS, Reader, SECTION_BYTES, Section, SectionKind};
use crate::schema::{Layout, Value};

/// Some bytes of a block file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// Offset in the file.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// What they are.
    pub name: String,
    /// What they say.
    pub detail: String,
}

/// One column of one block in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFacts {
    /// Codec of the values.
    pub codec: &'static str,
    /// Bytes that the column takes in the file, without its zone maps.
    pub bytes: u64,
    /// Bytes of its values in stored form.
    pub raw_bytes: u64,
    /// Rows that are NULL.
    pub null_count: u64,
    /// A lower bound.
    pub min: Option<Value>,
    /// An upper bound.
    pub max: Option<Value>,
    /// About how many different values.
    pub distinct: u64,
}

impl Block {
    /// Names every byte of the file, in order and without gaps.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn describe(&self) -> Result<Vec<ByteRange>> {
        let opened = self.opened()?;
        let header = opened.header.encode();
        let mut ranges: Vec<ByteRange> = HEADER_FIELDS
            .iter()
            .map(|(offset, len, name)| {
                let bytes = header.get(*offset..offset + len).unwrap_or_default();
                let hex = bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<Vec<_>>()
                    .join(" ");
                ByteRange {
                    offset: *offset as u64,
                    len: *len as u64,
                    name: format!("header: {name}"),
                    detail: hex,
                }
            })
            .collect();
        let directory = SECTION_BYTES * opened.sections.len();
        ranges.push(ByteRange {
            offset: HEADER_BYTES as u64,
            len: directory as u64,
            name: "section directory".into(),
            detail: format!("{} entries of {SECTION_BYTES} bytes", opened.sections.len()),
        });
        let mut sections: Vec<&Section> = opened.sections.iter().collect();
        sections.sort_by_key(|section| (section.offset, section.len));
        let mut end = (HEADER_BYTES + directory) as u64;
        let pad = |ranges: &mut Vec<ByteRange>, from: u64, to: u64| {
            if from < to {
                ranges.push(ByteRange {
                    offset: from,
                    len: to - from,
                    name: "padding".into(),
                    detail: String::new(),
                });
            }
        };
        for section in sections {
            pad(&mut ranges, end, section.offset);
            ranges.push(ByteRange {
                offset: section.offset,
                len: section.len,
                name: section.name(&self.schema.columns),
                detail: self.detail(opened, section),
            });
            end = section.offset + section.len;
        }
        pad(&mut ranges, end, opened.header.file_bytes);
        Ok(ranges)
    }

    fn detail(&self, opened: &Opened, section: &Section) -> String {
        let mut detail = format!(
            "{}, checksum {:016x}",
            section.codec.name(),
            section.checksum
        );
        let definition = section
            .column
            .and_then(|column| self.schema.columns.get(usize::from(column)));
        if let (Some(definition), SectionKind::Values | SectionKind::Ends) =
            (definition, section.kind)
        {
            let units = |rows: u64| rows.div_ceil(u64::from(section.unit_rows.max(1)));
            let (kind, rows) = (definition.kind, self.info.rows);
            detail = match (self.info.layout, section.column) {
                (Layout::Inverted, _) => format!("{kind}, {detail}"),
                (Layout::Dsm, Some(column)) => {
                    let absent = opened
                        .zones
                        .get(usize::from(column))
                        .map_or(0, |zone| zone.nulls);
                    let present = rows.saturating_sub(absent.into());
                    format!(
                        "{kind}, {present} values in {} chunks, {detail}",
                        units(present)
                    )
                }
                _ => format!("{kind}, {rows} rows in {} chunks, {detail}", units(rows)),
            };
        }
        detail
    }

    /// Every column of the table in numbers.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn columns(&self) -> Result<Vec<ColumnFacts>> {
        let opened = self.opened()?;
        let sizes = self.sizes(opened)?;
        let sketches = self.sketches()?;
        let facts = sketches.iter().enumerate().map(|(column, sketch)| {
            let zone = self.zone(column)?;
            let (codec, (bytes, raw_bytes)) = match self.find_column(column)? {
                FoundColumn::Own(own) if let Some((block, place)) = self.overlay(own) => {
                    let facts = block.columns()?.swap_remove(place);
                    (facts.codec, (facts.bytes, facts.raw_bytes))
                }
                FoundColumn::Own(own) => {
                    let bytes = sizes.get(own).copied().unwrap_or_default();
                    // In range: a schema has at most 4,096 columns.
                    (self.codec(opened, own as u16).name(), bytes)
                }
                FoundColumn::Missing(..) => ("absent", (0, 0)),
            };
            let bounds = zone.bounds.as_ref();
            Ok(ColumnFacts {
                codec,
                bytes,
                raw_bytes,
                null_count: u64::from(zone.nulls),
                min: bounds.map(|bounds| bounds.min.clone()),
                max: bounds.map(|bounds| bounds.max.clone()),
                distinct: sketch.estimate(),
            })
        });
        facts.collect()
    }

    /// Bytes of the file that reading these columns takes.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn bytes_of(&self, columns: &[usize]) -> Result<u64> {
        let opened = self.opened()?;
        let mut bytes = if columns.is_empty() {
            0
        } else {
            opened.shared_bytes
        };
        for column in columns {
            if let FoundColumn::Own(column) = self.find_column(*column)? {
                bytes += match self.overlay(column) {
                    Some((block, place)) => block.bytes_of(&[place])?,
                    None => opened.column_bytes.get(column).copied().unwrap_or(0),
                };
            }
        }
        Ok(bytes)
    }

    /// Bytes of its values in stored form, of all columns that it was written with.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn raw_bytes(&self) -> Result<u64> {
        let opened = self.opened()?;
        if let Some(known) = opened.raw_bytes.get() {
            return Ok(*known);
        }
        let raw = self.sizes(opened)?.iter().map(|(_, raw)| raw).sum();
        Ok(*opened.raw_bytes.get_or_init(|| raw))
    }

    /// Bytes stored and raw, of each column. Blocks of version 1 did not note
    /// them: there a column is its own sections, and as large as they are.
    fn sizes(&self, opened: &Opened) -> Result<Vec<(u64, u64)>> {
        let columns = self.schema.columns.len();
        let Some(section) = self.find(opened, SectionKind::Sizes, None) else {
            let own = |column: usize| {
                let mine = |section: &&Section| {
                    section.column.map(usize::from) == Some(column)
                        && section.kind != SectionKind::Zones
                };
                opened
                    .sections
                    .iter()
                    .filter(mine)
                    .map(|section| section.len)
                    .sum()
            };
            return Ok((0..columns)
                .map(|column| (own(column), own(column)))
                .collect());
        };
        let bytes = self.read_section(opened, section)?;
        let mut reader = Reader::new(bytes.as_slice());
        (0..columns)
            .map(|_| Ok((reader.u64()?, reader.u64()?)))
            .collect()
    }
}
