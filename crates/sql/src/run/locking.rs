//! SELECT … FOR UPDATE and FOR SHARE: rows that no other transaction changes until this one ends.
//!
//! ```sql
//! SELECT id, task FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
//! ```
//!
//! The query is run with the row ids of the tables that it locks, and each row that it gives is
//! locked before it is handed out, as if it had been changed. For a row that another transaction
//! has locked the statement waits, and is then run again; with NOWAIT it fails with `55P03`. SKIP
//! LOCKED leaves the row out, and LIMIT counts only what is left. Statements outside of a
//! transaction block hold their locks until they end.
//!
//! A query within a statement, in WITH or as a sub-query, is run before the rest, which then
//! reads its rows. It may not depend on the query around it.
//!
//! Any number of transactions hold a row FOR SHARE, and one of them changes it when it is the last.
//! A row of a table that foreign keys refer to may be held FOR KEY SHARE while another
//! transaction changes its other columns, and others may refer to a row that is held FOR NO KEY
//! UPDATE. In other tables they lock as much as FOR SHARE and FOR UPDATE.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::memory::Held;
use crate::outcome::RowStream;
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Int64Type, Schema};
use freestone_frontend::syntax::strength::Strength;
use freestone_frontend::syntax::walk::{visit_expressions, walk, walk_mut};
use freestone_storage::{LockMode, Privileges, RowId, RowLock, Table, TableId};
use futures::{StreamExt, stream};
use sqlparser::ast::{
    CastKind, DataType, Expr, GroupByExpr, Ident, JoinOperator, LimitClause, LockClause, NonBlock,
    Query, Select, SelectItem, SetExpr, Statement as Ast, TableFactor, TableWithJoins, Visitor,
    VisitorMut,
};

use super::Run;
use super::changes::row_ids_in;
use super::compose;
use super::with::given;
use crate::error::{Error, Result};
use crate::front::{self, Planned};
use crate::lower::{schema as shown_schema, with_schema};
use crate::names::{Name, fold, table_name};
use crate::outcome::{Outcome, Rows};
use crate::scan::ROW_ID;

/// Whether a statement is or has a query that locks rows.
pub(crate) fn locks(ast: &Ast) -> bool {
    struct Locks;
    impl Visitor for Locks {
        type Break = ();

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            match query.locks.is_empty() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        }
    }
    let reads_rows = matches!(
        ast,
        Ast::Query(_) | Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_) | Ast::Merge(_)
    );
    reads_rows && walk(ast, &mut Locks).is_break()
}

/// The statement without its locks, for those who only ask what it gives.
pub(crate) fn without_locks(ast: &Ast) -> Ast {
    struct Without;
    impl VisitorMut for Without {
        type Break = ();

        fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            query.locks.clear();
            ControlFlow::Continue(())
        }
    }
    let mut ast = ast.clone();
    let _ = walk_mut(&mut ast, &mut Without);
    ast
}

/// A table of FROM whose rows are locked.
struct Locked<'a> {
    name: Name,
    table: &'a Arc<Table>,
    /// Its name in the query.
    called: Ident,
    mode: LockMode,
    nonblock: Option<NonBlock>,
}

/// An item of FROM.
struct Item<'q> {
    factor: &'q TableFactor,
    /// Its name in the query.
    called: Option<String>,
    /// Whether an outer join may fill its columns with NULLs.
    nullable: bool,
}

impl<'q> Item<'q> {
    fn of(factor: &'q TableFactor, nullable: bool) -> Self {
        let called = match factor {
            TableFactor::Table {
                name, alias: None, ..
            } => name.0.last().and_then(|last| last.as_ident()).map(fold),
            TableFactor::Table { alias, .. }
            | TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::NestedJoin { alias, .. } => {
                alias.as_ref().map(|alias| fold(&alias.name))
            }
            _ => None,
        };
        Self {
            factor,
            called,
            nullable,
        }
    }
}

/// The items of FROM, of joins each side.
fn items<'q>(from: &'q TableWithJoins, nullable: bool, found: &mut Vec<Item<'q>>) {
    let add = |factor: &'q TableFactor, nullable: bool, found: &mut Vec<Item<'q>>| match factor {
        TableFactor::NestedJoin {
            table_with_joins,
            alias: None,
        } => items(table_with_joins, nullable, found),
        factor => found.push(Item::of(factor, nullable)),
    };
    let begin = found.len();
    add(&from.relation, nullable, found);
    for join in &from.joins {
        let (left, right) = match &join.join_operator {
            JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => (false, true),
            JoinOperator::Right(_) | JoinOperator::RightOuter(_) => (true, false),
            JoinOperator::FullOuter(_) => (true, true),
            _ => (false, false),
        };
        found[begin..]
            .iter_mut()
            .for_each(|item| item.nullable |= left);
        add(&join.relation, nullable || right, found);
    }
}

