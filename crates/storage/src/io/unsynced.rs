//! What a power loss may leave of writes that were not synced.

use std::ops::Range;

/// Bytes that a disk writes whole or not at all, at a multiple of their number.
pub const SECTOR_BYTES: usize = 512;

/// A change that had not been synced when the power failed.
#[derive(Clone, Copy, Debug)]
pub enum Unsynced<'a> {
    /// A creation, rename or removal of this name.
    Name(&'a str),
    /// A write to a log.
    Write {
        /// The log's name.
        name: &'a str,
        /// Offset in the log.
        offset: u64,
        /// What was written.
        bytes: &'a [u8],
    },
}

impl Unsynced<'_> {
    /// The file concerned.
    pub fn name(&self) -> &str {
        match self {
            Unsynced::Name(name) | Unsynced::Write { name, .. } => name,
        }
    }
}

/// How much of a change survived.
#[derive(Clone, Debug)]
pub enum Survival {
    /// All of it.
    Whole,
    /// Nothing.
    Nothing,
    /// These of the sectors that a write touched, the first one first; a change
    /// of a name has none and is lost.
    Sectors(Vec<bool>),
}

impl Survival {
    fn of_sector(&self, number: usize) -> bool {
        match self {
            Survival::Whole => true,
            Survival::Nothing => false,
            Survival::Sectors(kept) => kept.get(number).copied().unwrap_or(false),
        }
    }
}

/// The bytes of a log, as the process sees them and as the disk has them.
#[derive(Clone, Debug)]
pub(super) struct Log {
    seen: Vec<u8>,
    durable: Vec<u8>,
    writes: Vec<Write>,
}

#[derive(Clone, Debug)]
struct Write {
    span: Range<usize>,
    bytes: Vec<u8>,
    /// A sync failed after it: the system takes it for written from then on,
    /// and no later sync writes it.
    dropped: bool,
}

impl Log {
    /// A log of durable bytes.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Log {
            seen: bytes.clone(),
            durable: bytes,
            writes: Vec::new(),
        }
    }

    pub(super) fn seen(&self) -> &[u8] {
        &self.seen
    }

    /// Writes `bytes` at `span`, which has their length and lies in the log.
    pub(super) fn write(&mut self, span: Range<usize>, bytes: &[u8]) {
        if span.is_empty() {
            return;
        }
        self.seen[span.clone()].copy_from_slice(bytes);
        self.writes.push(Write {
            span,
            bytes: bytes.to_vec(),
            dropped: false,
        });
    }

    pub(super) fn sync(&mut self) {
        let durable = &mut self.durable;
        self.writes.retain(|write| {
            if !write.dropped {
                durable[write.span.clone()].copy_from_slice(&write.bytes);
            }
            write.dropped
        });
    }

    pub(super) fn sync_failed(&mut self) {
        self.writes
            .iter_mut()
            .for_each(|write| write.dropped = true);
    }

    /// The log after a power loss. A sector that survived holds all that had
    /// been written to it by then, since a disk gets whole sectors.
    pub(super) fn crash(
        &self,
        name: &str,
        survived: &mut dyn FnMut(Unsynced<'_>) -> Survival,
    ) -> Log {
        let mut written = self.durable.clone();
        let mut left = self.durable.clone();
        for Write { span, bytes, .. } in &self.writes {
            written[span.clone()].copy_from_slice(bytes);
            let survival = survived(Unsynced::Write {
                name,
                offset: span.start as u64,
                bytes,
            });
            let sectors = span.start / SECTOR_BYTES..span.end.div_ceil(SECTOR_BYTES);
            for (number, sector) in sectors.enumerate() {
                if survival.of_sector(number) {
                    let start = sector * SECTOR_BYTES;
                    let sector = start..written.len().min(start + SECTOR_BYTES);
                    left[sector.clone()].copy_from_slice(&written[sector]);
                }
            }
        }
        Log::new(left)
    }
}
