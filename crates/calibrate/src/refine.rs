//! Learns what the sums of costs are off by, on selections of all sorts.

use crate::drawn::{Measured, measured};
use crate::{Random, Result};
use freestone_model::{Correction, Costs, Machine, Selection, Spread, Stated};
use std::path::Path;

/// Queries that are drawn, each for all layouts.
const QUERIES: usize = 40;
/// Nobody else draws with this seed, so that a check meets other queries.
const SEED: u64 = 0x5eed_0ff1_7000;
/// What took no longer from disk than from memory took this share of what was predicted
/// to be added, so that it counts, too.
const LEAST: f64 = 0.1;

/// Corrects costs by what drawn selections take, on tables in `directory`, and says how
/// far off they then are; `progress` hears how much of the work is done, from 0 to 1.
///
/// # Errors
/// Those of making and reading tables.
pub(crate) fn refined(
    machine: &Machine,
    mut costs: Costs,
    directory: &Path,
    progress: &dyn Fn(f64),
) -> Result<(Costs, Stated)> {
    let mut random = Random::new(SEED);
    let mut queries = Vec::new();
    for query in 0..QUERIES {
        queries.push(measured(&mut random, directory)?);
        progress((query + 1) as f64 / QUERIES as f64);
    }
    let stated = stated(machine, &costs, &queries);
    let all: Vec<&Measured> = queries.iter().flatten().collect();
    correct(machine, &mut costs, &all);
    Ok((costs, stated))
}

/// How far off each query is when all others have corrected the costs: no query speaks
/// for itself.
fn stated(machine: &Machine, costs: &Costs, queries: &[Vec<Measured>]) -> Stated {
    let (mut hot, mut cold) = (Vec::new(), Vec::new());
    for (number, query) in queries.iter().enumerate() {
        let others = queries[..number].iter().chain(&queries[number + 1..]);
        let others: Vec<&Measured> = others.flatten().collect();
        let mut corrected = costs.clone();
        correct(machine, &mut corrected, &others);
        for one in query {
            let errors = if one.cold { &mut cold } else { &mut hot };
            errors.push(one.error(machine, &corrected));
        }
    }
    Stated {
        hot: Spread::of(hot),
        cold: Spread::of(cold),
    }
}

/// Corrects what scans cost in memory first, then what disks add to that.
fn correct(machine: &Machine, costs: &mut Costs, all: &[&Measured]) {
    for cold in [false, true] {
        let known = costs.clone();
        for layout in &mut costs.layouts {
            // The scanner makes no difference to the disk.
            let name = match cold {
                false => layout.layout.as_str(),
                true => layout.layout.split(' ').next().unwrap_or_default(),
            };
            let same = all.iter().filter(|one| one.cold == cold);
            let same = same.filter(|one| one.selection.layout == name);
            let points = same.filter_map(|one| point(machine, &known, one));
            let correction = Correction::through(&points.collect::<Vec<_>>());
            match cold {
                false => layout.hot_correction = correction,
                true => layout.cold_correction = correction,
            }
        }
    }
}

/// A point that a correction goes by, see [`Correction::through`]; none of a scan whose
/// time memory decides, which no correction changes.
fn point(machine: &Machine, costs: &Costs, one: &Measured) -> Option<(Selection, f64, f64)> {
    let (hot, more) = one.predicted(machine, costs);
    let (ratio, weight) = match one.cold {
        false => {
            let scanner = costs.scanner(&one.selection)?;
            if scanner.waits_for_memory(machine) {
                return None;
            }
            (one.seconds / hot, 1.0)
        }
        // What is added counts by the share that it has of the whole.
        true => (
            ((one.seconds - one.hot_seconds) / more).max(LEAST),
            more / (hot + more),
        ),
    };
    Some((one.selection.clone(), ratio, weight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use freestone_model::{ColdCosts, Curve, LayoutCosts};

    /// A layout of one cycle a row, and a microsecond for a block from disk.
    fn costs() -> Costs {
        let layout = LayoutCosts {
            layout: "column".to_owned(),
            scan: 0.0,
            block: 0.0,
            test: 0.0,
            part: 0.0,
            rows: Curve::flat(1.0),
            lines: Curve::default(),
            crowd: Curve::default(),
            cold: ColdCosts {
                block: 1e-6,
                ..ColdCosts::default()
            },
            hot_correction: Correction::default(),
            cold_correction: Correction::default(),
            columns: Vec::new(),
        };
        Costs {
            layouts: vec![layout],
            ..Costs::default()
        }
    }

    /// Takes so many times what is predicted: a microsecond, and one more from disk.
    fn query(hot: f64, cold: f64) -> Vec<Measured> {
        let one = |from_disk, seconds, hot_seconds| Measured {
            what: String::new(),
            selection: Selection {
                layout: "column".to_owned(),
                blocks: 1.0,
                rows: 1000.0,
                tuple_bytes: 8.0,
                stride: 8.0,
                tested: Vec::new(),
                share: 1.0,
                read: Vec::new(),
            },
            rows: 1000.0,
            cold: from_disk,
            seconds,
            hot_seconds,
        };
        let from_disk = hot + cold;
        vec![
            one(false, hot * 1e-6, 0.0),
            one(true, from_disk * 1e-6, hot * 1e-6),
        ]
    }

    /// All queries but one take twice as long in memory and thrice as long from disk; that
    /// one does not correct its own prediction, which is off by a half.
    #[test]
    fn no_query_speaks_for_itself() {
        let machine = Machine {
            clock: 1e9,
            ..Machine::of_the_paper()
        };
        let mut queries: Vec<_> = (0..60).map(|_| query(2.0, 2.5)).collect();
        queries.extend((0..10).map(|_| query(4.0, 2.5)));
        let all: Vec<&Measured> = queries.iter().flatten().collect();
        let mut corrected = costs();
        correct(&machine, &mut corrected, &all);
        let (hot, more) = queries[0][1].predicted(&machine, &corrected);
        assert!((hot / 2e-6 - 1.0).abs() < 0.1, "{hot}");
        assert!((more / 2.5e-6 - 1.0).abs() < 0.1, "{more}");
        let stated = stated(&machine, &costs(), &queries);
        assert!(stated.hot.median < 0.1, "{stated:?}");
        assert!((0.4..0.6).contains(&stated.hot.ninth), "{stated:?}");
        assert!(stated.cold.median < 0.1, "{stated:?}");
    }

    /// A disk that adds nothing is not left out, so that it counts against one that does.
    #[test]
    fn what_the_disk_does_not_add_counts() {
        let machine = Machine {
            clock: 1e9,
            ..Machine::of_the_paper()
        };
        let queries: Vec<_> = (0..40).map(|_| query(1.0, -0.1)).collect();
        let all: Vec<&Measured> = queries.iter().flatten().collect();
        let mut corrected = costs();
        correct(&machine, &mut corrected, &all);
        let (_, more) = queries[0][1].predicted(&machine, &corrected);
        assert!(more < 0.5e-6, "{more}");
    }
}
