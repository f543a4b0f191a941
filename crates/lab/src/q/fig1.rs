//! Block size and threads (Q, figure 1 and section 4.1).

use super::figure::by_size;
use super::organisation::{Cut, Organisation, ROWS_MAX, Stored};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figure 1: block size against response time.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q1",
    source: "Q, figure 1",
    title: "Block size and threads",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, tables(setting)),
        ..Need::default()
    }
}

/// Rows of the blocks that are compared.
fn sizes(setting: &Setting) -> Vec<usize> {
    let exponents = setting.by_scale(vec![12, 14, 16, 18, 19], (12..=20).collect());
    exponents
        .into_iter()
        .map(|exponent| 1 << exponent)
        .collect()
}

/// Two tables for each size, all there at once, to be measured in turns.
fn tables(setting: &Setting) -> u64 {
    2 * sizes(setting).len() as u64
}

/// One, two, four … threads, and all.
fn threads(all: usize) -> Vec<usize> {
    let powers = (0..)
        .map(|power| 1 << power)
        .take_while(|threads| *threads < all);
    powers.chain([all]).collect()
}

/// A query of the figure, over the tables of all sizes.
struct Part<'a> {
    title: &'a str,
    tables: &'a [Stored],
    access: Access,
    share: f64,
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, tables(setting));
    // Every thread gets as many of the largest blocks as the others.
    let step = (ROWS_MAX * lab.threads) as u64;
    lab.rows = lab.rows.max(1).next_multiple_of(step).max(step);
    lab.rows = lab.rows.min(100_000_000);
    let sizes = sizes(setting);
    let load = |organisation: &dyn Fn(usize) -> Organisation| {
        let tables = sizes.iter().map(|rows| lab.load(&organisation(*rows)));
        tables.collect::<Result<Vec<Stored>>>()
    };
    let columns = load(&|rows| Organisation::plain(Layout::Column, Cut::Blocks(rows)).sorted(0))?;
    let rows = load(&|rows| Organisation::plain(Layout::Row, Cut::Blocks(rows)).indexed(0))?;
    let parts = [
        (
            "(a) 0.1 %, sorted column of a column store",
            &columns,
            Access::Chosen,
            0.001,
        ),
        (
            "(b) 10 %, row store with a CSB+-tree",
            &rows,
            Access::Index,
            0.1,
        ),
        ("(c) 10 %, scan of a row store", &rows, Access::Scan, 0.1),
    ];
    let mut plots = Vec::new();
    let mut claims = Vec::new();
    for (number, (title, tables, access, share)) in parts.into_iter().enumerate() {
        let part = Part {
            title,
            tables,
            access,
            share,
        };
        let sweep = measured(&mut lab, &part)?;
        plots.push(by_size(part.title, &sweep));
        match number {
            2 => claims.extend(of_scans(&sweep)),
            _ => claims.push(of_random_access(part.title, &sweep)),
        }
    }
    claims.extend(untested());
    let setup = lab.setup(
        "Blocks of Freestone have at most 2^20 rows, so that 40 MB is the largest here and 64 to \
         256 MB cannot be; each size is a power of two in rows of 40 bytes. Three columns are \
         projected.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims,
        ..Outcome::default()
    })
}

/// A curve for each number of threads over all block sizes, in KB.
fn measured(lab: &mut Lab, part: &Part<'_>) -> Result<Sweep> {
    let kilobytes = |stored: &Stored| match stored.organisation.cut {
        Cut::Blocks(rows) => (rows * KIND.row_bytes()) as f64 / 1024.0,
        _ => 0.0,
    };
    let contenders: Vec<Contender<'_>> = part
        .tables
        .iter()
        .map(|stored| Contender::new(&kilobytes(stored).to_string(), stored, part.access))
        .collect();
    let generator = lab.generator();
    let mut sweep = Sweep {
        xs: part.tables.iter().map(kilobytes).collect(),
        ..Sweep::default()
    };
    for threads in threads(lab.threads) {
        let query = |turn| {
            let projection = generator.projection(3, turn as u64);
            Query::of(KIND, projection, 0, part.share)
        };
        sweep.names.push(name(threads));
        sweep.times.push(lab.race(&contenders, threads, query)?);
    }
    Ok(sweep)
}

fn name(threads: usize) -> String {
    match threads {
        1 => "1 thread".into(),
        many => format!("{many} threads"),
    }
}

/// The medians of the curve with all threads, by size in KB.
fn with_all(sweep: &Sweep) -> Vec<(f64, f64)> {
    let times = sweep.times.last().into_iter().flatten();
    let medians = times.map(|times| times.median());
    sweep.xs.iter().copied().zip(medians).collect()
}

