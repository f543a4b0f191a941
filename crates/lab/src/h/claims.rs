//! Claims that several figures make, and how curves are judged.

use super::disks::{Conditions, PAPER_CPDB};
use super::setup::{Bench, Measured, percent};
use super::sweep::Curve;
use super::tables::TUPLES;
use crate::outcome::Claim;

/// Up to this share of elapsed time, CPU time counts as hidden behind the disks'.
const HIDDEN: f64 = 0.9;

/// The largest share of elapsed time that is CPU time, over all numbers of attributes.
pub fn cpu_share(curve: &Curve, bench: &Bench) -> f64 {
    let share = |attributes| {
        let elapsed = curve.elapsed(&bench.disks, attributes, Conditions::default());
        curve.compute(attributes) * TUPLES / elapsed
    };
    (1..=curve.attributes()).map(share).fold(0.0, f64::max)
}

/// Whether a curve waits for disks, for whatever number of attributes.
pub fn waits_for_disks(curve: &Curve, bench: &Bench) -> bool {
    cpu_share(curve, bench) < HIDDEN
}

/// The cycles per disk byte below which a curve would begin to wait for the CPU.
pub fn balance(curve: &Curve, bench: &Bench) -> f64 {
    PAPER_CPDB * cpu_share(curve, bench)
}

/// Of each curve the largest share of CPU time, for people.
pub fn shares(curves: &[Curve], bench: &Bench) -> String {
    let share = |curve: &Curve| format!("{} {}", curve.name, percent(cpu_share(curve, bench)));
    let all: Vec<String> = curves.iter().map(share).collect();
    format!(
        "At most so much of elapsed time is CPU time: {}.",
        all.join("; ")
    )
}

/// All scans wait for disks.
pub fn bound_by_disks(measured: &Measured, bench: &Bench) -> Claim {
    let of = |curves: &[Curve]| {
        let holds = curves.iter().all(|curve| waits_for_disks(curve, bench));
        (holds, shares(curves, bench))
    };
    Claim::replicated(
        "All scans are bound by disks: elapsed time is the time of I/O, and CPU time is hidden \
         behind it (here: less than 90 % of elapsed time)",
        of(&measured.document),
        of(&measured.freestone),
    )
}

/// Rows and columns of the document's program, or rows and pipelined columns of
/// Freestone's.
pub fn pair(curves: &[Curve]) -> (&Curve, &Curve) {
    (&curves[0], &curves[1])
}
