//! Where each layout keeps the values of R: addresses for the model of caches.
//!
//! Of pages they are the real ones: the pages that Freestone's storage builds of the
//! rows are opened with its page editors, and asked where values lie. A page's header,
//! and the slot of a record at the end of its page, are where `docs/format.md` says. The
//! columns of DSM lie where the file of a block has the values of each, block after
//! block; the surrogates of a column without NULLs are one run, so that nothing is read
//! of them for each value.

use super::relation::{PAGE_BYTES, Relation};
use super::table::Model;
use crate::error::{Error, Result};
use arrow_array::RecordBatch;
use freestone_storage::codec::Dense;
use freestone_storage::format::SectionKind;
use freestone_storage::layout::{
    self, Compaction, PageColumn, PageEditor, PaxPageEditor, SectionData, SlottedPageEditor,
};
use freestone_storage::{CodecChoice, Table, TableSchema};
use std::ops::Range;

/// Bytes before records or minipage entries on a page of either kind.
const HEADER: u64 = 16;
/// Bytes of a minipage entry.
const MINIPAGE_ENTRY: u64 = 6;
/// Bytes of a slot, on pages of up to 64 KiB.
const SLOT: u64 = 4;
/// Bytes before a record's values in the document's program, and of a value of R.
const TAG: u64 = 12;
const VALUE: u64 = 8;

/// Where the values of a relation lie.
#[derive(Debug)]
pub(super) struct Places {
    /// In order of their rows.
    pub parts: Vec<Part>,
    /// Bytes of a part that are read before its first value.
    pub header: u64,
    /// Whether a record is found by its slot.
    pub slotted: bool,
}

/// Rows that lie together: those of a page, or of a DSM block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub rows: Range<usize>,
    /// Addresses of the part.
    pub bytes: Range<u64>,
    /// Of each attribute the address of the first value, and the bytes from one to the next.
    pub columns: Vec<(u64, u64)>,
}

impl Part {
    /// The address of a value of a row of this part.
    pub fn value(&self, row: usize, attribute: usize) -> u64 {
        let (first, stride) = self.columns[attribute];
        first + stride * (row - self.rows.start) as u64
    }

    /// The address of a record's slot: they go backwards from the page's end.
    pub fn slot(&self, row: usize) -> u64 {
        self.bytes.end - SLOT * (row - self.rows.start + 1) as u64
    }
}

impl Places {
    /// Bytes of a slot.
    pub const SLOT: u64 = SLOT;

    /// Of records on slotted pages.
    pub fn nsm(relation: &Relation) -> Result<Places> {
        let parts = pages::<SlottedPageEditor>(relation, Model::Nsm)?;
        Ok(Places {
            parts,
            header: HEADER,
            slotted: true,
        })
    }

    /// Of records on slotted pages as the document's program has them: a tag before the
    /// values (see [`super::replica`]).
    pub fn tagged(relation: &Relation) -> Places {
        let values = VALUE * relation.degree() as u64;
        let record = TAG + values;
        let page = u64::from(PAGE_BYTES);
        // In range: a page has some hundred records.
        let most = ((page - HEADER) / (record + SLOT)) as usize;
        let parts = (0..relation.rows()).step_by(most).zip(0..);
        let parts = parts.map(|(first, number)| {
            let start = number * page;
            let value = |attribute| (start + HEADER + TAG + VALUE * attribute, record);
            Part {
                rows: first..(first + most).min(relation.rows()),
                bytes: start..start + page,
                columns: (0..relation.degree() as u64).map(value).collect(),
            }
        });
        Places {
            parts: parts.collect(),
            header: HEADER,
            slotted: true,
        }
    }

    /// Of minipages.
    pub fn pax(relation: &Relation) -> Result<Places> {
        let parts = pages::<PaxPageEditor>(relation, Model::Pax)?;
        Ok(Places {
            parts,
            header: HEADER + MINIPAGE_ENTRY * relation.degree() as u64,
            slotted: false,
        })
    }

    /// Of a table's columns in the files of its DSM blocks.
    pub fn dsm(table: &Table) -> Result<Places> {
        let (mut parts, mut row, mut file) = (Vec::new(), 0, 0);
        for block in table.blocks() {
            let ranges = block.describe()?;
            let values = |name: &String| {
                let wanted = format!("values of {name}");
                let range = ranges.iter().find(|range| range.name == wanted);
                range.map(|range| (file + range.offset, 8))
            };
            let names = table.schema.columns.iter().map(|column| &column.name);
            let columns = names.map(values).collect::<Option<Vec<_>>>();
            let columns = columns.ok_or_else(|| Error::new("a DSM column without values", ""))?;
            let rows = block.rows() as usize;
            parts.push(Part {
                rows: row..row + rows,
                bytes: file..file + block.bytes(),
                columns,
            });
            row += rows;
            file += block.bytes();
        }
        Ok(Places {
            parts,
            header: 0,
            slotted: false,
        })
    }
}

