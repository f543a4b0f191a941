//! The sections that columns stored apart consist of.

use crate::format::SectionKind;
use arrow_buffer::Buffer;

/// The sections of one column; those it does not have are `None`.
#[derive(Debug, Default)]
pub struct StripeSections {
    /// Validity bits.
    pub validity: Option<Buffer>,
    /// Codebook.
    pub codebook: Option<Buffer>,
    /// Values.
    pub values: Option<Buffer>,
    /// End offsets, or lengths.
    pub ends: Option<Buffer>,
    /// Variable values.
    pub bytes: Option<Buffer>,
    /// DSM layout: the rows that the values belong to.
    pub surrogates: Option<Buffer>,
    /// Inverted layout: the rows of each value; `ends` has their lengths.
    pub row_sets: Option<Buffer>,
}

impl StripeSections {
    /// Where a section of this kind belongs, if columns stored apart have it.
    pub fn slot(&mut self, kind: SectionKind) -> Option<&mut Option<Buffer>> {
        match kind {
            SectionKind::Validity => Some(&mut self.validity),
            SectionKind::Codebook => Some(&mut self.codebook),
            SectionKind::Values => Some(&mut self.values),
            SectionKind::Ends => Some(&mut self.ends),
            SectionKind::Bytes => Some(&mut self.bytes),
            SectionKind::Surrogates => Some(&mut self.surrogates),
            SectionKind::RowSets => Some(&mut self.row_sets),
            _ => None,
        }
    }

    /// Bytes of all of them.
    pub fn bytes_in_all(&self) -> usize {
        let all = [
            &self.validity,
            &self.codebook,
            &self.values,
            &self.ends,
            &self.bytes,
            &self.surrogates,
            &self.row_sets,
        ];
        all.into_iter().flatten().map(Buffer::len).sum()
    }
}
