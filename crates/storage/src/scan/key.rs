//! Rows by the value of a key, prepared once and asked for often (Q5).
//!
//! This is the shortest way from a key to its rows: bounds of blocks, the block's
//! tree, the row; for rows in no block, the delta's map of the key. Wherever one
//! of these is missing, the block or the delta is asked as by [`look_up`].

use super::found::FoundRows;
use super::look_up::{Extent, LookUp, Sought, is_gone, look_up};
use crate::block::{Block, RUN_MAX};
use crate::delta::{Fragment, ReadView, RowHome, Stored, stored_key};
use crate::error::{Error, Result};
use crate::ids::RowId;
use crate::predicate::{BoundPredicate, Conditions, Predicate};
use crate::row::Row;
use crate::schema::{Deferral, IndexDefinition, IndexKind, Key, Physical, TableSchema, Value};
use std::sync::Arc;

/// A look-up by equality of some columns of a table.
#[derive(Debug)]
pub struct KeyLookUp {
    schema: Arc<TableSchema>,
    key: Vec<usize>,
    kinds: Vec<Physical>,
    columns: Vec<usize>,
    /// The index over exactly the key's columns.
    tree: Option<IndexDefinition>,
    /// Whether it ends with the first row that it finds.
    unique: bool,
}

impl KeyLookUp {
    /// Prepares to find the `columns` of rows by the values of the columns `key`.
    ///
    /// # Errors
    /// 42703 for a column that is not there.
    pub fn prepare(
        schema: &Arc<TableSchema>,
        key: &[usize],
        columns: &[usize],
    ) -> Result<KeyLookUp> {
        let count = schema.columns.len();
        let mut all = key.iter().chain(columns);
        if let Some(column) = all.find(|column| **column >= count) {
            let reason = format!("there is no column number {column}");
            return Err(Error::invalid("42703", reason));
        }
        let mut indexes = schema.indexes.iter();
        let tree = indexes.find(|index| index.kind == IndexKind::Csb && index.columns == key);
        Ok(KeyLookUp {
            kinds: key
                .iter()
                .map(|column| schema.columns[*column].kind.physical())
                .collect(),
            tree: tree.cloned(),
            unique: false,
            schema: schema.clone(),
            key: key.to_vec(),
            columns: columns.to_vec(),
        })
    }

    /// The look-up for a reader: it ends with the first row that it finds, if the columns are
    /// those of a constraint that is checked after each statement. A look-up that checks the
    /// constraint has to see all rows.
    #[must_use]
    pub fn of_reader(self) -> KeyLookUp {
        let is_unique = |key: &Key| key.columns == self.key && key.deferral == Deferral::Never;
        KeyLookUp {
            unique: self.schema.keys.iter().any(is_unique),
            ..self
        }
    }

    /// The columns that are asked for by value.
    pub fn key(&self) -> &[usize] {
        &self.key
    }

    /// Whether it was prepared for these columns, keys and indexes.
    pub(crate) fn fits(&self, schema: &Arc<TableSchema>) -> bool {
        Arc::ptr_eq(&self.schema, schema)
    }

    /// The same look-up in a table that was changed since.
    pub(crate) fn again(&self, schema: &Arc<TableSchema>) -> Result<KeyLookUp> {
        let again = KeyLookUp::prepare(schema, &self.key, &self.columns)?;
        Ok(match self.unique {
            true => again.of_reader(),
            false => again,
        })
    }

