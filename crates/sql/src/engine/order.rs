//! The order of joins: the cheapest tree over the relations of a cluster.
//!
//! Up to [`EXHAUSTIVE`] relations every tree without cross products is weighed by dynamic
//! programming over their subsets (Moerkotte and Neumann, 2006, without the refinements
//! for sparse graphs); beyond that the cheapest pair is joined again and again. A tree
//! costs what its joins put into tables, ask and give.

use std::collections::HashMap;

use arrow::datatypes::DataType;
use freestone_exec::expression::Expression;
use freestone_exec::{Node, Plan};

use super::converted::Converted;
use super::join::{Cluster, Columns};
use super::tree::{Builder, equal, is_repeated};

/// So many relations are ordered by looking at every tree.
const EXHAUSTIVE: usize = 10;
/// Cost of a row that is put into a table, beside one that asks.
const BUILD: f64 = 2.0;
/// Share of pairs that a condition other than an equality leaves.
const SHARE: f64 = 0.3;

/// One relation of a cluster.
pub(crate) struct Relation {
    pub(crate) converted: Converted,
    pub(crate) columns: Columns,
}

/// Two expressions that must be equal.
pub(crate) struct Equality {
    pub(crate) sides: [Expression; 2],
    /// The relations that each side reads.
    pub(crate) relations: [u64; 2],
    pub(crate) kind: DataType,
    /// The number of the class of values that are equal, if both sides are such.
    pub(crate) class: Option<usize>,
    /// Whether NULL equals NULL.
    pub(crate) null_equal: bool,
}

/// What else must be TRUE.
pub(crate) struct Condition {
    pub(crate) relations: u64,
    pub(crate) expression: Expression,
}

/// The best tree that is known for some relations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    pub(crate) cost: f64,
    pub(crate) rows: f64,
    /// Build and probe side.
    pub(crate) sides: Option<(u64, u64)>,
}

/// The best trees that are known, by the sets of their relations.
pub(crate) enum Trees {
    /// A place for each set of few relations.
    Dense(Vec<Option<Best>>),
    /// Some sets of many relations.
    Sparse(HashMap<u64, Best>),
}

impl Trees {
    fn of(relations: usize) -> Self {
        match relations > EXHAUSTIVE {
            true => Self::Sparse(HashMap::new()),
            false => Self::Dense(vec![None; 1 << relations]),
        }
    }

    pub(super) fn get(&self, set: u64) -> Option<&Best> {
        match self {
            Self::Dense(all) => all.get(usize::try_from(set).ok()?)?.as_ref(),
            Self::Sparse(some) => some.get(&set),
        }
    }

    fn put(&mut self, set: u64, best: Option<Best>) {
        match (self, best) {
            (Self::Dense(all), best) => all[set as usize] = best,
            (Self::Sparse(some), Some(best)) => drop(some.insert(set, best)),
            (Self::Sparse(some), None) => drop(some.remove(&set)),
        }
    }

    /// All sets, the least first if they are few.
    pub(super) fn all(&self) -> Box<dyn Iterator<Item = (u64, &Best)> + '_> {
        match self {
            Self::Dense(all) => {
                let all = (0..).zip(all);
                Box::new(all.filter_map(|(set, best)| Some((set, best.as_ref()?))))
            }
            Self::Sparse(some) => Box::new(some.iter().map(|(set, best)| (*set, best))),
        }
    }
}

/// The cluster as one plan that gives `wanted`, whose types are `types`.
pub(crate) fn ordered(
    mut cluster: Cluster,
    wanted: &[usize],
    types: Vec<DataType>,
) -> Option<Converted> {
    imply(&mut cluster);
    let best = Search::new(&cluster).best();
    let all = (1u64 << cluster.relations.len()) - 1;
    let distinct: Vec<f64> = wanted
        .iter()
        .map(|column| distinct_of(&cluster, *column))
        .collect();
    let mut builder = Builder {
        relations: cluster.relations.into_iter().map(Some).collect(),
        used: vec![false; cluster.equalities.len()],
        equalities: cluster.equalities,
        conditions: cluster.conditions.into_iter().map(Some).collect(),
        best,
    };
    let (plan, layout) = builder.plan(all)?;
    let rows = plan.estimate;
    let places = wanted
        .iter()
        .map(|column| layout.iter().position(|known| known == column));
    let places = places.collect::<Option<Vec<usize>>>()?;
    let same = places.len() == layout.len() && places.iter().enumerate().all(|(a, b)| a == *b);
    let plan = match same {
        true => Plan { types, ..plan },
        false => {
            let expressions = places.into_iter().map(Expression::Column).collect();
            Plan::new(Node::Project(Box::new(plan), expressions), types, rows)
        }
    };
    Some(Converted {
        sampled: None,
        plan,
        distinct: distinct
            .into_iter()
            .map(|distinct| distinct.min(rows))
            .collect(),
    })
}

