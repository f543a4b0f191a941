//! M: the 22 queries of TPC-H, hot and cold, beside PostgreSQL.

use super::systems::System;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::measure::median;
use crate::outcome::{Axis, Claim, Outcome, Plot, Point, Series, Table};
use crate::setting::Setting;

/// Both plots.
pub static EXPERIMENT: Experiment = Experiment {
    id: "m2",
    source: "M, hot and cold runs",
    title: "TPC-H's queries, hot and cold, beside PostgreSQL",
    need: |setting| Need {
        memory: (scale(setting) * MEMORY) as u64,
        disk: (scale(setting) * DISK) as u64,
        sql: true,
        postgres: true,
        ..Need::default()
    },
    run,
};

const QUERIES: usize = 22;
/// Runs of all queries before those that count, when hot.
const WARM: usize = 2;
/// Bytes of memory for each unit of the scale factor,
const MEMORY: f64 = 3e9;
/// and on disk, for all three databases, PostgreSQL's log and a table as text.
const DISK: f64 = 6e9;
/// The document's scale factor, and that of small tables.
const SCALES: [f64; 2] = [5.0, 0.05];

/// The scale factor: the document's, or as much of it as memory allows.
fn scale(setting: &Setting) -> f64 {
    let [most, quick] = SCALES;
    let fitting = (setting.memory as f64 / MEMORY).clamp(quick, most);
    let scale = setting.by_scale(quick, fitting);
    // No longer a number than anybody reads, and no more than fits.
    (scale * 1e3 + 1e-6).floor() / 1e3
}

/// Seconds of each run of each query.
type Times = Vec<Vec<f64>>;

/// A system's times, hot and cold.
struct Found {
    name: String,
    hot: Times,
    cold: Times,
}

impl Found {
    /// The middle of the runs of each query.
    fn middle(times: &Times) -> Vec<f64> {
        times.iter().map(|times| median(times)).collect()
    }

