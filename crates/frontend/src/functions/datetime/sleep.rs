//! `pg_sleep` and its kin: a statement that waits.
//!
//! The thread sleeps in short pieces, so that a statement that is canceled ends soon, and other
//! statements are given its thread meanwhile (`interrupt`).

use std::time::Duration;

use super::super::kernel::{F64, Span, Stamp, Str, f1, w1};
use super::super::{Catalogue, scalar};
use super::now::clock;
use super::{of, settings};
use crate::error::Result;
use crate::interrupt;
use crate::types::Type;
use crate::values::datetime::calendar::{SECOND, add_interval_in};

/// The longest that nobody looks whether to go on.
const PIECE: i64 = 5_000;

/// Waits until a moment of the machine's clock, in microseconds since 1970.
fn until(end: i64) -> Result<String> {
    loop {
        interrupt::now()?;
        let left = end.saturating_sub(clock());
        if left <= 0 {
            return Ok(String::new());
        }
        let piece = u64::try_from(left.min(PIECE)).unwrap_or(0);
        std::thread::sleep(Duration::from_micros(piece));
    }
}

pub(super) fn register(c: &mut Catalogue) {
    let seconds = f1::<F64, Str>(|seconds| {
        // A number that is none, or below 0, is no time; the greatest have no end.
        let micros = (seconds * SECOND as f64) as i64;
        until(clock().saturating_add(micros))
    });
    c.add(scalar("pg_sleep", &[Type::Float8], Type::Void, seconds).volatile());
    let span =
        w1::<Span, Str>(|call, span| until(add_interval_in(clock(), &span, &settings(call).zone)?));
    c.add(scalar("pg_sleep_for", &[Type::Interval], Type::Void, span).volatile());
    let stamp = f1::<Stamp, Str>(until);
    c.add(scalar("pg_sleep_until", &[of::STAMPTZ], Type::Void, stamp).volatile());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use std::time::Instant;

    #[test]
    fn waiting_ends_with_its_time_and_when_it_is_to_end() {
        let began = Instant::now();
        assert_eq!(until(clock() + 20_000).unwrap(), "");
        assert!(began.elapsed() >= Duration::from_millis(19));
        let late = Interrupt {
            deadline: Some(Instant::now() + Duration::from_millis(20)),
            ..Interrupt::default()
        };
        let error = interrupt::during(&late, || until(i64::MAX)).unwrap_err();
        assert_eq!(error.sqlstate, "57014");
    }
}
