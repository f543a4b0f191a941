//! SQL's three-valued logic on one row at a time, and random conditions.

use crate::tables::Dice;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::*;
use freestone_storage::{ColumnType, CompareOp, Physical, Predicate, TableSchema, Value};
use std::cmp::Ordering;

/// The value of a row, `None` for NULL; intervals, which have no order, as text.
pub fn cell(kind: ColumnType, array: &ArrayRef, row: usize) -> Option<Value> {
    if array.is_null(row) {
        return None;
    }
    Some(match kind {
        ColumnType::Boolean => Value::Bool(array.as_boolean().value(row)),
        ColumnType::SmallInt => Value::Int(array.as_primitive::<Int16Type>().value(row).into()),
        ColumnType::Integer => Value::Int(array.as_primitive::<Int32Type>().value(row).into()),
        ColumnType::Date => Value::Int(array.as_primitive::<Date32Type>().value(row).into()),
        ColumnType::BigInt => Value::Int(array.as_primitive::<Int64Type>().value(row).into()),
        ColumnType::Time => Value::Int(
            array
                .as_primitive::<Time64MicrosecondType>()
                .value(row)
                .into(),
        ),
        ColumnType::Timestamp | ColumnType::TimestampTz => Value::Int(
            array
                .as_primitive::<TimestampMicrosecondType>()
                .value(row)
                .into(),
        ),
        ColumnType::Decimal { .. } => Value::Int(array.as_primitive::<Decimal128Type>().value(row)),
        ColumnType::Real => Value::Float(array.as_primitive::<Float32Type>().value(row).into()),
        ColumnType::Double => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        ColumnType::Uuid => Value::Bytes(array.as_fixed_size_binary().value(row).to_vec()),
        ColumnType::Bytea => Value::Bytes(array.as_binary_view().value(row).to_vec()),
        ColumnType::Interval => {
            let value = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            Value::Bytes(format!("{value:?}").into_bytes())
        }
        _ => Value::Bytes(array.as_string_view().value(row).as_bytes().to_vec()),
    })
}

/// The order of values; of floats, the total order that Arrow's kernels have.
pub fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        _ => panic!("{left} and {right} are of different types"),
    }
}

/// TRUE, FALSE or NULL for one row.
pub fn truth(predicate: &Predicate, row: &[Option<Value>]) -> Option<bool> {
    match predicate {
        Predicate::Compare { column, op, value } => {
            let order = order(row[*column].as_ref()?, value);
            Some(match op {
                CompareOp::Eq => order.is_eq(),
                CompareOp::NotEq => order.is_ne(),
                CompareOp::Lt => order.is_lt(),
                CompareOp::LtEq => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                CompareOp::GtEq => order.is_ge(),
            })
        }
        Predicate::In {
            column,
            values,
            negated,
        } => {
            let value = row[*column].as_ref()?;
            Some(values.iter().any(|known| order(known, value).is_eq()) != *negated)
        }
        Predicate::IsNull(column) => Some(row[*column].is_none()),
        Predicate::IsNotNull(column) => Some(row[*column].is_some()),
        Predicate::Prefix { column, prefix } => match row[*column].as_ref()? {
            Value::Bytes(bytes) => Some(bytes.starts_with(prefix.as_bytes())),
            other => panic!("{other} is not text"),
        },
        Predicate::Like {
            column, pattern, ..
        } => match row[*column].as_ref()? {
            // The patterns of these tests are '%inner%'.
            Value::Bytes(bytes) => {
                let text = String::from_utf8(bytes.clone()).unwrap();
                Some(text.contains(pattern.trim_matches('%')))
            }
            other => panic!("{other} is not text"),
        },
        Predicate::And(terms) => decide(terms, row, false),
        Predicate::Or(terms) => decide(terms, row, true),
        Predicate::Not(term) => truth(term, row).map(|answer| !answer),
    }
}

/// `decisive` wins over NULL, NULL over the opposite.
fn decide(terms: &[Predicate], row: &[Option<Value>], decisive: bool) -> Option<bool> {
    let answers: Vec<Option<bool>> = terms.iter().map(|term| truth(term, row)).collect();
    if answers.contains(&Some(decisive)) {
        Some(decisive)
    } else if answers.contains(&None) {
        None
    } else {
        Some(!decisive)
    }
}

/// A table as plain values.
pub struct Model {
    pub schema: TableSchema,
    pub batch: RecordBatch,
    cells: Vec<Vec<Option<Value>>>,
}

