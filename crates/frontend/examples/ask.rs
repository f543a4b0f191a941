//! Asks the front about SQL: statements of a file or of standard input are bound and run by
//! the reference interpreter, which needs no database.
//!
//! ```text
//! $ echo "create table t(a int); insert into t values (1), (2); select sum(a) from t" |
//!       cargo run --package freestone-frontend --example ask
//! 3
//! ```
//!
//! With `--unnest` plans are run after their sub-queries have become joins.
//!
//! It knows CREATE TABLE, INSERT, SET timezone and queries. A line `-- next` begins anew with no
//! tables. Each query prints its rows (`|` between columns, NULL as `∅`) or its error.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use freestone_frontend::bind::{Binder, Catalog, Found, written_type};
use freestone_frontend::evaluate::fold::Fold;
use freestone_frontend::functions::kernel::{Call, Column as Values};
use freestone_frontend::functions::{Session, cast_between};
use freestone_frontend::plan::{Plan, Relation};
use freestone_frontend::rewrite::unnest;
use freestone_frontend::types::Type;
use freestone_frontend::{Error, Position, Result, reference, syntax};
use sqlparser::ast::{Set, Statement};

/// Columns of a table and its rows.
type Stored = (Vec<(String, Type)>, Vec<RecordBatch>);

/// Tables in memory.
#[derive(Default)]
struct Tables {
    named: RefCell<HashMap<String, Stored>>,
}

impl Catalog for Tables {
    fn relation(&self, _: Option<&str>, name: &str, _: Option<Position>) -> Result<Option<Found>> {
        let named = self.named.borrow();
        Ok(named.get(name).map(|(columns, _)| {
            Found::Relation(Relation {
                schema: "public".to_owned(),
                name: name.to_owned(),
                columns: columns.clone(),
                hidden: Vec::new(),
                key: Vec::new(),
                handle: Arc::new(()),
            })
        }))
    }
}

fn main() {
    // Deep expressions are walked by recursion.
    let worker = std::thread::Builder::new().stack_size(1 << 30).spawn(work);
    let done = worker.map(std::thread::JoinHandle::join);
    if !matches!(done, Ok(Ok(()))) {
        std::process::exit(1);
    }
}

fn work() {
    let mut text = String::new();
    let file = std::env::args()
        .skip(1)
        .find(|argument| argument != "--unnest");
    let read = match file {
        Some(path) => std::fs::read_to_string(path).map(|read| text = read),
        None => std::io::stdin().read_to_string(&mut text).map(|_| ()),
    };
    if let Err(error) = read {
        eprintln!("{error}");
        return;
    }
    let mut out = std::io::stdout().lock();
    for (number, block) in text.split("-- next\n").enumerate() {
        let (mut session, tables) = (Session::default(), Tables::default());
        if number > 0 {
            let _ = writeln!(out, "-- next");
        }
        for answer in answers(block, &tables, &mut session) {
            let _ = writeln!(out, "{answer}");
        }
    }
}

fn answers(text: &str, tables: &Tables, session: &mut Session) -> Vec<String> {
    let statements = match syntax::statements(text) {
        Ok(statements) => statements,
        Err(error) => return vec![shown(&error)],
    };
    let mut answers = Vec::new();
    for statement in statements {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(&statement, tables, session)
        }));
        match done {
            Ok(Ok(rows)) => answers.extend(rows),
            Ok(Err(error)) => answers.push(shown(&error)),
            Err(_) => answers.push("ERROR PANIC".to_owned()),
        }
    }
    answers
}

fn shown(error: &Error) -> String {
    format!("ERROR {} {}", error.sqlstate, error.message)
}

