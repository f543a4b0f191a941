//! The record of what was asked of a table, kept small.

use super::usage::{Run, Runs, Usage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Usages that are kept of a table; the one that took the least time gives way.
pub const USAGES: usize = 64;
/// Queries of a table after which one counts half; so many statements about single rows
/// count as one of them.
pub const HALF_LIFE: f64 = 1000.0;
const STATEMENTS: f64 = 100.0;

/// What was asked of one table. What is recent counts more: a query that [`HALF_LIFE`]
/// others have followed counts half.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workload {
    /// Queries by what they use.
    pub usages: Vec<(Usage, Runs)>,
    /// Statements that were no queries: about rows by key, or changes.
    pub statements: f64,
    /// Rows that were added.
    pub inserted: f64,
    /// Rows that were changed.
    pub updated: f64,
    /// Rows that were removed.
    pub deleted: f64,
    /// Rows that were asked for by key.
    pub looked_up: f64,
    /// By column, rows in which it was given another value.
    pub assigned: BTreeMap<String, f64>,
}

/// How a column is used; all but the last two count queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ColumnUse {
    /// Its values are read.
    pub read: f64,
    /// It has a condition.
    pub filtered: f64,
    /// Rows of other tables are compared with it.
    pub joined: f64,
    /// It is grouped by.
    pub grouped: f64,
    /// It is sorted by.
    pub sorted: f64,
    /// Rows in which it was given another value.
    pub updated: f64,
    /// Share of the rows that pass its conditions, if it has any.
    pub selectivity: Option<f64>,
}

/// What is done to rows other than reading them by a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Rows are added.
    Insert,
    /// Rows are given other values.
    Update,
    /// Rows are removed.
    Delete,
    /// Rows are asked for by key.
    LookUp,
}

impl Workload {
    /// Counts a query.
    pub fn query(&mut self, usage: Usage, run: &Run) {
        self.queries_alike(usage, run, 1.0);
    }

    /// Counts so many queries that are alike.
    pub fn queries_alike(&mut self, usage: Usage, run: &Run, count: f64) {
        self.fade(count);
        if let Some((_, runs)) = self.usages.iter_mut().find(|(known, _)| *known == usage) {
            return runs.add_alike(run, count);
        }
        if self.usages.len() >= USAGES {
            let weights = self.usages.iter().map(|(_, runs)| runs.seconds);
            let least = weights
                .enumerate()
                .min_by(|one, two| one.1.total_cmp(&two.1));
            least
                .into_iter()
                .for_each(|(place, _)| drop(self.usages.swap_remove(place)));
        }
        let mut runs = Runs::default();
        runs.add_alike(run, count);
        self.usages.push((usage, runs));
    }

    /// Counts rows that were changed or asked for by key.
    pub fn change(&mut self, change: Change, rows: f64) {
        let sum = match change {
            Change::Insert => &mut self.inserted,
            Change::Update => &mut self.updated,
            Change::Delete => &mut self.deleted,
            Change::LookUp => &mut self.looked_up,
        };
        *sum += rows;
    }

    /// Counts rows in which a column was given another value.
    pub fn assign(&mut self, column: &str, rows: f64) {
        *self.assigned.entry(column.to_owned()).or_default() += rows;
    }

    /// Counts statements that were no queries: what was before counts less.
    pub fn pass(&mut self, statements: f64) {
        self.fade(statements / STATEMENTS);
        self.statements += statements;
    }

    /// Queries that are known, recent ones counting more.
    pub fn queries(&self) -> f64 {
        self.usages.iter().map(|(_, runs)| runs.count).sum()
    }

