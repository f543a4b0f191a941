//! Reads a log while another process writes it.

use super::record::{HEAD_BYTES, Head, Place, RECORD_HEAD_BYTES, Record, RecordHead};
use super::replay::Each;
use super::segments::{self, damage};
use crate::error::{Error, Result};
use crate::io::{Files, ReadFile};
use arrow_buffer::Buffer;
use std::sync::Arc;

/// Bytes read to see whether there is anything new.
const GLANCE: u64 = 4096;
/// Bytes read at once when there is.
const STRIDE: u64 = 256 << 10;

/// A place in a log that another process writes.
///
/// It hands over records when they are written, which may be before they are
/// durable: what it saw can be gone after a power loss, which it does not survive.
#[derive(Debug)]
pub struct Follower {
    files: Arc<dyn Files>,
    number: u64,
    file: Option<Arc<dyn ReadFile>>,
    /// Offset of the next record.
    at: u64,
    /// Records up to this timestamp are not handed over.
    after: u64,
    newest: u64,
    /// Records handed over.
    records: u64,
    /// Whether the segments that are there were looked at.
    listed: bool,
}

/// What a poll found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// Everything written by then was handed over: so many records, 0 for no news.
    Read(u64),
    /// The next records were removed after a checkpoint: load the newest
    /// checkpoint and follow from there.
    Lost,
}

/// What comes after the last record that was read.
enum Ahead {
    /// Nothing yet.
    Nothing,
    /// The next segment, which begins right there.
    Next,
    /// Something, but not what follows.
    Beyond,
}

impl Follower {
    /// Begins with the records after timestamp `after`, from segment `from` on,
    /// both as the newest checkpoint says. The segment need not be there yet.
    pub fn open(files: Arc<dyn Files>, from: u64, after: u64) -> Follower {
        Follower {
            files,
            number: from.max(1),
            file: None,
            at: HEAD_BYTES,
            after,
            newest: 0,
            records: 0,
            listed: false,
        }
    }

    /// Hands over the records that were written since the last call, each once
    /// and in order. One small read, and two looks at names, if there are none.
    ///
    /// # Errors
    /// What `each` says, and that record comes again; `Corrupt` at a hole; `Io`.
    pub fn poll(&mut self, each: Each<'_>) -> Result<Polled> {
        let before = self.records;
        let mut again = false;
        loop {
            again &= !self.read_on(each)?;
            match self.look_ahead()? {
                Ahead::Nothing => return Ok(Polled::Read(self.records - before)),
                Ahead::Next => again = false,
                // What is missing may have been written after it was looked for.
                Ahead::Beyond if !again => again = true,
                Ahead::Beyond if self.is_there(self.number)? => {
                    let reason = "no whole record here, and the log goes on behind it";
                    return Err(damage(&*self.files, self.number, self.at, reason));
                }
                Ahead::Beyond => return Ok(Polled::Lost),
            }
        }
    }

    fn is_there(&self, number: u64) -> Result<bool> {
        segments::open(&*self.files, number).map(|file| file.is_some())
    }

    /// Opens a segment and reads its head; `None` if it is not there.
    fn enter(&self, number: u64) -> Result<Option<(Arc<dyn ReadFile>, Head)>> {
        let Some(file) = segments::open(&*self.files, number)? else {
            return Ok(None);
        };
        match segments::head(&*file, number) {
            Ok(head) => Ok(Some((file, head))),
            // It may have been put to another use after it was opened.
            Err(Error::Corrupt { .. }) if !self.is_there(number)? => Ok(None),
            Err(error) => {
                let name = self.files.show(&segments::name(number));
                Err(error.at(&name, None, Some("head")))
            }
        }
    }

    /// The current segment; `None` if it is not there.
    fn current(&mut self) -> Result<Option<Arc<dyn ReadFile>>> {
        if self.file.is_none()
            && let Some((file, head)) = self.enter(self.number)?
        {
            if head.previous_newest > self.after {
                let reason = format!(
                    "the segment begins after timestamp {}, the checkpoint ends at {}",
                    head.previous_newest, self.after
                );
                return Err(damage(&*self.files, self.number, 0, &reason));
            }
            self.file = Some(file);
        }
        Ok(self.file.clone())
    }

    /// What there is when no record follows in the current segment.
    fn look_ahead(&mut self) -> Result<Ahead> {
        let next = self.number.saturating_add(1);
        if let Some((file, head)) = self.enter(next)? {
            if head.previous_end != self.at {
                return Ok(Ahead::Beyond);
            }
            self.number = next;
            self.file = Some(file);
            self.at = HEAD_BYTES;
            return Ok(Ahead::Next);
        }
        // A writer makes no gaps, so one that was there before is looked for once.
        let here = self.is_there(self.number)?;
        if here && self.listed {
            return Ok(Ahead::Nothing);
        }
        let newest = segments::numbers(&*self.files)?.last().copied();
        if newest.is_some_and(|newest| newest > self.number) {
            return Ok(Ahead::Beyond);
        }
        self.listed |= here;
        Ok(Ahead::Nothing)
    }

    /// Hands over what follows in the current segment and says whether that was
    /// anything.
    fn read_on(&mut self, each: Each<'_>) -> Result<bool> {
        let Some(file) = self.current()? else {
            return Ok(false);
        };
        let (begin, mut want) = (self.at, GLANCE);
        loop {
            let window = self.window(&*file, want)?;
            let start = self.at;
            self.hand_over(window.as_slice(), each)?;
            let used = (self.at - start) as usize;
            let rest = window.as_slice().get(used..).unwrap_or_default();
            let left = file.len().saturating_sub(self.at);
            want = match RecordHead::decode(rest, self.place()) {
                // It goes on behind the window, and does not end behind the file.
                Some(head) if head.bytes() > rest.len() as u64 && head.bytes() <= left => {
                    head.bytes().max(STRIDE)
                }
                None if rest.len() < RECORD_HEAD_BYTES && used > 0 => STRIDE,
                _ => return Ok(self.at > begin),
            };
        }
    }

    fn place(&self) -> Place {
        Place {
            segment: self.number,
            offset: self.at,
        }
    }

    /// Up to `want` bytes from the next record on.
    fn window(&self, file: &dyn ReadFile, want: u64) -> Result<Buffer> {
        let len = want.min(file.len().saturating_sub(self.at));
        file.read(self.at, usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// Hands over the whole records at the beginning of `bytes`.
    fn hand_over(&mut self, bytes: &[u8], each: Each<'_>) -> Result<()> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..)
            && let Some(record) = Record::decode(rest, self.place())
            && record.timestamp > self.newest
        {
            if record.timestamp > self.after {
                each(record.timestamp, record.payload)?;
                self.records += 1;
            }
            self.newest = record.timestamp;
            self.at += record.bytes;
            at += record.bytes as usize;
        }
        Ok(())
    }
}
