//! Hash aggregation (H6, Q8): a table per thread, merged at the end by parts of the keys.

mod accumulate;
mod add;
mod codes;
mod find;
mod groups;
mod lead;
mod ordered;
mod parting;
mod states;
mod texts;

use self::accumulate::Accumulator;
use self::codes::CodeMap;
use self::groups::Groups;
pub use self::lead::Lead;
use self::lead::Rest;
use self::ordered::slices;
pub(crate) use self::parting::Parting;
use crate::Result;
use crate::expression::Expression;
use crate::keys::Keys;
use crate::vector::{Batch, Kind, Vector};
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
    /// Whether groups may be computed of rows of which some do not count: their keys may
    /// be codes, and nothing is evaluated that minds.
    pub(crate) fn takes_selected(&self) -> bool {
        let texts = self
            .keys
            .iter()
            .all(|(_, kind)| Kind::of(kind) == Kind::Text);
        let keys = self.keys.iter().map(|(key, _)| key);
        let aggregates = self.aggregates.iter();
        let inputs = aggregates.flat_map(|one| one.argument.iter().chain(&one.filter));
        texts && !keys.chain(inputs).any(Expression::is_risky)
    }

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
