//! Windows as the bulk engine's.

use arrow::datatypes::DataType;
use freestone_exec::expression::Expression;
use freestone_exec::{Node, Plan, Windowing};

use super::converted::Converted;

/// The rows of `input` with the results of calls, as columns of some types.
pub(crate) fn windowed(input: Converted, windowing: Windowing, types: Vec<DataType>) -> Converted {
    let rows = input.plan.estimate;
    let columns = windowing.columns.iter();
    let distinct = columns.map(|column| input.distinct.get(*column).copied().unwrap_or(rows));
    let mut distinct: Vec<f64> = distinct.collect();
    distinct.resize(types.len(), rows);
    let node = Node::Window(Box::new(input.plan), windowing);
    Converted {
        sampled: None,
        plan: Plan::new(node, types, rows),
        distinct,
    }
}

/// A plan without those columns of windows that no expression reads, and the new place of
/// each column. Columns of other plans cost little, and stay.
pub(super) fn narrowed(input: Converted, expressions: &[Expression]) -> (Converted, Vec<usize>) {
    let width = input.plan.types.len();
    let mut read = vec![false; width];
    for expression in expressions {
        expression.columns(&mut |column| read[column] = true);
    }
    let Converted {
        plan,
        distinct,
        sampled,
    } = input;
    let (plan, places) = without(plan, &read);
    let mut kept = vec![0.0; plan.types.len()];
    for (place, distinct) in places.iter().zip(distinct) {
        if let Some(kept) = place.and_then(|place| kept.get_mut(place)) {
            *kept = distinct;
        }
    }
    let converted = Converted {
        plan,
        distinct: kept,
        sampled,
    };
    // The place of a column that is left out is not asked for.
    let places = places.into_iter().map(Option::unwrap_or_default);
    (converted, places.collect())
}

/// A plan without columns of windows that are not read, and where the others are.
fn without(mut plan: Plan, read: &[bool]) -> (Plan, Vec<Option<usize>>) {
    match plan.node {
        Node::Window(input, mut windowing) => {
            let is_read = |place: usize| place >= windowing.columns.len() || read[place];
            let mut places = Vec::with_capacity(read.len());
            let mut next = 0;
            for place in 0..read.len() {
                places.push(is_read(place).then_some(next));
                next += usize::from(is_read(place));
            }
            let numbered = windowing.columns.iter().zip(read);
            let columns = numbered.filter(|(_, read)| **read);
            let columns = columns.map(|(column, _)| *column).collect();
            windowing.columns = columns;
            plan.types = kept(plan.types, &places);
            plan.node = Node::Window(input, windowing);
            (plan, places)
        }
        Node::Filter(input, condition) => {
            let mut below = read.to_vec();
            condition.columns(&mut |column| below[column] = true);
            let (input, places) = without(*input, &below);
            let condition = condition.moved(&|column| places[column].unwrap_or_default());
            plan.types = kept(plan.types, &places);
            plan.node = Node::Filter(Box::new(input), condition);
            (plan, places)
        }
        node => {
            plan.node = node;
            (plan, (0..read.len()).map(Some).collect())
        }
    }
}

/// The values that have a place.
fn kept<T>(values: Vec<T>, places: &[Option<usize>]) -> Vec<T> {
    let numbered = values.into_iter().zip(places);
    let kept = numbered.filter(|(_, place)| place.is_some());
    kept.map(|(value, _)| value).collect()
}
