//! Tables of random rows, and what a join of two of them should give.

use crate::expression::Expression;
use crate::kernels::hash;
use crate::memory::{Memory, Space};
use crate::plan::{Join, JoinKind, Node, Plan, Table};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringViewArray,
};
use arrow_schema::DataType;
use freestone_storage::{
    Column, ColumnType, DEFAULT_SCHEMA, ReadView, Store, TableOptions, TableSchema,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// Memory with a limit.
#[derive(Debug)]
pub(crate) struct Limited {
    pub limit: usize,
    used: AtomicUsize,
}

impl Memory for Limited {
    fn grow(&self, bytes: usize) -> bool {
        let fits = |used: usize| (used + bytes <= self.limit).then_some(used + bytes);
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        self.used.fetch_update(set, get, fits).is_ok()
    }

    fn shrink(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn file(&self) -> std::io::Result<std::fs::File> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("freestone-join-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = std::fs::OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        std::fs::remove_file(path)?;
        Ok(file)
    }
}

pub(crate) fn space(limit: usize) -> Space {
    let used = AtomicUsize::new(0);
    Space::new(Arc::new(Limited { limit, used }))
}

/// Columns that can be keys: an id, and one of every kind.
pub(crate) const KINDS: [ColumnType; 7] = [
    ColumnType::BigInt,
    ColumnType::BigInt,
    ColumnType::Text,
    ColumnType::Text,
    ColumnType::Double,
    ColumnType::Decimal {
        precision: 38,
        scale: 2,
    },
    ColumnType::Boolean,
];

/// Rows of a side, by column and row, as numbers that are the same for equal values.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub rows: usize,
    pub values: Vec<Vec<Option<i64>>>,
    arrays: Vec<ArrayRef>,
}

/// What random rows are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub seed: i64,
    pub rows: usize,
    /// Distinct values.
    pub values: u64,
    /// Whether some are NULL.
    pub nulls: bool,
    /// Whether integers lie far from each other, the first and the last at the ends.
    pub far: bool,
    /// The order of the first column after the id.
    pub order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    None,
    Ascending,
    /// Ascending but for some stretches.
    Mostly,
}

impl Side {
    pub fn new(shape: Shape) -> Side {
        let value = |column: usize, row: usize| -> Option<i64> {
            let of_row = hash(shape.seed ^ hash(row as i64) as i64);
            let own = hash((of_row as i64).wrapping_add(column as i64));
            // Columns of a row mostly agree, so that keys of several columns find partners.
            let ascending = match shape.order {
                Order::None => false,
                Order::Ascending => column == 1,
                Order::Mostly => column == 1 && row / 300 % 3 != 1,
            };
            let value = match ascending {
                true => row as u64 * (shape.values + 1) / shape.rows as u64,
                false => of_row % shape.values + u64::from(own.is_multiple_of(5)),
            };
            let null = shape.nulls && column > 0 && own >> 40 & 7 == 0;
            (!null).then_some(if column == 0 {
                row as i64
            } else {
                value as i64
            })
        };
        let column = |column: usize| (0..shape.rows).map(move |row| value(column, row));
        let mut values: Vec<Vec<Option<i64>>> = (0..KINDS.len())
            .map(|number| column(number).collect())
            .collect();
        let arrays = KINDS.iter().zip(&mut values).enumerate();
        let arrays = arrays.map(|(number, (kind, values))| array(number, *kind, values, shape));
        Side {
            rows: shape.rows,
            arrays: arrays.collect(),
            values,
        }
    }

    /// The rows as a table of two blocks.
    pub fn plan(&self) -> Plan {
        let columns = KINDS.iter().enumerate().map(|(number, kind)| Column {
            name: format!("c{number}"),
            kind: *kind,
            nullable: true,
            default: None,
            identity: None,
            modifier: None,
            declared: None,
            generated: false,
            hidden: None,
        });
        let schema = TableSchema {
            columns: columns.collect(),
            ..TableSchema::default()
        };
        let (store, options) = (Store::in_memory(), TableOptions::default());
        let id = store
            .commit(|edit| edit.create_table(DEFAULT_SCHEMA, "t", schema.clone(), options.clone()))
            .unwrap();
        let rows = RecordBatch::try_new(schema.arrow(), self.arrays.clone()).unwrap();
        let half = self.rows / 2;
        for (first, count) in [(0, half), (half, self.rows - half)] {
            let mut writer = store.writer(&Arc::new(schema.clone()), &options).unwrap();
            writer.push(&rows.slice(first, count)).unwrap();
            let blocks = writer.finish().unwrap();
            store.commit(|edit| edit.append(id, blocks)).unwrap();
        }
        let table = store.snapshot().catalog().table_by_id(id).unwrap().clone();
        let types = KINDS.iter().map(|kind| kind.arrow()).collect();
        let table = Table {
            table,
            view: ReadView::default(),
            projection: (0..KINDS.len()).collect(),
            predicate: None,
            row_ids: false,
            limit: None,
            top: None,
        };
        Plan::new(Node::Table(table), types, self.rows as f64)
    }
}

