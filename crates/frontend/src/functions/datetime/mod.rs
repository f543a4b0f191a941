//! Dates and times: PostgreSQL's chapters 8.5 and 9.9, and its templates of chapter 9.8.
//!
//! The values and their texts are in `values::datetime`. Here they get their names:
//!
//! | module | holds |
//! |---|---|
//! | `casts` | the types' input and output, and casts between them |
//! | `arithmetic` | operators, OVERLAPS |
//! | `fields` | extract, date_part |
//! | `truncate` | date_trunc, date_bin, age, justify_… |
//! | `make` | make_date and its kin, AT TIME ZONE |
//! | `now` | the current date and time |
//! | `template` | the patterns of templates such as `YYYY-MM-DD` |
//! | `format` | to_char |
//! | `scan` | to_date, to_timestamp |
//! | `friendly` | names that other databases have: date_diff, strftime, year … |

mod arithmetic;
mod casts;
mod fields;
mod format;
mod friendly;
mod make;
mod now;
mod scan;
mod sleep;
mod template;
mod truncate;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;

use super::kernel::Call;
use super::{Catalogue, Session};
use crate::types::Type;
use crate::values::datetime::{Locale, timetz_bytes as timetz, timetz_parts};

pub use fields::{Ordinals, digits_of_field, ordinals};

/// DATE, TIME, … without modifiers, as signatures have them.
mod of {
    use crate::types::Type;
    pub(super) const DATE: Type = Type::Date;
    pub(super) const TIME: Type = Type::Time(None);
    pub(super) const TIMETZ: Type = Type::TimeTz(None);
    pub(super) const STAMP: Type = Type::Timestamp(None);
    pub(super) const STAMPTZ: Type = Type::TimestampTz(None);
    pub(super) const SPAN: Type = Type::Interval;
}

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    casts::register(c);
    arithmetic::register(c);
    fields::register(c);
    format::register(c);
    friendly::register(c);
    scan::register(c);
    make::register(c);
    sleep::register(c);
    now::register(c);
    truncate::register(c);
    for (name, of) in [
        ("datetrunc", "date_trunc"),
        ("datepart", "date_part"),
        ("today", "current_date"),
        ("get_current_timestamp", "now"),
    ] {
        c.synonym(name, of);
    }
}

struct Known {
    zone: String,
    date_style: String,
    interval_style: String,
    locale: Rc<Locale>,
}

thread_local! {
    /// The settings that were read last, so that they are not read for every row.
    static LAST: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// A session's settings of dates and times.
pub(super) fn locale(session: &Session) -> Rc<Locale> {
    LAST.with_borrow_mut(|last| {
        if let Some(known) = last
            && known.zone == session.time_zone
            && known.date_style == session.date_style
            && known.interval_style == session.interval_style
            && known.locale.now == session.transaction_time
        {
            return Rc::clone(&known.locale);
        }
        let locale = Rc::new(Locale::new(
            &session.time_zone,
            &session.date_style,
            &session.interval_style,
            session.transaction_time,
        ));
        *last = Some(Known {
            zone: session.time_zone.clone(),
            date_style: session.date_style.clone(),
            interval_style: session.interval_style.clone(),
            locale: Rc::clone(&locale),
        });
        locale
    })
}

/// The settings of a call.
fn settings(call: &Call<'_>) -> Rc<Locale> {
    locale(call.session)
}

/// The digits of seconds that a type keeps.
fn decimals(ty: &Type) -> Option<u8> {
    match ty {
        Type::Time(n) | Type::TimeTz(n) | Type::Timestamp(n) | Type::TimestampTz(n) => *n,
        _ => None,
    }
}
