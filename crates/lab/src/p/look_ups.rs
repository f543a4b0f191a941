//! P, section 7.5: single records by an index, NSM beside PAX.

use super::bench::ROWS;
use super::plots::{listed, plot, series};
use super::relation::{PAGE_BYTES, Relation, batch, schema};
use super::replica;
use super::table::{Model, load};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Need};
use crate::measure::{in_turns, median, ratio, timed};
use crate::outcome::{Claim, Outcome, Point};
use crate::setting::Setting;
use freestone_calibrate::Random;
use freestone_storage::{Key, KeyLookUp, ReadView, Store, Table, Value};
use std::cell::RefCell;
use std::sync::Arc;

/// Section 7.5.
pub static EXPERIMENT: Experiment = Experiment {
    id: "plookup",
    source: "P, section 7.5",
    title: "Look-ups of single records by projectivity",
    need: |_| Need {
        memory: ROWS as u64 * 64 * 10,
        ..Need::default()
    },
    run,
};

const DEGREE: usize = 8;
const MODELS: [Model; 2] = [Model::Nsm, Model::Pax];
const NAMES: [&str; 4] = [
    "NSM, as in the document",
    "PAX, as in the document",
    "NSM",
    "PAX",
];

/// R with a key, in NSM and PAX.
struct Keyed {
    tables: Vec<Arc<Table>>,
    view: ReadView,
    /// The same with the document's program.
    replica: RefCell<replica::Keyed>,
    rows: u64,
    _store: Arc<Store>,
}

impl Keyed {
    fn new(rows: usize, seed: u64) -> Result<Keyed> {
        let relation = Relation::new(rows, DEGREE, seed);
        let names = (0..=DEGREE).map(|number| format!("a{number}"));
        let mut schema = schema(names);
        schema.keys.push(Key {
            name: "keys".into(),
            columns: vec![0],
            primary: true,
            ..Key::default()
        });
        let mut attributes = vec![(0..rows as i64).collect()];
        attributes.extend(relation.attributes);
        let relation = Relation { attributes };
        let (store, batch) = (Store::in_memory(), batch(&schema, &relation.attributes)?);
        let table = |model: &Model| {
            let options = model.options(PAGE_BYTES);
            load(&store, &model.to_string(), &schema, &options, &batch)
        };
        Ok(Keyed {
            tables: MODELS.iter().map(table).collect::<Result<_>>()?,
            view: ReadView::at(store.snapshot().timestamp()),
            replica: RefCell::new(replica::Keyed::new(&relation)?),
            rows: rows as u64,
            _store: store,
        })
    }

    /// Looks up records at random, `projected` attributes of each; returns the sum of
    /// all values.
    fn look_up(&self, table: usize, projected: usize, count: usize, seed: u64) -> Result<i128> {
        let table = &self.tables[table];
        let columns: Vec<usize> = (1..=projected).collect();
        let prepared = KeyLookUp::prepare(&table.schema, &[0], &columns)?;
        let (mut random, mut sum) = (Random::stream(seed, 77), 0);
        for _ in 0..count {
            let key = Value::Int(random.below(self.rows).into());
            let found = table.find(&self.view, &prepared, &[key])?;
            let [(_, row)] = found.as_slice() else {
                return Err(Error::new("a key without its record", ""));
            };
            let values = row.iter().flatten();
            sum += values
                .map(|value| match value {
                    Value::Int(value) => *value,
                    _ => 0,
                })
                .sum::<i128>();
        }
        Ok(sum)
    }
}

