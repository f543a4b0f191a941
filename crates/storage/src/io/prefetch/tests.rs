use super::*;
use crate::io::{Disk, Faulty, Files, Memory};
use std::sync::Weak;

const WAYS: [(ReadMethod, bool); 4] = [
    (ReadMethod::IoUring, false),
    (ReadMethod::IoUring, true),
    (ReadMethod::Threads, false),
    (ReadMethod::Threads, true),
];

fn prefetcher(
    method: ReadMethod,
    direct: bool,
    unit_bytes: usize,
    depth: usize,
) -> Arc<Prefetcher> {
    let prefetcher = Prefetcher::default();
    let options = ReadOptions {
        method,
        unit_bytes,
        depth,
        direct,
    };
    prefetcher.set_options(options).unwrap();
    Arc::new(prefetcher)
}

fn bytes(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A file on disk, and what it holds.
struct Sample {
    directory: tempfile::TempDir,
    file: Arc<dyn ReadFile>,
    bytes: Vec<u8>,
}

fn sample(len: usize) -> Sample {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::new(directory.path());
    let bytes = bytes(len);
    disk.write("x", &[&bytes]).unwrap();
    Sample {
        file: disk.open("x").unwrap(),
        directory,
        bytes,
    }
}

fn spans(len: u64) -> Vec<Range<u64>> {
    vec![
        0..1,
        0..len,
        64..4096,
        4095..4097,
        4096..8192,
        100_000..300_001,
        len - 1..len,
        len - 5000..len - 64,
    ]
}

#[test]
fn all_ways_read_the_same_bytes() {
    let sample = sample(700_001);
    for (method, direct) in WAYS {
        for (unit_bytes, depth) in [(4096, 1), (8192, 3), (128 << 10, 48)] {
            let prefetcher = prefetcher(method, direct, unit_bytes, depth);
            let file = PrefetchFile::new(sample.file.clone(), prefetcher.clone());
            for again in 0..3 {
                let spans = spans(file.len());
                let start =
                    |span: &Range<u64>| prefetcher.start(&sample.file, span.clone(), Box::new(()));
                let pending: Vec<Pending> = spans.iter().filter_map(start).collect();
                assert_eq!(pending.len(), spans.len());
                let order: Vec<usize> = match again {
                    0 => (0..spans.len()).collect(),
                    1 => (0..spans.len()).rev().collect(),
                    // The others are given up.
                    _ => vec![4, 1],
                };
                for place in order {
                    let span = &spans[place];
                    let expected = &sample.bytes[span.start as usize..span.end as usize];
                    // Threads leave what they have not come to.
                    if let Some(found) = pending[place].wait() {
                        assert_eq!(found.as_slice(), expected, "{method:?} {direct} {span:?}");
                    } else {
                        assert_eq!(prefetcher.method(), "threads");
                    }
                    let len = expected.len();
                    let found = file.read(span.start, len).unwrap();
                    assert_eq!(found.as_slice(), expected, "{method:?} {direct} {span:?}");
                }
            }
        }
    }
}

#[test]
fn what_was_asked_for_is_read_once_from_there() {
    let sample = sample(100_000);
    for (method, direct) in WAYS {
        let file = PrefetchFile::new(sample.file.clone(), prefetcher(method, direct, 16 << 10, 8));
        let held = Arc::new(());
        let number = file.prefetch(4096..50_000, 2, Box::new(held.clone()));
        assert!(file.is_coming(&(0..4097)) && !file.is_coming(&(0..4096)));
        for (offset, len) in [(4096, 100), (49_000, 1000)] {
            let found = file.read(offset, len).unwrap();
            let expected = &sample.bytes[offset as usize..offset as usize + len];
            assert_eq!(found.as_slice(), expected);
            // As sections are, so that they can be arrays.
            assert!(offset % 64 > 0 || found.as_ptr().align_offset(64) == 0);
        }
        assert!(!file.is_coming(&(0..100_000)) && !file.forget(number.unwrap()));
        let number = file.prefetch(0..100, 1, Box::new(held.clone())).unwrap();
        assert!(file.forget(number));
        assert!(file.prefetch(99_999..100_001, 1, Box::new(())).is_none());
    }
}

#[test]
fn a_file_that_became_shorter_is_named() {
    for (method, direct) in WAYS {
        let sample = sample(300_000);
        let path = sample.directory.path().join("x");
        let shorter = std::fs::File::options().write(true).open(&path).unwrap();
        shorter.set_len(150_000).unwrap();
        let prefetcher = prefetcher(method, direct, 16 << 10, 8);
        let file = PrefetchFile::new(sample.file.clone(), prefetcher);
        file.prefetch(100_000..300_000, 1, Box::new(())).unwrap();
        let error = file.read(100_000, 200_000).unwrap_err().to_string();
        assert!(
            error.contains("became shorter") && error.contains("/x"),
            "{error}"
        );
        let there = file.read(100_000, 50_000).unwrap();
        assert_eq!(there.as_slice(), &sample.bytes[100_000..150_000]);
        assert!(file.read(299_000, 2000).is_err() && file.read(u64::MAX, 2).is_err());
    }
}

/// Memory and files are let go of, whenever they are given up, and nobody waits.
#[test]
fn what_is_given_up_is_let_go_of() {
    let sample = sample(4 << 20);
    for (method, direct) in WAYS {
        let prefetcher = prefetcher(method, direct, 64 << 10, 8);
        let mut held: Vec<Weak<()>> = Vec::new();
        for round in 0..20u64 {
            let start = |number: u64| {
                let token = Arc::new(());
                let at = (round * 31 + number) * 4096;
                let weak = Arc::downgrade(&token);
                let pending = prefetcher.start(&sample.file, at..at + 200_000, Box::new(token));
                (weak, pending.unwrap())
            };
            let mut started: Vec<(Weak<()>, Pending)> = (0..16).map(start).collect();
            let kept = started.split_off(round as usize % 16);
            held.extend(started.into_iter().map(|(weak, _)| weak));
            held.extend(kept.into_iter().map(|(weak, pending)| {
                let _ = pending.wait();
                weak
            }));
        }
        drop(prefetcher);
        let left = held.iter().filter(|weak| weak.upgrade().is_some());
        assert_eq!(left.count(), 0, "{method:?} {direct}");
    }
    assert_eq!(Arc::strong_count(&sample.file), 1);
}

#[test]
fn many_wait_at_once() {
    let sample = sample(2 << 20);
    for (method, direct) in WAYS {
        let prefetcher = prefetcher(method, direct, 8 << 10, 4);
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                let (sample, prefetcher) = (&sample, &prefetcher);
                scope.spawn(move || {
                    for round in 0..60u64 {
                        let at = (thread * 977 + round * 131) % 400 * 4096;
                        let span = at..at + 40_000;
                        let file = PrefetchFile::new(sample.file.clone(), prefetcher.clone());
                        file.prefetch(span.clone(), 1, Box::new(())).unwrap();
                        let found = file.read(span.start, 40_000).unwrap();
                        let span = span.start as usize..span.end as usize;
                        assert_eq!(found.as_slice(), &sample.bytes[span]);
                    }
                });
            }
        });
    }
}

