//! INSERT of rows of literals, parameters, the current time and numbers of sequences, which needs no
//! plan.
//!
//! Only a statement that is understood whole is taken here. One that may fail because of a value
//! is left to the general way, which says why.

use std::sync::Arc;

use freestone_frontend::types::RangeOf;
use freestone_storage::delta::stored_key;
use freestone_storage::row::cell;
use freestone_storage::{
    Catalog, Column, ColumnType, Privileges, Row, Snapshot, Transaction, Value,
};
use sqlparser::ast::{Expr, FunctionArguments, Insert, SetExpr, Statement as Ast, TableObject};

use super::clauses::refuse_clauses;
use super::identity::Overriding;
use super::insert::{is_simple, target_columns};
use super::literal::{Literal, is_default, literal, plain_values};
use crate::error::Result;
use crate::front::{nextval_of, parse_expr};
use crate::functions::sequences::usable;
use crate::names::{Name, named, table_name};
use crate::parameter::{self, Parameter};
use crate::relations::may_change;
use crate::sequences::TakenNumbers;
use crate::session::{Moment, NewRows, NumberOf, Session, Source};
use crate::types::type_held;
use crate::values::text::{fit_char, fit_varchar, parse_decimal, parse_int};
use crate::values::{ColumnBuilder, is_the_same_everywhere};

/// Most rows of one statement; more are made column by column.
const MOST_ROWS: usize = 500;

/// Whether an expression is the time at which its transaction began, as a value that may be
/// assigned to a column of a type.
fn is_now(expr: &Expr, kind: &ColumnType) -> bool {
    let Expr::Function(call) = expr else {
        return false;
    };
    let bare = match &call.args {
        FunctionArguments::None => true,
        FunctionArguments::List(list) => list.args.is_empty() && list.clauses.is_empty(),
        FunctionArguments::Subquery(_) => false,
    };
    let bare = bare && call.over.is_none() && call.filter.is_none();
    let fits: &[ColumnType] = match call.name.to_string().to_ascii_lowercase().as_str() {
        "current_timestamp" | "now" | "transaction_timestamp" => &[
            ColumnType::TimestampTz,
            ColumnType::Timestamp,
            ColumnType::Date,
        ],
        "localtimestamp" => &[ColumnType::Timestamp, ColumnType::Date],
        "current_date" => &[ColumnType::Date],
        _ => return false,
    };
    bare && fits.contains(kind)
}

impl Source {
    /// A literal, a parameter or the current time; `None` for anything else.
    fn of(expr: &Expr, column: &Column) -> Option<Source> {
        if column.modifier.is_none() && is_now(expr, &column.kind) {
            return Some(Source::Now);
        }
        if let Some(number) = parameter::number_of(expr) {
            return Some(Source::Parameter(number));
        }
        Some(Source::Given(match literal(expr, &column.kind)? {
            Literal::Null if column.nullable => None,
            Literal::Null => return None,
            Literal::Number(digits) => Some(read(&digits, column)?),
            Literal::Text(text) => Some(read(text, column)?),
        }))
    }

    /// The value for a column; `None` if it may not fit. A number of a sequence is NULL: it is taken
    /// when all other values fit.
    fn value(
        &self,
        column: &Column,
        parameters: &[Parameter],
        moment: Option<&Moment>,
    ) -> Option<Option<Value>> {
        match self {
            Source::Now => moment?.value(&column.kind).map(Some),
            Source::Given(value) => Some(value.clone()),
            Source::Next(_) => Some(None),
            Source::Parameter(number) => storable(parameters.get(*number)?, column),
        }
    }
}

impl NewRows {
    /// Reads a statement; `None` for one of another form, or one that is wrong: run in the
    /// general way it fails as a statement does, and the transaction around it with it.
    pub(crate) fn of(session: &Session, ast: &Ast) -> Option<NewRows> {
        let Ast::Insert(insert) = ast else {
            return None;
        };
        let open = session.transaction().glance().ok()?;
        let snapshot = open.unwrap_or_else(|| session.database().store().snapshot());
        let rows = of_insert(&snapshot, insert)?;
        // Functions of other schemas may come before PostgreSQL's own.
        (!rows.is_dated() || !session.client().has_path()).then_some(rows)
    }

    /// Whether some value is the current time.
    pub(crate) fn is_dated(&self) -> bool {
        let mut values = self.rows.iter().flatten();
        values.any(|value| matches!(value, Source::Now))
    }

    /// Whether the session may add the rows; if not, the general way says why.
    pub(crate) fn is_allowed(&self, session: &Session, catalog: &Catalog) -> bool {
        if !session.identity().is_limited() {
            return true;
        }
        let rights = session.identity().rights(catalog);
        let mut sources = self.rows.iter().flatten();
        let may_take = sources.all(|source| match source {
            Source::Next(of) if !of.is_own => usable(&rights, catalog, &of.name, "nextval").is_ok(),
            _ => true,
        });
        if !may_take {
            return false;
        }
        let table = catalog.table(&self.name.schema, &self.name.name);
        table.is_some_and(|table| {
            rights.within(&self.name.schema, &table.id.into(), Privileges::INSERT)
        })
    }