fn listed(medians: &[(f64, f64)]) -> String {
    let each = medians
        .iter()
        .map(|(size, seconds)| format!("{:.2} ms at {size} KB", seconds * 1e3));
    each.collect::<Vec<String>>().join(", ")
}

fn of_random_access(title: &str, sweep: &Sweep) -> Claim {
    let medians = with_all(sweep);
    let best = medians
        .iter()
        .map(|(_, seconds)| *seconds)
        .fold(f64::INFINITY, f64::min);
    let within = |size: f64| (16.0 * 1024.0..=32.0 * 1024.0).contains(&size);
    let there = medians.iter().filter(|(size, _)| within(*size));
    let near = there.clone().any(|(_, seconds)| *seconds <= best * 1.15);
    let largest = medians.iter().find(|(_, seconds)| *seconds == best);
    let largest = largest.map_or(0.0, |(size, _)| *size);
    Claim::tested(
        format!(
            "Observation 1, {title}: blocks of 16 to 32 MB are best or nearly so where access is \
             random (holds if a size in that range takes at most 15 % longer than the best)."
        ),
        near,
        format!(
            "With all threads {}; best at {largest} KB.",
            listed(&medians)
        ),
    )
}

fn of_scans(sweep: &Sweep) -> Vec<Claim> {
    let medians = with_all(sweep);
    let seconds = || medians.iter().map(|(_, seconds)| *seconds);
    let (best, worst) = (
        seconds().fold(f64::INFINITY, f64::min),
        seconds().fold(0.0, f64::max),
    );
    let sums: Vec<f64> = sweep
        .times
        .iter()
        .map(|times| times.iter().map(|times| times.median()).sum())
        .collect();
    let gains: Vec<f64> = sums.windows(2).map(|pair| pair[0] / pair[1]).collect();
    let steps = sweep.names.windows(2).zip(&gains);
    let steps =
        steps.map(|(names, gain)| format!("{gain:.2} times from {} to {}", names[0], names[1]));
    let steps: Vec<String> = steps.collect();
    let more_threads = "Observation 2: scans get faster with each thread up to the number of cores \
                        (holds if each step gains at least 10 %).";
    vec![
        Claim::tested(
            "Observation 2: scans are not sensitive to block size below 64 MB (holds if the \
             slowest size takes at most 25 % longer than the quickest).",
            worst <= best * 1.25,
            format!(
                "The slowest takes {:.2} times as long: {}.",
                worst / best,
                listed(&medians)
            ),
        ),
        match gains.is_empty() {
            true => Claim::untested(more_threads, "Only one thread is to be used."),
            false => Claim::tested(
                more_threads,
                gains.iter().all(|gain| *gain >= 1.1),
                format!("Over all sizes: {}.", steps.join(", ")),
            ),
        },
    ]
}

fn untested() -> [Claim; 3] {
    [
        Claim::untested(
            "Observations 1 and 2: two hardware threads on each core gain 17.3 % in (a) and 23.1 % \
             in (b), and neither gain nor lose in (c).",
            "Threads are not bound to hardware threads here, and which of those share a core is \
             not known on a virtual machine.",
        ),
        Claim::untested(
            "Section 4.1.1: the best block size is 5 to 10 times the last cache's size divided by \
             the number of cores.",
            "It takes machines with different caches, as the paper had; the last cache of a \
             virtual machine is shared with others whose number is not known.",
        ),
        Claim::untested(
            "Section 4.1.2: 10 cores of one socket are 6.5 to 9 times as fast as one, but a second \
             socket gains less than 20 %, and third and fourth lose.",
            "It takes a machine of several sockets, whose memory is not equally far from all cores.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::q::race::Times;

    fn sweep(seconds: [f64; 3]) -> Sweep {
        let times = |factor: f64| {
            seconds
                .map(|seconds| Times(vec![factor * seconds]))
                .to_vec()
        };
        Sweep {
            names: vec![name(1), name(2)],
            xs: vec![1024.0, 20480.0, 40960.0],
            times: vec![times(2.0), times(1.0)],
        }
    }

    #[test]
    fn claims_follow_the_times() {
        use crate::outcome::Verdict::{DoesNotHold, Holds};
        let verdict = |seconds| of_random_access("", &sweep(seconds)).verdict;
        assert_eq!(verdict([1.0, 1.1, 2.0]), Holds);
        assert_eq!(verdict([1.0, 1.2, 2.0]), DoesNotHold);
        let verdicts = |seconds| {
            let claims = of_scans(&sweep(seconds));
            claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts([1.0, 1.1, 1.2]), [Holds, Holds]);
        assert_eq!(verdicts([1.0, 1.1, 1.3]), [DoesNotHold, Holds]);
        assert_eq!(threads(4), [1, 2, 4]);
        assert_eq!(threads(6), [1, 2, 4, 6]);
        assert_eq!(threads(1), [1]);
    }
}
