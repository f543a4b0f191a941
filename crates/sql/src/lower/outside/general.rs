//! Any aggregate: by states of the language front.
//!
//! Rows of a batch are brought into the order of their groups, so that each group's rows are a
//! slice. Calls that need an order or different values keep their rows until the end. The bulk
//! engine partitions rows by their groups, and spills rows of groups that find no memory (`exec::fold`).
//!
//! With grouping sets every row comes once for each set.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, UInt32Array, cast::AsArray, new_null_array,
};
use arrow::compute::{SortOptions, concat, take};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use freestone_exec as exec;
use freestone_exec::vector::{Batch, Vector};
use freestone_exec::{Folded, Folder, Folding, Node, Plan};
use freestone_frontend::functions::aggregates::{Aggregate, Direction, Kind, State};
use freestone_frontend::functions::kernel::Call;
use freestone_frontend::interrupt;
use freestone_frontend::types::Type;

use super::super::Surroundings;
use super::super::canonical::{Encoder, Row};
use crate::error::{Error, Result};
use crate::values::buffers::Counted;
use crate::values::with_kind;

/// Results that are given at once.
const RESULTS: usize = 8192;
/// In the place of a group, that a row has none.
const NO_GROUP: u32 = u32::MAX;

/// A call, with the places of what it reads.
#[derive(Debug)]
pub(in super::super) struct Spec {
    pub(in super::super) function: Arc<Aggregate>,
    /// Direct arguments, each in a column for each grouping set, in which keys that are not in
    /// the set are NULL; with their values if these depend on no row.
    pub(in super::super) direct: Vec<(Vec<usize>, Option<ArrayRef>)>,
    pub(in super::super) arguments: Vec<usize>,
    /// Types of both.
    pub(in super::super) types: Vec<Type>,
    pub(in super::super) distinct: bool,
    pub(in super::super) filter: Option<usize>,
    /// Keys of the order, in canonical form.
    pub(in super::super) order: Vec<(usize, SortOptions)>,
    pub(in super::super) returns: Type,
}

impl Spec {
    /// Whether rows are kept until the end.
    fn keeps(&self) -> bool {
        self.distinct || !self.order.is_empty() && self.function.follows_order()
    }

    /// Whether a state takes more memory with every row.
    fn grows(&self) -> bool {
        self.keeps() || self.function.follows_order() || self.function.kind != Kind::Plain
    }

    fn call<'a>(&'a self, rows: usize, around: &'a Surroundings) -> Call<'a> {
        Call {
            rows,
            types: &self.types,
            returns: &self.returns,
            session: &around.session,
        }
    }

    fn state(&self, direct: &[ArrayRef], around: &Surroundings) -> Result<Box<dyn State>> {
        let mut state = (self.function.state)(&self.call(1, around), direct)?;
        let directions = self.order.iter().map(|(_, options)| Direction {
            descending: options.descending,
            nulls_first: options.nulls_first,
        });
        state.set_order(&directions.collect::<Vec<_>>());
        Ok(state)
    }
}

/// See the module.
#[derive(Clone)]
pub(in super::super) struct General {
    /// Types of the keys, which are the first columns.
    pub(in super::super) keys: Vec<Type>,
    /// Grouping sets, as places of keys.
    pub(in super::super) sets: Vec<Vec<usize>>,
    pub(in super::super) calls: Arc<Vec<Spec>>,
    /// GROUPING: the keys that each tells of.
    pub(in super::super) grouping: Vec<Vec<usize>>,
    pub(in super::super) around: Surroundings,
    /// Types of the columns that it is given, and of those of its result.
    pub(in super::super) given: Vec<DataType>,
    pub(in super::super) results: Vec<DataType>,
}

impl fmt::Debug for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls.iter().map(|call| &*call.function.name);
        let calls = calls.collect::<Vec<_>>().join(", ");
        write!(f, "[{calls}] by {} keys", self.keys.len())
    }
}

impl General {
    /// The node of the bulk engine over rows that have the columns.
    pub(in super::super) fn node(self, input: Plan, estimate: f64) -> Plan {
        let unordered = |spec: &Spec| spec.order.is_empty() && spec.function.follows_order();
        let types = self.results.clone();
        let folding = Folding {
            sets: self.sets.len(),
            ordered: self.calls.iter().any(unordered),
            keeps: self.calls.iter().any(Spec::grows),
            folder: Arc::new(self),
        };
        Plan::new(Node::Fold(Box::new(input), folding), types, estimate)
    }

