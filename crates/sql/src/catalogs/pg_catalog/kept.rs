//! `pg_cursors`, `pg_prepared_statements` and `pg_locks`: the cursors and prepared statements of a
//! session, and the locks of all.

use std::sync::Arc;

use super::facts::{Fact, Facts};
use super::others::{DATABASE, process};
use crate::advisory_locks::{HeldLocks, Key};
use crate::catalogs::Numbers;
use crate::relations::Relations;

/// A cursor that is open.
pub(crate) struct OpenCursor {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) holds: bool,
    pub(crate) binary: bool,
    /// Whether it can be read backward.
    pub(crate) scrolls: bool,
    pub(crate) time: i64,
}

/// A statement that PREPARE has kept.
pub(crate) struct KeptStatement {
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    /// The types of its parameters, as SQL writes them.
    pub(crate) types: Vec<String>,
    pub(crate) time: i64,
    pub(crate) executions: i64,
}

/// Lists of what a session keeps, as an extension of its configuration.
pub(crate) struct KeptBySession {
    pub(crate) cursors: Box<dyn Fn() -> Vec<OpenCursor> + Send + Sync>,
    pub(crate) statements: Box<dyn Fn() -> Vec<KeptStatement> + Send + Sync>,
}

/// Cursors that are open.
pub(super) fn cursors(relations: &Relations<'_>, facts: &mut Facts) {
    let kept = relations.state.get::<KeptBySession>();
    for cursor in kept.iter().flat_map(|kept| (kept.cursors)()) {
        facts.add([
            ("name", cursor.name.into()),
            ("statement", cursor.text.into()),
            ("is_holdable", cursor.holds.into()),
            ("is_binary", cursor.binary.into()),
            ("is_scrollable", cursor.scrolls.into()),
            ("creation_time", cursor.time.into()),
        ]);
    }
}

/// Statements that PREPARE has kept. Each execution plans a statement with its values.
pub(super) fn statements(relations: &Relations<'_>, facts: &mut Facts) {
    let kept = relations.state.get::<KeptBySession>();
    let all = kept.map_or_else(Vec::new, |kept| (kept.statements)());
    if all.is_empty() {
        return;
    }
    let numbers = Numbers::of(relations);
    for one in all {
        let types = one.types.iter().map(|ty| numbers.type_number(ty));
        let types: Vec<i64> = types.map(Option::unwrap_or_default).collect();
        facts.add([
            ("name", one.name.into()),
            ("statement", one.text.as_ref().into()),
            ("prepare_time", one.time.into()),
            ("parameter_types", Fact::from(types)),
            ("from_sql", true.into()),
            ("custom_plans", one.executions.into()),
        ]);
    }
}

/// Advisory locks that sessions have or wait for: there are no others, because rows are read
/// without any.
pub(super) fn locks(relations: &Relations<'_>, facts: &mut Facts) {
    let held = relations.state.get::<HeldLocks>();
    for lock in held.iter().flat_map(|held| held.listed()) {
        // PostgreSQL tells the halves of one number, or two numbers.
        let (first, second, form) = match lock.key {
            Key::One(number) => ((number >> 32) as u32, number as u32, 1),
            Key::Two(first, second) => (first as u32, second as u32, 2),
        };
        let mode = match lock.shared {
            true => "ShareLock",
            false => "ExclusiveLock",
        };
        facts.add([
            ("locktype", "advisory".into()),
            ("database", DATABASE.into()),
            ("relation", Fact::Null),
            ("page", Fact::Null),
            ("tuple", Fact::Null),
            ("transactionid", Fact::Null),
            ("classid", i64::from(first).into()),
            ("objid", i64::from(second).into()),
            ("objsubid", form.into()),
            ("virtualtransaction", format!("{}/0", lock.session).into()),
            ("pid", process().into()),
            ("mode", mode.into()),
            ("granted", lock.granted.into()),
        ]);
    }
}
