//! How much a query locks its rows: FOR UPDATE, FOR SHARE and the two forms with KEY.
//!
//! The grammar has two strengths. The weaker form of each is told by a mark, which is the first
//! part of the name behind OF.

use sqlparser::ast::{LockClause, LockType, ObjectName};

use super::marks::{KEY, marked};

/// The strength of a lock, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Others may change the row, but neither delete it nor change its key.
    KeyShare,
    /// Others may lock the row in the same way, and not change it.
    Share,
    /// Others may refer to the row by its key, and nothing else.
    NoKeyUpdate,
    /// Others may only read the row.
    Update,
}

impl Strength {
    /// The strength of a clause, and the table that it names.
    pub fn of(lock: &LockClause) -> (Strength, Option<ObjectName>) {
        let mut of = lock.of.clone();
        let is_mark = |name: &ObjectName| {
            let first = name.0.first().and_then(|part| part.as_ident());
            first.is_some_and(|part| marked(part, KEY).is_some())
        };
        let weaker = of.as_ref().is_some_and(is_mark);
        if weaker {
            of = of.map(|name| ObjectName(name.0.into_iter().skip(1).collect()));
        }
        let strength = match (&lock.lock_type, weaker) {
            (LockType::Share, true) => Strength::KeyShare,
            (LockType::Share, false) => Strength::Share,
            (LockType::Update, true) => Strength::NoKeyUpdate,
            (LockType::Update, false) => Strength::Update,
        };
        (strength, of.filter(|name| !name.0.is_empty()))
    }

    /// The words that it is written with.
    pub fn words(self) -> &'static str {
        match self {
            Strength::KeyShare => "FOR KEY SHARE",
            Strength::Share => "FOR SHARE",
            Strength::NoKeyUpdate => "FOR NO KEY UPDATE",
            Strength::Update => "FOR UPDATE",
        }
    }
}
