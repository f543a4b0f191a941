//! Requests to cancel what another connection is doing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::users::random;

/// What a request has to know, and how its connection is told.
type Known = (Vec<u8>, Arc<Notify>, Arc<OnceLock<Arc<AtomicBool>>>);

/// Connections that can be asked to give up their statement, by number.
#[derive(Debug, Default)]
pub(crate) struct Cancels {
    next: AtomicI32,
    known: Mutex<HashMap<i32, Known>>,
}

/// A connection's place among them, as long as it lives.
#[derive(Debug)]
pub(crate) struct Cancellable {
    all: Arc<Cancels>,
    /// Its number, which the protocol calls a process id,
    pub(crate) number: i32,
    /// and what a request to cancel has to know besides.
    pub(crate) secret: Vec<u8>,
    /// Told when there is one.
    pub(crate) asked: Arc<Notify>,
    /// Its session's flag, which ends planning: that does not wait, and is not told.
    planning: Arc<OnceLock<Arc<AtomicBool>>>,
}

impl Cancels {
    /// A place for a new connection.
    pub(crate) fn enter(self: &Arc<Self>) -> Cancellable {
        let number = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let secret = random(4);
        let asked = Arc::new(Notify::new());
        let planning = Arc::new(OnceLock::new());
        let entry = (secret.clone(), Arc::clone(&asked), Arc::clone(&planning));
        self.known.lock().insert(number, entry);
        Cancellable {
            all: Arc::clone(self),
            number,
            secret,
            asked,
            planning,
        }
    }

    /// Tells a connection, if the secret is its own.
    pub(crate) fn cancel(&self, number: i32, secret: &[u8]) {
        let known = self.known.lock().get(&number).cloned();
        if let Some((own, asked, planning)) = known {
            let differ = own.iter().zip(secret).fold(0, |all, (a, b)| all | (a ^ b));
            if own.len() == secret.len() && differ == 0 {
                asked.notify_one();
                if let Some(flag) = planning.get() {
                    flag.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

impl Cancellable {
    /// Says which session's planning is to end when somebody asks.
    pub(crate) fn ends(&self, flag: Arc<AtomicBool>) {
        let _ = self.planning.set(flag);
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        self.all.known.lock().remove(&self.number);
    }
}
