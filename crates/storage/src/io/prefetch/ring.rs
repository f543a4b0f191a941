//! Reads in the background by io_uring.
//!
//! The ring owns the memory that the kernel writes to, and the file, until the kernel
//! is done with both, whoever else still wants the bytes. Nobody is there to fetch
//! what has completed but those who start reads or wait for one. Of several who
//! wait, one waits in the kernel and wakes the others; only where nobody does so may
//! completions be taken from the queue, or he would wait for one that is gone.

use super::Backend;
use super::transfer::Transfer;
use crate::io::aligned::{AlignedBuffer, whole_units};
use arrow_buffer::Buffer;
use io_uring::{IoUring, Probe, opcode, types};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// A ring, and what the kernel reads for it.
pub(super) struct Ring {
    /// Its queues are touched by whoever holds the lock of `state`.
    ring: IoUring,
    /// Units that the kernel has at once.
    depth: usize,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct State {
    readings: HashMap<u32, Reading>,
    next: u32,
    /// Readings with units that the kernel was not asked for yet.
    queue: VecDeque<u32>,
    /// Units that the kernel has.
    in_flight: usize,
    /// Whether somebody waits in the kernel.
    waiting: bool,
    /// Whether the kernel does not answer; nothing is given to it any more.
    broken: bool,
}

/// A transfer on its way.
#[derive(Debug)]
struct Reading {
    /// Keeps the file open.
    transfer: Arc<Transfer>,
    file: RawFd,
    memory: AlignedBuffer,
    /// Where the memory begins in the file, and how many bytes it has.
    start: u64,
    len: usize,
    unit_bytes: usize,
    /// Units asked for so far, and those of them that the kernel has.
    asked: usize,
    in_flight: usize,
    failed: bool,
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("depth", &self.depth).finish()
    }
}

impl Ring {
    /// A ring for so many units at once; `None` if the system does not allow that.
    pub fn new(depth: usize) -> Option<Ring> {
        let depth = depth.max(1);
        let ring = IoUring::new(u32::try_from(depth).ok()?).ok()?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe).ok()?;
        probe.is_supported(opcode::Read::CODE).then(|| Ring {
            ring,
            depth,
            state: Mutex::default(),
            arrived: Condvar::new(),
        })
    }

    /// Gives the kernel units until it has as many as it may.
    fn ask(&self, state: &mut State) {
        let mut pushed = false;
        while state.in_flight < self.depth && !state.broken {
            let Some(number) = state.queue.front().copied() else {
                break;
            };
            let Some(reading) = state.readings.get_mut(&number) else {
                state.queue.pop_front();
                continue;
            };
            let at = reading.asked * reading.unit_bytes;
            if at >= reading.len || reading.failed || !reading.transfer.is_wanted() {
                state.queue.pop_front();
                reading.failed |= at < reading.len;
                end(state, number);
                continue;
            }
            if !self.push(reading, number, at) {
                break;
            }
            reading.asked += 1;
            reading.in_flight += 1;
            state.in_flight += 1;
            pushed = true;
        }
        if pushed {
            // What it does not take now it is offered again by whoever waits.
            let _ = self.ring.submit();
        }
    }

    /// Puts one unit into the queue, if there is room.
    fn push(&self, reading: &mut Reading, number: u32, at: usize) -> bool {
        let len = reading.unit_bytes.min(reading.len - at);
        // In range: units are at most 16 MiB, and a reading has less than 2^32 of them.
        let (bytes, unit) = (len as u32, (at / reading.unit_bytes) as u64);
        let to = reading.memory.as_mut_ptr().wrapping_add(at);
        let entry = opcode::Read::new(types::Fd(reading.file), to, bytes)
            .offset(reading.start + at as u64)
            .build()
            .user_data(u64::from(number) << 32 | unit);
        // SAFETY: the caller holds the lock, so that this is the only submission queue.
        // `reading` stays in the state until the kernel has completed the unit, and
        // with it the memory, which has `len` bytes at `at` that nobody touches, and
        // the open file.
        unsafe { self.ring.submission_shared().push(&entry).is_ok() }
    }

    /// Takes what the kernel has completed; nobody may be waiting in it.
    fn reap(&self, state: &mut State) {
        // SAFETY: the caller holds the lock, so that this is the only completion queue.
        let completed = unsafe { self.ring.completion_shared() };
        for entry in completed {
            state.in_flight -= 1;
            // The upper half is the reading, the lower one the unit.
            let (number, unit) = ((entry.user_data() >> 32) as u32, entry.user_data() as u32);
            let Some(reading) = state.readings.get_mut(&number) else {
                continue;
            };
            reading.in_flight -= 1;
            let at = unit as usize * reading.unit_bytes;
            let wanted = reading.wanted_by(at + reading.unit_bytes) - reading.wanted_by(at);
            let read = usize::try_from(entry.result());
            reading.failed |= read.is_ok_and(|read| read < wanted) || entry.result() < 0;
            end(state, number);
        }
    }
}

