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
        memory: (scale(setting) * 3e9) as u64,
        disk: (scale(setting) * 6e9) as u64,
        sql: true,
        postgres: true,
        ..Need::default()
    },
    run,
};

const QUERIES: usize = 22;
/// Runs before those that count, when hot.
const WARM: usize = 2;

/// The scale factor; the document's is 5.
fn scale(setting: &Setting) -> f64 {
    setting.by_scale(0.05, 5.0)
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
    let postgres = System::postgres(setting, &setting.scratch.join("column"))?;
    let installed = postgres.is_some();
    let mut systems: Vec<System> = [columns, rows].into_iter().chain(postgres).collect();
    let mut found: Vec<Found> = Vec::new();
    for system in &systems {
        found.push(Found {
            name: system.name(),
            hot: Vec::new(),
            cold: Vec::new(),
        });
    }
    let (hot, cold) = (setting.repetitions(), setting.by_extreme(1, 5));
    for query in 1..=QUERIES {
        let text = setting.sql()?.query(query, scale)?;
        for (system, found) in systems.iter_mut().zip(&mut found) {
            found.hot.push(Vec::new());
            found.cold.push(Vec::new());
            for _ in 0..WARM {
                system.run(&text)?;
            }
        }
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
            "TPC-H at scale factor {scale} (the document: 5), {} threads, {hot} hot runs in turns \
             after {WARM} that do not count, {cold} cold. Cold: the database is closed or the \
             server stopped, its files are dropped from the page cache, then one query runs; what \
             the virtual disk's host keeps in memory stays there. PostgreSQL has indexes of \
             primary keys and of six references, a quarter of the memory for its buffers, and \
             answers through a socket.{}",
            setting.threads,
            match installed {
                true => "",
                false => " It is not installed here.",
            }
        ),
        plots: vec![
            plot("Cold", &found, |found| &found.cold),
            plot("Hot", &found, |found| &found.hot),
        ],
        tables: vec![table(&found)],
        claims: claims(&found),
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

const COLD: &str = "Cold, a columnar layout with compression and zone maps is quicker than \
                    PostgreSQL's rows (holds if Freestone's columns are in the geometric mean of \
                    the queries).";
const HOT: &str = "Hot, it is the query processor that decides, not the layout: a bulk processor \
                   is quicker than one record after the other (holds if Freestone over rows beats \
                   PostgreSQL by more than its columns beat its rows, in the geometric mean).";
const MARGIN: &str = "A column store with a bulk processor beats PostgreSQL by a wide margin, hot \
                      and cold (holds if it takes half of its time at most in both, in the \
                      geometric mean).";
const EXTENSION: &str = "cstore_fdw, columns below PostgreSQL's processor, beats PostgreSQL cold \
                         and does not hot.";

fn claims(found: &[Found]) -> Vec<Claim> {
    let extension = Claim::untested(
        EXTENSION,
        "The extension is no longer kept and does not build for today's PostgreSQL.",
    );
    let [columns, rows, postgres] = found else {
        let missing = "PostgreSQL is not installed; on Debian, apt-get install postgresql.";
        let claims = [COLD, HOT, MARGIN].map(|says| Claim::untested(says, missing));
        return claims.into_iter().chain([extension]).collect();
    };
    let cold = Found::beside(&columns.cold, &postgres.cold);
    let hot = Found::beside(&columns.hot, &postgres.hot);
    let engine = 1.0 / Found::beside(&rows.hot, &postgres.hot);
    let layout = 1.0 / Found::beside(&columns.hot, &rows.hot);
    let own = Found::middle(&columns.hot).into_iter();
    let both = own.zip(Found::middle(&postgres.hot));
    let slower = both.filter(|(own, other)| own > other).count();
    vec![
        Claim::tested(
            COLD,
            cold < 1.0,
            format!("{cold:.2} times PostgreSQL's time."),
        ),
        Claim::tested(
            HOT,
            engine > layout && engine > 1.0,
            format!(
                "Freestone over rows is {engine:.1} times as fast as PostgreSQL, over columns \
                 {layout:.1} times as fast as over rows."
            ),
        ),
        Claim::tested(
            MARGIN,
            cold <= 0.5 && hot <= 0.5,
            format!(
                "{cold:.2} of its time cold and {hot:.2} hot; {slower} of {QUERIES} queries take \
                 longer hot."
            ),
        ),
        extension,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Verdict;

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
            claims(found).iter().map(|claim| claim.verdict).collect()
        };
        use Verdict::{CannotBeTested, DoesNotHold, Holds};
        let all = [columns, rows, slow];
        assert_eq!(verdicts(&all), [Holds, Holds, Holds, CannotBeTested]);
        assert_eq!(verdicts(&all[..2]), [CannotBeTested; 4]);
        let [columns, rows, _] = all;
        let quick = found("other", 0.015, 0.05);
        let all = [columns, rows, quick];
        assert_eq!(
            verdicts(&all),
            [DoesNotHold, DoesNotHold, DoesNotHold, CannotBeTested]
        );
        assert_eq!(table(&all).rows[0][2], "1.00");
        assert_eq!(plot("Hot", &all, |found| &found.hot).series.len(), 3);
    }
}
