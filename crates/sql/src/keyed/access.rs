//! The keys by which the conditions of a plan find its tables' rows.
//!
//! Conditions go down from filters and joins to the tables, as far as a row that fails them
//! cannot matter for the result. A condition allows a table some *alternatives*: each gives
//! some of its columns one value. `a = 1` has one, `a IN (1, 2)` two, and
//! `(a = 1 AND b = 2) OR (a = 3 AND b = 4)` two of two columns each; columns that are equal by
//! a condition share their values. An alternative may also bound columns, as `a BETWEEN 1 AND 9`
//! does. An access is there if every alternative gives all columns of a primary key or UNIQUE
//! constraint a value, or the first columns of one or of an index; bounds of the next column narrow
//! the rows. Bounds of the first column alone do where there is a least and a greatest value. The
//! values may come from the rows of another table that is read before, whose columns they equal:
//!
//! ```text
//! FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = $1
//!
//! orders by ($1), then users by the user_id of each row
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use freestone_frontend::evaluate::{Input, evaluate, expanded};
use freestone_frontend::functions::Session;
use freestone_frontend::plan::{
    Column as Read, ColumnId, Expr, ExprKind, JoinKind, Plan, Relation,
};
use freestone_frontend::types::Type;
use freestone_storage::row::cell;
use freestone_storage::{
    ColumnType, CompareOp, Foremost, IndexKind, KeyLookUp, Predicate, Snapshot, Table, TableId,
    TableSchema, Value,
};

use super::cells::whole;
use super::given::Parameters;
use super::is_readable;
use crate::lower::Handle;
use crate::relations::may_read;
use crate::scan::ROW_ID;

/// Most tables: the way to each is asked for again when another's rows are found.
const MOST_TABLES: usize = 12;
/// Up to so many keys, each is compared with all others to leave out duplicates; beyond, they are
/// hashed.
const FEW_KEYS: usize = 32;
/// Most keys of one table.
const MOST_KEYS: usize = 1_000;

/// A table and the keys of the rows that are read of it.
#[derive(Debug)]
pub(super) struct Access {
    /// The address of the relation in the plan, by which its scan is told from others.
    pub(super) relation: usize,
    /// Its number: a plan that is kept serves later versions of the table with the same columns.
    table: TableId,
    /// Its schema and name, by which it is found sooner.
    name: (String, String),
    pub(super) by: By,
    /// The columns of the plan, and whether each is the row's id.
    pub(super) read: Vec<(Read, bool)>,
    /// Positions in the table of those that are no ids.
    pub(super) columns: Vec<usize>,
    /// The rows that the plan reads, once some were found.
    pub(super) schema: OnceLock<SchemaRef>,
    /// Whether the rows of its keys meet all conditions of the table, so that none is to be tested.
    pub(super) is_exact: bool,
    /// Where the values of each key, or of its first columns, and the bounds come from.
    keys: Vec<Key<Source>>,
    /// The access, among those before it, whose rows give it values.
    after: Option<usize>,
    /// Its look-ups that are not in the workload record yet.
    pub(super) uncounted: Uncounted,
}

/// Look-ups that are to be noted in the workload record: the first ones one by one, later ones some
/// at a time. Noting one takes as long as finding a row. Those that wait when the plan is dropped are not
/// noted.
#[derive(Debug, Default)]
pub(super) struct Uncounted {
    all: AtomicU64,
    times: AtomicU64,
    rows: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Uncounted {
    /// Look-ups that are noted together.
    const TOGETHER: u64 = 16;

    /// Counts a look-up; gives the number of those that are to be noted now, and the rows and the
    /// time of each on average.
    pub(super) fn add(&self, rows: usize, took: Duration) -> Option<(u64, f64, Duration)> {
        // In range: five centuries.
        let nanoseconds = took.as_nanos() as u64;
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        let all = self.all.fetch_add(1, Ordering::Relaxed);
        let times = self.times.fetch_add(1, Ordering::Relaxed) + 1;
        if all >= Self::TOGETHER && times < Self::TOGETHER {
            return None;
        }
        // Another session may note them at the same time.
        let times = self.times.swap(0, Ordering::Relaxed);
        let rows = self.rows.swap(0, Ordering::Relaxed);
        let nanoseconds = self.nanoseconds.swap(0, Ordering::Relaxed);
        let each = nanoseconds.checked_div(times)?;
        let rows = rows as f64 / times as f64;
        Some((times, rows, Duration::from_nanos(each)))
    }
}

/// The way to the rows.
#[derive(Debug)]
pub(super) enum By {
    /// All columns of a key.
    Key(KeyLookUp),
    /// The first columns of a key or an index, and bounds of others.
    First {
        /// These columns, and others that have to equal values.
        columns: Vec<usize>,
        /// Whether the next column, or the first one if none has a value, is bounded.
        is_bounded: bool,
        /// If a LIMIT wants only rows that come first in the order of the next column, that and
        /// which.
        foremost: Option<(usize, Limited)>,
    },
}

/// The rows that a LIMIT leaves of those with one key.
#[derive(Clone, Debug)]
pub(super) struct Limited {
    /// The column in whose order they come first; `None` if any rows do.
    column: Option<usize>,
    descending: bool,
    count: Source,
    /// How many of the first rows OFFSET leaves out.
    offset: Source,
}

/// The values of a key, or of its first columns, and the bounds of other columns.
#[derive(Clone, Debug)]
pub(super) struct Key<V> {
    pub(super) values: Vec<V>,
    pub(super) bounds: Vec<Bounded<V>>,
}

impl Key<Value> {
    /// Whether it is the same key as another.
    fn is(&self, other: &Key<Value>) -> bool {
        let alike = |one: &Value, two: &Value| one.total_order(two).is_eq();
        let mut values = self.values.iter().zip(&other.values);
        let mut bounds = self.bounds.iter().zip(&other.bounds);
        self.bounds.len() == other.bounds.len()
            && values.all(|(one, two)| alike(one, two))
            && bounds.all(|(one, two)| {
                (one.column, one.op) == (two.column, two.op) && alike(&one.value, &two.value)
            })
    }
}

/// A bound of a column.
#[derive(Clone, Debug)]
pub(super) struct Bounded<V> {
    column: usize,
    op: CompareOp,
    value: V,
}

/// Where a value of a key comes from.
#[derive(Clone, Debug)]
enum Source {
    /// The plan; `None` is NULL, which equals nothing.
    Given(Option<Value>),
    /// The parameter of this number, from 1.
    Parameter(usize),
    /// The column of this place in the rows of the access that comes before.
    Row(usize),
    /// A value that is computed of parameters, such as `$1 - 20`.
    Computed(Box<Expr>),
}

/// The values that a run of a query is given.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) parameters: &'a Parameters<'a>,
    pub(super) session: &'a Session,
}

