//! Reads a log from its beginning to where it ends.

use super::record::{HEAD_BYTES, Head, Place, RECORD_ALIGNMENT, Record, RecordHead};
use super::segments::{self, Older, damage};
use super::{Replay, WalOptions};
use crate::error::{Error, Result};
use crate::io::Files;

/// Takes the timestamp and payload of a record.
pub(super) type Each<'a> = &'a mut dyn FnMut(u64, &[u8]) -> Result<()>;

/// What was read.
#[derive(Debug)]
pub(super) struct Found {
    /// Segments before the last one, those before the first one asked for included.
    pub(super) older: Vec<Older>,
    pub(super) last: Option<Last>,
    /// Newest timestamp that the log itself tells of.
    pub(super) logged: u64,
    pub(super) replay: Replay,
}

/// The segment that is written.
#[derive(Debug)]
pub(super) struct Last {
    pub(super) number: u64,
    /// Offset at which its records end.
    pub(super) end: u64,
    /// Bytes of its file.
    pub(super) file: u64,
    /// Whether something behind the end looks like a record.
    pub(super) remains: bool,
}

impl Last {
    /// The same segment, when another one follows it.
    pub(super) fn older(self) -> Older {
        Older {
            number: self.number,
            records: self.end - HEAD_BYTES,
            file: self.file,
        }
    }
}

/// Where the records of a segment end.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The next segment says so.
    At(u64),
    /// The next segment is lost.
    Unknown,
    /// There is no next segment.
    Open,
}

struct Reading<'a, 'b> {
    files: &'a dyn Files,
    salvage: bool,
    after: u64,
    each: Each<'b>,
    replay: Replay,
}

/// Reads the segments from `from` on.
pub(super) fn read(
    files: &dyn Files,
    options: &WalOptions,
    (from, after): (u64, u64),
    each: Each<'_>,
) -> Result<Found> {
    let mut reading = Reading {
        files,
        salvage: options.salvage,
        after,
        each,
        replay: Replay::default(),
    };
    let (before, numbers): (Vec<u64>, Vec<u64>) = segments::numbers(files)?
        .into_iter()
        .partition(|number| *number < from);
    let older = before.into_iter().map(|number| Older {
        number,
        records: 0,
        // Of unknown length, so it is not used again.
        file: 0,
    });
    let (mut older, mut last): (Vec<Older>, Option<Last>) = (older.collect(), None);
    let heads = reading.heads(&numbers, from)?;
    for (place, (number, head)) in heads.iter().enumerate() {
        let end = match heads.get(place + 1) {
            Some((next, Some(head))) if *next == number + 1 => End::At(head.previous_end),
            Some(_) => End::Unknown,
            None => End::Open,
        };
        if let Some(head) = head {
            let newest = &mut reading.replay.newest;
            *newest = head.previous_newest.max(*newest);
        }
        older.extend(last.take().map(Last::older));
        last = Some(reading.segment(*number, end)?);
    }
    let mut replay = reading.replay;
    let logged = replay.newest;
    replay.newest = logged.max(after);
    Ok(Found {
        older,
        last,
        logged,
        replay,
    })
}

impl Reading<'_, '_> {
    /// Refuses to go on, or notes what is lost.
    fn lose(&mut self, error: Error) -> Result<()> {
        match self.salvage {
            true => self.replay.lost.push(error),
            false => return Err(error),
        }
        Ok(())
    }

    /// The heads of all segments, which must have all numbers from `from` on.
    fn heads(&mut self, numbers: &[u64], from: u64) -> Result<Vec<(u64, Option<Head>)>> {
        let mut heads = Vec::new();
        let mut expected = from;
        if numbers.is_empty() && from > 1 {
            self.lose(damage(self.files, from, 0, "the segment is missing"))?;
        }
        for number in numbers {
            if *number != expected {
                let reason = format!("missing, and so are all segments before {number}");
                self.lose(damage(self.files, expected, 0, &reason))?;
            }
            expected = number.saturating_add(1);
            let head = match self.head(*number) {
                Ok(head) => Some(head),
                Err(error @ Error::Corrupt { .. }) => self.lose(error).map(|()| None)?,
                Err(error) => return Err(error),
            };
            heads.push((*number, head));
        }
        if let Some((number, Some(head))) = heads.first()
            && head.previous_newest > self.after
        {
            let reason = format!(
                "the log begins after timestamp {}; the records from {} to there are missing",
                head.previous_newest, self.after
            );
            self.lose(damage(self.files, *number, 0, &reason))?;
        }
        Ok(heads)
    }

