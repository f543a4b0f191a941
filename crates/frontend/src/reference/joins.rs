//! Joins, by looking at pairs of rows.
//!
//! The condition is computed for many pairs at once. Where it asks for equal columns, only pairs
//! that have the same values there are looked at.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::{DataType, TimeUnit};

use super::{Env, Run, Table, quantified, several_rows};
use crate::error::Result;
use crate::plan::{Expr, ExprKind, JoinKind, Plan, Quantifier};

/// Most pairs for which a condition is computed at once.
const PAIRS: usize = 1 << 16;

impl Run<'_> {
    pub(super) fn join(
        &self,
        kind: JoinKind,
        (left, right): (&Plan, &Plan),
        condition: Option<&Expr>,
        lateral: bool,
        env: &Env<'_>,
    ) -> Result<Table> {
        let outer = self.plan(left, env)?;
        let always = matches!(kind, JoinKind::Right | JoinKind::Full);
        let mut inner: Option<Table> = None;
        if !lateral && (always || outer.rows > 0) {
            inner = Some(self.plan(right, env)?);
        }
        let is_mark = matches!(kind, JoinKind::Mark(_));
        let mut found = match (condition, &inner) {
            (Some(condition), Some(inner)) if !lateral && !is_mark => {
                self.partners(condition, (&outer, inner), env)?
            }
            _ => None,
        };
        // The rows of the result: a row of the left side, one of the right side, or both.
        let mut pairs: Vec<(Option<usize>, Option<usize>)> = Vec::new();
        let mut parts: Vec<Table> = Vec::new();
        let mut offset = 0;
        let mut marks: Vec<Option<bool>> = Vec::new();
        for row in 0..outer.rows {
            let mut env = Env::inside(env);
            if found.is_none() {
                for (id, array) in &outer.columns {
                    env.values.insert(*id, array.slice(row, 1));
                }
            }
            let table = match &inner {
                Some(table) if !lateral => Cow::Borrowed(table),
                _ => Cow::Owned(self.plan(right, &env)?),
            };
            // Pairs of rows that were looked at together are counted.
            if found.is_none() {
                self.count(table.rows)?;
            }
            let matches = match (&mut found, condition) {
                (Some(found), _) => std::mem::take(&mut found[row]),
                (None, Some(condition)) if table.rows > 0 && !is_mark => {
                    self.matching(condition, &table, &env)?
                }
                (None, _) => (0..table.rows).collect(),
            };
            let pair = |at: &usize| (Some(row), Some(offset + at));
            let alone = || (Some(row), None);
            match kind {
                JoinKind::Inner | JoinKind::Right => pairs.extend(matches.iter().map(pair)),
                JoinKind::Left | JoinKind::Full if matches.is_empty() => pairs.push(alone()),
                JoinKind::Left | JoinKind::Full => pairs.extend(matches.iter().map(pair)),
                JoinKind::Semi if !matches.is_empty() => pairs.push(alone()),
                JoinKind::Anti if matches.is_empty() => pairs.push(alone()),
                JoinKind::Semi | JoinKind::Anti => {}
                JoinKind::AsOf => pairs.extend(matches.last().map(pair)),
                JoinKind::AsOfLeft => pairs.push(matches.last().map_or_else(alone, pair)),
                JoinKind::Single if matches.len() > 1 => return Err(several_rows()),
                JoinKind::Single => pairs.push(matches.last().map_or_else(alone, pair)),
                JoinKind::Mark(_) => {
                    pairs.push(alone());
                    marks.push(match condition {
                        Some(condition) => {
                            let compared = self.expr(condition, &table, &env)?;
                            quantified(&compared, Quantifier::Any)?
                        }
                        None => Some(table.rows > 0),
                    });
                }
            }
            self.count(pairs.len())?;
            if lateral && kind.gives_right() {
                offset += table.rows;
                parts.push(table.into_owned());
            }
        }
        let inner = match inner {
            Some(inner) => inner,
            None => {
                let columns = right.columns();
                Table::stacked_as(&columns.iter().collect::<Vec<_>>(), parts)?
            }
        };
        if always {
            let mut met = vec![false; inner.rows];
            pairs
                .iter()
                .filter_map(|(_, right)| *right)
                .for_each(|at| met[at] = true);
            let unmet = (0..inner.rows).filter(|at| !met[*at]);
            pairs.extend(unmet.map(|at| (None, Some(at))));
        }
        let lefts: Vec<_> = pairs.iter().map(|(left, _)| *left).collect();
        let mut result = outer.select_or_null(&lefts)?;
        if kind.gives_right() {
            let rights: Vec<_> = pairs.iter().map(|(_, right)| *right).collect();
            result = result.beside(inner.select_or_null(&rights)?);
        }
        if let JoinKind::Mark(id) = kind {
            let marks: ArrayRef = Arc::new(BooleanArray::from(marks));
            result.columns.push((id, marks));
        }
        Ok(result)
    }

    /// The rows of the right side that meet a condition with each row of the left side; `None` for
    /// a condition that is computed row by row.
    fn partners(
        &self,
        condition: &Expr,
        (outer, inner): (&Table, &Table),
        env: &Env<'_>,
    ) -> Result<Option<Vec<Vec<usize>>>> {
        if condition.has_subquery() || condition.is_volatile() {
            return Ok(None);
        }
        let read = condition.reads();
        let narrow = |table: &Table| Table {
            columns: table
                .columns
                .iter()
                .filter(|(id, _)| read.contains(id))
                .cloned()
                .collect(),
            rows: table.rows,
        };
        let (left, right) = (narrow(outer), narrow(inner));
        let known = same_values(condition, outer, inner);
        let all: Vec<usize> = (0..inner.rows).collect();
        let mut partners = vec![Vec::new(); outer.rows];
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for row in 0..outer.rows {
            let candidates = match &known {
                Some(known) => known.of(row),
                None => &all,
            };
            self.count(candidates.len())?;
            lefts.extend(std::iter::repeat_n(row, candidates.len()));
            rights.extend_from_slice(candidates);
            if rights.len() < PAIRS && row + 1 < outer.rows {
                continue;
            }
            let pairs = left.select(&lefts)?.beside(right.select(&rights)?);
            if pairs.rows > 0 {
                for hit in self.matching(condition, &pairs, env)? {
                    partners[lefts[hit]].push(rights[hit]);
                }
            }
            lefts.clear();
            rights.clear();
        }
        Ok(Some(partners))
    }
}

