//! Running statements: one snapshot in, one outcome out.
//!
//! Every statement is matched here by its syntax tree. What is not listed is
//! refused by name; nothing falls through to a default of a library below.

mod add;
mod aggregate;
mod alter;
mod alter_partitions;
mod alter_parts;
mod alter_relation;
mod alter_sequence;
mod assigned;
mod attach;
mod block;
mod bulk;
mod by_keys;
mod by_name;
mod cascade;
mod change;
mod changes;
mod clauses;
mod columns;
mod comment;
mod compose;
mod composite;
mod conflict;
mod constraints;
mod copy;
mod create;
pub(crate) mod cursor;
mod declare;
mod dependents;
mod domain;
mod drop;
mod elements;
pub(crate) mod explain;
mod function;
mod grant;
mod granted;
mod identity;
mod index;
mod index_over;
mod insert;
mod like;
mod literal;
pub(crate) mod locking;
mod maintenance;
mod materialized;
mod merge;
mod new_rows;
mod partition;
mod partition_bound;
mod partition_key;
mod partitioned;
mod prepare;
mod query;
mod redeclare;
mod reference;
mod returning;
mod role;
mod schema;
mod sequence;
mod show;
mod skipped;
mod streamed;
mod through;
mod transaction;
mod truncate;
mod user_type;
mod utility;
mod view;
mod with;

use std::sync::{Arc, OnceLock};

use crate::memory::Held;
use crate::state::SessionState;
use freestone_frontend::values::datetime::Locale;
use freestone_storage::{Snapshot, Store, Table, Transaction};
use parking_lot::Mutex;
use sqlparser::ast::{Statement as Ast, With};

use self::changes::Touched;
use self::locking::locks;
use self::transaction::Task;
use crate::error::{Error, Result};
use crate::files::open_all;
use crate::front::{self, Logical};
use crate::grammar::define::Definition;
use crate::grammar::{OwnStatement, Tree, Utility};
use crate::names::{INFORMATION_SCHEMA, Name, fold};
use crate::outcome::Outcome;
use crate::relations::updatable::Through;
use crate::relations::{Given, Relations, unknown_table};
use crate::session::{KnownKeys, Session};
use crate::statement::{Statement, changing_query};

pub(crate) use assigned::column_values;
pub(crate) use by_keys::bound_by_keys;
pub use copy::{CopyStream, Incoming, Lines, Outgoing};

pub(crate) use elements::inserted_elements;
pub(crate) use insert::columns_named;
pub(crate) use literal::is_default;
pub(crate) use merge::must_be_reachable;

pub(crate) use transaction::{changes_rows, insert_at_once};
pub(crate) use with::{given, with_before};

/// One statement being run.
pub(crate) struct Run<'a> {
    pub(crate) session: &'a Session,
    /// See [`Run::state`]; statements that need no plan never ask for it.
    state: OnceLock<Box<SessionState>>,
    /// The database as of the start.
    pub(crate) snapshot: Snapshot,
    /// The transaction of a statement that changes rows and has none around it.
    own: transaction::Own,
    /// Memory of rows that are to be changed.
    held: Mutex<Vec<Held>>,
    /// See [`Run::locale`].
    locale: OnceLock<Arc<Locale>>,
    /// What statements in WITH have returned.
    given: Mutex<Vec<Given>>,
    /// Views by which the statement changes rows.
    through: Mutex<Vec<Arc<Through>>>,
    /// The clause whose expressions are the list of the query that is run.
    list_of: Mutex<Option<&'static str>>,
    /// Queries of WITH around UPDATE, DELETE and MERGE.
    around: Mutex<Option<With>>,
    /// Tables that the statements of one WITH have changed so far; their keys and references are
    /// checked when all are done; `None` for other statements.
    parts: Mutex<Option<Touched>>,
    /// The statement, if it has to be looked at again when it changes the catalog.
    checked: OnceLock<Box<Ast>>,
    /// The values of a prepared query whose rows are found by keys.
    keys: Option<&'a KnownKeys<'a>>,
}

