//! A join whose right side depends on the left one, and that no rewriting has made a plain one.
//!
//! The plan of the right side is run for each combination of the values that it reads, with these in
//! the columns' places. Results are remembered, for values come again. A right side that reads
//! no table, such as `LATERAL (VALUES …)`, is run by the front's interpreter: there are few rows,
//! for which a plan would take longer to make than to run.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, UInt64Array, cast::AsArray, new_null_array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Again, Gathered, Inside, Operator, Out, Plan as Own, Working};
use freestone_frontend::plan::{Column, Expr as Bound, ExprKind, Plan, Relation};
use freestone_frontend::{interrupt, reference};
use parking_lot::Mutex;

use super::super::Surroundings;
use super::super::bulk::Outer;
use super::super::canonical::{Encoder, Row};
use super::{Held, arrays, batch, joined, other};
use crate::error::Error;
use crate::values::with_kind;

/// The interpreter's refusals of too many rows, and of a plan too deep for the stack.
const TOO_MUCH: [&str; 2] = ["54000", "54001"];
/// Results that are remembered; then all are forgotten.
const REMEMBERED: usize = 65_536;

/// Which rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Pairs {
    /// Pairs.
    Inner,
    /// Pairs, and left rows without one.
    Left,
    /// Left rows with one.
    Semi,
    /// Left rows without one.
    Anti,
    /// Left rows with the only one, or with NULLs.
    Single,
    /// Left rows, and whether the condition, the right side's only column, holds for any of its
    /// rows; without one, whether there are any.
    Mark {
        /// Whether there is one.
        condition: bool,
    },
}

/// See the module.
pub(in super::super) struct Dependent {
    pub(in super::super) pairs: Pairs,
    /// Columns of the left side; after them come the values that the right side reads.
    pub(in super::super) columns: usize,
    /// Arrow types of all of these.
    pub(in super::super) kinds: Vec<DataType>,
    /// The columns that the values are.
    pub(in super::super) outer: Vec<Column>,
    /// Arrow types of the columns that the right side gives.
    pub(in super::super) given: Vec<DataType>,
    /// The right side.
    pub(in super::super) plan: Plan,
    /// Common table expressions that it may read.
    pub(in super::super) tables: Outer,
    pub(in super::super) around: Surroundings,
}

impl fmt::Debug for Dependent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.outer.iter().map(|column| column.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        write!(f, "{:?} on [{names}]", self.pairs)
    }
}

impl Operator for Dependent {
    fn name(&self) -> &'static str {
        "dependent join"
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }

    // It plans its inner query as it runs.
    fn is_lasting(&self) -> bool {
        false
    }

    fn inner(&self) -> Vec<&Own> {
        self.tables.plans()
    }

    fn begin(&self, _: Vec<Gathered>, run: &dyn Inside) -> exec::Result<Box<dyn Working + '_>> {
        let types = self.outer.iter().map(|column| column.ty.clone());
        let shared = self.tables.plans().into_iter();
        Ok(Box::new(Work {
            of: self,
            lasting: !is_volatile(&self.plan),
            interprets: reference::is_self_contained(&self.plan),
            outer: shared.map(|plan| std::ptr::from_ref(plan).addr()).collect(),
            known: Mutex::new(Known {
                encoder: Encoder::new(types.collect()),
                rows: HashMap::new(),
                held: Held::new("LATERAL", run),
            }),
        }))
    }
}

/// Whether a plan may give other rows when it is run again.
fn is_volatile(plan: &Plan) -> bool {
    plan.expressions().iter().any(|expr| volatile(expr))
        || plan.inputs().into_iter().any(is_volatile)
}

fn volatile(expr: &Bound) -> bool {
    expr.any(&mut |expr| match &expr.kind {
        ExprKind::Subquery(subquery) => is_volatile(&subquery.plan),
        ExprKind::Call { function, .. } => {
            function.volatility == freestone_frontend::functions::Volatility::Volatile
        }
        _ => false,
    })
}

/// Whether one value is TRUE; NULL if none is, but one is NULL.
fn any(values: &ArrayRef) -> Option<bool> {
    let values = values.as_boolean_opt()?;
    match values.true_count() {
        0 if values.null_count() > 0 => None,
        count => Some(count > 0),
    }
}

struct Work<'a> {
    of: &'a Dependent,
    /// Whether equal values give equal rows.
    lasting: bool,
    /// Whether the right side is run by the interpreter.
    interprets: bool,
    /// Addresses of the common table expressions' plans.
    outer: HashSet<usize>,
    known: Mutex<Known>,
}

/// Results that are remembered.
struct Known {
    encoder: Encoder,
    rows: HashMap<Row, Right>,
    held: Held,
}

/// Rows of the right side.
#[derive(Clone)]
struct Right {
    columns: Arc<[ArrayRef]>,
    rows: usize,
}