    /// How many times as long as another, in the geometric mean of all queries.
    fn beside(times: &Times, others: &Times) -> f64 {
        let pairs = Found::middle(times).into_iter().zip(Found::middle(others));
        let logarithms: Vec<f64> = pairs.map(|(own, other)| (own / other).ln()).collect();
        (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let scale = scale(setting);
    let columns = System::freestone(setting, scale, "column")?;
    let rows = System::freestone(setting, scale, "row")?;
    let (postgres, missing) = match System::postgres(setting, &setting.scratch.join("column"))? {
        Ok(postgres) => (Some(postgres), String::new()),
        Err(why) => (None, why),
    };
    let mut systems: Vec<System> = [columns, rows].into_iter().chain(postgres).collect();
    let new = |system: &System| Found {
        name: system.name(),
        hot: vec![Vec::new(); QUERIES],
        cold: vec![Vec::new(); QUERIES],
    };
    let mut found: Vec<Found> = systems.iter().map(new).collect();
    let (hot, cold) = (setting.repetitions(), setting.by_extreme(1, 5));
    for _ in 0..WARM {
        for query in 1..=QUERIES {
            let text = setting.sql()?.query(query, scale)?;
            for system in &mut systems {
                system.run(&text)?;
            }
        }
    }
    for query in 1..=QUERIES {
        let text = setting.sql()?.query(query, scale)?;
        // In turns, so that what disturbs one disturbs the others.
        for _ in 0..hot {
            for (system, found) in systems.iter_mut().zip(&mut found) {
                found.hot[query - 1].push(system.run(&text)?);
            }
        }
    }
    for query in 1..=QUERIES {
        let text = setting.sql()?.query(query, scale)?;
        for _ in 0..cold {
            for (system, found) in systems.iter_mut().zip(&mut found) {
                system.cool()?;
                found.cold[query - 1].push(system.run(&text)?);
            }
        }
    }
    Ok(Outcome {
        setup: format!(
            "TPC-H at scale factor {scale} (the document: 5; as much of it as half of the free memory \
             holds at full scale), {} threads. Hot: as in the document, all queries run {WARM} \
             times before any counts; then {hot} runs of each, the systems in turns. Cold, {cold} \
             of each: the database is closed or the server stopped, its files are dropped from the \
             page cache, then one query runs; what the virtual disk's host keeps in memory stays \
             there. PostgreSQL has indexes of primary keys and of six references, a quarter of the \
             memory for its buffers, its files beside Freestone's, and answers through a socket. \
             {missing}",
            setting.threads,
        )
        .trim_end()
        .to_string(),
        plots: vec![
            plot("Cold", &found, |found| &found.cold),
            plot("Hot", &found, |found| &found.hot),
        ],
        tables: vec![table(&found)],
        claims: claims(&found, &missing),
    })
}

fn plot(title: &str, found: &[Found], times: fn(&Found) -> &Times) -> Plot {
    let series = found.iter().map(|found| Series {
        name: found.name.clone(),
        points: (0..)
            .zip(times(found))
            .map(|(place, times)| {
                let milliseconds: Vec<f64> = times.iter().map(|time| time * 1e3).collect();
                Point::of(f64::from(place), &milliseconds)
            })
            .collect(),
    });
    Plot {
        title: format!("{title} runs of TPC-H's queries"),
        x: Axis {
            label: "query".into(),
            names: (1..=QUERIES).map(|query| query.to_string()).collect(),
            ..Axis::default()
        },
        y: Axis {
            label: "milliseconds".into(),
            logarithmic: true,
            ..Axis::default()
        },
        series: series.collect(),
    }
}

fn table(found: &[Found]) -> Table {
    let rows = found.iter().map(|one| {
        let all = |times: &Times| Found::middle(times).iter().sum::<f64>();
        let first = &found[0];
        vec![
            one.name.clone(),
            format!("{:.3}", all(&one.cold)),
            format!("{:.2}", Found::beside(&one.cold, &first.cold)),
            format!("{:.3}", all(&one.hot)),
            format!("{:.2}", Found::beside(&one.hot, &first.hot)),
        ]
    });
    Table {
        title: "All queries".into(),
        columns: [
            "system",
            "cold, seconds of all",
            "times the first's, geometric mean",
            "hot, seconds of all",
            "times the first's, geometric mean",
        ]
        .map(String::from)
        .to_vec(),
        rows: rows.collect(),
    }
}

const COLD: &str = "Cold, where no data is cached, columns with compression and zone maps \
                    outperform PostgreSQL; in the document cstore_fdw's do (holds if Freestone's \
                    do, in the geometric mean of the queries).";
const LOADING: &str = "Columns gain cold by being faster in loading data from disk (holds if \
                       Freestone's queries together lose less time cold, beside hot, over columns \
                       than over rows).";
const PROCESSOR: &str = "Hot, the query processor is the limiting factor and not the layout: \
                         switching storage models alone is not enough, bulk processing is crucial \
                         (holds if Freestone over rows beats PostgreSQL by more than its columns \
                         beat its rows, in the geometric mean).";
const EXTENSION: &str = "cstore_fdw, columns below PostgreSQL's processor, outperforms PostgreSQL \
                         cold and does not hot.";
const MARGIN: &str = "Hot, MonetDB outperforms cstore_fdw by a margin that shows what a column-based \
                      processor is worth.";

/// `missing` says why there is no PostgreSQL, if there is none.
fn claims(found: &[Found], missing: &str) -> Vec<Claim> {
    let extension = "The extension is no longer kept and does not build for today's PostgreSQL.";
    let untested = |says: &str| Claim::untested(says, format!("{missing}."));
    let neither = "Neither is here.".to_string();
    let (cold, processor, margin) = match found {
        [columns, rows, postgres] => (
            outperforms_cold(columns, postgres),
            is_limiting(columns, rows, postgres),
            neither + " " + &beside_postgres(columns, postgres),
        ),
        _ => (untested(COLD), untested(PROCESSOR), neither),
    };
    let loading = match found {
        [columns, rows, ..] => Some(gains_in_loading(columns, rows)),
        _ => None,
    };
    let untested = [
        Claim::untested(EXTENSION, extension),
        Claim::untested(MARGIN, margin),
    ];
    let tested = [cold].into_iter().chain(loading).chain([processor]);
    tested.chain(untested).collect()
}

fn outperforms_cold(columns: &Found, postgres: &Found) -> Claim {
    let cold = Found::beside(&columns.cold, &postgres.cold);
    Claim::tested(
        COLD,
        cold < 1.0,
        format!("{cold:.2} times PostgreSQL's time."),
    )
}

fn gains_in_loading(columns: &Found, rows: &Found) -> Claim {
    let [columns, rows] = [columns, rows].map(|found| {
        let all = |times: &Times| Found::middle(times).iter().sum::<f64>();
        all(&found.cold) - all(&found.hot)
    });
    Claim::tested(
        LOADING,
        columns < rows,
        format!(
            "All queries take {columns:.3} s longer cold over columns, and {rows:.3} s longer over \
             rows; this is the time to open the database, too."
        ),
    )
}

fn is_limiting(columns: &Found, rows: &Found, postgres: &Found) -> Claim {
    let engine = 1.0 / Found::beside(&rows.hot, &postgres.hot);
    let layout = 1.0 / Found::beside(&columns.hot, &rows.hot);
    Claim::tested(
        PROCESSOR,
        engine > layout && engine > 1.0,
        format!(
            "Freestone over rows is {engine:.1} times as fast as PostgreSQL, over columns \
             {layout:.1} times as fast as over rows."
        ),
    )
}

/// What Freestone's columns take of PostgreSQL's time.
fn beside_postgres(columns: &Found, postgres: &Found) -> String {
    let cold = Found::beside(&columns.cold, &postgres.cold);
    let hot = Found::beside(&columns.hot, &postgres.hot);
    let own = Found::middle(&columns.hot).into_iter();
    let both = own.zip(Found::middle(&postgres.hot));
    let slower = both.filter(|(own, other)| own > other).count();
    format!(
        "Freestone over columns takes {cold:.2} of PostgreSQL's time cold and {hot:.2} hot; {slower} \
         of {QUERIES} queries take longer hot."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Verdict;
    use crate::setting::Scale;

    fn found(name: &str, hot: f64, cold: f64) -> Found {
        Found {
            name: name.into(),
            hot: vec![vec![hot; 3]; QUERIES],
            cold: vec![vec![cold]; QUERIES],
        }
    }

    #[test]
    fn claims_follow_from_times() {
        let columns = found("columns", 0.01, 0.1);
        let rows = found("rows", 0.02, 0.3);
        let slow = found("other", 0.2, 1.0);
        let verdicts = |found: &[Found]| -> Vec<Verdict> {
            let claims = claims(found, "PostgreSQL is not installed");
            claims.iter().map(|claim| claim.verdict).collect()
        };
        use Verdict::{CannotBeTested as Not, DoesNotHold, Holds};
        let all = [columns, rows, slow];
        assert_eq!(verdicts(&all), [Holds, Holds, Holds, Not, Not]);
        assert_eq!(verdicts(&all[..2]), [Not, Holds, Not, Not, Not]);
        let margin = &claims(&all, "")[4].because;
        let words = "takes 0.10 of PostgreSQL's time cold and 0.05 hot; 0 of 22 queries";
        assert!(margin.contains(words), "{margin}");
        let columns = found("columns", 0.01, 0.4);
        let [_, rows, _] = all;
        let quick = found("other", 0.015, 0.05);
        let all = [columns, rows, quick];
        let none = [DoesNotHold, DoesNotHold, DoesNotHold, Not, Not];
        assert_eq!(verdicts(&all), none);
        assert_eq!(table(&all).rows[0][2], "1.00");
        assert_eq!(plot("Hot", &all, |found| &found.hot).series.len(), 3);
    }

    #[test]
    fn the_scale_factor_fits_into_memory() {
        let scale_of = |scale: Scale, memory: u64| {
            let setting = Setting {
                scale,
                seed: 1,
                scratch: std::env::temp_dir(),
                threads: 1,
                memory,
                sql: None,
            };
            let need = (EXPERIMENT.need)(&setting);
            assert!(need.memory <= memory, "{scale}");
            super::scale(&setting)
        };
        assert_eq!(scale_of(Scale::Full, 8_000_000_000), 2.666);
        assert_eq!(scale_of(Scale::Full, 64_000_000_000), 5.0);
        assert_eq!(scale_of(Scale::Quick, 64_000_000_000), 0.05);
        assert_eq!(scale_of(Scale::Times(3.0), 64_000_000_000), 0.15);
        assert_eq!(scale_of(Scale::Times(30.0), 3_000_000_000), 1.0);
    }
}
