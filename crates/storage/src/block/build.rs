//! From a batch of rows to the bytes of a block file.

use super::index_part::{self, IndexSource};
use super::order::sorted_key;
use super::sketch::Sketch;
use super::zones;
use crate::codec::{Codes, Dense, Encoded};
use crate::error::Result;
use crate::format::{
    Codec, HEADER_BYTES, Header, SECTION_BYTES, Section, SectionKind, Writer, ZONE_ROWS, checksum,
};
use crate::ids::BlockId;
use crate::io::ALIGNMENT;
use crate::layout::{self, SectionData};
use crate::schema::{IndexDefinition, Layout, TableOptions, TableSchema};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;

/// The bytes of a block file, in pieces to be written one after the other.
#[derive(Debug)]
pub struct BlockBytes {
    pieces: Vec<Buffer>,
}

impl BlockBytes {
    /// The pieces in order.
    pub fn pieces(&self) -> Vec<&[u8]> {
        self.pieces.iter().map(Buffer::as_slice).collect()
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }
}

/// Lays out `batch`, whose columns are the schema's, as one block.
///
/// # Errors
/// Those of [`Dense::from_arrow`] and [`layout::build`].
pub fn build(
    id: BlockId,
    schema: &TableSchema,
    options: &TableOptions,
    batch: &RecordBatch,
) -> Result<BlockBytes> {
    let columns = schema
        .columns
        .iter()
        .zip(batch.columns())
        .map(|(column, array)| Dense::from_arrow(array, column))
        .collect::<Result<Vec<Dense>>>()?;
    let mut sections = statistics(schema, &columns);
    let encoded: Vec<Encoded> = schema
        .columns
        .iter()
        .zip(&columns)
        .map(|(column, dense)| {
            layout::encode(
                dense,
                column.kind.physical(),
                options.codec_of(&column.name),
                options.layout,
            )
        })
        .collect();
    let stored = layout::build(schema, &columns, &encoded, options)?;
    sections.push(sizes(&columns, &encoded, &stored));
    sections.extend(stored);
    let sort_column = match &options.sort_by {
        Some(name) => schema.index_of(name),
        None => sorted_key(schema, batch)?,
    };
    for definition in schema.indexes.iter().filter(|index| index.kind.has_parts()) {
        // Rows that lie in the order of a key are found without its index.
        let in_order = definition.columns.first().copied() == sort_column;
        if in_order && options.sort_by.is_none() && schema.is_of_key(definition) {
            continue;
        }
        let source = IndexSource {
            columns: definition
                .columns
                .iter()
                .map(|column| &columns[*column])
                .collect(),
            codes: match definition.columns.as_slice() {
                [column] => ranks(&columns[*column], &encoded[*column], options.layout),
                _ => None,
            },
        };
        sections.push(index_section(definition, schema, &source));
    }
    let header = Header {
        layout: options.layout,
        rows: batch.num_rows() as u32,
        id,
        file_bytes: 0,
        page_bytes: if options.has_pages() {
            options.page_bytes
        } else {
            0
        },
        columns: schema.columns.len() as u16,
        sort_column: sort_column.map(|column| column as u16),
        sections: sections.len() as u32,
        directory_checksum: 0,
    };
    Ok(assemble(header, sections))
}

/// The codes of a column that has a dictionary, as [`layout::TupleStore::ranks`]
/// gives them: those of every row, where conditions are tested on codes.
fn ranks<'a>(column: &Dense, encoded: &'a Encoded, layout: Layout) -> Option<&'a [i64]> {
    match (&encoded.codes, encoded.codec) {
        (Codes::Integers(codes), Codec::Dictionary)
            if encoded.rows == column.rows && layout != Layout::Inverted =>
        {
            Some(codes)
        }
        _ => None,
    }
}

/// An index sub-block over one block.
pub(super) fn index_section(
    definition: &IndexDefinition,
    schema: &TableSchema,
    source: &IndexSource<'_>,
) -> SectionData {
    SectionData {
        kind: SectionKind::Index,
        codec: Codec::Plain,
        column: None,
        unit_rows: definition.number,
        bytes: Buffer::from_vec(index_part::build(definition, schema, source)),
    }
}