    /// The rows that `view` sees with the values `key`, with their ids.
    ///
    /// # Errors
    /// 42804 for values of other types than the columns, or not one for each;
    /// `Corrupt` or `Io`.
    pub(crate) fn find(
        &self,
        place: &LookUp<'_>,
        view: &ReadView,
        key: &[Value],
    ) -> Result<Vec<(RowId, Row)>> {
        if key.len() != self.key.len() {
            let reason = format!("{} values for a key of {}", key.len(), self.key.len());
            return Err(Error::invalid("42804", reason));
        }
        let Some(stored) = self.stored(key) else {
            // Of another type, beyond its range, or equal to others in other bytes.
            let predicate = self.predicate(key);
            let all = look_up(place, view, &predicate, &self.columns, Extent::ALL)?;
            return Ok(all.unwrap_or_default().into_rows());
        };
        let mut rows = Vec::new();
        let bind = || BoundPredicate::bind(&self.predicate(key), place.schema);
        let mut slow: Option<BoundPredicate> = None;
        let mut bounds = None;
        if let [Value::Int(first), ..] = key {
            bounds = (place.bounds)(self.key[0])?.map(|bounds| (bounds, *first));
        }
        for (number, block) in place.blocks.iter().enumerate() {
            let within = bounds.map(|(bounds, _)| bounds[number]);
            let outside = match (within, bounds) {
                (Some((min, max)), Some((_, sought))) => sought < min || max < sought,
                _ => block.zone(self.key[0])?.excludes(&key[0]),
            };
            if outside {
                continue;
            }
            let found = self.in_tree(block, view, key, &mut rows)?
                || self.in_order((block, within), view, key, &mut rows)?;
            if !found {
                let bound = match &mut slow {
                    Some(bound) => bound,
                    slow @ None => slow.insert(bind()?),
                };
                let conditions = Conditions::of(bound);
                let sought = self.sought((place, view), bound, &conditions);
                let mut found = FoundRows::default();
                sought.in_block(block, &mut usize::MAX.clone(), &mut found)?;
                rows.extend(found.into_rows());
            }
        }
        let is_done = self.unique && !rows.is_empty();
        if is_done || place.delta.is_empty() && view.own.is_none() {
            return Ok(rows);
        }
        if !self.in_maps(place, view, &stored, &mut rows)? {
            let bound = slow.map_or_else(bind, Ok)?;
            let conditions = Conditions::of(&bound);
            let sought = self.sought((place, view), &bound, &conditions);
            let mut found = FoundRows::default();
            sought.in_delta(&mut usize::MAX.clone(), &mut found)?;
            rows.extend(found.into_rows());
        }
        Ok(rows)
    }

