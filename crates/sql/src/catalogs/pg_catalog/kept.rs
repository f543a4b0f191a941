//! `pg_cursors`, `pg_prepared_statements` and `pg_locks`: the cursors and prepared statements of a
//! session, and the locks of all.

use std::sync::Weak;

use super::facts::{Fact, Facts};
use super::others::{DATABASE, process};
use crate::advisory_locks::{HeldLocks, Key};
use crate::catalogs::Numbers;
use crate::relations::Relations;
use crate::session::{Cursors, PreparedStatements};

/// Cursors that are open.
pub(super) fn cursors(relations: &Relations<'_>, facts: &mut Facts) {
    let known = relations.state.config().get_extension::<Weak<Cursors>>();
    let open = known.and_then(|cursors| cursors.upgrade());
    for (name, declared, kept) in open.iter().flat_map(|cursors| cursors.all()) {
        // Without a word of SCROLL it can be read backward if its rows are kept.
        let scrolls = kept && declared.scrolls != Some(false);
        facts.add([
            ("name", name.into()),
            ("statement", declared.text.into()),
            ("is_holdable", declared.holds.into()),
            ("is_binary", declared.binary.into()),
            ("is_scrollable", scrolls.into()),
            ("creation_time", declared.time.into()),
        ]);
    }
}

/// Statements that PREPARE has kept. Each execution plans a statement with its values.
pub(super) fn statements(relations: &Relations<'_>, facts: &mut Facts) {
    let config = relations.state.config();
    let Some(kept) = config.get_extension::<PreparedStatements>() else {
        return;
    };
    let all = kept.all();
    if all.is_empty() {
        return;
    }
    let numbers = Numbers::of(relations);
    for (name, one) in all {
        let types = one.types.iter().map(|ty| numbers.type_number(ty));
        let types: Vec<i64> = types.map(Option::unwrap_or_default).collect();
        facts.add([
            ("name", name.into()),
            ("statement", one.text.as_ref().into()),
            ("prepare_time", one.time.into()),
            ("parameter_types", Fact::from(types)),
            ("from_sql", true.into()),
            ("custom_plans", one.executions().into()),
        ]);
    }
}

/// Advisory locks that sessions have or wait for: there are no others, because rows are read
/// without any.
pub(super) fn locks(relations: &Relations<'_>, facts: &mut Facts) {
    let held = relations.state.config().get_extension::<HeldLocks>();
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