impl Working for Work<'_> {
    fn push(&self, rows: Batch, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let of = self.of;
        let left = arrays(&rows, &of.kinds)?;
        let mut known = self.known.lock();
        let values = &left[of.columns..];
        let keys: Vec<Option<Row>> = match values.is_empty() || !self.lasting {
            true => vec![None; rows.rows],
            false => {
                let rows = known.encoder.rows(values).map_err(other)?;
                rows.iter().map(|row| Some(row.owned())).collect()
            }
        };
        let most = run.batch_rows();
        let mut pairs = Rows::default();
        for (at, key) in keys.into_iter().enumerate() {
            run.goes_on()?;
            let values: Vec<ArrayRef> = values.iter().map(|value| value.slice(at, 1)).collect();
            let right = self.right(&mut known, key, &values, run)?;
            let times = match of.pairs {
                Pairs::Inner => right.rows,
                Pairs::Single if right.rows > 1 => return Err(exec::Error::SeveralRows),
                Pairs::Left | Pairs::Single => right.rows.max(1),
                Pairs::Mark { condition } => {
                    pairs.marks.push(match (condition, right.columns.first()) {
                        (true, Some(values)) => any(values),
                        _ => Some(right.rows > 0),
                    });
                    1
                }
                Pairs::Semi => usize::from(right.rows > 0),
                Pairs::Anti => usize::from(right.rows == 0),
            };
            pairs.places.extend(std::iter::repeat_n(at as u64, times));
            pairs.rights.push((right, times));
            if pairs.places.len() >= most {
                self.give(std::mem::take(&mut pairs), &left, out)?;
            }
        }
        self.give(pairs, &left, out)
    }
}

/// Rows of the result that wait to be given.
#[derive(Default)]
struct Rows {
    /// Rows of the left side,
    places: Vec<u64>,
    /// and of the right side beside them,
    rights: Vec<(Right, usize)>,
    /// or marks.
    marks: Vec<Option<bool>>,
}

impl Work<'_> {
    fn give(&self, pairs: Rows, left: &[ArrayRef], out: Out<'_>) -> exec::Result<()> {
        let of = self.of;
        let Rows {
            places,
            rights,
            marks,
        } = pairs;
        if places.is_empty() {
            return Ok(());
        }
        let places = UInt64Array::from(places);
        let mut given = Vec::with_capacity(of.columns + of.given.len());
        for column in &left[..of.columns] {
            given.push(take(column, &places, None)?);
        }
        match of.pairs {
            Pairs::Mark { .. } => given.push(Arc::new(BooleanArray::from(marks))),
            Pairs::Semi | Pairs::Anti => {}
            Pairs::Inner | Pairs::Left | Pairs::Single => {
                for (at, kind) in of.given.iter().enumerate() {
                    let parts = rights.iter().map(|(right, times)| match right.rows {
                        0 => new_null_array(kind, *times),
                        _ => Arc::clone(&right.columns[at]),
                    });
                    given.push(joined(&parts.collect::<Vec<_>>(), kind)?);
                }
            }
        }
        out(batch(&given, places.len())?)
    }

    /// The right side's rows for some values.
    fn right(
        &self,
        known: &mut Known,
        key: Option<Row>,
        values: &[ArrayRef],
        run: &dyn Inside,
    ) -> exec::Result<Right> {
        if let Some(rows) = key.as_ref().and_then(|key| known.rows.get(key)) {
            return Ok(rows.clone());
        }
        let right = self.fresh(values, run)?;
        let Some(key) = key else {
            return Ok(right);
        };
        if known.rows.len() >= REMEMBERED {
            known.rows.clear();
            known.held.free();
        }
        let bytes = right.columns.iter();
        let bytes: usize = bytes.map(|column| column.get_array_memory_size()).sum();
        known.held.grow(bytes + 128, run)?;
        known.rows.insert(key, right.clone());
        Ok(right)
    }

    /// The rows of the right side by the interpreter; `None` if there are too many for it.
    fn interpreted(&self, values: &[ArrayRef]) -> exec::Result<Option<Right>> {
        let of = self.of;
        let outer = of.outer.iter().zip(values);
        let outer = outer.map(|(column, value)| (column.id, Arc::clone(value)));
        let none = |_: &Relation, _: &[(Column, usize)]| Ok(Vec::new());
        let (session, parameters) = (&of.around.session, &of.around.parameters);
        let found = interrupt::apart(|| {
            reference::run_beside(&of.plan, outer.collect(), &none, session, parameters)
        });
        let table = match found {
            Ok(table) => table,
            Err(error) if TOO_MUCH.contains(&error.sqlstate) => return Ok(None),
            Err(error) => return Err(other(error)),
        };
        let columns = table.columns.into_iter().zip(&of.given);
        let columns = columns.map(|((_, values), kind)| with_kind(values, kind));
        Ok(Some(Right {
            columns: columns.collect::<Result<_, Error>>().map_err(other)?,
            rows: table.rows,
        }))
    }

    fn fresh(&self, values: &[ArrayRef], run: &dyn Inside) -> exec::Result<Right> {
        let of = self.of;
        if self.interprets
            && let Some(found) = self.interpreted(values)?
        {
            return Ok(found);
        }
        let mut plan = of.plan.clone();
        plan.replace(&|id| {
            let at = of.outer.iter().position(|column| column.id == id)?;
            let (column, value) = (&of.outer[at], &values[at]);
            Some(Bound::new(
                ExprKind::Literal(Arc::clone(value)),
                column.ty.clone(),
            ))
        });
        of.around.fold().plan(&mut plan);
        let plan = of.tables.lowered(&plan, &of.around)?;
        let found = run.again(&Again {
            plan: &plan,
            outer: &self.outer,
            round: None,
        })?;
        let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); of.given.len()];
        for batch in found.batches() {
            let columns = arrays(&batch?, &of.given)?;
            for (parts, column) in parts.iter_mut().zip(columns) {
                parts.push(column);
            }
        }
        let columns = parts.iter().zip(&of.given);
        let columns = columns.map(|(parts, kind)| joined(parts, kind));
        Ok(Right {
            columns: columns.collect::<exec::Result<_>>()?,
            rows: found.rows(),
        })
    }
}