/// The rows of one table by the values that equal those of another.
struct Known {
    /// The values of each row of the left side; none for a row with a NULL.
    keys: Vec<Option<Vec<u8>>>,
    rows: HashMap<Vec<u8>, Vec<usize>>,
}

impl Known {
    /// The rows of the right side with the values of a row of the left side.
    fn of(&self, row: usize) -> &[usize] {
        let key = self.keys[row].as_ref();
        let rows = key.and_then(|key| self.rows.get(key));
        rows.map_or(&[], Vec::as_slice)
    }
}

/// The rows with the same values in the columns that a condition asks to be equal; `None` if it
/// asks for none.
fn same_values(condition: &Expr, left: &Table, right: &Table) -> Option<Known> {
    let terms = match &condition.kind {
        ExprKind::And(terms) => terms.as_slice(),
        _ => std::slice::from_ref(condition),
    };
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    for term in terms {
        let ExprKind::Call {
            function,
            arguments,
        } = &term.kind
        else {
            continue;
        };
        let [a, b] = arguments.as_slice() else {
            continue;
        };
        let (ExprKind::Column(a), ExprKind::Column(b)) = (&a.kind, &b.kind) else {
            continue;
        };
        let sides = match (left.column(*a), right.column(*b)) {
            (Some(a), Some(b)) => Some((a, b)),
            _ => left.column(*b).zip(right.column(*a)),
        };
        if let Some((a, b)) = sides
            && function.name == "="
            && a.data_type() == b.data_type()
            && is_hashed(a.data_type())
        {
            lefts.push(Arc::clone(a));
            rights.push(Arc::clone(b));
        }
    }
    if lefts.is_empty() {
        return None;
    }
    let mut rows: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for row in 0..right.rows {
        if let Some(key) = key(&rights, row) {
            rows.entry(key).or_default().push(row);
        }
    }
    let keys = (0..left.rows).map(|row| key(&lefts, row));
    Some(Known {
        keys: keys.collect(),
        rows,
    })
}

/// Whether values of a type are equal if and only if their bytes are.
fn is_hashed(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Date32
            | DataType::Timestamp(TimeUnit::Microsecond, _)
    )
}

/// The values of a row, one after the other; `None` if one is NULL.
fn key(arrays: &[ArrayRef], row: usize) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(8 * arrays.len());
    for array in arrays {
        if array.is_null(row) {
            return None;
        }
        let value: i64 = match array.data_type() {
            DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
            DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
            DataType::Date32 => array.as_primitive::<Date32Type>().value(row).into(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row),
            _ => array.as_primitive::<TimestampMicrosecondType>().value(row),
        };
        key.extend_from_slice(&value.to_le_bytes());
    }
    Some(key)
}
