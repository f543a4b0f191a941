//! Groups that are made before a join instead of after it, where that leaves the join far
//! fewer rows ("eager aggregation": Yan and Larson, 1995).
//!
//! Some relations of a cluster, with everything that aggregates read among them, are
//! joined and grouped by what the others and the groups ask of them. What comes of that
//! takes their place, and after the join its sums are added up.

use arrow::datatypes::DataType;
use freestone_exec::expression::{Constant, Expression};
use freestone_exec::{Aggregate, Function, Grouping, Lead};

use super::aggregate::of_cluster;
use super::join::Cluster;
use super::order::{Condition, Equality, Relation, Search, distinct_of, imply};

/// Rows that fewer groups must make so many times fewer.
const FEWER: f64 = 4.0;
/// Below so many rows nothing is worth the search.
const MANY: f64 = 50_000.0;
/// Cost of a row that is grouped, beside one that asks a table.
const GROUP: f64 = 1.5;
/// It must cost less than so much of what it costs otherwise.
const GAIN: f64 = 0.7;
/// Sets of relations that are tried at most.
const TRIES: usize = 4;
/// Most relations of a cluster that is looked at.
const RELATIONS: usize = 8;

/// A cluster with groups in the place of some relations, and what is made of it.
pub(crate) struct Early {
    pub(crate) cluster: Cluster,
    pub(crate) grouping: Grouping,
}

/// What some relations are grouped by.
struct Inside {
    set: u64,
    keys: Vec<(Expression, DataType)>,
    /// Where the keys of the whole are among them.
    places: Vec<Option<usize>>,
    groups: f64,
    rows: f64,
    cost: f64,
}

/// Groups made early, if that pays; the cluster as it was if not.
pub(crate) fn early(mut cluster: Cluster, grouping: Grouping) -> Option<Early> {
    imply(&mut cluster);
    match best(&cluster, &grouping) {
        Some(inside) => replaced(cluster, grouping, inside),
        None => Some(Early { cluster, grouping }),
    }
}

/// The relations that are best grouped before they are joined with the others.
fn best(cluster: &Cluster, grouping: &Grouping) -> Option<Inside> {
    let count = cluster.relations.len();
    let averages = |one: &Aggregate| matches!(one.function, Function::Average { .. });
    if !(2..=RELATIONS).contains(&count)
        || grouping.keys.is_empty()
        || grouping.aggregates.iter().any(averages)
    {
        return None;
    }
    let many = |relation: &Relation| relation.converted.plan.estimate >= MANY;
    if !cluster.relations.iter().any(many) {
        return None;
    }
    let known = Search::new(cluster).best();
    let all = (1u64 << count) - 1;
    let whole = known.get(all)?;
    let without = whole.cost + GROUP * whole.rows;
    let mut asked = 0;
    for aggregate in &grouping.aggregates {
        let parts = aggregate.argument.iter().chain(&aggregate.filter);
        parts.for_each(|part| asked |= cluster.relations_of(part));
    }
    let sets = known
        .all()
        .filter(|(set, best)| *set != all && asked & !set == 0 && best.rows >= MANY);
    let inside = sets.filter_map(|(set, best)| {
        let (keys, places) = keys_of(cluster, grouping, set)?;
        let product: f64 = keys.iter().map(|(key, _)| distinct(cluster, key)).product();
        let groups = product.clamp(1.0, best.rows);
        let inside = Inside {
            set,
            keys,
            places,
            groups,
            rows: best.rows,
            cost: best.cost,
        };
        (groups * FEWER <= best.rows).then_some(inside)
    });
    let mut tries: Vec<Inside> = inside.collect();
    tries.sort_by(|a, b| (b.rows / b.groups).total_cmp(&(a.rows / a.groups)));
    tries.truncate(TRIES);
    let cost = |inside: &Inside| {
        let rest = Search::new(cluster).best_around(inside.set, inside.groups)?;
        Some(inside.cost + GROUP * (inside.rows + rest.rows) + rest.cost)
    };
    let costs = tries
        .into_iter()
        .filter_map(|inside| Some((cost(&inside)?, inside)));
    let (cost, inside) = costs.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (cost < GAIN * without).then_some(inside)
}

/// Keys and their types, and where the keys of the whole are among them.
type Keys = (Vec<(Expression, DataType)>, Vec<Option<usize>>);

fn distinct(cluster: &Cluster, key: &Expression) -> f64 {
    let mut product = 1.0;
    key.columns(&mut |column| product *= distinct_of(cluster, column));
    product
}

