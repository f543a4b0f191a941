//! Prepared statements: parsed once, run with other values each time.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::Utc;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::ast::{
    CastKind, DataType as SqlType, Expr, ObjectName, Statement as Ast, Value,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use freestone_frontend::types::Type;
use freestone_storage::row::cell;
use freestone_storage::{Row, Snapshot};
use futures::{FutureExt, StreamExt, TryStreamExt};
use parking_lot::{Mutex, RwLock};

use super::Session;
use crate::error::{Error, Result, panicked, parser as syntax_error};
use crate::keyed::{KeyQuery, Keyed};
use crate::names::fold_part;
use crate::outcome::{Outcome, Rows};
use crate::parameter::{self, Parameter};
use crate::run::{NewRows, bound_by_keys, changes_rows, insert_at_once};
use crate::statement::Statement;
use crate::types::{OBJECT, type_of};

/// A statement with parameters, `$1`, `$2`, … or `?`. Any session of any database
/// can run it; what it was bound to is kept for the session that ran it last.
#[derive(Debug)]
pub struct Prepared {
    pub(super) statement: Statement,
    parameters: usize,
    /// The types of parameters that were declared.
    pub(super) types: Vec<Option<SqlType>>,
    /// The types that the use of parameters told when PREPARE was run.
    told: Vec<Option<SqlType>>,
    /// The columns of a query when PREPARE was run.
    columns: Option<SchemaRef>,
    rows: RwLock<Option<Arc<NewRows>>>,
    keys: RwLock<Option<Arc<KeyQuery>>>,
}

/// The keys by which the rows of a statement are found.
pub(crate) struct KnownKeys<'a> {
    pub(crate) keyed: Keyed<'a>,
    /// The prepared statement and its values; `None` if the statement has its values in it.
    pub(super) prepared: Option<(&'a Prepared, &'a [Parameter])>,
}

impl KnownKeys<'_> {
    /// The statement with its values in it, to be run in another way; `None` if it has them.
    ///
    /// # Errors
    /// As [`Prepared::bound`].
    pub(crate) fn ast(&self) -> Result<Option<Ast>> {
        let with_values = |(prepared, values): (&Prepared, &[Parameter])| {
            prepared.bound(&prepared.literals(values))
        };
        self.prepared.map(with_values).transpose()
    }
}

/// Statements that a session keeps by PREPARE, by their names.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements(Mutex<BTreeMap<String, Arc<KeptStatement>>>);

/// A statement that PREPARE keeps.
#[derive(Debug)]
pub(crate) struct KeptStatement {
    prepared: Arc<Prepared>,
    /// PREPARE as it was written.
    pub(crate) text: Arc<str>,
    /// The types of its parameters, as SQL writes them: those that PREPARE says, or else those
    /// that its use told then; text where neither tells.
    pub(crate) types: Vec<String>,
    /// When it was prepared, in microseconds since 1970.
    pub(crate) time: i64,
    executions: AtomicI64,
}

impl KeptStatement {
    /// How often it was executed.
    pub(crate) fn executions(&self) -> i64 {
        self.executions.load(Ordering::Relaxed)
    }
}

impl PreparedStatements {
    /// All of them, in the order of their names.
    pub(crate) fn all(&self) -> Vec<(String, Arc<KeptStatement>)> {
        let kept = self.0.lock();
        let all = kept.iter();
        all.map(|(name, one)| (name.clone(), Arc::clone(one)))
            .collect()
    }
}

/// The names of columns.
fn names(schema: &SchemaRef) -> Vec<&str> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().as_str()).collect()
}

/// The names and types of columns.
fn shape(schema: &SchemaRef) -> Vec<(&str, Type)> {
    let fields = schema.fields().iter();
    let shape = fields.map(|field| (field.name().as_str(), type_of(field).base()));
    shape.collect()
}

fn changed_columns() -> Error {
    Error::unsupported("cached plan must not change result type")
}

fn cast_to(expr: Expr, data_type: &SqlType) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(expr),
        data_type: data_type.clone(),
        array: false,
        format: None,
    }
}

/// The type that a value becomes of a parameter of a kind, if that is known by the kind.
fn assigned_type(kind: &DataType) -> Option<SqlType> {
    Some(match kind {
        DataType::Boolean => SqlType::Boolean,
        DataType::Int16 => SqlType::SmallInt(None),
        DataType::Int32 => SqlType::Integer(None),
        DataType::Int64 => SqlType::BigInt(None),
        DataType::Float32 => SqlType::Real,
        DataType::Float64 => SqlType::DoublePrecision,
        DataType::Date32 => SqlType::Date,
        DataType::Utf8View => SqlType::Text,
        _ => return None,
    })
}