/// The words of a lock, in messages.
fn words(lock: &LockClause) -> &'static str {
    Strength::of(lock).0.words()
}

/// The words of a query's first lock.
fn first_words(query: &Query) -> &'static str {
    query.locks.first().map_or("FOR UPDATE", words)
}

/// Refuses clauses whose rows are not those of a table.
fn refuse_clauses(query: &Query) -> Result<&Select> {
    let words = first_words(query);
    let not_allowed = |what: &str| {
        Err(Error::unsupported(format!(
            "{words} is not allowed with {what}"
        )))
    };
    let select = match query.body.as_ref() {
        SetExpr::Select(select) => select,
        SetExpr::Values(_) => {
            let message = format!("{words} cannot be applied to VALUES");
            return Err(Error::unsupported(message));
        }
        _ => return not_allowed("UNION/INTERSECT/EXCEPT"),
    };
    if select.distinct.is_some() {
        return not_allowed("DISTINCT clause");
    }
    let ungrouped =
        matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    if !ungrouped {
        return not_allowed("GROUP BY clause");
    }
    if select.having.is_some() {
        return not_allowed("HAVING clause");
    }
    let windows = visit_expressions(&select.projection, |expr| match expr {
        Expr::Function(call) if call.over.is_some() => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    if windows.is_break() {
        return not_allowed("window functions");
    }
    Ok(select)
}

/// Takes the queries with locks out of a statement, but for the statement itself, and lets it
/// read rows of the names `locked rows 1`, `locked rows 2`, … in their place.
fn take_apart(ast: &mut Ast) -> Vec<Query> {
    struct Apart {
        found: Vec<Query>,
        depth: usize,
        /// Whether the statement is a query, which is then the outermost.
        query: bool,
    }
    impl VisitorMut for Apart {
        type Break = ();

        fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
            self.depth += 1;
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            self.depth -= 1;
            if query.locks.is_empty() || self.depth == 0 && self.query {
                return ControlFlow::Continue(());
            }
            let name = given_name(self.found.len());
            if let Ok(stand_in) = compose::everything(&name) {
                self.found.push(std::mem::replace(query, stand_in));
            }
            ControlFlow::Continue(())
        }
    }
    let mut apart = Apart {
        found: Vec::new(),
        depth: 0,
        query: matches!(ast, Ast::Query(_)),
    };
    let _ = walk_mut(ast, &mut apart);
    apart.found
}

fn given_name(number: usize) -> String {
    format!("locked rows {}", number + 1)
}

impl Run<'_> {
    /// Carries out a statement that locks rows.
    ///
    /// # Errors
    /// `40001` or `55P03` for rows that others have locked; those of the statement.
    pub(super) async fn with_locks(&self, ast: &Ast) -> Result<Outcome> {
        let mut ast = ast.clone();
        for (number, query) in take_apart(&mut ast).into_iter().enumerate() {
            let outcome = self.locked(&query).await.map_err(apart)?;
            let given = given(given_name(number), &[], outcome).await?;
            self.given.lock().push(given);
        }
        match &ast {
            Ast::Query(query) if !query.locks.is_empty() => self.locked(query).await,
            ast => Box::pin(self.by_kind(ast)).await,
        }
    }

    /// The rows of a query with locks, locked.
    async fn locked(&self, query: &Query) -> Result<Outcome> {
        let tables = self.may_lock(query)?;
        let (plan, limits) = with_ids(query, &tables)?;
        let limits = match limits {
            Some(limits) => self.limits(&limits).await?,
            None => (0, None),
        };
        let mut relations = self.relations(&plan).await?;
        relations.locked = tables.iter().map(|one| one.table.id).collect();
        let planned = match front::found_or_planned(&relations, &plan) {
            Ok(planned) => planned,
            // An aggregate has no rows of a table, which the row ids do not go with.
            Err(error) if error.sqlstate == "42803" => {
                let plain = without_locks(&Ast::Query(Box::new(query.clone())));
                return Err(match front::planned(&relations, &plain) {
                    Ok(_) => {
                        let words = first_words(query);
                        let message = format!("{words} is not allowed with aggregate functions");
                        Error::unsupported(message)
                    }
                    Err(error) => error,
                });
            }
            Err(error) => return Err(error),
        };
        let (all, stream) = match planned {
            Planned::Plan(logical) => {
                let logical = logical.shown()?;
                let physical = logical.runnable()?;
                let context = self.session.run_context_at(&self.snapshot);
                let all = shown_schema(&logical.names, &logical.types, logical.plan.schema());
                let stream = with_schema(physical.stream(&context)?, Arc::clone(&all));
                (all, stream)
            }
            Planned::Rows(rows) => (rows.schema(), stream::once(async { Ok(rows) }).boxed()),
        };
        self.lock_all(&tables, (&all, stream), limits).await
    }

    /// The rows of a query with locks that were found by keys, with their ids behind them,
    /// locked.
    ///
    /// # Errors
    /// As [`Run::with_locks`].
    pub(super) fn locked_rows(&self, query: &Query, rows: &RecordBatch) -> Result<Outcome> {
        let tables = self.may_lock(query)?;
        let locked = self.lock_rows(&tables, rows, &mut (0, None))?;
        Ok(Outcome::batch(without_ids(&locked, &tables)?))
    }

    /// A query with locks that gives the ids of its rows behind its columns and does not lock
    /// them, and the tables of these rows; `None` if it counts the rows that it can lock.
    ///
    /// # Errors
    /// As [`Run::with_locks`].
    pub(super) fn with_row_ids(&self, query: &Query) -> Result<Option<(Ast, Vec<TableId>)>> {
        let tables = self.may_lock(query)?;
        let (plan, limits) = with_ids(query, &tables)?;
        let ids = tables.iter().map(|one| one.table.id).collect();
        Ok(limits.is_none().then_some((plan, ids)))
    }

    /// The tables whose rows a query locks, if it may.
    fn may_lock(&self, query: &Query) -> Result<Vec<Locked<'_>>> {
        let select = refuse_clauses(query)?;
        let modes = self.session.transaction().modes();
        if modes.unwrap_or_else(|| self.session.modes()).read_only {
            let words = first_words(query);
            let message = format!("cannot execute SELECT {words} in a read-only transaction");
            return Err(Error::new("25006", message));
        }
        let tables = self.locked_tables(query, select)?;
        let rights = self.rights(self.snapshot.catalog());
        for one in &tables {
            rights.any_column(&one.name, one.table, Privileges::UPDATE)?;
        }
        Ok(tables)
    }

    /// Locks the rows of a stream, whose last columns are their ids, and gives those that it
    /// could lock.
    async fn lock_all(
        &self,
        tables: &[Locked<'_>],
        (all, mut stream): (&Schema, RowStream),
        mut limit: (usize, Option<usize>),
    ) -> Result<Outcome> {
        let context = self.session.run_context_at(&self.snapshot);
        let mut held = Held::new(&context.memory, "rows to lock");
        let shown = all.fields().len() - tables.len();
        let mut batches = Vec::new();
        while limit.1 != Some(0)
            && let Some(batch) = stream.next().await
        {
            let batch = self.lock_rows(tables, &batch?, &mut limit)?;
            let batch = without_ids(&batch, tables)?;
            held.grow(batch.get_array_memory_size())?;
            batches.push(batch);
        }
        self.held.lock().push(held);
        let fields = all.fields().iter().take(shown).cloned();
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Outcome::batches(schema, batches))
    }

    /// The tables whose rows a query locks.
    fn locked_tables(&self, query: &Query, select: &Select) -> Result<Vec<Locked<'_>>> {
        let mut from = Vec::new();
        select
            .from
            .iter()
            .for_each(|one| items(one, false, &mut from));
        let with = query.with.iter().flat_map(|with| &with.cte_tables);
        let with: Vec<String> = with.map(|cte| fold(&cte.alias.name)).collect();
        let mut tables: Vec<Locked<'_>> = Vec::new();
        for lock in &query.locks {
            let (strength, of) = Strength::of(lock);
            let of = match &of {
                Some(name) => Some(table_name(name)?),
                None => None,
            };
            let mut found = of.is_none();
            for item in &from {
                let named = of
                    .as_ref()
                    .is_none_or(|of| item.called.as_deref() == Some(of.name.as_str()));
                if !named {
                    continue;
                }
                found = true;
                if let Some((name, table)) =
                    self.locked_table(item, &with, (strength.words(), of.is_some()))?
                    && let Some(called) = &item.called
                {
                    tables.push(Locked {
                        name,
                        table,
                        called: compose::exact(called),
                        mode: match strength {
                            Strength::KeyShare => LockMode::KeyShare,
                            Strength::Share => LockMode::Share,
                            Strength::NoKeyUpdate => LockMode::NoKeyUpdate,
                            Strength::Update => LockMode::Update,
                        },
                        nonblock: lock.nonblock,
                    });
                }
            }
            if let Some(of) = of.filter(|_| !found) {
                let message = format!(
                    "relation \"{}\" in {} clause not found in FROM clause",
                    of.name,
                    strength.words()
                );
                return Err(Error::new("42P01", message).at(of.position));
            }
        }
        Ok(tables)
    }

    /// The table that an item of FROM is; `None` if it has no rows to lock, which is wrong if it
    /// is asked for.
    fn locked_table(
        &self,
        item: &Item<'_>,
        with: &[String],
        (words, asked): (&str, bool),
    ) -> Result<Option<(Name, &Arc<Table>)>> {
        let cannot = |what: &str| match asked {
            true => Err(Error::unsupported(format!(
                "{words} cannot be applied to {what}"
            ))),
            false => Ok(None),
        };
        let missing = |what: &str| {
            let error = Error::unsupported(format!("{words} of {what} is not supported"));
            Err(error.with_hint(format!("{words} OF names the tables whose rows are locked")))
        };
        let TableFactor::Table {
            name, args: None, ..
        } = item.factor
        else {
            return match item.factor {
                TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } => {
                    missing("a sub-query in FROM")
                }
                _ => cannot("a function"),
            };
        };
        let named = table_name(name)?;
        let is_given = self
            .given
            .lock()
            .iter()
            .any(|given| given.name == named.name);
        if name.0.len() == 1 && (with.contains(&named.name) || is_given) {
            return cannot("a WITH query");
        }
        let Some(table) = self.snapshot.table(&named.schema, &named.name) else {
            if self.snapshot.view(&named.schema, &named.name).is_some() {
                return missing("a view");
            }
            // The catalog, or nothing at all, which planning tells.
            return Ok(None);
        };
        if table.schema.partitioned.is_some() {
            return missing("a partitioned table");
        }
        if item.nullable {
            return Err(Error::unsupported(format!(
                "{words} cannot be applied to the nullable side of an outer join"
            )));
        }
        Ok(Some((named, table)))
    }

    /// OFFSET and LIMIT as numbers.
    async fn limits(&self, query: &Ast) -> Result<(usize, Option<usize>)> {
        let rows = self.query(query).await?;
        let Outcome::Rows(Rows { mut stream, .. }) = rows else {
            return Err(Error::internal("limits without rows"));
        };
        let Some(batch) = stream.next().await else {
            return Err(Error::internal("limits without rows"));
        };
        let batch = batch?;
        let number = |column: usize, what: &str, code: &'static str| {
            let array = batch.column(column).as_primitive::<Int64Type>();
            match array.is_valid(0).then(|| array.value(0)) {
                None => Ok(None),
                Some(number) => usize::try_from(number)
                    .map(Some)
                    .map_err(|_| Error::new(code, format!("{what} must not be negative"))),
            }
        };
        let offset = number(0, "OFFSET", "2201X")?.unwrap_or_default();
        Ok((offset, number(1, "LIMIT", "2201W")?))
    }

    /// Locks the rows of a batch, whose last columns are their ids; those that the query gives.
    fn lock_rows(
        &self,
        tables: &[Locked<'_>],
        batch: &RecordBatch,
        (offset, limit): &mut (usize, Option<usize>),
    ) -> Result<RecordBatch> {
        let first = batch.num_columns() - tables.len();
        let ids: Vec<_> = (first..batch.num_columns())
            .map(|at| row_ids_in(batch.column(at)))
            .collect::<Result<_>>()?;
        let mut kept = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            if *limit == Some(0) {
                kept.push(false);
                continue;
            }
            let mut has = true;
            for (one, ids) in tables.iter().zip(&ids) {
                has = has && self.lock_row(one, ids[row])?;
            }
            let skipped = has && *offset > 0;
            *offset -= usize::from(skipped);
            has &= !skipped;
            if let Some(limit) = limit {
                *limit -= usize::from(has);
            }
            kept.push(has);
        }
        match kept.iter().all(|kept| *kept) {
            true => Ok(batch.clone()),
            false => Ok(filter_record_batch(batch, &BooleanArray::from(kept))?),
        }
    }

    /// Locks a row; whether it is to be given.
    fn lock_row(&self, one: &Locked<'_>, row: RowId) -> Result<bool> {
        let is_by_statement = self.session.modes().level.is_by_statement();
        // A transaction with one moment for all statements cannot know whether it would give a row
        // that has changed since.
        let passes_over = |taken: RowLock| {
            one.nonblock == Some(NonBlock::SkipLocked)
                && (is_by_statement || taken != RowLock::Changed)
        };
        let taken = self.change(|transaction| {
            let taken = transaction.lock_row(one.table.id, row, one.mode)?;
            if passes_over(taken) {
                transaction.take_stopped();
            }
            Ok(taken)
        })?;
        match (taken, one.nonblock) {
            (RowLock::Taken, _) => Ok(true),
            (taken, _) if passes_over(taken) => Ok(false),
            (RowLock::ByAnother, Some(NonBlock::Nowait)) => {
                let message = format!(
                    "could not obtain lock on row in relation \"{}\"",
                    one.table.name
                );
                Err(Error::new("55P03", message))
            }
            (RowLock::ByAnother, _) => Err(unserialized(one, "is locked")),
            (RowLock::Changed, _) => Err(unserialized(one, "was changed")),
        }
    }
}

