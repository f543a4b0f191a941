//! WHERE clauses that give each column of a key one value.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value as Written};
use freestone_storage::row::cell;
use freestone_storage::{ColumnType, IndexKind, TableSchema, Value};

use crate::names::fold;
use crate::parameter::{self, Parameter};
use crate::values::{ColumnBuilder, is_the_same_everywhere};

/// What a column is to be equal to.
#[derive(Debug, Clone)]
enum Term {
    Given(Parameter),
    Parameter(usize),
}

/// A condition that gives each column of a key one value.
#[derive(Debug)]
pub(crate) struct KeyCondition {
    columns: Vec<usize>,
    terms: Vec<Term>,
}

/// The values of a key.
pub(crate) enum KeyValues {
    /// Of rows that may be there.
    Some(Vec<Value>),
    /// One of them is NULL, which nothing equals.
    Null,
}

impl KeyCondition {
    /// Reads a WHERE clause over a table that is called `alias`; `None` if it is
    /// anything but equalities with the columns of one key or index.
    pub(crate) fn of(selection: &Expr, schema: &TableSchema, alias: &str) -> Option<KeyCondition> {
        let mut found: Vec<(usize, Term)> = Vec::new();
        collect(selection, schema, alias, &mut found)?;
        let keys = schema.keys.iter().map(|key| &key.columns);
        let indexes = schema.indexes.iter();
        let trees = indexes.filter(|index| index.kind == IndexKind::Csb);
        let mut sets = keys.chain(trees.map(|index| &index.columns));
        let columns = sets.find(|columns| {
            let known = |column| found.iter().any(|(known, _)| known == column);
            columns.len() == found.len() && columns.iter().all(known)
        })?;
        let term = |column: &usize| {
            let mut terms = found.iter();
            terms.find_map(|(known, term)| (known == column).then(|| term.clone()))
        };
        Some(KeyCondition {
            terms: columns.iter().map(term).collect::<Option<_>>()?,
            columns: columns.clone(),
        })
    }

    /// The columns of the key, in its order.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The values, as the columns have them; `None` if one is of another type.
    pub(crate) fn values(
        &self,
        schema: &TableSchema,
        parameters: &[Parameter],
    ) -> Option<KeyValues> {
        let mut values = Vec::with_capacity(self.terms.len());
        for (column, term) in self.columns.iter().zip(&self.terms) {
            let given = match term {
                Term::Given(given) => given,
                Term::Parameter(number) => parameters.get(*number)?,
            };
            let known = &schema.columns[*column];
            if known.declared.is_some() || known.family() > 0 {
                // The front reads labels and digits, and refuses what is none.
                return None;
            }
            if *given == Parameter::Null {
                return Some(KeyValues::Null);
            }
            values.push(key_value(given, &schema.columns[*column].kind)?);
        }
        Some(KeyValues::Some(values))
    }
}

/// The value that a column of this kind has if it equals `given`.
fn key_value(given: &Parameter, kind: &ColumnType) -> Option<Value> {
    match (given, kind) {
        (
            Parameter::Integer(number),
            ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt,
        ) => Some(Value::Int((*number).into())),
        (Parameter::Integer(number), ColumnType::Decimal { scale, .. }) => {
            let unit = 10i128.checked_pow(u32::try_from(*scale).ok()?)?;
            i128::from(*number).checked_mul(unit).map(Value::Int)
        }
        (Parameter::Text(text), ColumnType::Text | ColumnType::Varchar(_)) => {
            Some(Value::Bytes(text.clone().into_bytes()))
        }
        (
            Parameter::Text(text),
            ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::TimestampTz
            | ColumnType::Time
            | ColumnType::Uuid,
        ) => {
            if !is_the_same_everywhere(kind, text) {
                return None;
            }
            let mut builder = ColumnBuilder::new(kind, &Arc::default());
            builder.push(text).ok()?;
            cell(&builder.finish(), 0)
        }
        (Parameter::Bytes(bytes), ColumnType::Bytea) => Some(Value::Bytes(bytes.clone())),
        _ => None,
    }
}

/// Collects the equalities of a conjunction.
fn collect(
    expr: &Expr,
    schema: &TableSchema,
    alias: &str,
    found: &mut Vec<(usize, Term)>,
) -> Option<()> {
    match expr {
        Expr::Nested(inner) => collect(inner, schema, alias, found),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And,
            right,
        } => {
            collect(left, schema, alias, found)?;
            collect(right, schema, alias, found)
        }
        Expr::BinaryOp {
            left,
            op: BinaryOperator::Eq,
            right,
        } => {
            let pair = |column: &Expr, value: &Expr| {
                Some((column_of(column, schema, alias)?, term_of(value)?))
            };
            let (column, term) = pair(left, right).or_else(|| pair(right, left))?;
            if found.iter().any(|(known, _)| *known == column) {
                return None;
            }
            found.push((column, term));
            Some(())
        }
        _ => None,
    }
}

pub(super) fn column_of(expr: &Expr, schema: &TableSchema, alias: &str) -> Option<usize> {
    match expr {
        Expr::Identifier(ident) => schema.index_of(&fold(ident)),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, column] if fold(table) == alias => schema.index_of(&fold(column)),
            _ => None,
        },
        _ => None,
    }
}

fn term_of(expr: &Expr) -> Option<Term> {
    if let Some(number) = parameter::number_of(expr) {
        return Some(Term::Parameter(number));
    }
    match expr {
        Expr::Nested(inner) => term_of(inner),
        Expr::Value(value) => Some(Term::Given(match &value.value {
            Written::Null => Parameter::Null,
            Written::Number(digits, _) => Parameter::Integer(digits.parse().ok()?),
            Written::SingleQuotedString(text) => Parameter::Text(text.clone()),
            _ => return None,
        })),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match term_of(expr)? {
            Term::Given(Parameter::Integer(number)) => {
                Some(Term::Given(Parameter::Integer(number.checked_neg()?)))
            }
            _ => None,
        },
        _ => None,
    }
}