/// Statements that a session may keep by PREPARE: they are in memory until DEALLOCATE.
const MOST_KEPT: usize = 10_000;

impl Prepared {
    /// Prepares a statement.
    ///
    /// # Errors
    /// `42601` for placeholders that are no parameters.
    pub fn new(statement: Statement) -> Result<Self> {
        // Parameters within PREPARE are those of the statement that it keeps.
        let parameters = match statement.sql() {
            Some(Ast::Prepare { .. }) => 0,
            _ => statement.walked(parameter::count).transpose()?.unwrap_or(0),
        };
        Ok(Self {
            parameters,
            statement,
            types: Vec::new(),
            told: Vec::new(),
            columns: None,
            rows: RwLock::default(),
            keys: RwLock::default(),
        })
    }

    /// The same with types for its parameters, as SQL writes them, where they are known.
    ///
    /// # Errors
    /// `42601` for a name that is no type.
    pub fn with_types(mut self, types: &[Option<&str>]) -> Result<Self> {
        let types = types.iter().map(|name| name.map(parsed_type).transpose());
        self.types = types.collect::<Result<_>>()?;
        Ok(self)
    }

    /// The same with the types that PREPARE says; one that is unknown is found by its use.
    pub(crate) fn with_data_types(mut self, types: &[SqlType]) -> Self {
        let is_unknown = |ty: &SqlType| match ty {
            SqlType::Custom(name, _) => name.to_string().eq_ignore_ascii_case("unknown"),
            _ => false,
        };
        let types = types.iter().cloned();
        self.types = types.map(|ty| (!is_unknown(&ty)).then_some(ty)).collect();
        self
    }

    /// The types of its parameters, as SQL writes them; text where nothing tells. They are
    /// kept, and so are its columns if it is a query.
    async fn type_names(&mut self, session: &Session) -> Vec<String> {
        // A statement that cannot be planned yet says so when it is executed.
        let untyped = |number| !matches!(self.types.get(number), Some(Some(_)));
        let gives = self.gives_columns();
        let described = match gives || (0..self.parameters).any(untyped) {
            true => self.describe(session).await.ok(),
            false => None,
        };
        let told = described.iter();
        let told = told.flat_map(|described| described.parameters.iter().zip(&described.said));
        let told = told.enumerate();
        let told = told.map(|(number, (kind, said))| match self.types.get(number) {
            Some(Some(_)) => None,
            _ if said.is_some() => None,
            _ => assigned_type(kind),
        });
        self.told = told.collect();
        if gives {
            self.columns = described.as_ref().and_then(|told| told.columns.clone());
        }
        let (told, said) =
            described.map_or_else(Default::default, |told| (told.parameters, told.said));
        let names = (0..self.parameters.max(self.types.len())).map(|number| {
            if let Some(Some(ty)) = self.types.get(number) {
                return ty.to_string();
            }
            let name = match (said.get(number), told.get(number)) {
                (Some(Some(said)), _) => Some(said.clone()),
                (_, Some(kind)) if *kind == OBJECT => Some("oid".to_owned()),
                (_, Some(kind)) => Some(type_of(&Field::new("", kind.clone(), true)).to_string()),
                (_, None) => None,
            };
            name.unwrap_or_else(|| "text".to_owned())
        });
        names.collect()
    }

    /// Whether it is a query, or changes rows and returns some.
    fn gives_columns(&self) -> bool {
        let Some(ast) = self.statement.sql() else {
            return false;
        };
        matches!(ast, Ast::Query(_)) || (changes_rows(ast) && self.statement.returns_rows())
    }

    /// Refuses a statement that changes rows if it would return other columns than PREPARE has
    /// told, before it changes any.
    ///
    /// # Errors
    /// `0A000` for other columns.
    pub(crate) async fn returns_as_told(&self, session: &Session) -> Result<()> {
        let Some(told) = &self.columns else {
            return Ok(());
        };
        if matches!(self.statement.sql(), Some(Ast::Query(_))) {
            return Ok(());
        }
        // A statement that cannot be planned any more says why when it is run.
        let Ok(described) = self.describe(session).await else {
            return Ok(());
        };
        match described.columns {
            Some(now) if shape(&now) != shape(told) => Err(changed_columns()),
            _ => Ok(()),
        }
    }