/// About how many different values a column has.
pub(super) fn distinct_of(cluster: &Cluster, column: usize) -> f64 {
    let of = cluster
        .relations
        .iter()
        .find(|relation| relation.columns.contains(&column));
    of.map_or(1.0, |relation| {
        relation.converted.distinct[column - relation.columns.start]
    })
}

/// Values that are equal, each of one relation.
struct Class {
    values: Vec<(Expression, u64)>,
    kind: DataType,
    /// The numbers that it had before.
    numbers: Vec<usize>,
}

impl Class {
    /// Whether it has a value; if an equality is `known` to be of the class, no relation has
    /// two computed ones in it.
    fn has(&self, (value, relation): &(Expression, u64), known: bool) -> bool {
        self.values.iter().any(|(of, from)| match (of, value) {
            (Expression::Column(a), Expression::Column(b)) => a == b,
            (Expression::Column(_), _) | (_, Expression::Column(_)) => false,
            _ => known && from == relation,
        })
    }
}

/// Adds the equalities of values of single relations that follow from others: a = b and b = c
/// give a = c.
pub(super) fn imply(cluster: &mut Cluster) {
    let is_member = |equality: &Equality| {
        let single = |set: &u64| set.count_ones() == 1;
        !equality.null_equal && equality.relations.iter().all(single)
    };
    let mut classes: Vec<Class> = Vec::new();
    for equality in cluster.equalities.iter().filter(|one| is_member(one)) {
        let pair = [0, 1].map(|side| (equality.sides[side].clone(), equality.relations[side]));
        let mut one = Class {
            values: Vec::new(),
            kind: equality.kind.clone(),
            numbers: equality.class.into_iter().collect(),
        };
        let is_known = |class: &Class| {
            equality
                .class
                .is_some_and(|number| class.numbers.contains(&number))
        };
        let (same, others) = std::mem::take(&mut classes)
            .into_iter()
            .partition(|class| is_known(class) || pair.iter().any(|value| class.has(value, false)));
        classes = others;
        let same: Vec<Class> = same;
        for class in same {
            one.values.extend(class.values);
            one.numbers.extend(class.numbers);
        }
        for value in pair {
            if !one.has(&value, equality.class.is_some()) {
                one.values.push(value);
            }
        }
        classes.push(one);
    }
    // Two values of one relation are no key of a join.
    let key =
        |equality: &Equality| equality.relations[0] != equality.relations[1] && is_member(equality);
    let others = std::mem::take(&mut cluster.equalities);
    cluster.equalities = others
        .into_iter()
        .filter(|equality| !key(equality))
        .collect();
    for (number, class) in classes.iter().enumerate() {
        for (place, a) in class.values.iter().enumerate() {
            for b in &class.values[place + 1..] {
                let sides = [a.0.clone(), b.0.clone()];
                if a.1 == b.1 {
                    cluster.conditions.push(Condition {
                        relations: a.1,
                        expression: equal(sides),
                    });
                    continue;
                }
                cluster.equalities.push(Equality {
                    sides,
                    relations: [a.1, b.1],
                    kind: class.kind.clone(),
                    class: Some(number),
                    null_equal: false,
                });
            }
        }
    }
}

/// Looks for the best tree.
pub(crate) struct Search<'a> {
    cluster: &'a Cluster,
    /// Distinct values of both sides of each equality.
    distinct: Vec<[f64; 2]>,
    known: Trees,
}