impl Model {
    pub fn new(schema: TableSchema, batch: RecordBatch) -> Model {
        let row = |row| {
            let columns = schema.columns.iter().zip(batch.columns());
            columns
                .map(|(column, array)| cell(column.kind, array, row))
                .collect()
        };
        let cells = (0..batch.num_rows()).map(row).collect();
        Model {
            schema,
            batch,
            cells,
        }
    }

    /// All values of a column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Option<&Value>> {
        self.cells.iter().map(move |row| row[column].as_ref())
    }

    /// Positions for which `predicate` is TRUE.
    pub fn positions(&self, predicate: Option<&Predicate>) -> Vec<u32> {
        let passes =
            |row: &usize| predicate.is_none_or(|p| truth(p, &self.cells[*row]) == Some(true));
        (0..self.cells.len())
            .filter(passes)
            .map(|row| row as u32)
            .collect()
    }

    /// The rows at `positions`, some of the columns.
    pub fn take(&self, positions: &[u32], projection: &[usize]) -> Vec<ArrayRef> {
        let indices = UInt32Array::from(positions.to_vec());
        let take = |column: &usize| {
            arrow_select::take::take(self.batch.column(*column), &indices, None).unwrap()
        };
        projection.iter().map(take).collect()
    }

    /// A condition on these columns, not too often the same for all rows.
    pub fn predicate(&self, dice: &mut Dice, depth: usize) -> Predicate {
        let terms = |dice: &mut Dice| {
            (0..dice.below(4))
                .map(|_| self.predicate(dice, depth - 1))
                .collect()
        };
        match dice.below(if depth == 0 { 4 } else { 8 }) {
            4 => Predicate::Not(Box::new(self.predicate(dice, depth - 1))),
            5 => Predicate::Or(terms(dice)),
            6 | 7 => Predicate::And(terms(dice)),
            _ => self.leaf(dice),
        }
    }

    fn leaf(&self, dice: &mut Dice) -> Predicate {
        let column = dice.below(self.schema.columns.len());
        let kind = self.schema.columns[column].kind;
        let constant = self.constant(column, dice);
        let (Some(value), false) = (constant, dice.once_in(8)) else {
            return if dice.once_in(2) {
                Predicate::IsNull(column)
            } else {
                Predicate::IsNotNull(column)
            };
        };
        match (&value, dice.below(6)) {
            (_, 0) => {
                let count = *dice.choose(&[0, 1, 3, 8, 9, 30]);
                let values = (0..count).filter_map(|_| self.constant(column, dice));
                let values = values.filter(|value| !value.is_nan()).collect();
                Predicate::In {
                    column,
                    values,
                    negated: dice.once_in(3),
                }
            }
            (Value::Bytes(bytes), 1) if kind.physical() == (Physical::Bytes { text: true }) => {
                let text = String::from_utf8(bytes.clone()).unwrap();
                let prefix = text.chars().take(dice.below(80)).collect();
                let wild = |c: char| "%_\\".contains(c);
                if dice.below(2) == 0 && !text.contains(wild) {
                    let inner: String = text.chars().skip(1).take(dice.below(9)).collect();
                    let pattern = format!("%{inner}%");
                    return Predicate::Like {
                        column,
                        pattern,
                        insensitive: false,
                    };
                }
                Predicate::Prefix { column, prefix }
            }
            _ => {
                use CompareOp::*;
                Predicate::Compare {
                    column,
                    op: *dice.choose(&[Eq, NotEq, Lt, LtEq, Gt, GtEq]),
                    value,
                }
            }
        }
    }

    /// A value of the column, or one beside it; none where there is no order.
    fn constant(&self, column: usize, dice: &mut Dice) -> Option<Value> {
        let kind = self.schema.columns[column].kind;
        if kind == ColumnType::Interval || self.cells.is_empty() {
            return None;
        }
        let known =
            (0..4).find_map(|_| self.cells[dice.below(self.cells.len())][column].clone())?;
        Some(match (known, dice.below(4)) {
            (Value::Int(value), 0) => Value::Int(value + 1),
            (Value::Int(_), 1) if dice.once_in(8) => {
                Value::Int(*dice.choose(&[i128::MIN, i128::MAX, 1 << 70]))
            }
            (Value::Float(value), 0) => Value::Float(value * 2.0),
            (Value::Float(_), 1) if dice.once_in(4) => {
                Value::Float(*dice.choose(&[0.0, -0.0, f64::INFINITY]))
            }
            (Value::Bytes(mut bytes), 0) if kind != ColumnType::Uuid => {
                bytes.push(b'!');
                Value::Bytes(bytes)
            }
            (value, _) => value,
        })
    }
}