/// What is asked of the rows of some relations from outside: keys of groups, and columns
/// of conditions with others; `None` if a key is made of columns of both.
fn keys_of(cluster: &Cluster, grouping: &Grouping, set: u64) -> Option<Keys> {
    let mut keys: Vec<(Expression, DataType)> = Vec::new();
    let mut places = Vec::new();
    for (key, kind) in &grouping.keys {
        let relations = cluster.relations_of(key);
        let inside = relations & !set == 0;
        if !inside && relations & set != 0 {
            return None;
        }
        places.push(inside.then_some(keys.len()));
        if inside {
            keys.push((key.clone(), kind.clone()));
        }
    }
    let mut columns = Vec::new();
    for equality in &cluster.equalities {
        let both = equality.relations[0] | equality.relations[1];
        if both & set != 0 && both & !set != 0 {
            let sides = equality.sides.iter();
            sides.for_each(|side| side.columns(&mut |column| columns.push(column)));
        }
    }
    for condition in &cluster.conditions {
        if condition.relations & set != 0 && condition.relations & !set != 0 {
            condition
                .expression
                .columns(&mut |column| columns.push(column));
        }
    }
    for column in columns {
        let inside = cluster.relations_of(&Expression::Column(column)) & !set == 0;
        let is_it =
            |(key, _): &(Expression, _)| matches!(key, Expression::Column(c) if *c == column);
        if inside && !keys.iter().any(is_it) {
            keys.push((Expression::Column(column), cluster.type_of(column)?));
        }
    }
    if keys.is_empty() {
        // Without a key there is a group of no rows, and a row for the join.
        keys.push((
            Expression::Constant(Constant::Bool(true)),
            DataType::Boolean,
        ));
    }
    Some((keys, places))
}

/// The cluster with groups in the place of some of its relations.
fn replaced(cluster: Cluster, grouping: Grouping, inside: Inside) -> Option<Early> {
    let Inside {
        set,
        keys,
        places: of_groups,
        ..
    } = inside;
    let first = cluster.columns();
    let of_set = |relations: u64| relations & !set == 0;
    let (mut inner, mut outer) = (Cluster::default(), Cluster::default());
    // Groups come first; the numbers of the others move up.
    let mut places = vec![0u32; cluster.relations.len()];
    let (mut within, mut around) = (0, 1);
    for (number, place) in places.iter_mut().enumerate() {
        let next = if set >> number & 1 == 1 {
            &mut within
        } else {
            &mut around
        };
        *place = *next;
        *next += 1;
    }
    let moved = |relations: u64, to: &dyn Fn(usize) -> u64| {
        let numbers = (0..places.len()).filter(|number| relations >> number & 1 == 1);
        numbers.fold(0, |all, number| all | to(number))
    };
    let to_inner = |number: usize| 1u64 << places[number];
    let to_outer = |number: usize| match set >> number & 1 {
        1 => 1,
        _ => 1u64 << places[number],
    };
    let column = |key: usize| first + key;
    let is_key = |wanted: usize| {
        let found = keys
            .iter()
            .position(|(key, _)| matches!(key, Expression::Column(c) if *c == wanted));
        found.map_or(wanted, column)
    };
    for equality in cluster.equalities {
        let [a, b] = equality.relations;
        if of_set(a | b) {
            inner.equalities.push(Equality {
                relations: [a, b].map(|side| moved(side, &to_inner)),
                ..equality
            });
            continue;
        }
        outer.equalities.push(Equality {
            relations: [a, b].map(|side| moved(side, &to_outer)),
            sides: equality.sides.map(|side| side.moved(&is_key)),
            ..equality
        });
    }
    for condition in cluster.conditions {
        let Condition {
            relations,
            expression,
        } = condition;
        match of_set(relations) {
            true => inner.conditions.push(Condition {
                relations: moved(relations, &to_inner),
                expression,
            }),
            false => outer.conditions.push(Condition {
                relations: moved(relations, &to_outer),
                expression: expression.moved(&is_key),
            }),
        }
    }
    for (number, relation) in cluster.relations.into_iter().enumerate() {
        match set >> number & 1 {
            1 => inner.relations.push(relation),
            _ => outer.relations.push(relation),
        }
    }
    let after = Grouping {
        keys: grouping
            .keys
            .iter()
            .zip(of_groups)
            .map(|((key, kind), place)| match place {
                Some(place) => (Expression::Column(column(place)), kind.clone()),
                None => (key.clone(), kind.clone()),
            })
            .collect(),
        aggregates: grouping
            .aggregates
            .iter()
            .enumerate()
            .map(|(number, one)| added_up(one, column(keys.len() + number)))
            .collect(),
        lead: Lead::default(),
    };
    let aggregates: Vec<Aggregate> = grouping.aggregates.into_iter().map(partial).collect();
    let types = keys.iter().map(|(_, kind)| kind.clone());
    let types: Vec<DataType> = types
        .chain(aggregates.iter().map(|one| one.kind.clone()))
        .collect();
    let columns = first..first + types.len();
    let before = Grouping {
        keys,
        aggregates,
        lead: Lead::default(),
    };
    let converted = of_cluster(inner, before, types)?;
    outer.relations.insert(0, Relation { converted, columns });
    Some(Early {
        cluster: outer,
        grouping: after,
    })
}

/// An aggregate of the rows of an early group. Sums of integers may leave their type and
/// come back.
pub(crate) fn partial(one: Aggregate) -> Aggregate {
    let kind = match (one.function, &one.kind) {
        (Function::Sum, DataType::Int64) => DataType::Decimal128(38, 0),
        _ => one.kind.clone(),
    };
    Aggregate { kind, ..one }
}

/// What is made of the results of early groups, which are in a column.
pub(crate) fn added_up(one: &Aggregate, column: usize) -> Aggregate {
    Aggregate {
        function: match one.function {
            Function::Count => Function::Sum,
            function => function,
        },
        argument: Some(Expression::Column(column)),
        filter: None,
        input: partial(one.clone()).kind,
        kind: one.kind.clone(),
    }
}
