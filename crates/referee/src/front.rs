//! Freestone's language front in this process: statements are parsed, bound and run by the
//! reference interpreter over tables in memory.
//!
//! It knows CREATE TABLE, INSERT, DROP TABLE, SET and queries, and takes CREATE INDEX and VACUUM
//! for statements without an effect; anything else is refused with
//! `0A000`. A panic is the answer `XX000`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringViewArray};
use arrow_schema::{Field, Schema};
use freestone_frontend::bind::{Binder, Bound, Catalog, Found, View, written_type};
use freestone_frontend::evaluate::fold::Fold;
use freestone_frontend::functions::arrays::casts::output;
use freestone_frontend::functions::kernel::{Call, Column as Values};
use freestone_frontend::functions::{Session, cast_between, catalogue};
use freestone_frontend::plan::{self, Plan, Relation};
use freestone_frontend::types::Type;
use freestone_frontend::{Error, Position, Result, reference, rewrite, syntax};
use sqlparser::ast::{ColumnOption, Insert, Query, Set, Statement, TableConstraint};

use crate::answer::{Answer, Cell, Side};

/// A table in memory.
#[derive(Clone)]
struct Stored {
    columns: Vec<(String, Type)>,
    key: Vec<usize>,
    batches: Vec<RecordBatch>,
}

/// Tables in memory, and views.
#[derive(Default)]
struct Tables(
    RefCell<HashMap<String, Stored>>,
    RefCell<HashMap<String, Box<Query>>>,
);

impl Catalog for Tables {
    fn relation(
        &self,
        schema: Option<&str>,
        name: &str,
        _: Option<Position>,
    ) -> Result<Option<Found>> {
        if schema.is_some_and(|schema| schema != "public") {
            return Ok(None);
        }
        if let Some(query) = self.1.borrow().get(name) {
            return Ok(Some(Found::View(View {
                query: query.clone(),
                schema: "public".to_owned(),
                name: name.to_owned(),
                hidden: 0,
                barrier: false,
            })));
        }
        let named = self.0.borrow();
        Ok(named.get(name).map(|stored| {
            Found::Relation(Relation {
                schema: "public".to_owned(),
                name: name.to_owned(),
                columns: stored.columns.clone(),
                hidden: Vec::new(),
                key: stored.key.clone(),
                number: 0,
                handle: Arc::new(()),
            })
        }))
    }
}

/// The language front.
pub struct Front {
    tables: Tables,
    session: Session,
    /// Whether plans of queries are rewritten before they run.
    rewrites: bool,
}

impl Default for Front {
    fn default() -> Self {
        let session = Session {
            user: "postgres".to_owned(),
            session_user: "postgres".to_owned(),
            database: "postgres".to_owned(),
            ..Session::default()
        };
        Self {
            tables: Tables::default(),
            session,
            rewrites: false,
        }
    }
}

impl Side for Front {
    fn ask(&mut self, statements: &[String]) -> io::Result<Vec<Answer>> {
        let answers = statements.iter().map(|text| {
            let done = catch_unwind(AssertUnwindSafe(|| self.answer(text)));
            done.unwrap_or_else(|_| Answer::failed("XX000", "panic"))
        });
        Ok(answers.collect())
    }

    fn reset(&mut self) -> io::Result<()> {
        *self = Self {
            rewrites: self.rewrites,
            ..Self::default()
        };
        Ok(())
    }
}

/// The time that each stage of a query takes.
#[derive(Clone, Debug)]
pub struct Stages {
    /// Text to a syntax tree.
    pub parse: Duration,
    /// Syntax tree to a plan.
    pub bind: Duration,
    /// Constant folding.
    pub fold: Duration,
    /// Sub-queries become joins.
    pub rewrite: Duration,
    /// The reference interpreter runs the bound plan and the rewritten one.
    pub run: Duration,
    /// All trees are freed.
    pub free: Duration,
    /// The number of rows.
    pub rows: Result<usize>,
}

impl Front {
    /// The stages of a query, one by one; it is run if that is asked for.
    pub fn stages(&self, text: &str, run: bool) -> Stages {
        let mut stages = Stages {
            parse: Duration::ZERO,
            bind: Duration::ZERO,
            fold: Duration::ZERO,
            rewrite: Duration::ZERO,
            run: Duration::ZERO,
            free: Duration::ZERO,
            rows: Ok(0),
        };
        stages.rows = self.staged(text, run, &mut stages);
        stages
    }