impl Given<'_> {
    /// The value of an expression without columns; the outer `None` if it cannot be computed, the
    /// inner one is NULL.
    fn computed(&self, expr: &Expr) -> Option<Option<Value>> {
        whole(expr, self.parameters).or_else(|| {
            let input = Input {
                parameters: self.parameters.arrays(),
                ..Input::new(1, &|_| None, self.session)
            };
            let array = expanded(&evaluate(expr, &input).ok()?, 1);
            (*array.data_type() == expr.ty.arrow()).then(|| cell(&array, 0))
        })
    }
}

impl Source {
    /// The value that is the same for all keys.
    fn value(&self, parameters: &Parameters<'_>) -> Option<Value> {
        match self {
            Source::Given(value) => value.clone(),
            Source::Parameter(number) => parameters.stored(*number)?,
            Source::Row(_) | Source::Computed(_) => None,
        }
    }

    /// The value of a part of a key, for a row of the access that comes before, if there is one; the
    /// outer `None` if it cannot be computed, the inner one is NULL.
    fn of_key(
        &self,
        given: &Given<'_>,
        before: Option<(&RecordBatch, usize)>,
    ) -> Option<Option<Value>> {
        match (self, before) {
            (Source::Row(place), Some((rows, row))) => Some(cell(rows.columns().get(*place)?, row)),
            (Source::Computed(expr), _) => given.computed(expr),
            (other, _) => Some(other.value(given.parameters)),
        }
    }
}

impl Access {
    /// The table as a snapshot has it.
    pub(super) fn table_in<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Arc<Table>> {
        let (schema, name) = &self.name;
        let named = snapshot.table(schema, name);
        let named = named.filter(|table| table.id == self.table);
        named.or_else(|| snapshot.table_by_id(self.table))
    }

    /// Whether a row may be found by several of its keys.
    pub(super) fn may_overlap(&self) -> bool {
        self.keys.len() > 1 && self.keys.iter().any(|key| !key.bounds.is_empty())
    }

    /// Whether rows of another access give its keys.
    pub(super) fn is_after_another(&self) -> bool {
        self.after.is_some()
    }

    /// The keys with the values of parameters and of rows that were found before, each once; those
    /// with a NULL are left out. `None` if a value cannot be computed: another way tells why.
    pub(super) fn values(
        &self,
        given: &Given<'_>,
        found: &[RecordBatch],
    ) -> Option<Vec<Key<Value>>> {
        let mut keys: Vec<Key<Value>> = Vec::with_capacity(self.keys.len());
        let mut add = |before: Option<(&RecordBatch, usize)>| -> Option<()> {
            for key in &self.keys {
                let mut values = Vec::with_capacity(key.values.len());
                for source in &key.values {
                    values.extend(source.of_key(given, before)?);
                }
                let mut bounds = Vec::with_capacity(key.bounds.len());
                for Bounded { column, op, value } in &key.bounds {
                    let value = value.of_key(given, before)?;
                    let (column, op) = (*column, *op);
                    bounds.extend(value.map(|value| Bounded { column, op, value }));
                }
                // One that is NULL is missing.
                if values.len() == key.values.len() && bounds.len() == key.bounds.len() {
                    keys.push(Key { values, bounds });
                }
            }
            Some(())
        };
        match self.after.and_then(|after| found.get(after)) {
            None => add(None)?,
            Some(rows) => (0..rows.num_rows()).try_for_each(|row| add(Some((rows, row))))?,
        }
        match keys.len() {
            0 | 1 => {}
            2..=FEW_KEYS => {
                let mut at = 1;
                while at < keys.len() {
                    let is_known = keys[..at].iter().any(|known| known.is(&keys[at]));
                    match is_known {
                        true => drop(keys.remove(at)),
                        false => at += 1,
                    }
                }
            }
            _ => {
                let mut seen = HashSet::new();
                keys.retain(|key| {
                    let values = key.values.iter().map(bytes).collect::<Vec<_>>();
                    let bounds = key.bounds.iter();
                    let bounds = bounds.map(|one| (one.column, one.op, bytes(&one.value)));
                    seen.insert((values, bounds.collect::<Vec<_>>()))
                });
            }
        }
        Some(keys)
    }
}

