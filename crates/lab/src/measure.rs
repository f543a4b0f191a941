//! Time of one thread, variants in turns, and what is made of their samples.

use crate::error::Result;
use freestone_calibrate::CpuTimer;
use std::time::Instant;

/// Runs `work` and returns what it gives and the seconds that the processor worked for
/// it, so that other programs on the machine count less.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let timer = CpuTimer::start();
    let answer = work()?;
    Ok((answer, timer.elapsed().as_secs_f64()))
}

/// Runs `work` and returns what it gives and the seconds until then, with those that it
/// waits for a disk.
pub(crate) fn elapsed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let begun = Instant::now();
    let answer = work()?;
    Ok((answer, begun.elapsed().as_secs_f64()))
}

/// Runs all variants in turns, so that what disturbs one disturbs the others: once
/// unmeasured, then `repetitions` times. Returns the samples of each variant.
pub(crate) fn in_turns<V>(
    repetitions: usize,
    variants: &[V],
    mut sample: impl FnMut(&V) -> Result<f64>,
) -> Result<Vec<Vec<f64>>> {
    for variant in variants {
        sample(variant)?;
    }
    let mut samples = vec![Vec::with_capacity(repetitions); variants.len()];
    for _ in 0..repetitions {
        for (variant, samples) in variants.iter().zip(&mut samples) {
            samples.push(sample(variant)?);
        }
    }
    Ok(samples)
}

/// The middle one of some numbers, or the mean of the two; 0 of none.
pub(crate) fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// How many times as large `a` is as `b`: the median over turns.
pub(crate) fn ratio(a: &[f64], b: &[f64]) -> f64 {
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
    median(&ratios)
}

/// A share in percent, as `75 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ratios() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
        // One disturbed turn of three does not count.
        assert_eq!(ratio(&[2.0, 2.0, 90.0], &[1.0, 1.0, 1.0]), 2.0);
    }

    #[test]
    fn variants_take_turns() {
        let mut order = Vec::new();
        let samples = in_turns(2, &['a', 'b'], |variant| {
            order.push(*variant);
            Ok(order.len() as f64)
        });
        assert_eq!(samples.unwrap(), [[3.0, 5.0], [4.0, 6.0]]);
        assert_eq!(order, ['a', 'b', 'a', 'b', 'a', 'b']);
    }

    #[test]
    fn work_takes_time() {
        let work = || Ok((0..3_000_000u64).fold(1u64, |sum, next| sum.rotate_left(5) ^ next));
        let (_, seconds) = timed(|| work().map(std::hint::black_box)).unwrap();
        assert!(seconds > 0.0 && seconds < 60.0);
    }
}