    fn staged(&self, text: &str, run: bool, stages: &mut Stages) -> Result<usize> {
        let mut clock = Instant::now();
        let mut lap = |stage: &mut Duration| {
            let now = Instant::now();
            *stage += now - clock;
            clock = now;
        };
        let query = syntax::query(text);
        lap(&mut stages.parse);
        let query = query?;
        let bound = Binder::new(&self.tables, &self.session).query(&query);
        lap(&mut stages.bind);
        drop(query);
        lap(&mut stages.free);
        let plan = bound?.plan;
        let mut folded = plan.clone();
        let fold = Fold {
            session: &self.session,
            stable: true,
            parameters: &[],
        };
        fold.plan(&mut folded);
        lap(&mut stages.fold);
        let rewritten = rewrite::unnest(folded);
        lap(&mut stages.rewrite);
        let mut rows = 0;
        if run {
            let table = self.result(&plan);
            let again = self.result(&rewritten);
            lap(&mut stages.run);
            rows = table?.rows;
            if again?.rows != rows {
                return Err(Error::internal("the rewritten plan has other rows"));
            }
        }
        drop((plan, rewritten));
        lap(&mut stages.free);
        Ok(rows)
    }

    /// The front with its plans rewritten, sub-queries being joins: it must answer as the front
    /// without.
    pub fn rewritten() -> Self {
        Self {
            rewrites: true,
            ..Self::default()
        }
    }

    fn answer(&mut self, text: &str) -> Answer {
        let statements = match syntax::statements(text) {
            Ok(statements) => statements,
            Err(error) => return failed(&error),
        };
        let mut last = Answer {
            columns: None,
            rows: Ok(Vec::new()),
            done: None,
        };
        for statement in &statements {
            match self.run(statement) {
                Ok(answer) => last = answer,
                Err(error) => return failed(&error),
            }
        }
        last
    }

    fn run(&mut self, statement: &Statement) -> Result<Answer> {
        match statement {
            Statement::Query(query) => {
                let bound = Binder::new(&self.tables, &self.session).query(query)?;
                let columns = bound.columns.iter();
                // A literal of no type is seen as a text.
                let shown = |ty: &Type| match ty {
                    Type::Unknown => Type::Text.to_string(),
                    ty => ty.to_string(),
                };
                let columns = columns.map(|column| (column.name.clone(), shown(&column.ty)));
                let columns = columns.collect();
                let plan = match self.rewrites {
                    true => rewrite::unnest(bound.plan),
                    false => bound.plan,
                };
                Ok(Answer {
                    columns: Some(columns),
                    rows: Ok(self.texts(&plan)?),
                    done: None,
                })
            }
            Statement::CreateTable(create) => {
                let name = create.name.to_string().to_lowercase();
                let mut stored = Stored {
                    columns: Vec::new(),
                    key: Vec::new(),
                    batches: Vec::new(),
                };
                for (at, column) in create.columns.iter().enumerate() {
                    let ty = written_type(&column.data_type, &self.tables)?;
                    stored.columns.push((column.name.value.to_lowercase(), ty));
                    let mut options = column.options.iter();
                    if options.any(|option| matches!(option.option, ColumnOption::PrimaryKey(_))) {
                        stored.key.push(at);
                    }
                }
                for constraint in &create.constraints {
                    if let TableConstraint::PrimaryKey(key) = constraint {
                        let names: Vec<String> =
                            key.columns.iter().map(|c| c.to_string()).collect();
                        let columns = stored.columns.iter().enumerate();
                        let places = columns.filter(|(_, (name, _))| names.contains(name));
                        stored.key = places.map(|(at, _)| at).collect();
                    }
                }
                if let Some(query) = &create.query {
                    let bound = Binder::new(&self.tables, &self.session).query(query)?;
                    let columns = bound.plan.columns().into_iter();
                    let columns = columns.map(|column| (column.name, column.ty));
                    stored.columns = columns.collect();
                    stored.batches.push(self.batch(&bound, &stored.columns)?);
                }
                self.tables.0.borrow_mut().insert(name, stored);
                Ok(done())
            }
            Statement::CreateView(view) if view.columns.is_empty() && !view.materialized => {
                let name = view.name.to_string().to_lowercase();
                self.tables.1.borrow_mut().insert(name, view.query.clone());
                Ok(done())
            }
            Statement::Insert(insert) => self.insert(insert),
            // They change no answer.
            Statement::CreateIndex(_) | Statement::Vacuum(_) => Ok(done()),
            Statement::Drop { names, .. } => {
                for name in names {
                    let name = name.to_string().to_lowercase();
                    self.tables.0.borrow_mut().remove(&name);
                }
                Ok(done())
            }
            Statement::Set(Set::SetTimeZone { value, .. }) => {
                self.session.time_zone = value.to_string().trim_matches('\'').to_owned();
                Ok(done())
            }
            Statement::Set(Set::SingleAssignment {
                variable, values, ..
            }) => {
                let value = values.first().map(ToString::to_string).unwrap_or_default();
                let value = value.trim_matches('\'').to_owned();
                match variable.to_string().to_lowercase().as_str() {
                    "timezone" => self.session.time_zone = value,
                    "datestyle" => self.session.date_style = value,
                    "intervalstyle" => self.session.interval_style = value,
                    "bytea_output" => self.session.bytea_escape = value == "escape",
                    "extra_float_digits" => {
                        self.session.extra_float_digits = value.parse().unwrap_or(1);
                    }
                    _ => {}
                }
                Ok(done())
            }
            other => Err(Error::unsupported(format!("{other}"))),
        }
    }

