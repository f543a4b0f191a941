//! Threads that stay: what one has freed it has at hand again, where a new thread would
//! be given memory that nobody has touched, page by page.
//!
//! In a server they run beside threads that answer look-ups and changes of few rows, which end
//! within microseconds if they get a processor at once. Threads of queries take whatever time
//! is left, with [`give_way`] at a lower priority: transactions keep their rate while a query
//! of seconds runs, and the query has all processors when no transaction does.

use parking_lot::Mutex;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long a thread waits for other work before it ends.
const PATIENCE: Duration = Duration::from_secs(30);
/// Threads of the pool for each processor: statements that run side by side share them.
const PER_PROCESSOR: usize = 4;

type Work = Box<dyn FnOnce() + Send>;

/// Steps of `nice` by which threads of queries stand below others.
static STEPS: AtomicI32 = AtomicI32::new(0);

/// Lets threads of queries that begin from now on stand below the others of the process, by so
/// many steps of `nice`. With 10 steps they get a tenth of a processor that both want. Systems
/// other than Linux have no priorities of single threads; nothing changes there.
pub fn give_way(steps: i32) {
    STEPS.store(steps, Ordering::Relaxed);
}

/// Lowers the priority of this thread.
fn stand_below() {
    let steps = STEPS.load(Ordering::Relaxed);
    // A priority that the system refuses to change stays as it is.
    #[cfg(target_os = "linux")]
    if steps > 0 {
        let _ = rustix::process::setpriority_process(None, steps);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = steps;
}

/// Threads without work, by their numbers.
static IDLE: LazyLock<Mutex<HashMap<u64, Sender<Work>>>> = LazyLock::new(Mutex::default);

/// Does some work, which may wait for others, on a thread of its own.
///
/// # Errors
/// If the system has no thread left.
pub fn begin(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut work: Work = Box::new(work);
    loop {
        let idle = {
            let mut idle = IDLE.lock();
            let number = idle.keys().next().copied();
            number.and_then(|number| idle.remove(&number))
        };
        let Some(thread) = idle else { break };
        match thread.send(work) {
            Ok(()) => return Ok(()),
            // It has just ended.
            Err(back) => work = back.0,
        }
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let thread = std::thread::Builder::new().name("statement".into());
    thread.spawn(move || stay(number, work)).map(drop)
}

fn stay(number: u64, first: Work) {
    stand_below();
    first();
    loop {
        let (sender, receiver): (Sender<Work>, Receiver<Work>) = channel();
        IDLE.lock().insert(number, sender);
        let next = receiver.recv_timeout(PATIENCE).ok().or_else(|| {
            // Somebody may have chosen this thread in the last moment.
            let unchosen = IDLE.lock().remove(&number).is_some();
            (!unchosen).then(|| receiver.recv().ok()).flatten()
        });
        match next {
            Some(work) => work(),
            None => return,
        }
    }
}

/// Where a pipeline's threads come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workers {
    /// The pool, whose threads must not wait: whoever they wait for might need one.
    Pooled,
    /// New ones, which may wait for whoever reads the result.
    Waiting,
}

impl Workers {
    /// What each of some threads, this one among them, makes of its number.
    pub fn each<T: Send>(self, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        match self {
            Workers::Pooled => on_threads(threads, work),
            Workers::Waiting => on_new_threads(threads, work),
        }
    }
}

fn on_new_threads<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        let own = work(0);
        let others = others.into_iter().map(|thread| match thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(others).collect()
    })
}

/// What each of some threads, this one among them, makes of its number. None of them
/// waits for another.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let pool = ThreadPoolBuilder::new().num_threads(processors * PER_PROCESSOR);
        let pool = pool.thread_name(|number| format!("pipeline-{number}"));
        let pool = pool.start_handler(|_| stand_below());
        pool.build().ok()
    });
    let (Some(pool), 2..) = (&*POOL, threads) else {
        return (0..threads.max(1)).map(work).collect();
    };
    let outcomes: Vec<Mutex<Option<T>>> = (0..threads).map(|_| Mutex::default()).collect();
    pool.in_place_scope(|scope| {
        let (outcomes, work) = (&outcomes, &work);
        for (number, outcome) in outcomes.iter().enumerate().skip(1) {
            scope.spawn(move |_| *outcome.lock() = Some(work(number)));
        }
        *outcomes[0].lock() = Some(work(0));
    });
    let outcomes = outcomes.into_iter();
    outcomes.filter_map(Mutex::into_inner).collect()
}

/// What some threads, this one among them, make of some items, in order; each item goes
/// to the next that is free.
pub(crate) fn on_items<I: Send, T: Send>(
    threads: usize,
    items: Vec<I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    if threads <= 1 || items.len() <= 1 {
        return items.into_iter().map(work).collect();
    }
    let threads = threads.min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let outcomes = on_threads(threads, |_| {
        let mut outcomes = Vec::new();
        loop {
            let next = queue.lock().next();
            let Some((number, item)) = next else {
                return outcomes;
            };
            outcomes.push((number, work(item)));
        }
    });
    let mut outcomes: Vec<(usize, T)> = outcomes.into_iter().flatten().collect();
    outcomes.sort_unstable_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_on_threads_that_stay() {
        let (sender, receiver) = channel();
        for _ in 0..50 {
            let sender = sender.clone();
            begin(move || sender.send(std::thread::current().id()).unwrap()).unwrap();
            // Until the one before has no work any more.
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(sender);
        let threads: std::collections::HashSet<_> = receiver.iter().collect();
        assert!(threads.len() < 25, "{}", threads.len());
        for workers in [Workers::Pooled, Workers::Waiting] {
            let numbers = workers.each(9, |number| number * 2);
            assert_eq!(numbers, (0..9).map(|number| number * 2).collect::<Vec<_>>());
            let work = |number| assert!(number < 2);
            assert!(std::panic::catch_unwind(|| workers.each(3, work)).is_err());
        }
        for threads in 0..4 {
            let squares = on_items(threads, (0..50).collect(), |number: usize| number * number);
            assert_eq!(squares, (0..50).map(|n| n * n).collect::<Vec<_>>());
        }
    }
}