/// Runs a statement.
///
/// # Errors
/// Whatever is wrong with it; nothing has changed then.
pub(crate) async fn statement(session: &Session, statement: &Statement) -> Result<Outcome> {
    let ast = match statement.tree() {
        Tree::Sql(ast) => ast,
        Tree::Own(own) => {
            let outcome = Box::pin(of_our_own(session, own)).await?;
            return Ok(outcome.tagged_as_written(statement.text()));
        }
    };
    if transaction::is_control(ast) {
        // Nothing in it has a name that would have to be looked up.
        let outcome = Box::pin(transaction::run(session, Task::Sql(ast), None)).await?;
        return Ok(outcome.tagged_as_written(statement.text()));
    }
    if let Some(outcome) = Box::pin(prepare::run(session, statement)).await? {
        return Ok(outcome);
    }
    let pivoted = Box::pin(session.with_pivots(ast, statement.text())).await?;
    let ast = session.in_path(session.own_tables(&pivoted)?)?;
    let outcome = Box::pin(transaction::run(session, Task::Sql(&ast), None)).await?;
    if let Ast::Declare { stmts } = ast.as_ref() {
        let names = stmts.iter().flat_map(|one| &one.names);
        names.for_each(|name| session.cursors().tell(&fold(name), statement.text()));
    }
    Ok(outcome.tagged_as_written(statement.text()))
}

/// Runs a statement of our own.
///
/// # Errors
/// As [`statement`].
async fn of_our_own(session: &Session, own: &OwnStatement) -> Result<Outcome> {
    match own {
        OwnStatement::Advice(asked) => session.advised(asked).await,
        OwnStatement::Definition(Definition::CreateSchema { head, elements }) => {
            schema::create(session, head, elements).await
        }
        OwnStatement::Utility(Utility::Do { language, body }) => {
            block::run(session, language.as_deref(), body).await
        }
        OwnStatement::Definition(_) | OwnStatement::Role(_) | OwnStatement::Utility(_) => {
            let own = session.own_in_path(own)?;
            transaction::run(session, Task::Own(&own), None).await
        }
    }
}

/// Runs a statement whose rows are found by keys.
///
/// # Errors
/// As [`statement`].
pub(crate) async fn keyed(
    session: &Session,
    statement: &Statement,
    keys: &KnownKeys<'_>,
) -> Result<Outcome> {
    let ast = statement.sql();
    let ast = ast.ok_or_else(|| Error::internal("a statement of our own has no keys"))?;
    if let Some(outcome) = transaction::change_at_once(session, keys, ast).await? {
        return Ok(outcome);
    }
    transaction::run(session, Task::Sql(ast), Some(keys)).await
}

impl<'a> Run<'a> {
    /// A run that only plans, on what the session's next statement would see.
    ///
    /// # Errors
    /// `25P02` in a transaction that failed.
    pub(crate) fn planning(session: &'a Session) -> Result<Self> {
        Ok(Self::over(session, session.glance()?))
    }

    /// A run that only reads, outside of any transaction.
    pub(crate) fn over(session: &'a Session, snapshot: Snapshot) -> Self {
        Self::new(session, snapshot, None, None)
    }

    /// A run in a transaction of its own, if there is one, with the values of a prepared query by
    /// keys, if it is one.
    fn new(
        session: &'a Session,
        snapshot: Snapshot,
        own: Option<Transaction>,
        keys: Option<&'a KnownKeys<'a>>,
    ) -> Self {
        Self {
            session,
            state: OnceLock::new(),
            snapshot,
            own: transaction::Own::new(own),
            held: Mutex::default(),
            locale: OnceLock::new(),
            given: Mutex::default(),
            through: Mutex::default(),
            list_of: Mutex::default(),
            parts: Mutex::default(),
            around: Mutex::default(),
            checked: OnceLock::new(),
            keys,
        }
    }
}