    fn insert(&mut self, insert: &Insert) -> Result<Answer> {
        let name = insert.table.to_string().to_lowercase();
        let found = self.tables.0.borrow().get(&name).cloned();
        let stored = found.ok_or_else(|| Error::new("42P01", format!("no table {name}")))?;
        let Some(query) = &insert.source else {
            return Err(Error::unsupported("INSERT without rows"));
        };
        let mut targets = stored.columns.clone();
        if !insert.columns.is_empty() {
            let wanted = insert.columns.iter().map(|column| {
                let column = column.to_string().to_lowercase();
                let found = stored.columns.iter().find(|(name, _)| *name == column);
                found.cloned().ok_or_else(|| {
                    let message =
                        format!("column \"{column}\" of relation \"{name}\" does not exist");
                    Error::new("42703", message)
                })
            });
            targets = wanted.collect::<Result<Vec<_>>>()?;
        }
        let binder = Binder::new(&self.tables, &self.session);
        let bound = binder.query_into(query, &targets)?;
        let given = self.batch(&bound, &targets)?;
        let arrays = stored.columns.iter().map(|(name, ty)| {
            let at = targets.iter().position(|(target, _)| target == name);
            let array = at.map(|at| given.column(at).clone());
            array.unwrap_or_else(|| arrow_array::new_null_array(&ty.arrow(), given.num_rows()))
        });
        let batch = batch_of(&stored.columns, arrays.collect(), given.num_rows())?;
        if let Some(stored) = self.tables.0.borrow_mut().get_mut(&name) {
            stored.batches.push(batch);
        }
        Ok(done())
    }

    /// A query's rows as values of some columns; columns that it does not give are NULL.
    fn batch(&self, bound: &Bound, columns: &[(String, Type)]) -> Result<RecordBatch> {
        let table = self.result(&bound.plan)?;
        let mut arrays = Vec::new();
        for (column, (_, to)) in bound.plan.columns().iter().zip(columns) {
            let array = table.column(column.id).cloned();
            let array = array.ok_or_else(|| Error::internal("a column is missing"))?;
            arrays.push(cast(array, &column.ty, to, &self.session)?);
        }
        for (_, ty) in columns.iter().skip(arrays.len()) {
            arrays.push(arrow_array::new_null_array(&ty.arrow(), table.rows));
        }
        batch_of(columns, arrays, table.rows)
    }

    fn result(&self, plan: &Plan) -> Result<reference::Table> {
        let of = |relation: &Relation, columns: &[(plan::Column, usize)]| {
            let named = self.tables.0.borrow();
            let batches = named
                .get(&relation.name)
                .map(|stored| stored.batches.clone());
            reference::read(&batches.unwrap_or_default(), columns)
        };
        reference::run(plan, &of, &self.session, &[])
    }

    fn texts(&self, plan: &Plan) -> Result<Vec<Vec<Cell>>> {
        let table = self.result(plan)?;
        let mut texts = Vec::new();
        for column in plan.columns() {
            let array = table.column(column.id).cloned();
            let array = array.ok_or_else(|| Error::internal("a column is missing"))?;
            let text = match column.ty {
                // The protocol's form of a boolean, which is not its cast to TEXT.
                Type::Bool => Arc::new(
                    array
                        .as_boolean()
                        .iter()
                        .map(|value| value.map(|value| if value { "t" } else { "f" }))
                        .collect::<StringViewArray>(),
                ),
                // Nor is that of an address.
                Type::Inet => output(&array, &Type::Inet, &self.session)?,
                ref ty => cast(array, ty, &Type::Text, &self.session)?,
            };
            texts.push(text);
        }
        let blanks = plan.columns().into_iter().map(|column| match column.ty {
            Type::Char(Some(n)) => n as usize,
            _ => 0,
        });
        let blanks: Vec<usize> = blanks.collect();
        let row = |row: usize| {
            let cells = texts.iter().zip(&blanks).map(|(text, blanks)| {
                let text = text.as_string_view();
                // CHAR(n) is held without the blanks that a client sees.
                (!text.is_null(row)).then(|| format!("{:blanks$}", text.value(row)))
            });
            cells.collect()
        };
        Ok((0..table.rows).map(row).collect())
    }
}

/// Values of columns of some names and types.
fn batch_of(columns: &[(String, Type)], arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let fields = columns.iter();
    let fields = fields.map(|(name, ty)| Field::new(name, ty.arrow(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
}

fn done() -> Answer {
    Answer {
        columns: None,
        rows: Ok(Vec::new()),
        done: None,
    }
}

fn failed(error: &Error) -> Answer {
    Answer::failed(error.sqlstate, error.message.clone())
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
        true => catalogue().cast_of(&base, to).cloned(),
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
