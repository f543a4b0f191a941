//! Constants of arrays and records, as calls without arguments.
//!
//! DataFusion asks each literal of a plan for the interval from its value to its value, and
//! fails for values that it does not compare. Such are the structs of arrays and records.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};

/// A plan, already optimised, without literals of structs.
///
/// # Errors
/// Those of walking it.
pub(super) fn called(plan: LogicalPlan) -> DfResult<LogicalPlan> {
    if !has_structs(&plan)? {
        return Ok(plan);
    }
    let plan = plan.transform_up_with_subqueries(|plan| {
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let new = expr.transform_up(|expr| {
                Ok(match expr {
                    Expr::Literal(value, _) if is_struct(&value) => {
                        Transformed::yes(ScalarUDF::from(Constant::new(value)).call(Vec::new()))
                    }
                    other => Transformed::no(other),
                })
            })?;
            Ok(match new.transformed {
                true => new.update_data(|expr| name.restore(expr)),
                false => new,
            })
        })
    })?;
    Ok(plan.data)
}

fn has_structs(plan: &LogicalPlan) -> DfResult<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found |= expr
                .exists(|expr| Ok(matches!(expr, Expr::Literal(value, _) if is_struct(value))))?;
            Ok(match found {
                true => TreeNodeRecursion::Stop,
                false => TreeNodeRecursion::Continue,
            })
        })
    })?;
    Ok(found)
}

fn is_struct(value: &ScalarValue) -> bool {
    matches!(value, ScalarValue::Struct(_)) && !value.is_null()
}

/// A function that gives its value. It counts as volatile, so that nobody makes a literal of it
/// again.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Constant {
    value: ScalarValue,
    signature: Signature,
}

impl Constant {
    fn new(value: ScalarValue) -> Self {
        Self {
            value,
            signature: Signature::nullary(Volatility::Volatile),
        }
    }
}

impl ScalarUDFImpl for Constant {
    fn name(&self) -> &'static str {
        "constant"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.value.data_type())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new(
            "constant",
            self.value.data_type(),
            true,
        )))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value.clone()))
    }
}