    /// The statement.
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// How many values it takes.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Runs it with a value for each parameter.
    ///
    /// # Errors
    /// `08P01` for too few values or too many; those of the statement.
    pub async fn run(&self, session: &Session, values: &[Parameter]) -> Result<Outcome> {
        if let Some(batch) = self.at_once(session, values)? {
            return Outcome::batch(batch);
        }
        let inserted = AssertUnwindSafe(self.insert_at_once(session, values)).catch_unwind();
        let inserted = inserted
            .await
            .unwrap_or_else(|panic| Err(panicked(&*panic)));
        let inserted = inserted.map_err(|error| session.told(&self.statement, error));
        if let Some(outcome) = inserted? {
            return Ok(outcome);
        }
        if let Some(query) = Box::pin(self.key_query(session)).await
            && let Some(values_of_keys) = query.values(values)
        {
            let keys = KnownKeys {
                keyed: Keyed {
                    query: &query,
                    values: values_of_keys,
                },
                prepared: Some((self, values)),
            };
            return session.run_keyed(&self.statement, &keys).await;
        }
        // Apart, so that the way past the planner does not move its state about.
        Box::pin(self.run_with(session, &self.literals(values))).await
    }

    /// Values as expressions of the types that parameters were declared with.
    fn literals(&self, values: &[Parameter]) -> Vec<Expr> {
        let literals = values.iter().enumerate();
        literals
            .map(|(number, value)| self.typed(number, value.literal()))
            .collect()
    }

    /// The statement with its parameters, bound for the session; `None` if its rows are not found
    /// by keys.
    async fn key_query(&self, session: &Session) -> Option<Arc<KeyQuery>> {
        let may_be = matches!(
            self.statement.sql(),
            Some(Ast::Query(_) | Ast::Update(_) | Ast::Delete(_))
        );
        if !may_be || session.has_own_names() || self.statement.is_deep() {
            return None;
        }
        let known = self.keys.read().clone();
        let known = known.filter(|known| known.fits(session.bound_with()));
        let query = match known {
            Some(known) => known,
            None => {
                let holders = self.holders();
                let made = Arc::new(bound_by_keys(session, &self.bound(&holders).ok()?).await?);
                *self.keys.write() = Some(Arc::clone(&made));
                made
            }
        };
        query.is_by_keys().then_some(query)
    }

    /// Its parameters as expressions of the types that they were declared with.
    pub(super) fn holders(&self) -> Vec<Expr> {
        let holder = |number: usize| {
            let text = format!("${}", number + 1);
            let holder = Expr::Value(Value::Placeholder(text).with_empty_span());
            self.typed(number, holder)
        };
        (0..self.parameters).map(holder).collect()
    }

    /// An expression for a parameter, of the type that it was declared with.
    pub(crate) fn typed(&self, number: usize, expr: Expr) -> Expr {
        match self.types.get(number) {
            Some(Some(data_type)) => cast_to(expr, data_type),
            _ => expr,
        }
    }

    /// A value that EXECUTE gives for a parameter, of the type that was declared or told.
    pub(crate) fn executed_with(&self, number: usize, expr: Expr) -> Expr {
        let number_or_truth = |expr: &Expr| match expr {
            Expr::Value(value) => matches!(value.value, Value::Number(..) | Value::Boolean(_)),
            _ => false,
        };
        match self.told.get(number) {
            // Values of other types, such as JSON and OIDs, are told as these, too.
            Some(Some(SqlType::Text | SqlType::BigInt(_))) if !number_or_truth(&expr) => expr,
            Some(Some(data_type)) => cast_to(expr, data_type),
            _ => self.typed(number, expr),
        }
    }