impl By {
    /// How narrow the way is, to be compared with others of a plan.
    fn narrow(&self) -> usize {
        match self {
            By::Key(_) => usize::MAX,
            By::First {
                columns,
                is_bounded,
                ..
            } => 2 * columns.len() + usize::from(*is_bounded),
        }
    }

    /// The condition that a key makes; `None` if the way is by whole keys.
    pub(super) fn condition(&self, key: &Key<Value>) -> Option<Predicate> {
        let By::First { columns, .. } = self else {
            return None;
        };
        let compare = |column: usize, op: CompareOp, value: &Value| Predicate::Compare {
            column,
            op,
            value: value.clone(),
        };
        let equal = columns.iter().zip(&key.values);
        let equal = equal.map(|(column, value)| compare(*column, CompareOp::Eq, value));
        let bounds = key.bounds.iter();
        let bounds = bounds.map(|bound| compare(bound.column, bound.op, &bound.value));
        Some(Predicate::And(equal.chain(bounds).collect()))
    }

    /// The condition that several keys make together, if they differ in the values of one column
    /// alone: one look-up of a list finds their rows sooner than one for each.
    pub(super) fn condition_of_all(&self, keys: &[Key<Value>]) -> Option<Predicate> {
        let By::First {
            columns,
            foremost: None,
            ..
        } = self
        else {
            return None;
        };
        let (first, others) = keys.split_first()?;
        let are_bounded = keys.iter().any(|key| !key.bounds.is_empty());
        if others.is_empty() || are_bounded {
            return None;
        }
        let differs = |at: &usize| {
            others
                .iter()
                .any(|key| key.values[*at] != first.values[*at])
        };
        let mut differing = (0..columns.len()).filter(differs);
        let list = differing.next()?;
        if differing.next().is_some() {
            return None;
        }
        let terms = columns.iter().enumerate().map(|(at, column)| {
            let values = keys.iter().map(|key| key.values[at].clone());
            match at == list {
                true => Predicate::In {
                    column: *column,
                    values: values.collect(),
                    negated: false,
                },
                false => Predicate::Compare {
                    column: *column,
                    op: CompareOp::Eq,
                    value: first.values[at].clone(),
                },
            }
        });
        Some(Predicate::And(terms.collect()))
    }

    /// The rows that are wanted of those with one key, if not all of them are.
    pub(super) fn foremost(&self, parameters: &Parameters<'_>) -> Option<Foremost> {
        let By::First {
            foremost: Some((next, limited)),
            ..
        } = self
        else {
            return None;
        };
        let number = |source: &Source| match source.value(parameters)? {
            Value::Int(count) => usize::try_from(count).ok(),
            _ => None,
        };
        Some(Foremost {
            column: *next,
            any: limited.column.is_none(),
            descending: limited.descending,
            count: number(&limited.count)?.checked_add(number(&limited.offset)?)?,
        })
    }
}

/// The accesses of all tables of a plan; `None` if one has none, or the plan has other parts
/// that are not for few rows.
pub(super) fn all(plan: &Plan) -> Option<Vec<Access>> {
    let mut walk = Walk {
        same: Vec::new(),
        open: Vec::new(),
    };
    walk.plan(plan, &[], None)?;
    let mut open = std::mem::take(&mut walk.open);
    if open.len() > MOST_TABLES {
        return None;
    }
    if open.is_empty() {
        return is_given(plan).then(Vec::new);
    }
    let mut found: Vec<Access> = Vec::new();
    while !open.is_empty() {
        // Whole keys come first, as soon as rows that were found give their values. Then comes the
        // table of which the first columns of a key leave least.
        let accesses = open.iter().enumerate();
        let accesses = accesses.map(|(at, scan)| (at, walk.access(scan, &found)));
        let mut best: Option<(usize, usize, Access)> = None;
        for (at, access) in accesses {
            let Some(access) = access else {
                continue;
            };
            let narrow = access.by.narrow();
            if best.as_ref().is_none_or(|(_, known, _)| narrow > *known) {
                best = Some((at, narrow, access));
            }
        }
        let (at, _, access) = best?;
        open.remove(at);
        found.push(access);
    }
    Some(found)
}