    /// How a column is used: by how many queries, recent ones counting more.
    pub fn column(&self, name: &str) -> ColumnUse {
        let mut used = ColumnUse {
            updated: self.assigned.get(name).copied().unwrap_or_default(),
            ..ColumnUse::default()
        };
        let mut shares = 0.0;
        for (usage, runs) in &self.usages {
            let has = |columns: &[String]| match columns.iter().any(|column| column == name) {
                true => runs.count,
                false => 0.0,
            };
            used.read += has(&usage.read);
            used.joined += has(&usage.joined);
            used.grouped += has(&usage.grouped);
            used.sorted += has(&usage.sorted);
            let tested = usage.tested.iter().position(|tested| tested.column == name);
            if let Some(place) = tested {
                used.filtered += runs.count;
                shares += runs.shares.get(place).copied().unwrap_or_default();
            }
        }
        used.selectivity = (used.filtered > 0.0).then(|| shares / used.filtered);
        used
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.usages.is_empty() && self.looked_up + self.changed() == 0.0
    }

    /// Rows that were added, changed or removed.
    pub fn changed(&self) -> f64 {
        self.inserted + self.updated + self.deleted
    }

    /// Lets what was before count less, as so many events follow it.
    fn fade(&mut self, events: f64) {
        let factor = 0.5f64.powf(events / HALF_LIFE);
        self.usages
            .iter_mut()
            .for_each(|(_, runs)| runs.fade(factor));
        let sums = [
            &mut self.statements,
            &mut self.inserted,
            &mut self.updated,
            &mut self.deleted,
            &mut self.looked_up,
        ];
        let sums = sums.into_iter().chain(self.assigned.values_mut());
        sums.for_each(|sum| *sum *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(column: &str) -> Usage {
        Usage {
            read: vec![column.to_owned()],
            ..Usage::default()
        }
    }

    fn run(seconds: f64, selected: f64) -> Run {
        Run {
            seconds,
            selected,
            scanned: 1.0,
            shares: vec![selected],
        }
    }

    #[test]
    fn runs_are_averaged_by_usage() {
        let mut workload = Workload::default();
        assert!(workload.is_empty());
        workload.query(usage("a"), &run(1.0, 0.2));
        workload.query(usage("b"), &run(8.0, 1.0));
        workload.query(usage("a"), &run(3.0, 0.4));
        let [(_, a), (_, b)] = workload.usages.as_slice() else {
            panic!("{workload:?}")
        };
        let mean = a.mean();
        assert!((mean.seconds - 2.0).abs() < 0.01 && (mean.selected - 0.3).abs() < 0.01);
        assert!((mean.shares[0] - 0.3).abs() < 0.01 && (mean.scanned - 1.0).abs() < 1e-9);
        assert!((b.mean().seconds - 8.0).abs() < 1e-9);
        assert!((workload.queries() - 3.0).abs() < 0.01);
        let used = workload.column("a");
        assert!((used.read - 2.0).abs() < 0.01 && used.selectivity.is_none());
        assert_eq!(workload.column("c"), ColumnUse::default());
    }

    /// After as many as a thousand others, the ten of before count half.
    #[test]
    fn old_events_fade() {
        let mut workload = Workload::default();
        (0..10).for_each(|_| workload.query(usage("a"), &run(1.0, 0.1)));
        let before = workload.usages[0].1.count;
        workload.pass(STATEMENTS * HALF_LIFE);
        workload.change(Change::Update, 2000.0);
        workload.assign("b", 2000.0);
        assert!((workload.usages[0].1.count / before - 0.5).abs() < 1e-9);
        assert_eq!((workload.updated, workload.assigned["b"]), (2000.0, 2000.0));
        workload.pass(STATEMENTS * HALF_LIFE);
        assert!((workload.updated - 1000.0).abs() < 1e-6);
        assert!((workload.assigned["b"] - 1000.0).abs() < 1e-6);
        assert!((workload.usages[0].1.mean().seconds - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_took_the_least_time_gives_way() {
        let mut workload = Workload::default();
        for number in 0..USAGES + 1 {
            let seconds = if number == 5 { 0.001 } else { 1.0 };
            workload.query(usage(&format!("c{number}")), &run(seconds, 1.0));
        }
        assert_eq!(workload.usages.len(), USAGES);
        assert!(
            !workload
                .usages
                .iter()
                .any(|(known, _)| *known == usage("c5"))
        );
        let text = serde_json::to_string(&workload).unwrap();
        assert_eq!(
            serde_json::from_str::<Workload>(&text)
                .unwrap()
                .usages
                .len(),
            USAGES
        );
    }
}
