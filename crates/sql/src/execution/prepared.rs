//! Prepared statements as they run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};
use chrono::Utc;
use freestone_storage::row::cell;
use freestone_storage::{Row, Snapshot};
use futures::{FutureExt, TryStreamExt};
use sqlparser::ast::{DataType as SqlType, Expr, Statement as Ast};

use crate::error::{Error, Result, panicked};
use crate::keyed::{KeyQuery, Keyed};
use crate::outcome::Outcome;
use crate::parameter::Parameter;
use crate::run::{bound_by_keys, changes_rows, insert_at_once};
use crate::session::{
    KeptStatement, KnownKeys, NewRows, Prepared, Session, changed_columns, shape,
};
use crate::types::{OBJECT, type_of};

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

    /// The rows of a query by keys that the session has run before, at once: without waiting for
    /// anything. `None` for other statements: [`Prepared::run_waiting`] has the answer then.
    ///
    /// # Errors
    /// Errors of the statement, which fail the transaction that is open.
    pub fn at_once(&self, session: &Session, values: &[Parameter]) -> Result<Option<RecordBatch>> {
        let found = self.found(session, values, |keyed, moment| keyed.rows(moment));
        let found = found.map_err(|error| session.told(&self.statement, error))?;
        found.map(|batch| session.zoned_batch(batch)).transpose()
    }

    /// Runs it with a value for each parameter.
    ///
    /// # Errors
    /// `08P01` for too few values or too many; those of the statement.
    pub async fn run(&self, session: &Session, values: &[Parameter]) -> Result<Outcome> {
        match self.at_once(session, values)? {
            Some(batch) => Ok(Outcome::batch(batch)),
            None => self.run_waiting(session, values).await,
        }
    }

    /// As [`Prepared::run`], after [`Prepared::at_once`] has found nothing.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub async fn run_waiting(&self, session: &Session, values: &[Parameter]) -> Result<Outcome> {
        if let Some(outcome) = self.without_plan(session, values).await? {
            return Ok(outcome);
        }
        // Apart, so that the way past the planner does not move its state about.
        Box::pin(self.run_with(session, &self.literals(values))).await
    }

    /// The outcome of a statement that adds rows, or finds its rows by keys, without a plan; `None`
    /// for any other.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub(super) async fn without_plan(
        &self,
        session: &Session,
        values: &[Parameter],
    ) -> Result<Option<Outcome>> {
        let inserted = AssertUnwindSafe(self.insert_at_once(session, values)).catch_unwind();
        let inserted = inserted
            .await
            .unwrap_or_else(|panic| Err(panicked(&*panic)));
        let inserted = inserted.map_err(|error| session.told(&self.statement, error));
        if let Some(outcome) = inserted? {
            return Ok(Some(outcome));
        }
        let query = self.key_query(session).await;
        let Some(query) = query else {
            return Ok(None);
        };
        let Some(values_of_keys) = query.values(values) else {
            return Ok(None);
        };
        let keys = KnownKeys {
            keyed: Keyed {
                query: &query,
                values: values_of_keys,
            },
            prepared: (self, values),
        };
        session.run_keyed(&self.statement, &keys).await.map(Some)
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
                let bound = self.bound(&holders).ok()?;
                // Boxed, so that the futures of statements that are known stay small.
                let made = Arc::new(Box::pin(bound_by_keys(session, &bound)).await?);
                *self.keys.write() = Some(Arc::clone(&made));
                made
            }
        };
        query.is_by_keys().then_some(query)
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
        let as_it_is = self.parameters == 0 && values.is_empty();
        if as_it_is || self.statement.sql().is_none() {
            return session.run(&self.statement).await;
        }
        let ast = self.bound(values)?;
        session.run(&self.statement.with(ast)).await
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
}

impl Session {
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
        let mut kept = self.prepared().0.lock();
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
}
