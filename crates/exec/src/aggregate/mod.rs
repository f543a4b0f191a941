//! Hash aggregation (H6, Q8): a table per thread, merged at the end by parts of the keys.

mod accumulate;
mod codes;
mod groups;
mod lead;
mod ordered;
mod parting;
mod states;
mod texts;

use self::accumulate::{Accumulator, count_all};
use self::codes::CodeMap;
use self::groups::{Groups, NO_GROUP};
pub use self::lead::Lead;
use self::lead::Rest;
use self::ordered::slices;
pub(crate) use self::parting::Parting;
use crate::expression::Expression;
use crate::keys::Keys;
use crate::vector::{Batch, Kind, Values, Vector};
use crate::{Error, Result};
use arrow_schema::DataType;

/// What is computed of the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// How many values; without an argument, how many rows.
    Count,
    /// Their sum.
    Sum,
    /// Their sum times a factor by their number, as decimals with more digits have it.
    Average {
        /// 1 for floats.
        factor: i128,
    },
    /// The least value.
    Least,
    /// The greatest value.
    Greatest,
}

/// One aggregate.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// What is computed.
    pub function: Function,
    /// Of which values.
    pub argument: Option<Expression>,
    /// Of which rows, if not all.
    pub filter: Option<Expression>,
    /// Type of the argument; that of the result where there is none.
    pub input: DataType,
    /// Type of the result.
    pub kind: DataType,
}

/// Keys and aggregates of a GROUP BY; without keys there is one group, also of no rows.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// What rows are grouped by, and the types of that.
    pub keys: Vec<(Expression, DataType)>,
    /// What is computed of each group.
    pub aggregates: Vec<Aggregate>,
    /// Which key leads to the groups, as far as that was learnt.
    pub lead: Lead,
}

impl Grouping {
    fn kinds(&self) -> Vec<Kind> {
        let kinds = self.keys.iter().map(|(_, kind)| Kind::of(kind));
        kinds.collect()
    }
}

/// The groups that one thread has seen.
#[derive(Debug)]
pub(crate) struct GroupTable<'a> {
    grouping: &'a Grouping,
    /// What groups are found by: their keys, or one column of those.
    keys: Keys,
    /// That column, and the others.
    led: Option<(usize, Rest)>,
    groups: Groups,
    codes: CodeMap,
    /// Rows of each group.
    rows: Vec<i64>,
    accumulators: Vec<Accumulator>,
}