/// Rows without the ids of the locked rows, which are their last columns.
fn without_ids(rows: &RecordBatch, tables: &[Locked<'_>]) -> Result<RecordBatch> {
    let shown = rows.num_columns() - tables.len();
    let columns = rows.columns()[..shown].to_vec();
    let fields = rows.schema_ref().fields()[..shown].to_vec();
    let schema = Arc::new(Schema::new(fields));
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let rows = RecordBatch::try_new_with_options(schema, columns, &options)?;
    Ok(rows)
}

fn unserialized(one: &Locked<'_>, what: &str) -> Error {
    let table = &one.table.name;
    let message = format!("a row of table \"{table}\" {what} by another transaction");
    Error::new("40001", message).with_hint("run the transaction again")
}

/// The query with the ids of its rows behind its columns and without locks, and a query for its
/// OFFSET and LIMIT if they count rows that are left.
fn with_ids(query: &Query, tables: &[Locked<'_>]) -> Result<(Ast, Option<Ast>)> {
    let skips = tables
        .iter()
        .any(|one| one.nonblock == Some(NonBlock::SkipLocked));
    let mut query = query.clone();
    query.locks.clear();
    if let SetExpr::Select(select) = query.body.as_mut() {
        for (number, one) in tables.iter().enumerate() {
            let id = compose::column(&one.called, ROW_ID);
            let item = compose::named(id, &format!("row id {}", number + 1));
            select.projection.push(item);
        }
    }
    if !skips {
        return Ok((Ast::Query(Box::new(query)), None));
    }
    if query.fetch.is_some() {
        return Err(Error::unsupported(
            "SKIP LOCKED and WITH TIES options cannot be used together",
        ));
    }
    let Some(clause) = query.limit_clause.take() else {
        return Ok((Ast::Query(Box::new(query)), None));
    };
    let (offset, limit) = match clause {
        LimitClause::LimitOffset { limit, offset, .. } => {
            (offset.map(|offset| offset.value), limit)
        }
        LimitClause::OffsetCommaLimit { offset, limit } => (Some(offset), Some(limit)),
    };
    let number = |expr: Option<Expr>| {
        SelectItem::UnnamedExpr(Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(expr.unwrap_or_else(compose::null)),
            data_type: DataType::BigInt(None),
            array: false,
            format: None,
        })
    };
    let limits = compose::query(vec![number(offset), number(limit)], Vec::new(), None)?;
    let limits = Ast::Query(Box::new(limits));
    Ok((Ast::Query(Box::new(query)), Some(limits)))
}

/// The error of a query within a statement that is run before the rest.
fn apart(error: Error) -> Error {
    match error.sqlstate.as_str() {
        "42703" | "42P01" => Error::unsupported(format!(
            "FOR UPDATE in a query that depends on another is not supported: {}",
            error.message
        ))
        .at(error.position)
        .with_hint("such a query is run before the rest of the statement"),
        _ => error,
    }
}