/// Whether a plan without tables computes nothing that could take long: its values are given.
fn is_given(plan: &Plan) -> bool {
    let is_call = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Column(_) => false,
        ExprKind::Call { function, .. } => function.name != "cast",
        _ => true,
    };
    let own = plan.expressions();
    !own.iter().any(|expr| expr.any(&mut |part| is_call(part)))
        && plan.inputs().into_iter().all(is_given)
}

/// The table of a relation of a plan, if it is a stored one.
pub(super) fn stored(relation: &Relation) -> Option<&Arc<Table>> {
    let handle = relation.handle.downcast_ref::<Handle>()?;
    let stored = handle.source.stored()?;
    Some(stored.parts().0)
}

/// The order and the number of the rows that matter.
#[derive(Clone, Copy)]
struct Wanted<'p> {
    /// `None` if the first that are found do.
    column: Option<ColumnId>,
    descending: bool,
    count: &'p Expr,
    offset: Option<&'p Expr>,
}

impl<'p> Wanted<'p> {
    /// Of a LIMIT over a sort by one column, or over rows in no order.
    fn of(plan: &'p Plan) -> Option<Wanted<'p>> {
        let Plan::Limit {
            input,
            limit: Some(count),
            offset,
            ties: None,
            percent: false,
        } = plan
        else {
            return None;
        };
        let mut input = &**input;
        while let Plan::Project { input: below, .. } = input {
            input = below;
        }
        let offset = offset.as_ref();
        let mut wanted = Wanted {
            column: None,
            descending: false,
            count,
            offset,
        };
        match input {
            Plan::Sort { keys, .. } => {
                let [key] = keys.as_slice() else {
                    return None;
                };
                let ExprKind::Column(column) = key.expr.kind else {
                    return None;
                };
                wanted.column = Some(column);
                wanted.descending = key.descending;
                Some(wanted)
            }
            Plan::Filter { .. } | Plan::Scan { .. } => Some(wanted),
            _ => None,
        }
    }
}

/// A scan of a plan, with the conditions that its rows must meet to matter.
struct Open<'p> {
    relation: &'p Relation,
    columns: &'p [(Read, usize)],
    above: Vec<&'p Expr>,
    /// If of the rows that meet all of them only the first ones matter, which.
    wanted: Option<Wanted<'p>>,
}

struct Walk<'p> {
    /// Columns that are renamed by projections: the new one and the old one.
    same: Vec<(ColumnId, ColumnId)>,
    /// The scans of the plan.
    open: Vec<Open<'p>>,
}

