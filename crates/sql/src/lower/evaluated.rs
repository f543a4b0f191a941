//! Functions of DataFusion that the language front evaluates.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, new_null_array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use freestone_frontend::evaluate::{Input, evaluate};
use freestone_frontend::functions::Volatility as Changes;
use freestone_frontend::functions::kernel::{Column, repeated};
use freestone_frontend::plan::{ColumnId, Expr as Bound, ExprKind};
use freestone_frontend::{interrupt, stack};

use super::Surroundings;
use crate::error::Error;
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
    signature: Signature,
}

impl Evaluated {
    pub(super) fn new(
        expr: Bound,
        columns: Vec<ColumnId>,
        name: String,
        around: Surroundings,
    ) -> Self {
        let volatility = match changes(&expr) {
            Changes::Immutable => Volatility::Immutable,
            Changes::Stable => Volatility::Stable,
            Changes::Volatile => Volatility::Volatile,
        };
        let signature = match columns.len() {
            0 => Signature::nullary(volatility),
            some => Signature::any(some, volatility),
        };
        Self {
            levels: expr.levels() * STEPS,
            expr,
            columns,
            name,
            around,
            signature,
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
) -> Result<Column, Error> {
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

impl ScalarUDFImpl for Evaluated {
    fn name(&self) -> &str {
        &self.name
    }

    fn display_name(&self, _: &[Expr]) -> DfResult<String> {
        Ok(self.name.clone())
    }

    fn schema_name(&self, _: &[Expr]) -> DfResult<String> {
        Ok(self.name.clone())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.expr.ty.arrow())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new(&self.name, self.expr.ty.arrow(), true)))
    }

    /// DataFusion compares bounds only of one type, and forgets an order where it cannot.
    fn evaluate_bounds(&self, _: &[&Interval]) -> DfResult<Interval> {
        Interval::make_unbounded(&self.expr.ty.arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let mut columns = Vec::with_capacity(args.args.len());
        for argument in args.args {
            columns.push(match argument {
                ColumnarValue::Array(array) => Column::rows(array),
                ColumnarValue::Scalar(value) => Column::constant(value.to_array()?),
            });
        }
        // Where DataFusion asks what NULLs make, they have no type.
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
        let array = with_kind(value.array, &self.expr.ty.arrow())?;
        if value.constant && array.len() == 1 {
            let value = ScalarValue::try_from_array(&array, 0)?;
            return Ok(ColumnarValue::Scalar(value));
        }
        Ok(ColumnarValue::Array(repeated(array, rows)))
    }
}

/// NUMERIC values in another form.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    kind: DataType,
    signature: Signature,
}

impl Held {
    /// As values of an Arrow type.
    pub(super) fn new(kind: &DataType) -> Self {
        Self {
            kind: kind.clone(),
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Held {
    fn name(&self) -> &'static str {
        "numeric"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.kind.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let [value] = args.args.as_slice() else {
            return Err(Error::internal("numeric takes one value").into());
        };
        Ok(match value {
            ColumnarValue::Array(array) => {
                ColumnarValue::Array(with_kind(Arc::clone(array), &self.kind)?)
            }
            ColumnarValue::Scalar(value) => {
                let array = with_kind(value.to_array()?, &self.kind)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
            }
        })
    }
}