/// The pages that storage makes of all rows in one block, one behind the other.
fn pages<E: PageEditor>(relation: &Relation, model: Model) -> Result<Vec<Part>> {
    let schema = relation.schema();
    let columns: Vec<PageColumn> = schema.columns.iter().map(PageColumn::of).collect();
    let form = E::form(&columns, PAGE_BYTES as usize)?;
    let (pages, directory) = sections(&schema, &relation.batch()?, model)?;
    let words = directory.as_chunks::<4>().0;
    let words: Vec<usize> = words
        .iter()
        .map(|word| u32::from_le_bytes(*word) as usize)
        .collect();
    let entries = words.as_chunks::<2>().0;
    let ends = entries.iter().skip(1).copied();
    let ends = ends.chain([[pages.len(), relation.rows()]]);
    let mut parts = Vec::with_capacity(entries.len());
    for ([start, row], [end, next]) in entries.iter().zip(ends) {
        let page = E::open(&form, pages[*start..end].to_vec(), Compaction::Now)?;
        let place = |record, column| -> Result<u64> {
            let value = page.value(record, column)?;
            let value = value.ok_or_else(|| Error::new("NULL in a column that is NOT NULL", ""))?;
            Ok((*start + value.as_ptr().addr() - page.bytes().as_ptr().addr()) as u64)
        };
        let column = |column| {
            let first = place(0, column)?;
            let stride = match page.numbers() {
                0 | 1 => 0,
                _ => place(1, column)? - first,
            };
            Ok((first, stride))
        };
        parts.push(Part {
            rows: *row..next,
            bytes: *start as u64..end as u64,
            columns: (0..columns.len()).map(column).collect::<Result<_>>()?,
        });
    }
    Ok(parts)
}

/// The pages that storage makes of rows in one block, and their directory.
pub(super) fn sections(
    schema: &TableSchema,
    batch: &RecordBatch,
    model: Model,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let options = model.options(PAGE_BYTES);
    let columns = schema.columns.iter().zip(batch.columns());
    let dense = columns.map(|(column, values)| Dense::from_arrow(values, column));
    let dense = dense.collect::<freestone_storage::Result<Vec<Dense>>>()?;
    let columns = schema.columns.iter().zip(&dense);
    let encoded = columns.map(|(column, values)| {
        layout::encode(
            values,
            column.kind.physical(),
            CodecChoice::None,
            options.layout,
        )
    });
    let encoded: Vec<_> = encoded.collect();
    let sections = layout::build(schema, &dense, &encoded, &options)?;
    let of = |kinds: &[SectionKind]| -> Result<Vec<u8>> {
        let found = |section: &&SectionData| kinds.contains(&section.kind);
        let section = sections.iter().find(found);
        let section = section.ok_or_else(|| Error::new("pages without a section of them", ""))?;
        Ok(section.bytes.to_vec())
    };
    let pages = of(&[SectionKind::Pages, SectionKind::SlottedPages])?;
    Ok((pages, of(&[SectionKind::PageDirectory])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use freestone_storage::Store;

    /// Reads a page's bytes at the places that were found.
    fn check(relation: &Relation, places: &Places, bytes: &[u8]) {
        let rows: usize = places.parts.iter().map(|part| part.rows.len()).sum();
        assert_eq!(rows, relation.rows());
        for part in &places.parts {
            for row in part.rows.clone() {
                for (number, attribute) in relation.attributes.iter().enumerate() {
                    let at = part.value(row, number) as usize;
                    let value = bytes[at..at + 8].try_into().unwrap();
                    assert_eq!(i64::from_le_bytes(value), attribute[row]);
                }
            }
        }
    }

    #[test]
    fn values_are_where_the_places_say() {
        let relation = Relation::new(1_000, 8, 5);
        let bytes = |model| {
            let (schema, batch) = (relation.schema(), relation.batch().unwrap());
            sections(&schema, &batch, model).unwrap().0
        };
        let (nsm, pax) = (
            Places::nsm(&relation).unwrap(),
            Places::pax(&relation).unwrap(),
        );
        check(&relation, &nsm, &bytes(Model::Nsm));
        check(&relation, &pax, &bytes(Model::Pax));
        // The paper: about 125 records of R on a page of 8 KiB.
        assert!((115..=128).contains(&pax.parts[0].rows.len()));
        let page = &bytes(Model::Nsm)[..PAGE_BYTES as usize];
        let slot = nsm.parts[0].slot(3) as usize;
        let record = u16::from_le_bytes([page[slot], page[slot + 1]]);
        assert!(u64::from(record) < nsm.parts[0].value(3, 0));
        assert!(u64::from(record) > nsm.parts[0].value(2, 0));
    }

    #[test]
    fn columns_lie_where_the_blocks_have_them() {
        let relation = Relation::new(5_000, 3, 5);
        let tables = relation.tables(&Store::in_memory()).unwrap();
        let places = Places::dsm(&tables[2].1).unwrap();
        let part = &places.parts[0];
        assert_eq!(part.rows, 0..5_000);
        assert_eq!(part.value(11, 1) - part.value(10, 1), 8);
        assert!(part.value(0, 1) >= part.value(4_999, 0) + 8);
    }
}