fn run(statement: &Statement, tables: &Tables, session: &mut Session) -> Result<Vec<String>> {
    match statement {
        Statement::Query(query) => {
            let bound = Binder::new(tables, session).query(query)?;
            rows(&bound.plan, tables, session)
        }
        Statement::CreateTable(create) => {
            let mut columns = Vec::new();
            for column in &create.columns {
                let ty = written_type(&column.data_type, tables)?;
                columns.push((column.name.value.to_lowercase(), ty));
            }
            let name = create.name.to_string().to_lowercase();
            let mut batches = Vec::new();
            if let Some(query) = &create.query {
                let bound = Binder::new(tables, session).query(query)?;
                for column in &bound.columns {
                    columns.push((column.name.clone(), column.ty.clone()));
                }
                let arrays = values(&bound.plan, &columns, tables, session)?;
                batches.push(batch(&columns, arrays)?);
            }
            tables.named.borrow_mut().insert(name, (columns, batches));
            Ok(Vec::new())
        }
        Statement::Insert(insert) => {
            let name = insert.table.to_string().to_lowercase();
            let found = tables
                .named
                .borrow()
                .get(&name)
                .map(|(columns, _)| columns.clone());
            let columns = found.ok_or_else(|| Error::new("42P01", format!("no table {name}")))?;
            let Some(query) = &insert.source else {
                return Err(Error::unsupported("INSERT without rows"));
            };
            let bound = Binder::new(tables, session).query(query)?;
            let arrays = values(&bound.plan, &columns, tables, session)?;
            let batch = batch(&columns, arrays)?;
            if let Some((_, batches)) = tables.named.borrow_mut().get_mut(&name) {
                batches.push(batch);
            }
            Ok(Vec::new())
        }
        Statement::Set(Set::SetTimeZone { value, .. }) => {
            session.time_zone = value.to_string().trim_matches('\'').to_owned();
            Ok(Vec::new())
        }
        Statement::Set(Set::SingleAssignment {
            variable, values, ..
        }) => {
            let value = values.first().map(ToString::to_string).unwrap_or_default();
            let value = value.trim_matches('\'').to_owned();
            match variable.to_string().to_lowercase().as_str() {
                "timezone" => session.time_zone = value,
                "datestyle" => session.date_style = value,
                "intervalstyle" => session.interval_style = value,
                _ => {}
            }
            Ok(Vec::new())
        }
        other => Err(Error::unsupported(format!("{other}"))),
    }
}

/// The columns of a plan as values of some types.
fn values(
    plan: &Plan,
    columns: &[(String, Type)],
    tables: &Tables,
    session: &Session,
) -> Result<Vec<ArrayRef>> {
    let given = plan.columns();
    let table = result(plan, tables, session)?;
    let mut arrays = Vec::new();
    for (column, (_, to)) in given.iter().zip(columns) {
        let array = table.column(column.id).cloned();
        let array = array.ok_or_else(|| Error::internal("a column is missing"))?;
        arrays.push(cast(array, &column.ty, to, session)?);
    }
    for (_, ty) in columns.iter().skip(arrays.len()) {
        arrays.push(arrow_array::new_null_array(&ty.arrow(), table.rows));
    }
    Ok(arrays)
}

fn batch(columns: &[(String, Type)], arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    let fields = columns
        .iter()
        .map(|(name, ty)| Field::new(name, ty.arrow(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    Ok(RecordBatch::try_new(Arc::new(schema), arrays)?)
}

fn result(plan: &Plan, tables: &Tables, session: &Session) -> Result<reference::Table> {
    let of = |relation: &Relation| {
        let named = tables.named.borrow();
        Ok(named
            .get(&relation.name)
            .map(|(_, batches)| batches.clone())
            .unwrap_or_default())
    };
    if std::env::args().any(|argument| argument == "--unnest") {
        let fold = Fold {
            session,
            stable: true,
            parameters: &[],
        };
        let mut plan = plan.clone();
        fold.plan(&mut plan);
        return reference::run(&unnest(plan), &of, session, &[]);
    }
    reference::run(plan, &of, session, &[])
}

fn rows(plan: &Plan, tables: &Tables, session: &Session) -> Result<Vec<String>> {
    let table = result(plan, tables, session)?;
    let mut texts = Vec::new();
    for column in plan.columns() {
        let array = table.column(column.id).cloned();
        let array = array.ok_or_else(|| Error::internal("a column is missing"))?;
        let text = match column.ty {
            // As psql shows it.
            Type::Bool => Arc::new(
                array
                    .as_boolean()
                    .iter()
                    .map(|value| value.map(|value| if value { "t" } else { "f" }))
                    .collect::<arrow_array::StringViewArray>(),
            ),
            ref ty => cast(array, ty, &Type::Text, session)?,
        };
        texts.push(text);
    }
    let row = |row: usize| {
        let cells = texts.iter().map(|text| match text.is_null(row) {
            true => "∅".to_owned(),
            false => text.as_string_view().value(row).to_owned(),
        });
        cells.collect::<Vec<_>>().join("|")
    };
    Ok((0..table.rows).map(row).collect())
}

fn cast(array: ArrayRef, from: &Type, to: &Type, session: &Session) -> Result<ArrayRef> {
    if from == to || array.data_type() == &to.arrow() && from.base() == to.base() {
        return Ok(array);
    }
    let base = match from {
        Type::Unknown => Type::Text,
        other => other.base(),
    };
    let cast = match base == to.base() {
        true => freestone_frontend::functions::catalogue()
            .cast_of(&base, to)
            .cloned(),
        false => cast_between(&base, &to.base()),
    };
    let cast = cast.ok_or_else(|| Error::new("42846", format!("cannot cast {from} to {to}")))?;
    let Some(function) = cast.function else {
        return Ok(array);
    };
    let call = Call {
        rows: array.len(),
        types: std::slice::from_ref(from),
        returns: to,
        session,
    };
    (function.kernel)(&call, &[Values::rows(array)])
}
