//! Partitioned tables and their partitions, as the catalog has them.
//!
//! A partitioned table has no rows. Reading it is reading all of its leaves, the partitions that
//! are not partitioned themselves. Columns of a partition have the names of its parent's; their
//! order may be another. `routing` finds the leaf of a row.

use std::cmp::Ordering;
use std::sync::Arc;

use freestone_frontend::syntax;
use freestone_storage::{
    BoundValue, Catalog, IndexDefinition, PartitionBound, PartitionStrategy, Table, TableSchema,
};
use sqlparser::ast::Expr;

use crate::error::{Error, Result};
use crate::names::{fold, quoted};

/// The partitions of a table, in the order of their bounds as texts, the default one last.
pub(crate) fn partitions<'a>(
    catalog: &'a Catalog,
    table: &Table,
) -> Vec<(&'a str, &'a Arc<Table>)> {
    let mut all = catalog.partitions(table.id);
    let bound = |table: &Table| table.schema.partition.as_ref().map(|of| of.bound.clone());
    all.sort_by(|(_, a), (_, b)| match (bound(a), bound(b)) {
        (Some(a), Some(b)) => order(&a, &b),
        _ => Ordering::Equal,
    });
    all
}

/// The tables that have the rows of a partitioned table, with their schemas.
pub(crate) fn leaves<'a>(catalog: &'a Catalog, table: &Table) -> Vec<(&'a str, &'a Arc<Table>)> {
    let mut found = Vec::new();
    for (schema, part) in partitions(catalog, table) {
        match part.schema.partitioned {
            Some(_) => found.extend(leaves(catalog, part)),
            None => found.push((schema, part)),
        }
    }
    found
}

/// The partitions of a table, and those of these.
pub(crate) fn descendants<'a>(
    catalog: &'a Catalog,
    table: &Table,
) -> Vec<(&'a str, &'a Arc<Table>)> {
    let mut found = partitions(catalog, table);
    for at in 0..found.len() {
        let below = descendants(catalog, found[at].1);
        found.extend(below);
    }
    found
}

/// The tables that a partition is part of, its parent first.
pub(crate) fn ancestors<'a>(catalog: &'a Catalog, table: &Table) -> Vec<(&'a str, &'a Arc<Table>)> {
    let mut found: Vec<(&str, &Arc<Table>)> = Vec::new();
    let mut next = table.schema.partition.as_ref().map(|of| of.parent);
    while let Some(id) = next {
        let Some((schema, parent)) = catalog.all_tables().find(|(_, table)| table.id == id) else {
            break;
        };
        next = parent.schema.partition.as_ref().map(|of| of.parent);
        found.push((schema, parent));
    }
    found
}

/// Where each column of a table is in a table with columns of the same names.
///
/// # Errors
/// `XX000` if one lacks.
pub(crate) fn places(whole: &Table, part: &Table) -> Result<Vec<usize>> {
    let columns = whole.schema.columns.iter();
    columns
        .map(|column| {
            let place = part.schema.index_of(&column.name);
            place.ok_or_else(|| {
                let (name, part) = (&column.name, &part.name);
                Error::internal(format!("partition \"{part}\" lacks column \"{name}\""))
            })
        })
        .collect()
}

/// The column that a part of a key is, if it is one.
pub(crate) fn column_of_part(schema: &TableSchema, part: &str) -> Option<usize> {
    match syntax::expression(part).ok()? {
        Expr::Identifier(ident) => schema.index_of(&fold(&ident)),
        _ => None,
    }
}

/// The order of bounds for people to read; nothing depends on it.
fn order(a: &PartitionBound, b: &PartitionBound) -> Ordering {
    let text = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        _ => a.cmp(b),
    };
    let end = |a: &BoundValue, b: &BoundValue| match (a, b) {
        (BoundValue::Value(a), BoundValue::Value(b)) => text(a, b),
        (BoundValue::Min, BoundValue::Min) | (BoundValue::Max, BoundValue::Max) => Ordering::Equal,
        (BoundValue::Min, _) | (_, BoundValue::Max) => Ordering::Less,
        (BoundValue::Max, _) | (_, BoundValue::Min) => Ordering::Greater,
    };
    match (a, b) {
        (PartitionBound::Range { from: a, .. }, PartitionBound::Range { from: b, .. }) => {
            let mut pairs = a.iter().zip(b);
            let found = pairs.find_map(|(a, b)| Some(end(a, b)).filter(|order| order.is_ne()));
            found.unwrap_or(Ordering::Equal)
        }
        (PartitionBound::List(a), PartitionBound::List(b)) => {
            let first = |list: &[Option<String>]| list.iter().flatten().next().cloned();
            match (first(a), first(b)) {
                (Some(a), Some(b)) => text(&a, &b),
                (a, b) => b.is_some().cmp(&a.is_some()),
            }
        }
        (
            PartitionBound::Hash {
                modulus: a,
                remainder: of_a,
            },
            PartitionBound::Hash {
                modulus: b,
                remainder: of_b,
            },
        ) => (a, of_a).cmp(&(b, of_b)),
        (PartitionBound::Default, _) => Ordering::Greater,
        (_, PartitionBound::Default) => Ordering::Less,
        _ => Ordering::Equal,
    }
}