    /// The columns of some rows.
    fn arrays(&self, rows: &Batch) -> exec::Result<Vec<ArrayRef>> {
        let columns = rows.columns.iter().zip(&self.given);
        columns
            .map(|(column, kind)| column.to_arrow(kind))
            .collect()
    }
}

impl Folder for General {
    fn begin(&self, set: usize) -> exec::Result<Box<dyn Folded>> {
        let keys = self.sets[set].iter().map(|at| self.keys[*at].clone());
        Ok(Box::new(Groups {
            encoder: Encoder::new(keys.collect()),
            keys: vec![Vec::new(); self.sets[set].len()],
            set: self.sets[set].clone(),
            node: self.clone(),
            number: set,
            known: HashMap::new(),
            groups: Vec::new(),
            counted: Counted::default(),
            bytes: 0,
        }))
    }

    fn hashes(&self, set: usize, rows: &Batch) -> exec::Result<Option<Vec<u64>>> {
        let set = &self.sets[set];
        if set.is_empty() {
            return Ok(None);
        }
        let all = self.arrays(rows)?;
        let columns: Vec<ArrayRef> = set.iter().map(|at| Arc::clone(&all[*at])).collect();
        let types = set.iter().map(|at| self.keys[*at].clone());
        let encoded = Encoder::new(types.collect()).rows(&columns);
        let encoded = encoded?;
        let hash = BuildHasherDefault::<DefaultHasher>::default();
        let hashes = encoded.iter().map(|row| hash.hash_one(row.as_ref()));
        Ok(Some(hashes.collect()))
    }
}

/// What is known for one call in one group.
enum Known {
    State(Box<dyn State>),
    /// Rows that are kept: arguments, then keys of the order.
    Rows(Vec<ArrayRef>, Vec<Vec<ArrayRef>>),
}

struct Group {
    calls: Vec<Known>,
}

/// Groups of one grouping set.
struct Groups {
    node: General,
    /// The number of the set.
    number: usize,
    set: Vec<usize>,
    encoder: Encoder,
    known: HashMap<Row, u32>,
    groups: Vec<Group>,
    /// Values of the keys, a part for each batch that had new groups.
    keys: Vec<Vec<ArrayRef>>,
    /// Buffers of values that are kept.
    counted: Counted,
    bytes: usize,
}

impl Folded for Groups {
    fn add(&mut self, rows: &Batch, begin: bool) -> exec::Result<Vec<u32>> {
        let columns = self.node.arrays(rows)?;
        Ok(self.add_rows(&columns, rows.rows, begin)?)
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn finish(mut self: Box<Self>) -> exec::Result<Vec<Batch>> {
        self.finish_keys()?;
        let mut batches = Vec::new();
        let groups = self.groups.len();
        for first in (0..groups).step_by(RESULTS) {
            let (columns, rows) = self.results(first..groups.min(first + RESULTS))?;
            let columns = columns.iter().map(Vector::from_arrow);
            batches.push(Batch {
                columns: columns.collect::<exec::Result<_>>()?,
                rows,
            });
        }
        Ok(batches)
    }
}

impl Groups {
    /// Adds rows; returns those of groups that are not known, if none may begin.
    fn add_rows(&mut self, columns: &[ArrayRef], rows: usize, begin: bool) -> Result<Vec<u32>> {
        if rows == 0 {
            return Ok(Vec::new());
        }
        let node = self.node.clone();
        let before = self.groups.len();
        let (of, firsts) = self.groups_of(columns, rows, begin)?;
        for first in &firsts {
            let group = self.group(Some((columns, *first)))?;
            self.groups.push(group);
        }
        let mut bytes = 0;
        if !firsts.is_empty() {
            let firsts = UInt32Array::from(firsts);
            for (at, parts) in self.set.iter().zip(&mut self.keys) {
                let part = take(&columns[*at], &firsts, None)?;
                bytes += self.counted.array(&part);
                parts.push(part);
            }
        }
        bytes += (self.groups.len() - before) * (160 + 96 * node.calls.len());
        // Places of rows by group, in their order within each.
        let every = 0..rows as u32;
        let (mut order, left): (Vec<u32>, Vec<u32>) =
            every.partition(|at| of[*at as usize] != NO_GROUP);
        order.sort_by_key(|at| of[*at as usize]);
        let mut freed = 0;
        for (number, spec) in node.calls.iter().enumerate() {
            let kept = kept(spec, columns, &order)?;
            if kept.is_empty() {
                continue;
            }
            let places = UInt32Array::from(kept.clone());
            let read = spec.arguments.iter();
            let mut read: Vec<usize> = read.copied().collect();
            let keeps = spec.keeps();
            if keeps {
                read.extend(spec.order.iter().map(|(at, _)| *at));
            }
            let mut values = Vec::with_capacity(read.len());
            for at in read {
                let value = take(&columns[at], &places, None)?;
                bytes += if keeps { self.counted.array(&value) } else { 0 };
                values.push(value);
            }
            let mut start = 0;
            while start < kept.len() {
                let group = of[kept[start] as usize];
                let mut end = start + 1;
                while end < kept.len() && of[kept[end] as usize] == group {
                    end += 1;
                }
                let slices = values.iter().map(|value| value.slice(start, end - start));
                let slices: Vec<ArrayRef> = slices.collect();
                let group = &mut self.groups[group as usize];
                match &mut group.calls[number] {
                    Known::State(state) => {
                        let held = state.size();
                        let call = spec.call(end - start, &node.around);
                        state.add(&call, &slices)?;
                        let now = state.size();
                        bytes += now.saturating_sub(held);
                        freed += held.saturating_sub(now);
                    }
                    Known::Rows(_, rows) => rows.push(slices),
                }
                start = end;
            }
        }
        self.bytes = (self.bytes + bytes).saturating_sub(freed);
        Ok(left)
    }