impl Reading {
    /// How many bytes up to `at` are there to be read: the last unit may go beyond what
    /// is wanted, and beyond the end of the file.
    fn wanted_by(&self, at: usize) -> usize {
        let end = self.transfer.offset - self.start + self.transfer.len as u64;
        at.min(end as usize)
    }
}

/// Hands over a reading that the kernel has nothing of any more, if it is whole or
/// will never be.
fn end(state: &mut State, number: u32) {
    let over = |reading: &Reading| {
        let asked = reading.asked * reading.unit_bytes >= reading.len;
        reading.in_flight == 0 && (asked || reading.failed)
    };
    if state.readings.get(&number).is_some_and(over)
        && let Some(reading) = state.readings.remove(&number)
    {
        let Reading {
            transfer, memory, ..
        } = reading;
        let from = (transfer.offset - reading.start) as usize;
        let bytes = (!reading.failed).then(|| memory.part(from, transfer.len));
        transfer.finish(bytes);
    }
}

impl Backend for Ring {
    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn start(&self, transfer: Arc<Transfer>, unit_bytes: usize) {
        let Some(file) = transfer.file.descriptor(transfer.direct) else {
            return;
        };
        let file = file.as_raw_fd();
        let span = match transfer.direct {
            true => whole_units(transfer.offset, transfer.len),
            false => transfer.offset..transfer.offset + transfer.len as u64,
        };
        let len = (span.end - span.start) as usize;
        let memory = AlignedBuffer::new(len);
        let mut state = self.state.lock();
        let number = state.next;
        if state.broken || state.readings.contains_key(&number) || !transfer.begin() {
            return;
        }
        state.next = state.next.wrapping_add(1);
        let reading = Reading {
            transfer,
            file,
            memory,
            start: span.start,
            len,
            unit_bytes,
            asked: 0,
            in_flight: 0,
            failed: false,
        };
        state.readings.insert(number, reading);
        state.queue.push_back(number);
        if !state.waiting {
            self.reap(&mut state);
        }
        self.ask(&mut state);
    }

    fn wait(&self, transfer: &Transfer) -> Option<Buffer> {
        if let Some(outcome) = transfer.outcome() {
            return outcome;
        }
        if transfer.begin() {
            // It was not taken by `start`.
            transfer.finish(None);
            return None;
        }
        let mut state = self.state.lock();
        loop {
            if let Some(outcome) = transfer.outcome() {
                return outcome;
            }
            if state.broken {
                return None;
            }
            if state.waiting {
                self.arrived.wait(&mut state);
                continue;
            }
            self.reap(&mut state);
            self.ask(&mut state);
            if transfer.outcome().is_none() {
                self.wait_in_kernel(&mut state);
            }
        }
    }
}

impl Ring {
    /// Waits until at least one unit is there, without the lock.
    fn wait_in_kernel(&self, state: &mut MutexGuard<'_, State>) {
        state.waiting = true;
        let waited = MutexGuard::unlocked(state, || self.ring.submit_and_wait(1));
        state.waiting = false;
        state.broken |= waited.is_err_and(|error| !is_passing(&error));
        self.reap(state);
        self.ask(state);
        self.arrived.notify_all();
    }
}

/// Whether the kernel may answer if it is asked again.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy
    )
}

impl Drop for Ring {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        state.queue.clear();
        while state.in_flight > 0 && !state.broken {
            self.wait_in_kernel(&mut state);
        }
        if state.in_flight > 0 {
            // The kernel may still write to the memory of these.
            std::mem::forget(std::mem::take(&mut state.readings));
        }
    }
}