/// A file that cannot be read in the background.
#[derive(Debug)]
struct Failing;

impl ReadFile for Failing {
    fn read(&self, _: u64, _: usize) -> Result<Buffer> {
        let source = std::io::Error::other("injected fault");
        Err(Error::io("cannot read it", source))
    }

    fn len(&self) -> u64 {
        100
    }
}

#[test]
fn what_fails_in_the_background_fails_when_it_is_needed() {
    for (method, direct) in WAYS {
        let prefetcher = prefetcher(method, direct, 4096, 4);
        let file = PrefetchFile::new(Arc::new(Failing), prefetcher);
        file.prefetch(0..100, 1, Box::new(())).unwrap();
        let error = file.read(0, 100).unwrap_err().to_string();
        assert!(error.contains("injected fault"), "{error}");
    }
}

#[test]
fn files_in_memory_are_read_ahead_only_if_that_is_wanted() {
    let (memory, faulty) = (Memory::default(), Faulty::default());
    for files in [&memory as &dyn Files, &faulty] {
        files.write("x", &[b"0123456789"]).unwrap();
        let file = files.open("x").unwrap();
        let auto = Prefetcher::default();
        assert!(auto.start(&file, 2..5, Box::new(())).is_none());
        for (method, direct) in WAYS {
            let prefetcher = prefetcher(method, direct, 4096, 4);
            let file = PrefetchFile::new(file.clone(), prefetcher);
            file.prefetch(2..5, 1, Box::new(())).unwrap();
            assert_eq!(file.read(3, 2).unwrap().as_slice(), b"34");
        }
    }
}

#[test]
fn what_the_page_cache_has_is_not_read_ahead() {
    let sample = sample(100_000);
    sample.file.read(0, 100_000).unwrap();
    // Some file systems do not say.
    let known = sample.file.is_cached(&(0..100_000));
    let start = |direct| {
        let auto = prefetcher(ReadMethod::Auto, direct, 4096, 4);
        auto.start(&sample.file, 0..100_000, Box::new(())).is_some()
    };
    assert_eq!(start(false), !known);
    assert!(start(true));
}

#[test]
fn options_have_bounds() {
    let prefetcher = Prefetcher::default();
    let usual = ReadOptions::default();
    for (unit_bytes, depth) in [(4095, 4), (5000, 4), (0, 4), (32 << 20, 4), (4096, 1025)] {
        let options = ReadOptions {
            unit_bytes,
            depth,
            ..usual
        };
        let error = prefetcher.set_options(options).unwrap_err();
        assert_eq!(error.sqlstate(), "22023");
    }
    assert_eq!(prefetcher.options(), usual);
    assert_eq!(
        "IO_URING".parse::<ReadMethod>().unwrap(),
        ReadMethod::IoUring
    );
    assert_eq!("aio".parse::<ReadMethod>().unwrap_err().sqlstate(), "22023");
    let off = ReadOptions { depth: 0, ..usual };
    prefetcher.set_options(off).unwrap();
    let file = sample(100).file;
    assert!(prefetcher.start(&file, 0..100, Box::new(())).is_none());
}