impl Run<'_> {
    /// The session's settings, with the time of `now()`, which stands still.
    pub(crate) fn state(&self) -> &SessionState {
        self.state
            .get_or_init(|| Box::new(self.session.statement_state()))
    }

    /// Threads that share the work of the statement.
    pub(crate) fn threads(&self) -> usize {
        self.state().options().threads
    }

    /// The settings by which the session reads texts of dates and times.
    pub(crate) fn locale(&self) -> &Arc<Locale> {
        self.locale.get_or_init(|| {
            let relations = Relations::new(self.state(), self.snapshot.clone());
            let session = front::session_of(&relations);
            Arc::new(Locale::new(
                &session.time_zone,
                &session.date_style,
                &session.interval_style,
                session.transaction_time,
            ))
        })
    }

    /// Each kind of statement has its future apart, so that none takes the room of the
    /// largest.
    async fn dispatch(&self, task: Task<'_>) -> Result<Outcome> {
        let ast = match task {
            Task::Sql(ast) => ast,
            Task::Own(own) => return self.own_by_kind(own).await,
        };
        let catalog = self.snapshot.catalog();
        self.rights(catalog).check(catalog, ast)?;
        if self.identity().is_limited() {
            let _ = self.checked.set(Box::new(ast.clone()));
        }
        if may_leave_blocks(ast) {
            self.session.database().plans().clear();
            let skipped = skipped::skipped(ast, self.snapshot.catalog())?;
            let outcome = self.by_kind(ast).await?;
            let notices = skipped.into_iter();
            notices.for_each(|notice| self.session.notify(notice));
            return Ok(outcome);
        }
        self.by_kind(ast).await
    }

    /// A statement of our own; it says for itself which rights it needs.
    async fn own_by_kind(&self, own: &OwnStatement) -> Result<Outcome> {
        match own {
            OwnStatement::Advice(_) => Err(Error::internal("advice is given elsewhere")),
            OwnStatement::Role(statement) => self.role_statement(statement),
            OwnStatement::Definition(statement) => Box::pin(self.define(statement)).await,
            OwnStatement::Utility(utility) => self.utility(utility),
        }
    }

    async fn by_kind(&self, ast: &Ast) -> Result<Outcome> {
        match self.keys {
            Some(keys) => Box::pin(self.by_keys(keys, ast)).await,
            None => self.planned_by_kind(ast).await,
        }
    }

    async fn planned_by_kind(&self, ast: &Ast) -> Result<Outcome> {
        match ast {
            ast if locks(ast) => Box::pin(self.with_locks(ast)).await,
            Ast::Query(query) if changing_query(ast).is_some() => {
                Box::pin(self.with_changes(query)).await
            }
            Ast::Query(_) => Box::pin(self.query(ast)).await,
            Ast::Explain { .. } => Box::pin(self.explain(ast)).await,
            Ast::Insert(insert) => Box::pin(self.insert(insert)).await,
            Ast::Update(update) => Box::pin(self.update(update)).await,
            Ast::Delete(delete) => Box::pin(self.delete(delete)).await,
            Ast::Merge(merge) => Box::pin(self.merge(merge)).await,
            Ast::Truncate(truncate) => Box::pin(self.truncate(truncate)).await,
            Ast::Vacuum(vacuum) => self.vacuum(vacuum),
            Ast::Copy { .. } => Box::pin(copy::run(self, ast)).await,
            Ast::CreateTable(create) => Box::pin(self.create_table(create)).await,
            Ast::CreateIndex(create) => Box::pin(self.create_index(create)).await,
            Ast::CreateView(view) => Box::pin(self.create_view(view)).await,
            Ast::CreateFunction(create) => self.create_function(create),
            Ast::CreateExtension(create) => self.create_extension(create),
            Ast::DropFunction(drop) => self.drop_functions(drop),
            Ast::CreateSequence { .. } => self.create_sequence(ast),
            Ast::CreateSchema { .. } => self.create_schema(ast),
            Ast::AlterTable(alter) => Box::pin(self.alter_table(alter)).await,
            Ast::Comment { .. } => self.comment(ast),
            Ast::Drop { .. } => match self.unique_index(ast)? {
                Some(alter) => {
                    Box::pin(self.alter_table(&alter)).await?;
                    Ok(Outcome::done("DROP INDEX"))
                }
                None => self.drop(ast),
            },
            Ast::CreateType {
                name,
                representation,
            } => self.create_type(name, representation.as_ref()),
            Ast::AlterType(alter) => Box::pin(self.alter_type(alter)).await,
            Ast::Declare { stmts } => Box::pin(self.declare_cursor(stmts)).await,
            Ast::Fetch {
                name,
                direction,
                into,
                ..
            } => Box::pin(self.fetch(name, direction, into.as_ref())).await,
            Ast::Close { cursor } => self.close_cursor(cursor),
            Ast::Analyze(analyze) => self.analyze(analyze),
            Ast::Lock(lock) => self.lock(lock),
            Ast::Discard { object_type } => self.discard(object_type),
            // Nobody is ever listened to.
            Ast::UNLISTEN { .. } => Ok(Outcome::done("UNLISTEN")),
            Ast::Set(set) => self.set(set),
            Ast::Reset(reset) => self.reset(reset),
            Ast::ShowTables { .. }
            | Ast::ShowViews { .. }
            | Ast::ShowSchemas { .. }
            | Ast::ShowColumns { .. }
            | Ast::ShowVariable { .. }
            | Ast::ShowVariables { .. }
            | Ast::ExplainTable { .. } => Box::pin(self.show(ast)).await,
            other => Err(refused(other)),
        }
    }

    /// The names a query of this statement may use, with its files opened.
    pub(crate) async fn relations(&self, ast: &Ast) -> Result<Relations<'_>> {
        let catalog = self.snapshot.catalog();
        let files = open_all((self.identity(), catalog), ast)?;
        let mut relations = Relations::new(self.state(), self.snapshot.clone());
        relations.files = files;
        relations.given = self.given.lock().clone();
        relations.through = self.through.lock().clone();
        relations.list_of = *self.list_of.lock();
        Ok(relations)
    }

    /// The logical plan of a query.
    pub(crate) async fn logical(&self, ast: &Ast) -> Result<Logical> {
        front::planned(&self.relations(ast).await?, ast)
    }

    /// The stored table of that name.
    ///
    /// # Errors
    /// `42809` for a view, `42P01` for nothing.
    pub(crate) fn stored_table(&self, name: &Name) -> Result<&Arc<Table>> {
        if let Some(table) = self.snapshot.table(&name.schema, &name.name) {
            return Ok(table);
        }
        if self.snapshot.view(&name.schema, &name.name).is_some()
            || name.schema == INFORMATION_SCHEMA
        {
            return Err(Error::new("42809", format!("\"{name}\" is not a table")).at(name.position));
        }
        Err(unknown_table(&self.snapshot, name))
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        self.session.database().store()
    }
}

