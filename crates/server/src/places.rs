//! Places: of clients, and of strangers, who have not said yet who they are.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use freestone::{Error, Result};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Places of clients that have said who they are.
#[derive(Debug)]
pub(crate) struct Places {
    taken: Arc<Taken>,
    /// How many there are.
    most: usize,
    /// How many of them are kept for those who may do everything.
    reserved: usize,
}

#[derive(Debug, Default)]
struct Taken {
    count: Mutex<usize>,
    /// Told whenever one leaves.
    left: Notify,
}

/// One client's place, as long as this lives.
#[derive(Debug)]
pub(crate) struct Place(Arc<Taken>);

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.count.lock() -= 1;
        self.0.left.notify_waiters();
    }
}

impl Places {
    /// `most` places, of which some are reserved, but never all.
    pub(crate) fn new(most: usize, reserved: usize) -> Self {
        Self {
            taken: Arc::default(),
            most,
            reserved: reserved.min(most.saturating_sub(1)),
        }
    }

    /// A place for a client.
    ///
    /// # Errors
    /// `53300` if there is none left for it.
    pub(crate) fn take(&self, superuser: bool) -> Result<Place> {
        let most = match superuser {
            true => self.most,
            false => self.most - self.reserved,
        };
        let mut count = self.taken.count.lock();
        if *count >= most {
            let mut message = format!("too many clients: at most {} are served", self.most);
            if !superuser && *count < self.most {
                message.push_str("; the places that are left are for superusers");
            }
            return Err(Error::new("53300", message).with_hint("wait until others have left"));
        }
        *count += 1;
        Ok(Place(Arc::clone(&self.taken)))
    }

    /// Waits until nobody has one.
    pub(crate) async fn empty(&self) {
        loop {
            let mut left = std::pin::pin!(self.taken.left.notified());
            left.as_mut().enable();
            if *self.taken.count.lock() == 0 {
                return;
            }
            left.await;
        }
    }
}

/// Connections of strangers. There is always room for one more: the one that has been here the
/// longest leaves, so that neither clients nor requests to cancel are kept out.
#[derive(Debug)]
pub(crate) struct Strangers {
    all: Mutex<Here>,
    most: usize,
}

#[derive(Debug, Default)]
struct Here {
    next: u64,
    /// By number, the oldest first.
    leave: BTreeMap<u64, Arc<Notify>>,
}

/// A connection as long as it is a stranger's.
#[derive(Debug)]
pub(crate) struct Stranger {
    number: u64,
    leave: Arc<Notify>,
    all: Arc<Strangers>,
}

impl Strangers {
    /// At most so many at a time.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            all: Mutex::default(),
            most,
        }
    }

    /// One more.
    pub(crate) fn enter(self: &Arc<Self>) -> Stranger {
        let leave = Arc::new(Notify::new());
        let mut here = self.all.lock();
        while here.leave.len() >= self.most {
            match here.leave.pop_first() {
                Some((_, oldest)) => oldest.notify_one(),
                None => break,
            }
        }
        let number = here.next;
        here.next += 1;
        here.leave.insert(number, Arc::clone(&leave));
        drop(here);
        Stranger {
            number,
            leave,
            all: Arc::clone(self),
        }
    }
}

impl Stranger {
    /// Waits until it has to make room for another.
    pub(crate) fn leave(&self) -> impl Future<Output = ()> + Send + use<> {
        let leave = Arc::clone(&self.leave);
        async move { leave.notified().await }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.all.all.lock().leave.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn some_places_are_kept_for_superusers() {
        let places = Places::new(5, 3);
        let first = places.take(false).unwrap();
        let _second = places.take(false).unwrap();
        let refused = places.take(false).unwrap_err();
        assert_eq!(refused.sqlstate, "53300");
        assert!(refused.message.contains("for superusers"), "{refused}");
        let boss: Vec<Place> = (0..3).map(|_| places.take(true).unwrap()).collect();
        assert_eq!(places.take(true).unwrap_err().sqlstate, "53300");
        drop((first, boss));
        places.take(false).unwrap();
        assert!(places.empty().now_or_never().is_none());
        // One that serves a single client serves anybody.
        Places::new(1, 3).take(false).unwrap();
        assert!(Places::new(1, 3).empty().now_or_never().is_some());
    }

    #[test]
    fn the_oldest_stranger_leaves_for_another() {
        let strangers = Arc::new(Strangers::new(2));
        let [first, second] = [strangers.enter(), strangers.enter()];
        assert!(first.leave().now_or_never().is_none());
        let third = strangers.enter();
        assert!(first.leave().now_or_never().is_some());
        drop(second);
        let _fourth = strangers.enter();
        assert!(third.leave().now_or_never().is_none());
    }
}