/// An array of values, which become those that are the same for equal ones.
fn array(number: usize, kind: ColumnType, values: &mut [Option<i64>], shape: Shape) -> ArrayRef {
    let rows = values.iter().copied();
    match kind {
        ColumnType::Text if number == 2 => {
            Arc::new(StringViewArray::from_iter(rows.map(|v| {
                v.map(|v| format!("a text that is longer than a view {v}"))
            })))
        }
        ColumnType::Text => {
            values.iter_mut().flatten().for_each(|v| *v %= 5);
            let rows = values.iter().map(|v| v.map(|v| format!("{v}")));
            Arc::new(StringViewArray::from_iter(rows))
        }
        ColumnType::Double => {
            let zero = |v: i64| if v == 1 { -0.0 } else { v as f64 };
            let float = |v: i64| if v == 2 { f64::NAN } else { zero(v) };
            let array: Float64Array = rows.map(|v| v.map(float)).collect();
            let zeros = values.iter_mut().flatten().filter(|v| **v == 1);
            zeros.for_each(|v| *v = 0);
            Arc::new(array)
        }
        ColumnType::Decimal { .. } => {
            let wide = |v: i64| i128::from(v) * if v % 2 == 0 { 1 } else { 1 << 70 };
            let array: Decimal128Array = rows.map(|v| v.map(wide)).collect();
            Arc::new(array.with_precision_and_scale(38, 2).unwrap())
        }
        ColumnType::Boolean => {
            values.iter_mut().flatten().for_each(|v| *v %= 2);
            let rows = values.iter().map(|v| v.map(|v| v == 1));
            Arc::new(rows.collect::<BooleanArray>())
        }
        _ => {
            let last = shape.values as i64;
            let far = |v: i64| match v {
                0 => i64::MIN,
                v if v == last => i64::MAX,
                v => v << 40,
            };
            let value = |v: i64| if shape.far && number > 0 { far(v) } else { v };
            Arc::new(Int64Array::from_iter(rows.map(|v| v.map(value))))
        }
    }
}

/// A plan for tests that never run it.
pub(crate) fn nothing() -> Plan {
    static NOTHING: LazyLock<Plan> = LazyLock::new(|| {
        let rows = 0;
        Side::new(Shape {
            seed: 0,
            rows,
            values: 1,
            nulls: false,
            far: false,
            order: Order::None,
        })
        .plan()
    });
    NOTHING.clone()
}

/// A join without anything else.
pub(crate) fn join(
    kind: JoinKind,
    (build, probe): (Plan, Plan),
    keys: Vec<(Expression, Expression, DataType)>,
) -> Join {
    Join {
        kind,
        build,
        probe,
        keys,
        filter: None,
        null_equal: false,
    }
}

/// What a join of two sides should give: numbers of rows of the probe side and of the
/// build side, and marks, as far as its kind has them, in order. `key` is the column
/// that is asked for NULLs.
pub(crate) fn expected(
    kind: JoinKind,
    (build, probe): (&Side, &Side),
    key: usize,
    equal: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<Option<i64>>> {
    let build_keys = &build.values[key];
    let mut out = Vec::new();
    let mut matched = vec![false; build.rows];
    let number = |row: usize| Some(row as i64);
    for row in 0..probe.rows {
        let partners = (0..build.rows).filter(|partner| equal(row, *partner));
        let partners: Vec<usize> = partners.collect();
        partners.iter().for_each(|partner| matched[*partner] = true);
        let any = !partners.is_empty();
        let own = probe.values[key][row];
        // What SQL says of `own IN (all of the build side)`: TRUE, FALSE or NULL.
        let nulls = build_keys.contains(&None) || (own.is_none() && build.rows > 0);
        let among = any.then_some(1).or((!nulls).then_some(0));
        match kind {
            JoinKind::ProbeNotIn if among == Some(0) => out.push(vec![number(row)]),
            JoinKind::ProbeMarkIn => out.push(vec![number(row), among]),
            JoinKind::ProbeSemi if any => out.push(vec![number(row)]),
            JoinKind::ProbeAnti if !any => out.push(vec![number(row)]),
            JoinKind::ProbeMark => out.push(vec![number(row), Some(any.into())]),
            JoinKind::ProbeOuter | JoinKind::ProbeSingle | JoinKind::Full if !any => {
                out.push(vec![number(row), None]);
            }
            kind if kind.gives_pairs() => {
                out.extend(
                    partners
                        .iter()
                        .map(|partner| vec![number(row), number(*partner)]),
                );
            }
            _ => {}
        }
    }
    for (row, matched) in matched.into_iter().enumerate() {
        match kind {
            JoinKind::BuildOuter | JoinKind::Full if !matched => out.push(vec![None, number(row)]),
            JoinKind::BuildSemi if matched => out.push(vec![number(row)]),
            JoinKind::BuildAnti if !matched => out.push(vec![number(row)]),
            _ => {}
        }
    }
    out.sort_unstable();
    out
}