impl Keyed {
    /// The same with the document's program.
    fn look_up_there(&self, model: Model, projected: usize, count: usize, seed: u64) -> i128 {
        let mut replica = self.replica.borrow_mut();
        let (mut random, mut sum, mut row) = (Random::stream(seed, 77), 0, Vec::new());
        for _ in 0..count {
            replica.look_up(model, random.below(self.rows), projected, &mut row);
            sum += row.iter().copied().map(i128::from).sum::<i128>();
        }
        sum
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let keyed = Keyed::new(ROWS, setting.seed)?;
    let count = setting.by_scale(20_000, 200_000);
    let variants: Vec<usize> = (0..NAMES.len()).collect();
    // By projectivity, program with layout, and turn.
    let times = (1..=DEGREE).map(|projected| {
        in_turns(setting.repetitions(), &variants, |variant| {
            let looked_up = timed(|| match variant.checked_sub(MODELS.len()) {
                None => Ok(keyed.look_up_there(MODELS[*variant], projected, count, setting.seed)),
                Some(table) => keyed.look_up(table, projected, count, setting.seed),
            })?;
            Ok(1e9 * looked_up.1 / count as f64)
        })
    });
    let times = times.collect::<Result<Vec<Vec<Vec<f64>>>>>()?;
    let curves = NAMES.iter().enumerate().map(|(variant, name)| {
        let points = (1..).zip(&times);
        let points = points.map(|(x, times)| Point::of(f64::from(x), &times[variant]));
        series(*name, points)
    });
    let (title, x) = ("Time of a look-up", "attributes projected");
    Ok(Outcome {
        setup: format!(
            "R of {} records with a key and {DEGREE} attributes of 8 bytes, on pages of 8 KiB in \
             memory, without codecs; {count} records at random; one thread's processor time, {} \
             repetitions in turns. As in the document: found by a B-tree whose pages are pinned, \
             as the record's is; file, page and record are locked, and its values copied. The claim \
             is decided by it. Freestone: found by the CSB+-tree of the block; no page is pinned \
             and no record locked.",
            keyed.rows,
            setting.repetitions()
        ),
        plots: vec![plot(title, x, "nanoseconds", curves.collect())],
        tables: Vec::new(),
        claims: vec![claim(&times)],
    })
}

fn claim(times: &[Vec<Vec<f64>>]) -> Claim {
    let of = |first: usize| {
        let ratios = times
            .iter()
            .map(|times| ratio(&times[first + 1], &times[first]));
        let ratios: Vec<f64> = ratios.collect();
        (
            ratios.iter().all(|ratio| (0.85..=1.15).contains(ratio)),
            format!(
                "Counted as within 15 %: PAX takes {} times as long as NSM for one to eight \
                 attributes.",
                listed(&ratios)
            ),
        )
    };
    let (holds, freestone) = of(MODELS.len());
    let (holds_there, document) = of(0);
    let nanoseconds = |point: &[Vec<f64>], model: usize| median(&point[model]);
    let (one, all) = (&times[0], &times[times.len() - 1]);
    let document = format!(
        "{document} Of NSM a look-up takes {:.0} ns for one attribute and {:.0} for all, of PAX \
         {:.0} and {:.0}: NSM goes by the slot and the head of the record, which share no line with \
         what the pages before have left in the cache; PAX by the head of the page, and pays for \
         each further attribute.",
        nanoseconds(one, 0),
        nanoseconds(all, 0),
        nanoseconds(one, 1),
        nanoseconds(all, 1),
    );
    Claim::replicated(
        "Single records by an index take as long with PAX as with NSM, whatever is projected.",
        (holds_there, document),
        (
            holds,
            format!(
                "{freestone} With PAX each attribute is on a line of its own, though all are asked \
                 for before the first is read, and nothing else is done that would hide it."
            ),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_give_the_same_records() {
        let keyed = Keyed::new(5_000, 1).unwrap();
        let sum = |table, projected| keyed.look_up(table, projected, 300, 2).unwrap();
        assert_eq!(sum(0, 8), sum(1, 8));
        for model in MODELS {
            assert_eq!(keyed.look_up_there(model, 8, 300, 2), sum(0, 8), "{model}");
            assert_eq!(keyed.look_up_there(model, 2, 300, 2), sum(0, 2), "{model}");
        }
        assert!(sum(0, 2) < sum(0, 8));
    }
}
