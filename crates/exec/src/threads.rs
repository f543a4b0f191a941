//! Threads that stay: what one has freed it has at hand again, where a new thread would
//! be given memory that nobody has touched, page by page.
//!
//! In a server they run beside threads that answer look-ups and changes of few rows, which end
//! within microseconds if they get a processor at once ([`give_way`]). A query that begins while
//! many short statements come runs in the background: its threads have the time that is left.
//! Other queries stand a little below, as they may last until such statements come. A query of
//! few rows is a short statement.
//!
//! ```text
//! 200 transactions a second    query on threads of the background
//! no transaction               query on threads that stand a little below
//! query of 1000 rows           on threads like others
//! ```

use freestone_storage::io::{drop_priority, take_idle_time};
use parking_lot::Mutex;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// How long a thread waits for other work before it ends.
const PATIENCE: Duration = Duration::from_secs(30);
/// Threads of the pool for each processor: statements that run side by side share them.
const PER_PROCESSOR: usize = 4;
/// Bytes of a thread's stack, of which the system gives what is touched: operators open those below
/// them, and rows go from step to step, by calls within calls.
const STACK: usize = 32 << 20;

type Work = Box<dyn FnOnce() + Send>;

/// The place of a thread among those of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    /// As others.
    Equal,
    /// A few steps of `nice` below.
    Below,
    /// In the time that is left.
    Background,
}

/// Steps of `nice` of [`Rank::Below`]: beside another thread it has a quarter of a processor.
const BELOW: i32 = 6;
/// The most steps that there are.
const LOWEST: i32 = 19;
/// Short statements in a second that are many.
const MANY: u64 = 50;
/// Milliseconds for which they are counted, at least.
const MOMENT: u64 = 100;

/// Whether queries give way.
static GIVES_WAY: AtomicBool = AtomicBool::new(false);
/// Statements so far, and work of queries.
static STATEMENTS: AtomicU64 = AtomicU64::new(0);
static QUERIES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The rank of this thread.
    static RANK: Cell<Rank> = const { Cell::new(Rank::Equal) };
}

/// Lets queries that begin from now on give way to short statements. Linux alone has priorities of
/// threads; nothing changes elsewhere.
pub fn give_way() {
    GIVES_WAY.store(true, Ordering::Relaxed);
}

/// Tells of a statement that begins, and is short unless it [begins](begin) work that is not.
pub fn statement_begins() {
    STATEMENTS.fetch_add(1, Ordering::Relaxed);
}

/// The rank of work that begins.
fn rank(is_short: bool) -> Rank {
    /// When they were last counted, how many there were, and whether short ones were many.
    static LAST: LazyLock<Mutex<(Instant, u64, bool)>> =
        LazyLock::new(|| Mutex::new((Instant::now(), 0, false)));
    if is_short || !GIVES_WAY.load(Ordering::Relaxed) {
        return Rank::Equal;
    }
    let queries = QUERIES.fetch_add(1, Ordering::Relaxed) + 1;
    let short = STATEMENTS.load(Ordering::Relaxed).saturating_sub(queries);
    let mut last = LAST.lock();
    let passed = u64::try_from(last.0.elapsed().as_millis()).unwrap_or(u64::MAX);
    if passed >= MOMENT {
        let more = short.saturating_sub(last.1);
        *last = (Instant::now(), short, more * 1000 / passed >= MANY);
    }
    match last.2 {
        true => Rank::Background,
        false => Rank::Below,
    }
}

impl Rank {
    /// Gives this thread the rank; one that the system refuses to change stays as it is.
    fn take(self) {
        RANK.set(self);
        match self {
            Rank::Equal => {}
            Rank::Below => drop_priority(BELOW),
            Rank::Background => {
                if !take_idle_time() {
                    drop_priority(LOWEST);
                }
            }
        }
    }
}

/// Threads without work, by their numbers.
type Idle = Mutex<HashMap<u64, Sender<Work>>>;

/// The threads of a rank that have no work.
fn idle(rank: Rank) -> &'static Idle {
    static IDLE: [LazyLock<Idle>; 3] = [const { LazyLock::new(Mutex::default) }; 3];
    &IDLE[rank as usize]
}

