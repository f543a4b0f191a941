//! Prepared statements: parsed once, run with other values each time. They run in `execution`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use freestone_frontend::types::Type;
use freestone_storage::Snapshot;
use futures::StreamExt;
use parking_lot::{Mutex, RwLock};
use sqlparser::ast::{CastKind, DataType as SqlType, Expr, ObjectName, Statement as Ast, Value};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::{NewRows, Session};
use crate::catalogs::pg_catalog as catalogs;
use crate::error::{Error, Result, panicked, parser as syntax_error};
use crate::keyed::{KeyQuery, Keyed};
use crate::names::fold_part;
use crate::outcome::Rows;
use crate::parameter::{self, Parameter};
use crate::statement::Statement;
use crate::types::type_of;

/// A statement with parameters, `$1`, `$2`, … or `?`. Any session of any database
/// can run it; what it was bound to is kept for the session that ran it last.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) statement: Statement,
    pub(crate) parameters: usize,
    /// The types of parameters that were declared.
    pub(crate) types: Vec<Option<SqlType>>,
    /// The types that the use of parameters told when PREPARE was run.
    pub(crate) told: Vec<Option<SqlType>>,
    /// The columns of a query when PREPARE was run.
    pub(crate) columns: Option<SchemaRef>,
    pub(crate) rows: RwLock<Option<Arc<NewRows>>>,
    pub(crate) keys: RwLock<Option<Arc<KeyQuery>>>,
}

/// The keys by which the rows of a statement are found.
pub(crate) struct KnownKeys<'a> {
    pub(crate) keyed: Keyed<'a>,
    /// The prepared statement and its values.
    pub(crate) prepared: (&'a Prepared, &'a [Parameter]),
}

impl KnownKeys<'_> {
    /// The statement with its values in it, to be run in another way.
    ///
    /// # Errors
    /// As [`Prepared::bound`].
    pub(crate) fn ast(&self) -> Result<Ast> {
        let (prepared, values) = self.prepared;
        prepared.bound(&prepared.literals(values))
    }
}

/// Statements that a session keeps by PREPARE, by their names.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements(pub(crate) Mutex<BTreeMap<String, Arc<KeptStatement>>>);

/// A statement that PREPARE keeps.
#[derive(Debug)]
pub(crate) struct KeptStatement {
    pub(crate) prepared: Arc<Prepared>,
    /// PREPARE as it was written.
    pub(crate) text: Arc<str>,
    /// The types of its parameters, as SQL writes them: those that PREPARE says, or else those
    /// that its use told then; text where neither tells.
    pub(crate) types: Vec<String>,
    /// When it was prepared, in microseconds since 1970.
    pub(crate) time: i64,
    pub(crate) executions: AtomicI64,
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

/// The statements that are kept, for the system catalogs.
pub(super) fn listing(
    kept: Arc<PreparedStatements>,
) -> Box<dyn Fn() -> Vec<catalogs::KeptStatement> + Send + Sync> {
    let listed = |(name, one): (String, Arc<KeptStatement>)| catalogs::KeptStatement {
        name,
        text: Arc::clone(&one.text),
        types: one.types.clone(),
        time: one.time,
        executions: one.executions(),
    };
    Box::new(move || kept.all().into_iter().map(listed).collect())
}

/// The names of columns.
fn names(schema: &SchemaRef) -> Vec<&str> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().as_str()).collect()
}

/// The names and types of columns.
pub(crate) fn shape(schema: &SchemaRef) -> Vec<(&str, Type)> {
    let fields = schema.fields().iter();
    let shape = fields.map(|field| (field.name().as_str(), type_of(field).base()));
    shape.collect()
}

pub(crate) fn changed_columns() -> Error {
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

    /// The statement.
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// How many values it takes.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Values as expressions of the types that parameters were declared with.
    pub(crate) fn literals(&self, values: &[Parameter]) -> Vec<Expr> {
        let literals = values.iter().enumerate();
        literals
            .map(|(number, value)| self.typed(number, value.literal()))
            .collect()
    }

    /// Its parameters as expressions of the types that they were declared with.
    pub(crate) fn holders(&self) -> Vec<Expr> {
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
            stream: stream.boxed(),
            schema,
        })
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

    /// Applies `find` to a query by keys that the session has run before; `None` for other
    /// statements, and if it gives none.
    ///
    /// # Errors
    /// Errors of the statement, which fail the transaction that is open.
    pub(crate) fn found<T>(
        &self,
        session: &Session,
        values: &[Parameter],
        find: impl Fn(&Keyed<'_>, &Snapshot) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let reads = match self.statement.sql() {
            Some(Ast::Query(query)) => query.locks.is_empty(),
            _ => false,
        };
        if !reads || session.has_own_names() {
            return Ok(None);
        }
        session.apply_pending();
        let known = self.keys.read().clone();
        let Some(query) =
            known.filter(|known| known.is_by_keys() && known.fits(session.bound_with()))
        else {
            return Ok(None);
        };
        let Some(values) = query.values(values) else {
            return Ok(None);
        };
        let within = session.transaction().look()?;
        let moment = match &within {
            Some(moment) => moment.clone(),
            None => session.database().store().snapshot(),
        };
        let keyed = Keyed {
            query: &query,
            values,
        };
        let found = AssertUnwindSafe(|| find(&keyed, &moment));
        let found = catch_unwind(found).unwrap_or_else(|panic| Err(panicked(&*panic)));
        if found.is_err() && within.is_some() {
            session.fail();
        }
        found
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

    /// What clients are told that a statement's rows are of, as in `SELECT 5`: EXECUTE is
    /// told as what it executes.
    pub fn verb(&self, statement: &Statement) -> &'static str {
        if statement.outline().is_some() {
            return statement.verb();
        }
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

pub(crate) fn none(name: &str) -> Error {
    Error::new(
        "26000",
        format!("prepared statement \"{name}\" does not exist"),
    )
}