impl<'a> GroupTable<'a> {
    /// A table without groups.
    pub fn new(grouping: &'a Grouping) -> Result<GroupTable<'a>> {
        match grouping.lead.known() {
            Some(column) => GroupTable::led_by(grouping, column),
            None => GroupTable::of_whole_keys(grouping),
        }
    }

    /// A table without groups, which are found by their whole keys.
    pub fn of_whole_keys(grouping: &'a Grouping) -> Result<GroupTable<'a>> {
        GroupTable::found_by(grouping, &grouping.kinds(), None)
    }

    /// A table whose groups are found by one column of their keys.
    fn led_by(grouping: &'a Grouping, column: usize) -> Result<GroupTable<'a>> {
        let kinds = grouping.kinds();
        let others = kinds.iter().enumerate();
        let others = others.filter(|(number, _)| *number != column);
        let rest = Rest::new(others.map(|(_, kind)| *kind));
        GroupTable::found_by(grouping, &[kinds[column]], Some((column, rest)))
    }

    fn found_by(
        grouping: &'a Grouping,
        kinds: &[Kind],
        led: Option<(usize, Rest)>,
    ) -> Result<GroupTable<'a>> {
        let keys = Keys::new(kinds)?;
        let mut groups = Groups::new(keys.stride);
        let mut accumulators: Vec<_> = grouping.aggregates.iter().map(Accumulator::new).collect();
        if kinds.is_empty() {
            groups.find(&[0]);
            accumulators
                .iter_mut()
                .for_each(|accumulator| accumulator.resize(1));
        }
        Ok(GroupTable {
            keys,
            led,
            rows: vec![0; groups.len()],
            groups,
            codes: CodeMap::default(),
            accumulators,
            grouping,
        })
    }

    /// The same groups, found by their whole keys.
    fn whole(self) -> Result<GroupTable<'a>> {
        if self.led.is_none() {
            return Ok(self);
        }
        let mut table = GroupTable::of_whole_keys(self.grouping)?;
        let batch = self.keys.columns(&self.groups.keys);
        let keys = key_columns(batch.columns, self.led)?;
        table.find_whole(&keys, batch.rows)?;
        (table.rows, table.accumulators) = (self.rows, self.accumulators);
        Ok(table)
    }

    /// Takes in some rows.
    pub fn add(&mut self, batch: &Batch) -> Result<()> {
        let keys = self
            .grouping
            .keys
            .iter()
            .map(|(key, _)| key.evaluate(batch));
        let keys = keys.collect::<Result<Vec<Vector>>>()?;
        if self.led.is_none() && self.groups.len() == 0 {
            let kinds = self.grouping.kinds();
            if let Some(column) = self.grouping.lead.guess(&kinds, &keys, batch.rows) {
                *self = GroupTable::led_by(self.grouping, column)?;
            }
        }
        let ids = self.find(&keys, batch.rows)?;
        let count = self.groups.len();
        self.rows.resize(count, 0);
        for (aggregate, accumulator) in self.grouping.aggregates.iter().zip(&mut self.accumulators)
        {
            accumulator.resize(count);
            let argument = aggregate.argument.as_ref();
            let vector = argument
                .map(|argument| argument.evaluate(batch))
                .transpose()?;
            let nulls = vector.as_ref().and_then(|vector| vector.nulls.as_ref());
            let wanted = aggregate.filter.as_ref();
            let wanted = wanted.map(|filter| filter.passing(batch)).transpose()?;
            if nulls.is_none() && wanted.is_none() {
                accumulator.add(vector.as_ref(), &ids, count, None)?;
                continue;
            }
            let left = |row: usize| {
                nulls.is_none_or(|nulls| nulls.is_valid(row))
                    && wanted.as_ref().is_none_or(|wanted| wanted.value(row))
            };
            let some = ids.iter().enumerate();
            let some: Vec<u32> = some
                .map(|(row, id)| if left(row) { *id } else { NO_GROUP })
                .collect();
            accumulator.add(vector.as_ref(), &some, count, Some(&self.rows))?;
        }
        count_all(&mut self.rows, &ids, count);
        Ok(())
    }

    /// The group of each row.
    fn find(&mut self, keys: &[Vector], rows: usize) -> Result<Vec<u32>> {
        if let Some((column, rest)) = &mut self.led {
            let column = *column;
            // A lead that is NULL, or of another form, leads nowhere.
            if matches!(
                &keys[column],
                Vector {
                    values: Values::Int(_),
                    nulls: None
                }
            ) {
                let words = self.keys.words(&keys[column..=column], rows)?;
                let ids = self.groups.find(&words);
                let others = keys.iter().enumerate();
                let others = others.filter(|(number, _)| *number != column);
                if rest.add(others.map(|(_, key)| key), &ids, self.groups.len()) {
                    return Ok(ids);
                }
                self.complete();
            }
            self.grouping.lead.give_up();
            let empty = GroupTable::of_whole_keys(self.grouping)?;
            *self = std::mem::replace(self, empty).whole()?;
        }
        self.find_whole(keys, rows)
    }

    /// Lets every group have its row count and states, of no rows so far.
    fn complete(&mut self) {
        let count = self.groups.len();
        self.rows.resize(count, 0);
        self.accumulators
            .iter_mut()
            .for_each(|accumulator| accumulator.resize(count));
    }

    /// The group of each row, by its whole key.
    fn find_whole(&mut self, keys: &[Vector], rows: usize) -> Result<Vec<u32>> {
        if keys.is_empty() {
            return Ok(vec![0; rows]);
        }
        if let Some(places) = self.codes.places(keys, rows) {
            if let Some(groups) = self.codes.groups(&places) {
                return Ok(groups);
            }
            let new = self.codes.unknown(&places);
            let keys = keys.iter().map(|key| key.take(&new));
            let keys = keys.collect::<Result<Vec<Vector>>>()?;
            let words = self.keys.words(&keys, new.len())?;
            self.codes.learn(&places, &new, &self.groups.find(&words));
            let groups = self.codes.groups(&places);
            return groups.ok_or_else(|| Error::internal("a group that was not found"));
        }
        if keys.iter().any(|key| key.nulls.is_some()) {
            self.allow_nulls();
        }
        let words = self.keys.words(keys, rows)?;
        Ok(self.groups.find(&words))
    }

    fn allow_nulls(&mut self) {
        if !self.keys.is_nullable() {
            self.keys.allow_nulls();
            self.groups.lengthen();
        }
    }

    /// How many groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Tables whose groups are found in the same way.
    pub fn alike(tables: Vec<GroupTable<'a>>) -> Result<Vec<GroupTable<'a>>> {
        let leads = |table: &GroupTable<'_>| table.led.as_ref().map(|(column, _)| *column);
        let mut tables = tables;
        if tables.iter().any(|table| table.len() > 0) {
            tables.retain(|table| table.len() > 0);
        }
        let first = tables.first().and_then(leads);
        match tables.iter().all(|table| leads(table) == first) {
            true => Ok(tables),
            false => GroupTable::all_whole(tables),
        }
    }

    /// Tables whose groups are found by their whole keys.
    pub fn all_whole(tables: Vec<GroupTable<'a>>) -> Result<Vec<GroupTable<'a>>> {
        tables.into_iter().map(GroupTable::whole).collect()
    }

    /// One part of the groups of some tables that are alike; `None` if groups of the
    /// same lead contradict each other.
    pub fn merged(
        tables: &[GroupTable<'a>],
        grouping: &'a Grouping,
        parting: &Parting,
        part: usize,
    ) -> Result<Option<GroupTable<'a>>> {
        let led = tables.first().and_then(|table| table.led.as_ref());
        let mut all = match led {
            Some((column, _)) => GroupTable::led_by(grouping, *column)?,
            None => GroupTable::of_whole_keys(grouping)?,
        };
        let groups: usize = tables.iter().map(GroupTable::len).sum();
        all.groups.expected = groups / parting.parts();
        let in_order = slices(tables, parting, part).unwrap_or_default();
        for (table, groups) in &in_order {
            if !all.absorb_groups(table, groups.clone().collect()) {
                return Ok(None);
            }
        }
        for table in tables.iter().filter(|_| in_order.is_empty()) {
            if !all.absorb(table, parting, part) {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Takes in one part of the groups of another table that is like this one; false,
    /// and no use, if groups of the same lead contradict each other.
    pub fn absorb(&mut self, table: &GroupTable<'a>, parting: &Parting, part: usize) -> bool {
        self.absorb_groups(table, parting.groups(table, part))
    }

    fn absorb_groups(&mut self, table: &GroupTable<'a>, from: Vec<u32>) -> bool {
        if table.keys.is_nullable() && !self.grouping.keys.is_empty() {
            self.allow_nulls();
        }
        let stride = table.keys.stride;
        let mut keys = Vec::with_capacity(from.len() * self.keys.stride);
        for group in &from {
            let (first, start) = (*group as usize * stride, keys.len());
            keys.extend_from_slice(&table.groups.keys[first..first + stride]);
            keys.resize(start + self.keys.stride, 0);
            self.keys.translated(&table.keys, &mut keys[start..]);
        }
        let to = self.groups.find(&keys);
        let pairs: Vec<(u32, u32)> = from.into_iter().zip(to).collect();
        let count = self.groups.len();
        if let (Some((_, rest)), Some((_, others))) = (&mut self.led, &table.led)
            && !rest.absorb(others, &pairs, count)
        {
            return false;
        }
        self.rows.resize(count, 0);
        for (to, from) in self.accumulators.iter_mut().zip(&table.accumulators) {
            to.resize(count);
            to.merge(from, &pairs, (&self.rows, &table.rows));
        }
        for (from, to) in pairs {
            self.rows[to as usize] += table.rows[from as usize];
        }
        true
    }

    /// The keys and results of all groups.
    pub fn finish(self) -> Result<Batch> {
        let rows = self.groups.len();
        let keys = self.keys.columns(&self.groups.keys);
        let columns = key_columns(keys.columns, self.led)?;
        let mut batch = Batch { columns, rows };
        for accumulator in self.accumulators {
            batch.columns.push(accumulator.finish(&self.rows)?);
        }
        Ok(batch)
    }
}

/// The columns of keys from those that groups are found by and the others.
fn key_columns(mut found_by: Vec<Vector>, led: Option<(usize, Rest)>) -> Result<Vec<Vector>> {
    if let Some((column, rest)) = led {
        let mut all = rest.vectors()?;
        all.splice(column..column, found_by.drain(..));
        return Ok(all);
    }
    Ok(found_by)
}