impl<'p> Walk<'p> {
    /// Goes down a plan with the conditions that its rows must meet to matter; if of the rows
    /// that meet all of them only the first ones do, with these.
    fn plan(
        &mut self,
        plan: &'p Plan,
        above: &[&'p Expr],
        wanted: Option<Wanted<'p>>,
    ) -> Option<()> {
        let unfit = |expr: &&Expr| expr.has_subquery() || expr.is_volatile();
        if plan.expressions().iter().any(unfit) {
            return None;
        }
        match plan {
            Plan::Scan {
                relation,
                columns,
                sample: None,
                ..
            } => {
                self.open.push(Open {
                    relation,
                    columns,
                    above: above.to_vec(),
                    wanted,
                });
                Some(())
            }
            Plan::Filter { input, condition } => {
                let mut all = above.to_vec();
                parts(condition, &mut all);
                self.plan(input, &all, wanted)
            }
            Plan::Project { input, items } => {
                for (column, expr) in items {
                    if let ExprKind::Column(id) = expr.kind {
                        self.same.push((column.id, id));
                    }
                }
                self.plan(input, above, wanted)
            }
            Plan::Join {
                kind,
                left,
                right,
                condition,
                lateral: false,
            } => {
                let (mut both, mut own) = (above.to_vec(), Vec::new());
                if let Some(condition) = condition {
                    parts(condition, &mut own);
                    both.extend(&own);
                }
                let (of_left, of_right): (&[&Expr], &[&Expr]) = match kind {
                    JoinKind::Inner => (&both, &both),
                    // A row of the right side that fails has no partner that matters.
                    JoinKind::Left | JoinKind::Semi | JoinKind::Anti => (above, &both),
                    // Several partners are an error, whatever is asked of them above.
                    JoinKind::Single => (above, &own),
                    // A row that fails may still make the mark unknown.
                    JoinKind::Mark(_) => (above, &[]),
                    JoinKind::Right | JoinKind::Full | JoinKind::AsOf | JoinKind::AsOfLeft => {
                        (&[], &[])
                    }
                };
                self.plan(left, of_left, None)?;
                self.plan(right, of_right, None)
            }
            Plan::Sort { input, .. } => self.plan(input, above, wanted),
            // Rows that fail a condition above these count among the others.
            Plan::Limit { input, .. } => self.plan(input, &[], Wanted::of(plan)),
            Plan::Aggregate { input, .. }
            | Plan::Distinct { input, .. }
            | Plan::Barrier { input } => self.plan(input, &[], None),
            Plan::Values { rows, .. } => (rows.len() <= MOST_KEYS).then_some(()),
            _ => None,
        }
    }

    /// The way to the rows of a scan, after others whose rows are found.
    fn access(&self, scan: &Open<'_>, found: &[Access]) -> Option<Access> {
        let Open {
            relation,
            columns,
            above,
            wanted,
        } = scan;
        let (relation, above) = (*relation, above.as_slice());
        let table = stored(relation)?;
        may_read(table).ok()?;
        let schema = &table.schema;
        if schema.partitioned.is_some() {
            return None;
        }
        let place = |at: usize| {
            let mut all = relation.columns.iter().chain(&relation.hidden);
            let (name, _) = all.nth(at)?;
            Some((name, schema.index_of(name)))
        };
        let (mut read, mut positions) = (Vec::new(), Vec::new());
        let mut places: HashMap<ColumnId, usize> = HashMap::new();
        for (column, at) in *columns {
            match place(*at)? {
                (name, None) if name == ROW_ID => read.push((column.clone(), true)),
                (_, Some(position)) => {
                    let held = schema.columns[position].kind.arrow();
                    if !is_readable(&held, &column.ty) {
                        return None;
                    }
                    places.insert(column.id, position);
                    read.push((column.clone(), false));
                    positions.push(position);
                }
                _ => return None,
            }
        }
        self.spread(&mut places, above);
        let given = alternatives_of(above, &places, schema);
        let own = given.clone().map(|given| (given, None));
        // With values of rows there may be a whole key where there is none without them.
        let of_rows = found.iter().enumerate().filter_map(|(number, access)| {
            let rows = self.values_of_rows(access, (&places, above), schema);
            if rows.equal.is_empty() {
                return None;
            }
            let given = given.clone();
            let given = given.unwrap_or_else(|| vec![Alternative::default()]);
            let with_rows = given.into_iter().map(|mut one| {
                for (at, source) in &rows.equal {
                    one.equal.entry(*at).or_insert_with(|| source.clone());
                }
                one
            });
            Some((with_rows.collect::<Vec<_>>(), Some(number)))
        });
        let ways: Vec<_> = own.into_iter().chain(of_rows).collect();
        let whole = ways.iter().find_map(|(alternatives, after)| {
            let (key, keys) = keys(schema, alternatives)?;
            Some((key, keys, *after))
        });
        let (by, keys, after) = match whole {
            Some((key, keys, after)) => {
                let look_up = KeyLookUp::prepare(schema, &key, &positions).ok()?;
                (By::Key(look_up.of_reader()), keys, after)
            }
            None => ways.iter().find_map(|(alternatives, after)| {
                let wanted = wanted.and_then(|wanted| limited(&wanted, above, &places, schema));
                let (by, keys) = first_columns(schema, alternatives, wanted)?;
                Some((by, keys, *after))
            })?,
        };
        // Every condition is in each of the keys.
        let is_part = |expr: &Expr| alternatives(expr, &places, schema).is_some();
        let is_exact = after.is_none()
            && counts_of(above, &is_part).is_some_and(|counts| {
                let of_keys = keys.iter().map(|key| key.values.len() + key.bounds.len());
                of_keys.eq(counts)
            });
        Some(Access {
            schema: OnceLock::new(),
            is_exact,
            relation: std::ptr::from_ref(relation).addr(),
            table: table.id,
            name: (relation.schema.clone(), relation.name.clone()),
            by,
            read,
            columns: positions,
            keys,
            after,
            uncounted: Uncounted::default(),
        })
    }

    /// The columns of a table that equal columns of rows that are found before, by their places.
    fn values_of_rows(
        &self,
        access: &Access,
        (places, above): (&HashMap<ColumnId, usize>, &[&Expr]),
        schema: &TableSchema,
    ) -> Alternative {
        let read = access.read.iter().enumerate();
        let read = read.filter(|(_, (_, is_id))| !is_id);
        let mut known = read.map(|(at, (column, _))| (column.id, at)).collect();
        self.spread(&mut known, above);
        let own = places.iter().filter_map(|(id, position)| {
            let at = known.get(id)?;
            let is_plain = is_plain(&schema.columns[*position].kind);
            is_plain.then_some((*position, Source::Row(*at)))
        });
        Alternative {
            equal: own.collect(),
            bounds: Vec::new(),
        }
    }

    /// Adds the columns that equal those of a table by a condition or a projection.
    fn spread(&self, places: &mut HashMap<ColumnId, usize>, above: &[&Expr]) {
        let equal = above.iter().filter_map(|expr| {
            let (left, right) = equality(expr)?;
            match (&left.kind, &right.kind) {
                (ExprKind::Column(a), ExprKind::Column(b)) => Some((*a, *b)),
                _ => None,
            }
        });
        let pairs: Vec<(ColumnId, ColumnId)> = equal.chain(self.same.iter().copied()).collect();
        loop {
            let before = places.len();
            for (a, b) in &pairs {
                match (places.get(a).copied(), places.get(b).copied()) {
                    (Some(at), None) => places.insert(*b, at),
                    (None, Some(at)) => places.insert(*a, at),
                    _ => None,
                };
            }
            if places.len() == before {
                return;
            }
        }
    }
}

/// The terms of a conjunction.
fn parts<'p>(condition: &'p Expr, all: &mut Vec<&'p Expr>) {
    match &condition.kind {
        ExprKind::And(terms) => terms.iter().for_each(|term| parts(term, all)),
        _ => all.push(condition),
    }
}