/// Whether a statement may leave blocks that nobody but a plan needs, such as those of a dropped
/// table: the plans go with it. They go with SET, too: limits such as that of memory decide which
/// operators a plan has. Changes of rows leave plans as they are, see
/// [`KnownPlans`](crate::plans::KnownPlans).
fn may_leave_blocks(ast: &Ast) -> bool {
    let never = matches!(
        ast,
        Ast::Query(_)
            | Ast::Explain { .. }
            | Ast::ExplainTable { .. }
            | Ast::Copy { .. }
            | Ast::Declare { .. }
            | Ast::Fetch { .. }
            | Ast::Close { .. }
            | Ast::Call(_)
            | Ast::Lock(_)
            | Ast::UNLISTEN { .. }
            | Ast::ShowTables { .. }
            | Ast::ShowViews { .. }
            | Ast::ShowSchemas { .. }
            | Ast::ShowColumns { .. }
            | Ast::ShowVariable { .. }
            | Ast::ShowVariables { .. }
    );
    !never && (!changes_rows(ast) || matches!(ast, Ast::Truncate(_)))
}

/// Why a statement is not run.
fn refused(ast: &Ast) -> Error {
    let text = ast.to_string();
    let words = |count: usize| {
        text.split_whitespace()
            .take(count)
            .collect::<Vec<_>>()
            .join(" ")
            .to_uppercase()
    };
    Error::unsupported(format!("{} is not supported", words(2)))
}
