//! Casts that PostgreSQL does differently: fractions to integers are rounded,
//! UUID and BYTEA are read from and written as text.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{
    ArrayRef, BinaryViewBuilder, FixedSizeBinaryBuilder, Float64Array, StringViewBuilder,
};
use datafusion::arrow::compute::{cast, unary};
use datafusion::arrow::datatypes::{DataType, FieldRef, Float64Type, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use freestone_storage::ColumnType;

use crate::error::Error;
use crate::types::DECIMAL_DIGITS;
use crate::values::{ColumnBuilder, parse_bytea, parse_uuid};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// A float to the nearest whole float, ties to even.
    RoundFloat,
    /// Text to UUID.
    UuidOfText,
    /// UUID to text.
    TextOfUuid,
    /// Text to BYTEA.
    ByteaOfText,
    /// BYTEA to text, in hex.
    TextOfBytea,
}

/// `CAST(expr AS field)` where `expr` is a `from`.
pub(super) fn conversion(
    expr: Expr,
    from: &DataType,
    field: FieldRef,
) -> DfResult<Transformed<Expr>> {
    let to = field.data_type();
    let binary = |kind: &DataType| {
        matches!(
            kind,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView
        )
    };
    let step = match (from, to) {
        (from, to) if from.is_floating() && to.is_integer() => Some(Step::RoundFloat),
        (from, DataType::FixedSizeBinary(16)) if from.is_string() => Some(Step::UuidOfText),
        (DataType::FixedSizeBinary(16), to) if to.is_string() => Some(Step::TextOfUuid),
        (from, to) if from.is_string() && binary(to) => Some(Step::ByteaOfText),
        (from, to) if binary(from) && to.is_string() => Some(Step::TextOfBytea),
        _ => None,
    };
    let again = |expr: Expr| Expr::Cast(Cast::new_from_field(Box::new(expr), Arc::clone(&field)));
    if let Some(step) = step {
        let called = Expr::ScalarFunction(ScalarFunction::new_udf(function(step), vec![expr]));
        let done = step.result() == *to;
        return Ok(Transformed::yes(if done { called } else { again(called) }));
    }
    if let DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) = from
        && *scale > 0
        && to.is_integer()
    {
        // Decimal to decimal rounds, decimal to integer would cut.
        let whole = Expr::Cast(Cast::new(
            Box::new(expr),
            DataType::Decimal128(DECIMAL_DIGITS, 0),
        ));
        return Ok(Transformed::yes(again(whole)));
    }
    Ok(Transformed::no(again(expr)))
}

fn function(step: Step) -> Arc<ScalarUDF> {
    static ALL: LazyLock<Vec<(Step, Arc<ScalarUDF>)>> = LazyLock::new(|| {
        [
            Step::RoundFloat,
            Step::UuidOfText,
            Step::TextOfUuid,
            Step::ByteaOfText,
            Step::TextOfBytea,
        ]
        .into_iter()
        .map(|step| (step, Arc::new(ScalarUDF::from(Convert::new(step)))))
        .collect()
    });
    ALL.iter().find(|(known, _)| *known == step).map_or_else(
        || Arc::new(Convert::new(step).into()),
        |(_, f)| Arc::clone(f),
    )
}

impl Step {
    fn result(self) -> DataType {
        match self {
            Step::RoundFloat => DataType::Float64,
            Step::UuidOfText => DataType::FixedSizeBinary(16),
            Step::TextOfUuid | Step::TextOfBytea => DataType::Utf8View,
            Step::ByteaOfText => DataType::BinaryView,
        }
    }