    fn sought<'a, 'p>(
        &'a self,
        (place, view): (&'a LookUp<'p>, &'a ReadView),
        bound: &'a BoundPredicate,
        conditions: &'a Conditions<'a>,
    ) -> Sought<'a, 'p> {
        Sought {
            place,
            view,
            bound,
            conditions,
            columns: &self.columns,
            foremost: None,
        }
    }

    /// The values as they are stored; `None` where equal values may differ there.
    fn stored<'a>(&self, key: &'a [Value]) -> Option<Vec<Stored<'a>>> {
        let values = key.iter().zip(&self.kinds).map(|(value, kind)| {
            let float = matches!(kind, Physical::F32 | Physical::F64);
            (!float).then(|| stored_key(value, *kind))?
        });
        values.collect()
    }

    fn predicate(&self, key: &[Value]) -> Predicate {
        let terms = self.key.iter().zip(key);
        let terms = terms.map(|(column, value)| Predicate::equal(*column, value));
        Predicate::And(terms.collect())
    }

    /// Asks a block's tree; `false` if it has none that can tell.
    fn in_tree(
        &self,
        block: &Block,
        view: &ReadView,
        key: &[Value],
        rows: &mut Vec<(RowId, Row)>,
    ) -> Result<bool> {
        let Some(definition) = &self.tree else {
            return Ok(false);
        };
        let Some(index) = block.index(definition)? else {
            return Ok(false);
        };
        let Some((positions, exact)) = index.equal(key) else {
            return Ok(false);
        };
        for row in positions {
            self.add(block, view, *row, key, exact, rows)?;
        }
        Ok(true)
    }

    /// Searches a block whose rows lie in the order of the key's first column,
    /// between `bounds`, if those are known; `false` if they do not, or too many have the same value there.
    fn in_order(
        &self,
        (block, bounds): (&Block, Option<(i128, i128)>),
        view: &ReadView,
        key: &[Value],
        rows: &mut Vec<(RowId, Row)>,
    ) -> Result<bool> {
        let column = self.key[0];
        if block.sort_column()? != Some(column) {
            return Ok(false);
        }
        let sorted = block.sorted_values(column)?;
        let before = |value: &Value| value.total_order(&key[0]).is_lt();
        let first = match (&key[0], bounds) {
            (Value::Int(sought), Some(bounds)) => {
                sorted.partition_point_near(bounds, *sought, before)?
            }
            _ => sorted.partition_point(before)?,
        };
        let known = rows.len();
        for row in first..sorted.present() {
            if sorted.value(row)? != key[0] {
                break;
            }
            if row - first == RUN_MAX {
                rows.truncate(known);
                return Ok(false);
            }
            // In range: a block has at most 2^20 rows.
            self.add(block, view, row as u32, key, self.key.len() == 1, rows)?;
        }
        Ok(true)
    }

    /// Adds a row of a block, if it is there and (checked unless `exact`) has the key.
    fn add(
        &self,
        block: &Block,
        view: &ReadView,
        row: u32,
        key: &[Value],
        exact: bool,
        rows: &mut Vec<(RowId, Row)>,
    ) -> Result<()> {
        let home = RowHome::Block(block.id());
        if view.is_deleted(home, block.deletes(), row) {
            return Ok(());
        }
        if !exact {
            let found = block.row(&self.key, row)?;
            let mut pairs = found.iter().zip(key);
            if !pairs.all(|(found, sought)| found.as_ref() == Some(sought)) {
                return Ok(());
            }
        }
        block.warm(1);
        rows.push((home.row(row), block.row(&self.columns, row)?));
        Ok(())
    }

    /// Asks the maps of the delta and of the transaction's own rows; `false` if
    /// they have none of this key.
    fn in_maps(
        &self,
        place: &LookUp<'_>,
        view: &ReadView,
        stored: &[Stored<'_>],
        rows: &mut Vec<(RowId, Row)>,
    ) -> Result<bool> {
        let Some(map) = place.delta.map(&self.key) else {
            return Ok(false);
        };
        let own = view.own.as_ref().filter(|own| !own.fragments.is_empty());
        let own = own.map(|own| (own, own.maps.iter().find(|map| map.columns() == self.key)));
        if own.as_ref().is_some_and(|(_, map)| map.is_none()) {
            return Ok(false);
        }
        let seen = |home: RowHome, fragment: &Fragment, row: u32| {
            if !view.sees(home, fragment, row) {
                return None;
            }
            let (shape, tuples) = (fragment.shape(), fragment.read());
            let tuple = tuples.tuple(row);
            let mut values = self.key.iter().zip(stored);
            if !values.all(|(column, value)| shape.stored(tuple, *column) == Some(value)) {
                return None;
            }
            let values = self.columns.iter();
            let values = values.map(|column| shape.value(tuple, *column));
            Some((home.row(row), values.collect::<Row>()))
        };
        if let Some((own, Some(map))) = own {
            map.visit_newest(stored, |number| {
                let found = own.find(number);
                let found = found.and_then(|(fragment, row)| {
                    seen(RowHome::Own(fragment.first()), &fragment, row)
                });
                let is_found = found.is_some();
                rows.extend(found);
                is_found && self.unique
            });
            if self.unique && !rows.is_empty() {
                return Ok(true);
            }
        }
        let mut gone = Vec::new();
        map.visit_newest(stored, |number| {
            let Some((fragment, row)) = place.delta.find(number) else {
                return false;
            };
            let home = RowHome::Fragment(fragment.first());
            let found = seen(home, &fragment, row);
            let is_found = found.is_some();
            rows.extend(found);
            if !is_found && is_gone(home, &fragment, row) {
                gone.push((fragment, row));
            }
            is_found && self.unique
        });
        place.delta.forget(&gone);
        Ok(true)
    }
}