/// A value of a bound as PostgreSQL writes it: numbers stand without quotes.
pub(crate) fn shown_value(text: &str) -> String {
    let digits = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = digits && text.starts_with(|c: char| c.is_ascii_digit());
    match number || text == "true" || text == "false" {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

/// A bound as PostgreSQL writes it: `FOR VALUES IN ('a', NULL)`.
pub(crate) fn shown(bound: &PartitionBound) -> String {
    let end = |end: &BoundValue| match end {
        BoundValue::Min => "MINVALUE".to_owned(),
        BoundValue::Max => "MAXVALUE".to_owned(),
        BoundValue::Value(text) => shown_value(text),
    };
    let ends = |ends: &[BoundValue]| ends.iter().map(end).collect::<Vec<_>>().join(", ");
    match bound {
        PartitionBound::Range { from, to } => {
            format!("FOR VALUES FROM ({}) TO ({})", ends(from), ends(to))
        }
        PartitionBound::List(list) => {
            let list = list.iter().map(|one| match one {
                Some(text) => shown_value(text),
                None => "NULL".to_owned(),
            });
            format!("FOR VALUES IN ({})", list.collect::<Vec<_>>().join(", "))
        }
        PartitionBound::Hash { modulus, remainder } => {
            format!("FOR VALUES WITH (modulus {modulus}, remainder {remainder})")
        }
        PartitionBound::Default => "DEFAULT".to_owned(),
    }
}

/// The condition that rows of a partition hold, if its key is one column and its table is no
/// partition itself.
pub(crate) fn condition(catalog: &Catalog, part: &Table) -> Option<String> {
    let of = part.schema.partition.as_ref()?;
    let whole = catalog.table_by_id(of.parent)?;
    let [key] = whole.schema.partitioned.as_ref()?.parts.as_slice() else {
        return None;
    };
    let column = column_of_part(&whole.schema, key)?;
    if whole.schema.partition.is_some() {
        return None;
    }
    let column = quoted(&whole.schema.columns[column].name);
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match &of.bound {
        PartitionBound::Range { from, to } => {
            let mut condition = format!("{column} IS NOT NULL");
            for (symbol, ends) in [(">=", from), ("<", to)] {
                if let [BoundValue::Value(text)] = ends.as_slice() {
                    condition.push_str(&format!(" AND {column} {symbol} {}", literal(text)));
                }
            }
            Some(condition)
        }
        PartitionBound::List(list) => {
            let values: Vec<String> = list.iter().flatten().map(|text| literal(text)).collect();
            let among = format!("{column} IN ({})", values.join(", "));
            Some(match (values.is_empty(), list.contains(&None)) {
                (true, _) => format!("{column} IS NULL"),
                (false, true) => format!("{column} IS NULL OR {among}"),
                (false, false) => format!("{column} IS NOT NULL AND {among}"),
            })
        }
        PartitionBound::Hash { .. } | PartitionBound::Default => None,
    }
}

/// The key of a partitioned table as PostgreSQL writes it: `RANGE (day, lower(name))`.
pub(crate) fn shown_key(table: &Table) -> Option<String> {
    let key = table.schema.partitioned.as_ref()?;
    let strategy = match key.strategy {
        PartitionStrategy::Range => "RANGE",
        PartitionStrategy::List => "LIST",
        PartitionStrategy::Hash => "HASH",
    };
    let parts = key.parts.iter().map(|part| shown_part(table, part));
    Some(format!(
        "{strategy} ({})",
        parts.collect::<Vec<_>>().join(", ")
    ))
}

/// A part of a key: a column as it is quoted, or an expression.
pub(crate) fn shown_part(table: &Table, part: &str) -> String {
    match column_of_part(&table.schema, part) {
        Some(column) => quoted(&table.schema.columns[column].name),
        None => part.to_owned(),
    }
}

/// An index of another table over the columns of the same names.
pub(crate) fn same_index<'a>(
    schema: &TableSchema,
    index: &IndexDefinition,
    other: &'a TableSchema,
) -> Option<&'a IndexDefinition> {
    let columns = names_of(schema, &index.columns);
    let mut all = other.indexes.iter();
    all.find(|known| {
        known.kind == index.kind
            && names_of(other, &known.columns) == columns
            && known.form.elements == index.form.elements
            && names_of(other, &known.form.include) == names_of(schema, &index.form.include)
            && !other.is_of_key(known)
    })
}

/// Names of columns.
pub(crate) fn names_of(schema: &TableSchema, columns: &[usize]) -> Vec<String> {
    let columns = columns.iter().filter_map(|at| schema.columns.get(*at));
    columns.map(|column| column.name.clone()).collect()
}