/// Types whose equal values are the same in storage, and which of them can be compared with
/// each other.
fn family(ty: &Type) -> Option<u8> {
    Some(match ty {
        Type::Int2 | Type::Int4 | Type::Int8 => 0,
        Type::Text | Type::Varchar(_) => 1,
        Type::Date => 2,
        Type::Timestamp(_) => 3,
        Type::TimestampTz(_) => 4,
        Type::Uuid => 5,
        _ => return None,
    })
}

/// The sides of `=` between types of one family.
fn equality(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Call {
        function,
        arguments,
    } = &expr.kind
    else {
        return None;
    };
    match (function.name, arguments.as_slice()) {
        ("=", [left, right]) if family(&left.ty)? == family(&right.ty)? => Some((left, right)),
        _ => None,
    }
}

/// Values and bounds of some columns of a table.
#[derive(Clone, Debug, Default)]
struct Alternative {
    /// The columns that have one value, by their positions.
    equal: HashMap<usize, Source>,
    bounds: Vec<Bounded<Source>>,
}

impl Alternative {
    /// Whether a column has a value.
    fn gives(&self, column: usize) -> bool {
        self.equal.contains_key(&column)
    }

    /// Whether a column has a value or a bound.
    fn narrows(&self, column: usize) -> bool {
        self.gives(column) || self.bounds.iter().any(|bound| bound.column == column)
    }

    /// Whether a column has a value, or lies between two.
    fn encloses(&self, column: usize) -> bool {
        let has = |ops: [CompareOp; 2]| {
            let mut bounds = self.bounds.iter();
            bounds.any(|bound| bound.column == column && ops.contains(&bound.op))
        };
        let below = has([CompareOp::Lt, CompareOp::LtEq]);
        self.gives(column) || below && has([CompareOp::Gt, CompareOp::GtEq])
    }

    /// Its values of some columns, and what it says of others of an index as bounds; `None` if one
    /// of the former has no value.
    fn key(&self, columns: &[usize], index: &[usize]) -> Option<Key<Source>> {
        let values = columns.iter().map(|column| self.equal.get(column).cloned());
        let others = index.iter().filter(|column| !columns.contains(column));
        let others = others.filter_map(|column| {
            Some(Bounded {
                column: *column,
                op: CompareOp::Eq,
                value: self.equal.get(column)?.clone(),
            })
        });
        let bounds = self.bounds.iter();
        let bounds = bounds.filter(|bound| index.contains(&bound.column));
        Some(Key {
            values: values.collect::<Option<_>>()?,
            bounds: others.chain(bounds.cloned()).collect(),
        })
    }
}

/// The position of the column that an expression is, as it is or as a wider integer.
fn position(expr: &Expr, places: &HashMap<ColumnId, usize>) -> Option<usize> {
    match &expr.kind {
        ExprKind::Column(id) => places.get(id).copied(),
        ExprKind::Call {
            function,
            arguments,
        } if function.name == "cast" => match arguments.as_slice() {
            [narrow] if is_wider(&expr.ty, &narrow.ty) => position(narrow, places),
            _ => None,
        },
        _ => None,
    }
}

/// Whether every value of an integer type is one of another.
fn is_wider(wide: &Type, narrow: &Type) -> bool {
    matches!(
        (wide, narrow),
        (Type::Int8, Type::Int4 | Type::Int2) | (Type::Int4, Type::Int2)
    )
}

/// The alternatives that a condition allows; `None` if it says nothing of the columns.
fn alternatives(
    expr: &Expr,
    places: &HashMap<ColumnId, usize>,
    schema: &TableSchema,
) -> Option<Vec<Alternative>> {
    let given = |column: &Expr, value: &Expr| {
        let at = position(column, places)?;
        family(&column.ty).filter(|own| family(&value.ty) == Some(*own))?;
        let source = source_of(value, &schema.columns[at].kind)?;
        Some(Alternative {
            equal: HashMap::from([(at, source)]),
            bounds: Vec::new(),
        })
    };
    match &expr.kind {
        ExprKind::InList { value, list, equal } if equal.name == "=" => {
            let each = list.iter().map(|item| given(value, item));
            each.collect()
        }
        ExprKind::Or(terms) => {
            let mut all = Vec::new();
            for term in terms {
                all.extend(alternatives(term, places, schema)?);
                if all.len() > MOST_KEYS {
                    return None;
                }
            }
            Some(all)
        }
        ExprKind::And(_) => {
            let mut terms = Vec::new();
            parts(expr, &mut terms);
            alternatives_of(&terms, places, schema)
        }
        _ => match equality(expr) {
            Some((left, right)) => {
                let one = given(left, right).or_else(|| given(right, left))?;
                Some(vec![one])
            }
            None => Some(vec![Alternative {
                equal: HashMap::new(),
                bounds: vec![bound(expr, places, schema)?],
            }]),
        },
    }
}

