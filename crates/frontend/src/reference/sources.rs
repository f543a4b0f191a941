//! Nodes that make rows: VALUES, scans and functions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, new_empty_array};

use super::table::concat;
use super::{Env, Run, Table};
use crate::error::{Error, Result};
use crate::functions::kernel::Call;
use crate::functions::kernel::number;
use crate::plan::{Column, Expr, Plan, Relation, Sample, SetItem, TableCall};
use crate::types::Type;

impl Run<'_> {
    pub(super) fn values(
        &self,
        columns: &[Column],
        rows: &[Vec<Expr>],
        env: &Env<'_>,
    ) -> Result<Table> {
        let mut made = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            let mut values = vec![new_empty_array(&column.ty.arrow())];
            for row in rows {
                let expr = row.get(at);
                let expr = expr.ok_or_else(|| Error::internal("VALUES of unequal lengths"))?;
                values.push(self.constant(expr, env)?);
            }
            made.push((column.id, concat(&values)?));
        }
        Ok(Table {
            columns: made,
            rows: rows.len(),
        })
    }

    pub(super) fn scan(
        &self,
        relation: &Relation,
        columns: &[(Column, usize)],
        sample: Option<&Sample>,
        env: &Env<'_>,
    ) -> Result<Table> {
        let batches = (self.tables)(relation, columns)?;
        let rows = batches.iter().map(|batch| batch.num_rows()).sum();
        let mut made = Vec::with_capacity(columns.len());
        for (at, (column, _)) in columns.iter().enumerate() {
            let pieces = batches.iter().map(|batch| {
                let piece = batch.columns().get(at).cloned();
                piece.ok_or_else(|| Error::internal("a relation lacks a column"))
            });
            let pieces = pieces.collect::<Result<Vec<ArrayRef>>>()?;
            let whole = match pieces.as_slice() {
                [] => new_empty_array(&column.ty.arrow()),
                [whole] => Arc::clone(whole),
                pieces => concat(pieces)?,
            };
            made.push((column.id, whole));
        }
        let table = Table {
            columns: made,
            rows,
        };
        match sample {
            Some(sample) => self.sampled(&table, sample, env),
            None => Ok(table),
        }
    }

    /// Rows that are drawn by a hash of their place and the seed.
    fn sampled(&self, table: &Table, sample: &Sample, env: &Env<'_>) -> Result<Table> {
        let percent = number(&self.constant(&sample.percent, env)?);
        let percent =
            percent.ok_or_else(|| Error::new("2202H", "TABLESAMPLE parameter cannot be null"))?;
        if !(0.0..=100.0).contains(&percent) {
            let message = "sample percentage must be between 0 and 100";
            return Err(Error::new("2202H", message));
        }
        let seed = match &sample.seed {
            Some(seed) => number(&self.constant(seed, env)?).ok_or_else(|| {
                Error::new("2202G", "TABLESAMPLE REPEATABLE parameter cannot be null")
            })?,
            None => 0.0,
        };
        let drawn = |row: &usize| {
            let mut hash = DefaultHasher::new();
            (seed.to_bits(), row).hash(&mut hash);
            ((hash.finish() >> 11) as f64) < percent / 100.0 * (1u64 << 53) as f64
        };
        let rows: Vec<usize> = (0..table.rows).filter(drawn).collect();
        table.select(&rows)
    }

    pub(super) fn functions(
        &self,
        calls: &[TableCall],
        ordinality: Option<&Column>,
        env: &Env<'_>,
    ) -> Result<Table> {
        let one = Table::one_row();
        let tables = calls.iter().map(|call| self.rows_of(call, &one, 0, env));
        let mut all = side_by_side(tables.collect::<Result<_>>()?)?;
        if let Some(column) = ordinality {
            let numbers = Int64Array::from_iter_values(1..=all.rows as i64);
            all.columns.push((column.id, Arc::new(numbers)));
        }
        Ok(all)
    }

    pub(super) fn project_set(
        &self,
        input: &Plan,
        items: &[SetItem],
        env: &Env<'_>,
    ) -> Result<Table> {
        let table = self.plan(input, env)?;
        let mut parts = Vec::with_capacity(table.rows);
        let columns = items.iter().flat_map(|item| match item {
            SetItem::Value(column, _) => std::slice::from_ref(column),
            SetItem::Rows(call) => &call.columns,
        });
        let columns: Vec<&Column> = columns.collect();
        let mut values = Vec::new();
        for item in items {
            values.push(match item {
                SetItem::Value(_, expr) => Some(self.expr(expr, &table, env)?),
                SetItem::Rows(_) => None,
            });
        }
        for row in 0..table.rows {
            let mut calls = Vec::new();
            for item in items {
                if let SetItem::Rows(call) = item {
                    calls.push(self.rows_of(call, &table, row, env)?);
                }
            }
            let no_calls = calls.is_empty();
            let mut made = side_by_side(calls)?;
            if no_calls {
                made.rows = 1;
            }
            for (item, values) in items.iter().zip(&values) {
                if let (SetItem::Value(column, _), Some(values)) = (item, values) {
                    let value = Table {
                        columns: vec![(column.id, values.clone())],
                        rows: table.rows,
                    };
                    made = made.clone().beside(value.select(&vec![row; made.rows])?);
                }
            }
            let in_order = columns.iter().map(|column| {
                let values = made.column(column.id).cloned();
                let values = values.ok_or_else(|| Error::internal("a column is missing"))?;
                Ok((column.id, values))
            });
            let columns = in_order.collect::<Result<_>>()?;
            self.count(made.rows)?;
            parts.push(Table {
                columns,
                rows: made.rows,
            });
        }
        Table::stacked_as(&columns, parts)
    }

    /// The rows that a function gives for one row of a table.
    fn rows_of(&self, call: &TableCall, table: &Table, row: usize, env: &Env<'_>) -> Result<Table> {
        let one = table.select(&[row])?;
        let arguments = self.all(call.arguments.iter(), &one, env)?;
        let (types, arguments): (Vec<Type>, Vec<ArrayRef>) = arguments.into_iter().unzip();
        let empty = |column: &Column| (column.id, vec![new_empty_array(&column.ty.arrow())]);
        let mut columns: Vec<_> = call.columns.iter().map(empty).collect();
        let mut rows = 0;
        let is_null = arguments.iter().any(|argument| argument.is_null(0));
        if !(call.function.strict && is_null) {
            let fields = call.columns.iter();
            let fields = fields.map(|column| (column.name.clone(), column.ty.clone()));
            let returns = match call.columns.as_slice() {
                [one] => one.ty.clone(),
                _ => Type::Record(fields.collect()),
            };
            let context = Call {
                rows: 1,
                types: &types,
                returns: &returns,
                session: self.session,
            };
            for part in (call.function.rows)(&context, &arguments)? {
                let part = part?;
                let length = part.first().map_or(0, |array| array.len());
                self.count(length)?;
                rows += length;
                self.count(rows)?;
                for ((_, column), piece) in columns.iter_mut().zip(part) {
                    column.push(piece);
                }
            }
        }
        let columns = columns
            .into_iter()
            .map(|(id, pieces)| Ok((id, concat(&pieces)?)));
        Ok(Table {
            columns: columns.collect::<Result<_>>()?,
            rows,
        })
    }
}

/// Tables side by side; shorter ones are filled up with NULL.
fn side_by_side(tables: Vec<Table>) -> Result<Table> {
    let rows = tables.iter().map(|table| table.rows).max().unwrap_or(0);
    let mut all = Table {
        columns: Vec::new(),
        rows,
    };
    for table in tables {
        let places: Vec<_> = (0..rows)
            .map(|row| (row < table.rows).then_some(row))
            .collect();
        all = all.beside(table.select_or_null(&places)?);
    }
    Ok(all)
}
