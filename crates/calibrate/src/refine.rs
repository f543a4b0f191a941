//! Learns what the sums of costs are off by, on selections of all sorts.

use crate::drawn::{Measured, measured};
use crate::{Random, Result};
use freestone_model::{Correction, Costs, Machine};
use std::path::Path;

/// Queries that are drawn, each for all layouts.
const QUERIES: usize = 30;
/// Nobody else draws with this seed, so that a check meets other queries.
const SEED: u64 = 0x5eed_0ff1_7000;

/// Corrects costs by what drawn selections take, on tables in `directory`; `progress`
/// hears how much of the work is done, from 0 to 1.
///
/// # Errors
/// Those of making and reading tables.
pub(crate) fn refined(
    machine: &Machine,
    mut costs: Costs,
    directory: &Path,
    progress: &dyn Fn(f64),
) -> Result<Costs> {
    let mut random = Random::new(SEED);
    let mut all = Vec::new();
    for query in 0..QUERIES {
        all.extend(measured(&mut random, directory)?);
        progress((query + 1) as f64 / QUERIES as f64);
    }
    correct(machine, &mut costs, &all);
    Ok(costs)
}

/// Corrects what scans cost in memory first, then what disks add to that.
fn correct(machine: &Machine, costs: &mut Costs, all: &[Measured]) {
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
            let points = same.map(|one| {
                let (hot, more) = one.predicted(machine, &known);
                let ratio = match cold {
                    false => one.seconds / hot,
                    true => (one.seconds - hot) / more,
                };
                (one.selection.clone(), ratio)
            });
            let correction = Correction::through(&points.collect::<Vec<_>>());
            match cold {
                false => layout.hot_correction = correction,
                true => layout.cold_correction = correction,
            }
        }
    }
}
