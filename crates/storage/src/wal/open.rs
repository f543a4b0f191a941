//! Opens a log for writing: reads it, cuts its tail, goes on behind it.

use super::record::{HEAD_BYTES, Head};
use super::replay::{self, Each, Last};
use super::segments::{self, DIRECTORY, Shelf};
use super::state::State;
use super::{Replay, Wal, WalOptions};
use crate::error::Result;
use crate::io::{Files, LogFile};
use parking_lot::{Condvar, Mutex};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Bytes that are written at once over records and remains of records.
const AT_ONCE: u64 = 1 << 20;

impl Wal {
    /// Reads the log from segment `from` on, the number that [`Wal::rotate`]
    /// returned for the newest checkpoint, or 1. Hands every whole record with a
    /// timestamp above `after` to `each`, in order, and opens the log behind the
    /// last one. See the module about how the end is found.
    ///
    /// # Errors
    /// `Corrupt` with file and offset at a hole, at a missing segment, and if
    /// the log begins after `after`; what `each` says; `Full` or `Io`. Records
    /// handed over before an error are to be discarded.
    pub fn open(
        files: Arc<dyn Files>,
        options: WalOptions,
        from: u64,
        after: u64,
        each: Each<'_>,
    ) -> Result<(Wal, Replay)> {
        segments::tidy(&*files)?;
        let from = from.max(1);
        let mut found = replay::read(&*files, &options, (from, after), each)?;
        let newest = found.replay.newest;
        let (number, file, end) = match found.last {
            // Damaged segments stay as they are, as evidence.
            Some(last) if found.replay.lost.is_empty() => {
                found.replay.torn = last.remains;
                (last.number, resume(&*files, &last)?, last.end)
            }
            last => {
                let previous_end = last.as_ref().map_or(0, |last| last.end);
                let number = last.as_ref().map_or(from, |last| last.number + 1);
                if let Some(last) = last {
                    resume(
                        &*files,
                        &Last {
                            remains: false,
                            ..last
                        },
                    )?;
                    found.older.push(last.older());
                }
                let head = Head {
                    number,
                    previous_end,
                    previous_newest: newest,
                };
                found.logged = newest;
                (number, begin(&*files, &options, &head)?, HEAD_BYTES)
            }
        };
        let durable = Arc::new(AtomicU64::new(newest));
        let failed = Arc::new(AtomicBool::new(false));
        let wal = Wal {
            files,
            durable: durable.clone(),
            segment_bytes: options.segment_bytes,
            state: Mutex::new(State {
                number,
                file,
                written: end,
                buffer: Vec::new(),
                appended: newest,
                durable,
                proven: found.logged,
                waiting: Vec::new(),
                waits: 0,
                failed: failed.clone(),
                failure: None,
            }),
            syncing: AtomicBool::new(false),
            crowded: AtomicBool::new(false),
            failed,
            synced: Condvar::new(),
            shelf: Mutex::new(Shelf::new(found.older)),
        };
        Ok((wal, found.replay))
    }
}

/// Makes a segment for a log that is empty or damaged.
fn begin(files: &dyn Files, options: &WalOptions, head: &Head) -> Result<Arc<dyn LogFile>> {
    let blank = Shelf::default().blank(files, options.segment_bytes, HEAD_BYTES)?;
    segments::publish(files, &blank, head)?;
    Ok(blank.file)
}

/// Opens the last segment for writing. Erases remains of records, and makes
/// durable what a killed process did not.
fn resume(files: &dyn Files, last: &Last) -> Result<Arc<dyn LogFile>> {
    let name = segments::name(last.number);
    let file = files.log(&name, last.file)?;
    // A sync that failed leaves records that can be read, count as written and
    // never reach the disk: only what is written again is synced.
    let written = files.open(&name)?;
    for part in parts(HEAD_BYTES..last.end) {
        let bytes = written.read(part.start, (part.end - part.start) as usize)?;
        file.write_at(part.start, bytes.as_slice())?;
    }
    if last.remains {
        let zeros = vec![0; AT_ONCE.min(last.file) as usize];
        for part in parts(last.end..last.file) {
            file.write_at(part.start, &zeros[..(part.end - part.start) as usize])?;
        }
    }
    file.sync()?;
    files.sync_directory(DIRECTORY)?;
    Ok(file)
}

/// A range of a file, in parts to be written at once.
fn parts(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let starts = range.clone().step_by(AT_ONCE as usize);
    starts.map(move |start| start..range.end.min(start + AT_ONCE))
}
