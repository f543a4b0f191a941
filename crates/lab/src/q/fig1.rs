//! Block size and threads (Q, figure 1 and section 4.1).

use super::figure::{by_size, judged};
use super::organisation::{Cut, Organisation, ROWS_MAX, Stored};
use super::query::{Access, Query};
use super::race::{Contender, Lab, Sweep, memory};
use super::replica::Replica;
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::machine::Machine;
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

/// A table for each size and a replica of it, all there at once, to be measured in turns.
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

/// A query of the figure.
struct Part {
    title: &'static str,
    access: Access,
    share: f64,
}

const PARTS: [Part; 3] = [
    Part {
        title: "(a) 0.1 %, sorted column of a column store",
        access: Access::Chosen,
        share: 0.001,
    },
    Part {
        title: "(b) 10 %, row store with a CSB+-tree",
        access: Access::Index,
        share: 0.1,
    },
    Part {
        title: "(c) 10 %, scan of a row store",
        access: Access::Scan,
        share: 0.1,
    },
];

/// The same table in blocks of each size.
struct Tables {
    stored: Vec<Stored>,
    replicas: Vec<Replica>,
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, tables(setting));
    // Every thread gets as many of the largest blocks as the others.
    let step = (ROWS_MAX * lab.threads) as u64;
    lab.rows = (lab.rows / step).max(1) * step;
    lab.rows = lab.rows.min(100_000_000);
    let sizes = sizes(setting);
    let organised = |part: usize, rows: usize| match part {
        0 => Organisation::plain(Layout::Column, Cut::Blocks(rows)).sorted(0),
        _ => Organisation::plain(Layout::Row, Cut::Blocks(rows)).indexed(0),
    };
    let mut plots = Vec::new();
    let mut claims = Vec::new();
    for parts in [0..1, 1..3] {
        let tables = Tables::load(&lab, &sizes, |rows| organised(parts.start, rows))?;
        for number in parts {
            let part = &PARTS[number];
            let sides = measured(&mut lab, &tables, part)?;
            plots.push(by_size(part.title, &Sweep::of_sides(&sides)));
            match number {
                2 => claims.extend(of_scans(&sides)),
                _ => claims.push(of_random_access(part.title, &sides)),
            }
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

impl Tables {
    fn load(
        lab: &Lab,
        sizes: &[usize],
        organised: impl Fn(usize) -> Organisation,
    ) -> Result<Tables> {
        let all = || sizes.iter().map(|rows| organised(*rows));
        let stored = all().map(|organisation| lab.load(&organisation));
        let replicas = all().map(|organisation| lab.replica(&organisation));
        Ok(Tables {
            stored: stored.collect::<Result<_>>()?,
            replicas: replicas.collect::<Result<_>>()?,
        })
    }
}

/// A curve for each number of threads over all block sizes, in KB: the replica's, and
/// Freestone's.
fn measured(lab: &mut Lab, tables: &Tables, part: &Part) -> Result<[Sweep; 2]> {
    let kilobytes = |organisation: &Organisation| match organisation.cut {
        Cut::Blocks(rows) => (rows * KIND.row_bytes()) as f64 / 1024.0,
        _ => 0.0,
    };
    let sizes = tables.stored.iter();
    let sizes: Vec<f64> = sizes
        .map(|stored| kilobytes(&stored.organisation))
        .collect();
    let replicas = tables.replicas.iter();
    let replicas = replicas.map(|replica| Contender::paper("", replica, part.access));
    let own = tables.stored.iter();
    let own = own.map(|stored| Contender::new("", stored, part.access));
    let contenders: Vec<Contender<'_>> = replicas.chain(own).collect();
    let generator = lab.generator();
    let mut sides = [(); 2].map(|()| Sweep {
        xs: sizes.clone(),
        ..Sweep::default()
    });
    for threads in threads(lab.threads) {
        let query = |turn| {
            let projection = generator.projection(3, turn as u64);
            Query::of(KIND, projection, 0, part.share)
        };
        let times = lab.race(&contenders, threads, query)?;
        for (side, times) in sides.iter_mut().zip(times.chunks(sizes.len())) {
            side.names.push(name(threads));
            side.times.push(times.to_vec());
        }
    }
    Ok(sides)
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

fn of_random_access(title: &str, sides: &[Sweep; 2]) -> Claim {
    judged(
        format!(
            "Observation 1, {title}: blocks of 16 to 32 MB are best or nearly so where access is \
             random (holds if a size in that range takes at most 15 % longer than the best)."
        ),
        sides,
        |sweep| {
            let medians = with_all(sweep);
            let best = medians
                .iter()
                .map(|(_, seconds)| *seconds)
                .fold(f64::INFINITY, f64::min);
            let within = |size: f64| (16.0 * 1024.0..=32.0 * 1024.0).contains(&size);
            let mut there = medians.iter().filter(|(size, _)| within(*size));
            let near = there.any(|(_, seconds)| *seconds <= best * 1.15);
            (near, format!("{} with all threads.", listed(&medians)))
        },
        [&in_second_cache(), ""],
    )
}

/// Why smaller blocks may be quicker here.
fn in_second_cache() -> String {
    let bytes = Machine::here().l2;
    let here = bytes.map_or("whose size is not known".to_owned(), |bytes| {
        format!("{} KB here", bytes >> 10)
    });
    format!(
        "A block and its tree, a quarter more, that fit into the second cache of a \
         core ({here}, 256 KB in the paper) are read from there, out of order or not."
    )
}

/// How much longer the slowest of some times takes than the quickest.
fn spread(medians: &[(f64, f64)]) -> f64 {
    let seconds = || medians.iter().map(|(_, seconds)| *seconds);
    seconds().fold(0.0, f64::max) / seconds().fold(f64::INFINITY, f64::min)
}

/// What each number of threads gains over the one before, over all sizes.
fn gains(sweep: &Sweep) -> Vec<f64> {
    let sums = sweep.times.iter();
    let sums = sums.map(|times| times.iter().map(|times| times.median()).sum());
    let sums: Vec<f64> = sums.collect();
    sums.windows(2).map(|pair| pair[0] / pair[1]).collect()
}

fn of_scans(sides: &[Sweep; 2]) -> Vec<Claim> {
    let more_threads = "Observation 2: scans get faster with each thread up to the number of cores \
                        (holds if each step gains at least 10 %).";
    vec![
        judged(
            "Observation 2: scans are not sensitive to block size below 64 MB (holds if the \
             slowest size takes at most 25 % longer than the quickest).",
            sides,
            |sweep| {
                let medians = with_all(sweep);
                let spread = spread(&medians);
                let listed = listed(&medians);
                (
                    spread <= 1.25,
                    format!("the slowest takes {spread:.2} times as long: {listed}."),
                )
            },
            [
                "Tuples of a block are listed before any of them is copied: of a block that no \
                 cache of a core holds they come from memory, or the third cache, twice.",
                "",
            ],
        ),
        match gains(&sides[0]).is_empty() {
            true => Claim::untested(more_threads, "Only one thread is to be used."),
            false => judged(
                more_threads,
                sides,
                |sweep| {
                    let gains = gains(sweep);
                    let steps = sweep.names.windows(2).zip(&gains);
                    let steps = steps.map(|(names, gain)| {
                        format!("{gain:.2} times from {} to {}", names[0], names[1])
                    });
                    let steps = steps.collect::<Vec<String>>().join(", ");
                    (
                        gains.iter().all(|gain| *gain >= 1.1),
                        format!("over all sizes, {steps}."),
                    )
                },
                ["", ""],
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
        let sides = |seconds| [sweep(seconds), sweep([1.0; 3])];
        let verdict = |seconds| of_random_access("", &sides(seconds)).verdict;
        assert_eq!(verdict([1.0, 1.1, 2.0]), Holds);
        assert_eq!(verdict([1.0, 1.2, 2.0]), DoesNotHold);
        let verdicts = |seconds| {
            let claims = of_scans(&sides(seconds));
            claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts([1.0, 1.1, 1.2]), [Holds, Holds]);
        assert_eq!(verdicts([1.0, 1.1, 1.3]), [DoesNotHold, Holds]);
        assert_eq!(threads(4), [1, 2, 4]);
        assert_eq!(threads(6), [1, 2, 4, 6]);
        assert_eq!(threads(1), [1]);
    }
}
