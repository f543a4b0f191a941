//! Group commit, on files that count and take their time to sync.

use super::*;
use crate::io::{LogFile, ReadFile};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) syncs: AtomicU64,
    pub(super) reads: AtomicU64,
    pub(super) bytes_read: AtomicU64,
}

/// Other files, observed.
#[derive(Debug)]
pub(super) struct Counting {
    pub(super) files: Arc<dyn Files>,
    pub(super) counts: Arc<Counts>,
}

#[derive(Debug)]
struct CountingLog(Arc<dyn LogFile>, Arc<Counts>);

#[derive(Debug)]
struct CountingFile(Arc<dyn ReadFile>, Arc<Counts>);

impl Files for Counting {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let file = self.files.open(name)?;
        Ok(Arc::new(CountingFile(file, self.counts.clone())))
    }
    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        self.files.write(name, parts)
    }
    fn log(&self, name: &str, bytes: u64) -> Result<Arc<dyn LogFile>> {
        let file = self.files.log(name, bytes)?;
        Ok(Arc::new(CountingLog(file, self.counts.clone())))
    }
    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.files.rename(from, to)
    }
    fn remove(&self, name: &str) -> Result<()> {
        self.files.remove(name)
    }
    fn list(&self, directory: &str) -> Result<Vec<String>> {
        self.files.list(directory)
    }
    fn sync_directory(&self, directory: &str) -> Result<()> {
        self.files.sync_directory(directory)
    }
    fn show(&self, name: &str) -> String {
        self.files.show(name)
    }
}

impl LogFile for CountingLog {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.0.write_at(offset, bytes)
    }
    fn sync(&self) -> Result<()> {
        self.1.syncs.fetch_add(1, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(1));
        self.0.sync()
    }
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ReadFile for CountingFile {
    fn read(&self, offset: u64, len: usize) -> Result<arrow_buffer::Buffer> {
        self.1.reads.fetch_add(1, Ordering::Relaxed);
        self.1.bytes_read.fetch_add(len as u64, Ordering::Relaxed);
        self.0.read(offset, len)
    }
    fn len(&self) -> u64 {
        self.0.len()
    }
}

const THREADS: u64 = 8;
const COMMITS: u64 = 60;

pub(super) fn counting() -> (Arc<Faulty>, Arc<Counts>, Wal) {
    let (faulty, counts) = (Arc::new(Faulty::default()), Arc::new(Counts::default()));
    let files = Counting {
        files: faulty.clone(),
        counts: counts.clone(),
    };
    let (wal, ..) = open(Arc::new(files), options(8192), 1, 0).unwrap();
    (faulty, counts, wal)
}

#[test]
fn threads_share_syncs() {
    let (files, counts, wal) = counting();
    let newest = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..COMMITS {
                    let timestamp = {
                        let mut newest = newest.lock();
                        *newest += 1;
                        wal.reserve(payload(*newest, 50).len()).unwrap();
                        wal.append(*newest, &payload(*newest, 50)).unwrap();
                        *newest
                    };
                    wal.flush(timestamp).unwrap();
                    assert!(wal.durable() >= timestamp);
                    let left = Arc::new(files.crash());
                    let (.., found) = open(left, options(8192), 1, 0).unwrap();
                    assert!(found.len() as u64 >= timestamp);
                }
            });
        }
    });
    let (.., found) = open(Arc::new(files.crash()), options(8192), 1, 0).unwrap();
    let all = (1..=THREADS * COMMITS).map(|timestamp| (timestamp, payload(timestamp, 50)));
    assert_eq!(found, all.collect::<Records>());
    let syncs = counts.syncs.load(Ordering::Relaxed);
    assert!(syncs < THREADS * COMMITS / 2, "{syncs} syncs");
}

/// All who wait for a sync that fails hear of it.
#[test]
fn a_failed_sync_fails_the_whole_group() {
    let (files, counts, wal) = counting();
    for timestamp in 1..=THREADS {
        wal.append(timestamp, b"x").unwrap();
    }
    files.fail_once_after(1);
    let before = counts.syncs.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let flush = |timestamp| {
            let wal = &wal;
            scope.spawn(move || wal.flush(timestamp))
        };
        let threads: Vec<_> = (1..=THREADS).map(flush).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap_err().sqlstate(), "58030");
        }
    });
    assert_eq!(counts.syncs.load(Ordering::Relaxed), before + 1);
    assert_eq!(wal.durable(), 0);
}

/// Relaxed commits reach the file without a sync.
#[test]
fn writes_ask_for_no_sync_and_survive_the_process() {
    let (files, counts, wal) = counting();
    let before = counts.syncs.load(Ordering::Relaxed);
    for timestamp in 1..=5 {
        wal.append(timestamp, b"x").unwrap();
        wal.write().unwrap();
    }
    assert_eq!(counts.syncs.load(Ordering::Relaxed), before);
    assert_eq!((wal.durable(), wal.appended()), (0, 5));
    let killed = Arc::new(files.crash_keeping(|_| true));
    assert_eq!(open(killed, options(8192), 1, 0).unwrap().2.len(), 5);
    let lost = Arc::new(files.crash());
    assert_eq!(open(lost, options(8192), 1, 0).unwrap().2.len(), 0);
    wal.flush(u64::MAX).unwrap();
    assert_eq!(wal.durable(), 5);
}
