//! What figures have in common: axes, block sizes, explanations.

use super::organisation::{Cut, ROWS_MAX};
use super::race::{Lab, Sweep};
use crate::machine::Machine;
use crate::outcome::{Axis, Claim, Plot};

/// Selectivities of the paper.
pub const SHARES: [f64; 5] = [0.001, 0.01, 0.1, 0.5, 1.0];

/// Those at which an index is asked: where all rows match, none is.
pub const INDEXED: [f64; 4] = [0.001, 0.01, 0.1, 0.5];

/// Blocks of the size that the paper's experiments use (section 4.1): 16 MB, and less of tables
/// that would else have fewer than ten.
pub fn blocks(lab: &Lab) -> Cut {
    Cut::Blocks(lab.rows_of(16 << 20).min(lab.rows as usize / 10))
}

/// Bytes of the paper's blocks for a byte of a core's second-level cache, of 256 KB.
const BLOCK_TO_CACHE: u64 = 64;

/// Blocks that are as large beside this machine's second-level cache as the paper's are
/// beside theirs, as far as a block of Freestone goes; of a table of which each thread has
/// two at least. What lies in one cache line, or in several, counts for nothing
/// where all columns of a block stay in the cache.
pub fn large_blocks(lab: &Lab) -> Cut {
    let cache = Machine::here().l2.unwrap_or(1 << 20);
    let bytes = (BLOCK_TO_CACHE * cache).max(16 << 20) as usize;
    let most = (lab.rows as usize).div_ceil(2 * lab.threads).min(ROWS_MAX);
    Cut::Blocks(lab.rows_of(bytes).min(most))
}

/// A claim that was put to the test, with a reason if it does not hold.
pub fn tested(
    says: impl Into<String>,
    holds: bool,
    measured: impl Into<String>,
    why_not: &str,
) -> Claim {
    let mut because = measured.into();
    if !holds {
        because.push(' ');
        because.push_str(why_not);
    }
    Claim::tested(says, holds, because)
}

/// A claim of the paper about its own program, judged on the replica; what it comes to
/// for Freestone stands beside it. `sides` is what is known of each, the replica first,
/// and `why` what is known where the claim does not hold.
pub fn judged<T>(
    says: impl Into<String>,
    sides: &[T; 2],
    find: impl Fn(&T) -> (bool, String),
    why: [&str; 2],
) -> Claim {
    let [(holds, replica), (own_holds, own)] = [find(&sides[0]), find(&sides[1])];
    let reason = |holds: bool, why: &str| match holds || why.is_empty() {
        true => String::new(),
        false => format!(" {why}"),
    };
    let because = format!(
        "As in the paper: {replica}{} With Freestone it {}: {own}{}",
        reason(holds, why[0]),
        if own_holds { "holds" } else { "does not hold" },
        reason(own_holds, why[1]),
    );
    Claim::tested(says, holds, because)
}

/// What a row of the result costs a thread, in nanoseconds; `share` of the rows match.
pub fn nanoseconds_per_row(lab: &Lab, sweep: &Sweep, contender: &str, x: f64, share: f64) -> f64 {
    let medians = sweep.medians(contender).into_iter();
    let seconds = medians
        .filter(|(at, _)| *at == x)
        .map(|(_, seconds)| seconds);
    seconds.sum::<f64>() * lab.threads as f64 * 1e9 / (lab.rows as f64 * share)
}

/// What one column more costs each row of the result, in nanoseconds of a thread, by the
/// times of the narrowest and the widest projection; `share` of the rows match.
pub fn nanoseconds_per_value(lab: &Lab, sweep: &Sweep, contender: &str, share: f64) -> f64 {
    let rows = lab.rows as f64 * share / lab.threads as f64;
    sweep.slope(contender) * 1e9 / rows
}

/// Widths of projections as values of an axis.
pub fn widths(lab: &Lab) -> Vec<f64> {
    lab.kind.widths().map(|width| width as f64).to_vec()
}

fn plot(title: &str, label: &str, logarithmic: bool, sweep: &Sweep) -> Plot {
    Plot {
        title: title.into(),
        x: Axis {
            label: label.into(),
            logarithmic,
            names: Vec::new(),
        },
        y: Axis {
            label: "response time in ms".into(),
            ..Axis::default()
        },
        series: sweep.series(),
    }
}

/// Response time by the number of projected columns.
pub fn by_width(title: &str, sweep: &Sweep) -> Plot {
    plot(title, "projected columns", false, sweep)
}

/// Response time by the share of rows that match.
pub fn by_share(title: &str, sweep: &Sweep) -> Plot {
    let mut plot = plot(title, "share of rows that match", true, sweep);
    plot.y.logarithmic = true;
    plot
}

/// Time by the number of rows that are worked on at once.
pub fn by_rows(title: &str, sweep: &Sweep) -> Plot {
    let mut plot = plot(title, "rows at once", true, sweep);
    plot.y.label = "time in ms".into();
    plot
}

/// Response time by the size of blocks.
pub fn by_size(title: &str, sweep: &Sweep) -> Plot {
    plot(title, "block size in KB of raw tuples", true, sweep)
}
