//! Reads in the background by threads, for systems without io_uring.

use super::Backend;
use super::transfer::Transfer;
use arrow_buffer::Buffer;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Most threads: what a disk does at once beyond this gains little.
const THREADS: usize = 8;

/// Threads that read what waits in a queue, each transfer in one call.
#[derive(Debug)]
pub(super) struct Threads {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Arc<Transfer>>,
    closed: bool,
}

impl Threads {
    /// As many as the depth asks for. Fewer may start: whatever they do not come
    /// to, the one who needs it reads.
    pub fn new(depth: usize) -> Threads {
        let shared = Arc::<Shared>::default();
        let start = |_| {
            let shared = shared.clone();
            let builder = Builder::new().name("freestone-read".into());
            builder.spawn(move || shared.run()).ok()
        };
        let threads = (0..depth.min(THREADS)).filter_map(start).collect();
        Threads { shared, threads }
    }
}

impl Shared {
    fn run(&self) {
        while let Some(transfer) = self.next() {
            if !transfer.is_wanted() || !transfer.begin() {
                continue;
            }
            let (file, offset, len) = (&transfer.file, transfer.offset, transfer.len);
            let bytes = match transfer.direct {
                true => file.read_directly(offset, len),
                false => file.read(offset, len),
            };
            transfer.finish(bytes.ok());
        }
    }

    fn next(&self) -> Option<Arc<Transfer>> {
        let mut queue = self.queue.lock();
        loop {
            if queue.closed {
                return None;
            }
            if let Some(transfer) = queue.waiting.pop_front() {
                return Some(transfer);
            }
            self.wake.wait(&mut queue);
        }
    }
}

impl Backend for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn start(&self, transfer: Arc<Transfer>, _unit_bytes: usize) {
        if self.threads.is_empty() {
            return;
        }
        let mut queue = self.shared.queue.lock();
        // What was given up keeps files and memory for nothing.
        queue.waiting.retain(|transfer| transfer.is_wanted());
        queue.waiting.push_back(transfer);
        self.shared.wake.notify_one();
    }

    fn wait(&self, transfer: &Transfer) -> Option<Buffer> {
        transfer.wait()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.queue.lock().closed = true;
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked has nothing to say here.
            let _ = thread.join();
        }
    }
}