    fn run(self, array: &ArrayRef) -> Result<ArrayRef, Error> {
        Ok(match self {
            Step::RoundFloat => {
                let doubles = cast(array, &DataType::Float64)?;
                let doubles: &Float64Array = doubles.as_primitive::<Float64Type>();
                Arc::new(unary::<_, _, Float64Type>(doubles, f64::round_ties_even))
            }
            Step::UuidOfText => {
                let texts = cast(array, &DataType::Utf8View)?;
                let mut out = FixedSizeBinaryBuilder::new(16);
                for text in texts.as_string_view() {
                    match text {
                        Some(text) => out.append_value(parse_uuid(text)?)?,
                        None => out.append_null(),
                    }
                }
                Arc::new(out.finish())
            }
            Step::TextOfUuid => {
                let mut out = StringViewBuilder::new();
                for bytes in array.as_fixed_size_binary() {
                    out.append_option(bytes.map(uuid_text));
                }
                Arc::new(out.finish())
            }
            Step::ByteaOfText => {
                let texts = cast(array, &DataType::Utf8View)?;
                let mut out = BinaryViewBuilder::new();
                for text in texts.as_string_view() {
                    out.append_option(text.map(parse_bytea).transpose()?);
                }
                Arc::new(out.finish())
            }
            Step::TextOfBytea => {
                let all = cast(array, &DataType::BinaryView)?;
                let mut out = StringViewBuilder::new();
                for bytes in all.as_binary_view() {
                    out.append_option(bytes.map(|bytes| format!("\\x{}", hex(bytes))));
                }
                Arc::new(out.finish())
            }
        })
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

/// A UUID in its usual form, `8-4-4-4-12` digits.
pub(crate) fn uuid_text(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    let mut out = String::with_capacity(36);
    for (index, digit) in digits.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(digit);
    }
    out
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Convert {
    step: Step,
    signature: Signature,
}

impl Convert {
    fn new(step: Step) -> Self {
        Self {
            step,
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Convert {
    fn name(&self) -> &'static str {
        match self.step {
            Step::RoundFloat => "round_to_whole",
            Step::UuidOfText => "uuid_of_text",
            Step::TextOfUuid => "text_of_uuid",
            Step::ByteaOfText => "bytea_of_text",
            Step::TextOfBytea => "text_of_bytea",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.step.result())
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Array(array)] => Ok(ColumnarValue::Array(self.step.run(array)?)),
            [ColumnarValue::Scalar(scalar)] => {
                let array = self.step.run(&scalar.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(
                    &array, 0,
                )?))
            }
            _ => Err(Error::internal("a conversion takes one value").into()),
        }
    }
}

/// Reads string literals as UUID, BYTEA, date or time where the other operand of a
/// comparison is one.
#[derive(Debug)]
pub(super) struct Literals;

impl ExprPlanner for Literals {
    fn plan_binary_op(
        &self,
        mut expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> DfResult<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator as Op;
        let comparison = matches!(
            expr.op,
            Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq
        );
        if comparison {
            if let Ok(kind) = expr.left.get_type(schema)
                && let Some(literal) = read_literal(&expr.right, &kind)?
            {
                expr.right = literal;
            } else if let Ok(kind) = expr.right.get_type(schema)
                && let Some(literal) = read_literal(&expr.left, &kind)?
            {
                expr.left = literal;
            }
        }
        Ok(PlannerResult::Original(expr))
    }
}

/// A string literal as a value of `kind`; `None` for other literals and for kinds
/// that DataFusion reads well itself.
///
/// # Errors
/// `22P02` and `22007` when the text is no such value.
pub(super) fn read_literal(literal: &Expr, kind: &DataType) -> DfResult<Option<Expr>> {
    let Expr::Literal(scalar, _) = literal else {
        return Ok(None);
    };
    let Some(Some(text)) = scalar.try_as_str() else {
        return Ok(None);
    };
    let column = match kind {
        DataType::FixedSizeBinary(16) => ColumnType::Uuid,
        DataType::BinaryView => ColumnType::Bytea,
        DataType::Timestamp(TimeUnit::Microsecond, None) => ColumnType::Timestamp,
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => ColumnType::TimestampTz,
        DataType::Date32 => ColumnType::Date,
        DataType::Time64(TimeUnit::Microsecond) => ColumnType::Time,
        _ => return Ok(None),
    };
    let mut builder = ColumnBuilder::new(&column, &Arc::default());
    builder.push(text)?;
    let value = ScalarValue::try_from_array(&builder.finish(), 0)?;
    Ok(Some(Expr::Literal(value, None)))
}
