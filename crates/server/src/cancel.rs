//! Requests to cancel what another connection is doing.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::users::random;

/// What a request has to know, and how its connection is told.
type Known = (Vec<u8>, Arc<Notify>);

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
}

impl Cancels {
    /// A place for a new connection.
    pub(crate) fn enter(self: &Arc<Self>) -> Cancellable {
        let number = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let secret = random(4);
        let asked = Arc::new(Notify::new());
        let entry = (secret.clone(), Arc::clone(&asked));
        self.known.lock().insert(number, entry);
        Cancellable {
            all: Arc::clone(self),
            number,
            secret,
            asked,
        }
    }

    /// Tells a connection, if the secret is its own.
    pub(crate) fn cancel(&self, number: i32, secret: &[u8]) {
        let known = self.known.lock().get(&number).cloned();
        if let Some((own, asked)) = known {
            let differ = own.iter().zip(secret).fold(0, |all, (a, b)| all | (a ^ b));
            if own.len() == secret.len() && differ == 0 {
                asked.notify_one();
            }
        }
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        self.all.known.lock().remove(&self.number);
    }
}
