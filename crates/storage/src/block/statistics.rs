//! What a block knows of its columns without reading values.

use super::places::{Found as FoundColumn, zone_of};
use super::{Block, Sketch, zones};
use crate::codec::Dense;
use crate::error::{Error, Result};
use crate::format::{Reader, SectionKind, ZONE_ROWS};
use crate::predicate::Zone;
use crate::schema::Column;
use std::borrow::Cow;
use std::sync::Arc;

impl Block {
    /// The column that the rows are sorted on, NULLs last.
    ///
    /// # Errors
    /// `Corrupt` or `Io` at the first use of the block.
    pub fn sort_column(&self) -> Result<Option<usize>> {
        let own = self.opened()?.header.sort_column.map(usize::from);
        let own = own.filter(|own| self.overlay(*own).is_none());
        Ok(match &self.places {
            None => own,
            Some(places) => own.and_then(|own| places.table_column(own)),
        })
    }

    /// The zone map of `column` over the whole block.
    ///
    /// # Errors
    /// `Corrupt` or `Io` at the first use of the block.
    pub fn zone(&self, column: usize) -> Result<Cow<'_, Zone>> {
        let column = match self.find_column(column)? {
            FoundColumn::Own(column) => column,
            FoundColumn::Missing(one, kind) => {
                return Ok(Cow::Owned(zone_of(&one, kind, self.info.rows as usize)));
            }
        };
        if let Some((block, place)) = self.overlay(column) {
            return block.zone(place);
        }
        let zones = &self.opened()?.zones;
        zones
            .get(column)
            .map(Cow::Borrowed)
            .ok_or_else(|| Error::corrupt(format!("no zone map of column {column}")))
    }

    /// The zone maps of `column` per 8,192 rows; none for a block of one zone.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn fine_zones(&self, column: usize) -> Result<Option<Arc<Vec<Zone>>>> {
        match self.find_column(column)? {
            FoundColumn::Own(column) => match self.overlay(column) {
                Some((block, place)) => block.fine_zones(place),
                None => self.own_fine_zones(column),
            },
            FoundColumn::Missing(..) => Ok(None),
        }
    }

    pub(super) fn own_fine_zones(&self, column: usize) -> Result<Option<Arc<Vec<Zone>>>> {
        let opened = self.opened()?;
        let number = u16::try_from(column).ok();
        let (Some(slot), Some(section)) = (
            opened.fine.get(column),
            self.find(opened, SectionKind::Zones, number),
        ) else {
            return Ok(None);
        };
        if let Some(zones) = slot.get() {
            return Ok(Some(zones.clone()));
        }
        let bytes = self.read_section(opened, section)?;
        let mut reader = Reader::new(bytes.as_slice());
        let rows = self.info.rows as usize;
        let physical = self.schema.columns[column].kind.physical();
        let zones = (0..rows)
            .step_by(ZONE_ROWS)
            .map(|start| zones::decode(&mut reader, physical, ZONE_ROWS.min(rows - start)))
            .collect::<Result<Vec<Zone>>>()
            .map_err(self.blame(Some(&section.name(&self.schema.columns))))?;
        Ok(Some(slot.get_or_init(|| Arc::new(zones)).clone()))
    }

    /// The distinct-count sketch of every column.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn sketches(&self) -> Result<Vec<Sketch>> {
        let mut own = self.own_sketches()?;
        for (column, sketch) in own.iter_mut().enumerate() {
            if let Some((block, place)) = self.overlay(column) {
                *sketch = block.sketches()?.swap_remove(place);
            }
        }
        let Some(places) = &self.places else {
            return Ok(own);
        };
        places.map(|found| match found {
            FoundColumn::Own(column) => Ok(own.get(*column).cloned().unwrap_or_default()),
            FoundColumn::Missing(one, kind) => {
                let column = Column {
                    name: String::new(),
                    kind: *kind,
                    nullable: true,
                    default: None,
                    identity: None,
                    modifier: None,
                    declared: None,
                    generated: false,
                    hidden: None,
                };
                Ok(Sketch::of(&Dense::from_arrow(one, &column)?))
            }
        })
    }

    pub(super) fn own_sketches(&self) -> Result<Vec<Sketch>> {
        let bytes = self.section(self.opened()?, SectionKind::Sketches, None)?;
        let mut reader = Reader::new(bytes.as_slice());
        let sketches = self
            .schema
            .columns
            .iter()
            .map(|_| Sketch::decode(&mut reader))
            .collect::<Result<Vec<Sketch>>>();
        sketches.map_err(self.blame(Some(SectionKind::Sketches.name())))
    }
}