    /// Adds the rows; how many they are. `None` if the table is another by now, or a value may not
    /// fit: then nothing has changed.
    ///
    /// # Errors
    /// Errors of constraints.
    pub(crate) fn insert(
        &self,
        transaction: &mut Transaction,
        (parameters, moment): (&[Parameter], Option<&Moment>),
        numbers: &TakenNumbers,
    ) -> Result<Option<u64>> {
        let table = transaction
            .catalog()
            .table(&self.name.schema, &self.name.name);
        let known = table.filter(|table| Arc::ptr_eq(&table.schema, &self.schema));
        let Some(table) = known.cloned() else {
            return Ok(None);
        };
        let row = |sources: &Vec<Source>| -> Option<Row> {
            let values = sources.iter().zip(&self.schema.columns);
            values
                .map(|(source, column)| source.value(column, parameters, moment))
                .collect()
        };
        let rows: Option<Vec<Row>> = self.rows.iter().map(row).collect();
        let Some(mut rows) = rows else {
            return Ok(None);
        };
        if !self.number(&mut rows, transaction.catalog(), numbers)? {
            return Ok(None);
        }
        let first = transaction.insert_rows(table.id, &rows)?;
        transaction.check_keys(table.id, first)?;
        table.activity().inserted(rows.len() as u64);
        Ok(Some(rows.len() as u64))
    }
}

impl NewRows {
    /// Gives rows the numbers that their columns take of sequences; `false` if one may not fit.
    ///
    /// # Errors
    /// `2200H` if a sequence has no more numbers.
    fn number(&self, rows: &mut [Row], catalog: &Catalog, numbers: &TakenNumbers) -> Result<bool> {
        for (at, column) in self.schema.columns.iter().enumerate() {
            let sources = self.rows.iter().map(|sources| match sources.get(at) {
                Some(Source::Next(of)) => Some(of),
                _ => None,
            });
            let Some(of) = sources.clone().flatten().next() else {
                continue;
            };
            let count = sources.clone().flatten().count();
            let sequence = catalog.sequence(&of.name.schema, &of.name.name);
            let Some(sequence) = sequence.filter(|sequence| sequence.id == of.id) else {
                return Ok(false);
            };
            // It may change rows, so that it may take numbers.
            numbers.set_read_only(false);
            let mut taken = numbers.next(sequence, count)?.into_iter();
            for (row, _) in rows.iter_mut().zip(sources).filter(|(_, of)| of.is_some()) {
                let number = taken.next().map(Parameter::Integer);
                let value = number.and_then(|number| storable(&number, column));
                let (Some(value), Some(cell)) = (value, row.get_mut(at)) else {
                    return Ok(false);
                };
                *cell = value;
            }
        }
        Ok(true)
    }
}

/// The sequence of which a column takes numbers by its default.
fn numbers_of(catalog: &Catalog, column: &Column) -> Option<NumberOf> {
    if let Some(identity) = column.identity {
        let (schema, sequence) = catalog.sequence_by_id(identity.sequence)?;
        let name = Name {
            schema: schema.to_owned(),
            name: sequence.name.clone(),
            position: None,
        };
        return Some(NumberOf {
            name,
            id: sequence.id,
            is_own: true,
        });
    }
    let default = parse_expr(column.default.as_deref()?).ok()?;
    let name = named(nextval_of(&default)?).ok()?;
    let id = catalog.sequence(&name.schema, &name.name)?.id;
    Some(NumberOf {
        name,
        id,
        is_own: false,
    })
}

