//! Aggregates of groups, each computed of its rows alone.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, new_null_array};

use super::table::{self, concat, groups};
use super::{Env, Run, Table};
use crate::error::{Error, Result};
use crate::functions::aggregates::{Aggregate, Direction};
use crate::functions::kernel::Call;
use crate::plan::{AggregateCall, Column, Expr, SortKey};
use crate::types::Type;

impl Run<'_> {
    pub(super) fn aggregate(
        &self,
        table: &Table,
        keys: &[(Column, Expr)],
        sets: Option<&[Vec<usize>]>,
        calls: &[(Column, AggregateCall)],
        grouping: &[(Column, Vec<usize>)],
        env: &Env<'_>,
    ) -> Result<Table> {
        let values = self.all(keys.iter().map(|(_, expr)| expr), table, env)?;
        let every = vec![(0..keys.len()).collect::<Vec<_>>()];
        let sets = sets.unwrap_or(&every);
        let mut parts = Vec::new();
        for set in sets {
            let of_set: Vec<_> = set
                .iter()
                .map(|at| values.get(*at).cloned())
                .collect::<Option<_>>()
                .ok_or_else(|| Error::internal("a grouping set of no key"))?;
            let mut in_set = vec![false; keys.len()];
            set.iter().for_each(|at| in_set[*at] = true);
            let mut all = groups(&of_set, table.rows)?;
            // Without keys there is one group, with rows or without.
            if set.is_empty() && all.is_empty() {
                all.push(Vec::new());
            }
            for rows in all {
                let mut columns = Vec::new();
                for (at, ((column, _), (ty, values))) in keys.iter().zip(&values).enumerate() {
                    let value = match rows.first() {
                        Some(row) if in_set[at] => values.slice(*row, 1),
                        _ => new_null_array(&ty.arrow(), 1),
                    };
                    columns.push((column.id, value));
                }
                let group = table.select(&rows)?;
                let mut inside = Env::inside(env);
                inside.values.extend(columns.iter().cloned());
                for (column, call) in calls {
                    let mut call = call.clone();
                    let absent = keys.iter().zip(&in_set).filter(|(_, present)| !**present);
                    for ((_, key), _) in absent {
                        call.direct.iter_mut().for_each(|value| value.forget(key));
                    }
                    columns.push((column.id, self.aggregated(&group, &call, &inside)?));
                }
                for (column, of) in grouping {
                    let bits = of
                        .iter()
                        .fold(0i32, |bits, at| bits << 1 | i32::from(!in_set[*at]));
                    let value: ArrayRef = Arc::new(Int32Array::from(vec![bits]));
                    columns.push((column.id, value));
                }
                parts.push(Table { columns, rows: 1 });
            }
        }
        let made = keys.iter().map(|(column, _)| column);
        let made = made.chain(calls.iter().map(|(column, _)| column));
        let made: Vec<&Column> = made.chain(grouping.iter().map(|(c, _)| c)).collect();
        let none = made
            .iter()
            .map(|column| (column.id, new_null_array(&column.ty.arrow(), 0)));
        parts.push(Table {
            columns: none.collect(),
            rows: 0,
        });
        let ids: Vec<_> = made.iter().map(|column| column.id).collect();
        Table::stacked(&ids, &parts)
    }

    /// The value of an aggregate of all rows of a table.
    pub(super) fn aggregated(
        &self,
        group: &Table,
        call: &AggregateCall,
        env: &Env<'_>,
    ) -> Result<ArrayRef> {
        let mut rows = group.clone();
        if let Some(filter) = &call.filter {
            rows = rows.select(&self.matching(filter, &rows, env)?)?;
        }
        let first: Vec<Option<usize>> = vec![(group.rows > 0).then_some(0)];
        let first = group.select_or_null(&first)?;
        let direct = self.all(call.direct.iter(), &first, env)?;
        let arguments = self.all(call.arguments.iter(), &rows, env)?;
        let order = self.all(call.order.iter().map(|key| &key.expr), &rows, env)?;
        accumulated(
            &Accumulated {
                function: &call.function,
                direct: &direct,
                distinct: call.distinct,
                keys: &call.order,
                returns: &call.returns,
            },
            &arguments,
            &order,
            rows.rows,
            self.session,
        )
    }
}

/// An aggregate that is computed.
pub(super) struct Accumulated<'a> {
    pub(super) function: &'a Aggregate,
    pub(super) direct: &'a [(Type, ArrayRef)],
    pub(super) distinct: bool,
    pub(super) keys: &'a [SortKey],
    pub(super) returns: &'a Type,
}

/// The value of an aggregate of rows of arguments and of the order's keys.
pub(super) fn accumulated(
    of: &Accumulated<'_>,
    arguments: &[(Type, ArrayRef)],
    order: &[(Type, ArrayRef)],
    rows: usize,
    session: &crate::functions::Session,
) -> Result<ArrayRef> {
    let mut places = table::sorted(order, of.keys, rows)?;
    if of.function.skips_nulls {
        places.retain(|row| !arguments.iter().any(|(_, array)| array.is_null(*row)));
    }
    if of.distinct {
        // Equal arguments are found by sorting, so that they come in that order.
        let values: Vec<_> = order.iter().chain(arguments).cloned().collect();
        let mut group_of = vec![None; rows];
        for (number, group) in groups(arguments, rows)?.iter().enumerate() {
            group.iter().for_each(|row| group_of[*row] = Some(number));
        }
        let wanted: HashSet<usize> = places.into_iter().collect();
        let mut seen = HashSet::new();
        places = table::sorted(&values, &with_ascending(of.keys, arguments), rows)?;
        places.retain(|row| wanted.contains(row) && seen.insert(group_of[*row]));
    }
    let picked = Table {
        columns: arguments
            .iter()
            .map(|(_, array)| (crate::plan::ColumnId(0), array.clone()))
            .collect(),
        rows,
    };
    let picked = picked.select(&places)?;
    let arrays: Vec<ArrayRef> = picked.columns.into_iter().map(|(_, array)| array).collect();
    let types: Vec<Type> = of
        .direct
        .iter()
        .chain(arguments)
        .map(|(ty, _)| ty.clone())
        .collect();
    let direct: Vec<ArrayRef> = of.direct.iter().map(|(_, array)| array.clone()).collect();
    let call = Call {
        rows: places.len(),
        types: &types,
        returns: of.returns,
        session,
    };
    let mut state = (of.function.state)(&call, &direct)?;
    let directions = of.keys.iter().map(|key| Direction {
        descending: key.descending,
        nulls_first: key.nulls_first,
    });
    state.set_order(&directions.collect::<Vec<_>>());
    if !places.is_empty() {
        state.add(&call, &arrays)?;
    }
    let result = state.result(&call)?;
    if result.len() != 1 || result.data_type() != &of.returns.arrow() {
        let message = format!("{} gives another type than it says", of.function.name);
        return Err(Error::internal(message));
    }
    concat(&[result])
}

/// Keys of an order and further ones for values, ascending.
fn with_ascending(keys: &[SortKey], values: &[(Type, ArrayRef)]) -> Vec<SortKey> {
    let mut keys = keys.to_vec();
    keys.extend(values.iter().map(|_| SortKey {
        expr: Expr::bool(true),
        descending: false,
        nulls_first: false,
    }));
    keys
}
