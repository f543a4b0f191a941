//! `pg_advisory_lock` and its kin, over the locks of a session.

use std::sync::Arc;

use crate::state::SessionState;
use freestone_frontend::Result;
use freestone_frontend::functions::kernel::{Bool, I32, I64, Kernel, Str, f0, f1, f2};
use freestone_frontend::functions::{Scalar, scalar};
use freestone_frontend::types::Type;

use crate::advisory_locks::{HeldLocks, Key, Mode};
use crate::settings::ClientSettings;

const UNLOCK_ALL: &str = "pg_advisory_unlock_all";
const UNLOCK: [(&str, bool); 2] = [
    ("pg_advisory_unlock", false),
    ("pg_advisory_unlock_shared", true),
];
/// Functions that take a lock: whether it is shared, and whether it ends with the transaction.
const LOCK: [(&str, bool, bool); 4] = [
    ("pg_advisory_lock", false, false),
    ("pg_advisory_lock_shared", true, false),
    ("pg_advisory_xact_lock", false, true),
    ("pg_advisory_xact_lock_shared", true, true),
];
/// Functions that take a lock only if it is free, in the same form.
const TRY: [(&str, bool, bool); 4] = [
    ("pg_try_advisory_lock", false, false),
    ("pg_try_advisory_lock_shared", true, false),
    ("pg_try_advisory_xact_lock", false, true),
    ("pg_try_advisory_xact_lock_shared", true, true),
];

/// The overloads of a function of advisory locks; none if it is not one.
pub(super) fn functions(name: &str, state: &SessionState) -> Vec<Scalar> {
    let Some(held) = state.get::<HeldLocks>() else {
        return Vec::new();
    };
    held.set_used();
    let by_name = |known: &&(&'static str, bool, bool)| known.0 == name;
    if name == UNLOCK_ALL {
        let kernel: Kernel = f0::<Str>(move |_| {
            held.unlock_all();
            Ok(String::new())
        });
        return vec![scalar(UNLOCK_ALL, &[], Type::Void, kernel).volatile()];
    }
    if let Some((name, shared)) = UNLOCK.into_iter().find(|(known, _)| *known == name) {
        return truths(name, move |key| Ok(held.unlock(key, shared)));
    }
    let mode = |shared, in_transaction| Mode {
        shared,
        in_transaction,
    };
    if let Some((name, shared, in_transaction)) = TRY.iter().find(by_name).copied() {
        let mode = mode(shared, in_transaction);
        return truths(name, move |key| Ok(held.try_lock(key, mode)));
    }
    if let Some((name, shared, in_transaction)) = LOCK.iter().find(by_name).copied() {
        let mode = mode(shared, in_transaction);
        let client = state.get::<ClientSettings>();
        let most = client.and_then(|client| client.timeout("lock_timeout"));
        return waits(name, move |key| held.lock(key, mode, most));
    }
    Vec::new()
}

/// The overloads of a function that tells something of a lock.
fn truths(
    name: &'static str,
    of: impl Fn(Key) -> Result<bool> + Send + Sync + 'static,
) -> Vec<Scalar> {
    let of = Arc::new(of);
    let one = Arc::clone(&of);
    let one = f1::<I64, Bool>(move |number| one(Key::One(number)));
    let two = f2::<I32, I32, Bool>(move |first, second| of(Key::Two(first, second)));
    overloads(name, &Type::Bool, one, two)
}

/// The overloads of a function that waits for a lock.
fn waits(
    name: &'static str,
    lock: impl Fn(Key) -> Result<()> + Send + Sync + 'static,
) -> Vec<Scalar> {
    let lock = Arc::new(lock);
    let one = Arc::clone(&lock);
    let one = f1::<I64, Str>(move |number| one(Key::One(number)).map(|()| String::new()));
    let two = f2::<I32, I32, Str>(move |first, second| {
        lock(Key::Two(first, second)).map(|()| String::new())
    });
    overloads(name, &Type::Void, one, two)
}

fn overloads(name: &'static str, returns: &Type, one: Kernel, two: Kernel) -> Vec<Scalar> {
    vec![
        scalar(name, &[Type::Int8], returns.clone(), one).volatile(),
        scalar(name, &[Type::Int4, Type::Int4], returns.clone(), two).volatile(),
    ]
}