/// Does some work, which may wait for others, on a thread of its own; work that is short gives way
/// to none.
///
/// # Errors
/// If the system has no thread left.
pub fn begin(is_short: bool, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let rank = rank(is_short);
    let mut work: Work = Box::new(work);
    loop {
        let idle = {
            let mut idle = idle(rank).lock();
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
    thread
        .stack_size(STACK)
        .spawn(move || stay(rank, number, work))
        .map(drop)
}

fn stay(rank: Rank, number: u64, first: Work) {
    rank.take();
    first();
    loop {
        let (sender, receiver): (Sender<Work>, Receiver<Work>) = channel();
        idle(rank).lock().insert(number, sender);
        let next = receiver.recv_timeout(PATIENCE).ok().or_else(|| {
            // Somebody may have chosen this thread in the last moment.
            let unchosen = idle(rank).lock().remove(&number).is_some();
            (!unchosen).then(|| receiver.recv().ok()).flatten()
        });
        match next {
            Some(work) => work(),
            None => return,
        }
    }
}

/// A frame for the work of a statement on one thread: it calls what it is given, once.
pub type Around = Arc<dyn Fn(&mut dyn FnMut()) + Send + Sync>;

thread_local! {
    /// The frame of the work that this thread does.
    static AROUND: RefCell<Option<Around>> = const { RefCell::new(None) };
}

/// Does some work in a frame, in which its parts on other threads are done, too.
pub fn surrounded<T>(around: Around, work: impl FnOnce() -> T) -> T {
    /// Brings back the frame of before, after a panic, too.
    struct Restore(Option<Around>);
    impl Drop for Restore {
        fn drop(&mut self) {
            AROUND.set(self.0.take());
        }
    }
    let _restore = Restore(AROUND.replace(Some(Arc::clone(&around))));
    let (mut work, mut done) = (Some(work), None);
    around(&mut || done = work.take().map(|work| work()));
    match (done, work) {
        (Some(done), _) => done,
        (None, Some(work)) => work(),
        (None, None) => unreachable!("work that was done has an outcome"),
    }
}

/// Does some work of this thread's frame on another thread.
fn within<T>(around: Option<Around>, work: impl FnOnce() -> T) -> T {
    match around {
        Some(around) => surrounded(around, work),
        None => work(),
    }
}

/// The frame of the work that this thread does.
fn around() -> Option<Around> {
    AROUND.with_borrow(Option::clone)
}

/// The threads that the pipelines of a rank share.
fn pool(rank: Rank) -> Option<&'static ThreadPool> {
    static POOLS: [OnceLock<Option<ThreadPool>>; 3] = [const { OnceLock::new() }; 3];
    let pool = POOLS[rank as usize].get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let pool = ThreadPoolBuilder::new().num_threads(processors * PER_PROCESSOR);
        let pool = pool.thread_name(|number| format!("pipeline-{number}"));
        let pool = pool.stack_size(STACK);
        let pool = pool.start_handler(move |_| rank.take());
        pool.build().ok()
    });
    pool.as_ref()
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
    let rank = RANK.get();
    std::thread::scope(|scope| {
        // Without a thread for it, the others do its part of the work.
        let others = (1..threads).filter_map(|number| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            let around = around();
            let work = move || {
                rank.take();
                within(around, || work(number))
            };
            thread.spawn_scoped(scope, work).ok()
        });
        let others: Vec<_> = others.collect();
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
    let pool = if threads < 2 { None } else { pool(RANK.get()) };
    let Some(pool) = pool else {
        return (0..threads.max(1)).map(work).collect();
    };
    let outcomes: Vec<Mutex<Option<T>>> = (0..threads).map(|_| Mutex::default()).collect();
    pool.in_place_scope(|scope| {
        let (outcomes, work) = (&outcomes, &work);
        for (number, outcome) in outcomes.iter().enumerate().skip(1) {
            let around = around();
            scope.spawn(move |_| *outcome.lock() = Some(within(around, || work(number))));
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
    fn parts_of_work_on_other_threads_are_in_its_frame() {
        thread_local! {
            static INSIDE: Cell<bool> = const { Cell::new(false) };
        }
        let frame: Around = Arc::new(|work| {
            let before = INSIDE.replace(true);
            work();
            INSIDE.set(before);
        });
        for workers in [Workers::Pooled, Workers::Waiting] {
            let all = || workers.each(5, |_| on_threads(3, |_| INSIDE.get()));
            let inside = surrounded(Arc::clone(&frame), all);
            assert!(inside.iter().flatten().all(|inside| *inside));
            assert!(!all().iter().flatten().any(|inside| *inside));
        }
    }

    #[test]
    fn work_is_done_on_threads_that_stay() {
        let (sender, receiver) = channel();
        for _ in 0..50 {
            let sender = sender.clone();
            begin(true, move || {
                sender.send(std::thread::current().id()).unwrap()
            })
            .unwrap();
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
