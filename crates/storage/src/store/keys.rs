//! PRIMARY KEY and UNIQUE: no two rows with the same key.

use super::references::Deferred;
use crate::delta::{Fragment, OwnChanges, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::ids::{RowId, RowPlace};
use crate::scan::KeyLookUp;
use crate::schema::{Column, ColumnType, Key, Value};
use crate::table::Table;

/// The result of checking keys.
pub(super) enum Checked {
    /// No two rows have the same.
    Right {
        /// Whether there are keys whose check is deferred.
        deferred: bool,
    },
    /// A row with the same key may be gone when this transaction ends, which is changing it.
    Held(u64),
}

/// Checks the keys of a transaction's rows from its row `first` on against all
/// rows that `view` sees, but for those that are deferred. `holder` is the transaction that is
/// changing a row.
///
/// # Errors
/// 23505 naming constraint, columns and values.
pub(super) fn check(
    table: &Table,
    view: &ReadView,
    own: &OwnChanges,
    (first, deferred): (u64, Option<&Deferred>),
    holder: &dyn Fn(RowId) -> Option<u64>,
) -> Result<Checked> {
    let mut skipped = false;
    for key in &table.schema.keys {
        if deferred.is_some_and(|all| all.has(table.id, &key.name, key.deferral)) {
            skipped = true;
            continue;
        }
        let prepared = KeyLookUp::prepare(&table.schema, &key.columns, &[])?;
        for fragment in &own.fragments {
            if fragment.first() + fragment.len() as u64 <= first {
                continue;
            }
            let home = RowHome::Own(fragment.first());
            for row in view.visible(home, fragment) {
                let number = fragment.first() + u64::from(row);
                if number < first {
                    continue;
                }
                let values = values_of(fragment, row, &key.columns);
                let schema = &table.schema;
                if !schema.is_in_key(key, |at| values[at].is_none()) {
                    continue;
                }
                let whole: Option<Vec<Value>> = values.iter().cloned().collect();
                let found = match whole {
                    Some(whole) => table.find(view, &prepared, &whole)?,
                    None => table.find_alike(view, (&key.columns, &values), &[])?,
                };
                let other = |place: RowPlace| !matches!(place, RowPlace::Own(own) if own == number);
                let mut others = found.iter().filter(|(row, _)| other(row.place()));
                if let Some((row, _)) = others.next() {
                    return match holder(*row) {
                        Some(holder) if others.next().is_none() => Ok(Checked::Held(holder)),
                        _ => Err(duplicate(table, key, &values)),
                    };
                }
            }
        }
    }
    Ok(Checked::Right { deferred: skipped })
}

/// The values of some columns of a row; `None` if one is NULL.
pub(super) fn key_of(fragment: &Fragment, row: u32, columns: &[usize]) -> Option<Vec<Value>> {
    values_of(fragment, row, columns).into_iter().collect()
}

fn values_of(fragment: &Fragment, row: u32, columns: &[usize]) -> Vec<Option<Value>> {
    let tuples = fragment.read();
    let tuple = tuples.tuple(row);
    let columns = columns.iter();
    columns
        .map(|column| fragment.shape().value(tuple, *column))
        .collect()
}

fn duplicate(table: &Table, key: &Key, values: &[Option<Value>]) -> Error {
    let message = format!(
        "duplicate key value violates unique constraint \"{}\": key {} already exists",
        key.name,
        shown(table, &key.columns, values.iter().map(Option::as_ref))
    );
    Error::invalid("23505", message)
}

/// Columns and their values, as PostgreSQL shows them: `(a, b)=(1, x)`.
pub(super) fn described(table: &Table, columns: &[usize], values: &[Value]) -> String {
    shown(table, columns, values.iter().map(Some))
}

fn shown<'a>(
    table: &Table,
    columns: &[usize],
    values: impl Iterator<Item = Option<&'a Value>>,
) -> String {
    let columns: Vec<&Column> = table.schema.shown(columns).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let shown = columns.iter().zip(values);
    let shown: Vec<String> = shown
        .map(|(column, value)| match value {
            Some(value) => show(column, value),
            None => "null".to_owned(),
        })
        .collect();
    format!("({})=({})", names.join(", "), shown.join(", "))
}

/// A value for people, as far as storage can tell.
fn show(column: &Column, value: &Value) -> String {
    match (value, &column.kind) {
        (Value::Bytes(bytes), ColumnType::Bytea) => column.shown_bytes(bytes),
        (Value::Int(value), ColumnType::Decimal { scale, .. }) if *scale > 0 => {
            let unit = 10i128.pow(u32::from(scale.unsigned_abs()));
            let sign = if *value < 0 { "-" } else { "" };
            let (whole, part) = (value.abs() / unit, value.abs() % unit);
            format!(
                "{sign}{whole}.{part:0width$}",
                width = scale.unsigned_abs().into()
            )
        }
        (Value::Bytes(bytes), _) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_string(),
            Err(_) => format!("{}", Value::Bytes(bytes.clone())),
        },
        (value, _) => value.to_string(),
    }
}