fn of_insert(snapshot: &Snapshot, insert: &Insert) -> Option<NewRows> {
    let plain = insert.on.is_none() && insert.returning.is_none() && insert.table_alias.is_none();
    let TableObject::TableName(written) = &insert.table else {
        return None;
    };
    let name = table_name(written).ok()?;
    let table = snapshot.table(&name.schema, &name.name)?;
    may_change(&name, table).ok()?;
    let schema = Arc::clone(&table.schema);
    let simple = schema.columns.iter().all(is_simple);
    let plain = plain && simple && !schema.is_in_partitions();
    if !plain
        || Overriding::of(insert) != Overriding::Nothing
        || refuse_clauses(insert).is_err()
        || !schema.checks.is_empty()
    {
        return None;
    }
    let SetExpr::Values(values) = insert.source.as_deref()?.body.as_ref() else {
        return None;
    };
    if values.rows.len() > MOST_ROWS {
        return None;
    }
    plain_values(insert.source.as_deref()?)?;
    let targets = target_columns(&schema, &name, insert).ok()?;
    let listed = !insert.columns.is_empty();
    let width = values.rows.first()?.content.len();
    if width > targets.len() || (listed && width != targets.len()) {
        return None;
    }
    // Where the value of each column stands, and the value if there is none.
    let mut places = Vec::with_capacity(schema.columns.len());
    for (index, column) in schema.columns.iter().enumerate() {
        let place = targets[..width].iter().position(|target| *target == index);
        let defaults = |place: usize| {
            let rows = values.rows.iter();
            rows.filter(move |row| row.content.get(place).is_some_and(is_default))
        };
        let has_default = place.is_none_or(|place| defaults(place).next().is_some());
        // Some columns take no values but those of their sequences.
        let is_always = column.identity.is_some_and(|identity| identity.always);
        if is_always && place.is_some_and(|place| defaults(place).count() < values.rows.len()) {
            return None;
        }
        let next = match has_default {
            true => numbers_of(snapshot.catalog(), column),
            false => None,
        };
        let otherwise = match (&column.default, has_default) {
            (_, false) => None,
            (Some(_), _) if next.is_some() => next.map(Source::Next),
            (Some(text), _) => Some(Source::of(&parse_expr(text).ok()?, column)?),
            (None, _) if column.nullable => Some(Source::Given(None)),
            (None, _) => return None,
        };
        places.push((place, otherwise));
    }
    let row_of = |given: &[Expr]| -> Option<Vec<Source>> {
        if given.len() != width {
            return None;
        }
        let columns = places.iter().zip(&schema.columns);
        let sources = columns.map(|((place, otherwise), column)| {
            let expr = place.and_then(|place| given.get(place));
            match expr.filter(|expr| !is_default(expr)) {
                Some(expr) => Source::of(expr, column),
                None => otherwise.clone(),
            }
        });
        sources.collect()
    };
    let rows = values.rows.iter().map(|row| row_of(&row.content));
    Some(NewRows {
        name,
        schema: Arc::clone(&schema),
        rows: rows.collect::<Option<_>>()?,
    })
}

/// The value of a parameter for a column; `None` if it may not fit.
fn storable(given: &Parameter, column: &Column) -> Option<Option<Value>> {
    let kind = &column.kind;
    Some(Some(match (given, kind) {
        (Parameter::Null, _) => return column.nullable.then_some(None),
        // Texts and digits are read as what is declared.
        (Parameter::Integer(_) | Parameter::Double(_), _) if column.modifier.is_some() => {
            return None;
        }
        (
            Parameter::Integer(number),
            ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt,
        ) => {
            let value = Value::Int((*number).into());
            stored_key(&value, kind.physical())?;
            value
        }
        (
            Parameter::Integer(number),
            ColumnType::Real
            | ColumnType::Double
            | ColumnType::Decimal { .. }
            | ColumnType::Numeric,
        ) => read(&number.to_string(), column)?,
        (
            Parameter::Decimal(digits),
            ColumnType::Real
            | ColumnType::Double
            | ColumnType::Decimal { .. }
            | ColumnType::Numeric,
        ) => read(digits, column)?,
        (Parameter::Boolean(value), ColumnType::Boolean) => Value::Bool(*value),
        (Parameter::Double(value), ColumnType::Double) => Value::Float(*value),
        (Parameter::Text(text), _) => read(text, column)?,
        (Parameter::Bytes(bytes), ColumnType::Bytea) if column.modifier.is_none() => {
            Value::Bytes(bytes.clone())
        }
        _ => return None,
    }))
}

/// A value that is read from its text.
fn read(text: &str, column: &Column) -> Option<Value> {
    let kind = &column.kind;
    if column.modifier.is_none()
        && let Some(value) = plainly_read(text, kind)
    {
        return Some(value);
    }
    let range = type_held(column).innermost().range();
    let is_range_of_time = range.is_some_and(RangeOf::is_of_time);
    if is_range_of_time || !is_the_same_everywhere(kind, text) {
        return None;
    }
    let mut builder = ColumnBuilder::of(column, &Arc::default());
    builder.push(text).ok()?;
    cell(&builder.finish(), 0)
}

/// A value of a type that needs no more than its text; `None` for other types and for texts that
/// are not plainly one.
fn plainly_read(text: &str, kind: &ColumnType) -> Option<Value> {
    let bytes = |text: &str| Some(Value::Bytes(text.as_bytes().to_vec()));
    let whole = |min, max| {
        let number = parse_int("", text, min, max).ok()?;
        Some(Value::Int(number.into()))
    };
    match kind {
        ColumnType::Text | ColumnType::Varchar(None) => bytes(text),
        ColumnType::Varchar(Some(length)) => bytes(fit_varchar(text, *length).ok()?),
        ColumnType::Char(length) => bytes(fit_char(text, *length).ok()?),
        ColumnType::Integer => whole(i32::MIN.into(), i32::MAX.into()),
        ColumnType::BigInt => whole(i64::MIN, i64::MAX),
        ColumnType::Decimal { precision, scale } => {
            Some(Value::Int(parse_decimal(text, *precision, *scale).ok()?))
        }
        _ => None,
    }
}