impl<'a> Search<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Self {
        let distinct = cluster.equalities.iter().map(|equality| {
            let [a, b] = [0, 1].map(|side| {
                let mut product = 1.0;
                equality.sides[side].columns(&mut |column| product *= distinct_of(cluster, column));
                product
            });
            // A computed value is taken to be one of those of the column that it is compared with.
            let is_column = |side: usize| matches!(equality.sides[side], Expression::Column(_));
            match [is_column(0), is_column(1)] {
                [true, false] => [a, b.min(a)],
                [false, true] => [a.min(b), b],
                _ => [a, b],
            }
        });
        let mut known = Trees::of(cluster.relations.len());
        for (number, relation) in cluster.relations.iter().enumerate() {
            let rows = relation.converted.plan.estimate;
            let best = Best {
                cost: 0.0,
                rows,
                sides: None,
            };
            known.put(1 << number, Some(best));
        }
        Search {
            distinct: distinct.collect(),
            cluster,
            known,
        }
    }

    pub(super) fn best(mut self) -> Trees {
        if self.cluster.relations.len() > EXHAUSTIVE {
            self.greedy();
        } else {
            self.weigh_all(0);
        }
        self.known
    }

    /// The best tree when some relations are one, which gives so many rows.
    pub(super) fn best_around(mut self, one: u64, rows: f64) -> Option<Best> {
        for number in 0..self.cluster.relations.len() {
            if one & (1 << number) != 0 {
                self.known.put(1 << number, None);
            }
        }
        let groups = Best {
            cost: 0.0,
            rows,
            sides: None,
        };
        self.known.put(one, Some(groups));
        self.weigh_all(one);
        let all = (1u64 << self.cluster.relations.len()) - 1;
        self.known.get(all).copied()
    }

    /// Weighs every tree of every set of relations that has all of `one` or nothing.
    fn weigh_all(&mut self, one: u64) {
        for set in 1u64..1 << self.cluster.relations.len() {
            let cuts = set & one != 0 && set & one != one;
            if set.count_ones() < 2 || cuts || set == one {
                continue;
            }
            let mut crossed = None;
            // Every way to split the set, each once.
            let mut part = (set - 1) & set;
            while part > 0 {
                if part > (set & !part) {
                    self.weigh(part, set & !part, &mut crossed);
                }
                part = (part - 1) & set;
            }
            if let (None, Some(best)) = (self.known.get(set), crossed) {
                self.known.put(set, Some(best));
            }
        }
    }

    /// Joins the pair that costs least until all are one.
    fn greedy(&mut self) {
        let mut parts: Vec<u64> = (0..self.cluster.relations.len()).map(|n| 1 << n).collect();
        while parts.len() > 1 {
            let mut choice: Option<(f64, usize, usize, Best)> = None;
            for a in 0..parts.len() {
                for b in a + 1..parts.len() {
                    let trees = [parts[a], parts[b]].map(|part| self.known.get(part));
                    let [Some(one), Some(two)] = trees else {
                        continue;
                    };
                    let (best, connected) = self.pair((parts[a], one), (parts[b], two));
                    let cost = best.rows * if connected { 1.0 } else { 1e6 };
                    if choice.is_none_or(|(least, ..)| cost < least) {
                        choice = Some((cost, a, b, best));
                    }
                }
            }
            let Some((_, a, b, best)) = choice else {
                return;
            };
            let set = parts[a] | parts[b];
            self.known.put(set, Some(best));
            parts.remove(b);
            parts[a] = set;
        }
    }

    fn weigh(&mut self, a: u64, b: u64, crossed: &mut Option<Best>) {
        let (Some(one), Some(two)) = (self.known.get(a), self.known.get(b)) else {
            return;
        };
        // A join costs more than its sides.
        let least = one.cost + two.cost;
        let known = self.known.get(a | b).map(|known| known.cost);
        if known.is_some_and(|known| known <= least) {
            return;
        }
        let (best, connected) = self.pair((a, one), (b, two));
        if !connected {
            if crossed.is_none_or(|known| best.cost < known.cost) {
                *crossed = Some(best);
            }
            return;
        }
        if known.is_none_or(|known| best.cost < known) {
            self.known.put(a | b, Some(best));
        }
    }

    /// The join of two sets, and whether an equality connects them.
    fn pair(&self, (a, one): (u64, &Best), (b, two): (u64, &Best)) -> (Best, bool) {
        let (mut shares, mut connected) = ([1.0f64; 2], false);
        let mut classes = 0u64;
        for (equality, distinct) in self.cluster.equalities.iter().zip(&self.distinct) {
            let [left, right] = equality.relations;
            let inside = |side: u64, set: u64| side != 0 && side & !set == 0;
            let places = match () {
                () if inside(left, a) && inside(right, b) => [0, 1],
                () if inside(left, b) && inside(right, a) => [1, 0],
                () => continue,
            };
            connected = true;
            if is_repeated(&mut classes, equality) {
                continue;
            }
            shares[0] *= distinct[places[0]].min(one.rows);
            shares[1] *= distinct[places[1]].min(two.rows);
        }
        // No more combinations of keys than rows.
        let keys = shares[0]
            .min(one.rows)
            .max(shares[1].min(two.rows))
            .max(1.0);
        let both = a | b;
        let mut rows = one.rows * two.rows / keys;
        for condition in &self.cluster.conditions {
            let set = condition.relations;
            if set & !both == 0 && set & !a != 0 && set & !b != 0 {
                rows *= SHARE;
            }
        }
        let rows = rows.max(1.0);
        let (build, probe) = if one.rows <= two.rows { (a, b) } else { (b, a) };
        let (small, large) = (one.rows.min(two.rows), one.rows.max(two.rows));
        let cost = one.cost + two.cost + BUILD * small + large + rows;
        let best = Best {
            cost,
            rows,
            sides: Some((build, probe)),
        };
        (best, connected)
    }
}