    fn head(&self, number: u64) -> Result<Head> {
        let name = segments::name(number);
        let read = || segments::head(&*self.files.open(&name)?, number);
        read().map_err(|error| error.at(&self.files.show(&name), None, Some("head")))
    }

    /// Hands over the records of a segment.
    fn segment(&mut self, number: u64, end: End) -> Result<Last> {
        let file = self.files.open(&segments::name(number))?;
        let len = usize::try_from(file.len()).map_err(|_| Error::corrupt("too long"))?;
        let all = file.read(0, len)?;
        let limit = match end {
            End::At(end) => len.min(usize::try_from(end).unwrap_or(len)),
            End::Unknown | End::Open => len,
        };
        let bytes = &all.as_slice()[..limit];
        let mut last = Last {
            number,
            end: HEAD_BYTES,
            file: len as u64,
            remains: false,
        };
        while end != End::At(last.end) {
            if let Some(record) = record_at(bytes, number, last.end, self.replay.newest) {
                self.hand_over(&record)?;
                last.end += record.bytes;
                continue;
            }
            let later = Later::find(bytes, number, last.end, self.replay.newest);
            let next = match (end, later.next) {
                (End::Open, Some(next)) if later.proof => next,
                (End::Open, _) => {
                    last.remains = later.remains;
                    break;
                }
                (End::Unknown, None) => break,
                (End::Unknown, Some(next)) => next,
                (End::At(end), next) => next.unwrap_or(end),
            };
            let reason = format!("no whole record here, and the log goes on at {next}");
            self.lose(damage(self.files, number, last.end, &reason))?;
            last.end = next.max(HEAD_BYTES);
            // The end that the next segment tells may itself be nonsense.
            if end == End::At(next) {
                break;
            }
        }
        Ok(last)
    }

    fn hand_over(&mut self, record: &Record<'_>) -> Result<()> {
        self.replay.newest = record.timestamp;
        if record.timestamp > self.after {
            (self.each)(record.timestamp, record.payload)?;
            self.replay.records += 1;
        }
        Ok(())
    }
}

/// The whole record at `offset`, if there is one that is newer than `newest`.
fn record_at(bytes: &[u8], segment: u64, offset: u64, newest: u64) -> Option<Record<'_>> {
    let bytes = bytes.get(usize::try_from(offset).ok()?..)?;
    Record::decode(bytes, Place { segment, offset }).filter(|record| record.timestamp > newest)
}

/// What stands behind a place without a whole record.
#[derive(Default)]
struct Later {
    /// Offset of the next whole record.
    next: Option<u64>,
    /// Whether a whole record shows that durable ones are missing before it.
    proof: bool,
    /// Whether there is the head of a record, whole or not.
    remains: bool,
}

impl Later {
    /// Looks at every place from `offset` on where a record could begin.
    fn find(bytes: &[u8], segment: u64, offset: u64, newest: u64) -> Later {
        let mut later = Later::default();
        let places = (offset..bytes.len() as u64).step_by(RECORD_ALIGNMENT as usize);
        for offset in places {
            let place = Place { segment, offset };
            let bytes = &bytes[offset as usize..];
            let Some(head) = RecordHead::decode(bytes, place) else {
                continue;
            };
            later.remains = true;
            let record = head.record(bytes, place);
            if let Some(record) = record.filter(|record| record.timestamp > newest) {
                later.next.get_or_insert(offset);
                later.proof |= record.durable > newest;
            }
        }
        later
    }
}
