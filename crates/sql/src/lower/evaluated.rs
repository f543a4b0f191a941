//! Functions that the language front evaluates.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::datatypes::DataType;
use freestone_frontend::evaluate::{Input, evaluate};
use freestone_frontend::functions::Volatility as Changes;
use freestone_frontend::functions::kernel::{Column, repeated};
use freestone_frontend::plan::{ColumnId, Expr as Bound, ExprKind};
use freestone_frontend::{interrupt, stack};

use super::Surroundings;
use crate::error::Result;
use crate::expression::{Function, only};
use crate::values::with_kind;

/// How many times as much room evaluation takes for a level as a walk.
const STEPS: usize = 4;

/// An expression of the front as a function of the columns that it reads.
pub(super) struct Evaluated {
    expr: Bound,
    /// The columns, in the order of the arguments.
    columns: Vec<ColumnId>,
    /// The expression as SQL.
    name: String,
    /// Levels that its evaluation takes room for.
    levels: usize,
    around: Surroundings,
}

impl Evaluated {
    pub(super) fn new(
        expr: Bound,
        columns: Vec<ColumnId>,
        name: String,
        around: Surroundings,
    ) -> Self {
        Self {
            levels: expr.levels() * STEPS,
            expr,
            columns,
            name,
            around,
        }
    }
}

/// How often an expression may change its value.
fn changes(expr: &Bound) -> Changes {
    let mut most = Changes::Immutable;
    expr.any(&mut |expr| {
        let of = match &expr.kind {
            ExprKind::Call { function, .. } => function.volatility,
            // Its operators stand for calls of a type's own, which are not volatile.
            ExprKind::Any { .. } | ExprKind::InList { .. } => Changes::Stable,
            _ => Changes::Immutable,
        };
        most = most.max(of);
        false
    });
    most
}

/// The values of an expression for rows of some columns.
///
/// # Errors
/// Those of the expression.
pub(super) fn values(
    expr: &Bound,
    ids: &[ColumnId],
    columns: &[Column],
    rows: usize,
    around: &Surroundings,
) -> Result<Column> {
    let find = |id: ColumnId| {
        let at = ids.iter().position(|known| *known == id)?;
        columns.get(at).cloned()
    };
    let input = Input {
        rows,
        columns: &find,
        parameters: &around.parameters,
        session: &around.session,
        subquery: None,
    };
    Ok(interrupt::apart(|| evaluate(expr, &input))?)
}

impl Evaluated {
    /// The Arrow type of a column that the expression reads.
    fn kind_of(&self, id: ColumnId) -> Option<DataType> {
        let mut kind = None;
        self.expr.any(&mut |expr| {
            if matches!(expr.kind, ExprKind::Column(known) if known == id) {
                kind = Some(expr.ty.arrow());
            }
            kind.is_some()
        });
        kind
    }
}

impl fmt::Debug for Evaluated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for Evaluated {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.columns == other.columns
            && Arc::ptr_eq(&self.around.session, &other.around.session)
            && self.expr == other.expr
    }
}

impl Eq for Evaluated {}

impl Hash for Evaluated {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.columns.hash(state);
    }
}

impl Function for Evaluated {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.expr.ty.arrow()
    }

    fn is_volatile(&self) -> bool {
        changes(&self.expr) == Changes::Volatile
    }

    fn call(&self, arguments: &[Column], rows: usize) -> Result<ArrayRef> {
        let mut columns = arguments.to_vec();
        // NULLs may have no type.
        for (column, id) in columns.iter_mut().zip(&self.columns) {
            if *column.array.data_type() == DataType::Null
                && let Some(kind) = self.kind_of(*id)
            {
                column.array = new_null_array(&kind, column.array.len());
            }
        }
        let value = stack::with_room(self.levels, || {
            values(&self.expr, &self.columns, &columns, rows, &self.around)
        })?;
        Ok(repeated(
            with_kind(value.array, &self.expr.ty.arrow())?,
            rows,
        ))
    }
}

/// NUMERIC values in another form, of an Arrow type.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Held(pub(super) DataType);

impl Function for Held {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.0.clone()
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        with_kind(Arc::clone(only(arguments)?), &self.0)
    }
}
