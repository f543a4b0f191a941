//! Opening a block, and reading its sections.

use super::{Block, Opened, file_name, zones};
use crate::error::{Error, Result};
use crate::format::{HEADER_BYTES, Header, Reader, SECTION_BYTES, Section, SectionKind, checksum};
use crate::io::PrefetchFile;
use arrow_buffer::Buffer;
use std::sync::{Arc, OnceLock};

/// Bytes read at first: enough for header, directory and zone maps of most blocks.
pub(super) const FIRST_READ: u64 = 8 << 10;

impl Block {
    pub(super) fn opened(&self) -> Result<&Opened> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let file = match self.file.get() {
            Some(file) => Ok(file.clone()),
            None => self.open_file(),
        };
        let opened = file.and_then(|file| self.open(file));
        let opened = opened.map_err(self.blame(Some("header")))?;
        Ok(self.opened.get_or_init(|| opened))
    }

    pub(super) fn open_file(&self) -> Result<Arc<PrefetchFile>> {
        let file = self.files.open(&file_name(self.info.id))?;
        let prefetcher = self.cache.prefetcher().clone();
        Ok(Arc::new(PrefetchFile::new(file, prefetcher)))
    }

    pub(super) fn open(&self, file: Arc<PrefetchFile>) -> Result<Opened> {
        if file.len() != self.info.bytes {
            let (expected, found) = (self.info.bytes, file.len());
            return Err(Error::corrupt(format!(
                "the file has {found} bytes, {expected} were written"
            )));
        }
        let head = file.read(0, FIRST_READ.min(file.len()) as usize)?;
        let header = Header::decode(head.as_slice())?;
        let expected = (
            self.info.id,
            self.info.rows,
            self.info.layout,
            self.schema.columns.len(),
        );
        let found = (
            header.id,
            u64::from(header.rows),
            header.layout,
            usize::from(header.columns),
        );
        if expected != found || header.file_bytes != file.len() {
            return Err(Error::corrupt(format!(
                "the header says block {} with {} rows, {}, {} columns; expected block {} with {} rows, {}, {} columns",
                found.0, found.1, found.2, found.3, expected.0, expected.1, expected.2, expected.3
            )));
        }
        let sections = self
            .directory(&file, &head, &header)
            .map_err(|e| e.at("", None, Some("section directory")))?;
        let mut opened = Opened {
            file,
            header,
            sections,
            zones: Vec::new(),
            fine: Vec::new(),
            column_bytes: Vec::new(),
            shared_bytes: 0,
            raw_bytes: OnceLock::new(),
        };
        opened.count_bytes(self.schema.columns.len());
        let bytes = self.block_zones(&opened, &head)?;
        let mut reader = Reader::new(bytes.as_slice());
        for column in &self.schema.columns {
            let zone = zones::decode(&mut reader, column.kind.physical(), self.info.rows as usize);
            opened
                .zones
                .push(zone.map_err(|e| e.at("", None, Some(SectionKind::BlockZones.name())))?);
        }
        opened.fine = self
            .schema
            .columns
            .iter()
            .map(|_| OnceLock::new())
            .collect();
        Ok(opened)
    }

    /// The section of zone maps, which the first read has in most blocks.
    fn block_zones(&self, opened: &Opened, head: &Buffer) -> Result<Buffer> {
        let known = self.find(opened, SectionKind::BlockZones, None);
        let within = |section: &&Section| section.offset + section.len <= head.len() as u64;
        match known.filter(within) {
            Some(section) => self.verified(section, || {
                let (offset, len) = (section.offset as usize, section.len as usize);
                Ok(head.slice_with_length(offset, len))
            }),
            None => self.section(opened, SectionKind::BlockZones, None),
        }
    }

    fn directory(
        &self,
        file: &PrefetchFile,
        head: &Buffer,
        header: &Header,
    ) -> Result<Vec<Section>> {
        let len = (header.sections as usize).checked_mul(SECTION_BYTES);
        let len = len.filter(|len| (HEADER_BYTES + len) as u64 <= file.len());
        let len = len.ok_or_else(|| {
            Error::corrupt(format!(
                "{} sections in a file of {} bytes",
                header.sections,
                file.len()
            ))
        })?;
        let bytes = if HEADER_BYTES + len <= head.len() {
            head.slice_with_length(HEADER_BYTES, len)
        } else {
            file.read(HEADER_BYTES as u64, len)?
        };
        if checksum(bytes.as_slice()) != header.directory_checksum {
            return Err(Error::corrupt("checksum mismatch"));
        }
        let mut reader = Reader::new(bytes.as_slice());
        (0..header.sections)
            .map(|_| Section::decode(&mut reader, header.columns, header.file_bytes))
            .collect()
    }

    pub(super) fn find<'a>(
        &self,
        opened: &'a Opened,
        kind: SectionKind,
        column: Option<u16>,
    ) -> Option<&'a Section> {
        opened
            .sections
            .iter()
            .find(|section| section.kind == kind && section.column == column)
    }

    /// Reads and verifies one section.
    pub(super) fn section(
        &self,
        opened: &Opened,
        kind: SectionKind,
        column: Option<u16>,
    ) -> Result<Buffer> {
        let found = self.find(opened, kind, column);
        let missing = || Error::corrupt(format!("section {} is missing", kind.name()));
        let section = found
            .ok_or_else(missing)
            .map_err(self.blame(Some("section directory")))?;
        self.read_section(opened, section)
    }

    pub(super) fn read_section(&self, opened: &Opened, section: &Section) -> Result<Buffer> {
        self.verified(section, || {
            let len = usize::try_from(section.len)
                .map_err(|_| Error::corrupt("too long for this machine"))?;
            opened.file.read(section.offset, len)
        })
    }

    /// The bytes of a section, if they are those that were written.
    fn verified(&self, section: &Section, bytes: impl Fn() -> Result<Buffer>) -> Result<Buffer> {
        let read = || match bytes()? {
            bytes if checksum(bytes.as_slice()) == section.checksum => Ok(bytes),
            _ => Err(Error::corrupt("checksum mismatch")),
        };
        let name = |error: Error| self.blame(Some(&section.name(&self.schema.columns)))(error);
        read().map_err(name)
    }
}

impl Opened {
    /// Counts the bytes of values, by column and of all columns together.
    fn count_bytes(&mut self, columns: usize) {
        self.column_bytes = vec![0; columns];
        for section in self.sections.iter().filter(|section| holds_values(section)) {
            match section.column {
                None => self.shared_bytes += section.len,
                Some(column) => self.column_bytes[usize::from(column)] += section.len,
            }
        }
    }
}

/// Whether a section has something of the values, and not what is known of them.
pub(super) fn holds_values(section: &Section) -> bool {
    let statistics = [
        SectionKind::BlockZones,
        SectionKind::Zones,
        SectionKind::Sketches,
        SectionKind::Sizes,
        SectionKind::Index,
    ];
    !statistics.contains(&section.kind)
}