    /// The group of each row, and the first row of each new one; no group where none may begin.
    fn groups_of(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        begin: bool,
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        if self.set.is_empty() {
            let firsts = match self.groups.is_empty() {
                true => vec![0],
                false => Vec::new(),
            };
            return Ok((vec![0; rows], firsts));
        }
        let keys: Vec<ArrayRef> = self
            .set
            .iter()
            .map(|at| Arc::clone(&columns[*at]))
            .collect();
        let encoded = self.encoder.rows(&keys)?;
        let mut firsts = Vec::new();
        let mut of = Vec::with_capacity(rows);
        for at in 0..rows {
            let next = self.known.len() as u32;
            let row = encoded.row(at).owned();
            let group = match begin {
                true => *self.known.entry(row).or_insert_with(|| {
                    firsts.push(at as u32);
                    next
                }),
                false => self.known.get(&row).copied().unwrap_or(NO_GROUP),
            };
            of.push(group);
        }
        Ok((of, firsts))
    }

    /// A new group; `first` is its first row, if it has one.
    fn group(&mut self, first: Option<(&[ArrayRef], u32)>) -> Result<Group> {
        let node = &self.node;
        let mut calls = Vec::with_capacity(node.calls.len());
        for spec in node.calls.iter() {
            let mut direct = Vec::with_capacity(spec.direct.len());
            for ((places, constant), ty) in spec.direct.iter().zip(&spec.types) {
                let place = places.get(self.number);
                direct.push(match (constant, place.zip(first)) {
                    (Some(value), _) => with_kind(Arc::clone(value), &ty.arrow())?,
                    (None, Some((at, (columns, row)))) => {
                        take(&columns[*at], &UInt32Array::from(vec![row]), None)?
                    }
                    (None, None) => new_null_array(&ty.arrow(), 1),
                });
            }
            calls.push(match spec.keeps() {
                true => Known::Rows(direct, Vec::new()),
                false => {
                    let state = spec.state(&direct, &node.around)?;
                    self.bytes += state.size();
                    Known::State(state)
                }
            });
        }
        Ok(Group { calls })
    }

    /// Joins the parts of keys; without keys there is a group even if there are no rows.
    fn finish_keys(&mut self) -> Result<()> {
        self.known = HashMap::new();
        if self.set.is_empty() && self.groups.is_empty() {
            let group = self.group(None)?;
            self.groups.push(group);
        }
        for parts in &mut self.keys {
            if parts.len() > 1 {
                let all: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
                *parts = vec![concat(&all)?];
            }
        }
        Ok(())
    }