/// How many equalities and bounds each alternative of several conditions has, in the order of
/// [`alternatives_of`]; `None` if rows that meet those may fail a condition.
fn counts_of(terms: &[&Expr], is_part: &dyn Fn(&Expr) -> bool) -> Option<Vec<usize>> {
    let mut all: Vec<usize> = vec![0];
    for term in terms {
        let more = counts(term, is_part)?;
        if all.len().saturating_mul(more.len()) > MOST_KEYS {
            return None;
        }
        let pairs = all
            .iter()
            .flat_map(|one| more.iter().map(move |other| one + other));
        all = pairs.collect();
    }
    Some(all)
}

/// How many equalities and bounds each alternative of one condition has; `None` as in [`counts_of`].
fn counts(expr: &Expr, is_part: &dyn Fn(&Expr) -> bool) -> Option<Vec<usize>> {
    match &expr.kind {
        ExprKind::InList { list, .. } => is_part(expr).then(|| vec![1; list.len()]),
        ExprKind::Or(terms) => {
            let mut all = Vec::new();
            for term in terms {
                all.extend(counts(term, is_part)?);
            }
            Some(all)
        }
        ExprKind::And(_) => {
            let mut terms = Vec::new();
            parts(expr, &mut terms);
            counts_of(&terms, is_part)
        }
        _ => is_part(expr).then(|| vec![1]),
    }
}

/// The alternatives that several conditions allow together.
fn alternatives_of(
    terms: &[&Expr],
    places: &HashMap<ColumnId, usize>,
    schema: &TableSchema,
) -> Option<Vec<Alternative>> {
    let mut all: Option<Vec<Alternative>> = None;
    for term in terms {
        let Some(more) = alternatives(term, places, schema) else {
            continue;
        };
        all = Some(match all {
            None => more,
            // Too many together: those of the terms so far are enough, or none are.
            Some(all) if all.len() * more.len() > MOST_KEYS => all,
            Some(all) => {
                let pairs = all
                    .iter()
                    .flat_map(|one| more.iter().map(move |other| (one, other)));
                let joined = pairs.map(|(one, other)| {
                    let mut joined = other.clone();
                    let equal = one.equal.iter();
                    let equal = equal.map(|(at, value)| (*at, value.clone()));
                    joined.equal.extend(equal);
                    joined.bounds.extend(one.bounds.iter().cloned());
                    joined
                });
                joined.collect()
            }
        });
    }
    all
}

/// Where the value of an expression comes from that a column is compared with.
fn source_of(value: &Expr, kind: &ColumnType) -> Option<Source> {
    if !is_plain(kind) {
        return None;
    }
    match &value.kind {
        ExprKind::Literal(array) => Some(Source::Given(cell(array, 0))),
        ExprKind::Parameter(number) => Some(Source::Parameter(*number)),
        _ => {
            let is_constant =
                value.reads().is_empty() && !value.has_subquery() && !value.is_volatile();
            is_constant.then(|| Source::Computed(Box::new(value.clone())))
        }
    }
}

/// Whether a column stores a value of its type as it is.
fn is_plain(kind: &ColumnType) -> bool {
    matches!(
        kind,
        ColumnType::SmallInt
            | ColumnType::Integer
            | ColumnType::BigInt
            | ColumnType::Text
            | ColumnType::Varchar(_)
            | ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::TimestampTz
            | ColumnType::Uuid
    )
}

/// The bound that a condition sets a column of a table.
fn bound(
    expr: &Expr,
    places: &HashMap<ColumnId, usize>,
    schema: &TableSchema,
) -> Option<Bounded<Source>> {
    let ExprKind::Call {
        function,
        arguments,
    } = &expr.kind
    else {
        return None;
    };
    let [left, right] = arguments.as_slice() else {
        return None;
    };
    family(&left.ty).filter(|own| family(&right.ty) == Some(*own))?;
    let (op, turned) = match function.name {
        "<" => (CompareOp::Lt, CompareOp::Gt),
        "<=" => (CompareOp::LtEq, CompareOp::GtEq),
        ">" => (CompareOp::Gt, CompareOp::Lt),
        ">=" => (CompareOp::GtEq, CompareOp::LtEq),
        _ => return None,
    };
    let (column, op, value) = match (position(left, places), position(right, places)) {
        (Some(column), None) => (column, op, right),
        (None, Some(column)) => (column, turned, left),
        _ => return None,
    };
    let value = source_of(value, &schema.columns[column].kind)?;
    Some(Bounded { column, op, value })
}