    /// The rows of a query with the names of columns that PREPARE has told: a value that was
    /// cast to the type of its parameter has none of its own.
    ///
    /// # Errors
    /// `0A000` for other columns than those that PREPARE has told.
    pub(crate) fn as_told(&self, rows: Rows) -> Result<Rows> {
        let Some(told) = &self.columns else {
            return Ok(rows);
        };
        let same_names = names(told) == names(&rows.schema);
        let same = match self.parameters {
            0 => shape(told) == shape(&rows.schema),
            // Their values may give types of their own.
            _ => told.fields().len() == rows.schema.fields().len(),
        };
        if !same {
            return Err(changed_columns());
        }
        if same_names {
            return Ok(rows);
        }
        let fields = rows.schema.fields().iter().zip(told.fields());
        let fields = fields.map(|(field, told)| field.as_ref().clone().with_name(told.name()));
        let metadata = rows.schema.metadata().clone();
        let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata);
        let schema = Arc::new(schema);
        let to = Arc::clone(&schema);
        let stream = rows.stream.map(move |batch| {
            let batch = batch?;
            let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let columns = batch.columns().to_vec();
            let named = RecordBatch::try_new_with_options(Arc::clone(&to), columns, &rows);
            Ok(named?)
        });
        Ok(Rows {
            stream: Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), stream)),
            schema,
        })
    }

    /// Adds rows without a plan; `None` if that is not what is asked for.
    async fn insert_at_once(
        &self,
        session: &Session,
        values: &[Parameter],
    ) -> Result<Option<Outcome>> {
        let is_insert = matches!(self.statement.sql(), Some(Ast::Insert(_)));
        let usual = values.len() == self.parameters && !session.has_own_names();
        if !is_insert || !usual || self.statement.is_deep() {
            return Ok(None);
        }
        let known = self.rows.read().clone();
        if let Some(row) = known {
            let outcome = insert_at_once(session, &row, values).await?;
            if outcome.is_some() {
                return Ok(outcome);
            }
        }
        let row = self
            .statement
            .sql()
            .and_then(|ast| NewRows::of(session, ast));
        let Some(row) = row else {
            return Ok(None);
        };
        let row = Arc::new(row);
        *self.rows.write() = Some(Arc::clone(&row));
        insert_at_once(session, &row, values).await
    }

    /// Runs it with an expression for each parameter.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub(crate) async fn run_with(&self, session: &Session, values: &[Expr]) -> Result<Outcome> {
        if self.statement.sql().is_none() {
            return session.run(&self.statement).await;
        }
        let ast = self.bound(values)?;
        session.run(&self.statement.with(ast)).await
    }

    /// The statement with an expression in the place of each parameter.
    ///
    /// # Errors
    /// `08P01` for too few values or too many.
    pub(crate) fn bound(&self, values: &[Expr]) -> Result<Ast> {
        let bind = |ast: &Ast| parameter::bind(ast, self.parameters, values);
        let none = || Err(Error::internal("a statement of our own has no parameters"));
        self.statement.walked(bind).unwrap_or_else(none)
    }

    /// Runs it and collects its rows.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub async fn rows(&self, session: &Session, values: &[Parameter]) -> Result<Vec<Row>> {
        let stored = |keyed: &Keyed<'_>, moment: &Snapshot| keyed.stored_rows(moment);
        if let Some(rows) = self.found(session, values, stored)? {
            return Ok(rows);
        }
        let run = Box::pin(self.run(session, values));
        let Outcome::Rows(rows) = run.await? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        let mut stream = rows.stream;
        while let Some(batch) = stream.try_next().await? {
            all.extend((0..batch.num_rows()).map(|row| {
                let columns = batch.columns().iter();
                columns.map(|column| cell(column, row)).collect::<Row>()
            }));
        }
        Ok(all)
    }

    /// The rows of a query by keys that the session has run before, at once: without waiting for
    /// anything. `None` in a transaction, and for other statements: [`Prepared::run`] has the
    /// answer then.
    ///
    /// # Errors
    /// Errors of the statement.
    pub fn at_once(&self, session: &Session, values: &[Parameter]) -> Result<Option<RecordBatch>> {
        let found = self.found(session, values, |keyed, moment| keyed.rows(moment))?;
        found.map(|batch| session.zoned_batch(batch)).transpose()
    }

    fn found<T>(
        &self,
        session: &Session,
        values: &[Parameter],
        find: impl Fn(&Keyed<'_>, &Snapshot) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let reads = match self.statement.sql() {
            Some(Ast::Query(query)) => query.locks.is_empty(),
            _ => false,
        };
        if !reads || session.in_transaction() || session.has_own_names() {
            return Ok(None);
        }
        let known = self.keys.read().clone();
        let Some(query) =
            known.filter(|known| known.is_by_keys() && known.fits(session.bound_with()))
        else {
            return Ok(None);
        };
        let Some(values) = query.values(values) else {
            return Ok(None);
        };
        let moment = session.database().store().snapshot();
        let keyed = Keyed {
            query: &query,
            values,
        };
        let found = AssertUnwindSafe(|| find(&keyed, &moment));
        catch_unwind(found).unwrap_or_else(|panic| Err(panicked(&*panic)))
    }
}