    /// The result's columns for some groups.
    fn results(&mut self, range: std::ops::Range<usize>) -> Result<(Vec<ArrayRef>, usize)> {
        let (node, rows) = (&self.node, range.len());
        let mut columns = Vec::new();
        for (at, ty) in node.keys.iter().enumerate() {
            let place = self.set.iter().position(|known| *known == at);
            let values = place.and_then(|place| self.keys[place].first());
            columns.push(match values {
                Some(values) => values.slice(range.start, rows),
                None => new_null_array(&ty.arrow(), rows),
            });
        }
        for (number, spec) in node.calls.iter().enumerate() {
            let kind = spec.returns.arrow();
            let mut results = Vec::with_capacity(rows);
            for group in &mut self.groups[range.clone()] {
                interrupt::check()?;
                let result = match &mut group.calls[number] {
                    Known::State(state) => state.result(&spec.call(1, &node.around))?,
                    Known::Rows(direct, rows) => {
                        let rows = std::mem::take(rows);
                        of_kept(spec, direct, &rows, &node.around)?
                    }
                };
                results.push(with_kind(result, &kind)?);
            }
            let all: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
            columns.push(match all.is_empty() {
                true => new_null_array(&kind, 0),
                false => concat(&all)?,
            });
        }
        for of in &node.grouping {
            let bits = of.iter().fold(0i32, |bits, at| {
                bits << 1 | i32::from(!self.set.contains(at))
            });
            columns.push(Arc::new(Int32Array::from(vec![bits; rows])));
        }
        Ok((columns, rows))
    }
}

/// The rows of an order that a call is given: FILTER and NULLs leave some out.
fn kept(spec: &Spec, columns: &[ArrayRef], order: &[u32]) -> Result<Vec<u32>> {
    let filter: Option<&BooleanArray> = match spec.filter {
        Some(at) => Some(
            columns[at]
                .as_boolean_opt()
                .ok_or_else(|| Error::internal("a condition that is no truth value"))?,
        ),
        None => None,
    };
    let nulls: Vec<&ArrayRef> = match spec.function.skips_nulls {
        true => spec
            .arguments
            .iter()
            .map(|at| &columns[*at])
            .filter(|column| column.null_count() > 0)
            .collect(),
        false => Vec::new(),
    };
    if filter.is_none() && nulls.is_empty() {
        return Ok(order.to_vec());
    }
    let keeps = |row: &u32| {
        let row = *row as usize;
        filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
            && nulls.iter().all(|column| column.is_valid(row))
    };
    Ok(order.iter().copied().filter(keeps).collect())
}

/// The result of a call whose rows were kept.
fn of_kept(
    spec: &Spec,
    direct: &[ArrayRef],
    parts: &[Vec<ArrayRef>],
    around: &Surroundings,
) -> Result<ArrayRef> {
    let mut state = spec.state(direct, around)?;
    if let Some(first) = parts.first() {
        let mut columns = Vec::with_capacity(first.len());
        for at in 0..first.len() {
            let all: Vec<&dyn Array> = parts.iter().map(|part| part[at].as_ref()).collect();
            columns.push(concat(&all)?);
        }
        let keys = columns.split_off(spec.arguments.len());
        let places = chosen(spec, &columns, &keys)?;
        let rows = places.len();
        let places = UInt32Array::from(places);
        let columns = columns.iter().map(|column| take(column, &places, None));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        state.add(&spec.call(rows, around), &columns)?;
    }
    Ok(state.result(&spec.call(1, around))?)
}

/// Places of the rows in the call's order, of equal ones the first if they count once.
fn chosen(spec: &Spec, arguments: &[ArrayRef], keys: &[ArrayRef]) -> Result<Vec<u32>> {
    let rows = arguments.first().or(keys.first()).map_or(0, |c| c.len());
    let mut places: Vec<u32> = (0..rows as u32).collect();
    if !keys.is_empty() {
        let fields = keys.iter().zip(&spec.order).map(|(key, (_, options))| {
            SortField::new_with_options(key.data_type().clone(), *options)
        });
        let order = RowConverter::new(fields.collect())?.convert_columns(keys)?;
        places.sort_by(|a, b| order.row(*a as usize).cmp(&order.row(*b as usize)));
    }
    if spec.distinct {
        let types = spec.types[spec.direct.len()..].to_vec();
        let values = Encoder::new(types).rows(arguments)?;
        if keys.is_empty() {
            places.sort_by(|a, b| values.row(*a as usize).cmp(&values.row(*b as usize)));
        }
        let mut seen = std::collections::HashSet::new();
        places.retain(|at| seen.insert(values.row(*at as usize)));
    }
    Ok(places)
}
