//! `random` and `setseed`.
//!
//! Each thread has a generator of its own, seeded by the operating system: xoroshiro128**,
//! which PostgreSQL has, too, so that a seed gives the numbers that it gives there. As
//! `setseed` seeds the generator of the thread that it runs on, a statement on several threads
//! cannot be repeated.

use std::cell::Cell;

use crate::error::{Error, Result};
use crate::functions::kernel::{F64, Str, f0, f1};
use crate::functions::{Catalogue, scalar};
use crate::types::Type;

thread_local! {
    static STATE: Cell<(u64, u64)> = Cell::new(fresh());
}

/// A state that nobody can foretell.
fn fresh() -> (u64, u64) {
    match getrandom::u64() {
        Ok(seed) => seeded(seed),
        // Without a source of randomness the time must do.
        Err(_) => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            seeded(now.map_or(1, |now| now.as_nanos() as u64))
        }
    }
}

/// The state of a seed, by splitmix64.
fn seeded(mut seed: u64) -> (u64, u64) {
    let mut next = || {
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let value = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ value >> 31
    };
    let state = (next(), next());
    // From zeros only zeros follow.
    if state == (0, 0) { (1, 2) } else { state }
}

/// A number from 0 to 1, without 1.
fn random() -> f64 {
    let (a, b) = STATE.get();
    let mixed = a ^ b;
    STATE.set((
        a.rotate_left(24) ^ mixed ^ mixed << 16,
        mixed.rotate_left(37),
    ));
    let value = a.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
    (value >> 12) as f64 / (1u64 << 52) as f64
}

fn set_seed(seed: f64) -> Result<String> {
    if !(-1.0..=1.0).contains(&seed) {
        let message = format!(
            "setseed parameter {} is out of allowed range [-1,1]",
            crate::values::float::write(seed, 0)
        );
        return Err(Error::new("22023", message));
    }
    let seed = (((1u64 << 52) - 1) as f64 * seed) as i64;
    STATE.set(seeded(seed as u64));
    Ok(String::new())
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    let kernel = f0::<F64>(|_| Ok(random()));
    c.add(scalar("random", &[], Type::Float8, kernel).volatile());
    let kernel = f1::<F64, Str>(set_seed);
    c.add(scalar("setseed", &[Type::Float8], Type::Void, kernel).volatile());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_seed() {
        set_seed(0.5).unwrap();
        let first = (random(), random());
        assert_eq!(first, (0.985_167_717_534_799_9, 0.825_301_858_027_981));
        assert_eq!(set_seed(2.0).unwrap_err().sqlstate, "22023");
        assert!(set_seed(f64::NAN).is_err());
    }
}