/// The rows that a LIMIT leaves, if all conditions are of those that a look-up tests: equalities
/// and bounds. Other conditions would be asked of the wrong rows.
fn limited(
    wanted: &Wanted<'_>,
    above: &[&Expr],
    places: &HashMap<ColumnId, usize>,
    schema: &TableSchema,
) -> Option<Limited> {
    let column = match &wanted.column {
        Some(column) => Some(*places.get(column)?),
        None => None,
    };
    let mut bounded = column;
    for term in above {
        let alternatives = alternatives(term, places, schema)?;
        let [one] = alternatives.as_slice() else {
            return None;
        };
        for bound in &one.bounds {
            if *bounded.get_or_insert(bound.column) != bound.column {
                return None;
            }
        }
    }
    let number = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(array) => Some(Source::Given(cell(array, 0))),
        ExprKind::Parameter(number) => Some(Source::Parameter(*number)),
        _ => None,
    };
    Some(Limited {
        column,
        descending: wanted.descending,
        count: number(wanted.count)?,
        offset: match wanted.offset {
            Some(offset) => number(offset)?,
            None => Source::Given(Some(Value::Int(0))),
        },
    })
}

/// The first columns of a key or an index to which every alternative gives values, as many as
/// there are, with the bounds of the next column and the rows that are wanted in its order.
fn first_columns(
    schema: &TableSchema,
    alternatives: &[Alternative],
    wanted: Option<Limited>,
) -> Option<(By, Vec<Key<Source>>)> {
    let keys = schema.keys.iter().map(|key| &key.columns);
    let trees = schema.indexes.iter();
    let trees = trees.filter(|index| index.kind == IndexKind::Csb);
    // Whether a column's order leads to the rows that are wanted.
    let is_in_order = |next: usize, bounded: bool| {
        let of = &schema.columns[next];
        let is_asked = |wanted: &Limited| match wanted.column {
            Some(column) => column == next,
            None => bounded || alternatives.iter().all(|one| one.bounds.is_empty()),
        };
        is_plain(&of.kind) && !of.nullable && wanted.as_ref().is_some_and(is_asked)
    };
    let given = |columns: &Vec<usize>| {
        let known = |column: &&usize| alternatives.iter().all(|one| one.gives(**column));
        let first = columns.iter().take_while(known).count();
        let next = columns.get(first).copied();
        let of_next = |holds: &dyn Fn(&Alternative, usize) -> bool| {
            next.is_some_and(|next| alternatives.iter().all(|one| holds(one, next)))
        };
        let bounded = of_next(&Alternative::narrows);
        let enclosed = of_next(&Alternative::encloses);
        let ordered = next.is_some_and(|next| is_in_order(next, bounded));
        // Rows with a NULL in a column that is not asked for have no entry in a block's tree.
        let mut rest = columns.iter().skip(first + usize::from(bounded));
        let whole = rest.all(|column| !schema.columns[*column].nullable);
        let is_led = first > 0 || enclosed || bounded && ordered;
        (whole && is_led).then(|| (first, bounded || ordered, columns.clone()))
    };
    let all = keys.chain(trees.map(|index| &index.columns));
    let all = all.filter_map(given);
    let (first, _, columns) = all.max_by_key(|(first, narrowed, _)| (*first, *narrowed))?;
    // Values of other columns keep rows out, too.
    let mut equal = columns[..first].to_vec();
    let mut others: Vec<usize> = alternatives.first()?.equal.keys().copied().collect();
    others.sort_unstable();
    equal.extend(others);
    let mut seen = HashSet::new();
    equal
        .retain(|column| alternatives.iter().all(|one| one.gives(*column)) && seen.insert(*column));
    let keys = alternatives.iter().map(|one| one.key(&equal, &columns));
    let keys = keys.collect::<Option<_>>()?;
    let next = columns.get(first).copied();
    let is_bounded = next.is_some_and(|next| alternatives.iter().all(|one| one.narrows(next)));
    let by = By::First {
        is_bounded,
        columns: equal,
        foremost: next
            .filter(|next| is_in_order(*next, is_bounded))
            .zip(wanted),
    };
    Some((by, keys))
}

/// The columns of a key that every alternative gives a value, and where the values of the keys
/// come from.
fn keys(
    schema: &TableSchema,
    alternatives: &[Alternative],
) -> Option<(Vec<usize>, Vec<Key<Source>>)> {
    let mut sets = schema.keys.iter().map(|key| &key.columns);
    let known = |columns: &&Vec<usize>| {
        let of = |one: &Alternative| columns.iter().all(|column| one.gives(*column));
        alternatives.iter().all(of)
    };
    let columns = sets.find(known)?;
    // The rows of whole keys are few: their other conditions are tested later.
    let keys = alternatives.iter().map(|one| one.key(columns, &[]));
    let keys = keys.collect::<Option<_>>()?;
    Some((columns.clone(), keys))
}

/// A value of a key by which it is told from others.
fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Bool(truth) => vec![u8::from(*truth)],
        Value::Int(number) => number.to_le_bytes().to_vec(),
        Value::Float(number) => number.to_bits().to_le_bytes().to_vec(),
        Value::Bytes(bytes) => bytes.clone(),
    }
}