impl Session {
    /// Prepares one statement.
    ///
    /// # Errors
    /// `42601` for a text that is not exactly one statement.
    pub fn prepare(&self, sql: &str) -> Result<Prepared> {
        let mut statements = self.parse(sql)?;
        match (statements.pop(), statements.len()) {
            (Some(statement), 0) => Prepared::new(statement),
            (None, _) => Err(Error::new("42601", "expected one statement, found 0")),
            (Some(_), more) => Err(Error::new(
                "42601",
                format!("expected one statement, found {}", more + 1),
            )),
        }
    }

    /// Keeps a statement under a name, for EXECUTE.
    ///
    /// # Errors
    /// `42P05` if the name is taken, `54000` if there are too many.
    pub(crate) async fn keep(
        &self,
        name: String,
        mut prepared: Prepared,
        text: &str,
    ) -> Result<()> {
        let types = prepared.type_names(self).await;
        let mut kept = self.prepared.0.lock();
        if kept.contains_key(&name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(Error::new("42P05", message));
        }
        if kept.len() >= MOST_KEPT {
            let message = format!("a session keeps at most {MOST_KEPT} prepared statements");
            return Err(Error::new("54000", message)
                .with_hint("DEALLOCATE those that are not used any more"));
        }
        let one = KeptStatement {
            prepared: Arc::new(prepared),
            text: text.into(),
            types,
            time: Utc::now().timestamp_micros(),
            executions: AtomicI64::new(0),
        };
        kept.insert(name, Arc::new(one));
        Ok(())
    }

    /// What clients are told that a statement's rows are of, as in `SELECT 5`: EXECUTE is
    /// told as what it executes.
    pub fn verb(&self, statement: &Statement) -> &'static str {
        let kept = match statement.sql() {
            Some(Ast::Execute {
                name: Some(name), ..
            }) => executed(name).and_then(|name| self.kept(&name).ok()),
            _ => None,
        };
        kept.map_or_else(|| statement.verb(), |kept| kept.statement.verb())
    }

    /// The statement of that name.
    ///
    /// # Errors
    /// `26000` if there is none.
    pub(crate) fn kept(&self, name: &str) -> Result<Arc<Prepared>> {
        let kept = self.prepared.0.lock();
        let one = kept.get(name).ok_or_else(|| none(name))?;
        Ok(Arc::clone(&one.prepared))
    }

    /// The columns of the statement of that name, if it has some.
    ///
    /// # Errors
    /// As [`Session::kept`].
    pub(super) async fn kept_columns(&self, name: &str) -> Result<Option<SchemaRef>> {
        let kept = self.kept(name)?;
        if kept.columns.is_some() {
            return Ok(kept.columns.clone());
        }
        // A statement that cannot be planned any more says why when it is executed.
        let described = Box::pin(kept.describe(self)).await.ok();
        Ok(described.and_then(|described| described.columns))
    }

    /// The statement of that name, which is executed now.
    ///
    /// # Errors
    /// As [`Session::kept`].
    pub(crate) fn executing(&self, name: &str) -> Result<Arc<Prepared>> {
        let kept = self.prepared.0.lock();
        let one = kept.get(name).ok_or_else(|| none(name))?;
        one.executions.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::clone(&one.prepared))
    }

    /// Forgets the statement of that name, or all of them.
    ///
    /// # Errors
    /// As [`Session::kept`].
    pub(crate) fn forget(&self, name: Option<&str>) -> Result<()> {
        let mut kept = self.prepared.0.lock();
        match name {
            None => kept.clear(),
            Some(name) => drop(kept.remove(name).ok_or_else(|| none(name))?),
        }
        Ok(())
    }
}

/// The name of the statement that EXECUTE runs.
pub(crate) fn executed(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(fold_part)
}

fn parsed_type(name: &str) -> Result<SqlType> {
    let mut parser = Parser::new(&PostgreSqlDialect {})
        .try_with_sql(name)
        .map_err(|error| syntax_error(&error))?;
    parser
        .parse_data_type()
        .map_err(|error| syntax_error(&error))
}

fn none(name: &str) -> Error {
    Error::new(
        "26000",
        format!("prepared statement \"{name}\" does not exist"),
    )
}