/// What each column takes: its own sections and its share of the tuples.
fn sizes(columns: &[Dense], encoded: &[Encoded], sections: &[SectionData]) -> SectionData {
    let mut writer = Writer::default();
    for (number, (column, encoded)) in columns.iter().zip(encoded).enumerate() {
        let mine = sections
            .iter()
            .filter(|section| section.column.map(usize::from) == Some(number));
        let own: usize = mine.clone().map(|section| section.bytes.len()).sum();
        let values = [
            SectionKind::Values,
            SectionKind::Bytes,
            SectionKind::RowSets,
        ];
        let apart = mine.clone().any(|section| values.contains(&section.kind));
        // The second byte of the fields section is their width.
        let fields = mine
            .clone()
            .find(|section| section.kind == SectionKind::Fields);
        let width = fields.and_then(|fields| fields.bytes.get(1)).copied();
        let share = if apart {
            0
        } else {
            layout::tuple_bytes(encoded, width.unwrap_or(0))
        };
        writer.u64((own + share) as u64);
        writer.u64(column.raw_bytes() as u64);
    }
    section(SectionKind::Sizes, None, writer)
}

/// Zone maps and sketches of every column.
fn statistics(schema: &TableSchema, columns: &[Dense]) -> Vec<SectionData> {
    let (mut whole, mut sketches) = (Writer::default(), Writer::default());
    let mut sections = Vec::new();
    for (number, (dense, column)) in columns.iter().zip(&schema.columns).enumerate() {
        let (block, fine) = zones::build(dense, column.kind.physical());
        zones::encode(&block, &mut whole);
        Sketch::of(dense).encode(&mut sketches);
        // A block of one zone has said everything already, and so has a column
        // without values, of which wide tables have many.
        if dense.rows > ZONE_ROWS && (block.nulls as usize) < dense.rows {
            let mut writer = Writer::default();
            fine.iter()
                .for_each(|zone| zones::encode(zone, &mut writer));
            sections.push(section(
                SectionKind::Zones,
                u16::try_from(number).ok(),
                writer,
            ));
        }
    }
    sections.insert(0, section(SectionKind::Sketches, None, sketches));
    sections.insert(0, section(SectionKind::BlockZones, None, whole));
    sections
}

fn section(kind: SectionKind, column: Option<u16>, writer: Writer) -> SectionData {
    SectionData {
        kind,
        codec: Codec::Plain,
        column,
        unit_rows: 0,
        bytes: Buffer::from_vec(writer.finish()),
    }
}

fn aligned(len: usize) -> usize {
    len.next_multiple_of(ALIGNMENT)
}

/// Places the sections one after the other behind header and directory.
pub(super) fn assemble(mut header: Header, sections: Vec<SectionData>) -> BlockBytes {
    let mut offset = aligned(HEADER_BYTES + SECTION_BYTES * sections.len());
    let mut directory = Writer::default();
    let mut pieces = vec![Buffer::default()];
    for data in sections {
        let entry = Section {
            kind: data.kind,
            codec: data.codec,
            column: data.column,
            unit_rows: data.unit_rows,
            offset: offset as u64,
            len: data.bytes.len() as u64,
            checksum: checksum(data.bytes.as_slice()),
        };
        entry.encode(&mut directory);
        let padding = aligned(data.bytes.len()) - data.bytes.len();
        offset += data.bytes.len() + padding;
        pieces.push(data.bytes);
        pieces.push(Buffer::from_vec(vec![0u8; padding]));
    }
    let directory = directory.finish();
    header.file_bytes = offset as u64;
    header.directory_checksum = checksum(&directory);
    let mut head = header.encode();
    head.extend_from_slice(&directory);
    head.resize(aligned(head.len()), 0);
    pieces[0] = Buffer::from_vec(head);
    BlockBytes { pieces }
}
